"""Counters written by hand: every number, time, unit and warning, and the line of each fault."""

from __future__ import annotations

import json
import math

import pytest
from samples_seen import refused

from netcalc.messages import Notice
from netcalc.readers import read, sniff

NOON = 1795348800.0
"""2026-11-22 12:00:00 UTC, by date(1)."""


def rows(samples):
    return list(zip(samples["group"], samples["counter"], samples["value"], strict=True))


def test_columns_of_a_socket_have_their_units():
    text = (
        "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
        "ESTAB 0 0 192.0.2.1:80 192.0.2.2:81\n"
        "\t cubic wscale:7,7 rto:204 rtt:3.5/0.75 minrtt:2.5 mss:1448 pmtu:1500 cwnd:10 ssthresh:7"
        " bytes_sent:3000 bytes_acked:2000 bytes_received:500 bytes_retrans:1448 send 33.1Mbps"
        " pacing_rate 39.7Mbps delivery_rate 5.5Gbps unacked:3 retrans:0/2\n"
    )
    found = read(text)
    expected = {
        "group": ("192.0.2.1:80 > 192.0.2.2:81", "text"), "snapshot": (0, "1"),
        "local": ("192.0.2.1:80", "text"), "peer": ("192.0.2.2:81", "text"),
        "state": ("ESTAB", "text"), "congestion_control": ("cubic", "text"),
        "rtt_s": (0.0035, "s"), "rttvar_s": (0.00075, "s"), "rtt_min_s": (0.0025, "s"),
        "rto_s": (0.204, "s"), "cwnd_packets": (10, "1"), "ssthresh_packets": (7, "1"),
        "mss_bytes": (1448, "byte"), "path_mtu_bytes": (1500, "byte"), "unacked_packets": (3, "1"),
        "retransmit_total_count": (2, "1"), "bytes_acked": (2000, "byte"),
        "bytes_sent": (3000, "byte"), "bytes_received": (500, "byte"),
        "bytes_retransmitted": (1448, "byte"), "send_rate_bps": (33.1e6, "bit/s"),
        "pacing_rate_bps": (39.7e6, "bit/s"), "delivery_rate_bps": (5.5e9, "bit/s"),
        "other": ("wscale:7,7", "text"),
    }  # fmt: skip
    for name, (value, unit) in expected.items():
        assert found[name][0] == (pytest.approx(value) if unit != "text" else value), name
        assert found.meta.units[name] == unit, name
    assert found.meta.clock == "", "no time was printed"
    assert math.isnan(found["time_s"][0])
    assert found.facts()[0]["rtt_s"] == 0.0035
    assert found.facts()[0]["bytes_acked"] == 2000


def test_a_detail_without_its_number_is_named():
    line = "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    line += "ESTAB 0 0 192.0.2.1:80 192.0.2.2:81\n"
    right = read(f"{line}\t cubic rtt:3/1 cwnd:10\n")
    assert right.meta.warnings == ()
    assert right["retransmit_total_count"][0] == 0, "ss leaves it out where it is none"
    for detail in ("rtt:3", "rtt:x/1", "retrans:0", "retrans:0/x", "cwnd:x", "minrtt:x", "send x"):
        found = read(f"{line}\t cubic rto:201 {detail} mss:1000\n")
        assert [one.values["numbers"] for one in found.meta.warnings] == [[3]], detail
        assert found["mss_bytes"][0] == 1000
        assert detail in found["other"][0]
    assert read(f"{line}\t cubic vegas cwnd:1 x:\n")["other"][0] == "vegas x:"


NSTAT = {
    "text": "#kernel\nTcpInSegs  12  0.0\nIpOutRequests  -3  1.5\n",
    "json": '{"kernel": {"TcpInSegs": 12, "IpOutRequests": -3, "flag": true}}\n',
}


@pytest.mark.each("form", NSTAT)
def test_nstat(form):
    found = read(NSTAT[form])
    assert sniff(NSTAT[form]) == "nstat"
    assert rows(found) == [("", "TcpInSegs", 12), ("", "IpOutRequests", -3)]
    assert (found.meta.partial, found.meta.warnings) == (False, ())
    assert [math.isnan(one) for one in found["time_s"]] == [True, True]


