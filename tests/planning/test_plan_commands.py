"""``netcalc plan``: pages, JSON, figures, ranges; what is refused, without a traceback."""

from __future__ import annotations

import json
import math

import pytest
from click.testing import CliRunner

from netcalc import planning, plots
from netcalc.cli import commands
from netcalc.errors import NetcalcError

CASES = {
    "transfer": ["1GB", "--path", "1 Gbit/s 20 ms", "--loss", "0.01%"],
    "backup": ["50TB", "--change", "3%", "--in", "8h", "--path", "1 Gbit/s 20 ms"],
    "link": ["500", "--each", "5Mbit/s", "--active", "10%", "--growth", "25%", "--from",
             "2026-01-31"],
    "voice": ["1200 calls/h", "--holding", "3min", "--codec", "g729"],
    "tunnel": ["wireguard6"],
    "buffer": ["10Gbit/s", "--rtt", "250ms", "--flows", "50000"],
    "buy": ["1GB", "--path", "1 Gbit/s 20 ms", "--loss", "0.01%", "--over", "loss", "rtt"],
    "host": ["100 Gbit/s 44 ms", "--os", "freebsd"],
}  # fmt: skip


def invoke(*arguments):
    return CliRunner().invoke(commands, ["plan", *arguments])


@pytest.mark.each("name", CASES)
def test_each_plan_prints_a_page_and_the_same_as_json(name):
    page, document = invoke(name, *CASES[name]), invoke(name, *CASES[name], "--json")
    assert page.exit_code == document.exit_code == 0, page.output + document.output
    found = json.loads(document.output)
    assert found["plan"] == name
    assert page.output.split("\n")[0] == found["sentence"]


@pytest.mark.parametrize("name", CASES)
def test_each_plan_is_drawn_into_a_file_that_needs_no_network(name, tmp_path):
    html, svg = tmp_path / "plan.html", tmp_path / "plan.svg"
    for file in (html, svg):
        assert invoke(name, *CASES[name], "--plot", str(file)).exit_code == 0
    assert "<script src=" not in html.read_text()
    assert svg.read_text().startswith("<svg")


def test_the_help_of_the_group_lists_its_plans():
    done = invoke()
    assert done.exit_code == 0
    assert all(f"\n  {name} " in done.output for name in CASES)


@pytest.mark.slow
def test_a_range_is_answered_by_percentiles():
    done = invoke("voice", "1000..1400 calls/h", "--holding", "3 min +- 20 s", "--json")
    found = json.loads(done.output)
    trunks = found["answers"]["trunk_count"]
    assert trunks["p5"] < trunks["median"] < trunks["p95"]
    assert found["inputs"]["holding_s"]["distribution"].startswith("normal(")
    again = invoke("voice", "1000..1400 calls/h", "--holding", "3 min +- 20 s", "--json")
    assert again.output == done.output


def test_a_growth_may_say_that_it_is_one_a_year():
    """Identity: the same page without the words."""
    link = ["link", "500", "--each", "5Mbit/s", "--active", "10%", "--from", "2026-01-31"]
    said = invoke(*link, "--growth", "25 % a year")
    assert said.exit_code == 0
    assert said.output == invoke(*link, "--growth", "25%").output


def test_a_path_gives_the_round_trip_of_a_full_segment():
    """Derived: 20 ms each way, 1538 bytes there and an ACK of 90 back at 1 Gbit/s."""
    found = json.loads(invoke("transfer", "1GB", "--path", "1 Gbit/s 20 ms", "--json").output)
    assert found["inputs"]["rtt_s"]["value"] == pytest.approx(0.04, rel=1e-3)
    assert found["answers"]["goodput_bps"]["layer"] == "TCP payload"


def test_what_says_the_same_twice_is_taken():
    """Identity: 2 ms each way are 4 ms; attempts by --calls are those of CALLS."""
    path = ["transfer", "1GB", "--rtt", "4ms"]
    assert invoke(*path, "1 Gbit/s 2 ms").stdout == invoke(*path, "--rate", "1Gbit/s").stdout != ""
    told = [invoke("host", "10G 2ms", "--os", one).stdout for one in ("freebsd", "FreeBSD")]
    assert told[0] == told[1] != ""
    calls = ["voice", "--holding", "2min", "--blocking", "2%"]
    assert invoke(*calls, "9 calls/h").stdout == invoke(*calls, "--calls", "9 calls/h").stdout != ""


