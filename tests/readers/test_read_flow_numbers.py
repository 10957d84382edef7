"""Transfers of nuttcp, FlowMonitor and netperf's demo mode by hand: rows, facts and refusals."""

from __future__ import annotations

import pytest
from samples_seen import facts, noted, refused

from netcalc.readers import read

MIB = 1024**2


def values(column):
    return [one if isinstance(one, str) else None if one != one else float(one)
            for one in column.tolist()]  # fmt: skip


NAMES = ("protocol", "received_byte_count", "received_rate_bps", "duration_s", "retransmit_count",
         "datagram_count", "lost_datagram_count", "partial")  # fmt: skip
TOTAL = "    3.0000 MB /   4.00 sec =    6.0000 Mbps 29 %TX 22 %RX 5 retrans 0.25 msRTT\n"


def test_nuttcp():
    text = (
        "    1.0000 MB /   1.00 sec =    8.0000 Mbps     2 retrans\n"
        "    2.0000 MB /   3.00 sec =    5.0000 Mbps     3 retrans\nnoise\n"
    )
    found = read(text + TOTAL)
    assert values(found.start_s) == [0, 1]
    assert values(found.duration_s) == [1, 3]
    assert values(found.payload_bytes) == [MIB, 2 * MIB]
    assert values(found.throughput_bps) == [8e6, 5e6]
    assert values(found.retransmit_count) == [2, 3]
    assert found.side.tolist() == ["receiver"] * 2
    assert facts(found, *NAMES) == [("tcp", 3 * MIB, 6e6, 4, 5, None, None, False)]
    assert found.meta.printed == {"handshake_rtt_s": [0.00025]}
    assert noted(found) == []
    cut = read(text)
    assert facts(cut, "received_byte_count", "partial") == [(3 * MIB, True)]
    odd = read(text + "  x.0000 MB / what\n" + TOTAL)
    assert noted(odd) == [("transfer-lines-unread", {"numbers": [4]})]
    two = read(text + TOTAL + TOTAL)
    assert facts(two, "group", "received_rate_bps") == [("run 1", 6e6), ("run 2", 6e6)]
    assert values(two.duration_s) == [1, 3, 4], "the second run has no intervals"
    plain = read(TOTAL.replace("5 retrans 0.25 msRTT", ""))
    assert (plain.meta.printed, facts(plain, "retransmit_count")) == ({}, [(None,)])


def test_datagrams_of_nuttcp():
    udp = "    1.0000 MB /   2.00 sec =    4.0000 Mbps 1 %TX 2 %RX {} / 100 drop/pkt 3.00 %loss\n"
    assert facts(read(udp.format(3)), *NAMES) == [
        ("udp", MIB, 4e6, 2, None, 100, 3, False),
    ]  # fmt: skip
    assert facts(read(udp.format(100)), "lost_datagram_count") == [(100,)]
    assert facts(read(udp.format(101)), "lost_datagram_count") == [(None,)]
    parse = "megabytes={} real_sec{}={} rate_Mbps={} {}\n"
    found = read(
        parse.format("1.0000", "", "1.00", "8.0", "drop=1 pkt=7 data_loss=1")
        + parse.format("2.0000", "onds", "4.00", "4.0", "tx_cpu=1 drop=2 pkt=9 rtt_ms=0.50")
    )
    assert facts(found, *NAMES) == [("udp", 2 * MIB, 4e6, 4, None, 9, 2, False)]
    assert values(found.datagram_count) == [7]
    assert values(found.lost_count) == [1]
    assert found.meta.printed == {"handshake_rtt_s": [0.0005]}
    tcp = read(parse.format("2.0000", "onds", "4.00", "4.0", "tx_cpu=1 retrans=6 rtt_ms=0.5"))
    assert facts(tcp, "protocol", "retransmit_count") == [("tcp", 6)]


