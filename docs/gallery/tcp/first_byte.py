"""Round trips before the first byte

TCP with TLS 1.3 needs one round trip less than with TLS 1.2; QUIC saves another.
"""

import numpy as np

from netcalc import plots
from netcalc.models.tcp.handshakes import first_byte_s

rtt_s = np.linspace(0, 0.3, 50)
lines = {
    "TCP, TLS 1.2": first_byte_s(rtt_s, transport="tcp", security="tls1.2"),
    "TCP, TLS 1.3": first_byte_s(rtt_s, transport="tcp", security="tls1.3"),
    "QUIC": first_byte_s(rtt_s, transport="quic"),
}
axes = {"x_axis": plots.Axis("round trip", "s"), "y_axis": plots.Axis("first byte", "s")}
figure = plots.curves(rtt_s, lines, title="Time to the first byte", **axes)
