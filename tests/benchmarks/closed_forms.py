"""Every vectorised closed form on many points beside the bare numpy expression, in one run.

Prints, for each form, the processor time of both in turn (medians; the wall time is the same on
an idle machine, and on a busy one it is that of others), their ratio, and how much memory the form
held at most beyond its result, in arrays of the input's size. The arguments are those of
``tests/models/base_arguments.py``, the first one spread around its base value; the bare
expression is the equation of ``tests/models`` where it is plain arithmetic, else ``BARE``. What
both give is compared, too.

What has no bare expression is named with the reason; where it takes an array, its time and
temporaries are printed alone, on fewer points.

Run: python tests/benchmarks/closed_forms.py [POINTS] [NAME ...]
"""

from __future__ import annotations

import inspect
import os
import statistics
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from base_arguments import BASE
from equations_of_sizes import EQUATIONS as EQUATIONS_OF_SIZES
from equations_of_tcp_and_queues import EQUATIONS as EQUATIONS_OF_TCP
from equations_of_users import EQUATIONS as EQUATIONS_OF_USERS

from netcalc import calculator
from netcalc.errors import DomainError

RUNS = 5
FEWER = 1_000_000  # points for a form without a bare expression
EQUATIONS = EQUATIONS_OF_SIZES | EQUATIONS_OF_TCP | EQUATIONS_OF_USERS
LIMITS = (3.0, 2.0)
"""Allowed: times the bare expression, and temporary arrays."""

SEARCHES = "searches for its result"
LISTS = "takes a list of hops, flows or samples as one thing"
NAMES = "takes a name, or one number, and looks it up"
# Forms without a bare expression, and why.
LEFT_OUT: dict[str, str] = {
    "ceilings.congestion_limit_bps": "a choice among other forms: PFTK, Mathis and CUBIC",
    "ceilings.path_ceilings": "several other forms: PFTK, Mathis and CUBIC, and the line",
    "transfer_time.transfer_time_s": "a sum of other forms: slow start, loss and steady rate",
    "transfer_time.transfer_parts": "a sum of other forms: slow start, loss and steady rate",
    "short_transfers.lossy_transfer_s": "a sum of others: slow start, PFTK's timeouts and rate",
    "host_stack.transaction_s": "a sum of other forms: mbufs, fragments and message",
    "erlang.erlang_b_ratio": "a recursion over the servers",
    "erlang.erlang_b_load": SEARCHES,
    "erlang.erlang_b_server_count": SEARCHES,
    "erlang.erlang_c_ratio": "a recursion over the servers",
    "erlang.erlang_c_server_count": SEARCHES,
    "erlang.service_level_ratio": "a recursion over the servers",
    "erlang.mmc_wait_s": "a recursion over the servers",
    "erlang.mmc_wait_percentile_s": "a recursion over the servers",
    "md1.md1_wait_cdf": "a recursion over the customers",
    "mm1.mm1k_wait_cdf": "a sum over the customers",
    "md1.md1_wait_percentile_s": SEARCHES,
    "multiplexing.active_percentile_count": SEARCHES,
    "multiplexing.shared_bandwidth_bps": SEARCHES,
    "multiplexing.supported_user_count": SEARCHES,
    "multiplexing.multiplexing_gain": SEARCHES,
    "multiplexing.overload_ratio": "an incomplete beta function",
    "multiplexing.overload_normal_ratio": "the normal distribution",
    "multiplexing.shared_bandwidth_normal_bps": "the normal quantile",
    "erlang.engset_blocking_ratio": "a recursion over the servers",
    "erlang.engset_time_ratio": "a recursion over the servers",
    "erlang.erlang_a": "a sum over the calls that wait, for each element",
    "queueing.packet_mix_wait_percentile_s": "an inversion: queue_percentiles.py",
    "erlang.mmck_blocking_ratio": "a recursion over the servers",
    "erlang.mmck_wait_s": "a recursion over the servers",
    "ceilings.congestion_controls": "seven other forms",
    "pftk.pftk_loss_ratio": SEARCHES,
    "pftk.pftk_approx_loss_ratio": SEARCHES,
    "pftk.tfrc_loss_ratio": SEARCHES,
    "slow_start.rounds_delayed_ack": "a recursion over the rounds",
    "serial_lines.atm_overhead_bytes": NAMES,
    "small_writes.delayed_ack_s": NAMES,
    "fragmentation.min_mtu_bytes": NAMES,
    "fragmentation.fragments_bytes": "gives the list of one datagram's fragments",
    "framing.udp_payload_limit_bytes": NAMES,
    "handshakes.round_trips": NAMES,
    "handshakes.segments": NAMES,
    "vpn.wireguard_overhead_bytes": NAMES,
}


