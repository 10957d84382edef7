"""The teacher's page in a browser, beside a class that is played."""

from __future__ import annotations

import json

import pytest
from jinja2 import Environment, FileSystemLoader

pytest.importorskip("voila")

from netcalc.cli.classroom.pages import PAGES

pytestmark = pytest.mark.core

PAGE = Environment(loader=FileSystemLoader(PAGES), autoescape=True).get_template("teacher.html")


def row(name, kernel):
    return {"student": f"key of {name}", "name": name, "lesson": "01", "kernel": kernel,
            "since_s": 0.0, "memory_bytes": 80_000_000, "doing": "idle"}  # fmt: skip


@pytest.fixture
def teacher(browser):
    """The page, the rows that its server tells, and what it was asked to end."""
    context = browser.new_context()
    page = context.new_page()
    page.rows, page.ended, page.status = [row("Bob", "b"), row("Bob", "c")], [], 200
    page.refused, page.crowds, page.not_shown = 204, [], 0

    def answer(route):
        if route.request.url.endswith("/state"):
            told = {"rows": page.rows, "students": len({one["student"] for one in page.rows}),
                    "not_shown": page.not_shown, "crowds": page.crowds, "now_s": 120.0}  # fmt: skip
            route.fulfill(
                status=page.status, body=json.dumps(told), content_type="application/json"
            )
        elif route.request.url.endswith("/script.js"):
            route.fulfill(path=PAGES / "teacher.js", content_type="text/javascript")
        elif route.request.url.endswith("/end"):
            page.ended.append(route.request.post_data)
            route.fulfill(status=page.refused)
        else:
            shown = PAGE.render(base_url="/", code="ABCD-EFGH", xsrf="")
            route.fulfill(body=shown, content_type="text/html")

    page.route("**/*", answer)
    page.goto("http://class.test/teacher")
    page.get_by_text("1 students, 2 kernels, 160 MB").wait_for()
    yield page
    context.close()


def test_a_button_that_is_pressed_stays_under_the_finger(teacher):
    button = teacher.get_by_role("button", name="End kernel").last
    button.hover()
    teacher.mouse.down()
    teacher.rows.insert(0, row("Ann", "a"))  # everybody moves down by one
    teacher.evaluate("draw()")
    assert teacher.locator("#rows tr").count() == 2
    teacher.mouse.up()
    teacher.wait_for_function("document.querySelectorAll('#rows tr').length === 3")
    assert teacher.ended == ["what=kernel&which=c"]


def test_the_focus_stays_on_the_row_it_is_on(teacher):
    teacher.get_by_role("button", name="End kernel").first.focus()
    teacher.evaluate("draw()")
    assert teacher.evaluate("document.activeElement.dataset.key") == "End kernel b"


def test_who_is_sent_away_is_asked_for_first(teacher):
    teacher.once("dialog", lambda dialog: dialog.dismiss())
    teacher.get_by_role("button", name="Send away").first.click()
    assert teacher.ended == []
    said = []
    teacher.once("dialog", lambda dialog: (said.append(dialog.message), dialog.accept()))
    with teacher.expect_response("**/end"):
        teacher.get_by_role("button", name="Send away").first.click()
    assert said == ["Send Bob away?"]
    assert teacher.ended == ["what=student&which=key+of+Bob"]


def test_a_refusal_and_a_login_that_is_over_are_said(teacher):
    teacher.refused = 403
    with teacher.expect_event("dialog") as found:
        teacher.once("dialog", lambda dialog: dialog.accept())
        teacher.get_by_role("button", name="End kernel").first.click()
    assert found.value.message == "That was refused (403): load this page again."
    teacher.status = 404
    teacher.get_by_text("You are no longer logged in here").wait_for()


def test_many_names_and_wrong_codes_of_an_address_are_told_with_buttons_against_them(teacher):
    teacher.crowds = [
        {"address": "192.0.2.9", "names": 34, "wrong": 12},
        {"address": "<b>", "names": 0, "wrong": 11},
    ]
    teacher.not_shown = 900
    teacher.evaluate("draw()")
    said = teacher.locator("#crowds p").all_inner_texts()
    assert said[0].startswith("34 names from 192.0.2.9 within a minute; 12 wrong codes from")
    assert said[1].strip() == "11 wrong codes from <b>."
    teacher.get_by_text("160 MB, 900 without a lesson not shown").wait_for()
    idle = teacher.get_by_role("button", name="Send away those without a lesson: 192.0.2.9")
    idle.focus()
    teacher.evaluate("draw()")
    assert teacher.evaluate("document.activeElement.ariaLabel") == idle.get_attribute("aria-label")
    with teacher.expect_response("**/end"):
        idle.click()
    teacher.once("dialog", lambda dialog: dialog.accept())
    with teacher.expect_response("**/end"):
        teacher.get_by_role("button", name="Send away all of this address: 192.0.2.9").click()
    assert teacher.ended == [f"what={kind}+of+address&which=192.0.2.9" for kind in ("idle", "all")]
