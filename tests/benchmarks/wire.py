"""How well and how fast a wire carries packets, beside what was asked for.

Run as ``python tests/benchmarks/wire.py [--short]``; takes some two minutes. It prints every
figure, also the bad ones, with the load of the machine: other programs make all of them worse.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path as File

import numpy as np

from netcalc.emulation import EmulatedPath, capabilities
from netcalc.emulation.wire.carrier import STAMPED, Carrier
from netcalc.emulation.wire.emulated_path import Statistics
from netcalc.experiments import echo
from netcalc.path import Path

RATES = ("56 kbit/s", "T1", "10 Mbit/s", "T3", "100 Mbit/s")
SO_TIMESTAMPNS = 35  # of Linux
BURST = 480  # packets; the send queue of a TUN device holds 500
BULK = (
    # path, offload, what is asked of it
    ("1.544 Mbit/s 5 ms", None, "within 2 % of the ceiling"),
    ("10 Mbit/s 20 ms", None, "within 2 % of the ceiling"),
    ("100 Mbit/s 5 ms", None, "within 2 % of the ceiling"),
    ("1 Gbit/s 0.5 ms", False, "at least 600 Mbit/s"),
    ("1 Gbit/s 0.5 ms", None, "within 2 % of the ceiling"),
    ("10 Gbit/s 0.5 ms", None, "at least 8 Gbit/s"),
)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true", help="a tenth of the probes and times")
    short = parser.parse_args().short
    found = capabilities()
    if not found.wire:
        sys.exit(found.why_not)
    print(f"{found.way}, scheduling {found.scheduling}, kernel {found.kernel}, {os.cpu_count()} "
          f"processors, load {os.getloadavg()[0]:.1f}")  # fmt: skip
    round_trips(12 if short else 200)
    goodput(1.0 if short else 8.0, iperf3=found.programs["iperf3"])
    packets_per_second(0.5 if short else 2.0)
    cost(40 if short else 420)
    hops(10 if short else 60)
    if found.programs["traceroute"]:
        probing(2 if short else 5)
    cycles(20 if short else 200)


def round_trips(count: int) -> None:
    """Print the error of round trips: 1 % or 150 us at the 95th percentile are asked for.

    By the kernel's stamps at the device of A the error is the wire's alone; what ping prints holds
    the wake-up of ping, too, which waits for a processor like everybody. The last column is what
    the carrying process took of one processor meanwhile. "late" is by how much this process
    delivered packets after their time, in one direction: what the error has beyond it, twice, is
    the kernels' of both ends. "overdue" is the share of the packets delivered more than 50 us late;
    behind it how many of them were due in a sleep that the host ended late, while the host did not
    run the process although it was awake, and while the process carried others: only these are the
    wire's own.
    """
    print("\nround trips of ping, 5 ms each way; error = measured - Path.rtt_s, in us")
    print(f"{'rate':>12} {'bytes':>6} {'truth':>10} {'p50':>6} {'p95':>6} {'p99':>6} {'allowed':>8}"
          f" {'late50':>6} {'95':>4} {'mean of ping':>13} {'processor':>10} {'overdue':>8}"
          " (asleep, stopped, busy)")  # fmt: skip
    causes = np.zeros(3, int)
    for text in RATES:
        path = Path.parse(f"{text} 5 ms")
        for size in (56, 1400):
            truth_s = float(path.rtt_s(size + 28))
            probes = count if truth_s < 0.1 else count // 4
            found_s, mean_s, busy, late = stamped(path, size, probes, truth_s)
            errors_us = 1e6 * np.percentile(found_s - truth_s, (50, 95, 99))
            allowed_us = 1e6 * max(0.01 * truth_s, 150e-6)
            verdict = "" if errors_us[1] <= allowed_us else "  missed"
            columns = " ".join(f"{error:6.0f}" for error in errors_us)
            columns += f" {allowed_us:>8.0f}"
            columns += f" {1e6 * late.lateness_p50_s:6.0f} {1e6 * late.lateness_p95_s:4.0f}"
            print(f"{text:>12} {size:>6} {1e3 * truth_s:>7.2f} ms {columns} "
                  f"{1e6 * (mean_s - truth_s):>13.0f} {busy:>10.1%} "
                  f"{why(late)}{verdict}")  # fmt: skip
            found = late.overdue
            causes += (found.asleep_count, found.stopped_count, found.busy_count)
    asleep, stopped, own = causes.tolist()
    print(f"overdue packets, all: {asleep} asleep and {stopped} stopped are the host's, "
          f"{own} busy the wire's")  # fmt: skip


def why(found: Statistics) -> str:
    """Return the share of overdue packets and their causes."""
    late = found.overdue
    causes = f"({late.asleep_count}, {late.stopped_count}, {late.busy_count})"
    return f"{late.count / found.carried_count:>8.1%} {causes}"


def stamped(
    path: Path, size: int, count: int, truth_s: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float, float, Statistics]:
    """Ping through a path; return round trips by stamps, ping's mean [s], load, lateness."""
    every = socket.htons(3)  # ETH_P_ALL
    with (
        EmulatedPath(path) as wire,
        wire.socket("A", socket.AF_PACKET, socket.SOCK_DGRAM, every) as tap,
    ):
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        command = ["ping", "-n", "-c", str(count), "-i", f"{max(0.01, 1.2 * truth_s):.3f}"]
        begin_s, used_s = time.monotonic(), processor_s(wire)
        out = wire.run([*command, "-s", str(size), wire.address("B")]).stdout
        busy = (processor_s(wire) - used_s) / (time.monotonic() - begin_s)
        tap.setblocking(False)
        sent_s, found_s = {}, []
        while True:
            try:
                packet, notes, _, _ = tap.recvmsg(2048, socket.CMSG_SPACE(16))
            except BlockingIOError:
                break
            seconds, rest_ns = struct.unpack("ll", notes[0][2])
            stamp_s, sequence = seconds + rest_ns * 1e-9, packet[26:28]
            if packet[:1] == b"\x45" and packet[9] == 1 and packet[20] == 8:
                sent_s[sequence] = stamp_s
            elif packet[:1] == b"\x45" and packet[9] == 1 and sequence in sent_s:
                found_s.append(stamp_s - sent_s[sequence])
        statistics = wire.statistics()
    mean_s = float(out.rpartition(" = ")[2].split("/")[1]) * 1e-3
    return np.array(found_s), mean_s, busy, statistics


