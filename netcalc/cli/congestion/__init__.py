"""``netcalc congestion``: a scenario, or a grid of them, in a terminal."""