def test_both_ends_of_nuttcp():
    line = "nuttcp-{}: {} MB in {} real seconds = 1.0 KB/sec = {} Mbps\n"
    text = line.format("t", "2.0000", "4.00", "4.0") + line.format("r", "1.0000", "5.00", "3.0")
    found = read(text)
    names = ("sent_byte_count", "sent_rate_bps", "received_byte_count", "received_rate_bps",
             "protocol", "duration_s", "partial")  # fmt: skip
    assert facts(found, *names) == [(2 * MIB, 4e6, MIB, 3e6, "tcp", 4, False)]
    assert found.side.tolist() == ["sender", "receiver"]
    assert values(found.duration_s) == [4, 5]
    two = read(text + text)
    assert [row["group"] for row in two.facts()] == ["run 1", "run 2"]
    half = read(line.format("t", "2.0000", "4.00", "4.0"))
    assert facts(half, "sent_byte_count", "partial") == [(2 * MIB, True)]


FLOW = {
    "flowId": "1", "timeFirstTxPacket": "+1e+09ns", "timeLastTxPacket": "+3s",
    "timeFirstRxPacket": "+1500ms", "timeLastRxPacket": "+5500ms", "delaySum": "+2s",
    "jitterSum": "+900000us", "txBytes": "4000", "rxBytes": "3000", "txPackets": "5",
    "rxPackets": "4", "lostPackets": "1",
}  # fmt: skip
NAMED = (
    '<Flow flowId="1" sourceAddress="192.0.2.1" destinationAddress="192.0.2.2" protocol="{}" '
    'sourcePort="5" destinationPort="6" />'
)


UDP = NAMED.format(17)


def flowmon(named=UDP, kind="4", **more):
    flow = " ".join(f'{name}="{value}"' for name, value in {**FLOW, **more}.items())
    return (
        f'<?xml version="1.0" ?>\n<FlowMonitor>\n<FlowStats>\n<Flow {flow}></Flow>\n</FlowStats>\n'
        f"<Ipv{kind}FlowClassifier>{named}</Ipv{kind}FlowClassifier>\n</FlowMonitor>\n"
    )


def test_flowmonitor():
    found = read(flowmon())
    expected = {
        "group": "flow 1", "protocol": "udp", "local": "192.0.2.1:5", "peer": "192.0.2.2:6",
        "first_sent_s": 1, "last_sent_s": 3, "first_received_s": 1.5, "last_received_s": 5.5,
        "packet_count": 5, "received_count": 4, "lost_count": 1, "sent_bytes": 4000,
        "received_bytes": 3000, "one_way_s": 0.5, "jitter_s": pytest.approx(0.3),
    }  # fmt: skip
    for name, value in expected.items():
        assert values(found[name]) == [value], name
    names = ("packet_count", "received_count", "loss_ratio", "sent_rate_bps", "received_rate_bps",
             "target", "sent_byte_count", "received_byte_count", "partial")  # fmt: skip
    assert facts(found, *names) == [(5, 4, 0.2, 16000, 6000, "192.0.2.2:6", 4000, 3000, False)]
    assert noted(found) == []
    for number, protocol in (("6", "tcp"), ("1", "icmp"), ("99", "99")):
        assert values(read(flowmon(NAMED.format(number)))["protocol"]) == [protocol]
    six = read(flowmon(NAMED.replace("192.0.2.1", "2001:db8::1").format(17), kind="6"))
    assert values(six["local"]) == ["[2001:db8::1]:5"]
    other = read(flowmon(NAMED.replace('"1"', '"2"').format(17)))
    assert noted(other) == [("flowmon-unnamed", {"names": ["flow 1"]})]
    one = read(flowmon(rxPackets="1"))
    assert (values(one["one_way_s"]), values(one["jitter_s"])) == ([2], [None])
    none = read(flowmon(rxPackets="0", timeLastTxPacket="+1s"))
    assert values(none["first_received_s"]) == values(none["one_way_s"]) == [None]
    assert facts(none, "sent_rate_bps", "received_rate_bps") == [(None, None)]
    for lost, loss_ratio in ((0, 0), (5, 1), (6, None)):
        assert facts(read(flowmon(lostPackets=lost)), "loss_ratio") == [(loss_ratio,)]
    assert facts(read(flowmon(txPackets="0", lostPackets="0")), "loss_ratio") == [(None,)]
    units = {"fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60,
             "h": 3600, "d": 86400, "y": 365 * 86400}  # fmt: skip
    for unit, seconds in units.items():
        found = read(flowmon(timeFirstTxPacket=f"+2.5{unit}"))
        assert found["first_sent_s"].tolist() == pytest.approx([2.5 * seconds])


