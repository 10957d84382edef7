"""What containers compute from their columns, by hand from a few rows."""

from __future__ import annotations

import errno
import gzip
import json
import math
import os
import stat
from contextlib import nullcontext

import numpy as np
import pytest

from netcalc import samples
from netcalc.cli.report import setting_lines
from netcalc.errors import DomainError, NetcalcError, ReaderError
from netcalc.samples import (
    BulkSamples,
    FlowSeries,
    HopSamples,
    Meta,
    PacketTrace,
    PathSamples,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)
from netcalc.samples.meta import fact_row, fault, row_fault, unit_of_fact
from netcalc.samples.saved import MAX_FILE_BYTES, LineFile

NAN = math.nan


def some_transfers(**columns):
    """Three runs of 1000 datagrams of 1250 B: all arrived, 900 arrived, none was sent."""
    known = {
        "write_bytes": [1250, 1250, 500],
        "write_count": [1000, 1000, 0],
        "sent_bytes": [1_250_000, 1_250_000, 0],
        "received_bytes": [1_250_000, 1_125_000, 0],
        "wall_s": [1.0, 0.5, 0.0],
        "delivery_s": [1.25, 1.0, 0.0],
        "user_s": [0.1, 0.2, 0.0],
        "system_s": [0.2, 0.1, 0.0],
        "wait_count": [50, 51, 0],
        "lost_count": [0, 100, 0],
    }
    return BulkSamples(**{**known, **columns})


def test_rates_shares_and_losses_of_transfers():
    """By hand: 10 Mbit in 1 and 0.5 s; 10 and 9 Mbit in 1.25 and 1 s; 0.3 s of processor."""
    bulk = some_transfers()
    assert bulk.sent_rate_bps[:2].tolist() == [10e6, 20e6]
    assert bulk.goodput_bps[:2].tolist() == [8e6, 9e6]
    assert bulk.sent_rate_pps[:2].tolist() == [1000, 2000]
    assert bulk.rate_pps[:2] == pytest.approx([800, 900])
    assert bulk.loss_ratio[:2].tolist() == [0, 0.1]
    assert bulk.sender_utilization[:2] == pytest.approx([0.3, 0.6])
    for rate in (bulk.sent_rate_bps, bulk.goodput_bps, bulk.loss_ratio, bulk.sender_utilization):
        assert np.isnan(rate[2]), "nothing in no time"


def test_a_source_is_saturated_by_its_processor_and_its_waits():
    """A fifth of a processor and at most 100 waits a second, both within a hair of the limit."""
    for user, waits, saturated in ((0.2, 100, True), (0.199, 100, False), (0.2, 101, False),
                                   (1.0, 0, True), (NAN, 0, False), (0.2, NAN, False)):  # fmt: skip
        one = BulkSamples(write_bytes=[1], write_count=[1], sent_bytes=[1], received_bytes=[1],
                          wall_s=[1.0], delivery_s=[1.0], user_s=[user], system_s=[0.0],
                          wait_count=[waits])  # fmt: skip
        assert one.saturated.tolist() == [saturated]


def test_a_processor_time_that_is_not_divided_is_the_whole_of_it():
    """By hand: 0.4 s in 2 s. Where nothing is known of the source, nothing is said."""
    bulk = BulkSamples(write_bytes=[1, 1], write_count=[1, 1], sent_bytes=[1, 1],
                       received_bytes=[1, 1], wall_s=[2.0, 2.0], delivery_s=[2.0, 2.0],
                       user_s=[0.4, NAN], system_s=[NAN, NAN])  # fmt: skip
    assert bulk.sender_utilization[0] == pytest.approx(0.2)
    assert np.isnan(bulk.sender_utilization[1])
    line, *_ = setting_lines(bulk)
    assert "2 s wall, 400 ms CPU; " in line


