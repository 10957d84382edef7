"""Questions that people asked in public threads, with what is known of their answers.

The texts are in the form of the threads, named in each test; what an answer must say is from the
thread (its title, its maintainers) or derived by hand beside it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from netcalc import readers
from netcalc.explain import Known, claim, measurement, table_theory, together
from netcalc.explain.time_parts import cell_notice


def explained(text, tmp_path, *, name="pasted.txt", **known):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return measurement(readers.read(path), Known(**known))


def codes(finding):
    return {notice.code: notice.values for notice in finding.notices}


LINE = "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
CONNECTING = "Connecting to host 10.10.2.2, port 5201\n"


def connected(stream=5):
    return f"[{stream:3d}] local 10.10.1.2 port {49000 + stream} connected to 10.10.2.2 port 5201\n"


def row(start, end, rest):
    return f"[  5]   {start}.00-{end}.00   sec  {rest}\n"


def hole(first, cwnd, *, received="0.00 Bytes  0.00 bits/sec", streams=(5,), total=""):
    """iperf3 of a client whose first window is all that leaves."""
    text = CONNECTING + "".join(connected(stream) for stream in streams)
    text += "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    for second, again in enumerate((2, 1, 0, 1, 0, 0, 1, 0, 0, 0)):
        moved = first if second == 0 else "0.00 Bytes  0.00 bits/sec"
        for stream in streams:
            text += (
                f"[{stream:3d}]   {second}.00-{second + 1}.00   sec  {moved}    {again}   {cwnd}\n"
            )
    text += LINE + "[ ID] Interval           Transfer     Bitrate         Retr\n"
    for stream in streams:
        text += f"[{stream:3d}]   0.00-10.00  sec  {total or first}    5             sender\n"
        text += f"[{stream:3d}]   0.00-10.00  sec  {received}                  receiver\n"
    return text + "\niperf Done.\n"


# Title of antrea#5940: MTU misconfiguration; a maintainer in iperf#955: "very likely an MTU
# configuration issue"; iperf#453 has 1.41 KBytes at the receiver.
HOLES = {
    "antrea#5940": hole(
        "2.50 MBytes  20.9 Mbits/sec", "63.9 KBytes", total="2.50 MBytes  2.10 Mbits/sec"
    ),
    "iperf#703": hole(
        "84.8 KBytes   694 Kbits/sec", "1.41 KBytes", total="84.8 KBytes  69.5 Kbits/sec"
    ),
    "iperf#955": hole(
        "87.4 KBytes   716 Kbits/sec", "8.74 KBytes", streams=(5, 7),
        total="87.4 KBytes  71.6 Kbits/sec",
    ),
    "iperf#453": hole(
        "67.9 KBytes   555 Kbits/sec", "1.41 KBytes", received="1.41 KBytes  1.16 Kbits/sec",
        total="67.9 KBytes  55.6 Kbits/sec",
    ),
}  # fmt: skip


@pytest.mark.each("thread", HOLES)
def test_a_black_hole_of_the_path_mtu(thread, tmp_path):
    for known in ({}, {"line_bps": 1e9, "rtt_s": 5e-4}):
        (finding,) = explained(HOLES[thread], tmp_path, **known)
        assert finding.cause.code == "path-mtu"
        assert finding.cause.confidence == "medium"
        assert finding.cause.share_of_time == pytest.approx(0.9)
        assert "ping -M do -s 1472" in str(finding.test)
        assert "tracepath" in str(finding.test)


NO_HOLES = {
    # iperf#970: nothing is sent again, so that no timer repeats a lost window
    "closed": HOLES["antrea#5940"].replace("    1   63.9", "    0   63.9"),
    # 112 MB left in the first second: a path that broke, and no window that vanished
    "broke": hole("112 MBytes   941 Mbits/sec", "400 KBytes", total="112 MBytes  94.1 Mbits/sec"),
    # what left arrived
    "arrived": HOLES["iperf#703"].replace(
        "0.00 Bytes  0.00 bits/sec                  rec", "84.8 KBytes  69.5 Kbits/sec   rec"
    ),
}


@pytest.mark.each("case", NO_HOLES)
def test_other_silences_are_no_black_hole(case, tmp_path):
    (finding,) = explained(NO_HOLES[case], tmp_path)
    assert finding._cause.code != "path-mtu"
    assert codes(finding)["intervals-of-a-pause"] == {
        "count": 9, "total": 10, "begin_s": 1.0, "pause_s": 9.0,
    }  # fmt: skip


def datagrams(command, rate, count, *, lost, size=1448, received=None):
    """iperf3 of a client of UDP for 10 s."""
    mib = count * size / 2**20
    text = command + CONNECTING + connected()
    text += "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n"
    for second in range(10):
        text += row(second, second + 1, f"{mib:.1f} MBytes  {rate} Mbits/sec  {count}")
    text += (
        LINE
        + "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
    )
    whole = f"{10 * mib:.0f} MBytes  {rate} Mbits/sec"
    counts = f"{lost}/{10 * count} ({100 * lost / count / 10:.0f}%)"
    if received is None:  # before version 3.7
        return (
            text
            + row(0, 10, f"{whole}  0.062 ms  {counts}")
            + f"[  5] Sent {10 * count} datagrams\n\niperf Done.\n"
        )
    text += f"[  5]   0.00-10.00  sec  {whole}  0.000 ms  0/{10 * count} (0%)  sender\n"
    came = f"{10 * mib * (1 - lost / count / 10):.0f} MBytes  {received} Mbits/sec"
    return text + f"[  5]   0.00-10.00  sec  {came}  0.062 ms  {counts}  receiver\n\niperf Done.\n"


def test_half_of_the_datagrams_lost(tmp_path):
    """iperf#571, and the new style: what was sent is no cause of what arrived, 1 - loss of it."""
    text = datagrams("", 499, 43080, lost=215000, received=250)
    (finding,) = explained(text, tmp_path)
    assert finding.cause.code == "line"
    assert finding.cause.sign("loss_ratio") == pytest.approx(215 / 430.8)
    assert "offered" not in {limit.name for limit in finding.limits}
    assert "more arrives" not in str(finding)
    command = "$ iperf3 -c 10.10.2.2 -l 4096 -b 50M -u -t 10\n"
    (finding,) = explained(datagrams(command, 49.5, 1511, lost=8270, size=4096), tmp_path)
    assert finding.cause.code == "unknown"  # fragments are lost, or datagrams: it does not show
    assert finding.measured == pytest.approx(49.5e6 * (1 - 8270 / 15110))
    assert "54.73%" in finding.sentence
    assert finding.confidence == "low"
    # Three packets each: 1 - (1 - p)^3 = 0.5473, so p = 1 - 0.7678.
    assert codes(finding)["fragments-lost"]["count"] == 3
    assert codes(finding)["fragments-lost"]["packet_loss_ratio"] == pytest.approx(0.2322, abs=1e-4)


