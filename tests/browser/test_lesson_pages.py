"""Pages of lessons from a disk: sliders and answers work without a kernel and without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcalc import exercises, units
from netcalc.lessons import latency as panels
from netcalc.lessons.site.build import build
from netcalc.lessons.site.cells import RELATIVE_ERROR
from netcalc.plots.style import PAPERS
from tests.browser.axe_table import findings

pytestmark = [pytest.mark.browser, pytest.mark.core]

CELLS = (
    (
        "markdown",
        "# 1. A lesson & its <script>alert(1)</script>\n\nThe time is $t = d + 8N/R$.\n\n"
        "[Here](01_lesson.ipynb#top), not [next](02_next.ipynb).",
    ),
    ("code", "from netcalc.lessons import latency as panels\n\npanels.transfer_panel()"),
    ("code", "panels.distance_panel()"),
    ("code", "print('<b>not bold</b>')\nprint('wider than a page ' * 30)"),
    ("code", "from netcalc.lessons import latency\n\nlatency.echo_panel('T1 40 ms')"),
    ("code", "from netcalc.lessons import store_and_forward\n\nstore_and_forward.timeline_panel()"),
    ("code", "from netcalc.lessons import exercise\n\nexercise.box('TR1')"),
)
TYPED = (
    "", "   ", "12", "0", "0 s", "13,2 ms", "1,234 ms", "1.234,5 ms", "1 234,5 ms", "12'000 ms",
    "5 mb", "5 Mb", "<script>alert(1)</script>", "NaN", "inf s", "10^400 s", "1e400 s", "-5 ms",
    "½ s", "12 parsec", "3 x 10^-3 s", "1.32 × 10⁻² s", "٣ ms", "T1", "T1 nominal", "1 h 5 min",
    "12 packets", "12 Packets", "about 5 s", "t = 5 s", "10G", "100 mbps", "1,5 MB", "80%", "0.8",
    "1/1000", "5 m", "5 M", "12 pps", "12 km", "1.2.3 s", "--5 s", "5 seconds", "5 s s", "5 ms.",
    "$5$ ms", "10^6 byte", "64-byte", "5 MB/s", "x" * 150,
)  # fmt: skip
"""What people type, and what they should not."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one lesson."""
    folder = tmp_path_factory.mktemp("site")
    cells = [
        {"cell_type": kind, "source": source, "metadata": {}}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for kind, source in CELLS
    ]
    lesson = folder / "01_lesson.ipynb"
    lesson.write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    build(folder / "pages", lessons=[lesson])
    return folder / "pages"


@pytest.fixture(scope="module")
def lesson(site: Path, browser: Any) -> Iterator[Any]:
    """The page in a window; its errors and the addresses that it asked for."""
    window = browser.new_context(viewport={"width": 1280, "height": 900})
    page = window.new_page()
    page.complaints, page.asked = [], []

    def complain(said: Any) -> None:
        if said.type in ("error", "warning"):
            page.complaints.append(said.text)

    page.on("console", complain)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto((site / "01_lesson.html").as_uri())
    for number in range(page.locator(".panel").count()):
        page.locator(".panel").nth(number).scroll_into_view_if_needed()
        page.wait_for_function(
            "i => document.querySelectorAll('.panel .figure')[i].netcalc", arg=number
        )
    yield page
    window.close()


def move(page: Any, panel: int, control: int, position: int) -> None:
    """Move a control of a panel as its user does."""
    page.locator(".panel").nth(panel).locator("input, select").nth(control).evaluate(
        """(input, position) => {
          if (input.type === 'checkbox') input.checked = position === 1;
          else input.value = String(position);
          input.dispatchEvent(new Event('input', { bubbles: true }));
        }""",
        position,
    )


def column(page: Any, panel: int, source: str, name: str) -> Any:
    """Return a column of a figure as the page holds it."""
    return np.array(
        page.evaluate(
            """([panel, source, name]) => {
              const drawn = document.querySelectorAll('.panel .figure')[panel].netcalc;
              const models = [...drawn.document._all_models.values()];
              return [...models.find(one => one.data && one.name === source).data[name]];
            }""",
            [panel, source, name],
        ),
        dtype=float,
    )


def test_a_slider_moves_the_curve_and_the_caption_as_the_panel_does(lesson: Any) -> None:
    move(lesson, 0, 0, 2)
    told = lesson.locator(".panel").first.locator("output").first.text_content()
    shown = panels.transfer_panel()
    shown.controls["latency_s"].value = units.parse(told, "s")
    expected = np.asarray(shown.figure.plot.sources["your line"].data["y"])  # second method: Python
    found = column(lesson, 0, "your line", "y")
    assert found == pytest.approx(expected, rel=RELATIVE_ERROR * 1.01)
    caption = lesson.locator(".panel .caption").first
    assert caption.text_content() == shown.figure.description


