"""Calls a function in the namespaces of a wire: ``python -P called.py DESCRIPTOR``.

The descriptor is a file in memory. It holds the import path, then the function and its arguments;
the outcome replaces them. Both are pickled: they come from, and go to, the same user's own process.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from io import BytesIO

RETURNED, RAISED, LOST = "returned", "raised", "lost"
"""Outcomes: a value, an exception, or what to say where neither can be handed over."""


def main() -> None:
    """Call what is asked for and leave the outcome."""
    with os.fdopen(int(sys.argv[1]), "r+b") as file:
        request = BytesIO(file.read())
        file.seek(0)
        file.truncate()
        sys.path[:] = pickle.load(request)
        file.write(outcome(request))


def outcome(request: BytesIO) -> bytes:
    """Return what became of the call, pickled."""
    try:
        function, arguments = pickle.load(request)
    except Exception as error:  # whatever an import may raise
        return pickle.dumps((LOST, f"cannot be imported at the end of a wire: {_said(error)}"))
    try:
        value = function(*arguments)
    except Exception as error:
        error.add_note(f"At one end of a wire:\n{traceback.format_exc()}")
        try:
            found = pickle.dumps((RAISED, error))
            pickle.loads(found)  # an exception may be written and yet not be readable
        except Exception:
            return pickle.dumps((LOST, f"raised {_said(error)}"))
        return found
    except BaseException as error:  # of this process: the owner must not exit as well
        return pickle.dumps((LOST, f"raised {_said(error)}"))
    try:
        return pickle.dumps((RETURNED, value))
    except Exception as error:
        return pickle.dumps((LOST, f"returned what cannot be handed over: {_said(error)}"))


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
