"""What a reader says of a file that is not what it should be: a line for each fault known.

The texts are written down from what is promised of every error: what is wrong, where, what was
found, what was expected, and what to do. ``Said`` is looked for in the error, or in the warnings of
what was read.
"""

from __future__ import annotations

import gzip
import struct
from typing import NamedTuple

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.samples import RttSamples

HEAD = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"


def reply(number: int, ms: str = "1.50", words: str = "") -> str:
    """Return the line of one reply."""
    return f"64 bytes from 192.0.2.1: icmp_seq={number} ttl=64 time={ms} ms{words}\n"


def summary(sent: int, received: int) -> str:
    """Return the first lines of a summary."""
    loss = 100 * (sent - received) / sent
    counted = f"{sent} packets transmitted, {received} received, {loss:g}% packet loss, time 9ms\n"
    return f"\n--- 192.0.2.1 ping statistics ---\n{counted}"


PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


class Refused(NamedTuple):
    """A file that holds nothing, or nothing sure: the words its error must have."""

    content: str | bytes
    said: tuple[str, ...]


REFUSED = {
    "R1 empty": Refused("", ("no measurement", "the file is empty")),
    "R1 blanks": Refused(" \n \n", ("no measurement", "only white space")),
    "R1 header": Refused("size_bytes,rtt_ms\n", ("no measurement", "only a header")),
    "R1 ping header": Refused(HEAD, ("no measurement",)),
    "R2 PDF": Refused("%PDF-1.7\n1 0 obj\n", ("looks like a PDF document",)),
    "R2 ELF": Refused(b"\x7fELF\x02\x01\x01" + bytes(100), ("looks like", "ELF")),
    "R2 web page": Refused("<!DOCTYPE html><html><p>hi</p>\n", ("looks like a web page",)),
    "R23 two sizes": Refused("size/B,payload size/B,rtt/ms\n1,2,3\n4,5,6\n", ("size", "payload")),
    "R23 ambiguous comma": Refused("size/B;rtt/ms\n56;1,500\n", ("line 2", "rtt", "1,500")),
    "R23 infinite": Refused("size/B,rtt/ms\n56,inf\n", ("line 2", "rtt", "inf")),
    "R23 no unit": Refused("size/B,rtt\n56,3\n", ("line 1", "rtt", "3 ms", "3 s")),
    "R23 no number": Refused("size/B,rtt/ms\n56,3\n57,x\n58,3\n", ("line 3", "rtt", "'x'")),
    "R25 file header": Refused(PCAP[:20], ("24", "20")),
    "R28 CAN": Refused(PCAP[:20] + struct.pack("<I", 227) + struct.pack("<IIII", 1, 0, 16, 16)
                       + bytes(16), ("227", "CAN")),
}  # fmt: skip


@pytest.mark.each("fault", REFUSED)
def test_the_error_says_what_is_wrong(fault):
    content, said = REFUSED[fault]
    with pytest.raises(ReaderError) as caught:
        read(content)
    for words in said:
        assert words in str(caught.value)


class Kept(NamedTuple):
    """A ping of which something can be read: probes, replies, and words of a warning."""

    content: str | bytes
    sent: int
    received: int
    said: str


TWO = HEAD + reply(1) + reply(2)
KEPT = {
    "R4 UTF-8 mark": Kept(b"\xef\xbb\xbf" + (TWO + summary(2, 2)).encode(), 2, 2, ""),
    "R4 UTF-16": Kept((TWO + summary(2, 2)).encode("utf-16"), 2, 2, ""),
    "R5 CRLF": Kept((TWO + summary(2, 2)).replace("\n", "\r\n"), 2, 2, ""),
    "R5 CR": Kept((TWO + summary(2, 2)).replace("\n", "\r"), 2, 2, ""),
    "R6 prompt": Kept("$ ping 192.0.2.1\n" + TWO + summary(2, 2), 2, 2, ""),
    "R7 no summary": Kept(TWO, 2, 2, "no summary"),
    "R7 quiet": Kept(HEAD + summary(10, 8), 10, 8, "only the counts of the summary"),
    "R7 disagree": Kept(TWO + summary(2, 1), 2, 2, "received"),
    "R8 no reply": Kept(HEAD + summary(4, 0), 4, 0, ""),
    "R9 duplicate": Kept(TWO + reply(2, "1.6", " (DUP!)") + summary(2, 2), 2, 2, ""),
    "R9 reordered": Kept(HEAD + reply(2) + reply(1) + summary(2, 2), 2, 2, ""),
    "R10 wrap": Kept("".join(reply(n % 65536) for n in (65534, 65535, 65536)), 3, 3, ""),
    "R10 late": Kept(HEAD + reply(65534) + reply(65535) + reply(0) + summary(3, 3), 3, 3, "65534"),
    "R10 from 0": Kept("PING 192.0.2.1 (192.0.2.1): 56 data bytes\n" + reply(0) + reply(1)
                       + "\n--- 192.0.2.1 ping statistics ---\n2 packets transmitted, 2 packets "
                       "received, 0.0% packet loss\n", 2, 2, ""),
    "R12 host unreachable": Kept(
        "Pinging 192.0.2.1 with 32 bytes of data:\n"
        "Reply from 192.0.2.1: bytes=32 time=3ms TTL=64\n"
        "Reply from 192.0.2.9: Destination host unreachable.\n\n"
        "Ping statistics for 192.0.2.1:\n"
        "    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\n", 2, 1, "error message"),
    "R22 gzip": Kept(gzip.compress((TWO + summary(2, 2)).encode()), 2, 2, ""),
}  # fmt: skip


@pytest.mark.each("fault", KEPT)
def test_what_is_there_is_kept(fault):
    content, sent, received, said = KEPT[fault]
    samples = read(content)
    assert isinstance(samples, RttSamples)
    assert (samples.sent, samples.received) == (sent, received)
    assert said in " ".join(map(str, samples.meta.warnings))
    assert samples.loss_ratio == 1 - received / sent
    if received == 0:
        assert not samples.best_s.size  # missing, and not 0


def test_less_than_a_millisecond_is_an_interval():
    """R11: neither 1 nor 0, but somewhere in one millisecond."""
    samples = read(
        "Pinging 192.0.2.1 with 32 bytes of data:\n"
        "Reply from 192.0.2.1: bytes=32 time<1ms TTL=64\n\n"
    )
    assert (samples.rtt_s.tolist(), samples.resolution_s.tolist()) == ([0.0005], [0.001])
