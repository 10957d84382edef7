"""Record the puzzles of lesson 8 again: real tools over emulated paths whose truth is known.

    python tests/benchmarks/record_puzzles.py [name ...]

Needs Linux, namespaces, iperf3, ping and tcpdump. Each file goes to ``data/puzzles``, and its
command, tool, truth and hash to ``manifest.json`` there; questions and answers are kept. A later
recording gives other numbers of the same size: the tests of the puzzles say how far they may be
from the truth.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

from netcalc.emulation import EmulatedPath
from netcalc.path import Path

FOLDER = File(__file__).parents[2] / "data" / "puzzles"
MANIFEST = FOLDER / "manifest.json"
TCPDUMP = "tcpdump -i wire0 --immediate-mode -Z root -n -s 80 -w"
"""It keeps 80 bytes of a packet: the headers of IPv4 and TCP with the most options."""
HOST = ["unshare", "--uts", "sh", "-c", 'hostname lab && exec "$@"', "sh"]
"""The host has another name while a tool runs, because iperf3 prints it."""
CUBIC = ("--congestion", "cubic")
WRITER = """
import socket, sys, time
sock = socket.create_connection((sys.argv[1], 7007))
for _ in range(12):
    sock.sendall(b"hello ")
    sock.sendall(b"world\\n")
    sock.recv(100)
"""
READER = """
import socket
sock = socket.create_server(("", 7007))
print("ready", flush=True)
peer, _ = sock.accept()
line = b""
while data := peer.recv(100):
    line += data
    if line.endswith(b"\\n"):
        peer.sendall(b"ok\\n")
        line = b""
