"""The bundled data sets: complete, current, as printed, and safe against a damaged file."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from netcalc import datasets, fit
from netcalc.errors import DatasetError, DomainError
from netcalc.readers import read_columns
from netcalc.samples import RttSamples, Table, TransferSamples

DATA = Path(__file__).parent.parent / "data"
SETS = datasets.names()
TABLES = [name for name in SETS if datasets.info(name).columns]


def table(name: str) -> Table:
    """A whole set as a table."""
    loaded = datasets.load(name)
    assert isinstance(loaded, Table)
    return loaded


def quantities() -> list[str]:
    """The sets whose rows are single quantities, each with its own unit."""
    return [name for name in SETS if "si_value" in datasets.info(name).columns]


def row(name: str, number: str) -> dict[str, object]:
    """One row of a set of quantities."""
    columns = table(name).columns()
    place = columns["id"].tolist().index(number)
    return {column: values[place] for column, values in columns.items()}


@pytest.mark.each("name", TABLES)
def test_every_table_loads_with_units_layers_and_source(name: str) -> None:
    loaded, about = table(name), datasets.info(name)
    assert len(loaded) == about.rows > 0
    assert list(loaded.columns()) == list(about.columns)
    assert loaded.meta.sha256 == about.sha256
    assert loaded.meta.source == about.file
    assert about.title in loaded.meta.note
    for column, values in loaded.columns().items():
        unit = loaded.meta.units[column]
        assert unit, column
        assert (unit == "text") == (values.dtype.kind == "O"), column
    header = (DATA / about.file).read_text(encoding="utf-8").partition("\n")[0]
    assert header.split(",") == list(about.columns)
    read = read_columns(DATA / about.file)
    for column, found in zip(about.columns, read.columns(), strict=True):
        seen = read.meta.units.get(found, "")
        if about.units[column] == "text":  # as printed, with a unit in each cell
            continue
        assert seen in ("", about.units[column]), "the reader's unit"
    sized = [c for c in about.columns if c.endswith(("_bytes", "_bps", "_pps"))]
    assert all(loaded.meta.layers[column] for column in sized)


@pytest.mark.each("name", SETS)
def test_the_index_is_current(name: str) -> None:
    digest = hashlib.sha256((DATA / datasets.info(name).file).read_bytes()).hexdigest()
    assert digest == datasets.info(name).sha256, "run: python tests/data_index.py"


def test_every_file_of_the_folder_belongs_to_a_set() -> None:
    expected = {"index.json", "glossary.toml"}
    for name in SETS:
        expected |= {datasets.info(name).file, datasets.info(name).sheet}
    assert {file.name for file in DATA.iterdir()} == expected | {"puzzles", "exercises"}


def test_the_recorded_ping_finds_the_truth_of_its_line() -> None:
    # Known truth, set when it was recorded: 1.544 Mbit/s, 10 ms. Measured: within 1%, 0.15 ms.
    recorded = datasets.load("ping_emulated_t1")
    assert isinstance(recorded, RttSamples)
    assert (recorded.sent, recorded.received) == (150, 150)
    assert recorded.meta.target == "192.0.2.2"
    found = fit.rtt_against_size(recorded).params
    assert found["bandwidth_bps"] == pytest.approx(1.544e6, rel=0.01)
    assert found["base_rtt_s"] == pytest.approx(0.010, abs=0.15e-3)
    assert "iputils 20221126" in datasets.describe("ping_emulated_t1")


@pytest.mark.each("name", TABLES)
def test_the_sheet_describes_every_column_as_the_index_does(name: str) -> None:
    about, sheet = datasets.info(name), datasets.describe(name)
    assert sheet.startswith(f"# {about.title}\n")
    assert f"{about.rows} rows" in sheet
    headings = re.findall("^## (.*)$", sheet, flags=re.MULTILINE)
    assert headings == [
        "Source", "Columns", "How it was measured", "Stated, inferred, derived", "Known errors",
        "Not here",
    ]  # fmt: skip
    for column, what in about.columns.items():
        line = f"| `{column}` | {what.unit} | {what.layer or '-'} | {what.origin or '-'} |"
        assert f"{line} {what.meaning} |" in sheet
    if name != "audit":
        assert about.source.split(",")[0] in " ".join(sheet.split())


def test_the_audit_holds_each_number_of_the_other_sets_exactly_once() -> None:
    audit = table("audit")
    assert len(audit) == len(set(audit["id"].tolist())) == 327
    others = [name for name in SETS if "id" in datasets.info(name).columns]
    others = [name for name in others if name not in ("audit", "book_claims")]
    held = [(name, number) for name in others for number in table(name)["id"].tolist()]
    audited = list(zip(audit["data_set"].tolist(), audit["id"].tolist(), strict=True))
    assert sorted(held) == sorted(audited)
    for name in quantities():
        if name == "audit":
            continue
        mine = audit["data_set"] == name
        for column, values in table(name).columns().items():
            np.testing.assert_array_equal(values, audit[column][mine], err_msg=f"{name} {column}")


def test_verdicts_are_those_of_the_audit() -> None:
    # The totals as the audit itself states them, apart from these files.
    assert Counter(table("audit")["verdict"].tolist()) == {
        "agree": 73 + 12,  # each: printed numbers, and those read off the figures 15 to 20
        "agree rounded": 15 + 2,
        "model fits": 4 + 7,
        "model misses": 1 + 11,
        "input": 76 + 1,
        "derived": 38 + 7,
        "measured": 31 + 3,
        "ambiguous": 23 + 2,
        "disagree": 6 + 3,
        "not reproducible": 2,
        "physically inconsistent": 1 + 1,
        "not computable": 8,
    }


def test_a_verdict_that_is_no_plain_agreement_has_a_reason() -> None:
    audit = table("audit")
    doubtful = {"disagree", "ambiguous", "not reproducible", "physically inconsistent",
                "model misses"}  # fmt: skip
    for number, verdict, note in zip(audit["id"], audit["verdict"], audit["note"], strict=True):
        assert note or verdict not in doubtful, number


def test_numbers_that_agree_do_and_numbers_that_disagree_do_not() -> None:
    audit = table("audit")
    assert np.all(np.isfinite(audit["si_value"]))
    assert np.all((audit["printed"] == "") == (audit["origin"] == "derived"))
    same_unit = audit["si_unit"] == audit["si_computed_unit"]
    agree, disagree = (same_unit & (audit["verdict"] == v) for v in ("agree", "disagree"))
    difference = audit["si_computed"] / audit["si_value"] - 1
    # Printed with two digits at the least, so within 2 %; SF14 is "less than 1/3", NE49 a limit.
    fits = np.abs(difference) < 0.02
    assert audit["id"][agree & ~fits].tolist() == ["SF14", "NE49"]
    printed = audit["relative_difference"]
    np.testing.assert_allclose(printed[same_unit], difference[same_unit], atol=6e-4, rtol=1e-3)
    assert np.all(np.abs(difference[disagree]) > 1e-4)


@pytest.mark.each(
    ("name", "number", "printed", "si_value", "si_unit", "place"),
    [
        # Read again in the sources, independently of the files the sets were made from.
        ("latency_and_bandwidth", "SL05", "5.21 s", 5.21, "s", "A.3, text"),
        ("latency_and_bandwidth", "SL08", "208 ms", 0.208, "s", "A.3, text"),
        ("latency_and_bandwidth", "SL13", "82 ms", 0.082, "s", "A.3, text"),
        ("wan_round_trips", "SW01", "202 ms", 0.202, "s", "A.3, text on Fig. A-3"),
        ("wan_round_trips", "SW08", "193 ms", 0.193, "s", "A.3, store and forward"),
        ("wan_round_trips", "SW06", "25 hop", 25, "1", "A.1, text on Fig. A-3"),
        ("store_and_forward", "SF11", "25 ms", 0.025, "s", "A.3, text on Fig. A-9"),
        ("store_and_forward", "SF27", "1248525 bit/s", 1248525, "bit/s", "A.3, store and forward"),
        (
            "loopback_transactions",
            "LB01",
            "1536 byte",
            1536,
            "byte",
            "A.2, text on Fig. A-6 to A-8",
        ),
        (
            "loopback_transactions",
            "LB04",
            "25 percent",
            0.25,
            "ratio",
            "A.2, text on Fig. A-6 to A-8",
        ),
        ("mbufs", "MB02", "208 byte", 208, "byte", "A.2, text on mbufs"),
        ("source_sink_text", "SN14", "16332 byte", 16332, "byte", "text"),
        ("source_sink_text", "SN21", "800 Mbit/s", 800e6, "bit/s", "note in the text"),
        ("congestion_scenarios", "NE01", "20 us", 20e-6, "s", "3.4.1, text"),
        ("congestion_scenarios", "NE20", "22 s", 22, "s", "3.4.1, text"),
        ("congestion_scenarios", "NE07", "20000 packet", 20000, "1", "3.4.1, text"),
        (
            "router_forwarding",
            "RP06",
            "0.08446 Mpps",
            84460,
            "packet/s",
            "part on the forwarding rate",
        ),
        (
            "router_forwarding",
            "RP21",
            "0.281 Mbit/s",
            281e3,
            "bit/s",
            "reading the results, part 2",
        ),
        ("nagle_summary", "NG-c4", "15 ms", 0.015, "s", "summary 2"),
        ("nagle_summary", "NG-c10", "8000 port", 8000, "1", "Java code"),
    ],
)
def test_spot_values(
    name: str, number: str, printed: str, si_value: float, si_unit: str, place: str
) -> None:
    found = row(name, number)
    assert found["printed"] == printed
    assert found["si_value"] == pytest.approx(si_value, rel=1e-12)
    assert (found["si_unit"], found["place"]) == (si_unit, place)


@pytest.mark.each(
    ("size", "protocol", "server", "wall_s", "user_s", "system_s", "rate", "lost"),
    [
        # Tables 2.2 and 2.3 of the book, two rows of each, read again.
        (1440, "TCP", "localhost", 0.9558, 0.0096, 0.6316, "7.53 MB/s", None),
        (1440, "UDP", "sparc", 5.8284, 0.0564, 0.844, "1.235 MB/s", 440),
        (300, "TCP", "sparc", 1.5552, 0.0084, 1.2442, "0.965 MB/s", None),
        (300, "UDP", "bsd", 1.6324, 0.0324, 0.9998, "0.919 MB/s", 212),
    ],
)
def test_source_and_sink(
    size: int,
    protocol: str,
    server: str,
    wall_s: float,
    user_s: float,
    system_s: float,
    rate: str,
    lost: int | None,
) -> None:
    rows = table(f"source_sink_{size}")
    one = (rows["protocol"] == protocol) & (rows["server"] == server)
    assert one.sum() == 1
    assert rows["payload_bytes"][one] == size
    assert rows["write_count"][one] == 5000
    assert rows["wall_s"][one] == wall_s
    assert rows["user_s"][one] == user_s
    assert rows["system_s"][one] == system_s
    assert rows["printed_rate"][one] == rate
    assert rows["sent_rate_bps"][one] == pytest.approx(float(rate.split()[0]) * 8e6)
    np.testing.assert_equal(rows["lost_count"][one][0], np.nan if lost is None else lost)
    # Derived a second time from the row itself.
    delivered = (5000 - (lost or 0)) * size * 8 / wall_s
    assert rows["goodput_bps"][one] == pytest.approx(delivered, rel=1e-8)


def test_numbers_that_stand_in_two_sets_are_the_same() -> None:
    audit = table("audit")
    printed = dict(zip(audit["id"].tolist(), audit["si_value"].tolist(), strict=True))
    for name, column in [
        ("wan_curves", "curve_rtt_s"),
        ("transfer_times", "printed_transfer_s"),
        ("serialization_times", "printed_s"),
        ("store_and_forward_timeline", "printed_s"),
        ("router_throughput", "goodput_bps"),
        ("two_flow_windows", "window_packets"),
        ("large_request_goodput", "goodput_bps"),
        ("small_request_goodput", "goodput_bps"),
        ("request_latency", "p99_s"),
    ]:
        rows = table(name)
        for number, value in zip(rows["audit_id"].tolist(), rows[column].tolist(), strict=True):
            assert not number or value == pytest.approx(printed[number], rel=1e-12), (name, number)


def test_the_summary_of_the_runs_follows_from_the_runs() -> None:
    for flag, run in zip(
        ("null", "1", "2", "3"), datasets.series("nagle_round_trips"), strict=True
    ):
        times = datasets.load("nagle_round_trips", series=run)
        assert isinstance(times, RttSamples)
        assert times.sequence.tolist() == list(range(1, 11))
        found = {
            "n": len(times),
            "mean": times.rtt_s.mean(),
            "median": np.median(times.rtt_s),
            "median2": np.median(times.rtt_s[1:]),
            "min": times.rtt_s.min(),
            "max": times.rtt_s.max(),
        }
        for what, value in found.items():
            expected = row("nagle_summary", f"NG-{flag}-{what}")["si_value"]
            assert value == pytest.approx(expected, rel=1e-9), (run, what)


def test_forty_response_times_as_printed() -> None:
    # Output of the four runs in the article, in ms.
    printed = [
        [62, 107, 100, 109, 104, 104, 100, 100, 100, 100],
        [44, 47, 45, 37, 48, 50, 49, 41, 49, 50],
        [68, 111, 98, 101, 97, 103, 107, 100, 100, 100],
        [38, 36, 45, 37, 46, 31, 42, 36, 41, 44],
    ]
    np.testing.assert_allclose(table("nagle_round_trips")["response_s"] * 1e3, np.ravel(printed))


def test_five_curves_and_no_invented_point() -> None:
    # 202, 155, 98, 80 and 30 ms at the y axis, and one end point: all that is printed.
    assert len(table("wan_curves")) == 6
    starts = {}
    for pair in datasets.series("wan_curves"):
        curve = datasets.load("wan_curves", series=pair)
        assert isinstance(curve, RttSamples)
        assert curve.meta.target == pair
        starts[pair] = float(curve.rtt_s[0])
        sizes = curve.payload_bytes.tolist()
        assert sizes == ([0.0, 1400.0] if pair == "connix.com - noao.edu" else [0.0])
    assert sorted(starts.values()) == [0.03, 0.08, 0.098, 0.155, 0.202]


def test_a_series_of_transfers() -> None:
    one = datasets.load("transfer_times", series="T1")
    assert isinstance(one, TransferSamples)
    assert (one.payload_bytes.tolist(), one.duration_s.tolist()) == ([1e6], [5.21])
    assert one.meta.units["duration_s"] == "s"
    assert one.meta.layers["payload_bytes"] == "application data"


def test_timeline_is_in_order_and_differs_from_print_in_one_event() -> None:
    rows = table("store_and_forward_timeline")
    assert np.all(np.diff(rows["time_s"]) > 0)
    printed = ~np.isnan(rows["printed_s"])
    wrong = rows["event"][printed & (rows["printed_s"] != rows["time_s"])]
    assert wrong.tolist() == ["last bit arrives"]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(DomainError) as caught:
        datasets.load("wan_curve")
    assert (caught.value.code, caught.value.value) == ("no-such-dataset", "wan_curve")
    assert caught.value.values["suggestions"][0] == "wan_curves"
    with pytest.raises(DomainError) as caught:
        datasets.describe("zzz")
    assert caught.value.values["suggestions"] == []
    assert str(caught.value) == f"there is no data set 'zzz'. Available: {', '.join(SETS)}"
    with pytest.raises(DomainError) as caught:
        datasets.load("transfer_times", series="T9")
    assert (caught.value.code, caught.value.value) == ("no-such-series", "T9")
    assert caught.value.values["known"] == ["T1", "T3", "150 Mb/s"]
    with pytest.raises(DomainError) as caught:
        datasets.load("mbufs", series="UDP")
    assert caught.value.code == "no-series"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data folder, in place of the real one."""
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    monkeypatch.setattr(datasets, "data_folder", lambda: folder)
    return folder


