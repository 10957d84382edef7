"""Damaged files, drawn with a seed: each is read, shown and explained, or refused in words.

A mutant is a file of the tests with some of its bytes, lines or numbers changed, cut, doubled or
mixed with another file. Any exception that is not an error of netcalc is foreign and a fault; so is
one that takes more than 2 s of processor time, or more than 256 MB beyond the file; so is a number
that no network has (:func:`absurd`), and what is not the same when it was saved and loaded. The
worst of each is printed. Ends with 1 if there is a fault.

Run: python tests/benchmarks/mutants.py [COUNT [SEED [WORKERS]]] [captures|texts]
"""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import re
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from netcalc import readers, samples
from netcalc.cli import report
from netcalc.cli.first_screen import first_screen
from netcalc.errors import DoubtWarning, NetcalcError, ReaderError
from netcalc.explain import Known, measurement
from netcalc.readers.captures.tcp import flow_table

COUNT = 20_000
SEED = 8
TIME_S = 2.0
ENDED_S = 20.0
"""Processor time after which a read is ended, so that the others follow. [s]"""
MEMORY_BYTES = 256_000_000
FOLDERS = (Path(__file__).parents[1] / "readers" / "inputs", Path(__file__).parents[2] / "data")
LARGEST = 300_000
"""Largest file that mutants are made of. [byte]"""
AT_A_TIME = 100

TEXTS = {
    "columns": b"size [B],rtt [ms],host\n56,0.481,a\n1472,2.75,b\n9000,,c\n100,1.5,a\n",
    "decimal comma": "Größe [B];RTT [µs]\n56;1500,25\n1472;2750,5\n".encode("cp1252"),
    "quoted": b'"n","note"\n1,"two\nlines"\n2,"a ""b"" c"\n3,"x"\n',
    "units row": b"size\trtt\nB\tms\n56\t1.5\n60\t1.75\n",
    "windows": (
        b"\r\nPinging 192.0.2.1 with 32 bytes of data:\r\n"
        b"Reply from 192.0.2.1: bytes=32 time=14ms TTL=57\r\nRequest timed out.\r\n"
        b"Reply from 192.0.2.1: bytes=32 time<1ms TTL=57\r\n\r\nPing statistics for 192.0.2.1:\r\n"
        b"    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),\r\n"
        b"Approximate round trip times in milli-seconds:\r\n"
        b"    Minimum = 0ms, Maximum = 14ms, Average = 7ms\r\n"
    ),
    "utf-16": "size,rtt_ms\n56,1.5\n57,1.75\n".encode("utf-16"),
    "saved": json.dumps(
        {
            "format": "netcalc samples", "schema": 1, "kind": "RttSamples", "fields": {},
            "meta": {
                "tool": "ping", "units": {"rtt_s": "s"},
                "printed": {"sent": 3, "runs": [{"sent": 3}]},
                "warnings": [{"code": "late-replies", "values": {"count": 3, "timeout_s": 1.0}}],
                "instrument": {"kernel": "6.1", "gaps": [[0.1, 0.2]], "truth": {"a": [1.0]}},
            },
            "columns": {"payload_bytes": [56.0, 56.0, 56.0], "rtt_s": [0.001, None, 0.002],
                        "lost": [False, True, False]},
        }
    ).encode(),
    "table": json.dumps(
        {"format": "netcalc samples", "schema": 1, "kind": "Table", "meta": {},
         "columns": {"x": [1.0, 2.0], "host": ["a", "b"]}}
    ).encode(),
}  # fmt: skip

ODD_BYTES = (
    b"\x00", b"\xff", b"\x1b[31m", b"\b\b\b", b"\r", b"\r\n", b"\n", b"\n\n\n", b"\xef\xbb\xbf",
    b'"', b",",
    b";", b"\t", b" ", b"'", b"\xc3", b"\xf0\x9f\x98\x80", b"\xe2\x80\xae", b"{", b"[", b"]", b"}",
    b"icmp_seq=", b"icmp_seq=65535 ", b"time=", b" ms", b"ttl=", b"TTL=", b"(DUP!)", b"bytes", b"=",
    b"PING ", b"--- x ping statistics ---\n", b"packets transmitted", b"100% packet loss", b"#",
    b"null", b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 400, b"-" * 50, b"0" * 300, b"\x01",
    b"\x1f",
)  # fmt: skip
ODD_NUMBERS = (
    b"0", b"-1", b"1e999", b"-1e-999", b"99999999999999999999", b"65536", b"65535", b"4294967296",
    b"1,5", b"1.500,25", b"nan", b"inf", b"-inf", b"0x10", b"1_000", b"1e308", b"0.000000001", b"",
    b"18446744073709551616", b"999999999", b"1" * 350, b"1" * 5000, b"\xd9\xa1",
)  # fmt: skip

