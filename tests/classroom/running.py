"""A class as a teacher starts it, in a folder of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil


class RunningClass:
    """``netcalc classroom`` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.log = folder / "stderr.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "netcalc", "classroom", "--allow-root", *options],
                stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
                env=os.environ | {"TMPDIR": str(folder), "NETCALC_LANGUAGE": "de",
                                  "XDG_STATE_HOME": str(folder / "state")},
            )  # fmt: skip
        self.told = ""
        for line in self.process.stdout:
            self.told += line
            if "Ctrl-C" in line:
                break
        found = re.search(r"(https?://\S+)\s+code (\S+)\n.*key (\S+)", self.told)
        if not found:
            self.process.wait()
            self.process.stdout.close()
        assert found, self.told + self.log.read_text()
        self.base, self.code, self.key = found.groups()

    def __enter__(self) -> RunningClass:
        return self

    def __exit__(self, *raised: object) -> None:
        """End what a test has not, and wait for its server."""
        if self.process.poll() is None:
            self.stop(signal.SIGTERM)
        self.process.stdout.close()

    def end_server(self, by: signal.Signals) -> int:
        """End the server as a system that lacks memory does; return the command's exit code."""
        (server,) = psutil.Process(self.process.pid).children()
        server.send_signal(by)
        return self.process.wait(60)

    def processes(self) -> list[int]:
        """Return the numbers of those that belong to this class."""
        mine = f"TMPDIR={self.folder}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mine in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def stop(self, by: signal.Signals = signal.SIGINT) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(by)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code
