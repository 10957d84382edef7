"""Requests in two writes on short connections and on a long one."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column

from netcalc.lessons import small_writes


def test_theory_of_a_fresh_and_of_a_used_connection():
    panel = small_writes.http_panel()
    # derived: two round trips of 20 ms; 40 ms of a delayed acknowledgement more
    assert column(panel, "theory: acknowledged at once") == pytest.approx(0.04)
    assert column(panel, "theory: acknowledgement delayed") == pytest.approx(0.08)
    panel.controls["latency_s"].value = 0.0
    assert column(panel, "theory: acknowledgement delayed") == pytest.approx(0.04)


@pytest.mark.live
@pytest.mark.namespace
def test_only_the_long_connection_waits():
    panel = small_writes.http_panel()
    button = next(child for child in panel.children if hasattr(child, "start"))
    button.start()
    button._thread.join(60)
    short, long = column(panel, small_writes.SHORT), column(panel, small_writes.LONG)
    assert (short.size, long.size) == (8, 8)
    # Derived: at least two round trips of 20 ms; a delayed acknowledgement is 40 ms or more.
    assert short.min() > 0.0399
    assert np.median(short) < 0.06
    assert np.median(long) > 0.0799
    assert "Measured, median" in panel.figure.description
