"""Which comparison a run gets: by its recorded facts, and for older files by tool and target."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare
from netcalc.compare import _runs
from netcalc.fit import costs
from netcalc.path import Path
from netcalc.samples import BulkSamples, Meta, TransactionSamples, load

T1_TRUTH = {
    "bandwidths_bps": [1.544e6], "latencies_s": [0.005], "processings_s": [0.0, 0.0],
    "mtu_bytes": 1500,
}  # fmt: skip


@pytest.mark.each(
    ("meta", "expected"),
    [
        (Meta(experiment="line_rate"), "line_rate"),
        (Meta(experiment="small_writes"), "small_writes"),
        (Meta(tool="netcalc line-rate"), "line_rate"),
        (Meta(tool="netcalc small-writes"), "small_writes"),
        (Meta(tool="netcalc transactions"), "transactions"),
        (Meta(tool="netcalc lockstep"), "lockstep"),
        (Meta(tool="netcalc line-rate", experiment="bulk"), "bulk"),
        (Meta(tool="iperf3"), ""),
        (Meta(), ""),
    ],
)
def test_the_experiment_of_a_run(meta, expected):
    assert _runs.experiment(meta) == expected


@pytest.mark.each(
    ("meta", "expected"),
    [
        (Meta(protocol="udp"), "udp"),
        (Meta(protocol="tcp", target="loopback, UDP"), "tcp"),
        (Meta(target="loopback, UDP"), "udp"),
        (Meta(target="emulated path, TCP"), "tcp"),
        (Meta(target="UDP.example.org"), "udp.example.org"),
        (Meta(), ""),
    ],
)
def test_the_protocol_of_a_run(meta, expected):
    assert costs.protocol(meta) == expected


def requests(**meta):
    return TransactionSamples(
        mode=["udp"] * 3, sequence=[1, 2, 3], payload_bytes=[8.0, 500.0, 1400.0],
        response_s=[0.1, 0.11, 0.12], meta=Meta(**meta),
    )  # fmt: skip


@pytest.mark.each(
    ("meta", "x_name"),
    [
        ({"experiment": "small_writes"}, "exchange"),
        ({"tool": "netcalc small-writes", "instrument": {"write_bytes": [4, 4]}}, "exchange"),
        ({"instrument": {"write_bytes": [4, 4]}}, "exchange"),
        ({"experiment": "transactions", "instrument": {"write_bytes": [4, 4]}}, "user data"),
        ({"tool": "netcalc transactions"}, "user data"),
        ({}, "user data"),
    ],
)
def test_requests_are_compared_by_round_or_by_size(meta, x_name):
    assert compare.overlay(requests(**meta)).x_name == x_name


def transfers(buffers=(np.nan, np.nan), **meta):
    size = np.array([64.0, 1440.0])
    return BulkSamples(
        write_bytes=size, write_count=[10.0, 10.0], sent_bytes=10 * size, wall_s=[1e-3, 2e-3],
        received_bytes=10 * size, delivery_s=[1e-3, 2e-3], asked_buffer_bytes=list(buffers),
        meta=Meta(**meta),
    )  # fmt: skip


@pytest.mark.each(
    ("meta", "x_name"),
    [
        ({"experiment": "line_rate"}, "frame with FCS"),
        ({"tool": "netcalc line-rate"}, "frame with FCS"),
        ({"tool": "netcalc bulk"}, "size of the write"),
        ({"experiment": "bulk", "tool": "netcalc line-rate"}, "size of the write"),
    ],
)
def test_transfers_are_compared_by_frame_or_by_write(meta, x_name):
    assert compare.overlay(transfers(**meta)).x_name == x_name


@pytest.mark.each(
    ("meta", "x_name", "y_name"),
    [
        ({"protocol": "tcp"}, "buffer", "goodput (TCP payload)"),
        ({"protocol": "udp"}, "size of the write", "time per datagram"),
        ({"target": "emulated path, TCP"}, "buffer", "goodput (TCP payload)"),
        ({"target": "emulated path, UDP"}, "size of the write", "time per datagram"),
    ],
)
def test_a_buffer_is_a_window_of_tcp_only(meta, x_name, y_name):
    found = compare.overlay(transfers((4096.0, 65_536.0), instrument={"truth": T1_TRUTH}, **meta))
    assert (found.x_name, found.y_name) == (x_name, y_name)


def test_a_file_saved_without_the_new_fields_compares_as_before(tmp_path):
    import json

    file = requests(tool="netcalc small-writes", instrument={"write_bytes": [4, 4]}).save(
        tmp_path / "run.json"
    )
    stored = json.loads(file.read_text())
    for name in ("experiment", "protocol"):
        assert stored["meta"].pop(name) == ""
    file.write_text(json.dumps(stored))
    again = load(file)
    assert again.meta.experiment in ("", "small_writes"), (
        "derived from the tool where it is certain"
    )
    assert compare.overlay(again).x_name == "exchange"


def test_the_facts_of_a_path():
    known = Meta(instrument={"truth": T1_TRUTH, "address_family": "IPv6"}).instrument
    assert _runs.emulated_path(known).rtt_s(100) == pytest.approx(Path.parse("T1 5 ms").rtt_s(100))
    assert costs.ip_version(known) == 6
    assert _runs.truth_value(known, "mtu_bytes", 0) == 1500
    nothing = Meta().instrument
    assert _runs.emulated_path(nothing) is None
    assert costs.ip_version(nothing) == 4
    assert _runs.truth_value(nothing, "mtu_bytes", 1500) == 1500
