"""Counters: /proc/net, nstat, ip, tc, ethtool, netstat, sar and sadf.

Expected numbers are read off the recorded files by eye (``tests/readers/inputs/counters``), or off
the text beside them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "counters"

# file -> group -> counter -> value
COUNTERS = {
    "ifconfig.txt": {
        "eth0": {
            "rx_packets": 415114, "rx_bytes": 50820091, "rx_errors": 3, "rx_dropped": 35,
            "rx_overruns": 1, "rx_frame": 2, "tx_packets": 94217, "tx_bytes": 27958113,
            "tx_errors": 4, "tx_dropped": 5, "tx_overruns": 0, "tx_carrier": 6, "tx_collisions": 7,
        },
        "lo": {"rx_packets": 118, "tx_bytes": 9412},
    },
    "ifconfig_old.txt": {
        "eth0": {
            "rx_packets": 41620, "rx_errors": 1, "rx_dropped": 2, "rx_overruns": 3, "rx_frame": 4,
            "tx_packets": 40231, "tx_errors": 5, "tx_dropped": 6, "tx_overruns": 7, "tx_carrier": 8,
            "tx_collisions": 9, "rx_bytes": 21601203, "tx_bytes": 6145876,
        },
    },
    "proc_dev.txt": {"v0": {"rx_bytes": 641377, "tx_bytes": 4011742690, "tx_packets": 71247}},
    "proc_snmp.txt": {
        "Tcp": {"InSegs": 9695, "OutSegs": 2769127, "RetransSegs": 393, "MaxConn": -1},
        "Udp": {"InErrors": 0}, "Ip": {"DefaultTTL": 64},
    },
    "proc_netstat.txt": {"IpExt": {"InOctets": 505019, "OutOctets": 4010744716}},
    "proc_snmp6.txt": {"": {"Ip6InReceives": 7}},
    "nstat_a.txt": {"": {"TcpRetransSegs": 393, "IpInReceives": 9695}},
    "nstat.json": {"": {"IcmpOutEchos": 3, "IpExtInOctets": 252}},
    "ip_s.txt": {"v0": {"rx_bytes": 641671, "tx_bytes": 4011742984, "rx_mcast": 0}},
    "ip_ss.txt": {"v0": {"rx_bytes": 641671, "rx_errors_crc": 0}},
    "ip_s.json": {"v0": {"rx_bytes": 641671, "tx_bytes": 4011742984, "rx_multicast": 0}},
    "tc_noqueue.txt": {"v0 noqueue 0:": {"bytes": 0, "dropped": 0}},
    "tc_noqueue.json": {"v0 noqueue 0:": {"bytes": 0, "drops": 0}},
    "tc_fq_codel.txt": {
        "eth0 htb 1:": {"bytes": 98765432, "dropped": 37, "overlimits": 51234,
                        "backlog_bytes": 3028},
        "eth0 fq_codel 110:": {"bytes": 98762404, "ecn_mark": 5, "backlog_bytes": None,
                               "backlog_packets": 80},
    },
    "tc_fq_codel.json": {"eth0 fq_codel 8001:": {"drops": 37, "ecn_mark": 5, "target": None}},
    "ethtool.txt": {"": {"peer_ifindex": 2, "rx_queue_0_drops": 0}},
    "ethtool.json": {"eth0": {"rx_packets": 109378, "rx_missed_errors": 3}},
    "netstat_s.txt": {
        "Tcp": {"segments sent out": 2769127, "segments retransmitted": 393},
        "Icmp": {"ICMP input histogram: echo replies": 3},
    },
    "netstat_s_bsd.txt": {
        "tcp": {"packets sent": 1211, "data packets": 840, "data packets (bytes)": 612345,
                "data packets retransmitted": 3, "acks": 610, "acks (bytes)": 612001},
        "udp": {"datagrams received": 42},
    },
    "netstat_s_windows.txt": {
        "IPv4 Statistics": {"Packets Received": 123456, "Received Address Errors": 12},
        "ICMPv4 Statistics": {"Messages (Received)": 58, "Messages (Sent)": 61},
        "TCP Statistics for IPv4": {"Segments Retransmitted": 321},
        "UDP Statistics for IPv4": {"No Ports": 7},
    },
    "netstat_i.txt": {"v0": {"RX-OK": 9706, "TX-OK": 71250, "MTU": 1500}},
    # The averages at the end of the files.
    "sar_net.txt": {
        "v0": {"rxpck/s": 1592, "txkB/s": 698222.88, "%ifutil": 57.2, "rxerr/s": 0},
        "": {"retrans/s": 1.5, "oseg/s": 493575.5},
    },
    "sar_clock12.txt": {"eth0": {"rxpck/s": 200, "rxkB/s": 292.97}},
    "sar_german.txt": {"eth0": {"rxpck/s": 100, "rxkB/s": 146.48, "%ifutil": 0.12}},
    "sadf.csv": {"v0": {"rxpck/s": 0}},
    "sadf_pairs.txt": {"v0": {"rxpck/s": 0}},
    "sadf_local.csv": {"v0": {"rxpck/s": 0, "rxerr/s": 0}},
    "sadf.json": {"v0": {"rxpck": 0}},
    "proc_sockstat.txt": {"sockets": {"used": 231}, "TCP": {"inuse": 5, "tw": 3, "mem": 2},
                          "UDP": {"inuse": 2}, "FRAG": {"memory": 0}},
    "proc_sockstat6.txt": {"TCP6": {"inuse": 2}},
    # 0xa3f1 and 0x1000; the second row is of processor 2
    "proc_softnet.txt": {
        "CPU 0": {"softnet_processed": 41969, "softnet_dropped": 0, "softnet_time_squeeze": 2},
        "CPU 2": {"softnet_processed": 4096, "softnet_dropped": 16}},
}  # fmt: skip


def counters(samples):
    found = {}
    for row in samples.facts():
        values = {key.removeprefix("counter:"): value for key, value in row.items()}
        found[row.get("group", "")] = values
    return found


@pytest.mark.each("name", sorted(COUNTERS))
def test_counters_of_recorded_files(name):
    samples = read(INPUTS / name)
    found = counters(samples)
    for group, wanted in COUNTERS[name].items():
        assert {key: found[group].get(key) for key in wanted} == wanted
    assert not samples.meta.partial
    assert set(codes(samples)) <= {"sadf-local-time"}


def test_every_recorded_file_has_expected_counters():
    sockets = [*INPUTS.glob("ss_*"), *INPUTS.glob("tcp_info.*")]
    lists = {"netstat_list.txt", "proc_net_tcp.txt"}  # see test_read_socket_lists.py
    others = {path.name for path in sockets} | {"MANIFEST.csv"} | lists
    assert {path.name for path in INPUTS.iterdir()} - others == set(COUNTERS)


def test_text_and_json_of_one_moment_agree():
    """Identity: ip printed both within a second, on a device without traffic."""
    text, json = (counters(read(INPUTS / name)) for name in ("ip_s.txt", "ip_s.json"))
    for name in ("rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_errors"):
        assert text["v0"][name] == json["v0"][name]


def test_the_clock_of_sar_passes_midnight():
    times = read(INPUTS / "sar_clock12.txt")["time_s"]
    assert sorted(set(times.tolist())) == [86399.0, 86400.0]


def test_sadf_means_are_weighted_by_the_intervals():
    """Derived: (10 s * 100 + 30 s * 200) / 40 s; the interval of -1 s counts for nothing."""
    text = (
        "# hostname;interval;timestamp;IFACE;rxpck/s\n"
        "a;-1;2026-11-22 12:00:00 UTC;eth0;999.00\n"
        "a;10;2026-11-22 12:00:10 UTC;eth0;100.00\n"
        "a;30;2026-11-22 12:00:40 UTC;eth0;200.00\n"
    )
    samples = read(text)
    assert counters(samples)["eth0"]["rxpck/s"] == 175
    assert samples["time_s"][0] == 1795348800  # date -d '2026-11-22 12:00:00 UTC' +%s
    assert samples.meta.host == "a"


REFUSED = {
    "another number of values": ("Tcp: InSegs OutSegs\nTcp: 1 2 3\n", "counter-widths", 2),
    "names without values": ("Tcp: InSegs\nUdp: InErrors\nUdp: 1\n", "counter-pair", 2),
    "a value that is none": ("Tcp: InSegs OutSegs\nTcp: 1 0x2\n", "not-a-number", 2),
    "rounded by -h": (
        "1: lo: <LOOPBACK,UP> mtu 65536\n    RX:  bytes packets\n        642k 9\n",
        "counter-rounded", 3),
    "only a head": ("Inter-|   Receive    |  Transmit\n face |bytes |bytes\n",
                    "counters-nothing", None),
    "a comma that may group": (
        "Linux 5.10 (a) \t22.11.2026 \t_x86_64_\t(2 CPU)\n\n13:10:48  IFACE  rxpck/s\n"
        "13:10:49  eth0  1,234\n", "not-a-number", 4),
    "a row of another width": (
        "# hostname;interval;timestamp;IFACE;rxpck/s\na;1;2026-11-22 12:00:00 UTC;eth0\n",
        "counter-widths", 2),
    "no time": (
        "# hostname;interval;timestamp;IFACE;rxpck/s\na;1;2026-13-22 12:00:00 UTC;eth0;1.0\n",
        "sadf-time", 2),
}  # fmt: skip


@pytest.mark.each("what", REFUSED)
def test_refused_with_its_place(what):
    text, code, line = REFUSED[what]
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert (refused.value.code, refused.value.line) == (code, line)
    assert str(refused.value)


def test_an_interrupted_sar_is_partial_and_has_no_averages():
    text = (INPUTS / "sar_net.txt").read_text().partition("Average:")[0]
    samples = read(text)
    assert samples.meta.partial
    assert "sar-no-average" in codes(samples)
    assert all(row["partial"] and len(row) <= 2 for row in samples.facts())


def test_averages_that_no_line_allows_are_said():
    text = (
        (INPUTS / "sar_clock12.txt")
        .read_text()
        .replace("    200.00    100.00", "     20.00    100.00")
    )
    assert "sar-average-differs" in codes(read(text))


def test_a_line_without_its_end_is_not_used():
    whole = (INPUTS / "ethtool.txt").read_text()
    samples = read(whole.rstrip("\n")[:-1] + "7")
    assert "last-line-cut" in codes(samples)
    assert samples.meta.partial
    assert len(samples) == len(read(whole)) - 1


def test_a_cut_pair_of_lines_is_partial():
    lines = (INPUTS / "proc_snmp.txt").read_text().splitlines(keepends=True)
    samples = read("".join(lines[:3]))
    assert samples.meta.partial
    assert list(counters(samples)) == ["Ip"]


@pytest.mark.each("name", sorted(COUNTERS))
def test_a_file_cut_anywhere_is_right_or_refused(name):
    """Identity: no value of a cut file differs from that of the whole one."""
    data = (INPUTS / name).read_bytes()
    samples = read(data)
    rows = set(zip(samples["group"], samples["counter"], samples["value"], strict=True))
    for end in range(len(data) // 8, len(data), max(len(data) // 8, 1)):
        try:
            cut = read(data[:end])
        except ReaderError:
            continue
        if sniff(data[:end]) != sniff(data):
            continue
        assert set(zip(cut["group"], cut["counter"], cut["value"], strict=True)) <= rows


# By the form of FreeBSD 13 and of macOS, whose interfaces may have no address.
NETSTAT_I_FREEBSD = """\
Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll
em0    1500 <Link#1>      00:0c:29:ab:cd:ef   123456     2     7    65432     1     3
em0       - 192.0.2.0/24  192.0.2.5           120000     -     -    65000     -     -
lo0   16384 <Link#2>      lo0                    100     0     0      100     0     0
"""
NETSTAT_I_MACOS = """\
Name       Mtu   Network       Address            Ipkts Ierrs     Ibytes    Opkts Oerrs     Obytes  Coll
lo0        16384 <Link#1>                          4321     0     987654     4321     0     987654     0
lo0        16384 127           127.0.0.1           4321     -     987654     4321     -     987654     -
gif0*      1280  <Link#2>                             0     0          0        0     0          0     0
en0        1500  <Link#6>    ac:de:48:00:11:22   556677     5  700000001   222333     0   33333333     0
en0        1500  fe80::1%en0 fe80:6::1           556677     -  700000001   222333     -   33333333     -
"""  # noqa: E501


def test_netstat_i_of_bsd():
    table = read(NETSTAT_I_FREEBSD)
    assert table.meta.tool == "netstat -i (BSD)"
    facts = {fact["group"]: fact for fact in table.meta.facts}
    assert list(facts) == ["em0", "em0 192.0.2.5", "lo0"]
    wanted = {"Mtu": 1500, "Ipkts": 123456, "Ierrs": 2, "Idrop": 7, "Opkts": 65432, "Oerrs": 1,
              "Coll": 3}  # fmt: skip
    found = {name: facts["em0"][f"counter:{name}"] for name in wanted}
    assert found == wanted
    address = {name: v for name, v in facts["em0 192.0.2.5"].items() if name.startswith("counter")}
    assert address == {"counter:Ipkts": 120000, "counter:Opkts": 65000}
    assert table.meta.warnings == ()


def test_netstat_i_of_macos():
    facts = {fact["group"]: fact for fact in read(NETSTAT_I_MACOS).meta.facts}
    assert list(facts) == ["lo0", "lo0 127.0.0.1", "gif0", "en0", "en0 fe80:6::1"]
    assert facts["lo0"]["counter:Ipkts"] == 4321  # no address before it
    assert facts["gif0"]["counter:Mtu"] == 1280
    assert (facts["en0"]["counter:Ierrs"], facts["en0"]["counter:Ibytes"]) == (5, 700000001)


def test_a_line_of_netstat_i_that_is_cut_is_named():
    table = read(NETSTAT_I_FREEBSD.replace("65432     1     3", ""))
    assert [(notice.code, notice.values) for notice in table.meta.warnings] == [
        ("counter-lines-unread", {"numbers": [2]})
    ]
    assert {fact["group"] for fact in table.meta.facts} == {"em0 192.0.2.5", "lo0"}


def test_netstat_of_windows_in_german():
    text = (
        "\r\nIPv4-Statistik\r\n\r\n  Empfangene Pakete                  = 1234\r\n"
        "\r\nTCP-Statistik f\u00fcr IPv4\r\n\r\n  Erneut \u00fcbertragene Segmente  = 56\r\n"
    )
    found = counters(read(text.encode("cp850")))
    assert found["IPv4-Statistik"]["Empfangene Pakete"] == 1234
    assert 56 in found[next(name for name in found if name.startswith("TCP"))].values()


def test_a_damaged_line_of_ifconfig_is_said():
    text = (INPUTS / "ifconfig.txt").read_text().replace("dropped 35", "dropped 3x")
    samples = read(text)
    (notice,) = samples.meta.warnings
    assert (notice.code, notice.values["numbers"]) == ("counter-lines-unread", [6])
    assert "rx_dropped" not in counters(samples)["eth0"]
    assert counters(samples)["eth0"]["rx_errors"] == 3


def test_damaged_collisions_of_an_old_ifconfig_are_said():
    text = (INPUTS / "ifconfig_old.txt").read_text()
    (line,) = [n for n, each in enumerate(text.splitlines(), 1) if "collisions:" in each]
    samples = read(text.replace("collisions:", "collisions:x"))
    (notice,) = samples.meta.warnings
    assert (notice.code, notice.values["numbers"]) == ("counter-lines-unread", [line])