def test_the_limit_is_the_last_queue_that_dropped_a_hundredth_of_its_arrivals():
    """By hand, 1000 datagrams each: what one queue drops does not arrive at the next."""
    cases = [  # sender, input, line, receiver; lost, user time, limit
        ((0, 0, 0, 0), 0, 0.0, ""),
        ((0, 0, 0, 0), 0, 0.5, "sender"),
        ((0, 0, 0, 0), 9, 0.5, "sender"),
        ((0, 0, 0, 0), 10, 0.5, ""),  # a hundredth did not arrive: the sender is not all
        ((10, 0, 0, 0), 10, 0.0, "sender's queue"),
        ((9, 0, 0, 0), 9, 0.0, ""),
        ((500, 5, 0, 0), 505, 0.0, "input of the box"),  # 5 of the 500 left
        ((500, 4, 0, 0), 504, 0.0, "sender's queue"),
        ((0, 900, 1, 0), 901, 0.0, "buffer of the line"),  # 1 of the 100 left
        ((0, 0, 300, 7), 307, 0.0, "receiver"),  # 7 of the 700 left
        ((0, 0, 300, 6), 306, 0.0, "buffer of the line"),
        ((NAN, NAN, NAN, 10), 10, 0.0, "receiver"),
        ((10, 0, 0, 0), 10, 0.5, "sender's queue"),
    ]
    drops = list(zip(*(one[0] for one in cases), strict=True))
    count = len(cases)
    bulk = BulkSamples(
        write_bytes=[1000] * count, write_count=[1000] * count, sent_bytes=[1e6] * count,
        received_bytes=[1e6 - 1000 * lost for _, lost, *_ in cases], wall_s=[1.0] * count,
        delivery_s=[1.0] * count, user_s=[user for *_, user, _ in cases], system_s=[0.0] * count,
        wait_count=[0] * count, lost_count=[lost for _, lost, *_ in cases],
        sender_drop_count=drops[0], input_drop_count=drops[1], line_drop_count=drops[2],
        receiver_drop_count=drops[3],
    )  # fmt: skip
    assert bulk.limit.tolist() == [one[-1] for one in cases]


def test_runs_are_gathered_by_setting_in_the_order_of_the_first():
    """By hand: sizes 200, 100, 200 with buffer nan, nan, nan; and 100 with a buffer of 1 kB."""
    bulk = BulkSamples(
        write_bytes=[200, 100, 200, 100, 200], write_count=[10] * 5, sent_bytes=[1000] * 5,
        received_bytes=[1000] * 5, wall_s=[1.0, 2.0, 3.0, 4.0, 8.0], delivery_s=[1.0] * 5,
        user_s=[0.5, 0.0, 1.5, 0.0, 0.0], system_s=[0.0] * 5, wait_count=[0] * 5,
        lost_count=[0] * 5, asked_buffer_bytes=[NAN, NAN, NAN, 1000, NAN], pair_count=[1] * 5,
        cycle_s=[0.1, NAN, 0.3, NAN, NAN],
    )  # fmt: skip
    rows = bulk.by_setting()
    assert [(row["write_bytes"], row["run_count"]) for row in rows] == [
        (200, 3),
        (100, 1),
        (100, 1),
    ]
    assert [row["wall_s"] for row in rows] == [3.0, 2.0, 4.0], "medians"
    assert [row["saturated_count"] for row in rows] == [2, 0, 0]
    assert [row["limit"] for row in rows] == ["sender", "", ""], "of most of them"
    assert rows[2]["asked_buffer_bytes"] == 1000
    assert math.isnan(rows[1]["asked_buffer_bytes"])
    assert [row["pair_count"] for row in rows] == [1, 1, 1]
    assert rows[0]["cycle_s"] == pytest.approx(0.2), "of the known ones"
    assert math.isnan(rows[1]["cycle_s"])
    assert rows[0]["sent_rate_bps"] == pytest.approx(8000 / 3)
    # 8 kbit in 1, 3 and 8 s; in 2 and 4 s
    medians = bulk.medians("sent_rate_bps", "wall_s")
    assert medians["write_bytes"].tolist() == [100, 200]
    assert medians["wall_s"].tolist() == [3.0, 3.0]
    assert medians["sent_rate_bps"] == pytest.approx([3000, 8000 / 3])
    by_buffer = bulk.medians("wall_s", by="asked_buffer_bytes")
    assert by_buffer["asked_buffer_bytes"].tolist() == [1000], "an unknown buffer is none"
    assert by_buffer["wall_s"].tolist() == [4.0]


def test_runs_of_two_directions_are_two_settings():
    """By hand: 2 s forward, 3 and 5 s back; without a direction it is one setting as before."""
    columns = {name: [100.0] * 3 for name in ("write_bytes", "write_count", "sent_bytes",
                                              "received_bytes", "delivery_s")}  # fmt: skip
    columns["wall_s"] = [3.0, 2.0, 5.0]
    rows = BulkSamples(**columns, direction=["back", "forward", "back"]).by_setting()
    assert [(row["direction"], row["wall_s"]) for row in rows] == [("back", 4.0), ("forward", 2.0)]
    assert [(row["direction"], row["wall_s"]) for row in BulkSamples(**columns).by_setting()] == [
        ("", 3.0)
    ]


