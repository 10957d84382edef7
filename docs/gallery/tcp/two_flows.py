"""Two flows on one bottleneck

The second flow comes after 22 s and goes at 42 s; while both run, they approach the equal
shares that are drawn beside them.
"""

from netcalc import plots
from netcalc.congestion import theory
from netcalc.scenario import preset

figure = plots.courses([theory.run(preset("two-flows"))], parts=["goodput"])
