"""Transfers by hand: sizes, times, rates, facts and warnings, and what each unit stands for."""

from __future__ import annotations

import json
import math

import pytest
from samples_seen import facts, implausible, noted, refused, values

from netcalc.readers import read, sniff
from netcalc.readers.transfers.iperf_text import (
    looks_like_interval,
    read_connection,
    read_interval,
    read_losses,
)

KI, MI, GI, TI, PI = (1024**power for power in range(1, 6))


def test_dd():
    line = "{} bytes (x) copied, {} s, {}\n"
    found = read(line.format(2000, "0.5", "4.0 kB/s") + line.format(4096, "2", "2.0 KiB/s"))
    assert values(found.payload_bytes) == [2000, 4096]
    assert values(found.duration_s) == [0.5, 2]
    assert facts(found, "group", "sent_rate_bps", "partial") == [
        ("run 1", 32000, False), ("run 2", 16384, False),
    ]  # fmt: skip
    for size, rate, agrees in (
        (10**6, "1.0 MB/s", True), (10**9, "1.0 GB/s", True), (10**12, "1.0 TB/s", True),
        (10**3, "1.0 kB/s", True), (10**2, "100 B/s", True), (MI, "1.0 MB/s", True),
        (10**6, "1.0 GB/s", False), (10**6, "1.2 MB/s", False), (10**6, "1.05 MB/s", True),
        (10**6, "0.85 MB/s", False), (10**6, "Infinity B/s", True),
    ):  # fmt: skip
        one = read(line.format(size, "1", rate))
        assert values(one.duration_s) == [1 if agrees else None], rate
        expected = [] if agrees else [("transfer-rate-differs", {"numbers": [1]})]
        assert noted(one) == expected
    none = read(line.format(5, "0", "Infinity B/s"))
    assert (values(none.duration_s), facts(none, "sent_rate_bps")) == ([None], [(None,)])
    odd = read(line.format(2000, "0.5", "4.0 kB/s") + "77 bytes copied, what\n")
    assert noted(odd) == [("transfer-lines-unread", {"numbers": [2]})]
    assert refused("77 bytes copied, what\n").code == "transfer-nothing"
    assert sniff("3+0 records in\n3+0 records out\n") != "dd"


def test_scp():
    line = "{} {}% {} {} {}\n"
    for prefix, factor in (("", 1), ("K", KI), ("M", MI), ("G", GI), ("T", TI), ("P", PI)):
        one = read(line.format("f", 100, f"7{prefix}B", f"2.5{prefix}B/s", "01:02:03"))
        assert values(one.payload_bytes) == [7 * factor]
        rate = 20 * factor if factor < PI else None  # beyond 100 Tbit/s
        assert facts(one, "sent_rate_bps", "target") == [(rate, "f")]
        assert values(one.duration_s) == [3723]
    several = read(
        line.format("a b", 50, "7KB", "1.0KB/s", "00:09 ETA") + line.format("a b", 100, "7KB",
        "1.0KB/s", "00:07") + line.format("c", 99, "1KB", "0.0KB/s", "--:--")
    )  # fmt: skip
    assert values(several.duration_s) == [7, None]
    assert several.failed.tolist() == [False, True]
    assert (several.meta.target, several.meta.partial) == ("a b, c", True)
    assert facts(several, "group", "partial") == [("run 1", False), ("run 2", True)]
    assert noted(several) == [("scp-rounded", {})]
    at_once = read(line.format("f", 100, "7KB", "1.0KB/s", "00:00"))
    assert values(at_once.duration_s) == [None]


def test_wget():
    start = "--2026-11-22 13:10:54--  http://h/{}\n"
    end = "2026-11-22 13:10:54 ({}/s) - 'f' saved [{}]\n"
    bar = "f 100%[===>]  1.9M  1.0M/s  in {}\n"
    rates = {"2 B": 16, "2 KB": 16 * KI, "2 MB": 16 * MI, "2 GB": 16 * GI, "2 TB": 16 * TI,
             "2 b": 2, "2 Kb": 2e3, "2 Mb": 2e6, "2 Gb": 2e9, "2,5 Mb": 2.5e6}  # fmt: skip
    for rate, bits in rates.items():
        one = read(start.format("a") + bar.format("2m 3s") + end.format(rate, "5/5"))
        assert facts(one, "received_rate_bps", "received_byte_count", "target", "direction") == [
            (bits, 5, "http://h/a", "download"),
        ]  # fmt: skip
        assert values(one.duration_s) == [123]
        assert one.meta.partial is False
    two = read(
        start.format("a") + bar.format("0.5s") + end.format("2 B", "4/5")
        + start.format("b") + end.format("2 B", "9")
        + "2026-11-22 13:10:54 URL:http://h/c [3/7] -> \"c\" [1]\n"
        + "2026-11-22 13:10:54 URL:http://h/d [3] -> \"d\" [1]\n"
    )  # fmt: skip
    assert values(two.payload_bytes) == [4, 9, 3, 3]
    assert values(two.duration_s) == [0.5, None, None, None], "a time is that of one transfer"
    assert two.failed.tolist() == [True, False, True, False]
    assert facts(two, "target", "group")[2:] == [("http://h/c", "run 3"), ("http://h/d", "run 4")]
    open_end = read(start.format("a") + end.format("2 B", "5") + start.format("b"))
    assert open_end.meta.partial
    assert facts(open_end, "partial") == [(True,)]


def test_curl():
    head = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    meter = "{} {} 1 {} 1 {} {} {} --:--:-- 0:00:01 --:--:-- 5\n"
    for prefix, factor in (("", 1), ("k", KI), ("M", MI), ("G", GI), ("T", TI), ("P", PI)):
        one = read(head + meter.format(100, "9", f"7{prefix}", "0", f"3{prefix}", "0"))
        assert facts(one, "received_byte_count", "received_rate_bps", "direction") == [
            (7 * factor, 24 * factor if factor < PI else None, "download"),
        ]  # fmt: skip
    up = read(head + meter.format(99, "9", "0", "7k", "0", "3") + head
              + meter.format(100, "9", "1", "1", "2", "3"))  # fmt: skip
    assert facts(up, "direction", "sent_rate_bps", "received_rate_bps", "partial") == [
        ("upload", 24, None, True), ("download", None, 16, False),
    ]  # fmt: skip
    assert up.failed.tolist() == [True, False]
    assert noted(up) == [("curl-rounded", {})]
    pairs = (
        "size_download: {}\nsize_upload: {}\nspeed_download: 7\nspeed_upload: 9\ntime_total: {}s\n"
    )
    found = read(pairs.format(5, 2, "0.25") + pairs.format(2, 5, "0"))
    assert facts(found, "direction", "received_rate_bps", "sent_rate_bps", "duration_s") == [
        ("download", 56, None, 0.25), ("upload", None, 72, None),
    ]  # fmt: skip
    assert noted(found) == []
    fault = refused(pairs.format(5, 2, "0.25").replace("speed_download: 7", "speed_download: 7,5"))
    assert (fault.code, fault.line, fault.field) == ("not-a-number", 3, "speed_download")
    assert fault.values["value"] == "7,5"
    document = {"time_total": 0.5, "size_download": 5, "speed_download": 10, "exitcode": 0,
                "url_effective": "http://h/"}  # fmt: skip
    text = json.dumps(document) + "\n" + json.dumps({**document, "exitcode": 18}) + "\n"
    several = read(text)
    assert several.failed.tolist() == [False, True]
    assert facts(several, "target", "received_rate_bps") == [("http://h/", 80)] * 2
    assert read(text + "{\n").meta.partial


