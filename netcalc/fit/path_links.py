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
from netcalc.messages import Notice
from netcalc.models.measuring.probing import hop_bandwidth_bps
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, DATAGRAM_HEADERS_V6_BYTES
from netcalc.path import Path
from netcalc.rate_layers import IN_HEADING, LINE
from netcalc.samples import HopSamples
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
        Line of minimum round-trip time against packet size, for each node.
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
        names = [one.name for one in fields(LinkEstimate) if one.name not in left_out]
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
    found: list[LinkEstimate] = []
    lines: list[Line] = []
    points: list[tuple[FloatArray, FloatArray]] = []
    before: _End | None = None
    for hop in samples.hops:
        if hop != len(found) + 1:
            break
        sizes, times = samples.minima(hop)
        line = robust_line(sizes, times)
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
        known = path if path is not None and hop <= len(path.links) else None
        found.append(_link(hop, node, sizes, here, before, known))
        lines.append(line)
        points.append((sizes, times))
        before = here
    return PathEstimate(tuple(found), tuple(lines), tuple(points), _sentence(found))


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
    known = sizes.size >= FEWEST_SIZES and growth > SIGNIFICANT_ERRORS * growth_stderr
    steepest = growth + SIGNIFICANT_ERRORS * growth_stderr
    # A difference that is negative even with its error has no finite limit; 1e-300 is "above 0"
    # without a division by zero.
    at_least = np.nan if known else 8.0 / max(steepest, 1e-300)
    at_least = at_least if np.isfinite(growth_stderr) else np.nan
    true_s = np.nan
    if path is not None:
        nodes = (path.source_processing_s, *(one.processing_s for one in path.hops))
        ends_s = nodes[hop - 1] * (2 if hop == 1 else 1) + nodes[hop]
        true_s = path.links[hop - 1].latency_s + ends_s / 2.0
    return LinkEstimate(
        hop=hop,
        node=node,
        bandwidth_bps=rate if known else np.nan,
        bandwidth_stderr_bps=rate * growth_stderr / growth if known else np.nan,
        at_least_bps=at_least,
        latency_s=(base_s - near_s) / 2.0,
        latency_stderr_s=float(np.hypot(base_stderr_s, near_stderr_s)) / 2.0,
        reason=None if known else _no_rate_reason(sizes.size, at_least),
        true_bandwidth_bps=np.nan if path is None else path.links[hop - 1].bandwidth_bps,
        true_latency_s=true_s,
        shared=-rate / growth * shared / 2.0 if known else np.nan,
        degrees=min(one.degrees for one in (here, before) if one is not None),
    )


def _no_rate_reason(size_count: int, at_least_bps: float) -> Notice:
    if size_count < FEWEST_SIZES:
        return Notice("too-few-sizes", {"needed": FEWEST_SIZES, "count": size_count})
    if np.isnan(at_least_bps):
        return Notice("link-without-error")
    return Notice("link-insignificant", {"bound_bps": at_least_bps})


def _sentence(found: list[LinkEstimate]) -> str:
    if not found:
        return "No probe to the first node was answered."
    parts = []
    for link in found:
        if link.reason is not None:
            parts.append(f"link {link.hop}: rate unknown, {link.reason}")
            continue
        parts.append(
            f"link {link.hop}: {show_rate(link.bandwidth_bps, IN_HEADING, digits=3)} "
            f"± {show_rate(link.bandwidth_stderr_bps, LINE, digits=2)}"
        )
    error = any(link.reason is None for link in found)
    return "; ".join(parts) + (" (± 1 standard error)." if error else ".")
