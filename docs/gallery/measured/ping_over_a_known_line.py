"""A ping over a line that is known

The line is fitted to the least round trip of each size; the path had a base round trip of 10 ms
and 1.544 Mbit/s.
"""

from netcalc import compare, datasets, plots

samples = datasets.load("ping_emulated_t1")
figure = plots.overlay(compare.overlay(samples))
