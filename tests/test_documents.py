"""The loader of documents: what each rule and each type refuses, and where it says it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest

from netcalc.documents import (
    MOST_DOTS,
    Place,
    Rule,
    TomlLines,
    convert,
    decoded,
    described,
    json_lines,
    load,
    read_json,
    read_toml,
    records,
    shown,
)
from netcalc.errors import ReaderError

FAULTS = (
    "utf8", "syntax", "long key", "twice", "missing", "unknown", "kind", "no text", "no whole",
    "not finite", "too large", "range", "choice", "pattern", "empty", "unprintable", "too long",
    "too many", "unit",
)  # fmt: skip
AT = Place("a.json", {fault: f"x-{fault}" for fault in FAULTS})


@dataclass(frozen=True, kw_only=True)
class Hop:
    name: Annotated[str, Rule(plain=True, most=12, pattern="[a-z ]+")]
    rate_bps: Annotated[float, Rule(unit="bit/s", low=1.0, high=1e12)] = 1.0
    count: Annotated[int, Rule(low=1, high=9)] = 1
    kind: Annotated[str, Rule(choices=("fibre", "copper"), code="own-code")] = "fibre"
    loss: float | None = None


@dataclass(frozen=True, kw_only=True)
class Route:
    hops: Annotated[Sequence[Hop], Rule(most=2)] = ()
    named: Mapping[str, Annotated[Hop, Rule(form="a hop")]] = field(default_factory=dict)
    years: dict[int, list[float]] = field(default_factory=dict)
    note: str | Annotated[list[str], Rule(most=2)] = ""
    pair: tuple[int, ...] = ()
    other: Any = None


def refusal(value, *, at=AT, schema=Route):
    with pytest.raises(ReaderError) as caught:
        load(schema, value, at)
    assert caught.value.file == at.file
    return caught.value


def test_all_types_are_converted():
    hop = {"name": " core  a ", "rate_bps": "10 Mbit/s", "count": 2, "kind": "copper", "loss": 1}
    read = load(
        Route,
        {"hops": [hop], "named": {"b": {"name": "b"}}, "years": {"3": [1, 2.5]}, "note": ["n"],
         "pair": [1, 2], "other": {"any": None}},
        AT,
    )  # fmt: skip
    assert read.hops == [Hop(name="core a", rate_bps=10e6, count=2, kind="copper", loss=1)]
    assert read.named == {"b": Hop(name="b")}
    assert (read.years, read.note, read.pair) == ({3: [1, 2.5]}, ["n"], (1, 2))
    assert read.other == {"any": None}
    assert load(Hop, {"name": "a", "loss": None}, AT) == Hop(name="a")


REFUSED = [
    ([], "kind", None, {"value": "[]", "wanted": "an object"}),
    ({"hop": 1}, "unknown", "hop", {"suggestions": ["hops"]}),
    ({"hops": {}}, "kind", "hops", {"wanted": "a list of objects"}),
    ({"hops": None}, "kind", "hops", {"value": "null"}),
    ({"hops": [3]}, "kind", "hops[0]", {"wanted": "an object"}),
    ({"hops": [{}]}, "missing", "hops[0].name", {}),
    ({"hops": [{"name": None}]}, "missing", "hops[0].name", {}),
    ({"hops": [{"name": "a"}] * 3}, "too many", "hops", {"limit": 2}),
    ({"named": {"b": 3}}, "kind", "named.b", {"wanted": "a hop"}),
    ({"years": {"a": []}}, "kind", "years", {"wanted": "an object"}),
    ({"years": {"1": ["a"]}}, "kind", "years", {}),
    ({"note": 3}, "kind", "note", {"wanted": "text or a list of texts"}),
    ({"note": ["a", "b", "c"]}, "too many", "note", {"limit": 2}),
    ({"pair": [1, 2.0]}, "kind", "pair", {"wanted": "a list of whole numbers"}),
]


@pytest.mark.each(("value", "fault", "path", "values"), REFUSED)
def test_what_is_not_of_its_type_is_refused_with_its_field(value, fault, path, values):
    error = refusal(value)
    assert (error.code, error.field) == (f"x-{fault}", path)
    assert {name: error.values[name] for name in values} == values


BROKEN = [
    ("name", 1, "no text", {"value": "1", "wanted": "text"}),
    ("name", " ", "empty", {}),
    ("name", "a" * 13, "too long", {"limit": 12}),
    ("name", "a\u202e", "unprintable", {}),
    ("name", "A", "pattern", {"value": "A"}),
    ("rate_bps", "10 ms", "unit", {}),
    ("rate_bps", "0.1 bit/s", "range", {"value": "0.1", "low": 1.0, "high": 1e12}),
    ("rate_bps", True, "kind", {"value": "true", "wanted": "a number"}),
    ("rate_bps", math.nan, "not finite", {"value": "nan"}),
    ("rate_bps", 10**400, "too large", {}),
    ("count", 0, "range", {"low": 1, "high": 9}),
    ("count", 2.0, "no whole", {"low": 1, "high": 9}),
    ("count", True, "no whole", {}),
    ("loss", "1", "kind", {"wanted": "a number"}),
]


@pytest.mark.each(("name", "value", "fault", "values"), BROKEN)
def test_a_rule_that_is_broken_is_named(name, value, fault, values):
    error = refusal({"name": "a", name: value}, schema=Hop)
    assert (error.code, error.field) == (f"x-{fault}", name)
    assert {key: error.values[key] for key in values} == values


def test_a_rule_may_have_a_code_of_its_own():
    error = refusal({"name": "a", "kind": "air"}, schema=Hop)
    assert (error.code, error.value) == ("own-code", "air")
    assert error.values["known"] == ["fibre", "copper"]


def test_one_code_may_stand_for_all_faults():
    at = Place("rows", "row-damaged", line=3)
    for value in ([], {}, {"name": 1}, {"name": "a", "count": 0}, {"name": "a", "x": 1}):
        error = refusal(value, at=at, schema=Hop)
        assert (error.code, error.line) == ("row-damaged", 3)


def test_text_and_whole_numbers_are_kinds_where_no_code_tells_them_apart():
    at = Place("a", {"kind": "x-kind"})
    assert refusal({"name": 1}, at=at, schema=Hop).code == "x-kind"
    assert refusal({"name": "a", "count": "1"}, at=at, schema=Hop).code == "x-kind"


def test_saved_numbers_are_nan_and_inf():
    saved = Place("a", "damaged", saved=True)
    read = convert(["inf", "-inf", None, 2], list[float], saved)
    assert read[:2] == [math.inf, -math.inf]
    assert math.isnan(read[2])
    assert convert(3.0, int, saved) == 3
    assert load(Hop, {"name": "a", "of a later version": 1}, saved) == Hop(name="a")
    for value in ("Infinity", "1", [1]):
        with pytest.raises(ReaderError):
            convert(value, float, saved)


def test_a_label_stands_for_the_beginning_of_a_path():
    at = AT.inside("items").inside(3).labelled("X1", item="X1")
    error = at.inside("name").refused("missing")
    assert (error.field, error.values["item"]) == ("X1.name", "X1")
    assert at.refused("missing").field == "X1"


@pytest.mark.each(
    ("text", "line", "fault"),
    [
        ('{"a": 1,\n "b": }', 2, "syntax"),
        ('{"a": 1,\n "a": 2}', None, "twice"),
        ('[{"b": {"a": 1, "a": 1}}]', None, "twice"),
        ("[" * 100_000, None, "syntax"),
        ("9" * 10_000, None, "syntax"),
        ("", 1, "syntax"),
        (b'"\xff"', None, "syntax"),
    ],
)
def test_what_is_no_json_is_refused(text, line, fault):
    with pytest.raises(ReaderError) as caught:
        read_json(text, AT)
    assert (caught.value.code, caught.value.line) == (f"x-{fault}", line)


def test_bytes_that_are_not_utf8_are_refused_with_line_and_byte():
    assert decoded(b"\xef\xbb\xbfa", AT) == "a"
    with pytest.raises(ReaderError) as caught:
        decoded(b"a\nb\xff", AT)
    assert (caught.value.code, caught.value.line, caught.value.offset) == ("x-utf8", 2, 3)


def test_complete_lines_are_read_and_measured():
    assert json_lines(b'{"a": 1}\n{"b": 2}\n{"c"', AT) == ([{"a": 1}, {"b": 2}], 18)
    assert json_lines(b'{"a"', AT) == ([], 0)
    for data in (b"{}\n[]\n", b"{}\n{\n", b"{}\n\n"):
        with pytest.raises(ReaderError) as caught:
            json_lines(data, Place("a", "damaged"))
        assert caught.value.line == 2


# A text of TOML, and the lines of its paths as counted in it.
TOML = '''\
title = "t"  # [[not]]
[server]
"a name" = 1
long = """
[[list]]
x = 1
"""
[[list]]
a.b = 1
values = [
  1,  # ]
  "]",
]
[list.inner]
c = { d = { e = 1 }, f = 2 }
[[list.inner.deep]]
[[list.inner.deep]]
g = 1
[[list]]
h = 1
[list.inner]
i = 1
'''
LINES = {
    "title": 1, "server": 2, "server.a name": 3, "server.long": 4, "list[0]": 8,
    "list[0].a.b": 9, "list[0].values": 10, "list[0].inner": 14, "list[0].inner.c": 15,
    "list[0].inner.c.d.e": 15, "list[0].inner.deep[0]": 16, "list[0].inner.deep[1]": 17,
    "list[0].inner.deep[1].g": 18, "list[1]": 19, "list[1].h": 20, "list[1].inner.i": 22,
    "list[1].inner.none": 21, "list[0].values[3]": 10, "list[7]": None, "none": None,
}  # fmt: skip


@pytest.mark.each("end", ["\n", "\r\n"])
def test_lines_of_tables_and_keys(end):
    lines = TomlLines(TOML.replace("\n", end))
    assert {path: lines.of(path) for path in LINES} == LINES
    assert TomlLines(TOML, first=1).of("list[2].h") == 20
    assert read_toml(TOML.replace("\n", end), AT)["list"][1] == {"h": 1, "inner": {"i": 1}}


@pytest.mark.each(
    ("text", "line"),
    [
        ("a = 1\nb = \nc = 2\n", 2),
        ("a = 1\n\n# c\na = 2\n", 4),
        ('a = 1\nb = """\nc\n', 2),
        ("[a]\nb = 1\n[a]\nc = 1\n", 3),
        ("a = [\n1,\n2\n", 1),
        ("a = [\n1,\n2]\nb = [1 2]\n", 4),
        ("=", 1),
    ],
)
def test_what_is_no_toml_is_refused_with_its_line(text, line):
    with pytest.raises(ReaderError) as caught:
        read_toml(text, AT)
    assert (caught.value.code, caught.value.line) == ("x-syntax", line)


