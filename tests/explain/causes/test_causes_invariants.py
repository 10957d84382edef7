"""What holds of every cause: its words, its shares, its JSON, and what a change of scale does."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import script as s

from netcalc.explain import CAUSES, Cause, Known
from netcalc.explain.causes.captures import explain_capture
from netcalc.explain.causes.cause import UNKNOWN_CAUSE
from netcalc.explain.causes.intervals import CODES, OPEN
from netcalc.messages import MESSAGES

A, B, MSS = s.A, s.B, s.MSS


def scripts(scale=1.0):
    """Return flows of several causes whose times are those at scale 1 times a factor."""
    window = s.Script(0.05 * scale, window=20 * MSS)
    window.transfer(window.open(), 1200, window=lambda acked: 20, offered=20 * MSS)
    line = s.Script(0.04 * scale)
    line.transfer(line.open(), 2000, window=lambda acked: 76, line_bps=8e6 / scale)
    growing = s.Script(0.1 * scale)
    growing.transfer(growing.open(), 200, window=lambda acked: 10 + acked)
    pauses = s.Script(0.02 * scale)
    opened_s = pauses.open()
    for number in range(9):
        pauses.transfer(opened_s + 0.5 * scale * number, 20, window=lambda acked: 20,
                        first=1 + 20 * MSS * number)  # fmt: skip
    return {
        "receiver-window": window, "line": line, "slow-start": growing, "sender-program": pauses,
    }  # fmt: skip


NAMES = ("receiver-window", "line", "slow-start", "sender-program")


@pytest.mark.each("code", CAUSES)
def test_every_cause_has_its_words(code):
    for key in (f"cause-{code}", f"name-{code}", f"test-{code}"):
        assert MESSAGES[key]
    cause = Cause(code=code, share_of_time=0.8, duration_s=2.0, shares={code: 0.8, "line": 0.2})
    assert cause.sentence.endswith(".")
    assert cause.sentence[0] == cause.sentence[0].upper()
    assert str(cause.test)
    if code != UNKNOWN_CAUSE:
        assert "80%" in cause.sentence


def test_the_page_on_causes_has_every_code_and_field():
    page = (Path(__file__).parents[3] / "docs" / "causes.md").read_text(encoding="utf-8")
    assert [code for code in CAUSES if f"`{code}`" not in page] == []
    fields = explain_capture(scripts()["line"].trace(A), Known())[0].cause.as_dict()
    assert [name for name in fields if f"`{name}`" not in page] == []


@pytest.mark.each("code", CODES)
def test_every_interval_has_a_name_and_is_a_cause_or_open(code):
    assert MESSAGES[f"name-{code}"]
    assert code in CAUSES or code in OPEN


@pytest.mark.each("code", NAMES)
@pytest.mark.parametrize("place", [A, B])
def test_shares_add_to_one_and_are_those_of_the_finding_s_json(code, place):
    finding = explain_capture(scripts()[code].trace(place), Known())[0]
    said = json.loads(json.dumps(finding.as_dict()))
    assert said["cause"] == finding.cause.code == code
    assert sum(said["shares_of_time"].values()) == pytest.approx(1.0, abs=1e-9)
    assert said["share_of_time"] == said["shares_of_time"][code]
    assert list(said["shares_of_time"].values()) == sorted(
        said["shares_of_time"].values(), reverse=True
    )
    assert said["confidence"] in ("high", "medium", "low")
    assert said["schema"] >= 1
    assert said["evidence"]
    for fact in said["evidence"]:
        assert {"fact", "value", "unit", "interval", "from"} <= set(fact)
        assert math.isfinite(fact["value"])
        assert fact["from"]
        if fact["interval"] is not None:
            low, high = fact["interval"]
            assert low <= fact["value"] <= high
        assert ("layer" in fact) == (fact["unit"] == "bit/s")
    for other in said["counterfactuals"]:
        assert {"code", "values", "text"} <= set(other)


def test_a_larger_window_brings_its_share_of_the_round_trip():
    """20 segments are 20 KiB: the next window that is twice as large is 64 KiB."""
    cause = explain_capture(scripts()["receiver-window"].trace(A), Known())[0].cause
    (other,) = cause.counterfactuals
    assert other.values["rate_bps"] == pytest.approx(8 * 65536 / 0.05, rel=0.01)


@pytest.mark.each("code", NAMES)
@pytest.mark.parametrize("place", [A, B])
def test_twice_as_slow_is_the_same_cause_at_half_the_rate(code, place):
    once = explain_capture(scripts()[code].trace(place), Known())[0].cause
    twice = explain_capture(scripts(2.0)[code].trace(place), Known())[0].cause
    assert once.code == twice.code == code
    assert twice.share_of_time == pytest.approx(once.share_of_time, abs=0.02)
    assert twice.duration_s == pytest.approx(2 * once.duration_s, rel=0.01)
    assert twice.sign("rate_bps") == pytest.approx(once.sign("rate_bps") / 2, rel=0.01)
    assert twice.sign("base_rtt_s") == pytest.approx(2 * once.sign("base_rtt_s"), rel=0.01)
    if code == "line":
        assert twice.sign("line_bps") == pytest.approx(once.sign("line_bps") / 2, rel=0.01)


def test_other_hosts_and_another_day_change_nothing():
    """Addresses, ports and the time of the day are no evidence."""
    here = scripts()["receiver-window"]
    there = scripts()["receiver-window"]
    there.hosts, there.port, there.server_port = ("203.0.113.5", "192.0.2.77"), 51111, 12345
    first = explain_capture(here.trace(A), Known())[0].cause
    second = explain_capture(there.trace(A, shift_s=86_400.0), Known())[0].cause
    assert first.code == second.code
    for code, share in first.shares.items():
        assert second.shares[code] == pytest.approx(share, abs=1e-3)
