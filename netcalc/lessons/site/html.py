"""Lessons as pages of HTML that need no network.

:class:`Page` is one notebook by ``jupyter nbconvert --to netcalc LESSON``. The page that
``--to html`` writes asks a server for MathJax, which draws the equations, and for the programs of
widgets. Here equations are MathML, which browsers draw themselves, and figures are the saved
pictures.

:func:`lesson_page` is a page of a site: prose, cells, panels, and the way from page to page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor

from netcalc.printable import html_text
from netcalc.version import __version__

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

    def replaced(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        block = match["block"] is not None
        equation = convert(
            html.unescape(match["block"] or match["inline"]).strip(),
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


LIBRARY, PROGRAM, STYLE = "bokeh.min.js", "page.js", "page.css"
UNITS, ANSWERS, THEME = "units.js", "answers.js", "theme.js"
"""Files beside the pages, which all of them share."""
CALCULATOR_LINK = (
    '<h2>The calculator</h2><p><a href="calculator.html">Every formula that a page can compute'
    "</a>, with units and sliders.</p>"
)
SCRIPTS = (LIBRARY, THEME, PROGRAM, UNITS, ANSWERS)
_POLICY = (
    "default-src 'none'; script-src 'self' file: 'unsafe-eval'; style-src 'self' file: "
    "'unsafe-inline'; img-src 'self' file: data: blob:; connect-src 'none'; form-action 'none'; "
    "base-uri 'none'"
)
"""What a browser may load for a page: its own files and nothing else."""
_ANCHOR = re.compile(r'<a class="anchor-link" href="[^"]*">[^<]*</a>')
_TO_LESSON = re.compile(
    r'<a href="([0-9]{2}[a-z]?_[a-z0-9_]+)\.ipynb(#[^"]*)?"([^>]*)>(.*?)</a>', re.S
)
ELEMENTS = ("details", "summary", "code", "em")
"""What lessons use of HTML: an answer that folds out, and how its words look."""
_ABOUT_CELLS = re.compile(r"<!-- cells -->.*?<!-- /cells -->", re.DOTALL)
_ELEMENT = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|</?(?:" + "|".join(ELEMENTS) + r")>", re.DOTALL
)


def without_cells(text: str) -> str:
    """Return the text of a notebook without what is about its cells, for pages that have none.

    Examples
    --------
    >>> without_cells("Read on. <!-- cells -->Press Shift+Enter.<!-- /cells --> Then answer.")
    'Read on.  Then answer.'
    """
    return _ABOUT_CELLS.sub("", text)


def prose(text: str, names: Collection[str] | None = None) -> str:
    """Return Markdown as HTML, with equations as MathML and links to the pages of lessons.

    With the names of the lessons that have a page, a link to another one is its text.

    The elements of :data:`ELEMENTS`, without attributes, are what they are: answers fold out. All
    other HTML is text: it is shown, and does nothing.

    Examples
    --------
    >>> prose("See [lesson 2](02_store_and_forward.ipynb).")
    '<p>See <a href="02_store_and_forward.html">lesson 2</a>.</p>'
    """
    equations: list[str] = []
    writer = MarkdownWithMath(renderer=IPythonRenderer(escape=True))
    held = mathml(without_cells(text), stand_ins=equations)

    def stand_in(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        equations.append(match[0])
        return STAND_IN.format(len(equations) - 1)

    page = writer.render(_ELEMENT.sub(stand_in, held)).strip()
    for index, equation in enumerate(equations):
        page = page.replace(STAND_IN.format(index), equation)
    page = page.replace("<p><details>", "<details>").replace("</details></p>", "</details>")

    def to_page(match: re.Match[str]) -> str:
        name, place, more, shown = match.groups("")
        if names is not None and name not in names:
            return shown
        return f'<a href="{name}.html{place}"{more}>{shown}</a>'

    return _TO_LESSON.sub(to_page, _ANCHOR.sub("", page))


def title_of(content: Mapping[str, Any]) -> str:
    """Return the title of a lesson: its first heading, else its name."""
    for part in content["parts"]:
        heading = re.search(r"^# +(.+)$", part["text"], re.M) if part["kind"] == "prose" else None
        if heading:
            return heading[1].strip()
    return str(content["name"])


def lesson_page(content: Mapping[str, Any], lessons: Sequence[tuple[str, str]]) -> str:
    """Return the page of a lesson.

    Parameters
    ----------
    content : mapping
        What :mod:`netcalc.lessons.site.cells` wrote.
    lessons : sequence of (str, str)
        Name and title of all lessons, in their order.
    """
    body, names = [], {name for name, _ in lessons}
    for part in content["parts"]:
        if part["kind"] == "prose":
            body.append(prose(part["text"], names))
        elif part["kind"] == "code":
            body.append(
                "<details><summary>The code of this step</summary>"
                f"<pre><code>{html_text(part['text'])}</code></pre></details>"
            )
        elif part["kind"] == "text":
            body.append(f"<pre>{html_text(part['text'])}</pre>")
        elif part["kind"] == "html":
            body.append(part["text"])
        elif part["kind"] == "exercise":
            body.append(_exercise(part["id"], *content["exercises"][part["id"]]))
        else:
            body.append(_panel(content["panels"][part["panel"]], part["panel"]))
    if content["exercises"]:
        body.append(_exercises(content))
    return page_of(title_of(content), "\n".join(body), here=content["name"], lessons=lessons)


def page_of(
    title: str, body: str, *, here: str, lessons: Sequence[tuple[str, str]], scripts: bool = True
) -> str:
    """Return a page with its navigation."""
    names = [name for name, _ in lessons]
    items = "".join(
        f'<li><a href="{name}.html"{_current(name == here)}>{html_text(text)}</a></li>'
        for name, text in lessons
    )
    ways = ""
    if here in names:
        at = names.index(here)
        before, after = lessons[:at][-1:], lessons[at + 1 :][:1]
        links = [
            f'<a rel="{rel}" href="{name}.html">{word} {html_text(text)}</a>'
            for rel, word, neighbours in (("prev", "Previous:", before), ("next", "Next:", after))
            for name, text in neighbours
        ]
        ways = f'<nav aria-label="Previous and next lesson">{"".join(links)}</nav>'
    files = (
        "\n".join(f'<script src="{file}" defer></script>' for file in SCRIPTS) if scripts else ""
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{html_text(title)} - netcalc</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{STYLE}">
{files}
</head>
<body>
<a class="skip" href="#content">Skip to the lesson</a>
<header><a href="index.html">netcalc</a>
<nav aria-label="Lessons"><details><summary>All lessons</summary><ol>{items}</ol></details></nav>
</header>
<main id="content">
{body}
</main>
<footer>{ways}
Written by netcalc {html_text(__version__)}. This page fetches nothing and sends nothing.</footer>
</body>
</html>
"""


