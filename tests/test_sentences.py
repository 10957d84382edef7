"""How sentences are written: each format by hand, notices in files, every field of an error."""

from __future__ import annotations

import copy

import pytest

from netcalc import errors, messages
from netcalc.messages import Notice


@pytest.fixture(autouse=True)
def codes(monkeypatch):
    """Short sentences for codes of these tests alone."""
    for code, template in {
        "has-no-time": "has no time", "is-bad": "bad", "is-missing": "is missing",
        "nobody-there": "nobody",
    }.items():  # fmt: skip
        monkeypatch.setitem(messages.MESSAGES, code, template)
        monkeypatch.setitem(messages.HINTS, code, "Do {name}")
    readings = "cannot read {shown} as {expected}"
    monkeypatch.setitem(messages.MESSAGES, "two-readings", readings)


@pytest.fixture
def written(monkeypatch):
    """Write a template with values, as a code of its own would."""

    def write(template, **values):
        monkeypatch.setitem(messages.MESSAGES, "own-template", template)
        return messages.sentence("own-template", values)

    return write


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{x:reply|replies}", 0, "0 replies"),
        ("{x:reply|replies}", 1, "1 reply"),
        ("{x:reply|replies}", 2, "2 replies"),
        ("{x:reply|replies}", 12345, "12,345 replies"),
        ("{x:lines}", [3], "line 3"),
        ("{x:lines}", [3, 4], "lines 3-4"),
        ("{x:lines}", [7, 3, 5, 6, 5], "lines 3, 5-7"),
        ("{x:lines}", [1, 3, 5, 7, 9, 11, 13, 15], "lines 1, 3, 5, 7, 9, 11, 13, 15"),
        ("{x:lines}", [1, 3, 5, 7, 9, 11, 13, 15, 17],
         "lines 1, 3, 5, 7, 9, 11, 13, 15 and 1 more"),
        ("{x:lines}", [*range(1, 16, 2), *range(17, 2000)],
         "lines 1, 3, 5, 7, 9, 11, 13, 15 and 1,983 more"),
        ("{x:lines}", [0, 1], "lines 0-1"),
        ("{x:or}", ["a"], "a"),
        ("{x:or}", ["a", "b"], "a or b"),
        ("{x:or}", ["a", "b", 3], "a, b or 3"),
        ("{x:s}", 0.0015, "1.5 ms"),
        ("{x:bit/s}", 8e6, "8 Mbit/s"),
        ("{x:ratio}", 0.12, "12%"),
        ("{x:byte}", [8, 100.0], "8 B, 100 B"),
        ("{x:byte}", list(range(1, 9)), "1 B, 2 B, 3 B, 4 B, 5 B, 6 B, 7 B, 8 B"),
        ("{x:byte}", list(range(1, 10)), "1 B, 2 B, 3 B, 4 B, 5 B, 6 B, 7 B, 8 B and 1 more"),
        ("{x:byte}", list(range(1, 2010)), "1 B, 2 B, 3 B, 4 B, 5 B, 6 B, 7 B, 8 B and 2,001 more"),
        ("{x:,}", 12345, "12,345"),
        ("{x:.2f}", 1.239, "1.24"),
        ("{x}", 0.1 + 0.2, "0.3"),
        ("{x}", 123456789012345.0, "123456789012345"),
        ("{x}", 7, "7"),
        ("{x}", "text", "text"),
        ("{x!r}", "text", "'text'"),
        ("{x}", ["a", 0.30000000000000004], "a, 0.3"),
        ("{x}", {"one"}, "one"),
        ("{x}", b"ab", "b'ab'"),
        ("{x}", None, "None"),
    ],
)  # fmt: skip
def test_formats(written, template, value, expected):
    """The formats that the module documents, each written by hand."""
    assert written(template, x=value) == expected


def test_every_template_has_hints_and_codes_that_exist():
    assert set(messages.HINTS) <= set(messages.MESSAGES)
    assert set(messages.ALLOWED) <= set(messages.MESSAGES)


