"""Columns of a table by what they mean: sizes, counts, times, rates, and the names of a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.evidence import Evidence
from netcalc.explain.finding import Limit
from netcalc.messages import Notice
from netcalc.samples import Samples, Table

ROLES = {
    "write_bytes": (
        "write_bytes", "write_size_bytes", "payload_bytes", "size_bytes", "datagram_bytes",
        "message_bytes", "bytes",
    ),
    "write_count": (
        "write_count", "write", "writes", "datagram_count", "datagram", "datagrams", "message",
        "messages",
    ),
    "size_of_write_bytes": ("write_bytes", "write_size_bytes"),
    "total_bytes": ("total_bytes", "sent_bytes", "transferred_bytes", "transfer_bytes"),
    "wall_s": ("wall_s", "wall_time_s", "elapsed_s", "duration_s", "time_s", "real_s"),
    "user_s": ("user_s",),
    "system_s": ("system_s", "sys_s"),
    "lost_count": ("lost_count", "lost"),
    "pair_count": (
        "pair_count", "pair", "pairs", "stream_count", "stream", "streams", "connection_count",
        "connection", "connections", "flow_count", "flow", "flows", "clients", "threads",
    ),
    "frame_bytes": ("frame_bytes", "frame_size_bytes"),
    "captured_bytes": ("captured_bytes",),
    "payload_bytes": ("payload_bytes",),
    "rate_pps": ("rate_pps", "frame_rate_pps", "packet_rate_pps", "throughput_pps"),
    "goodput_bps": ("goodput_bps", "received_rate_bps"),
    "rate_bps": ("rate_bps", "throughput_bps", "bitrate_bps", "frame_throughput_bps"),
    "response_s": ("response_s",),
    "response_rtt_s": (
        "rtt_s", "round_trip_s", "round_trip_time_s", "latency_s", "delay_s", "ping_s",
    ),
    "window_bytes": ("window_bytes", "window_size_bytes", "buffer_bytes", "socket_buffer_bytes"),
    "loss_ratio": ("loss_ratio", "packet_loss_ratio"),
    "rtt_s": ("curve_rtt_s",),
    "line_bps": ("bandwidth_bps", "line_bps"),
    "packet_bytes": ("packet_bytes", "payload_bytes", "size_bytes", "bytes", "bytes_bytes"),
    "latency_s": ("latency_s", "one_way_delay_s", "delay_s"),
    "hop_count": ("hop_count", "hop", "hops"),
    "transfer_s": ("transfer_s", "printed_transfer_s", "printed_s", "duration_s", "time_s"),
}  # fmt: skip
"""What a column may be called, the SI unit at the end; the first one that is there counts."""
LEAST_OFF = 1e-3
"""Rows that are less off from a fit are said to be off by no more than this. [ratio]"""
FITTED_TOLERANCE = 0.25
"""A limit fitted to the points that it explains is known no better than this. [ratio]"""
FLAT_RATIO = 0.1
"""Rates that differ by less from row to row are alike. [ratio]"""
LEAST_VALUE, MOST_VALUE = 1e-18, 1e18
"""Between these any size, count, time and rate lies, in SI units."""
SERIES = (
    "protocol", "server", "host", "device", "router", "switch", "system", "path", "line", "group",
    "run", "mode",
)  # fmt: skip
"""Columns of text that tell series of rows apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a row of a table says of a transfer, with limits that only the table shows."""

    evidence: Evidence
    limits: tuple[Limit, ...] = ()
    notices: tuple[Notice, ...] = ()
    missing: tuple[Notice, ...] = ()


def numbers(samples: Samples, role: str) -> FloatArray | None:
    """Return the column of numbers that has a role; None if the table has none."""
    columns = samples.columns()
    for name in ROLES[role]:
        if name in columns and columns[name].dtype.kind in "iuf":
            return np.asarray(columns[name], dtype=float)
    return None


def numbers_or_nan(samples: Samples, role: str) -> FloatArray:
    """Return the column of numbers that has a role, nan where the table has none."""
    found = numbers(samples, role)
    return np.full(len(samples), math.nan) if found is None else found


def column_name(samples: Samples, role: str) -> str:
    """Return the name of the column that has a role; empty if there is none."""
    return next((name for name in ROLES[role] if name in samples.columns()), "")


def series_of(table: Table) -> list[str]:
    """Return the series that each row belongs to, from its columns of text; empty if none."""
    columns = table.columns()
    texts = [
        columns[name] for name in SERIES if name in columns and columns[name].dtype.kind in "OU"
    ]
    return [", ".join(str(text[row]) for text in texts if text[row]) for row in range(len(table))]


def plausible(*columns: FloatArray) -> NDArray[np.bool_]:
    """Return the rows in which each of these columns has a number that can be computed with."""
    found = np.ones(columns[0].shape, np.bool_)
    for column in columns:
        found &= (column > LEAST_VALUE) & (column < MOST_VALUE)
    return found


def rows_of(series: list[str], good: NDArray[np.bool_]) -> dict[str, NDArray[np.intp]]:
    """Return the indexes of the good rows of each series, in the order of the table."""
    names = dict.fromkeys(name for name, kept in zip(series, good, strict=True) if kept)
    at = np.array(series, object)
    return {name: np.flatnonzero((at == name) & good) for name in names}


def left_out(total: int, rows: Mapping[str, NDArray[np.intp]]) -> tuple[Notice, ...]:
    """Say how many rows of a table are not among those that can be computed with."""
    count = total - sum(at.size for at in rows.values())
    return (Notice("rows-left-out", {"count": count, "total": total}),) if count else ()


def two_points(rows: NDArray[Any]) -> tuple[Notice, ...]:
    """Say that two rows contradict no curve; nothing of more."""
    return (Notice("two-points"),) if rows.size <= 2 else ()


def labelled(series: str, what: str) -> str:
    """Return the label of a row: its series, and what is special about it."""
    return ", ".join(filter(None, (series, what)))
