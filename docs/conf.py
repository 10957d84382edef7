"""Settings of the documentation. It builds, and reads, without a network."""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import netcalc

# nbformat makes a grammar of internet addresses of it in 10 s, and no page is checked with that.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
sys.path.insert(0, str(Path(__file__).parent / "ext"))  # the parts that are computed: pages.py

project = "netcalc"
author = copyright = "The netcalc developers"  # noqa: A001
version = release = netcalc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_nb",
    "gallery",
    "data_pages",
    "pages",
    "tutorials",
]
exclude_patterns = ["_build", "gallery", "generated/netcalc.*"]
templates_path = ["_templates"]
suppress_warnings = ["toc.empty_glob"]  # pages that a checkout may lack
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath", "deflist"]

autodoc_typehints = "none"  # the docstrings give shape and unit
autodoc_member_order = "bysource"
autodoc_default_options = {"no-value": True}  # pages.py shows those that are readable
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
html_context = {"default_mode": "auto"}  # without it the theme writes an error on each page
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


def setup(app: Sphinx) -> None:
    """Draw equations with the browser's own MathML."""
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.add_css_file("netcalc.css")
