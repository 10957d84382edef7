"""Batches: the scenarios of a grid by theory, live or by ns-3, saved as they come, and resumed.

A scenario that the file has is not evaluated again. Ctrl-C ends the batch, and what is finished
stays; live runs are made one after the other on this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netcalc.checks import choice, named_arguments
from netcalc.congestion import live, ns3, theory
from netcalc.congestion.grid import Case, Grid, GridFile, Matrix, Row
from netcalc.congestion.quantities import WAYS, document
from netcalc.congestion.recording import Recording
from netcalc.congestion.result import facts, now
from netcalc.errors import ArgumentTypeError, DomainError, ExperimentError, NetcalcError
from netcalc.experiments.running.stopping import Stop
from netcalc.messages import Notice
from netcalc.printable import safe_repr
from netcalc.scenario import as_document
from netcalc.workers import on_workers

AT_ONCE = 500
"""Scenarios by theory between two looks at a reason to end: some two seconds of them."""

AT_ONCE_WITH_REQUESTS = 10
"""The same with request loops, whose flows are computed several times."""

AT_ONCE_NUMBERS = 2e7
"""Numbers of all courses of scenarios by theory that are held together: 160 MB."""

MOST_LATENCIES = 20_000
"""Requests of a loop whose latencies are saved one by one: a line of 200 kB. [1]"""

REFUSED = "congestion-control-refused"
"""Code of the error of a live run whose algorithm the kernel does not grant."""

SCHEMA = 1

Progress = Callable[[float, int], object]
"""Called with how many scenarios are finished, and how many there are."""

Found = tuple[Case, dict[str, Any] | NetcalcError]
"""A scenario with its result, or why it has none."""

Portions = Generator[list[Found], None, None]


class _RunEnded(Exception):  # noqa: N818 - no error
    """A live run was stopped, and with it the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a batch.

    Parameters
    ----------
    total, before, finished : int
        Scenarios of the grid; those that the file had; those that were added.
    failed : tuple of NetcalcError
        Why the others have no result; they are tried again when the batch is resumed.
    ended_by : str
        "interrupt" or "stop", empty if all were tried.
    """

    total: int
    before: int
    finished: int
    failed: tuple[NetcalcError, ...] = ()
    ended_by: str = ""

    @property
    def left(self) -> int:
        """Scenarios that have no result yet."""
        return self.total - self.before - self.finished

    @property
    def not_granted(self) -> Notice | None:
        """The live runs that fail each time, as the kernel lacks their algorithm; None if none."""
        refused = [str(error.values["wanted"]) for error in self.failed if error.code == REFUSED]
        if not refused:
            return None
        names = list(dict.fromkeys(refused))
        facts = {"count": len(refused), "total": self.total, "algorithms": names}
        return Notice("not-granted", facts)


@dataclass(slots=True, kw_only=True)
class Batch:
    """How the scenarios of a grid are evaluated.

    Parameters
    ----------
    by : str
        One of :data:`netcalc.congestion.quantities.WAYS`.
    stack : str
        For theory: "ns3" or "linux".
    python : str, optional
        For ns-3: the interpreter that has it.
    workers : str, optional
        Address of a Dask scheduler, or "local" for one on this machine; live runs have none.
    progress : callable, optional
        Called as ``progress(done, total)``.
    stop : threading.Event or callable, optional
        Ends the batch once it is set, or returns True.
    """

    by: str = "theory"
    stack: str = "linux"
    python: str | None = None
    workers: str | None = None
    progress: Progress | None = None
    stop: Stop | None = None

    def __post_init__(self) -> None:
        choice("by", self.by, WAYS)
        if self.workers is not None and self.by == "live":
            raise DomainError("grid-live-is-local", "workers", self.workers)

    def run(self, grid: Grid | Matrix, path: str | Path) -> Outcome:
        """Evaluate what the file does not have yet.

        Parameters
        ----------
        grid : Grid or Matrix
            The scenarios.
        path : str or Path
            File of JSON lines that is begun or continued.

        Raises
        ------
        ArgumentTypeError
            If ``grid`` is no grid.
        ReaderError
            If the file has something else, or is damaged.
        NetcalcError
            If another process writes to it, or what evaluates is absent.
        OSError
            If the file cannot be written, or the disk is full; what it has stays.
        """
        argument: object = grid
        if not isinstance(argument, Grid | Matrix):
            text = safe_repr(argument)
            raise ArgumentTypeError("not-of-class", "grid", text, expected="a Grid or a Matrix")
        cases = grid.cases()
        with GridFile(Path(path)) as file:
            todo = {case.key(self.by, self._stack): case for case in cases}
            missing = [case for key, case in todo.items() if key not in file.finished]
            before = len(todo) - len(missing)
            if missing:
                file.add([self._session(grid)])
            return self._fill(file, missing, len(todo), before)

    @property
    def _stack(self) -> str | None:
        return self.stack if self.by == "theory" else None

    def _fill(self, file: GridFile, missing: list[Case], total: int, before: int) -> Outcome:
        finished, ended_by = 0, ""
        failed: list[NetcalcError] = []

        def within(part: float) -> None:
            self._show(before + finished + len(failed) + part, total)

        portions = self._evaluate(missing, within)
        try:
            self._show(before, total)
            for portion in portions:
                file.add([self._row(case, result) for case, result in portion])
                failed += [result for _, result in portion if isinstance(result, NetcalcError)]
                finished += sum(isinstance(result, dict) for _, result in portion)
                self._show(before + finished + len(failed), total)
                if self._asked_to_stop() and before + finished + len(failed) < total:
                    ended_by = "stop"
                    break
        except KeyboardInterrupt:
            ended_by = "interrupt"
        except _RunEnded:
            ended_by = "stop" if self._asked_to_stop() else "interrupt"
        finally:
            portions.close()  # it ends what it has started
        return Outcome(total=total, before=before, finished=finished, failed=tuple(failed),
                       ended_by=ended_by)  # fmt: skip

    def _evaluate(self, cases: list[Case], within: Callable[[float], None]) -> Portions:
        if self.by == "live":
            return self._live(cases, within)
        if self.workers is not None and cases:
            return self._on_workers(cases, self.workers)
        return self._theory(cases) if self.by == "theory" else _simulate(cases, self.python)

    def _theory(self, cases: list[Case]) -> Portions:
        for portion in _portions(cases):
            yield list(zip(portion, by_theory(portion, self.stack), strict=True))

    def _live(self, cases: list[Case], within: Callable[[float], None]) -> Portions:
        def show(done_s: float, end_s: float, rate_bps: float) -> None:
            within(done_s / end_s)

        for case in cases:
            try:
                run = live.record(case.scenario, progress=show, stop=self.stop)
            except (DomainError, ExperimentError) as error:
                yield [(case, error)]
                continue
            if run.meta.partial:
                raise _RunEnded
            yield [(case, {**document(run.result()), **_latencies_and_marks(run)})]

    def _on_workers(self, cases: list[Case], address: str) -> Portions:
        if self.by == "theory":
            portions = list(_portions(cases))
            yield from on_workers(address, by_theory, portions, self.stack)
        else:
            portions = [[case] for case in cases]
            yield from on_workers(address, by_ns3, portions, self.python)

    def _row(self, case: Case, result: dict[str, Any] | NetcalcError) -> Row:
        row = {
            "key": case.key(self.by, self._stack),
            "by": self.by,
            "stack": self._stack,
            "values": case.values,
            "scenario": as_document(case.scenario),
            "at": now(),
        }
        if isinstance(result, NetcalcError):
            return {"kind": "error", **row, "error": result.as_dict()}
        return {"kind": "result", **row, "result": result}

    def _session(self, grid: Grid | Matrix) -> Row:
        """Return what repeats the batch."""
        return {
            "kind": "session",
            "schema": SCHEMA,
            "by": self.by,
            "stack": self._stack,
            **grid.about(),
            **facts(),
        }

    def _show(self, done: float, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)

    def _asked_to_stop(self) -> bool:
        if self.stop is None:
            return False
        return bool(self.stop() if callable(self.stop) else self.stop.is_set())


@named_arguments
def by_theory(cases: Sequence[Case], stack: str) -> list[dict[str, Any]]:
    """Return the results of some scenarios, with their requests' latencies."""
    scenarios = [case.scenario for case in cases]
    results = theory.run_many(scenarios, stack=stack, with_course=True)
    return [document(result) for result in results]


