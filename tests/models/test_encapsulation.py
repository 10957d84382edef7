"""Stacks of tunnels: published overheads, sums of headers, and the largest packet by trying."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import ArgumentTypeError, DomainError, doubts
from netcalc.models.rates.goodput import tcp_goodput_bps
from netcalc.models.sizes import encapsulation
from netcalc.models.sizes.encapsulation import (
    tunnel_mtu_bytes,
    tunnel_tcp_payload_bytes,
    tunnel_udp_payload_bytes,
)
from netcalc.models.sizes.framing import tcp_payload_bytes, udp_payload_bytes
from netcalc.models.sizes.vpn import esp_packet_bytes, wireguard_mtu_bytes

IP4, IP6, UDP, ETH = 20, 40, 8, 14
HEADERS = {  # derived: header by header, sizes from the RFCs named
    "none": 0,
    "pppoe": 6 + 2,  # RFC 2516
    "mpls": 4,  # RFC 3032
    "mpls3": 12,
    "ipip": IP4,
    "6in4": IP4,
    "4in6": IP6,
    "ip6ip6": IP6,
    "gre": IP4 + 4,  # RFC 2784
    "gre_key": IP4 + 4 + 4,  # RFC 2890
    "gre_csum": IP4 + 4 + 4,
    "gre_key_seq_csum": IP4 + 4 + 12,
    "gre6": IP6 + 4,
    "gre6_seq": IP6 + 4 + 4,
    "gretap": IP4 + 4 + ETH,
    "vxlan4": IP4 + UDP + 8 + ETH,  # RFC 7348
    "vxlan6": IP6 + UDP + 8 + ETH,
    "vxlan4_inner_vlan": IP4 + UDP + 8 + ETH + 4,
    "vxlan6_inner_vlan": IP6 + UDP + 8 + ETH + 4,
    "geneve4": IP4 + UDP + 8 + ETH,  # RFC 8926
    "geneve4_opt8": IP4 + UDP + 8 + 8 + ETH,
    "geneve6_opt16": IP6 + UDP + 8 + 16 + ETH,
    "nvgre4": IP4 + 8 + ETH,  # RFC 7637
    "nvgre6": IP6 + 8 + ETH,
    "gtpu4": IP4 + UDP + 8,  # TS 29.281
    "gtpu6": IP6 + UDP + 8,
    "gtpu4_pdu": IP4 + UDP + 8 + 4 + 4,  # TS 38.415
    "lisp4": IP4 + UDP + 8,  # RFC 9300
    "lisp6": IP6 + UDP + 8,
    "l2tpv2_udp": IP4 + UDP + 6 + 4,  # RFC 2661, PPP
    "wireguard4": IP4 + UDP + 32,
    "mpls2+cw+eth": 8 + 4 + ETH,  # RFC 4448
    "udp4+mpls": IP4 + UDP + 4,  # RFC 7510
    "vxlan4+wireguard4": (IP4 + UDP + 8 + ETH) + (IP4 + UDP + 32),
    "pppoe+gre6_key": 8 + (IP6 + 4 + 4),
}


@pytest.mark.each(("stack", "expected"), HEADERS.items())
def test_overhead_and_inner_mtu(stack, expected):
    assert encapsulation.tunnel_overhead_bytes(0, stack=stack) == expected
    assert encapsulation.tunnel_mtu_bytes(1500, stack=stack) == 1500 - expected


@pytest.mark.each(
    ("stack", "version", "options", "expected", "source"),
    [
        ("pppoe", 4, 0, 1452, "published: RFC 2516, 1492 - 40"),
        ("6in4", 6, 12, 1408, "derived: 1480 - 40 - 20 - 12"),
        ("vxlan4", 6, 12, 1378, "derived: 1450 - 72"),
        ("vxlan4+wireguard4", 4, 0, 1350, "derived: 1500 - 50 - 60 - 40"),
        ("wireguard6", 4, 0, 1380, "published: the MSS of the usual 1420"),
    ],
)
def test_mss_through_a_stack(stack, version, options, expected, source):
    payload = encapsulation.tunnel_tcp_payload_bytes(
        1500, stack=stack, ip_version=version, tcp_option_bytes=options
    )
    assert payload == expected, source


PADDING = [
    "esp4:aes-cbc/hmac-sha256-128",
    "esp6:aes-gcm-16",
    "esp4:chacha20-poly1305:nat",
    "esp4:aes-cbc/hmac-sha1-96:transport+gre",
    "pppoe+esp4:3des/hmac-md5-96+gre_key",
    "vxlan4+esp4:aes-gcm-16+wireguard6",
    "wireguard4+vxlan4",
    "wireguard6+esp4:aes-cbc/hmac-sha1-96",
]


@pytest.mark.each("stack", PADDING)
@pytest.mark.each("mtu_bytes", [1280, 1400, 1499, 1500])
def test_largest_packet_by_trying_every_size(stack, mtu_bytes):
    sizes = np.arange(100, mtu_bytes + 1)
    outer = encapsulation.tunnel_packet_bytes(sizes, stack=stack, mtu_bytes=mtu_bytes)
    assert (np.diff(outer) >= 0).all()
    largest = sizes[outer <= mtu_bytes].max()  # derived: exhaustive search
    assert encapsulation.tunnel_mtu_bytes(mtu_bytes, stack=stack) == largest


def test_transport_mode_protects_what_is_behind_the_ip_header():
    # derived: GRE makes 20 + 4 + 1400; ESP keeps the 20 and protects 1404
    outer = encapsulation.tunnel_packet_bytes(1400, stack="esp4:aes-gcm-16:transport+gre")
    assert outer == esp_packet_bytes(1404, suite="aes-gcm-16")
    with pytest.raises(DomainError, match="packet_bytes"):
        encapsulation.tunnel_packet_bytes(19, stack="esp4:aes-gcm-16:transport")


def test_order_counts_where_a_layer_pads():
    inside = encapsulation.tunnel_packet_bytes(40, stack="vxlan4+wireguard4")
    outside = encapsulation.tunnel_packet_bytes(40, stack="wireguard4+vxlan4")
    assert inside == 50 + 60 + 48  # derived: 40 is padded to 48, then VXLAN
    assert outside == 60 + 96  # derived: 40 + 50 is padded to 96


def test_size_on_the_wire():
    # derived: 40 + 24 is 64, with 18 and 20 around it; with a tag 4 more; 1477 is 1501 outside
    assert encapsulation.tunnel_wire_bytes(40, stack="gre") == 102
    assert encapsulation.tunnel_wire_bytes(40, stack="gre", tag_count=1) == 106
    assert encapsulation.tunnel_wire_bytes(1, stack="mpls") == 84  # derived: padded outside
    assert np.isnan(encapsulation.tunnel_wire_bytes(1477, stack="gre"))


def test_goodput_ceiling():
    plain = encapsulation.tunnel_goodput_bps(1500, stack="none", bandwidth_bps=1e9)
    assert plain == tcp_goodput_bps(1500, bandwidth_bps=1e9)  # identity: no tunnel
    through = encapsulation.tunnel_goodput_bps(
        1500, stack="vxlan4", bandwidth_bps=1e9, tcp_option_bytes=12, tag_count=1
    )
    assert through == pytest.approx(1e9 * (1450 - 52) / 1542)  # derived
    # derived: a full ESP packet of CBC is 1496, not 1500
    cbc = encapsulation.tunnel_goodput_bps(
        1500, stack="esp4:aes-cbc/hmac-sha1-96", bandwidth_bps=1e9, tcp_option_bytes=0
    )
    assert cbc == pytest.approx(1e9 * (1438 - 40) / 1534)


@given(
    names=st.lists(st.sampled_from(["gre", "vxlan4", "ipip", "esp4", "wireguard4"]), max_size=4),
    mtu_bytes=st.integers(1400, 9000),
)
def test_more_layers_never_leave_more(names, mtu_bytes):
    stacks = ["+".join(names[:depth]) or "none" for depth in range(len(names) + 1)]
    left = [float(encapsulation.tunnel_mtu_bytes(mtu_bytes, stack=stack)) for stack in stacks]
    assert left == sorted(left, reverse=True)
    assert encapsulation.tunnel_udp_payload_bytes(mtu_bytes, stack=stacks[-1]) == left[-1] - 28


@pytest.mark.each(
    ("stack", "code"),
    [
        ("carrier-pigeon", "unknown-layer"),
        ("gre_colour", "unknown-layer"),
        ("vxlan4_key", "unknown-layer"),
        ("geneve4_opt6", "unknown-layer"),
        ("gre++vxlan4", "unknown-layer"),
        ("mpls0", "unknown-layer"),
        ("esp4:rot13", "unknown-suite"),
        ("ipip+pppoe", "only-on-ethernet"),
        ("tag+ipip+tag", "only-on-ethernet"),
        ("ipip+macsec", "only-on-ethernet"),
        ("", "stack-empty"),
        (" ", "stack-empty"),
        # RFC 4448, RFC 4385: a pseudowire has its Ethernet header and control word behind a label
        ("eth", "ethernet-in-ethernet"),
        ("mpls+eth+eth", "ethernet-in-ethernet"),
        ("eth+vxlan4", "ethernet-in-ethernet"),
        ("vxlan4+eth", "ethernet-in-ethernet"),
        ("tag+eth", "ethernet-in-ethernet"),
        ("macsec+eth", "ethernet-in-ethernet"),
        ("cw", "control-word-without-label"),
        ("mpls+eth+cw", "control-word-without-label"),
        ("gre+cw", "control-word-without-label"),
        # RFC 4303, 5.1; RFC 9300; WireGuard, 5.4.6: the packet inside is one of IP
        ("wireguard4+mpls", "only-ip-inside"),
        ("esp4+eth", "only-ip-inside"),
        ("openvpn4+eth", "only-ip-inside"),
        ("fastd4+mpls", "only-ip-inside"),
        ("lisp4+eth", "only-ip-inside"),
        # RFC 4213, RFC 2473, RFC 2003: the version of each is in its name
        ("6in4+gre", "other-ip-inside"),
        ("4in6+wireguard6", "other-ip-inside"),
        ("ip6ip6+ipip", "other-ip-inside"),
        ("ipip+ip6ip6", "other-ip-inside"),
        ("6rd+esp4", "other-ip-inside"),
    ],
)
def test_unknown_stacks_are_refused(stack, code):
    with pytest.raises(DomainError) as refused:
        encapsulation.tunnel_mtu_bytes(1500, stack=stack)
    assert refused.value.code == code


@pytest.mark.each(
    "stack",
    # RFC 4448 (with control word and without), 4023, 7510, 3032; tag and MACsec as IEEE 802.1AE
    ["mpls+eth", "mpls2+cw+eth+tag", "gre+mpls", "pppoe+mpls", "tag+macsec", "vxlan4+macsec",
     "macsec+tag+pppoe", "6in4+gre6", "4in6+gre4", "openvpn4_tap+tag", "gtpu4+eth", "udp6+mpls+cw"],
)  # fmt: skip
def test_stacks_that_exist_are_computed(stack):
    assert encapsulation.tunnel_mtu_bytes(1500, stack=stack) < 1500


def test_macsec_over_ethernet():
    """Published: Juniper, 32 B of overhead; IEEE 802.1AE, SecTAG 8 or 16 B and ICV 16 B."""
    assert encapsulation.tunnel_mtu_bytes(1500, stack="macsec") == 1468  # Linux: macsec0
    assert encapsulation.tunnel_mtu_bytes(1500, stack="macsec_no_sci") == 1476
    # derived: 1468 + 32 + 18 + 20, at a gigabit
    goodput = encapsulation.tunnel_goodput_bps(
        1500, stack="macsec", bandwidth_bps=1e9, tcp_option_bytes=0
    )
    assert goodput == pytest.approx(1e9 * 1428 / 1538)
    # derived: 14 + 20 + 32 + 4 is more than 64, with 20 around it
    assert encapsulation.tunnel_wire_bytes(20, stack="macsec") == 14 + 20 + 32 + 4 + 20


def told(model, *arguments, **others):
    """Return the answer of a model, and the codes of its notes."""
    with doubts() as found:
        answer = model(*arguments, **others)
    return answer, [one.code for one in found]


def test_an_mtu_that_no_packet_fits_in_is_said():
    """Published: RFC 791: a header of 20 B at least. Derived: VXLAN takes 50 B, WireGuard 60."""
    for model, others, headers in (
        (encapsulation.tunnel_mtu_bytes, {"stack": "vxlan4"}, 50),
        (wireguard_mtu_bytes, {}, 60),
    ):
        assert told(model, headers, **others) == (0, ["no-packet-fits"])
        assert told(model, headers + 19, **others) == (19, ["no-packet-fits"])
        assert told(model, headers + 20, **others) == (20, [])
    for model, others, headers in (
        (encapsulation.tunnel_tcp_payload_bytes, {"stack": "vxlan4"}, 90),
        (encapsulation.tunnel_udp_payload_bytes, {"stack": "vxlan4"}, 78),
        (tcp_payload_bytes, {}, 40),
        (udp_payload_bytes, {"ip_version": 6}, 48),
    ):
        assert told(model, headers, **others) == (0, ["no-payload-fits"])
        assert told(model, headers + 1, **others) == (1, [])


@pytest.mark.each(
    "model",
    [tunnel_mtu_bytes, tunnel_tcp_payload_bytes, tunnel_udp_payload_bytes, wireguard_mtu_bytes,
     tcp_payload_bytes, udp_payload_bytes],
)  # fmt: skip
def test_an_mtu_is_whole(model):
    others = {"stack": "vxlan4"} if "tunnel" in model.__name__ else {}
    with pytest.raises(DomainError) as refused:
        model(1500.7, **others)
    assert (refused.value.code, refused.value.name) == ("not-whole", "mtu_bytes")


def test_small_mtu_and_no_text_are_refused():
    with pytest.raises(DomainError) as refused:
        encapsulation.tunnel_mtu_bytes(40, stack="vxlan4")
    assert (refused.value.code, refused.value.name) == ("below-headers", "mtu_bytes")
    assert refused.value.values["low"] == 50  # derived: 20 + 8 + 8 of VXLAN, 14 of Ethernet
    with pytest.raises(DomainError, match="mtu_bytes"):
        encapsulation.tunnel_tcp_payload_bytes(80, stack="vxlan4")
    with pytest.raises(ArgumentTypeError) as refused:
        encapsulation.tunnel_mtu_bytes(1500, stack=4)
    assert (refused.value.code, refused.value.values["name"]) == ("not-text", "stack")


def test_pppoe_inside_an_ethernet_tunnel_is_fine():
    assert encapsulation.tunnel_overhead_bytes(0, stack="vxlan4+pppoe") == 58  # derived: 50 + 8
