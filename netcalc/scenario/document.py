"""Scenarios as JSON objects: read with the place of every fault, and written.

>>> text = '''{"rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "end_s": 60,
...            "flows": [{"algorithm": "cubic", "stop_s": 60}]}'''
>>> from_document(text).bottleneck.bdp_bytes
50000.0
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from netcalc.checks import named_arguments, positive
from netcalc.errors import DomainError, ReaderError
from netcalc.printable import LONGEST_SHOWN
from netcalc.scenario.facts import Bottleneck, Flow, Requests, Scenario

_BUFFERS = ("buffer_packets", "buffer_bytes", "buffer_bdp")
_OF_BOTTLENECK = ("rate_bps", "rtt_s", *_BUFFERS, "mtu_bytes", "loss_ratio", "marking_bytes")
_OF_SCENARIO = ("end_s", "warm_s", "seed", "senders")
_OF_FLOW = ("start_s", "stop_s", "size_bytes")
_OF_REQUESTS = ("request_bytes", "reply_bytes", "start_s", "stop_s")
MOST_BYTES = 10_000_000
"""More is not read as a scenario. [byte]"""
LARGEST_SEED = 2**53
"""Beyond it two seeds may be the same float."""

Made = TypeVar("Made")


class _BadTextError(ValueError):
    """A repeated name in JSON, which its reader meets before the whole is known."""


@named_arguments
def read(path: str | Path) -> Scenario:
    """Read a scenario from a JSON file.

    Raises
    ------
    ReaderError
        With file, field, what was found and expected.
    OSError
        If there is no such file.
    """
    return from_document(read_document(path), name=str(path))


@named_arguments
def read_document(path: str | Path) -> dict[str, Any]:
    """Read the JSON object of a scenario as it is written; :func:`from_document` checks the rest.

    Raises
    ------
    ReaderError
        If the file is no JSON object.
    OSError
        If there is no such file.
    """
    with Path(path).open("rb") as file:
        return document_of(file.read(MOST_BYTES + 1), name=str(path))


@named_arguments
def document_of(data: bytes, *, name: str) -> dict[str, Any]:
    """Return the JSON object of a scenario from what a file has; ``name`` is its name in messages.

    Raises
    ------
    ReaderError
        If it is no JSON object, or has more than :data:`MOST_BYTES`.
    """
    if len(data) > MOST_BYTES:
        raise ReaderError("scenario-too-long", file=name, limit=MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReaderError("scenario-not-utf8", file=name, offset=error.start) from None
    found = _loaded(text, name)
    if not isinstance(found, dict):
        raise _wrong_kind(name, None, found, "an object in { }")
    return found


@named_arguments
def from_document(document: str | Mapping[str, Any], *, name: str = "scenario") -> Scenario:
    """Make a scenario of a JSON object, or of its text.

    Parameters
    ----------
    document : str or mapping
        ``rate_bps``, ``rtt_s``, one of ``buffer_packets``, ``buffer_bytes`` and ``buffer_bdp``,
        ``end_s``, and ``flows``, ``requests`` or both; ``mtu_bytes``, ``loss_ratio``,
        ``marking_bytes``, ``delay_on_acks``, ``warm_s``, ``seed`` and ``senders`` may follow.
        What has neither ``stop_s`` nor ``size_bytes`` runs to ``end_s``.
    name : str
        Its name in messages.

    Raises
    ------
    ReaderError
        With the field, what was found and expected.
    """
    found = _loaded(document, name) if isinstance(document, str) else document
    known = (*_OF_BOTTLENECK, "delay_on_acks", *_OF_SCENARIO, "flows", "requests")
    given = _object(found, name, "", known, required=("rate_bps", "rtt_s", "end_s"))
    bottleneck = _bottleneck(given, name)
    rest = _numbers(given, name, "", _OF_SCENARIO)
    _made(_positive_end, {"end_s": rest["end_s"]}, name, "")  # flows are cut there
    if rest.get("seed", 0) > LARGEST_SEED:
        shown = _shown(str(given["seed"]))
        expected = f"at most {LARGEST_SEED}"
        raise ReaderError(
            "scenario-number", file=name, field="seed", value=shown, expected=expected
        )
    flows = [
        _made(
            Flow, _load(one, name, f"flows[{at}]", _OF_FLOW, rest["end_s"]), name, f"flows[{at}]."
        )
        for at, one in enumerate(_list(given, name, "flows"))
    ]
    requests = [
        _made(
            Requests,
            _load(one, name, f"requests[{at}]", _OF_REQUESTS, rest["end_s"]),
            name,
            f"requests[{at}].",
        )
        for at, one in enumerate(_list(given, name, "requests"))
    ]
    parts = {"bottleneck": bottleneck, "flows": tuple(flows), "requests": tuple(requests)}
    return _made(Scenario, {**parts, **rest}, name, "")


@named_arguments
def as_document(scenario: Scenario) -> dict[str, Any]:
    """Return the JSON object from which :func:`from_document` makes the same scenario.

    One sender is left out, as it is what a document without ``senders`` has.
    """
    shared = scenario.bottleneck
    document: dict[str, Any] = {
        key: getattr(shared, key)
        for key in ("rate_bps", "rtt_s", "buffer_bytes", "mtu_bytes", "loss_ratio")
    }
    if shared.marking_bytes is not None:
        document["marking_bytes"] = shared.marking_bytes
    document["delay_on_acks"] = shared.delay_on_acks
    document |= {key: getattr(scenario, key) for key in _OF_SCENARIO}
    if scenario.senders == 1:
        del document["senders"]
    document["flows"] = [
        {key: getattr(flow, key) for key in ("algorithm", *_OF_FLOW)} for flow in scenario.flows
    ]
    document["requests"] = [
        {key: getattr(loop, key) for key in ("algorithm", *_OF_REQUESTS)}
        for loop in scenario.requests
    ]
    return document


def _positive_end(end_s: float) -> float:
    return float(positive("end_s", end_s))


def _loaded(text: str, name: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twins = [key for key, _ in pairs]
            raise _BadTextError(next(key for key in twins if twins.count(key) > 1))
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)  # NaN is refused with its field
    except _BadTextError as error:
        raise ReaderError("scenario-key-repeated", file=name, value=_shown(str(error))) from None
    except json.JSONDecodeError as error:
        start = text[error.pos : error.pos + 40].split("\n")[0]
        raise ReaderError(
            "scenario-not-json", file=name, line=error.lineno, value=_shown(start)
        ) from None
    except (RecursionError, ValueError):  # of thousands of levels, or of digits
        raise ReaderError("scenario-not-json", file=name) from None


def _bottleneck(given: Mapping[str, Any], name: str) -> Bottleneck:
    buffers = [key for key in _BUFFERS if given.get(key) is not None]
    if len(buffers) != 1:
        raise ReaderError(
            "scenario-one-buffer", file=name, field="buffer_packets", count=len(buffers)
        )
    numbers = _numbers(given, name, "", _OF_BOTTLENECK)
    on_acks = given.get("delay_on_acks", False)
    if not isinstance(on_acks, bool):
        raise _wrong_kind(name, "delay_on_acks", on_acks, "true or false")
    if "buffer_bytes" in numbers:
        return _made(Bottleneck, {**numbers, "delay_on_acks": on_acks}, name, "")
    return _made(Bottleneck.of, {**numbers, "delay_on_acks": on_acks}, name, "")


def _load(one: Any, name: str, where: str, numbers: Iterable[str], end_s: float) -> dict[str, Any]:
    """Return the arguments of a flow or a request loop; without a stop or a size, to the end."""
    numbers = tuple(numbers)
    required = "request_bytes" if "request_bytes" in numbers else "algorithm"
    given = _object(one, name, where, ("algorithm", *numbers), required=(required,))
    algorithm = given.get("algorithm")
    if algorithm is not None and not isinstance(algorithm, str):
        raise _wrong_kind(name, f"{where}.algorithm", algorithm, "text such as 'cubic'")
    named = {} if algorithm is None else {"algorithm": algorithm}
    found = _numbers(given, name, f"{where}.", numbers)
    if not found.keys() & {"stop_s", "size_bytes"}:
        if found.get("start_s", 0.0) >= end_s:  # its stop, which nobody wrote, is not at fault
            value, field = _shown(str(found["start_s"])), f"{where}.start_s"
            raise ReaderError("starts-after-end", file=name, field=field, value=value, end_s=end_s)
        found["stop_s"] = end_s
    return {**named, **found}


def _object(
    found: Any, name: str, where: str, known: tuple[str, ...], *, required: tuple[str, ...]
) -> Mapping[str, Any]:
    """Return an object; refuse names it does not have and the lack of those it must."""
    if not isinstance(found, Mapping):
        raise _wrong_kind(name, where or None, found, "an object in { }")
    prefix = f"{where}." if where else ""
    for key in found:
        if key not in known:
            field = f"{prefix}{_shown(str(key))}"
            raise ReaderError("scenario-key-unknown", file=name, field=field, known=list(known))
    for key in required:
        if found.get(key) is None:
            raise ReaderError("scenario-key-missing", file=name, field=f"{prefix}{key}")
    return found


def _list(given: Mapping[str, Any], name: str, key: str) -> list[Any]:
    found = given.get(key)
    if found is None:
        return []
    if not isinstance(found, list | tuple):
        raise _wrong_kind(name, key, found, "a list in [ ]")
    return list(found)


def _numbers(
    given: Mapping[str, Any], name: str, prefix: str, keys: Iterable[str]
) -> dict[str, float]:
    """Return the finite numbers of an object; null counts as not given."""
    found = {}
    for key in keys:
        value = given.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _wrong_kind(name, f"{prefix}{key}", value, "a number")
        try:
            finite = math.isfinite(value)
        except OverflowError:  # an integer beyond float64
            finite = False
        if not finite:
            code = "scenario-not-finite" if _is_float(value) else "scenario-too-large"
            shown = _shown(str(value))
            raise ReaderError(code, file=name, field=f"{prefix}{key}", value=shown)
        found[key] = value
    return found


def _is_float(value: float) -> bool:
    return isinstance(value, float)


def _made(kind: Callable[..., Made], arguments: Mapping[str, Any], name: str, prefix: str) -> Made:
    """Make an object; a number that cannot be is reported with file and field."""
    try:
        return kind(**arguments)
    except DomainError as error:
        field = f"{prefix}{error.name}"
        value = None if error.value is None else _shown(str(error.value))
        values = {k: v for k, v in error.values.items() if k not in ("name", "value")}
        values |= {"name": error.name}
        allowed = error.allowed
        if allowed is None:
            raise ReaderError(error.code, file=name, field=field, value=value, **values) from None
        raise ReaderError(
            "scenario-number", file=name, field=field, value=value, expected=allowed
        ) from None


def _wrong_kind(name: str, field: str | None, found: Any, expected: str) -> ReaderError:
    return ReaderError(
        "scenario-wrong-kind",
        file=name,
        field=field,
        value=_shown(json.dumps(found, default=str)),
        expected=expected,
    )


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
