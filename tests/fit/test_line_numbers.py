"""Numbers of the fitted lines against textbook least squares, written out with matrices."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import ndtri, stdtrit

from netcalc import fit
from netcalc.fit.outliers import set_aside
from netcalc.samples import RttSamples, TransferSamples
from netcalc.units import parse


def least_squares(x, y):
    """Second method: the normal equations of y = a + b x; coefficients and their covariance."""
    rows = np.column_stack([np.ones_like(x), x])
    inverse = np.linalg.inv(rows.T @ rows)
    found = inverse @ rows.T @ y
    left = y - rows @ found
    return found, (left @ left) / (x.size - 2) * inverse


def quantities(text, unit):
    """Every quantity of this unit in a text, as numbers; the words around them do not matter."""
    written = re.findall(rf"-?\d[\d.]*(?:e-?\d+)? ?[kMGTmµnu]?{unit}(?![\w/])", text)
    return [parse(one, {"bit/s": "bit/s", "s": "s", "B": "byte"}[unit]) for one in written]


# derived: 1 over the 75% quantile of the standard normal distribution
MAD_TO_STD = 1 / ndtri(0.75)
X = np.array([0.0, 200, 400, 600, 800, 1000])
SCATTER = np.array([2.0, -1, 1, -3, 2, -1]) * 1e-5
Y = 0.01 + 4e-6 * X + SCATTER


def test_the_error_at_any_size_is_that_of_the_covariance():
    line = fit.robust_line(X, Y)
    (intercept, slope), covariance = least_squares(X, Y)
    assert (line.intercept, line.slope) == pytest.approx((intercept, slope), rel=1e-9)
    at = np.array([-500.0, 0.0, 500.0, 2000.0])
    rows = np.stack([np.ones_like(at), at])
    expected = np.sqrt(np.einsum("ix,ij,jx->x", rows, covariance, rows))
    assert line.stderr_at(at) == pytest.approx(expected, rel=1e-9)
    assert line.rank == 2
    # derived: 1.4826... times the median of the deviations from their median
    start = np.median([(Y[j] - Y[i]) / (X[j] - X[i]) for i in range(6) for j in range(i + 1, 6)])
    left = Y - start * X
    deviation = np.abs(left - np.median(left))
    assert line.scale == pytest.approx(MAD_TO_STD * np.median(deviation), rel=1e-9)


def test_errors_of_a_line_through_its_centre_only():
    """derived: with the centre at 0 the errors of height and slope add as squares."""
    x = np.array([-2.0, -1, 0, 1, 2])
    y = 5 + x + np.array([0.1, -0.1, 0, 0.1, -0.1])
    line = fit.robust_line(x, y)
    _, covariance = least_squares(x, y)
    own, slope = np.sqrt(np.diag(covariance))
    assert line.stderr_at(3.0) == pytest.approx(np.hypot(own, 3 * slope), rel=1e-9)
    assert line.covariance == pytest.approx(0.0, abs=1e-15)


def test_one_size_has_the_error_of_a_mean():
    y = np.array([3.0, 4, 5, 6, 4.5, 100])
    line = fit.robust_line(np.full(6, 56.0), y)
    assert line.outlier.tolist() == [False] * 5 + [True]
    # by hand: mean 4.5, squares 2.25, 0.25, 0.25, 2.25, 0: variance 5/4
    assert line.intercept == pytest.approx(4.5)
    assert line.intercept_stderr == pytest.approx(np.sqrt(1.25 / 5))
    assert line.stderr_at([0.0, 99.0]).tolist() == pytest.approx([0.5, 0.5])
    assert (line.slope, line.rank) == (0.0, 1)
    assert np.isnan([line.slope_stderr, line.covariance]).all()
    # by hand: the median is 4.75, the deviations 1.75, 0.75, 0.25, 1.25, 0.25 and 95.25
    assert line.scale == pytest.approx(MAD_TO_STD * 1.0)


def test_one_and_two_points_of_one_size():
    one = fit.robust_line(np.array([56.0]), np.array([7.0]))
    assert (one.intercept, one.rank) == (7.0, 1)
    assert np.isnan([one.intercept_stderr, one.scale]).all()
    two = fit.robust_line(np.array([56.0, 56.0]), np.array([7.0, 9.0]))
    assert two.intercept == 8.0
    assert two.intercept_stderr == pytest.approx(1.0)  # by hand: sqrt(2) over sqrt(2)
    none = fit.robust_line(np.zeros(0), np.zeros(0))
    assert none.rank == 0
    assert np.isnan(none.intercept)


@pytest.mark.each(("x", "y"), [([1.0, 2], [3.0, 5]), ([1.0, 1, 2], [3.0, 3, 5])])
def test_two_distinct_sizes_have_a_line_and_no_errors(x, y):
    line = fit.robust_line(np.array(x), np.array(y))
    assert (line.slope, line.intercept, line.rank) == pytest.approx((2.0, 1.0, 2))
    assert np.isnan([line.slope_stderr, line.intercept_stderr, line.covariance]).all()
    assert np.isnan(line.stderr_at(1.0))


def test_three_distinct_sizes_have_errors():
    x, y = np.array([0.0, 1, 2]), np.array([0.0, 1.2, 2])
    line = fit.robust_line(x, y)
    _, covariance = least_squares(x, y)
    assert line.slope_stderr == pytest.approx(np.sqrt(covariance[1, 1]))
    assert np.isfinite(line.stderr_at(1.0))


def test_five_points_at_two_sizes_have_no_errors():
    line = fit.robust_line(np.array([0.0, 0, 0, 1, 1]), np.array([0.0, 0.1, 0.2, 1.1, 1.2]))
    assert np.isnan(line.slope_stderr)
    assert line.slope == pytest.approx(1.05)  # by hand: 1.15 - 0.1
    assert np.isnan(line.covariance)
    assert np.isfinite(line.scale)


def test_a_point_is_set_aside_where_two_sizes_are_left():
    x, y = np.array([1.0, 1, 1, 2, 2, 2]), np.array([3.0, 3, 3, 5, 5, 95])
    line = fit.robust_line(x, y)
    assert line.outlier.tolist() == [False] * 5 + [True]
    assert (line.slope, line.intercept) == pytest.approx((2.0, 1.0))


def aside(y, floor):
    """Points set aside around their median."""
    return set_aside(y - np.median(y), y, np.ones((1, y.size)), floor=floor)


def test_where_points_begin_to_be_set_aside():
    # by hand: the median is 0, the deviations 1, 1, 0, 1, 1, 0 and d: a scale of 1.4826
    assert fit.OUTLIER_DEVIATIONS == 6.0
    outlier, scale = aside(np.array([-1.0, 1, 0, -1, 1, 0, 100]), 0.0)
    assert scale == pytest.approx(MAD_TO_STD)
    assert outlier.tolist() == [False] * 6 + [True]
    # derived: the mean of the other six is 0, their variance 4/5, so that of a seventh from them is
    # 4/5 times 1 + 1/6; Student's t of scipy at 1e-4 over seven points, on both sides
    limit = stdtrit(5, 1 - 1e-4 / 7 / 2) * np.sqrt(4 / 5 * 7 / 6)
    assert limit > 6 * MAD_TO_STD
    for last, far in ((0.99 * limit, False), (1.01 * limit, True)):
        assert aside(np.array([-1.0, 1, 0, -1, 1, 0, last]), 0.0)[0].tolist() == [False] * 6 + [far]
    # of many points t allows less than six scales, and these decide: 40 are -1, 1 and 0 in turn
    many = np.tile([-1.0, 1, 0], 40)
    for last, far in ((5.99 * MAD_TO_STD, False), (6.01 * MAD_TO_STD, True)):
        assert aside(np.append(many, last), 0.0)[0].any() == far


def test_rounding_bounds_the_scatter_from_below():
    # derived: equal values but one, each uncertain by 1: t of 4 degrees times sqrt(1 + 1/5)
    limit = stdtrit(4, 1 - 1e-4 / 6 / 2) * np.sqrt(6 / 5)
    for last, far in ((0.99 * limit, False), (1.01 * limit, True)):
        outlier, scale = aside(np.array([0.0, 0, 0, 0, 0, last]), 1.0)
        assert outlier.tolist() == [False] * 5 + [far]
        assert scale == 1.0


def test_two_points_that_deviate_do_not_hide_each_other():
    y = np.array([-1.0, 1, 0, -1, 1, 0, 1, -1, 0, 300, 320])
    assert aside(y, 0.0)[0].tolist() == [False] * 9 + [True] * 2


def test_three_points_are_too_few_to_set_one_aside():
    outlier, scale = aside(np.array([0.0, 0, 9e9]), 1.0)
    assert outlier.tolist() == [False] * 3
    assert np.isnan(scale)
    outlier, scale = aside(np.array([0.0, 0, 0, 9e9]), 1.0)
    assert outlier.tolist() == [False] * 3 + [True]
    assert scale == 1.0


@pytest.mark.slow
@pytest.mark.each("noise", ["gaussian", "exponential"])
@pytest.mark.each("count", [5, 10, 15])
def test_the_band_holds_the_true_line_in_95_of_100_runs(noise, count):
    """Derived by a second method: seeded Monte Carlo; 0.9 % is a standard error of 600 runs."""
    random = np.random.default_rng([7, count])
    sizes = np.linspace(56.0, 1472.0, count)
    scatter = random.normal(size=(600, count))
    if noise == "exponential":
        scatter = random.exponential(size=(600, count)) - 1.0
    true, held = 0.02 + 16e-6 * sizes, 0
    for one in scatter:
        samples = RttSamples(payload_bytes=sizes, rtt_s=true + 1e-4 * one)
        low, high = fit.rtt_against_size(samples).band(sizes)
        held += np.mean((low <= true) & (true <= high)) / 600
    assert held == pytest.approx(0.95, abs=0.02)


def test_five_times_with_one_decimal_keep_all_sizes_and_their_rounding():
    """Derived: the errors of least squares with a scatter of 0.1 ms over the square root of 12."""
    x, y = np.arange(1.0, 6) * 250, np.array([1.1, 1.2, 1.3, 1.4, 1.5]) * 1e-3
    found = fit.rtt_against_size(
        RttSamples(payload_bytes=x, rtt_s=y, resolution_s=np.full(5, 1e-4))
    )
    rough = RttSamples(payload_bytes=x, rtt_s=np.array([1.1, 1.2, 1.2, 1.3, 1.9]) * 1e-3)
    assert not fit.rtt_against_size(rough).outlier.any()
    rows = np.column_stack([np.ones(5), x])
    expected = 1e-4 / np.sqrt(12) * np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)))
    assert found.line.intercept_stderr == pytest.approx(expected[0])
    assert found.line.slope_stderr == pytest.approx(expected[1])


def test_the_band_is_one_of_student():
    """Derived: covariance by matrices, Student's t of scipy; 4.5 % below it and 0.5 % above."""
    found = fit.rtt_against_size(RttSamples(payload_bytes=X, rtt_s=Y))
    (intercept, slope), covariance = least_squares(X, Y)
    error = np.sqrt(np.array([1, 700.0]) @ covariance @ np.array([1, 700.0]))
    low, high = found.band(np.array([700.0]))
    middle = intercept + slope * 700
    assert middle - low == pytest.approx(stdtrit(4, 0.955) * error)
    assert high - middle == pytest.approx(stdtrit(4, 0.995) * error)


