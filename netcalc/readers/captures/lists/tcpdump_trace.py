"""The packets of a text of tcpdump as a trace, run after run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netcalc.readers.captures.lists.traces import NAN, Listed, Packet, listed
from netcalc.samples import Meta, Table

_FLAGS = {
    "F": 0x01, "S": 0x02, "R": 0x04, "P": 0x08, ".": 0x10, "U": 0x20, "E": 0x40, "W": 0x80,
    "e": 0x100,
}  # fmt: skip
_NUMBERS = {
    **dict.fromkeys(("source_port", "destination_port", "mss_bytes"), 0.0),
    **dict.fromkeys(("payload_bytes", "acknowledged", "window", "shift", "timestamp"), NAN),
    **dict.fromkeys(("timestamp_echo", "icmp_type", "echo_id", "echo_sequence"), NAN),
}
"""Columns of numbers, and what stands for one that a line does not have."""
_NAMES = {"time_s", "protocol", "source", "destination", "tcp_flags", "tcp_sequence", *_NUMBERS}


def run_of(columns: Mapping[str, Any], rows: Sequence[int], meta: Meta) -> Listed:
    """Return one run as a trace.

    Parameters
    ----------
    columns : mapping
        The columns of the table of a text of tcpdump.
    rows : sequence of int
        The rows of the run.
    meta : Meta
        The tool and the file.
    """
    chosen = np.asarray(rows, dtype=np.int64)
    named = {name: column[chosen].tolist() for name, column in columns.items() if name in _NAMES}
    unknown = [NAN] * len(rows)
    numbers: dict[str, list[Any]] = {
        name: [default if one != one else one for one in named.get(name, unknown)]
        for name, default in _NUMBERS.items()
    }
    is_hidden = "" in named["protocol"]  # DNS and others come without the word UDP
    packets = []
    for row, protocol in enumerate(named["protocol"]):
        is_echo = protocol == "icmp" and numbers["icmp_type"][row] >= 0
        if protocol == "tcp" or is_echo or (protocol == "udp" and not is_hidden):
            flags = named["tcp_flags"][row]
            packets.append(
                Packet(
                    time_s=named["time_s"][row],
                    protocol=protocol,
                    source=named["source"][row],
                    destination=named["destination"][row],
                    sequence=named.get("tcp_sequence", unknown)[row],
                    flags=0 if flags == "none" else sum({_FLAGS.get(one, 0) for one in flags}),
                    **_of_row(numbers, row),
                )
            )
    return listed(packets, meta)


def _of_row(columns: Mapping[str, list[Any]], row: int) -> dict[str, Any]:
    return {name: column[row] for name, column in columns.items()}


def traces_of(table: Table) -> list[Listed]:
    """Return a trace for each run of a table of tcpdump with known times."""
    columns = table.columns()
    groups = np.asarray(columns["group"])
    found = []
    for run in dict.fromkeys(groups.tolist()):
        rows = np.flatnonzero(groups == run)
        if np.isfinite(np.asarray(columns["time_s"], dtype=float)[rows]).all():
            found.append(run_of(columns, rows.tolist(), table.meta))
    return found
