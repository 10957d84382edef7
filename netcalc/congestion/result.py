"""What an evaluation of a scenario returns, the same for theory, simulation and live runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.models.tcp.fairness import jain_index
from netcalc.scenario import Flow, Scenario

HEADERS_BYTES = 52
"""IPv4 and TCP headers with timestamps: a packet of 1500 bytes holds a segment of 1448. [byte]"""


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
        Round-trip time, of shape (time,). [s]
    """

    time_s: FloatArray
    queue_bytes: FloatArray
    window_packets: FloatArray
    goodput_bps: FloatArray
    rtt_s: FloatArray

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
        return ends[1:], np.diff(self._carried_bits(ends), axis=0) / np.diff(ends)[:, None]

    def mean_goodput_bps(self, start_s: float, end_s: float) -> FloatArray:
        """Return the mean goodput of each flow between two times. [bit/s]"""
        [carried] = np.diff(self._carried_bits(np.array([start_s, end_s])), axis=0)
        return np.asarray(carried / (end_s - start_s), dtype=float)

    def _carried_bits(self, at_s: FloatArray) -> FloatArray:
        """Return what each flow has carried by some times, of shape (time, flow). [bit]"""
        edges = np.concatenate(([0.0], self.time_s))
        known = np.where(np.isfinite(self.goodput_bps), self.goodput_bps, 0.0)
        parts = np.cumsum(known * np.diff(edges)[:, None], axis=0)
        sums = np.concatenate((np.zeros((1, parts.shape[1])), parts))
        columns = [np.interp(at_s, edges, one) for one in sums.T]
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
        "theory", "live" or "ns3".
    goodput_bps : numpy.ndarray
        Payload rate of each flow from ``warm_s``, or its later start, to its stop, its finish or
        the end; of shape (flow,). [bit/s]
    queue_mean_bytes, queue_median_bytes, queue_p95_bytes : float
        Queue at the bottleneck after ``warm_s``. [byte]
    drop_count : float
        Packets that the full buffer dropped; random losses are not among them.
    finish_s : numpy.ndarray
        Time at which each sized flow was complete; nan for others, of shape (flow,). [s]
    utilization : float
        Share of the link's rate that full packets with those payloads take, and with those of the
        request loops, after ``warm_s``.
    trajectory : Trajectory or None
        The course, if it was asked for.
    request_p50_s, request_p99_s : numpy.ndarray
        Median and 99th percentile of the latency of each request loop, of shape (loop,). [s]
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
    request_p50_s: FloatArray | None = None
    request_p99_s: FloatArray | None = None

    def span_s(self, index: int) -> tuple[float, float]:
        """Return from when to when a flow ran: to its stop, its finish or the end. [s]"""
        flow, finish = self.scenario.flows[index], float(self.finish_s[index])
        end = self.scenario.end_s if flow.stop_s is None else min(flow.stop_s, self.scenario.end_s)
        return flow.start_s, end if np.isnan(finish) else min(end, finish)

    @property
    def jain(self) -> float:
        """Jain's fairness index of the mean goodputs."""
        return float(jain_index(self.goodput_bps))

    def as_dict(self) -> dict[str, Any]:
        """Return the means as JSON can hold them: a time that is not known is null."""
        finish = [None if np.isnan(time) else float(time) for time in self.finish_s]
        found: dict[str, Any] = {
            "by": self.by,
            "goodput_bps": self.goodput_bps.tolist(),
            "queue_mean_bytes": self.queue_mean_bytes,
            "queue_median_bytes": self.queue_median_bytes,
            "queue_p95_bytes": self.queue_p95_bytes,
            "drop_count": self.drop_count,
            "finish_s": finish,
            "utilization": self.utilization,
            "jain": self.jain if self.goodput_bps.size else None,
        }
        if self.request_p50_s is not None and self.request_p99_s is not None:
            found["request_p50_s"] = _or_null(self.request_p50_s)
            found["request_p99_s"] = _or_null(self.request_p99_s)
        return found


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


def segment_bytes(scenario: Scenario) -> int:
    """Payload of a full packet. [byte]"""
    return scenario.bottleneck.mtu_bytes - HEADERS_BYTES


def _or_null(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
