"""Panels of all lessons in a language that marks each text; lessons 00 and 01 in real ones."""

from __future__ import annotations

import gettext
import importlib
import inspect
import io
import json
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path

import ipywidgets
import pytest
from bokeh.models import HoverTool, Legend

from netcalc import calculator, datasets, explain, language, lessons, units
from netcalc.errors import UnitError
from netcalc.language import notebooks
from netcalc.lessons import exercise, latency, store_and_forward
from netcalc.path import Path as NetworkPath
from netcalc.plots.pictures import charts
from netcalc.widgets.guess import Guess, compared

sys.path.insert(0, str(Path(__file__).parents[1]))
import catalogues

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LANGUAGES = ("de", "zh_CN")
LESSONS = sorted(set(lessons.__all__) - {"exercise", "site"})
NAMES = re.compile(
    r"\[[a-z/]+\]|T1|T3|\d* ?Mb/s|[\d.]+ ?(?:[kKMGT]i?)?(?:bit/s|B|ms|s)|Stevens|UDP|TCP|IPv4|IPv6"
    r"|[\w.]+ - [\w.]+|d \+ 8N/R|Reno|CUBIC|BBR|ns-3|TCP_NODELAY|4\.4BSD|FreeBSD|Linux|M/\w+/1"
    r"|ACK|p99|BDP|MTU|RTT|traceroute|Myrinet|XP1000"
)
"""Names, quantities and equations: the same in every language."""


IN_ENGLISH = {
    # Names of arguments, as they are typed and as the equation has them, and what is searched for.
    "calculator.calculator_panel": "payload bytes bandwidth bps latency transfer netcalc calc "
    "over rtt wait",
    # Flows, and colours of a printed figure: the data set names its curves by them.
    "congestion_control.figures_panel": "flow",
    "congestion_control.requests_panel": "blue red yellow green orange",
    # Names of facts, as in JSON, and who counted them.
    "own_file.file_panel": "ICMP count duplicate iputils loss max median min packets "
    "ping printed ratio received round rtt sender sent target trip",
    "own_file.puzzle_panel": "ICMP RAW byte captured connections count echo far flow "
    "flows frames handshake handshakes icmp ipv kept link min packet packets pair "
    "retransmission round rtt segments span tcp trip type udp was where",
}
"""Words of a panel that are no text of a person, by panel; each is shown, and none besides."""


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    language.use(language.ENGLISH)


@pytest.fixture(scope="module")
def texts() -> set[str]:
    """What is extracted from the sources."""
    return {str(one.id) for one in catalogues.extracted("netcalc") if one.id}


def marked(text: str) -> str:
    """Return a text as the language of this test has it."""
    return text if text.startswith("⟦") else f"⟦{text}⟧"


def bare(text: str) -> str:
    """Return the words of a text that are outside all marks, without names and quantities."""
    depth, outside = 0, ""
    for letter in text:
        depth += letter == "⟦"
        outside += "" if depth else letter
        depth -= letter == "⟧"
    return " ".join(re.findall(r"[^\W\d_]{3,}", NAMES.sub(" ", outside)))


def shown(widget) -> Iterator[str]:
    """Yield the texts of a widget and of those in it."""
    for name in ("description", "tooltip", "placeholder", "label"):
        if isinstance(said := getattr(widget, name, None), str):
            yield said
    if isinstance(widget, ipywidgets.Dropdown):
        yield from map(str, widget._options_labels)
    if isinstance(widget, ipywidgets.HTML):
        yield re.sub(r"<[^>]*>", " ", widget.value)
    for name in ("words", "_words"):
        words = getattr(widget, name, None)
        if isinstance(words, dict):
            yield from words.values()
    for child in getattr(widget, "children", ()):
        yield from shown(child)


def drawn(figure) -> Iterator[str]:
    """Yield the texts of a figure."""
    for chart in charts(figure.plot.figure):
        yield str(chart.title.text.text)
        for axis in (chart.xaxis[0], chart.yaxis[0]):
            if axis.axis_label:
                yield axis.axis_label.text
        for legend in chart.select(Legend):
            yield from (str(item.label.value) for item in legend.items)
        for tool in chart.select(HoverTool):
            yield from (what for what, _ in tool.tooltips)


