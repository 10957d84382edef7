"""Every vectorised closed form on many points beside the bare numpy expression, in one run.

Prints, for each form, the median time of both in turn, their ratio, and how much memory the
form held at most beyond its result, in arrays of the input's size. The arguments are those of
``tests/models/base_arguments.py``, the first one spread around its base value; the bare
expression is the equation of ``tests/models`` where it is plain arithmetic, else ``BARE``. A form
that searches or repeats has none: its time and temporaries are printed alone, on fewer points.

Run: python tests/benchmarks/closed_forms.py [POINTS] [NAME ...]
"""

from __future__ import annotations

import inspect
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from base_arguments import BASE
from equations_of_sizes import EQUATIONS as EQUATIONS_OF_SIZES
from equations_of_tcp_and_queues import EQUATIONS as EQUATIONS_OF_TCP

from netcalc import calculator
from netcalc.errors import DomainError

RUNS = 5
FEWER = 100_000  # points for a form without a bare expression; a block of 16,384 is 0.16 of it
EQUATIONS = EQUATIONS_OF_SIZES | EQUATIONS_OF_TCP
LIMITS = (3.0, 2.0)
"""Allowed: times the bare expression, and temporary arrays."""

# The equation as a user of numpy would type it; p is the namespace of the arguments.
BARE: dict[str, Callable[[Any], Any]] = {
    "atm.atm_cell_count": lambda p: np.ceil((p.packet_bytes + 10) / 48),
    "atm.atm_wire_bytes": lambda p: 53 * np.ceil((p.packet_bytes + 10) / 48),
    "atm.atm_efficiency_ratio": lambda p: (
        p.packet_bytes / (53 * np.ceil((p.packet_bytes + 10) / 48))
    ),
    "atm.atm_packet_rate_pps": lambda p: (
        p.bandwidth_bps / (8 * 53 * np.ceil((p.packet_bytes + 10) / 48))
    ),
    "backlog.fluid_backlog_bytes": lambda p: np.maximum(
        0, (p.input_bps - p.output_bps) * p.duration_s / 8
    ),
    "cardwell.slow_start_segments": lambda p: (
        (1 - (1 - p.loss_ratio) ** p.segments) * (1 - p.loss_ratio) / p.loss_ratio
    ),
    "clock.reading_error_std_s": lambda p: p.tick_s / np.sqrt(12),
    "clock.interval_error_limit_s": lambda p: p.tick_s * 1.0,
    "clock.interval_error_std_s": lambda p: (
        p.tick_s * np.sqrt(np.mod(p.duration_s, p.tick_s) / p.tick_s)
        * np.sqrt(1 - np.mod(p.duration_s, p.tick_s) / p.tick_s)
    ),
    "cubic.cubic_window_packets": lambda p: (
        p.cubic_scale * (p.elapsed_s - 4.217) ** 3 + p.peak_window_packets
    ),
    "cubic.cubic_k_s": lambda p: np.cbrt(
        p.peak_window_packets * (1 - p.decrease_factor) / p.cubic_scale
    ),
    "cubic_under_loss.cubic_raw_window_packets": lambda p: (
        1.0547 * (p.rtt_s / p.loss_ratio) ** 0.75
    ),
    "cubic_under_loss.cubic_mean_window_packets": lambda p: np.maximum(
        1.0547 * (p.rtt_s / p.loss_ratio) ** 0.75, p.reno_constant / np.sqrt(p.loss_ratio)
    ),
    "cubic_under_loss.cubic_throughput_bps": lambda p: (
        np.maximum(
            1.0547 * (p.rtt_s / p.loss_ratio) ** 0.75, p.reno_constant / np.sqrt(p.loss_ratio)
        ) * 8 * p.packet_bytes / p.rtt_s
    ),
    "delayed_ack.heartbeat_wait_s": lambda p: (
        p.period_s - np.mod(p.arrival_s - p.phase_s, p.period_s)
    ),
    "delayed_ack.tick_timer_wait_s": lambda p: (
        p.tick_s * (p.tick_count + 1) - np.mod(p.arrival_s, p.tick_s)
    ),
    "esp.esp_packet_bytes": lambda p: np.ceil((p.payload_bytes + 2) / 4) * 4 + 52,
    "esp.esp_payload_bytes": lambda p: np.floor((p.mtu_bytes - 52) / 4) * 4 - 2,
    "forwarding.forwarding_rate_pps": lambda p: np.minimum(
        p.device_pps, p.bandwidth_bps / (8 * (p.frame_bytes + p.overhead_bytes))
    ),
    "framing.ethernet_frame_bytes": lambda p: np.maximum(p.packet_bytes + 18, 64),
    "framing.ethernet_wire_bytes": lambda p: np.maximum(p.packet_bytes + 18, 64) + 20,
    "framing.captured_frame_bytes": lambda p: np.maximum(p.captured_bytes + 4, 64),
    "framing.captured_wire_bytes": lambda p: np.maximum(p.captured_bytes + 4, 64) + 20,
    "goodput.tcp_goodput_ratio": lambda p: (
        (p.mtu_bytes - 40) / (np.maximum(p.mtu_bytes + 18, 64) + 20)
    ),
    "goodput.tcp_goodput_bps": lambda p: (
        p.bandwidth_bps * (p.mtu_bytes - 40) / (np.maximum(p.mtu_bytes + 18, 64) + 20)
    ),
    "goodput.udp_goodput_ratio": lambda p: (
        (p.mtu_bytes - 28) / (np.maximum(p.mtu_bytes + 18, 64) + 20)
    ),
    "goodput.udp_goodput_bps": lambda p: (
        p.bandwidth_bps * (p.mtu_bytes - 28) / (np.maximum(p.mtu_bytes + 18, 64) + 20)
    ),
    "goodput.tcp_ack_wire_bytes": lambda p: np.maximum(p.tcp_option_bytes + 58, 64) + 20,
    "goodput.half_duplex_goodput_bps": lambda p: (
        p.bandwidth_bps * 2 * (p.mtu_bytes - 40)
        / (2 * (np.maximum(p.mtu_bytes + 18, 64) + 20) + 84)
    ),
    "host_stack.bulk_s": lambda p: (
        np.ceil(p.payload_bytes / p.segment_bytes) * p.packet_cost + p.payload_bytes * p.byte_cost
    ),
    "latency.arrived_bytes": lambda p: np.maximum(
        0, (p.elapsed_s - p.latency_s) * p.bandwidth_bps / 8
    ),
    "latency.transfer_bandwidth_bps": lambda p: 8 * p.payload_bytes / (p.transfer_s - p.latency_s),
    "latency.transfer_latency_s": lambda p: p.transfer_s - 8 * p.payload_bytes / p.bandwidth_bps,
    "loss_limited.mathis_constant": lambda p: np.sqrt(3 / (2 * p.segments_per_ack)),
    "loss_limited.mathis_throughput_bps": lambda p: (
        8 * p.mss_bytes / p.rtt_s * p.constant / np.sqrt(p.loss_ratio)
    ),
    "loss_limited.mathis_loss_ratio": lambda p: np.minimum(
        (8 * p.mss_bytes * p.constant / (p.rtt_s * p.throughput_bps)) ** 2, 1
    ),
    "loss_limited.reno_window_packets": lambda p: p.constant / np.sqrt(p.loss_ratio),
    "loss_limited.aimd_window_packets": lambda p: np.sqrt(1.5 / p.loss_ratio),
    "md1.md1_wait_s": lambda p: p.service_s * p.utilization / (2 * (1 - p.utilization)),
    "md1.md1_customers": lambda p: p.utilization + p.utilization**2 / (2 * (1 - p.utilization)),
    "mm1.mm1_wait_s": lambda p: p.service_s * p.utilization / (1 - p.utilization),
    "mm1.mm1_sojourn_s": lambda p: p.service_s / (1 - p.utilization),
    "mm1.mm1_customers": lambda p: p.utilization / (1 - p.utilization),
    "mm1.mm1_queue_length": lambda p: p.utilization**2 / (1 - p.utilization),
    "mm1.mm1_state_ratio": lambda p: (1 - p.utilization) * p.utilization**p.customer_count,
    "mm1.mm1_wait_cdf": lambda p: (
        1 - p.utilization * np.exp(-(1 - p.utilization) * p.wait_s / p.service_s)
    ),
    "mm1.mm1_wait_percentile_s": lambda p: np.maximum(
        p.service_s / (1 - p.utilization) * np.log(p.utilization / (1 - p.quantile)), 0
    ),
    "mm1.mm1_sojourn_percentile_s": lambda p: (
        -p.service_s / (1 - p.utilization) * np.log(1 - p.quantile)
    ),
    "pftk.pftk_window_packets": lambda p: (
        4 / 6 + np.sqrt(8 * (1 - p.loss_ratio) / (6 * p.loss_ratio) + (4 / 6) ** 2)
    ),
    "pftk.pftk_approx_rate_pps": lambda p: np.minimum(
        p.max_window_packets / p.rtt_s,
        1 / (
            p.rtt_s * np.sqrt(4 * p.loss_ratio / 3)
            + p.rto_s * np.minimum(1, 3 * np.sqrt(6 * p.loss_ratio / 8))
            * p.loss_ratio * (1 + 32 * p.loss_ratio**2)
        ),
    ),
    "probing.hop_bandwidth_bps": lambda p: 8 / (p.rtt_slope - p.previous_rtt_slope),
    "queueing.is_stable": lambda p: p.utilization < 1,
    "queueing.mg1_wait_s": lambda p: (
        p.service_s * p.utilization * (1 + p.service_scv) / (2 * (1 - p.utilization))
    ),
    "queueing.kingman_wait_s": lambda p: (
        p.service_s * p.utilization / (1 - p.utilization) * (p.arrival_scv + p.service_scv) / 2
    ),
    "rate_reading.header_bandwidth_bps": lambda p: (
        p.bandwidth_bps * (1 - p.payload_bytes / p.wire_bytes)
    ),
    "rate_reading.stop_and_wait_goodput_bps": lambda p: np.minimum(
        p.capacity_bps, p.pair_count * 8 * p.payload_bytes / p.cycle_s
    ),
    "rate_reading.saturating_pair_count": lambda p: np.ceil(
        p.capacity_bps * p.cycle_s / (8 * p.payload_bytes)
    ),
    "rfc6349.connection_count": lambda p: np.maximum(np.ceil(p.bdp_bytes / p.window_bytes), 1),
    "sharing.buffer_rule_bytes": lambda p: p.bandwidth_bps * p.rtt_s / (8 * np.sqrt(p.flow_count)),
    "slow_start.initial_window_bytes": lambda p: np.minimum(
        10 * p.mss_bytes, np.maximum(2 * p.mss_bytes, 14600)
    ),
    "slow_start.rounds": lambda p: np.ceil(
        np.log(p.segments * (p.growth - 1) / p.initial_window_segments + 1) / np.log(p.growth)
    ),
    "slow_start.window_growth_s": lambda p: (
        p.rtt_s * np.ceil(np.log2(np.ceil(p.window_bytes / p.mss_bytes) / 10))
    ),
    "store_and_forward.optimal_segment_bits": lambda p: np.sqrt(
        p.header_bits * p.message_bits / (p.link_count - 1)
    ),
    "store_and_forward.store_and_forward_s": lambda p: (
        p.packet_bytes * (8 / 1e7 + 8 / 1e6 + 8 / 1e8) + 0.027
        + 9 * np.maximum(8 * p.packet_bytes / 1e6, 0.002)
    ),
    "store_and_forward.cut_through_s": lambda p: (
        8 * p.frame_bytes / 1e8 + 8 * 14 / 1e7 + 8 * p.frame_bytes / 1e6 + 0.024003
    ),
    "tfrc.tfrc_rounds": lambda p: (
        np.sqrt(2 * p.loss_ratio / 3)
        + 12 * np.sqrt(3 * p.loss_ratio / 8) * p.loss_ratio * (1 + 32 * p.loss_ratio**2)
    ),
    "tfrc.tfrc_throughput_bps": lambda p: 8 * p.mss_bytes / p.rtt_s / (
        np.sqrt(2 * p.loss_ratio / 3)
        + 12 * np.sqrt(3 * p.loss_ratio / 8) * p.loss_ratio * (1 + 32 * p.loss_ratio**2)
    ),
    "timers.rto_s": lambda p: np.minimum(p.max_rto_s, np.maximum(
        p.min_rto_s, p.srtt_s + np.maximum(p.granularity_s, 4 * p.rttvar_s)
    )),
    "timers.backoff_s": lambda p: np.minimum(p.max_rto_s, 2**p.timeout_count * p.initial_rto_s),
    "token_bucket.token_bucket_transfer_s": lambda p: np.maximum(
        8 * p.traffic_bytes / p.peak_bps, 8 * (p.traffic_bytes - p.bucket_bytes) / p.token_bps
    ),
    "token_bucket.token_bucket_passed_bytes": lambda p: np.minimum(
        p.peak_bps * p.duration_s / 8, p.bucket_bytes + p.token_bps * p.duration_s / 8
    ),
    "voice.voip_call_count": lambda p: np.floor(
        p.bandwidth_bps * p.interval_s / (8 * (p.payload_bytes + p.header_bytes + p.link_bytes))
    ),
    "window.throughput_bps": lambda p: np.minimum(p.bandwidth_bps, 8 * p.window_bytes / p.rtt_s),
    "window.serialized_throughput_bps": lambda p: p.bandwidth_bps * np.minimum(
        1, p.window_packets * 0.0012 / (p.base_rtt_s + 0.0012)
    ),
    "window.max_window_bytes": lambda p: 65535 * 2**p.shift,
    "wireguard.wireguard_packet_bytes": lambda p: (
        60 + np.minimum(1420, 16 * np.ceil(p.packet_bytes / 16))
    ),
}  # fmt: skip


