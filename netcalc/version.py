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
