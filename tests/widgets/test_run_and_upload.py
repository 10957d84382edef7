"""Run buttons (B1, B2, B7, B10) and uploads (B9), without a browser."""

from __future__ import annotations

import functools
import math
import threading
import time

import pytest

from netcalc.errors import ExperimentError, ReaderError
from netcalc.experiments.running import stopping
from netcalc.plots import Axis, curves
from netcalc.samples import RttSamples
from netcalc.widgets import Figure, panel, run_button, upload
from netcalc.widgets.run import base_name

LIMIT_S = 10  # nothing here takes that long; a hang fails instead


@pytest.fixture
def experiment():
    """An experiment that runs until it is stopped, and says when it began."""

    class Experiment:
        began = threading.Event()
        runs = 0

        def run(self, *, progress, stop):
            Experiment.runs += 1
            progress(3, 10, 0.1)
            self.began.set()
            assert stop.wait(LIMIT_S)
            return "kept"

    return Experiment()


def wait(button):
    button._thread.join(LIMIT_S)
    assert not button.running


def test_a_run_is_stopped_and_keeps_what_it_measured(experiment):
    results = []
    button = run_button("Ping", experiment.run, results.append)
    button.start()
    assert experiment.began.wait(LIMIT_S)
    assert (button.progress.value, button.progress.max) == (3, 10)
    assert button.start_button.disabled
    button.stop()
    wait(button)
    assert results == ["kept"]
    assert "stopped" in button.message.value
    assert not button.start_button.disabled
    assert button.stop_button.disabled


def test_a_second_run_ends_the_first(experiment):  # B1
    results = []
    first = run_button("Ping", experiment.run, results.append)
    first.start()
    assert experiment.began.wait(LIMIT_S)
    second = run_button("Other", lambda progress, stop: "second", results.append)
    second.start()
    wait(second)
    assert not first.running
    assert results == ["kept", "second"]


def test_running_the_cell_again_ends_its_old_run(experiment):  # B10
    old = run_button("Ping", experiment.run, lambda result: None)
    old.start()
    assert experiment.began.wait(LIMIT_S)
    run_button("Ping", experiment.run, lambda result: None)
    assert not old.running


def test_another_button_on_the_page_ends_nothing(experiment):
    button = run_button("Ping", experiment.run, lambda result: None)
    button.start()
    assert experiment.began.wait(LIMIT_S)
    run_button("Other", lambda progress, stop: None, lambda result: None)
    assert button.running
    button.stop(wait=True)
    assert not button.running


def test_an_error_is_shown_with_what_was_measured_and_the_next_run_works():  # B7
    results = []

    def broken(*, progress, stop):
        error = ExperimentError("the peer is gone", phase="echo")
        error.partial = "half"
        raise error

    button = run_button("Ping", broken, results.append)
    button.start()
    wait(button)
    assert results == ["half"]
    assert "the peer is gone" in button.message.value
    button._run = lambda progress, stop: "whole"
    button.start()
    wait(button)
    assert results == ["half", "whole"]
    assert "done" in button.message.value


def test_fifty_fast_clicks_leave_one_run(experiment):  # B1
    button = run_button("Ping", experiment.run, lambda result: None)
    for _ in range(50):
        button.start()
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("netcalc experiment") == 1
    button.stop(wait=True)


SAMPLES = RttSamples(payload_bytes=[56.0], rtt_s=[0.03])


@pytest.fixture
def field():
    taken = []

    def read(data, name):
        taken.append((name, data))
        if not data:
            raise ReaderError("no measurement", file=name)
        return SAMPLES

    done = []
    made = upload("Your ping file", done.append, read=read, max_bytes=100)
    made.taken, made.results = taken, done
    return made


def piece(field, data, name="ping.txt", upload="u1", last=True):
    content = {"kind": "piece", "upload": upload, "name": name, "last": last}
    field.field._handle_custom_msg(content, [memoryview(data)])


def test_a_file_in_pieces_is_read_as_one(field):
    piece(field, b"PING ", last=False)
    piece(field, b"host")
    assert field.taken == [("ping.txt", b"PING host")]
    assert field.results == [SAMPLES]
    assert "Read ping.txt." in field.message.value


def test_pieces_of_an_upload_that_broke_off_are_dropped(field):
    piece(field, b"half of the first", last=False)
    piece(field, b"second", upload="u2")
    assert field.taken == [("ping.txt", b"second")]


def test_too_large_a_file_is_refused_twice(field):  # B9
    field.field._handle_custom_msg({"kind": "refused", "name": "big", "size": 3e8}, [])
    assert "too large to upload (300 MB" in field.message.value
    piece(field, b"x" * 101)  # a page that did not look
    assert "too large" in field.message.value
    assert field.taken == []
    piece(field, b"PING")
    assert field.results == [SAMPLES]


def test_a_refused_file_is_said_and_the_next_one_works(field):
    piece(field, b"")
    assert "no measurement" in field.message.value
    assert field.results == []
    piece(field, b"PING")
    assert field.results == [SAMPLES]