def test_two_controls_move_together(lesson: Any) -> None:
    for control, position in ((0, 5), (1, 30)):
        move(lesson, 1, control, position)
    outputs = lesson.locator(".panel").nth(1).locator("output")
    shown = panels.distance_panel()
    shown.controls["distance_m"].value = units.parse(outputs.nth(0).text_content(), "m")
    shown.controls["rtt_s"].value = units.parse(outputs.nth(1).text_content(), "s")
    said = lesson.locator(".panel .caption").nth(1).text_content()
    assert said == shown.figure.description
    x, y = shown.controls["distance_m"].value, shown.controls["rtt_s"].value
    assert column(lesson, 1, "your path", "x") == pytest.approx([x], rel=RELATIVE_ERROR * 1.01)
    assert column(lesson, 1, "your path", "y") == pytest.approx([y], rel=RELATIVE_ERROR * 1.01)


def test_another_form_of_a_figure_is_drawn(lesson: Any) -> None:
    before = lesson.locator(".panel .caption").nth(2).text_content()
    move(lesson, 2, 0, 0)
    lesson.wait_for_function(
        "before => document.querySelectorAll('.panel .caption')[2].textContent !== before",
        arg=before,
    )
    assert column(lesson, 2, "Stevens' loopback, UDP: minimum and maximum", "x").size == 4


def test_a_control_moved_alone_puts_the_others_back(lesson: Any) -> None:
    panel = lesson.locator(".panel").nth(3)
    assert "go back to their start" in panel.text_content()
    starts = panel.locator("output").all_text_contents()
    move(lesson, 3, 0, 3)
    move(lesson, 3, 1, 3)
    now = panel.locator("output").all_text_contents()
    assert [a == b for a, b in zip(now, starts, strict=True)].count(False) == 1


def test_keys_move_a_slider_and_it_has_a_name_and_a_value(lesson: Any) -> None:
    slider = lesson.locator(".panel input[type=range]").first
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    slider.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") != before
    assert lesson.get_by_label("latency", exact=True).count() == 1


def test_answers_are_judged_as_in_python(lesson: Any) -> None:
    asked = []
    for template in exercises.templates():
        if template.lesson != "01":
            continue
        for sheet in (1, 2, 20):
            question = exercises.draw(template.id, student="page", sheet=str(sheet))
            right = question.answer
            values = [right * by for by in (1.0, 1.004, 8, 0.125, 10, 1e-3, 1024, 2, 0.97, 1.3)]
            values += [*question.wrong_answers.values(), 1 / right if right else 1.0]
            typed = [units.show(v, template.unit, digits=d) for v in values for d in (2, 3, 6)]
            asked += [(template.id, sheet, text) for text in (*typed, *TYPED)]
    found = lesson.evaluate(
        "asked => asked.map(([name, sheet, text]) => netcalcPage.judge(name, sheet, text))", asked
    )
    differ = []
    for (name, sheet, text), judged in zip(asked, found, strict=True):
        question = exercises.draw(name, student="page", sheet=str(sheet))
        expected = question.check(text).as_dict()  # second method: the engine
        if judged != expected:
            differ.append((name, sheet, text, judged, expected))
    assert not differ, f"{len(differ)} of {len(asked)}: {differ[:3]}"


def test_a_mistake_is_named_at_the_second_try_and_solved_after_the_third(lesson: Any) -> None:
    box = lesson.locator(".exercise[data-exercise=TR1]")
    question = exercises.draw("TR1", student="page", sheet="1")
    assert box.locator(".question").text_content() == question.text
    name, value = next(iter(question.wrong_answers.items()))
    for attempt in (1, 2, 3):
        box.locator("input").fill(units.show(value, "s", digits=6))
        box.get_by_role("button", name="Check").click()
        said = box.locator(".said").text_content()
        assert (name.lower() in said.lower()) == (attempt > 1)
        assert ("Worked solution" in box.text_content()) == (attempt == 3)
    assert question.solution().result in box.locator(".solution").text_content()
    assert "TR1: not right, 3 answers" in lesson.locator(".marks textarea").input_value()
    box.get_by_role("button", name="New numbers").click()
    other = exercises.draw("TR1", student="page", sheet="2")
    assert box.locator(".question").text_content() == other.text
    box.locator("input").fill(units.show(other.answer, "s", digits=6))
    box.locator("input").press("Enter")
    assert box.locator(".said").text_content() == "Right."
    assert "TR1: right" in lesson.locator(".marks textarea").input_value()


def test_what_a_page_cannot_do_is_told_with_the_command(lesson: Any) -> None:
    assert "netcalc run echo" in lesson.locator(".panel").nth(2).text_content()


