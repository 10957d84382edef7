"""Packets as lines of text: what tcpdump prints, what tshark and Wireshark export."""

from __future__ import annotations

from netcalc.readers.captures.lists import tcpdump, wireshark
from netcalc.readers.captures.lists.traces import Listed
from netcalc.readers.format import Format
from netcalc.samples import Table

FORMATS: tuple[Format, ...] = (
    tcpdump.TCPDUMP,
    wireshark.TSHARK_FIELDS,
    wireshark.TSHARK_JSON,
    wireshark.TSHARK_TEXT,
    wireshark.WIRESHARK_LIST,
    wireshark.WIRESHARK_TEXT,
)
"""The formats of this folder, in the order in which they are tried."""


def traces_of(table: Table) -> list[Listed]:
    """Return what a list of packets says of TCP, UDP and echoes, one trace for each run.

    Parameters
    ----------
    table : Table
        What the reader of tcpdump, Wireshark or tshark made of a text.

    Returns
    -------
    list of Listed
        Empty if the table is none of these, or has no times.
    """
    if table.meta.tool == "tcpdump":
        return tcpdump.traces_of(table) if "tcp_flags" in table.columns() else []
    if table.meta.tool in ("Wireshark", "tshark"):
        trace = wireshark.trace_of(table)
        return [] if trace is None else [trace]
    return []
