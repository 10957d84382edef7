"""Curves of a formula: their steps, what is doubtful about them, and the words around them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from bokeh.models import BoxAnnotation, Title

from netcalc import plots
from netcalc.calculator import curve, formula
from netcalc.errors import doubts
from netcalc.models.queues.mm1 import mm1_wait_s


def figure_of(name, over, given, *, low, high, **look):
    """Return the figure of one formula over one argument."""
    wanted = formula(name)
    parameter = wanted.parameter(over)
    found = curve(
        wanted, given, over=parameter.name, low=low, high=high,
        logarithmic=look.get("logarithmic", False),
    )  # fmt: skip
    return plots.formula_curves(wanted, {name: found}, parameter, given, **look)


def test_a_staircase_has_its_corners_where_the_next_round_begins():
    found = curve(formula("rounds"), {}, over="segments", low=1, high=400)
    assert found.is_staircase
    # derived: windows of 10, 20, 40 ... sum up to 10, 30, 70, 150, 310; the next takes a round more
    corners = found.x[1:-1].reshape(-1, 2)
    assert corners == pytest.approx(np.array([[one] * 2 for one in (11, 31, 71, 151, 311)]))
    assert found.y.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_a_smooth_curve_is_what_the_formula_gives():
    given = {"service_s": 1e-3}
    found = curve(formula("mm1-wait"), given, over="utilization", low=0.1, high=0.9)
    assert not found.is_staircase
    assert found.y == pytest.approx(mm1_wait_s(found.x, **given))  # identity
    assert found.shades == ()


def test_where_there_is_no_number_is_shaded():
    found = curve(formula("mm1-wait"), {"service_s": 1e-3}, over="utilization", low=0.0, high=1.2)
    (shade,) = found.shades
    assert (shade.code, shade.high) == ("no-number", 1.2)
    assert shade.low == pytest.approx(1.0, abs=1.2 / 599)
    assert np.isnan(found.y[found.x >= 1.0]).all()


def test_beyond_the_published_range_is_shaded():
    given = {"mss_bytes": 1460.0, "rtt_s": 0.1}
    found = curve(
        formula("mathis-throughput"), given, over="loss_ratio", low=1e-5, high=0.1,
        logarithmic=True,
    )  # fmt: skip
    (shade,) = found.shades
    assert (shade.code, shade.high) == ("beyond-published-range", 0.1)
    assert shade.low == pytest.approx(0.01, rel=0.02)
    result = curve(
        formula("mathis-loss"), given, over="throughput_bps", low=1e4, high=1e8, logarithmic=True
    )
    (shade,) = result.shades
    # derived: p = (8 MSS C / (RTT X))^2 with C^2 = 3/2 is 1 % at 1.4305 Mbit/s
    assert (shade.low, shade.high) == (1e4, pytest.approx(1.4305e6, rel=0.02))


def test_beyond_the_range_of_what_is_derived_is_shaded():
    """Derived: N x 0.1 x 0.9 is 10 at 111 users, and a rate is CUBIC's up to 1 % of loss."""
    found = curve(
        formula("overload-normal"), {"active_count": 10.0, "active_ratio": 0.1},
        over="user_count", low=10, high=1000,
    )  # fmt: skip
    (shade,) = found.shades
    assert (shade.code, shade.low) == ("beyond-published-range", 10)
    assert shade.high == pytest.approx(111, abs=1000 / 599)
    path = {"payload_bytes": 1e10, "bandwidth_bps": 1e9, "rtt_s": 0.04}
    found = curve(
        formula("transfer-time"), path, over="loss_ratio", low=1e-3, high=0.1, logarithmic=True
    )
    (shade,) = found.shades
    assert (shade.code, shade.high) == ("beyond-published-range", 0.1)
    assert shade.low == pytest.approx(0.01, rel=0.02)


