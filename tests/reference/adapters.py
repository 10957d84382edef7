"""The models of the reference list, by name: each calls the public function of netcalc.

``ADAPTERS[model](**inputs)`` returns the expected quantity of a row of ``reference_values.csv``;
the keyword arguments are the keys of its ``inputs``. This file needs netcalc and numpy only, so
that other values of the same models can be run through it from anywhere.
"""

# ruff: noqa: A002  (the arguments are the names of the list, bytes and len among them)

from __future__ import annotations

import math
import re

from netcalc import units
from netcalc.models import (
    asymmetry,
    atm,
    cardwell,
    datagram_loss,
    delayed_ack,
    encapsulation,
    esp,
    forwarding,
    fragmentation,
    framing,
    goodput,
    handshakes,
    line_rate,
    mbufs,
    rate_reading,
    rfc6349,
    serial_lines,
    short_transfers,
    slow_start,
    small_writes,
    timers,
    voice,
    window,
    wireguard,
)

ADAPTERS = {}


def adapter(model):
    """Enter a function under the name of its reference model."""

    def enter(function):
        assert model not in ADAPTERS, f"{model} has two adapters"
        ADAPTERS[model] = function
        return function

    return enter


def option_bytes(timestamps):
    """Return the TCP options of a segment with or without timestamps."""
    return 12.0 if timestamps else 0.0


# --- framing ---


@adapter("ethernet.wire_bytes")
def ethernet_wire_bytes(payload_bytes, vlan_tags=0, min_frame_bytes=64, overhead_bytes=20):
    return float(
        framing.ethernet_wire_bytes(
            payload_bytes,
            tag_count=vlan_tags,
            min_frame_bytes=min_frame_bytes,
            overhead_bytes=overhead_bytes,
        )
    )


@adapter("capture.wire_bytes")
def capture_wire_bytes(captured_frame_bytes):
    return float(framing.captured_wire_bytes(captured_frame_bytes))


@adapter("capture.tcp_payload")
def capture_tcp_payload(captured_frame_bytes, ip_version=4, timestamps=False, vlan_tags=0):
    return float(
        framing.captured_tcp_payload_bytes(
            captured_frame_bytes,
            ip_version=ip_version,
            tcp_option_bytes=option_bytes(timestamps),
            tag_count=vlan_tags,
        )
    )


@adapter("tcp.mss_payload")
def tcp_mss_payload(mtu, ip_version=4, timestamps=False):
    return float(
        framing.tcp_payload_bytes(
            mtu, ip_version=ip_version, tcp_option_bytes=option_bytes(timestamps)
        )
    )


@adapter("udp.max_payload")
def udp_max_payload(ip_version=4):
    return float(framing.udp_payload_limit_bytes(ip_version))


# --- line rate ---


@adapter("ethernet.max_frame_rate")
def ethernet_max_frame_rate(frame_bytes, rate_bps, frame_includes_fcs=True, overhead_bytes=20):
    frame = frame_bytes if frame_includes_fcs else framing.captured_frame_bytes(frame_bytes)
    return float(
        line_rate.frame_rate_pps(frame, bandwidth_bps=rate_bps, overhead_bytes=overhead_bytes)
    )


@adapter("ethernet.max_frame_rate_floor")
def ethernet_max_frame_rate_floor(frame_bytes, rate_bps):
    return math.floor(line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=rate_bps))


@adapter("ethernet.max_frame_rate_tagged")
def ethernet_max_frame_rate_tagged(untagged_frame_bytes, rate_bps, vlan_tags=0):
    # Packets of this many bytes fill the untagged frame, so the tags come on top of it.
    frame = framing.ethernet_frame_bytes(untagged_frame_bytes - 18, tag_count=vlan_tags)
    return float(line_rate.frame_rate_pps(frame, bandwidth_bps=rate_bps))


@adapter("ethernet.l2_rate")
def ethernet_l2_rate(frame_bytes, rate_bps):
    return float(line_rate.frame_throughput_bps(frame_bytes, bandwidth_bps=rate_bps))


