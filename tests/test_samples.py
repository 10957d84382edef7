"""Containers of measurements: counts, masks, and files that lose nothing."""

from __future__ import annotations

import copy
import gzip
import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from netcalc import samples
from netcalc.errors import DomainError, MissingPackageError, ReaderError
from netcalc.messages import Notice
from netcalc.samples import Layer, Meta, RttSamples, Table, TransferSamples
from netcalc.version import requirement


def some_round_trips() -> RttSamples:
    """Five probes: one lost, one answered by an error, one reply doubled, one with no time."""
    return RttSamples(
        payload_bytes=[56, 56, 56, 56, 1400, 56],
        rtt_s=[0.011, math.nan, math.nan, 0.009, 0.020, math.nan],
        sequence=[1, 2, 3, 4, 5, 1],
        lost=[False, True, True, False, False, False],
        error_reply=[False, False, True, False, False, False],
        duplicate=[False, False, False, False, False, True],
        meta=Meta(tool="ping", target="192.0.2.1", start="2026-11-21T03:00:00+00:00"),
    )


def test_counts_are_those_of_probes():
    echo = some_round_trips()
    # derived by counting the rows above by hand
    assert (echo.sent, echo.received, echo.duplicates, echo.errors) == (5, 3, 1, 1)
    assert echo.loss_ratio == pytest.approx(0.4)
    assert echo.best_s.tolist() == [0.011, 0.009, 0.020]
    sizes, minima = echo.minima()
    assert (sizes.tolist(), minima.tolist()) == ([56, 1400], [0.009, 0.020])


def test_a_summary_without_lines_keeps_its_totals():
    echo = RttSamples(payload_bytes=[], rtt_s=[], sent_count=10, received_count=7, error_count=1)
    assert (echo.sent, echo.received, echo.errors, len(echo)) == (10, 7, 1, 0)
    assert echo.loss_ratio == pytest.approx(0.3)


def test_nothing_sent_is_no_loss_ratio():
    assert math.isnan(RttSamples(payload_bytes=[], rtt_s=[]).loss_ratio)


def test_units_and_layers_travel_with_the_columns():
    meta = some_round_trips().meta
    assert meta.units["rtt_s"] == "s"
    assert meta.units["payload_bytes"] == "byte"
    assert meta.layers["payload_bytes"] == "echo user data"
    assert meta.schema == samples.SCHEMA


def test_columns_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        some_round_trips().columns()["rtt_s"][0] = 1


def test_columns_of_other_length_are_refused_by_name():
    with pytest.raises(DomainError) as caught:
        RttSamples(payload_bytes=[1, 2, 3], rtt_s=[1, 2])
    assert (caught.value.code, caught.value.values) == (
        "unequal-columns",
        {"name": "rtt_s", "value": 2, "expected": 3, "other": "payload_bytes"},
    )
    assert str(caught.value) == "rtt_s has 2 rows, payload_bytes has 3"
    with pytest.raises(DomainError) as caught:
        RttSamples(payload_bytes=[[1.0]], rtt_s=[1.0])
    assert (caught.value.code, caught.value.value) == ("not-a-column", 2)
    with pytest.raises(TypeError, match="rtt_s"):
        RttSamples(payload_bytes=[1], rtt_s=["fast"])


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_save_and_load_lose_nothing(tmp_path, name):
    echo = some_round_trips()
    path = echo.save(tmp_path / name)
    again = RttSamples.load(path)
    for column, values in echo.columns().items():
        np.testing.assert_array_equal(again.columns()[column], values)
    assert again.meta == echo.meta
    assert [p.name for p in tmp_path.iterdir()] == [name]  # no temporary file is left


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory):
    """A folder for all examples of a property."""
    return tmp_path_factory.mktemp("run")


@pytest.mark.slow
@given(
    rtt=hnp.arrays(float, st.integers(0, 8), elements=st.floats(0, 10) | st.just(math.nan)),
    note=st.text(max_size=20),
)
def test_any_samples_survive_the_file(own_folder, rtt, note):
    path = own_folder / "run.json"
    path.unlink(missing_ok=True)
    TransferSamples(payload_bytes=np.arange(rtt.size), duration_s=rtt, meta=Meta(note=note)).save(
        path
    )
    again = TransferSamples.load(path)
    np.testing.assert_array_equal(again.duration_s, rtt)
    assert again.meta.note == note


