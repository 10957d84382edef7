"""Working latency beside published numbers and series of a known mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from netcalc.explain import measurement
from netcalc.explain.causes.series import (
    PARTS,
    STUDENT_OF_PARTS,
    WorkingLatency,
    of_files,
    trimmed,
    working_latency,
)
from netcalc.samples import RttSamples


def ping(rtt_s, size=56.0):
    return RttSamples(payload_bytes=np.full(len(rtt_s), size), rtt_s=rtt_s)


def test_the_trimmed_mean_leaves_the_slowest_twentieth_out():
    """By hand: of 1 to 100 the shortest 95 have a mean of 48."""
    assert trimmed(np.arange(1.0, 101.0))[0] == 48.0


def test_the_quantile_of_the_parts_is_that_of_student():
    assert stdtrit(PARTS - 1, 0.975) == pytest.approx(STUDENT_OF_PARTS, abs=1e-6)


def test_round_trips_a_minute_are_60_over_the_time():
    """By hand: 150 ms are 400 a minute, 120 and 200 ms 500 and 300."""
    found = WorkingLatency(idle_s=(0.02, 0.02, 0.02), loaded_s=(0.15, 0.12, 0.2)).said[0].values
    numbers = [found[name] for name in ("per_minute", "least_per_minute", "most_per_minute")]
    assert numbers == pytest.approx([400, 300, 500])


@pytest.mark.each(
    ("added_s", "grade"),
    [(0.004, "A+"), (0.005, "A"), (0.029, "A"), (0.03, "B"), (0.059, "B"), (0.199, "C"),
     (0.399, "D"), (0.41, "F")],
)  # fmt: skip
def test_grades_are_those_of_the_published_scale(added_s, grade):
    """Published: dslreports.com/faq/17930: under 5 A+, 30 A, 60 B, 200 C, 400 D, else F."""
    assert WorkingLatency(idle_s=(0.0,) * 3, loaded_s=(added_s,) * 3).grade == grade


def test_an_interval_over_two_grades_says_both():
    assert WorkingLatency(idle_s=(0.0,) * 3, loaded_s=(0.19, 0.17, 0.21)).grade == "C (C to D)"


def test_the_interval_holds_the_mean_of_a_series_that_depends_on_its_past():
    """Identity: a series with a correlation of 0.5, whose trimmed mean a long one of it shows."""
    random = np.random.default_rng(5)

    def series(count):
        noise, value = random.normal(0, 1, count), 0.0
        for place in range(count):
            value = 0.5 * value + noise[place]
            noise[place] = value
        return 100 + noise

    true, held = trimmed(series(200_000))[0], 0
    for _ in range(500):
        _, low, high = trimmed(series(100))
        held += low <= true <= high
    assert 0.92 <= held / 500 <= 0.98


def test_two_pings_have_a_working_latency_whatever_their_order():
    random = np.random.default_rng(1)
    idle, loaded = 0.02 + random.exponential(1e-3, 60), 0.12 + random.exponential(2e-2, 60)
    files = {"loaded.txt": ping(loaded), "idle.txt": ping(idle)}
    numbers, graded, condition = of_files(files)
    assert numbers.values["idle_s"] == pytest.approx(0.021, rel=0.05)
    assert numbers.values["loaded_s"] == pytest.approx(0.137, rel=0.05)
    assert graded.values["grade"] == "C"
    assert condition.values == {"loaded": "loaded.txt", "idle": "idle.txt"}


def test_pings_alike_or_of_two_sizes_have_none():
    random = np.random.default_rng(2)
    one, other = (0.02 + random.exponential(1e-3, 60) for _ in range(2))
    assert of_files({"a": ping(one), "b": ping(other)}) == ()
    assert of_files({"a": ping(one), "b": ping(other + 0.1, size=1400.0)}) == ()
    assert working_latency(one[:19], other + 0.1) is None


def test_a_load_in_one_file_has_one_too():
    random = np.random.default_rng(3)
    idle = 0.02 + random.exponential(3e-4, 60)
    loaded = 0.02 + 0.1 * (1 + np.arange(60) % 9 / 9) + random.exponential(1e-3, 60)
    [found] = measurement(ping(np.concatenate([idle[:30], loaded, idle[30:]])))
    codes = {one.code: one.values for one in found.notices}
    assert codes["working-latency"]["loaded_s"] == pytest.approx(loaded.mean(), rel=0.05)
    [quiet] = measurement(ping(idle))
    assert "working-latency" not in {one.code for one in quiet.notices}
