"""The table of experiments: what it says of each holds for its shortest run."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from netcalc import compare, experiments
from netcalc.cli.run import run
from netcalc.experiments import EXPERIMENTS
from netcalc.experiments.running.record import Record

LIMITS = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")


def test_every_experiment_of_the_room_is_in_the_table():
    """An experiment is a function of the room that can be stopped."""
    functions = [getattr(experiments, name) for name in experiments.__all__]
    stoppable = {
        function.__name__
        for function in functions
        if inspect.isfunction(function) and "stop" in inspect.signature(function).parameters
    }
    assert set(EXPERIMENTS) == stoppable


@pytest.mark.each("name", EXPERIMENTS)
def test_an_experiment_has_a_command_a_theory_and_limits(name):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.command in run.commands
    assert callable(getattr(compare, experiment.theory))
    assert experiment.command in LIMITS
    arguments = inspect.signature(experiment.measure).parameters
    assert {*experiment.shortest, *experiment.lasting} <= set(arguments)


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.each("name", EXPERIMENTS)
def test_the_shortest_run_is_whole_short_and_has_its_theory(name):
    experiment = EXPERIMENTS[name]
    samples = experiment.measure(**experiment.shortest)
    assert type(samples) is experiment.samples
    assert len(samples) > 0
    assert not samples.meta.partial
    assert samples.meta.experiment == name
    compared = getattr(compare, experiment.theory)(samples)
    assert compared.measured.size > 0


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.each("name", EXPERIMENTS)
def test_a_lasting_run_is_below_every_limit(name, monkeypatch):
    """Stopped before its first row: whatever a plan refuses is refused before that."""
    experiment = EXPERIMENTS[name]
    monkeypatch.setattr(Record, "record_measurement_error", lambda run: run.stopping.check())
    path = {"path": experiment.shortest["path"]} if "path" in experiment.shortest else {}
    samples = experiment.measure(**path, **experiment.lasting, stop=lambda: True)
    assert samples.meta.instrument.ended_by == "stop"
