"""``netcalc doctor``: every line, with and without what it looks for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from netcalc.cli import doctor as module
from netcalc.cli.doctor import doctor, lines, link_accuracy
from netcalc.emulation import capabilities
from netcalc.errors import ExperimentError


@pytest.fixture(scope="module")
def report():
    result = CliRunner().invoke(doctor, ["--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_the_report_has_every_part(report):
    for name in ("wire", "way", "tun", "programs", "congestion_controls", "timer_resolution_s",
                 "clock_call_s", "exchange_call_s", "scheduling_delay_p99_s", "processor_ratio",
                 "link", "machine", "kernel"):  # fmt: skip
        assert name in report
    assert 0 < report["timer_resolution_s"] < 1e-3
    assert 0 < report["exchange_call_s"] < 1e-2


@pytest.mark.namespace
def test_the_link_is_measured_against_theory(report):
    if not report["wire"]:
        pytest.skip(report["why_not"])
    link = report["link"]
    # derived by hand: 2 * (5 ms + 528 * 8 bit / 1.544 Mbit/s)
    assert link["truth_s"] == pytest.approx(0.015471503)
    assert -1e-6 < link["error_min_s"] <= link["error_median_s"] <= link["error_p95_s"] < 0.1


def test_the_text_names_what_there_is(report):
    found = capabilities()
    text = "\n".join(lines(found, report))
    for word in ("namespaces", "TUN device", "IPv6", "programs", "clock", "scheduling", "link"):
        assert word in text


def test_what_runs_with_a_peer_is_named(report):
    """Linux has all of what a run with a peer can use."""
    assert {"echo", "bulk", "line-rate", "lockstep", "transactions", "small-writes"} <= set(
        report["peer"]["experiments"]
    )
    assert report["peer"]["lacks"] == []
    text = "\n".join(lines(capabilities(), report))
    assert "peer         serves and runs echo, " in text
    assert "does not" not in text


def test_a_browser_has_no_peers(report, monkeypatch):
    monkeypatch.setattr(module.sys, "platform", "emscripten")
    peer = module.with_a_peer()
    text = "\n".join(lines(capabilities(), {**report, "peer": peer}))
    assert "peer         no: this system has no sockets" in text


def test_another_netcalc_in_the_same_place_is_the_first_row(report):
    """The import cannot warn where the other one's ``__init__`` has taken the place of ours."""
    assert report["mixed_with"] == []
    mixed = {**report, "mixed_with": ["netcalc-2.0.1.dist-info"]}
    alone, (first, *others) = lines(capabilities(), report), lines(capabilities(), mixed)
    assert others == alone
    assert first.startswith("netcalc      another distribution has a package netcalc")
    assert "netcalc-2.0.1.dist-info" in first


def test_a_machine_without_namespaces_is_told_why(report):
    found = replace(capabilities(), wire=False, why_not="wire: refused here", way="", offload=False)
    link = link_accuracy(found)
    text = "\n".join(lines(found, {**report, "link": link}))
    assert "namespaces   no: wire: refused here" in text
    assert "link         not measured: wire: refused here" in text


def test_a_wire_that_breaks_is_said(monkeypatch):
    def broken(*_, **__):
        raise ExperimentError("server-ended", phase="wire", exit_code=9)

    monkeypatch.setattr(module, "echo", broken)
    found = replace(capabilities(), wire=True)
    assert "exit code 9" in link_accuracy(found)["why_not"]
