"""Runs, streams and ends of transfers: which lines belong together; numbers by hand."""

from __future__ import annotations

import json
import math

from samples_seen import facts, noted, refused, values

from netcalc.readers import read
from netcalc.readers.transfers.iperf_text import looks_like_interval, number_of

MIB = 1024**2


def interval(start, length, size, **more):
    return {"streams": [{"socket": 5, "start": start, "seconds": length, "bytes": size,
                         "sender": True, **more}]}  # fmt: skip


def iperf3(*intervals, protocol="TCP"):
    start = {"test_start": {"protocol": protocol}}
    return json.dumps({"start": start, "intervals": intervals, "end": {}}) + "\n"


def test_intervals_of_iperf3_json_that_begin_late_or_have_no_length():
    names = ("sent_byte_count", "sent_rate_bps", "duration_s")
    late = read(iperf3(interval(1, 1, 10), interval(2, 2, 20)))
    assert facts(late, *names) == [(30, 80, 3)]
    still = read(iperf3(interval(0, 0, 10)))
    assert (values(still.duration_s), noted(still)) == ([0], [])
    assert facts(still, *names) == [(10, None, 0)]
    odd = read(iperf3(interval(0, 1, 10, packets=3, lost_packets=-1), protocol="UDP"))
    assert noted(odd) == [("impossible-values", {"name": "lost_packets", "values": ["-1"]})]
    assert values(odd.lost_count) == [None]


def test_parts_of_a_document_of_iperf3():
    """Each part makes a run; a document with none of them makes none."""
    mark = {"test_start": 1}
    total = {"sum_sent": {"bytes": 9, "seconds": 1, "bits_per_second": 72}}
    for part, size in (({"intervals": [interval(0, 1, 10)]}, 10), ({"end": total}, 9)):
        found = read(json.dumps(mark | part) + "\n")
        assert facts(found, "sent_byte_count", "direction") == [(size, "upload")]
    assert refused(json.dumps(mark | {"error": "x"}) + "\n").code == "iperf-error-only"
    assert refused(json.dumps(mark) + "\n").code == "iperf-nothing"
    other = read(json.dumps(mark | {"end": total}) + "\n" + json.dumps(mark) + "\n")
    assert facts(other, "group", "sent_byte_count") == [(None, 9)]


def test_lines_of_iperf_that_cannot_be_read():
    client = "Connecting to host h, port 5201\n"
    line = "[  5]   0.00-1.00   sec  {} Bytes  {} bits/sec\n"
    fault = refused(client + line.format("1,234", 80) + "\n" + line.format("1,234", 80))
    assert (fault.code, fault.line) == ("iperf-nothing", 2)
    assert looks_like_interval(" " * 181 + "[  5]  0.0-1.0 sec  x")
    assert not looks_like_interval(" " * 182 + "[  5]  0.0-1.0 sec  x")
    assert math.isnan(number_of("x"))
    for rate, known in (("0.4", 0.4), ("0.0014", 0.001)):
        assert values(read(client + line.format(10, rate)).throughput_bps) == [known]


CLIENT = "Client connecting to {}, TCP port 5001\n"
LINK = "[  {}] local 192.0.2.1 port {} connected with 192.0.2.{} port {}\n"


def row(stream, start, end, size, rest=""):
    return f"[  {stream}] {start:.2f}-{end:.2f} sec  {size} Bytes  {8 * size} bits/sec{rest}\n"


def test_runs_of_iperf2():
    client = CLIENT.format("h") + LINK.format(1, 4, 2, 5001) + row(1, 0, 0.5, 10)
    server = "Server listening on UDP port 5001\n"
    names = ("group", "direction", "protocol", "target", "sent_byte_count", "received_byte_count")
    both = read(client + server + LINK.format(2, 5001, 2, 4) + row(2, 0, 1, 20))
    assert facts(both, *names) == [
        ("run 1", "upload", "tcp", "h", 10, None), ("run 2", "upload", "udp", None, None, 20),
    ]  # fmt: skip
    assert values(both.duration_s) == [0.5, 1]
    three = server.replace("UDP", "TCP") + server + "".join(
        LINK.format(one, 5001, one, 4) + row(one, 0, 1, 10 * one) for one in (3, 4, 5)
    )  # fmt: skip
    assert facts(read(three), *names) == [
        (f"run {one - 2}", "upload", "udp", None, None, 10 * one) for one in (3, 4, 5)
    ]
    early = read(row(7, 0, 1, 5) + client)
    assert facts(early, *names) == [
        ("run 1", None, "tcp", None, 5, None), ("run 2", "upload", "tcp", "h", 10, None),
    ]  # fmt: skip
    lossy = read(LINK.format(1, 4, 2, 5001) + row(1, 0, 1, 10, "  0.5 ms 1/10 (10%)"))
    assert facts(lossy, "protocol", "sent_byte_count") == [("udp", 10)]
    two = read(client + client.replace("to h", "to i"))
    assert facts(two, *names) == [
        ("run 1", "upload", "tcp", "h", 10, None), ("run 2", "upload", "tcp", "i", 10, None),
    ]  # fmt: skip


