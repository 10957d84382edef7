"""What ``pip install`` takes to add an extra to the copy of netcalc that runs.

The name of the distribution alone is right only where it came from a package index: a checkout or a
file says nothing of who owns that name there.
"""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit


def requirement(extra: str = "", *, folder: Path | None = None) -> str:
    """Return the argument of ``pip install`` for this copy, quoted for a shell.

    Parameters
    ----------
    extra : str
        The extra to add; none if empty.
    folder : Path, optional
        Where the package ``netcalc`` lies; that of this copy if left out.
    """
    folder = Path(__file__).parents[2] if folder is None else folder
    extras = f"[{extra}]" if extra else ""
    for copy in metadata.distributions(name="netcalc-lab", path=[str(folder)]):
        origin = json.loads(copy.read_text("direct_url.json") or "{}")
        if "url" not in origin:
            return shlex.quote(f"netcalc-lab{extras}")
        parts = urlsplit(origin["url"])
        if parts.scheme == "file":
            return shlex.quote(f"{unquote(parts.path)}{extras}")
        version = origin.get("vcs_info", {})
        prefix = f"{version['vcs']}+" if version else ""
        suffix = f"@{version['commit_id']}" if version else ""
        return shlex.quote(f"netcalc-lab{extras} @ {prefix}{origin['url']}{suffix}")
    return f"-e {shlex.quote(f'{folder}{extras}')}"
