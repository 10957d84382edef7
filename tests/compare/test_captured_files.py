"""Captures beside other files: flows as rows, the side that counted, and what is in common."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import writer as w
from click.testing import CliRunner

from netcalc import datasets, readers
from netcalc.cli import commands
from netcalc.compare import file_notices, files
from netcalc.samples import FlowSeries, Meta, RttSamples, Table, TransferSamples

TESTS = Path(__file__).parents[1]


def steady(*, ahead_s, behind_s, size=1000):
    """A client that sends 100 segments, one each 10 ms, each acknowledged a round trip later."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t = one.open(0.0, ahead_s, behind_s)
    course = []
    for number in range(100):
        at = t + 0.010 * number
        course.append((at, True, 1 + size * number, 1, size))
        course.append((at + ahead_s + 1e-4, False, 1, 1 + size * (number + 1), 0))
    for at, to_server, sequence, ack, length in sorted(course):
        one.send(at, to_server, sequence, ack, payload=length)
    return readers.read(io.BytesIO(capture.pcap(nano=True)))


def test_flows_of_a_capture_are_rows_with_their_side():
    """By hand: 1000 B each 10 ms are 0.8 Mbit/s, 1 % more as 100 segments span 99 gaps; an ACK
    comes 20.1 ms later. The client's side of the handshake took 0.1 of 20.1 ms."""
    rows = files({"a.pcap": steady(ahead_s=0.020, behind_s=0.0001)})
    label = "192.0.2.1 port 40000 to 198.51.100.2 port 80"
    rate, time = rows
    assert (rate.label, rate.quantity, rate.side, rate.count) == (label, "rate", "sender", 10)
    assert rate.value == pytest.approx(0.8e6, rel=0.02)
    assert (time.quantity, time.side) == ("time to the acknowledgement", "sender")
    assert (time.value, time.count) == (pytest.approx(0.0201), 100)
    assert "rate at the sender" in str(rate)


@pytest.mark.parametrize(
    ("ahead_s", "behind_s", "side"),
    [(0.020, 0.0001, "sender"), (0.0001, 0.020, "receiver"), (0.010, 0.010, "")],
)
def test_the_side_of_a_capture_is_where_the_handshake_was_short(ahead_s, behind_s, side):
    assert files({"a": steady(ahead_s=ahead_s, behind_s=behind_s)})[0].side == side


def test_two_captures_have_their_rates_in_common():
    """By hand: segments of half the size at the same times are half the rate."""
    one, other = (steady(ahead_s=0.02, behind_s=1e-4, size=size) for size in (1000, 500))
    notices = file_notices(files({"a": one, "b": other}))
    assert [notice.code for notice in notices] == ["files-differ", "files-alike"]
    assert notices[0].values["factor"] == pytest.approx(0.5)


def test_the_ends_of_one_transfer_are_named():
    sent = FlowSeries(
        start_s=np.arange(10.0), duration_s=[1.0] * 10, payload_bytes=[250e3] * 10,
        side=["sender"] * 10,
    )  # fmt: skip
    received = TransferSamples(
        payload_bytes=[125e3], duration_s=[1.0],
        meta=Meta(facts=({"received_rate_bps": 1e6},)),
    )  # fmt: skip
    rows = files({"a": sent, "b": received})
    assert [row.side for row in rows] == ["sender", "receiver"]
    *_, ends = file_notices(rows)
    assert ends.code == "files-of-two-sides"
    assert str(ends).startswith("b is the count of the receiver, a that of the sender")


def test_times_that_two_ends_saw_are_not_compared():
    """An acknowledgement is quick where the data arrive: that is no better path."""
    sender, receiver = steady(ahead_s=0.02, behind_s=1e-4), steady(ahead_s=1e-4, behind_s=0.02)
    notices = file_notices(files({"a": sender, "b": receiver}))
    assert "times-of-two-sides" in [notice.code for notice in notices]
    assert not [notice for notice in notices if notice.code == "files-differ"]


def test_what_is_not_in_common_is_said_and_only_then():
    ping = RttSamples(payload_bytes=[56.0] * 9, rtt_s=[0.01] * 9)
    rate = TransferSamples(payload_bytes=[1e6] * 9, duration_s=[1.0] * 9)
    (said,) = file_notices(files({"a": ping, "b": rate}), ["a", "b"])
    assert said.code == "no-common-quantity"
    assert (
        str(said) == "no two of the files have a quantity in common: a has round trip, b has rate"
    )
    (said,) = file_notices((), ["a", "b"])
    assert "a has none, b has none" in str(said)
    assert file_notices(files({"a": ping}), ["a"]) == ()
    alike = file_notices(files({"a": ping, "b": ping, "c": rate}), "abc")
    assert [one.code for one in alike] == ["files-alike"]


def test_groups_are_compared_by_their_names():
    """By hand: up is 1 Mbit/s in both, down 2 and 4 Mbit/s; none is compared within its file."""
    one, other = (
        TransferSamples(
            payload_bytes=[125e3] * 9 + [size] * 9, duration_s=[1.0] * 18,
            group=["up"] * 9 + ["down"] * 9,
        )
        for size in (250e3, 500e3)
    )  # fmt: skip
    notices = file_notices(files({"a": one, "b": other}))
    assert [(notice.code, notice.values["factor"]) for notice in notices] == [
        ("files-alike", 1.0), ("files-differ", 2.0),
    ]  # fmt: skip


def test_an_echo_in_a_capture_is_a_round_trip_as_that_of_a_ping():
    """By hand: four requests, each answered 10 ms later."""
    capture = w.Capture()
    for number in range(4):
        for at, kind, ends in ((0.0, 8, ("192.0.2.1", "192.0.2.2")),
                               (0.01, 0, ("192.0.2.2", "192.0.2.1"))):  # fmt: skip
            packet = w.ethernet(w.ipv4(w.icmp(kind, 7, number), 1, *ends), 0x0800)
            capture.add(w.START_NS + round((number + at) * 1e9), packet)
    (row,) = files({"a": readers.read(io.BytesIO(capture.pcap(nano=True)))})
    assert (row.quantity, row.value, row.count) == ("round trip", pytest.approx(0.01), 4)


def test_the_command_compares_two_captures_and_says_what_is_not_in_common():
    folder = datasets.data_folder() / "puzzles"
    names = [str(folder / f"{name}.pcap.gz") for name in ("window", "acknowledgements")]
    done = CliRunner().invoke(commands, ["explain", *names, "--json"])
    said = json.loads(done.output.splitlines()[-1])
    assert {row["side"] for row in said["compared"]} == {"sender"}
    codes = [notice["code"] for notice in said["notices"]]
    assert "no-common-quantity" not in codes
    done = CliRunner().invoke(commands, ["explain", names[0], str(folder / "bloat.txt")])
    assert "no two of the files have a quantity in common" in done.output
    assert files({"t": Table(data={"a": [1.0]})}) == ()
