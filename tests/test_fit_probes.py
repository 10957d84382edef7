"""Links, bottleneck and mixes from probes: the truth comes back, and what drowns is said."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare, fit, plots
from netcalc.emulation.chain import Chain
from netcalc.emulation.queue import LinkQueue
from netcalc.errors import DomainError
from netcalc.models.delays.latency import path_mixes
from netcalc.models.measuring.probing import rtt_slope
from netcalc.path import Hop, Link, Path
from netcalc.samples import HopSamples, Meta, TrainSamples, load

SIZES = np.arange(548.0, 1501.0, 136.0)
PATH = Path.parse("10 Mbit/s 1 ms, T1 5 ms, T3 2 ms", processing_s=2e-4, source_processing_s=1e-4,
                  destination_processing_s=3e-4)  # fmt: skip


def truth(path):
    """What a live run notes of its path."""
    return {
        "bandwidths_bps": [link.bandwidth_bps for link in path.links],
        "latencies_s": [link.latency_s for link in path.links],
        "processings_s": [path.source_processing_s, *(hop.processing_s for hop in path.hops)],
    }


def probed(path, *, noise_s=0.0, sizes=SIZES, count=1, seed=1, meta=None, known=True):
    """Probes by hand: each link clocks the probe on the way and the answer on the way back."""
    draw = np.random.default_rng(seed)
    rows = []
    nodes_s = [path.source_processing_s, *(hop.processing_s for hop in path.hops)]
    for hop in range(1, len(path.hops) + 1):
        for size in np.repeat(sizes, count):
            answer = 28 + min(size, 548)
            time_s = sum(
                2 * link.latency_s + 8 * (size + answer) / link.bandwidth_bps
                for link in path.links[:hop]
            )
            time_s += 2 * sum(nodes_s[:hop]) + nodes_s[hop]
            rows.append((hop, size, time_s + draw.exponential(noise_s), answer))
    hop, size, time_s, answer = np.array(rows).T
    meta = meta or Meta(instrument={"truth": truth(path)} if known else {})
    return HopSamples(
        hop=hop, packet_bytes=size, rtt_s=time_s, answer_bytes=answer, meta=meta,
        node=[f"192.0.2.{int(h)}" for h in hop],
    )  # fmt: skip


@pytest.mark.each("hop", [1, 2, 3])
@pytest.mark.each("size", [28.0, 548.0, 1500.0])
def test_time_of_a_probe_to_a_node(hop, size):
    """derived: the sum over links and nodes, written out above."""
    rows = probed(PATH, sizes=[size])
    expected = np.asarray(rows.rtt_s)[np.asarray(rows.hop) == hop]
    assert fit.to_node_s(size, path=PATH, hop=hop) == pytest.approx(expected[0], rel=1e-12)


def test_links_without_noise_are_the_path():
    found = fit.links(probed(PATH))
    for link, true in zip(found.links, PATH.links, strict=True):
        assert link.bandwidth_bps == pytest.approx(true.bandwidth_bps, rel=1e-6)
        assert link.true_bandwidth_bps == true.bandwidth_bps
        assert link.error_ratio == pytest.approx(0, abs=1e-6)
        assert link.latency_s == pytest.approx(link.true_latency_s, abs=1e-9)
    # derived: 1 ms, the source's 0.1 ms at both ends and half of the router's 0.2 ms
    assert found.links[0].latency_s == pytest.approx(0.001 + 1e-4 + 1e-4, abs=1e-9)
    assert found.links[2].latency_s == pytest.approx(0.002 + 1e-4 + 1.5e-4, abs=1e-9)
    assert found.links[1].node == "192.0.2.2"


def test_slopes_are_those_of_the_model():
    """identity: 8 times the sum of 1/rate, the request alone grows."""
    found = fit.links(probed(PATH))
    for hop, line in enumerate(found.lines, 1):
        rates = [link.bandwidth_bps for link in PATH.links[:hop]]
        expected = float(rtt_slope(rates, same_size_reply=False))
        assert line.slope == pytest.approx(expected, rel=1e-9)


def test_the_smallest_of_many_is_near_the_truth_and_the_error_is_honest():
    """derived: over 40 runs the truth lies within two standard errors in nearly all of them."""
    deviations = []
    for seed in range(40):
        found = fit.links(probed(PATH.until(2), noise_s=1e-4, count=10, seed=seed))
        for link in found.links:
            deviations.append(
                (link.bandwidth_bps - link.true_bandwidth_bps) / link.bandwidth_stderr_bps
            )
            assert abs(link.error_ratio) < 0.1
    assert np.mean(np.abs(deviations) < 2.5) > 0.85
    assert np.mean(np.abs(deviations) < 0.1) < 0.3, "the errors are not far too large either"


def test_a_fast_link_behind_slow_ones_drowns():
    path = Path.parse("56 kbit/s, 1 Gbit/s")
    found = fit.links(probed(path, noise_s=5e-5, count=10)).links
    assert found[0].bandwidth_bps == pytest.approx(56e3, rel=0.01)
    assert np.isnan(found[1].bandwidth_bps)
    assert np.isnan(found[1].error_ratio)
    reason = found[1].reason
    assert reason.code == "link-insignificant"
    assert reason.values == {"bound_bps": found[1].at_least_bps}
    assert 1e6 < found[1].at_least_bps < 1e9
    assert found[1].why_not == str(reason)
    assert str(reason) in fit.links(probed(path, noise_s=5e-5, count=10)).sentence


@pytest.mark.each(
    ("sizes", "count"), [([548.0, 1500.0], 2), ([1500.0], 1), ([100.0, 300.0, 548.0], 1)]
)
def test_too_few_sizes_with_equal_answers(sizes, count):
    """An answer to a probe of less than 548 bytes is shorter: such a probe does not count."""
    found = fit.links(probed(PATH, sizes=sizes))
    assert {link.reason.code for link in found.links} == {"too-few-sizes"}
    assert all(link.reason.values == {"needed": 3, "count": count} for link in found.links)
    assert np.isnan([link.bandwidth_bps for link in found.links]).all()


def test_one_size_determines_no_latency():
    (link, *_) = fit.links(probed(PATH, sizes=[1500.0])).links
    assert np.isnan([link.latency_s, link.latency_stderr_s]).all(), "its bits are still in it"
    two, every = (fit.links(probed(PATH, sizes=sizes)) for sizes in ([548.0, 1500.0], SIZES))
    # identity: two sizes without noise make the same line as all of them
    assert two.links[0].latency_s == pytest.approx(every.links[0].latency_s)


def test_small_probes_are_left_out():
    both = fit.links(probed(PATH, sizes=[100.0, 300.0, *SIZES]))
    assert [link.bandwidth_bps for link in both.links] == pytest.approx(
        [link.bandwidth_bps for link in fit.links(probed(PATH)).links]
    )
    assert both.points[0][0].min() == 548


def test_a_node_that_never_answered_ends_what_is_known():
    every = probed(PATH)
    silent = np.asarray(every.hop) == 2
    samples = HopSamples(
        hop=every.hop, packet_bytes=every.packet_bytes, answer_bytes=every.answer_bytes,
        rtt_s=np.where(silent, np.nan, every.rtt_s), lost=silent, meta=every.meta,
    )  # fmt: skip
    assert samples.hops == (1, 3)
    assert len(fit.links(samples).links) == 1


def test_without_probes_there_is_a_sentence():
    empty = HopSamples(hop=[], packet_bytes=[], rtt_s=[])
    assert fit.links(empty).links == ()
    assert fit.links(empty).sentence == "No probe to the first node was answered."
    assert compare.overlay(empty).sentence == fit.links(empty).sentence
    with pytest.raises(TypeError, match="HopSamples"):
        fit.links("probes")


def test_rows_of_an_estimate():
    rows = fit.links(probed(PATH)).rows()
    assert [row["hop"] for row in rows] == [1, 2, 3]
    assert rows[1]["error_ratio"] == pytest.approx(0, abs=1e-6)


def test_probes_compared_with_the_path():
    found = compare.overlay(probed(PATH))
    assert found.residual == pytest.approx(0, abs=1e-12)
    assert found.predicted_label == "predicted from the path"
    assert np.isnan(found.curve_y).sum() == 3, "the lines of three nodes are apart"
    assert found.x.size == 3 * SIZES.size
    other = compare.overlay(probed(PATH), path=Path.parse("10 Mbit/s 2 ms, T1 5 ms, T3 2 ms"))
    assert other.residual.mean() < -1e-3
    fitted = compare.overlay(probed(PATH, known=False))
    assert fitted.predicted_label == "fitted, one line for each node"
    assert fitted.residual == pytest.approx(0, abs=1e-9)
    assert "1.54 Mbit/s" in plots.overlay(found).description


def trains_of(rates_s, *, packet_bytes=1500.0, packet_count=2, crossed=(), meta=None):
    """Trains whose packets arrive so far apart."""
    rows = []
    for train, gap_s in enumerate(rates_s, 1):
        for place in range(packet_count):
            rows.append((train, place + 1, train * 1.0, train + 0.01 + place * gap_s))
    train, place, sent_s, received_s = np.array(rows).T
    return TrainSamples(
        train=train, index=place, packet_bytes=np.full(train.size, packet_bytes), sent_s=sent_s,
        received_s=received_s, crossed=[t in crossed for t in train], meta=meta or Meta(),
    )  # fmt: skip


def test_the_mode_of_the_pairs_is_the_narrowest_link():
    """derived: 1500 bytes at 10 Mbit/s are 1.2 ms; a third of the pairs is spread."""
    gaps = [1.2e-3] * 20 + [2.0e-3, 2.4e-3, 1.7e-3, 1.9e-3, 2.2e-3, 0.9e-3, 3e-3, 2.9e-3]
    found = fit.bottleneck(trains_of(gaps))
    assert found.bandwidth_bps == pytest.approx(10e6, rel=1e-9)
    assert found.mean_bps < 0.85e7
    assert found.rates_bps.size == 28
    assert found.low_bps == pytest.approx(10e6)
    assert found.high_bps == pytest.approx(10e6)
    assert np.isnan(found.true_bps)


def test_the_mode_where_no_two_agree():
    """derived by hand: of 1, 1.1, 1.3, 2, 4 the closest two are 1 and 1.1."""
    gaps = np.array([1.3, 4.0, 1.0, 2.0, 1.1]) * 1e-3
    found = fit.bottleneck(trains_of(gaps))
    assert found.bandwidth_bps == pytest.approx(8 * 1500 / 1.05e-3)
    assert found.median_bps == pytest.approx(8 * 1500 / 1.3e-3)


@pytest.mark.each(("packet_count", "gap_s"), [(2, 1.2e-3), (10, 1.2e-3)])
def test_longer_trains_say_the_same(packet_count, gap_s):
    found = fit.bottleneck(trains_of([gap_s] * 5, packet_count=packet_count))
    assert found.bandwidth_bps == pytest.approx(10e6)


@pytest.mark.each("place", [0, 1, 2])
def test_pairs_through_queues_in_virtual_time(place):
    """second method: the emulator's queues, with the narrowest link first, in the middle, last."""
    rates = [45e6, 45e6, 45e6]
    rates[place] = 2e6
    chain = Chain([LinkQueue(bandwidth_bps=rate, latency_s=1e-3) for rate in rates])
    received = []
    for train in range(5):
        for number in (1, 2):
            chain.push((train, number), float(train), 1500)
    while (due_s := chain.next_event_s()) is not None:
        received += [(when_s, item) for when_s, item in chain.take(due_s)]
    gaps = [received[2 * n + 1][0] - received[2 * n][0] for n in range(5)]
    path = Path.of([Link(rate, 1e-3) for rate in rates])
    found = fit.bottleneck(trains_of(gaps, meta=Meta(instrument={"truth": truth(path)})))
    assert found.bandwidth_bps == pytest.approx(2e6, rel=1e-6)
    assert found.true_bps == 2e6
    assert "+0.0%" in found.sentence or "-0.0%" in found.sentence


