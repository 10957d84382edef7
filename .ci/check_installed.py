"""Run where netcalc alone is installed: it computes, and has its data and its lessons.

With the argument ``lab`` in one that has the packages of the lessons, too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import netcalc
from netcalc import datasets
from netcalc.cli.lab import find_lessons

home = Path(netcalc.__file__).resolve().parent
assert "site-packages" in home.parts, f"not the installed copy: {home}"

netcalc_command = str(Path(sys.executable).with_name("netcalc"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [netcalc_command, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


answer = run("calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms")
assert answer.stdout.strip() == "5.211 s", answer

names = datasets.names()
assert names, "no data set was found"
for name in names:
    assert len(datasets.load(name)) > 0, f"data set {name} is empty"

lessons = sorted(path.name for path in find_lessons().glob("*.ipynb"))
assert lessons, "no lesson was found"

if sys.argv[1:] == ["lab"]:
    from netcalc import widgets

    assert widgets.Figure, "the kit of the lessons does not load"
else:
    answer = run("lab", "--no-browser", "--allow-root")
    assert answer.returncode != 0, "the lab started without its packages"
    assert re.search(r"pip install '?\S.*\[lab\]", answer.stderr), answer.stderr
    assert "Traceback" not in answer.stderr, answer.stderr

print(f"installed: {len(names)} data sets, {len(lessons)} lessons, netcalc {netcalc.__version__}")
