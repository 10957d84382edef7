"""Echo beside a bare loop of one send and one receive call, same peer program, same run.

Prints, for each protocol and size, the median and the smallest round trip of both, and their
ratios. The bare loop is what no Python program can beat: nothing is checked, tagged or kept.

Run: python tests/benchmarks/echo.py [COUNT]
"""

from __future__ import annotations

import socket
import statistics
import struct
import sys
import time

from netcalc.experiments import echo
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running import instrument
from netcalc.experiments.running.stopping import Stopping

SIZES = (8, 100, 200, 400, 800, 1400, 8192, 65_507)
ROUNDS = 5
SESSION = bytes(8)


def bare(sizes: tuple[int, ...], count: int, protocol: str) -> dict[int, list[int]]:
    """Return the round trips of the bare loop by size. [ns]"""
    settings = {
        "protocol": protocol, "host": "127.0.0.1", "port": 0, "session": SESSION.hex(),
        "duration_s": 60, "bytes": 10**10, "message_bytes": max(sizes),
        "one_port": True,
    }  # fmt: skip
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    clock, times, buffer = time.perf_counter_ns, {}, bytearray(1 << 17)
    with (
        instrument.one_processor(),
        Peer(settings, stopping=Stopping(None, limit_s=60.0)) as peer,
        socket.socket(socket.AF_INET, kind) as sock,
        instrument.collector_off(),
    ):
        sock.connect(("127.0.0.1", peer.port))
        if protocol == "tcp":
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.sendall(SESSION)
            sock.recv(8)
        for size in sizes:
            head = bytes(8) if protocol == "udp" else struct.pack("!II", size, 0)
            payload, found = head + bytes(size - 8), []
            for _ in range(count + 5):
                begin = clock()
                sock.send(payload)
                left = size - sock.recv_into(buffer)
                while left:
                    left -= sock.recv_into(buffer)
                found.append(clock() - begin)
            times[size] = found[5:]
    return times


def main(count: int = 200) -> None:
    """Print both, in turn over a few rounds."""
    print(f"{'':4}{'size':>7}{'echo median':>13}{'bare':>8}{'ratio':>7}{'echo min':>11}{'bare':>8}")
    for protocol in ("udp", "tcp"):
        ours: dict[int, list[float]] = {size: [] for size in SIZES}
        floor: dict[int, list[float]] = {size: [] for size in SIZES}
        for _ in range(ROUNDS):
            result = echo(SIZES, count=count, protocol=protocol)
            for size, rtt_s in zip(result.payload_bytes, result.rtt_s, strict=True):
                ours[int(size)].append(rtt_s * 1e6)
            for size, times in bare(SIZES, count, protocol).items():
                floor[size] += [time_ns * 1e-3 for time_ns in times]
        for size in SIZES:
            medians = statistics.median(ours[size]), statistics.median(floor[size])
            least = min(ours[size]), min(floor[size])
            print(
                f"{protocol:4}{size:7}{medians[0]:10.2f} us{medians[1]:8.2f}"
                f"{medians[0] / medians[1]:7.3f}{least[0]:8.2f} us{least[1]:8.2f}"
                f"{least[0] / least[1]:7.3f}"
            )
        facts = result.meta.instrument
        print(
            f"    clock {facts.clock_call_s * 1e9:.0f} ns a reading, scheduling delay "
            f"{facts.scheduling_delay_median_s * 1e6:.0f} us (99th percentile "
            f"{facts.scheduling_delay_p99_s * 1e6:.0f}), processor share "
            f"{facts.processor_ratio:.3f}"
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
