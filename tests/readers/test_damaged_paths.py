"""Pastes of paths that lost lines, probes or characters of addresses are told with the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs"


def notices(samples):
    return {notice.code: notice.values for notice in samples.meta.warnings}


def text_of(name):
    return (INPUTS / "paths" / name).read_text(encoding="utf-8")


@pytest.mark.each(
    "file, start, hop",
    [
        ("traceroute_linux.txt", " 2 ", "2"),
        ("huawei_tracert.txt", " 2 ", "2"),
        ("mtr_report.txt", "  2.|--", "2"),
        ("mtr.csv", "", "2"),
        ("tracepath.txt", " 2:", "2"),
        ("dublin_traceroute.txt", "2 ", "2"),
        ("winmtr.txt", "", ""),
    ],
)
def test_a_line_that_is_missing_in_the_middle(file, start, hop):
    """One line of hop 2 is taken out by eye; WinMTR numbers no hop, so that nothing shows it."""
    lines = text_of(file).splitlines(keepends=True)
    if file == "mtr.csv":
        kept = [line for line in lines if ",2," not in line]
    elif not start:
        kept = lines
    else:
        kept = [line for line in lines if not line.startswith(start)]
    assert (len(kept) < len(lines)) == bool(hop)
    said = notices(read("".join(kept).encode()))
    if hop:
        assert said["hops-without-line"]["listed"] == hop
    else:
        assert "hops-without-line" not in said


def test_a_probe_that_is_missing_in_a_row():
    text = text_of("traceroute_linux.txt")
    whole = read(text.encode())
    assert "hops-with-fewer-probes" not in notices(whole)
    line = next(line for line in text.splitlines() if line.startswith(" 2 "))
    short = text.replace(line, line.rpartition("  ")[0])
    assert notices(read(short.encode()))["hops-with-fewer-probes"]["listed"] == "2"


def test_a_row_that_ends_in_a_refusal_is_whole():
    for file in ("tracert_german.txt", "traceroute_prohibited.txt"):
        assert "hops-with-fewer-probes" not in notices(read(INPUTS / "paths" / file))


DAMAGED = ("1O.0.0.1", "192.168.1", "10.0.0.256", "192.0.2.1.5", "10.0.0.l", "fe80::zz",
           "2001:db8::1::2", "192,0,2,1")  # fmt: skip
WHOLE = ("192.0.2.1", "010.000.000.001", "fe80::1%eth0", "2001:db8::192.0.2.1", "a1.example",
         "0.pool.example", "lo0.core1", "router")  # fmt: skip


@pytest.mark.each("node", DAMAGED + WHOLE)
def test_a_damaged_address_is_no_name(node):
    texts = {
        "traceroute": f"traceroute to {node} ({node}), 30 hops max, 60 byte packets\n"
        f" 1  {node} ({node})  0.1 ms  0.2 ms  0.3 ms\n",
        "mtr": json.dumps({"report": {"mtr": {"src": "pc", "dst": "a.example"}, "hubs": [
            {"count": 1, "host": node, "Loss%": 0.0, "Snt": 1, "Last": 1.0, "Avg": 1.0,
             "Best": 1.0, "Wrst": 1.0, "StDev": 0.0}]}}),
        "ping": f"PING {node} ({node}) 56(84) bytes of data.\n"
        f"64 bytes from {node}: icmp_seq=1 ttl=64 time=0.1 ms\n\n--- {node} ping statistics ---\n"
        "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
        "rtt min/avg/max/mdev = 0.100/0.100/0.100/0.000 ms\n",
    }  # fmt: skip
    for text in texts.values():
        said = notices(read(text.encode())).get("address-damaged")
        assert said == ({"names": [node]} if node in DAMAGED else None), text


def test_a_time_of_scamper_below_zero_is_unknown():
    documents = map(json.loads, text_of("scamper.json").splitlines())
    trace = next(each for each in documents if each["type"] == "trace")
    trace["hops"][0]["rtt"] = -0.307
    samples = read(f"{json.dumps(trace)}\n".encode())
    assert notices(samples)["implausible-hops"]["count"] == 1
    assert np.isnan(samples.rtt_s[0])
    assert not samples.lost[0]
    lines = (INPUTS / "pings" / "scamper_ping.json").read_text(encoding="utf-8").splitlines()
    ping = next(each for each in map(json.loads, lines) if each["type"] == "ping")
    before = read(f"{json.dumps(ping)}\n".encode())
    ping["responses"][0]["rtt"] = -1.5
    samples = read(f"{json.dumps(ping)}\n".encode())
    assert notices(samples)["implausible-hops"]["count"] == 1
    assert samples.received == before.received
    assert samples.measured.sum() == before.measured.sum() - 1
