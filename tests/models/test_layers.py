"""Every layer of a stack of tunnels by its name: bytes from the RFCs, and names that are none."""

from __future__ import annotations

import pytest

from netcalc.errors import DomainError
from netcalc.models.sizes.encapsulation import (
    tunnel_mtu_bytes,
    tunnel_overhead_bytes,
    tunnel_packet_bytes,
)

# published: header by header
IP4, IP6, UDP, ETH, TAG, PPP = 20, 40, 8, 14, 4, 4
ROWS = {
    "None": 0,
    "mpls+eth": 4 + ETH,  # RFC 4448
    "mpls+eth+tag": 4 + ETH + TAG,  # IEEE 802.1Q
    "macsec": 8 + 8 + 16,  # IEEE 802.1AE: SecTAG, its SCI, ICV
    "macsec_no_sci": 8 + 16,
    "tag": TAG,
    "pppoe": 6 + 2,  # RFC 2516
    "tag+pppoe": TAG + 8,
    "mpls+cw": 4 + 4,  # RFC 4385
    "mpls": 4,  # RFC 3032
    "mpls1": 4,
    "mpls9": 36,
    "mpls10": 40,
    "mpls25": 100,
    "ipip": IP4,  # RFC 2003
    "sit": IP4,
    "6in4": IP4,  # RFC 4213
    "6rd": IP4,  # RFC 5969
    "4in6": IP6,  # RFC 2473
    "ipip6": IP6,
    "ip6ip6": IP6,
    "l2tpv2_udp": IP4 + UDP + 6 + PPP,  # RFC 2661
    "l2tpv2_udp6": IP6 + UDP + 6 + PPP,
    "udp": IP4 + UDP,
    "udp4": IP4 + UDP,
    "udp6": IP6 + UDP,
    "gre": IP4 + 4,  # RFC 2784
    "gre4_key": IP4 + 4 + 4,  # RFC 2890
    "gre4_seq": IP4 + 4 + 4,
    "gre4_csum": IP4 + 4 + 4,
    "gre6_csum_seq": IP6 + 4 + 8,
    "gretap": IP4 + 4 + ETH,
    "gretap6": IP6 + 4 + ETH,
    "gretap_key": IP4 + 4 + 4 + ETH,
    "gretap_seq": IP4 + 4 + 4 + ETH,
    "gretap_csum": IP4 + 4 + 4 + ETH,
    "gretap_inner_vlan": IP4 + 4 + ETH + TAG,
    "gretap_key_seq_csum_inner_vlan": IP4 + 4 + 12 + ETH + TAG,
    "vxlan": IP4 + UDP + 8 + ETH,  # RFC 7348
    "vxlan_inner_vlan": IP4 + UDP + 8 + ETH + TAG,
    "geneve": IP4 + UDP + 8 + ETH,  # RFC 8926
    "geneve_inner_vlan": IP4 + UDP + 8 + ETH + TAG,
    "l2tpv3": IP4 + 4 + ETH,  # RFC 3931, 4.1.1.1; RFC 4719
    "l2tpv3_ip6_cookie8": IP6 + 4 + 8 + ETH,
    "l2tpv3_udp_l2spec": IP4 + UDP + 4 + 4 + 4 + ETH,  # RFC 3931, 4.1.2.1 and 4.6
    "l2tpv3_udp6_cookie4": IP6 + UDP + 4 + 4 + 4 + ETH,
    "stt": IP4 + 20 + 18 + ETH,  # draft-davie-stt-08: a header like that of TCP, the frame's own
    "stt6": IP6 + 20 + 18 + ETH,
    "openvpn": IP4 + UDP + 4 + 4 + 16,  # OVPN_OPCODE_SIZE, OVPN_NONCE_WIRE_SIZE, tag
    "openvpn6_tap": IP6 + UDP + 4 + 4 + 16 + ETH,
    "openvpn4_comp": IP4 + UDP + 4 + 4 + 16 + 1,
    "openvpn_tap+tag": IP4 + UDP + 4 + 4 + 16 + ETH + TAG,
    "fastd": 1500 - 1448,  # the manual of fastd: TUN over IPv4
    "fastd_tap": 1492 - 1426,  # TAP
    "fastd6": 52 + 20,
    "fastd_null": 28 + 1,
    "geneve_opt0": IP4 + UDP + 8 + ETH,
    "geneve_opt12": IP4 + UDP + 8 + 12 + ETH,
    "geneve_opt252": IP4 + UDP + 8 + 252 + ETH,  # the most that its length field counts
    "geneve_opt4_inner_vlan": IP4 + UDP + 8 + 4 + ETH + TAG,
    "nvgre": IP4 + 8 + ETH,  # RFC 7637
    "nvgre_inner_vlan": IP4 + 8 + ETH + TAG,
    "gtpu": IP4 + UDP + 8,  # 3GPP TS 29.281
    "gtpu_pdu": IP4 + UDP + 8 + 4 + 4,  # TS 38.415
    "lisp": IP4 + UDP + 8,  # RFC 9300
    "wireguard": IP4 + UDP + 32,
    "wg": IP4 + UDP + 32,
    "wg4": IP4 + UDP + 32,
    "wg6": IP6 + UDP + 32,
    "GRE + VXLAN6 ": IP4 + 4 + IP6 + UDP + 8 + ETH,
    "vxlan+tag+pppoe": IP4 + UDP + 8 + ETH + TAG + 8,
    "geneve+tag": IP4 + UDP + 8 + ETH + TAG,
    "nvgre+tag": IP4 + 8 + ETH + TAG,
    "gretap+pppoe": IP4 + 4 + ETH + 8,
    "tag+tag": TAG + TAG,
}