RUNS = (
    b" ", b"\t", b"1", b"a", b"A", b"1.", b"1,", b"1 ", b"a ", b".", b"-", b"* ", b"1:", b"(", b")",
    b"1.1.1.1 ", b"1 ms ", b"=", b"a=", b"a=1 ", b", ", b'"', b"[", b"]", b"::", b": ", b"/", b"0",
    b"%", b"{", b"<", b">", b"|", b"1e", b"\xc3\xa9",
)  # fmt: skip
RUN_BYTES = 60_000


CAPTURE_MAGICS = tuple(
    bytes.fromhex(magic)
    for magic in (
        "d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "34cdb2a1", "a1b2cd34", "0a0d0d0a",
    )
)  # fmt: skip


def seeds(kind: str = "") -> dict[str, bytes]:
    """Return the files that mutants are made of: all, the captures or the texts."""
    found = dict(TEXTS)
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and 0 < path.stat().st_size <= LARGEST:
                found[str(path.relative_to(folder))] = path.read_bytes()
    if not kind:
        return found
    are_captures = {name: data.startswith(CAPTURE_MAGICS) for name, data in found.items()}
    return {
        name: found[name] for name, is_one in are_captures.items() if is_one == (kind[0] == "c")
    }


def mutant(rng: random.Random, files: dict[str, bytes]) -> tuple[str, bytes]:
    """Return a damaged file, and what it was made of."""
    name = rng.choice(list(files))
    data, done = files[name], []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        change = rng.choice(CHANGES)
        data = change(rng, data, files)[: 4 * LARGEST]
        done.append(change.__name__)
    return f"{name}: {', '.join(done)}", data


def bytes_flipped(rng: random.Random, data: bytes, _: Any) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 3, 20))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(rng: random.Random, data: bytes, _: Any) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] if rng.random() < 0.7 else data[at:]


def piece_removed(rng: random.Random, data: bytes, _: Any) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice((1, 5, 60, 1000)) :]


