"""The models of the reference list, by name: each calls the public function of netcalc.

``ADAPTERS[model](**inputs)`` returns the expected quantity of a row of ``reference_values.csv``;
the keyword arguments are the keys of its ``inputs``. This file needs netcalc and numpy only, so
that other values of the same models can be run through it from anywhere.
"""

from __future__ import annotations

import math

from netcalc.models import framing, goodput, line_rate

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