def test_a_server_that_counts_what_was_sent_for_what_came(tmp_path):
    """iperf#296: 841 of 841, then 4957 of 9160 lost; the intervals have what came."""
    rows = [(6.57, 55.1, 0, 841), (3.93, 33.0, 476, 979), (3.38, 28.4, 567, 1000)]
    rows += [(3.51, 29.4, 553, 1002)] * 4
    text = "Server listening on 5201\nAccepted connection from 192.168.0.12, port 58304\n"
    text += "[  5] local 10.5.8.20 port 5201 connected to 192.168.0.12 port 38930\n"
    head = "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
    text += head
    for second, (size, rate, lost, count) in enumerate(rows):
        counts = f"{size} MBytes  {rate} Mbits/sec  0.1 ms  {lost}/{count} (5%)"
        text += row(second, second + 1, counts)
    lost, count = sum(row[2] for row in rows), sum(row[3] for row in rows)
    sent = count * 8192 / 2**20
    text += (
        LINE + head + row(0, 7, f"{sent:.1f} MBytes  65.4 Mbits/sec  0.1 ms  {lost}/{count} (47%)")
    )
    (finding,) = explained(text, tmp_path)
    came = sum(row[0] for row in rows) * 2**20
    assert finding.measured == pytest.approx(8 * came / 7, rel=1e-3)
    assert finding.cause.code == "unknown"  # a full line does not pass more at first than later
    assert "request" not in str(finding)


