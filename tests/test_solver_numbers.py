"""Where the solver looks, what it finds at the ends and between whole numbers, and how exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.errors import ConvergenceError, DomainError
from netcalc.solver import GRID_POINTS, Root, default_range, evaluate, solve


@pytest.mark.each(
    ("name", "limits"),
    [
        ("bandwidth_bps", (1.0, 1e15)), ("rate_pps", (1e-3, 1e12)), ("mtu_bytes", (1e-3, 1e15)),
        ("frame_bits", (1e-3, 1e16)), ("loss_ratio", (1e-15, 1.0)), ("packet_count", (1.0, 1e5)),
        ("velocity_m_s", (1.0, 299_792_458.0)), ("distance_m", (1e-3, 1e12)),
        ("latency_s", (1e-9, 1e9)), ("utilization", (1e-9, 1.0)), ("erlang", (1e-6, 1e9)),
    ],
)  # fmt: skip
def test_every_range_that_is_assumed(name, limits):
    """The documented ranges, and that a search really reaches both of their ends."""
    assert default_range(name) == limits
    asked = []

    def seen(**given):
        asked.append(np.atleast_1d(np.asarray(given[name], dtype=float)))
        return np.asarray(given[name], dtype=float) * 0.0 + 1.0

    import inspect

    seen.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    )

    def formula(value):
        return seen(**{name: value})

    formula.__signature__ = seen.__signature__
    assert solve(formula, for_=name, result=2.0) == []
    every = np.concatenate(asked)
    assert (every.min(), every.max()) == limits


def line(x, *, slope=1.0, offset=0.0):
    return slope * np.asarray(x, dtype=float) + offset


@pytest.mark.each("wanted", [2.0, 3.7, 9.0])
def test_the_ends_of_the_range_belong_to_it(wanted):
    assert [root.value for root in solve(line, for_="x", result=wanted, low=2, high=9)] == (
        pytest.approx([wanted], rel=1e-12)
    )
    beyond = {2.0: (2.001, 9), 9.0: (2, 8.999), 3.7: (3.8, 9)}[wanted]
    assert solve(line, for_="x", result=wanted, low=beyond[0], high=beyond[1]) == []


def test_one_end_may_be_given():
    # derived: the other is that of the name
    assert [r.value for r in solve(line_of_ratio, for_="loss_ratio", result=0.25, low=0.2)] == (
        pytest.approx([0.25])
    )
    assert solve(line_of_ratio, for_="loss_ratio", result=0.25, low=0.3) == []
    assert solve(line_of_ratio, for_="loss_ratio", result=0.25, high=0.2) == []
    assert solve(line_of_ratio, for_="loss_ratio", result=1.25) == []
    assert len(solve(line_of_ratio, for_="loss_ratio", result=1.25, high=2.0)) == 1


def line_of_ratio(loss_ratio):
    return np.asarray(loss_ratio, dtype=float) * 1.0


@pytest.mark.each(
    ("low", "high"), [(1, 1), (2, 1), (-np.inf, 1), (0, np.inf), (np.nan, 1), (0, np.nan)]
)
def test_ranges_that_are_none(low, high):
    with pytest.raises(DomainError):
        solve(line, for_="x", result=0.5, low=low, high=high)


@pytest.mark.each("root", [1e-12, 3e-7, 0.02, 0.4999, 0.5001, 0.97, 1 - 1e-7])
def test_shares_are_looked_for_as_finely_towards_1_as_towards_0(root):
    """Two roots next to each other: beyond both the sign is the same, a fine grid parts them."""
    near = min(root, 1 - root)
    roots = (root - 0.2 * near, root + 0.2 * near)

    def formula(loss_ratio):
        share = np.asarray(loss_ratio, dtype=float)
        return (share - roots[0]) * (share - roots[1]) / near**2

    found = [one.value for one in solve(formula, for_="loss_ratio", result=0.0)]
    assert found == pytest.approx(list(roots), rel=1e-6)


@pytest.mark.each("decade", [1e-3, 1.0, 1e6, 1e13])
def test_wide_ranges_are_looked_at_by_their_logarithm(decade):
    roots = (decade * 1.5, decade * 2.0)

    def formula(size_bytes):
        size = np.asarray(size_bytes, dtype=float)
        return np.log(size / roots[0]) * np.log(size / roots[1])

    found = [one.value for one in solve(formula, for_="size_bytes", result=0.0)]
    assert found == pytest.approx(list(roots))


@pytest.mark.each(
    ("low", "high", "even"), [(1, 100, True), (1, 101, False), (0, 1e6, True), (-5, 1e6, True)]
)
def test_grids_even_in_the_number_or_in_its_logarithm(low, high, even):
    asked = []

    def formula(x):
        asked.append(np.atleast_1d(np.asarray(x, dtype=float)))
        return np.asarray(x, dtype=float) * 0.0 + 1.0

    solve(formula, for_="x", result=2.0, low=low, high=high)
    grid = np.unique(np.concatenate(asked))
    assert GRID_POINTS == 1001
    expected = np.linspace(low, high, 1001) if even else np.geomspace(low, high, 1001)
    for at in expected[[0, 1, 250, 999, 1000]]:
        assert np.isclose(grid, at, rtol=1e-12).any()


def test_roots_are_as_exact_as_numbers_are():
    for wanted in (1e-12, 3.3e-5, 1.0, 7.1e8):
        [root] = solve(lambda x: np.asarray(x) ** 3, for_="x", result=wanted, low=0, high=1e9)
        assert root.value == pytest.approx(wanted ** (1 / 3), rel=1e-9)
        assert root.result == pytest.approx(wanted, rel=1e-9)
        assert root.exact


def test_a_root_of_a_jump_says_what_the_formula_gives_there():
    def steps(x):
        return np.where(np.asarray(x) < 2.5, 1.0, 3.0)

    [root] = solve(steps, for_="x", result=1.5, low=0, high=10)
    assert root.result == (1.0 if root.value < 2.5 else 3.0)
    assert (root.exact, root.value) == (False, pytest.approx(2.5, rel=1e-9))


@pytest.mark.each("wanted", [1.0, -1000.0])
@pytest.mark.each(("jump", "exact"), [(0.9e-9, True), (1.1e-9, False)])
def test_a_root_is_exact_to_a_thousand_millionth_of_the_result(wanted, jump, exact):
    def steps(x):
        return wanted * (1.0 + np.where(np.asarray(x) < 2.503, -jump, jump))

    [root] = solve(steps, for_="x", result=wanted, low=0, high=10)
    assert root.exact == exact
    assert abs(root.result / wanted - 1) == pytest.approx(jump, rel=1e-5)


def test_many_roots_in_ascending_order():
    # derived: sin is 0 at each multiple of pi; from 1 to 20 there are six
    found = solve(sine, for_="x", result=0.0, low=1, high=20)
    assert [root.value for root in found] == pytest.approx(np.pi * np.arange(1, 7))
    assert all(root.exact or abs(root.result) < 1e-12 for root in found)


def sine(x):
    return np.sin(np.asarray(x, dtype=float))


@pytest.mark.each(("shift", "count"), [(0.0, 1), (1e-12, 1), (1e-4, 0), (-1e-4, 2)])
def test_touching_crossing_and_missing(shift, count):
    """derived: (x - pi)^2 + 1 meets 1 at pi; lowered it crosses twice, lifted never."""

    def bowl(x):
        return (np.asarray(x, dtype=float) - np.pi) ** 2 + 1 + shift

    found = solve(bowl, for_="x", result=1.0, low=0, high=10)
    assert len(found) == count
    for root in found:
        assert abs(root.value - np.pi) == pytest.approx(math.sqrt(max(-shift, 0)), abs=1e-4)


def test_a_peak_touches_from_below():
    def hill(x):
        return 5 - np.abs(np.asarray(x, dtype=float) - np.e) ** 1.5

    [root] = solve(hill, for_="x", result=5.0, low=0, high=10)
    assert root.value == pytest.approx(np.e, abs=1e-5)
    assert root.exact


def test_touches_at_both_sides_of_a_crossing():
    # derived: (x - 1.003)^2 (x - 5.5) (x - 7.007)^2 is 0 at all three, and changes sign at one
    def formula(x):
        x = np.asarray(x, dtype=float)
        return 1 + (x - 1.003) ** 2 * (x - 5.5) * (x - 7.007) ** 2

    found = [root.value for root in solve(formula, for_="x", result=1.0, low=0, high=10)]
    assert found == pytest.approx([1.003, 5.5, 7.007], abs=1e-4)


def test_a_touch_at_the_end_of_what_is_defined():
    """A dip next to a gap is none: nobody knows whether it turns back."""

    def formula(x):
        x = np.asarray(x, dtype=float)
        return np.where(x < 5.0, np.nan, 1 + (x - 5.0))

    assert solve(formula, for_="x", result=0.9999, low=0, high=10) == []


@pytest.mark.each(
    ("wanted", "value", "result", "exact"),
    [
        (0.1, 12, 0.104, False),  # derived: 8 (N + 1) ms: the first past 100 ms
        (0.104, 12, 0.104, True),
        (0.016, 1, 0.016, True),
        (0.017, 2, 0.024, False),
        (800.004, 99_999, 800.0, None),
        (800.008, 100_000, 800.008, True),
    ],
)
def test_whole_numbers(wanted, value, result, exact):
    def time_s(packet_count):
        return 0.008 * (np.asarray(packet_count, dtype=float) + 1)

    found = solve(time_s, for_="packet_count", result=wanted)
    if exact is None:
        [root] = found
        assert root.value == 100_000
        return
    [root] = found
    assert (root.value, root.exact) == (value, exact)
    assert root.result == pytest.approx(result, rel=1e-12)


@pytest.mark.each("wanted", [0.0, 0.015, 800.1])
def test_whole_numbers_beyond_the_range(wanted):
    def time_s(packet_count):
        return 0.008 * (np.asarray(packet_count, dtype=float) + 1)

    assert solve(time_s, for_="packet_count", result=wanted) == []


@pytest.mark.each(
    ("low", "high", "expected"),
    [(1, 10, [3, 7]), (2.5, 7.5, [3, 7]), (3, 7, [3, 7]), (3.1, 6.9, []), (2.5, 6.9, [3]),
     (3.1, 7, [7])],
)  # fmt: skip
def test_ends_between_whole_numbers(low, high, expected):
    """derived: (N - 3)(N - 7) is 0 at 3 and at 7; from 2.5 the first whole number is 3."""

    def product(packet_count):
        count = np.asarray(packet_count, dtype=float)
        return (count - 3) * (count - 7)

    found = solve(product, for_="packet_count", result=0.0, low=low, high=high)
    assert [root.value for root in found] == expected
    assert all(root.exact and root.result == 0.0 for root in found)


@pytest.mark.each("falls", [False, True])
@pytest.mark.each("crossing", [1.5, 2.2, 57.9, 6543.21, 99_998.5])
def test_the_first_whole_number_past_a_crossing(crossing, falls):
    sign = -1.0 if falls else 1.0

    def formula(packet_count):
        return sign * (np.asarray(packet_count, dtype=float) - crossing)

    [root] = solve(formula, for_="packet_count", result=0.0)
    assert root.value == math.ceil(crossing)
    assert root.result == pytest.approx(sign * (math.ceil(crossing) - crossing))
    assert not root.exact


def whole_only(n):
    value = np.asarray(n, dtype=float)
    if (value != np.round(value)).any():
        raise DomainError("n", "a fraction", "whole numbers")
    return value**2


@pytest.mark.each(
    ("wanted", "low", "high", "value", "exact"),
    [
        (49.0, 1, 100, 7, True), (50.0, 1, 100, 8, False), (49.0, 0.5, 1e6, 7, True),
        (1.0, 1, 50, 1, True), (2500.0, 1, 50, 50, True), (100.0, 9.5, 12.5, 10, True),
        (121.0, 9.2, 11.4, 11, True), (0.0, 0, 20, 0, True), (9.0, 3, 4, 3, True),
    ],
)  # fmt: skip
def test_a_formula_that_refuses_fractions_is_solved_in_whole_numbers(
    wanted, low, high, value, exact
):
    [root] = solve(whole_only, for_="n", result=wanted, low=low, high=high)
    assert (root.value, root.exact) == (value, exact)
    assert root.result == value**2


def test_a_formula_that_takes_fractions_is_not():
    [root] = solve(lambda n: np.asarray(n) ** 2, for_="n", result=50.0, low=1, high=100)
    assert root.value == pytest.approx(math.sqrt(50))

    def never(n):
        raise DomainError("n", "any", "none")

    assert solve(never, for_="n", result=50.0, low=1, high=100) == []


def test_a_formula_with_one_gap_at_a_half_is_no_whole_number_formula():
    def formula(n):
        if np.size(n) == 1 and float(np.squeeze(n)) == 2.5:
            raise DomainError("n", "2.5", "another")
        return np.asarray(n, dtype=float) * 1.0

    [root] = solve(formula, for_="n", result=7.25, low=1, high=40)
    assert root.value == pytest.approx(7.25)


def area(width, *, height=2.0, depth=1.0):
    return np.asarray(width) * height / depth


@pytest.mark.each(
    ("arguments", "value"),
    [({"width": 3.0}, 6.0), ({"width": 3.0, "height": 5.0}, 15.0),
     ({"height": 5.0, "width": 3.0, "depth": 2.0}, 7.5)],
)  # fmt: skip
def test_a_formula_is_called_with_its_first_argument_in_place(arguments, value):
    assert evaluate(area, arguments) == value


def test_what_is_no_single_number():
    for result in ([1.0, 2.0], [], "text", 1 + 2j):
        with pytest.raises(DomainError):
            evaluate(lambda x, result=result: np.asarray(result), {"x": 1.0})
    assert evaluate(lambda x: np.asarray([[3]]), {"x": 1.0}) == 3.0
    assert evaluate(lambda x: np.uint8(3), {"x": 1.0}) == 3.0


def test_any_variable_is_solved_for():
    # by hand: 3 x 4 / 2 = 6
    for name, value in (("width", 3.0), ("height", 4.0), ("depth", 2.0)):
        given = {"width": 3.0, "height": 4.0, "depth": 2.0}
        del given[name]
        [root] = solve(area, for_=name, result=6.0, low=0.5, high=90, **given)
        assert root.value == pytest.approx(value)


class Asked:
    """A formula that notes how many values it is asked for in a call."""

    def __init__(self, formula):
        self.formula, self.sizes = formula, []

    def __call__(self, x):
        self.sizes.append(np.size(x))
        return self.formula(x)


def test_calls_hold_a_hundred_neighbours():
    asked = Asked(lambda x: np.asarray(x, dtype=float) * 1.0)
    [root] = solve(asked, for_="x", result=3.3, low=0, high=10)
    assert root.value == pytest.approx(3.3)
    assert max(asked.sizes) == 100
    assert asked.sizes.count(100) == 10


def test_a_formula_that_fails_on_lists_is_asked_no_second_time_for_one():
    def scalar(x):
        if np.size(x) > 1:
            raise TypeError("one number")
        return float(x) ** 2

    asked = Asked(scalar)
    [root] = solve(asked, for_="x", result=2.0, low=0, high=10)
    assert root.value == pytest.approx(math.sqrt(2))
    assert sum(size > 1 for size in asked.sizes) == 1


def test_a_formula_that_does_not_converge_for_a_list_may_for_one():
    def formula(x):
        if np.size(x) > 1:
            raise ConvergenceError("the list", iterations=1, residual=1.0, last=0.0)
        return float(x) ** 2

    [root] = solve(formula, for_="x", result=2.0, low=0, high=10)
    assert root.value == pytest.approx(math.sqrt(2))


def test_arrays_that_round_otherwise_have_the_signs_of_single_calls():
    """Next to the result single calls decide: here the array is off by a part in 10^12."""

    def formula(x):
        x = np.asarray(x, dtype=float)
        return x * (1 + 1e-12) if x.ndim else x

    found = solve(formula, for_="x", result=5.0, low=0, high=10)
    assert [root.value for root in found] == [5.0]


def test_a_list_of_hops_is_no_array_of_answers():
    def backwards(x):
        x = np.asarray(x, dtype=float)
        return x[::-1] if x.ndim else x

    [root] = solve(backwards, for_="x", result=3.3, low=0, high=10)
    assert root.value == pytest.approx(3.3)


def test_whole_results_are_numbers():
    [root] = solve(
        lambda x: np.asarray(np.floor(x), dtype=int), for_="x", result=3.5, low=0, high=9
    )
    assert root.value == pytest.approx(4.0)
    assert root == Root(4.0, 4.0, False, before=3.0)


def test_a_gap_in_the_formula_is_told_with_its_last_value():
    def gap(x):
        x = np.asarray(x, dtype=float)
        return np.where((x > 2.401) & (x < 2.409), np.nan, x)

    with pytest.raises(ConvergenceError) as caught:
        solve(gap, for_="x", result=2.405, low=0, high=10)
    assert math.isnan(caught.value.residual)
    assert caught.value.iterations == 0


@pytest.mark.each("sign", [1.0, -1.0])
def test_a_touch_halfway_between_two_points_of_the_grid(sign):
    """The grid from 0 to 1000 has every whole number, so both neighbours of 500.5 are equal."""

    def bowl(x):
        return 1.0 + sign * (np.asarray(x, dtype=float) - 500.5) ** 2

    [root] = solve(bowl, for_="x", result=1.0, low=0, high=1000)
    assert root.exact
    assert root.value == pytest.approx(500.5, abs=1e-4)


@pytest.mark.each("touch", [0.0137, 0.25, 4.9913, 9.9861])
@pytest.mark.each("steep", [1.0, 1e3])
def test_a_touch_with_an_edge_is_found_to_a_thousand_millionth(touch, steep):
    """An edge leaves no room: a part in 10^9 of the result is that near to the edge."""

    def edge(x):
        return 1.0 + steep * np.abs(np.asarray(x, dtype=float) - touch)

    [root] = solve(edge, for_="x", result=1.0, low=0, high=10)
    assert root.exact
    assert root.value == pytest.approx(touch, abs=1e-9 / steep)


@pytest.mark.each(("gap", "count"), [(0.9e-9, 1), (1.1e-9, 0)])
@pytest.mark.each("wanted", [5.0, -5.0])
def test_a_touch_may_miss_by_a_thousand_millionth_of_the_result(gap, count, wanted):
    def edge(x):
        return wanted * (1 + gap + np.abs(np.asarray(x, dtype=float) - 3.3371))

    assert len(solve(edge, for_="x", result=wanted, low=0, high=10)) == count


def test_a_level_stretch_beside_a_fall_is_no_touch():
    """derived: falling stairs pass 2.5 once, in the jump at 5; no other stair comes near it."""
    asked = Asked(lambda x: 5.0 - np.floor(np.asarray(x, dtype=float) / 2 + 0.5 + 1e-9))
    [root] = solve(asked, for_="x", result=2.5, low=0, high=10)
    assert root.value == pytest.approx(5.0, rel=1e-6)
    assert not root.exact
    # 1001 points are ten calls of a hundred and one of one: no level stretch is looked at again
    assert sum(size > 1 for size in asked.sizes) == 10


def test_the_nearest_of_two_edges_in_one_step_of_the_grid_is_kept():
    """A dip whose sides are not defined everywhere is followed where it is defined."""

    def edge(x):
        x = np.asarray(x, dtype=float)
        hidden = (x > 4.9962) & (x < 4.9968)
        return np.where(hidden, np.nan, 1 + np.abs(x - 4.9951))

    [root] = solve(edge, for_="x", result=1.0, low=0, high=10)
    assert root.value == pytest.approx(4.9951, abs=1e-9)


def test_a_touch_of_a_formula_of_single_numbers_asks_for_no_list_again():
    def scalar(x):
        if np.size(x) > 1:
            raise TypeError("one number")
        return 1.0 + (float(x) - 3.3371) ** 2

    asked = Asked(scalar)
    [root] = solve(asked, for_="x", result=1.0, low=0, high=10)
    assert root.value == pytest.approx(3.3371, abs=1e-4)
    assert sum(size > 1 for size in asked.sizes) == 1


@pytest.mark.each(("low", "high"), [(5, 10), (0, 5)])
def test_a_root_at_an_end_is_there_though_arrays_round_otherwise(low, high):
    """On the end no change of sign helps: only a single call says that the result is met."""

    def formula(x):
        x = np.asarray(x, dtype=float)
        return x * (1 + 1e-12 * (1 if low else -1)) if x.ndim else x

    assert [root.value for root in solve(formula, for_="x", result=5.0, low=low, high=high)] == [5]


def test_points_that_meet_the_result_are_not_asked_for_again():
    asked = Asked(lambda x: np.asarray(x, dtype=float) * 0.0 + 7.0)
    [root] = solve(asked, for_="x", result=7.0, low=0, high=10)
    assert (root.value, root.last) == (0.0, 10.0)
    assert sum(size == 1 for size in asked.sizes) < 50


@pytest.mark.each("scale", [1e-200, 1e200])
@pytest.mark.each("crossing", [57.9, 6543.21])
def test_whole_numbers_of_a_formula_with_very_small_or_large_values(scale, crossing):
    """Signs are compared, not products: 1e-200 times 1e-200 is 0."""

    def formula(packet_count):
        return scale * (np.asarray(packet_count, dtype=float) - crossing)

    [root] = solve(formula, for_="packet_count", result=0.0)
    assert root.value == math.ceil(crossing)


def test_a_range_of_a_few_floats_has_all_of_them():
    high = 1.0 + 4 * np.finfo(float).eps
    found = solve(lambda x: np.asarray(x) * 0.0, for_="x", result=0.0, low=1.0, high=high)
    assert [(root.value, root.last) for root in found] == [(1.0, high)]


@pytest.mark.each(("high", "is_wide"), [(99.0, False), (100.0, False), (100.1, True)])
def test_a_range_of_more_than_two_decades_is_even_in_its_logarithm(high, is_wide):
    asked = []

    def formula(x):
        asked.append(np.atleast_1d(np.asarray(x, dtype=float)))
        return np.asarray(x, dtype=float) * 0.0

    solve(formula, for_="x", result=1.0, low=1, high=high)
    grid = np.unique(np.concatenate(asked))
    # derived: 1000 equal steps, or 1000 equal factors
    step = high ** (1 / 1000) - 1 if is_wide else (high - 1) / 1000
    assert np.isclose(grid, 1 + step, rtol=1e-12, atol=0).any()


def test_one_number_for_a_list_is_no_answer_for_each():
    [root] = solve(lambda x: np.array([7.0]), for_="x", result=7.0, low=0, high=10)
    assert (root.value, root.last) == (0.0, 10.0)


def test_just_a_thousand_millionth_is_exact():
    # by hand: of 10^9 that is 1, and both are whole numbers in floats
    def steps(x):
        return 1e9 + np.where(np.asarray(x) < 2.503, -1.0, 1.0)

    [root] = solve(steps, for_="x", result=1e9, low=0, high=10)
    assert abs(root.result - 1e9) == 1.0
    assert root.exact
