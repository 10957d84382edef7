"""All lessons as pages: each opens from a disk without a complaint, on a phone and on a screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netcalc.lessons.site.build import build

pytestmark = pytest.mark.browser
LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MOST_BYTES = 2_000_000
"""Largest page, BokehJS not counted, which all share. [byte]"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as the command writes it, with few positions of each slider.

    The calculator's page, which takes half a minute, is opened by the tests of its own.
    """
    folder = tmp_path_factory.mktemp("whole") / "pages"
    build(folder, lessons=LESSONS, positions=2)
    return folder


@pytest.fixture(scope="module", params=["light", "dark"])
def window(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    context = browser.new_context(color_scheme=request.param)
    yield context
    context.close()


def test_every_lesson_has_a_small_page(site: Path) -> None:
    pages = {page.stem: page.stat().st_size for page in site.glob("*.html")}
    assert set(pages) == {lesson.stem for lesson in LESSONS} | {"index"}
    assert max(pages.values()) < MOST_BYTES


@pytest.mark.parametrize("name", [lesson.stem for lesson in LESSONS] + ["index"])
def test_a_page_opens_and_fits(site: Path, window: Any, name: str) -> None:
    page, complaints, asked = window.new_page(), [], []
    page.on("console", lambda one: one.type in ("error", "warning") and complaints.append(one.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto((site / f"{name}.html").as_uri())
        for number in range(page.locator(".panel").count()):
            page.locator(".panel").nth(number).scroll_into_view_if_needed()
        for width in (390, 900, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        assert "<details>" not in page.inner_text("body")
        assert [url for url in asked if not url.startswith((site.as_uri(), "data:", "blob:"))] == []
        assert complaints == []
    finally:
        page.close()
