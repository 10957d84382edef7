"""Several files: the same quantity of each with its uncertainty, and all on one axis of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError, ReaderError
from netcalc.messages import Notice
from netcalc.models.measuring.sample_statistics import median
from netcalc.readers.captures.round_trips import echo_samples, udp_samples
from netcalc.readers.captures.tcp import TcpAnalysis, analyse_tcp, flow_label, flow_table, new_bytes
from netcalc.readers.places import RECEIVER, SENDER
from netcalc.samples import (
    FlowSeries,
    Meta,
    PacketTrace,
    RttSamples,
    Samples,
    Table,
    TransferSamples,
)
from netcalc.units import show

QUANTILE = 1.96
"""Standard errors of a 95 % interval. [1]"""
LEAST_VALUES = 6
"""From fewer values no 95 % interval of a median follows: 2 x 0.5 ** 5 is more than 5 %."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The median of one quantity in one run of one file, with its 95 % interval.

    ``low`` and ``high`` are nan where too few values were measured; ``side`` is the end that
    counted, empty where the file does not say it.
    """

    file: str
    label: str
    quantity: str
    unit: str
    value: float
    low: float
    high: float
    count: int
    side: str = ""

    def differs(self, other: Compared) -> bool | None:
        """Whether the intervals lie apart; None where one of them is not known."""
        ends = (self.low, self.high, other.low, other.high)
        if self.quantity != other.quantity or any(map(math.isnan, ends)):
            return None
        return self.low > other.high or self.high < other.low

    def __str__(self) -> str:
        name = f"{self.file}, {self.label}" if self.label else self.file
        side = f" at the {self.side}" if self.side else ""
        shown = f"{name}: {self.quantity}{side} {show(self.value, self.unit)}"
        if math.isnan(self.low):
            return f"{shown} (of {self.count})"
        low, high = show(self.low, self.unit), show(self.high, self.unit)
        return f"{shown}, 95% interval {low} to {high} (of {self.count})"


@named_arguments
def files(named: Mapping[str, Samples]) -> tuple[Compared, ...]:
    """Return the same quantities of each file: round trips, and rates of intervals and transfers.

    Parameters
    ----------
    named : mapping of str to Samples
        What was read, by the name of the file.

    Returns
    -------
    tuple of Compared
        A row for each group of each file with values, and of a capture for each of its largest
        flows; other kinds of samples have none.

    Notes
    -----
    Validity: the interval is that of order statistics, for any distribution of independent values;
    neighbouring intervals of a transfer depend on each other, so that theirs is too short. Nothing
    is merged on a time axis, as the clocks of two files may differ.

    Examples
    --------
    >>> pings = {"a": RttSamples(payload_bytes=[56.0] * 9, rtt_s=np.arange(1, 10) / 1e3)}
    >>> str(files(pings)[0])
    'a: round trip 5 ms, 95% interval 2 ms to 8 ms (of 9)'
    """
    compareds = []
    for file, samples in named.items():
        for label, quantity, unit, side, values in _values(samples) or _of_totals(samples):
            finite = np.sort(values[np.isfinite(values)])
            if finite.size:
                low, high = _interval(finite)
                middle = float(median(finite))
                compareds.append(
                    Compared(file, label, quantity, unit, middle, low, high, finite.size, side)
                )
    return tuple(compareds)


@named_arguments
def file_notices(rows: Iterable[Compared], names: Iterable[str] = ()) -> tuple[Notice, ...]:
    """Return which files differ, in which rows; and that no two have a quantity in common.

    A row is compared with that of its label in the first file of its quantity, or else with the
    first row there: of a capture, the flow that carried most. The others of such a file are not
    compared: nothing says which flow of one file is which of the other.

    Parameters
    ----------
    rows : iterable of Compared
        What :func:`files` returns.
    names : iterable of str, optional
        The files, those without a row too.
    """
    first: dict[str, list[Compared]] = {}
    seen: set[tuple[str, str]] = set()
    notices: list[Notice] = []
    rows, compared = tuple(rows), set()
    for row in rows:
        earlier = first.setdefault(row.quantity, [])
        if not earlier or earlier[0].file == row.file:
            earlier.append(row)
            continue
        compared.add(row.quantity)
        same = next((row_before for row_before in earlier if row_before.label == row.label), None)
        if same is None and (row.file, row.quantity) in seen:
            continue
        seen.add((row.file, row.quantity))
        notices += _judged(row, same or earlier[0])
    if len({*names, *(row.file for row in rows)}) > 1 and not compared:
        notices.append(Notice("no-common-quantity", {"items": _quantities(rows, names)}))
    return tuple(notices)


def _judged(row: Compared, base: Compared) -> list[Notice]:
    """Return whether a row differs from another, and that two ends of a path counted them."""
    ends = {"one": row.file, "other": base.file, "side": row.side, "other_side": base.side}
    are_two = bool(row.side and base.side and row.side != base.side)
    if are_two and row.unit == "s":  # of different parts of the path
        return [Notice("times-of-two-sides", {**ends, "quantity": row.quantity})]
    differs = row.differs(base)
    values = {
        "one": row.file,
        "other": base.file,
        "quantity": row.quantity,
        "factor": row.value / base.value if base.value else math.nan,
    }
    code = "files-not-judged" if differs is None else "files-alike"
    notices = [Notice("files-differ" if differs else code, values)]
    if are_two:
        notices.append(Notice("files-of-two-sides", ends))
    return notices


def _quantities(rows: Iterable[Compared], names: Iterable[str]) -> list[str]:
    """Return what each file has: its name, and its quantities."""
    owned: dict[str, dict[str, None]] = {name: {} for name in names}
    for row in rows:
        owned.setdefault(row.file, {})[row.quantity] = None
    return [f"{name} has {' and '.join(has) or 'none'}" for name, has in owned.items()]


def _values(samples: Samples) -> list[Values]:
    """Return the values of each group of a file: label, quantity, unit, side and numbers."""
    if isinstance(samples, PacketTrace):
        return captured(samples)
    if isinstance(samples, RttSamples):
        what = ("round trip", "s", "")
        return _by_group(samples.group, samples.measured, samples.rtt_s, what)
    if isinstance(samples, TransferSamples):
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = 8.0 * np.asarray(samples.payload_bytes) / np.asarray(samples.duration_s)
        what = ("rate", "bit/s", _side_of_facts(samples))
        return _by_group(samples.group, samples.measured, rates, what)
    if isinstance(samples, FlowSeries):
        return [(*series[:4], series[5]) for series in rates_over_time(samples)]
    return []


def _of_totals(samples: Samples) -> list[Values]:
    """Return the rate of each run of a report without intervals, at the receiver if it is known."""
    if not isinstance(samples, FlowSeries):
        return []
    values: list[Values] = []
    for row in samples.facts():
        for side, name in ((RECEIVER, "received_rate_bps"), (SENDER, "sent_rate_bps")):
            if name in row:
                rate = np.array([row[name]], dtype=np.float64)
                values.append((str(row.get("group", "")), "rate", "bit/s", side, rate))
                break
    return values


def _side_of_facts(samples: Samples) -> str:
    """Return the end whose rate a file has, if it has that of one end alone."""
    names = {name for row in samples.facts() for name in row}
    sides = [
        side
        for side, way in ((SENDER, "sent"), (RECEIVER, "received"))
        if f"{way}_rate_bps" in names
    ]
    return sides[0] if len(sides) == 1 else ""


def _by_group(
    group: object, chosen: object, values: object, what: tuple[str, str, str]
) -> list[Values]:
    groups, numbers = np.asarray(group), np.asarray(values, dtype=np.float64)
    rows = np.asarray(chosen)
    names = dict.fromkeys(groups[rows].tolist())
    return [(name, *what, numbers[rows & (groups == name)]) for name in names]


def rates_over_time(flows: FlowSeries) -> list[Timed]:
    """Return the sum of the streams in each interval: the receiver's count where there is one."""
    sides, groups = np.asarray(flows.side), np.asarray(flows.group)
    start, rate = np.asarray(flows.start_s), flows.rate_bps
    length = np.asarray(flows.duration_s, dtype=np.float64)
    timeds: list[Timed] = []
    for name in dict.fromkeys(groups.tolist()):
        rows = flows.measured & (groups == name)
        if (rows & (sides == RECEIVER)).any():
            rows &= sides == RECEIVER
        named = set(sides[rows].tolist())
        side = named.pop() if len(named) == 1 else ""
        times, interval = _intervals(start[rows], float(np.median(length[rows])))
        sums = np.bincount(interval, weights=rate[rows]).astype(np.float64)
        timeds.append((name, "rate", "bit/s", side, times, sums))
    return timeds