@adapter("ethernet.switch_forwarding_rate")
def ethernet_switch_forwarding_rate(ports, frame_bytes=64):
    counts, rates = zip(*ports, strict=True)
    return float(forwarding.switch_rate_pps(frame_bytes, port_bps=rates, port_count=counts))


@adapter("imix.average_frame")
def imix_average_frame(mix):
    sizes, weights = zip(*mix, strict=True)
    return float(line_rate.mix_mean_frame_bytes(sizes, weight=weights))


@adapter("imix.max_frame_rate")
def imix_max_frame_rate(mix, rate_bps):
    sizes, weights = zip(*mix, strict=True)
    return float(line_rate.mix_rate_pps(sizes, weight=weights, bandwidth_bps=rate_bps))


# --- goodput ---


@adapter("ethernet.tcp_goodput")
def ethernet_tcp_goodput(mtu, rate_bps, ip_version=4, timestamps=False, vlan_tags=0):
    return float(
        goodput.tcp_goodput_bps(
            mtu,
            bandwidth_bps=rate_bps,
            ip_version=ip_version,
            tcp_option_bytes=option_bytes(timestamps),
            tag_count=vlan_tags,
        )
    )


@adapter("ethernet.tcp_goodput_half_duplex")
def ethernet_tcp_goodput_half_duplex(
    mtu, rate_bps, ack_every=2, ip_version=4, timestamps=False, vlan_tags=0
):
    return float(
        goodput.half_duplex_goodput_bps(
            mtu,
            bandwidth_bps=rate_bps,
            segments_per_ack=ack_every,
            ip_version=ip_version,
            tcp_option_bytes=option_bytes(timestamps),
            tag_count=vlan_tags,
        )
    )


@adapter("ethernet.ack_reverse_utilisation")
def ethernet_ack_reverse_utilisation(
    mtu, rate_bps=None, ack_every=2, ip_version=4, timestamps=False, vlan_tags=0
):
    # A share of two rates that are equal: rate_bps cancels.
    return float(
        goodput.ack_reverse_utilization(
            ack_every,
            mtu_bytes=mtu,
            ip_version=ip_version,
            tcp_option_bytes=option_bytes(timestamps),
            tag_count=vlan_tags,
        )
    )


@adapter("ethernet.udp_goodput")
def ethernet_udp_goodput(frame_bytes, rate_bps, ip_version=4, vlan_tags=0):
    packet_bytes = frame_bytes - 18 - 4 * vlan_tags
    return float(
        goodput.udp_goodput_bps(
            packet_bytes, bandwidth_bps=rate_bps, ip_version=ip_version, tag_count=vlan_tags
        )
    )


@adapter("ethernet.udp_max_goodput")
def ethernet_udp_max_goodput(mtu, rate_bps, ip_version=4, vlan_tags=0):
    return float(
        goodput.udp_goodput_bps(
            mtu, bandwidth_bps=rate_bps, ip_version=ip_version, tag_count=vlan_tags
        )
    )


# --- forwarding devices ---


@adapter("device.forwarding_rate")
def device_forwarding_rate(frame_bytes, pps_limit, rate_bps):
    return float(
        forwarding.forwarding_rate_pps(frame_bytes, device_pps=pps_limit, bandwidth_bps=rate_bps)
    )


@adapter("device.crossover_frame")
def device_crossover_frame(pps_limit, rate_bps, frame_bytes_query=None):
    return float(forwarding.crossover_frame_bytes(pps_limit, bandwidth_bps=rate_bps))


@adapter("device.affine_cost")
def device_affine_cost(pps1, size1, pps2, size2):
    points = {"frame_bytes": size1, "other_rate_pps": pps2, "other_frame_bytes": size2}
    return [
        float(forwarding.device_packet_cost(pps1, **points)),
        float(forwarding.device_byte_cost(pps1, **points)),
    ]


@adapter("device.pps_from_goodput")
def device_pps_from_goodput(goodput_bps, payload_bytes):
    return float(rate_reading.goodput_rate_pps(goodput_bps, payload_bytes=payload_bytes))


@adapter("stop_and_wait.utilisation")
def stop_and_wait_utilisation(packet_bytes, rate_bps, prop_rtt_s):
    return float(
        rate_reading.stop_and_wait_utilization(
            packet_bytes, bandwidth_bps=rate_bps, rtt_s=prop_rtt_s
        )
    )


