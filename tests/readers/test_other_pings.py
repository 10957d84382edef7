"""What resembles the output of ping and is none, and replies whose lines are missing."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, read_ping, sniff

# The form that irtt's manual shows, with an address for documentation.
IRTT = """\
[Connecting] connecting to 192.0.2.2
[192.0.2.2:2112] [Connected] connection established
seq=0 rtt=71.2µs rd=35.1µs sd=36.1µs ipdv=n/a
seq=1 rtt=104µs rd=52µs sd=52µs ipdv=32.8µs
seq=2 rtt=89.9µs rd=44.8µs sd=45.1µs ipdv=14.1µs
[192.0.2.2:2112] [WaitForPackets] waiting 312µs for final packets

                         Min     Mean   Median      Max  Stddev
                         ---     ----   ------      ---  ------
                RTT   71.2µs   88.4µs   89.9µs    104µs  16.5µs
         send delay   36.1µs   44.4µs   45.1µs     52µs  8.00µs

                duration: 402ms (wait 312µs)
   packets sent/received: 3/3 (0.00% loss)
"""


@pytest.mark.each(
    "text",
    {
        "whole": IRTT,
        "without its first lines": IRTT.partition("established\n")[2],
        "only replies": "".join(IRTT.splitlines(keepends=True)[2:5]),
        "only the end": IRTT.partition("final packets\n")[2],
    }.values(),
)
def test_irtt_is_read_as_its_own_and_never_as_ping(text):
    assert sniff(text.encode()) == "irtt"
    row = read(text.encode()).facts()[0]
    assert row["received_count"] == 3
    assert row["rtt_median_s"] == pytest.approx(89.9e-6)
    with pytest.raises(ReaderError) as refused:
        read_ping(text.encode())
    assert refused.value.code == "not-ping-output"


def test_a_numbered_line_with_a_time_is_no_probe_without_an_answer():
    """Three requests and no reply would be a loss of 100 %, of three that were answered."""
    lines = "".join(f"prefix seq={n} rtt=7{n}.5µs\n" for n in range(3))
    with pytest.raises(ReaderError):
        read_ping(lines.encode())


HEAD = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
LINES = [
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.00 ms\n",
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=2.00 ms\n",
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=6.00 ms (DUP!)\n",
    "64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=3.00 ms\n",
]
TAIL = (
    "\n--- 192.0.2.1 ping statistics ---\n"
    "3 packets transmitted, 3 received, +1 duplicates, 0% packet loss, time 400ms\n"
    "rtt min/avg/max/mdev = 1.000/3.000/6.000/1.870 ms\n"
)


def test_a_duplicate_without_its_first_reply_is_a_warning():
    """Derived: (1 + 6 + 3) / 3 ms is not the 3 ms of the summary, which counts the reply of 2."""
    whole = read_ping((HEAD + "".join(LINES) + TAIL).encode())
    assert [notice.code for notice in whole.meta.warnings] == []
    cut = read_ping((HEAD + LINES[0] + "".join(LINES[2:]) + TAIL).encode())
    codes = {notice.code: notice.values for notice in cut.meta.warnings}
    assert codes["duplicates-without-first"] == {"numbers": [3]}
    assert codes["time-differs"]["quantity"] == "avg"
    assert codes["time-differs"]["computed_s"] == pytest.approx(10e-3 / 3)
    assert (cut.sent, cut.received, cut.duplicates) == (3, 3, 1)


def test_the_summary_is_checked_where_a_first_reply_is_missing():
    """Derived: with the reply to 1 missing, too, two answers are there, not the three counted."""
    cut = read_ping((HEAD + "".join(LINES[2:]) + TAIL).encode())
    differs = [n.values for n in cut.meta.warnings if n.code == "count-differs"]
    assert differs == [{"quantity": "received", "printed": 3, "counted": 2}]


def test_numbers_far_apart_are_no_millions_of_lost_probes():
    """Derived: 100 lines that each go on by 30,000 would be 3 million probes."""
    line = "64 bytes from 192.0.2.1: icmp_seq={} ttl=64 time=1.00 ms\n"
    lines = (line.format(n * 30_000 % 65_536) for n in range(100))
    with pytest.raises(ReaderError) as refused:
        read_ping((HEAD + "".join(lines)).encode())
    assert refused.value.code == "sequences-too-far"
    one = "From 192.0.2.9 icmp_seq=999999999 Destination Host Unreachable\n"
    assert read_ping((HEAD + LINES[0] + one).encode()).sent == 1


def test_plain_lines_and_others_make_the_same_rows():
    """Identity: a line is the same reply whether its neighbours are plain or not."""
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=64 time={n % 7 + 0.25 * (n % 3)} ms\n"
        for n in range(1, 1500)
        if n % 11
    ]
    odd = "64 bytes from 192.0.2.1: icmp_seq=700 ttl=64 time=9.00 ms (DUP!)\n"
    whole = read_ping((HEAD + "".join(lines)).encode())
    mixed = read_ping((HEAD + "".join(line + "Nov 22 text\n" for line in lines)).encode())
    assert np.array_equal(whole.rtt_s, mixed.rtt_s, equal_nan=True)
    assert (whole.sequence == mixed.sequence).all()
    assert (whole.lost == mixed.lost).all()
    with_double = read_ping((HEAD + "".join([*lines[:800], odd, *lines[800:]])).encode())
    assert with_double.duplicates == 1
    assert with_double.sent == whole.sent
