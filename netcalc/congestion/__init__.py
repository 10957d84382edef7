"""A scenario of flows on a bottleneck, evaluated: by theory, live, and by the simulator ns-3.

``batch`` evaluates grids of them.

>>> from netcalc.scenario import preset
>>> found = theory.run(preset("two-flows"))
>>> round(found.utilization, 1)
1.0
"""

from netcalc.congestion import ns3, theory
from netcalc.congestion.result import Result, Trajectory

__all__ = ["Result", "Trajectory", "ns3", "theory"]
