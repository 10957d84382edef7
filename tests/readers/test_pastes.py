"""Outputs as people paste them: quoted, indented, in fences, behind a prompt, beside others.

Facts are read off the outputs by eye; what surrounds them must not change one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

PING = (
    "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms\n"
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=0.512 ms\n"
    "\n"
    "--- 192.0.2.1 ping statistics ---\n"
    "2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n"
    "rtt min/avg/max/mdev = 0.481/0.496/0.512/0.015 ms\n"
)
TRACE = (
    "traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets\n"
    " 1  10.0.0.1 (10.0.0.1)  0.345 ms  0.312 ms  0.298 ms\n"
    " 2  192.0.2.9 (192.0.2.9)  1.345 ms  1.312 ms  1.298 ms\n"
)
MTR = (
    "Start: 2024-05-01T12:00:00+0200\n"
    "HOST: box                         Loss%   Snt   Last   Avg  Best  Wrst StDev\n"
    "  1.|-- 10.0.0.1                   0.0%    10    0.4   0.4   0.3   0.6   0.1\n"
    "  2.|-- 192.0.2.9                  0.0%    10    1.4   1.4   1.3   1.6   0.1\n"
)
IPERF3 = (
    "Connecting to host 10.0.0.2, port 5201\n"
    "[  5] local 10.0.0.1 port 40032 connected to 10.0.0.2 port 5201\n"
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    "[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    400 KBytes       \n"
    "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
    "[ ID] Interval           Transfer     Bitrate         Retr\n"
    "[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    3             sender\n"
    "[  5]   0.00-1.04   sec   111 MBytes   895 Mbits/sec                  receiver\n"
    "\n"
    "iperf Done.\n"
)
SS = (
    "State  Recv-Q  Send-Q   Local Address:Port    Peer Address:Port  Process\n"
    "ESTAB  0       0        10.0.0.1:22           10.0.0.2:50000\n"
    "\t cubic wscale:7,7 rto:204 rtt:1.5/0.75 mss:1448 pmtu:1500 cwnd:10 bytes_acked:1001\n"
)
OSU = (
    "# OSU MPI Latency Test v5.8\n"
    "# Size          Latency (us)\n"
    "0                       1.10\n"
    "1                       1.11\n"
)
CSV = "size_bytes,rtt_ms\n100,1.5\n200,1.6\n300,1.7\n"
ADDRESSES = (
    "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default\n"
    "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
    "    inet 127.0.0.1/8 scope host lo\n"
)

FACTS = {
    PING: {"target": "192.0.2.1", "sent_count": 2, "received_count": 2, "rtt_max_s": 0.000512,
           "printed_loss_ratio": 0.0, "partial": False},
    TRACE: {"target": "192.0.2.9", "hop_count": 2, "reply_count": 6, "partial": False},
    MTR: {"hop_count": 2, "responding_hop_count": 2, "partial": False},
    IPERF3: {"target": "10.0.0.2", "sent_rate_bps": 941e6, "received_rate_bps": 895e6,
             "retransmit_count": 3, "partial": False},
    SS: {"connection_count": 1, "rtt_s": 0.0015, "mss_bytes": 1448, "partial": False},
    OSU: {"way": "one way, half of a round trip", "partial": False},
    CSV: {"sent_count": 3, "rtt_min_s": 0.0015, "rtt_max_s": 0.0017, "max:payload_bytes": 300},
}  # fmt: skip


def _before(mark: str) -> Callable[[str], str]:
    return lambda text: "".join(mark + line for line in text.splitlines(keepends=True))


def _around(start: str, end: str) -> Callable[[str], str]:
    return lambda text: start + text + end


WRAPPED = {
    "four blanks": _before("    "),
    "a tab": _before("\t"),
    "a quote": _before("> "),
    "a quote in a quote": _before("> > "),
    "a quote without a blank": _before(">"),
    "bullets": _before("* "),
    "bars": _before("| "),
    "line numbers": lambda text: "".join(
        f"{n:4d}  {line}" for n, line in enumerate(text.splitlines(keepends=True), 1)
    ),
    "time stamps": _before("2024-05-01 12:00:07 "),
    "a fence": _around("```console\n", "```\n"),
    "an indented fence": lambda text: _before("    ")("```\n" + text + "```\n"),
    "Jira": _around("{noformat}\n", "{noformat}\n"),
    "HTML": _around("<pre><code>", "</code></pre>\n"),
    "a prompt": _around("user@host:~$ tool 192.0.2.1\n", "user@host:~$ "),
    "a prompt of Windows": _around("C:\\Users\\me>tool 192.0.2.1\n\n", "\nC:\\Users\\me>"),
    "a prompt of root": _around("[root@host ~]# tool 192.0.2.1\n", "[root@host ~]# "),
    "colours": lambda text: "\x1b[32m" + text.replace("\n", "\x1b[0m\n\x1b[32m"),
    "blanks that do not break": lambda text: text.replace(" ", "\u00a0"),
    "a blank without width": _around("\u200b", ""),
    "dashes of a chat": lambda text: text.replace("--", "\u2014"),
    "a mark of byte order, and Windows": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "a mail": lambda text: (
        "Hi,\nhere is what I see today:\n\n" + _before("    ")(text) + "\nAny idea, please?\n"
    ),
    "an answer": lambda text: "On Monday somebody wrote:\n" + _before("> ")(text) + "\nWhy?\n",
}  # fmt: skip


@pytest.mark.parametrize("form", WRAPPED)
@pytest.mark.parametrize("text", FACTS, ids=["ping", "trace", "mtr", "iperf3", "ss", "OSU", "CSV"])
def test_what_is_around_an_output_changes_no_fact(text: str, form: str) -> None:
    facts = dict(read(WRAPPED[form](text)).facts()[0])
    expected = FACTS[text]
    assert {name: facts.get(name) for name in expected} == pytest.approx(expected)


def test_lines_keep_their_numbers_and_what_is_left_is_said() -> None:
    samples = read("Dear list,\n\n" + CSV + "\nAny idea, please?\n")
    left = [notice.values["numbers"] for notice in samples.meta.warnings]
    assert left == [[1], [8]]
    samples = read("Here is the result:\n" + '{"type": "result"' + "\n" + "}\n" + PING)
    assert samples.meta.tool.startswith("ping")


@pytest.mark.parametrize(("first", "second"), [
    (PING, TRACE), (TRACE, PING), (PING, IPERF3), (IPERF3, PING), (CSV, PING), (MTR, OSU),
])  # fmt: skip
def test_of_two_tools_the_first_is_read_and_the_other_is_named(first: str, second: str) -> None:
    samples = read(first + "\n" + second)
    facts = dict(samples.facts()[0])
    assert {name: facts.get(name) for name in FACTS[first]} == pytest.approx(FACTS[first])
    (notice,) = (each for each in samples.meta.warnings if each.code == "left-to-another-file")
    assert "Save these lines in a file of their own" in str(notice)
    after = first.count("\n") + 1
    filled = [n for n, line in enumerate(second.splitlines(), after + 1) if line]
    assert notice.values["numbers"] == filled


PATHPING = (
    "\n  0  192.0.2.5\n  1  10.0.0.1\n  2  192.0.2.9\n\nComputing statistics for 50 seconds...\n"
    "            Source to Here   This Node/Link\n"
    "Hop  RTT    Lost/Sent = Pct  Lost/Sent = Pct  Address\n"
    "  0                                           192.0.2.5\n"
    "                                0/ 100 =  0%   |\n"
    "  1    2ms     0/ 100 =  0%     0/ 100 =  0%  10.0.0.1\n"
    "                               13/ 100 = 13%   |\n"
    "  2   22ms    16/ 100 = 16%     3/ 100 =  3%  192.0.2.9\n\nTrace complete.\n"
)


@pytest.mark.parametrize("heading", [
    "Tracing route to 192.0.2.9 over a maximum of 30 hops\n",
    "\nTracing route to corp1 [192.0.2.9]\nover a maximum of 30 hops:",
])  # fmt: skip
def test_the_heading_of_pathping_is_its_own(heading: str) -> None:
    samples = read(heading + PATHPING)
    assert (samples.meta.tool, samples.meta.warnings) == ("pathping", ())


def test_a_number_of_a_line_without_text_is_not_left_out() -> None:
    lines = enumerate(PING.splitlines(), 1)
    samples = read("".join(f"{number}: {line}\n" for number, line in lines))
    assert (len(samples), samples.meta.warnings) == (2, ())


def test_addresses_in_front_do_not_win() -> None:
    for text, expected in list(FACTS.items())[:-1]:
        samples = read(ADDRESSES + text)
        facts = dict(samples.facts()[0])
        assert {name: facts.get(name) for name in expected} == pytest.approx(expected)
        notice = samples.meta.warnings[-1]
        assert (notice.code, notice.values["numbers"]) == ("left-to-others", [1, 2, 3])


def test_two_runs_of_a_tool_are_two_runs() -> None:
    other = IPERF3.replace("40032", "40044").replace("112 MBytes   941", "96.8 MBytes   812")
    other = other.replace("111 MBytes   895", "99.2 MBytes   800")
    rows = read("$ iperf3 -c 10.0.0.2\n" + IPERF3 + "$ iperf3 -c 10.0.0.2\n" + other).facts()
    assert [row["sent_rate_bps"] for row in rows] == [941e6, 812e6]


@pytest.mark.parametrize(("lines", "tool"), [
    ("    Forwarding: 2\n    9698 total packets received\n    0 forwarded\n", "netstat"),
    ("    Quick ack mode was activated 1 times\n    4 packet headers predicted\n", "netstat"),
    ("TCP congestion control using cubic\nTOS set to 0x0 and nodelay (Nagle off)\n"
     "TCP window size: 16.0 KByte (default)\n", "iperf 2"),
    ("Ip6ReasmReqds                   \t0\nIp6ReasmOKs                     \t0\n", "/proc/net"),
    ("nl    UNCONN 0      0                  0:0                 *\n"
     "nl    UNCONN 832    0                  4:0                 *\n", "ss"),
    ("1                       3.92\n2                       8.00\n", "OSU"),
    ("4                       9.06              7.25             10.88        1000\n"
     "8                       8.84              7.07             10.61        1000\n", "OSU"),
    ("            0         1000         1.72         0.00\n"
     "            1         1000         1.73         0.58\n", "Intel"),
    ("0, 2.414715281, 2.417304289, 1294.504\n1, 2.461208418, 2.461377859, 84.721\n", "sockperf"),
    ("    Cipher                 : CCMP\n    Connection mode        : Profile\n"
     "    Channel                : 36\n", "netsh"),
])  # fmt: skip
def test_a_part_is_no_table_and_its_tool_is_named(lines: str, tool: str) -> None:
    with pytest.raises(ReaderError) as refused:
        read(lines)
    assert refused.value.code == "part-of-output"
    assert tool in str(refused.value)
