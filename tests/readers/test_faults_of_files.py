"""Files as they come from the world: changed, cut, of another tool, hostile; and their exit codes.

Whatever a file holds, it is read right or refused as a ReaderError that can be printed.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import samples
from netcalc.cli import commands
from netcalc.errors import ReaderError
from netcalc.readers import read, read_columns, read_ping, sniff

INPUTS = Path(__file__).with_name("inputs")
COLUMNS = b'# by hand\nsize/B;"rtt [ms]";host\n64;1,5;a\n128;2,25;"b\nc"\n256;-;d\n'
NOTEBOOK = json.dumps({"cells": [{"source": ["1 + 1"]}], "nbformat": 4}).encode()


MANY = b"9" * 5000
"""More digits than a float holds, or an int of Python reads."""
BEYOND = {
    "fping": (b"192.0.2.7 : xmt/rcv/%loss = 4/0/100%\n", b"100"),
    "iperf3": (
        b"[  5] local 192.0.2.1 port 5201 connected to 192.0.2.2 port 40000\n"
        b"[ ID] Interval           Transfer     Bitrate\n"
        b"[  5]   0.00-1.00   sec  1.00 MBytes  8.39 Mbits/sec\n",
        b"40000",
    ),
    "tc": (b'[{"kind":"fifo","handle":"1:","dev":"a","overlimits":0,"drops":7}]', b"7"),
    "dd": (b"52428800 bytes transferred in 0.125000 secs (419430400 bytes/sec)\n", b"0.125000"),
    "columns": (b"time [s],rtt [ms]\n1e308,1\n1e307,2\n", b"1e307"),
    "ss": (
        b"State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
        b"ESTAB 0 0 192.0.2.1:5201 192.0.2.2:40000 cubic rto:204 rtt:1.5/0.5 cwnd:10\n",
        b"rtt:1.5",
    ),
    "mtr": (
        b"Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n"
        b"MTR.0.95,1795352713,OK,203.0.113.2,1,192.0.2.1,0.00,5,0,0.07,0.07,0.07,0.10,0.01\n"
        b"MTR.0.95,1795352713,OK,203.0.113.2,72,198.51.100.9,0.00,5,0,0.08,0.08,0.07,0.10,0.01\n",
        b"72",
    ),
    "tcpdump": (
        b"13:25:18.312245 IP 192.0.2.2 > 192.0.2.1: ICMP echo request, id 1, seq 3, length 108\n",
        b"108",
    ),
    "iperf 2": (
        b"20261122123558.778,192.0.2.1,39242,192.0.2.2,5001,1,0.0-1.0,6291516,50332128\n",
        b"39242",
    ),
}
"""Lines of tools, and a number in each that a damaged file has another for."""


@pytest.mark.each("number", [MANY, MANY[:400], b"1e308", b"rtt:1e-09", b"rtt:1.8e+19", b"1e-320"])
@pytest.mark.each("tool", BEYOND)
def test_a_number_that_no_tool_prints_is_read_or_refused_and_kept(tool, number):
    text, changed = BEYOND[tool]
    assert changed in text
    found = read_or_refused(text.replace(changed, number))
    if found is not None:
        found.facts()
        assert samples.loads(found.dumps()) == found


LONG_RUNS = {
    "tracepath": ("paths/tracepath_ipv6.txt", b" "),
    "mtr": ("paths/mtr_report.txt", b" "),
    "pathping": ("paths/pathping.txt", b"."),
    "traceroute": ("paths/traceroute_q5_names.txt", b"\t"),
    "iperf 3": ("transfers/iperf3_bidir.txt", b" "),
    "qperf": ("transfers/qperf.txt", b"\t"),
    "netstat": ("counters/netstat_s.txt", b" "),
    "netstat of Windows": ("counters/netstat_s_windows.txt", b" "),
}


@pytest.mark.each("tool", LONG_RUNS)
def test_a_long_run_within_any_line_is_read_or_refused(tool):
    """A reader that looked through the run from each of its characters would take 20 s a line."""
    name, piece = LONG_RUNS[tool]
    lines = (INPUTS / name).read_bytes().split(b"\n")
    for at, line in list(enumerate(lines[:12]))[1::3]:
        changed = line[: len(line) // 2] + 20_000 * piece + line[len(line) // 2 :]
        read_or_refused(b"\n".join([*lines[:at], changed, *lines[at + 1 :]]))


def test_a_negative_number_of_a_file_is_refused_with_its_field():
    text = (INPUTS / "transfers" / "speedtest_ookla.json").read_text()
    assert '"high": 10.6' in text
    with pytest.raises(ReaderError) as caught:
        read(text.replace('"high": 10.6', '"high": -1').encode())
    found = caught.value
    assert (found.code, found.field, found.values["found"]) == (
        "negative-number", "rtt_max_s", -0.001,
    )  # fmt: skip


def test_milliseconds_of_ss_in_any_notation():
    """man ss: rtt is in milliseconds; ss prints a small one with an exponent."""
    text, changed = BEYOND["ss"]
    (fact,) = read(text.replace(changed, b"rtt:1e-03")).facts()
    assert fact["rtt_s"] == 1e-6


QUOTED = b'"' + b"x\n" * 150_000
"""A cell that goes on, beyond what Python's reader of CSV takes as one."""
LISTS = {
    "Wireshark's packet list (CSV)": (
        b'"No.","Time","Source","Destination","Protocol","Length","Info"\n'
        b'"1","0.0","192.0.2.1","192.0.2.2","TCP","66","SYN"\n'
    ),
    "tshark -T fields": b"frame.number,frame.time_epoch,frame.len\n1,1700000000.0,66\n",
}


