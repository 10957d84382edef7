"""A burst, and then the rate

A bucket of 1 MB passes at 1 Gbit/s until it is empty, then the 100 Mbit/s of its tokens.
"""

import numpy as np

from netcalc import plots
from netcalc.models.queues.token_bucket import token_bucket_passed_bytes

time_s = np.linspace(2e-4, 0.03, 100)
passed = token_bucket_passed_bytes(time_s, bucket_bytes=1e6, token_bps=1e8, peak_bps=1e9)
axes = {"x_axis": plots.Axis("time", "s"), "y_axis": plots.Axis("passed", "byte")}
figure = plots.curves(
    time_s,
    {"token bucket": passed, "without a limit": 1e9 / 8 * time_s},
    title="Token bucket",
    **axes,
)