def test_pairs_that_did_not_arrive_whole():
    whole = trains_of([1.2e-3] * 3)
    received = np.array(whole.received_s)
    received[1] = np.nan
    samples = TrainSamples(
        train=whole.train, index=whole.index, packet_bytes=whole.packet_bytes,
        sent_s=whole.sent_s, received_s=received,
    )  # fmt: skip
    assert samples.lost_count == 1
    assert samples.trains()["train"].tolist() == [2, 3]
    nothing = TrainSamples(train=[1], index=[1], packet_bytes=[1500], sent_s=[0], received_s=[1])
    assert np.isnan(fit.bottleneck(nothing).bandwidth_bps)
    assert "No train arrived complete" in compare.overlay(nothing).sentence
    with pytest.raises(TypeError, match="TrainSamples"):
        fit.bottleneck("pairs")


def test_columns_of_trains():
    found = trains_of([1.2e-3, 1.3e-3], packet_count=3, crossed=(2,)).trains()
    assert found["dispersion_s"] == pytest.approx([2.4e-3, 2.6e-3])
    assert found["packet_count"].tolist() == [3, 3]
    assert found["one_way_s"] == pytest.approx([0.0124, 0.0126])
    assert found["crossed_count"].tolist() == [0, 3]


def test_trains_compared_with_the_path():
    meta = Meta(instrument={"truth": truth(Path.parse("T3, 10 Mbit/s"))})
    found = compare.overlay(trains_of([1.2e-3, 2e-3, 1.2e-3], crossed=(2,), meta=meta))
    assert found.predicted == pytest.approx(1.2e-3)
    assert found.outlier.tolist() == [False, True, False]
    assert plots.overlay(found).description.startswith("3 trains")


