"""Parquet of netcalc: every kind of samples comes back as it was, or the file is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from netcalc import datasets
from netcalc.errors import ReaderError
from netcalc.readers import read, sniff
from netcalc.readers import saved as module
from netcalc.readers.saved import parquet_bytes
from netcalc.samples import (
    KINDS,
    BulkSamples,
    FlowSeries,
    HopSamples,
    Meta,
    PathSamples,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)

INPUTS = Path(__file__).parent / "inputs"
FILES = [
    path for path in sorted(INPUTS.rglob("*"))
    if path.is_file() and path.suffix not in (".md", ".parquet") and path.name != "MANIFEST.csv"
]  # fmt: skip


def back(samples):
    return read(io.BytesIO(parquet_bytes(samples)))


@pytest.mark.parametrize("path", FILES, ids=[str(one.relative_to(INPUTS)) for one in FILES])
def test_every_fixture_comes_back(path):
    """Identity: all numbers, units, facts, warnings and totals."""
    try:
        samples = read(path)
    except ReaderError:
        return  # its refusal has a test of its own
    again = back(samples)
    assert type(again) is type(samples)
    assert again == samples
    assert again.meta == samples.meta
    assert again.facts() == samples.facts()


def test_every_kind_comes_back():
    found = {
        "RttSamples": RttSamples(payload_bytes=[56.0], rtt_s=[np.nan], lost=[True], sent_count=9),
        "PathSamples": PathSamples(hop=[1.0], rtt_s=[0.1], node=["a"], mark=["!X"]),
        "TransferSamples": TransferSamples(payload_bytes=[1e6], duration_s=[1.0], group=["up"]),
        "TransactionSamples": TransactionSamples(
            mode=["m"], sequence=[0.0], payload_bytes=[1.0], response_s=[0.1]
        ),
        "FlowSeries": FlowSeries(start_s=[0.0], duration_s=[1.0], omitted=[True]),
        "Table": Table(data={"a": [1.0, np.nan], "b": ["x", ""]}, meta=Meta(units={"a": "s"})),
        "PacketTrace": datasets.puzzle("stall").load(),
    }
    for name in set(KINDS) - set(found):
        kind = KINDS[name]
        texts = {"text": "x", "bool": True}
        found[name] = kind(**{n: [texts.get(u, 1.0)] for n, u in kind.column_units.items()})
    assert {"BulkSamples", "HopSamples", "TrainSamples"} <= set(found)
    assert {BulkSamples, HopSamples, TrainSamples} <= {type(one) for one in found.values()}
    for name, samples in found.items():
        assert back(samples) == samples, name


def test_it_is_recognized_by_its_content():
    path = INPUTS / "exported" / "ping.parquet"
    assert sniff(path) == "netcalc Parquet"
    assert read(path) == read(INPUTS / "iputils_loss.txt")


def code(data):
    with pytest.raises(ReaderError) as refused:
        read(io.BytesIO(data))
    assert "\n" not in str(refused.value)
    return refused.value.code


def test_without_the_package_there_is_one_sentence(monkeypatch):
    data = parquet_bytes(RttSamples(payload_bytes=[56.0], rtt_s=[0.1]))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ReaderError) as refused:
        read(io.BytesIO(data))
    assert "requires the package pyarrow" in str(refused.value)
    assert "pip install pyarrow" in str(refused.value)


def written(table, **options):
    stream = io.BytesIO()
    parquet.write_table(table, stream, **options)
    return stream.getvalue()


def test_parquet_of_others_and_of_damage_is_refused(monkeypatch):
    assert code(written(arrow.table({"a": [1.0]}))) == "parquet-of-others"
    samples = RttSamples(payload_bytes=[56.0] * 50, rtt_s=np.linspace(0.1, 0.2, 50))
    good = parquet_bytes(samples)
    assert code(good[:-20]) == "parquet-damaged"
    assert code(b"PAR1" + good[20:]) == "parquet-damaged"
    table = parquet.read_table(io.BytesIO(good))
    known = dict(table.schema.metadata)
    known[b"netcalc"] = known[b"netcalc"].replace(b"RttSamples", b"XttSamples")
    assert code(written(table.replace_schema_metadata(known))) == "parquet-damaged"
    texts = table.set_column(1, "rtt_s", arrow.array(["x"] * 50))
    assert code(written(texts)) == "parquet-column"
    assert code(written(table.drop_columns(["ttl"]))) == "exported-columns"
    monkeypatch.setattr(module, "MOST_CELLS", 499)  # 50 rows of 10 columns
    assert code(good) == "parquet-too-large"


def test_a_flipped_bit_is_never_another_number():
    """Each bit of every 7th byte: the samples are those of before, or the file is refused."""
    samples = RttSamples(payload_bytes=[56.0] * 20, rtt_s=np.linspace(0.1, 0.2, 20))
    good = parquet_bytes(samples)
    refused = 0
    for place in range(0, len(good), 7):
        data = bytearray(good)
        data[place] ^= 1 << place % 8
        try:
            assert read(io.BytesIO(bytes(data))) == samples, place
        except ReaderError:
            refused += 1
    assert refused > 50