KINDS = [
    some_round_trips(),
    RttSamples(payload_bytes=[], rtt_s=[], sent_count=10, received_count=7),
    TransferSamples(payload_bytes=[1, 2], duration_s=[0.1, math.nan]),
    samples.TransactionSamples(
        mode=["tcp"], sequence=[1], payload_bytes=[8], response_s=[math.inf],
        meta=Meta(instrument={"rtt_s": math.nan, "gaps": [[1.0, 2.0]]}),
    ),
    Table(data={"router": ["A", "B"], "goodput_bps": [1.5e6, math.nan]}),
]  # fmt: skip


@pytest.mark.parametrize("one", KINDS)
def test_samples_equal_what_comes_back_from_a_file_and_nothing_else(one, tmp_path):
    again = samples.load(one.save(tmp_path / "one.json"))
    assert again is not one
    assert again == one
    assert hash(again) == hash(one)
    assert [other == one for other in KINDS].count(True) == 1
    assert one != "samples"


@pytest.mark.each(
    "changes",
    [
        {"rtt_s": [0.1, 0.2]}, {"rtt_s": [0.1, math.nan, 0.3], "payload_bytes": [1, 2, 3]},
        {"lost": [False, True]}, {"sent_count": 3}, {"meta": Meta(instrument={"rtt_s": 0.2})},
    ],
)  # fmt: skip
def test_samples_that_differ_in_anything_are_not_equal(changes):
    given = {"payload_bytes": [1, 2], "rtt_s": [0.1, math.nan], "meta": Meta(tool="ping")}
    assert RttSamples(**given) == RttSamples(**given)
    assert RttSamples(**given) != RttSamples(**{**given, **changes})


def test_samples_are_shown_in_a_line():
    # derived: the columns above by hand
    assert repr(some_round_trips()) == (
        "<RttSamples: 6 rows; payload_bytes 56 B to 1400 B; rtt_s 9 ms to 20 ms; "
        "sequence 1 to 5; lost 2; duplicate 1; error_reply 1; ping; 192.0.2.1>"
    )
    assert repr(KINDS[1]) == "<RttSamples: 0 rows; sent_count 10; received_count 7>"
    table = Table(data={"router": [*"ABCDE"], **{f"x{n}": [n] * 5 for n in range(10)}})
    shown = "; ".join(f"x{n} {n}" for n in range(7))
    assert repr(table) == f"<Table: 5 rows; router A, B, C, and 2 more; {shown}; 3 more columns>"
    many = RttSamples(payload_bytes=np.ones(100_000), rtt_s=np.arange(100_000.0))
    assert repr(many) == "<RttSamples: 100,000 rows; payload_bytes 1 B; rtt_s 0 s to 1.157 d>"


def test_a_table_keeps_text_and_numbers(tmp_path):
    table = Table(
        data={"router": ["A", "B"], "goodput_bps": [1.5e6, np.inf], "note": [None, "inf"]},
        meta=Meta(units={"goodput_bps": "bit/s"}),
    )
    again = Table.load(table.save(tmp_path / "t.json"))
    assert again["router"].tolist() == ["A", "B"]
    assert again["goodput_bps"].tolist() == [1.5e6, math.inf]
    assert len(again) == 2
    with pytest.raises(DomainError) as caught:
        again["rtt"]
    assert caught.value.code == "not-a-choice"
    assert caught.value.values["choices"] == ["router", "goodput_bps", "note"]
    with pytest.raises(DomainError) as caught:
        Table(data={"a": [1], "b": [1, 2]})
    assert (caught.value.code, caught.value.value) == ("unequal-table", [1, 2])


def test_a_frame_has_units_in_its_attributes():
    frame = some_round_trips().to_frame()
    assert frame["rtt_s"].count() == 3
    assert frame.attrs["units"]["rtt_s"] == "s"


def test_without_pandas_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=re.escape(requirement("lab"))):
        some_round_trips().to_frame()


def damaged(change):
    document = json.loads(saved_bytes())
    change(document)
    return json.dumps(document).encode()


def saved_bytes() -> bytes:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return some_round_trips().save(Path(folder) / "run.json").read_bytes()


