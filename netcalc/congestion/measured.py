"""Flows that somebody measured, as a result of a scenario: drawn and compared as a live run is.

A flow is a run of a file, or a connection of one that has several: intervals of iperf3 and its
like, or what ``ss`` and the kernel counted over time. Their clocks are those of the files: UTC
where there are several files, and the first flow begins when the first of the scenario does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.congestion.result import Result, Trajectory, mean_rtt_s, segment_bytes
from netcalc.errors import ReaderError
from netcalc.samples import FlowSeries, Meta, Samples, Table
from netcalc.scenario import Scenario

STEP_S = 0.1
"""Times of several files that differ by less belong to one step of the course. [s]"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredFlow:
    """Bytes that a flow had carried by some times, and its window and round trip at them.

    ``begin_s`` is the zero of its times by the clock of all files, or 0 of a single one.
    """

    name: str
    begin_s: float
    time_s: FloatArray
    carried_bytes: FloatArray
    window_bytes: FloatArray
    rtt_s: FloatArray

    @property
    def first_s(self) -> float:
        """When the flow begins, by the clock of all files. [s]"""
        return self.begin_s + float(self.time_s[0])


@named_arguments
def measured(scenario: Scenario, named: Mapping[str, Samples]) -> Result:
    """Return measured flows as a result of a scenario.

    Parameters
    ----------
    scenario : Scenario
        What the flows are compared with. Its first flow is the one that began first, and so on.
    named : mapping of str to Samples
        What was read, by the name of the file.

    Returns
    -------
    Result
        ``by`` is ``"measured"``. Queue and drops are unknown.

    Raises
    ------
    ReaderError
        If a file has no flow over time, several files have no clock in common, or there are not as
        many flows as the scenario has.
    """
    for name, samples in named.items():
        if any(row.get("protocol") == "udp" for row in samples.facts()):
            raise ReaderError("flow-of-datagrams", file=name)
    flows = measured_flows(named, has_clock=len(named) > 1)
    count = len(scenario.flows)
    if len(flows) != count:
        raise ReaderError(
            "flows-of-scenario", file=", ".join(named), count=len(flows), expected_count=count
        )
    flows.sort(key=lambda flow: flow.first_s)
    order = sorted(range(count), key=lambda index: scenario.flows[index].start_s)
    zero_s = flows[0].first_s - scenario.flows[order[0]].start_s
    late = [flow.name for flow in flows if flow.first_s - zero_s >= scenario.end_s]
    if late:
        raise ReaderError("flow-after-scenario", file=", ".join(late), end_s=scenario.end_s)
    by_index = dict(zip(order, flows, strict=True))
    course = _course(scenario, [by_index[index] for index in range(count)], zero_s)
    goodput = np.full(count, np.nan)
    for index in range(count):
        flow = by_index[index]
        begin = max(scenario.flows[index].start_s, scenario.warm_s)
        stop = scenario.flows[index].stop_s or scenario.end_s
        end = min(stop, float(flow.begin_s + flow.time_s[-1] - zero_s))
        if end > begin:
            goodput[index] = course.mean_goodput_bps(begin, end)[index]
    wire_ratio = scenario.bottleneck.mtu_bytes / segment_bytes(scenario)
    last_s = float(course.time_s[-1])
    total = float(course.mean_goodput_bps(scenario.warm_s, last_s).sum())
    return Result(
        scenario=scenario,
        by="measured",
        goodput_bps=goodput,
        queue_mean_bytes=np.nan,
        queue_median_bytes=np.nan,
        queue_p95_bytes=np.nan,
        drop_count=np.nan,
        finish_s=np.full(count, np.nan),
        utilization=total * wire_ratio / scenario.bottleneck.rate_bps,
        trajectory=course,
        about={"files": ", ".join(named)},
    )


def _course(scenario: Scenario, flows: list[MeasuredFlow], zero_s: float) -> Trajectory:
    """Return the course of all flows at the times of any of them, by the clock of the scenario."""
    own = [flow.begin_s + flow.time_s - zero_s for flow in flows]
    every = np.unique(np.round(np.concatenate(own) / STEP_S)) * STEP_S
    ends = every[(every > 0) & (every <= scenario.end_s + STEP_S / 2)]
    if not ends.size:
        raise ReaderError("flows-outside-scenario", file="", end_s=scenario.end_s)
    edges = np.concatenate(([0.0], ends))
    shape = ends.size, len(flows)
    goodput, windows, rtts = np.zeros(shape), np.full(shape, np.nan), np.full(shape, np.nan)
    segment = segment_bytes(scenario)
    for index, (flow, time_s) in enumerate(zip(flows, own, strict=True)):
        carried = np.interp(edges, time_s, flow.carried_bytes)
        goodput[:, index] = 8 * np.diff(carried) / np.diff(edges)
        runs = (ends > time_s[0]) & (ends <= time_s[-1] + STEP_S / 2)
        at = np.clip(np.searchsorted(time_s, ends - STEP_S / 2), 0, time_s.size - 1)
        windows[runs, index] = flow.window_bytes[at][runs] / segment
        rtts[runs, index] = flow.rtt_s[at][runs]
        goodput[~runs & (carried[1:] <= carried[0]), index] = np.nan
        goodput[ends > time_s[-1] + STEP_S / 2, index] = np.nan
    return Trajectory(
        time_s=ends,
        queue_bytes=np.full(ends.size, np.nan),
        window_packets=windows,
        goodput_bps=goodput,
        rtt_s=mean_rtt_s(rtts),
        flow_rtt_s=rtts,
    )


