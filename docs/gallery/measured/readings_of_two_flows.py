"""Readings of a book, with theory

The points were read off a printed figure of two flows on a line of 10 Gbit/s; the lines are
their theory.
"""

from netcalc import plots

figure = plots.readings("two_flow_goodput")
