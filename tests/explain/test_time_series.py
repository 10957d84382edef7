"""Tables over time: each quantity on its own, and their values as claims. All by hand."""

from __future__ import annotations

import pytest

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.explain import Known, claim_of, measurement

LOG = (
    "date,ping [ms],download [Mbit/s],upload [Mbit/s]\n"
    "2024-01-10 10:00:00,12,93.7,11.2\n"
    "2024-01-10 11:00:00,13,93.1,11.1\n"
    "2024-01-10 12:00:00,-,0,0\n"
    "2024-01-10 13:00:00,18,92.5,11.3\n"
)


def table(text):
    return readers.read(text.encode())


def test_each_quantity_is_explained_on_its_own():
    """Of the median ping, 13 ms, 1 ms is above the least, 12 ms; one of 4 was lost.

    93.1 Mbit/s is the median of three; TCP carries 94.15 Mbit/s on 100 Mbit/s, 1448 of 1538 B.
    """
    ping, download, upload = measurement(table(LOG), Known(line_bps=100e6))
    assert (ping.label, ping.unit, ping.measured) == ("ping", "s", pytest.approx(0.013))
    parts = {one.name: one.value for one in ping.limits}
    assert parts == pytest.approx({"distance": 0.012, "queue-above-least": 0.001})
    (lost,) = [one for one in ping.notices if one.code == "probes-lost"]
    assert lost.values["loss_ratio"] == 0.25
    assert (download.label, download.measured) == ("download", pytest.approx(93.1e6))
    assert download.binding.name == "line"
    assert download.binding.value == pytest.approx(100e6 * 1448 / 1538)
    said = {one.code: one.values for one in download.notices}
    assert said["rates-over-time"] == {
        "count": 3, "low": pytest.approx(92.5e6), "high": pytest.approx(93.7e6),
        "layer": "TCP payload",
    }  # fmt: skip
    assert said["rates-of-nothing"] == {"count": 1, "total": 4}
    assert (upload.label, upload.is_explained) == ("upload", False)
    assert "ask-rtt" not in {one.code for one in upload.missing}, "the ping is in the table"


def test_a_ping_of_0_is_no_answer():
    """What a logger writes in an outage; the least of all others is 12 ms."""
    zero, dash = (measurement(table(LOG.replace("-,0,0", f"{mark},0,0")), Known())[0]
                  for mark in ("0", "-"))  # fmt: skip
    assert {one.name: one.value for one in zero.limits} == {
        one.name: one.value for one in dash.limits
    }
    assert zero.measured == pytest.approx(0.013)


def test_the_ping_of_a_table_serves_the_windows_of_its_rates():
    """64 KiB over 12 ms are 43.69 Mbit/s."""
    _, download, _ = measurement(table(LOG), Known(window_bytes=65536))
    (window,) = [one for one in download.limits if one.name == "window"]
    assert window.value == pytest.approx(8 * 65536 / 0.012)


@pytest.mark.each(
    ("text", "labels"),
    [
        ("time [s],throughput [Mbit/s]\n0,10\n1,20\n", ["throughput"]),
        ("timestamp,rtt_ms\n1700000000,10\n1700000060,20\n", ["rtt"]),
        ("download [Mbit/s],idle latency [ms]\n50,10\n60,20\n", ["idle_latency", "download"]),
        ("date,ping [ms],download [Mbit/s]\n2024-01-10,-,0\n2024-01-11,5,-\n", ["ping"]),
        (
            "Server,ping [ms],download [Mbit/s]\nParis,9,50\nTokyo,250,9\n",
            ["Paris, download", "Tokyo, download"],
        ),
        (
            "Server,ping [ms],download [Mbit/s]\nParis,9,50\nParis,25,9\n",
            ["ping", "Paris, download"],
        ),
        ("Uhrzeit,ping [ms],download [Mbit/s]\n20:00,9,50\n21:00,25,9\n", ["ping", "download"]),
        ("time [s],RTT wifi [ms],cable RTT [ms]\n0,4,1\n1,9,1\n", ["rtt_wifi", "cable_rtt"]),
    ],
)
def test_what_a_series_may_be_called(text, labels):
    assert [one.label for one in measurement(table(text))] == labels


@pytest.mark.each(
    "text",
    [
        "bandwidth [Mbit/s],latency [ms]\n100,1\n200,2\n",  # of lines, not over time
        "date,bandwidth [Mbit/s]\n2024-01-10,100\n2024-01-11,100\n",
        "x [Mbit/s],y [ms]\n100,1\n200,2\n",
    ],
)
def test_other_tables_are_no_series(text):
    with pytest.raises(ReaderError) as refused:
        measurement(table(text))
    assert refused.value.code in ("columns-without-theory", "columns-not-recognized")


def test_a_refusal_names_the_columns_of_the_file():
    with pytest.raises(ReaderError) as refused:
        measurement(table("duration [s],up [Mbit/s],down [Mbit/s]\n0,1,9\n1,1,8\n"))
    assert refused.value.values["names"] == ["up_bps", "down_bps"], "not recognized"


@pytest.mark.each(
    "name", ["RTT jitter", "rttvar", "one-way latency", "ping interval", "latency stddev"]
)
def test_what_is_no_round_trip(name):
    found = measurement(table(f"time [s],{name} [ms],download [Mbit/s]\n0,4,1\n1,9,1\n"))
    assert [one.label for one in found] == ["download"]


@pytest.mark.each(
    ("text", "name"),
    [("11.1 Mbit/s", "in-table"), ("93.1 Mbit/s", "measured"), ("18 ms", "rtt-most")],
)
@pytest.mark.each("line_bps", [None, 1e8])
def test_a_number_of_the_table_is_right(text, name, line_bps):
    found = claim_of(table(LOG), text, Known(line_bps=line_bps))
    assert not found.is_misconception
    assert found.best.name == name
    assert "e-16" not in str(found)


def test_bytes_for_bits_of_a_table_are_a_mistake():
    found = claim_of(table(LOG), "93.1 MB/s", Known())
    assert (found.best.name, found.right.value) == ("bytes-for-bits", pytest.approx(93.1e6))


def test_a_value_of_any_table_is_its_own():
    """No theory is known for it, and no mistake is made of it."""
    plain = table("bandwidth [Mbit/s],latency [ms]\n100,1\n200,2\n")
    found = claim_of(plain, "200 Mbit/s", Known())
    assert (found.best.name, found.best.values) == (
        "in-table",
        {"column": "bandwidth_bps", "row": 2},
    )


def test_times_below_the_step_of_a_clock_have_no_cause():
    """Thirty answers of 0.0 ms: no share of a time of zero."""
    lines = "".join(
        f"64 bytes from 192.0.2.9: icmp_seq={n} ttl=64 time=0.0 ms\n" for n in range(1, 31)
    )
    text = "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n" + lines
    (finding,) = measurement(readers.read(text.encode()))
    assert finding.as_dict()["cause"] == "unknown"
