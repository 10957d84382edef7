"""Addresses of the repository in the metadata of a build, for a page that shows them elsewhere.

The public address is known to whoever builds a release, not to the files: the environment variable
``NETCALC_REPOSITORY`` has it, such as ``https://example.org/owner/netcalc``. With it the metadata
have links to the project, and those of the README lead to the files of the tag ``v<version>``. A
build without it, as ``pip install -e .`` is, says nothing of an address. An sdist keeps what it
was built with.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?!\w+:|#)(?P<path>[^)#\s]+)")
"""A link or a picture of Markdown that is relative."""


class ReleaseMetadata(MetadataHookInterface):
    """Fill in ``readme`` and ``urls``, which pyproject.toml lists as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both; hatchling calls this for each build."""
        root, repository = Path(self.root), os.environ.get("NETCALC_REPOSITORY", "").rstrip("/")
        readme = (root / "README.md").read_text(encoding="utf-8")
        metadata["urls"] = {}
        if repository:
            version = (root / "netcalc" / "version.py").read_text(encoding="utf-8")
            tag = "v" + re.findall(r'__version__ = "(.+)"', version)[0]
            readme = LINK.sub(lambda link: absolute(link, root, repository, tag), readme)
            metadata["urls"] = {
                "Documentation": f"{repository}/blob/{tag}/docs/getting_started.md",
                "Source": repository,
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def absolute(link: re.Match[str], root: Path, repository: str, tag: str) -> str:
    """Return a link to the file itself, to its page, or to that of a folder."""
    path = link["path"].rstrip("/")
    kind = "raw" if link["picture"] else "tree" if (root / path).is_dir() else "blob"
    return f"{link['picture']}{link['text']}({repository}/{kind}/{tag}/{path}"