def test_a_sender_that_does_not_reach_what_it_was_asked_for(tmp_path):
    """talos#10530: -b 4G, 3.51 Gbit/s leave and arrive: no network is the limit."""
    command = "$ iperf3 -c 10.10.2.2 -u -b 4G\n"
    text = datagrams(command, 3510, 303007, lost=0, received=3510)
    (finding,) = explained(text, tmp_path)
    assert finding.cause.code == "host"
    assert finding.cause.sign("asked_rate_bps") == 4e9
    (finding,) = explained(text.removeprefix(command), tmp_path)
    assert finding._cause.code == "unknown"  # nobody says what was asked for


def test_a_sender_s_count_alone_is_no_word_of_what_arrived():
    """A server that sends does not know what came: the rate it was asked for is no limit."""
    inputs = Path(__file__).parents[1] / "readers" / "inputs" / "iperf3"
    for finding in measurement(readers.read(inputs / "srv_udp_R.json")):
        assert finding._cause.code == "unknown"
        assert "ask for twice" not in str(finding)


def test_datagrams_that_must_not_be_cut(tmp_path):
    """iperf#1367: 950 of 950 Mbit/s; 9000 B of 9066 on the wire allow 992.7 on 1 Gbit/s."""
    command = "$ iperf3 -c 10.10.2.2 -u -b 950M -l 9000 --dont-fragment\n"
    text = datagrams(command, 950, 13194, lost=0, size=9000, received=950)
    (finding,) = explained(text, tmp_path, line_bps=1e9)
    assert finding.cause.code == "sender-program"
    line = next(limit for limit in finding.limits if limit.name == "line")
    assert line.value == pytest.approx(1e9 * 9000 / 9066)


def test_what_the_kernel_says_comes_first(tmp_path):
    """rwnd_limited:9700ms(97.0%) of busy:10000ms; 84,736 B per 40 ms are 16.95 Mbit/s."""
    text = (
        "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        "ESTAB 0      1453064 10.0.0.1:52344 10.0.0.2:5201\n"
        "\t cubic wscale:7,7 rto:241 rtt:40.1/0.05 mss:1448 pmtu:1500 cwnd:450 bytes_sent:20460000 "
        "bytes_acked:20380001 send 130.2Mbps delivery_rate 16.9Mbps busy:10000ms "
        "rwnd_limited:9700ms(97.0%) unacked:56 notsent:1373000 minrtt:40 snd_wnd:84736\n"
    )
    (finding,) = explained(text, tmp_path)
    assert finding.cause.code == "receiver-window"
    assert finding.cause.share_of_time == pytest.approx(0.97)
    (gain,) = finding.cause.counterfactuals
    assert gain.values["window_bytes"] == 2**18
    assert gain.values["rate_bps"] == pytest.approx(8 * 2**18 / 0.04)
    (finding,) = explained(text, tmp_path, line_bps=20e6)
    (gain,) = finding.cause.counterfactuals
    assert gain.values["rate_bps"] == pytest.approx(20e6 * 1448 / 1538, rel=0.01)  # the line


KERNEL = {  # share of 10 s limited by the receiver's window and by the sender's buffer -> cause
    (0.98, 0.0): ("receiver-window", 0.98),
    (0.0, 0.9): ("sender-buffer", 0.9),
    (0.2, 0.1): ("unknown", math.nan),
}


@pytest.mark.each("shares", KERNEL)
def test_what_the_kernel_says_in_ndt7(shares, tmp_path):
    """amplet2#18 and ndt-server#201 ask what limited a test: RWndLimited, SndBufLimited."""
    lines = []
    for tenth in range(1, 11):
        info = {
            "ElapsedTime": tenth * 10**6, "BusyTime": tenth * 10**6, "BytesAcked": tenth * 10**7,
            "BytesSent": tenth * 10**7, "BytesRetrans": 0, "TotalRetrans": 0, "SndMSS": 1440,
            "SndCwnd": 400, "RTT": 24085, "MinRTT": 20000,
            "RWndLimited": int(shares[0] * tenth * 10**6),
            "SndBufLimited": int(shares[1] * tenth * 10**6),
        }  # fmt: skip
        value = {"TCPInfo": info, "Origin": "server", "Test": "download"}
        lines.append(json.dumps({"Key": "measurement", "Value": value}))
    (finding,) = explained("\n".join(lines) + "\n", tmp_path, name="ndt7.jsonl")
    code, share = KERNEL[shares]
    assert finding.cause.code == code
    assert share != share or finding.cause.share_of_time == pytest.approx(share, abs=0.001)


