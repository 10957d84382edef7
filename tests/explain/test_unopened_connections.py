"""Captures of connections that never opened: the host is silent, refuses, or ICMP answers."""

from __future__ import annotations

import pytest

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.explain import measurement
from tests.readers.captures.writer import ACK, RST, SYN, Capture, ethernet, icmp, ipv4, tcp

CLIENT, SERVER = "192.0.2.2", "192.0.2.1"
LINE = (
    "12:00:{at} IP 192.0.2.2.40000 > 192.0.2.1.80: Flags [S], seq 1, win 64240, "
    "options [mss 1460], length 0\n"
)


def capture_of(*segments):
    """Segments as (time in s, port of the client, flags); those with an ACK are the server's."""
    capture = Capture()
    for time_s, port, flags in segments:
        ports, ends = ((port, 80), (CLIENT, SERVER))
        if flags & ACK:
            ports, ends = ports[::-1], ends[::-1]
        segment = tcp(ports, 7 * port if not flags & ACK else 0, 7 * port + 1, flags, 500)
        capture.add(round(1e9 * (5 + time_s)), ethernet(ipv4(segment, 6, *ends), 0x0800))
    return readers.read(capture.pcap())


def counts(finding):
    return finding.cause.variant, *(sign.value for sign in finding.cause.signs)


def test_the_syns_of_a_silent_host_are_counted():
    """A SYN is sent again after 1 s and 3 s; two connections, begun 0.5 s apart."""
    times = [0, 1, 3]
    rows = [(at + begin, port, SYN) for port, begin in ((40000, 0), (40001, 0.5)) for at in times]
    (finding,) = measurement(capture_of(*sorted(rows)))
    assert counts(finding) == ("unopened", 2, 6, pytest.approx(3.5))
    assert finding.cause.code == "outage"
    assert finding.confidence == "medium"  # the capture may have missed the answers


def test_a_reset_refuses():
    rows = [(0, 40000, SYN), (0.001, 40000, RST | ACK), (1, 40001, SYN), (1.001, 40001, RST | ACK)]
    (finding,) = measurement(capture_of(*rows))
    assert counts(finding) == ("refused", 2, 2, pytest.approx(1))
    assert finding.confidence == "high"


def test_some_refuse_and_some_are_silent():
    rows = [(0, 40000, SYN), (0.1, 40001, SYN), (0.101, 40001, RST | ACK), (1.1, 40000, SYN)]
    assert sorted(counts(each)[:3] for each in measurement(capture_of(*rows))) == [
        ("refused", 1, 1), ("unopened", 1, 2),
    ]  # fmt: skip


def test_a_syn_at_the_end_of_a_capture_is_not_judged():
    with pytest.raises(ReaderError, match="nothing that a limit"):
        measurement(capture_of((0, 40000, SYN)))


def test_an_open_connection_is_no_finding_of_this_kind():
    rows = [(0, 40000, SYN), (0.02, 40000, SYN | ACK), (1.5, 40000, RST | ACK)]
    with pytest.raises(ReaderError, match="nothing that a limit"):
        measurement(capture_of(*rows))


def test_lines_of_tcpdump_say_the_same():
    text = "".join(LINE.format(at=at) for at in ("00.000000", "01.010000", "03.030000"))
    (finding,) = measurement(readers.read(text))
    assert counts(finding) == ("unopened", 1, 3, pytest.approx(3.03))
    assert "no answer to 3 SYNs in 3.03 s" in finding.cause.sentence


SYNS = "".join(LINE.format(at=at) for at in ("00.000000", "01.010000", "03.030000"))


@pytest.mark.each(
    ("answer", "variant"),
    [("host 192.0.2.1 unreachable - admin prohibited filter", "rejected"),
     ("192.0.2.1 tcp port 80 unreachable", "rejected"),
     ("time exceeded in-transit", "expired")],
)  # fmt: skip
def test_an_icmp_message_in_a_text_answers_the_syns(answer, variant):
    line = f"12:00:03.080000 IP 192.0.2.9 > 192.0.2.2: ICMP {answer}, length 60\n"
    (finding,) = measurement(readers.read(SYNS + line))
    assert counts(finding) == (variant, 1, 3, pytest.approx(3.03))
    assert [str(note) for note in finding.notices] == ["the ICMP messages are from 192.0.2.9"]


def test_an_icmp_message_of_another_packet_answers_no_syn():
    """A datagram was sent behind the SYNs, and its port is what is unreachable."""
    lines = (
        "12:00:03.070000 IP 192.0.2.2.5000 > 192.0.2.9.33434: UDP, length 12\n"
        "12:00:03.080000 IP 192.0.2.9 > 192.0.2.2: ICMP 192.0.2.9 udp port 33434 unreachable, "
        "length 60\n"
    )
    variants = [
        each.cause.variant for each in measurement(readers.read(SYNS + lines)) if each.cause
    ]
    assert "unopened" in variants
    assert "rejected" not in variants


@pytest.mark.each(("kind", "variant"), [(3, "rejected"), (11, "expired")])
def test_an_icmp_message_in_a_capture_answers_the_syn(kind, variant):
    capture = Capture()
    syn = ipv4(tcp((40000, 80), 7, 0, SYN, 500), 6, CLIENT, SERVER)
    capture.add(5_000_000_000, ethernet(syn, 0x0800))
    error = icmp(kind, 0, 0, syn[:28])
    capture.add(5_020_000_000, ethernet(ipv4(error, 1, "192.0.2.9", CLIENT), 0x0800))
    (finding,) = measurement(readers.read(capture.pcap()))
    assert counts(finding) == (variant, 1, 1, 0)
    assert finding.notices[0].values == {"addresses": ["192.0.2.9"]}


@pytest.mark.each("acknowledged", ["2500123457", "1"])
def test_a_reset_in_a_text_refuses(acknowledged):
    """tcpdump counts the acknowledgement from the SYN that it saw, or prints it as it is."""
    text = LINE.format(at="00.000000").replace("seq 1,", "seq 2500123456,") + (
        "12:00:00.000300 IP 192.0.2.1.80 > 192.0.2.2.40000: Flags [R.], seq 0, "
        f"ack {acknowledged}, win 0, length 0\n"
    )
    (finding,) = measurement(readers.read(text))
    assert counts(finding) == ("refused", 1, 1, 0)
