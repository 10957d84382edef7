"""Lesson 11 in a real browser: a formula is found, fed, refused, solved, and shown as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc import calculator

LESSON = Path(__file__).parents[2] / "notebooks" / "11_calculator.ipynb"


def choose(panel, words):
    """Search for words; the formula that has them stands first, and is picked."""
    panel.get_by_placeholder("wait; 4 TB over").fill(words)
    command = f"·  {words.replace(' ', '-')}"
    first = panel.locator("select[size] option").first.filter(has_text=command)
    first.wait_for(state="attached")
    panel.locator("select[size]").select_option(index=0)


def field(panel, name):
    """The row of an argument."""
    return panel.locator(".netcalc-control").filter(has_text=name).first


@pytest.mark.shown("lab voila", LESSON)
def test_the_calculator_is_played_through(page):
    page.wait_figures(4)
    panel = page.page.locator(".netcalc-panel").first
    # published: Stevens vol. 3, A.3: a million bytes on a T1, 30 ms away
    panel.get_by_text("received: 5.211 s.").wait_for()
    # derived: 100 kB, a tenth of the example: 30 ms and 8e5 bit on a T1
    assert page.column("transfer time", "y")[0] == pytest.approx(0.03 + 8e5 / 1.544e6)
    page.figure(0)
    page.screenshot("first")

    bandwidth = field(panel, "bandwidth").locator("input")
    bandwidth.fill("5M")
    bandwidth.press("Enter")
    panel.get_by_role("alert").filter(has_text="bandwidth").wait_for()
    page.screenshot("refused")
    bandwidth.fill("8 Mbit/s")
    bandwidth.press("Enter")
    panel.get_by_text("received: 1.03 s.").wait_for()  # derived: 8e6 bit at 8 Mbit/s, 30 ms
    page.wait_figures(4)

    panel.locator("select").last.select_option(label="bandwidth")
    result = panel.get_by_placeholder("a time such as 30 ms").last
    result.fill("82 ms")
    result.press("Enter")
    panel.get_by_text("bandwidth: 153.8 Mbit/s").wait_for()  # derived: 8e6 bit / 52 ms
    page.screenshot("solved")

    choose(panel, "write timeline")
    panel.get_by_text("waits for acknowledgement").wait_for()
    page.screenshot("table")
    panel.get_by_placeholder("wait; 4 TB over").fill("")
    panel.get_by_text(f"{len(calculator.listed()[0][2])} formulas found").wait_for()
    # A sentence: the answer, the role of each number, and the form filled with them.
    panel.get_by_placeholder("wait; 4 TB over").fill("BDP of 1 Gbit/s with 80 ms rtt")
    panel.get_by_text("10 MB").first.wait_for()  # derived: 1e9 bit/s for 0.08 s, over 8
    panel.get_by_text("netcalc calc bdp", exact=False).first.wait_for()
    page.screenshot("sentence")
    choose(panel, "datagram mbufs")
    panel.get_by_text("mbufs: 1, clusters: 0.").wait_for()
    page.wait_figures(4)
    page.wait_painted()
    # published: Stevens vol. 3, A.2: one mbuf for no data, three at most before the cluster
    assert (page.column("mbufs", "y")[0], max(page.column("mbufs", "y"))) == (1, 3)
    page.screenshot("several")
    assert page.complaints() == []


@pytest.mark.shown("lab voila", LESSON)
def test_lists_codecs_and_ranges_are_typed_into_fields(page):
    page.wait_figures(4)
    panel = page.page.locator(".netcalc-panel").first
    choose(panel, "transfer")  # the page is that of the test before
    panel.get_by_text("received: 5.211 s.").wait_for()

    latency = field(panel, "latency").locator("input")
    latency.fill("30 ms ± 5 ms")
    latency.press("Enter")
    # derived: 8e6 bit on a T1 are 5.1813 s; 1.645 standard deviations are 8.2 ms
    panel.get_by_text("p5 5.203 s, median 5.211 s, p95 5.22 s (matters most: latency).").wait_for()
    panel.locator("td", has_text="5.203 s").first.wait_for()
    page.wait_figures(4)
    page.wait_painted()
    # derived: the band is the same at each size, 16.4 ms
    band = page.column("median", "high")[0] - page.column("median", "low")[0]
    assert band == pytest.approx(2 * 1.645 * 0.005, rel=0.01)
    page.screenshot("range")

    latency.fill("10ms,20ms,30ms")
    latency.press("Enter")
    panel.locator("td", has_text="5.191 s").wait_for()  # derived: 5.1813 s and 10 ms
    page.wait_figures(4)
    page.wait_painted()
    assert page.column("latency 30 ms", "y")[0] == pytest.approx(0.03 + 8e5 / 1.544e6)
    page.screenshot("list")

    latency.fill("40..20 ms")
    latency.press("Enter")
    panel.get_by_role("alert").filter(has_text="goes from 40 ms down to 20 ms").wait_for()
    page.screenshot("range-refused")

    choose(panel, "voip bandwidth")
    field(panel, "interval").wait_for()  # the formula before has a payload, too
    payload = field(panel, "payload").locator("input")
    payload.fill("G.729")
    payload.press("Enter")
    # derived: 20 ms of 8 kbit/s are 20 bytes, with 40 of RTP, UDP and IP and 38 of Ethernet 98
    panel.get_by_text("named: 39.2 kbit/s").wait_for()
    page.screenshot("codec")
    assert page.complaints() == []
