"""Cells and lines of texts of any length: what is cut where, and which line it came from.

Expected values are written by hand, or cut with ``str.split`` alone.
"""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import columns, read, read_columns, sniff
from netcalc.readers import source as source_module
from netcalc.readers.source import Source, decode, fixed, open_source, read_head

ROWS = 9000
"""Rows of a table of several blocks: a block has some 65 thousand characters."""


def decoded(text):
    return decode(Source("t", text.encode(), ""))


# A line end in each of three systems, and what a progress line of a terminal leaves; by hand
ENDS = [
    ("", [""], [1], True),
    ("a", ["a"], [1], False),
    ("a\n", ["a"], [1], True),
    ("a\nb", ["a", "b"], [1, 2], False),
    ("a\n\nb\n", ["a", "", "b"], [1, 2, 3], True),
    ("a\r\nb\r\n", ["a", "b"], [1, 2], True),
    ("a\r\r\nb\r\n", ["a", "b"], [1, 2], True),
    ("a\rb\r", ["a", "b"], [1, 2], True),
    ("a\rb", ["a", "b"], [1, 2], False),
    ("1%\r2%\nb\n", ["1%", "2%", "b"], [1, 1, 2], True),
    ("1%\r2%\nb\r3%", ["1%", "2%", "b", "3%"], [1, 1, 2, 2], False),
    ("a\nb\r", ["a", "b"], [1, 2], False),
]


@pytest.mark.each(("text", "lines", "numbers", "complete"), ENDS)
def test_line_ends(text, lines, numbers, complete):
    found = decoded(text)
    assert list(found.lines) == lines
    assert list(found.numbers) == numbers
    assert found.ends_complete is complete