@named_arguments
def by_ns3(cases: Sequence[Case], python: str | None) -> list[dict[str, Any] | NetcalcError]:
    """Return the results of some scenarios, or why they have none."""
    return [result for portion in _simulate(cases, python) for _, result in portion]


def _simulate(cases: Sequence[Case], python: str | None) -> Portions:
    """Simulate scenarios in one process, and in another one after it has failed."""
    simulator: ns3.Simulator | None = None
    try:
        for case in cases:
            simulator = simulator or ns3.Simulator(python)
            try:
                yield [(case, document(simulator.run(case.scenario)))]
            except ExperimentError as error:
                if error.code == "ns3-failed":
                    simulator.close()
                    simulator = None
                yield [(case, error)]
    finally:
        if simulator is not None:
            simulator.close()


def _latencies_and_marks(run: Recording) -> dict[str, Any]:
    """Return what a live run has beside its means: each latency, and what marks it."""
    latencies = [run.latencies_s(loop) for loop in range(len(run.scenario.requests))]
    return {
        "request_latencies_s": [
            times_s.round(6).tolist() if times_s.size <= MOST_LATENCIES else None
            for times_s in latencies
        ],
        "warnings": [notice.stored() for notice in run.meta.warnings],
    }


def _portions(cases: list[Case]) -> Iterator[list[Case]]:
    with_requests = any(case.scenario.requests for case in cases)
    most = AT_ONCE_WITH_REQUESTS if with_requests else AT_ONCE
    portion: list[Case] = []
    numbers = 0.0
    for case in cases:
        more = _course_numbers(case)
        if portion and (len(portion) == most or numbers + more > AT_ONCE_NUMBERS):
            yield portion
            portion, numbers = [], 0.0
        portion.append(case)
        numbers += more
    if portion:
        yield portion


def _course_numbers(case: Case) -> float:
    """Return how many numbers a course by theory has at most: steps of half a round trip."""
    link = case.scenario.bottleneck
    steps = 2.0 * case.scenario.end_s / min((*case.scenario.rtts_s(), link.rtt_s))
    return steps * (2 * len(case.scenario.flows) + 4)
