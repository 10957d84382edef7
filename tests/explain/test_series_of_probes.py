"""Series of round trips whose cause is known, as they are made here: a median hides none of them.

identity: the series are drawn with a level, a step, a queue or a loss that the test sets.
"""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.explain import Known, measurement
from netcalc.explain.causes.series import levels, loss_interval, series_cause
from netcalc.samples import Instrument, Meta, RttSamples

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
    assert cause(rtt_s, ttl=np.full(100, np.nan)).confidence == "medium", "unknown is no other"


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


def finding(rtt_s, *, known=None, **columns):
    samples = RttSamples(payload_bytes=np.full(len(rtt_s), 56.0), rtt_s=rtt_s, **columns)
    [found] = measurement(samples, known)
    return found


def said(found):
    return {one.code: one.values for one in found.notices}


def test_one_answer_that_is_far_later_is_said_with_its_number():
    """By hand: 900 ms, the 51st of a hundred, whose sequence begins at 100."""
    rtt_s = quiet(np.random.default_rng(1), 0.02)
    rtt_s[50] = 0.9
    found = finding(rtt_s, sequence=np.arange(100.0, 200.0))
    assert (found.cause.code, found.confidence) == ("distance", "high")
    values = said(found)["few-late"]
    assert (values["count"], values["total"], values["numbers"]) == (1, 100, [150])
    assert (values["slow_s"], values["median_s"]) == (0.9, np.median(rtt_s))
    assert said(finding(rtt_s))["few-late"]["numbers"] == [51], "the 51st where none is numbered"


def test_the_first_answer_alone_is_said_to_be_it():
    rtt_s = quiet(np.random.default_rng(1), 0.02)
    rtt_s[0] = 0.12
    assert said(finding(rtt_s))["first-slow"]["slow_s"] == 0.12
    assert "few-late" not in said(finding(rtt_s))


def test_quiet_series_have_no_late_answers():
    for seed in SEEDS:
        assert said(finding(quiet(np.random.default_rng(seed), 0.02))) == {}


def test_bursts_at_even_intervals_are_no_queue_and_have_a_share_of_all_the_time():
    """By hand: four of each 30 are late by 110 ms: 20 ms of 20 + 110 x 4 / 30 ms are the path."""
    rtt_s = np.full(120, 0.02)
    for begin in range(0, 120, 30):
        rtt_s[begin : begin + 4] = 0.13
    found = finding(rtt_s)
    assert (found.cause.code, found.cause.variant) == ("delay-variation", "periodic")
    assert found.confidence == "medium"
    assert (found.cause.sign("period_probes"), found.cause.sign("late_s")) == (30, 0.11)
    share = 1 - 0.02 / (0.02 + 0.11 * 4 / 30)
    assert found.cause.share_of_time == pytest.approx(share)
    assert found.cause.duration_s == pytest.approx(104 * 0.02 + 16 * 0.13)
    assert found.as_dict()["shares_of_time"] == pytest.approx(
        {"distance": 1 - share, "delay-variation": share}
    )


def test_single_spikes_at_even_intervals_are_named_as_such():
    """By hand: every tenth, 500 ms; all others 20 ms."""
    found = finding(np.where(np.arange(COUNT) % 10 == 4, 0.5, 0.02))
    assert found.cause.code == "distance"
    assert said(found)["late-evenly"] == {
        "count": 10, "total": 100, "median_s": 0.02, "period_probes": 10.0, "late_s": 0.5,
    }  # fmt: skip


def test_short_bursts_at_random_are_no_queue_and_long_ones_are():
    short, long = np.full(COUNT, 0.02), np.full(COUNT, 0.02)
    for begin, other in ((7, 4), (19, 11), (52, 50), (61, 78)):
        short[begin : begin + 3] = 0.2
        long[other : other + 6] = np.linspace(0.1, 0.3, 6)
    assert (finding(short).cause.code, finding(short).cause.variant) == (
        "delay-variation", "bursts",
    )  # fmt: skip
    found = finding(long)
    assert (found.cause.code, found.cause.variant, found.cause.sign("row_count")) == (
        "line", "bursts", 4,
    )  # fmt: skip


def test_a_stated_round_trip_above_the_fastest_answer_is_refuted():
    """By hand: 40 ms were stated; the fastest of a hundred answers took 20 ms."""
    rtt_s = np.where(np.arange(COUNT) == 3, 0.02, 0.0202)
    found = finding(rtt_s, known=Known(rtt_s=0.04))
    assert said(found)["rtt-refuted"] == {"stated_s": 0.04, "fastest_s": 0.02, "count": 100}
    assert found.confidence == "low"
    assert {one.name for one in found.limits} == {"queue-above-least", "distance"}
    near = finding(rtt_s, known=Known(rtt_s=0.0205))
    assert "rtt-refuted" not in said(near), "as the user rounded it"
    few = finding([0.02] * 6, known=Known(rtt_s=0.04))
    assert (few.cause, few.confidence) == (None, "low")