def test_losses_that_do_not_hold_a_sender_are_not_its_cause(tmp_path):
    """ndt-server#201: BBR with 10.6 % sent again at 216 Mbit/s, where Reno has 2.2.

    Of 9.684 s the receiver's window held 2.372, the sender's buffer 0.388; 6.924 remain.
    """
    info = {
        "SndMSS": 1440, "RTT": 24085, "MinRTT": 20000, "SndCwnd": 1626, "TotalRetrans": 21803,
        "BytesAcked": 262102350, "BusyTime": 9707000, "RWndLimited": 2372000,
        "SndBufLimited": 388000, "BytesSent": 295761134, "BytesRetrans": 31391264,
        "ElapsedTime": 9683892,
    }  # fmt: skip
    value = {"TCPInfo": info, "Origin": "server", "Test": "download"}
    text = json.dumps({"Key": "measurement", "Value": value}) + "\n"
    (finding,) = explained(text, tmp_path, name="ndt7.jsonl")
    assert finding.cause.code == "unknown"
    assert finding.confidence == "low"
    shares = finding.cause.shares
    assert shares["receiver-window"] == pytest.approx(2.372 / 9.684, abs=1e-3)
    assert shares["loss"] == pytest.approx(6.924 / 9.684, abs=1e-3)
    assert sum(shares.values()) == pytest.approx(1.0)


# Pktgen-DPDK#62 prints 97152 at 1280 B, beside a line rate of 96153.
PKTGEN = {
    64: 1487460,
    128: 844384,
    256: 452846,
    512: 234945,
    1024: 119730,
    1280: 97152,
    1518: 81273,
}


def test_a_row_above_the_line_is_impossible(tmp_path):
    text = "frame_bytes,rate_pps\n" + "".join(f"{size},{rate}\n" for size, rate in PKTGEN.items())
    findings = explained(text, tmp_path, name="pktgen.csv", line_bps=1e9)
    for size, finding in zip(PKTGEN, findings, strict=True):
        if size != 1280:
            assert (finding._cause.code, finding.confidence) == ("line", "high")
            continue
        assert finding.cause.code == "unknown"
        assert finding.cause.sign("of_line_ratio") == pytest.approx(97152 * 8 * 1300 / 1e9)
        typo = codes(finding)["row-typo"]
        assert (typo["printed"], typo["likely"]) == ("97152", "96152")


def test_rounded_rows_at_the_line_are_not_impossible(tmp_path):
    """1.49 Mpps is 1.488 rounded; 14.9 is so for 10 Gbit/s."""
    (finding,) = explained(
        "frame_bytes,rate [Mpps]\n64,1.49\n", tmp_path, name="a.csv", line_bps=1e9
    )
    assert finding._cause.code == "line"


CLAIMS = {
    # librespeed#65: 1015 on 1 Gbit/s where iperf has 940; its first versions multiplied by
    # 1048576/925000 of Mbit of 1048576 bit: 941.5 x 1.0811 = 1017.8
    ("1015 Mbit/s", "librespeed-of-2017", True): {"line_bps": 1e9},
    # librespeed#43: 102 on 100 Mbit/s
    ("102 Mbit/s", "librespeed-of-2017", True): {"line_bps": 1e8},
    # librespeed#546: around 1000, by 1.06: 998
    ("998 Mbit/s", "librespeed", False): {"line_bps": 1e9},
    # aosabook#10: 4 KiB x 100 ms = 409.6, said as 400 B/s
    ("400 B/s", "times-for-over", False): {"line_bps": 1e7, "rtt_s": 0.1, "window_bytes": 4096},
}


