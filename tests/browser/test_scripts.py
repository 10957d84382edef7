"""Scripts and style sheets of the pages, played on an empty page without a front end."""

from __future__ import annotations

from pathlib import Path

import netcalc

PACKAGE = Path(netcalc.__file__).parent
LAB = (PACKAGE / "cli/share/labextensions/netcalc/static/lessons.js").read_text(encoding="utf-8")
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