# iperf: bits in powers of 1000, bytes in powers of 1024
UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def test_a_line_of_iperf():
    for prefix, power in UNITS.items():
        one = read_interval(f"[  5]  1.00-2.50  sec  3 {prefix}Bytes  4 {prefix}bits/sec  rest")
        assert (one.byte_count, one.rate_bps) == (3 * 1024**power, 4 * 1000**power)
        one = read_interval(f"[  5]  1.00-2.50  sec  3 Bytes  4 {prefix}Bytes/sec")
        assert one.rate_bps == 32 * 1024**power
    assert (one.stream, one.start_s, one.end_s, one.right) == ("5", 1.0, 2.5, True)
    assert not one.is_sum
    sum_line = read_interval("[SUM-2]  0.0- 1.0 sec  1,5 MBytes  1.25 Mbits/sec")
    assert (sum_line.is_sum, sum_line.byte_count, sum_line.start_s) == (True, 1.5 * MI, 0)
    starred = read_interval("[ *7][TX-C]  0.0-1.0 sec  0 Bytes  0 bits/sec")
    assert (starred.starred, starred.role, starred.stream, starred.right) == (
        True,
        "TX-C",
        "7",
        True,
    )
    for size, rate in (("-1", "1"), ("1", "-1"), ("nan", "1"), ("1", "inf"), ("inf", "1")):
        one = read_interval(f"[  5]  0.0-1.0 sec  {size} Bytes  {rate} bits/sec")
        assert not one.right
        assert math.isnan(one.byte_count) is (size != "1")
        assert math.isnan(one.rate_bps) is (rate != "1")
    assert read_interval("[  5]  0.0-1.0 sec  1,234 Bytes  1 bits/sec") is None
    assert looks_like_interval("[  5]  0.0-1.0 sec  what")
    assert not looks_like_interval(" " * 200 + "[  5]  0.0-1.0 sec  what")
    ends = read_connection("[  5] local 192.0.2.1 port 5 connected to 192.0.2.2 port 5201 (x)")
    assert (ends.stream, ends.remote_port, ends.rest) == ("5", 5201, " (x)")


@pytest.mark.each(
    ("rest", "jitter_s", "lost", "total", "implausible"),
    [("  0.250 ms  3/10 (30%)", 0.00025, 3, 10, False),
     ("  0.250 ms  0/0 (nan%)", 0.00025, 0, 0, False),
     ("  -1 ms  3/10 (30%)", None, 3, 10, True), ("  1 ms  11/10 (x%)", 0.001, None, 10, True),
     ("  1 ms  -1/10 (x%)", 0.001, None, 10, True), ("  1 ms  10/10 (100%)", 0.001, 10, 10, False),
     ("  0 ms  0/-5 (x%)", 0, None, None, True)],
)  # fmt: skip
def test_losses_of_iperf(rest, jitter_s, lost, total, implausible):
    found = read_losses(rest)
    known = [found.jitter_s, found.lost_count, found.datagram_count]
    assert [None if one != one else one for one in known] == [jitter_s, lost, total]
    assert found.implausible is implausible


STREAM = "MIGRATED TCP {} TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET\n"
TABLE = (
    "Recv   Send    Send\nSocket Socket  Message  Elapsed\n"
    "Size   Size    Size     Time     Throughput\n"
    "bytes  bytes   bytes    secs.    {}\n\n131072  16384  16384    10.00    {}\n"
)  # fmt: skip


def test_units_of_netperf():
    units = {"10^0bits/sec": 1, "10^3bits/sec": 1e3, "10^6bits/sec": 1e6, "10^9bits/sec": 1e9,
             "10^6Bytes/sec": 8e6, "Bytes/sec": 8, "KBytes/sec": 8 * KI, "MBytes/sec": 8 * MI,
             "GBytes/sec": 8 * GI}  # fmt: skip
    for unit, bits in units.items():
        found = read(STREAM.format("STREAM") + TABLE.format(unit, "2.50"))
        assert facts(found, "received_rate_bps", "sent_rate_bps", "duration_s", "protocol") == [
            (None, 2.5 * bits, 10, "tcp"),
        ]  # fmt: skip
    back = read(STREAM.format("MAERTS") + TABLE.format("10^6bits/sec", "2.50"))
    assert facts(back, "direction", "received_rate_bps", "sent_rate_bps") == [
        ("download", 2.5e6, None),
    ]  # fmt: skip
    fault = refused(KEYVAL.format("2.5", "10^6trees/s", "Send"))
    assert (fault.code, fault.values["value"]) == ("netperf-unit", "10^6trees/s")


KEYVAL = (
    "THROUGHPUT={}\nTHROUGHPUT_UNITS={}\nELAPSED_TIME=10.00\nPROTOCOL=TCP\nDIRECTION={}\n"
    "REQUEST_SIZE=3\nRESPONSE_SIZE=5\nMIN_LATENCY=25\nP50_LATENCY=34\nMAX_LATENCY=410\n"
    "LOCAL_TRANSPORT_RETRANS=12\nREMOTE_TRANSPORT_RETRANS=7\nTRANSPORT_MSS=1448\n"
    "LOCAL_BYTES_SENT=100\nLOCAL_BYTES_RECVD=200\nREMOTE_BYTES_SENT=300\nREMOTE_BYTES_RECVD=0\n"
)


def test_names_of_netperf():
    names = ("direction", "sent_rate_bps", "received_rate_bps", "retransmit_count", "mss_bytes",
             "sent_byte_count", "received_byte_count", "rtt_min_s", "duration_s")  # fmt: skip
    sent = read(KEYVAL.format("2.5", "10^6bits/s", "Send"))
    assert facts(sent, *names) == [("upload", 2.5e6, None, 12, 1448, 100, None, None, 10)]
    got = read(KEYVAL.format("2.5", "10^3bits/s", "Recv"))
    assert facts(got, *names) == [("download", None, 2.5e3, 7, 1448, 300, 200, None, 10)]
    for direction in ("Send|Recv", "Recv|Send"):
        rr = read(KEYVAL.format("28533.43", "Trans/s", direction))
        assert facts(rr, "rtt_min_s", "rtt_median_s", "rtt_max_s", "direction") == [
            (pytest.approx(25e-6), pytest.approx(34e-6), pytest.approx(410e-6), None),
        ]  # fmt: skip
        assert facts(rr, "counter:THROUGHPUT") == [(28533.43,)]
    bits = read(KEYVAL.format("2.5", "10^6bits/s", "Send|Recv"))
    assert facts(bits, "rtt_min_s") == [(pytest.approx(25e-6),)], "either of both signs"


