"""Grids: a scenario, or those of a matrix, with every combination of some values; their results.

Results are saved as JSON lines, and read as columns with units.

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
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.checks import choice, named_arguments, whole
from netcalc.congestion.result import Latencies, Result, facts
from netcalc.display import unit_of_name
from netcalc.documents import Place, json_lines
from netcalc.errors import ArgumentTypeError, DomainError, ReaderError
from netcalc.samples import MAX_FILE_BYTES, LineFile, Meta, Table
from netcalc.scenario import Flow, Requests, Scenario, as_document, from_document, matrix

_NAMES = (
    "rate_bps", "rtt_s", "buffer_bdp", "buffer_packets", "buffer_bytes", "mtu_bytes",
    "marking_bytes", "loss_ratio", "end_s", "warm_s", "streams", "request_bytes", "algorithm",
    "seed", "senders", "rtt_spread_ratio",
)  # fmt: skip
VARIED = {name: "text" if name == "algorithm" else unit_of_name(name) or "1" for name in _NAMES}
"""What can be varied, with its unit: names of a scenario's document; ``streams`` is how many flows
there are, all alike, ``request_bytes`` is that of all request loops, and ``algorithm`` that of all
flows and request loops."""

OF_ONE = {
    "flows": {"algorithm": "text", "start_s": "s", "stop_s": "s", "size_bytes": "byte",
              "rtt_s": "s"},
    "requests": {"algorithm": "text", "request_bytes": "byte", "reply_bytes": "byte",
                 "start_s": "s", "stop_s": "s"},
}  # fmt: skip
"""What can be varied of one flow or request loop, as ``flows[1].algorithm``: counted from 0, as in
the document and in messages."""

_ONE = re.compile(r"(flows|requests)\[(\d{1,6})\]\.(\w+)", re.ASCII)

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
        Values by names of :data:`VARIED`, or of :data:`OF_ONE` with an index, such as
        ``flows[1].algorithm``; the last name varies fastest.
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
        for name, values in self.vary.items():
            unit_of(name, option="vary")
            if not len(values):
                raise DomainError("grid-no-values", name)
            if len(set(values)) < len(values):
                raise DomainError("grid-values-repeated", name, list(values))
        if len(self) > MOST_CASES:
            count = len(self)
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
        cases = []
        for combination in itertools.product(*self.vary.values()):
            values = dict(zip(self.vary, combination, strict=True))
            where = ", ".join(f"{name}={value}" for name, value in values.items())
            for repeat in range(int(self.repeats)):
                changed = with_values({**self.document, "seed": first_seed + repeat}, values)
                scenario = from_document(changed, name=where or "scenario")
                cases.append(Case(values={**values, "repeat": repeat + 1}, scenario=scenario))
        return cases

    def __len__(self) -> int:
        count = int(self.repeats)
        for values in self.vary.values():
            count *= len(values)
        return count

    def about(self) -> dict[str, Any]:
        """Return what repeats the grid."""
        return {"scenario": self.document, "vary": self.vary, "repeats": self.repeats}


OF_A_MATRIX = tuple(
    name for name in VARIED if name not in ("algorithm", "streams", "request_bytes")
)
"""What can be set or varied in all cases of a matrix; the others are what its cases differ in."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The cases of a matrix, each with some values set or varied in all of them.

    Parameters
    ----------
    name, baseline, test : str
        As :func:`netcalc.scenario.matrix` takes them.
    values : mapping of str to float or str
        What is set in all cases, as :func:`with_values` takes it.
    vary : mapping of str to sequence
        What is varied in all cases, as :class:`Grid` takes it.
    repeats : int
        Runs of each case and combination; each has the next seed.

    Raises
    ------
    DomainError
        If there is no such matrix, the algorithms are the same, or a name is none of
        :data:`OF_A_MATRIX`.
    ReaderError
        If one of the cases cannot be.

    Examples
    --------
    >>> len(Matrix("versus", "cubic", "bbr", vary={"buffer_bdp": [1, 2]}).cases())
    16
    """

    name: str
    baseline: str
    test: str
    values: Mapping[str, Value] = field(default_factory=dict)
    vary: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    repeats: int = 1

    def __post_init__(self) -> None:
        for name in (*self.values, *self.vary):
            choice("what is varied in a matrix", name, OF_A_MATRIX)
        count = sum(len(grid) for grid in self._grids().values())
        if count > MOST_CASES:
            raise DomainError("above-maximum", "the number of scenarios", count, high=MOST_CASES)

    def cases(self) -> list[Case]:
        """Return all scenarios; each has the name of its case among its values."""
        return [
            Case(values={"case": name, **case.values}, scenario=case.scenario)
            for name, grid in self._grids().items()
            for case in grid.cases()
        ]

    def about(self) -> dict[str, Any]:
        """Return what repeats the matrix."""
        return {
            "matrix": self.name,
            "baseline": self.baseline,
            "test": self.test,
            "values": self.values,
            "vary": self.vary,
            "repeats": self.repeats,
        }

    def _grids(self) -> dict[str, Grid]:
        cases = matrix(self.name, baseline=self.baseline, test=self.test)
        return {
            name: Grid(with_values(as_document(scenario), self.values), self.vary, self.repeats)
            for name, scenario in cases.items()
        }


@named_arguments
def unit_of(name: str, *, option: str) -> str:
    """Return the unit of what is varied: "text" of an algorithm.

    Parameters
    ----------
    name : str
        One of :data:`VARIED`, or as ``flows[1].algorithm`` a name of :data:`OF_ONE`.
    option : str
        What to name in a refusal.

    Raises
    ------
    DomainError
        If there is no such name.

    Examples
    --------
    >>> unit_of("rtt_s", option="--set"), unit_of("flows[1].algorithm", option="--set")
    ('s', 'text')
    """
    if named := _ONE.fullmatch(name):
        loads, _, key = named.groups()
        choice(f"{option} {name.partition('.')[0]}", key, tuple(OF_ONE[loads]))
        return OF_ONE[loads][key]
    if name in VARIED:
        return VARIED[name]
    names = [*VARIED, "flows[0].algorithm", "requests[0].request_bytes"]
    near = get_close_matches(str(name), names, n=1)
    suggestions: dict[str, Any] = {"suggestions": near} if near else {}
    raise DomainError("not-a-choice", option, name, choices=names, **suggestions)


@named_arguments
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


@named_arguments
def with_values(document: Mapping[str, Any], values: Mapping[str, Value]) -> dict[str, Any]:
    """Return a scenario's document with other values.

    Parameters
    ----------
    document : mapping
        As :func:`netcalc.scenario.from_document` takes it.
    values : mapping of str to float or str
        By names of :data:`VARIED` and :data:`OF_ONE`; a buffer replaces the one that the document
        has, and what is of one flow or loop is put in after what is of all.

    Raises
    ------
    DomainError
        If the document has no such flow or request loop.

    Examples
    --------
    >>> with_values({"rate_bps": 1e7, "buffer_packets": 33}, {"buffer_bdp": 2.0})
    {'rate_bps': 10000000.0, 'buffer_bdp': 2.0}
    """
    changed = dict(document)
    ordered = sorted(values.items(), key=lambda item: bool(_ONE.fullmatch(item[0])))
    for name, value in ordered:
        if named := _ONE.fullmatch(name):
            loads, index, key = named.groups()
            changed[loads] = _change_load(changed.get(loads), loads, int(index), {key: value})
            continue
        if name in BUFFERS:
            changed = {key: kept for key, kept in changed.items() if key not in BUFFERS}
        if name == "algorithm":
            for loads in ("flows", "requests"):
                changed[loads] = _change_loads(changed.get(loads), algorithm=value)
        elif name == "request_bytes":
            changed["requests"] = _change_loads(changed.get("requests"), request_bytes=value)
        elif name == "streams":
            count = int(whole("streams", float(value), 0))
            if isinstance(flows := changed.get("flows") or [], list | tuple):
                changed["flows"] = list(flows[:1]) * count
        else:
            changed[name] = value
    return changed


def _require_values(vary: object) -> None:
    """Refuse what is not lists of values by names; a text would be taken apart into letters."""
    if not isinstance(vary, Mapping):
        raise ArgumentTypeError("not-of-class", "vary", value=vary, expected="a dict of lists")
    for name, values in vary.items():
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise ArgumentTypeError(
                "not-of-class", f"vary[{name!r}]", value=values, expected="a list of values"
            )


def _change_load(
    entries: object, loads: str, index: int, more: Mapping[str, Value]
) -> list[Mapping[str, Any]]:
    """Return flows or request loops, one of them with other values."""
    changed = list(entries) if isinstance(entries, list | tuple) else []
    if index >= len(changed):
        raise DomainError("no-such-load", f"{loads}[{index}]", count=len(changed), loads=loads)
    if isinstance(changed[index], Mapping):
        changed[index] = {**changed[index], **more}
    return changed


def _change_loads(loads: Any, **more: Any) -> Any:
    """Return flows or request loops with other values; what is none of them is refused later."""
    if not isinstance(loads, list | tuple):
        return loads or []
    return [{**load, **more} if isinstance(load, Mapping) else load for load in loads]


START = b'{"kind": "session"'
"""Each file begins so."""
KINDS = ("session", "result", "error")

Row = Mapping[str, Any]


class GridFile(LineFile):
    """A file of results that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        A file of results, or a new one.

    Attributes
    ----------
    finished : set of str
        Keys of the results that it has.

    Raises
    ------
    ReaderError
        If it is another file, or is damaged.
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, busy="grid-file-busy")
        try:
            rows, size = _complete_rows(path)
            self.cut(size)  # a line that a killed program left
        except BaseException:
            self.close()
            raise
        self.finished = {row["key"] for row in rows if row["kind"] == "result"}

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows, all or none of them.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        self.append(rows, sync=True)