def test_measured_rows_of_each_kind():
    echo = RttSamples(
        payload_bytes=[56, 56, 56, 56, NAN, 100],
        rtt_s=[0.2, 0.1, 0.05, NAN, 0.01, 0.3],
        lost=[False, False, True, False, False, False],
        duplicate=[False, False, False, False, False, False],
    )
    assert echo.measured.tolist() == [True, True, False, False, True, True]
    assert echo.replied.tolist() == [True, True, False, True, True, True]
    sizes, smallest = echo.minima()
    assert (sizes.tolist(), smallest.tolist()) == ([56, 100], [0.1, 0.3])
    moved = TransferSamples(payload_bytes=[1, 2, NAN, 4], duration_s=[1, NAN, 3, 4],
                            failed=[False, False, False, True])  # fmt: skip
    assert moved.measured.tolist() == [True, False, False, False]


def test_transactions_by_mode():
    asked = TransactionSamples(
        mode=["b", "a", "a", "a", "a", "a"], sequence=[1, 1, 2, 3, 4, 5],
        payload_bytes=[10, 10, 10, 10, 20, 20], response_s=[0.9, 0.1, 0.3, 0.2, 0.5, NAN],
        tap_s=[0.8, 0.01, 0.05, NAN, 0.04, 0.02],
        failed=[False, False, False, False, False, True],
        warm_up=[False, True, False, False, False, False],
    )  # fmt: skip
    assert asked.modes == ("b", "a")
    assert asked.in_mode("a").tolist() == [False, False, True, True, True, False]
    assert asked.in_mode("a", warm_up=True).tolist() == [False, True, True, True, True, False]
    sizes, smallest = asked.minima("a")
    assert (sizes.tolist(), smallest.tolist()) == ([10, 20], [0.2, 0.5])
    sizes, smallest = asked.minima("a", column="tap_s")
    assert (sizes.tolist(), smallest.tolist()) == ([10, 20], [0.05, 0.04])
    with pytest.raises(DomainError) as refused:
        asked.minima("a", column="sent_s")
    assert (refused.value.code, refused.value.name, refused.value.value) == (
        "not-a-choice", "column", "sent_s",
    )  # fmt: skip


def test_the_least_of_each_size_of_more_rows_than_are_looked_at_at_a_time():
    """Second method: the rows of each size, one size after the other."""
    draw = np.random.default_rng(8)
    count = 50_000
    sizes = draw.integers(0, 40, count).astype(float)
    sizes[draw.random(count) < 0.1] = NAN
    times, lost = draw.random(count), draw.random(count) < 0.1
    echo = RttSamples(payload_bytes=sizes, rtt_s=times, lost=lost)
    for rows in (np.ones(count, bool), draw.random(count) < 0.5):
        taken = rows & ~lost
        expected = {size: times[taken & (sizes == size)].min() for size in range(40)}
        found = echo.minima(rows)
        assert dict(zip(*map(np.ndarray.tolist, found), strict=True)) == expected
    assert [part.tolist() for part in echo.minima(np.zeros(count, bool))] == [[], []]


def test_hops_use_replies_of_the_full_size_only():
    """To hop 1 the largest reply has 68 bytes: the probe that got 56 back does not count."""
    probes = HopSamples(
        hop=[2, 1, 1, 1, 1, 3], packet_bytes=[100, 100, 100, 100, 200, 100],
        rtt_s=[0.9, 0.01, 0.03, 0.02, 0.04, NAN], answer_bytes=[NAN, 56, 68, 68, 68, NAN],
        lost=[False, False, False, False, False, True],
    )  # fmt: skip
    assert probes.hops == (1, 2)
    sizes, smallest = probes.minima(1)
    assert (sizes.tolist(), smallest.tolist()) == ([100, 200], [0.02, 0.04])
    sizes, smallest = probes.minima(2)
    assert (sizes.tolist(), smallest.tolist()) == ([100], [0.9]), "sizes of replies unknown"


