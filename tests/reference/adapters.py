"""The models of the reference list, by name: each calls the public function of netcalc.

``ADAPTERS[model](**inputs)`` returns the expected quantity of a row of ``reference_values.csv``;
the keyword arguments are the keys of its ``inputs``. This file needs netcalc and numpy only, so
that other values of the same models can be run through it from anywhere.
"""

# ruff: noqa: A002, N803  (the arguments are the names of the list, bytes, len and K among them)

from __future__ import annotations

import math
import re

from netcalc import units
from netcalc.models.delays import asymmetry, latency, store_and_forward
from netcalc.models.hosts import mbufs, small_writes
from netcalc.models.links import random_access
from netcalc.models.measuring import clock, probing, sample_statistics
from netcalc.models.media import access, wifi
from netcalc.models.queues import backlog, erlang, md1, mm1, queueing, token_bucket
from netcalc.models.rates import forwarding, goodput, line_rate, voice
from netcalc.models.sizes import encapsulation, fragmentation, framing, serial_lines, vpn
from netcalc.models.tcp import (
    bbr,
    cubic,
    handshakes,
    loss_limited,
    pftk,
    sharing,
    short_transfers,
    slow_start,
    timers,
    window,
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
    return float(
        forwarding.crossover_frame_bytes(
            pps_limit,
            bandwidth_bps=rate_bps,
            min_frame_bytes=0,  # the quotient alone
        )
    )


@adapter("device.affine_cost")
def device_affine_cost(pps1, size1, pps2, size2):
    points = {"frame_bytes": size1, "other_rate_pps": pps2, "other_frame_bytes": size2}
    return [
        float(forwarding.device_packet_cost(pps1, **points)),
        float(forwarding.device_byte_cost(pps1, **points)),
    ]


@adapter("device.pps_from_goodput")
def device_pps_from_goodput(goodput_bps, payload_bytes):
    return float(line_rate.goodput_rate_pps(goodput_bps, payload_bytes=payload_bytes))


@adapter("stop_and_wait.utilisation")
def stop_and_wait_utilisation(packet_bytes, rate_bps, prop_rtt_s):
    return float(
        line_rate.stop_and_wait_utilization(packet_bytes, bandwidth_bps=rate_bps, rtt_s=prop_rtt_s)
    )


@adapter("stop_and_wait.parallel")
def stop_and_wait_parallel(flows, payload_bytes, cycle_s, capacity_bps):
    return float(
        line_rate.stop_and_wait_goodput_bps(
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
        vpn.esp_packet_bytes(
            protected, suite=suite, ip_version=outer_ip_version, nat_traversal=nat_t
        )
    )


@adapter("encap.esp_max_inner")
def encap_esp_max_inner(suite, outer_ip_mtu, mode="tunnel", nat_t=False, outer_ip_version=4):
    # In transport mode: the largest part behind the IP header, as esp_packet_size takes it.
    return float(
        vpn.esp_payload_bytes(
            outer_ip_mtu, suite=suite, ip_version=outer_ip_version, nat_traversal=nat_t
        )
    )


@adapter("encap.wireguard_fixed_overhead")
def encap_wireguard_fixed_overhead(outer_ip_version=4):
    return float(vpn.wireguard_overhead_bytes(outer_ip_version))


@adapter("encap.wireguard_packet_size")
def encap_wireguard_packet_size(inner_ip_bytes, device_mtu=1420, outer_ip_version=4):
    return float(
        vpn.wireguard_packet_bytes(
            inner_ip_bytes, device_mtu_bytes=device_mtu, ip_version=outer_ip_version
        )
    )


# --- ATM and serial lines ---


@adapter("atm.overhead_before_cells")
def atm_overhead_before_cells(encap):
    return float(serial_lines.atm_overhead_bytes(encap))


@adapter("atm.wire_bytes")
def atm_wire_bytes(ip_bytes, encap="none", overhead_bytes=0):
    return float(
        serial_lines.atm_wire_bytes(ip_bytes, encapsulation=encap, extra_bytes=overhead_bytes)
    )


@adapter("atm.efficiency")
def atm_efficiency(ip_bytes, encap="none", overhead_bytes=0):
    return float(
        serial_lines.atm_efficiency_ratio(ip_bytes, encapsulation=encap, extra_bytes=overhead_bytes)
    )


@adapter("atm.cell_tax")
def atm_cell_tax():
    return 1.0 - float(serial_lines.atm_efficiency_ratio(48, encapsulation="none"))


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
    return float(line_rate.rate_goodput_bps(packets_pps, payload_bytes=payload))


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
    return float(loss_limited.datagram_loss_ratio(fragment_loss, fragments=fragments))


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
    return float(window.window_shift(window_bytes, at_most_14=True))


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
        short_transfers.handshake_s(
            rtt_s,
            forward_loss_ratio=loss_forward,
            reverse_loss_ratio=loss_reverse,
            syn_timeout_s=syn_timeout_s,
        )
    )


@adapter("cardwell.ss_segments")
def cardwell_ss_segments(segments, loss, plus_one=False):
    return float(
        short_transfers.slow_start_segments(segments, loss_ratio=loss, count_lost=plus_one)
    )


@adapter("cardwell.ss_time")
def cardwell_ss_time(ss_segments, rtt_s, initial_window, wmax=math.inf, b=2):
    return float(
        short_transfers.slow_start_s(
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
    return float(window.ideal_transfer_s(bytes, throughput_bps=throughput_bps))


@adapter("rfc6349.transfer_time_ratio")
def rfc6349_transfer_time_ratio(actual_s, ideal_s):
    return float(window.transfer_time_factor(actual_s, ideal_s=ideal_s))


@adapter("rfc6349.tcp_efficiency")
def rfc6349_tcp_efficiency(transmitted_bytes, retransmitted_bytes):
    return 100 * float(
        window.efficiency_ratio(transmitted_bytes, retransmitted_bytes=retransmitted_bytes)
    )


@adapter("rfc6349.buffer_delay")
def rfc6349_buffer_delay(average_rtt_s, baseline_rtt_s):
    return 100 * float(window.buffer_delay_factor(average_rtt_s, base_rtt_s=baseline_rtt_s))


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
        samples_s, granularity_s=granularity_s, min_rto_s=min_s, max_rto_s=max_s, floor="rto"
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
    "bsd44_heartbeat": small_writes.SYSTEMS["bsd44"].longest_s,
    "linux_ato_min": small_writes.LINUX_ATO_MIN_S,
    "linux_max_quickacks": small_writes.LINUX_MAX_QUICKACKS,
    "linux_init_cwnd": slow_start.INITIAL_WINDOW_SEGMENTS,
    "linux_initial_rto": timers.LINUX_TIMERS["initial_rto_s"],
    "linux_rto_min": timers.LINUX_TIMERS["min_rto_s"],
    "linux_rto_max": timers.LINUX_TIMERS["max_rto_s"],
    "linux_syn_retries": timers.LINUX_TIMERS["retry_count"],
    "linux_syn_linear_timeouts": timers.LINUX_TIMERS["linear_count"],
    "windows_ack_every": small_writes.SYSTEMS["windows_2000"].every_segments,
    "rfc1122_every_full_segments": small_writes.SYSTEMS["rfc1122"].every_segments,
}
STATISTICS = {"_min": "shortest", "_max": "longest", "_mean": "mean"}


@adapter("delayed_ack.constant")
def delayed_ack_constant(name):
    if name in DELAYED_ACK_CONSTANTS:
        return DELAYED_ACK_CONSTANTS[name]
    if name == "cardwell_bsd_mean":
        return float(small_writes.heartbeat_mean_s(0.2))
    for ending, statistic in STATISTICS.items():
        if name.endswith(ending):
            system = name.removesuffix(ending)
            return float(small_writes.delayed_ack_s(system, statistic=statistic))
    return float(small_writes.delayed_ack_s(name, statistic="longest"))


@adapter("delayed_ack.heartbeat_mean")
def delayed_ack_heartbeat_mean(period_s):
    return float(small_writes.heartbeat_mean_s(period_s))


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


# --- TCP under loss ---


def reno_constant(floor):
    """Return C of "C/sqrt(p)", which may be a number or "sqrt(3/2)"."""
    number = re.match(r"\s*(?:sqrt\((\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?))?\)|(\d+(?:\.\d+)?))", floor)
    radicand, divisor, plain = number.groups()
    return float(plain) if plain else math.sqrt(float(radicand) / float(divisor or 1))


@adapter("tcp.mathis")
def tcp_mathis(mss, rtt_s, loss, C=None, b=1):
    constant = loss_limited.mathis_constant(b) if C is None else C
    return float(
        loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=rtt_s, constant=constant)
    )


@adapter("tcp.mathis_required_loss")
def tcp_mathis_required_loss(rate_bps, mss, rtt_s, C=None, b=1):
    constant = loss_limited.mathis_constant(b) if C is None else C
    return float(
        loss_limited.mathis_loss_ratio(rate_bps, mss_bytes=mss, rtt_s=rtt_s, constant=constant)
    )


@adapter("tcp.reno_avg_window")
def tcp_reno_avg_window(loss, constant=loss_limited.MATHIS_CONSTANT):
    return float(loss_limited.reno_window_packets(loss, constant=constant))


@adapter("tcp.reno_time_between_losses")
def tcp_reno_time_between_losses(loss, packet_bytes, rate_bps):
    return float(
        loss_limited.reno_loss_interval_s(loss, packet_bytes=packet_bytes, bandwidth_bps=rate_bps)
    )


@adapter("tcp.aimd_avg_window")
def tcp_aimd_avg_window(loss, alpha=1.0, beta=0.5):
    return float(
        loss_limited.aimd_window_packets(loss, increase_packets=alpha, decrease_factor=beta)
    )


@adapter("tcp.pftk_expected_window")
def tcp_pftk_expected_window(loss, b=2):
    return float(pftk.pftk_window_packets(loss, segments_per_ack=b))


@adapter("tcp.pftk_timeout_probability")
def tcp_pftk_timeout_probability(loss, window):
    return float(pftk.pftk_timeout_ratio(window, loss_ratio=loss))


@adapter("tcp.pftk_G")
def tcp_pftk_g(loss):
    return float(pftk.pftk_backoff_factor(loss))


@adapter("tcp.timeout_sequence_mean")
def tcp_timeout_sequence_mean(loss, t0_s):
    return float(pftk.timeout_sequence_s(loss, rto_s=t0_s))


@adapter("tcp.pftk_full")
def tcp_pftk_full(loss, rtt_s, t0_s, wmax=None, b=2):
    return float(
        pftk.pftk_rate_pps(
            loss,
            rtt_s=rtt_s,
            rto_s=t0_s,
            max_window_packets=math.inf if wmax is None else wmax,
            segments_per_ack=b,
        )
    )


@adapter("tcp.pftk_approx")
def tcp_pftk_approx(loss, rtt_s, t0_s, wmax=None, b=2):
    return float(
        pftk.pftk_approx_rate_pps(
            loss,
            rtt_s=rtt_s,
            rto_s=t0_s,
            max_window_packets=math.inf if wmax is None else wmax,
            segments_per_ack=b,
        )
    )


@adapter("tcp.tfrc_f")
def tcp_tfrc_f(loss, b=1, t_rto_factor=4):
    return float(pftk.tfrc_rounds(loss, segments_per_ack=b, timeout_rtts=t_rto_factor))


@adapter("tcp.tfrc_rate")
def tcp_tfrc_rate(loss, rtt_s, segment_bytes, b=1, t_rto_factor=4):
    bits = pftk.tfrc_throughput_bps(
        loss,
        mss_bytes=segment_bytes,
        rtt_s=rtt_s,
        segments_per_ack=b,
        timeout_rtts=t_rto_factor,
    )
    return float(bits) / 8


@adapter("tcp.cubic_window")
def tcp_cubic_window(t_s, wmax, C=0.4, beta=0.7):
    return float(
        cubic.cubic_window_packets(
            t_s, peak_window_packets=wmax, cubic_scale=C, decrease_factor=beta
        )
    )


@adapter("tcp.cubic_K_from_wmax")
def tcp_cubic_k_from_wmax(wmax, C=0.4, beta=0.7):
    return float(cubic.cubic_k_s(wmax, cubic_scale=C, decrease_factor=beta))


@adapter("tcp.cubic_K")
def tcp_cubic_k(loss, rtt_s, C=0.4, beta=0.7):
    return float(
        cubic.cubic_loss_interval_s(loss, rtt_s=rtt_s, cubic_scale=C, decrease_factor=beta)
    )


@adapter("tcp.cubic_alpha")
def tcp_cubic_alpha(beta=0.7):
    return float(cubic.cubic_increase_packets(beta))


@adapter("tcp.cubic_avg_window_raw")
def tcp_cubic_avg_window_raw(loss, rtt_s, C=0.4, beta=0.7):
    return float(
        cubic.cubic_raw_window_packets(loss, rtt_s=rtt_s, cubic_scale=C, decrease_factor=beta)
    )


@adapter("tcp.cubic_avg_window")
def tcp_cubic_avg_window(loss, rtt_s, C=0.4, beta=0.7, reno_floor="1.2/sqrt(p)"):
    if reno_floor in (None, False, "none"):
        return tcp_cubic_avg_window_raw(loss, rtt_s, C=C, beta=beta)
    return float(
        cubic.cubic_mean_window_packets(
            loss,
            rtt_s=rtt_s,
            cubic_scale=C,
            decrease_factor=beta,
            reno_constant=reno_constant(reno_floor),
        )
    )


@adapter("tcp.cubic_required_loss")
def tcp_cubic_required_loss(rate_bps, rtt_s, packet_bytes=1500, C=0.4, beta=0.7):
    return float(
        cubic.cubic_loss_ratio(
            rate_bps,
            packet_bytes=packet_bytes,
            rtt_s=rtt_s,
            cubic_scale=C,
            decrease_factor=beta,
            reno_constant=loss_limited.RFC_CONSTANT,
        )
    )


# --- sharing a bottleneck ---


@adapter("aimd.utilisation")
def aimd_utilisation(buffer_bdp, beta=0.5):
    return float(sharing.aimd_utilization(buffer_bdp, decrease_factor=beta))


@adapter("aimd.buffer_for_full_utilisation")
def aimd_buffer_for_full_utilisation(beta=0.5):
    return float(sharing.full_use_buffer_bdp(beta))


@adapter("aimd.sawtooth_period")
def aimd_sawtooth_period(wmax, rtt_s, b=1, alpha=1.0, beta=0.5):
    return float(
        sharing.sawtooth_period_s(
            wmax, rtt_s=rtt_s, segments_per_ack=b, increase_packets=alpha, decrease_factor=beta
        )
    )


@adapter("aimd.sawtooth_packets")
def aimd_sawtooth_packets(wmax, b=1, alpha=1.0, beta=0.5):
    return float(
        sharing.sawtooth_packets(
            wmax, segments_per_ack=b, increase_packets=alpha, decrease_factor=beta
        )
    )


@adapter("buffer.rule_of_thumb")
def buffer_rule_of_thumb(rate_bps, rtt_s):
    return 8 * float(sharing.buffer_rule_bytes(rate_bps, rtt_s=rtt_s))


@adapter("buffer.small")
def buffer_small(rate_bps, rtt_s, flows):
    return 8 * float(sharing.buffer_rule_bytes(rate_bps, rtt_s=rtt_s, flow_count=flows))


@adapter("buffer.drain_time")
def buffer_drain_time(buffer_bits, rate_bps):
    return float(sharing.drain_s(buffer_bits / 8, bandwidth_bps=rate_bps))


@adapter("bbr.startup_gain")
def bbr_startup_gain():
    return bbr.STARTUP_GAIN


@adapter("bbr.startup_gain_v2")
def bbr_startup_gain_v2():
    return bbr.STARTUP_GAIN_V2


@adapter("bbr.drain_gain")
def bbr_drain_gain():
    return bbr.DRAIN_GAIN


@adapter("bbr.max_inflight")
def bbr_max_inflight(rate_bps, min_rtt_s, cwnd_gain=bbr.WINDOW_GAIN):
    return float(
        bbr.bbr_inflight_limit_bytes(rate_bps, base_rtt_s=min_rtt_s, window_gain=cwnd_gain)
    )


@adapter("bbr.loss_tolerance")
def bbr_loss_tolerance(probe_gain=bbr.PROBE_CYCLE[0]):
    return float(bbr.bbr_loss_tolerance_ratio(probe_gain))


@adapter("bbr.probe_bw_mean_gain")
def bbr_probe_bw_mean_gain(cycle=bbr.PROBE_CYCLE):
    return float(bbr.bbr_mean_gain(cycle))


@adapter("bbr.probe_rtt_cost")
def bbr_probe_rtt_cost(duration_s=bbr.PROBE_RTT_S, interval_s=bbr.PROBE_RTT_INTERVAL_S):
    return float(bbr.bbr_probe_rtt_ratio(duration_s, probe_rtt_interval_s=interval_s))


@adapter("bbr.startup_rounds")
def bbr_startup_rounds(rate_bps, rtt_s, mss, initial_window=10):
    return float(
        bbr.bbr_startup_rounds(
            rate_bps, rtt_s=rtt_s, mss_bytes=mss, initial_window_segments=initial_window
        )
    )


@adapter("fairness.jain")
def fairness_jain(allocations):
    return float(sharing.jain_index(allocations))


@adapter("fairness.jain_one_deviating")
def fairness_jain_one_deviating(n, delta):
    return float(sharing.jain_one_deviating(delta, flow_count=n))


@adapter("fairness.max_min_single")
def fairness_max_min_single(capacity, demands):
    return sharing.max_min_bps(demands, capacity_bps=capacity).tolist()


@adapter("fairness.max_min_weighted")
def fairness_max_min_weighted(capacity, demands, weights):
    return sharing.max_min_bps(demands, capacity_bps=capacity, weight=weights).tolist()


@adapter("fairness.max_min_network")
def fairness_max_min_network(capacities, routes):
    places = {link: place for place, link in enumerate(capacities)}
    crossings = [(flow, places[link]) for flow, route in enumerate(routes) for link in route]
    flows, links = zip(*crossings, strict=True)
    return sharing.max_min_network_bps(
        list(capacities.values()), crossing_flow=flows, crossing_link=links
    ).tolist()


@adapter("fairness.proportional_parking_lot")
def fairness_proportional_parking_lot(links, capacity=1.0):
    long = sharing.proportional_long_flow_bps(links, capacity_bps=capacity)
    return [float(long), float(sharing.proportional_short_flow_bps(links, capacity_bps=capacity))]


@adapter("fairness.fair_share_bits")
def fairness_fair_share_bits(capacity_bps, flows_start_duration_s):
    starts, durations = zip(*flows_start_duration_s, strict=True)
    return sharing.fair_share_bits(starts, duration_s=durations, capacity_bps=capacity_bps).tolist()


@adapter("token_bucket.burst_time")
def token_bucket_burst_time(size_bits, bucket_bits, rate_bps, peak_bps=math.inf):
    return float(
        token_bucket.token_bucket_transfer_s(
            size_bits / 8, bucket_bytes=bucket_bits / 8, token_bps=rate_bps, peak_bps=peak_bps
        )
    )


# --- queues ---


@adapter("little.number")
def little_number(rate_per_s, time_s):
    return float(queueing.little_number(rate_per_s, sojourn_s=time_s))


@adapter("queue.stability")
def queue_stability(rho, model="mm1"):
    queue = {"mm1_k": "mm1k", "mm1n": "mm1k", "erlang_b": "mmcc"}.get(model, model)
    return "stable" if queueing.is_stable(rho, queue=queue) else "unstable"


@adapter("queue.mm1.wait")
def queue_mm1_wait(arrival_rate, service_rate):
    return float(mm1.mm1_wait_s(arrival_rate / service_rate, service_s=1 / service_rate))


@adapter("queue.mm1.sojourn")
def queue_mm1_sojourn(arrival_rate, service_rate):
    return float(mm1.mm1_sojourn_s(arrival_rate / service_rate, service_s=1 / service_rate))


@adapter("queue.mm1.number")
def queue_mm1_number(arrival_rate, service_rate):
    return float(mm1.mm1_customers(arrival_rate / service_rate))


@adapter("queue.mm1.queue_length")
def queue_mm1_queue_length(arrival_rate, service_rate):
    return float(mm1.mm1_queue_length(arrival_rate / service_rate))


@adapter("queue.mm1.prob_n")
def queue_mm1_prob_n(arrival_rate, service_rate, n):
    return float(mm1.mm1_state_probability(arrival_rate / service_rate, customer_count=n))


@adapter("queue.mm1.wait_percentile")
def queue_mm1_wait_percentile(arrival_rate, service_rate, q):
    return float(
        mm1.mm1_wait_percentile_s(
            arrival_rate / service_rate, service_s=1 / service_rate, quantile=q
        )
    )


@adapter("queue.mm1.sojourn_percentile")
def queue_mm1_sojourn_percentile(arrival_rate, service_rate, q):
    return float(
        mm1.mm1_sojourn_percentile_s(
            arrival_rate / service_rate, service_s=1 / service_rate, quantile=q
        )
    )


@adapter("queue.md1.wait")
def queue_md1_wait(arrival_rate, service_time):
    return float(md1.md1_wait_s(arrival_rate * service_time, service_s=service_time))


@adapter("queue.md1.number")
def queue_md1_number(arrival_rate, service_time):
    return float(md1.md1_customers(arrival_rate * service_time))


@adapter("queue.md1.wait_cdf")
def queue_md1_wait_cdf(arrival_rate, service_time, t):
    return float(
        md1.md1_wait_cdf(t, utilization=arrival_rate * service_time, service_s=service_time)
    )


@adapter("queue.md1.wait_percentile")
def queue_md1_wait_percentile(arrival_rate, service_time, q):
    return float(
        md1.md1_wait_percentile_s(arrival_rate * service_time, service_s=service_time, quantile=q)
    )


@adapter("queue.mg1.wait")
def queue_mg1_wait(rho, mean_service, scv):
    return float(queueing.mg1_wait_s(rho, service_s=mean_service, service_scv=scv))


@adapter("queue.mg1.wait_packet_mix")
def queue_mg1_wait_packet_mix(rho, mix_wire_bytes, rate_bps):
    sizes, weights = zip(*mix_wire_bytes, strict=True)
    return float(
        queueing.packet_mix_wait_s(rho, wire_bytes=sizes, weight=weights, bandwidth_bps=rate_bps)
    )


@adapter("queue.gg1.kingman")
def queue_gg1_kingman(rho, mean_service, ca2, cs2):
    return float(
        queueing.kingman_wait_s(rho, service_s=mean_service, arrival_scv=ca2, service_scv=cs2)
    )


@adapter("queue.lindley")
def queue_lindley(interarrival, service):
    return backlog.lindley_wait_s(interarrival, service_s=service).tolist()


@adapter("queue.fluid_backlog")
def queue_fluid_backlog(in_bps, out_bps, duration_s):
    return 8 * float(backlog.fluid_backlog_bytes(duration_s, input_bps=in_bps, output_bps=out_bps))


@adapter("queue.mm1k.blocking")
def queue_mm1k_blocking(arrival_rate, service_rate, K):
    return float(mm1.mm1k_blocking_ratio(arrival_rate / service_rate, place_count=K))


@adapter("queue.mm1k.number")
def queue_mm1k_number(arrival_rate, service_rate, K):
    return float(mm1.mm1k_customers(arrival_rate / service_rate, place_count=K))


@adapter("queue.mm1k.throughput")
def queue_mm1k_throughput(arrival_rate, service_rate, K):
    return float(
        mm1.mm1k_throughput_pps(
            arrival_rate / service_rate, place_count=K, service_s=1 / service_rate
        )
    )


@adapter("queue.mm1k.sojourn")
def queue_mm1k_sojourn(arrival_rate, service_rate, K):
    return float(
        mm1.mm1k_sojourn_s(arrival_rate / service_rate, place_count=K, service_s=1 / service_rate)
    )


@adapter("queue.mmc.wait")
def queue_mmc_wait(offered_erlang, servers, mean_service):
    return float(erlang.mmc_wait_s(offered_erlang, server_count=servers, service_s=mean_service))


@adapter("queue.mmc.wait_percentile")
def queue_mmc_wait_percentile(offered_erlang, servers, mean_service, q):
    return float(
        erlang.mmc_wait_percentile_s(
            offered_erlang, server_count=servers, service_s=mean_service, quantile=q
        )
    )


@adapter("erlang_b.blocking")
def erlang_b_blocking(offered_erlang, servers):
    return float(erlang.erlang_b_ratio(offered_erlang, server_count=servers))


@adapter("erlang_b.capacity")
def erlang_b_capacity(servers, blocking):
    return float(erlang.erlang_b_load(blocking, server_count=servers))


@adapter("erlang_b.servers_needed")
def erlang_b_servers_needed(offered_erlang, blocking):
    return float(erlang.erlang_b_server_count(offered_erlang, blocking_ratio=blocking))


@adapter("erlang_c.wait_probability")
def erlang_c_wait_probability(offered_erlang, servers):
    return float(erlang.erlang_c_ratio(offered_erlang, server_count=servers))


@adapter("erlang_c.service_level")
def erlang_c_service_level(offered_erlang, servers, within_s, mean_service):
    return float(
        erlang.service_level_ratio(
            offered_erlang, server_count=servers, within_s=within_s, service_s=mean_service
        )
    )


# --- probing, clocks, statistics ---


@adapter("rtt.slope_per_byte")
def rtt_slope_per_byte(rates_bps, echo_same_size=True, symmetric=True, reverse_rates_bps=None):
    # Without the rates of other links back, only the way there is known.
    is_known = symmetric or reverse_rates_bps is not None
    return float(
        probing.rtt_slope(
            rates_bps,
            same_size_reply=echo_same_size and is_known,
            reverse_bandwidth_bps=reverse_rates_bps,
        )
    )


@adapter("rtt.fit_intercept")
def rtt_fit_intercept(props_s, rates_bps, header_bytes=28, user_bytes=None):
    # The round trip is a straight line over user_bytes: the fit does not depend on them.
    return float(
        probing.rtt_intercept_s(props_s, bandwidth_bps=rates_bps, header_bytes=header_bytes)
    )


@adapter("pathchar.link_rate")
def pathchar_link_rate(slope_hop_n, slope_hop_n_minus_1=0.0):
    return float(probing.hop_bandwidth_bps(slope_hop_n, previous_rtt_slope=slope_hop_n_minus_1))


@adapter("packet_pair.dispersion")
def packet_pair_dispersion(packet_bytes, rates_bps):
    return float(probing.pair_dispersion_s(packet_bytes, bandwidth_bps=rates_bps))


@adapter("packet_pair.capacity")
def packet_pair_capacity(dispersion_s, packet_bytes):
    return float(probing.pair_bandwidth_bps(dispersion_s, packet_bytes=packet_bytes))


@adapter("packet_train.rate")
def packet_train_rate(dispersion_s, packet_bytes, packets):
    return float(
        probing.train_rate_bps(dispersion_s, packet_bytes=packet_bytes, packet_count=packets)
    )


@adapter("clock.uniform_error_std")
def clock_uniform_error_std(tick_s):
    return float(clock.reading_error_std_s(tick_s))


@adapter("clock.interval_error_max")
def clock_interval_error_max(tick_s):
    return float(clock.interval_error_limit_s(tick_s))


@adapter("clock.interval_error_std")
def clock_interval_error_std(interval_s, tick_s):
    return float(clock.interval_error_std_s(interval_s, tick_s=tick_s))


@adapter("clock.difference_error_std_uniform_f")
def clock_difference_error_std_uniform_f(tick_s):
    return float(clock.typical_interval_error_std_s(tick_s))


@adapter("rtp.jitter")
def rtp_jitter(transit_s):
    return float(sample_statistics.jitter_rfc3550_s(transit_s)[-1])


@adapter("stats.median")
def stats_median(values):
    return float(sample_statistics.median(values))


# --- latency and transfer time ---


@adapter("link.serialization_time")
def serialization_time(*, bytes, rate_bps):
    return float(latency.serialization_s(bytes, bandwidth_bps=rate_bps))


@adapter("link.propagation_delay")
def propagation_delay(*, distance_m, speed_m_s):
    return float(latency.propagation_s(distance_m, speed_m_s=speed_m_s))


@adapter("link.propagation_rtt")
def propagation_rtt(*, distance_m, speed_m_s):
    return 2 * float(latency.propagation_s(distance_m, speed_m_s=speed_m_s))


@adapter("link.fibre_delay_per_km")
def fibre_delay_per_km(*, refractive_index):
    speed_m_s = latency.signal_speed_m_s(refractive_index)
    return 1e6 * float(latency.propagation_s(1000, speed_m_s=speed_m_s))


@adapter("link.geostationary_rtt")
def geostationary_rtt(*, altitude_m, hops="up+down each way"):
    assert hops == "up+down each way"
    return float(latency.satellite_rtt_s(altitude_m))


@adapter("transfer.one_way_time")
def one_way_time(*, bytes, latency_s, rate_bps):
    return float(latency.transfer_s(bytes, bandwidth_bps=rate_bps, latency_s=latency_s))


@adapter("transfer.simple_time")
def simple_time(*, bytes, rate_bps, rtt_s):
    return float(latency.transfer_s(bytes, bandwidth_bps=rate_bps, latency_s=rtt_s))


@adapter("transfer.simple_throughput")
def simple_throughput(*, bytes, rate_bps, rtt_s):
    return float(latency.transfer_throughput_bps(bytes, bandwidth_bps=rate_bps, latency_s=rtt_s))


@adapter("transfer.latency_share")
def latency_share(*, bytes, latency_s, rate_bps):
    return float(latency.latency_share_ratio(bytes, bandwidth_bps=rate_bps, latency_s=latency_s))


@adapter("transfer.half_power_bytes")
def half_power_bytes(*, latency_s, rate_bps):
    return float(latency.half_rate_bytes(latency_s, bandwidth_bps=rate_bps))


# --- store-and-forward ---


@adapter("path.store_and_forward_time")
def store_and_forward_time(
    *, packet_bytes, rates_bps, props_s, proc_s=(), packets=1, src_proc_s=0, dst_proc_s=0
):
    return float(
        store_and_forward.store_and_forward_s(
            packet_bytes,
            bandwidth_bps=rates_bps,
            latency_s=props_s,
            processing_s=proc_s if len(proc_s) else 0.0,
            source_processing_s=src_proc_s,
            destination_processing_s=dst_proc_s,
            packet_count=packets,
        )
    )


@adapter("path.cut_through_time")
def cut_through_time(*, frame_bytes, header_bytes, links, props_s, rate_bps, switch_latency_s):
    rates = rate_bps if isinstance(rate_bps, list) else [rate_bps] * links
    return float(
        store_and_forward.cut_through_s(
            frame_bytes,
            bandwidth_bps=rates,
            latency_s=props_s,
            header_bytes=header_bytes,
            switch_latency_s=switch_latency_s,
        )
    )


@adapter("path.optimal_segment_bits")
def optimal_segment_bits(*, message_bits, header_bits, links, rate_bps=None):
    # The best size does not depend on the rate.
    return float(
        store_and_forward.optimal_segment_bits(
            message_bits, header_bits=header_bits, link_count=links
        )
    )


# --- shared media ---


@adapter("aloha.throughput")
def aloha_throughput(*, kind, offered):
    model = {
        "pure": random_access.pure_aloha_utilization,
        "slotted": random_access.slotted_aloha_utilization,
    }[kind]
    return float(model(offered))


@adapter("aloha.max_throughput")
def aloha_max_throughput(*, kind):
    return aloha_throughput(kind=kind, offered={"pure": 0.5, "slotted": 1.0}[kind])


@adapter("csma_cd.efficiency")
def csma_cd_efficiency(*, prop_s, trans_s):
    return float(random_access.csma_cd_efficiency_ratio(trans_s, propagation_s=prop_s))


@adapter("docsis.shaped_bytes")
def docsis_shaped_bytes(*, ip_bytes):
    # A shaper of DOCSIS counts Ethernet frames with FCS.
    return float(framing.ethernet_frame_bytes(ip_bytes))


@adapter("ptm.rate_factor")
def ptm_rate_factor():
    return 64.0 / float(access.ptm_wire_bytes(64, overhead_bytes=0))


@adapter("ptm.wire_bytes")
def ptm_wire_bytes(*, ip_bytes, encap):
    overhead = {"bridged-ptm": 22, "pppoe-ptm": 30}[encap]
    return float(access.ptm_wire_bytes(ip_bytes, overhead_bytes=overhead))


@adapter("wifi.bianchi_tau")
def wifi_bianchi_tau(*, stations, cw_min, stages):
    return float(wifi.attempt_ratio(stations, window_slots=cw_min, stage_count=stages))


@adapter("wifi.bianchi_saturation")
def wifi_bianchi_saturation(
    *, stations, cw_min, stages, payload_bits, mac_bits, phy_bits, ack_bits, slot_us, sifs_us,
    difs_us, prop_us, rate_bps, mode="basic", rts_bits=160, cts_bits=112,
):  # fmt: skip
    def on_air(bits):
        return (bits + phy_bits) / rate_bps

    sifs, difs, way = sifs_us * 1e-6, difs_us * 1e-6, prop_us * 1e-6
    success = on_air(payload_bits + mac_bits) + sifs + way + on_air(ack_bits) + difs + way
    collision = on_air(payload_bits + mac_bits) + difs + way
    if mode != "basic":
        success += on_air(rts_bits) + sifs + way + on_air(cts_bits) + sifs + way
        collision = on_air(rts_bits) + difs + way
    return float(
        wifi.saturation_utilization(
            stations,
            payload_s=payload_bits / rate_bps,
            success_s=success,
            collision_s=collision,
            slot_s=slot_us * 1e-6,
            window_slots=cw_min,
            stage_count=stages,
        )
    )


@adapter("wifi.dcf_single_station")
def wifi_dcf_single_station(
    *, msdu_ip_bytes, rate_mbps, ack_rate_mbps, cw_min, phy, llc_snap=8, mac_header_fcs=28
):
    assert phy in ("802.11a", "802.11g"), phy
    carried = msdu_ip_bytes + llc_snap + mac_header_fcs - wifi.MAC_BYTES  # as long with its headers
    throughput = wifi.ofdm_throughput_bps(
        carried,
        bandwidth_bps=rate_mbps * 1e6,
        ack_bps=ack_rate_mbps * 1e6,
        contention_window=cw_min,
    )
    return float(throughput) * (msdu_ip_bytes / carried) / 1e6


@adapter("wifi.tmt_dcf")
def wifi_tmt_dcf(*, msdu_bytes, phy, ack_rate_mbps, cw_min, mode):
    assert mode in ("CSMA/CA", "RTS/CTS"), mode
    rate = {"DSSS-1": 1e6, "DSSS-2": 2e6, "HR-DSSS-5.5": 5.5e6, "HR-DSSS-11": 11e6}[phy]
    throughput = wifi.dsss_throughput_bps(
        msdu_bytes,
        bandwidth_bps=rate,
        ack_bps=ack_rate_mbps * 1e6,
        contention_window=cw_min,
        rts=mode == "RTS/CTS",
    )
    return float(throughput) / 1e6


# --- units ---


@adapter("units.convert")
def convert(*, value, from_unit, to_unit):
    return units.convert(value, from_unit, to_unit)