def panels(lesson: str) -> Iterator[tuple[str, object]]:
    """Yield the panels of a lesson that need no argument."""
    module = importlib.import_module(f"netcalc.lessons.{lesson}")
    for name, make in inspect.getmembers(module, inspect.isfunction):
        own = make.__module__ == module.__name__ and name.endswith("_panel")
        needed = [
            one for one in inspect.signature(make).parameters.values()
            if one.default is one.empty
        ]  # fmt: skip
        if own and not name.startswith("_") and not needed:
            yield f"{lesson}.{name}", make


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_visible_text_of_a_panel_is_asked_of_the_catalogue(lesson, texts):
    asked: set[str] = set()

    def mark(text: str) -> str:
        asked.add(text)
        return marked(text)

    language.use_lookup(mark)
    for name, make in panels(lesson):
        panel = make()
        said = [*drawn(panel.figure), panel.figure.description, *shown(panel)]
        found = {word for text in said for word in bare(text).split()}
        assert found == set(IN_ENGLISH.get(name, "").split()), name
    own = {one for one in asked if "⟦" not in one and bare(one)}
    assert sorted(one for one in own - texts if " " in one) == []


def what_lessons_00_and_01_say() -> set[str]:
    """Return the texts that the panels and exercises of both lessons ask for."""
    asked: set[str] = set()

    def note(text: str) -> str:
        asked.add(text)
        return text

    language.use_lookup(note)
    made = [
        latency.transfer_panel(), latency.balance_panel(), latency.distance_panel(),
        latency.wan_panel(), latency.one_message_panel(), latency.echo_panel(),
        latency.round_trip_panel(datasets.load("ping_emulated_t1")),
    ]  # fmt: skip
    for panel in made:
        panel.figure.plot.document()
        for control in panel.controls.values():
            if hasattr(control, "low"):
                control.value = control.low
                for typed in ("x", "5", "5 M", "1e99 B", "3 parsec", ""):
                    control.box.value = typed
    made[5].controls["links"].value = "T1 40 ms"
    for line in ("T1 30 ms", "10 Gbit/s 30 ms", "T1 5 ms, T1 5 ms, T1 1 ms"):
        str(explain.transfer(1428, path=NetworkPath.parse(line)))
    for value in (1.0, 0.5, 0.99, 1.01, 2.0, 0.0):
        compared(Guess("size", "s", value, ""), 1.0)
    for name in ("TR1", "TR2", "TR3", "UN1", "PR1", "RT1"):
        box = exercise.box(name)
        wrong = box.question.template.wrong
        asked |= {text for one in wrong for text in (one.name, one.sentence, one.ask)}
        for answer in ("", "abc", "7", "7 kg", "5 M", "7 s", "8 s", "9 s"):
            box.check(answer)
        box.plain()
    return {text for text in asked if bare(text) and " " in text}


def test_lessons_00_and_01_are_translated(texts):
    asked = what_lessons_00_and_01_say() & texts
    assert len(asked) > 180  # 21 sentences of each of six exercises, and what panels say
    for code in LANGUAGES:
        known = {one.id for one in catalogues.translations(code, "netcalc") if one.string}
        assert sorted(asked - known) == [], code


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_text_of_notebooks_00_and_01_is_translated(code):
    translate = language.catalogue(code, language.NOTEBOOKS)
    for name in ("00_start_here", "01_latency_and_bandwidth"):
        cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        blocks = [
            block
            for cell in cells if cell["cell_type"] == "markdown"
            for block in notebooks.blocks("".join(cell["source"]))
            if re.search(r"[a-z]{3} [a-z]{2}", block) and not block.startswith("    ")
        ]  # fmt: skip
        assert len(blocks) > 10
        assert [block for block in blocks if translate(block) == block] == [], name


def fields(text: str) -> list[str]:
    """Return the fields of a template; of a count with its noun without the noun."""
    found = [
        (name, spec if "|" not in (spec or "") else "noun", mark)
        for _, name, spec, mark in string.Formatter().parse(text)
        if name is not None
    ]
    return sorted(map(str, found))


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_translation_has_the_fields_code_and_links_of_its_original(code):
    for one in catalogues.translations(code, "netcalc"):
        if one.id:
            assert fields(one.string) == fields(one.id), one.id
    kept = re.compile(r"`[^`]*`|\]\([^)]*\)|\$[^$]*\$|</?\w+>")
    for one in catalogues.translations(code, "lessons"):
        if one.id:
            assert sorted(kept.findall(one.string)) == sorted(kept.findall(one.id)), one.id


