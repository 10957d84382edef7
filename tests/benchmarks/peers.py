"""Our transfers beside iperf3, our echo beside sockperf: same machine, same run, in turn.

Prints what it measured and every ratio beside its floor, whether it is met or not. A peer that is
not installed is named and left out.

Run: python tests/benchmarks/peers.py [ROUNDS [SECONDS]]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

from netcalc.experiments import bulk, echo

WRITES = (300, 1440, 16_384, 131_072)
TCP_FLOOR, UDP_FLOOR, TOGETHER_FLOOR = 1.0, 0.95, 30.0
PING_CEILING = 1.25


def free_port() -> int:
    """Return a port that nobody uses at the moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def iperf3(*options: str, seconds: int) -> dict[str, float]:
    """Run iperf3 once on loopback; return the rates of its sender and receiver."""
    port = str(free_port())
    server = subprocess.Popen(
        ["iperf3", "-s", "-1", "-p", port, "-B", "127.0.0.1"], stdout=subprocess.DEVNULL
    )
    try:
        time.sleep(0.2)
        command = ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", str(seconds), "-J", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        server.wait(10)
    finally:
        server.kill()
        server.wait()
    end = json.loads(done.stdout)["end"]
    if "sum_sent" in end and "sum_received" in end and "-u" not in options:
        return {
            "sent": end["sum_sent"]["bits_per_second"],
            "received": end["sum_received"]["bits_per_second"],
        }
    stream = end["streams"][0]["udp"]
    return {
        "sent": stream["packets"] / stream["seconds"],
        "received": (stream["packets"] - stream["lost_packets"]) / stream["seconds"],
    }


def ours(size: int, protocol: str, *, seconds: int, together: int = 1) -> dict[str, float]:
    """Run one transfer of about the same time; UDP in datagrams a second, as iperf3 above."""
    run = bulk(
        size, protocol=protocol, write_count=20_000_000_000 // size // 2, run_count=1,
        buffer_bytes=None, datagrams_per_call=together, limit_s=seconds,
    )  # fmt: skip
    if protocol == "tcp":
        return {"sent": float(run.sent_rate_bps[0]), "received": float(run.goodput_bps[0])}
    return {"sent": float(run.sent_rate_pps[0]), "received": float(run.rate_pps[0])}


def sockperf_rtt_s(seconds: int) -> float:
    """Return the median round trip of sockperf's ping-pong, 64 bytes over UDP."""
    port = str(free_port())
    server = subprocess.Popen(
        ["sockperf", "server", "-i", "127.0.0.1", "-p", port],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        time.sleep(0.3)
        command = ["sockperf", "ping-pong", "-i", "127.0.0.1", "-p", port, "-m", "64"]
        done = subprocess.run(
            [*command, "-t", str(seconds), "--full-rtt"],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
    finally:
        server.kill()
        server.wait()
    found = re.search(r"percentile 50\.000 =\s*([\d.]+)", done.stdout)
    if found is None:
        raise RuntimeError(f"sockperf printed no median:\n{done.stdout}")
    return float(found[1]) * 1e-6


def line(what: str, own: list[float], peer: list[float], bound: str, unit: str) -> None:
    """Print the medians, their ratio, and the ratio of each round."""
    scale = {"Gbit/s": 1e9, "k/s": 1e3, "us": 1e-6}[unit]
    mid, other = statistics.median(own), statistics.median(peer)
    rounds = ", ".join(f"{a / b:.2f}" for a, b in zip(own, peer, strict=True))
    print(
        f"{what:36}{mid / scale:10.2f}{other / scale:10.2f} {unit:7}{mid / other:7.2f}"
        f"  {bound:8} rounds: {rounds}"
    )


def main(rounds: int = 5, seconds: int = 1) -> None:
    """Measure both in turn and print the table."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {rounds} rounds")
    print(f"{'':36}{'netcalc':>10}{'peer':>10} {'':7}{'ratio':>7}  wanted")
    if shutil.which("iperf3") is None:
        print("iperf3 is not installed: apt install iperf3")
    else:
        beside_iperf3(rounds, seconds)
    if shutil.which("sockperf") is None:
        print("sockperf is not installed: apt install sockperf")
    else:
        beside_sockperf(rounds, seconds)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


def beside_iperf3(rounds: int, seconds: int) -> None:
    """Print TCP by size of the write, and UDP of 64 bytes with one call each and with many."""
    for size in WRITES:
        own, peer = [], []
        for _ in range(rounds):
            own.append(ours(size, "tcp", seconds=seconds))
            peer.append(iperf3("-l", str(size), seconds=seconds))
        for side in ("sent", "received"):
            line(
                f"TCP, writes of {size} B, {side}", [run[side] for run in own],
                [run[side] for run in peer], f">= {TCP_FLOOR:g}", "Gbit/s",
            )  # fmt: skip
    kinds: dict[str, list[dict[str, float]]] = {"one": [], "many": [], "peer": []}
    for _ in range(rounds):
        kinds["one"].append(ours(64, "udp", seconds=seconds))
        kinds["peer"].append(iperf3("-u", "-b", "0", "-l", "64", seconds=seconds))
        kinds["many"].append(ours(64, "udp", seconds=seconds, together=64))
    for kind, floor in (("one", UDP_FLOOR), ("many", TOGETHER_FLOOR)):
        for side in ("sent", "received"):
            name = "one call each" if kind == "one" else "64 in a call"
            line(
                f"UDP, 64 B, {name}, {side}", [run[side] for run in kinds[kind]],
                [run[side] for run in kinds["peer"]], f">= {floor:g}", "k/s",
            )  # fmt: skip


def beside_sockperf(rounds: int, seconds: int) -> None:
    """Print the median round trip, as measured and without the instrument's own calls."""
    own, bare, peer = [], [], []
    for _ in range(rounds):
        samples = echo(64, count=10_000)
        median_s = float(statistics.median(samples.rtt_s.tolist()))
        own.append(median_s)
        bare.append(median_s - 2 * samples.meta.instrument["clock_call_s"])
        peer.append(sockperf_rtt_s(seconds))
    line("UDP ping-pong, 64 B, round trip", own, peer, f"<= {PING_CEILING:g}", "us")
    line("the same less the clock's readings", bare, peer, f"<= {PING_CEILING:g}", "us")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
