"""Answers as students type them, in the writing of many countries, and texts that are none."""

from __future__ import annotations

import math

import pytest

from netcalc import exercises
from netcalc.exercises import answers

# What is typed, the unit of the exercise, and the number meant (by the rules of writing).
READ = [
    ("13.2 ms", "s", 0.0132),
    ("13.2ms", "s", 0.0132),
    ("13,2 ms", "s", 0.0132),
    ("0,0132 s", "s", 0.0132),
    ("13.2 msec", "s", 0.0132),
    ("13200 µs", "s", 0.0132),
    ("13200 us", "s", 0.0132),
    ("1.32e-2 s", "s", 0.0132),
    ("1.32E-2 s", "s", 0.0132),
    ("1.32 x 10^-2 s", "s", 0.0132),
    ("1.32*10^-2 s", "s", 0.0132),
    ("1.32 × 10⁻² s", "s", 0.0132),
    ("1,32·10**-2 s", "s", 0.0132),
    ("1.32 \\cdot 10^{-2} s", "s", 0.0132),
    ("10^-2 s", "s", 0.01),
    ("10⁻² s", "s", 0.01),
    ("= 13.2 ms", "s", 0.0132),
    ("t = 13.2 ms", "s", 0.0132),
    ("≈13.2 ms", "s", 0.0132),
    ("about 13.2 ms", "s", 0.0132),
    ("13.2 ms.", "s", 0.0132),
    ("  13.2\u00a0ms  ", "s", 0.0132),
    ("13.2\u202fms\n", "s", 0.0132),
    ("١٣٫٢ ms", "s", 0.0132),
    ("13.2 ms", "s", 0.0132),
    ("$13.2 ms$", "s", 0.0132),
    ("−13.2 ms", "s", -0.0132),
    ("2 min", "s", 120.0),
    ("1 472 B", "byte", 1472.0),
    ("1472 bytes", "byte", 1472.0),
    ("1,472.0 B", "byte", 1472.0),
    ("1'472 B", "byte", 1472.0),
    ("11776 bit", "byte", 1472.0),
    ("1.5 kB", "byte", 1500.0),
    ("1.5 KiB", "byte", 1536.0),
    ("9.41 Mbit/s", "bit/s", 9.41e6),
    ("9.41 Mb/s", "bit/s", 9.41e6),
    ("9.41 Mbps", "bit/s", 9.41e6),
    ("1.5 MB/s", "bit/s", 12e6),
    ("9 410 000 bit/s", "bit/s", 9.41e6),
    ("T1", None, None),
    ("812 pps", "packet/s", 812.0),
    ("812 packets/s", "packet/s", 812.0),
    ("812 frames per second", "packet/s", 812.0),
    ("0.97", "ratio", 0.97),
    ("97 %", "ratio", 0.97),
    ("97%", "ratio", 0.97),
    ("97 ٪", "ratio", 0.97),
    ("3", "1", 3.0),
    ("3 packets", "1", 3.0),
    ("3 round trips", "1", 3.0),
    ("3.5x", "1", 3.5),
    ("3.5 times", "1", 3.5),
    ("1_472", "1", 1472.0),
    ("1,472,000", "1", 1472000.0),
    (3, "1", 3.0),
    (2.5, "1", 2.5),
    ("0", "s", 0.0),
    ("0 s", "s", 0.0),
]


@pytest.mark.each(("text", "unit", "value"), [row for row in READ if row[1]])
def test_an_answer_is_read(text, unit, value):
    reading = answers.read_answer(text, unit)
    assert reading.fault == ""
    assert math.isclose(reading.value, value, rel_tol=1e-12)


