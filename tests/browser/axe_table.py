"""What axe-core finds on the pages of lessons, as a table in Markdown.

``python -m tests.browser.axe_table [--front-ends lab,notebook,voila] [LESSON...]`` opens each
lesson in each front end, runs it, opens what folds out, and looks at it in light and in dark. The
findings are of two kinds: those in what a lesson shows, and those in what the front end puts
around it, such as menus and toolbars. Pages of ``netcalc site`` are looked at with ``site``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from tests.browser.conftest import Desk, Page, Sheet, chromium, serving

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
FRONT_ENDS = ("lab", "notebook", "voila", "site")
THEMES = ("light", "dark")
SERIOUS = ("serious", "critical")
OURS = ".jp-OutputArea-output, .jp-RenderedMarkdown, .netcalc, .netcalc-panel, main"
"""What a lesson shows; of Voila and the pages of a site this includes all between the edges."""

_RUN = """async ([within, ours, rules]) => {
  const found = await axe.run(within ? [...document.querySelectorAll(ours)] : document, {
    resultTypes: ['violations'], elementRef: true, runOnly: rules, iframes: false, preload: false,
  });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => ({
    rule: rule.id,
    impact: node.impact ?? rule.impact,
    ours: Boolean(node.element?.closest(ours)),
    html: node.html.slice(0, 300),
    why: [...node.any, ...node.all, ...node.none].map((check) => check.message).join('; '),
  })));
}"""
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_OPEN_ALL = """() => {
  for (const one of document.querySelectorAll('details')) one.open = true;
  for (const one of document.querySelectorAll('.netcalc-more-button[aria-expanded="false"]'))
    one.click();
}"""
_LAB_THEME = """async (name) => {
  await jupyterapp.commands.execute('apputils:change-theme', { theme: name });
}"""


@dataclass(frozen=True)
class Finding:
    """One element that one rule of axe-core finds wrong."""

    rule: str
    impact: str
    ours: bool
    html: str
    why: str

    @property
    def is_serious(self) -> bool:
        """Whether axe-core calls it serious or critical."""
        return self.impact in SERIOUS


def findings(page: Any, *, ours_only: bool = False) -> list[Finding]:
    """Return what axe-core finds on a page of Playwright, or in what a lesson shows there."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    rules = {"type": "tag", "values": _TAGS}
    return [Finding(**one) for one in page.evaluate(_RUN, [ours_only, OURS, rules])]


def put_theme(page: Page, theme: str) -> None:
    """Show a page in light or dark, as its reader would."""
    page.page.emulate_media(color_scheme=theme)
    if page.front_end in ("lab", "notebook"):
        page.page.evaluate(_LAB_THEME, f"JupyterLab {theme.title()}")
        dark = str(theme == "dark").lower()
        page.wait_for(f"() => document.body.dataset.jpThemeLight !== '{dark}'")
    page.page.wait_for_timeout(500)


def _shown(desk: Desk, lesson: Path) -> Iterator[tuple[str, list[Finding]]]:
    sheet = Sheet(desk.server.front_end, lesson)
    page = desk.open(sheet)
    try:
        count = sum("_panel(" in "".join(cell) for cell in _sources(lesson))
        page.wait_figures(count)
        page.reveal()
        page.page.evaluate(_OPEN_ALL)
        page.page.wait_for_timeout(1500)
        for theme in THEMES:
            put_theme(page, theme)
            yield theme, findings(page.page)
        put_theme(page, "light")
    finally:
        desk.close(sheet)


def _sources(lesson: Path) -> list[str]:
    import nbformat

    cells = nbformat.read(lesson, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def _site(browser: Any, lessons: Sequence[Path], folder: Path) -> Iterator[tuple[str, str, Any]]:
    from netcalc.lessons.site.build import build

    build(folder, lessons=lessons, positions=2)  # a slider has the same elements with more
    for theme in THEMES:
        page = browser.new_context(color_scheme=theme).new_page()
        for lesson in lessons:
            page.goto((folder / f"{lesson.stem}.html").as_uri())
            page.wait_for_load_state("networkidle")
            page.evaluate(_OPEN_ALL)
            page.wait_for_timeout(500)
            yield lesson.stem, theme, findings(page)


def _cell(found: Iterable[Finding]) -> str:
    counted = Counter((one.rule, one.impact) for one in found)
    return ", ".join(f"{rule} {count} ({impact})" for (rule, impact), count in counted.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the result is 1 where a lesson has a serious finding."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("lessons", nargs="*", help="names of lessons, or their beginnings")
    parser.add_argument("--front-ends", default=",".join(FRONT_ENDS))
    parser.add_argument("--details", action="store_true", help="print each element to stderr")
    given = parser.parse_args(arguments)
    lessons = [
        one for one in LESSONS if not given.lessons or one.name.startswith(tuple(given.lessons))
    ]
    around: dict[str, set[str]] = {}
    has_serious = False
    print("| lesson | front end | theme | serious or critical | other |\n|---|---|---|---|---|")
    with ExitStack() as running, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = running.enter_context(chromium())
        for front_end in given.front_ends.split(","):
            if front_end == "site":
                rows = _site(browser, lessons, Path(home) / "site")
            else:
                server = running.enter_context(serving(front_end, Path(home) / front_end))
                desk = Desk(browser, server)
                rows = (
                    (lesson.stem, theme, found)
                    for lesson in lessons
                    for theme, found in _shown(desk, lesson)
                )
            for lesson, theme, found in rows:
                own = [one for one in found if one.ours]
                serious = [one for one in own if one.is_serious]
                has_serious |= bool(serious)
                other = [one for one in own if not one.is_serious]
                around.setdefault(f"{front_end}, {theme}", set()).update(
                    f"{one.rule} ({one.impact})" for one in found if not one.ours
                )
                name = lesson.partition("_")[0]
                print(
                    f"| {name} | {front_end} | {theme} | {_cell(serious) or 'none'} | "
                    f"{_cell(other) or 'none'} |",
                    flush=True,
                )
                if given.details:
                    for one in {(one.rule, one.html): one for one in own}.values():
                        print(
                            f"{name} {front_end} {theme} {one.rule} {one.impact}\n  {one.html}\n"
                            f"  {one.why}",
                            file=sys.stderr,
                        )
    print("\n| around the lessons | rules |\n|---|---|")
    for place, rules in around.items():
        print(f"| {place} | {', '.join(sorted(rules)) or 'none'} |")
    return int(has_serious)


if __name__ == "__main__":
    sys.exit(main())
