"""Ethernet framing: sizes on the wire, in captures, and what they leave for the payload."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.sizes import framing


@pytest.mark.each(
    ("packet_bytes", "tag_count", "expected", "source"),
    [
        (0, 0, 84, "published: IEEE 802.3, 64 + 8 + 12"),
        (46, 0, 84, "derived: 46 + 18 is the smallest frame"),
        (47, 0, 85, "derived: one byte above it"),
        (1500, 0, 1538, "published: 1518 + 20"),
        (42, 1, 84, "derived: the tag counts towards 64, so 42 bytes fill it"),
        (43, 1, 85, "derived: one more"),
        (46, 1, 88, "derived: 46 + 4 + 18 + 20"),
        (38, 2, 84, "derived: two tags take 8 of the 46"),
        (1500, 2, 1546, "derived: QinQ, 1538 + 8"),
        (9000, 0, 9038, "derived: jumbo"),
    ],
)
def test_wire_bytes(packet_bytes, tag_count, expected, source):
    assert framing.ethernet_wire_bytes(packet_bytes, tag_count=tag_count) == expected, source


def test_wire_bytes_against_the_frame_field_by_field():
    # derived: destination, source, tags, type, payload, padding, FCS; preamble, delimiter, gap
    for packet_bytes in range(200):
        for tags in (0, 1, 2):
            fields = [6, 6, 4 * tags, 2, packet_bytes, 4]
            padding = max(0, 64 - sum(fields))
            on_wire = 7 + 1 + sum(fields) + padding + 12
            assert framing.ethernet_wire_bytes(packet_bytes, tag_count=tags) == on_wire


def test_switch_that_pads_before_it_tags():
    # IEEE 802.1Q allows 68: the smallest untagged frame, tagged
    assert framing.ethernet_frame_bytes(20, tag_count=1, min_frame_bytes=68) == 68


@pytest.mark.each(
    ("captured_bytes", "frame", "wire", "source"),
    [
        (1514, 1518, 1538, "published: RFC 2544 frame sizes include the FCS, captures do not"),
        (60, 64, 84, "derived: the smallest frame less its FCS"),
        (42, 64, 84, "derived: an ARP request captured at its sender, before padding"),
        (128, 132, 152, "derived: 128 + 4 + 20, so adding only 20 is 4 short"),
    ],
)
def test_captured_sizes(captured_bytes, frame, wire, source):
    assert framing.captured_frame_bytes(captured_bytes) == frame, source
    assert framing.captured_wire_bytes(captured_bytes) == wire, source


@pytest.mark.each(
    ("captured_bytes", "ip_version", "options", "tags", "expected"),
    [  # derived: length less 14, less the headers of RFC 791 or 8200, 9293, 7323
        (64, 4, 0, 0, 10),
        (1514, 4, 0, 0, 1460),
        (1514, 4, 12, 0, 1448),
        (1514, 6, 12, 0, 1428),
        (1518, 4, 0, 1, 1460),
        (54, 4, 0, 0, 0),
    ],
)
def test_captured_tcp_payload(captured_bytes, ip_version, options, tags, expected):
    payload = framing.captured_tcp_payload_bytes(
        captured_bytes, ip_version=ip_version, tcp_option_bytes=options, tag_count=tags
    )
    assert payload == expected


@pytest.mark.each(
    ("mtu_bytes", "ip_version", "options", "expected", "source"),
    [
        (1500, 4, 0, 1460, "published: RFC 9293 section 3.7.1"),
        (1500, 4, 12, 1448, "published: what BSD and Linux send with timestamps"),
        (1500, 6, 0, 1440, "published: RFC 8200, 40 + 20"),
        (1492, 4, 0, 1452, "published: RFC 2516 (PPPoE)"),
        (576, 4, 0, 536, "published: the default of RFC 9293"),
        (1280, 6, 0, 1220, "published: the default of RFC 9293 for IPv6"),
        (16384, 4, 12, 16332, "published: loopback of 16384, 52 bytes of headers"),
        (40, 4, 0, 0, "identity: headers alone"),
    ],
)
def test_tcp_payload(mtu_bytes, ip_version, options, expected, source):
    payload = framing.tcp_payload_bytes(mtu_bytes, ip_version=ip_version, tcp_option_bytes=options)
    assert payload == expected, source


def test_udp_payloads():
    assert framing.udp_payload_bytes(1500) == 1472  # published: RFC 768 and 791
    assert framing.udp_payload_bytes(1500, ip_version=6) == 1452  # derived: 1500 - 40 - 8
    assert framing.udp_payload_limit_bytes(4) == 65_507  # published: 65535 - 28
    assert framing.udp_payload_limit_bytes(6) == 65_527  # derived: the length field omits IPv6's 40


@pytest.mark.each(
    ("call", "facts"),
    [
        (lambda: framing.ethernet_wire_bytes(-1), {"name": "packet_bytes"}),
        (lambda: framing.ethernet_wire_bytes(40, tag_count=1.5), {"name": "tag_count"}),
        (lambda: framing.ethernet_wire_bytes(40, tag_count=-1), {"name": "tag_count"}),
        (lambda: framing.captured_wire_bytes(-60), {"name": "captured_bytes"}),
        (
            lambda: framing.captured_tcp_payload_bytes(53),
            {"code": "below-headers", "name": "captured_bytes", "value": 53, "low": 54},
        ),
        (
            lambda: framing.tcp_payload_bytes(39),
            {"code": "below-headers", "name": "mtu_bytes", "value": 39, "low": 40},
        ),
        (
            lambda: framing.tcp_payload_bytes([1500, 39]),
            {"name": "mtu_bytes", "value": 39, "index": 1},
        ),
        (
            lambda: framing.tcp_payload_bytes(1500, tcp_option_bytes=44),
            {"name": "tcp_option_bytes"},
        ),
        (
            lambda: framing.tcp_payload_bytes(1500, ip_version=5),
            {"code": "not-a-choice", "name": "ip_version", "value": 5},
        ),
        (lambda: framing.udp_payload_bytes(27), {"name": "mtu_bytes"}),
        (lambda: framing.udp_payload_limit_bytes(5), {"name": "ip_version"}),
    ],
)
def test_impossible_numbers_are_named(call, facts):
    with pytest.raises(DomainError) as refused:
        call()
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


def test_broadcasting_and_other_inputs():
    grid = framing.ethernet_wire_bytes([[40], [1500]], tag_count=[0, 1, 2])
    assert grid.tolist() == [[84, 84, 86], [1538, 1542, 1546]]  # derived by hand
    assert framing.tcp_payload_bytes([], ip_version=6).shape == (0,)
    assert framing.tcp_payload_bytes(np.int16(1500)) == 1460
    with pytest.warns(NotFiniteWarning, match="1 of 2"):
        sizes = framing.tcp_payload_bytes([1500, np.nan])
    assert np.isnan(sizes).tolist() == [False, True]
