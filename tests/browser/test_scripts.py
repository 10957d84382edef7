"""Scripts and style sheets of the pages, played on an empty page without a front end."""

from __future__ import annotations

from pathlib import Path

import pytest

import netcalc
from netcalc.widgets import figure

pytestmark = pytest.mark.core

PACKAGE = Path(netcalc.__file__).parent
LAB = (PACKAGE / "cli/share/labextensions/netcalc/static/lessons.js").read_text(encoding="utf-8")
FIGURE = figure.SCRIPT.replace("export default {", "return {guessForm, seriesOf, dressed,")
MORE = (PACKAGE / "widgets/more.js").read_text(encoding="utf-8")
RUN_ALL = """async code => {
  document.body.innerHTML = `<div id="notebook"><div class="jp-WindowedPanel-outer"
    style="height: 100px; overflow: auto"><div style="height: 2000px">a cell</div></div></div>
    <div class="jp-Dialog"><button>Restart</button></div><p>beside it</p>`;
  new Function(code)();
  const { default: [plugin] } = (await window._JUPYTERLAB.netcalc.get("./extension"))();
  const find = selector => document.querySelector(selector);
  const notebook = { node: find("#notebook"), model: { cells: [] }, activeCellIndex: 0 };
  notebook.widgets = [{ node: find("#notebook div div") }];
  const commands = { execute: () => new Promise(() => {}) }; // it runs all the time
  const panel = { content: notebook, sessionContext: { isReady: true } };
  plugin.activate({ commands, shell: { currentWidget: panel }, restored: Promise.resolve() });
  commands.execute("runmenu:restart-and-run-all");
}"""
SCROLLED = """() => {
  const box = document.querySelector(".jp-WindowedPanel-outer");
  box.scrollTop = 500;
  return new Promise(go => setTimeout(() => go(box.scrollTop), 300));
}"""


def test_a_run_of_all_cells_stays_where_it_began_until_a_hand_moves_it(blank):
    """The answer to the question whether to restart is no such hand."""
    blank.goto("about:blank")
    blank.evaluate(RUN_ALL, LAB)
    blank.locator(".jp-Dialog button").press("Enter")
    blank.locator(".jp-Dialog button").click()
    blank.evaluate(SCROLLED)
    blank.wait_for_function("() => !document.querySelector('.jp-WindowedPanel-outer').scrollTop")
    blank.locator("p").click()
    assert blank.evaluate(SCROLLED) == 500


@pytest.mark.parametrize(
    ("sheet", "panel", "figure"),
    [
        ("widgets/figure.css", "netcalc-panel", "netcalc"),
        ("lessons/site/page.css", "panel", "figure"),
    ],
)
def test_what_has_the_focus_is_not_under_the_figure_that_stays_in_sight(
    blank, sheet, panel, figure
):
    blank.goto("about:blank")
    blank.set_viewport_size({"width": 390, "height": 800})
    style = (PACKAGE / sheet).read_text(encoding="utf-8")
    controls = "<input><select></select><details><summary>more</summary></details>"
    controls += "<div tabindex=0>values</div>"
    inside = f"<div class='{figure}'></div><div>{controls}</div>"
    blank.set_content(f"<style>{style}</style><div class='{panel}'>{inside}</div>")
    margins = blank.evaluate(
        """() => [...document.querySelectorAll('input, select, summary, [tabindex]')]
             .map(el => parseFloat(getComputedStyle(el).scrollMarginTop))"""
    )
    assert margins == [440.0] * 4  # 55% of the window's height; a figure has half of it


