"""The two limits of a device: what is known is found again, and what no point shows is bounded.

Rates of a line are those of RFC 2544, appendix B, and of its formula: R / 8 (F + 20).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.fit import two_regimes
from netcalc.messages import Notice

SIZES = np.array([68.0, 132, 260, 516, 1028, 1518])
LINE = 100e6 / 8 / (SIZES + 20)


def rates(pps, line_bps=100e6):
    """Return the rates of a device and a line."""
    return np.minimum(pps, line_bps / 8 / (SIZES + 20))


@pytest.mark.each(
    ("pps", "crossover_bytes"), [(20_000, 605.0), (8200, 1504.390243902439), (100_000, 105.0)]
)
def test_both_limits_are_found(pps, crossover_bytes):
    """derived by hand: 12.5 MB/s / pps is the frame on the wire, of which 20 bytes are no frame."""
    fitted = two_regimes(SIZES, rate_pps=rates(pps))
    assert fitted.params == pytest.approx({"packet_pps": pps, "line_bps": 100e6})
    assert fitted.crossover_bytes == pytest.approx(crossover_bytes)
    assert fitted.not_identifiable == {}
    assert fitted.misfit_ratio < 1e-9
    assert fitted.predict([64, 1518]) == pytest.approx([pps, 8127.4], rel=1e-5)  # RFC 2544


def test_a_limit_that_no_point_shows_has_a_least_value():
    only_line = two_regimes(SIZES, rate_pps=rates(1e6))
    assert math.isnan(only_line.params["packet_pps"])
    assert only_line.bounds["packet_pps"] == pytest.approx(100e6 / 8 / 88)
    assert only_line.not_identifiable == {"packet_pps": Notice("packet-rate-not-reached")}
    only_packets = two_regimes(SIZES, rate_pps=rates(1000))
    assert math.isnan(only_packets.params["line_bps"])
    assert only_packets.bounds["line_bps"] == pytest.approx(1000 * 8 * 1538)
    assert only_packets.not_identifiable == {"line_bps": Notice("line-not-reached")}


def test_runs_of_a_host_are_no_limit_of_the_path():
    """The hosts reach 15,000 packets a second: the small frames say no more than that."""
    measured = np.minimum(rates(20_000), 15_000)
    is_bound = measured == 15_000
    fitted = two_regimes(SIZES, rate_pps=measured, is_bound=is_bound)
    assert fitted.outlier.tolist() == is_bound.tolist()
    assert fitted.params["line_bps"] == pytest.approx(100e6)
    assert fitted.bounds["packet_pps"] == 15_000
    assert fitted.not_identifiable == {"packet_pps": Notice("packet-rate-not-reached")}
    one_left = two_regimes(SIZES, rate_pps=measured, is_bound=SIZES < 1500)
    assert one_left.params["line_bps"] == pytest.approx(100e6), "8127 packets are no packet rate"
    none_left = two_regimes(SIZES, rate_pps=measured, is_bound=SIZES > 0)
    assert none_left.not_identifiable["line_bps"] == Notice("hosts-limit-all")


@pytest.mark.each(("sizes", "code"), [([], "no-points"), ([64.0], "too-few-sizes-of-frame")])
def test_too_few_sizes_show_no_limit(sizes, code):
    fitted = two_regimes(sizes, rate_pps=[1000.0] * len(sizes))
    assert [*fitted.not_identifiable.values()] == [Notice(code)] * 2
    assert np.isnan(fitted.predict([64.0])).all()


def test_two_sizes_are_on_any_two_limits_and_show_none():
    between = two_regimes([64, 1518], rate_pps=[20_000, 8127.4])
    assert set(between.not_identifiable) == {"packet_pps", "line_bps"}
    assert between.bounds["packet_pps"] == 20_000
    equal = two_regimes([64, 1518], rate_pps=[5000, 5000])
    assert equal.params["packet_pps"] == pytest.approx(5000)


def test_the_margins_hold_the_truth_as_often_as_they_say():
    """derived: intervals of 95% miss one of 20; of 300, 15 with a standard deviation of 3.8."""
    source, missed = np.random.default_rng(3), np.zeros(2)
    truth = {"packet_pps": 20_000, "line_bps": 100e6}
    for _ in range(300):
        noisy = rates(20_000) * np.exp(source.normal(0, 0.01, SIZES.size))
        fitted = two_regimes(SIZES, rate_pps=noisy)
        missed += [
            abs(fitted.params[n] - value) > fitted.margin_of(n) for n, value in truth.items()
        ]
    assert (missed <= 15 + 5 * 3.8).all()
    assert (missed >= 1).all(), "margins that never miss are too wide"


def test_scatter_alone_is_no_second_limit():
    """Of a line alone with scatter of 1%, one fit in twenty has a second limit by chance."""
    source = np.random.default_rng(4)
    noisy = [LINE * np.exp(source.normal(0, 0.01, SIZES.size)) for _ in range(100)]
    fits = [two_regimes(SIZES, rate_pps=rate) for rate in noisy]
    found = sum(not math.isnan(fitted.params["packet_pps"]) for fitted in fits)
    assert found <= 5 + 4 * math.sqrt(5)


def test_a_run_that_another_program_disturbed_does_not_count():
    repeated = np.repeat(rates(20_000), 3)
    repeated[4] /= 5
    repeated[:2] /= 1.5
    fitted = two_regimes(np.repeat(SIZES, 3), rate_pps=repeated)
    assert fitted.params == pytest.approx({"packet_pps": 20_000, "line_bps": 100e6})


def test_a_device_with_a_cost_per_byte_is_said_not_to_fit():
    """10 us and 30 ns per byte: by hand 83 kpps at 68 bytes, 18 kpps at 1518; no line is near."""
    fitted = two_regimes(SIZES, rate_pps=1 / (10e-6 + 30e-9 * SIZES))
    assert fitted.misfit_ratio > 0.1


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DomainError, match="rate_pps"):
        two_regimes([64, 128], rate_pps=[1.0])