def timeout_share(w: Any, p: Any) -> Any:
    """PFTK's Q as a user of numpy would type it."""
    q = 1 - p
    return np.minimum(1, (1 - q**3) * (1 + q**3 * (1 - q ** (w - 3))) / (1 - q**w))


def pftk(p: Any, rtt: Any, rto: Any, limit: Any, *, received: bool) -> Any:
    """The full formula with an acknowledgement for two segments."""
    window = 4 / 6 + np.sqrt(8 * (1 - p) / (6 * p) + (4 / 6) ** 2)
    w = np.minimum(window, limit)
    q = timeout_share(w, p)
    g = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    packets = (1 - p) / p + (w / 2 + q if received else w + q / (1 - p))
    rounds = np.where(window >= limit, w / 4 + (1 - p) / (p * w) + 2, w + 1)
    return packets / (rtt * rounds + q * g * rto / (1 - p))


def fragment_count(n: Any) -> Any:
    """Fragments of an Ethernet."""
    return np.where(n <= 1480, 1, 1 + np.ceil((n - 1480) / 1480))


def datagram_mbufs(d: Any) -> Any:
    """Mbufs and clusters of a UDP datagram in 4.4BSD."""
    room = np.where(d < 100, np.floor((100 - d) / 4) * 4, 0)
    short = 1 + np.ceil(np.maximum(d - 100, 0) / 108) + (room < 28)
    left = np.maximum(d - 1992, 0)
    rest = np.mod(left, 2048)
    clusters = 1 + np.floor(left / 2048) + (rest >= 208)
    long = 1 + clusters + np.where(rest >= 208, 0, np.ceil(rest / 108))
    return np.where(d >= 208, long, short), np.where(d >= 208, clusters, 0)


def stream_mbufs(d: Any) -> Any:
    """Calls, mbufs and clusters of a write in 4.4BSD."""
    rest = np.mod(d, 2048)
    clusters = np.floor(d / 2048) + (rest >= 208)
    calls = clusters + np.where(rest >= 208, 0, np.ceil(rest / 100))
    return calls, calls, clusters


def stream_segments(d: Any) -> Any:
    """Segments of a write in 4.4BSD."""
    first = np.minimum(d, np.where(d >= 208, 2048, 100))
    return np.ceil(first / 1448) + np.ceil((d - first) / 1448)


def freebsd_mbufs(d: Any) -> Any:
    """Calls, mbufs and clusters of a send in FreeBSD."""
    pages = np.maximum(np.ceil((d - 2048) / 4096), 0)
    rest = d - 4096 * pages
    return np.ones_like(d), pages + (rest > 0), pages + (rest >= 169)


def tunnel(n: Any) -> Any:
    """WireGuard inside VXLAN, over IPv4 and an Ethernet."""
    padded = 16 * np.ceil(n / 16)
    return 110 + np.where(n <= 1390, np.minimum(padded, 1390), padded)


def sending(n: Any, clock: Any, rtt: Any, first: Any, largest: Any) -> Any:
    """Slow start on a line of limited rate."""
    cycle = rtt + clock
    growing = np.ceil(np.log2(np.minimum(cycle / clock, largest) / first))
    pauses = np.minimum(growing, np.ceil(np.log2(n / first + 1)) - 1)
    left = n - first * (2**pauses - 1)
    if largest * clock >= cycle:
        return pauses * cycle + left * clock
    more = np.maximum(np.ceil(left / largest) - 1, 0)
    return (pauses + more) * cycle + (left - more * largest) * clock


