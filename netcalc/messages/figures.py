"""Figures, panels, lessons and their pages."""

from __future__ import annotations

FIGURES: dict[str, str] = {
    "name-in-use": "the names of {name} must be unique; the figure already has {value}",
    "wrong-node-count": "{name} must be {expected:name|names}, one more than links, got {value}",
    "nothing-finite": "{name}: none of {value:value|values} is finite",
    "unequal-curves": "{name} must have equal lengths, got {value}",
    "other-experiment": "holds no samples of this experiment",
    "runs-too-large": "is too large ({size_bytes:byte})",
    "not-saved-runs": "is not a zip of saved runs, or is damaged",
    "run-in-progress": "a run is in progress",
    "no-emulated-path-here": "no path can be emulated on this machine ({reason})",
    "icmp-needs-root": "over the loopback only root may send ICMP echo requests",
    "no-column-of-unit": "has no column in {wanted_unit}",
    "no-sizes-and-times": "has no sizes and times to draw",
    "upload-too-large": "is too large to upload ({size_bytes:byte}, limit {limit_bytes:byte})",
    "no-flow-to-draw": "{name} has no TCP flow with data to draw in {value:packet|packets}",
    "one-direction-to-draw": (
        "{name} holds only one direction of its largest flow (capture point: {value})"
    ),
    "no-results": "no results to plot",
    "one-flow-only": "a plot of window against window needs two flows; the scenario has {value}",
    "no-course": "the result of {value} has no time series",
    "scenarios-differ": "the results of {value:names} come from different scenarios",
    "other-links": "was recorded over a path with other links",
    "site-folder-is-file": "{file} is a file, not a folder",
    "site-folder-not-empty": "{file} contains a file that netcalc site did not write: {found!r}",
    "site-folder-unwritable": "{file} cannot be written: no permission for {place}",
    "site-no-room": (
        "{file}: the disk has {size_bytes:byte} free, and a site needs at least {limit_bytes:byte}"
    ),
    "site-marker-damaged": "{file} is damaged: it should list the files of the site in this folder",
    "site-page-too-large": (
        "the page of {file} takes {size_bytes:byte}; the limit is {limit_bytes:byte}"
    ),
    "lesson-cell-fails": "{file}: cell {number} failed: {reason}",
    "lesson-does-not-run": "{file} does not run: {reason}",
}

FIGURES_HINTS: dict[str, str] = {
    "upload-too-large": "Read it on this machine with netcalc.readers.read(path)",
    "run-in-progress": "Stop it first",
    "no-emulated-path-here": "The loopback is now selected: press the button again",
    "icmp-needs-root": "Choose UDP, or a path, whose ends are namespaces of the run",
    "site-folder-is-file": "Name a folder",
    "site-folder-not-empty": "Name a new or an empty folder",
    "site-folder-unwritable": "Name a folder that you may write to",
    "site-no-room": "Free some space, or name a folder on another disk",
    "site-marker-damaged": "Name a new folder, or empty this one",
}