@pytest.mark.each(("stack", "header_bytes"), ROWS.items())
def test_headers_of_a_stack(stack, header_bytes):
    assert tunnel_overhead_bytes(0, stack=stack, mtu_bytes=9000) == header_bytes
    assert tunnel_mtu_bytes(9000, stack=stack) == 9000 - header_bytes
    inner = 160  # a multiple of 16, so that WireGuard does not pad
    assert tunnel_packet_bytes(inner, stack=stack, mtu_bytes=9000) == inner + header_bytes


@pytest.mark.each(
    "stack",
    [
        "mpls0", "mpls100", "ipip4", "gre5", "gre_opt8", "gre_pdu", "vxlan_key", "gtpu_seq",
        "udp_key", "lisp_inner_vlan", "nvgre_key", "geneve_opt2", "geneve_opt6", "geneve_opt256",
        "geneve_opt", "vxlan_opt8", "wireguard5", "wgx", "esp5", "esp:rot13", "esp:aes-cbc/md4",
        "gre+", "+gre", "gre vxlan", "tunnel", "pppoe4", "gre+pppoe", "mpls+tag", "gtpu+tag",
        "pppoe+tag", "ipip+pppoe", "lisp+tag", "udp+pppoe", "wg+tag", "esp+pppoe",
    ],
)  # fmt: skip
def test_names_that_are_no_stack(stack):
    with pytest.raises(DomainError):
        tunnel_mtu_bytes(9000, stack=stack)


@pytest.mark.each("stack", [None, 4, ["gre"]])
def test_what_is_no_text(stack):
    with pytest.raises(TypeError):
        tunnel_mtu_bytes(1500, stack=stack)


# derived: RFC 4303 section 2, padding tried byte by byte: header 8, vector, check value
SUITES = {"": (8, 4, 16), ":aes-cbc/hmac-sha256-128": (16, 16, 16), ":null": (0, 4, 0)}