def message(m: Any, size: Any, header: Any) -> Any:
    """A message in segments over the three links of the base arguments."""
    count = np.ceil(size / m)
    tail, full = 8 * (size - (count - 1) * m + header), 8 * (m + header)
    last = (count - 1) * full / 1e7 + tail / 1e7 + 0.001
    last = np.maximum(last, full * (1.1e-6 + (count - 2) / 1e6) + 0.001) + tail / 1e6 + 0.02
    return np.maximum(last, full * (1.11e-6 + (count - 2) / 1e6) + 0.021) + tail / 1e8 + 0.003


def slow_start(n: Any, rtt: Any) -> Any:
    """Slow start from 10 segments to at most 20, with delayed acknowledgements."""
    grown = np.log(n * 0.5 / 10 + 1) / np.log(1.5)
    tail = np.log(2) / np.log(1.5) + 1 + (n - (1.5 * 20 - 10) / 0.5) / 20
    return rtt * np.where((n * 0.5 + 10) / 1.5 <= 20, grown, tail)


def aimd_busy(room: Any) -> Any:
    """Utilization by Reno."""
    peak, low = 1 + room, 0.5 * (1 + room)
    busy = (peak**2 - low**2) / 2 / ((1 - low) + (peak**2 - 1) / 2)
    return np.where(low >= 1, 1, busy)


def cubic_busy(room: Any) -> Any:
    """Utilization by CUBIC."""
    x = np.cbrt(room / ((1 + room) * 0.3))
    return np.where(x >= 1, 1, x + (1 + room) * (1 - x - 0.075 * (1 - x**4)))


def cubic_raw(loss: Any, rtt: Any) -> Any:
    """Mean window of CUBIC without Reno's as a floor."""
    return (0.4 * 3.7 / 1.2) ** 0.25 * (rtt / loss) ** 0.75


def cubic_loss(rate: Any, rtt: Any, packet: Any) -> Any:
    """Loss that a rate of CUBIC requires."""
    window = rate * rtt / (8 * packet)
    raw = rtt * (0.4 * 3.7 / 1.2) ** (1 / 3) * window ** (-4 / 3)
    return np.minimum(np.maximum(raw, 1.5 / window**2), 1)


def tail_delay(size: Any, rtt: Any, held: Any) -> Any:
    """Wait of the tail of a large write."""
    full = np.floor(size / 1460)
    wait = np.where(full % 2 == 0, rtt, rtt + held)
    return np.where((size % 1460 == 0) | (size < 1460), 0, wait)


def policed_loss(depth: Any, window: Any) -> Any:
    """Loss of Reno through a policer."""
    most = np.minimum(4 * window / 3, window + np.sqrt(2 * depth))
    return np.minimum(2 * np.maximum(1, most - window) / (0.75 * most**2), 1)


def full_number(load: Any, places: Any) -> Any:
    """Mean number in an M/M/1/K system."""
    return load / (1 - load) - (places + 1) * load ** (places + 1) / (1 - load ** (places + 1))


