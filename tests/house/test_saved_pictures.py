"""The pictures of figures that saved notebooks keep: the same in each run, with a sentence."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import nbformat

from netcalc.lessons import latency

OUTPUTS = runpy.run_path(str(Path(__file__).parents[1] / "notebook_outputs.py"))
PICTURE = "image/svg+xml"


def shown(panel) -> list:
    """Return what a cell that shows a panel puts out, as the kernel sends it."""
    found = [
        nbformat.v4.new_output("display_data", data=data)
        for data in panel.figure.saved.outputs().values()
    ]
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": ""}
    return [*found, nbformat.v4.new_output("display_data", data=widget)]


def test_of_a_panel_one_picture_and_its_sentence_are_kept_and_the_sentence_is_compared():
    outputs = shown(latency.transfer_panel())
    (kept,) = OUTPUTS["stored"](outputs)
    assert set(kept["data"]) == {PICTURE, "text/plain"}
    (compared,) = OUTPUTS["compared"]([kept])
    assert set(compared["data"]) == {"text/plain"}
    assert PICTURE in kept["data"], "the stored output is left as it is"


def test_a_stored_picture_is_the_same_in_each_run():
    """Identity: no random name and no clock is in it, so a changed lesson shows what changed."""
    first, second = (OUTPUTS["stored"](shown(latency.transfer_panel())) for _ in range(2))
    assert first == second


def test_the_text_alternative_of_a_picture_is_the_sentence_below_the_figure():
    panel = latency.transfer_panel()
    panel.controls["latency_s"].value = 0.3
    title = re.search("<title>(.*)</title>", panel.figure.picture())
    assert title is not None
    assert title[1] == panel.figure.description
