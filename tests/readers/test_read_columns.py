"""Columns of numbers: separators, units, decimal signs, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from netcalc import datasets
from netcalc.cli import commands
from netcalc.errors import DomainError, ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, read_columns, sniff
from netcalc.samples import RttSamples, Table, TransferSamples

# The same two points, written in many ways: 56 B, 1.5 ms and 1472 B, 2.75 ms.
SAME = {
    "house names": "payload_bytes,rtt_s\n56,0.0015\n1472,0.00275\n",
    "suffixes": "size_bytes,rtt_ms\n56,1.5\n1472,2.75\n",
    "square brackets": "size [B],rtt [ms]\n56,1.5\n1472,2.75\n",
    "round brackets": "Packet size (bytes),RTT (us)\n56,1500\n1472,2750\n",
    "slash": "size/B,rtt/ms\n56,1.5\n1472,2.75\n",
    "words": "size in B;round trip time, ms\n56;1.5\n1472;2.75\n",
    "semicolons and decimal comma": "size/B;rtt/ms\n56;1,5\n1472;2,75\n",
    "tabs and decimal comma": "size/B\trtt/ms\n56\t1,5\n1472\t2,75\n",
    "bars": "size/B|rtt/ms\n56|1.5\n1472|2.75\n",
    "blanks": "size [B]   rtt [ms]\n  56   1.5\n1472  2.75\n",
    "row of units": "size,rtt\nB,ms\n56,1.5\n1472,2.75\n",
    "comments": "# made by hand\n\nsize/B,rtt/ms\n# first\n56,1.5\n// second\n1472,2.75\n",
    "spreadsheet hint": "sep=;\nsize/B;rtt/ms\n56;1,5\n1472;2,75\n",
    "quotes": '"size/B","rtt/ms"\n"56","1.5"\n"1472","2.75"\n',
    "quoted decimal comma": 'size/B,rtt/ms\n56,"1,5"\n1472,"2,75"\n',
    "unit in the cells": "size/B,rtt/ms\n56,1.5 ms\n1472,2750 us\n",
    "empty cells at the end": "size/B,rtt/ms,,\n56,1.5,,\n1472,2.75,,\n",
    "no final line end": "size/B,rtt/ms\n56,1.5\n1472,2.75",
    "carriage returns": "size/B,rtt/ms\r56,1.5\r1472,2.75\r",
    "byte order mark": "\ufeffsize/B,rtt/ms\n56,1.5\n1472,2.75\n",
    "micro sign": "size/B,rtt [µs]\n56,1500\n1472,2750\n",
    "kilobytes": "size [kB],rtt [ms]\n0.056,1.5\n1.472,2.75\n",
}


@pytest.mark.each("how", SAME)
def test_the_same_points(how):
    samples = read(SAME[how])
    assert isinstance(samples, RttSamples)
    assert samples.payload_bytes.tolist() == [56, 1472]
    assert samples.rtt_s.tolist() == [0.0015, 0.00275]
    assert not samples.lost.any()
    assert samples.meta.note.startswith("columns separated by ")


@pytest.mark.each("encoding", ["utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(encoding):
    text = "Größe [B];RTT [µs]\n56;1500\n1472;2750\n"
    samples = read(text.encode(encoding))
    assert samples.payload_bytes.tolist() == [56, 1472]
    assert samples.rtt_s.tolist() == [0.0015, 0.00275]


def test_units_names_and_decimal_sign_given():
    assert read("size,rtt\n56,1.5\n", units={"size": "B", "rtt": "ms"}).rtt_s.tolist() == [0.0015]
    assert read("56 1.5\n", columns=("size_bytes", "rtt_ms")).rtt_s.tolist() == [0.0015]
    ambiguous = "size/B;rtt/ms\n56;1,500\n"
    assert read(ambiguous, decimal=",").rtt_s.tolist() == [0.0015]
    assert read(ambiguous, decimal=".").rtt_s.tolist() == [1.5]


def test_one_plain_comma_decides_for_its_file():
    samples = read("size/B;rtt/ms\n56;1,5\n60;1,500\n70;1.234,5\n")
    assert (samples.rtt_s * 1e3).tolist() == pytest.approx([1.5, 1.5, 1234.5])


# A header, what its column of a 3 is called, and the 3 in SI units: 1 MB/s is 8 Mbit/s.
RATES_PER_SECOND = {
    "rate_Mbit/s": ("rate_bps", 3e6),
    "rate Mbit/s": ("rate_bps", 3e6),
    "rate [Mbit/s]": ("rate_bps", 3e6),
    "rate_Mbit_s": ("rate_bps", 3e6),
    "rate-Mbit/s": ("rate_bps", 3e6),
    "rate: Mbit / s": ("rate_bps", 3e6),
    "rateMbit/s": ("rate_bps", 3e6),
    "rate_Mbit_per_s": ("rate_bps", 3e6),
    "rate/Mbit/s": ("rate_bps", 3e6),
    "throughput in Mbit/s": ("throughput_bps", 3e6),
    "throughput, kbit/sec": ("throughput_bps", 3e3),
    "mean goodput Gbit/s": ("mean_goodput_bps", 3e9),
    "rate_MB/s": ("rate_bps", 24e6),
    "speed_KB/s": ("speed_bps", 24e3),
    "rate_bytes_s": ("rate_bps", 24.0),
    "rate_byte_s": ("rate_bps", 24.0),
    "rate_MiB/s": ("rate_bps", 25165824.0),
    "Mbit/s": ("rate_bps", 3e6),
    "Mbit_s": ("rate_bps", 3e6),
    "MB/s": ("rate_bps", 24e6),
    "rate_pkt/s": ("rate_pps", 3.0),
    "sent frames/s": ("sent_pps", 3.0),
    "packets_s": ("rate_pps", 3.0),
    "speed_m/s": ("speed_m_s", 3.0),
    "speed_m_s": ("speed_m_s", 3.0),
    "time_to_first_byte_s": ("time_to_first_byte_s", 3.0),
    "first byte/s": ("first_byte_s", 3.0),
    "time_per_packet_s": ("time_per_packet_s", 3.0),
    "gap_frame_s": ("gap_frame_s", 3.0),
    "rtt_min_s": ("rtt_min_s", 3.0),
    "offset/s": ("offset_s", 3.0),
}


@pytest.mark.each("header", RATES_PER_SECOND)
def test_a_data_unit_per_second_is_a_rate(header):
    name, value = RATES_PER_SECOND[header]
    table = read(f"run;{header}\n1;3\n2;3\n")
    assert isinstance(table, Table)
    assert list(table.data) == ["run", name]
    assert table[name].tolist() == [value, value]
    assert table.meta.warnings == ()


@pytest.mark.each(
    "header", ["rate_mbit_s", "mbit/s", "rate mb/s", "throughput_MBIT/s", "rate_k/s", "rate_M_s"]
)
def test_a_data_unit_per_second_that_is_unknown_is_refused(header):
    with pytest.raises(ReaderError) as caught:
        read(f"run;{header}\n1;3\n2;3\n")
    assert caught.value.code in ("unknown-column-unit", "ambiguous-column-unit")
    assert caught.value.values["written"].endswith("/s")
    assert caught.value.line == 1


@pytest.mark.each("name", datasets.names())
def test_the_csv_of_a_bundled_measurement_reads_back(name):
    printed = CliRunner().invoke(commands, ["data", name, "--csv"]).output
    bundled, found = datasets.load(name).columns(), read(printed)
    assert "unit-ignored" not in [notice.code for notice in found.meta.warnings]
    columns = found.columns()
    assert set(bundled) - set(columns) <= {"group"}  # an empty column of one that has no groups
    for column, values in bundled.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(columns[column], values, rtol=1e-11)


def test_a_unit_that_name_and_brackets_both_have_is_said_once():
    table = read("run,response_s [s],captured_bytes [byte],speed_m_s [m/s]\n1,2,3,4\n5,6,7,8\n")
    assert list(table.data) == ["run", "response_s", "captured_bytes", "speed_m_s"]


def test_a_utilization_is_a_share_where_no_number_says_percent():
    table = read("utilization,delay [ms]\n0.1,1.1\n-,2\n1,10\n")
    assert table["utilization_ratio"].tolist() == pytest.approx([0.1, np.nan, 1], nan_ok=True)
    assert table.meta.units == {"utilization_ratio": "ratio", "delay_s": "s"}
    for heading, cells in (("utilization", "0.5\n50\n"), ("loss", "0.5\n0.1\n")):
        with pytest.raises(ReaderError) as refused:
            read(f"n,{heading}\n" + "".join(f"1,{cell}\n" for cell in cells.split()))
        assert (refused.value.code, refused.value.field) == ("column-without-unit", heading)


def test_missing_cells_are_missing_not_zero():
    samples = read("size/B,rtt/ms\n56,1.5\n56,\n56,-\n56,N/A\n56,NaN\n")
    assert (samples.sent, samples.received) == (5, 1)
    assert np.isnan(samples.rtt_s[1:]).all()
    assert samples.meta.warnings == (Notice("rows-without-time", {"count": 4}),)


def test_the_columns_of_saved_samples():
    text = (
        "payload_bytes,rtt_s,sequence,lost,duplicate,error_reply,resolution_s,sent_s,ttl\n"
        "56.0,0.0113,1.0,False,False,False,1e-06,12.5,64.0\n"
        "56.0,nan,2.0,True,False,True,0,nan,nan\n"
    )
    samples = read(text)
    assert samples.sequence.tolist() == [1, 2]
    assert samples.error_reply.tolist() == [False, True]
    assert samples.ttl[0] == 64
    assert samples.sent_s[0] == 12.5
    assert not samples.meta.warnings


def test_size_and_duration_make_transfers():
    samples = read("size [MB],time [s],note\n1,0.5,a\n10,,b\n")
    assert isinstance(samples, TransferSamples)
    assert samples.payload_bytes.tolist() == [1e6, 1e7]
    assert samples.failed.tolist() == [False, True]
    ignored = {"count": 1, "columns": ["note"]}
    assert samples.meta.warnings == (Notice("columns-ignored", ignored),)


def test_other_columns_make_a_table_in_si_units():
    table = read("run,throughput [Mbit/s],host\n1,10,a\n2,12.5,b\n")
    assert isinstance(table, Table)
    assert table["throughput_bps"].tolist() == [1e7, 1.25e7]
    assert table.meta.units == {"throughput_bps": "bit/s"}
    assert table["host"].tolist() == ["a", "b"]
    assert table["run"].tolist() == [1, 2]


def test_another_layer_is_no_payload():
    table = read("frame_bytes,rtt_ms\n64,1.5\n")
    assert isinstance(table, Table)
    assert table["frame_bytes"].tolist() == [64]


def test_cells_are_text_and_nothing_more():
    text = 'n,note\n1,"=HYPERLINK(""http://a.example"")"\n2,"two\nlines"\n3,<script>\n'
    assert read(text)["note"].tolist() == [
        '=HYPERLINK("http://a.example")',
        "two\nlines",
        "<script>",
    ]
    addresses = read("n,host\n1,192.0.2.1\n2,192.0.2.2\n")
    assert addresses["host"].tolist() == ["192.0.2.1", "192.0.2.2"]


def test_ragged_rows_are_named_and_a_cut_line_is_partial():
    samples = read("size/B,rtt/ms,x\n56,1.5,a\n60,1.6\n70,1.7,b\n80,1.8,c,d\n90,1.9")
    assert samples.payload_bytes.tolist() == [56, 70]
    assert samples.meta.partial
    assert Notice("rows-skipped", {"numbers": [3, 5], "width": 3}) in samples.meta.warnings
    assert Notice("last-line-cut", {"number": 6}) in samples.meta.warnings
    assert str(samples.meta.warnings[1]) == "skipped lines 3, 5: not 3 cells"


def test_names_missing_or_twice():
    table = read("a,,a\n1,2,3\n")
    assert set(table.columns()) == {"a", "column_2", "a_2"}
    assert table.meta.warnings == (
        Notice("unnamed-column", {"number": 2, "column": "column_2"}),
        Notice("columns-numbered", {"count": 2, "column": "a"}),
    )


# text -> line, field, code, and values
READINGS = {"readings": ["1500", "1.500"]}
REFUSED = {
    "no unit": ("size,rtt_ms\n56,1.5\n", 1, "size", "column-without-unit",
                {"readings": ["56 B", "56 bit"]}),
    "no unit of a time": ("size_bytes,rtt\n56,1.5\n", 1, "rtt", "column-without-unit",
                          {"readings": ["1.5 ms", "1.5 s"]}),
    "ambiguous": ("size/B;rtt/ms\n56;1,500\n", 2, "rtt", "ambiguous-cell", READINGS),
    "ambiguous in quotes": ('size/B,rtt/ms\n56,"1,500"\n', 2, "rtt", "ambiguous-cell", READINGS),
    "point beside a comma": ("size/B;rtt/ms\n1.500;1,5\n", 2, "size", "ambiguous-cell", READINGS),
    "infinite": ("size/B,rtt/ms\n56,1.5\n57,inf\n", 3, "rtt", "infinite-cell", {"value": "inf"}),
    "too large": ("size/B,rtt/ms\n56,1e999\n", 2, "rtt", "not-a-number", {"value": "1e999"}),
    "no number": ("size/B,rtt/ms\n56,fast\n", 2, "rtt", "not-a-number", {"value": "fast"}),
    "ambiguous unit": ("rate [mbps]\n5\n", 1, "rate", "ambiguous-column-unit",
                       {"written": "mbps", "unit": "bit/s"}),
    "ambiguous unit of any kind": ("x [mbps]\n5\n", 1, "x", "ambiguous-column-unit",
                                   {"written": "mbps"}),
    "unit of another kind": ("size/B,rtt [Mbit/s]\n56,1\n", 1, "rtt", "column-unit-of-other-kind",
                             {"written": "Mbit/s", "unit": "s", "kind": "a rate"}),
    "size in seconds": ("bytes [s],rtt/ms\n56,1\n", 1, "bytes", "column-unit-of-other-kind",
                        {"written": "s", "unit": "byte"}),
    "unknown unit": ("size/B,rtt [parsec]\n56,1\n", 1, "rtt", "unknown-column-unit",
                     {"written": "parsec", "unit": "s"}),
    "called the same": ("size/B,rtt/ms,rtt/ms\n56,1,2\n", 1, "rtt", "columns-of-one-name",
                        {"count": 2}),
    "may both be meant": ("size/B,ping/ms,roundtrip/ms\n56,1,2\n", None, "ping",
                          "ambiguous-columns", {"columns": ["ping/ms", "roundtrip/ms"]}),
    "quotes": ('size/B,rtt/ms\n56,"1\n57,2\n', 2, None, "malformed-quotes", {}),
    "no header": ("56 1.5\n57 1.6\n", 1, None, "no-header", {"value": "56 1.5"}),
    "neither true nor false": ("size/B,rtt/ms,lost\n56,1,maybe\n", 2, "lost", "not-a-flag",
                               {"value": "maybe"}),
    "only a header": ("size/B,rtt/ms\n", None, None, "only-a-header", {}),
    "no column of numbers": ("a,b\nx,y\n", None, None, "no-number-column", {}),
    "too many columns": (",".join(f"c{i}" for i in range(2000)) + "\n1\n", 1, None,
                         "too-many-columns", {"count": 2000, "limit": 1000}),
}  # fmt: skip


@pytest.mark.each("why", REFUSED)
def test_refused_with_its_line_and_field(why):
    text, line, field, code, values = REFUSED[why]
    with pytest.raises(ReaderError) as caught:
        read_columns(text)
    assert (caught.value.line, caught.value.field, caught.value.code) == (line, field, code)
    assert {name: caught.value.values[name] for name in values} == values


def test_the_sentences_of_refused_columns():
    """A few of them, read aloud."""
    said = {
        "no unit": (
            "<text>, line 1, field size: has no unit; found '56'; expected a unit: 56 B or 56 bit "
            "[byte]. Write size [B] in the header"
        ),
        "ambiguous unit": (
            "<text>, line 1, field rate: the unit 'mbps' is ambiguous: write Mbit/s (bits) or MB/s "
            "(bytes)"
        ),
        "unit of another kind": (
            "<text>, line 1, field rtt: 'Mbit/s' is a unit of a rate; expected a unit such as ms "
            "[s]. Change the unit, or the name of the column"
        ),
        "infinite": (
            "<text>, line 3, field rtt: is infinite; found 'inf'; expected a finite number, or an "
            "empty cell where it is missing [ms]. Correct the cell, or leave it empty"
        ),
    }
    for why, sentence in said.items():
        with pytest.raises(ReaderError) as caught:
            read_columns(REFUSED[why][0])
        assert str(caught.value) == sentence


def test_a_unit_for_no_column_is_refused():
    with pytest.raises(ReaderError) as caught:
        read("size/B,rtt/ms\n56,1\n", units={"delay": "ms"})
    assert caught.value.code == "no-such-column"
    assert caught.value.values["column"] == "delay"
    assert caught.value.values["columns"] == ["size", "rtt"]
    with pytest.raises(DomainError) as refused:
        read("size/B,rtt/ms\n56,1\n", decimal="x")
    assert (refused.value.code, refused.value.name) == ("not-a-choice", "decimal")


def test_most_rows_of_another_length_are_refused():
    with pytest.raises(ReaderError) as caught:
        read_columns("size/B,rtt/ms\n1,2,3\n4,5,6\n7,8\n")
    assert (caught.value.code, caught.value.line) == ("unequal-rows", 2)
    assert caught.value.values["width"] == 2


@pytest.mark.each("text", ["hello world\nthis is text\n", "a,b\nc,d\n", "x\ny\n"])
def test_text_without_numbers(text):
    assert sniff(text) == "text"
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "neither-ping-nor-columns"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 65_507), st.floats(0.001, 3600.0, allow_nan=False)), min_size=1
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["ms", "s", "us"]),
)
def test_what_is_written_is_read(points, separator, unit):
    text = f"size/B{separator}rtt/{unit}\n"
    text += "".join(f"{size}{separator}{rtt!r}\n" for size, rtt in points)
    samples = read(text)
    factor = {"ms": 1e-3, "s": 1.0, "us": 1e-6}[unit]
    assert samples.payload_bytes.tolist() == [size for size, _ in points]
    assert all(
        math.isclose(read_back, rtt * factor, rel_tol=1e-15)
        for read_back, (_, rtt) in zip(samples.rtt_s, points, strict=True)
    )


@pytest.mark.each(
    ("header", "unit"),
    [("rate [pps]", "packet/s"), ("rate_pps", "packet/s"), ("rate [Mbit/s]", "bit/s"),
     ("sent_bps", "bit/s"), ("sent [s]", "s"), ("throughput [kpps]", "packet/s")],
)  # fmt: skip
def test_a_word_of_two_kinds_is_what_its_unit_says(header, unit):
    table = read_columns(f"frame [B];{header}\n64;1\n128;2\n")
    assert list(table.meta.units.values())[1] == unit


@pytest.mark.each(
    ("text", "field", "line"),
    [
        ("size_bytes,rtt_ms\n100,1.5\n200,-2\n", "rtt", 3),
        ("size_bytes,rtt_ms\n-100,1.5\n", "size", 2),
        ("# a remark\nsize/B;duration/s\n100;1,5\n200;-0,5\n", "duration", 4),
    ],
)
def test_what_cannot_be_negative_is_refused_with_its_line(text, field, line):
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "negative-cell"
    assert (caught.value.line, caught.value.field) == (line, field)
    assert read("time/s,offset/ms\n1,-2\n")["offset_s"].tolist() == [-0.002]  # any other may be


def test_a_packet_trace_of_mahimahi_is_refused_as_it_names_no_unit():
    """One whole number in each line; the reader of mahimahi takes them for milliseconds."""
    text = "".join(f"{637 + 10 * (n // 2)}\n" for n in range(30))
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == "trace-without-unit"
    assert "--columns time_ms" in str(caught.value)
    table = read(text, columns=["time_ms"])
    assert table["time_s"].tolist()[:3] == [0.637, 0.637, 0.647]


def test_other_columns_of_whole_numbers_are_not_taken_for_a_trace():
    for text in ("1\n2\n3\n", "".join(f"{9 - n % 3}\n" for n in range(30)), "5\n" * 30):
        with pytest.raises(ReaderError) as caught:
            read(text)
        assert caught.value.code != "trace-without-unit"


def test_cells_may_have_units_of_their_own():
    """1500 us and 0.0015 s are 1.5 ms; each cell by its unit, the finest are 1 us and 1 Mbit/s."""
    text = (
        "bandwidth\tlatency\n100 Mbit/s\t1.5 ms\n200 Mbit/s\t1500 us\n1 Gbit/s\t0.0015 s\n-\t2ms\n"
    )
    found = read(text.encode())
    assert found["bandwidth_bps"].tolist()[:3] == [1e8, 2e8, 1e9]
    assert np.isnan(found["bandwidth_bps"][3])
    assert found["latency_s"] == pytest.approx([0.0015, 0.0015, 0.0015, 0.002])
    assert found.meta.units["latency_s"] == "s"
    assert found.meta.resolutions == pytest.approx({"bandwidth_bps": 1e6, "latency_s": 1e-6})
    pings = read(b"size;rtt\n1 kB;1,5 ms\n2 kB;3,1 ms\n")
    assert isinstance(pings, RttSamples)
    assert pings.payload_bytes.tolist() == [1000, 2000]
    assert pings.rtt_s == pytest.approx([0.0015, 0.0031])
    assert read(b"bandwidth latency\n100Mbit/s 2ms\n1Gbit/s 3ms\n")["latency_s"].size == 2


@pytest.mark.each(
    ("text", "code", "line", "value"),
    [
        ("size\trtt\n56 B\t1.5 ms\n256 B\t1700\n", "cell-without-unit", 3, "1700"),
        ("size\trtt\n56 B\t1.5 ms\n256 B\t3 kB\n", "cell-without-unit", 3, "3 kB"),
        ("size\trtt\n1 KB\t1.5 ms\n2 KB\t3 ms\n", "ambiguous-column-unit", 1, None),
        ("bandwidth latency\n100 Mbit/s 2 ms\n1 Gbit/s 3 ms\n", "units-apart", 2, None),
        ("size rtt x\n1 2\n3 4\n5 6\n", "unequal-rows", 2, None),
    ],
)
def test_units_of_cells_that_are_missing_or_apart_are_said_to_be(text, code, line, value):
    with pytest.raises(ReaderError) as refused:
        read(text.encode())
    assert (refused.value.code, refused.value.line) == (code, line)
    assert refused.value.values.get("value") == value


def test_words_with_numbers_stay_text():
    found = read(b"note\tspeed [Mbit/s]\n5 ms\t1\n7\t2\n3 apples\t4\n")
    assert found["note"].tolist() == ["5 ms", "7", "3 apples"]


@pytest.mark.each(
    "text",
    [
        "| size (B) | rtt (ms) |\n|---:|---:|\n| 56 | 1.5 |\n| 256 | 1.7 |\n",
        "| size | rtt |\n| :--- | :-: |\n| 56 B | 1.5 ms |\n| 256 B | 1700 us |\n",
        "size (B) | rtt (ms)\n--- | ---\n56 | 1.5\n256 | 1.7\n",
    ],
)
def test_a_markdown_table_is_read_without_its_frame(text):
    found = read(text.encode())
    assert isinstance(found, RttSamples)
    assert found.payload_bytes.tolist() == [56, 256]
    assert found.rtt_s == pytest.approx([0.0015, 0.0017])
    assert found.meta.warnings == ()


@pytest.mark.each("mark", ["-", "--"])
def test_a_first_row_of_marks_between_bars_is_no_rule(mark):
    """derived: one of three probes has no time; it was left out as the rule of a Markdown table."""
    found = read(f"rtt_ms|size_bytes\n{mark}|{mark}\n1.5|64\n2.5|64\n".encode())
    assert found.lost.tolist() == [True, False, False]


def test_two_kinds_of_one_name_are_two_columns():
    found = read(b"write_bytes,write_count,wall_s\n64,10000,10.2\n")
    assert list(found.columns()) == ["write_bytes", "write", "wall_s"]
    assert found.meta.warnings == ()
    alike = read(b"a_ms,a_ms,b_ms\n1,2,3\n")
    assert [one.code for one in alike.meta.warnings] == ["columns-numbered"]