KINDS = [1.544e6, 10e6, 45e6]


def book_mixes(**changed):
    question = {"bandwidth_bps": KINDS, "link_count": [12, 13], "packet_bytes": 1428,
                "base_rtt_s": 0.092}  # fmt: skip
    return path_mixes(0.187, **{**question, **changed})


def test_what_tells_the_book_s_mixes_apart():
    """derived by hand: 6-2-4, 6-1-6 and 6-2-5 have 12, 13 and 13 links, all with T1 the slowest."""
    apart = {
        one.measurement: (one.group_count, one.largest_count)
        for one in fit.separations(
            book_mixes(), bandwidth_bps=KINDS, packet_bytes=1428, resolution_s=2e-3
        )
    }
    assert apart["packet pairs"] == (1, 3)
    assert apart["traceroute"] == (2, 2)
    assert apart["packet pairs and traceroute"] == (2, 2)
    assert apart["traceroute with sizes"] == (3, 1)
    assert apart["the same size again, to 2 ms"] == (1, 3)
    assert apart["another size, 1500 B, to 2 ms"] == (1, 3), "it is the same sum"


def test_a_finer_clock_tells_them_apart():
    # derived: 186.12, 187.39 and 187.90 ms: steps of 1.27 and 0.51 ms
    for resolution_s, groups in ((1e-3, 2), (0.4e-3, 3)):
        same = fit.separations(
            book_mixes(), bandwidth_bps=KINDS, packet_bytes=1428, resolution_s=resolution_s
        )[0]
        assert same.group_count == groups


