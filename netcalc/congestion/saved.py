"""A recording as a table of samples, which is saved and read like those of any other run.

A row is a state of a connection (``TCP_INFO`` of its sender), a count of received bytes, a request
with its reply, or a packet at the bottleneck; columns that a row does not have are nan. The
scenario is among the facts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from netcalc.congestion.recording import Recording, Rows, empty_rows
from netcalc.emulation.events import FATES, Events, Log
from netcalc.errors import ReaderError
from netcalc.samples import Samples, Table
from netcalc.scenario import as_document, from_document

STATE, RECEIVED, REQUEST, PACKET = ROWS = ("state", "received", "request", "packet")
"""Kinds of rows."""
MEMBERS = {
    "mss_bytes": ("byte", "mss_bytes", 1.0),
    "rtt_s": ("s", "rtt_us", 1e6),
    "min_rtt_s": ("s", "min_rtt_us", 1e6),
    "window_packets": ("packet", "cwnd", 1.0),
    "threshold_packets": ("packet", "ssthresh", 1.0),
    "retransmitted_packets": ("packet", "retransmits", 1.0),
    "pacing_bps": ("bit/s", "pacing_bytes_s", 0.125),
    "delivery_bps": ("bit/s", "delivery_bytes_s", 0.125),
    "sent_bytes": ("byte", "sent_bytes", 1.0),
    "resent_bytes": ("byte", "resent_bytes", 1.0),
}
"""Columns of a state: unit, member of ``tcp_info`` as recorded, and its units in one of those."""
UNKNOWN = {
    "rtt_us": 0,
    "min_rtt_us": 2**32 - 1,
    "ssthresh": 2**31 - 1,
    "pacing_bytes_s": 2**64 - 1,
}
"""What Linux's ``tcp_info`` has before there is a value: no round trip, no loss, no pacing. Such a
value is nan in the table."""
UNITS = {
    "row": "text",
    "connection": "1",
    "time_s": "s",
    "end_s": "s",
    "counted_bytes": "byte",
    **{name: unit for name, (unit, _, _) in MEMBERS.items()},
    "backlog_bytes": "byte",
    "fate": "text",
}
"""Columns. ``end_s`` is when the reply was there, or the packet had left; ``counted_bytes`` what
had been received by then, or the size of the packet."""


def is_recording(samples: Samples) -> TypeGuard[Table]:
    """Whether samples are a live run of a scenario."""
    return isinstance(samples, Table) and samples.meta.experiment == "congestion"


def as_table(recording: Recording) -> Table:
    """Return a recording as a table.

    Parameters
    ----------
    recording : Recording
        A live run.

    Returns
    -------
    Table
        With the columns of :data:`UNITS`; ``meta.printed`` has the scenario.
    """
    states, received, requests = recording.states, recording.received, recording.requests
    queue = Log().events() if recording.queue is None else recording.queue
    counts = [len(part) for part in (states, received, requests, queue)]
    rows = np.repeat(np.array(ROWS, dtype=object), counts)
    empty = {name: np.full(rows.size, np.nan) for name, unit in UNITS.items() if unit != "text"}
    columns: dict[str, NDArray[Any]] = {"row": rows, **empty}
    for kind, part in ((STATE, states), (RECEIVED, received), (REQUEST, requests)):
        columns["connection"][rows == kind] = part["index"]
        columns["time_s"][rows == kind] = part["at_ns"] * 1e-9
    columns["counted_bytes"][rows == RECEIVED] = received["value"]
    columns["end_s"][rows == REQUEST] = requests["value"] * 1e-9
    for name, (_, member, in_one) in MEMBERS.items():
        known = states[member] != UNKNOWN.get(member, -1)
        columns[name][rows == STATE] = np.where(known, states[member] / in_one, np.nan)
    packet = rows == PACKET
    columns["time_s"][packet] = queue.arrival_s
    columns["end_s"][packet] = queue.departure_s
    columns["counted_bytes"][packet] = queue.packet_bytes
    columns["backlog_bytes"][packet] = queue.backlog_bytes
    fates = np.full(rows.size, "", dtype=object)
    fates[packet] = np.array(FATES, dtype=object)[queue.fate]
    printed = {
        "scenario": as_document(recording.scenario),
        "ended_s": recording.ended_s,
        "cpu_s": list(recording.cpu_s),
        "queue_logged": recording.queue is not None,
    }
    meta = replace(recording.meta, units=UNITS, printed=printed)
    return Table(data={**columns, "fate": fates}, meta=meta)


def from_table(table: Samples, *, file: str = "samples") -> Recording:
    """Return the recording that a table holds.

    Raises
    ------
    ReaderError
        If it is another table, or is damaged.
    """
    if not is_recording(table):
        found = table.meta.experiment or table.meta.tool or type(table).__name__
        raise ReaderError("other-experiment", file=file, value=found, expected="congestion")
    missing = [name for name in UNITS if name not in table.columns()]
    if missing:
        raise ReaderError("recording-damaged", file=file, field=missing[0])
    printed = table.meta.printed
    scenario = from_document(printed.get("scenario") or {}, name=file)
    rows = table["row"]
    count = len(scenario.flows) + len(scenario.requests)
    needed = {"connection": rows != PACKET, "time_s": rows == rows, "counted_bytes":
              (rows == RECEIVED) | (rows == PACKET), "backlog_bytes": rows == PACKET}  # fmt: skip
    faults = {name: ~np.isfinite(table[name]) & where for name, where in needed.items()}
    faults["row"] = ~np.isin(rows, ROWS)
    faults["connection"] |= (rows != PACKET) & ~np.isin(table["connection"], np.arange(count))
    faults["fate"] = (rows == PACKET) & ~np.isin(table["fate"], FATES)
    faults["end_s"] = (rows == REQUEST) & ~np.isfinite(table["end_s"])
    for name, wrong in faults.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ReaderError("recording-damaged", file=file, field=f"{name}[{at}]",
                              value=str(table[name][at]))  # fmt: skip
    return Recording(
        scenario=scenario,
        states=_states(table, rows == STATE),
        received=_counted(table, rows == RECEIVED, table["counted_bytes"]),
        requests=_counted(table, rows == REQUEST, table["end_s"] * 1e9),
        queue=None if printed.get("queue_logged") is False else _queue(table, rows == PACKET),
        ended_s=_number(printed.get("ended_s"), file),
        cpu_s=_times(printed.get("cpu_s"), scenario.senders + 1),
        meta=table.meta,
    )


def _heads(table: Table, where: NDArray[np.bool_], rows: Rows) -> Rows:
    rows["index"] = table["connection"][where]
    rows["at_ns"] = np.rint(table["time_s"][where] * 1e9)
    return rows


def _counted(table: Table, where: NDArray[np.bool_], values: NDArray[np.float64]) -> Rows:
    rows = _heads(table, where, empty_rows(int(where.sum())))
    rows["value"] = np.rint(values[where])
    return rows


def _states(table: Table, where: NDArray[np.bool_]) -> Rows:
    rows = _heads(table, where, empty_rows(int(where.sum()), states=True))
    for name, (_, member, in_one) in MEMBERS.items():
        given = np.rint(table[name][where] * in_one)
        values = np.nan_to_num(given)
        most = np.iinfo(rows[member].dtype).max  # a float64 may be one above it
        rows[member] = np.where(values < float(most), values, 0).astype(rows[member].dtype)
        rows[member][values >= float(most)] = most
        rows[member][np.isnan(given)] = UNKNOWN.get(member, 0)
    return rows


def _queue(table: Table, where: NDArray[np.bool_]) -> Events:
    numbers = {name: number for number, name in enumerate(FATES)}
    return Events(
        link=np.zeros(int(where.sum()), dtype=np.int64),
        arrival_s=table["time_s"][where],
        departure_s=table["end_s"][where],
        packet_bytes=table["counted_bytes"][where].astype(np.int64),
        backlog_bytes=table["backlog_bytes"][where].astype(np.int64),
        fate=np.array([numbers[fate] for fate in table["fate"][where]], dtype=np.int8),
    )


def _number(value: Any, file: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ReaderError("recording-damaged", file=file, field="ended_s", value=str(value))
    return float(value)


def _times(value: Any, count: int) -> tuple[float, ...]:
    """Return so many processor times; nan where the file has none."""
    given = value if isinstance(value, list | tuple) and len(value) == count else [None] * count
    return tuple(float(x) if isinstance(x, int | float) else np.nan for x in given)
