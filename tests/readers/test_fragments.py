"""Three lines of an output: read, or refused by the tool's name with what is missing.

Values are read off the lines by eye. A lost head leaves the target and the size unknown.
"""

from __future__ import annotations

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

READ = {
    "replies of iputils": (
        "64 bytes from 192.0.2.7: icmp_seq=41 ttl=57 time=12.1 ms\n"
        "64 bytes from 192.0.2.7: icmp_seq=42 ttl=57 time=13.4 ms\n"
        "64 bytes from 192.0.2.7: icmp_seq=44 ttl=57 time=12.6 ms\n",
        {"received_count": 3, "sent_count": 4, "rtt_min_s": 0.0121, "rtt_max_s": 0.0134},
    ),
    "summary of iputils": (
        "--- 192.0.2.7 ping statistics ---\n"
        "40 packets transmitted, 38 received, 5% packet loss, time 39058ms\n"
        "rtt min/avg/max/mdev = 11.904/12.744/19.022/1.311 ms\n",
        {"sent_count": 40, "received_count": 38, "loss_ratio": 0.05},
    ),
    "summary of macOS": (
        "5 packets transmitted, 4 packets received, 20.0% packet loss\n"
        "round-trip min/avg/max/stddev = 8.118/9.402/11.930/1.403 ms\n",
        {"sent_count": 5, "received_count": 4, "loss_ratio": 0.2},
    ),
    "replies of Windows in German": (
        "Antwort von 192.0.2.7: Bytes=32 Zeit=9ms TTL=57\n"
        "Zeit\u00fcberschreitung der Anforderung.\n"
        "Antwort von 192.0.2.7: Bytes=32 Zeit=11ms TTL=57\n",
        {"sent_count": 3, "received_count": 2, "rtt_min_s": 0.009, "rtt_max_s": 0.011},
    ),
    "summary of Windows": (
        "    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\n"
        "Approximate round trip times in milli-seconds:\n"
        "    Minimum = 9ms, Maximum = 12ms, Average = 10ms\n",
        {"sent_count": 4, "received_count": 3, "loss_ratio": 0.25},
    ),
    "unreachable on Windows": (
        "Reply from 192.0.2.10: Destination host unreachable.\n"
        "Reply from 192.0.2.10: Destination host unreachable.\n"
        "Reply from 192.0.2.10: Destination host unreachable.\n",
        {"sent_count": 3, "received_count": 0, "loss_ratio": 1.0},
    ),
    "replies of fping": (
        "192.0.2.7 : [0], 64 bytes, 12.1 ms (12.1 avg, 0% loss)\n"
        "192.0.2.7 : [1], 64 bytes, 12.5 ms (12.3 avg, 0% loss)\n"
        "192.0.2.7 : [2], 64 bytes, 11.7 ms (12.1 avg, 0% loss)\n",
        {"received_count": 3, "rtt_min_s": 0.0117, "rtt_max_s": 0.0125},
    ),
    "hops of traceroute": (
        " 4  198.51.100.9 (198.51.100.9)  8.212 ms  8.190 ms  8.301 ms\n"
        " 5  * * *\n"
        " 6  203.0.113.2 (203.0.113.2)  11.412 ms  11.308 ms  11.377 ms\n",
        {"probe_count": 9, "reply_count": 6},
    ),
    "hops of tracert": (
        "  4     8 ms     8 ms     9 ms  198.51.100.9\n"
        "  5     *        *        *     Request timed out.\n"
        "  6    11 ms    11 ms    12 ms  203.0.113.2\n",
        {"probe_count": 9, "reply_count": 6},
    ),
    "intervals of iperf3": (
        "[  5]   3.00-4.00   sec   112 MBytes   941 Mbits/sec    0    396 KBytes       \n"
        "[  5]   4.00-5.00   sec   112 MBytes   939 Mbits/sec    2    396 KBytes       \n"
        "[  5]   5.00-6.00   sec   112 MBytes   940 Mbits/sec    0    396 KBytes       \n",
        {"stream_count": 1, "retransmit_count": 2},
    ),
    "a lone sum of iperf3": (
        "[SUM]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec   31             sender\n"
        "[SUM]   0.00-10.04  sec  1.09 GBytes   936 Mbits/sec                  receiver\n",
        {"sent_rate_bps": 940e6, "received_rate_bps": 936e6, "retransmit_count": 31},
    ),
    "totals of iperf3": (
        "[  5]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    3             sender\n"
        "[  5]   0.00-10.04  sec  1.09 GBytes   937 Mbits/sec                  receiver\n"
        "\n"
        "iperf Done.\n",
        {"sent_rate_bps": 942e6, "received_rate_bps": 937e6, "retransmit_count": 3},
    ),
    "totals of iperf3 over UDP": (
        "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
        "[  5]   0.00-10.00  sec   596 MBytes   500 Mbits/sec  0.000 ms  0/431639 (0%)  sender\n"
        "[  5]   0.00-10.04  sec   298 MBytes   249 Mbits/sec  0.013 ms  215820/431639 (50%)"
        "  receiver\n",
        {
            "sent_rate_bps": 500e6,
            "received_rate_bps": 249e6,
            "lost_datagram_count": 215820,
            "datagram_count": 431639,
            "jitter_s": 13e-6,
        },
    ),
    "a lone sum of iperf 2": (
        "[SUM] 0.0000-10.0021 sec   112 GBytes  96.4 Gbits/sec\n",
        {"duration_s": 10.0021},
    ),
    "two sockets of ss": (
        "ESTAB 0 0 192.0.2.7:22 198.51.100.9:50812\n"
        "\t cubic wscale:7,7 rto:236 rtt:32.1/8.2 mss:1448 cwnd:10 bytes_acked:23421 "
        "retrans:0/3\n",
        {"tcp_connection_count": 1},
    ),
    "counters of nstat": (
        "TcpOutSegs                      20312              0.0\n"
        "TcpRetransSegs                  12                 0.0\n"
        "TcpInErrs                       0                  0.0\n",
        {},
    ),
    "lines of tcpdump": (
        "10:00:00.000000 IP 192.0.2.7 > 198.51.100.9: ICMP echo request, id 7, seq 1, length 64\n"
        "10:00:00.012100 IP 198.51.100.9 > 192.0.2.7: ICMP echo reply, id 7, seq 1, length 64\n"
        "10:00:01.001000 IP 192.0.2.7 > 198.51.100.9: ICMP echo request, id 7, seq 2, length 64\n",
        {"packet_count": 3},
    ),
    "totals of speedtest-cli": (
        "Ping: 18.211 ms\nDownload: 93.54 Mbit/s\nUpload: 19.29 Mbit/s\n",
        {"received_rate_bps": 93.54e6},
    ),
    "mininet's list": (
        "*** Iperf: testing TCP bandwidth between h1 and h2 \n"
        "*** Results: ['21.9 Gbits/sec', '22.0 Gbits/sec']\n",
        {},
    ),
    "a link of iw": (
        "\tsignal: -52 dBm\n\trx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2\n"
        "\ttx bitrate: 780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2\n",
        {},
    ),
    "rows of mtr without their head": (
        "  2.|-- 198.51.100.9               0.0%    10    8.2   8.4   8.1   9.0   0.3\n"
        "  3.|-- 203.0.113.2               10.0%    10   11.2  11.4  11.1  12.0   0.3\n",
        {"responding_hop_count": 2, "partial": True},
    ),
    "a total of iperf3 as code in a chat": (
        "`[SUM]   0.00-10.00  sec   358 MBytes   300 Mbits/sec  4211             sender`\n",
        {"sent_rate_bps": 300e6, "retransmit_count": 4211},
    ),
    "times of curl by own labels": (
        "    dns_time: 0.004512\n    connect: 0.024912\n    appconnect: 0.072112\n"
        "    starttransfer: 0.322100\n    total: 1.322100\n    size: 12500000\n",
        {
            "received_byte_count": 12500000,
            "duration_s": 1.3221,
            "received_rate_bps": 1e8 / 1.3221,
            "handshake_rtt_min_s": 0.0204,
        },
    ),
    "times of curl by other labels": (
        "DNS lookup: 0.004512s\nTCP connect: 0.024912s\nTLS: 0.072112s\nTotal time: 1.322100s\n",
        {"duration_s": 1.3221, "handshake_rtt_min_s": 0.0204},
    ),
    "numbers of netperf without their head": (
        "131072  16384  16384    10.00    9412.31   \n",
        {"sent_rate_bps": 9412.31e6},
    ),
    "receive lines of ip": (
        "    RX: bytes  packets  errors  dropped overrun mcast   \n"
        "    1234567    8901     0       0       0       0       \n"
        "    TX: bytes  packets  errors  dropped carrier collsns \n",
        {"counter:rx_bytes": 1234567, "partial": True},
    ),
}

