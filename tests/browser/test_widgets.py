"""The figure widget and its neighbours where only a real browser can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

WIDGETS = Path(__file__).with_name("widgets.ipynb")

GAVE_UP = "[anywidget] Failed to initialize model."

PING = b"""PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=60 time=30.5 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=60 time=31.5 ms

--- 192.0.2.1 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
rtt min/avg/max/mdev = 30.500/31.000/31.500/0.500 ms
"""


@pytest.mark.shown("lab", WIDGETS)
def test_hostile_names_are_shown_as_text(page):  # R35
    dialogs = []
    page.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.accept()))
    page.wait_figures(2)
    x, y = page.page.evaluate(
        """() => {
          const el = document.querySelector('.netcalc-figure');
          const { document: drawn } = el.netcalc;
          const view = drawn.views_manager.get_one(drawn.roots()[0]);
          const box = el.getBoundingClientRect();
          return [box.x + view.frame.x_scale.compute(2), box.y + view.frame.y_scale.compute(2)];
        }"""
    )
    page.page.mouse.move(x - 3, y)
    page.page.mouse.move(x, y)
    tooltip = page.page.locator(".bk-Tooltip").filter(has_text="<img src=x")
    tooltip.filter(has_text="2 s").first.wait_for()
    page.screenshot("hostile")
    assert dialogs == []
    assert page.page.locator(".netcalc-figure img[src=x]").count() == 0
    assert page.complaints() == []


@pytest.mark.shown("lab", WIDGETS)
def test_two_views_of_one_figure_and_a_run_that_is_stopped(page):
    page.wait_figures(2)
    before = page.column("mine", "x")
    page.page.get_by_role("button", name="Run", exact=True).click()
    page.wait_changed("mine", "x", before)
    page.page.get_by_role("button", name="Stop").click()
    page.page.get_by_text("stopped: the samples so far are kept").wait_for()
    page.page.locator(".netcalc-caption", has_text="steps were done").first.wait_for()
    page.wait_painted()
    page.screenshot("stopped")
    first, second = page.column("mine", "x", 0), page.column("mine", "x", 1)
    assert first == second
    assert page.complaints() == []


@pytest.mark.shown("lab", WIDGETS)
def test_an_upload_in_pieces_and_one_that_is_too_large(page, tmp_path):  # B9
    padded = tmp_path / "ping.txt"
    padded.write_bytes(PING + (b" " * 99 + b"\n") * 15_000)  # two pieces
    large = tmp_path / "large.txt"
    large.write_bytes(b"\n" * 2_000_001)
    page.wait_figures(2)
    before = page.column("mine", "x")
    field = page.page.get_by_label("Your own ping file")
    field.set_input_files(large)
    page.page.get_by_text("is too large to upload").wait_for()
    assert page.column("mine", "x") == before
    field.set_input_files(padded)
    page.page.get_by_text("Read ping.txt.").wait_for()
    page.wait_changed("mine", "x", before)
    assert page.column("mine", "y") == [pytest.approx(0.0305), pytest.approx(0.0315)]
    page.wait_painted()
    page.screenshot("uploaded")
    assert page.complaints() == []


@pytest.mark.shown("lab", WIDGETS)
def test_no_request_leaves_the_machine_and_each_is_noted(page):
    fetch = "url => fetch(url, {mode: 'no-cors'}).then(() => 'came').catch(() => 'refused')"
    for url in ("http://192.0.2.1/", "http://example.org/a.js", "https://cdn.example/b.js"):
        assert page.page.evaluate(fetch, url) == "refused"
        assert f"left the machine: {url}" in page.errors
    page.errors.clear()


AT_ONCE = """AbortSignal.timeout = () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort());
  return controller.signal;
}"""


@pytest.mark.shown("lab", WIDGETS, script=AT_ONCE, name="busy")
def test_a_figure_comes_on_a_machine_too_busy_for_anywidget(page):  # B11
    page.wait_figures(2)
    assert GAVE_UP in page.errors
    before = page.column("mine", "x")
    page.page.get_by_role("button", name="Run", exact=True).click()
    page.wait_changed("mine", "x", before)
    assert page.complaints() == []


@pytest.mark.shown("lab", WIDGETS)
def test_a_page_without_a_kernel_keeps_the_picture(page):  # B5
    page.wait_figures(2)
    page.page.evaluate(
        "async () => { await jupyterapp.shell.currentWidget.sessionContext.shutdown(); }"
    )
    page.wait_painted()
    assert page.figure(0).locator("canvas").count() > 0
    page.screenshot("no-kernel")
