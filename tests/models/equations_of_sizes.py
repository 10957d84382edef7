"""Independent expressions, in mpmath, of sizes on the wire, rates, delays and hosts.

Each is written from the equation of the model's docstring, not from its code.
"""

from __future__ import annotations

from itertools import pairwise

from mpmath import ceil, floor, mpf, sqrt

IP = {4: 20, 6: 40}
LIGHT_M_S = 299_792_458


def headers(ip_version, tcp_option_bytes):
    return IP[ip_version] + 20 + tcp_option_bytes


def frame(packet, tags=0, least=64):
    return max(least, packet + 18 + 4 * tags)


def wire(packet, tags=0):
    return frame(packet, tags) + 20


def cells(packet_bytes, encapsulation, extra_bytes):
    overhead = {"pppoa-vcmux": 2 + 8, "pppoe-llcsnap": 10 + 8 + 14 + 8}[encapsulation]
    return ceil((packet_bytes + extra_bytes + overhead) / 48)


def tunnel(packet, mtu):
    """WireGuard inside VXLAN, both over IPv4: the stack of the base arguments."""
    device_mtu = mtu - 50 - 60
    padded = 16 * ceil(packet / 16)
    return 50 + 60 + (min(padded, device_mtu) if packet <= device_mtu else padded)


def fragments(n, mtu_bytes, ip_version, ip_option_bytes, algorithm):
    """Count, room of all but the last, header of each, whether it was cut."""
    header = IP[ip_version] + ip_option_bytes
    if n <= mtu_bytes - header:
        return mpf(1), mpf(0), header
    header += 8 if ip_version == 6 else 0
    room = mtu_bytes - header
    cut = 8 * floor(room / 8)
    count = ceil(n / cut) if algorithm == "bsd" else 1 + ceil((n - room) / cut)
    return count, cut, header


def fragmented_wire_bytes(
    ip_payload_bytes, mtu_bytes, ip_version, ip_option_bytes, algorithm, tag_count
):
    n = ip_payload_bytes
    k, cut, header = fragments(n, mtu_bytes, ip_version, ip_option_bytes, algorithm)
    last = n - (k - 1) * cut
    return (k - 1) * wire(cut + header, tag_count) + wire(last + header, tag_count)


def fragments_bytes(ip_payload_bytes, mtu_bytes, ip_version, ip_option_bytes, algorithm):
    n = ip_payload_bytes
    k, cut, _ = fragments(n, mtu_bytes, ip_version, ip_option_bytes, algorithm)
    return [cut] * (int(k) - 1) + [n - (k - 1) * cut]


def fragmented_bytes(ip_payload_bytes, mtu_bytes, ip_version, ip_option_bytes, algorithm):
    n = ip_payload_bytes
    k, _, header = fragments(n, mtu_bytes, ip_version, ip_option_bytes, algorithm)
    return n + k * header


def datagram_mbufs(
    payload_bytes, header_bytes, inner_header_bytes, mlen_bytes, mhlen_bytes, minclsize_bytes,
    mcl_bytes, max_hdr_bytes, align_bytes, compare,
):  # fmt: skip
    """Filled one after the other, as the kernel does."""
    d = payload_bytes + inner_header_bytes
    takes = (lambda rest: rest >= minclsize_bytes) if compare == ">=" else (
        lambda rest: rest > minclsize_bytes
    )  # fmt: skip
    mbufs, clusters = mpf(1), mpf(0)
    if not takes(d):
        mbufs += ceil(max(d - mhlen_bytes, 0) / mlen_bytes)
        room = align_bytes * floor(max(mhlen_bytes - d, 0) / align_bytes)
        return mbufs + (room < header_bytes), clusters
    room = mcl_bytes - max_hdr_bytes
    clusters += 1
    d = max(d - room, 0)
    clusters += floor(d / mcl_bytes)
    d -= mcl_bytes * floor(d / mcl_bytes)
    if takes(d):
        clusters += 1
    else:
        mbufs += ceil(d / mlen_bytes)
    return mbufs + clusters, clusters


