"""Round trips without and with a load: what is predicted, said and explained of their phases."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare, explain, plots
from netcalc.samples import Instrument, Meta, RttSamples

PHASES = ("idle", "forward", "both", "idle after")


def run(*, truth=None, count=40):
    """Return 40 probes of each phase: 20, 70, 110 and 20 ms, with a millisecond of scatter."""
    levels = dict(zip(PHASES, (0.02, 0.07, 0.11, 0.02), strict=True))
    rtt_s = np.concatenate([level + 1e-3 * (np.arange(count) % 5 - 2) for level in levels.values()])
    rates = {"forward": 9e6, "forward of both": 8e6, "back of both": 7e6}
    return RttSamples(
        payload_bytes=[64] * rtt_s.size, rtt_s=rtt_s, sent_s=0.1 * np.arange(rtt_s.size),
        sequence=np.arange(rtt_s.size) + 1, group=np.repeat(PHASES, count),
        meta=Meta(
            tool="netcalc working-latency", experiment="working_latency",
            instrument=Instrument(load_rates_bps=rates, truth=truth),
        ),
    )  # fmt: skip


def test_a_path_predicts_each_phase_by_its_full_buffers():
    """derived: 92 bytes take 0.0736 ms at 10 Mbit/s, and both ways 20 ms; 50,000 bytes 40 ms."""
    truth = {
        "bandwidths_bps": [1e7], "latencies_s": [0.01], "processings_s": [0, 0],
        "links": {"buffer_bytes": 50_000},
    }  # fmt: skip
    compared = compare.overlay(run(truth=truth))
    expected = np.repeat([0.0201472, 0.0601472, 0.1001472, 0.0201472], 40)
    assert compared.predicted == pytest.approx(expected, rel=1e-9)
    assert compared.residual == pytest.approx(compared.measured - expected, rel=1e-9)
    assert compared.predicted_label == "path, full buffers"
    assert "forward: median 70 ms, 95% within 72 ms" in compared.sentence
    assert "at 8 Mbit/s (TCP payload) + 7 Mbit/s (TCP payload)" in compared.sentence
    assert "(with full buffers 60.15 ms)" in compared.sentence
    assert "(predicted 20.15 ms)" in compared.sentence


def test_without_a_path_each_phase_has_its_median():
    compared = compare.working_latency(run())
    assert compared.predicted == pytest.approx(np.repeat([0.02, 0.07, 0.11, 0.02], 40))
    # The line of a phase ends with it: by hand, the second has the probes from 4.0 to 7.9 s.
    assert compared.curve_x[3:5] == pytest.approx([4.0, 7.9])
    assert np.isnan(compared.curve_x[[2, 5, 8, 11]]).all()
    assert "full buffers" not in compared.sentence
    # By hand: 95% within 72 ms, idle 20 ms, and 9 Mbit/s carry 58.5 kB in 52 ms.
    assert "at 9 Mbit/s (TCP payload), a queue of up to 58.5 kB" in compared.sentence
    assert compared.sentence.count("a queue of") == 1  # which of two is longer is not known


def test_a_run_without_replies_says_so():
    samples = RttSamples(payload_bytes=[], rtt_s=[], meta=run().meta)
    assert compare.overlay(samples).sentence == "No probe was answered."


def test_a_phase_is_explained_by_what_it_adds_to_the_idle_one():
    said = {finding.label: finding for finding in explain.measurement(run())}
    assert [said[name].cause.code for name in ("forward", "both")] == ["line", "line"]
    assert said["forward"].confidence == "high"
    assert said["forward"].cause.share_of_time == pytest.approx(50 / 70, rel=0.01)
    [grade] = [each for each in said["forward"].notices if each.code == "working-grade"]
    assert grade.values["added_s"] == pytest.approx(0.05, rel=0.01)
    assert grade.values["grade"] == "B"  # below 60 ms
    for name in ("idle", "idle after"):
        assert not {each.code for each in said[name].notices} & {"working-latency", "working-grade"}


def test_the_figure_of_a_saved_run_has_the_phases_over_time():
    drawn = plots.measured(run(), explain.Known())
    assert drawn.description == compare.overlay(run()).sentence