def test_hints():
    """From the most to the least particular: nearest names, the code's own, none."""
    assert messages.hint("not-a-choice", {"suggestions": ["bulk"]}) == "Did you mean bulk?"
    assert messages.hint("not-a-choice", {"suggestions": ["a", "b"]}) == "Did you mean a or b?"
    assert messages.hint("stray-datagrams", {"suggestions": []}) == messages.hint(
        "stray-datagrams", {}
    )
    assert messages.hint("is-bad", {"name": "it"}) == "Do it"
    assert messages.hint("verbatim", {}) is None


@pytest.mark.parametrize("code", sorted(messages.TYPED_HINTS))
def test_hints_on_a_command_line_name_its_options(code, monkeypatch):
    monkeypatch.setitem(messages.HINTS, code, "of Python")
    monkeypatch.setitem(messages.TYPED_HINTS, code, "as typed")
    assert messages.hint(code, {"typed": True}) == "as typed"
    assert messages.hint(code, {"typed": False}) == "of Python"
    assert messages.hint(code, {}) == "of Python"


def test_what_a_number_may_be():
    assert messages.allowed("not-positive", {}) == "greater than 0"
    assert messages.allowed("out-of-range", {"low": 0.0, "high": 2.5}) == "from 0 to 2.5"
    assert messages.allowed("stray-datagrams", {"count": 2}) is None


def test_a_notice_is_a_sentence_and_survives_a_file():
    notice = Notice("late-replies", {"count": 1, "timeout_s": 0.25})
    assert str(Notice("late-replies", {"count": 3, "timeout_s": 1.0})) == (
        "3 replies arrived after the 1 s timeout and count as lost"
    )
    stored = notice.stored()
    assert stored["code"] == "late-replies"
    assert stored["values"] == {"count": 1, "timeout_s": 0.25}
    assert stored["text"] == str(notice)
    assert Notice.load(stored) == notice


def test_notices_of_other_versions():
    """A sentence of before, a code of a later version, and what is no warning."""
    assert str(Notice.load("an old sentence")) == "an old sentence"
    assert Notice.load("an old sentence").code == "verbatim"
    later = Notice.load({"code": "from-the-future", "values": {"a": 1}, "text": "it wrote this"})
    assert (later.code, str(later)) == ("verbatim", "it wrote this")
    assert str(Notice.load({"code": "from-the-future"})) == "from-the-future"
    bare = Notice.load({"code": "nobody-there"})
    assert (bare.code, bare.values) == ("nobody-there", {})
    edited = Notice.load({"code": "stray-datagrams", "values": {}, "text": "ignored some"})
    assert (edited.code, str(edited)) == ("verbatim", "ignored some")
    for wrong in (
        3,
        None,
        [],
        {},
        {"code": 3},
        {"values": {}},
        {"code": "verbatim", "values": [1]},
    ):
        with pytest.raises(TypeError):
            Notice.load(wrong)


def test_domain_error():
    error = errors.DomainError("not-positive", "service_s", -0.001)
    assert (error.code, error.name, error.value) == ("not-positive", "service_s", -0.001)
    assert error.allowed == "greater than 0"
    assert error.what == "service_s must be greater than 0, got -0.001"
    assert error.as_dict() == {
        "type": "DomainError", "code": "not-positive", "name": "service_s", "value": -0.001,
        "allowed": "greater than 0", "message": str(error), **({"hint": error.hint} if error.hint
        else {}),
    }  # fmt: skip
    at = errors.DomainError("not-positive", "service_s", -0.001, index=4)
    assert at.what == "service_s must be greater than 0, got -0.001 (at index 4)"
    hinted = errors.DomainError("is-bad", "service_s", 0)
    assert hinted.hint == "Do service_s"
    assert str(hinted) == "bad. Do service_s"


def test_argument_type_error():
    error = errors.ArgumentTypeError("not-numbers", "rtt_s", "'x'")
    assert error.values == {"name": "rtt_s", "found": "'x'"}


