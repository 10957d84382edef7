"""The puzzles of lesson 8: whole, small, loadable, and explained as their truth demands."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from netcalc import datasets, explain
from netcalc.errors import DatasetError, DomainError
from netcalc.explain import Known
from netcalc.plots.measured import line_share
from netcalc.readers.captures.tcp import analyse_tcp, tcp_flows
from netcalc.samples import FlowSeries, PacketTrace, RttSamples

FOLDER = Path(__file__).parent.parent / "data" / "puzzles"
NAMES = datasets.puzzles()
MOST_BYTES = 100_000


def largest_flow(name):
    """The direction of a capture that carried most, and the other one."""
    trace = datasets.puzzle(name).load()
    assert isinstance(trace, PacketTrace)
    table = tcp_flows(analyse_tcp(trace)).columns()
    row = int(np.argmax(table["payload_bytes"]))
    return ({key: column[at] for key, column in table.items()} for at in (row, row ^ 1))


def fastest(name):
    """The explanation of the run or flow that carried most."""
    one = datasets.puzzle(name)
    found = explain.measurement(one.load(), Known(**one.stated))
    return max(found, key=lambda each: each.measured)


@pytest.mark.each("name", NAMES)
def test_a_puzzle_is_whole_and_small(name):
    one = datasets.puzzle(name)
    data = (FOLDER / one.file).read_bytes()
    assert hashlib.sha256(data).hexdigest() == one.sha256
    assert len(data) < MOST_BYTES
    assert len(one.load()) >= 4
    assert one.commands
    assert one.tool.rstrip("3") in one.tool_version
    assert {"line_bps", "rtt_s"} <= set(one.truth)
    told = {key: one.truth[key] for key in one.stated}
    assert told == one.stated, "the question tells nothing but the truth"
    assert one.question.endswith(("?", "."))


def test_every_file_of_the_folder_belongs_to_a_puzzle():
    wanted = {datasets.puzzle(name).file for name in NAMES} | {"manifest.json"}
    assert {file.name for file in FOLDER.iterdir()} == wanted
    assert len(NAMES) == 10


@pytest.mark.each(
    ("name", "binding", "source"),
    [
        ("window", "receive-window", "derived: the path and the buffers that were set"),
        ("slow_start", "slow-start", "derived: less data than one window of the line"),
        ("stall", "delayed-ack", "derived: two writes for each question"),
        ("sender", "line", "derived: 10 Mbit/s was set, 20 Mbit/s were asked for"),
        ("lossy", "loss-mathis", "derived: 0.5% was set, and Reno"),
        ("line", "line", "derived: nothing but the line was set"),
        ("fragments", "fragments", "derived: 1428 bytes over an MTU of 1400"),
        ("acknowledgements", "acknowledgements", "derived: 200 kbit/s back were set"),
    ],
)
def test_the_explanation_names_what_was_set(name, binding, source):
    if name == "stall":  # the side that asked, not the one that is faster by its answers
        one = datasets.puzzle(name)
        found = explain.measurement(one.load(), Known(**one.stated))
        assert any(each.binding.name == binding and each.is_explained for each in found), source
        return
    found = fastest(name)
    assert found.binding.name == binding, source
    # The capture of fragments begins with a pause of 30 ms in 0.55 s, which lowers its mean rate.
    assert found.is_explained or (name == "fragments" and found.share_ratio > 0.93)


def test_the_path_is_the_one_that_was_set():
    for name in ("window", "slow_start", "stall", "acknowledgements"):
        forth, _ = largest_flow(name)
        # measured beside the truth: the carrier is some 0.1 ms late, more on a busy machine
        assert forth["handshake_rtt_s"] == pytest.approx(
            datasets.puzzle(name).truth["rtt_s"], abs=2e-3
        )


def test_the_window_is_never_larger_than_the_receiver_offers():
    forth, back = largest_flow("window")
    assert forth["in_flight_bytes"] <= back["window_max_bytes"]
    assert back["window_max_bytes"] == datasets.puzzle("window").truth["window_bytes"]
    assert back["window_max_bytes"] < datasets.puzzle("window").truth["receive_buffer_bytes"]


def test_a_router_that_takes_half_a_millisecond_passes_2000_packets():
    flows = datasets.puzzle("small_packets").load()
    assert isinstance(flows, FlowSeries)
    truth = datasets.puzzle("small_packets").truth
    for row in flows.facts():
        size = row["sent_byte_count"] / row["datagram_count"]
        # derived: 1 / 0.5 ms; its buffer of 100 packets drains after the last one was sent
        assert row["received_rate_bps"] / 8 / size == pytest.approx(truth["device_pps"], rel=0.01)


def test_the_queue_of_the_ping_is_the_buffer_that_was_set():
    probes = datasets.puzzle("bloat").load()
    assert isinstance(probes, RttSamples)
    truth = datasets.puzzle("bloat").truth
    full_s = 8 * truth["buffer_bytes"] / truth["line_bps"]
    waits = probes.best_s - truth["rtt_s"]
    # derived: 120 kB at 4 Mbit/s are 240 ms, and 38 bytes more of each packet on the line;
    # measured: the machine that recorded it was late for a few probes
    assert full_s * 0.8 < np.percentile(waits, 80) < full_s * 1.1


def test_each_datagram_comes_in_two_pieces():
    trace = datasets.puzzle("fragments").load()
    assert isinstance(trace, PacketTrace)
    sizes, counts = np.unique(trace.ints("packet_bytes"), return_counts=True)
    common = set(sizes[np.argsort(-counts)[:2]].tolist())
    # derived: 1408 bytes of UDP in pieces of 1376, a multiple of 8, and 32, each with 20 of IP
    assert common == {1396, 52}


def test_the_ceiling_of_the_line_at_its_layer():
    # identity: 1448 of 1538 bytes, 1400 of 1466, 100 of 166
    assert line_share(1448, 52) == pytest.approx(1448 / 1538)
    assert line_share(1400, 28) == pytest.approx(1400 / 1466)
    assert line_share(100, 28) == pytest.approx(100 / 166)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the data folder, in place of the real one."""
    shutil.copytree(FOLDER.parent, tmp_path / "data")
    monkeypatch.setattr(datasets, "data_folder", lambda: tmp_path / "data")
    return tmp_path / "data" / "puzzles"


def test_a_changed_or_missing_file_is_named(copy):
    (copy / "line.json").write_text("{}", encoding="utf-8")
    (copy / "stall.pcap.gz").unlink()
    for name, code in (("line", "data-changed"), ("stall", "data-missing")):
        with pytest.raises(DatasetError) as caught:
            datasets.puzzle(name).load()
        assert caught.value.code == code
    assert len(datasets.puzzle("sender").load()) > 0
    (copy / "manifest.json").write_text('{"puzzles": [{"name": 1}]}', encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        datasets.puzzles()
    assert caught.value.code == "index-damaged"


def test_an_unknown_puzzle_is_answered_with_the_known_ones():
    with pytest.raises(DomainError) as caught:
        datasets.puzzle("nothing")
    assert caught.value.values["choices"] == NAMES
