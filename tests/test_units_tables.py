"""Every spelling of every unit, every named line and every step of what is shown.

The factors are the definitions of the SI and IEC prefixes and of the units themselves, written out
here once more.
"""

from __future__ import annotations

import math

import pytest

from netcalc import units
from netcalc.errors import UnitError

SI = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
IEC = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}
BITS = ("bit/s", "bits/s", "b/s", "bps", "bit/sec", "bits/sec", "bit per second", "Bit/s", "Bits/s")
OCTETS = ("B/s", "Bps", "byte/s", "bytes/s", "Byte/s", "Bytes/s", "B/sec")
PACKETS = ("pps", "fps", "p/s", "packet/s", "packets/s", "pkt/s", "pkts/s", "frame/s", "frames/s",
           "segment/s", "segments/s", "datagram/s", "datagrams/s", "call/s",
           "calls/s", "request/s", "requests/s", "rps", "qps")  # fmt: skip
SPELLINGS = {
    "bit/s": {
        **{p + name: f for p, f in (SI | {"K": 1000} | IEC).items() for name in BITS},
        **{p + name: 8 * f for p, f in (SI | {"K": 1000} | IEC).items() for name in OCTETS},
        "GbE": 10**9,
    },
    "byte": {
        **{
            p + name: f for p, f in (SI | IEC | {"E": 10**18}).items()
            for name in ("B", "byte", "bytes", "Byte", "Bytes", "octet", "octets")
        },
        **{
            p + name: f / 8 for p, f in (SI | IEC | {"E": 10**18}).items()
            for name in ("bit", "bits")
        },
        **{p + "b": f / 8 for p, f in IEC.items()},
    },
    "packet/s": {
        **{p + name: f for p, f in (SI | {"K": 1000}).items() for name in PACKETS},
        "Hz": 1, "kHz": 1000, "/s": 1, "1/s": 1,
    },
    "call/s": {
        f"{name}/{per}": 1 / seconds for name in ("call", "calls")
        for per, seconds in (("s", 1), ("min", 60), ("h", 3600), ("hr", 3600), ("hour", 3600),
                             ("d", 86_400), ("day", 86_400))
    },
    "s": {
        "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
        "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
        "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "usec": 1e-6, "microsecond": 1e-6,
        "microseconds": 1e-6, "ns": 1e-9, "nsec": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
        "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600,
        "hours": 3600, "d": 86_400, "day": 86_400, "days": 86_400,
        "week": 7 * 86_400, "weeks": 7 * 86_400,
        "month": 2_629_800, "months": 2_629_800,
        "y": 31_557_600, "yr": 31_557_600, "yrs": 31_557_600, "year": 31_557_600,
        "years": 31_557_600,
    },
    "ratio": {
        "%": 0.01, "\u2030": 0.001, "ppm": 1e-6, "ppb": 1e-9, "percent": 0.01, "per cent": 0.01,
        "pct": 0.01, "ratio": 1,
    },
    "m": {
        "m": 1, "km": 1000, "cm": 0.01, "mm": 0.001, "mi": 1609.344, "mile": 1609.344,
        "miles": 1609.344, "metre": 1, "metres": 1, "meter": 1, "meters": 1,
    },
    "m/s": {"m/s": 1, "km/h": 1 / 3.6, "km/s": 1000, "c": 299_792_458},
    "Hz": {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9},
    "dB": {"dB": 1},
    "s/byte": {
        "s/B": 1, "ms/B": 1e-3, "us/B": 1e-6, "\u00b5s/B": 1e-6, "ns/B": 1e-9, "s/byte": 1,
        "ms/byte": 1e-3, "us/byte": 1e-6, "ns/byte": 1e-9,
    },
}  # fmt: skip
SPELLINGS["bit"] = {name: 8 * factor for name, factor in SPELLINGS["byte"].items()}


@pytest.mark.each("unit", SPELLINGS)
def test_every_spelling(unit):
    for written, factor in SPELLINGS[unit].items():
        assert units.factor_of(written, unit) == pytest.approx(factor, rel=1e-14), written
        assert units.parse(f"3 {written}", unit) == pytest.approx(3 * factor, rel=1e-14), written
        assert units.kind_of(written) is not None
    known = units._TABLES[unit]
    assert set(known) == set(SPELLINGS[unit]), "a spelling that no test reads"