def test_nstat_with_lines_of_something_else_or_cut():
    found = read("#kernel\nTcpInSegs  12  0.0\nwhat is this\n\nIpInReceives 7 0.0\n")
    assert rows(found) == [("", "TcpInSegs", 12), ("", "IpInReceives", 7)]
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [3]}),)
    cut = read('{"kernel": {"a": 1}}\n{"kernel": {"b"')
    assert (rows(cut), cut.meta.partial) == ([("", "a", 1)], True)
    fault = refused('{"kernel": {"a": "x"}}\n')
    assert fault.code == "unknown-json"


ETHTOOL = (
    '[{"ifname": "eth0", "rx_packets": 5, "tx_ratio": 0.5}, {"ifname": "eth1", "rx_packets": 6}]\n'
)


def test_a_line_of_ethtool_with_many_colons_is_not_read_for_ever():
    """identity: it has no count; a pattern tried every way to divide it, and never ended."""
    found = read("NIC statistics:\n     rx: 5\n     " + "a: " * 3000 + "\n")
    assert rows(found) == [("", "rx", 5)]
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [3]}),)


def test_ethtool():
    found = read("NIC statistics:\n     rx_packets: 5\n     [0]: rx_bytes: -7\nPHY statistics:\n"
                 "     errors: 1\nother\n")  # fmt: skip
    assert rows(found) == [("", "rx_packets", 5), ("", "[0]: rx_bytes", -7), ("", "errors", 1)]
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [6]}),)
    json_one = ETHTOOL.replace(', "tx_ratio": 0.5', "")
    assert sniff(json_one) == "ethtool -S"
    assert rows(read(json_one)) == [("eth0", "rx_packets", 5), ("eth1", "rx_packets", 6)]
    for other in ('[{"ifname": "eth0"}]\n', '[{"ifname": "a", "ifindex": 1, "b": 2}]\n',
                  '[{"ifname": "eth0", "a": "b", "c": "d"}]\n', "[]\n"):  # fmt: skip
        assert sniff(other) != "ethtool -S", other
    with_text = '[{"ifname": "eth0", "rx": 1}, 7, {"ifname": "eth1", "rx": 2.5, "up": true}]\n'
    assert rows(read(with_text)) == [("eth0", "rx", 1), ("eth1", "rx", 2.5)]


def test_links():
    text = (
        "1: lo: <LOOPBACK,UP> mtu 65536\n    link/loopback 00:00\n    RX:  bytes packets\n"
        "        642 9\n    RX errors:  length crc\n        1 2\n    TX:  bytes packets\n"
        "        643 8\n2: v0@if3: <UP>\n    RX:  bytes packets\n        5 6\n  what\n"
    )
    found = read(text)
    assert rows(found) == [
        ("lo", "rx_bytes", 642), ("lo", "rx_packets", 9), ("lo", "rx_errors_length", 1),
        ("lo", "rx_errors_crc", 2), ("lo", "tx_bytes", 643), ("lo", "tx_packets", 8),
        ("v0", "rx_bytes", 5), ("v0", "rx_packets", 6),
    ]  # fmt: skip
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [12]}),)
    fault = refused(text.replace("642 9", "642"))
    assert (fault.code, fault.line, fault.field) == ("counter-widths", 4, "lo")
    assert (fault.values["count"], fault.values["names"]) == (1, 2)
    fault = refused(text.replace("642 9", "642 9x"))
    assert (fault.code, fault.line, fault.field) == ("not-a-number", 4, "lo rx_packets")
    assert fault.values["value"] == "9x"
    for suffix in "kKMGT":
        assert refused(text.replace("642 9", f"642{suffix} 9")).code == "counter-rounded"
    only = '[{"ifindex": 1, "ifname": "lo", "stats64": {"rx": {"bytes": 7}, "tx": {"bytes": 8}}}]\n'
    assert rows(read(only)) == [("lo", "rx_bytes", 7), ("lo", "tx_bytes", 8)]
    alone = '{"ifindex": 1, "ifname": "lo", "mtu": 1, "stats": {"rx": {"bytes": 7, "x": "y"}}}\n'
    assert rows(read(alone)) == [("lo", "rx_bytes", 7)]
    assert sniff('[{"ifindex": 1, "ifname": "lo"}]\n') == "JSON", "without counters"


def test_exactly_these_members_are_a_link():
    least = '[{"ifindex": 1, "ifname": "lo", "stats64": {"rx": {"bytes": 7}}}]\n'
    assert sniff(least) == "ip -s link"
    assert refused(least[:-3] + "\n").code == "json-cut-short"