def _intervals(start_s: FloatArray, length_s: float) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return when each interval begins, and which of them each row is of.

    The streams of a run begin theirs a little apart: by less than half an interval.
    """
    order = np.argsort(start_s, kind="stable")
    begins: list[float] = []
    interval = np.zeros(start_s.size, dtype=np.intp)
    for row in order.tolist():
        if not begins or start_s[row] - begins[-1] > length_s / 2:
            begins.append(float(start_s[row]))
        interval[row] = len(begins) - 1
    return np.array(begins), interval


def _interval(ordered: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of the median, by the ranks that a binomial distribution gives."""
    count = ordered.size
    if count < LEAST_VALUES:
        return math.nan, math.nan
    low = max(math.floor((count + 1 - QUANTILE * math.sqrt(count)) / 2), 1)
    return float(ordered[low - 1]), float(ordered[count - low])


_LEAST_EPOCH_S = 1e8
"""Times of the Unix epoch are larger, from 1973 on; those from the start of a run are not. [s]"""


@named_arguments
def on_one_axis(named: Mapping[str, Samples], *, clock_offset_s: float | None = None) -> Table:
    """Return the round trips and the rates of two files in the order of their times.

    Rates are the sums of the streams of each interval, as the receiver counts them where it does.
    Of a capture these are the rates of its largest TCP flows in tenths, the times from their
    segments to the acknowledgements, and its exchanges.

    Parameters
    ----------
    named : mapping of str to Samples
        What was read, by the name of the file: two of them.
    clock_offset_s : float
        What the clock of the second file is ahead of that of the first. [s]

    Returns
    -------
    Table
        A row for each value: ``time_s`` by the clock of the first file, in seconds of the Unix
        epoch, ``file``, ``quantity``, ``group`` and ``value``, whose unit is in ``unit``.

    Raises
    ------
    DomainError
        If no offset is given, or it is not finite, or there are not two files.
    ReaderError
        If a file has no times that are those of a clock.

    Notes
    -----
    Validity: an offset that is wrong by more than the distance of two values puts them in another
    order; clocks that drift apart have no single offset.

    Examples
    --------
    >>> one, two = (RttSamples(payload_bytes=[56.0] * 2, rtt_s=rtt, sent_s=[1.7e9, 1.7e9 + 1])
    ...             for rtt in ([0.01, 0.02], [0.03, 0.04]))
    >>> on_one_axis({"a": one, "b": two}, clock_offset_s=0.5)["value"].tolist()
    [0.03, 0.01, 0.04, 0.02]
    """
    if clock_offset_s is None:
        raise DomainError("clock-offset-unknown", "clock_offset_s", None)
    if not math.isfinite(clock_offset_s):
        raise DomainError("not-finite", "clock_offset_s", clock_offset_s)
    if len(named) != 2:
        raise DomainError("not-two-files", "named", len(named))
    times, values, texts = [], [], []
    for ahead_s, (file, samples) in zip((0.0, clock_offset_s), named.items(), strict=True):
        for time_s, value, groups, (quantity, unit) in _values_axis(file, samples):
            times.append(time_s - ahead_s)
            values.append(value)
            texts += [(file, quantity, str(group), unit) for group in groups.tolist()]
    together = np.concatenate(times)
    order = np.argsort(together, kind="stable")
    ordered = [texts[index] for index in order.tolist()]
    names = ("file", "quantity", "group", "unit")
    return Table(
        data={
            "time_s": together[order],
            **{name: [row[at] for row in ordered] for at, name in enumerate(names)},
            "value": np.concatenate(values)[order],
        },
        meta=Meta(
            clock="seconds of the Unix epoch",
            units={"time_s": "s", "value": "1", **dict.fromkeys(names, "text")},
            printed={"clock_offset_s": clock_offset_s, "files": list(named)},
            partial=any(samples.meta.partial for samples in named.values()),
        ),
    )


