"""Failures of a scan as JSON lines: which network, then each failure as soon as it is found."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from netcalc.errors import NetcalcError, ReaderError
from netcalc.planning.network.plan import FailureResult, NetworkPlan
from netcalc.samples import MAX_FILE_BYTES, json_ready
from netcalc.version import __version__

KIND = "network-failures"


class SavedScan:
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
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o666)
        try:
            _lock(self._handle, path)
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
        self._write(dataclasses.asdict(result))

    def close(self) -> None:
        """Close the file; what was added stays."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _continue(self, plan: NetworkPlan) -> int:
        """Take in the failures that the file has, and cut off a line that is not complete."""
        name = str(self._path)
        if os.fstat(self._handle).st_size > MAX_FILE_BYTES:
            raise ReaderError("network-saved-damaged", file=name)
        data = self._path.read_bytes()
        size = data.rfind(b"\n") + 1
        head = {"kind": KIND, "key": plan.fingerprint(), "netcalc": __version__}
        lines = data[:size].splitlines()
        if not lines:
            if data and not _line(head).startswith(data):
                raise ReaderError("network-saved-damaged", file=name, line=1)
            os.ftruncate(self._handle, 0)
            self._write(head)
            return 0
        first = _loaded(lines[0], name, 1)
        if first.get("kind") != KIND:
            raise ReaderError("network-saved-damaged", file=name, line=1)
        if first.get("key") != head["key"]:
            raise ReaderError("network-saved-other", file=name)
        known: set[int] = set()
        for number, line in enumerate(lines[1:], 2):
            result = _result(_loaded(line, name, number), plan, name, number)
            if result.link in known:
                raise ReaderError("network-saved-damaged", file=name, line=number)
            known.add(result.link)
            plan.take(result)
        os.ftruncate(self._handle, size)
        return len(known)

    def _write(self, row: dict[str, Any]) -> None:
        size = os.fstat(self._handle).st_size
        data = memoryview(_line(row))
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError as error:
            os.ftruncate(self._handle, size)
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        except BaseException:
            os.ftruncate(self._handle, size)
            raise


def _line(row: dict[str, Any]) -> bytes:
    return (json.dumps(json_ready(row), ensure_ascii=True) + "\n").encode()


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
    arcs, links = plan.arcs.count, len(plan.network.links)
    groups = plan.group_count
    try:
        result = FailureResult(
            link=_whole(row["link"], links),
            arc=_whole(row["arc"], arcs),
            load_ratio=float(row["load_ratio"]),
            overloaded=_whole(row["overloaded"], arcs + 1),
            cut_bps=float(row["cut_bps"]),
            cut_demands=_whole(row["cut_demands"], len(plan.network.demands) + 1),
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


def _lock(handle: int, path: Path) -> None:
    """Keep other processes away for as long as the file is open."""
    try:
        import fcntl
    except ImportError:  # no such system
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NetcalcError("network-saved-busy", file=str(path)) from None
    except OSError:  # a file system without locks
        return
