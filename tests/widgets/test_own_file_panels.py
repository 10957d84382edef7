"""The panels of lesson 8: any file is described, drawn and explained; puzzles stay shut."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import datasets, explain
from netcalc.explain import Known
from netcalc.lessons import own_file as panels
from netcalc.plots.measured import measured
from netcalc.samples import Table, TransactionSamples, TransferSamples


def text(panel):
    """What stands below the figure of a panel."""
    return "".join(getattr(part, "value", "") for part in panel.children[3:])


def test_a_file_is_described_and_explained():
    panel = panels.file_panel()
    assert "<td>ICMP packets, round trip</td>" in text(panel)
    assert "Not known" in text(panel)
    panel.controls["line_bps"].value = "4 Mbit/s"
    assert "state --line" not in text(panel)
    panel.controls["line_bps"].value = "4M"
    assert panel.message.is_alert
    panel.controls["line_bps"].value = "4 Mbit/s"
    assert panel.message.value == ""


def test_an_uploaded_file_is_read_whatever_its_name():
    panel = panels.file_panel()
    field = next(part for part in panel.children if hasattr(part, "take"))
    one = datasets.puzzle("sender")
    field.take((datasets.data_folder() / "puzzles" / one.file).read_bytes(), "notes.txt")
    assert "Read notes.txt" in field.message.value
    assert "<td>sender</td>" in text(panel)
    assert "<td>receiver</td>" in text(panel)
    panel.controls["line_bps"].value = "10 Mbit/s"
    # derived: 1400 of 1466 bytes of 10 Mbit/s
    lines = panel.figure.plot.sources["the line, 1400 B per packet"].data["y"]
    assert np.asarray(lines) == pytest.approx(10e6 * 1400 / 1466)
    field.take(b"%PDF-1.7", "paper.pdf")
    assert field.message.is_alert
    assert "<td>receiver</td>" in text(panel), "the last file that was read stays"


def test_every_puzzle_opens_after_a_prediction_and_the_next_is_shut():
    panel = panels.puzzle_panel()
    for name in datasets.puzzles():
        one = datasets.puzzle(name)
        panel.controls["puzzle"].value = name
        assert "The truth" not in text(panel)
        assert panel.controls["prediction"].value == ""
        panel.controls["is_open"].value = True
        assert "Predict first" in text(panel)
        assert "The truth" not in text(panel)
        panel.controls["prediction"].value = "loss"
        assert "The truth" in text(panel)
        assert one.tool_version.split(",")[0] in text(panel)
        assert not panel.message.is_alert
        assert panel.figure.description


MARKS = {
    "window": ["receiver-window", "handshake"],
    "slow_start": ["slow-start", "handshake"],
    "stall": ["nagle-delayed-ack"],
    "acknowledgements": ["reverse-path", "slow-start"],
}
"""What was set when each capture was recorded, and what every connection begins with."""


def test_the_band_appears_after_the_marks_and_says_which_agree():
    panel = panels.waits_panel()
    assert set(panels.CAPTURES) == set(MARKS)
    for name, causes in MARKS.items():
        panel.controls["capture"].value = name
        assert [panel.controls[part].value for part in ("first", "second")] == ["", ""]
        assert not panel.controls["is_open"].value
        assert len(panel.figure.plot.sources["marks"].data["left"]) == len(causes)
        panel.controls["is_open"].value = True
        assert "Mark first" in text(panel)
        assert "causes" not in panel.figure.plot.sources, "nothing gives the answer away"
        assert "Of the time" not in panel.figure.description
        for part, cause in zip(("first", "second"), causes, strict=False):
            panel.controls[part].value = cause
        count = len(causes)
        assert f"{count} of {count} marks agree." in text(panel)
        assert "causes" in panel.figure.plot.sources
        assert not panel.message.is_alert
    panel.controls["first"].value = "line"
    assert "1 of 2 marks agree." in text(panel)


@pytest.mark.each(
    ("name", "begin_s", "end_s", "source"),
    [
        ("slow_start", 0.0, 0.1, "published with the recording: the round trip is 100 ms"),
        ("window", 0.0, 0.04, "published with the recording: the round trip is 40 ms"),
    ],
)
def test_the_handshake_is_the_first_round_trip(name, begin_s, end_s, source):
    _, (mark, cause) = panels.marked_parts(explain.main_flow(datasets.puzzle(name).load()))
    assert (mark.name, cause) == ("B", "handshake")
    assert (mark.begin_s, mark.end_s) == pytest.approx((begin_s, end_s), abs=1e-3), source


def test_the_band_of_a_puzzle_appears_with_its_truth():
    panel = panels.puzzle_panel()
    assert "causes" not in panel.figure.plot.sources
    panel.controls["prediction"].value = "a window"
    assert "causes" not in panel.figure.plot.sources
    panel.controls["is_open"].value = True
    assert "causes" in panel.figure.plot.sources


def test_other_files_have_a_figure_too():
    transfers = TransferSamples(payload_bytes=[1e4, 1e5, 1e6], duration_s=[0.032, 0.048, 0.208])
    assert "bandwidth limits" in measured(transfers, Known()).description
    table = Table(data={"a": [1.0, 2.0]})
    panel = panels.file_panel(table)
    assert "Nothing is drawn" in panel.figure.description
    assert panel.message.value == ""


def test_responses_of_another_tool_are_drawn_beside_a_delayed_acknowledgement():
    """By hand: the fastest of 1, 41 and 2 ms is 1 ms, and 40 ms beyond it 41 ms."""
    samples = TransactionSamples(
        mode=["mine"] * 3, sequence=[0.0, 1, 2], payload_bytes=[8.0] * 3,
        response_s=[0.001, 0.041, 0.002],
    )  # fmt: skip
    drawn = measured(samples, Known()).sources
    lines = {name: list(source.data["y"]) for name, source in drawn.items()}
    assert lines["mine"] == [0.001, 0.041, 0.002]
    assert lines["the fastest response"] == [0.001, 0.001]
    assert lines["and a delayed acknowledgement of 40 ms"] == [0.041, 0.041]