# What is typed, the unit of the exercise, and the kind of verdict.
REFUSED = [
    ("13.2", "s", "unit missing"),
    (13.2, "s", "unit missing"),
    ("1472", "byte", "unit missing"),
    ("97", "ratio", "unit missing"),
    ("13.2 Mbit/s", "s", "unit wrong"),
    ("13.2 kB", "s", "unit wrong"),
    ("13.2 %", "s", "unit wrong"),
    ("12.5 MB", "bit/s", "unit wrong"),
    ("812 packets", "packet/s", "unit wrong"),
    ("3 ms", "1", "unit wrong"),
    ("25 %", "1", "unit wrong"),
    ("1,234 s", "s", "asked back"),
    ("12,500", "1", "asked back"),
    ("5 KB", "byte", "asked back"),
    ("5 mb", "byte", "asked back"),
    ("5 M", "byte", "asked back"),
    ("5 m", "s", "asked back"),
    ("", "s", "unreadable"),
    ("   ", "s", "unreadable"),
    ("fast", "s", "unreadable"),
    ("ms", "s", "unreadable"),
    ("NaN", "s", "unreadable"),
    ("nan s", "s", "unreadable"),
    ("inf s", "s", "unreadable"),
    ("-inf", "1", "unreadable"),
    ("10^400 s", "s", "unreadable"),
    ("1e400 s", "s", "unreadable"),
    ("1e999999999999 s", "s", "unreadable"),
    ("9" * 90 + " s", "s", ""),
    ("9" * 200 + " s", "s", "unreadable"),
    ("13.2 furlongs", "s", "unreadable"),
    ("13..2 ms", "s", "unreadable"),
    ("1.2.3 ms", "s", "unreadable"),
    ("13.2 ms or 14 ms", "s", "unreadable"),
    ("13 - 14 ms", "s", "unreadable"),
    ("8*N/R", "s", "unreadable"),
    ("<script>alert(1)</script>", "s", "unreadable"),
    ("13.2 <b>ms</b>", "s", "unreadable"),
    ("1,234 <script>", "s", "unreadable"),
    ("__import__('os').system('true')", "1", "unreadable"),
    ("13.2\x1b[2J ms", "s", "unreadable"),
    ("13.2 ms\x00", "s", "unreadable"),
    ("\ud800", "s", "unreadable"),
    ("13.2 \U000f0000", "s", "unreadable"),
    (None, "s", "unreadable"),
    (True, "1", "unreadable"),
    ([13.2], "s", "unreadable"),
    (b"13.2 ms", "s", "unreadable"),
    (float("nan"), "1", "unreadable"),
    (float("inf"), "1", "unreadable"),
    ("½ s", "s", "unreadable"),
]


@pytest.mark.each(("text", "unit", "fault"), REFUSED)
def test_an_answer_is_refused(text, unit, fault):
    assert answers.read_answer(text, unit).fault == fault


def test_a_number_of_5000_digits_is_not_read():
    assert answers.read_answer(10**5000, "1").fault == "unreadable"


def test_what_is_not_counted():
    question = exercises.draw("TR1", student="s1")
    kinds = {
        kind: question.check(text)
        for kind, text in {"asked back": "5 m", "unreadable": "soon", "unit missing": "7"}.items()
    }
    assert all(verdict.kind == kind for kind, verdict in kinds.items())
    assert [verdict.counts for verdict in kinds.values()] == [False, False, True]


@pytest.mark.each("text", [row[0] for row in REFUSED])
def test_nothing_of_a_hostile_answer_is_repeated(text):
    question = exercises.draw("TR1", student="s1")
    said = str(question.check(text))
    assert said.isprintable()
    assert "script" not in said
    assert "<" not in said


@pytest.mark.each(
    ("number", "digits", "last"),
    [
        ("13.2", 3, 0.1),
        ("0.0132", 3, 0.0001),
        ("13,20", 4, 0.01),
        ("1500", 2, 100.0),
        ("1472", 4, 1.0),
        ("1.32e-2", 3, 1e-4),
        ("0", 1, 1.0),
        ("13.0", 3, 0.1),
        ("5", 1, 1.0),
    ],
)
def test_digits_are_those_typed(number, digits, last):
    found, size = answers._precision(number)
    assert found == digits
    assert math.isclose(size, last, rel_tol=1e-9)


def test_a_number_beyond_all_units_is_unreadable_and_no_try():
    question = exercises.draw("TR1", student="s1")
    for text in ("10^400", "1e5000", "10^400 s"):
        verdict = question.check(text)
        assert (verdict.kind, verdict.counts) == ("unreadable", False), text
    assert question.check("13").kind == "unit missing"
