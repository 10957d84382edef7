"""Two hosts and a peer between them: beside other programs, and through routers that are known.

The two hosts are namespaces of this machine, joined by a pair of devices (veth): host 1 runs
``netcalc peer``, and the runs are of a process on host 0. Beside them, in turn, iperf3 with the
same sizes, and a ping-pong: that of sockperf where it is installed, otherwise one in C, which does
nothing but send, receive and read the clock. Each host has a processor of its own, as two machines
have; TCP is Reno on both sides, since BBR sets a timer for each small write.

Then an emulated router whose packet rate and line are set stands between the hosts, and
``experiments.router`` finds both. It has the first processor, and the hosts share the others: at
real-time priority it would keep a host from running for tenths of a second. Last what an idle peer
takes.

Prints every figure beside its floor or ceiling, whether it is met or not, with the load of the
machine, which all of them depend on: on a busy one ``chrt -r 1`` before the command, as root, keeps
other programs out. Ends with 1 if a figure is not met, but for ``--short``.

Run: python tests/benchmarks/two_machines.py [--short] [--only bulk trips routers idle]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from peers import Row, Start, answered, free_port, in_turn, iperf3, moved, round_trip, sockperf

from netcalc import compare, experiments
from netcalc.emulation import EmulatedPath, capabilities
from netcalc.emulation.wire import kernel
from netcalc.emulation.wire.control import Programs
from netcalc.experiments.bulk import BOX_INPUT_PACKETS, WIRE_OVERHEAD_BYTES
from netcalc.experiments.router import ARTICLE_SIZES
from netcalc.path import Path

HOSTS = ("198.18.7.1", "198.18.7.2")
"""Addresses of both hosts: of the range for benchmarks (RFC 2544)."""
TCP_FLOORS = {131_072: 1.0, 64: 1.05}
UDP_FLOORS = {64: 1.05, 1470: 1.0}
TRIP_CEILING = 1.1
PACKET_RATE_ERROR, LINE_ERROR = 0.02, 0.01
QUEUE_S, LEAST_BUFFER_BYTES = 0.1, 30_000
"""Time for which the queues of a router keep it busy while this machine does not run the sender:
both ends, and the router itself, share its processors."""
IDLE_BYTES, IDLE_RATIO = 30e6, 0.005
"""Ceilings of an idle peer: memory, and share of a processor that rounds to 0 %."""
TOKEN = "NETCALC_PEER_TOKEN"
PING_PONG = r"""
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
static char data[65536];
static int later(const void *a, const void *b) {
  double gap = *(const double *)a - *(const double *)b;
  return (gap > 0) - (gap < 0);
}
int main(int argc, char **argv) { /* address port udp|tcp bytes [count] */
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
  int is_udp = !strcmp(argv[3], "udp"), bytes = atoi(argv[4]), on = 1;
  int sock = socket(AF_INET, is_udp ? SOCK_DGRAM : SOCK_STREAM, 0);
  inet_pton(AF_INET, argv[1], &at.sin_addr);
  if (argc == 5) {
    if (bind(sock, (void *)&at, sizeof at)) return 1;
    if (!is_udp) {
      listen(sock, 1);
      sock = accept(sock, 0, 0);
      setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    for (;;) {
      struct sockaddr_in from;
      socklen_t size = sizeof from;
      ssize_t got = recvfrom(sock, data, sizeof data, 0, (void *)&from, &size);
      if (got <= 0) return 0;
      if (is_udp) sendto(sock, data, got, 0, (void *)&from, size);
      else send(sock, data, got, 0);
    }
  }
  if (connect(sock, (void *)&at, sizeof at)) return 1;
  if (!is_udp) setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  int count = atoi(argv[5]);
  double *times = malloc(count * sizeof *times);
  for (int i = 0; i < count; i++) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    send(sock, data, bytes, 0);
    for (int have = 0; have < bytes;) {
      ssize_t got = recv(sock, data, sizeof data, 0);
      if (got <= 0) return 1;
      have += got;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    times[i] = end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec);
  }
  qsort(times, count, sizeof *times, later);
  printf("%.9f\n", times[count / 2]);
  return 0;
}
"""


def main() -> int:
    """Print all figures; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true", help="few rounds, and no judgement")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--client", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        return client(options.client)
    possible = capabilities()
    if not possible.wire:
        print(f"left out: {possible.why_not}")
        return 0
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, kernel {possible.kernel}, "
          f"{possible.way}, scheduling {possible.scheduling}")  # fmt: skip
    missed = [part for part in options.only if not PARTS[part](options.short)]
    print(f"\nload {os.getloadavg()[0]:.1f}; not met: {', '.join(missed) or 'none'}")
    return int(bool(missed) and not options.short)


