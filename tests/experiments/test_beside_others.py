"""Runs of several users and containers on one machine: none ends what another has started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

import netcalc

pytestmark = [pytest.mark.live, pytest.mark.namespace]

ROOT = Path(netcalc.__file__).parents[1]
COUNT = 100
RUN = f"""
from netcalc.experiments import echo
from netcalc.path import Path
path = Path.parse("10 Mbit/s 1 ms")
found = echo(
    8, count={COUNT}, interval_s=0.02, path=path, progress=lambda *_: print("under way", flush=True)
)
print(found.received, found.meta.partial)
"""
WIRES = """
from netcalc.emulation import EmulatedPath
from netcalc.path import Path
for _ in range(3):
    with EmulatedPath(Path.parse("10 Mbit/s 1 ms")) as wire:
        assert wire.run(["true"]).returncode == 0
"""


def started(script, *, alone=(), **environment):
    """Start a script, by the program ``alone`` in namespaces of its own."""
    return subprocess.Popen(
        [*alone, sys.executable, "-c", script], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("proc", [["--mount-proc"], []], ids=["own /proc", "/proc of the host"])
def test_a_run_of_the_host_beside_a_run_in_a_pid_namespace(proc):
    """Both live: neither sees the other's processes by the numbers that the other has for them."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    alone = ["unshare", *user, "--pid", "--fork", "--kill-child", *proc]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no PID namespace here")
    with ExitStack() as undo:
        runs = [undo.enter_context(started(RUN, alone=where)) for where in (alone, [])]
        undo.callback(lambda: [run.kill() for run in runs])
        for run in runs:
            assert run.stdout.readline() == "under way\n", run.stderr.read()
        for where in (alone, []):  # what opens a wire now is where the old look for leftovers was
            with started(WIRES, alone=where) as wires:
                assert (wires.wait(60), wires.stderr.read()) == (0, "")
        for run in runs:
            out, err = run.communicate(timeout=60)
            assert (run.returncode, err) == (0, "")
            assert out.splitlines()[-1] == f"{COUNT} False"


def test_a_program_with_the_mark_of_old_lives():
    """Any program could have it, and was ended as a leftover of a dead run."""
    with started("import time; time.sleep(1000)", NETCALC_WIRE="1:1") as other:
        with started(RUN) as run:
            out, err = run.communicate(timeout=60)
        assert out.splitlines()[-1] == f"{COUNT} False", err
        assert other.poll() is None
        other.kill()
