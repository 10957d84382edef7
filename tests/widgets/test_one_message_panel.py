"""One message over an emulated line: the equation of the lesson, measured."""

from __future__ import annotations

import numpy as np
import pytest
from panels_seen import column

from netcalc.lessons import latency


def test_the_equation_is_drawn_before_a_run():
    panel = latency.one_message_panel()
    sizes = column(panel, "d + 8N/R", "x")
    # derived: T1, 30 ms
    assert column(panel, "d + 8N/R") == pytest.approx(0.03 + 8 * sizes / 1.544e6)
    panel.controls["bandwidth_bps"].value = 100e6
    assert column(panel, "d + 8N/R") == pytest.approx(0.03 + 8 * sizes / 100e6)
    assert "No run yet" in panel.figure.description


@pytest.mark.live
@pytest.mark.namespace
def test_messages_take_the_time_of_the_equation():
    panel = latency.one_message_panel()
    panel.controls["latency_s"].value = 0.01
    panel.controls["bandwidth_bps"].value = 10e6
    button = next(child for child in panel.children if hasattr(child, "start"))
    button.start()
    button._thread.join(60)
    sizes, times = column(panel, latency.MESSAGE, "x"), column(panel, latency.MESSAGE)
    assert sizes.tolist() == list(latency.SIZES)
    # Derived: each fragment of at most 1480 bytes has a header of 20, and the first one of UDP.
    wire_bytes = sizes + 8 + 20 * np.ceil((sizes + 8) / 1480)
    expected_s = 0.01 + 8 * wire_bytes / 10e6
    assert (times > expected_s * 0.999).all(), "nothing is faster than its line"
    assert times == pytest.approx(expected_s, rel=0.1)
    tcp_s = column(panel, latency.STREAM)
    assert (tcp_s > 0.04).all(), "the handshake, then request and response: four latencies"
