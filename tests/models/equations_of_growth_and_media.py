"""Independent expressions, in mpmath, of growth, availability, hosts, links and media.

Each is written from the equation of the model's docstring, not from its code.
"""

from __future__ import annotations

from mpmath import ceil, exp, expm1, floor, inf, log, log1p, mpf, nan, sqrt

YEAR = mpf(31_557_600)


def annual_growth(traffic_bps, earlier_traffic_bps, elapsed_s):
    if not traffic_bps:
        return mpf(-1)
    return exp(log(traffic_bps / earlier_traffic_bps) * YEAR / elapsed_s) - 1


def grown_traffic_bps(traffic_bps, annual_growth, elapsed_s):
    if annual_growth == -1:
        return mpf(0) if elapsed_s else traffic_bps
    return traffic_bps * exp(log(1 + annual_growth) * elapsed_s / YEAR)


def exhaustion_s(traffic_bps, capacity_bps, annual_growth, target_utilization):
    limit = capacity_bps * target_utilization
    if traffic_bps >= limit:
        return mpf(0)
    if annual_growth <= 0 or not traffic_bps:
        return inf
    return YEAR * log(limit / traffic_bps) / log(1 + annual_growth)


def linear_exhaustion_s(traffic_bps, capacity_bps, annual_increase_bps, target_utilization):
    limit = capacity_bps * target_utilization
    if traffic_bps >= limit:
        return mpf(0)
    return YEAR * (limit - traffic_bps) / annual_increase_bps if annual_increase_bps > 0 else inf


def k_of_n(availability_ratio, needed_count, unit_count):
    """The sum itself, or where one part of very many, or of few, is looked at, its limit."""
    a, k, n = availability_ratio, int(needed_count), int(unit_count)
    if k > n:
        return mpf(0)
    total, term = mpf(0), (1 - a) ** n
    for j in range(k):
        if a == 1:
            return mpf(1)
        total += term
        term *= mpf(n - j) / (j + 1) * a / (1 - a)
    return 1 - total


def failure_utilization(utilization, link_count, failed_count):
    if failed_count > link_count:
        return nan
    if failed_count == link_count:
        return inf if utilization else nan
    return utilization * link_count / (link_count - failed_count)


LANES = {"gen1": mpf(2.5e9) * 8 / 10, "gen2": mpf(5e9) * 8 / 10, "gen3": mpf(8e9) * 128 / 130,
         "gen4": mpf(16e9) * 128 / 130, "gen5": mpf(32e9) * 128 / 130}  # fmt: skip


def core_count(rate_pps, packet_cycles, clock_hz, target_utilization):
    if not rate_pps:
        return mpf(0)
    return ceil(rate_pps * packet_cycles / (target_utilization * clock_hz) * (1 - mpf(10) ** -12))


def shared_burst(buffer_bytes, input_bps, output_bps, alpha, queue_count):
    """The two cases, by whether the other queues can follow the falling threshold."""
    if input_bps <= output_bps:
        return inf
    growth = input_bps - output_bps
    others = queue_count * output_bps
    if alpha * (growth - others) > output_bps:
        start = alpha * buffer_bytes / (1 + alpha * queue_count)
        queue = start * growth / (growth + alpha * (growth - others))
    else:
        queue = alpha * buffer_bytes / (1 + alpha * (queue_count + 1))
    return queue * input_bps / growth


def incast_sender_count(buffer_bytes, burst_bytes, sender_bps, bandwidth_bps):
    if not burst_bytes:
        return inf
    count = buffer_bytes / burst_bytes + bandwidth_bps / sender_bps
    return floor(count * (1 + mpf(10) ** -12))


def load_cv(demand_bps, link_count):
    return sqrt((link_count - 1) * sum(r * r for r in demand_bps)) / sum(demand_bps)


def arq_cycle(packet_bytes, bandwidth_bps, rtt_s):
    return 1 + bandwidth_bps * rtt_s / (8 * packet_bytes)


def go_back_n(loss_ratio, window_packets, packet_bytes, bandwidth_bps, rtt_s):
    p, w, c = loss_ratio, window_packets, arq_cycle(packet_bytes, bandwidth_bps, rtt_s)
    if w >= c:
        return (1 - p) / (1 - p + c * p)
    return w * (1 - p) / (c * (1 - p + w * p))


def stations_efficiency(station_count, serialization_s, propagation_s):
    n = station_count
    won = exp((n - 1) * log1p(-1 / n)) if n > 1 else mpf(1)
    return serialization_s / (serialization_s + 2 * propagation_s * (1 - won) / won)


def aloha_stations(station_count, attempt_ratio):
    n, tau = station_count, attempt_ratio
    if not n:
        return mpf(0)
    if tau == 1:
        return mpf(1) if n == 1 else mpf(0)
    return n * tau * exp((n - 1) * log(1 - tau))


