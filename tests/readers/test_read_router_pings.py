"""Pings of routers and of Windows: Nokia, Juniper, MikroTik, Huawei, hrPING, tcping, PowerShell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "pings"

# Read off the files by eye: target, sent, received, duplicates, and least, median and largest time
# [ms] of each host.
CASES = {
    "nokia.txt": [("192.0.2.9", 5, 4, 0, 1.70, (1.84 + 1.89) / 2, 1.93)],
    "nokia_rapid_duplicates.txt": [("192.0.2.9", 5, 0, 3, None, None, None)],
    "nokia_bounced.txt": [("198.51.100.9", 5, 0, None, None, None, None)],
    "junos_rapid.txt": [("192.0.2.9", 10, 9, 0, 0.619, None, 0.661)],
    "mikrotik.txt": [("192.0.2.9", 6, 4, 0, 0.5, (8 + 13) / 2, 43)],
    "mikrotik_7.txt": [("192.0.2.9", 3, 3, 0, 0.471, 0.542, 1.489)],
    "mikrotik_multicast.txt": [("ff02::1", 2, 2, 4, 1, (1 + 4) / 2, 4)],
    "mikrotik_mac.txt": [("00:0C:42:72:A1:B0", 4, 3, 0, 0.5, 1, 2)],
    "huawei.txt": [("192.0.2.9", 5, 4, 0, 16, (62 + 63) / 2, 94)],
    "huawei_pc.txt": [("192.0.2.10", 3, 2, 0, 110, (110 + 141) / 2, 141)],
    "hrping.txt": [("192.0.2.9", 10, 9, 0, 5.031, 5.206, 9.222)],
    "tcping.txt": [("192.0.2.9:443", 4, 3, 0, 1.719, 1.940, 2.105)],
    "tcping_go.txt": [("www.example.net", 4, 3, 0, 50.42, 50.47, 50.90)],
    "psping.txt": [("192.0.2.9:443", 4, 3, 0, 2.12, 2.21, 3.83)],
    "test_connection_7.txt": [
        ("server01.example.net", 4, 3, 0, 0.5, 24, 39),
        ("server02.example.net", 2, 1, 0, 28, 28, 28),
    ],
    "test_connection_5.txt": [("server01", 4, 3, 0, 0.5, 63, 82)],
    "tcping_tcp.txt": [("www.example.net:443", 3, 2, 0, 0.85, (12.5 + 0.85) / 2, 12.5)],
    "tcping_py.txt": [("www.example.net", 3, 2, 0, 59.84, (59.84 + 61.64) / 2, 61.64)],
    "paping.txt": [("203.0.113.20", 4, 3, 0, 24.68, 25.65, 26.27)],
    "psping_icmp.txt": [("203.0.113.20", 4, 3, 0, 0.45, 0.47, 0.49)],
    "dnsping.txt": [("203.0.113.53", 3, 2, 0, 20.125, (20.125 + 24.21) / 2, 24.21)],
    "l2ping.txt": [("00:11:22:33:44:55", 3, 2, 0, 7.87, (7.87 + 9.12) / 2, 9.12)],
    "ibping.txt": [("node1.(none)", 3, 2, 0, 0.151, (0.151 + 0.166) / 2, 0.166)],
    "vpp.txt": [("192.0.2.9", 4, 3, 0, 0.102, 0.291, 1.502)],
    "irtt_text.txt": [("127.0.0.1", 5, 5, 0, 0.043, 0.122, 0.144)],
    "irtt_quiet.txt": [("127.0.0.1", 5, 5, None, 0.126, 0.142, 0.156)],
}
SUMMARIES = (
    "transmitted",
    "sent=",
    "packet(s)",
    "packet loss",
    "round-trip",
    "probes sent",
    "successful",
    "Sent =",
    "Packets:",
    "sent/received",
    "Attempted",
    "connections,",
    "requests transmitted",
    " sent, ",
)


@pytest.mark.each("file", CASES)
def test_files(file):
    samples = read(INPUTS / file)
    names = ("target", "sent_count", "received_count", "duplicate_count")
    times = ("rtt_min_s", "rtt_median_s", "rtt_max_s")
    for row, case in zip(samples.facts(), CASES[file], strict=True):
        assert tuple(row.get(name) for name in names) == case[:4]
        expected = [None if t is None else pytest.approx(t * 1e-3) for t in case[4:]]
        assert [row.get(name) for name in times] == expected
        assert row["loss_ratio"] == pytest.approx(1 - case[2] / case[1])
        assert row["partial"] is False
    assert "count-differs" not in codes(samples)


@pytest.mark.each("file", [name for name in CASES if not name.startswith("test_connection")])
def test_a_run_without_its_summary_is_partial_and_no_reply_is_made_up(file):
    lines = (INPUTS / file).read_text("utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if not any(word in line for word in SUMMARIES))
    if file == "nokia_bounced.txt":  # nothing but a summary
        with pytest.raises(ReaderError):
            read(kept)
        return
    row = read(kept).facts()[0]
    assert row["partial"] is True
    if file == "irtt_quiet.txt":  # the times of its table are left
        assert "received_count" not in row
    elif file != "nokia_rapid_duplicates.txt":  # its marks look like replies
        assert row["received_count"] == CASES[file][0][2]


@pytest.mark.parametrize("step", [29, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.each("file", CASES)
def test_a_cut_file_never_has_more_replies_or_other_times(file, step):
    text = (INPUTS / file).read_text("utf-8")
    whole = read(text)
    known = _times(whole)
    for at in range(len(text) // 3, len(text), step):
        try:
            part = read(text[:at])
        except ReaderError:
            continue
        if file == "nokia_rapid_duplicates.txt":
            continue
        assert part.received <= whole.received
        assert _times(part) <= known


def _times(samples):
    return set(np.round(samples.rtt_s[~np.isnan(samples.rtt_s)], 9).tolist())


def test_rows_of_rapid_marks_are_in_order():
    samples = read(INPUTS / "junos_rapid.txt")
    assert samples.lost.tolist() == [False] * 4 + [True] + [False] * 5
    assert samples.payload_bytes.tolist() == [100.0] * 10
    assert np.isnan(samples.rtt_s).all()


def test_marks_of_replies_and_duplicates_together_are_only_counted():
    text = (
        "PING 192.0.2.9 56 data bytes\n!!.!!\n---- 192.0.2.9 PING Statistics ----\n"
        "4 packets transmitted, 3 packets received, 1 duplicates, 25.0% packet loss\n"
        "round-trip min = 1.70ms, avg = 1.84ms, max = 1.93ms, stddev = 0.086ms\n"
    )
    samples = read(text)
    assert (len(samples), samples.sent, samples.received) == (0, 4, 3)
    row = samples.facts()[0]
    assert row["duplicate_count"] == 1
    assert "rtt_min_s" not in row  # the duplicate's time may be among them


def test_marks_that_do_not_agree_with_the_summary_are_said():
    text = (INPUTS / "junos_rapid.txt").read_text().replace("!!!!.!!!!!", "!!!!.")
    assert codes(read(text)) == ["count-differs", "count-differs"]


def test_a_summary_whose_marks_were_cut_away_is_partial():
    """Only a probe that was not even sent onwards (bounced) has neither a mark nor a line."""
    text = (INPUTS / "nokia_rapid_duplicates.txt").read_text().replace("..!!.!..", "")
    samples = read(text)
    assert (len(samples), samples.meta.partial) == (0, True)
    assert read(INPUTS / "nokia_bounced.txt").meta.partial is False
    cisco = (INPUTS / "cisco_mix.txt").read_text()
    assert read(cisco.replace("!!.!U!!!Q!", "")).meta.partial is True
    assert read(cisco[cisco.index("Success") :]).meta.partial is True  # its target is missing


def test_sizes_of_packets_are_told_from_those_of_user_data():
    """RouterOS and hrPING say the IP packet, the others the user data."""
    assert set(read(INPUTS / "mikrotik_7.txt").payload_bytes) == {28.0}  # 56 less 20 and 8
    assert set(read(INPUTS / "hrping.txt").payload_bytes) == {16.0}
    assert set(read(INPUTS / "huawei.txt").payload_bytes) == {56.0}
    assert set(read(INPUTS / "nokia.txt").payload_bytes) == {56.0}
    assert set(read(INPUTS / "irtt_text.txt").payload_bytes) == {60.0}


def test_the_number_of_hrping_is_hexadecimal():
    samples = read(INPUTS / "hrping.txt")
    assert samples.sequence.tolist() == list(range(1, 11))
    assert samples.lost.tolist() == [n == 3 for n in range(1, 11)]
    assert read(INPUTS / "hrping_2.txt").sequence.tolist() == [15.0, 16.0]


def test_a_text_without_its_beginning_has_no_lost_probes_in_front():
    row = read(INPUTS / "hrping_2.txt").facts()[0]
    assert (row["sent_count"], row["received_count"], row["partial"]) == (2, 2, True)
    text = (INPUTS / "mikrotik.txt").read_text().splitlines(keepends=True)
    cut = read("".join([text[1], *text[6:]]))  # the last two replies, and the totals of six
    assert (cut.sent, cut.received, cut.meta.partial) == (2, 2, True)
    assert "count-differs" in codes(cut)


def test_errors_are_no_replies():
    samples = read(INPUTS / "mikrotik.txt")
    assert samples.lost.tolist() == [False, False, True, True, False, False]
    assert samples.error_reply.tolist() == [False, False, False, True, False, False]
    samples = read(INPUTS / "test_connection_7.txt")
    assert samples.error_reply.tolist() == [False] * 4 + [True, False]
    refused = (INPUTS / "tcping.txt").read_bytes().replace(b"No response - ", b"Port is closed - ")
    samples = read(refused)
    assert (samples.received, samples.errors) == (3, 1)


def test_losses_and_errors_of_huawei_are_the_probes_behind_the_last_number():
    text = (
        "  PING 192.0.2.9: 56  data bytes, press CTRL_C to break\n"
        "    Request time out\n"
        "    Reply from 192.0.2.9: bytes=56 Sequence=2 ttl=255 time=3 ms\n"
        "    192.0.2.1: Destination host unreachable\n    Request time out\n\n"
        "  --- 192.0.2.9 ping statistics ---\n    4 packet(s) transmitted\n"
        "    1 packet(s) received\n    75.00% packet loss\n    192.0.2.1: unreachable\n"
    )
    samples = read("Error: no such command\n" + text)
    assert samples.sequence.tolist() == [1, 2, 3, 4]
    assert samples.lost.tolist() == [True, False, True, True]
    assert samples.error_reply.tolist() == [False, False, True, False]
    assert (samples.sent, samples.received, samples.meta.partial) == (4, 1, False)
    (notice,) = samples.meta.warnings
    assert notice.values["numbers"] == [1, 12]  # an error in front of a run, or behind its totals


def test_a_timeout_is_no_round_trip():
    """tcping prints how long it waited, 2001 ms."""
    samples = read(INPUTS / "tcping.txt")
    assert samples.lost.tolist() == [False, False, True, False]
    assert np.nanmax(samples.rtt_s) == pytest.approx(2.105e-3)


def test_the_warm_up_of_psping_is_left_out():
    samples = read(INPUTS / "psping.txt")
    assert samples.rtt_s[~np.isnan(samples.rtt_s)].tolist() == [3.83e-3, 2.21e-3, 2.12e-3]


def test_zero_is_a_time_below_the_resolution():
    for file in ("mikrotik.txt", "test_connection_7.txt", "test_connection_5.txt"):
        samples = read(INPUTS / file)
        least = int(np.nanargmin(samples.rtt_s))
        assert samples.rtt_s[least] == 0.0005
        assert samples.resolution_s[least] == 0.001


def test_rows_behind_a_failure_are_of_the_table_that_they_stand_in():
    """Test-Connection a, b: the failure of b is printed among the rows of a."""
    head, *rows = (INPUTS / "test_connection_7.txt").read_text("utf-8").split("\n   2 ADMIN1")
    text = (
        head + "\nTest-Connection: Testing connection to computer 'b' failed: No such host.\n"
        "   2 ADMIN1" + rows[0]
    )
    first, failed, *_ = read(text).facts()
    assert (first["target"], first["sent_count"]) == ("server01.example.net", 4)
    assert (failed["target"], failed["sent_count"], failed["received_count"]) == ("b", 1, 0)


def test_a_probe_without_a_line_is_lost():
    """irtt prints nothing for it: five were sent, the fourth and the last have no line."""
    lines = (INPUTS / "irtt_text.txt").read_text("utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith(("seq=3", "seq=4")))
    kept = kept.replace("5/5 (0.00% loss)", "5/3 (40.00% loss)")
    samples = read(kept)
    assert samples.lost.tolist() == [False, False, False, True, True]
    assert samples.facts()[0]["loss_ratio"] == pytest.approx(0.4)


@pytest.mark.each(
    "written, seconds",
    {"71.2µs": 71.2e-6, "71.2μs": 71.2e-6, "71.2us": 71.2e-6, "980ns": 980e-9, "1.25ms": 1.25e-3,
     "1.5s": 1.5, "1m2.5s": 62.5, "0h59m0.5s": 3540.5}.items(),
)  # fmt: skip
def test_units_of_irtt(written, seconds):
    text = f"[Connecting] connecting to 192.0.2.2\nseq=0 rtt={written} rd=1µs sd=1µs ipdv=n/a\n"
    assert read(text).rtt_s.tolist() == [pytest.approx(seconds, rel=1e-12)]


@pytest.mark.each("file", [*CASES, "owping.txt"])
def test_text_of_powershell_redirection(file):
    """The same measurement in UTF-16 and with the line ends of Windows."""
    text = (INPUTS / file).read_bytes().decode()
    data = text.replace("\r\n", "\n").replace("\n", "\r\n").encode("utf-16")
    assert read(data).facts() == read(INPUTS / file).facts()


def test_owping_has_a_row_for_each_direction():
    """Read off the file by eye."""
    table = read(INPUTS / "owping.txt")
    assert table["one_way_delay_median_s"].tolist() == pytest.approx([-0.0124, 0.0129])
    assert table["clock_error_s"].tolist() == pytest.approx([0.00901, 0.00901])
    assert table["jitter_p95_p50_s"].tolist() == pytest.approx([1e-4, 2e-4])
    there, back = table.facts()
    assert (there["sent_count"], there["received_count"]) == (10, 9)
    assert there["one_way_delay_min_s"] == pytest.approx(-0.0125)
    assert back["one_way_delay_max_s"] == pytest.approx(0.0134)
    assert codes(table) == ["negative-delays"]


def test_owping_has_a_row_for_each_packet_where_they_are_printed():
    table = read(INPUTS / "owping_packets.txt")
    assert table["sequence"].tolist() == [0.0, 1.0, 2.0]
    assert table["lost"].tolist() == [0.0, 0.0, 1.0]
    assert table["one_way_delay_s"].tolist()[:2] == pytest.approx([2.465248e-4, 1.530647e-4])
    assert set(table["group"]) == {"host1.example.net > 192.0.2.9"}


def test_owping_without_synchronized_clocks_says_so():
    text = (INPUTS / "owping.txt").read_text().replace("(err=9.01 ms)", "(unsync)")
    assert "clocks-not-synchronized" in codes(read(text))


def test_owping_without_its_statistics_is_partial():
    lines = (INPUTS / "owping_packets.txt").read_text().splitlines(keepends=True)[:3]
    table = read("".join(lines))
    assert len(table) == 3
    assert table.meta.partial is True
    assert "sent_count" not in table.facts()[0]


def test_a_ping_of_bsd_with_marks_beside_it_is_still_its_own():
    text = (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
        "64 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=0.481 ms\n\n"
        "--- 192.0.2.1 ping statistics ---\n"
        "1 packets transmitted, 1 packets received, 0.0% packet loss\n"
        "round-trip min/avg/max/stddev = 0.481/0.481/0.481/0.000 ms\n"
    )
    assert sniff(text) == "ping"


@pytest.mark.each(
    "text",
    [
        "PING ff02::1%eth0(ff02::1%eth0) 56 data bytes\n"
        "64 bytes from fe80::1%eth0: icmp_seq=1 ttl=64 time=0.245 ms\n"
        "64 bytes from fe80::2%eth0: icmp_seq=1 ttl=64 time=0.592 ms (DUP!)\n",
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n..\n--- 192.0.2.1 ping statistics ---\n"
        "900 packets transmitted, 898 packets received, 0.2% packet loss\n",
    ],
)
def test_pings_that_look_like_those_of_a_router(text):
    """IPv6 of iputils, and a flood of BSD, whose dots are what is not yet answered."""
    assert sniff(text) == "ping"


def test_a_mikrotik_whose_probes_were_all_lost_has_a_summary_without_times():
    text = (
        "  SEQ HOST                                     SIZE TTL TIME  STATUS\n"
        "    0 192.0.2.1                                             timeout\n"
        "    sent=1 received=0 packet-loss=100% min-rtt= avg-rtt= max-rtt=\n"
    )
    samples = read(text)
    assert samples.lost.tolist() == [True]
    assert samples.meta.printed == {"sent": 1, "received": 0, "loss_ratio": 1.0}


def test_a_broadcast_of_cisco_has_an_answer_of_each_host():
    """Three requests: the dot after the second answer is the one in the middle."""
    samples = read(INPUTS / "cisco_broadcast.txt")
    row = samples.facts()[0]
    assert (row["target"], row["sent_count"], row["received_count"]) == ("192.0.2.255", 3, 2)
    assert row["duplicate_count"] == 3
    assert row["partial"] is True  # nothing is printed at the end
    times = sorted(zip(samples.sequence, samples.rtt_s, strict=True))
    assert [(n, t) for n, t in times if n != 1] == [
        (0, pytest.approx(0.004)), (0, pytest.approx(0.028)), (2, pytest.approx(0.006)),
        (2, pytest.approx(0.008)), (2, pytest.approx(0.012)),
    ]  # fmt: skip
    assert samples.lost[list(samples.sequence).index(1)]
    assert set(samples.payload_bytes) == {72}
    part = read(
        "Reply to request 4 from 192.0.2.2, 4 ms\nReply to request 5 from 192.0.2.2, 5 ms\n"
    )
    assert (part.sent, part.received) == (2, 2)


@pytest.mark.each(
    ("file", "values"),
    [
        ("cisco_broadcast.txt", {"answers": 5, "hosts": 3, "requests": 3}),
        ("mikrotik_multicast.txt", {"answers": 6, "hosts": 3, "requests": 2}),
    ],
)
def test_how_many_hosts_answered_a_request_to_all_is_said(file, values):
    notices = read(INPUTS / file).meta.warnings
    assert [notice.values for notice in notices if notice.code == "several-hosts"] == [values]


def test_a_verbose_ping_of_cisco_has_a_line_for_each_request():
    samples = read(
        "Sending 3, 100-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n"
        "Reply to request 0 (4 ms)\nRequest 1 timed out\nReply to request 2 (12 ms)\n"
        "Success rate is 66 percent (2/3), round-trip min/avg/max = 4/8/12 ms\n"
    )
    assert (samples.sent, samples.received, samples.meta.partial) == (3, 2, False)
    assert samples.best_s.tolist() == [pytest.approx(0.004), pytest.approx(0.012)]


ALONE = {  # the summary of one request that four hosts answered, where no answer has a line
    "fping": "192.0.2.255 : xmt/rcv/%return = 1/4/400%, min/avg/max = 0.5/0.6/0.9\n",
    "BSD": (
        "PING 224.0.0.1 (224.0.0.1): 56 data bytes\n\n--- 224.0.0.1 ping statistics ---\n"
        "1 packets transmitted, 4 packets received, -- somebody's printing up packets!\n"
        "round-trip min/avg/max/stddev = 0.5/0.6/0.9/0.1 ms\n"
    ),
    "nping": "Raw packets sent: 1 (28B) | Rcvd: 4 (112B) | Lost: -3 (-300.00%)\n",
}


@pytest.mark.each("tool", ALONE)
def test_more_answers_than_requests_are_duplicates_of_one_request(tool):
    text = ALONE[tool]
    if tool == "nping":
        text = "Starting Nping 0.7.80 ( https://nmap.org/nping ) at 2026-01-01 10:00 UTC\n" + text
    row = read(text).facts()[0]
    assert (row["sent_count"], row["received_count"], row["duplicate_count"]) == (1, 1, 3)
    assert row["loss_ratio"] == 0
    with pytest.raises(ReaderError) as refused:  # of two it is unknown which were answered
        read(text.replace("1/4/400", "2/4/200").replace("1 packets", "2 packets").replace(
            "sent: 1", "sent: 2"))  # fmt: skip
    assert refused.value.code == "more-received-than-sent"


def lines(reply, hosts=(1, 2)):
    return "".join(reply.format(host=host) for host in hosts)


ANSWERS = {  # one request that two hosts answered
    "arping": (
        "ARPING 192.0.2.9\n"
        + lines("60 bytes from 00:0c:42:72:a1:b{host} (192.0.2.9): index=0 time={host}.0 msec\n")
        + "\n--- 192.0.2.9 statistics ---\n"
        "1 packets transmitted, 2 packets received,   0% unanswered (1 extra)\n"
    ),
    "arping of iputils": (
        "ARPING 192.0.2.9 from 192.0.2.2 eth0\n"
        + lines("Unicast reply from 192.0.2.9 [00:0C:42:72:A1:B{host}]  {host}.0ms\n")
        + "Sent 1 probes (1 broadcast(s))\nReceived 2 response(s)\n"
    ),
    "hping": (
        "HPING 192.0.2.255 (eth0 192.0.2.255): icmp mode set, 28 headers + 0 data bytes\n"
        + lines("len=46 ip=192.0.2.{host} ttl=64 id=1 icmp_seq=0 rtt={host}.0 ms\n")
        + "\n--- 192.0.2.255 hping statistic ---\n"
        "1 packets transmitted, 2 packets received, -100% packet loss\n"
    ),
    "oping": (
        "PING ff02::1 (ff02::1) 56 bytes of data.\n"
        + lines("56 bytes from ff02::1 (fe80::{host}): icmp_seq=1 ttl=64 time={host}.00 ms\n")
        + "\n--- ff02::1 ping statistics ---\n"
        "1 packets transmitted, 2 received, -100.00% packet loss, time 0.5ms\n"
    ),
    "hrPING": (
        "This is hrPING v5.04 by cFos Software GmbH -- http://www.cfos.de\n"
        "Pinging 192.0.2.255 [192.0.2.255]\n"
        + lines("From 192.0.2.{host}: bytes=60 seq=0001 TTL=64 ID=1234 time={host}.000ms\n")
        + "Packets: sent=1, rcvd=2, error=0, lost=-1 (-100.0% loss) in 0.0 sec\n"
    ),
    "BusyBox": (
        "PING 224.0.0.1 (224.0.0.1): 56 data bytes\n"
        + lines("64 bytes from 192.0.2.{host}: seq=0 ttl=64 time={host}.000 ms\n")
        + "\n--- 224.0.0.1 ping statistics ---\n"
        "1 packets transmitted, 2 packets received, -100% packet loss\n"
        "round-trip min/avg/max = 1.000/1.500/2.000 ms\n"
    ),
    "Huawei": (
        "  PING 224.0.0.1: 56  data bytes, press CTRL_C to break\n"
        + lines("    Reply from 192.0.2.{host}: bytes=56 Sequence=1 ttl=255 time={host} ms\n")
        + "    1 packet(s) transmitted\n    2 packet(s) received\n    0.00% packet loss\n"
    ),
    "fping": (
        "192.0.2.255 : [0], 84 bytes, 1.00 ms (1.00 avg, 0% loss)\n"
        "192.0.2.255 : duplicate for [0], 84 bytes, 2.00 ms [<- 192.0.2.2]\n"
        "192.0.2.255 : xmt/rcv/%return = 1/2/200%, min/avg/max = 1.0/1.5/2.0\n"
    ),
}


@pytest.mark.each("tool", ANSWERS)
def test_the_answer_of_a_second_host_is_a_duplicate(tool):
    samples = read(ANSWERS[tool])
    assert (samples.sent, samples.received, samples.duplicates) == (1, 1, 1)
    assert samples.best_s.tolist() == [pytest.approx(0.001)]
    assert samples.loss_ratio == 0
    assert not {"count-differs", "implausible-loss"} & set(codes(samples))


def test_answers_of_a_multicast_without_totals_are_as_many_requests_as_one_host_answered():
    row = "    {} 192.0.2.{}                                 56  64 {}ms\n"
    samples = read("".join(row.format(n, 1 + n % 2, n + 1) for n in range(4)))
    assert (samples.sent, samples.received, samples.duplicates) == (2, 2, 2)
    assert samples.meta.partial


WITHOUT_SIZE = (
    "paping.txt", "tcping_tcp.txt", "tcping_py.txt", "dnsping.txt", "ibping.txt",
    "tailscale_ping.txt", "vpp.txt",
)  # fmt: skip


@pytest.mark.each("file", WITHOUT_SIZE)
def test_a_port_or_the_size_of_an_answer_is_no_size_of_a_probe(file):
    assert np.isnan(read(INPUTS / file).payload_bytes).all()


def test_tailscale_prints_no_summary():
    samples = read(INPUTS / "tailscale_ping.txt")
    assert (samples.sent, samples.received, samples.meta.partial) == (3, 2, True)
    assert samples.best_s.tolist() == [pytest.approx(0.036), pytest.approx(0.012)]


def test_tcpping_of_tcptraceroute():
    samples = read(
        "seq 0: tcp response from lb.example (203.0.113.20) [open]  0.072 ms\n"
        "seq 1: tcp response from lb.example (203.0.113.20) [closed]  0.080 ms\n"
        "seq 2: no response (timeout)\n"
    )
    assert (samples.sent, samples.received, samples.errors) == (3, 1, 1)
    assert samples.best_s.tolist() == [pytest.approx(72e-6)]
    assert samples.sequence.tolist() == [0, 1, 2]
    assert samples.meta.facts[0]["protocol"] == "tcp"


def test_a_quiet_psping_has_its_summary():
    samples = read(
        "TCP connect to 192.0.2.9:443:\n101 iterations (warmup 1) ping test: 100%\n\n"
        "TCP connect statistics for 192.0.2.9:443:\n"
        "  Sent = 100, Received = 99, Lost = 1 (1% loss),\n"
        "  Minimum = 7.48ms, Maximum = 9.08ms, Average = 8.30ms\n"
    )
    row = samples.facts()[0]
    assert (row["sent_count"], row["received_count"], row["target"]) == (100, 99, "192.0.2.9:443")
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((7.48e-3, 9.08e-3))


@pytest.mark.each("file", ["paping.txt", "dnsping.txt", "tcping_tcp.txt", "ibping.txt"])
def test_every_three_lines_are_of_the_tool_and_no_ping(file):
    lines = (INPUTS / file).read_text("utf-8").splitlines(keepends=True)
    tool = read(INPUTS / file).meta.tool
    for first in range(len(lines) - 2):
        text = "".join(lines[first : first + 3])
        try:
            found = read(text)
        except ReaderError:
            assert "time" not in text or "Approximate" in text or "timed out" in text
        else:
            assert found.meta.tool == tool


@pytest.mark.each(
    "text",
    [
        "foo 203.0.113.20: port=443 latency=12.3 ms\nfoo 203.0.113.20: port=443 latency=12.9 ms\n",
        "Reply from 203.0.113.20:443 time=12ms\nReply from 203.0.113.20:443 time=13ms\n",
        "200 OK from 203.0.113.20: proto=http time=12.3 ms\n",
    ],
)
def test_what_connects_to_a_port_is_no_ping(text):
    with pytest.raises(ReaderError):
        read(text)
