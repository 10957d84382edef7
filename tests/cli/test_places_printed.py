"""``netcalc read`` names layer and side beside each number, of every kind of fixture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.errors import ReaderError
from netcalc.readers import places, read

INPUTS = Path(__file__).parents[1] / "readers" / "inputs"
FILES = [path for path in sorted(INPUTS.rglob("*")) if path.is_file()]


def run(*arguments):
    return CliRunner().invoke(commands, list(arguments), env={"COLUMNS": "200"})


@pytest.mark.parametrize("path", FILES, ids=[str(one.relative_to(INPUTS)) for one in FILES])
def test_every_number_of_a_file_has_its_place(path):
    try:
        samples = read(path)
    except ReaderError:
        return  # its refusal has a test of its own
    document = json.loads(run("read", str(path), "--json").stdout)
    for row, found in zip(samples.facts(), document["places"], strict=True):
        named = {name: places.place(samples, row, name) for name in row}
        assert set(found) == {name for name, one in named.items() if one != places.MeasuringPoint()}
        for name, one in found.items():
            assert one["layer"] == named[name].layer
    numbers = {name for row in samples.facts() for name, value in row.items()
               if name.endswith(("_s", "_bps", "_byte_count")) and ":" not in name}  # fmt: skip
    unplaced = {"duration_s", "omitted_s"}  # of the run
    assert all(any(name in row for row in document["places"]) for name in numbers - unplaced)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("transfers/flowmon.xml", "IP packets, sender"),
        ("pings/irtt.json", "UDP datagrams, round trip, sender"),
        ("transfers/iperf3_udp.json", "UDP datagrams, one way, receiver"),
        ("counters/ip_s.txt", "frames at the interface, this host"),
        ("captures/dumpcap_lo.pcapng", "TCP handshakes, round trip, where it was captured"),
    ],
)
def test_the_text_names_layer_and_side(name, expected):
    assert expected in run("read", str(INPUTS / name), "--all").output
