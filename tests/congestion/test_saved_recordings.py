"""A recording as a table: saved, read back, printed and drawn; each damage named."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from netcalc.cli import main
from netcalc.congestion.recording import Recording, as_table, from_table, parse_rows
from netcalc.emulation.queue import DELIVERED, FULL, Log
from netcalc.errors import ReaderError
from netcalc.experiments.peers.flows_peer import BYTES, INFO, INFO_BYTES, REQUEST, ROW
from netcalc.messages import Notice
from netcalc.samples import Meta, RttSamples, Table, loads
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

UNLIMITED = (1 << 64) - 1
"""What the kernel reports as the pacing rate of a flow that is not paced."""


def info(at_ns, pacing):
    """A row of state; offsets from Linux's include/uapi/linux/tcp.h, counted by hand."""
    data = bytearray(INFO_BYTES)
    for offset, value in ((16, 1448), (68, 40_123), (76, 0x7FFFFFFF), (80, 12), (100, 3)):
        struct.pack_into("=I", data, offset, value)
    struct.pack_into("=Q", data, 104, pacing)
    return ROW.pack(INFO, 0, at_ns, INFO_BYTES) + bytes(data)


def recording(**meta):
    """Rows by hand: two states, bytes and a request, two packets of which one was dropped."""
    shared = Bottleneck(rate_bps=12e6, rtt_s=0.02, buffer_bytes=30_000)
    scenario = Scenario(
        bottleneck=shared, flows=[Flow(algorithm="reno", stop_s=4.0)],
        requests=[Requests(request_bytes=2000, stop_s=4.0)], end_s=4.0, warm_s=1.0,
    )  # fmt: skip
    sent = info(1_000_000_001, 1_500_000) + info(2_000_000_003, UNLIMITED)
    sent += ROW.pack(REQUEST, 1, 1_500_000_000, 1_550_000_007)
    counts = ((0, 0), (1_000_000_000, 1_000_000), (4_000_000_000, 4_000_000))
    received = b"".join(ROW.pack(BYTES, 0, at_ns, count) for at_ns, count in counts)
    log = Log()
    log.add(1.25, 1.251, 1500, 0, DELIVERED)
    log.add(1.26, float("nan"), 1500, 30_000, FULL)
    states, _, requests = parse_rows(sent)
    facts = {"experiment": "congestion", "tool": "netcalc congestion", **meta}
    return Recording(
        scenario=scenario, states=states, received=parse_rows(received)[1], requests=requests,
        queue=log.events(), ended_s=4.0, cpu_s=(0.1, np.nan), meta=Meta(**facts),
    )  # fmt: skip


def test_a_saved_recording_is_the_same_when_it_is_read():
    """identity: every row, to the nanosecond and the byte."""
    first = recording()
    again = from_table(loads(as_table(first).dumps()))
    assert again.scenario == first.scenario
    for part in ("states", "received", "requests"):
        one, other = getattr(first, part), getattr(again, part)
        assert one.size == other.size > 0
        for name in set(one.dtype.names) - {"kind", "pad"}:
            assert one[name].tolist() == other[name].tolist(), name
    assert again.queue.sha256() == first.queue.sha256()
    assert again.ended_s == 4.0
    assert again.cpu_s[0] == 0.1
    assert np.isnan(again.cpu_s[1])
    # derived: 3 MB in 3 s
    assert again.result().goodput_bps.tolist() == pytest.approx([8e6])
    assert again.result().drop_count == 1


def test_the_columns_are_in_si_units():
    table = as_table(recording())
    # derived: by hand from the rows above
    assert table["row"].tolist() == ["state"] * 2 + ["received"] * 3 + ["request"] + ["packet"] * 2
    assert table["rtt_s"][0] == pytest.approx(0.040123)
    assert table["pacing_bps"][0] == 12e6
    assert table["end_s"][5] - table["time_s"][5] == pytest.approx(0.050000007)
    assert table["fate"].tolist()[-2:] == ["delivered", "full"]
    assert table.meta.units["window_packets"] == "packet"


