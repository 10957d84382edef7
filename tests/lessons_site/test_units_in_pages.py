"""Quantities in a page: the same text is the same number as in Python, or refused the same way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from offline_browser import chromium, missing, opened

from netcalc import units
from netcalc.errors import UnitError
from netcalc.lessons.site import calculator_page

UNITS = Path(calculator_page.__file__).with_name("units.js")
TEXTS = (
    "0", "1", "1.5", "1,5", "1,500", "1.500,25", "0,125", "1 500", "1500", "+5", "-5 ms", "1e3",
    "10 Mbit/s", "10Mbit/s", "10 mb", "5M", "T1", "t1", "DS-3", "OC3", "OC-3c payload",
    "stm-16 nominal", "E1 exact", "30 ms", "1.5s", "1h 30min", "1 d 2 h", "3%", "0.8", "1.2",
    "150%", "1/10000", "1 in 100", "1:20", "10^-6", "2x10^3", "10**4", "1e-3", "1e400", "10G",
    "100GE", "1000BASE-T", "10M", "100M", "7M", "1gbps", "1 GBit/s", "12.5 MB/s", "64 KiB",
    "64 kB", "64KB", "1 GB", "8 bit", "80 kbit", "10 kpps", "2 Mpps", "5 mpps", "100 calls/h",
    "30/min", "4000 km", "100 miles", "200000 km/s", "1 c", "80 us/B", "3 GHz", "30 dB", "10k",
    "1 million", "2 thousand", "", " ", "abc", "ten", "1..2", "nan", "inf", "１０ ms", "٣ ms",
    "10 ms ", "5 parsec", "64-byte", "1 megabit/s", "1 gigabit per second", "3 GB/day",
    "1 TB per week", "99.9 %", "50 ppm", "1 ppb", "7 ‰", "5 percent", "1 µs", "1 μs", "20 usec",
    "2 weeks", "1 month", "3 years", "10 kilometres", "fast ethernet", "GigE", "100 Mb", "9 Gb",
    "1 kb", "1 b", "1 octet", "2 EB", "1.5e6 bit/s", "1'000 ms", "1\u00a0000 ms", "1,2,3", "1.2.3",
    "1,000,000 B", "1.000.000 B", "-0", "0.0", "0,0", "1 constructor", "1 __proto__",
    "<script>alert(1)</script>",
)  # fmt: skip
NUMBERS = (
    0.0, -0.0, 1.0, 1234.5, 1235.5, 1.2345e-4, 1e-9, 5e-7, 1e-5, 999950.0, 999960.0, 65536.0,
    65537.0, 64000.0, 1048576.0, 1e18, 3e6, 1.936e8, 86400.0, 0.9995, 0.999997, 0.03, 1.2, 1e-10,
    1e300, 1e-300, 5e-324, -5.5, 2.5, 0.125, 123456789.0, 1e15, 1e16, 99999.5, 9999.0, 10239.5,
    1536.0, 2.5e-8, 1e-6, 0.1 + 0.2, 1 / 3, 2 / 3 * 1e7, 8.5e5, 2**53 + 0.0,
)  # fmt: skip


@pytest.mark.browser("other")
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_page_reads_and_writes_quantities_as_python_does(tmp_path):
    """The reference is netcalc.units, which has tests of its own."""
    kinds = calculator_page.KINDS
    texts = [[text, unit, bare] for text in TEXTS for unit in kinds for bare in (False, True)]
    shown = [[n, unit, d] for n in NUMBERS for unit in (*kinds, "s/packet") for d in (4, 6, 12)]
    tables = json.dumps(calculator_page.unit_tables())
    page = tmp_path / "units.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><script>{UNITS.read_text(encoding='utf-8')}\n"
        f"const units = netcalcUnits({tables});</script>",
        encoding="utf-8",
    )
    with chromium() as browser, opened(browser, page.as_uri()) as window:
        read = window.evaluate(
            """cases => cases.map(([text, unit, bare]) => {
              try { return units.parseTyped(text, unit, bare); }
              catch (error) { return [error.code, error.values.readings ?? null]; }
            })""",
            texts,
        )
        written = window.evaluate("cases => cases.map(one => units.show(...one))", shown)
    assert [
        (case, found) for case, found in zip(texts, read, strict=True) if found != in_python(*case)
    ] == []
    assert [
        (case, found)
        for case, found in zip(shown, written, strict=True)
        if found != units.show(case[0], case[1], digits=case[2])
    ] == []


def in_python(text, unit, bare):
    try:
        return units.parse_typed(text, unit, bare=bare)
    except UnitError as error:
        readings = error.values.get("readings")
        return [error.code, None if readings is None else list(readings)]
