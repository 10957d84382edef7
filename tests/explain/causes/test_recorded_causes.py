"""The cause of recorded captures: ``captures/README.md`` says how each was made."""

from __future__ import annotations

import csv
import gzip
import struct
from pathlib import Path

import pytest

from netcalc import readers
from netcalc.explain import Known, measurement
from netcalc.explain.causes.captures import explain_capture
from netcalc.readers.captures import read_capture

FOLDER = Path(__file__).parent / "captures"
with (FOLDER / "TRUTH.csv").open(encoding="utf-8", newline="") as rows:
    TRUTH = list(csv.DictReader(rows))
NAMES = [row["file"] for row in TRUTH]
PREAMBLE_GAP_BYTES = 20
FRAME_BYTES = 18
WAITS_S = {
    "ack1-A.pcap.gz": 8 * (60 + 38) / 40e3,  # a SYN and its frame at the rate of the way back
    "share1-B.pcap.gz": 0.030,  # the queue of the others never ended; as long as it was at the SYN
}
"""What no packet was spared. [s]"""
BEFORE_IT_SHOWS = {"handshake", "slow-start", "unknown"}
"""What limits a flow while it begins, whatever does later."""
BEFORE = {
    # What was so in the first part of these, as the script of their generator says.
    "pmtu2-A.pcap.gz": {"timeout", "sender-program"},
    "rto1-B.pcap.gz": {"round-trips", "nagle-delayed-ack"},
    "syn1-A.pcap.gz": {"round-trips"},
    "dns1-A.pcap.gz": {"round-trips"},
    "ack1-A.pcap.gz": {"line"},
    "think1-A.pcap.gz": {"round-trips"},
}


def right(row):
    return {row["cause"], *filter(None, row["also"].split("|"))}


@pytest.mark.each("row", TRUTH, ids=NAMES)
def test_the_cause_is_that_which_was_set(row):
    finding = measurement(readers.read(FOLDER / row["file"]))[0]
    cause = finding.cause
    assert cause.code == row["cause"], finding.sentence
    assert sum(cause.shares.values()) == pytest.approx(1.0)
    rtt_s = float(row["rtt_s"]) + WAITS_S.get(row["file"], 0.0)
    assert cause.sign("base_rtt_s") == pytest.approx(rtt_s, rel=0.1, abs=5e-4)


@pytest.mark.each("row", [row for row in TRUTH if row["line_bps"]])
def test_the_line_is_found_within_a_hundredth(row):
    cause = measurement(readers.read(FOLDER / row["file"]))[0].cause
    size = cause.sign("mss_bytes")
    wire = size + 52 + FRAME_BYTES + PREAMBLE_GAP_BYTES
    assert cause.sign("line_bps") == pytest.approx(float(row["line_bps"]) * size / wire, rel=0.01)


def first_part(name, lasts_s):
    """Return what a capture would have been, had it been ended earlier."""
    data = gzip.decompress((FOLDER / name).read_bytes())
    at, begin, kept = 24, None, [data[:24]]
    while at + 16 <= len(data):
        seconds, micro, size, _ = struct.unpack("<IIII", data[at : at + 16])
        begin = begin or seconds + micro * 1e-6
        if seconds + micro * 1e-6 - begin > lasts_s:
            break
        kept.append(data[at : at + 16 + size])
        at += 16 + size
    return read_capture(b"".join(kept))


@pytest.mark.each("row", TRUTH, ids=NAMES)
@pytest.mark.parametrize("lasts_s", [0.3, 0.6, 1.2])
def test_a_capture_that_ends_earlier_names_it_or_what_was_before_it(row, lasts_s):
    findings = explain_capture(first_part(row["file"], lasts_s), Known())
    allowed = right(row) | BEFORE_IT_SHOWS | BEFORE.get(row["file"], set())
    assert {finding.cause.code for finding in findings[:1]} <= allowed


@pytest.mark.each("row", TRUTH, ids=NAMES)
@pytest.mark.parametrize("line_bps", [1e5, 1e10])
def test_a_line_that_is_stated_wrong_makes_no_other_cause(row, line_bps):
    cause = measurement(readers.read(FOLDER / row["file"]), Known(line_bps=line_bps))[0].cause
    assert cause.code in {row["cause"], "unknown"}
