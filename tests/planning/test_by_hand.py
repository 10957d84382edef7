"""Plans worked out by hand: each answer and each step that would change it."""

from __future__ import annotations

import math

import pytest

from netcalc import planning

YEAR_S = 365.25 * 86_400


def test_a_link_for_500_users():
    """Derived: of 500 users at 10 % no more than 61 send in 95 % of the time (binomial sums in
    rational numbers), 305 Mbit/s; in three years 1.25^3 times as much, on one of two links at 80 %;
    the next rate of Ethernet is 1 Gbit/s."""
    made = planning.link(
        500, user_bps=5e6, active_ratio=0.1, annual_growth=0.25, link_count=2, failed_count=1
    )
    by_hand = {
        "link_bps": 1e9,
        "demand_bps": 305e6,
        "mean_demand_bps": 500 * 0.1 * 5e6,
        "end_needed_bps": 305e6 * 1.25**3 / 0.8,
        "busy_utilization": 305e6 / 2e9,
        "busy_failed_utilization": 305e6 / 1e9,
        "oversubscription": 500 * 5e6 / 2e9,
        "fills_s": YEAR_S * math.log(0.8e9 / 305e6) / math.log(1.25),
    }
    for name, value in by_hand.items():
        assert made[name] == pytest.approx(value, rel=1e-12), name
    steps = {one.change.code: one for one in made.steps}
    assert {code: one.value for code, one in steps.items()} == pytest.approx({
        "step-link-size": YEAR_S * math.log(2e9 / 305e6) / math.log(1.25),  # of 2.5 Gbit/s
        "step-link-more": YEAR_S * math.log(1.6e9 / 305e6) / math.log(1.25),  # two of three
        "step-link-growth": YEAR_S * math.log(0.8e9 / 305e6) / math.log(1.125),
    })  # fmt: skip
    assert steps["step-link-more"].change.values["links"] == 3
    assert steps["step-link-growth"].change.values["growth"] == pytest.approx(0.125)


def test_a_link_that_shrinks_needs_what_it_needs_now():
    """Derived: less in three years, so that today counts; it is never full."""
    made = planning.link(500, user_bps=5e6, active_ratio=0.1, annual_growth=-0.25)
    assert made["end_needed_bps"] == pytest.approx(305e6 / 0.8)
    assert (made["fills_s"], made.steps) == (math.inf, ())


def test_a_link_that_is_enough_for_just_as_long():
    """Derived: 100 users who always send 1 Mbit/s, doubled each year, fill 1 Gbit/s in log2(10)."""
    given = {"user_bps": 1e6, "active_ratio": 1.0, "annual_growth": 1.0, "bandwidth_bps": 1e9}
    lasts_s = YEAR_S * math.log2(10)
    for horizon_s, code in ((0.999 * lasts_s, "plan-link"), (1.001 * lasts_s, "plan-link-short")):
        made = planning.link(100, **given, target_utilization=1.0, horizon_s=horizon_s)
        assert made["fills_s"] == pytest.approx(lasts_s)
        assert made.said.code == code


def test_seventy_five_trunks():
    """Derived: 60 erlangs at 1 % are 75 lines (published tables of Erlang B); packets of 40 bytes
    of headers in 38 of Ethernet, with 160 bytes each 20 ms, 320 each 40 ms, or 20 of G.729."""
    made = planning.voice(1200 / 3600, holding_s=180, codec_name="G.711")
    assert made["trunk_count"] == 75
    assert made["trunks_line_bps"] == pytest.approx(75 * 8 * (160 + 78) / 0.02)
    steps = {one.change.code: one for one in made.steps}
    assert {code: one.value for code, one in steps.items()} == pytest.approx({
        "step-voice-interval": 75 * 8 * (320 + 78) / 0.04,
        "step-voice-codec": 75 * 8 * (20 + 78) / 0.02,
    })  # fmt: skip
    assert steps["step-voice-interval"].change.values == {"interval_s": 0.04, "more_s": 0.02}
    # with the codec of the step, the other one is left
    made = planning.voice(1200 / 3600, holding_s=180, codec_name="G.729")
    assert [one.change.code for one in made.steps] == ["step-voice-interval"]
    assert made.steps[0].value == pytest.approx(75 * 8 * (40 + 78) / 0.04)


def test_the_window_that_fills_the_line():
    """Derived: 1 Gbit/s x 40 ms / 8 of three flows is 1,666,666.7 bytes each."""
    made = planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=65_536, flow_count=3)
    steps = {one.change.code: one for one in made.steps}
    window = steps["step-window"].change.values["window_bytes"]
    assert window == 1_666_667
    larger = planning.transfer(
        1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=window, flow_count=3
    )
    assert larger["transfer_s"] == pytest.approx(steps["step-window"].value)  # identity
    assert "step-window" not in {one.change.code for one in larger.steps}


def test_a_buffer_for_one_flow_of_cubic():
    """Published: (1 - 0.7) / 0.7 of the bandwidth-delay product keep the line busy (CUBIC's
    decrease of RFC 9438, with the sawtooth of Appenzeller et al., 2004): 3/7 of 125 MB."""
    made = planning.buffer(10e9, rtt_s=0.1, flow_count=1)
    (step,) = made.steps
    assert step.change.code == "step-buffer-cubic"
    assert step.value == pytest.approx(125e6 * 3 / 7, rel=1e-9)
    assert planning.buffer(10e9, rtt_s=0.1, flow_count=10_000).steps == ()


@pytest.mark.each(
    ("name", "interval_s", "voice_bytes"),
    # published: RFC 3551, 4.5 (8, 8, 4, 2 and 1 bits a sample of 8 kHz; G.723.1: 24 and 20 bytes),
    # RFC 3951 (iLBC: 38 bytes in 20 ms, 50 in 30)
    [("G.711", 0.02, 160), ("G.722", 0.02, 160), ("G.726", 0.02, 80), ("G.726-24", 0.02, 60),
     ("G.728", 0.02, 40), ("G.729", 0.02, 20), ("G.723.1", 0.03, 24), ("G.723.1-5.3", 0.03, 20),
     ("iLBC", 0.02, 38), ("iLBC-13.3", 0.03, 50)],
)  # fmt: skip
def test_what_a_codec_puts_into_a_packet(name, interval_s, voice_bytes):
    made = planning.voice(1 / 3, codec_name=name, interval_s=interval_s)
    assert made["packet_bytes"] == voice_bytes + 40
    assert made["call_ip_bps"] == pytest.approx((voice_bytes + 40) * 8 / interval_s)
    twice = planning.voice(1 / 3, codec_name=name, interval_s=2 * interval_s)
    assert twice["packet_bytes"] == 2 * voice_bytes + 40