@pytest.mark.each("tool", LISTS)
def test_a_quoted_cell_without_an_end_is_refused_with_its_line(tool):
    text = LISTS[tool]
    assert len(read(text)) == 1
    with pytest.raises(ReaderError) as caught:
        read(text + b"2," + QUOTED)
    assert (caught.value.code, caught.value.values["line"] > 2) == ("malformed-quotes", True)


@pytest.mark.each("piece", ":_ /([,")
def test_a_heading_of_any_length_is_read_or_refused(piece):
    """A header that is looked through from each of its characters would take 20 s."""
    read_or_refused(f"size [B],rtt{60_000 * piece}x\n56,1.5\n".encode())


def read_or_refused(data):
    """Return what was read; None if it was refused in words that a terminal can bear."""
    try:
        return read(data)
    except ReaderError as error:
        said = error
    assert str(said).isprintable()
    json.dumps(said.as_dict())
    return None


@pytest.mark.each("byte", [b"\0", b'"', b";", b"\n", b"\x1b", b"\xff", b"-", b"e", b"9"])
def test_columns_with_any_byte_changed_or_added(byte):
    for index in range(len(COLUMNS)):
        for rest in (index, index + 1):
            found = read_or_refused(COLUMNS[:index] + byte + COLUMNS[rest:])
            if found is not None and "rtt_s" in found.columns():
                times = found.columns()["rtt_s"]
                assert not (times < 0).any()
                assert not np.isinf(times).any()


def test_columns_that_are_cut_anywhere():
    whole = read(COLUMNS)
    for end in range(len(COLUMNS)):
        found = read_or_refused(COLUMNS[:end])
        if found is not None and "rtt_s" in found.columns():
            rows = max(len(found) - 1, 0)  # of the last line nobody knows where it was to end
            assert found.rtt_s[:rows].tolist() == whole.rtt_s[:rows].tolist()


@pytest.mark.each("pack", [bytes, gzip.compress])
def test_json_of_another_tool_with_any_byte_changed_or_cut(pack):
    packed = pack(NOTEBOOK)
    assert sniff(packed) == "notebook"
    for index in range(len(packed)):
        assert read_or_refused(packed[:index]) is None
        for bits in (0x01, 0x20, 0xFF):
            changed = bytearray(packed)
            changed[index] ^= bits
            assert read_or_refused(bytes(changed)) is None


@pytest.mark.each(
    "data",
    [
        b'{"schema": ' + b"9" * 5000 + b"}",
        b'{"a": NaN, "b": 1e999}',
        b"\xef\xbb\xbf" + b'{"a": [1, 2,]}',
        b'{"a": "' + b"x" * 2_000_000 + b'"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a": 1, "a": 2}',
        b'{"a": "\\ud800"}',
    ],
)
def test_odd_json_is_named(data):
    with pytest.raises(ReaderError) as caught:
        read(data)
    assert caught.value.code in ("other-format", "unknown-json", "damaged-json", "json-too-deep")
    assert caught.value.values.get("kind", "JSON") == "JSON"


