"""The models of the reference list, by name: each calls the public function of netcalc.

``ADAPTERS[model](**inputs)`` returns the expected quantity of a row of ``reference_values.csv``;
the keyword arguments are the keys of its ``inputs``. This file needs netcalc and numpy only, so
that other values of the same models can be run through it from anywhere.
"""

from __future__ import annotations

import math
import re

from netcalc import units
from netcalc.models import (
    atm,
    encapsulation,
    esp,
    forwarding,
    fragmentation,
    framing,
    goodput,
    line_rate,
    rate_reading,
    serial_lines,
    voice,
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
    return float(line_rate.switch_rate_pps(frame_bytes, port_bps=rates, port_count=counts))


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
    return float(fragmentation.datagram_loss_ratio(fragment_loss, fragments=fragments))


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