def csv2(stream, span, size, *more, ports=(40000, 5001)):
    cells = ("20261122123550", "192.0.2.1", ports[0], "192.0.2.2", ports[1], stream, span, size,
             8 * size, *more)  # fmt: skip
    return ",".join(map(str, cells)) + "\n"


def test_streams_of_iperf2_csv():
    names = ("group", "direction", "sent_byte_count", "received_byte_count")
    summed = read(csv2(1, "0.0-1.0", 10) + csv2(-1, "0.0-1.0", 30) + csv2(2, "0.0-1.0", 20))
    assert facts(summed, *names, "stream_count") == [(None, "upload", 30, None, 2)]
    assert noted(summed) == [("iperf-csv-side", {})]
    same = read(csv2(1, "0.0-1.0", 10, ports=(5001, 5001)))
    assert facts(same, *names) == [(None, "upload", 10, None)]
    got = read(csv2(1, "0.0-1.0", 10, ports=(5001, 40000)))
    assert (facts(got, *names), noted(got)) == ([(None, "upload", None, 10)], [])
    both = read(csv2(1, "0.0-1.0", 10) + csv2(2, "0.0-1.0", 20, ports=(5001, 40000)))
    assert facts(both, *names) == [
        ("upload", "upload", 10, None), ("download", "download", None, 20),
    ]  # fmt: skip
    line = csv2(1, "{}", 10, 0.5, "{}", 9, 0.0, 0)
    lost = read(line.format("0.0-1.0", 0) + line.format("1.0-2.0", 9))
    assert (values(lost.lost_count), noted(lost)) == ([0, 9], [])
    none = read(csv2(1, "0.0-1.0", 10, 0.5, 0, 0, 0.0, 0))
    assert facts(none, "datagram_count", "lost_datagram_count", "loss_ratio") == [(0, 0, None)]


def test_runs_of_nuttcp():
    part = "    1.0000 MB /   {}.00 sec =    8.0000 Mbps     2 retrans\n"
    total = "    {}.0000 MB /   4.00 sec =    6.0000 Mbps 29 %TX 22 %RX 5 retrans 0.25 msRTT\n"
    two = part.format(1) + total.format(3) + "\n" + part.format(2) + total.format(5)
    found = read(two)
    names = ("group", "received_byte_count", "stream_count", "partial")
    assert facts(found, *names) == [
        ("run 1", 3 * MIB, None, False), ("run 2", 5 * MIB, None, False),
    ]  # fmt: skip
    assert (values(found.duration_s), found.group.tolist()) == ([1, 2], ["run 1", "run 2"])
    cut = read(two + part.format(3)[:20])
    assert (facts(cut, "partial"), cut.meta.partial) == ([(False,), (True,)], True)
    line = "nuttcp-{}: {}.0000 MB in 4.00 real seconds = 1.0 KB/sec = 4.0 Mbps\n"
    ends = read("".join(line.format(*one) for one in (("t", 2), ("r", 1), ("t", 4), ("r", 3))))
    assert facts(ends, "sent_byte_count", "received_byte_count", "partial") == [
        (2 * MIB, MIB, False), (4 * MIB, 3 * MIB, False),
    ]  # fmt: skip
    only = read(line.format("r", 1) + line.format("t", 2) + line.format("r", 3))
    assert facts(only, "sent_byte_count", "received_byte_count") == [
        (None, MIB), (2 * MIB, 3 * MIB),
    ]  # fmt: skip


