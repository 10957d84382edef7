"""Settings of the documentation. It builds, and reads, without a network."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import netcalc
from netcalc import claims

sys.path.insert(0, str(Path(__file__).parent / "ext"))  # what is computed for the pages

project = "netcalc"
author = copyright = "The netcalc developers"  # noqa: A001
version = release = netcalc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "myst_nb",
    "gallery",
    "data_pages",
    "tutorials",
]
exclude_patterns = ["_build", "gallery"]
templates_path = ["_templates"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath", "deflist"]

autodoc_typehints = "none"  # the docstrings give shape and unit
autodoc_member_order = "bysource"
autosummary_generate = True
napoleon_google_docstring = False
napoleon_use_rtype = False
nitpick_ignore_regex = [(r"py:(class|data|obj|exc|attr)", r".*")]

html_theme = "pydata_sphinx_theme"
html_title = "netcalc"
html_static_path = ["_static"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": [],
    "navbar_center": [],  # all pages are in the left column
    "show_nav_level": 1,
    "navigation_depth": 2,
}
html_sidebars = {"**": ["sidebar-pages"]}


def inline_math(writer: HTML5Translator, node: nodes.math) -> None:
    """Write an equation in a line as MathML: no script, no font, nothing to fetch."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_math(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation of its own."""
    equation = convert(node.astext(), display="block")
    writer.body.append(f'<div class="math-block" tabindex="0">{equation}</div>\n')
    raise nodes.SkipNode


def write_book(app: Sphinx) -> None:
    """Write the page of the book check from what the models give now."""
    checked = claims.check(claims.book())
    counted = ", ".join(f"{number} {name}" for name, number in claims.counts(checked).items())
    basis = claims.basis_counts(checked)
    lines = [
        "# The book check",
        "",
        "The numbers printed in the five sources, recomputed by the models of netcalc where there "
        "is a formula, as `netcalc book` prints them. [Your own claims](../claims.md) are checked "
        "in the same way.",
        "",
        f"{len(checked)} numbers: {counted}. {basis['computed'] + basis['implied']} are computed: "
        f"{basis['computed']} verdicts, and {basis['implied']} values that follow from measured or "
        f"given numbers. The other {basis['recorded']} verdicts are those on record.",
    ]
    for work, numbers in groupby(checked, key=lambda item: item.claim.work):
        lines += ["", f"## {work}", ""]
        lines += [
            "| id, place | quantity | printed | computed | verdict | reason |",
            "|" + "---|" * 6,
        ]
        for item in numbers:
            cells = (
                f"{item.claim.id}, {item.claim.place}",
                item.claim.quantity,
                item.printed_text,
                item.computed_text,
                item.verdict,
                item.reason,
            )
            lines.append("| " + " | ".join(cell.replace("*", r"\*") for cell in cells) + " |")
    page = Path(app.srcdir, "generated", "book.md")
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Draw equations with the browser's own MathML, and write the book check."""
    app.connect("builder-inited", write_book)
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.add_css_file("netcalc.css")
