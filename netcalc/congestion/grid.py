"""Grids: a scenario with some of its values varied, each combination of them evaluated.

>>> from netcalc.scenario import as_document, preset
>>> base = as_document(preset("wan-10m"))
>>> grid = Grid(base, vary={"buffer_bdp": [1, 2], "algorithm": ["reno", "cubic"]}, repeats=3)
>>> len(grid.cases())
12
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import choice, whole
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.printable import safe_repr
from netcalc.scenario import Scenario, as_document, from_document

VARIED = {
    "rate_bps": "bit/s",
    "rtt_s": "s",
    "buffer_bdp": "1",
    "buffer_packets": "1",
    "buffer_bytes": "byte",
    "mtu_bytes": "byte",
    "marking_bytes": "byte",
    "loss_ratio": "ratio",
    "end_s": "s",
    "warm_s": "s",
    "streams": "1",
    "request_bytes": "byte",
    "algorithm": "text",
    "seed": "1",
    "senders": "1",
}
"""What can be varied, with its unit: names of a scenario's document; ``streams`` is how many flows
there are, all alike, ``request_bytes`` is that of all request loops, and ``algorithm`` that of all
flows and request loops."""

BUFFERS = ("buffer_packets", "buffer_bytes", "buffer_bdp")

MOST_CASES = 100_000
"""Most scenarios of a grid."""

Value = float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One scenario of a grid.

    Parameters
    ----------
    values : mapping
        What was varied, and ``repeat``, from 1.
    scenario : Scenario
        What is evaluated.
    """

    values: Mapping[str, Value]
    scenario: Scenario

    def key(self, by: str, stack: str | None) -> str:
        """Return the SHA-256 that says which evaluation this is; see :func:`key_of`."""
        return key_of(as_document(self.scenario), by, stack)


@dataclass(frozen=True, slots=True)
class Grid:
    """Every combination of some values, in a scenario that is otherwise the same.

    Parameters
    ----------
    document : mapping
        The scenario, as :func:`netcalc.scenario.from_document` takes it. A ``buffer_bdp`` in it
        follows the rate and the round-trip time, the other buffers do not.
    vary : mapping of str to sequence
        Values by names of :data:`VARIED`; the last name varies fastest.
    repeats : int
        Runs of each combination; each has the next seed.

    Raises
    ------
    ArgumentTypeError
        If ``vary`` is not a mapping of names to lists.
    DomainError
        If a name is unknown, its values are none or not different, two names fix the same thing,
        or there are more combinations than :data:`MOST_CASES`.
    ReaderError
        If the scenario, or one of the combinations, cannot be.
    """

    document: Mapping[str, Any]
    vary: Mapping[str, Sequence[Value]]
    repeats: int = 1

    def __post_init__(self) -> None:
        whole("repeats", self.repeats, 1)
        base = from_document(self.document)
        _require_values(self.vary)
        count = int(self.repeats)
        for name, values in self.vary.items():
            choice("vary", name, tuple(VARIED))
            if not len(values):
                raise DomainError("grid-no-values", name)
            if len(set(values)) < len(values):
                raise DomainError("grid-values-repeated", name, list(values))
            count *= len(values)
        if count > MOST_CASES:
            raise DomainError("above-maximum", "the number of scenarios", count, high=MOST_CASES)
        if len(buffers := [name for name in self.vary if name in BUFFERS]) > 1:
            raise DomainError("grid-both-varied", buffers[1], first=buffers[0])
        if "seed" in self.vary and self.repeats > 1:
            raise DomainError("grid-both-varied", "repeats", self.repeats, first="seed")
        if "streams" in self.vary and len(set(base.flows)) != 1:
            raise DomainError("grid-flows-unlike", "streams", count=len(base.flows))
        if "request_bytes" in self.vary and not base.requests:
            raise DomainError("grid-no-requests", "request_bytes")

    def cases(self) -> list[Case]:
        """Return all scenarios."""
        first_seed = from_document(self.document).seed
        found = []
        for combination in itertools.product(*self.vary.values()):
            values = dict(zip(self.vary, combination, strict=True))
            where = ", ".join(f"{name}={value}" for name, value in values.items())
            for repeat in range(int(self.repeats)):
                changed = with_values({**self.document, "seed": first_seed + repeat}, values)
                scenario = from_document(changed, name=where or "scenario")
                found.append(Case(values={**values, "repeat": repeat + 1}, scenario=scenario))
        return found


def key_of(document: Mapping[str, Any], by: str, stack: str | None) -> str:
    """Return the SHA-256 of a scenario's whole document, and of what evaluates it.

    Examples
    --------
    >>> from netcalc.scenario import preset
    >>> document = as_document(preset("lan"))
    >>> key_of(document, "live", None) == key_of(document, "ns3", None)
    False
    """
    identity = {"by": by, "scenario": document, "stack": stack}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def with_values(document: Mapping[str, Any], values: Mapping[str, Value]) -> dict[str, Any]:
    """Return a scenario's document with other values.

    Parameters
    ----------
    document : mapping
        As :func:`netcalc.scenario.from_document` takes it.
    values : mapping of str to float or str
        By names of :data:`VARIED`; a buffer replaces the one that the document has.

    Examples
    --------
    >>> with_values({"rate_bps": 1e7, "buffer_packets": 33}, {"buffer_bdp": 2.0})
    {'rate_bps': 10000000.0, 'buffer_bdp': 2.0}
    """
    changed = dict(document)
    for name, value in values.items():
        if name in BUFFERS:
            changed = {key: kept for key, kept in changed.items() if key not in BUFFERS}
        if name == "algorithm":
            for loads in ("flows", "requests"):
                changed[loads] = _each(changed.get(loads), algorithm=value)
        elif name == "request_bytes":
            changed["requests"] = _each(changed.get("requests"), request_bytes=value)
        elif name == "streams":
            count = int(whole("streams", float(value), 0))
            changed["flows"] = list(changed["flows"][:1]) * count
        else:
            changed[name] = value
    return changed


def _require_values(vary: object) -> None:
    """Refuse what is not lists of values by names; a text would be taken apart into letters."""
    if not isinstance(vary, Mapping):
        raise ArgumentTypeError("not-of-class", "vary", safe_repr(vary), expected="a dict of lists")
    for name, values in vary.items():
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise ArgumentTypeError(
                "not-of-class", f"vary[{name!r}]", safe_repr(values), expected="a list of values"
            )


def _each(loads: Iterable[Mapping[str, Any]] | None, **more: Any) -> list[dict[str, Any]]:
    return [{**load, **more} for load in loads or ()]