@named_arguments
def axis_notice(merged: Table) -> Notice:
    """Say how long two files on one axis have in common, and how many values of each lie there."""
    files = merged.meta.printed["files"]  # the rows are in the order of time
    times = {file: merged["time_s"][merged["file"] == file] for file in files}
    low = max(float(time.min()) for time in times.values())
    high = min(float(time.max()) for time in times.values())
    common = [int(((time >= low) & (time <= high)).sum()) for time in times.values()]
    values = {
        "one": files[0],
        "other": files[-1],
        "offset_s": merged.meta.printed["clock_offset_s"],
        "common_s": max(high - low, 0.0),
        "count": common[0],
        "other_count": common[-1],
    }
    return Notice("on-one-axis", values)


_Series = tuple[
    FloatArray, FloatArray, np.ndarray[tuple[int], np.dtype[np.object_]], tuple[str, str]
]


def _values_axis(file: str, samples: Samples) -> list[_Series]:
    """Return the times of the epoch, the values and the groups of a file, and what they are."""
    if isinstance(samples, RttSamples):
        rows = samples.measured
        sent_s = np.asarray(samples.sent_s, dtype=np.float64)[rows]
        rtt_s = np.asarray(samples.rtt_s, dtype=np.float64)[rows]
        groups = np.asarray(samples.group, dtype=object)[rows]
        return [(_epoch(file, sent_s, samples.meta), rtt_s, groups, ("round trip", "s"))]
    series: list[Timed] = []
    if isinstance(samples, PacketTrace):
        series = captured_over_time(samples)
    elif isinstance(samples, FlowSeries):
        series = rates_over_time(samples)
    values: list[_Series] = []
    for label, quantity, unit, _, time_s, value in series:
        if value.size:
            times = _epoch(file, time_s, samples.meta)
            values.append((times, value, np.full(value.size, label, object), (quantity, unit)))
    if not values:
        raise ReaderError("no-values-to-merge", file=file)
    return values


