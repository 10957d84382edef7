"""Tables of Netesto: expected numbers are read off the files by eye."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
PAIRS = (INPUTS / "netesto_exp.out").read_text()
TABLE = (INPUTS / "netesto.csv").read_text()


def codes(samples):
    return [notice.code for notice in samples.meta.warnings]


def test_a_file_of_one_flow():
    (row,) = read(INPUTS / "netesto_exp.out").facts()
    assert row == pytest.approx({
        "target": "server", "sent_rate_bps": 9410.5e6, "duration_s": 60, "rtt_s": 0.0102,
        "cwnd_packets": 83, "retransmit_count": 12, "congestion_control": "cubic",
        "partial": False,
    })  # fmt: skip


def test_a_table_of_experiments():
    samples = read(INPUTS / "netesto.csv")
    first, second = samples.facts()
    assert (first["sent_rate_bps"], first["congestion_control"]) == (9410.5e6, "cubic")
    assert first["group"] == "run 1 exp 100.0"
    # Flows that differ: 60+... is no duration, a blank no count, and cubic/bbr are two.
    assert not {"duration_s", "retransmit_count", "congestion_control"} & set(second)
    assert samples["retransmit_ratio"].tolist() == pytest.approx([1e-4, 2e-4])
    assert codes(samples) == ["netesto-mixed"]


def test_values_of_several_flows_are_not_those_of_a_run():
    text = PAIRS.replace("-----\n", PAIRS.replace("9410.5", "4700.1"))
    samples = read(text)
    assert "throughput_bps" not in samples.columns()
    assert "sent_rate_bps" not in samples.facts()[0]
    assert codes(samples) == ["netesto-several"]


def test_a_block_without_its_end_is_partial():
    assert read(PAIRS.replace("-----\n", "")).meta.partial


def test_a_row_of_another_width_is_refused():
    with pytest.raises(ReaderError) as refused:
        read(TABLE.replace(",0.01,12.0", ",0.01"))
    assert (refused.value.code, refused.value.line) == ("netesto-width", 2)
