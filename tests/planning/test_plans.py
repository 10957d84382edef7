"""Plans: second methods, limits, steps that help, ranges, what JSON has, what is refused."""

from __future__ import annotations

import json
import math
from datetime import date

import numpy as np
import pytest

from netcalc import planning, plots
from netcalc.errors import DomainError, DoubtWarning, NetcalcError
from netcalc.models.tcp.transfer_time import transfer_time_s
from netcalc.planning.page import date_after, quantity
from netcalc.samples import json_ready
from netcalc.uncertain import normal, uniform

YEAR_S = 365.25 * 86_400

PLANS = {
    "backup": lambda: planning.backup(
        50e12, window_s=28_800.0, bandwidth_bps=1e9, rtt_s=0.04, change_ratio=0.03, loss_ratio=1e-5
    ),
    "buffer": lambda: planning.buffer(10e9, rtt_s=1e-4, sender_count=40, burst_bytes=64e3),
    "buy": lambda: planning.buy(1e9, bandwidth_bps=1e9, rtt_s=0.04, loss_ratio=1e-4),
    "host": lambda: planning.host(100e9, rtt_s=0.088),
    "link": lambda: planning.link(
        500, user_bps=5e6, active_ratio=0.1, annual_growth=0.25, start=date(2026, 1, 1)
    ),
    "transfer": lambda: planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=65_536),
    "tunnel": lambda: planning.tunnel("vxlan4+wireguard4"),
    "voice": lambda: planning.voice(1 / 3, bandwidth_bps=5e6, stack="wireguard4"),
}


@pytest.fixture(scope="module", params=PLANS)
def plan(request):
    return PLANS[request.param]()


def test_every_plan_is_a_page_of_at_most_a_screen(plan):
    lines = str(plan).split("\n")
    assert len(lines) <= 24
    assert lines[0] == plan.sentence
    assert plan.sentence.endswith(".")


def test_every_rate_of_a_page_names_its_layer(plan):
    rates = [one for one in plan.answers if one.unit == "bit/s"]
    assert all(one.layer for one in rates)
    assert all(f"({one.layer})" in str(plan) for one in rates)


def test_json_has_the_documented_keys_with_units(plan):
    document = json.loads(json.dumps(json_ready(plan.as_dict())))
    assert list(document) == [
        "plan", "sentence", "inputs", "answers", "binding", "binding_shares", "steps", "drivers",
        "assumptions", "notices", "sources", "settings",
    ]  # fmt: skip
    for one in (*document["answers"].values(), *document["inputs"].values(), *document["steps"]):
        assert {"unit", "value"} <= set(one)
    assert document["sources"]


def test_every_plan_is_drawn_with_its_point(plan):
    drawn = plots.plan(plan)
    assert "<svg" in plots.svg(drawn)
    assert len(drawn.sources) >= 2


def test_every_step_makes_the_answer_better():
    """Identity: the time of each step is below that of the plan; a link lasts longer."""
    for name in ("transfer", "backup", "buy"):
        made = PLANS[name]()
        assert made.steps
        assert all(one.value < made.answers[0].value for one in made.steps)
    link = PLANS["link"]()
    assert all(one.value > link["fills_s"] for one in link.steps)


def test_a_transfer_is_that_of_the_one_model():
    """Identity: the page does not compute a time of its own."""
    shape = {"bandwidth_bps": 1e8, "rtt_s": 0.03, "loss_ratio": 1e-3, "flow_count": 2}
    made = planning.transfer(1e8, **shape)
    assert made["transfer_s"] == pytest.approx(float(transfer_time_s(1e8, **shape)))


def test_the_lowest_ceiling_binds_and_a_short_transfer_is_its_start():
    path = {"bandwidth_bps": 1e9, "rtt_s": 0.04}
    found = {
        "line_limit_bps": planning.transfer(1e10, **path),
        "window_limit_bps": planning.transfer(1e10, window_bytes=65_536, loss_ratio=1e-9, **path),
        "loss_limit_bps": planning.transfer(1e10, window_bytes=1e9, loss_ratio=1e-3, **path),
        "start_s": planning.transfer(1e4, **path),
    }
    assert {name: made.binding for name, made in found.items()} == {name: name for name in found}


