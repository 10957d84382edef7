"""Layers of rates: which bits of a link a rate counts, in the words of the field.

A rate without its layer has several readings: 1 Gbit/s of a line are 941.5 Mbit/s of TCP payload.
Every model says the layer of a rate in its docstring, ``[bit/s, TCP payload]``, and every answer
says it behind the number.

>>> named("941.5 Mbit/s", TCP_PAYLOAD)
'941.5 Mbit/s (TCP payload)'
"""

from __future__ import annotations

LINE = "line"
ETHERNET_LINE = "Ethernet line"
FRAME = "Ethernet frame"
IP = "IP"
PPP = "PPP"
CELLS = "cells"
SONET = "SONET payload"
CHANNELS = "channel payload"
PAYLOAD = "payload"
TCP_PAYLOAD = "TCP payload"
UDP_PAYLOAD = "UDP payload"
CODEC = "codec"

LAYERS: dict[str, str] = {
    LINE: "all bits of the line, as its name says: of SONET, T and E lines with their overhead",
    ETHERNET_LINE: "all bits of an Ethernet: frames with preamble and gap",
    FRAME: "Ethernet frames with FCS and tags, without preamble and gap",
    IP: "IP packets with their headers",
    PPP: "PPP frames with flags and FCS, in the channels of a serial line",
    CELLS: "ATM cells of 53 bytes, in the payload of SONET or of a modem",
    SONET: "the envelope of SONET, without its overhead",
    CHANNELS: "the channels of a T or E line, without its framing",
    PAYLOAD: "payload of packets of any protocol",
    TCP_PAYLOAD: "what an application hands to TCP, each byte once",
    UDP_PAYLOAD: "what an application hands to UDP",
    CODEC: "what a voice codec puts out",
}
"""Each layer and what it counts."""

LINK_LAYERS = {"ethernet": ETHERNET_LINE, "frame": FRAME, "ppp": PPP, "ip": IP}
"""What an argument calls the layer of a link, and the layer of a rate with it."""

SAME_AS = "layer of "
"""How the layer of a rate begins that is the layer of an argument: ``layer of capacity_bps``."""

INSIDE_LINES = (PPP, CELLS, SONET, CHANNELS)
"""Layers inside a T, E or OC line: the line has a payload rate for them."""


def named(rate: str, layer: str) -> str:
    """Return a rate as text with its layer behind it; without one it stays as it is.

    Examples
    --------
    >>> named("1 Gbit/s", ""), named("1 Gbit/s", LINE)
    ('1 Gbit/s', '1 Gbit/s (line)')
    """
    return f"{rate} ({layer})" if layer else rate
