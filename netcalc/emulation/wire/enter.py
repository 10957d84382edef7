"""Runs a program in the namespaces of a wire: ``python -I -S enter.py USER NET PARENT PROGRAM``.

USER and NET are descriptors, USER is -1 where no user namespace is entered. The program has a PID
namespace of its own, whose first process dies with this one, and this one dies with PARENT: the
kernel then ends all that the program has started, and nobody has to look for it. Signals that can
be caught are passed on, and this process ends as the program does. Exit code 127 says that the
program could not be started.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PASSED_ON = (
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2,
)  # fmt: skip
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> NoReturn:
    """Go in, start the program, and end as it does."""
    user, net, parent = (int(text) for text in sys.argv[1:4])
    for descriptor, kind in ((user, _NEW_USER), (net, _NEW_NET)):
        if descriptor >= 0:
            _checked(_libc.setns(descriptor, kind), "the namespace of the wire cannot be entered")
            os.close(descriptor)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() not in (parent, 0):
        sys.exit("the owner of the wire has ended")
    _checked(_libc.unshare(_NEW_PID), "a PID namespace cannot be made")
    result, report = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    first = os.fork()
    if first == 0:
        os.close(result)
        _be_the_first_process(report)
    _leave_all_files_but(result)
    _pass_signals_on(first)
    text = b""
    while more := os.read(result, 64):
        text += more
    os.waitpid(first, 0)  # with it all the others of its namespace have ended
    code = os.waitstatus_to_exitcode(int(text)) if text.strip() else -signal.SIGKILL
    if code >= 0:
        os._exit(code)
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # the core is the program's, not this one's
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


def _be_the_first_process(report: int) -> NoReturn:
    """Start the program, reap it and its orphans, and report how it ended.

    The program is not the first process itself: the kernel gives that one no signal that it does
    not catch, so that the program could not even abort.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        os.write(report, b" ")
    except BrokenPipeError:  # the other process died before this one asked to die with it
        os._exit(1)
    handlers = {number: signal.getsignal(number) for number in _PASSED_ON}
    program = os.fork()
    if program == 0:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
        _become_the_program()
    _leave_all_files_but(report)
    _pass_signals_on(program)
    ended, status = os.wait()
    while ended != program:
        ended, status = os.wait()
    os.write(report, str(status).encode())
    os._exit(0)


def _become_the_program() -> NoReturn:
    try:
        os.execvp(sys.argv[4], sys.argv[4:])
    except OSError as error:
        print(f"{sys.argv[4]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(127)


def _leave_all_files_but(kept: int) -> None:
    """Close the files of the program in a process that does not use them: its pipes end with it."""
    os.closerange(0, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _pass_signals_on(child: int) -> None:
    """Hand each signal to a child, also those that came before it was there."""

    def pass_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)


def _checked(result: int, what: str) -> None:
    if result != 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()