def contents_page(lessons: Sequence[tuple[str, str]], *, more: str = "") -> str:
    """Return the first page of a site: the list of lessons."""
    items = "".join(
        f'<li><a href="{name}.html">{html_text(title)}</a></li>' for name, title in lessons
    )
    body = (
        "<h1>Network performance: theory drawn on measured points</h1>"
        "<p>The lessons of netcalc as pages. Their sliders work here, without Python and without "
        "a network. Measurements of your own machine need netcalc itself: "
        "<code>netcalc lab</code> opens the same lessons with everything.</p>"
        f'<ol class="lessons">{items}</ol>{more}'
    )
    return page_of("Lessons", body, here="", lessons=lessons, scripts=False)


def _current(is_here: bool) -> str:
    return ' aria-current="page"' if is_here else ""


def _panel(panel: Mapping[str, Any], number: int) -> str:
    """Return the place of a panel: its controls, its picture at the start, and its data."""
    controls = {
        entry["name"]: _control(entry, f"p{number}-{index}", index)
        for index, entry in enumerate(panel["controls"])
    }
    more = "".join(html for name, html in controls.items() if name in panel["more"])
    first = "".join(html for name, html in controls.items() if name not in panel["more"])
    board = f'<div class="controls">{first}</div>' if first else ""
    if more:
        board += (
            f"<details><summary>More: {len(panel['more'])}</summary>"
            f'<div class="controls">{more}</div></details>'
        )
    slots = "".join(f'<div class="slot">{html}</div>' for html in panel["slots"])
    live = "".join(f'<p class="note">{_live(entry)}</p>' for entry in panel["live"])
    kind = f'<p class="note">{_kind(panel)}</p>' if controls else ""
    return f"""<section class="panel" data-table="table-{number}" aria-label="Figure {number + 1}">
{board}
<div class="figure" role="img" aria-label="{html_text(panel["words"])}">{panel["picture"]}</div>
<p class="caption" aria-live="polite">{html_text(panel["words"])}</p>
<p class="message" hidden></p>{slots}{live}{kind}
<script type="application/gzip" id="table-{number}">{panel["data"]}</script>
</section>"""


