"""JSON of other tools: several documents, faults with their place, numbers that are none."""

from __future__ import annotations

import json

import pytest

from netcalc.messages import Notice
from netcalc.readers.document import member, number, read_documents, rows, words
from netcalc.readers.format import Input


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
        ("[" * 100_000, "json-too-deep", None, None),
        ('{"a": ' + "9" * 5000 + "}\n", "damaged-json", 1, 0),
    ],
)
def test_a_fault_has_its_place(text, code, line, offset):
    """Lines and bytes counted by hand in the texts; a letter with two dots is two bytes."""
    fault = Input(text.encode()).json.fault
    assert (fault.code, fault.line, fault.offset) == (code, line, offset)


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