@contextmanager
def joined() -> Iterator[Start]:
    """Make two namespaces and a pair of devices; give what starts a program on host 0 or 1."""
    near, far = socket.socketpair()
    child = os.fork()  # to make a namespace of users a process must have one thread
    if not child:
        code = 1
        try:
            make_hosts(far)
            code = 0
        finally:
            os._exit(code)
    _, descriptors, _, _ = socket.recv_fds(near, 1, 3)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("the two namespaces cannot be made")
    programs = Programs(descriptors[:2], descriptors[2])
    try:
        yield partial(start_on_own_processor, programs)
    finally:
        programs.end()
        for descriptor in descriptors:
            os.close(descriptor)


def start_on_own_processor(
    programs: Programs, command: list[str], host: int, **options: Any
) -> subprocess.Popen[str]:
    """Start a program on the processor of its host."""
    allowed = sorted(os.sched_getaffinity(0))
    pin = partial(os.sched_setaffinity, 0, {allowed[host % len(allowed)]})
    return programs.start(command, host, text=True, preexec_fn=pin, **options)


def make_hosts(answer: socket.socket) -> None:
    """Make both hosts, and send the descriptors of their namespaces and of their users."""
    kernel.enter_user_namespace_as_root()
    opened = []
    for _ in HOSTS:
        kernel.unshare(kernel.NEW_NET, "create network namespace")
        opened.append(os.open("/proc/self/ns/net", os.O_RDONLY))
    kernel.make_veth_pair("host1", "host0", opened[0])
    for number in (1, 0):
        kernel.enter(opened[number], kernel.NEW_NET, "enter network namespace")
        kernel.set_up("lo", [])
        kernel.set_up(f"host{number}", [f"{HOSTS[number]}/24"])
        kernel.set_sysctl("net.ipv4.tcp_congestion_control", "reno")
    opened.append(os.open("/proc/self/ns/user", os.O_RDONLY))
    socket.send_fds(answer, [b"\0"], opened)


