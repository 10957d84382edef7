"""What can be read from, what is told apart, and what is refused before it is read."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import pickle
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, read_columns, read_ping, sniff
from netcalc.readers import source as source_module
from netcalc.samples import Meta, RttSamples, Table

PING = (
    "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms\n"
)


@pytest.mark.parametrize("name", ["ping.txt", "ping.pcap", "ping.csv", "-", "--help", "a\nb", "ä"])
def test_path_of_any_name_is_read_by_content(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(PING)
    samples = read(Path(name))
    assert samples.received == 1
    assert samples.meta.source == name
    assert samples.meta.sha256 == hashlib.sha256(PING.encode()).hexdigest()


def test_name_that_is_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.txt"
    Path(os.fsdecode(path)).write_text(PING)
    samples = read(os.fsdecode(path))
    assert os.fsencode(samples.meta.source) == b"\xff\xfe.txt"
    with pytest.raises(ReaderError) as caught:
        read(os.fsdecode(path) + "x")
    assert str(caught.value).isprintable()


def test_path_as_text_bytes_and_file_objects(tmp_path):
    path = tmp_path / "ping.txt"
    path.write_text(PING)
    with path.open("rb") as binary, path.open() as text:
        for source in (str(path), PING, PING.encode(), bytearray(PING.encode()), io.StringIO(PING)):
            assert read(source).received == 1
        assert read(binary).meta.source == "ping.txt"
        assert read(text).received == 1
    assert read(PING.encode(), name="upload.txt").meta.source == "upload.txt"
    assert read(PING).meta.source == ""
    with pytest.raises(TypeError, match="source must be"):
        read(3)  # type: ignore[arg-type]


def test_saved_samples_are_read_back(tmp_path):
    saved = RttSamples(payload_bytes=[56], rtt_s=[0.001], meta=Meta(tool="echo"))
    for name in ("one.json", "one.json.gz", "one.txt"):
        path = saved.save(tmp_path / name)
        assert sniff(path) == "netcalc samples"
        again = read(path)
        assert isinstance(again, RttSamples)
        assert again.meta.tool == "echo"
    table = Table(data={"n": [1.0]}).save(tmp_path / "two.json")
    assert isinstance(read(table.read_bytes()), Table)


@pytest.mark.parametrize("text", ["", "\n", "  \r\n\t\n", "\ufeff"])
def test_empty(tmp_path, text):
    path = tmp_path / "empty.txt"
    path.write_text(text)
    with pytest.raises(ReaderError) as caught:
        read(path)
    code = "file-blank" if text.strip("\ufeff") else "file-empty"
    assert (caught.value.code, caught.value.file) == (code, "empty.txt")


def test_what_is_no_file(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, code in (
        (tmp_path / "absent", "no-such-file"),
        (tmp_path, "is-directory"),
        (fifo, "not-regular-file"),
        ("/dev/null", "not-regular-file"),
        (tmp_path / "x" / "y", "no-such-file"),
        ("a" * 4096, "no-such-file"),
        ("a\0b", "invalid-file-name"),
    ):
        with pytest.raises(ReaderError) as caught:
            read(path)
        assert caught.value.code == code


def test_what_python_can_do_is_a_note_of_the_traceback():
    with pytest.raises(ReaderError) as caught:
        read("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms")
    error = caught.value
    assert error.__notes__ == [
        "A str is read as text if it contains a line break, otherwise as a path"
    ]
    assert error.hint == "Check the name and the folder"
    assert error.python_hint == error.__notes__[0]
    with pytest.raises(ReaderError) as caught:
        read_columns("size,rtt_ms\n56,1.5\n")
    assert caught.value.hint == "Write size [B] in the header"
    assert caught.value.__notes__ == ["Or give the unit: units={'size': 'B'}"]
    assert "units=" not in str(caught.value)
    assert pickle.loads(pickle.dumps(error)).__notes__ == error.__notes__


def test_no_permission(monkeypatch, tmp_path):
    path = tmp_path / "ping.txt"
    path.write_text(PING)

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source_module.os, "open", refuse)
    with pytest.raises(ReaderError) as caught:
        read(path)
    assert caught.value.code == "no-permission"


def test_escape_codes_in_names_and_values_are_not_echoed(tmp_path):
    with pytest.raises(ReaderError) as caught:
        read(tmp_path / "a\x1b[31mb")
    assert str(caught.value).isprintable()
    with pytest.raises(ReaderError) as caught:
        read_columns("size/B,rtt/ms\n56,\x1b]0;x\x07fast\n57,\x02\u202e\n")
    assert str(caught.value).isprintable()


def test_stream_that_fails():
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError("gone")

    with pytest.raises(ReaderError) as caught:
        read(Broken())
    assert (caught.value.code, caught.value.values["reason"]) == ("unreadable-file", "gone")
    with pytest.raises(ReaderError) as caught:
        read(io.TextIOWrapper(io.BytesIO(b"\xff\xff\n"), encoding="utf-8"))
    assert (caught.value.code, caught.value.offset) == ("wrong-encoding", 0)


def test_file_that_grows_is_partial(monkeypatch, tmp_path):
    path = tmp_path / "ping.txt"
    path.write_text(PING)
    sizes = iter([len(PING), 2 * len(PING)])
    real = os.fstat

    def growing(handle: int) -> os.stat_result:
        status = list(real(handle))
        status[6] = next(sizes)
        return os.stat_result(status)

    monkeypatch.setattr(source_module.os, "fstat", growing)
    opened = source_module.open_source(path)
    monkeypatch.undo()
    samples = read_ping(opened)
    assert samples.meta.partial
    assert Notice("file-grew") in samples.meta.warnings


def test_too_large(monkeypatch, tmp_path):
    monkeypatch.setattr(source_module, "MAX_BYTES", 1000)
    (tmp_path / "big.txt").write_bytes(b"1" * 1001)
    for source in (tmp_path / "big.txt", b"1" * 1001, io.BytesIO(b"1" * 1001)):
        with pytest.raises(ReaderError) as caught:
            read(source)
        assert (caught.value.code, caught.value.values["limit_bytes"]) == ("file-too-large", 1000)
    with pytest.raises(ReaderError) as caught:
        read(gzip.compress(b"1" * 100_000))
    assert caught.value.code == "too-large-uncompressed"


def test_long_lines_are_skipped_and_named():
    samples = read(PING + "x" * 3_000_000 + "\n" + PING.partition("\n")[2].replace("=1 ", "=2 "))
    assert samples.received == 2
    too_long = {"numbers": [3], "limit": 1024 * 1024}
    assert Notice("lines-too-long", too_long) in samples.meta.warnings


KINDS = {
    "ELF": b"\x7fELF\x02\x01\x01" + bytes(9),
    "zip": b"PK\x03\x04" + bytes(20),
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "notebook": b'{"cells": [], "nbformat": 4}\n',
    "JSON": b'{"a": 1}\n',
    "XML": b'<?xml version="1.0"?>\n<a/>\n',
    "HTML": b"<!DOCTYPE html>\n<html></html>\n",
}  # fmt: skip
READERS = {read: "other-format", read_ping: "not-ping-output", read_columns: "not-columns"}


@pytest.mark.each(
    ("kind", "pack"),
    [(kind, pack) for kind in KINDS
     for pack in (bytes, gzip.compress, bz2.compress, lzma.compress)],
)  # fmt: skip
def test_other_formats_are_refused_by_name(kind, pack):
    data = pack(KINDS[kind])
    assert sniff(data) == kind
    for reader, code in READERS.items():
        with pytest.raises(ReaderError) as caught:
            reader(data)
        unknown = {"JSON": "unknown-json", "XML": "unknown-xml"} if reader is read else {}
        assert caught.value.code == unknown.get(kind, code)
        assert caught.value.values["kind"] == kind


@pytest.mark.each(
    ("data", "code", "value"),
    [
        (b'{"start": 1, "b\\u001b[31m": {}}', "unknown-json", ["start", "b\x1b[31m"]),
        (b'[{"t": 1}, {"u": 2}]', "unknown-json", ["t"]),
        (b'{"' + b"n" * 99 + b'": 1}', "unknown-json", ["n" * 57 + "..."]),
        (json.dumps(dict.fromkeys("abcdefghij")).encode(), "unknown-json", list("abcdefgh")),
        (b'["a", []]', "other-format", "JSON of an unknown kind"),
        (b'<?xml version="1.0"?>\n<!-- <a/> -->\n<ns:b c="1"/>', "unknown-xml", "ns:b"),
        (b"<rpc-reply\nxmlns='x'/>", "unknown-xml", "rpc-reply"),
    ],
)
def test_unknown_documents_are_refused_by_what_is_in_them(data, code, value):
    with pytest.raises(ReaderError) as caught:
        read(data)
    assert caught.value.code == code
    assert value in caught.value.values.values()
    assert str(caught.value).isprintable()


def test_damaged_json_is_refused_with_its_place():
    for data, line, code in (
        (b'{"a": 1,\n "b": [2,]}\n', 2, "damaged-json"),
        (b'{"start": {"connected": [\n', 1, "json-cut-short"),
        (b'{"a": \n', 1, "json-cut-short"),
    ):
        assert sniff(data) == "damaged JSON"
        with pytest.raises(ReaderError) as caught:
            read(data)
        assert caught.value.code == code
        assert caught.value.line >= line


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read_by_what_is_in_them(pack, tmp_path):
    path = tmp_path / "ping.txt"
    path.write_bytes(pack(PING.encode()))
    samples = read(path)
    assert samples.received == 1
    assert samples.meta.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(ReaderError):
        read(path.read_bytes()[:-9])


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_a_packed_file_has_the_limit_of_any_input(pack, monkeypatch):
    monkeypatch.setattr(source_module, "MAX_BYTES", 10_000)
    with pytest.raises(ReaderError) as caught:
        read(pack(b"1 2\n" * 1_000_000))
    assert caught.value.code == "too-large-uncompressed"


def test_a_file_with_a_mark_is_not_read_whole(monkeypatch, tmp_path):
    """The kind of a file of any size shows in its head."""
    monkeypatch.setattr(source_module, "MAX_BYTES", 100_000)
    path = tmp_path / "big"
    path.write_bytes(KINDS["ELF"] + bytes(1_000_000))
    assert sniff(path) == "ELF"
    path.write_text(PING * 10_000)
    with pytest.raises(ReaderError) as caught:
        read(path)
    assert caught.value.code == "file-too-large"


@pytest.mark.each(
    "data",
    [b"\x00" * 50, b"64 bytes \x00 from", bytes(range(256)) * 4, b"\x01\x02\x03" * 30],
)
def test_binary_data_is_refused_with_the_offset(data):
    with pytest.raises(ReaderError) as caught:
        read(data)
    assert caught.value.code == "binary-data"
    assert caught.value.offset is not None
    assert data[caught.value.offset] < 32


def test_deep_json_and_cut_gzip():
    for data in (
        b"[" * 100_000,
        b'{"a":' * 100_000,
        gzip.compress(PING.encode(), mtime=0)[:-5],
        b"\x1f\x8bxx",
    ):
        with pytest.raises(ReaderError):
            read(data)
    with pytest.raises(ReaderError) as caught:
        read(json.dumps({"format": "netcalc samples", "schema": 99}) + "\n")
    assert caught.value.code == "later-schema"


def test_errors_are_json_ready():
    with pytest.raises(ReaderError) as caught:
        read("size,rtt_ms\n56,1.5\n")
    fields = json.loads(json.dumps(caught.value.as_dict()))
    assert fields["type"] == "ReaderError"
    assert fields["line"] == 1
    assert fields["field"] == "size"
    assert fields["expected"] == "a unit: 56 B or 56 bit"
    assert fields["what"] == "has no unit"
