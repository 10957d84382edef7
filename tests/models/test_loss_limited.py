"""The square-root law, AIMD and TFRC: published tables, a packet-by-packet sawtooth, inverses."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import loss_limited, pftk


@pytest.mark.each(
    ("loss", "mss", "rtt", "constant", "bps", "source"),
    [
        (2e-10, 1500, 0.1, 1.22, 10e9, "published: Kurose and Ross 3.7, 10 Gbit/s needs 2e-10"),
        (0.01, 1460, 0.1, 1.0, 1.168e6, "derived: 10 segments a round"),
    ],
)
def test_mathis(loss, mss, rtt, constant, bps, source):
    computed = loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=rtt, constant=constant)
    assert computed == pytest.approx(bps, rel=0.04), source


def sawtooth_mean_window(peak, increase, decrease, segments_per_ack):
    """Second method: the periodic sawtooth walked round by round; window and loss ratio."""
    window, sent, rounds = decrease * peak, 0.0, 0
    while window < peak:
        sent += window
        rounds += 1
        window += increase / segments_per_ack
    return sent / rounds, 1 / sent


@pytest.mark.each("segments_per_ack", [1, 2])
def test_mathis_constant_against_a_walked_sawtooth(segments_per_ack):
    window, loss = sawtooth_mean_window(4000, 1.0, 0.5, segments_per_ack)
    constant = loss_limited.mathis_constant(segments_per_ack)
    computed = loss_limited.reno_window_packets(loss, constant=constant)
    assert computed == pytest.approx(window, rel=1e-3)


@pytest.mark.each(("increase", "decrease"), [(1, 0.5), (9 / 17, 0.7), (0.2, 0.875)])
def test_aimd_against_a_walked_sawtooth(increase, decrease):
    window, loss = sawtooth_mean_window(4000, increase, decrease, 1)
    computed = loss_limited.aimd_window_packets(
        loss, increase_packets=increase, decrease_factor=decrease
    )
    assert computed == pytest.approx(window, rel=1e-3)


@pytest.mark.each(
    ("loss", "packets"), [(1e-2, 12), (1e-3, 38), (1e-4, 120), (1e-5, 379), (1e-8, 12000)]
)
def test_reno_window_of_the_rfc_tables(loss, packets):
    computed = loss_limited.reno_window_packets(loss, constant=loss_limited.RFC_CONSTANT)
    assert computed == pytest.approx(packets, abs=0.5), "published: RFC 9438 tables 1 and 2"


def test_reno_at_10_gbit_needs_a_loss_in_an_hour_and_two_thirds():
    interval = loss_limited.reno_loss_interval_s(2e-10, packet_bytes=1500, bandwidth_bps=10e9)
    assert interval == pytest.approx(6000), "published: RFC 3649, 1 2/3 hours"
    assert loss_limited.reno_loss_interval_s(0, packet_bytes=1500, bandwidth_bps=1e9) == np.inf


def test_mathis_inverse():
    """Identity, and its edges: a rate that any loss allows needs 1, an endless one 0."""
    path = {"mss_bytes": 1460, "rtt_s": 0.05}
    loss = np.array([1e-300, 1e-9, 0.01, 0.9])
    rate = loss_limited.mathis_throughput_bps(loss, **path)
    assert loss_limited.mathis_loss_ratio(rate, **path) == pytest.approx(loss, rel=1e-12, abs=0)
    assert loss_limited.mathis_loss_ratio([0.0, 1.0], **path).tolist() == [1.0, 1.0]


def test_no_loss_is_no_limit_and_all_loss_is_nothing():
    path = {"mss_bytes": 1460, "rtt_s": 0.05}
    assert loss_limited.mathis_throughput_bps([0.0, 1.0], **path).tolist() == [np.inf, 0.0]
    assert loss_limited.reno_window_packets(0.0) == np.inf
    assert loss_limited.aimd_window_packets(0.0) == np.inf
    assert loss_limited.aimd_window_packets(0.01, decrease_factor=1.0) == np.inf
    assert pftk.tfrc_throughput_bps(0.0, **path) == np.inf


def test_percent_instead_of_a_share_is_asked_about():
    with pytest.raises(DomainError, match="Did you mean 3%"):
        loss_limited.mathis_throughput_bps(3, mss_bytes=1460, rtt_s=0.1)


@pytest.mark.each(
    ("loss", "millionths"),
    [(0.0001, 8172), (0.001, 26052), (0.01, 89021), (0.03, 180704), (0.05, 271305)],
)
def test_tfrc_against_the_table_of_the_linux_kernel(loss, millionths):
    computed = 1e6 * pftk.tfrc_rounds(loss)
    assert computed == pytest.approx(millionths, abs=1), "published: tfrc_equation.c, truncated"


def test_tfrc_holds_at_a_loss_of_one():
    """Derived: sqrt(2/3) + 12 sqrt(3/8) 33 = 243.315981, the kernel table's last entry."""
    assert pftk.tfrc_rounds(1.0) == pytest.approx(243.315981, abs=1e-6)


def test_tfrc_inverse():
    """Identity over every loss; beyond what a loss of 1 gives, 1."""
    path = {"mss_bytes": 1460, "rtt_s": 0.05}
    loss = np.geomspace(1e-12, 1.0, 200)
    for variant in ({}, {"segments_per_ack": 2}, {"timeout_rtts": 1e-6}, {"timeout_rtts": 1e6}):
        rate = pftk.tfrc_throughput_bps(loss, **path, **variant)
        assert pftk.tfrc_loss_ratio(rate, **path, **variant) == pytest.approx(
            loss, rel=1e-11, abs=0
        )
    assert pftk.tfrc_loss_ratio([0.0, 1.0], **path).tolist() == [1.0, 1.0]
    assert np.isnan(pftk.tfrc_loss_ratio(np.nan, **path))
