"""A request in two writes

Nagle's algorithm holds the second write until the first is acknowledged, and the server delays
that acknowledgement by 40 ms.
"""

from netcalc import plots
from netcalc.models.hosts.small_writes import write_timeline

steps = write_timeline([0.0, 0.0], write_bytes=[100, 100], rtt_s=0.01, delayed_ack_s=0.04)
figure = plots.ladder(steps, title="Two writes, Nagle on")
