"""The help of every command: short lines, and examples that run as they are printed."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from netcalc import calculator
from netcalc.cli import commands
from netcalc.cli.formulas import example
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
    "class.csv": "name\nAda Lovelace\nKurt Gödel\n",
    "mine.csv": "id,place,quantity,printed,relation,verdict,formula\n"
    "MTU,p. 3,MTU of the link,1500 B,,input,\nA-1,p. 4,a segment,1460 B,,,tcp_payload(MTU)\n",
}  # fmt: skip
COPIES = {
    "ping.txt": Path("data/ping_emulated_t1.txt").resolve(),
    "iperf3.json": INPUTS / "iperf3" / "srv_tcp.json",
    "speedtest.json": INPUTS / "transfers" / "speedtest_ookla.json",
}
LIVE = (
    "netcalc run ", "netcalc lab", "netcalc peer", "netcalc site", "--by live", "--by ns3",
    "live,ns3", "--matrix", "--peer ", "NAME",
)  # fmt: skip
"""Examples that measure, open a server, need a simulator or take minutes: their words are read.

The whole site is written in tests/browser/test_whole_site.py."""


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


def run_of(rate_bps):
    """Return a run of iperf3 of a second."""
    total = {"start": 0, "end": 1, "seconds": 1.0, "bytes": rate_bps / 8,
             "bits_per_second": rate_bps}  # fmt: skip
    row = {"socket": 5, "omitted": False, "sender": True, **total}
    return {
        "start": {"version": "iperf 3.12", "timestamp": {"timesecs": 1_700_000_000},
                  "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0, "omit": 0}},
        "intervals": [{"streams": [row], "sum": row}],
        "end": {"sum_sent": total, "sum_received": total},
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("examples")
    for name, text in FILES.items():
        (path / name).write_text(text, encoding="utf-8")
    for name, source in COPIES.items():
        shutil.copy(source, path / name)
    for kib, rate_bps in ((8, 3.3e6), (16, 6.6e6), (32, 9.4e6)):
        (path / f"w{kib}K.json").write_text(json.dumps(run_of(rate_bps)), encoding="utf-8")
    return path


RUN_HERE = [line for line in EXAMPLES if not any(one in line for one in LIVE)]


@pytest.mark.each("line", [line for line in EXAMPLES if line not in RUN_HERE])
def test_the_words_of_a_live_example_are_known(line):
    """Its command and its options are those of the help; what it does is tried elsewhere."""
    command, context = commands, click.Context(commands)
    words = shlex.split(line.replace("NAME", "bdp"))[1:]
    while isinstance(command, click.Group) and (inner := command.get_command(context, words[0])):
        command, context = inner, click.Context(inner, parent=context)
        words = words[1:]
    assert not isinstance(command, click.Group), line
    known = {
        name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)
    }
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("line", RUN_HERE)
def test_an_example_of_a_help_runs(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    typed, _, _ = line.removeprefix("cat scenario.json | ").partition(" > ")
    if line.startswith("cat"):
        with (folder / "scenario.json").open(encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert said(typed.removeprefix("netcalc "))[0] == 0
        return
    if "results.jsonl --plot" in typed and not (folder / "results.jsonl").exists():
        made = "congestion scenario.json --vary buffer_bdp=0.5,1,2 --out results.jsonl"
        assert said(made)[0] == 0
    if typed.startswith("netcalc class "):
        prepare_class(folder, typed)
    code, answer, errors = said(
        f"{typed.removeprefix('netcalc ')}{' --force' if plots(typed) else ''}"
    )
    assert code == 0, errors
    assert answer


def prepare_class(folder, typed):
    """Make the sheets that an example collects, anew; and none for one that makes them."""
    for name in ("monday", "friday"):
        shutil.rmtree(folder / name, ignore_errors=True)
        if "class collect" in typed and name in typed:
            assert said(f"class sheet {name} --roster class.csv --lessons 01,02")[0] == 0


def plots(line):
    """Whether a line writes a file that another example may have written."""
    return " --plot " in line or " --table " in line


WITHOUT = {
    "hashing.hashed_load_cv", "latency.satellite_rtt_s", "loss_limited.aimd_window_packets",
    "all_reduce.recursive_doubling_allreduce_s", "latency.path_mixes",
    "store_and_forward.equivalent_bandwidth_bps",
}  # fmt: skip
"""Formulas whose docstring has no call that can be typed in one line with these numbers."""


@pytest.mark.each("formula", calculator.formulas().values(), ids=lambda one: one.name)
def test_the_help_of_a_formula_is_narrow_and_has_its_example(formula):
    text = CliRunner().invoke(commands, ["calc", calculator.command(formula), "--help"]).output
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    lines = example(formula)
    assert (formula.name in WITHOUT) == (not lines)
    assert all(len(line) < WIDTH for line in lines)
    assert not lines or f"  {lines[0]}" in text


TYPED = [one for one in calculator.formulas().values() if one.name not in WITHOUT]


def leaves(value):
    """Yield the numbers and words of an answer, however deep they are; JSON has null for nan."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0):
        for one in value:
            yield from leaves(one)
    elif isinstance(value, str) and value not in {"inf", "-inf", "nan"}:
        yield value
    else:
        yield float("nan") if value is None else float(value)


@pytest.mark.each("formula", TYPED, ids=lambda one: one.name)
def test_the_example_of_a_formula_gives_the_number_of_its_docstring(formula):
    """Identity: the words of the help and the call of the docstring have one answer."""
    line = " ".join(one.rstrip("\\") for one in example(formula)).removeprefix("netcalc ")
    code, answer, errors = said(f"{line} --json")
    assert code == 0, errors
    wanted, got = formula.answer(formula.example)[0], json.loads(answer)["result"]
    if hasattr(wanted, "_asdict"):
        assert list(got) == list(wanted._fields)
    found, expected = list(leaves(got)), list(leaves(wanted))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        is_text = isinstance(other, str)
        assert one == (other if is_text else pytest.approx(other, rel=1e-9, nan_ok=True))


def test_nearly_every_formula_has_an_example():
    without = [one.name for one in calculator.formulas().values() if not example(one)]
    assert len(without) <= 6, without