UDP = (
    "MIGRATED UDP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET\n"
    "Socket  Message  Elapsed      Messages\n"
    "Size    Size     Time         Okay Errors   Throughput\n"
    "bytes   bytes    secs            #      #   10^6bits/sec\n\n"
    "212992    1000   10.00        1000      0       0.80\n"
)


def test_datagrams_of_netperf():
    names = ("protocol", "datagram_count", "lost_datagram_count", "loss_ratio", "sent_byte_count",
             "sent_rate_bps", "received_rate_bps", "partial")  # fmt: skip
    whole = read(UDP + "212992           10.00         900              0.72\n")
    assert facts(whole, *names) == [
        ("udp", 1000, 100, 0.1, 1e6, 0.8e6, pytest.approx(0.72e6), False)
    ]
    assert facts(read(UDP), *names) == [("udp", 1000, None, None, 1e6, 0.8e6, None, True)]
    more = read(UDP + "212992           10.00         1001              0.72\n")
    assert facts(more, "lost_datagram_count", "loss_ratio") == [(None, None)]
    every = read(UDP + "212992           10.00         1000              0.80\n")
    assert facts(every, "lost_datagram_count", "loss_ratio") == [(0, 0)]


def test_speed_tests():
    ookla = {
        "type": "result", "timestamp": "2026-11-22T12:00:00Z",
        "ping": {"latency": 9.5, "low": 9, "high": 12}, "packetLoss": 2.5,
        "download": {"bandwidth": 1000, "bytes": 5000, "elapsed": 4000},
        "upload": {"bandwidth": 500, "bytes": 0, "elapsed": 2000}, "server": {"host": "h"},
    }  # fmt: skip
    names = (
        "group",
        "received_rate_bps",
        "sent_rate_bps",
        "received_byte_count",
        "sent_byte_count",
        "duration_s",
        "rtt_s",
        "rtt_min_s",
        "rtt_max_s",
        "printed_loss_ratio",
    )
    found = read(json.dumps(ookla) + "\n")
    assert facts(found, *names) == [
        ("download", 8000, None, 5000, None, 4, *[None] * 4),
        ("upload", None, 4000, None, None, 2, *[None] * 4),
        ("ping", *[None] * 5, 0.0095, 0.009, 0.012, 0.025),
    ]  # fmt: skip
    assert (found.meta.tool, found.meta.target, found.meta.start) == (
        "Ookla", "h", "2026-11-22T12:00:00Z",
    )  # fmt: skip
    assert found.side.tolist() == ["receiver", "sender"]
    two = read(json.dumps(ookla) + "\n" + json.dumps({**ookla, "packetLoss": 101}) + "\n")
    assert [row["group"] for row in two.facts()] == [
        "run 1 download", "run 1 upload", "run 2 download", "run 2 upload",
        "run 1 ping", "run 2 ping",
    ]  # fmt: skip
    assert facts(two, "printed_loss_ratio")[-2:] == [(0.025,), (None,)]
    cli = {"download": 5e6, "upload": 1e4, "ping": 7, "bytes_received": 10, "bytes_sent": 20}
    plain = read(json.dumps(cli) + "\n")
    assert facts(plain, *names[:5]) == [
        ("download", 5e6, None, 10, None), ("upload", None, 1e4, None, 20), ("ping", *[None] * 4),
    ]  # fmt: skip
    fault = refused(json.dumps({**cli, "upload": 9999}) + "\n")
    assert (fault.code, fault.field, fault.values["value"]) == ("speedtest-unit", "upload", "9999")
    libre = read(json.dumps({**cli, "jitter": 1, "download": 5, "upload": 0}) + "\n")
    assert facts(libre, *names[:3])[:2] == [("download", 5e6, None), ("upload", None, 0)]
    assert libre.meta.tool == "LibreSpeed"
    for unit, bits in (("bit/s", 1), ("Kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9),
                       ("Mbyte/s", 8e6), ("Mbps", 1e6)):  # fmt: skip
        text = read(f"Hosted by x [1 km]: 9.5 ms\nDownload: 2.5 {unit}\nUpload: 1 {unit}\n")
        assert facts(text, "received_rate_bps", "sent_rate_bps", "rtt_s") == [
            (2.5 * bits, None, None), (None, bits, None), (None, None, 0.0095),
        ]  # fmt: skip
    used = read("  Idle Latency:  9.5 ms (x)\n  Download: 1 Mbps (data used: 2.5 MB)\n"
                "  Latency:  11 ms\n  Upload: 1 Mbps (data used: 3 GB)\n")  # fmt: skip
    assert facts(used, "received_byte_count", "sent_byte_count", "rtt_s") == [
        (2.5e6, None, None), (None, 3e9, None), (None, None, 0.0095),
    ]  # fmt: skip
    assert sniff('{"bandwidth": 3}\n') == "JSON"


def ndt7(origin, count, time_us, **tcp):
    app = {"NumBytes": count, "ElapsedTime": time_us}
    return {"Key": "measurement", "Value": {"Test": "download", "Origin": origin, "AppInfo": app,
                                            "TCPInfo": tcp}}  # fmt: skip


def test_ndt7():
    lines = [
        {"Key": "starting", "Value": {"Test": "download"}},
        {"Key": "connected", "Value": {"Test": "download", "Server": "h"}},
        ndt7("client", 1000, 500_000), ndt7("client", 3000, 1_500_000),
        ndt7("client", 2000, 1_600_000), ndt7("client", 3000, 1_500_000),
        ndt7("server", -1, -1, BytesAcked=4000, ElapsedTime=2_000_000, RTT=20_000, RTTVar=500,
             SndCwnd=10, SndMSS=1400, MinRTT=15_000, TotalRetrans=3),
    ]  # fmt: skip
    text = "".join(json.dumps(one) + "\n" for one in lines)
    done = json.dumps({"Key": "complete", "Value": {"Test": "download"}}) + "\n"
    found = read(text + done)
    client = found.side == "receiver"
    assert values(found.payload_bytes[client]) == [1000, 2000]
    assert values(found.start_s[client]) == [0, 0.5]
    assert values(found.duration_s[client]) == [0.5, 1]
    assert values(found.throughput_bps[client]) == [16000, 16000]
    assert values(found.cwnd_bytes[~client]) == [14000]
    assert values(found.rtt_s[~client]) == [0.02]
    names = ("received_byte_count", "received_rate_bps", "sent_byte_count", "sent_rate_bps",
             "rtt_min_s", "rtt_s", "cwnd_packets", "retransmit_total_count", "partial")  # fmt: skip
    assert facts(found, *names) == [(3000, 16000, 4000, 16000, 0.015, 0.02, 10, 3, False)]
    assert found.meta.target == "h"
    assert noted(found) == [("implausible-values", {"count": 1, "name": "ElapsedTime"})]
    assert read(text).meta.partial
    query = {"a": {"MeanThroughputMbps": 2.5, "MinRTT": 20, "LossRate": 0.5},
             "raw": {"Upload": {"x": 1}}}  # fmt: skip
    one = read(json.dumps(query) + "\n")
    assert facts(one, "direction", "received_rate_bps", "rtt_min_s", "printed_loss_ratio") == [
        ("upload", 2.5e6, 0.02, 0.5),
    ]  # fmt: skip
    summary = {
        "Download": {"Value": 2.5, "Unit": "Mbit/s"},
        "MinRTT": {"Value": 7, "Unit": "ms"},
        "Upload": {"Throughput": {"Value": 3, "Unit": "Mbit/s"}},
        "ServerFQDN": "h",
    }
    short = read(json.dumps(summary) + "\n")
    assert facts(short, "direction", "received_rate_bps", "partial") == [
        ("download", 2.5e6, False), ("upload", 3e6, False),
    ]  # fmt: skip
    assert short.meta.printed["MinRTT"] == {"Value": 7, "Unit": "ms"}


CLIENT = (
    "Connecting to host h, port 5201\n"
    "[  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n"
)
RETR = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
PLAIN = "[ ID] Interval           Transfer     Bitrate\n"
DATAGRAMS = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"


def row(start, end, size, rate, rest="", stream="5"):
    return f"[{stream:>3}]   {start:.2f}-{end:.2f}   sec  {size} Bytes  {rate} bits/sec  {rest}\n"


def test_a_client_of_iperf3():
    text = (
        CLIENT + RETR + row(0, 1, 1000, 8000, "2   3.00 KBytes")
        + row(1, 3, 500, 2000, "1   2.00 MBytes")
        + row(0, 3, 1500, 4000, "3             sender")
        + row(0, 3.5, 1400, 3200, "              receiver")
        + "\niperf Done.\n"
    )  # fmt: skip
    found = read(text)
    assert values(found.start_s) == [0, 1]
    assert values(found.duration_s) == [1, 2]
    assert values(found.payload_bytes) == [1000, 500]
    assert values(found.throughput_bps) == [8000, 2000]
    assert values(found.retransmit_count) == [2, 1]
    assert values(found.cwnd_bytes) == [3 * KI, 2 * MI]
    names = (
        "direction",
        "sent_byte_count",
        "received_byte_count",
        "sent_rate_bps",
        "duration_s",
        "received_rate_bps",
        "retransmit_count",
        "protocol",
        "stream_count",
        "partial",
    )
    assert facts(found, *names) == [
        ("upload", 1500, 1400, 4000, 3, 3200, 3, "tcp", 1, False),
    ]  # fmt: skip
    assert (found.meta.target, noted(found)) == ("h", [])
    open_end = read(text.replace("\niperf Done.\n", ""))
    assert open_end.meta.partial is False, "both totals are there"
    no_receiver = "".join(text.splitlines(keepends=True)[:6])
    # by hand: the intervals of the sender are all that is known
    one = read(no_receiver)
    assert facts(one, "sent_byte_count", "received_byte_count", "partial") == [(1500, None, True)]
    only = read("".join(text.splitlines(keepends=True)[:5]))
    assert facts(only, "sent_byte_count", "sent_rate_bps", "duration_s", "retransmit_count") == [
        (1500, 4000, 3, 3),
    ]  # fmt: skip
    cut = read(text.replace("  1000 Bytes", "  1,000 Bytes"))
    assert noted(cut) == [("iperf-lines-unread", {"numbers": [4]})]
    odd = read(text.replace("  1000 Bytes", "  -1 Bytes"))
    assert noted(odd) == [implausible((4, "0.00-1.00   sec  -1 Bytes  8000 bits/sec"))]
    assert values(odd.payload_bytes) == [None, 500]
    stopped = read(
        text.replace("\niperf Done.\n", "iperf3: interrupt - the client has terminated\n")
    )
    assert stopped.meta.partial
    assert noted(stopped)[0][0] == "iperf-reported"
    error = refused("Connecting to host h, port 1\niperf3: error - unable to connect to server\n")
    assert error.code == "iperf-error-only"
    assert "unable to connect to server" in str(error)


def test_a_reverse_run_and_omitted_intervals_of_iperf3():
    text = (
        CLIENT.replace("[  5]", "Reverse mode, remote host h is sending\n[  5]") + PLAIN
        + row(0, 1, 10, 80, "(omitted)") + row(0, 1, 20, 160) + RETR
        + row(0, 1, 30, 240, "4             sender") + row(0, 1, 20, 160, "              receiver")
        + "iperf Done.\n"
    )  # fmt: skip
    found = read(text)
    assert facts(found, "direction", "sent_byte_count", "received_byte_count", "omitted_s",
                 "retransmit_count", "partial") == [("download", 30, 20, 1, 4, False)]  # fmt: skip
    assert found.side.tolist() == ["receiver"] * 2
    assert found.omitted.tolist() == [True, False]


def test_streams_and_their_sum_of_iperf3():
    lines = [
        row(0, 1, 10, 80, "1   1.00 KBytes", "5"),
        row(0, 1, 20, 160, "2   1.00 KBytes", "7"),
        row(0, 1, 30, 240, "3", "SUM"),
        "- - - - -\n",
        RETR,
        row(0, 1, 11, 88, "1             sender", "5"),
        row(0, 1, 10, 80, "receiver", "5"),
        row(0, 1, 21, 168, "2             sender", "7"),
        row(0, 1, 20, 160, "receiver", "7"),
        row(0, 1, 40, 320, "3             sender", "SUM"),
        row(0, 1, 30, 240, "receiver", "SUM"),
    ]
    found = read(CLIENT + RETR + "".join(lines) + "iperf Done.\n")
    assert values(found.payload_bytes) == [10, 20], "a sum of streams is no row"
    assert facts(found, "sent_byte_count", "received_byte_count", "stream_count") == [(40, 30, 2)]
    bare = read(CLIENT + RETR + "".join(one for one in lines if "SUM" not in one) + "iperf Done.\n")
    assert facts(bare, "sent_byte_count", "received_byte_count", "sent_rate_bps", "duration_s",
                 "retransmit_count") == [(32, 30, 256, 1, 3)]  # fmt: skip


def test_datagrams_of_iperf3():
    total = "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n"
    text = (
        CLIENT + total + row(0, 1, 1000, 8000, "10") + "- - -\n" + DATAGRAMS
        + row(0, 1, 1000, 8000, "0.000 ms  0/10 (0%)  sender")
        + row(0, 1, 800, 6400, "0.250 ms  2/10 (20%)  receiver") + "iperf Done.\n"
    )  # fmt: skip
    found = read(text)
    assert values(found.datagram_count) == [10]
    names = ("protocol", "datagram_count", "lost_datagram_count", "loss_ratio", "jitter_s",
             "sent_byte_count", "received_byte_count")  # fmt: skip
    assert facts(found, *names) == [("udp", 10, 2, 0.2, 0.00025, 1000, 800)]
    odd = read(text.replace("2/10 (20%)", "12/10 (120%)"))
    assert noted(odd) == [implausible((8, "0.250 ms  12/10 (120%)"))]
    assert facts(odd, "lost_datagram_count", "loss_ratio") == [(None, None)]


def test_a_server_of_iperf3_and_several_runs():
    server = (
        "Server listening on 5201\nAccepted connection from 192.0.2.1, port 4\n" + PLAIN
        + row(0, 1, 10, 80) + row(0, 1, 0, 0, "sender") + row(0, 1, 10, 80, "receiver")
    )  # fmt: skip
    found = read(server)
    assert facts(found, "direction", "sent_byte_count", "received_byte_count", "partial") == [
        ("upload", None, 10, False),
    ]  # fmt: skip
    assert found.side.tolist() == ["receiver"]
    twice = read(server + server.partition("\n")[2])
    assert [one["group"] for one in twice.facts()] == ["run 1", "run 2"]
    assert twice.group.tolist() == ["run 1", "run 2"]


def test_a_client_of_iperf2():
    text = (
        "-----\nClient connecting to h, TCP port 5001\n"
        "TCP window size: 16.0 KByte (default)\n-----\n"
        "[  1] local 192.0.2.1 port 4 connected with 192.0.2.2 port 5001\n"
        "[ ID] Interval       Transfer     Bandwidth\n"
        "[  1] 0.0000-1.0000 sec  1000 Bytes  8000 bits/sec\n"
        "[  1] 1.0000-2.0000 sec  500 Bytes  4000 bits/sec\n"
    )
    total = "[  1] 0.0000-2.5000 sec  1500 Bytes  4800 bits/sec\n"
    found = read(text + total)
    assert values(found.payload_bytes) == [1000, 500]
    assert values(found.start_s) == [0, 1]
    assert facts(found, "direction", "sent_byte_count", "sent_rate_bps", "duration_s", "protocol",
                 "partial") == [("upload", 1500, 4800, 2.5, "tcp", False)]  # fmt: skip
    cut = read(text)
    assert facts(cut, "sent_byte_count", "duration_s", "partial") == [(1500, 2, True)]
    unread = read(text + total + "[  1] 0.0000-2.0000 sec  1,500 Bytes  6000 bits/sec\n")
    assert noted(unread) == [("iperf-lines-unread", {"numbers": [10]})]


IPERF2 = (
    "Client connecting to h, {} port 5001\n"
    "[  1] local 192.0.2.1 port 4 connected with 192.0.2.2 port 5001{}\n"
)


def test_an_enhanced_client_of_iperf2():
    found = read(
        IPERF2.format("TCP", "")
        + "[  2] local 192.0.2.1 port 6 connected with 192.0.2.2 port 5001\n"
        "[  1] 0.00-1.00 sec  100 Bytes  800 bits/sec  48/0  3  10K/2000(500) us  9\n"
        "[  2] 0.00-1.00 sec  200 Bytes  1600 bits/sec  48/0  5  -1K/-1(-1) us  9\n"
        "[SUM] 0.00-1.00 sec  300 Bytes  2400 bits/sec  96/0  8\n"
        "[  1] 1.00-2.00 sec  100 Bytes  800 bits/sec  48/0  0  20K/3000 us\n"
        "[  2] 1.00-2.00 sec  200 Bytes  1600 bits/sec  48/0  0\n"
        "[  1] 0.00-2.50 sec  200 Bytes  640 bits/sec  96/0  3  20K/3000 us\n"
        "[  2] 0.00-2.25 sec  400 Bytes  1422 bits/sec  96/0  5  20K/3000 us\n"
    )
    assert values(found.start_s) == [0, 0, 1, 1]
    assert found.stream.tolist() == ["1", "2", "1", "2"]
    assert values(found.retransmit_count) == [3, 5, 0, 0]
    assert values(found.cwnd_bytes) == [10 * KI, None, 20 * KI, None]
    assert values(found.rtt_s) == [0.002, None, 0.003, None]
    assert values(found.rttvar_s) == [0.0005, None, None, None]
    assert found.side.tolist() == ["sender"] * 4
    assert found.facts() == [{
        "target": "h", "protocol": "tcp", "direction": "upload", "stream_count": 2,
        "sent_byte_count": 600, "sent_rate_bps": 2062, "duration_s": 2.5, "retransmit_count": 8,
        "partial": False,
    }]  # fmt: skip
    assert noted(found) == []


def test_datagrams_of_an_iperf2_client():
    text = (
        IPERF2.format("UDP", "") + "[  1] 0.00-1.00 sec  100 Bytes  800 bits/sec\n"
        "[  1] 1.00-2.00 sec  100 Bytes  800 bits/sec\n"
        "[  1] 0.00-2.00 sec  200 Bytes  800 bits/sec\n"
        "[  1] Sent 21 datagrams\n"
    )
    report = "[  1] Server Report:\n[  1] 0.00-2.50 sec  180 Bytes  576 bits/sec  {}\n"
    found = read(text + report.format("0.250 ms 2/20 (10%)"))
    whole = {
        "target": "h", "protocol": "udp", "direction": "upload", "stream_count": 1,
        "sent_byte_count": 200, "sent_rate_bps": 800, "received_byte_count": 180,
        "received_rate_bps": 576, "duration_s": 2, "partial": False,
    }  # fmt: skip
    assert found.facts() == [whole | {
        "datagram_count": 20, "lost_datagram_count": 2, "loss_ratio": 0.1, "jitter_s": 0.00025,
    }]  # fmt: skip
    bare = read(text + report.format(""))
    assert bare.facts() == [whole | {"datagram_count": 21}]
    odd = read(text + report.format("-0.250 ms 30/20 (150%)"))
    assert facts(odd, "jitter_s", "lost_datagram_count", "datagram_count") == [(None, None, 20)]
    assert noted(odd) == [implausible((8, "-0.250 ms 30/20 (150%)"))]


def test_two_clients_of_iperf2_that_run_at_once_have_their_own_datagrams():
    """Of each line the number in brackets says whose it is, also behind the other's beginning."""
    text = IPERF2.format("UDP", "") + IPERF2.format("UDP", "").replace("[  1]", "[  2]")
    for stream, count in ((1, 21), (2, 33)):
        text += (
            f"[  {stream}] 0.00-1.00 sec  100 Bytes  800 bits/sec\n"
            f"[  {stream}] 1.00-2.00 sec  100 Bytes  800 bits/sec\n"
            f"[  {stream}] 0.00-2.00 sec  200 Bytes  800 bits/sec\n"
            f"[  {stream}] Sent {count} datagrams\n"
        )
    report = "[  {}] Server Report:\n[  {}] 0.00-2.50 sec  180 Bytes  576 bits/sec\n"
    found = read(text + report.format(1, 1) + report.format(2, 2))
    assert facts(found, "datagram_count") == [(21,), (33,)]


def test_both_ways_of_iperf2():
    """A second client's port, an asterisk and (reverse) each mean the way back."""
    line = "[{}] 0.00-1.00 sec  {} Bytes  {} bits/sec\n"
    dual = (
        "Server listening on TCP port 5002\n" + IPERF2.format("TCP", "")
        + "[  2] local 192.0.2.1 port 5002 connected with 192.0.2.2 port 7\n"
    )  # fmt: skip
    duplex = IPERF2.format("TCP", " (full-duplex)")
    for text, back in ((dual, "  2"), (duplex, " *1")):
        found = read(text + line.format("  1", 100, 800) + line.format(back, 200, 1600))
        names = ("group", "direction", "sent_byte_count", "received_byte_count", "protocol")
        assert facts(found, *names) == [
            ("upload", "upload", 100, None, "tcp"), ("download", "download", None, 200, "tcp"),
        ]  # fmt: skip
        assert found.side.tolist() == ["sender", "receiver"]
        assert found.group.tolist() == ["upload", "download"]
    assert found.stream.tolist() == ["1", "*1"]
    turned = read(IPERF2.format("TCP", " (reverse)") + line.format("  1", 100, 800))
    assert facts(turned, "direction", "received_byte_count") == [("download", 100)]


def test_servers_of_iperf2():
    line = "[{}] 0.00-1.00 sec  {} Bytes  {} bits/sec{}\n"
    server = "Server listening on {} port 5001\n"
    link = "[  {}] local 192.0.2.2 port 5001 connected with 192.0.2.{} port 4\n"
    found = read(server.format("UDP") + link.format(1, 8) + line.format("  1", 100, 800,
                                                                        "  0.5 ms 1/10 (10%)")
                 + link.format(2, 9) + line.format("  2", 200, 1600, ""))  # fmt: skip
    names = ("group", "direction", "received_byte_count", "sent_byte_count", "protocol",
             "lost_datagram_count", "datagram_count", "partial")  # fmt: skip
    assert facts(found, *names) == [
        ("run 1", "upload", 100, None, "udp", 1, 10, False),
        ("run 2", "upload", 200, None, "udp", None, None, False),
    ]  # fmt: skip
    assert found.side.tolist() == ["receiver"] * 2
    alone = read(link.format(1, 8) + line.format("  1", 100, 800, ""))
    assert facts(alone, "direction", "sent_byte_count", "protocol") == [("upload", 100, "tcp")]
    backwards = read(link.format(1, 8) + line.format("  1", 100, 800, "")
                     + "[  1] 2.00-1.50 sec  100 Bytes  800 bits/sec\n")  # fmt: skip
    assert noted(backwards) == [implausible((3, "2.00-1.50 sec  100 Bytes  800 bits/sec"))]
    assert len(backwards) == 1


def test_faults_that_iperf2_prints():
    fault = refused("Client connecting to h, TCP port 5001\nconnect failed: Connection refused\n")
    assert (fault.code, fault.values["message"]) == (
        "iperf-error-only", "connect failed: Connection refused")  # fmt: skip
    text = IPERF2.format("UDP", "") + "[  1] 0.00-1.00 sec  100 Bytes  800 bits/sec\n"
    warned = read(text + "WARNING: did not receive ack of last datagram after 10 tries.\n" * 2)
    assert noted(warned) == [("iperf-reported", {
        "messages": ["did not receive ack of last datagram after 10 tries."]})]  # fmt: skip
    assert refused("Client connecting to h, TCP port 5001\n").code == "iperf-nothing"


def stream(start, length, size, **more):
    return {
        "socket": 5,
        "start": start,
        "end": start + length,
        "seconds": length,
        "bytes": size,
        "bits_per_second": 8 * size / length,
        "omitted": False,
        "sender": True,
        **more,
    }


def total(length, size, **more):
    return {"seconds": length, "bytes": size, "bits_per_second": 8 * size / length, **more}


def iperf3(*streams, start=None, end=None, **more):
    test = {"protocol": "TCP", "num_streams": 1, "reverse": 0, "blksize": 700, "target_bitrate": 9}
    known = {"version": "iperf 3.9", "system_info": "Linux h", "connecting_to": {"host": "h"},
             "timestamp": {"timesecs": 1795348800}, "tcp_mss_default": 1448, "sndbuf_actual": 11,
             "rcvbuf_actual": 12, "test_start": {**test, **(start or {})}}  # fmt: skip
    intervals = [{"streams": [one], "sum": {"bytes": 1}} for one in streams]
    return {"start": known, "intervals": intervals, "end": end or {}, **more}


def json_of(*documents):
    return read("".join(json.dumps(one) + "\n" for one in documents))


ENDS = {
    "sum_sent": total(3, 3000, retransmits=4), "sum_received": total(4, 2800),
    "cpu_utilization_percent": {"host_total": 50, "remote_total": 25},
    "sender_tcp_congestion": "cubic",
    "streams": [{"sender": {"socket": 5, "min_rtt": 1000, "mean_rtt": 2000, "max_rtt": 4000,
                            "max_snd_cwnd": 77}}],
}  # fmt: skip


def test_json_of_iperf3():
    found = json_of(iperf3(
        stream(0, 1, 500, omitted=True), stream(0, 1, 1000, retransmits=3, snd_cwnd=99, rtt=1500,
                                                rttvar=500, pmtu=1500),
        stream(1, 2, 2000, retransmits=1, snd_cwnd=0, rtt=-1), end=ENDS,
    ))  # fmt: skip
    assert values(found.start_s) == [0, 0, 1]
    assert values(found.duration_s) == [1, 1, 2]
    assert values(found.payload_bytes) == [500, 1000, 2000]
    assert values(found.throughput_bps) == [4000, 8000, 8000]
    assert values(found.retransmit_count) == [None, 3, 1]
    assert values(found.cwnd_bytes) == [None, 99, None]
    assert values(found.rtt_s) == [None, 0.0015, None]
    assert values(found.rttvar_s) == [None, 0.0005, None]
    assert values(found.path_mtu_bytes) == [None, 1500, None]
    assert found.omitted.tolist() == [True, False, False]
    names = ("direction", "sent_byte_count", "sent_rate_bps", "received_byte_count",
             "received_rate_bps", "duration_s", "retransmit_count", "omitted_s",
             "congestion_control", "protocol", "stream_count", "target", "partial")  # fmt: skip
    assert facts(found, *names) == [
        ("upload", 3000, 8000, 2800, 5600, 3, 4, 1, "cubic", "tcp", 1, "h", False),
    ]  # fmt: skip
    known = found.meta
    assert (known.tool_version, known.host, known.target) == ("3.9", "Linux h", "h")
    assert known.start == "2026-11-22T12:00:00+00:00"
    assert known.printed == {
        "mss_bytes": 1448, "send_buffer_bytes": 11, "receive_buffer_bytes": 12, "write_bytes": 700,
        "asked_rate_bps": 9, "client_processor_ratio": 0.5, "server_processor_ratio": 0.25,
        "streams": [{"stream": 5, "rtt_min_s": 0.001, "rtt_avg_s": 0.002, "rtt_max_s": 0.004,
                     "cwnd_bytes": 77}],
    }  # fmt: skip
    assert noted(found) == []
    two = json_of(iperf3(stream(0, 1, 10), end=ENDS), iperf3(stream(0, 1, 20), end=ENDS))
    assert [one["group"] for one in two.facts()] == ["run 1", "run 2"]
    assert two.meta.printed == {}


def test_directions_of_iperf3_json():
    back = json_of(iperf3(stream(0, 1, 10, sender=False), start={"reverse": 1}, end=ENDS))
    assert (facts(back, "direction"), back.side.tolist()) == ([("download",)], ["receiver"])
    unsaid = json_of(iperf3(stream(0, 1, 10, sender=None), start={"reverse": 1}, end=ENDS))
    assert unsaid.side.tolist() == ["receiver"]
    server = iperf3(stream(0, 1, 10, sender=False), end={
        "sum_sent": total(1, 0), "sum_received": total(1, 10)})  # fmt: skip
    server["start"]["accepted_connection"] = {"host": "c"}
    found = json_of(server)
    assert facts(found, "direction", "sent_byte_count", "received_byte_count") == [
        ("upload", None, 10),
    ]  # fmt: skip
    both = json_of(
        iperf3(
            stream(0, 1, 10),
            stream(0, 1, 20, sender=False, socket=7),
            end={
                **ENDS,
                "sum_sent_bidir_reverse": total(1, 7),
                "sum_received_bidir_reverse": total(1, 5),
            },
        )
    )
    assert facts(both, "group", "sent_byte_count", "received_byte_count") == [
        ("upload", 3000, 2800), ("download", 7, 5),
    ]  # fmt: skip
    failed = json_of(iperf3(stream(0, 1, 10), end={"sum_sent": total(1, 10), "sum_received":
                            total(1, 0)}, error="interrupt"))  # fmt: skip
    assert facts(failed, "sent_byte_count", "received_byte_count", "partial") == [(10, None, True)]
    assert noted(failed) == [("iperf-reported", {"messages": ["interrupt"]})]
    fault = refused(json.dumps(iperf3(error="refused")) + "\n")
    assert (fault.code, fault.values.get("message", "refused")) == ("iperf-error-only", "refused")
    assert refused(json.dumps(iperf3()) + "\n").code == "iperf-nothing"


def test_odd_values_of_iperf3_json():
    odd = json_of(iperf3(
        stream(0, 1, 10), stream(0, 1, 10), stream(1, 1, -5), {"socket": 5, "bytes": 3},
        {"socket": 5, "start": 2, "end": 2.5, "bytes": 3}, end=ENDS,
    ))  # fmt: skip
    assert noted(odd) == [
        ("intervals-repeated", {"count": 1}),
        ("impossible-values", {"name": "bytes", "values": ["-5.0"]}),
        ("impossible-values", {"name": "bits_per_second", "values": ["-40.0"]}),
        ("impossible-values", {"name": "seconds", "values": ["None"]}),
    ]  # fmt: skip
    assert values(odd.payload_bytes) == [10, None, 3]
    assert values(odd.duration_s) == [1, 1, 0.5]
    text = json.dumps(iperf3(stream(0, 1, 10), end=ENDS)) + "\n"
    cut = read(text + text[:-20] + "\n")
    assert cut.meta.partial
    assert noted(cut)[0][0] == "iperf3-document-cut"
    beside = read("warning: x\n" + text)
    assert noted(beside) == [("text-beside-json", {"numbers": [1]})]
    behind = read(text + "done\n")
    assert noted(behind) == [("text-beside-json", {"numbers": [2]})]
    assert behind.meta.partial is False


def test_datagrams_of_iperf3_json():
    udp = {"protocol": "UDP"}
    rows = stream(0, 1, 1000, packets=10, lost_packets=2, jitter_ms=0.25)
    names = ("protocol", "sent_byte_count", "received_byte_count", "datagram_count",
             "lost_datagram_count", "loss_ratio", "jitter_s")  # fmt: skip
    both = total(1, 1000, packets=10, lost_packets=2, jitter_ms=0.5)
    new = json_of(iperf3(rows, start=udp, end={"sum": both, "sum_sent": total(1, 1000, packets=10),
                                               "sum_received": total(1, 800)}))  # fmt: skip
    assert facts(new, *names) == [("udp", 1000, 800, 10, 2, 0.2, 0.0005)]
    assert values(new.jitter_s) == [0.00025]
    assert values(new.lost_count) == [2]
    old = json_of(iperf3(rows, start=udp, end={"sum": both}))
    assert facts(old, *names) == [("udp", 1000, None, 10, 2, 0.2, 0.0005)]
    odd = json_of(iperf3({**rows, "lost_packets": 11}, start=udp, end={"sum": both}))
    assert noted(odd) == [("impossible-values", {"name": "lost_packets", "values": ["11"]})]
    every = json_of(iperf3({**rows, "lost_packets": 10}, start=udp, end={"sum": both}))
    assert (noted(every), values(every.lost_count)) == ([], [10])


def test_events_of_iperf3():
    whole = iperf3(stream(0, 1, 10), end=ENDS)
    events = [{"event": "start", "data": whole["start"]},
              {"event": "interval", "data": whole["intervals"][0]},
              {"event": "end", "data": whole["end"]}]  # fmt: skip
    found = json_of(*events)
    assert facts(found, "sent_byte_count", "partial") == [(3000, False)]
    assert values(found.payload_bytes) == [10]
    cut = json_of(*events[:2])
    assert facts(cut, "sent_byte_count", "partial") == [(10, True)]


def csv2(stream, interval, size, rate, *more, port=4):
    cells = ["20261122123550", "192.0.2.1", port, "192.0.2.2", 5001, stream, interval, size, rate]
    return ",".join(map(str, [*cells, *more])) + "\n"


def test_csv_of_iperf2():
    text = csv2(1, "0.0-1.0", 1000, 8000, port=40000) + csv2(1, "1.0-3.0", 500, 2000, port=40000)
    found = read(text + csv2(1, "0.0-3.5", 1500, 3428, port=40000))
    assert values(found.start_s) == [0, 1]
    assert values(found.duration_s) == [1, 2]
    assert values(found.payload_bytes) == [1000, 500]
    names = ("direction", "sent_byte_count", "sent_rate_bps", "duration_s", "protocol", "partial")
    assert facts(found, *names) == [("upload", 1500, 3428, 3.5, "tcp", False)]
    assert found.side.tolist() == ["sender"] * 2
    cut = read(text)
    assert facts(cut, *names) == [("upload", 1500, 4000, 3, "tcp", True)]
    assert noted(cut) in ([], [("iperf-csv-side", {})])
    single = read(csv2(1, "0.0-3.0", 1500, 4000, port=40000))
    assert facts(single, *names) == [("upload", 1500, 4000, 3, "tcp", False)]
    odd = read(text + csv2(1, "3.0-4.0", -1, 0, port=40000))
    assert implausible((3, "3.0-4.0,-1,0")) in noted(odd)
    assert values(odd.payload_bytes) == [1000, 500, None]
    zero = read(text + csv2(1, "3.0-4.0", 0, 0, port=40000))
    assert values(zero.payload_bytes) == [1000, 500, 0]
    assert "implausible-lines" not in [code for code, _ in noted(zero)]
    back = read(text + csv2(1, "4.0-3.0", 5, 40, port=40000))
    assert implausible((3, "4.0-3.0,5,40")) in noted(back)
    assert values(back.duration_s) == [1, 2, 0]
    still = read(text + csv2(1, "3.0-3.0", 5, 40, port=40000))
    assert "implausible-lines" not in [code for code, _ in noted(still)]
    twice = read(text + csv2(1, "0.0-3.0", 1500, 4000, port=40000) + text)
    assert [one["group"] for one in twice.facts()] == ["run 1", "run 2"]


def test_datagrams_of_iperf2_csv():
    text = csv2(3, "0.0-1.0", 1000, 8000, 0.25, 2, 10, 20.0, 0, port=40000)
    found = read(text + csv2(3, "0.0-1.0", 1000, 8000, 0.5, 2, 10, 20.0, 0, port=40000))
    names = ("protocol", "datagram_count", "lost_datagram_count", "jitter_s", "received_byte_count")
    assert facts(found, *names) == [("udp", 10, 2, 0.0005, 1000)]
    assert values(found.jitter_s) == [0.00025]
    odd = read(csv2(3, "0.0-1.0", 1000, 8000, 0.25, 11, 10, 110.0, 0, port=40000))
    assert implausible((1, "0.0-1.0,1000,8000,0.25,11,10,110.0,0")) in noted(odd)
    assert facts(odd, "lost_datagram_count") == [(None,)]
    for jitter, lost, count in ((0, 0, 10), (-1, 0, 10), (0, -1, 10), (0, 0, -1), (0, 1, -2)):
        one = read(text + csv2(3, "1.0-2.0", 9, 72, jitter, lost, count, 0.0, 0, port=40000))
        is_odd = jitter < 0 or (count != -1 and not 0 <= lost <= count)
        assert ("implausible-lines" in [code for code, _ in noted(one)]) == is_odd
        assert values(one.datagram_count)[1] == (None if count < 0 else count)
    every = read(csv2(3, "0.0-1.0", 1000, 8000, 0.25, 10, 10, 100.0, 0, port=40000))
    assert "implausible-lines" not in [code for code, _ in noted(every)]
    assert facts(every, "loss_ratio") == [(1,)]


def test_latencies_of_speed_tests():
    """Jitter and the latencies under load are in ms, the loss in percent."""
    ookla = {
        "type": "result", "packetLoss": 1.5,
        "ping": {"latency": 12.34, "jitter": 0.5, "low": 11.9, "high": 13},
        "download": {
            "bandwidth": 1000, "latency": {"iqm": 25, "low": 11, "high": 140, "jitter": 8},
        },
        "upload": {"bandwidth": 500, "latency": {"iqm": -1, "jitter": 18}}, "server": {"host": "h"},
    }  # fmt: skip
    names = ("group", "rtt_s", "rtt_min_s", "rtt_max_s", "jitter_s", "loss_ratio")
    found = read(json.dumps(ookla) + "\n")
    assert facts(found, *names) == [
        ("download", 0.025, 0.011, 0.140, 0.008, None),
        ("upload", None, None, None, None, None),
        ("ping", 0.01234, 0.0119, 0.013, 0.0005, 0.015),
    ]  # fmt: skip
    cli = {"download": 5.0, "upload": 1.0, "ping": 7, "jitter": 1.5}
    assert facts(read(json.dumps(cli) + "\n"), "rtt_s", "jitter_s")[-1] == (0.007, 0.0015)
    text = (
        "   Speedtest by Ookla\n"
        "Idle Latency:    12.34 ms   (jitter: 0.50ms, low: 11.90ms, high: 13.00ms)\n"
        "    Download:    93.71 Mbps (data used: 117.4 MB)\n"
        "                 25.10 ms   (jitter: 8.10ms, low: 11.00ms, high: 140.20ms)\n"
        "      Upload:    11.23 Mbps (data used: 14.7 MB)\n"
        "                 95.00 ms   (jitter: 18.10ms, low: 11.00ms, high: 340.20ms)\n"
        " Packet Loss:     2.0%\n"
    )
    assert facts(read(text), *names) == [
        ("download", 0.0251, 0.011, 0.1402, 0.0081, None),
        ("upload", 0.095, 0.011, 0.3402, 0.0181, None),
        ("ping", 0.01234, 0.0119, 0.013, 0.0005, 0.02),
    ]  # fmt: skip


def test_the_handshake_of_curl():
    """23.456 ms less 4.012 ms; not after a redirect, for a used connection, or with QUIC."""
    pairs = (
        "time_namelookup: {}\ntime_connect: {}\ntime_redirect: {}\ntime_total: 0.5\n"
        "size_download: 9\nspeed_download: 1\n"
    )
    assert facts(read(pairs.format(0.004012, 0.023456, 0)), "handshake_rtt_min_s") == [(0.019444,)]
    for given in ((0.004, 0.023, 0.1), (0.004, 0.004, 0), (0.004, 0, 0)):
        assert facts(read(pairs.format(*given)), "handshake_rtt_min_s") == [(None,)], given
    whole = {
        "time_namelookup": 0.004, "time_connect": 0.03, "time_total": 1, "size_download": 9,
        "speed_download": 1, "num_connects": 1, "num_redirects": 0, "http_version": "2",
    }  # fmt: skip
    assert facts(read(json.dumps(whole) + "\n"), "handshake_rtt_min_s") == [(0.026,)]
    for other in ({"num_connects": 0}, {"num_redirects": 1}, {"http_version": "3"}):
        assert facts(read(json.dumps(whole | other) + "\n"), "handshake_rtt_min_s") == [(None,)]
