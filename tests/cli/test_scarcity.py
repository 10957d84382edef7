"""Faults E5, E6, C2, N1, N2 from a terminal: one sentence with the cause, and no traceback.

The cases are a sample of those of the benchmark, which tries all and prints what was said.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest
import scarcity

CASES = {case.name: case for case in scarcity.CASES}
SAMPLE = {
    "memory": [
        "ulimit -v 60000: calc transfer 1MB --bandwidth T1 --latency 30ms",
        "ulimit -v 141000: calc transfer 1MB --bandwidth T1 --latency 30ms",
        "ulimit -v 141000: calc transfer 1MB --latency 30ms --solve bandwidth --for 6s",
        "ulimit -v 200000: run echo --count 2 --json",
        "ulimit -v 274000: run echo --count 2",
    ],
    "processes": [
        "ulimit -u 1: calc transfer 1MB --bandwidth T1 --latency 30ms (user)",
        "ulimit -u 1: run bulk --runs 1 --count 100 --path 10 Mbit/s 1 ms (user)",
        "ulimit -u 2: run echo --count 2 (user)",
        "ulimit -u 4: run small-writes --count 2 (user)",
    ],
    "open files": [
        "ulimit -n 8: run echo --count 2 --path 10 Mbit/s 1 ms",
        "ulimit -n 10: run bulk --runs 1 --count 100",
        "ulimit -n 12: run transactions --count 2 --size 100 B",
        "ulimit -n 20: run small-writes --count 2",
    ],
    "devices": [
        f"{scarcity.FULL}: run echo --count 2 --save /mnt/run.json",
        f"{scarcity.FULL}: run echo --count 2 --plot /mnt/plot.html",
        "mount --bind /dev/null /dev/net/tun: run echo --count 2 --path 10 Mbit/s 1 ms",
    ],
    "an output": [
        "exec > /dev/full: calc transfer 1MB --bandwidth T1 --latency 30ms",
        "exec > /dev/full: run echo --count 2 --json",
    ],
    "the loopback": [
        "true (own network): run bulk --runs 1 --count 100",
        "true (own network): run echo --count 2 --host ::1",
        "true: run echo --count 2 (user)",
    ],
    "namespaces": [
        "echo 0 > /proc/sys/user/max_net_namespaces: "
        "run bulk --runs 1 --count 100 --path 10 Mbit/s 1 ms",
    ],
}
"""Each thing that may be scarce, and each kind of command, with and without an emulated path."""


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.parametrize("kind", SAMPLE)
def test_what_is_scarce_is_said(kind):
    """E6, N1, N2: or the run is whole without it."""
    wrong = {}
    for name in SAMPLE[kind]:
        done = scarcity.tried(CASES[name])
        if found := scarcity.faults(CASES[name], done):
            wrong[name] = (found, done.stdout, done.stderr)
    assert not wrong


SLOW = """
import signal, sys
sys.argv = ["netcalc", "calc", "transfer", "1MB", "--bandwidth", "T1", "--latency", "30ms"]
class Reporter:
    def find_spec(self, name, *_):
        if name == {module!r}:
            print("loading", flush=True)
            import time
            time.sleep(60)
sys.meta_path.insert(0, Reporter())
from netcalc.__main__ import main
main()
"""


@pytest.mark.each("module", ["netcalc.cli", "click", "netcalc.cli.calc", "numpy", "numpy.linalg"])
def test_ctrl_c_while_modules_load_ends_quietly(module):
    """E7: at a point of the test's choice; a half-loaded module would raise errors of its own."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW.format(module=module)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        assert program.stdout.readline() == "loading\n"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out, err) == (130, "", "")


def test_reading_from_a_terminal_says_that_it_waits():
    """Somebody who typed a dash by mistake sees no prompt."""
    near, far = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "netcalc", "read", "-"],
        stdin=far, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        assert "waiting for text" in program.stderr.readline()
        os.write(near, b"nothing of any format\n\x04")
        assert program.wait(60) == 2
    os.close(near)
    os.close(far)


def test_a_program_that_the_command_starts_has_the_users_environment():
    """The threads of BLAS that a command does without are those of a lesson's kernel."""
    script = """
import os
from netcalc import cli
try:
    cli.main(["--version"])
except SystemExit:
    pass
print(os.environ["OPENBLAS_NUM_THREADS"], cli.user_environment().get("OPENBLAS_NUM_THREADS"))
"""
    for given, shown in ((None, "1 None"), ("3", "3 3")):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        environment |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert done.stdout.splitlines()[-1] == shown
