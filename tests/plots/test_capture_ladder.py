"""The ladder of a captured flow: what a browser is given, against courses of packets by hand."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import writer as w

from netcalc import datasets, plots, readers
from netcalc.errors import DomainError
from netcalc.explain import Known
from netcalc.plots.captures import BEFORE, DRAWN_PACKETS
from netcalc.plots.measured import measured

TESTS = Path(__file__).parents[1]
MSS = 1000


def read(capture):
    return readers.read(io.BytesIO(capture.pcap(nano=True)))


def points(plot, name):
    data = plot.sources[name].data
    pairs = zip(np.asarray(data["x"]).tolist(), np.asarray(data["y"]).tolist(), strict=True)
    return [pair for pair in pairs if pair == pair and pair[0] == pair[0]]


def test_arrows_slope_by_half_of_the_round_trip_on_each_side():
    """By hand: 30 ms to the server and back, 10 ms to the client and back. The SYN that passed at 0
    left 5 ms before and arrived 15 ms later; its answer passed at 30 ms, and the ACK at 40 ms."""
    capture = w.Capture()
    w.Conversation(capture).open(0.0, 0.030, 0.010)
    plot = plots.capture_ladder(read(capture))
    syn = points(plot, "SYN, FIN or RST")
    assert syn == [
        (0.0, pytest.approx(-0.005)), (1.0, pytest.approx(0.015)),
        (1.0, pytest.approx(0.015)), (0.0, pytest.approx(0.035)),
    ]  # fmt: skip
    ack = points(plot, "acknowledgement")
    assert ack == [(0.0, pytest.approx(0.035)), (1.0, pytest.approx(0.055))]
    assert "30 ms to the server and back and 10 ms to the client and back" in plot.description
    assert "client 192.0.2.1 port 40000" in plot.description


def test_an_arrow_is_level_where_the_round_trip_is_not_known():
    """Begun midway and of one direction: no side shows a round trip."""
    capture = w.Capture()
    one = w.Conversation(capture)
    for number in range(4):
        one.send(0.001 * number, False, 1 + number * MSS, 1, payload=MSS)
    plot = plots.capture_ladder(read(capture))
    drawn = points(plot, "segment with data")
    assert [y for _, y in drawn] == pytest.approx(
        [0.0, 0.0, 0.001, 0.001, 0.002, 0.002, 0.003, 0.003]
    )
    assert "how far the server and the client is, is not known" in plot.description


def test_round_trips_of_another_flow_are_not_those_of_this():
    """The second flow begins midway: the server answers after 20 ms, and the client after 4 ms."""
    capture = w.Capture()
    w.Conversation(capture).open(0.0, 0.030, 0.010)
    later = w.Conversation(capture, ports=(40001, 80))
    later.send(1.000, True, 1, 1, payload=MSS)
    later.send(1.020, False, 1, 1 + MSS)
    later.send(2.000, False, 1, 1 + MSS, payload=MSS)
    later.send(2.004, True, 1 + MSS, 1 + MSS)
    trace = read(capture)
    first, second = (plots.capture_ladder(trace, flow=flow).description for flow in (0, 1))
    assert "30 ms to the server and back and 10 ms to the client and back" in first
    assert "20 ms to the server and back and 4 ms to the client and back" in second


def lossy():
    """One segment lost, three duplicate ACKs, a fast retransmission; then a timeout."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t = one.open(0.0, 0.010, 0.010)
    for number in range(5):
        one.send(t + 1e-4 * number, False, 1 + number * MSS, 1, payload=MSS)
    one.send(t + 0.0100, True, 1, 1 + MSS)
    for number in range(3):
        one.send(t + 0.0102 + 1e-4 * number, True, 1, 1 + MSS)
    one.send(t + 0.0110, False, 1 + MSS, 1, payload=MSS)
    one.send(t + 0.0210, True, 1, 1 + 5 * MSS)
    one.send(t + 0.1000, False, 1 + 5 * MSS, 1, payload=MSS)
    one.send(t + 0.4000, False, 1 + 5 * MSS, 1, payload=MSS)
    one.send(t + 0.4100, True, 1, 1 + 6 * MSS)
    return capture


