"""Text of ranges and distributions, and columns of files."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, ReaderError, UnitError
from netcalc.uncertain import is_distribution, parse, parse_correlations

HALF = np.array([0.05, 0.5, 0.95])


@pytest.mark.each(
    ("text", "unit", "expected"),
    [
        # Identity: shares of a range.
        ("80..100 Mbit/s", "bit/s", [81e6, 90e6, 99e6]),
        ("80 Mbit/s .. 0.1 Gbit/s", "bit/s", [81e6, 90e6, 99e6]),
        ("uniform(80, 100 Mbit/s)", "bit/s", [81e6, 90e6, 99e6]),
        ("1%..3%", "ratio", [0.011, 0.02, 0.029]),
        ("80-100 Mbit/s", "bit/s", [81e6, 90e6, 99e6]),
        ("80 Mbit/s – 100 Mbit/s", "bit/s", [81e6, 90e6, 99e6]),
        ("80 to 100 Mbit/s", "bit/s", [81e6, 90e6, 99e6]),
        ("1…3%", "ratio", [0.011, 0.02, 0.029]),
        ("-5..5", "1", [-4.5, 0.0, 4.5]),
        # Published: the 95th percentile of the normal distribution is 1.6448536 deviations above.
        ("30 ms ± 5 ms", "s", [0.021775732, 0.030, 0.038224268]),
        ("30 ms +- 5 ms", "s", [0.021775732, 0.030, 0.038224268]),
        ("30 +/- 5 ms", "s", [0.021775732, 0.030, 0.038224268]),
        ("30ms±5000us", "s", [0.021775732, 0.030, 0.038224268]),
        ("normal(30 ms, 5 ms)", "s", [0.021775732, 0.030, 0.038224268]),
        ("100 Mbit/s ± 10%", "bit/s", [83.551464e6, 100e6, 116.448536e6]),
        ("3% ± 1%", "ratio", [0.013551464, 0.03, 0.046448536]),
        # Identity: median and percentile as given, and the mirrored one by their ratio.
        ("lognormal(30 ms, p95 60 ms)", "s", [0.015, 0.030, 0.060]),
        ("lognormal(30 ms,p95=60ms)", "s", [0.015, 0.030, 0.060]),
        # Derived: by the area of a triangle, P(X <= x) = (x - a)^2 / ((b - a)(c - a)).
        ("triangular(0 ms, 10 ms, 20 ms)", "s", [0.0031622777, 0.010, 0.0168377223]),
        ("triangular(0, 0, 20 ms)", "s", [0.0005064113, 0.0058578644, 0.0155278640]),
        # Derived: -m ln(1 - p).
        ("exponential(3 min)", "s", [9.2327929, 124.766493, 539.231809]),
        # Derived: of a uniform distribution the middle half is a uniform distribution.
        ("truncated(0..40 ms, 10..30 ms)", "s", [0.011, 0.020, 0.029]),
        ("truncated(0..40 ms, 10 ms..)", "s", [0.0115, 0.025, 0.0385]),
    ],
)
def test_a_text_has_the_percentiles_of_its_distribution(text, unit, expected):
    assert is_distribution(text)
    assert parse(text, unit).ppf(HALF) == pytest.approx(expected, rel=1e-7)


@pytest.mark.each(
    "text", ["30 ms", "T1", "1,5 ms", "-3", "64KiB", "10 Mbit/s", "DS-3", "OC-3", "1e-3 s", "1:30"]
)
def test_one_quantity_is_no_distribution(text):
    assert not is_distribution(text)


def test_one_quantity_is_a_number():
    assert parse("30 ms", "s") == 0.03
    assert parse("T1", "bit/s") == 1.544e6


@pytest.mark.each(
    ("text", "unit", "code"),
    [
        ("100..80 Mbit/s", "bit/s", "range-backwards"),
        ("80..80 Mbit/s", "bit/s", "range-of-one-value"),
        ("80..100", "bit/s", "unit-missing"),
        ("..100 Mbit/s", "bit/s", "range-malformed"),
        ("1..2..3 s", "s", "range-malformed"),
        ("80..100 ms", "bit/s", "unit-of-other-kind"),
        ("80..100 M", "bit/s", "ambiguous-unit"),
        ("30 ± 5", "s", "unit-missing"),
        ("30 ms ± 0 ms", "s", "deviation-not-positive"),
        ("30 ms ± -5 ms", "s", "deviation-not-positive"),
        ("30 ms ±", "s", "range-malformed"),
        ("normal(30 ms)", "s", "distribution-malformed"),
        ("normal(30 ms, 5)", "s", "unit-missing"),
        ("lognormal(30 ms, p95 20 ms)", "s", "percentile-below-median"),
        ("lognormal(30 ms)", "s", "distribution-malformed"),
        ("lognormal(30 ms, )", "s", "distribution-malformed"),
        ("lognormal(30 ms, p95 30 ms)", "s", "percentile-below-median"),
        ("lognormal(30 ms, p50 60 ms)", "s", "percentile-malformed"),
        ("lognormal(30 ms, p100 60 ms)", "s", "percentile-malformed"),
        ("lognormal(30 ms, p40 20 ms)", "s", "percentile-malformed"),
        ("lognormal(30 ms, 60 ms)", "s", "percentile-malformed"),
        ("lognormal(-30 ms, p95 60 ms)", "s", "median-not-positive"),
        ("triangular(3 ms, 2 ms, 1 ms)", "s", "range-backwards"),
        ("exponential(0 s)", "s", "mean-not-positive"),
        ("gauss(30 ms, 5 ms)", "s", "distribution-unknown"),
        ("truncated(30 ms)", "s", "distribution-malformed"),
        ("truncated(1..2 s, 3..4 s)", "s", "truncated-to-nothing"),
        ("truncated(1..2 s, 4..3 s)", "s", "range-backwards"),
        ("truncated(" * 100 + "1..2 s" + ")" * 100, "s", "distribution-malformed"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_field(text, unit, code):
    with pytest.raises(UnitError) as caught:
        parse(text, unit, field="latency")
    assert caught.value.code == code
    assert str(caught.value).startswith("latency: ")


@pytest.mark.each("part", [" ", "1", ".", "a.b", "/", "1 ", "(,", "a", "- ", "1-", "truncated("])
def test_a_long_text_is_refused_without_ado(part):
    """Identity: it would take minutes by patterns that try every length of every blank."""
    with pytest.raises((UnitError, ReaderError)):
        parse(part * 20_000, "s")


COLUMNS = "when,rate [Mbit/s],rtt_ms,loss (%),count\n1,80,30,1,3\n2,95,31,2,5\n3,90.5,45,0.5,7\n"


@pytest.mark.each(
    ("column", "unit", "expected"),
    [
        # Identity: the cells, in SI units, in order.
        ("rate", "bit/s", [80e6, 90.5e6, 95e6]),
        ("rate [Mbit/s]", "bit/s", [80e6, 90.5e6, 95e6]),
        ("rtt_ms", "s", [0.030, 0.031, 0.045]),
        ("RTT", "s", [0.030, 0.031, 0.045]),
        ("loss", "ratio", [0.005, 0.01, 0.02]),
        ("count", "1", [3.0, 5.0, 7.0]),
    ],
)
def test_a_column_of_a_file_is_its_values(column, unit, expected, tmp_path):
    path = tmp_path / "line.csv"
    path.write_text(COLUMNS)
    text = f"{path}:{column}"
    assert is_distribution(text)
    found = parse(text, unit)
    assert found.ppf(np.array([0.1, 0.5, 0.9])) == pytest.approx(expected, rel=1e-12)


@pytest.mark.each(
    ("content", "column", "code", "line"),
    [
        (COLUMNS, "speed", "column-not-there", 1),
        (COLUMNS, "count", "column-without-unit", 1),
        (COLUMNS, "rtt_ms", "column-unit-of-other-kind", 1),
        (COLUMNS.replace("95", ""), "rate", "column-with-gaps", 3),
        (COLUMNS.replace("95", "fast"), "rate", None, 3),
        ("rate [Mbit/s],b\n", "rate", None, None),
    ],
)
def test_a_column_with_a_fault_is_refused_with_file_line_and_field(
    content, column, code, line, tmp_path
):
    path = tmp_path / "line.csv"
    path.write_text(content)
    with pytest.raises(ReaderError) as caught:
        parse(f"{path}:{column}", "bit/s")
    assert caught.value.file == "line.csv"
    assert code is None or caught.value.code == code
    assert caught.value.line == line or line is None


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(ReaderError):
        parse("nowhere.csv:rate", "bit/s")


def test_correlations_are_read_as_pairs():
    names = {"bandwidth": "bandwidth_bps", "latency": "latency_s"}
    assert parse_correlations("bandwidth,latency=-0.5", names) == {
        ("bandwidth_bps", "latency_s"): -0.5
    }
    for text in ("bandwidth=0.5", "bandwidth,latency", "bandwidth,latency=half"):
        with pytest.raises(UnitError) as caught:
            parse_correlations(text, names)
        assert caught.value.code == "correlation-malformed"
    with pytest.raises(DomainError) as refused:
        parse_correlations("bandwidth,size=0.5", names)
    assert refused.value.code == "not-a-choice"
