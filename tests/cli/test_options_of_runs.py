"""The options of ``netcalc run``: made from the experiments, with their names and defaults."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import click
import numpy as np
import pytest

import netcalc.cli
from netcalc import experiments, messages
from netcalc.cli import main
from netcalc.cli.calc import formula_command
from netcalc.cli.explain import explain
from netcalc.cli.read import read
from netcalc.cli.run import run
from netcalc.cli.validate import validate
from netcalc.experiments import EXPERIMENTS
from netcalc.messages import TYPED_HINTS
from netcalc.samples import RttSamples

MEASURES = {experiment.command: experiment.measure for experiment in EXPERIMENTS.values()}
FORMER = {
    "echo": "--protocol --size --count --interval --timeout --host --port",
    "small-writes": "--mode --write --count --reply --interval --gap --quickack --autocorking "
    "--host --pcap --timeout",
    "transactions": "--protocol --size --count --mtu --host --pcap --timeout",
    "bulk": "--protocol --size -s --count -c --buffer -b --together --congestion --limit --host "
    "--mtu --loss --seed --runs --link-buffer",
    "line-rate": "--frame --duration --together --routed --node-rate --node-input --runs "
    "--link-buffer",
    "lockstep": "--pairs --size --reply --duration --routed --runs --link-buffer",
    "probing": "--size --count --timeout",
    "packet-trains": "--size --packets --count --cross --timeout",
}
"""What could be typed while the options were written by hand."""
OF_ALL = ["--path", "--save", "--plot", "--force", "--json"]


def names(option):
    """All names of an option, those that the help does not show included."""
    return {*option.opts, *option.secondary_opts, *getattr(option, "aliases", ())}


def test_every_command_has_an_experiment():
    assert set(run.commands) == set(MEASURES)


@pytest.mark.each("command", MEASURES)
def test_every_argument_has_an_option_and_its_default(command):
    options = {option.name: option for option in run.commands[command].params}
    own = {"path", "peer", "progress", "stop", "save"}
    for name, argument in inspect.signature(MEASURES[command]).parameters.items():
        if name in own:
            continue
        option, default = options[name], argument.default
        assert f"--{name.replace('_', '-')}" in names(option) or isinstance(default, bool)
        if option.multiple:
            assert option.default is None or option.default == (), "that of the experiment holds"
        else:
            assert option.default == default
    assert {"path_text", "save_path"} <= set(options)
    at_peer = "peer" in inspect.signature(MEASURES[command]).parameters
    assert ({"peer_text", "token"} <= set(options)) == at_peer


@pytest.mark.each("command", FORMER)
def test_every_option_of_before_works(command):
    known = set().union(*(names(option) for option in run.commands[command].params))
    assert set(FORMER[command].split()) <= known


@pytest.mark.each("command", MEASURES)
def test_every_command_has_the_options_of_all(command):
    known = set().union(*(names(option) for option in run.commands[command].params))
    assert set(OF_ALL) <= known


def test_a_former_name_is_not_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["run", "bulk", "--help"])
    shown = capsys.readouterr().out
    assert "--gso" in shown
    assert "--together" not in shown


def test_a_default_of_many_values_is_shown_by_its_range(capsys):
    with pytest.raises(SystemExit):
        main(["run", "echo", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "[default: 15 values from 8 B to 1400 B]" in shown  # published: Stevens, A.2
    assert "[default: 127.0.0.1]" in shown


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], {"count": 10, "timeout_s": 1.0, "protocol": "udp", "host": "127.0.0.1"}),
        (["--size", "64B", "--size", "1KiB"], {"payload_bytes": (64, 1024)}),
        (["--payload-bytes", "64B", "--timeout-s", "20ms"], {"payload_bytes": (64,),
                                                             "timeout_s": 0.02}),
    ],
    ids=["none", "several", "full names"],
)  # fmt: skip
def test_what_is_typed_reaches_the_experiment(arguments, given, monkeypatch):
    asked = {}

    def measure(**options):
        asked.update(options)
        return RttSamples(payload_bytes=[8.0], rtt_s=[0.1])

    monkeypatch.setattr(experiments, "echo", measure)
    with pytest.raises(SystemExit):
        main(["run", "echo", *arguments])
    assert {name: asked.get(name) for name in given} == given
    assert ("payload_bytes" in asked) == (arguments != []), "else the experiment's own sizes"
    assert np.ndim(asked["path"]) == 0


OF_FILES = {"no-header", "data-for-header", "named-column-without-unit"}
"""Codes that reading a file raises, and no run."""
OF_EXPLAIN = {"claim-without-facts"}
"""Codes that explaining a number raises, and no run."""

OF_VALIDATE = {"machine-cannot-judge"}
"""Codes that a table of truth raises, and no run."""
OF_RANGES = {"draws-impossible", "draws-refused"}
"""Codes that a formula with ranges raises, and no run."""


@pytest.mark.each("code", TYPED_HINTS)
def test_a_hint_for_the_command_line_names_options_that_exist(code):
    known = set().union(
        *(names(option) for command in run.commands.values() for option in command.params),
        *(names(option) for option in read.params if code in OF_FILES),
        *(names(option) for option in explain.params if code in OF_EXPLAIN),
        *(names(option) for option in validate.params if code in OF_VALIDATE),
        *(names(option) for option in formula_command("bdp").params if code in OF_RANGES),
    )
    assert set(re.findall(r"--[a-z0-9-]+", TYPED_HINTS[code])) <= known
    assert not re.search(r"\w_\w+=|Path\.parse", TYPED_HINTS[code])


def test_no_hint_of_a_run_names_an_argument_to_those_who_type():
    checked_before = {"not-a-path", "needs-a-path"}  # the command refuses it by itself
    folder = Path(messages.__file__).parent
    entries = [
        *json.loads((folder / "running.json").read_text(encoding="utf-8")).items(),
        *json.loads((folder / "emulating.json").read_text(encoding="utf-8")).items(),
    ]
    assert len(entries) > 100
    for code, entry in entries:
        said = re.sub(r"{.*?}", "", entry.get("hint", ""))
        if re.search(r"\b[a-z]+_(s|bytes|count|ratio)\b|\b[a-z]+=", said):
            assert code in {*TYPED_HINTS, *checked_before}, said


READING = {"startswith", "endswith", "removesuffix", "removeprefix", "sub", "search", "match"}


@pytest.mark.each(
    "path", sorted(Path(netcalc.cli.__file__).parent.glob("*.py")), ids=lambda path: path.stem
)
def test_nothing_decides_on_the_wording_of_an_error(path):
    """No ``error.args``, and no text method on what an error or its hint says."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "args":
            assert ast.unparse(node.value) not in ("error", "caught"), ast.unparse(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = [ast.unparse(part) for part in (node.func.value, *node.args)]
            if node.func.attr in READING:
                assert not any(re.search(r"\berror\b|\bhint\b", text) for text in called)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            compared = ast.unparse(node.comparators[0])
            assert not re.search(r"str\(error\)|error\.(what|hint)|format_message", compared)


def test_options_are_click_options_of_one_dest_each():
    for command in run.commands.values():
        dests = [option.name for option in command.params]
        assert len(dests) == len(set(dests))
        assert all(isinstance(option, click.Option) for option in command.params)
