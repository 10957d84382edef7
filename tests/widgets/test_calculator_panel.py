"""The calculator panel without a browser: picked, typed, refused, swept, solved."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
import pytest

from netcalc import calculator
from netcalc.lessons.calculator import POINTS, calculator_panel
from netcalc.widgets import Figure


def words(message) -> str:
    """The words of a message, without its marks."""
    return re.sub(r"<[^>]+>", "", message.value)


def curve(panel, name):
    return panel.figure.plot.sources[name].data


def test_it_starts_with_an_answer():
    # published: Stevens vol. 3, A.3: 5.18 + 0.03 s for a million bytes on a T1
    panel = calculator_panel("transfer", {"payload": "1 MB", "bandwidth": "T1", "latency": "30 ms"})
    assert words(panel.result) == "Time from the first bit sent to the last bit received: 5.211 s."
    equation, put_in = panel.equation.value.strip("$").split("$$$$")
    assert equation == "t = d + 8 N / R"
    assert put_in.endswith(r"8 \cdot 1\,\mathrm{MB} / 1.544\,\mathrm{Mbit/s} = 5.211\,\mathrm{s}")
    assert "bandwidth_bps</th><td>= 1.544 Mbit/s" in panel.numbers.value
    assert "Stevens" in panel.source.value
    assert "one stream" in panel.source.value
    assert panel.fields["latency_s"].input.value == "30 ms"


def test_a_question_in_a_sentence_is_answered_and_fills_the_form():
    panel = calculator_panel()
    panel.search.value = "throughput with a 64k window and 200 ms rtt"
    # by hand: 65,536 B in each 200 ms
    assert "<b>2.621 Mbit/s" in panel.found.value
    assert "netcalc calc throughput 64KiB --rtt 200ms" in panel.found.value
    assert (panel.formula.short_name, panel.fields["rtt_s"].input.value) == ("throughput", "200ms")
    assert "2.621 Mbit/s" in words(panel.result)
    panel.search.value = "p99 wait at 70% load with 0.5 ms service"  # two queues, both shown
    assert panel.found.value.count("<b>") == len(panel.formula_choice.options) == 2
    panel.formula_choice.value = panel.formula_choice.options[1][1]
    assert "70%" in [field.input.value for field in panel.fields.values()]
    panel.search.value = "jumbo"
    assert "<code>" not in panel.found.value


def complaints(panel) -> list[str]:
    messages = [panel.message, panel.sweep_message, *(f.message for f in panel.fields.values())]
    return [message.value for message in messages if message.is_alert]


@pytest.mark.slow
def test_every_formula_shows_a_result_without_a_complaint(monkeypatch):
    panel = calculator_panel()
    drawn = []
    # Making a figure takes most of the time; the next test judges it, for some formulas.
    monkeypatch.setattr("netcalc.lessons.calculator.curves", lambda x, y, **_: drawn.append((x, y)))
    monkeypatch.setattr(Figure, "draw", lambda *_: None)
    panel.chapter.value = "all formulas"
    for name in calculator.formulas():
        panel.formula_choice.value = name
        assert panel.result.value, name
        assert panel.numbers.value, name
        assert complaints(panel) == [], name
    assert len(drawn) > 200, "all but a few have an argument to sweep"
    for x, lines in drawn:
        assert all(np.shape(y) == np.shape(x) for y in lines.values())


def test_a_formula_of_every_third_subject_is_drawn(monkeypatch):
    panel = calculator_panel()
    drawn = []
    monkeypatch.setattr(Figure, "draw", lambda _, plot: drawn.append(plot))
    first = {name.partition(".")[0]: name for name in reversed(calculator.formulas())}
    panel.chapter.value = "all formulas"
    for name in list(first.values())[::3]:
        panel.formula_choice.value = name
        assert complaints(panel) == [], name
    assert len(drawn) > len(first) / 6
    assert all(plot.sources for plot in drawn)


def test_the_panel_offers_first_what_is_needed_most():
    offered = [name for _, name in calculator_panel().formula_choice.options]
    first = [formula.name for formula in calculator.listed()[0][2]]
    assert offered == first
    assert len(first) == 15
    assert first[0] == "transfer_time.transfer_time_s"


def test_a_formula_is_picked_by_chapter_and_by_words():
    panel = calculator_panel()
    panel.chapter.value = "all formulas"
    assert len(panel.formula_choice.options) == len(calculator.formulas())
    panel.chapter.value = "measuring"
    assert {name.partition(".")[0] for _, name in panel.formula_choice.options} == {
        "probing", "sample_statistics", "clock"
    }  # fmt: skip
    assert panel.formula.name == "latency.transfer_s"  # what was there stays until one is chosen
    panel.chapter.value = "most needed"  # a search finds those that are not, too
    panel.search.value = "satellite"
    assert [name for _, name in panel.formula_choice.options] == ["latency.satellite_rtt_s"]
    panel.search.value = "no such thing"
    assert panel.formula_choice.options == ()
    assert panel.found.value == "0 formulas found"
    panel.search.value = "<b>codel"  # no formula: the nearest are listed, and what it is
    assert panel.found.value.startswith("no formula matches &#x27;&lt;b&gt;codel&#x27;")
    assert panel.formula_choice.options[0][1] == "sharing.drain_s"
    panel.search.value = "txqueuelen"
    assert panel.found.value.startswith("txqueuelen: packets that an interface of Linux queues")
    panel.search.value = ""
    panel.chapter.value = "measuring"  # with nothing in its chapter, a search looks everywhere
    panel.search.value = "satellite"
    assert [name for _, name in panel.formula_choice.options] == ["latency.satellite_rtt_s"]
    assert panel.found.value == "1 formula found, none of them in this chapter"
    panel.search.value = "theil"
    assert "none of them" not in panel.found.value
    panel.search.value = "erlang b ratio"
    panel.formula_choice.value = "erlang.erlang_b_ratio"
    assert list(panel.fields) == ["offered_erlang", "server_count"]
    panel.fields["offered_erlang"].input.value = "10"
    panel.fields["server_count"].input.value = "10"
    assert words(panel.result).endswith("21.46%.")  # published: tables of Erlang B


def test_the_curve_is_the_formula_over_the_range():
    panel = calculator_panel("transfer", {"payload": "1 MB", "bandwidth": "T1", "latency": "0 s"})
    panel.over.value = "bandwidth_bps"
    panel.low.value, panel.high.value = "1 Mbit/s", "100 Mbit/s"
    x, y = curve(panel, "transfer time")["x"], curve(panel, "transfer time")["y"]
    assert x.size == POINTS
    assert (x[0], x[-1]) == pytest.approx((1e6, 1e8))
    assert y * x == pytest.approx(8e6)  # derived: 8N/R
    assert x[100] == pytest.approx(1e7)  # a log range: the middle is the geometric mean
    panel.x_scale.value = "linear"
    assert curve(panel, "transfer time")["x"][100] == pytest.approx(50.5e6)
    assert "[bit/s]" in panel.figure.plot.figure.xaxis[0].axis_label.text
    assert (
        panel.figure.plot.figure.yaxis[0].axis_label.text == "transfer time"
    )  # its ticks say s or ms
    here = curve(panel, "your numbers")
    assert here["x"].tolist() == [1.544e6]
    assert here["y"] == pytest.approx([8 / 1.544])


@pytest.mark.each(
    ("text", "expected"),
    [
        ("5M", "bit"),  # bits or bytes?
        ("30 ms", "unit of a time"),
        ("-1 bit/s", "greater than 0"),
        ("abc", "does not start with a number"),
        ("", "required"),
    ],
)
def test_what_is_wrong_stands_beside_its_box_and_breaks_nothing(text, expected):
    panel = calculator_panel()
    field = panel.fields["bandwidth_bps"]
    field.input.value = text
    assert field.message.is_alert
    assert expected in words(field.message)
    assert not panel.fields["latency_s"].message.value
    field.input.value = "T1"
    assert not field.message.value
    assert "5.211 s" in words(panel.result)
    assert panel.figure in panel.children


def test_an_empty_box_is_the_default():
    panel = calculator_panel("write_write_read", {"rtt": "30 ms"})
    assert panel.fields["delayed_ack_s"].input.placeholder == "40 ms"
    assert "delayed_ack_s</th><td>= 40 ms (default)" in panel.numbers.value
    assert words(panel.result).endswith("100 ms.")  # derived: 2 RTT + 40 ms
    panel.fields["nagle"].input.value = "no"
    assert words(panel.result).endswith("30 ms.")  # derived: RTT


def test_a_wrong_range_leaves_the_result():
    panel = calculator_panel()
    panel.low.value = "5 ms"
    assert "time" in words(panel.sweep_message)
    assert "5.211 s" in words(panel.result)
    panel.low.value = "0 B"
    assert "for log steps" in words(panel.sweep_message)
    panel.x_scale.value = "linear"
    assert not panel.sweep_message.value
    assert curve(panel, "transfer time")["x"][0] == 0


def test_a_border_is_crossed():
    panel = calculator_panel("mm1_wait", {"utilization": "80%", "service": "1 ms"})
    assert words(panel.result).endswith("4 ms.")  # published: Kleinrock, rho/(1 - rho) services
    panel.fields["utilization"].input.value = "100%"
    assert "inf s. (Mean wait" in words(panel.result)
    wait = curve(panel, "mean wait")["y"]
    assert np.isnan(wait[-1])
    assert np.isfinite(wait[:-1]).all()


def test_impossible_values_are_not_drawn():
    panel = calculator_panel("mathis_throughput", over="loss")
    panel.high.value = "200%"
    assert "Gaps where the formula is not defined: loss_ratio must be" in words(panel.sweep_message)
    drawn = np.isfinite(curve(panel, "throughput of Reno under loss")["y"])
    assert drawn.any()
    assert not drawn[-1]


def test_whole_numbers_are_swept_in_whole_numbers():
    panel = calculator_panel("stream_mbufs", {"payload": "200 B"})
    panel.low.value, panel.high.value, panel.x_scale.value = "0 B", "300 B", "linear"
    calls = curve(panel, "calls")
    assert (calls["x"] == np.round(calls["x"])).all()
    # published: Stevens vol. 3, A.2: two calls at 200 bytes; a cluster and one call at 300
    assert calls["y"][calls["x"] == 200] == 2
    assert calls["y"][-1] == 1
    assert curve(panel, "clusters")["y"][-1] == 1


def test_lists_are_typed_with_commas():
    # published: Stevens vol. 3, Fig. A-9: 24 ms, of which 3 are processing; 7.5 ms a T1
    panel = calculator_panel(
        "store_and_forward.store_and_forward",
        {
            "packet": "1428 B",
            "bandwidth": "1.5232 Mbit/s, 1.5232 Mbit/s",
            "latency": "5 ms, 1 ms",
            "processing": "1 ms",
            "source_processing": "1 ms",
            "destination_processing": "1 ms",
            "packet_count": "1",
        },
    )
    assert words(panel.result).endswith("24 ms.")
    panel.fields["latency_s"].input.value = "3 ms"  # one for all: as much in sum
    assert words(panel.result).endswith("24 ms.")
    panel.fields["latency_s"].input.value = "1 ms, 2 ms, 3 ms"
    assert panel.fields["latency_s"].message.is_alert


def test_several_results_are_a_table():
    texts = {"write_s": "0 s, 0 s", "write_bytes": "100 B, 100 B", "rtt": "30 ms"}
    panel = calculator_panel("write_timeline", texts)
    assert panel.figure not in panel.children
    assert panel.table in panel.children
    assert "waits for acknowledgement</td>" in panel.table.value
    assert "<td>100 ms</td>" in panel.table.value  # derived: 2 RTT + 40 ms
    assert panel.fields["write_s"].children[0].children[0].value == "<b>write s</b>"
    panel.chapter.value = "delays"
    panel.formula_choice.value = "latency.transfer_s"
    assert panel.figure in panel.children
    assert panel.table not in panel.children


def test_it_solves_and_follows():
    panel = calculator_panel("transfer", {"payload": "1 MB", "latency": "30 ms"})
    panel.solve_over.value = "bandwidth_bps"
    panel.solve_result.value = "82 ms"
    assert words(panel.solved) == "bandwidth: 153.8 Mbit/s"  # derived: 8e6 bit / 52 ms
    panel.fields["payload_bytes"].input.value = "2 MB"
    assert words(panel.solved) == "bandwidth: 307.7 Mbit/s"
    panel.solve_range.value = "T1:T3"
    assert words(panel.solved) == "bandwidth: no solution in [1.544 Mbit/s, 44.74 Mbit/s]"
    panel.solve_result.value = "82"
    assert panel.solved.is_alert
    panel.solve_over.value = ""
    assert not panel.solved.value


def test_points_stand_on_their_own_curve_only():
    points = {"printed": ([1.544e6], [5.21])}
    panel = calculator_panel("transfer", over="bandwidth", points=points)
    assert curve(panel, "printed")["y"].tolist() == [5.21]
    panel.over.value = "latency_s"
    assert "printed" not in panel.figure.plot.sources


def test_markup_in_a_box_stays_text():
    panel = calculator_panel("tunnel_mtu", {"stack": "<img src=x onerror=alert(1)>"})
    assert panel.message.is_alert or panel.fields["stack"].message.is_alert
    for message in (panel.message, panel.fields["stack"].message):
        assert "<img" not in message.value
    assert "<img" not in panel.numbers.value


def fill(panel, **texts):
    for name, text in texts.items():
        panel.fields[name].input.value = text


class TestRangesAndLists:
    LINE: ClassVar = {"payload": "1 MB", "bandwidth": "8 Mbit/s", "latency": "30 ms"}

    def panel(self, **more):
        return calculator_panel("transfer", {**self.LINE, **more})

    def test_a_range_has_percentiles_a_table_and_a_band(self):
        """Derived: 1 s for the bits, and of 20 to 40 ms the percentiles 21, 30 and 39 ms."""
        panel = self.panel(latency="20..40 ms")
        assert words(panel.result).startswith(
            "Time from the first bit sent to the last bit received: p5 1.021 s, median 1.03 s, "
            "p95 1.039 s (matters most: latency)."
        )
        assert "<td>1.039 s</td>" in panel.table.value
        band = curve(panel, "median")
        # derived: 8 N / R and the percentiles of the latency, at the ends of the sweep
        assert band["high"][0] - band["low"][0] == pytest.approx(0.018, rel=1e-3)
        assert band["y"][-1] == pytest.approx(10.03, rel=1e-3)
        assert panel.sweep_message.value == ""

    def test_of_a_range_that_is_swept_itself_the_distribution_is_drawn(self):
        panel = calculator_panel("transfer", {**self.LINE, "payload": "1..2 MB"})
        assert set(curve(panel, "draws")) == {"left", "right", "top", "bottom"}

    def test_a_list_is_a_table_and_a_curve_for_each_value(self):
        """Derived: 8 Mbit at 1, 2 and 4 Mbit/s, and 30 ms."""
        panel = self.panel(bandwidth="1,2,4 Mbit/s")
        for text in ("8.03 s", "4.03 s", "2.03 s"):
            assert f"<td>{text}</td>" in panel.table.value
        names = [f"bandwidth {rate} Mbit/s" for rate in (1, 2, 4)]
        assert list(panel.figure.plot.sources) == names
        assert curve(panel, names[2])["y"][-1] == pytest.approx(0.03 + 8e7 / 4e6)

    def test_two_lists_are_a_table_of_two_sides(self):
        """Derived: 8 and 16 Mbit at 1 and 2 Mbit/s, and 30 ms."""
        panel = self.panel(bandwidth="1; 2 Mbit/s", payload="1MB,2MB")
        assert "transfer time at 2 Mbit/s" in panel.table.value
        for text in ("8.03 s", "4.03 s", "16.03 s"):
            assert f"<td>{text}</td>" in panel.table.value

    def test_a_list_and_a_range_have_percentiles_for_each_value(self):
        panel = self.panel(bandwidth="1; 2 Mbit/s", latency="20..40 ms")
        assert "median" in panel.table.value
        assert "<td>4.039 s</td>" in panel.table.value

    def test_three_lists_are_refused(self):
        panel = self.panel(bandwidth="1; 2 Mbit/s", payload="1MB,2MB", latency="1ms,2ms")
        assert "a table takes at most 2" in words(panel.message)

    def test_a_codec_is_the_voice_of_a_packet(self):
        """Derived: 64 kbit/s for 20 ms are 160 bytes, for 30 ms 240."""
        panel = calculator_panel("voip-bandwidth", {"payload": "G.711", "interval": "20 ms"})
        twenty = words(panel.result)
        fill(panel, payload_bytes="160 B")
        assert words(panel.result) == twenty
        fill(panel, payload_bytes="G.711", interval_s="30 ms")
        thirty = words(panel.result)
        fill(panel, payload_bytes="240 B")
        assert words(panel.result) == thirty != twenty

    def test_a_range_is_solved_in_each_draw(self):
        """Derived: 8 Mbit in 1 s less 220, 400 and 580 ms."""
        panel = self.panel(latency="200..600 ms")
        panel.solve_over.value = "bandwidth_bps"
        panel.solve_result.value = "1 s"
        assert words(panel.solved) == (
            "bandwidth: p5: 10.26 Mbit/s, median: 13.33 Mbit/s, p95: 19.05 Mbit/s"
        )
        fill(panel, payload_bytes="1MB,2MB")
        assert "payload has several values" in words(panel.solved)

    @pytest.mark.each(
        ("text", "said"),
        [
            ("40..20 ms", "goes from 40 ms down to 20 ms"),
            ("20 ±", "is not a range"),
            ("-5..5 ms", "are impossible"),
            ("lognormal(30 ms, p95 20 ms)", "greater than the median"),
        ],
    )
    def test_a_refused_range_is_named_beside_its_field(self, text, said):
        panel = self.panel(latency=text)
        field = panel.fields["latency_s"].message
        assert field.is_alert
        assert said in words(field)

    def test_back_to_single_numbers_everything_is_as_before(self):
        panel = self.panel()
        before = panel.result.value, panel.table.value, panel.numbers.value
        fill(panel, latency_s="20..40 ms")
        fill(panel, latency_s="30 ms")
        assert (panel.result.value, panel.table.value, panel.numbers.value) == before
        assert list(curve(panel, "transfer time")) == ["x", "y"]


def test_a_formula_is_found_by_its_title_and_shows_how_it_is_called():
    panel = calculator_panel()
    panel.search.value = "mean wait M/M/1"
    label, name = panel.formula_choice.options[0]
    assert (label, name) == ("Mean wait, M/M/1  ·  mm1-wait", "mm1.mm1_wait_s")
    panel.formula_choice.value = name
    assert panel.figure.plot.figure.title.text.text == "Mean wait, M/M/1"
    assert "<code>netcalc calc mm1-wait</code>" in panel.summary.value


def test_a_panel_with_a_formula_of_a_chapter_opens_its_chapter():
    panel = calculator_panel("mm1_wait")
    assert panel.chapter.value == "queues"
    assert panel.formula_choice.value == "mm1.mm1_wait_s"
    assert panel.formula_choice.rows >= 12