class Arguments:
    """Arguments by attribute."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.__dict__.update(arguments)


def spread(formula: calculator.Formula, points: int) -> dict[str, Any] | None:
    """Return the base arguments with the first one as an array; None if it takes no array."""
    first = formula.parameters[0]
    annotation = inspect.signature(formula.function).parameters[first.name].annotation
    if first.kind != "number" or annotation != "ArrayLike":
        return None
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    arguments = {**defaults, **BASE[formula.name]}
    middle = arguments[first.name]
    for low, high in ((0.7, 1.2), (0.7, 1.0), (1.0, 1.2), (1.0, 1.0)):
        values = middle * np.random.default_rng(1).uniform(low, high, points)
        if isinstance(middle, int):
            values = np.rint(values)
        arguments[first.name] = values
        try:
            formula.evaluate({**arguments, first.name: np.sort(values)[:: max(points // 100, 1)]})
        except DomainError:
            continue
        return arguments
    raise AssertionError(f"{formula.name} takes no numbers around its base value")


def bare(name: str, arguments: dict[str, Any]) -> Callable[[], Any] | None:
    """Return the expression by hand, or the equation if it is plain arithmetic."""
    if name in BARE:
        return lambda: BARE[name](Arguments(arguments))
    equation = EQUATIONS.get(name)
    if equation is None:
        return None
    given = {n: arguments[n] for n in inspect.signature(equation).parameters if n in arguments}
    try:
        tried = equation(**{n: v[:2] if np.size(v) > 9 else v for n, v in given.items()})
    except (TypeError, ValueError):
        return None
    if np.asarray(tried).dtype == object:  # it has constants of many digits: no bare numpy
        return None
    return lambda: equation(**given)


def seconds(function: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def result_bytes(result: object) -> int:
    """Return the memory of a result of one column or several."""
    columns = result if isinstance(result, tuple) else (result,)
    return sum(np.asarray(column).nbytes for column in columns)


def extra_arrays(function: Callable[[], object], points: int) -> float:
    """Return the most memory held beyond the result, in arrays of the input's size."""
    tracemalloc.start()
    result = function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (peak - result_bytes(result)) / (8 * points)


