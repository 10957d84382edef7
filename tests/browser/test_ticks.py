"""The numbers beside the axes, written by JavaScript, against those that units.show writes."""

from __future__ import annotations

import json

import pytest

from netcalc.plots.style import tick_formatter
from netcalc.units import show

pytestmark = pytest.mark.core

# Where both write the unit out. The axis leaves long units to its label: "10 M" beside [bit/s].
VALUES = {
    "s": (1e-9, 2.5e-6, 1e-3, 0.02, 1.0, 50.0, 1000.0),
    "byte": (1.0, 64.0, 1500.0, 9999.0, 10_000.0, 1e6, 2.5e9),
    "m": (1.0, 999.0, 1000.0, 20_000_000.0),
}


@pytest.mark.parametrize("unit", VALUES)
def test_a_tick_is_written_as_units_show_writes_it(blank, unit):
    formatter = tick_formatter(unit, "log")
    written = blank.evaluate(
        """([names, values, code, ticks]) => {
          const format = new Function(...names, 'tick', 'index', 'ticks', code);
          return ticks.map((tick, i) => format(...values, tick, i, ticks));
        }""",
        [list(formatter.args), list(formatter.args.values()), formatter.code, VALUES[unit]],
    )
    assert written == [show(value, unit) for value in VALUES[unit]], json.dumps(written)


def test_a_linear_axis_has_one_prefix_and_a_plain_zero(blank):
    formatter = tick_formatter("s", "linear")
    written = blank.evaluate(
        """([names, values, code]) => {
          const format = new Function(...names, 'tick', 'index', 'ticks', code);
          const ticks = [-1e-18, 0.005, 0.01, 0.015];
          return ticks.map((tick, i) => format(...values, tick, i, ticks));
        }""",
        [list(formatter.args), list(formatter.args.values()), formatter.code],
    )
    assert written == ["0 ms", "5 ms", "10 ms", "15 ms"]


@pytest.mark.parametrize(
    ("ticks", "width", "labels"),
    [
        # derived: 600 log10(x) pixels: 58 from 0.4 to 0.5, 40 from 0.6 to 0.7, 58 from 0.8 to 1
        (
            (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
            600,
            ["100 ms", "200 ms", "300 ms", "400 ms", "", "600 ms", "", "800 ms", "", ""],
        ),
        # derived: decades that are 25 pixels apart leave room at every third
        ((1e-6, 1e-5, 1e-4, 1e-3, 1e-2), 125, ["1 µs", "", "", "1 ms", ""]),
        ((0.1, 0.2), 1e9, ["100 ms", "200 ms"]),
        ((0.1,), 50, ["100 ms"]),
    ],
)
def test_labels_of_a_log_axis_do_not_touch(blank, ticks, width, labels):
    formatter = tick_formatter("s", "log")
    written = blank.evaluate(
        """([names, values, code, ticks]) => {
          const format = new Function(...names, 'tick', 'index', 'ticks', code);
          return ticks.map((tick, i) => format(...values, tick, i, ticks));
        }""",
        [
            list(formatter.args),
            list({**formatter.args, "width": width}.values()),
            formatter.code,
            ticks,
        ],
    )
    assert written == labels
