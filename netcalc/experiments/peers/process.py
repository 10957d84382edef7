"""Starts, watches and ends the peer process of a run."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from netcalc.errors import ExperimentError
from netcalc.experiments.peers import responder
from netcalc.experiments.running.stopping import SLICE_S, Stopping
from netcalc.experiments.running.waiting import readable

START_LIMIT_S = 10.0
"""How long the peer may take until it is bound. [s]"""
END_LIMIT_S = 0.5
"""How long it may take to end by itself before it is killed. [s]"""
DEATH_S = 0.2
"""How long after a broken exchange the peer may take to be dead. [s]"""
_FOLDER = Path(responder.__file__).absolute().parent
# The package without its __init__, which would load numpy: the program is there ten times sooner.
_BOOT = """
import importlib, os, sys, types
folder = sys.argv[1]
for name in "netcalc.experiments.peers", "netcalc.experiments", "netcalc":
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
    folder = os.path.dirname(folder)
os._exit(importlib.import_module("netcalc.experiments.peers." + sys.argv[2]).main())
"""
_HINTS = {
    errno.EADDRINUSE: "Another program holds it. Use port=0: the kernel picks a free one",
    errno.EACCES: "Ports below 1024 need a privilege. Use port=0: the kernel picks a free one",
    errno.EADDRNOTAVAIL: "This host has no such address. Try host='127.0.0.1'",
    errno.EAFNOSUPPORT: "This host has no such address family. Try host='127.0.0.1'",
}
_SCARCE = {
    errno.EMFILE: "Close some files, or raise the limit (ulimit -n)",
    errno.ENFILE: "The whole machine has no more",
    errno.EAGAIN: "End some processes, or raise the limit (ulimit -u)",
    errno.ENOMEM: "The memory of this process, or of the machine, is at its end",
}
_WHAT = {errno.EADDRINUSE: "the port is in use", errno.EACCES: "the port is not allowed"}


class Peer:
    """A process that answers on a loopback address, for as long as this object is open.

    Parameters
    ----------
    settings : dict
        What the process is told; ``protocol``, ``host`` and ``port`` at least.
    passed : sequence of int
        Descriptors that it inherits, under the same numbers.
    program : str
        Module of this package that it runs; it needs the standard library only.

    Attributes
    ----------
    port : int
        The port it is bound to.
    report : dict
        The buffers and the congestion control that the kernel gave it.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        *,
        stopping: Stopping,
        passed: Sequence[int] = (),
        program: str = "responder",
    ) -> None:
        self._host: str = settings["host"]
        self._wanted_port: int = settings["port"]
        self._process = _started(passed, program)
        self._output = b""
        try:
            self._send({**settings, "parent": os.getpid()})
            self.report = self._ready(stopping)
            self.port: int = self.report.pop("port")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process number."""
        return self._process.pid

    def death(self) -> str | None:
        """Say how the peer ended, or None if it still runs."""
        try:
            code = self._process.wait(DEATH_S)
        except subprocess.TimeoutExpired:
            return None
        if code == responder.LIMIT_REACHED:
            return "the peer process reached its limit of time or bytes"
        how = f"status {code}" if code >= 0 else signal.Signals(-code).name
        return f"the peer process ended ({how})"

    def close(self) -> dict[str, int]:
        """End the process, reap it, and return what it counted (empty if it could not tell)."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.closed:
            return {}
        try:
            process.stdin.close()
            process.wait(END_LIMIT_S)
        except (subprocess.TimeoutExpired, OSError):
            pass
        finally:
            process.kill()
            process.wait()
            self._output += process.stdout.read(4096) or b""
            process.stdout.close()
        try:
            counts: dict[str, int] = json.loads(self._output)
        except ValueError:
            return {}
        return counts

    def _send(self, settings: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
        except OSError:
            return  # it ended at once; what it printed says why

    def _ready(self, stopping: Stopping) -> dict[str, Any]:
        """Wait for the line that the peer writes when it is bound, and return it."""
        assert self._process.stdout is not None
        end_s = time.monotonic() + START_LIMIT_S
        while b"\n" not in self._output and time.monotonic() < end_s:
            stopping.check()
            if readable(self._process.stdout, SLICE_S):
                read = os.read(self._process.stdout.fileno(), 4096)
                if not read:
                    break
                self._output += read
        line, _, self._output = self._output.partition(b"\n")
        try:
            report: dict[str, Any] = json.loads(line)
        except ValueError:
            said = line.decode("utf-8", "backslashreplace") or "nothing"
            raise self._error(
                "start", f"the peer process did not start, it said: {said}", None
            ) from None
        if "error" in report:
            what = _WHAT.get(report["error"], "the peer cannot use this address")
            raise self._error("bind", f"{what}: {report['text']}", _HINTS.get(report["error"]))
        return report

    def _error(self, phase: str, what: str, hint: str | None) -> ExperimentError:
        return ExperimentError(
            what, phase=phase, host=self._host, port=self._wanted_port, hint=hint
        )


def _started(passed: Sequence[int], program: str) -> subprocess.Popen[bytes]:
    """Start the peer in a process group of its own, so that Ctrl-C reaches this process alone.

    Not in a session of its own: Linux schedules each session as a group, and changing from one
    group to another costs a round trip 0.6 µs of 13.
    """
    if not sys.executable:
        raise ExperimentError("the Python program is not known here", phase="start")
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, str(_FOLDER), program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            process_group=0,
            pass_fds=tuple(passed),
        )
    except OSError as error:
        raise ExperimentError(
            f"the peer process cannot be started: {error.strerror or error}",
            phase="start",
            hint=_SCARCE.get(error.errno or 0, "Models and readers work without it"),
        ) from error
