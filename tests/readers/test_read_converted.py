"""What other programs make of the output of a tool: JSON of jc, pingparsing and tshark; ss -s.

The texts are written by hand after the documentation of the programs; the expected values are those
in them, in SI units.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).with_name("inputs")
TOTALS = {
    "destination_ip": "192.0.2.1", "destination": "host.example", "packets_transmitted": 4,
    "packets_received": 3, "packet_loss_percent": 25.0, "duplicates": 1, "time_ms": 3004.0,
    "round_trip_ms_min": 1.5, "round_trip_ms_avg": 2.5, "round_trip_ms_max": 3.5,
}  # fmt: skip


def reply(number: int, ms: float, *, again: bool = False) -> dict[str, Any]:
    return {"type": "reply", "bytes": 64, "response_ip": "192.0.2.1", "icmp_seq": number,
            "ttl": 57, "time_ms": ms, "duplicate": again}  # fmt: skip


REPLIES = [reply(1, 1.5), reply(2, 2.5), reply(2, 9.5, again=True), reply(4, 3.5)]
JC = {**TOTALS, "responses": REPLIES}
PARSED = {"destination": "host.example", "packet_transmit": 4, "packet_receive": 3,
          "packet_loss_rate": 25.0, "packet_loss_count": 1, "rtt_min": 1.5, "rtt_avg": 2.5,
          "rtt_max": 3.5, "rtt_mdev": 0.1, "packet_duplicate_rate": 0.0,
          "packet_duplicate_count": 0}  # fmt: skip
FACTS = {"target": "host.example", "sent_count": 4, "received_count": 3, "rtt_min_s": 0.0015,
         "rtt_max_s": 0.0035, "loss_ratio": 0.25, "printed_loss_ratio": 0.25,
         "partial": False}  # fmt: skip
PINGS = {
    "jc": (JC, FACTS | {"duplicate_count": 1, "rtt_median_s": 0.0025}),
    "jc -q": ({**JC, "responses": []}, FACTS),
    "jc, several": ([JC], FACTS),
    "pingparsing": ({"host.example": PARSED}, FACTS),
    "pingparsing of a file": (PARSED, FACTS),
    "pingparsing --icmp-reply": (
        {"host.example": {**PARSED, "icmp_replies": [
            {"timestamp": None, "icmp_seq": n, "ttl": 57, "time": ms, "duplicate": False}
            for n, ms in ((1, 1.5), (2, 2.5), (4, 3.5))]}},
        FACTS | {"rtt_median_s": 0.0025}),
}  # fmt: skip


@pytest.mark.each("indent", [None, 4])
@pytest.mark.each("name", PINGS)
def test_pings_as_json(name, indent):
    document, wanted = PINGS[name]
    text = json.dumps(document, indent=indent) + "\n"
    assert sniff(text) == "ping JSON"
    (row,) = read(text).facts()
    assert {key: row.get(key) for key in wanted} == pytest.approx(wanted)


def test_replies_of_jc_are_rows():
    samples = read(json.dumps(JC) + "\n")
    assert samples.sequence.tolist() == [1, 2, 2, 3, 4]
    assert samples.lost.tolist() == [False, False, False, True, False]
    assert samples.duplicate.tolist() == [False, False, True, False, False]
    assert samples.payload_bytes.tolist() == [56] * 5  # 64 of the message, less its header of 8


def test_counts_of_another_kind_are_refused():
    with pytest.raises(ReaderError) as caught:
        read(json.dumps({"packets_transmitted": 4, "packets_received": 3}) + "\n")
    assert caught.value.code == "other-format" or caught.value.code == "unknown-json"


@pytest.mark.each("file", ["pings/jc_ping.json", "pings/pingparsing.json"])
def test_a_converted_ping_has_the_facts_of_the_text(file):
    """Both were made of iputils_loss.txt."""
    (text,), (row,) = read(INPUTS / "iputils_loss.txt").facts(), read(INPUTS / file).facts()
    names = set(text) - {"printed_loss_ratio"}  # of which each prints other digits
    assert {name: row[name] for name in names} == pytest.approx({n: text[n] for n in names})


def test_packets_as_json_have_the_facts_of_the_capture():
    """The first twelve of the packets."""
    (row,) = read(INPUTS / "captures" / "tshark.json").facts()
    whole = read(INPUTS / "captures" / "dumpcap_lo.pcapng")
    kept = whole.ints("kept_bytes")[:12].sum()
    span_s = whole.time_s[11] - whole.time_s[0]
    assert (row["packet_count"], row["captured_byte_count"]) == (12, kept)
    assert row["span_s"] == pytest.approx(span_s)


def test_a_traceroute_of_jc():
    probe = {"annotation": None, "asn": None, "ip": "192.0.2.1", "name": "gw", "rtt": 1.5}
    none = dict.fromkeys(probe)
    end = probe | {"ip": "192.0.2.9", "name": "host.example", "rtt": 2.5, "annotation": "!X"}
    found = read(
        json.dumps({"destination_ip": "192.0.2.9", "destination_name": "host.example", "hops": [
            {"hop": 1, "probes": [probe, none]}, {"hop": 2, "probes": [end, end]}]}) + "\n"
    )  # fmt: skip
    assert found.hop.tolist() == [1, 2, 2]
    assert found.node.tolist() == ["192.0.2.1", "192.0.2.9", "192.0.2.9"]
    assert found.rtt_s.tolist() == pytest.approx([0.0015, 0.0025, 0.0025])
    assert found.mark.tolist()[1:] == ["!X", "!X"]
    assert "probe_count" not in found.facts()[0]  # jc leaves out lost probes
    (row,) = found.facts()
    assert (row["target"], row["hop_count"], row["partial"]) == ("host.example", 2, False)


def test_what_no_hop_of_jc_can_be_is_left_out_and_counted():
    probe = {"ip": "192.0.2.1", "name": "192.0.2.1", "rtt": 1.5}
    hops = [{"hop": number, "probes": [probe]} for number in (-1, 0, 1)]
    hops.append({"hop": 2, "probes": [probe | {"ip": ""}, probe | {"rtt": -1}, probe | {"rtt": 0}]})
    document = {"destination_ip": "192.0.2.9", "destination_name": "192.0.2.9", "hops": hops}
    found = read(json.dumps(document) + "\n")
    assert found.hop.tolist() == [1, 2]
    assert found.rtt_s.tolist() == [0.0015, 0]
    assert found.node_name.tolist() == ["", ""]  # a name that is the address again is none
    assert [(one.code, dict(one.values)) for one in found.meta.warnings] == [
        ("lost-probes-left-out", {}), ("implausible-hops", {"count": 2}),
    ]  # fmt: skip
    document["hops"] = hops[:2]
    for text, code in (
        (json.dumps(document), "no-path"),
        (json.dumps(document | {"hops": hops})[:-1], "json-cut-short"),
    ):
        with pytest.raises(ReaderError) as refused:
            read(text + "\n")
        assert refused.value.code == code


def test_a_count_that_one_summary_leaves_out_adds_nothing_to_the_sum():
    """Two runs without replies, one of which says only its times: 4 sent and 3 received."""
    silent = {**PARSED, "packet_transmit": None, "packet_receive": None}
    found = read(json.dumps({"a.example": silent, "host.example": PARSED}) + "\n")
    assert (found.sent, found.received) == (4, 3)


def test_json_without_a_probe_is_refused_however_long_its_line_is():
    """A text is refused for lines of more than 2^20 characters; JSON may be one line."""
    none = dict.fromkeys(PARSED) | {"note": "x" * 2**20}
    for text in (json.dumps(none), json.dumps(none, indent=1)):
        with pytest.raises(ReaderError) as refused:
            read(text + "\n")
        assert refused.value.code == "no-probe"


# the members without which it is no run
OF_JC = ("packets_transmitted", "packets_received", "round_trip_ms_min", "responses")
OF_PARSED = ("destination", "packet_transmit", "packet_receive", "packet_loss_rate", "rtt_min")
LEAST_JC, LEAST = {name: JC[name] for name in OF_JC}, {name: PARSED[name] for name in OF_PARSED}


@pytest.mark.each(
    ("document", "runs"),
    {
        "an object": (PARSED, 1),
        "the least of jc": (LEAST_JC, 1),
        "the least of pingparsing": (LEAST, 1),
        "the least by target": ({"a": LEAST, "b": LEAST}, 2),
        "other values between": ([LEAST, 5, "x", LEAST_JC], 2),
        "by target": ({"a": PARSED, "b": PARSED}, 2),
        "a list of both": ([PARSED, {"a": PARSED, "b": PARSED}], 3),
        "a list in a list": ([[JC], [JC, JC]], 3),
    }.values(),
)
def test_runs_of_a_document(document, runs):
    found = read(json.dumps(document) + "\n")
    assert len(found.facts()) == runs


@pytest.mark.each("odd", [{"a": PARSED, "b": 5}, {"a": PARSED, "b": {"destination": "b"}}])
def test_an_object_that_is_not_all_of_runs_has_none(odd):
    with pytest.raises(ReaderError) as refused:
        read(json.dumps(odd) + "\n")
    assert refused.value.code in ("other-format", "unknown-json")


def test_a_timeout_of_jc_is_a_lost_probe():
    """Numbers from 0, as those of BSD; a reply of jc is 64 bytes with the 8 of its header."""
    lost = {"type": "timeout", "icmp_seq": 1}
    other = {"type": "unparsable_line", "unparsed_line": "x"}
    document = {**JC, "packets_transmitted": 3, "packets_received": 2, "duplicates": 0,
                "packet_loss_percent": 100 / 3,
                "responses": [reply(0, 1.5), lost, other, reply(2, 3.5)]}  # fmt: skip
    found = read(json.dumps(document) + "\n")
    assert found.sequence.tolist() == [0, 1, 2]
    assert found.lost.tolist() == [False, True, False]
    assert found.ttl.tolist()[::2] == [57, 57]
    assert found.facts()[0]["sent_count"] == 3


SUMMARY = """\
Total: 214
TCP:   12 (estab 4, closed 2, orphaned 0, timewait 2)

