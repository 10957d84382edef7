"""What a tunnel takes

WireGuard over IPv4 leaves 1440 bytes of an MTU of 1500, VXLAN 1450, and VXLAN inside WireGuard
less than either.
"""

import numpy as np

from netcalc import plots
from netcalc.models.sizes.encapsulation import tunnel_goodput_bps

mtu_bytes, lines = np.arange(1280, 9001, 80), {}
for stack in ("vxlan4", "wireguard4", "vxlan4+wireguard4"):
    found = [tunnel_goodput_bps(one, stack=stack, bandwidth_bps=1e9) for one in mtu_bytes]
    lines[stack] = found
x_axis, y_axis = plots.Axis("MTU of the path", "byte"), plots.Axis("TCP payload", "bit/s")
figure = plots.curves(mtu_bytes, lines, title="Tunnels on 1 Gbit/s", x_axis=x_axis, y_axis=y_axis)
