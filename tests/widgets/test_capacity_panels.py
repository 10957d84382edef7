"""The panels of the lesson on planning: each step by a second method, and what they share."""

from __future__ import annotations

import html
import json
import re
import shlex
from datetime import date, timedelta
from math import comb, log
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from panels_seen import column, said
from scipy import stats

from netcalc import datasets
from netcalc.cli import commands
from netcalc.lessons import capacity_planning
from netcalc.lessons import capacity_planning as panels

YEAR_S = 365.25 * 86_400  # the year of the plans
START = date(2027, 1, 1)
ONE_SIZE = "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n" + "".join(
    f"64 bytes from 192.0.2.9: icmp_seq={n} ttl=64 time={ms} ms\n"
    for n, ms in enumerate((41.5, 40.0, 43.0), start=1)
)


class Held:
    """A timer that a test lets run out."""

    def __init__(self, lag_s, done):
        self.done, self.daemon = done, False

    def start(self):
        """Wait for the test."""

    def cancel(self):
        """Another one follows."""
        self.done = lambda: None


@pytest.fixture
def story(monkeypatch):
    monkeypatch.setattr(capacity_planning, "Timer", Held)
    return panels.Story(datasets.load("ping_emulated_t1"), start=START)


def below(panel):
    return html.unescape(re.sub("<[^>]*>", "\n", panel.children[-1].value))


def put(panel, **values):
    for name, value in values.items():
        panel.controls[name].value = value


def test_the_ping_gives_the_round_trip_and_the_line(story):
    panel = panels.ping_panel(story)
    # published with the data set: 10 ms and 1.544 Mbit/s; the least of ten probes is 0.1 ms late
    assert story.values["rtt_s"] == pytest.approx(10e-3, abs=0.2e-3)
    assert story.values["line_bps"] == pytest.approx(1.544e6, rel=0.01)
    assert column(panel, "points", "x").size == 14, "14 sizes have a time"


def test_an_own_ping_goes_to_the_next_steps(story):
    ping, transfer = panels.ping_panel(story), panels.transfer_panel(story)
    field = ping.children[-1]
    field.take(ONE_SIZE.encode(), "mine.txt")
    assert "40 ms to 43 ms" in said(ping)
    line_bps = story.values["line_bps"]
    story.settle()
    assert transfer.controls["rtt_s"].value == 0.04, "the least of the three"
    assert transfer.controls["line_bps"].value == line_bps, "one size has no rate"
    field.take(b"rate_bps,time\n1 Mbit/s,3\n", "other.csv")
    assert field.message.is_alert
    assert story.values["rtt_s"] == 0.04


def test_pings_of_another_kind_are_refused(story):
    panel = panels.ping_panel(story)
    one = datasets.puzzle("sender")
    panel.children[-1].take(
        (datasets.data_folder() / "puzzles" / one.file).read_bytes(), "iperf.json"
    )
    assert panel.children[-1].message.is_alert
    assert column(panel, "points", "x").size == 14


def test_a_transfer_has_its_lowest_limit(story):
    panel = panels.transfer_panel(story)
    put(panel, payload_bytes=1e9, line_bps=8e6, rtt_s=0.01, window_bytes=65536.0)
    # derived: 1448 of 1538 bytes on the wire are payload; the start takes below a second
    line_s = 8e9 / (8e6 * 1448 / 1538)
    assert column(panel, "rate of the line")[0] == pytest.approx(line_s / 60, abs=1 / 60)  # minutes
    assert "the line limits it" in said(panel)
    put(panel, line_bps=1e9)
    # derived: a window a round trip
    window_s = 8e9 / (65536 * 8 / 0.01)
    assert column(panel, "rate of the line")[0] == pytest.approx(window_s, rel=0.01)
    assert "the window limits it" in said(panel)
    assert column(panel, "time")[-1] == pytest.approx(window_s, rel=0.01), "the curve stays there"
    assert "limit of the TCP window" in below(panel)


def chance_of_more(active, users, share):
    """Sum the binomial distribution, term by term."""
    return sum(
        comb(users, k) * share**k * (1 - share) ** (users - k) for k in range(active + 1, users + 1)
    )


def test_users_are_binomial(story):
    panel = panels.users_panel(story)
    put(panel, user_count=35.0, user_bps=1e5, active_ratio=0.1, quantile=0.99)
    x, overload = column(panel, panels.OVERLOAD, "x"), column(panel, panels.OVERLOAD)
    at_ten = overload[np.isclose(x, 1e6)][0]
    # published: Kurose and Ross, 1.3: more than ten of 35 are active 0.0004 of the time
    assert round(at_ten, 4) == 0.0004
    assert at_ten == pytest.approx(chance_of_more(10, 35, 0.1))  # derived
    least = next(n for n in range(36) if chance_of_more(n, 35, 0.1) <= 0.01)
    assert column(panel, panels.PERCENTILE, "x").tolist() == [least * 1e5]
    assert column(panel, panels.PERCENTILE).tolist() == pytest.approx(
        [chance_of_more(least, 35, 0.1)]
    )
    assert column(panel, panels.YOURS).tolist() == [least * 1e5]
    assert column(panel, panels.MEAN)[-1] == pytest.approx(350 * 0.1 * 1e5)  # ten times the users


