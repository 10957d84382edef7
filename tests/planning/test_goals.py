"""A goal for an answer of a plan: the value of each input that reaches it, by arithmetic."""

from __future__ import annotations

import json
import shlex
from functools import cache

import pytest
from click.testing import CliRunner

from netcalc import planning
from netcalc.cli import commands
from netcalc.errors import DomainError


def invoke(line):
    return CliRunner().invoke(commands, ["plan", *shlex.split(line)])


@cache
def needs(line):
    done = invoke(f"{line} --json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    return {name: (one["side"], one["value"]) for name, one in found["needs"].items()}


GOALS = [
    # 50 TB in 60 h with 1448 of 1538 bytes of the line: 50e12 * 8 / 216000 * 1538 / 1448.
    ("transfer 50TB '1 Gbit/s 80 ms' --in 60h", "bandwidth_bps", "least", 1.96693e9),
    ("transfer 50TB --rtt 160ms --in 60h", "bandwidth_bps", "least", 1.96693e9),
    # One window a round trip: 50e12 B * 0.16 s / 216000 s, and 565.1 windows of 64 KiB.
    ("transfer 50TB --rate 10G --rtt 160ms --window 64KiB --in 60h", "window_bytes", "least",
     37.04e6),
    ("transfer 50TB --rate 10G --rtt 160ms --window 64KiB --in 60h", "flow_count", "least", 566),
    # The delay of R T / sqrt(n) on the line is T / sqrt(n): 10 ms with 100 flows of 100 ms.
    ("buffer 10G --rtt 100ms --flows 1000 --goal buffer-delay=10ms", "flow_count", "least", 100),
    ("buffer 10G --rtt 100ms --flows 1000 --goal buffer-delay=10ms", "rtt_s", "most", 0.316228),
    # WireGuard over IPv4 takes 60 bytes.
    ("tunnel wireguard --goal tunnel-mtu=1500B", "mtu_bytes", "least", 1560),
    # Users who always send: 400 of 8 Mbit/s each.
    ("link 100 --each 8Mbit/s --goal demand=400Mbit/s", "user_count", "most", 50),
]  # fmt: skip


@pytest.mark.each(("line", "name", "side", "value"), GOALS)
def test_each_plan_is_solved_for_each_of_its_inputs(line, name, side, value):
    found_side, found = needs(line)[name]
    assert found_side == side
    assert found == pytest.approx(value, rel=2e-4)


def test_what_no_value_reaches_is_said_with_where_it_was_sought():
    """Derived: on a line of 1 Gbit/s neither flows nor windows make 50 TB take 60 h."""
    lines = invoke("transfer 50TB '1 Gbit/s 80 ms' --in 60h").output.splitlines()
    said = {line.split("  ")[1]: line.split("  ")[-1].strip() for line in lines if "value" in line}
    assert said["flows"] == "no value from 1 to 1,000"
    assert said.keys() == {"round-trip time", "flows", "loss", "window of a flow"}


def test_the_value_found_reaches_the_goal():
    """Identity: the plan with the value that is needed has the answer that was wanted."""
    path = {"bandwidth_bps": 1e9, "rtt_s": 0.03, "loss_ratio": 1e-4}
    plan = planning.with_goal(planning.transfer(1e9, **path), goal=20.0)
    reached = {need.name: need.value for need in plan.needs if need.value == need.value}
    assert {"payload_bytes", "rtt_s", "loss_ratio", "flow_count"} <= reached.keys()
    for name, value in reached.items():
        again = planning.transfer(**{"payload_bytes": 1e9, **path, name: value})
        assert again["transfer_s"] <= 20.0 * (1 + 1e-8)
        assert name == "flow_count" or again["transfer_s"] == pytest.approx(20.0)


@pytest.mark.each(("line", "code"), [
    ("transfer 1GB '1 Gbit/s 20 ms' --goal foo=3", "not-a-choice"),
    ("transfer 1GB '1 Gbit/s 20 ms' --goal 3", "goal-malformed"),
    ("transfer 1GB '1 Gbit/s 20 ms' --goal goodput=3s", "unit-of-other-kind"),
    ("transfer 1GB '1 Gbit/s 20 ms' --in 0s", "not-positive"),
    ("transfer 1GB '1 Gbit/s 20 ms' --path '1 Gbit/s 20 ms'", "options-exclusive"),
    ("transfer 50TB --rtt 160ms --window 64KiB --in 60h", "goal-out-of-reach"),
    ("transfer 50TB --in 60h", "path-or-rate"),
])  # fmt: skip
def test_a_goal_that_is_none_is_refused(line, code):
    assert invoke(line).exception.code == code


def test_an_input_of_another_plan_is_refused():
    plan = planning.transfer(1e9, bandwidth_bps=1e9, rtt_s=0.03)
    with pytest.raises(DomainError, match="over"):
        planning.with_goal(plan, goal=20.0, over=["burst_bytes"])


def steps(line):
    return {
        one["change"]["code"]: one for one in json.loads(invoke(f"{line} --json").output)["steps"]
    }


def test_what_would_help_is_what_a_person_can_do():
    """Derived: 16 windows of 64 KiB are 16 times as fast; a path of 40 ms only twice."""
    found = steps("transfer 4TB --rate 10G --rtt 80ms --window 64KiB")
    assert list(found) == ["step-window", "step-flows"]
    assert found["step-flows"]["change"]["values"] == {"flows": "16"}
    one_s = 4e12 * 0.08 / 65536
    assert found["step-flows"]["value"] == pytest.approx(one_s / 16, rel=1e-3)


@pytest.mark.each(("line", "is_there"), [
    ("transfer 1MB '1 Gbit/s 20 ms'", True),  # the round trips of its start limit it
    ("transfer 1MB '1 Gbit/s 1 ms'", False),  # 2 ms are near
    ("transfer 4TB --rate 10G --rtt 80ms --window 64KiB", False),  # a window does more
])  # fmt: skip
def test_a_nearer_server_is_named_where_distance_is_what_limits(line, is_there):
    assert ("step-near" in steps(line)) == is_there


def test_no_plan_asks_for_more_flows_than_programs_open():
    for line in ("transfer 1GB --rate 10G --rtt 80ms --loss 1% --flows 16",
                 "buy 1GB --rate 10G --rtt 80ms --window 4KiB"):  # fmt: skip
        assert "step-flows" not in steps(line)


def test_more_of_the_line_is_better_without_the_tunnel_too():
    """Derived: 862 B less 52 of headers are 90 % of 862 and 38 on the line."""
    plan = planning.with_goal(planning.tunnel("gre"), goal=0.9, answer="plain_efficiency")
    (need,) = (one for one in plan.needs if one.name == "mtu_bytes")
    assert (need.value, need.side) == (862, "least")
