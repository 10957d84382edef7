"""Transfers by buffer, by pairs and by write, and blasts by frame, against sums by hand."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.special import stdtrit

from netcalc import compare
from netcalc.path import Path
from netcalc.samples import BulkSamples, Meta
from netcalc.units import parse


def quantities(text, unit):
    """Every quantity of this unit in a text, as numbers; the words around them do not matter."""
    written = {
        "s": r"(?:ms|µs|ns|s)", "byte": r"(?:[kMG]B|[KM]iB|B|bytes)", "bit/s": r"[kMG]?bit/s",
        "packet/s": r"[kMG]?pps",
    }[unit]  # fmt: skip
    found = re.findall(rf"(?<![\d.])-?\d[\d.]*(?:e-?\d+)? {written}(?![\w/])", text)
    return [parse(one, unit) for one in found]


def truth(*rates_bps, latency_s=1e-3, **more):
    count = len(rates_bps)
    return {
        "bandwidths_bps": list(rates_bps), "latencies_s": [latency_s] * count,
        "processings_s": [0.0] * (count + 1), "mtu_bytes": 1500,
    } | more  # fmt: skip


def transfers(
    write_bytes, wall_s, *, count=1000.0, target="path, TCP", tool="", facts=None, **columns
):
    size = np.asarray(write_bytes, dtype=float)
    row = {
        "write_bytes": size, "write_count": np.full(size.size, count), "sent_bytes": count * size,
        "received_bytes": count * size, "wall_s": wall_s, "delivery_s": wall_s,
    }  # fmt: skip
    meta = Meta(target=target, tool=tool, instrument=facts or {})
    return BulkSamples(**(row | columns), meta=meta)


# a buffer each round trip


def by_buffer(buffers, facts, **columns):
    return compare.overlay(
        transfers([1448] * len(buffers), [1.0] * len(buffers), facts=facts,
                  asked_buffer_bytes=buffers, **columns)
    )  # fmt: skip


@pytest.mark.each("links", [1, 2, 5])
@pytest.mark.each("loss", [0.0, 0.02])
def test_every_link_of_a_path_loses_its_share(links, loss):
    facts = {"truth": truth(*[8e6] * links, links={"loss_ratio": loss})}
    buffers = np.array([1000.0, 1e7])
    found = by_buffer(buffers.tolist(), facts)
    # by hand: 1 us a byte and 1 ms on each link, 1500 bytes there and 52 back
    rtt_s = links * (2e-3 + 1552e-6)
    line_bps = 8e6 * 1448 / 1500
    passed = 1.0
    for _ in range(links):
        passed *= 1 - loss
    if loss:  # published: Mathis et al. 1997, eq. 3
        line_bps = min(line_bps, 8 * 1448 / rtt_s * math.sqrt(1.5 / (1 - passed)))
    assert found.predicted == pytest.approx([8000 / rtt_s, line_bps])
    assert re.findall(r"[\d.]+%", found.predicted_label) == (
        [f"{100 * (1 - passed):.3g}%"] if loss else []
    )
    assert quantities(found.title, "s") == pytest.approx([rtt_s], rel=5e-3)


@pytest.mark.each(
    ("family", "mtu", "payload", "reply"),
    [("IPv4", 1500, 1448, 52), ("IPv6", 1500, 1428, 72), ("IPv4", 9000, 8948, 52)],
)
def test_headers_and_mtu_of_a_buffer_over_a_path(family, mtu, payload, reply):
    facts = {"truth": truth(8e6, mtu_bytes=mtu), "address_family": family}
    found = by_buffer([1000.0, 1e7], facts)
    rtt_s = 2e-3 + 1e-6 * (mtu + reply)
    assert found.predicted == pytest.approx([8000 / rtt_s, 8e6 * payload / mtu])
    assert (found.x_unit, found.y_unit) == ("byte", "bit/s")
    assert (found.x_name, found.y_name) == ("buffer", "goodput (TCP payload)")
    assert "buffer" in found.predicted_label


def test_the_median_of_each_buffer_is_measured():
    samples = transfers(
        [1448] * 4, [1.0, 2.0, 4.0, 1.0], facts={"truth": truth(8e6)},
        asked_buffer_bytes=[4096.0, 4096, 4096, 65_536],
    )  # fmt: skip
    found = compare.overlay(samples)
    assert found.x.tolist() == [4096, 65_536]
    assert found.measured == pytest.approx([8 * 1448e3 / 2, 8 * 1448e3])
    assert "in flight" not in found.sentence


def test_what_was_in_flight_as_a_share_of_the_buffer():
    bare = by_buffer([1000.0, 4000.0], {"truth": truth(8e6)}).sentence
    found = by_buffer([1000.0, 4000.0], {"truth": truth(8e6)}, window_bytes=[900.0, 1000.0])
    assert re.findall(r"\d\.\d+", found.sentence[len(bare) :]) == ["0.25", "0.9"]


def test_a_single_buffer_is_no_sweep():
    assert by_buffer([4096.0, 4096.0], {"truth": truth(8e6)}).x_name != "buffer"
    assert by_buffer([np.nan, 4096.0], {"truth": truth(8e6)}).x_name != "buffer"
    assert by_buffer([4096.0, 8192.0], {}).x_name != "buffer", "no path, no theory of it"


def test_the_theory_of_buffers_before_a_run():
    found = compare.bulk(transfers([], []), path=Path.parse("8 Mbit/s 1 ms, 8 Mbit/s 1 ms"))
    rtt_s = 2 * (2e-3 + 1552e-6)
    assert (found.curve_x[0], found.curve_x[-1], found.curve_x.size) == (0.0, 65_536, 200)
    assert found.curve_y == pytest.approx(np.minimum(8 * found.curve_x / rtt_s, 8e6 * 1448 / 1500))
    none = compare.bulk(transfers([], []))
    assert (none.x_unit, none.y_unit, none.x.size) == ("byte", "s", 0)
    assert compare.bulk(transfers([], []), title="own").title == "own"


# pairs in lockstep


def by_pairs(pairs, wall_s, cycle_s, *, size=1000.0, facts=None):
    return compare.overlay(
        transfers([size] * len(pairs), wall_s, facts=facts, pair_count=pairs, cycle_s=cycle_s)
    )


def test_pairs_against_cycles_of_the_fewest():
    # by hand: two pairs send every 4 ms, so one pair takes 2 ms of it
    found = by_pairs([2.0, 4, 8], [1.0, 0.6, 0.5], [4e-3, 5e-3, 9e-3])
    most_bps = 8e6 / 0.5
    one_bps = 8000 / 2e-3
    assert found.predicted == pytest.approx([2 * one_bps, min(4 * one_bps, most_bps), most_bps])
    assert found.measured == pytest.approx([8e6, 8e6 / 0.6, 16e6])
    assert quantities(found.predicted_label, "s") == pytest.approx([2e-3])
    assert quantities(found.title, "byte") == [1000]
    assert quantities(found.sentence, "s") == pytest.approx([2e-3])
    assert quantities(found.sentence, "bit/s") == pytest.approx([most_bps])
    off = (found.measured - found.predicted) / found.predicted
    said = [float(one) / 100 for one in re.findall(r"([+-][\d.]+)%", found.sentence)]
    assert said == pytest.approx([np.median(off), off[np.argmax(np.abs(off))]], abs=6e-4)
    # between two numbers of pairs the nearest counts
    middle = found.curve_x[100]
    assert found.curve_y[100] == pytest.approx(min(round(middle) * one_bps, most_bps))
    assert (found.x_unit, found.y_unit, found.y_name) == ("1", "bit/s", "goodput (TCP payload)")
    assert "pairs" in found.x_name


def test_one_number_of_pairs_has_no_theory_of_more():
    for pairs in (1.0, 4.0):
        found = by_pairs([pairs] * 2, [1.0, 2.0], [4e-3, 6e-3])
        assert quantities(found.sentence, "s") == pytest.approx([5e-3])
        assert re.findall(r"(?<![\d.])\d(?= pairs)", found.sentence) == (
            ["4"] if pairs == 4 else []
        )


def test_pairs_over_a_path_against_its_own_cycle():
    # by hand: 1000 + 52 bytes there and 1 + 52 back, at 1 us a byte, 1 ms each way
    found = by_pairs([1.0, 3], [1.0, 0.5], [9.0, 9.0], facts={"truth": truth(8e6)})
    one_bps, most_bps = 8000 / (2e-3 + 1105e-6), 8e6 * 1000 / 1052
    assert found.predicted == pytest.approx([one_bps, min(3 * one_bps, most_bps)])
    assert quantities(found.sentence, "s") == pytest.approx([3.105e-3], rel=5e-3)
    assert quantities(found.sentence, "bit/s") == pytest.approx([most_bps], rel=1e-3)
    assert quantities(found.predicted_label, "bit/s") == pytest.approx([most_bps], rel=1e-3)
    lone = by_pairs([1.0], [1.0], [9.0], facts={"truth": truth(8e6)})
    assert lone.predicted == pytest.approx([one_bps])
    assert len(re.findall(r"[+-][\d.]+%", lone.sentence)) == 2
    facts = {"truth": truth(8e6), "reply_bytes": 101, "mss_bytes": 400}
    other = by_pairs([1.0], [1.0], [9.0], facts=facts)
    # by hand: segments of 400, 400 and 200 with 52 each, and 153 bytes back
    assert other.predicted == pytest.approx([8000 / (2e-3 + (1156 + 153) * 1e-6)])


@pytest.mark.each(
    ("options", "there", "reply"),
    [
        ({}, [1500, 64], 53),
        ({"write_bytes": 1448}, [1500], 53),
        ({"write_bytes": 2896}, [1500, 1500], 53),
        ({"write_bytes": 3000, "reply_bytes": 100}, [1500, 1500, 156], 152),
        ({"write_bytes": 10, "segment_bytes": 4}, [56, 56, 54], 53),
    ],
)
def test_a_cycle_of_lockstep_on_one_line(options, there, reply):
    path = Path.parse("8 Mbit/s 3 ms", source_processing_s=1e-9, destination_processing_s=2e-9)
    cycle_s, most_bps = compare.lockstep_cycle(path, **options)
    write = options.get("write_bytes", 1460)
    assert cycle_s == pytest.approx(6e-3 + 1e-6 * (sum(there) + reply), abs=2e-8)
    assert most_bps == pytest.approx(8e6 * write / sum(there))


def test_the_end_turns_round_once_in_a_cycle():
    path = Path.parse("8000 Tbit/s", source_processing_s=1e-3, destination_processing_s=4e-3)
    # by hand: the source at both ends, the destination once
    assert compare.lockstep_cycle(path, write_bytes=1)[0] == pytest.approx(6e-3)


# the cost of a write


def test_the_costs_of_a_write_by_least_squares():
    size = np.array([100.0, 100, 400, 700, 1000, 1300])
    off = np.array([0.0, 50, 2, -1, -2, 1]) * 1e-9
    spent = 5e-6 + 3e-9 * size + off
    found = compare.overlay(transfers(size, spent * 500, count=500.0, target="loopback, TCP"))
    kept = np.array([0, 2, 3, 4, 5])
    slope, intercept = np.polyfit(size[kept], spent[kept], 1)
    assert found.x.tolist() == [100, 400, 700, 1000, 1300]
    assert found.measured == pytest.approx(spent[kept])
    assert found.predicted == pytest.approx(intercept + slope * size[kept])
    assert quantities(found.predicted_label, "s") == pytest.approx([intercept, slope], rel=5e-3)
    assert quantities(found.sentence, "s") == pytest.approx([intercept, slope], rel=5e-3)
    assert "write" in found.y_name
    assert "TCP" in found.title
    datagram = compare.overlay(transfers(size, spent * 500, count=500.0, target="loopback, UDP"))
    assert "datagram" in datagram.y_name
    assert (found.x_unit, found.y_unit) == ("byte", "s")


def test_a_cost_of_a_write_below_zero_is_none():
    # by hand: 1 us at 100 bytes and 11 at 200: nothing at 90
    found = compare.overlay(transfers([100, 200], [1e-3, 11e-3], target="loopback, TCP"))
    assert found.predicted == pytest.approx([10e-6, 20e-6])
    flat = compare.overlay(transfers([100, 200, 300], [6e-3, 6e-3, 3e-3], target="loopback, TCP"))
    assert flat.predicted == pytest.approx(5e-6)


def test_one_size_of_a_write():
    found = compare.overlay(transfers([100, 100], [7e-3, 6e-3], target="loopback, TCP"))
    assert quantities(found.predicted_label, "s") == pytest.approx([6e-6])
    assert quantities(found.predicted_label, "byte") == [100]


def test_how_many_runs_the_sender_limited():
    busy = {"user_s": [1e-3, 0, 0], "system_s": [4e-3, 1e-4, 7e-3], "wait_count": [0] * 3}
    found = compare.overlay(
        transfers([64, 500, 1440], [5e-3, 6e-3, 7e-3], target="loopback, UDP", **busy)
    )
    assert re.findall(r"(\d) of (\d) runs", found.sentence) == [("2", "3")]
    idle = {"user_s": [0.0], "system_s": [0.0], "wait_count": [0]}
    none = compare.overlay(transfers([64], [5e-3], target="loopback, UDP", **idle))
    assert not re.findall(r"\d of \d", none.sentence)


def test_over_a_path_the_share_that_the_sender_computes():
    busy = {"user_s": [0.1, 0.2, 0.3], "system_s": [0.1, 0.2, 0.5]}
    found = compare.overlay(
        transfers([100] * 3, [1.0, 1.0, 1.0], facts={"truth": truth(8e6)}, **busy)
    )
    assert re.findall(r"\d+%", found.sentence) == ["40%"]
    bare = compare.overlay(transfers([100], [1.0], facts={"truth": truth(8e6)}))
    assert "%" not in bare.sentence


# blasts by the size of the frame


def blasts(write_bytes, each_s, *, facts=None, **columns):
    each = np.asarray(each_s, dtype=float) * np.ones(len(write_bytes))
    return transfers(
        write_bytes, 1000 * each, target="loopback, UDP", tool="netcalc line-rate", facts=facts,
        **columns,
    )  # fmt: skip


def test_the_most_that_was_sent_and_its_band():
    writes = np.array([18.0, 210, 466, 978, 1472])
    frames = writes + 46
    each = 5e-6 + 4e-10 * frames + np.array([2.0, -1, 1, -3, 1]) * 1e-9
    found = compare.overlay(blasts(writes, each))
    rows = np.stack([np.ones(5), frames / 1000])
    inverse = np.linalg.inv(rows @ rows.T)
    costs = inverse @ rows @ each
    left = each - costs @ rows
    covariance = (left @ left) / 3 * inverse
    assert found.x.tolist() == frames.tolist()
    assert found.measured == pytest.approx(1 / each)
    assert found.predicted == pytest.approx(1 / (costs @ rows))
    assert (found.curve_x[0], found.curve_x[-1]) == (64, pytest.approx(1518 * 1.05))
    assert found.curve_x.size == 200
    parts = np.stack([np.ones(200), found.curve_x / 1000])
    spent = costs @ parts
    margin = stdtrit(3, 0.975) * np.sqrt(np.einsum("ix,ij,jx->x", parts, covariance, parts))
    assert found.curve_y == pytest.approx(1 / spent)
    assert found.curve_low == pytest.approx(1 / (spent + margin), rel=1e-6)
    assert found.curve_high == pytest.approx(1 / (spent - margin), rel=1e-6)
    off = stdtrit(3, 0.975) * np.sqrt(np.diag(covariance)) / [1, 1000]
    expected = [costs[0], off[0], costs[1] / 1000, off[1]]
    assert quantities(found.predicted_label, "s") == pytest.approx(expected, rel=0.05)
    assert (found.x_unit, found.y_unit) == ("byte", "packet/s")
    assert "frame" in found.x_name


def test_a_band_wider_than_the_time_itself_ends_at_a_tenth_of_it():
    found = compare.overlay(blasts([18.0, 210, 466], [5e-6, 9e-6, 6e-6]))
    assert (found.curve_high <= found.curve_y * 10 * (1 + 1e-9)).all()
    assert found.curve_high.max() == pytest.approx((found.curve_y * 10).max())


def test_small_frames_alone_have_a_curve():
    found = compare.overlay(blasts([18.0], [5e-6]))
    assert (found.curve_x[0], found.curve_x[-1]) == (64, 128)
    assert quantities(found.predicted_label, "s") == pytest.approx([5e-6])
    none = compare.frame_rates(blasts([], []))
    assert none.x.size == 0


def test_the_slowest_node_and_the_slowest_line():
    path = Path.parse(
        "1 Gbit/s, 10 Mbit/s", processing_s=2e-4, source_processing_s=1e-4,
        destination_processing_s=1.5e-4,
    )  # fmt: skip
    writes = [18.0, 18, 18, 1472]
    samples = blasts(writes, 1e-5, delivery_s=[0.1, 0.2, 0.4, 1.0])
    found = compare.frame_rates(samples, path=path)
    # published: RFC 2544 appendix B: 14 880 and 812 frames of 64 and 1518 bytes at 10 Mbit/s
    assert found.predicted == pytest.approx([5000, 812.74], abs=0.01)
    assert found.measured == pytest.approx([5000, 1000]), "of 10, 5 and 2.5 thousand"
    assert quantities(found.predicted_label, "packet/s") == [5000]
    assert quantities(found.predicted_label, "bit/s") == [10e6]
    bare = compare.frame_rates(samples, path=Path.parse("1 Gbit/s, 10 Mbit/s"))
    assert bare.predicted == pytest.approx([14_880.95, 812.74], abs=0.01)
    assert quantities(bare.predicted_label, "packet/s") == []
    for slow in ("source_processing_s", "destination_processing_s"):
        ends = compare.frame_rates(samples, path=Path.parse("10 Mbit/s", **{slow: 1e-3}))
        assert ends.predicted == pytest.approx([1000, 812.74], abs=0.01)
    assert "received" in bare.y_name
    assert "median" in bare.measured_label


def test_the_limits_by_the_size_of_the_frame():
    busy = {
        "system_s": [9e-3] * 3, "user_s": [0.0] * 3, "wait_count": [0.0] * 3,
        "lost_count": [0.0, 500, 500], "sender_drop_count": [0.0] * 3,
        "input_drop_count": [0.0, 500, 0], "line_drop_count": [0.0, 0, 500],
    }  # fmt: skip
    found = compare.overlay(blasts([1472.0, 18, 82], 1e-5, **busy))
    sizes = [quantities(part, "byte") for part in found.sentence.split(". ")]
    assert [one for one in sizes if one] == [[64], [128], [1518]]
    same = compare.overlay(blasts([1472.0, 18], 1e-5, **{k: v[:1] * 2 for k, v in busy.items()}))
    assert not quantities(same.sentence, "byte")
    unknown = compare.overlay(blasts([1472.0, 18], 1e-5))
    assert not quantities(unknown.sentence, "byte")


def test_which_samples_are_compared_in_which_way():
    columns = {"facts": {"truth": truth(8e6)}, "asked_buffer_bytes": [1e3, 1e4]}
    assert compare.overlay(transfers([100] * 2, [1.0] * 2, **columns)).x_name == "buffer"
    udp = transfers([100] * 2, [1.0] * 2, target="path, UDP", **columns)
    assert compare.overlay(udp).y_unit == "s"
    frames = transfers([100] * 2, [1.0] * 2, target="UDP", tool="netcalc line-rate")
    assert compare.overlay(frames).y_unit == "packet/s"
    pairs = transfers([100] * 2, [1.0] * 2, pair_count=[1, 2], cycle_s=[1e-3] * 2)
    assert "pairs" in compare.overlay(pairs).x_name
    lockstep = transfers([100] * 2, [1.0] * 2, pair_count=[1, 1], cycle_s=[1e-3] * 2)
    assert "pairs" in compare.overlay(lockstep).x_name
    given = compare.bulk(transfers([100] * 2, [1.0] * 2, asked_buffer_bytes=[1e3, 1e4]),
                         path=Path.parse("8 Mbit/s"), title="own")  # fmt: skip
    assert (given.x_name, given.title) == ("buffer", "own")
