"""A full line in iperf3

The goodput reaches the ceiling of a line of 20 Mbit/s: of each 1538 bytes on the wire 1448 are
data.
"""

from netcalc import datasets, plots
from netcalc.explain import Known

samples = datasets.puzzle("line").load()
figure = plots.measured(samples, Known(line_bps=20e6, rtt_s=0.02))
