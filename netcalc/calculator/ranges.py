"""What a formula gave, as people read it, and formulas with ranges in.

Lines and columns have units, layers and defaults. Of ranges: which arguments are ranges, the bands
over one argument, solutions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netcalc import units
from netcalc.calculator.catalogue import Formula, doubt_notice
from netcalc.calculator.parameter import Parameter, show
from netcalc.calculator.sweeps import as_taken, require_number, sought
from netcalc.checks import FloatArray
from netcalc.display import show as show_ranges
from netcalc.display import time_in_words, unit_of_name
from netcalc.errors import DomainError, DoubtWarning, doubts
from netcalc.messages import Notice
from netcalc.rate_layers import LINK_LAYERS, SAME_AS, UNKNOWN, named

if TYPE_CHECKING:
    from netcalc.calculator.catalogue import Formula
    from netcalc.uncertain import Band, Distribution, Solutions, Spread


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


_IN_PLACE_OF = {"link_layer": "link_bytes"}
"""Arguments whose default is not used beside another argument."""


def defaults_said(formula: Formula, typed: Collection[str]) -> dict[str, Any]:
    """Return the defaults that an answer names because others may expect another one.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> defaults_said(formula("timers.rto_s"), ["floor"])
    {'min_rto_s': 0.2}
    """
    return {
        name: formula.parameter(name).default
        for name in formula.said_defaults
        if name not in typed and _IN_PLACE_OF.get(name) not in typed
    }


_COST_UNITS = {"packet_cost": "s/packet", "byte_cost": "s/byte"}


def column_unit(formula: Formula, column: str) -> str:
    """Return the unit of a column of a result, by its name.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> column_unit(formula("two_point_costs"), "byte_cost")
    's/byte'
    """
    cost = next((unit for end, unit in _COST_UNITS.items() if column.endswith(end)), "")
    return cost or unit_of_name(column) or formula.unit


def table(formula: Formula, result: Any) -> dict[str, list[Any]]:
    """Return a result as columns of one length; missing cells at the end are empty.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> table(formula("fragments"), np.array([1480.0, 20.0]))
    {'fragments_bytes': [1480.0, 20.0]}
    """
    by_name = result._asdict() if hasattr(result, "_asdict") else {formula.function_name: result}
    columns = {name: np.ravel(column).tolist() for name, column in by_name.items()}
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
        shown = _by_default(parameter) if value is None else parameter.show(value, digits=6)
        text = named(shown, layer_text(formula, parameter.layer, arguments))
        lines.append((parameter.name, text + origin))
    return [*lines, (formula.function_name, ", ".join(result_lines(formula, result, arguments)))]


def _by_default(parameter: Parameter) -> str:
    """Return what holds for an argument that is not given, in the words of its description."""
    match = re.search(r"\bby default (.+?)\.?$", parameter.description)
    return match[1] if match else "none"


Inputs: TypeAlias = "dict[str, Distribution | list[Distribution | float]]"
"""Arguments that are ranges or distributions, and lists of which some elements are."""
_RANGE_MARK = re.compile(r"\.\.|[…±–(:]|\+/?-|\d\s*-\s*\d|\sto\s")
"""What text of a range, a distribution or a column has, and a quantity has not."""
_SMALL = 0.001  # a share of the variance below this is not told apart from none
_NAMES = {5.0: "p5", 50.0: "median", 95.0: "p95"}


def split_ranges(formula: Formula, texts: Mapping[str, str]) -> tuple[Inputs, dict[str, str]]:
    """Return the arguments that were typed as ranges or distributions, and the other texts.

    Raises
    ------
    DomainError, UnitError
        If a text is refused, or an argument is no number.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> ranges, others = split_ranges(formula("bdp"), {"rtt": "20..30 ms", "bandwidth": "1 Gbit/s"})
    >>> ranges["rtt_s"].text("s"), others
    ('20 ms..30 ms', {'bandwidth_bps': '1 Gbit/s'})
    """
    inputs: Inputs = {}
    others: dict[str, str] = {}
    for name, text in texts.items():
        parameter = formula.parameter(name)
        if not is_range(parameter, text):
            others[parameter.name] = text
            continue
        if parameter.kind not in ("number", "list"):
            numbers = [p.short_name for p in formula.parameters if p.kind in ("number", "list")]
            raise DomainError("range-of-no-number", parameter.short_name, text, numbers=numbers)
        reading = read_range(parameter, text)
        if isinstance(reading, float):
            others[parameter.name] = text
        else:
            inputs[parameter.name] = reading
    return inputs, others


def is_range(parameter: Parameter, text: str) -> bool:
    """Whether a text is a range or a distribution, where an argument may be one."""
    if parameter.kind in ("choice", "text") or not _RANGE_MARK.search(text):
        return False
    from netcalc import uncertain  # late: most answers are of single numbers

    return uncertain.is_distribution(text)


def read_range(
    parameter: Parameter, text: str
) -> Distribution | float | list[Distribution | float]:
    """Read a range of an argument, or a list of which some elements are ranges.

    Raises
    ------
    DomainError, UnitError, ReaderError
        If the text is refused.
    """
    from netcalc import uncertain  # late, as above

    parse = uncertain.parse_list if parameter.kind == "list" else uncertain.parse
    return parse(text, parameter.unit, field=parameter.short_name, read=_reader(parameter))


def _reader(parameter: Parameter) -> Callable[[str], float]:
    """Return what reads one number of an argument, as people type it."""
    return lambda text: float(np.reshape(parameter.read(text), ()))


def bands_over(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    *,
    over: str,
    values: FloatArray,
    **drawn: Any,
) -> dict[str, Band]:
    """Return percentiles of a formula at each value of one argument, for each of its results.

    Sizes of packets are rounded to whole bytes, as in :func:`sweep`; ``drawn`` is as in
    :func:`netcalc.uncertain.bands`.

    Raises
    ------
    DomainError
        If a value or a draw is impossible, or the result is not a number.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> bdp = formula("bdp")
    >>> ranges, _ = split_ranges(bdp, {"rtt": "20..30 ms"})
    >>> found = bands_over(bdp, {}, ranges, over="bandwidth", values=[8e6, 16e6])
    >>> found["result"].percentiles[50.0].round(-1).tolist()
    [25000.0, 50000.0]
    """
    from netcalc import uncertain

    parameter = formula.parameter(over)
    require_number(formula, parameter)
    if parameter.name in inputs:
        raise DomainError("input-also-free", parameter.short_name)
    middle = {name: _middle(value_range) for name, value_range in inputs.items()}
    values = np.asarray(values, dtype=float)
    with doubts():  # of what is tried
        at = as_taken(formula, {**arguments, **middle}, parameter.name, values)
    return uncertain.bands(
        formula.function, {**arguments, **inputs}, over=parameter.name, values=at, **drawn
    )


def _middle(value_range: Any) -> Any:
    if isinstance(value_range, list):
        return [_middle(item) for item in value_range]
    return (
        value_range
        if isinstance(value_range, int | float)
        else float(value_range.ppf(np.array(0.5)))
    )


def solutions_for(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    *,
    over: str,
    result: str,
    limits: str = "",
    **drawn: Any,
) -> Solutions:
    """Solve a formula for one argument in each draw of its ranges.

    Parameters
    ----------
    formula : Formula
        The formula.
    arguments : mapping of str to object
        The arguments that are numbers.
    inputs : mapping of str to Distribution
        Those that are ranges.
    over : str
        The argument to find.
    result, limits : str
        The result and the range, as in :func:`solve_for`.
    **drawn
        As in :func:`netcalc.uncertain.solutions`.

    Raises
    ------
    DomainError, UnitError
        If a text is refused, another argument is missing, or a draw is impossible.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> transfer = formula("transfer")
    >>> ranges, _ = split_ranges(transfer, {"payload": "1..2 MB"})
    >>> found = solutions_for(transfer, {"latency_s": 0.0}, ranges, over="bandwidth", result="1 s")
    >>> solution_lines(transfer, found, over="bandwidth")
    ['p5: 8.4 Mbit/s', 'median: 12 Mbit/s', 'p95: 15.6 Mbit/s']
    """
    from netcalc import uncertain

    parameter = formula.parameter(over)
    if parameter.name in inputs:
        raise DomainError("input-also-free", parameter.short_name)
    parameter, target, low, high, others = sought(
        formula, {**arguments, **inputs}, over=over, result=result, limits=limits
    )
    return uncertain.solutions(
        formula.function, others, for_=parameter.name, result=target, low=low, high=high, **drawn
    )


def percentile_name(percent: float) -> str:
    """Return what a percentile is called: ``p5``, ``median``."""
    return _NAMES.get(percent, f"p{percent:g}")


def solution_lines(
    formula: Formula, solutions: Solutions, *, over: str, layer: str = ""
) -> list[str]:
    """Return the percentiles of a solution as people read them, and the share without one."""
    parameter = formula.parameter(over)
    if solutions.share_without == 1.0:
        low, high = parameter.show(solutions.low), parameter.show(solutions.high)
        return [f"no solution in [{low}, {high}] in any draw"]
    lines = []
    for percent, value in solutions.percentiles.items():
        text = parameter.show(value)
        if solutions.is_interval:
            text += f" to {parameter.show(solutions.last_percentiles[percent])}"
        lines.append(named(f"{percentile_name(percent)}: {text}", layer))
    if solutions.share_without:
        lines.append(f"no solution in {show_ranges(solutions.share_without, 'ratio')} of the draws")
    return lines


def cases_by_text(
    arguments: Mapping[str, Any], by: Parameter | None, values: Sequence[float]
) -> dict[str, dict[str, Any]]:
    """Return the arguments for each value of a second one, by its text; the same value counts once.

    The texts have as many digits as they need to differ.
    """
    if by is None:
        return {"": dict(arguments)}
    each = list(dict.fromkeys(values))
    for digits in range(4, 18):
        texts = [by.show(value, digits=digits) for value in each]
        if len(set(texts)) == len(each):
            break
    return {text: {**arguments, by.name: value} for text, value in zip(texts, each, strict=True)}


def band_rows(
    formula: Formula, bands: Mapping[str, Mapping[str, Band]]
) -> tuple[list[str], list[str], list[list[float]]]:
    """Return headings, units and rows of a table of bands.

    Parameters
    ----------
    formula : Formula
        The formula.
    bands : mapping of str to mapping of str to Band
        The bands of each result, by what tells them apart: a value of a second argument, or
        nothing.
    """
    headings, units_, columns = [], [], []
    for label, by_result in bands.items():
        for name, band in by_result.items():
            for percent, column in band.percentiles.items():
                what = "" if len(by_result) == 1 else f"{name} "
                at = f" at {label}" if label else ""
                headings.append(f"{what}{percentile_name(percent)}{at}")
                units_.append(result_unit(formula, name))
                columns.append(column)
    first = next(iter(next(iter(bands.values())).values()))
    return headings, units_, np.column_stack([first.values, *columns]).tolist()


def result_unit(formula: Formula, column: str) -> str:
    """Return the unit of a column of draws; ``result`` is that of a formula of one."""
    return formula.unit if column == "result" else column_unit(formula, column)


def range_text(value_range: Any, unit: str) -> str:
    """Write a range, a list of them, or a number."""
    if isinstance(value_range, list):
        return ", ".join(range_text(item, unit) for item in value_range)
    return (
        units.show(value_range, unit)
        if isinstance(value_range, int | float)
        else str(value_range.text(unit))
    )


def input_label(formula: Formula, name: str) -> str:
    """Return the name of an input for people; elements of a list are counted from 1."""
    argument, bracket, index = name.partition("[")
    label = formula.label(argument)
    return f"{label} {int(index[:-1]) + 1}" if bracket else label


def importance_line(formula: Formula, spread: Spread) -> str:
    """Say which inputs matter most, or what each explains alone; empty if neither is known.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> from netcalc.uncertain import spread
    >>> bdp = formula("bdp")
    >>> ranges, _ = split_ranges(bdp, {"rtt": "20..30 ms", "bandwidth": "10..10.1 Mbit/s"})
    >>> importance_line(bdp, spread(bdp.function, ranges))
    'matters most: rtt 100%, bandwidth 0% of the variance'
    """
    shares = spread.first_order or spread.explained_alone
    ordered = sorted(shares.items(), key=lambda pair: -pair[1])
    parts = ", ".join(f"{input_label(formula, name)} {_share(index)}" for name, index in ordered)
    if spread.first_order:
        if len(ordered) == 1:
            return f"matters most: {input_label(formula, ordered[0][0])}"
        apart = 1.0 - sum(shares.values())
        together = f"; {_share(apart)} by several at once" if apart > 0.01 else ""
        return f"matters most: {parts} of the variance{together}"
    if not shares:
        return ""
    what = "variance of the ranks" if np.isinf(spread.samples).any() else "variance"
    return f"explained by one input alone: {parts} of the {what}"


def _share(index: float) -> str:
    return "0%" if index < _SMALL else show_ranges(index, "ratio", digits=3 if index < 0.995 else 2)


def fixed_texts(
    formula: Formula, arguments: Mapping[str, Any], without: Collection[str]
) -> list[str]:
    """Return the arguments that are numbers with their values, as people read them."""
    return [
        f"{formula.label(parameter.name)} {parameter.show(value)}"
        for parameter in formula.parameters
        if parameter.name not in without and (parameter.name in arguments or not parameter.required)
        if not _limits_nothing(value := arguments.get(parameter.name, parameter.default))
    ]


def _limits_nothing(value: object) -> bool:
    """Whether an argument that is not given limits nothing."""
    return value is None or (isinstance(value, float) and math.isinf(value))


def listed_values(formula: Formula, texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the arguments of one number for which several were typed.

    Raises
    ------
    UnitError
        If a comma in a list has two readings.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> listed_values(formula("bdp"), {"rtt_s": "10ms,50ms", "bandwidth_bps": "1G"})
    {'rtt_s': ['10ms', '50ms']}
    """
    listed = {}
    for name, text in texts.items():
        parameter = formula.parameter(name)
        values = parameter.values(text) if parameter.kind == "number" else [text]
        if len(values) > 1:
            listed[name] = values
    return listed


def range_notes(formula: Formula, notes: Sequence[Notice]) -> list[str]:
    """Return notes on draws with the names and units that people type, once each."""
    return list(dict.fromkeys(_words(formula, note) for note in notes))


def _words(formula: Formula, note: Notice) -> str:
    values = dict(note.values)
    doubt = values.get("doubt")
    if isinstance(doubt, DoubtWarning):
        units_by_name = {p.name: p.unit for p in formula.parameters}
        unit = {"result": formula.unit, **units_by_name}.get(str(doubt.values.get("name")), "")
        values["doubt"] = str(doubt_notice(doubt, unit))
    if "distribution" in values or note.code == "draws-whole":
        values["name"] = input_label(formula, values["name"])
    if "names" in values:
        values["names"] = [input_label(formula, name) for name in values["names"]]
    return str(Notice(note.code, values))
