"""Options that are made from a signature and a docstring."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from netcalc.cli.options import JSON, command
from netcalc.errors import DomainError, UnitError


@command(JSON, names={"sizes": "--size"})
def asked(
    words: tuple[str, ...],
    *,
    sizes: tuple[str, ...] = (),
    rtt_s: float = 0.18,
    loss_ratio: Any = None,
    kind: str = "a",
    count: int | None = None,
    quick: bool = False,
    save_path: str | None = None,
    as_json: bool,
) -> None:
    """Print what was asked.

    Parameters
    ----------
    words : [WORD]...
        Words without an option.
    sizes : SIZE
        A size.
    rtt_s : float
        Round-trip time. [s]
    loss_ratio : float or range
        Loss. [ratio]
    kind : {'a', 'b'}
        The kind.
    count : int
        A number.
    quick : bool
        Do less.
    save_path : OUT
        File to write.
    """
    print(words, sizes, rtt_s, kind, count, quick, save_path, as_json, type(loss_ratio).__name__)


def run(*arguments):
    return CliRunner().invoke(asked, arguments)


def test_the_help_has_names_defaults_and_texts_of_the_signature_and_the_docstring():
    text = " ".join(run("--help").output.split())
    assert "Parameters" not in text
    for part in (
        "asked [OPTIONS] [WORD]...", "--size SIZE A size. May be repeated.",
        "--rtt TIME Round-trip time. [default: 180 ms]", "--kind [a|b] The kind. [default: a]",
        "--count NUMBER A number.", "--quick Do less.", "--save OUT File to write.",
        "--json Print JSON.",
    ):  # fmt: skip
        assert part in text


def test_values_are_read_by_the_type_and_the_unit():
    assert run().output == "() () 0.18 a None False None False NoneType\n"
    typed = ("x", "y", "--size", "1", "--size", "2", "--rtt", "5 ms", "--kind", "b", "--count", "3",
             "--quick", "--save", "f", "--json", "--loss", "1..2%")  # fmt: skip
    read, _, kind = run(*typed).output.strip().rpartition(" ")
    assert read == "('x', 'y') ('1', '2') 0.005 b 3 True f True"
    assert kind not in ("float", "NoneType")  # a range


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        (("--kind", "c"), DomainError, "not-a-choice"),
        (("--count", "x"), DomainError, "not-a-whole-number"),
        (("--rtt", "5"), UnitError, "unit-missing"),
    ],
)
def test_other_values_are_refused(arguments, error, code):
    refused = run(*arguments).exception
    assert isinstance(refused, error)
    assert refused.code == code
