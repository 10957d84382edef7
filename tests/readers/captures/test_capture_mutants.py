"""Damaged captures: right numbers or a ReaderError with its place, in little time and memory."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.messages import MESSAGES
from netcalc.readers.captures.tcp import analyse_tcp, ladder, tcp_flows

INPUTS = Path(__file__).parents[1] / "inputs" / "captures"
SEED = 20_260_314
MUTANTS = 50  # of each file; the benchmark of mutants tries 20,000 of all formats
FILES = sorted(INPUTS.glob("*.pcap*"))


def mutant(data: bytes, draw: random.Random) -> bytes:
    """Cut, flip bits, write lying lengths, repeat or remove a part."""
    changed = bytearray(data)
    kind = draw.choice(("cut", "bits", "length", "repeat", "remove", "zeros"))
    at = draw.randrange(len(changed))
    if kind == "cut":
        del changed[at:]
    elif kind == "bits":
        for _ in range(draw.randrange(1, 20)):
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    elif kind == "length":
        word = draw.choice((0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x00040000))
        at -= at % 4
        changed[at : at + 4] = word.to_bytes(4, "little")
    elif kind == "repeat":
        changed[at:at] = changed[at : at + draw.randrange(1, 300)]
    elif kind == "remove":
        del changed[at : at + draw.randrange(1, 300)]
    else:
        changed[at : at + 64] = bytes(64)
    return bytes(changed)


def read_or_refuse(data: bytes) -> Any:
    """Read data, or check that the refusal has a sentence; any other exception is a failure."""
    refusal = None
    try:
        return readers.read(data, name="mutant")
    except ReaderError as error:
        refusal = error
    assert refusal.code in MESSAGES
    assert str(refusal)
    return None


@pytest.mark.each("path", FILES, ids=[path.name for path in FILES])
def test_mutants_are_read_or_refused(path):
    draw, data = random.Random(SEED), path.read_bytes()
    whole = readers.read(path).facts()[0]
    for number in range(MUTANTS):
        damaged = mutant(data, draw)
        trace = read_or_refuse(damaged)
        if trace is None:
            continue
        if not hasattr(trace, "tcp_sequence"):
            continue  # its first bytes are those of another format
        (row,) = trace.facts()
        assert row["captured_byte_count"] <= len(damaged), number
        assert row["packet_count"] <= 2 * whole["packet_count"] + 8, number
        assert all(str(one) for one in trace.meta.warnings)
        analysis = analyse_tcp(trace)
        table = tcp_flows(analysis)
        assert (
            not np.any(table["retransmission_count"] > table["segment_count"]) if len(table) else 1
        )
        if analysis.flow_count:
            ladder(analysis, flow=0)


@pytest.mark.slow
@pytest.mark.each("path", FILES, ids=[path.name for path in FILES])
def test_a_cut_file_keeps_exactly_the_whole_packets(path):
    """A cut anywhere gives the first packets of the whole file, unchanged, or an error."""
    data = path.read_bytes()
    whole = readers.read(path)
    for end in range(len(data) - 1, 40, -101):
        try:
            part = readers.read(data[:end], name="cut")
        except ReaderError:
            continue
        for name in ("kept_bytes", "tcp_sequence", "payload_bytes", "layers"):
            column = getattr(part, name)
            assert np.array_equal(column, getattr(whole, name)[: len(part)]), (end, name)
        longer = readers.read(data[: end + 1], name="cut")  # a cut between packets does not show
        assert part.meta.partial or longer.meta.partial


def test_memory_stays_near_the_size_of_the_file():
    data = FILES[0].read_bytes()
    readers.read(data, name="first")
    tracemalloc.start()
    try:
        for number in range(10):
            damaged = mutant(data, random.Random(number))
            try:
                readers.read(damaged, name="mutant")
            except ReaderError:
                continue
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 256 * 2**20  # the limit for a damaged file, beyond the file itself
