"""What a live run of a scenario leaves: raw rows of both hosts and the log of the queue.

The rows are those of :mod:`netcalc.experiments.peers.flows_peer`. Nothing is resampled: a mean is
computed from the bytes that were received between two moments, and from each packet in the queue.

As a table of samples a recording is saved and read like any other run (:func:`as_table`,
:func:`from_table`): a row is a state of a connection (``TCP_INFO`` of its sender), a count of
received bytes, a request with its reply, or a packet at the bottleneck; columns that a row does not
have are nan. The scenario is among the facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.congestion.result import (
    Latencies,
    Result,
    Trajectory,
    counted_span_s,
    mean_rtt_s,
    segment_bytes,
)
from netcalc.documents import Place, Rule, convert
from netcalc.emulation.queue import FATES, Events, Log
from netcalc.errors import ReaderError
from netcalc.experiments.peers.flows_peer import BYTES, INFO, INFO_BYTES, ROW
from netcalc.experiments.peers.flows_peer import REQUEST as REQUEST_ROW
from netcalc.samples import Meta, Samples, Table
from netcalc.scenario import Scenario, as_document, from_document

_ROW = np.dtype([("kind", "u1"), ("pad", "V3"), ("index", "<i4"), ("at_ns", "<i8"),
                 ("value", "<i8")])  # fmt: skip
_STATE = np.dtype({
    "names": ["index", "at_ns", "mss_bytes", "rtt_us", "ssthresh", "cwnd", "retransmits",
              "pacing_bytes_s", "min_rtt_us", "delivery_bytes_s", "sent_bytes", "resent_bytes"],
    "formats": ["<i4", "<i8", "<u4", "<u4", "<u4", "<u4", "<u4", "<u8", "<u4", "<u8", "<u8", "<u8"],
    "offsets": [4, 8, *(ROW.size + at for at in (16, 68, 76, 80, 100, 104, 148, 160, 200, 208))],
    "itemsize": ROW.size + INFO_BYTES,
})  # fmt: skip
"""A row of state: its head, and the members of Linux's ``struct tcp_info`` by their offsets."""
STEP_S = 0.1
"""Interval of a trajectory: some round trips of a wide area. [s]"""
Rows = NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """Rows of a live run.

    Parameters
    ----------
    scenario : Scenario
        What was run.
    states : structured array
        ``TCP_INFO`` of the senders: connection, time and members.
    received : structured array
        Bytes received so far: connection, time, value.
    requests : structured array
        Requests: connection, time of the first byte, and ``value``, the time of the whole reply.
    queue : Events or None
        Each packet at the bottleneck, with its times from the start of the scenario; None if its
        log is lost, and with it what is known of queue and drops.
    ended_s : float
        When it ended, before the end of the scenario if it was stopped. [s]
    cpu_s : tuple of float
        Processor time of each sending host, and of the receiving one. [s]
    meta : Meta
        The run.
    """

    scenario: Scenario
    states: Rows
    received: Rows
    requests: Rows
    queue: Events | None
    ended_s: float
    cpu_s: tuple[float, ...] = (np.nan, np.nan)
    meta: Meta = field(default_factory=Meta)

    def received_bytes(self, index: int, at_s: FloatArray) -> FloatArray:
        """Return the payload that a connection had received by some times. [byte]"""
        rows = self.received[self.received["index"] == index]
        if not rows.size:
            return np.zeros(np.shape(at_s))
        times_s, counts = rows["at_ns"] * 1e-9, rows["value"].astype(float)
        return np.asarray(np.interp(at_s, times_s, counts, left=0.0), dtype=float)

    def goodput_bps(self) -> FloatArray:
        """Return the mean payload rate of each flow, as :class:`Result` counts it. [bit/s]"""
        rates = []
        for index, flow in enumerate(self.scenario.flows):
            begin, stop = counted_span_s(flow, self.scenario)
            end = min(stop, self.ended_s)
            if flow.size_bytes is not None:
                finish = self.finish_s()[index]
                end = end if np.isnan(finish) else min(end, finish)
            got = np.diff(self.received_bytes(index, np.array([begin, max(begin, end)])))[0]
            rates.append(8.0 * got / (end - begin) if end > begin else np.nan)
        return np.array(rates)

    def finish_s(self) -> FloatArray:
        """Return when the last byte of each sized flow had arrived; nan for others. [s]"""
        finish = np.full(len(self.scenario.flows), np.nan)
        for index, flow in enumerate(self.scenario.flows):
            if flow.size_bytes is None:
                continue
            rows = self.received[self.received["index"] == index]
            done = rows[rows["value"] >= flow.size_bytes]
            if done.size:
                finish[index] = done["at_ns"][0] * 1e-9
        return finish

    def queue_bytes(self, at_s: FloatArray) -> FloatArray:
        """Return the queue at some times, with the packet on the line; nan if unknown. [byte]"""
        if self.queue is None:
            return np.full(np.shape(at_s), np.nan)
        there = np.isfinite(self.queue.departure_s)
        came = self.queue.arrival_s[there]
        sizes = self.queue.packet_bytes[there].astype(float)
        left = self.queue.departure_s[there]
        order = np.argsort(left)
        in_bytes = np.concatenate(([0.0], np.cumsum(sizes)))
        out_bytes = np.concatenate(([0.0], np.cumsum(sizes[order])))
        arrived = in_bytes[np.searchsorted(came, at_s, side="right")]
        return arrived - out_bytes[np.searchsorted(left[order], at_s, side="right")]

    def drop_count(self, at_s: FloatArray | float) -> FloatArray:
        """Return how many packets the full buffer had dropped by some times; nan if unknown. [1]"""
        if self.queue is None:
            return np.full(np.shape(at_s), np.nan)
        dropped_s = np.sort(self.queue.arrival_s[self.queue.fate == FATES.index("full")])
        return np.searchsorted(dropped_s, at_s, side="right").astype(float)

    def latencies_s(self, loop: int) -> FloatArray:
        """Return the latencies of the requests of one loop that began after ``warm_s``. [s]"""
        rows = self.requests[self.requests["index"] == len(self.scenario.flows) + loop]
        rows = rows[rows["at_ns"] >= self.scenario.warm_s * 1e9]
        return np.asarray((rows["value"] - rows["at_ns"]) * 1e-9, dtype=float)

    def result(self) -> Result:
        """Return the means and the course."""
        scenario = self.scenario
        begin, end = scenario.warm_s, max(self.ended_s, scenario.warm_s)
        seen_s = np.arange(begin, end, 1e-3)
        queue = self.queue_bytes(seen_s) if seen_s.size else np.array([np.nan])
        carried = self.received_bytes_of_all(np.array([begin, end]))
        payload_bps = 8.0 * float(np.diff(carried)[0]) / (end - begin) if end > begin else np.nan
        wire_ratio = scenario.bottleneck.mtu_bytes / segment_bytes(scenario)
        loops = tuple(Latencies(self.latencies_s(at)) for at in range(len(scenario.requests)))
        return Result(
            scenario=scenario,
            by="live",
            goodput_bps=self.goodput_bps(),
            queue_mean_bytes=float(queue.mean()),
            queue_median_bytes=float(np.median(queue)),
            queue_p95_bytes=float(np.percentile(queue, 95)),
            drop_count=float(self.drop_count(np.inf)),
            finish_s=self.finish_s(),
            utilization=payload_bps * wire_ratio / scenario.bottleneck.rate_bps,
            trajectory=self.trajectory(),
            requests=loops or None,
            resent_ratio=self.resent_ratio(),
            cpu_s=self.cpu_s,
            about={"system": self.meta.host}
            | ({"to": self.meta.target} if self.meta.target else {}),
        )

    def resent_ratio(self) -> float:
        """Return which share of the bytes that all connections sent was sent again.

        Both are counters of ``TCP_INFO``: ``tcpi_bytes_retrans`` over ``tcpi_bytes_sent``.
        """
        last = [rows[-1] for index in range(len(self.scenario.flows) + len(self.scenario.requests))
                if (rows := self.states[self.states["index"] == index]).size]  # fmt: skip
        sent = sum(float(row["sent_bytes"]) for row in last)
        return sum(float(row["resent_bytes"]) for row in last) / sent if sent else float("nan")

    def received_bytes_of_all(self, at_s: FloatArray) -> FloatArray:
        """Return the payload that all connections had received by some times. [byte]"""
        count = len(self.scenario.flows) + len(self.scenario.requests)
        total: FloatArray = np.zeros(np.shape(at_s))
        for index in range(count):
            total = total + self.received_bytes(index, at_s)
        return total

    def trajectory(self, step_s: float = STEP_S) -> Trajectory:
        """Return the course in steps; a window is the last that was sampled in its step.

        The last step may be shorter. A connection whose round-trip time the kernel does not know
        yet (``tcpi_rtt`` is 0) has none.
        """
        steps = int(np.ceil(self.ended_s / step_s - 1e-9))
        ends: FloatArray = np.minimum(np.arange(1.0, steps + 1) * step_s, self.ended_s)
        count = len(self.scenario.flows)
        windows, rates = np.full((2, ends.size, count), np.nan)
        rtts = np.full((ends.size, count), np.nan)
        for index in range(count):
            states = self.states[self.states["index"] == index]
            times = states["at_ns"] * 1e-9
            last = np.searchsorted(times, ends, side="right") - 1
            recent = (last >= 0) & (
                ends - times[np.maximum(last, 0)] <= step_s if times.size else False
            )
            windows[recent, index] = states["cwnd"][last[recent]]
            rtt_us = states["rtt_us"][last[recent]]
            rtts[recent, index] = np.where(rtt_us > 0, rtt_us * 1e-6, np.nan)
            edges = np.concatenate(([0.0], ends))
            rates[:, index] = 8.0 * np.diff(self.received_bytes(index, edges)) / np.diff(edges)
        return Trajectory(
            time_s=ends,
            queue_bytes=self.queue_bytes(ends),
            window_packets=windows,
            goodput_bps=rates,
            rtt_s=mean_rtt_s(rtts),
            drop_count=self.drop_count(ends),
            flow_rtt_s=rtts,
        )


