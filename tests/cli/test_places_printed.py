"""``netcalc read`` names layer and side beside each number, of every kind of fixture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.errors import ReaderError
from netcalc.readers import places, read
from netcalc.samples import Samples

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


@pytest.mark.parametrize("options", [[], ["--all"], ["--json"]])
@pytest.mark.parametrize(
    ("head", "run_text"),
    [
        ("MIGRATED TCP STREAM TEST from 0.0.0.0 port 0 AF_INET to 192.0.2.1 port 0\n",
         "THROUGHPUT=938.51\nTHROUGHPUT_UNITS=10^6bits/s\n"),
        ("", '[{"server": {"name": "Example", "url": "http://speed.example.net/"},'
             ' "client": {"ip": "192.0.2.2"}, "bytes_sent": 25165824, "ping": 9.8,'
             ' "bytes_received": 117642500, "jitter": 0.4, "upload": 20.0,'
             ' "download": 94.11}]\n'),
    ],
    ids=["netperf", "librespeed"],
)  # fmt: skip
def test_a_run_does_not_ask_for_the_facts_of_all_others(
    head, run_text, options, tmp_path, monkeypatch
):
    asked = []
    facts = Samples.facts
    monkeypatch.setattr(Samples, "facts", lambda self: asked.append(1) or facts(self))
    file, counts = tmp_path / "runs.txt", []
    for count in (20, 200):
        asked.clear()
        file.write_text(head + run_text * count)
        assert run("read", str(file), *options).exit_code == 0
        counts.append(len(asked))
    assert counts[0] == counts[1]
