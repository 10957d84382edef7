"""The state of many scenarios at once, and what TCP stacks do differently with it.

Its arrays have the shape (scenario, flow), or (scenario, 1). BBR version 1 is a model of the path
from its largest delivery rate and its least round trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, choice
from netcalc.models.bounds import MAX_WINDOW_BYTES
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.models.tcp import bbr
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
        (scenario, flow). [packet]
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
    least_dctcp : bool
        True if DCTCP falls to the least window at a mark.
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
    least_dctcp: bool


STACKS = {
    "linux": Stack(
        "linux", False, 1 / 8, 0.004, 0.016, 0.5, 2.0, 0.0, 0.41, 2.0, 0.0, 1, 1.25, 4 / 3, True,
        False,
    ),
    "ns3": Stack(
        "ns3", True, 1.0, 0.004, 1.0, 1.0, 2.0, 1.0, 1.8, 1.0, 1.0, 3, 1.0, 1.0, False, True
    ),
}  # fmt: skip
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
    largest: FloatArray
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
    is_limited: bool
    is_spread: bool
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
    is_spread = not all(scenario.has_one_rtt for scenario in scenarios)
    base_s = _column([scenario.longest_rtt_s for scenario in scenarios]) + 1.0 / rate
    pipe = rate * base_s  # of unlike round trips the most, until flows run
    if is_spread:
        base_s = np.asfortranarray(np.repeat(base_s, count, axis=1))
        for row, scenario in enumerate(scenarios):
            base_s[row, : len(scenario.flows)] = scenario.rtts_s() + 1.0 / rate[row]
    algorithm, start, stop, size = _loads(scenarios, shape)
    end = _column([scenario.end_s for scenario in scenarios])
    warm = _column([scenario.warm_s for scenario in scenarios])
    events = np.asfortranarray(np.sort(np.hstack([start, stop, warm, end]), axis=1))
    capacity = pipe + _column([float(link.buffer_packets) for link in links])
    payload = _column([float(link.mtu_bytes - STAMPED_HEADERS_BYTES) for link in links])
    largest = MAX_WINDOW_BYTES / payload
    loss = _column([link.loss_ratio for link in links])
    phase = np.asfortranarray(
        np.arange(count) * GOLDEN + _column([float(scenario.seed % 1000) for scenario in scenarios])
    )
    return State(
        stack=stack,
        rate=rate,
        pipe=pipe,
        largest=largest,
        capacity=capacity,
        base_s=base_s,
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
        is_limited=bool((capacity > largest).any()),
        is_spread=is_spread,
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
        rtts_s = scenario.rtts_s()
        for column, flow in enumerate(scenario.flows):
            algorithm[row, column] = ALGORITHMS.index(flow.algorithm)
            start[row, column] = flow.start_s + rtts_s[column]
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


STARTUP, DRAIN, RAISE, LOWER, CRUISE, PROBE_RTT = range(6)
"""The modes; the third to the fifth are the phases of the cycle in which the rate is probed."""

CRUISE_PHASES = len(bbr.PROBE_CYCLE) - 2
"""Phases of the cycle with a gain of one: nothing changes between them."""

_GAIN = np.array([bbr.STARTUP_GAIN, 1 / bbr.STARTUP_GAIN, *bbr.PROBE_CYCLE[:3], 1.0])
_WINDOW_GAIN = np.array([bbr.STARTUP_GAIN, bbr.STARTUP_GAIN, *[bbr.WINDOW_GAIN] * 4])
_PHASES = np.array([np.inf, np.inf, 1.0, 1.0, CRUISE_PHASES, np.inf])
"""Of each mode: gain of the rate, gain of the window, and how many round trips it lasts."""

STEP_SHARE = 0.5
"""Longest step: part of the phase, or of a round trip without load in other modes."""

LEAST_WINDOW = 4.0
"""Window while the round-trip time is probed. [packet]"""

QUANTA = 3.0
"""Quanta above the estimated product that the window may hold, for late ACKs."""

QUANTUM_S = 2.0**-10
"""What is paced in this time leaves Linux as one quantum (sk_pacing_shift). [s]"""

PACING = 0.99
"""Share of the estimated rate at which packets are paced, so that a standing queue drains."""

FULL_GROWTH, FULL_ROUNDS = 1.25, 3.0
"""Start-up ends after so many round trips without so much growth of the rate."""

REPAIR_SHARE = 0.7
"""Share of its window that a flow keeps in flight while it repairs a loss."""

REPAIR_ROUNDS = 4.0
"""Round trips in which further losses belong to the same repair."""

ACK_PACKETS = 2.0
"""Packets per ACK: with the first one after a least round-trip time a phase ends. [packet]"""

SLACK = 0.05
"""Phases that end within this part of a round trip end together: fewer steps. [round trip]"""

UNKNOWN_RTT_S = 1e9
"""Least round-trip time before the first one. [s]"""


def begin_bbr(state: State) -> None:
    """Add the variables of BBR to the state."""
    shape = state.window.shape
    values = {
        "best": 0.0, "best_before": 0.0, "least_rtt": UNKNOWN_RTT_S, "full_rate": 0.0,
        "full_rounds": 0.0, "conserve_from": np.inf, "conserve_until": np.inf, "round": 0.0,
        "until": np.inf, "mode": STARTUP, "prior": 0.0,
    }  # fmt: skip
    state.bbr = {name: np.full(shape, float(value), order="F") for name, value in values.items()}
    state.bbr["seen"] = 1.0 * state.start  # a probe comes ten seconds after the first data
    first = np.floor(CRUISE_PHASES * ((np.arange(1, shape[1] + 1) * GOLDEN) % 1.0))
    state.bbr["first_phases"] = CRUISE_PHASES - first * np.ones(shape, order="F")
    state.bbr["longest"] = STEP_SHARE * state.base_s * np.ones(shape, order="F")
    _look_up(state)


def product(state: State) -> FloatArray:
    """Return the bandwidth-delay product as each flow knows it. [packet]"""
    own = state.bbr
    return np.asarray(np.maximum(own["best"], own["best_before"]) * own["least_rtt"])


def turn(state: State, active: BoolArray, delivery: FloatArray, rtt: FloatArray) -> None:
    """Look at the path at the begin of a step, and change the modes as it has them."""
    own, time = state.bbr, state.time
    stale = active & (time > own["seen"] + bbr.PROBE_RTT_INTERVAL_S - SLACK * state.base_s)
    fresh = active & (rtt <= own["least_rtt"] * (1 - 1e-9))
    any_stale = np.count_nonzero(stale)
    if any_stale:
        fresh |= stale
    if np.count_nonzero(fresh):
        np.copyto(own["least_rtt"], rtt, where=fresh)
        np.copyto(own["seen"], time, where=fresh)
    mode = own["mode"]
    probing = mode == PROBE_RTT
    sample = delivery * (1.0 + state.stack.bbr_bias_packets / state.window)
    np.maximum(own["best"], sample, out=own["best"], where=active & ~probing)
    own_product = product(state)
    changed = _turn_cycle(state, active, own_product, delivery)
    starting = active & (mode <= DRAIN)
    if np.count_nonzero(starting):
        changed |= _end_startup(state, starting, own_product)
    if np.count_nonzero(probing) or any_stale:
        _probe_rtt(state, active, stale & ~probing, probing)
        changed = True
    if changed:
        _look_up(state)


def _look_up(state: State) -> None:
    """Take from the tables what the modes have."""
    own = state.bbr
    mode = own["mode"].astype(int)
    own["gain"], own["window_gain"] = _GAIN[mode], _WINDOW_GAIN[mode]


def longest_s(state: State, active: BoolArray) -> FloatArray:
    """Return how long a step may be, of shape (scenario, 1): to the end of the first phase. [s]"""
    own, time = state.bbr, state.time
    left = np.minimum(own["until"], own["seen"] + bbr.PROBE_RTT_INTERVAL_S) - time
    longest = own["longest"]
    step = np.where(left > SLACK * state.base_s, np.minimum(left, longest), longest)
    return np.asarray(np.minimum.reduce(step, axis=1, keepdims=True, where=active, initial=np.inf))


def advance(
    state: State, active: BoolArray, grown: FloatArray, delivery: FloatArray, rtt: FloatArray,
    total: FloatArray, dt: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return the windows after a step, before any drops: of others as they have grown. [packet]

    In a full pipe all that is in flight grows by what is sent beyond the rate of the link, and each
    flow's share of it approaches its share of what is sent, by :math:`e` in a round trip; in one
    that is not full it approaches what is sent in a round trip.
    """
    own, time, window = state.bbr, state.time, state.window
    best = np.maximum(own["best"], own["best_before"])
    paced = own["gain"] * best
    ceiling = own["window_gain"] * (best * own["least_rtt"]) + quanta_packets(state.stack, paced)
    ceiling = np.maximum(ceiling, LEAST_WINDOW)
    sent = np.maximum(paced * PACING, LEAST_WINDOW / rtt)
    mode = own["mode"]
    starting = active & (mode == STARTUP)
    any_starting = np.count_nonzero(starting)
    if any_starting:
        conserving = starting & (own["conserve_from"] <= time) & (time < own["conserve_until"])
        sent = np.where(conserving, delivery, sent)
    sending = np.where(active, sent, delivery)
    all_sent = np.add.reduce(sending, axis=1, keepdims=True)
    held = sending * state.base_s  # in flight without a queue
    carried = np.add.reduce(held, axis=1, keepdims=True)
    fading = np.exp(-dt / rtt)
    full = total + (all_sent - state.rate) * dt
    after = np.where(
        total >= state.pipe,
        np.maximum(full, np.minimum(carried, total)),
        carried + (total - carried) * fading,
    )
    share = held / np.maximum(carried, 1e-12)
    next_window = share * after + (window - share * total) * fading
    next_window = np.minimum(next_window, ceiling)
    if any_starting:
        # What is lost counts as in flight until it is noticed, a round trip later.
        fits = state.capacity * window / np.maximum(total, 1e-9)
        most = fits + np.maximum(ceiling - fits, 0.0) * np.minimum(dt / rtt, 1.0)
        # An ACK adds what it acknowledges; after a probe the window is what it was before.
        most = np.minimum(most, np.maximum(window + delivery * dt, own["prior"]))
        next_window = np.where(starting, np.minimum(next_window, most), next_window)
    probing = active & (mode == PROBE_RTT)
    if np.count_nonzero(probing):
        drained = np.minimum(np.maximum(window - delivery * dt, LEAST_WINDOW), window)
        next_window = np.where(probing, drained, next_window)
    own["round"] = np.where(active, own["round"] + dt / rtt, 0.0)
    return np.where(active, next_window, grown)


