"""A live run of the command: what it recorded, saved, said of it, and in the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netcalc import scenario as scenarios
from netcalc.cli import INTERRUPTED, complain, print_json
from netcalc.cli.congestion.shown import print_result
from netcalc.cli.mistakes import system_error
from netcalc.cli.output import print_written
from netcalc.congestion import Result
from netcalc.congestion.about import facts
from netcalc.congestion.quantities import document as result_document
from netcalc.congestion.recording import Recording
from netcalc.congestion.ways import LAYERS, partings
from netcalc.errors import ExperimentError, NetcalcError
from netcalc.experiments.running.stopping import Deferral
from netcalc.messages import Notice
from netcalc.scenario import Scenario


@dataclass(slots=True)
class LiveRun:
    """What a live run recorded, and why it broke off.

    Parameters
    ----------
    recording, error
        What was recorded, and the error of a run that broke off.
    save_path : str, optional
        File that receives what was recorded as soon as the run ends, in whichever way.
    deferral : Deferral, optional
        Whether a signal is to end the command.
    """

    recording: Recording | None = None
    error: ExperimentError | None = None
    save_path: str | None = None
    deferral: Deferral = field(default_factory=Deferral)
    save_error: OSError | None = field(default=None, init=False)

    def measure(self, scenario: Scenario) -> Result:
        """Run a scenario; one that breaks off has what it recorded until then."""
        from netcalc.cli.progress import Progress
        from netcalc.congestion import live  # late: theory needs no sockets

        try:
            with Progress("congestion", unit="bit/s") as progress:
                self.recording = live.record(scenario, progress=progress)
        except ExperimentError as error:
            if error.partial is None:
                raise
            self.recording, self.error = error.partial, error
        self._save()
        self.say_marks()
        return self.recording.result()

    def say_marks(self) -> None:
        """Say what makes the run doubtful, and why it broke off."""
        assert self.recording is not None
        for notice in self.recording.meta.warnings:
            complain(str(notice))
        if self.recording.meta.partial:
            ended = {"ended_s": self.recording.ended_s, "end_s": self.recording.scenario.end_s}
            complain(str(Notice("live-cut", ended)))
        if self.error is not None:
            what = f"{self.error.phase}: {self.error.what}"
            complain(f"{what}; {Notice('partial-samples-above')}")

    def cut(self) -> tuple[str, ...]:
        """Return the way that ended early, if it did."""
        return ("live",) if self.recording is not None and self.recording.meta.partial else ()

    def facts(self) -> dict[str, Any]:
        """Return what an answer says of the run besides its means."""
        if self.recording is None:
            return {}
        meta = self.recording.meta
        found: dict[str, Any] = {
            "ended_s": self.recording.ended_s,
            "partial": meta.partial,
            "warnings": [notice.stored() for notice in meta.warnings],
        }
        return found if self.error is None else {**found, "error": self.error.as_dict()}

    def _save(self) -> None:
        """Save the run before anything else is done, as its terminal may be gone."""
        if self.save_path is not None:
            from netcalc.congestion import saved

            assert self.recording is not None
            try:
                saved.as_table(self.recording).save(self.save_path)
            except OSError as error:  # what was measured is shown all the same
                self.save_error = error

    def end(self) -> None:
        """End the command of a stopped run with 130, and that of one that broke off with 2."""
        if self.recording is None:
            return
        if self.save_error is not None:
            if self.deferral.number is not None:  # which ends the command before it is printed
                complain(str(system_error(self.save_error)))
            raise self.save_error
        print_written(self.save_path)
        if self.error is not None:
            raise SystemExit(2)
        if self.recording.meta.partial and self.deferral.number is None:
            raise SystemExit(INTERRUPTED)


def print_recording(recording: Recording, *, as_json: bool) -> None:
    """Print the means of a live run that was saved, and what marks it."""
    run, result = LiveRun(recording), recording.result()
    run.say_marks()
    if as_json:
        print_json(answer([result], {}, run, several=False))
    else:
        print_result(result)


def answer(
    results: list[Result], absent: Mapping[str, NetcalcError], run: LiveRun, *, several: bool
) -> dict[str, Any]:
    """Return one result, or those of several ways with where they part, and what repeats them."""
    found = [
        {**result_document(result), **(run.facts() if result.by == "live" else {})}
        for result in results
    ]
    about = {**facts(), "scenario": scenarios.as_document(results[0].scenario)}
    if not several:
        return {**found[0], "layers": LAYERS, "about": {**about, **found[0]["about"]}}
    return {
        "by": [result.by for result in results],
        "layers": LAYERS,
        "results": dict(zip([result.by for result in results], found, strict=True)),
        "absent": {way: error.as_dict() for way, error in absent.items()},
        "partings": (
            [row.as_dict() for row in partings(results, cut=run.cut())] if len(results) > 1 else []
        ),
        "about": about,
    }
