"""Series of round trips whose cause is known, as they are made here: a median hides none of them.

identity: the series are drawn with a level, a step, a queue or a loss that the test sets.
"""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.explain import Known, measurement
from netcalc.explain.causes.series import levels, loss_interval, series_cause
from netcalc.samples import RttSamples

COUNT = 100
SEEDS = range(20)


def quiet(random, base_s=0.04, count=COUNT):
    """Round trips of an idle path: the least, and up to a millisecond in hosts."""
    return base_s + random.exponential(3e-4, count)


def cause(rtt_s, lost=None, ttl=()):
    gone = np.isnan(rtt_s) if lost is None else lost
    return series_cause(rtt_s, gone.tolist(), ttl)


def without(rtt_s, rows):
    rtt_s[rows] = np.nan
    return rtt_s


def test_an_idle_path_is_the_distance():
    for seed in SEEDS:
        found = cause(quiet(np.random.default_rng(seed)))
        assert (found.code, found.confidence) == ("distance", "high")


@pytest.mark.each("count", [1, 2])
def test_one_or_two_lost_of_a_hundred_change_no_headline(count):
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        rows = random.choice(COUNT, count, replace=False)
        assert cause(without(quiet(random), rows)).code == "distance"


def test_a_few_outliers_change_no_headline():
    """Eight probes of a hundred, each alone, of half a second."""
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        rtt_s = quiet(random)
        rtt_s[np.arange(4, COUNT, 12) + random.integers(0, 3)] = 0.5
        assert cause(rtt_s).code == "distance"


def test_jitter_is_no_queue():
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        assert cause(random.uniform(0.02, 0.06, COUNT)).code == "delay-variation"


def test_batches_are_no_queue():
    """Answers wait for the next of the batches, one every 25 ms."""
    sent = np.arange(COUNT) * 0.2003
    rtt_s = 0.01 + (-(sent + 0.01)) % 0.025
    assert cause(rtt_s).code == "delay-variation"


def test_loss_is_the_headline():
    """Given: each probe is lost with 20 %; its interval holds that in 95 of 100."""
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        found = cause(without(quiet(random), random.random(COUNT) < 0.2))
        assert (found.code, found.variant) == ("random-loss", "series")
        assert found.sign("loss_ratio") == pytest.approx(0.2, abs=0.13)


def test_loss_is_the_headline_of_jitter_too():
    random = np.random.default_rng(3)
    rtt_s = without(random.uniform(0.02, 0.06, COUNT), random.random(COUNT) < 0.2)
    assert cause(rtt_s).code == "random-loss"


def test_probes_lost_in_a_row_are_an_outage():
    """By hand: 15 of 100 in a row; random losses of 15 % do that once in 10 ** 12."""
    found = cause(without(quiet(np.random.default_rng(1)), slice(40, 55)))
    assert (found.code, found.sign("lost_in_row")) == ("outage", 15.0)


def test_the_interval_of_a_loss_is_that_of_wilson():
    """Published: Newcombe (1998), table I, for 81 of 263 and 0 of 20."""
    assert loss_interval(81, 263)[1:] == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert loss_interval(0, 20)[1:] == pytest.approx((0.0, 0.1611), abs=1e-4)


@pytest.mark.each(("before_s", "after_s"), [(0.04, 0.09), (0.09, 0.04)])
def test_a_path_that_changes_is_a_step(before_s, after_s):
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        rtt_s = np.concatenate([quiet(random, before_s, 50), quiet(random, after_s, 50)])
        found = cause(rtt_s)
        assert (found.code, found.confidence) == ("path-change", "medium")
        assert found.sign("before_s") == pytest.approx(before_s, rel=0.02)
        assert found.sign("after_s") == pytest.approx(after_s, rel=0.02)
        assert found.sign("at_probe") == 51


def test_another_time_to_live_makes_a_step_sure():
    random = np.random.default_rng(1)
    rtt_s = np.concatenate([quiet(random, 0.04, 50), quiet(random, 0.09, 50)])
    assert cause(rtt_s, ttl=np.repeat([54.0, 51.0], 50)).confidence == "high"
    assert cause(rtt_s, ttl=np.full(100, 54.0)).confidence == "medium"


def queued(random, least_s, most_s, count):
    """A buffer that a transfer fills and loses from: saw teeth between a half and the whole."""
    teeth = 0.5 + 0.5 * (np.arange(count) % 9) / 9
    return least_s + (most_s - least_s) * teeth + random.exponential(1e-3, count)


def test_a_load_that_comes_and_goes_is_a_queue():
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        rtt_s = np.concatenate(
            [quiet(random, 0.02, 30), queued(random, 0.02, 0.22, 40), quiet(random, 0.02, 30)]
        )
        found = cause(rtt_s)
        assert (found.code, found.variant) == ("line", "load")
        assert found.sign("at_probe") == pytest.approx(31, abs=2)
        assert found.sign("to_probe") == pytest.approx(70, abs=2)


def test_a_flat_level_that_comes_back_is_not_said_to_be_a_queue():
    random = np.random.default_rng(2)
    rtt_s = np.concatenate(
        [quiet(random, 0.02, 30), quiet(random, 0.12, 40), quiet(random, 0.02, 30)]
    )
    found = cause(rtt_s)
    assert (found.code, found.variant, found.confidence) == ("path-change", "back", "low")


def test_a_queue_that_grows_is_a_queue():
    random = np.random.default_rng(2)
    found = cause(0.02 + np.linspace(0, 0.5, COUNT) + random.exponential(1e-3, COUNT))
    assert (found.code, found.variant) == ("line", "series")