def processor_s(wire: EmulatedPath) -> float:
    """Return the processor time of the carrying process so far. [s]"""
    return int(File(f"/proc/{wire._control.pid}/schedstat").read_text().split()[0]) * 1e-9


def probing(trains: int) -> None:
    """Print the error of each node's answer: traceroute through 12 T1, idle and with packets back.

    Each answer alone takes a known time; with other packets the wait for one of them may come on
    top at each line. The best of several probes is shown.
    """
    print("\ntraceroute through 12 T1 of 5 ms, 12 nodes; best of the probes - theory, in us")
    path = Path.parse("12 x T1 5 ms")
    for name, interval_s in (("idle", 0.0), ("pings from B every 20 ms", 0.02)):
        with EmulatedPath(path) as wire:
            if interval_s:
                command = ["ping", "-q", "-i", f"{interval_s}", wire.address("A")]
                wire.start(command, "B", stdout=subprocess.DEVNULL)
                time.sleep(0.5)
            found: dict[int, list[float]] = {}
            for _ in range(trains):
                command = ["traceroute", "-n", "-q", "1", "-N", "1", wire.address("B")]
                for line in wire.run(command).stdout.splitlines()[1:]:
                    place, _, time_ms = line.split()[:3]
                    found.setdefault(int(place), []).append(1e-3 * float(time_ms))
        # 60 bytes there, and 28 more back: the IP header and ICMP around what is quoted
        errors_s = [
            min(times_s) - place * (2 * 0.005 + 8 * (60 + 88) / path.bottleneck_bps)
            for place, times_s in sorted(found.items())
        ]
        print(f"  {name:>24}: " + " ".join(f"{1e6 * error_s:.0f}" for error_s in errors_s))


