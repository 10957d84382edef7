"""Fits: truth is found again, outliers are listed, what is not in the points is not made up."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from netcalc import fit
from netcalc.messages import Notice
from netcalc.samples import RttSamples, TransferSamples

BOOK_SIZES = np.array([8, *range(100, 1500, 100)], dtype=float)


def round_trips(sizes, rtt, **options):
    return RttSamples(payload_bytes=sizes, rtt_s=rtt, **options)


def truth(sizes, base_s=0.08, rate_bps=198e3, header=28):
    """The line of an echo over one link, written out here, not taken from the models."""
    return base_s + 2 * 8 * (np.asarray(sizes) + header) / rate_bps


def test_exact_points_give_the_truth():
    found = fit.rtt_against_size(round_trips(BOOK_SIZES, truth(BOOK_SIZES)))
    assert found.params["base_rtt_s"] == pytest.approx(0.08, rel=1e-9)
    assert found.params["bandwidth_bps"] == pytest.approx(198e3, rel=1e-9)
    assert not found.outlier.any()
    assert not found.not_identifiable
    [note] = found.notes
    assert note.code == "intercept-includes-headers"
    # by hand: 80 ms, and 28 bytes there and back at 198 kbit/s
    assert note.values == pytest.approx(
        {"intercept_s": 0.08 + 448 / 198e3, "header_s": 448 / 198e3, "header_bytes": 28}
    )


def test_the_model_works_with_the_parameters_as_they_stand():
    found = fit.rtt_against_size(round_trips(BOOK_SIZES, truth(BOOK_SIZES)))
    assert found.model(700, **found.params) == pytest.approx(float(truth(700)))
    assert found.residual == pytest.approx(found.measured - found.model(found.x, **found.params))


def test_fig_a3_connix_to_noao():
    # published: 80 ms at no user data, 193 ms at 1400 (Stevens vol. 3, A.3); derived: slope
    # 80.7 us a byte, so 198.2 kbit/s, and 2.26 ms of the 80 are headers.
    found = fit.rtt_against_size(round_trips([0, 700, 1400], [0.080, 0.1365, 0.193]))
    assert found.params["bandwidth_bps"] == pytest.approx(198_230, rel=1e-4)
    assert found.params["base_rtt_s"] == pytest.approx(0.0777, abs=1e-4)


@pytest.mark.slow
def test_standard_errors_agree_with_the_scatter_of_many_fits():
    """Derived by a second method: Monte Carlo with known Gaussian noise, seeded."""
    random = np.random.default_rng(7)
    base, rate, told_base, told_rate = [], [], [], []
    for _ in range(400):
        noisy = truth(BOOK_SIZES) + random.normal(0, 2e-4, BOOK_SIZES.size)
        found = fit.rtt_against_size(round_trips(BOOK_SIZES, noisy))
        base.append(found.params["base_rtt_s"])
        rate.append(found.params["bandwidth_bps"])
        told_base.append(found.stderr["base_rtt_s"])
        told_rate.append(found.stderr["bandwidth_bps"])
    assert np.mean(told_base) == pytest.approx(np.std(base), rel=0.12)
    assert np.mean(told_rate) == pytest.approx(np.std(rate), rel=0.12)
    assert np.mean(base) == pytest.approx(0.08, abs=4 * np.std(base) / 20)


def test_least_squares_equals_numpy_where_nothing_is_set_aside():
    random = np.random.default_rng(3)
    x, y = BOOK_SIZES, truth(BOOK_SIZES) + random.normal(0, 1e-4, BOOK_SIZES.size)
    line = fit.robust_line(x, y)
    assert not line.outlier.any()
    (slope, intercept), covariance = np.polyfit(x, y, 1, cov=True)
    assert (line.slope, line.intercept) == pytest.approx((slope, intercept), rel=1e-9)
    assert line.slope_stderr == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-6)
    assert line.intercept_stderr == pytest.approx(np.sqrt(covariance[1, 1]), rel=1e-6)
    assert line.covariance == pytest.approx(covariance[0, 1], rel=1e-6)


def test_one_wild_point_is_listed_and_moves_nothing():
    rtt = truth(BOOK_SIZES) + np.tile([0, 1e-5, -1e-5], 5)
    rtt[0] = 1.0  # the first packet that waited for a name to be resolved
    found = fit.rtt_against_size(round_trips(BOOK_SIZES, rtt))
    assert found.outlier.tolist() == [True] + [False] * 14
    assert found.params["bandwidth_bps"] == pytest.approx(198e3, rel=0.01)
    [note] = [note for note in found.notes if note.code == "outliers-set-aside"]
    assert note.values == {"count": 1, "sizes_bytes": [8.0], "times_s": [1.0]}
    assert str(note) == "1 outlier is not in the fit: 1 s at 8 B"


def test_the_minimum_of_each_size_is_fitted():
    sizes = np.repeat(BOOK_SIZES, 10)
    queue = np.tile(np.linspace(0, 0.05, 10), 15)
    found = fit.rtt_against_size(round_trips(sizes, truth(sizes) + queue))
    assert found.x.size == 15
    assert found.params["base_rtt_s"] == pytest.approx(0.08)
    every = fit.rtt_against_size(round_trips(sizes, truth(sizes) + queue), minima=False)
    assert every.params["base_rtt_s"] == pytest.approx(0.08 + 0.025)  # mean of the queue


def test_lost_and_doubled_replies_do_not_enter():
    rtt = truth(BOOK_SIZES)
    rows = round_trips(
        [*BOOK_SIZES, 700, 700],
        [*rtt, np.nan, 1e-6],
        lost=[False] * 15 + [True, False],
        duplicate=[False] * 16 + [True],
    )
    assert fit.rtt_against_size(rows).params["base_rtt_s"] == pytest.approx(0.08)


@pytest.mark.each(
    ("sizes", "rtt", "code", "values"),
    [
        ([], [], "no-points", {}),
        ([56], [0.01], "one-size-of-echo", {"size_bytes": 56}),
        ([56] * 20, list(np.linspace(0.01, 0.02, 20)), "one-size-of-echo", {"size_bytes": 56}),
        ([56, 56], [0.01, 0.01], "one-size-of-echo", {"size_bytes": 56}),
        ([100, 1000], [0.02, 0.01], "no-increase-with-size", {}),
        ([100, 1000], [0.01, 0.01], "no-increase-with-size", {}),
    ],
)
def test_a_rate_that_is_not_in_the_points_is_not_made_up(sizes, rtt, code, values):
    found = fit.rtt_against_size(round_trips(sizes, rtt))
    assert np.isnan(found.params["bandwidth_bps"])
    reason = found.not_identifiable["bandwidth_bps"]
    assert (reason.code, reason.values) == (code, values)
    assert f"not identifiable: {reason}" in found.summary()
    assert "not identifiable" in found.summary()


def test_a_slope_within_its_noise_gives_a_bound_only():
    random = np.random.default_rng(5)
    rtt = 0.01 + random.normal(0, 1e-3, 15) + BOOK_SIZES * 1e-8
    found = fit.rtt_against_size(round_trips(BOOK_SIZES, rtt))
    assert np.isnan(found.params["bandwidth_bps"])
    reason = found.not_identifiable["bandwidth_bps"]
    assert reason.code == "slope-insignificant"
    # by hand: 16 over the slope and twice its standard error
    steepest = found.line.slope + 2 * found.line.slope_stderr
    assert reason.values["bound_bps"] == pytest.approx(16 / steepest)


def test_two_sizes_give_a_line_without_errors():
    found = fit.rtt_against_size(round_trips([100, 1100], truth([100, 1100])))
    assert found.params["bandwidth_bps"] == pytest.approx(198e3)
    assert np.isnan(found.stderr["bandwidth_bps"])


def test_resolution_keeps_rounding_from_being_an_outlier():
    # A clock of 1 ms: most points equal to the line, one a tick off, which is no outlier.
    sizes = np.arange(10, dtype=float) * 100
    rtt = 0.01 + np.zeros(10)
    rtt[4] += 1e-3
    with_clock = round_trips(sizes, rtt, resolution_s=np.full(10, 1e-3))
    assert not fit.rtt_against_size(with_clock).outlier.any()
    assert fit.rtt_against_size(round_trips(sizes, rtt)).outlier.sum() == 1


def test_transfers_give_latency_and_rate():
    sizes = np.array([1e4, 1e5, 1e6, 1e7])
    time = 0.03 + 8 * sizes / 45e6
    found = fit.transfer_against_size(
        TransferSamples(
            payload_bytes=[*sizes, 5], duration_s=[*time, 9], failed=[False] * 4 + [True]
        )
    )
    assert found.params["latency_s"] == pytest.approx(0.03)
    assert found.params["bandwidth_bps"] == pytest.approx(45e6)
    assert found.model(1e6, **found.params) == pytest.approx(time[2])


def test_a_line_that_starts_below_zero_has_no_latency():
    found = fit.transfer_against_size(
        TransferSamples(payload_bytes=[10, 20, 30], duration_s=[0.0, 1.0, 2.0])
    )
    assert np.isnan(found.params["latency_s"])
    # by hand: a line through (10, 0) and (30, 2) is -1 at 0
    reason = found.not_identifiable["latency_s"]
    assert (reason.code, reason.values) == (
        "intercept-negative",
        pytest.approx({"intercept_s": -1}),
    )


@pytest.mark.each(
    ("code", "values", "sentence"),
    [
        (
            "one-size-of-echo",
            {"size_bytes": 56.0},
            "all round trips have the same size, 56 B; the rate needs several sizes (ping -s)",
        ),
        (
            "slope-insignificant",
            {"bound_bps": 2e9},
            "the slope is less than 2 standard errors above 0; the rate is likely above "
            "2 Gbit/s (line)",
        ),
        (
            "intercept-includes-headers",
            {"intercept_s": 0.08, "header_s": 0.00226, "header_bytes": 28},
            "the intercept (no user data), 80 ms, includes 2.26 ms for 28 bytes of headers in both "
            "directions",
        ),
        (
            "outliers-set-aside",
            {"count": 10, "times_s": [1.0] * 10, "sizes_bytes": [8.0] * 10},
            "10 outliers are not in the fit: 1 s, 1 s, 1 s, 1 s, 1 s, 1 s, 1 s, 1 s and 2 more at "
            "8 B, 8 B, 8 B, 8 B, 8 B, 8 B, 8 B, 8 B and 2 more",
        ),
        ("too-few-points", {"count": 2, "cost_count": 3}, "2 points are too few for 3 costs"),
        (
            "too-few-sizes",
            {"needed": 3, "count": 2},
            "at least 3 sizes with answers of equal size are needed, got 2",
        ),
    ],
)
def test_reasons_and_notes_as_sentences(code, values, sentence):
    assert str(Notice(code, values)) == sentence


def test_many_points_are_fitted_without_all_pairs():
    random = np.random.default_rng(1)
    x = random.uniform(0, 1500, 20_000)
    y = truth(x) + random.normal(0, 1e-4, x.size)
    line = fit.robust_line(x, y)
    assert line.slope == pytest.approx(16 / 198e3, rel=1e-3)


@pytest.mark.each("unit", [1e300, 1e-300, 2.0**900, 1.0])
def test_the_scale_of_the_numbers_does_not_matter(unit):
    sizes = np.array([1.0, 2, 3, 4, 5, 6]) * unit
    scatter = np.array([0.0, 0.01, 0, -0.01, 0.02, 0]) * unit
    line = fit.robust_line(sizes, 2 * sizes + 3 * unit + scatter)
    # derived: numpy's least squares on the same points in units of one
    slope, intercept = np.polyfit(sizes / unit, (2 * sizes + 3 * unit + scatter) / unit, 1)
    assert line.slope == pytest.approx(slope)
    assert line.intercept / unit == pytest.approx(intercept)
    assert 0 < line.slope_stderr < 0.01
    found = fit.rtt_against_size(round_trips(sizes, 2 * sizes + 3 * unit + scatter))
    assert np.isfinite(found.predict_stderr(sizes)).all()
    assert found.summary()


@pytest.mark.each("rtt", [[np.nan] * 3, [np.inf, 1.0, 2.0], [0.0, 0.0, 0.0], []])
def test_points_that_are_none_give_words_and_no_warning(rtt):
    found = fit.rtt_against_size(round_trips([100, 200, 300][: len(rtt)], rtt))
    assert np.isnan(found.params["bandwidth_bps"]) or found.params["bandwidth_bps"] > 0
    assert found.summary()


def test_the_summary_has_the_unit_of_each_parameter():
    shown = fit.rtt_against_size(round_trips(BOOK_SIZES, truth(BOOK_SIZES))).summary()
    assert "header_bytes: 28 B\n" in shown
    assert "bandwidth_bps: 198 kbit/s ±" in shown


@pytest.mark.each("fitted", [fit.rtt_against_size, fit.transfer_against_size])
def test_what_is_no_measurement_is_named(fitted):
    with pytest.raises(TypeError, match=r"samples must be \w+Samples, got list"):
        fitted([1, 2, 3])


def test_a_fit_survives_pickling_and_works_in_threads():
    samples = round_trips(BOOK_SIZES, truth(BOOK_SIZES))
    found = fit.rtt_against_size(samples)
    again = pickle.loads(pickle.dumps(found))
    assert again.params == found.params
    assert again.model is found.model
    assert found == found
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(fit.rtt_against_size, [samples] * 16))
    assert all(one.params == found.params for one in fits)
