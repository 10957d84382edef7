"""The same request with TCP_NODELAY

Both writes leave at once, and the answer is there after one round trip of 10 ms.
"""

from netcalc import plots
from netcalc.models.hosts.small_writes import write_timeline

steps = write_timeline([0.0, 0.0], write_bytes=[100, 100], rtt_s=0.01, policy="nodelay")
figure = plots.ladder(steps, title="Two writes, TCP_NODELAY")