def test_what_the_kernel_does_not_know_yet_is_no_measurement():
    """identity: placeholders of ``tcp_info`` are nan, and come back as they were."""
    first = recording()
    first = replace(first, states=first.states.copy())
    first.states["rtt_us"][0] = 0
    first.states["min_rtt_us"][0] = 0xFFFFFFFF
    table = as_table(first)
    assert np.isnan([table["rtt_s"][0], table["min_rtt_s"][0]]).all()
    assert np.isnan([table["threshold_packets"][0], table["pacing_bps"][1]]).all()
    again = from_table(loads(table.dumps())).states
    assert (again["rtt_us"][0], again["min_rtt_us"][0]) == (0, 0xFFFFFFFF)
    assert (again["ssthresh"][0], again["pacing_bytes_s"][1]) == (0x7FFFFFFF, UNLIMITED)


def changed(**columns):
    table = as_table(recording())
    return Table(data={**table.columns(), **columns}, meta=table.meta)


def with_one(name, at, value):
    column = as_table(recording())[name].copy()
    column[at] = value
    return changed(**{name: column})


def with_printed(**printed):
    table = as_table(recording())
    return Table(data=table.columns(), meta=replace(table.meta, printed=printed))


DAMAGED = [
    (with_one("row", 1, "guess"), "recording-damaged", "row[1]"),
    (with_one("time_s", 0, np.nan), "recording-damaged", "time_s[0]"),
    (with_one("connection", 2, 7.0), "recording-damaged", "connection[2]"),
    (with_one("end_s", 5, np.nan), "recording-damaged", "end_s[5]"),
    (with_one("fate", 6, "eaten"), "recording-damaged", "fate[6]"),
    (with_printed(scenario=as_table(recording()).meta.printed["scenario"]), "recording-damaged",
     "ended_s"),
    (with_printed(), "scenario-key-missing", "rate_bps"),
    (RttSamples(payload_bytes=[8], rtt_s=[0.1]), "other-experiment", None),
    (Table(data={"row": ["state"]}, meta=Meta(experiment="congestion")), "recording-damaged",
     "connection"),
]  # fmt: skip


@pytest.mark.each(("table", "code", "field"), DAMAGED)
def test_what_is_no_recording_is_refused_by_its_place(table, code, field):
    with pytest.raises(ReaderError) as error:
        from_table(table, file="run.json")
    assert (error.value.code, error.value.field) == (code, field)
    assert "run.json" in str(error.value)


def command(*arguments):
    try:
        main(list(arguments))
    except SystemExit as ended:
        return ended.code or 0
    return 0


def test_a_saved_run_is_printed_and_drawn_with_what_marks_it(tmp_path, capsys):
    late = Notice("packets-late", {"late_ratio": 0.2, "limit_ratio": 0.05})
    path = as_table(recording(warnings=(late,))).save(tmp_path / "run.json.gz")
    assert command("read", str(path), "--plot", str(tmp_path / "run.html")) == 0
    said = capsys.readouterr()
    assert "8 Mbit/s" in said.out
    assert "could not keep up" in said.err
    assert "goodput" in (tmp_path / "run.html").read_text()
    assert command("read", str(path), "--json") == 0
    assert '"code": "packets-late"' in capsys.readouterr().out


def test_a_recording_without_the_log_of_its_bottleneck_stays_without():
    again = from_table(loads(as_table(replace(recording(), queue=None)).dumps()))
    assert again.queue is None
    assert np.isnan(again.result().drop_count)


def test_each_of_several_senders_keeps_its_processor_time():
    several = replace(recording(), cpu_s=(0.1, 0.2, 0.3, 0.4))
    several = replace(several, scenario=replace(several.scenario, senders=3))
    again = from_table(loads(as_table(several).dumps()))
    assert again.scenario.senders == 3
    assert again.cpu_s == (0.1, 0.2, 0.3, 0.4)
    printed = as_table(several).meta.printed | {"cpu_s": [0.1, 0.2]}
    damaged = replace(as_table(several), meta=replace(as_table(several).meta, printed=printed))
    assert np.isnan(from_table(damaged).cpu_s).tolist() == [True] * 4, "identity: of other hosts"
