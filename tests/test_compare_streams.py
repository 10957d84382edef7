"""The theory of a stream over a path: every packet that stands in its way is on the line."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare
from netcalc.path import Path
from netcalc.samples import TransactionSamples

T1 = 1.544e6
ONE_WAY_S = 5e-3


def clocked_s(*packets):
    """Time of packets one behind the other on a T1. [s]"""
    return sum(packets) * 8 / T1


def predicted(mode, size, path=Path.parse("T1 5 ms")):  # noqa: B008 - frozen
    samples = TransactionSamples(mode=[mode], sequence=[1], payload_bytes=[size], response_s=[1.0])
    return compare.transactions(samples, mode=mode, path=path).predicted[0]


@pytest.mark.each(
    ("mode", "size", "there", "back", "round_trips", "source"),
    [
        # Packets as a tap saw them on Linux 6.18: IP bytes, there and back, each way in a row.
        ("tcp", 1400, (60, 52, 1452), (60, 52, 1452, 52), 2, "derived: sum over observed packets"),
        ("tcp", 8, (60, 52, 60), (60, 52, 60, 52), 2, "derived: the same with 8 bytes"),
        ("tcp", 2000, (60, 52, 1500, 604), (60, 52, 1500, 604, 52), 2, "derived: two segments"),
        ("tcp", 0, (60, 52), (60, 52, 52), 2, "derived: no data"),
        ("tfo", 1400, (1472,), (60, 1452, 52), 1, "derived: sum over observed packets"),
        ("tfo", 1428, (1500,), (60, 1480, 52), 1, "derived: all that fits beside the options"),
        ("tfo", 1448, (1500, 72), (60, 52, 1500, 52), 2, "derived: 20 bytes wait for the answer"),
        ("tls", 8, (60, 52, 52, 60), (60, 52, 52, 60, 52), 3, "derived: a bare round trip more"),
        ("udp", 1400, (1428,), (1428,), 1, "derived: one datagram each way"),
        ("ping", 8, (36,), (36,), 1, "derived: one packet each way"),
    ],
)
def test_a_stream_on_one_line(mode, size, there, back, round_trips, source):
    expected_s = 2 * round_trips * ONE_WAY_S + clocked_s(*there) + clocked_s(*back)
    assert predicted(mode, size) == pytest.approx(expected_s, rel=1e-12), source


def test_a_short_packet_in_front_is_in_the_way_once_on_many_lines():
    # derived: alone, 60 bytes take 8 L / R on each of three lines. In a train the last bit of
    # the request is behind the 52 bytes on the first line only: they are faster on the others.
    path = Path.parse("3 x T1 1 ms")
    opening = 6e-3 + 6 * clocked_s(60)
    there = 3e-3 + clocked_s(52) + 3 * clocked_s(1052)
    # Of the response the 52 bytes at the end follow each line behind it.
    back = 3e-3 + clocked_s(52) + 3 * clocked_s(1052) + clocked_s(52)
    assert predicted("tcp", 1000, path) == pytest.approx(opening + there + back, rel=1e-12)


def test_nodes_take_their_time_for_each_packet_in_front():
    # derived: A sends and receives in 2 ms each, B turns round in 3, the line takes 1 each way. A
    # stream takes that twice, and more for the packets in front.
    path = Path.parse("1000 Tbit/s 1 ms", source_processing_s=2e-3, destination_processing_s=3e-3)
    assert predicted("udp", 100, path) == pytest.approx(9e-3, rel=1e-6)
    assert predicted("tcp", 100, path) > 18e-3


def test_sizes_of_a_curve_are_whole_and_of_one_shape():
    path = Path.parse("T1 5 ms")
    samples = TransactionSamples(
        mode=["tcp"] * 2, sequence=[1, 2], payload_bytes=[8, 1400], response_s=[1.0, 1.0]
    )
    found = compare.transactions(samples, mode="tcp", path=path)
    assert found.curve_y.shape == found.curve_x.shape
    assert np.isfinite(found.curve_y).all()
    assert (np.diff(found.curve_y) >= -1e-12).all()
