"""The figure of a truth table: what is drawn where, and what it says in words."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import plots
from netcalc.samples import Table


def table(**columns):
    data = {
        "unit": ["s", "s", "s", "bit/s", "packet/s", "ratio", "s"],
        "predicted": [1e-3, 1e-2, 1e-1, 1e6, 2000.0, 0.1, np.nan],
        "measured": [1.2e-3, 1.01e-2, 1e-1, 1.1e6, 2000.0, 0.1, np.nan],
        "own_error": [1e-4] * 7,
        "verdict": ["instrument", "within", "within", "unexplained", "within", "within", "not run"],
        "setting": [f"setting {place}" for place in range(7)],
    }
    data["error_ratio"] = (np.array(data["measured"]) / np.array(data["predicted"]) - 1).tolist()
    return Table(data=data | columns)


def test_each_unit_and_verdict_has_its_columns():
    drawn = plots.truth(table())
    assert set(drawn.sources) == {
        "s, within", "s, instrument", "bit/s, unexplained", "packet/s, within",
    }  # fmt: skip
    within = drawn.sources["s, within"].data
    assert list(within["x"]) == [1e-2, 1e-1]
    assert list(within["y"]) == [1.01e-2, 1e-1]
    assert within["setting"] == ["setting 1", "setting 2"]
    assert within["size"] == pytest.approx([0.01, 1e-4]), "0 stands at the edge of a log axis"
    assert within["error"] == pytest.approx([0.01, 0.0])


def test_two_figures_a_unit_on_one_axis():
    charts = plots.truth(table()).figure.children
    assert len(charts) == 6
    for upper, lower in zip(charts[::2], charts[1::2], strict=True):
        assert upper.x_range is lower.x_range
        assert lower.y_range.start < 1e-4
        assert lower.y_range.end >= 0.1, "the limits of 2 and 5 % are always in view"


def test_the_words_name_what_is_unexplained():
    words = plots.truth(table()).description
    assert "3 times, 1 rates, 1 packet rates" in words
    assert "unexplained: setting 3 +10.0%" in words
    right = plots.truth(table(verdict=["within"] * 7)).description
    assert right.endswith("unexplained: none.")


def test_an_empty_table_stands_empty(tmp_path):
    empty = Table(data={name: [] for name in table().columns()})
    drawn = plots.truth(empty, theme="dark")
    assert drawn.sources == {}
    assert "no rows, measured" in drawn.description
    assert plots.save_html(drawn, tmp_path / "empty.html").stat().st_size > 1000
