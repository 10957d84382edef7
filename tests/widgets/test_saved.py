"""What a notebook's file has of a panel: a picture, and the values as text.

``test_lessons_again`` judges that this is small in each lesson.
"""

from __future__ import annotations

from types import SimpleNamespace

import ipywidgets
import numpy as np
import pytest

from netcalc.lessons.calculator import calculator_panel
from netcalc.plots import Axis, curves
from netcalc.widgets import Figure, Quantity, choice, panel, run_button, saved, switch
from netcalc.widgets.saved import SavedOutputs

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def shown(monkeypatch):
    """What a cell would show, in order: data and whether it replaces what was shown."""
    outputs = []
    monkeypatch.setattr(saved.InteractiveShell, "initialized", lambda: True)
    monkeypatch.setattr(
        saved, "_display", lambda data, **more: outputs.append((data, more.get("update", False)))
    )
    return outputs


def figure():
    axis = Axis("x", "1")
    return Figure(curves(X, {"one": X}, x_axis=axis, y_axis=axis, description="Twice <as> steep."))


def test_a_widget_is_shown_as_picture_text_and_widget(shown):
    controls = {
        "latency_s": Quantity("latency", "30 ms", unit="s", low="1 ms", high="1 s"),
        "line": choice("line", {"a <fast> one": 1, "slow": 2}, 1),
        "busy": switch("busy", True),
        "note": ipywidgets.Text(value="<b>", description="note"),
        "hidden": ipywidgets.Text("x", description="no", layout={"display": "none"}),
    }
    panel(figure(), controls, lambda **_: None)._ipython_display_()
    picture, values, widget = (data for data, _ in shown)
    assert picture["image/svg+xml"].startswith("<svg")
    assert picture["text/plain"] == "Twice <as> steep."
    html = values["text/html"]
    assert "<p>Twice &lt;as&gt; steep.</p>" in html
    assert html.count("<li>") == 4
    for text in ("latency: 30 ms", "line: a &lt;fast&gt; one", "busy: yes", "note: &lt;b&gt;"):
        assert f"<li>{text}</li>" in html
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert not {"image/svg+xml", "text/html"} & set(widget), "or an export would prefer the widget"


def test_samples_and_buttons_are_no_part_of_the_text(shown):
    live = run_button("Ping", lambda progress, stop: None, lambda result: None)
    live.keep.link.show("<a href='data:application/gzip;base64,AAAA'>Save these samples</a>")
    live.message.say("done")
    panel(figure(), {}, lambda: None, below=[live])._ipython_display_()
    html = shown[1][0]["text/html"]
    assert "done" in html
    assert "role=" not in html, "nothing to announce"
    assert "base64" not in html
    assert "Ping" not in html


def test_picture_and_text_follow_once_for_many_steps(shown):
    latency = Quantity("latency", "30 ms", unit="s", low="1 ms", high="1 s")
    drawn = figure()
    board = panel(
        drawn, {"latency_s": latency}, lambda latency_s: drawn.update("one", y=latency_s * X)
    )
    latency.value = 0.04
    assert drawn.saved._timer is None, "nothing to follow before it is shown"
    board._ipython_display_()
    before = shown[0][0]["image/svg+xml"]
    shown.clear()
    for value in (0.05, 0.06, 0.07):
        latency.value = value
    drawn.saved._timer.join(60)
    assert [update for _, update in shown] == [True, True]
    assert shown[0][0]["image/svg+xml"] != before
    assert "latency: 70 ms" in shown[1][0]["text/html"]


def test_what_a_run_says_in_the_end_is_in_the_text(shown):
    def run(progress, stop):
        raise OSError("no such device")

    drawn = figure()
    live = run_button("Ping", run, print)
    panel(drawn, {}, lambda **_: None, below=[live])._ipython_display_()
    drawn.saved.renew()
    drawn.saved._timer.join(60)
    shown.clear()
    live.start()
    live._thread.join(60)
    drawn.saved._timer.join(60)
    assert "no such device" in shown[1][0]["text/html"]


def test_a_formula_without_a_curve_has_no_picture_of_the_one_before(shown):
    board = calculator_panel()
    assert board.figure.saved.outputs()["picture"]["image/svg+xml"].startswith("<svg")
    board._ipython_display_()
    shown.clear()
    board.fields["payload_bytes"].input.value = "five"
    board.figure.saved._timer.join(60)
    (picture, _), (values, _) = shown
    assert "image/svg+xml" not in picture
    assert picture["text/plain"] == ""
    assert "five" in values["text/html"]


def test_a_slider_that_still_moves_is_not_disturbed(shown, monkeypatch):
    now_s, moves = [100.0], [1, 2, 3]

    def sleep(time_s):
        now_s[0] += time_s / 2
        if moves and moves.pop():
            assert [update for _, update in shown] == [False, False]
            outputs.renew()
        else:
            now_s[0] += time_s / 2

    monkeypatch.setattr(saved, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=sleep))
    monkeypatch.setattr(saved, "LAG_S", 600.0)
    outputs = SavedOutputs(lambda: "<svg/>", lambda: "words")
    outputs.show()
    outputs.renew()
    outputs._timer.cancel()
    outputs._update()
    assert now_s[0] == 100.0 + 3 * 300.0 + 600.0, "600 s after the last of three moves"
    assert [update for _, update in shown] == [False, False, True, True]


def test_a_picture_that_fails_takes_nothing_else_with_it(shown):
    outputs = SavedOutputs(lambda: "<svg/>", lambda: "words")
    outputs.show()
    outputs._picture = lambda: 1 / 0
    outputs._update()
    assert [update for _, update in shown] == [False, False]


def test_outside_a_notebook_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(saved, "_display", lambda *_, **__: 1 / 0)
    SavedOutputs(lambda: 1 / 0, lambda: "words").show()