def page_load_s(
    object_count, rtt_s, object_bytes, page_bytes, bandwidth_bps, server_s, connection_count
):
    """HTTP/1.1 with TLS 1.3: two round trips to open."""
    if object_count <= 2:
        later = object_count
    else:
        later = max(ceil((object_count + (connection_count - 1) * 2) / connection_count), 2)
    sending = 8 * (page_bytes + object_count * object_bytes) / bandwidth_bps
    return (3 + later) * rtt_s + server_s + sending


def ofdm_s(frame_bytes, bandwidth_bps):
    symbols = (22 + 8 * frame_bytes) / (bandwidth_bps * mpf(4) / 10**6)
    return (20 + 4 * ceil(symbols)) / mpf(10) ** 6


def dsss_throughput_bps(packet_bytes, bandwidth_bps, ack_bps, contention_window):
    fixed = (50 + 10 * contention_window + 2 * 192 + 10) / mpf(10) ** 6
    return 8 * packet_bytes / (fixed + 8 * (packet_bytes + 34) / bandwidth_bps + 112 / ack_bps)


def ofdm_throughput_bps(packet_bytes, bandwidth_bps, ack_bps, contention_window):
    fixed = (34 + mpf(9) / 2 * contention_window + 16) / mpf(10) ** 6
    exchange = fixed + ofdm_s(packet_bytes + 36, bandwidth_bps) + ofdm_s(14, ack_bps)
    return 8 * packet_bytes / exchange


