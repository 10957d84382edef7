"""``netcalc convert``: a quantity in another unit."""

from __future__ import annotations

import re

import click

from netcalc import units
from netcalc.cli import mistakes, options, print_json, put
from netcalc.errors import UnitError

_FILLERS = frozenset({"to", "in", "into", "as", "=", "->"})
_NUMBER = re.compile(r"(?P<number>[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?)\s*(?P<unit>.*)", re.DOTALL)
_USUAL = {
    "bit/s": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "kB/s", "MB/s", "MiB/s"),
    "byte": ("B", "kB", "KiB", "MB", "MiB", "GB", "GiB", "bit"),
    "s": ("ns", "us", "ms", "s", "min", "h"),
    "ratio": ("%", "ppm", "ratio"),
    "packet/s": ("pps", "kpps", "Mpps"),
    "m": ("m", "km", "miles"),
    "m/s": ("m/s", "km/s", "c"),
}
"""The units of each kind that are printed where none is asked for."""
_DIGITS = 10


@options.command(click.Argument(["words"], nargs=-1, metavar="QUANTITY [UNIT]"), options.JSON)
def convert(words: tuple[str, ...], as_json: bool) -> None:
    """Convert a quantity into another unit; without one, into the usual ones.

    \b
    netcalc convert 12 MB/s Mbit/s
    netcalc convert T1 kbit/s
    netcalc convert 64KiB
    """
    if not words:
        raise mistakes.CommandError("argument-missing", command="netcalc convert", name="QUANTITY")
    text, target_unit = _split([word for word in words if word not in _FILLERS])
    kind, value = _quantity(text, target_unit)
    targets = (target_unit,) if target_unit else _USUAL.get(kind, (kind,))
    results = {target: value / units.parse_typed(f"1 {target}", kind) for target in targets}
    if as_json:
        print_json({
            "quantity": text, "si_value": value, "si_unit": kind,
            "results": [{"value": converted, "unit": unit} for unit, converted in results.items()],
        })  # fmt: skip
        return
    for unit, converted in results.items():
        put(f"{converted:.{_DIGITS}g}{'' if unit == '%' else ' '}{unit}")


def _split(words: list[str]) -> tuple[str, str]:
    """Return the quantity and the unit wanted, however they are split into words."""
    if len(words) == 1:
        quantity, _, target_unit = re.sub(r"\s+(?:to|in|into|as)\s+", "\t", words[0]).partition(
            "\t"
        )
        return quantity, target_unit.strip()
    if len(words) == 2 and re.fullmatch(r"[+-]?\d[\d.,]*", words[0]):
        return " ".join(words), ""
    return " ".join(words[:-1]), words[-1]


def _quantity(text: str, target_unit: str) -> tuple[str, float]:
    """Return the kind of a quantity, as an SI unit, and its number in that.

    Raises
    ------
    UnitError
        If the text is not a quantity, or the unit wanted measures something else.
    """
    match = _NUMBER.fullmatch(text.strip())
    if not match and not _is_rate(text):
        code = "no-number" if text.strip() else "text-empty"
        raise UnitError(code, text, expected="a quantity", example="12 MB/s")
    unit = match["unit"].strip() if match else ""
    if match and not unit:
        readings = [f"{text.strip()} {symbol}" for symbol in ("MB", "Mbit/s", "ms")]
        raise UnitError("unit-missing", text, expected="a quantity", readings=readings)
    kinds = units.kinds_of(unit) if match else ["bit/s"]  # a line has a name: T1
    if not kinds and _is_rate(text):
        kinds = ["bit/s"]  # as Ethernet is called: 100GE
    if not kinds:
        raise units.unknown_unit(unit)
    if not target_unit:
        return kinds[0], units.parse_typed(text, kinds[0])
    targets = units.kinds_of(target_unit)
    if not targets:
        raise units.unknown_unit(target_unit)
    common = [kind for kind in kinds if kind in targets]
    if not common:
        raise units.not_comparable(unit or text, target_unit, kinds[0], targets[0])
    return common[0], units.parse_typed(text, common[0])


def _is_rate(text: str) -> bool:
    try:
        units.parse_typed(text, "bit/s")
    except UnitError:
        return False
    return True
