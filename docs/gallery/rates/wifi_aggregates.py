"""Why Wi-Fi joins packets

One packet at a time carries a small part of the bit rate of 802.11ac; the fixed costs of an
access shrink with the number of packets joined.
"""

import numpy as np

from netcalc import plots
from netcalc.models.media import wifi

count = np.arange(1, 41)
lines = {f"MCS {m}": wifi.wifi_throughput_bps(count, packet_bytes=1500, mcs=m) for m in (9, 4, 0)}
axes = {
    "x_axis": plots.Axis("packets in an aggregate", "1"),
    "y_axis": plots.Axis("throughput", "bit/s", low=0.0),
}
figure = plots.curves(count, lines, title="802.11ac, 80 MHz, one stream", **axes)
