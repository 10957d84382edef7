"""The window that stops a copy

What was sent runs along the edge of the window that the receiver offers, through the whole
copy.
"""

from netcalc import datasets, plots

capture = datasets.puzzle("window").load()
figure = plots.sequences(capture)
