"""Parameters of a fit to a file as inputs: the same fit, its covariance, its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import fit, planning, readers, uncertain
from netcalc.cli import commands
from netcalc.errors import DomainError, NetcalcError, ReaderError, UnitError
from netcalc.uncertain.text import correlations_of_fits

PING = Path(__file__).parents[2] / "data" / "ping_emulated_t1.txt"
RATE, RTT = f"@{PING}:bandwidth", f"@{PING}:base_rtt"


def ping_of(points):
    """Write what ping prints for echoes of some sizes and times."""
    return "\n".join(
        f"PING 192.0.2.2 (192.0.2.2) {size}({size + 28}) bytes of data.\n"
        f"{size + 8} bytes from 192.0.2.2: icmp_seq=1 ttl=64 time={ms} ms\n\n"
        "--- 192.0.2.2 ping statistics ---\n"
        "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
        f"rtt min/avg/max/mdev = {ms}/{ms}/{ms}/0.000 ms\n"
        for size, ms in points
    )


def test_it_is_the_fit_that_python_makes():
    """Identity: the same draws as of the parameters of the fit."""
    line = fit.rtt_against_size(readers.read(PING))
    shares = np.linspace(0.01, 0.99, 99)
    for text, unit, name in ((RATE, "bit/s", "bandwidth_bps"), (RTT, "s", "base_rtt_s")):
        given, expected = uncertain.parse(text, unit), uncertain.fitted(line)[name]
        assert given.ppf(shares) == pytest.approx(expected.ppf(shares))
        assert text in given.text(unit)


def test_two_parameters_of_a_file_are_correlated_as_its_fit_has_them():
    line = fit.rtt_against_size(readers.read(PING))
    both = {"a": uncertain.parse(RTT, "s"), "b": uncertain.parse(RATE, "bit/s")}
    found = correlations_of_fits(both)["a", "b"]
    names = list(line.params)
    i, j = names.index("base_rtt_s"), names.index("bandwidth_bps")
    covariance = line.covariance
    expected = covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j])
    assert found == pytest.approx(expected)
    assert found > 0.5  # derived: a steeper slope, a lower rate, has a smaller intercept


def test_a_measured_slope_is_a_band_in_a_plan():
    """Derived: the line limits; its share of payload of the fitted rate and of its percentiles."""
    done = CliRunner().invoke(
        commands, ["plan", "transfer", "1MB", "--rate", RATE, "--rtt", RTT, "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["answers"]["line_limit_bps"]
    rate = uncertain.parse(RATE, "bit/s").ppf(np.array([0.05, 0.5, 0.95]))
    ends = np.array([found["p5"], found["median"], found["p95"]])
    assert ends / ends[1] == pytest.approx(rate / rate[1], rel=1e-3)
    # the same by Python
    page = planning.transfer(
        1e6, bandwidth_bps=uncertain.parse(RATE, "bit/s"), rtt_s=uncertain.parse(RTT, "s")
    )
    assert page.answer("line_limit_bps").spread.percentile(5.0) == found["p5"]
    assert page.drivers.keys() == {"bandwidth_bps", "rtt_s"}


def test_a_file_that_has_changed_is_fitted_again(tmp_path):
    """Derived: 16 bits of an echo per byte of slope: 1 and 2 ms in 1000 bytes."""
    path = tmp_path / "ping.txt"
    noise = (0.003, -0.003, -0.003, 0.003)
    for slope, rate in ((1.0, 16e6), (2.0, 8e6)):
        sizes = (100, 500, 900, 1300)
        path.write_text(
            ping_of([(s, round(10 + slope * s / 1000 + e, 6)) for s, e in zip(sizes, noise,
                                                                          strict=True)])
        )  # fmt: skip
        middle = uncertain.parse(f"@{path}:bandwidth", "bit/s").ppf(np.array(0.5))
        assert float(middle) == pytest.approx(rate, rel=0.01)


@pytest.mark.each(
    ("text", "unit", "kind", "code"),
    [
        (f"@{PING}:bandwidth", "s", UnitError, "fit-parameter-of-other-unit"),
        (f"@{PING}:base_rtt", "bit/s", UnitError, "fit-parameter-of-other-unit"),
        (f"@{PING}:jitter", "s", UnitError, "fit-parameter-unknown"),
        (f"@{PING}:header_bytes", "byte", UnitError, "fit-parameter-unknown"),
        ("@missing.txt:bandwidth", "bit/s", ReaderError, "no-such-file"),
        (f"@{PING.with_name('mbufs.csv')}:bandwidth", "bit/s", ReaderError, "nothing-to-fit"),
    ],
)
def test_what_does_not_fit_is_refused(text, unit, kind, code):
    with pytest.raises(NetcalcError) as refused:
        uncertain.parse(text, unit, field="rate")
    assert isinstance(refused.value, kind)
    assert refused.value.code == code


def test_echoes_of_one_size_have_no_rate(tmp_path):
    path = tmp_path / "ping.txt"
    path.write_text(ping_of([(56, 10.1), (56, 10.2), (56, 10.3)]))
    with pytest.raises(DomainError) as refused:
        uncertain.parse(f"@{path}:bandwidth", "bit/s")
    assert refused.value.code == "fit-without-value"
