"""The answers of a plan from its inputs, which are numbers or what is known about them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import named_arguments
from netcalc.errors import DoubtWarning, doubts
from netcalc.messages import Notice
from netcalc.planning.page import Answer, label, quantity
from netcalc.rate_layers import LINE

BINDING = "binding_index"
"""Column of a plan with several limits: the index of the one that binds."""

Function = TypeVar("Function", bound=Callable[..., Any])
Answers = Callable[..., Mapping[str, ArrayLike]]
Inputs = Mapping[str, tuple[Any, str]]
"""What is given, by name: a number or a distribution, and its unit."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Answers at the medians of the inputs, and what ranges make of them.

    ``middle`` are the medians of the inputs, ``found`` all columns at these, for what is drawn and
    for what would help. ``typical`` are the columns that a page states: with ranges their medians
    over the draws, as a column at the medians of the inputs may be far from its own median. Then
    ``binding`` is the limit that binds in most draws.
    """

    answers: tuple[Answer, ...]
    middle: Mapping[str, float]
    found: Mapping[str, float]
    typical: Mapping[str, float]
    binding: str = ""
    binding_shares: Mapping[str, float] = field(default_factory=dict)
    drivers: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


def evaluate(
    function: Answers,
    inputs: Inputs,
    table: Mapping[str, tuple[str, str]],
    *,
    limits: Sequence[str] = (),
    main: str = "",
    judged: Sequence[str] = (),
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> Evaluated:
    """Return the answers of a plan; ``table`` has the unit and the layer of each, in their order.

    The function takes numbers or arrays by the names of the inputs and returns its columns by
    name.

    Parameters
    ----------
    function : callable
        The formulas of the plan.
    inputs : mapping
        Numbers or distributions, with their units.
    table : mapping
        Unit and layer of each answer.
    limits : sequence of str
        Names of the limits that its column ``binding_index`` counts.
    main : str
        The answer whose variance the drivers explain; by default the first one.
    judged : sequence of str
        Quantities that the plan judges itself: what makes them doubtful is left out.
    draws, seed : int
        As in :func:`netcalc.uncertain.spreads`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges.
    """
    given = {name: value for name, (value, _) in inputs.items()}
    middle = {name: center(value, whole=name.endswith("_count")) for name, value in given.items()}
    with doubts() as doubtful:
        columns = function(**middle)
    found = {name: float(np.asarray(value).reshape(())) for name, value in columns.items()}
    spread: dict[str, Any] = {}
    if not all(is_number(value) for value in given.values()):
        spread = _spreads(function, given, draws, seed, truncate=truncate)
    medians = {name: one.percentile(50.0) for name, one in spread.items() if name in table}
    typical = {**found, **medians}
    shares = _shares(spread[BINDING].samples, limits) if limits and spread else {}
    answers = tuple(
        Answer(name=name, value=found[name], unit=unit, layer=layer, spread=spread.get(name))
        for name, (unit, layer) in table.items()
        if name in found
    )
    first = spread.get(main or answers[0].name)
    return Evaluated(
        answers=answers,
        middle=middle,
        found=found,
        typical=typical,
        binding=_binding(shares, limits[int(found[BINDING])]) if limits else "",
        binding_shares=shares,
        drivers=dict(first.first_order or first.explained_alone) if first is not None else {},
        notices=(
            _notices([one for one in doubtful if not _is_of(one, judged)], inputs)
            if first is None
            else _named(
                [one for one in first.notes if not _is_of(one.values.get("doubt"), judged)], inputs
            )
        ),
    )


def _is_of(doubt: Any, names: Sequence[str]) -> bool:
    """Whether something is a doubt about one of some quantities."""
    return isinstance(doubt, DoubtWarning) and doubt.values.get("name") in names


def _notices(doubtful: Sequence[DoubtWarning], inputs: Inputs) -> tuple[Notice, ...]:
    """Return what makes the answers doubtful, once each, with names and units as people read."""
    found = {}
    for doubt in doubtful:
        name = str(doubt.values.get("name", ""))
        found[doubt.code, name] = _readable(Notice(doubt.code, doubt.values), inputs)
    return tuple(found.values())


def _readable(notice: Notice, inputs: Inputs) -> Notice:
    """Return a notice about an input with its name as the page has it, and numbers in its unit."""
    name = str(notice.values.get("name", ""))
    if name not in inputs:
        return notice
    unit = inputs[name][1]
    values = {
        key: quantity(value, unit) if isinstance(value, int | float) else value
        for key, value in notice.values.items()
    }
    return Notice(notice.code, {**values, "name": label(name)})


def _named(notes: Sequence[Notice], inputs: Inputs) -> tuple[Notice, ...]:
    """Return the notes of draws with the names of inputs as the page has them.

    What made draws doubtful is in them as text, so that JSON can hold it.
    """
    found = []
    for one in notes:
        values = dict(one.values)
        name, doubt = str(values.get("name", "")), values.get("doubt")
        if name in inputs:
            values["name"] = label(name)
        if "names" in values:
            values["names"] = [label(one) if one in inputs else one for one in values["names"]]
        if isinstance(doubt, DoubtWarning):
            values["doubt"] = str(_readable(Notice(doubt.code, doubt.values), inputs))
        found.append(Notice(one.code, values))
    return tuple(found)


def one_page(function: Function) -> Function:
    """Decorate a plan: what is doubtful is on its page, and no warning besides."""

    answered = named_arguments(function)

    @wraps(function)
    def planned(*args: Any, **kwargs: Any) -> Any:
        with doubts():
            return answered(*args, **kwargs)

    return cast(Function, planned)


def _spreads(
    function: Answers, given: Mapping[str, Any], draws: int, seed: int, *, truncate: bool
) -> dict[str, Any]:
    """Return the distribution of each column; one that does not vary is left out."""
    from netcalc import uncertain  # late: it loads scipy

    def at(**numbers: Any) -> Any:
        columns = function(**numbers)
        shaped = np.broadcast_arrays(*map(np.asarray, (*columns.values(), *numbers.values())))
        return namedtuple("Columns", columns)(*shaped[: len(columns)])

    found = uncertain.spreads(at, given, draws=draws or None, seed=seed, truncate=truncate)
    return {
        name: one
        for name, one in found.items()
        if name == BINDING or (one.samples != one.samples[0]).any()
    }


def _binding(shares: Mapping[str, float], middle: str) -> str:
    """Return the limit that binds in most draws; without draws that of the numbers."""
    most = max(shares.values(), default=0.0)
    return middle if shares.get(middle, 0.0) == most else max(shares, key=lambda one: shares[one])


def _shares(samples: Any, limits: Sequence[str]) -> dict[str, float]:
    return {name: float(np.mean(samples == index)) for index, name in enumerate(limits)}


def is_number(value: Any) -> bool:
    """Whether an input is one number and no distribution."""
    return isinstance(value, int | float | np.integer | np.floating)


def center(value: Any, *, whole: bool = False) -> float:
    """Return a number, or the median of a distribution."""
    if is_number(value):
        return float(value)
    from netcalc.uncertain.distributions import as_distribution  # late: it loads scipy

    middle = float(as_distribution("value", value).ppf(np.array(0.5)))
    return float(round(middle)) if whole else middle


def inputs_as_dict(inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Return the inputs as JSON has them: a number, or the text of a distribution."""
    found: dict[str, dict[str, Any]] = {}
    for name, (value, unit) in inputs.items():
        if is_number(value):
            found[name] = {"value": float(value), "unit": unit, **_layer_of(unit)}
            continue
        from netcalc.uncertain.distributions import as_distribution  # late, as above

        shown = as_distribution(name, value).text(unit)
        found[name] = {
            "value": center(value), "unit": unit, **_layer_of(unit), "distribution": shown,
        }  # fmt: skip
    return found


def _layer_of(unit: str) -> dict[str, str]:
    """Return the layer of an input: all rates that a plan asks for count all bits of a line."""
    return {"layer": LINE} if unit == "bit/s" else {}