def test_the_limit_of_the_loss_is_that_of_mathis():
    """Published: Mathis et al. 1997, table 1: 1.31 with an ACK for each segment, SACK and random
    losses; at this loss there are no timeouts."""
    made = planning.transfer(
        1e10, bandwidth_bps=1e10, rtt_s=0.1, loss_ratio=1e-4, congestion_control="reno"
    )
    mathis_bps = 8 * 1448 / 0.1 * 1.31 / 1e-4**0.5
    assert made["loss_limit_bps"] == pytest.approx(mathis_bps, rel=1e-3)


def test_data_that_would_fit_fits_the_window_exactly():
    """Identity: a backup of the largest data takes the whole window."""
    path = {"window_s": 3600.0, "bandwidth_bps": 1e9, "rtt_s": 0.02, "change_ratio": 0.1}
    most = planning.backup(1e12, reduction_factor=2.0, **path)["largest_bytes"]
    again = planning.backup(most, reduction_factor=2.0, **path)
    assert again["window_utilization"] == pytest.approx(1.0, rel=1e-3)


def test_a_backup_names_first_what_makes_it_fit():
    made = PLANS["backup"]()
    assert made["window_utilization"] > 1.0
    fits = [one.value <= 28_800.0 for one in made.steps]
    assert fits[0]
    assert fits == sorted(fits, reverse=True)


def test_a_link_is_full_when_the_demand_has_grown_to_the_target():
    """Derived: year by year until the demand reaches 80 % of the link."""
    made = planning.link(
        500, user_bps=5e6, active_ratio=0.1, annual_growth=0.25, start=date(2026, 1, 1)
    )
    demand, days = made["demand_bps"], 0
    while demand < 0.8 * made["link_bps"]:
        demand, days = demand * 1.25 ** (1 / 365.25), days + 1
    assert made["fills_s"] == pytest.approx(days * 86_400, abs=86_400)
    on = date.fromisoformat(str(made.answer("fill_date").value))
    assert abs((on - date(2026, 1, 1)).days - days) <= 1


def test_two_links_carry_the_load_when_one_of_them_fails():
    """Identity: with one of two gone the other one has twice the utilization."""
    made = planning.link(500, user_bps=5e6, active_ratio=0.1, link_count=2, failed_count=1)
    assert made["busy_failed_utilization"] == pytest.approx(2 * made["busy_utilization"])
    assert made["busy_failed_utilization"] <= 0.8


def test_the_mix_in_a_tunnel_is_that_of_its_packets_by_hand():
    """Derived: GRE adds 24 bytes; frames of 7 x 40, 4 x 576 and a packet cut to 1476 bytes."""
    wire = 7 * (max(40 + 24 + 18, 64) + 20) + 4 * (576 + 24 + 38) + (1500 + 38)
    made = planning.tunnel("gre", bandwidth_bps=1e9)
    assert made["mix_efficiency"] == pytest.approx((7 * 40 + 4 * 576 + 1476) / wire)
    assert made["mix_rate_pps"] == pytest.approx(12 * 1e9 / (8 * wire))


def test_a_larger_mtu_of_the_path_carries_whole_packets():
    """Identity: at the MTU of the step the tunnel has the MTU of the path before it."""
    (step,) = planning.tunnel("esp4:aes-cbc/hmac-sha256-128").steps
    outer = step.change.values["mtu_bytes"]
    stack = "esp4:aes-cbc/hmac-sha256-128"
    assert planning.tunnel(stack, mtu_bytes=outer)["tunnel_mtu_bytes"] >= 1500
    assert planning.tunnel(stack, mtu_bytes=outer - 1)["tunnel_mtu_bytes"] < 1500