def test_trains_that_arrived_whole():
    """By hand: train 1 of 3 packets, train 2 lost one, train 3 is one packet, train 4 crossed."""
    sent = TrainSamples(
        train=[1, 1, 1, 2, 2, 3, 4, 4], index=[1, 2, 3, 1, 2, 1, 1, 2],
        packet_bytes=[1500, 1500, 1500, 1500, 1500, 1500, 40, 40],
        sent_s=[0.0, 0.001, 0.002, 1.0, 1.1, 2.0, 3.0, 3.1],
        received_s=[0.01, 0.04, 0.03, 1.2, NAN, 2.5, 3.25, 3.5],
        crossed=[False, False, False, False, False, False, False, True],
    )  # fmt: skip
    found = sent.trains()
    assert found["train"].tolist() == [1, 4]
    assert found["packet_bytes"].tolist() == [1500, 40]
    assert found["packet_count"].tolist() == [3, 2]
    assert found["dispersion_s"] == pytest.approx([0.03, 0.25])
    assert found["one_way_s"] == pytest.approx([0.04, 0.5])
    assert found["crossed_count"].tolist() == [0, 1]
    assert sent.lost_count == 1
    nothing = TrainSamples(train=[], index=[], packet_bytes=[], sent_s=[], received_s=[])
    assert {name: column.size for name, column in nothing.trains().items()} == dict.fromkeys(
        found, 0
    )


def test_columns_not_given_are_filled_by_kind():
    echo = RttSamples(payload_bytes=[1, 2], rtt_s=[0.1, 0.2])
    assert np.isnan(echo.ttl).all()
    assert not echo.lost.any()
    assert (echo.ttl.size, echo.lost.size, echo.lost.dtype) == (2, 2, np.bool_)
    probes = HopSamples(hop=[1], packet_bytes=[1], rtt_s=[1])
    assert probes.node.tolist() == [""]
    for column in (echo.ttl, echo.lost, probes.node, echo.rtt_s):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[0]
    with pytest.raises(DomainError) as refused:
        RttSamples(payload_bytes=[[1, 2]], rtt_s=[1])
    assert (refused.value.code, refused.value.name, refused.value.value) == (
        "not-a-column", "payload_bytes", 2,
    )  # fmt: skip
    with pytest.raises(DomainError) as refused:
        RttSamples(payload_bytes=[1, 2], rtt_s=[1, 2, 3])
    assert (refused.value.code, refused.value.name, refused.value.value) == (
        "unequal-columns", "rtt_s", 3,
    )  # fmt: skip
    assert refused.value.values["expected"] == 2
    with pytest.raises(DomainError) as refused:
        Table(data={"a": [[1, 2]]})
    assert (refused.value.code, refused.value.name, refused.value.value) == (
        "not-a-column", "data", 2,
    )  # fmt: skip
    assert len(Table(data={})) == 0
    assert Table(data={"n": [True, 2]})["n"].dtype == np.float64


def test_a_file_is_as_open_as_the_user_asks(tmp_path):
    path = tmp_path / "a.json.gz"
    mask = os.umask(0o027)
    try:
        RttSamples(payload_bytes=[1], rtt_s=[0.1]).save(path)
        after = os.umask(0o027)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert after == 0o027, "of the process, as before"
    first = path.read_bytes()
    RttSamples(payload_bytes=[1], rtt_s=[0.1]).save(path)
    assert path.read_bytes() == first, "no time of writing in it"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json.gz"]


def test_a_file_has_what_a_reader_of_json_expects(tmp_path):
    meta = Meta(note="µs", printed={"x": np.float64(2.0), "y": (1, NAN)})
    columns = {"payload_bytes": [1, 2], "rtt_s": [NAN, math.inf], "lost": [True, False]}
    bulk = RttSamples(**columns, meta=meta)
    document = json.loads(bulk.dumps())
    assert document["format"] == "netcalc samples"
    assert (document["schema"], document["kind"]) == (1, "RttSamples")
    assert document["columns"]["rtt_s"] == [None, "inf"]
    assert document["columns"]["lost"] == [True, False]
    assert document["meta"]["printed"] == {"x": 2.0, "y": [1, None]}
    assert document["fields"] == {"sent_count": None, "received_count": None, "error_count": None}
    assert "µs" in bulk.dumps().decode(), "as text, not as an escape"
    assert bulk.dumps().endswith(b"}\n")
    again = samples.loads(gzip.compress(bulk.dumps()))
    assert again == bulk
    again = RttSamples.load(bulk.save(tmp_path / "one.json"))
    assert again == bulk
    with pytest.raises(ReaderError) as refused:
        TransferSamples.load(tmp_path / "one.json")
    assert refused.value.code == "other-kind"
    assert refused.value.values["value"] == "RttSamples"
    assert refused.value.values["wanted"] == "TransferSamples"
    assert refused.value.values["file"].endswith("one.json")


