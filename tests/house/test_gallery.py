"""The gallery and the pages that are computed for the documentation: what they draw and say."""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
EXT = ROOT / "docs" / "ext"


def loaded(name):
    """Return a module of ``docs/ext``, which is not a package."""
    pytest.importorskip("sphinx")
    sys.path.insert(0, str(EXT))
    try:
        spec = importlib.util.spec_from_file_location(f"docs_{name}", EXT / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(EXT))


@pytest.fixture(scope="module")
def gallery():
    return loaded("gallery")


@pytest.fixture(scope="module")
def drawn(gallery):
    """All examples by name."""
    return {one.name: one for chapter in gallery.CHAPTERS for one in gallery.examples(chapter)}


def at(example, source, x):
    """Return what a curve of an example has at a place, read off its columns."""
    data = example.plot.sources[source].data
    return float(np.interp(x, np.asarray(data["x"], float), np.asarray(data["y"], float)))


def test_there_are_forty_and_every_file_belongs_to_a_chapter(gallery, drawn):
    assert len(drawn) >= 40
    assert len(drawn) == len(list(gallery.SOURCES.rglob("*.py"))), "names are unique, none is left"


def test_each_has_few_lines_a_title_and_a_caption_of_one_sentence(drawn):
    for name, one in drawn.items():
        assert one.lines <= 10, name
        assert len(one.code.splitlines()) >= 3, name
        assert one.title, name
        assert not one.title.endswith("."), name
        assert one.caption.endswith("."), name
        assert len(re.findall(r"[.!?](?: [A-Z]|$)", one.caption)) == 1, name


@pytest.mark.slow
def test_each_draws_something(drawn):
    for name, one in drawn.items():
        columns = [v for source in one.plot.sources.values() for v in source.data.values()]
        numbers = [np.asarray(v, float) for v in columns if np.asarray(v).dtype.kind in "fiu"]
        assert any(v.size and np.isfinite(v).any() for v in numbers), name


def test_the_page_has_each_figure_with_its_place_and_code(gallery, drawn):
    index = gallery.index_text()
    page = gallery.chapter_text("tcp")
    for one in gallery.examples("tcp"):
        assert f"tcp.html#{one.anchor}" in index
        assert f"({one.anchor})=" in page
        assert one.code in page
        assert '"""' not in one.code


# What captions say, from elsewhere than the models: by hand, or published.
NUMBERS = {
    ("frames_per_second", "1 Gbit/s", 64): 1e9 / (8 * 84),  # published: RFC 5180
    ("frames_per_second", "1 Gbit/s", 1518): 1e9 / (8 * 1538),
    ("percentiles", "mean", 0.9): 9e-3,  # rho / (1 - rho)
    ("percentiles", "p99", 0.9): 1e-3 * math.log(90) / 0.1,
    ("wait_and_load", "M/M/1", 0.8): 4e-3,
    ("wait_and_load", "M/D/1", 0.8): 2e-3,
    ("window_limit", "64 KiB", 0.1): 8 * 65536 / 0.1,
    ("share_of_latency", "1000 Mbit/s", 3.75e6): 0.5,  # 30 ms at 1 Gbit/s
    ("share_of_latency", "1.544 Mbit/s", 5790): 0.5,
    ("goodput_and_mtu", "TCP over IPv4", 1500): 1448 / 1538,
    ("goodput_and_mtu", "TCP over IPv4", 9000): 8948 / 9038,
    ("router_against_line", "with the router", 397): 30e3,
    ("aloha", "pure", 0.5): 0.5 / math.e,
    ("aloha", "slotted", 1.0): 1 / math.e,
    ("cut_through", "store-and-forward", 1518): 4 * 1518 * 8e-9,
    ("growth_of_cubic", "peak of 100", 0.0): 70,
    ("growth_of_cubic", "peak of 100", (100 * 0.3 / 0.4) ** (1 / 3)): 100,
    ("cycles_of_a_packet", "64 bytes", 1e11): 3e9 / (1e11 / (8 * 84)),
    ("buffer_and_use", "CUBIC", 1 / 0.7 - 1): 1,
    ("buffer_and_use", "Reno", 1.0): 1,
    ("sharing_of_many", "enough for 99.0% of the time", 10): 4e5,  # P(X <= 4) of B(10, 0.1)
    ("sharing_of_many", "enough for 99.0% of the time", 100): 1.8e5,
    ("spare_links", "2 links", 0.99): 1e-4 * 31557600,
    ("spare_links", "3 links", 0.99): 1e-6 * 31557600,
    ("calls_and_lines", "10 lines", 4.46): 0.01,  # published: tables of Erlang B
    ("calls_and_lines", "20 lines", 12.03): 0.01,
    ("loss_of_a_short_queue", "10 places", 0.8): 0.2 * 0.8**10 / (1 - 0.8**11),
    ("loss_of_a_short_queue", "20 places", 0.8): 0.2 * 0.8**20 / (1 - 0.8**21),
    ("token_bucket", "token bucket", 0.03): 1e6 + 0.03 * 1e8 / 8,
    ("first_byte", "TCP, TLS 1.2", 0.3): 4 * 0.3,
    ("first_byte", "TCP, TLS 1.3", 0.3): 3 * 0.3,
    ("first_byte", "QUIC", 0.3): 2 * 0.3,
}


def test_the_numbers_of_the_captions_are_those_of_the_figures(drawn):
    for (name, source, x), wanted in NUMBERS.items():
        # 2 %: a curve is read between two of its points
        assert at(drawn[name], source, x) == pytest.approx(wanted, rel=0.02), (name, source)


def test_what_captions_compare(drawn):
    page = drawn["web_page"]
    assert at(page, "HTTP/1.1", 66) - at(page, "HTTP/1.1", 60) == pytest.approx(0.05)
    short = drawn["short_transfers"]
    assert at(short, "100 Mbit/s", 9e4) == pytest.approx(at(short, "10000 Mbit/s", 9e4), rel=0.1)
    fitted = drawn["fits_of_known_lines"].plot.sources["fitted"].data
    assert np.abs(np.asarray(fitted["y"]) / np.asarray(fitted["x"]) - 1).max() < 0.03
    waits = drawn["priorities"]
    assert at(waits, "second class", 0.75) / at(waits, "first class, 20 % load", 0.75) == (
        pytest.approx(20)
    )
    cells = drawn["atm_cells"].plot.sources["PPPoA, VC-Mux"].data["y"]
    assert np.diff(cells).min() < 0 < np.diff(cells).max(), "a saw rises and falls"


def test_each_data_set_has_a_page_with_its_sheet_and_a_picture():
    pages = loaded("data_pages")
    names = pages.datasets.names()
    undrawn = {name for name in names if pages.picture(name) is None}
    assert undrawn == {"book_claims"}, "it holds formulas, no numbers"
    for name in names:
        text = pages.page_text(name, drawn=name not in undrawn)
        assert f"datasets.load({name!r})" in text
        assert "## Source" in text


def test_a_lesson_keeps_its_figures_and_loses_the_names_of_widgets():
    tutorials = loaded("tutorials")
    text = tutorials.lesson(tutorials.NOTEBOOKS / "01_latency_and_bandwidth.ipynb")
    assert text.count("<svg") >= 5
    assert "widget-view" not in text