class Runs:
    """Runs of a process on host 0 with a peer on host 1.

    Parameters
    ----------
    start : callable
        Starts a program on a host.
    host : str
        Address of host 1.
    """

    def __init__(self, start: Start, host: str) -> None:
        self.peer, token = started_peer(start, host)
        command = [sys.executable, __file__, "--client", host]
        self._client = start(
            command, 0, env={TOKEN: token}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Run one of CALLS there, and return what it returns."""
        assert self._client.stdin is not None
        assert self._client.stdout is not None
        self._client.stdin.write(json.dumps([name, arguments, options]) + "\n")
        self._client.stdin.flush()
        line = self._client.stdout.readline()
        if not line:
            raise SystemExit("the client has ended")
        return json.loads(line)


def started_peer(start: Start, host: str) -> tuple[subprocess.Popen[str], str]:
    """Start a peer on host 1; return it and its token."""
    command = [sys.executable, "-m", "netcalc", "peer", "--listen", host, "--for", "2h"]
    command += ["--bytes", "1e15 byte"]
    peer = start(command, 1, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert peer.stdout is not None
    for line in peer.stdout:
        name, _, value = line.partition(": ")
        if name == "Token":
            threading.Thread(target=deque, args=(peer.stdout, 0), daemon=True).start()
            return peer, value.strip()
    raise SystemExit("the peer has ended")


def client(host: str) -> int:
    """Do the runs that are asked for, a line each."""
    peer = experiments.Peer(host, token=os.environ[TOKEN])
    for line in sys.stdin:
        name, arguments, options = json.loads(line)
        print(json.dumps(CALLS[name](*arguments, peer=peer, **options)), flush=True)
    return 0


def found_limits(frames: list[int], duration_s: float, **options: Any) -> dict[str, float]:
    """Measure what lies between the hosts; return its packet rate and line."""
    samples = experiments.router(
        frames, directions=["forward"], duration_s=duration_s, run_count=1, **options
    )
    return dict(compare.router_regimes(samples)["forward"].params)


CALLS = {"moved": moved, "round_trip": round_trip, "found_limits": found_limits}
"""What the process on host 0 does."""


def print_heading() -> None:
    """Print the names of the columns of :class:`peers.Row`."""
    print(
        f"\n{'':36}{'netcalc':>10}{'peer':>10} {'':7}{'ratio':>7}{'least':>8}{'most':>8}  "
        f"{'wanted':14}{'':7}{'spread':>6}{'peer':>7}{'load':>7}"
    )


def print_rows(rows: Iterator[Row]) -> bool:
    """Print rows; return whether all are met."""
    print_heading()
    is_met = True
    for row in rows:
        print(row, flush=True)
        is_met = is_met and " NOT met" not in str(row)
    return is_met


def bulk_beside_iperf3(short: bool) -> bool:
    """Measure TCP and UDP by size."""
    if shutil.which("iperf3") is None:
        print("iperf3 is not installed: apt install iperf3")
        return True
    with joined() as start:
        return print_rows(beside_iperf3(Runs(start, HOSTS[1]), start, 1 if short else 7))


def beside_iperf3(runs: Runs, start: Start, rounds: int) -> Iterator[Row]:
    """Measure each size in turn with iperf3."""
    for protocol, floors in (("tcp", TCP_FLOORS), ("udp", UDP_FLOORS)):
        for size, floor in floors.items():
            flags = ["-l", str(size), *(["-u", "-b", "0"] if protocol == "udp" else [])]
            sides = {
                side: Row(f"{protocol.upper()}, {size} B, {side}",
                          "Gbit/s" if protocol == "tcp" else "k/s", floor)
                for side in ("sent", "received")
            }  # fmt: skip
            for number in range(rounds):
                own, other = in_turn(
                    number,
                    lambda size=size, protocol=protocol: runs("moved", size, protocol, seconds=1),
                    lambda flags=flags: iperf3(*flags, seconds=1, start=start, host=HOSTS[1]),
                )
                for side, row in sides.items():
                    row.add(own[side], other[side])
            yield from sides.values()


def trips_beside_ping_pong(short: bool) -> bool:
    """Measure round trips of 64 bytes."""
    with joined() as start, TemporaryDirectory() as folder:
        program = File(folder) / "ping_pong"
        if shutil.which("sockperf"):
            print("\nround trips beside sockperf")
        elif compiler := shutil.which("cc"):
            print("\nround trips beside a ping-pong in C; sockperf is not installed")
            command = [compiler, "-O2", "-x", "c", "-", "-o", str(program)]
            subprocess.run(command, input=PING_PONG, text=True, check=True)
        else:
            print("round trips: neither sockperf nor a compiler of C is installed")
            return True
        return print_rows(beside_ping_pong(Runs(start, HOSTS[1]), start, program, short))


def beside_ping_pong(runs: Runs, start: Start, program: File, short: bool) -> Iterator[Row]:
    """Measure each protocol in turn with a ping-pong."""
    count = 1000 if short else 5000
    for protocol in ("udp", "tcp"):
        whole = Row(f"{protocol.upper()}, 64 B, round trip", "us", high=TRIP_CEILING)
        bare = Row("the same less its own cost", "us", high=TRIP_CEILING)
        for number in range(1 if short else 15):
            own, other = in_turn(
                number,
                lambda protocol=protocol: runs("round_trip", count=count, protocol=protocol),
                lambda protocol=protocol: ping_pong(protocol, start, program, count),
            )
            whole.add(own["rtt_s"], other["rtt_s"])
            bare.add(own["rtt_s"] - own["own_cost_s"], other["rtt_s"])
        yield from (whole, bare)


def ping_pong(protocol: str, start: Start, program: File, count: int) -> dict[str, float]:
    """Return the median round trip of sockperf, or of the program in C. [s]"""
    if not program.exists():
        tcp = ["--tcp"] if protocol == "tcp" else []
        return sockperf(*tcp, seconds=1, start=start, host=HOSTS[1])
    port = free_port()
    at = [str(program), HOSTS[1], str(port), protocol, "64"]
    return {"rtt_s": float(answered(at, [*at, str(count)], start, port))}


def routers(short: bool) -> bool:
    """Find the packet rate and the line of emulated routers."""
    print(f"\n{'packets/s set':>14}{'found':>10}{'error':>8}{'Mbit/s set':>12}{'found':>9}"
          f"{'error':>8}{'carried':>9}{'late':>7}{'load':>6}")  # fmt: skip
    settings = [router_setting(number) for number in ((2, 12) if short else range(20))]
    errors = np.array([router_errors(*setting, 0.5 if short else 2.0) for setting in settings])
    worst_packet, worst_line = np.nanmax(np.abs(errors), axis=0)
    unknown = int(np.isnan(errors).sum())
    is_met = worst_packet <= PACKET_RATE_ERROR and worst_line <= LINE_ERROR and not unknown
    print(f"{len(settings)} settings: packet rate within {worst_packet:.2%} (wanted "
          f"{PACKET_RATE_ERROR:.0%}), line within {worst_line:.2%} (wanted {LINE_ERROR:.0%}), "
          f"{unknown} not found: {'met' if is_met else 'NOT met'}")  # fmt: skip
    return bool(is_met)


def router_setting(number: int) -> tuple[float, float]:
    """Return the packet rate, 1,000 to 50,000 a second, and the line, 5 to 200 Mbit/s."""
    packet_pps = 1000 * 50 ** (number / 19)
    meet_bytes = (300, 500, 750, 1000)[number % 4]  # frame on the line at which the limits meet
    return packet_pps, float(np.clip(8 * packet_pps * meet_bytes, 5e6, 200e6))


def router_errors(packet_pps: float, line_bps: float, duration_s: float) -> tuple[float, float]:
    """Measure through one router; return the relative errors of its packet rate and line."""
    path = Path.parse(f"1 Gbit/s, {line_bps} bit/s", processing_s=1 / packet_pps)
    allowed = sorted(os.sched_getaffinity(0))
    with ExitStack() as opened:
        os.sched_setaffinity(0, allowed[:1])
        try:
            emulated = opened.enter_context(EmulatedPath(
                path, offload=False, overhead_bytes=WIRE_OVERHEAD_BYTES,
                input_packets=max(BOX_INPUT_PACKETS, int(QUEUE_S * packet_pps)),
                buffer_bytes=max(LEAST_BUFFER_BYTES, int(QUEUE_S * line_bps / 8)),
            ))  # fmt: skip
        finally:
            os.sched_setaffinity(0, allowed)
        start = partial(start_at_end, emulated, allowed[1:] or allowed)
        runs = Runs(start, emulated.address("B"))
        found = runs("found_limits", list(ARTICLE_SIZES), duration_s)
        statistics = emulated.statistics()
    errors = found["packet_pps"] / packet_pps - 1, found["line_bps"] / line_bps - 1
    print(f"{packet_pps:>14,.0f}{found['packet_pps']:>10,.0f}{errors[0]:>8.2%}"
          f"{line_bps / 1e6:>12.2f}{found['line_bps'] / 1e6:>9.2f}{errors[1]:>8.2%}"
          f"{statistics.carried_count:>9,}{statistics.late_ratio:>7.1%}{os.getloadavg()[0]:>6.1f}",
          flush=True)  # fmt: skip
    return errors


def start_at_end(
    emulated: EmulatedPath, processors: list[int], command: list[str], host: int, **options: Any
) -> subprocess.Popen[str]:
    """Start a program at an end of an emulated path, on some processors."""
    pin = partial(os.sched_setaffinity, 0, processors)
    return emulated.start(command, "AB"[host], text=True, preexec_fn=pin, **options)


def idle_peer(short: bool) -> bool:
    """Measure what a peer takes while nobody comes."""
    duration_s = 2.0 if short else 10.0
    with joined() as start:
        peer, _ = started_peer(start, HOSTS[1])
        pid = last_descendant(peer.pid)
        time.sleep(1.0)
        before_s = processor_s(pid)
        time.sleep(duration_s)
        ratio = (processor_s(pid) - before_s) / duration_s
        status = File(f"/proc/{pid}/status").read_text()
    resident = next(line.split() for line in status.splitlines() if line.startswith("VmRSS:"))
    resident_bytes = 1024 * int(resident[1])
    is_met = resident_bytes < IDLE_BYTES and ratio < IDLE_RATIO
    print(f"\nidle peer: {resident_bytes / 1e6:.1f} MB (wanted below {IDLE_BYTES / 1e6:.0f}), "
          f"{ratio:.2%} of a processor over {duration_s:.0f} s (wanted 0%): "
          f"{'met' if is_met else 'NOT met'}")  # fmt: skip
    return is_met


def last_descendant(pid: int) -> int:
    """Return the program itself, which two processes precede that enter its namespaces."""
    while children := File(f"/proc/{pid}/task/{pid}/children").read_text().split():
        pid = int(children[0])
    return pid


def processor_s(pid: int) -> float:
    """Return the processor time of a process so far. [s]"""
    tasks = File(f"/proc/{pid}/task").glob("*/schedstat")
    return 1e-9 * sum(int(task.read_text().split()[0]) for task in tasks)


PARTS = {
    "bulk": bulk_beside_iperf3, "trips": trips_beside_ping_pong, "routers": routers,
    "idle": idle_peer,
}  # fmt: skip
"""The parts of the benchmark, in the order in which they run."""

if __name__ == "__main__":
    sys.exit(main())
