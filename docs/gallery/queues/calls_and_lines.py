"""Calls and lines

Ten lines block one call in a hundred at 4.5 erlangs, and twenty at 12: large groups of lines
are used better.
"""

import numpy as np

from netcalc import plots
from netcalc.models.queues import erlang

offered = np.linspace(0.5, 30, 150)
lines = {f"{n} lines": erlang.erlang_b_ratio(offered, server_count=n) for n in (10, 20, 30)}
axes = {
    "x_axis": plots.Axis("offered calls [erlang]", "1"),
    "y_axis": plots.Axis("blocked", "ratio", "log", low=1e-4, high=1.0),
}
figure = plots.curves(offered, lines, title="Erlang B", **axes)
