"""What the rates of each tool count, by its documentation, and what a heading says."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from netcalc import rate_layers
from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.readers.columns import read_usage
from netcalc.readers.places import TOOLS, layers_of_columns, layers_of_row, rate_layer
from netcalc.readers.saved import csv_text
from netcalc.samples import FlowSeries, Meta, Table, loads

INPUTS = Path(__file__).parent / "inputs"


@pytest.mark.each(
    ("name", "fact", "layer", "source"),
    [
        ("iperf3/tcp.json", "sent_rate_bps", "TCP payload", "published: iperf3's FAQ"),
        ("iperf3/udp.json", "sent_rate_bps", "UDP payload", "published: iperf3's FAQ"),
        ("transfers/iperf2_udp.txt", "sent_rate_bps", "UDP payload", "published: iperf(1)"),
        ("transfers/curl.json", "received_rate_bps", "HTTP body", "published: curl(1)"),
        ("transfers/dd.txt", "sent_rate_bps", "file", "published: dd(1)"),
        ("transfers/flowmon.xml", "received_rate_bps", "IP", "published: ns-3, FlowMonitor"),
        ("transfers/ndt7_client.jsonl", "received_rate_bps", "payload", "published: ndt7, AppInfo"),
    ],
)
def test_a_rate_is_of_the_layer_that_its_tool_documents(name, fact, layer, source):
    samples = read(INPUTS / name)
    rows = [row for row in samples.facts() if fact in row]
    assert rows
    for row in rows:
        assert layers_of_row(samples, row)[fact] == layer, source


@pytest.mark.each("name", ["Ookla", "LibreSpeed", "ethtool -S", "a tool of tomorrow"])
def test_what_nobody_says_is_unknown(name):
    samples = Table(data={"rate_bps": [1.0]}, meta=Meta(tool=name, units={"rate_bps": "bit/s"}))
    # published: neither Ookla's nor LibreSpeed's documents say it; a driver names its own counters
    assert layers_of_columns(samples) == {"rate_bps": "unknown"}


def test_a_tool_of_two_protocols_needs_to_know_which():
    flow = {"start_s": [0.0], "duration_s": [1.0], "throughput_bps": [1.0]}
    without = FlowSeries(**flow, meta=Meta(tool="iperf3"))
    assert rate_layer(without, {}, "throughput_bps") == "unknown"
    udp = FlowSeries(**flow, meta=Meta(tool="iperf3", protocol="udp"))
    assert rate_layer(udp, {}, "throughput_bps") == "UDP payload"
    by_facts = FlowSeries(**flow, meta=Meta(tool="iperf3", facts=({"protocol": "tcp"},)))
    assert rate_layer(by_facts, {}, "throughput_bps") == "TCP payload"


@pytest.mark.each(
    ("tool", "layer"), [("netcalc lockstep", "TCP payload"), ("netcalc line-rate", "UDP payload")]
)
def test_the_runs_of_netcalc_by_the_sockets_that_they_open(tool, layer):
    """Identity: ``lockstep`` waits on connections, ``line_rate`` sends datagrams."""
    run = FlowSeries(start_s=[0.0], duration_s=[1.0], throughput_bps=[1.0], meta=Meta(tool=tool))
    assert rate_layer(run, {}, "throughput_bps") == layer


def test_every_tool_has_a_layer_of_the_list():
    layers = {counted.rates for counted in TOOLS.values()} - {None, "transport"}
    assert layers <= set(rate_layers.LAYERS)


def test_every_rate_of_every_file_has_a_layer():
    for path in sorted(one for one in INPUTS.rglob("*") if one.is_file()):
        try:
            samples = read(path)
        except ReaderError:
            continue  # its refusal has a test of its own
        for row in samples.facts():
            assert set(layers_of_row(samples, row).values()) <= set(rate_layers.LAYERS)
        known = set(layers_of_columns(samples).values()) - {"unknown"}
        if any(fnmatch(path.name, one) for one in ("iperf*", "tcp*.json", "udp*.json", "ss_*")):
            assert known or not layers_of_columns(samples), path.name


def test_a_heading_names_the_layer_and_the_way_back_keeps_it():
    text = 'time_s,"rate [Mbit/s, TCP payload]"\n1,10\n2,20\n'
    found = read(text.encode())
    assert found.columns()["rate_bps"].tolist() == [10e6, 20e6]
    assert layers_of_columns(found) == {"rate_bps": "TCP payload"}
    assert "rate_bps [TCP payload]" in csv_text(found).splitlines()[1]
    again = read(csv_text(found).encode())
    assert layers_of_columns(again) == {"rate_bps": "TCP payload"}


def test_files_saved_before_stay_readable():
    flow = {"start_s": [0.0], "duration_s": [1.0], "throughput_bps": [1.0]}
    saved = FlowSeries(**flow, meta=Meta(tool="iperf3", protocol="tcp")).dumps()
    assert b'"throughput_bps": "application"' in saved  # as written from the first version on
    found = loads(saved)
    assert layers_of_columns(found) == {"throughput_bps": "TCP payload"}
    old = csv_text(found).replace(" [TCP payload]", "")
    assert read(old.encode()).columns().keys() == found.columns().keys()


@pytest.mark.each(
    ("heading", "layer", "source"),
    [
        ("ifHCInOctets [B],ifHCOutOctets [B]", "Ethernet frame", "published: RFC 3635, 3.2.6"),
        ('"in [Mbit/s, IP]","out [Mbit/s, IP]"', "IP", "identity: as the heading says"),
        ("in [Mbit/s],out [Mbit/s]", "unknown", "derived: nobody says it"),
    ],
)
def test_samples_of_use_count_what_their_headings_say(heading, layer, source):
    usage = read_usage(f"{heading}\n1,2\n3,4\n")
    assert set(usage.layers.values()) == {layer}, source
    assert len(usage.layers) == 2
