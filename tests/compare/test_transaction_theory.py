"""Transactions by size: costs of the host, packets over a path, and the step of a cut datagram."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import stdtrit

from netcalc import compare
from netcalc.errors import DomainError
from netcalc.path import Path
from netcalc.samples import Meta, TransactionSamples
from netcalc.units import parse

PATH = "8 Mbit/s 5 ms"  # a byte takes 1 us


def quantities(text, unit):
    """Every quantity of this unit in a text, as numbers; the words around them do not matter."""
    written = {"s": r"(?:ms|µs|ns|s)", "byte": r"(?:kB|B|bytes)"}[unit]
    found = re.findall(rf"(?<![\d.])-?\d[\d.]*(?:e-?\d+)? {written}(?![\w/])", text)
    return [parse(one, unit) for one in found]


def run(mode, sizes, times, **facts):
    return TransactionSamples(
        mode=[mode] * len(sizes), sequence=list(range(1, len(sizes) + 1)), payload_bytes=sizes,
        response_s=times, meta=Meta(instrument=facts),
    )  # fmt: skip


# on the host alone

EACH, BYTE, PACKET = 20e-6, 2e-9, 5e-6


@pytest.mark.each(
    ("mode", "facts", "sizes", "more", "source"),
    [
        ("udp", {"loopback_mtu_bytes": 1500}, [100, 1472, 1473, 2953], [0, 0, 1, 2],
         "derived: 1480 bytes of IP a packet, 8 of them UDP's"),
        ("ping", {"loopback_mtu_bytes": 1500}, [100, 1472, 1473, 2953], [0, 0, 1, 2],
         "derived: 8 of them ICMP's"),
        ("udp", {"loopback_mtu_bytes": 1500, "address_family": "IPv6"}, [100, 1452, 1453, 2893],
         [0, 0, 1, 2], "derived: 1460 whole, else 1448 a fragment and 1452 the last"),
        ("tcp", {"loopback_mtu_bytes": 1500}, [100, 1448, 1449, 2897], [0, 0, 1, 2],
         "derived: 1448 bytes a segment"),
        ("tls", {"loopback_mtu_bytes": 1500}, [100, 1448, 1449, 2897], [0, 0, 1, 2],
         "derived: as TCP"),
        ("tcp", {"loopback_mtu_bytes": 1500, "header_bytes": {"tcp": 40}}, [100, 1460, 1461],
         [0, 0, 1], "derived: 1460 bytes a segment without time stamps"),
    ],
)  # fmt: skip
def test_costs_of_a_host_are_found(mode, facts, sizes, more, source):
    sizes = np.array(sizes, dtype=float)
    times = EACH + BYTE * sizes + PACKET * np.array(more)
    found = compare.transactions(run(mode, sizes, times, **facts))
    assert found.predicted == pytest.approx(times, rel=1e-6), source
    at = dict(zip(found.curve_x.tolist(), found.curve_y.tolist(), strict=True))
    for size, time in at.items():
        whole = sizes[np.array(more) == 0].max()
        if size <= whole:
            assert time == pytest.approx(EACH + BYTE * size, rel=1e-6)
    said = quantities(found.predicted_label, "s")
    assert said == pytest.approx([EACH, BYTE, PACKET], rel=0.01)
    assert (found.x_unit, found.y_unit) == ("byte", "s")
    assert mode in found.measured_label
    assert mode in found.title
    assert "time" in found.y_name


def test_a_cost_is_never_negative():
    found = compare.transactions(run("udp", [100.0, 1000.0], [30e-6, 20e-6]))
    # by hand: without a slope the mean is the closest, and no cost of a byte is said
    assert found.predicted == pytest.approx([25e-6, 25e-6])
    assert quantities(found.predicted_label, "s") == pytest.approx([25e-6])


def test_sizes_that_are_too_few():
    two = compare.transactions(run("tcp", [100, 3000], [1.0, 2.0], loopback_mtu_bytes=1500))
    assert np.isnan(two.predicted).all()
    none = compare.transactions(run("tcp", [], []))
    assert np.isnan(none.curve_y).all()
    one = compare.transactions(run("udp", [100.0], [30e-6]))
    assert one.predicted == pytest.approx(30e-6)
    assert quantities(one.sentence, "byte") == [100]
    assert quantities(one.sentence, "s") == pytest.approx([30e-6])
    assert quantities(two.sentence, "s") == [1.0]


def test_half_of_the_sizes_are_this_far_off():
    sizes = np.array([100.0, 200, 300, 400, 500])
    off = np.array([1.0, -1, 0, -1, 1]) * 1e-6  # of which no line takes a part
    found = compare.transactions(run("udp", sizes, 50e-6 + 1e-8 * sizes + off))
    left = np.abs(found.residual)
    assert quantities(found.sentence, "s")[-1] == pytest.approx(np.median(left), rel=0.05)
    exact = compare.transactions(run("udp", sizes, 50e-6 + 1e-8 * sizes))
    assert len(quantities(exact.sentence, "s")) == 2, "two costs, and nothing is off"


def test_the_smallest_of_each_size_by_either_clock():
    samples = TransactionSamples(
        mode=["udp"] * 3 + ["tcp"], sequence=[1, 2, 3, 1], payload_bytes=[100, 100, 900, 100],
        response_s=[3.0, 2.0, 4.0, 9.0], tap_s=[0.3, 0.4, 0.5, 0.9],
    )  # fmt: skip
    assert compare.transactions(samples).measured.tolist() == [2.0, 4.0]
    assert compare.transactions(samples, clock="tap").measured.tolist() == [0.3, 0.5]
    assert compare.transactions(samples, mode="tcp").measured.tolist() == [9.0]
    for wrong in ({"clock": "wall"}, {"mode": "sctp"}):
        with pytest.raises(DomainError):
            compare.transactions(samples, **wrong)
    assert compare.transactions(samples, title="own").title == "own"
    nothing = TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    assert compare.transactions(nothing).x.size == 0


# over a path


def predicted(mode, size, path=PATH, **facts):
    found = compare.transactions(run(mode, [size], [1.0], **facts), path=Path.parse(path))
    return float(found.predicted[0])


@pytest.mark.each(
    ("mode", "size", "packets", "trips", "source"),
    [
        ("udp", 100, 2 * 128, 1, "derived: 28 bytes of headers both ways"),
        ("ping", 100, 2 * 128, 1, "derived: 28 bytes of headers both ways"),
        ("tcp", 100, 2 * 60 + 52 + 152 + 52 + 152 + 52, 2, "derived: packet by packet"),
        ("tcp", 1448, 2 * 60 + 52 + 1500 + 52 + 1500 + 52, 2, "derived: a full segment"),
        ("tcp", 1449, 2 * 60 + 52 + 1553 + 52 + 1553 + 52, 2, "derived: and one of one byte"),
        ("tcp", 2896, 2 * 60 + 52 + 3000 + 52 + 3000 + 52, 2, "derived: two full segments"),
        ("tls", 100, 2 * 60 + 104 + 52 + 152 + 52 + 152 + 52, 3, "derived: a round trip more"),
        ("tfo", 100, 172 + 60 + 152 + 52, 1, "derived: the request goes with the opening"),
        ("tfo", 1428, 1500 + 60 + 1480 + 52, 1, "derived: all that fits beside it"),
        ("tfo", 1429, 1500 + 60 + 53 + 52 + 1481 + 52, 2, "derived: one byte waits"),
    ],
)
def test_streams_packet_by_packet(mode, size, packets, trips, source):
    assert predicted(mode, size) == pytest.approx(0.01 * trips + 1e-6 * packets), source


def test_headers_that_the_run_noted():
    facts = {"header_bytes": {"udp": 48, "tcp": 99}}
    assert predicted("udp", 100, **facts) == pytest.approx(0.01 + 2e-6 * 148)


def test_nodes_in_the_way_of_a_stream():
    path = Path.parse("8000 Tbit/s 1 ms", source_processing_s=1e-3, destination_processing_s=4e-3)
    samples = run("tcp", [100], [1.0])
    found = compare.transactions(samples, path=path).predicted[0]
    # by hand: the opening takes 2 ms and 1 + 4 + 1; of the two packets there the source sends each
    # in 1 ms and the server takes each in 4: 1 ms of way, 1 + 4 + 4; of the three back the server
    # sends each in 4 ms, the source takes each in 1
    assert found == pytest.approx(_by_timelines(path), rel=1e-9)


def test_a_router_in_the_way_of_a_stream_turns_nothing_round():
    # by hand: lines of no time, so nodes only; the router passes packets on in 16 ms each. The
    # opening: source twice, router twice, server once. Then two there and three back, of which the
    # last one leaves the router behind the others; the server turns round once.
    path = Path.parse(
        "8000 Tbit/s, 8000 Tbit/s", processing_s=16e-3, source_processing_s=1e-3,
        destination_processing_s=4e-3,
    )  # fmt: skip
    found = compare.transactions(run("udp", [100], [1.0]), path=path).predicted[0]
    opening_s = 1e-3 + 16e-3 + 4e-3 + 16e-3 + 1e-3
    assert found == pytest.approx(opening_s, rel=1e-6)
    stream = compare.transactions(run("tcp", [100], [1.0]), path=path).predicted[0]
    there_s = float(path.timeline([52, 152]).done_s[-1])
    back_s = float(path.reverse.timeline([52, 152, 52]).done_s[-1])
    assert stream == pytest.approx(opening_s + there_s + back_s - 4e-3, rel=1e-6)


def _by_timelines(path):
    """Second method: every packet served in turn by source, line and destination."""

    def through(count, first_s, then_s):
        ready = done = 0.0
        for _ in range(count):
            ready += first_s
            done = max(done, ready + 1e-3) + then_s
        return done

    opening = 1e-3 + 1e-3 + 4e-3 + 1e-3 + 1e-3
    return opening + through(2, 1e-3, 4e-3) + through(3, 4e-3, 1e-3) - 4e-3


def test_the_theory_of_a_path_has_its_label_and_curve():
    found = compare.transactions(run("udp", [100.0, 1000], [0.02, 0.03]), path=Path.parse(PATH))
    assert "predicted" in found.predicted_label
    assert found.curve_y == pytest.approx(0.01 + 2e-6 * (found.curve_x + 28))
    assert found.residual == pytest.approx([0.02 - 0.010256, 0.03 - 0.012056])
    truth = {"bandwidths_bps": [8e6], "latencies_s": [5e-3], "processings_s": [0.0, 0.0]}
    own = compare.transactions(run("udp", [100.0], [0.02], truth=truth))
    assert own.predicted == pytest.approx(0.010256)
    half = compare.transactions(run("tcp", [100.0], [0.02]), path=Path.parse(PATH))
    # a size between two is sent as the next whole one
    at = half.curve_x[1]
    assert half.curve_y[1] == pytest.approx(0.02 + 1e-6 * (276 + 2 * (np.ceil(at) + 52)))


def packet(size, sender, after, wait_s=0.0):
    return {"packet_bytes": size, "sender": sender, "after": after, "wait_s": wait_s}


def test_packets_that_the_taps_saw_are_clocked_as_they_were():
    # by hand: 200 bytes there, 3 ms in the server, 400 back; then twice as many
    rows = {
        "100": [packet(200, 0, -1), packet(400, 1, 0, 3e-3)],
        "200": [packet(400, 0, -1), packet(800, 1, 0, 5e-3)],
    }
    samples = run("udp", [100.0, 150, 200], [1.0, 1.0, 1.0], exchanges={"udp": rows})
    found = compare.transactions(samples, path=Path.parse(PATH))
    # between two sizes that were seen: half of what is more than the rule's 28 bytes
    assert found.predicted == pytest.approx(
        [0.01 + 600e-6, 0.01 + (600 + 1200) / 2 * 1e-6, 0.01 + 1200e-6]
    )
    assert "taps" in found.predicted_label
    assert quantities(found.sentence, "s")[-1] == pytest.approx(4e-3), "3 and 5 ms of the hosts"
    other = compare.transactions(run("udp", [100.0], [1.0]), path=Path.parse(PATH))
    assert "taps" not in other.predicted_label


@pytest.mark.each(("size", "seen"), [(1500, True), (1501, False)])
def test_packets_that_a_card_cuts_are_no_packets_of_the_path(size, seen):
    rows = {"100": [packet(size, 0, -1), packet(100, 1, 0)]}
    facts = {"exchanges": {"udp": rows}}
    expected = 0.01 + (1e-6 * (size + 100) if seen else 256e-6)
    assert predicted("udp", 100.0, **facts) == pytest.approx(expected)
    truth = {"bandwidths_bps": [8e6], "latencies_s": [5e-3], "processings_s": [0.0, 0.0]}
    own = compare.transactions(
        run("udp", [100.0], [1.0], truth=truth | {"mtu_bytes": 9000}, **facts)
    )
    assert own.predicted == pytest.approx(0.01 + 1e-6 * (size + 100))


# the step where a datagram is cut

SIZES = np.array([300.0, 500, 700, 900, 1100, 1300, 1472, 1473, 1600, 1800, 1990])
OFF = np.array([1.0, -1, 0.5, -0.5, 1, -1, 0.3, -0.2, 0.4, -0.6, 0.1]) * 1e-7


def step(packet_cost=8e-6, **facts):
    cut = SIZES > 1472
    times = EACH + BYTE * SIZES + packet_cost * cut + OFF
    return run("udp", SIZES, times, loopback_mtu_bytes=1500, **facts), times, cut


def by_least_squares(times, cut):
    """Second method: the normal equations of a time, a time a byte and a step."""
    rows = np.stack([np.ones_like(SIZES), SIZES / 1000, cut * 1.0])
    inverse = np.linalg.inv(rows @ rows.T)
    costs = inverse @ rows @ times
    left = times - costs @ rows
    return costs, (left @ left) / (SIZES.size - 3) * inverse


@pytest.mark.each("relative", [False, True])
def test_the_step_its_band_and_its_share(relative):
    samples, times, cut = step()
    costs, covariance = by_least_squares(times, cut)
    whole_s = costs[0] + costs[1] * 1.472
    scale = 1 / whole_s if relative else 1.0
    found = compare.datagram_costs(samples, relative=relative)
    assert found.y_unit == ("ratio" if relative else "s")
    assert ("1472" in found.y_name) == relative
    assert found.measured == pytest.approx(times * scale)
    assert found.predicted == pytest.approx((costs @ [SIZES * 0 + 1, SIZES / 1000, cut]) * scale)
    assert {1472.0, 1473.0} <= set(found.curve_x.tolist()), "both sides of the step"
    assert found.curve_x.max() == pytest.approx(1990 * 1.05)
    at = np.ceil(found.curve_x)  # a size between two is sent as the next whole one
    parts = np.stack([np.ones_like(at), at / 1000, at > 1472])
    assert found.curve_y == pytest.approx(costs @ parts * scale)
    margin = stdtrit(8, 0.975) * np.sqrt(np.einsum("ix,ij,jx->x", parts, covariance, parts))
    assert found.curve_high - found.curve_y == pytest.approx(margin * scale, rel=1e-6)
    assert found.curve_y - found.curve_low == pytest.approx(margin * scale, rel=1e-6)
    jump, off = quantities(found.sentence, "s")[:2]
    assert jump == pytest.approx(costs[2], rel=0.01)
    assert off == pytest.approx(stdtrit(8, 0.975) * np.sqrt(covariance[2, 2]), rel=0.05)
    assert re.findall(r"147\d", found.sentence) == ["1472", "1473"]
    assert re.findall(r"increases by (\d+)%", found.sentence) == [f"{100 * costs[2] / whole_s:.0f}"]
    assert "1500" in found.title


def test_a_step_that_is_not_seen_has_its_margin_and_no_share():
    samples, times, cut = step(packet_cost=1e-8)
    found = compare.datagram_costs(samples)
    costs, covariance = by_least_squares(times, cut)
    margin = stdtrit(8, 0.975) * np.sqrt(covariance[2, 2])
    assert abs(costs[2]) < margin
    assert quantities(found.sentence, "s")[1] == pytest.approx(margin, rel=0.05)
    assert "%" not in found.sentence.replace("(95%)", "")  # the margin's own


def test_a_point_far_off_is_no_point_of_the_step():
    sizes = np.arange(300.0, 1990, 50)
    times = EACH + BYTE * sizes + 8e-6 * (sizes > 1472) + 1e-8 * np.sin(3 * sizes)
    times[9] += 5e-5
    found = compare.datagram_costs(run("udp", sizes, times, loopback_mtu_bytes=1500))
    assert np.flatnonzero(found.outlier).tolist() == [9]
    assert quantities(found.sentence, "s")[0] == pytest.approx(8e-6, rel=0.01)


def test_the_step_by_the_tap():
    samples, times, _ = step()
    both = TransactionSamples(
        mode=samples.mode, sequence=samples.sequence, payload_bytes=SIZES, response_s=times,
        tap_s=times / 2, meta=samples.meta,
    )  # fmt: skip
    assert compare.datagram_costs(both, clock="tap").measured == pytest.approx(times / 2)
    assert compare.datagram_costs(both).measured == pytest.approx(times)


def test_without_a_cut_datagram_there_is_no_step():
    found = compare.datagram_costs(run("udp", SIZES, EACH + BYTE * SIZES))
    assert not quantities(found.sentence, "s")
    assert "65535" in found.title
    nothing = compare.datagram_costs(run("udp", [], []))
    assert not re.findall(r"\d", nothing.title)
    assert nothing.x.size == 0
