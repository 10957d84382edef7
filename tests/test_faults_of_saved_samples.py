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
    for part, change in changes.items():
        document[part] = {**document[part], **change} if isinstance(change, dict) else change
    return json.dumps(document).encode()


@pytest.mark.parametrize("bits", [0x01, 0xFF])
def test_a_compressed_file_with_any_byte_changed(bits):
    whole = gzip.compress(SAVED, mtime=0)
    right = 0
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= bits
        for reader in (samples.loads, read):
            try:
                again = reader(bytes(data))
            except ReaderError:
                continue
            assert again.columns()["rtt_s"].tolist() == [0.1, 0.2]
            right += 1
    assert right > 0, "the time and the system in the header of gzip do not matter"


@pytest.mark.parametrize("place", range(0, len(SAVED) - 2, 37))
def test_a_file_that_is_cut(place):
    for data in (SAVED[:place], gzip.compress(SAVED, mtime=0)[: place // 4]):
        for reader in (samples.loads, read):
            with pytest.raises(ReaderError):
                reader(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (changed(columns={"rtt_s": ["0.1", 0.2]}), "rtt_s is '0.1' in row 1"),
        (changed(columns={"rtt_s": [0.1, True]}), "rtt_s is True in row 2"),
        (changed(columns={"rtt_s": [0.1, [0.2]]}), "rtt_s is .0.2. in row 2"),
        (changed(columns={"lost": [False, "no"]}), "lost is 'no' in row 2"),
        (changed(columns={"lost": [False, 1]}), "lost is 1 in row 2"),
        (changed(columns={"rtt_s": "fast"}), "rtt_s is no column"),
        (changed(columns={"rtt_s": [0.1, -0.2]}), "rtt_s is -0.2 in row 2, allowed is 0 or more"),
        (SAVED.replace(b"0.1", b"1" + b"0" * 400), "too large"),
        (changed(columns={"speed": [1, 2]}), "speed"),
        (changed(fields={"sent_count": "two"}), "sent_count is 'two', no number"),
        (changed(fields=[1]), "damaged"),
        (changed(meta={"warnings": "one"}), "meta.warnings is 'one'"),
        (changed(meta={"units": 5}), "meta.units is 5"),
        (changed(meta={"note": ["a"]}), "meta.note is"),
        (changed(meta={"partial": "no"}), "meta.partial is 'no'"),
        (changed(kind=["RttSamples"]), "unknown kind"),
        (changed(kind=None), "unknown kind"),
        (changed(schema=None), "does not say its format"),
        (changed(schema=True), "does not say its format"),
        (changed(schema=0), "does not say its format"),
        (changed(schema=2), "later format"),
        (SAVED.replace(b'"lost"', b'"rtt_s"'), "field rtt_s: .* two of one name"),
    ],
)
def test_a_value_of_another_kind_is_named(data, said):
    for reader in (samples.loads, read):
        with pytest.raises(ReaderError, match=said):
            reader(data)


def test_what_is_missing_or_infinite_comes_back_as_such():
    found = samples.loads(changed(columns={"rtt_s": [None, "inf"]}))
    assert str(found.columns()["rtt_s"].tolist()) == "[nan, inf]"
    assert found.meta.warnings == ("a line was skipped",)


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
    place = {"device": "/dev/zero", "folder": tmp_path}.get(kind, tmp_path / kind)
    if kind == "pipe":
        os.mkfifo(place)
    with pytest.raises(ReaderError, match="cannot be read"):
        samples.load(place)


def test_a_file_beyond_the_limit_is_not_taken_into_memory(tmp_path, monkeypatch):
    """The size is that of a file without content: nothing could be read of it in time."""
    monkeypatch.setattr(samples._load, "MAX_FILE_BYTES", 10**9)
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ReaderError, match="too large; expected at most 1000000000 bytes"):
        samples.load(tmp_path / "huge.json")
