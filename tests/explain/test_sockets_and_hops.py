"""Lists of sockets, and reports of hops, explained: every number by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.explain import Known, measurement
from netcalc.samples import Meta, Table

NAN = math.nan
SS = """\
State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      0      192.0.2.1:50000    192.0.2.9:5201
\t cubic rto:240 rtt:40/2 mss:1448 pmtu:1500 cwnd:10 bytes_acked:1000001 snd_wnd:65536
"""


def sockets(**columns):
    data = {
        "group": np.array(["a > b"] * 2, object),
        "state": np.array(["ESTAB"] * 2, object),
        "protocol": np.array(["tcp"] * 2, object),
        "time_s": np.array([1000.0, 1010.0]),
        "cwnd_packets": np.array([20.0, 20.0]),
        "mss_bytes": np.array([1000.0, 1000.0]),
        "rtt_s": np.array([0.1, 0.1]),
        "bytes_acked": np.array([1e6, 2.9e6]),
        "other": np.array(["", ""], object),
    }
    return Table(data=data | {name: np.array(one) for name, one in columns.items()}, meta=Meta())


def test_the_window_of_a_socket_is_a_ceiling(tmp_path):
    """By hand: 10 x 1448 B in 40 ms are 2.896 Mbit/s; 65,536 B are 13.1072 Mbit/s."""
    file = tmp_path / "ss.txt"
    file.write_text(SS)
    (found,) = measurement(readers.read(file))
    rates = {one.name: one.value for one in found.limits}
    assert rates["congestion-window"] == pytest.approx(2.896e6)
    assert rates["receive-window"] == pytest.approx(13.1072e6)
    assert found.binding.name == "congestion-window"
    assert math.isnan(found.measured)
    assert found.label == "192.0.2.1:50000 > 192.0.2.9:5201"
    assert found.sentence == (
        "The congestion window limits this to 2.896 Mbit/s (TCP payload); the next limit is the "
        "receiver's window at 13.11 Mbit/s (TCP payload)."
    )
    assert "14.48 kB per round trip of 40 ms" in str(found)
    assert "{" not in str(found)


def test_what_was_acknowledged_between_two_lists_is_the_rate():
    """By hand: 1.9 MB in 10 s are 1.52 Mbit/s, 95 % of 20 kB per 100 ms, 1.6 Mbit/s."""
    (found,) = measurement(sockets())
    assert found.measured == pytest.approx(1.52e6)
    assert found.binding.name == "congestion-window"
    assert (found.share_ratio, found.confidence) == (pytest.approx(0.95), "low")


def test_the_retransmissions_of_a_socket_are_its_loss():
    """By hand: 100 of 2900 + 100 segments; Mathis: 8000 bit / 0.1 s x sqrt(1.5 / (1 / 30))."""
    table = sockets(retransmit_total_count=[50.0, 100.0], congestion_control=["reno", "reno"])
    (found,) = measurement(table)
    rates = {one.name: one.value for one in found.limits}
    assert rates["loss-mathis"] == pytest.approx(8e4 * 1.31 * math.sqrt(30), rel=0.05)


@pytest.mark.each(
    "columns",
    [{"time_s": [NAN, NAN]}, {"bytes_acked": [NAN, NAN]}, {"bytes_acked": [5.0, 5.0]},
     {"time_s": [1000.0, 1000.0]}],
)  # fmt: skip
def test_a_list_without_times_or_bytes_has_no_rate(columns):
    (found,) = measurement(sockets(**columns))
    assert math.isnan(found.measured)
    assert found.binding.name == "congestion-window"


@pytest.mark.each(
    "columns",
    [{"cwnd_packets": [NAN, NAN]}, {"rtt_s": [NAN, NAN]}, {"mss_bytes": [NAN, NAN]},
     {"state": ["LISTEN", "LISTEN"]}],
)  # fmt: skip
def test_sockets_without_a_window_are_not_explained(columns):
    with pytest.raises(ReaderError) as refused:
        measurement(sockets(**columns))
    assert refused.value.code == "nothing-to-explain"


def hops(**columns):
    data = {
        "hop": np.array([1.0, 2.0, 3.0, 4.0]),
        "node": np.array(["r1", "r2", "", "t"], object),
        "rtt_min_s": np.array([0.001, 0.030, NAN, 0.021]),
        "loss_ratio": np.array([0.0, 0.4, 1.0, 0.1]),
    }
    return Table(data=data | {name: np.array(one) for name, one in columns.items()}, meta=Meta())


def test_the_hop_of_a_report_that_adds_most():
    """By hand: 1 ms to hop 1, 21 to the last: hop 2, which answers late, counts as 21 ms."""
    (found,) = measurement(hops())
    assert found.measured == pytest.approx(0.021)
    assert [(one.name, one.values["hop"]) for one in found.limits] == [("hop", 2), ("hop", 1)]
    assert [one.value for one in found.limits] == pytest.approx([0.020, 0.001])
    said = {one.code: one.values for one in found.notices}
    assert said["slow-answers"] == {"hops": [2]}
    assert said["probes-lost"] == {"loss_ratio": 0.1}, "of the last hop that answers"
    assert said["answers-limited"] == {"hops": [2]}, "hop 3 never answers: nothing follows"
    assert "{" not in str(found)


def test_a_report_of_mean_times():
    table = hops(loss_ratio=[0.0] * 4)
    means = Table(
        data={"rtt_mean_s" if name == "rtt_min_s" else name: one
              for name, one in table.columns().items()},
        meta=Meta(),
    )  # fmt: skip
    (found,) = measurement(means)
    assert found.measured == pytest.approx(0.021)
    assert [one.code for one in found.notices] == ["slow-answers", "mean-of-hops"]


def test_each_report_of_a_file_is_explained():
    table = hops(group=["x", "x", "y", "y"], rtt_min_s=[0.001, 0.03, 0.5, 0.6])
    found = measurement(table, Known(rtt_s=0.5))
    assert [(one.label, one.measured) for one in found] == [("x", 0.03), ("y", 0.6)]


def test_a_report_without_an_answer_is_not_explained():
    with pytest.raises(ReaderError):
        measurement(hops(rtt_min_s=[NAN] * 4))


@pytest.mark.each(
    ("file", "count"),
    [("mtr_report.txt", 1), ("mtr.json", 1), ("mtr.csv", None), ("pathping.txt", 1),
     ("mtr_two.txt", 2)],
)  # fmt: skip
def test_recorded_reports_are_explained(file, count):
    path = Path(__file__).parents[1] / "readers" / "inputs" / "paths" / file
    found = measurement(readers.read(path))
    assert count is None or len(found) == count
    assert all(one.unit == "s" and one.measured > 0 for one in found)


BUSY = """\
ESTAB 0 2896000 10.0.0.1:5201 10.0.0.2:40000
\t ts sack cubic wscale:7,7 rto:240 rtt:39.8/0.4 mss:1448 {path}cwnd:210 bytes_sent:901234567 \
bytes_retrans:1203456 bytes_acked:900000000 busy:120000ms rwnd_limited:100ms(0.1%) unacked:209 \
retrans:0/831 minrtt:20.1
"""


@pytest.mark.each("path", ["pmtu:1500 ", ""])
def test_a_queue_of_a_slow_socket_is_not_that_of_the_stated_line(tmp_path, path):
    """By hand: 900 MB in 120 s are 60 Mbit/s; a segment is 1448 + 12 + 40 + 38 = 1538 B on a line,
    of whose 1 Gbit/s it has 941.5 Mbit/s."""
    file = tmp_path / "ss.txt"
    file.write_text(BUSY.format(path=path))
    (found,) = measurement(readers.read(file), Known(line_bps=1e9))
    assert found.sentence.endswith(
        "(60 Mbit/s (TCP payload) of the 941.5 Mbit/s (TCP payload) that the stated line carries)."
    )
    assert "not in front of the stated line" in found.sentence
    assert (found.cause.code, found.confidence) == ("line", "medium")
    assert "nan" not in str(found)
    assert not any(math.isnan(value) for value in found.metrics.values())
    assert "1448 B of every 1538 B" in str(found)
    (slow,) = measurement(readers.read(file), Known(line_bps=64e6))
    assert slow.sentence.startswith("The line was full for 100% of 120 s"), "60 of 60.25 Mbit/s"
