"""A Chromium that reaches nothing but the files it is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (p for p in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(p).exists()), None
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def missing() -> str:
    """Say why no page can be opened; empty where one can."""
    if CHROMIUM is None:
        return "Chromium is missing"
    return "" if find_spec("playwright") else "playwright is missing"


@contextmanager
def driver() -> Iterator[Any]:
    """Give the one driver of browsers that a process may have; the last who leaves ends it.

    A worker runs files of several folders in any order, each with a browser of its own.
    """
    from playwright import sync_api

    # This file may be imported under two names; the library is there once.
    shared = sync_api.__dict__.setdefault("_netcalc_tests", {"users": 0, "driver": None})
    if not shared["users"]:
        shared["driver"] = sync_api.sync_playwright().start()
    shared["users"] += 1
    try:
        yield shared["driver"]
    finally:
        shared["users"] -= 1
        if not shared["users"]:
            shared["driver"].stop()


@contextmanager
def chromium(flags: Sequence[str] = FLAGS) -> Iterator[Any]:
    """Start the system's Chromium, and end it."""
    with driver() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(flags))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Any, url: str, *, width: int = 1280, within: str = "", **options: Any
) -> Iterator[Any]:
    """Open a page; it fails for errors, and for requests to anything but itself or ``within``."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    complaints: list[str] = []
    page = context.new_page()
    here = (within, "data:") if within else url.partition("#")[0]
    page.on("request", lambda one: one.url.startswith(here) or complaints.append(one.url))
    page.on("console", lambda one: one.type == "error" and complaints.append(one.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(url)
        yield page
    finally:
        context.close()
    assert complaints == [], complaints