@adapter("stop_and_wait.parallel")
def stop_and_wait_parallel(flows, payload_bytes, cycle_s, capacity_bps):
    return float(
        rate_reading.stop_and_wait_goodput_bps(
            flows, payload_bytes=payload_bytes, cycle_s=cycle_s, capacity_bps=capacity_bps
        )
    )


# --- encapsulation ---


@adapter("encap.overhead")
def encap_overhead(kind):
    return float(encapsulation.tunnel_overhead_bytes(0, stack=kind))


@adapter("encap.inner_ip_mtu")
def encap_inner_ip_mtu(kind, outer_ip_mtu=1500):
    return float(encapsulation.tunnel_mtu_bytes(outer_ip_mtu, stack=kind))


@adapter("encap.tcp_mss")
def encap_tcp_mss(kind, outer_ip_mtu=1500, inner_ip_version=4, timestamps=False):
    return float(
        encapsulation.tunnel_tcp_payload_bytes(
            outer_ip_mtu,
            stack=kind,
            ip_version=inner_ip_version,
            tcp_option_bytes=option_bytes(timestamps),
        )
    )


@adapter("encap.esp_packet_size")
def encap_esp_packet_size(
    suite,
    mode="tunnel",
    nat_t=False,
    outer_ip_version=4,
    inner_ip_bytes=None,
    ip_payload_bytes=None,
):
    protected = inner_ip_bytes if mode == "tunnel" else ip_payload_bytes
    return float(
        esp.esp_packet_bytes(
            protected, suite=suite, ip_version=outer_ip_version, nat_traversal=nat_t
        )
    )


@adapter("encap.esp_max_inner")
def encap_esp_max_inner(suite, outer_ip_mtu, mode="tunnel", nat_t=False, outer_ip_version=4):
    # In transport mode: the largest part behind the IP header, as esp_packet_size takes it.
    return float(
        esp.esp_payload_bytes(
            outer_ip_mtu, suite=suite, ip_version=outer_ip_version, nat_traversal=nat_t
        )
    )


@adapter("encap.wireguard_fixed_overhead")
def encap_wireguard_fixed_overhead(outer_ip_version=4):
    return float(wireguard.wireguard_overhead_bytes(outer_ip_version))


@adapter("encap.wireguard_packet_size")
def encap_wireguard_packet_size(inner_ip_bytes, device_mtu=1420, outer_ip_version=4):
    return float(
        wireguard.wireguard_packet_bytes(
            inner_ip_bytes, device_mtu_bytes=device_mtu, ip_version=outer_ip_version
        )
    )


# --- ATM and serial lines ---


@adapter("atm.overhead_before_cells")
def atm_overhead_before_cells(encap):
    return float(atm.atm_overhead_bytes(encap))


@adapter("atm.wire_bytes")
def atm_wire_bytes(ip_bytes, encap="none", overhead_bytes=0):
    return float(atm.atm_wire_bytes(ip_bytes, encapsulation=encap, extra_bytes=overhead_bytes))


@adapter("atm.efficiency")
def atm_efficiency(ip_bytes, encap="none", overhead_bytes=0):
    return float(
        atm.atm_efficiency_ratio(ip_bytes, encapsulation=encap, extra_bytes=overhead_bytes)
    )


@adapter("atm.cell_tax")
def atm_cell_tax():
    return 1.0 - float(atm.atm_efficiency_ratio(48, encapsulation="none"))


@adapter("ppp.byte_stuffing_expected")
def ppp_byte_stuffing_expected(accm="00000000", data="random"):
    assert data == "random", data
    escaped_controls = int(accm, 16).bit_count()
    return float(serial_lines.byte_stuffing_ratio(escaped_controls))


@adapter("hdlc.bit_stuffing_expected")
def hdlc_bit_stuffing_expected(data="random"):
    return float(serial_lines.bit_stuffing_ratio({"random": 0.5, "ones": 1.0, "zeros": 0.0}[data]))


@adapter("hdlc.bit_stuffing_worst")
def hdlc_bit_stuffing_worst():
    return float(serial_lines.bit_stuffing_ratio(1.0))