def test_a_burst_leaves_what_the_line_has_not_sent():
    """Derived: 40 senders of 64 kB at 10 Gbit/s send 51.2 us, in which the line sends 64 kB."""
    made = PLANS["buffer"]()
    assert made["burst_buffer_bytes"] == pytest.approx(39 * 64e3)
    assert made.binding == "burst_buffer_bytes"
    assert made["buffer_delay_s"] == pytest.approx(8 * 39 * 64e3 / 10e9)


def test_the_line_of_a_voice_plan_that_is_too_small_blocks_more():
    made = PLANS["voice"]()
    assert made.binding == "line_call_count"
    assert made["line_blocking_ratio"] > made["blocking_ratio"]


# Ranges


def test_a_range_gives_percentiles_that_hold_the_middle():
    made = planning.voice(uniform(1000 / 3600, 1400 / 3600), holding_s=normal(180.0, 20.0))
    answer = made.answer("trunk_count")
    assert answer.spread is not None
    low, middle, high = (answer.spread.percentile(p) for p in (5.0, 50.0, 95.0))
    assert low < middle < high
    assert made["trunk_count"] == 75  # at the medians: 60 erlang
    assert set(made.drivers) == {"calls_per_second", "holding_s"}
    assert "95th percentile" in made.sentence


def test_a_range_of_the_offered_load_gives_the_trunks_of_its_ends():
    """Derived: trunks grow with the load, so their percentiles are those of the load's."""
    made = planning.voice(uniform(40.0, 80.0), holding_s=1.0)
    spread = made.answer("trunk_count").spread
    for percent in (5.0, 50.0, 95.0):
        exact = planning.voice(40.0 + 0.4 * percent, holding_s=1.0)["trunk_count"]
        assert spread.percentile(percent) == pytest.approx(exact, abs=1.0)


def test_the_same_seed_gives_the_same_page():
    pages = [str(planning.buffer(uniform(1e9, 2e9), rtt_s=0.1, seed=3)) for _ in range(2)]
    assert pages[0] == pages[1]


def test_with_ranges_the_limit_that_binds_is_a_share_of_the_draws():
    """Derived: the window of 500 kB binds above 4.24 ms at 941.5 Mbit/s, the line below."""
    made = planning.transfer(1e11, bandwidth_bps=1e9, rtt_s=uniform(2e-3, 6e-3), window_bytes=500e3)
    edge_s = 8 * 500e3 / (1e9 * 1448 / 1538)
    assert made.binding_shares["window_limit_bps"] == pytest.approx(
        (6e-3 - edge_s) / 4e-3, abs=0.01
    )
    assert sum(made.binding_shares.values()) == pytest.approx(1.0)


def test_a_backup_of_ranges_says_in_how_many_draws_it_fits():
    """Derived: 1 Gbit/s carries 3.389e12 bytes in 8 h, and the data is 3 to 4 TB alike."""
    made = planning.backup(uniform(3e12, 4e12), window_s=28_800.0, bandwidth_bps=1e9, rtt_s=1e-3)
    most = 1e9 / 8 * 1448 / 1538 * 28_800
    assert made["fit_ratio"] == pytest.approx((most - 3e12) / 1e12, abs=0.01)


@pytest.mark.slow
def test_with_ranges_one_link_is_bought_that_is_enough_for_95_percent():
    made = planning.link(
        500, user_bps=uniform(4e6, 16e6), active_ratio=0.1, annual_growth=uniform(0.1, 0.4),
        start=date(2026, 1, 1),
    )  # fmt: skip
    needed = made.answer("end_needed_bps").spread
    assert needed.percentile(95.0) <= made["link_bps"]
    assert made.answer("link_bps").spread is None
    early = date.fromisoformat(str(made.answer("early_fill_date").value))
    assert early < date.fromisoformat(str(made.answer("fill_date").value))


