"""Files of one host and one clock: flows that ran at the same time, and the line they share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.explain.causes.cause import HIGH, Cause, Sign
from netcalc.explain.evidence import from_facts
from netcalc.explain.known import Known
from netcalc.explain.rate_limits import LINE_TOLERANCE, line_ceiling_bps
from netcalc.messages import Notice
from netcalc.rate_layers import TCP_PAYLOAD, UDP_PAYLOAD
from netcalc.samples import FlowSeries, Samples

LEAST_COMMON_S = 2.0
"""Starts are whole seconds: flows that have less in common may have nothing. [s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What several files show together.

    Parameters
    ----------
    causes : mapping of str to Cause
        The cause that the files of a shared line have, by the name of the file.
    notices : tuple of Notice
        How long they ran together and at which rate, or why they are not added up.
    """

    causes: Mapping[str, Cause] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    host: str
    way: str
    start_s: FloatArray
    end_s: FloatArray
    rate_bps: FloatArray

    def rate_between(self, low_s: float, high_s: float) -> float:
        """Return the mean rate of the intervals in a time. [bit/s]"""
        inside = (self.start_s >= low_s - 0.5) & (self.end_s <= high_s + 0.5)
        return float(self.rate_bps[inside].mean()) if inside.any() else math.nan


@named_arguments
def together(named_files: Mapping[str, Samples], known: Known) -> Together:
    """Return what flows of one host that ran at the same time have together.

    Parameters
    ----------
    named_files : mapping of str to Samples
        What was read, by the name of the file.
    known : Known
        ``line_bps`` is the line that they may share.

    Returns
    -------
    Together
        Empty where fewer than two files have a start in UTC and one direction. Files of hosts with
        other names are not added up: each host has a clock of its own.
    """
    runs = {name: run for name, each in named_files.items() if (run := _run_of(each)) is not None}
    if len(runs) < 2 or len({run.way for run in runs.values()}) > 1:
        return Together()
    names = list(runs)
    hosts = {run.host for run in runs.values()}
    low_s = max(float(run.start_s.min()) for run in runs.values())
    high_s = min(float(run.end_s.max()) for run in runs.values())
    if len(hosts) > 1 or "" in hosts:
        values = {"one": names[0], "other": names[-1], "apart_s": abs(_apart_s(runs, names))}
        return Together(notices=(Notice("clocks-of-two-hosts", values),))
    if high_s - low_s < LEAST_COMMON_S:
        return Together()
    rates = {name: run.rate_between(low_s, high_s) for name, run in runs.items()}
    total = math.fsum(rates.values())
    evidence = from_facts(named_files[names[0]])[0]
    ceiling = line_ceiling_bps(evidence, known.toward(evidence.direction))
    layer = UDP_PAYLOAD if evidence.is_udp else TCP_PAYLOAD
    values = {
        "names": names, "common_s": high_s - low_s, "total_bps": total,
        "layer": layer, "line_bps": ceiling, "share": total / ceiling,
    }  # fmt: skip
    if math.isnan(ceiling):
        return Together(notices=(Notice("ran-together", values),))
    if not 1 - LINE_TOLERANCE <= total / ceiling <= 1 + LINE_TOLERANCE:
        return Together(notices=(Notice("ran-together-of-line", values),))
    causes = {
        name: Cause(
            code="shared-line", confidence=HIGH, layer=layer,
            signs=(
                Sign(name="rate_bps", value=rate, unit="bit/s", origin="intervals together"),
                Sign(name="line_bps", value=ceiling, unit="bit/s", origin="the line as stated"),
            ),
        )
        for name, rate in rates.items()
    }  # fmt: skip
    return Together(causes=causes, notices=(Notice("ran-together-full", values),))


def _apart_s(runs: Mapping[str, _Run], names: list[str]) -> float:
    return float(runs[names[-1]].start_s.min() - runs[names[0]].start_s.min())


def _run_of(samples: Samples) -> _Run | None:
    """Return the intervals of a run by the clock of its host; None without a start in UTC."""
    facts = samples.facts()
    if not isinstance(samples, FlowSeries) or len(facts) != 1:
        return None
    try:
        begun = datetime.fromisoformat(samples.meta.start)
    except ValueError:
        return None
    rows = samples.measured
    if begun.tzinfo is None or not rows.any():
        return None
    starts = np.round(np.asarray(samples.start_s)[rows], 1)
    ends = starts + np.asarray(samples.duration_s)[rows]
    rates = np.asarray(samples.rate_bps)[rows]
    times = np.unique(starts)
    epoch_s = begun.timestamp()
    return _Run(
        host=samples.meta.host,
        way=str(facts[0].get("direction", "")),
        start_s=epoch_s + times,
        end_s=epoch_s + np.array([ends[starts == time].max() for time in times]),
        rate_bps=np.array([rates[starts == time].sum() for time in times]),
    )
