"""Steps in times over sizes: found where they are, their intervals hold, none in scatter."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.fit.steps import CONFIDENCE, LEVEL, change_points

SIZES = np.arange(50.0, 2050.0, 25.0)
LINE = 1e-5 + 2e-10 * SIZES
SCATTER = 1e-7
STEPS = {208.0: 5e-7, 1508.0: 1e-6}


def stepped(rng, scatter=SCATTER):
    jumps = sum(jump * (size < SIZES) for size, jump in STEPS.items())
    return LINE + jumps + rng.normal(0.0, scatter, SIZES.size)


def test_without_scatter_the_numbers_are_those_put_in():
    found = change_points(SIZES, stepped(np.random.default_rng(0), scatter=0.0))
    assert [(step.after, step.before) for step in found.steps] == [(200.0, 225.0), (1500.0, 1525.0)]
    assert [step.jump for step in found.steps] == pytest.approx([5e-7, 1e-6])
    assert (found.intercept, found.slope) == pytest.approx((1e-5, 2e-10))
    assert found([100.0, 300.0, 1600.0]) == pytest.approx(
        [1e-5 + 2e-8, 1e-5 + 6e-8 + 5e-7, 1e-5 + 3.2e-7 + 1.5e-6]
    )


@pytest.mark.parametrize("kind", ["normal", "smallest of ten", "exponential"])
def test_scatter_alone_has_hardly_ever_a_step(kind):
    """At most LEVEL of normal sweeps; a tail, as queueing gives it, may double that."""
    rng = np.random.default_rng(7)
    draws = {
        "normal": lambda: rng.normal(0.0, SCATTER, SIZES.size),
        "smallest of ten": lambda: rng.exponential(SCATTER, (10, SIZES.size)).min(axis=0),
        "exponential": lambda: rng.exponential(SCATTER, SIZES.size),
    }
    sweeps = 400
    wrong = sum(bool(change_points(SIZES, LINE + draws[kind]()).steps) for _ in range(sweeps))
    allowed = {"normal": LEVEL, "smallest of ten": 2 * LEVEL, "exponential": 3 * LEVEL}[kind]
    # three standard deviations of a binomial count above what is allowed
    assert wrong <= sweeps * allowed + 3 * np.sqrt(sweeps * allowed), wrong


def test_steps_are_found_and_their_intervals_hold():
    rng, sweeps = np.random.default_rng(11), 300
    found = [change_points(SIZES, stepped(rng)).steps for _ in range(sweeps)]
    for size, jump in STEPS.items():
        hits = [step for steps in found for step in steps if step.low <= size < step.high]
        assert len(hits) >= 0.99 * sweeps
        held = sum(abs(step.jump - jump) < 1.96 * step.jump_stderr for step in hits) / len(hits)
        assert abs(held - CONFIDENCE) < 3 * np.sqrt(0.05 * 0.95 / sweeps), held
        assert all(step.p_value <= LEVEL for step in hits)
    assert sum(len(steps) > len(STEPS) for steps in found) <= 0.03 * sweeps


def test_the_interval_of_a_place_is_wider_where_the_scatter_is():
    rng = np.random.default_rng(3)
    widths = {
        scatter: np.mean(
            [
                step.high - step.low
                for _ in range(50)
                for step in change_points(SIZES, stepped(rng, scatter)).steps
            ]
        )
        for scatter in (0.2e-7, 2e-7)
    }
    assert widths[0.2e-7] == 25.0  # one gap between two sizes
    assert widths[2e-7] > 1.5 * 25.0


def test_one_late_point_is_no_step_and_nan_is_left_out():
    late = LINE + np.random.default_rng(5).normal(0.0, SCATTER, SIZES.size)
    late[-1] += 5e-6
    assert not any(step.before == SIZES[-1] for step in change_points(SIZES, late).steps)
    holes = stepped(np.random.default_rng(0), scatter=0.0)
    holes[3] = np.nan
    assert len(change_points(SIZES, holes).steps) == 2


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2, 3], [1, 2, 3]), ([1.0] * 10, range(10)), ([1, 2], [1]), ([], [])]
)
def test_too_few_points_are_refused(x, y):
    with pytest.raises(DomainError):
        change_points(np.array(x, dtype=float), np.array(y, dtype=float))
