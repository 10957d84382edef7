"""The page of a lesson that needs no network: equations as MathML, nothing fetched."""

from __future__ import annotations

import html
import re
import tomllib
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from netcalc.lessons.site.html import Page, mathml

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MATH = re.compile(r"<math .*?</math>", re.DOTALL)


@cache
def exporter():
    """One for all pages, as it compiles its templates anew each time it is made."""
    return Page()


def page_of(*cells):
    return exporter().from_notebook_node(new_notebook(cells=list(cells)))[0]


def words(equation):
    """The letters, numbers and signs of an equation, as an XML parser finds them."""
    return [text for text in ElementTree.fromstring(html.unescape(equation)).itertext() if text]


def test_an_equation_becomes_mathml_with_its_symbols_in_order():
    (block,) = MATH.findall(page_of(new_markdown_cell(r"Time: $$t = d + \frac{8N}{R}$$ in all")))
    assert 'display="block"' in block
    assert words(block) == ["t", "=", "d", "+", "8", "N", "R"]  # read off the equation
    (line,) = MATH.findall(page_of(new_markdown_cell("the rate $R_i$ of _each_ link")))
    assert 'display="inline"' in line
    assert words(line) == ["R", "i"]


def test_several_equations_stay_where_they_are():
    page = page_of(*(new_markdown_cell(f"number {n}: $x_{{{n}}}$.") for n in range(12)))
    found = re.findall(r"number (\d+): (<math .*?</math>)\.", page)
    assert [(number, words(equation)) for number, equation in found] == [
        (str(n), ["x", str(n)]) for n in range(12)
    ]


@pytest.mark.each(
    "text",
    [
        "it costs $5 or $6 a month", "`$HOME` and `$PATH`", "```\na=$HOME; b=$PATH\n```",
        r"a price of \$5 and \$6", "one $ alone",
    ],
)  # fmt: skip
def test_a_dollar_sign_that_opens_no_equation_stays(text):
    assert mathml(text) == text


def test_what_a_panel_has_saved_is_mathml_and_other_outputs_stay():
    saved = '<div class="netcalc-saved"><p>$$t &lt; \\frac{8N}{R}$$</p></div>'
    outputs = [
        new_output("display_data", data={"text/html": data}) for data in (saved, "<p>$$a$$</p>")
    ]
    page = page_of(new_code_cell("pass", outputs=outputs))
    (equation,) = MATH.findall(page)
    assert words_of_saved(equation) == ["t", "<", "8", "N", "R"]
    assert "<p>$$a$$</p>" in page


def words_of_saved(equation):
    return [text for text in ElementTree.fromstring(equation).itertext() if text]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lessons_page_fetches_nothing_and_has_all_its_equations(lesson):
    page, _ = exporter().from_filename(str(lesson))
    assert re.findall(r"""(?:src|href|import)\s*[=(]\s*["']?(?:https?:)?//[^"']+""", page) == []
    assert "@import" not in page
    assert "MathJax" not in page
    # counted by a second way: pairs of dollar signs in the lesson's text
    text = "\n".join(
        line for line in lesson.read_text().splitlines() if "$" in line and "import" not in line
    )
    wanted = len(re.findall(r"\$\$", text)) // 2 + len(re.findall(r"(?<!\$)\$(?!\$)", text)) // 2
    assert len(MATH.findall(page)) == wanted


def test_nbconvert_knows_the_page_by_the_name_of_the_package():
    settings = tomllib.loads((LESSONS[0].parents[1] / "pyproject.toml").read_text())
    written = settings["project"]["entry-points"]["nbconvert.exporters"]["netcalc"]
    assert EntryPoint("netcalc", written, "nbconvert.exporters").load() is Page
