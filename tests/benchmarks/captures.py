"""Captures: header columns and flow tables of a million TCP packets, beside tshark.

A seeded generator writes the capture: two hundred connections, each two full segments and an
acknowledgement in turn, with time stamps, some segments sent twice, cut at 96 bytes. Then

- header columns by ``read_capture``, and by ``tshark -T fields`` with the same fields: both times
  of the same run, and whether every field of every packet is equal;
- the flow tables on top of that, and the peak of resident memory of a process that makes them;
- the peak of a process that reads ten such captures in a row as one, part after part;
- the peak of a process that reads 150,000 flows of one packet each, and of one that makes their
  table, above that of a capture of one flow.

Run: python tests/benchmarks/captures.py [PACKETS]    (default 1000000)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.readers import read
from netcalc.readers.captures import read_capture, stream_capture
from netcalc.readers.captures.tcp import analyse_tcp, flow_table, tcp_flows

CONNECTIONS = 200
KEPT_BYTES = 96
SEGMENT_BYTES = 1448
ROUNDS = 3
REPEATS = 10
MANY = 150_000

RECORD = np.dtype(
    [
        ("seconds", "<u4"), ("fraction", "<u4"), ("kept", "<u4"), ("original", "<u4"),
        ("ethernet", "V12"), ("kind", ">u2"), ("version", "u1"), ("tos", "u1"), ("length", ">u2"),
        ("id", ">u2"), ("fragment", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("sum", ">u2"),
        ("source", ">u4"), ("to", ">u4"), ("port", ">u2"), ("to_port", ">u2"),
        ("sequence", ">u4"), ("ack", ">u4"), ("flags", ">u2"), ("window", ">u2"), ("check", ">u2"),
        ("urgent", ">u2"), ("intro", ">u4"), ("stamp", ">u4"), ("echo", ">u4"), ("data", "V30"),
    ]
)  # fmt: skip

FIELDS = (
    "frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "ip.dst", "ip.ttl", "ip.len",
    "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags",
    "tcp.window_size_value", "tcp.len", "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
)  # fmt: skip


def make(count: int, seed: int = 1, connections: int = CONNECTIONS) -> bytes:
    """Return a pcap file of ``count`` packets."""
    random = np.random.default_rng(seed)
    number = np.arange(count)
    connection, turn = number % connections, number // connections
    is_ack = turn % 3 == 2
    sent = (turn // 3) * 2 + np.minimum(turn % 3, 2)  # segments before this packet
    again = ~is_ack & (turn > 3) & (random.random(count) < 0.002)
    segment = np.where(again, sent - 1, sent)
    time_us = 1_700_000_000_000_000 + np.cumsum(random.integers(1, 20, count))
    packets = np.zeros(count, RECORD)
    packets["seconds"], packets["fraction"] = time_us // 10**6, time_us % 10**6
    payload = np.where(is_ack, 0, SEGMENT_BYTES)
    packets["original"] = 66 + payload
    packets["kept"] = np.minimum(packets["original"], KEPT_BYTES)
    packets["kind"], packets["version"] = 0x0800, 0x45
    packets["length"], packets["id"] = 52 + payload, number & 0xFFFF
    packets["ttl"], packets["protocol"] = np.where(is_ack, 64, 57), 6
    client, server = 0x0A000000 + connection, 0xC6336401 + connection % 7
    packets["source"] = np.where(is_ack, client, server)
    packets["to"] = np.where(is_ack, server, client)
    own, other = 40000 + connection % 20_000, np.full(count, 443)
    packets["port"], packets["to_port"] = np.where(is_ack, own, other), np.where(is_ack, other, own)
    begin = (connection * 0x01234567) & 0xFFFFFFFF
    reach = (begin + segment * SEGMENT_BYTES) & 0xFFFFFFFF
    acked = (begin + sent * SEGMENT_BYTES) & 0xFFFFFFFF
    packets["sequence"] = np.where(is_ack, 77, reach)
    packets["ack"] = np.where(is_ack, acked, 77)
    packets["flags"], packets["window"] = 0x8010, 500 + connection % 1000
    packets["intro"] = 0x0101080A
    packets["stamp"], packets["echo"] = time_us // 1000 & 0xFFFFFFFF, turn
    rows = packets.view(np.uint8).reshape(count, RECORD.itemsize)
    is_there = np.arange(RECORD.itemsize) < (16 + packets["kept"].astype(np.int64))[:, None]
    head = np.array([0xA1B2C3D4, 0x00040002, 0, 0, KEPT_BYTES, 1], "<u4").tobytes()
    return head + rows[is_there].tobytes()


def by_tshark(path: Path, out: Path) -> float:
    """Write the fields by tshark; return how long it took."""
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=,"]
    for name in FIELDS:
        command += ["-e", name]
    start_s = time.perf_counter()
    with out.open("wb") as stream:
        subprocess.run(command, stdout=stream, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start_s


def differences(path: Path, out: Path) -> dict[str, int]:
    """Return how many packets differ between tshark's fields and the columns, by field."""
    trace = read_capture(path)
    names = np.array(trace.addresses, dtype=object)
    time_ns = np.round(np.asarray(trace.time_s) * 1e9).astype(np.int64) + (trace.start_ns or 0)
    ours: tuple[Any, ...] = (
        time_ns, trace.original_bytes, trace.kept_bytes, names[trace.ints("source")],
        names[trace.ints("destination")], trace.ttl, trace.packet_bytes, trace.source_port,
        trace.destination_port, trace.tcp_sequence, trace.acknowledged, trace.tcp_flags,
        trace.window, trace.payload_bytes, trace.timestamp, trace.timestamp_echo,
    )  # fmt: skip
    found = dict.fromkeys(FIELDS, 0)
    count = 0
    lists = [np.asarray(column).tolist() for column in ours]
    with out.open(encoding="ascii") as stream:
        for row, line in enumerate(stream):
            cells = line.rstrip("\n").split(",")
            seconds, _, fraction = cells[0].partition(".")
            values: list[Any] = [int(seconds) * 10**9 + int(fraction.ljust(9, "0"))]
            values += [c if "." in c else int(c, 0) for c in cells[1:]]
            count += 1
            for name, mine, theirs in zip(FIELDS, lists, values, strict=True):
                found[name] += mine[row] != theirs
    found["packets"] = abs(count - len(trace))
    return {name: number for name, number in found.items() if number}


