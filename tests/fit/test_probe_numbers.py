"""Numbers of links, bottlenecks and separations, counted by hand or by matrices."""

from __future__ import annotations

import re

import numpy as np
import pytest

from netcalc import fit
from netcalc.models.delays.latency import PathMixes, path_mixes
from netcalc.path import Path
from netcalc.samples import HopSamples, Meta, TrainSamples
from netcalc.units import parse

SIZES = np.array([548.0, 700, 900, 1100, 1500])


def rates(text):
    """Every rate in a text, as numbers."""
    return [parse(one, "bit/s") for one in re.findall(r"\d[\d.]* ?[kMG]?bit/s", text)]


def times(text):
    """Every time in a text, as numbers."""
    return [parse(one, "s") for one in re.findall(r"\d[\d.]* ?(?:ms|µs|ns|s)\b", text)]


def hops(rtt_s, *, sizes=SIZES, answer=576.0, truth=None):
    """Probes of these sizes to each node, a row of round trips a node."""
    count = len(rtt_s)
    return HopSamples(
        hop=np.repeat(np.arange(count) + 1, len(sizes)), packet_bytes=np.tile(sizes, count),
        rtt_s=np.concatenate(rtt_s), answer_bytes=np.full(count * len(sizes), answer),
        meta=Meta(instrument={"truth": truth} if truth else {}),
        node=[f"192.0.2.{n + 1}" for n in range(count) for _ in sizes],
    )  # fmt: skip


def least_squares(x, y):
    """Second method: the normal equations of y = a + b x; coefficients and their covariance."""
    rows = np.column_stack([np.ones_like(x), x])
    inverse = np.linalg.inv(rows.T @ rows)
    found = inverse @ rows.T @ y
    left = y - rows @ found
    return found, (left @ left) / (x.size - 2) * inverse


OFF = np.array([[1.0, -1, 2, -3, 1], [2.0, -1, -2, 2, -1]]) * 1e-6
NEAR = 0.002 + 8 * SIZES / 10e6 + OFF[0]
FAR = 0.012 + 8 * SIZES / 10e6 + 8 * SIZES / 2e6 + OFF[1]


def test_rate_latency_and_their_errors_by_hand():
    found = fit.links(hops([NEAR, FAR]))
    (a1, b1), c1 = least_squares(SIZES, NEAR)
    (a2, b2), c2 = least_squares(SIZES, FAR)
    near, far = found.links
    assert near.bandwidth_bps == pytest.approx(8 / b1)
    assert near.bandwidth_stderr_bps == pytest.approx(8 / b1**2 * np.sqrt(c1[1, 1]))
    growth, growth_variance = b2 - b1, c1[1, 1] + c2[1, 1]
    assert far.bandwidth_bps == pytest.approx(8 / growth)
    assert far.bandwidth_stderr_bps == pytest.approx(8 / growth**2 * np.sqrt(growth_variance))
    # derived: at no bits at all the answer of 576 bytes is gone too; variance of a - 576 b
    variances = [c[0, 0] + 576**2 * c[1, 1] - 2 * 576 * c[0, 1] for c in (c1, c2)]
    assert near.latency_s == pytest.approx((a1 - 576 * b1) / 2)
    assert near.latency_stderr_s == pytest.approx(np.sqrt(variances[0]) / 2)
    assert far.latency_s == pytest.approx((a2 - 576 * b2 - a1 + 576 * b1) / 2)
    assert far.latency_stderr_s == pytest.approx(np.sqrt(sum(variances)) / 2)
    assert (near.hop, near.node, far.hop, far.node) == (1, "192.0.2.1", 2, "192.0.2.2")
    assert np.isnan([near.true_bandwidth_bps, near.true_latency_s, near.error_ratio]).all()
    assert np.isnan([near.at_least_bps, far.at_least_bps]).all()
    assert (near.why_not, far.why_not) == ("", "")
    np.testing.assert_array_equal(found.points[1][0], SIZES)
    np.testing.assert_array_equal(found.points[1][1], FAR)
    assert found.lines[1].slope == pytest.approx(b2)
    said = rates(found.sentence)
    assert said == pytest.approx(
        [8 / b1, near.bandwidth_stderr_bps, 8 / growth, far.bandwidth_stderr_bps], rel=0.05
    )


