"""No rate reaches an answer without its layer: text, JSON, headings of CSV, axes of figures.

The layer stands behind the number, ``941.5 Mbit/s (TCP payload)``, in the heading of its column, or
before it, ``a line of 1 Gbit/s``; in JSON as ``layer`` beside the rate, or in ``layers`` by the
names of the rates, there or in an object around it.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import netcalc
from netcalc import messages, rate_layers
from netcalc.cli import commands

PACKAGE = Path(netcalc.__file__).parent
ROOT = PACKAGE.parent
INPUTS = ROOT / "tests" / "readers" / "inputs"
UNIT = "bit/s"
KNOWN = "|".join(re.escape(one) for one in rate_layers.LAYERS)
NAMED = rf"\((?:{KNOWN}|layer not stated|layer of [a-z_ ]+)\)"

# Text that is read back and no answer: a link as a path is written, a line of the command line
WRITTEN = {"path.py": "Path.parse reads it", "units.py": "the home of show and show_rate"}


# Code


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE).as_posix()
        if not relative.startswith("models/") and relative not in WRITTEN:
            yield relative, ast.parse(path.read_text(encoding="utf-8"))


def name_of(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def is_unit(node):
    return isinstance(node, ast.Constant) and node.value == UNIT


SHOWN = {"show", "quantity", "_known", "_or_dash", "_said", "text_of", "_text"}
"""Functions that write a number with its unit."""
HEADED = {
    "cli/congestion/batch.py": 3, "plots/courses.py": 1,  # in tables and legends of goodputs
    "lessons/capacity_planning.py": 3,  # a command line
    "planning/link.py": 1,  # a size of a link in a step: step-link-size names it
    "calculator/parameter.py": 3,  # notes whose sentences name the layer
}  # fmt: skip
"""Calls whose heading or sentence has the layer."""


@pytest.mark.slow
def test_rates_are_written_with_their_layer():
    """Derived: show_rate takes a layer, show none."""
    bare: dict[str, int] = {}
    for relative, tree in modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or name_of(node) not in SHOWN:
                continue
            if any(map(is_unit, [*node.args, *(one.value for one in node.keywords)])):
                bare[relative] = bare.get(relative, 0) + 1
    assert {name: count for name, count in bare.items() if count > HEADED.get(name, 0)} == {}


@pytest.mark.slow
def test_axes_name_the_layer():
    for relative, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name_of(node) == "Axis" and is_unit(node.args[1]):
                assert isinstance(node.args[0], ast.Call), f"{relative}, line {node.lineno}"
                assert name_of(node.args[0]) == "named", f"{relative}, line {node.lineno}"


@pytest.mark.each(
    ("code", "template"),
    [*messages.MESSAGES.items(), *messages.HINTS.items(), *messages.PYTHON_HINTS.items()],
)
def test_sentences_name_the_layer(code, template):
    text = re.sub(r"\{\w+:bit/s[^}]*\}", "RATE", template)
    text = text.replace("{low:bit/s} to RATE", "RATE").replace("RATE to RATE", "RATE")
    behind = rf"RATE(?: ?{NAMED}| \(\{{layer:layer\}}\))"
    assert "RATE" not in re.sub(rf"{behind}|lines? of RATE", "", text), template


# Answers


def run(*arguments):
    done = CliRunner().invoke(commands, list(map(str, arguments)), env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    return done.stdout


BILL = "in [Mbit/s],out [Mbit/s]\n1,2\n3,4\n2,5\n"
USERS = ("--each", "5Mbit/s", "--active", "10%", "--growth", "20..30%", "--line", "1Gbit/s")
FILES = {
    "bill.csv": BILL,
    "octets.csv": "ifHCInOctets [B],ifHCOutOctets [B]\n1e9,2e9\n3e9,4e9\n2e9,5e9\n",
    "links.csv": "from,to,rate,latency\na,b,1 Gbit/s,1 ms\nb,c,1 Gbit/s,1 ms\na,c,1 Gbit/s,5 ms\n",
    "demands.csv": "from,to,rate\na,b,300 Mbit/s\na,c,200 Mbit/s\n",
}
SCENARIO = ("congestion", "--preset", "two-flows")
READ = [path for path in sorted(INPUTS.glob("transfers/*")) + sorted(INPUTS.glob("iperf3/*"))
        if path.name != "MANIFEST.csv"][::6]  # fmt: skip
READ += [INPUTS / "captures" / "dumpcap_lo.pcapng", INPUTS / "counters" / "ss_oneline.txt",
         INPUTS / "transfers" / "curl.json", INPUTS / "transfers" / "dd.txt"]  # fmt: skip
COMMANDS = [
    ("calc", "tcp-goodput-bps", "1500B", "--bandwidth", "1Gbit/s"),
    ("calc", "mathis-throughput", "1500B", "--rtt", "20..30ms", "--loss", "0.01%"),
    ("calc", "mathis-throughput", "1500B", "--rtt", "20..30ms", "--sweep", "loss=0.01%:0.1%:3"),
    ("calc", "serialization", "1..2kB", "--solve", "bandwidth", "--for", "1ms"),
    ("calc", "voip-bandwidth", "160B", "20..30ms", "--link-layer", "ppp"),
    ("explain", "1 Gbit/s 20 ms", "--size", "1GB", "--loss", "0.01%", "--window", "64KiB",
     "--reverse", "10Mbit/s"),
    ("explain", "T1 5 ms", "--size", "1B"),
    ("explain", "--claim", "94 Mbit/s", "--line", "100Mbit/s"),
    ("plan", "transfer", "10GB", "--path", "1 Gbit/s 20 ms"),
    ("plan", "link", "500", *USERS),
    ("plan", "voice", "--erlang", "60", "--codec", "G.711"),
    ("plan", "tunnel", "ipsec", "--rate", "1Gbit/s"),
    ("plan", "buffer", "10Gbit/s", "--rtt", "20ms"),
    ("plan", "backup", "1TB", "--change", "5%", "--in", "8h", "--path", "1 Gbit/s 20 ms"),
    ("plan", "network", "links.csv", "demands.csv"),
    ("billing", "bill.csv"),
    ("billing", "octets.csv", "--interval", "5min"),
    ("billing", "bill.csv", "--layer", "Ethernet frame"),
    SCENARIO,
    *(("read", path) for path in READ),
    *(("explain", path, "--line", "1Gbit/s", "--rtt", "10ms") for path in READ),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("answers")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def placed(arguments, folder):
    return [str(folder / one) if one in FILES else one for one in arguments]


NOT_ANSWERS = ("layers", "values", "printed", "instrument")
"""Layers themselves; values of a sentence; what a tool printed; what a run was set to."""


def named(document, where="", inherited=None):
    """Yield each rate of a JSON document that has no layer."""
    inherited = dict(inherited or {})
    if isinstance(document, list):
        for one in document:
            yield from named(one, where, inherited)
    if not isinstance(document, dict):
        return
    own = document.get("layers")
    for one in own if isinstance(own, list) else [own]:
        inherited |= one if isinstance(one, dict) else {}
    layer = document.get("layer")
    if document.get("unit") == UNIT and not layer:
        yield f"{where}: unit {UNIT}"
    for name, value in document.items():
        is_rate = name.endswith("_bps") and isinstance(value, int | float | list)
        found = layer or inherited.get(name)
        if is_rate and found not in rate_layers.LAYERS:
            yield f"{where}.{name}"
        if name not in NOT_ANSWERS:
            yield from named(value, f"{where}.{name}", inherited)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda one: " ".join(map(str, one))[-70:])
def test_json_has_the_layer_of_each_rate(arguments, folder):
    for line in run(*placed(arguments, folder), "--json").splitlines():
        assert list(named(json.loads(line))) == []


RATE = re.compile(r"[\d.]+ (?:[kMGT]i?)?bit/s(?! to )")


PLAIN = r"[\d.]+ [kMG]?bit/s"


def paragraphs(text):
    """Yield each line that is not of a table with a layer in its headings."""
    for block in text.split("\n\n"):
        lines = block.splitlines()
        headed = any(re.search(NAMED, one) and not RATE.search(one) for one in lines)
        joined = re.sub(r"\n(?! *[\w-]+:? )", " ", block) if not headed else ""
        yield from re.split(r"\n(?=\S)", joined)


IN_WORDS = ("--claim",)
"""Commands that say in words what each rate is: the goodput of TCP, the rate of the line."""


@pytest.mark.parametrize(
    "arguments", [one for one in COMMANDS if not set(one) & set(IN_WORDS)],
    ids=lambda one: " ".join(map(str, one))[-70:],
)  # fmt: skip
def test_text_has_the_layer_of_each_rate(arguments, folder):
    for line in paragraphs(run(*placed(arguments, folder))):
        line = re.sub(rf"{PLAIN}, p5 {PLAIN}, p95 {PLAIN} {NAMED}", "", line)
        line = re.sub(r"(?:lines?|links?) of [\d.]+ \S*bit/s", "", " ".join(line.split()))
        line = re.sub(rf" ± {PLAIN}(?= {NAMED})", "", line)  # an error is of the layer of its rate
        for found in RATE.finditer(line):
            rest = line[found.end() :]
            assert re.match(rf" ?{NAMED}|, p5 .*{NAMED}", rest), (found[0], line)


@pytest.mark.each(
    ("arguments", "heading", "source"),
    [
        (("calc", "tcp-goodput-bps", "1500B", "--bandwidth", "1Gbit/s", "--csv"),
         "tcp_goodput_bps [bit/s, TCP payload]", "identity: the layer of the formula"),
        (("calc", "frame-throughput", "--bandwidth", "1Gbit/s", "--sweep", "frame=64B:128B:2",
          "--csv"), "frame_throughput_bps [bit/s, Ethernet frame]", "identity: as above"),
        (("export", INPUTS / "iperf3" / "tcp_int.json", "--to", "csv"),
         "throughput_bps [TCP payload]", "published: iperf3's FAQ, without headers"),
        (("export", INPUTS / "iperf3" / "udp_int.json", "--to", "csv"),
         "throughput_bps [UDP payload]", "published: iperf3's FAQ, without headers"),
    ],
)  # fmt: skip
def test_headings_of_csv_name_the_layer(arguments, heading, source):
    lines = [line for line in run(*arguments).splitlines() if not line.startswith("#")]
    assert heading in next(csv.reader(io.StringIO(lines[0]))), source
