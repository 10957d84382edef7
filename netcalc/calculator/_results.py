"""What a formula gave, as people read it: columns, lines, and the numbers that went in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc.calculator._layers import layer_of, layer_text
from netcalc.calculator._parameter import show
from netcalc.display import time_in_words
from netcalc.rate_layers import named

if TYPE_CHECKING:
    from netcalc.calculator._formula import Formula

_COLUMN_UNITS = {  # of the columns of a result, by the end of their name
    "_m_s": "m/s", "_bps": "bit/s", "_pps": "packet/s", "_bytes": "byte", "_bits": "bit",
    "_ratio": "ratio", "_count": "1", "packet_cost": "s/packet", "byte_cost": "s/byte", "_s": "s",
}  # fmt: skip


def column_unit(wanted: Formula, column: str) -> str:
    """Return the unit of a column of a result, by its name.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> column_unit(formula("two_point_costs"), "byte_cost")
    's/byte'
    """
    return next((u for end, u in _COLUMN_UNITS.items() if column.endswith(end)), wanted.unit)


def table(wanted: Formula, result: Any) -> dict[str, list[Any]]:
    """Return a result as columns of one length; missing cells at the end are empty.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> table(formula("fragments"), np.array([1480.0, 20.0]))
    {'fragments_bytes': [1480.0, 20.0]}
    """
    found = result._asdict() if hasattr(result, "_asdict") else {wanted.function_name: result}
    columns = {name: np.ravel(column).tolist() for name, column in found.items()}
    length = max(map(len, columns.values()))
    return {name: column + [""] * (length - len(column)) for name, column in columns.items()}


def result_lines(
    wanted: Formula, result: Any, arguments: Mapping[str, Any] | None = None
) -> list[str]:
    """Return a result as people read it: one line, or one for each of its columns.

    A rate has its layer behind it; that of an argument's layer needs the arguments. A long time
    is also in minutes, hours, days or years.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> result_lines(formula("downtime"), 3155.76)
    ['3156 s (52.6 min)']
    """
    if hasattr(result, "_asdict"):
        return [
            f"{name}: {show(column, column_unit(wanted, name))}"
            for name, column in result._asdict().items()
        ]
    if wanted.unit == "s" and np.ndim(result) == 0:
        shown, words = show(result, "s"), time_in_words(float(result))
        return [f"{shown} ({words})" if words and shown.endswith(" s") else shown]
    return [named(show(result, wanted.unit), layer_of(wanted, arguments or {}))]


def explained(wanted: Formula, arguments: Mapping[str, Any], result: Any) -> list[tuple[str, str]]:
    """Return the numbers that went into the equation, by name, and last what came out.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> serialization = formula("latency.serialization")
    >>> given = {"wire_bytes": 1538, "bandwidth_bps": 1e9}
    >>> explained(serialization, given, serialization.evaluate(given))
    [('wire_bytes', '1538 B'), ('bandwidth_bps', '1 Gbit/s (line)'), ('serialization_s', '12.3 µs')]
    """
    lines = []
    for parameter in wanted.parameters:
        value = arguments.get(parameter.name, parameter.default)
        origin = "" if parameter.name in arguments else " (default)"
        text = named(
            parameter.show(value, digits=6), layer_text(wanted, parameter.layer, arguments)
        )
        lines.append((parameter.name, text + origin))
    return [*lines, (wanted.function_name, ", ".join(result_lines(wanted, result, arguments)))]
