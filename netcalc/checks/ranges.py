"""Where a model holds: the statement ``Range:`` of its docstring, as numbers.

``Range: everywhere.`` says that the formula is exact under the assumptions that its docstring
states, for all arguments that it takes: an identity, exact arithmetic, or the exact result of the
stated model, as M/M/1 is for Poisson arrivals and exponential services. Whether a network meets the
assumptions is another question, which ``Validity:`` answers in words. An approximation, a limit, a
fit to measurements, or a formula whose source names a domain has numbers instead::

    Range: loss_ratio up to 0.01; rtt_s from 1e-3 up to 2.
    Range: active_variance (N p (1 - p)) from 10.
    Range: that of cubic_throughput_bps; that of pftk_throughput_pps.

The first judges arguments, or the ``result``. The second judges what the brackets explain: a
quantity that is derived from the arguments, or an argument where it counts; the model hands it to
``note_outside_range``. The third is of a model that uses others and passes on what is noted of
their ranges, each kept in one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from inspect import unwrap
from math import inf
from typing import Any, TypeAlias

Range: TypeAlias = tuple[float, float]
"""From where to where."""

_TEXT = re.compile(r"Range: (.*?)\.(?:\s|$)", re.DOTALL)
_CLAUSE = re.compile(
    r"(?P<name>\w+)(?:\s+\((?P<derived>.+)\))?(?:\s+from\s+(?P<low>[-\w.]+))?"
    r"(?:\s+up\s+to\s+(?P<high>[-\w.]+))?",
    re.DOTALL,
)
_USED = re.compile(r"that\s+of\s+(\w+)")
_LIST = re.compile(r"^ *([\w, ]+) : 1-D array_like", re.MULTILINE)


@cache
def published_ranges(function: Callable[..., Any]) -> Mapping[str, Range] | None:
    """Return where a model was published or derived to hold, as its docstring says.

    From ``Range: loss_ratio up to 0.01; rtt_s from 1e-3 up to 1.`` in the notes: the range of each
    argument named, of the ``result``, or of a derived quantity. ``Range: everywhere.`` has none:
    the formula is exact under its assumptions. None if the docstring says nothing.
    """
    clauses = _clauses(function)
    if clauses is None:
        return None
    ranges = {}
    for clause in clauses:
        if _USED.fullmatch(clause) is None:
            parts = _CLAUSE.fullmatch(clause)
            assert parts is not None, f"no range: {clause!r}"
            ranges[parts["name"]] = (float(parts["low"] or -inf), float(parts["high"] or inf))
    return ranges


@cache
def derived_quantities(function: Callable[..., Any]) -> Mapping[str, str]:
    """Return the quantities that a model judges itself, and in words what they are."""
    clauses = (_CLAUSE.fullmatch(clause) for clause in _clauses(function) or [])
    judged = (parts for parts in clauses if parts and parts["derived"])
    return {parts["name"]: " ".join(parts["derived"].split()) for parts in judged}


@cache
def checked_ranges(function: Callable[..., Any]) -> Mapping[str, Range]:
    """Return the ranges of arguments and results, which need no code of the model."""
    judged = derived_quantities(function)
    ranges = published_ranges(function) or {}
    return {name: limits for name, limits in ranges.items() if name not in judged}


@cache
def used_ranges(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the models whose ranges a model passes on."""
    clauses = (_USED.fullmatch(clause) for clause in _clauses(function) or [])
    return tuple(match[1] for match in clauses if match)


@cache
def judged_names(function: Callable[..., Any]) -> frozenset[str]:
    """Return what a model, and those whose ranges it passes on, judge by their code."""
    within = unwrap(function).__globals__
    used = (judged_names(within[name]) for name in used_ranges(function))
    return frozenset(derived_quantities(function)).union(*used)


def _clauses(function: Callable[..., Any]) -> list[str] | None:
    """Return the clauses of a statement; none of ``everywhere``, None without a statement."""
    statement = _TEXT.search(unwrap(function).__doc__ or "")
    if statement is None:
        return None
    clauses = [clause.strip() for clause in statement[1].split(";")]
    return [] if clauses == ["everywhere"] else clauses


@cache
def list_arguments(function: Callable[..., Any]) -> frozenset[str]:
    """Return the arguments that are a list as one thing, such as the links of a path."""
    names = ",".join(_LIST.findall(unwrap(function).__doc__ or ""))
    return frozenset(name.strip() for name in names.split(",")) - {""}
