"""Exports: what is read back is what was written, and no address gets through."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import ipaddress
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from netcalc.cli import main
from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, sniff
from netcalc.readers.captures import anonymized_samples
from netcalc.readers.saved import MARK, csv_text
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
HARD = [0.1 + 0.2, 1e-300, 3599.9999999999995, np.nan, 5e-324, 1234.567890123456789]
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
    assert rows[0] == ["speed [bit/s, unknown]", "say"]
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


def test_a_damaged_cell_or_row_has_its_line():
    """The comment is line 1, the header line 2."""
    lines = csv_text(SAMPLES[1]).splitlines()
    with pytest.raises(ReaderError) as error:
        read("\n".join([*lines[:3], lines[3].replace("2.0", "big", 1)]).encode(), name="x.csv")
    found = error.value
    assert (found.code, found.line, found.field) == ("not-a-number", 4, "payload_bytes")
    assert found.values["value"] == "big"
    with pytest.raises(ReaderError) as error:
        read("\n".join([*lines[:2], lines[2] + ",1"]).encode(), name="x.csv")
    width = len(lines[1].split(","))
    assert (error.value.code, error.value.line) == ("packet-row-width", 3)
    assert (error.value.values["found"], error.value.values["wanted"]) == (width + 1, width)
    with pytest.raises(ReaderError) as error:
        read("\n".join([*lines[:2], '"1"2' + lines[2]]).encode(), name="x.csv")
    assert error.value.code == "exported-damaged", "a quote within a cell"
    with pytest.raises(ReaderError) as error:
        read("\n".join([lines[0], "x", lines[2]]).encode(), name="x.csv")
    assert (error.value.code, error.value.line) == ("exported-columns", 2)


def test_saved_samples_are_recognized_wherever_their_mark_is():
    """In the first 2000 bytes by a look at them, further down by the member of that name."""
    for count in (10, 5000):
        document = {"x": "y" * count, "format": "netcalc samples"}
        assert sniff(json.dumps(document).encode()) == "netcalc samples"
    assert sniff(json.dumps({"format": "x" * 3000}).encode()) == "JSON"


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


def bits_in_common(one, other):
    first, second = int(ipaddress.ip_address(one)), int(ipaddress.ip_address(other))
    return ipaddress.ip_address(one).max_prefixlen - (first ^ second).bit_length()


def replaced(text, key=b"k" * 32):
    return anonymized_samples(Table(data={"x": np.array([text], object)}), key=key)["x"][0]


@pytest.mark.each(
    "addresses",
    [("192.0.2.1", "192.0.2.129", "192.0.3.1", "127.0.0.1", "192.0.2.0", "255.255.255.255"),
     ("2001:db8::1", "2001:db8::3", "2001:db8:8000::1", "fe80::1", "::1", "2001:db9::1")],
)  # fmt: skip
def test_common_prefixes_stay_common_and_no_longer(addresses):
    """Xu, Fan, Ammar, Moon 2002, the property that defines the scheme."""
    found = [replaced(one) for one in addresses]
    assert len(set(found)) == len(addresses)
    assert not set(found) & set(addresses)
    for one, other in zip(addresses, found, strict=True):
        for two, another in zip(addresses, found, strict=True):
            assert bits_in_common(one, two) == bits_in_common(other, another)
    assert found != [replaced(one, key=b"other") for one in addresses]


def test_a_bit_is_flipped_as_the_first_bit_of_a_keyed_hash_of_those_before_it():
    """Second method: bits as text. Captures of one key agree with those of any other version."""
    key, bits = b"secret", f"{int(ipaddress.ip_address('192.0.2.77')):032b}"
    found = ""
    for place, bit in enumerate(bits):
        before = f"{int(bits[:place] or '0', 2):x}"
        hashed = hmac.new(key, f"4/{place}/{before}".encode(), hashlib.sha256).hexdigest()
        found += str(int(bit) ^ (int(hashed[0], 16) >= 8))
    assert replaced("192.0.2.77", key) == str(ipaddress.ip_address(int(found, 2)))


def test_an_ethernet_address_becomes_a_local_one_of_one_host():
    """IEEE 802: the second lowest bit of the first byte is set for local, the lowest for groups."""
    for text in ("02:00:5e:10:00:01", "FF:FF:FF:FF:FF:FF"):
        hashed = hmac.new(b"k", text.lower().encode(), hashlib.sha256).digest()
        found = bytes.fromhex(replaced(text, b"k").replace(":", ""))
        assert found[0] % 4 == 2
        assert found[0] // 4 == hashed[0] // 4
        assert found[1:] == hashed[1:6]
    twice = replaced("aa:bb:cc:dd:ee:ff > AA:BB:CC:DD:EE:FF").split(" > ")
    assert twice[0] == twice[1]


def test_what_is_known_of_hosts_is_left_out():
    meta = Meta(
        host="h", target="192.0.2.1", source="s", sha256="0" * 64, command="ping 192.0.2.1",
        note="from 192.0.2.7", printed={"loss": 1.0}, tool="ping",
        facts=({"group": "192.0.2.9", "target": "192.0.2.1", "count": 3},),
        warnings=(
            Notice("file-grew"),
            Notice("unit-ignored", {"written": "x", "column": "192.0.2.1"}),
        ),
    )  # fmt: skip
    columns = {"node": np.array(["192.0.2.1"], object), "node_name": np.array(["h"], object)}
    found = anonymized_samples(Table(data={**columns, "n": np.ones(1)}, meta=meta), key=b"k")
    known = found.meta
    left_out = (known.host, known.target, known.source, known.sha256, known.command)
    assert left_out == ("",) * 5
    assert (known.tool, known.printed, known.warnings) == ("ping", {}, (Notice("file-grew"),))
    assert known.note == f"from {replaced('192.0.2.7', b'k')}"
    assert known.facts == ({"group": replaced("192.0.2.9", b"k"), "count": 3},)
    assert found["node_name"].tolist() == [""]
    assert found["n"].tolist() == [1]
    trace = read(INPUTS / "captures" / "dumpcap_lo.pcapng")
    again = anonymized_samples(trace, key=b"k" * 32)
    expected = tuple(replaced(one) if one else one for one in trace.addresses)
    assert again.addresses == expected
    assert (again.meta.host, again.meta.source, again.meta.sha256) == ("", "", "")
    assert np.array_equal(again.time_s, trace.time_s)


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
    assert b"out.csv" in capfdbinary.readouterr().err, "the file that was written is named"
    assert run("export", source, "--to", "csv") == 0
    assert capfdbinary.readouterr().out == written


def test_parquet_without_its_package_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    out = tmp_path / "out.parquet"
    assert run("export", str(INPUTS / "iputils_plain.txt"), "--to", "parquet", "-o", str(out)) == 2
    assert "pyarrow" in capsys.readouterr().err
    assert not out.exists()


def test_a_pipe_gets_no_parquet(capsys):
    assert run("export", str(INPUTS / "iputils_plain.txt"), "--to", "parquet") == 2
    said = capsys.readouterr().err
    assert "--to parquet" in said
    assert said.index("--to parquet") < said.index("requires -o") < said.index("samples.parquet")


def test_standard_input_and_the_columns_of_parquet(tmp_path, monkeypatch, capsys):
    """What writes parquet is replaced by a function that keeps what it is asked for."""
    asked = {}

    def keep(samples):
        asked.update(columns=list(samples.columns()), count=len(samples))
        return b"PAR1"

    monkeypatch.setattr("netcalc.readers.saved.parquet_bytes", keep)
    for missing in (None, "pandas", "pyarrow"):
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name, missing=missing: name != missing or None
        )
        given = (INPUTS / "iputils_plain.txt").open()
        monkeypatch.setattr(sys, "stdin", given)
        out = tmp_path / f"{missing}.parquet"
        assert run("export", "-", "--to", "parquet", "-o", str(out)) == (2 if missing else 0)
        given.close()
        assert out.exists() is (missing is None)
    samples = read(INPUTS / "iputils_plain.txt")
    assert (tmp_path / "None.parquet").read_bytes() == b"PAR1"
    assert asked == {"columns": list(samples.columns()), "count": len(samples)}
    capsys.readouterr()


PARQUET = (
    "iputils_loss.txt", "transfers/iperf3_tcp.json", "paths/pathping.txt",
    "counters/tcp_info.jsonl",
)  # fmt: skip


@pytest.fixture(scope="module")
def parquet():
    """The package that reads and writes Parquet."""
    return pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.mark.each("name", PARQUET)
def test_parquet_has_units_and_reads_back_equal(name, parquet, tmp_path):
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


def test_names_of_hosts_are_replaced_by_the_same_word():
    """A name says as much as an address; a label such as "run 1 download" says nothing."""
    text = (
        " 1:  gateway        0.5ms \n 2:  a.example.com   8.1ms \n"
        " 3:  a.example.com   8.2ms reached\n     Resume: pmtu 1500 hops 3 back 3 \n"
    )
    found = anonymized_samples(read(text.encode()), key=b"k")
    first, second, third = found.node.tolist()
    assert second == third != first
    assert all(one.startswith("host-") for one in (first, second))
    pings = RttSamples(
        payload_bytes=[56.0] * 2, rtt_s=[0.1, 0.2], group=["www.example.com", "run 1 download"],
        meta=Meta(facts=({"group": "www.example.com", "sent_count": 1},)),
    )  # fmt: skip
    hidden = anonymized_samples(pings, key=b"k")
    assert hidden.group[0] == hidden.meta.facts[0]["group"] != "www.example.com"
    assert hidden.group[1] == "run 1 download"


@pytest.mark.parametrize("column", ["node", "host", "server", "target"])
def test_a_name_of_a_host_without_a_domain_is_replaced_too(column):
    """identity: one word for one name; addresses, with other words or without, are addresses."""
    texts = ["fileserver", "www.corp.example", "fileserver", "10.1.2.3"]
    table = Table(data={column: np.array(texts, object), "x": np.ones(4)})
    first, second, again, address = anonymized_samples(table, key=b"k")[column]
    assert first == again != second
    assert first.startswith("host-")
    assert address.count(".") == 3
    assert address != "10.1.2.3"
