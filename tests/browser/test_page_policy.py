"""Pages of lessons run scripts of their own only: in a class, and in ``netcalc lab --app``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ROOT, Page, Sheet

LESSON = "01_latency_and_bandwidth.ipynb"
MARKS = ("text", "handler", "output", "javascript", "picture", "later", "elsewhere")
HOSTILE = (
    (
        "markdown",
        "<script>window.ran_text = 1</script>\n<img src=x onerror='window.ran_handler=1'>",
    ),
    (
        "code",
        "from IPython.display import HTML, Javascript, display\n"
        "display(HTML('<p>shown</p><script>window.ran_output = 1</script>'))\n"
        "display(HTML('<img src=x onerror=\"window.ran_picture = 1\">'))\n"
        "display(Javascript('window.ran_javascript = 1'))",
    ),
)
"""Cells of a notebook that somebody got from elsewhere."""
INJECT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.ran_later = 1";
  document.body.append(script);
  const other = document.createElement("script");
  other.src = "data:text/javascript,window.ran_elsewhere = 1";
  return new Promise(done => {
    other.onload = other.onerror = () => done();
    document.body.append(other);
  });
}"""


@pytest.fixture
def opened(browser: Any) -> Iterator[Page]:
    """A new window; what its console says, and what it asks for, is kept."""
    with browser.new_context(viewport={"width": 1100, "height": 900}) as context:
        window = context.new_page()
        window.set_default_timeout(120_000)
        page = Page(window, Sheet("voila", ROOT / "notebooks" / LESSON))
        window.on("console", lambda m: page.errors.append(m.text) if m.type == "error" else None)
        window.on("pageerror", lambda error: page.errors.append(str(error)))
        window.on("request", lambda request: page.asked.append(request.url))
        page.asked = []
        yield page


def works(page: Page, address: str) -> None:
    """See that a lesson is drawn and follows its slider, with nothing refused."""
    policy = page.page.goto(address).headers["content-security-policy"]
    scripts = policy.partition("script-src ")[2].partition(";")[0].split()
    assert {"'self'", "blob:"} == {one for one in scripts if not one.startswith(("'nonce", "'sha"))}
    page.wait_figures(1)
    before = page.column("your line", "y")
    page.drag(0, 0.9)
    page.wait_changed("your line", "y", before)
    assert refused(page) == [], "nothing that a lesson needs"
    own = address.partition("/voila")[0]
    assert not [url for url in page.asked if not url.startswith((own, "data:", "blob:"))]


def refused(page: Page) -> list[str]:
    """Return what the console says of the policy; Voila complains of packages of its own, too."""
    return [error for error in page.errors if "Security Policy" in error]


def ran(page: Page) -> list[str]:
    """Return which of the marks that injected scripts would set are there."""
    return [name for name in MARKS if page.page.evaluate(f"() => window.ran_{name} === 1")]


def test_a_lesson_of_a_class_runs_and_an_injected_script_does_not(opened):
    from tests.classroom.running import RunningClass  # late: only here

    with tempfile.TemporaryDirectory(prefix="netcalc-", dir="/tmp") as folder:
        running = RunningClass(Path(folder))
        try:
            opened.page.goto(running.base)
            opened.page.fill("[name=code]", running.code)
            opened.page.fill("[name=name]", "Ann")
            opened.page.press("[name=name]", "Enter")
            opened.page.get_by_text("Ann").first.wait_for()
            works(opened, f"{running.base}voila/render/{LESSON}")
            opened.page.evaluate(INJECT)
            assert ran(opened) == []
            assert len(refused(opened)) == 2
        finally:
            running.stop()


def test_a_page_of_the_lab_runs_and_scripts_of_its_notebook_do_not(opened, tmp_path):
    from tests.cli.test_lab import RunningLab  # late: only here

    lessons = tmp_path / "netcalc-lessons"
    lessons.mkdir()
    content = json.loads((ROOT / "notebooks" / LESSON).read_text(encoding="utf-8"))
    for number, (kind, source) in enumerate(HOSTILE):
        cell = {"cell_type": kind, "id": f"hostile{number}", "metadata": {}, "source": source}
        more = {"outputs": [], "execution_count": None} if kind == "code" else {}
        content["cells"].append(cell | more)
    (lessons / "hostile.ipynb").write_text(json.dumps(content), encoding="utf-8")
    running = RunningLab(tmp_path, "--app")
    try:
        opened.page.goto(running.url)
        works(opened, f"{running.base}voila/render/{LESSON}")
        opened.page.goto(f"{running.base}voila/render/hostile.ipynb")
        # Not all of it works: what its last cell wanted to run is an error of that cell.
        opened.wait_for("() => document.querySelector('.netcalc-figure')?.netcalc")
        opened.page.get_by_text("shown", exact=True).wait_for()
        opened.page.evaluate(INJECT)
        assert ran(opened) == []
        assert refused(opened)
    finally:
        running.process.terminate()
        running.process.wait(30)
        running.process.stdout.close()
