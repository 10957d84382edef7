"""Goodput of TCP and UDP on Ethernet, one way, both ways, and on one wire."""

from __future__ import annotations

import pytest

from netcalc.errors import DomainError, DoubtWarning, doubts
from netcalc.models.rates import goodput


@pytest.mark.each(
    ("mtu_bytes", "ip_version", "options", "percent", "source"),
    [
        (1500, 4, 0, 94.93, "published: RFC 6349 prints 94.9"),
        (1500, 4, 12, 94.15, "published: the 941 Mbit/s that iperf shows at 1 Gbit/s"),
        (1500, 6, 0, 93.63, "derived: 1440 / 1538"),
        (1500, 6, 12, 92.85, "derived: 1428 / 1538"),
        (9000, 4, 0, 99.14, "derived: 8960 / 9038"),
    ],
)
def test_tcp_share_of_the_line(mtu_bytes, ip_version, options, percent, source):
    share = goodput.tcp_goodput_ratio(mtu_bytes, ip_version=ip_version, tcp_option_bytes=options)
    assert 100 * float(share) == pytest.approx(percent, abs=0.005), source
    rate = goodput.tcp_goodput_bps(
        mtu_bytes, bandwidth_bps=1e9, ip_version=ip_version, tcp_option_bytes=options
    )
    assert rate == pytest.approx(1e9 * float(share))


def test_tags_and_padding():
    # derived: 1460 / (1538 + 4)
    share = goodput.tcp_goodput_ratio(1500, tag_count=1, tcp_option_bytes=0)
    assert share == pytest.approx(1460 / 1542)
    # derived: one byte of TCP in a padded frame, 1 / 84
    assert goodput.tcp_goodput_ratio(41, tcp_option_bytes=0) == pytest.approx(1 / 84)


def test_udp_share_of_the_line():
    # published: 957.1 Mbit/s at 1 Gbit/s and 1500 bytes; derived: 1472 / 1538
    assert goodput.udp_goodput_bps(1500, bandwidth_bps=1e9) == pytest.approx(1e9 * 1472 / 1538)
    # derived: 18 bytes of payload in the smallest frame
    assert goodput.udp_goodput_ratio(46) == pytest.approx(18 / 84)
    # the trap of the 1235 kB/s that a test printed for 1440 bytes at 10 Mbit/s: 1195 is the most
    ceiling = goodput.udp_goodput_bps(1440 + 28, bandwidth_bps=10e6) / 8e3
    assert float(ceiling) == pytest.approx(1195.2, abs=0.05)


def test_acknowledgements():
    assert goodput.tcp_ack_wire_bytes(0) == 84  # derived: 40 + 18 is padded to 64, + 20
    assert goodput.tcp_ack_wire_bytes(12) == 90  # derived: 52 + 38
    assert goodput.tcp_ack_wire_bytes(12, ip_version=6) == 110  # derived: 72 + 38
    assert goodput.tcp_ack_wire_bytes(0, tag_count=1) == 84  # derived: 62 is padded too
    share = goodput.ack_reverse_utilization(2, tcp_option_bytes=12)
    assert share == pytest.approx(90 / 3076)  # derived: one of 90 for two of 1538


@pytest.mark.each(("every", "options", "ack"), [(1, 0, 84), (2, 12, 90), (8, 12, 90)])
def test_half_duplex_against_one_round_of_frames(every, options, ack):
    # derived: the time of one round, every frame in turn on the wire
    payload = every * (1460 - options)
    seconds = 8 * (every * 1538 + ack) / 10e6
    rate = goodput.half_duplex_goodput_bps(
        1500, bandwidth_bps=10e6, segments_per_ack=every, tcp_option_bytes=options
    )
    assert rate == pytest.approx(8 * payload / seconds)


def test_half_duplex_without_acknowledgements_is_full_duplex():
    # identity: the limit of ever rarer acknowledgements
    rare = goodput.half_duplex_goodput_bps(1500, bandwidth_bps=1e9, segments_per_ack=1e12)
    assert rare == pytest.approx(float(goodput.tcp_goodput_bps(1500, bandwidth_bps=1e9)), rel=1e-9)


@pytest.mark.each(
    ("call", "named"),
    [
        (lambda: goodput.tcp_goodput_bps(1500, bandwidth_bps=-1), "bandwidth_bps"),
        (lambda: goodput.tcp_goodput_ratio(20), "mtu_bytes"),
        (lambda: goodput.udp_goodput_ratio(20), "mtu_bytes"),
        (lambda: goodput.ack_reverse_utilization(0), "segments_per_ack"),
        (lambda: goodput.ack_reverse_utilization(2, mtu_bytes=30), "mtu_bytes"),
        (lambda: goodput.tcp_ack_wire_bytes(41), "tcp_option_bytes"),
        (lambda: goodput.half_duplex_goodput_bps(1500, bandwidth_bps=0), "bandwidth_bps"),
    ],
)
def test_impossible_numbers_are_named(call, named):
    with pytest.raises(DomainError, match=named):
        call()


def test_a_half_duplex_rate_of_no_ethernet_is_doubtful():
    # published: IEEE 802.3 has half duplex at 10, 100 and 1000 Mbit/s; 54 is a rate of 802.11
    with pytest.warns(DoubtWarning, match="Wi-Fi"):
        goodput.half_duplex_goodput_bps(1500, bandwidth_bps=54e6)
    with doubts() as found:
        goodput.half_duplex_goodput_bps(1500, bandwidth_bps=[10e6, 100e6, 1e9])
    assert found == []
