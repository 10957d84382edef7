"""Comparison of the waits in a router with the queues of theory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netcalc.checks import FloatArray
from netcalc.compare._comparison import Comparison, points
from netcalc.compare._runs import truth_value
from netcalc.display import show
from netcalc.models.queues.finite_queues import mm1k_blocking_ratio, mm1k_wait_s
from netcalc.models.queues.md1 import md1_wait_cdf, md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_cdf, mm1_wait_s
from netcalc.samples import Table

DRAWN = 200
"""Most points of a measured distribution."""
CONSTANT_SCV = 0.01
"""Squared coefficient of variation of services up to which they count as constant. [1]"""


def waits(samples: Table, *, title: str = "") -> Comparison:
    """Compare the distribution of the waits in a router with that of M/D/1 or M/M/1.

    Parameters
    ----------
    samples : Table
        A run of :func:`netcalc.experiments.router_queue`.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Share of the packets that waited at most so long; the load of the theory is the measured
        one, and its services are constant if the measured ones are.
    """
    service_s, wait_s = samples["service_s"], np.sort(samples["wait_s"][samples["dropped"] == 0])
    service_mean_s = float(service_s.mean()) if service_s.size else np.nan
    load = offered_load(samples)
    constant = not service_s.size or _scv(service_s) < CONSTANT_SCV
    name, model = ("M/D/1", md1_wait_cdf) if constant else ("M/M/1", mm1_wait_cdf)
    chosen = np.unique(np.linspace(0, max(wait_s.size - 1, 0), DRAWN).astype(int))[: wait_s.size]
    at_s = wait_s[chosen]
    shares = np.searchsorted(wait_s, at_s, side="right") / max(wait_s.size, 1)
    compared = points(
        at_s,
        measured=shares,
        theory=lambda at: model(np.maximum(at, 0.0), utilization=load, service_s=service_mean_s),
        x_name="wait",
        x_unit="s",
        y_name="share of the packets",
        y_unit="ratio",
        title=title or "Wait in a router: distribution",
        predicted_label=f"{name} at the measured load of {load:.3g}",
    )
    return replace(compared, sentence=_sentence(samples, load, service_mean_s))


def offered_load(samples: Table) -> float:
    """Return the rate of all arrivals times the mean service; nan for fewer than two."""
    at_s = samples["arrival_s"]
    if at_s.size < 2 or at_s[-1] <= at_s[0]:
        return np.nan
    return float(samples["service_s"].mean() * (at_s.size - 1) / (at_s[-1] - at_s[0]))


def _scv(values: FloatArray) -> float:
    """Return the squared coefficient of variation."""
    mean = float(values.mean())
    return float(values.var()) / mean**2 if mean > 0 else np.nan


def _sentence(samples: Table, load: float, service_s: float) -> str:
    if np.isnan(load):
        return "Fewer than two packets arrived."
    wait_s, dropped = samples["wait_s"], samples["dropped"] > 0
    places = truth_value(samples.meta.instrument, "there", {}).get("buffer_packets")
    mean_s = float(wait_s[~dropped].mean()) if (~dropped).any() else np.nan
    models = {
        "M/D/1": md1_wait_s(load, service_s=service_s),
        "M/M/1": mm1_wait_s(load, service_s=service_s),
    }
    blocked = ""
    if places is not None:
        models[f"M/M/1/{places}"] = mm1k_wait_s(load, place_count=places, service_s=service_s)
        share = float(mm1k_blocking_ratio(load, place_count=places))
        blocked = f" Dropped: {dropped.mean():.3%}; M/M/1/{places} drops {share:.3%}."
    arrival_scv, service_scv = _scv(np.diff(samples["arrival_s"])), _scv(samples["service_s"])
    means = ", ".join(f"{name} {show(float(value), 's')}" for name, value in models.items())
    return (
        f"Mean wait {show(mean_s, 's')} at a load of {load:.3g}; {means}.{blocked} The times "
        f"between arrivals vary by {arrival_scv:.3g} (Poisson 1, constant 0), the "
        f"services by {service_scv:.3g} (exponential 1, constant 0), as squared "
        "coefficients of variation."
    )