def test_text_of_a_lesson_is_no_html(lesson: Any) -> None:
    assert lesson.locator("main script:not([type])").count() == 0
    assert "<b>not bold</b>" in lesson.locator("main").text_content()
    assert lesson.locator("math").count() >= 1
    main = lesson.get_by_role("main")
    here = main.get_by_role("link", name="Here", exact=True)
    assert here.get_attribute("href") == "01_lesson.html#top"
    assert "Here, not next." in main.text_content()
    assert main.get_by_role("link", name="next", exact=True).count() == 0, "it has no page"


LOOK = """async () => {
  // A browser tells of another colour scheme in its next frame.
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [...document.querySelectorAll('.panel .figure')].map(el => {
  const models = [...el.netcalc.document._all_models.values()];
  const chart = models.find(one => one.frame_width !== undefined && one.background_fill_color);
  const packets = models.find(one => one.data?.color);
  return [chart.background_fill_color, [...(packets?.data.color ?? [])].join()];
  });
}"""


def test_figures_follow_the_theme_of_the_system_at_once_and_back(lesson: Any) -> None:
    light = lesson.evaluate(LOOK)
    lesson.emulate_media(color_scheme="dark")
    dark = lesson.evaluate(LOOK)
    move(lesson, 0, 0, 3)  # new columns of a dark figure
    lesson.emulate_media(color_scheme="light")
    assert {paper for paper, _ in dark} == {PAPERS["dark"]}
    coloured = [(one, other) for (_, one), (_, other) in zip(light, dark, strict=True) if one]
    assert [one == other for one, other in coloured] == [False]  # of the timeline
    assert lesson.evaluate(LOOK) == light


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800), (640, 400), (960, 540)])
def test_a_slider_and_its_figure_are_on_the_screen_together(
    lesson: Any, width: int, height: int
) -> None:
    """The last two are 1280 x 800 and 1920 x 1080 at 200 %."""
    lesson.set_viewport_size({"width": width, "height": height})
    found = lesson.evaluate(
        """async () => {
          const frame = () => new Promise(requestAnimationFrame);
          const found = [];
          for (const panel of document.querySelectorAll('.panel')) {
            const controls = [...panel.querySelectorAll(':scope > .controls .control')]
              .filter(one => one.clientHeight).slice(0, 4);
            panel.scrollIntoView();
            for (let i = 0; i < 6; i++) await frame();
            const rows = new Map();
            for (const control of controls) {
              const { top } = control.getBoundingClientRect();
              rows.set(top, (rows.get(top) ?? 0) + 1);
            }
            const alone = rows.size > 1 && new Set(rows.values()).size > 1
              && [...rows.values()].includes(1);
            for (const control of controls) {
              const input = control.querySelector('input, select');
              if (!input) continue;
              if (control.getBoundingClientRect().bottom > innerHeight)
                control.scrollIntoView({ block: 'end' });
              await frame();
              const figure = panel.querySelector('.figure').getBoundingClientRect();
              const box = control.getBoundingClientRect();
              const seen = Math.min(innerHeight, figure.bottom) - Math.max(0, figure.top);
              const covered = figure.top < box.top && figure.bottom > box.bottom;
              found.push({ share: seen / figure.height, alone, covered, bottom: box.bottom,
                           target: input.getBoundingClientRect().height });
            }
          }
          return found;
        }"""
    )
    assert len(found) > 6
    for one in found:
        assert one["share"] >= 0.5, one
        assert not one["alone"], one
        assert not one["covered"], one
        assert one["bottom"] <= height + 1, one
        assert one["target"] >= 24, one  # WCAG 2.2, success criterion 2.5.8


@pytest.mark.parametrize("width", [390, 900, 1920])
def test_no_page_is_wider_than_its_window(lesson: Any, width: int) -> None:
    lesson.set_viewport_size({"width": width, "height": 900})
    lesson.wait_for_timeout(200)
    assert lesson.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_nothing_is_fetched_and_nothing_complains(lesson: Any, site: Path) -> None:
    own = site.as_uri()
    assert [one for one in lesson.asked if not one.startswith((own, "data:", "blob:"))] == []
    assert lesson.complaints == []


def test_the_values_of_a_figure_are_in_a_table_under_it(lesson: Any) -> None:
    panel = lesson.locator(".panel").nth(1)
    summary = panel.locator(".netcalc-values summary")
    assert panel.locator(".netcalc-values table").count() == 0
    summary.press("Enter")
    rows = panel.get_by_role("table", name="light in vacuum (40 of 101 values)").get_by_role("row")
    # derived: there and back over 20,000 km at 299,792.458 km/s
    assert rows.last.inner_text().split("\t") == ["20000 km", "133.4 ms"]
    assert [one for one in findings(lesson) if one.is_serious] == []
    summary.press("Enter")
    assert lesson.complaints == []
