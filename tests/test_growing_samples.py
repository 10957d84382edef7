"""Files that grow during a run, checksums of columns, what is on the disk, and newer versions."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from netcalc import samples
from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.readers.saved import csv_text
from netcalc.samples import KINDS, REVISION, GrowingFile, Meta, RttSamples, Table
from netcalc.samples import saved as files

RTT_S = np.linspace(1e-3, 2e-3, 300)
RTT_S[7] = np.nan


def probes(count, rtt_s=RTT_S, **meta):
    """Return the first probes of a run, with texts, flags, and numbers that are not known."""
    rtt_s = rtt_s[:count]
    group = ["idle" if number % 3 else "forward" for number in range(count)]
    return RttSamples(
        payload_bytes=np.full(count, 64.0), rtt_s=rtt_s, lost=np.isnan(rtt_s), group=group,
        meta=Meta(tool="netcalc echo", instrument={"duration_s": count * 0.1}, **meta),
    )  # fmt: skip


def grown(path, *parts, add=False):
    """Write samples to a file that grows; return its size after each."""
    file, sizes = GrowingFile(path), []
    for part in parts:
        (file.add if add else file.keep)(part)
        sizes.append(path.stat().st_size)
    file.close()
    return sizes


def require_same_columns(found, wanted):
    assert found.columns().keys() == wanted.columns().keys()
    for name, column in wanted.columns().items():
        np.testing.assert_array_equal(found.columns()[name], column, err_msg=name)


@pytest.mark.each("name", ["run.json", "run.json.gz"])
def test_what_was_kept_comes_back_and_is_partial(tmp_path, name):
    path = tmp_path / name
    sizes = grown(path, probes(100), probes(200), probes(200), probes(300))
    # identity: the same rows as of samples that are saved at once
    for found in (samples.load(path), read(path)):
        require_same_columns(found, probes(300))
        assert found.meta.partial
        notice = found.meta.warnings[-1]
        assert (notice.code, notice.values["lasted_s"]) == ("run-not-ended", 30.0)
    assert sizes[2] - sizes[1] < (sizes[1] - sizes[0]) / 2, "no row is written twice"
    assert not list(tmp_path.glob("*.part"))


def test_rows_that_change_later_are_written_again(tmp_path):
    later = RTT_S.copy()
    later[[120, 150]] = 7.0
    grown(tmp_path / "run.json", probes(100), probes(200), probes(250, later), probes(90, later))
    require_same_columns(samples.load(tmp_path / "run.json"), probes(90, later))
    grown(tmp_path / "run.json", probes(200), probes(250, later))
    require_same_columns(samples.load(tmp_path / "run.json"), probes(250, later))


def test_parts_stand_one_behind_the_other(tmp_path):
    parts = [
        Table(data={"row": ["a"] * 3, "size": [1.0, 2.0, np.nan]}),
        Table(data={"row": [], "size": []}),
        Table(data={"row": ["b", "c"], "size": [np.nan, np.inf]}),
    ]
    grown(tmp_path / "run.json", *parts, add=True)
    found = samples.load(tmp_path / "run.json")
    assert found["row"].tolist() == ["a", "a", "a", "b", "c"]
    np.testing.assert_array_equal(found["size"], [1, 2, np.nan, np.nan, np.inf])


@pytest.mark.each("name", ["run.json", "run.json.gz"])
def test_a_file_that_is_cut_anywhere_has_all_parts_before_the_cut(tmp_path, name):
    path, counts = tmp_path / name, (100, 200, 300)
    sizes = grown(path, *map(probes, counts))
    whole = path.read_bytes()
    for end in range(sizes[0], len(whole) + 1, 173):
        found = samples.loads(whole[:end])
        # The last line is whole without its end of line.
        lines = sum(size - 1 <= end for size in sizes) if name == "run.json" else None
        if lines is None:
            lines = max(1, sum(size <= end for size in sizes))
            assert len(found) in {counts[lines - 1], counts[min(lines, 2)]}
        else:
            assert len(found) == counts[lines - 1]
    assert len(samples.loads(whole[:-1] + b"\0" * 100 if name == "run.json" else whole)) in counts


def test_a_damaged_line_within_is_refused(tmp_path):
    grown(tmp_path / "run.json", probes(100), probes(200), probes(300))
    lines = (tmp_path / "run.json").read_bytes().split(b"\n")
    changed = lines[2].replace(b'"first": 100', b'"first": 101')
    assert changed != lines[2]
    for damaged in (
        [*lines[:2], changed, *lines[3:]],
        [*lines[:1], *lines[2:]],
        [*lines[:3], lines[3][:-9], b""],
    ):
        with pytest.raises(ReaderError) as caught:
            samples.loads(b"\n".join(damaged))
        assert caught.value.code == "damaged-line"
        assert caught.value.line in {2, 3, 4}


HOSTILE = [
    ("first", -1), ("first", 1e400), ("first", "x"), ("columns", []), ("columns", {}), ("meta", 7),
    ("meta", {"warnings": 7}), ("meta", {"instrument": {"duration_s": "x"}, "warnings": [7]}),
    *(
        ("columns", {"payload_bytes": {"type": "<f8", "data": "", **packed}})
        for packed in (
            {"begin": 0, "count": 10**12}, {"begin": -5, "count": 3}, {"begin": 0, "count": "3"},
            {"begin": 0, "count": 10**30}, {"data": "AAAA"}, {"data": "\u00e9"}, {"data": 7},
            {"type": "O"}, {"type": []}, {"texts": ["a"]},
            {"texts": [[1], 2], "data": "AAAAAAAAAAA="},
        )
    ),
]  # fmt: skip


@pytest.mark.each("name, value", HOSTILE)
def test_a_line_that_was_made_to_harm_is_refused(tmp_path, name, value):
    """derived: each with a checksum that fits, which anybody can compute."""
    grown(tmp_path / "run.json", probes(10))
    head, line, _ = (tmp_path / "run.json").read_bytes().split(b"\n")
    body = {**json.loads(line), name: value}
    del body["sha256"]
    text = json.dumps(body).encode()[1:]
    summed = b'{"sha256": "' + hashlib.sha256(text).hexdigest().encode() + b'", ' + text
    with pytest.raises(ReaderError):
        samples.loads(b"\n".join([head, summed, b""]))


def test_a_full_disk_keeps_what_was_written_and_the_next_time_has_all(tmp_path, monkeypatch):
    path, write = tmp_path / "run.json", os.write
    file = GrowingFile(path)
    file.keep(probes(100))
    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(OSError, match=r"run\.json"):
        file.keep(probes(200))
    assert len(samples.load(path)) == 100
    monkeypatch.setattr(files.os, "write", write)
    file.keep(probes(300))
    file.close()
    require_same_columns(samples.load(path), probes(300))


def test_parts_that_found_the_disk_full_are_written_the_next_time(tmp_path, monkeypatch):
    path, write = tmp_path / "run.json", os.write
    file = GrowingFile(path)
    file.add(Table(data={"n": [1.0]}))
    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(OSError, match=r"run\.json"):
        file.add(Table(data={"n": [2.0]}))
    monkeypatch.setattr(files.os, "write", write)
    file.add(Table(data={"n": [3.0]}))
    file.close()
    assert samples.load(path)["n"].tolist() == [1, 2, 3]


def full(*_):
    raise OSError(28, "No space left on device")


# --- On the disk --------------------------------------------------------------------------------


def test_a_file_and_its_name_are_on_the_disk_before_it_is_called_saved(tmp_path, monkeypatch):
    done, sync, replace = [], os.fsync, Path.replace

    def noted_sync(handle):
        is_folder = os.path.isdir(f"/proc/self/fd/{handle}")  # noqa: PTH112
        done.append("folder" if is_folder else "file")
        sync(handle)

    def noted_replace(part, path):
        done.append("rename")
        return replace(part, path)

    monkeypatch.setattr(files.os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    probes(3).save(tmp_path / "run.json")
    # identity: the content before the name, and then the name
    assert done == ["file", "rename", "folder"]
    done.clear()
    grown(tmp_path / "growing.json", probes(100), probes(200))
    assert done == ["rename"], "a run in progress does not wait for the disk"


def test_a_disk_that_refuses_to_sync_is_an_error_and_the_file_of_before_stays(
    tmp_path, monkeypatch
):
    path = probes(3).save(tmp_path / "run.json")
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=r"run\.json"):
        probes(9).save(path)
    assert len(samples.load(path)) == 3
    assert {entry.name for entry in tmp_path.iterdir()} == {"run.json"}


# --- Checksums ----------------------------------------------------------------------------------


def changed(**parts):
    """Return a saved file with other parts."""
    return json.dumps({**json.loads(probes(3).dumps()), **parts}).encode()


@pytest.mark.each("compressed", [False, True])
def test_other_numbers_than_were_saved_are_refused(compressed):
    columns = json.loads(probes(3).dumps())["columns"]
    tenfold = {**columns, "rtt_s": [10 * value for value in columns["rtt_s"]]}
    data = changed(columns=tenfold)
    with pytest.raises(ReaderError) as caught:
        samples.loads(gzip.compress(data) if compressed else data, file="run.json")
    assert (caught.value.code, caught.value.field) == ("samples-changed", "columns")
    assert "\n" not in str(caught.value)
    assert 'remove the entry "columns_sha256"' in str(caught.value)
    of_before = json.loads(data)
    del of_before["columns_sha256"], of_before["revision"], of_before["version"]
    found = samples.loads(json.dumps(of_before).encode())
    np.testing.assert_allclose(found.rtt_s, 10 * RTT_S[:3])


@pytest.mark.each("indent", [None, 4])
def test_another_form_of_the_same_numbers_is_read(indent):
    """identity: other programs write 0.0010 as 1e-3, in another order, in lines of their own."""
    document = json.loads(probes(20).dumps())
    document["columns"] = dict(reversed(document["columns"].items()))
    text = json.dumps(document, indent=indent, sort_keys=True).replace("64.0", "6.4e1")
    require_same_columns(samples.loads(text.encode()), probes(20))


@pytest.mark.each("data", [
    {"a": ["inf", "-inf"], "b": [np.inf, -0.0]}, {"a": ["inf", "x"], "b": [np.nan, -np.nan]},
    {"a": [True, False], "b": [2.0**63, 1.8e19]}, {"a": [], "b": []},
])  # fmt: skip
def test_no_table_is_refused_that_was_saved(data):
    table = Table(data=data)
    again = samples.loads(table.dumps())
    np.testing.assert_array_equal(again["b"], table["b"])


def test_a_table_that_was_exported_has_no_checksum_to_break(tmp_path):
    (tmp_path / "run.csv").write_text(csv_text(probes(3)).replace("0.001,", "0.002,"))
    assert read(tmp_path / "run.csv").rtt_s[0] == 0.002


# --- Newer versions -----------------------------------------------------------------------------


@pytest.mark.each("part, value", [
    ("kind", "CloudSamples"),
    ("columns", {**json.loads(probes(3).dumps())["columns"], "ecn_marked": [1.0, 1.0, 1.0]}),
    ("fields", {"ecn_count": 3}),
    ("columns", {"payload_bytes": [{"value": 64}], "rtt_s": [0.1]}),
])  # fmt: skip
def test_what_a_newer_version_added_is_called_so(part, value):
    newer = {part: value, "revision": REVISION + 1, "version": "9.1"}
    with pytest.raises(ReaderError) as caught:
        samples.loads(changed(**newer))
    assert caught.value.code == "later-samples"
    assert "was made by a newer version of netcalc (9.1; this is " in str(caught.value)
    assert "Update" in str(caught.value)
    for same in ({"revision": REVISION}, {"revision": "x"}):
        with pytest.raises(ReaderError) as caught:
            samples.loads(changed(**{**newer, **same}))
        assert caught.value.code != "later-samples", "of this version it is damaged"


def test_a_file_of_a_newer_version_without_news_is_read():
    found = samples.loads(changed(revision=REVISION + 1, version="9.1"))
    require_same_columns(found, probes(3))


NAMES_OF_REVISIONS = {1: "17606ba7612d481b311809946dba7c2e75a54755c03df864627bce86a7092c37"}
"""Of each revision: the SHA-256 of all names."""


def test_each_new_name_raises_the_revision():
    """identity: a kind, column or field that comes raises ``REVISION``, with a line above."""
    kinds = {name: kind for name, kind in KINDS.items() if kind.__module__.startswith("netcalc.")}
    names = [f"{name}.{item.name}" for name, kind in sorted(kinds.items()) for item in fields(kind)]
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
    assert NAMES_OF_REVISIONS.get(REVISION) == digest, f"REVISION {REVISION + 1}: {digest!r}"
