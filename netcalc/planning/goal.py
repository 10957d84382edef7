"""A goal for an answer of a plan: which value of each input alone would reach it.

The formulas are those that the plan evaluates, so that every plan can be asked so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcalc import solver
from netcalc.checks import choice, named_arguments, positive, scalar
from netcalc.errors import ConvergenceError, DomainError
from netcalc.planning import page

_WIDE = 1e3
"""How far from its value an input is searched, as a factor to each side."""
_RANGES = {
    "annual_growth": (1e-3, 10.0),
    "reduction_factor": (1.0, 1e3),
    "loss_ratio": (1e-9, 1.0),
}
"""Where inputs are looked for, if not where :func:`netcalc.solver.default_range` says."""
_BESIDE = 1e-3
"""Share of a value by which the answers beside it are looked at."""
_MORE_IS_BETTER = frozenset({
    "goodput_bps", "fills_s", "largest_bytes", "line_call_count", "tunnel_mtu_bytes",
    "tunnel_mss_bytes", "tunnel_goodput_bps", "tunnel_efficiency", "mix_bps", "mix_rate_pps",
    "mix_efficiency", "line_limit_bps", "window_limit_bps", "loss_limit_bps", "one_flow_bps",
    "default_flow_bps", "plain_efficiency", "plain_mix_efficiency",
})  # fmt: skip


@named_arguments
def with_goal(
    plan: page.Plan, *, goal: float, answer: str = "", over: Sequence[str] = ()
) -> page.Plan:
    """Return a plan with the value of each input that alone makes an answer what is wanted.

    Parameters
    ----------
    plan : Plan
        A plan; where inputs are ranges, their medians count.
    goal : float
        What the answer must be, in its SI unit.
    answer : str
        Name of the answer; by default the first one.
    over : sequence of str
        Names of the inputs that may change; by default all.

    Returns
    -------
    Plan
        The plan, with ``goal`` and ``needs``: one for each input, also for those not given.

    Raises
    ------
    DomainError
        If the goal is not above 0, or the answer or an input is unknown.

    Examples
    --------
    >>> from netcalc import planning
    >>> plan = planning.transfer(50e12, bandwidth_bps=1e9, rtt_s=0.16)
    >>> [str(need) for need in with_goal(plan, goal=60 * 3600.0).needs][:2]
    ['size: at most 25.42 TB', 'rate of the line: at least 1.967 Gbit/s']
    """
    wanted = scalar("goal", positive("goal", goal))
    answers = {one.name: one for one in plan.answers if one.unit != "text"}
    answer = answer or plan.answers[0].name
    if answer not in answers:
        raise DomainError("not-a-choice", "answer", answer, choices=list(answers))
    for name in over:
        choice("over", name, tuple(plan.evaluated.told))
    search = _Search(plan.evaluated, answer, wanted)
    stated = page.Answer(name=answer, value=wanted, layer=answers[answer].layer)
    return replace(plan, goal=stated, needs=tuple(map(search.need, over or plan.evaluated.told)))


@dataclass(frozen=True, slots=True)
class _Search:
    """An answer of an evaluated plan, and what it must be."""

    evaluated: page.Evaluated
    answer: str
    goal: float

    def need(self, name: str) -> page.Need:
        """Return the value of an input that reaches the goal, the others as they are."""
        at = self._formula(name)
        low, high = _RANGES.get(name) or solver.default_range(name)
        own = self.evaluated.middle.get(name)
        if own:
            low, high = max(low, own / _WIDE), min(high, own * _WIDE)
        try:
            roots = solver.solve(at, for_=name, result=self.goal, low=low, high=high)
        except (ConvergenceError, DomainError):
            roots = []
        if not roots:
            return page.Need(name=name, low=low, high=high)
        root = min(roots, key=lambda root: abs(np.log(root.value / own)) if own else root.value)
        value = root.value
        step = 1.0 if name.endswith("_count") else _BESIDE * value
        step = float(np.ceil(step)) if name.endswith("_bytes") else step
        more, less = (
            self._reached(at, name, root.last + step),
            self._reached(at, name, value - step),
        )
        side = "" if more == less else "least" if more else "most"
        if side == "most":
            value = root.last if self._reached(at, name, root.last) else value - step
        return page.Need(name=name, value=value, side=side, low=low, high=high)

    def _formula(self, name: str) -> Callable[..., Any]:
        """Return the answer as a formula of one input."""

        def at(value: Any) -> Any:
            columns = self.evaluated.function(**{**self.evaluated.middle, name: value})
            shape = np.broadcast_shapes(np.shape(value), np.shape(columns[self.answer]))
            return np.broadcast_to(columns[self.answer], shape)

        parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        at.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
        return at

    def _reached(self, at: Callable[..., Any], name: str, value: float) -> bool:
        """Whether the answer is the goal or better at a value."""
        over = solver.evaluate(at, {name: value}) - self.goal
        better = over if self.answer in _MORE_IS_BETTER else -over
        return better >= -solver.TOLERANCE * self.goal
