"""How a helper program of a run starts, takes orders and ends; the standard library only.

A helper reads its settings as one line of JSON from its standard input, reports that it is ready
with one line of JSON, and ends when its input closes: the run is over, or the parent is gone. On
Linux the kernel also kills it with its parent, which reaches a helper that is suspended; and a
helper has a time limit, which holds where a fork of the parent keeps the input open.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any

LIMIT_REACHED = 3
"""Exit code of a helper that reached its limit of time or bytes."""
SETTINGS_BYTES = ORDER_BYTES = 4096
"""Longest line of settings, and longest order. [byte]"""
MAX_DESCRIPTORS = 253
"""Descriptors of one order: as many as Linux passes in one message (SCM_MAX_FD). [1]"""
REPORT_NS = 100_000_000
"""Time between two reports of progress: as often as a person can see. [ns]"""
_PR_SET_PDEATHSIG = 1


class Counts:
    """What a helper counted: messages echoed, refused for another session, and not sent."""

    def __init__(self) -> None:
        self.echoed = self.refused = self.unsent = 0


class Orders:
    """The control socket of a helper: orders in, progress out, the order to end the present one.

    Parameters
    ----------
    control : socket.socket
        The control socket.
    counts : object
        What was counted so far; its attributes are reported.
    """

    def __init__(self, control: socket.socket, counts: object) -> None:
        self.control, self.counts = control, counts
        self.begin()

    def begin(self) -> None:
        """Begin another order: count from 0."""
        vars(self.counts).update(dict.fromkeys(vars(self.counts), 0))
        self.end: dict[str, Any] | None = None
        self._reported_ns = time.perf_counter_ns()

    def next(self) -> tuple[dict[str, Any], list[int]] | None:
        """Wait for an order and its descriptors; None at the end of the run."""
        data, descriptors, flags, _ = socket.recv_fds(self.control, ORDER_BYTES, MAX_DESCRIPTORS)
        if flags & socket.MSG_CTRUNC:  # the kernel had no numbers for all of them in this process
            failed = {"error": errno.EMFILE, "text": os.strerror(errno.EMFILE)}
            self.control.send(json.dumps(failed).encode())
            self.control.recv(ORDER_BYTES)  # until the parent has read that
            return None
        return (json.loads(data), list(descriptors)) if data else None

    def look(self, now_ns: int) -> bool:
        """Report progress; return True if the present order is to end at once."""
        if now_ns - self._reported_ns > REPORT_NS:
            self._reported_ns = now_ns
            self.report(now_ns)
        with suppress(BlockingIOError):
            if data := self.control.recv(ORDER_BYTES, socket.MSG_DONTWAIT):
                self.end = json.loads(data)
        return self.end is not None and self.end.get("now", True)

    def report(self, now_ns: int) -> None:
        """Report the counts so far."""
        so_far = {"so_far": True, "at_ns": now_ns, **vars(self.counts)}
        with suppress(BlockingIOError):  # a full socket: the next report has more
            self.control.send(json.dumps(so_far).encode(), socket.MSG_DONTWAIT)


def read_settings() -> dict[str, Any]:
    """Read the settings that the parent writes first, and bind the lifetime to the parent's."""
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline(SETTINGS_BYTES))
    die_with_parent(settings["parent"])
    return settings


def start(settings: dict[str, Any], report: dict[str, Any], counts: object = None) -> None:
    """Report that the helper is ready; from now on it ends with its input, or at its limit."""
    try:
        threading.Thread(target=_end_with_input, args=(counts or Counts(),), daemon=True).start()
        if "duration_s" in settings:
            alarm = threading.Timer(settings["duration_s"], os._exit, (LIMIT_REACHED,))
            alarm.daemon = True
            alarm.start()
    except RuntimeError:  # the system has no thread left
        say({"error": errno.EAGAIN, "text": os.strerror(errno.EAGAIN)})
        os._exit(1)
    say(report)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to end this process with its parent (Linux)."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return
    if os.getppid() not in (parent, 0):  # it ended before; 0: it is in another PID namespace
        os._exit(1)


def _end_with_input(counts: object) -> None:
    """End the process when its input closes, with a last report of its counts."""
    while sys.stdin.buffer.read(1):
        pass
    say(vars(counts))
    os._exit(0)


def say(report: dict[str, Any]) -> None:
    """Write one line to the parent; end if it is gone."""
    try:
        os.write(1, json.dumps(report).encode() + b"\n")
    except OSError:
        os._exit(1)
