"""Where a byte more costs more: the steps of a sweep, over those of 4.4BSD."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column

from netcalc.lessons import mbufs
from netcalc.samples import TransactionSamples


def a_run(step_s=3e-6, count=3):
    sizes = np.repeat(mbufs.THRESHOLD_SIZES, count)
    times = 2e-5 + 1e-9 * sizes + step_s * (sizes > 1508)
    times = times + np.random.default_rng(1).normal(0.0, 1e-7, sizes.size)
    return TransactionSamples(
        mode=["udp"] * sizes.size,
        sequence=list(range(1, sizes.size + 1)),
        payload_bytes=sizes,
        response_s=times,
    )


def test_the_first_sizes_of_bsd_are_those_of_its_buffers():
    """Derived from MHLEN 100, MLEN 108, MINCLSIZE 208, a header of 28 and an MTU of 1536."""
    assert list(mbufs.BSD_STEPS.values()) == [100 - 28 + 1, 101, 208, 1536 - 28 + 1]
    panel = mbufs.thresholds_panel()
    assert "No run yet" in panel.figure.description
    marks = next(name for name in panel.figure.plot.sources if "first sizes" in name)
    assert column(panel, marks, "x").tolist() == [73, 101, 208, 1509]
    # A third mbuf and a second fragment cost more, a cluster in place of three mbufs less.
    assert (np.diff(column(panel, marks)) > 0).tolist() == [True, False, True]


def test_a_run_shows_its_step_and_no_other():
    panel = mbufs.thresholds_panel()
    button = next(child for child in panel.children if hasattr(child, "start"))
    button._show(a_run())
    said = panel.figure.description
    assert said.startswith("Steps here: between 1432 and 1520 bytes")
    assert ";" not in said  # one step
    jump = mbufs.found_steps(a_run()).steps[0].jump
    assert jump == pytest.approx(3e-6, rel=0.1)
    line = column(panel, "here, line with steps")
    assert np.isfinite(line).all()
    button._show(a_run(step_s=-3e-6))
    assert "3 µs less, with a standard error" in panel.figure.description
    button._show(a_run(step_s=0.0))
    assert "No step stands out" in panel.figure.description


def test_a_run_that_was_stopped_at_once_is_told():
    panel = mbufs.thresholds_panel()
    button = next(child for child in panel.children if hasattr(child, "start"))
    few = TransactionSamples(
        mode=["udp"] * 2, sequence=[1, 2], payload_bytes=[16, 40], response_s=[1e-5, 1e-5]
    )
    button._show(few)
    assert "needs at least 8 points" in panel.figure.description


@pytest.mark.live
@pytest.mark.namespace
def test_the_second_fragment_is_found_on_this_machine():
    panel = mbufs.thresholds_panel()
    button = next(child for child in panel.children if hasattr(child, "start"))
    button.start()
    button._thread.join(60)
    sizes = column(panel, "here, smallest of each size", "x")
    assert sizes.size == mbufs.THRESHOLD_SIZES.size
    # Derived: 1536 - 28 bytes are the most in one packet, and a second one costs microseconds.
    assert "between 1432 and 1520 bytes" in panel.figure.description, panel.figure.description


def test_the_two_clocks_differ_by_what_stevens_printed_and_by_the_run():
    panel = mbufs.clocks_panel()
    # published: A.2, 1.5 to 2 ms before the step and 2.5 to 3 ms behind it
    assert column(panel, "Stevens, minimum") == pytest.approx([1.5e-3, 1.5e-3, 2.5e-3, 2.5e-3])
    assert column(panel, "Stevens, maximum") == pytest.approx([2e-3, 2e-3, 3e-3, 3e-3])
    sizes = np.repeat(np.arange(100.0, 2500.0, 100.0), 2)
    tap_s = 5e-6 + 1e-9 * sizes
    above_s = 10e-6 + 1e-10 * sizes + 4e-6 * (sizes > 1508)
    run = TransactionSamples(
        mode=["udp"] * sizes.size,
        sequence=list(range(1, sizes.size + 1)),
        payload_bytes=sizes,
        response_s=tap_s + above_s,
        tap_s=tap_s,
    )
    button = next(child for child in panel.children if hasattr(child, "start"))
    button._show(run)
    assert column(panel, "here, smallest of each size") == pytest.approx(above_s[::2])
    assert "Above the tap: Steps here: between 1500 and 1600 bytes" in panel.figure.description