@pytest.mark.parametrize(
    ("data", "code", "field"),
    [
        (b"", "incomplete-json", None),
        (b"{", "incomplete-json", None),
        (b"[" * 100_000, "incomplete-json", None),
        (b"\x1f\x8bnot really", "incomplete-json", None),
        (gzip.compress(b'{"format": "netcalc samples"', mtime=0)[:-4], "incomplete-json", None),
        (b'{"a": 1}', "not-saved-samples", None),
        (b"[1, 2]", "not-saved-samples", None),
        (damaged(lambda d: d.update(schema=99)), "later-schema", "schema"),
        (damaged(lambda d: d.update(kind="Nonsense")), "unknown-kind", "kind"),
        (damaged(lambda d: d.pop("columns")), "part-missing", "columns"),
        (damaged(lambda d: d["columns"].pop("rtt_s")), "part-missing", "rtt_s"),
        (damaged(lambda d: d["columns"].update(rtt_s=3)), "part-of-other-type", "rtt_s"),
        (damaged(lambda d: d["columns"].update(rtt_s=["x"])), "row-of-other-type", "rtt_s"),
        (damaged(lambda d: d["columns"]["lost"].pop()), "columns-of-other-length", "lost"),
        (damaged(lambda d: d.update(meta=[])), "part-of-other-type", "meta"),
        (damaged(lambda d: d.pop("meta")), "part-missing", "meta"),
    ],
)
def test_a_damaged_file_is_named_and_never_a_bare_error(tmp_path, data, code, field):
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(ReaderError) as caught:
        samples.load(path)
    assert (caught.value.file, caught.value.code, caught.value.field) == ("run.json", code, field)
    assert str(caught.value).startswith("run.json")


def test_a_file_of_another_kind_and_a_missing_one(tmp_path):
    path = some_round_trips().save(tmp_path / "run.json")
    with pytest.raises(ReaderError) as caught:
        TransferSamples.load(path)
    assert (caught.value.code, caught.value.value) == ("other-kind", "RttSamples")
    assert caught.value.expected == "TransferSamples"
    assert caught.value.__notes__ == [caught.value.python_hint], "what Python can do"
    with pytest.raises(ReaderError) as caught:
        samples.load(tmp_path / "none.json")
    assert caught.value.code == "unreadable-file"


def test_every_container_is_registered_by_its_name():
    public = {
        name: kind
        for name, kind in vars(samples).items()
        if isinstance(kind, type)
        and issubclass(kind, samples.Samples)
        and kind is not samples.Samples
    }
    assert {name: kind for name, kind in samples.KINDS.items() if name in public} == public
    assert len(public) >= 9


OLD = Path(__file__).parent / "readers" / "inputs" / "netcalc_echo_old.json"


def test_a_file_of_trains_saved_before_their_column_was_called_index(tmp_path):
    columns = {"train": [1.0, 1.0], "packet_bytes": [1500.0] * 2, "sent_s": [0.0, 1e-3]}
    trains = samples.TrainSamples(**columns, index=[1.0, 2.0], received_s=[0.01, 0.02])
    document = json.loads(trains.save(tmp_path / "new.json").read_text())
    document["columns"]["place"] = document["columns"].pop("index")  # as files of before have it
    old = tmp_path / "old.json"
    old.write_text(json.dumps(document))
    assert samples.load(old) == trains
    document["columns"]["index"] = document["columns"]["place"]
    old.write_text(json.dumps(document))
    with pytest.raises(ReaderError) as refused:
        samples.load(old)
    assert (refused.value.code, refused.value.field) == ("two-of-one-name", "index")


def test_a_file_saved_before_warnings_had_codes():
    """Written by the code of then: warnings are text, the instrument is any mapping."""
    found = RttSamples.load(OLD)
    # identity: read in the file by eye
    assert found.rtt_s.tolist()[:2] == [0.0000523, 0.0000418]
    assert (found.sent, found.received, found.meta.partial) == (3, 2, True)
    said = "datagrams that are not of this run, ignored: 2"
    assert found.meta.warnings == (Notice("verbatim", {"text": said}),)
    instrument = found.meta.instrument
    assert (instrument.kernel, instrument.timer_resolution_s) == ("6.1.0", 1e-9)
    assert (instrument.foreign_count, instrument.lost_count) == (2, None)
    assert instrument.other == {"a_fact_of_then": 5}
    assert (found.meta.experiment, found.meta.protocol) == ("echo", "udp")
    assert samples.loads(found.dumps()) == found