@pytest.mark.parametrize("domain", catalogues.METHODS)
def test_the_files_of_translations_are_current_and_compiled(domain):
    known = {one.id for one in catalogues.extracted(domain)}
    for code in LANGUAGES:
        catalog = catalogues.translations(code, domain)
        assert {one.id for one in catalog if one.id} - known == set(), code
        compiled = catalogues.po_file(code, domain).with_suffix(".mo").read_bytes()
        # Its head names the version of Babel that made it.
        assert texts_of(compiled) == texts_of(catalogues.compiled(catalog))


def texts_of(compiled: bytes) -> dict[str, str]:
    """Return the translations of a compiled catalogue, without its head."""
    found = gettext.GNUTranslations(io.BytesIO(compiled))._catalog
    return {text: said for text, said in found.items() if text}


def test_what_a_language_lacks_is_english_and_numbers_stay():
    language.use("de")
    assert language.phrase("No bit is faster than light") == "Kein Bit ist schneller als das Licht"
    assert language.phrase("not in any catalogue {n}", n=1.5) == "not in any catalogue 1.5"
    assert language.phrase("") == ""
    panel = latency.transfer_panel()
    assert (
        panel.figure.description
        == "Die Laufzeit begrenzt diese Übertragung: 30 ms von 38 ms (79%)."
    )
    panel.controls["latency_s"].box.value = "5"
    assert "braucht eine Einheit" in panel.controls["latency_s"].message.value
    said = str(explain.transfer(1e6, path=NetworkPath.parse("T1 30 ms")))
    assert "\n  Laufzeit: 30 ms (1%)" in said
    assert "\nZum Bestätigen: " in said
    language.use("fi")
    assert language.current() == "en"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("zh", "zh_CN"), ("zh-Hans", "zh_CN"), ("zh_Hans_SG", "zh_CN"), ("zh_SG.UTF-8", "zh_CN"),
        ("zh_cn", "zh_CN"), ("ZH_CN.utf8", "zh_CN"), ("DE", "de"), ("de_AT@euro", "de"),
        ("zh_TW", "en"), ("zh_Hant", "en"), ("zh_HK:de", "de"), ("C:de", "en"), ("posix", "en"),
    ],
)  # fmt: skip
def test_a_language_is_found_by_each_of_its_names(name, code):
    assert language.choose({"LANG": name}) == code


def test_the_example_of_a_refused_quantity_is_translated():
    """Each of the sentences that name one; the sentences themselves are translated elsewhere."""
    language.use_lookup(lambda text: f"<{text}>" if text == "1200 calls/h" else text)
    try:
        for text in ("", "soon", "3 parsec", "3 MB"):
            with pytest.raises(UnitError) as error:
                units.parse(text, "call/s")
            assert error.value.values["example"] == "<1200 calls/h>", text
        with pytest.raises(UnitError) as error:
            units.parse("3", "call/s")
        assert error.value.values["readings"] == ["<1200 calls/h>"]
    finally:
        language.use("en")


def test_a_copy_of_the_lessons_follows_the_language_and_keeps_its_code():
    original = (NOTEBOOKS / "00_start_here.ipynb").read_bytes()
    german = json.loads(notebooks.in_language(original, "de"))
    english = json.loads(original)
    assert german["cells"][0]["source"][0] == "# Hier anfangen\n"
    for one, other in zip(german["cells"], english["cells"], strict=True):
        if one["cell_type"] == "code":
            assert one == other
        assert {**one, "source": 0} == {**other, "source": 0}
    assert notebooks.in_language(original, "en") == original


def test_the_ends_of_a_path_that_is_played_are_translated():
    language.use_lookup(marked)
    moving = next(one for one in store_and_forward.train_panel().below if hasattr(one, "nodes"))
    assert moving.nodes[0] == "⟦source⟧"
    assert moving.nodes[-1] == "⟦destination⟧"


def test_a_title_keeps_its_capital_where_nouns_have_one():
    wait, fairness = calculator.formula("mm1-wait"), calculator.formula("jain-index")
    assert wait.short_title == "mean wait"
    assert fairness.short_title == "Jain's fairness index"
    language.use("de")
    assert wait.short_title[0].isupper()


def test_no_plural_is_made_of_a_letter(texts):
    assert [one for one in texts if re.search(r"[a-z]\{value\}", one)] == []
