"""Requests behind a long transfer

Beside one flow of CUBIC half of the requests of 10 kB take 70 ms or more, and one in a hundred
80 ms: the round trip of 40 ms and a full buffer.
"""

from netcalc import plots
from netcalc.congestion import theory
from netcalc.scenario import preset

results = [theory.run(preset(f"buffer-{size}-bdp")) for size in ("1",)]
figure = plots.latencies(results)
