"""Large inputs of every kind that is read: processor time, and memory beside the size of the file.

Each input is made, and read in a process of its own: its processor time and how far its memory
grew while it read. Beside it, the same of the command, ``netcalc read``: its processor time, and
its largest memory less that of the same command on a file of three rows, with which the libraries
are loaded that it needs. The last rows are inputs that claim far more than they hold: they are to
be refused in words, at once. Prints a table; a row that took more than allowed ends in a mark.

Run: python tests/benchmarks/large_inputs.py [SHARE [NAME ...]]
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TIME_S = 2.0
MEMORY_RATIO, ALLOWANCE_BYTES = 6.0, 16e6
"""Allowed for an input of full size: a file of rows of two bytes becomes columns of eight a row."""
LARGE_BYTES = 1.5e6
"""A smaller one that claims to be large is read as far as the cap of its kind, 64 or 128 MiB."""
FEW = b"size_bytes,rtt_ms\n64,1\n65,2\n66,4\n"


def line_ends(share: float) -> bytes:
    return b"\n" * int(20e6 * share)


def carriage_returns(share: float) -> bytes:
    return b"1\r" * int(10e6 * share)


def csv_rows(share: float) -> bytes:
    rows = (
        f"{n},{64 + n % 1437},{0.4 + (n * 7919 % 10007) / 1e4:.4f}" for n in range(int(1e6 * share))
    )
    return ("seq,size_bytes,rtt_ms\n" + "\n".join(rows) + "\n").encode()


def times_alone(share: float) -> bytes:
    return b"rtt_ms\n" + b"1\n" * int(1e6 * share)


def short_rows(share: float) -> bytes:
    return b"size_bytes,rtt_ms\n" + b"64,1\n" * int(1e6 * share)


def size_and_time(share: float) -> bytes:
    rows = (f"{1000 + n % 500},0.{100 + n * 7919 % 900}\n" for n in range(int(1e6 * share)))
    return ("size_bytes,rtt_ms\n" + "".join(rows)).encode()


def size_and_duration(share: float) -> bytes:
    return size_and_time(share).replace(b"rtt_ms", b"duration_ms", 1)


def windows_line_ends(share: float) -> bytes:
    return b"size_bytes,rtt_ms\r\n" + b"1234,0.123\r\n" * int(20e6 * share / 12)


def german_rows(share: float) -> bytes:
    rows = (f"{n};{64 + n % 1437};{n * 7919 % 10007},{n % 89:02}" for n in range(int(1e6 * share)))
    return ("seq;size_bytes;rtt_ms\n" + "\n".join(rows) + "\n").encode()


def text_rows(share: float) -> bytes:
    rows = (f"{n * 0.125},host-{n % 1013}.example.net" for n in range(int(1e6 * share)))
    return ("time_s,host\n" + "\n".join(rows) + "\n").encode()


def pasted_rows(share: float) -> bytes:
    rows = (f"{64 + n % 1437:6d}  {n * 7919 % 10007 / 1e3:9.3f}" for n in range(int(1e6 * share)))
    return ("size_bytes rtt_ms\n" + "\n".join(rows) + "\n").encode()


def quoted_rows(share: float) -> bytes:
    rows = (f'"{n}","{64 + n % 1437}","{n % 997}.5"' for n in range(int(1e6 * share)))
    return ('"seq","size_bytes","rtt_ms"\n' + "\n".join(rows) + "\n").encode()


def ping_output(share: float) -> bytes:
    count = int(400e3 * share)
    rows = (
        f"64 bytes from 192.0.2.1: icmp_seq={n % 65536} ttl=64 time=0.{100 + n % 800} ms\n"
        for n in range(1, count + 1)
    )
    head = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    tail = (
        "\n--- 192.0.2.1 ping statistics ---\n"
        f"{count} packets transmitted, {count} received, 0% packet loss, time {count}ms\n"
    )
    return (head + "".join(rows) + tail).encode()


def stamped_ping(share: float) -> bytes:
    count = int(300e3 * share)
    rows = (
        f"[{1_700_000_000 + n}.250000] 1408 bytes from far.example.net (192.0.2.1):"
        f" icmp_seq={n % 65536} ttl=57 time={20 + n % 13}.{n % 10} ms\n"
        for n in range(1, count + 1)
    )
    return ("PING far.example.net (192.0.2.1) 1400(1428) bytes of data.\n" + "".join(rows)).encode()


def windows_ping(share: float) -> bytes:
    rows = (
        f"Reply from 192.0.2.1: bytes=32 time={1 + n % 90}ms TTL=57\r\n"
        for n in range(int(450e3 * share))
    )
    head = "\r\nPinging 192.0.2.1 with 32 bytes of data:\r\n"
    return (head + "".join(rows)).encode()


def no_ping(share: float) -> bytes:
    head = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.5 ms\n"
    row = "something else that a program of somebody wrote, 12 of them, at 3.5 =\n"
    return (head + row * int(300e3 * share)).encode()


def saved_run(share: float) -> bytes:
    count = int(300e3 * share)
    document = {
        "format": "netcalc samples", "schema": 1, "kind": "RttSamples", "meta": {}, "fields": {},
        "columns": {
            "payload_bytes": [56.0] * count, "rtt_s": [0.001 + n * 1e-9 for n in range(count)],
            "sequence": list(map(float, range(count))), "lost": [False] * count,
        },
    }  # fmt: skip
    return json.dumps(document, indent=1).encode()


def one_long_cell(share: float) -> bytes:
    return b"n,what\n" + b"1,x\n" * int(24e3 * share) + b"2," + b"y" * int(70e3) + b"\n"


def gzip_bomb(share: float) -> bytes:
    return gzip.compress(b" " * int(200e6 * share))


def saved_bomb(share: float) -> bytes:
    rows = "1.0," * int(50e6 * share) + "1.0"
    head = (
        '{"format": "netcalc samples", "schema": 1, "kind": "Table", "meta": {}, "columns": {"x": ['
    )
    return gzip.compress(f"{head}{rows}]}}}}".encode())


def deep_json(share: float) -> bytes:
    return b"[" * int(1e6 * share)


INPUTS: dict[str, Callable[[float], bytes]] = {
    "20 MB of line ends": line_ends,
    "20 MB of carriage returns": carriage_returns,
    "CSV, 1 M rows": csv_rows,
    "CSV, rows of 1 digit, 2 MB": times_alone,
    "CSV, rows of 64,1, 5 MB": short_rows,
    "CSV, size and time, 10 MB": size_and_time,
    "CSV, size and duration, 10 MB": size_and_duration,
    "CSV, CRLF, 20 MB": windows_line_ends,
    "CSV, decimal comma, 1 M rows": german_rows,
    "CSV, names, 1 M rows": text_rows,
    "CSV, quoted, 1 M rows": quoted_rows,
    "blanks, 1 M rows": pasted_rows,
    "ping, 23 MB": ping_output,
    "ping -D, 27 MB": stamped_ping,
    "ping (Windows), 23 MB": windows_ping,
    "other lines after a reply, 21 MB": no_ping,
    "saved run": saved_run,
    "one long cell, 170 kB": one_long_cell,
    "gzip bomb": gzip_bomb,
    "saved run, gzip bomb": saved_bomb,
    "nested JSON": deep_json,
}


def peak_bytes() -> int:
    """Return the most memory that this program had; ``ru_maxrss`` has its parent's in it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def child(path: str) -> None:
    """Read one file; print processor time, growth of memory, and what came of it."""
    import netcalc.readers
    from netcalc.errors import ReaderError

    netcalc.readers.read(b"size_bytes,rtt_ms\n1,2\n2,3\n")  # what is loaded late, loads now
    before = peak_bytes()
    start_s = time.process_time()
    try:
        said = repr(netcalc.readers.read(path))
    except ReaderError as error:
        said = f"{error.code}: {error.fault}"
    took_s = time.process_time() - start_s
    print(json.dumps([took_s, peak_bytes() - before, said]))


