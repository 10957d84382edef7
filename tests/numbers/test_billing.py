"""The 95th percentile as providers compute it, from samples and from a file of them."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import numpy as np
import pytest

from netcalc.errors import DomainError, ReaderError, doubts
from netcalc.models.measuring.sample_statistics import billed_rate_bps, percentile
from netcalc.readers.columns import read_usage

# published: HNS, Computing the 95th Percentile; its month is 1 hour and 40 minutes long. [Mbit/s]
INBOUND = [
    0.139, 0.653, 0.201, 0.116, 0.084, 0.032, 0.047, 0.185, 0.198, 0.203,
    0.276, 0.370, 0.971, 0.233, 0.218, 0.182, 0.169, 0.126, 0.131, 0.157,
]  # fmt: skip
OUTBOUND = [
    1.347, 1.435, 1.229, 0.523, 0.438, 0.231, 0.347, 0.689, 0.940, 1.248,
    1.385, 1.427, 3.988, 1.265, 1.221, 1.013, 0.992, 0.874, 0.896, 1.002,
]  # fmt: skip
ROWS = list(zip(INBOUND, OUTBOUND, strict=True))


def bps(values):
    return [1e6 * value for value in values]


def csv(rows=ROWS, header="in [Mbit/s],out [Mbit/s]"):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""])


def test_the_published_example():
    found = billed_rate_bps(bps(INBOUND), outbound_bps=bps(OUTBOUND))
    assert found == pytest.approx(1.435e6)  # published
    assert billed_rate_bps(bps(INBOUND)) == pytest.approx(0.653e6)  # published: of inbound alone
    # derived: 0.95 x 19 = 18.05, so 1.435 + 0.05 x (3.988 - 1.435)
    assert percentile(bps(OUTBOUND), quantile=0.95) == pytest.approx(1.56265e6)


@pytest.mark.each("count", [1, 19, 20, 21, 39, 40, 100, 8640, 8928])
def test_samples_are_discarded_one_by_one(count):
    rng = random.Random(count)
    samples = [rng.uniform(0, 1e9) for _ in range(count)]
    left = sorted(samples)
    for _ in range(count * 5 // 100):  # derived: whole samples, by whole numbers
        left.pop()
    with doubts() as found:
        assert billed_rate_bps(samples) == left[-1]
    assert [doubt.code for doubt in found] == (["no-sample-discarded"] if count < 20 else [])


def test_a_missing_sample_makes_the_result_missing():
    with pytest.warns(match="not finite"):
        assert np.isnan(billed_rate_bps([1.0, np.nan] * 20))


@pytest.mark.each(
    ("code", "arguments"),
    [
        ("is-negative", {"inbound_bps": [1.0, -1.0]}),
        ("wrong-count-or-one", {"inbound_bps": [1.0, 2.0], "outbound_bps": [1.0, 2.0, 3.0]}),
        ("all-samples-discarded", {"inbound_bps": [1.0], "discarded_ratio": 1.0}),
        ("percent-for-ratio", {"inbound_bps": [1.0], "discarded_ratio": 5.0}),
    ],
)
def test_what_cannot_be_is_refused(code, arguments):
    inbound = arguments.pop("inbound_bps")
    with pytest.raises(DomainError) as error:
        billed_rate_bps(inbound, **arguments)
    assert error.value.code == code


def test_a_file_of_rates_and_one_of_bytes():
    usage = read_usage(csv())
    assert list(usage.rates_bps) == ["in", "out"]
    assert usage.rates_bps["out"].tolist() == pytest.approx(bps(OUTBOUND))
    # derived: 1 Mbit/s is 37.5 MB in 5 minutes
    counted = [(round(37.5e6 * a), round(37.5e6 * b)) for a, b in ROWS]
    usage = read_usage(csv(counted, "in_bytes,out_bytes"))
    assert usage.rates_bps["in"].tolist() == pytest.approx(bps(INBOUND))
    usage = read_usage(csv(counted, "in_bytes,out_bytes"), interval_s=600)
    assert usage.rates_bps["in"].tolist() == pytest.approx([value / 2 for value in bps(INBOUND)])


def test_times_say_the_interval():
    rows = [(f"2026-11-01 {k // 6:02d}:{k % 6}0:00", a, b) for k, (a, b) in enumerate(ROWS)]
    usage = read_usage(csv(rows, "time,in [Mbit/s],out [Mbit/s]"))
    assert usage.interval_s == 600.0
    assert list(usage.rates_bps) == ["in", "out"]


def stamped(*, without=()):
    rows = [(300 * k, a, b) for k, (a, b) in enumerate(ROWS) if k not in without]
    return csv(rows, "time [s],in [Mbit/s],out [Mbit/s]")


@pytest.mark.each(
    ("code", "line", "field", "text"),
    [
        ("sample-missing", 4, "out", csv([*ROWS[:2], (1, ""), *ROWS[3:]])),
        ("sample-missing", 4, "in", csv([*ROWS[:2], ("N/A", 1), *ROWS[3:]])),
        ("sample-negative", 4, "out", csv([*ROWS[:2], (1, -2), *ROWS[3:]])),
        ("sample-not-whole", 4, None, csv([*ROWS[:2], (1,), *ROWS[3:]])),
        ("column-without-unit", 1, "in", csv(header="in,out")),
        ("column-without-unit", 1, "out", csv(header="in [Mbit/s],out")),
        ("ambiguous-column-unit", 1, "in", csv(header="in [mbps],out [Mbit/s]")),
        ("interval-uneven", 5, "time", stamped(without=[3])),
        ("no-direction", 1, None, csv(header="in [ms],out [ms]")),
        ("too-many-directions", 1, None, csv([(1, 2, 3)] * 9, "a [MB/s],b [MB/s],c [MB/s]")),
    ],
)  # fmt: skip
def test_files_that_would_bill_wrong_are_refused(code, line, field, text):
    with pytest.raises(ReaderError) as error:
        read_usage(text)
    assert (error.value.code, error.value.line, error.value.field) == (code, line, field)


def run(*arguments):
    command = [sys.executable, "-m", "netcalc", "billing", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_prints_both_percentiles(tmp_path):
    file = tmp_path / "month.csv"
    file.write_text(csv(), encoding="utf-8")
    shown = run(file)
    assert shown.returncode == 0
    assert "1.435 Mbit/s (layer not stated)" in shown.stdout  # published
    assert "unknown" not in shown.stdout
    assert json.loads(run(file, "--json").stdout)["layer"] == "unknown"
    assert "1.563 Mbit/s" in shown.stdout  # derived, above
    found = json.loads(run(file, "--json").stdout)
    assert found["billed_bps"] == pytest.approx(1.435e6)
    assert found["billed_direction"] == "out"


def test_the_command_refuses_with_line_and_field(tmp_path):
    file = tmp_path / "month.csv"
    file.write_text(csv([*ROWS[:2], (1, ""), *ROWS[3:]]), encoding="utf-8")
    shown = run(file)
    assert shown.returncode == 2
    assert "line 4, field out" in shown.stderr