def test_what_cannot_be_of_a_range_is_left_out_where_the_caller_says_so():
    """Published: a normal distribution is below its mean less one deviation in 15.87 %."""
    given = {"window_s": 28_800.0, "bandwidth_bps": 1e9, "rtt_s": 0.01}
    with pytest.raises(DomainError) as refused:
        planning.backup(normal(1e12, 1e12), **given)
    assert refused.value.values["share"] == pytest.approx(0.1587, abs=1e-4)
    made = planning.backup(normal(1e12, 1e12), truncate=True, **given)
    assert made.notices[0].code == "draws-truncated"
    assert made.answer("changed_bytes").spread.percentile(0.0) > 0.0


def test_of_a_tunnel_the_smaller_mtu_of_a_range_is_the_worse_one():
    """Identity: 5 % of 1280 to 1500 B is 1291 B, of which WireGuard takes 60."""
    made = planning.tunnel("wireguard4", mtu_bytes=uniform(1280.0, 1500.0))
    assert made.answer("tunnel_mtu_bytes").spread.percentile(5.0) == pytest.approx(1231, abs=1)
    assert "down to 1231 B" in made.sentence


def test_a_range_is_drawn_with_its_distribution():
    drawn = plots.plan(planning.buffer(uniform(1e9, 2e9), rtt_s=0.1))
    assert "draws" in drawn.sources


# What to buy


def test_the_map_names_at_the_point_what_the_plan_names():
    made = PLANS["buy"]()
    chart = made.chart
    row = int(np.argmin(np.abs(np.log(chart.y_at / chart.point[1]))))
    column = int(np.argmin(np.abs(np.log(chart.x_at / chart.point[0]))))
    assert chart.limits[chart.index[row, column]] == made.binding == "loss_limit_bps"


def test_the_step_of_the_map_reaches_another_limit_by_one_input():
    made = PLANS["buy"]()
    x, y = made.chart.step
    assert x == 1e9
    assert y < 0.04  # a nearer server, as a faster line does not help against loss
    there = planning.transfer(1e9, bandwidth_bps=x, rtt_s=y, loss_ratio=1e-4)
    assert there.binding != made.binding


def test_each_step_out_of_a_limit_ends_at_another_one():
    made = planning.buy(1e9, bandwidth_bps=1e9, rtt_s=0.04, window_bytes=65_536)
    window = made.steps[0].change.values["window_bytes"]
    path = {"bandwidth_bps": 1e9, "rtt_s": 0.04}
    assert planning.transfer(1e9, window_bytes=window, **path).binding != "window_limit_bps"
    assert planning.transfer(1e9, window_bytes=0.97 * window, **path).binding == "window_limit_bps"


def test_a_map_is_drawn_in_colours_for_every_vision_with_names_in_it():
    drawn = plots.plan(PLANS["buy"]())
    assert {"limit of the line", "limit of the loss", "your point", "step out"} <= set(
        drawn.sources
    )
    assert "limit of the loss" in drawn.sources["names"].data["text"]


def test_the_map_of_a_link_is_by_users_and_rate_what_the_plan_says():
    """Identity: at four points of the map the plan of that point says the same."""
    links = {"user_bps": 5e6, "active_ratio": 0.1, "annual_growth": 0.25, "link_count": 2,
             "failed_count": 1}  # fmt: skip
    chart = planning.link(500, bandwidth_bps=5e8, as_map=True, **links).chart
    for rate_bps, state in (
        (3e9, "link_enough"), (5e8, "link_full_later"), (3e8, "link_full_after_failure"),
        (1e8, "link_full_now"),
    ):  # fmt: skip
        row = int(np.argmin(np.abs(chart.y_at - rate_bps)))
        column = int(np.argmin(np.abs(chart.x_at - 500)))
        assert chart.limits[chart.index[row, column]] == state
        made = planning.link(chart.x_at[column], bandwidth_bps=chart.y_at[row], **links)
        assert (made["fills_s"] >= 3 * YEAR_S) == (state == "link_enough")
        assert (made["fills_s"] > 0) == (state in ("link_enough", "link_full_later"))
    assert chart.step == (500.0, 1e9)