def test_packet_pairs_see_another_slowest_link():
    kinds = [512e3, *KINDS]
    found = book_mixes(bandwidth_bps=kinds)
    assert set((found.link_count[:, 0] > 0).tolist()) == {False, True}
    pairs = fit.separations(found, bandwidth_bps=kinds, packet_bytes=1428, resolution_s=2e-3)[2]
    assert pairs.group_count == 2


def test_no_mix_is_nothing_to_separations():
    nothing = book_mixes(packet_bytes=28)
    assert fit.separations(nothing, bandwidth_bps=KINDS, packet_bytes=28, resolution_s=1e-3) == ()


@pytest.mark.parametrize("samples", [probed(PATH), trains_of([1e-3, 2e-3], crossed=(1,))])
def test_saved_samples_come_back(tmp_path, samples):
    again = load(samples.save(tmp_path / "run.json.gz"))
    assert type(again) is type(samples)
    for name, column in samples.columns().items():
        np.testing.assert_array_equal(getattr(again, name), column)
    assert again.meta.instrument == samples.meta.instrument
    assert len(samples.to_frame()) == len(samples)


def test_columns_that_are_not_given_are_unknown():
    samples = HopSamples(hop=[1, 1], packet_bytes=[600, 700], rtt_s=[0.1, np.nan])
    assert samples.node.tolist() == ["", ""]
    assert samples.measured.tolist() == [True, False]
    assert samples.minima(1)[0].tolist() == [600]
    with pytest.raises(DomainError) as caught:
        HopSamples(hop=[1], packet_bytes=[600], rtt_s=[-1.0])
    assert (caught.value.code, caught.value.name) == ("is-negative", "rtt_s")


def test_paths_of_parts_and_of_truth():
    assert Path.from_truth(truth(PATH)).rtt_s(1000) == pytest.approx(PATH.rtt_s(1000))
    assert PATH.until(3) == PATH
    assert PATH.until(1).hops == (Hop(Link(10e6, 1e-3, "10 Mbit/s"), 2e-4),)
    with pytest.raises(DomainError, match="from 1 to 3"):
        PATH.until(4)