Transport Total     IP        IPv6
RAW\t  1         0         1
UDP\t  8         5         3
TCP\t  10        6         4
INET\t  19        11        8
FRAG\t  0         0         0

"""


def test_the_summary_of_ss():
    first, tcp, *_ = facts = read(SUMMARY).facts()
    assert first == {"partial": False, "counter:Total": 214, "counter:TCP": 12}
    assert tcp == {
        "group": "TCP", "partial": False, "counter:estab": 4, "counter:closed": 2,
        "counter:orphaned": 0, "counter:timewait": 2, "counter:Total": 10, "counter:IP": 6,
        "counter:IPv6": 4,
    }  # fmt: skip
    assert [row.get("group") for row in facts] == [None, "TCP", "RAW", "UDP", "INET", "FRAG"]
    old = "Total: 94 (kernel 0)\n" + SUMMARY.split("\n", 1)[1].replace("timewait 2", "timewait 2/0")
    old = old.replace("RAW\t", "*\t  0         -         -\nRAW\t", 1)
    assert read(old).facts()[1:] == facts[1:]
    assert not read(old).meta.warnings
    for before, after, line in (("8         5", "8         x", 6), ("closed 2", "closed ", 2)):
        (notice,) = read(SUMMARY.replace(before, after)).meta.warnings
        assert str(notice) == f"cannot read line {line}: no counters"


def packet(number: int, layers: dict[str, Any]) -> dict[str, Any]:
    """Return a packet as tshark -T json has it."""
    frame = {"frame.number": str(number), "frame.time_epoch": f"1795353918.{number}00000000",
             "frame.len": "142", "frame.cap_len": "96"}  # fmt: skip
    return {"_index": "packets-2026-11-22", "_type": "doc", "_score": None,
            "_source": {"layers": {"frame": frame, **layers}}}  # fmt: skip


IP = {"ip.src": "192.0.2.2", "ip.dst": "192.0.2.1", "ip.len": "128", "ip.ttl": "64"}
TCP = {"tcp.srcport": "5000", "tcp.stream": "0", "tcp.len": "76", "tcp.seq": "1", "tcp.ack": "1"}
AGAIN = {
    "tcp.analysis": {"tcp.analysis.flags": {"_ws.expert": {"tcp.analysis.retransmission": ""}}}
}


def test_packets_of_tshark_as_json():
    packets = [packet(1, {"ip": IP, "tcp": TCP}), packet(2, {"ip": IP, "tcp": {**TCP, **AGAIN}}),
               packet(3, {"arp": {}})]  # fmt: skip
    table = read(json.dumps(packets, indent=2))
    (row,) = table.facts()
    assert row == pytest.approx({
        "packet_count": 3, "captured_byte_count": 288, "span_s": 0.2, "ipv4_packet_count": 2,
        "tcp_flow_count": 1, "tcp_retransmission_count": 1, "partial": False,
    })  # fmt: skip
    assert table.data["payload_bytes"].tolist()[:2] == [76, 76]
    assert np.isnan(table.data["payload_bytes"][2])
    assert table.meta.units["packet_bytes"] == "byte"


def test_a_layer_that_was_left_out_is_not_0():
    (row,) = read(json.dumps([packet(1, {})], indent=2)).facts()
    assert "ipv4_packet_count" not in row
    assert row["packet_count"] == 1


def test_json_of_tshark_that_is_cut_is_refused_with_its_place():
    text = json.dumps([packet(1, {"ip": IP})], indent=2)
    with pytest.raises(ReaderError) as caught:
        read(text[:-30])
    assert caught.value.code == "json-cut-short"


LOCALES = {
    "dd": (
        "104857600 bytes (105 MB, 100 MiB) copied, 0.5 s, 210 MB/s\n",
        "104857600 octets (105 MB, 100 MiB) copiés, 0,5 s, 210 MB/s\n",
    ),
    "wget": (
        "2026-11-22 10:00:05 (11.2 MB/s) - 'f' saved [52428800/52428800]\n",
        "2026-11-22 10:00:05 (11,2 MB/s) — « f » sauvegardé [52428800/52428800]\n",
    ),
}


@pytest.mark.each("tool", LOCALES)
def test_a_french_transfer_has_the_numbers_of_an_english_one(tool):
    english, french = LOCALES[tool]
    head = {"dd": "100+0 records in\n100+0 records out\n"}.get(
        tool, "--2026-11-22 10:00:00--  http://192.0.2.1/f\n\n"
    )
    (wanted,), (found,) = read(head + english).facts(), read(head + french).facts()
    assert found == wanted
    counted = {"dd": ("sent_byte_count", 104857600), "wget": ("received_byte_count", 52428800)}
    name, count = counted[tool]
    assert found[name] == count