def _exercises(content: Mapping[str, Any]) -> str:
    """Return the exercises that no cell has shown, the marks, and the data of all."""
    placed = {part["id"] for part in content["parts"] if part["kind"] == "exercise"}
    left = {name: told for name, told in content["exercises"].items() if name not in placed}
    head = "<h2>Exercises with answers</h2>" if left else "<h2>Your marks</h2>"
    boxes = "\n".join(_exercise(name, *told) for name, told in left.items())
    return f"""{head}
{boxes}
<section class="marks" aria-label="Your marks">
<p>What you have answered on this page. Nothing is sent or stored: copy it, if you want to keep
it.</p>
<textarea readonly rows="3" aria-label="Your marks as text"></textarea>
<p><button type="button" disabled>Copy the marks</button>
<span class="note" role="status"></span></p>
<p class="note">The numbers were drawn when the page was written, {content["sheets"]} times for each
exercise; the right values are in the file of the page, for whoever looks for them there.</p>
</section>
<script type="application/gzip" id="exercises">{content["drawn"]}</script>"""


def _exercise(name: str, topic: str, text: str) -> str:
    topic = html_text(topic[:1].upper() + topic[1:])
    topic = f"{topic} ({html_text(name)})"
    return f"""<section class="exercise" data-exercise="{html_text(name)}" aria-label="{topic}">
<p><b>{topic}.</b> <span class="question">{html_text(text)}</span></p>
<form><label for="answer-{html_text(name)}">Your answer, with its unit</label>
<input id="answer-{html_text(name)}" type="text" autocomplete="off" maxlength="200" disabled>
<button type="submit" disabled>Check</button>
<button type="button" class="renew" disabled>New numbers</button></form>
<div class="said" role="status"></div><div class="solution"></div>
</section>"""


def _control(control: Mapping[str, Any], name: str, index: int) -> str:
    place = f'class="control" data-index="{index}"'
    label, start = html_text(control["label"]), control["start"]
    title = f'<label for="{name}">{label}</label>'
    if control["kind"] == "slider":
        text = html_text(control["texts"][start])
        return (
            f"<div {place}>{title}"
            f'<input type="range" id="{name}" min="0" '
            f'max="{len(control["texts"]) - 1}" step="1" value="{start}" aria-valuetext="{text}" '
            f'autocomplete="off" disabled><output for="{name}">{text}</output></div>'
        )
    if control["kind"] == "list":
        entries = "".join(
            f'<option value="{index}"{" selected" if index == start else ""}>{html_text(text)}'
            "</option>"
            for index, text in enumerate(control["texts"])
        )
        return (
            f"<div {place}>{title}"
            f'<select id="{name}" autocomplete="off" disabled>'
            f"{entries}</select></div>"
        )
    if control["kind"] == "box":
        ticked = " checked" if start else ""
        return (
            f'<div {place.replace("control", "control box", 1)}><input type="checkbox" '
            f'id="{name}" autocomplete="off"{ticked} disabled>{title}</div>'
        )
    text = html_text(control["texts"][0]) if control["texts"] and control["texts"][0] else "(empty)"
    return (
        f'<div {place}><span>{label}</span><span class="fixed">{text} '
        "(fixed in this page)</span></div>"
    )


def _kind(panel: Mapping[str, Any]) -> str:
    """Say where the figure's numbers come from when a control moves."""
    if panel["joint"]:
        return f"A table of {panel['count']} stored values: one for each position of the controls."
    return (
        f"A table of {panel['count']} stored values: when you move one control, the others go "
        "back to their start."
    )


def _live(note: Mapping[str, str]) -> str:
    """Say what a page cannot do, and the command that can."""
    told = f"<code>{html_text(note['command'])}</code>"
    if note["kind"] == "run":
        return f"{html_text(note['label'])}: a page cannot measure. In a terminal: {told}."
    return f"{html_text(note['label'])}: a page reads no file. In a terminal: {told}."