COVERED = """code => {
  const { guessForm } = new Function(code)();
  const words = new Proxy({}, { get: (_, name) => name });
  const [start, end] = [0, 10];
  const y_scale = { target_range: { start, end }, invert: y => y / 10 };
  let frame = null;
  const form = guessForm({ words, send: () => {}, frame: () => frame, preview: () => {} });
  document.body.replaceChildren(form.element);
  form.take({ covered: true, what: "time", along: "y", unit: "s", text: "", alert: "" });
  const [field, slider] = form.element.querySelectorAll("input");
  const said = [];
  const look = () => said.push(slider.getAttribute("aria-valuetext"));
  frame = { y_scale };
  form.drawn();
  look();
  field.value = "20 ms";
  field.dispatchEvent(new Event("change"));
  look();
  return said;
}"""


def test_the_slider_of_a_guess_says_where_it_is_and_what_is_typed(blank):
    blank.goto("about:blank")
    assert blank.evaluate(COVERED, FIGURE) == ["500 ms", "20 ms"]


RESIZED = """code => {
  const { dressed } = new Function(code)();
  window.chart = { type: "Figure", height: 1000, *[Symbol.iterator]() {} };
  const root = { references: () => [chart] };
  dressed({ roots: () => [root] });
}"""


def test_a_figure_on_a_phone_keeps_its_height_while_the_page_is_scrolled(blank):
    """The address bar of a phone comes and goes, and the height of the window with it."""
    blank.goto("about:blank")
    blank.set_viewport_size({"width": 390, "height": 800})
    blank.evaluate(RESIZED, FIGURE)
    assert blank.evaluate("chart.height") == 400
    blank.set_viewport_size({"width": 390, "height": 900})
    blank.wait_for_function("innerHeight === 900")
    assert blank.evaluate("new Promise(requestAnimationFrame).then(() => chart.height)") == 400
    blank.set_viewport_size({"width": 500, "height": 900})  # it was turned
    blank.wait_for_function("chart.height === 450")


BAND = """code => {
  const { seriesOf } = new Function(code)();
  const formatter = { args: { unit: "1" }, format: String };
  const axis = (axis_label) => ({ formatter, axis_label, visible: true });
  const data_source = { id: "curve", data: { x: [1], low: [2], high: [4], y: [3] } };
  const field = name => ({ field: name });
  const band = { type: "GlyphRenderer", visible: true, data_source, name: "band",
    glyph: { type: "VArea", x: field("x"), y1: field("low"), y2: field("high") } };
  const line = { ...band, name: "line", glyph: { type: "Line", x: field("x"), y: field("y") } };
  const hover = { type: "HoverTool", renderers: [line], formatters: {},
    tooltips: [["size", "@{x}{custom}"], ["time", "@{y}{custom}"]] };
  const plot = { type: "Figure", id: "plot", renderers: [band, line], x_range: {},
    below: [axis("size")], left: [axis("time")] };
  const root = { references: () => [plot, hover] };
  return seriesOf(root, new Map(), { from: "from", to: "to" })
    .map(({ name, columns }) => [name, columns.map(one => [one.heading, one.values[0]])]);
}"""


def test_the_table_of_a_figure_has_a_prediction_and_its_band(blank):
    blank.goto("about:blank")
    columns = [["size", 1], ["time", 3], ["time, from", 2], ["time, to", 4]]
    assert blank.evaluate(BAND, FIGURE) == [["line", columns]]


ATTACHED = """async code => {
  const { render } = new Function(code.replace("export default", "return"))();
  const el = document.createElement("div");
  const values = { words: { more: "More", fewer: "Fewer" }, count: 2, is_open: false };
  render({ model: { get: name => values[name] }, el });
  document.body.innerHTML =
    `<div class="netcalc-panel"><div class="netcalc-more-controls"></div></div>`;
  document.querySelector(".netcalc-panel").append(el);
  await new Promise(requestAnimationFrame);
  return document.getElementById(el.firstChild.getAttribute("aria-controls"))?.className;
}"""


def test_a_button_that_comes_before_its_panel_names_the_controls_behind_it(blank):
    blank.goto("about:blank")
    assert blank.evaluate(ATTACHED, MORE) == "netcalc-more-controls"
