"""Every link of built pages, checked without a network: files, anchors, and the form of others."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx
LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}
OUTSIDE = {"http", "https", "mailto", "data"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := given.get(name)))
        link = given.get(LINKS.get(tag, ""))
        if link:
            self.links.append(link)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(folder: Path) -> list[str]:
    """Return each link of the pages in a folder that leads nowhere, with its page."""
    folder = folder.resolve()
    found = []
    for path in sorted(folder.rglob("*.html")):
        for link in dict.fromkeys(_read(path).links):
            why = _why_broken(link, path, folder)
            if why:
                found.append(f"{path.relative_to(folder)}: {link}: {why}")
    return found


def _why_broken(link: str, page: Path, folder: Path) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        if parts.scheme not in OUTSIDE:
            return "not a known kind of address"
        if parts.scheme in ("http", "https") and "." not in parts.netloc:
            return "no host"
        return ""
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder) or not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in _read(target).anchors:
        return "no such place on the page"
    return ""


def report(app: Sphinx, failure: Exception | None) -> None:
    """Warn of each broken link when all pages are written; with -W the build then fails."""
    from sphinx.util.logging import getLogger  # late: tests check links without Sphinx

    if failure is None and app.builder.name == "html":
        for line in broken(Path(app.outdir)):
            getLogger(__name__).warning("broken link in %s", line)
