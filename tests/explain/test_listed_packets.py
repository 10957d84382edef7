"""Lists of packets are explained as captures are, as far as their lines are certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.explain import Known, claim_of, measurement
from netcalc.readers import read

INPUTS = Path(__file__).parents[1] / "readers" / "inputs" / "captures"

OUT = "10:11:12.{} IP 192.0.2.1.40000 > 192.0.2.2.80: Flags "
BACK = "10:11:12.{} IP 192.0.2.2.80 > 192.0.2.1.40000: Flags "
SYN = OUT + "[S], seq 77, win 9000, length 0\n"
ANSWER = BACK + "[S.], seq 5, ack 78, win 9000, length 0\n"
DONE = OUT + "[.], ack 1, win 9000, length 0\n"
HANDSHAKE = SYN.format("000000") + ANSWER.format("020000") + DONE.format("020500")
ECHO = (
    "10:11:13.000000 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 7, seq 1, length 64\n"
    "10:11:13.030000 IP 192.0.2.2 > 192.0.2.1: ICMP echo reply, id 7, seq 1, length 64\n"
)


def labels(text):
    return [one.label for one in measurement(read(text))]


def test_a_handshake_and_an_echo_are_round_trips():
    """20.5 ms from the SYN to the ACK that ends the handshake; 30 ms of the echo."""
    echo, handshake = measurement(read(HANDSHAKE + ECHO))
    assert (echo.label, handshake.label) == (
        "ICMP echo, 192.0.2.1 to 192.0.2.2", "TCP handshake, 192.0.2.1 to 192.0.2.2 port 80",
    )  # fmt: skip
    assert (echo.measured, handshake.measured) == (pytest.approx(0.030), pytest.approx(0.0205))


def test_a_flow_with_data_is_explained_with_its_round_trip():
    """10 segments of 1000 bytes in 9 ms; the handshake is no finding of its own."""
    data = OUT + "[.], seq {}:{}, ack 1, win 9000, length 1000\n"
    segments = "".join(
        data.format(f"{30000 + 1000 * n:06d}", 1 + 1000 * n, 1001 + 1000 * n) for n in range(10)
    )
    (flow,) = measurement(read(HANDSHAKE + segments))
    assert flow.label == "192.0.2.1 port 40000 to 192.0.2.2 port 80"
    # 10,000 bytes from the SYN at 0 to the last segment at 39 ms.
    assert flow.measured == pytest.approx(8 * 10_000 / 0.039)
    assert any("20.5 ms" in str(limit.arithmetic) for limit in flow.limits)


def test_where_segments_are_missing_only_the_handshake_is_explained():
    """A segment that tcpdump cut has no length: its flow would be too slow."""
    cut = OUT.format(500000) + "[.], seq 1:1001 [|tcp]\n"
    assert labels(HANDSHAKE + cut) == ["TCP handshake, 192.0.2.1 to 192.0.2.2 port 80"]


def test_a_list_without_round_trips_has_nothing_to_explain():
    with pytest.raises(ReaderError) as caught:
        measurement(read(DONE.format("000000") + DONE.format("100000")))
    assert caught.value.code == "nothing-to-explain"


@pytest.mark.each("name", ["tshark_text.txt", "dumpcap_lo.pcapng"])
def test_a_list_and_the_capture_it_was_made_from_have_the_same_findings(name):
    text, capture = (measurement(read(INPUTS / one)) for one in (name, "dumpcap_lo.pcapng"))
    assert [one.label for one in text] == [one.label for one in capture]
    for one, other in zip(text, capture, strict=True):
        assert one.measured == pytest.approx(other.measured)


CLAIMS = {
    "20.5 ms": ("rtt-least", "TCP handshake, 192.0.2.1 to 192.0.2.2 port 80"),
    "30.0 ms": ("rtt-least", "ICMP echo, 192.0.2.1 to 192.0.2.2"),
    "15.0 ms": ("one-way-for-rtt", "ICMP echo, 192.0.2.1 to 192.0.2.2"),
    "41.0 ms": ("rtt-doubled", "TCP handshake, 192.0.2.1 to 192.0.2.2 port 80"),
}


@pytest.mark.each("text", CLAIMS)
def test_a_claim_of_a_time_is_compared_with_handshakes_and_echoes(text):
    found = claim_of(read(HANDSHAKE + ECHO), text, Known())
    assert (found.best.name, found.best.label) == CLAIMS[text]
    assert found.right.label == found.best.label


def test_a_claim_of_a_time_is_compared_with_echoes_and_handshakes_of_a_capture():
    """tshark_text.txt: 13.961 us of the second echo; 28.803 us from line 11 to line 13."""
    trace = read(INPUTS / "dumpcap_lo.pcapng")
    echo = claim_of(trace, "13.96 us", Known()).best
    assert (echo.name, echo.label) == ("rtt-most", "ICMP echo, 127.0.0.1 to 127.0.0.1")
    assert claim_of(trace, "28.80 us", Known()).best.name == "rtt-least"


def test_a_segment_sent_again_after_the_timer_was_lost():
    """The handshake takes 50.1 of 250.2 ms; the timer of 200 ms, of Linux the least, the rest."""
    ends = "192.0.2.1.40000 > 192.0.2.2.443", "192.0.2.2.443 > 192.0.2.1.40000"
    text = (
        f"10:00:00.000000 IP {ends[0]}: Flags [S], seq 1000, win 64240, "
        "options [mss 1460], length 0\n"
        f"10:00:00.050000 IP {ends[1]}: Flags [S.], seq 2000, ack 1001, win 65160, "
        "options [mss 1460], length 0\n"
        f"10:00:00.050100 IP {ends[0]}: Flags [.], ack 1, win 64240, length 0\n"
        f"10:00:00.050200 IP {ends[0]}: Flags [P.], seq 1:101, ack 1, win 64240, length 100\n"
        f"10:00:00.250200 IP {ends[0]}: Flags [P.], seq 1:101, ack 1, win 64240, length 100\n"
        f"10:00:00.300200 IP {ends[1]}: Flags [.], ack 101, win 65160, length 0\n"
    )
    (finding,) = measurement(read(text))
    assert finding.cause.code == "timeout"
    assert finding.cause.shares["timeout"] == pytest.approx(0.2 / 0.2502)