@pytest.mark.each(
    ("tool", "target", "experiment", "protocol"),
    [
        ("netcalc echo", "127.0.0.1, ICMP", "echo", "icmp"),
        ("netcalc bulk", "emulated path, UDP", "bulk", "udp"),
        ("netcalc line-rate", "loopback, UDP", "line_rate", "udp"),
        ("netcalc lockstep", "loopback, TCP", "lockstep", "tcp"),
        ("netcalc small-writes", "loopback, TCP", "small_writes", "tcp"),
        ("netcalc transactions", "loopback", "transactions", ""),
        ("netcalc probing", "192.0.2.1, UDP with growing time to live", "probing", "udp"),
        ("netcalc packet trains", "192.0.2.1, UDP in trains", "packet_trains", "udp"),
        ("ping (iputils)", "192.0.2.1, UDP", "", ""),
    ],
)
def test_the_experiment_of_a_file_without_one(tool, target, experiment, protocol):
    document = json.loads(saved_bytes())
    document["meta"] |= {"tool": tool, "target": target}
    named = samples.loads(json.dumps(document).encode()).meta
    assert (named.experiment, named.protocol) == ("", ""), "a file that has the fields says so"
    del document["meta"]["experiment"], document["meta"]["protocol"]
    meta = samples.loads(json.dumps(document).encode()).meta
    assert (meta.experiment, meta.protocol) == (experiment, protocol)


@pytest.mark.each(
    "stored",
    [
        {"code": "of-a-later-version", "values": {"n": 1}, "text": "it said so"},
        {"code": "late-replies", "values": {}, "text": "it said so"},
        {"code": "late-replies", "values": {"count": "x", "timeout_s": []}, "text": "it said so"},
    ],
)
def test_a_warning_that_cannot_be_written_keeps_its_sentence(stored):
    document = json.loads(saved_bytes())
    document["meta"]["warnings"] = [stored]
    (notice,) = samples.loads(json.dumps(document).encode()).meta.warnings
    assert (notice.code, str(notice)) == ("verbatim", "it said so")