def test_cells_of_the_table_hold_what_was_found_and_set():
    truth = {
        "bandwidths_bps": [10e6, 2e6], "latencies_s": [1e-3, 5e-3],
        "processings_s": [0.0, 0.0, 0.0],
    }  # fmt: skip
    found = fit.links(hops([NEAR, FAR], truth=truth))
    for number, link in enumerate(found.links):
        hop, rate, rate_set, error, latency, latency_set = link.texts()
        assert hop == str(number + 1)
        assert rates(rate) == pytest.approx(
            [link.bandwidth_bps, link.bandwidth_stderr_bps], rel=0.05
        )
        assert rates(rate_set) == [truth["bandwidths_bps"][number]]
        off = link.bandwidth_bps / truth["bandwidths_bps"][number] - 1
        assert link.error_ratio == pytest.approx(off)
        assert float(error.rstrip("%")) / 100 == pytest.approx(off, abs=6e-4)
        assert times(latency) == pytest.approx([link.latency_s, link.latency_stderr_s], rel=0.05)
        assert times(latency_set) == [truth["latencies_s"][number]]
    unknown = fit.links(hops([NEAR])).links[0].texts()
    assert (unknown[2], unknown[3], unknown[5]) == ("", "", "")
    assert len(fit.LINK_HEADINGS) == 6


def test_exact_lines_have_no_error_to_show():
    two = fit.links(hops([0.002 + 8 * SIZES[:2] / 10e6], sizes=SIZES[:2])).links[0]
    assert two.texts()[4].count("±") == 0
    assert times(two.texts()[4]) == pytest.approx([0.001 - 4 * 576 / 10e6], rel=1e-2)
    assert not rates(two.texts()[1]), "two sizes give no rate"
    assert np.isnan([two.bandwidth_bps, two.bandwidth_stderr_bps, two.at_least_bps]).all()
    assert re.findall(r"\d+", two.why_not) == ["3", "2"]


@pytest.mark.each(("ratio", "known"), [(1.9, False), (2.1, True)])
def test_a_link_is_known_from_two_standard_errors(ratio, known):
    """Residuals at right angles to the line leave the slope as it was chosen."""
    sizes = np.array([1000.0, 1100, 1200, 1300])
    off = np.array([1.0, -1, -1, 1]) * 1e-6  # sums to 0, also times the size
    # by hand: variance 4e-12 / 2, over 50 000
    stderr = np.sqrt(2e-12 / 50_000)
    slope = ratio * stderr
    link = fit.links(hops([0.01 + slope * sizes + off], sizes=sizes)).links[0]
    assert np.isfinite(link.bandwidth_bps) == known
    if known:
        assert link.bandwidth_bps == pytest.approx(8 / slope)
        assert link.bandwidth_stderr_bps == pytest.approx(8 / slope / ratio)
        assert np.isnan(link.at_least_bps)
        return
    assert link.at_least_bps == pytest.approx(8 / (slope + 2 * stderr))
    assert np.isnan(link.bandwidth_stderr_bps)
    assert rates(link.why_not) == pytest.approx([link.at_least_bps], rel=0.05)
    assert rates(link.texts()[1]) == pytest.approx([link.at_least_bps], rel=0.05)
    assert rates(fit.links(hops([0.01 + slope * sizes + off], sizes=sizes)).sentence) == (
        pytest.approx([link.at_least_bps], rel=0.05)
    )


def test_three_sizes_are_enough():
    sizes = np.array([548.0, 1000, 1500])
    off = np.array([1.0, -2, 1]) * 1e-7
    link = fit.links(hops([0.002 + 8 * sizes / 10e6 + off], sizes=sizes)).links[0]
    assert link.bandwidth_bps == pytest.approx(10e6, rel=1e-3)
    assert link.why_not == ""


