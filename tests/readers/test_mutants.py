"""A few hundred damaged files: each is read, or refused in words; the benchmark draws thousands."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

MUTANTS = 250


def test_damaged_files_are_read_or_refused():
    path = Path(__file__).parents[1] / "benchmarks" / "mutants.py"
    spec = importlib.util.spec_from_file_location("mutants", path)
    mutants = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = mutants
    spec.loader.exec_module(mutants)
    found, faults, _, _ = mutants.run(0, MUTANTS, seed=5, measured=False)
    assert faults == []
    assert found["foreign"] == 0
    assert found["read"] > MUTANTS / 5
    assert found["ReaderError"] > MUTANTS / 5
