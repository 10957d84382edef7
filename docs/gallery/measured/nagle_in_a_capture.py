"""A request in two parts, as captured

The second part of each request leaves only when the delayed acknowledgement of the first has
arrived, some 40 ms later.
"""

from netcalc import datasets, plots

capture = datasets.puzzle("stall").load()
figure = plots.capture_ladder(capture)