def odd_bytes_put_in(rng: random.Random, data: bytes, _: Any) -> bytes:
    for _ in range(rng.choice((1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(ODD_BYTES) * rng.choice((1, 1, 1, 100)) + data[at:]
    return data


def long_run_put_in(rng: random.Random, data: bytes, _: Any) -> bytes:
    """Put a run of one piece into a line near the beginning; a reader may look through it twice."""
    lines = data.split(b"\n")
    at = rng.randrange(min(len(lines), 60))
    within = rng.randrange(len(lines[at]) + 1)
    piece = rng.choice(RUNS)
    run = piece * (RUN_BYTES // len(piece))
    lines[at] = lines[at][:within] + run + lines[at][within:]
    return b"\n".join(lines)


def numbers_changed(rng: random.Random, data: bytes, _: Any) -> bytes:
    found = [match.span() for match in re.finditer(rb"\d+(?:\.\d+)?", data)]
    for start, end in sorted(
        rng.sample(found, min(len(found), rng.choice((1, 2, 6)))), reverse=True
    ):
        data = data[:start] + rng.choice(ODD_NUMBERS) + data[end:]
    return data


def lines_changed(rng: random.Random, data: bytes, _: Any) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    most = 2 + 4 * LARGEST // (len(lines[at]) + 1)  # what is beyond is cut anyway
    what = rng.randrange(5)
    if what == 0:
        rng.shuffle(lines)
    elif what == 1:
        del lines[at]
    elif what == 2:
        lines[at : at + 1] = [lines[at]] * min(rng.choice((2, 50, 3000)), most)
    elif what == 3:
        lines[at] *= min(rng.choice((2, 30, 3000)), most)
    else:
        lines = lines[::-1]
    return b"\n".join(lines)


def mixed(rng: random.Random, data: bytes, files: dict[str, bytes]) -> bytes:
    other = rng.choice(list(files.values()))
    at = rng.randrange(len(data) + 1)
    return data[:at] + other + (data[at:] if rng.random() < 0.5 else b"")


def encoded_again(rng: random.Random, data: bytes, _: Any) -> bytes:
    text = data.decode("utf-8", "replace")
    made = rng.choice(("utf-16", "utf-16-le", "utf-32", "cp1252", "koi8_r", "utf-8-sig", "gzip"))
    if made != "gzip":
        return text.encode(made, "replace")
    packed = gzip.compress(data, mtime=0)
    return packed if rng.random() < 0.5 else packed[: rng.randrange(len(packed))]


def json_changed(rng: random.Random, data: bytes, _: Any) -> bytes:
    """Put a value of another kind anywhere into a document."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.choice((1, 2, 4))):
        place: Any = document
        while isinstance(place, dict | list) and place:
            key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
            if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.3:
                place[key] = rng.choice(
                    [None, True, -1, 0, 1e308, 10**400, "", "x", "\x1b[31m", [], [[]], {}, [1, "a"],
                     {"a": {}}, {"code": "late-replies"}, [None] * 3, "9" * 300]
                )  # fmt: skip
                break
            place = place[key]
    return json.dumps(document).encode()


CHANGES: tuple[Callable[[random.Random, bytes, dict[str, bytes]], bytes], ...] = (
    bytes_flipped, cut, piece_removed, odd_bytes_put_in, long_run_put_in,
    numbers_changed, lines_changed, mixed,
    encoded_again, json_changed, json_changed,
)  # fmt: skip


HOUR_S = 3600.0
MOST_BPS = 1e14
MOST_COUNT = 2**53
MOST_COUNTER = 2**64
MOST_TIME_S = 1e10
ROUNDED = 0.011
PARTS = (
    ("received_count", "sent_count"), ("reply_count", "probe_count"),
    ("lost_datagram_count", "datagram_count"), ("responding_hop_count", "hop_count"),
    ("rtt_min_s", "rtt_max_s"), ("rtt_min_s", "rtt_median_s"), ("rtt_median_s", "rtt_max_s"),
    ("jitter_s", "duration_s"),
)  # fmt: skip
"""Facts of a row of which the first is never above the second."""


def absurd(found: samples.Samples) -> str:
    """Return the first number that no network has; nothing if there is none."""
    units = found.meta.units
    numbers = [
        (name, units.get(name, ""), float(value))
        for name, column in found.columns().items() if column.dtype.kind == "f"
        for value in column.tolist()
    ]  # fmt: skip
    for row in found.facts():
        known = {name: value for name, value in row.items() if type(value) in (int, float)}
        numbers += [(name, samples.FACTS.get(name, ""), value) for name, value in known.items()]
        for part, whole in PARTS:
            if known.get(part, 0) > known.get(whole, math.inf) * (1 + ROUNDED):
                return f"{part} {known[part]} above {whole} {known[whole]}"
    for name, unit, value in numbers:
        words = set(re.split(r"[^a-z]+", name.lower()))
        if name.partition(":")[0] in ("sum", "min", "median", "max", "mean"):
            unit = units.get(name.partition(":")[2], "")
        of_network = type(found).__name__ != "Table" and ":" not in name
        least = 0.0 if of_network and unit in ("1", "byte") and name != "sequence" else -math.inf
        most = MOST_COUNT if of_network and unit in ("1", "byte") else 2.0**1023
        if unit == "s":
            is_trip = words & {"rtt", "rtts", "rttvar", "ping", "jitter"}
            most = HOUR_S if is_trip else MOST_TIME_S
            least = 0.0 if is_trip and of_network else -most
        elif unit == "bit/s":
            least, most = 0.0 if of_network else -MOST_BPS, MOST_BPS
        elif unit == "ratio" and words & {"loss", "lost"}:
            least, most = 0.0, 1.0
        elif name.startswith("counter:"):
            most = MOST_COUNTER
        if not least <= value <= most and value == value:
            return f"{name} {value} {unit}"
    return ""


def outcome(data: bytes) -> tuple[str, str]:
    """Read, show and explain a file; return what came of it, and a fault if it is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = readers.read(data)
            said = repr(found), [str(notice) for notice in found.meta.warnings], str(found.meta)
            again = samples.loads(found.dumps())
            warnings.simplefilter("ignore", DoubtWarning)
            with suppress(ReaderError):  # there may be nothing to explain
                said = [str(finding) for finding in measurement(found, Known())], said
            if not (report.is_recording(found) or report.is_truth(found)):
                said = first_screen("mutant", found, None), said
        if again != found:
            return "read", "not the same when it was saved and loaded"
        odd = absurd(found)
        if isinstance(found, samples.PacketTrace) and not odd:
            odd = absurd(flow_table(found))
        return "read", f"absurd: {odd}" if odd else "" if said else "nothing"
    except NetcalcError as error:
        try:
            fault = "" if str(error) and json.dumps(error.as_dict()) else "no sentence"
            is_refusal = isinstance(error, ReaderError) or error.code == "path-record-damaged"
            fault = fault if is_refusal else f"no ReaderError: {error}"
        except Exception as second:
            fault = f"no sentence for {error.code}: {type(second).__name__}: {second}"
        return type(error).__name__, fault
    except Exception as error:
        return "foreign", f"{type(error).__name__}: {str(error)[:100]}"


def memory_bytes(which: str) -> int:
    """Return the memory of this program: ``VmRSS`` now, or ``VmHWM``, the most it was."""
    return 1024 * int(re.search(rf"{which}:\s*(\d+)", Path("/proc/self/status").read_text())[1])


def too_long(*_: Any) -> None:
    """End a read that would hold up all others."""
    raise TimeoutError(f"ended after {ENDED_S} s of processor time")


Found = tuple[Counter[str], list[str], tuple[float, str], tuple[int, str]]


def run(first: int, count: int, seed: int, *, kind: str = "", measured: bool = True) -> Found:
    """Read some mutants; return what came of them, the faults, the slowest and the largest."""
    if measured:  # a mutant that asks for more gets a MemoryError, which is foreign
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (8 * MEMORY_BYTES, hard))
    files = seeds(kind)
    found, faults = Counter[str](), list[str]()
    slowest, largest = (0.0, ""), (0, "")
    signal.signal(signal.SIGPROF, too_long)
    for number in range(first, first + count):
        name, data = mutant(random.Random(f"{seed} {number}"), files)
        signal.setitimer(signal.ITIMER_PROF, ENDED_S)
        if measured:
            Path("/proc/self/clear_refs").write_text("5")  # the most it was is what it is now
            before = memory_bytes("VmRSS")
        start_s = time.process_time()
        what, fault = outcome(data)
        took_s = time.process_time() - start_s
        signal.setitimer(signal.ITIMER_PROF, 0)
        found[what] += 1
        if measured:
            slowest = max(slowest, (took_s, f"{number} {name}"))
            grown = memory_bytes("VmHWM") - before - len(data)
            largest = max(largest, (grown, f"{number} {name}"))
            if not fault and took_s > TIME_S:
                fault = f"{took_s:.1f} s"
            if not fault and grown > MEMORY_BYTES:
                fault = f"{grown / 1e6:.0f} MB"
        if fault:
            faults.append(f"{number} {name}: {fault}")
    return found, faults, slowest, largest


def main(count: int = COUNT, seed: int = SEED, workers: int = 0, *, kind: str = "") -> int:
    found, faults = Counter[str](), list[str]()
    slowest, largest = (0.0, ""), (0, "")
    workers = workers or len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        parts = [
            pool.submit(run, first, min(AT_A_TIME, count - first), seed, kind=kind)
            for first in range(0, count, AT_A_TIME)
        ]
        for part in parts:
            one, more, slow, large = part.result()
            found += one
            faults += more
            slowest, largest = max(slowest, slow), max(largest, large)
            for fault in more:
                print(f"  {fault}", flush=True)
    for what, number in found.most_common():
        print(f"{what:24}{number:8,}")
    print(f"{'mutants':24}{count:8,}\n{'faults':24}{len(faults):8,}")
    print(f"longest {slowest[0]:.2f} s ({slowest[1][:100]})")
    print(f"largest {largest[0] / 1e6:.0f} MB beyond the file ({largest[1][:100]}); seed {seed}")
    return bool(faults)


if __name__ == "__main__":
    words = sys.argv[1:]
    kind_asked = words.pop() if words and not words[-1].isdigit() else ""
    sys.exit(main(*map(int, words), kind=kind_asked))