def test_queues():
    text = (
        "qdisc htb 1: dev eth0 root refcnt 2\n"
        " Sent 10 bytes 3 pkt (dropped 1, overlimits 2 requeues 4)\n"
        " rate 0bit 0pps backlog 5b 6p requeues 4\n"
        " backlog 1514b 1p requeues 4\n"
        "  maxpacket 1514 ecn_mark 7 target 5ms share 1.5\n"
        "class htb 1:1 root prio 0\n"
        " Sent 20 bytes 1 pkts (dropped 0, overlimits 0 requeues 0)\n"
        " backlog 12Kb 9p requeues 0\n"
        "oops\n"
    )
    found = read(text)
    first, second = "eth0 htb 1:", "htb 1:1"
    assert rows(found) == [
        (first, "bytes", 10), (first, "pkt", 3), (first, "dropped", 1), (first, "overlimits", 2),
        (first, "requeues", 4), (first, "backlog_bytes", 1514), (first, "backlog_packets", 1),
        (first, "maxpacket", 1514), (first, "ecn_mark", 7), (second, "bytes", 20),
        (second, "pkt", 1), (second, "dropped", 0), (second, "overlimits", 0),
        (second, "requeues", 0), (second, "backlog_packets", 9),
    ]  # fmt: skip
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [9]}),)
    least = (
        '[{"kind": "fq", "handle": "1:", "overlimits": 2, "refcnt": 9, "x": 0.5, "y": true}, 3]\n'
    )
    assert rows(read(least)) == [("fq 1:", "overlimits", 2), ("fq 1:", "x", 0.5)]
    assert refused(least[:-3] + "\n").code == "json-cut-short"


SADF_HEAD = "# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s\n"


def test_sadf_columns():
    text = (
        SADF_HEAD
        + "a;10;2026-11-22 12:00:10 UTC;eth0;100.00;4\n"
        + "b;10;2026-11-22 12:00:10 UTC;eth1;7.00;\n\n"
        + "a;-1;2026-11-22 12:00:20;LINUX-RESTART\t(2 CPU)\n"
        + "# hostname;interval;timestamp;retrans/s\n"
        + "a;30;1795348840;1.50\n"
        + "a;10;1795348850;3.50\n"
    )
    found = read(text)
    assert rows(found) == [
        ("eth0", "rxpck/s", 100), ("eth0", "txpck/s", 4), ("eth1", "rxpck/s", 7),
        ("", "retrans/s", 1.5), ("", "retrans/s", 3.5),
    ]  # fmt: skip
    assert (found["time_s"] - NOON).tolist() == [10, 10, 10, 40, 50]
    assert (found.meta.host, found.meta.warnings) == ("a, b", ())
    assert found.meta.clock == "seconds of the Unix epoch"
    facts = {row.get("group", ""): row for row in found.facts()}
    # derived: (30 s * 1.5 + 10 s * 3.5) / 40 s
    assert facts[""]["counter:retrans/s"] == pytest.approx(2.0)
    assert facts["eth0"]["counter:rxpck/s"] == 100
    local = read(text.replace(":10 UTC", ":10"))
    assert local.meta.warnings == (Notice("sadf-local-time"),)
    assert local.meta.clock == ""
    fault = refused(SADF_HEAD + "a;1;2026-11-22 12:00:10 UTC;eth0;1,5;4\n")
    assert (fault.code, fault.line, fault.field) == ("not-a-number", 2, "rxpck/s")
    fault = refused(SADF_HEAD + "a;1;2026-11-22 12:00:10 UTC;eth0;1.5\n")
    assert (fault.values["count"], fault.values["names"]) == (5, 6)


def test_sadf_pairs():
    text = (
        "h\t10\t1795348810\teth0\trxpck/s\t2.00\nh\t30\t1795348840\teth0\trxpck/s\t4.00\n"
        "h\t30\t1795348840\t-\tretrans/s\t1.00\nhello\n"
        "h\t-1\t1795348841\teth0\trxpck/s\t99\n"
    )
    found = read(text)
    assert rows(found) == [
        ("eth0", "rxpck/s", 2), ("eth0", "rxpck/s", 4), ("", "retrans/s", 1),
        ("eth0", "rxpck/s", 99),
    ]  # fmt: skip
    assert (found["time_s"] - NOON).tolist() == [10, 40, 40, 41]
    assert found.facts()[0]["counter:rxpck/s"] == pytest.approx(3.5), "(10 s * 2 + 30 s * 4) / 40 s"
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [4]}),)