def test_round_trips_of_nuttcp_are_those_of_handshakes():
    """msRTT in the total, or RTT in the line of the connection, with the MSS."""
    total = "    {}.0000 MB /   4.00 sec =    6.0000 Mbps 29 %TX 22 %RX 5 retrans {}\n"
    two = read(total.format(3, "0.25 msRTT") + total.format(5, ""))
    assert facts(two, "rtt_s") == [(0.25e-3,), (None,)]
    assert two.meta.printed == {"handshake_rtt_s": [0.25e-3]}
    connect = "nuttcp-t: connect to 192.0.2.1 with mss=1448{}\n"
    line = "nuttcp-{}: 1.0000 MB in 4.00 real seconds = 1.0 KB/sec = 2.1 Mbps\n"
    again = "nuttcp-t: retrans = 7\n"
    verbose = read(
        connect.format(", RTT=0.125 ms") + line.format("t") + again + line.format("r")
        + connect.format("") + line.format("t") + line.format("r")
    )  # fmt: skip
    assert facts(verbose, "rtt_s", "mss_bytes", "retransmit_count") == [
        (0.125e-3, 1448, 7), (None, 1448, None),
    ]  # fmt: skip


ROW = "131072  16384  16384    3.00      5.00"
STREAM = (
    "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to {} () port 0 AF_INET\n"
    "Recv   Send    Send\nSocket Socket  Message  Elapsed\n"
    "Size   Size    Size     Time     Throughput\n"
    "bytes  bytes   bytes    secs.    10^6bits/sec\n\n"
)
UDP = (
    "MIGRATED UDP STREAM TEST from 0.0.0.0 () port 0 AF_INET to h () port 0 AF_INET\n"
    "Socket  Message  Elapsed      Messages\n"
    "Size    Size     Time         Okay Errors   Throughput\n"
    "bytes   bytes    secs            #      #   10^6bits/sec\n\n"
    "212992    1000   10.00        {}      0       0.80\n{}"
)


def test_rows_of_netperf():
    assert read(STREAM.format("h") + ROW + " ").meta.partial is False
    other = STREAM.format("i") + ROW
    two = read(STREAM.format("h") + ROW + "\n" + other + "\nBye now, this is the end")
    assert facts(two, "group", "target", "partial") == [
        ("run 1", "h", False), ("run 2", "i", True),
    ]  # fmt: skip
    long = read(STREAM.format("x" * 400) + ROW + "\n").meta.target
    assert long == "x" * 197 + "..."
    names = ("duration_s", "datagram_count", "lost_datagram_count", "loss_ratio", "partial")
    none = read(UDP.format(0, "212992           10.00         0              0.72\n"))
    assert facts(none, *names) == [(10, 0, 0, None, False)]
    half = read(UDP.format(9, "212992           10.00         9\n"))
    assert facts(half, *names) == [(10, 9, None, None, True)]
    pairs = "THROUGHPUT={}\nTHROUGHPUT_UNITS=10^6bits/s\nLOCAL_TRANSPORT_RETRANS=0\n"
    zero = read(pairs.format(5) + pairs.format(0))
    assert facts(zero, "retransmit_count", "sent_rate_bps", "group") == [
        (0, 5e6, "run 1"), (0, 0, "run 2"),
    ]  # fmt: skip


def test_runs_of_netesto():
    head = "exp,expName,group,test,host,server,ca,cwnd,rtt,rate\n"
    rows = "{},basic,1,TCP_STREAM,c,s,cubic,83.5,10.2,9410.5\n"
    found = read(head + rows.format("x" * 400) + rows.format("y" * 20))
    assert facts(found, "group") == [
        ("run 1 exp " + "x" * 17 + "...",), ("run 2 exp " + "y" * 20,),
    ]  # fmt: skip


def test_round_trips_of_small_writes():
    found = read("".join(f"RTT:{one} ,receive:a\n" for one in (5, 3, 9)))
    assert facts(found, "rtt_min_s", "rtt_median_s", "rtt_max_s") == [(0.003, 0.005, 0.009)]


def test_a_rate_of_dd_may_be_rounded():
    line = "1000000 bytes (x) copied, 1 s, {} MB/s\n"
    for rate, seconds in (("0.92", 1), ("1.08", 1), ("1.12", None), ("0.84", None)):
        assert values(read(line.format(rate)).duration_s) == [seconds]
