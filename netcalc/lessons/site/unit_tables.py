"""The tables of units that ``units.js`` reads and writes numbers with: those of Python."""

from __future__ import annotations

from typing import Any

from netcalc import display, units

KINDS = (
    "bit/s", "byte", "bit", "packet/s", "call/s", "s", "ratio", "m", "m/s", "s/byte", "Hz", "dB",
    "1",
)  # fmt: skip
"""The units that netcalc computes in."""


def unit_tables() -> dict[str, Any]:
    """Return the tables as JSON can hold them.

    Examples
    --------
    >>> unit_tables()["lines"]["T1"]["exact"]
    1544000.0
    """
    names = {*units.LINES, *units.line_aliases()}
    lines = {name: units.line(name) for name in sorted(names)}
    return {
        "units": {
            unit: {
                "written": units.written_units(unit),
                "ambiguous": units.ambiguous_units(unit),
                "example": units.example(unit),
            }
            for unit in KINDS
        },
        "lines": {
            name: {
                "exact": one.exact_bps,
                "nominal": one.nominal_bps,
                "payload": one.payload_bps,
            }
            for name, one in lines.items()
        },
        "prefixes": units.PREFIXES,
        "steps": display.steps(),
        "binary": display.BINARY,
    }
