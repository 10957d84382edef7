"""Many users need less each

Ten users who each send a tenth of the time need 4 times the rate of one to be safe for 99 % of
it; a hundred need 18 times, not 40.
"""

import numpy as np

from netcalc import plots
from netcalc.models.users.multiplexing import shared_bandwidth_bps

users, lines = np.arange(1, 201), {}
for quantile in (0.9, 0.99, 0.999):
    need_bps = shared_bandwidth_bps(users, active_ratio=0.1, user_bps=1e6, quantile=quantile)
    lines[f"enough for {quantile:.1%} of the time"] = need_bps / users
x_axis, y_axis = plots.Axis("users", "1"), plots.Axis("rate for each user", "bit/s", low=0.0)
figure = plots.curves(users, lines, title="Active 10 % of the time", x_axis=x_axis, y_axis=y_axis)
