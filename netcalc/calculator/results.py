"""What a formula gave, as people read it: lines and columns with units, layers and defaults."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc.calculator.parameter import show
from netcalc.display import time_in_words
from netcalc.rate_layers import LINK_LAYERS, SAME_AS, UNKNOWN, named

if TYPE_CHECKING:
    from netcalc.calculator.catalogue import Formula


def layer_of(formula: Formula, arguments: Mapping[str, Any]) -> str:
    """Return the layer of a formula's result, which may be that of one of its arguments.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> layer_of(formula("tcp_goodput_bps"), {}), layer_of(formula("max_min_bps"), {})
    ('TCP payload', 'layer of capacity')
    """
    return layer_text(formula, formula.layer, arguments)


def layer_text(formula: Formula, layer: str, arguments: Mapping[str, Any]) -> str:
    """Return a layer as people read it: that of an argument by its value or its name."""
    if not layer.startswith(SAME_AS):
        return layer
    *others, last = map(formula.parameter, layer.removeprefix(SAME_AS).split(" or "))
    parameter = last if arguments.get(last.name) is not None or not others else others[0]
    if parameter.kind == "choice":
        return LINK_LAYERS[arguments.get(parameter.name, parameter.default)]
    return parameter.layer or SAME_AS + parameter.short_name


def layers(formula: Formula, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the layer of each argument that is a rate, by its name.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> layers(formula("tcp_goodput_bps"), {})
    {'bandwidth_bps': 'Ethernet line'}
    """
    return {
        parameter.name: layer_text(formula, parameter.layer, arguments) or UNKNOWN
        for parameter in formula.parameters
        if parameter.unit == "bit/s"
    }


def defaults_said(formula: Formula, given: Collection[str]) -> dict[str, Any]:
    """Return the defaults that an answer names because others may expect another one.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> defaults_said(formula("timers.rto_s"), ["floor"])
    {'min_rto_s': 0.2}
    """
    return {
        name: formula.parameter(name).default for name in formula.said_defaults if name not in given
    }


_COLUMN_UNITS = {  # of the columns of a result, by the end of their name
    "_m_s": "m/s", "_bps": "bit/s", "_pps": "packet/s", "_bytes": "byte", "_bits": "bit",
    "_ratio": "ratio", "_count": "1", "packet_cost": "s/packet", "byte_cost": "s/byte", "_s": "s",
}  # fmt: skip


def column_unit(formula: Formula, column: str) -> str:
    """Return the unit of a column of a result, by its name.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> column_unit(formula("two_point_costs"), "byte_cost")
    's/byte'
    """
    return next((u for end, u in _COLUMN_UNITS.items() if column.endswith(end)), formula.unit)


def table(formula: Formula, result: Any) -> dict[str, list[Any]]:
    """Return a result as columns of one length; missing cells at the end are empty.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> table(formula("fragments"), np.array([1480.0, 20.0]))
    {'fragments_bytes': [1480.0, 20.0]}
    """
    found = result._asdict() if hasattr(result, "_asdict") else {formula.function_name: result}
    columns = {name: np.ravel(column).tolist() for name, column in found.items()}
    length = max(map(len, columns.values()))
    return {name: column + [""] * (length - len(column)) for name, column in columns.items()}


def result_lines(
    formula: Formula, result: Any, arguments: Mapping[str, Any] | None = None
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
            f"{name}: {show(column, column_unit(formula, name))}"
            for name, column in result._asdict().items()
        ]
    if formula.unit == "s" and np.ndim(result) == 0:
        shown, words = show(result, "s"), time_in_words(float(result))
        return [f"{shown} ({words})" if words and shown.endswith(" s") else shown]
    return [named(show(result, formula.unit), layer_of(formula, arguments or {}))]


def explained(formula: Formula, arguments: Mapping[str, Any], result: Any) -> list[tuple[str, str]]:
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
    for parameter in formula.parameters:
        value = arguments.get(parameter.name, parameter.default)
        origin = "" if parameter.name in arguments else " (default)"
        text = named(
            parameter.show(value, digits=6), layer_text(formula, parameter.layer, arguments)
        )
        lines.append((parameter.name, text + origin))
    return [*lines, (formula.function_name, ", ".join(result_lines(formula, result, arguments)))]