REFUSED = {
    ("voice", "1200"): "calls-ambiguous",
    ("voice",): "calls-or-erlang",
    ("voice", "1200 calls/h", "--erlang", "60"): "calls-or-erlang",
    ("voice", "1200 calls/h", "--blocking", "120%"): "percent-for-ratio",
    ("voice", "--concurrent", "200", "--blocking", "1%"): "calls-option-unused",
    ("voice", "200 calls", "--aht", "3min"): "calls-option-unused",
    ("voice", "--erlang", "60", "--holding", "3min"): "calls-option-unused",
    ("transfer", "1GB"): "path-or-rate",
    ("transfer", "1GB", "--path", "1 Gbit/s 2 ms", "--rate", "1Gbit/s"): "options-exclusive",
    ("transfer", "1GB", "--path", "1 Gbit/s 2 ms", "--rtt", "5ms"): "round-trip-twice",
    ("transfer", "1GB", "--path", "1 Gbit/s 2 ms", "--rtt", "3..5ms"): "round-trip-twice",
    ("transfer", "1GB", "1G 2 ms", "--in", "9s", "--goal", "goodput=1Mbit/s"): "options-exclusive",
    ("transfer", "1000", "--path", "1 Gbit/s 2 ms"): "unit-missing",
    ("transfer", "-1GB", "--path", "1 Gbit/s 2 ms"): "is-negative",
    ("transfer", "1GB", "--rate", "100..80Mbit/s", "--rtt", "1ms"): "range-backwards",
    ("transfer", "1GB", "--path", "1 Gbit/s 2 ms", "--loss", "50..150%"): "draws-impossible",
    ("buffer", "10Gbit/s", "--rtt", "1ms", "--fan-in", "4"): "fan-in-without-burst",
    ("host", "10 Gbit/s"): "host-without-path",
    ("host", "0 bit/s", "--rtt", "1ms"): "not-positive",
    ("host", "10 Gbit/s 5 ms", "--rtt", "5ms"): "round-trip-twice",
    ("host", "10 Gbit/s", "--rtt", "5ms", "--mtu", "52"): "out-of-range",
    ("host", "10 Gbit/s", "--rtt", "1ms", "--sysctl", "--json"): "options-exclusive",
    ("host", "1..2 Gbit/s 5 ms"): "range-in-path",
    ("tunnel", "foo"): "unknown-layer",
    ("tunnel", "gre", "--mix", "40B"): "mix-malformed",
    ("link", "35", "--each", "1Mbit/s", "--from", "soon"): "date-malformed",
    ("buy", "1GB", "--path", "1 Gbit/s 2 ms", "--over", "loss", "rtt"): "axis-without-value",
    ("buy", "1GB", "--path", "1 Gbit/s 2 ms", "--over", "rtt", "rtt"): "one-axis-twice",
    ("voise", "1"): "unknown-command",
}


@pytest.mark.each("arguments", list(REFUSED))
def test_a_mistake_is_refused_with_a_code_and_no_traceback(arguments):
    done = invoke(*arguments)
    if isinstance(done.exception, NetcalcError):
        assert done.exception.code == REFUSED[arguments]
        assert str(done.exception)
    else:
        assert type(done.exception).__name__ in ("SystemExit", "_UnknownCommand")
        assert REFUSED[arguments] == "unknown-command"


def test_a_page_of_links_says_what_full_is_and_until_when_a_rate_is_enough():
    """330 Mbit/s grow by 25 % a year: to 80 % of 1 Gbit/s in ln(0.8 / 0.33) / ln 1.25 years."""
    base = ["link", "500", "--each", "5Mbit/s", "--active", "10%", "--percentile", "99%",
            "--growth", "25%"]  # fmt: skip
    page = invoke(*base).stdout
    assert f"full in {math.log(0.8 / 0.33) / math.log(1.25):.4g} years" in page
    assert "a link that is full at 80% of its rate" in page
    assert "enough for 3 years" in page
    other = invoke(*base, "--target", "60%", "--lasts", "5 years", "--json").stdout
    said = next(
        one for one in json.loads(other)["assumptions"] if one["code"] == "assumes-link-full"
    )
    assert said["values"] == {"target": "60%", "time": "5 years"}