def sts_count(signal):
    """Return N of OC-Nc, STS-Nc, or of what STM-N is in those."""
    family, number = re.fullmatch(r"(OC|STS|STM)-?(\d+)[cC]?", signal.strip()).groups()
    return int(number) * (3 if family == "STM" else 1)


@adapter("sonet.line_rate")
def sonet_line_rate(signal):
    return float(serial_lines.sonet_line_bps(sts_count(signal)))


@adapter("sonet.payload_rate")
def sonet_payload_rate(signal):
    return float(serial_lines.sonet_payload_bps(sts_count(signal)))


@adapter("pos.max_frame_rate")
def pos_max_frame_rate(frame_bytes, signal):
    return float(serial_lines.pos_frame_rate_pps(frame_bytes, sts_count=sts_count(signal)))


@adapter("t1.payload_rate")
def t1_payload_rate():
    return float(serial_lines.channel_payload_bps(24))


@adapter("e1.payload_rate")
def e1_payload_rate():
    return float(serial_lines.channel_payload_bps(31))


@adapter("t3.line_rate")
def t3_line_rate():
    return units.line("T3").exact_bps


@adapter("t3.payload_rate")
def t3_payload_rate(framing="M13/C-bit"):
    return units.line("T3").payload_bps


@adapter("rfc6349.max_fps_t3")
def rfc6349_max_fps_t3(mtu=1500, rate_bps=44.21e6, ppp_overhead_bytes=8):
    return float(
        line_rate.frame_rate_pps(mtu, bandwidth_bps=rate_bps, overhead_bytes=ppp_overhead_bytes)
    )


@adapter("rfc6349.max_tcp_throughput")
def rfc6349_max_tcp_throughput(mtu, rate_bps, ip_version=4, timestamps=False, link="Ethernet"):
    if "PPP" not in link:
        return ethernet_tcp_goodput(mtu, rate_bps, ip_version, timestamps)
    packets_pps = serial_lines.ppp_packet_rate_pps(mtu, bandwidth_bps=rate_bps)
    payload = tcp_mss_payload(mtu, ip_version, timestamps)
    return float(rate_reading.rate_goodput_bps(packets_pps, payload_bytes=payload))


# --- IP fragmentation ---


@adapter("ip.min_link_mtu")
def ip_min_link_mtu(ip_version=4):
    return float(fragmentation.min_mtu_bytes(ip_version))


@adapter("ip.fragment_count")
def ip_fragment_count(udp_payload_bytes, mtu, ip_version=4, ip_options=0, algorithm="rfc791"):
    return int(
        fragmentation.fragment_count(
            udp_payload_bytes + 8,
            mtu_bytes=mtu,
            ip_version=ip_version,
            ip_option_bytes=ip_options,
            algorithm=algorithm,
        )
    )


@adapter("ip.fragment_sizes_algo")
def ip_fragment_sizes_algo(ip_payload_bytes, mtu, algorithm="rfc791", ip_version=4, ip_options=0):
    sizes = fragmentation.fragments_bytes(
        ip_payload_bytes,
        mtu_bytes=mtu,
        ip_version=ip_version,
        ip_option_bytes=ip_options,
        algorithm=algorithm,
    )
    return [int(size) for size in sizes]


@adapter("ip.fragment_sizes")
def ip_fragment_sizes(udp_payload_bytes, mtu, ip_version=4, ip_options=0, algorithm="rfc791"):
    return ip_fragment_sizes_algo(udp_payload_bytes + 8, mtu, algorithm, ip_version, ip_options)


@adapter("ip.wire_bytes_l3")
def ip_wire_bytes_l3(udp_payload_bytes, mtu, ip_version=4, ip_options=0, algorithm="rfc791"):
    return float(
        fragmentation.fragmented_bytes(
            udp_payload_bytes + 8,
            mtu_bytes=mtu,
            ip_version=ip_version,
            ip_option_bytes=ip_options,
            algorithm=algorithm,
        )
    )


@adapter("ip.datagram_loss")
def ip_datagram_loss(fragment_loss, fragments):
    return float(datagram_loss.datagram_loss_ratio(fragment_loss, fragments=fragments))