def test_sadf_json():
    stamp = {"date": "2026-11-22", "time": "12:00:10", "utc": 1, "interval": 10}
    statistics = [
        {"timestamp": stamp, "network": {"net-dev": [{"iface": "eth0", "rxpck": 5, "up": True}, 3],
                                         "net-sock": {"totsck": 9}}},
        {"timestamp": stamp | {"time": "25:00:00", "interval": 30},
         "network": {"net-dev": [{"iface": "eth0", "rxpck": 9}]}},
    ]  # fmt: skip
    document = {"sysstat": {"hosts": [{"nodename": "a", "statistics": statistics}]}}
    found = read(json.dumps(document) + "\n")
    assert rows(found) == [("eth0", "rxpck", 5), ("", "totsck", 9), ("eth0", "rxpck", 9)]
    assert found["time_s"][0] == NOON + 10
    assert math.isnan(found["time_s"][2])
    assert found.facts()[0]["counter:rxpck"] == pytest.approx(8), "(10 s * 5 + 30 s * 9) / 40 s"
    assert (found.meta.host, found.meta.warnings) == ("a", ())
    stamp["utc"] = 0
    assert read(json.dumps(document) + "\n").meta.warnings == (Notice("sadf-local-time"),)
    twice = json.dumps(document).replace('"rxpck": 9', '"rxpck": 8, "rxpck": 9')
    said = [one.code for one in read(twice + "\n").meta.warnings]
    assert said == ["json-twins", "sadf-local-time"]
    assert refused(json.dumps(document)[:-2] + "\n").code == "json-cut-short"


SAR = "Linux 5.10 (host) \t2026-11-22 \t_x86_64_\t(2 CPU)\n\n"


def test_sar():
    text = SAR + (
        "11:59:58 AM  IFACE  rxpck/s  txpck/s\n11:59:59 AM  eth0  1.00  2.00\n"
        "12:00:00 PM  eth0  3.00  4.00\n01:00:01 PM  eth0  5.00  6.00\n"
        "11:59:59 PM  eth0  5.00  6.00\n12:00:01 AM  eth0  6.00  7.00\n\n"
        "12:00:02 AM  LINUX RESTART\t(2 CPU)\n"
        "12:00:03 AM  tcp/s  udp/s\n12:00:04 AM  1.5  2.5\n?\n"
        "Average:  IFACE  rxpck/s  txpck/s\nAverage:  eth0  4.00  5.00\n"
        "Average:  tcp/s  udp/s\nAverage:  1.50  2.50\n"
    )
    found = read(text)
    hour = 3600.0
    assert found["time_s"][found["counter"] == "rxpck/s"].tolist() == [
        12 * hour - 1, 12 * hour, 13 * hour + 1, 24 * hour - 1, 24 * hour + 1,
    ]  # fmt: skip
    assert found["time_s"][-1] == 24 * hour + 4
    assert rows(found)[-2:] == [("", "tcp/s", 1.5), ("", "udp/s", 2.5)]
    facts = {row.get("group", ""): row for row in found.facts()}
    assert facts["eth0"]["counter:txpck/s"] == 5
    assert facts[""]["counter:udp/s"] == 2.5
    assert (found.meta.host, found.meta.start, found.meta.partial) == ("host", "2026-11-22", False)
    assert found.meta.warnings == (
        Notice("sar-restarts", {"numbers": [10]}),
        Notice("counter-lines-unread", {"numbers": [13]}),
    )
    fault = refused(text.replace("eth0  3.00  4.00", "eth0  3.00"))
    assert (fault.code, fault.line, fault.field) == ("counter-widths", 5, "eth0")
    assert (fault.values["count"], fault.values["names"]) == (1, 2)
    fault = refused(text.replace("eth0  3.00  4.00", "eth0  3.00  x"))
    assert (fault.code, fault.line, fault.field) == ("not-a-number", 5, "txpck/s")
    assert read(text.replace("2026-11-22", "11/22/26")).meta.start == ""


@pytest.mark.each(("average", "differs"), [("0.99", False), ("0.98", True), ("2.01", False),
                                           ("2.02", True)])  # fmt: skip
def test_an_average_is_within_its_values_to_a_digit(average, differs):
    text = SAR + (
        "13:00:00  IFACE  rxpck/s\n13:00:01  eth0  1.00\n13:00:02  eth0  2.00\n"
        f"Average:  IFACE  rxpck/s\nAverage:  eth0  {average}\n"
    )
    noted = (Notice("sar-average-differs", {"names": ["eth0 rxpck/s"]}),)
    assert read(text).meta.warnings == (noted if differs else ())


