"""A model over one argument with others uncertain: percentiles at every value."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from netcalc import uncertain
from netcalc.errors import DomainError
from netcalc.models.delays.latency import transfer_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.tcp.loss_limited import mathis_throughput_bps
from netcalc.models.tcp.slow_start import rounds
from netcalc.uncertain.sampling import DrawPlan, Draws


def test_a_band_is_the_spread_at_each_of_its_values():
    """Identity: each value alone, with the same seed, is a spread."""
    inputs = {"service_s": uncertain.lognormal(1e-3, value=2e-3)}
    loads = [0.1, 0.5, 0.9]
    found = uncertain.band(mm1_wait_s, inputs, over="utilization", values=loads, seed=3)
    for index, load in enumerate(loads):
        alone = uncertain.spread(mm1_wait_s, {**inputs, "utilization": load}, seed=3)
        there = {percent: column[index] for percent, column in found.percentiles.items()}
        assert there == alone.percentiles
    assert (found.draws, found.seed, found.over) == (10_000, 3, "utilization")


def test_the_draws_are_common_so_that_a_band_is_as_smooth_as_the_model():
    """Derived: W = s rho / (1 - rho) is the drawn s times a number: the ratio to it is constant."""
    loads = np.linspace(0.1, 0.9, 50)
    found = uncertain.band(
        mm1_wait_s, {"service_s": uncertain.uniform(1e-3, 2e-3)}, over="utilization", values=loads
    )
    for column in found.percentiles.values():
        assert np.ptp(column / (loads / (1 - loads))) == pytest.approx(0.0, abs=1e-15)


def test_a_column_is_named_where_there_are_several():
    def both(width, height):
        return Rectangle(width * height, 2 * (width + height))

    Rectangle = namedtuple("Rectangle", "area perimeter")
    inputs = {"height": uncertain.uniform(1.0, 3.0)}
    found = uncertain.bands(both, inputs, over="width", values=[1.0, 2.0])
    # derived: the median height is 2
    assert found["area"].percentiles[50.0] == pytest.approx([2, 4], rel=1e-3)
    assert found["perimeter"].percentiles[50.0] == pytest.approx([6, 8], rel=1e-3)
    one = uncertain.band(both, inputs, over="width", values=[1.0], column="area")
    assert one.percentiles[50.0] == pytest.approx([2], rel=1e-3)
    with pytest.raises(DomainError) as refused:
        uncertain.band(both, inputs, over="width", values=[1.0])
    assert refused.value.code == "several-columns-of-draws"


def test_a_model_of_single_numbers_has_fewer_draws_and_says_so():
    def double(x, y):
        return 2.0 * x if x > y else 2.0 * y  # an array has no truth

    found = uncertain.band(
        double, {"y": uncertain.uniform(0.0, 1.0)}, over="x", values=np.linspace(2.0, 3.0, 40)
    )
    assert found.draws == 500  # derived: 20,000 evaluations at 40 values
    assert [note.code for note in found.notes] == ["draws-fewer"]
    assert found.percentiles[5.0] == pytest.approx(np.linspace(4.0, 6.0, 40))


def test_impossible_draws_are_refused_or_truncated_at_all_values_alike():
    """Derived: Phi(-1) = 15.87%."""
    inputs = {"loss_ratio": uncertain.normal(0.01, 0.01), "mss_bytes": 1460.0}
    rtts = [0.01, 0.1]
    with pytest.raises(DomainError) as refused:
        uncertain.band(mathis_throughput_bps, inputs, over="rtt_s", values=rtts)
    assert refused.value.code == "draws-impossible"
    assert refused.value.values["share"] == pytest.approx(0.1587, abs=1e-4)
    found = uncertain.band(mathis_throughput_bps, inputs, over="rtt_s", values=rtts, truncate=True)
    assert "draws-truncated" in [note.code for note in found.notes]
    ratio = found.percentiles[50.0][0] / found.percentiles[50.0][1]
    assert ratio == pytest.approx(10.0)  # derived: 1/RTT


def test_where_the_queue_is_full_the_percentiles_are_infinite():
    found = uncertain.band(
        mm1_wait_s, {"service_s": uncertain.uniform(1e-3, 2e-3)}, over="utilization",
        values=[0.5, 1.0],
    )  # fmt: skip
    assert [column[1] for column in found.percentiles.values()] == [np.inf] * 3
    assert {note.code: note.values for note in found.notes}["band-infinite"] == {"share": 1.0}


@pytest.mark.each(
    ("more", "code"),
    [
        ({"over": "width"}, "not-a-choice"),
        ({"over": "latency_s"}, "input-also-free"),
        ({"values": []}, "not-one-dimensional"),
        ({"values": [-1.0]}, "not-positive"),
        ({"draws": 1}, "out-of-range"),
        ({"percentiles": [101.0]}, "out-of-range"),
    ],
)
def test_what_does_not_fit_is_refused(more, code):
    inputs = {"payload_bytes": 1e6, "latency_s": uncertain.uniform(0.01, 0.02)}
    wanted = {"over": "bandwidth_bps", "values": [1e6], **more}
    with pytest.raises(DomainError) as refused:
        uncertain.band(transfer_s, inputs, **wanted)
    assert refused.value.code == code


class TestSolutions:
    def test_each_draw_is_solved(self):
        """Derived: R = 8 N / (t - d); with d uniform from 0.2 to 0.6, its percentiles are known."""
        found = uncertain.solutions(
            transfer_s, {"payload_bytes": 1e6, "latency_s": uncertain.uniform(0.2, 0.6)},
            for_="bandwidth_bps", result=1.0,
        )  # fmt: skip
        expected = [8e6 / (1.0 - d) for d in (0.22, 0.4, 0.58)]
        assert list(found.percentiles.values()) == pytest.approx(expected, rel=1e-3)
        assert found.samples.size == 10_000
        assert found.share_without == 0.0
        assert not found.is_interval

    def test_the_solution_gives_the_result_in_every_draw(self):
        """Identity: the formula at the solution of a draw; the draws are those of a spread."""
        inputs = {"mss_bytes": 1460.0, "rtt_s": uncertain.lognormal(0.03, value=0.06)}
        found = uncertain.solutions(mathis_throughput_bps, inputs, for_="loss_ratio", result=1e7)
        rtt = Draws(DrawPlan(found.inputs, 0)).block(0, 10_000)["rtt_s"]
        there = mathis_throughput_bps(found.samples, mss_bytes=1460.0, rtt_s=rtt)
        assert there == pytest.approx(np.full(10_000, 1e7), rel=1e-6)

    def test_draws_without_a_solution_are_counted(self):
        """Derived: half of the latencies alone take longer than the time."""
        found = uncertain.solutions(
            transfer_s, {"payload_bytes": 1e6, "latency_s": uncertain.uniform(0.5, 1.5)},
            for_="bandwidth_bps", result=1.0,
        )  # fmt: skip
        assert found.share_without == pytest.approx(0.5, abs=2e-3)
        # derived: of d from 0.5 to 1.0 the 5th percentile is 0.525
        assert found.percentiles[5.0] == pytest.approx(8e6 / 0.475, rel=2e-3)

    def test_on_a_staircase_each_draw_has_an_interval(self):
        """Derived: windows of w, 2 w, 4 w: the fourth round takes segments 7 w + 1 to 15 w."""
        found = uncertain.solutions(
            rounds, {"initial_window_segments": uncertain.empirical([4.0, 10.0])},
            for_="segments", result=4.0, draws=64,
        )  # fmt: skip
        assert found.is_interval
        assert sorted(set(found.samples)) == [29, 71]
        assert sorted(set(found.last)) == [60, 150]
        assert (found.percentiles[5.0], found.last_percentiles[95.0]) == (29, 150)

    @pytest.mark.slow
    def test_one_by_one_says_how_many(self):
        found = uncertain.solutions(
            rounds, {"initial_window_segments": uncertain.empirical([4.0, 10.0])},
            for_="segments", result=4.0,
        )  # fmt: skip
        assert found.samples.size == 200
        assert [note.code for note in found.notes] == ["draws-fewer"]

    def test_the_least_of_several_solutions_counts_and_is_said(self):
        """Derived: (x - 10)^2 = 4 at 8 and at 12."""

        def parabola(x, shift):
            return (np.asarray(x) - 10.0 - shift) ** 2

        found = uncertain.solutions(
            parabola, {"shift": uncertain.uniform(0.0, 1e-3)}, for_="x", result=4.0, low=1.0,
            high=100.0,
        )  # fmt: skip
        assert found.percentiles[50.0] == pytest.approx(8.0005, abs=1e-4)
        assert [note.code for note in found.notes] == ["draws-several-solutions"]

    def test_impossible_draws_are_refused_or_truncated(self):
        inputs = {"mss_bytes": uncertain.normal(1000.0, 1000.0), "rtt_s": 0.1}
        with pytest.raises(DomainError) as refused:
            uncertain.solutions(mathis_throughput_bps, inputs, for_="loss_ratio", result=1e6)
        assert refused.value.code == "draws-impossible"
        found = uncertain.solutions(
            mathis_throughput_bps, inputs, for_="loss_ratio", result=1e6, truncate=True
        )
        assert "draws-truncated" in [note.code for note in found.notes]

    def test_an_argument_that_is_a_range_is_not_solved_for(self):
        with pytest.raises(DomainError) as refused:
            uncertain.solutions(
                transfer_s, {"payload_bytes": uncertain.uniform(1.0, 2.0), "latency_s": 0.0},
                for_="payload_bytes", result=1.0,
            )  # fmt: skip
        assert refused.value.code == "input-also-free"
