"""Traceroute: every probe keeps its hop, its node and its time; what is not sure is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes, near

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff
from netcalc.samples import PathSamples

INPUTS = Path(__file__).parent / "inputs" / "paths"

# Read off the files by eye: facts of each.
FACTS = {
    "traceroute_linux.txt": {
        "target": "203.0.113.2", "hop_count": 8, "responding_hop_count": 3, "probe_count": 24,
        "reply_count": 8, "last_hop_rtt_median_s": 50.5e-6, "packet_bytes": 60,
        "partial": False,
    },
    "traceroute_q1.txt": {
        "target": "203.0.113.2", "hop_count": 17, "responding_hop_count": 3, "probe_count": 17,
        "reply_count": 3, "last_hop_rtt_median_s": 21e-6, "packet_bytes": 60,
        "partial": False,
    },
    "traceroute_q5_names.txt": {
        "target": "203.0.113.2", "hop_count": 3, "responding_hop_count": 3, "probe_count": 15,
        "reply_count": 15, "last_hop_rtt_median_s": 10e-6, "packet_bytes": 60,
        "partial": False,
    },
    "traceroute_ipv6.txt": {
        "target": "2001:db8:3::2", "hop_count": 3, "responding_hop_count": 3, "probe_count": 9,
        "reply_count": 9, "last_hop_rtt_median_s": 11e-6, "packet_bytes": 80,
        "partial": False,
    },
    "traceroute_prohibited.txt": {
        "target": "198.18.0.1", "hop_count": 11, "responding_hop_count": 1, "probe_count": 33,
        "reply_count": 1, "packet_bytes": 60,
        "partial": True,
    },
    "traceroute_no_answer.txt": {
        "target": "192.88.99.7", "hop_count": 8, "responding_hop_count": 0, "probe_count": 24,
        "reply_count": 0, "packet_bytes": 60,
        "partial": False,
    },
    "traceroute_mtu.txt": {
        "target": "203.0.113.2", "hop_count": 3, "responding_hop_count": 3, "probe_count": 9,
        "reply_count": 8, "last_hop_rtt_median_s": 41e-6, "path_mtu_bytes": 1500,
        "partial": False,
    },
    "traceroute_bsd.txt": {
        "target": "host.example", "hop_count": 4, "responding_hop_count": 4, "probe_count": 12,
        "reply_count": 10, "last_hop_rtt_median_s": 24.332e-3, "packet_bytes": 52,
        "partial": False,
    },
    "traceroute_ios.txt": {
        "target": "host.example", "hop_count": 4, "responding_hop_count": 3, "probe_count": 12,
        "reply_count": 7, "last_hop_rtt_median_s": 18e-3, "partial": False,
    },
}  # fmt: skip

HEAD = "traceroute to host.example (192.0.2.9), 30 hops max, 60 byte packets\n"


@pytest.mark.each("file", FACTS)
def test_facts(file):
    (row,) = read(INPUTS / file).facts()
    assert row == {name: near(value) for name, value in FACTS[file].items()}


def test_each_probe_keeps_its_own_node():
    samples = read(INPUTS / "traceroute_bsd.txt")
    second = np.asarray(samples.hop) == 2
    assert samples.node[second].tolist() == ["198.51.100.1", "198.51.100.2", "198.51.100.2"]
    assert samples.node_name[second].tolist() == ["a.example", "b.example", "b.example"]
    third = np.asarray(samples.hop) == 3
    assert samples.lost[third].tolist() == [True, False, True]
    assert samples.node[third].tolist() == ["", "203.0.113.5", ""]
    assert np.isnan(samples.rtt_s[third]).tolist() == [True, False, True]
    assert samples.mark[samples.mark != ""].tolist() == ["!Z", "!X"]
    assert codes(samples) == ["path-message"]


@pytest.mark.each(
    ("line", "expected"),
    [  # by the rules of the manual: a star has no time, a mark belongs to the time before it
        ("1  a (192.0.2.1)  1.002 ms  *  1.006 ms", [1.002, None, 1.006]),
        ("1  192.0.2.1  4.5 ms !H  * 4.6 ms !F-1300", [4.5, None, 4.6]),
        ("1  a (192.0.2.1)  1.5 ms 1.6 ms b (192.0.2.2)  1.7 ms", [1.5, 1.6, 1.7]),
        ("1  a (192.0.2.1)  4,024 ms  3,683 ms", [4.024, 3.683]),
        ("1   192.0.2.1  0.5ms  0.4ms  0.3ms", [0.5, 0.4, 0.3]),
        ("1  odd name of <b>a</b> host (192.0.2.1)  1.5 ms", [1.5]),
        ("1  192.0.2.1 10 ms  10 ms  10 ms", [10, 10, 10]),
        ("1  a (192.0.2.1) <MPLS:L=24,E=0,S=1,T=1>  1.5 ms '-1'  1.6 ms", [1.5, 1.6]),
    ],
)
def test_a_line(line, expected):
    samples = read(HEAD + line + "\n")
    assert isinstance(samples, PathSamples)
    shown = [None if np.isnan(t) else pytest.approx(t * 1e-3) for t in expected_or_nan(expected)]
    assert [None if np.isnan(t) else t for t in samples.rtt_s] == shown
    assert samples.lost.tolist() == [t is None for t in expected]


def expected_or_nan(times):
    return [np.nan if t is None else t for t in times]


@pytest.mark.each(
    ("line", "name"),
    {
        "1  core (old) (192.0.2.1)  1.5 ms": "core (old)",
        "1  192.0.2.1 (192.0.2.1)  1.5 ms": "",
    }.items(),
)
def test_a_name_may_have_brackets_of_its_own(line, name):
    samples = read(HEAD + line + "\n")
    assert (samples.node.tolist(), samples.node_name.tolist()) == (["192.0.2.1"], [name])
    assert codes(samples) == []


def test_a_word_that_is_no_node_makes_a_line_unreadable():
    """What stands before a star belongs to no probe."""
    samples = read(HEAD + " 1  192.0.2.1  1.000 ms\n 2  what *\n")
    assert samples.hop.tolist() == [1]
    assert samples.meta.warnings[-1].values["numbers"] == [3]


@pytest.mark.each("line", ["2  192.0.2.1  4.024  3.683 ms", "2  192.0.2.1 1.5 ms 1.6", "2  1.5 ms"])
def test_a_line_without_a_unit_is_not_used(line):
    samples = read(HEAD + " 1  192.0.2.1  1.000 ms\n" + line + "\n")
    assert samples.rtt_s.tolist() == [1e-3]
    assert codes(samples) == ["path-lines-unread"]
    with pytest.raises(ReaderError) as caught:
        read(HEAD + line + "\n")
    error = caught.value
    assert (error.code, error.values["line"]) == ("traceroute-unreadable", 2)


def test_cut_at_every_character():
    """No time that a cut file shows may be one that the whole file does not have."""
    whole = (INPUTS / "traceroute_linux.txt").read_text()
    times = set(read(INPUTS / "traceroute_linux.txt").rtt_s.tolist())
    for end in range(len(HEAD), len(whole) - 1):
        try:
            samples = read(whole[:end])
        except ReaderError:
            continue
        assert {t for t in samples.rtt_s.tolist() if t == t} <= times
        assert samples.meta.partial or end > whole.rindex("ms") - 1


def test_several_runs():
    text = (INPUTS / "traceroute_ipv6.txt").read_text() + (
        INPUTS / "traceroute_no_answer.txt"
    ).read_text()
    first, second = read(text).facts()
    assert (first["group"], first["hop_count"]) == ("2001:db8:3::2", 3)
    assert (second["group"], second["hop_count"], second["reply_count"]) == ("192.88.99.7", 8, 0)


def test_without_header():
    text = (INPUTS / "traceroute_bsd.txt").read_text().partition("packets\n")[2]
    assert sniff(text) == "traceroute"
    samples = read(text)
    assert samples.facts()[0]["hop_count"] == 4
    assert "target" not in samples.facts()[0]
    assert codes(samples) == ["path-without-header"]


def test_an_interrupted_run_is_partial():
    samples = read(HEAD + " 1  192.0.2.1  1.000 ms 2.000 ms 3.000 ms\n 2  * * *\n")
    assert samples.facts()[0]["partial"] is True
    assert "last_hop_rtt_median_s" not in samples.facts()[0]


def test_only_a_message():
    with pytest.raises(ReaderError) as caught:
        read("traceroute: unknown host nowhere.example\n")
    assert caught.value.code == "path-message-only"


@pytest.mark.each(
    "header, size",
    [
        ("traceroute to h.example (192.0.2.9), 30 hops max, 1400 byte packets", 1400),
        ("traceroute to 192.0.2.9 (192.0.2.9) 30 hops at most, 52 bytes each packet", 52),
        ("traceroute to h.example (2001:db8::9), 30 hops max, 80 byte packets", 80),
        # the data alone, of BSD and of iputils: the packet is larger
        (
            "traceroute6 to h.example (2001:db8::9) from 2001:db8::1, 64 hops max, 12 byte packets",
            None,
        ),
        (
            "traceroute to h.example (2001:db8::9) from 2001:db8::1, 30 hops max, 900 byte packets",
            None,
        ),
        ("traceroute to h.example (192.0.2.9), 30 hops max", None),
        ("traceroute to h.example (192.0.2.9), 30 hops max, 20 byte packets", None),
    ],
)
def test_the_size_of_the_packets_is_in_the_header(header, size):
    (row,) = read(f"{header}\n 1  192.0.2.1  0.1 ms  0.2 ms  0.3 ms\n".encode()).facts()
    assert row.get("packet_bytes") == size