def test_a_sar_without_averages():
    """Of one time its values are the facts; of several no number stands for all."""
    one = read(SAR + "13:00:00  IFACE  rxpck/s\n13:00:01  eth0  1.00\n")
    assert one.facts()[0]["counter:rxpck/s"] == 1
    assert (one.meta.partial, one.meta.warnings) == (True, ())
    two = read(SAR + "13:00:00  IFACE  rxpck/s\n13:00:01  eth0  1.00\n13:00:02  eth0  2.00\n")
    assert [dict(row) for row in two.facts()] == [{"group": "eth0", "partial": True}]
    assert two.meta.warnings == (Notice("sar-no-average"),)


def test_a_sar_of_several_days_and_hosts():
    """Each day has averages of its own, and a clock that begins again."""
    day = "Linux 5.10 ({}) \t{} \t_x86_64_\t(2 CPU)\n\n13:00:00  CPU  %idle\n"
    lines = "13:10:00  all  {}\n13:20:00  all  {}\nAverage:  CPU  %idle\nAverage:  all  {}\n"
    one = day.format("a", "2026-11-22") + lines.format("10.00", "20.00", "15.00")
    text = one + day.format("a", "2026-11-23") + lines.format("30.00", "50.00", "40.00")
    found = read(text)
    assert [dict(row) for row in found.facts()] == [
        {"group": "2026-11-22 all", "partial": False, "counter:%idle": 15},
        {"group": "2026-11-23 all", "partial": False, "counter:%idle": 40},
    ]  # fmt: skip
    assert (found.meta.start, found.meta.warnings) == ("2026-11-22", ())
    assert found["time_s"].tolist() == [47400, 48000, 47400, 48000]
    hosts = one + day.format("b", "2026-11-22") + lines.format("30.00", "50.00", "40.00")
    assert [row["group"] for row in read(hosts).facts()] == ["a all", "b all"]
    again = one + day.format("a", "2026-11-22") + lines.format("12.00", "18.00", "15.00")
    assert [row["group"] for row in read(again).facts()] == ["all"], "sections of one day"


def test_a_section_of_sar_without_its_averages_is_cut():
    """The last line of a section is not its average."""
    text = SAR + (
        "13:00:00  CPU  %idle\n13:10:00  all  10.00\n13:20:00  all  20.00\n"
        "Average:  CPU  %idle\nAverage:  all  15.00\n\n"
        "13:00:00  IFACE  rxpck/s\n13:10:00  eth0  1.00\n13:20:00  eth0  2.00\n"
        "13:00:00  tcp/s  udp/s\n13:10:00  1.00  4.00\n13:20:00  2.00  5.00\n"
    )
    found = read(text)
    assert [dict(row) for row in found.facts()] == [
        {"group": "all", "partial": False, "counter:%idle": 15},
        {"group": "eth0", "partial": True}, {"partial": True},
    ]  # fmt: skip
    assert (found.meta.partial, found.meta.warnings) == (True, (Notice("sar-no-average"),))
    ended = read(text + "Average:  tcp/s  udp/s\nAverage:  1.50  4.50\n").facts()
    assert [row["partial"] for row in ended] == [False, True, False]
    assert ended[2]["counter:udp/s"] == 4.5
    day = SAR + (
        "00:00:00  CPU  %idle\n00:10:00  all  10.00\n23:50:00  all  20.00\n"
        "Average:  CPU  %idle\nAverage:  all  15.00\n\n"
        "00:00:00  IFACE  rxpck/s\n00:10:00  eth0  1.00\n23:50:00  eth0  1.00\n"
        "Average:  IFACE  rxpck/s\nAverage:  eth0  1.00\n"
    )
    assert read(day)["time_s"].tolist() == [600, 85800, 600, 85800], "both begin at midnight"


def test_proc_net():
    text = "Tcp: InSegs OutSegs\nTcp: 1 2\nUdp: InErrors\nUdp: 3\nwhat\nIp: A B\nIp: 4 -5\n"
    found = read(text)
    assert rows(found) == [
        ("Tcp", "InSegs", 1), ("Tcp", "OutSegs", 2), ("Udp", "InErrors", 3), ("Ip", "A", 4),
        ("Ip", "B", -5),
    ]  # fmt: skip
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [5]}),)
    fault = refused("Tcp: InSegs OutSegs\nTcp: 1 2 3\n")
    assert (fault.field, fault.values["count"], fault.values["names"]) == ("Tcp", 3, 2)
    fault = refused("Tcp: InSegs OutSegs\nTcp: 1 x\n")
    assert (fault.line, fault.field, fault.values["value"]) == (2, "OutSegs", "x")
    assert rows(read("Ip6InReceives  \t7\nIp6OutRequests 8\n")) == [
        ("", "Ip6InReceives", 7), ("", "Ip6OutRequests", 8),
    ]  # fmt: skip