def command(path: str) -> None:
    """Run ``netcalc read`` on one file; print its processor time, its memory and its exit code."""
    from netcalc.__main__ import main as run

    sys.argv = ["netcalc", "read", path]
    code: object = 0
    try:
        run()
    except SystemExit as ended:
        code = ended.code
    print(f"\n{json.dumps([time.process_time(), peak_bytes(), code])}", file=sys.stderr)


def of_command(path: Path) -> tuple[float, float, int]:
    """Return processor time and largest memory of ``netcalc read``, and its exit code."""
    run = subprocess.run(
        [sys.executable, __file__, "--command", str(path)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    took_s, peak, code = json.loads(run.stderr.splitlines()[-1])
    return took_s, peak, code


def row(name: str, path: Path, bare: tuple[float, float]) -> str:
    """Return what one input took, in a line."""
    size = path.stat().st_size
    ended = subprocess.run(
        [sys.executable, __file__, "--child", str(path)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    if ended.returncode:
        return f"{name:34}{size / 1e6:7.1f}MB  failed: {ended.stderr.strip()[-200:]}"
    took_s, grew, said = json.loads(ended.stdout)
    command_s, peak, code = of_command(path)
    net = peak - bare[1]
    allowed = MEMORY_RATIO * size + ALLOWANCE_BYTES
    over = (
        took_s > TIME_S or code not in (0, 2) or (size > LARGE_BYTES and max(grew, net) > allowed)
    )
    return (
        f"{name:34}{size / 1e6:7.1f}MB{took_s:8.2f}s{grew / 1e6:7.1f}MB{grew / size:8.1f}x"
        f"{command_s - bare[0]:8.2f}s{net / 1e6:7.1f}MB{net / size:8.1f}x"
        f"  {said[:60]}{'  OVER' * over}"
    )


def main(share: float, names: list[str]) -> None:
    heads = "".join(f"{head:>9}" for head in ("time", "memory", "of file") * 2)
    print(f"{'':34}{'file':>9}{heads}  (reader, then command)")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(FEW)
        bare_s, bare_bytes, _ = of_command(path)
        print(f"{'three rows, command':34}{'':36}{bare_s:8.2f}s{bare_bytes / 1e6:7.1f}MB")
        for name in INPUTS:
            if not names or name in names:
                given = [sys.executable, __file__, "--make", name, str(share), str(path)]
                subprocess.run(given, check=True)  # its memory would be counted to what it starts
                print(row(name, path, (bare_s, bare_bytes)), flush=True)
    print(
        f"allowed: {TIME_S:g} s, {MEMORY_RATIO:g} times the file and {ALLOWANCE_BYTES / 1e6:g} MB, "
        "where it is large; the command's figures are above those of three rows"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    elif sys.argv[1:2] == ["--make"]:
        Path(sys.argv[4]).write_bytes(INPUTS[sys.argv[2]](float(sys.argv[3])))
    elif sys.argv[1:2] == ["--command"]:
        command(sys.argv[2])
    else:
        main(float((sys.argv[1:] or ["1"])[0]), sys.argv[2:])
