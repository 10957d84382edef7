"""Samples of a run as a file for the reader, and opened again; the run's own error in words."""

from __future__ import annotations

import base64
import gzip
import io
import re
import zipfile

import pytest

from netcalc.experiments import measurement_error
from netcalc.samples import Meta, RttSamples, loads
from netcalc.widgets import run_button

LIMIT_S = 10
FACTS = {
    "timer_resolution_s": 4e-8, "scheduling_delay_p99_s": 1.2e-4, "processor_ratio": 0.97,
    "wire_lateness_p99_s": 9e-5,
}  # fmt: skip


def echo(rtt_s=0.03, tool="netcalc echo", experiment="echo", **facts):
    start = "2026-11-21T06:54:12.500000+00:00"
    meta = Meta(tool=tool, experiment=experiment, start=start, instrument={**FACTS, **facts})
    return RttSamples(payload_bytes=[56.0], rtt_s=[rtt_s], meta=meta)


def button(result, **options):
    """A button whose run has ended, and what was shown of it."""
    shown = []
    made = run_button(
        "Ping", lambda progress, stop: result, shown.append, key="My Echo", **options
    )  # fmt: skip
    made.start()
    made._thread.join(LIMIT_S)
    return made, shown


def link(made):
    """The name and the bytes behind the link, as a browser saves them."""
    found = re.search(r'download="([^"]+)" href="data:[^;]+;base64,([^"]+)"', made.keep.link.value)
    return found[1], base64.b64decode(found[2])


def test_a_run_is_saved_and_opened_again():
    made, shown = button(echo(), experiment="echo")
    name, data = link(made)
    assert name == "my-echo-20261121-065412.json.gz"
    assert loads(gzip.decompress(data)).rtt_s.tolist() == [0.03]
    made.keep.field.take(data, name)
    assert len(shown) == 2
    assert shown[1].meta.instrument.stored() == FACTS
    assert "Measured 2026-11-21 06:54:12 UTC" in made.keep.field.message.value
    assert link(made) == (name, data), "what was opened can be saved again"


def test_a_file_of_the_command_is_opened(tmp_path):
    made, shown = button(echo(), experiment="echo")
    path = echo(0.05).save(tmp_path / "mine.json")
    made.keep.field.take(path.read_bytes(), path.name)
    assert shown[1].rtt_s.tolist() == [0.05]


def test_several_runs_are_one_file():
    made, shown = button((echo(0.01), echo(0.02)), experiment="echo", several=True)
    name, data = link(made)
    assert name.endswith(".zip")
    assert zipfile.ZipFile(io.BytesIO(data)).namelist() == ["my-echo-01.json", "my-echo-02.json"]
    made.keep.field.take(data, name)
    assert [run.rtt_s.tolist() for run in shown[1]] == [[0.01], [0.02]]


def zipped(key=b"My Echo", content=b"{}", names=("a.json",)):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.comment = key
        for name in names:
            archive.writestr(name, content)
    return whole.getvalue()


@pytest.mark.each(
    ("data", "said"),
    [
        (b"PK\3\4 broken", "not a zip of saved runs"),
        (zipped(key=b"bulk"), "no samples of this experiment"),
        (zipped(names=()), "no samples of this experiment"),
        (zipped(), "not a file of saved samples"),
        (zipped(content=echo(tool="ping", experiment="").dumps()), "no samples of this experiment"),
        (zipped(names=[f"{i}.json" for i in range(101)]), "too large"),
        (zipped(content=b" " * 140_000_000), "too large"),
        (gzip.compress(echo().dumps(), mtime=0), "not a zip of saved runs"),
    ],
)
def test_another_file_is_refused_and_nothing_changes(data, said):
    made, shown = button([echo(), echo()], experiment="echo", several=True)
    made.keep.field.take(data, "saved.zip")
    assert said in made.keep.field.message.value
    assert made.keep.field.message.is_alert
    assert len(shown) == 1


def test_samples_of_another_experiment_are_refused():
    made, shown = button(echo(), experiment="transactions")
    made.keep.field.take(link(made)[1], "x.json.gz")
    assert "found &#x27;netcalc echo&#x27;; expected netcalc transactions" in (
        made.keep.field.message.value
    )
    assert len(shown) == 1


def test_nothing_measured_is_nothing_to_save():
    empty = RttSamples(payload_bytes=[], rtt_s=[])
    for result in (empty, [empty], "words", None):
        made, _ = button(result)
        assert made.keep.link.value == ""
    assert made.keep.field not in made.keep.children, "no tool is named: none can be opened"


def test_what_was_measured_before_an_error_can_be_saved():
    def broken(*, progress, stop):
        error = ValueError("gone")
        error.partial = echo()
        raise error

    made = run_button("Ping", broken, lambda result: None)
    made.start()
    made._thread.join(LIMIT_S)
    assert "gone" in made.message.value
    assert link(made)[1]


def test_the_own_error_stands_beside_the_result():
    made, _ = button(echo())
    for words in ("timer resolution 40 ns", "timers 120 µs late (p99)", "CPU share 97%",
                  "emulated path 90 µs late (p99)"):  # fmt: skip
        assert words in made.about.value
    both = measurement_error(echo(), echo(processor_ratio=0.5, timer_resolution_s=1e-6))
    assert "resolution 1 µs" in both, "of several runs the largest"
    assert "CPU share 50%" in both
    assert measurement_error() == measurement_error(RttSamples(payload_bytes=[], rtt_s=[])) == ""
