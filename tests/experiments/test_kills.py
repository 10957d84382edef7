"""What a run that is killed at a random time leaves: its measurement, and nothing else."""

from __future__ import annotations

import importlib
import os
import random
import time
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc import samples
from netcalc.cli import commands
from netcalc.congestion.recording import from_table, is_recording
from netcalc.readers import read

pytestmark = [pytest.mark.live, pytest.mark.namespace]

SEED = int(os.environ.get("NETCALC_KILLS_SEED", "2"))
SHORT = ("echo", "bulk", "router-queue", "working-latency", "congestion")
"""Kinds of which each is another way to save; ``tests/benchmarks/killed_runs.py`` has them all."""


def has_rows(path):
    """Whether a run in progress, on a machine that may be busy, has saved some of its rows."""
    time.sleep(0.2)
    if not path.exists():
        return False
    found = samples.load(path)
    return len(found) > 0 and (not is_recording(found) or from_table(found).ended_s > 1.0)


@pytest.fixture(scope="module")
def kills():
    """The runs and their kills, which is also a part of a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        yield importlib.import_module("kills")


@pytest.mark.parametrize("kind", SHORT)
def test_a_killed_run_leaves_its_measurement_and_nothing_else(kind, kills, tmp_path):
    arguments = next(run for run in kills.runs() if kind in run)
    draw = random.Random(f"{SEED} {kind}")
    kept = tmp_path / "run.json"
    until = partial(has_rows, kept)
    kill = kills.killed(arguments, draw.uniform(1.0, 3.0), tmp_path, until=until)
    assert kill.wrong == [], arguments
    found = read(kept)
    assert len(found) == kill.row_count > 0
    assert found == samples.load(kept)
    assert found.meta.partial
    assert "run-not-ended" in {notice.code for notice in found.meta.warnings}
    drawn = tmp_path / "drawn.html"
    for what in (["read", kept, "--plot", drawn], ["explain", kept]):
        done = CliRunner().invoke(commands, list(map(str, what)))
        assert done.exit_code == 0, done.output
    assert drawn.stat().st_size > 1000
    if is_recording(found):
        assert from_table(found).result().goodput_bps[0] > 0
