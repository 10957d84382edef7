"""Layers of rates: which bits of a link a rate counts, in the words of the field.

A rate without its layer has several readings: 1 Gbit/s of a line are 941.5 Mbit/s of TCP payload.
Every model says the layer of a rate in its docstring, ``[bit/s, TCP payload]``, and every answer
says it behind the number. A reader takes it from what the documentation of a tool says that it
counts (``netcalc.readers.places``); where nobody says it, the layer is ``unknown``.

>>> named("941.5 Mbit/s", TCP_PAYLOAD)
'941.5 Mbit/s (TCP payload)'
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from netcalc.language import phrase, term

__all__ = [
    "CELLS", "CHANNELS", "CODEC", "ETHERNET_LINE", "FILE", "FRAME", "FRAME_WITHOUT_FCS",
    "HTTP_BODY", "INSIDE_LINES", "IN_HEADING", "IP", "LAYERS", "LINE", "LINK_LAYERS", "PAYLOAD",
    "PPP", "SAME_AS", "SONET", "TCP_PAYLOAD", "UDP_PAYLOAD", "UNKNOWN", "RateLayer", "in_words",
    "named",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

RateLayer: TypeAlias = Literal[
    "line", "Ethernet line", "Ethernet frame", "Ethernet frame without FCS", "IP", "PPP", "cells",
    "SONET payload", "channel payload", "payload", "TCP payload", "UDP payload", "HTTP body",
    "file", "codec", "unknown",
]  # fmt: skip
"""The layers; a model may also name one as that of an argument (:data:`SAME_AS`)."""

LINE: Final = "line"
ETHERNET_LINE: Final = "Ethernet line"
FRAME: Final = "Ethernet frame"
FRAME_WITHOUT_FCS: Final = "Ethernet frame without FCS"
IP: Final = "IP"
PPP: Final = "PPP"
CELLS: Final = "cells"
SONET: Final = "SONET payload"
CHANNELS: Final = "channel payload"
PAYLOAD: Final = "payload"
TCP_PAYLOAD: Final = "TCP payload"
UDP_PAYLOAD: Final = "UDP payload"
HTTP_BODY: Final = "HTTP body"
FILE: Final = "file"
CODEC: Final = "codec"
UNKNOWN: Final = "unknown"

LAYERS: dict[RateLayer, str] = {
    LINE: "all bits of the line, as its name says: of SONET, T and E lines with their overhead",
    ETHERNET_LINE: "all bits of an Ethernet: frames with preamble and gap",
    FRAME: "Ethernet frames with FCS and tags, without preamble and gap",
    FRAME_WITHOUT_FCS: "Ethernet frames without FCS, as an interface of Linux counts bytes",
    IP: "IP packets with their headers",
    PPP: "PPP frames with flags and FCS, in the channels of a serial line",
    CELLS: "ATM cells of 53 bytes, in the payload of SONET or of a modem",
    SONET: "the envelope of SONET, without its overhead",
    CHANNELS: "the channels of a T or E line, without its framing",
    PAYLOAD: "payload of packets of any protocol",
    TCP_PAYLOAD: "what an application hands to TCP, each byte once",
    UDP_PAYLOAD: "what an application hands to UDP",
    HTTP_BODY: "what HTTP carries, without the headers of HTTP and TLS",
    FILE: "what a program copies from file to file",
    CODEC: "what a voice codec puts out",
    UNKNOWN: "what neither the file nor the documentation of its tool says",
}
"""Each layer and what it counts."""

_SHOWN = (
    term("line"), term("Ethernet line"), term("Ethernet frame"), term("Ethernet frame without FCS"),
    term("cells"), term("SONET payload"), term("channel payload"), term("payload"),
    term("TCP payload"), term("UDP payload"), term("HTTP body"), term("file"), term("codec"),
    term("layer not stated"),
)  # fmt: skip

LINK_LAYERS: dict[str, RateLayer] = {
    "ethernet": ETHERNET_LINE,
    "frame": FRAME,
    "ppp": PPP,
    "ip": IP,
}
"""What an argument calls the layer of a link, and the layer of a rate with it."""

IN_HEADING: Final = ""
"""The layer of a number in a table whose heading names it, or of a number that is none."""

SAME_AS = "layer of "
"""How the layer of a rate begins that is the layer of an argument: ``layer of capacity_bps``."""

INSIDE_LINES: tuple[RateLayer, ...] = (PPP, CELLS, SONET, CHANNELS)
"""Layers inside a T, E or OC line: the line has a payload rate for them."""


def named(rate: str, layer: str) -> str:
    """Return a rate as text with its layer behind it; without one it stays as it is.

    Examples
    --------
    >>> named("1 Gbit/s", ""), named("1 Gbit/s", LINE)
    ('1 Gbit/s', '1 Gbit/s (line)')
    >>> named("1 Gbit/s", UNKNOWN)
    '1 Gbit/s (layer not stated)'
    """
    return f"{phrase(rate)} ({in_words(layer)})" if layer else rate


def in_words(layer: str) -> str:
    """Return a layer as people read it: that nobody says it, and not that it is ``unknown``."""
    return phrase("layer not stated" if layer == UNKNOWN else layer)
