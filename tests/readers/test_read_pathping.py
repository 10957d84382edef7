"""Pathping of Windows, and tracert of a Huawei router."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.explain import measurement
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "paths"
GERMAN = {
    "Tracing route to": "Routenverfolgung zu",
    "over a maximum of 30 hops:": "über maximal 30 Hops:",
    "Computing statistics for 100 seconds...": "Berechnung der Statistiken: 100 Sekunden...",
    "Lost/Sent = Pct": "Verl./Ges.=  %  ",
    "Trace complete.": "Ablaufverfolgung beendet.",
}


def test_pathping():
    """Read off the file by eye."""
    table = read(INPUTS / "pathping.txt")
    assert table["hop"].tolist() == [1, 2, 3, 4]
    assert table["node"].tolist() == ["192.0.2.1", "198.51.100.1", "198.51.100.9", "203.0.113.9"]
    assert table["loss_ratio"].tolist() == pytest.approx([0, 0.16, 1, 0.13])
    assert table["reply_count"].tolist() == [100, 84, 0, 87]
    assert table["node_lost_count"].tolist() == [0, 3, 87, 0]
    assert table["link_lost_count"].tolist() == [0, 13, 0, 0]
    np.testing.assert_allclose(table["rtt_mean_s"], [0.0005, 0.022, np.nan, 0.024])
    assert table.facts() == [
        {"target": "host.example", "hop_count": 4, "responding_hop_count": 3, "partial": False}
    ]
    assert table.meta.host == "PC-1.example"


@pytest.mark.each(("lost", "answered"), [(99, 3), (100, 2)])
def test_one_answer_in_a_hundred_is_one(lost, answered):
    text = (INPUTS / "pathping.txt").read_text()
    written = " 2   22ms    16/ 100 = 16%"
    assert written in text
    text = text.replace(written, f" 2   22ms   {lost:3}/ 100 ={lost:3}%")
    assert read(text)["reply_count"].tolist() == [100, 100 - lost, 0, 87]
    rtt_s = 0.022 if lost < 100 else np.nan  # without an answer there is no time
    np.testing.assert_allclose(read(text)["rtt_mean_s"][1], rtt_s)
    assert read(text).facts()[0]["responding_hop_count"] == answered


def test_the_link_that_loses_packets_and_a_heading_of_signs():
    """By hand: of the losses that the file has at links, 13 are before hop 2, and no other."""
    text = (INPUTS / "pathping.txt").read_text()
    heading = "Hop  RTT    Lost/Sent = Pct  Lost/Sent = Pct"
    assert heading in text
    text = text.replace(heading, "Abs. Zeit   Verl./Ges.=   %  Verl./Ges.=   %")
    table = read(text)
    assert not table.meta.warnings
    (finding,) = measurement(table)
    assert [n.values for n in finding.notices if n.code == "links-lossy"] == [{"hops": [2]}]


def test_pathping_in_another_language_and_encoding():
    text = (INPUTS / "pathping.txt").read_text()
    for english, german in GERMAN.items():
        assert english in text
        text = text.replace(english, german)
    for data in (text.encode("cp850"), text.replace("\n", "\r\n").encode("utf-16")):
        assert sniff(data) == "pathping"
        assert read(data).facts() == read(INPUTS / "pathping.txt").facts()


def test_pathping_that_was_cut_is_partial_or_refused():
    text = (INPUTS / "pathping.txt").read_text()
    assert read(text[: text.index("  3  ---")]).meta.partial is True
    with pytest.raises(ReaderError) as refused:
        read(text[: text.index("            Source")])
    assert refused.value.code == "pathping-no-statistics"


def test_huawei_tracert():
    """Read off the file by eye: a label of MPLS is no node."""
    samples = read(INPUTS / "huawei_tracert.txt")
    assert samples.hop.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert samples.node.tolist()[6:9] == ["198.51.100.3"] * 3
    assert samples.lost.tolist() == [False] * 3 + [True] * 3 + [False] * 4 + [True, False]
    row = samples.facts()[0]
    assert row["last_hop_rtt_median_s"] == pytest.approx(0.031)
    assert (row["hop_count"], row["responding_hop_count"], row["reply_count"]) == (4, 3, 8)
    assert (row["target"], row["partial"]) == ("203.0.113.9", False)


def test_huawei_tracert_that_was_cut_is_partial():
    text = (INPUTS / "huawei_tracert.txt").read_text()
    assert read(text[: text.index(" 4 ")]).meta.partial is True


HUAWEI = "traceroute to  h(192.0.2.9), max hops: {},packet length: 40,press CTRL_C to break\n"


def test_marks_stars_and_lines_of_huawei_that_are_none():
    """A mark is of the time before it, and one before all times of none."""
    text = HUAWEI.format(30) + (
        " 1 192.0.2.1 30 ms !H * 20 ms\n 2 192.0.2.2 !N 10 ms\n 3 what ms\n 4 5 apples\nnoise\n"
    )
    samples = read(text)
    assert samples.hop.tolist() == [1, 1, 1, 2]
    assert samples.lost.tolist() == [False, True, False, False]
    assert samples.mark.tolist() == ["!H", "", "", ""]
    assert samples.node.tolist() == ["192.0.2.1", "", "192.0.2.1", "192.0.2.2"]
    assert samples.rtt_s[[0, 2, 3]].tolist() == pytest.approx([0.03, 0.02, 0.01])
    assert samples.resolution_s[[0, 2, 3]].tolist() == [0.001] * 3
    assert [dict(one.values) for one in samples.meta.warnings] == [{"numbers": [4, 5]}]


@pytest.mark.each(("limit", "partial"), [(2, False), (3, True)])
def test_a_huawei_run_ends_at_its_target_or_at_its_limit(limit, partial):
    hops = " 1 192.0.2.1 30 ms\n 2 192.0.2.2 30 ms\n"
    assert read(HUAWEI.format(limit) + hops).meta.partial is partial
    assert read(HUAWEI.format(30) + hops.replace("192.0.2.2", "192.0.2.9")).meta.partial is False


def test_two_runs_of_huawei_and_one_without_a_hop():
    hop = " 1 192.0.2.9 30 ms\n"
    both = read(HUAWEI.format(30) + hop + HUAWEI.format(30).replace(" h(", " g(") + hop)
    assert [row["group"] for row in both.facts()] == ["h", "g"]
    with pytest.raises(ReaderError) as refused:
        read(HUAWEI.format(30))
    assert refused.value.code == "no-path"
    assert read(HUAWEI.format(30) + hop.rstrip("\n")).rtt_s.tolist() == [0.03]  # ms is its end
    with pytest.raises(ReaderError) as refused:
        read(HUAWEI.format(30) + hop.rstrip(" ms\n"))
    assert refused.value.code == "no-path"  # 30 may be the start of 300
