"""Notebooks that their reader has not trusted, as JupyterLab gets them.

JupyterLab hides the outputs of such a notebook until it is trusted, or has run here. But it makes
the saved widgets of any notebook again as soon as it is opened, shown or not, and a widget of
anywidget is a script: in a page that may run code on this machine. So these widgets are left out.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager


class Notebooks(AsyncLargeFileManager):  # type: ignore[misc] # without types
    """Jupyter's own manager of files; it hands out no saved widgets that are not trusted."""

    def mark_trusted_cells(self, nb: Any, path: str = "") -> None:
        """Say for each cell of a notebook that is opened whether it is trusted."""
        if not self.notary.check_signature(nb):
            nb.metadata.pop("widgets", None)
        super().mark_trusted_cells(nb, path)