# --- voice ---


@adapter("voip.bandwidth")
def voip_bandwidth(codec_payload_bytes, packet_interval_s=0.02, rtp_udp_ip=40, l2_bytes=18):
    return float(
        voice.voip_bandwidth_bps(
            codec_payload_bytes,
            interval_s=packet_interval_s,
            header_bytes=rtp_udp_ip,
            link_bytes=l2_bytes,
        )
    )


# --- windows, handshakes, slow start ---


@adapter("bdp.bits")
def bdp_bits(rate_bps, rtt_s):
    return 8 * bdp_bytes(rate_bps, rtt_s)


@adapter("bdp.bytes")
def bdp_bytes(rate_bps, rtt_s):
    return float(window.bdp_bytes(rtt_s, bandwidth_bps=rate_bps))


@adapter("bdp.kib_rounded")
def bdp_kib_rounded(rate_bps, rtt_s):
    return round(bdp_bytes(rate_bps, rtt_s) / 2**10)


@adapter("bdp.mib_rounded")
def bdp_mib_rounded(rate_bps, rtt_s):
    return round(bdp_bytes(rate_bps, rtt_s) / 2**20, 1)


@adapter("bdp.packets")
def bdp_packets(rate_bps, rtt_s, packet_bytes):
    return float(window.bdp_packets(rtt_s, bandwidth_bps=rate_bps, packet_bytes=packet_bytes))


@adapter("window.throughput")
def window_throughput(window_bytes, rtt_s):
    return float(window.throughput_bps(window_bytes, rtt_s=rtt_s))


@adapter("window.throughput_capped")
def window_throughput_capped(window_bytes, rtt_s, rate_bps):
    return float(window.throughput_bps(window_bytes, rtt_s=rtt_s, bandwidth_bps=rate_bps))


@adapter("window.throughput_serialised")
def window_throughput_serialised(window_packets, packet_bytes, rate_bps, prop_rtt_s):
    return float(
        window.serialized_throughput_bps(
            window_packets,
            packet_bytes=packet_bytes,
            bandwidth_bps=rate_bps,
            base_rtt_s=prop_rtt_s,
        )
    )


@adapter("tcp.window_scale_needed")
def tcp_window_scale_needed(window_bytes):
    # The list counts "at most 14"; netcalc says nan where 14 is not enough.
    shift = float(window.window_shift(window_bytes))
    return 14.0 if math.isnan(shift) else shift


@adapter("tcp.seq_wrap_time")
def tcp_seq_wrap_time(rate_bps, space=2**32):
    return float(window.sequence_wrap_s(rate_bps, sequence_space_bytes=space))


@adapter("tcp.ack_limited_throughput")
def tcp_ack_limited_throughput(reverse_bps, ack_wire_bytes, mss, segments_per_ack=2):
    return float(
        asymmetry.ack_limited_throughput_bps(
            reverse_bps,
            ack_wire_bytes=ack_wire_bytes,
            mss_bytes=mss,
            segments_per_ack=segments_per_ack,
        )
    )


HANDSHAKE_NAMES = {  # names of the list -> names of netcalc, where they differ
    "t/tcp": "ttcp",
    "tfo_cookie": "tfo",
    "tls1.2_full": "tls1.2",
    "tls1.2_resumed": "tls1.2_resume",
    "tls1.2_abbreviated": "tls1.2_resume",
    "tls1.3_full": "tls1.3",
    "tls1.3_psk": "tls1.3_resume",
    "tls1.3_resumed": "tls1.3_resume",
    "tcp_3whs": "tcp_handshake",
}


def handshake_names(protocol):
    transport, _, security = protocol.partition("+")
    transport = HANDSHAKE_NAMES.get(transport, transport)
    return {
        "transport": transport,
        "security": HANDSHAKE_NAMES.get(security, security) or "none",
    }


@adapter("handshake.rtts_to_first_byte")
def handshake_rtts_to_first_byte(protocol):
    names = handshake_names(protocol)
    return float(handshakes.round_trips(names["transport"], security=names["security"]))


