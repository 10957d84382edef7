"""Programs and functions at the ends of a wire: started there, waited for, ended with it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path as File
from typing import Any

from netcalc.emulation.wire import called
from netcalc.errors import DomainError, ExperimentError

_ENTER = File(__file__).absolute().with_name("enter.py")
_CALLED = File(called.__file__).absolute()


class Programs:
    """What runs at the two ends of one wire.

    Parameters
    ----------
    namespaces : sequence of int
        Descriptors of the network namespaces of both ends.
    user : int
        Descriptor of their user namespace; -1 where they have none of their own.
    """

    def __init__(self, namespaces: Sequence[int], user: int) -> None:
        self._namespaces, self._user = namespaces, user
        self._processes: list[subprocess.Popen[Any]] = []
        self._calls: list[Call] = []

    def start(self, command: Sequence[str], side: int, **options: Any) -> subprocess.Popen[Any]:
        """Start a program at one end; options of :class:`subprocess.Popen`."""
        entered = [self._user, self._namespaces[side]]
        environment = {**os.environ, **(options.pop("env", None) or {})}
        passed = [d for d in (*entered, *options.pop("pass_fds", ())) if d >= 0]
        enter = [sys.executable, "-I", "-S", str(_ENTER), *map(str, [*entered, os.getpid()])]
        process = subprocess.Popen(
            [*enter, *map(os.fspath, command)],
            env=environment,
            pass_fds=passed,
            start_new_session=True,
            **options,
        )
        self._processes = [p for p in self._processes if p.poll() is None] + [process]
        return process

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], side: int, **options: Any
    ) -> Call:
        """Call a function in a process at one end."""
        name = getattr(function, "__qualname__", repr(function))
        descriptor = os.memfd_create("netcalc call")
        with os.fdopen(descriptor, "r+b") as file:
            file.write(_request(function, arguments, name))
            file.seek(0)
            process = self.start(
                [sys.executable, "-P", str(_CALLED), str(descriptor)],
                side,
                **{"stdin": subprocess.DEVNULL, **options, "pass_fds": [descriptor]},
            )
            call = Call(process, os.dup(descriptor), name)
        self._calls = [c for c in self._calls if not c.done()] + [call]
        return call

    def end(self) -> None:
        """Kill what still runs, and close what leads to it."""
        for process in self._processes:
            if process.poll() is None:
                with suppress(OSError):
                    process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
        for call in self._calls:
            call.done()
        self._processes, self._calls = [], []


class Call:
    """A function at work at one end of a wire, in a process of its own."""

    def __init__(self, process: subprocess.Popen[Any], descriptor: int, name: str) -> None:
        self._process, self._descriptor, self._name = process, descriptor, name
        self._lock = threading.Lock()
        self._outcome = b""

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def done(self) -> bool:
        """Whether its process has ended."""
        if self._process.poll() is None:
            return False
        with self._lock:
            if self._descriptor >= 0:
                with os.fdopen(self._descriptor, "rb") as file:
                    file.seek(0)
                    self._outcome = file.read()
                self._descriptor = -1
        return True

    def kill(self) -> None:
        """End its process at once."""
        self._process.kill()
        self._process.wait()
        self.done()

    def result(self, timeout_s: float | None = None) -> Any:
        """Wait for the function; return what it returned, or raise what it raised.

        The traceback from the other process is in the notes of the exception.

        Raises
        ------
        ExperimentError
            If it takes longer than ``timeout_s``, was killed, or its outcome cannot be handed over.
        """
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise ExperimentError(
                f"{self._name} did not end within {timeout_s:g} s", phase="run"
            ) from error
        self.done()
        if code or not self._outcome:
            how = f"signal {-code}" if code < 0 else f"status {code}"
            raise ExperimentError(f"{self._name} ended without an outcome ({how})", phase="run")
        try:
            kind, value = pickle.loads(self._outcome)
        except Exception as error:  # whatever an import may raise
            kind, value = called.LOST, f"returned what cannot be read here: {error}"
        if kind == called.RAISED:
            raise value
        if kind == called.LOST:
            raise ExperimentError(f"{self._name} {value}", phase="run")
        return value


def _request(function: Callable[..., Any], arguments: tuple[Any, ...], name: str) -> bytes:
    """Return what the process at the end reads; it must find the function by its module."""
    allowed = "a function of a module, and arguments, that can be pickled"
    if getattr(getattr(function, "func", function), "__module__", None) == "__main__":
        hint = "What is defined in a script or a notebook goes into a module beside it"
        raise DomainError("function", f"{name} of __main__", allowed, hint=hint)
    try:
        request = pickle.dumps((function, arguments))
    except Exception as error:  # each type refuses in its own way
        raise DomainError("function", name, f"{allowed} ({error})") from error
    return pickle.dumps([place or os.getcwd() for place in sys.path]) + request  # noqa: PTH109
