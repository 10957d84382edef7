r"""The distribution of the wait of M/G/1, from its transform by Pollaczek and Khinchine.

The wait is a geometric sum of residual services :math:`R`: its transform is
:math:`(1 - \rho) / (1 - \rho R^*(s))`. The residual services of a mix of sizes are split between
the points of a lattice, which keeps their mean; the transform is then a series, inverted by FFT.
Tilted by nearly the decay rate of the tail, all of it keeps its digits, however far out.
"""

from __future__ import annotations

import math

import numpy as np

from netcalc.checks import FloatArray
from netcalc.models.queues._load import langevin, log_sinh_ratio

COARSE, FINE = 2**11, 2**15
"""Points of the lattice that finds where to look, and of the one that answers."""

TILT = 18.0
"""The tilted tail falls by exp(-18) over the lattice: what wraps around is below 1e-7 of it."""

FAR = 1000.0
"""From so many of the largest services on, the tail is exponential."""

_NEWTON_STEPS = 200


def tail(load: float, services: FloatArray, share: FloatArray) -> tuple[float, float]:
    r"""Return decay and constant of :math:`P(W > t) \to C e^{-\theta t}`.

    The decay is the root of :math:`\rho E[e^{\theta R}] = 1`, by Newton's method from above on
    the logarithm, which is convex.
    """
    weight = share * services / (share @ services)
    wanted = -math.log(load)
    decay = wanted / (0.5 * weight @ services)
    slope = 1.0
    for _ in range(_NEWTON_STEPS):
        half = 0.5 * decay * services
        exponent = half + log_sinh_ratio(half)
        most = exponent.max()
        terms = weight * np.exp(exponent - most)
        total = terms.sum()
        # Near a load of 1 it is the logarithm of a sum near 1.
        near, far = weight @ np.expm1(np.minimum(exponent, 1.0)), most + math.log(total)
        value = math.log1p(near) if most < 1.0 else far
        slope = float(terms @ (0.5 * services * (1.0 + langevin(half)))) / total
        change = (value - wanted) / slope
        decay -= change
        if abs(change) <= 1e-15 * decay:
            break
    return float(decay), float((1.0 - load) / (decay * slope))


def wait_percentile(load: float, services: FloatArray, share: FloatArray, quantile: float) -> float:
    """Return the wait that a share of the packets does not exceed, above 0.

    ``quantile`` is above 1 - load and below 1, ``load`` above 0 and below 1.
    """
    rate = load / (share @ services)
    # Before the shortest service ends the distribution is (1 - load) exp(rate t).
    early = (math.log(quantile) - math.log1p(-load)) / rate
    if early <= services.min():
        return float(early)
    decay, constant = tail(load, services, share)
    longer = 1.0 - quantile
    far = (math.log(constant) - math.log(longer)) / decay
    if far > FAR * services.max():
        return far
    # By Lundberg's inequality the tail is below exp(-decay t).
    end = -math.log(longer) / decay
    for points in (COARSE, FINE):
        found = _on_lattice(load, services, share, longer, decay, end, points)
        end = min(max(1.25 * found, 3.0 * services.min()), -math.log(longer) / decay)
    return found


def _on_lattice(
    load: float,
    services: FloatArray,
    share: FloatArray,
    longer: float,
    decay: float,
    end: float,
    points: int,
) -> float:
    """Return where the tail falls below a share, found on a lattice from 0 to an end."""
    step = end / (0.9 * points)
    mean = share @ services
    inside = min(math.ceil(services.max() / step) + 2, points)
    at = step * np.arange(-1.0, inside)
    # The second difference of the integral of the tail splits each part between its neighbours.
    beyond = np.zeros_like(at)
    for service, part in zip(services, share, strict=True):
        beyond += part * np.maximum(service - np.maximum(at, 0.0), 0.0) ** 2 / (2.0 * mean)
    beyond[0] = beyond[1] + step
    masses = np.zeros(points)
    masses[: inside - 1] = np.diff(beyond, 2) / step
    # The number that the lattice has beyond a point, by its generating function.
    longer_residual = np.maximum(1.0 - np.cumsum(masses), 0.0)
    tilt = np.exp((decay * step - TILT / points) * np.arange(points))
    numerator = load * np.fft.rfft(longer_residual * tilt)
    series = np.fft.irfft(numerator / (1.0 - load * np.fft.rfft(masses * tilt)), points)
    beyond_point = np.maximum(series[: int(0.95 * points)] / tilt[: int(0.95 * points)], 1e-300)
    # A point stands for half a step on both sides of it.
    heights = np.log(np.concatenate([[load], beyond_point]))
    index = min(int(np.searchsorted(-heights, -math.log(longer))), heights.size - 1)
    last, here = float(heights[index - 1]), float(heights[index])
    start = (index - 1.5) * step if index > 1 else 0.0
    width = step if index > 1 else 0.5 * step
    return start + width * (last - math.log(longer)) / (last - here)