DAMAGES = [
    # what is changed in a good file, and what the refusal says of it, by hand
    ({"schema": 0}, "no-schema", {"field": "schema", "value": "0", "highest": 1}),
    ({"schema": True}, "no-schema", {"field": "schema", "value": "true"}),
    ({"schema": 2}, "later-schema", {"field": "schema", "value": "2", "highest": 1}),
    ({"kind": "Other"}, "unknown-kind", {"field": "kind", "value": "Other"}),
    ({"kind": ["x" * 99]}, "unknown-kind", {"value": '["' + "x" * 58}),
    ({"columns": []}, "part-of-other-type", {"field": "columns", "wanted": "an object"}),
    ({"columns": {"payload_bytes": [1]}}, "part-missing", {"field": "rtt_s"}),
    ({"columns": {"payload_bytes": [1], "rtt_s": [1], "y" * 70: [1]}}, "no-such-part",
     {"field": "y" * 60}),
    ({"columns": {"payload_bytes": [1], "rtt_s": "1"}}, "part-of-other-type",
     {"field": "rtt_s", "value": "1", "wanted": "a list"}),
    ({"columns": {"payload_bytes": [1, "x"], "rtt_s": [1, 2]}}, "row-of-other-type",
     {"field": "payload_bytes", "row": 2, "value": "x", "wanted": "a number"}),
    ({"columns": {"payload_bytes": [1], "rtt_s": [1], "lost": [1]}}, "row-of-other-type",
     {"field": "lost", "row": 1, "value": "1", "wanted": "true or false"}),
    ({"columns": {"payload_bytes": [1, 10**309], "rtt_s": [1, 2]}}, "row-too-large",
     {"field": "payload_bytes", "row": 2}),
    ({"columns": {"payload_bytes": [1, 2, -3], "rtt_s": [1, 2, 3]}}, "row-negative",
     {"field": "payload_bytes", "row": 3, "found": -3.0}),
    ({"columns": {"payload_bytes": [1, 2], "rtt_s": [1, 2, 3]}}, "columns-of-other-length",
     {"field": "rtt_s", "found": 3, "wanted": 2}),
    ({"meta": {"tool": 5}}, "part-of-other-type",
     {"field": "meta.tool", "value": "5", "wanted": "text"}),
    ({"meta": {"partial": 0}}, "part-of-other-type",
     {"field": "meta.partial", "wanted": "true or false"}),
    ({"meta": {"units": []}}, "part-of-other-type", {"field": "meta.units"}),
    ({"meta": {"schema": "1"}}, "part-of-other-type", {"wanted": "a whole number"}),
    ({"meta": {"warnings": {}}}, "part-of-other-type", {"wanted": "a list"}),
    ({"meta": {"warnings": [5]}}, "damaged-samples", {"field": "meta.warnings"}),
    ({"fields": {"sent": 5}}, "no-such-part", {"field": "sent"}),
    ({"fields": {"sent_count": "5"}}, "part-of-other-type",
     {"field": "sent_count", "value": "5", "wanted": "a number"}),
    ({"format": "other"}, "not-saved-samples", {}),
    ({"fields": {"sent_count": 1.5}}, "part-of-other-type",
     {"field": "sent_count", "value": "1.5", "wanted": "a whole number"}),
    # a number is shown whole up to 60 digits
    ({"fields": {"sent_count": 10**59}}, "saved-too-large", {"value": "1" + "0" * 59}),
    ({"fields": {"sent_count": 10**60}}, "saved-too-large",
     {"value": "1" + "0" * 19 + "... (61 digits)"}),
    ({"columns": {"payload_bytes": [10**60], "rtt_s": [1]}}, "row-too-large",
     {"found": "1" + "0" * 19 + "... (61 digits)"}),
]  # fmt: skip


@pytest.mark.each(("changes", "code", "values"), DAMAGES)
def test_what_is_wrong_in_a_file_is_named(changes, code, values):
    document = json.loads(RttSamples(payload_bytes=[1], rtt_s=[0.1]).dumps())
    with pytest.raises(ReaderError) as refused:
        samples.loads(json.dumps({**document, **changes}).encode(), file="a.json")
    assert refused.value.code == code
    assert {name: refused.value.values[name] for name in values} == values
    assert refused.value.values["file"] == "a.json"


