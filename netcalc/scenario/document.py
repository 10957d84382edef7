"""Scenarios as JSON objects: read with the place of every fault, and written.

>>> text = '''{"rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "end_s": 60,
...            "flows": [{"algorithm": "cubic", "stop_s": 60}]}'''
>>> from_document(text).bottleneck.bdp_bytes
50000.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from netcalc import documents
from netcalc.checks import named_arguments, positive
from netcalc.documents import Place, Rule
from netcalc.errors import DomainError, ReaderError
from netcalc.scenario.facts import Bottleneck, Flow, Requests, Scenario

_BUFFERS = ("buffer_packets", "buffer_bytes", "buffer_bdp")
MOST_BYTES = 10_000_000
"""More is not read as a scenario. [byte]"""
LARGEST_SEED = 2**53
"""Beyond it two seeds may be the same float."""
_CODES = {
    "utf8": "scenario-not-utf8",
    "syntax": "scenario-not-json",
    "twice": "scenario-key-repeated",
    "unknown": "scenario-key-unknown",
    "missing": "scenario-key-missing",
    "kind": "scenario-wrong-kind",
    "not finite": "scenario-not-finite",
    "too large": "scenario-too-large",
}
_Algorithm = Annotated[str, Rule(form="text such as 'cubic'")]


@dataclass(frozen=True, kw_only=True)
class _FlowObject:
    algorithm: _Algorithm
    start_s: float | None = None
    stop_s: float | None = None
    size_bytes: float | None = None
    rtt_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class _RequestsObject:
    algorithm: _Algorithm | None = None
    request_bytes: float
    reply_bytes: float | None = None
    start_s: float | None = None
    stop_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class _ScenarioObject:
    rate_bps: float
    rtt_s: float
    rtt_spread_ratio: float | None = None
    end_s: float
    buffer_packets: float | None = None
    buffer_bytes: float | None = None
    buffer_bdp: float | None = None
    mtu_bytes: float | None = None
    loss_ratio: float | None = None
    marking_bytes: float | None = None
    delay_on_acks: bool = False
    warm_s: float | None = None
    seed: float | None = None
    senders: float | None = None
    flows: list[_FlowObject] | None = None
    requests: list[_RequestsObject] | None = None


_OF_SCENARIO = ("end_s", "warm_s", "seed", "senders")

Made = TypeVar("Made")


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
    at = Place(name, _CODES)
    read: dict[str, Any] = documents.convert(
        documents.read_json(documents.decoded(data, at), at), dict[str, Any], at
    )
    return read


@named_arguments
def from_document(document: str | Mapping[str, Any], *, name: str = "scenario") -> Scenario:
    """Make a scenario of a JSON object, or of its text.

    Parameters
    ----------
    document : str or mapping
        ``rate_bps``, ``rtt_s``, one of ``buffer_packets``, ``buffer_bytes`` and ``buffer_bdp``,
        ``end_s``, and ``flows``, ``requests`` or both; ``mtu_bytes``, ``loss_ratio``,
        ``marking_bytes``, ``delay_on_acks``, ``warm_s``, ``seed`` and ``senders`` may follow.
        With ``rtt_spread_ratio`` 0.2 the round trips of the flows are spread evenly from 0.8 to 1.2
        of ``rtt_s``, but for those that have one of their own. What has neither ``stop_s`` nor
        ``size_bytes`` runs to ``end_s``.
    name : str
        Its name in messages.

    Raises
    ------
    ReaderError
        With the field, what was found and expected.
    """
    at = Place(name, _CODES)
    value = documents.read_json(document, at) if isinstance(document, str) else document
    names = documents.named(_ScenarioObject, value, at)
    buffer_count = sum(names.get(buffer) is not None for buffer in _BUFFERS)
    if buffer_count != 1:
        raise at.inside("buffer_packets").refused("scenario-one-buffer", count=buffer_count)
    read = documents.load(_ScenarioObject, value, at)
    facts = _given(read)
    spread = facts.pop("rtt_spread_ratio", 0.0)
    flows, loops = facts.pop("flows", ()), facts.pop("requests", ())
    rest = {key: facts.pop(key) for key in _OF_SCENARIO if key in facts}
    link = Bottleneck if "buffer_bytes" in facts else Bottleneck.of
    bottleneck = _made(link, facts, at)
    _made(_positive_end, {"end_s": read.end_s}, at)  # flows are cut there
    if (read.seed or 0) > LARGEST_SEED:
        raise at.inside("seed").refused(
            "scenario-number", value=documents.shown(read.seed), expected=f"at most {LARGEST_SEED}"
        )
    parts = {
        "bottleneck": bottleneck,
        "flows": _spread(_loads(Flow, flows, read.end_s, at.inside("flows")), read, spread, at),
        "requests": _loads(Requests, loops, read.end_s, at.inside("requests")),
    }
    return _made(Scenario, {**parts, **rest}, at)


@named_arguments
def as_document(scenario: Scenario) -> dict[str, Any]:
    """Return the JSON object from which :func:`from_document` makes the same scenario.

    One sender is left out, as it is what a document without ``senders`` has; so is the round trip
    of a flow that has that of the bottleneck.
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
        {
            item.name: getattr(flow, item.name)
            for item in fields(_FlowObject)
            if item.name != "rtt_s" or flow.rtt_s is not None
        }
        for flow in scenario.flows
    ]
    document["requests"] = [
        {item.name: getattr(loop, item.name) for item in fields(_RequestsObject)}
        for loop in scenario.requests
    ]
    return document


def _spread(
    flows: tuple[Flow, ...], read: _ScenarioObject, spread: float, at: Place
) -> tuple[Flow, ...]:
    """Give flows without a round trip of their own one within a share of the common one."""
    if not 0 <= spread < 1:
        raise at.inside("rtt_spread_ratio").refused(
            "scenario-number", value=documents.shown(spread), expected="0 to below 1"
        )
    if not spread:
        return flows
    most = max(len(flows) - 1, 1)
    return tuple(
        replace(flow, rtt_s=read.rtt_s * (1.0 + spread * (2.0 * number - most) / most))
        if flow.rtt_s is None
        else flow
        for number, flow in enumerate(flows)
    )


def _positive_end(end_s: float) -> float:
    return float(positive("end_s", end_s))


def _given(part: Any) -> dict[str, Any]:
    """Return the fields of an object that are not null."""
    return {name: value for name, value in vars(part).items() if value is not None}


def _loads(
    kind: Callable[..., Made], objects: Sequence[Any], end_s: float, at: Place
) -> tuple[Made, ...]:
    """Make flows or request loops; without a stop or a size each goes on to the end."""
    loads = []
    for index, facts in enumerate(map(_given, objects)):
        here = at.inside(index)
        if not facts.keys() & {"stop_s", "size_bytes"}:
            if facts.get("start_s", 0.0) >= end_s:  # its stop, which nobody wrote, is not at fault
                start = documents.shown(facts["start_s"])
                raise here.inside("start_s").refused("starts-after-end", value=start, end_s=end_s)
            facts["stop_s"] = end_s
        loads.append(_made(kind, facts, here))
    return tuple(loads)


def _made(kind: Callable[..., Made], arguments: Mapping[str, Any], at: Place) -> Made:
    """Make an object; a number that cannot be is reported with file and field."""
    try:
        return kind(**arguments)
    except DomainError as error:
        here = at.inside(error.name)
        value = None if error.value is None else documents.shown(str(error.value))
        if error.allowed is not None:
            raise here.refused("scenario-number", value=value, expected=error.allowed) from None
        raise here.refused(error.code, **{**error.values, "value": value}) from None
