"""Rows of packets in a capture: their spacing is the slowest link, or the timer of a sender."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc import explain, readers
from netcalc.explain.causes.trains import train_cause
from netcalc.samples import PacketTrace
from tests.readers.captures.writer import Capture, ethernet, ipv4, tcp, udp

INPUTS = Path(__file__).parent.parent / "readers" / "inputs"
A, B = "192.0.2.1", "203.0.113.9"


def capture_of(times_s, *, size=1428, ttl=62, ports=(5000, 9), back=(), others=()):
    """Write datagrams of A to B with their IP headers of 20 bytes, those of UDP of 8."""
    capture = Capture()
    sizes = np.broadcast_to(size, len(times_s))
    frames = [
        (time_s, ipv4(udp(ports, bytes(int(each) - 28)), 17, A, B, ttl=ttl))
        for time_s, each in zip(times_s, sizes, strict=True)
    ]
    frames += [(time_s, ipv4(udp(ports[::-1], b"x" * 50), 17, B, A, ttl=62)) for time_s in back]
    frames += [(time_s, ipv4(tcp((5201, 5201), 1, 1, 16, 500), 6, A, B)) for time_s in others]
    for time_s, packet in sorted(frames, key=lambda frame: frame[0]):
        capture.add(round(1e9 * time_s), ethernet(packet, 0x0800))
    return readers.read(capture.pcap())


def row(count, gap_s, begin_s=1.0):
    return [begin_s + gap_s * index for index in range(count)]


def test_a_row_over_a_t1():
    """1,428 B at 1.544 Mbit/s are 7.39896 ms apart; that they were sent at once is not seen."""
    trace = capture_of(row(30, 8 * 1428 / 1.544e6))
    (finding,) = explain.measurement(trace)
    cause = finding.cause
    assert (cause.code, cause.variant, finding.confidence) == ("line", "train", "low")
    assert cause.sign("gap_s") == pytest.approx(7.39896e-3, abs=1e-6)
    assert cause.sign("link_bps") == pytest.approx(1.544e6, rel=1e-3)
    assert (cause.sign("packet_count"), cause.sign("packet_bytes")) == (30, 1428)
    assert "if they were sent back to back" in finding.sentence
    assert "1.544 Mbit/s (IP)" in finding.sentence


def test_rows_with_pauses_are_those_of_a_program_that_probes():
    times = [time for begin in range(10) for time in row(6, 8 * 1428 / 1.544e6, 1 + 0.3 * begin)]
    (finding,) = explain.measurement(capture_of(times))
    assert (finding.cause.variant, finding.confidence) == ("trains", "medium")
    assert finding.cause.sign("train_count") == 10
    assert finding.cause.sign("link_bps") == pytest.approx(1.544e6, rel=1e-3)


def test_pairs():
    """1,500 B at 10 Mbit/s are 1.2 ms apart."""
    times = [time for begin in range(20) for time in row(2, 1.2e-3, 1 + 0.1 * begin)]
    cause = train_cause(capture_of(times, size=1500))
    assert (cause.variant, cause.sign("packet_count")) == ("trains", 2)
    assert cause.sign("link_bps") == pytest.approx(10e6, rel=1e-3)


def test_rows_at_the_gaps_of_a_timer_are_less_sure():
    """A program that sends 10 packets, 1 ms apart, 30 times a second, makes such rows as well."""
    times = [time for begin in range(30) for time in row(10, 1e-3, 1 + begin / 30)]
    (finding,) = explain.measurement(capture_of(times))
    assert (finding.cause.variant, finding.confidence) == ("trains", "low")


def test_no_router_in_between_is_said():
    cause = train_cause(capture_of(row(30, 8 * 1428 / 1.544e6), ttl=64))
    assert cause.variant == "train-near"
    assert "at the sender, the spacing is only that of the sender" in cause.sentence


def test_intervals_cover_the_rate():
    """200 rows of 40 gaps with waits of 2%, of either sign: 5% are missed, 12% at most."""
    rng = np.random.default_rng(5)
    gap_s, missed = 8 * 1428 / 1.544e6, 0
    for _ in range(200):
        times = 1 + np.concatenate(([0.0], np.cumsum(gap_s * rng.normal(1, 0.02, 40))))
        cause = train_cause(capture_of(times))
        (link,) = (sign for sign in cause.signs if sign.name == "link_bps")
        missed += not link.low <= 1.544e6 <= link.high
    assert missed <= 24


PACED = {
    "voice of 20 ms": {"times_s": row(50, 0.02), "size": 200},
    "voice with pauses": {
        "times_s": [t for begin in range(6) for t in row(50, 0.02, 1 + 5 * begin)],
        "size": 200,
    },
    "a sender that sleeps 10 ms": {"times_s": row(50, 0.0104), "size": 1028},
    "iperf -b 1M": {"times_s": row(80, 8 * 1470 / 1e6), "size": 1498},
    "iperf of 1.048576 Mbit/s": {"times_s": row(80, 8 * 1470 / 2**20), "size": 1498},
}


@pytest.mark.each("what", PACED)
def test_a_timer_or_a_round_rate_is_no_train(what):
    (finding,) = explain.measurement(capture_of(**PACED[what]))
    assert (finding.cause.code, finding.cause.variant[:5]) == ("unknown", "paced")
    assert "does not show which" in finding.sentence


GAP_S = 8 * 1428 / 1.544e6
STREAMS = {
    "long": {"times_s": row(400, GAP_S)},
    "few": {"times_s": row(9, GAP_S)},
    "answered": {"times_s": row(30, GAP_S), "back": [1.05, 1.1]},
    "with a control connection": {"times_s": row(30, GAP_S), "others": [0.9]},
    "of several sizes": {"times_s": row(30, GAP_S), "size": [1428, 700] * 15},
    "at random": {"times_s": np.cumsum(np.random.default_rng(2).exponential(GAP_S, 30))},
    "taken at once": {"times_s": row(30, 5e-6)},
    "video": {
        "times_s": [t for k, n in enumerate((9, 3, 4, 8, 2, 5, 3)) for t in row(n, 1e-3, 1 + k / 7)]
    },
}


@pytest.mark.each("what", STREAMS)
def test_streams_of_applications_are_no_trains(what):
    assert train_cause(capture_of(**STREAMS[what])) is None


def test_no_capture_of_the_collection_has_a_train():
    for path in sorted((INPUTS / "captures").glob("*.pcap*")):
        trace = readers.read(path)
        assert isinstance(trace, PacketTrace)
        assert train_cause(trace) is None, path.name
