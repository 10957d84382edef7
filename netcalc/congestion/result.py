"""What an evaluation of a scenario returns, the same for theory, simulation and live runs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp.sharing import jain_index
from netcalc.samples import json_ready
from netcalc.scenario import Flow, Scenario
from netcalc.version import __version__

PROBE_BYTES = 84
"""The packet of a ping with its usual 56 bytes of data (IPv4). [byte]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """What happened over time.

    Parameters
    ----------
    time_s : numpy.ndarray
        End of each interval, of shape (time,). [s]
    queue_bytes : numpy.ndarray
        Queue at the bottleneck, of shape (time,). [byte]
    window_packets : numpy.ndarray
        Congestion window of each flow, of shape (time, flow). [packet]
    goodput_bps : numpy.ndarray
        Payload that reached the receiver in the interval, of shape (time, flow). [bit/s]
    rtt_s : numpy.ndarray
        Round-trip time, of shape (time,): the mean of the flows that run. [s]
    drop_count : numpy.ndarray, optional
        Packets that the full buffer has dropped since the start, of shape (time,); in theory a mean
        that need not be whole. None if it is not known. [1]
    flow_rtt_s : numpy.ndarray, optional
        Round-trip time of each flow, of shape (time, flow), nan while it does not run; None if it
        is ``rtt_s`` for all. [s]
    """

    time_s: FloatArray
    queue_bytes: FloatArray
    window_packets: FloatArray
    goodput_bps: FloatArray
    rtt_s: FloatArray
    drop_count: FloatArray | None = None
    flow_rtt_s: FloatArray | None = None

    def goodput_every(self, step_s: float) -> tuple[FloatArray, FloatArray]:
        """Return the mean goodput of each flow in equal intervals: their ends, and the rates.

        Parameters
        ----------
        step_s : float
            Length of an interval; the last may be shorter. [s]

        Returns
        -------
        time_s : numpy.ndarray
            End of each interval, of shape (interval,). [s]
        rate_bps : numpy.ndarray
            Of shape (interval, flow). [bit/s]
        """
        if not self.time_s.size:
            return np.zeros(0), np.zeros((0, self.goodput_bps.shape[1]))
        last_s = float(self.time_s[-1])
        whole = int(np.floor(last_s / step_s + 1e-9))
        ends = np.unique(np.append(np.arange(whole + 1) * step_s, last_s))
        if ends.size > 1 and ends[-1] - ends[-2] < 1e-6 * step_s:
            ends = np.delete(ends, -2)
        return ends[1:], np.diff(self.carried_bits(ends), axis=0) / np.diff(ends)[:, None]

    def mean_goodput_bps(self, start_s: float, end_s: float) -> FloatArray:
        """Return the mean goodput of each flow between two times. [bit/s]"""
        [carried] = np.diff(self.carried_bits(np.array([start_s, end_s])), axis=0)
        return np.asarray(carried / (end_s - start_s), dtype=float)

    def carried_bits(self, at_s: FloatArray) -> FloatArray:
        """Return the payload that each flow has carried by some times, shape (time, flow). [bit]

        Parameters
        ----------
        at_s : 1-D numpy.ndarray
            Times. [s]
        """
        edges = np.concatenate(([0.0], self.time_s))
        rates = np.where(np.isfinite(self.goodput_bps), self.goodput_bps, 0.0)
        parts = np.cumsum(rates * np.diff(edges)[:, None], axis=0)
        sums = np.concatenate((np.zeros((1, parts.shape[1])), parts))
        columns = [np.interp(at_s, edges, carried) for carried in sums.T]
        return np.stack(columns, axis=1) if columns else np.zeros((at_s.size, 0))

    def jain(self) -> FloatArray:
        """Jain's fairness index of the goodputs in each interval, of shape (time,)."""
        return np.array([float(jain_index(rates)) for rates in self.goodput_bps])


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Means of a scenario, after its warm-up, and its course.

    Parameters
    ----------
    scenario : Scenario
        What was evaluated.
    by : str
        "theory", "live", "ns3" or "measured".
    goodput_bps : numpy.ndarray
        Payload rate of each flow from ``warm_s``, or its later start, to its stop, its finish or
        the end; nan if it did not run in that time; of shape (flow,). [bit/s]
    queue_mean_bytes, queue_median_bytes, queue_p95_bytes : float
        Queue at the bottleneck after ``warm_s``. [byte]
    drop_count : float
        Packets that the full buffer dropped; random losses are not among them. In theory a mean,
        which :meth:`as_dict` rounds.
    finish_s : numpy.ndarray
        Time at which each sized flow was complete; nan for others, of shape (flow,). [s]
    utilization : float
        Share of the link's rate that full packets take with the payloads of the flows and of the
        request loops, after ``warm_s``.
    trajectory : Trajectory or None
        The course, if it was asked for.
    requests : tuple of Latencies, or None
        Latencies of each request loop after ``warm_s``; None if they were not evaluated.
    resent_ratio : float
        Share of the data sent, by all flows and request loops in the whole run, that was sent
        again; in theory the share of the packets that were lost.
    cpu_s : tuple of float, or None
        Processor time of each sending host of a live run, and of the receiving one. [s]
    about : mapping
        What repeats the evaluation besides the scenario: stack, version of ns-3, system.
    """

    scenario: Scenario
    by: str
    goodput_bps: FloatArray
    queue_mean_bytes: float
    queue_median_bytes: float
    queue_p95_bytes: float
    drop_count: float
    finish_s: FloatArray
    utilization: float
    trajectory: Trajectory | None = None
    requests: tuple[Latencies, ...] | None = None
    resent_ratio: float = float("nan")
    cpu_s: tuple[float, ...] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def span_s(self, index: int) -> tuple[float, float]:
        """Return from when to when a flow ran: to its stop, its finish or the end. [s]"""
        flow, finish = self.scenario.flows[index], float(self.finish_s[index])
        end = self.scenario.end_s if flow.stop_s is None else min(flow.stop_s, self.scenario.end_s)
        return flow.start_s, end if np.isnan(finish) else min(end, finish)

    def counted_s(self, index: int) -> tuple[float, float]:
        """Return from when to when a flow counts: from ``warm_s`` or later, to its end. [s]"""
        start_s, end_s = self.span_s(index)
        return max(start_s, self.scenario.warm_s), end_s

    @property
    def jain(self) -> float:
        """Jain's fairness index of the mean goodputs; nan if one is not known."""
        if np.isnan(self.goodput_bps).any():
            return float("nan")
        return float(jain_index(self.goodput_bps))

    @property
    def request_p50_s(self) -> FloatArray | None:
        """Median latency of each request loop, of shape (loop,); nan with too few. [s]"""
        return self._percentiles_s(0.5)

    @property
    def request_p99_s(self) -> FloatArray | None:
        """99th percentile of the latency of each request loop, as ``request_p50_s``. [s]"""
        return self._percentiles_s(0.99)

    def probe_rtt_s(self, queue_bytes: float) -> float:
        """Return the round trip of a ping that finds a queue at the bottleneck. [s]

        It is computed from the queue and not measured: a packet of :data:`PROBE_BYTES` that waits
        for the queue before it, in the same way for theory, live runs and ns-3.

        Parameters
        ----------
        queue_bytes : float
            The queue. [byte]
        """
        link = self.scenario.bottleneck
        return link.rtt_s + 8 * (queue_bytes + PROBE_BYTES) / link.rate_bps

    def as_dict(self) -> dict[str, Any]:
        """Return the means as JSON can hold them: what is not known is null."""
        means: dict[str, Any] = {
            "by": self.by,
            "goodput_bps": self.goodput_bps.tolist(),
            "queue_mean_bytes": self.queue_mean_bytes,
            "queue_median_bytes": self.queue_median_bytes,
            "queue_p95_bytes": self.queue_p95_bytes,
            "drop_count": None if np.isnan(self.drop_count) else round(self.drop_count),
            "finish_s": self.finish_s.tolist(),
            "utilization": self.utilization,
            "jain": self.jain if self.goodput_bps.size else None,
            "probe_rtt_mean_s": self.probe_rtt_s(self.queue_mean_bytes),
            "probe_rtt_p95_s": self.probe_rtt_s(self.queue_p95_bytes),
            "resent_ratio": self.resent_ratio,
        }
        if self.requests is not None:
            loops = [loop.as_dict() for loop in self.requests]
            for name in loops[0] if loops else ():
                means[f"request_{name}"] = [loop[name] for loop in loops]
        if self.cpu_s is not None:
            means["cpu_s"] = list(self.cpu_s)
        means["about"] = dict(self.about)
        ready: dict[str, Any] = json_ready(means)
        return ready

    def _percentiles_s(self, share: float) -> FloatArray | None:
        if self.requests is None:
            return None
        return np.array([loop.percentile_s(share) for loop in self.requests])