@pytest.mark.each("stated", CLAIMS)
def test_a_stated_number_and_its_mistake(stated):
    text, name, is_impossible = stated
    answer = claim(text, Known(**CLAIMS[stated]))
    assert answer.best.name == name
    # 1015 was measured, 0.3 % below what the line allows: near, and no more
    assert answer.is_misconception is (text != "1015 Mbit/s")
    assert ("near a known mistake" in answer.sentence) is (text == "1015 Mbit/s")
    assert answer.is_impossible == is_impossible
    assert ("impossible" in answer.sentence) == is_impossible


def test_a_typo_above_the_line_is_no_known_mistake():
    """Pktgen-DPDK#62: 97152 for 96153; 97047 has preamble and FCS forgotten, and is 0.1 % off."""
    answer = claim("97152 pps", Known(line_bps=1e9), frame_bytes=1280.0)
    assert (answer.best, answer.said.code) == (None, "claim-impossible")


def test_nothing_is_near_a_number_above_the_line():
    answer = claim("1325.48 Mbit/s", Known(line_bps=1e9))
    assert answer.best is None
    assert answer.said.code == "claim-impossible"


def test_more_frames_than_a_line_carries():
    """10 Gbit/s carries 14.88 million frames of 64 B; 14.9 is that, rounded."""
    known = Known(line_bps=1e10)
    assert claim("15.2 Mpps", known, frame_bytes=64.0).said.code == "claim-impossible"
    assert not claim("14.9 Mpps", known, frame_bytes=64.0).is_impossible
    twice = claim("29.76 Mpps", known, frame_bytes=64.0)
    assert (twice.best.name, twice.is_impossible) == ("both-directions", True)


def test_frames_of_64_bytes_on_10_gbit():
    """trex-core#905 and trex-stateless-gui#132: 7.6 of 10 Gbit/s are 64/84."""
    answer = claim("7.6 Gbit/s", Known(line_bps=1e10), frame_bytes=64.0)
    assert answer.best.name == "line-at-size"
    assert answer.best.value == pytest.approx(1e10 * 64 / 84)


def table(head, rows):
    return head + "\n" + "".join(f"{x},{y:.5g}\n" for x, y in rows)


RTTS_MS = (1, 10, 50, 100, 200, 350)


def test_throughput_against_round_trip(tmp_path):
    """smoltcp#893 and eleven more: min(line, W/RTT), here of 64 KiB with 4 % of noise."""
    noise = (1.0, 0.97, 1.03, 0.99, 1.02, 0.96)
    rows = [
        (ms, min(94.1, off * 8 * 65.536 / ms)) for ms, off in zip(RTTS_MS, noise, strict=True)
    ]  # fmt: skip
    text = table("rtt [ms],throughput [Mbit/s]", rows)
    findings = explained(text, tmp_path, name="rtt.csv", line_bps=1e8)
    (whole, *findings) = findings
    assert [finding._cause.code for finding in findings] == ["line"] + ["receiver-window"] * 5
    window = next(limit for limit in findings[1].limits if limit.name == "fitted-window")
    assert window.values["window_bytes"] == pytest.approx(65536, rel=0.03)
    # The same curve by Reno: W = 1.2247 MSS / sqrt(p), p = 0.0732 % for 1448 B.
    rival = codes(whole)["window-or-loss"]
    assert rival["loss_ratio"] == pytest.approx(7.32e-4, rel=0.06)
    without = explained(text, tmp_path, name="rtt.csv")
    assert without[1]._cause.code == "line"  # the rate that no longer grows


