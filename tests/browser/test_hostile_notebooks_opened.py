"""A notebook of somebody else in JupyterLab: nothing of it runs before its reader says so."""

from __future__ import annotations

import json

import anywidget
import nbformat

from tests.browser.conftest import Sheet

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
MARK = "window.netcalcTaken = true"
SAVED = "() => jupyterapp.shell.currentWidget.content.model.getMetadata('widgets')"
MARKUP = f"""<script>{MARK}</script><img src=x: onerror="{MARK}"><svg onload="{MARK}"></svg>
<iframe srcdoc="<script>top.netcalcTaken = true</script>"></iframe>
<a href="javascript:{MARK}">go</a>
<details open ontoggle="{MARK}"><summary>a</summary></details>"""


def hostile() -> nbformat.NotebookNode:
    """Return a notebook with a script in each place where one may be."""
    esm = f"{MARK}; export default {{ initialize() {{ {MARK} }}, render() {{ {MARK} }} }}"
    state = anywidget.AnyWidget(_esm=esm).get_state()
    kind = {name: state[f"_{name}"] for name in ("model_module", "model_module_version",
                                                 "model_name")}  # fmt: skip
    kept = {"_esm": esm, **{name: state[name] for name in state if name.startswith(("_m", "_v"))}}
    shown = [
        {VIEW: {"model_id": "w", "version_major": 2, "version_minor": 0}},
        {"text/html": MARKUP}, {"text/markdown": MARKUP}, {"image/svg+xml": MARKUP},
        {"application/javascript": MARK},
    ]  # fmt: skip
    outputs = [nbformat.v4.new_output("display_data", data) for data in shown]
    cells = [nbformat.v4.new_markdown_cell(MARKUP), nbformat.v4.new_code_cell("", outputs=outputs)]
    widgets = {
        STATE: {"version_major": 2, "version_minor": 0, "state": {"w": {**kind, "state": kept}}}
    }
    return nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"},
                               "widgets": json.loads(json.dumps(widgets))},
    )  # fmt: skip


def test_no_script_of_a_notebook_runs_when_it_is_opened(desk, tmp_path):
    nbformat.write(hostile(), tmp_path / "hostile.ipynb")
    lab = desk("lab")
    # Its cells are not run: that is what its reader would do.
    sheet = Sheet("lab", tmp_path / "hostile.ipynb", script="sessionStorage.netcalcRun = 'done'")
    page = lab.open(sheet)
    try:
        page.wait_attached()
        page.page.locator(".jp-MarkdownCell a", has_text="go").click(no_wait_after=True)
        page.page.wait_for_load_state("networkidle")
        page.wait_painted()
        assert page.page.evaluate("() => window.netcalcTaken") is None
        assert page.page.evaluate(SAVED) is None
    finally:
        lab.close(sheet)