def empty_rows(count: int, *, states: bool = False) -> Rows:
    """Return rows of zeros, of received bytes and requests or of states."""
    return np.zeros(count, _STATE if states else _ROW)


def parse_rows(*logs: bytes) -> tuple[Rows, Rows, Rows]:
    """Take the logs of hosts apart into states, received bytes and requests."""
    states: list[bytes] = []
    others: list[bytes] = []
    for log in logs:
        at = 0
        while at + ROW.size <= len(log):
            is_state = log[at] == INFO
            end = at + ROW.size + (INFO_BYTES if is_state else 0)
            if end > len(log):
                break
            (states if is_state else others).append(log[at:end])
            at = end
    rest = np.frombuffer(b"".join(others), _ROW)
    of_states = np.frombuffer(b"".join(states), _STATE)
    return of_states, rest[rest["kind"] == BYTES], rest[rest["kind"] == REQUEST_ROW]


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
        is_set = states[member] != UNKNOWN.get(member, -1)
        columns[name][rows == STATE] = np.where(is_set, states[member] / in_one, np.nan)
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
        kind = table.meta.experiment or table.meta.tool or type(table).__name__
        raise ReaderError("other-experiment", file=file, value=kind, expected="congestion")
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
    ended = Place(file, "recording-damaged", path="ended_s")
    return Recording(
        scenario=scenario,
        states=_states(table, rows == STATE),
        received=_value_rows(table, rows == RECEIVED, table["counted_bytes"]),
        requests=_value_rows(table, rows == REQUEST, table["end_s"] * 1e9),
        queue=None if printed.get("queue_logged") is False else _queue(table, rows == PACKET),
        ended_s=float(convert(printed.get("ended_s"), Annotated[float, Rule(low=0.0)], ended)),
        cpu_s=_times(printed.get("cpu_s"), scenario.senders + 1),
        meta=table.meta,
    )


