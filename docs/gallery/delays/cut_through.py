"""Store-and-forward against cut-through

Through three switches a full frame at 1 Gbit/s takes the time of four frames; with cut-through
it takes little more than one.
"""

import numpy as np

from netcalc import plots
from netcalc.models.delays import store_and_forward as forward

size = np.linspace(64, 1518, 100)
whole = [forward.store_and_forward_s(s, bandwidth_bps=[1e9] * 4) for s in size]
through = [forward.cut_through_s(s, bandwidth_bps=[1e9] * 4) for s in size]
axes = {"x_axis": plots.Axis("frame", "byte"), "y_axis": plots.Axis("time", "s", low=0.0)}
figure = plots.curves(
    size,
    {"store-and-forward": whole, "cut-through": through},
    title="Three switches, 1 Gbit/s",
    **axes,
)
