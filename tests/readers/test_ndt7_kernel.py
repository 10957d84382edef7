"""What the kernel of the sender of ndt7 counts: how long it was busy, and what held it."""

from __future__ import annotations

import json

import pytest

from netcalc.readers import read

# The last measurement of a download in m-lab/ndt-server#201, with fewer of its members.
TCP_INFO = {
    "SndMSS": 1440, "RTT": 24085, "MinRTT": 20000, "SndCwnd": 1626, "TotalRetrans": 21803,
    "BytesAcked": 262102350, "BytesReceived": 2424, "BusyTime": 9707000, "RWndLimited": 2372000,
    "SndBufLimited": 388000, "BytesSent": 295761134, "BytesRetrans": 31391264,
    "ElapsedTime": 9683892,
}  # fmt: skip
NAMES = {
    "busy_s": 9.707, "receive_window_limited_s": 2.372, "send_buffer_limited_s": 0.388,
    "bytes_sent": 295761134, "bytes_retransmitted": 31391264,
}  # fmt: skip


def facts(path, *, test="download", **members):
    value = {"TCPInfo": {**TCP_INFO, **members}, "Origin": "server", "Test": test}
    path.write_text(json.dumps({"Key": "measurement", "Value": value}) + "\n", encoding="utf-8")
    (row,) = read(path).facts()
    return row


def test_times_and_bytes_of_the_sender(tmp_path):
    row = facts(tmp_path / "ndt7.jsonl")
    assert {name: row[name] for name in NAMES} == pytest.approx(NAMES)


def test_a_receiver_s_kernel_says_nothing_of_what_held_the_sender(tmp_path):
    row = facts(tmp_path / "ndt7.jsonl", test="upload", BytesReceived=10**8)
    assert not set(NAMES) & set(row)


def test_numbers_below_0_are_unknown(tmp_path):
    row = facts(tmp_path / "ndt7.jsonl", BusyTime=-1, BytesRetrans=-1)
    assert set(NAMES) - set(row) == {"busy_s", "bytes_retransmitted"}
