"""Results of a batch: their file of JSON lines, and the same as columns with units.

The file has what was asked for, then each result as soon as it is there. Every line is complete or
cut off when the file is opened again; a line that is complete is never changed. A line of kind
``session`` has what repeats the whole: the scenario, what was varied, the versions and the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.checks import named_arguments
from netcalc.congestion.grid import VARIED, key_of
from netcalc.congestion.result import Result, facts
from netcalc.documents import Place, json_lines
from netcalc.errors import DomainError, ReaderError
from netcalc.samples import MAX_FILE_BYTES, LineFile, Meta, Table
from netcalc.scenario import Flow, Requests, Scenario, from_document

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
    "request_p90_s", "request_p999_s", "request_max_s",
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
    endings = {"_bps": "bit/s", "_bytes": "byte", "_s": "s", "_packets": "packet"}
    return next((unit for end, unit in endings.items() if name.endswith(end)), "1")
