"""Independent expressions, in mpmath, of growth, availability, hosts, links and media.

Each is written from the equation of the model's docstring, not from its code.
"""

from __future__ import annotations

from mpmath import exp, inf, log, mpf, nan

YEAR = mpf(31_557_600)


def annual_growth(traffic_bps, earlier_traffic_bps, elapsed_s):
    if not traffic_bps:
        return mpf(-1)
    return exp(log(traffic_bps / earlier_traffic_bps) * YEAR / elapsed_s) - 1


def grown_traffic_bps(traffic_bps, annual_growth, elapsed_s):
    if annual_growth == -1:
        return mpf(0) if elapsed_s else traffic_bps
    return traffic_bps * exp(log(1 + annual_growth) * elapsed_s / YEAR)


def exhaustion_s(traffic_bps, capacity_bps, annual_growth, target_utilization):
    limit = capacity_bps * target_utilization
    if traffic_bps >= limit:
        return mpf(0)
    if annual_growth <= 0 or not traffic_bps:
        return inf
    return YEAR * log(limit / traffic_bps) / log(1 + annual_growth)


def linear_exhaustion_s(traffic_bps, capacity_bps, annual_increase_bps, target_utilization):
    limit = capacity_bps * target_utilization
    if traffic_bps >= limit:
        return mpf(0)
    return YEAR * (limit - traffic_bps) / annual_increase_bps if annual_increase_bps > 0 else inf


def k_of_n(availability_ratio, needed_count, unit_count):
    """The sum itself, or where one part of very many, or of few, is looked at, its limit."""
    a, k, n = availability_ratio, int(needed_count), int(unit_count)
    if k > n:
        return mpf(0)
    total, term = mpf(0), (1 - a) ** n
    for j in range(k):
        if a == 1:
            return mpf(1)
        total += term
        term *= mpf(n - j) / (j + 1) * a / (1 - a)
    return 1 - total


def failure_utilization(utilization, link_count, failed_count):
    if failed_count > link_count:
        return nan
    if failed_count == link_count:
        return inf if utilization else nan
    return utilization * link_count / (link_count - failed_count)


EQUATIONS = {
    "availability.availability_ratio": lambda mtbf_s, repair_s: mtbf_s / (mtbf_s + repair_s),
    "availability.series_availability_ratio": lambda availability_ratio: availability_ratio[0]
        * availability_ratio[1] * availability_ratio[2],
    "availability.parallel_availability_ratio": lambda availability_ratio: 1
        - (1 - availability_ratio[0]) * (1 - availability_ratio[1]) * (1 - availability_ratio[2]),
    "availability.k_of_n_availability_ratio": k_of_n,
    "availability.downtime_s": lambda availability_ratio, duration_s:
        (1 - availability_ratio) * duration_s,
    "availability.failure_utilization": failure_utilization,
    "availability.failure_safe_utilization": lambda link_count, failed_count, target_utilization:
        target_utilization * max(link_count - failed_count, 0) / link_count,
    "growth.annual_growth": annual_growth,
    "growth.grown_traffic_bps": grown_traffic_bps,
    "growth.exhaustion_s": exhaustion_s,
    "growth.linear_exhaustion_s": linear_exhaustion_s,
}  # fmt: skip