def goodput(duration_s: float, *, iperf3: str | None) -> None:
    """Print what cubic delivers against the ceiling of 1448 bytes in 1500."""
    if iperf3 is None:
        print("\ngoodput: iperf3 is not installed")
        return
    print("\ngoodput: iperf3, cubic, buffer of one BDP and 64 KiB, the first second left out")
    for text, offload, asked in BULK:
        path = Path.parse(text)
        buffer_bytes = int(path.bottleneck_bps / 8 * float(path.rtt_s(1500))) + (64 << 10)
        if path.bottleneck_bps >= 1e9:
            buffer_bytes += 4 << 20  # super-packets of 64 KiB come in bursts
        with EmulatedPath(path, offload=offload, buffer_bytes=buffer_bytes) as wire:
            server = wire.start([iperf3, "-s", "-1", "-J"], "B", stdout=subprocess.DEVNULL)
            wait_for_listener(wire)
            command = [iperf3, "-c", wire.address("B"), "-t", f"{duration_s + 1:g}", "-O", "1"]
            command += ["-C", "cubic", "-J", "--get-server-output"]
            result = json.loads(wire.run(command).stdout)
            server.wait(10)
            statistics, used_s = wire.statistics(), processor_s(wire)
        # By the whole seconds of the receiver: its sum holds what the queue had at the beginning.
        seconds = [part["sum"] for part in result["server_output_json"]["intervals"]]
        seconds = [second for second in seconds if not second["omitted"]][:-1]
        taken_s = sum(second["seconds"] for second in seconds)
        received_bps = 8 * sum(second["bytes"] for second in seconds) / taken_s
        ceiling_bps = path.bottleneck_bps * 1448 / 1500
        way = "super-packets" if wire.offload else "packet by packet"
        print(f"{text:>18} {way:>16}: {received_bps / 1e6:9.3f} Mbit/s, "
              f"{received_bps / ceiling_bps:7.2%} of the ceiling; asked: {asked}; "
              f"{1e6 * used_s / statistics.carried_count:.1f} us of processor per packet "
              f"and {1e9 * used_s / result['end']['sum_received']['bytes']:.2f} ns per byte; "
              f"late {statistics.late_ratio:.2%}{f'; {statistics.invalid}' if statistics.invalid else ''}")  # fmt: skip  # noqa: E501


def wait_for_listener(wire: EmulatedPath) -> None:
    """Wait until iperf3 listens at B."""
    end_s = time.monotonic() + 5.0
    while ":1451 " not in wire.read("/proc/net/tcp6", "B") + wire.read("/proc/net/tcp", "B"):
        if time.monotonic() > end_s:
            raise SystemExit("iperf3 does not listen")
        time.sleep(0.02)


def packets_per_second(duration_s: float) -> None:
    """Print how many small datagrams a second the wire carries."""
    print("\npackets a second: UDP of 64 bytes, 10 Gbit/s, packet by packet")
    for links in (1, 12):
        with (
            EmulatedPath(Path.parse(f"{links} x 10 Gbit/s"), offload=False) as wire,
            wire.socket("A", kind=socket.SOCK_DGRAM) as sender,
            wire.socket("B", kind=socket.SOCK_DGRAM) as receiver,
        ):
            receiver.bind((wire.address("B"), 0))
            sender.connect(receiver.getsockname())
            payload, before_s = bytes(64), processor_s(wire)
            end_s = time.monotonic() + duration_s
            sent = 0
            while time.monotonic() < end_s:
                for _ in range(100):
                    sender.send(payload)
                sent += 100
            carried, used_s = wire.statistics().carried_count, processor_s(wire) - before_s
        sent_pps, carried_pps = sent / duration_s, carried / duration_s
        print(
            f"  {links:>2} links: {sent_pps:>9,.0f} /s sent, {carried_pps:>9,.0f} /s carried, "
            f"{1e6 * used_s / carried:.1f} us of processor per packet"
        )