def others_work(broken: str) -> None:
    for name in SETS:
        if name != broken:
            assert len(datasets.load(name)) == datasets.info(name).rows


def test_one_changed_digit_is_named_and_the_others_work(copy: Path) -> None:
    file = copy / "wan_curves.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("0.193", "0.192"), encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        datasets.load("wan_curves")
    assert (caught.value.code, caught.value.file) == ("data-changed", str(file))
    assert str(caught.value) == (
        f"{file}: differs from the file that was shipped (SHA-256 mismatch). Reinstall "
        "this copy of netcalc, or in a checkout run: git checkout -- data/wan_curves.csv"
    )
    assert list(datasets.damaged()) == ["wan_curves"]
    others_work("wan_curves")


@pytest.mark.parametrize("damage", [b"", b"\x00\xff\xfe", b"id,quantity\n"])
def test_a_cut_or_binary_file_is_named(copy: Path, damage: bytes) -> None:
    (copy / "mbufs.csv").write_bytes(damage)
    with pytest.raises(DatasetError) as caught:
        datasets.load("mbufs")
    assert (caught.value.code, caught.value.file) == ("data-changed", str(copy / "mbufs.csv"))
    others_work("mbufs")


def test_a_missing_file_is_named_and_the_others_work(copy: Path) -> None:
    (copy / "audit.csv").unlink()
    for use in (datasets.load, datasets.path):
        with pytest.raises(DatasetError) as caught:
            use("audit")
        assert (caught.value.code, caught.value.file) == ("data-missing", str(copy / "audit.csv"))
    assert datasets.describe("audit").startswith("# Audit")
    others_work("audit")


