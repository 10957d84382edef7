"""Captures of many flows take memory by what they hold; times between packets are those of a line.

The flows of a capture are known: each is one SYN, or a handshake with times of its own.
"""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import writer as w

from netcalc.readers import read
from netcalc.readers.captures import tcp
from netcalc.readers.captures.tcp import flow_table

FLOWS = 3000


def syns(count):
    """A pcap of one SYN for each of many flows, 70 bytes each."""
    rows = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for number in range(count):
        source = 0x0A000001 + number // 50_000
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40, number & 0xFFFF, 0, 64, 6, 0, source, 1)
        port = 1024 + number % 50_000
        tcp = struct.pack(">HHIIBBHHH", port, 443, number, 0, 0x50, 2, 64240, 0, 0)
        frame = bytes(12) + b"\x08\x00" + ip + tcp
        rows.append(struct.pack("<IIII", 1_700_000_000, number, len(frame), len(frame)) + frame)
    return b"".join(rows)


def test_a_table_of_many_flows_takes_memory_for_what_differs():
    trace = read(syns(FLOWS))
    trace.__dict__.pop("_flow_table")
    tracemalloc.start()
    try:
        table = flow_table(trace)
        kept_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(table) == 2 * FLOWS
    columns = table.columns()
    assert np.isnan(columns["rtt_min_s"]).all()
    assert columns["rtt_min_s"].strides == (0,), "one number in all rows is kept once"
    assert columns["flow"].tolist() == [number for number in range(FLOWS) for _ in (0, 1)]
    assert kept_bytes < 400 * FLOWS, "as floats of all columns it were 700 a flow"


def test_the_table_of_very_many_flows_is_made_when_it_is_asked_for(monkeypatch):
    data = syns(20)
    at_once = read(data)
    assert "_flow_table" in at_once.__dict__
    monkeypatch.setattr(tcp, "FLOWS_AT_ONCE", 19)
    later = read(data)
    assert "_flow_table" not in later.__dict__
    assert later.facts() == at_once.facts()
    assert flow_table(later) == flow_table(at_once)


def test_a_scan_takes_as_much_memory_as_its_file():
    """150,000 flows of one packet in 10.5 MB, as a portscan has."""
    count = 150_000
    data = syns(count)
    tracemalloc.start()
    try:
        trace = read(data)
        most_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert trace.facts()[0]["tcp_flow_count"] == count
    assert most_bytes < 200 * count


def test_a_handshake_of_two_hours_is_a_step_of_the_clock():
    made = w.Capture()
    w.Conversation(made, stamped=False).open(0.0, 7200.0, 7200.01)
    found = read(made.pcap(nano=True))
    assert "handshake_rtt_min_s" not in found.facts()[0]
    assert [n.values["name"] for n in found.meta.warnings if n.code == "fact-out-of-range"] == [
        "handshake_rtt_min_s"
    ]
    table = flow_table(found)
    assert np.isnan(table["handshake_rtt_s"]).all()
    assert {n.values["name"] for n in table.meta.warnings} >= {"handshake_rtt_s"}
    near = w.Capture()
    w.Conversation(near, stamped=False).open(0.0, 1500.0, 1500.01)
    assert read(near.pcap(nano=True)).facts()[0]["handshake_rtt_min_s"] > 3000