def counted_span_s(flow: Flow, scenario: Scenario) -> tuple[float, float]:
    """Return from when to when the goodput of a flow counts; a sized flow's end may be later. [s]

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> scenario = preset("wan-10m")
    >>> counted_span_s(scenario.flows[0], scenario)
    (5.0, 60.0)
    """
    stop = scenario.end_s if flow.stop_s is None else min(flow.stop_s, scenario.end_s)
    return max(flow.start_s, scenario.warm_s), stop


def mean_rtt_s(flow_rtt_s: FloatArray) -> FloatArray:
    """Return the mean over the flows whose round-trip time is known, nan without one; (time,). [s]

    Examples
    --------
    >>> mean_rtt_s(np.array([[0.1, 0.3], [np.nan, 0.3], [np.nan, np.nan]])).tolist()
    [0.2, 0.3, nan]
    """
    known = np.isfinite(flow_rtt_s)
    sums, counts = np.where(known, flow_rtt_s, 0.0).sum(axis=1), known.sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def segment_bytes(scenario: Scenario) -> int:
    """Payload of a full packet. [byte]"""
    return scenario.bottleneck.mtu_bytes - STAMPED_HEADERS_BYTES


SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""Percentiles by their names in results."""

LEAST_COUNT = {0.5: 10, 0.9: 10, 0.99: 100, 0.999: 1000}
"""Requests without which a percentile is not given: of fewer, the largest would stand for it; and
at least ten."""


CONFIDENCE, NORMAL_QUANTILE = 0.95, 1.959964
"""Of the intervals of percentiles, and where both tails of a normal distribution begin. [ratio]"""


@dataclass(frozen=True, slots=True, eq=False)
class Latencies:
    """Latencies of the requests of one loop that count.

    Parameters
    ----------
    latency_s : numpy.ndarray
        From the first byte of each request to the last of its reply, shape (request,); of several
        runs one after the other. [s]
    run_counts : tuple of int
        Requests of each of several runs of theory; empty for one run, or for runs pooled. [1]

    Examples
    --------
    >>> loop = Latencies(np.arange(1, 21) / 1000.0)
    >>> loop.count, round(loop.percentile_s(0.5), 6), loop.percentile_s(0.99)
    (20, 0.0105, nan)
    """

    latency_s: FloatArray
    run_counts: tuple[int, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[FloatArray]) -> Latencies:
        """Return the latencies of one run, or of several of equal length."""
        counts = tuple(run.size for run in runs) if len(runs) > 1 else ()
        return cls(np.concatenate(runs), counts)

    @property
    def count(self) -> int:
        """Requests that count; of several runs in the mean of these."""
        return round(self.latency_s.size / max(len(self.run_counts), 1))

    @property
    def min_s(self) -> float:
        """Least latency, nan without requests. [s]"""
        return float(self.latency_s.min()) if self.latency_s.size else float("nan")

    @property
    def mean_s(self) -> float:
        """Mean latency, nan without requests. [s]"""
        return float(self.latency_s.mean()) if self.latency_s.size else float("nan")

    @property
    def max_s(self) -> float:
        """Greatest latency, nan without requests. [s]"""
        return float(self.latency_s.max()) if self.latency_s.size else float("nan")

    def percentile_s(self, share: float) -> float:
        """Return a percentile, nan if there are fewer requests than :data:`LEAST_COUNT`. [s]

        Parameters
        ----------
        share : float
            0.5, 0.9, 0.99 or 0.999.
        """
        if self.latency_s.size < LEAST_COUNT[share]:
            return float("nan")
        return float(np.quantile(self.latency_s, share))

    def interval_s(self, share: float) -> tuple[float, float]:
        """Return between which values a percentile lies, in 95 % of the cases. [s]

        Of several runs of theory it is where the percentile of one run lies. Of measured requests
        it is the interval of Woodruff: the percentiles whose shares are the bounds (Wilson)
        of a share that was counted. Requests that follow each other are alike, and count
        as fewer: by as much as the means of batches of them vary more than those of others would.

        Parameters
        ----------
        share : float
            0.5, 0.9, 0.99 or 0.999.

        Returns
        -------
        low, high : float
            nan without the percentile, or if runs of theory have too few for it; ``high`` also if
            the largest of so few requests need not be above it. [s]

        References
        ----------
        R. S. Woodruff, Confidence intervals for medians and other position measures, JASA 47
        (1952); E. B. Wilson, Probable inference, JASA 22 (1927); P. Heidelberger, P. A. W. Lewis,
        Quantile estimation in dependent sequences, Operations Research 32 (1984).
        """
        if np.isnan(self.percentile_s(share)):
            return float("nan"), float("nan")
        tail = (1.0 - CONFIDENCE) / 2.0
        if self.run_counts:
            ends = np.cumsum(self.run_counts)[:-1]
            runs = np.split(self.latency_s, ends)
            if self.count < LEAST_COUNT[share]:
                return float("nan"), float("nan")
            # Of a run in which no request ended, any time is exceeded.
            each = [np.quantile(run, share) if run.size else np.inf for run in runs]
            with np.errstate(invalid="ignore"):  # between two of them
                low, high = np.quantile(each, [tail, 1.0 - tail])
            return float(low), float(high) if np.isfinite(high) else float("nan")
        count = self._independent_count(share)
        weight = NORMAL_QUANTILE**2 / count
        middle = (share + weight / 2.0) / (1.0 + weight)
        half = np.sqrt(share * (1.0 - share) * weight + weight**2 / 4.0) / (1.0 + weight)
        low, high = np.quantile(self.latency_s, [middle - half, middle + half])
        return float(low), float(high) if share**count <= tail else float("nan")

    def _independent_count(self, share: float) -> float:
        """Return how many independent requests would know the share as well. [1]"""
        above = self.latency_s > np.quantile(self.latency_s, share)
        length = max(int(above.size**0.5), 1)
        batches = above[: above.size // length * length].reshape(-1, length).mean(axis=1)
        alone = share * (1.0 - share)
        return float(above.size / max(length * batches.var(ddof=1) / alone, 1.0))

    def as_dict(self) -> dict[str, Any]:
        """Return count, least, mean, greatest and percentiles by their names in results."""
        facts: dict[str, Any] = {"count": self.count, "min_s": self.min_s, "mean_s": self.mean_s}
        for name, share in SHARES.items():
            low_s, high_s = self.interval_s(share)
            facts |= {f"{name}_s": self.percentile_s(share)}
            facts |= {f"{name}_low_s": low_s, f"{name}_high_s": high_s}
        return {**facts, "max_s": self.max_s}


def facts() -> dict[str, Any]:
    """Return the time, the versions of netcalc and Python, the system and the command line."""
    return {
        "at": now(),
        "netcalc": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "command": sys.argv[1:] if sys.argv[:1] and "netcalc" in sys.argv[0] else None,
    }


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
