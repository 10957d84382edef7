"""The figure widget's side of the conversation, without a browser."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bokeh.document import Document

from netcalc.errors import DomainError
from netcalc.plots import Axis, curves
from netcalc.widgets import Figure

X = np.array([1.0, 2.0, 3.0])


def plot(title="a", **lines):
    axis = Axis("x", "1")
    return curves(X, lines or {"one": X, "two": 2 * X}, x_axis=axis, y_axis=axis, title=title)


@pytest.fixture
def figure(monkeypatch):
    made = Figure(plot())
    made.sent = []
    monkeypatch.setattr(
        made, "send", lambda content, buffers=(): made.sent.append((content, list(buffers)))
    )
    return made


def ask(figure, what):
    figure._handle_custom_msg({"kind": f"ask {what}", "view": "v1"}, [])


def test_a_view_gets_the_document_with_present_columns_and_the_library(figure):
    figure.update("one", y=[7.0, 8.0, 9.0])
    assert figure.sent == [], "no view listens before it has asked"
    ask(figure, "document")
    ask(figure, "library")
    (document, [content]), (library, [code]) = figure.sent
    assert library == {"kind": "library"}
    assert b"Bokeh" in code
    assert document["view"] == "v1"
    assert set(document["ids"]) == {"one", "two"}
    given = Document.from_json(json.loads(content)).get_model_by_id(document["ids"]["one"])
    assert given.data["y"].tolist() == [7.0, 8.0, 9.0]
    data = figure.plot.sources["one"].data
    assert data["y"].tolist() == [7.0, 8.0, 9.0]


def test_a_view_gets_the_figure_that_was_drawn_last(figure):
    figure.draw(plot(title="b"))
    assert figure.sent == [], "no view listens before it has asked"
    ask(figure, "document")
    [(_, [content])] = figure.sent
    assert b'"text":"b"' in content
    figure.draw(plot(title="c"))
    [_, (document, [content])] = figure.sent
    assert document["view"] == "all"
    assert b'"text":"c"' in content


def test_a_change_is_one_message_of_binary_columns(figure):
    ask(figure, "document")
    figure.update_all({"one": {"y": [4, 5, 6]}, "two": {"y": [7, 8, np.inf]}})
    [_, (message, buffers)] = figure.sent
    assert message == {
        "kind": "columns",
        "sources": {"one": {"y": {"buffer": 0}}, "two": {"y": {"buffer": 1}}},
    }
    assert np.frombuffer(buffers[0]).tolist() == [4.0, 5.0, 6.0]
    assert np.isnan(np.frombuffer(buffers[1])[2])  # what is infinite is not drawn


def test_a_wrong_change_is_refused_and_nothing_is_sent(figure):
    ask(figure, "document")
    figure.sent.clear()
    before = figure.picture()
    with pytest.raises(DomainError, match="none"):
        figure.update("none", y=X)
    with pytest.raises(DomainError):
        figure.update_all({"one": {"y": 7 * X}, "none": {"y": X}})
    assert figure.sent == []
    assert figure.picture() == before, "the picture has what the page has not"


def test_another_figure_of_the_same_form_costs_columns_only(figure):
    ask(figure, "document")
    figure.sent.clear()
    figure.draw(plot(one=3 * X, two=X))
    assert [message["kind"] for message, _ in figure.sent] == ["columns"]
    figure.draw(plot(title="b"))
    assert [message["kind"] for message, _ in figure.sent] == ["columns", "document"]
    assert figure.sent[-1][0]["view"] == "all"


def test_other_messages_are_ignored(figure):
    for message in ({}, {"kind": "ask"}, {"kind": ["ask library"]}):
        figure._handle_custom_msg(message, [])
    assert figure.sent == []


def test_what_went_wrong_is_shown_without_the_home_folder(monkeypatch, tmp_path):  # B14
    from netcalc.widgets.panel import Message

    script = tmp_path / "mine.py"
    script.write_text("def fail():\n    raise ValueError('broken')\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    space: dict = {}
    exec(compile(script.read_text(), str(script), "exec"), space)
    message = Message()
    try:
        space["fail"]()
    except ValueError as error:
        message.blame(error)
    assert "~/mine.py" in message.value
    assert str(tmp_path) not in message.value


def test_a_message_stays_on_the_page_and_only_an_error_is_an_alert():
    from netcalc.widgets.panel import Message

    message = Message()
    for text, is_alert in (("done", False), ("no <such> file", True), ("", False)):
        message.say(text, alert=is_alert)
        assert message.layout.display is None, "what is not there cannot be read aloud"
        assert message.is_alert == is_alert
        assert ("role=" in message.value) == is_alert  # within what is read aloud in any case


def test_a_heading_without_words_is_no_heading():
    from netcalc.widgets.panel import html_table

    head = html_table(["", "time"], [["T1", "3 ms"]]).partition("</thead>")[0]
    assert head.endswith('<tr><td></td><th scope="col">time</th></tr>')
