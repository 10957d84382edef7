"""Text to numbers and back: what people type, what must be refused, and round trips."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc import units
from netcalc.errors import ArgumentTypeError, UnitError

# Expected values: definitions of the SI and IEC prefixes, and the standards named.
READ = [
    ("1.544 Mbit/s", "bit/s", 1_544_000, "SI prefix"),
    ("1.544Mbps", "bit/s", 1_544_000, "SI prefix, no blank"),
    ("10 Mb/s", "bit/s", 10e6, "b is a bit"),
    ("10 MB/s", "bit/s", 80e6, "B is a byte"),
    ("1 KiB/s", "bit/s", 8192, "Ki is 1024"),
    ("56 kbps", "bit/s", 56_000, "SI prefix"),
    ("56 Kbps", "bit/s", 56_000, "a rate is never 1024-based"),
    ("10GbE", "bit/s", 10e9, "Ethernet name"),
    ("T1", "bit/s", 1_544_000, "ANSI T1.107: 193 bit x 8000"),
    ("DS1", "bit/s", 1_544_000, "the same line"),
    ("T3", "bit/s", 44_736_000, "ANSI T1.107"),
    ("T3 nominal", "bit/s", 45e6, "as people say it"),
    ("t1 payload", "bit/s", 1_536_000, "24 x 64 kbit/s"),
    ("E1", "bit/s", 2_048_000, "ITU-T G.704: 32 x 64 kbit/s"),
    ("E3", "bit/s", 34_368_000, "ITU-T G.751"),
    ("OC-3", "bit/s", 155_520_000, "ANSI T1.105: 3 x 51.84 Mbit/s"),
    ("oc3c", "bit/s", 155_520_000, "the same, concatenated"),
    ("STM-1", "bit/s", 155_520_000, "the same, in ITU-T words"),
    ("OC-3 payload", "bit/s", 149_760_000, "RFC 5180 appendix A.2"),
    ("OC-12 payload", "bit/s", 599_040_000, "RFC 5180 appendix A.2"),
    ("64 KiB", "byte", 65_536, "IEC"),
    ("64 kB", "byte", 64_000, "SI"),
    ("1 MiB", "byte", 1_048_576, "IEC"),
    ("10 GB", "byte", 10e9, "SI"),
    ("8 Mbit", "byte", 1e6, "8 bits a byte"),
    ("1500 bytes", "byte", 1500, ""),
    ("1e3 B", "byte", 1000, "exponent"),
    ("30 ms", "s", 0.03, ""),
    ("4.063ms", "s", 0.004063, "no blank"),
    ("25 us", "s", 25e-6, ""),
    ("25 \u00b5s", "s", 25e-6, "U+00B5"),
    ("25 \u03bcs", "s", 25e-6, "U+03BC"),
    ("25 usec", "s", 25e-6, ""),
    ("1 min", "s", 60, ""),
    ("1min30sec", "s", 90, "compound"),
    ("1h 2min 3s", "s", 3723, "compound"),
    ("148.8 kpps", "packet/s", 148_800, ""),
    ("3%", "ratio", 0.03, ""),
    ("0.5 %", "ratio", 0.005, ""),
    ("0.03 ratio", "ratio", 0.03, ""),
    ("250 ppm", "ratio", 2.5e-4, ""),
    ("4800 km", "m", 4.8e6, ""),
    ("5 m", "m", 5, "a metre, where a distance is wanted"),
    ("80.7 us/B", "s/byte", 80.7e-6, ""),
    ("42", "1", 42, "a pure number needs no unit"),
    ("1,5 ms", "s", 0.0015, "decimal comma, one reading"),
    ("0,125 s", "s", 0.125, "decimal comma: no group starts with 0"),
    ("12,25 ms", "s", 0.01225, "decimal comma, two digits"),
    ("1,500,000 B", "byte", 1_500_000, "two groups have one reading"),
    ("1.500.000 B", "byte", 1_500_000, "two groups have one reading"),
    ("1.500,25 B", "byte", 1500.25, "point groups, comma decimal"),
    ("1,500.25 B", "byte", 1500.25, "comma groups, point decimal"),
    ("1\u00a0500 B", "byte", 1500, "no-break space"),
    ("1\u202f500 B", "byte", 1500, "narrow no-break space"),
    ("1'500 B", "byte", 1500, "apostrophe"),
    ("\u0663\u0660 ms", "s", 0.03, "Arabic-Indic digits"),
    ("\u0661\u066b\u0665 ms", "s", 0.0015, "Arabic decimal separator"),
    ("  5 ms ", "s", 0.005, "blanks around"),
    ("-5 ms", "s", -0.005, "a sign is a matter of the model"),
]


@pytest.mark.each(("text", "unit", "expected", "source"), READ)
def test_parse_reads_what_people_type(text, unit, expected, source):
    assert units.parse(text, unit) == pytest.approx(expected, rel=1e-14), source


REFUSED = [  # text, unit, code, and what the sentence names beside the text
    ("10 mb", "byte", "ambiguous-unit", ["10 Mbit", "10 MB"]),
    ("100 mbps", "bit/s", "ambiguous-unit", ["100 Mbit/s", "100 MB/s"]),
    ("10 mb", "bit/s", "ambiguous-unit", ["Mbit/s", "MB/s"]),
    ("5M", "bit/s", "ambiguous-unit", ["5 Mbit/s", "5 MB/s"]),
    ("5 k", "bit/s", "ambiguous-unit", ["kbit/s", "kB/s"]),
    ("5M", "byte", "ambiguous-unit", ["5 MB (bytes)", "5 Mbit (bits)"]),
    ("64b", "byte", "ambiguous-unit", ["64 B (bytes)", "64 bit (bits)"]),
    ("1Gb", "byte", "ambiguous-unit", ["1 Gbit (bits)", "1 GB (bytes)"]),
    ("8 Mb", "byte", "ambiguous-unit", ["8 Mbit (bits)", "8 MB (bytes)"]),
    ("64 KB", "byte", "ambiguous-unit", ["kB (1000", "KiB (1024"]),
    ("5 Mps", "packet/s", "ambiguous-unit", ["Mpps", "Mbit/s"]),
    ("5 mpps", "packet/s", "ambiguous-unit", ["Mpps"]),
    ("5 m", "s", "ambiguous-unit", ["min", "ms"]),
    ("1,500 B", "byte", "ambiguous-number", ["1500", "1.500"]),
    ("1,500", "1", "ambiguous-number", ["1500", "1.500"]),
    ("5", "s", "unit-missing", ["5 s", "5 ms"]),
    ("1500", "byte", "unit-missing", ["1500 B (bytes)", "1500 bit (bits)"]),
    ("0.5", "ratio", "unit-missing", ["0.5%", "0.5 ratio"]),
    ("50", "ratio", "unit-missing", ["50%"]),
    ("30 Mbit/s", "s", "unit-of-other-kind", ["a unit of a rate", "a time", "30 ms"]),
    ("30 ms", "bit/s", "unit-of-other-kind", ["a unit of a time", "a rate"]),
    ("12 parsec", "m", "unit-unknown", ["parsec", "4000 km"]),
    ("12 Mbot/s", "bit/s", "unit-unknown", ["Did you mean", "Mbit/s"]),
    ("", "s", "text-empty", ["a time", "30 ms"]),
    ("   ", "s", "text-empty", ["a time"]),
    ("fast", "bit/s", "no-number", ["fast", "10 Mbit/s"]),
    ("nan s", "s", "no-number", []),
    ("inf ms", "s", "no-number", []),
    ("1e999 s", "s", "number-too-large", []),
    ("1.2.3 s", "s", "malformed-number", ["1.2.3"]),
    ("1 2 ms", "s", "unit-unknown", ["2 ms"]),
    ("1,2,3 ms", "s", "malformed-number", []),
    ("3 dBm", "ratio", "unit-unknown", ["dBm"]),
    ("-3 dB", "ratio", "unit-of-other-kind", []),
    ("250 jiffies", "s", "unit-unknown", ["jiffies"]),
    ("250 ticks", "s", "unit-unknown", []),
    ("0x1F4 ms", "s", "unit-unknown", []),
    ("0x1F4", "1", "unit-unknown", []),
]


# What has one reading where the argument is known. Expected values: the prefixes, IEEE 802.3.
TYPED = [
    ("10G", "bit/s", 10e9),
    ("1gbps", "bit/s", 1e9),
    ("100 mbps", "bit/s", 100e6),
    ("1GBit/s", "bit/s", 1e9),
    ("100GE", "bit/s", 100e9),
    ("2.5G", "bit/s", 2.5e9),
    ("400g", "bit/s", 400e9),
    ("1000BASE-T", "bit/s", 1e9),
    ("10GBASE-SR", "bit/s", 10e9),
    ("100BASE-TX", "bit/s", 100e6),
    ("100M", "bit/s", 100e6),
    ("gigabit", "bit/s", 1e9),
    ("Fast Ethernet", "bit/s", 100e6),
    ("50 megabits per second", "bit/s", 50e6),
    ("50 Mbit", "bit/s", 50e6),
    ("10 Mb", "bit/s", 10e6),
    ("12 mB/s", "bit/s", 96e6),
    ("T1", "bit/s", 1.544e6),
    ("5 megabytes", "byte", 5e6),
    ("1 gbyte", "byte", 1e9),
    ("2 mebibytes", "byte", 2 * 2**20),
    ("0", "s", 0.0),
    ("0", "byte", 0.0),
    ("0.0", "ratio", 0.0),
    ("30 MSEC", "s", 0.03),
    ("0.8", "ratio", 0.8),
    ("0,8", "ratio", 0.8),
    ("1e-4", "ratio", 1e-4),
    ("1/10000", "ratio", 1e-4),
    ("1 in 1,000", "ratio", 1e-3),
    ("1:1000", "ratio", 1e-3),
    ("10^-6", "ratio", 1e-6),
    ("2x10^-6", "ratio", 2e-6),
    ("120 calls/hour", "packet/s", 120 / 3600),
    ("6 calls per minute", "packet/s", 0.1),
    ("1 mpps", "packet/s", 1e6),
    ("10k", "1", 1e4),
    ("2 million", "1", 2e6),
    ("6000 kilometers", "m", 6e6),
    ("3000 MILES", "m", 3000 * 1609.344),
]


@pytest.mark.each(("text", "unit", "expected"), TYPED)
def test_what_the_argument_makes_plain(text, unit, expected):
    assert units.parse_typed(text, unit) == pytest.approx(expected, rel=1e-14)


TYPED_REFUSED = [
    ("5M", "bit/s", "ambiguous-unit", ["5 Mbit/s", "5 MB/s"]),
    ("5M", "byte", "ambiguous-unit", ["5 MB (bytes)", "5 Mbit (bits)"]),
    ("1 GBPS", "bit/s", "ambiguous-unit", ["1 Gbit/s", "1 GB/s"]),
    ("10 mb", "bit/s", "ambiguous-unit", ["10 Mbit/s", "10 MB/s"]),
    ("64K", "byte", "ambiguous-unit", ["64 kB (1000", "64 KiB (1024"]),
    ("1 KByte", "byte", "ambiguous-unit", ["1 kB (1000", "1 KiB (1024"]),
    ("1,000 Mbit/s", "bit/s", "ambiguous-number", ["1000 Mbit/s", "1.000 Mbit/s"]),
    ("1500", "byte", "unit-missing", ["1500 B"]),
    ("30", "s", "unit-missing", ["30 s", "30 ms"]),
    ("1", "ratio", "unit-missing", ["1%", "100%"]),
    ("80", "ratio", "unit-missing", ["80%", "0.8 ratio"]),
    ("1/0", "ratio", "unit-unknown", ["3%"]),
    ("12 parsec", "m", "unit-unknown", ["4000 km"]),
    ("10^400", "1", "unit-unknown", ["10"]),
    ("2 x 10^" + "9" * 5000, "ratio", "unit-unknown", ["3%"]),
]


@pytest.mark.each(("text", "unit", "code", "named"), TYPED_REFUSED)
def test_what_the_argument_leaves_open_is_refused_with_the_fix(text, unit, code, named):
    with pytest.raises(UnitError) as caught:
        units.parse_typed(text, unit)
    assert caught.value.code == code
    assert [part for part in named if part not in str(caught.value)] == []


# Free text is hardly ever a number: most of it is of the signs that are typed.
SIGNS = st.text("0123456789.,^*x/:+-eE% kKmMgGtTbBpsinr", max_size=12)
POWERS = st.from_regex(r"[0-9.]{0,3} ?[x*]? ?10 ?(\^|\*\*) ?[+-]?[0-9]{1,5}", fullmatch=True)


@given(st.one_of(st.text(max_size=30), SIGNS, POWERS))
def test_any_typed_text_is_a_finite_number_or_a_unit_error(text):
    for unit in SHOWN_UNITS:
        with contextlib.suppress(UnitError):
            assert math.isfinite(units.parse_typed(text, unit, bare=True))


@pytest.mark.each(("text", "unit", "code", "named"), REFUSED)
def test_parse_refuses_and_names_the_readings(text, unit, code, named):
    with pytest.raises(UnitError) as caught:
        units.parse(text, unit, field="the field")
    assert caught.value.code == code
    message = str(caught.value)
    assert message.startswith("the field: ")
    assert [part for part in named if part not in message] == [], message


def test_comparing_what_cannot_be_compared_names_both():
    with pytest.raises(UnitError, match="'ms' measures a time, 'Mbit/s' measures a rate"):
        units.convert(1, "ms", "Mbit/s")
    with pytest.raises(UnitError, match="parsec"):
        units.convert(1, "parsec", "m")


def test_a_wrong_unit_of_the_caller_is_told():
    with pytest.raises(UnitError, match="not a supported unit"):
        units.parse("1 ms", "ms")


@pytest.mark.each(
    ("value", "from_unit", "to_unit", "expected"),
    [
        (1, "MB/s", "Mbit/s", 8),
        (1, "GiB", "byte", 2**30),
        (1, "GB", "GiB", 1e9 / 2**30),
        (90, "min", "h", 1.5),
        (1, "km", "m", 1000),
    ],
)
def test_convert(value, from_unit, to_unit, expected):
    assert units.convert(value, from_unit, to_unit) == pytest.approx(expected, rel=1e-15)


def test_named_lines_have_three_rates():
    t3 = units.line("T3")
    assert (t3.exact_bps, t3.nominal_bps) == (44.736e6, 45e6)
    assert t3.payload_bps == pytest.approx(44_209_694.1176)  # 84 of 85 bits; RFC 6349: 44.21 Mb/s
    assert units.line("OC-768").payload_bps == 38_338_560_000  # (768*87 - 256)*9*8*8000
    with pytest.raises(UnitError, match=r"OC-48"):
        units.line("T9")


@pytest.mark.each(
    ("value", "unit", "expected"),
    [
        (1_544_000, "bit/s", "1.544 Mbit/s"),
        (0, "bit/s", "0 bit/s"),
        (0.5, "bit/s", "0.5 bit/s"),
        (999_960, "bit/s", "1 Mbit/s"),
        (1500, "byte", "1500 B"),
        (65_536, "byte", "64 KiB"),
        (-65_536, "byte", "-64 KiB"),
        (3 * 2**20, "byte", "3 MiB"),
        (1_536 * 1024, "byte", "1536 KiB"),
        (65_537, "byte", "65.54 kB"),
        (128_000, "byte", "128 kB"),
        (0.0307, "s", "30.7 ms"),
        (5e-9, "s", "5 ns"),
        (1e-10, "s", "0.1 ns"),
        (0, "s", "0 s"),
        (8127.4, "packet/s", "8127 pps"),
        (148_809.5, "packet/s", "148.8 kpps"),
        (0.005, "ratio", "0.5%"),
        (1.0, "ratio", "100%"),
        (2.046e-8, "ratio", "0.02046 ppm"),
        (2e-10, "ratio", "2e-10 ratio"),
        (math.nan, "s", "not defined"),
        (math.inf, "s", "inf s"),
        (8.07e-5, "s/byte", "80.7 µs/B"),
        (3.5, "1", "3.5"),
        (-0.0307, "s", "-30.7 ms"),
    ],
)
def test_show(value, unit, expected):
    assert units.show(value, unit) == expected


SHOWN_UNITS = ("bit/s", "byte", "bit", "packet/s", "s", "ratio", "m", "m/s", "s/byte", "1")


@given(
    value=st.floats(min_value=1e-12, max_value=1e14, allow_nan=False),
    unit=st.sampled_from(SHOWN_UNITS),
    sign=st.sampled_from([1, -1]),
)
def test_what_is_shown_is_read_back(value, unit, sign):
    """Identity: 17 significant digits keep a float; 4 keep it to half a unit in the fourth."""
    assert units.parse(units.show(sign * value, unit, digits=17), unit) == pytest.approx(
        sign * value, rel=1e-14
    )
    assert units.parse(units.show(sign * value, unit), unit) == pytest.approx(
        sign * value, rel=5.0001e-4
    )


@given(
    number=st.integers(min_value=1, max_value=999),
    written=st.sampled_from(["kbit/s", "Mbit/s", "Gbit/s", "MB/s", "kB", "MiB", "ms", "us", "min"]),
)
def test_convert_there_and_back(number, written):
    kind = units.kind_of(written)
    assert kind is not None
    there = units.parse(f"{number} {written}", kind)
    assert there / units.factor_of(written, kind) == pytest.approx(number, rel=1e-14)


@given(st.text(max_size=30))
def test_any_text_is_a_finite_number_or_a_unit_error(text):
    for unit in SHOWN_UNITS:
        with contextlib.suppress(UnitError):
            assert math.isfinite(units.parse(text, unit))


def test_a_list_of_texts_is_a_list_of_numbers():
    assert units.parse(["10 ms", "1.5 s"], "s") == [0.01, 1.5]
    assert units.parse(("T1", "10 Mbit/s"), "bit/s") == [1.544e6, 1e7]
    assert units.parse([], "s") == []


@pytest.mark.each(("field", "named"), [(None, "text[1]"), ("rtt", "rtt[1]")])
def test_the_text_of_a_list_that_cannot_be_read_is_named(field, named):
    with pytest.raises(UnitError) as caught:
        units.parse(["1 s", "1 m", "2 m"], "s", field=field)
    assert (caught.value.field, caught.value.text) == (named, "1 m")
    with pytest.raises(UnitError, match=r"text\[0\]: \['1 s'\] is not a time"):
        units.parse([["1 s"]], "s")


@pytest.mark.each("kind", [pd.Series, np.array, pd.DataFrame])
def test_texts_in_an_array_or_a_column_are_refused_with_what_to_write(kind):
    texts = kind(["10 ms", "20 ms"])
    with pytest.raises(ArgumentTypeError) as caught:
        units.parse(texts, "s")
    name = type(texts).__name__
    assert (caught.value.code, caught.value.values["found"]) == ("texts-not-a-list", name)
    assert str(caught.value).endswith(f"got {name}. Give it as a list: column.tolist()")
    assert units.parse(np.ravel(texts).tolist(), "s") == [0.01, 0.02]


def test_one_text_of_numpy_is_one_number():
    assert units.parse(np.array(["10 ms"])[0], "s") == 0.01
    assert units.parse(np.float64(3), "1") == 3.0
