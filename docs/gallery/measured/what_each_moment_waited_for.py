"""What each moment of a copy waited for

Above are the bytes of the copy, in the middle the causes of its waits, each with its share of the
time, below the round trips. Nearly all of the time no full segment fits into the window.
"""

from netcalc import datasets, plots

capture = datasets.puzzle("window").load()
figure = plots.waits(capture)