def test_an_idle_phase_slower_than_the_answers_under_load_is_no_stated_round_trip():
    """By hand: 40 ms without a load, of which the hosts spent half; 20 ms with one."""
    samples = RttSamples(
        payload_bytes=np.full(2 * COUNT, 64.0), rtt_s=np.repeat([0.04, 0.0202], COUNT),
        group=np.repeat(["idle", "forward"], COUNT),
        meta=Meta(instrument=Instrument(load_rates_bps={"forward": 9e6})),
    )  # fmt: skip
    idle, loaded = measurement(samples)
    assert said(loaded)["idle-refuted"] == {"stated_s": 0.04, "fastest_s": 0.0202, "count": COUNT}
    assert loaded.confidence == "low"
    assert "idle-refuted" not in said(idle)
    _, told = measurement(samples, Known(rtt_s=0.04))
    assert "rtt-refuted" in said(told)
    assert "idle-refuted" not in said(told)


def test_a_wait_that_never_changes_may_be_a_longer_path():
    """By hand: 5 ms were stated, and all answers took 20 ms."""
    found = finding(quiet(np.random.default_rng(1), 0.02), known=Known(rtt_s=0.005))
    assert (found.cause.code, found.cause.variant) == ("unknown", "standing")
    assert (found.confidence, found.is_explained) == ("low", False)
    assert found.limits[0].name == "queue"


def test_few_answers_have_a_slowest_and_no_slowest_twentieth():
    """By hand: 20.1, 20.4 and 300.2 ms."""
    found = finding([0.0201, 0.0204, 0.3002])
    assert (found.measured, found.confidence) == (0.3002, "low")
    assert said(found)["slowest-alone-explained"] == {
        "median_s": 0.0204, "slow_s": 0.3002, "count": 3,
    }  # fmt: skip
    assert found.as_dict()["cause"] == "delay-variation", "three pings show no line"


@pytest.mark.each(("count", "confidence"), [(4, "low"), (5, "medium"), (10, "high")])
def test_from_ten_equal_answers_on_it_is_sure(count, confidence):
    assert finding([0.02] * count).confidence == confidence


def test_times_of_years_are_left_out():
    """By hand: of 21 answers one took 1e9 s; all others 20 ms."""
    found = finding([0.02] * 20 + [1e9])
    assert said(found)["rtt-impossible"] == {"count": 1, "most_s": 60.0}
    assert (found.measured, found.cause.code) == (0.02, "distance")
    none = finding([1e9] * 20)
    assert (none.limits, none.is_explained) == ((), False)
    assert said(none)["rtt-impossible"]["count"] == 20


def test_of_a_step_the_last_level_is_explained():
    """By hand: 45.2 ms then 20.2; of both levels the median would be 32.7 ms, which none took."""
    rtt_s = np.repeat([0.0452, 0.0202], 50)
    found = finding(rtt_s)
    assert found.measured == 0.0202
    assert said(found)["part-explained"] == {"at_probe": 51, "to_probe": 100}
    assert finding(rtt_s[::-1]).measured == 0.0452


def test_a_ramp_has_no_idle_part_and_no_working_latency():
    assert "working-latency" not in said(finding(np.linspace(0.02, 0.07, COUNT)))


def test_microseconds_of_hosts_are_no_path():
    """By hand: 43 us at least, 88 us in the median: the path is less than six tenths."""
    found = finding(np.where(np.arange(20) < 3, 43e-6, 88e-6))
    assert found.cause is None
    assert (found.binding.name, found.as_dict()["cause"]) == (
        "queue-above-least", "delay-variation",
    )  # fmt: skip


def test_the_shares_of_a_ping_add_to_1():
    series = (
        quiet(np.random.default_rng(1)), [0.02, 0.03, 0.05], 0.02 + np.linspace(0, 0.5, COUNT),
    )  # fmt: skip
    for rtt_s in series:
        stored = finding(rtt_s).as_dict()
        shares = stored["shares_of_time"]
        assert sum(shares.values()) == pytest.approx(1)
        assert shares[stored["cause"]] == pytest.approx(stored["share_of_time"])
        assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_a_sure_finding_asks_for_nothing():
    found = finding(quiet(np.random.default_rng(1)))
    assert (found.confidence, found.missing) == ("high", ())


def test_answers_at_the_step_of_the_clock_are_not_the_path():
    """By hand: 200 us of a clock of 100 us."""
    found = finding([2e-4] * 30, resolution_s=[1e-4] * 30)
    assert (found.cause, found.binding.name, found.said.code) == (None, "clock", "explained-clock")


def test_every_cause_of_a_series_has_a_test_that_pings_can_do():
    random = np.random.default_rng(2)
    growth = finding(0.02 + np.linspace(0, 0.5, COUNT) + random.exponential(1e-3, COUNT))
    lost = random.random(COUNT) < 0.2
    losses = finding(without(quiet(random), lost), lost=lost)
    for found, code in ((growth, "test-line-series"), (losses, "test-random-loss-series")):
        assert found.test.code == code
