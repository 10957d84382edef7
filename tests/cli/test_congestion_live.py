"""``netcalc congestion --by live``: the kernel's TCP from the command line."""

import json

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.errors import NetcalcError

SCENARIO = {"rate_bps": 1e6, "rtt_s": 0.01, "buffer_packets": 20, "end_s": 3.0, "warm_s": 1.0,
            "flows": [{"algorithm": "reno", "stop_s": 3.0}]}  # fmt: skip
"""The buffer lasts a quarter of a second, so that a flow that waits for a busy processor keeps the
line busy; the mean begins when the losses of slow start have been repaired."""


@pytest.mark.core
@pytest.mark.live
@pytest.mark.namespace
def test_a_scenario_runs_live(tmp_path):
    """derived: a flow alone has 1448 of 1500 bytes of the line, and a buffer above its product."""
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO))
    done = CliRunner().invoke(commands, ["congestion", str(file), "--by", "live", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["by"] == "live"
    assert found["goodput_bps"] == pytest.approx([1e6 * 1448 / 1500], rel=0.02)
    assert found["finish_s"] == [None]


@pytest.mark.each(("option", "value"), [("--stack", "linux"), ("--python", "/usr/bin/python3")])
def test_options_of_another_way_are_refused(tmp_path, option, value):
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO))
    done = CliRunner().invoke(commands, ["congestion", str(file), "--by", "live", option, value])
    assert isinstance(done.exception, NetcalcError)
    assert str(done.exception) == f"{option} and --by live cannot be combined"
