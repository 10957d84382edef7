"""Small buffers of a kernel

A datagram takes up to three small buffers; from 208 bytes on 4.4BSD puts the data into a
cluster instead.
"""

import numpy as np

from netcalc import plots
from netcalc.models.hosts import mbufs

size = np.arange(0, 601)
found = mbufs.datagram_mbufs(size)
axes = {"x_axis": plots.Axis("data", "byte"), "y_axis": plots.Axis("buffers", "1", low=0.0)}
figure = plots.curves(
    size,
    {"mbufs": found.mbufs, "clusters": found.clusters},
    title="mbufs of a UDP datagram",
    **axes,
)
