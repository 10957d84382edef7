"""One whole panel in JupyterLab, Notebook 7 and Voila: the figure widget, sliders, text boxes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PROOF = Path(__file__).with_name("proof.ipynb")
SAVED_LIMIT = 100_000  # bytes a figure, from the requirements
OPENINGS = 2
SAVE_WIDGETS = """async wanted => {
  const command = '@jupyter-widgets/jupyterlab-manager:saveWidgetState';
  if (jupyterapp.commands.isToggled(command) !== wanted)
    await jupyterapp.commands.execute(command);
}"""
"""Whether JupyterLab saves the widgets in the notebook's file, too."""
MODEL_GONE = "Error: widget model not found"
"""What JupyterLab says of a saved view if Run All has replaced its widget before it was shown."""


def at_first(page):
    """The first line's times at 30 ms, wherever another test left the slider."""
    page.wait_figures(2)
    times = page.column("T1", "y")
    if times[0] != pytest.approx(0.03 + 8 / 1.544e6):
        page.type_into(0, "30 ms")
        page.wait_changed("T1", "y", times)
    return page.column("T1", "y")


@pytest.mark.shown("lab voila", PROOF)
def test_a_panel_lives(page):
    times = at_first(page)
    page.wait_painted()
    pixels = page.pixels()
    page.screenshot("first")
    # derived: 30 ms, and 8 bits at 1.544 Mbit/s for the byte of the first point
    assert times[0] == pytest.approx(0.03 + 8 / 1.544e6)

    page.drag(0, 1.0)
    page.wait_first("T1", "y", 0.3 + 8 / 1.544e6)
    page.wait_for("() => document.querySelector('.netcalc-caption').textContent.includes('300 ms')")
    page.wait_painted()
    assert page.column("measured", "y") == [0.036, 0.083, 0.55, 5.3]
    assert page.pixels() != pixels
    page.screenshot("dragged")
    name = page.figure().get_attribute("aria-label")
    assert name == "With a latency of 300 ms."
    assert page.figure().get_attribute("role") == "img"
    assert page.complaints() == []


@pytest.mark.shown("voila", PROOF)
def test_a_text_box_takes_quantities_and_refuses_the_rest(page):
    times = at_first(page)
    for text in ("abc", "1,5", "1e999 s", "-3 ms", "", "2 h"):
        page.type_into(0, text)
        alert = page.page.locator(".netcalc-control [role=alert]")
        alert.filter(has_text="latency").wait_for()
        assert page.column("T1", "y") == times, text
    page.wait_painted()
    page.screenshot("refused")
    page.type_into(0, "50 ms")
    page.wait_changed("T1", "y", times)
    assert page.column("T1", "y")[0] == pytest.approx(0.05 + 8 / 1.544e6)
    page.page.locator(".netcalc-control [role=alert]").wait_for(state="detached")
    assert page.complaints() == []


@pytest.mark.shown("lab notebook", PROOF)
def test_a_reload_brings_the_figure_back_as_it_was(page):
    times = at_first(page)
    page.type_into(0, "200 ms")
    page.wait_changed("T1", "y", times)
    page.save()
    page.page.reload()
    page.wait_ready()
    page.wait_figures(2)
    # The kernel has gone on.
    times = page.column("T1", "y")
    assert times[0] == pytest.approx(0.2 + 8 / 1.544e6)
    page.drag(0, 0.0)
    page.wait_changed("T1", "y", times)
    assert page.complaints() == []
    page.run_all()  # for the next test: saved outputs follow only in the page that ran their cell


@pytest.mark.shown("voila", PROOF)
def test_a_page_loaded_again_on_a_phone_begins_anew_and_shows_all_of_it(page):
    times = at_first(page)
    page.type_into(0, "200 ms")
    page.wait_changed("T1", "y", times)
    wide = page.page.viewport_size
    page.page.set_viewport_size({"width": 420, "height": 900})
    try:
        page.page.reload()
        page.wait_figures(2)
        page.wait_painted()
        page.figure(0)
        page.screenshot("phone-light")
        page.figure(1)
        page.screenshot("phone-dark")
        box = page.figure(0).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 420
        canvas = page.figure(0).locator("canvas").first.bounding_box()
        assert canvas["width"] <= box["width"] + 1
        times = page.column("T1", "y")
        assert times[0] == pytest.approx(0.03 + 8 / 1.544e6)
        page.drag(0, 0.0)
        page.wait_changed("T1", "y", times)
        assert page.complaints() == []
    finally:
        page.page.set_viewport_size(wide)