def test_a_line_without_the_point_set_aside_is_that_of_the_others():
    y = Y.copy()
    y[2] += 0.05
    line = fit.robust_line(X, y)
    others = np.array([0, 1, 3, 4, 5])
    (intercept, slope), covariance = least_squares(X[others], Y[others])
    assert line.outlier.tolist() == [False, False, True, False, False, False]
    assert (line.intercept, line.slope) == pytest.approx((intercept, slope), rel=1e-9)
    assert line.slope_stderr == pytest.approx(np.sqrt(covariance[1, 1]))
    assert line.intercept_stderr == pytest.approx(np.sqrt(covariance[0, 0]))
    assert line.covariance == pytest.approx(covariance[0, 1])


def test_nothing_is_set_aside_where_one_size_would_be_left():
    # by hand: the slopes from 5 at 1 to 6 and 106 at 2 are 1 and 101, their median 51: both points
    # at 2 are 50 off it, and all the others on it; without both no slope is left, with one the
    # other is 100 off a line without scatter
    x, y = np.array([1.0, 1, 1, 1, 1, 2, 2]), np.array([5.0, 5, 5, 5, 5, 6, 106])
    line = fit.robust_line(x, y)
    assert np.unique(x[~line.outlier]).size == 2
    assert line.rank == 2


