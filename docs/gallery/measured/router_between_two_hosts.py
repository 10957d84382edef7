"""A router between two hosts

Packets of six sizes through an emulated router lie on its two limits, 2000 packets per second and
10 Mbit/s, and in bits on the same two.
"""

from netcalc import datasets, plots

samples = datasets.load("router_emulated")
figure = plots.router(samples)
