"""The links of a path from its ends: probes of several sizes to every node.

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

What the points do not determine is nan, and the link says why.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray
from netcalc.fit.lines import Line, robust_line
from netcalc.models.measuring.probing import hop_bandwidth_bps
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path
from netcalc.samples import HopSamples
from netcalc.units import show

QUOTED_BYTES = 548
"""So much of a packet stands in a node's answer at most (RFC 1812). [byte]"""
FEWEST_SIZES = 3
"""With fewer sizes a line has no residual to judge by."""
CERTAIN = 2.0
"""A link is known if its slope is more than so many standard errors above 0."""
LINK_HEADINGS = ("link", "rate", "set", "error", "latency", "set")
"""Headings of a table of links: what was found beside what was set."""


@dataclass(frozen=True, slots=True)
class LinkEstimate:
    """One link of a path, as probes to its two ends show it.

    Parameters
    ----------
    hop : int
        Place of the link, from 1.
    node : str
        Address of the node at its far end, if it is known.
    bandwidth_bps, bandwidth_stderr_bps : float
        Rate and standard error; nan where the slope does not tell. [bit/s]
    at_least_bps : float
        What the rate is likely above, where it is not known; else nan. [bit/s]
    latency_s, latency_stderr_s : float
        Latency of the link with half the processing of the nodes at its ends. [s]
    why_not : str
        Why there is no rate; empty if there is one.
    true_bandwidth_bps, true_latency_s : float
        What was set, where the path was emulated; nan otherwise.
    """

    hop: int
    node: str
    bandwidth_bps: float
    bandwidth_stderr_bps: float
    at_least_bps: float
    latency_s: float
    latency_stderr_s: float
    why_not: str
    true_bandwidth_bps: float
    true_latency_s: float

    @property
    def error_ratio(self) -> float:
        """How far the rate lies off the true one, as a share of it; nan where one is unknown."""
        return self.bandwidth_bps / self.true_bandwidth_bps - 1.0

    def texts(self) -> tuple[str, ...]:
        """Return the cells of a table with :data:`LINK_HEADINGS`; what is not known is empty."""
        rate = _with_error(self.bandwidth_bps, self.bandwidth_stderr_bps, "bit/s")
        if self.why_not:
            bound = np.isfinite(self.at_least_bps)
            rate = f"> {_known(self.at_least_bps, 'bit/s', digits=2)}" if bound else "unknown"
        return (
            str(self.hop),
            rate,
            _known(self.true_bandwidth_bps, "bit/s"),
            "" if np.isnan(self.error_ratio) else f"{self.error_ratio:+.1%}",
            _with_error(self.latency_s, self.latency_stderr_s, "s"),
            _known(self.true_latency_s, "s"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PathEstimate:
    """The links of a path, and the lines behind them.

    Parameters
    ----------
    links : tuple of LinkEstimate
        In order, as far as there are probes.
    lines : tuple of Line
        The line through the smallest round trips to each node, over the packet size.
    points : tuple of pairs of numpy.ndarray
        Sizes and smallest round trips behind each line.
    sentence : str
        What was found.
    """

    links: tuple[LinkEstimate, ...]
    lines: tuple[Line, ...]
    points: tuple[tuple[FloatArray, FloatArray], ...]
    sentence: str

    def rows(self) -> list[dict[str, Any]]:
        """Return the links as rows."""
        return [{**asdict(link), "error_ratio": link.error_ratio} for link in self.links]


def _with_error(value: float, stderr: float, unit: str) -> str:
    error = _known(stderr, unit, digits=2)
    return _known(value, unit, digits=3) + (f" ± {error}" if error else "")


def _known(value: float, unit: str, digits: int = 4) -> str:
    return "" if np.isnan(value) else show(value, unit, digits=digits)


def to_node_s(packet_bytes: ArrayLike, *, path: Path, hop: int) -> FloatArray:
    """Time of a probe to a node of a path and of its answer back, which quotes the probe. [s]"""
    quoted = np.minimum(np.asarray(packet_bytes, dtype=float), QUOTED_BYTES)
    return path.until(hop).rtt_s(packet_bytes, reply_bytes=quoted + DATAGRAM_HEADERS_BYTES)


def links(samples: HopSamples) -> PathEstimate:
    """Find the rate and the latency of each link from probes of several sizes to every node.

    The smallest round trips to a node lie on a line over the size; its slope is what the links on
    the way take for a byte, one way, as answers are all alike. The rate of a link is 8 over what it
    adds to the slope. Where it adds less than twice its standard error, it drowns: then there is
    only a bound. The latency is half of what is added at no bits at all, there and back.

    Parameters
    ----------
    samples : HopSamples
        Probes to each node.

    Returns
    -------
    PathEstimate
        One row a link, as far as each hop before it has an answer.
    """
    if not isinstance(samples, HopSamples):
        raise TypeError(f"samples must be HopSamples, found {type(samples).__name__}")
    truth = samples.meta.instrument.get("truth")
    path = Path.from_truth(truth) if truth else None
    found: list[LinkEstimate] = []
    lines: list[Line] = []
    points: list[tuple[FloatArray, FloatArray]] = []
    before: tuple[Line, float, float] | None = None
    for hop in samples.hops:
        if hop != len(found) + 1:
            break
        sizes, times = samples.minima(hop)
        line = robust_line(sizes, times)
        rows = samples.measured & (np.asarray(samples.hop) == hop)
        answers = np.asarray(samples.answer_bytes)[rows]
        largest = float(np.nanmax(answers)) if np.isfinite(answers).any() else 0.0
        no_bits_s = no_bits_stderr_s = np.nan
        if line.rank == 2:
            no_bits_s = line.intercept - line.slope * largest
            no_bits_stderr_s = float(line.stderr_at(-largest))
        node = str(np.asarray(samples.node)[rows][-1])
        found.append(_link(hop, node, sizes, (line, no_bits_s, no_bits_stderr_s), before, path))
        lines.append(line)
        points.append((sizes, times))
        before = (line, no_bits_s, no_bits_stderr_s)
    return PathEstimate(tuple(found), tuple(lines), tuple(points), _of_links(found))


def _link(
    hop: int,
    node: str,
    sizes: FloatArray,
    here: tuple[Line, float, float],
    before: tuple[Line, float, float] | None,
    path: Path | None,
) -> LinkEstimate:
    """Estimate one link from the lines to its two ends."""
    line, base_s, base_stderr_s = here
    slope, stderr, near_s, near_stderr_s = 0.0, 0.0, 0.0, 0.0
    if before is not None:
        slope, stderr = before[0].slope, before[0].slope_stderr
        near_s, near_stderr_s = before[1:]
    growth, growth_stderr = line.slope - slope, float(np.hypot(line.slope_stderr, stderr))
    rate = float(hop_bandwidth_bps(line.slope, previous_rtt_slope=slope))
    known = sizes.size >= FEWEST_SIZES and growth > CERTAIN * growth_stderr
    at_least = np.nan if known else 8.0 / max(growth + CERTAIN * growth_stderr, 1e-300)
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
        why_not="" if known else _why_not(sizes.size, at_least),
        true_bandwidth_bps=np.nan if path is None else path.links[hop - 1].bandwidth_bps,
        true_latency_s=true_s,
    )


def _why_not(size_count: int, at_least_bps: float) -> str:
    if size_count < FEWEST_SIZES:
        return f"{FEWEST_SIZES} sizes with answers of equal size are needed, there are {size_count}"
    bound = f"; it is likely above {show(at_least_bps, 'bit/s', digits=2)}"
    return f"it adds less to the slope than 2 standard errors{bound}"


def _of_links(found: list[LinkEstimate]) -> str:
    if not found:
        return "There is no probe with an answer to the first node."
    parts = []
    for link in found:
        if link.why_not:
            parts.append(f"link {link.hop}: no rate, {link.why_not}")
            continue
        parts.append(
            f"link {link.hop}: {show(link.bandwidth_bps, 'bit/s', digits=3)} "
            f"± {show(link.bandwidth_stderr_bps, 'bit/s', digits=2)}"
        )
    return "; ".join(parts) + "."