# The equation as a user of numpy would type it; p is the namespace of the arguments.
BARE: dict[str, Callable[[Any], Any]] = {
    "serial_lines.atm_cell_count": lambda p: np.ceil((p.packet_bytes + 10) / 48),
    "serial_lines.atm_wire_bytes": lambda p: 53 * np.ceil((p.packet_bytes + 10) / 48),
    "serial_lines.atm_efficiency_ratio": lambda p: (
        p.packet_bytes / (53 * np.ceil((p.packet_bytes + 10) / 48))
    ),
    "serial_lines.atm_packet_rate_pps": lambda p: (
        p.bandwidth_bps / (8 * 53 * np.ceil((p.packet_bytes + 10) / 48))
    ),
    "backlog.fluid_backlog_bytes": lambda p: np.maximum(
        0, (p.input_bps - p.output_bps) * p.duration_s / 8
    ),
    "short_transfers.slow_start_segments": lambda p: (
        (1 - (1 - p.loss_ratio) ** p.segments) * (1 - p.loss_ratio) / p.loss_ratio
    ),
    "loss_limited.frame_error_ratio": lambda p: (
        -np.expm1(8 * p.frame_bytes * np.log1p(-p.bit_error_ratio))
    ),
    "loss_limited.bit_error_limit_ratio": lambda p: (
        -np.expm1(np.log1p(-p.loss_ratio) / (8 * p.frame_bytes))
    ),
    "loss_limited.bit_error_interval_s": lambda p: 1 / (p.bit_error_ratio * p.bandwidth_bps),
    "policer.policed_throughput_bps": lambda p: np.minimum(
        p.token_bps, 0.75 * (p.token_bps + 8 / p.rtt_s * np.sqrt(2 * p.bucket_bytes * p.mss_bytes))
    ),
    "policer.policed_loss_ratio": lambda p: policed_loss(
        p.bucket_bytes / p.mss_bytes, p.token_bps * p.rtt_s / (8 * p.mss_bytes)
    ),
    "policer.policer_overload_loss_ratio": lambda p: np.maximum(0, 1 - p.token_bps / p.input_bps),
    "ecn.dctcp_amplitude_packets": lambda p: (
        np.sqrt(2 * p.flow_count * (p.bdp_packets + p.threshold_packets)) / 2
    ),
    "ecn.ecn_threshold_bytes": lambda p: p.bandwidth_bps * p.rtt_s / 8,
    "ceilings.bbr_throughput_bps": lambda p: (1 - p.loss_ratio) * np.where(
        p.loss_ratio <= 0.2, p.bandwidth_bps, np.minimum(p.bandwidth_bps, 32 * 1460 / p.rtt_s)
    ),
    "backlog.dispersion_wait_s": lambda p: (
        p.service_s * p.utilization / (1 - p.utilization) * p.dispersion / 2
    ),
    "multiplexing.access_node_subscriber_count": lambda p: np.floor(
        np.maximum(p.bandwidth_bps - 1.2 * p.sold_bps, 0) / p.mean_bps
    ),
    "clock.reading_error_std_s": lambda p: p.tick_s / np.sqrt(12),
    "clock.interval_error_limit_s": lambda p: p.tick_s * 1.0,
    "clock.interval_error_std_s": lambda p: (
        p.tick_s * np.sqrt(np.mod(p.duration_s, p.tick_s) / p.tick_s)
        * np.sqrt(1 - np.mod(p.duration_s, p.tick_s) / p.tick_s)
    ),
    "cubic.cubic_window_packets": lambda p: (
        p.cubic_scale * (p.elapsed_s - np.cbrt(p.peak_window_packets * 0.3 / p.cubic_scale)) ** 3
        + p.peak_window_packets
    ),
    "cubic.cubic_k_s": lambda p: np.cbrt(
        p.peak_window_packets * (1 - p.decrease_factor) / p.cubic_scale
    ),
    "cubic.cubic_raw_window_packets": lambda p: (
        cubic_raw(p.loss_ratio, p.rtt_s)
    ),
    "cubic.cubic_mean_window_packets": lambda p: np.maximum(
        cubic_raw(p.loss_ratio, p.rtt_s), p.reno_constant / np.sqrt(p.loss_ratio)
    ),
    "cubic.cubic_throughput_bps": lambda p: (
        np.maximum(
            cubic_raw(p.loss_ratio, p.rtt_s), p.reno_constant / np.sqrt(p.loss_ratio)
        ) * 8 * p.packet_bytes / p.rtt_s
    ),
    "small_writes.heartbeat_wait_s": lambda p: (
        p.period_s - np.mod(p.arrival_s - p.phase_s, p.period_s)
    ),
    "small_writes.tick_timer_wait_s": lambda p: (
        p.tick_s * (p.tick_count + 1) - np.mod(p.arrival_s, p.tick_s)
    ),
    "vpn.esp_packet_bytes": lambda p: np.ceil((p.payload_bytes + 2) / 4) * 4 + 52,
    "vpn.esp_payload_bytes": lambda p: np.floor((p.mtu_bytes - 52) / 4) * 4 - 2,
    "forwarding.forwarding_rate_pps": lambda p: np.minimum(
        p.device_pps, p.bandwidth_bps / (8 * (np.maximum(p.frame_bytes, 64) + p.overhead_bytes))
    ),
    "forwarding.crossover_frame_bytes": lambda p: np.where(
        p.bandwidth_bps / (8 * p.device_pps) - 20 < 64, np.nan,
        p.bandwidth_bps / (8 * p.device_pps) - 20,
    ),
    "forwarding.affine_rate_pps": lambda p: (
        1 / (p.packet_cost + p.byte_cost * np.maximum(p.frame_bytes, 64))
    ),
    "forwarding.switch_rate_pps": lambda p: (
        np.dot(p.port_bps, p.port_count) / (8 * (np.maximum(p.frame_bytes, 64) + 20))
    ),
    "line_rate.frame_rate_pps": lambda p: (
        p.bandwidth_bps / (8 * (np.maximum(p.frame_bytes, 64) + p.overhead_bytes))
    ),
    "line_rate.frame_throughput_bps": lambda p: (
        p.bandwidth_bps * np.maximum(p.frame_bytes, 64)
        / (np.maximum(p.frame_bytes, 64) + p.overhead_bytes)
    ),
    "line_rate.payload_throughput_bps": lambda p: np.where(
        p.payload_bytes > p.wire_bytes, np.nan, p.bandwidth_bps * p.payload_bytes / p.wire_bytes
    ),
    "line_rate.goodput_wire_bps": lambda p: np.where(
        p.payload_bytes > p.wire_bytes, np.nan, p.goodput_bps * p.wire_bytes / p.payload_bytes
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
    "mm1.mm1_state_probability": lambda p: (1 - p.utilization) * p.utilization**p.customer_count,
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
    "line_rate.header_bandwidth_bps": lambda p: np.where(
        p.payload_bytes > p.wire_bytes, np.nan,
        p.bandwidth_bps * (1 - p.payload_bytes / p.wire_bytes),
    ),
    "line_rate.stop_and_wait_goodput_bps": lambda p: np.minimum(
        p.capacity_bps, p.pair_count * 8 * p.payload_bytes / p.cycle_s
    ),
    "line_rate.saturating_pair_count": lambda p: np.ceil(
        p.capacity_bps * p.cycle_s / (8 * p.payload_bytes)
    ),
    "window.connection_count": lambda p: np.maximum(np.ceil(p.bdp_bytes / p.window_bytes), 1),
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
    "pftk.tfrc_rounds": lambda p: (
        np.sqrt(2 * p.loss_ratio / 3)
        + 12 * np.sqrt(3 * p.loss_ratio / 8) * p.loss_ratio * (1 + 32 * p.loss_ratio**2)
    ),
    "pftk.tfrc_throughput_bps": lambda p: 8 * p.mss_bytes / p.rtt_s / (
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
    "vpn.wireguard_packet_bytes": lambda p: (
        60 + np.minimum(1420, 16 * np.ceil(p.packet_bytes / 16))
    ),
    "bbr.bbr_probe_rtt_ratio": lambda p: np.minimum(p.probe_rtt_s / p.probe_rtt_interval_s, 1),
    "bbr.bbr_startup_rounds": lambda p: np.maximum(np.ceil(np.log2(
        p.bandwidth_bps * p.rtt_s / (8 * p.mss_bytes * p.initial_window_segments)
    )), 0),
    "short_transfers.slow_start_s": lambda p: slow_start(p.segments, p.rtt_s),
    "clock.typical_interval_error_std_s": lambda p: p.tick_s / np.sqrt(6),
    "cubic.cubic_loss_interval_s": lambda p: (
        (4 * 0.3 / (0.4 * 3.7) * p.rtt_s / p.loss_ratio) ** 0.25
    ),
    "cubic.cubic_loss_ratio": lambda p: (
        cubic_loss(p.throughput_bps, p.rtt_s, p.packet_bytes)
    ),
    "encapsulation.tunnel_packet_bytes": lambda p: tunnel(p.packet_bytes),
    "encapsulation.tunnel_wire_bytes": lambda p: np.where(
        tunnel(p.packet_bytes) > 1500, np.nan, np.maximum(tunnel(p.packet_bytes) + 18, 64) + 20
    ),
    "encapsulation.tunnel_overhead_bytes": lambda p: tunnel(p.packet_bytes) - p.packet_bytes,
    "encapsulation.tunnel_goodput_bps": lambda p: (
        p.bandwidth_bps * (p.mtu_bytes - 150) / (np.maximum(p.mtu_bytes + 18, 64) + 20)
    ),
    "mm1.mm1k_blocking_ratio": lambda p: (
        (1 - p.utilization) * p.utilization**p.place_count
        / (1 - p.utilization ** (p.place_count + 1))
    ),
    "mm1.mm1k_customers": lambda p: full_number(p.utilization, p.place_count),
    "mm1.mm1k_throughput_pps": lambda p: p.utilization / p.service_s * (
        1 - (1 - p.utilization) * p.utilization**p.place_count
        / (1 - p.utilization ** (p.place_count + 1))
    ),
    "mm1.mm1k_sojourn_s": lambda p: (
        full_number(p.utilization, p.place_count) * p.service_s
        * (1 - p.utilization ** (p.place_count + 1))
        / (p.utilization * (1 - p.utilization**p.place_count))
    ),
    "mm1.mm1k_wait_s": lambda p: (
        p.service_s * full_number(p.utilization, p.place_count - 1)
    ),
    "fragmentation.fragment_count": lambda p: fragment_count(p.ip_payload_bytes),
    "fragmentation.fragmented_bytes": lambda p: (
        p.ip_payload_bytes + 20 * fragment_count(p.ip_payload_bytes)
    ),
    "fragmentation.fragmented_wire_bytes": lambda p: (
        (fragment_count(p.ip_payload_bytes) - 1) * 1538 + 20 + np.maximum(
            p.ip_payload_bytes - 1480 * (fragment_count(p.ip_payload_bytes) - 1) + 38, 64
        )
    ),
    "handshakes.certificate_round_trips": lambda p: np.maximum(
        np.ceil(np.log2(p.certificate_bytes / 14600 + 1)) - 1, 0
    ),
    "mbufs.datagram_mbufs": lambda p: datagram_mbufs(p.payload_bytes),
    "mbufs.stream_mbufs": lambda p: stream_mbufs(p.payload_bytes),
    "mbufs.stream_segments": lambda p: stream_segments(p.payload_bytes),
    "mbufs.freebsd_mbufs": lambda p: freebsd_mbufs(p.payload_bytes),
    "pftk.pftk_timeout_ratio": lambda p: timeout_share(p.window_packets, p.loss_ratio),
    "pftk.pftk_rate_pps": lambda p: pftk(
        p.loss_ratio, p.rtt_s, p.rto_s, p.max_window_packets, received=False
    ),
    "pftk.pftk_throughput_pps": lambda p: pftk(
        p.loss_ratio, p.rtt_s, p.rto_s, p.max_window_packets, received=True
    ),
    "queueing.packet_mix_wait_s": lambda p: (
        8 * (7 * 84**2 + 4 * 614**2 + 1538**2) / (7 * 84 + 4 * 614 + 1538) / p.bandwidth_bps
        * p.utilization / (2 * (1 - p.utilization))
    ),
    "serial_lines.bit_stuffing_ratio": lambda p: (
        p.ones_ratio**5 * (1 - p.ones_ratio) / (1 - p.ones_ratio**5)
    ),
    "serial_lines.byte_stuffing_ratio": lambda p: (p.control_count + 2) / 256,
    "serial_lines.sonet_line_bps": lambda p: p.sts_count * 51.84e6,
    "serial_lines.sonet_payload_bps": lambda p: (
        (87 * p.sts_count - np.maximum(p.sts_count / 3, 1)) * 576_000
    ),
    "sharing.aimd_utilization": lambda p: aimd_busy(p.buffer_bdp),
    "sharing.cubic_utilization": lambda p: cubic_busy(p.buffer_bdp),
    "short_transfers.sending_s": lambda p: sending(
        p.segments, 8 * p.packet_bytes / p.bandwidth_bps, p.base_rtt_s, 10, p.max_window_segments
    ),
    "short_transfers.static_transfer_s": lambda p: 2 * p.rtt_s + sending(
        p.payload_bytes / p.mss_bytes, 8 * p.mss_bytes / p.bandwidth_bps, p.rtt_s, 1, np.inf
    ),
    "short_transfers.fetch_s": lambda p: 2 * p.rtt_s + p.server_s + sending(
        p.payload_bytes / 1460, 8 * 1500 / p.bandwidth_bps, p.rtt_s, 10, np.inf
    ),
    "small_writes.nagle_may_send": lambda p: (p.payload_bytes > 0) & (
        (p.payload_bytes >= p.mss_bytes) | (p.unacked_bytes == 0)
        | (p.payload_bytes >= p.max_window_bytes / 2)
    ),
    "small_writes.minshall_may_send": lambda p: (
        (p.payload_bytes > 0) & ((p.payload_bytes >= p.mss_bytes) | (not p.unacked_small))
    ),
    "small_writes.tail_delay_s": lambda p: tail_delay(p.payload_bytes, p.rtt_s, p.delayed_ack_s),
    "small_writes.write_write_read_s": lambda p: p.rtt_s + np.maximum(0, p.rtt_s + 0.04),
    "store_and_forward.message_s": lambda p: message(
        p.segment_bytes, p.message_bytes, p.header_bytes
    ),
    "window.window_shift": lambda p: np.maximum(np.ceil(np.log2(p.window_bytes / 65535)), 0),
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
        some = {n: v[:2] if np.size(v) > 9 else v for n, v in given.items()}
        tried = np.asarray(equation(**some))
    except (TypeError, ValueError):
        return None
    if tried.dtype == object:  # it has constants of many digits: no bare numpy
        return None
    return lambda: equation(**given)


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def columns(result: object) -> list[Any]:
    """Return the arrays of a result of one column or several."""
    return [np.asarray(c) for c in (result if isinstance(result, tuple) else (result,))]


def are_close(ours: object, theirs: object) -> bool:
    """Return whether both give the same."""
    pairs = zip(columns(ours), columns(theirs), strict=True)
    return all(np.allclose(a[:1000], b[:1000], rtol=1e-6, equal_nan=True) for a, b in pairs)


def extra_arrays(function: Callable[[], object], points: int) -> float:
    """Return the most memory held beyond the result, in arrays of the input's size."""
    tracemalloc.start()
    result = function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    distinct = {id(column): column.nbytes for column in columns(result)}
    return (peak - sum(distinct.values())) / (8 * points)


def reason(name: str, *, takes_array: bool) -> str:
    """Return why a form has no bare expression."""
    return LEFT_OUT.get(name) or ("no reason is noted" if takes_array else LISTS)


def measure(formula: calculator.Formula, points: int) -> str:
    """Print one line; return what it was: within the limits, above them or left out."""
    arguments = spread(formula, 2)
    if arguments is None:
        print(f"{formula.name:46} left out: {reason(formula.name, takes_array=False)}")
        return "left out"
    has_bare = bare(formula.name, arguments) is not None
    points = points if has_bare else min(points, FEWER)
    arguments = spread(formula, points)
    assert arguments is not None
    by_hand = bare(formula.name, arguments)
    first, *others = (arguments[p.name] for p in formula.parameters)
    keywords = dict(zip((p.name for p in formula.parameters[1:]), others, strict=True))

    def model() -> object:
        return formula.function(first, **keywords)

    temporaries = extra_arrays(model, points)
    if by_hand is None:
        per_point = seconds(model) / points * 1e9
        print(
            f"{formula.name:46} left out: {reason(formula.name, takes_array=True)} "
            f"({per_point:.0f} ns a point, temporaries {temporaries:.2f})",
            flush=True,
        )
        return "left out"
    same = "" if are_close(model(), by_hand()) else " differs"
    pairs = [(seconds(model), seconds(by_hand)) for _ in range(RUNS)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / max(b, 1e-9) for a, b in pairs)
    is_above = ratio > LIMITS[0] or temporaries > LIMITS[1] + 0.05
    print(
        f"{formula.name:46} {ours * 1e3:7.1f} ms  bare {theirs * 1e3:7.1f} ms  ratio {ratio:5.2f}  "
        f"temporaries {temporaries:.2f}{' above' if is_above else ''}{same}",
        flush=True,
    )
    return "above" if is_above or same else "within"


def main() -> None:
    """Print the table, of all forms or of those named."""
    points = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    wanted = sys.argv[2:]
    print(f"{points:,} points, medians of {RUNS} calls in turn; load {os.getloadavg()[0]:.1f}")
    found: Counter[str] = Counter()
    for formula in calculator.formulas().values():
        if not wanted or any(word in formula.name for word in wanted):
            with np.errstate(all="ignore"):
                found[measure(formula, points)] += 1
    counts = ", ".join(f"{count} {what}" for what, count in found.items())
    print(f"{counts}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