"""
"""Write, write, read, as in the article of lesson 7: a line in two parts, and its answer."""


RAN: list[str] = []
"""The commands of a recording; B is the address of the far end."""


def iperf(wire: EmulatedPath, *options: str) -> str:
    """Run iperf3 from A to B; return what the client printed."""
    serve = ["iperf3", "--server", "--one-off"]
    listening = wire.start([*HOST, *serve], "B", stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    RAN.append(shlex.join(["iperf3", "--client", "B", *options]))
    done = wire.run([*HOST, "iperf3", "--client", wire.address("B"), *options], "A")
    if done.returncode:
        raise SystemExit(f"iperf3: {done.stdout}{done.stderr}")
    listening.wait(10)
    return done.stdout


def captured(wire: EmulatedPath, run: Callable[[], object], *, side: str = "A") -> bytes:
    """Return what tcpdump captures at one end while something runs."""
    with tempfile.TemporaryDirectory() as folder:
        file = File(folder) / "packets.pcap"
        RAN.append(f"{TCPDUMP} packets.pcap ip")
        tap = wire.start([*shlex.split(TCPDUMP), str(file), "ip"], side, stderr=subprocess.PIPE)
        tap.stderr.readline()  # it listens now
        time.sleep(0.3)
        run()
        time.sleep(1.5)  # the kernel hands over the last packets after a second
        tap.terminate()
        tap.wait(10)
        return gzip.compress(file.read_bytes(), 9, mtime=0)


def json_of(*runs: str) -> bytes:
    """Return documents of iperf3 without its indentation."""
    return "\n".join(json.dumps(json.loads(run), separators=(",", ":")) for run in runs).encode()


def window(wire: EmulatedPath) -> bytes:
    return captured(wire, lambda: iperf(wire, *CUBIC, "--bytes", "2M"))


def slow_start(wire: EmulatedPath) -> bytes:
    return captured(wire, lambda: iperf(wire, *CUBIC, "--bytes", "400K"))


def stall(wire: EmulatedPath) -> bytes:
    def run() -> None:
        reader = wire.start([sys.executable, "-c", READER], "B", stdout=subprocess.PIPE)
        reader.stdout.readline()
        RAN.append("python: " + "; ".join(WRITER.split("\n")[2:]).strip("; ").replace(":;", ":"))
        wire.run([sys.executable, "-c", WRITER, wire.address("B")], "A")

    return captured(wire, run)


def small_packets(wire: EmulatedPath) -> bytes:
    runs = [
        iperf(wire, "--json", "--udp", "--bitrate", rate, "--length", size, "--time", "3")
        for size, rate in (("100", "4M"), ("400", "16M"), ("1200", "48M"))
    ]
    return json_of(*runs)


def sender(wire: EmulatedPath) -> bytes:
    return json_of(
        iperf(wire, "--json", "--udp", "--bitrate", "20M", "--length", "1400", "--time", "4")
    )


def bloat(wire: EmulatedPath) -> bytes:
    command = ["ping", "-n", "-i", "0.2", "-c", "45"]
    RAN.append(shlex.join([*command, "B"]))
    ping = wire.start([*command, wire.address("B")], "A", stdout=subprocess.PIPE)
    time.sleep(2.0)
    iperf(wire, *CUBIC, "--time", "4")
    out, _ = ping.communicate(timeout=30)
    return out


def fragments(wire: EmulatedPath) -> bytes:
    options = ("--udp", "--bitrate", "2M", "--length", "1400", "--time", "2")
    return captured(wire, lambda: iperf(wire, *options), side="B")


def lossy(wire: EmulatedPath) -> bytes:
    return json_of(iperf(wire, "--json", "--time", "12", "--congestion", "reno"))


def line(wire: EmulatedPath) -> bytes:
    return json_of(iperf(wire, *CUBIC, "--json", "--time", "6", "--interval", "0.5"))


def acknowledgements(wire: EmulatedPath) -> bytes:
    shaper = "tc qdisc add dev wire0 root tbf rate 200kbit overhead 38 burst 1600 limit 8000"
    RAN.append(f"at B: {shaper}")
    done = wire.run(shlex.split(shaper), "B")
    if done.returncode:
        raise SystemExit(f"tc: {done.stderr}")
    return captured(wire, lambda: iperf(wire, *CUBIC, "--bytes", "2M"))


WINDOW = {"net.ipv4.tcp_rmem": "4096 131072 131072"}
BOX = Path.parse("100 Mbit/s 1 ms, 100 Mbit/s 1 ms", processing_s=5e-4)
PUZZLES: dict[str, tuple[Callable[[EmulatedPath], bytes], Path, dict[str, Any]]] = {
    "window": (window, Path.parse("100 Mbit/s 20 ms"), {"sysctls": WINDOW}),
    "slow_start": (slow_start, Path.parse("100 Mbit/s 50 ms"), {}),
    "stall": (stall, Path.parse("100 Mbit/s 5 ms"), {}),
    "small_packets": (small_packets, BOX, {"input_packets": 100}),
    "sender": (sender, Path.parse("10 Mbit/s 5 ms"), {"buffer_bytes": 30_000}),
    "bloat": (bloat, Path.parse("4 Mbit/s 10 ms"), {"buffer_bytes": 120_000}),
    "fragments": (fragments, Path.parse("10 Mbit/s 10 ms"), {"mtu_bytes": 1400}),
    "lossy": (lossy, Path.parse("50 Mbit/s 15 ms"), {"loss_ratio": 0.005, "seed": 8}),
    "line": (line, Path.parse("20 Mbit/s 10 ms"), {"buffer_bytes": 60_000}),
    "acknowledgements": (acknowledgements, Path.parse("50 Mbit/s 10 ms"), {}),
}
FRAMING_BYTES = 38
"""What Ethernet adds to a packet: the lines of all puzzles are Ethernet. [byte]"""
VERSIONS = {
    "iperf3": ["iperf3", "--version"],
    "tcpdump": ["tcpdump", "--version"],
    "ping": ["ping", "-V"],
}


def version_of(tool: str) -> str:
    """Return the first line that a tool prints of its version."""
    done = subprocess.run(VERSIONS[tool], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()[0].strip()


def recorded(name: str) -> tuple[bytes, list[str], dict[str, Any]]:
    """Record one puzzle: the file, the commands, and what was set."""
    record, path, settings = PUZZLES[name]
    RAN.clear()
    with EmulatedPath(path, overhead_bytes=FRAMING_BYTES, **settings) as wire:
        data = record(wire)
    truth: dict[str, Any] = {
        "line_bps": path.bottleneck_bps,
        "rtt_s": 2 * path.latency_s,
        "overhead_bytes": FRAMING_BYTES,
        "mtu_bytes": 1500,
        **settings,
    }
    if path.processing_s:
        truth["device_pps"] = 1 / path.processing_s
    return data, list(RAN), truth


def main(names: list[str]) -> None:
    """Record the puzzles of these names, by default all, and bring the manifest up to date."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    for entry in manifest["puzzles"]:
        name = entry["name"]
        if names and name not in names:
            continue
        data, commands, truth = recorded(name)
        (FOLDER / entry["file"]).write_bytes(data)
        entry["tool_version"] = version_of(entry["tool"])
        entry["commands"] = commands
        entry["truth"] = {**truth, **entry["also_true"]}
        entry["sha256"] = hashlib.sha256(data).hexdigest()
        print(f"{name}: {len(data)} bytes")
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    MANIFEST.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
