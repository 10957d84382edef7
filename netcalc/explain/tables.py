"""Tables: their likely meaning, lists of sockets, and saved runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.explain.evidence import MOST_FLOWS, NAN, Evidence, first_known, with_loss
from netcalc.explain.finding import Finding
from netcalc.messages import Notice
from netcalc.samples import DROP_PLACES, BulkSamples, Samples, Table

FILLED_RATIO = 0.5
"""A buffer is full with this share of data in flight: half may be bookkeeping. [ratio]"""
SHOWN_COLUMNS = 8


@named_arguments
def described(samples: Samples) -> tuple[Notice, ...]:
    """Describe a table of unknown meaning: its columns, its likely meaning, how to name it.

    Parameters
    ----------
    samples : Samples
        Columns for which no theory is known.

    Returns
    -------
    tuple of Notice
        A notice for each of the first columns, one for the meaning that the units suggest, and
        one on how to name columns.
    """
    units, found = samples.meta.units, []
    columns = samples.columns()
    for name, column in list(columns.items())[:SHOWN_COLUMNS]:
        unit = units.get(name, "")
        numeric = column.dtype.kind in "iuf"
        known = column[np.isfinite(column)] if numeric else column[:0]
        if not known.size:
            distinct = len(set(column.tolist()))
            found.append(Notice("column-of-text", {"name": name, "count": distinct}))
            continue
        low, high = float(known.min()), float(known.max())
        values = {"name": name, "unit": unit or "no unit", "low": low, "high": high}
        found.append(Notice("column-of-numbers", {**values, "count": int(known.size)}))
    if len(columns) > SHOWN_COLUMNS:
        found.append(Notice("columns-more", {"count": len(columns) - SHOWN_COLUMNS}))
    found.append(_guess({units.get(name, "") for name in columns}))
    found.append(Notice("name-the-columns"))
    return tuple(found)


def _guess(units: set[str]) -> Notice:
    """Say what columns of these units may be."""
    for needed, code in (
        ({"byte", "s"}, "may-be-sizes-and-times"),
        ({"byte", "bit/s"}, "may-be-rates-over-size"),
        ({"byte", "packet/s"}, "may-be-rates-over-size"),
        ({"s", "bit/s"}, "may-be-rates-over-time"),
        ({"s"}, "may-be-times"),
        ({"bit/s"}, "may-be-rates"),
    ):
        if needed <= units:
            return Notice(code)
    return Notice("may-be-anything")


def explain_sockets(samples: Table) -> tuple[Finding, ...]:
    """Return what a list of sockets without details of TCP says: where bytes wait.

    Parameters
    ----------
    samples : Table
        Columns ``receive_queue_bytes`` and ``send_queue_bytes``, as ``ss -an`` and netstat have
        them.

    Returns
    -------
    tuple of Finding
        One without limits, which need windows and round trips; empty for other tables.
    """
    columns = samples.columns()
    names = ("receive_queue_bytes", "send_queue_bytes")
    if (
        not set(names) <= set(columns)
        or np.isfinite(columns.get("cwnd_packets", np.zeros(0))).any()
    ):
        return ()
    states = columns.get("state", np.full(len(samples), "", object))
    is_open = np.isin(states, ("ESTAB", "ESTABLISHED"))
    received, sent = (float(np.nansum(columns[name][is_open])) for name in names)
    values = {
        "count": int(np.count_nonzero(is_open)), "receive_bytes": received, "send_bytes": sent,
    }  # fmt: skip
    return (Finding(notices=(Notice("counters-of-sockets", values),)),)


def socket_evidence(samples: Table) -> list[Evidence]:
    """Return what lists of sockets say of each TCP connection, those that carried most first.

    The rate is that of the bytes acknowledged between the first and the last list, where these have
    times; windows and round trips are medians.
    """
    columns = samples.columns()
    unknown = np.full(columns["cwnd_packets"].size, math.nan)

    def numbers(name: str) -> FloatArray:
        return columns.get(name, unknown)

    segments, mss, rtt = numbers("cwnd_packets"), numbers("mss_bytes"), numbers("rtt_s")
    open_ones = np.isin(columns["state"], ("ESTAB", "")) if "state" in columns else mss > 0
    good = open_ones & (segments > 0) & (mss > 0) & (rtt > 0)
    groups, found = columns["group"], []
    for name in dict.fromkeys(groups[good].tolist()):
        rows = np.flatnonzero(good & (groups == name))
        first, last = rows[0], rows[-1]
        acked, times = numbers("bytes_acked"), numbers("time_s")
        seconds = float(times[last] - times[first])
        size = float(acked[last] - acked[first])
        offered = numbers("offered_window_bytes")[rows]
        one = Evidence(
            label=str(name),
            rate_bps=8 * size / seconds if seconds > 0 and size > 0 else NAN,
            size_bytes=float(acked[last]),
            is_from_start=False,
            rtt_s=float(np.median(rtt[rows])),
            base_rtt_s=float(numbers("rtt_min_s")[last]),
            retransmit_count=float(numbers("retransmit_total_count")[last]),
            mtu_bytes=float(mss[last]) + 40,
            option_bytes=0.0,  # the MSS of a socket is without its options
            cwnd_bytes=float(np.median(segments[rows] * mss[rows])),
            receive_window_bytes=float(np.fmax.reduce(offered)),
            congestion_control=str(columns["congestion_control"][last])
            if "congestion_control" in columns
            else "",
        )
        found.append(with_loss(one))
    return sorted(found, key=lambda one: -first_known(one.size_bytes, 0.0))[:MOST_FLOWS]


def bulk_evidence(samples: BulkSamples) -> list[Evidence]:
    """Return what a saved run of netcalc says of each of its settings."""
    udp = samples.meta.protocol == "udp"
    found = []
    for row in samples.by_setting():
        one = Evidence(
            label=f"writes of {row['write_bytes']:g} B",
            protocol="udp" if udp else "tcp",
            rate_bps=float(row["goodput_bps"]),
            sent_rate_bps=float(row["sent_rate_bps"]),
            received_rate_bps=float(row["goodput_bps"]),
            size_bytes=NAN,
            duration_s=float(row["wall_s"]),
            loss_ratio=float(row["loss_ratio"]) if udp else NAN,
            in_flight_bytes=float(row["window_bytes"]),
            is_window_steady=not udp and _is_bounded(row),
            is_window_on_record=not math.isnan(row["asked_buffer_bytes"]),
        )
        found.append(replace(one, datagram_bytes=float(row["write_bytes"])) if udp else one)
    return found


def _is_bounded(row: Mapping[str, Any]) -> bool:
    """Whether the window was that of the requested buffer: it was full, and nothing was dropped."""
    drops = [float(row[name]) for name in DROP_PLACES.values()]
    filled = float(row["window_bytes"]) >= FILLED_RATIO * float(row["asked_buffer_bytes"])
    return filled and not any(count > 0 for count in drops)
