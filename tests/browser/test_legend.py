"""The legend of a figure in a real browser: only what has marks, also when they come later."""

from __future__ import annotations

import math

import pytest

from netcalc.plots import Axis, curves, save_html

pytestmark = pytest.mark.core

SHOWN = """() => {
  const [root] = Bokeh.documents[0].roots();
  const legend = root.above.find(one => one.items);
  const view = Bokeh.index.get_one(root).views.find_one(legend);
  return view.entries.filter(({ el }) => getComputedStyle(el).display !== 'none')
    .map(({ label }) => label);
}"""
FILL = """([name, y]) => {
  const models = [...Bokeh.documents[0]._all_models.values()];
  const source = models.find(one => one.name === name && one.type === "ColumnDataSource");
  source.data = { x: new Float64Array(y.length).map((_, i) => i),
                  y: new Float64Array(y.map(v => v ?? NaN)) };
}"""
HEIGHT = "() => Bokeh.documents[0].roots()[0].height"


@pytest.fixture
def figure_page(browser, tmp_path):
    axis = Axis("x", "1")
    plot = curves(
        [0.0, 1.0],
        {"theory": [1, 2], "fit": [math.nan, math.nan]},
        points={"run": ([], []), "book": ([0.5], [1.5])},
        x_axis=axis,
        y_axis=axis,
    )
    # Two entries fit beside each other, with half an entry to spare on either side; not three.
    context = browser.new_context(viewport={"width": 360, "height": 700})
    page = context.new_page()
    page.goto(save_html(plot, tmp_path / "figure.html").as_uri())
    page.wait_for_function("() => globalThis.Bokeh?.documents?.[0]?.is_idle")
    yield page
    context.close()


def test_an_entry_is_shown_when_it_has_marks(figure_page, tmp_path):
    page = figure_page
    page.wait_for_function(f"() => ({SHOWN})().join() === 'theory,book'")
    before = page.evaluate(HEIGHT)
    page.evaluate(FILL, ["run", [1.0, None]])
    page.wait_for_function(f"() => ({SHOWN})().join() === 'theory,run,book'")
    assert page.evaluate(HEIGHT) > before, "the legend has room of its own"
    page.evaluate(FILL, ["fit", [1.0, 1.5]])
    page.wait_for_function(f"() => ({SHOWN})().join() === 'theory,fit,run,book'")
    page.evaluate(FILL, ["run", []])
    page.evaluate(FILL, ["fit", [None, None]])
    page.wait_for_function(f"() => ({SHOWN})().join() === 'theory,book'")
    assert page.evaluate(HEIGHT) == before


def test_a_title_of_two_lines_has_room_for_both(browser, tmp_path):
    axis = Axis("x", "1")
    title = "Is it the limit of the device, or that of its line, that we see?"
    plot = curves([0.0, 1.0], {"theory": [1, 2]}, x_axis=axis, y_axis=axis, title=title)
    context = browser.new_context(viewport={"width": 360, "height": 700})
    page = context.new_page()
    page.goto(save_html(plot, tmp_path / "figure.html").as_uri())
    page.wait_for_function(
        """() => {
          const [root] = globalThis.Bokeh?.documents?.[0]?.roots() ?? [];
          const view = root && Bokeh.index.get_one(root)?.views.find_one(root.title);
          return view?.model.text.text.includes("\\n")
            && view.layout.bbox.height === view._get_size().height;
        }"""
    )
    context.close()
