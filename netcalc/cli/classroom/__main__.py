"""The process of the server."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # A grammar that jsonschema loads if it is there: seconds of each start, and nothing uses it.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    from netcalc.cli.classroom.application import main

    main()