def test_latencies_that_were_set_hold_half_of_the_nodes_at_both_ends():
    truth = {
        "bandwidths_bps": [10e6, 2e6, 1e6], "latencies_s": [1e-3, 5e-3, 7e-3],
        "processings_s": [1e-4, 2e-4, 4e-4, 8e-4],
    }  # fmt: skip
    found = fit.links(hops([NEAR, FAR, 2 * FAR], truth=truth)).links
    # by hand: the source counts whole for the first link, half of each other node for its two links
    expected = [1e-3 + 1e-4 + 1e-4, 5e-3 + 1e-4 + 2e-4, 7e-3 + 2e-4 + 4e-4]
    assert [link.true_latency_s for link in found] == pytest.approx(expected)
    assert [link.true_bandwidth_bps for link in found] == [10e6, 2e6, 1e6]


def test_answers_of_unknown_size_take_no_bits():
    found = fit.links(hops([NEAR], answer=np.nan)).links[0]
    (a1, _), _ = least_squares(SIZES, NEAR)
    assert found.latency_s == pytest.approx(a1 / 2)


def test_the_answer_quotes_548_bytes_behind_28_of_headers():
    path = Path.parse("8 Mbit/s 1 ms")  # a byte takes 1 us
    # by hand: 2 ms, the probe, and at most 548 + 28 bytes back
    assert fit.to_node_s(100.0, path=path, hop=1) == pytest.approx(2e-3 + 100e-6 + 128e-6)
    assert fit.to_node_s(548.0, path=path, hop=1) == pytest.approx(2e-3 + 548e-6 + 576e-6)
    assert fit.to_node_s(1500.0, path=path, hop=1) == pytest.approx(2e-3 + 1500e-6 + 576e-6)
    # published: RFC 4443: an answer over IPv6 quotes what fits into 1280 bytes with 48 of headers
    for size, answer in ((100.0, 148e-6), (1232.0, 1280e-6), (1500.0, 1280e-6)):
        expected = pytest.approx(2e-3 + size * 1e-6 + answer)
        assert fit.to_node_s(size, path=path, hop=1, ip_version=6) == expected


def trains(received, *, sizes=1500.0):
    """Trains by the times at which their packets arrived; nan for one that did not."""
    rows = [
        (number, place, at) for number, row in enumerate(received, 1) for place, at in
        enumerate(row, 1)
    ]  # fmt: skip
    train, place, received_s = np.array(rows, dtype=float).T
    return TrainSamples(
        train=train, index=place, packet_bytes=np.broadcast_to(sizes, train.shape),
        sent_s=train, received_s=received_s,
    )  # fmt: skip


def pairs(gaps_s, **options):
    return fit.bottleneck(trains([(n, n + gap) for n, gap in enumerate(gaps_s)], **options))


def test_the_rates_of_each_train_and_their_middles():
    gaps = np.array([1.0, 1.1, 1.3, 2.0, 4.0, 4.6]) * 1e-3
    found = pairs(gaps)
    assert found.rates_bps == pytest.approx(12_000 / gaps)
    assert found.median_bps == pytest.approx(12_000 / 1.65e-3)
    assert found.mean_bps == pytest.approx(12_000 * 6 / 14e-3)
    # by hand: half of six are three, closest together are 1, 1.1 and 1.3; of those 1 and 1.1
    assert found.low_bps == pytest.approx(12_000 / 1.3e-3)
    assert found.high_bps == pytest.approx(12_000 / 1.0e-3)
    assert found.bandwidth_bps == pytest.approx(12_000 / 1.05e-3)
    said = rates(found.sentence)
    assert said == pytest.approx(
        [found.bandwidth_bps, found.low_bps, found.high_bps, found.mean_bps], rel=0.01
    )
    assert re.findall(r"^\d+", found.sentence) == ["6"]


@pytest.mark.each(
    ("gaps", "low", "high", "mode"),
    [
        ([3.0], 3.0, 3.0, 3.0),
        ([2.0, 4.0], 2.0, 2.0, 3.0),  # half of two is one, the first; no pair is closer
        ([1.0, 2.0, 4.0], 1.0, 2.0, 1.5),
        ([1.0, 3.0, 4.0], 3.0, 4.0, 3.5),
        ([1.0, 2.9, 3.0, 9.0, 9.3], 1.0, 3.0, 2.95),
        ([1.0, 5.0, 7.0, 7.5], 7.0, 7.5, 7.25),
        ([2.0, 2.0, 2.0, 2.0, 9.0], 2.0, 2.0, 2.0),
    ],
)
def test_half_ranges_and_modes_by_hand(gaps, low, high, mode):
    found = pairs([gap * 1e-3 for gap in gaps])
    assert 12 / found.high_bps == pytest.approx(low * 1e-6)
    assert 12 / found.low_bps == pytest.approx(high * 1e-6)
    assert 12 / found.bandwidth_bps == pytest.approx(mode * 1e-6)