@adapter("handshake.time_to_first_byte")
def handshake_time_to_first_byte(protocol, rtt_s, server_s=0.0):
    return float(handshakes.first_byte_s(rtt_s, server_s=server_s, **handshake_names(protocol)))


@adapter("handshake.segments")
def handshake_segments(exchange):
    ladder = exchange.removesuffix("_min")
    return float(handshakes.segments(HANDSHAKE_NAMES.get(ladder, ladder)))


@adapter("http.fetch_time_latency_only")
def http_fetch_time_latency_only(
    bytes, rtt_s, initial_window=10, mss=1460, handshake_rtts=1, server_s=0.0, rate_bps=None
):
    return float(
        short_transfers.fetch_s(
            bytes,
            rtt_s=rtt_s,
            mss_bytes=mss,
            initial_window_segments=initial_window,
            handshake_round_trips=handshake_rtts,
            server_s=server_s,
            bandwidth_bps=math.inf if rate_bps is None else rate_bps,
        )
    )


@adapter("slowstart.rounds")
def slowstart_rounds(segments, initial_window, growth=2):
    return float(slow_start.rounds(segments, initial_window_segments=initial_window, growth=growth))


@adapter("slowstart.rounds_delayed_ack")
def slowstart_rounds_delayed_ack(segments, initial_window, rule="cwnd += ceil(cwnd/2) per round"):
    per_ack = int(re.fullmatch(r"cwnd \+= ceil\(cwnd/(\d+)\) per round", rule)[1])
    return float(
        slow_start.rounds_delayed_ack(
            segments, initial_window_segments=initial_window, segments_per_ack=per_ack
        )
    )


@adapter("slowstart.time_to_window")
def slowstart_time_to_window(window_bytes, rtt_s, mss, initial_window, growth=2):
    return float(
        slow_start.window_growth_s(
            window_bytes,
            rtt_s=rtt_s,
            mss_bytes=mss,
            initial_window_segments=initial_window,
            growth=growth,
        )
    )


@adapter("slowstart.latency_static")
def slowstart_latency_static(object_bits, segment_bits, rate_bps, rtt_s, initial_window=1):
    return float(
        short_transfers.static_transfer_s(
            object_bits / 8,
            rtt_s=rtt_s,
            bandwidth_bps=rate_bps,
            mss_bytes=segment_bits / 8,
            initial_window_segments=initial_window,
        )
    )


@adapter("slowstart.time_rate_limited")
def slowstart_time_rate_limited(
    segments, packet_bytes, rate_bps, prop_rtt_s, initial_window, growth=2
):
    return float(
        short_transfers.sending_s(
            segments,
            packet_bytes=packet_bytes,
            bandwidth_bps=rate_bps,
            base_rtt_s=prop_rtt_s,
            initial_window_segments=initial_window,
            growth=growth,
        )
    )


@adapter("tcp.initial_window_rfc3390")
def tcp_initial_window_rfc3390(mss):
    return float(slow_start.initial_window_bytes(mss, rfc="rfc3390"))


@adapter("tcp.initial_window_rfc5681_segments")
def tcp_initial_window_rfc5681_segments(mss):
    return float(slow_start.initial_window_bytes(mss, rfc="rfc5681")) / mss


@adapter("tcp.initial_window_rfc6928")
def tcp_initial_window_rfc6928(mss):
    return float(slow_start.initial_window_bytes(mss, rfc="rfc6928"))


@adapter("cardwell.handshake_time")
def cardwell_handshake_time(rtt_s, loss_forward, loss_reverse, syn_timeout_s):
    return float(
        cardwell.handshake_s(
            rtt_s,
            forward_loss_ratio=loss_forward,
            reverse_loss_ratio=loss_reverse,
            syn_timeout_s=syn_timeout_s,
        )
    )


@adapter("cardwell.ss_segments")
def cardwell_ss_segments(segments, loss, plus_one=False):
    return float(cardwell.slow_start_segments(segments, loss_ratio=loss, count_lost=plus_one))