def test_a_directory_in_place_of_a_file_is_named(copy: Path) -> None:
    (copy / "mbufs.csv").unlink()
    (copy / "mbufs.csv").mkdir()
    with pytest.raises(DatasetError) as caught:
        datasets.load("mbufs")
    assert (caught.value.code, caught.value.file) == ("data-unreadable", str(copy / "mbufs.csv"))


def test_a_missing_or_binary_sheet_is_named_and_its_numbers_load(copy: Path) -> None:
    (copy / "mbufs.md").unlink()
    (copy / "audit.md").write_bytes(b"\xff\xff")
    for name, code in (("mbufs", "data-missing"), ("audit", "sheet-damaged")):
        with pytest.raises(DatasetError) as caught:
            datasets.describe(name)
        assert (caught.value.code, caught.value.file) == (code, str(copy / f"{name}.md"))
    assert sorted(datasets.damaged()) == ["audit", "mbufs"]
    others_work("")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"licence": "", "sets": 3}',
        '{"licence": "", "sets": [{"name": "a"}]}',
        "\xff",
    ],
)
def test_a_damaged_index_is_named(copy: Path, text: str) -> None:
    (copy / "index.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DatasetError) as caught:
        datasets.names()
    assert (caught.value.code, caught.value.file) == ("index-damaged", str(copy / "index.json"))


def test_no_folder_at_all_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_BUNDLED", tmp_path / "a")
    monkeypatch.setattr(datasets, "_CHECKOUT", tmp_path / "b")
    with pytest.raises(DatasetError) as caught:
        datasets.names()
    assert (caught.value.code, caught.value.values["name"]) == ("data-missing", "index.json")


def test_the_folder_of_an_installed_copy_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(datasets, "_BUNDLED", tmp_path / "data")
    assert datasets.path("audit") == tmp_path / "data" / "audit.csv"


def test_index_is_plain_json_with_licence_and_source() -> None:
    index = json.loads((DATA / "index.json").read_text(encoding="utf-8"))
    assert "facts" in index["licence"]
    assert all(datasets.info(name).source and datasets.info(name).licence for name in SETS)


def test_published_latencies_of_access_networks() -> None:
    """Published: read again in ITU-R M.2410, and in the text on Starlink."""
    rows = table("access_latencies")
    five_g = rows["technology"] == "5G"
    itu = np.array(["M.2410" in work for work in rows["work"]])
    assert rows["one_way_s"][five_g & itu].tolist() == [0.004, 0.001]
    starlink = rows["technology"] == "Starlink"
    assert rows["rtt_s"][starlink].tolist() == [0.02, 0.04, 0.05, 0.06]
    assert (np.isnan(rows["one_way_s"]) != np.isnan(rows["rtt_s"])).all(), "one of the two each"


def test_more_system_time_for_fewer_bytes_is_in_the_audit() -> None:
    # Published: tables 2.2 and 2.3 of Snader, UDP to sparc. Derived: their ratio.
    large, small = table("source_sink_1440").columns(), table("source_sink_300").columns()
    times = [
        float(rows["system_s"][(rows["protocol"] == "UDP") & (rows["server"] == "sparc")][0])
        for rows in (large, small)
    ]
    assert times == [0.844, 1.4352]
    audit = table("audit").columns()
    (row,) = np.flatnonzero(audit["id"] == "SN29")
    assert audit["si_value"][row] == pytest.approx(1.7005, abs=5e-5)
    assert "no reason" in audit["note"][row]


def test_a_reader_for_each_line_loses_what_it_has_read_ahead() -> None:
    # Derived: the server of the article builds a reader per line, here on two lines at once.
    stream = io.BytesIO(b"hello world\r\nhello again\r\n")
    readers = [io.BufferedReader(stream) for _ in range(2)]
    assert [one.readline() for one in readers] == [b"hello world\r\n", b""]
    assert "null" in table("audit")["note"][table("audit")["id"] == "NG-c13"][0]
