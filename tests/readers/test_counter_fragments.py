"""Three lines of a list of counters: those that hold some are read, the others are named.

by hand: lines as the recorded files have them, without the head of their output.
"""

from __future__ import annotations

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

READ = {
    "sar": ("\n13:10:48        IFACE   rxpck/s   txpck/s\n"
            "13:10:49         eth0      100,00     50,00\n",
            {"rxpck/s": 100, "txpck/s": 50}),
    "sar, averages": ("Average:     atmptf/s  estres/s\nAverage:         0.00      1.50\n",
                      {"atmptf/s": 0, "estres/s": 1.5}),
    "nstat": ("TcpInSegs                       1592               0.0\n"
              "TcpOutSegs                      3000               0.0\n",
              {"TcpInSegs": 1592, "TcpOutSegs": 3000}),
    "ip -s link": ("    TX:  bytes packets errors dropped carrier collsns\n"
                   "      4011   71250      0       2       0       0\n",
                   {"tx_bytes": 4011, "tx_packets": 71250, "tx_dropped": 2}),
    "tc": (" Sent 40 bytes 4 pkt (dropped 1, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n",
           {"bytes": 40, "dropped": 1}),
    "ethtool -S": ("     rx_packets: 12\n     rx_errors: 3\n", {"rx_packets": 12, "rx_errors": 3}),
    "/proc/net": ("Tcp: 1 200 120000\nUdp: InDatagrams NoPorts\nUdp: 5 6\n",
                  {"InDatagrams": 5, "NoPorts": 6}),
    "sadf": ("a;1;2026-11-22 13:10:51;lo;0.00\n# hostname;interval;timestamp;IFACE;rxerr/s\n"
             "a;1;2026-11-22 13:10:50;lo;2.50\n", {"rxerr/s": 2.5}),
}  # fmt: skip
REFUSED = {
    "sar": ("13:10:49         eth0    100,00     50,00    146,48\n", "a line of names"),
    "sadf": ("client;1;2026-11-22 13:10:51;lo;0.00;0.00\n", "the line of names"),
    "/proc/net counters": ("  eth0: 10 2 0 0 0 0 0 0 30 4 0 0 0 0 0 0\n", "the line of names"),
    "netstat counters": ("    12 segments received\n    15 segments sent out\n", "(Tcp:)"),
    "netstat counters (Windows)": ("  Active Opens                        = 5\n", "the protocol"),
    "ss": ("\t cubic wscale:7,7 rto:204 rtt:3.1/1.5 mss:1448 cwnd:10 \n", "the line of the socket"),
    "ss -s": ("RAW\t  0         0         0        \n", "the total"),
}


@pytest.mark.each("tool", READ)
def test_counters_without_the_head_of_their_output(tool):
    text, expected = READ[tool]
    samples = read(text)
    values = dict(zip(samples["counter"].tolist(), samples["value"].tolist(), strict=True))
    assert {name: values.get(name) for name in expected} == expected
    assert samples.meta.partial


@pytest.mark.each("name", REFUSED)
def test_numbers_without_their_names_are_refused_by_the_name_of_their_tool(name):
    text, needs = REFUSED[name]
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == "part-of-output"
    assert needs in str(refused.value)


def test_sockets_without_a_header():
    for text in (
        "tcp   ESTAB  0      0          192.0.2.2:34446    192.0.2.1:5201\n",
        "tcp        0      0 192.0.2.2:34446     192.0.2.1:5201     ESTABLISHED\n",
        "   0: 0100007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 0 0 1 1\n",
    ):
        assert len(read(text + text.replace("34446", "34447")).columns()["local"]) == 2


def test_a_refusal_of_the_tools_own_reader_stays():
    text = "# hostname;interval;timestamp;IFACE;rxpck/s\na;1;2026-11-22 12:00:10 UTC;eth0;1,5\n"
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert (refused.value.code, refused.value.line) == ("not-a-number", 2)
