"""The folder of a site: what may be written there, and what was."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from netcalc.errors import NetcalcError
from netcalc.samples import write_atomically
from netcalc.version import __version__

MARKER = ".netcalc-site.json"
"""Lists the files of a site: those may be replaced by the next one."""
ROOM_BYTES = 40_000_000
"""Room that a site is refused without: more than twice what one takes. [byte]"""


def check(folder: Path) -> None:
    """Refuse a folder that a site cannot be written to.

    Raises
    ------
    NetcalcError
        If it is a file, cannot be written, has files that are not of a site, or has no room.
    """
    if folder.exists() and not folder.is_dir():
        raise NetcalcError("site-folder-is-file", file=str(folder))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        found = sorted(path.name for path in folder.iterdir())
        raise NetcalcError("site-folder-not-empty", file=str(folder), found=found[0])
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise NetcalcError("site-folder-unwritable", file=str(folder), place=str(there))
    left = shutil.disk_usage(there).free
    if left < ROOM_BYTES:
        raise NetcalcError(
            "site-no-room", file=str(folder), size_bytes=left, limit_bytes=ROOM_BYTES
        )


def written_before(folder: Path) -> list[str]:
    """Return the names of the files that the last site in a folder consists of.

    Raises
    ------
    NetcalcError
        If the list of them is damaged.
    """
    marker = folder / MARKER
    if not marker.is_file():
        return []
    try:
        names = json.loads(marker.read_text(encoding="utf-8"))["files"]
        plain = all(isinstance(name, str) and Path(name).name == name for name in names)
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        plain = False
    if not plain:
        raise NetcalcError("site-marker-damaged", file=str(marker))
    return list(names)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a site, and take away those of the last one that it has no more.

    Raises
    ------
    NetcalcError
        If a file of that name is there which is not of a site.
    OSError
        If the system refuses a file.
    """
    old = written_before(folder)
    for name in files:
        if name not in old and (folder / name).exists():
            raise NetcalcError("site-folder-not-empty", file=str(folder), found=name)
    folder.mkdir(parents=True, exist_ok=True)
    listed = {"netcalc": __version__, "files": sorted({*files, *old})}
    write_atomically(folder / MARKER, json.dumps(listed, indent=1).encode() + b"\n")
    for name, data in files.items():
        write_atomically(folder / name, data)
    for name in set(old) - set(files):
        (folder / name).unlink(missing_ok=True)
    listed["files"] = sorted(files)
    write_atomically(folder / MARKER, json.dumps(listed, indent=1).encode() + b"\n")