def test_throughput_against_window_and_loss(tmp_path):
    """W/RTT at 40 ms up to 94.1 Mbit/s; Mathis: 1.2247 x 8 x 1448 / (40 ms x sqrt(p))."""
    kib = (4, 16, 64, 256, 512, 1024)
    rows = [(size, min(94.1, size * 8.192 / 40)) for size in kib]
    findings = explained(table("window [KiB],throughput [Mbit/s]", rows), tmp_path, name="w.csv")[
        1:
    ]
    assert [finding._cause.code for finding in findings] == ["receiver-window"] * 4 + ["line"] * 2
    values = next(one for one in findings[0].limits if one.name == "fitted-window").values
    assert values["rtt_s"] == pytest.approx(0.04, rel=1e-3)
    losses = (0.01, 0.1, 1, 4)
    rows = [(loss, 1.2247 * 8 * 1448 / 0.04 / math.sqrt(loss / 100) / 1e6) for loss in losses]
    findings = explained(table("loss [%],throughput [Mbit/s]", rows), tmp_path, name="l.csv")
    assert {finding._cause.code for finding in findings} == {"random-loss"}
    (limit,) = findings[1].limits
    assert limit.values["rtt_s"] == pytest.approx(0.04, rel=1e-3)


def test_the_curve_over_the_points(tmp_path):
    path = tmp_path / "rtt.csv"
    rows = [(ms, min(941.0, 8 * 65.536 / ms)) for ms in (0.1, *RTTS_MS)]
    path.write_text(table("rtt [ms],throughput [Mbit/s]", rows), encoding="utf-8")
    theory = table_theory(readers.read(path), Known(line_bps=1e9))
    line = 1e9 * 1448 / 1538
    expected = np.minimum(line, 8 * 65536 / theory.x)
    assert theory.lines["a window"] == pytest.approx(expected, rel=1e-3)
    assert theory.lines["the line"] == pytest.approx(line)


def test_two_limits_have_a_corner(tmp_path):
    """525 kB and 940 Mbit/s meet at 8 x 525 kB / 940 Mbit/s, 4.47 ms."""
    path = tmp_path / "rtt.csv"
    rows = [(ms, min(940.0, 8 * 525 / ms)) for ms in (1, 10, 20, 50, 100, 200)]
    path.write_text(table("rtt [ms],throughput [Mbit/s]", rows), encoding="utf-8")
    theory = table_theory(readers.read(path), Known())
    assert list(theory.lines) == ["a window", "the rate that no longer grows"]
    ((name, lowest),) = theory.predictions.values()
    assert name == "the lowest of the limits"
    between = np.geomspace(1e-3, 0.2, 5000)
    expected = np.minimum(940e6, 8 * 525e3 / between)
    assert np.interp(between, theory.x, lowest) == pytest.approx(expected, rel=3e-3)
    rows = [(count, min(9400.0, 2400.0 * count)) for count in (1, 2, 4, 8, 16)]
    path.write_text(table("streams,throughput [Mbit/s]", rows), encoding="utf-8")
    corner = 9400 / 2400
    assert np.abs(table_theory(readers.read(path), Known()).x - corner).min() < 1e-9


NOT_A_LAW = {
    "flat": [(ms, 50.0) for ms in RTTS_MS],
    "no order": [(1, 5.0), (10, 90.0), (50, 7.0), (100, 60.0), (200, 80.0)],
    "too short": [(10, 50.0), (11, 45.0)],
}


@pytest.mark.each("case", NOT_A_LAW)
def test_rates_that_follow_no_law_have_none(case, tmp_path):
    path = tmp_path / "rtt.csv"
    path.write_text(table("rtt [ms],throughput [Mbit/s]", NOT_A_LAW[case]), encoding="utf-8")
    assert table_theory(readers.read(path), Known(line_bps=1e9)) is None


def run_of(tmp_path, name, *, host, start_s, rate_bps, seconds):
    """A run of iperf3 in JSON that begins at a time of the epoch."""
    rows = [
        {
            "socket": 5, "start": second, "end": second + 1, "seconds": 1.0, "sender": True,
            "bytes": rate_bps / 8, "bits_per_second": rate_bps, "omitted": False,
        }
        for second in range(seconds)
    ]  # fmt: skip
    total = {
        "bytes": rate_bps * seconds / 8,
        "seconds": float(seconds),
        "bits_per_second": rate_bps,
    }
    document = {
        "start": {
            "version": "iperf 3.12", "system_info": f"Linux {host} 6.1.0 x86_64",
            "timestamp": {"timesecs": start_s}, "connecting_to": {"host": "h", "port": 5201},
            "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0, "omit": 0},
        },
        "intervals": [{"streams": [row], "sum": row} for row in rows],
        "end": {"sum_sent": total, "sum_received": total},
    }  # fmt: skip
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return readers.read(path)