def lose_in_startup(state: State, lost: BoolArray) -> BoolArray:
    """Return which flows lose in their start-up; the first time they begin a repair.

    The first loss is noticed after a round trip over the full buffer, and for one more a packet is
    sent for each delivered one; after it the start-up goes on.
    """
    own = state.bbr
    starting = own["mode"] == STARTUP
    first = lost & starting & np.isinf(own["conserve_from"])
    if np.count_nonzero(first):
        full_s = state.capacity / state.rate
        own["conserve_from"] = np.where(first, state.time + full_s, own["conserve_from"])
        own["conserve_until"] = np.where(first, state.time + 2 * full_s, own["conserve_until"])
    return np.asarray(starting)


def quanta_packets(stack: Stack, rate: FloatArray) -> FloatArray:
    """Return the packets of three quanta: in Linux more at a higher rate. [packet]"""
    paced = np.floor(rate * QUANTUM_S) if stack.name == "linux" else np.zeros(rate.shape)
    return np.asarray(QUANTA * np.maximum(paced, stack.bbr_quantum_packets))


def _turn_cycle(state: State, active: BoolArray, product: FloatArray, delivery: FloatArray) -> bool:
    """Go to the next phase of the cycle; at its end the largest rate becomes the one before."""
    own, window, mode = state.bbr, state.window, state.bbr["mode"]
    whole = active & (state.time >= own["until"] - SLACK * state.base_s)
    lowering = active & (mode == LOWER)
    lowered = lowering & (whole | (window <= product))
    raised = whole & (mode == RAISE)
    wrapped = whole & (mode == CRUISE)
    if np.count_nonzero(raised):
        total = np.where(active, window, 0.0).sum(axis=1, keepdims=True)
        fits = state.capacity * window / np.maximum(total, 1e-9)  # a loss ends the phase too
        raised &= window >= np.minimum(bbr.PROBE_CYCLE[0] * product, fits) - 1e-6
    turned = lowered | raised | wrapped
    if not np.count_nonzero(turned):
        return False
    own["best_before"] = np.where(wrapped, own["best"], own["best_before"])
    own["best"] = np.where(wrapped, 0.0, own["best"])
    own["mode"] = np.where(wrapped, RAISE, mode + turned)
    wait = own["least_rtt"] + ACK_PACKETS / np.maximum(delivery, 1e-9)
    lasts = _PHASES[own["mode"].astype(int)] * wait
    own["until"] = np.where(turned, state.time + lasts, own["until"])
    own["longest"] = np.where(turned, STEP_SHARE * lasts, own["longest"])
    return True


