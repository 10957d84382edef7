"""Panels of round trips on a local network: what the wire takes at least, and what hosts add."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray
from netcalc.language import phrase, term
from netcalc.models.hosts import host_stack
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Hop, Link, Path
from netcalc.plots import Axis, curves
from netcalc.rate_layers import LINE
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel

SIZES: FloatArray = np.arange(0.0, 1401.0, 2.0)
"""User data of the pings; Stevens took 8 bytes and 100 to 1400. [byte]"""
SMALLEST, LARGEST = 8, 1400
_WIRE, _HOSTS, _LAPTOP = (
    term("the wire alone"),
    term("with the hosts"),
    term("with a card on the parallel port"),
)


def lan_panel() -> Panel:
    """Round trip against size on one Ethernet: the least, with hosts, with the laptop's card."""
    plot = curves(
        SIZES,
        dict.fromkeys((_WIRE, _HOSTS, _LAPTOP), SIZES),
        x_axis=Axis("user data", "byte", "linear", 0, 1400),
        y_axis=Axis("round-trip time", "s", "linear", 0, 0.02),
        title="Ping on one Ethernet",
    )
    figure = Figure(plot)

    def update(bandwidth_bps: float, packet_s: float, byte_s: float, port_bps: float) -> None:
        wire = ethernet(bandwidth_bps)
        times = {
            _WIRE: ping_s(wire, SIZES),
            _HOSTS: ping_s(wire, SIZES, packet_s=packet_s, byte_s=byte_s),
            _LAPTOP: ping_s(
                behind_port(bandwidth_bps, port_bps), SIZES, packet_s=packet_s, byte_s=byte_s
            ),
        }
        figure.update_all({name: {"y": time} for name, time in times.items()})
        least, here, slow = (slope_s(time) for time in times.values())
        figure.describe(
            phrase(
                "Between {smallest} and {largest} bytes of user data the wire of {bandwidth} "
                "takes {least} for each byte there and back, with the hosts {here}, as one "
                "line of {here_2} would. Up to 18 bytes the frame is padded, and all pings are "
                "equal. Behind the parallel port it is {slow}, as over a line of {slow_2}: it "
                "looks like a WAN.",
                smallest=SMALLEST,
                largest=LARGEST,
                bandwidth=show_rate(bandwidth_bps, LINE),
                least=show(least, "s"),
                here=show(here, "s"),
                here_2=show_rate(16.0 / here, LINE),
                slow=show(slow, "s"),
                slow_2=show_rate(16.0 / slow, LINE),
            )
        )

    controls = {
        "bandwidth_bps": Quantity(
            "Ethernet", "10 Mbit/s", unit="bit/s", low="10 Mbit/s", high="1 Gbit/s"
        ),
        "packet_s": Quantity("hosts, for each packet", "0.2 ms", unit="s", low="1 us", high="1 ms"),
        "byte_s": Quantity("hosts, for each byte", "0.2 us", unit="s", low="1 ns", high="1 us"),
        "port_bps": Quantity(
            "parallel port", "1 Mbit/s", unit="bit/s", low="100 kbit/s", high="10 Mbit/s"
        ),
    }
    return panel(figure, controls, update)


def ethernet(bandwidth_bps: float) -> Path:
    """Return a path of one Ethernet."""
    return Path((Hop(Link(bandwidth_bps, framing="ethernet")),))


def behind_port(bandwidth_bps: float, port_bps: float) -> Path:
    """Return a path of one Ethernet and a card that stores a frame and hands it on slowly."""
    return Path((Hop(Link(bandwidth_bps, framing="ethernet")), Hop(Link(port_bps))))


def ping_s(
    path: Path, payload_bytes: ArrayLike, *, packet_s: float = 0.0, byte_s: float = 0.0
) -> FloatArray:
    """Return the round trip of a ping, with what two hosts take for its request and reply. [s]

    Parameters
    ----------
    path : Path
        The network.
    payload_bytes : array_like
        User data of the ping. [byte]
    packet_s : float
        What a host takes for each packet that it sends or receives: four times in all. [s]
    byte_s : float
        What a host takes for each byte of it. [s/byte]

    Examples
    --------
    >>> ping_s(ethernet(10e6), [8, 18, 1400]).round(7).tolist()
    [0.0001344, 0.0001344, 0.0023456]
    """
    packet_bytes = np.asarray(payload_bytes) + DATAGRAM_HEADERS_BYTES
    host_s = host_stack.message_s(packet_bytes, packet_cost=packet_s, copy_cost=byte_s)
    return path.rtt_s(packet_bytes) + 4.0 * host_s


def slope_s(times_s: FloatArray) -> float:
    """Return the mean time for each byte between the smallest and the largest ping. [s/byte]"""
    ends = np.interp([SMALLEST, LARGEST], SIZES, times_s)
    return float(ends[1] - ends[0]) / (LARGEST - SMALLEST)
