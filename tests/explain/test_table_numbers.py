"""Tables, counters, runs and rows of facts: what each says of a transfer, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.explain import Evidence, Known, described, frame_tables, measurement, tables
from netcalc.explain.counters import explain_counters
from netcalc.explain.evidence import first_known, from_facts, from_transfers
from netcalc.samples import BulkSamples, FlowSeries, Meta, Table, TransferSamples

NAN = math.nan


def sizes(frame_bytes, rate_pps, **known):
    table = Table(data={"frame_bytes": np.array(frame_bytes), "rate_pps": np.array(rate_pps)})
    return frame_tables.explain_sizes(table, Known(**known))


def test_frames_of_several_sizes():
    """By hand: 100 B and 20 of preamble and gap: 960 bit, 1000 a second at 960 kbit/s."""
    one, two = sizes([100.0, 220.0], [500.0, 400.0], line_bps=960e3, device_pps=600)
    assert (one.label, one.unit, one.measured) == ("100 B", "bit/s", 8 * 100 * 500.0)
    assert {limit.name: limit.value for limit in one.limits} == pytest.approx(
        {"packet-rate": 480e3, "line": 800e3}
    )
    assert [limit.name for limit in one.limits] == ["packet-rate", "line"]
    assert [limit.name for limit in two.limits] == ["line", "packet-rate"], "500 pps by the line"
    line, device = one.limits[1], one.limits[0]
    assert line.values == {"line_bps": 960e3, "payload_bytes": 100.0, "wire_bytes": 120.0}
    assert device.values == {"device_pps": 600.0, "payload_bytes": 100.0, "share": 1.0}
    assert (line.tolerance_ratio, device.tolerance_ratio) == (0.05, 0.1)
    assert {limit.unit for limit in one.limits} == {"bit/s"}
    assert one.missing == ()


def device_of(rates, **known):
    found = sizes([100.0 * n for n in range(1, len(rates) + 1)], rates, **known)
    values = [limit.values for limit in found[0].limits if limit.name == "packet-rate"]
    return values[0]["device_pps"] if values else None


def test_equal_packet_rates_are_those_of_a_device():
    """Equal within 10 %: the middle one; two sizes at least, below 95 % of the line."""
    assert device_of([1000.0, 1100.0, 1010.0]) == 1010.0
    assert device_of([1000.0, 1101.0]) is None
    assert device_of([1000.0]) is None
    assert device_of([1000.0, 1000.0], device_pps=5) == 5.0
    # 1000 pps of 120 B on the wire at 960 kbit/s: 950 is the line's, 949 is not
    known = {"line_bps": 960e3}
    assert device_of([949.0, 500.0, 500.0], **known) is None, "not flat"
    assert device_of([950.0, 320.0, 300.0], **known) == 310.0, "the first one is the line's"


def test_rows_that_cannot_be_are_left_out():
    found = sizes([100.0, 200.0, NAN, 0.0, 400.0, 0.5], [10.0, 0.0, 10.0, 10.0, NAN, 0.5])
    assert [one.label for one in found] == ["100 B", "0.5 B"]
    assert [one.code for one in found[0].missing] == ["ask-line"]
    assert (found[0].limits, found[1].measured) == ((), 2.0)
    for columns in (("frame_bytes", "x"), ("x", "rate_pps")):
        table = Table(data=dict.fromkeys(columns, np.array([1.0])))
        assert frame_tables.explain_sizes(table, Known()) == ()


def counters(rows, **known):
    table = Table(
        data={"counter": np.array(list(rows), object), "value": np.array(list(rows.values()))}
    )
    return explain_counters(table, Known(**known))


def test_counters_of_a_host():
    """By hand: 10 of 1000 segments at 1 s of round trip: Mathis, 8 x 1448 x root of 150."""
    (found,) = counters({"TcpOutSegs": 1000.0, "TcpRetransSegs": 10.0}, rtt_s=1)
    assert found.notices[0].values == {"count": 10, "total": 1000, "share": 0.01}
    assert math.isnan(found.measured)
    rates = {one.name: one.value for one in found.limits}
    assert rates["loss-mathis"] == pytest.approx(8 * 1448 * 13.1, rel=0.01)
    assert [one.code for one in found.missing] == ["ask-line", "ask-window"]
    first = {"RetransSegs": 5.0, "TcpRetransSegs": 1.0, "OutSegs": 50.0, "TcpOutSegs": 100.0}
    assert counters(first)[0].notices[0].values == {"count": 1, "total": 100, "share": 0.01}
    other = {"TcpExtTCPRetransSegs": 2.0, "OutSegs": 8.0}
    assert counters(other)[0].notices[0].values == {"count": 2, "total": 8, "share": 0.25}
    more = counters({"OutSegs": 0.5, "RetransSegs": 1.0}, rtt_s=1)[0]
    assert more.notices[0].values["share"] == 2.0
    assert more.limits == (), "all lost is the most"
    none = counters({"OutSegs": 4.0, "RetransSegs": 0.0})[0]
    assert none.notices[0].values == {"count": 0, "total": 4, "share": 0.0}


def test_counters_that_say_nothing():
    for rows in ({"OutSegs": 0.0, "RetransSegs": 1.0}, {"OutSegs": 5.0}, {"RetransSegs": 5.0}):
        (found,) = counters(rows)
        assert (found.limits, [one.code for one in found.notices]) == ((), ["counters-quiet"])
    for columns in (("counter", "x"), ("x", "value")):
        table = Table(data=dict.fromkeys(columns, np.array([1.0])))
        assert explain_counters(table, Known()) == ()


def test_of_a_counter_that_is_twice_the_first_counts():
    table = Table(
        data={"counter": np.array(["OutSegs", "RetransSegs", "OutSegs"], object),
              "value": np.array([10.0, 1.0, 1000.0])}
    )  # fmt: skip
    (found,) = explain_counters(table, Known())
    assert found.notices[0].values == {"count": 1, "total": 10, "share": 0.1}


def bulk(protocol):
    return BulkSamples(
        write_bytes=[100.0], write_count=[10.0], sent_bytes=[1000.0], received_bytes=[750.0],
        wall_s=[2.0], delivery_s=[3.0], lost_count=[2.5], window_bytes=[400.0],
        meta=Meta(protocol=protocol),
    )  # fmt: skip


def test_runs_of_the_laboratory():
    """By hand: 8000 bit written in 2 s, 6000 received in 3 s; a quarter of the writes lost."""
    (udp,) = tables.bulk_evidence(bulk("udp"))
    (tcp,) = tables.bulk_evidence(bulk("tcp"))
    assert (udp.protocol, udp.loss_ratio, udp.datagram_bytes) == ("udp", 0.25, 100.0)
    assert tcp.protocol == "tcp"
    assert math.isnan(tcp.loss_ratio)
    assert math.isnan(tcp.datagram_bytes)
    for one in (udp, tcp):
        assert (one.label, one.rate_bps, one.received_rate_bps) == ("writes of 100 B", 2e3, 2e3)
        assert (one.sent_rate_bps, one.duration_s, one.in_flight_bytes) == (4e3, 2.0, 400.0)
        assert math.isnan(one.size_bytes)


def test_a_buffer_that_was_asked_for_bounds_the_window():
    """By hand: 17,000 B a round trip of 40 ms are 3.4 Mbit/s; 2 MB in 5 s are 3.2 Mbit/s."""
    samples = BulkSamples(
        write_bytes=[8192.0], write_count=[245.0], sent_bytes=[2e6], received_bytes=[2e6],
        wall_s=[4.9], delivery_s=[5.0], asked_buffer_bytes=[16384.0], window_bytes=[17_000.0],
        send_buffer_bytes=[32768.0], receive_buffer_bytes=[32768.0], meta=Meta(protocol="tcp"),
    )  # fmt: skip
    (found,) = measurement(samples, Known(rtt_s=0.04, line_bps=20e6))
    assert found.binding.name == "send-window"
    assert found.binding.value == pytest.approx(3.4e6)
    assert (found.is_explained, found.confidence) == (True, "high")
    assert "ask-window" not in {one.code for one in found.missing}
    (evidence,) = tables.bulk_evidence(samples)
    assert evidence.is_window_steady
    for other in (
        {"asked_buffer_bytes": [math.nan]}, {"line_drop_count": [1.0]},
        {"window_bytes": [8191.0]},  # not half of the buffer: it was never full
        {"meta": Meta(protocol="udp")},
    ):  # fmt: skip
        (evidence,) = tables.bulk_evidence(replace(samples, **other))
        assert not evidence.is_window_steady, other


def runs(*rows):
    """Return UDP runs of (datagram size, packets a second, loss)."""
    facts = [
        {"protocol": "udp", "received_rate_bps": 8 * size * pps, "loss_ratio": loss,
         "sent_byte_count": size * 10, "datagram_count": 10}
        for size, pps, loss in rows
    ]  # fmt: skip
    return Table(data={"x": np.array([1.0])}, meta=Meta(facts=tuple(facts)))


@pytest.mark.each(
    ("rows", "device_pps"),
    [
        ([(100, 1000, 0.5), (200, 1100, 0.5), (400, 1010, 0.5)], 1010.0),
        ([(100, 1000, 0.5), (200, 1102, 0.5)], None),
        ([(100, 1000, 0.5), (100, 1000, 0.5)], None),
        ([(100, 1000, 0.5), (200, 1000, 0.05)], None),
        ([(100, 1000, 0.5), (200, 1000, 0.051)], 1000.0),
        ([(100, 1000, 0.5)], None),
        ([(100, 1000, 0.5), (200, 1050, 0.5), (400, 1200, 0.5)], None),
        ([(100, 1000, 0.5), (200, 1010, 0.5), (400, 1020, 0.5), (800, 1030, 0.5)], 1020.0),
        ([(0.5, 1000, 0.5), (200, 1000, 0.5)], 1000.0),
        ([(100, 1000, 0.5), (0, 1000, 0.5)], None),
        ([(100, 1000, 0.5), (200, 1000, 0.5), (400, 10, 0.0)], 1000.0),
    ],
)  # fmt: skip
def test_overloaded_runs_have_the_packet_rate_of_a_device(rows, device_pps):
    """Two sizes at least that lost more than 5 %, within 10 %: the middle one."""
    found = measurement(runs(*rows))
    assert len(found) == len(rows)
    seen = [one.values["device_pps"] for one in found[0].limits if one.name == "packet-rate"]
    assert seen == ([] if device_pps is None else [pytest.approx(device_pps)])
    stated = measurement(runs(*rows), Known(device_pps=7))[0].limits
    assert [one.values["device_pps"] for one in stated if one.name == "packet-rate"] == [7.0]


def test_what_cannot_be_explained_is_named():
    with pytest.raises(ReaderError) as named:
        measurement(Table(data={"x": np.array([1.0])}, meta=Meta(source="a.csv")))
    assert named.value.values["file"] == "a.csv"
    with pytest.raises(ReaderError) as bare:
        measurement(Table(data={"x": np.array([1.0])}))
    assert bare.value.values["file"] == "Table"


def test_the_first_known_number():
    assert first_known(None, NAN, 0.0, 5.0) == 0.0
    assert first_known(3, 5.0) == 3.0
    assert math.isnan(first_known(None, NAN))
    assert math.isnan(first_known())
    assert Evidence(mtu_bytes=1000.0, option_bytes=10.0).segment_bytes == 950.0
    assert Evidence().segment_bytes == 1448.0


def flow(*, rows=1, cwnd=(), **facts):
    count = max(len(cwnd), 1)
    columns = {
        "start_s": [float(n) for n in range(count)], "duration_s": [1.0] * count,
        "payload_bytes": [1.0] * count, **({"cwnd_bytes": list(cwnd)} if cwnd else {}),
    }  # fmt: skip
    return FlowSeries(**columns, meta=Meta(facts=({"sent_rate_bps": 5.0, **facts},) * rows))


def test_retransmissions_of_nothing_are_no_loss():
    none = from_facts(flow(sent_byte_count=0, retransmit_count=5))[0]
    assert math.isnan(none.loss_ratio)
    assert math.isnan(from_facts(flow(sent_byte_count=1000))[0].loss_ratio)
    # by hand: 50 segments of 1448 B, and as many again
    half = from_facts(flow(sent_byte_count=72_400, retransmit_count=50))[0]
    assert half.loss_ratio == pytest.approx(0.5)
    few = from_facts(flow(sent_byte_count=72_400, retransmit_count=49))[0]
    assert math.isnan(few.loss_ratio), "of 99 segments there is no ratio"
    known = from_facts(flow(sent_byte_count=724, retransmit_count=0.5, loss_ratio=0.25))[0]
    assert known.loss_ratio == 0.25
    udp = from_facts(flow(sent_byte_count=724, retransmit_count=0.5, protocol="udp"))[0]
    assert math.isnan(udp.loss_ratio)


@pytest.mark.each(
    ("windows", "flight", "steady"),
    [
        ([9.0, 9.0, 9.0, 100.0, 100.0, 100.0], 100.0, True),
        # a deviation of 2 is 2 % of 100, and 2.1 more
        ([9.0, 9.0, 98.0, 102.0], 100.0, True), ([9.0, 9.0, 97.9, 102.1], 100.0, False),
        ([50.0], 50.0, False), ([50.0, 50.0], 50.0, False), ([50.0, 50.0, 50.0], 50.0, True),
        ([0.5, 0.5, 0.5, 0.5], 0.5, True), ([0.0, 0.0], NAN, False),
        ([5.0, 50.0, 50.0, 51.0, 0.0], 50.5, True),
    ],
)  # fmt: skip
def test_the_windows_of_the_second_half(windows, flight, steady):
    one = from_facts(flow(cwnd=windows, retransmit_count=0))[0]
    assert one.in_flight_bytes == pytest.approx(flight, nan_ok=True)
    assert one.is_window_steady is steady
    both = from_facts(flow(cwnd=windows, rows=2))
    assert all(math.isnan(each.in_flight_bytes) for each in both), "of which run is unknown"


def test_transfers_of_even_number():
    """By hand: 1, 2, 4 and 8 bit/s: the upper of the middle two; one took no time."""
    samples = TransferSamples(
        payload_bytes=[1.0, 4.0, 1.0, 2.0, 9.0], duration_s=[8.0, 4.0, 4.0, 4.0, 0.0],
        group=["a", "a", "a", "a", "b"],
    )  # fmt: skip
    (found,) = from_transfers(samples)
    assert (found.label, found.rate_bps) == ("a", 4.0)
    assert (found.size_bytes, found.duration_s) == (2.0, 4.0)


def test_the_middle_transfer_is_by_its_rate():
    """By hand: 80, 16 and 1600 bit/s, in any order of sizes and of times."""
    samples = TransferSamples(payload_bytes=[10.0, 8.0, 100.0], duration_s=[1.0, 4.0, 0.5])
    (found,) = from_transfers(samples)
    assert (found.rate_bps, found.size_bytes, found.duration_s) == (80.0, 10.0, 1.0)


def test_one_datagram_and_one_retransmission_count():
    one = from_facts(flow(protocol="udp", sent_byte_count=700, datagram_count=1))[0]
    assert one.datagram_bytes == 700
    printed = Meta(
        facts=({"protocol": "udp", "sent_rate_bps": 5.0, "sent_byte_count": 700,
                "datagram_count": 7},), printed={"write_bytes": 90},
    )  # fmt: skip
    assert from_facts(Table(data={"x": np.array([1.0])}, meta=printed))[0].datagram_bytes == 90
    columns = {
        "start_s": [0.0, 1.0, 2.0, 3.0], "duration_s": [1.0] * 4, "payload_bytes": [1.0] * 4,
        "cwnd_bytes": [50.0] * 4,
    }  # fmt: skip
    facts = Meta(facts=({"sent_rate_bps": 5.0},))
    for again, steady in (([0.0] * 4, True), ([0.0, 0.0, 1.0, 0.0], False), ([NAN] * 4, True)):
        seen = from_facts(FlowSeries(**columns, retransmit_count=again, meta=facts))[0]
        assert seen.is_window_steady is steady
        assert seen.retransmit_count == pytest.approx(sum(again), nan_ok=True)
    # by hand: half a byte, and a hundred segments of 1448 B sent again
    least = from_facts(flow(sent_byte_count=0.5, retransmit_count=100))[0]
    assert least.loss_ratio == pytest.approx(100 / (100 + 0.5 / 1448))


def test_other_columns_do_not_matter():
    table = Table(
        data={"frame_bytes": np.array([100.0, np.inf]), "rate_pps": np.array([10.0, 10.0]),
              "note": np.array(["a", "b"], object)}
    )  # fmt: skip
    (found,) = frame_tables.explain_sizes(table, Known(device_pps=0.5))
    assert [(one.name, one.value) for one in found.limits] == [("packet-rate", 400.0)]
    counted = Table(
        data={"counter": np.array(["OutSegs", "RetransSegs"], object),
              "value": np.array([4.0, 1.0]), "rate": np.array([0.0, 0.0])}
    )  # fmt: skip
    assert explain_counters(counted, Known())[0].notices[0].values["share"] == 0.25


def test_columns_of_just_the_units_that_tell():
    for unit, code in (("s", "may-be-times"), ("bit/s", "may-be-rates")):
        table = Table(data={"x": np.array([1.0])}, meta=Meta(units={"x": unit}))
        assert described(table)[-2].code == code


def test_columns_without_a_number():
    data = {"t": np.array([NAN, NAN]), "n": np.array([1, 3]), "b": np.array([True, True])}
    notices = described(Table(data=data))
    assert [one.code for one in notices[:3]] == [
        "column-of-text", "column-of-numbers", "column-of-text",
    ]  # fmt: skip
    assert notices[1].values == {
        "name": "n", "unit": "no unit", "low": 1.0, "high": 3.0, "count": 2,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["curve_rtt_s", "response_s"])
def test_a_negative_time_is_refused_with_its_field(name):
    columns = {"packet_bytes": np.array([64.0, 1400.0]), name: np.array([0.08, -1.0])}
    with pytest.raises(ReaderError, match=r"must be 0 or greater, got -1 \(at index 1\)") as raised:
        measurement(Table(data=columns, meta=Meta(source="curves.csv")))
    assert "curves.csv, field " in str(raised.value)
