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
    "ip route": "default via 192.0.2.1 dev eth0 proto dhcp metric 100\n192.0.2.0/24 dev eth0\n",
    "tc": "qdisc noqueue 0: dev lo root refcnt 2\nqdisc fq_codel 0: dev eth0 root refcnt 2\n",
    "ethtool": "# ethtool eth0\nSettings for eth0:\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n",
    "nload": "Device eth0 [192.0.2.10] (1/1):\n==========\nIncoming:\nCurr: 1.36 MBit/s\n",
    "iftop": "Listening on eth0\n   # Host name (port/service if enabled)            last 2s\n"
    "   1 192.0.2.1:22      =>        60B        60B        60B       120B\n",
    "bmon": "Interfaces      \u2502 RX bps       pps     %\u2502 TX bps       pps     %\n"
    " >lo            \u2502   1.61KiB      6      \u2502   1.61KiB      6\n",
    "vnstat": "Database updated: 2021-06-28 22:00:00\n\n   eth0 since 2021-01-29\n\n"
    "          rx:  3.33 TiB      tx:  4.25 TiB      total:  7.58 TiB\n",
    "ifconfig": "en0: flags=8863<UP,BROADCAST>  mtu 1500\n\tether 02:00:00:00:00:01\n",
    "nmcli": "GENERAL.DEVICE:   eth0\nGENERAL.MTU:   1500\n",
    "ipconfig": "\nWindows-IP-Konfiguration\n\nEthernet-Adapter Ethernet:\n",
    "/proc/net table": "Iface\tDestination\tGateway \tFlags\neth0\t00000000\t0100A8C0\t0003\n",
    "vmstat": "procs -----------memory----------\n r  b   swpd   free\n 1  0      0 123\n",
    "sysctl": "net.ipv4.tcp_sack = 1\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n",
    "ARP table": "? (192.0.2.1) at 02:00:00:00:00:09 [ether] on eth0\n",
    "resolver": "nameserver 192.0.2.53\nsearch example.net\n",
    "HTTP headers": "HTTP/1.1 200 OK\nContent-Length: 12\n",
    "configuration": "# a file of settings\n#\n#   Port 22\nHost *\n",
    "keys": "passwd: files\nhosts: files dns\n",
    "shell script": "#!/bin/bash\nping -c 3 192.0.2.1\n",
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


@pytest.mark.each(
    "settings",
    [
        "Features for eth0:\nrx-checksumming: on\ntx-checksumming: on\n",
        "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\n",
        "Pre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\n",
        "driver: e1000e\nversion: 6.1\nfirmware-version: 0.13-4\n",
        "rx-checksumming: on\ntx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\n",
    ],
)
def test_settings_of_ethtool_are_neither_yaml_nor_markdown(settings):
    assert sniff(settings) == sniff("# ethtool\n" + settings) == "ethtool"
    with pytest.raises(ReaderError, match="netcalc reads ethtool -S"):
        read(settings)


def test_only_what_cannot_be_else_is_yaml_or_markdown():
    assert sniff("---\na: 1\n") == sniff("a:\n  b: 1\n") == "YAML"
    assert sniff("# Title\n\n- a\n- b\n# other\n") == "Markdown"
    assert sniff("# one\n# two\nHost *\n  Port 22 a b\n") == "configuration"


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