def cost(bursts: int) -> None:
    """Print what a packet costs the carrying process, without polls, sleeps and other packets.

    Bursts that the send queue of the device holds are sent, then read and delivered at once.
    The floor are the two system calls alone.
    """
    print(
        f"\nprocessor time of a packet in the carrying process: {bursts} bursts of {BURST}, UDP "
        "of 64 bytes, packet by packet; ns, and 10th to 90th percentile of the bursts"
    )
    for links in (0, 1, 12):
        ours, theirs = os.pipe()
        if child := os.fork():
            os.close(theirs)
            with os.fdopen(ours) as read:
                found = json.loads(read.read() or "[]")
            os.waitpid(child, 0)
            low, median, high = np.percentile(found, (10, 50, 90)) if found else [np.nan] * 3
            name = f"{links:>2} links" if links else "   floor"
            print(f"  {name}: {median:.0f} ({low:.0f} to {high:.0f})")
            continue
        code = 1
        try:
            os.write(theirs, json.dumps(costs_ns(links, bursts)).encode())
            code = 0
        finally:
            os._exit(code)


def costs_ns(links: int, bursts: int) -> list[float]:
    """Return the processor time of a packet, burst by burst; without links of the calls alone."""
    wire = EmulatedPath(Path.parse(f"{links or 1} x 10 Gbit/s"), offload=False)
    carrier = Carrier(wire._settings)
    carrier.make()
    carrier._open_arrivals()
    carrier._read_count = STAMPED  # as in a process that is awake
    host_a, host_b = (
        carrier._inside(side, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for side in range(2)
    )
    host_b.bind((wire.address("B"), 0))
    host_b.setblocking(False)
    host_a.connect((wire.address("B"), host_b.getsockname()[1]))
    payload, found = bytes(64), []
    for _ in range(bursts):
        for _ in range(BURST):
            host_a.send(payload)
        before_s = time.thread_time()
        if links:
            for _ in range(BURST // 32 + 2):
                carrier._read(0, 0.0)
                carrier._deliver(time.monotonic())
            carrier._deliver(np.inf)
        else:
            with suppress(BlockingIOError):
                while True:
                    os.write(carrier.tuns[1], os.read(carrier.tuns[0], 1564))
        found.append(1e9 * (time.thread_time() - before_s) / BURST)
        with suppress(BlockingIOError):
            while True:
                host_b.recv(100)
    return found


def hops(count: int) -> None:
    """Print what 12 links cost against one: at most 3 times is asked for."""
    print("\nlinks in a row: own time of one round trip, ICMP of 56 bytes, 100 Mbit/s")
    for links in (1, 12):
        path = Path.parse(f"{links} x 100 Mbit/s 1 ms")
        samples = echo([56], protocol="icmp", count=count, interval_s=0.01, path=path)
        error_s = np.median(samples.best_s - path.rtt_s(84))
        print(f"  {links:>2} links: {1e6 * error_s:.0f} us above the truth in the median")


def cycles(count: int) -> None:
    """Print what making and ending a wire takes and leaves."""

    def resident_bytes() -> int:
        return int(File("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    path = Path.parse("T1 5 ms")
    with EmulatedPath(path):
        pass
    files, memory, begin_s = len(os.listdir("/proc/self/fd")), resident_bytes(), time.monotonic()  # noqa: PTH208
    for _ in range(count):
        with EmulatedPath(path):
            pass
    took_s = (time.monotonic() - begin_s) / count
    more = len(os.listdir("/proc/self/fd")) - files  # noqa: PTH208
    print(f"\n{count} wires made and ended: {1e3 * took_s:.0f} ms each, {more} descriptors more, "
          f"{(resident_bytes() - memory) / 1024:.0f} KiB more memory")  # fmt: skip


if __name__ == "__main__":
    main()
