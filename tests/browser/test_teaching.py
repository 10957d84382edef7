"""Guesses before figures, where only a real browser can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc import exercises

TEACHING = Path(__file__).with_name("teaching.ipynb")
TRANSFER, TIMELINE, ARTICLE = 0, 1, 2

SHOWN_MARKS = """figure => {
  const el = [...document.querySelectorAll('.netcalc-figure')].filter(e => e.netcalc)[figure];
  const marks = [...el.netcalc.document.roots()[0].references()]
    .filter(one => one.type === 'GlyphRenderer' && one.visible);
  return marks.map(one => one.name).sort();
}"""
MIDDLE = """figure => {
  const el = [...document.querySelectorAll('.netcalc-figure')].filter(e => e.netcalc)[figure];
  const { document: drawn } = el.netcalc;
  const view = drawn.views_manager.get_one(drawn.roots()[0]);
  const box = view.el.getBoundingClientRect();
  return [box.x + view.frame.x_scale.compute(1e6), box.y + view.frame.y_scale.compute(1.0)];
}"""


STORED_BEFORE_DRAWN = """panel => {
  const figure = panel.querySelector(':scope > .netcalc');
  const outputs = panel.closest('.jp-OutputArea').querySelectorAll('.jp-OutputArea-child');
  const stored = [...outputs].filter(el => !el.contains(panel));
  figure.classList.remove('netcalc-drawn');
  const shown = stored.filter(el => el.checkVisibility()).map(el => el.textContent);
  figure.classList.add('netcalc-drawn');
  if (stored.length !== 2) throw new Error(`${stored.length} stored outputs`);
  return shown;
}"""


def panel_of(page, number):
    """The panel around a figure."""
    return page.page.locator(".netcalc-panel").nth(number)


@pytest.mark.untouched
@pytest.mark.shown("lab voila", TEACHING)
def test_a_figure_is_covered_until_a_guess_is_typed(page):
    page.wait_figures(3)
    panel = panel_of(page, TRANSFER)
    assert page.page.evaluate(SHOWN_MARKS, TRANSFER) == ["your guess"]
    assert panel.locator(".netcalc-caption").inner_text() == ""
    page.figure(TRANSFER)
    page.wait_painted()
    page.screenshot("covered")
    # Nor does the picture for readers without a kernel show it while the figure is not drawn yet.
    assert panel.evaluate(STORED_BEFORE_DRAWN) == []

    # What cannot be read is answered beside the field, and nothing is shown.
    field = panel.get_by_label("Your guess, with its unit")
    field.fill("5 bananas")
    field.press("Enter")
    panel.get_by_role("alert").filter(has_text="5 bananas").wait_for()
    assert page.page.evaluate(SHOWN_MARKS, TRANSFER) == ["your guess"]

    # A click in the figure sets the guess: 1 s, where the axis has it, within a pixel or two.
    page.figure(TRANSFER)
    page.page.mouse.click(*page.page.evaluate(MIDDLE, TRANSFER))
    page.wait_for("""() => {
      const text = document.querySelector('.netcalc-guess input[type=text]').value;
      return text.endsWith(' s') || text.endsWith(' ms');
    }""")
    assert field.input_value() in (
        "1 s",
        *(f"{n} ms" for n in range(930, 1000)),
        "1.03 s",
        "1.05 s",
    )

    field.fill("76 ms")
    field.press("Enter")
    verdict = panel.locator(".netcalc-verdict")
    # derived: 30 ms + 8 x 1 MB / 1 Gbit/s = 38 ms, half of the guess
    verdict.filter(has_text="the model says 38 ms; your guess is 2 times the model").wait_for()
    assert verdict.get_attribute("role") == "status"
    assert "T1" in page.page.evaluate(SHOWN_MARKS, TRANSFER)
    assert page.column("your guess", "y") == [pytest.approx(0.076)]
    assert page.column("your guess", "x") == [1e6]
    assert "limits" in panel.locator(".netcalc-caption").inner_text()
    page.figure(TRANSFER)
    page.wait_painted()
    page.screenshot("revealed")
    # It stays when the model moves.
    page.type_into(0, "1 s")
    page.wait_first("T1", "y", 1 + 800 / 1.544e6)
    assert page.column("your guess", "y") == [pytest.approx(0.076)]
    assert page.complaints() == []


@pytest.mark.shown("lab voila", TEACHING)
def test_a_guess_is_made_by_keyboard_alone(page):
    page.wait_figures(3)
    panel = panel_of(page, ARTICLE)
    slider = panel.get_by_label("Your guess on the axis")
    slider.scroll_into_view_if_needed()
    slider.focus()
    start = panel.get_by_label("Your guess, with its unit").input_value()
    for _ in range(40):
        slider.press("ArrowRight")
    field = panel.get_by_label("Your guess, with its unit")
    assert field.input_value() != start
    # derived: the axis goes from 0 to 250 ms in 1000 steps, and the slider begins in its middle
    assert field.input_value() == "135 ms"
    assert slider.get_attribute("aria-valuetext") == "135 ms"
    assert slider.evaluate("el => getComputedStyle(el).outlineStyle") == "solid"
    page.wait_painted()
    page.screenshot("keyboard")
    slider.press("Tab")
    focused = "() => document.activeElement.textContent"
    assert page.page.evaluate(focused) == "Compare with the model"
    page.page.keyboard.press("Enter")
    # derived: two round trips of 20 ms and a delayed acknowledgement of 100 ms
    verdict = panel.locator(".netcalc-verdict")
    verdict.filter(has_text="the model says 140 ms; your guess is 3.6% below").wait_for()
    assert "the model says 140 ms" in page.page.evaluate(focused), "what had the focus is gone"
    assert page.column("your guess", "y", ARTICLE) == [pytest.approx(0.135)]
    page.figure(ARTICLE)
    page.wait_painted()
    page.screenshot("dark")
    assert page.complaints() == []


@pytest.mark.shown("lab", TEACHING)
def test_the_controls_behind_the_button(page):
    page.wait_figures(3)
    panel = panel_of(page, TIMELINE)
    more = panel.get_by_role("button", name="More controls (1)")
    assert more.get_attribute("aria-expanded") == "false"
    assert panel.get_by_label("each node").first.is_hidden()
    more.focus()
    page.page.keyboard.press("Enter")
    fewer = panel.get_by_role("button", name="Fewer controls (1)")
    assert fewer.get_attribute("aria-expanded") == "true"
    controls = fewer.get_attribute("aria-controls")
    assert panel.locator(f"#{controls}").get_by_text("each node").is_visible()
    page.screenshot("more")
    fewer.click()
    assert panel.locator(f"#{controls}").is_hidden()
    assert page.complaints() == []


def box_of(page, number):
    """An exercise's box, and the field for its answer."""
    box = page.page.locator(".netcalc-exercise").nth(number)
    return box, box.get_by_role("textbox", name="Answer to TR1, with its unit")


