"""A number in, a number out: Python's own, also for the type checker."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netcalc import calculator

BASE = runpy.run_path(str(Path(__file__).parents[1] / "models" / "base_arguments.py"))["BASE"]

CHECKED = """
from typing import assert_type
import numpy as np
from numpy.typing import NDArray
from netcalc.models.delays.latency import transfer_s
assert_type(transfer_s(1e6, bandwidth_bps=1e9, latency_s=0.03), float)
assert_type(transfer_s(1000, bandwidth_bps=1e9, latency_s=0.03), float)
assert_type(transfer_s([1e6], bandwidth_bps=1e9, latency_s=0.03), NDArray[np.float64])
assert_type(transfer_s(np.ones(3), bandwidth_bps=1e9, latency_s=0.03), NDArray[np.float64])
transfer_s(1e6, bandwith_bps=1e9, latency_s=0.03)  # type: ignore[call-overload]
"""


@pytest.mark.each("name", calculator.formulas(), ids=calculator.formulas())
def test_no_model_gives_an_array_without_dimensions(name):
    result = calculator.formula(name).evaluate(BASE[name])
    for column in result if hasattr(result, "_asdict") else [result]:
        assert not isinstance(column, np.generic)
        assert not (isinstance(column, np.ndarray) and column.ndim == 0)


def test_the_type_checker_agrees(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "checked.py"
    file.write_text(CHECKED, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(file)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
