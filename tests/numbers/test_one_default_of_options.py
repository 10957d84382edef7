"""Segments carry timestamps by default, in every command alike, and the answer says so."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import netcalc
from netcalc import calculator
from netcalc.cli import commands

SHARE = 1448 / 1538  # derived: 1500 - 20 - 20 - 12 of 1500 + 18 + 20 bytes
HOMES = {
    "TIMESTAMP_BYTES": "models/sizes/headers.py",
    "STAMPED_HEADERS_BYTES": "models/sizes/headers.py",
    "INITIAL_WINDOW_SEGMENTS": "models/tcp/slow_start.py",
}
PACKAGE = Path(netcalc.__file__).parent


def document(*arguments):
    done = CliRunner().invoke(commands, [*arguments, "--json"])
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def test_all_commands_have_one_goodput():
    line = ("--bandwidth", "1Gbit/s")
    found = {
        "calc": document("calc", "tcp-goodput-bps", "1500B", *line)["result"],
        "tunnel": document("calc", "tunnel-goodput", "1500B", "--stack", "none", *line)["result"],
        "explain": document("explain", "1 Gbit/s 20 ms")["rate"]["rate_bps"],
    }
    assert found == pytest.approx(dict.fromkeys(found, 1e9 * SHARE)), "derived"


@pytest.mark.each("name", ["tcp_goodput_ratio", "tcp_goodput_bps", "tcp_ack_wire_bytes",
                           "ack_reverse_utilization", "half_duplex_goodput_bps",
                           "tunnel_goodput_bps", "transfer_time_s"])  # fmt: skip
def test_the_options_are_said(name):
    formula = calculator.formula(name)
    assert "tcp_option_bytes" in formula.said_defaults
    assert formula.parameter("tcp_option_bytes").default == 12  # published: RFC 7323, appendix A


def test_a_transfer_of_a_byte_is_a_frame():
    parts = document("explain", "1 Gbit/s 20 ms", "--size", "1B")["transfer"]["parts"]
    (line,) = [part for part in parts if part["name"] == "line"]
    # derived: 1 byte, 20 of TCP, 12 of timestamps, 20 of IP, 18 of Ethernet, 20 between frames
    assert line["time_s"] == pytest.approx(91 * 8 / 1e9)
    assert "1 frame of 91 B" in line["arithmetic"]


def test_a_constant_has_one_home():
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                names = {getattr(one, "id", "") for one in node.targets} & HOMES.keys()
                for name in names:
                    assert str(path.relative_to(PACKAGE)) == HOMES[name]
