"""Transfers in detail: each unit, limit, end and mark by itself; numbers by hand from the texts."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from samples_seen import facts, implausible, noted, refused, values

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "transfers"
LONG = "x" * 400


def lines_of(*documents):
    return "".join(json.dumps(one) + "\n" for one in documents)


def manifest():
    with (INPUTS / "MANIFEST.csv").open(encoding="utf-8", newline="") as stream:
        return [(row["file"], row["format"]) for row in csv.DictReader(stream)]


CLOCKS = {
    "speedtest": "seconds since the start of each direction",
    "speedtest_cli_log.csv": "seconds since the start of the first run",  # it has their times
    "ndt7": "seconds since the start of each direction",
    "FlowMonitor": "seconds of the simulation",
    "ntttcp XML": "seconds since the start of the run",
    "iperf3 JSON": "seconds since the start of the run",
    "iperf3 text": "seconds since the start of the run",
    "iperf 2": "seconds since the start of the run",
    "iperf 2 CSV": "seconds since the start of the run",
    "iperf 2 enhanced CSV": "seconds since the start of the run",
}
TOOLS = {
    "FlowMonitor": "ns-3 FlowMonitor", "ntttcp XML": "ntttcp", "iperf3 JSON": "iperf3",
    "iperf3 text": "iperf3", "iperf 2 CSV": "iperf 2",
    "iperf 2 enhanced CSV": "iperf 2", "ndt7": "ndt7", "qperf": "qperf", "curl": "curl",
    "wget": "wget", "scp": "scp", "dd": "dd", "rsync": "rsync",
}  # fmt: skip


@pytest.mark.each(("file", "name"), manifest())
def test_a_recorded_file_says_where_it_is_from(file, name):
    path = INPUTS / file
    assert sniff(path) == name
    known = read(path).meta
    assert (known.source, known.sha256) == (file, hashlib.sha256(path.read_bytes()).hexdigest())
    assert known.tool == TOOLS.get(name, known.tool)
    assert known.clock == CLOCKS.get(file, CLOCKS.get(name, known.clock))
    assert read(path.read_bytes()).meta.source == "", "bytes have no name"


OOKLA = {"type": "result", "timestamp": "2026-11-22T12:00:00Z",
         "download": {"bandwidth": 1000, "bytes": 5000, "elapsed": 4000},
         "upload": {}, "ping": {}, "server": {"host": "h"}}  # fmt: skip
CURL = {"time_total": 0.5, "size_download": 5, "speed_download": 10}
FLOW = {
    "flowId": "1", "timeFirstTxPacket": "+1s", "timeLastTxPacket": "+3s",
    "timeFirstRxPacket": "+2s", "timeLastRxPacket": "+4s", "delaySum": "+2s",
    "jitterSum": "+3s", "txBytes": "4000", "rxBytes": "3000", "txPackets": "5",
    "rxPackets": "4", "lostPackets": "1",
}  # fmt: skip


def flowmon(flow_id="1", address="192.0.2.1", port="5", **more):
    flow = " ".join(
        f'{name}="{value}"' for name, value in {**FLOW, **more, "flowId": flow_id}.items()
    )
    return (
        f"<FlowMonitor>\n<FlowStats>\n<Flow {flow}></Flow>\n</FlowStats>\n<Ipv4FlowClassifier>"
        f'<Flow flowId="{flow_id}" sourceAddress="{address}" destinationAddress="192.0.2.2" '
        f'protocol="6" sourcePort="{port}" destinationPort="6" /></Ipv4FlowClassifier>\n'
        "</FlowMonitor>\n"
    )


FIELDS = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,"
SENT = FIELDS + "writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar\n"
GOT = FIELDS + "jitter,errors,datagrams,errpercent,outoforder,readcnt,readtimeo,readerrlen,pps\n"


def sent(stream, start, end, size, *more, host="h"):
    more = more or (3, 2, 5, 2000, 500)
    retries, cwnd, other, rtt, rttvar = more
    cells = (1, "192.0.2.1", 4, host, 5001, stream, start, end, size, 8 * size, 9, 0,
             retries, cwnd, other, rtt, rttvar)  # fmt: skip
    return ",".join(map(str, cells)) + "\n"


def got(stream, start, end, size, jitter, lost, count):
    cells = (1, "192.0.2.1", 4, "h", 5001, stream, start, end, size, 8 * size,
             jitter, lost, count, 0, 0, 9, 0, 0, 9)  # fmt: skip
    return ",".join(map(str, cells)) + "\n"


IPERF3 = {"start": {"test_start": {"protocol": "TCP"}}, "intervals": [{"streams": [
    {"socket": 5, "start": 0, "end": 1, "seconds": 1, "bytes": 10, "bits_per_second": 80,
     "sender": True}]}], "end": {}}  # fmt: skip


def iperf3(start=None, **more):
    return lines_of({**IPERF3, "start": {**IPERF3["start"], **(start or {})}, **more})


CLIENT = "Connecting to host {}, port 5201\n"
ROW = "[  5]   0.00-1.00   sec  10 Bytes  80 bits/sec\n"
IPERF2 = "Client connecting to {}, TCP port 5001\n"
NTTTCP = (
    '<ntttcps computername="{host}" version="{version}">\n<thread index="{index}">'
    '<realtime metric="s">2.5</realtime><throughput metric="mbps">8.0</throughput></thread>\n'
    '<realtime metric="s">2.0</realtime>\n<throughput metric="mbps">8.0</throughput>\n'
    '<total_bytes metric="MB">2.0</total_bytes>\n</ntttcps>\n'
)


def ntttcp(host="h", version="1", index="0"):
    return NTTTCP.format(host=host, version=version, index=index)


def flent(**metadata):
    document = json.loads((INPUTS / "flent_4.json").read_text())
    changed = {**document, "metadata": {**document["metadata"], **metadata}}
    return read(json.dumps(changed) + "\n").meta


SHORTENED = {
    "speedtest server": (100, lambda: read(
        lines_of({**OOKLA, "server": {"host": LONG}})).meta.target),
    "speedtest start": (40, lambda: read(lines_of({**OOKLA, "timestamp": LONG})).meta.start),
    "ndt7 server": (100, lambda: read(lines_of(
        {"Key": "connected", "Value": {"Server": LONG}}, measured("download", "client", 9, 9),
    )).meta.target),
    "curl": (150, lambda: read(lines_of({**CURL, "url_effective": LONG})).meta.target),
    "wget": (150, lambda: read(
        f"--2026-11-22 13:10:54--  {LONG}\n2026-11-22 13:10:54 (2 B/s) - 'f' saved [5/5]\n"
    ).meta.target),
    "wget -nv": (150, lambda: read(
        f'2026-11-22 13:10:54 URL:{LONG} [3/7] -> "c" [1]\n').meta.target),
    "scp": (100, lambda: read(f"{LONG} 100% 7KB 1.0KB/s 00:07\n").meta.target),
    "end of a flow": (80, lambda: read(flowmon(address=LONG))["local"][0]),
    "iperf 2 CSV": (100, lambda: read(SENT + sent(1, 0, 1, 9, host=LONG)).meta.target),
    "host of iperf3": (200, lambda: read(iperf3({"system_info": LONG})).meta.host),
    "error of iperf3": (100, lambda: noted(read(iperf3(error=LONG)))[0][1]["messages"][0]),
    "error alone of iperf3": (120, lambda: refused(
        iperf3(error=LONG, intervals=[])).values["message"]),
    "target of iperf3": (200, lambda: read(iperf3({"connecting_to": {"host": LONG}})).meta.target),
    "version of iperf3": (40, lambda: read(iperf3({"version": LONG})).meta.tool_version),
    "error of iperf3 text": (100, lambda: refused(
        CLIENT.format("h") + f"iperf3: {LONG}\n").values["message"]),
    "error of iperf 2": (100, lambda: refused(
        IPERF2.format("h") + f"WARNING: did not receive ack{LONG}\n").values["message"]),
    "version of flent": (40, lambda: flent(FLENT_VERSION=LONG).tool_version),
    "host of flent": (100, lambda: flent(LOCAL_HOST=LONG).host),
    "target of flent": (100, lambda: flent(HOST=LONG).target),
    "title of flent": (200, lambda: flent(TITLE=LONG).note),
    "thread of ntttcp": (20, lambda: read(ntttcp(index=LONG)).stream[0]),
    "host of ntttcp": (100, lambda: read(ntttcp(host=LONG)).meta.host),
    "version of ntttcp": (40, lambda: read(ntttcp(version=LONG)).meta.tool_version),
}  # fmt: skip


@pytest.mark.each("what", SHORTENED)
def test_a_long_text_is_shortened(what):
    limit, shown = SHORTENED[what]
    text = shown()
    assert (len(text), text[-4:]) == (limit, "x...")


def test_a_long_name_of_a_flow_is_shortened():
    assert read(flowmon(flow_id=LONG))["group"][0] == "flow " + "x" * 32 + "..."
    assert refused(flowmon(flow_id=LONG, txBytes="-")).values["flow"] == "x" * 17 + "..."


def test_flent_starts_at_a_time_of_utc():
    assert flent(T0="2026-11-22T12:00:00Z").start == "2026-11-22T12:00:00Z"
    assert flent(T0="2026-11-22T12:00:00").start == ""


# speed tests


def test_results_and_progress_of_a_speed_test():
    progress = {"type": "download", "download": {"bandwidth": 7, "bytes": 7, "elapsed": 7}}
    begin = {"type": "testStart", "timestamp": "2026-11-22T11:59:59Z"}
    found = read(lines_of(begin, progress, OOKLA))
    assert values(found.throughput_bps) == [8000]
    assert values(found.start_s) == [0]
    assert values(found.duration_s) == [4]
    assert values(found.payload_bytes) == [5000]
    assert found.group.tolist() == ["download"]
    assert facts(found, "group", "partial") == [("download", False)]
    assert (found.meta.partial, found.meta.start) == (False, "2026-11-22T12:00:00Z")
    later = {**OOKLA, "timestamp": "2026-11-23T12:00:00Z", "server": {"name": "n"}}
    two = read(lines_of(OOKLA, later))
    assert (two.meta.start, two.meta.target) == ("2026-11-22T12:00:00Z", "h")
    assert read(lines_of(later)).meta.target == "n"
    cut = read(lines_of(OOKLA, later) + '{"type": "result", "download"')
    assert facts(cut, "group", "partial") == [("run 1 download", False), ("run 2 download", True)]
    assert cut.meta.partial
    begun = '{"type": "testStart", "bandwidth": 1}\n{"type":'
    assert (sniff(begun), refused(begun).code) == ("speedtest", "json-cut-short")
    whole = '{"type": "testStart", "bandwidth": 1}\n'
    assert (sniff(whole), refused(whole).code) == ("speedtest", "speedtest-nothing")
    listed = read(json.dumps([OOKLA, later]) + "\n")
    assert facts(listed, "group") == [("run 1 download",), ("run 2 download",)]


def test_odd_results_of_a_speed_test():
    names = ("group", "rtt_s", "printed_loss_ratio", "partial")
    for lost, ratio in ((0, 0), (100, 1), (-1, None), (100.5, None)):
        found = read(lines_of({**OOKLA, "ping": {"latency": 0}, "packetLoss": lost}))
        assert facts(found, *names)[1] == ("ping", 0, ratio, False)
    none = read(lines_of({**OOKLA, "ping": {"latency": -1}}))
    assert facts(none, "group") == [("download",)]
    cli = {"download": 2e4, "upload": -1, "ping": 7, "bytes_received": 1}
    assert refused(lines_of({**cli, "download": 0.5})).code == "speedtest-unit"
    assert facts(read(lines_of(cli)), "group", "received_byte_count", "received_rate_bps") == [
        ("download", 1, 2e4), ("ping", None, None),
    ]  # fmt: skip
    zero = read(lines_of({**cli, "download": 0}))
    assert facts(zero, "group", "received_rate_bps") == [("download", 0), ("ping", None)]
    libre = read(lines_of({**cli, "download": 0.005, "jitter": 1}))
    assert facts(libre, "received_rate_bps", "rtt_s") == [(5000, None), (None, 0.007)]
    text = '{"download": "2e4", "upload": 1, "ping": 7}\n'
    assert (sniff(text), refused(text).code) == ("speedtest", "speedtest-nothing")
    for name in ("download", "upload", "ping"):
        less = {key: value for key, value in cli.items() if key != name}
        assert sniff(lines_of(less)) == "JSON"
    assert sniff('{"type": "testStart"}\n') == sniff('{"bandwidth": 1, "type": "x"}\n') == "JSON"


def test_lines_of_a_speed_test():
    found = read("Download: 2 Kbit/s\nUpload: 1 byte/s\n")
    assert facts(found, "received_rate_bps", "sent_rate_bps", "partial") == [
        (2000, None, False), (None, 8, False),
    ]  # fmt: skip
    assert (found.meta.partial, found.meta.tool) == (False, "speedtest")
    assert found.side.tolist() == ["receiver", "sender"]
    sizes = read("Download: 1 bps (data used: 2 B)\nUpload: 1 bps (data used: 3 KB)\nPing: 8 ms\n")
    assert facts(sizes, "received_byte_count", "sent_byte_count", "rtt_s", "partial") == [
        (2, None, None, False), (None, 3000, None, False), (None, None, 0.008, False),
    ]  # fmt: skip
    cut = read("Download: 2 Kbit/s\nUpload: 1 bit/s\nDownload: 3 Kbit")
    assert facts(cut, "received_rate_bps", "sent_rate_bps", "partial") == [
        (2000, None, False), (None, 1, True),
    ]  # fmt: skip
    assert cut.meta.partial
    for mark in ("Upload: x", "Latency: 3 ms", "Idle Latency: 3 ms", "Hosted by x", "Ping: 3 ms"):
        assert sniff(f"Download: 2 Kbit/s\n{mark}\n") == "speedtest"
        assert sniff(f"{mark}\n") != "speedtest"
    assert sniff("Download: 2 Kbit/s\n") != "speedtest"


# ndt7


def measured(test, origin, size, time_us, **tcp):
    app = {"NumBytes": size, "ElapsedTime": time_us}
    return {"Key": "measurement", "Value": {
        "Test": test, "Origin": origin, "AppInfo": app, "TCPInfo": tcp}}  # fmt: skip


def complete(test):
    return {"Key": "complete", "Value": {"Test": test}}


def test_two_directions_of_ndt7():
    text = lines_of(
        measured("download", "client", 0, 100_000), measured("download", "client", 1000, 500_000),
        complete("download"),
        measured("upload", "client", 3000, 1_000_000),
        measured("upload", "server", -1, -1, BytesReceived=2000, BytesAcked=7, ElapsedTime=2e6,
                 RTT=20_000, RTTVar=500, SndCwnd=10, SndMSS=1400, BytesSent=9),
        complete("upload"),
    )  # fmt: skip
    found = read(text)
    assert found.group.tolist() == ["download"] * 2 + ["upload"] * 2
    assert found.side.tolist() == ["receiver"] * 2 + ["sender", "receiver"]
    assert values(found.start_s) == [0, 0.1, 0, 0]
    assert values(found.duration_s) == pytest.approx([0.1, 0.4, 1, 2])
    assert values(found.payload_bytes) == [0, 1000, 3000, 2000]
    assert values(found.throughput_bps) == [0, 20_000, 24_000, 8_000]
    assert values(found.rttvar_s) == [None] * 3 + [0.0005]
    names = ("group", "direction", "protocol", "sent_byte_count", "received_byte_count",
             "duration_s", "rtt_s", "mss_bytes", "bytes_acked", "partial")  # fmt: skip
    assert facts(found, *names) == [
        ("download", "download", "tcp", None, 1000, 0.5, None, None, None, False),
        ("upload", "upload", "tcp", 3000, 2000, 1, 0.02, 1400, 7, False),
    ]  # fmt: skip
    assert (found.meta.partial, noted(found)) == (False, [])
    cut = read(text + '{"Key": "meas')
    assert facts(cut, "partial") == [(False,), (True,)]
    assert noted(cut) == [("ndt7-cut", {"line": 7})]
    none = read(lines_of(measured("upload", "server", -1, 0, BytesReceived=0, ElapsedTime=5e5)))
    assert (values(none.payload_bytes), values(none.duration_s)) == ([0], [0.5])
    half = read(lines_of(measured("download", "client", 9, 9), complete("upload")))
    assert facts(half, "group", "partial") == [(None, True)]


def test_odd_measurements_of_ndt7():
    found = read(lines_of(
        measured("download", "client", 0, 0), measured("download", "client", 500, 1000),
        measured("download", "client", 600, 900), measured("download", "client", 600, 800),
        measured("download", "client", 500, 2000), measured("other", "client", 500, 2000),
        {"Key": "measurement", "Value": {"Test": "download", "Origin": "client"}},
        {"Key": "error", "Value": {"Test": "download"}}, 7,
    ))  # fmt: skip
    assert values(found.payload_bytes) == [500, 0], "time that goes back has no row"
    assert values(found.duration_s) == pytest.approx([0.001, 0.001])
    assert noted(found) == [("implausible-values", {"count": 2, "name": "ElapsedTime"})]
    assert refused(lines_of({"Key": "starting", "Value": {"Test": "download"}})).code == (
        "ndt7-nothing"
    )
    assert refused(lines_of({"Key": "starting", "Value": {}}) + "{").code == "json-cut-short"


def test_documents_of_a_server_of_ndt7():
    def row(size, time_us):
        return {"AppInfo": {"NumBytes": size, "ElapsedTime": time_us}}

    found = read(lines_of({
        "Download": {"ServerMeasurements": [row(4000, 1_000_000)],
                     "ClientMeasurements": [row(3000, 1_000_000), row(2000, 500_000)],
                     "EndTime": "x"},
        "Upload": {"ClientMeasurements": [row(500, 1_000_000)]},
    }))  # fmt: skip
    assert values(found.payload_bytes) == [4000, 3000, 500]
    assert found.side.tolist() == ["sender", "receiver", "sender"]
    names = ("direction", "sent_byte_count", "received_byte_count", "partial")
    assert facts(found, *names) == [
        ("download", 4000, 3000, False), ("upload", 500, None, True),
    ]  # fmt: skip
    assert found.meta.partial
    assert noted(found) == [("implausible-values", {"count": 1, "name": "ElapsedTime"})]


def test_rows_of_a_query_of_ndt7():
    for loss, ratio in ((0, 0), (1, 1), (1.01, None), (-0.01, None)):
        mean = {"MeanThroughputMbps": 2, "MinRTT": 20, "LossRate": loss, "CongestionControl": "bbr"}
        found = read(lines_of({"a": mean, "raw": {"Download": {"x": 1}}}, {"a": mean}))
        names = (
            "group",
            "received_rate_bps",
            "printed_loss_ratio",
            "congestion_control",
            "partial",
        )
        assert facts(found, *names) == [
            ("download 1", 2e6, ratio, "bbr", False), ("row 2", 2e6, ratio, "bbr", False),
        ]  # fmt: skip
    assert facts(found, "direction", "rtt_min_s") == [("download", 0.02), (None, 0.02)]


def test_the_summary_of_a_client_of_ndt7():
    summary = {
        "ServerFQDN": "h", "Download": {
            "Throughput": {"Value": 2.5, "Unit": "Mbit/s"}, "Latency": {"Value": 7, "Unit": "ms"},
            "Odd": {"Value": "7", "Unit": "ms"}, "Bare": {"Value": 7}},
        "Upload": {"Throughput": {"Value": 3, "Unit": "kbit/s"}},
    }  # fmt: skip
    found = read(lines_of(measured("download", "client", 1000, 1_000_000), summary,
                          {"ServerFQDN": "i"}, '{"MinRTT"}'))  # fmt: skip
    assert found.meta.target == "h"
    assert found.meta.printed == {
        "Download.Throughput": {"Value": 2.5, "Unit": "Mbit/s"},
        "Download.Latency": {"Value": 7, "Unit": "ms"},
        "Upload.Throughput": {"Value": 3, "Unit": "kbit/s"},
    }  # fmt: skip
    assert facts(found, "direction", "received_rate_bps", "partial") == [
        ("download", 8000, False),
    ], "what was measured comes before the summary"  # fmt: skip
    zero = {"Download": {"Value": 0, "Unit": "Mbit/s"}, "MinRTT": {"Value": 7, "Unit": "ms"}}
    assert facts(read(lines_of(zero)), "received_rate_bps") == [(0,)]
    server = read(lines_of(measured("download", "server", 1000, 1_000_000), summary))
    assert facts(server, "sent_rate_bps", "received_rate_bps") == [(8000, 2.5e6)]


@pytest.mark.each(
    ("text", "name"),
    [('{"Key": "x", "Value": {}}', "ndt7"), ('{"Key": "x"}', "JSON"), ('{"Value": {}}', "JSON"),
     ('{"AppInfo": {}}', "ndt7"), ('{"TCPInfo": {}}', "ndt7"), ('{"a": {"MinRTT": 1}}', "ndt7"),
     ('{"a": {"MeanThroughputMbps": 1}}', "ndt7"), ('{"Download": {"ServerMeasurements": []}}',
     "ndt7"), ('{"Upload": {"ServerMeasurements": []}}', "ndt7"), ('{"Download": {}}', "JSON"),
     ('{"a": 1}', "JSON"), ('{"x": {"TCPInfo": 1}}', "JSON")],
)  # fmt: skip
def test_ndt7_is_known_by_its_names(text, name):
    assert sniff(text + "\n") == name


# curl, wget, scp, ntttcp


METER = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"


def meter(share, got, put, down, up):
    return f"{share} 9 1 {got} 1 {put} {down} {up} --:--:-- 0:00:01 --:--:-- 5\n"


def test_odd_transfers_of_curl():
    names = ("direction", "sent_byte_count", "received_byte_count", "partial")
    same = read(METER + meter(100, 7, 7, 1, 1))
    assert facts(same, *names) == [("download", None, 7, False)]
    assert facts(read(METER + meter(100, 7, "1k", 1, 1)), *names) == [("upload", 1024, None, False)]
    assert facts(read(METER + meter(98, 7, 7, 1, 1)), *names) == [("download", None, 7, True)]
    last = read(METER + meter(50, 3, 0, 1, 1) + meter(100, 7, 0, 1, 1))
    assert facts(last, *names) == [("download", None, 7, False)]
    assert values(last.duration_s) == [None]
    ended = read(METER + meter(100, 7, 0, 1, 1) + METER)
    assert facts(ended, *names) == [("download", None, 7, False)]
    assert (ended.meta.partial, ended.failed.tolist()) == (False, [False])
    names = ("direction", "sent_byte_count", "received_byte_count", "duration_s", "target")
    same = read(lines_of({**CURL, "size_upload": 5, "url": "u"}))
    assert facts(same, *names) == [("download", None, 5, 0.5, "u")]
    up = read(lines_of({**CURL, "size_upload": 6, "speed_upload": 2, "time_total": 0}))
    assert facts(up, *names) == [("upload", 6, None, None, None)]
    assert facts(up, "sent_rate_bps", "partial") == [(16, False)]
    assert up.meta.partial is False
    first = {"url_effective": "e", "url": "u", **CURL}
    assert facts(read(lines_of(first, 7)), "target", "group") == [("e", None)]
    late = read(lines_of({**CURL, "exitcode": 1}))
    assert (late.failed.tolist(), late.meta.partial) == ([True], True)
    cut = read(lines_of(CURL, CURL) + "{")
    assert (cut.meta.partial, facts(cut, "partial")) == (True, [(False,), (True,)])
    pair = "size_download: 5\nspeed_download: 7\ntime_total: 0.5\n"
    two = read(pair + pair)
    assert facts(two, "received_rate_bps", "duration_s", "partial") == [(56, 0.5, False)] * 2
    assert (two.meta.partial, two.failed.tolist()) == (False, [False, False])
    assert read(pair + pair + "time_total: 0.7").meta.partial
    for less in ("time_total", "size_download", "speed_download"):
        document = {name: value for name, value in CURL.items() if name != less}
        assert sniff(lines_of(document)) == "JSON"
    assert sniff("time_total = 3\n") == sniff(METER) == "curl"
    assert sniff("time_totals: 3\n") != "curl"


def test_facts_of_copies_begin_with_what_was_copied():
    first = ["target", "direction", "duration_s"]
    last = ["partial", "received_byte_count", "received_rate_bps"]
    (row,) = read(INPUTS / "wget.txt").facts()
    assert list(row) == [*first, *last]
    (row,) = read(INPUTS / "curl_variables.txt").facts()
    assert list(row) == ["direction", "duration_s", *last]
    (row,) = read(INPUTS / "dd_bsd.txt").facts()
    assert list(row) == ["duration_s", "partial", "sent_byte_count", "sent_rate_bps"]


def test_odd_transfers_of_wget():
    start = "--2026-11-22 13:10:54--  http://h/{}\n"
    end = "2026-11-22 13:10:54 (2 B/s) - {}\n"
    broken = end.format("Connection closed at byte 40. Retrying.")
    names = ("received_byte_count", "received_rate_bps", "duration_s", "partial")
    found = read(start.format("a") + broken)
    assert facts(found, *names) == [(40, 16, None, False)]
    more = end.format("Read error at byte 40/100 (x). Retrying.")
    assert facts(read(start.format("a") + more), *names) == [(40, 16, None, True)]
    bars = {"f 100%[==>] 1.9M 1.0M/s in 2m 3s": 123, "f [ <=> ] 1.9M 1.0M/s in 0,5s": 0.5,
            "f 100%[==>] 1.9M 1.0M/s in 123456m 0s": 123456 * 60,
            "f 99%[==>] 1.9M 1.0M/s in 7s": None, "1900K 100% 700M=0.004s": 0.004}  # fmt: skip
    for bar, seconds in bars.items():
        one = read(start.format("a") + bar + "\n" + end.format("'f' saved [5/5]"))
        assert values(one.duration_s) == [seconds], bar
        assert (one.meta.partial, facts(one, "partial")) == (False, [(False,)])
    quiet = read(start.format("a") + '2026-11-22 13:10:54 URL:http://h/c [3/3] -> "c" [1]\n')
    assert (quiet.meta.partial, quiet.failed.tolist()) == (False, [False])
    assert facts(quiet, "target", "received_byte_count") == [("http://h/c", 3)]
    assert sniff(end.format("'f' saved [5/5]")) == "wget"
    assert sniff("2026-11-22 13:10:54 URL: x\n") == "wget"
    assert sniff("2026-11-22 13:10:54 x\n") != "wget"


def test_lines_of_rsync():
    """The time is (sent + received) / rate - 0.5 s, in whole seconds; by hand."""
    line = "sent {} bytes  received {} bytes  {} bytes/sec\n"
    for sent, received, rate, byte_count, seconds in (
        ("7.017.773.274", "1.588.112", "36.275.769,44", 7017773274, 193),
        ("120", "35", "13.48", 120, 11),
        ("1,234", "42", "2,552.00", 1234, None),
        ("2.98G", "81.34K", "2.83M", 2.98e9, 1053),
    ):
        run = read(line.format(sent, received, rate))
        assert (values(run.payload_bytes), values(run.duration_s)) == ([byte_count], [seconds])
    with pytest.raises(ReaderError, match="no transfer finished"):
        read(line.format("734,182,514", "35", "1,562,716.52"))
    files = read(
        "    734,003,200 100%   11.14MB/s    0:01:02 (xfr#1, to-chk=1/2)\n"
        "      8,640 100%   31.25kB/s    0:00:00 (xfr#2, to-chk=0/2)\n"
    )
    assert (values(files.payload_bytes), values(files.duration_s)) == (
        [734003200, 8640],
        [62, None],
    )
    assert facts(files, "sent_rate_bps")[0] == (pytest.approx(11.14 * 1024**2 * 8),)
    assert files.meta.partial
    with pytest.raises(ReaderError, match="only a part of the output of rsync"):
        read(
            "sending incremental file list\nbig.iso\n     82,837,504  11%   79.00MB/s    0:00:07\n"
        )


def test_scp_that_stalls_or_ends():
    line = "f {}% 7KB 1.0KB/s {}\n"
    for share, time, seconds, failed in (
        (100, "01:02", 62, False), (100, "00:05 ETA", None, True), (99, "00:05", None, True),
        (100, "--:--", None, False), (100, "01:02 - stalled -", 62, False),
    ):  # fmt: skip
        one = read(line.format(share, time))
        assert (values(one.duration_s), one.failed.tolist()) == ([seconds], [failed])
        assert facts(one, "direction", "sent_rate_bps") == [(None, 8192)]
    again = read(line.format(50, "00:05 ETA") + line.format(100, "00:05"))
    assert (values(again.duration_s), again.meta.partial) == ([5], False)


def test_numbers_of_ntttcp():
    """2 MB in 2 s at 8 Mbit/s: powers of 1000; at 8.388608 Mbit/s they are powers of 1024."""
    found = read(ntttcp())
    assert facts(found, "sent_byte_count", "sent_rate_bps", "duration_s") == [(2_000_000, 8e6, 2)]
    assert (values(found.start_s), values(found.duration_s)) == ([0], [2.5])
    assert values(found.throughput_bps) == [8e6]
    assert found.stream.tolist() == ["0"]
    windows = ntttcp().replace(">8.0<", ">8.388608<")
    assert facts(read(windows), "sent_byte_count") == [(2 * 1024**2,)]
    for rate, fits in ((8.01, True), (7.99, True), (8.02, False), (7.98, False)):
        text = ntttcp().replace(">8.0<", f">{rate}<")
        if fits:
            assert facts(read(text), "sent_byte_count") == [(2_000_000,)]
        else:
            assert refused(text).code == "ntttcp-disagrees"
    unsaid = ntttcp().replace("total_bytes", "other")
    assert facts(read(unsaid), "sent_byte_count", "sent_rate_bps") == [(None, 8e6)]
    thread = ntttcp()[ntttcp().index("<thread") : ntttcp().index("</thread>") + len("</thread>")]
    bare = read(ntttcp().replace(thread, ""))
    assert (values(bare.start_s), values(bare.duration_s)) == ([0], [2])
    assert (values(bare.payload_bytes), values(bare.throughput_bps)) == ([2_000_000], [8e6])
    assert bare.side.tolist() == ["sender"]
    for damage in ((">2.0</realtime", ">0</realtime"), ('"s">2.0', '"m">2.0')):
        assert refused(ntttcp().replace(*damage)).code == "ntttcp-nothing"
    text = ntttcp().replace('<throughput metric="mbps">8.0</throughput>\n', "")
    assert refused(text).code == "ntttcp-nothing"
    short = ntttcp().replace(">2.0</realtime", ">0.5</realtime").replace(">8.0<", ">32.0<")
    assert facts(read(short), "duration_s", "sent_byte_count") == [(0.5, 2_000_000)]
    no_time = read(ntttcp().replace('"s">2.5', '"m">2.5'))
    assert values(no_time.duration_s) == [2]
    counted = read(ntttcp().replace("</ntttcps>", (
        "<packets_sent>11</packets_sent><packets_received>12</packets_received>"
        "<packets_retransmitted>13</packets_retransmitted><errors>2</errors>"
        '<cpu metric="%">50</cpu><bufferLen>65536</bufferLen></ntttcps>')))  # fmt: skip
    assert counted.meta.printed == {
        "system_packets_sent": 11, "system_packets_received": 12,
        "system_packets_retransmitted": 13, "errors": 2, "system_processor_ratio": 0.5,
        "write_bytes": 65536,
    }  # fmt: skip
    fault = refused(ntttcp().replace(">2.0</total", ">2,0</total"))
    assert (fault.code, fault.field, fault.unit, fault.values["value"]) == (
        "ntttcp-number", "total_bytes", "MB", "2,0")  # fmt: skip
    assert refused(ntttcp().replace("ntttcps", "ntttcprs")).code
    grew = read(ntttcp())
    assert grew.meta.partial is False


# qperf, FlowMonitor


def test_units_of_qperf():
    rates = {"2 b/sec": 2, "2 Kb/sec": 2e3, "2 Mb/sec": 2e6, "2 Gb/sec": 2e9, "2 Tb/sec": 2e12,
             "2 bytes/sec": 16, "2 Bytes/sec": 16, "2 x/sec": None, "2 KB/sec": 16e3,
             "2.5 MB/sec": 20e6, "2 bits/sec": 2}  # fmt: skip
    for rate, bits in rates.items():
        found = read(f"tcp_bw:\n    bw  =  {rate}\nudp_bw:\n    send_bw  =  1 b/sec\n")
        expected = [(bits, None)] if bits else []
        assert facts(found, "received_rate_bps", "sent_rate_bps") == [*expected, (None, 1)], rate
        assert found.meta.partial is (bits is None)
    for time, seconds in (("2 ns", 2e-9), ("2 us", 2e-6), ("2 ms", 0.002), ("2 sec", 2)):
        found = read(f"tcp_lat:\n    latency  =  {time}\n    time  =  {time}\n")
        assert found["one_way_latency_s"].tolist() == pytest.approx([seconds])
        assert found["duration_s"].tolist() == pytest.approx([seconds])
        assert facts(found, "rtt_s", "duration_s") == [pytest.approx((2 * seconds, seconds))]


def test_tests_and_other_lines_of_qperf():
    text = (
        "    noise  =  1\n\ntcp_bw:\n    bw  =  2 Kb/sec\n    msg_size  =  64 KiB (65,536)\n"
        "    loc_cpus_used  =  199 % cpus\nwhat\nconf:\n    loc_node  =  x\njunk\n"
        "tcp_lat:\n    latency  =  500 ns\n    time  =  x\n    msg_size  =  x\n"
        "udp_lat:\n    latency  =  x\nsctp_bw:\n    recv_bw  =  3 b/sec\n    send_bw  =  x\n"
        "tcp_lat:\n    latency  =  1 sec\n    msg_size  =  1 bytes\n"
    )
    found = read(text)
    assert noted(found) == [("qperf-lines-unread", {"numbers": [1, 7, 13, 14, 16, 19]})]
    assert found.meta.partial, "udp_lat has no result"
    assert found["group"].tolist() == ["tcp_bw", "tcp_lat 1", "sctp_bw", "tcp_lat 2"]
    assert found["test"].tolist() == ["tcp_bw", "tcp_lat", "sctp_bw", "tcp_lat"]
    assert found["protocol"].tolist() == ["tcp", "tcp", "sctp", "tcp"]
    assert values(found["message_bytes"]) == [65536, None, None, 1]
    names = ("group", "protocol", "direction", "received_rate_bps", "partial")
    assert facts(found, *names) == [
        ("tcp_bw", "tcp", "upload", 2000, False), ("tcp_lat 1", "tcp", None, None, False),
        ("sctp_bw", "sctp", "upload", 3, False), ("tcp_lat 2", "tcp", None, None, False),
    ]  # fmt: skip
    assert found.meta.units == {
        "group": "text", "test": "text", "protocol": "text", "sent_rate_bps": "bit/s",
        "received_rate_bps": "bit/s", "one_way_latency_s": "s", "message_bytes": "byte",
        "duration_s": "s",
    }  # fmt: skip
    assert found.meta.layers == dict.fromkeys(
        ("sent_rate_bps", "received_rate_bps", "message_bytes"), "application"
    )
    whole = "tcp_bw:\n    bw  =  2 Kb/sec\n"
    assert (read(whole).meta.partial, noted(read(whole))) == (False, [])
    assert read(whole + "    time  =  2").meta.partial
    error = refused("tcp_bw:\n    bw  =  2 K\nquit:\n")
    assert error.code == "qperf-nothing"
    assert sniff("tcp_bw:\n    time  =  2 sec\n") != "qperf"
    assert sniff("x:\n    bw  =  2 Kb/sec\n") != "qperf"


def test_columns_and_names_of_flowmonitor():
    found = read(flowmon())
    assert found.meta.layers == {"sent_bytes": "IP", "received_bytes": "IP"}
    text, second, one, byte = "text", "s", "1", "byte"
    assert found.meta.units == {
        "group": text, "protocol": text, "local": text, "peer": text, "first_sent_s": second,
        "last_sent_s": second, "first_received_s": second, "last_received_s": second,
        "packet_count": one, "received_count": one, "lost_count": one, "sent_bytes": byte,
        "received_bytes": byte, "one_way_s": second, "jitter_s": second,
    }  # fmt: skip
    assert facts(found, "group", "protocol", "target", "sent_count", "jitter_s") == [
        ("flow 1", "tcp", "192.0.2.2:6", 5, 1),
    ]  # fmt: skip
    assert found["local"].tolist() == ["192.0.2.1:5"]
    assert read(flowmon(port=""))["local"].tolist() == ["192.0.2.1"]
    none = read(flowmon().replace("<Ipv4FlowClassifier>", "<X>").replace("</Ipv4Flow", "</X><Y")
                .replace("YClassifier>", "Y/>"))  # fmt: skip
    assert (none["local"].tolist(), none["protocol"].tolist(), noted(none)) == ([""], [""], [])
    every = read(flowmon(lostPackets="5", rxPackets="2"))
    assert facts(every, "loss_ratio", "received_count", "jitter_s") == [(1, 2, 3)]
    still = read(flowmon(timeLastRxPacket="+2s", timeLastTxPacket="+1s"))
    assert facts(still, "sent_rate_bps", "received_rate_bps", "sent_byte_count") == [
        (None, None, 4000),
    ]  # fmt: skip
    assert read(flowmon(timeFirstTxPacket="+0s"))["first_sent_s"].tolist() == [0]
    for odd in ("+1e999s", "x", ""):
        fault = refused(flowmon(jitterSum=odd))
        assert (fault.code, fault.field, fault.values["value"]) == (
            "flowmon-value",
            "jitterSum",
            odd,
        )
    assert refused("<X><FlowMonitor><FlowStats><Flow/></FlowStats></FlowMonitor></X>\n").code == (
        "flowmon-nothing"
    )


def test_too_many_flows_are_refused(monkeypatch):
    from netcalc.readers.transfers import testbeds as reader

    flow = flowmon().splitlines()[2]
    two = flowmon().replace(flow, flow + flow)
    monkeypatch.setattr(reader, "_MOST", 2)
    assert read(two)["group"].tolist() == ["flow 1"] * 2
    monkeypatch.setattr(reader, "_MOST", 1)
    fault = refused(two)
    assert (fault.code, fault.values["count"], fault.values["limit"]) == ("flowmon-too-many", 2, 1)


# enhanced lines of commas of iperf 2


def test_streams_and_runs_of_an_enhanced_csv():
    text = (
        "noise\n1,2\n" + SENT + "more\n\n" + sent(1, 0, 1, 10) + sent(2, 0, 1, 20)
        + sent(-1, 0, 1, 30) + sent(1, 1, 3, 30, -1, -1, 5, 1, -1) + sent(2, 1, 0.5, 40)
        + sent(1, 0, 3, 40) + sent(2, 0, 3.5, 60)
        + sent(1, 0, 1, 5, 9, 8, 7, 0, 5, host="i") + sent(1, 1, 2, 6, host="i")
    )  # fmt: skip
    found = read(text)
    assert noted(found) == [("not-lines-of-iperf", {"numbers": [1, 2, 4]})]
    assert found.stream.tolist() == ["1", "1", "2", "2", "1", "1"]
    assert values(found.start_s) == [0, 1, 0, 1, 0, 1]
    assert values(found.duration_s) == [1, 2, 1, 0, 1, 1], "an end before its start has no length"
    assert values(found.payload_bytes) == [10, 30, 20, 40, 5, 6]
    assert values(found.throughput_bps) == [80, 240, 160, 320, 40, 48]
    assert values(found.retransmit_count) == [3, None, 3, 3, None, 3]
    assert values(found.cwnd_bytes) == [2048, None, 2048, 2048, None, 2048]
    assert values(found.rtt_s) == [0.002, 1e-6, 0.002, 0.002, None, 0.002]
    assert values(found.rttvar_s) == [0.0005, None, 0.0005, 0.0005, None, 0.0005]
    assert values(found.jitter_s) == values(found.datagram_count) == [None] * 6
    assert found.side.tolist() == ["sender"] * 6
    assert found.group.tolist() == ["run 1"] * 4 + ["run 2"] * 2
    names = ("group", "target", "protocol", "direction", "stream_count", "sent_byte_count",
             "sent_rate_bps", "duration_s", "retransmit_count", "partial")  # fmt: skip
    assert facts(found, *names) == [
        ("run 1", "h", "tcp", "upload", 2, 100, 800, 3.5, 6, False),
        ("run 2", "i", "tcp", "upload", 1, 11, 44, 2, None, True),
    ]  # fmt: skip
    assert (found.meta.target, found.meta.partial) == ("h, i", True)


def test_totals_of_an_enhanced_csv():
    names = ("sent_byte_count", "retransmit_count", "partial")
    lone = read(SENT + sent(1, 0, 1, 10))
    assert (facts(lone, *names), lone.meta.partial) == ([(10, 3, False)], False)
    unsaid = read(SENT + sent(1, 0, 1, 10) + sent(1, 1, 2, 10) + sent(1, 0, 2, 20, 0, 0, 0, 0, 0))
    assert facts(unsaid, *names) == [(20, 6, False)], "the sum of what its intervals say"
    said = read(SENT + sent(1, 0, 1, 10) + sent(1, 1, 2, 10) + sent(1, 0, 2, 20, 7, 1, 1, 1, 1))
    assert facts(said, *names) == [(20, 7, False)]
    cut = read(SENT + sent(1, 0, 1, 10) + sent(1, 1, 2, 10) + sent(1, 0, 2, 20) + "1,2")
    assert (facts(cut, *names), cut.meta.partial) == ([(20, 3, True)], True)
    headers = read(SENT + sent(1, 0, 1, 10) + GOT + got(1, 0, 1, 8, 0.25, 2, 10))
    assert facts(headers, "protocol", "sent_byte_count", "received_byte_count") == [
        ("tcp", 10, None), ("udp", None, 8),
    ]  # fmt: skip
    assert refused(SENT).code == "iperf-nothing"
    fault = refused(SENT + "1,2\n")
    assert (fault.code, fault.line, fault.values["count"], fault.values["wanted"]) == (
        "iperf-csv-fields", 2, 2, 17)  # fmt: skip
    assert fault.values["value"] == "1,2"
    fault = refused(SENT + sent(1, 0, 1, 10) + sent(1, 1, "x", 10))
    assert (fault.code, fault.line, fault.field, fault.values["value"]) == (
        "iperf-csv-number", 3, "iend", "x")  # fmt: skip


def test_datagrams_of_an_enhanced_csv():
    found = read(GOT + got(1, 0, 1, 0, 0, 10, 10) + got(1, 1, 2, 8, 0.25, 11, 10)
                 + got(1, 0, 2, 8, 0.5, 3, 20))  # fmt: skip
    assert values(found.payload_bytes) == [0, 8]
    assert values(found.jitter_s) == [0, 0.00025]
    assert values(found.lost_count) == [10, None]
    assert values(found.datagram_count) == [10, 10]
    assert found.side.tolist() == ["receiver"] * 2
    names = ("protocol", "received_byte_count", "sent_byte_count", "lost_datagram_count",
             "datagram_count", "jitter_s", "partial")  # fmt: skip
    assert facts(found, *names) == [("udp", 8, None, 3, 20, 0.0005, False)]
    sender = GOT.replace("readcnt", "writecnt") + got(1, 0, 1, 8, 0.25, 2, 10)
    found = read(sender)
    assert values(found.jitter_s) == values(found.lost_count) == [None]
    assert facts(found, "protocol", "sent_byte_count", "datagram_count") == [("udp", 8, 10)]


# iperf3


RETR = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
PLAIN = "[ ID] Interval           Transfer     Bitrate\n"
DATAGRAMS = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
TOTALS = "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n"
LINK = "[  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n"
LISTEN = "Server listening on 5201\n"
ACCEPT = "Accepted connection from 192.0.2.1, port 4\n"
STOPPED = "iperf3: interrupt - the {} has terminated\n"


def row(start, end, size, rest="", stream="5"):
    return (
        f"[{stream:>3}]   {start:.2f}-{end:.2f}   sec  {size} Bytes  {8 * size} bits/sec  {rest}\n"
    )


@pytest.mark.each("mark", [CLIENT.format("h"), LISTEN, ACCEPT, LINK])
def test_iperf3_is_known_by_a_line(mark):
    assert sniff(mark) == sniff("12:00:00 " + mark) == "iperf3 text"
    assert sniff(json.dumps({"x": mark}) + "\n") == "JSON"
    assert sniff("x" * 61 + mark) != "iperf3 text"


def test_ends_of_a_client_of_iperf3():
    begin = CLIENT.format("h") + LINK + RETR + row(0, 1, 10, "2   3.00 KBytes")
    sender, receiver = row(0, 1, 10, "2 sender  "), row(0, 1, 9, "receiver")
    names = ("sent_byte_count", "received_byte_count", "partial")
    for text, expected in (
        (begin, (10, None, True)), (begin + sender, (10, None, True)),
        (begin + sender + "iperf Done.\n", (10, None, False)),
        (begin + receiver, (10, 9, True)), (begin + receiver + "iperf Done.\n", (10, 9, False)),
        (begin + sender + receiver, (10, 9, False)),
        (begin + STOPPED.format("client") + sender + row(0, 1, 0, "receiver"), (10, None, True)),
        # Without its last line it may have been interrupted, with it all was lost.
        (begin + sender + row(0, 1, 0, "receiver"), (10, None, True)),
        (begin + sender + row(0, 1, 0, "receiver") + "iperf Done.\n", (10, 0, False)),
        (begin + STOPPED.format("client") + row(0, 1, 0, "sender") + receiver, (0, 9, True)),
        (begin + STOPPED.format("server") + sender + receiver, (10, 9, True)),
        (begin + "iperf3: error - x\n" + sender + receiver, (10, 9, False)),
        (STOPPED.format("client") + begin + sender + receiver, (10, 9, True)),
    ):  # fmt: skip
        assert facts(read(text), *names) == [expected], text
    two = begin + sender + receiver
    other = two.replace("port 1 ", "port 2 ")
    first = read(STOPPED.format("client") + two + other)
    assert facts(first, "partial") == [(False,), (False,)], "of which run it is is not known"
    last = read(two + other + STOPPED.format("client"))
    assert facts(last, "partial") == [(False,), (True,)]
    assert facts(read(two + two.replace("host h", "host i")), "target", "group") == [
        ("h", "run 1"), ("i", "run 2"),
    ]  # fmt: skip
    bare = read(LINK + row(0, 1, 10))
    assert facts(bare, "direction", "protocol", *names) == [("upload", "tcp", 10, None, True)]
    assert bare.side.tolist() == ["sender"]
    back = read(begin + row(2, 1, 5) + sender + receiver)
    assert (noted(back), values(back.payload_bytes)) == (
        [implausible((5, "2.00-1.00   sec  5 Bytes  40 bits/sec"))],
        [10],
    )


def test_what_a_verbose_iperf3_says():
    start = "Starting Test: protocol: {}, 1 streams, omitting {} seconds, 10 second test\n"
    begin = "iperf 3.16\nLinux iperf 3.1 h\n" + CLIENT.format("h") + LINK
    found = read(begin + start.format("SCTP", 2) + row(0, 1, 10) + "snd_tcp_congestion cubic\n")
    assert found.meta.tool_version == "3.16"
    names = ("protocol", "omitted_s", "congestion_control")
    assert facts(found, *names) == [("sctp", 2, "cubic")]
    one = read(begin + start.format("SCTP", 1) + row(0, 1, 10))
    assert facts(one, *names) == [("sctp", 1, None)]
    none = read(begin + start.format("UDP", 0) + row(0, 1, 10))
    assert facts(none, *names) == [("udp", None, None)]
    seen = read(begin + start.format("TCP", 0) + row(0, 2, 9, "(omitted)") + row(0, 1, 10))
    assert facts(seen, *names) == [("tcp", 2, None)]
    assert noted(found) == noted(none) == noted(seen) == []
    count = begin + row(0, 1, 10) + row(0, 1, 10, "{}sender") + "[  5] Sent 21 datagrams\n"
    assert facts(read(count.format("")), "datagram_count", "lost_datagram_count") == [(21, None)]
    both = count.format("0.1 ms  0/20 (0%)  ")
    assert facts(read(both), "protocol", "datagram_count") == [("udp", 20)]


def test_windows_of_iperf3():
    for text, size in (("3 Bytes", 3), ("3.5 KBytes", 3584), ("1,5 MBytes", 1.5 * 1024**2),
                       ("3 GBytes", 3 * 1024**3)):  # fmt: skip
        found = read(CLIENT.format("h") + RETR + row(0, 1, 10, f"2   {text}"))
        assert (values(found.cwnd_bytes), values(found.retransmit_count)) == ([size], [2])
        assert facts(found, "protocol") == [("tcp",)]
    plain = read(CLIENT.format("h") + PLAIN + row(0, 1, 10, "2   3 KBytes"))
    assert values(plain.cwnd_bytes) == values(plain.retransmit_count) == [None]
    counted = read(CLIENT.format("h") + TOTALS + row(0, 1, 10, "2   3 KBytes"))
    assert (values(counted.datagram_count), values(counted.cwnd_bytes)) == ([2], [None])
    assert facts(counted, "protocol") == [("udp",)]
    lossy = read(CLIENT.format("h") + "Reverse mode, remote host h is sending\n" + DATAGRAMS
                 + row(0, 1, 10))  # fmt: skip
    assert facts(lossy, "protocol", "direction") == [("udp", "download")]


def test_servers_of_iperf3():
    names = ("direction", "protocol", "sent_byte_count", "received_byte_count", "partial")
    for header, protocol in ((RETR, "tcp"), (TOTALS, "udp")):
        found = read(LISTEN + ACCEPT + header + row(0, 1, 10, "2") + row(1, 2, 20, "1") + PLAIN
                     + row(0, 2, 30, "sender"))  # fmt: skip
        assert facts(found, *names) == [("download", protocol, 30, None, False)]
        assert found.side.tolist() == ["sender"] * 2
    got = LISTEN + ACCEPT + PLAIN + row(0, 1, 10)
    assert facts(read(got), *names) == [("upload", "tcp", None, 10, True)]
    ends = row(0, 1, 7, "sender") + row(0, 1, 10, "receiver")
    assert facts(read(got + RETR + ends), *names) == [("upload", "tcp", 7, 10, False)]
    lossy = read(LISTEN + ACCEPT + DATAGRAMS + row(0, 1, 10, "0.25 ms  1/9 (11%)"))
    assert facts(lossy, *names, "loss_ratio") == [("upload", "udp", None, 10, True, 1 / 9)]
    after = LISTEN + ACCEPT + PLAIN + row(0, 1, 3) + row(0, 1, 3, "receiver")
    twice = read(got + ends + after)
    assert facts(twice, "group", *names) == [
        ("run 1", "upload", "tcp", 7, 10, False), ("run 2", "upload", "tcp", None, 3, False),
    ]  # fmt: skip
    mixed = read(CLIENT.format("h") + row(0, 1, 5) + ACCEPT + PLAIN + row(0, 1, 3))
    assert mixed.side.tolist() == ["sender", "receiver"]
    assert facts(mixed, "target", "sent_byte_count", "received_byte_count") == [
        ("h", 5, None), (None, None, 3),
    ]  # fmt: skip
    roles = read(
        LISTEN + ACCEPT + RETR + row(0, 1, 5, stream="5][TX-S") + row(0, 1, 6, stream="7][RX-S")
    )
    assert facts(roles, "direction", "sent_byte_count", "received_byte_count") == [
        ("upload", None, 6), ("download", 5, None),
    ]  # fmt: skip


def test_a_total_of_udp_without_a_label():
    """Until 3.6 the last line is the total: it begins at 0, and ends where the intervals do."""
    begin = CLIENT.format("h") + LINK + DATAGRAMS + row(0, 1, 10) + row(1, 3, 10)
    said = "0.5 ms  1/9 (11%)"
    ends = ((3, "5", 2), (2.99, "5", 2), (2.98, "5", 3), (3, "7", 3), (9, "5", 2))
    for end, stream, count in ends:
        found = read(begin + row(0, end, 20, said, stream=stream))
        assert len(found) == count, (end, stream)
    assert len(read(begin + row(0, 3, 20, said).replace("3.00", "2.9895"))) == 3
    names = ("sent_byte_count", "received_byte_count", "datagram_count", "lost_datagram_count",
             "jitter_s", "duration_s")  # fmt: skip
    total = read(begin + row(0, 3, 20, said))
    assert facts(total, *names) == [(20, None, 9, 1, 0.0005, 3)]
    assert len(read(begin + row(1, 4, 20))) == 3
    assert len(read(begin + row(0, 3, 20, "(omitted)"))) == 3


def interval(start, end, size, **more):
    return {"streams": [{"socket": 5, "start": start, "end": end, "seconds": end - start,
                         "bytes": size, "bits_per_second": 8 * size / (end - start),
                         "sender": True, **more}]}  # fmt: skip


def whole(size, **more):
    return {"seconds": 2, "bytes": size, "bits_per_second": 4 * size, **more}


def test_documents_of_iperf3_without_marks():
    bare = {"start": {}, "intervals": [interval(0, 1, 10)], "end": {}}
    assert facts(read(lines_of(bare)), "protocol", "stream_count", "sent_byte_count") == [
        ("tcp", 1, 10),
    ]  # fmt: skip
    for name in bare:
        less = {key: value for key, value in bare.items() if key != name}
        assert sniff(lines_of(less)) == "JSON"
    udp = [interval(0, 1, 10, packets=3)]
    assert facts(read(lines_of({**bare, "intervals": udp})), "protocol") == [("udp",)]
    summed = {"sum": whole(10, packets=3)}
    assert facts(read(lines_of({**bare, "end": summed})), "protocol") == [("udp",)]
    ends = {**bare, "intervals": [], "end": {"sum_sent": whole(10)}}
    assert facts(read(lines_of(ends)), "protocol", "stream_count") == [(None, None)]
    for count, expected in ((3, 3), (2000, 1000)):
        start = {"test_start": {"num_streams": count}}
        assert facts(read(lines_of({**ends, "start": start})), "stream_count") == [(expected,)]
    assert sniff('{"x": "test_start"}\n') == sniff('{"event": "start"}\n') == "iperf3 JSON"
    assert sniff('x "test_start"\n') != "iperf3 JSON"


def test_runs_and_omitted_intervals_of_iperf3_json():
    first = {"version": "iperf 3.9", "timestamp": {"timesecs": 0}, "system_info": " a "}
    second = {"version": "iperf 3.10", "timestamp": {"timesecs": 1}, "system_info": "b"}
    two = read(iperf3(first) + iperf3(second))
    assert (two.meta.tool_version, two.meta.start, two.meta.host) == (
        "3.9", "1970-01-01T00:00:00+00:00", "a")  # fmt: skip
    listed = read(json.dumps([json.loads(iperf3(first)), 7, {"other": 1}]) + "\n")
    assert (len(listed), listed.meta.tool_version) == (1, "3.9")
    early = [interval(0, 3, 5, omitted=True)]
    for omit, rows, expected in ((0, [], None), (2, [], 2), (None, early, 3), (2, early, 2)):
        start = {"test_start": {"protocol": "TCP", "omit": omit}}
        found = read(iperf3(start, intervals=[*rows, interval(0, 1, 10)]))
        assert facts(found, "omitted_s", "sent_byte_count") == [(expected, 10)]
    small = {"rtt": 1, "rttvar": 1, "pmtu": 1, "snd_cwnd": 1, "retransmits": 0, "jitter_ms": 0}
    found = read(iperf3(intervals=[interval(0, 1, 0, **small)]))
    known = [found.rtt_s, found.rttvar_s, found.path_mtu_bytes, found.cwnd_bytes,
             found.retransmit_count, found.jitter_s, found.payload_bytes]  # fmt: skip
    assert [values(one) for one in known] == [[1e-6], [1e-6], [1], [1], [0], [0], [0]]
    none = read(iperf3(intervals=[interval(0, 1, 10, socket=None)]))
    assert none.stream.tolist() == [""]
    events = [{"event": "start", "data": IPERF3["start"]}, {"event": "other", "data": {}},
              {"event": "interval", "data": IPERF3["intervals"][0]},
              {"event": "error", "data": "x"}]  # fmt: skip
    ended = read(lines_of(*events))
    assert (noted(ended), facts(ended, "partial")) == (
        [("iperf-reported", {"messages": ["x"]})], [(True,)])  # fmt: skip
    later = read(lines_of(*events[1:3]))
    assert facts(later, "sent_byte_count", "partial") == [(10, True)]


SUM = whole(100, packets=10, lost_packets=2, jitter_ms=0.5)
ACCEPTED = {"accepted_connection": {"host": "c"}}
REVERSE = {"test_start": {"protocol": "UDP", "reverse": 1}}
UDP = {"test_start": {"protocol": "UDP"}}


@pytest.mark.each(
    ("start", "end", "error", "expected"),
    [
        # direction, bytes sent and received, datagrams, lost, jitter
        (UDP, {"sum": SUM}, None, ("upload", 100, None, 10, 2, 0.0005)),
        (UDP, {"sum": SUM}, "x", ("upload", 100, None, 10, None, None)),
        (REVERSE, {"sum": SUM}, None, ("download", 100, None, 10, 2, 0.0005)),
        (REVERSE, {"sum": SUM}, "x", ("download", None, None, 10, 2, 0.0005)),
        (UDP | ACCEPTED, {"sum": SUM}, None, ("upload", None, None, 10, 2, 0.0005)),
        (REVERSE | ACCEPTED, {"sum": SUM}, None, ("download", 100, None, 10, None, None)),
        (UDP, {"sum": SUM, "sum_sent": whole(90)}, None, ("upload", 90, None, 10, 2, 0.0005)),
        (UDP, {"sum": SUM, "sum_received": whole(80)}, None, ("upload", None, 80, 10, 2, 0.0005)),
        (UDP, {"sum": whole(99)}, None, None),
        (UDP | ACCEPTED, {"sum_sent": whole(1), "sum_received": whole(0)}, None,
         ("upload", 1, 0, None, None, None)),
        (UDP | ACCEPTED, {"sum_sent": whole(0), "sum_received": whole(7)}, None,
         ("upload", None, 7, None, None, None)),
        (UDP, {"sum_sent": whole(5), "sum_received": whole(0)}, "x",
         ("upload", 5, None, None, None, None)),
        (UDP, {"sum_sent": whole(0), "sum_received": whole(0)}, None,
         ("upload", 0, 0, None, None, None)),
    ],
)  # fmt: skip
def test_totals_of_iperf3_json(start, end, error, expected):
    more = {"error": error} if error else {}
    text = iperf3(start, intervals=[], end=end, **more)
    if expected is None:
        assert refused(text).code == "iperf-nothing"
        return
    names = ("direction", "sent_byte_count", "received_byte_count", "datagram_count",
             "lost_datagram_count", "jitter_s")  # fmt: skip
    assert facts(read(text), *names) == [expected]


def test_losses_that_cannot_be_are_unknown_and_named():
    for lost, known in ((0, 0), (10, 10), (11, None), (-1, None)):
        found = read(iperf3(UDP, intervals=[], end={"sum": {**SUM, "lost_packets": lost}}))
        assert facts(found, "lost_datagram_count") == [(known,)]
        expected = [] if known is not None else [
            ("impossible-values", {"name": "lost_packets", "values": [str(lost)]})]  # fmt: skip
        assert noted(found) == expected
