"""The packets of a text of tcpdump as a trace, run after run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
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
    bits = {text: _bits(text) for text in set(named["tcp_flags"])}
    known = {
        **{name: named[name] for name in ("time_s", "protocol", "source", "destination")},
        **numbers,
        "original_bytes": unknown,
        "flags": [bits[text] for text in named["tcp_flags"]],
        "sequence": named.get("tcp_sequence", unknown),
    }
    ordered = [known[one.name] for one in fields(Packet) if one.name in known]
    chosen_ones = {"tcp"} if is_hidden else {"tcp", "udp"}
    packets = [
        packet
        for packet in map(Packet, *ordered)
        if packet.protocol in chosen_ones or (packet.protocol == "icmp" and packet.icmp_type >= 0)
    ]
    return listed(packets, meta)


def _bits(text: str) -> int:
    return 0 if text == "none" else sum({_FLAGS.get(one, 0) for one in text})


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
