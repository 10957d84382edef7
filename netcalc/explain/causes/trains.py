"""Rows of equal packets in a capture: the slowest link before it spaces what was sent back to back.

A capture does not show how packets were sent. Rows with pauses between them are those of a program
that probes a path; of a single row nobody knows, and what comes at the gaps of a timer, at a round
rate or in both directions is a stream of an application.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.causes.cause import LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.models.measuring.probing import pair_bandwidth_bps
from netcalc.rate_layers import IP
from netcalc.readers.captures.flows import mirrored
from netcalc.samples import Layer, PacketTrace

LEAST_PACKETS, MOST_PACKETS = 10, 2000
"""Fewer packets show no spacing; more are a stream. [1]"""
MOST_ROW_S = 2.0
"""A single row that lasts longer is a stream. [s]"""
LEAST_ROWS = 3
"""So many rows of the same number of packets are those of a program that probes. [1]"""
PAUSE_RATIO = 5.0
"""A gap that is longer by this factor ends a row. [ratio]"""
EQUAL_SHARE, EVEN_RATIO = 0.9, 0.2
"""So many packets or rows have the same size, and half of the gaps differ by no more. [ratio]"""
LEAST_GAP_S = 20e-6
"""Shorter gaps are those of a host that takes several packets at once. [s]"""
ROUND_RATIO, LATE_RATIO = 0.005, 0.06
"""Rates this near to a round number are those of a sender; so are gaps, for which a sender that
sleeps is late by up to the second. [ratio]"""
ROUND = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0, 10.0)
LEAST_TIMER_S = 10e-3
"""Programs that probe a path send back to back: rows with such gaps at a timer are of voice. [s]"""
SENT_TTLS = (64, 128, 255)
"""What hosts send: no router has counted it down. [1]"""


def train_cause(trace: PacketTrace) -> Cause | None:
    """Return what the spacing of the packets of a capture says of its path; None of other ones."""
    rows = _of_one_sender(trace)
    if not LEAST_PACKETS <= rows.size <= MOST_PACKETS:
        return None
    sizes = trace.ints("packet_bytes")[rows]
    size = float(np.bincount(sizes.astype(np.int64)).argmax())
    gaps_s = np.diff(np.asarray(trace.time_s)[rows])
    middle_s = float(np.median(gaps_s))
    if np.mean(sizes == size) < EQUAL_SHARE or not middle_s >= LEAST_GAP_S:
        return None
    is_pause = gaps_s > PAUSE_RATIO * middle_s
    inner_s = np.sort(gaps_s[~is_pause])
    low_s, middle_s, high_s = np.quantile(inner_s, (0.25, 0.5, 0.75)).tolist()
    if gaps_s.min() < 0 or high_s - low_s > EVEN_RATIO * middle_s:
        return None
    lengths = np.diff(np.flatnonzero(np.concatenate(([True], is_pause, [True]))))
    row_packets = _packets_of_rows(lengths, inner_s)
    if not row_packets:
        return None
    ends_s = _interval_of_median(inner_s)
    rates = [float(pair_bandwidth_bps(gap_s, packet_bytes=size)) for gap_s in (middle_s, *ends_s)]
    of_times = "times of the packets"
    is_passed = int(np.median(trace.ints("ttl")[rows])) not in SENT_TTLS
    has_rows = lengths.size >= LEAST_ROWS
    is_paced = _is_paced(trace, rows, middle_s)
    is_timer = middle_s >= LEAST_TIMER_S and _is_round(middle_s, LATE_RATIO)
    is_open = is_timer if has_rows else is_paced
    if is_open:
        variant = "paced-rows" if has_rows else "paced"
    else:
        variant = ("trains" if has_rows else "train") + ("" if is_passed else "-near")
    return Cause(
        code=UNKNOWN_CAUSE if is_open else "line", layer=IP, variant=variant,
        confidence=MEDIUM if has_rows and is_passed and not is_paced else LOW,
        signs=(
            Sign("train_count", float(lengths.size), of_times),
            Sign("packet_count", float(row_packets), of_times),
            Sign("packet_bytes", size, "the IP headers"),
            Sign("gap_s", middle_s, of_times, low_s, high_s),
            Sign("link_bps", rates[0], of_times, rates[2], rates[1]),
        ),
    )  # fmt: skip


def _packets_of_rows(lengths: NDArray[np.intp], inner_s: FloatArray) -> int:
    """Return how many packets each row has; 0 where the rows are those of a stream."""
    usual = int(np.median(lengths))
    if lengths.size >= LEAST_ROWS:
        is_probing = usual > 1 and np.mean(lengths == usual) >= EQUAL_SHARE
    else:
        is_probing = lengths.size == 1 and inner_s.sum() <= MOST_ROW_S
    return usual if is_probing else 0


def _of_one_sender(trace: PacketTrace) -> NDArray[np.int64]:
    """Return the UDP packets of the flow that has nearly all of them; none if it is answered."""
    none = np.zeros(0, dtype=np.int64)
    udp = np.flatnonzero(trace.has(Layer.UDP) & ~mirrored(trace))
    if udp.size < LEAST_PACKETS:
        return none
    names = ("source", "destination", "source_port", "destination_port")
    ends = np.stack([trace.ints(name)[udp].astype(np.int64) for name in names], axis=1)
    flows, index = np.unique(ends, axis=0, return_inverse=True)
    counts = np.bincount(index.ravel())
    source, destination, *_ = flows[counts.argmax()].tolist()
    if counts.max() < EQUAL_SHARE * udp.size:
        return none
    sources, destinations = trace.ints("source"), trace.ints("destination")
    back = (sources == destination) & (destinations == source)
    there = (sources == source) & (destinations == destination)
    if (back & trace.has(Layer.UDP) | (back | there) & trace.has(Layer.TCP)).any():
        return none  # an exchange, or a program that talks over TCP as well: iperf3
    return np.asarray(udp[index.ravel() == counts.argmax()], dtype=np.int64)


def _is_paced(trace: PacketTrace, rows: NDArray[np.int64], gap_s: float) -> bool:
    """Whether gaps are those of a timer, or the rate of the payload is one that somebody asked."""
    payload = float(np.median(trace.ints("payload_bytes")[rows]))
    rate_bps = 8 * payload / gap_s
    return _is_round(gap_s, LATE_RATIO) or any(map(_is_round, (rate_bps, rate_bps / 2**20)))


def _is_round(value: float, above: float = ROUND_RATIO) -> bool:
    """Whether a number is one of :data:`ROUND` in some power of ten, or a little above it.

    >>> [_is_round(value) for value in (0.02, 1.5e6, 7.4e-3, 1.514e6)]
    [True, True, False, False]
    """
    if not value > 0:
        return False
    leading = value / 10.0 ** np.floor(np.log10(value))
    off = leading / np.array(ROUND) - 1
    return bool(((off >= -ROUND_RATIO) & (off <= above)).any())


def _interval_of_median(ordered: FloatArray) -> tuple[float, float]:
    """Return the 95% interval of the median of values in order, for any distribution."""
    half = 0.98 * np.sqrt(ordered.size)
    low = max(int(np.floor(ordered.size / 2 - half)), 0)
    high = min(int(np.ceil(ordered.size / 2 + half)), ordered.size - 1)
    return float(ordered[low]), float(ordered[high])
