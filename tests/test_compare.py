"""Theory beside measurement: the object a figure draws, and what limits a transfer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from netcalc import compare
from netcalc.path import Path
from netcalc.samples import Meta, RttSamples, Table, TransferSamples

SIZES = np.array([8, *range(100, 1500, 100)], dtype=float)


def echo(noise=0.0):
    rtt = 0.08 + 16 * (SIZES + 28) / 198e3 + noise * np.tile([1, -1, 0], 5)
    return RttSamples(payload_bytes=SIZES, rtt_s=rtt, meta=Meta(target="noao.edu"))


def test_residual_is_measured_less_predicted():
    found = compare.overlay(echo(1e-4))
    assert found.residual == pytest.approx(found.measured - found.predicted)
    assert found.curve_x.size == found.curve_y.size == compare.CURVE_POINTS
    assert (found.x_unit, found.y_unit) == ("byte", "s")
    assert "noao.edu" in found.title
    assert [row["x"] for row in found.rows()] == SIZES.tolist()


@pytest.mark.slow
def test_the_band_covers_the_truth_in_95_of_100_runs():
    """Derived by a second method: Monte Carlo with known noise, seeded."""
    random = np.random.default_rng(11)
    covered = 0
    for _ in range(1000):
        rtt = 0.08 + 16 * (SIZES + 28) / 198e3 + random.normal(0, 2e-4, SIZES.size)
        found = compare.overlay(RttSamples(payload_bytes=SIZES, rtt_s=rtt))
        middle = found.curve_x.size // 2
        true = 0.08 + 16 * (found.curve_x[middle] + 28) / 198e3
        covered += found.curve_low[middle] <= true <= found.curve_high[middle]
    assert covered / 1000 == pytest.approx(0.95, abs=0.02)


def test_the_sentence_says_what_limits():
    sentence = compare.overlay(echo(1e-5)).sentence
    # derived: 80 ms of 80 + 16 x 1428 / 198e3 = 195.4 ms are 41%
    assert "41% of the 195.4 ms is latency" in sentence
    assert "bandwidth limits" in sentence


def test_a_line_through_two_sizes_is_exact():
    """Two points have one line: what is left is rounding and neither drawn nor quoted."""
    rng = np.random.default_rng(7)
    sizes = np.repeat([64.0, 1464.0], 20)
    rtts = np.where(sizes == 64, 0.00123, 0.00457) + rng.exponential(2e-4, 40)
    compared = compare.overlay(RttSamples(payload_bytes=sizes, rtt_s=rtts))
    assert compared.residual.tolist() == [0.0, 0.0]
    assert compared.sentence.endswith(
        "bandwidth limits; two sizes, so the line is exact: a third size would test it."
    )


def test_a_known_path_is_not_fitted():
    path = Path.parse("198 kbit/s 40 ms")
    found = compare.overlay(echo(), path=path)
    assert found.fit is None
    assert np.abs(found.residual).max() < 1e-12
    assert found.curve_low.tolist() == found.curve_high.tolist()
    slower = compare.overlay(echo(), path=Path.parse("198 kbit/s 50 ms"))
    assert slower.residual == pytest.approx(np.full(15, -0.02))
    assert slower.sentence == "Measured minus predicted: median -20 ms, worst -20 ms (15 sizes)."


def test_a_path_under_transfers():
    sizes = [1e4, 1e6]
    transfers = TransferSamples(payload_bytes=sizes, duration_s=[0.05, 0.25])
    found = compare.overlay(transfers, path=Path.parse("45 Mbit/s 30 ms"))
    assert found.predicted.tolist() == pytest.approx([0.03 + 8e4 / 45e6, 0.03 + 8e6 / 45e6])


@pytest.mark.each(
    ("sizes", "said"),
    [([56.0] * 5, "all round trips have the same size"), ([], "No round trip has")],
)
def test_samples_without_a_line_still_compare(sizes, said):
    rows = RttSamples(payload_bytes=sizes, rtt_s=[0.01] * len(sizes))
    found = compare.overlay(rows)
    assert said in found.sentence
    assert found.curve_x.size == compare.CURVE_POINTS


def test_points_against_a_formula():
    found = compare.points(
        [64, 1518],
        measured=[9000, 8000],
        theory=lambda frame: 1e8 / (8 * (frame + 20)),
        x_name="frame",
        x_unit="byte",
        y_name="frame rate",
        y_unit="packet/s",
    )
    assert found.predicted.tolist() == pytest.approx([148_809.52, 8127.44])
    assert found.residual[1] == pytest.approx(-127.44, abs=0.01)


def test_what_cannot_be_compared_is_named():
    with pytest.raises(TypeError, match="TransferSamples or TransactionSamples, got list"):
        compare.overlay([1, 2, 3])
    with pytest.raises(TypeError, match="got Table"):
        compare.overlay(Table(data={"x": [1.0]}))


def test_a_theory_that_is_not_defined_is_said_and_not_raised():
    axes = {"x_name": "a", "x_unit": "s", "y_name": "b", "y_unit": "s"}
    found = compare.points([1, 2], measured=[1, 2], theory=lambda x: x * np.nan, **axes)
    assert found.sentence == "There are no measured points to compare with the prediction."
    found = compare.points([1, np.nan], measured=[1, 2], theory=lambda x: 2 * x, **axes)
    assert "(1 point)" in found.sentence
    assert np.isfinite(found.curve_x).all()


def test_a_comparison_survives_pickling():
    found = compare.overlay(echo())
    again = pickle.loads(pickle.dumps(found))
    assert again.sentence == found.sentence
    assert again.rows() == found.rows()
    assert found == found