def by_chance(count=200_000):
    """Draw the rate that a line needs after three years, by numpy and scipy alone."""
    random = np.random.default_rng(5)
    users = np.round(random.uniform(96, 144, count))
    each, share = random.uniform(1.6e6, 2.4e6, count), random.uniform(0.08, 0.12, count)
    growth = random.uniform(0.15, 0.35, count)
    return each * stats.binom.ppf(0.95, users, share) * (1 + growth) ** 3 / 0.8


def years_by_chance(count=200_000):
    """Draw when a line of 1 Gbit/s is full to 80 %, by numpy and scipy alone."""
    random = np.random.default_rng(6)
    users = np.round(random.uniform(96, 144, count))
    each, share = random.uniform(1.6e6, 2.4e6, count), random.uniform(0.08, 0.12, count)
    growth = random.uniform(0.15, 0.35, count)
    return np.log(0.8e9 / (each * stats.binom.ppf(0.95, users, share))) / np.log1p(growth)


@pytest.mark.slow
def test_ranges_give_percentiles(story):
    panel = panels.ranges_panel(story)
    found = {name.split(":")[0]: name for name in panel.figure.plot.sources}
    expected = np.percentile(by_chance(), [5, 50, 95])  # derived: plain random draws
    for name, value in zip(("p5", "median", "p95"), expected, strict=True):
        # 2048 draws of a quasi-random sequence; the demand has steps of one user
        assert column(panel, found[name], "x")[0] == pytest.approx(value, rel=0.02)
    assert (
        "1 Gbit/s (Ethernet line) for 95% of the draws, 100 Mbit/s (Ethernet line) for half of them"
        in said(panel)
    )
    assert "What matters most: growth a year." in said(panel)
    assert column(panel, "draws", "top").sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_a_range_that_is_zero_explains_nothing(story):
    panel = panels.ranges_panel(story)
    put(panel, annual_growth_spread=0.0)
    assert "growth a year\n\n25%\n\nnot a range" in below(panel)
    assert "What matters most: rate of a user." in said(panel)
    put(panel, user_count_spread=0.0, user_bps_spread=0.0, active_ratio_spread=0.0)
    # derived: 18 of 120 users, tripled by three years of 25 %, at 80 %
    needed = 18 * 2e6 * 1.25**3 / 0.8
    assert column(panel, "draws", "left").min() <= needed <= column(panel, "draws", "right").max()
    assert "Nothing is a range." in said(panel)


@pytest.mark.slow
def test_ranges_end_where_a_value_cannot_be(story):
    panel = panels.ranges_panel(story)
    story.values.update(user_count=1.0, active_ratio=0.9)
    put(panel, user_count_spread=0.9, active_ratio_spread=0.9)
    assert not panel.message.is_alert
    assert "90%..100%" not in below(panel)
    assert "9%..100%" in below(panel)


def test_growth_fills_the_lines_on_a_day(story):
    panel = panels.growth_panel(story)
    years = log(0.8 * 100 / 36) / log(1.25)  # derived: 36 Mbit/s reach 80 % of one line
    assert column(panel, "full in", "x")[0] == pytest.approx(years)
    day = START + timedelta(days=int(years * YEAR_S / 86_400))
    assert day.isoformat() in said(panel)
    put(panel, is_spared=False)
    assert column(panel, "full in", "x")[0] == pytest.approx(log(0.8 * 200 / 36) / log(1.25))
    put(panel, bandwidth_bps=1e9, link_count=1)
    assert column(panel, "full in", "x")[0] == pytest.approx(log(0.8 * 1000 / 36) / log(1.25))


def test_one_line_that_may_fail_is_refused(story):
    panel = panels.growth_panel(story)
    put(panel, link_count=1)
    assert panel.message.is_alert
    put(panel, is_spared=False)
    assert panel.message.value == ""


def test_the_map_has_the_borders_of_the_states(story):
    panel = panels.buy_panel(story)
    full = {
        name: panel.figure.plot.sources[name].data for name in ("full now", "full after a failure")
    }

    def top(name):
        bars = {side: np.asarray(full[name][side]) for side in ("left", "right", "top")}
        across = (bars["left"] <= 120) & (bars["right"] > 120)
        return bars["top"][across].max()

    # derived: 36 Mbit/s are 80 % of two lines of 22.5 Mbit/s, or of one of 45; a cell is 4 % high
    assert top("full now") == pytest.approx(22.5e6, rel=0.04)
    assert top("full after a failure") == pytest.approx(45e6, rel=0.04)
    assert column(panel, "your point", "x").tolist() == [120.0]
    assert column(panel, "your point").tolist() == [100e6]


def test_the_map_of_a_transfer_has_the_step_out(story):
    panel = panels.buy_panel(story)
    put(panel, over=panels.MAPS["window and round trip of a transfer"])
    assert said(panel).startswith("The window limits it")
    assert column(panel, "your point", "x").tolist() == [65536.0]
    # derived: the window that fills the payload of the line in one round trip
    fills = 100e6 * 1448 / 1538 * story.values["rtt_s"] / 8
    assert column(panel, "step out", "x")[0] == pytest.approx(fills, rel=0.06)  # a cell is 6 % wide
    put(panel, window_bytes=2.0**20)
    assert said(panel).startswith("The line limits it")


