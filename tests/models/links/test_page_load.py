"""Page load: requests and round trips counted one by one, and the textbook's cases."""

from __future__ import annotations

import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import handshakes


def counted(objects, http, opening, connections):
    """Second method: round after round, what each connection does."""
    rounds = opening + 1
    if http in ("1.1-pipelined", "2", "3"):
        return rounds + (objects > 0)
    left, age = objects, [opening] + [0] * (connections - 1)  # rounds since it began to open
    while left > 0:
        rounds += 1
        if http == "1.0":
            ready = min(left, connections)
            rounds, left = rounds + opening, left - ready
            continue
        for index in range(connections):
            if age[index] >= opening and left:
                left -= 1
            age[index] += 1
    return rounds


@pytest.mark.each("http", handshakes.HTTP_VERSIONS)
@pytest.mark.each(("security", "opening"), [("none", 1), ("tls1.3", 2), ("tls1.2", 3)])
@pytest.mark.each("connections", [1, 2, 6])
def test_round_trips_counted(http, security, opening, connections):
    opening = 1 if http == "3" else opening  # QUIC's handshake
    for objects in (0, 1, 2, 3, 5, 6, 7, 30, 100):
        found = handshakes.page_round_trips(
            objects, http=http, security=security, connection_count=connections
        )
        assert found == counted(objects, http, opening, connections), objects


@pytest.mark.each(
    ("http", "connections", "round_trips"),
    [("1.0", 1, 18), ("1.0", 5, 6), ("1.1-pipelined", 1, 3), ("1.1", 1, 10)],
)
def test_published_case(http, connections, round_trips):
    """Published: Kurose and Ross, problems of 2.2: eight objects, 18, 6, 3 and 10 round trips."""
    found = handshakes.page_round_trips(8, http=http, security="none", connection_count=connections)
    assert found == round_trips


def test_a_page_alone_is_the_first_byte():
    """Identity: the same as the round trips to a first byte."""
    for security in ("none", "tls1.2", "tls1.3", "tls1.3_0rtt"):
        found = handshakes.page_round_trips(0, security=security)
        assert found == handshakes.round_trips("tcp", security=security)
    assert handshakes.page_round_trips(0, http="3") == handshakes.round_trips("quic")


def test_time_is_round_trips_and_bytes():
    """Derived: term by term."""
    trips = float(handshakes.page_round_trips(50, http="1.1"))
    time = handshakes.page_load_s(
        50, rtt_s=0.03, object_bytes=20e3, page_bytes=40e3, bandwidth_bps=20e6, server_s=0.1,
        http="1.1",
    )  # fmt: skip
    assert time == pytest.approx(trips * 0.03 + 0.1 + 8 * (40e3 + 50 * 20e3) / 20e6, rel=1e-13)


def test_security_over_udp_is_refused():
    with pytest.raises(DomainError, match="security"):
        handshakes.page_round_trips(3, security="dtls1.2")


def test_a_version_that_is_not_known_is_refused():
    with pytest.raises(DomainError, match="http must be one of"):
        handshakes.page_round_trips(3, http="9")