def _end_startup(state: State, starting: BoolArray, product: FloatArray) -> bool:
    """Count the round trips in which the rate has not grown: after three start-up ends.

    It is drained then until no more than the product is in flight.
    """
    own = state.bbr
    turned = starting & (own["round"] >= 1.0 - 1e-9)
    own["round"] = np.where(turned, 0.0, own["round"])
    best = np.maximum(own["best"], own["best_before"])
    grew = best >= FULL_GROWTH * own["full_rate"]
    filling = own["mode"] == STARTUP
    turned &= filling
    own["full_rate"] = np.where(turned & grew, best, own["full_rate"])
    counted = np.where(grew, 0.0, own["full_rounds"] + 1)
    own["full_rounds"] = np.where(turned, counted, own["full_rounds"])
    filled = starting & filling & (own["full_rounds"] >= FULL_ROUNDS)
    own["mode"] = np.where(filled, DRAIN, own["mode"])
    drained = starting & (own["mode"] == DRAIN) & (state.window <= product)
    _cruise(state, drained)
    return bool(np.count_nonzero(filled | drained))


def _probe_rtt(state: State, active: BoolArray, enter: BoolArray, probing: BoolArray) -> None:
    """Enter the probe of the round-trip time, time it once the window is low, and leave it.

    After it a start-up that has not filled the pipe goes on (BBRExitProbeRTT).
    """
    own = state.bbr
    over = probing & (state.time >= own["until"] - SLACK * state.base_s)
    own["seen"] = np.where(over, state.time, own["seen"])
    low = active & probing & (state.window <= LEAST_WINDOW + 1e-9) & np.isinf(own["until"])
    probe_s = np.maximum(bbr.PROBE_RTT_S, state.base_s)
    own["until"] = np.where(low, state.time + probe_s, np.where(enter, np.inf, own["until"]))
    own["mode"] = np.where(enter, PROBE_RTT, own["mode"])
    own["prior"] = np.where(enter, state.window, own["prior"])
    own["longest"] = np.where(enter, STEP_SHARE * state.base_s, own["longest"])
    unfilled = over & (own["full_rounds"] < FULL_ROUNDS)
    own["mode"] = np.where(unfilled, STARTUP, own["mode"])
    own["until"] = np.where(unfilled, np.inf, own["until"])
    _cruise(state, over & ~unfilled)


def _cruise(state: State, resumed: BoolArray) -> None:
    """Begin the cycle somewhere, but not with the phase that raises or that lowers the rate."""
    own = state.bbr
    lasts = own["first_phases"] * own["least_rtt"]
    own["mode"] = np.where(resumed, CRUISE, own["mode"])
    own["until"] = np.where(resumed, state.time + lasts, own["until"])
    own["longest"] = np.where(resumed, STEP_SHARE * lasts, own["longest"])
