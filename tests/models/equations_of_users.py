"""Independent expressions, in mpmath, of users, their queues, and rates under loss.

Each is written from the equation of the model's docstring, not from its code.
"""

from __future__ import annotations

from mpmath import binomial, erfc, erfinv, floor, inf, mpf, sqrt

# Users


def overload_ratio(active_count, user_count, active_ratio):
    """The shorter of the two sums, each term from the one before."""
    n, count, p = int(active_count), int(user_count), active_ratio
    if n >= count or p in (0, 1):
        return mpf(n < count and p == 1)
    is_tail = n >= count * p
    first, last = (n + 1, count) if is_tail else (0, n)
    term = total = binomial(count, first) * p**first * (1 - p) ** (count - first)
    for k in range(first, last):
        term *= mpf(count - k) / (k + 1) * p / (1 - p)
        total += term
        if is_tail and term < total * mpf(10) ** -20:
            break
    return total if is_tail else 1 - total


def overload_normal_ratio(active_count, user_count, active_ratio):
    distance = active_count + mpf(1) / 2 - user_count * active_ratio
    spread = sqrt(2 * user_count * active_ratio * (1 - active_ratio))
    if not spread:
        return mpf(distance < 0)
    return erfc(min(distance / spread, mpf(10) ** 6)) / 2  # mpmath has none beyond


def normal_score(quantile):
    if quantile in (0, 1):
        return inf if quantile else -inf
    return sqrt(2) * erfinv(2 * quantile - 1)


def normal_bandwidth(mean, variance, most, quantile):
    score = normal_score(quantile) * sqrt(variance) if variance else mpf(0)
    return min(max(mean + score, mpf(0)), most)


def shared_bandwidth_normal_bps(user_count, active_ratio, user_bps, quantile):
    return class_bandwidth_bps([user_count], [active_ratio], [user_bps], quantile)


def class_bandwidth_bps(user_count, active_ratio, user_bps, quantile):
    classes = list(zip(user_count, active_ratio, user_bps, strict=True))
    mean = sum(n * p * r for n, p, r in classes)
    variance = sum(n * p * (1 - p) * r**2 for n, p, r in classes)
    return normal_bandwidth(mean, variance, sum(n * r for n, _, r in classes), quantile)


def access_node_bandwidth_bps(subscriber_count, mean_bps, sold_bps, peak_factor):
    return subscriber_count * mean_bps + peak_factor * sold_bps


def access_node_subscriber_count(bandwidth_bps, mean_bps, sold_bps, peak_factor):
    left = max(bandwidth_bps - peak_factor * sold_bps, mpf(0)) / mean_bps
    return floor(left * (1 + mpf("1e-12")))  # the margin is the model's


def oversubscription(user_count, sold_bps, bandwidth_bps):
    return user_count * sold_bps / bandwidth_bps


def busy_hour_bps(traffic_bytes, busy_hour_ratio):
    return 8 * traffic_bytes * busy_hour_ratio / 3600


def busy_hour_erlang(call_count, holding_s):
    return call_count * holding_s / 3600


EQUATIONS = {
    "access_node.access_node_bandwidth_bps": access_node_bandwidth_bps,
    "access_node.access_node_subscriber_count": access_node_subscriber_count,
    "access_node.busy_hour_bps": busy_hour_bps,
    "access_node.busy_hour_erlang": busy_hour_erlang,
    "access_node.oversubscription": oversubscription,
    "multiplexing.class_bandwidth_bps": class_bandwidth_bps,
    "multiplexing.overload_normal_ratio": overload_normal_ratio,
    "multiplexing.overload_ratio": overload_ratio,
    "multiplexing.shared_bandwidth_normal_bps": shared_bandwidth_normal_bps,
}

# Models that no equation gives in closed form, and where they are held to a second method.
NOT_CLOSED = {
    "multiplexing.active_percentile_count": "a search: test_multiplexing sums exactly",
    "multiplexing.shared_bandwidth_bps": "a search: test_multiplexing sums exactly",
    "multiplexing.supported_user_count": "a search: test_multiplexing sums exactly",
    "multiplexing.multiplexing_gain": "a search: test_multiplexing sums exactly",
}
