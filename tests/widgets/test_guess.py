"""A figure that is covered until its reader has guessed, from the kernel's side."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from netcalc import datasets, plots
from netcalc.errors import ArgumentTypeError, DomainError, ReaderError
from netcalc.lessons import latency, line_rate, small_writes, tail_latency, transfers
from netcalc.lessons import store_and_forward as hops
from netcalc.plots import Axis, curves
from netcalc.samples import loads
from netcalc.widgets import Figure, panel, run_button
from netcalc.widgets.guess import GUESS, Guess, Prediction, compared

LINE = np.array([0.0, 10.0])


def made(monkeypatch, *, model=(2.0, 30.0), below=(), form=True, **options):
    """A panel that asks for a time, and what its figure tells its pages."""
    axis = Axis("x", "s", low=0, high=100)
    plot = curves(LINE, {"line": LINE}, x_axis=axis, y_axis=axis)
    figure = Figure(plot if form else replace(plot, form=()))
    sent = []
    monkeypatch.setattr(figure, "send", lambda content, buffers=None: sent.append(content))
    asked = panel(figure, {}, lambda: model, predict="time", unit="s", below=below, **options)
    figure._answer(figure, {"kind": "ask document", "view": "1"}, None)
    return asked, sent


def told(panel_, **content):
    """The panel, after a message of a page."""
    panel_.figure._answer(panel_.figure, content, None)
    return panel_


def mark(panel_):
    data = panel_.figure.plot.sources[GUESS].data
    return [float(data["x"][0]), float(data["y"][0])]


def test_a_figure_is_covered_until_a_guess_is_final(monkeypatch):
    asked, sent = made(monkeypatch)
    assert sent[-1]["guess"]["covered"] is True
    assert sent[-1]["guess"]["mark"] == GUESS
    assert "30" not in str(sent[-1]["guess"]), "the model's value stays here"
    told(asked, kind="guess", text="15 s", reveal=False)
    assert asked.prediction.covered
    assert mark(asked) == [2.0, 15.0]
    told(asked, kind="guess", text="10000 ms", reveal=True)
    assert sent[-1]["guess"]["covered"] is False
    # derived: 30 s / 10 s
    assert sent[-1]["guess"]["sentence"].endswith("10 s, the model says 30 s, 3 times your guess.")
    assert mark(asked) == [2.0, 10.0]
    told(asked, kind="guess", text="30 s", reveal=True)
    assert mark(asked) == [2.0, 10.0], "the first one counts"


@pytest.mark.parametrize(
    "text", ["", "5", "abc", "5 kg", "nan s", "1e999 s", "<img src=x> s", "5M"]
)
def test_what_is_no_time_is_refused_beside_the_field(monkeypatch, text):
    asked, sent = made(monkeypatch)
    told(asked, kind="guess", text=text, reveal=True)
    assert asked.prediction.covered
    assert sent[-1]["guess"]["alert"]
    assert all(map(math.isnan, mark(asked)))


def test_a_figure_without_a_guess_says_nothing_of_one(monkeypatch):
    asked, sent = made(monkeypatch)
    told(asked, kind="guess", text="15 s", reveal=False)
    told(asked, kind="no guess")
    assert sent[-1]["guess"]["covered"] is False
    assert sent[-1]["guess"]["sentence"] == ""
    assert all(map(math.isnan, mark(asked)))
    assert asked.prediction.stored() == {}


def test_a_guess_along_the_other_axis(monkeypatch):
    asked, _ = made(monkeypatch, along="x")
    told(asked, kind="guess", text="1 s", reveal=True)
    assert mark(asked) == [1.0, 30.0]
    assert "the model says 2 s, 2 times your guess" in asked.prediction.sentence
    with pytest.raises(DomainError, match="along"):
        Prediction("time", unit="s", along="z")


@pytest.mark.parametrize("form", [True, False], ids=["new columns", "new figure"])
def test_the_mark_stays_when_the_figure_is_drawn_again(monkeypatch, form):
    asked, _ = made(monkeypatch, form=form)
    told(asked, kind="guess", text="10 s", reveal=True)
    axis = Axis("x", "s", low=0, high=100)
    fresh = curves(LINE, {"line": 2 * LINE}, x_axis=axis, y_axis=axis)
    asked.figure.draw(fresh if form else replace(fresh, form=()))
    assert mark(asked) == [2.0, 10.0]
    assert ">your guess<" in asked.figure.picture()


def test_a_picture_without_a_front_end_is_not_covered(monkeypatch):
    asked, _ = made(monkeypatch)
    saved = asked.figure.saved.outputs()
    assert ">line<" in saved["picture"]["image/svg+xml"]
    assert "your guess" not in saved["picture"]["image/svg+xml"], "there is none yet"
    assert "line: 0 s at 0 s" in saved["values"]["text/html"]
    told(asked, kind="guess", text="10 s", reveal=True)
    saved = asked.figure.saved.outputs()
    assert ">your guess<" in saved["picture"]["image/svg+xml"]
    assert "3 times your guess" in saved["values"]["text/html"]


def test_an_update_that_returns_no_point_is_a_wrong_panel(monkeypatch):
    asked, _ = made(monkeypatch, model=None)
    assert asked.message.is_alert
    with pytest.raises(ArgumentTypeError, match="pair of numbers"):
        asked.prediction.take_model(None)


@pytest.mark.parametrize(
    ("guess", "model", "said"),
    [
        # derived: the ratio of the two numbers, with two digits
        (1.0, 30.0, "is 1 s, the model says 30 s, 30 times your guess."),
        (30.0, 1.0, "is 30 s, the model says 1 s; your guess is 30 times the model."),
        (1e-9, 10.0, "is 1 ns, the model says 10 s, 10,000,000,000 times your guess."),
        (1.05, 1.0, "is 1.05 s, the model says 1 s; your guess is 5% above."),
        (0.98, 1.0, "is 980 ms, the model says 1 s; your guess is 2% below."),
        (1.0, 1.0, "is 1 s, the model says 1 s, too."),
        (0.0, 1.0, "is 0 s, the model says 1 s."),
        (1.0, -1.0, "is 1 s, the model says -1 s."),
        (1.0, math.nan, "is 1 s, the model has no value here."),
        (1.0, math.inf, "is 1 s, the model has no value here."),
    ],
)
def test_one_sentence_compares_guess_and_model(guess, model, said):
    assert compared(Guess("time", "s", guess, ""), model) == f"Time: your guess {said}"


def test_the_mark_has_a_legend_entry_in_a_figure_with_and_without_one():
    axis = Axis("x", "s", low=0, high=1)
    one = curves(LINE, {"line": LINE}, x_axis=axis, y_axis=axis)
    other = curves(LINE, {"other": LINE}, x_axis=axis, y_axis=axis)
    for plot in (one, plots.together(other, curves(LINE, {}, x_axis=axis, y_axis=axis))):
        marked = plots.with_guess(plot, x=0.5, y=0.5)
        assert ">your guess<" in plots.svg(marked)
        assert marked.form == ((*plot.form, "guess", "your guess") if plot.form else ())
    with pytest.raises(DomainError, match="name"):
        plots.with_guess(marked)


def file_of(button):
    """The samples in the link of a run."""
    data = re.search('base64,([^"]*)', button.keep.link.value)[1]
    return loads(gzip.decompress(base64.b64decode(data)), file="run.json")


def test_a_saved_run_has_the_guess_with_its_time(monkeypatch):
    run = datasets.load("ping_emulated_t1")
    button = run_button("Run", lambda **_: run, lambda _: None, experiment=run.meta.experiment)
    asked, _ = made(monkeypatch, below=[button])
    assert asked.prediction.covered
    button._show(run)
    assert file_of(button).meta.guess == {}, "nothing is known yet"
    told(asked, kind="guess", text="10 s", reveal=True)
    button._show(run)
    guess = file_of(button).meta.guess
    assert guess.pop("time") == asked.prediction.guess.time
    assert guess == {"what": "time", "unit": "s", "value": 10.0, "text": "10 s"}
    assert datetime.fromisoformat(asked.prediction.guess.time).utcoffset().total_seconds() == 0
    assert run.meta.guess == {}, "the run itself is as it was"

    # Opened in another panel, it is the mark there.
    other, _ = made(monkeypatch, below=[later := run_button("Run", lambda **_: run, print)])
    later.keep._open(file_of(button))
    assert mark(other) == [2.0, 10.0]
    assert not other.prediction.covered
    assert "Guess of 20" in other.prediction.sentence


@pytest.mark.parametrize("wrong", [{"value": "10"}, {"what": 3}, {"time": "\u001b[2J"}, [1]])
def test_a_damaged_guess_in_a_file_is_refused_by_its_field(wrong):
    run = datasets.load("ping_emulated_t1")

    document = json.loads(run.dumps())
    document["meta"]["guess"] = wrong
    with pytest.raises(ReaderError, match=r"meta\.guess"):
        loads(json.dumps(document), file="run.json")


def test_panels_of_the_lessons_ask_first():
    # Each model's value by the other way that the lesson names: derived.
    expected = {
        latency.transfer_panel: (1e6, 0.03 + 8e6 / 1e9),
        # one packet takes 24 ms (published, Fig. A-9), each further one 7.5 ms: 91.5 ms
        hops.train_panel: (10, 91.5e-3),
        line_rate.frame_rate_panel: (64, 1e10 / 8 / 84),  # RFC 2544: 64 and 20 bytes a frame
        small_writes.article_panel: (2, 2 * 20e-3 + 100e-3),
    }
    for maker, point in expected.items():
        asked = maker()
        assert asked.prediction.covered
        assert asked.prediction.model == pytest.approx(point, rel=1e-3), maker
    # published: 0.9558 s for 7.2 MB, which the costs of the panel fit within 1 %
    source = transfers.segment_cost_panel().prediction
    assert source.model[1] == pytest.approx(8 * 7.2e6 / 0.9558, rel=0.01)
    assert tail_latency.buffer_panel().prediction.unit == "s"
    assert latency.transfer_panel(predict=False).prediction is None


def test_a_comparison_says_that_the_controls_were_moved_since(monkeypatch):
    asked, sent = made(monkeypatch)
    told(asked, kind="guess", text="10 s", reveal=True)
    before = asked.prediction.sentence
    count = len(sent)
    asked.prediction.take_model((7.0, 30.0))
    assert (asked.prediction.sentence, len(sent)) == (before, count), "the model says the same"
    asked.prediction.take_model((7.0, 60.0))
    assert asked.prediction.sentence == f"{before} The controls have been moved since."
    assert sent[-1]["guess"]["sentence"] == asked.prediction.sentence
    assert asked.figure.words.endswith("moved since."), "nor does the saved text contradict"
    asked.prediction.take_model((2.0, 30.0))
    assert asked.prediction.sentence == before


def test_a_file_keeps_the_guess_it_has_and_gets_no_other(monkeypatch):
    run = datasets.load("ping_emulated_t1")
    guess = Guess("time", "s", 20.0, "20 s", "2026-11-01T10:00+00:00").stored()
    theirs = replace(run, meta=replace(run.meta, guess=guess))
    button = run_button("Run", lambda **_: run, lambda _: None, experiment=run.meta.experiment)
    asked, _ = made(monkeypatch, below=[button])
    told(asked, kind="guess", text="10 s", reveal=True)
    button.keep._open(run)  # of somebody who did not guess
    assert file_of(button).meta.guess == {}
    button.keep._open(theirs)
    assert file_of(button).meta.guess == theirs.meta.guess
    button._show(run)
    assert file_of(button).meta.guess == {}, "the guess on the page is not this reader's"


def test_a_page_knows_before_it_has_the_figure_that_there_is_something_to_guess(monkeypatch):
    asked, _ = made(monkeypatch)
    assert asked.figure._asks
    told(asked, kind="no guess")
    assert not asked.figure._asks


def test_an_error_is_shown_below_a_covered_figure(monkeypatch):
    model = [(2.0, 30.0)]
    asked, _ = made(monkeypatch)
    asked._update = lambda: model[0]
    assert "netcalc-below" in asked.message._dom_classes
    model[0] = None
    asked.refresh()
    assert asked.message.is_alert
    assert "netcalc-below" not in asked.message._dom_classes
    model[0] = (2.0, 30.0)
    asked.refresh()
    assert "netcalc-below" in asked.message._dom_classes
