"""Failures of a scan as JSON lines: which network, then each failure as soon as it is found."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from netcalc.errors import ReaderError
from netcalc.planning.network.plan import FailureResult, NetworkPlan
from netcalc.samples import MAX_FILE_BYTES, LineFile, json_line
from netcalc.version import __version__

KIND = "network-failures"


class SavedScan(LineFile):
    """A file of failures that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        A new file, or one of the same network and settings: its failures are taken into the plan.
    plan : NetworkPlan
        The plan whose failures it gets.

    Attributes
    ----------
    found : int
        Failures that the file had.

    Raises
    ------
    ReaderError
        If it is another file, of another network, or damaged.
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path, *, plan: NetworkPlan) -> None:
        super().__init__(path, busy="network-saved-busy")
        try:
            self.found = self._continue(plan)
        except BaseException:
            self.close()
            raise

    def add(self, result: FailureResult) -> None:
        """Append a failure; a line that the disk refuses is taken back.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        self.append([dataclasses.asdict(result)])

    def _continue(self, plan: NetworkPlan) -> int:
        """Take in the failures that the file has, and cut off a line that is not complete."""
        name = str(self._path)
        if self._path.stat().st_size > MAX_FILE_BYTES:
            raise ReaderError("network-saved-damaged", file=name)
        data = self._path.read_bytes()
        size = data.rfind(b"\n") + 1
        head = {"kind": KIND, "key": plan.fingerprint(), "netcalc": __version__}
        lines = data[:size].splitlines()
        if not lines:
            if data and not json_line(head).startswith(data):
                raise ReaderError("network-saved-damaged", file=name, line=1)
            self.cut(0)
            self.append([head])
            return 0
        first = _loaded(lines[0], name, 1)
        if first.get("kind") != KIND:
            raise ReaderError("network-saved-damaged", file=name, line=1)
        if first.get("key") != head["key"]:
            raise ReaderError("network-saved-other", file=name)
        known: set[int] = set()
        for number, line in enumerate(lines[1:], 2):
            result = _result(_loaded(line, name, number), plan, name, number)
            if result.case in known:
                raise ReaderError("network-saved-damaged", file=name, line=number)
            known.add(result.case)
            plan.take(result)
        self.cut(size)
        return len(known)


def _loaded(line: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ReaderError("network-saved-damaged", file=name, line=number)
    return found


def _result(row: dict[str, Any], plan: NetworkPlan, name: str, number: int) -> FailureResult:
    """Return a saved failure; every number must be one of the plan."""
    arcs, demands = plan.arcs.count, len(plan.network.demands)
    groups = plan.group_count
    try:
        result = FailureResult(
            case=_whole(row["case"], len(plan.cases)),
            arc=_whole(row["arc"], arcs),
            load_ratio=float(row["load_ratio"]),
            overloaded=_whole(row["overloaded"], arcs + 1),
            cut_bps=float(row["cut_bps"]),
            cut_demands=_whole(row["cut_demands"], demands + 1),
            own_bps=float(row["own_bps"]),
            own_demands=_whole(row["own_demands"], demands + 1),
            worse={
                _whole(int(arc), arcs): [float(one) for one in loads]
                for arc, loads in row["worse"].items()
            },
            sooner={_whole(int(arc), arcs): float(years) for arc, years in row["sooner"].items()},
        )
        sound = all(len(loads) == groups for loads in result.worse.values())
    except (KeyError, TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise ReaderError("network-saved-damaged", file=name, line=number)
    return result


def _whole(value: Any, end: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        raise ValueError(value)
    return value