def peak_mb() -> float:
    """Return the peak of resident memory of this program alone, not of the one it came from."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def child(kind: str, path: str) -> None:
    """Do one thing in a process of its own, and print its peak of memory."""
    base = peak_mb()
    if kind == "flows":
        tcp_flows(analyse_tcp(read_capture(path)))
        print(f"{peak_mb():.0f} {base:.0f}")
        return
    if kind in ("read", "table"):
        trace = read(Path(path))
        if kind == "table":
            flow_table(trace)
        print(f"{peak_mb():.0f} {base:.0f}")
        return
    count = 0
    with stream_capture(path) as capture:
        for part in capture:
            count += len(part)
    print(f"{peak_mb():.0f} {base:.0f} {count}")


def measured(kind: str, path: Path) -> list[int]:
    command = [sys.executable, __file__, "--child", kind, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.pcap"
        data = make(count)
        path.write_bytes(data)
        print(f"{count:,} packets, {len(data) / 1e6:.0f} MB")
        columns_s, flows_s = [], []
        for _ in range(ROUNDS):
            start_s = time.perf_counter()
            trace = read_capture(path)
            columns_s.append(time.perf_counter() - start_s)
            tcp_flows(analyse_tcp(trace))
            flows_s.append(time.perf_counter() - start_s)
        del trace
        print(f"header columns  {min(columns_s):8.2f} s  (all: {shown(columns_s)})")
        print(f"and flow tables {min(flows_s):8.2f} s  (all: {shown(flows_s)}),"
              f" {min(flows_s) / min(columns_s):.2f} times that")  # fmt: skip
        peak, base = measured("flows", path)
        print(f"peak of memory  {peak} MB with flow tables (numpy and netcalc alone: {base} MB)")
        several, single = Path(folder) / "many.pcap", Path(folder) / "one.pcap"
        several.write_bytes(make(MANY, connections=MANY))
        single.write_bytes(make(1))
        for kind in ("read", "table"):
            more = measured(kind, several)[0] - measured(kind, single)[0]
            each = more * 1e6 / MANY
            print(f"{MANY:,} flows of one packet, {kind}: {more} MB more than one flow,"
                  f" {each:.0f} bytes a flow")  # fmt: skip
        if shutil.which("tshark"):
            out = Path(folder) / "fields.csv"
            tshark_s = by_tshark(path, out)
            print(
                f"tshark          {tshark_s:8.2f} s, {tshark_s / min(columns_s):.0f} times as long"
            )
            print(f"fields that differ: {differences(path, out) or 'none'}")
        else:
            print("tshark is not here: not compared")
        with path.open("ab") as stream:
            for _ in range(REPEATS - 1):
                stream.write(data[24:])
        peak, base, read = measured("stream", path)
        print(f"stream of {read:,} packets: peak {peak} MB (alone: {base} MB)")
        return 0 if read == count * REPEATS else 1


def shown(times_s: list[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in times_s)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main(int(float(sys.argv[1])) if sys.argv[1:] else 1_000_000))
