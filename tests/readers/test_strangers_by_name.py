"""Text of no measurement is refused as what it is; a table or a ping in its company is read."""

from __future__ import annotations

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

STRANGERS = {
    "ip address": "1: lo: <LOOPBACK,UP> mtu 65536 qdisc noqueue\n    inet 127.0.0.1/8 scope host\n",
    "dig": "\n; <<>> DiG 9.18 <<>> a\n;; Query time: 12 msec\n",
    "ab": "This is ApacheBench, Version 2.3\nRequests per second:    100 [#/sec] (mean)\n",
    "nmap": "Starting Nmap 7.93\nNmap scan report for a\nHost is up (0.0010s latency).\n",
    "system log": "Nov 23 22:00:00 host sshd[1]: Accepted\nNov 23 22:00:01 host kernel: x\n",
    "account list": "root:x:0:0:root:/root:/bin/bash\nbin:x:1:1::/bin:/sbin/nologin\n",
    "YAML": "a: 1\nb:\n - 2\n",
    "INI": "[a]\nb=1\n",
    "source code": "import os\nprint(1)\n",
    "Markdown": "# Title\nhello\n",
}


@pytest.mark.each("kind", STRANGERS)
def test_a_stranger_is_named(kind):
    assert sniff(STRANGERS[kind]) == kind
    with pytest.raises(ReaderError) as refused:
        read(STRANGERS[kind])
    assert (refused.value.code, refused.value.values["kind"]) == ("other-format", kind)


def test_tables_and_pings_are_no_strangers():
    assert sniff("# size and time\nsize/B,rtt/ms\n100,1.5\n") == "columns"
    assert read("a: 1\nb: 2\n", columns=["name", "rtt_ms"]).meta.tool == "columns"
    ping = "64 bytes from 192.0.2.1: icmp_seq={0} ttl=64 time=1.5 ms\n"
    assert sniff(ping.format(1) + ping.format(2)) == "ping"


@pytest.mark.each(("text", "code"), [(b"", "file-empty"), (b"\n" * 1000 + b" ", "file-blank")])
def test_blanks_are_not_nothing(text, code):
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == code


def test_what_was_looked_for_is_said():
    with pytest.raises(ReaderError, match="rows of numbers below names with units"):
        read("-,-\n-,-\n")
