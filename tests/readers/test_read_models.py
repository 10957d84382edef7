"""FlowMonitor of ns-3, and the lines of small writes: expected numbers are read off the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import explain
from netcalc.cli import commands
from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.samples import TransactionSamples

INPUTS = Path(__file__).parent / "inputs" / "transfers"
FLOWS = (INPUTS / "flowmon.xml").read_text()


def test_flows():
    """Derived: 1.98 s over 99 packets, 0.098 s over 98, 105200 bytes in 1 s."""
    samples = read(INPUTS / "flowmon.xml")
    first, second = samples.facts()
    assert first == pytest.approx({
        "group": "flow 1", "protocol": "udp", "target": "192.0.2.1:9", "packet_count": 100,
        "sent_count": 100, "received_count": 99, "loss_ratio": 0.01, "sent_byte_count": 105200,
        "received_byte_count": 104148, "sent_rate_bps": 841600, "received_rate_bps": 833184,
        "jitter_s": 0.001, "partial": False,
    })  # fmt: skip
    assert samples["one_way_s"][0] == pytest.approx(0.02)
    assert samples["first_sent_s"].tolist() == [1.0, 1.02]
    # Nothing of the second flow arrived: its times are unknown, not 0.
    assert np.isnan(samples["one_way_s"][1])
    assert np.isnan(samples["first_received_s"][1])
    assert "received_rate_bps" not in second


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<FlowMonitor>'
REFUSED = {
    "a document type": (FLOWS.replace("<FlowMonitor>", BOMB), "xml-document-type"),
    "a document type in UTF-16": (
        FLOWS.replace("<FlowMonitor>", BOMB).encode("utf-16"), "xml-document-type"),
    "cut": (FLOWS[:900], "damaged-xml"),
    "a time without a unit": (FLOWS.replace("+1.98e+09ns", "+1.98e+09"), "flowmon-value"),
    "a count that is none": (FLOWS.replace('rxPackets="99"', 'rxPackets="-1"'), "flowmon-value"),
    "an endless time": (FLOWS.replace("+1.98e+09ns", "+1e999ns"), "flowmon-value"),
    "no flow": ("<?xml version='1.0'?>\n<FlowMonitor>\n</FlowMonitor>\n", "flowmon-nothing"),
}  # fmt: skip


@pytest.mark.each("what", REFUSED)
def test_refused(what):
    data, code = REFUSED[what]
    with pytest.raises(ReaderError) as refused:
        read(data)
    assert refused.value.code == code
    assert str(refused.value)


def test_utf_16_gives_the_same_numbers():
    """Identity: the same text in another encoding."""
    wide = read(FLOWS.replace('<?xml version="1.0" ?>\n', "").encode("utf-16"))
    assert wide.facts() == read(FLOWS).facts()


def test_small_writes():
    samples = read(INPUTS / "small_writes.txt")
    assert isinstance(samples, TransactionSamples)
    assert samples.response_s.tolist() == [0.04, 0.0, 0.044, 0.041]
    assert samples.reply_bytes.tolist() == [5, 5, 5, 10]
    assert np.isnan(samples.payload_bytes).all()  # the program does not print its request
    (row,) = samples.facts()
    assert (row["rtt_median_s"], row["reply_count"]) == (pytest.approx(0.0405), 4)
    assert samples.meta.resolutions == {"response_s": 1e-3}


def test_small_writes_are_explained_by_a_timer():
    """40, 0, 44 and 41 ms: the median is 40.5 ms, the wait of Linux's delayed ACK."""
    (found,) = explain.measurement(read(INPUTS / "small_writes.txt"))
    assert (found.binding.name, found.measured) == ("ack-timer", pytest.approx(0.0405))
    done = CliRunner().invoke(commands, ["read", str(INPUTS / "small_writes.txt")])
    assert done.exit_code == 0
    assert "small writes: 4 times, min 0 s, median 40.5 ms, max 44 ms" in done.output


def test_lines_of_something_else_are_named():
    samples = read("RTT:62 ,receive:a\nConnection reset\nRTT:1x ,receive:a\n")
    (notice,) = samples.meta.warnings
    assert (notice.code, notice.values["numbers"]) == ("not-small-writes", [2, 3])
