"""The name of a folder on a command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from netcalc.cli.mistakes import CommandError, typed_name


class FolderName(click.Path):
    """A folder, in which ~ is a home. No name at all is refused: it would be the current one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path that was typed."""
        if isinstance(value, str) and not value.strip():
            name = "DIR" if param is None else typed_name(param)
            raise CommandError("folder-name-empty", name=name)
        folder = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            return folder.expanduser()
        except RuntimeError as error:
            raise CommandError("home-unknown", file=str(folder)) from error