@adapter("cardwell.ss_time")
def cardwell_ss_time(ss_segments, rtt_s, initial_window, wmax=math.inf, b=2):
    return float(
        cardwell.slow_start_s(
            ss_segments,
            rtt_s=rtt_s,
            initial_window_segments=initial_window,
            max_window_segments=wmax,
            segments_per_ack=b,
        )
    )


# --- the throughput test of RFC 6349 ---


@adapter("rfc6349.ideal_transfer_time")
def rfc6349_ideal_transfer_time(bytes, throughput_bps):
    return float(rfc6349.ideal_transfer_s(bytes, throughput_bps=throughput_bps))


@adapter("rfc6349.transfer_time_ratio")
def rfc6349_transfer_time_ratio(actual_s, ideal_s):
    return float(rfc6349.transfer_time_factor(actual_s, ideal_s=ideal_s))


@adapter("rfc6349.tcp_efficiency")
def rfc6349_tcp_efficiency(transmitted_bytes, retransmitted_bytes):
    return 100 * float(
        rfc6349.efficiency_ratio(transmitted_bytes, retransmitted_bytes=retransmitted_bytes)
    )


@adapter("rfc6349.buffer_delay")
def rfc6349_buffer_delay(average_rtt_s, baseline_rtt_s):
    return 100 * float(rfc6349.buffer_delay_factor(average_rtt_s, base_rtt_s=baseline_rtt_s))


# --- timers ---


@adapter("rto.srtt")
def rto_srtt(samples_s):
    return float(timers.rto_estimate(samples_s).srtt_s[-1])


@adapter("rto.rttvar")
def rto_rttvar(samples_s):
    return float(timers.rto_estimate(samples_s).rttvar_s[-1])


@adapter("rto.rto")
def rto_rto(samples_s, granularity_s=0.0, min_s=1.0, max_s=60.0):
    estimate = timers.rto_estimate(
        samples_s, granularity_s=granularity_s, min_rto_s=min_s, max_rto_s=max_s
    )
    return float(estimate.rto_s[-1])


@adapter("rto.backoff")
def rto_backoff(initial_s, timeouts, max_s=60.0):
    return float(timers.backoff_s(timeouts, initial_rto_s=initial_s, max_rto_s=max_s))


@adapter("tcp.syn_give_up_time")
def tcp_syn_give_up_time(retries, initial_rto_s=1.0, linear_timeouts=0):
    return float(
        timers.give_up_s(retries, initial_rto_s=initial_rto_s, linear_count=linear_timeouts)
    )


@adapter("tcp.syn_last_retransmission")
def tcp_syn_last_retransmission(retries, initial_rto_s=1.0, linear_timeouts=0):
    return float(
        timers.last_retransmission_s(
            retries, initial_rto_s=initial_rto_s, linear_count=linear_timeouts
        )
    )


DELAYED_ACK_CONSTANTS = {  # those that are no time of a system
    "bsd44_heartbeat": delayed_ack.SYSTEMS["bsd44"].longest_s,
    "linux_ato_min": delayed_ack.LINUX_ATO_MIN_S,
    "linux_max_quickacks": delayed_ack.LINUX_MAX_QUICKACKS,
    "linux_init_cwnd": delayed_ack.LINUX_INITIAL_WINDOW_SEGMENTS,
    "linux_initial_rto": timers.LINUX_TIMERS["initial_rto_s"],
    "linux_rto_min": timers.LINUX_TIMERS["min_rto_s"],
    "linux_rto_max": timers.LINUX_TIMERS["max_rto_s"],
    "linux_syn_retries": timers.LINUX_TIMERS["retry_count"],
    "linux_syn_linear_timeouts": timers.LINUX_TIMERS["linear_count"],
    "windows_ack_every": delayed_ack.SYSTEMS["windows_2000"].every_segments,
    "rfc1122_every_full_segments": delayed_ack.SYSTEMS["rfc1122"].every_segments,
}
STATISTICS = {"_min": "shortest", "_max": "longest", "_mean": "mean"}


@adapter("delayed_ack.constant")
def delayed_ack_constant(name):
    if name in DELAYED_ACK_CONSTANTS:
        return DELAYED_ACK_CONSTANTS[name]
    if name == "cardwell_bsd_mean":
        return float(delayed_ack.heartbeat_mean_s(0.2))
    for ending, statistic in STATISTICS.items():
        if name.endswith(ending):
            system = name.removesuffix(ending)
            return float(delayed_ack.delayed_ack_s(system, statistic=statistic))
    return float(delayed_ack.delayed_ack_s(name, statistic="longest"))


