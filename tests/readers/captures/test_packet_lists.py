"""Packets as text: expected values are read off the recorded files by eye, where not said else.

All are of one capture of 30 packets: 4 of ICMP over IPv4 and 4 over IPv6, 10 of TCP over each, 2 of
UDP; the first at 1795353918.312245, the last at 1795353919.248367.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parents[1] / "inputs" / "captures"
SPAN_S, NAN = 0.936122, float("nan")


def codes(samples):
    return [one.code for one in samples.meta.warnings]


@pytest.mark.each(
    ("file", "span_s"),
    [
        ("tcpdump_tt_absolute.txt", SPAN_S),
        ("tcpdump_ttt.txt", SPAN_S),
        ("tshark_fields.tsv", SPAN_S),
        ("tshark_fields.csv", SPAN_S),
        ("wireshark_since_start.csv", SPAN_S),
        ("wireshark_german_absolute.csv", SPAN_S),
        ("wireshark_delta.csv", None),
    ],
)
def test_one_capture_in_any_form_has_the_same_facts(file, span_s):
    [row] = read(INPUTS / file).facts()
    assert row["packet_count"] == 30
    assert row.get("span_s") == (None if span_s is None else pytest.approx(span_s, abs=2e-6))
    assert row["partial"] is False
    assert row.get("ipv4_packet_count", 16) == 16
    assert row.get("ipv6_packet_count", 14) == 14


def test_tcpdump_fields():
    table = read(INPUTS / "tcpdump_tt_absolute.txt")
    assert table["protocol"].tolist() == ["icmp"] * 8 + ["tcp"] * 20 + ["udp"] * 2
    syn, request = 8, 11
    assert table["time_s"][syn] == pytest.approx(0.935094, abs=1e-6)
    assert (table["source"][syn], table["source_port"][syn]) == ("192.0.2.2", 45944)
    assert (table["destination"][20], table["destination_port"][20]) == ("2001:db8::1", 18080)
    assert table["tcp_sequence"][syn] == 3756152321
    assert table["tcp_sequence"][request] == 3756152322
    assert table["payload_bytes"][[0, request, 13, 28, 29]].tolist() == [100, 7, 5000, 5, 7]
    assert table["tcp_flags"][[syn, 9, request]].tolist() == ["S", "S.", "P."]
    assert np.isnan(table["source_port"][:8]).all()
    relative = read(INPUTS / "tcpdump_ttt.txt")
    assert relative["tcp_sequence"][request] == 1
    assert relative["time_s"] == pytest.approx(table["time_s"], abs=2e-6)


def test_two_runs_of_tcpdump_and_the_header_of_ip():
    table = read(INPUTS / "tcpdump_v_two_runs.txt")
    first, second = table.facts()
    assert (first["group"], first["packet_count"], second["packet_count"]) == ("1", 20, 10)
    assert (first["ipv4_packet_count"], first["ipv6_packet_count"]) == (14, 6)
    assert (second["ipv4_packet_count"], second["ipv6_packet_count"]) == (0, 10)
    # 19.247999 less 19.247804
    assert second["span_s"] == pytest.approx(195e-6, abs=1e-9)
    assert table["packet_bytes"][[0, 4]].tolist() == [128, 104], "by hand: 64 and 40 of IPv6"
    assert table["ttl"][[0, 4]].tolist() == [64, 64]
    assert not table.meta.warnings


def test_tshark_fields():
    table = read(INPUTS / "tshark_fields.tsv")
    [row] = table.facts()
    assert (row["tcp_flow_count"], row["udp_flow_count"]) == (2, 1)
    assert row["tcp_retransmission_count"] == 0
    # the IPv6 handshake: 247804, 247813, 247820
    assert row["handshake_rtt_min_s"] == pytest.approx(16e-6)
    assert table["original_bytes"][:5].tolist() == [142, 142, 142, 142, 118]
    assert table["ack_rtt_s"][9] == pytest.approx(13e-6)
    assert table["ipv6.src"][4] == "2001:db8::1"


def test_a_german_list_has_the_same_columns():
    german, english = (
        read(INPUTS / f"wireshark_{name}.csv") for name in ("german_absolute", "since_start")
    )
    assert list(german.columns()) == list(english.columns())
    assert german["time_s"] == pytest.approx(english["time_s"], abs=1e-6)
    assert german["original_bytes"].tolist() == english["original_bytes"].tolist()
    assert english["info"][28].endswith("Len=5")


HEAD = '"No.","Time","Source","Destination","Protocol","Length","Info"\n'


def rows(times):
    return HEAD + "".join(f'"{n}","{t}","a","b","UDP","60","x"\n' for n, t in enumerate(times, 1))


@pytest.mark.each(
    ("times", "code", "span_s"),
    [
        (["0.0", "0.1", "0.3"], "packet-times-ambiguous", None),
        (["0.0", "0.1", "0.05"], "packet-times-since-last", None),
        (["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"], None, 0.5),
        (["1700000000.25", "1700000001.5"], None, 1.25),
        (["23:59:59.5", "00:00:00.25"], None, 0.75),
        (["2026-11-22 23:59:59.5", "2026-11-23 00:00:00.25"], None, 0.75),
        (["yesterday", "today"], "packet-time-unread", None),
    ],
)
def test_times_in_any_mode_are_right_or_left_out(times, code, span_s):
    """By hand; three rising times may be deltas."""
    table = read(rows(times), name="list.csv")
    assert codes(table) == ([code] if code else [])
    assert table.facts()[0].get("span_s") == (None if span_s is None else pytest.approx(span_s))
    assert table.facts()[0]["packet_count"] == len(times)


def test_a_few_rising_times_of_tcpdump_may_be_either():
    lines = " 00:00:00.000000 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 1, seq 1, length 64\n"
    lines += lines.replace("00.000000", "00.100000")
    assert codes(read(lines)) == ["packet-times-ambiguous"]
    plain = lines.replace(" 00:00:00", "12:00:00")
    assert read(plain).facts()[0]["span_s"] == pytest.approx(0.1)
    untimed = "".join(line[17:] for line in lines.splitlines(keepends=True))
    assert sniff(untimed + untimed) == "columns" or "span_s" not in read(untimed).facts()[0]


@pytest.mark.each(
    ("text", "code"),
    [
        (HEAD, "packet-list-empty"),
        (rows(["0.0"]).replace('"60"', '"sixty"'), "packet-field-not-a-number"),
        (rows(["0.0", "1.0"]).replace('"60",', "", 1), "packet-row-width"),
        (rows(["0.0"]).replace('"Info"', '"Length"'), "packet-columns-alike"),
        ("frame.number\tframe.len\n", "packet-list-empty"),
        ("frame.number\tframe.len\n1\n2\t3\n", "packet-row-width"),
        ("frame.number\tframe.len\n1\tx\n", "packet-field-not-a-number"),
        ("reading from file a.pcap, link-type EN10MB (Ethernet)\n", "packet-list-empty"),
    ],
)
def test_refused_with_its_place(text, code):
    with pytest.raises(ReaderError) as error:
        read(text, name="list")
    assert error.value.code == code


def test_a_tunnel_has_a_field_twice():
    table = read("frame.time_relative\tip.len\n0.0\t100,60\n0.5\t40\n", name="fields")
    assert np.isnan(table["packet_bytes"][0])
    assert table["packet_bytes"][1] == 40
    assert codes(table) == ["packet-field-several"]


@pytest.mark.each("file", ["tcpdump_v_two_runs.txt", "tshark_fields.tsv", "wireshark_delta.csv"])
def test_a_list_cut_anywhere_is_right_or_refused(file):
    data = (INPUTS / file).read_bytes()
    whole = read(INPUTS / file)
    for end in range(1, len(data), 37):
        try:
            part = read(data[:end], name="cut")
        except ReaderError:
            continue
        if part.meta.tool == whole.meta.tool:
            assert len(part) <= len(whole)
            sizes = [one for one in ("original_bytes", "packet_bytes") if one in part.columns()]
            for name in sizes:
                kept = len(part) - 1  # the last number may have lost digits with its line end
                assert part[name][:kept] == pytest.approx(whole[name][:kept], nan_ok=True)


USUAL = """\
10:00:00.000000 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 100, win 64240, \
options [mss 1460,sackOK,TS val 5 ecr 0,nop,wscale 7], length 0
10:00:00.001000 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 900, ack 101, win 65160, \
options [mss 1400,sackOK,TS val 8 ecr 5,nop,wscale 6], length 0
10:00:00.002000 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq 1:1001, ack 1, win 502, \
options [{order}], length 1000{rest}
10:00:00.003000 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [.], ack 1001, win 501, length 0
10:00:00.004000 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [R], seq 901, win 0, length 0
"""


@pytest.mark.each(
    "order, rest",
    [
        ("nop,nop,TS val 6 ecr 8", ""),
        ("nop,nop,TS val 6 ecr 8", ": HTTP: GET / HTTP/1.1"),
        ("TS val 6 ecr 8,eol", ""),
        ("nop,nop,sack 1 {1:2},TS val 6 ecr 8", ""),
    ],
)
def test_a_usual_segment_is_read_as_a_rare_one(tmp_path, order, rest):
    """By hand, from the lines above."""
    file = tmp_path / "lines.txt"
    file.write_text(USUAL.format(order=order, rest=rest))
    columns = read(file).columns()
    expected = {
        "tcp_sequence": [100, 900, 1, NAN, 901],
        "acknowledged": [NAN, 101, 1, 1001, NAN],
        "window": [64240, 65160, 502, 501, 0],
        "payload_bytes": [0, 0, 1000, 0, 0],
        "mss_bytes": [1460, 1400, NAN, NAN, NAN],
        "shift": [7, 6, NAN, NAN, NAN],
        "timestamp": [5, 8, 6, NAN, NAN],
        "timestamp_echo": [0, 5, 8, NAN, NAN],
        "source_port": [40000, 80, 40000, 80, 80],
        "destination_port": [80, 40000, 80, 40000, 40000],
    }
    for name, numbers in expected.items():
        assert columns[name].tolist() == pytest.approx(numbers, nan_ok=True), name
    assert columns["tcp_flags"].tolist() == ["S", "S.", "P.", ".", "R"]
    assert set(columns["protocol"]) == {"tcp"}
    assert set(columns["ip_version"]) == {"4"}
    (facts,) = read(file).facts()
    assert facts["tcp_flow_count"] == 1
    assert facts["udp_flow_count"] == 0
    assert facts["handshake_rtt_min_s"] == pytest.approx(0.002)
