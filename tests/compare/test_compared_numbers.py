"""Points, bands and labels of comparisons against sums and least squares written out here."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import stdtrit

from netcalc import compare
from netcalc.path import Path
from netcalc.samples import HopSamples, Meta, RttSamples, TrainSamples, TransferSamples
from netcalc.units import parse

X = np.array([8.0, 200, 400, 600, 800, 1000])
Y = 0.01 + 4e-6 * X + np.array([2.0, -1, 1, -3, 2, -1]) * 1e-5
AXES = {"x_name": "a", "x_unit": "byte", "y_name": "b", "y_unit": "s"}


def quantities(text, unit):
    """Every quantity of this unit in a text, as numbers; the words around them do not matter."""
    written = {"bit/s": r"[kMG]?bit/s", "s": r"(?:ms|µs|ns|s)", "byte": r"(?:[kMG]|[KM]i)?B"}[unit]
    found = re.findall(rf"(?<![\d.])-?\d[\d.]*(?:e-?\d+)? {written}(?![\w/])", text)
    return [parse(one, unit) for one in found]


def least_squares(x, y):
    """Second method: the normal equations of y = a + b x; coefficients and their covariance."""
    rows = np.column_stack([np.ones_like(x), x])
    inverse = np.linalg.inv(rows.T @ rows)
    found = inverse @ rows.T @ y
    left = y - rows @ found
    return found, (left @ left) / (x.size - 2) * inverse


# points and theory


def test_points_keep_their_axes_and_labels_apart():
    found = compare.points(
        [3, 1], measured=[30, 40], theory=lambda x: 10 * x, x_name="xn", x_unit="xu", y_name="yn",
        y_unit="s", title="tt", measured_label="ml", predicted_label="pl",
    )  # fmt: skip
    assert (found.x_name, found.x_unit, found.y_name, found.y_unit) == ("xn", "xu", "yn", "s")
    assert (found.title, found.measured_label, found.predicted_label) == ("tt", "ml", "pl")
    assert found.x.tolist() == [3, 1]
    assert found.measured.tolist() == [30, 40]
    assert found.predicted.tolist() == [30, 10]
    assert found.residual.tolist() == [0, 30]
    assert found.outlier.tolist() == [False, False]
    assert found.fit is None
    assert found.rows() == [
        {"x": 3.0, "measured": 30.0, "predicted": 30.0, "residual": 0.0},
        {"x": 1.0, "measured": 40.0, "predicted": 10.0, "residual": 30.0},
    ]
    # from 0 to a twentieth beyond the points
    assert found.curve_x.size == compare.CURVE_POINTS == 200
    assert (found.curve_x[0], found.curve_x[-1]) == (0.0, pytest.approx(3.15))
    for curve in (found.curve_y, found.curve_low, found.curve_high):
        assert curve == pytest.approx(10 * found.curve_x)
    plain = compare.points([1], measured=[1], theory=lambda x: x, **AXES)
    assert plain.title == ""
    assert "measured" in plain.measured_label
    assert plain.predicted_label == "predicted"


@pytest.mark.each(
    ("x", "low", "high"),
    [([], 0.0, 1500.0), ([-2.0, 4.0], -2.0, 4.2), ([0.0, 0.0], 0.0, 1.0), ([np.nan, 2.0], 0.0, 2.1),
     ([np.inf, 1.0], 0.0, 1.05), ([5.0], 0.0, 5.25)],
)  # fmt: skip
def test_where_a_curve_begins_and_ends(x, low, high):
    found = compare.points(x, measured=[1.0] * len(x), theory=lambda x: x, **AXES)
    assert (found.curve_x.min(), found.curve_x.max()) == pytest.approx((low, high))


def test_the_median_and_the_worst_are_said():
    measured = np.array([1.5, 1.0, 0.2, 1.1, np.nan])
    found = compare.points(
        np.arange(5.0), measured=measured, theory=lambda x: np.ones_like(x), **AXES
    )
    # by hand: 0.5, 0, -0.8, 0.1; the point without a time is none
    assert quantities(found.sentence, "s") == pytest.approx([0.05, -0.8])
    assert re.findall(r"(?<![\d.-])\d+(?= sizes)", found.sentence) == ["4"]


def test_what_was_set_aside_is_in_no_sentence():
    from dataclasses import replace

    found = compare.points([1, 2, 3], measured=[1, 2, 9], theory=lambda x: x, **AXES)
    aside = replace(found, outlier=np.array([False, False, True]))
    again = compare.with_theory(aside, lambda x: 2 * x, label="twice")
    assert quantities(again.sentence, "s") == pytest.approx([-1.5, -2.0])
    assert "2 sizes" in again.sentence
    assert again.predicted_label == "twice"
    assert again.curve_y == pytest.approx(2 * again.curve_x)
    assert again.residual.tolist() == [-1.0, -2.0, 3.0]


# times against size


def echo(x=X, y=Y, **meta):
    return RttSamples(payload_bytes=x, rtt_s=y, meta=Meta(**meta))


def transfers(x=X, y=Y, **meta):
    return TransferSamples(payload_bytes=x, duration_s=y, meta=Meta(**meta))


@pytest.mark.each("samples", [echo(), transfers()])
def test_the_band_is_that_of_students_distribution(samples):
    found = compare.overlay(samples)
    (intercept, slope), covariance = least_squares(X, Y)
    rows = np.stack([np.ones_like(found.curve_x), found.curve_x])
    stderr = np.sqrt(np.einsum("ix,ij,jx->x", rows, covariance, rows))
    assert found.curve_y == pytest.approx(intercept + slope * found.curve_x)
    # published: docs/limits.md, 0.5 % of the lines above the band and 4.5 % below it
    above, below = stdtrit(4, [0.995, 0.955])
    assert found.curve_high - found.curve_y == pytest.approx(above * stderr, rel=1e-6)
    assert found.curve_y - found.curve_low == pytest.approx(below * stderr, rel=1e-6)
    assert found.predicted == pytest.approx(intercept + slope * X)
    assert found.residual == pytest.approx(Y - intercept - slope * X, abs=1e-12)
    assert found.curve_x[-1] == pytest.approx(1050)
    assert found.fit is not None


def test_the_band_leaves_out_what_was_set_aside():
    y = Y.copy()
    y[2] += 0.01
    found = compare.overlay(transfers(y=y))
    kept = np.array([0, 1, 3, 4, 5])
    _, covariance = least_squares(X[kept], Y[kept])
    assert found.outlier.tolist() == [False, False, True, False, False, False]
    assert (found.curve_high - found.curve_y)[0] == pytest.approx(
        stdtrit(3, 0.995) * np.sqrt(covariance[0, 0]), rel=1e-6
    )


def test_two_points_have_no_band():
    found = compare.overlay(echo(X[:2], Y[:2]))
    assert found.curve_low.tolist() == found.curve_y.tolist() == found.curve_high.tolist()


def test_one_size_has_no_band_either():
    found = compare.overlay(transfers([56.0] * 4, [0.1, 0.2, 0.3, 0.4]))
    assert found.curve_low.tolist() == found.curve_high.tolist()
    assert found.curve_y == pytest.approx(0.25)
    assert quantities(found.sentence, "s")[0] == pytest.approx(0.1), "the best time"
    assert quantities(found.predicted_label, "bit/s") == []


def test_a_round_trip_and_a_transfer_have_their_own_labels():
    one, other = compare.overlay(echo(target="t.example")), compare.overlay(transfers())
    assert (one.x_unit, one.y_unit, other.x_unit, other.y_unit) == ("byte", "s", "byte", "s")
    assert "round" in one.y_name
    assert "round" not in other.y_name
    assert one.x_name != other.x_name
    assert "minimum" in one.measured_label
    assert "minimum" not in other.measured_label
    assert "t.example" in one.title
    assert one.title.lower().startswith("round")
    assert other.title.lower().startswith("transfer")
    assert "s.txt" in compare.overlay(transfers(source="s.txt")).title
    assert "t.example" in compare.overlay(echo(target="t.example", source="s.txt")).title
    assert compare.overlay(echo(), title="own").title == "own"


@pytest.mark.each(("samples", "bits", "header"), [(echo(), 16, 28), (transfers(), 8, 0)])
def test_the_label_and_the_sentence_have_the_numbers_of_the_fit(samples, bits, header):
    (intercept, slope), covariance = least_squares(X, Y)
    found = compare.overlay(samples)
    start, rate = intercept - header * slope, bits / slope
    assert quantities(found.predicted_label, "s") == pytest.approx([start], rel=1e-3)
    assert quantities(found.predicted_label, "bit/s") == pytest.approx([rate], rel=5e-3)
    at_largest = intercept + slope * 1000
    stderr = np.sqrt(
        covariance[0, 0] + header**2 * covariance[1, 1] - 2 * header * covariance[0, 1]
    )
    spread = np.median(np.abs(Y - intercept - slope * X))
    assert quantities(found.sentence, "byte") == [1000]
    assert quantities(found.sentence, "s") == pytest.approx(
        [at_largest, start, stderr, spread], rel=0.05
    )
    assert quantities(found.sentence, "bit/s") == pytest.approx(
        [rate, rate / slope * np.sqrt(covariance[1, 1])], rel=0.05
    )
    assert re.findall(r"\d+%", found.sentence) == [f"{start / at_largest:.0%}"]


@pytest.mark.each(("base_s", "limiting"), [(0.9, "latency"), (1.1, "latency"), (0.5, "band")])
def test_which_half_limits(base_s, limiting):
    # by hand: at the largest size the bits take 0.8 s
    x = np.array([100.0, 200, 400, 800])
    found = compare.overlay(transfers(x, base_s + x * 1e-3))
    tail = found.sentence.rpartition(":")[2]
    assert (limiting in tail) == (limiting != "latency" or base_s >= 0.8)
    assert ("bandwidth" in tail) == (base_s < 0.8)


def test_a_line_below_its_headers_says_the_rate_only():
    found = compare.overlay(echo([10.0, 20, 30], [0.020, 0.030, 0.040]))
    assert quantities(found.sentence, "bit/s") == [16e3]


# headers and paths


@pytest.mark.each(
    ("layer", "family", "header"),
    [("ICMP payload", "IPv4", 28), ("TCP payload", "IPv4", 52), ("TCP payload", "IPv6", 72),
     ("UDP payload", "IPv6", 48)],
)  # fmt: skip
def test_headers_of_an_echo_over_a_known_path(layer, family, header):
    path = Path.parse("8 Mbit/s 5 ms")  # a byte takes 1 us
    samples = echo(layers={"payload_bytes": layer}, instrument={"address_family": family})
    found = compare.overlay(samples, path=path)
    assert found.predicted == pytest.approx(0.01 + 2e-6 * (X + header))
    own = compare.overlay(samples, path=path, header_bytes=100)
    assert own.predicted == pytest.approx(0.01 + 2e-6 * (X + 100))
    fitted = compare.overlay(samples, header_bytes=0)
    assert fitted.fit.params["base_rtt_s"] == pytest.approx(fitted.fit.line.intercept)


def test_over_a_known_path_nothing_is_set_aside_and_theory_goes_on():
    y = Y.copy()
    y[2] += 0.5
    found = compare.overlay(echo(y=y), path=Path.parse("8 Mbit/s 5 ms"))
    assert not found.outlier.any()
    # a twentieth beyond the 1400 bytes of a packet
    assert (found.curve_x[0], found.curve_x[-1]) == (0.0, pytest.approx(1470))
    assert found.curve_y == pytest.approx(0.01 + 2e-6 * (found.curve_x + 28))
    one_way = compare.overlay(transfers(y=y), path=Path.parse("8 Mbit/s 5 ms"))
    assert one_way.predicted == pytest.approx(0.005 + 1e-6 * X)
    assert one_way.curve_x[-1] == pytest.approx(1470)
    large = compare.overlay(transfers(X * 10, y), path=Path.parse("8 Mbit/s 5 ms"))
    assert large.curve_x[-1] == pytest.approx(10_500)


def test_the_emulated_path_of_an_echo_is_taken_unless_another_is_given():
    truth = {"bandwidths_bps": [8e6], "latencies_s": [5e-3], "processings_s": [0.0, 0.0]}
    samples = echo(instrument={"truth": truth})
    assert compare.overlay(samples).predicted == pytest.approx(0.01 + 2e-6 * (X + 28))
    other = compare.overlay(samples, path=Path.parse("8 Mbit/s 6 ms"))
    assert other.predicted == pytest.approx(0.012 + 2e-6 * (X + 28))


# probes and trains


def hops(truth=None):
    sizes = np.array([548.0, 800, 1500])
    near, far = 0.002 + 1e-6 * sizes, 0.012 + 5e-6 * sizes
    off = np.array([1.0, -2, 1]) * 1e-7
    return HopSamples(
        hop=[1] * 3 + [2] * 3, packet_bytes=np.tile(sizes, 2), answer_bytes=[576.0] * 6,
        rtt_s=np.concatenate([near + off, far + 3 * off]),
        meta=Meta(instrument={"truth": truth} if truth else {}),
    )  # fmt: skip


def test_a_line_to_every_node():
    samples = hops()
    found = compare.overlay(samples)
    expected = []
    for rows in (slice(0, 3), slice(3, 6)):
        x, y = np.array(samples.packet_bytes)[rows], np.array(samples.rtt_s)[rows]
        (intercept, slope), _ = least_squares(x, y)
        expected += (intercept + slope * x).tolist()
        line = found.curve_y[:3] if rows.start == 0 else found.curve_y[4:7]
        assert line == pytest.approx(intercept + slope * np.array([28.0, 548, 1500]))
    assert found.predicted.tolist() == pytest.approx(expected)
    assert found.measured.tolist() == np.array(samples.rtt_s).tolist()
    assert found.x.tolist() == np.array(samples.packet_bytes).tolist()
    assert found.residual == pytest.approx(np.array(samples.rtt_s) - expected, abs=1e-12)
    np.testing.assert_array_equal(found.curve_x, [28, 548, 1500, np.nan] * 2)
    assert np.isnan(found.curve_y[[3, 7]]).all()
    np.testing.assert_array_equal(found.curve_low, found.curve_y)
    np.testing.assert_array_equal(found.curve_high, found.curve_y)
    assert (found.x_unit, found.y_unit) == ("byte", "s")
    assert "packet" in found.x_name
    assert "round" in found.y_name
    assert "minimum" in found.measured_label
    assert "predicted" not in found.predicted_label
    assert compare.overlay(samples, title="own").title == "own"
    assert "node" in found.title


def test_the_theory_of_every_node_of_a_path():
    # by hand: 8 Mbit/s clock a byte in 1 us, 2 Mbit/s in 4; answers of 28 + 548 at most
    path = Path.parse("8 Mbit/s 1 ms, 2 Mbit/s 5 ms")
    found = compare.overlay(hops(), path=path)
    sizes = np.array([548.0, 800, 1500])
    near, far = 0.002 + 1e-6 * (sizes + 576), 0.012 + 5e-6 * (sizes + 576)
    assert found.predicted.tolist() == pytest.approx([*near, *far])
    assert "predicted" in found.predicted_label
    curve = 0.002 + 1e-6 * np.array([28 + 28 + 28, 548 + 576, 1500 + 576])
    assert found.curve_y[:3] == pytest.approx(curve)
    # nodes behind the last one of the path have a line
    short = compare.overlay(hops(), path=Path.parse("8 Mbit/s 1 ms"))
    assert short.predicted[:3].tolist() == pytest.approx(near.tolist())
    assert short.predicted[3:].tolist() == pytest.approx(
        compare.overlay(hops()).predicted[3:].tolist()
    )
    truth = {"bandwidths_bps": [8e6, 2e6], "latencies_s": [1e-3, 5e-3], "processings_s": [0.0] * 3}
    assert compare.overlay(hops(truth)).predicted.tolist() == pytest.approx([*near, *far])


def test_no_probes_have_no_points():
    found = compare.overlay(HopSamples(hop=[], packet_bytes=[], rtt_s=[]))
    assert (found.x.size, found.measured.size, found.curve_x.size) == (0, 0, 0)


def trains(truth=None, crossed=()):
    gaps = [1.2e-3, 2e-3, 1.2e-3, 1.25e-3]
    rows = [(n, at, n + at * gap) for n, gap in enumerate(gaps, 1) for at in range(3)]
    train, place, received_s = np.array(rows).T
    return TrainSamples(
        train=train, index=place + 1, packet_bytes=[1500.0] * 12, sent_s=train,
        received_s=received_s, crossed=np.isin(train, crossed),
        meta=Meta(instrument={"truth": truth} if truth else {}),
    )  # fmt: skip


def test_trains_against_the_rate_that_most_have():
    found = compare.overlay(trains(crossed=(2,)))
    assert found.x.tolist() == [1, 2, 3, 4]
    assert found.measured == pytest.approx([1.2e-3, 2e-3, 1.2e-3, 1.25e-3])
    assert found.predicted == pytest.approx(1.2e-3), "by hand: the two that are equal"
    assert found.outlier.tolist() == [False, True, False, False]
    assert (found.x_unit, found.y_unit, found.x_name) == ("1", "s", "train")
    assert "time" in found.y_name
    assert "predicted" not in found.predicted_label
    assert found.curve_y == pytest.approx(1.2e-3)
    assert compare.overlay(trains(), title="own").title == "own"


def test_trains_against_the_narrowest_link_of_a_path():
    path = Path.parse("45 Mbit/s, 8 Mbit/s, 10 Mbit/s")
    found = compare.overlay(trains(), path=path)
    assert found.predicted == pytest.approx(1.5e-3)  # by hand: 1500 bytes at 1 us
    assert "predicted" in found.predicted_label
    truth = {"bandwidths_bps": [45e6, 6e6], "latencies_s": [0.0] * 2, "processings_s": [0.0] * 3}
    assert compare.overlay(trains(truth)).predicted == pytest.approx(2e-3)
    assert compare.overlay(trains(truth), path=path).predicted == pytest.approx(1.5e-3)


def test_a_train_without_times_has_no_theory():
    lone = TrainSamples(train=[1], index=[1], packet_bytes=[1500], sent_s=[0], received_s=[1])
    found = compare.overlay(lone)
    assert found.x.size == 0
    assert np.isnan(found.curve_y).all()
