"""Tables as programs print them: what their frames, rules and remarks are, and are not."""

from __future__ import annotations

import math

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, read_columns
from netcalc.readers.columns import read_column
from netcalc.samples import RttSamples

# The same two points, 64 B in 0.51 ms and 1400 B in 1.31 ms, as programs print tables.
SAME = {
    "mysql": (
        "mysql> select * from pings;\n"
        "+------------+--------+\n| size_bytes | rtt_ms |\n+------------+--------+\n"
        "|         64 |   0.51 |\n|       1400 |   1.31 |\n+------------+--------+\n"
        "2 rows in set (0.00 sec)\n"
    ),
    "psql": (
        " size_bytes | rtt_ms \n------------+--------\n         64 |   0.51\n"
        "       1400 |   1.31\n(2 rows)\n\n"
    ),
    "psql in German": "size_bytes | rtt_ms\n-----+-----\n64 | 0.51\n1400 | 1.31\n(2 Zeilen)\n",
    "box of SQLite": (
        "┌────────────┬────────┐\n│ size_bytes │ rtt_ms │\n├────────────┼────────┤\n"
        "│ 64         │ 0.51   │\n│ 1400       │ 1.31   │\n└────────────┴────────┘\n"
    ),
    "DuckDB": (
        "┌────────────┬────────┐\n│ size_bytes │ rtt_ms │\n│   int64    │ double │\n"
        "├────────────┼────────┤\n│         64 │   0.51 │\n│       1400 │   1.31 │\n"
        "└────────────┴────────┘\n"
    ),
    "rich": (
        "┏━━━━━━━━━━━━┳━━━━━━━━┓\n┃ size_bytes ┃ rtt_ms ┃\n┡━━━━━━━━━━━━╇━━━━━━━━┩\n"
        "│ 64         │ 0.51   │\n│ 1400       │ 1.31   │\n└────────────┴────────┘\n"
    ),
    "Markdown": "| size [B] | rtt [ms] |\n|---:|:---:|\n| 64 | 0.51 |\n| 1400 | 1.31 |\n",
    "columns of SQLite": (
        "size_bytes  rtt_ms\n----------  ------\n64          0.51\n1400        1.31\n"
    ),
    "PowerShell": (
        "\nsize_bytes rtt_ms\n---------- ------\n        64   0.51\n      1400   1.31\n\n"
    ),
    "reStructuredText": (
        "======  ======\nsize/B  rtt/ms\n======  ======\n64  0.51\n1400  1.31\n======  ======\n"
    ),
    "pandas": "   size_bytes  rtt_ms\n0          64    0.51\n1        1400    1.31\n",
    "R": "  size_bytes rtt_ms\n1         64   0.51\n2       1400   1.31\n",
    "a comment": "# made by hand\n# size_bytes rtt_ms\n64 0.51\n1400 1.31\n",
    "a comment with brackets": "#  Size [B]   RTT (ms)\n64 0.51\n1400 1.31\n",
    "a comment with commas": "# size_bytes, rtt_ms\n64 0.51\n1400 1.31\n",
    "a comment of a CSV": "% size [B], rtt [ms]\n64,0.51\n1400,1.31\n",
    "headings of several words": "Packet size (bytes)   RTT (ms)\n64   0.51\n1400   1.31\n",
    "a web page": "Size [B]\tRTT [ms]\n64\t0.51\n1400\t1.31",
    "a web page in German": "Größe [B]\tRTT [ms]\t\n64\t0,51\t\n1400\t1,31\t\n",
}


@pytest.mark.each("program", SAME)
def test_the_same_points(program):
    samples = read(SAME[program])
    assert isinstance(samples, RttSamples)
    assert samples.payload_bytes.tolist() == [64, 1400]
    assert samples.rtt_s.tolist() == [0.00051, 0.00131]
    ignored = [notice.values["columns"] for notice in samples.meta.warnings]
    assert ignored in ([], [["row"]])


def test_empty_cells_of_a_frame_are_missing():
    table = read("| n | x_s |\n+---+-----+\n| 1 |     |\n| 2 | NULL |\n| 3 | 0.5 |\n")
    assert table["n"].tolist() == [1, 2, 3]
    assert math.isnan(table["x_s"][0])
    assert table["x_s"][2] == 0.5


def test_cells_of_several_words_and_empty_ones_below_a_rule():
    table = read(
        "n   state    host name\n--  -------  ---------\n"
        "1   up       a b\n2            c\n3   go down  d\n"
    )
    assert table["state"].tolist() == ["up", "", "go down"]
    assert table["host name"].tolist() == ["a b", "c", "d"]


def test_a_cell_over_the_gap_of_a_rule_is_not_cut():
    table = read("a   b   c\n--  --  --\n1   2   3\n123456  7\n4   5   6\n")
    assert table["a"].tolist() == [1, 4]
    assert [notice.code for notice in table.meta.warnings] == ["rows-skipped"]
    assert table.meta.warnings[0].values["numbers"] == [4]


def test_a_line_keeps_its_number_without_the_frame():
    with pytest.raises(ReaderError) as refused:
        read_columns(
            "+---+-----+\n| n | x_s |\n+---+-----+\n| 1 | 0.5 |\n| 2 | ab |\n+---+-----+\n"
        )
    assert (refused.value.code, refused.value.line) == ("not-a-number", 5)


@pytest.mark.each(
    ("text", "code"),
    [
        ("# taken at night\n1 2 3\n4 5 6\n", "no-header"),
        ("# size latency more\n1 2\n4 5\n", "no-header"),
        ("# size latency\n1 2\n4 5\n", "column-without-unit"),
        ("| 64 | 0.51 |\n| 1400 | 1.31 |\n+------+------+\n", "no-header"),
        ("64          0.51\n1400        1.31\n2000        1.5\n", "no-header"),
        ("11:59:58 PM  eth0  1.5 ms\n11:59:59 PM  eth0  2 ms\n", "data-for-header"),
    ],
)  # fmt: skip
def test_rows_without_a_header_are_refused(text, code):
    with pytest.raises(ReaderError) as refused:
        read_columns(text)
    assert refused.value.code == code


def test_rows_may_say_what_a_program_says():
    """``64 rows`` has brackets around it, or more words, where it is no row."""
    table = read("n  state\n-  -----\n3  up\n2  lost\n(2 rows)\n")
    assert table["n"].tolist() == [3, 2]


def test_one_column_of_a_frame():
    assert read_column(SAME["mysql"], "rtt", "s").tolist() == [0.00051, 0.00131]
