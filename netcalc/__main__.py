"""``python -m netcalc`` is the ``netcalc`` command."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # this file is short of time: until it has run, Ctrl-C shows a traceback
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    import _signal as signal  # part of Python itself; the module around it loads six others


def end_quietly(number: int, frame: FrameType | None) -> None:
    """End as a shell does: while a program loads nothing is lost, and a traceback says nothing."""
    os._exit(130)


def main() -> None:
    """Load the command line and run it."""
    kept = signal.getsignal(signal.SIGINT)
    if kept is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_quietly)
    import gc  # late, as the command line: Ctrl-C may come while they load

    gc.disable()  # modules that load leave no garbage
    from netcalc.cli import main as command

    gc.enable()
    signal.signal(signal.SIGINT, kept)
    command()


if __name__ == "__main__":
    main()