def test_what_was_sent_again_and_acknowledged_twice_has_a_mark():
    plot = plots.capture_ladder(read(lossy()), first=0)
    assert len(points(plot, "segment sent again")) == 2 * 2  # after three duplicates, by a timer
    assert len(points(plot, "duplicate ACK")) == 2 * 3
    labels = plot.sources["labels"].data["text"]
    assert "10: duplicate ACK, ACK 1001" in labels  # of those at one place only the first has room
    assert "16: retransmission, 1000 B" in labels
    what = plot.sources["segment sent again"].data["what"]
    assert what[::3] == ["13: fast retransmission, 1000 B", "16: retransmission, 1000 B"]
    assert "duplicate ACK: 3; fast retransmission: 1; retransmission: 1" in plot.description
    assert len(plot.sources["heads"].data["x"]) == 3 + 5 + 1 + 3 + 1 + 1 + 2 + 1


def test_waits_are_bars_beside_the_host_that_waited():
    """By hand: small writes of 100 B and 50 B each second; the ACK comes by a timer of 40 ms, and
    the second write leaves 0.2 ms after it, 41.2 ms after the first."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t, sequence = one.open(0.0, 0.0005, 0.0005), 1
    one.send(t, True, sequence, 1, payload=100)
    one.send(t + 0.001, False, 1, sequence + 100)
    sequence, t = sequence + 100, t + 0.1
    one.send(t, True, sequence, 1, payload=100)
    one.send(t + 0.041, False, 1, sequence + 100)
    one.send(t + 0.0412, True, sequence + 100, 1, payload=50)
    plot = plots.capture_ladder(read(capture))
    delayed = plot.sources["wait: delayed ACK"].data
    # left 0.25 ms before it passed the capture, and had waited 40 ms beyond the fastest answer
    assert np.asarray(delayed["bottom"]) == pytest.approx([t + 0.041 - 0.00025])
    assert np.asarray(delayed["bottom"]) - np.asarray(delayed["top"]) == pytest.approx([0.040])
    assert np.asarray(delayed["left"]) == pytest.approx([0.98])
    held = plot.sources["wait: held back (Nagle)"].data
    assert np.asarray(held["bottom"]) - np.asarray(held["top"]) == pytest.approx([0.0412])
    assert np.asarray(held["right"]) == pytest.approx([0.02])
    texts = plot.sources["labels"].data["text"]
    assert "delayed ACK 40 ms" in texts
    assert "held back (Nagle) 41.2 ms" in texts


def test_an_acknowledgement_behind_a_queue_is_not_delayed_by_a_timer():
    """The truth of the puzzle is a queue on the way: the receiver never waited."""
    plot = plots.capture_ladder(datasets.puzzle("acknowledgements").load())
    assert "delayed ACK" not in plot.description


def test_the_first_packets_are_those_before_the_first_mark():
    plot = plots.capture_ladder(read(lossy()))
    assert f"{17 - (9 - BEFORE)} of 17 packets" in plot.description  # the 10th is marked
    window = plots.capture_ladder(datasets.puzzle("window").load())
    assert f"{DRAWN_PACKETS} of 2129" in window.description  # as tshark counts them
    with pytest.raises(DomainError):
        plots.capture_ladder(read(lossy()), flow=1)


def test_time_runs_downwards_on_the_page_and_in_the_picture():
    plot = plots.capture_ladder(read(lossy()))
    assert plot.figure.y_range.start > plot.figure.y_range.end
    picture = plots.svg(plot)
    assert "client 192.0.2.1 port 40000" in picture
    early, late = (picture.index(text) for text in ("100 ms<", "400 ms<"))
    height = [float(picture[:at].rpartition(' y="')[2].partition('"')[0]) for at in (early, late)]
    assert height[0] < height[1]


def test_a_capture_is_drawn_with_its_bytes_and_its_packets():
    plot = measured(datasets.puzzle("stall").load(), Known())
    assert len(plot.figure.children) == 3
    assert {"IP packets, both directions", "causes", "wait: delayed ACK"} <= set(plot.sources)
    alone = plots.curves([0.0, 1.0], {"a": [0.0, 1.0]}, x_axis=plots.Axis("x", "1"),
                         y_axis=plots.Axis("y", "1"))  # fmt: skip
    with pytest.raises(DomainError):
        plots.together(alone, alone)
