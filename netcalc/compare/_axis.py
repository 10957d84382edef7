"""Two files on one time axis, by an offset of their clocks that is stated and never guessed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._captured import Timed, captured_over_time
from netcalc.compare._files import rates_over_time
from netcalc.errors import DomainError, ReaderError
from netcalc.messages import Notice
from netcalc.samples import FlowSeries, Meta, PacketTrace, RttSamples, Samples, Table

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
        for time_s, value, groups, (quantity, unit) in _values(file, samples):
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
    low = max(float(one.min()) for one in times.values())
    high = min(float(one.max()) for one in times.values())
    common = [int(((one >= low) & (one <= high)).sum()) for one in times.values()]
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


def _values(file: str, samples: Samples) -> list[_Series]:
    """Return the times of the epoch, the values and the groups of a file, and what they are."""
    if isinstance(samples, RttSamples):
        rows = samples.measured
        sent_s = np.asarray(samples.sent_s, dtype=np.float64)[rows]
        rtt_s = np.asarray(samples.rtt_s, dtype=np.float64)[rows]
        groups = np.asarray(samples.group, dtype=object)[rows]
        return [(_epoch(file, sent_s, samples.meta.start), rtt_s, groups, ("round trip", "s"))]
    series: list[Timed] = []
    if isinstance(samples, PacketTrace):
        series = captured_over_time(samples)
    elif isinstance(samples, FlowSeries):
        series = rates_over_time(samples)
    found: list[_Series] = []
    for label, quantity, unit, _, time_s, value in series:
        if value.size:
            times = _epoch(file, time_s, samples.meta.start)
            found.append((times, value, np.full(value.size, label, object), (quantity, unit)))
    if not found:
        raise ReaderError("no-values-to-merge", file=file)
    return found


def _epoch(file: str, time_s: FloatArray, start: str) -> FloatArray:
    """Return times of the Unix epoch: as they are, or from the start that the file names."""
    if time_s.size and np.isfinite(time_s).all():
        if time_s.min() > _LEAST_EPOCH_S:
            return time_s
        try:
            begun = datetime.fromisoformat(start)
        except ValueError:
            begun = None
        if begun is not None and begun.tzinfo is not None:
            return time_s + begun.timestamp()
    raise ReaderError("no-clock-to-merge", file=file)