EQUATIONS = {
    "access.request_grant_s": lambda interval_s, propagation_s, processing_s:
        interval_s + 2 * propagation_s + processing_s,
    "access.request_grant_max_s": lambda interval_s, propagation_s, processing_s:
        2 * interval_s + 2 * propagation_s + processing_s,
    "access.ptm_wire_bytes": lambda packet_bytes, overhead_bytes: packet_bytes + overhead_bytes
        + ceil((packet_bytes + overhead_bytes) / 64),
    "access.ppp_efficiency_ratio": lambda packet_bytes, fcs_bytes, flag_bytes, stuffing_ratio:
        packet_bytes / ((packet_bytes + 4 + fcs_bytes) * (1 + stuffing_ratio) + flag_bytes),
    "access.hdlc_efficiency_ratio": lambda packet_bytes, header_bytes, fcs_bytes, flag_bytes,
    stuffing_ratio: packet_bytes
        / ((packet_bytes + header_bytes + fcs_bytes) * (1 + stuffing_ratio) + flag_bytes),
    "wifi.wifi_aggregate_bytes": lambda packet_count, packet_bytes:
        packet_count * (4 + 4 * ceil((packet_bytes + 38) / 4)),
    "wifi.ofdm_frame_s": ofdm_s,
    "wifi.dsss_frame_s": lambda frame_bytes, bandwidth_bps:
        192 / mpf(10) ** 6 + 8 * frame_bytes / bandwidth_bps,
    "wifi.ofdm_throughput_bps": ofdm_throughput_bps,
    "wifi.dsss_throughput_bps": dsss_throughput_bps,
    "arq.stop_and_wait_loss_utilization": lambda loss_ratio, packet_bytes, bandwidth_bps, rtt_s:
        (1 - loss_ratio) / arq_cycle(packet_bytes, bandwidth_bps, rtt_s),
    "arq.go_back_n_utilization": go_back_n,
    "arq.selective_repeat_utilization": lambda loss_ratio, window_packets, packet_bytes,
    bandwidth_bps, rtt_s: (1 - loss_ratio)
        * min(1, window_packets / arq_cycle(packet_bytes, bandwidth_bps, rtt_s)),
    "channel.nyquist_bps": lambda channel_hz, level_count:
        2 * channel_hz * log(level_count) / log(mpf(2)),
    "channel.shannon_bps": lambda channel_hz, snr_db:
        channel_hz * log(1 + exp(snr_db / 10 * log(mpf(10)))) / log(mpf(2)),
    "channel.shannon_snr_db": lambda bandwidth_bps, channel_hz:
        10 * log(expm1(bandwidth_bps / channel_hz * log(mpf(2)))) / log(mpf(10))
        if bandwidth_bps else -inf,
    "courier.courier_throughput_bps": lambda disk_count, disk_bytes, trip_s, load_bps,
    parallel_count: 8 * disk_count * disk_bytes / (
        trip_s + 16 * ceil(disk_count / parallel_count) * disk_bytes / load_bps),
    "courier.courier_break_even_bytes": lambda bandwidth_bps, trip_s, load_bps, parallel_count:
        trip_s / (8 / bandwidth_bps - 16 / (load_bps * parallel_count))
        if 2 * bandwidth_bps < load_bps * parallel_count else inf,
    "distribution.client_server_distribution_s": lambda peer_count, payload_bytes, server_bps,
    download_bps: max(8 * peer_count * payload_bytes / server_bps,
                      8 * payload_bytes / download_bps),
    "distribution.peer_to_peer_distribution_s": lambda peer_count, payload_bytes, server_bps,
    download_bps, upload_bps: max(
        8 * payload_bytes / server_bps, 8 * payload_bytes / download_bps,
        8 * peer_count * payload_bytes / (server_bps + peer_count * upload_bps)),
    "handshakes.page_load_s": page_load_s,
    "random_access.pure_aloha_utilization": lambda offered_attempts:
        offered_attempts * exp(-2 * offered_attempts),
    "random_access.slotted_aloha_utilization": lambda offered_attempts:
        offered_attempts * exp(-offered_attempts),
    "random_access.slotted_aloha_stations_utilization": aloha_stations,
    "random_access.csma_cd_efficiency_ratio": lambda serialization_s, propagation_s:
        1 / (1 + 5 * propagation_s / serialization_s),
    "random_access.csma_cd_stations_efficiency_ratio": stations_efficiency,
    "host_stack.cycle_budget": lambda rate_pps, clock_hz, core_count:
        clock_hz * core_count / rate_pps,
    "host_stack.core_rate_pps": lambda packet_cycles, clock_hz, core_count, target_utilization:
        target_utilization * clock_hz * core_count / packet_cycles,
    "host_stack.core_count": core_count,
    "hashing.fullest_link_approx_flows": lambda flow_count, link_count: flow_count / link_count
        + sqrt(2 * flow_count * log(link_count) / link_count),
    "hashing.hashed_load_cv": load_cv,
    "pcie.pcie_link_bps": lambda lane_count, generation: lane_count * LANES[generation],
    "pcie.pcie_write_bytes": lambda transfer_bytes, max_payload_bytes:
        transfer_bytes + 24 * ceil(transfer_bytes / max_payload_bytes),
    "pcie.pcie_read_bytes": lambda transfer_bytes, max_payload_bytes:
        transfer_bytes + 20 * ceil(transfer_bytes / max_payload_bytes),
    "pcie.pcie_write_throughput_bps": lambda transfer_bytes, bandwidth_bps, max_payload_bytes:
        bandwidth_bps * transfer_bytes
        / (transfer_bytes + 24 * ceil(transfer_bytes / max_payload_bytes)),
    "pcie.pcie_read_throughput_bps": lambda transfer_bytes, bandwidth_bps, max_payload_bytes,
    max_read_bytes: bandwidth_bps * transfer_bytes
        / max(transfer_bytes + 20 * ceil(transfer_bytes / max_payload_bytes),
              24 * ceil(transfer_bytes / max_read_bytes)),
    "shared_buffer.shared_queue_bytes": lambda buffer_bytes, alpha, queue_count:
        alpha * buffer_bytes / (1 + alpha * queue_count),
    "shared_buffer.free_buffer_bytes": lambda buffer_bytes, alpha, queue_count:
        buffer_bytes / (1 + alpha * queue_count),
    "shared_buffer.shared_buffer_burst_bytes": shared_burst,
    "shared_buffer.absorbed_burst_bytes": lambda buffer_bytes, input_bps, output_bps:
        buffer_bytes * input_bps / (input_bps - output_bps) if input_bps > output_bps else inf,
    "shared_buffer.incast_backlog_bytes": lambda sender_count, burst_bytes, sender_bps,
    bandwidth_bps: max(0, burst_bytes * (sender_count - bandwidth_bps / sender_bps)),
    "shared_buffer.incast_sender_count": incast_sender_count,
    "shared_buffer.incast_goodput_bps": lambda message_bytes, bandwidth_bps, rto_s, timeout_ratio:
        8 * message_bytes / (8 * message_bytes / bandwidth_bps + timeout_ratio * rto_s),
    "availability.availability_ratio": lambda mtbf_s, repair_s: mtbf_s / (mtbf_s + repair_s),
    "availability.series_availability_ratio": lambda availability_ratio: availability_ratio[0]
        * availability_ratio[1] * availability_ratio[2],
    "availability.parallel_availability_ratio": lambda availability_ratio: 1
        - (1 - availability_ratio[0]) * (1 - availability_ratio[1]) * (1 - availability_ratio[2]),
    "availability.k_of_n_availability_ratio": k_of_n,
    "availability.downtime_s": lambda availability_ratio, duration_s:
        (1 - availability_ratio) * duration_s,
    "availability.failure_utilization": failure_utilization,
    "availability.failure_safe_utilization": lambda link_count, failed_count, target_utilization:
        target_utilization * max(link_count - failed_count, 0) / link_count,
    "growth.annual_growth": annual_growth,
    "growth.grown_traffic_bps": grown_traffic_bps,
    "growth.exhaustion_s": exhaustion_s,
    "growth.linear_exhaustion_s": linear_exhaustion_s,
}  # fmt: skip
