"""The first screen of a file: what was measured, what is odd, what next; ten lines of 80."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.cli.first_screen import first_screen
from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.samples import Meta, Table

INPUTS = Path(__file__).parents[1] / "readers" / "inputs"
FILES = [path for path in sorted(INPUTS.rglob("*")) if path.is_file()]


def shown(path, *options):
    done = CliRunner().invoke(commands, ["read", str(path), *options])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.each("path", FILES, ids=[str(path.relative_to(INPUTS)) for path in FILES])
def test_ten_lines_of_eighty(path):
    try:
        samples = read(path)
    except ReaderError:
        return  # its refusal has a test of its own
    lines = first_screen(path.name, samples, None).split("\n")
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 80, lines
    titles = [line.partition(":")[0] for line in lines[1:] if line[:1] != " "]
    assert titles == ["Measured", "Odd", "Next"]


SCREENS = {
    "iputils_host_unreachable.txt": ("100% lost", "netcalc explain"),
    "paths/traceroute_linux.txt": (
        "Measured: 8 hops, 3 hops answer, round trip to the last 50.5 µs",
        "Odd: no answer from hop 3, 4, 5, 6, 7", "--plot traceroute_linux.svg",
    ),
    "iperf3/udp_R_P3.txt": (
        "Measured: download: sent 12.6 Mbit/s (UDP payload), received 12.6 Mbit/s (UDP payload)",
        "Odd: nothing that the file shows",
    ),
    "pings/junos_rapid.txt": (
        "Measured: sent 10, received 9 (10% lost) round trip min 619 µs, max 661 µs Odd: 10% lost",
    ),
    "pings/mikrotik.txt": ("Odd: 33.33% lost; errors: 1 Next: ",),
    "captures/dumpcap_lo.pcapng": ("1 TCP flow, 1 UDP flow, 5 answered pings",),
    "columns/rates.csv": (
        "throughput_bps 93.8 Mbit/s to 94.1 Mbit/s (median 93.95 Mbit/s; layer not",
        "loss_ratio: mean 0.25%", "name the columns with units",
    ),
    "columns/semicolons.csv": ("Odd: 20% lost; ignored 1 column: 'host'", "--plot semicolons.svg"),
    "counters/nstat_a.txt": ("TcpOutSegs 2,769,127", "Odd: TcpRetransSegs 393"),
    "wifi/iw_link.txt": (
        "Measured: signal -52 dBm, frames received at 780 Mbit/s (line), frames sent at 866.7 Mbit",
    ),
    "wifi/netsh_wlan.txt": ("signal 81%",),
    "counters/ip_s.txt": ("lo: 12 counters, all 0", "rx_packets 9,706"),
}  # fmt: skip


def test_packets_dropped_are_odd_by_any_name():
    text = (
        "Kernel Interface table\n"
        "Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
        "eth0      1500  1234567      0    345 6        654321      0      0      0 BMRU\n"
    )
    assert "Odd: RX-DRP 345, RX-OVR 6" in first_screen("i.txt", read(text), None)


def test_a_listed_packet_that_is_sent_again_is_odd():
    """A SYN that nothing answers, as tcpdump prints it: after 1 s and 2 s more it is repeated."""
    packet = "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 1000, win 64240, length 0"
    times = ("10:00:00.000000", "10:00:01.000000", "10:00:03.000000")
    text = "".join(f"{time} {packet}\n" for time in times)
    assert "Odd: 2 segments sent again" in first_screen("syn.txt", read(text), None)


def test_a_run_of_a_queue_has_its_wait_and_ten_lines():
    """By hand: waits of 0, 1 and 2 ms are 1 ms in the mean."""
    data = {
        "arrival_s": [0.0, 0.01, 0.02], "wait_s": [0.0, 0.001, 0.002], "service_s": [0.002] * 3,
        "dropped": [False] * 3,
    }  # fmt: skip
    columns = {name: np.array(column) for name, column in data.items()}
    queue = Table(data=columns, meta=Meta(tool="netcalc router-queue", experiment="router_queue"))
    lines = first_screen("queue.json", queue, None).split("\n")
    assert lines[1].startswith("Measured: Mean wait 1 ms")
    assert len(lines) <= 10
    assert "--plot queue.svg" in lines[-1]


@pytest.mark.each("name", SCREENS)
def test_the_three_answers_of_each_kind(name):
    path = INPUTS / name
    text = first_screen(path.name, read(path), None)
    flat = " ".join(text.split())
    for part in SCREENS[name]:
        assert " ".join(part.split()) in flat, text


def test_the_rest_is_behind_an_option():
    """Definitions, places and what judges a run are long; a script gets them as before."""
    path = INPUTS / "iputils_plain.txt"
    first, everything = shown(path), shown(path, "--all")
    assert "Measured: sent 5, received 5 (0% lost)" in first
    for part in ("ICMP packets, round trip, sender", "jitter (RFC 3550)", "note: "):
        assert part not in first
        assert part in everything
    assert "Next: " not in everything


def test_a_known_line_is_compared_on_the_first_screen():
    text = shown(INPUTS / "iperf3" / "tcp_bi.txt", "--line", "10 Mbit/s")
    assert "share of the line's ceiling" in text


def test_warnings_are_what_is_odd(tmp_path):
    path = tmp_path / "many.csv"
    rows = "".join(f"{64 * n},{n / 7:.3f},note {n}\n" for n in range(1, 30))
    path.write_text("size_bytes,rtt_ms,a remark of somebody\n" + rows + "1\n2\n3\n4\n5\n6\n7\n")
    lines = shown(path).splitlines()
    assert len(lines) <= 10
    odd = "Odd: skipped lines 31-37: not 3 cells; ignored 1 column: 'a remark of somebody'"
    assert odd in lines


def test_a_long_name_is_not_repeated(tmp_path):
    path = tmp_path / ("long" * 20 + ".csv")
    path.write_text("size_bytes,rtt_ms\n64,1\n128,2\n")
    lines = shown(path).splitlines()
    assert max(map(len, lines)) <= 80
    assert "Next: netcalc explain FILE (what limits it)" in lines


def test_a_table_that_has_a_meaning_is_not_told_to_get_one(tmp_path):
    path = tmp_path / "rt.csv"
    path.write_text("frame_bytes,rate_pps\n64,21000\n512,21000\n1024,11973\n1518,8127\n")
    for text in (shown(path), shown(path, "--all")):
        assert "to give them a meaning" not in text
    assert "netcalc explain" in shown(path)
