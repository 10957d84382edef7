"""JSON of other tools: several documents, faults with their place, numbers that are none."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, read_columns, read_ping, sniff
from netcalc.readers.document import member, number, read_documents, rows, words
from netcalc.readers.format import Input
from netcalc.readers.source import Source, unpack


def documents(text):
    return Input(text).json


def test_documents_in_a_row_and_in_lines():
    found = documents('{"a": 1}\n{"a": 2} {"a": 3}\n')
    assert [one["a"] for one in found.documents] == [1, 2, 3]
    assert found.fault is None
    assert documents('["a", 2]\n').documents == (["a", 2],)
    assert documents("[1, 2]\n").documents == ()  # may be the line of a tool: [ 5] local ...
    assert documents("size_bytes,rtt_ms\n1,2\n").documents == ()


def test_bom_and_utf_16():
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le"):
        found = Input('{"täg": [1]}\n'.encode(encoding)).json
        assert found.documents == ({"täg": [1]},)


@pytest.mark.each(
    ("text", "code", "line", "offset"),
    [
        ('{"a": 1}\n{"a": 2,\n "b": }\n', "damaged-json", 3, 24),
        ('{"a": 1}\n{"a": \n', "json-cut-short", 3, 16),
        ('{"ä": [1, 2\n', "json-cut-short", 2, 13),
        ('\n\n{"a": 1}\n{"a": ', "json-cut-short", 4, 17),
        ('{"a": 1} }', "damaged-json", 1, 9),
        ("[" * 100_000, "json-too-deep", None, None),
        ('{"a": ' + "9" * 5000 + "}\n", "damaged-json", 1, 0),
    ],
)
def test_a_fault_has_its_place(text, code, line, offset):
    """Lines and bytes counted by hand in the texts; a letter with two dots is two bytes."""
    fault = Input(text.encode()).json.fault
    assert (fault.code, fault.line, fault.offset) == (code, line, offset)


@pytest.mark.each(
    ("text", "value"),
    [
        ('{"a": x}', "x}"),
        ('{"a": 1, x\ny}', "x"),
        ('{"a": ' + "x" * 50 + "}", "x" * 40),
        ('{"a": 1,\n "b": ', None),
    ],
)
def test_a_fault_shows_what_is_there(text, value):
    """At most forty characters of the line."""
    assert documents(text + "\n").fault.values.get("value") == value


def test_documents_before_a_fault_are_kept():
    assert len(documents('{"a": 1}\n{"a": \n').documents) == 1
    with pytest.raises(ValueError, match="JSON"):
        documents('{"a": 1}\n{"a": \n').only()


@pytest.mark.each("written", ["nan", "-nan", "NaN", "inf", "-inf", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_unknown(written):
    found = documents('{"a": ' + written + ', "b": [1, ' + written + "]}\n")
    assert found.documents == ({"a": None, "b": [1, None]},)
    assert Notice("json-no-number", {"count": 2}) in found.warnings


def test_names_given_twice_are_named():
    found = documents('{"a": 1, "b": {"a": 2, "a": 3}}\n')
    assert found.documents == ({"a": 1, "b": {"a": 3}},)
    assert [notice.code for notice in found.warnings] == ["json-twins"]


def test_members_of_other_types_are_not_there():
    row = {"n": 1, "t": True, "s": "3", "big": 10**400, "l": [{"a": 1}, 2], "o": {"p": {"q": 1}}}
    assert number(row, "n") == 1
    for name in ("t", "s", "big", "absent"):
        assert number(row, name) != number(row, name)
    assert number(row, "s", "n") == 1
    assert (words(row, "n", "s"), words(row, "n")) == ("3", "")
    assert (member(row, "o", "p"), member(row, "l", "p"), member(3, "a")) == ({"q": 1}, {}, {})
    assert (list(rows(row, "l")), list(rows(row, "n"))) == ([{"a": 1}], [])


def test_a_document_of_saved_samples_is_one_of_netcalc():
    assert read_documents(Input(json.dumps({"a": [1]}) + "\n").unpacked).only() == {"a": [1]}


def test_what_begins_as_json_does():
    for text in ('{"a": 1}', " \n[{}]", "[[1]]", '["a"]', "[]", "[1, 2]x\n", "[-1.5,\n2]", "[3]\n"):
        assert Input(text + "\n").is_json is (text != "[1, 2]x\n"), text
    for text in ("[ 5] local 192.0.2.1", "a: {}", "[5 x", "[1.]"):
        assert not Input(text + "\n").is_json, text
    assert Input('[{"b": 1, "a": 2}]\n').keys() == {"a", "b"}
    assert Input('{"c": 1}\n{"d": 2}\n').keys() == {"c"}
    for text in ("[]\n", "[[]]\n", '["x"]\n', "x\n"):
        assert Input(text).keys() == frozenset()


def test_an_input_is_recognized_by_its_first_lines_and_characters(tmp_path):
    """64 KiB of a file, 60 lines, 500 characters of each."""
    lines = [f"line {n}" for n in range(1, 100)]
    lines[9] = "x" * 499 + "ab"
    given = Input("\n".join(lines) + "\n")
    assert given.first.split("\n") == [*lines[:9], "x" * 499 + "a", *lines[10:60]]
    assert given.seen("^line 60$")
    assert not given.seen("^line 61$")
    assert not given.seen("^ine 60$")
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * 70_000)
    for one in (Input(path), Input(b"x" * 70_000)):
        assert len(one.head) == 65_536
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        head = Input(pack(b"line 1\nline 2\n"), name="a.txt").head
        assert b"line 1\nline 2\n".startswith(head)
        assert head
    assert Input(path).name == "long.txt"
    assert Input(path, name="mine").name == "mine"
    assert Input("a\n").name == "<text>"


def test_bytes_are_let_go_once_they_are_text():
    given = Input("1 2\n")
    given.let_go()
    assert given.data == b"1 2\n", "not yet decoded"
    assert list(given.text.lines) == ["1 2"]
    given.let_go()
    assert given.data == b""
    assert list(given.text.lines) == ["1 2"]


def test_what_a_reader_of_one_format_is_given_instead():
    with pytest.raises(ReaderError) as refused:
        read_ping(json.dumps({"format": "netcalc samples"}) + "\n", name="a.json")
    found = refused.value
    assert (found.code, found.file) == ("not-ping-output", "a.json")
    assert found.values["kind"] == "netcalc samples"
    assert found.values["format"] == "saved netcalc samples"
    ping = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.481 ms\n"
    assert read_ping(ping).received == 1, "not refused as its own format"
    assert read_columns("x,y\n1,2\n")["y"].tolist() == [2]
    assert (sniff(ping), sniff("hello world\n"), sniff(" \n\n")) == ("ping", "text", "empty")
    with pytest.raises(ReaderError) as refused:
        read("hello world\n", name="a.txt")
    assert refused.value.code == "neither-ping-nor-columns"


def test_a_packed_file_that_is_no_longer_whole():
    text = b"x,y\n" + b"1,2\n" * 2000
    for pack in (bz2.compress, lzma.compress):
        packed = pack(text)
        with pytest.raises(ReaderError) as refused:
            read(packed[:-1], name="a")
        found = refused.value
        assert (found.code, found.offset) == ("packing-cut-short", len(packed) - 1)
        broken = packed[:20] + bytes([packed[20] ^ 255]) + packed[21:]
        with pytest.raises(ReaderError) as refused:
            unpack(Source("a", broken, ""))
        assert (refused.value.code, refused.value.file) == ("damaged-packing", "a")
    # what begins as bzip2 does, but without its digit, is text
    assert read_columns("BZh,y\n1,2\n")["BZh"].tolist() == [1]


def test_columns_are_named_and_numbers_have_the_sign_that_is_given():
    found = read("1,5;2\n3,5;4\n", columns=("a", "b"), decimal=",", name="x.csv")
    assert (found["a"].tolist(), found["b"].tolist()) == ([1.5, 3.5], [2, 4])
    units = read("rtt;size\n3;4\n", units={"rtt": "ms", "size": "B"})
    assert (units.rtt_s.tolist(), units.payload_bytes.tolist()) == ([0.003], [4])


def test_twins_differ_and_documents_begin_anywhere():
    same = documents('{"a": 1, "a": 1}\n')
    assert (same.documents, same.warnings) == (({"a": 1},), ())
    named = documents('{"a": 1, "b": 2, "a": 3}\n').warnings
    assert named == (Notice("json-twins", {"names": ["a"]}),)
    assert documents('\n  {"a": 1}').documents == ({"a": 1},)
    assert read_documents(Source("t", b'{"a": 1}{"a": 2}', "")).only() == {"a": 1}
    assert read_documents(Source("t", b' {"a": 1}', "")).only() == {"a": 1}
    long = "[" + " " * 198 + "1"
    assert Input(long + "\n").is_json, "the first 200 characters"
    assert not Input("[ " + " " * 198 + "{\n").is_json


def test_a_packed_file_of_any_level_and_size(monkeypatch):
    text = b"x,y\n" + b"1,2\n" * 2000
    for level in range(1, 10):
        assert len(read_columns(bz2.compress(text, level))["x"]) == 2000
    assert len(read_columns(lzma.compress(text, preset=9))["x"]) == 2000
    source = "netcalc.readers.source.MAX_BYTES"
    for pack in (bz2.compress, lzma.compress, gzip.compress):
        monkeypatch.setattr(source, len(text))
        assert unpack(Source("t", pack(text), "")).data == text
        monkeypatch.setattr(source, len(text) - 1)
        with pytest.raises(ReaderError) as refused:
            unpack(Source("t", pack(text), ""))
        found = refused.value
        assert (found.code, found.file) == ("too-large-uncompressed", "t")
        assert found.values["limit_bytes"] == len(text) - 1
