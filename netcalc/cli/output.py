"""Files that commands write: refused before the work, complete or not there after it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from netcalc.compare import Comparison
from netcalc.errors import MissingPackageError


def check_output(path: str, *, inputs: Iterable[str] = (), force: bool = False) -> None:
    """Refuse an output file that cannot or should not be written.

    Raises
    ------
    click.UsageError
        If it is an input, a directory, exists without ``--force``, or its folder is not writable.
    """
    target = Path(path)
    if any(name != "-" and target.exists() and _same(target, Path(name)) for name in inputs):
        raise click.UsageError(f"{path} is the input; choose another name")
    if target.is_dir():
        raise click.UsageError(f"{path} is a directory; name a file in it")
    if target.exists() and not force:
        raise click.UsageError(f"{path} exists; choose another name or add --force")
    folder = target.parent
    if not folder.is_dir():
        raise click.UsageError(f"{path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise click.UsageError(f"{path}: the folder {folder} is not writable")


def save_plot(comparison: Comparison, path: str) -> None:
    """Draw a comparison into one HTML file that needs no network."""
    try:
        from netcalc import plots
    except ImportError as error:
        raise MissingPackageError("bokeh", extra="lab", purpose="--plot") from error
    plots.save_html(plots.overlay(comparison), path)


def _same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False
