"""Tests that need network namespaces are skipped where there are none."""

import runpy
from pathlib import Path

pytest_runtest_setup = runpy.run_path(str(Path(__file__).parents[1] / "namespaces.py"))["setup"]
