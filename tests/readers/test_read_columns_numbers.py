"""Columns as people write them: each header, unit, cell and separator, and what is made of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import MAX_BYTES
from netcalc.readers import read_columns as read
from netcalc.readers.columns import read_column
from netcalc.readers.source import MAX_LINE
from netcalc.samples import RttSamples, Table, TransferSamples

# How a header may write one thing: the header, a cell, the name in the table, the SI value; by hand
HEADERS = [
    ("x [ms]", "3", "x_s", 0.003), ("x (ms)", "3", "x_s", 0.003), ("x/ms", "3", "x_s", 0.003),
    ("x / ms", "3", "x_s", 0.003), ("x in ms", "3", "x_s", 0.003), ("x, ms", "3", "x_s", 0.003),
    ("x_ms", "3", "x_s", 0.003), ("x ms", "3", "x_s", 0.003), ("x_us", "3", "x_s", 3e-6),
    ("x_µs", "3", "x_s", 3e-6), ("x_usec", "3", "x_s", 3e-6), ("x_msec", "3", "x_s", 0.003),
    ("x_ns", "3", "x_s", 3e-9), ("x_s", "3", "x_s", 3.0), ("x_sec", "3", "x_s", 3.0),
    ("x_seconds", "3", "x_s", 3.0), ("x_bytes", "3", "x_bytes", 3.0),
    ("x_byte", "3", "x_bytes", 3.0), ("x_bits", "3", "x_bytes", 0.375),
    ("x_bit", "3", "x_bytes", 0.375), ("[ms]", "3", "[ms]", 3.0), ("x []", "3", "x", 3.0),
    ("x_bps", "3", "x_bps", 3.0), ("x_kbps", "3", "x_bps", 3e3), ("x_Mbps", "3", "x_bps", 3e6),
    ("x_Gbps", "3", "x_bps", 3e9), ("x_pps", "3", "x_pps", 3.0), ("x_ratio", "3", "x_ratio", 3.0),
    ("x_pct", "3", "x_ratio", 0.03), ("x_percent", "3", "x_ratio", 0.03), ("x_kB", "3", "x_bytes",
    3e3), ("x_KiB", "3", "x_bytes", 3072.0), ("x_MB", "3", "x_bytes", 3e6), ("x_MiB", "3",
    "x_bytes", 3 * 2.0**20), ("x_km", "3", "x_m", 3e3), ("x_count", "3", "x", 3.0),
    ("x [m/s]", "3", "x_m_s", 3.0), ("bytes", "3", "bytes_bytes", 3.0), ("my x [ms]", "3", "my_x_s",
    0.003), ("x", "3", "x", 3.0), ("x [ms]", "3 s", "x_s", 3.0), ("x [ms]", "3us", "x_s", 3e-6),
    ("x [ms]", "1e-3", "x_s", 1e-6), ("x [ms]", "+.5", "x_s", 0.0005), ("x [ms]", "0.1", "x_s",
    0.0001), ("x [Mbit/s]", "1.544", "x_bps", 1.544e6), ("x", "-7", "x", -7.0),
    ("throughput [pps]", "3", "throughput_pps", 3.0), ("throughput [MB/s]", "3", "throughput_bps",
    24e6), ("rate/pps", "3", "rate_pps", 3.0), ("speed [km/s]", "3", "speed_m_s", 3e3),
    ("window [1]", "3", "window", 3.0), ("mtu/B", "1500", "mtu_bytes", 1500.0),
]  # fmt: skip


@pytest.mark.each(("header", "cell", "name", "value"), HEADERS)
def test_a_header_names_its_quantity_and_unit(header, cell, name, value):
    table = read(f"{header};run\n{cell};a\n{cell};b\n")
    assert isinstance(table, Table)
    assert list(table.columns()) == [name, "run"]
    assert table[name].tolist() == pytest.approx([value] * 2, rel=1e-15)


# What a header may call a size, a round trip and a duration, in the languages of the tools' users
SIZES = (
    "payload size bytes length len data data_size message_size msgsize packet_size pktsize "
    "payload-size user_data transfersize filesize Größe Grösse taille tamaño"
)
RTTS = "rtt RoundTrip round_trip_time ping ping-time rtt_min min_rtt rtts"
DURATIONS = "duration time transfer_time elapsed elapsed_time total-time Zeit temps Dauer"


def test_a_size_and_a_time_by_any_name_are_samples():
    for size in SIZES.split():
        samples = read(f"{size} [B],rtt [ms]\n56,1.5\n")
        assert isinstance(samples, RttSamples), size
        assert samples.payload_bytes.tolist() == [56]
    for rtt in RTTS.split():
        samples = read(f"size [B],{rtt} [ms]\n56,1.5\n")
        assert isinstance(samples, RttSamples), rtt
        assert samples.rtt_s.tolist() == [0.0015]
    for duration in DURATIONS.split():
        samples = read(f"size [B],{duration} [ms]\n56,1.5\n")
        assert isinstance(samples, TransferSamples), duration
        assert samples.duration_s.tolist() == [0.0015]


# A number under these heads means nothing without a unit: by what the quantity is
UNITLESS = {
    "s": "rtt duration latency delay owd jitter rttavg rttmax serialization",
    "byte": "size payload mtu mss window buffer length",
    "bit/s": "bandwidth throughput goodput rate speed bitrate data_rate",
    "ratio": "loss utilization utilisation",
    "m": "distance",
}


@pytest.mark.each(("unit", "names"), UNITLESS.items())
def test_a_quantity_without_a_unit_is_refused_with_two_readings(unit, names):
    examples = {"s": ["7 ms", "7 s"], "byte": ["7 B", "7 bit"], "m": ["7 km", "7 m"],
                "bit/s": ["7 Mbit/s", "7 MB/s"], "ratio": ["7 %", "7 ratio"]}[unit]  # fmt: skip
    for name in names.split():
        with pytest.raises(ReaderError) as refused:
            read(f"run,{name}\na,7\nb,8\n", name="mine.csv")
        found = refused.value
        assert (found.code, found.line, found.field) == ("column-without-unit", 1, name)
        assert found.values["unit"] == unit
        assert found.values["readings"] == examples


MISSING = "|-|--|—|–|*|?|n/a|NA|#N/A|nan|NaN|null|None|nil|missing|timeout|Timed out|lost|no reply"


def test_what_stands_for_a_missing_value_is_missing():
    cells = MISSING.split("|")
    samples = read("size/B,rtt/ms\n" + "".join(f"56,{cell}\n" for cell in cells) + "56,2\n")
    assert np.isnan(samples.rtt_s[:-1]).all()
    assert samples.rtt_s[-1] == 0.002
    assert samples.lost.tolist() == [True] * len(cells) + [False]
    assert samples.meta.warnings == (Notice("rows-without-time", {"count": len(cells)}),)


def test_the_separator_is_the_one_that_half_of_the_lines_agree_on():
    rows = ((56, 1.5), (57, 2.5), (58, 3.5))
    for separator, word in (("\t", "tabs"), (";", "semicolons"), ("|", "vertical bars"),
                            (",", "commas"), ("  ", "blanks")):  # fmt: skip
        lines = [f"{a}{separator}{b}" for a, b in rows]
        samples = read("\n".join([f"size_bytes{separator}rtt_ms", *lines]) + "\n")
        assert samples.rtt_s.tolist() == [0.0015, 0.0025, 0.0035]
        assert samples.meta.note == f"columns separated by {word}, decimal point"
    hinted = read("sep=;\nsize/B;rtt/ms;a,b,c\n56;1.5;1,2,3\n")
    assert hinted.meta.note.startswith("columns separated by semicolons")
    hinted = read('"sep=,"\nx;1,y;2\n5,6\n7,8\n')
    assert list(hinted.columns()) == ["x;1", "y;2"], "the hint outranks the lines"
    strange = read("sep=#\nx;y\n5;6\n7;8\n")
    assert strange["y"].tolist() == [6, 8], "no separator of a table: the lines decide"
    ends = read("x;y;;\n5;6;;\n7;8\n")
    assert list(ends.columns()) == ["x", "y"]
    assert not ends.meta.warnings
    for sign, text in ((",", "decimal comma"), (".", "decimal point")):
        samples = read(f"size/B;rtt/ms\n56;1{sign}5\n", decimal=sign)
        assert samples.meta.note.endswith(text)
        assert samples.rtt_s.tolist() == [0.0015]


def test_rows_that_do_not_fit_are_named_and_the_rest_is_read():
    text = "size/B,rtt/ms\n1,1\n2\n3,3\n\n# a remark\n4,4,4\n5,5,,\n"
    samples = read(text)
    assert samples.payload_bytes.tolist() == [1, 3, 5]
    assert Notice("rows-skipped", {"numbers": [3, 7], "width": 2}) in samples.meta.warnings
    assert not samples.meta.partial
    cut = read("size/B,rtt/ms\n1,1\n2,2\n3")
    assert cut.payload_bytes.tolist() == [1, 2]
    assert cut.meta.partial
    assert cut.meta.warnings == (Notice("last-line-cut", {"number": 4}),)
    with pytest.raises(ReaderError) as refused:
        read("size/B,rtt/ms\n1,1\n2\n3\n", name="mine.csv")
    found = refused.value
    assert (found.code, found.line) == ("unequal-rows", 3)
    assert (found.values["width"], found.values["separator"]) == (2, "commas")
    half = read("size/B,rtt/ms\n1,1\n2\n")
    assert half.payload_bytes.tolist() == [1], "as many fit as do not"


def test_a_row_of_units_is_no_row():
    table = read("run,delay,rate [bit/s]\n-,ms,Mbit/s\na,3,4\nb,5,6\n")
    assert table["delay_s"].tolist() == [0.003, 0.005]
    assert table["rate_bps"].tolist() == [4, 6], "the header's unit stands"
    with pytest.raises(ReaderError) as refused:
        read("run,delay\n-,ms\na,3\nb,x\n")
    assert refused.value.line == 4
    plain = read("run,note\n1,ms\n2,B\n")
    assert plain["note"].tolist() == ["ms", "B"], "a number stands beside the unit"


def test_columns_without_a_name_or_with_one_name():
    table = read("x [ms],,x,x\n1,2,3,4\n5,6,7,8\n")
    assert table["x_s"].tolist() == [0.001, 0.005]
    assert table["column_2"].tolist() == [2, 6]
    assert table["x_2"].tolist() == [3, 7]
    assert table["x_3"].tolist() == [4, 8]
    assert table.meta.warnings == (
        Notice("unnamed-column", {"number": 2, "column": "column_2"}),
        Notice("columns-numbered", {"count": 3, "column": "x"}),
    )
    with pytest.raises(ReaderError) as refused:
        read("size/B,rtt/ms,rtt/s\n1,2,3\n")
    assert (refused.value.code, refused.value.line) == ("columns-of-one-name", 1)
    assert (refused.value.field, refused.value.values["count"]) == ("rtt", 2)
    exact = read("payload/B,size/B,rtt/ms\n1,2,3\n")
    assert exact.payload_bytes.tolist() == [1], "payload is the plainer word"
    with pytest.raises(ReaderError) as refused:
        read("data/B,size/B,rtt/ms\n1,2,3\n")
    assert refused.value.code == "ambiguous-columns"
    assert refused.value.values["columns"] == ["data/B", "size/B"]


def test_the_limits_are_whole_mebibytes():
    assert MAX_BYTES == 2**26, "64 MiB of a file"
    assert MAX_LINE == 2**20, "1 MiB of a line"


def test_as_many_columns_as_are_allowed():
    for count in (1000, 1001):
        text = ",".join(f"c{n}" for n in range(count)) + "\n" + ",".join(["1"] * count) + "\n"
        if count == 1000:
            assert len(read(text).columns()) == 1000
        else:
            with pytest.raises(ReaderError) as refused:
                read(text, name="mine.csv")
            found = refused.value
            assert (found.code, found.line) == ("too-many-columns", 1)
            assert (found.values["count"], found.values["limit"]) == (1001, 1000)


def test_further_columns_of_round_trips_and_transfers_are_used_or_named():
    samples = read("size/B,rtt/ms,icmp_seq,ttl,sent [s],lost,duplicate,host\n"
                   "56,1,3,64,9.5,no,YES,a\n57,2,4,63,9.75,1,0,b\n")  # fmt: skip
    assert samples.sequence.tolist() == [3, 4]
    assert samples.ttl.tolist() == [64, 63]
    assert samples.sent_s.tolist() == [9.5, 9.75]
    assert samples.lost.tolist() == [False, True]
    assert samples.duplicate.tolist() == [True, False]
    assert samples.meta.warnings == (Notice("columns-ignored", {"count": 1, "columns": ["host"]}),)
    moved = read("size/B,time/s,failed,host\n1,2,true,a\n3,4,false,b\n")
    assert moved.failed.tolist() == [True, False]
    assert moved.meta.warnings == (Notice("columns-ignored", {"count": 1, "columns": ["host"]}),)
    with pytest.raises(ReaderError) as refused:
        read("size/B,time/s,failed\n1,2,true\n3,4,maybe\n")
    found = refused.value
    assert (found.code, found.line, found.field) == ("not-a-flag", 3, "failed")
    assert found.values["value"] == "maybe"


def test_two_readings_of_a_number_are_refused_and_one_is_read():
    """A grouped number and a decimal one look alike with three digits, and only then."""
    for cell, value in (("1.5", 1.5), ("1500", 1500), ("1,5", 1.5), ("1,50", 1.5), ("0,125", 0.125),
                        ("1,2345", 1.2345), ("1.234,5", 1234.5)):  # fmt: skip
        assert read(f"x;y\n{cell};1\n")["x"].tolist() == [value], cell
    for text, readings in (("x;y\n1,500;1\n", ["1500", "1.500"]),
                           ("x;y\n1.500;2,5\n", ["1500", "1.500"])):  # fmt: skip
        with pytest.raises(ReaderError) as refused:
            read(text)
        found = refused.value
        assert (found.code, found.line, found.field) == ("ambiguous-cell", 2, "x")
        assert found.values["readings"] == readings
    with pytest.raises(ReaderError) as refused:
        read("size/B,rtt/ms\n1,2\n3,inf\n")
    found = refused.value
    assert (found.code, found.line, found.field) == ("infinite-cell", 3, "rtt")
    assert (found.values["value"], found.values["unit"]) == ("inf", "ms")
    with pytest.raises(ReaderError) as refused:
        read("size/B,rtt/ms\n1,2\n3,4\n5,x7\n")
    assert (refused.value.code, refused.value.line) == ("not-a-number", 4)


def test_a_unit_of_another_kind_or_of_no_kind():
    with pytest.raises(ReaderError) as refused:
        read("run,delay [B]\na,7\n", name="mine.csv")
    found = refused.value
    assert (found.code, found.line, found.field) == ("column-unit-of-other-kind", 1, "delay")
    assert (found.values["written"], found.values["unit"]) == ("B", "s")
    counted = read("time (s),queue (packets),cwnd [segments]\n0,5,1\n1,12,2\n2,20,4\n")
    assert (counted["queue"].tolist(), counted["cwnd"].tolist()) == ([5, 12, 20], [1, 2, 4])
    assert (counted.meta.units["queue"], counted.meta.warnings) == ("1", ())
    strange = read("run,level [parsec]\na,7\nb,8\n")
    assert strange["level [parsec]"].tolist() == [7, 8]
    assert strange.meta.warnings == (
        Notice("unit-ignored", {"written": "parsec", "column": "level"}),
    )
    with pytest.raises(ReaderError) as refused:
        read("run,x\na,7\n", units={"y": "ms"}, name="mine.csv")
    found = refused.value
    assert found.code == "no-such-column"
    assert (found.values["column"], found.values["written"]) == ("y", "ms")
    assert found.values["columns"] == ["run", "x"]
    with pytest.raises(ReaderError) as refused:
        read("1,2\n3,4\n", name="mine.csv")
    assert (refused.value.code, refused.value.line) == ("no-header", 1)
    with pytest.raises(ReaderError) as refused:
        read("run,note\na,b\nc,d\n", name="mine.csv")
    assert refused.value.code == "no-number-column"
    assert not math.isnan(read("x,y\n1,2\n")["x"][0])


def test_a_file_that_ends_within_a_character_is_cut_there():
    """By UTF-8: the first one to three bytes of a character of two to four."""
    text = b"run,level\na,1\nb,2\nc,3\n"
    for character in ("é", "€", "\U0001f600"):
        for kept in range(1, len(character.encode())):
            table = read(text + character.encode()[:kept], name="mine.csv")
            assert table["level"].tolist() == [1, 2, 3]
            assert Notice("cut-in-character") in table.meta.warnings


@pytest.mark.each(
    ("cells", "step_s"),
    [
        (("1.1", "1.25", "2"), 1e-5),  # by hand: the finest has two decimals of a millisecond
        (("12", "7", "100"), 1e-3),
        (("1.5e-2", "3", "-"), 1e-6),  # three decimals of a millisecond
        (("1.1", "2 s", "3"), math.nan),  # a unit of its own: unknown
    ],
)
def test_printed_digits_are_a_resolution(cells, step_s):
    samples = read(
        "size_bytes;rtt_ms\n" + "".join(f"{n};{one}\n" for n, one in enumerate(cells, 1))
    )
    known = ~np.isnan(samples.rtt_s)
    assert samples.resolution_s[known] == pytest.approx(np.full(known.sum(), step_s), nan_ok=True)
    assert math.isnan(step_s) or not samples.resolution_s[~known].any()


def test_a_decimal_comma_has_decimals_too_and_other_columns_have_a_step():
    table = read("rate [Mbit/s];loss [%]\n1,2;1\n1,25;2\n")
    # by hand: 0.01 Mbit/s and one percent
    assert table.meta.resolutions == pytest.approx({"rate_bps": 1e4, "loss_ratio": 0.01})
    moved = read("size_bytes;time_ms\n56;1.5\n200;2.5\n")
    assert moved.meta.resolutions == pytest.approx({"duration_s": 1e-4})


@pytest.mark.each(
    ("heading", "column", "unit", "expected"),
    [
        ("rtt_ms", "rtt_ms", "s", [0.5, 2.0]), ("rtt_ms", "rtt", "s", [0.5, 2.0]),
        ("RTT [ms]", "rtt", "s", [0.5, 2.0]), ("rate/kbit/s", "rate", "bit/s", [5e5, 2e6]),
        ("size [kB]", "size", "byte", [5e5, 2e6]), ("size [kB]", "size", "bit", [4e6, 1.6e7]),
        ("n", "n", "1", [500, 2000]), ("share [%]", "share", "ratio", [5, 20]),
    ],
)  # fmt: skip
def test_one_column_by_its_name(heading, column, unit, expected):
    text = f"other_s,{heading}\n1,500\n2,2000\n"
    assert read_column(text, column, unit).tolist() == pytest.approx(expected)


def test_a_name_as_it_is_written_goes_before_one_in_other_letters():
    text = "A_ms,a_ms\n1,2\n"
    assert read_column(text, "a", "s").tolist() == [0.002]
    assert read_column(text, "A", "s").tolist() == [0.001]
    assert read_column("A_ms,b_ms\n1,2\n", "a", "s").tolist() == [0.001]
    assert read_column("a_ms,a_us\n1,2\n", "a_us", "s").tolist() == [2e-6]


@pytest.mark.each(
    ("text", "column", "code", "line", "values"),
    [
        ("a_ms,b\n1,2\n", "c", "column-not-there", 1, {"columns": ["a_ms", "b"]}),
        ("rtt [ms],rtt/us\n1,2\n", "rtt", "columns-of-one-name", 1, {"count": 2}),
        ("a_ms,a_us\n1,2\n", "a", "columns-of-one-name", 1, {"count": 2}),
        ("A_ms,A_us\n1,2\n", "a", "columns-of-one-name", 1, {"count": 2}),
        ("a_ms,b\n1,2\n", "b", "column-without-unit", 1,
         {"value": "2", "unit": "s", "readings": ["2 ms", "2 s"]}),
        ("a [kB],b\n1,2\n", "a", "column-unit-of-other-kind", 1, {"written": "kB", "unit": "s"}),
        ("a_ms,b\n1,2\n\n,3\n-,4\n", "a", "column-with-gaps", 4, {"count": 2, "total": 3}),
    ],
)  # fmt: skip
def test_one_column_that_cannot_be_read_is_refused(text, column, code, line, values):
    with pytest.raises(ReaderError) as refused:
        read_column(text, column, "s")
    assert (refused.value.code, refused.value.line) == (code, line)
    assert {name: refused.value.values[name] for name in values} == values
