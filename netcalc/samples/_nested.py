"""Facts inside the facts of a saved file: each of the kind that its name says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from netcalc.samples._instrument import Instrument

_NUMBERS = frozenset(
    {"sent", "received", "duplicates", "errors", "corrupted", "loss_ratio", "duration_s"}
    | {f"rtt_{what}_s" for what in ("min", "avg", "max", "mdev")}
)
"""What a summary says as a number."""


def misfit(meta: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Return the first fact of another kind: its name, its value, and the kind required.

    >>> misfit({"units": {"rtt_s": 1}})
    ('units.rtt_s', 1, 'text')
    >>> misfit({"instrument": {"cpu_count": 2, "gaps": [[0.5, "a"]]}})
    ('instrument.gaps', [[0.5, 'a']], 'a list of lists of numbers')
    >>> misfit({"units": {"rtt_s": "s"}, "printed": {"sent": 3}})
    """
    for part in ("units", "layers"):
        for name, value in meta.get(part, {}).items():
            if type(value) is not str or not value.isprintable():
                return f"{part}.{name}", value, "text" if type(value) is not str else "plain text"
    for name, value in meta.get("resolutions", {}).items():
        if type(value) not in (int, float) or not value > 0:
            return f"resolutions.{name}", value, "a number above 0"
    for name, value in meta.get("guess", {}).items():
        if name == "value":
            if type(value) not in (int, float):
                return f"guess.{name}", value, "a number"
        elif type(value) is not str or not value.isprintable():
            return f"guess.{name}", value, "text" if type(value) is not str else "plain text"
    for name, value in meta.get("instrument", {}).items():
        hint = _hints().get(name)
        if hint is not None and not _fits(value, hint):
            return f"instrument.{name}", value, _named(hint)
    of_path = _misfit_of_path(meta.get("instrument", {}).get("truth") or {})
    return of_path or _misfit_of_summary("printed", meta.get("printed", {}))


def _misfit_of_path(truth: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Return what is wrong with an emulated path: a rate and a latency of each of its links."""
    if not truth.keys() & _OF_LINKS:
        return None
    rates = truth.get("bandwidths_bps")
    links = len(rates) if isinstance(rates, list) else 0
    for name in sorted(_OF_LINKS):
        values, count = truth.get(name), links + (name == "processings_s")
        numbers = isinstance(values, list) and all(
            type(one) in (int, float) and one >= 0 for one in values
        )
        if not numbers or not values or len(values) != count:
            return f"instrument.truth.{name}", values, f"a list of {count or 'some'} numbers from 0"
    if not all(one > 0 for one in rates or ()):
        return "instrument.truth.bandwidths_bps", rates, "a list of numbers above 0"
    framings = truth.get("framings", ["none"] * links)
    known = isinstance(framings, list) and all(one in ("none", "ethernet") for one in framings)
    if not known or len(framings) != links:
        return "instrument.truth.framings", framings, f"a list of {links} of none, ethernet"
    return None


_OF_LINKS = frozenset({"bandwidths_bps", "latencies_s", "processings_s"})


def _misfit_of_summary(parent: str, printed: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    for name, value in printed.items():
        if name in _NUMBERS and not _fits(value, float):
            return f"{parent}.{name}", value, "a number"
        if name == "runs":
            if not isinstance(value, list):
                return f"{parent}.runs", value, "a list"
            for number, run in enumerate(value):
                if not isinstance(run, dict):
                    return f"{parent}.runs[{number}]", run, "an object"
                found = _misfit_of_summary(f"{parent}.runs[{number}]", run)
                if found is not None:
                    return found
    return None


@cache
def _hints() -> dict[str, Any]:
    hints = get_type_hints(Instrument)
    hints.pop("other")
    return hints


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is of a type; null is an unknown number."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(_fits(one, inner[1]) for one in value.values())
    if origin is not None and issubclass(origin, Sequence):
        return isinstance(value, list) and all(_fits(one, inner[0]) for one in value)
    if hint is float:
        return value is None or value in ("inf", "-inf") or type(value) in (int, float)
    if hint is int:
        return type(value) is int or (type(value) is float and value.is_integer())
    return type(value) is hint


def _named(hint: Any, *, many: bool = False) -> str:
    """Return what a type is, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_named(one) for one in inner if one is not NoneType)
    if origin is not None and issubclass(origin, Mapping):
        return "objects" if many else "an object"
    if origin is not None and issubclass(origin, Sequence):
        return f"{'lists' if many else 'a list'} of {_named(inner[0], many=True)}"
    one, several = {
        float: ("a number", "numbers"),
        int: ("a whole number", "whole numbers"),
        bool: ("true or false", "true or false"),
    }.get(hint, ("text", "texts"))
    return several if many else one