# What is refused


PATH = {"bandwidth_bps": 1e9, "rtt_s": 0.04}
REFUSED = {
    "a loss above 1": (lambda: planning.transfer(1e9, loss_ratio=2.0, **PATH), "loss_ratio"),
    "a path of no time": (lambda: planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.0), "rtt_s"),
    "half a flow": (lambda: planning.buffer(1e9, rtt_s=0.1, flow_count=1.5), "flow_count"),
    "no codec": (lambda: planning.voice(1.0, codec_name="G.000"), "codec"),
    "half a frame": (
        lambda: planning.voice(1.0, codec_name="G.729", interval_s=0.025), "interval_s",
    ),
    "all links gone": (
        lambda: planning.link(5, user_bps=1e6, link_count=2, failed_count=2), "failed_count",
    ),
    "no blocking": (lambda: planning.voice(1.0, blocking_ratio=0.0), "blocking_ratio"),
    "no target": (
        lambda: planning.link(5, user_bps=1e6, target_utilization=0.0), "target_utilization",
    ),
    "a packet above 64 KiB": (lambda: planning.tunnel("gre", mtu_bytes=70_000.0), "mtu_bytes"),
    "a mix of no weight": (lambda: planning.tunnel("gre", mix={40.0: 0.0}), "mix"),
    "a packet of headers": (lambda: planning.transfer(1e9, mtu_bytes=52, **PATH), "mtu_bytes"),
    "an unknown packet": (lambda: planning.host(1e9, rtt_s=1, mtu_bytes=math.nan), "mtu_bytes"),
    "two packets": (lambda: planning.host(1e9, rtt_s=1, mtu_bytes=[1500, 9000]), "mtu_bytes"),
    "an unknown time": (lambda: planning.buffer(1e9, rtt_s=math.nan), "rtt_s"),
    "endless calls": (lambda: planning.voice(math.inf), "calls_per_second"),
    "no window": (lambda: planning.backup(1e9, window_s=0.0, **PATH), "window_s"),
    "no axis": (lambda: planning.buy(1e9, over=("loss_ratio", "rtt_s"), **PATH), "loss_ratio"),
    "one axis": (lambda: planning.buy(1e9, over=("rtt_s", "rtt_s"), **PATH), "over"),
    "impossible draws": (
        lambda: planning.transfer(1e9, loss_ratio=uniform(0.5, 1.5), **PATH), "loss_ratio",
    ),
}  # fmt: skip


@pytest.mark.each("case", REFUSED)
def test_what_cannot_be_is_refused_by_name(case):
    made, name = REFUSED[case]
    with pytest.raises(DomainError) as refused:
        made()
    assert refused.value.name == name
    assert str(refused.value)


def test_a_doubt_is_on_the_page_and_no_warning(recwarn):
    made = planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.02, loss_ratio=0.1)
    assert "10%" in str(made.notices[0])
    assert not [one for one in recwarn if issubclass(one.category, DoubtWarning)]


@pytest.mark.slow
def test_a_doubt_about_draws_is_in_the_units_of_the_page():
    made = planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.02, loss_ratio=uniform(0.2, 0.4))
    said = str(made.notices[0])
    assert "loss is 40%" in said
    assert "range of cubic_throughput_bps (up to 1%)" in said  # published: the tables of RFC 9438
    assert "loss_ratio" not in said


def test_a_transfer_that_loses_all_never_ends():
    made = planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.02, loss_ratio=1.0)
    assert made["transfer_s"] == math.inf
    assert made.binding == "loss_limit_bps"
    assert "never" in made.sentence


RANGED = {"user_bps": 5e6, "active_ratio": 0.1, "link_count": 2, "failed_count": 1}