def _epoch(file: str, time_s: FloatArray, meta: Meta) -> FloatArray:
    """Return times of the Unix epoch: as they are, or from the start that the file names."""
    if time_s.size and np.isfinite(time_s).all():
        if time_s.min() > _LEAST_EPOCH_S:
            return time_s
        if not math.isnan(meta.start_epoch_s):
            return time_s + meta.start_epoch_s
    raise ReaderError("no-clock-to-merge", file=file)


MOST_FLOWS = 5
"""Directions of flows of a capture that are compared: those that carried most. [1]"""
LEAST_RATIO = 0.01
"""A flow of less than this share of the largest, such as one that controls, is none. [ratio]"""
INTERVALS = 10
"""Equal intervals into which a direction of a TCP flow is divided. [1]"""
NEAR_RATIO = 0.1
"""A capture is that of an end if at most this share of the round trip lies before it. [ratio]"""

Values = tuple[str, str, str, str, FloatArray]
"""Label, quantity, unit, side and values."""
Timed = tuple[str, str, str, str, FloatArray, FloatArray]
"""Label, quantity, unit, side, times since the first packet, and values."""


def captured(trace: PacketTrace) -> list[Values]:
    """Return the values of :func:`captured_over_time`, and the mean rates of flows of UDP."""
    values: list[Values] = [(*flow[:4], flow[5]) for flow in captured_over_time(trace)]
    columns, largest = _largest(trace)
    for place, row in enumerate(largest):
        if columns["protocol"][row] == "udp":
            flow = {name: column[row] for name, column in columns.items()}
            mean = np.array([flow["goodput_bps"]], dtype=np.float64)
            values.insert(place, (flow_label(flow), "rate", "bit/s", "", mean))
    return values