def test_long_keys_are_refused_before_they_are_parsed():
    with pytest.raises(ReaderError) as caught:
        read_toml("a = 1\n" + "b." * (MOST_DOTS + 1) + "c = 1", AT)
    assert (caught.value.code, caught.value.line) == ("x-long key", 2)
    assert read_toml("b." * MOST_DOTS + 'c = "' + "a." * 99 + '"  # ' + "." * 99, AT)


def test_hostile_texts_end_soon():
    ends = 'x = """\n' + "]\n" * 20_000
    with pytest.raises(ReaderError):
        read_toml(ends, AT)
    assert TomlLines(ends + '"""\ny = 1').of("x") in (1, None)


def test_rows_have_the_line_of_their_end():
    lines = ["sep=;", "", "a;b", '"1', '2";3', " ; ", "4;5"]
    rows = list(records(lines[2:], range(3, 8), AT))
    assert [(at.line, cells) for at, cells in rows] == [
        (3, ["a", "b"]), (5, ["1\n2", "3"]), (7, ["4", "5"]),
    ]  # fmt: skip
    with_separator = list(records(["sep=;", "a,b;c"], [1, 2], AT))
    assert [cells for _, cells in with_separator] == [["a,b", "c"]]
    assert list(records(["", " "], [1, 2], AT)) == []
    with pytest.raises(ReaderError) as caught:
        list(records(["a,b", "1,2", '"3'], [1, 2, 9], AT))
    assert (caught.value.code, caught.value.line) == ("x-syntax", 9)


def test_types_in_words():
    assert described(dict[str, float] | None) == "an object"
    assert described(list[dict[str, int]]) == "a list of objects"
    assert described(bool | int) == "true or false or a whole number"
    assert described(Annotated[int, Rule(form="a year")]) == "a year"
    assert described(Hop) == "an object"


def test_values_are_shown_as_a_document_has_them_and_not_all_of_them():
    assert shown([1, None, True]) == "[1, null, true]"
    assert shown("a") == "a"
    assert shown("a" * 61) == "a" * 60
    assert shown({(1, 2): 3}) == "dict"