def test_trains_of_three_and_of_small_packets():
    found = fit.bottleneck(trains([(0, 1e-3, 2e-3), (1, 1.0013, 1.002)], sizes=500.0))
    assert found.rates_bps == pytest.approx([4e6, 4e6])


def test_trains_that_arrived_at_once_do_not_count():
    found = pairs([1e-3, 0.0, 1e-3])
    assert found.rates_bps.size == 2
    nothing = pairs([0.0, 0.0])
    assert nothing.rates_bps.size == 0
    assert np.isnan([nothing.bandwidth_bps, nothing.low_bps, nothing.high_bps]).all()
    assert np.isnan([nothing.median_bps, nothing.mean_bps, nothing.true_bps]).all()


def test_the_narrowest_link_that_was_set():
    samples = trains([(0, 1.2e-3), (1, 1.0012)])
    meta = Meta(instrument={"truth": {"bandwidths_bps": [45e6, 8e6, 10e6]}})
    known = TrainSamples(
        train=samples.train, index=samples.index, packet_bytes=samples.packet_bytes,
        sent_s=samples.sent_s, received_s=samples.received_s, meta=meta,
    )  # fmt: skip
    found = fit.bottleneck(known)
    assert found.true_bps == 8e6
    assert rates(found.sentence)[-1] == 8e6
    assert re.findall(r"[+-]\d+\.\d+%", found.sentence) == ["+25.0%"]  # 10 of 8 Mbit/s
    lone = fit.bottleneck(
        TrainSamples(train=[1], index=[1], packet_bytes=[1500], sent_s=[0], received_s=[1],
                     meta=meta)
    )  # fmt: skip
    assert lone.true_bps == 8e6


KINDS = [1.544e6, 10e6, 45e6]


def separations(mixes, **options):
    return fit.separations(mixes, bandwidth_bps=KINDS, packet_bytes=1428, **options)


def mixes(counts, rtts):
    """Mixes that fit, with these round trips."""
    found = path_mixes(
        0.187, bandwidth_bps=KINDS, link_count=[12, 13], packet_bytes=1428, base_rtt_s=0.092
    )
    columns = {"link_count": np.array(counts), "rtt_s": np.array(rtts)}
    return PathMixes(**(found._asdict() | columns))


def test_groups_counted_by_hand():
    """Round trips of 1, 1.5, 3 and 3.4 ms; T1 in two mixes, 10 Mbit/s the slowest of the others."""
    found = mixes([[1, 0, 2], [0, 1, 2], [2, 2, 0], [0, 3, 0]], [1e-3, 3e-3, 1.5e-3, 3.4e-3])
    groups = [(one.group_count, one.largest_count) for one in separations(found, resolution_s=1e-3)]
    # within 1 ms: {1, 1.5} and {3, 3.4}; slowest: T1, 10, T1, 10; links: 3, 3, 4, 3
    assert groups == [(2, 2), (2, 2), (2, 2), (2, 3), (3, 2), (4, 1)]
    finer = separations(found, resolution_s=0.45e-3)
    assert [one.group_count for one in finer[:2]] == [3, 3]
    # 0.4 ms at 1428 bytes are 0.42 at 1500, and 0.5 are 0.525
    assert [one.group_count for one in separations(found, resolution_s=0.41e-3)[:2]] == [3, 4]
    assert [
        one.group_count for one in separations(found, resolution_s=0.41e-3, other_bytes=1428)[:2]
    ] == [3, 3]
    assert separations(found, resolution_s=1e-3)[3].texts()[1:3] == ("2", "3")


def test_a_step_of_just_the_resolution_is_not_seen():
    found = mixes([[1, 0, 0], [0, 1, 0]], [0.25, 0.5])
    assert separations(found, resolution_s=0.25)[0].group_count == 1
