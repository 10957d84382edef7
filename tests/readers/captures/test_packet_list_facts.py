"""Facts of lists of packets, counted by hand: what a line is, and what stays unknown."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pytest

from netcalc.readers import read, sniff
from netcalc.readers.captures.lists import traces_of
from netcalc.readers.captures.tcp import analyse_tcp, tcp_flows
from netcalc.samples import Layer

INPUTS = Path(__file__).parents[1] / "inputs" / "captures"

OPENING = "listening on any, link-type LINUX_SLL2 (Linux cooked v2), snapshot length 262144 bytes\n"
SYN = "Flags [S], seq {}, win 9, length 0\n"


def facts(text):
    (row,) = read(text).facts()
    return dict(row)


def noted(text):
    return [one.code for one in read(text).meta.warnings]


def test_tcpdump_counts_flows_and_names_the_link():
    text = OPENING + (
        "12:00:00.000000 lo    In  IP 192.0.2.1.40000 > 192.0.2.2.80: " + SYN.format(7)
        + "12:00:00.100000 lo    Out IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 1, ack 8, "
        "win 9, length 0\n"
        "12:00:01.000000 eth0  P   IP6 2001:db8::1.40001 > 2001:db8::2.80: " + SYN.format(9)
        + "12:00:01.500000 ?     B   ARP, Request who-has 192.0.2.9 tell 192.0.2.1, length 28\n"
        "12:00:02.000000 eth0  M   IP 192.0.2.1.5353 > 224.0.0.251.5353: UDP, length 12\n"
    )  # fmt: skip
    assert facts(text) == {
        "group": "1", "packet_count": 5, "span_s": 2.0, "ipv4_packet_count": 3,
        "ipv6_packet_count": 1, "link_type": "SLL2", "tcp_flow_count": 2, "udp_flow_count": 1,
        "tcp_retransmission_count": 0, "icmp_echo_pair_count": 0, "partial": False,
    }  # fmt: skip


def test_tcpdump_counts_a_connection_of_the_same_ports_again():
    """Each SYN with a number of its own begins a flow; one sent again does not."""
    one = "12:00:0{}.000000 IP 192.0.2.1.40000 > 192.0.2.2.80: " + SYN
    text = one.format(0, 7) + one.format(1, 7) + one.format(2, 8)
    assert facts(text)["tcp_flow_count"] == 2
    cut = "12:00:0{}.000000 IP 192.0.2.{}.40000 > 192.0.2.9.80: Flags [S]...\n"
    text = "".join(cut.format(second, second % 2 + 1) for second in range(6))
    assert facts(text)["tcp_flow_count"] == 2


def test_tcpdump_leaves_out_flows_it_cannot_count():
    dns = "12:00:00.000000 IP 192.0.2.1.40000 > 192.0.2.2.53: 12+ A? example.org. (29)\n"
    assert facts(dns)["tcp_flow_count"] == 0
    assert "udp_flow_count" not in facts(dns)
    tunnel = (
        "12:00:00.000000 IP 192.0.2.1.60345 > 192.0.2.2.4789: VXLAN, flags [I] (0x08), vni 5\n"
        "IP 198.51.100.1.40000 > 198.51.100.2.80: Flags [P.], seq 1:9, ack 1, win 9, length 8\n"
        "12:00:01.000000 IP 192.0.2.1.60345 > 192.0.2.2.4789: VXLAN, flags [I] (0x08), vni 5\n"
        "IP 198.51.100.1.40000 > 198.51.100.2.80: Flags [P.], seq 9:10, ack 1, win 9, length 1\n"
    )
    assert facts(tunnel) == {
        "group": "1", "packet_count": 2, "span_s": 1.0, "ipv4_packet_count": 2,
        "ipv6_packet_count": 0, "partial": False,
    }  # fmt: skip
    inside = "12:00:00.000000 IP 192.0.2.1 > 192.0.2.2: IP 10.0.0.1.5 > 10.0.0.2.6: " + SYN.format(
        1
    )
    assert "tcp_flow_count" not in facts(inside)


def test_tcpdump_quiet_with_link_headers_and_with_bad_checksums():
    quiet = "12:00:00.{}00000 IP 192.0.2.1.40000 > 192.0.2.2.80: tcp {}\n"
    text = quiet.format(0, 0) + quiet.format(1, 99)
    assert facts(text)["tcp_flow_count"] == 1
    assert read(text)["payload_bytes"].tolist() == [0, 99]
    assert read(text)["source_port"].tolist() == [40000, 40000]
    ends = "02:00:00:00:00:01 > 02:00:00:00:00:02, "
    with_links = (
        f"12:00:00.000000 {ends}ethertype IPv4 (0x0800), length 74: 192.0.2.1.40000 > "
        "192.0.2.2.80: " + SYN.format(7)
        + f"12:00:00.100000 {ends}ethertype 802.1Q (0x8100), length 82: vlan 3, p 0, "
        "ethertype IPv6 (0x86dd), 2001:db8::1.5 > 2001:db8::2.6: UDP, length 12\n"
        f"12:00:00.200000 {ends}ethertype ARP (0x0806), length 42: Request who-has 192.0.2.9 tell "
        "192.0.2.1, length 28\n"
        f"12:00:00.300000 {ends}802.3, length 38: LLC, dsap STP (0x42) Individual\n"
    )  # fmt: skip
    found = facts(with_links)
    counts = {name: found[name] for name in found if name.endswith("_count")}
    assert counts == {
        "packet_count": 4, "ipv4_packet_count": 1, "ipv6_packet_count": 1, "tcp_flow_count": 1,
        "udp_flow_count": 1, "tcp_retransmission_count": 0, "icmp_echo_pair_count": 0,
    }  # fmt: skip
    loop = "12:00:00.000000 AF IPv4 (2), length 72: 127.0.0.1.5 > 127.0.0.1.6: UDP, length 40\n"
    assert facts(loop)["udp_flow_count"] == 1
    verbose = (
        "12:00:00.000000 IP (tos 0x0, ttl 64, id 15, offset 0, flags [none], proto UDP (17), "
        "length 68, bad cksum 0 (->7c98)!)\n    127.0.0.1.5 > 127.0.0.1.6: UDP, length 40\n"
        "12:00:00.100000 IP (tos 0x0, ttl 63, id 15, offset 0, flags [none], proto UDP (17), "
        "length 72, options (RR 127.0.0.1))\n    127.0.0.1.5 > 127.0.0.1.6: UDP, length 40\n"
    )
    table = read(verbose)
    assert (table["ttl"].tolist(), table["packet_bytes"].tolist()) == ([64, 63], [68, 72])


def test_tcpdump_counts_frames_of_other_protocols():
    text = (
        "12:00:00.000000 STP 802.1d, Config, Flags [none], bridge-id 8000.00:11:22:33:44:55.8001\n"
        "12:00:00.100000 IP truncated-ip - 20 bytes missing! 192.0.2.1.40000 > 192.0.2.2.80: "
        "Flags [P.], seq 1:100, ack 1, win 5, length 99\n"
        "12:00:00.200000 LLDP, length 60\n"
    )
    found = facts(text)
    assert (found["packet_count"], found["ipv4_packet_count"], found["tcp_flow_count"]) == (3, 1, 1)
    session = OPENING + (
        "12:00:00.000000 PPPoE  [ses 0x1] PPP-IP (0x0021), length 54: IP 192.0.2.1.5 > "
        "192.0.2.2.6: UDP, length 12\n12:00:01.000000 ARP, Reply 192.0.2.9 is-at "
        "02:00:00:00:00:01, length 28\n"
    )
    assert facts(session) == {
        "group": "1", "packet_count": 2, "span_s": 1.0, "link_type": "SLL2", "partial": False,
    }  # fmt: skip


TSHARK = (
    "    1   0.000000    192.0.2.1 → 192.0.2.2    TCP 74 40000 → 80 [SYN] Seq=0 Win=9 Len=0\n"
    "    2   0.010000    192.0.2.2 → 192.0.2.1    TCP 74 80 → 40000 [SYN, ACK] Seq=0 Ack=1 Len=0\n"
    "    3   0.010100    192.0.2.1 → 192.0.2.2    TCP 66 40000 → 80 [ACK] Seq=1 Ack=1 Len=0\n"
    "    4   0.020000 02:00:00:00:00:01 →              ARP 42 Who has 192.0.2.9?\n"
    "    5   0.040000              →              0x88cc 60 Ethernet II\n"
    "    6   0.050000    192.0.2.1 → 192.0.2.2    IEEE 802.11 120 Data\n"
    "    7   1.500000    192.0.2.1 → 192.0.2.2    HTTP 166 GET / HTTP/1.1 \n"
)


NOTHING = {"tcp_retransmission_count": 0, "icmp_echo_pair_count": 0}
"""Of a list with an HTTP request without its ports, flows are not counted."""


def test_tshark_text_is_a_list_of_packets_and_no_ping():
    assert sniff(TSHARK) == "tshark text"
    table = read(TSHARK)
    assert facts(TSHARK) == {"packet_count": 7, "span_s": 1.5, **NOTHING, "partial": False}
    assert table.meta.tool == "tshark"
    assert table["time_s"].tolist() == pytest.approx([0, 0.01, 0.0101, 0.02, 0.04, 0.05, 1.5])
    assert table["original_bytes"].tolist() == [74, 74, 66, 42, 60, 120, 166]
    assert table["protocol"].tolist() == [
        "TCP",
        "TCP",
        "TCP",
        "ARP",
        "0x88cc",
        "IEEE 802.11",
        "HTTP",
    ]
    assert table["source"].tolist()[3:5] == ["02:00:00:00:00:01", ""]
    assert table["destination"].tolist()[3:5] == ["", ""]
    assert table["info"].tolist()[3] == "Who has 192.0.2.9?"
    ascii_arrows = TSHARK.replace("→", "->")
    assert facts(ascii_arrows) == facts(TSHARK)
    assert noted(TSHARK) == []


def test_tshark_text_cut_and_with_other_lines():
    cut = TSHARK + "    8   1.600000    192.0.2.1 → 192.0.2.2    TCP 6"
    assert facts(cut) == {"packet_count": 7, "span_s": 1.5, **NOTHING, "partial": True}
    longer = TSHARK.replace("    4 ", "a word between\n    4 ")
    assert noted("Capturing on 'eth0'\n" + longer) == ["packet-lines-skipped"]
    assert facts("Capturing on 'eth0'\n" + TSHARK) == facts(TSHARK)


def test_a_clock_that_goes_back_rarely_is_no_list_of_gaps():
    """One step of 24 falls: times since the start. Every second one: times since the last."""
    line = "{:5d} {:10.6f}    192.0.2.1 → 192.0.2.2    UDP 60 5 → 6 Len=18\n"
    times = [0.1 * n for n in range(25)]
    times[12], times[13] = times[13], times[12]
    rare = "".join(line.format(n + 1, time) for n, time in enumerate(times))
    datagrams = {**NOTHING, "tcp_flow_count": 0, "udp_flow_count": 1, "ipv4_packet_count": 25,
                 "ipv6_packet_count": 0}  # fmt: skip
    assert facts(rare) == {
        "packet_count": 25, "span_s": pytest.approx(2.4), **datagrams, "partial": False,
    }  # fmt: skip
    assert noted(rare) == []
    gaps = "".join(line.format(n + 1, (0.1, 0.3)[n % 2] if n else 0.0) for n in range(25))
    assert facts(gaps) == {"packet_count": 25, **datagrams, "partial": False}
    assert noted(gaps) == ["packet-times-since-last"]


TCPDUMP = (
    "10:11:12.000000 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq {0}, win 64240, options "
    "[mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7], length 0\n"
    "10:11:12.010000 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq {1}, ack {2}, win 65160, "
    "options [mss 1400,sackOK,TS val 1 ecr 1,nop,wscale 9], length 0\n"
    "10:11:12.010500 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [.], ack {4}, win 502, length 0\n"
    "10:11:12.011000 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq {3}:{5}, ack {4}, win 502, "
    "length 100: HTTP: GET / HTTP/1.1\n"
    "10:11:12.300000 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq {3}:{5}, ack {4}, win 502, "
    "length 100: HTTP: GET / HTTP/1.1\n"
    "10:11:12.310000 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [.], ack {5}, win 127, length 0\n"
    "10:11:13.000000 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 7, seq 1, length 64\n"
    "10:11:13.020000 IP 192.0.2.2 > 192.0.2.1: ICMP echo reply, id 7, seq 1, length 64\n"
    "10:11:14.000000 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 7, seq 2, length 64\n"
)
"""First numbers of both ends, the ack of the SYN; then what 1, 1 and 101 are printed as."""
FIRST, SECOND = 4294967290, 5000
RELATIVE = TCPDUMP.format(FIRST, SECOND, FIRST + 1, 1, 1, 101)
ABSOLUTE = TCPDUMP.format(FIRST, SECOND, FIRST + 1, FIRST + 1, SECOND + 1, 95)  # 2**32 - 6 + 101
WIRESHARK = """"No.","Time","Source","Destination","Protocol","Length","Info"
"1","0.000000","192.0.2.1","192.0.2.2","TCP","74","40000  >  80 [SYN] Seq=0 Win=64240 Len=0 WS=128"
"2","0.010000","192.0.2.2","192.0.2.1","TCP","74","80 → 40000 [SYN, ACK] Seq=0 Ack=1 Win=65160 \
Len=0 MSS=1400 WS=512"
"3","0.010500","192.0.2.1","192.0.2.2","TCP","66","40000 → 80 [ACK] Seq=1 Ack=1 Win=64256 Len=0"
"4","0.011000","192.0.2.1","192.0.2.2","TCP","166","40000 → 80 [PSH, ACK] Seq=1 Ack=1 Win=64256 \
Len=100"
"5","0.300000","192.0.2.1","192.0.2.2","TCP","166","[TCP Retransmission] 40000 → 80 [PSH, ACK] \
Seq=1 Ack=1 Win=64256 Len=100"
"6","0.310000","192.0.2.2","192.0.2.1","TCP","66","80 → 40000 [ACK] Seq=1 Ack=101 Win=65024 Len=0"
"7","1.000000","192.0.2.1","192.0.2.2","ICMP","98","Echo (ping) request  id=0x0007, seq=1/256, ttl=64"
"8","1.020000","192.0.2.2","192.0.2.1","ICMP","98","Echo (ping) reply    id=0x0007, seq=1/256, ttl=64"
"9","2.000000","192.0.2.1","192.0.2.2","ICMP","98","Echo (ping) request  id=0x0007, seq=2/512, ttl=64"
""".replace("\\\n", "")  # noqa: E501
CERTAIN = {
    "packet_count": 9, "span_s": 2.0, "ipv4_packet_count": 9, "ipv6_packet_count": 0,
    "tcp_flow_count": 1, "udp_flow_count": 0, "tcp_retransmission_count": 1,
    "icmp_echo_pair_count": 1, "handshake_rtt_min_s": pytest.approx(0.0105), "partial": False,
}  # fmt: skip


@pytest.mark.each("text", [RELATIVE, ABSOLUTE, WIRESHARK])
def test_what_the_lines_are_certain_of(text):
    """The same packets three times: with relative numbers, with tcpdump -S, and from Wireshark."""
    assert {name: one for name, one in facts(text).items() if name != "group"} == CERTAIN


def test_without_its_handshake_a_flow_has_no_certain_numbers():
    """tcpdump prints the first numbers of a flow as they are, and later ones relative to them."""
    midway = "".join(RELATIVE.splitlines(keepends=True)[3:])
    found = facts(midway)
    assert found["tcp_flow_count"] == 1
    assert not {"tcp_retransmission_count", "handshake_rtt_min_s"} & found.keys()
    (one,) = traces_of(read(midway))
    assert not one.is_whole
    assert not one.trace.has(Layer.TCP).any()


@pytest.mark.each("text", [RELATIVE, ABSOLUTE, WIRESHARK])
def test_a_list_becomes_the_trace_of_its_packets(text):
    """Windows without their scale: 502 * 2**7 is 64256, 127 * 2**9 is 65024."""
    (one,) = traces_of(read(text))
    assert one.is_whole
    flows = tcp_flows(analyse_tcp(one.trace)).columns()
    assert flows["payload_bytes"].tolist() == [100, 0]
    assert flows["retransmission_count"].tolist() == [1, 0]
    assert flows["window_max_bytes"].tolist() == [64256, 65024]
    assert flows["window_shift"].tolist() == [7, 9]
    assert flows["mss_bytes"][1] == 1400


def test_a_list_of_one_capture_says_what_the_capture_says():
    """tshark_text.txt is what tshark prints of dumpcap_lo.pcapng."""
    capture, text = (read(INPUTS / name).facts()[0] for name in (
        "dumpcap_lo.pcapng", "tshark_text.txt",
    ))  # fmt: skip
    shared = {name: text[name] for name in text if name in capture}
    assert len(shared) == 10
    assert shared == {name: pytest.approx(capture[name]) for name in shared}


def test_marks_in_the_text_of_a_packet_are_no_marks_of_wireshark():
    """A mark stands before everything else of a segment."""
    page = WIRESHARK.replace("[TCP Retransmission] 40000 → 80", "GET /[TCP Retransmission] 40000")
    assert facts(page)["tcp_retransmission_count"] == 0
    assert "tcp_flow_count" not in facts(page)
    fast = WIRESHARK.replace("[TCP Retrans", "[TCP Window Full] , [TCP Fast Retrans")
    assert facts(fast)["tcp_retransmission_count"] == 1


def test_ports_used_again_are_another_flow():
    """Wireshark counts both from 0, and marks the second SYN."""
    head, *rows = WIRESHARK.splitlines(keepends=True)
    mark = '"[TCP Port numbers reused] , 40000 >'
    later = [row.replace(',"0.', ',"9.').replace('"40000  >', mark) for row in rows[:6]]
    found = facts("".join([head, *rows, *later]))
    assert (found["tcp_flow_count"], found["tcp_retransmission_count"]) == (2, 2)
    assert found["handshake_rtt_min_s"] == pytest.approx(0.0105)


FIELDS = """frame.time_epoch,ip.src,ip.dst,tcp.srcport,tcp.dstport,tcp.flags,tcp.seq,tcp.ack,\
tcp.len,{}
1.000000,192.0.2.1,192.0.2.2,40000,80,0x0002,0,0,0,64240
1.010000,192.0.2.2,192.0.2.1,80,40000,0x0012,0,1,0,65160
1.010500,192.0.2.1,192.0.2.2,40000,80,0x0010,1,1,0,{}
1.011000,192.0.2.1,192.0.2.2,40000,80,0x0018,1,1,100,{}
1.300000,192.0.2.1,192.0.2.2,40000,80,0x0018,1,1,100,{}
1.310000,192.0.2.2,192.0.2.1,80,40000,0x0010,1,101,0,0
1.810000,192.0.2.2,192.0.2.1,80,40000,0x0010,1,101,0,{}
"""
SCALED = FIELDS.format("tcp.window_size", *[64256] * 3, 65024)
RAW = FIELDS.format("tcp.window_size_value", *[502] * 3, 127)


@pytest.mark.each("text", (SCALED, RAW))
def test_fields_of_tshark_are_packets_of_a_flow(text):
    row = facts(text)
    names = ("tcp_flow_count", "tcp_retransmission_count", "ipv4_packet_count", "packet_count")
    assert [row[name] for name in names] == [1, 1, 7, 7]
    assert row["handshake_rtt_min_s"] == pytest.approx(0.0105)
    (one,) = traces_of(read(text))
    assert one.is_whole
    flows = tcp_flows(analyse_tcp(one.trace)).columns()
    assert flows["payload_bytes"].tolist() == [100, 0]
    assert flows["window_closed_count"].tolist() == [0, 1]
    assert flows["window_closed_s"][1] == pytest.approx(0.5)
    # The scale is printed in neither: windows in bytes are those of the list, others unknown.
    scaled = 64256 if text == SCALED else nan
    assert flows["window_max_bytes"][0] == pytest.approx(scaled, nan_ok=True)


def test_fields_without_windows_close_none():
    rows = [line.rpartition(",")[0] for line in RAW.splitlines()]
    (one,) = traces_of(read("\n".join(rows) + "\n"))
    assert not one.is_whole
    assert tcp_flows(analyse_tcp(one.trace)).columns()["window_closed_count"].sum() == 0


LATE = """"No.","Time","Source","Destination","Protocol","Length","Info"
"1","0.000000","192.0.2.1","192.0.2.2","TCP","66","40000 → 80 [SYN] Seq=0 Win=64240 Len=0"
"2","0.010000","192.0.2.2","192.0.2.1","TCP","66","80 → 40000 [SYN, ACK] Seq=0 Ack=1 Win=65160 Len=0"
"3","0.010500","192.0.2.1","192.0.2.2","TCP","54","40000 → 80 [ACK] Seq=1 Ack=1 Win=64256 Len=0"
"4","0.020000","192.0.2.2","192.0.2.1","TCP","54","[TCP ACKed unseen segment] 80 → 40000 [ACK] Seq=1 \
Ack=101 Win=65024 Len=0"
"5","0.021000","192.0.2.1","192.0.2.2","TCP","154","[TCP Spurious Retransmission] 40000 → 80 [ACK] \
Seq=1 Ack=1 Win=64256 Len=100"
"6","0.040000","192.0.2.2","192.0.2.1","TCP","54","80 → 40000 [ACK] Seq=1 Ack=301 Win=65024 Len=0"
""".replace("\\\n", "")  # noqa: E501


def test_a_list_says_its_wrong_order_and_what_it_has_not():
    table = read(LATE)
    said = {one.code: one.values for one in table.meta.warnings}
    assert said == {"data-after-ack": {"count": 1}, "list-missed": {"missing_bytes": 200}}
    assert table.facts()[0]["tcp_retransmission_count"] == 0