PATH = {"bandwidths_bps": [1e6, 2e6], "latencies_s": [0.01, 0], "processings_s": [0, 0, 0]}
DAMAGED_PATHS = [
    # an emulated path of two links and three nodes, what is changed in it, and what is refused
    ({"bandwidths_bps": []}, "bandwidths_bps", "a list of some numbers from 0"),
    ({"bandwidths_bps": 1e6}, "bandwidths_bps", "a list of some numbers from 0"),
    ({"bandwidths_bps": [1e6, "x"]}, "bandwidths_bps", "a list of 2 numbers from 0"),
    ({"bandwidths_bps": [1e6, 0]}, "bandwidths_bps", "a list of numbers above 0"),
    ({"latencies_s": [0.01]}, "latencies_s", "a list of 2 numbers from 0"),
    ({"latencies_s": [0.01, True]}, "latencies_s", "a list of 2 numbers from 0"),
    ({"latencies_s": None}, "latencies_s", "a list of 2 numbers from 0"),
    ({"processings_s": [0, 0]}, "processings_s", "a list of 3 numbers from 0"),
    ({"framings": ["none"]}, "framings", "a list of 2 of none, ethernet"),
    ({"framings": ["none", "atm"]}, "framings", "a list of 2 of none, ethernet"),
    ({"framings": "none"}, "framings", "a list of 2 of none, ethernet"),
]


@pytest.mark.each(("changes", "field", "wanted"), DAMAGED_PATHS)
def test_an_emulated_path_has_a_rate_and_a_latency_of_each_link(changes, field, wanted):
    document = json.loads(RttSamples(payload_bytes=[1], rtt_s=[0.1]).dumps())

    def loaded(truth):
        document["meta"]["instrument"] = {"truth": truth}
        return samples.loads(json.dumps(document).encode()).meta.instrument.truth

    for whole in (PATH, PATH | {"framings": ["none", "ethernet"]}):
        assert loaded(whole) == whole
    with pytest.raises(ReaderError) as refused:
        loaded(PATH | changes)
    assert (refused.value.code, refused.value.field) == (
        "part-of-other-type", f"meta.instrument.truth.{field}",
    )  # fmt: skip
    assert refused.value.values["wanted"] == wanted


@pytest.mark.each(
    ("value", "name", "unit", "code"),
    [  # from 2^53 on a float skips whole numbers; times and rates are any float
        (2.0**53, "sent", "1", None), (2.0**53 + 2, "sent", "1", "row-too-large"),
        (2.0**53 + 2, "rtt_s", "s", None), (10**309, "rtt_s", "s", "row-too-large"),
        (2.0**53 + 2, "payload_bytes", "byte", "row-too-large"),
        (-(2.0**53) - 2, "sequence", "1", "row-too-large"),
        (-1, "sequence", "1", None), (-1, "sent", "1", "row-negative"), (0, "sent", "1", None),
        (-1, "payload_bytes", "byte", "row-negative"), (-1.0, "offset_s", "s", None),
        (NAN, "hop", "1", "row-unknown"), (NAN, "hop", "", None), (NAN, "rtt_s", "s", None),
        (math.inf, "rate_bps", "bit/s", None), (math.inf, "sent", "1", "row-too-large"),
        (math.inf, "time_s", "s", "row-too-large"), (-math.inf, "time_s", "s", "row-too-large"),
        (math.inf, "rtt_s", "s", None),
    ],
)  # fmt: skip
def test_limits_of_a_number_in_a_column(value, name, unit, code):
    assert row_fault(value, name, unit) == code


@pytest.mark.each(
    ("value", "name", "code"),
    [  # a counter of 64 bits, or any float that a file counts itself
        (2.0**64, "sent_count", None), (2**64 + 2**12, "sent_count", "saved-too-large"),
        (1e300, "sum:x", None), (1e300, "counter:x", None), (10**400, "sum:x", "saved-too-large"),
        (-1, "sent_count", "saved-negative"), (-1, "rtt_min_s", "saved-negative"),
        (-1, "sum:x", None), (-1, "min:x_s", None), (-0.5, "clock_offset_s", None),
        (0, "sent_count", None),
        (NAN, "sent_count", "saved-not-finite"), (math.inf, "rtt_min_s", "saved-not-finite"),
    ],
)  # fmt: skip
def test_limits_of_a_number_besides_the_columns(value, name, code):
    assert fault(value, name) == code


