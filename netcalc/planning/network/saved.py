"""Failures of a scan as JSON lines: which network, then each failure as soon as it is found."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path

from netcalc.documents import Place, json_lines, load
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
    count : int
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
            self.count = self._continue(plan)
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
        self.append([asdict(result)])

    def _continue(self, plan: NetworkPlan) -> int:
        """Take in the failures that the file has, and cut off a line that is not complete."""
        place = Place(str(self._path), "network-saved-damaged", saved=True)
        if self._path.stat().st_size > MAX_FILE_BYTES:
            raise place.refused("too long")
        data = self._path.read_bytes()
        head = {"kind": KIND, "key": plan.fingerprint(), "netcalc": __version__}
        if b"\n" not in data:
            if data and not json_line(head).startswith(data):
                raise place.refused("kind", line=1)
            self.cut(0)
            self.append([head])
            return 0
        (first, *rows), size = json_lines(data, place)
        if first.get("kind") != KIND:
            raise place.refused("kind", line=1)
        if first.get("key") != head["key"]:
            raise ReaderError("network-saved-other", file=place.file)
        taken: set[int] = set()
        for number, row in enumerate(rows, 2):
            here = replace(place, line=number)
            result = load(FailureResult, row, here)
            if result.case in taken or not _is_of(result, plan):
                raise here.refused("range")
            taken.add(result.case)
            plan.take(result)
        self.cut(size)
        return len(taken)


def _is_of(result: FailureResult, plan: NetworkPlan) -> bool:
    """Whether every number of a saved failure is possible in a plan."""
    arcs, demands = plan.arcs.count, len(plan.network.demands)
    ends = [
        (result.case, len(plan.cases)),
        (result.arc, arcs),
        (result.overloaded, arcs + 1),
        (result.cut_demands, demands + 1),
        (result.own_demands, demands + 1),
        *((arc, arcs) for arc in (*result.worse, *result.sooner)),
    ]
    numbers = [result.load_ratio, result.cut_bps, result.own_bps, *result.sooner.values()]
    for loads in result.worse.values():
        numbers += loads
    return (
        all(0 <= value < end for value, end in ends)
        and all(len(loads) == plan.group_count for loads in result.worse.values())
        and not any(map(math.isnan, numbers))
    )