@pytest.mark.parametrize(
    ("typed", "written"),
    [("ipsec", "esp4:aes-gcm-16"), ("wireguard", "wireguard4"), ("vxlan over gre", "gre+vxlan4")],
)
def test_tunnels_have_the_names_that_formulas_take(typed, written):
    told, plain = invoke("tunnel", typed), invoke("tunnel", written)
    assert told.stdout == plain.stdout
    assert plain.stderr == ""
    assert f"STACK {typed} is read as {written}" in told.stderr
    call = ("voice", "1200 calls/h", "--tunnel")
    assert invoke(*call, typed).stdout == invoke(*call, written).stdout


def test_an_mtu_may_go_without_its_unit():
    assert invoke("tunnel", "gre", "--mtu", "9000").stdout == (
        invoke("tunnel", "gre", "--mtu", "9000B").stdout
    )


def test_a_curve_that_hardly_changes_is_drawn_flat():
    """Where loss limits, a faster line changes nothing: the axis still spans a factor of 4."""
    found = planning.transfer(10e9, bandwidth_bps=1e9, rtt_s=0.04, loss_ratio=5e-4)
    shown = plots.plan(found).figure.y_range
    assert shown.end / shown.start >= 4.0


@pytest.mark.slow
def test_the_sentence_of_a_plan_with_ranges_is_that_of_its_table():
    """At the medians of the inputs this backup just fits; in most of the draws it does not."""
    ranges = ["--change", "3..80%", "--in", "2h", "--rate", "500..1500Mbit/s", "--rtt",
              "lognormal(30ms, p95 200ms)", "--loss", "lognormal(0.0001%, p95 0.01%)",
              "--truncate", "--json"]  # fmt: skip
    found = json.loads(invoke("backup", "2TB", *ranges).stdout)
    answers = found["answers"]
    assert answers["fit_ratio"]["value"] < 0.5
    assert answers["window_utilization"]["median"] > 1.0
    assert found["sentence"].startswith("It does not fit: ")
    assert f"{answers['backup_s']['median'] / 3600:.4g} h" in found["sentence"]
    assert found["binding"] == max(found["binding_shares"], key=found["binding_shares"].get)


@pytest.mark.slow
def test_json_holds_what_makes_draws_doubtful():
    """Published: CUBIC's tables in RFC 9438 end at 1 %; half of 0.5 to 1.5 % is beyond."""
    ranges = ["10GB", "--rate", "1Gbit/s", "--rtt", "30ms", "--loss", "0.5..1.5%"]
    page, document = invoke("transfer", *ranges), invoke("transfer", *ranges, "--json")
    notices = json.loads(document.stdout)["notices"]
    assert [one["code"] for one in notices] == ["draws-doubtful"]
    assert notices[0]["values"]["share"] == pytest.approx(0.5, abs=0.01)
    assert f"note: {notices[0]['text']}" in page.stdout


SENDERS = {
    "transfer": ["1GB"],
    "backup": ["1GB", "--in", "1h"],
    "buy": ["1GB"],
}


@pytest.mark.each("name", SENDERS)
def test_plans_that_send_take_an_mtu_without_its_unit(name):
    """Identity: the same page as with the unit."""
    call = [name, *SENDERS[name], "--rate", "1Gbit/s", "--rtt", "5ms", "--mtu"]
    bare = invoke(*call, "9000")
    assert bare.exit_code == 0
    assert bare.stdout == invoke(*call, "9000B").stdout


@pytest.mark.each("path", ["80..100 Mbit/s 20 ms", "80 Mbit/s 20 ms +- 2 ms"])
def test_a_range_in_a_path_is_refused_with_the_options_that_take_one(path):
    done = invoke("transfer", "1GB", "--path", path)
    assert done.exception.code == "range-in-path"
    assert "--rate and --rtt" in str(done.exception)
