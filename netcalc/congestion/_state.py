"""The state of many scenarios at once, and what TCP stacks do differently with it.

Its arrays have the shape (scenario, flow), or (scenario, 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, choice
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS
from netcalc.scenario import ALGORITHMS, Scenario


@dataclass(frozen=True, slots=True)
class Stack:
    """How a stack leaves slow start, and how far a window falls at a full buffer.

    Parameters
    ----------
    name : str
        "linux" or "ns3".
    second_reduction : bool
        True if packets lost while a loss is repaired reduce the window again.
    delay_share : float
        Increase of the round-trip time over its minimum at which CUBIC leaves slow start.
    least_delay_s, most_delay_s : float
        Bounds of that increase. [s]
    train_share : float
        Length of a train of ACKs over the minimum round-trip time at which CUBIC leaves slow start.
    ack_packets : float
        Packets per ACK in slow start.
    late_packets : float
        Packets of an ACK before the one by which Vegas measures the round-trip time.
    bbr_bias_packets : float
        Packets by which BBR counts too much delivered in a round trip; of one scenario, or shape
        (scenario, 1). [packet]
    bbr_quantum_packets : float
        Least quantum that BBR sends at once. [packet]
    repair_packets : float
        Packets that the window of Reno has gained at the end of a repair. [packet]
    tail_packets : int
        Last packets of a request whose loss no later packet reports. [packet]
    report_rounds : float
        Round trips that another lost packet of a request costs.
    paced_rounds : float
        Round trips over which a request loop of BBR spreads a request of some packets.
    keeps_first_rate : bool
        True if such a loop keeps the rate of its first packets up to its first loss.
    """

    name: str
    second_reduction: bool
    delay_share: float
    least_delay_s: float
    most_delay_s: float
    train_share: float
    ack_packets: float
    late_packets: float
    bbr_bias_packets: float | FloatArray
    bbr_quantum_packets: float
    repair_packets: float
    tail_packets: int
    report_rounds: float
    paced_rounds: float
    keeps_first_rate: bool


STACKS = {
    "linux": Stack(
        "linux", False, 1 / 8, 0.004, 0.016, 0.5, 2.0, 0.0, 0.41, 2.0, 0.0, 1, 1.25, 4 / 3, True
    ),
    "ns3": Stack("ns3", True, 1.0, 0.004, 1.0, 1.0, 2.0, 1.0, 1.8, 1.0, 1.0, 3, 1.0, 1.0, False),
}
"""Linux: net/ipv4/tcp_cubic.c of version 6; ns-3: tcp-cubic.cc and tcp-prr-recovery.cc of 3.44.