def test_the_resolution_is_a_floor_in_the_unit_of_the_times():
    """Derived: of equal times but one, rounded to 1 ms, t of 7 degrees times the error at x."""
    sizes = np.arange(10.0) * 100
    others = np.delete(sizes, 4)
    leverage = 1 / 9 + (sizes[4] - others.mean()) ** 2 / ((others - others.mean()) ** 2).sum()
    limit_s = stdtrit(7, 1 - 1e-4 / 10 / 2) * 1e-3 / np.sqrt(12) * np.sqrt(1 + leverage)
    for off_s, far in ((0.99 * limit_s, False), (1.01 * limit_s, True)):
        rtt = np.full(10, 0.01)
        rtt[4] += off_s
        samples = RttSamples(payload_bytes=sizes, rtt_s=rtt, resolution_s=np.full(10, 1e-3))
        found = fit.rtt_against_size(samples)
        assert found.outlier.any() == far
        assert found.line.scale == pytest.approx(1e-3 / np.sqrt(12))


def test_the_finest_clock_of_the_measured_rows_counts():
    rtt = np.full(10, 0.01)
    rtt[4] += 2e-3
    fine = np.full(10, 1e-3)
    fine[7] = 1e-4
    sizes = np.arange(10.0) * 100
    assert fit.rtt_against_size(
        RttSamples(payload_bytes=sizes, rtt_s=rtt, resolution_s=fine)
    ).outlier.any()
    lost = np.arange(10) == 7
    rtt = np.where(lost, np.nan, rtt)
    found = fit.rtt_against_size(
        RttSamples(payload_bytes=sizes, rtt_s=rtt, resolution_s=fine, lost=lost)
    )
    assert not found.outlier.any()


