"""Tables: what their columns mean, and what limits writes, pairs, times of lines and saved runs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.display import unit_of_name
from netcalc.errors import DomainError, ReaderError
from netcalc.explain.causes.cause import LOW, Cause, Sign
from netcalc.explain.evidence import MOST_FLOWS, NAN, Evidence, Known, first_known, with_loss
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.time_parts import (
    PART_TOLERANCE,
    explain_round_trips,
    explain_transactions,
    largest_first,
)
from netcalc.fit import Costs, frame_bytes, write_costs
from netcalc.messages import Notice
from netcalc.models.delays import latency
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, TIMESTAMP_BYTES
from netcalc.samples import (
    DROP_PLACES,
    BulkSamples,
    Meta,
    RttSamples,
    Samples,
    Table,
    TransactionSamples,
)

FILLED_RATIO = 0.5
"""A buffer is full with this share of data in flight: half may be bookkeeping. [ratio]"""
ON_THE_WAY = ("input of the box", "buffer of the line")
"""Places of drops between the hosts."""
SHOWN_COLUMNS = 8
_COUNTS = {"write", "write_count"}


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
    units, notices = samples.meta.units, []
    columns = samples.columns()
    for name, column in list(columns.items())[:SHOWN_COLUMNS]:
        unit = units.get(name, "")
        numeric = column.dtype.kind in "iuf"
        finite = column[np.isfinite(column)] if numeric else column[:0]
        if not finite.size:
            distinct = len(set(column.tolist()))
            notices.append(Notice("column-of-text", {"name": name, "count": distinct}))
            continue
        low, high = float(finite.min()), float(finite.max())
        values = {"name": name, "unit": unit or "no unit", "low": low, "high": high}
        notices.append(Notice("column-of-numbers", {**values, "count": int(finite.size)}))
    if len(columns) > SHOWN_COLUMNS:
        notices.append(Notice("columns-more", {"count": len(columns) - SHOWN_COLUMNS}))
    if "wall_s" in columns and "byte" in units.values() and not _COUNTS & set(columns):
        return (*notices, Notice("writes-without-count"))
    notices.append(_guess({units.get(name, "") for name in columns}))
    notices.append(Notice("name-the-columns"))
    return tuple(notices)


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


LEAST_HEADERS_BYTES, MOST_HEADERS_BYTES = 40.0, 100.0
"""Headers of IPv4 and TCP, and of IPv6 and TCP with all options. [byte]"""


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
    groups, flows = columns["group"], []
    for name in dict.fromkeys(groups[good].tolist()):
        rows = np.flatnonzero(good & (groups == name))
        first, last = rows[0], rows[-1]
        acked, times = numbers("bytes_acked"), numbers("time_s")
        seconds = float(times[last] - times[first])
        size = float(acked[last] - acked[first])
        offered = numbers("offered_window_bytes")[rows]
        segment = float(mss[last])
        headers = float(numbers("path_mtu_bytes")[last]) - segment
        if not LEAST_HEADERS_BYTES <= headers <= MOST_HEADERS_BYTES:
            has_stamps = "other" in columns and "ts" in str(columns["other"][last]).split()
            headers = LEAST_HEADERS_BYTES + (TIMESTAMP_BYTES if has_stamps else 0)
        evidence = Evidence(
            label=str(name),
            rate_bps=8 * size / seconds if seconds > 0 and size > 0 else NAN,
            size_bytes=float(acked[last]),
            duration_s=NAN if seconds > 0 else float(numbers("busy_s")[last]),
            is_from_start=False,
            rtt_s=float(np.median(rtt[rows])),
            base_rtt_s=float(numbers("rtt_min_s")[last]),
            retransmit_count=float(numbers("retransmit_total_count")[last]),
            mtu_bytes=segment + headers,
            option_bytes=headers - LEAST_HEADERS_BYTES,  # of a socket its MSS is without them
            cwnd_bytes=float(np.median(segments[rows] * mss[rows])),
            receive_window_bytes=float(np.fmax.reduce(offered)),
            congestion_control=str(columns["congestion_control"][last])
            if "congestion_control" in columns
            else "",
        )
        flows.append(with_loss(evidence))
    return sorted(flows, key=lambda evidence: -first_known(evidence.size_bytes, 0.0))[:MOST_FLOWS]


def bulk_evidence(samples: BulkSamples) -> list[Evidence]:
    """Return what a saved run of netcalc says of each of its settings."""
    udp = samples.meta.protocol == "udp"
    return [
        Evidence(
            label=f"{row['direction']}, writes of {row['write_bytes']:g} B".removeprefix(", "),
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
            datagram_bytes=float(row["write_bytes"]) if udp else NAN,
        )
        for row in samples.by_setting()
    ]


def table_of_directions(samples: BulkSamples) -> Table:
    """Return the packet rates of a run through a router, by size and direction.

    A row has the highest rate of its runs, with what the socket of the receiver dropped; those of a
    host alone are left out.
    """
    directions, frames = np.asarray(samples.direction), frame_bytes(samples)
    dropped = np.nan_to_num(np.asarray(samples.receiver_drop_count))
    rates = samples.rate_pps + dropped / np.asarray(samples.delivery_s)
    best: dict[tuple[str, float], float] = {}
    for name, frame, rate in zip(directions.tolist(), frames.tolist(), rates.tolist(), strict=True):
        if not name.endswith(" alone"):
            best[name, frame] = max(rate, best.get((name, frame), 0.0))
    data = {
        "group": np.array([name for name, _ in best], object),
        "frame_bytes": np.array([frame for _, frame in best]),
        "rate_pps": np.array(list(best.values())),
    }
    units = {"group": "text", "frame_bytes": "byte", "rate_pps": "packet/s"}
    return Table(data=data, meta=Meta(units=units))


def table_of_settings(samples: BulkSamples) -> Table | None:
    """Return the settings of a saved run of netcalc as the table that their theory takes.

    None where more than one thing was varied, or nothing that a theory is known for: datagrams
    that a host dropped say nothing of a device.
    """
    rows = samples.by_setting()
    udp = samples.meta.protocol == "udp"
    varied = [
        name
        for name in ("write_bytes", "asked_buffer_bytes", "pair_count")
        if len({row[name] for row in rows if not math.isnan(row[name])}) > 1
    ]
    if len(varied) != 1 or (udp and any(row["limit"] not in ON_THE_WAY for row in rows)):
        return None
    is_far = samples.meta.instrument.peer_machine is not None
    if is_far and not udp and any(row["limit"] != "sender" for row in rows):
        return None  # the times of writes are those of the network
    if len({row["direction"] for row in rows}) > 1:
        return None

    def column(name: str) -> FloatArray:
        return np.array([row[name] for row in rows], dtype=np.float64)

    data = {"goodput_bps": column("goodput_bps")}
    if varied == ["pair_count"]:
        data["pair_count"] = column("pair_count")
    elif varied == ["asked_buffer_bytes"] and not udp:
        data["window_bytes"] = column("asked_buffer_bytes")
    elif varied == ["write_bytes"] and udp:
        data["payload_bytes"] = column("write_bytes")
        data["frame_bytes"] = ethernet_frame_bytes(data["payload_bytes"] + DATAGRAM_HEADERS_BYTES)
    elif varied == ["write_bytes"]:
        data |= {name: column(name) for name in ("write_bytes", "wall_s", "user_s", "system_s")}
        data["write_count"] = np.rint(column("sent_rate_pps") * column("wall_s"))
    else:
        return None
    return Table(data=data, meta=Meta(units={name: unit_of_name(name) or "1" for name in data}))


def _is_bounded(row: Mapping[str, Any]) -> bool:
    """Whether the window was that of the requested buffer: it was full, and nothing was dropped."""
    drops = [float(row[name]) for name in DROP_PLACES.values()]
    filled = float(row["window_bytes"]) >= FILLED_RATIO * float(row["asked_buffer_bytes"])
    return filled and not any(count > 0 for count in drops)


_OF_SERIES = {"s": "time_s", "bit/s": "rate_bps", "packet/s": "rate_pps"}
"""Columns that the values of several series are of, by their unit."""


def by_series(table: Table) -> Table | None:
    """Return columns that are series of one quantity against the first column, one below the other.

    None for other tables: those with texts, with columns of several units, or of which the first
    column has no meaning.
    """
    columns, units = table.columns(), table.meta.units
    x, *names = columns
    unit = units.get(names[0], "") if names else ""
    if (
        unit not in _OF_SERIES
        or {units.get(name) for name in names} != {unit}
        or any(column.dtype.kind not in "iuf" for column in columns.values())
        or not any(x.lower() in role for role in ROLES.values())
    ):
        return None
    series = [name.rpartition("_")[0].replace("_", " ") for name in names]
    value = _OF_SERIES[unit]
    data = {
        x: np.tile(columns[x], len(names)),
        value: np.concatenate([columns[name] for name in names]),
        "group": np.repeat(np.array(series, object), len(table)),
    }
    kept = {x: units.get(x, "1"), value: unit, "group": "text"}
    return Table(data=data, meta=replace(table.meta, units=kept))


PACKET_SIZE = "packet_size_bytes"
"""A size that is taken for that of a frame where no other size is there."""
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
        "parallel", "parallel_flows", "parallel_streams", "parallel_connections",
    ),
    "frame_bytes": ("frame_bytes", "frame_size_bytes", PACKET_SIZE),
    "captured_bytes": ("captured_bytes",),
    "payload_bytes": ("payload_bytes",),
    "rate_pps": ("rate_pps", "frame_rate_pps", "packet_rate_pps", "throughput_pps"),
    "goodput_bps": ("goodput_bps", "received_rate_bps"),
    "rate_bps": ("rate_bps", "throughput_bps", "bitrate_bps", "frame_throughput_bps"),
    "response_s": ("response_s",),
    "response_rtt_s": (
        "rtt_s", "round_trip_s", "round_trip_time_s", "latency_s", "delay_s", "ping_s",
    ),
    "window_bytes": (
        "window_bytes", "window_size_bytes", "buffer_bytes", "socket_buffer_bytes",
        "send_buffer_bytes", "sndbuf_bytes", "receive_buffer_bytes", "rcvbuf_bytes",
    ),
    "window_count": ("cwnd", "congestion_window", "window"),
    "loss_ratio": ("loss_ratio", "packet_loss_ratio"),
    "load_ratio": (
        "load_ratio", "offered_load_ratio", "last_ratio",
        "utilization_ratio", "utilisation_ratio", "utilization", "load", "rho_ratio",
        "rho",
    ),
    "delay_s": (
        "delay_s", "sojourn_s", "response_s", "response_time_s", "latency_s", "rtt_s", "wait_s",
        "waiting_time_s", "queue_delay_s", "queueing_delay_s", "time_s",
    ),
    "offered_bps": (
        "offered_bps", "offered_rate_bps", "offered_load_bps", "asked_rate_bps", "target_bps",
        "target_rate_bps", "load_bps", "last_bps", "angebotene_last_bps", "carga_bps",
        "charge_bps", "sent_rate_bps", "sent_bps",
    ),
    "trip_s": (
        "rtt_s", "round_trip_s", "round_trip_time_s", "latency_s", "delay_s", "ping_s",
        "one_way_delay_s", "one_way_latency_s", "owd_s",
    ),
    "offered_load_bps": (
        "offered_load_bps", "load_bps", "offered_bps", "offered_rate_bps", "last_bps",
        "angebotene_last_bps", "carga_bps", "charge_bps",
    ),
    "distance_m": ("distance_m", "length_m", "way_m"),
    "rank_count": (
        "rank_count", "ranks", "rank", "node_count", "nodes", "process_count", "processes",
        "gpu_count", "gpus",
    ),
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
STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Student's t of a two-sided 95%, for 1 degree of freedom and more; the last for all above."""
LEAST_SPAN = 1.5
"""A law is fitted to rows whose positions differ by this factor at least. [ratio]"""
FITTED_TOLERANCE = 0.25
"""A limit fitted to the points that it explains is known no better than this. [ratio]"""
FLAT_RATIO = 0.1
"""Rates that differ by less from row to row are alike. [ratio]"""
LEAST_VALUE, MOST_VALUE = 1e-18, 1e18
"""Between these any size, count, time and rate lies, in SI units."""
SERIES = (
    "protocol", "server", "host", "device", "router", "switch", "system", "path", "line", "group",
    "run", "mode", "flow", "stream", "client", "algorithm", "congestion_control",
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
    columns, written = samples.columns(), _headings(samples)
    for name in ROLES[role]:
        if name in written and columns[written[name]].dtype.kind in "iuf":
            return np.asarray(columns[written[name]], dtype=float)
    return None


def _headings(samples: Samples) -> dict[str, str]:
    """Return the headings as written by the names that roles have: ``Parallel flows`` is one."""
    return {name.strip().lower().replace(" ", "_"): name for name in samples.columns()}


def unrecognized(samples: Samples) -> list[str]:
    """Return the columns whose names no role and no series has."""
    named = {*SERIES, *(name for names in ROLES.values() for name in names)}
    return [name for heading, name in _headings(samples).items() if heading not in named]


def rates_of(table: Table) -> FloatArray | None:
    """Return the column of goodputs, or else of other rates; None if the table has none."""
    goodput = numbers(table, "goodput_bps")
    return numbers(table, "rate_bps") if goodput is None else goodput


def numbers_or_nan(samples: Samples, role: str) -> FloatArray:
    """Return the column of numbers that has a role, nan where the table has none."""
    values = numbers(samples, role)
    return np.full(len(samples), math.nan) if values is None else values


def column_name(samples: Samples, role: str) -> str:
    """Return the name of the column that has a role; empty if there is none."""
    written = _headings(samples)
    return next((written[name] for name in ROLES[role] if name in written), "")


def series_of(table: Table) -> list[str]:
    """Return the series that each row belongs to, from its columns of text; empty if none."""
    columns, written = table.columns(), _headings(table)
    texts = [columns[written[name]] for name in SERIES if name in written]
    texts = [text for text in texts if text.dtype.kind in "OU"]
    return [", ".join(str(text[row]) for text in texts if text[row]) for row in range(len(table))]


def plausible(*columns: FloatArray) -> NDArray[np.bool_]:
    """Return the rows in which each of these columns has a number that can be computed with."""
    is_plausible = np.ones(columns[0].shape, np.bool_)
    for column in columns:
        is_plausible &= (column > LEAST_VALUE) & (column < MOST_VALUE)
    return is_plausible


def rows_of(series: list[str], good: NDArray[np.bool_]) -> dict[str, NDArray[np.intp]]:
    """Return the indexes of the good rows of each series, in the order of the table."""
    names = dict.fromkeys(name for name, kept in zip(series, good, strict=True) if kept)
    at = np.array(series, object)
    return {name: np.flatnonzero((at == name) & good) for name in names}


def left_out(total: int, rows: Mapping[str, NDArray[np.intp]]) -> tuple[Notice, ...]:
    """Say how many rows of a table are not among those that can be computed with."""
    count = total - sum(at.size for at in rows.values())
    return (Notice("rows-left-out", {"count": count, "total": total}),) if count else ()


def student_t(degrees: int) -> float:
    """Return Student's t of a two-sided 95%; nan without a degree of freedom."""
    return STUDENT_T[min(degrees, len(STUDENT_T)) - 1] if degrees > 0 else math.nan


def two_points(rows: NDArray[Any]) -> tuple[Notice, ...]:
    """Say that two rows contradict no curve; nothing of more."""
    return (Notice("two-points"),) if rows.size <= 2 else ()


def labelled(series: str, what: str) -> str:
    """Return the label of a row: its series, and what is special about it."""
    return ", ".join(filter(None, (series, what)))


PARTS_RATIO = 0.015
"""Parts that differ by more than this from their sum do not belong together. [ratio]"""

WAYS_OF_WRITING = re.compile(
    r"(?i).*(?:nagle|no.?delay|cork|flush|quickack|(?:single|one|two).?write)"
)
"""Names of modes, or of columns, that say how a request was written."""
TIMES = ("response_s", "time_s", "rtt_s", "elapsed_s", "wall_s")
"""Columns that have the time of a request beside its mode."""


def explain_times(table: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what the times of a table consist of: responses, round trips, or those of lines.

    Parameters
    ----------
    table : Table
        ``response_s``, or sizes and ``curve_rtt_s``, or ``bandwidth_bps`` with sizes and times.
    stated : Known
        As for the samples that a reader makes of such columns.

    Returns
    -------
    tuple of Finding
        One for each series, or row of a line; empty for other tables.

    Raises
    ------
    ReaderError
        If a time or a size is negative.
    """
    try:
        timed = _timed(table)
    except DomainError as error:
        file = table.meta.source or "this table"
        raise ReaderError(
            "not-evaluated", file=file, field=error.name, reason=error.what
        ) from error
    if isinstance(timed, TransactionSamples):
        return explain_transactions(timed, stated)
    if timed is not None:
        return explain_round_trips(timed, stated)
    return _modes(table, stated) or _lines(table, series_of(table))


def _timed(table: Table) -> TransactionSamples | RttSamples | None:
    """Return the responses or the round trips that a table has."""
    group, sizes = np.array(series_of(table), object), numbers_or_nan(table, "packet_bytes")
    response, rtt = numbers(table, "response_s"), numbers(table, "rtt_s")
    if response is None:
        response = _lone_times(table)
    if response is not None:
        each = np.arange(1.0, len(table) + 1)
        return TransactionSamples(
            mode=group, sequence=each, payload_bytes=sizes, response_s=response, meta=table.meta
        )
    if rtt is None:
        return None
    return RttSamples(payload_bytes=sizes, rtt_s=rtt, group=group)


def _lone_times(table: Table) -> FloatArray | None:
    """Return the latencies of a table that has nothing beside them but a running number."""
    counted = {
        name
        for name, column in table.columns().items()
        if column.dtype.kind in "iuf" and not table.meta.units.get(name, "").strip("1")
        and np.all(np.diff(column) == 1)
    }  # fmt: skip
    labels = {name for heading, name in _headings(table).items() if heading in SERIES}
    others = set(table.columns()) - counted - labels
    return numbers(table, "response_rtt_s") if len(others) == 1 else None


def _modes(table: Table, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of times by way of writing: in rows with a mode, or in columns of each.

    Without a name that says how a request was written, such a table may be of anything.
    """
    columns = table.columns()
    names = columns.get(_headings(table).get("mode", ""))
    time = next((name for name in TIMES if name in columns), None)
    if names is not None and time is not None and names.dtype.kind in "OU":
        modes = [str(name) for name in names]
        times = np.asarray(columns[time], dtype=float)
    else:
        units = table.meta.units
        ways = [name for name in columns if units.get(name) == "s" and WAYS_OF_WRITING.match(name)]
        modes = [name.removesuffix("_s").replace("_", " ") for name in ways for _ in columns[name]]
        times = np.concatenate([np.zeros(0), *(columns[name] for name in ways)])
    if not any(WAYS_OF_WRITING.match(name) for name in modes):
        return ()
    responses = TransactionSamples(
        mode=modes, sequence=np.arange(1.0, times.size + 1),
        payload_bytes=np.full(times.size, math.nan), response_s=times, meta=table.meta,
    )  # fmt: skip
    return explain_transactions(responses, stated)


def _lines(table: Table, series: list[str]) -> tuple[Finding, ...]:
    rates, sizes = numbers(table, "line_bps"), numbers(table, "packet_bytes")
    times = numbers(table, "transfer_s")
    if rates is None or sizes is None or times is None:
        return ()
    delays, hops = numbers_or_nan(table, "latency_s"), numbers_or_nan(table, "hop_count")
    findings = []
    for row in np.flatnonzero(plausible(rates, sizes, times)).tolist():
        rate, size, measured = float(rates[row]), float(sizes[row]), float(times[row])
        count = int(hops[row]) if 1 <= hops[row] < MOST_VALUE else 1
        part = count * float(latency.serialization_s(size, bandwidth_bps=rate))
        values = {"count": count, "size_bytes": size, "line_bps": rate}
        parts = [Limit("row-serialization", part, "s", PART_TOLERANCE, values)]
        if delays[row] > 0:
            late = {"latency_s": float(delays[row])}
            parts.append(Limit("row-latency", float(delays[row]), "s", PART_TOLERANCE, late))
        total = math.fsum(part.value for part in parts)
        differ = {"sum_s": total, "measured_s": measured}
        is_off = abs(total / measured - 1) > PARTS_RATIO
        findings.append(
            Finding(
                label=series[row], unit="s", measured=measured, limits=largest_first(*parts),
                notices=(Notice("parts-differ", differ),) if is_off else (),
            )
        )  # fmt: skip
    return tuple(findings)


OF_ALL = re.compile(r"(?i).*(?:total|aggregat|gesamt|insgesamt|\b(?:sum|summe|somme|suma)\b)")
OF_EACH = re.compile(
    r"(?i).*\b(?:per|pro|par|por|je|each|single)[ _-]"
    r"(?:flow|stream|connection|pair|client|thread|flu|strom|verbindung|connexion|conexi)"
)
"""Names of columns that say whose rates they have: those of all transfers together, or of each."""
SHARE_TOLERANCE = 0.25
SATURATION_TOLERANCE = 0.1
SATURATED_RATIO = 0.85
"""The most pairs reach less than this share of what they would have alone: something is full."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The rows of a table of pairs that have a number and a rate; by series."""

    count: FloatArray
    rate_bps: FloatArray
    noun: str
    series: list[str]
    rows: dict[str, NDArray[np.intp]]

    def each_bps(self, name: str) -> tuple[float, float]:
        """Return the rate of each pair with the fewest of them, and how few these are."""
        rows = self.rows[name]
        first = rows[np.argmin(self.count[rows])]
        return float(self.rate_bps[first] / self.count[first]), float(self.count[first])

    def most_bps(self, name: str) -> tuple[float, float] | None:
        """Return the rate at which more pairs add nothing, and with how many; None if not seen."""
        rows = self.rows[name]
        last = rows[np.argmax(self.count[rows])]
        each, _ = self.each_bps(name)
        if self.rate_bps[last] >= SATURATED_RATIO * each * self.count[last]:
            return None
        top = rows[np.argmax(self.rate_bps[rows])]
        return float(self.rate_bps[top]), float(self.count[top])

    def ordered_bps(self, name: str) -> FloatArray:
        """Return the rates of a series from the fewest to the most. [bit/s]"""
        rows = self.rows[name]
        return self.rate_bps[rows[np.argsort(self.count[rows], kind="stable")]]

    def is_falling(self, name: str) -> bool:
        """Whether the rate falls as they get more: then it is of a single transfer, not of all."""
        rates = self.ordered_bps(name)
        is_steady = np.all(rates[1:] <= (1 + FLAT_RATIO) * rates[:-1])
        return bool(is_steady and rates[-1] < SATURATED_RATIO * rates[0])

    def counted(self, count: float) -> str:
        """Write a number of pairs with its noun."""
        return f"{count:g} {self.noun}{'' if count == 1 else 's'}"


def pairs_of(table: Table) -> Pairs | None:
    """Return the pairs of a table; None if it does not have several numbers of them."""
    count, rate = numbers(table, "pair_count"), rates_of(table)
    if count is None or rate is None:
        return None
    good = plausible(count, rate) & (count >= 1)
    if np.unique(count[good]).size < 2:
        return None
    noun = column_name(table, "pair_count").strip().lower().replace(" ", "_")
    noun = noun.removesuffix("_count").removesuffix("s").removeprefix("parallel_")
    noun = "flow" if noun == "parallel" else noun
    series = series_of(table)
    is_of_each = np.array([OF_EACH.match(name) is not None for name in series])
    rate = np.where(is_of_each, count * rate, rate)
    return Pairs(count, rate, noun, series, rows_of(series, good))


def explain_falling(table: Table) -> tuple[Finding, ...]:
    """Return what a table of pairs says whose rate falls as they get more; empty for others."""
    pairs = pairs_of(table)
    if pairs is None or not all(map(pairs.is_falling, pairs.rows)):
        return ()
    findings = []
    for name, rows in pairs.rows.items():
        rates = pairs.ordered_bps(name)
        signs = (
            Sign("rate_bps", float(rates[0]), "the fewest"),
            Sign("flow_count", float(pairs.count[rows].min()), "the table"),
            Sign("least_bps", float(rates[-1]), "the most"),
            Sign("stream_count", float(pairs.count[rows].max()), "the table"),
        )
        cause = Cause(code="shared-line", confidence=LOW, signs=signs, variant="falls")
        if OF_ALL.match(name):
            cause = Cause(confidence=LOW, signs=signs, variant="total-falls")
        findings.append(Finding(label=name, notices=two_points(rows), cause=cause))
    return tuple(findings)


def pair_evidence(table: Table) -> list[Row]:
    """Return what each row of a table of pairs says, and its further limits.

    Parameters
    ----------
    table : Table
        Columns such as ``pairs`` and ``goodput_bps``.

    Returns
    -------
    list of Row
        For each row the transfer of all pairs; what they would have if each had what it has with
        the fewest of them; and the rate beyond which more add nothing, where that was seen. Empty
        for other tables.
    """
    pairs = pairs_of(table)
    if pairs is None:
        return []
    size = numbers(table, "payload_bytes")
    by_row: dict[int, Row] = {}
    for name, rows in pairs.rows.items():
        each, least = pairs.each_bps(name)
        most = pairs.most_bps(name)
        said = (Notice("rates-of-each", {"name": name}),) if OF_EACH.match(name) else ()
        for row in rows.tolist():
            count, rate = float(pairs.count[row]), float(pairs.rate_bps[row])
            fewest = pairs.counted(least)
            values = {"count": int(count), "each_bps": each, "least_count": fewest}
            limits = [Limit("pair-share", count * each, "bit/s", SHARE_TOLERANCE, values)]
            if most is not None:
                values = {"most_bps": most[0], "count": pairs.counted(most[1])}
                full = Limit("saturation", most[0], "bit/s", SATURATION_TOLERANCE, values)
                # The fewest reach what each of them gets alone, whatever limits them.
                limits = [full] if count == least and full.agrees(rate) else [*limits, full]
            evidence = Evidence(
                label=labelled(name, pairs.counted(count)),
                protocol="udp" if "UDP" in name.upper().split(", ") else "tcp",
                rate_bps=rate,
                received_rate_bps=rate,
                stream_count=count,
                is_from_start=False,
                datagram_bytes=first_known(None if size is None else float(size[row])),
            )
            asked = () if most is not None else (Notice("more-pairs"),)
            by_row[row] = Row(
                evidence=evidence,
                limits=tuple(limits),
                notices=(*said, *two_points(rows)),
                missing=asked,
            )
    return [by_row[row] for row in sorted(by_row)]


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """The rows of a table of writes that have a size, a count and a time; by series."""

    size_bytes: FloatArray
    write_count: FloatArray
    wall_s: FloatArray
    processor_s: FloatArray
    lost_count: FloatArray
    series: list[str]
    rows: dict[str, NDArray[np.intp]]

    @property
    def write_s(self) -> FloatArray:
        """Time of a write. [s]"""
        with np.errstate(all="ignore"):  # rows that are not plausible are left out
            return np.asarray(self.wall_s / self.write_count)

    def costs(self, name: str) -> Costs | None:
        """Return the fitted costs of a series; None where they are not those of a host."""
        at = self.rows[name]
        costs = write_costs(self.size_bytes[at], self.write_s[at])
        fitted = [value for value in costs.params.values() if not math.isnan(value)]
        is_cost = bool(fitted) and "byte_cost" not in costs.not_identifiable and min(fitted) >= 0
        return costs if is_cost else None


def writes_of(table: Table) -> Writes | None:
    """Return the writes of a table; None if it is not one of writes."""
    sizes, counts, times = (numbers(table, n) for n in ("write_bytes", "write_count", "wall_s"))
    size, total = numbers(table, "size_of_write_bytes"), numbers(table, "total_bytes")
    if counts is None and size is not None and total is not None:
        with np.errstate(all="ignore"):  # rows that are not plausible are left out
            counts = total / size
    if sizes is None or counts is None or times is None:
        return None
    good = plausible(sizes, counts, times) & (counts >= 1)
    series = series_of(table)
    return Writes(
        size_bytes=sizes,
        write_count=counts,
        wall_s=times,
        processor_s=numbers_or_nan(table, "user_s") + numbers_or_nan(table, "system_s"),
        lost_count=numbers_or_nan(table, "lost_count"),
        series=series,
        rows=rows_of(series, good),
    )


def write_evidence(table: Table) -> list[Row]:
    """Return what each row of a table of writes says, its further limits and notices.

    Parameters
    ----------
    table : Table
        Columns such as ``write_bytes``, ``write_count`` and ``wall_s``, or ``total_bytes`` in
        place of the count; ``user_s``, ``system_s``,
        ``lost_count`` and texts such as ``protocol`` and ``server`` where they are known.

    Returns
    -------
    list of Row
        For each row the transfer, its limit by the costs of writes (fitted to the rows of the same
        series, if they have several sizes), and the cost of a write; empty for other tables.
    """
    writes = writes_of(table)
    if writes is None:
        return []
    by_row: dict[int, Row] = {}
    for name, rows in writes.rows.items():
        costs = writes.costs(name)
        for row in rows.tolist():
            limits = () if costs is None else (_limit(writes, row, costs),)
            notices = (_cost(writes, row),) if costs is None else two_points(np.unique(costs.x))
            by_row[row] = Row(evidence=_evidence(writes, row), limits=limits, notices=notices)
    return [by_row[row] for row in sorted(by_row)]


def explain_uncounted(table: Table) -> tuple[Finding, ...]:
    """Ask for the number of writes of a table that has their sizes and times alone.

    Parameters
    ----------
    table : Table
        A column ``write_bytes`` or ``write_size_bytes``, and one of wall times.

    Returns
    -------
    tuple of Finding
        One without limits; empty for other tables.
    """
    sizes, times = numbers(table, "size_of_write_bytes"), numbers(table, "wall_s")
    if sizes is None or times is None or writes_of(table) is not None:
        return ()
    return (Finding(missing=(Notice("ask-write-count"),)),)


def _evidence(writes: Writes, row: int) -> Evidence:
    size, wall = float(writes.size_bytes[row]), float(writes.wall_s[row])
    udp = "UDP" in writes.series[row].upper().split(", ")
    lost = float(writes.lost_count[row])
    share = lost / float(writes.write_count[row]) if lost >= 0 else math.nan
    sent = 8 * size / float(writes.write_s[row])
    received = sent if math.isnan(share) else sent * (1 - share)
    return Evidence(
        label=labelled(writes.series[row], f"writes of {size:g} B"),
        protocol="udp" if udp else "tcp",
        rate_bps=received,
        sent_rate_bps=sent,
        received_rate_bps=math.nan if udp and math.isnan(share) else received,
        size_bytes=size * float(writes.write_count[row]),
        duration_s=wall,
        is_from_start=False,
        loss_ratio=share if udp else math.nan,
        datagram_bytes=size if udp else math.nan,
        asked_rate_bps=math.inf,  # as fast as the host can write
        processor_ratio=float(writes.processor_s[row]) / wall,
    )


def _limit(writes: Writes, row: int, costs: Costs) -> Limit:
    size = float(writes.size_bytes[row])
    values = {
        "size_bytes": size,
        "write_cost_s": costs.params["transaction_s"],
        "byte_cost_s": costs.params["byte_cost"],
        "mbuf_cost_s": costs.params["mbuf_s"],
        "size_count": int(np.unique(costs.x).size),
    }
    name = "host-costs" if math.isnan(values["mbuf_cost_s"]) else "host-costs-mbufs"
    rate = 8 * size / float(costs.predict(np.array([size]))[0])
    return Limit(name, rate, "bit/s", FITTED_TOLERANCE, values)


def _cost(writes: Writes, row: int) -> Notice:
    each, count = float(writes.write_s[row]), float(writes.write_count[row])
    values = {"size_bytes": float(writes.size_bytes[row]), "write_s": each}
    spent = float(writes.processor_s[row]) / count
    if math.isnan(spent):
        return Notice("write-time", values)
    return Notice("write-cost", {**values, "processor_s": spent})