def test_a_pure_number_has_no_unit():
    assert set(units._TABLES) == {*SPELLINGS, "1"}
    assert units.factor_of("", "1") == 1.0
    assert units.parse("2.5", "1") == 2.5
    assert units.kind_of("") is None


KBYTES = "KByte KBytes Kbyte Kbytes"


@pytest.mark.each(
    ("unit", "written"),
    [
        ("bit/s", "mbps gbps mb/s gb/s mb gb kps Mps Gps k K m M G T KBPS MBPS GBPS"),
        ("byte", f"KB Kb b kb mb Mb gb Gb Tb Pb k K m M G T {KBYTES}"),
        ("bit", f"KB Kb b kb mb Mb gb Gb Tb Pb k K m M G T {KBYTES}"),
        ("packet/s", "mpps Mps k M G"),
        ("s", "m M Ms Msec"),
        ("m", "Mm"),
    ],
)
def test_every_spelling_with_two_readings(unit, written):
    for one in written.split():
        with pytest.raises(UnitError) as caught:
            units.parse(f"5 {one}", unit)
        readings = caught.value.values["readings"]
        assert len(readings) >= 2, "both readings are named"
    assert set(units._AMBIGUOUS[unit]) == set(written.split())


@pytest.mark.each(
    ("text", "unit", "readings"),
    [
        ("5 mbps", "bit/s", ("Mbit/s", "MB/s")),
        ("5 gb/s", "bit/s", ("Gbit/s", "GB/s")),
        ("5 mb", "bit/s", ("Mbit/s", "MB/s")),
        ("5 m", "bit/s", ("Mbit/s", "MB/s")),
        ("5 K", "bit/s", ("Kbit/s", "KB/s")),
        ("5 kps", "bit/s", ("kbit/s", "kB/s", "kpps")),
        ("5 gb", "byte", ("Gbit", "GB")),
        ("5 m", "byte", ("MB", "Mbit")),
        ("5 T", "byte", ("TB", "Tbit")),
        ("5 k", "packet/s", ("kpps", "kbit/s")),
        ("5", "bit/s", ("5 bit/s", "5 Mbit/s")),
        ("5", "byte", ("5 B", "5 bit")),
        ("5", "bit", ("5 bit", "5 B")),
        ("5", "s", ("5 s", "5 ms")),
        ("5", "ratio", ("5%", "5 ratio")),
        ("5", "packet/s", ("5 pps", "5 kpps")),
        ("5", "m", ("5 m", "5 km")),
        ("5", "m/s", ("km/s",)),
        ("1,500 ms", "s", ("1500", "1.500")),
        ("-1,500 ms", "s", ("-1500", "-1.500")),
    ],
)
def test_readings_that_are_offered(text, unit, readings):
    with pytest.raises(UnitError) as caught:
        units.parse(text, unit, field="f")
    assert caught.value.field == "f"
    assert caught.value.text == text
    for one in readings:
        assert one in str(caught.value)


# published: ANSI T1.107 and T1.105, ITU-T G.704 and G.751; derived: payloads slot by slot
LINES = {
    "DS0": (64_000, 64_000, 64_000),
    "T1": (193 * 8000, 1_500_000, 24 * 64_000),
    "T3": (44_736_000, 45_000_000, 44_736_000 * 84 / 85),
    "E1": (32 * 64_000, 2_000_000, 31 * 64_000),
    "E3": (34_368_000, 34_000_000, 34_368_000 * 1524 / 1536),
    # 90 columns of 9 octets, 8000 times a second; 3 columns of section and line overhead, 1 of path
    "OC-1": (90 * 9 * 64_000, 52e6, (90 - 3 - 1) * 9 * 64_000),
    "OC-3": (3 * 90 * 9 * 64_000, 155e6, (3 * 87 - 1) * 9 * 64_000),
    "OC-12": (12 * 90 * 9 * 64_000, 622e6, (12 * 87 - 1 - 3) * 9 * 64_000),
    "OC-48": (48 * 90 * 9 * 64_000, 2.5e9, (48 * 87 - 1 - 15) * 9 * 64_000),
    "OC-192": (192 * 90 * 9 * 64_000, 10e9, (192 * 87 - 1 - 63) * 9 * 64_000),
    "OC-768": (768 * 90 * 9 * 64_000, 40e9, (768 * 87 - 1 - 255) * 9 * 64_000),
}
ALIASES = {
    "DS1": "T1", "DS3": "T3", "STM-1": "OC-3", "STM-4": "OC-12", "STM-16": "OC-48",
    "STM-64": "OC-192", "STM-256": "OC-768", "STS-1": "OC-1", "STS-3": "OC-3", "STS-12": "OC-12",
    "STS-48": "OC-48", "DS-1": "T1", "DS-3": "T3", "T-3": "T3", "E-1": "E1", "oc3": "OC-3",
    "OC12C": "OC-12", "stm16": "OC-48", " oc-48c ": "OC-48", "sts3c": "OC-3",
}  # fmt: skip


