"""The output of netperf: expected numbers are read off the files by eye."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
UP = {"direction": "upload", "partial": False}

FACTS = {
    "netperf_stream.txt": UP | {
        "protocol": "tcp", "target": "192.0.2.1", "sent_rate_bps": 941.23e6, "duration_s": 10.02,
        "received_rate_bps": None, "sent_byte_count": None},
    # 1000 KBytes/sec are 1000 * 1024 * 8 bit/s
    "netperf_maerts_bytes.txt": {
        "direction": "download", "received_rate_bps": 8192000, "sent_rate_bps": None},
    "netperf_udp.txt": UP | {
        "protocol": "udp", "sent_rate_bps": 117.76e6, "received_rate_bps": 116.58e6,
        "datagram_count": 100000, "lost_datagram_count": 1000, "loss_ratio": 0.01,
        "sent_byte_count": 147200000},
    "netperf_rr.txt": {"duration_s": 10, "sent_rate_bps": None, "counter:Trans. Rate": 28533.43},
    "netperf_p0.txt": {"sent_rate_bps": 938.12e6, "duration_s": 10.03},
    "netperf_keyval.txt": UP | {
        "sent_rate_bps": 938.51e6, "duration_s": 10.01, "retransmit_count": 12,
        "congestion_control": "cubic", "mss_bytes": 1448, "sent_byte_count": 1174405120,
        "received_byte_count": 1174290000, "rtt_median_s": None},
    "netperf_rr_keyval.txt": {
        "rtt_min_s": 25e-6, "rtt_median_s": 34e-6, "rtt_max_s": 410e-6, "sent_rate_bps": None,
        "counter:THROUGHPUT": 28533.43},
    "netperf_omni.csv": UP | {"sent_rate_bps": 941e6, "retransmit_count": 3, "mss_bytes": 1448},
    "netperf_interim.txt": UP | {"sent_rate_bps": 773e6, "duration_s": 2.5},
}  # fmt: skip


@pytest.mark.each("name", sorted(FACTS))
def test_facts(name):
    (row,) = read(INPUTS / name).facts()
    wanted = FACTS[name]
    assert {key: row.get(key) for key in wanted} == pytest.approx(wanted)


def test_every_file_has_expected_facts():
    assert {path.name for path in INPUTS.glob("netperf*")} == set(FACTS)


def test_interim_lines_are_intervals():
    samples = read(INPUTS / "netperf_interim.txt")
    assert samples.start_s.tolist() == pytest.approx([0, 1, 2])
    assert samples.throughput_bps.tolist() == pytest.approx([940.1e6, 942.3e6, 100e6])
    assert set(samples.side) == {"sender"}


def test_a_unit_that_is_not_in_the_file_is_said():
    (notice,) = read(INPUTS / "netperf_p0.txt").meta.warnings
    assert notice.code == "netperf-default-unit"


def test_several_runs_have_a_row_each():
    text = (INPUTS / "netperf_stream.txt").read_text() + (INPUTS / "netperf_rr.txt").read_text()
    rows = read(text).facts()
    assert [row["group"] for row in rows] == ["run 1", "run 2"]


STREAM = (INPUTS / "netperf_stream.txt").read_text()
REFUSED = {
    "an unknown unit": (
        (INPUTS / "netperf_keyval.txt").read_text().replace("10^6bits/s", "furlongs"),
        "netperf-unit"),
    "a row without its rate": (STREAM.replace("     941.23   ", ""), "netperf-width"),
    "a title alone": (STREAM.split("\n", 1)[0] + "\n", "netperf-nothing"),
    "a row of CSV without its end": (
        (INPUTS / "netperf_omni.csv").read_text().replace(",3,1448", ",3"), "netperf-width"),
}  # fmt: skip


@pytest.mark.each("what", REFUSED)
def test_refused(what):
    text, code = REFUSED[what]
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == code


OMNI = {
    "Throughput": "941.5", "Throughput Units": "10^6bits/s", "Elapsed Time (sec)": "10.00",
    "Direction": "Send", "Protocol": "TCP", "Local Transport Retransmissions": "3",
    "Remote Transport Retransmissions": "4", "Transport MSS bytes": "1448",
    "Local Congestion Control Algorithm": "cubic", "Local Bytes Sent": "100",
    "Local Bytes Received": "200", "Remote Bytes Sent": "300", "Remote Bytes Received": "400",
    "Minimum Latency Microseconds": "11", "50th Percentile Latency Microseconds": "12",
    "Maximum Latency Microseconds": "13", "Request Size Bytes": "7",
}  # fmt: skip


def omni(*rows):
    """CSV of omni: the header, and a line for each row of changes."""
    lines = [",".join(OMNI), *(",".join({**OMNI, **row}.values()) for row in rows)]
    title = "OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to h.example () port 0 AF_INET\n"
    return read(title + "\n".join(lines) + "\n")


def test_every_column_of_omni():
    sent, got, rr = (
        omni({}),
        omni({"Direction": "Recv"}),
        omni({"Direction": "Send|Recv", "Throughput Units": "Trans/s"}),
    )
    known = {"target": "h.example", "partial": False, "protocol": "tcp", "duration_s": 10,
             "congestion_control": "cubic", "mss_bytes": 1448}  # fmt: skip
    assert sent.facts() == [
        known | {"direction": "upload", "sent_rate_bps": 941.5e6, "retransmit_count": 3,
                 "sent_byte_count": 100, "received_byte_count": 400},
    ]  # fmt: skip
    assert got.facts() == [
        known | {"direction": "download", "received_rate_bps": 941.5e6, "retransmit_count": 4,
                 "sent_byte_count": 300, "received_byte_count": 200},
    ]  # fmt: skip
    assert rr.facts() == [
        pytest.approx(known | {
            "retransmit_count": 3, "rtt_min_s": 11e-6, "rtt_median_s": 12e-6, "rtt_max_s": 13e-6,
            "counter:THROUGHPUT": 941.5,
        }),
    ]  # fmt: skip
    assert rr["transaction_rate"].tolist() == [941.5]
    assert rr.meta.units == {"group": "text", "request_bytes": "byte", "response_bytes": "byte",
                             "duration_s": "s", "transaction_rate": "1/s"}  # fmt: skip
    assert (sent.side.tolist(), got.side.tolist()) == (["sender"], ["receiver"])
    assert sent.duration_s.tolist() == [10]
    assert sent.start_s.tolist() == [0]
    assert sent.throughput_bps.tolist() == [941.5e6]
    assert (sent.meta.tool, sent.meta.target) == ("netperf", "h.example")


def test_lines_of_omni_are_runs():
    found = omni({}, {"Throughput": "-1"}, {"Throughput": "0", "Elapsed Time (sec)": "0"})
    assert [row["group"] for row in found.facts()] == ["run 1", "run 2", "run 3"]
    assert [row["target"] for row in found.facts()] == ["h.example"] * 3
    assert [row.get("sent_rate_bps") for row in found.facts()] == [941.5e6, None, 0]
    assert [row.get("duration_s") for row in found.facts()] == [10, 10, None]
    assert found.group.tolist() == ["run 1", "run 3"]
    with pytest.raises(ReaderError) as refused:
        read("Throughput,Throughput Units,Protocol\n1,10^6bits/s,TCP\n2,10^6bits/s\n",
             name="o.csv")  # fmt: skip
    values = refused.value.values
    assert (refused.value.code, refused.value.line, refused.value.file) == (
        "netperf-width", 3, "o.csv")  # fmt: skip
    assert (values["count"], values["wanted"]) == (2, 3)


def test_numbers_without_a_header():
    """-P 0: five are a stream, six with a line of two below are requests and responses."""
    stream = read("87380  16384  16384    10.03     938.12   \n")
    assert stream.throughput_bps.tolist() == [938.12e6]
    assert stream.duration_s.tolist() == [10.03]
    assert [one.code for one in stream.meta.warnings] == ["netperf-default-unit"]
    rr = read("16384  131072 1        1       10.00    28533.43   \n16384  131072 \n")
    assert rr["transaction_rate"].tolist() == [28533.43]
    assert (rr["request_bytes"].tolist(), rr["response_bytes"].tolist()) == ([1], [1])
    assert rr["duration_s"].tolist() == [10]
    assert rr.facts() == [{"duration_s": 10, "counter:Trans. Rate": 28533.43, "partial": False}]


TITLE = "MIGRATED {} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.7 () port 0 AF_INET\n"


def test_rows_too_short_for_their_test():
    heads = {
        "TCP STREAM": ("1 2 3 4.00\n", 5), "UDP STREAM": ("1 2 3.00 4 5\n", 6),
        "TCP REQUEST/RESPONSE": ("1 2 3 4 5.00\n", 6),
    }  # fmt: skip
    for test, (row, wanted) in heads.items():
        with pytest.raises(ReaderError) as refused:
            read(TITLE.format(test) + row, name="x.txt")
        values = refused.value.values
        assert (refused.value.code, refused.value.line) == ("netperf-width", 2), test
        assert (values["count"], values["wanted"]) == (wanted - 1, wanted)
        assert refused.value.file == "x.txt"
    rr = read(TITLE.format("TCP REQUEST/RESPONSE") + "1 2 3 4 5.00 6.50\n1 2\n")
    assert (rr["request_bytes"].tolist(), rr["response_bytes"].tolist()) == ([3], [4])
    assert (rr["duration_s"].tolist(), rr["transaction_rate"].tolist()) == ([5], [6.5])
    assert rr.facts()[0]["protocol"] == "tcp"
    assert (
        read(TITLE.format("UDP REQUEST/RESPONSE") + "1 2 3 4 5.00 6.50\n1 2\n").facts()[0][
            "protocol"
        ]
        == "udp"
    )
    omni = "Throughput,Throughput Units\n1.00,10^6bits/s\n"
    assert read(TITLE.format("TCP STREAM") + omni).facts()[0]["protocol"] == "tcp"
    assert "protocol" not in read(TITLE.format("OMNI Send") + omni).facts()[0]
    zero = read(TITLE.format("TCP REQUEST/RESPONSE") + "1 2 3 4 5.00 0.00\n")
    assert zero["transaction_rate"].tolist() == [0]


def test_an_interim_result_with_a_damaged_number_is_a_line_that_is_not_read():
    """identity: one of two lines has a number; the other is named by its line."""
    line = "Interim result:  {} 10^6bits/s over {} seconds\n"
    damaged = line.format("4.00", "1.0.0")
    found = read(TITLE.format("TCP STREAM") + line.format("8.00", "1.000") + damaged)
    assert found.throughput_bps.tolist() == [8e6]
    (notice,) = (n for n in found.meta.warnings if n.code == "not-lines-of-netperf")
    assert notice.values["numbers"] == [3]


def test_interim_results_begin_with_the_first():
    line = "Interim result:  {} over {} seconds{}\n"
    ends = read(
        TITLE.format("TCP MAERTS")
        + line.format("8.00 10^6bits/s", "1.000", " ending at 100.500")
        + line.format("2.00 KBytes/s", "0.500", " ending at 101.250")
        + "1 2 3 1.50 6.00\n"
    )
    assert ends.start_s.tolist() == [0, 1.25]
    assert ends.duration_s.tolist() == [1, 0.5]
    assert ends.throughput_bps.tolist() == [8e6, 2 * 8 * 1024]
    assert ends.side.tolist() == ["receiver"] * 2
    plain = read(TITLE.format("TCP STREAM") + line.format("8.00 10^6bits/s", "1.000", "")
                 + line.format("4.00 10^6bits/s", "0.500", ""))  # fmt: skip
    assert plain.start_s.tolist() == [0, 1]
    assert plain.meta.partial
    with pytest.raises(ReaderError) as refused:
        read(TITLE.format("TCP STREAM") + line.format("8.00 trees/s", "1.000", ""), name="y.txt")
    values = refused.value.values
    assert (refused.value.code, refused.value.line) == ("netperf-unit", 2)
    assert (values["value"], refused.value.file) == ("trees/s", "y.txt")


def test_lists_of_lines():
    """Benchmarks keep the lines of each run as a list of JSON."""
    title = TITLE.format("TCP STREAM").strip()
    found = read(
        json.dumps([[title, "1 2 3 10.00 5.00"], [title, 7, "1 2 3 20.00 6.00"]], indent=1)
    )
    assert found.duration_s.tolist() == [10, 20]
    assert found.throughput_bps.tolist() == [5e6, 6e6]
    assert found.group.tolist() == ["run 1", "run 2"]
    assert [row["target"] for row in found.facts()] == ["192.0.2.7"] * 2
    assert found.meta.target == "192.0.2.7"
    flat = read(json.dumps([title, "1 2 3 10.00 5.00"], indent=1))
    assert flat.duration_s.tolist() == [10]


def test_lines_that_netperf_does_not_print():
    text = TITLE.format("TCP STREAM") + "Recv   Send    Send\nwhat is this\n1 2 3 10.00 5.00\n"
    (notice, other) = read(text).meta.warnings
    assert (notice.code, other.code) == ("netperf-default-unit", "not-lines-of-netperf")
    assert other.values["numbers"] == [3]
    for unit, factor in (("10^3bits/sec", 1e3), ("KBytes/s", 8192)):
        found = read(text.replace("Send\n", f"Send {unit}\n"))
        assert found.throughput_bps.tolist() == [5 * factor]
        assert [one.code for one in found.meta.warnings] == ["not-lines-of-netperf"]