@pytest.mark.shown("lab", PROOF)
def test_a_saved_notebook_is_small_and_has_a_picture(page):
    at_first(page)
    page.save()
    assert page.path.stat().st_size < 2 * SAVED_LIMIT
    cells = json.loads(page.path.read_text())["cells"]
    data = [out["data"] for cell in cells for out in cell.get("outputs", []) if "data" in out]
    pictures = ["".join(one["image/svg+xml"]) for one in data if "image/svg+xml" in one]
    assert len(pictures) == 2
    assert all(picture.startswith("<svg") for picture in pictures)
    texts = ["".join(one["text/html"]) for one in data if "text/html" in one]
    assert len(texts) == 2
    assert all("With a latency of" in text for text in texts)


@pytest.mark.shown("lab", PROOF)
def test_a_notebook_saved_with_its_widgets_lives_when_run_as_soon_as_it_shows(page):
    """Views of the widgets that were saved, without a kernel, are on the page before the new.

    Run All comes as soon as the notebook has a kernel: before, JupyterLab clears the outputs and
    runs nothing, whatever is in them.
    """
    at_first(page)
    page.page.evaluate(SAVE_WIDGETS, True)
    try:
        for opening in range(OPENINGS):
            page.save()
            page.shut_down()
            page.page.reload()
            page.page.locator(".netcalc-saved").first.wait_for()
            page.wait_attached()
            if opening:  # when the saved views have asked for their kernel, otherwise before
                page.wait_ready()
                page.wait_for("() => document.querySelector('.netcalc-panel')")
                hidden = "() => !document.querySelector('.netcalc-panel').checkVisibility()"
                page.wait_for(hidden)
                page.screenshot("reopened")
            page.run_all()
            page.wait_figures(2)
            times = page.column("T1", "y")
            page.drag(0, 1.0 if times[0] < 0.1 else 0.0)
            page.wait_changed("T1", "y", times)
            page.wait_for("() => !document.querySelector('.netcalc-saved').checkVisibility()")
        assert set(page.complaints()) <= {MODEL_GONE}
    finally:
        page.page.evaluate(SAVE_WIDGETS, False)


@pytest.mark.shown("lab notebook voila", PROOF)
def test_a_slider_is_moved_by_keys_and_says_its_value(page):
    times = at_first(page)
    slider = page.page.get_by_role("slider", name="latency").first
    cells = page.page.locator(".jp-Cell").count()

    def said(text):
        page.wait_for(
            "([el, text]) => el.getAttribute('aria-valuetext') === text",
            [slider.element_handle(), text],
        )

    said("30 ms")
    slider.focus()
    # derived: 200 stops from 1 ms to 300 ms on a log scale; 30 ms is at the 119th, and
    # 300 ** (120 / 200) is 30.6, 300 ** (20 / 200) is 1.77
    for key, text in (
        ("ArrowRight", "30.6 ms"), ("Home", "1 ms"), ("PageUp", "1.77 ms"), ("PageDown", "1 ms"),
        ("End", "300 ms"), ("b", "300 ms"),
    ):  # fmt: skip
        slider.press(key)
        said(text)
    page.wait_changed("T1", "y", times)
    assert page.page.locator(".jp-Cell").count() == cells, "a letter is no command"
    assert slider.evaluate("el => getComputedStyle(el).outlineStyle") == "solid"
    panel = page.page.get_by_role("group", name="Transfer time against size").first
    assert panel.get_by_role("textbox", name="latency").input_value() == "300 ms"
    page.screenshot("keys")

    # An error is said by an element that was there before it.
    message = panel.locator(".netcalc-control .netcalc-words > .widget-html-content")
    assert (message.inner_text(), message.get_attribute("aria-live")) == ("", "polite")
    page.type_into(0, "5 bananas")
    message.get_by_role("alert").filter(has_text="5 bananas").wait_for()
    page.type_into(0, "30 ms")
    said("30 ms")
    assert page.complaints() == []


