"""A few hundred damaged files: each is read, or refused in words; the benchmark draws thousands."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import mutant_numbers
import mutants
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.readers.format import Input, damaged_numbers

MUTANTS = 250
INPUTS = Path(__file__).with_name("inputs")


def test_damaged_files_are_read_or_refused():
    found, faults, _, _ = mutants.run(0, MUTANTS, seed=5, measured=False)
    assert faults == []
    assert found["foreign"] == 0
    assert found["read"] > MUTANTS / 5
    assert found["ReaderError"] > MUTANTS / 5


@pytest.mark.slow
def test_numbers_of_changed_files_are_the_same_or_their_loss_is_said():
    """Every file in eleven forms that mean the same, and a few hundred with one change."""
    assert mutant_numbers.run(MUTANTS, seed=5) == []


def test_a_short_packed_text_is_recognized_as_the_text_is():
    """A text that packs well is longer than its packed beginning, of which it is recognized."""
    text = (INPUTS / "transfers" / "speedtest_cli.txt").read_bytes()
    assert read(gzip.compress(text)).facts() == read(text).facts()


@pytest.mark.each("pack", [bz2.compress, lzma.compress])
def test_a_capture_may_be_packed_as_text_is(pack):
    data = (INPUTS / "captures" / "dumpcap_lo.pcapng").read_bytes()
    assert read(pack(data)).facts() == read(data).facts()


@pytest.mark.each("mark", ["utf-16", "utf-8-sig"])
def test_json_of_any_tool_may_have_a_mark(mark):
    """As PowerShell writes what a command prints."""
    text = (INPUTS / "counters" / "ip_s.json").read_text()
    assert read(text.encode(mark)).facts() == read(text.encode()).facts()


LOST = {
    "transfers/scp.txt": ("11.2MB/s", "5258MB/s", "cannot read the result in line 2"),
    "transfers/speedtest_cli.txt": ("20.00 Mbit/s", " Mbit/s", "cannot read the result in line 7"),
    "transfers/qperf_loop.txt": ("    latency  =  33 us\ntcp_lat:\n", "    latency  =  33 us\n",
                                 "cannot read line 5: not values of qperf"),
    "transfers/iperf3_tcp.txt": ("[  5]   2.00-3.00", "[  ]   2.00-3.00", "read the interval in"),
    "pings/cisco_mix.txt": ("Sending 10,", "Sending ,", "ignored lines 2-3: not about a probe"),
    "paths/tracert.txt": ("11 ms  198", "1x ms  198", "skipped line 7: these look like hops"),
    "wifi/iw_link.txt": ("866.7 MBit/s", "866,7 MBit/s", "cannot read the result in line 8"),
    "wifi/airport.txt": ("agrCtlNoise: -92", "agrCtlNoise: -o2", "the result in line 3"),
    "wifi/netsh_wlan.txt": (": 780", ": 7e0", "cannot read the result in line 17"),
    "transfers/nccl_all_reduce.txt": ("          16     ", "          1I     ", "left out line"),
    "transfers/osu_latency.txt": ("\n32  ", "\nE2  ", "left out line"),
    "transfers/netpipe_np.out": ("1048576 838.98", "104I576 838.98", "left out line"),
    "transfers/ntttcp_linux.txt": ("  20.15Gbps", "  20.1eGbps", "the result in line 7"),
    "transfers/latte.txt": ("100100", "10e100", "cannot read the result in line 7"),
    "transfers/source_sink.txt": (" 7200000 ", " 7l00000 ", "cannot read the result in line 6"),
    "transfers/ixchariot.csv": ("59.7", "59.x", "cannot read the result in line 4"),
    "transfers/mininet.txt": ("'22.0 Gbits/sec']", "'22.0 G", "cannot read the result in line 2"),
    "transfers/pscheduler_udp.txt": ("10 / 1727", "10 / 1 727", "the result in line 8"),
    "transfers/pscheduler_rtt.txt": ("0.4880 ms", "0.488x ms", "the result in line 2"),
    "transfers/pscheduler_rtt.json": ("PT0.0006S", "PT0.000xS", "1 impossible value of rtt"),
    "transfers/speedtest_ookla.csv": ("2500000", "250000o", "cannot read the result in line 2"),
    "transfers/speedtest_networkquality.txt": ("240 RPM", "24e RPM", "the result in line 4"),
    "transfers/ndt7_client.txt": ("    12.1 ms", "    12.o ms", "cannot read the result in line"),
    "transfers/iperf2_tcp.csv": ("12714044,50437469", "12714044,504", "line"),
    "transfers/iperf2_dual.txt": ("TCP port 17001\n", "TCP port 17 001\n", "cannot read"),
    "pings/blackbox_icmp.txt": ("0.012456226", "0.01245622e", "ignored line"),
    "transfers/pscheduler_trace.json": ("PT0.0105S", "PT0.010ES", "1 impossible value of rtt"),
    "paths/trippy.csv": ("host.example,203.0.113.9,3,198.51.100.1:198.51.100.2,a.example:b.example,"
                         "10.00,10,9,10.5,10.61,10.4,11.2,0.20", "host.examp", "skipped line 4"),
    "paths/winmtr.txt": (" (198.51.100.1) -    1 |  100 |   99 |    8 |   11 |   45 |    9 |",
                         " (198.51", "skipped line"),
    "iperf3/udp.txt": ("0.176 ms", "0 176 ms", "count as unknown: '0 176 ms"),
    "iperf3/tcp_fk.txt": ("1.12 MBytes", "1 12 MBytes", "count as unknown: '0   1 12 MB"),
    "transfers/iperf2_reverse.txt": ("1.0000 sec  6", "1.0000  6", "read the interval in line 7"),
    "transfers/curl_variables.txt": ("0.013249", "0.0l3249", "cannot read the result in line 5"),
    "transfers/wget.txt": ("T=0.005s", "T=0 005s", "cannot read the result in line 46"),
    "paths/tracepath.txt": ("0.069ms", "0 069ms", "skipped line 2: these look like hops"),
    "paths/tracepath_ipv6.txt": ("pmtu 1500 hops", "pmtu 15O0 hops", "ignored line 6"),
    "transfers/wget_bar.txt": ("in 0.002s", "in 0 002s", "cannot read the result in line"),
    "paths/mikrotik_traceroute.txt": ("15.5     0.2", "15 5     0.2", "skipped line 7"),
    "counters/netstat_i.txt": ("9706      0      0", "9706      O      0", "line 4"),
    "counters/netstat_list.txt": ("tcp        5     36", "tcp        5     B6", "line 4"),
    "counters/ss_old.txt": ("rtt:51.5/1.25", "rtt:51.5/1 25", "line 3"),
    "transfers/pscheduler_latency.txt": ("1.21 ms:", "1.21:", "the result in line 28"),
    "transfers/nuttcp_parse.txt": ("3337.1431", "3337 1431", "cannot read the result in line 3"),
    "transfers/nuttcp_tcp.txt": ("%RX 0 ret", "%RX O ret", "cannot read the result in line 5"),
    "transfers/nuttcp_verbose.txt": ("0.125 ms", "0.125", "cannot read the result in line 4"),
    "transfers/netperf_keyval.txt": ("=1174290", "=l174290", "cannot read the result in line 12"),
    "transfers/netperf_rr_keyval.txt": ("=28533.43", "=28533 43", "the result in line 1"),
    "transfers/iperf2_udp_2.0.csv": ("0.250,4", "0.S50,4", "impossible"),
    "transfers/iperf2_udp_server_enhanced.txt": ("0.006 ms 0/172", "0.006 0/172", "unknown"),
    "paths/traceroute_scamper.txt": ("\n 4  203", "\n e  203", "ignored line 5"),
    "transfers/netperf_omni.csv": (",10.00,", ",S0.00,", "cannot read the result in line 3"),
    "transfers/speedtest.txt": ("9.50ms", "9.50", "cannot read the result in line 6"),
    "pings/arping.txt": ("13.320 usec", "13 320 usec", "ignored line 2: not about a probe"),
    "pings/hping_icmp.txt": ("ttl=62 id=1896", "ttl=6x id=1896", "not about a probe"),
    "pings/oping.txt": ("icmp_seq=4 ttl=62", "icmp_seq=4 ttl=S2", "not about a probe"),
    "pings/nping_icmp.txt": ("0.016ms", "0.0l6ms", "ignored line 12: not about a probe"),
    "inetutils_quiet.txt": ("0.021/0.047", "0.021/e.047", "line 4"),
    "inetutils_plain.txt": ("seq=0 ttl=64", "seq=0 ttl=6x", "beside the numbers in line 2"),
    "iputils_flood.txt": ("0.031/0.004 ms", "0.031/0.004", "line 5"),
    "counters/netstat_s_bsd.txt": ("434", "4O4", "looks damaged"),
    "paths/traceroute_linux.txt": ("60 byte", "6O byte", "line 1 looks damaged"),
    "paths/traceroute_no_answer.txt": (" 8 hops max", " x hops max", "line 1 looks damaged"),
    "paths/traceroute_prohibited.txt": ("(198.18.0.1)", "(198.18.0.O)", "line 1 looks damaged"),
    "paths/tracert_german.txt": ("198.51.100.7", "198.51.100 7", "looks damaged"),
    "pings/fping_count_quiet.txt": ("0.073", "0. 73", "looks damaged"),
    "pings/nping_connect.txt": ("Failed: 0", "Failed: x", "looks damaged"),
    "pings/tcping.txt": ("time=2001.219ms", "time=2001.21Oms", "looks damaged"),
    "pings/irtt_text.txt": ("60 bytes", "6O bytes", "looks damaged"),
    "transfers/curl.txt": ("  476M", "  47OM", "looks damaged"),
    "transfers/iperf3_cut.json": ('"127.0.0.1"', '"127.0.0.O"', "looks damaged"),
    "transfers/iperf3_bidir.txt": ("host 127.0.0.1", "host 127O0.0.1", "looks damaged"),
    "transfers/iperf2_tcp.txt": ("mss/irtt=319/", "mss/irtt=3O9/", "looks damaged"),
    "captures/tcpdump_ttt.txt": (" 00:00:00.203091 ", " :00:00.203091 ", "ignored 1 line without"),
}  # fmt: skip


@pytest.mark.each("name", LOST)
def test_a_line_that_is_lost_is_named(name):
    before, after, said = LOST[name]
    text = (INPUTS / name).read_text()
    assert before in text
    assert said in " ".join(map(str, read(text.replace(before, after, 1)).meta.warnings))


@pytest.mark.each("line", [
    "cookie 0x10", "Gen3 x16, 4x HDR", "MIMO 2x2, 802.1x", "Linux 4.x", "min/avg = 4/7/12 ms",
    "  1. 192.0.2.1  0.5 ms", "( 5) 16/ 160 (10%)", "[ 10] 0.00-1.00 sec", "Version 1.2.0 84",
])  # fmt: skip
def test_a_line_that_is_whole_has_no_damaged_number(line):
    assert damaged_numbers(Input(line + "\n")) == []


def test_no_input_of_the_collection_has_a_damaged_number():
    texts = [path for path in INPUTS.rglob("*.*") if path.suffix in (".txt", ".json", ".out")]
    assert len(texts) > 300
    assert [path.name for path in texts if damaged_numbers(Input(path))] == []


@pytest.mark.each("hop", ["1000", "18446744073709551616"])
def test_a_hop_beyond_any_ttl_is_named_and_no_range_of_hops(hop):
    text = (INPUTS / "paths" / "trippy.csv").read_text()
    lines = text.splitlines(keepends=True)
    cells = lines[2].split(",")
    lines[2] = ",".join([*cells[:2], hop, *cells[3:]])
    assert "skipped line 3" in " ".join(map(str, read("".join(lines)).meta.warnings))
    document = (INPUTS / "paths" / "trippy.json").read_text()
    assert '"ttl": 2' in document
    read(document.replace('"ttl": 2', f'"ttl": {hop}'))


def test_bars_alone_are_no_columns():
    with pytest.raises(ReaderError):
        read("nping at 2026-11-22 13:08 UTC\n\n| \n| \n| ")


def test_a_total_of_no_time_is_read():
    text = (INPUTS / "transfers" / "nuttcp_udp.txt").read_text()
    total = "MB /   2.00 sec"
    assert total in text
    assert read(text.replace(total, "MB /   0 sec")).facts()[-1]["received_byte_count"] == 1250322


def test_a_time_without_its_unit_is_no_part_of_the_next_name():
    text = (INPUTS / "paths" / "traceroute_q5_names.txt").read_text()
    line = text.splitlines()[1]
    odd = " 1  a.example (192.0.2.1)  1.8 ms  1.9 b.example (192.0.2.2)  2.0 ms"
    found = read(text.replace(line, odd))
    assert not [name for name in found.node_name.tolist() if name.startswith("1.9")]
    assert "line 2: these look like hops" in " ".join(map(str, found.meta.warnings))


@pytest.mark.each("times", ["4/x/12 ms", "4/7/12"])
def test_times_of_a_cisco_summary_are_read_or_named(times):
    text = (INPUTS / "pings" / "cisco_mix.txt").read_text()
    assert "4/7/12 ms" in text
    found = read(text.replace("4/7/12 ms", times))
    assert "ignored line 4: not about a probe" in " ".join(map(str, found.meta.warnings))


def test_a_row_with_a_blank_in_a_number_is_not_read_by_the_wrong_columns():
    text = (INPUTS / "paths" / "mtr_report.txt").read_text()
    assert "5    0.1   0.1" in text
    with pytest.raises(ReaderError, match="line 3"):
        read(text.replace("5    0.1   0.1", "5    0.1   0 1", 1))


def test_a_unit_without_its_number_is_no_node():
    text = (INPUTS / "paths" / "traceroute_q5_names.txt").read_text()
    found = read(text.replace("0.006 ms", "x ms", 1))
    assert "ms" not in found.node.tolist()
    assert "skipped line 2: these look like hops" in " ".join(map(str, found.meta.warnings))


def test_a_count_with_a_letter_in_it_is_no_count():
    text = (INPUTS / "busybox_no_answer.txt").read_text()
    assert "2 packets transmitted" in text
    with pytest.raises(ReaderError):
        read(text.replace("2 packets transmitted", "1x packets transmitted"))


def test_a_rate_with_a_decimal_comma_is_none_of_its_first_digits():
    """37,66Gbps is not 37 bit/s."""
    text = (INPUTS / "transfers" / "ntttcp_linux.txt").read_text()
    with pytest.raises(ReaderError):
        read(text.replace("37.66Gbps", "37,66Gbps"))


@pytest.mark.each("after", ["838 861", "83x.861", "838,861"])
def test_a_number_of_ntttcp_is_one_word(after):
    text = (INPUTS / "transfers" / "ntttcp_linux.json").read_text()
    with pytest.raises(ReaderError, match="is not a number"):
        read(text.replace("838.861", after))


def test_a_rank_whose_line_is_cut_is_a_rank():
    text = (INPUTS / "transfers" / "nccl_all_reduce.txt").read_text()
    line = next(line for line in text.splitlines() if "Rank  7" in line)
    cut = text.replace(line, line[: line.index("Pid")])
    assert [row["rank_count"] for row in read(cut).facts()] == [8.0, 8.0]


PARTS = {
    "pings/fping_stats.txt": ("       0 unreachable", "fping"),
    "transfers/pscheduler_throughput.txt": ("0.0 - 1.0 ", "pScheduler"),
    "transfers/latte.txt": ("SO_RCVBUF", "latte"),
    "transfers/source_sink.txt": ("real\t0m2.880s", "a source and a sink"),
    "transfers/ntttcp_linux.txt": ("13:45:25 INFO:  Thread", "ntttcp"),
    "wifi/iw_link.txt": ("\tbss flags", "iw"),
}


@pytest.mark.each("name", PARTS)
def test_three_lines_that_look_like_a_table_are_a_part_of_their_tool(name):
    first, tool = PARTS[name]
    lines = (INPUTS / name).read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(first))
    with pytest.raises(ReaderError, match=rf"only a part of .*{tool}"):
        read("".join(lines[at : at + 3]))