def stream_mbufs(payload_bytes, mhlen_bytes, minclsize_bytes, mcl_bytes, compare):
    clusters = floor(payload_bytes / mcl_bytes)
    rest = payload_bytes - clusters * mcl_bytes
    if rest > minclsize_bytes or (rest == minclsize_bytes and compare == ">="):
        return clusters + 1, clusters + 1, clusters + 1
    short = ceil(rest / mhlen_bytes)
    return clusters + short, clusters + short, clusters


def stream_segments(payload_bytes, mss_bytes, mhlen_bytes, minclsize_bytes, mcl_bytes, compare):
    long = payload_bytes > minclsize_bytes or (payload_bytes == minclsize_bytes and compare == ">=")
    first = min(payload_bytes, mcl_bytes if long else mhlen_bytes)
    return ceil(first / mss_bytes) + ceil((payload_bytes - first) / mss_bytes)


def freebsd_mbufs(payload_bytes, minclsize_bytes, mcl_bytes, page_bytes, max_hdr_bytes):
    d = max(payload_bytes + max_hdr_bytes, 1)
    pages = max(ceil((d - mcl_bytes) / page_bytes), 0)
    rest = d - pages * page_bytes
    return 1, pages + (rest > 0), pages + (rest > 0 and rest >= minclsize_bytes)


def transaction_s(
    payload_bytes, packet_cost, program_s, copy_cost, checksum_cost, mbuf_s, cluster_s, mtu_bytes,
    minclsize_bytes,
):  # fmt: skip
    """A UDP request and its reply: 2 packets, 2 programs, 4 copies, 4 checksums."""
    mbufs, clusters = datagram_mbufs(
        payload_bytes, 28, 0, 108, 100, minclsize_bytes, mpf(2048), 56, mpf(4), ">="
    )
    pieces, _, _ = fragments(payload_bytes + 8, mtu_bytes, 4, 0, "bsd")
    passes = payload_bytes * (4 * copy_cost + 4 * checksum_cost)
    memory = 2 * (mbufs * mbuf_s + clusters * cluster_s)
    return 2 * program_s + (2 + 2 * (pieces - 1)) * packet_cost + passes + memory


def store_and_forward_s(
    packet_bytes, bandwidth_bps, latency_s, processing_s, source_processing_s,
    destination_processing_s, packet_count, processing_kind, overhead_bytes, min_wire_bytes,
):  # fmt: skip
    stages = [
        8 * max(packet_bytes + added, least) / rate
        for rate, added, least in zip(bandwidth_bps, overhead_bytes, min_wire_bytes, strict=True)
    ]
    nodes = [source_processing_s, *processing_s, destination_processing_s]
    slowest = max(*stages, *nodes) if processing_kind == "serial" else max(stages)
    return sum(stages) + sum(latency_s) + sum(nodes) + (packet_count - 1) * slowest


def on_wire(frame_bytes, min_frame_bytes, overhead_bytes):
    """Bits of a frame on the wire, padded to the smallest of the medium."""
    return 8 * (max(frame_bytes, min_frame_bytes) + overhead_bytes)


def mean_frame(frame_bytes, weight, min_frame_bytes):
    padded = [max(size, min_frame_bytes) for size in frame_bytes]
    return sum(w * f for w, f in zip(weight, padded, strict=True)) / sum(weight)


def cut_through_s(
    frame_bytes, bandwidth_bps, latency_s, header_bytes, switch_latency_s, min_frame_bytes
):
    frame_bytes = max(frame_bytes, min_frame_bytes)
    total = 8 * frame_bytes / bandwidth_bps[-1] + sum(latency_s) + sum(switch_latency_s)
    for inward, outward in pairwise(bandwidth_bps):
        waited = frame_bytes if outward > inward else min(header_bytes, frame_bytes)
        total += 8 * waited / inward
    return total


