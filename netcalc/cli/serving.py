"""The address of the lessons: the same at each start, and one server over a folder.

A file of the folder has the port and the token. It says nothing about whether a server runs, which
locks do: it stays, so that an open page or a bookmark is good at the next start.

Here is also how a command that serves ends, and its server with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from netcalc.cli import mistakes, put
from netcalc.errors import NetcalcError

HOST = "127.0.0.1"
USUAL_PORT = 8888
_RECORD = "server.json"
LOCKS = ("command.lock", "server.lock")
"""Files in a folder of a server: one for the command that started it, one for itself."""
_TOKEN_BYTES = 24
_TRIES, _PAUSE_S = 200, 0.1
"""How often, and how far apart, a lock is tried while a server starts or ends."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the lessons of a folder are served, and as what."""

    port: int
    token: str
    as_pages: bool = False
    opened: str = ""
    language: str = ""

    @property
    def url(self) -> str:
        """The address with its token."""
        return f"http://{HOST}:{self.port}/{self.opened}?token={self.token}"

    def answers(self) -> bool:
        """Whether something listens at it."""
        with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), timeout=1.0):
            return True
        return False


def last(settings: Path) -> Address | None:
    """Return the address of the last start; None if there is none, or none to be trusted.

    A file that others may read or write is not trusted: its token is no secret.
    """
    file = settings / _RECORD
    try:
        if not is_private(file):
            return None
        address = Address(**json.loads(file.read_text(encoding="utf-8")))
        port_known = type(address.port) is int and 0 < address.port < 65536
        texts_fit = isinstance(address.opened, str) and isinstance(address.language, str)
        kinds_fit = texts_fit and isinstance(address.as_pages, bool)
        token_fits = isinstance(address.token, str) and len(address.token) >= _TOKEN_BYTES
        return (
            address if port_known and kinds_fit and token_fits and address.token.isascii() else None
        )
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def is_private(file: Path) -> bool:
    """Whether a file is this user's, and nobody else can read or write it."""
    state = file.lstat()
    return (
        stat.S_ISREG(state.st_mode) and not state.st_mode & 0o077 and state.st_uid == os.geteuid()
    )


def keep(address: Address, settings: Path) -> None:
    """Write an address into a file that only this user can read."""
    write_private(settings / _RECORD, asdict(address))


def write_private(file: Path, document: dict[str, Any]) -> None:
    """Write JSON, whole or not at all, into a file that only this user can read."""
    handle, part = tempfile.mkstemp(dir=file.parent, prefix=file.name)  # mkstemp makes it private
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(document, stream)
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def secret_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


@contextlib.contextmanager
def held(settings: Path) -> Iterator[tuple[int, ...]]:
    """Hold the two locks of a folder: of this command, and the one that its server inherits.

    A lock of the system ends with the last process that holds it, so none is ever stale. Where the
    first is free and the second is not, a command was killed, and its server is ending.

    Yields
    ------
    tuple of int
        The descriptor for the server to inherit.

    Raises
    ------
    Running
        If a server runs over this folder.
    CommandError
        If another process holds a lock, and no server answers at the last address.
    """
    with contextlib.ExitStack() as closing:
        own, inherited = (open_lock(settings / name, closing) for name in LOCKS)
        for _ in range(_TRIES):
            first = lock(own)
            if first and lock(inherited):
                break
            address = last(settings)
            if not first and address is not None and address.answers():
                raise Running(address)
            time.sleep(_PAUSE_S)
        else:
            address = last(settings)
            if address is not None and address.answers():
                raise Running(address)
            raise mistakes.CommandError("lab-folder-busy", file=str(settings.parent))
        yield (inherited,)


def open_lock(file: Path, closing: contextlib.ExitStack) -> int:
    """Open a file to lock; the lock ends when it is closed, here and where it was inherited."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    closing.callback(os.close, handle)
    return handle


def lock(handle: int) -> bool:
    """Lock a file, or keep it locked; a file system without locks has nobody else on it.

    Returns
    -------
    bool
        Whether no other process has it.
    """
    import fcntl  # late: systems other than Unix have none

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


class Running(Exception):  # noqa: N818 - no error: the lessons are there
    """A server runs over this folder."""

    def __init__(self, address: Address) -> None:
        super().__init__(address.port)
        self.address = address


def free_port(typed_port: int | None, before: int | None = None) -> int:
    """Return a port that is free now: the one wanted, else that of before, the usual one, or any.

    Raises
    ------
    CommandError
        If the one wanted is in use, or is not for this user.
    """
    refused: OSError | None = None
    for port in (typed_port,) if typed_port else (before or USUAL_PORT, USUAL_PORT, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                refused = error
                continue
            free: int = probe.getsockname()[1]
            return free
    raise _refused_port(typed_port, refused)


def _refused_port(port: int | None, error: OSError | None) -> NetcalcError:
    if isinstance(error, PermissionError):
        return mistakes.CommandError("server-port-not-permitted", port=port)
    return mistakes.CommandError("server-port-in-use", port=port)


@contextlib.contextmanager
def running(
    arguments: list[str], *, stopped: str, limit_s: float, **settings: Any
) -> Iterator[subprocess.Popen[Any]]:
    """Run a server in a session of its own; in the end it and its kernels are gone.

    Parameters
    ----------
    arguments : list of str
        The command of the server.
    stopped : str
        What is said where Ctrl-C ends it.
    limit_s : float
        How long it may take to end until it is killed. [s]
    **settings
        As of :class:`subprocess.Popen`.
    """
    end_by_signals()
    server = subprocess.Popen(
        arguments, start_new_session=True, preexec_fn=_end_with_parent, **settings
    )
    try:
        yield server
    except KeyboardInterrupt:
        put(stopped)
    finally:
        server.terminate()
        try:
            server.wait(limit_s)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            if server.poll() is None:  # once it is reaped its number may be another's
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        if server.stdout:
            server.stdout.close()


def end_by_signals() -> None:
    """End as by Ctrl-C on a signal that asks for it, unless who started this had it ignored.

    Where it matters the number of the signal is an argument of the exception.
    """
    for name in ("SIGTERM", "SIGHUP"):  # Windows has one of them
        stop = getattr(signal, name, None)
        if stop is not None and signal.getsignal(stop) is not signal.SIG_IGN:  # as by nohup
            signal.signal(stop, _stop)


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(signum)


def _end_with_parent() -> None:
    """Ask Linux to end this process, a server, if the command that started it is killed."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)