def test_a_flowmonitor_that_cannot_be():
    for name, value in (("txBytes", "-1"), ("delaySum", "+1"), ("delaySum", "-1s"),
                        ("rxPackets", "1.5")):  # fmt: skip
        fault = refused(flowmon(**{name: value}))
        assert (fault.code, fault.field) == ("flowmon-value", name)
        assert (fault.values["value"], fault.values["flow"]) == (value, "1")
    assert refused(flowmon().replace("</FlowMonitor>", "")).code == "damaged-xml"
    fault = refused(flowmon().replace("</FlowStats>", "</X>"))
    assert (fault.code, fault.line) == ("damaged-xml", 5)
    assert (
        refused("<FlowMonitor>\n<FlowStats>\n</FlowStats></FlowMonitor>\n").code
        == "flowmon-nothing"
    )
    entity = flowmon().replace("<FlowMonitor>", "<!DOCTYPE x>\n<FlowMonitor>")
    assert refused(entity).code == "xml-document-type"


def test_interim_results_of_netperf():
    text = (
        "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET\n"
        "Interim result:  8.00 10^6bits/s over 1.000 seconds ending at 1795353001.500\n"
        "Interim result:  4.00 10^3bits/s over 2.000 seconds ending at 1795353003.500\n"
    )
    end = (
        "Recv   Send    Send\nSocket Socket  Message  Elapsed\n"
        "Size   Size    Size     Time     Throughput\n"
        "bytes  bytes   bytes    secs.    10^6bits/sec\n"
        "\n131072  16384  16384    3.00      5.00   \n"
    )
    found = read(text + end)
    assert values(found.start_s) == [0, 1]
    assert values(found.duration_s) == [1, 2]
    assert values(found.throughput_bps) == [8e6, 4e3]
    assert facts(found, "sent_rate_bps", "duration_s", "partial") == [(5e6, 3, False)]
    assert read(text).meta.partial


HEAD = (
    "MIGRATED TCP {} TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET\n"
    "Recv   Send    Send\nSocket Socket  Message  Elapsed\n"
    "Size   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n"
)


def test_a_line_of_netperf_is_whole_if_it_ends_in_blanks():
    """netperf pads its lines, so that the end of one shows without a line end."""
    row = "131072  16384  16384    3.00      5.00"
    assert facts(read(HEAD.format("STREAM") + row + "   "), "sent_rate_bps", "partial") == [
        (5e6, False),
    ]  # fmt: skip
    cut = read(HEAD.format("STREAM") + row + "\n" + HEAD.format("STREAM") + row)
    assert noted(cut) == [("last-line-cut", {"number": 14})]
    zero = read(HEAD.format("STREAM") + row.replace("5.00", "0.00") + "\n")
    assert facts(zero, "sent_rate_bps") == [(0,)]


def test_lists_of_netesto():
    head = "exp,expName,group,test,host,server,ca,cwnd,rtt,rate\n"
    found = read(head + "100.0,basic,1,TCP_STREAM,c,s,cubic,83.5,10.2,9410.5\n")
    assert facts(found, "target") == [("s",)]
    assert refused(head).code == "netesto-nothing"
