"""What repeats an evaluation besides its scenario."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from typing import Any

from netcalc.version import __version__


def facts() -> dict[str, Any]:
    """Return the time, the versions of netcalc and Python, the system and the command line."""
    return {
        "at": now(),
        "netcalc": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "command": sys.argv[1:] if sys.argv[:1] and "netcalc" in sys.argv[0] else None,
    }


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
