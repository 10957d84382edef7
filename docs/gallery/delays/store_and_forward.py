"""Three packets through two routers

Each router waits for the last bit before it sends the first: the packets overlap, each on
another link.
"""

from netcalc import plots
from netcalc.models.delays.store_and_forward import pipeline_timeline

steps = pipeline_timeline([1500, 1500, 1500], bandwidth_bps=[1.544e6] * 3, latency_s=[0.003] * 3)
figure = plots.timeline(steps, ["client", "router 1", "router 2", "server"])
