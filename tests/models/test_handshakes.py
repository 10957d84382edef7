"""Handshakes: messages written out and counted, published segment counts."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import handshakes

# Second method: the flights, client (>) and server (<) in turn; each pair is a round trip.
FLIGHTS = {
    ("udp", "none"): "> request < response",
    ("tcp", "none"): "> SYN < SYN+ACK > request < response",
    ("ttcp", "none"): "> SYN+request+FIN < SYN+ACK+response+FIN",
    ("tfo", "none"): "> SYN+cookie+request < SYN+ACK+response",
    ("tfo_first", "none"): "> SYN+ask < SYN+ACK+cookie > request < response",
    ("tcp", "tls1.2"): "> SYN < SYN+ACK > hello < hello+cert > key+finished < finished "
    "> request < response",
    ("tcp", "tls1.2_false_start"): "> SYN < SYN+ACK > hello < hello+cert > finished+request "
    "< finished+response",
    ("tcp", "tls1.2_resume"): "> SYN < SYN+ACK > hello < hello+finished > finished+request "
    "< response",
    ("tcp", "tls1.3"): "> SYN < SYN+ACK > hello < hello+finished > finished+request < response",
    ("tcp", "tls1.3_hrr"): "> SYN < SYN+ACK > hello < retry > hello < hello+finished "
    "> finished+request < response",
    ("tcp", "tls1.3_0rtt"): "> SYN < SYN+ACK > hello+request < hello+finished+response",
    ("tfo", "tls1.3"): "> SYN+hello < SYN+ACK+hello+finished > finished+request < response",
    ("tfo", "tls1.3_0rtt"): "> SYN+hello+request < SYN+ACK+hello+response",
    ("quic", "none"): "> initial < initial+handshake > handshake+request < response",
    ("quic_0rtt", "none"): "> initial+request < initial+handshake+response",
    ("quic_retry", "none"): "> initial < retry > initial < handshake > request < response",
    ("quic_0rtt_retry", "none"): "> initial+request < retry > initial+request < response",
    ("quic_version_negotiation", "none"): "> initial < versions > initial < handshake "
    "> request < response",
    ("udp", "dtls1.2"): "> hello < verify > hello+cookie < hello+cert > key+finished < finished "
    "> request < response",
}


@pytest.mark.each(("names", "flights"), FLIGHTS.items(), ids=lambda item: str(item)[:40])
def test_round_trips_against_the_flights(names, flights):
    transport, security = names
    assert handshakes.round_trips(transport, security=security) == flights.count("> ")


def test_first_byte_adds_the_server():
    """Derived: 4 x 100 + 10 ms; Stevens A.3: T/TCP saves one round trip of TCP."""
    rtt_s = np.array([0.058, 0.1])
    tls = handshakes.first_byte_s(rtt_s, transport="tcp", security="tls1.2", server_s=0.01)
    assert tls == pytest.approx([0.242, 0.41])
    saved = handshakes.first_byte_s(rtt_s) - handshakes.first_byte_s(rtt_s, transport="ttcp")
    assert saved == pytest.approx(rtt_s)
    extra = handshakes.first_byte_s(rtt_s, extra_round_trips=1)
    assert extra == pytest.approx(3 * rtt_s)


@pytest.mark.each(
    ("flight_bytes", "transport", "expected", "source"),
    [
        (14600, "tcp", 0, "derived: ten segments"),
        (14601, "tcp", 1, "derived: one more"),
        (3600, "quic", 0, "published: RFC 9000 8.1, three times 1200"),
        (3601, "quic", 1, "derived: one more waits for the client"),
        (3600 + 14600, "quic", 1, "derived: then a full first window"),
        (3600 + 14601, "quic", 2, "derived: one more"),
        (0, "tcp", 0, "identity"),
    ],
)
def test_certificates(flight_bytes, transport, expected, source):
    computed = handshakes.certificate_round_trips(flight_bytes, transport=transport)
    assert computed == expected, source


@pytest.mark.each(
    ("ladder", "segments", "source"),
    [
        ("tcp_transaction", 9, "published: Stevens vol. 3, Fig. 1-8"),
        ("ttcp_transaction", 3, "published: Stevens vol. 3, Fig. 1-12"),
        ("tcp_handshake", 3, "published: RFC 9293"),
        ("tcp_close", 4, "published: RFC 9293"),
        ("udp_transaction", 2, "published: request and reply"),
    ],
)
def test_segments(ladder, segments, source):
    assert handshakes.segments(ladder) == segments, source


def test_impossible_combinations():
    with pytest.raises(DomainError, match="transport"):
        handshakes.round_trips("sctp")
    with pytest.raises(DomainError) as refused:
        handshakes.round_trips("quic", security="tls1.3")
    assert (refused.value.code, refused.value.values["choices"]) == ("not-over", ["none"])
    with pytest.raises(DomainError) as refused:
        handshakes.round_trips("tcp", security="dtls1.3")
    assert refused.value.code == "not-over"
    assert set(refused.value.values["choices"]) >= {"none", "tls1.2", "tls1.3"}
    assert not [one for one in refused.value.values["choices"] if one.startswith("dtls")]
    with pytest.raises(DomainError, match="ladder"):
        handshakes.segments("telepathy")
    with pytest.raises(DomainError, match="rtt_s"):
        handshakes.first_byte_s(-1)
