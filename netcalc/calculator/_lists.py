"""Several values in one text: ``10,20,30``, ``64B, 570B``, ``1,5; 2,5``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netcalc.errors import UnitError

_SEPARATOR = re.compile(r"\s*(?:;|,(?!\d)|(?<!\d),)\s*")
"""What separates values for sure; a comma between digits may be a decimal one."""
_COMMAS = re.compile(
    r"(?P<numbers>[+-]?[\d.]+(?:,[+-]?[\d.]+)+)(?P<unit>\s*[^\d\s,;].*)?", re.DOTALL
)
_BARE = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*(?P<unit>[^\d\s.,].*)", re.DOTALL)


def values(text: str, *, is_list: bool, pure: bool, whole: bool, field: str) -> list[str]:
    """Return the values of a text, a unit at its end on each.

    A comma between digits separates where it can be nothing else: in a list of pure numbers, and
    between three values or more. ``1,5 ms`` and ``1,500,000`` stay one number for an argument that
    is one.

    Parameters
    ----------
    text : str
        What was typed.
    is_list : bool
        Whether the argument takes a list.
    pure : bool
        Whether its numbers have no unit.
    whole : bool
        Whether a fraction can be none of them, as of the bytes of a packet.
    field : str
        The argument, for an error.

    Returns
    -------
    list of str
        One text for each value.

    Raises
    ------
    UnitError
        If a comma in a list may be a decimal one, or one between thousands.

    Examples
    --------
    >>> values("10,20,30", is_list=True, pure=True, whole=False, field="x")
    ['10', '20', '30']
    >>> values("10,50,100ms", is_list=False, pure=False, whole=False, field="x")
    ['10ms', '50ms', '100ms']
    >>> values("1,5 ms", is_list=False, pure=False, whole=False, field="x")
    ['1,5 ms']
    """
    parts = list(_SEPARATOR.split(text.strip().strip("[]()")))
    if ";" not in text:
        parts = [
            one
            for part in parts
            for one in _split(part, text, is_list=is_list, pure=pure, whole=whole, field=field)
        ]
    if (
        is_list
        and pure
        and len(parts) == 1
        and re.fullmatch(r"[+-]?[\d.]+(\s+[+-]?[\d.]+)+", parts[0])
    ):
        parts = parts[0].split()
    last = _UNIT.fullmatch(parts[-1])
    if len(parts) > 1 and last is not None:
        parts = [f"{one}{last['unit']}" if _BARE.fullmatch(one) else one for one in parts]
    return parts


def _split(
    part: str, text: str, *, is_list: bool, pure: bool, whole: bool, field: str
) -> list[str]:
    found = _COMMAS.fullmatch(part)
    if found is None:
        return [part]
    numbers, unit = found["numbers"].split(","), found["unit"] or ""
    alike = all(re.fullmatch(r"\d{3}", one) for one in numbers[1:])
    grouped = alike and re.fullmatch(r"[+-]?[1-9]\d{0,2}", numbers[0]) is not None
    two = len(numbers) == 2
    if not is_list:
        return [part] if (two and not whole) or grouped else [one + unit for one in numbers]
    may_be_grouped = (grouped and two) or any(re.fullmatch(r"0\d\d", one) for one in numbers[1:])
    may_be_decimal = two and not pure and not whole and "." not in part
    if may_be_grouped or may_be_decimal:
        readings = [_listed(numbers, unit)]
        if may_be_decimal or two:
            readings.insert(0, ".".join(numbers) + unit)
        if may_be_grouped:
            readings.insert(0, _listed(_regrouped(numbers), unit))
        raise UnitError(
            "ambiguous-number", text, expected="a list of numbers", field=field, readings=readings
        )
    return [one + unit for one in numbers]


def _regrouped(numbers: Sequence[str]) -> list[str]:
    """Return numbers whose thousands were separated: 1, 000, 2, 000 as 1000, 2000."""
    found: list[str] = []
    for one in numbers:
        if found and re.fullmatch(r"\d{3}", one):
            found[-1] += one
        else:
            found.append(one)
    return found


def _listed(numbers: Sequence[str], unit: str) -> str:
    if len(numbers) == 1:
        return numbers[0] + unit
    count = {2: "two", 3: "three"}.get(len(numbers), len(numbers))
    return f'"{", ".join(one + unit for one in numbers)}" ({count} numbers)'
