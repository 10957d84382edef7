"""What each moment of a copy waited for

Beneath the bytes of the copy is a band with the cause of each moment: for nearly all of the time
no full segment fits into the window.
"""

from netcalc import datasets, plots

capture = datasets.puzzle("window").load()
figure = plots.waits(capture)
