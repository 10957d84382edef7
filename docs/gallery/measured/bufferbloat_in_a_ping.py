"""A ping beside a transfer

While a transfer fills the buffer, the round trip grows from 20 ms to more than ten times as
much.
"""

from netcalc import datasets, plots
from netcalc.explain import Known

samples = datasets.puzzle("bloat").load()
figure = plots.measured(samples, Known(line_bps=4e6, rtt_s=0.02))