def test_losses_of_a_full_buffer_are_not_the_headline():
    random = np.random.default_rng(2)
    rtt_s = np.concatenate([quiet(random, 0.02, 10), queued(random, 0.02, 0.8, 90)])
    rtt_s = without(rtt_s, random.random(COUNT) < 0.1 * (rtt_s > 0.1))
    assert cause(rtt_s).code == "line"


def test_a_queue_that_never_drains_is_seen_beside_the_idle_round_trip():
    rtt_s = queued(np.random.default_rng(2), 0.02, 0.22, COUNT)
    assert series_cause(rtt_s, [False] * COUNT, (), 0.02).code == "line"


def test_fewer_than_ten_probes_say_nothing():
    assert cause(np.full(9, 0.04)).code == "unknown"


def test_a_long_series_has_its_step_too():
    random = np.random.default_rng(2)
    rtt_s = np.concatenate([quiet(random, 0.04, 20_000), quiet(random, 0.09, 40_000)])
    part = levels(rtt_s)
    assert part.begin == pytest.approx(20_000, abs=200)
    assert part.size_s == pytest.approx(0.05, rel=0.01)


def test_a_finding_of_spikes_explains_the_median():
    rtt_s = quiet(np.random.default_rng(1))
    rtt_s[4::12] = 0.5
    [found] = measurement(RttSamples(payload_bytes=np.full(COUNT, 56.0), rtt_s=rtt_s))
    assert found.measured == pytest.approx(0.0403, rel=0.01)
    assert "slowest-explained" not in {one.code for one in found.notices}


def finding(answers_s, **known):
    rtt_s = np.asarray(answers_s)
    samples = RttSamples(payload_bytes=np.full(rtt_s.size, 56.0), rtt_s=rtt_s, lost=np.isnan(rtt_s))
    return measurement(samples, Known(**known))[0]


def notes(one):
    return {notice.code: notice.values for notice in one.notices}


def test_late_answers_at_even_intervals_are_told_with_their_interval():
    """By hand: 16 of 120 wait 180 ms more than 20: 2.88 of 2.4 + 2.88 s."""
    rtt_s = np.full(120, 0.02)
    for late in range(4):
        rtt_s[5 + late :: 30] = 0.2
    found = finding(rtt_s)
    assert (found.cause.code, found.cause.variant) == ("delay-variation", "periodic")
    assert found.cause.sign("period_probes") == 30
    assert found.cause.share_of_time == pytest.approx(2.88 / 5.28)
    shares = found.as_dict()["shares_of_time"]
    assert shares == pytest.approx({"distance": 2.4 / 5.28, "delay-variation": 2.88 / 5.28})
    assert found.confidence == "medium"


def test_single_late_answers_at_even_intervals_are_a_note():
    """By hand: 12 of 120, every tenth; most answers took 20 ms."""
    rtt_s = np.full(120, 0.02)
    rtt_s[5::10] = 0.2
    found = finding(rtt_s)
    assert found.cause.code == "distance"
    said = notes(found)["late-evenly"]
    assert (said["count"], said["total"], said["period_probes"]) == (12, 120, 10)


def test_a_single_late_answer_is_told_with_its_number():
    rtt_s = quiet(np.random.default_rng(1))
    rtt_s[50] = 0.9
    found = finding(rtt_s)
    assert found.cause.code == "distance"
    said = notes(found)["few-late"]
    assert (said["count"], said["numbers"], said["slow_s"]) == (1, [51], 0.9)


def test_a_first_answer_that_is_late_is_that_of_a_look_up_or_a_radio():
    rtt_s = quiet(np.random.default_rng(2))
    rtt_s[0] = 0.3
    assert "first-slow" in notes(finding(rtt_s))


@pytest.mark.each("count", [1, 2, 3, 4])
def test_few_answers_are_low_and_have_no_slowest_of_twenty(count):
    rtt_s = np.full(count, 0.02)
    rtt_s[-1] = 0.3 if count > 2 else 0.02
    found = finding(rtt_s)
    assert found.confidence == "low"
    assert "few-answers" in notes(found)
    assert "slowest-explained" not in notes(found)


def test_a_stated_round_trip_that_answers_beat_is_not_used():
    """By hand: 20 ms answers refute 30 ms without load."""
    found = finding(np.full(50, 0.02), rtt_s=0.03)
    said = notes(found)["rtt-refuted"]
    assert (said["stated_s"], said["fastest_s"], said["count"]) == (0.03, 0.02, 50)
    assert found.confidence == "low"
    assert found.limits[0].value == pytest.approx(0.02)


def test_a_stated_round_trip_far_below_answers_that_do_not_vary_is_left_open():
    """A queue that always stands, or a longer path: 18 of 20 ms."""
    found = finding(np.full(50, 0.02), rtt_s=0.002)
    assert (found.cause.code, found.cause.variant) == ("unknown", "standing")
    assert found.confidence == "low"


def test_times_that_no_path_takes_are_left_out():
    rtt_s = quiet(np.random.default_rng(4))
    rtt_s[7] = 3e7
    found = finding(rtt_s)
    assert notes(found)["rtt-impossible"]["count"] == 1
    assert found.cause.code == "distance"
    assert finding([3e7, 4e7]).limits == ()


def test_of_two_levels_the_last_is_explained():
    """By hand: 20 ms, then 45 ms from answer 51 on: a median of both is one of neither."""
    random = np.random.default_rng(5)
    found = finding(np.concatenate([quiet(random, 0.02, 50), quiet(random, 0.045, 50)]))
    assert found.cause.code == "path-change"
    assert found.measured == pytest.approx(0.0452, abs=3e-4)
    assert notes(found)["part-explained"] == {"at_probe": 51, "to_probe": 100}
