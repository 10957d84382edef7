"""The way to equal windows

Growth moves both windows up together and losses bring them down, so that the pair swings about
the line of equal windows.
"""

from netcalc import plots
from netcalc.congestion import theory
from netcalc.scenario import preset

figure = plots.phase([theory.run(preset("two-flows", algorithm="reno"))])