def test_two_flows_of_one_clock_share_the_line(tmp_path):
    """6.1 + 3.3 of 9.415 Mbit/s (10 x 1448/1538), for 8 s."""
    one = run_of(tmp_path, "a.json", host="h1", start_s=1764356400, rate_bps=6.1e6, seconds=10)
    two = run_of(tmp_path, "b.json", host="h1", start_s=1764356402, rate_bps=3.3e6, seconds=8)
    both = together({"a": one, "b": two}, Known(line_bps=1e7))
    assert {cause.code for cause in both.causes.values()} == {"shared-line"}
    (said,) = both.notices
    assert said.values["common_s"] == pytest.approx(8.0)
    assert said.values["total_bps"] == pytest.approx(9.4e6)
    assert not together({"a": one, "b": two}, Known(line_bps=2e7)).causes
    assert not together({"a": one, "b": two}, Known()).causes


def test_clocks_of_two_hosts_are_not_one(tmp_path):
    """An hour apart, and the same second: each host has a clock of its own."""
    one = run_of(tmp_path, "a.json", host="h1", start_s=1764356400, rate_bps=6.1e6, seconds=10)
    for start_s in (1764360000, 1764356400):
        two = run_of(tmp_path, "b.json", host="h2", start_s=start_s, rate_bps=3.3e6, seconds=8)
        both = together({"a": one, "b": two}, Known(line_bps=1e7))
        assert not both.causes
        (said,) = both.notices
        assert said.code == "clocks-of-two-hosts"
        assert said.values["apart_s"] == start_s - 1764356400


def test_cells_in_a_ping_sweep():
    """ATM_overhead_detector#9: 40 B beyond IP: 28 + n + 40 fill cells of 48, 0.424 ms each."""
    x = np.arange(16.0, 400.0, 4.0)
    y = 0.02 + 0.424e-3 * np.ceil((x + 68) / 48) + np.random.default_rng(1).normal(0, 2e-5, x.size)
    said = cell_notice(x, y)
    assert said.code == "cells-with-overhead"
    assert (
        said.values["low_bytes"] <= 40 <= said.values["high_bytes"] <= said.values["low_bytes"] + 3
    )
    assert said.values["cell_s"] == pytest.approx(0.424e-3, rel=0.01)


def test_a_straight_line_has_no_cells():
    x = np.arange(16.0, 400.0, 8.0)
    rng = np.random.default_rng(2)
    for _ in range(100):
        assert cell_notice(x, 0.02 + 1e-5 * x + rng.normal(0, 2e-5, x.size)) is None


FRAGMENTS = {  # iperf#249, #286, #605: lines without those above them, and their rate
    "[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n"
    "[  4]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    400 KBytes\n"
    "[  4]   1.00-2.00   sec   112 MBytes   941 Mbits/sec    0    400 KBytes\n": 8 * 112 * 2**20,
    "[SUM]  0.0-30.0 sec    337 GBytes  96.4 Gbits/sec\n": 96.4e9,
    "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
    "[  4]   0.00-10.00  sec  1.09 GBytes   937 Mbits/sec  0.014 ms  36012/142822 (25%)\n"
    "[  4] Sent 142822 datagrams\n": 937e6 * (1 - 36012 / 142822),
}  # fmt: skip


@pytest.mark.each("text", FRAGMENTS)
def test_fragments_of_what_iperf_prints(text, tmp_path):
    (finding,) = explained(text, tmp_path)
    assert finding.measured == pytest.approx(FRAGMENTS[text], rel=2e-3)


def test_whole_round_trips(tmp_path):
    """grpc-go#1310: the time of each size is one, two or more round trips of 152 ms."""
    text = "size_bytes,time_ms\n1024,152\n10240,153\n102400,305\n1048576,306\n10485760,760\n"
    (finding,) = explained(text, tmp_path, name="grpc.csv", rtt_s=0.152)
    assert finding.cause.code == "round-trips"
    assert finding.cause.sign("trip_count") == 2
