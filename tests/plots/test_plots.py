"""Figures from arrays and comparisons: what they hold, say and refuse."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from netcalc import compare
from netcalc.errors import DomainError
from netcalc.models.delays.store_and_forward import pipeline_timeline
from netcalc.path import Path
from netcalc.plots import Axis, curves, overlay, save_html, svg, timeline
from netcalc.plots.plot import DRAWN_POINTS
from netcalc.samples import RttSamples

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert(1)</script> $$x^2$$ @x{safe} & "quoted"'
SIZES = np.array([100.0, 1000.0, 10_000.0])


def some_curves(**changes):
    arguments = {
        "x_axis": Axis("size", "byte", "log"),
        "y_axis": Axis("transfer time", "s", "log"),
        "points": {"measured": (SIZES, [0.03, 0.04, 0.08])},
        "title": "Transfer time",
    }
    return curves(SIZES, {"T1": 0.03 + SIZES * 5e-6}, **{**arguments, **changes})


def some_overlay(title="A ping", **options):
    size = np.arange(100.0, 1500.0, 100.0)
    rtt = 0.03 + size * 1e-5 + 1e-5 * np.sin(size)
    rtt[5] += 0.01  # one outlier
    samples = RttSamples(payload_bytes=size, rtt_s=rtt)
    return overlay(compare.overlay(samples, title=title), **options)


def some_timeline(count=1, **options):
    t1 = 1428 * 8 / 0.0075
    steps = pipeline_timeline(
        [1428] * count, bandwidth_bps=[t1, t1], latency_s=[0.005, 0.001], processing_s=0.001,
        source_processing_s=0.001, destination_processing_s=0.001,
    )  # fmt: skip
    return timeline(steps, ["host A", "router", "host B"], **options)


ALL = pytest.mark.parametrize("make", [some_curves, some_overlay, some_timeline])


@ALL
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_figure_has_a_document_a_picture_and_words(make, theme):
    plot = make(theme=theme)
    assert plot.description
    assert plot.document() is plot.document()
    document = json.dumps(plot.document().to_json(deferred=False))
    for name in plot.sources:
        assert f'"{name}"' in document
    picture = ElementTree.fromstring(svg(plot))
    assert picture.find(f"{SVG}title").text == plot.description
    assert len(svg(plot)) < 30_000  # two copies of it are saved with a figure of 100 kB


@ALL
def test_pictures_on_one_page_share_no_names(make):
    """Two pictures with one name clip each other; the same picture is the same text every time."""
    pictures = [svg(make()), svg(make(title="Another")), svg(make(theme="dark"))]
    names = [set(re.findall(r'id="([^"]+)"', picture)) for picture in pictures]
    used = [set(re.findall(r"url\(#([^)]+)\)", picture)) for picture in pictures]
    assert names == used
    assert len(set.union(*names)) == sum(map(len, names))
    assert svg(make()) == pictures[0]


@ALL
def test_hostile_titles_stay_text(make):
    plot = make(title=HOSTILE)
    picture = svg(plot)
    assert "<script" not in picture
    assert HOSTILE in [text.text for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    # as plain text bokeh neither sets it as formula nor loads the library for that
    assert '"PlainText"' in json.dumps(plot.document().to_json(deferred=False))


def test_hostile_names_stay_text():
    plot = some_curves(points={HOSTILE: ([1.0], [1.0])})
    assert "<script" not in svg(plot)
    document = plot.document().to_json(deferred=False)
    templates = re.findall(r'"tooltips": (\[.*?\]), "formatters"', json.dumps(document))
    assert templates
    assert not any("script" in template for template in templates)


@ALL
def test_a_saved_page_needs_no_network(make, tmp_path):
    page = save_html(make(), tmp_path / "figure.html").read_text()
    assert "Bokeh" in page
    tags = re.sub(r"(?s)(<script[^>]*>).*?</script>", r"\1", page)  # what the page itself loads
    assert not re.search(r"<script[^>]* src=|<link|<img|url\(", tags)


def test_axes_carry_their_units():
    texts = [t.text for t in ElementTree.fromstring(svg(some_curves())).iter(f"{SVG}text")]
    assert "size" in texts
    assert "transfer time" in texts
    assert "10 kB" in texts


def test_columns_are_replaced_by_name():
    plot = some_curves()
    plot.replace("T1", y=[1.0, np.inf, np.nan])
    assert np.array_equal(plot.sources["T1"].data["y"], [1.0, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(plot.sources["T1"].data["x"], SIZES)
    plot.replace("T1", x=[1, 2], y=[3, 4])
    assert plot.sources["T1"].data["x"].dtype == np.float64


@pytest.mark.each(
    ("curve", "columns", "code", "values"),
    [
        ("T2", {"y": SIZES}, "not-a-choice", {"value": "T2", "choices": ["T1", "measured"]}),
        ("T1", {"z": SIZES}, "not-a-choice", {"value": "z", "choices": ["x", "y"]}),
        ("T1", {"y": [1.0]}, "unequal-curves", {"value": [SIZES.size, 1]}),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(curve, columns, code, values):
    plot = some_curves()
    before = plot.sources["T1"].data["y"].tolist()
    with pytest.raises(DomainError) as refused:
        plot.replace(curve, **columns)
    assert refused.value.code == code
    assert {name: refused.value.values[name] for name in values} == values
    assert str(refused.value), "has a sentence"
    assert plot.sources["T1"].data["y"].tolist() == before


def test_a_million_points_are_thinned_and_it_is_said():  # B8
    many = np.linspace(1, 2, 10**6)
    plot = some_curves(points={"measured": (many, many)})
    assert len(plot.sources["measured"].data["x"]) <= DRAWN_POINTS
    assert "of 1,000,000 points are drawn" in plot.description
    assert len(svg(plot)) < 50_000


def test_a_curve_of_a_million_points_is_thinned_and_it_is_said():  # B8
    x = np.linspace(0, 1, 10**6)
    plot = curves(x, {"y": x}, x_axis=Axis("x", "1"), y_axis=Axis("y", "1"))
    assert len(plot.sources["y"].data["x"]) <= DRAWN_POINTS
    assert plot.description.endswith("5,000 of 1,000,000 points are drawn.")


@pytest.mark.slow
def test_two_hundred_flows_of_many_points_are_a_small_page(tmp_path):  # B8
    x = np.linspace(0, 1, 100_000)
    flows = {f"flow {i}": x * i for i in range(200)}
    plot = curves(x, flows, x_axis=Axis("x", "1"), y_axis=Axis("y", "1"))
    assert save_html(plot, tmp_path / "flows.html").stat().st_size < 5e6
    assert "500 of 100,000 points are drawn" in plot.description
    assert len(plot.replace("flow 7", x=x, y=2 * x)["y"]) == 500


def test_a_curve_and_points_of_one_name_are_refused():
    with pytest.raises(DomainError) as refused:
        some_curves(points={"T1": (SIZES, SIZES)})
    assert (refused.value.code, refused.value.value) == ("name-in-use", ["T1"])
    assert str(refused.value) == ("the names of points must be unique; the figure already has T1")


def test_an_overlay_keeps_outliers_apart_and_residuals_with_their_points():
    plot = some_overlay()
    points, outliers = plot.sources["points"].data, plot.sources["outliers"].data
    assert outliers["x"].tolist() == [600.0]  # the one that was moved by 10 ms
    assert outliers["residual"][0] == pytest.approx(0.01, abs=1e-4)
    for data in (points, outliers):
        assert data["measured"] - data["predicted"] == pytest.approx(data["residual"])


def test_a_timeline_has_the_times_of_the_book():
    # published: TCP/IP Illustrated vol. 3, Fig. A-9, with its misprint of 25 for 23 ms corrected
    data = some_timeline().sources["packets"].data
    assert data["xs"] == [
        pytest.approx([0.001, 0.0085, 0.0135, 0.006]),
        pytest.approx([0.0145, 0.022, 0.023, 0.0155]),
    ]
    assert data["link"] == ["host A to router", "router to host B"]


def test_a_long_train_is_cut_and_it_is_said():
    plot = some_timeline(count=5000)
    assert len(plot.sources["packets"].data["xs"]) <= 400
    assert "of 5000 packets are drawn" in plot.description


def test_as_many_names_as_nodes():
    t1 = pipeline_timeline([1428], bandwidth_bps=[1.5e6, 1.5e6])
    with pytest.raises(DomainError) as refused:
        timeline(t1, ["only one"])
    assert refused.value.code == "wrong-node-count"
    assert str(refused.value) == "nodes must be 3 names, one more than links, got 1"


def test_plots_of_one_form_differ_in_columns_only():
    assert some_timeline(1).form == some_timeline(4).form
    assert some_timeline(title="a").form != some_timeline(title="b").form
    assert some_curves().form != some_curves(theme="dark").form


def test_points_of_another_source_stand_beside_in_no_residual():
    plot = some_overlay(beside={"a book": ([0.0, 1400.0], [0.08, 0.193])})
    assert plot.sources["a book"].data["y"].tolist() == [0.08, 0.193]
    assert "a book" in svg(plot)
    assert plot.form != some_overlay().form
    with pytest.raises(DomainError) as refused:
        some_overlay(beside={"points": ([1.0], [1.0])})
    assert (refused.value.code, refused.value.value) == ("name-in-use", ["points"])


def test_lines_of_other_theories_are_drawn_without_a_residual():
    plot = some_overlay(lines={"another model": ([0.0, 1400.0], [0.08, 0.193])})
    assert plot.sources["another model"].data["y"].tolist() == [0.08, 0.193]
    upper, lower = plot.figure.children
    dashed = [one.glyph.line_dash for one in upper.renderers if one.data_source.name ==
              "another model"]  # fmt: skip
    assert dashed == [[10, 4]], "unlike the curve whose residuals are below"
    assert "another model" not in [one.data_source.name for one in lower.renderers]
    assert "another model" in entries(plot)
    with pytest.raises(DomainError) as refused:
        some_overlay(beside={"a": ([1.0], [1.0])}, lines={"a": ([1.0], [1.0])})
    assert (refused.value.code, refused.value.name) == ("name-in-use", "lines")


def test_theory_without_points_yet_is_drawn_to_its_own_scale():
    empty = RttSamples(payload_bytes=[], rtt_s=[])
    known = compare.overlay(empty, path=Path.parse("T1 5 ms"))
    beside = {"a book": ([0.0], [0.08])}
    for plot in (overlay(known), overlay(known, beside=beside), overlay(compare.overlay(empty))):
        ElementTree.fromstring(svg(plot))
    upper = overlay(known, beside=beside).figure.children[0]
    assert type(upper.y_range).__name__ == "DataRange1d", "it follows what is drawn"
    nothing = overlay(compare.overlay(empty)).figure.children[0]
    assert (nothing.y_range.start, nothing.y_range.end) == (0, 1)


def entries(plot):
    """The names in the legend of a figure's picture."""
    return [t.text for t in ElementTree.fromstring(svg(plot)).iter(f"{SVG}text")]


