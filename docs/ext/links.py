"""Every link of built pages, checked without a network: files, anchors, and the form of others."""

from __future__ import annotations

import html
import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# A parser of HTML takes a minute for these pages; Sphinx writes every attribute in double quotes.
TAG = re.compile(r"<(?:a|link|img|script|source)\b[^>]*>")
LINK = re.compile(r'\s(?:href|src)="([^"]+)"')
ANCHOR = re.compile(r'\s(?:id|name)="([^"]+)"')
OUTSIDE = {"http", "https", "mailto", "data"}


@cache
def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


@cache
def _anchors(path: str) -> frozenset[str]:
    return frozenset(map(html.unescape, ANCHOR.findall(_text(path))))


def broken(folder: Path) -> list[str]:
    """Return each link of the pages in a folder that leads nowhere, with its page."""
    root = str(folder.resolve())
    pages = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    found = []
    for path in sorted(pages):
        tags = TAG.findall(_text(os.path.join(root, path.relative_to(folder))))  # noqa: PTH118
        links = (html.unescape(link) for tag in tags for link in LINK.findall(tag))
        for link in dict.fromkeys(links):
            why = _why_broken(link, str(path.relative_to(folder)), root)
            if why:
                found.append(f"{path.relative_to(folder)}: {link}: {why}")
    return found


def _why_broken(link: str, page: str, root: str) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        if parts.scheme not in OUTSIDE:
            return "not a known kind of address"
        return "no host" if parts.scheme in ("http", "https") and "." not in parts.netloc else ""
    here = os.path.join(root, page)  # noqa: PTH118
    target = here
    if parts.path:
        there = os.path.join(os.path.dirname(here), unquote(parts.path))  # noqa: PTH118, PTH120
        target = _file(os.path.normpath(there))
    if not target.startswith(root + os.sep) or not _is_file(target):
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target.endswith(".html") and anchor not in _anchors(target):
        return "no such place on the page"
    return ""


@cache
def _file(target: str) -> str:
    return str(Path(target, "index.html")) if Path(target).is_dir() else target


@cache
def _is_file(target: str) -> bool:
    return Path(target).is_file()


def report(app: Sphinx, failure: Exception | None) -> None:
    """Warn of each broken link when all pages are written; with -W the build then fails."""
    from sphinx.util.logging import getLogger  # late: tests check links without Sphinx

    if failure is None and app.builder.name == "html":
        for line in broken(Path(app.outdir)):
            getLogger(__name__).warning("broken link in %s", line)
