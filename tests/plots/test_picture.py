"""Pictures read back with their own tick labels: a ruler laid on paper, independent of the code."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from netcalc import compare
from netcalc.models.delays.store_and_forward import pipeline_timeline
from netcalc.models.hosts.small_writes import write_timeline
from netcalc.plots import Axis, curves, distribution, ladder, overlay, svg, timeline, truth
from netcalc.samples import RttSamples, Table

SVG = "{http://www.w3.org/2000/svg}"
PIXEL = 0.11  # a picture is written with one decimal, and so are its ticks
FACTORS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "B": 1.0, "kB": 1e3, "%": 1e-2}
TIME, SIZE, NUMBER = Axis("time", "s"), Axis("size", "byte"), Axis("number", "1")
BLUE, VERMILION = "#0072b2", "#d55e00"  # Okabe and Ito, Color Universal Design (2008)


def numbers(text):
    return [float(one) for one in re.findall(r"-?\d*\.?\d+", text)]


def value_of(label):
    number, unit = re.fullmatch(r"(-?[\d.]+(?:e[+-]?\d+)?) ?(.*)", label.replace(",", "")).groups()
    return float(number) * FACTORS.get(unit, 1.0)


class Sheet:
    """One picture: the values of its tick labels and what it draws, in pixels."""

    def __init__(self, plot, chart=0):
        self.root = ElementTree.fromstring(svg(plot))
        self.drawn = self.root.findall(f"{SVG}g")[chart]
        box = self.root.findall(f"{SVG}clipPath")[chart].find(f"{SVG}rect")
        self.left, self.top = float(box.get("x")), float(box.get("y"))
        self.right = self.left + float(box.get("width"))
        self.bottom = self.top + float(box.get("height"))
        self.texts = [(t.text, float(t.get("x")), float(t.get("y")), t) for t in self.root
                      if t.tag == f"{SVG}text"]  # fmt: skip
        self.x_ticks = [(t, x) for t, x, y, one in self.texts
                        if one.get("text-anchor") == "middle" and one.get("font-size") == "14"
                        and abs(y - self.bottom - 18) < 1]  # fmt: skip
        self.y_ticks = [(t, y - 5) for t, x, y, one in self.texts
                        if one.get("text-anchor") == "end"
                        and self.top - 1 <= y - 5 <= self.bottom + 1]  # fmt: skip

    def x(self, values, *, log=False):
        return _along([(value_of(t), at) for t, at in self.x_ticks], values, log)

    def y(self, values, *, log=False):
        return _along([(value_of(t), at) for t, at in self.y_ticks], values, log)

    def inside(self, kind):
        return self.drawn.findall(f"{SVG}{kind}")

    def line(self, number=0):
        return np.array(numbers(self.inside("path")[number].get("d"))).reshape(-1, 2)

    def names(self):
        return [one[0] for one in self.texts]


def _along(ticks, values, log):
    """Pixels of values by the outermost two ticks; those between must agree."""
    scaled = np.log10 if log else np.asarray
    (a, at), (b, bt) = ticks[0], ticks[-1]
    a, b = scaled(a), scaled(b)

    def ruler(value):
        return at + (scaled(value) - a) * (bt - at) / (b - a)

    for value, pixel in ticks:
        assert ruler(value) == pytest.approx(pixel, abs=3 * PIXEL)
    return ruler(np.asarray(values, float))


def a_curve(x, y, *, x_axis=SIZE, y_axis=TIME, **options):
    return curves(x, {"theory": y}, x_axis=x_axis, y_axis=y_axis, **options)


def test_lines_and_points_lie_where_their_ticks_say():
    x = np.array([100.0, 400.0, 1000.0, 8000.0, 10_000.0])
    y = np.array([0.001, 0.02, 0.005, 0.3, 1.0])
    for x_scale in ("linear", "log"):
        for y_scale in ("linear", "log"):
            x_axis, y_axis = Axis("size", "byte", x_scale), Axis("time", "s", y_scale)
            sheet = Sheet(
                a_curve(x, y, x_axis=x_axis, y_axis=y_axis, points={"run": (x[1:], y[1:])})
            )
            at = sheet.x(x, log=x_scale == "log"), sheet.y(y, log=y_scale == "log")
            assert sheet.line() == pytest.approx(np.transpose(at), abs=3 * PIXEL)
            circles = [(float(c.get("cx")), float(c.get("cy"))) for c in sheet.inside("circle")]
            assert np.array(circles) == pytest.approx(np.transpose(at)[1:], abs=3 * PIXEL)
            # both have 5 % of room at each end: a point there is not half cut
            room = 0.05 / 1.1 * (sheet.right - sheet.left)
            assert at[0][[0, -1]] == pytest.approx([sheet.left + room, sheet.right - room], abs=0.2)
            room = 0.05 / 1.1 * (sheet.bottom - sheet.top)
            assert at[1][[0, -1]] == pytest.approx([sheet.bottom - room, sheet.top + room], abs=0.2)


TICKS = [
    # low, high, scale: steps of 1, 2 or 5, at most seven; a decade each, from nine on every second
    ((0.0, 1.0, "linear"), [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ((0.0, 6.0, "linear"), [0, 1, 2, 3, 4, 5, 6]),
    ((0.0, 6.1, "linear"), [0, 2, 4, 6]),
    ((0.0, 12.0, "linear"), [0, 2, 4, 6, 8, 10, 12]),
    ((0.0, 13.0, "linear"), [0, 5, 10]),
    ((0.0, 30.0, "linear"), [0, 5, 10, 15, 20, 25, 30]),
    ((0.0, 31.0, "linear"), [0, 10, 20, 30]),
    ((0.0, 60.0, "linear"), [0, 10, 20, 30, 40, 50, 60]),
    ((-2.5, 3.0, "linear"), [-2, -1, 0, 1, 2, 3]),
    ((0.11, 0.39, "linear"), [0.15, 0.2, 0.25, 0.3, 0.35]),
    ((1.0, 1000.0, "log"), [1, 10, 100, 1000]),
    ((0.5, 2000.0, "log"), [1, 10, 100, 1000]),
    ((1.0, 1e7, "log"), [10.0**e for e in range(8)]),
    ((1.0, 3e8, "log"), [1, 100, 1e4, 1e6, 1e8]),
    ((2.0, 5.0, "log"), [2, 2.5, 3, 3.5, 4, 4.5, 5]),  # less than a decade
    ((3.0, 20.0, "log"), [5, 10, 15, 20]),  # one decade is no scale
    ((9.0, 110.0, "log"), [10, 20, 50, 100]),
    ((0.0, 1e6, "log"), [10.0**e for e in range(7)]),  # a low of 0: six decades
    ((0.0, 0.0, "log"), [1, 2, 5, 10]),  # nothing to show
    ((5.0, 5.0, "log"), [10, 20, 30, 40, 50]),  # a decade from there on
    ((5.0, 5.0, "linear"), [4.6, 4.8, 5, 5.2, 5.4]),  # a half to each side
]


@pytest.mark.each(("limits", "expected"), TICKS)
def test_the_ticks_of_an_axis(limits, expected):
    low, high, scale = limits
    axis = Axis("number", "1", scale, low=low, high=high)
    sheet = Sheet(a_curve([1.0, 2.0], [1.0, 2.0], x_axis=axis, y_axis=axis))
    for ticks in (sheet.x_ticks, sheet.y_ticks):
        assert [value_of(text) for text, _ in ticks] == pytest.approx(expected)
    if high > low > 0 or (high > low and scale == "linear"):
        ends, log = [low, high], scale == "log"
        assert sheet.x(ends, log=log) == pytest.approx((sheet.left, sheet.right), abs=0.5)
        assert sheet.y(ends, log=log) == pytest.approx((sheet.bottom, sheet.top), abs=0.5)


def test_the_layout_of_the_sheet():
    """By hand: 760 pixels wide; plot area from 116 to 720, so that "800 Mbit/s" is
    beside the name of the axis and "100 Gbit/s" on the page; above it 34 for a title or 10 without,
    and 20 for each entry of the legend; below it 52 for tick labels and the name of the axis.
    A figure is 360 high and as much higher as its legend."""
    for title, head in (("A title", 34), ("", 10)):
        run = {"run": ([1.0, 2.0], [1.0, 2.0])}
        sheet = Sheet(a_curve([1.0, 2.0], [1.0, 2.0], points=run, title=title))
        assert (sheet.left, sheet.right) == (116, 720)
        assert (sheet.top, sheet.bottom) == (head + 40, 400 - 52)
        assert sheet.root.get("viewBox") == "0 0 760 400"
        assert (sheet.root.get("width"), sheet.root.get("height")) == ("760", "400")
        at = {text: (x, y) for text, x, y, _ in sheet.texts}
        middle = (head + 40 + 348) / 2
        # the baseline of a text of 14 pixels is 5 below its middle; rows of 20 begin below the head
        assert at["theory"] == (116 + 48, head + 6 + 5)
        assert at["run"] == (116 + 48, head + 20 + 6 + 5)
        assert at["size"] == (418, 390)
        assert at["time"] == pytest.approx((18, middle))
        if title:
            assert at[title] == (8, 22)
        turned = next(one for text, *_, one in sheet.texts if text == "time")
        assert numbers(turned.get("transform")) == pytest.approx([-90, 18, middle])
        sizes = {text: one.get("font-size") for text, *_, one in sheet.texts}
        assert [sizes[one] for one in ("theory", "run", "size", "time")] == ["14", "14", "16", "16"]
        # keys: a line of 38 pixels and a circle in its middle, both in the middle of their row
        key, circle = sheet.root.findall(f"{SVG}path")[-1], sheet.root.findall(f"{SVG}circle")[0]
        assert numbers(key.get("d")) == [116, head + 6, 154, head + 6]
        assert [float(circle.get(one)) for one in ("cx", "cy", "r")] == [135, head + 26, 5]


def test_grid_lines_cross_the_plot_area_at_the_labels():
    sheet = Sheet(a_curve([0.0, 5000.0], [0.0, 1.0]))
    grid = [numbers(p.get("d")) for p in sheet.root.findall(f"{SVG}path")
            if p.get("stroke") == "#e5e5e5"]  # fmt: skip
    assert len(grid) == len(sheet.x_ticks) + len(sheet.y_ticks)
    for (_, at), line in zip(sheet.x_ticks, grid, strict=False):
        assert line == [at, sheet.top, sheet.bottom]
    for (_, at), line in zip(sheet.y_ticks, grid[len(sheet.x_ticks) :], strict=True):
        assert line == [sheet.left, at, sheet.right]
    assert [x for t, x, _, one in sheet.texts if one.get("text-anchor") == "end"] == [110] * len(
        sheet.y_ticks
    )


def test_a_gap_lifts_the_pen_and_far_values_stay_on_the_sheet():
    gap = Sheet(a_curve([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, np.nan, 3.0, 4.0]))
    d = gap.inside("path")[0].get("d")
    assert re.sub(r"[-\d. ]", "", d) == "MLML"
    axis = Axis("time", "s", low=0.0, high=1.0)
    far = Sheet(a_curve([0.0, 1.0], [-1e9, 1e9], y_axis=axis)).line()
    assert far[:, 1].tolist() == [1e4, -1e4], "SVG readers keep few digits"
    holes = curves([0.0, 4.0], {}, x_axis=SIZE, y_axis=TIME,
                   points={"run": ([0.0, 1.0, 2.0, 4.0], [1.0, np.nan, np.inf, 4.0])})  # fmt: skip
    assert len(Sheet(holes).inside("circle")) == 2


def test_nothing_is_drawn_of_empty_columns_and_the_axes_stand():
    for scale in ("linear", "log"):
        axis = Axis("number", "1", scale)
        sheet = Sheet(a_curve([], [], x_axis=axis, y_axis=axis, points={"run": ([], [])}))
        assert [one.get("d") for one in sheet.inside("path")] == [""]
        assert not sheet.inside("circle")
        ends = [value_of(text) for text, _ in (sheet.x_ticks[0], sheet.x_ticks[-1])]
        # from 0 to 1 with room at both ends; or the six decades below 1
        assert ends == pytest.approx([0.0, 1.0] if scale == "linear" else [1e-6, 1.0])
        assert sheet.names().count("theory") == 0, "no entry without a mark"
        assert sheet.root.get("height") == "360"


def test_long_columns_are_thinned_to_what_a_sheet_shows():
    """A line has at most 150 points, a scatter 300: every n-th, from the first on."""
    for count, line, points in ((150, 150, 150), (151, 76, 151), (300, 150, 300), (301, 101, 151),
                                (900, 150, 300)):  # fmt: skip
        x = np.arange(count, dtype=float)
        zigzag = np.where(np.arange(count) // -(-count // 150) % 2 == 0, 0.0, 1.0)
        sheet = Sheet(a_curve(x, zigzag, x_axis=NUMBER, y_axis=NUMBER, points={"run": (x, x)}))
        assert len(sheet.line()) == line
        assert len(sheet.inside("circle")) == points
        step = -(-count // 150)
        assert sheet.line()[:, 0] == pytest.approx(sheet.x(x[::step]), abs=3 * PIXEL)


def test_a_line_has_no_point_that_moves_it_by_less_than_a_fraction_of_a_pixel():
    """By hand: two points of a straight line, three of a knee; a curve is where it is."""
    x = np.linspace(0.0, 10.0, 100)
    for y, count in ((2 * x, 2), (np.minimum(x, x[50]), 3)):
        assert len(Sheet(a_curve(x, y, x_axis=NUMBER, y_axis=NUMBER)).line()) == count
    curve = Sheet(a_curve(x, np.sin(x / 3), x_axis=NUMBER, y_axis=NUMBER))
    drawn = curve.line()
    at = np.interp(curve.x(x), drawn[:, 0], drawn[:, 1])
    assert at == pytest.approx(curve.y(np.sin(x / 3)), abs=0.5)


def test_every_marker_is_centred_and_as_large_as_a_circle():
    """Shapes that a reader tells apart: each 9 to 12 pixels wide and high, around its point."""
    x = np.array([0.0, 1.0])
    names = [f"set {number}" for number in range(7)]
    sheet = Sheet(curves(x, {}, points=dict.fromkeys(names, (x, x)), x_axis=NUMBER, y_axis=NUMBER))
    assert len(sheet.inside("circle")) == 4  # the first and, as there are six shapes, the seventh
    shapes = sheet.inside("path")
    assert len({one.get("d") for one in shapes}) == 5
    for shape in shapes:
        d = shape.get("d")
        at = numbers(shape.get("transform"))
        assert min(abs(sheet.x(x) - at[0])) < 3 * PIXEL
        assert min(abs(sheet.y(x) - at[1])) < 3 * PIXEL
        assert 9 <= 2 * max(map(abs, numbers(re.sub("[A-Z]", " ", d)))) <= 12
    keys = sheet.root.findall(f"{SVG}path")[-5:]
    assert [numbers(one.get("transform"))[0] for one in keys] == [135] * 5


def test_the_band_of_a_prediction_is_filled_between_its_edges():
    size = np.arange(100.0, 1500.0, 100.0)
    rtt = 0.03 + size * 1e-5 + 2e-3 * np.sin(size)
    rtt[5] += 0.2
    comparison = compare.overlay(RttSamples(payload_bytes=size, rtt_s=rtt))
    assert comparison.outlier.sum() == 1
    sheet = Sheet(overlay(comparison))
    outline = np.array(numbers(sheet.inside("polygon")[0].get("points"))).reshape(-1, 2)
    step = -(-len(comparison.curve_x) // 150)
    x = sheet.x(comparison.curve_x[::step])
    low, high = (sheet.y(e[::step]) for e in (comparison.curve_low, comparison.curve_high))
    turn = int(outline[:, 0].argmax()) + 1
    for (at, edge), wanted in ((outline[:turn].T, low), (outline[turn:][::-1].T, high)):
        assert (at[0], at[-1]) == pytest.approx((x[0], x[-1]), abs=3 * PIXEL)
        assert np.interp(x, at, edge) == pytest.approx(wanted, abs=0.5)
    lower = Sheet(overlay(comparison), chart=1)
    assert (lower.left, lower.right) == (sheet.left, sheet.right)
    assert lower.top > sheet.bottom, "one below the other"
    circles = np.array([[float(c.get("cx")), float(c.get("cy"))] for c in lower.inside("circle")])
    kept = ~comparison.outlier
    at = np.transpose([sheet.x(comparison.x[kept]), lower.y(comparison.residual[kept])])
    assert circles == pytest.approx(at, abs=0.5)
    zero = lower.line()
    assert zero[:, 1] == pytest.approx(np.full(len(zero), lower.y(0.0)), abs=3 * PIXEL)
    above, below = circles[:, 1].min(), circles[:, 1].max()
    assert lower.top < above < below < lower.bottom, "the outlier does not set the scale"
    assert lower.inside("path")[1].get("stroke") == VERMILION
    assert {"95% band of the prediction", "not in the fit", "residual"} <= set(sheet.names())


def test_packets_are_drawn_at_their_times():
    """Two packets of 1500 B over 12 Mbit/s (1 ms) and 6 Mbit/s (2 ms), latencies 3 and 4 ms."""
    steps = pipeline_timeline([1500, 1500], bandwidth_bps=[12e6, 6e6], latency_s=[0.003, 0.004])
    sheet = Sheet(timeline(steps, ["A", "R", "B"]))
    lanes = dict(sheet.y_ticks)
    one = lanes["R"] - lanes["A"]
    assert lanes["B"] - lanes["R"] == pytest.approx(one, abs=3 * PIXEL)
    bands = [np.array(numbers(p.get("points"))).reshape(-1, 2) for p in sheet.inside("polygon")]
    # by hand: the second packet waits at R until the first has left, at 4 + 2 = 6 ms
    begins = [[0.0, 0.001, 0.004, 0.003], [0.004, 0.006, 0.010, 0.008],
              [0.001, 0.002, 0.005, 0.004], [0.006, 0.008, 0.012, 0.010]]  # fmt: skip
    for band, times, lane in zip(bands, begins, (0, 1, 0, 1), strict=True):
        assert band[:, 0] == pytest.approx(sheet.x(times), abs=3 * PIXEL)
        up, down = lanes["A"] + (lane + 0.1) * one, lanes["A"] + (lane + 0.9) * one
        assert band[:, 1] == pytest.approx([up, up, down, down], abs=3 * PIXEL)
    marks = [(t, x, y - 5) for t, x, y in ((n.text, float(n.get("x")), float(n.get("y")))
             for n in sheet.inside("text"))]  # fmt: skip
    assert [t for t, *_ in marks] == ["1", "1", "2", "2"]
    for (_, x, y), band in zip(marks, bands, strict=True):
        assert (x, y) == pytest.approx(band.mean(axis=0), abs=3 * PIXEL)
    waits = [b for b in sheet.inside("rect") if float(b.get("fill-opacity")) == 0.25]
    for box, node, times in zip(waits, "AR", ([0.0, 0.001], [0.005, 0.006]), strict=True):
        left, width = float(box.get("x")), float(box.get("width"))
        assert [left, left + width] == pytest.approx(sheet.x(times), abs=3 * PIXEL)
        assert float(box.get("y")) == pytest.approx(lanes[node] - 0.1 * one, abs=3 * PIXEL)
        assert float(box.get("height")) == pytest.approx(0.2 * one, abs=3 * PIXEL)
    assert [p.get("fill") for p in sheet.inside("polygon")] == [BLUE, BLUE, VERMILION, VERMILION]


def test_a_request_in_two_parts_is_drawn_at_its_times():
    """Nagle and a delayed acknowledgement: the second segment waits for RTT and 40 ms."""
    steps = write_timeline([0.0, 0.0], write_bytes=[100, 100], rtt_s=0.02, server_s=0.005)
    sheet = Sheet(ladder(steps))
    lanes = dict(sheet.y_ticks)
    # by hand: segment 0 to 10 ms; held until 50; acknowledgement there at 60; segment until 70;
    # the server works until 75; response at 85 ms
    lines = [numbers(p.get("d")) for p in sheet.inside("path")]
    t = {k: float(sheet.x(k * 1e-3)) for k in (0, 10, 50, 60, 70, 75, 85)}
    c, s = lanes["client"], lanes["server"]
    expected = [[t[0], c, t[10], s, t[60], c, t[70], s], [t[50], s, t[60], c], [t[75], s, t[85], c]]
    for line, points in zip(lines, expected, strict=True):
        assert line == pytest.approx(points, abs=4 * PIXEL)
    waits = sorted((float(r.get("x")), float(r.get("width")), float(r.get("y")))
                   for r in sheet.inside("rect"))  # fmt: skip
    lane = 0.07 * (s - c)  # half the height of a lane
    works = (t[70], t[75] - t[70], s - lane)  # and holds the acknowledgement for as long
    by_hand = [(t[0], t[60] - t[0], c - lane), (t[10], t[50] - t[10], s - lane), works, works]
    assert np.array(waits) == pytest.approx(np.array(by_hand), abs=4 * PIXEL)
    said = {n.text: (float(n.get("x")), float(n.get("y")) - 5) for n in sheet.inside("text")}
    assert said["60 ms"] == pytest.approx(((t[0] + t[60]) / 2, c - 0.2 * (s - c)), abs=4 * PIXEL)
    assert said["40 ms"] == pytest.approx(((t[10] + t[50]) / 2, s + 0.2 * (s - c)), abs=4 * PIXEL)
    assert said["5 ms"] == pytest.approx(((t[70] + t[75]) / 2, s + 0.2 * (s - c)), abs=4 * PIXEL)


def test_an_axis_with_one_given_end_keeps_it():
    x = np.array([2.0, 4.0])
    for low, high, ends in ((0.0, None, (0.0, 4.1)), (None, 10.0, (1.9, 10.0)),
                            (None, None, (1.9, 4.1))):  # fmt: skip
        axis = Axis("number", "1", low=low, high=high)
        sheet = Sheet(a_curve(x, x, x_axis=axis, y_axis=axis))
        assert sheet.x(ends) == pytest.approx((sheet.left, sheet.right), abs=0.3)
        assert sheet.y(ends) == pytest.approx((sheet.bottom, sheet.top), abs=0.3)


def test_errors_are_drawn_on_their_own_ticks():
    rows = {"unit": ["s"] * 3, "predicted": [1e-3, 1e-2, 1e-1], "measured": [1.3e-3, 1e-2, 1.02e-1],
            "own_error": [1e-4] * 3, "verdict": ["unexplained", "within", "within"],
            "setting": ["a", "b", "c"], "error_ratio": [0.3, 0.0, 0.02]}  # fmt: skip
    plot = truth(Table(data=rows))
    upper, lower = Sheet(plot), Sheet(plot, chart=1)
    assert [t for t, _ in lower.y_ticks] == ["0.01%", "0.1%", "2%", "5%", "50%"]
    circles = [float(c.get("cy")) for c in lower.inside("circle")]
    assert circles == pytest.approx(lower.y([1e-4, 0.02], log=True), abs=3 * PIXEL)
    equal = upper.line()
    at = [upper.x([1e-3, 1e-1], log=True), upper.y([1e-3, 1e-1], log=True)]
    assert equal == pytest.approx(np.transpose(at), abs=3 * PIXEL)
    # the axis of errors ends at twice the largest
    assert lower.y([1e-4 / 1.5, 0.6], log=True) == pytest.approx((lower.bottom, lower.top), abs=0.5)


def test_colours_follow_the_theme():
    for theme, ink, paper in (("light", "#000000", "#ffffff"), ("dark", "#ffffff", "#15191c")):
        sheet = Sheet(a_curve([1.0, 2.0], [1.0, 2.0], points={"run": ([1.0], [1.0])}, theme=theme))
        assert sheet.root.get("fill") == ink
        assert sheet.root.find(f"{SVG}rect").get("fill") == paper
        assert sheet.inside("circle")[0].get("fill") == ink
        assert sheet.inside("path")[0].get("stroke") != ink


def test_many_bars_of_one_colour_are_one_path():
    """Fifty values, the n-th of them n times: each bar has its share, from the axis up."""
    values = np.repeat(np.arange(50.0), np.arange(1, 51))
    sheet = Sheet(distribution(values, axis=Axis("count", "1"), percentiles={}))
    assert sheet.inside("rect") == []
    (outline,) = (one for one in sheet.inside("path") if one.get("fill") == BLUE)
    bars = [numbers(one) for one in outline.get("d").removesuffix("z").split("z")]
    assert len(bars) == 99, "derived: a bar of each value, and a gap between two"
    left, top, width, height, back = bars[-1]
    # derived: 50 of 1275 values, half as wide as the step between two
    assert [left, left + width] == pytest.approx(sheet.x([48.75, 49.25]), abs=3 * PIXEL)
    assert [top + height, top] == pytest.approx(sheet.y([0.0, 50 / 1275]), abs=3 * PIXEL)
    assert back == -width


def test_a_level_stretch_of_a_curve_is_its_two_ends():
    """A staircase of 300 points is drawn with the corners it has: two for each step."""
    at = np.arange(300.0)
    plot = curves(at, {"steps": np.floor(at / 100)}, x_axis=Axis("x", "1"), y_axis=Axis("y", "1"))
    drawn = max(re.findall(r'd="(M[^"]+L[^"]+)"', svg(plot)), key=len)
    assert len(re.findall(r"[ML]", drawn)) == 6
    gaps = np.where(at == 150, np.nan, 1.0)
    plot = curves(at, {"gap": gaps}, x_axis=Axis("x", "1"), y_axis=Axis("y", "1"))
    drawn = max(re.findall(r'd="(M[^"]+L[^"]+)"', svg(plot)), key=len)
    assert re.findall(r"[ML]", drawn) == ["M", "L", "M", "L"]
