"""Comparison of the waits in a router with the queues of theory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, choice, named_arguments
from netcalc.compare._comparison import Comparison, points
from netcalc.compare._runs import truth_value
from netcalc.display import show
from netcalc.language import phrase, term
from netcalc.models.queues import mm1
from netcalc.models.queues.backlog import lindley_wait_s
from netcalc.models.queues.md1 import md1_wait_cdf, md1_wait_s
from netcalc.samples import Table

DRAWN = 200
"""Most points of a measured distribution."""
CONSTANT_SCV = 0.01
"""Squared coefficient of variation of services up to which they count as constant. [1]"""
TOGETHER = 0.05
"""Packets that come within this part of a mean service after another one belong to its batch: a
sender that is late sends two within some 50 us, a fiftieth of the default service. [1]"""
REPLAYED = term("one server, these arrivals")
"""Name of the theory that takes each arrival and service as measured."""
Distribution = Callable[[FloatArray], FloatArray]


@named_arguments
def waits(samples: Table, *, model: str | None = None, title: str = "") -> Comparison:
    """Compare the distribution of the waits in a router with that of a queue.

    Parameters
    ----------
    samples : Table
        A run of :func:`netcalc.experiments.router_queue`.
    model : str, optional
        One of :func:`wait_models`; by default M/D/1 if the measured services are constant, else
        M/M/1/K where the capacity is known, else M/M/1.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Share of the packets that waited at most so long; the load of the theory is the measured
        one. The sentence has the largest difference from each of the models.

    Raises
    ------
    DomainError
        If there is no such model.
    """
    wait_s = np.sort(samples["wait_s"][samples["dropped"] == 0])
    models = wait_models(samples)
    name = _usual_model(samples) if model is None else choice("model", model, tuple(models))
    chosen = _drawn_rows(wait_s.size)
    at_s = wait_s[chosen]
    compared = points(
        at_s,
        measured=_share_within(wait_s, at_s),
        theory=models[name],
        x_name="wait",
        x_unit="s",
        y_name=phrase("share of the packets"),
        y_unit="ratio",
        title=title or "Wait in a router: distribution",
        predicted_label=phrase(
            "{name} at the measured load of {offered_load:.3g}",
            name=name,
            offered_load=offered_load(samples),
        ),
    )
    sentence = _sentence(samples, float(samples["service_s"].mean()) if len(samples) else np.nan)
    return replace(
        compared, sentence=" ".join(filter(None, (sentence, _distances(wait_s, models))))
    )


@named_arguments
def wait_models(samples: Table) -> dict[str, Distribution]:
    """Return the distributions that theory gives for the waits of a run, by the model's name.

    Parameters
    ----------
    samples : Table
        A run of :func:`netcalc.experiments.router_queue`.

    Returns
    -------
    dict of str to callable
        Each takes waits [s] and returns the share of the packets that wait at most so long. M/M/1,
        M/D/1 and, where the capacity is known, M/M/1/K take the load and the mean service of the
        run; the last one is Lindley's recursion over each arrival and service.
    """
    service_s, load = samples["service_s"], offered_load(samples)
    mean_s = float(service_s.mean()) if service_s.size else np.nan
    models: dict[str, Distribution] = {
        "M/M/1": lambda at: mm1.mm1_wait_cdf(_late(at), utilization=load, service_s=mean_s),
        "M/D/1": lambda at: md1_wait_cdf(_late(at), utilization=load, service_s=mean_s),
    }
    places = _places(samples)
    if places is not None:
        models[f"M/M/1/{places}"] = lambda at: mm1.mm1k_wait_cdf(
            _late(at), utilization=load, place_count=places, service_s=mean_s
        )
    accepted = samples["dropped"] == 0
    gaps_s = np.diff(samples["arrival_s"][accepted], prepend=0.0)
    replayed = np.zeros(0)
    if gaps_s.size:
        gaps_s = np.maximum(gaps_s, 0.0)
        replayed = np.sort(lindley_wait_s(gaps_s, service_s=service_s[accepted]))
    # The log has nanoseconds: a wait that is longer by one is the same.
    models[REPLAYED] = lambda at: _share_within(replayed, at + 2e-9)
    return models


def _drawn_rows(count: int) -> NDArray[np.intp]:
    """Return the rows that are drawn of so many: the first, the last, and evenly between."""
    return np.unique(np.linspace(0, max(count - 1, 0), DRAWN).astype(np.intp))[:count]


@named_arguments
def arrival_gaps(samples: Table, *, title: str = "") -> Comparison:
    """Compare the times between the arrivals at a router with those of a Poisson process.

    Parameters
    ----------
    samples : Table
        A run of :func:`netcalc.experiments.router_queue`.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Share of the times that are at most so long; theory is the exponential distribution with
        the measured mean.
    """
    gaps_s = np.sort(np.diff(samples["arrival_s"]))
    mean_s = float(gaps_s.mean()) if gaps_s.size else np.nan
    chosen = _drawn_rows(gaps_s.size)
    compared = points(
        gaps_s[chosen],
        measured=_share_within(gaps_s, gaps_s[chosen]),
        theory=lambda at: -np.expm1(-np.maximum(at, 0.0) / mean_s),
        x_name=phrase("time between arrivals"),
        x_unit="s",
        y_name=phrase("share of the times"),
        y_unit="ratio",
        title=title or "Times between arrivals: distribution",
        predicted_label=phrase(
            "Poisson: exponential with a mean of {mean}", mean=show(mean_s, "s")
        ),
    )
    if not gaps_s.size:
        return replace(compared, sentence=phrase("Fewer than two packets arrived."))
    off = float(np.max(np.abs(compared.residual)))
    return replace(
        compared,
        sentence=phrase(
            "Squared coefficient of variation {scv:.3g}: Poisson 1, constant 0, bursts "
            "more. Largest difference from the exponential distribution: {off:.3g}; of "
            "{size} Poisson gaps it is below {sqrt:.2g} in 95 of 100 runs.",
            scv=_scv(gaps_s),
            off=off,
            size=gaps_s.size,
            sqrt=1.36 / np.sqrt(gaps_s.size),
        ),
    )


@named_arguments
def arrival_batches(samples: Table, *, title: str = "") -> Comparison:
    """Compare how many packets come to a router together with a Poisson process.

    Parameters
    ----------
    samples : Table
        A run of :func:`netcalc.experiments.router_queue`.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Share of the batches against their size; a packet that comes within :data:`TOGETHER` of a
        mean service after another one belongs to its batch. For Poisson arrivals the sizes are
        geometric.
    """
    gaps_s = np.diff(samples["arrival_s"])
    within_s = TOGETHER * float(samples["service_s"].mean()) if len(samples) else np.nan
    starts = np.flatnonzero(np.concatenate(([True], gaps_s > within_s)))
    counts = np.diff(np.append(starts, len(samples))) if len(samples) else np.zeros(0, int)
    sizes = np.arange(1, int(counts.max(initial=1)) + 1, dtype=float)
    share = np.bincount(counts, minlength=sizes.size + 1)[1:] / max(counts.size, 1)
    mean_s = float(gaps_s.mean()) if gaps_s.size else np.nan
    follows = float(-np.expm1(-within_s / mean_s)) if gaps_s.size else np.nan
    compared = points(
        sizes,
        measured=share,
        theory=lambda size: np.where(
            size >= 1.0, (1.0 - follows) * follows ** (size - 1.0), np.nan
        ),
        x_name=phrase("packets that come together"),
        x_unit="1",
        y_name=phrase("share of the batches"),
        y_unit="ratio",
        title=title or "Batches of arrivals",
        predicted_label=phrase("Poisson: geometric"),
    )
    if not gaps_s.size:
        return replace(compared, sentence=phrase("Fewer than two packets arrived."))
    return replace(
        compared,
        sentence=phrase(
            "Batches have {samples:.3g} packets in the mean, at most {value}; of Poisson "
            "arrivals {follows:.3g} in the mean. Together are packets within {within}.",
            samples=len(samples) / counts.size,
            value=counts.max(),
            follows=1.0 / (1.0 - follows),
            within=show(within_s, "s"),
        ),
    )


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


def _usual_model(samples: Table) -> str:
    """Return the model that the services suggest."""
    service_s = samples["service_s"]
    if not service_s.size or _scv(service_s) < CONSTANT_SCV:
        return "M/D/1"
    places = _places(samples)
    return "M/M/1" if places is None else f"M/M/1/{places}"


def _places(samples: Table) -> int | None:
    """Return the capacity of the router of a run."""
    places = truth_value(samples.meta.instrument, "there", {}).get("buffer_packets")
    return None if places is None else int(places)


def _late(at_s: FloatArray) -> FloatArray:
    return np.maximum(at_s, 0.0)


def _share_within(values: FloatArray, at: FloatArray) -> FloatArray:
    """Return the share of sorted values that are at most so large."""
    shares = np.searchsorted(values, at, side="right") / max(values.size, 1)
    return np.asarray(shares, dtype=float)


def _distances(wait_s: FloatArray, models: Mapping[str, Distribution]) -> str:
    """Say how far the distribution is from each model (Kolmogorov-Smirnov)."""
    if wait_s.size < 2:
        return ""
    above = np.arange(1, wait_s.size + 1) / wait_s.size
    parts = []
    for name, model in models.items():
        predicted = model(wait_s)
        # Of equal waits the last one has the share; a step is compared at its upper end only.
        last = np.append(np.diff(wait_s) > 2e-9, True)
        parts.append(f"{name} {float(np.max(np.abs(above - predicted)[last])):.3g}")
    return phrase(
        "Largest difference of the distributions: {join}.",
        join=", ".join(parts),
    )


def _sentence(samples: Table, service_s: float) -> str:
    load = offered_load(samples)
    if np.isnan(load):
        return phrase("Fewer than two packets arrived.")
    wait_s, dropped = samples["wait_s"], samples["dropped"] > 0
    places = _places(samples)
    mean_s = float(wait_s[~dropped].mean()) if (~dropped).any() else np.nan
    models = {
        "M/D/1": md1_wait_s(load, service_s=service_s),
        "M/M/1": mm1.mm1_wait_s(load, service_s=service_s),
    }
    blocked = ""
    if places is not None:
        models[f"M/M/1/{places}"] = mm1.mm1k_wait_s(load, place_count=places, service_s=service_s)
        share = float(mm1.mm1k_blocking_ratio(load, place_count=places))
        blocked = phrase(
            " Dropped: {mean:.3%}; M/M/1/{places} drops {share:.3%}.",
            mean=dropped.mean(),
            places=places,
            share=share,
        )
    arrival_scv, service_scv = _scv(np.diff(samples["arrival_s"])), _scv(samples["service_s"])
    means = ", ".join(f"{name} {show(float(value), 's')}" for name, value in models.items())
    return phrase(
        "Mean wait {mean} at a load of {load:.3g}; {means}.{blocked} The times between "
        "arrivals vary by {arrival_scv:.3g} (Poisson 1, constant 0), the services by "
        "{service_scv:.3g} (exponential 1, constant 0), as squared coefficients of "
        "variation.",
        mean=show(mean_s, "s"),
        load=load,
        means=means,
        blocked=blocked,
        arrival_scv=arrival_scv,
        service_scv=service_scv,
    )
