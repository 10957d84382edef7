"""Rate and latency of each link of a path, from probes of several sizes to every node.

>>> import numpy as np
>>> from netcalc.path import Path
>>> from netcalc.samples import HopSamples
>>> path = Path.parse("10 Mbit/s 1 ms, T1 5 ms")
>>> size = np.tile([548.0, 1000.0, 1500.0], 2)
>>> hop = np.repeat([1, 2], 3)
>>> rtt = [float(to_node_s(a, path=path, hop=int(b))) for a, b in zip(size, hop)]
>>> found = links(HopSamples(hop=hop, packet_bytes=size, rtt_s=rtt, answer_bytes=[576.0] * 6))
>>> [round(link.bandwidth_bps) for link in found.links]
[10000000, 1544000]
>>> [round(link.latency_s, 6) for link in found.links]
[0.001, 0.005]

A rate that the points do not determine is nan, and the link has the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import ArgumentTypeError
from netcalc.fit.lines import SIGNIFICANT_ERRORS, Line, robust_line
from netcalc.language import phrase, term
from netcalc.messages import Notice
from netcalc.models.delays.latency import PathMixes
from netcalc.models.measuring.probing import hop_bandwidth_bps, pair_bandwidth_bps
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, DATAGRAM_HEADERS_V6_BYTES
from netcalc.path import Path
from netcalc.rate_layers import IN_HEADING, IP, LINE
from netcalc.samples import HopSamples, TrainSamples
from netcalc.units import show, show_rate

QUOTED_BYTES, QUOTED_V6_BYTES = 548, 1232
"""Most of a packet that an error message of ICMP quotes (RFC 1812, 4.3.2.3), and one of ICMPv6,
which fits into 1280 bytes (RFC 4443, 3.3). [byte]"""
# Two sizes determine a line exactly and leave no residual to estimate its standard error from.
FEWEST_SIZES = 3
"""Sizes that the rate of a link needs."""
UNIT_OF_RATES = "bit/s"
LINK_HEADINGS = ("link", f"rate ({LINE})", f"set ({LINE})", "error", "latency", "set")
"""Headings of a table of links: estimates, and the values set on an emulated path."""


@dataclass(frozen=True, slots=True)
class LinkEstimate:
    """One link of a path, estimated from probes to its two ends.

    Parameters
    ----------
    hop : int
        Number of the link, from 1.
    node : str
        Address of the node at its far end, if it is known.
    bandwidth_bps, bandwidth_stderr_bps : float
        Rate and standard error; nan where the slope does not determine it. [bit/s]
    at_least_bps : float
        Likely lower limit of a rate that is not known; otherwise nan. [bit/s]
    latency_s, latency_stderr_s : float
        Latency of the link with half the processing of the nodes at its ends. [s]
    reason : Notice or None
        Reason why there is no rate; None if there is one.
    true_bandwidth_bps, true_latency_s : float
        Values set on an emulated path; nan otherwise.
    shared : float
        Covariance of rate and latency. [bit]
    degrees : int
        Degrees of freedom: those of the line with fewer of the two to its ends.
    """

    hop: int
    node: str
    bandwidth_bps: float
    bandwidth_stderr_bps: float
    at_least_bps: float
    latency_s: float
    latency_stderr_s: float
    reason: Notice | None
    true_bandwidth_bps: float
    true_latency_s: float
    shared: float = np.nan
    degrees: int = 0

    @property
    def params(self) -> dict[str, float]:
        """Rate and latency, as a fit has its parameters."""
        return {"bandwidth_bps": self.bandwidth_bps, "latency_s": self.latency_s}

    @property
    def covariance(self) -> FloatArray:
        """Covariance of ``params``, in their order; nan where one is unknown."""
        variances = self.bandwidth_stderr_bps**2, self.latency_stderr_s**2
        return np.array([[variances[0], self.shared], [self.shared, variances[1]]])

    @property
    def not_identifiable(self) -> dict[str, Notice]:
        """The rate with its reason, where it is not known."""
        return {} if self.reason is None else {"bandwidth_bps": self.reason}

    @property
    def why_not(self) -> str:
        """Reason why there is no rate, as text; empty if there is one."""
        return "" if self.reason is None else str(self.reason)

    @property
    def error_ratio(self) -> float:
        """Relative error of the rate; nan where the estimate or the true rate is unknown."""
        return self.bandwidth_bps / self.true_bandwidth_bps - 1.0

    def texts(self) -> tuple[str, ...]:
        """Return the cells of a table with :data:`LINK_HEADINGS`; unknown values are empty."""
        rate = _with_error(self.bandwidth_bps, self.bandwidth_stderr_bps, UNIT_OF_RATES)
        if self.reason is not None:
            bound = np.isfinite(self.at_least_bps)
            rate = f"> {_known(self.at_least_bps, UNIT_OF_RATES, digits=2)}" if bound else "unknown"
        return (
            str(self.hop),
            rate,
            _known(self.true_bandwidth_bps, UNIT_OF_RATES),
            "" if np.isnan(self.error_ratio) else f"{self.error_ratio:+.1%}",
            _with_error(self.latency_s, self.latency_stderr_s, "s"),
            _known(self.true_latency_s, "s"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PathEstimate:
    """The links of a path, and the lines they were computed from.

    Parameters
    ----------
    links : tuple of LinkEstimate
        The links in order, up to the last node with probes.
    lines : tuple of Line
        Line of minimum round-trip time against packet size, for each node that answered.
    points : tuple of pairs of numpy.ndarray
        Sizes and minimum round-trip times of each line.
    sentence : str
        Summary of the result.
    """

    links: tuple[LinkEstimate, ...]
    lines: tuple[Line, ...]
    points: tuple[tuple[FloatArray, FloatArray], ...]
    sentence: str

    def rows(self) -> list[dict[str, Any]]:
        """Return the links as rows, the reason as the text ``why_not``."""
        left_out = ("reason", "shared", "degrees")
        names = [field.name for field in fields(LinkEstimate) if field.name not in left_out]
        names += ["why_not", "error_ratio"]
        return [{name: getattr(link, name) for name in names} for link in self.links]


def _with_error(value: float, stderr: float, unit: str) -> str:
    error = _known(stderr, unit, digits=2)
    return _known(value, unit, digits=3) + (f" ± {error}" if error else "")


def _known(value: float, unit: str, digits: int = 4) -> str:
    return "" if np.isnan(value) else show(value, unit, digits=digits)


@named_arguments
def to_node_s(packet_bytes: ArrayLike, *, path: Path, hop: int, ip_version: int = 4) -> FloatArray:
    """Round-trip time of a probe to a node of a path; the answer quotes the probe. [s]"""
    most, headers = (QUOTED_BYTES, DATAGRAM_HEADERS_BYTES)
    if ip_version == 6:
        most, headers = (QUOTED_V6_BYTES, DATAGRAM_HEADERS_V6_BYTES)
    # The headers of ICMP are as long as those of UDP.
    quoted = np.minimum(np.asarray(packet_bytes, dtype=float), most)
    return path.until(hop).rtt_s(packet_bytes, reply_bytes=quoted + headers)


@named_arguments
def links(samples: HopSamples) -> PathEstimate:
    """Estimate the rate and the latency of each link from probes of several sizes to every node.

    The minimum round-trip times to a node increase linearly with the probe size. As all answers
    have one size, the slope is the sum of 8/R over the links to the node, in one direction. The
    rate R of a link follows from the difference of the slopes to its two ends; if this difference
    is less than two standard errors, only a lower limit is known. The latency is half of the
    difference of the intercepts, which are corrected for the size of the answers.

    Parameters
    ----------
    samples : HopSamples
        Probes to each node.

    Returns
    -------
    PathEstimate
        One row for each link, up to the first node without an answer.
    """
    if not isinstance(samples, HopSamples):
        raise ArgumentTypeError(
            "not-of-class", "samples", type(samples).__name__, expected="HopSamples"
        )
    truth = samples.meta.instrument.truth
    path = Path.from_truth(truth) if truth else None
    link_estimates: list[LinkEstimate] = []
    lines: list[Line] = []
    points: list[tuple[FloatArray, FloatArray]] = []
    before: _End | None = None
    for hop in samples.hops:
        sizes, times = samples.minima(hop)
        line = robust_line(sizes, times)
        lines.append(line)
        points.append((sizes, times))
        if hop != len(link_estimates) + 1:
            continue  # a hop before it is silent
        rows = samples.measured & (np.asarray(samples.hop) == hop)
        answers = np.asarray(samples.answer_bytes)[rows]
        largest = float(np.nanmax(answers)) if np.isfinite(answers).any() else 0.0
        here = _End(line, np.nan, np.nan, np.nan)
        if line.rank == 2:
            no_bits_s = line.intercept - line.slope * largest
            shared = line.covariance - largest * line.slope_stderr**2
            here = _End(line, no_bits_s, float(line.stderr_at(-largest)), shared)
        node = str(np.asarray(samples.node)[rows][-1])
        # A record that was edited may have fewer links than nodes answered.
        stated = path if path is not None and hop <= len(path.links) else None
        link_estimates.append(_link(hop, node, sizes, here, before, stated))
        before = here
    return PathEstimate(
        tuple(link_estimates), tuple(lines), tuple(points), _sentence(link_estimates)
    )


@dataclass(frozen=True, slots=True)
class _End:
    """The line to one end of a link: what it takes without bits, and its covariance with it."""

    line: Line
    base_s: float
    base_stderr_s: float
    shared: float  # covariance of the slope and base_s

    @property
    def degrees(self) -> int:
        return int((~self.line.outlier).sum()) - self.line.rank


def _link(
    hop: int,
    node: str,
    sizes: FloatArray,
    here: _End,
    before: _End | None,
    path: Path | None,
) -> LinkEstimate:
    """Estimate one link from the lines to its two ends."""
    line, base_s, base_stderr_s = here.line, here.base_s, here.base_stderr_s
    slope, stderr, near_s, near_stderr_s, shared = 0.0, 0.0, 0.0, 0.0, here.shared
    if before is not None:
        slope, stderr = before.line.slope, before.line.slope_stderr
        near_s, near_stderr_s = before.base_s, before.base_stderr_s
        shared += before.shared
    growth, growth_stderr = line.slope - slope, float(np.hypot(line.slope_stderr, stderr))
    rate = float(hop_bandwidth_bps(line.slope, previous_rtt_slope=slope))
    is_known = sizes.size >= FEWEST_SIZES and growth > SIGNIFICANT_ERRORS * growth_stderr
    steepest = growth + SIGNIFICANT_ERRORS * growth_stderr
    # A difference that is negative even with its error has no finite limit; 1e-300 is "above 0"
    # without a division by zero.
    at_least = np.nan if is_known else 8.0 / max(steepest, 1e-300)
    at_least = at_least if np.isfinite(growth_stderr) else np.nan
    true_s = np.nan
    if path is not None:
        nodes = (path.source_processing_s, *(hop.processing_s for hop in path.hops))
        ends_s = nodes[hop - 1] * (2 if hop == 1 else 1) + nodes[hop]
        true_s = path.links[hop - 1].latency_s + ends_s / 2.0
    return LinkEstimate(
        hop=hop,
        node=node,
        bandwidth_bps=rate if is_known else np.nan,
        bandwidth_stderr_bps=rate * growth_stderr / growth if is_known else np.nan,
        at_least_bps=at_least,
        latency_s=(base_s - near_s) / 2.0,
        latency_stderr_s=float(np.hypot(base_stderr_s, near_stderr_s)) / 2.0,
        reason=None if is_known else _no_rate_reason(sizes.size, at_least),
        true_bandwidth_bps=np.nan if path is None else path.links[hop - 1].bandwidth_bps,
        true_latency_s=true_s,
        shared=-rate / growth * shared / 2.0 if is_known else np.nan,
        degrees=min(side.degrees for side in (here, before) if side is not None),
    )


def _no_rate_reason(size_count: int, at_least_bps: float) -> Notice:
    if size_count < FEWEST_SIZES:
        return Notice("too-few-sizes", {"needed": FEWEST_SIZES, "count": size_count})
    if np.isnan(at_least_bps):
        return Notice("link-without-error")
    return Notice("link-insignificant", {"bound_bps": at_least_bps})


def _sentence(link_estimates: list[LinkEstimate]) -> str:
    if not link_estimates:
        return "No probe to the first node was answered."
    parts = []
    for link in link_estimates:
        if link.reason is not None:
            parts.append(f"link {link.hop}: rate unknown, {link.reason}")
            continue
        parts.append(
            f"link {link.hop}: {show_rate(link.bandwidth_bps, IN_HEADING, digits=3)} "
            f"± {show_rate(link.bandwidth_stderr_bps, LINE, digits=2)}"
        )
    error = any(link.reason is None for link in link_estimates)
    return "; ".join(parts) + (" (± 1 standard error)." if error else ".")


TRAIN_LAYER = IP
"""Layer of the rates of trains: their packets are counted with their IP headers."""


@dataclass(frozen=True, slots=True, eq=False)
class BottleneckEstimate:
    """Rate of the bottleneck link of a path, estimated from packets sent back to back.

    Parameters
    ----------
    bandwidth_bps : float
        Mode of the rates of single trains. [bit/s]
    low_bps, high_bps : float
        The shortest range with half of the trains in it. [bit/s]
    median_bps, mean_bps : float
        From the median and the mean of the dispersion. [bit/s]
    rates_bps : numpy.ndarray
        Rate of each train. [bit/s]
    true_bps : float
        Rate set on an emulated path; nan otherwise. [bit/s]
    sentence : str
        Summary of the result.
    """

    bandwidth_bps: float
    low_bps: float
    high_bps: float
    median_bps: float
    mean_bps: float
    rates_bps: FloatArray
    true_bps: float
    sentence: str


@named_arguments
def bottleneck(samples: TrainSamples) -> BottleneckEstimate:
    """Estimate the rate of the bottleneck link from packets sent back to back.

    After the bottleneck link two packets are separated by its serialization time. Cross traffic
    between them increases the separation; a queue after that link decreases it. The rates of many
    pairs therefore have several modes, and the estimate is the main mode, not the mean.

    Parameters
    ----------
    samples : TrainSamples
        Pairs, or longer trains.

    Returns
    -------
    BottleneckEstimate
        The rate, its spread, and the rates from median and mean.

    Examples
    --------
    >>> pairs = TrainSamples(
    ...     train=[1, 1, 2, 2, 3, 3], index=[1, 2, 1, 2, 1, 2], packet_bytes=[1500.0] * 6,
    ...     sent_s=[0.0, 0.0, 0.1, 0.1, 0.2, 0.2],
    ...     received_s=[0.01, 0.0112, 0.11, 0.1112, 0.21, 0.213])
    >>> round(bottleneck(pairs).bandwidth_bps)
    10000000
    """
    if not isinstance(samples, TrainSamples):
        raise ArgumentTypeError(
            "not-of-class", "samples", type(samples).__name__, expected="TrainSamples"
        )
    truth = samples.meta.instrument.truth
    rates = (truth or {}).get("bandwidths_bps")
    true_bps = min(rates) if rates else np.nan
    trains = samples.trains()
    gaps = trains["packet_count"] - 1.0
    apart = trains["dispersion_s"] > 0.0
    packet_s = trains["dispersion_s"][apart] / gaps[apart]
    sizes = trains["packet_bytes"][apart]
    if not packet_s.size:
        why = "No train arrived complete with its packets separated."
        return BottleneckEstimate(
            np.nan, np.nan, np.nan, np.nan, np.nan, np.zeros(0), float(true_bps), why
        )
    rates = pair_bandwidth_bps(packet_s, packet_bytes=sizes)
    bit_s = 1.0 / rates
    low, high = _shortest_half(np.sort(bit_s))
    mode = 1.0 / _half_sample_mode(np.sort(bit_s))
    mean = 1.0 / float(bit_s.mean())
    sentence = (
        f"{rates.size} train{'s' * (rates.size != 1)}: mode "
        f"{show_rate(mode, TRAIN_LAYER, digits=3)}, half of them from "
        f"{show_rate(1 / high, IN_HEADING, digits=3)} to "
        f"{show_rate(1 / low, TRAIN_LAYER, digits=3)}; "
        f"mean {show_rate(mean, TRAIN_LAYER, digits=3)}."
    )
    if np.isfinite(true_bps):
        sentence += (
            f" The bottleneck link is set to {show_rate(true_bps, TRAIN_LAYER)}: error "
            f"{mode / true_bps - 1:+.1%}."
        )
    return BottleneckEstimate(
        bandwidth_bps=mode,
        low_bps=1.0 / high,
        high_bps=1.0 / low,
        median_bps=1.0 / float(np.median(bit_s)),
        mean_bps=mean,
        rates_bps=rates,
        true_bps=true_bps,
        sentence=sentence,
    )


def _shortest_half(ordered: FloatArray) -> tuple[float, float]:
    """Return the ends of the shortest range that holds half of the values."""
    half = max(-(-ordered.size // 2), 1)
    widths = ordered[half - 1 :] - ordered[: ordered.size - half + 1]
    first = int(np.argmin(widths))
    return float(ordered[first]), float(ordered[first + half - 1])


def _half_sample_mode(ordered: FloatArray) -> float:
    """Return the half-sample mode: the shortest half of the shortest half, and so on.

    Robertson and Cryer, Biometrika 61 (1974). It has no bin width to choose.
    """
    while ordered.size > 3:
        low, high = _shortest_half(ordered)
        inner = ordered[(ordered >= low) & (ordered <= high)]
        if inner.size == ordered.size:
            break
        ordered = inner
    if ordered.size == 3:
        left, right = np.diff(ordered).tolist()
        if left != right:
            ordered = ordered[:2] if left < right else ordered[1:]
    return float(ordered.mean())


@dataclass(frozen=True, slots=True)
class Separation:
    """How well one further measurement distinguishes mixes of links.

    Parameters
    ----------
    measurement : str
        The measurement.
    group_count : int
        Number of groups that it distinguishes. [1]
    largest_count : int
        Number of mixes in the largest group, which are left in the worst case. [1]
    why : str
        The property of a path that it measures.
    """

    measurement: str
    group_count: int
    largest_count: int
    why: str

    def texts(self) -> tuple[str, ...]:
        """Return the cells of a table with :data:`SEPARATION_HEADINGS`."""
        return (self.measurement, str(self.group_count), str(self.largest_count), self.why)


SEPARATION_HEADINGS = (term("measurement"), term("groups"), term("largest"), term("measures"))
"""Headings of a table of separations."""


@named_arguments
def separations(
    mixes: PathMixes,
    *,
    bandwidth_bps: ArrayLike,
    packet_bytes: float,
    resolution_s: float,
    other_bytes: float = 1500.0,
) -> tuple[Separation, ...]:
    """Return how well further measurements distinguish the mixes that fit one round-trip time.

    Parameters
    ----------
    mixes : PathMixes
        The mixes found by :func:`netcalc.models.delays.latency.path_mixes`.
    bandwidth_bps : 1-D array_like
        Rate of each kind of link, in the order of the mixes. [bit/s]
    packet_bytes : float
        Size of the packet that was timed. [byte]
    resolution_s : float
        Smallest difference of round-trip times that can be measured. [s]
    other_bytes : float
        Size of a second packet. [byte]

    Returns
    -------
    tuple of Separation
        The measurements, each with its number of groups.

    Examples
    --------
    >>> from netcalc.models.delays.latency import path_mixes
    >>> kinds = [1.544e6, 10e6, 45e6]
    >>> mixes = path_mixes(0.187, bandwidth_bps=kinds, link_count=[12, 13], packet_bytes=1428,
    ...     base_rtt_s=0.092)
    >>> apart = separations(mixes, bandwidth_bps=kinds, packet_bytes=1428, resolution_s=2e-3)
    >>> [(separation.measurement, separation.group_count) for separation in apart[2:4]]
    [('packet pairs', 1), ('traceroute', 2)]
    """
    counts = np.asarray(mixes.link_count)
    rates = np.atleast_1d(np.asarray(bandwidth_bps, dtype=float))
    if not counts.size:
        return ()
    used = np.where(counts > 0, rates, np.inf)
    slowest, number = used.min(axis=1), counts.sum(axis=1)
    again = _steps(mixes.rtt_s, resolution_s)
    other = _steps(mixes.rtt_s * (other_bytes / packet_bytes), resolution_s)
    size, time = show(other_bytes, "byte"), show(resolution_s, "s")
    return (
        _separation(
            phrase("the same size again, to {time}", time=time),
            [again],
            phrase("the sum of 1/rate"),
        ),
        _separation(
            phrase("another size, {size}, to {time}", size=size, time=time),
            [other],
            phrase("the sum of 1/rate"),
        ),
        _separation(phrase("packet pairs"), [slowest], phrase("the bottleneck link")),
        _separation("traceroute", [number], phrase("the number of links")),
        _separation(
            phrase("packet pairs and traceroute"),
            [slowest, number],
            phrase("the bottleneck link and the number of links"),
        ),
        _separation(phrase("traceroute with sizes"), list(counts.T), phrase("each link")),
    )


def _steps(times_s: FloatArray, resolution_s: float) -> FloatArray:
    """Number groups of times; a gap larger than the resolution begins a new group."""
    order = np.argsort(times_s, kind="stable")
    steps = np.concatenate(([0], np.cumsum(np.diff(times_s[order]) > resolution_s)))
    numbers = np.empty(times_s.size)
    numbers[order] = steps
    return numbers


def _separation(measurement: str, seen: list[Any], why: str) -> Separation:
    _, sizes = np.unique(np.column_stack(seen), axis=0, return_counts=True)
    return Separation(measurement, int(sizes.size), int(sizes.max()), why)
