"""Lessons 00, 01 and 04 in a real browser; the other ones are played through in files beside."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import nbformat
import pytest

from netcalc.samples import RttSamples, loads

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LESSON_00, LESSON_01, LESSON_04 = (
    next(lesson for lesson in LESSONS if lesson.name.startswith(number))
    for number in ("00", "01", "04")
)
ECHO, OWN = 5, 6  # figures of lesson 01: an echo over a path, the reader's own measurement
STEP = 7  # of lesson 04: the live step

# Ping as iputils prints it, three probes each of two sizes: 10 ms and 50 ms at best.
PING = "".join(
    f"PING 192.0.2.7 (192.0.2.7) {size}({size + 28}) bytes of data.\n"
    + "".join(
        f"{size + 8} bytes from 192.0.2.7: icmp_seq={n + 1} ttl=64 time={time + n} ms\n"
        for n in range(3)
    )
    + "\n--- 192.0.2.7 ping statistics ---\n"
    "3 packets transmitted, 3 received, 0% packet loss, time 2002ms\n"
    f"rtt min/avg/max/mdev = {time}.000/{time + 1}.000/{time + 2}.000/0.816 ms\n"
    for size, time in ((100, 10), (1100, 50))
)


def panels(lesson: Path) -> int:
    """How many figures a lesson shows: cells that end in a panel."""
    cells = nbformat.read(lesson, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    return sum("_panel(" in source for source in sources)


def drawn(page):
    """The page, with all figures of its lesson on it."""
    page.wait_figures(panels(page.sheet.notebook))
    page.reveal()
    return page


def panel_of(page, number):
    """The panel around a figure."""
    return page.page.locator(".netcalc-panel").nth(number)


def measured(page, figure):
    """Sizes and times of the run that a figure shows."""
    return [
        page.column("points", name, figure) + page.column("outliers", name, figure)
        for name in ("x", "measured")
    ]


def test_every_lesson_is_played_through():
    """Each one is opened by a test in JupyterLab, with all of its figures drawn."""
    files = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    shown = {name for text in files for name in re.findall(r"\b(\d\d\w?)_\w+\.ipynb", text)}
    assert shown | {"00", "01", "04"} == {lesson.name.partition("_")[0] for lesson in LESSONS}


@pytest.mark.core
@pytest.mark.shown("lab", LESSON_00)
def test_lesson_00_runs_whole(page):
    drawn(page)
    page.screenshot("page")
    assert page.complaints() == []


@pytest.mark.shown("lab", LESSON_00)
def test_a_cell_that_fails_is_found(page):
    page.wait_figures(panels(LESSON_00))
    page.run_changed("import netcalc\n", "import netcalc, netcalc.nothing\n")
    assert any("netcalc.nothing" in text for text in page.complaints())
    page.run_changed("import netcalc, netcalc.nothing\n", "import netcalc\n")
    assert page.complaints() == []


@pytest.mark.core
@pytest.mark.untouched
@pytest.mark.shown("voila", LESSON_01)
def test_a_lesson_is_a_page_without_code(page):
    drawn(page)
    last = panels(page.sheet.notebook) - 1
    page.figure(last)
    page.wait_painted()
    page.screenshot("page")
    assert page.page.locator(".jp-CodeMirrorEditor, .jp-InputArea-editor").count() == 0
    assert page.complaints() == []


@pytest.mark.shown("lab notebook voila", LESSON_01)
def test_lesson_01_is_played_through(page, tmp_path):
    drawn(page)
    # The slider moves the curve: derived, d + 8N/R for the first size, 100 bytes, on a T1.
    before, pixels = page.column("T1", "y"), page.pixels()
    assert before[0] == pytest.approx(0.03 + 800 / 1.544e6)
    page.drag(0, 1.0)
    page.wait_first("T1", "y", 10 + 800 / 1.544e6)
    page.wait_painted()
    assert page.pixels() != pixels
    page.screenshot("slider")

    # A live run puts new points into the figure of the reader's own measurement.
    recorded = page.column("points", "measured", OWN)
    assert recorded[0] == pytest.approx(0.0114)  # what the recorded ping printed at 8 bytes
    panel_of(page, OWN).get_by_role("button", name="Run an echo").click()
    panel_of(page, OWN).get_by_text("done", exact=True).wait_for()
    page.wait_painted()
    sizes, times = measured(page, OWN)
    assert len(sizes) == 15  # the sizes of the book's experiment
    assert max(times) < min(recorded)
    page.figure(OWN)
    page.screenshot("live")

    # A file of one's own is read and overlaid: the smallest of each size.
    own = tmp_path / "my ping.txt"
    own.write_text(PING)
    panel_of(page, OWN).get_by_label("Your own ping file").set_input_files(own)
    page.page.locator(".netcalc-panel").get_by_text("Read my ping.txt.").wait_for()
    page.wait_painted()
    assert page.column("points", "x", OWN) == [100, 1100]
    assert page.column("points", "measured", OWN) == pytest.approx([0.010, 0.050])
    # derived: 16 x 1000 bytes / 40 ms
    assert "400 kbit/s" in page.figure(OWN).get_attribute("aria-label")
    page.screenshot("upload")
    assert page.complaints() == []


def typed(page, text):
    """Type a path of one's own into the echo's panel."""
    panel = panel_of(page, ECHO)
    panel.locator("select").first.select_option(label="your own, typed below")
    field = panel.get_by_placeholder("links, separated by commas")
    field.fill(text)
    field.press("Enter")
    return panel


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.shown("lab voila", LESSON_01)
def test_an_echo_over_a_path_is_run_saved_and_opened_again(page, tmp_path):
    drawn(page)
    panel = typed(page, "10 Mbit/s 1 ms, 10 Mbit/s 1 ms")
    button = panel.get_by_role("button", name="Run an echo over this path")
    button.focus()
    page.page.keyboard.press("Enter")
    panel.get_by_text("done", exact=True).wait_for()
    panel.get_by_text("Measurement error: timer resolution").wait_for()
    page.wait_painted()
    sizes, times = measured(page, ECHO)
    assert sizes == [8, *range(100, 1401, 100)]  # published: the sizes of the book
    # derived: 4 ms, and 32 bits of each byte at 10 Mbit/s; a busy machine takes longer
    assert all(
        time > 0.004 + 32 * (size + 28) / 10e6 - 1e-4
        for size, time in zip(sizes, times, strict=True)
    )
    assert page.column("Stevens: connix.com to noao.edu", "y", ECHO) == [0.08, 0.193]
    page.figure(ECHO)
    page.screenshot("echo")

    with page.page.expect_download() as download:
        panel.get_by_role("link", name="Save these samples").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.name.startswith("echo-over-a-path-2")
    samples = loads(gzip.decompress(saved.read_bytes()))
    assert isinstance(samples, RttSamples)
    assert len(samples) == 45

    panel.locator("select").first.select_option(label="loopback of this machine")
    panel.get_by_label("Open saved samples").set_input_files(saved)
    panel.get_by_text(f"Read {saved.name}. Measured 2").wait_for()
    page.wait_painted()
    assert measured(page, ECHO) == [sizes, times]
    chosen = panel.locator("select").first.evaluate("s => s.selectedOptions[0].label")
    assert chosen.replace("\xa0", " ") == "your own, typed below"
    assert page.complaints() == []


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.shown("lab", LESSON_01)
def test_a_run_outlives_an_interrupt_of_the_kernel_and_ends_by_its_button(page):
    drawn(page)
    panel = typed(page, "T1 100 ms")
    button = panel.get_by_role("button", name="Run an echo over this path")
    button.click()
    bar = panel.locator(".progress-bar").first
    panel.get_by_text("running", exact=True).wait_for()
    longer = "([bar, width]) => parseFloat(getComputedStyle(bar).width) > width"
    page.wait_for(longer, [bar.element_handle(), 1])
    page.page.evaluate(
        """async () => {
          await jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt();
        }"""
    )
    page.wait_for(longer, [bar.element_handle(), bar.bounding_box()["width"]])
    assert panel.get_by_text("running", exact=True).count() == 1
    stop = panel.get_by_role("button", name="Stop")
    stop.focus()
    page.page.keyboard.press("Enter")
    panel.get_by_text("stopped: the samples so far are kept").wait_for()
    sizes, times = measured(page, ECHO)
    assert 0 < len(sizes) < 15
    assert min(times) > 0.2
    assert "ended by stop" in page.figure(ECHO).get_attribute("aria-label")
    panel.get_by_role("link", name="Save these samples").wait_for()
    page.screenshot("stopped")
    assert page.complaints() == []


@pytest.mark.live
@pytest.mark.namespace
@pytest.mark.shown("lab", LESSON_04)
def test_the_step_of_lesson_04_is_measured(page):
    drawn(page)
    panel = panel_of(page, STEP)
    panel.get_by_role("button", name="Run UDP transactions here").click()
    panel.get_by_text("done", exact=True).wait_for()
    page.wait_painted()
    words = page.figure(STEP).get_attribute("aria-label")
    assert "From 1508 to 1509 bytes" in words
    assert "almost 25% more" in words
    assert {1508, 1509} <= set(measured(page, STEP)[0])
    page.screenshot("step")
    assert page.complaints() == []
