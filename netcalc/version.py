"""The version of the package, in a file of its own: rooms that record it load nothing else."""

from __future__ import annotations

import os

__version__ = "0.1.0"

FOLDER = __file__.rpartition(os.sep)[0].rpartition(os.sep)[0]
"""Where the package ``netcalc`` lies."""


def mixed_with() -> list[str]:
    """Return what another distribution named netcalc has recorded beside this package.

    An unrelated project on the public package index has a package ``netcalc``, too. Installed into
    one environment, the later of the two overwrites files of the other one.
    """
    try:
        with os.scandir(FOLDER) as entries:
            names = [entry.name for entry in entries]
    except OSError:  # in an archive
        return []
    return [
        name
        for name in names
        if name.startswith("netcalc-") and name.endswith((".dist-info", ".egg-info"))
    ]


def requirement(extra: str = "", *, folder: str = FOLDER) -> str:
    """Return the argument of ``pip install`` for this copy, quoted for a shell.

    Parameters
    ----------
    extra : str
        The extra to add; none if empty.
    folder : str
        Where the package ``netcalc`` lies.

    The name of the distribution alone is right only where it came from a package index: a checkout
    or a file says nothing of who owns that name there.
    """
    import json
    import shlex
    from importlib import metadata
    from urllib.parse import unquote, urlsplit

    extras = f"[{extra}]" if extra else ""
    for copy in metadata.distributions(name="netcalc-lab", path=[folder]):
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