class TestFigures:
    def mathis(self):
        with doubts():
            return figure_of(
                "mathis-throughput", "loss", {"mss_bytes": 1460.0, "rtt_s": 0.1}, low=1e-5,
                high=0.1, logarithmic=True,
            )  # fmt: skip

    def test_the_caption_has_equation_arguments_and_source(self):
        caption = self.mathis().lines_below
        assert caption[0].startswith("X = ")
        assert caption[1] == "mss 1460 B, rtt 100 ms, constant 1.225"
        assert caption[2].startswith("From: Mathis et al.")
        assert caption[-1] == "Shaded: outside the published range."

    def test_the_page_shades_and_says_it(self):
        chart = plots.formula_plot(self.mathis()).figure
        (box,) = [one for one in chart.center if isinstance(one, BoxAnnotation)]
        assert (box.right, box.hatch_pattern) == (0.1, "/")
        said = [one.text.text for one in chart.below if isinstance(one, Title)]
        assert said == list(self.mathis().lines_below)

    def test_a_pole_does_not_hide_the_rest(self):
        """derived: 599 loads of k/599 below 1; between k = 568 and 569 lie 95 % of them."""
        with doubts():
            drawn = figure_of("mm1-wait", "utilization", {"service_s": 1e-3}, low=0.0, high=1.0)
        usual = 0.9 * 568 / 31 + 0.1 * 569 / 30
        assert drawn.y_axis.high == pytest.approx(1.5e-3 * usual)
        assert "The axis ends before the largest values." in drawn.lines_below
        level = figure_of("rounds", "segments", {}, low=1, high=400)
        assert level.y_axis.high is None

    @pytest.mark.each("suffix", ["png", "svg"])
    def test_a_picture_is_the_same_file_each_time(self, suffix, tmp_path):
        first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
        for path in (first, second):
            plots.save_picture(plots.formula_plot(self.mathis()), path)
        assert first.read_bytes() == second.read_bytes()
        if suffix == "png":
            assert first.read_bytes().startswith(b"\x89PNG\r\n")
        else:
            text = "".join(ElementTree.parse(first).getroot().itertext())
            assert "Shaded: outside the published range." in text
            assert "100 Mbit/s" in text or "10 Mbit/s" in text

    def test_text_of_a_user_is_no_markup(self, tmp_path):
        hostile = replace(self.mathis(), title=r"$\frac{1}{$ <script>")
        plots.save_picture(plots.formula_plot(hostile), tmp_path / "a.svg")
        assert "<script>" not in (tmp_path / "a.svg").read_text()
        assert r"$\frac{1}{$ <script>" in "".join(
            ElementTree.parse(tmp_path / "a.svg").getroot().itertext()
        )

    def test_a_family_has_a_legend(self, tmp_path):
        wanted, given = formula("mathis-throughput"), {"mss_bytes": 1460.0}
        lines = {
            f"rtt {rtt:g} s": curve(
                wanted, {**given, "rtt_s": rtt}, over="loss_ratio", low=1e-4, high=1e-2
            )
            for rtt in (0.01, 0.1)
        }
        both = plots.formula_curves(wanted, lines, wanted.parameter("loss"), given)
        plot = plots.formula_plot(both)
        assert [one.label.value for one in plot.figure.legend[0].items] == list(lines)
        plots.save_picture(plots.formula_plot(both), tmp_path / "a.svg")
        assert "rtt 0.01 s" in (tmp_path / "a.svg").read_text()


def texts_of(drawn, path):
    """Return the words of a picture."""
    plots.save_picture(plots.formula_plot(drawn), path)
    return [one.text for one in ElementTree.parse(path).iter() if one.tag.endswith("text")]


def test_ticks_between_decades_are_written_as_the_others(tmp_path):
    given = {"mtbf_s": 3.6e6}
    look = {"logarithmic": True, "log_result": True}
    drawn = figure_of("availability", "repair", given, low=60.0, high=3.6e5, **look)
    texts = texts_of(drawn, tmp_path / "a.svg")
    assert "98%" in texts
    assert not [one for one in texts if "math" in one]
    rounds = figure_of("rounds", "segments", {}, low=1, high=1000, **look)
    assert {"2", "4", "6"} <= set(texts_of(rounds, tmp_path / "b.svg"))


def test_times_of_days_are_in_days():
    drawn = figure_of("availability", "repair", {"mtbf_s": 3.6e6}, low=60.0, high=1.728e6)
    assert (drawn.x_axis.name, drawn.x_axis.unit) == ("repair", "d")
    assert drawn.lines["availability"].x[-1] == pytest.approx(20.0)  # identity: 1,728,000 s
    short = figure_of("availability", "repair", {"mtbf_s": 3.6e6}, low=60.0, high=3600.0)
    assert short.x_axis.unit == "s"
    assert "mtbf 41.67 d" in short.caption


def test_counts_of_thousands_are_written_out(tmp_path):
    given = {"bandwidth_bps": 1e10, "rtt_s": 0.1}
    drawn = figure_of("buffer-rule", "flow_count", given, low=1, high=1e5, logarithmic=True)
    texts = texts_of(drawn, tmp_path / "a.svg")
    assert {"1,000", "10,000", "100,000"} <= set(texts)


def test_a_long_title_has_lines_that_fit(tmp_path):
    given = {"payload_bytes": 1e9, "bandwidth_bps": 1e9, "rtt_s": 0.02}
    drawn = figure_of("transfer-time", "loss", given, low=1e-5, high=1e-3)
    assert len(drawn.title) > 74
    texts = texts_of(drawn, tmp_path / "a.svg")
    of_title = [one for one in texts if one and one in drawn.title and len(one) > 20]
    assert " ".join(of_title) == drawn.title


def test_rates_name_their_layer_and_what_limits_nothing_is_left_out():
    given = {"window_bytes": 65536.0, "bandwidth_bps": 1e9}
    drawn = figure_of("throughput", "rtt", given, low=1e-3, high=0.3)
    assert drawn.y_axis.name == "throughput (TCP payload)"
    given = {"payload_bytes": 1e9, "bandwidth_bps": 1e9, "rtt_s": 0.02}
    drawn = figure_of("transfer-time", "loss", given, low=1e-5, high=1e-3)
    assert not [line for line in drawn.caption if "inf" in line or "None" in line]