@pytest.mark.shown("notebook", PROOF)
def test_the_values_of_a_figure_are_reached_by_keys(page):
    at_first(page)
    page.wait_first("T1", "y", 0.03 + 8 / 1.544e6)
    panel = page.page.get_by_role("group", name="Transfer time against size").first
    summary = panel.locator(".netcalc-values summary")
    assert panel.locator("table").count() == 0, "made when it is opened"
    summary.focus()
    page.page.keyboard.press("Enter")
    line = panel.get_by_role("table", name="T1 (40 of 300 values)")
    line.wait_for()
    assert line.get_by_role("columnheader").all_inner_texts() == ["size", "transfer time"]
    assert line.get_by_role("row").count() == 41
    # derived: 30 ms, and 8 bits, or 8e7, at 1.544 Mbit/s; published in the notebook: the points
    assert line.get_by_role("row").nth(1).inner_text().split("\t") == ["1 B", "30.01 ms"]
    assert line.get_by_role("row").last.inner_text().split("\t") == ["10 MB", "51.84 s"]
    points = panel.get_by_role("table", name="measured").get_by_role("row").all_inner_texts()
    assert points[1:] == ["1000 B\t36 ms", "10 kB\t83 ms", "100 kB\t550 ms", "1 MB\t5.3 s"]
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("() => document.activeElement.ariaLabel") == "Table of values"
    page.screenshot("values")
    page.type_into(0, "100 ms")  # an open table follows
    panel.get_by_role("row", name="1 B 100 ms").first.wait_for()
    page.type_into(0, "30 ms")
    summary.press("Enter")
    assert not panel.locator("table").first.is_visible()
    assert page.complaints() == []


@pytest.mark.shown("voila", PROOF)
def test_a_legend_is_made_anew_for_its_columns_and_not_for_those_of_the_data(page):
    """What a slider changes leaves its entries; a narrower page puts them below each other."""
    page.wait_figures(1)
    page.page.evaluate(
        """() => {
          const { document: drawn } = document.querySelector('.netcalc-figure').netcalc;
          const model = [...drawn.roots()[0].references()].find((one) => one.type === 'Legend');
          window.legendOf = { model, view: drawn.views_manager.find_one(model) };
        }"""
    )
    rows = """() => new Set(legendOf.view.entries
      .map(({ el }) => Math.round(el.getBoundingClientRect().top))).size"""
    entries = page.page.evaluate("() => legendOf.view.entries.length")
    assert entries > 2
    own = page.page.evaluate("() => legendOf.model.ncols")
    for columns in (1, 2, own):
        page.page.evaluate("(columns) => { legendOf.model.ncols = columns; }", columns)
        page.wait_for(f"() => ({rows})() === Math.ceil({entries} / {columns})")
    page.page.evaluate("() => { window.first = legendOf.view.entries[0].el; }")
    before = page.column("T1", "y")
    page.drag(0, 0.05)
    page.wait_changed("T1", "y", before)
    assert page.page.evaluate("() => legendOf.view.entries[0].el === first && first.isConnected")
    for visible, count in (("false", entries - 1), ("true", entries)):
        page.page.evaluate(f"() => {{ legendOf.model.items[0].visible = {visible}; }}")
        page.wait_for(f"() => legendOf.view.entries.length === {count}")


@pytest.mark.shown("voila", PROOF)
def test_a_page_of_voila_follows_a_system_that_is_dark(page):
    """Its own theme is light: panels would write nearly black on black. WCAG 2.2: at least 4.5."""
    at_first(page)
    contrast = """async () => {
      await new Promise(requestAnimationFrame);
      const light = (css) => {
        const of = (part) => part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4;
        const [r, g, b] = css.match(/[\\d.]+/g).map(Number);
        return 0.2126 * of(r) + 0.7152 * of(g) + 0.0722 * of(b);
      };
      const paper = light(getComputedStyle(document.body).backgroundColor);
      return [paper, ...['.netcalc-control .widget-label', '.netcalc-caption'].map((part) => {
        const ink = light(getComputedStyle(document.querySelector(part)).color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      })];
    }"""
    try:
        for scheme, is_dark in (("dark", True), ("light", False)):
            page.page.emulate_media(color_scheme=scheme)
            paper, *found = page.page.evaluate(contrast)
            assert (paper < 0.1) == is_dark
            assert min(found) >= 4.5, (scheme, found)
    finally:
        page.page.emulate_media(color_scheme="no-preference")