def measure(formula: calculator.Formula, points: int) -> None:
    """Print one line."""
    arguments = spread(formula, 2)
    if arguments is None:
        print(f"{formula.name:46} takes no array first")
        return
    has_bare = bare(formula.name, arguments) is not None
    points = points if has_bare else min(points, FEWER)
    arguments = spread(formula, points)
    assert arguments is not None
    by_hand = bare(formula.name, arguments)
    first, *others = (arguments[p.name] for p in formula.parameters)
    keywords = dict(zip((p.name for p in formula.parameters[1:]), others, strict=True))

    def model() -> object:
        return formula.function(first, **keywords)

    model()
    temporaries = extra_arrays(model, points)
    over = " above" if temporaries > LIMITS[1] + 0.05 else ""
    if by_hand is None:
        ours = statistics.median(seconds(model) for _ in range(RUNS))
        per_point = ours / points * 1e9
        print(f"{formula.name:46} {per_point:8.1f} ns a point  temporaries {temporaries:.2f}{over}")
        return
    by_hand()
    pairs = [(seconds(model), seconds(by_hand)) for _ in range(RUNS)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    over = " above" if over or ratio > LIMITS[0] else ""
    print(
        f"{formula.name:46} {ours * 1e3:7.1f} ms  bare {theirs * 1e3:7.1f} ms  ratio {ratio:5.2f}  "
        f"temporaries {temporaries:.2f}{over}",
        flush=True,
    )


def main() -> None:
    """Print the table, of all forms or of those named."""
    points = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    wanted = sys.argv[2:]
    print(f"{points:,} points, medians of {RUNS} calls in turn")
    for formula in calculator.formulas().values():
        if not wanted or any(word in formula.name for word in wanted):
            with np.errstate(all="ignore"):
                measure(formula, points)


if __name__ == "__main__":
    main()
