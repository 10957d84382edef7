"""Saved samples that were damaged, edited by hand or made by somebody else.

The right numbers come back, or a ReaderError that names the file; never a bare error, never a
text or a truth value taken for a number.
"""

from __future__ import annotations

import gzip
import json
import os

import pytest

from netcalc import samples
from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read
from netcalc.samples import Meta, RttSamples, Table

SAVED = RttSamples(
    payload_bytes=[56, 56],
    rtt_s=[0.1, 0.2],
    lost=[False, False],
    meta=Meta(tool="ping", warnings=("a line was skipped",)),
).dumps()


def changed(**changes):
    """Return the file with values of its parts replaced: ``columns={"rtt_s": [1]}``."""
    document = json.loads(SAVED)
    del document["columns_sha256"]
    for part, change in changes.items():
        document[part] = {**document[part], **change} if isinstance(change, dict) else change
    return json.dumps(document).encode()


@pytest.mark.each("bits", [0x01, 0xFF])
def test_a_compressed_file_with_any_byte_changed(bits):
    whole = gzip.compress(SAVED, mtime=0)
    right = 0
    for index in range(len(whole)):
        data = bytearray(whole)
        data[index] ^= bits
        for reader in (samples.loads, read):
            try:
                again = reader(bytes(data))
            except ReaderError:
                continue
            assert again.columns()["rtt_s"].tolist() == [0.1, 0.2]
            right += 1
    assert right > 0, "the time and the system in the header of gzip do not matter"


@pytest.mark.each("end", range(0, len(SAVED) - 2, 37))
def test_a_file_that_is_cut(end):
    for data in (SAVED[:end], gzip.compress(SAVED, mtime=0)[: end // 4]):
        for reader in (samples.loads, read):
            with pytest.raises(ReaderError):
                reader(data)


@pytest.mark.each(
    ("data", "code", "field", "found"),
    [
        (changed(columns={"rtt_s": ["0.1", 0.2]}), "row-of-other-type", "rtt_s", ("0.1", 1)),
        (changed(columns={"rtt_s": [0.1, True]}), "row-of-other-type", "rtt_s", ("true", 2)),
        (changed(columns={"rtt_s": [0.1, [0.2]]}), "row-of-other-type", "rtt_s", ("[0.2]", 2)),
        (changed(columns={"lost": [False, "no"]}), "row-of-other-type", "lost", ("no", 2)),
        (changed(columns={"lost": [False, 1]}), "row-of-other-type", "lost", ("1", 2)),
        (changed(columns={"rtt_s": "fast"}), "part-of-other-type", "rtt_s", ("fast", None)),
        (changed(columns={"rtt_s": [0.1, -0.2]}), "row-negative", "rtt_s", (None, 2)),
        (SAVED.replace(b"0.1", b"1" + b"0" * 400), "row-too-large", "rtt_s", (None, 1)),
        (changed(columns={"speed": [1, 2]}), "no-such-part", "speed", (None, None)),
        (changed(fields={"sent_count": "two"}), "part-of-other-type", "sent_count", ("two", None)),
        (changed(fields={"speed": 1}), "no-such-part", "speed", (None, None)),
        (changed(fields=[1]), "part-of-other-type", "fields", ("[1]", None)),
        (changed(meta={"warnings": "one"}), "part-of-other-type", "meta.warnings", ("one", None)),
        (changed(meta={"warnings": [1]}), "damaged-samples", "meta.warnings", (None, None)),
        (changed(meta={"units": 5}), "part-of-other-type", "meta.units", ("5", None)),
        (changed(meta={"note": ["a"]}), "part-of-other-type", "meta.note", ('["a"]', None)),
        (changed(meta={"partial": "no"}), "part-of-other-type", "meta.partial", ("no", None)),
        (changed(kind=["RttSamples"]), "unknown-kind", "kind", ('["RttSamples"]', None)),
        (changed(kind=None), "unknown-kind", "kind", ("null", None)),
        (changed(schema=None), "no-schema", "schema", ("null", None)),
        (changed(schema=True), "no-schema", "schema", ("true", None)),
        (changed(schema=0), "no-schema", "schema", ("0", None)),
        (changed(schema=2), "later-schema", "schema", ("2", None)),
        (SAVED.replace(b'"lost"', b'"rtt_s"'), "two-of-one-name", "rtt_s", (None, None)),
    ],
)
def test_a_value_of_another_kind_is_named(data, code, field, found):
    for reader in (samples.loads, read):
        with pytest.raises(ReaderError) as caught:
            reader(data)
        error = caught.value
        assert (error.code, error.field) == (code, field)
        assert (error.value, error.values.get("row")) == found
        assert str(error).isprintable()


def test_what_is_missing_or_infinite_comes_back_as_such():
    found = samples.loads(changed(columns={"rtt_s": [None, "inf"]}))
    assert str(found.columns()["rtt_s"].tolist()) == "[nan, inf]"
    assert found.meta.warnings == (Notice("verbatim", {"text": "a line was skipped"}),)


def test_other_encodings_of_json_are_the_same_samples():
    for data in (b"\xef\xbb\xbf" + SAVED, SAVED.decode().encode("utf-16"), SAVED + b" \n"):
        assert samples.loads(data).columns()["rtt_s"].tolist() == [0.1, 0.2]


def test_text_that_could_be_a_formula_or_markup_stays_text(tmp_path):
    words = ["=HYPERLINK(0)", "<script>", "\x1b[31m", "../..", "$(reboot)"]
    table = Table(data={"host": words, "n": [1.0] * 5})
    again = samples.load(table.save(tmp_path / "t.json"))
    assert again["host"].tolist() == words


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "absent"])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, kind):
    """A pipe nobody writes to never opens, and /dev/zero never ends."""
    path = {"device": "/dev/zero", "folder": tmp_path}.get(kind, tmp_path / kind)
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(ReaderError) as caught:
        samples.load(path)
    codes = {"folder": "is-directory", "absent": "unreadable-file"}
    assert caught.value.code == codes.get(kind, "not-regular-file")


def test_a_file_beyond_the_limit_is_not_taken_into_memory(tmp_path, monkeypatch):
    """The size is that of a file without content: nothing could be read of it in time."""
    monkeypatch.setattr(samples.saved, "MAX_FILE_BYTES", 10**9)
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ReaderError) as caught:
        samples.load(tmp_path / "huge.json")
    assert (caught.value.code, caught.value.values["limit_bytes"]) == ("samples-too-large", 10**9)
