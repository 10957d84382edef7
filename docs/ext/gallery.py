"""The gallery: each file of ``docs/gallery`` is run, and its figure drawn without a browser."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from netcalc import plots
from netcalc.errors import DoubtWarning

SOURCES = Path(__file__).parents[1] / "gallery"
CHAPTERS = {
    "measured": "Theory on measured points",
    "delays": "Delays",
    "rates": "Sizes and rates",
    "hosts": "Hosts",
    "tcp": "TCP",
    "queues": "Queues",
    "planning": "Planning",
}
"""Folders of sources and what their pages are called, in their order."""


@dataclass(frozen=True)
class Example:
    """One file of the gallery: a docstring of title and caption, then the code of ``figure``."""

    path: Path

    @property
    def name(self) -> str:
        """Name of the file, which is also that of its picture."""
        return self.path.stem

    @property
    def anchor(self) -> str:
        """Name of its place on the page of its chapter."""
        return self.name.replace("_", "-")

    @cached_property
    def source(self) -> str:
        """The whole file."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def _module(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (ast.get_docstring(self._module) or "").partition("\n")[0]

    @property
    def caption(self) -> str:
        """What the figure shows, in one sentence."""
        return " ".join((ast.get_docstring(self._module) or "").partition("\n")[2].split())

    @property
    def code(self) -> str:
        """What stands below the docstring."""
        lines = self.source.splitlines()[self._module.body[0].end_lineno :]
        return "\n".join(lines).strip()

    @property
    def lines(self) -> int:
        """Number of lines of code, imports aside."""
        imports = (ast.Import, ast.ImportFrom)
        body = [one for one in self._module.body[1:] if not isinstance(one, imports)]
        return sum((one.end_lineno or one.lineno) - one.lineno + 1 for one in body)

    @cached_property
    def plot(self) -> plots.Plot:
        """The figure; a doubtful one is an error, as nothing on the page would say so."""
        names: dict[str, object] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("error", DoubtWarning)
            exec(compile(self.source, str(self.path), "exec"), names)
            figure = names["figure"]
            if not isinstance(figure, plots.Plot):
                raise TypeError(self.path)
            figure.figure  # noqa: B018 - drawn while doubts are errors
        return figure


def examples(chapter: str) -> Iterator[Example]:
    """Yield the examples of a chapter by name."""
    for path in sorted((SOURCES / chapter).glob("*.py")):
        yield Example(path)


def write(path: Path, text: str) -> None:
    """Write a file, unless it is there already: an unchanged page is then not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def chapter_text(chapter: str) -> str:
    """Return the page of a chapter: each figure large, with its code."""
    parts = [f"# {CHAPTERS[chapter]}"]
    for one in examples(chapter):
        parts.append(
            f"({one.anchor})=\n## {one.title}\n\n{one.caption}\n\n"
            f"```{{image}} {one.name}.svg\n:class: netcalc-figure\n:alt: {_alt(one)}\n```\n\n"
            f"```python\n{one.code}\n```"
        )
    return "\n\n".join(parts) + "\n"


def index_text() -> str:
    """Return the page of all chapters: each figure small, with a link to where it is large."""
    count = sum(1 for chapter in CHAPTERS for _ in examples(chapter))
    parts = [
        "# Gallery",
        f"{count} figures, each with the few lines of Python that make it. They are made when this "
        "documentation is built; in a lesson, the same figures can be zoomed and hovered over.",
    ]
    for chapter, title in CHAPTERS.items():
        parts += [f"## {title}", '<div class="netcalc-gallery">']
        for one in examples(chapter):
            target = f"{chapter}.html#{one.anchor}"
            parts += [
                "<div>",
                f"```{{image}} {one.name}.svg\n:class: netcalc-figure\n:alt: {one.title}\n"
                f":target: {target}\n```",
                f'<a href="{target}">{one.title}</a>\n</div>',
            ]
        parts.append("</div>")
    names = "\n".join(CHAPTERS)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"


def _alt(one: Example) -> str:
    return " ".join(one.plot.description.split())


def write_gallery(app: Sphinx) -> None:
    """Draw all figures and write their pages."""
    folder = Path(app.srcdir, "generated", "gallery")
    for chapter in CHAPTERS:
        for one in examples(chapter):
            write(folder / f"{one.name}.svg", plots.svg(one.plot))
        write(folder / f"{chapter}.md", chapter_text(chapter))
    write(folder / "index.md", index_text())


class GalleryFigure(SphinxDirective):
    """A figure of the gallery on another page, with its caption and the way to its code."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the figure named by the argument."""
        found = {one.name: one for chapter in CHAPTERS for one in examples(chapter)}
        one = found.get(self.arguments[0])
        if one is None:
            raise self.error(f"no figure of the gallery is called {self.arguments[0]}")
        image = nodes.image(
            uri=f"/generated/gallery/{one.name}.svg", alt=_alt(one), classes=["netcalc-figure"]
        )
        way = pending_xref(
            "", nodes.inline(text="The lines that draw it."), reftype="ref", refdomain="std",
            reftarget=one.anchor, refexplicit=True, refwarn=True, refdoc=self.env.docname,
        )  # fmt: skip
        caption = nodes.caption("", "", nodes.Text(f"{one.caption} "), way)
        return [nodes.figure("", image, caption)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw the gallery before the pages are read."""
    app.add_directive("gallery-figure", GalleryFigure)
    app.connect("builder-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