@pytest.mark.shown("lab voila", TEACHING)
def test_three_wrong_answers_and_then_the_right_one(page):
    page.wait_figures(3)
    box, field = box_of(page, 0)
    said = box.locator(".netcalc-said")
    page.wait_for("""() => document.querySelector('.netcalc-said')?.getAttribute('role')
                           === 'status'""")
    assert page.page.get_by_role("group", name="TR1").locator(".netcalc-said").count() > 0
    question = exercises.draw("TR1", student="s1", sheet="monday")
    assert question.text in box.inner_text()
    # derived: the size in bytes over the rate in bit/s, and the latency
    values = question.values
    wrong = f"{values['d'] + values['N'] / values['R']:.5g} s"

    field.fill("5 bananas")
    field.press("Enter")
    said.get_by_text("does not count").wait_for()
    field.fill(wrong)
    field.press("Enter")
    said.get_by_text("How many bits are in the file?").wait_for()
    assert "bytes taken" not in said.inner_text()
    box.get_by_role("button", name="Check the answer to TR1").click()
    said.get_by_text("Bytes taken for bits").wait_for()
    box.locator(".netcalc-figure").wait_for(state="detached")
    page.wait_painted()
    field.scroll_into_view_if_needed()
    page.screenshot("named")
    field.press("Enter")
    page.wait_figures(4)
    box.get_by_text("Worked solution").wait_for()
    assert page.column("your answer", "x", 3) == [values["N"]]
    at = page.column("bytes taken for bits", "x", 3)
    assert page.column("bytes taken for bits", "y", 3) == pytest.approx(
        [values["d"] + n / values["R"] for n in at]
    )
    assert page.column("right", "y", 3) == pytest.approx(
        [values["d"] + 8 * n / values["R"] for n in at]
    )
    box.locator(".netcalc-figure").scroll_into_view_if_needed()
    page.wait_painted()
    page.screenshot("third")
    field.fill(f"{1e3 * (values['d'] + 8 * values['N'] / values['R']):.5g} ms")
    field.press("Enter")
    said.get_by_text("Right.", exact=True).wait_for()

    # New numbers: another question, an empty field that has the focus, nothing said.
    box.get_by_role("button", name="New numbers for TR1").click()
    again = exercises.draw("TR1", student="s1", sheet="monday new 1")
    box.get_by_text(again.text).wait_for()
    assert field.input_value() == ""
    assert field.evaluate("el => document.activeElement === el")
    assert said.inner_text().strip() == ""
    box.locator(".netcalc-figure").wait_for(state="detached")
    assert page.complaints() == []


@pytest.mark.shown("lab", TEACHING)
def test_an_exercise_is_text_where_no_kernel_runs(page):
    page.wait_figures(3)
    box, field = box_of(page, 1)
    field.fill("1 us")
    field.press("Enter")
    box.locator(".netcalc-said").get_by_text("Not yet.").wait_for()
    printed = page.page.locator(".netcalc-printed").nth(1)
    page.wait_for("""() => [...document.querySelectorAll('.netcalc-printed')][1]
                           ?.textContent.includes('Not yet.')""")
    assert printed.is_hidden()
    page.save()
    page.shut_down()
    page.page.reload()
    page.wait_ready()
    printed.get_by_text("with a one-way latency of").wait_for()
    printed.scroll_into_view_if_needed()
    # JupyterLab draws a cell again that comes into sight: what it says is waited for.
    printed.get_by_text("Not yet.").wait_for()
    printed.get_by_text("a time such as 30 ms: 1 us").wait_for()
    page.screenshot("printed")
    page.page.get_by_text("Error displaying widget").first.wait_for(state="hidden")
