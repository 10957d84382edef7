"""Exports: what is read back is what was written, and no address gets through."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from netcalc.cli import main
from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.readers.captures import anonymized_samples
from netcalc.readers.exported import MARK, csv_text
from netcalc.samples import (
    FlowSeries,
    Meta,
    PathSamples,
    RttSamples,
    Table,
    TransferSamples,
    loads,
)

INPUTS = Path(__file__).parent / "inputs"
HARD = [0.1 + 0.2, 1e-300, 1.7976931348623157e308, np.nan, 5e-324, 123456789.12345678]
SAMPLES = [
    RttSamples(payload_bytes=[56.0] * 6, rtt_s=HARD, lost=np.isnan(HARD), group=["a,b"] * 6),
    TransferSamples(payload_bytes=[1.0, 2.0], duration_s=[0.25, np.nan], failed=[False, True]),
    FlowSeries(start_s=[0.0, 1.0], duration_s=[1.0, 1.0], payload_bytes=[1e9, 2e9]),
    PathSamples(hop=[1, 2], rtt_s=[0.01, np.nan], lost=[False, True], node=["192.0.2.1", ""]),
    Table(
        data={"speed": np.array([1.5, np.inf]), "say": np.array(['=1+1 "x"', "'é\n;"], object)},
        meta=Meta(units={"speed": "bit/s"}, tool="a", note="two\nlines"),
    ),
    Table(data={"n": np.zeros(0)}),
]


@pytest.mark.each("samples", SAMPLES, ids=[type(one).__name__ for one in SAMPLES])
def test_a_csv_read_back_is_the_same(samples):
    """Identity, to the last bit; JSON is the file of saved samples."""
    back = read(csv_text(samples).encode("utf-8", "surrogatepass"), name="x.csv")
    assert back == samples
    assert loads(samples.dumps()) == samples


@pytest.mark.each("file", ["dumpcap_lo.pcapng", "dumpcap_any_sll.pcap", "tcpdump_ttt.txt"])
def test_a_capture_read_back_is_the_same(file):
    samples = read(INPUTS / "captures" / file)
    back = read(csv_text(samples).encode(), name="x.csv")
    assert back.columns().keys() == samples.columns().keys()
    assert back.facts() == samples.facts()
    assert back.to_frame().equals(samples.to_frame())


def test_the_header_has_units_and_no_cell_is_a_formula():
    text = csv_text(SAMPLES[4])
    assert text.startswith(MARK)
    rows = list(csv.reader(io.StringIO(text.partition("\n")[2])))
    assert rows[0] == ["speed [bit/s]", "say"]
    assert rows[1] == ["1.5", '\'=1+1 "x"']
    assert json.loads(text.partition("\n")[0].removeprefix(MARK))["kind"] == "Table"


def test_another_program_reads_the_numbers():
    """Second method: the csv module alone."""
    lines = csv_text(SAMPLES[0]).splitlines()[1:]
    rows = list(csv.DictReader(lines))
    found = [float(row["rtt_s"] or "nan") for row in rows]
    assert found == pytest.approx(HARD, rel=0, abs=0, nan_ok=True)


@pytest.mark.each(
    ("change", "code"),
    [
        (lambda text: text.replace("\npayload_bytes,", "\nsize_bytes,"), "exported-columns"),
        (lambda text: text.replace(MARK, MARK + "x"), "exported-damaged"),
        (lambda text: text.replace("false", "maybe", 99), None),
        (lambda text: text[:-12], None),
        (lambda text: text.replace("56.0", "big"), "not-a-number"),
    ],
)
def test_a_damaged_export_is_refused(change, code):
    with pytest.raises(ReaderError) as error:
        read(change(csv_text(SAMPLES[0])).encode(), name="x.csv")
    assert code is None or error.value.code == code


PRIVATE = ("192.0.2.2", "2001:db8::1", "127.0.0.1")


@pytest.mark.each(
    "file",
    ["captures/tcpdump_v_two_runs.txt", "captures/tshark_fields.tsv", "captures/dumpcap_lo.pcapng",
     "captures/wireshark_since_start.csv", "iputils_plain.txt"],
)  # fmt: skip
def test_no_address_is_left(file):
    samples = read(INPUTS / file)
    before = csv_text(samples)
    after = csv_text(anonymized_samples(samples, key=b"k" * 32))
    assert any(one in before for one in (*PRIVATE, Path(file).name))
    assert not [one for one in (*PRIVATE, Path(file).name) if one in after]
    again = read(after.encode(), name="x.csv")
    assert len(again) == len(samples)


def test_addresses_within_a_text_keep_their_ports_and_prefixes():
    texts = ["192.0.2.1.443 > 192.0.2.9: UDP", "x 2001:db8::1: ICMP6, host.192.0.2.7:80"]
    texts += ["12:30:05.5", "v1.2.3", "no address", "02:00:5e:10:00:01"]
    table = Table(data={"info": np.array(texts, object)})
    found = anonymized_samples(table, key=b"k")["info"].tolist()
    assert found[2:5] == texts[2:5]
    assert not [text for text in found for one in ("192.0.2", "2001:db8", "5e:10") if one in text]
    assert found[1].endswith(":80")
    assert len(found[5].split(":")) == 6
    assert found[0].endswith(": UDP")
    first, second = found[0].split(": ")[0].split(" > ")
    assert first.rpartition(".")[2] == "443"
    # identity: 1 and 9 share their first 28 bits, so three numbers of the four
    assert first.split(".")[:3] == second.split(".")[:3]


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_the_command_never_overwrites(tmp_path, capfdbinary):
    source, out = str(INPUTS / "iputils_plain.txt"), tmp_path / "out.csv"
    assert run("export", source, "--to", "csv", "-o", str(out)) == 0
    written = out.read_bytes()
    assert read(out) == read(source)
    assert run("export", source, "--to", "json", "-o", str(out)) == 2
    assert out.read_bytes() == written
    assert run("export", source, "--to", "json", "-o", str(out), "--force") == 0
    assert read(out) == read(source)
    capfdbinary.readouterr()
    assert run("export", source, "--to", "csv") == 0
    assert capfdbinary.readouterr().out == written


def test_parquet_without_its_package_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    out = tmp_path / "out.parquet"
    assert run("export", str(INPUTS / "iputils_plain.txt"), "--to", "parquet", "-o", str(out)) == 2
    assert "pyarrow" in capsys.readouterr().err
    assert not out.exists()


PARQUET = (
    "iputils_loss.txt", "transfers/iperf3_tcp.json", "paths/pathping.txt",
    "counters/tcp_info.jsonl",
)  # fmt: skip


@pytest.mark.each("name", PARQUET)
def test_parquet_has_units_and_reads_back_equal(name, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is in no extra")
    out = tmp_path / f"{Path(name).stem}.parquet"
    assert run("export", str(INPUTS / name), "--to", "parquet", "-o", str(out)) == 0
    samples = read(INPUTS / name)
    table = parquet.read_table(out)
    assert table.column_names == list(samples.columns())
    for column, values in samples.columns().items():
        unit = (table.schema.field(column).metadata or {}).get(b"unit", b"").decode()
        assert unit == samples.meta.units.get(column, "")  # text of a table may have none
        back = table[column].to_numpy()
        if values.dtype.kind == "f":
            np.testing.assert_array_equal(back.astype(float), values, err_msg=column)
        else:
            assert back.tolist() == values.tolist()
    known = json.loads(table.schema.metadata[b"netcalc"])
    assert known["kind"] == type(samples).__name__
    assert known["meta"]["sha256"] == samples.meta.sha256
    assert table.to_pandas().shape == (len(samples), len(samples.columns()))
