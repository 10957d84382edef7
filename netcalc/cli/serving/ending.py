"""How a command that serves ends, and its server with it."""

from __future__ import annotations

import signal
import sys
from types import FrameType


def end_by_signals() -> None:
    """End as by Ctrl-C on a signal that asks for it, unless who started this had it ignored."""
    for stop in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(stop) is not signal.SIG_IGN:  # as by nohup
            signal.signal(stop, _stop)


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def end_with_parent() -> None:
    """Ask Linux to end this process, a server, if the command that started it is killed."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)
