"""Sizes in the table of facts of ``netcalc read``: what is compared is in one system of units."""

from __future__ import annotations

import re

from click.testing import CliRunner

from netcalc.cli import commands

RUN = """\
Connecting to host 192.0.2.20, port 5201
[  5] local 192.0.2.10 port 40010 connected to 192.0.2.20 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  {sent}  50.3 Mbits/sec    0             sender
[  5]   0.00-10.02  sec  {received}  50.1 Mbits/sec                  receiver

iperf Done.
"""


def shown(text):
    printed = CliRunner().invoke(commands, ["read", "--all", "-"], input=text).output
    return re.findall(r"^(?:sent|received)_byte_count +(\S+ \S+)", printed, re.MULTILINE)


def test_sizes_that_are_compared_are_in_one_system():
    # derived: 60 * 1024**2 and 59.8 * 1024**2 bytes
    for sent, received, expected in (
        ("60.0 MBytes", "59.8 MBytes", ["62.91456 MB", "62.7 MB"]),
        ("60.0 MBytes", "60.0 MBytes", ["60 MiB", "60 MiB"]),
        ("60.1 MBytes", "59.8 MBytes", ["63.02 MB", "62.7 MB"]),
    ):
        assert shown(RUN.format(sent=sent, received=received)) == expected
