"""The help of every command: short lines, and examples that run as they are printed."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import calculator
from netcalc.cli import commands
from netcalc.cli.formulas.example import example
from tests.reference.test_phrasings import said

WIDTH = 80
INPUTS = Path("tests/readers/inputs").resolve()
FILES = {
    "november.csv": "in [Mbit/s],out [Mbit/s]\n" + "".join(f"{n},{n / 2}\n" for n in range(1, 41)),
    "links.csv": "from,to,rate,latency\na,b,10 Gbit/s,5 ms\nb,c,1 Gbit/s,1 ms\n",
    "demands.csv": "from,to,rate\na,c,100 Mbit/s\n",
    "scenario.json": json.dumps({
        "rate_bps": 1e7, "rtt_s": 0.02, "buffer_bdp": 1.0, "end_s": 5.0,
        "flows": [{"algorithm": "cubic", "start_s": 0.0}],
    }),
    "mine.csv": "id,place,quantity,printed,relation,verdict,formula\n"
    "MTU,p. 3,MTU of the link,1500 B,,input,\nA-1,p. 4,a segment,1460 B,,,tcp_payload(MTU)\n",
}  # fmt: skip
COPIES = {
    "ping.txt": Path("data/ping_emulated_t1.txt").resolve(),
    "iperf3.json": INPUTS / "iperf3" / "srv_tcp.json",
    "speedtest.json": INPUTS / "transfers" / "speedtest_ookla.json",
}
LIVE = ("netcalc run ", "netcalc lab", "--by live", "--by ns3", "live,ns3", "--matrix", "NAME")
"""Examples that measure, open a server or need a simulator: only their words are read."""


def helps(path=(), command=commands, parent=None):
    """Return each command that is no formula, with its help."""
    context = click.Context(command, info_name=(path or ("netcalc",))[-1], parent=parent)
    found = {path: command.get_help(context)}
    if isinstance(command, click.Group) and path != ("calc",):
        for name in command.list_commands(context):
            found |= helps((*path, name), command.get_command(context, name), context)
    return found


HELPS = helps()
EXAMPLES = sorted(
    {
        line.strip()
        for text in HELPS.values()
        for line in text.splitlines()
        if line.startswith(("  netcalc ", "  cat "))
    }
)


@pytest.mark.each(("path", "text"), HELPS.items())
def test_a_help_fits_a_terminal(path, text):
    done = CliRunner().invoke(commands, [*path, "--help"])
    assert done.exit_code == 0
    assert [line for line in done.output.splitlines() if len(line) > WIDTH] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("examples")
    for name, text in FILES.items():
        (path / name).write_text(text, encoding="utf-8")
    for name, source in COPIES.items():
        shutil.copy(source, path / name)
    return path


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_of_a_help_runs(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    if any(one in line for one in LIVE):
        words = shlex.split(line)[1:]
        assert words[0] in dict.fromkeys(commands.list_commands(click.Context(commands)))
        return
    typed, _, _ = line.removeprefix("cat scenario.json | ").partition(" > ")
    if line.startswith("cat"):
        with (folder / "scenario.json").open(encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert said(typed.removeprefix("netcalc "))[0] == 0
        return
    if "results.jsonl --plot" in typed and not (folder / "results.jsonl").exists():
        made = "congestion scenario.json --vary buffer_bdp=0.5,1,2 --out results.jsonl"
        assert said(made)[0] == 0
    code, answer, errors = said(
        f"{typed.removeprefix('netcalc ')}{' --force' if plots(typed) else ''}"
    )
    assert code == 0, errors
    assert answer


def plots(line):
    """Whether a line writes a file that another example may have written."""
    return " --plot " in line or " --table " in line


@pytest.mark.each("formula", calculator.formulas().values(), ids=lambda one: one.name)
def test_the_example_of_a_formula_gives_the_number_of_its_docstring(formula):
    """Identity: the words of the help and the call of the docstring have one answer."""
    lines = example(formula)
    assert all(len(line) < WIDTH for line in lines)
    text = CliRunner().invoke(commands, ["calc", calculator.command(formula), "--help"]).output
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    if not lines:
        return
    assert f"  {lines[0]}" in text
    line = " ".join(one.rstrip("\\") for one in lines).removeprefix("netcalc ")
    code, answer, errors = said(f"{line} --json")
    assert code == 0, errors
    if hasattr(wanted := formula.answer(formula.example)[0], "_asdict"):
        return
    got = np.ravel(np.asarray(json.loads(answer)["result"], dtype=float))
    np.testing.assert_allclose(got, np.ravel(np.asarray(wanted, dtype=float)), rtol=1e-9)


def test_nearly_every_formula_has_an_example():
    without = [one.name for one in calculator.formulas().values() if not example(one)]
    assert len(without) <= 6, without