@pytest.mark.each(("name", "rates"), LINES.items())
def test_every_named_line(name, rates):
    found = units.line(name)
    assert (found.exact_bps, found.nominal_bps, found.payload_bps) == pytest.approx(
        rates, rel=1e-14
    )
    assert units.parse(name, "bit/s") == pytest.approx(rates[0], rel=1e-14)
    for which, rate in zip(("exact", "nominal", "payload"), rates, strict=True):
        assert units.parse(f"{name} {which.upper()}", "bit/s") == pytest.approx(rate, rel=1e-14)
    assert set(units.LINES) == set(LINES)


@pytest.mark.each(("alias", "name"), ALIASES.items())
def test_every_other_name_of_a_line(alias, name):
    assert units.line(alias) == units.LINES[name]


@pytest.mark.each("text", ["T1 gross", "T1 exact rate", "1 T1", "T9", "OC-5", "T1 T1"])
def test_what_is_no_named_line(text):
    with pytest.raises(UnitError):
        units.parse(text, "bit/s")


def test_a_named_line_is_a_rate_only():
    with pytest.raises(UnitError):
        units.parse("T1", "byte")


@pytest.mark.each(
    ("text", "value"),
    [
        ("1d", None),
        ("1d2h", 93_600),
        ("1 h 30 min", 5400),
        ("2min 1.5s", 121.5),
        (" 1min30sec ", 90),
        ("1d 1h 1min 1sec", 90_061),
        ("10sec5s", 15),
    ],
)
def test_times_of_several_parts(text, value):
    if value is None:
        assert units.parse(text, "s") == 86_400
        return
    assert units.parse(text, "s") == pytest.approx(value, rel=1e-15)


