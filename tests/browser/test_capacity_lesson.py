"""Lesson 12 in a real browser: one step changes a number, the later steps take it over."""

from __future__ import annotations

import re
from math import log
from pathlib import Path

import pytest

LESSON = Path(__file__).parents[2] / "notebooks" / "12_capacity_planning.ipynb"
PING, TRANSFER, USERS, RANGES, GROWTH, MAP, BOUGHT = range(7)
ONE_SIZE = "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n" + "".join(
    f"64 bytes from 192.0.2.9: icmp_seq={n} ttl=64 time={ms} ms\n"
    for n, ms in enumerate((41.5, 40.0, 43.0), start=1)
)


def panel_of(page, step):
    """The panel of a step."""
    return page.page.locator(".netcalc-panel").nth(step)


def put(page, step, name, text):
    """Type a value into a control of a step."""
    row = panel_of(page, step).locator(".netcalc-control").filter(has_text=name).first
    box = row.locator("input[type=text]")
    box.fill(text)
    box.press("Enter")


@pytest.mark.shown("lab voila", LESSON)
def test_a_line_is_planned_from_a_ping_and_users(page):
    page.wait_figures(7)
    page.wait_painted()
    for step, name in enumerate(("ping", "transfer", "users", "ranges", "growth", "map", "bought")):
        page.figure(step)
        page.wait_painted()
        page.screenshot(name)
    # derived: 36 Mbit/s, 18 of 120 users, are 80 % of 100 Mbit/s after so many years of 25 %
    assert page.column("full in", "x", GROWTH)[0] == pytest.approx(log(80 / 36) / log(1.25))

    page.page.set_input_files(
        "input[type=file]",
        {"name": "mine.txt", "mimeType": "text/plain", "buffer": ONE_SIZE.encode()},
    )
    panel_of(page, PING).get_by_text("Read mine.txt.").wait_for()
    put(page, TRANSFER, "line", "1 Gbit/s")
    # derived: 64 KiB each 40 ms
    panel_of(page, TRANSFER).get_by_text("the window limits it").first.wait_for()
    found = page.column("rate of the line", "y", TRANSFER)
    assert found[0] == pytest.approx(1e9 / 65536 * 0.04 / 60, rel=0.01)  # minutes

    put(page, USERS, "users", "35")
    put(page, USERS, "rate of a user", "1 Mbit/s")
    # derived: 7 of 35 users, 10 % of the time active, are exceeded 2 % of the time, 6 of them 6 %
    panel_of(page, USERS).get_by_text(
        re.compile(r"7 Mbit/s( \([\w ]+\))? are enough for 95% of the time")
    ).first.wait_for()
    for step in (GROWTH, BOUGHT):
        panel_of(page, step).get_by_text(
            re.compile(r"7 Mbit/s( \([\w ]+\))? at the 95th percentile")
        ).first.wait_for()
    assert page.column("full in", "x", GROWTH)[0] == pytest.approx(log(80 / 7) / log(1.25))

    over = panel_of(page, MAP).get_by_label("map", exact=True)
    over.select_option("window and round trip of a transfer")
    panel_of(page, MAP).get_by_text("the cheapest step out of it is a window").first.wait_for()
    page.figure(MAP)
    page.wait_painted()
    page.screenshot("window-map")
    texts = panel_of(page, BOUGHT).locator("pre").all_inner_texts()
    assert "hq,office,7 Mbit/s" in texts[1]
    assert "--rtt '40 ms'" in texts[2]
    panel_of(page, BOUGHT).locator("pre").last.scroll_into_view_if_needed()
    page.screenshot("commands")
    assert page.complaints() == []