@named_arguments
def measured_flows(named: Mapping[str, Samples], *, has_clock: bool) -> list[MeasuredFlow]:
    """Return the flows of files.

    Parameters
    ----------
    named : mapping of str to Samples
        What was read, by the name of the file.
    has_clock : bool
        Whether the times are those of the clock of the files; otherwise each file begins at 0.

    Returns
    -------
    list of MeasuredFlow
        In the order of the files.

    Raises
    ------
    ReaderError
        If a file has no flow over time, or should have a clock and has none.
    """
    return [
        flow
        for name, samples in named.items()
        for flow in _flows(name, samples, has_clock=has_clock)
    ]


def _flows(name: str, samples: Samples, *, has_clock: bool) -> Iterator[MeasuredFlow]:
    """Yield the flows of a file; each has its begin by the clock of all files."""
    if isinstance(samples, FlowSeries):
        yield from _of_intervals(name, samples, has_clock=has_clock)
    elif isinstance(samples, Table) and {"time_s", "bytes_acked"} <= set(samples.columns()):
        yield from _of_counters(name, samples, has_clock=has_clock)
    else:
        raise ReaderError("no-flow-over-time", file=name)


def _begin_s(name: str, meta: Meta, *, has_clock: bool) -> float:
    """Return when a file begins, as seconds of the Unix epoch; 0 without a clock."""
    if not has_clock:
        return 0.0
    if math.isnan(meta.start_epoch_s):
        raise ReaderError("no-clock-to-merge", file=name)
    return meta.start_epoch_s


def _of_intervals(name: str, flows: FlowSeries, *, has_clock: bool) -> Iterator[MeasuredFlow]:
    begin_s = _begin_s(name, flows.meta, has_clock=has_clock)
    groups, sides = np.asarray(flows.group), np.asarray(flows.side)
    start_s, duration_s = np.asarray(flows.start_s), np.asarray(flows.duration_s)
    rates = np.asarray(flows.rate_bps)
    for group in dict.fromkeys(groups[flows.measured].tolist()):
        rows = flows.measured & (groups == group)
        if "receiver" in sides[rows]:  # what arrived counts
            rows &= sides == "receiver"
        ends = np.unique(np.round(start_s[rows] + duration_s[rows], 6))
        edges = np.concatenate(([float(start_s[rows].min())], ends))
        # Streams of one group are one flow; each interval is spread over its length.
        carried = np.zeros(edges.size)
        for row in np.flatnonzero(rows):
            span = np.array([start_s[row], start_s[row] + duration_s[row]])
            carried += np.interp(edges, span, np.array([0.0, rates[row] * duration_s[row] / 8]))

        def latest(values: FloatArray, rows: FloatArray = rows, edges: FloatArray = edges,
                   *, adds: bool) -> FloatArray:  # fmt: skip
            """Return the values of the intervals that end at each time, added or their mean."""
            found = np.full(edges.size, np.nan)
            at = np.searchsorted(edges, np.round(start_s[rows] + duration_s[rows], 6))
            for place in np.unique(at):
                own = values[rows][at == place]
                own = own[np.isfinite(own)]
                if own.size:
                    found[min(place, edges.size - 1)] = own.sum() if adds else own.mean()
            return found

        yield MeasuredFlow(
            name=", ".join(filter(None, (name, str(group)))), begin_s=begin_s, time_s=edges,
            carried_bytes=carried, window_bytes=latest(np.asarray(flows.cwnd_bytes), adds=True),
            rtt_s=latest(np.asarray(flows.rtt_s), adds=False),
        )  # fmt: skip


def _of_counters(name: str, table: Table, *, has_clock: bool) -> Iterator[MeasuredFlow]:
    columns = table.columns()
    nothing = np.full(len(table), np.nan)
    begin_s = 0.0 if np.nanmin(columns["time_s"]) > 1e8 else _begin_s(
        name, table.meta, has_clock=has_clock
    )  # fmt: skip
    windows = columns.get("cwnd_packets", nothing) * columns.get("mss_bytes", nothing)
    for group in dict.fromkeys(columns["group"].tolist()):
        rows = columns["group"] == group
        rows &= np.isfinite(columns["bytes_acked"]) & np.isfinite(columns["time_s"])
        if np.count_nonzero(rows) < 2:
            continue
        counted = columns["bytes_acked"][rows]
        yield MeasuredFlow(
            name=f"{name}, {group}", begin_s=begin_s, time_s=columns["time_s"][rows],
            carried_bytes=counted - counted[0], window_bytes=windows[rows],
            rtt_s=columns.get("rtt_s", nothing)[rows],
        )  # fmt: skip