def test_reader_error():
    """Where it is, what was found and expected: each only if it is known."""
    told = {"line": 3, "offset": 17, "field": "rtt", "value": "x", "unit": "ms",
            "expected": "a time"}  # fmt: skip
    error = errors.ReaderError("has-no-time", file="ping.txt", name="this", **told)
    for name, value in {**told, "file": "ping.txt"}.items():
        assert getattr(error, name) == value
        assert error.values[name] == value
    assert str(error) == (
        "ping.txt, line 3, byte 17, field rtt: has no time; found 'x'; expected a time [ms]. "
        "Do this"
    )
    assert error.fault == "has no time; found 'x'; expected a time [ms]"
    assert error.as_dict()["what"] == "has no time"
    assert str(errors.ReaderError("has-no-time", file="a", name="it")) == "a: has no time. Do it"
    short = errors.ReaderError("is-bad", file="a", expected="one", name="it")
    assert str(short) == "a: bad; expected one. Do it"
    at = errors.ReaderError("is-bad", file="a", line=0, offset=0, name="it")
    assert str(at) == "a, line 0, byte 0: bad. Do it"


def test_dataset_error():
    error = errors.DatasetError("is-missing", file="mbufs.csv", name="it")
    assert (error.file, error.hint) == ("mbufs.csv", "Do it")
    assert str(error) == "mbufs.csv: is missing. Do it"
    assert error.as_dict()["what"] == "is missing"


def test_convergence_error():
    error = errors.ConvergenceError("the root", iterations=3, residual=0.5, last=2.0)
    assert (error.iterations, error.residual, error.last) == (3, 0.5, 2.0)
    assert error.values == {"what": "the root", "iterations": 3, "residual": 0.5, "last": 2.0}
    assert "the root" in str(error)


@pytest.mark.each(
    ("address", "shown"),
    [({"host": "::1", "port": 7}, " (::1:7)"), ({"host": "::1"}, " (::1)"), ({}, ""),
     ({"host": "h", "port": 0}, " (h)")],
)  # fmt: skip
def test_experiment_error(address, shown):
    error = errors.ExperimentError("nobody-there", phase="connect", name="it", **address)
    assert str(error) == f"connect: nobody{shown}. Do it"
    assert (error.phase, error.host, error.port) == (
        "connect", address.get("host"), address.get("port"),
    )  # fmt: skip
    assert error.values["phase"] == "connect"
    assert error.values["host"] == address.get("host")
    assert error.values["port"] == address.get("port")
    assert error.partial is None
    assert (error.code, error.hint) == ("nobody-there", "Do it")
    assert error.as_dict()["what"] == "nobody"


@pytest.mark.each(("found", "code"), [(None, "package-missing"), ("1.0", "package-too-old")])
def test_missing_package_error(found, code):
    error = errors.MissingPackageError("bokeh", extra="lab", purpose="--plot", found=found)
    assert (error.code, error.package, error.extra, error.found) == (code, "bokeh", "lab", found)
    assert error.values == {"package": "bokeh", "extra": "lab", "purpose": "--plot", "found": found}
    assert ("found" in error.as_dict()) == (found is not None)


def test_unit_error():
    error = errors.UnitError("two-readings", "5 M", expected="a rate", field="bandwidth")
    assert (error.text, error.expected, error.field) == ("5 M", "a rate", "bandwidth")
    assert str(error) == "bandwidth: cannot read '5 M' as a rate"
    without = errors.UnitError("two-readings", "5 M", expected="a rate")
    assert without.field is None
    assert str(without) == "cannot read '5 M' as a rate"


@pytest.mark.each(("length", "shown"), [(78, "'" + 78 * "9" + "'"), (79, "'" + 79 * "9" + "...")])
def test_text_of_a_line_is_shown_whole_and_longer_text_in_part(length, shown):
    # by hand: with its two quotes, text of 78 characters has the 80 of a line
    error = errors.UnitError("two-readings", "9" * length, expected="a rate")
    assert str(error) == f"cannot read {shown} as a rate"


def test_a_warning_has_its_code_and_values():
    warning = errors.NotFiniteWarning("not-finite-elements", name="size", count=2, size=9, index=4)
    assert warning.code == "not-finite-elements"
    assert warning.values == {"name": "size", "count": 2, "size": 9, "index": 4}
    for part in ("size", "2", "9", "4"):
        assert part in str(warning)


def test_errors_can_be_copied_with_attributes_that_were_added():
    error = errors.DomainError("not-positive", "service_s", 0)
    error.note = "by hand"
    assert copy.copy(error).note == "by hand"
    assert copy.copy(error).values == error.values
