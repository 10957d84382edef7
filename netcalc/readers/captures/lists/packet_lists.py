"""The packets of any list as traces, for what explains captures."""

from __future__ import annotations

from netcalc.readers.captures.lists import tcpdump, wireshark
from netcalc.readers.captures.lists.traces import Listed
from netcalc.samples import Table


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
        found = wireshark.trace_of(table)
        return [] if found is None else [found]
    return []