HOSTILE = [
    " 1  <script>alert(1)</script> (192.0.2.2)  0.4 ms\n",
    "traceroute to $(reboot) (192.0.2.1), 30 hops max\n 1  * * *\n",
    "HOST: \x1b]0;mine\x07 Loss%   Snt\n",
    "PING ../../etc/passwd (192.0.2.1) 56(84) bytes of data.\n",
    "64 bytes from \x1b[2J\u202e: icmp_seq=1 ttl=64 time=\x1b]0;x\x07 1.5 s\u202e\n",
    "size_bytes,rtt_ms\n64,=cmd|' /C calc'!A0\n",
    "size_bytes,rtt [$$\\input{/etc/passwd}$$]\n64,1\n",
    "size_bytes,rtt_ms,\u202e[x]\n64,\u202e1,2\n",
]


@pytest.mark.each("text", HOSTILE)
def test_nothing_is_repeated_that_a_terminal_obeys(text):
    found = read_or_refused(text.encode())
    if found is not None:
        for said in (*map(str, found.meta.warnings), repr(found)):
            assert said.isprintable()


@pytest.mark.each("reader", [read, read_columns, read_ping])
def test_a_line_beyond_the_limit_is_not_nothing(reader):
    """Two million characters in one line: JSON is named by it, other text is said to be unread."""
    with pytest.raises(ReaderError) as caught:
        reader(b'{"stats": {}, "round_trips": [' + b"1," * 1_000_000 + b"1]}")
    if reader is read:  # the file is irtt's, and no probe is in it
        assert caught.value.code == "no-probe"
    else:
        assert caught.value.values["kind"] == "irtt JSON"
    with pytest.raises(ReaderError) as caught:
        reader("1 2\t" * 500_000 + "\n")
    assert caught.value.code == "only-long-lines"
    assert caught.value.values["numbers"] == [1]
    assert caught.value.fault.startswith(
        "contains no measurement; line 1 not read: longer than 1,048,576 characters"
    )


def test_lone_surrogates_of_a_pasted_text():
    ping = "64 bytes from a\udcff: icmp_seq=1 ttl=64 time=1.5 ms\n"
    assert read(ping).rtt_s.tolist() == [0.0015]
    table = read("n,host\n1,a\udcff\n2,b\n")
    assert table["n"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "ping.txt: contains no measurement: the file is empty"),
        (" \n\n", "ping.txt: contains no measurement: the file has only white space"),
        ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n", "ping.txt: contains no measurement"),
        ("size_bytes,rtt_ms\n", "ping.txt: contains no measurement: there is only a header"),
        ("%PDF-1.7\n", "ping.txt: looks like a PDF document"),
    ],
)
def test_a_file_without_a_measurement_is_exit_code_2(tmp_path, monkeypatch, content, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ping.txt").write_text(content)
    for options in ([], ["--json"]):
        done = CliRunner().invoke(commands, ["read", "ping.txt", *options])
        assert done.exit_code == 2 or isinstance(done.exception, ReaderError)
        assert said in f"{done.output}{done.exception}"


def test_the_ragged_table_of_a_tool_is_named_as_its_own():
    with pytest.raises(ReaderError) as error:
        read("Routing tables\n\nDestination Gateway Flags Refs\ndefault 192.0.2.1 UGSc 7 0\n")
    assert (error.value.code, error.value.values["kind"]) == ("other-format", "netstat")


def test_a_line_that_nobody_could_read_is_refused():
    """identity: its place and its length; a pattern took 20 s for a line of 60,000 blanks."""
    text = "nuttcp-r: 1.0 MB in 1.00 real seconds = 8.0 Mbps\n" + " " * 60_000 + "x\n"
    with pytest.raises(ReaderError, match="too long a line for the output of nuttcp") as caught:
        read(text.encode())
    assert (caught.value.code, caught.value.line) == ("line-too-long", 2)
    assert "at most 10,000" in str(caught.value)