def test_rounding_is_no_scatter():
    # a million-millionth of the largest: 5e-12 of 1 are within what t allows of it, 1e-10 are not
    for off, far in ((5e-12, False), (1e-10, True)):
        y = np.ones(9)
        y[4] += off
        line = fit.robust_line(np.arange(9.0), y)
        assert line.outlier.any() == far
    assert fit.robust_line(np.arange(9.0), np.ones(9)).scale == pytest.approx(1e-12)


@pytest.mark.each("count", [1400, 1401, 2100])
def test_the_median_of_the_slopes_over_many_points(count):
    """One wild point in three: least squares alone would be far off, the median is not."""
    x = np.arange(count, dtype=float)[::-1].copy()
    y = 2.0 + 3.0 * x
    y[::3] += 1e4 * (1 + x[::3])
    line = fit.robust_line(x, y)
    assert line.outlier.sum() == -(-count // 3)
    assert (line.slope, line.intercept) == pytest.approx((3.0, 2.0))


def test_echo_parameters_and_errors_by_hand():
    samples = RttSamples(payload_bytes=X, rtt_s=Y)
    found = fit.rtt_against_size(samples)
    (intercept, slope), covariance = least_squares(X, Y)
    assert found.params["bandwidth_bps"] == pytest.approx(16 / slope, rel=1e-9)
    assert found.params["base_rtt_s"] == pytest.approx(intercept - 28 * slope, rel=1e-9)
    assert found.params["header_bytes"] == 28
    assert found.stderr["bandwidth_bps"] == pytest.approx(
        16 / slope**2 * np.sqrt(covariance[1, 1]), rel=1e-9
    )
    # derived: the variance of a - 28 b
    variance = covariance[0, 0] + 28**2 * covariance[1, 1] - 2 * 28 * covariance[0, 1]
    assert found.stderr["base_rtt_s"] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.stderr["header_bytes"] == 0.0
    assert found.residual == pytest.approx(Y - intercept - slope * X, abs=1e-12)
    assert found.predict(X) == pytest.approx(intercept + slope * X)
    rows = np.stack([np.ones(1), np.full(1, 700.0)])
    assert found.predict_stderr(np.array([700.0])) == pytest.approx(
        np.sqrt(np.einsum("ix,ij,jx->x", rows, covariance, rows))
    )
    assert (found.x_name, found.y_name) == ("payload_bytes", "rtt_s")
    # the note has both parts of the intercept
    assert found.notes[0].code == "intercept-includes-headers"
    assert found.notes[0].values == pytest.approx(
        {"intercept_s": intercept, "header_s": 28 * slope, "header_bytes": 28}
    )
    [whole_s, header_s] = quantities(str(found.notes[0]), "s")[:2]
    assert whole_s == pytest.approx(intercept, rel=1e-3)
    assert header_s == pytest.approx(28 * slope, rel=1e-3)


def test_every_round_trip_with_a_size_is_fitted():
    sizes, rtt = np.append(np.repeat(X, 2), np.nan), np.append(np.repeat(Y, 2), 0.5)
    rtt[1:-1:2] += 1e-4
    found = fit.rtt_against_size(RttSamples(payload_bytes=sizes, rtt_s=rtt), minima=False)
    (intercept, slope), _ = least_squares(sizes[:-1], rtt[:-1])
    assert found.x.size == 12
    assert found.line.slope == pytest.approx(slope)
    assert found.line.intercept == pytest.approx(intercept)


def test_one_size_gives_the_mean_as_the_base():
    found = fit.rtt_against_size(
        RttSamples(payload_bytes=[56.0] * 6, rtt_s=[3.0, 4, 5, 6, 4.5, 100]), minima=False
    )
    assert found.params["base_rtt_s"] == pytest.approx(4.5)
    assert np.isnan(found.stderr["base_rtt_s"])
    assert np.isnan(found.stderr["bandwidth_bps"])
    assert set(found.not_identifiable) == {"bandwidth_bps"}
    assert found.residual[:5] == pytest.approx([-1.5, -0.5, 0.5, 1.5, 0.0])
    assert len(found.notes) == 2, "what the base contains, and the outlier"
    assert found.notes[0].values == {"size_bytes": 56.0}
    assert found.notes[1].values == {"count": 1, "times_s": [100.0], "sizes_bytes": [56.0]}
    assert [quantities(str(note), "B") for note in found.notes] == [[56.0], [56.0]]
    assert quantities(str(found.notes[1]), "s") == [100.0]


def test_a_falling_line_names_its_sizes():
    found = fit.rtt_against_size(RttSamples(payload_bytes=[100.0, 900], rtt_s=[0.02, 0.01]))
    assert found.params["base_rtt_s"] == pytest.approx(0.015)
    assert found.notes[0].values == {"low_bytes": 100.0, "high_bytes": 900.0}
    assert quantities(str(found.notes[0]), "B") == [100.0, 900.0]


def test_a_line_that_meets_the_axis_below_its_headers_has_no_base():
    # by hand: 1 ms a byte, 10 ms at no data, but 28 ms for the headers
    found = fit.rtt_against_size(
        RttSamples(payload_bytes=[10.0, 20, 30], rtt_s=[0.020, 0.030, 0.040])
    )
    assert set(found.not_identifiable) == {"base_rtt_s"}
    assert np.isnan(found.params["base_rtt_s"])
    assert found.params["bandwidth_bps"] == pytest.approx(16_000)
    reason = found.not_identifiable["base_rtt_s"]
    assert reason.code == "intercept-below-headers"
    assert reason.values == pytest.approx({"intercept_s": 0.01})
    assert quantities(str(reason), "s") == pytest.approx([0.01])
    just = fit.rtt_against_size(
        RttSamples(payload_bytes=[10.0, 20, 30], rtt_s=[0.040, 0.050, 0.060])
    )
    assert just.params["base_rtt_s"] == pytest.approx(0.002)


def test_a_base_of_nothing_is_one():
    exact = RttSamples(payload_bytes=[1.0, 2, 3], rtt_s=[1.0, 2, 3])
    found = fit.rtt_against_size(exact, header_bytes=0)
    assert found.params["base_rtt_s"] == 0.0
    assert not found.not_identifiable


def test_nothing_measured_determines_nothing():
    found = fit.rtt_against_size(RttSamples(payload_bytes=[], rtt_s=[]))
    assert set(found.not_identifiable) == {"base_rtt_s", "bandwidth_bps"}
    assert np.isnan([found.params["base_rtt_s"], found.params["bandwidth_bps"]]).all()
    moved = fit.transfer_against_size(TransferSamples(payload_bytes=[], duration_s=[]))
    assert set(moved.not_identifiable) == {"latency_s", "bandwidth_bps"}
    assert np.isnan([moved.params["latency_s"], moved.params["bandwidth_bps"]]).all()


@pytest.mark.each(("ratio", "seen"), [(1.9, False), (2.1, True)])
def test_a_slope_counts_from_two_standard_errors(ratio, seen):
    """Residuals that are at right angles to the line leave the slope as it was chosen."""
    x = np.array([-3.0, -1, 1, 3]) + 3
    off = np.array([1.0, -1, -1, 1]) * 1e-3  # sums to 0, also times x
    # by hand: variance 4e-6 / 2, over 20
    stderr = np.sqrt(2e-6 / 20)
    slope = ratio * stderr
    y = 1.0 + slope * x + off
    for found, bits in (
        (fit.rtt_against_size(RttSamples(payload_bytes=x, rtt_s=y), header_bytes=0), 16),
        (fit.transfer_against_size(TransferSamples(payload_bytes=x, duration_s=y)), 8),
    ):
        assert found.line.slope_stderr == pytest.approx(stderr)
        assert ("bandwidth_bps" not in found.not_identifiable) == seen
        if seen:
            assert found.params["bandwidth_bps"] == pytest.approx(bits / slope)
        else:
            reason = found.not_identifiable["bandwidth_bps"]
            assert reason.values["bound_bps"] == pytest.approx(bits / (slope + 2 * stderr))
            [bound] = quantities(str(reason), "bit/s")
            assert bound == pytest.approx(bits / (slope + 2 * stderr), rel=1e-3)


def test_transfer_parameters_and_errors_by_hand():
    found = fit.transfer_against_size(TransferSamples(payload_bytes=X, duration_s=Y))
    (intercept, slope), covariance = least_squares(X, Y)
    assert found.params["latency_s"] == pytest.approx(intercept)
    assert found.params["bandwidth_bps"] == pytest.approx(8 / slope)
    assert found.stderr["latency_s"] == pytest.approx(np.sqrt(covariance[0, 0]))
    assert found.stderr["bandwidth_bps"] == pytest.approx(8 / slope**2 * np.sqrt(covariance[1, 1]))
    assert found.residual == pytest.approx(Y - intercept - slope * X, abs=1e-12)
    assert (found.x_name, found.y_name) == ("payload_bytes", "transfer_s")
    assert found.x.tolist() == X.tolist()
    assert found.measured.tolist() == Y.tolist()
    assert found.notes == ()


def test_a_latency_of_nothing_is_one():
    exact = TransferSamples(payload_bytes=[1.0, 2, 3], duration_s=[1.0, 2, 3])
    assert fit.transfer_against_size(exact).params["latency_s"] == pytest.approx(0.0, abs=1e-15)


def test_eight_points_set_aside_are_shown_and_the_others_counted():
    x = np.arange(40.0)
    y = 1.0 + 0.01 * x
    y[::4] += 100  # in a row they would be a level of their own, and a step
    found = fit.transfer_against_size(TransferSamples(payload_bytes=x, duration_s=y))
    assert found.outlier.tolist() == [True, False, False, False] * 10
    [note] = found.notes
    assert (note.code, note.values["count"]) == ("outliers-set-aside", 10)
    assert note.values["times_s"] == pytest.approx((101 + 0.01 * x[::4]).tolist())
    assert note.values["sizes_bytes"] == x[::4].tolist()
    assert quantities(str(note), "s") == pytest.approx(101 + 0.01 * x[:32:4], rel=1e-3)
    assert quantities(str(note), "B") == x[:32:4].tolist()
    assert re.findall(r"and (\d+) more", str(note)) == ["2", "2"]
    y[[0, 4]] -= 100
    [note] = fit.transfer_against_size(TransferSamples(payload_bytes=x, duration_s=y)).notes
    assert len(quantities(str(note), "s")) == 8
    assert "more" not in str(note)


def test_the_summary_shows_values_errors_and_what_is_missing():
    found = fit.rtt_against_size(RttSamples(payload_bytes=X, rtt_s=Y))
    base, rate, header, *_ = found.summary().splitlines()
    assert quantities(base, "s") == pytest.approx(
        [found.params["base_rtt_s"], found.stderr["base_rtt_s"]], rel=0.05
    )
    assert quantities(rate, "bit/s") == pytest.approx(
        [found.params["bandwidth_bps"], found.stderr["bandwidth_bps"]], rel=0.05
    )
    assert header.count("±") == 0
    two = fit.rtt_against_size(RttSamples(payload_bytes=[100.0, 200], rtt_s=[0.01, 0.02]))
    assert "±" not in two.summary()
    flat = fit.rtt_against_size(RttSamples(payload_bytes=[100.0, 200], rtt_s=[0.02, 0.01]))
    _, rate, header, *_ = flat.summary().splitlines()
    assert not quantities(rate, "bit/s")
    assert quantities(header, "B") == [28.0]


@pytest.mark.parametrize(("covariance", "square"), [(0.0, 0.0325), (-0.06, 0.0475), (0.2, 0.0)])
def test_the_error_of_a_ratio_of_both_parameters(covariance, square):
    """By hand: 10% and 15% are 0.01 + 0.0225, less 2 x covariance / (4 x 2), and not below 0."""
    line = fit.Line(
        intercept=4.0, slope=2.0, intercept_stderr=0.4, slope_stderr=0.3, covariance=covariance,
        scale=1.0, rank=2, outlier=np.zeros(3, bool),
    )  # fmt: skip
    assert line.ratio_error == pytest.approx(square**0.5)
