"""Tables, first values and refusals of the models of TCP, by hand and by identity."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import handshakes, pftk, slow_start

# Flights to and fro before the request, counted in the figures of the RFCs
TRANSPORTS = {
    "udp": 0, "tcp": 1, "tcp_persistent": 0, "ttcp": 0, "ttcp_first": 1, "tfo": 0, "tfo_first": 1,
    "quic": 1, "quic_0rtt": 0, "quic_0rtt_rejected": 1, "quic_retry": 2, "quic_0rtt_retry": 1,
    "quic_hrr": 2, "quic_version_negotiation": 2, "quic_version_negotiation_retry": 3,
}  # fmt: skip
SECURITIES = {
    "tcp": {"none": 0, "tls1.2": 2, "tls1.2_resume": 1, "tls1.2_false_start": 1, "tls1.3": 1,
            "tls1.3_resume": 1, "tls1.3_hrr": 2, "tls1.3_0rtt": 0, "tls1.3_0rtt_rejected": 1},
    "udp": {"none": 0, "dtls1.2": 3, "dtls1.2_resume": 2, "dtls1.3": 1, "dtls1.3_hrr": 2,
            "dtls1.3_0rtt": 0},
}  # fmt: skip


def test_round_trips_of_every_transport_and_security():
    """RFC 9293, 1644, 7413, 9000; RFC 5246, 7918, 8446, 6347 and 9147; and one for the reply."""
    assert set(handshakes.TRANSPORT_ROUND_TRIPS) == set(TRANSPORTS)
    for transport, trips in TRANSPORTS.items():
        assert handshakes.round_trips(transport) == trips + 1, transport
    for transport, securities in SECURITIES.items():
        for security, trips in securities.items():
            found = handshakes.round_trips(transport, security=security)
            assert found == TRANSPORTS[transport] + trips + 1, security
    assert {*SECURITIES["tcp"], *SECURITIES["udp"]} == set(handshakes.SECURITY_ROUND_TRIPS)


@pytest.mark.each(
    ("transport", "security", "fits"),
    [("udp", "tls1.3", "udp"), ("tcp", "dtls1.3", "tcp"), ("quic", "tls1.3", None),
     ("quic", "dtls1.2", None), ("tfo", "dtls1.2", "tcp")],
)  # fmt: skip
def test_a_security_that_the_transport_does_not_carry(transport, security, fits):
    with pytest.raises(DomainError) as refused:
        handshakes.round_trips(transport, security=security)
    found = refused.value
    assert (found.code, found.name, found.value) == ("not-over", "security", security)
    assert found.values["transport"] == transport
    assert found.values["choices"] == (list(SECURITIES[fits]) if fits else ["none"])


def test_segments_of_every_exchange():
    """Counted in Stevens vol. 3, figures 1.5 to 1.8, and in RFC 7413."""
    counts = {"udp_transaction": 2, "tcp_handshake": 3, "tcp_close": 4, "tcp_close_merged": 3,
              "tcp_transaction": 9, "ttcp_transaction": 3, "ttcp_first_transaction": 5,
              "tfo_transaction": 5}  # fmt: skip
    assert counts == handshakes.LADDER_SEGMENTS


def test_rounds_of_nothing_of_unknown_and_of_too_many_segments(monkeypatch):
    assert slow_start.rounds_delayed_ack(0) == 0
    assert np.isnan(slow_start.rounds_delayed_ack(np.nan))
    assert np.isnan(slow_start.rounds_delayed_ack(5, segments_per_ack=np.nan))
    # What the limit is, is judged with the hostile arguments: all rounds up to it are counted.
    monkeypatch.setattr(slow_start, "MAX_ROUNDS", 1000)
    with pytest.raises(DomainError) as refused:
        slow_start.rounds_delayed_ack([3.0, 1e300], segments_per_ack=1e300)
    found = refused.value
    assert (found.code, found.name, found.value) == ("too-many-rounds", "segments", 1e300)
    assert found.values["high"] == 1000


@pytest.mark.each("timeout", [1e-6, 0.01, 4.0, 1e4, 1e9])
def test_the_loss_of_tfrc_is_the_inverse_of_its_rate(timeout):
    """Identity, whichever of the three terms of RFC 5348, 3.1, is the largest."""
    loss = np.logspace(-12, 0, 49)
    path = {"mss_bytes": 1460, "rtt_s": 0.1, "segments_per_ack": 2, "timeout_rtts": timeout}
    rate = pftk.tfrc_throughput_bps(loss, **path)
    assert pftk.tfrc_loss_ratio(rate, **path) == pytest.approx(loss, rel=1e-9)


def test_the_rate_of_tfrc_by_hand():
    """RFC 5348, 3.1, at p = 1 %, R = 0.1 s, b = 1, t_RTO = 4 R, term by term.

    R sqrt(2/3 0.01) is 8.16497e-3 s, 3 sqrt(3/8 0.01) is 0.183712, times 0.01 (1 + 32e-4) times
    0.4 s is 7.37199e-4 s; 1460 bytes in the sum of both.
    """
    rate = pftk.tfrc_throughput_bps(0.01, mss_bytes=1460, rtt_s=0.1)
    assert rate == pytest.approx(8 * 1460 / (8.16497e-3 + 7.37199e-4), rel=1e-5)
