"""A lesson as one page of HTML that needs no network: ``jupyter nbconvert --to netcalc LESSON``.

The page that ``--to html`` writes asks a server for MathJax, which draws the equations, and for the
programs of widgets. In this page equations are MathML, which browsers draw themselves, and figures
are the pictures that the notebook has saved.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import Preprocessor

_MATH = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)"  # a dollar sign in code is one
    r"|\$\$(?P<block>.+?)\$\$"
    r"|(?<![\\$\w])\$(?P<inline>[^$\s](?:[^$\n]*[^$\s\\])?)\$(?![\w$])",
    re.DOTALL,
)
STAND_IN = "netcalc-equation-{}-"
"""What Markdown sees of an equation: it would take ``_`` and ``*`` in MathML for emphasis."""


def mathml(text: str, *, stand_ins: list[str] | None = None) -> str:
    """Replace the equations in a text, written between dollar signs, by MathML.

    Parameters
    ----------
    text : str
        Markdown or HTML.
    stand_ins : list of str, optional
        Receives the equations; the text gets a word for each of them, by its index.

    Examples
    --------
    >>> mathml("the rate $R$")[:26]
    'the rate <math xmlns="http'
    """

    def replaced(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        block = found["block"] is not None
        equation = convert(
            html.unescape(found["block"] or found["inline"]).strip(),
            display="block" if block else "inline",
        )
        if stand_ins is None:
            return equation
        stand_ins.append(equation)
        return STAND_IN.format(len(stand_ins) - 1)

    return _MATH.sub(replaced, text)


class Equations(Preprocessor):
    """Replaces the equations of all cells, and puts MathML into the saved panels."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.found: list[str] = []

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Go through the cells of a notebook, which has run if it was to."""
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                cell.source = mathml(cell.source, stand_ins=self.found)
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                if "netcalc-saved" in data.get("text/html", ""):
                    data["text/html"] = mathml(data["text/html"])
        return nb, resources


class Page(HTMLExporter):
    """Writes a notebook as a page without a script that is fetched from elsewhere."""

    export_from_notebook = "HTML without a network (netcalc)"
    raw_template = """{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._equations = Equations(enabled=True)
        # The last one, as cells that are run with the export have their outputs then.
        self.register_preprocessor(self._equations, enabled=True)  # type: ignore[no-untyped-call]

    def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> Any:
        """Return the page and its resources."""
        self._equations.found.clear()
        page, resources = super().from_notebook_node(nb, resources, **options)
        for index, equation in enumerate(self._equations.found):
            page = page.replace(STAND_IN.format(index), equation)
        return page, resources