@pytest.mark.each(
    ("given", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\ping.txt", "ping.txt"),
        ("..", "upload"),
        ("", "upload"),
        ("a\x1b[31m\nb.txt", r"a\x1b[31m\nb.txt"),
    ],
)
def test_only_the_base_name_is_kept(given, name):  # B9
    assert base_name(given) == name


def test_a_hostile_name_stays_text(field):
    piece(field, b"PING", name="<img src=x onerror=alert(1)>")
    assert "<img" not in field.message.value


@pytest.mark.each(
    ("name", "shown"),
    [
        ("x" * 4000, "x" * 117 + "..."),
        ("\u202e\u2066\ud800\0.txt", r"\u202e\u2066\ud800\x00.txt"),
        ("CON", "CON"),
        ("\0" * 4000, r"\x00" * 117 + "..."),
        (". .", "upload"),
    ],
)
def test_a_name_of_any_kind_is_one_line_of_some_length(field, name, shown):
    piece(field, b"PING", name=name)
    assert f"Read {shown}." in field.message.value


PIECE = {"kind": "piece", "upload": "u", "name": "n", "last": True}
REFUSED = {"kind": "refused", "name": "n", "size": 500}


@pytest.mark.parametrize(
    "content",
    [
        None, [], "piece", 5, {}, {"kind": "piece"}, {"kind": ["piece"]},
        *(PIECE | {"last": wrong} for wrong in (None, 1, "yes")),
        *(PIECE | {field: wrong} for field in ("upload", "name") for wrong in (None, 1, [], {})),
        *(REFUSED | {"name": wrong} for wrong in (None, {"a": 1})),
        *(REFUSED | {"size": wrong} for wrong in
          (None, "x", [], -1, math.nan, math.inf, 10**400)),
    ],
    ids=str,
)  # fmt: skip
def test_a_message_that_no_page_sends_is_passed_over(field, content, capsys):
    field.field._handle_custom_msg(content, [memoryview(b"PING")])
    assert (field.taken, field.message.value) == ([], "")
    assert capsys.readouterr() == ("", "")
    piece(field, b"PING")
    assert field.results == [SAMPLES]


def test_a_new_result_hides_what_was_said_about_the_one_before():
    """Own error, saved samples and the name of a file belong to the result that is drawn."""
    drawn = []
    ran = RttSamples(payload_bytes=[1.0], rtt_s=[0.01])
    live = run_button("Ping", lambda progress, stop: ran, drawn.append)
    own = upload(
        "Your own",
        drawn.append,
        read=lambda data, name: RttSamples(payload_bytes=[2.0], rtt_s=[0.02]),
    )
    figure = Figure(
        curves([1.0, 2.0], {"one": [1, 2]}, x_axis=Axis("x", "1"), y_axis=Axis("y", "1"))
    )
    panel(figure, {}, lambda: None, below=[own, live])
    own.take(b"", "mine.txt")
    assert "Read mine.txt." in own.message.value
    live.start()
    wait(live)
    assert own.message.value == ""
    assert "Save these samples" in live.keep.link.value
    own.take(b"", "mine.txt")
    said = [live.message, live.about, live.keep.link, live.keep.field.message]
    assert [message.value for message in said] == [""] * 4
    assert live.progress.value == 0
    live.start()
    wait(live)
    own._read = lambda data, name: 1 / 0  # a file that is refused changes nothing
    own.take(b"", "bad.txt")
    assert "Save these samples" in live.keep.link.value
    assert len(drawn) == 4


def test_a_run_waits_for_those_before_it_and_can_be_stopped_meanwhile(
    experiment, monkeypatch, tmp_path
):
    monkeypatch.setenv(stopping.FOLDER, str(tmp_path))
    others = [stopping.Turn(tmp_path) for _ in range(2)]
    others[0].begin()
    runs = type(experiment).runs
    button = run_button("Ping", experiment.run, lambda _: None)
    for _ in range(2):  # the second waiting says the same
        button.start()
        waited = threading.Event()
        end_s = time.monotonic() + LIMIT_S
        while "2 others before you, about" not in button.message.value:
            assert time.monotonic() < end_s, button.message.value
            waited.wait(0.01)
        button.stop()
        wait(button)
        assert "stopped before its turn" in button.message.value
    assert type(experiment).runs == runs
    assert len(stopping.waiting(tmp_path)) == 2
    for other in others:
        other.leave()


def test_a_page_cannot_raise_the_limit_of_an_upload(field):
    field.field.max_bytes = 1000
    piece(field, b"x" * 101)
    assert "too large" in field.message.value


def test_any_callable_is_an_experiment_and_nameless_ones_differ_by_their_label(experiment):
    class Ping:
        def __call__(self, *, progress, stop):
            return "called"

    def ping(size, *, progress, stop):
        return size

    for run, expected in ((Ping(), "called"), (functools.partial(ping, 56), 56)):
        results = []
        button = run_button("Ping", run, results.append)
        button.start()
        wait(button)
        assert results == [expected]
    first = run_button("Ping", lambda progress, stop: experiment.run(progress=progress, stop=stop),
                       print)  # fmt: skip
    first.start()
    assert experiment.began.wait(LIMIT_S)
    run_button("Trace", lambda progress, stop: None, print)
    assert first.running, "another experiment ended it"
    first.stop(wait=True)
