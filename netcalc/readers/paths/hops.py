"""A row for each hop of a path, from single probes or from the report of a tool."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.samples import PathSamples, Samples, Table


@dataclass(frozen=True, slots=True)
class Hop:
    """What is known of one hop; nan and empty where it did not answer, or the tool says nothing.

    Parameters
    ----------
    group : str
        Run or target, where the file has several.
    hop : int
        Number of the hop, from 1.
    node : str
        Who answered; several addresses are joined by a blank.
    sent_count : float
        Probes. [1]
    loss_ratio : float
        Share of them without an answer. [ratio]
    rtt_min_s, rtt_median_s, rtt_mean_s, rtt_max_s : float
        Round trips to the hop; of single probes there is no mean, of a report no median. [s]
    increase_s : float
        What the hop adds to the least round trip that no later hop undercuts; of a report without
        least times, to the mean one. [s]
    answers_slowly : bool
        Whether a later hop was reached in less time: the hop takes its time to answer.
    """

    group: str
    hop: int
    node: str
    sent_count: float
    loss_ratio: float
    rtt_min_s: float
    rtt_median_s: float
    rtt_mean_s: float
    rtt_max_s: float
    increase_s: float = math.nan
    answers_slowly: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the row with None for what is not known."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def hop_rows(samples: Samples) -> tuple[Hop, ...]:
    """Return a row for each hop of each run of a path; none for another kind of samples.

    Parameters
    ----------
    samples : Samples
        What a reader made of traceroute, tracepath, tracert, mtr or pathping.

    Returns
    -------
    tuple of Hop
        In the order of the runs and their hops. An increase holds for a path on which each answer
        comes back the same way: it may be that of the way back, and a hop without answer hands its
        own on to the next.
    """
    if isinstance(samples, PathSamples):
        rows = _of_probes(samples)
    elif isinstance(samples, Table) and "hop" in samples.columns():
        rows = _of_report(samples)
    else:
        return ()
    rows_with_increases: list[Hop] = []
    for name in dict.fromkeys(row.group for row in rows):
        rows_with_increases += _with_increases([row for row in rows if row.group == name])
    return tuple(rows_with_increases)


def _of_probes(samples: PathSamples) -> list[Hop]:
    groups, hops = np.asarray(samples.group), np.asarray(samples.hop)
    nodes, times, lost = (
        np.asarray(column) for column in (samples.node, samples.rtt_s, samples.lost)
    )
    hops_read = []
    for name in dict.fromkeys(groups.tolist()):
        for number in np.unique(hops[groups == name]):
            mine = (groups == name) & (hops == number)
            rtt = times[mine & samples.measured].astype(float)
            hops_read.append(
                Hop(
                    name, int(number), " ".join(filter(None, dict.fromkeys(nodes[mine].tolist()))),
                    float(mine.sum()), float(lost[mine].mean()),
                    *_spread(rtt),
                )
            )  # fmt: skip
    return hops_read


def _spread(rtt_s: FloatArray) -> tuple[float, float, float, float]:
    """Return least, median, no mean, and largest."""
    if not rtt_s.size:
        return math.nan, math.nan, math.nan, math.nan
    return float(rtt_s.min()), float(np.median(rtt_s)), math.nan, float(rtt_s.max())


def _of_report(table: Table) -> list[Hop]:
    columns = table.columns()
    count = len(table)

    def numbers(name: str) -> list[float]:
        return [float(value) for value in columns.get(name, np.full(count, math.nan))]

    def texts(name: str) -> list[str]:
        return [str(value) for value in columns.get(name, np.full(count, ""))]

    nodes = [node_ or other for node_, other in zip(texts("node"), texts("node_name"), strict=True)]
    names = ("probe_count", "loss_ratio", "rtt_min_s", "rtt_median_s", "rtt_mean_s", "rtt_max_s")
    return [
        Hop(group, int(hop), node, *values)
        for group, hop, node, *values in zip(
            texts("group"), numbers("hop"), nodes, *map(numbers, names), strict=True
        )
    ]


def _with_increases(rows: list[Hop]) -> list[Hop]:
    """Return the hops of one run with what each adds."""
    rows = sorted(rows, key=lambda row: row.hop)
    least = np.array([row.rtt_min_s for row in rows])
    if np.isnan(least).all():
        least = np.array([row.rtt_mean_s for row in rows])
    filled = np.where(np.isnan(least), math.inf, least)
    reached = np.minimum.accumulate(filled[::-1])[::-1]
    increased, before = [], 0.0
    for row, own, path in zip(rows, least.tolist(), reached.tolist(), strict=True):
        increase = math.nan
        if not math.isnan(own):
            increase, before = path - before, path
        values = {name: getattr(row, name) for name in row.__slots__}
        increased.append(Hop(**{**values, "increase_s": increase, "answers_slowly": own > path}))
    return increased
