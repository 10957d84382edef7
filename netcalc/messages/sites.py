"""Pages of the lessons: the folder that they go to, and lessons that do not run."""

from __future__ import annotations

SITES: dict[str, str] = {
    "site-folder-is-file": "{file} is a file, not a folder",
    "site-folder-not-empty": "{file} has a file that is of no site of netcalc: {found!r}",
    "site-folder-unwritable": "{file} cannot be written: no permission in {place}",
    "site-no-room": (
        "{file}: {size_bytes:byte} are free on this disk, and a site is written with at least "
        "{limit_bytes:byte}"
    ),
    "site-marker-damaged": "{file} is damaged: it lists the files of the site in this folder",
    "site-page-too-large": (
        "the page of {file} would have {size_bytes:byte}, more than {limit_bytes:byte}"
    ),
    "lesson-cell-fails": "{file}: cell {number} fails: {reason}",
    "lesson-does-not-run": "{file} does not run: {reason}",
}

SITES_HINTS: dict[str, str] = {
    "site-folder-is-file": "Name a folder",
    "site-folder-not-empty": "Name a new or an empty folder",
    "site-folder-unwritable": "Name a folder that you may write to",
    "site-no-room": "Free some of it, or name a folder on another disk",
    "site-marker-damaged": "Name a new folder, or empty this one",
}
