"""Sliders with text boxes, and panels: what is taken, refused, coalesced, shown."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.plots import Axis, curves
from netcalc.widgets import Figure, Quantity, choice, panel, switch
from netcalc.widgets.controls import path_box


def latency(**changes):
    arguments = {"unit": "s", "low": "1 ms", "high": "300 ms"}
    return Quantity("latency", "30 ms", **{**arguments, **changes})


def test_it_starts_where_it_was_told():
    control = latency()
    assert (control.value, control.box.value) == (0.03, "30 ms")
    assert Quantity("rate", "T1", unit="bit/s", low="56 kbit/s", high="1 Gbit/s").value == 1.544e6


def test_the_ends_of_the_slider_are_the_ends_of_the_range():
    control = latency()
    control.slider.value = control.slider.max
    assert (control.value, control.box.value) == (0.3, "300 ms")
    control.slider.value = 0
    assert (control.value, control.box.value) == (0.001, "1 ms")


def test_a_log_slider_has_the_geometric_mean_in_the_middle():
    control = latency(low="1 ms", high="100 ms")
    control.slider.value = control.slider.max // 2
    assert control.value == pytest.approx(0.01)  # identity: sqrt(1 ms x 100 ms)


def test_a_linear_slider_may_start_at_zero():
    control = latency(low=0.0, high=0.1, scale="linear")
    control.slider.value = control.slider.max // 2
    assert control.value == pytest.approx(0.05)


def test_whole_numbers_stay_whole():
    control = Quantity("packets", 3, unit="1", low=1, high=10, scale="linear", whole=True)
    assert control.slider.max == 9
    for stop in range(10):
        control.slider.value = stop
        assert control.value == stop + 1


@pytest.mark.each(
    ("typed", "value"),
    [("50 ms", 0.05), ("0,05 s", 0.05), ("50000 us", 0.05), ("  1 ms ", 0.001), ("300 ms", 0.3)],
)
def test_what_is_typed_with_its_unit_is_taken_as_it_is(typed, value):
    control = latency()
    control.box.value = typed
    assert control.value == pytest.approx(value)
    assert control.box.value == typed
    assert control.message.value == ""


@pytest.mark.each(
    ("typed", "said"),
    [
        ("abc", "does not start with a number"),
        ("", "empty"),
        ("1,5", "needs a unit"),
        ("1,500 ms", "ambiguous"),
        ("1e999 s", "too large"),
        ("-3 ms", "must be between 1 ms and 300 ms"),
        ("10 Mbit/s", "unit of a rate"),
        ("<img src=x onerror=alert(1)> 3 ms", "&lt;img"),
    ],
)
def test_what_cannot_be_is_said_beside_the_box_and_changes_nothing(typed, said):  # B4
    control, seen = latency(), []
    control.observe(seen.append, "value")
    control.box.value = typed
    assert said in control.message.value
    assert "<img" not in control.message.value
    assert (control.value, seen) == (0.03, [])
    control.box.value = "40 ms"
    assert (control.value, control.message.value) == (0.04, "")


def test_a_program_may_set_the_value():
    control = latency()
    control.value = 0.1
    assert control.box.value == "100 ms"
    assert control.slider.value == control._position(0.1)


def test_a_value_set_while_another_is_taken_is_what_slider_and_box_show():
    """A run that ends sets its own, while a slider is dragged."""
    control = latency()
    control.observe(lambda change: setattr(control, "value", 0.2), "value")
    control.box.value = "100 ms"
    assert control.value == 0.2
    assert control.box.value == "200 ms"
    assert control.slider.value == control._position(0.2)


def figure():
    x = np.array([1.0, 2.0])
    return Figure(curves(x, {"y": x}, x_axis=Axis("x", "1"), y_axis=Axis("y", "1")))


def test_a_box_for_a_path_offers_those_that_are_known():
    bare = path_box("", label="your own path")
    assert (bare.value, bare.description, bare.tooltip[-9:]) == ("", "your own path", "a latency")
    offering = path_box("T1 5 ms", offered=("T1 5 ms", "T3"), when_empty="empty to fit")
    assert (offering.value, offering.options) == ("T1 5 ms", ("T1 5 ms", "T3"))
    offering.value = "T1 1 ms"  # any other may be typed
    assert offering.tooltip.endswith("a latency; empty to fit")


def test_a_panel_calls_with_all_values_at_first_and_after_each_change():
    calls = []
    controls = {"latency_s": latency(), "kind": choice("kind", {"a": 1, "b": 2}, 1),
                "fast": switch("fast")}  # fmt: skip
    panel(figure(), controls, lambda **values: calls.append(values))
    controls["latency_s"].box.value = "40 ms"
    controls["kind"].value = 2
    controls["fast"].value = True
    assert calls == [
        {"latency_s": 0.03, "kind": 1, "fast": False},
        {"latency_s": 0.04, "kind": 1, "fast": False},
        {"latency_s": 0.04, "kind": 2, "fast": False},
        {"latency_s": 0.04, "kind": 2, "fast": True},
    ]


def test_changes_while_it_works_are_one_more_call_with_the_last_values():  # B4
    calls, control = [], latency()

    def slow(*, latency_s):
        calls.append(latency_s)
        if len(calls) == 1:
            for text in ("40 ms", "50 ms", "60 ms"):  # what arrives in the meantime
                control.box.value = text

    panel(figure(), {"latency_s": control}, slow)
    assert calls == [0.03, 0.06]


def test_an_error_is_shown_and_later_changes_work():  # B7
    control, drawn = latency(), []

    def draw(*, latency_s):
        if latency_s > 0.2:
            raise DomainError("above-maximum", "latency_s", latency_s, high=0.2)
        if latency_s > 0.1:
            raise ZeroDivisionError("by <b>nothing</b>")
        drawn.append(latency_s)

    shown = panel(figure(), {"latency_s": control}, draw)
    control.box.value = "250 ms"
    assert "must be at most 0.2" in shown.message.value
    assert "Traceback" not in shown.message.value
    control.box.value = "150 ms"
    assert "ZeroDivisionError: by &lt;b&gt;nothing" in shown.message.value
    assert "Traceback" in shown.message.value
    control.box.value = "50 ms"
    assert shown.message.value == ""
    assert drawn == [0.03, 0.05]