Linux probes a lost tail of two packets in two round trips and one of a single packet with the timer
(RFC 8985, section 7.2), and waits a quarter of a round trip for reordered ones; ns-3 needs three
duplicate ACKs. Both take an ACK for two packets in slow start: at 10 Mbit/s, where these come
2.4 ms apart, HyStart sees no train of ACKs, live as in ns-3. The rounds of paced loops are measured
at 10 Mbit/s and 40 ms: live 2.4 round trips at half a product and at one, in ns-3 1.95 to 2.0 at
one, two and four.
"""


def stack_of(name: str) -> Stack:
    """Return a stack by its name."""
    return STACKS[choice("stack", name, tuple(STACKS))]


BoolArray: TypeAlias = NDArray[np.bool_]

GOLDEN = 0.6180339887498949
"""Fraction of the golden ratio: its multiples fill the unit interval evenly."""


@dataclass(slots=True)
class State:
    """Constants and variables of the model; windows and queues in packets, times in seconds."""

    stack: Stack
    rate: FloatArray
    pipe: FloatArray
    capacity: FloatArray
    base_s: FloatArray
    marking: FloatArray
    loss: FloatArray
    end: FloatArray
    events: FloatArray
    cubic: BoolArray | None
    vegas: BoolArray | None
    dctcp: BoolArray | None
    is_bbr: BoolArray | None
    is_paced: bool
    is_lossy: bool
    is_sized: bool
    none: BoolArray
    start: FloatArray
    stop: FloatArray
    size: FloatArray
    time: FloatArray
    window: FloatArray
    threshold: FloatArray
    grow_from: FloatArray
    delivered: FloatArray
    finish: FloatArray
    next_loss: FloatArray
    losses: FloatArray
    credit: FloatArray
    due: FloatArray
    repairing: BoolArray
    dice: FloatArray
    drops: FloatArray
    repeated: FloatArray
    plateau: FloatArray
    origin: FloatArray
    inflection: FloatArray
    epoch: FloatArray
    friendly: FloatArray
    marked: FloatArray
    overshoot: FloatArray
    hystart_window: FloatArray
    bbr: dict[str, FloatArray] = field(default_factory=dict)


def begin(scenarios: Sequence[Scenario], stack: Stack) -> State:
    """Return the state before the first flow starts; absent flows start never."""
    count = max(1, max(len(scenario.flows) for scenario in scenarios))
    shape = (len(scenarios), count)
    links = [scenario.bottleneck for scenario in scenarios]
    mtu_bits = _column([8.0 * link.mtu_bytes for link in links])
    rate = _column([link.rate_bps for link in links]) / mtu_bits
    rtt = _column([link.rtt_s for link in links])
    pipe = rate * rtt + 1.0
    algorithm, start, stop, size = _loads(scenarios, shape)
    end = _column([scenario.end_s for scenario in scenarios])
    warm = _column([scenario.warm_s for scenario in scenarios])
    events = np.asfortranarray(np.sort(np.hstack([start, stop, warm, end]), axis=1))
    loss = _column([link.loss_ratio for link in links])
    phase = np.asfortranarray(
        np.arange(count) * GOLDEN + _column([float(scenario.seed % 1000) for scenario in scenarios])
    )
    return State(
        stack=stack,
        rate=rate,
        pipe=pipe,
        capacity=pipe + _column([float(link.buffer_packets) for link in links]),
        base_s=pipe / rate,
        marking=_column([float(link.marking_packets) for link in links]),
        loss=loss,
        end=end,
        events=np.minimum(events, end),
        cubic=_which(algorithm, "cubic"),
        vegas=_which(algorithm, "vegas"),
        dctcp=_which(algorithm, "dctcp"),
        is_bbr=_which(algorithm, "bbr"),
        is_paced=not np.any((algorithm >= 0) & (algorithm != ALGORITHMS.index("bbr"))),
        is_lossy=bool(loss.any()),
        is_sized=bool(np.isfinite(size).any()),
        none=np.zeros(shape, dtype=bool, order="F"),
        start=start,
        stop=stop,
        size=size,
        time=np.zeros((shape[0], 1)),
        window=np.full(shape, float(INITIAL_WINDOW_SEGMENTS), order="F"),
        threshold=np.full(shape, np.inf, order="F"),
        grow_from=np.zeros(shape, order="F"),
        delivered=np.zeros(shape, order="F"),
        finish=np.full(shape, np.nan, order="F"),
        next_loss=spacing(loss, phase),
        losses=phase,
        credit=np.zeros(shape, order="F"),
        due=np.full(shape, np.inf, order="F"),
        repairing=np.zeros(shape, dtype=bool, order="F"),
        dice=phase * 1.0,
        drops=np.zeros((shape[0], 1)),
        repeated=np.zeros((shape[0], 1)),
        plateau=np.zeros(shape, order="F"),
        origin=np.zeros(shape, order="F"),
        inflection=np.zeros(shape, order="F"),
        epoch=np.full(shape, np.nan, order="F"),
        friendly=np.zeros(shape, order="F"),
        marked=np.ones(shape, order="F"),
        overshoot=np.ones(shape, order="F"),
        hystart_window=np.full(shape, np.inf, order="F"),
    )


def _loads(
    scenarios: Sequence[Scenario], shape: tuple[int, int]
) -> tuple[NDArray[np.int8], FloatArray, FloatArray, FloatArray]:
    """Return algorithm, time of the first data, stop, and size in packets of each flow."""
    algorithm = np.full(shape, -1, dtype=np.int8, order="F")
    start, stop, size = (np.full(shape, np.inf, order="F") for _ in range(3))
    for row, scenario in enumerate(scenarios):
        payload = scenario.bottleneck.mtu_bytes - STAMPED_HEADERS_BYTES
        for column, flow in enumerate(scenario.flows):
            algorithm[row, column] = ALGORITHMS.index(flow.algorithm)
            start[row, column] = flow.start_s + scenario.bottleneck.rtt_s
            stop[row, column] = scenario.end_s if flow.stop_s is None else flow.stop_s
            if flow.size_bytes is not None:
                size[row, column] = flow.size_bytes / payload
    return algorithm, start, stop, size


def spacing(loss: FloatArray, phase: FloatArray) -> FloatArray:
    """Packets up to the next random loss: exponential quantiles that fill their range evenly."""
    quantile = np.maximum(phase % 1.0, 1e-3)
    with np.errstate(divide="ignore"):
        packets: FloatArray = np.where(loss > 0, -np.log(quantile) / loss, np.inf)
    return packets


def _column(values: list[float]) -> FloatArray:
    return np.asarray(values, dtype=float)[:, np.newaxis]


def _which(algorithm: NDArray[np.int8], name: str) -> BoolArray | None:
    """Return which flows have an algorithm, None if none has."""
    flows = np.asarray(algorithm == ALGORITHMS.index(name))
    return flows if flows.any() else None
