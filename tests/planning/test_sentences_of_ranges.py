"""What sentences of plans say of ranges, ratios, and numbers that nobody typed."""

from __future__ import annotations

import pytest

from netcalc import planning
from netcalc.errors import DomainError
from netcalc.uncertain import uniform

OFFICE = {"user_bps": 5e6, "active_ratio": 0.1}


def test_the_percentile_in_a_sentence_is_behind_its_label():
    made = planning.voice(uniform(60.0, 80.0), holding_s=1.0)
    high = made.answer("trunk_count").spread.percentile(95.0)
    assert made.sentence.endswith(
        f"; trunks: up to {high:.0f} at the 95th percentile of these ranges."
    )


def test_an_oversubscription_is_a_ratio_to_one():
    """Derived: 500 users of 5 Mbit/s on 1 Gbit/s."""
    made = planning.link(500, bandwidth_bps=1e9, **OFFICE)
    assert (made.answer("oversubscription").label, made.answer("oversubscription").text) == (
        "oversubscription", "2.5 : 1",
    )  # fmt: skip


def test_a_load_that_needs_too_many_trunks_is_refused_by_the_name_of_the_load():
    """Published: the models of Erlang take up to 10,000,000 servers."""
    with pytest.raises(DomainError) as refused:
        planning.voice(1e7, holding_s=1.0, blocking_ratio=1e-6)
    assert (refused.value.code, refused.value.name) == ("too-many-trunks", "calls_per_second")
    assert refused.value.values["value"] == 1e7


def test_a_load_whose_curve_would_go_beyond_the_model_is_planned():
    """Derived: at high load about 1 % of the calls more than fit are blocked."""
    made = planning.voice(1e7, holding_s=1.0)
    assert made["trunk_count"] == pytest.approx(0.99e7, rel=1e-3)
    assert made.chart.at.max() <= 1e7


@pytest.mark.each("payload_bytes, rtt_s", [(1e3, 0.04), (1e5, 0.1)])
def test_no_path_shorter_than_the_map_shows_is_offered(payload_bytes, rtt_s):
    """Derived: 8 us of a frame against 40 ms of light is no place to put a server."""
    made = planning.buy(payload_bytes, bandwidth_bps=1e9, rtt_s=rtt_s)
    near = [one.change.values["rtt_s"] for one in made.steps if one.change.code == "step-near"]
    assert all(one >= 0.01 * rtt_s for one in near)
    assert not made.chart.step[1] < 0.01 * rtt_s