def captured_over_time(trace: PacketTrace) -> list[Timed]:
    """Return the rates of the largest flows, their times to the acknowledgement, and exchanges.

    A rate is that of the data of the application in each tenth of a TCP flow, at its begin; flows
    of UDP, whose later fragments have no ports, have a mean alone. A time is that of the segment
    or of the request. The side is the end beside which the capture was made,
    as far as the handshake shows it.
    """
    (columns, largest), analysis = _largest(trace), analyse_tcp(trace)
    rows = [row for row in largest if columns["protocol"][row] == "tcp"]
    ones = [{name: column[row] for name, column in columns.items()} for row in rows]
    timeds: list[Timed] = []
    for row, flow in zip(rows, ones, strict=True):
        timeds.append((flow_label(flow), "rate", "bit/s", _side(flow), *_rates_bps(analysis, row)))
    for row, flow in zip(rows, ones, strict=True):
        timeds.append((flow_label(flow), "time to the acknowledgement", "s", _side(flow),
                      *_acknowledged_s(analysis, row)))  # fmt: skip
    for samples in (echo_samples(trace), udp_samples(trace, strict=True)):
        groups, sent, rtt = (np.asarray(flow) for flow in
                             (samples.group, samples.sent_s, samples.rtt_s))  # fmt: skip
        for name in samples.groups:
            mine = (groups == name) & samples.measured
            timeds.append((name, "round trip", "s", "", sent[mine], rtt[mine]))
    return timeds


def _largest(trace: PacketTrace) -> tuple[dict[str, Any], list[int]]:
    """Return the table of the flows, and the rows of the largest of them."""
    columns = flow_table(trace).columns()
    size = columns["payload_bytes"]
    order = np.argsort(-size, kind="stable")[:MOST_FLOWS]
    return columns, [int(row) for row in order if size[row] > LEAST_RATIO * size.max()]


def _rates_bps(analysis: TcpAnalysis, series: int) -> tuple[FloatArray, FloatArray]:
    """Return the begin of each interval of one direction of a flow, and its rate of new data."""
    s = analysis.segments
    mine = (s.series == series) & np.isfinite(s.time_s)
    time_s, size = s.time_s[mine], new_bytes(analysis)[mine]
    span_s = float(np.ptp(time_s)) if time_s.size else 0.0
    if span_s <= 0:
        return np.zeros(0), np.zeros(0)
    volume, edges = np.histogram(time_s, INTERVALS, weights=size)
    return edges[:-1], np.asarray(8.0 * volume * INTERVALS / span_s, dtype=np.float64)


def _acknowledged_s(analysis: TcpAnalysis, series: int) -> tuple[FloatArray, FloatArray]:
    """Return when segments with data of one direction were seen, and how long until the
    acknowledgement."""
    trips, s = analysis.round_trips, analysis.segments
    mine = (trips.series == series) & (s.payload[trips.segment] > 0)
    return s.time_s[trips.segment[mine]], np.asarray(trips.rtt_s[mine], dtype=np.float64)


def _side(flow: dict[str, Any]) -> str:
    """Return the end beside which the capture was made; nothing if it was between them."""
    to_server, to_client = float(flow["to_server_s"]), float(flow["to_client_s"])
    whole = to_server + to_client
    if math.isnan(whole) or whole <= 0:
        return ""
    ends = (SENDER, RECEIVER) if flow["direction"] == "to server" else (RECEIVER, SENDER)
    if to_client <= NEAR_RATIO * whole:
        return ends[0]
    return ends[1] if to_server <= NEAR_RATIO * whole else ""
