"""Packets as lines of text: what tcpdump prints, what tshark and Wireshark export."""

from __future__ import annotations

from netcalc.readers.captures.lists import tcpdump, tshark, wireshark
from netcalc.readers.format import Format

FORMATS: tuple[Format, ...] = (
    tcpdump.TCPDUMP,
    tshark.TSHARK_FIELDS,
    tshark.TSHARK_JSON,
    tshark.TSHARK_TEXT,
    wireshark.WIRESHARK_LIST,
    wireshark.WIRESHARK_TEXT,
)
"""The formats of this folder, in the order in which they are tried."""