@pytest.mark.each("suite", SUITES)
@pytest.mark.each("version", ["", "4", "6"])
@pytest.mark.each("transport", [False, True])
@pytest.mark.each("nat", [False, True])
@pytest.mark.each("inner", [60, 61, 100, 1001])
def test_esp_by_its_fields(suite, version, transport, nat, inner):
    iv, align, icv = SUITES[suite]
    outer_header = IP6 if version == "6" else IP4
    stack = f"esp{version}{suite}{':transport' * transport}{':nat' * nat}"

    def outside(packet):
        """In transport mode the packet's own IP header goes outside and is not encrypted."""
        protected = packet - outer_header if transport else packet
        padding = next(pad for pad in range(256) if (protected + pad + 2) % align == 0)
        return outer_header + UDP * nat + 8 + iv + protected + padding + 2 + icv

    assert tunnel_packet_bytes(inner, stack=stack, mtu_bytes=9000) == outside(inner)
    # derived: the largest packet by trying them all
    fits = max(packet for packet in range(40, 1500) if outside(packet) <= 1400)
    assert tunnel_mtu_bytes(1400, stack=stack) == fits


def test_a_packet_without_room_for_its_own_header():
    with pytest.raises(DomainError):
        tunnel_packet_bytes(19, stack="esp:transport")
    assert (
        tunnel_packet_bytes(20, stack="esp:transport") == 20 + 8 + 8 + 4 + 16
    )  # nothing but 2 + 2


@pytest.mark.each(
    ("inner", "mtu", "outside", "source"),
    [
        (0, 1500, 60, "derived: nothing is not padded"),
        (1, 1500, 60 + 16, "derived: padded to 16"),
        (16, 1500, 60 + 16, "derived: needs no padding"),
        (17, 1500, 60 + 32, "derived: padded to 32"),
        (1433, 1500, 60 + 1440, "derived: padded to 1440, which is the largest inner packet"),
        (1440, 1500, 60 + 1440, "derived: the largest inner packet"),
        (1425, 1490, 60 + 1430, "derived: 1440 exceeds the inner MTU of 1430: padded up to it"),
        (1430, 1490, 60 + 1430, "derived: the inner MTU itself"),
        (1431, 1490, 60 + 1440, "derived: beyond the inner MTU: it is cut outside, padded whole"),
    ],
)
def test_wireguard_pads_up_to_its_mtu(inner, mtu, outside, source):
    assert tunnel_packet_bytes(inner, stack="wg", mtu_bytes=mtu) == outside, source


def test_wireguard_in_wireguard_pads_twice():
    # derived: 20 of the innermost header are padded to 32, with 60 and 24 more 116, padded to 128
    assert tunnel_packet_bytes(0, stack="wg+gre+wg+ipip", mtu_bytes=9000) == 60 + 128


@pytest.mark.each(
    ("written", "names"),
    [
        ("gre:key", ["gre_key"]),
        ("gre key", ["gre_key"]),
        ("geneve4:8", ["geneve4_opt8"]),
        ("gtpu-pdu", ["gtpu_pdu"]),
        ("key", ["gre_key", "gretap_key"]),
        ("gre_key_key", ["gre_key"]),  # RFC 2890: one key
        ("geneve4_opt8_opt12", []),  # opt20
        ("vxlan5", []),
        ("geneve4:7", []),  # options are whole words of 4 bytes
    ],
)
def test_a_name_that_is_nearly_one_is_answered_by_the_right_one(written, names):
    with pytest.raises(DomainError) as refused:
        tunnel_mtu_bytes(1500, stack=written)
    assert refused.value.values["suggestions"] == names
    if not names:
        for option in ("gre_key", "geneve4_opt8", "openvpn_tap", "esp4:SUITE:transport"):
            assert option in str(refused.value)


def test_a_tunnel_of_packets_carries_no_tag():
    for stack in ("openvpn+tag", "fastd+pppoe"):
        with pytest.raises(DomainError, match="Ethernet"):
            tunnel_mtu_bytes(1500, stack=stack)
