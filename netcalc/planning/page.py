"""The page of a plan: its answers with their ranges, what limits, what would help, how it is shown.

A plan gives :func:`evaluate` its formulas and its inputs, which are numbers or what is known about
them, and makes a :class:`Plan` of what comes back.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, between, named_arguments, real, scalar
from netcalc.display import unit_of_name
from netcalc.errors import DomainError, DoubtWarning, doubts
from netcalc.messages import Notice, sentence
from netcalc.models.sizes.fragmentation import min_mtu_bytes
from netcalc.models.sizes.headers import MAX_PACKET_BYTES
from netcalc.models.users.growth import YEAR_S
from netcalc.rate_layers import LINE, named
from netcalc.units import show

if TYPE_CHECKING:
    from netcalc.uncertain import Spread


_TO_ONE = ("oversubscription",)
"""Answers that are written as a ratio to 1."""
MOST_STEPS = 4
"""Steps on a page: the rest would take it beyond a screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One number of a plan with its unit; a rate names its layer.

    ``spread`` is there where inputs are ranges; ``value`` is then computed at their medians.
    """

    name: str
    value: float | str
    layer: str = ""
    spread: Spread | None = None

    @property
    def unit(self) -> str:
        """Unit of the number, by the name; "text" of a text."""
        return "text" if isinstance(self.value, str) else unit_of(self.name)

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        return label(self.name)

    @property
    def text(self) -> str:
        """The number as people read it, with its layer and its percentiles."""
        shown = self._written(self.value)
        if self.spread is not None:
            low, middle, high = map(self._written, self._percentiles())
            shown = middle if low == high else f"{middle}, p5 {low}, p95 {high}"
        return f"{shown} ({self.layer})" if self.layer else shown

    def _written(self, value: float | str) -> str:
        to_one = " : 1" if self.name in _TO_ONE else ""
        return f"{quantity(value, self.unit)}{to_one}"

    @property
    def typical(self) -> float:
        """The median of the draws, or the number where inputs are no ranges."""
        return float(self.value) if self.spread is None else self.spread.percentile(50.0)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        facts: dict[str, Any] = {"value": self.value, "unit": self.unit}
        if self.layer:
            facts["layer"] = self.layer
        if self.spread is not None:
            facts |= dict(zip(("p5", "median", "p95"), self._percentiles(), strict=True))
        return facts

    def _percentiles(self) -> list[float]:
        assert self.spread is not None
        return [self.spread.percentile(percent) for percent in (5.0, 50.0, 95.0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A change that would help, and what the answer ``name`` would then be."""

    change: Notice
    name: str
    value: float
    layer: str = ""

    @property
    def unit(self) -> str:
        """Unit of the answer, by its name."""
        return unit_of(self.name)

    def __str__(self) -> str:
        layer = f" ({self.layer})" if self.layer else ""
        return f"{self.change}: {label(self.name)} {quantity(self.value, self.unit)}{layer}"

    def as_dict(self) -> dict[str, Any]:
        """Return the step as JSON has it."""
        facts = {"change": self.change.stored(), "answer": self.name, "value": self.value}
        return {**facts, "unit": self.unit, **({"layer": self.layer} if self.layer else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The value of one input that alone reaches a goal; nan if none from ``low`` to ``high`` does.

    ``side`` is ``least`` where more of it reaches the goal too, ``most`` where less does, and empty
    where neither does.
    """

    name: str
    value: float = math.nan
    side: str = ""
    low: float
    high: float

    @property
    def unit(self) -> str:
        """Unit of the input, by its name."""
        return unit_of(self.name)

    @property
    def text(self) -> str:
        """The value as people read it, or that there is none."""
        shown = {
            key: quantity(number, self.unit)
            for key, number in (("value", self.value), ("low", self.low), ("high", self.high))
        }
        code = f"need-{self.side or 'exactly'}" if math.isfinite(self.value) else "need-none"
        return sentence(code, shown)

    def __str__(self) -> str:
        return f"{label(self.name)}: {self.text}"

    def as_dict(self) -> dict[str, Any]:
        """Return the need as JSON has it: null where no value reaches the goal."""
        value = self.value if math.isfinite(self.value) else None
        return {
            "value": value,
            "unit": self.unit,
            "side": self.side,
            "range": [self.low, self.high],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A line of a file of ``sysctl`` and where its value is from; without a name a comment."""

    reason: Notice
    name: str = ""
    value: str = ""

    @property
    def line(self) -> str:
        """The line as ``sysctl`` reads it; empty of a comment."""
        return f"{self.name}={self.value}" if self.name else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the setting as JSON has it."""
        return {"name": self.name, "value": self.value, "reason": self.reason.stored()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The numbers of a figure: lines over one input, and marks, all by the names of answers."""

    x: str
    x_unit: str
    y: str
    y_unit: str
    at: FloatArray
    lines: Mapping[str, FloatArray]
    marks: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingMap:
    """Which limit binds over two inputs, with the point of the user and the step out of it.

    ``index`` has a row for each of ``y_at`` and a column for each of ``x_at``: the index of one of
    ``limits``. ``step`` is the nearest point at which another limit binds, reached by the cheaper
    one of the two inputs that does; nan where there is none on the map.
    """

    x: str
    x_unit: str
    y: str
    y_unit: str
    x_at: FloatArray
    y_at: FloatArray
    limits: tuple[str, ...]
    index: NDArray[np.int64]
    point: tuple[float, float]
    step: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A question of a planner with its answers.

    Parameters
    ----------
    name : str
        Which plan: ``voice``.
    said : Notice
        The answer in one sentence.
    inputs : mapping
        What was given, by name: number or range, and unit.
    answers : tuple of Answer
        The most important one first.
    binding : str
        Which limit binds, where there are several; empty otherwise.
    binding_shares : mapping
        With ranges: the share of the draws in which each limit binds.
    steps : tuple of Step
        What would help, the cheapest one first.
    assumptions : tuple of Notice
        What the plan takes for granted.
    notices : tuple of Notice
        What makes an answer doubtful.
    drivers : mapping
        With ranges: the share of the variance of the first answer that each input explains.
    main : str
        The answer that matters with ranges: one of its percentiles is in the sentence.
    worst_percent : float
        Which one: 95 where more is worse, 5 where less is.
    chart : Chart or BindingMap
        The figure of the plan.
    sources : tuple of str
        Where the formulas were published.
    goal : Answer, optional
        What an answer must be, of :func:`netcalc.planning.with_goal`.
    needs : tuple of Need
        With a goal: the value of each input that alone reaches it.
    evaluated : Evaluated
        The formulas with their inputs.
    host_settings : tuple of Setting
        Of a host: what to set. They are printed by :attr:`sysctl`, and never applied.
    """

    name: str
    said: Notice
    inputs: Mapping[str, Mapping[str, Any]]
    answers: tuple[Answer, ...]
    chart: Chart | BindingMap
    sources: tuple[str, ...]
    main: str = ""
    worst_percent: float = 95.0
    binding: str = ""
    binding_shares: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    assumptions: tuple[Notice, ...] = ()
    notices: tuple[Notice, ...] = ()
    drivers: Mapping[str, float] = field(default_factory=dict)
    goal: Answer | None = None
    needs: tuple[Need, ...] = ()
    evaluated: Any = field(default=None, repr=False, compare=False)
    host_settings: tuple[Setting, ...] = ()

    @property
    def sysctl(self) -> str:
        """The settings of a host as a file of ``sysctl``, each below its arithmetic."""
        lines = ((f"# {setting.reason}", setting.line) for setting in self.host_settings)
        return "\n".join(line for pair in lines for line in pair if line)

    @property
    def sentence(self) -> str:
        """The answer in one sentence; with ranges also the percentile that is worse."""
        text, first = str(self.said), self.main_answer
        if first.spread is not None:
            shown = quantity(first.spread.percentile(self.worst_percent), first.unit)
            worst = named(shown, first.layer)
            code = "plan-ranges-up" if self.worst_percent > 50.0 else "plan-ranges-down"
            values = {"label": first.label, "worst": worst, "percent": self.worst_percent}
            text += f"; {Notice(code, values)}"
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def main_answer(self) -> Answer:
        """The answer that matters most."""
        return self.answer(self.main) if self.main else self.answers[0]

    def __getitem__(self, name: str) -> float:
        """Return the number of an answer by its name."""
        return float(self.answer(name).value)

    def answer(self, name: str) -> Answer:
        """Return an answer by its name."""
        return next(answer for answer in self.answers if answer.name == name)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON has it; the keys stay the same from version to version."""
        return {
            "plan": self.name,
            "sentence": self.sentence,
            "inputs": {name: dict(told) for name, told in self.inputs.items()},
            "answers": {answer.name: answer.as_dict() for answer in self.answers},
            "binding": self.binding or None,
            "binding_shares": dict(self.binding_shares),
            "steps": [step.as_dict() for step in self.steps],
            "drivers": dict(self.drivers),
            "assumptions": [notice.stored() for notice in self.assumptions],
            "notices": [notice.stored() for notice in self.notices],
            "sources": list(self.sources),
            **self._goal_as_dict(),
            "settings": [one.as_dict() for one in self.host_settings if one.name],
        }

    def _goal_as_dict(self) -> dict[str, Any]:
        if self.goal is None:
            return {}
        needs = {need.name: need.as_dict() for need in self.needs}
        return {"goal": {"answer": self.goal.name, **self.goal.as_dict()}, "needs": needs}

    def __str__(self) -> str:
        lines = [self.sentence, ""]
        width = max(len(answer.label) for answer in self.answers)
        lines += [f"  {answer.label:<{width}}  {answer.text}" for answer in self.answers]
        if self.binding_shares:
            shares = sorted(self.binding_shares.items(), key=lambda pair: -pair[1])
            parts = [f"{label(name)} in {share:.0%}" for name, share in shares if share > 0]
            lines.append(f"  {label('binding'):<{width}}  {', '.join(parts)} of the draws")
        if self.drivers:
            order = sorted(self.drivers.items(), key=lambda pair: -pair[1])
            parts = [f"{label(name)} {max(share, 0.0):.0%}" for name, share in order[:3]]
            lines.append(f"  {label('drivers'):<{width}}  {', '.join(parts)} of the variance")
        if self.goal is not None:
            width = max(len(label(need.name)) for need in self.needs)
            head = sentence("needs-of-goal", {"label": self.goal.label, "goal": self.goal.text})
            lines += ["", head]
            lines += [f"  {label(need.name):<{width}}  {need.text}" for need in self.needs]
        if self.steps:
            lines += ["", "What would help:", *(f"  {step}" for step in self.steps[:MOST_STEPS])]
        if self.notices:
            lines += ["", *(f"note: {notice}" for notice in self.notices)]
        if self.assumptions:
            lines += ["", f"Assumes {'; '.join(map(str, self.assumptions))}."]
        return "\n".join(lines)


def label(name: str) -> str:
    """Return what an answer or an input is called on a page."""
    return sentence(f"planned-{name.replace('_', '-')}", {})


def quantity(value: float | str, unit: str) -> str:
    """Write a number of a plan; counts are written in full, a text as it is.

    Examples
    --------
    >>> quantity(12345, "1"), quantity(2.5e6, "bit/s"), quantity(90_000.0, "s")
    ('12,345', '2.5 Mbit/s', '25 h')
    """
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return show(value, unit) if not value > 0 else _ENDLESS.get(unit, "no limit")
    if unit == "ratio" and 0.0 < abs(value) < _LEAST_RATIO:
        return f"below {show(_LEAST_RATIO, unit)}"
    if unit == "1" and value == round(value):
        return f"{value:,.0f}"
    if unit == "s" and value >= _LONG_TIMES[-1][0]:
        _, size, name = next(row for row in (*_AGES, *_LONG_TIMES) if value >= row[0])
        return f"{value / size:.4g} {name}"
    return show(value, unit)


def long_time(time_s: float) -> tuple[float, str]:
    """Return the unit in which a long time is written: its seconds and its name.

    Examples
    --------
    >>> long_time(90_000.0), long_time(5.0)
    ((3600.0, 'h'), (1.0, 's'))
    """
    return next(((size, name) for least, size, name in _LONG_TIMES if time_s >= least), (1.0, "s"))


_ENDLESS = {"s": "never", "ratio": "infinite"}
"""What an infinite number of a unit is called, where it is no limit that is absent."""
_LEAST_RATIO = 1e-9
_AGES = tuple(
    (10.0 * size * YEAR_S, size * YEAR_S, f"{name} years")
    for size, name in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand"))
)
_LONG_TIMES = (
    (2 * YEAR_S, YEAR_S, "years"),
    (172_800.0, 86_400.0, "d"),
    (7_200.0, 3_600.0, "h"),
    (600.0, 60.0, "min"),
)
"""From which time on, and how many seconds, a unit has. [s]"""


BINDING = "binding_index"
"""Column of a plan with several limits: the index of the one that binds."""

Function = TypeVar("Function", bound=Callable[..., Any])
Answers = Callable[..., Mapping[str, ArrayLike]]
Inputs = Mapping[str, tuple[Any, str]]
"""What a plan is told, by name: a number or a distribution, and its unit."""
Layers = Mapping[str, str]
"""Answers of a plan in their order, each with the layer of its rate; empty for other quantities."""
_UNITS = {"quantile": "ratio", "annual_growth": "ratio", "calls_per_second": "call/s"}
_ENDINGS = {"_utilization": "ratio", "_efficiency": "ratio", "_erlang": "erlang"}


def unit_of(name: str) -> str:
    """Return the unit of an input or an answer of a plan, by its name.

    Examples
    --------
    >>> unit_of("busy_utilization"), unit_of("link_bps"), unit_of("trunk_count")
    ('ratio', 'bit/s', '1')
    """
    ending = next((unit for end, unit in _ENDINGS.items() if name.endswith(end)), "")
    return _UNITS.get(name) or ending or unit_of_name(name) or "1"


def with_units(**values: Any) -> Inputs:
    """Return what a plan is told with its units, which follow from the names; "text" of a text."""
    return {
        name: (value, "text" if isinstance(value, str) else unit_of(name))
        for name, value in values.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """Answers at the medians of the inputs, and what ranges make of them.

    ``middle`` are the medians of the inputs, ``columns`` all columns at these, for what is drawn
    and for what would help. ``typical`` are the columns that a page states: with ranges their
    medians over the draws, as a column at the medians of the inputs may be far from its own median.
    Then ``binding`` is the limit that binds in most draws.
    """

    inputs: Inputs
    answers: tuple[Answer, ...]
    middle: Mapping[str, float]
    columns: Mapping[str, float]
    typical: Mapping[str, float]
    binding: str = ""
    binding_shares: Mapping[str, float] = field(default_factory=dict)
    drivers: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    function: Answers = field(repr=False, compare=False)
    told: Inputs = field(repr=False, compare=False)

    def answer(self, name: str) -> Answer:
        """Return an answer by its name."""
        return next(answer for answer in self.answers if answer.name == name)

    def page(
        self, name: str, said: Notice, *, settings: Inputs | None = None, **facts: Any
    ) -> Plan:
        """Return the plan of these answers.

        Parameters
        ----------
        name : str
            Which plan.
        said : Notice
            The answer in one sentence.
        settings : mapping, optional
            What it was told besides the inputs, with units; these have no ranges.
        **facts
            What else a :class:`Plan` has, or has in place of what was evaluated.
        """
        inputs = inputs_as_dict(self.inputs)
        for setting, (value, unit) in (settings or {}).items():
            inputs[setting] = {"value": value, "unit": unit}
        evaluated: dict[str, Any] = {
            "answers": self.answers,
            "binding": self.binding,
            "binding_shares": self.binding_shares,
            "drivers": self.drivers,
            "notices": self.notices,
            "evaluated": self,
        }
        return Plan(name=name, said=said, inputs=inputs, **(evaluated | facts))


def evaluate(
    function: Answers,
    inputs: Inputs,
    table: Layers,
    *,
    limits: Sequence[str] = (),
    main: str = "",
    judged: Sequence[str] = (),
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> Evaluated:
    """Return the answers of a plan; ``table`` has the layer of each, in their order.

    The function takes numbers or arrays by the names of the inputs and returns its columns by
    name.

    Parameters
    ----------
    function : callable
        The formulas of the plan.
    inputs : mapping
        Numbers or distributions, with their units; None is left out.
    table : mapping
        Layer of each answer.
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

    def is_judged(doubt: Any) -> bool:
        return isinstance(doubt, DoubtWarning) and doubt.values.get("name") in judged

    told = inputs
    inputs = {name: pair for name, pair in inputs.items() if pair[0] is not None}
    values = {name: value for name, (value, _) in inputs.items()}
    middle = {name: center(value, whole=name.endswith("_count")) for name, value in values.items()}
    with doubts() as doubtful:
        answered = function(**middle)
    columns = {name: float(np.asarray(value).reshape(())) for name, value in answered.items()}
    spread: dict[str, Any] = {}
    if not all(is_number(value) for value in values.values()):
        spread = _spreads(function, values, draws, seed, truncate=truncate)
    medians = {name: drawn.percentile(50.0) for name, drawn in spread.items() if name in table}
    shares = _shares(spread[BINDING].samples, limits) if limits and spread else {}
    answers = tuple(
        Answer(name=name, value=columns[name], layer=layer, spread=spread.get(name))
        for name, layer in table.items()
        if name in columns
    )
    first = spread.get(main or answers[0].name)
    if first is None:
        notices = _readable_doubts([doubt for doubt in doubtful if not is_judged(doubt)], inputs)
    else:
        notes = [note for note in first.notes if not is_judged(note.values.get("doubt"))]
        notices = tuple(_readable_note(note, inputs) for note in notes)
    return Evaluated(
        inputs=inputs,
        answers=answers,
        middle=middle,
        columns=columns,
        typical={**columns, **medians},
        binding=_binding(shares, limits[int(columns[BINDING])]) if limits else "",
        binding_shares=shares,
        drivers=dict(first.first_order or first.explained_alone) if first is not None else {},
        notices=notices,
        function=function,
        told=told,
    )


def _readable_doubts(doubtful: Sequence[DoubtWarning], inputs: Inputs) -> tuple[Notice, ...]:
    """Return what makes the answers doubtful, once each, with names and units as people read."""
    notices = {
        (doubt.code, str(doubt.values.get("name", ""))): _readable(doubt, inputs)
        for doubt in doubtful
    }
    return tuple(notices.values())


def _readable(doubt: DoubtWarning, inputs: Inputs) -> Notice:
    """Return a doubt about an input with its name as the page has it, and numbers in its unit."""
    name = str(doubt.values.get("name", ""))
    if name not in inputs:
        return Notice(doubt.code, doubt.values)
    unit = inputs[name][1]
    values = {
        key: quantity(value, unit) if isinstance(value, int | float) else value
        for key, value in doubt.values.items()
    }
    return Notice(doubt.code, {**values, "name": label(name)})


def _readable_note(note: Notice, inputs: Inputs) -> Notice:
    """Return a note of draws with the names of inputs as the page has them.

    What made draws doubtful is in it as text, so that JSON can hold it.
    """
    values = dict(note.values)
    name, doubt = str(values.get("name", "")), values.get("doubt")
    if name in inputs:
        values["name"] = label(name)
    if "names" in values:
        values["names"] = [label(name) if name in inputs else name for name in values["names"]]
    if isinstance(doubt, DoubtWarning):
        values["doubt"] = str(_readable(doubt, inputs))
    return Notice(note.code, values)


def one_page(function: Function) -> Function:
    """Decorate a plan: what is doubtful is on its page, and no warning besides.

    Each number that it is told is one number, and finite: nothing is planned from nan.
    """

    answered = named_arguments(function)
    first = next(iter(signature(function).parameters))

    @wraps(function)
    def planned(*args: Any, **kwargs: Any) -> Any:
        for name, value in (*zip((first,), args, strict=False), *kwargs.items()):
            _refuse_unknown(name, value)
        with doubts():
            return answered(*args, **kwargs)

    return cast(Function, planned)


def _refuse_unknown(name: str, value: Any) -> None:
    """Refuse several numbers for one, and one that is not finite; no window is an infinite one."""
    if isinstance(value, list | tuple | np.ndarray) and not _has_text(value):
        value = scalar(name, real(name, value))
    if is_number(value) and not (np.isfinite(value) or (name, value) == ("window_bytes", np.inf)):
        raise DomainError("not-finite", name, value)


def _has_text(values: Any) -> bool:
    return any(isinstance(one, str) for one in np.ravel(np.asarray(values, dtype=object)))


def mtu(mtu_bytes: ArrayLike) -> float:
    """Return the MTU of a path; refuse one that IPv4 does not have."""
    least = float(min_mtu_bytes())
    return scalar("mtu_bytes", between("mtu_bytes", mtu_bytes, least, MAX_PACKET_BYTES))


def _spreads(
    function: Answers, values: Mapping[str, Any], draws: int, seed: int, *, truncate: bool
) -> dict[str, Any]:
    """Return the distribution of each column; one that does not vary is left out."""
    from netcalc import uncertain  # late: it loads scipy

    def at(**numbers: Any) -> Any:
        columns = function(**numbers)
        shaped = np.broadcast_arrays(*map(np.asarray, (*columns.values(), *numbers.values())))
        return namedtuple("Columns", columns)(*shaped[: len(columns)])

    spread = uncertain.spreads(at, values, draws=draws or None, seed=seed, truncate=truncate)
    return {
        name: drawn
        for name, drawn in spread.items()
        if name == BINDING or (drawn.samples != drawn.samples[0]).any()
    }


def _binding(shares: Mapping[str, float], middle: str) -> str:
    """Return the limit that binds in most draws, or without draws at the numbers."""
    most = max(shares.values(), default=0.0)
    return middle if shares.get(middle, 0.0) == most else max(shares, key=lambda name: shares[name])


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
    """Return the inputs as JSON has them: a number, or the text of a distribution.

    All rates that a plan asks for count all bits on the line, so the line is their layer.
    """
    told: dict[str, dict[str, Any]] = {}
    for name, (value, unit) in inputs.items():
        told[name] = {"value": center(value), "unit": unit}
        if unit == "bit/s":
            told[name]["layer"] = LINE
        if not is_number(value):
            from netcalc.uncertain.distributions import as_distribution  # late, as above

            told[name]["distribution"] = as_distribution(name, value).text(unit)
    return told


DAY_S = 86_400.0
"""A day. [s]"""
HORIZON_YEARS = 100.0
"""A date further away than this is not written. [year]"""
FORECAST_YEARS = 3.0
"""How far growth is looked ahead, as in :mod:`netcalc.models.users.growth`. [year]"""


def date_after(start: date, years: float) -> date | None:
    """Return the day some years after another; None beyond the horizon.

    Parameters
    ----------
    start : datetime.date
        The day from which time counts.
    years : float
        Time after it, of 365.25 days each; ``inf`` and nan have no date. [year]

    Returns
    -------
    datetime.date or None
        The day within which it is.

    Examples
    --------
    >>> date_after(date(2026, 1, 1), 2.0).isoformat()
    '2028-01-01'
    """
    if not years <= HORIZON_YEARS:
        return None
    try:
        return start + timedelta(days=int(years * YEAR_S / DAY_S))
    except OverflowError:  # the calendar ends with the year 9999
        return None
