"""Packets as lines of text: what tcpdump prints, what tshark and Wireshark export."""

from __future__ import annotations

from netcalc.readers.captures.lists import (
    tcpdump_text,
    tshark_fields,
    tshark_json,
    tshark_text,
    wireshark_list,
    wireshark_text,
)
from netcalc.readers.format import Format

FORMATS: tuple[Format, ...] = (
    tcpdump_text.FORMAT,
    tshark_fields.FORMAT,
    tshark_json.FORMAT,
    tshark_text.FORMAT,
    wireshark_list.FORMAT,
    wireshark_text.FORMAT,
)
"""The formats of this folder, in the order in which they are tried."""