@pytest.mark.each(
    ("text", "value"),
    [
        ("1,5", 1.5), ("-1,5", -1.5), (",5", 0.5), (".5", 0.5), ("5.", 5.0), ("0,125", 0.125),
        ("+0,125", 0.125), ("1500,125", 1500.125), ("12,3456", 12.3456), ("1,50", 1.5),
        (",125", 0.125),
        ("1.500", 1.5), ("1,500.5", 1500.5), ("1.500,5", 1500.5), ("12.345.678,9", 12_345_678.9),
        ("12,345,678.9", 12_345_678.9), ("1,234,567", 1_234_567), ("-1.234.567", -1_234_567),
        ("1'234'567", 1_234_567), ("1\u2019234.5", 1234.5), ("1\u2009234,5", 1234.5),
        ("1\u00a0234\u00a0567", 1_234_567), ("1e3", 1000), ("1.5E-3", 0.0015), ("1,5e+3", 1500),
        ("1,234,567e2", 123_456_700), ("\u22125", -5), ("1\u066c234", 1234), ("\uff11\uff12", 12),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(text, value):
    assert units.parse_number(text) == pytest.approx(value, rel=1e-15)
    assert units.parse(text + "s", "s") == pytest.approx(value, rel=1e-15)


@pytest.mark.each(
    "text",
    [
        "1,500", "999,999", "-12,345", "+1,500", "1.2.3", "1,2,3", "1,23,456.7", "1.5,000.0",
        "1,500.2.3", "1,2.500,1", "1234,567.8", "1'23", "1'2345", "1 234'567", "1'234\u00a0567",
        "1,234.567,8", "1..5", ",", "1,234,56", "1.234.5", "1234'567",
    ],
)  # fmt: skip
def test_numbers_with_two_readings_or_none(text):
    with pytest.raises(UnitError):
        units.parse_number(text)


def test_the_largest_number():
    assert units.parse("1.7e308 s", "s") == 1.7e308
    with pytest.raises(UnitError):
        units.parse("1.7e308 min", "s")
    with pytest.raises(UnitError):
        units.parse("-1.7e308 min", "s")


@pytest.mark.each(
    ("value", "unit", "shown"),
    [
        # each step from below and from its own value
        (999, "bit/s", "999 bit/s"), (1000, "bit/s", "1 kbit/s"), (999e3, "bit/s", "999 kbit/s"),
        (1e6, "bit/s", "1 Mbit/s"), (1e9, "bit/s", "1 Gbit/s"), (1e12, "bit/s", "1 Tbit/s"),
        (5e15, "bit/s", "5000 Tbit/s"), (0.25, "bit/s", "0.25 bit/s"),
        (9999, "byte", "9999 B"), (10_000, "byte", "10 kB"), (999e3, "byte", "999 kB"),
        (1e6, "byte", "1 MB"), (1e9, "byte", "1 GB"), (1e12, "byte", "1 TB"),
        (0.5, "byte", "0.5 B"),
        (999, "bit", "999 bit"), (1e3, "bit", "1 kbit"), (1e6, "bit", "1 Mbit"),
        (1e9, "bit", "1 Gbit"), (1e12, "bit", "1 Tbit"), (0.5, "bit", "0.5 bit"),
        (9999, "packet/s", "9999 pps"), (10_000, "packet/s", "10 kpps"),
        (1e6, "packet/s", "1 Mpps"), (1e9, "packet/s", "1 Gpps"), (0.5, "packet/s", "0.5 pps"),
        (1, "s", "1 s"), (0.999, "s", "999 ms"), (1e-3, "s", "1 ms"), (9.99e-4, "s", "999 \u00b5s"),
        (1e-6, "s", "1 \u00b5s"), (9.99e-7, "s", "999 ns"), (86_400, "s", "1 d"),
        (999, "m", "999 m"), (1000, "m", "1 km"), (0.5, "m", "0.5 m"),
        (999, "m/s", "999 m/s"), (2e8, "m/s", "200000 km/s"), (1000, "m/s", "1 km/s"),
        (0.5, "m/s", "0.5 m/s"),
        (1, "s/byte", "1 s/B"), (2e-3, "s/byte", "2 ms/B"), (1e-3, "s/byte", "1 ms/B"),
        (5e-6, "s/byte", "5 \u00b5s/B"), (1e-6, "s/byte", "1 \u00b5s/B"),
        (5e-8, "s/byte", "50 ns/B"),
        (0, "byte", "0 B"), (0, "packet/s", "0 pps"), (0, "bit", "0 bit"), (0, "m", "0 m"),
        (-math.inf, "byte", "-inf B"), (0, "s/byte", "0 s/B"), (0, "m/s", "0 m/s"),
        # shares: percent, from a hundred-thousandth down ppm, from a thousand-millionth down bare
        (0, "ratio", "0%"), (1e-5, "ratio", "0.001%"), (9.9e-6, "ratio", "9.9 ppm"),
        (1e-9, "ratio", "0.001 ppm"), (9e-10, "ratio", "9e-10 ratio"), (-5e-6, "ratio", "-5 ppm"),
        (-0.25, "ratio", "-25%"), (12.5, "ratio", "1250%"), (123.456, "ratio", "12350%"),
        # rounded first
        (999.96, "bit/s", "1 kbit/s"), (999.94, "bit/s", "999.9 bit/s"), (0.99996, "s", "1 s"),
        (9999.6, "packet/s", "10 kpps"),
        # other units, and pure numbers
        (12.5, "erlang", "12.5 erlang"), (12345.6, "erlang", "1.235e+04 erlang"),
        (12345.6, "1", "1.235e+04"), (math.nan, "1", "nan"), (math.nan, "erlang", "not defined"),
        # KiB and MiB
        (10_240, "byte", "10.24 kB"), (16_384, "byte", "16 KiB"), (12_288, "byte", "12 KiB"),
        (9216, "byte", "9216 B"), (1024 * 9999, "byte", "9999 KiB"),
        (1024 * 10_001, "byte", "10.24 MB"), (2**20 * 9999, "byte", "9999 MiB"),
        (2**30, "byte", "1 GiB"), (2**40, "byte", "1 TiB"), (2**54, "byte", "18.01 PB"),
        (32_769, "byte", "32.77 kB"), (32_768, "byte", "32 KiB"), (20_480.0, "byte", "20.48 kB"),
    ],
)  # fmt: skip
def test_every_step_of_what_is_shown(value, unit, shown):
    assert units.show(value, unit) == shown


@pytest.mark.each(
    ("value", "unit", "digits", "shown"),
    [
        (1_234_567, "bit/s", 2, "1.2 Mbit/s"), (1_234_567, "bit/s", 6, "1.23457 Mbit/s"),
        (0.123456, "ratio", 2, "12%"), (3.14159, "1", 3, "3.14"), (65_536, "byte", 5, "65.536 kB"),
        (123_456, "s", 3, "1.43 d"), (12.3456, "erlang", 3, "12.3 erlang"),
        (999.6, "bit/s", 3, "1 kbit/s"), (2.345e-6, "ratio", 2, "2.3 ppm"),
        (2.345e-10, "ratio", 2, "2.3e-10 ratio"), (1e15, "dB", 4, "1e+15 dB"),
        (999_900_000_000_000.0, "dB", 4, "999900000000000 dB"),
    ],
)  # fmt: skip
def test_digits_of_what_is_shown(value, unit, digits, shown):
    assert units.show(value, unit, digits=digits) == shown


@pytest.mark.each(
    ("value", "given", "wanted", "expected"),
    [
        (3, "kB", "bit", 24_000), (24, "kbit", "kB", 3), (2, "ms/B", "us/B", 2000),
        (5, "%", "ppm", 50_000), (1, "mi", "km", 1.609344), (60, "kpps", "1/s", 60_000),
        (8, "Mbit/s", "MB/s", 1),
    ],
)  # fmt: skip
def test_conversions_by_hand(value, given, wanted, expected):
    assert units.convert(value, given, wanted) == pytest.approx(expected, rel=1e-14)


@pytest.mark.each(
    ("one", "other"), [("ms", "kB"), ("%", "m"), ("parsec", "s"), ("s", "parsec"), ("", "s")]
)
def test_conversions_between_kinds_are_refused(one, other):
    with pytest.raises(UnitError):
        units.convert(1, one, other)


@pytest.mark.each(("written", "unit"), [("ms", "byte"), ("parsec", "m"), ("", "s")])
def test_factors_of_what_is_no_such_unit(written, unit):
    with pytest.raises(UnitError):
        units.factor_of(written, unit)


def test_a_misspelled_unit_has_a_hint_of_its_own_kind():
    with pytest.raises(UnitError) as caught:
        units.parse("5 Mbitt/s", "bit/s")
    assert "Mbit/s" in str(caught.value.hint)
    with pytest.raises(UnitError) as caught:
        units.parse("5 milliscond", "s")
    assert "millisecond" in str(caught.value.hint)
    with pytest.raises(UnitError) as caught:
        units.parse("5 qqqqq", "s")
    assert "30 ms" in str(caught.value.hint), "the example of a time"


@pytest.mark.each(
    ("unit", "example"),
    [
        ("bit/s", "10 Mbit/s"), ("byte", "1500 B"), ("bit", "12 kbit"), ("packet/s", "10 kpps"),
        ("s", "30 ms"), ("m", "4000 km"), ("m/s", "200000 km/s"), ("s/byte", "80 us/B"),
        ("1", "10"), ("ratio", "3%"),
    ],
)  # fmt: skip
def test_the_example_of_a_unit_can_be_read(unit, example):
    assert example in units.example(unit)
    assert math.isfinite(units.parse(example, unit))
    assert "erlang" in units.example("erlang")
