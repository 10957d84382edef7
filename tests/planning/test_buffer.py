"""The buffer of a plan around the number of flows from which on they are independent."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import planning

LINE = {"rtt_s": 1e-4}
BDP_BYTES = 10e9 * 1e-4 / 8


@pytest.mark.each("flow_count", [1, 10, 99, 100, 1000])
def test_the_curve_of_a_buffer_is_what_the_plan_answers(flow_count):
    """Identity: the curve at a number of flows is the answer of the plan for it."""
    chart = planning.buffer(10e9, **LINE).chart
    drawn = np.interp(flow_count, chart.at, chart.lines["flows_buffer_bytes"])
    answer = planning.buffer(10e9, flow_count=flow_count, **LINE)["flows_buffer_bytes"]
    assert drawn == pytest.approx(answer, rel=2e-3)


@pytest.mark.each("flow_count, noted", [(50, 0), (51, 1), (399, 1), (400, 0)])
def test_flows_near_the_step_have_a_note_of_it(flow_count, noted):
    """Derived: a whole product below 100 flows, a tenth of it at 100."""
    made = planning.buffer(10e9, flow_count=flow_count, **LINE)
    found = [one.values for one in made.notices if one.code == "buffer-near-step"]
    assert len(found) == noted
    for values in found:
        assert values["below_bytes"] == pytest.approx(BDP_BYTES)
        assert values["above_bytes"] == pytest.approx(BDP_BYTES / 10)
        assert "by a factor of 10 at 100 flows" in str(made)