def message_s(segment_bytes, message_bytes, bandwidth_bps, latency_s, header_bytes):
    """Segment by segment through link by link, the full ones but the first two by their pace."""
    segment = min(segment_bytes, message_bytes)
    count = ceil(message_bytes / segment)
    tail = message_bytes - (count - 1) * segment
    free_before = free = arrived = mpf(0)
    slowest = min(bandwidth_bps[:1])
    for link, rate in enumerate(bandwidth_bps):
        slowest = min(slowest, rate)
        full_s = 8 * (segment + header_bytes)
        if count > 1:
            path = sum(full_s / r for r in bandwidth_bps[: link + 1]) + sum(latency_s[:link])
            free_before = path + (count - 2) * full_s / slowest
        free = max(arrived, free_before) + 8 * (tail + header_bytes) / rate
        arrived = free + latency_s[link]
    return arrived


def interval_error_std_s(duration_s, tick_s):
    part = duration_s / tick_s - floor(duration_s / tick_s)
    # 1 / 0.01 are whole ticks, although 0.01 is no binary number.
    if min(part, 1 - part) <= mpf(2) ** -50 * (duration_s / tick_s):
        return mpf(0)
    return tick_s * sqrt(part * (1 - part))


def stuffing(ones_ratio):
    q = ones_ratio
    return 1 / sum(q**-k for k in range(1, 6)) if q else mpf(0)


def ppp(packet_bytes, fcs_bytes, flag_bytes, stuffing_ratio):
    return (packet_bytes + 4 + fcs_bytes) * (1 + stuffing_ratio) + flag_bytes


def sonet(sts_count):
    return (87 * sts_count - max(1, sts_count / 3)) * 9 * 8 * 8000