@pytest.mark.slow
def test_a_planned_link_says_one_time_in_sentence_and_table():
    made = planning.link(
        uniform(400, 600), annual_growth=uniform(0.2, 0.35),
        start=date(2026, 1, 1), **RANGED,
    )  # fmt: skip
    median = made.answer("fills_s").spread.percentile(50.0)
    # identity: the sentence, the table and the date are those of the median of the draws
    assert f"full in {quantity(median, 's')}, " in made.sentence
    assert made.answer("fills_s").text.startswith(f"{quantity(median, 's')}, ")
    on = date_after(date(2026, 1, 1), median / YEAR_S).isoformat()
    assert f"on {on};" in made.sentence
    assert made.answer("fill_date").value == on


@pytest.mark.each("horizon_years, growth, noted", [
    (3.0, 1.0, False), (3.1, 1.0, True), (6.0, 1.0, True), (100.0, 0.1, True), (60.0, 0.0, False),
])  # fmt: skip
def test_growth_beyond_published_forecasts_is_noted(horizon_years, growth, noted):
    """Published: grown_traffic_bps and exhaustion_s look three years ahead."""
    made = planning.link(
        500, user_bps=1e6, annual_growth=growth, horizon_s=horizon_years * YEAR_S,
        bandwidth_bps=1e9,
    )  # fmt: skip
    assert ("link-no-forecast" in {one.code for one in made.notices}) == noted


def test_a_plan_for_longer_than_dates_are_written_is_refused():
    with pytest.raises(DomainError) as caught:
        planning.link(500, user_bps=1e6, horizon_s=1e9 * YEAR_S)
    assert (caught.value.code, caught.value.name) == ("beyond-forecast", "horizon_s")
    assert "at most 100 years" in str(caught.value)


def test_a_rate_that_no_link_has_is_said_to_be_that_of_several():
    made = planning.link(1_000_000, user_bps=1e6)
    noted = {one.code: one.values for one in made.notices}
    # derived: 10^6 users of 1 Mbit/s at 80 % of the rate are 1.25 Tbit/s, two of 800 Gbit/s
    assert made["link_bps"] == 1.6e12
    assert noted["link-beyond-ethernet"]["count"] == 2


def test_a_date_that_is_far_is_not_never():
    made = planning.link(500, user_bps=1e6, annual_growth=0.001, start=date(2026, 1, 1))
    assert made.answer("fill_date").value == "not within 100 years"
    still = planning.link(500, user_bps=1e6, start=date(2026, 1, 1))
    assert still.answer("fill_date").value == "never"


@pytest.mark.each("horizon", ["3 years", float("nan"), -1.0, 101 * 365.25 * 86_400])
def test_a_horizon_is_a_time_of_up_to_a_hundred_years(horizon):
    with pytest.raises(NetcalcError):
        planning.link(500, user_bps=5e6, active_ratio=0.1, horizon_s=horizon)


def test_calls_at_the_same_time_have_rates_at_each_layer():
    """Derived: 50 packets a second each; 160 B of voice and 40 B of headers, 18 and 20 around."""
    plan = planning.voice(concurrent_count=200)
    assert plan["calls_rate_pps"] == 200 * 50
    assert plan["calls_ip_bps"] == 200 * 50 * 8 * 200
    assert plan["calls_frame_bps"] == 200 * 50 * 8 * 218
    assert plan["calls_line_bps"] == 200 * 50 * 8 * 238
    assert not {"trunk_count", "offered_erlang"} & {answer.name for answer in plan.answers}
    short = planning.voice(concurrent_count=200, bandwidth_bps=10e6)
    assert short["line_call_count"] == 105  # 10e6 / 95200
    assert (short.binding, short.said.code) == ("line_call_count", "plan-calls-short")
    with pytest.raises(DomainError) as refused:
        planning.voice(1.0, concurrent_count=200)
    assert refused.value.code == "attempts-or-calls"
