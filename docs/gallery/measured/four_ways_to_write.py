"""Four ways to write a request

With Nagle's algorithm on, a request of two writes takes about twice as long as with it off, or
as a single write.
"""

from netcalc import datasets, plots

runs = {
    name: datasets.load("nagle_round_trips", series=name)
    for name in datasets.series("nagle_round_trips")
}
points = {name: (run.sequence, run.rtt_s) for name, run in runs.items()}
axes = {"x_axis": plots.Axis("request", "1"), "y_axis": plots.Axis("response", "s", low=0.0)}
figure = plots.curves([1.0], {}, points=points, title="Response of a small request", **axes)
