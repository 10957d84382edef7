"""Slow start, packet by packet

The bursts begin with 10 segments and double in each round trip of 100 ms, until the data end.
"""

from netcalc import datasets, plots

capture = datasets.puzzle("slow_start").load()
figure = plots.sequences(capture)
