"""Traceroutes of several sizes as one path: the rate of each link, and which links are not sure.

The least round trip to a node grows with the size of the probe by the sum of 8/R over the links to
it (Jacobson, pathchar, 1997). Few sizes leave few degrees of freedom, so that the scatter of all
nodes judges each of them, and no node is taken for surer than all are together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.causes.cause import LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.tables import student_t
from netcalc.explain.time_parts import SENDS_AT_ONCE, probe_step_s
from netcalc.fit import QUOTED_BYTES, QUOTED_V6_BYTES, links
from netcalc.fit.lines import ROUNDING_STD
from netcalc.fit.path_links import FEWEST_SIZES
from netcalc.messages import Notice
from netcalc.rate_layers import LINE
from netcalc.samples import HopSamples, Meta, PathSamples, Samples, Table
from netcalc.units import show_rate

ANSWERS_ECHO = ("mtr", "tracert (Windows)", "WinMTR")
"""Tools whose probes the target answers with all of their bytes, unless they are told otherwise."""
LEAST_DEGREES = 3
"""Degrees of freedom of all nodes from which a rate is more than a guess. [1]"""


@dataclass(frozen=True, slots=True, eq=False)
class PathRun:
    """Probes of one size along one path: a row for each probe, or for the least of a hop."""

    target: str
    tool: str
    packet_bytes: float
    hop: FloatArray
    rtt_s: FloatArray
    node: NDArray[np.str_]
    is_echo: bool
    step_s: float

    def nodes_of(self, hop: float) -> set[str]:
        """Return the nodes that answered at a hop."""
        return set(self.node[self.hop == hop].tolist()) - {""}


def path_runs(samples: Samples) -> list[PathRun]:
    """Return the runs of traceroute, mtr and the like in a file; none of another kind of file."""
    columns = samples.columns()
    if isinstance(samples, PathSamples):
        measured, name = samples.measured, "rtt_s"
    elif isinstance(samples, Table) and {"hop", "rtt_min_s"} <= columns.keys():
        measured, name = columns["rtt_min_s"] > 0, "rtt_min_s"
    else:
        return []
    hops, groups = columns["hop"], columns.get("group", np.full(len(samples), ""))
    tool, runs = samples.meta.tool, []
    for row in samples.facts():
        own = measured & (groups == row.get("group", "")) & np.isfinite(hops)
        protocol, times = str(row.get("protocol", "")), columns[name][own]
        of_hops = [times[hops[own] == hop] for hop in np.unique(hops[own])]
        run = PathRun(
            target=str(row.get("target", "")), tool=tool,
            packet_bytes=float(row.get("packet_bytes", math.nan)), hop=hops[own],
            rtt_s=times, node=columns["node"][own],
            is_echo="icmp" in protocol or (not protocol and tool.startswith(ANSWERS_ECHO)),
            step_s=probe_step_s(of_hops) if tool.startswith(SENDS_AT_ONCE) else 0.0,
        )  # fmt: skip
        runs += [run] if run.hop.size else []
    return runs


def joined_path(runs: Sequence[PathRun], source: str) -> HopSamples | Notice | None:
    """Return the probes of several runs as those of one path; a notice where they are of none.

    None where nothing differs: those are runs that somebody compares.
    """
    targets = dict.fromkeys(run.target for run in runs if run.target)
    sizes = np.unique([run.packet_bytes for run in runs])
    if len(targets) > 1:
        return None if sizes.size == 1 else Notice("paths-to-targets", {"targets": list(targets)})
    if sizes.size < FEWEST_SIZES:
        values = {"count": sizes.size, "needed": FEWEST_SIZES, "runs": len(runs)}
        return Notice("path-of-few-sizes", values)
    steps = [run.step_s for run in runs if run.step_s > 0]
    if len(steps) >= len(runs) / 2:  # of few, three times may rise by chance
        return Notice("path-probes-at-once", {"step_s": max(steps)})
    shared, notices = _shared_hops(runs)
    kept = [np.isin(run.hop, list(shared)) for run in runs]
    columns = (
        (run.hop[own], np.full(own.sum(), run.packet_bytes), run.rtt_s[own], run.node[own])
        for run, own in zip(runs, kept, strict=True)
    )
    hop, packet_bytes, rtt_s, node = map(np.concatenate, zip(*columns, strict=True))
    joined = HopSamples(
        hop=hop, packet_bytes=packet_bytes, rtt_s=rtt_s, node=node,
        meta=Meta(tool=runs[0].tool, target=next(iter(targets), ""), source=source,
                  warnings=tuple(notices)),
    )  # fmt: skip
    return joined if len(joined) else notices[0]


def _shared_hops(runs: Sequence[PathRun]) -> tuple[list[float], list[Notice]]:
    """Return the hops that are of one path in all runs, and why others are not."""
    shared: list[float] = []
    notices: list[Notice] = []
    for hop in np.unique(np.concatenate([run.hop for run in runs])).tolist():
        answering = [run for run in runs if run.nodes_of(hop)]
        nodes = [run.nodes_of(hop) for run in answering]
        if nodes and not set.intersection(*nodes):
            node = min(nodes[0])
            other = next(min(others) for others in nodes if node not in others)
            notices.append(Notice("paths-part", {"hop": int(hop), "node": node, "other": other}))
            break
        if len({run.packet_bytes for run in answering}) < FEWEST_SIZES:
            continue
        if any(run.is_echo for run in answering) and _is_end(hop, runs):
            notices.append(Notice("echo-of-target", {"hop": int(hop)}))
            break
        shared.append(hop)
    if not shared and not notices:
        notices.append(Notice("path-without-hops", {"needed": FEWEST_SIZES}))
    return shared, notices


def _is_end(hop: float, runs: Sequence[PathRun]) -> bool:
    """Whether a hop is the target, or the last one of a path whose target is not named."""
    targets = {run.target for run in runs} - {""}
    nodes = set().union(*(run.nodes_of(hop) for run in runs))
    return bool(nodes & targets) or hop == max(run.hop.max() for run in runs)


@dataclass(frozen=True, slots=True)
class _LinkRate:
    """What the slopes to both ends of a link say of its rate; of silent hops, of several links."""

    first: int
    hop: int
    node: str
    growth: float
    half: float

    @property
    def name(self) -> str:
        is_one = self.first == self.hop
        return f"link {self.hop}" if is_one else f"links {self.first} to {self.hop}"

    @property
    def is_sure(self) -> bool:
        return self.growth > self.half

    @property
    def is_negative(self) -> bool:
        return self.growth <= -self.half

    @property
    def values(self) -> dict[str, float]:
        """Its rate with a 95% interval, as far as it is sure. [bit/s]"""
        low, high = (8.0 / (self.growth + sign * self.half) for sign in (1, -1))
        return {"rate_bps": 8.0 / self.growth, "low_bps": low, "high_bps": high}

    def limit(self) -> Limit:
        """Return the rate as a limit of the path."""
        values = self.values
        wide = (values["high_bps"] - values["low_bps"]) / values["rate_bps"] / 2
        said = {"link": self.name, "node": self.node, "slope_s": 1e3 * self.growth, **values}
        return Limit("link", values["rate_bps"], "bit/s", wide, said)


def explain_links(samples: HopSamples) -> tuple[Finding, ...]:
    """Return the rate of each link of a path, as far as probes of several sizes show it.

    Parameters
    ----------
    samples : HopSamples
        Probes to each node, of a live run or of several traceroutes.

    Returns
    -------
    tuple of Finding
        One, whose limits are the links with a rate.
    """
    used, notices = _large_probes(samples)
    rates, degrees = _link_rates(used)
    if not rates:
        return ()
    sure = [rate for rate in rates if rate.is_sure]
    limits = sorted((rate.limit() for rate in sure), key=lambda limit: limit.value)
    above = [rate for rate in rates if not rate.is_sure and not rate.is_negative]
    is_live = np.isfinite(np.asarray(samples.answer_bytes)).any()
    said = [*(() if is_live else samples.meta.warnings), *notices]
    if above:
        items = [
            f"{rate.name} > {show_rate(8.0 / (rate.growth + rate.half), LINE, digits=2)}"
            for rate in above
        ]
        said.append(Notice("links-above", {"listed": ", ".join(items)}))
    if negative := [rate.name for rate in rates if rate.is_negative]:
        said.append(Notice("links-negative", {"listed": ", ".join(negative)}))
    if samples.meta.tool.startswith(SENDS_AT_ONCE):
        said.append(Notice("maybe-at-once"))
    cause = _cause(rates, sure, used, degrees)
    return (Finding(limits=tuple(limits), notices=tuple(said), cause=cause, layer=LINE),)


def _cause(
    rates: Sequence[_LinkRate], sure: Sequence[_LinkRate], samples: HopSamples, degrees: int
) -> Cause:
    origin = "least round trips by size"
    sizes = np.unique(np.asarray(samples.packet_bytes))
    signs: tuple[Sign, ...] = (
        Sign("link_count", float(len(rates)), origin),
        Sign("size_count", float(sizes.size), "the files"),
    )
    if not sure:
        return Cause(code=UNKNOWN_CAUSE, variant="links", signs=signs, layer=LINE)
    slowest = max(sure, key=lambda rate: rate.growth)
    values = slowest.values
    # Another link whose interval reaches below may be the slowest.
    lows = [8.0 / (rate.growth + rate.half) for rate in rates if rate is not slowest]
    is_alone = all(low > values["high_bps"] for low in lows)
    signs += (
        Sign("sure_count", float(len(sure)), origin),
        Sign("link_bps", values["rate_bps"], origin, values["low_bps"], values["high_bps"]),
        Sign("first_hop", float(slowest.first), origin),
        Sign("last_hop", float(slowest.hop), origin),
    )
    is_span = slowest.first != slowest.hop
    variant = "span" if is_span else "slowest" if is_alone else "link"
    sure_enough = degrees >= LEAST_DEGREES and is_alone and not is_span
    confidence = MEDIUM if sure_enough else LOW
    return Cause(code="line", variant=variant, signs=signs, layer=LINE, confidence=confidence)


def _large_probes(samples: HopSamples) -> tuple[HopSamples, list[Notice]]:
    """Return the probes whose answers are all of one size, and what is assumed of the others.

    A node that runs Linux returns up to 548 bytes of a probe, others 28: of small probes nobody
    knows which. What a live run measured itself has the size of each answer.
    """
    sizes = np.asarray(samples.packet_bytes)
    if np.isfinite(np.asarray(samples.answer_bytes)).any():
        return samples, []
    hops = np.asarray(samples.hop)
    is_ipv6 = any(":" in node for node in np.unique(np.asarray(samples.node)).tolist())
    quoted = QUOTED_V6_BYTES if is_ipv6 else QUOTED_BYTES
    large = sizes >= quoted
    values = {"quoted_bytes": float(quoted), "needed": FEWEST_SIZES}
    if large.all():
        return samples, []
    if np.unique(sizes[large]).size < FEWEST_SIZES:
        return samples, [Notice("answers-may-grow", values)]
    values["count"] = int(np.unique(sizes[~large]).size)
    for hop in np.unique(hops):  # a hop that answered few of the large ones has no line
        if np.unique(sizes[large & samples.measured & (hops == hop)]).size < FEWEST_SIZES:
            large &= hops != hop
    kept: Mapping[str, Any] = {name: column[large] for name, column in samples.columns().items()}
    return HopSamples(**kept, meta=samples.meta), [Notice("small-probes-left-out", values)]


def _link_rates(samples: HopSamples) -> tuple[list[_LinkRate], int]:
    """Return what is known of each link, and the degrees of freedom behind it."""
    rounding_s = _step_of_digits(np.asarray(samples.rtt_s)[samples.measured]) * ROUNDING_STD
    estimate = links(samples)
    spans, scatters, degrees = [], [], []
    for line, (sizes, _) in zip(estimate.lines, estimate.points, strict=True):
        kept = sizes[~line.outlier]
        spans.append(float(np.std(kept)) * math.sqrt(kept.size))
        scatters.append(line.slope_stderr * spans[-1])
        degrees.append(kept.size - line.rank)
    free = np.array(degrees, dtype=np.float64)
    all_free = int(free.sum())
    if not all_free > 0:
        return [], 0
    own_s = np.where(free > 0, np.nan_to_num(scatters), 0.0)
    pooled_s = math.sqrt(float(np.sum(free * own_s**2)) / all_free)
    errors = np.maximum(np.maximum(own_s, pooled_s), rounding_s) / np.array(spans)
    quantile = student_t(all_free)
    rates: list[_LinkRate] = []
    slope = error = 0.0
    hop_before = 0
    measured = samples.measured
    hops, nodes = (np.asarray(column)[measured] for column in (samples.hop, samples.node))
    for hop, line, own in zip(samples.hops, estimate.lines, errors.tolist(), strict=True):
        half = quantile * math.hypot(own, error)
        node = str(nodes[hops == hop][-1])
        rates.append(_LinkRate(hop_before + 1, hop, node, line.slope - slope, half))
        slope, error, hop_before = line.slope, own, hop
    return rates, all_free


def _step_of_digits(times_s: FloatArray) -> float:
    """Return the step in which times were printed, a power of ten; 0 where they have no step."""
    for digits in range(3, 8):
        scaled = times_s * 10.0**digits
        if np.allclose(scaled, np.round(scaled), rtol=0, atol=1e-4):
            return float(10.0**-digits)
    return 0.0