@pytest.mark.each(
    "text",
    ["", "a", "\n", "a\nb\nc", "a\nb\n\nd", "x" * 70_000 + "\ny\n" + "z" * 66_000 + "\nend",
     "\n".join(f"{n}" for n in range(30_000))],
)  # fmt: skip
def test_lines_are_a_list_of_the_text_cut_at_its_line_ends(text):
    """Second method: str.split."""
    expected = text.split("\n")
    found = decoded(text + "\n").lines
    assert len(found) == len(expected)
    assert list(found) == expected
    assert found[-1] == expected[-1]
    assert found[1:3] == expected[1:3]
    assert found[::-2] == expected[::-2]
    for index in (0, len(expected) // 2, -len(expected)):
        assert found[index] == expected[index]
    assert list(found) == expected, "also once they have been cut"
    blocks = list(decoded(text + "\n").lines.blocks())
    assert "\n".join(blocks) == text
    # 2**16 characters, and what is left of the line that they end in
    assert all(len(block) >= 65_536 for block in blocks[:-1])
    assert all("\n" not in block[65_536:] for block in blocks)


def test_a_line_that_is_too_long_is_empty(monkeypatch):
    """Every text of up to seven letters and line ends."""
    monkeypatch.setattr(source_module, "MAX_LINE", 2)
    for count in range(8):
        for letters in product("a\n", repeat=count):
            text = "".join(letters)
            lines = text.split("\n")
            found = decoded(text + "\n")
            assert list(found.lines) == ["" if len(one) > 2 else one for one in lines], text
            assert list(found.whole) == lines
            long = [number for number, one in enumerate(lines, 1) if len(one) > 2]
            assert found.too_long == long
            noted = {"numbers": long, "limit": 2}
            assert found.warnings == ([Notice("lines-too-long", noted)] if long else [])


def test_terminal_codes_are_taken_out_of_the_lines_they_are_in(monkeypatch):
    """ECMA-48: CSI ends in @ to ~, an operating system command in BEL or ST."""
    text = "a\n\x1b[1;31mred\x1b[0m\nb\x1b]0;title\x07c\x1b]8;;x\x1b\\d\ne\n12\b3\x1b(Bx\n"
    text += "abc\b\b\bXY\n\bz"
    found = decoded(text)
    assert list(found.lines) == ["a", "red", "bcd", "e", "13x", "XY", "z"]
    noted = Notice("terminal-codes-removed", {"numbers": [2, 3, 5, 6, 7]})
    assert found.warnings == [noted]
    assert decoded("a\nb\n").warnings == []
    only = decoded("\x1b[2Ka\nb\x1b[m")
    assert list(only.lines) == ["a", "b"]
    assert only.warnings[0].values["numbers"] == [1, 2]
    monkeypatch.setattr(source_module, "MAX_LINE", 6)
    short = decoded("\x1b[mabcdef\nabc\n")
    assert list(short.lines) == ["abc", "abc"], "six characters, three of them a code"


def table(separator, *, spaced=False):
    """Return the lines of a long table: the number of the row, and half of it."""
    gap = f" {separator} " if spaced else separator
    return [f"{n}{gap}{n / 2}" for n in range(1, ROWS + 1)]


@pytest.mark.each(("separator", "spaced"), [*product(",;\t|", (False, True)), (" ", True)])
def test_a_long_table_has_every_row(separator, spaced):
    lines = table(separator, spaced=spaced)
    found = read_columns("\n".join([f"n{separator}half", *lines]) + "\n")
    assert np.array_equal(found["n"], np.arange(1.0, ROWS + 1))
    assert np.array_equal(found["half"], np.arange(1.0, ROWS + 1) / 2)
    assert found.meta.warnings == ()


@pytest.mark.each("separator", [",", "\t", " "])
@pytest.mark.each("row", [5, ROWS - 5])
def test_a_row_that_does_not_fit_is_skipped_wherever_it_is(separator, row):
    for instead in (separator.join("123"), "7"):
        lines = table(separator)
        lines[row - 1] = instead
        found = read_columns("\n".join([f"n{separator}half", *lines]) + "\n")
        kept = [n for n in range(1, ROWS + 1) if n != row]
        assert np.array_equal(found["n"], np.array(kept, float))
        # the header is line 1
        skipped = Notice("rows-skipped", {"numbers": [row + 1], "width": 2})
        assert found.meta.warnings == (skipped,)


def test_blank_lines_remarks_and_quotes_far_below_keep_the_numbers_of_lines():
    lines = table(",")
    lines[ROWS - 20] = ""
    lines[ROWS - 18] = "# a remark"
    lines[ROWS - 15] = '"7","8"'
    lines[ROWS - 10] = "1,2,3"
    found = read_columns("\n".join(["n,half", *lines]) + "\n")
    assert len(found["n"]) == ROWS - 3
    assert found["half"][ROWS - 17] == 8
    skipped = Notice("rows-skipped", {"numbers": [ROWS - 8], "width": 2})
    assert found.meta.warnings == (skipped,)
    lines[ROWS - 5], lines[ROWS - 3] = '"\n7",6', "9"  # one row on two lines, and one too short
    found = read_columns("\n".join(["n,half", *lines]) + "\n")
    assert found["half"][-5:].tolist() == [n / 2 for n in (ROWS - 5, 12, ROWS - 3, ROWS - 1, ROWS)]
    skipped = Notice("rows-skipped", {"numbers": [ROWS - 8, ROWS], "width": 2})
    assert found.meta.warnings == (skipped,)
    lines[ROWS - 5] = '"1"2,7'
    with pytest.raises(ReaderError) as refused:
        read_columns("\n".join(["n,half", *lines]) + "\n")
    assert (refused.value.code, refused.value.line) == ("malformed-quotes", ROWS - 3)


def test_blank_lines_are_no_rows():
    found = read_columns("x,y\n\n1,2\n  \n3,4\n\n")
    assert found["y"].tolist() == [2, 4]
    assert found.meta.warnings == ()
    single = read_columns("1 2 3\n", columns=("a", "b", "c"))
    assert [single[name].tolist() for name in "abc"] == [[1], [2], [3]]


def test_a_cell_between_blanks_may_have_its_unit_in_brackets():
    found = read_columns("n rtt [ms] size (B)\n1 2 56\n3 4 64\n")
    assert found.rtt_s.tolist() == [0.002, 0.004]
    assert found.payload_bytes.tolist() == [56, 64]


def test_a_control_character_is_a_part_of_its_cell():
    """One in fifty is no binary file; cells are kept with one of them between two."""
    padding = "".join(f"{'w' * 30},{n}\n" for n in range(9))
    found = read_columns(f"say,n\na\x01b,1\n{padding}")
    assert found["say"].tolist() == ["a\x01b", *["w" * 30] * 9]
    assert found["n"].tolist() == [1, *range(9)]


def test_the_separator_is_in_half_of_the_lines_or_more():
    few = read_columns("note,x\na;b,1\nc,2\nd,3\n")
    assert list(few.columns()) == ["note", "x"]
    half = read_columns("x;y\n1;2\na\nb\n3;4\n5;6\n")
    assert half["y"].tolist() == [2, 4, 6]
    # all four lines have a comma; two have a semicolon, but not the header
    assert read_columns("x,y\n1,2;3\n4,5;6\n7,8\n")["y"].tolist() == ["2;3", "5;6", "8"]


# Separators inside cells: the text -> the names of its columns, and the numbers of one of them.
SEPARATED = {
    "bars in cells": ("n,ms [ms],all\n1,0.5,1|2\n2,0.7,3|4\n", ["n", "ms_s", "all"], [1, 2]),
    "bars in as many cells": ("n,all\n1,1|2\n2,3|4\n", ["n", "all"], [1, 2]),
    "semicolons in cells": ("n,flags\n1,a;b\n2,c;d\n3,e;f\n", ["n", "flags"], [1, 2, 3]),
    "commas in a text": ("n;host\n1;a,b\n2;c,d\n", ["n", "host"], [1, 2]),
    "commas in quotes": ('n;"a,b"\n1;"2,5"\n2;"3,5"\n', ["n", "a,b"], [1, 2]),
    "semicolons in quotes": ('n,"a;b"\n1,"2;5"\n2,"3;5"\n', ["n", "a;b"], [1, 2]),
    "decimal commas": ("n;rate;share\n1;1,5;2,5\n2;3,5;4,5\n", ["n", "rate", "share"], None),
    "commas between tabs": ("n\ta,b\n1\t2,5\n2\t3,5\n", ["n", "a,b"], [1, 2]),
    "decimal commas between blanks": ("n x\n1 0,51\n2 0,62\n", ["n", "x"], [1, 2]),
    "a rule of bars": ("| n | x |\n|---|---|\n| 1 | a,b |\n| 2 | c,d |\n", ["n", "x"], [1, 2]),
    "a text of several words": ("n, host name\n1, a b\n2, c d\n", ["n", "host name"], [1, 2]),
}


@pytest.mark.each("how", SEPARATED)
def test_the_separator_cuts_all_rows_alike(how):
    text, names, numbers = SEPARATED[how]
    if numbers is None:  # a rate without a unit is refused, by the name that the separator gives
        with pytest.raises(ReaderError) as refused:
            read_columns(text)
        assert (refused.value.code, refused.value.field) == ("column-without-unit", "rate")
        return
    table = read_columns(text)
    assert list(table.columns()) == names
    assert table["n"].tolist() == numbers


def test_two_separators_that_cut_alike_are_refused():
    """1.1 and 2, or 1 and the list 1|2: the text does not say."""
    with pytest.raises(ReaderError) as refused:
        read_columns("n,x|y\n1,1|2\n2,3|4\n")
    assert (refused.value.code, refused.value.line) == ("separator-ambiguous", 1)
    assert refused.value.values["readings"] == ["vertical bars", "commas"]
    stated = read_columns("sep=,\nn,x|y\n1,1|2\n2,3|4\n")
    assert stated["x|y"].tolist() == ["1|2", "3|4"]
    spoken = read_columns("rtt, ms;loss, %\n1,5;0,5\n2,5;1,5\n")
    assert spoken["rtt_s"].tolist() == [0.0015, 0.0025]


def test_a_header_of_a_value_above_cells_that_are_missing():
    with pytest.raises(ReaderError) as refused:
        read_columns("x,12:00:00\n1,12:00:01\n2,late\n3,-\n4,-\n5,-\n")
    assert (refused.value.code, refused.value.line) == ("data-for-header", 1)
    assert refused.value.values["value"] == "12:00:00"
    two_of_five = "x,12:00:00\n1,12:00:01\n2,12:00:02\n3,late\n4,late\n5,late\n"
    assert read_columns(two_of_five)["x"].tolist() == [1, 2, 3, 4, 5]
    assert read_columns("x,12:00:00\n1,-\n2,-\n")["x"].tolist() == [1, 2]


def test_what_looks_like_columns():
    assert columns.looks_like_columns([]) is False
    assert columns.looks_like_columns(["# remark", " "]) is False
    assert sniff("some words here\n") == "text"
    assert sniff("1 2 3\n") == "columns"
    assert sniff("size [B], what\n") == "columns"
    # six of ten rows of one width, half of the rows below the first with a number
    prose = ["a b c"] * 6 + ["a b"] * 4
    assert not columns.looks_like_columns(prose)
    assert columns.looks_like_columns(["a b 1"] * 6 + ["a 1"] * 4)
    assert not columns.looks_like_columns(["a b 1"] * 5 + ["a 1"] * 2 + ["a"] * 3)
    assert columns.looks_like_columns(["x,y", "1,a", "b,c"])
    assert not columns.looks_like_columns(["x,y", "1,a", "b,c", "d,e"])


def test_columns_that_were_read_cannot_be_changed():
    found = fixed({"x": np.zeros(2)})["x"]
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1.0


def test_every_control_character_that_no_text_holds_is_binary():
    """A text has tabs, line ends, a form feed, bells, backspaces and escapes."""
    for code in {*range(1, 32)} - {*b"\t\n\v\f\r\a\b\x1b"}:
        with pytest.raises(ReaderError) as refused:
            decoded("x" * 48 + chr(code) * 2)
        assert (refused.value.code, refused.value.offset) == ("binary-data", 48), code
    assert list(decoded("x" * 49 + "\x1f").lines) == ["x" * 49 + "\x1f"], "one in fifty"


def test_a_byte_that_is_missing_at_the_end_of_a_wide_text():
    for mark, code in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        found = decode(Source("t", mark + "x,y\n1,2\n".encode(code) + b"3", ""))
        assert list(found.lines) == ["x,y", "1,2", "\ufffd"]
        replaced = Notice("bytes-replaced", {"encoding": code, "offset": 18})
        assert found.warnings == [replaced], "2 bytes of mark and 8 characters before it"
        bare = decode(Source("t", "rate,1\n2,3\n".encode(code), ""))
        assert list(bare.lines) == ["rate,1", "2,3"]
        assert (bare.encoding, bare.warnings[0].code) == (code, "no-byte-order-mark")


def test_bytes_that_are_no_utf8_among_many_that_are():
    """More than four whole characters for each broken one: it is UTF-8 with a fault."""
    found = decode(Source("t", "ééééé".encode() + b"\xff\n", ""))
    assert list(found.lines) == ["ééééé\ufffd"]
    assert found.warnings == [Notice("bytes-replaced", {"encoding": "UTF-8", "offset": 10})]
    four = decode(Source("t", b"x=\xe9\n" + b"y\n" * 3, ""))
    assert (four.lines[0], four.encoding) == ("x=é", "cp1252")
    assert four.warnings == [Notice("not-utf-8", {"encoding": "cp1252", "offset": 2})]
    russian = decode(Source("t", "Ответ от\n".encode("cp866"), ""), words=("ответ",))
    assert (russian.lines[0], russian.encoding) == ("Ответ от", "cp866")


def test_a_file_of_the_largest_size_is_read(monkeypatch, tmp_path):
    text = b"x,y\n1,2\n"
    monkeypatch.setattr(source_module, "MAX_BYTES", len(text))
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    for given in (path, text, gzip.compress(text)):
        assert read_columns(given)["y"].tolist() == [2] if given != gzip.compress(text) else True
    packed = source_module.unpack(Source("t", gzip.compress(text), ""))
    assert packed.data == text


def test_no_file_stays_open(monkeypatch, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n")

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    open_files = {one.name for one in Path("/proc/self/fd").iterdir()}
    open_source(path)
    assert read_head(path, 3) == b"x,y"
    with pytest.raises(ReaderError) as refused:
        open_source(tmp_path)
    assert refused.value.code == "is-directory"
    monkeypatch.setattr(source_module.os, "fstat", refuse)
    with pytest.raises(ReaderError) as refused:
        open_source(path)
    monkeypatch.undo()
    assert (refused.value.code, refused.value.values["reason"]) == (
        "unreadable-file", "Input/output error",
    )  # fmt: skip
    assert {one.name for one in Path("/proc/self/fd").iterdir()} <= open_files


def test_a_name_that_is_long_is_shortened():
    assert open_source(b"x", name="n" * 201).name == "n" * 201
    path = "d/" * 150 + "x"
    with pytest.raises(ReaderError) as refused:
        read(path)
    assert refused.value.file == path[:197] + "..."


def test_the_lines_of_rows_between_remarks_and_blanks():
    """The row that cannot be read is in the line that an editor shows."""
    rows = "".join(f"{n}\n# remark\n\n" for n in range(30_000))
    with pytest.raises(ReaderError) as refused:
        read_columns(f"n_s\n{rows}x\n")
    # one line of header, then three a row
    assert refused.value.line == 1 + 3 * 30_000 + 1
    with pytest.raises(ReaderError) as refused:
        read_columns("n_s\n" + "1\n" * 70_000 + "x\n")
    assert refused.value.line == 70_002


def test_one_number_in_all_rows_is_kept_once():
    """Columns of a large file take the memory of their different numbers."""
    many = 40_000  # more than a block of lines has
    same = read_columns("size_bytes,rtt_ms\n" + "64,1\n" * many)
    assert same.payload_bytes.strides == same.rtt_s.strides == same.lost.strides == (0,)
    assert same.resolution_s.strides == (0,)
    assert (same.payload_bytes == 64).all()
    assert len(same) == same.received == many
    last = read_columns("size_bytes,rtt_ms\n" + "64,1\n" * many + "65,-\n")
    assert last.payload_bytes.tolist() == [64] * many + [65]
    assert last.rtt_s[:many].tolist() == [0.001] * many
    assert (np.flatnonzero(last.lost).tolist(), last.resolution_s[many]) == ([many], 0.0)


def test_line_ends_of_windows_with_carriage_returns_of_editors():
    for ends in ("\r\n", "\r\r\n", "\r\r\r\r\n"):
        found = read_columns(ends.join(["n_s", "1", "2", ""]))
        assert found["n_s"].tolist() == [1, 2]


def test_a_column_without_a_name_is_a_field_of_its_error():
    with pytest.raises(ReaderError) as error:
        columns.read_column("a_ms,b\n1,2\n", "", "s")
    assert (error.value.code, error.value.line, error.value.field) == ("column-not-there", 1, "")