EQUATIONS = {
    "asymmetry.ack_limited_throughput_bps": lambda reverse_bandwidth_bps, ack_wire_bytes, mss_bytes,
    segments_per_ack: segments_per_ack * mss_bytes * reverse_bandwidth_bps / ack_wire_bytes,
    "asymmetry.ack_bandwidth_bps": lambda goodput_bps, ack_wire_bytes, mss_bytes,
    segments_per_ack: goodput_bps * ack_wire_bytes / (segments_per_ack * mss_bytes),
    "asymmetry.asymmetry_factor": lambda bandwidth_bps, reverse_bandwidth_bps, wire_bytes,
    ack_wire_bytes: (bandwidth_bps / wire_bytes) / (reverse_bandwidth_bps / ack_wire_bytes),
    "serial_lines.atm_overhead_bytes": lambda encapsulation:
        {"pppoe-llcsnap": mpf(40)}[encapsulation],
    "serial_lines.atm_cell_count": lambda packet_bytes, encapsulation, extra_bytes:
        cells(packet_bytes, encapsulation, extra_bytes),
    "serial_lines.atm_wire_bytes": lambda packet_bytes, encapsulation, extra_bytes:
        53 * cells(packet_bytes, encapsulation, extra_bytes),
    "serial_lines.atm_efficiency_ratio": lambda packet_bytes, encapsulation, extra_bytes:
        packet_bytes / (53 * cells(packet_bytes, encapsulation, extra_bytes)),
    "serial_lines.atm_packet_rate_pps":
        lambda packet_bytes, bandwidth_bps, encapsulation, extra_bytes:
        bandwidth_bps / (8 * 53 * cells(packet_bytes, encapsulation, extra_bytes)),
    "backlog.fluid_backlog_bytes": lambda duration_s, input_bps, output_bps:
        max(0, (input_bps - output_bps) * duration_s / 8),
    "backlog.fluid_fill_s": lambda buffer_bytes, input_bps, output_bps:
        8 * buffer_bytes / max(input_bps - output_bps, 0),
    "clock.reading_error_std_s": lambda tick_s: tick_s / sqrt(mpf(12)),
    "clock.interval_error_limit_s": lambda tick_s: tick_s,
    "clock.interval_error_std_s": interval_error_std_s,
    "clock.typical_interval_error_std_s": lambda tick_s: tick_s / sqrt(mpf(6)),
    "sample_statistics.ipdv_s": lambda transit_s:
        [b - a for a, b in pairwise(transit_s)],
    "sample_statistics.pdv_s": lambda transit_s: [t - min(transit_s) for t in transit_s],
    "small_writes.heartbeat_mean_s": lambda period_s: period_s / 2,
    "small_writes.heartbeat_wait_s": lambda arrival_s, period_s, phase_s:
        period_s - ((arrival_s - phase_s) - period_s * floor((arrival_s - phase_s) / period_s)),
    "small_writes.tick_timer_wait_s": lambda arrival_s, tick_count, tick_s:
        tick_s * (floor(arrival_s / tick_s) + tick_count + 1) - arrival_s,
    "encapsulation.tunnel_packet_bytes": lambda packet_bytes, mtu_bytes:
        tunnel(packet_bytes, mtu_bytes),
    "encapsulation.tunnel_wire_bytes": lambda packet_bytes, mtu_bytes, tag_count:
        wire(tunnel(packet_bytes, mtu_bytes), tag_count)
        if tunnel(packet_bytes, mtu_bytes) <= mtu_bytes else mpf("nan"),
    "encapsulation.tunnel_overhead_bytes": lambda packet_bytes, mtu_bytes:
        tunnel(packet_bytes, mtu_bytes) - packet_bytes,
    "encapsulation.tunnel_mtu_bytes": lambda mtu_bytes: mtu_bytes - 110,
    "encapsulation.tunnel_tcp_payload_bytes": lambda mtu_bytes, ip_version, tcp_option_bytes:
        mtu_bytes - 110 - headers(ip_version, tcp_option_bytes),
    "encapsulation.tunnel_udp_payload_bytes": lambda mtu_bytes, ip_version:
        mtu_bytes - 110 - IP[ip_version] - 8,
    "encapsulation.tunnel_goodput_bps": lambda mtu_bytes, bandwidth_bps, ip_version,
    tcp_option_bytes, tag_count: bandwidth_bps
        * (mtu_bytes - 110 - headers(ip_version, tcp_option_bytes)) / wire(mtu_bytes, tag_count),
    "vpn.esp_packet_bytes": lambda payload_bytes, ip_version:
        IP[ip_version] + 8 + 8 + 4 * ceil((payload_bytes + 2) / 4) + 16,
    "vpn.esp_payload_bytes": lambda mtu_bytes, ip_version:
        4 * floor((mtu_bytes - IP[ip_version] - 8 - 8 - 16) / 4) - 2,
    "forwarding.forwarding_rate_pps": lambda frame_bytes, device_pps, bandwidth_bps,
    overhead_bytes, min_frame_bytes:
        min(device_pps, bandwidth_bps / on_wire(frame_bytes, min_frame_bytes, overhead_bytes))
        if max(frame_bytes, min_frame_bytes) + overhead_bytes else device_pps,
    "forwarding.crossover_frame_bytes": lambda device_pps, bandwidth_bps, overhead_bytes,
    min_frame_bytes: bandwidth_bps / (8 * device_pps) - overhead_bytes
        if bandwidth_bps / (8 * device_pps) - overhead_bytes >= min_frame_bytes else mpf("nan"),
    "forwarding.device_byte_cost": lambda rate_pps, frame_bytes, other_rate_pps,
    other_frame_bytes, min_frame_bytes: (1 / other_rate_pps - 1 / rate_pps)
        / (max(other_frame_bytes, min_frame_bytes) - max(frame_bytes, min_frame_bytes)),
    "forwarding.device_packet_cost": lambda rate_pps, frame_bytes, other_rate_pps,
    other_frame_bytes, min_frame_bytes:
        1 / rate_pps - max(frame_bytes, min_frame_bytes) * (1 / other_rate_pps - 1 / rate_pps)
        / (max(other_frame_bytes, min_frame_bytes) - max(frame_bytes, min_frame_bytes)),
    "forwarding.affine_rate_pps": lambda frame_bytes, packet_cost, byte_cost, min_frame_bytes:
        1 / (packet_cost + byte_cost * max(frame_bytes, min_frame_bytes)),
    "forwarding.both_directions_pps": lambda rate_pps, segments_per_ack:
        rate_pps * (1 + 1 / segments_per_ack),
    "forwarding.switch_rate_pps": lambda frame_bytes, port_bps, port_count, overhead_bytes,
    min_frame_bytes: sum(n * r for n, r in zip(port_count, port_bps, strict=True))
        / on_wire(frame_bytes, min_frame_bytes, overhead_bytes),
    "fragmentation.min_mtu_bytes": lambda ip_version: {4: 68, 6: 1280}[ip_version],
    "fragmentation.fragment_count": lambda ip_payload_bytes, mtu_bytes, ip_version,
    ip_option_bytes, algorithm:
        fragments(ip_payload_bytes, mtu_bytes, ip_version, ip_option_bytes, algorithm)[0],
    "fragmentation.fragments_bytes": fragments_bytes,
    "fragmentation.fragmented_bytes": fragmented_bytes,
    "fragmentation.fragmented_wire_bytes": fragmented_wire_bytes,
    "framing.ethernet_frame_bytes": lambda packet_bytes, tag_count, min_frame_bytes:
        frame(packet_bytes, tag_count, min_frame_bytes),
    "framing.ethernet_wire_bytes": lambda packet_bytes, tag_count, min_frame_bytes,
    overhead_bytes: frame(packet_bytes, tag_count, min_frame_bytes) + overhead_bytes,
    "framing.captured_frame_bytes": lambda captured_bytes: max(64, captured_bytes + 4),
    "framing.captured_wire_bytes": lambda captured_bytes, overhead_bytes:
        max(64, captured_bytes + 4) + overhead_bytes,
    "framing.captured_tcp_payload_bytes": lambda captured_bytes, ip_version, tcp_option_bytes,
    tag_count: captured_bytes - 14 - 4 * tag_count - headers(ip_version, tcp_option_bytes),
    "framing.tcp_payload_bytes": lambda mtu_bytes, ip_version, tcp_option_bytes:
        mtu_bytes - headers(ip_version, tcp_option_bytes),
    "framing.udp_payload_bytes": lambda mtu_bytes, ip_version: mtu_bytes - IP[ip_version] - 8,
    "framing.udp_payload_limit_bytes": lambda ip_version: {4: 65507, 6: 65527}[ip_version],
    "goodput.tcp_goodput_ratio": lambda mtu_bytes, ip_version, tcp_option_bytes, tag_count:
        (mtu_bytes - headers(ip_version, tcp_option_bytes)) / wire(mtu_bytes, tag_count),
    "goodput.tcp_goodput_bps": lambda mtu_bytes, bandwidth_bps, ip_version, tcp_option_bytes,
    tag_count: bandwidth_bps
        * (mtu_bytes - headers(ip_version, tcp_option_bytes)) / wire(mtu_bytes, tag_count),
    "goodput.udp_goodput_ratio": lambda mtu_bytes, ip_version, tag_count:
        (mtu_bytes - IP[ip_version] - 8) / wire(mtu_bytes, tag_count),
    "goodput.udp_goodput_bps": lambda mtu_bytes, bandwidth_bps, ip_version, tag_count:
        bandwidth_bps * (mtu_bytes - IP[ip_version] - 8) / wire(mtu_bytes, tag_count),
    "goodput.tcp_ack_wire_bytes": lambda tcp_option_bytes, ip_version, tag_count:
        wire(headers(ip_version, tcp_option_bytes), tag_count),
    "goodput.ack_reverse_utilization": lambda segments_per_ack, mtu_bytes, ip_version,
    tcp_option_bytes, tag_count: wire(headers(ip_version, tcp_option_bytes), tag_count)
        / (segments_per_ack * wire(mtu_bytes, tag_count)),
    "goodput.half_duplex_goodput_bps": lambda mtu_bytes, bandwidth_bps, segments_per_ack,
    ip_version, tcp_option_bytes, tag_count: bandwidth_bps * segments_per_ack
        * (mtu_bytes - headers(ip_version, tcp_option_bytes))
        / (segments_per_ack * wire(mtu_bytes, tag_count)
           + wire(headers(ip_version, tcp_option_bytes), tag_count)),
    "host_stack.message_s": lambda payload_bytes, packet_cost, copy_cost, checksum_cost,
    packet_count, copy_count, checksum_count: packet_count * packet_cost
        + payload_bytes * (copy_count * copy_cost + checksum_count * checksum_cost),
    "host_stack.transaction_s": transaction_s,
    "host_stack.bulk_s": lambda payload_bytes, segment_bytes, packet_cost, byte_cost:
        ceil(payload_bytes / segment_bytes) * packet_cost + payload_bytes * byte_cost,
    "host_stack.two_point_costs": lambda elapsed_s, packet_count, payload_bytes: (
        (elapsed_s[0] * payload_bytes[1] - elapsed_s[1] * payload_bytes[0])
        / (packet_count[0] * payload_bytes[1] - packet_count[1] * payload_bytes[0]),
        (packet_count[0] * elapsed_s[1] - packet_count[1] * elapsed_s[0])
        / (packet_count[0] * payload_bytes[1] - packet_count[1] * payload_bytes[0])),
    "host_stack.delivered_goodput_bps": lambda write_count, lost_count, write_bytes, elapsed_s:
        8 * (write_count - lost_count) * write_bytes / elapsed_s,
    "latency.serialization_s": lambda wire_bytes, bandwidth_bps: 8 * wire_bytes / bandwidth_bps,
    "latency.propagation_s": lambda distance_m, speed_m_s: distance_m / speed_m_s,
    "latency.signal_speed_m_s": lambda refractive_index: LIGHT_M_S / refractive_index,
    "latency.satellite_rtt_s": lambda altitude_m: 4 * altitude_m / LIGHT_M_S,
    "latency.transfer_s": lambda payload_bytes, bandwidth_bps, latency_s:
        latency_s + 8 * payload_bytes / bandwidth_bps,
    "latency.arrived_bytes": lambda elapsed_s, bandwidth_bps, latency_s:
        max(0, (elapsed_s - latency_s) * bandwidth_bps / 8),
    "latency.transfer_bandwidth_bps": lambda transfer_s, payload_bytes, latency_s:
        8 * payload_bytes / (transfer_s - latency_s)
        if transfer_s >= latency_s else mpf("nan"),
    "latency.transfer_latency_s": lambda transfer_s, payload_bytes, bandwidth_bps:
        transfer_s - 8 * payload_bytes / bandwidth_bps
        if transfer_s >= 8 * payload_bytes / bandwidth_bps else mpf("nan"),
    "latency.half_rate_bytes": lambda latency_s, bandwidth_bps: latency_s * bandwidth_bps / 8,
    "latency.latency_share_ratio": lambda payload_bytes, bandwidth_bps, latency_s:
        latency_s / (latency_s + 8 * payload_bytes / bandwidth_bps),
    "latency.transfer_throughput_bps": lambda payload_bytes, bandwidth_bps, latency_s:
        8 * payload_bytes / (latency_s + 8 * payload_bytes / bandwidth_bps),
    "latency.echo_rtt_s": lambda payload_bytes, base_rtt_s, bandwidth_bps, header_bytes:
        base_rtt_s + 2 * 8 * (payload_bytes + header_bytes) / bandwidth_bps,
    "line_rate.frame_rate_pps": lambda frame_bytes, bandwidth_bps, overhead_bytes,
    min_frame_bytes: bandwidth_bps / on_wire(frame_bytes, min_frame_bytes, overhead_bytes),
    "line_rate.required_bandwidth_bps": lambda rate_pps, frame_bytes, overhead_bytes,
    min_frame_bytes: rate_pps * on_wire(frame_bytes, min_frame_bytes, overhead_bytes),
    "line_rate.frame_throughput_bps": lambda frame_bytes, bandwidth_bps, overhead_bytes,
    min_frame_bytes: bandwidth_bps * 8 * max(frame_bytes, min_frame_bytes)
        / on_wire(frame_bytes, min_frame_bytes, overhead_bytes),
    "line_rate.line_utilization": lambda rate_pps, frame_bytes, bandwidth_bps, overhead_bytes,
    min_frame_bytes:
        rate_pps * on_wire(frame_bytes, min_frame_bytes, overhead_bytes) / bandwidth_bps,
    "line_rate.payload_throughput_bps": lambda payload_bytes, wire_bytes, bandwidth_bps:
        bandwidth_bps * payload_bytes / wire_bytes
        if payload_bytes <= wire_bytes else mpf("nan"),
    "line_rate.mix_mean_frame_bytes": mean_frame,
    "line_rate.mix_rate_pps": lambda frame_bytes, weight, bandwidth_bps, overhead_bytes,
    min_frame_bytes: bandwidth_bps
        / (8 * (overhead_bytes + mean_frame(frame_bytes, weight, min_frame_bytes))),
    "mbufs.datagram_mbufs": datagram_mbufs,
    "mbufs.stream_mbufs": stream_mbufs,
    "mbufs.stream_segments": stream_segments,
    "mbufs.segment_mbufs": lambda payload_bytes, header_bytes, max_linkhdr_bytes, mhlen_bytes,
    data_mbuf_count: 1 + data_mbuf_count
        * (payload_bytes > mhlen_bytes - header_bytes - max_linkhdr_bytes),
    "mbufs.freebsd_mbufs": freebsd_mbufs,
    "probing.rtt_slope": lambda bandwidth_bps, reverse_bandwidth_bps:
        8 * sum(1 / r for r in (*bandwidth_bps, *reverse_bandwidth_bps)),
    "probing.rtt_intercept_s": lambda latency_s, bandwidth_bps, header_bytes:
        2 * sum(latency_s) + 16 * header_bytes * sum(1 / r for r in bandwidth_bps),
    "probing.hop_bandwidth_bps": lambda rtt_slope, previous_rtt_slope:
        8 / (rtt_slope - previous_rtt_slope)
        if rtt_slope >= previous_rtt_slope else mpf("nan"),
    "probing.pair_dispersion_s": lambda packet_bytes, bandwidth_bps:
        8 * packet_bytes / min(bandwidth_bps),
    "probing.pair_bandwidth_bps": lambda dispersion_s, packet_bytes:
        8 * packet_bytes / dispersion_s,
    "probing.train_rate_bps": lambda dispersion_s, packet_bytes, packet_count:
        (packet_count - 1) * 8 * packet_bytes / dispersion_s,
    "line_rate.goodput_rate_pps": lambda goodput_bps, payload_bytes:
        goodput_bps / (8 * payload_bytes),
    "line_rate.rate_goodput_bps": lambda rate_pps, payload_bytes: 8 * payload_bytes * rate_pps,
    "line_rate.goodput_wire_bps": lambda goodput_bps, payload_bytes, wire_bytes:
        goodput_bps * wire_bytes / payload_bytes
        if payload_bytes <= wire_bytes else mpf("nan"),
    "line_rate.header_bandwidth_bps": lambda payload_bytes, wire_bytes, bandwidth_bps:
        bandwidth_bps * (1 - payload_bytes / wire_bytes)
        if payload_bytes <= wire_bytes else mpf("nan"),
    "line_rate.constant_offset_rate_pps": lambda goodput_bps, frame_bytes, offset_bps,
    overhead_bytes, min_frame_bytes:
        (goodput_bps + offset_bps) / on_wire(frame_bytes, min_frame_bytes, overhead_bytes),
    "line_rate.stop_and_wait_utilization": lambda packet_bytes, bandwidth_bps, rtt_s:
        (8 * packet_bytes / bandwidth_bps) / (rtt_s + 8 * packet_bytes / bandwidth_bps),
    "line_rate.stop_and_wait_goodput_bps": lambda pair_count, payload_bytes, cycle_s,
    capacity_bps: min(capacity_bps, pair_count * 8 * payload_bytes / cycle_s),
    "line_rate.saturating_pair_count": lambda capacity_bps, payload_bytes, cycle_s:
        # 0.01 is no binary number: what is a last digit above a whole number is that number.
        ceil(capacity_bps * cycle_s / (8 * payload_bytes) * (1 - mpf(10) ** -15)),
    "serial_lines.bit_stuffing_ratio": stuffing,
    "serial_lines.byte_stuffing_ratio": lambda control_count: (2 + control_count) / mpf(256),
    "serial_lines.ppp_wire_bytes": ppp,
    "serial_lines.ppp_packet_rate_pps": lambda packet_bytes, bandwidth_bps, fcs_bytes, flag_bytes,
    stuffing_ratio:
        bandwidth_bps / (8 * ppp(packet_bytes, fcs_bytes, flag_bytes, stuffing_ratio)),
    "serial_lines.sonet_line_bps": lambda sts_count: mpf(51_840_000) * sts_count,
    "serial_lines.sonet_payload_bps": sonet,
    "serial_lines.pos_frame_rate_pps": lambda frame_bytes, sts_count:
        sonet(sts_count) / (8 * (frame_bytes + 1)),
    "serial_lines.channel_payload_bps": lambda channel_count: 64000 * channel_count,
    "store_and_forward.store_and_forward_s": store_and_forward_s,
    "store_and_forward.cut_through_s": cut_through_s,
    "store_and_forward.message_s": message_s,
    "store_and_forward.optimal_segment_bits": lambda message_bits, header_bits, link_count:
        sqrt(header_bits * message_bits / (link_count - 1)),
    "store_and_forward.equivalent_bandwidth_bps": lambda bandwidth_bps:
        1 / sum(1 / r for r in bandwidth_bps),
    "voice.rtp_header_bytes": lambda csrc_count, extension_bytes:
        12 + 4 * csrc_count + extension_bytes,
    "voice.codec_payload_bytes": lambda codec_bps, interval_s: codec_bps * interval_s / 8,
    "voice.voip_bandwidth_bps": lambda payload_bytes, interval_s, header_bytes, link_bytes,
    concurrent_count:
        concurrent_count * 8 * (payload_bytes + header_bytes + link_bytes) / interval_s,
    "voice.voip_call_count": lambda bandwidth_bps, payload_bytes, interval_s, header_bytes,
    link_bytes:
        floor(bandwidth_bps * interval_s / (8 * (payload_bytes + header_bytes + link_bytes))),
    "vpn.wireguard_overhead_bytes": lambda ip_version: IP[ip_version] + 8 + 32,
    "vpn.wireguard_packet_bytes": lambda packet_bytes, device_mtu_bytes, ip_version:
        IP[ip_version] + 8 + 32 + min(device_mtu_bytes, 16 * ceil(packet_bytes / 16))
        if packet_bytes <= device_mtu_bytes else mpf("nan"),
    "vpn.wireguard_mtu_bytes": lambda mtu_bytes, ip_version:
        mtu_bytes - IP[ip_version] - 8 - 32,
}  # fmt: skip