def files_and_commands(panel):
    """Return the texts that a learner copies."""
    found = re.findall(
        r"<p><b>(.*?)</b></p><pre.*?>(.*?)</pre>", panel.children[-1].value, re.DOTALL
    )
    return {html.unescape(name): html.unescape(text) for name, text in found}


@pytest.mark.slow
def test_the_commands_give_the_same_plans(story, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = panels.bought_panel(story)
    texts = files_and_commands(panel)
    lines = texts.pop("In a terminal").splitlines()
    for name, text in texts.items():
        Path(name).write_text(f"{text}\n", encoding="utf-8")
    found = []
    for line in lines:
        netcalc, *words = shlex.split(line)
        assert netcalc == "netcalc"
        done = CliRunner().invoke(commands, [*words, "--json"])
        assert done.exit_code == 0, done.output
        found.append(json.loads(done.output))
    middle, ranges, transfer, network = found
    years = log(0.8 * 1000 / 36) / log(1.25)  # derived, as above
    day = (START + timedelta(days=int(years * YEAR_S / 86_400))).isoformat()
    assert middle["answers"]["fill_date"]["value"] == day
    found_years = re.search(r"full in ([\d.]+) years, on ([\d-]+);", said(panel))
    assert found_years is not None
    # its inputs are ranges: the median of the draws
    assert float(found_years[1]) == pytest.approx(np.median(years_by_chance()), abs=0.15)
    # 2048 draws in the panel, 10,000 of the command: the error of a median of 2048 plain draws
    # between 10.5 and 21.3 years (5 % and 95 %) is a month
    apart = date.fromisoformat(found_years[2]) - date.fromisoformat(
        ranges["answers"]["fill_date"]["value"]
    )
    assert abs(apart.days) <= 31
    assert ranges["answers"]["end_needed_bps"]["p95"] == pytest.approx(
        np.percentile(by_chance(), 95), rel=0.02
    )
    assert transfer["binding"] == "window_limit_bps"
    assert network["plan"] == "network"
    assert day in json.dumps(network), "with the failure, the same day by another model"
    # derived: half of 36 Mbit/s on each of two lines of 1 Gbit/s, all of it on one
    assert column(panel, "load", "right").max() == pytest.approx(0.018)
    assert column(panel, "worst failure", "right").max() == pytest.approx(0.036)


@pytest.mark.slow
def test_the_lines_of_step_five_may_be_bought(story):
    panel = panels.bought_panel(story)
    put(panel, is_safe=False, link_count=3)
    assert files_and_commands(panel)["links.csv"].count("100 Mbit/s") == 3
    assert column(panel, "load", "right").max() == pytest.approx(0.12)  # derived: 36 / 3 of 100


@pytest.mark.slow
def test_what_one_step_changes_the_others_take_over(story):
    users, growth, bought = (
        make(story) for make in (panels.users_panel, panels.growth_panel, panels.bought_panel)
    )
    drawn = []
    users.figure.update_all = lambda sources: drawn.append(sources)
    put(users, user_count=240.0)
    assert len(drawn) == 1
    assert "36 Mbit/s" in said(growth), "a slider in motion draws its own figure"
    put(growth, bandwidth_bps=1e9)  # before the others have followed: nothing is lost
    assert story.values["user_count"] == 240.0
    story.settle()
    needed = next(n for n in range(241) if chance_of_more(n, 240, 0.1) <= 0.05)
    assert f"{2 * needed} Mbit/s" in said(growth)  # derived: 2 Mbit/s each
    assert f"{2 * needed} Mbit/s" in files_and_commands(bought)["demands.csv"]
    assert len(drawn) == 1, "the panel that changed is not drawn again"
    assert story._changed == {}, "controls that follow are no change"


@pytest.mark.slow
def test_one_control_moves_that_of_another_step(story):
    growth, bought = panels.growth_panel(story), panels.bought_panel(story)
    put(growth, link_count=4)
    story.settle()
    assert bought.controls["link_count"].value == 4
    put(bought, link_count=2)
    story.settle()
    assert growth.controls["link_count"].value == 2
    assert story._changed == {}


def test_the_others_follow_by_themselves():
    story = panels.Story(datasets.load("ping_emulated_t1"), start=START)
    users, growth = panels.users_panel(story), panels.growth_panel(story)
    put(users, user_count=240.0)
    story._timer.join(60)
    needed = next(n for n in range(241) if chance_of_more(n, 240, 0.1) <= 0.05)
    assert f"{2 * needed} Mbit/s" in said(growth)  # derived: 2 Mbit/s each


@pytest.mark.slow
def test_every_panel_has_few_controls(story):
    for name in ("ping", "transfer", "users", "ranges", "growth", "buy", "bought"):
        panel = getattr(panels, f"{name}_panel")(story)
        assert len(panel.controls) <= 4
        assert not panel.message.is_alert
