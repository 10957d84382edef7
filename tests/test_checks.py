"""The checks of arguments by themselves: bounds, what is refused, at which index, what it says."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest

from netcalc import checks
from netcalc.errors import (
    ArgumentTypeError,
    DomainError,
    DoubtWarning,
    NotFiniteWarning,
    doubts,
)

TINY = np.finfo(float).smallest_subnormal


def refusal(check, *arguments, **options):
    with pytest.raises(DomainError) as caught:
        check("argument", *arguments, **options)
    assert caught.value.name == "argument"
    return caught.value


@pytest.mark.each(
    ("check", "limits", "taken", "refused", "code"),
    [
        ("positive", (), [TINY, 1.0, 1e308], [0.0, -0.0, -TINY, -1.0], "not-positive"),
        ("non_negative", (), [0.0, TINY, 1e308], [-TINY, -1.0], "is-negative"),
        ("at_least", (2.5,), [2.5, 3.0], [2.4999999, 0.0, -3.0], "below-minimum"),
        ("between", (2.0, 3.0), [2.0, 2.5, 3.0], [1.9999999, 3.0000001], "out-of-range"),
        ("ratio", (), [0.0, TINY, 0.5, 1.0], [-TINY], "out-of-range"),
        ("ratio", (), [], [1.0000001, 100.0], "percent-for-ratio"),
        ("real", (), [-1e308, -0.5, 0.0, 1e308], [], ""),
        ("whole", (), [0.0, 1.0, 2.0**60], [-1.0, 0.5, 7.000001], "not-whole"),
        ("whole", (3,), [3.0, 4.0], [2.0, 3.5], "not-whole"),
    ],
)
def test_bounds_of_every_check(check, limits, taken, refused, code):
    """Each bound from both sides: alone, and at its index in a list."""
    function = getattr(checks, check)
    for value in taken:
        assert function("argument", value, *limits) == value
        assert function("argument", [taken[0], value], *limits).tolist() == [taken[0], value]
    inside = taken[0] if taken else 0.5
    for value in refused:
        alone = refusal(function, value, *limits)
        assert (alone.code, alone.value, alone.values["index"]) == (code, value, None)
        third = refusal(function, [inside, inside, value], *limits)
        assert (third.code, third.value, third.values["index"]) == (code, value, 2)
        assert "(at index 2)" in str(third)


def test_refusals_hold_the_bounds():
    found = refusal(checks.between, 7.0, 2.0, 3.0).values
    assert (found["low"], found["high"]) == (2.0, 3.0)
    found = refusal(checks.between, 1.0, 2.0, 3.0).values
    assert (found["low"], found["high"]) == (2.0, 3.0)
    assert refusal(checks.at_least, 1.0, 2.0).values["low"] == 2.0
    assert refusal(checks.whole, 4.5, 4).values["low"] == 4
    assert refusal(checks.whole, 1.0, 4).values["low"] == 4


def test_a_ratio_above_1_is_read_as_percent():
    found = refusal(checks.ratio, [0.5, 3.0])
    # derived: 3 percent are 0.03
    assert (found.values["percent"], found.values["ratio"]) == (3.0, 0.03)
    assert found.values["index"] == 1
    assert "percent" not in refusal(checks.between, 3.0, 0.0, 1.0).values


def test_the_smallest_wrong_number_is_named_and_where_it_is_first():
    found = refusal(checks.positive, [1.0, -2.0, -5.0, -5.0])
    assert (found.value, found.values["index"]) == (-5.0, 2)
    found = refusal(checks.between, [1.0, 8.0, 9.0, 9.0], 0.0, 5.0)
    assert (found.value, found.values["index"]) == (9.0, 2)
    found = refusal(checks.whole, [1.0, 8.5, 9.25])
    assert (found.value, found.values["index"]) == (8.5, 1)


@pytest.mark.each("size", [1, 7, checks.BLOCK, checks.BLOCK + 1, 3 * checks.BLOCK + 5])
def test_a_fraction_is_found_wherever_it_is(size):
    for at in {0, size // 2, size - 1}:
        values = np.arange(float(size))
        assert checks.whole("argument", values) is values
        values[at] += 0.25
        found = refusal(checks.whole, values)
        assert found.value == at + 0.25
        assert found.values["index"] == (at if size > 1 else None)


def test_fractions_in_columns_are_found():
    table = np.zeros((3, checks.BLOCK))
    table[2, 5] = 0.5
    assert refusal(checks.whole, table.T).value == 0.5


def test_numbers_that_are_not_finite():
    """nan where a number is missing; inf only where the argument may be unlimited."""
    for check in (checks.positive, checks.non_negative):
        assert check("argument", np.inf, allow_inf=True) == np.inf
        assert np.isnan(check("argument", np.inf))
        assert np.isnan(check("argument", -np.inf, allow_inf=True))
        assert np.isnan(check("argument", np.nan, allow_inf=True))
    assert checks.at_least("argument", np.inf, 3.0, allow_inf=True) == np.inf
    assert np.isnan(checks.at_least("argument", np.inf, 3.0))
    assert np.isnan(checks.real("argument", -np.inf))


@pytest.mark.each(
    ("values", "allow_inf", "expected", "count", "first"),
    [
        ([1.0, np.nan, 3.0], False, [1, None, 3], 1, 1),
        ([np.inf, 2.0, np.nan, -np.inf], False, [None, 2, None, None], 3, 0),
        ([2.0, np.inf, np.nan, -np.inf], True, [2, np.inf, None, None], 2, 2),
    ],
)
def test_missing_elements_are_counted_in_one_warning(values, allow_inf, expected, count, first):
    with pytest.warns(NotFiniteWarning) as caught:
        found = checks.positive("argument", values, allow_inf=allow_inf)
    assert [None if np.isnan(one) else one for one in found.tolist()] == expected
    [warning] = caught
    assert warning.message.code == "not-finite-elements"
    assert warning.message.values == {
        "name": "argument", "count": count, "size": len(values), "index": first
    }  # fmt: skip
    assert warning.filename.endswith(("test_checks.py", "checks.py"))


def test_a_wrong_number_is_refused_beside_missing_ones():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotFiniteWarning)
        found = refusal(checks.positive, [np.nan, -3.0, np.inf])
        assert (found.value, found.values["index"]) == (-3.0, 1)
        found = refusal(checks.between, [np.nan, 3.0, 9.0], 0.0, 5.0)
        assert (found.value, found.values["index"]) == (9.0, 2)


def test_one_missing_number_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(checks.positive("argument", np.nan))
        assert np.isnan(checks.positive("argument", [np.nan])).all()


def test_zero_has_no_sign_afterwards():
    assert not np.signbit(checks.non_negative("argument", [-0.0, 1.0])).any()
    assert not np.signbit(checks.real("argument", -0.0))
    kept = np.array([-1.0, 2.0])
    assert checks.real("argument", kept) is kept


def test_an_empty_list_stays_empty():
    assert checks.positive("argument", []).shape == (0,)


def test_results_are_missing_where_an_input_is():
    result = np.array([1.0, 2.0, 3.0])
    kept = checks.keep_nan(result, np.array([np.nan, 1, 1]), np.array([1, 1, np.nan]))
    assert [np.isnan(one) for one in kept] == [True, False, True]
    assert kept[1] == 2.0
    assert checks.keep_nan(result, result) is result


def test_dimensions():
    assert checks.one_dimensional("argument", np.array(5.0)).tolist() == [5.0]
    assert checks.one_dimensional("argument", np.array([5.0, 6.0])).tolist() == [5.0, 6.0]
    for shape in ((0,), (2, 3), (1, 1)):
        found = refusal(checks.one_dimensional, np.zeros(shape))
        assert (found.code, found.value) == ("not-one-dimensional", list(shape))
    assert checks.scalar("argument", np.array([[5.0]])) == 5.0
    for shape in ((0,), (2,), (1, 2)):
        found = refusal(checks.scalar, np.zeros(shape))
        assert (found.code, found.value) == ("not-a-scalar", list(shape))


def test_choices():
    assert checks.choice("argument", "b", ("a", "b")) == "b"
    for value in ("c", 3, None):
        found = refusal(checks.choice, value, ("a", "b"))
        assert (found.code, found.value, found.values["choices"]) == (
            "not-a-choice", value, ["a", "b"],
        )  # fmt: skip


def test_flags():
    assert checks.flags("argument", [0, 2, -1]).tolist() == [False, True, True]
    assert checks.flags("argument", [0.0, 0.5]).tolist() == [False, True]
    objects = np.array([True, np.bool_(False)], dtype=object)
    assert checks.flags("argument", objects).tolist() == [True, False]
    assert checks.flag("argument", True) is True
    assert checks.flag("argument", 0) is False
    for values in ("no", [1 + 1j], np.array([True, "no"], dtype=object)):
        with pytest.raises(ArgumentTypeError) as caught:
            checks.flags("argument", values)
        assert (caught.value.code, caught.value.values["name"]) == ("not-flags", "argument")
    with pytest.raises(ArgumentTypeError) as caught:
        checks.flag("argument", [True, False])
    assert caught.value.code == "not-one-flag"
    assert caught.value.values["found"] == "bool values such as True"


@pytest.mark.each(
    ("value", "code", "found"),
    [
        ("5", "text-for-numbers", "'5'"),
        (b"5", "text-for-numbers", "b'5'"),
        (["5", "6"], "text-for-numbers", "<U1 values such as '5'"),
        (None, "not-numbers", "None"),
        (True, "not-numbers", "True"),
        ([False], "not-numbers", "bool values such as False"),
        (1j, "not-numbers", "1j"),
        (np.array([], dtype=bool), "not-numbers", "bool"),
    ],
)
def test_kinds_that_are_no_numbers(value, code, found):
    with pytest.raises(ArgumentTypeError) as caught:
        checks.as_float("argument", value)
    assert caught.value.code == code
    assert caught.value.values["found"] == found


def test_kinds_that_are_numbers():
    assert checks.as_float("argument", np.array([1, 2], dtype=np.uint8)).dtype == np.float64
    assert checks.as_float("argument", np.float32(0.5)) == 0.5
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    found = checks.as_float("argument", masked)
    assert found[[0, 2]].tolist() == [1.0, 3.0]
    assert np.isnan(found[1])
    same = np.array([1.0, 2.0])
    assert checks.as_float("argument", same) is same
    with pytest.raises(ArgumentTypeError) as caught:
        checks.as_float("argument", [[1.0], [2.0, 3.0]])
    assert caught.value.code == "not-numbers"
    assert refusal(checks.as_float, 10**400).values["high"] == checks.LARGEST


def test_a_model_warns_once_for_an_argument_it_hands_on():
    @checks.model
    def inner(size):
        return checks.positive("size", size) * 2

    @checks.model
    def outer(size, other):
        checks.positive("size", size)
        return inner(size) + checks.positive("other", other)

    with pytest.warns(NotFiniteWarning) as caught:
        found = outer([1.0, np.nan], [np.nan, np.nan])
    assert np.isnan(found).all()
    assert [w.message.values["name"] for w in caught] == ["size", "other"]
    assert [w.message.values["count"] for w in caught] == [1, 2]
    assert {w.filename for w in caught} == {__file__}


def test_the_first_check_of_an_argument_counts():
    """A later one may be of a number that was computed from another."""

    @checks.model
    def formula(size):
        good = checks.positive("size", size)
        return checks.positive("size", np.array([np.nan, 1.0])) + good

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(formula([1.0, 2.0])).tolist() == [True, False]


def test_a_model_may_overflow_in_silence_and_only_a_model():
    @checks.model
    def formula(size):
        return checks.positive("size", size) * 1e308

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert formula([1e308, 1.0])[0] == np.inf
        with pytest.raises(RuntimeWarning):
            np.array([1e308]) * 1e308


@pytest.mark.each("long", [range(2**25 + 1), range(10**12), range(10**30), range(0, -(10**12), -1)])
def test_a_range_that_no_memory_holds_is_refused(long):
    refused = refusal(checks.real, long)
    assert (refused.code, refused.values["high"]) == ("too-long-range", 2**25)
    assert "33,554,432" in str(refused)


def test_a_range_is_a_list_of_numbers():
    assert checks.real("argument", range(3)).tolist() == [0.0, 1.0, 2.0]


class TestDoubts:
    """Numbers beyond where a formula is known to hold, and what else makes an answer doubtful."""

    @pytest.mark.each(
        ("text", "ranges"),
        [
            ("Range: everywhere.", {}),
            ("Range: loss_ratio up to 0.01.", {"loss_ratio": (-np.inf, 0.01)}),
            (
                "Range: a_s from 1e-3 up to 2.5; result\n    from 7.\n\nTypical: more.",
                {"a_s": (1e-3, 2.5), "result": (7.0, np.inf)},
            ),
            ("Validity: anywhere.", None),
            ("Range: spread (N p (1 - p)) from 10; loss up to 1.",
             {"spread": (10.0, np.inf), "loss": (-np.inf, 1.0)}),
            ("Range: that of other; a_s up to 2.", {"a_s": (-np.inf, 2.0)}),
            ("Range: that of\n    other.", {}),
        ],
    )  # fmt: skip
    def test_a_range_is_read_from_the_docstring(self, text, ranges):
        def function():
            pass

        function.__doc__ = text
        assert checks.published_ranges(function) == ranges
        used = ("other",) if "other" in text else ()
        assert checks.used_ranges(function) == used

    def ranged(self):
        """Return a model with ranges for its argument and its result."""

        def inner(load_ratio):
            return 10 * checks.non_negative("load_ratio", load_ratio)

        inner.__doc__ = "Range: load_ratio from 0.5 up to 0.9; result up to 8."
        return checks.model(inner)

    def test_a_number_outside_warns_at_the_line_that_calls(self):
        model = self.ranged()
        with pytest.warns(DoubtWarning) as caught:
            assert model(0.95) == 9.5
        assert [(one.message.code, one.message.values["name"]) for one in caught] == [
            ("beyond-published-range", "load_ratio"),
            ("beyond-published-range", "result"),
        ]
        assert {one.filename for one in caught} == {__file__}
        with doubts() as found:
            assert model([0.4, 0.6])[1] == 6.0
        (doubt,) = found
        assert doubt.code == "below-published-range"
        assert (doubt.values["value"], doubt.values["limit"]) == (0.4, 0.5)

    def spread(self):
        """Return a model whose range is that of a product, and one that uses it."""

        def spread_s(count, *, share):
            product = checks.whole("count", count) * checks.ratio("share", share)
            checks.note_outside_range(model, product=np.where(product > 0, product, np.nan))
            return product

        def user_s(count):
            checks.note_outside_range(model, product=[3.0, 20.0])
            return checks.whole("count", count)

        spread_s.__doc__ = "Range: product (count times share) from 10 up to 1e3."
        model = checks.model(spread_s)
        return model, checks.model(user_s)

    def test_a_derived_quantity_is_judged_by_the_model(self):
        model, user = self.spread()
        assert checks.derived_quantities(model) == {"product": "count times share"}
        for count, codes in (
            (100, []), (99, ["below-published-range"]),
            (0, []), (10_001, ["beyond-published-range"]),
        ):  # fmt: skip
            with doubts() as found:
                model(count, share=0.1)
            assert [doubt.code for doubt in found] == codes
        with doubts() as found:
            user(1)
        (doubt,) = found
        assert doubt.code == "used-below-published-range"
        assert doubt.values["formula"] == "spread_s"
        assert (doubt.values["value"], doubt.values["limit"]) == (3.0, 10.0)
        assert "published range of spread_s (from 10), which this uses" in str(doubt)

    def test_a_line_that_calls_often_is_told_once(self):
        model = self.ranged()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(3):
                model(0.4)
        assert len(caught) == 1

    def test_inside_nothing_is_said(self):
        with doubts() as found:
            self.ranged()([0.5, 0.8])
        assert found == []

    def test_inf_and_nan_have_rules_of_their_own(self):
        def inner(load_ratio):
            return 1.0 / checks.non_negative("load_ratio", load_ratio)

        inner.__doc__ = "Range: result up to 8."
        with doubts() as found:
            assert checks.model(inner)(0.0) == np.inf
        assert found == []

    def test_a_model_says_what_else_is_doubtful_once(self):
        @checks.model
        def padded(frame_bytes):
            for _ in range(2):
                checks.note("beyond-published-range", name="frame_bytes", value=58, limit=64)
            return frame_bytes

        @checks.model
        def outer(frame_bytes):
            return padded(frame_bytes) + padded(frame_bytes)

        with pytest.warns(DoubtWarning) as caught:
            outer(58)
        assert len(caught) == 1
        with pytest.warns(DoubtWarning):
            checks.note("beyond-published-range", name="frame_bytes", value=58, limit=64)

    def test_a_note_for_people_is_no_warning(self):
        @checks.model
        def model(size_bytes):
            checks.note("few-flows", name="flow_count", value=2, limit=100, warns=False)
            return size_bytes

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model(1)
        with doubts() as found:
            model(1)
        assert [doubt.code for doubt in found] == ["few-flows"]


class TestWholeParts:
    """Quotients of decimal numbers: what they are by exact fractions."""

    def test_decimal_loads_are_whole(self):
        """Each load is written in five units; n loads over a load are n, both ways."""
        for load in ("87200", "0.1", "50000", "1.544", "12345.678", "3"):
            for power in (0, 3, 6, 9, 12):
                scale = 10.0**power
                for count in range(1, 1001):
                    total = float(Decimal(load) * count / 10**power) * scale  # as text is read
                    quotient = np.float64(total) / float(load)
                    assert checks.rounded_down(quotient) == count, (load, power, count)
                    assert checks.rounded_up(quotient) == count, (load, power, count)

    def test_what_is_not_whole_is_not(self):
        for count in (1.0, 7.0, 1000.0):
            near = np.array([count - 1e-9 * count, count + 1e-9 * count, count + 0.5])
            assert checks.rounded_down(near).tolist() == [count - 1, count, count]
            assert checks.rounded_up(near).tolist() == [count, count + 1, count + 1]

    def test_large_and_odd_numbers_stay(self):
        values = np.array([0.0, 2.0**52 + 1, 1e300, np.inf, np.nan])
        assert np.array_equal(checks.rounded_down(values), values, equal_nan=True)
        assert np.array_equal(checks.rounded_up(values), values, equal_nan=True)
