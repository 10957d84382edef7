"""Fragments of a datagram

Each step is one more IPv4 packet of at most 1500 bytes, which brings its own header and
framing.
"""

import numpy as np

from netcalc import plots
from netcalc.models.sizes import fragmentation

size = np.arange(100, 8001, 10)
wire = fragmentation.fragmented_wire_bytes(size)
axes = {
    "x_axis": plots.Axis("IP payload", "byte"),
    "y_axis": plots.Axis("overhead on the wire", "byte"),
}
figure = plots.curves(
    size, {"1500 bytes of MTU": wire - size}, title="Overhead of fragments", **axes
)