def _fill_heads(table: Table, where: NDArray[np.bool_], rows: Rows) -> Rows:
    rows["index"] = table["connection"][where]
    rows["at_ns"] = np.rint(table["time_s"][where] * 1e9)
    return rows


def _value_rows(table: Table, where: NDArray[np.bool_], values: NDArray[np.float64]) -> Rows:
    rows = _fill_heads(table, where, empty_rows(int(where.sum())))
    rows["value"] = np.rint(values[where])
    return rows


def _states(table: Table, where: NDArray[np.bool_]) -> Rows:
    rows = _fill_heads(table, where, empty_rows(int(where.sum()), states=True))
    for name, (_, member, in_one) in MEMBERS.items():
        whole = np.rint(table[name][where] * in_one)
        values = np.nan_to_num(whole)
        most = np.iinfo(rows[member].dtype).max  # a float64 may be one above it
        rows[member] = np.where(values < float(most), values, 0).astype(rows[member].dtype)
        rows[member][values >= float(most)] = most
        rows[member][np.isnan(whole)] = UNKNOWN.get(member, 0)
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


def _times(value: Any, count: int) -> tuple[float, ...]:
    """Return so many processor times; nan where the file has none."""
    times = value if isinstance(value, list | tuple) and len(value) == count else [None] * count
    return tuple(float(x) if isinstance(x, int | float) else np.nan for x in times)
