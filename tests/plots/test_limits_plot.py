"""The figure of limits: a bar for each, a line at what was measured."""

from __future__ import annotations

import pytest

from netcalc.errors import DomainError
from netcalc.explain import Evidence, Finding, Known, explain_evidence
from netcalc.plots import limits, save_html, svg

FOUND = explain_evidence(
    Evidence(label="<upload>", rate_bps=6e6, rtt_s=0.08, loss_ratio=1e-4),
    Known(line_bps=1e9, window_bytes=65535),
)


def test_each_limit_has_a_bar_at_its_value():
    plot = limits([FOUND])
    bars, line = plot.sources["limits, <upload>"], plot.sources["measured, <upload>"]
    assert list(bars.data["right"]) == [one.value for one in FOUND.limits]
    assert list(line.data["x"]) == [6e6, 6e6]
    assert plot.description == FOUND.sentence


def test_several_findings_are_charts_of_their_own(tmp_path):
    ping = explain_evidence(Evidence(rate_bps=1e6), Known(line_bps=1e7))
    plot = limits([FOUND, ping, ping])
    assert len(plot.sources) == 6
    drawn = svg(plot)
    assert "the window" in drawn
    assert "<upload>" not in drawn, "text of a file is escaped"
    assert save_html(plot, tmp_path / "x.html").stat().st_size > 10_000


def test_nothing_to_draw_is_refused():
    with pytest.raises(DomainError) as refused:
        limits([Finding()])
    assert refused.value.code == "no-limits-to-draw"
