"""Transfers whose file contradicts itself, or is a part: names used twice, totals, values, copies.

Expected numbers are read off the lines, which are in the forms of iperf3 (``iperf_locale.c``), of
iperf 2 (``Locale.c``) and of nuttcp.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from samples_seen import codes, facts

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
MIB = 1024**2
TWINS = (INPUTS / "iperf3_bidir_3.9.json").read_text()
NAMES = ("direction", "sent_byte_count", "received_byte_count", "retransmit_count")
BOTH = [("upload", 5_000_000, 4_900_000, 3), ("download", 2_600_000, 2_500_000, 8)]


def dumps(document):
    return json.dumps(document) + "\n"


def test_sums_of_one_name_are_those_of_no_direction():
    found = read(TWINS)
    assert facts(found, *NAMES) == BOTH
    assert codes(found) == [], "no sum is used, so none is lost"
    rates = facts(found, "sent_rate_bps", "received_rate_bps", "duration_s")
    assert rates[0] == pytest.approx((20e6, 4.9e6 * 8 / 2.05, 2.0))
    once = dumps(json.loads(TWINS))  # what jq leaves of the names
    assert facts(read(once), *NAMES) == BOTH


def test_streams_of_one_name_in_other_orders_and_without_flags():
    document = json.loads(TWINS)
    document["end"]["streams"].reverse()
    assert facts(read(dumps(document)), *NAMES) == BOTH
    for stream in document["end"]["streams"]:
        for part in stream.values():
            del part["sender"]
    assert facts(read(dumps(document)), *NAMES) == BOTH, "the intervals say who sent"
    del document["end"]["streams"]
    intervals = [("upload", 5_000_000, None, 3), ("download", None, 2_500_000, None)]
    assert facts(read(dumps(document)), *NAMES) == intervals


def test_sums_of_one_name_in_a_stream_of_events_and_at_a_server():
    document = json.loads(TWINS)
    events = [{"event": "start", "data": document["start"]}]
    events += [{"event": "interval", "data": part} for part in document["intervals"]]
    events += [{"event": "end", "data": document["end"]}]
    assert facts(read("\n".join(map(json.dumps, events)) + "\n"), *NAMES) == BOTH
    document["start"]["accepted_connection"] = document["start"].pop("connecting_to")
    for stream in (s for interval in document["intervals"] for s in interval["streams"]):
        stream["sender"] = not stream["sender"]
    for stream in document["end"]["streams"]:
        for part in stream.values():
            part["sender"] = not part["sender"]
        if not stream["sender"]["sender"]:
            stream["sender"]["bytes"] = 0  # the client's count never came
    names = NAMES[:3]
    assert facts(read(dumps(document)), *names) == [
        ("upload", None, 4_900_000), ("download", 2_600_000, 2_500_000),
    ]  # fmt: skip


def test_datagrams_both_ways_under_one_name():
    document = json.loads(TWINS)
    document["start"]["test_start"]["protocol"] = "UDP"
    losses = [(5_000_000, 3, 3400, True, 0.25), (2_600_000, 68, 1768, False, 0.5)]
    document["end"]["streams"] = [
        {"udp": {"socket": 5 if sends else 7, "seconds": 2.0, "bytes": size, "lost_packets": lost,
                 "bits_per_second": 4 * size, "jitter_ms": jitter, "packets": count,
                 "out_of_order": 2, "sender": sends}}
        for size, lost, count, sends, jitter in losses
    ]  # fmt: skip
    document["end"]["sum"] = document["end"]["streams"][1]["udp"]
    names = ("direction", "sent_byte_count", "received_byte_count", "lost_datagram_count",
             "datagram_count", "jitter_s", "out_of_order_count")  # fmt: skip
    assert facts(read(dumps(document)), *names) == [
        ("upload", 5_000_000, None, 3, 3400, 0.00025, None),
        ("download", 2_600_000, 2_500_000, 68, 1768, 0.0005, 2),
    ]


CLIENT = """\
Connecting to host 192.0.2.20, port 5201
{reverse}[  5] local 192.0.2.10 port 40010 connected to 192.0.2.20 port 5201
"""
REVERSE = "Reverse mode, remote host 192.0.2.20 is sending\n"
LOSSES = "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
TCP = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"


def line(start, end, size, rate, rest=""):
    return f"[  5]   {start}.00-{end}.00   sec  {size}  {rate}  {rest}\n"


OLD = (
    CLIENT.format(reverse=REVERSE) + LOSSES
    + line(0, 1, "12.2 MBytes", "102 Mbits/sec", "0.076 ms  7000/15700 (45%)")
    + line(1, 2, "12.2 MBytes", "102 Mbits/sec", "0.059 ms  7000/15700 (45%)")
    + "- - - - -\n" + LOSSES
    + line(0, 2, "44.0 MBytes", "185 Mbits/sec", "0.059 ms  14000/31400 (45%)")
    + "[  5] Sent 31400 datagrams\n\niperf Done.\n"
)  # fmt: skip


def test_the_only_total_of_datagrams_has_the_bytes_of_the_sender():
    found = read(OLD)
    names = ("direction", "sent_rate_bps", "received_byte_count", "lost_datagram_count",
             "datagram_count", "jitter_s", "partial")  # fmt: skip
    came = 2 * round(12.2 * MIB)
    assert facts(found, *names) == [("download", 185e6, came, 14000, 31400, 59e-6, False)]
    assert facts(found, "received_rate_bps") == [(pytest.approx(4 * came),)]
    assert codes(found) == ["udp-total-of-sender"]
    server = OLD.replace(REVERSE, "").replace(
        "Connecting to host 192.0.2.20, port 5201",
        "Accepted connection from 192.0.2.10, port 40009",
    )
    server = server.replace("44.0 MBytes  185 Mbits/sec", "0.00 Bytes  0.00 bits/sec")
    names = ("direction", "sent_byte_count", *names[2:5])
    assert facts(read(server), *names) == [("upload", None, came, 14000, 31400)]


def total(text):
    begin = CLIENT.format(reverse="") + TCP
    lines = "".join(
        line(n, n + 1, "10.0 MBytes", "83.9 Mbits/sec", "0   300 KBytes") for n in (0, 1, 2)
    )
    return begin + lines + "- - - -\n" + TCP + line(0, 3, *text, "0             sender") + (
        line(0, 3, "29.9 MBytes", "83.6 Mbits/sec", "receiver") + "\niperf Done.\n"
    )  # fmt: skip


def test_a_total_beside_its_own_intervals():
    names = ("sent_byte_count", "sent_rate_bps", "received_byte_count")
    right = read(total(("30.0 MBytes", "83.9 Mbits/sec")))
    assert (facts(right, *names), codes(right)) == ([(30 * MIB, 83.9e6, round(29.9 * MIB))], [])
    # 300 MBytes in 3 s are 839 Mbit/s: only the intervals show that it is ten times too much.
    wrong = read(total(("300 MBytes", "839 Mbits/sec")))
    assert facts(wrong, *names) == [(30 * MIB, 80 * MIB, round(29.9 * MIB))]
    assert [str(notice) for notice in wrong.meta.warnings] == [
        "the total of the sender, 300 MiB, contradicts its intervals, 30 MiB; bytes and rate are "
        "taken from the intervals"]  # fmt: skip
    # 30 MBytes in 3 s are 84 Mbit/s, not 8.39: one of the three numbers is wrong.
    odd = read(total(("30.0 MBytes", "8.39 Mbits/sec")))
    assert facts(odd, *names) == [(30 * MIB, 80 * MIB, round(29.9 * MIB))]
    assert [notice.values.get("numbers") for notice in odd.meta.warnings] == [[9]]


def test_totals_of_nuttcp_and_iperf_2_beside_their_intervals():
    nuttcp = "".join(
        f"   10.0000 MB /   1.00 sec =   83.8861 Mbps{' ' * 5}0 retrans\n" for _ in range(3)
    )
    end = " {} MB /   3.00 sec =  {} Mbps 1 %TX 2 %RX 0 retrans 0.25 msRTT\n"
    assert codes(read(nuttcp + end.format("30.0000", "83.8861"))) == []
    wrong = read(nuttcp + end.format("300.0000", "838.8608"))
    assert facts(wrong, "received_byte_count") == [(30 * MIB,)]
    assert codes(wrong) == ["total-contradicts-intervals"]
    iperf2 = (INPUTS / "iperf2_tcp.txt").read_text()
    body, last = iperf2.rstrip("\n").rsplit("\n", 1)
    assert codes(read(iperf2)) == []
    number = re.search(r"([\d.]+) MBytes +([\d.]+) Mbits", last)
    tenfold = last.replace(number[1], f"{10 * float(number[1]):.0f}").replace(
        number[2], f"{10 * float(number[2]):.0f}")  # fmt: skip
    assert codes(read(f"{body}\n{tenfold}\n")) == ["total-contradicts-intervals"]


def test_values_that_no_run_of_that_length_has():
    late = OLD.replace("0.076 ms", "611273000.000 ms")
    found = read(late)
    assert found.jitter_s.tolist() != found.jitter_s.tolist(), "nan"
    assert [str(notice) for notice in found.meta.warnings][1] == (
        "line 5: impossible values count as unknown: 'jitter_s 611273 s in a run of 2 s'"
    )
    document = json.loads(TWINS)
    first = document["intervals"][0]["streams"][0]
    first |= {"rtt": 4294967295, "snd_cwnd": 2**40}
    odd = read(dumps(document))
    assert [notice.values for notice in odd.meta.warnings] == [
        {"name": "rtt_s", "values": ["4294.967295 s in a run of 2.05 s"]},
        {"name": "cwnd_bytes", "values": ["1.099511627776 TB"]},
    ]
    assert odd.rtt_s.tolist()[1] == 0.009


OUT_OF_ORDER = "[{}] {}-{} sec  {} datagrams received out-of-order\n"
UDP = "[  5]   0.00-2.00   sec  2.50 MBytes  10.5 Mbits/sec  0.019 ms  0/1800 (0%)  {}\n"


def test_datagrams_out_of_order_are_a_fact():
    begin = CLIENT.format(reverse="") + LOSSES + UDP.format("sender")
    end = UDP.format("receiver") + "\niperf Done.\n"
    for lines, count in (
        (OUT_OF_ORDER.format("SUM", "0.0", " 2.0", 6), 6),
        (OUT_OF_ORDER.format("  5", "0.0", " 2.0", 6), 6),
        (OUT_OF_ORDER.format("SUM", "0.0", " 2.0", 6) * 2, 12),  # one for each stream
        (OUT_OF_ORDER.format("  5", "0.0", " 2.0", 4) + OUT_OF_ORDER.format("  7", "0.0", " 2.0", 3)
         + OUT_OF_ORDER.format("SUM", "0.0", " 2.0", 7), 7),
        ("", None),
    ):  # fmt: skip
        found = read(begin + lines + end)
        assert (facts(found, "out_of_order_count"), codes(found)) == ([(count,)], [])
    old = (INPUTS / "iperf2_udp.txt").read_text()
    stream = re.search(r"\[ +(\d+)\]", old)[0][1:-1]
    parts = [("0.0", "1.0", 2), ("1.0", "2.0", 3), ("0.0", "2.0", 5)]
    said = "".join(OUT_OF_ORDER.format(stream, *part) for part in parts)
    assert facts(read(old + said), "out_of_order_count") == [(5,)]


def test_exchanges_of_iperf_2_are_no_upload():
    found = read(INPUTS / "iperf2_bounceback.txt")
    assert found.facts() == [
        {"target": "192.0.2.25", "protocol": "tcp", "reply_count": 20, "rtt_min_s": 0.002102,
         "rtt_s": 0.002512, "rtt_max_s": 0.004301, "duration_s": 2, "counter:rps": 398,
         "partial": False}]  # fmt: skip
    assert codes(found) == [], "delays one way and histograms do no harm"
    assert found.data["reply_count"].tolist() == [10, 10]
    assert (found.data["request_bytes"][0], found.data["response_bytes"][0]) == (100, 200)
    old = (INPUTS / "iperf2_bounceback.txt").read_text()
    older = re.sub(r"Tx=\S+ Rx=\S+  RPS=(\d+)", r"  \1 rps", old)
    assert read(older).facts() == found.facts()
    cut = "\n".join(old.splitlines()[:12]) + "\n"
    assert facts(read(cut), "reply_count", "rtt_max_s", "rtt_s", "partial") == [
        (20, 0.004301, None, True)]  # fmt: skip


@pytest.mark.each("name", ["iperf3_tcp.txt", "iperf3_bidir.txt", "iperf3_server.txt",
                           "iperf2_tcp.txt", "iperf2_udp.txt", "iperf2_dual.txt",
                           "iperf3_tcp.json", "iperf3_stream.json"])  # fmt: skip
def test_a_file_that_was_pasted_twice_is_one_run(name):
    text = (INPUTS / name).read_text()
    once, twice = read(text), read(text + text)
    assert twice.facts() == once.facts()
    assert codes(twice) == [*codes(once), "runs-repeated"]


def test_runs_that_are_no_copies():
    text = (INPUTS / "iperf3_tcp.txt").read_text()
    port = re.search(r"port (\d+) connected", text)[1]
    assert len(read(text + text.replace(port, "40999")).facts()) == 2
    document = json.loads((INPUTS / "iperf3_tcp.json").read_text())
    other = json.loads(json.dumps(document))
    other["start"]["timestamp"]["timesecs"] += 60
    assert len(read(dumps(document) + dumps(other)).facts()) == 2


@pytest.mark.each("name", ["iperf3_tcp.txt", "iperf2_tcp.txt", "iperf2_udp.txt"])
def test_a_time_that_begins_again_is_another_run(name):
    lines = (INPUTS / name).read_text().splitlines(keepends=True)
    body = "".join(row for row in lines if not re.search("Connecting|Client| local ", row))
    rows = read(body + body).facts()
    assert [row["group"] for row in rows] == ["run 1", "run 2"]
    whole = read("".join(lines)).facts()[0]
    assert {row["sent_byte_count"] for row in rows} == {whole["sent_byte_count"]}


LOST = "0.015 ms  42130/84952 (50%)"
NO_HEAD = ("direction", "sent_byte_count", "received_byte_count", "lost_datagram_count", "partial")


@pytest.mark.each(("text", "expected"), [
    # Of intervals, only those of a receiver have losses; without a head nobody says to whom.
    (line(3, 4, "59.4 MBytes", "498 Mbits/sec", LOST), (None, None, 59.4, 42130, True)),
    ("[  5] local 192.0.2.1 port 40000 connected to 192.0.2.2 port 5201\n"
     + line(0, 1, "59.4 MBytes", "498 Mbits/sec", LOST), ("download", None, 59.4, 42130, True)),
    ("[  5] local 192.0.2.1 port 5201 connected to 192.0.2.2 port 40000\n"
     + line(0, 1, "59.4 MBytes", "498 Mbits/sec", LOST), ("upload", None, 59.4, 42130, True)),
    # The tail of a summary of 3.7 and later.
    (line(0, 10, "640 MBytes", "537 Mbits/sec", "0.000 ms  0/424760 (0%)  sender")
     + line(0, 10, "320 MBytes", "268 Mbits/sec", "0.012 ms  212000/424760 (50%)  receiver"),
     (None, 640, 320, 212000, True)),
    ("[SUM]   0.00-10.00  sec  1.00 GBytes   859 Mbits/sec  123             sender\n",
     (None, 1024, None, None, True)),
])  # fmt: skip
def test_lines_of_iperf3_without_their_head(text, expected):
    direction, sent, received, lost, partial = expected
    counts = [None if size is None else round(size * MIB) for size in (sent, received)]
    assert facts(read(text), *NO_HEAD)[0][:4] == (direction, *counts, lost)
    assert read(text).meta.partial or not partial or "sender" in text


def test_lines_of_iperf_2_without_their_head():
    total = read("[SUM]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n")
    names = ("direction", "sent_rate_bps", "stream_count")
    assert facts(total, *names) == [(None, 941e6, None)]
    lost = read("[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.022 ms    3/  893 (0.34%)\n")
    names = ("direction", "sent_rate_bps", "received_rate_bps", "lost_datagram_count")
    assert facts(lost, *names) == [(None, None, 1.05e6, 3)]
    back = read("[ *1] 0.0000-1.0000 sec  6.00 MBytes  50.3 Mbits/sec\n")
    assert facts(back, "direction", "received_rate_bps") == [(None, 50.3e6)]


def test_a_number_that_may_be_cut_is_not_read():
    text = (
        CLIENT.format(reverse="")
        + TCP
        + line(0, 1, "10.0 MBytes", "83.9 Mbits/sec", "1   300 KBytes")
    )
    for rest, retransmits in (("    12   300 KBytes", 12), ("    12 ", 12), ("    1", None)):
        last = line(1, 2, "10.0 MBytes", "83.9 Mbits/sec").rstrip() + rest
        found = read(text + last)
        assert found.retransmit_count.tolist()[1:] == [retransmits] or retransmits is None
        assert len(found.retransmit_count) == 2
        assert (found.retransmit_count.tolist()[1] == 1) is False


@pytest.mark.each(("text", "tool", "missing"), [
    ("[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n- - -\niperf Done.\n",
     "iperf3", "a time in sec"),
    ("TCP window size:  128 KByte (default)\n-----\n-----\n", "iperf 2", "a time in sec"),
    ("[  3] WARNING: did not receive ack of last datagram after 10 tries.\n"
     "[  3] Sent 893 datagrams\n", "iperf 2", "a time in sec"),
    ("20261120100001.000,192.0.2.2,52952,192.0.2.9,5001,1,0.0,1.0,11750000,94000000,90,0,3\n" * 2,
     "iperf 2", "the line that names the fields"),
    ("LOCAL_CONG_CONTROL=cubic\nLOCAL_TRANSPORT_RETRANS=12\n", "netperf", "THROUGHPUT_UNITS"),
    ("    loc_cpus_used  =  199 % cpus\n    time  =  1 sec\n", "qperf", "bw or latency"),
    ("  1650K .......... .......... .......... .......... .......... 87%  498M 0s\n" * 2, "wget",
     "the bytes"),
])  # fmt: skip
def test_lines_without_a_measurement_are_named(text, tool, missing):
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == "part-of-output"
    assert tool in str(refused.value)
    assert missing in str(refused.value)


def test_tables_of_netperf_and_lines_of_qperf_without_their_head():
    udp = read("bytes   bytes    secs            #      #   10^6bits/sec\n\n"
               "212992    1472   10.00      100000      0     117.76\n")  # fmt: skip
    assert facts(udp, "datagram_count", "sent_rate_bps", "partial") == [(100000, 117.76e6, True)]
    exchanges = read("bytes  Bytes  bytes    bytes   secs.    per sec   \n\n"
                     "16384  131072 1        1       10.00    28533.43   \n")  # fmt: skip
    assert facts(exchanges, "counter:Trans. Rate") == [(28533.43,)]
    latency = read("    latency   =  93.4 us\n    msg_size  =     1 bytes\n")
    assert facts(latency, "rtt_s", "protocol", "partial") == [
        (pytest.approx(186.8e-6), None, True)]  # fmt: skip


def test_a_total_of_netperf_beside_its_interim_results():
    text = (INPUTS / "netperf_interim.txt").read_text()
    assert codes(read(text)) == []
    wrong = read(text.replace("773.00", "77.30"))
    assert codes(wrong) == ["total-contradicts-intervals"]
    assert facts(wrong, "sent_rate_bps")[0][0] == pytest.approx(773e6, rel=0.03)


def test_a_rate_that_is_not_the_bytes_in_the_time():
    document = json.loads(TWINS)
    document["intervals"][0]["streams"][0]["bits_per_second"] = 2e10  # 2.5 MB in 1 s are 20 Mbit/s
    found = read(dumps(document))
    assert [notice.values for notice in found.meta.warnings] == [
        {"name": "throughput_bps", "values": ["20 Gbit/s (payload) of 2.5 MB in 1 s"]}]  # fmt: skip
    assert found.throughput_bps.tolist()[1] == 2e7
    assert facts(found, "sent_byte_count")[0] == (5_000_000,)


def test_impossible_exchanges_and_losses_of_iperf_2():
    text = (INPUTS / "iperf2_bounceback.txt").read_text()
    found = read(text.replace("10=2.612/2.202/4.301/0.490", "10=2.612/2.202/430100.000/0.490"))
    assert codes(found) == ["implausible-lines"]
    assert found.data["reply_count"].tolist() == [10]
    fields = (INPUTS / "iperf2_fields_udp.csv").read_text()
    lost = read(fields.replace(",2,90,2.222,", ",200,90,222.2,"))
    assert [notice.values for notice in lost.meta.warnings] == [
        {"numbers": [2], "values": ["200/90"]}]  # fmt: skip