def test_a_legend_has_no_entry_without_marks():
    axis, nothing = Axis("x", "1"), [np.nan, np.nan]
    plot = curves(
        [1.0, 2.0],
        {"theory": [1, 2], "fit": nothing},
        points={"run": ([], [])},
        x_axis=axis,
        y_axis=axis,
    )
    assert "theory" in entries(plot)
    assert not {"fit", "run"} & set(entries(plot))
    plot.replace("run", x=[1.0], y=[1.0])
    plot.replace("fit", y=[np.nan, 1.0])
    assert {"theory", "fit", "run"} <= set(entries(plot))


def test_residuals_are_drawn_where_something_was_measured():
    nothing = RttSamples(payload_bytes=[], rtt_s=[])
    path = Path.parse("T1 5 ms")
    for known in (None, path):
        plot = overlay(compare.overlay(nothing, path=known))
        assert len(plot.figure.children) == 1
        assert "residual" not in entries(plot)
    run = RttSamples(payload_bytes=[100.0, 1000.0], rtt_s=[0.011, 0.02])
    plot = overlay(compare.overlay(run, path=path))
    assert len(plot.figure.children) == 2
    assert "residual" in entries(plot)


@pytest.mark.each(
    ("unit", "label"),
    [("s", "x"), ("byte", "x"), ("ratio", "x"), ("1", "x"), ("bit/s", "x [bit/s]")],
)
def test_an_axis_names_its_unit_once(unit, label):
    """A tick of 20 ms is of no axis in seconds; one of 10 M needs its bit/s beside the axis."""
    assert Axis("x", unit).label == label


USER_TEXT = '"p1001" p1 id="0f0e0d0c-0b0a-4909-8807-060504030201"'
"""Text of a user in the form of what bokeh makes anew for each page."""


@ALL
def test_a_figure_drawn_twice_is_the_same_bytes(make, tmp_path):
    """bokeh numbers all objects of a process, and draws random identifiers."""
    options = {} if make is some_timeline else {"title": f"Text {USER_TEXT}"}
    pages = []
    for name in ("first.html", "second.html"):
        plot = make(**options)
        page = save_html(plot, tmp_path / name).read_text()
        pages.append((page, svg(plot)))
        assert f'"{plot.figure.id}"' not in page.rpartition("application/json")[2], "no such object"
    assert pages[0] == pages[1]
    data = re.search(r'type="application/json"[^>]*>(.*?)</script>', pages[0][0], re.DOTALL)[1]
    (document,) = json.loads(data).values()
    (root,) = document["roots"]
    assert pages[0][0].count(f'"{root["id"]}"') >= 3, "object, list of roots, element of the page"
    assert not options or json.dumps(USER_TEXT)[1:-1] in data, "the text of a user stays"