def test_a_file_of_lines_has_rows_of_json(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"n": 0}\n')
    with LineFile(file, busy="network-saved-busy") as lines:
        lines.append([{"n": 1, "x": NAN}, {"n": np.int64(2), "x": [math.inf, np.float64(0.5)]}])
        lines.append([{"n": "é"}], sync=True)
        with pytest.raises(NetcalcError) as refused:
            LineFile(file, busy="network-saved-busy")
        assert (refused.value.code, refused.value.values["file"]) == (
            "network-saved-busy", str(file),
        )  # fmt: skip
    written = [b'{"n": 0}', b'{"n": 1, "x": null}', b'{"n": 2, "x": ["inf", 0.5]}',
               b'{"n": "\\u00e9"}']  # fmt: skip
    assert file.read_bytes().splitlines() == written
    with LineFile(file, busy="network-saved-busy") as lines:  # free again
        lines.cut(len(written[0]) + 1)
        lines.append([{"n": 3}])
    assert file.read_bytes().splitlines() == [written[0], b'{"n": 3}']
    with pytest.raises(OSError, match="not a regular file") as error:
        LineFile(tmp_path, busy="network-saved-busy")
    assert (error.value.errno, error.value.filename) == (errno.EINVAL, str(tmp_path))


@pytest.mark.each("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_rows_that_were_not_all_written_leave_the_file_as_it_was(error, tmp_path, monkeypatch):
    """A disk that takes ten bytes at a time, and has room for twenty."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"n": 0}\n')
    write, room = os.write, [10, 10]

    def into_little_room(handle, data):
        if not room:
            raise error
        return write(handle, data[: room.pop()])

    with LineFile(file, busy="network-saved-busy") as lines:
        with monkeypatch.context() as patched:
            patched.setattr("netcalc.samples.saved.os.write", into_little_room)
            with pytest.raises(type(error)) as raised:
                lines.append([{"n": n} for n in range(5)])
        assert file.read_bytes() == b'{"n": 0}\n'
        lines.append([{"n": 1}])
    assert file.read_bytes() == b'{"n": 0}\n{"n": 1}\n'
    if isinstance(error, OSError):
        assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(file))


def test_rows_are_brought_to_the_disk_where_that_is_asked(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("netcalc.samples.saved.os.fsync", synced.append)
    with LineFile(tmp_path / "rows.jsonl", busy="network-saved-busy") as lines:
        lines.append([{"n": 1}])
        assert len(synced) == 0
        lines.append([{"n": 2}], sync=True)
        assert len(synced) == 1


def test_hops_of_a_path_by_hand():
    """Of a: three probes of hops 1 and 3, two of which were answered; b is not answered at all."""
    probes = PathSamples(
        hop=[1, 3, 3, 3, 2], rtt_s=[0.5, 0.25, 0.75, NAN, NAN], lost=[0, 0, 0, 1, 1],
        group=["a", "a", "a", "a", "b"],
    )  # fmt: skip
    first, second = probes.facts()
    assert first == {
        "group": "a", "hop_count": 3, "responding_hop_count": 2, "probe_count": 4,
        "reply_count": 3, "last_hop_rtt_median_s": 0.5,
    }  # fmt: skip
    assert second == {"group": "b", "hop_count": 2, "responding_hop_count": 0, "probe_count": 1,
                      "reply_count": 0}  # fmt: skip
    assert probes.measured.tolist() == [True, True, True, False, False]
    assert probes.hop_facts("c") == {
        "hop_count": 0, "responding_hop_count": 0, "probe_count": 0, "reply_count": 0,
    }  # fmt: skip


def test_rates_of_intervals_are_of_their_bytes_before_what_is_printed():
    """1000 B in 2 s are 4 kbit/s; without bytes the printed rate stands."""
    rows = FlowSeries(
        start_s=[0, 2, 4], duration_s=[2, 2, 2], payload_bytes=[1000, NAN, NAN],
        throughput_bps=[5000, 6000, NAN], omitted=[1, 0, 0],
    )  # fmt: skip
    assert rows.rate_bps[:2].tolist() == [4000, 6000]
    assert np.isnan(rows.rate_bps[2])
    assert rows.measured.tolist() == [False, True, False]


def test_packets_by_hand():
    trace = PacketTrace(
        time_s=[2.5, NAN, 0.5], kept_bytes=[60, 60, 60], original_bytes=[60, 60, 60],
        source=[1, 2, 0], destination=[2, 1, 0], layers=[1, 3, 4],
        addresses=("", "192.0.2.1", "2001:db8::1"),
    )  # fmt: skip
    assert trace.span_s == 2
    assert trace.has(2).tolist() == [False, True, False]
    assert trace.rows(slice(0, 2)).ints("source").tolist() == [1, 2]
    frame = trace.to_frame()
    assert frame["source"].tolist() == ["192.0.2.1", "2001:db8::1", ""]
    assert frame["destination"].tolist() == ["2001:db8::1", "192.0.2.1", ""]
    for index, refused in ((2, False), (3, True)):
        row = {"time_s": [0], "kept_bytes": [1], "original_bytes": [1], "destination": [0]}
        with pytest.raises(DomainError) if refused else nullcontext() as error:
            PacketTrace(**row, source=[index], addresses=("", "a", "b"))
        if refused:
            assert (error.value.code, error.value.values["index"]) == ("address-index", 3)


def test_figures_of_a_table_leave_out_what_is_unknown():
    table = Table(data={"a": [1.5, NAN, 2.0], "b": [math.inf, NAN, NAN], "c": ["x", "", "y"]})
    counted = {"row_count": 3, "column_count": 3, "partial": False}
    assert table.facts() == [{**counted, "min:a": 1.5, "median:a": 1.75, "max:a": 2}]
    lost = Table(data={"lost": [2.0, NAN, 2.0], "b": [math.inf, NAN, NAN], "c": ["x", "", "y"]})
    assert lost.facts() == [{**counted, "sum:lost": 4}]
    huge = Table(data={"a": [1e308, 1e308], "lost": [1e308, 1e308]})  # no float holds their sum
    assert huge.facts() == [
        {"row_count": 2, "column_count": 2, "partial": False, "min:a": 1e308, "max:a": 1e308}
    ]


def test_counts_of_round_trips_are_those_of_rows_or_of_the_summary():
    rows = {"payload_bytes": [1] * 4, "rtt_s": [0.1, 0.1, NAN, NAN], "lost": [0, 0, 1, 1],
            "group": ["b", "a", "b", "a"], "duplicate": [0, 1, 0, 0],
            "error_reply": [0, 0, 1, 0]}  # fmt: skip
    shown = RttSamples(**rows)
    assert (shown.sent, shown.received, shown.duplicates, shown.errors) == (3, 1, 1, 1)
    assert shown.groups == ["b", "a"]
    assert RttSamples(**rows, error_count=0).errors == 0
    assert shown.loss_ratio == pytest.approx(2 / 3)


def test_a_file_may_be_without_totals_and_with_facts_of_a_later_version():
    document = json.loads(RttSamples(payload_bytes=[1], rtt_s=[0.1]).dumps())
    del document["fields"]
    document["meta"]["unheard_of"] = 7
    document["meta"]["instrument"] = {"kernel": "6.1", "novelty": 1, "tick_s": NAN}
    again = samples.loads(json.dumps(document).encode())
    assert again.sent == 1
    assert again.meta.instrument.kernel == "6.1"
    assert again.meta.instrument.tick_s is None
    assert again.meta.instrument.stored() == {"kernel": "6.1", "novelty": 1}
    assert bool(again.meta.instrument)
    assert not Meta().instrument


def test_the_largest_file_is_a_quarter_of_a_gibibyte():
    assert MAX_FILE_BYTES == 2**28


def test_a_column_of_text_is_in_the_file_if_there_is_any():
    rows = {"hop": [1, 2], "packet_bytes": [100, 100], "rtt_s": [0.01, NAN]}
    for node, written in (((), False), (["", ""], False), (["", "192.0.2.1"], True)):
        probes = HopSamples(**rows, node=node)
        columns = json.loads(probes.dumps())["columns"]
        assert ("node" in columns) == written
        assert samples.loads(probes.dumps()) == probes
    assert "hop" in columns, "numbers always are"


def test_a_row_of_facts_has_known_names_and_numbers():
    row = fact_row({"sum:x": -2.0}, sent_count=np.float64(3.0), rtt_min_s=NAN, target="",
                   rtt_max_s=2.0, loss_ratio=0.0, partial=True)  # fmt: skip
    assert row == {"sum:x": -2, "sent_count": 3, "rtt_max_s": 2.0, "loss_ratio": 0.0,
                   "partial": True}  # fmt: skip
    assert isinstance(row["sent_count"], int), "a count is whole"
    assert isinstance(row["rtt_max_s"], float), "a time is not"
    assert (unit_of_fact("counter:InSegs"), unit_of_fact("rtt_max_s")) == ("1", "s")
    assert (unit_of_fact("min:wait_s"), unit_of_fact("sum:sent_bytes")) == ("s", "byte")
    assert unit_of_fact("colour") is None
    for name, value, code in (("colour", 1, "not-a-choice"), ("rtt_max_s", -1.0, "is-negative"),
                              ("rtt_max_s", math.inf, "is-negative")):  # fmt: skip
        with pytest.raises(DomainError) as refused:
            fact_row(**{name: value})
        assert refused.value.code == code
        assert refused.value.value == (name if code == "not-a-choice" else value)
        assert refused.value.name == ("fact" if code == "not-a-choice" else name)