def test_sockets_of_proc_have_their_ends_and_queues():
    """By proc(5): 0100007F:0035 is 127.0.0.1 port 53, queues are transmit, then receive, in hex."""
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    rows = (
        "   0: 0100007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0"
        " 11 1 0 100 0 0 10 0\n"
        "   1: 010200C0:9C40 090200C0:01BB 01 00000024:00000005 01:00000015 00000000  1000        0"
        " 22 2 0 20 4 0 10 -1\n"
    )
    sockets = read(head + rows)
    assert list(sockets["local"]) == ["127.0.0.1:53", "192.0.2.1:40000"]
    assert list(sockets["peer"]) == ["0.0.0.0:0", "192.0.2.9:443"]
    assert list(sockets["state"]) == ["LISTEN", "ESTAB"]
    assert list(sockets["send_queue_bytes"]) == [0, 0x24]
    assert list(sockets["receive_queue_bytes"]) == [0, 5]


def test_netstat_s():
    """A sentence is a counter without its number, and its bytes are one of their own."""
    text = (
        "Ip:\n    Forwarding: 1\n    7 total packets received\n"
        "Icmp:\n    ICMP input histogram:\n        destination unreachable: 4\n"
        "        echo requests: 2\n    3 ICMP messages sent\n"
        "Tcp:\n    5 data packets (700 bytes)\n    detected 6 of them\n    a name:\n"
        "    no number here\nUdp:\n    InDatagrams: -1\n"
    )
    found = read(text)
    assert rows(found) == [
        ("Ip", "Forwarding", 1), ("Ip", "total packets received", 7),
        ("Icmp", "ICMP input histogram: destination unreachable", 4),
        ("Icmp", "ICMP input histogram: echo requests", 2), ("Icmp", "ICMP messages sent", 3),
        ("Tcp", "data packets (bytes)", 700), ("Tcp", "data packets", 5),
        ("Tcp", "detected of them", 6), ("Udp", "InDatagrams", -1),
    ]  # fmt: skip
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [12, 13]}),)


def test_netstat_i():
    text = (
        "Kernel Interface table\n"
        "Iface   MTU  RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
        "eth0   1500     10      1      2      3    20      4      5      6 BMRU\n"
        "lo    65536     1x      0      -      0     7      0      0      0 LRU\nshort\n"
    )
    found = read(text)
    names = ("RX-OK", "RX-ERR", "RX-DRP", "RX-OVR", "TX-OK", "TX-ERR", "TX-DRP", "TX-OVR")
    eth0 = [
        ("eth0", name, value) for name, value in zip(names, (10, 1, 2, 3, 20, 4, 5, 6), strict=True)
    ]
    lo = [("lo", name, 7 * (name == "TX-OK")) for name in names if name not in ("RX-OK", "RX-DRP")]
    assert rows(found) == [("eth0", "MTU", 1500), *eth0, ("lo", "MTU", 65536), *lo]
    assert found.meta.warnings == (Notice("counter-lines-unread", {"numbers": [4, 5]}),)


@pytest.mark.each("zeros", [309, 300])
def test_a_counter_that_no_float_holds_or_nobody_counted_is_unknown(zeros):
    (row,) = rows(read('[{"ifname": "eth0", "rx": 1' + "0" * zeros + "}]\n"))
    assert row[:2] == ("eth0", "rx")
    assert math.isnan(row[2])
    (row,) = rows(read('[{"ifname": "eth0", "rx": 1' + "0" * 99 + "}]\n"))
    assert row[2] == 1e99


def test_what_json_of_links_says_twice_or_leaves_out_is_said():
    link = '{"ifindex": 1, "ifname": "eth0", "stats64": {"rx": {"bytes": 7, "bytes": 8}}}'
    found = read(f'[{link}, {{"ifindex": 2, "ifname": "lo"}}]\n')
    assert rows(found) == [("eth0", "rx_bytes", 8)]
    assert found.meta.warnings == (
        Notice("json-twins", {"names": ["bytes"]}),
        Notice("link-without-counters", {"names": ["lo"]}),
    )