def _complete_rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the complete lines, and how many bytes they are."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ReaderError("grid-file-too-long", file=str(path), limit=MAX_FILE_BYTES)
    data = path.read_bytes()
    if data[: len(START)] != START[: len(data)]:
        raise ReaderError("grid-file-other", file=str(path))
    place = Place(str(path), "grid-line-damaged")
    rows, size = json_lines(data, place)
    for line, row in enumerate(rows, 1):
        if not _is_sound(row):
            raise replace(place, line=line).refused("kind")
    return rows, size


def _is_sound(row: Row) -> bool:
    """Whether a batch has written a line; the key must belong to the scenario."""
    try:
        if row["kind"] == "session":
            return True
        key = key_of(row["scenario"], row["by"], row["stack"])
        return row["kind"] in KINDS and row["key"] == key and isinstance(row["values"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


MEANS = (
    "utilization", "jain", "queue_mean_bytes", "queue_median_bytes", "queue_p95_bytes",
    "drop_count",
)  # fmt: skip
LATER_MEANS = (
    "resent_ratio", "jain_end", "rtt_min_s", "rtt_mean_s", "rtt_max_s", "probe_rtt_mean_s",
    "probe_rtt_p95_s",
)  # fmt: skip
"""Results that files written by earlier versions do not have."""
FLOW_LISTS = (
    "goodput_bps", "finish_s", "rate_min_bps", "rate_max_bps", "window_mean_packets",
    "window_max_packets", "convergence_s", "release_s",
)  # fmt: skip
"""Results of each flow; their columns have the number of the flow before the unit, from 1."""
LOOP_LISTS = (
    "request_p50_s", "request_p99_s", "request_count", "request_min_s", "request_mean_s",
    "request_p90_s", "request_p999_s", "request_max_s", "request_p99_low_s", "request_p99_high_s",
)  # fmt: skip
"""The same of each request loop; the number is behind the first word."""

Cell = float | str


@named_arguments
def is_results(path: str | Path) -> bool:
    """Whether a file begins as one of a batch does; False if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return begins_results(file.read(len(START)))
    except OSError:
        return False


@named_arguments
def begins_results(data: bytes) -> bool:
    """Whether data begin as a file of a batch does.

    Examples
    --------
    >>> begins_results(b'{"rate_bps": 1e7}')
    False
    """
    return data.startswith(START)


@named_arguments
def table(path: str | Path) -> Table:
    """Return the results that a file of a batch has.

    Parameters
    ----------
    path : str or Path
        File of JSON lines.

    Returns
    -------
    Table
        The scenario's facts, what was varied, and the means; what a scenario has not is nan.

    Raises
    ------
    ReaderError
        If it is another file, or is damaged.
    OSError
        If there is no such file.
    """
    rows, _ = _complete_rows(Path(path))
    sessions = [row for row in rows if row["kind"] == "session"]
    cells = [
        _cells(row, number, Path(path))
        for number, row in enumerate(rows, 1)
        if row["kind"] == "result"
    ]
    names = list(dict.fromkeys(name for row in cells for name in row))
    texts = {name for row in cells for name, cell in row.items() if isinstance(cell, str)}
    columns = {
        name: [row.get(name, "" if name in texts else np.nan) for row in cells] for name in names
    }
    return Table(data=columns, meta=_meta(sessions[0], names, texts, Path(path)))


@named_arguments
def pooled(path: str | Path) -> dict[str, tuple[int, tuple[Latencies, ...]]]:
    """Return the latencies of the requests of live runs that differ in their seeds alone.

    Parameters
    ----------
    path : str or Path
        File of a batch.

    Returns
    -------
    dict
        By what was varied besides, such as ``buffer_bdp 2``: the number of runs, at least two, and
        the latencies of each request loop in all of them; loops whose latencies are not in the file
        are left out, with their runs.
    """
    rows, _ = _complete_rows(Path(path))
    runs: dict[str, list[list[list[float]]]] = {}
    for row in rows:
        latencies = row["result"].get("request_latencies_s") if row["kind"] == "result" else None
        if not latencies or None in latencies:
            continue
        varied = {n: v for n, v in row["values"].items() if n not in ("repeat", "seed")}
        name = ", ".join(f"{name} {value}" for name, value in varied.items())
        runs.setdefault(name, []).append(latencies)
    return {
        name: (
            len(group),
            tuple(Latencies(np.concatenate(loop)) for loop in zip(*group, strict=True)),
        )
        for name, group in runs.items()
        if len(group) > 1
    }


@named_arguments
def course_table(results: Sequence[Result]) -> Table:
    """Return the courses of some results as columns, a row for each interval.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario, each by another way.

    Returns
    -------
    Table
        ``by``, the end of the interval ``time_s``, ``queue_bytes``, ``rtt_s`` and ``drop_count``
        since the start, and of each flow ``goodput_1_bps`` and ``window_1_packets``; what is not
        known is nan.

    Raises
    ------
    DomainError
        If a result has no course.
    """
    parts = [_course(result) for result in results]
    columns = {name: [cell for part in parts for cell in part[name]] for name in parts[0]}
    return Table(
        data=columns,
        meta=Meta(
            tool="netcalc congestion",
            tool_version=str(facts()["netcalc"]),
            units={name: "text" if name == "by" else _unit(name) for name in columns},
        ),
    )


def _course(result: Result) -> dict[str, list[Any]]:
    course = result.trajectory
    if course is None:
        raise DomainError("no-course", "results", result.by)
    columns = {
        "by": [result.by] * course.time_s.size,
        "time_s": course.time_s.tolist(),
        "queue_bytes": course.queue_bytes.tolist(),
        "rtt_s": course.rtt_s.tolist(),
        "drop_count": (
            [float("nan")] * course.time_s.size
            if course.drop_count is None
            else np.round(course.drop_count).tolist()
        ),
    }
    for at in range(len(result.scenario.flows)):
        columns[f"goodput_{at + 1}_bps"] = course.goodput_bps[:, at].tolist()
        columns[f"window_{at + 1}_packets"] = course.window_packets[:, at].tolist()
    return columns


def _cells(row: Mapping[str, Any], number: int, path: Path) -> dict[str, Cell]:
    """Return one line as cells by column."""
    scenario = from_document(row["scenario"], name=f"{path}, line {number}")
    varied = {name: value for name, value in row["values"].items() if name != "algorithm"}
    try:
        cells = {"by": row["by"], **_facts(scenario)}
        cells |= {name: _varied_cell(value) for name, value in varied.items()}
        return cells | _results(row["result"], scenario) | _marks(row["result"])
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ReaderError("grid-line-damaged", file=str(path), line=number) from None


def _facts(scenario: Scenario) -> dict[str, Cell]:
    link = scenario.bottleneck
    loads: list[Flow | Requests] = [*scenario.flows, *scenario.requests]
    return {
        "algorithm": "+".join(dict.fromkeys(load.algorithm for load in loads)),
        "streams": float(len(scenario.flows)),
        "rate_bps": link.rate_bps,
        "rtt_s": link.rtt_s,
        "buffer_bytes": link.buffer_bytes,
        "loss_ratio": link.loss_ratio,
        "seed": float(scenario.seed),
        "senders": float(scenario.senders),
        **{f"request_{n}_bytes": loop.request_bytes for n, loop in enumerate(scenario.requests, 1)},
    }


def _results(result: Mapping[str, Any], scenario: Scenario) -> dict[str, Cell]:
    cells = {name: _number(result[name]) for name in MEANS}
    cells |= {name: _number(result[name]) for name in LATER_MEANS if name in result}
    for name in (*FLOW_LISTS, *LOOP_LISTS):
        of_loops = name in LOOP_LISTS
        count = len(scenario.requests if of_loops else scenario.flows)
        values = result.get(name, [])
        if len(values) != count and (values or name in ("goodput_bps", "finish_s")):
            raise ValueError(name)
        first, last = name.split("_", 1) if of_loops else name.rsplit("_", 1)
        cells |= {f"{first}_{n}_{last}": _number(value) for n, value in enumerate(values, 1)}
    if "cpu_s" in result:
        names = _hosts(scenario.senders)
        cells |= {name: _number(at) for name, at in zip(names, result["cpu_s"], strict=True)}
    return dict(cells)


def _hosts(senders: int) -> list[str]:
    """Return the columns of the hosts' processor times; sending hosts have numbers, from 1."""
    numbers = [f"_{at}" for at in range(1, senders + 1)] if senders > 1 else [""]
    return [*(f"cpu_sending{number}_s" for number in numbers), "cpu_receiving_s"]


def _marks(result: Mapping[str, Any]) -> dict[str, Cell]:
    """Return the codes of what makes a live run doubtful; other evaluations have no such column."""
    if "warnings" not in result:
        return {}
    return {"marks": " ".join(str(notice["code"]) for notice in result["warnings"])}


def _varied_cell(value: Any) -> Cell:
    return value if isinstance(value, str) else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise TypeError(type(value).__name__)
    return np.nan if value is None else float(value)


def _meta(session: Mapping[str, Any], names: list[str], texts: set[str], path: Path) -> Meta:
    return Meta(
        tool="netcalc congestion",
        tool_version=str(session.get("netcalc", "")),
        host=str(session.get("system", "")),
        source=path.name,
        start=str(session.get("at", "")),
        units={name: "text" if name in texts else _unit(name) for name in names},
    )


def _unit(name: str) -> str:
    if name in VARIED:
        return VARIED[name]
    return "packet" if name.endswith("_packets") else unit_of_name(name) or "1"