REFUSED = {
    "a head of iperf3": (
        "Connecting to host 192.0.2.7, port 5201\n"
        "[  5] local 192.0.2.1 port 40000 connected to 192.0.2.7 port 5201\n",
        "iperf",
    ),
    "a head of columns of iperf3": (
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n", "iperf"),
    "a head of ping": ("PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.\n", "ping"),
    "a head of traceroute": (
        "traceroute to 192.0.2.7 (192.0.2.7), 30 hops max, 60 byte packets\n", "traceroute"),
    "the head of ss": (
        "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n", "ss"),
    "details of ss": (
        "\t cubic wscale:7,7 rto:236 rtt:32.1/8.2 mss:1448 cwnd:10 bytes_acked:23421\n", "ss"),
    "rows of Wireshark without their head": (
        '"5","0.216624","2001:db8::1","2001:db8::1","ICMPv6","118","Echo (ping) request"\n'
        '"6","0.216636","2001:db8::1","2001:db8::1","ICMPv6","118","Echo (ping) reply"\n',
        "Wireshark",
    ),
    "a head of Windows": (
        "Pinging 192.0.2.7 with 32 bytes of data:\n", "ping"),
    "an averages line of Windows": (
        "Approximate round trip times in milli-seconds:\n"
        "    Minimum = 9ms, Maximum = 12ms, Average = 10ms\n", "ping"),
    "the times of a summary": (
        "rtt min/avg/max/mdev = 11.2/15.9/98.7/12.1 ms\n", "that of the packets it counted"),
    "the times of a summary of Windows": (
        "    Minimum = 11ms, Maximum = 98ms, Average = 15ms\n", "the output of ping"),
    "a sentence": (
        "Ping 12 ms, Download 93 Mbit/s, Upload 38 Mbit/s - gebucht sind 250/40!!\n",
        "neither the output of a known tool nor columns; expected lines as a measuring tool"),
    "a banner of netperf": (
        "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.7\n"
        "Recv   Send    Send                          \n"
        "Socket Socket  Message  Elapsed              \n", "netperf"),
    "a line of /proc/net/dev": (
        "  eth0: 1234567 8901 0 0 0 0 0 0 7654321 1098 0 0 0 0 0 0\n", "/proc/net"),
    "a head of nccl-tests": (
        "#       size         count      type   redop    root     time   algbw   busbw\n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n", "nccl"),
    "a head of WinMTR": (
        "|------------------------------------------------------------------------|\n"
        "|                       WinMTR statistics                                |\n"
        "|   Host              -   %  | Sent | Recv | Best | Avrg | Wrst | Last |\n", "WinMTR"),
    "a head of Ookla": (
        "   Speedtest by Ookla\n\n      Server: Example - City (id: 1)\n", "speed test"),
    "a head of tracert": (
        "Tracing route to example.com [192.0.2.7]\nover a maximum of 30 hops:\n", "tracert"),
    "routes of macOS": (
        "192.168.1.89       d0:3:4b:3b:28:d5   UHLWIi          1     4588   1500     en0   1132\n"
        "192.168.1.186      50:32:37:d7:f5:9b  UHLWIi          1     6123   1500     en0   1181\n"
        "192.168.1.216      3c:37:86:15:ad:f7  UHLWI           0       16   1500     en0    565\n",
        "netstat"),
    "routes of macOS by IPv6": (
        "fe80::%utun0/64        fe80::30fe:52f1:103c:c66c%utun0 UcI   2  0   2000    utun0\n"
        "fe80::1%lo0            link#1                          UHLI  0  0  16384      lo0\n",
        "netstat"),
    "addresses of ifconfig": (
        "        inet 192.0.2.2  netmask 255.255.255.0  broadcast 192.0.2.255\n"
        "        ether 02:00:00:00:00:01  txqueuelen 1000  (Ethernet)\n", "ifconfig"),
    "a histogram of latte with its head": (
        "Interval(usec)     Frequency\n    0      0\n  103      1664\n", "latte"),
    "an interface of netsh": (
        "    Name                   : Wi-Fi\n    Description            : Intel(R) Wi-Fi 6E\n"
        "    Physical address       : 02:00:00:00:00:01\n", "netsh"),
    "an interface of wdutil": (
        "    MAC Address          : 02:00:00:00:00:01 (hw=02:00:00:00:00:01)\n"
        "    Interface Name       : en0\n", "wdutil"),
    "a run of netesto": ("host:client\ndur:60\ncwnd:83\n", "etesto"),
    "the end of the Intel MPI Benchmarks": (
        "\n# All processes entering MPI_Finalize\n\n", "Intel MPI"),
    "totals of rsync": ("Total bytes sent: 734,182,514\nTotal bytes received: 35\n\n", "rsync"),
    "a row of perftest": (
        " 65536      5000             11032.45            11030.12\t\t   0.176482\n----------\n",
        "perftest"),
    "timeouts of arping": ("Timeout\nTimeout\nTimeout\n", "arping"),
    "a heading of paping": ("Connection timed out\n\nConnection statistics:\n", "paping"),
    "a heading of pScheduler": ("TTL Statistics\n--------------\n", "pScheduler"),
    "labels of NextTrace": (
        "                                              2.73 ms / 2.80 ms\n"
        "    [MPLS: Lbl 24000, TC 0, S 1, TTL 1]\n", "NextTrace"),
    "a heading of WinMTR in HTML": (
        '<center><h2>WinMTR statistics</h2></center>\n<table border="1" align="center">\n',
        "WinMTR"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_lines_of_a_measurement_are_read(name):
    text, facts = READ[name]
    samples = read(text)
    row = samples.facts()[0]
    for fact, value in facts.items():
        assert row[fact] == pytest.approx(value, rel=1e-9), fact


@pytest.mark.parametrize("name", REFUSED)
def test_lines_of_none_are_refused_by_the_name_of_their_tool(name):
    text, tool = REFUSED[name]
    with pytest.raises(ReaderError) as error:
        read(text)
    assert tool in str(error.value)


@pytest.mark.parametrize("lines", [
    "connect: 24.9\ntotal: 1322.1\n", "connect: 24.912 ms\ntotal: 1322.100 ms\n",
    "connect: 3\ntotal: 12\n", "total: 1.322100\nsize: 12500000\n",
])  # fmt: skip
def test_numbers_that_curl_does_not_write_are_none_of_its_times(lines):
    """It writes seconds with six decimals; others may be in ms, or count connections."""
    assert sniff(lines) != "curl"
