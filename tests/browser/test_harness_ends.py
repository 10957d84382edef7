"""Servers and browser end with the tests, also where these are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HARNESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import conftest as harness
with harness.serving("voila", Path(sys.argv[2])) as server, harness.chromium():
    server.wait()
    print("up", flush=True)
    sys.stdin.read()
"""


def processes_of(folder):
    """Processes whose environment names a folder of this test, by their command."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (process / "environ").read_bytes():
                found[process.name] = (process / "cmdline").read_bytes()
        except OSError:
            continue
    return found


def test_servers_and_browser_die_with_the_tests(tmp_path):
    tests = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(Path(__file__).parent), str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"HOME": str(tmp_path)},
    )  # fmt: skip
    try:
        assert tests.stdout.readline() == b"up\n"
        commands = b" ".join(processes_of(tmp_path).values())
        assert b"voila" in commands
        assert b"chromium" in commands
    finally:
        tests.kill()
        tests.communicate()
    deadline = time.monotonic() + 20
    while processes_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_of(tmp_path) == {}
