"""Other programs that measure round trips, by hand: every row, fact, printed value and warning."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from samples_seen import fact, noted

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import FORMATS, read, sniff
from netcalc.readers.lines import LineTable

INPUTS = Path(__file__).parent / "inputs" / "pings"

NAN = float("nan")


def columns(samples, *names):
    """Return columns as lists, times in microseconds; a missing value is None."""
    found = []
    for name in names:
        values = getattr(samples, name)
        factor = 1e6 if name in ("rtt_s", "resolution_s") else 1
        found.append([
            one if isinstance(one, str) else None if one != one else round(float(one) * factor, 6)
            for one in values.tolist()
        ])  # fmt: skip
    return found


def test_a_format_is_named_and_described():
    """A name is short, and a description is a phrase that may be the name alone."""
    for one in FORMATS:
        assert len(one.name) <= len(one.description), one.name
    assert {"arping", "fping", "hping", "httping", "oping", "nping", "curl", "dd", "ss"} <= {
        one.name for one in FORMATS
    }


ARPING = (
    "ARPING 192.0.2.1\n"
    "42 bytes from 02:00:00:00:00:01 (192.0.2.1): index=0 time=7.5 usec\n"
    "42 bytes from 02:00:00:00:00:01 (192.0.2.1): index=1 time=1.250 msec\n"
    "Timeout\nwhat is this\n"
    "42 bytes from 02:00:00:00:00:01 (192.0.2.1): index=3 time=2 sec\n"
    "\n--- 192.0.2.1 statistics ---\n"
    "5 packets transmitted, 3 packets received,  40% unanswered (2 extra)\n"
    "rtt min/avg/max/std-dev = 0.008/1.0/2000.0/1.0 ms\n"
)


def test_arping():
    found = read(ARPING)
    assert columns(found, "rtt_s", "resolution_s", "lost") == [
        [7.5, 1250, None, 2e6, None], [0.1, 1, 0, 1e6, 0], [0, 0, 1, 0, 1],
    ]  # fmt: skip
    names = ("target", "protocol", "sent_count", "received_count", "duplicate_count", "partial")
    assert fact(found, *names) == ("192.0.2.1", "arp", 5, 3, 2, False)
    assert fact(found, "printed_loss_ratio") == (0.4,)
    assert found.meta.printed == {"sent": 5, "received": 3}
    assert noted(found) == [("not-of-the-tool", {"numbers": [5]})]
    none = read(ARPING.replace(" (2 extra)", ""))
    assert fact(none, "duplicate_count") == (0,)
    cut = read(ARPING.partition("\n---")[0] + "Timeout")
    assert (len(cut), cut.meta.partial, cut.meta.printed) == (5, True, {})
    assert len(read(ARPING.partition("\n---")[0] + "Timeou")) == 4
    old = read(
        "ARPING 192.0.2.1 from 192.0.2.2 eth0\n"
        "Broadcast reply from 192.0.2.1 [02:00]  0.75ms\nSent 2 probes\nReceived 1 reply\n"
    )
    assert columns(old, "rtt_s", "resolution_s", "lost") == [[750, None], [10, 0], [0, 1]]
    assert fact(old, "sent_count", "received_count") == (2, 1)


FPING = (
    "[1795348800.5] 192.0.2.1 : [0], 64 bytes, 0.25 ms (0.25 avg, 0% loss)\n"
    "[1795348801.5] 192.0.2.1 : [1], timed out (0.25 avg, 50% loss)\n"
    "[1795348802.5] 192.0.2.1 : [2], unreachable (x)\n"
    "[1795348803.5] 192.0.2.1 : [3], 100 bytes, 0.75 ms (0.5 avg, 50% loss)\n"
    "[1795348803.6] 192.0.2.1 : duplicate for [3], 84 bytes, 0.8 ms\n"
    "[12:00:00]\nhello\n"
    "192.0.2.1 : 0.25 - - 0.75\n"
    "192.0.2.1 : xmt/rcv/%loss = 4/2/50%, min/avg/max = 0.25/0.50/0.75\n"
)


def test_fping():
    found = read(FPING)
    assert columns(found, "sequence", "rtt_s", "resolution_s", "lost", "error_reply", "duplicate",
                   "payload_bytes") == [
        [0, 1, 2, 3, 3], [250, None, None, 750, 800], [10, 0, 0, 10, 100], [0, 1, 1, 0, 0],
        [0, 0, 1, 0, 0], [0, 0, 0, 0, 1], [56, None, None, None, 56],
    ]  # fmt: skip
    assert found.sent_s[0] == pytest.approx(1795348800.5 - 0.00025, abs=1e-6)
    assert found.meta.clock == "wall clock of the pinging host (fping -D)"
    assert found.meta.printed == {
        "sent": 4, "received": 2, "loss_ratio": 0.5, "rtt_min_s": 0.00025, "rtt_max_s": 0.00075,
    }  # fmt: skip
    assert noted(found) == [("not-of-the-tool", {"numbers": [7]})]
    assert found.meta.partial is False
    plain = read("192.0.2.1 : xmt/rcv/%return = 4/3/75%, min/avg/max = 1.5/2.0/4.5\n")
    assert plain.meta.clock == ""
    assert fact(plain, "sent_count", "received_count", "rtt_min_s", "rtt_max_s") == (
        4, 3, 0.0015, pytest.approx(0.0045),
    )  # fmt: skip
    assert fact(plain, "printed_loss_ratio") == (0.25,), "of which 75 % came back"
    assert noted(plain) == []


def test_fping_totals_of_intervals_and_states():
    twice = read("192.0.2.1 : xmt/rcv/%loss = 2/1/50%, min/avg/max = 1/1/1\n"
                 "192.0.2.1 : xmt/rcv/%loss = 4/0/100%\n")  # fmt: skip
    assert noted(twice) == [("earlier-totals", {})]
    assert fact(twice, "sent_count", "received_count", "rtt_min_s") == (4, 0, None)
    states = read("192.0.2.1 is alive (0.5 ms)\n192.0.2.2 is alive\n192.0.2.3 is unreachable\n"
                  "   3 targets\n")  # fmt: skip
    assert columns(states, "rtt_s", "resolution_s", "lost", "group") == [
        [500, None, None], [100, 0, 0], [0, 0, 1], ["192.0.2.1", "192.0.2.2", "192.0.2.3"],
    ]  # fmt: skip
    assert noted(states) == []
    cut = read("192.0.2.1 : [0], 64 bytes, 0.25 ms (x)\n192.0.2.1 : [1], 64 bytes, 0.2")
    assert noted(cut) == [("last-line-cut", {"number": 2})]
    assert (len(cut), cut.meta.partial) == (1, True)


def test_hping():
    text = (
        "HPING h (eth0 192.0.2.9): S set, 40 headers + 7 data bytes\n"
        "len=46 ip=192.0.2.9 ttl=64 DF id=0 sport=80 flags=SA seq=1 win=1 rtt=0,5 ms\n"
        "len=46 ip=192.0.2.9 ttl=63 DF id=0 sport=80 flags=SA seq=1 win=1 rtt=1.25 ms\n"
        "ICMP Host Unreachable from ip=192.0.2.8\nwhat\n"
        "\n--- h hping statistic ---\n"
        "4 packets tramitted, 2 packets received, 50% packet loss\n"
        "round-trip min/avg/max = 0.5/0.9/1.3 ms\n"
    )
    found = read(text)
    assert columns(found, "sequence", "rtt_s", "lost", "duplicate", "ttl", "resolution_s",
                   "payload_bytes") == [
        [0, 1, 1, 2, 3], [None, 500, 1250, None, None], [1, 0, 0, 1, 1], [0, 0, 1, 0, 0],
        [None, 64, 63, None, None], [0, 100, 10, 0, 0], [7] * 5,
    ]  # fmt: skip
    assert fact(found, "target", "protocol", "printed_loss_ratio") == ("h", "tcp", 0.5)
    printed = {"sent": 4, "received": 2, "loss_ratio": 0.5, "rtt_min_s": 5e-4, "rtt_max_s": 1.3e-3}
    assert found.meta.printed == pytest.approx(printed)
    assert noted(found) == [
        ("errors-not-replies", {"numbers": [4]}), ("not-of-the-tool", {"numbers": [5]}),
        ("count-differs", {"quantity": "received", "printed": 2, "counted": 1}),
    ]  # fmt: skip
    for mode, protocol in (("icmp", "icmp"), ("udp", "udp"), ("raw IP", None), ("SF", "tcp")):
        assert fact(read(text.replace("S set", f"{mode} mode set")), "protocol") == (protocol,)
    far = "".join(f"len=46 ip=192.0.2.9 ttl=64 seq={n} rtt=0.5 ms\n" for n in (*range(1000), 0))
    assert read(far).duplicate[-1] or read(far).duplicates == 1, "the first of the last thousand"
    nothing = read("HPING h (eth0 192.0.2.9): udp mode set, 28 headers + 0 data bytes\n"
                   "2 packets transmitted, 0 packets received, 100% packet loss\n"
                   "round-trip min/avg/max = 0.0/0.0/0.0 ms\n")  # fmt: skip
    assert nothing.meta.printed == {"sent": 2, "received": 0, "loss_ratio": 1.0}


def test_httping():
    found = read(
        "PING h:80 (/):\nconnected to 192.0.2.1:80 (95 bytes), seq=0 time=  1.75 ms \n"
        "connected to 192.0.2.1:80 (95 bytes), seq=1 time=1.0+0.5= 2,50 ms\n"
        "could not connect (Connection refused)\nconnect time out\nnoise\n"
        "--- http://h/ ping statistics ---\n4 connects, 2 ok, 50,00% failed, time 4s\n"
        "round-trip min/avg/max = 1.7/2.1/2.5 ms\n"
    )
    assert columns(found, "rtt_s", "sequence", "lost", "error_reply", "resolution_s") == [
        [1750, 2500, None, None], [0, 1, None, None], [0, 0, 1, 1], [0, 0, 1, 0], [10, 10, 0, 0],
    ]  # fmt: skip
    assert fact(found, "target", "protocol", "printed_loss_ratio") == ("h", "tcp", 0.5)
    printed = {"sent": 4, "received": 2, "rtt_min_s": 0.0017, "rtt_max_s": 0.0025}
    assert found.meta.printed == pytest.approx(printed)
    assert noted(found) == [("http-exchanges", {}), ("not-of-the-tool", {"numbers": [6]})]


def test_oping():
    found = read(
        "PING h (192.0.2.1) 56 bytes of data.\nPING g (192.0.2.2) 30 bytes of data.\n"
        "64 bytes from h (192.0.2.1): icmp_seq=1 ttl=60 qos=0 time=0.5 ms\n"
        "echo reply from g (192.0.2.2): icmp_seq=1 timeout\nnoise\n"
        "64 bytes from h (192.0.2.1): icmp_seq=2 time=2 ms\n"
        "\n--- h ping statistics ---\n2 packets transmitted, 2 received, 0.00% packet loss\n"
        "RTT[ms]: min = 0, median = 1\n"
        "--- g ping statistics ---\n1 packets transmitted, 0 received, 100.00% packet loss\n"
    )
    assert columns(found, "group", "rtt_s", "ttl", "lost", "payload_bytes", "resolution_s") == [
        ["h", "h", "g"], [500, 2000, None], [60, None, None], [0, 0, 1], [56, 56, 30],
        [100, 1000, 0],
    ]  # fmt: skip
    assert noted(found) == [("not-of-the-tool", {"numbers": [5]})]
    assert found.meta.printed == {
        "runs": [
            {"sent": 2, "received": 2, "loss_ratio": 0.0},
            {"sent": 1, "received": 0, "loss_ratio": 1.0},
        ]
    }
    assert fact(found, "group", "sent_count", "protocol", row=1) == ("g", 1, "icmp")
    assert found.meta.target == "h, g"


def test_nping():
    text = (
        "Starting Nping 0.7 ( https://nmap.org/nping ) at x\n"
        "SENT (0.01s) ICMP [192.0.2.1 > 192.0.2.9 Echo request (type=8/code=0)]\n"
        "RCVD (0.02s) ICMP [192.0.2.9 > 192.0.2.1 Echo reply (type=0/code=0)]\n"
        "SENT (1.01s) ICMP [192.0.2.1 > 192.0.2.9 Echo request (type=8/code=0)]\n"
    )
    end = (
        "Max rtt: 2.5ms | Min rtt: 0.5ms | Avg rtt: 1.5ms\n"
        "Raw packets sent: 2 (56B) | Rcvd: 1 (28B) | Lost: 1 (50.00%)\n"
    )
    whole, cut = read(text + end), read(text)
    names = ("sent_count", "received_count", "rtt_min_s", "rtt_max_s", "partial", "target")
    assert fact(whole, *names) == (2, 1, 0.0005, 0.0025, False, "192.0.2.9")
    assert fact(cut, *names) == (2, 1, None, None, True, "192.0.2.9")
    assert whole.meta.printed == {"sent": 2, "received": 1, "loss_ratio": 0.5}
    other = read(text.replace("> 192.0.2.9", "> 192.0.2.8", 1) + end)
    assert fact(other, "target") == (None,), "two targets"
    error = "RCVD (1.02s) ICMP [192.0.2.8 > 192.0.2.1 Network unreachable]\n"
    wrong = read(text + error + end.replace("Rcvd: 1", "Rcvd: 2"))
    assert fact(wrong, *names[:3]) == (2, 1, None)
    assert noted(wrong) == [("errors-among-received", {"count": 1})]
    tcp = read(
        "Starting Nping 0.7 at x\nMax rtt: 2ms | Min rtt: 1ms | Avg rtt: 1ms\n"
        "TCP connection attempts: 4 | Successful connections: 3 | Failed: 1 (25.00%)\n"
    )
    assert fact(tcp, "sent_count", "received_count", "printed_loss_ratio") == (4, 3, 0.25)
    sent = {
        "Starting TCP Handshake > 192.0.2.9:80": "tcp", "TCP [192.0.2.1:5 > 192.0.2.9:80 S]": "tcp",
        "UDP packet with 4 bytes > 192.0.2.9:53": "udp", "ARP who has 192.0.2.9?": "arp",
        "ICMPv6 [2001:db8::1 > 2001:db8::9 Echo request]": "icmp", "what": None,
    }  # fmt: skip
    for packet, protocol in sent.items():
        assert fact(read(f"SENT (0.01s) {packet}\n"), "protocol") == (protocol,), packet


def test_a_router():
    found = read(
        "Sending 3, 100-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n!.U\n"
        "Success rate is 33 percent (1/3), round-trip min/avg/max = 4/6/12 ms\n"
        "Sending 1, 100-byte ICMP Echos to 2001:db8::9, timeout is 2 seconds:\n!\n"
        "Success rate is 100 percent (1/1), round-trip min/avg/max = 1/2/3 ms\n"
        "Success rate is 0 percent (0/2)\n"
    )
    # 20 + 8 of IPv4 and 40 + 8 of IPv6
    assert columns(found, "payload_bytes", "lost", "error_reply", "group") == [
        [72, 72, 72, 52], [0, 1, 1, 0], [0, 0, 1, 0], ["run 1"] * 3 + ["run 2"],
    ]  # fmt: skip
    assert fact(found, "rtt_min_s", "rtt_max_s", "protocol") == (0.004, 0.012, "icmp")
    assert fact(found, "sent_count", "received_count", row=2) == (2, 0)
    assert found.meta.printed["runs"][0] == {"sent": 3, "received": 1, "rtt_min_s": 0.004,
                                             "rtt_max_s": 0.012}  # fmt: skip
    assert fact(found, "rtt_median_s") == (None,)
    equal = read(
        "Sending 2, 100-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n!!\n"
        "Success rate is 100 percent (2/2), round-trip min/avg/max = 4/4/4 ms\n"
    )
    assert fact(equal, "rtt_median_s") == (0.004,), "nothing lies between equal times"
    tiny = read("Sending 1, 8-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n!\n")
    assert columns(tiny, "payload_bytes") == [[None]]
    least = read("Sending 1, 28-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n!\n")
    assert columns(least, "payload_bytes") == [[0]]


def irtt(**more):
    stats = {
        "rtt": {"min": 1_000_000, "mean": 2_000_000, "median": 1_500_000, "max": 4_000_000,
                "n": 2},
        "packets_sent": 3, "packets_received": 2, "duplicates": 1, "packet_loss_percent": 25.0,
        "upstream_loss_percent": 20.0, "downstream_loss_percent": 5.0,
    }  # fmt: skip
    trips = [
        {"seqno": 0, "lost": "false", "delay": {"rtt": 1_000_000},
         "timestamps": {"client": {"send": {"wall": 1795348800_500_000_000}}}},
        {"seqno": 1, "lost": "true_up", "delay": {"rtt": 5}},
        {"seqno": 2, "lost": False, "delay": {"rtt": 4_000_000}},
    ]  # fmt: skip
    document = {
        "version": {"irtt": "0.9"}, "system_info": {"hostname": "h"},
        "config": {"params": {"length": 100}, "remote_address": "192.0.2.1:2112",
                   "supplied": {"remote_address": "192.0.2.1"}},
        "stats": stats, "round_trips": trips,
    }  # fmt: skip
    return {**document, **more}


def test_irtt():
    found = read(json.dumps(irtt()) + "\n")
    assert columns(found, "rtt_s", "sequence", "lost", "payload_bytes") == [
        [1000, None, 4000], [0, 1, 2], [0, 1, 0], [100, 100, 100],
    ]  # fmt: skip
    assert found.sent_s[0] == pytest.approx(1795348800.5, abs=1e-6)
    known = found.meta
    assert (known.tool, known.tool_version, known.host) == ("irtt", "0.9", "h")
    assert (known.clock, known.partial, noted(found)) == ("wall clock of the client", False, [])
    assert known.printed["length_bytes"] == 100
    assert known.printed["forward_loss_ratio"] == 0.2
    assert known.printed["reverse_loss_ratio"] == 0.05
    assert (known.printed["rtt_min_s"], known.printed["rtt_max_s"]) == pytest.approx((1e-3, 4e-3))
    assert known.printed["rtt_mean_s"] == pytest.approx(2e-3)
    assert fact(found, "target", "protocol", "sent_count") == ("192.0.2.1", "udp", 3)
    states = {"true": 1, "true_down": 1, "true_up": 1, "false": 0}
    for state, lost in states.items():
        trips = [{"seqno": 0, "lost": state, "delay": {"rtt": 9}}]
        one = read(json.dumps(irtt(round_trips=trips)) + "\n")
        assert columns(one, "lost") == [[lost]], state
        assert one.meta.partial, "one row of three that were sent"
        assert one.meta.clock == ""
    unknown = irtt(round_trips=[{"lost": "maybe"}])
    with pytest.raises(ReaderError) as refused:
        read(json.dumps(unknown) + "\n", name="a.json")
    assert (refused.value.code, refused.value.field) == ("irtt-state", "round_trips[0].lost")
    bare = read(json.dumps(irtt(config={})) + "\n")
    assert noted(bare) == [("packet-length-unknown", {})]
    assert columns(bare, "payload_bytes") == [[None] * 3]
    negative = irtt(round_trips=[{"seqno": 0, "lost": False, "delay": {"rtt": -5}}])
    assert columns(read(json.dumps(negative) + "\n"), "rtt_s", "lost") == [[None], [0]]
    two = json.dumps(irtt()) + "\n" + json.dumps(irtt())[:-9] + "\n"
    assert noted(read(two))[0][0] == "document-cut"
    assert sniff('{"irtt": 3}\n') == "JSON"
    assert sniff('{"version": 3}\n') == "JSON"


def atlas(**more):
    result = [{"rtt": 1.5}, {"rtt": 2.5, "dup": 1, "ttl": 9}, {"x": "*"}, {"error": "no route"},
              {"rtt": 0}, {}]  # fmt: skip
    return {"msm_id": 1, "prb_id": 7, "type": "ping", "fw": 4790, "dst_name": "h", "proto": "ICMP",
            "size": 48, "ttl": 60, "timestamp": 1795348800, "sent": 5, "rcvd": 2, "dup": 1,
            "min": 1.5, "max": 2.5, "result": result, **more}  # fmt: skip


def test_ripe_atlas():
    found = read(json.dumps([atlas()]) + "\n")
    assert columns(found, "rtt_s", "lost", "error_reply", "duplicate", "ttl", "payload_bytes") == [
        [1500, 2500, None, None, 0, None], [0, 0, 1, 1, 0, 1], [0, 0, 0, 1, 0, 0],
        [0, 1, 0, 0, 0, 0], [60, 9, None, None, 60, None], [48] * 6,
    ]  # fmt: skip
    assert (found.meta.tool_version, found.meta.target) == ("4790", "h")
    assert found.meta.printed == {"sent": 5, "received": 2}
    assert fact(found, "protocol", "sent_count", "received_count") == ("icmp", 5, 2)
    two = read(json.dumps([atlas(result=[]), atlas(prb_id=8, result=[], min=-1, max=-1)]) + "\n")
    assert [row["group"] for row in two.facts()] == ["probe 7", "probe 8"]
    assert fact(two, "rtt_min_s", "rtt_max_s", "duplicate_count") == (0.0015, 0.0025, 1)
    assert fact(two, "rtt_min_s", "rtt_max_s", row=1) == (None, None)
    zero = read(json.dumps([atlas(result=[], min=0, max=0, sent=0, rcvd=0, dup=0)]) + "\n")
    assert fact(zero, "rtt_min_s", "sent_count", "duplicate_count") == (0, 0, 0)
    again = read(json.dumps([atlas(), atlas(timestamp=1795348900)]) + "\n")
    assert [row["group"] for row in again.facts()] == [
        "probe 7 at 1795348800", "probe 7 at 1795348900",
    ]  # fmt: skip
    with pytest.raises(ReaderError) as refused:
        read(json.dumps([atlas(), atlas(type="dns")]) + "\n")
    assert refused.value.code == "atlas-kinds"
    assert refused.value.values["kinds"] == ["dns", "ping"]
    for count, said in ((8, 0), (9, 1)):
        many = [atlas(prb_id=n, rcvd=9, sent=9) for n in range(count)]
        codes = [code for code, _ in noted(read(json.dumps(many) + "\n"))]
        assert codes.count("results-differ") == said


SOCKPERF = (
    "sockperf: == version #3.7 == \n"
    "sockperf[CLIENT] send on:[ 0] IP = 192.0.2.9    PORT = 11111 # UDP\n"
    "[ 0] IP = 192.0.2.9       PORT = 11111 # UDP\n"
    "sockperf: [Total Run] RunTime=1.5 sec; Warm up time=400 msec; SentMessages=50; "
    "ReceivedMessages=49\n"
    "sockperf: [Valid Duration] RunTime=1.0 sec; SentMessages=40; ReceivedMessages=39\n"
    "sockperf: ====> avg-latency=10.5 (std-dev=1.0)\n"
    "sockperf: # dropped messages = 1; # duplicated messages = 2; # out-of-order messages = 0\n"
    "sockperf: Summary: Latency is 10.500 usec\n"
    "sockperf: ---> <MAX> observation =   40.5\n"
    "sockperf: ---> percentile 99.000 =   30.0\n"
    "sockperf: ---> percentile 50.000 =   10.0\n"
    "sockperf: ---> <MIN> observation =    5.25\n"
)


def test_sockperf():
    found = read(SOCKPERF)
    names = ("target", "protocol", "sent_count", "received_count", "duplicate_count", "rtt_min_s",
             "rtt_median_s", "rtt_max_s", "partial")  # fmt: skip
    # latency is half of a round trip
    assert fact(found, *names) == (
        "192.0.2.9", "udp", 40, 39, 2, pytest.approx(10.5e-6), pytest.approx(20e-6),
        pytest.approx(81e-6), False,
    )  # fmt: skip
    assert found.meta.printed == pytest.approx({
        "sent": 50, "received": 49, "duration_s": 1.5, "valid_sent": 40, "valid_received": 39,
        "rtt_mean_s": 21e-6, "lost": 1, "duplicates": 2,
    })  # fmt: skip
    assert (found.meta.tool_version, noted(found)) == ("3.7", [("sockperf-halves", {})])
    trips = read(SOCKPERF.replace("avg-latency", "avg-rtt").replace("Latency is", "Round trip is"))
    assert fact(trips, "rtt_min_s", "rtt_max_s") == pytest.approx((5.25e-6, 40.5e-6))
    assert noted(trips) == []
    with pytest.raises(ReaderError) as refused:
        read(SOCKPERF.replace("avg-latency", "avg-rtt"))
    assert (refused.value.code, refused.value.line) == ("sockperf-both", 8)
    total = read(SOCKPERF.replace("[Valid Duration]", "[Other]"))
    assert fact(total, "sent_count", "received_count", "partial") == (50, 49, True)
    log = read("sockperf: == version #3.7 ==  --msg-size=14\n"
               "packet, txTime(sec), rxTime(sec), rtt(usec)\n1, 100.5, 100.6, 12.25\n"
               "2, 101.5, 101.6, 13\nx\n3, 1\n")  # fmt: skip
    assert columns(log, "rtt_s", "sequence", "sent_s", "payload_bytes", "resolution_s") == [
        [12.25, 13], [1, 2], [100.5, 101.5], [14, 14], [0.01, 1],
    ]  # fmt: skip
    assert noted(log) == [("not-of-the-tool", {"numbers": [6]})]
    with pytest.raises(ReaderError) as refused:
        read("sockperf: == version #3.7 == \nsockperf: Summary: Message Rate is 5 [msg/sec]\n")
    assert refused.value.code == "sockperf-throughput"


def test_what_no_run_can_be():
    with pytest.raises(ReaderError) as refused:
        read("192.0.2.1 : xmt/rcv/%loss = 4/5/0%\n", name="a.txt")
    found = refused.value
    assert (found.code, found.field) == ("more-received-than-sent", "received")
    assert found.values["sent"] == 4
    odd = read("192.0.2.1 : xmt/rcv/%loss = 4/4/-25%\n")
    assert noted(odd) == [("implausible-loss", {"percent": -25.0})]
    assert fact(odd, "printed_loss_ratio") == (None,)
    differ = read("192.0.2.1 : [0], 64 bytes, 0.25 ms (x)\n192.0.2.1 : xmt/rcv/%loss = 2/2/0%\n")
    assert noted(differ) == [
        ("count-differs", {"quantity": "sent", "printed": 2, "counted": 1}),
        ("count-differs", {"quantity": "received", "printed": 2, "counted": 1}),
    ]  # fmt: skip
    assert Notice("count-differs", {}).code == "count-differs"
    assert not np.isnan(differ.rtt_s[0])


def test_long_names_are_shortened_and_cut_lines_left_out():
    """A target to 200 characters, a version to 40; a last line that is cut is not used."""
    for count, shown in ((200, "h" * 200), (201, "h" * 197 + "...")):
        found = read("h" * count + " : xmt/rcv/%loss = 4/4/0%\n")
        assert found.meta.target == shown
    every = [atlas(prb_id=n, fw=1000 + n) for n in range(7)]
    # four digits, a comma and a blank, six of them and four digits more: 40 characters
    assert read(json.dumps(every) + "\n").meta.tool_version == ", ".join(
        map(str, range(1000, 1007))
    )
    longer = read(json.dumps([*every[1:], atlas(fw=10_000)]) + "\n").meta.tool_version
    assert (len(longer), longer[-3:]) == (40, "...")
    assert read(json.dumps([atlas(fw=1)]) + "\n").meta.tool_version == "1"
    assert read(json.dumps([atlas(fw=0)]) + "\n").meta.tool_version == ""
    one = irtt()
    one["config"]["params"]["length"] = 1
    small = read(json.dumps(one) + "\n")
    assert (columns(small, "payload_bytes"), noted(small)) == ([[1, 1, 1]], [])
    one["config"]["params"]["length"] = 0
    none = read(json.dumps(one) + "\n")
    assert columns(none, "payload_bytes") == [[None] * 3]
    assert noted(none) == [("packet-length-unknown", {})]
    lines = {
        "PING h:80 (/):\n": "connected to 192.0.2.1:80 (95 bytes), seq={} time=  1.75 ms\n",
        "HPING h (eth0 192.0.2.9): icmp mode set, 28 headers + 0 data bytes\n":
            "len=46 ip=192.0.2.9 ttl=64 id=1 icmp_seq={} rtt=0.5 ms\n",
        "PING h (192.0.2.1) 56 bytes of data.\n":
            "64 bytes from h (192.0.2.1): icmp_seq={} ttl=60 time=0.5 ms\n",
        "ARPING 192.0.2.1\n": "42 bytes from 02:00 (192.0.2.1): index={} time=7.5 usec\n",
    }  # fmt: skip
    for head, line in lines.items():
        whole = head + line.format(0) + line.format(1)
        cut = whole.rstrip().rpartition(" ")[0]  # without the unit of the last time
        timed = [read(text).best_s.size for text in (whole, whole[:-1], cut)]
        assert timed == [2, 2, 1], head
    zero = read("192.0.2.1 : xmt/rcv/%loss = 1/0/100%\n")
    assert fact(zero, "sent_count", "received_count") == (1, 0)


def test_the_summary_of_jc_has_the_ends_of_the_round_trips(tmp_path):
    """A document without replies: what the tool says of them is all that there is."""
    document = {
        "destination_ip": "192.0.2.1", "data_bytes": 56, "packets_transmitted": 4,
        "packets_received": 3, "packet_loss_percent": 25.0, "duplicates": 0, "time_ms": 3004.0,
        "round_trip_ms_min": 1.0, "round_trip_ms_avg": 2.0, "round_trip_ms_max": 4.0,
        "responses": [],
    }  # fmt: skip
    file = tmp_path / "jc.json"
    file.write_text(json.dumps(document))
    (fact,) = read(file).meta.facts
    assert (fact["rtt_min_s"], fact["rtt_max_s"]) == pytest.approx((0.001, 0.004))
    assert (fact["sent_count"], fact["received_count"]) == (4, 3)


def test_a_log_of_halves_is_doubled_with_its_resolution(tmp_path):
    """sockperf writes half a round trip, in nanoseconds here: a step of 1 ns is one of 2 ns."""
    text = (INPUTS / "sockperf_log.csv").read_text(encoding="utf-8")
    samples = read(INPUTS / "sockperf_log.csv")
    first = next(line for line in text.splitlines() if line[:1].isdigit())
    sent_s, received_s = map(float, first.split(", ")[1:3])
    assert samples.rtt_s[0] == pytest.approx(received_s - sent_s, abs=2e-9)
    assert samples.resolution_s == pytest.approx([2e-9] * len(samples))


LAST = LineTable(
    reply=r"seq={sequence} time={rtt_ms} ms(?: ttl={ttl})?",
    in_units=r"pong in {rtt_unit}(?P<unit>ms|s)$",
    totals=r"{sent} sent, {received} received(?:, max {rtt_max_ms})?",
    row=r"row {sequence} (?P<status>[A-Z]\w+)$",
    closed=r".* Success",
    open_ends=r"9 sent, .* received",
)


@pytest.mark.each(
    ("text", "fields"),
    [
        ("seq=1 time=2.5 ms", {"sequence": 1, "rtt_s": 0.0025}),
        ("seq=1 time=2.5 m", None),
        ("seq=1 time=2.5 ms ttl=6", None),  # or 64
        ("pong in 5ms", {"rtt_s": 0.005, "unit": "ms"}),
        ("pong in 5m", None),
        ("4 sent, 3 received", {"sent": 4, "received": 3}),
        ("4 sent, 3 received, max 1", {"sent": 4, "received": 3}),  # or 1.5
        ("9 sent, 3 received", None),
        ("row 7 Success", {"sequence": 7, "status": "Success"}),
        ("row 7 TimedOu", None),
    ],
)
def test_a_last_line_without_its_end_is_read_up_to_what_may_be_cut(text, fields):
    line = LAST.line(1, text, cut=True)
    assert (line and dict(line.fields)) == fields


@pytest.mark.each(
    "file",
    [
        "arping_lost.txt", "cisco_mix.txt", "dnsping.txt", "fping_count.txt", "hping_icmp.txt",
        "hrping_2.txt", "httping_gone.txt", "huawei.txt", "ibping.txt", "junos_rapid.txt",
        "l2ping.txt", "mikrotik_7.txt", "nokia.txt", "nokia_rapid_duplicates.txt", "oping_two.txt",
        "paping.txt", "psping.txt", "tcping.txt", "vpp.txt", "blackbox_icmp.txt",
    ],
)  # fmt: skip
def test_the_last_line_end_that_a_shell_strips_is_not_missed(file):
    """What $(...) leaves of an output has all of its numbers but one at the very end."""
    text = (INPUTS / file).read_text("utf-8")
    assert read(text.rstrip("\n")).facts() == read(text).facts()
