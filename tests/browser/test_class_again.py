"""A lesson of a class in a browser, whose server is killed and started again."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("voila")
sys.path.insert(0, str(Path(__file__).parents[1] / "classroom"))

from running import RunningClass


def test_a_page_comes_back_by_itself_with_its_answers(browser):
    with (
        tempfile.TemporaryDirectory(prefix="netcalc-", dir="/tmp") as folder,
        RunningClass(Path(folder)) as first,
        browser.new_context() as context,
    ):
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(first.base)
        page.get_by_label("Your name").fill("Ann")
        page.get_by_label("Code").fill(first.code)
        page.get_by_role("button", name="Enter").click()
        page.get_by_role("link", name="Start here").click()
        answer = page.get_by_role("textbox", name="Answer to TR1")
        answer.fill("42 s")
        page.get_by_role("button", name="Check the answer to TR1").click()
        said = page.locator(".netcalc-said", has_text="Not yet.")
        said.wait_for()
        page.evaluate("window.isFirst = true")
        assert first.end_server(signal.SIGKILL) == 2
        with RunningClass(Path(folder), "--resume") as again:
            page.wait_for_function("() => !window.isFirst")
            said.wait_for()
            assert answer.input_value() == "42 s"
            assert again.stop() == 0
