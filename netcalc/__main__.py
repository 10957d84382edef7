"""``python -m netcalc`` is the ``netcalc`` command."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended, as that of a shell."""


def end_quietly(number: int, frame: FrameType | None) -> None:
    """End at once: while a program loads nothing is lost, and a traceback says nothing."""
    os._exit(INTERRUPTED)


def main() -> None:
    """Load the command line and run it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, end_quietly)
    from netcalc.cli import main as command  # late: Ctrl-C may come while it loads

    command()


if __name__ == "__main__":
    main()
