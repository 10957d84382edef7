"""A page of many objects

With HTTP/1.1 and six connections each six objects more cost a round trip; HTTP/2 and HTTP/3 ask
for all of them at once.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp.handshakes import page_load_s

count = np.arange(1, 91)
lines = {
    f"HTTP/{v}": page_load_s(count, rtt_s=0.05, object_bytes=140, http=v) for v in ("1.1", "2", "3")
}
axes = {"x_axis": plots.Axis("objects", "1"), "y_axis": plots.Axis("time", "s", low=0.0)}
figure = plots.curves(count, lines, title="Time of a page, round trip of 50 ms", **axes)