@adapter("delayed_ack.heartbeat_mean")
def delayed_ack_heartbeat_mean(period_s):
    return float(delayed_ack.heartbeat_mean_s(period_s))


# --- small writes ---


@adapter("nagle.may_send")
def nagle_may_send(len, mss, unacked, nodelay=False):
    return bool(
        small_writes.nagle_may_send(len, mss_bytes=mss, unacked_bytes=unacked, nodelay=nodelay)
    )


@adapter("nagle.minshall_may_send")
def nagle_minshall_may_send(len, mss, unacked_small, unacked=0, nodelay=False):
    return bool(
        small_writes.minshall_may_send(
            len, mss_bytes=mss, unacked_small=unacked_small and unacked > 0, nodelay=nodelay
        )
    )


@adapter("nagle.tail_delay")
def nagle_tail_delay(write_bytes, mss, rtt_s, delayed_ack_s, ack_every=2, variant="classic"):
    return float(
        small_writes.tail_delay_s(
            write_bytes,
            rtt_s=rtt_s,
            delayed_ack_s=delayed_ack_s,
            mss_bytes=mss,
            segments_per_ack=ack_every,
            policy="nagle" if variant == "classic" else variant,
        )
    )


@adapter("nagle.write_write_read")
def nagle_write_write_read(
    rtt_s, delayed_ack_s, nagle=True, receiver_quickack=False, write_gap_s=0.0
):
    return float(
        small_writes.write_write_read_s(
            rtt_s,
            delayed_ack_s=delayed_ack_s,
            nagle=nagle,
            quickack=receiver_quickack,
            write_gap_s=write_gap_s,
        )
    )


# --- mbufs ---


MBUF_SYSTEMS = {
    "4.4BSD": mbufs.BSD44,
    "4.4BSD ILP32": mbufs.BSD44,
    "4.4BSD-Lite2 i386": mbufs.BSD44_LITE2_I386,
    "FreeBSD": mbufs.FREEBSD_LP64,
    "FreeBSD LP64": mbufs.FREEBSD_LP64,
}


@adapter("mbuf.constant")
def mbuf_constant(name, system):
    field = {"mclbytes": "mcl"}.get(name.lower(), name.lower())
    return getattr(MBUF_SYSTEMS[system], f"{field}_bytes")


@adapter("mbuf.udp_send")
def mbuf_udp_send(
    bytes,
    header_bytes=28,
    inner_header_bytes=0,
    minclsize=208,
    mclbytes=2048,
    max_hdr=56,
    compare=">=",
):
    count = mbufs.datagram_mbufs(
        bytes,
        header_bytes=header_bytes,
        inner_header_bytes=inner_header_bytes,
        minclsize_bytes=minclsize,
        mcl_bytes=mclbytes,
        max_hdr_bytes=max_hdr,
        compare=compare,
    )
    return [int(count.mbufs), int(count.clusters)]


@adapter("mbuf.ping_send")
def mbuf_ping_send(user_bytes, header_bytes=20, **kernel):
    return mbuf_udp_send(user_bytes, header_bytes=header_bytes, inner_header_bytes=8, **kernel)


@adapter("mbuf.tcp_send_calls")
def mbuf_tcp_send_calls(bytes, minclsize=208, mclbytes=2048, compare=">="):
    count = mbufs.stream_mbufs(
        bytes, minclsize_bytes=minclsize, mcl_bytes=mclbytes, compare=compare
    )
    return int(count.calls)


@adapter("mbuf.tcp_segment_mbufs")
def mbuf_tcp_segment_mbufs(segment_data_bytes, hdr_bytes=40, max_linkhdr=16, mhlen=100):
    return int(
        mbufs.segment_mbufs(
            segment_data_bytes,
            header_bytes=hdr_bytes,
            max_linkhdr_bytes=max_linkhdr,
            mhlen_bytes=mhlen,
        )
    )
