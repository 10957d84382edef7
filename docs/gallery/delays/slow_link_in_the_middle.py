"""A slow link in the middle

The packets queue in front of the slow link and leave it with its spacing, which the fast link
behind it keeps.
"""

from netcalc import plots
from netcalc.models.delays.store_and_forward import pipeline_timeline

steps = pipeline_timeline([1500] * 4, bandwidth_bps=[1e7, 2e6, 1e7], latency_s=[0.001] * 3)
figure = plots.timeline(steps, ["client", "router 1", "router 2", "server"])
