"""What is left of a line for data

With 1500 bytes 94.1 % of the wire carries TCP payload over IPv4; jumbo frames of 9000 bytes
raise it to 99.0 %.
"""

import numpy as np

from netcalc import plots
from netcalc.models.rates import goodput

mtu = np.round(np.linspace(576, 9000, 200))
lines = {
    "TCP over IPv4": goodput.tcp_goodput_ratio(mtu),
    "UDP over IPv4": goodput.udp_goodput_ratio(mtu),
    "TCP over IPv6": goodput.tcp_goodput_ratio(mtu.clip(1280), ip_version=6),
}
axes = {"x_axis": plots.Axis("MTU", "byte"), "y_axis": plots.Axis("payload on the wire", "ratio")}
figure = plots.curves(mtu, lines, title="Payload of an Ethernet line", **axes)
