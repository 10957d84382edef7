"""Runs a program in the namespaces of a wire: ``python -I -S enter.py USER NET PARENT PROGRAM``.

USER and NET are descriptors, USER is -1 where no user namespace is entered. The program dies with
PARENT. Exit code 127 says that it could not be started.
"""

from __future__ import annotations

import ctypes
import os
import sys

_NEW_USER, _NEW_NET, _PR_SET_PDEATHSIG = 0x10000000, 0x40000000, 1


def main() -> None:
    """Go in and become the program."""
    user, net, parent = (int(text) for text in sys.argv[1:4])
    libc = ctypes.CDLL(None, use_errno=True)
    for descriptor, kind in ((user, _NEW_USER), (net, _NEW_NET)):
        if descriptor >= 0:
            if libc.setns(descriptor, kind) != 0:
                text = os.strerror(ctypes.get_errno())
                sys.exit(f"the namespace of the wire cannot be entered: {text}")
            os.close(descriptor)
    libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    if os.getppid() not in (parent, 0):
        sys.exit("the owner of the wire has ended")
    try:
        os.execvp(sys.argv[4], sys.argv[4:])
    except OSError as error:
        print(f"{sys.argv[4]}: {error.strerror}", file=sys.stderr)
        os._exit(127)


if __name__ == "__main__":
    main()