def test_unknown_keys_of_a_later_minor_format_are_ignored():
    document = json.loads(saved_bytes())
    document["meta"]["something_new"] = 1
    again = samples.loads(json.dumps(document).encode())
    assert len(again) == 6


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    path.write_text("old")
    monkeypatch.setattr(
        samples.saved.os, "fdopen", lambda *_: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(OSError, match="full"):
        some_round_trips().save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def some_transactions() -> samples.TransactionSamples:
    """Two ways of writing; the first round of each is warm-up, one has no response."""
    return samples.TransactionSamples(
        mode=["nagle", "nagle", "nagle", "single", "single"],
        sequence=[1, 2, 3, 1, 2],
        payload_bytes=[13, 13, 100, 13, 13],
        response_s=[0.06, 0.1, 0.12, 0.03, math.nan],
        tap_s=[math.nan, 0.09, math.nan, math.nan, math.nan],
        failed=[False, False, False, False, True],
        warm_up=[True, False, False, True, False],
    )


def test_rows_of_a_mode():
    found = some_transactions()
    # counted by hand in the rows above
    assert found.modes == ("nagle", "single")
    assert found.in_mode("nagle").tolist() == [False, True, True, False, False]
    assert found.in_mode("nagle", warm_up=True).tolist() == [True, True, True, False, False]
    assert not found.in_mode("single").any()
    assert [column.tolist() for column in found.minima("nagle")] == [[13, 100], [0.1, 0.12]]
    assert [column.tolist() for column in found.minima("nagle", column="tap_s")] == [[13], [0.09]]
    with pytest.raises(DomainError) as caught:
        found.minima("nagle", column="sequence")
    assert (caught.value.code, caught.value.value) == ("not-a-choice", "sequence")


def test_transactions_come_back_from_a_file(tmp_path):
    saved = some_transactions()
    found = samples.TransactionSamples.load(saved.save(tmp_path / "run.json"))
    for name, column in saved.columns().items():
        np.testing.assert_array_equal(getattr(found, name), column)
    empty = samples.TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    assert len(samples.load(empty.save(tmp_path / "empty.json"))) == 0


def test_what_is_masked_or_infinite_is_no_measurement():
    size = np.ma.masked_array([100.0, 200.0, 300.0], [False, True, False])
    samples = RttSamples(payload_bytes=size, rtt_s=[0.1, 0.2, np.inf])
    assert np.isnan(samples.payload_bytes[1])
    assert samples.measured.tolist() == [True, True, False]
    assert [column.tolist() for column in samples.minima()] == [[100.0], [0.1]]
    assert samples.received == 3  # a reply without a time that is one
    transfers = TransferSamples(payload_bytes=size, duration_s=[np.inf, 1.0, 1.0])
    assert transfers.measured.tolist() == [False, False, True]


@pytest.mark.each("whole", [pickle.dumps, None])
def test_units_travel_with_pickled_and_copied_samples(whole):
    samples = RttSamples(payload_bytes=[8, 9], rtt_s=[0.1, np.nan], lost=[False, True])
    again = copy.deepcopy(samples) if whole is None else pickle.loads(whole(samples))
    assert again.meta == samples.meta
    assert again.meta.units["rtt_s"] == "s"
    assert (again.sent, again.received) == (2, 1)


def test_a_file_behind_a_link_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    some_round_trips().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert samples.load(tmp_path / "real.json").sent == some_round_trips().sent


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(OSError, match="not a regular file") as caught:
            some_round_trips().save(path)
        assert caught.value.filename == str(path)
    assert (tmp_path / "fifo").is_fifo()


def test_a_failed_write_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        some_round_trips().save(tmp_path / "none" / "run.json")
    assert caught.value.filename == str(tmp_path / "none" / "run.json")


@pytest.mark.each(("name", "row"), [("payload_bytes", 2), ("rtt_s", 1)])
def test_a_negative_size_or_time_cannot_be(name, row):
    values = {"payload_bytes": [8.0, 9.0], "rtt_s": [0.1, 0.2]}
    values[name][row - 1] = -1.0
    with pytest.raises(DomainError) as caught:
        RttSamples(**values)
    assert caught.value.code == "is-negative"
    assert caught.value.values == {"name": name, "value": -1.0, "index": row - 1}


@pytest.mark.each(
    "text", ["[" * 100_000, '{"format": "netcalc samples", "schema": 1, "kind": ' + "[" * 100_000]
)
def test_json_of_any_depth_is_named(text):
    with pytest.raises(ReaderError) as caught:
        samples.loads(text.encode(), file="deep.json")
    assert caught.value.code == "incomplete-json"


def test_a_compressed_file_is_unpacked_up_to_a_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(samples.saved, "MAX_FILE_BYTES", 10_000)
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(ReaderError) as caught:
        samples.load(bomb)
    assert (caught.value.code, caught.value.values["limit_bytes"]) == ("samples-too-large", 10_000)
    some_round_trips().save(tmp_path / "small.json.gz")
    assert samples.load(tmp_path / "small.json.gz").sent == some_round_trips().sent


def test_what_a_killed_program_left_of_a_file_goes_with_the_next_one(tmp_path):
    """Fault E8: its part has no owner. One that is being written, and one of others, stay."""
    script = """
import os, signal, sys
from pathlib import Path
from netcalc import samples
samples.saved.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
samples.write_atomically(Path(sys.argv[1]), b"half")
"""
    path = tmp_path / "run [1].json"
    killed = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    handle, owned = samples.saved._own_part(path)
    others = tmp_path / "run [1].json.mine.part"
    others.write_text("mine")
    samples.write_atomically(path, b"whole")
    assert not left.exists()
    assert sorted(tmp_path.iterdir()) == sorted([owned, others, path])
    os.close(handle)
    samples.write_atomically(path, b"again")
    assert sorted(tmp_path.iterdir()) == sorted([others, path])
    assert path.read_bytes() == b"again"


def test_a_part_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, calls = samples.saved._lock, []

    def removed_first(descriptor, *, wait):
        calls.append(wait)
        if len(calls) == 1:
            Path(os.readlink(f"/proc/self/fd/{descriptor}")).unlink()  # noqa: PTH115
        return lock(descriptor, wait=wait)

    monkeypatch.setattr(samples.saved, "_lock", removed_first)
    samples.write_atomically(tmp_path / "run.json", b"whole")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"whole"]
    assert calls == [True, True]


def test_a_system_without_locks_writes_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    samples.write_atomically(tmp_path / "run.json", b"whole")
    samples.write_atomically(tmp_path / "run.json", b"again")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"again"]


def test_the_bits_of_what_a_packet_holds_are_those_of_saved_files():
    """A file of an earlier version has these numbers in its column."""
    bits = {layer.name: layer.value for layer in Layer}
    assert bits["IPV4"] == 1
    assert bits["IPV6"] == 2
    assert bits["TCP"] == 4
    assert list(bits.values()) == [1 << number for number in range(len(bits))]
