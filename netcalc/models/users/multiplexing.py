r"""Statistical multiplexing: how many users send at once, and the rate that subscribers need.

Each of :math:`N` users sends at a fixed rate a share :math:`p` of the time, independently of the
others. The number that send at once is binomial; its tail is an incomplete beta function, exact
to float precision up to the 10^9 users that these functions take. The normal approximation also
takes classes of users with different rates.

Operators plan the rate of an access node by the mean rate of all subscribers in the busy hour, and
beside it enough for one of them, or a few, at the full rate that was sold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model, non_negative, positive, ratio, whole
from netcalc.errors import DomainError
from netcalc.models.bounds import not_above


def _least_whole(
    holds: Callable[[FloatArray], NDArray[np.bool_]],
    guess: FloatArray,
    *,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Return the least whole number above ``low`` for which ``holds``, at most ``high``.

    ``holds`` is False up to a number and True from there on. The search goes away from the guess
    in steps that double until it has the number between two, and halves what lies between them.
    """
    low, high, guess = (
        broadcast_array.astype(np.float64)
        for broadcast_array in np.broadcast_arrays(low, high, guess)
    )
    has_true, has_false = np.zeros(low.shape, bool), np.zeros(low.shape, bool)
    tried, step = np.round(guess), 1.0
    # At 2^53 and above whole numbers are further apart than 1.
    while (is_open := high - low > np.maximum(1.0, np.spacing(high))).any():
        tried = np.clip(tried, low + 1.0, np.maximum(high - 1.0, low + 1.0))
        is_true = holds(tried)
        has_true |= is_true
        has_false |= ~is_true
        high = np.where(is_open & is_true, tried, high)
        low = np.where(is_open & ~is_true, tried, low)
        away = np.where(is_true, tried - step, tried + step)
        tried = np.where(has_true & has_false, np.floor(0.5 * (low + high)), away)
        step *= 2.0
    return high


MAX_USERS = 1e9
"""Largest number of users."""

_MARGIN = 1e-12
"""By this share of itself a probability may be off: a half must count as a half."""


@model
def overload_ratio(
    active_count: ArrayLike, *, user_count: ArrayLike, active_ratio: ArrayLike
) -> FloatArray:
    r"""Probability that more than a given number of users are active at once.

    .. math:: P(X > n) = \sum_{k=n+1}^{N} \binom{N}{k} p^k (1 - p)^{N-k}

    Parameters
    ----------
    active_count : array_like
        Active users that the link carries: its rate over a user's. [1]
    user_count : array_like
        Users that share the link. [1]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]

    Returns
    -------
    numpy.ndarray
        Share of the time with more active users; 0 where all of them fit. [ratio]

    See Also
    --------
    overload_normal_ratio : The normal approximation.

    Notes
    -----
    Validity: users independent of each other, up to 10^9 of them. In the busy hour and at common
    events they are not, and more are active: take the active share of the busy hour.

    Typical: 35 users that are active 10 % of the time share a link of ten circuits: more than ten
    are active 0.04 % of the time.

    Range: everywhere.

    Symbols: :math:`n` active_count, :math:`N` user_count, :math:`p` active_ratio.

    Examples
    --------
    >>> round(float(overload_ratio(10, user_count=35, active_ratio=0.1)), 6)
    0.000424
    >>> round(float(overload_ratio(20, user_count=120, active_ratio=0.1)), 6)
    0.007941

    References
    ----------
    Kurose and Ross, Computer Networking, 1.3.2 and problem P8; the tail as an incomplete beta
    function: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5.24.
    """
    active = checks.whole("active_count", active_count)
    users = _users(user_count)
    return _above(active, users, checks.ratio("active_ratio", active_ratio))


@model
def overload_normal_ratio(
    active_count: ArrayLike, *, user_count: ArrayLike, active_ratio: ArrayLike
) -> FloatArray:
    r"""Probability that more than a given number of users are active, by the normal distribution.

    .. math:: P(X > n) \approx \tfrac12 \operatorname{erfc}
        \frac{n + \frac12 - N p}{\sqrt{2 N p (1 - p)}}

    Parameters
    ----------
    active_count : array_like
        Active users that the link carries: its rate over a user's. [1]
    user_count : array_like
        Users that share the link. [1]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]

    Returns
    -------
    numpy.ndarray
        Share of the time with more active users, approximately. [ratio]

    See Also
    --------
    overload_ratio : Exact.

    Notes
    -----
    Validity: many users, and a tail that is not small. With 120 users of 10 % it gives 0.0048 for
    0.0079 beyond twenty, and the further out the less. From a variance of 10 on it is within 0.021
    of the probability, at 5 within 0.028.

    Range: active_variance (users times p (1 - p)) from 10.

    Symbols: :math:`n` active_count, :math:`N` user_count, :math:`p` active_ratio.

    Examples
    --------
    >>> round(float(overload_normal_ratio(20, user_count=120, active_ratio=0.1)), 4)
    0.0048

    References
    ----------
    Feller, An Introduction to Probability Theory and Its Applications vol. 1, ch. 7 (DeMoivre
    and Laplace, with the correction of a half).
    """
    from scipy.special import ndtr  # late, as in all models that need it

    active = checks.whole("active_count", active_count)
    users = _users(user_count)
    share = checks.ratio("active_ratio", active_ratio)
    spread = np.sqrt(users * share * (1.0 - share))
    _note_few(overload_normal_ratio, spread * spread)
    distance = active + 0.5 - users * share
    # Without spread all are active, or none: half a user lies between the two.
    score = np.where(spread > 0.0, distance / spread, np.where(distance > 0.0, np.inf, -np.inf))
    return checks.keep_nan(ndtr(-score), active, users, share)


@model
def active_percentile_count(
    user_count: ArrayLike, *, active_ratio: ArrayLike, quantile: ArrayLike
) -> FloatArray:
    r"""Number of active users that is not exceeded a given share of the time.

    .. math:: \min \{ n : \sum_{k=n+1}^{N} \binom{N}{k} p^k (1 - p)^{N-k} \le 1 - q \}

    Parameters
    ----------
    user_count : array_like
        Users that share the link. [1]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]
    quantile : array_like
        Share of the time: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Active users, a whole number; all of them for a quantile of 1. [1]

    Notes
    -----
    Validity: as :func:`overload_ratio`.

    Typical: of 500 users that are active 10 % of the time, 61 at the 95th percentile.

    Range: everywhere.

    Symbols: :math:`N` user_count, :math:`p` active_ratio, :math:`q` quantile, :math:`n` result.

    Examples
    --------
    >>> float(active_percentile_count(500, active_ratio=0.1, quantile=0.95))
    61.0

    References
    ----------
    Kurose and Ross, Computer Networking, 1.3.2, solved for the number.
    """
    users = _users(user_count)
    share, level = checks.ratio("active_ratio", active_ratio), checks.ratio("quantile", quantile)
    return _percentile(users, share, level)


@model
def shared_bandwidth_bps(
    user_count: ArrayLike,
    *,
    active_ratio: ArrayLike,
    user_bps: ArrayLike,
    quantile: ArrayLike,
) -> FloatArray:
    r"""Rate that many users need, if a given share of the time may not exceed it.

    .. math:: C = r \min \{ n : \sum_{k=n+1}^{N} \binom{N}{k} p^k (1 - p)^{N-k} \le 1 - q \}

    Parameters
    ----------
    user_count : array_like
        Users that share the link. [1]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]
    user_bps : array_like
        Rate of an active user. [bit/s]
    quantile : array_like
        Share of the time: 0.95 for the 95th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Rate, a multiple of a user's, at the layer of that rate. [bit/s, layer of user_bps]

    See Also
    --------
    shared_bandwidth_normal_bps : The normal approximation.
    class_bandwidth_bps : Several classes of users.
    netcalc.models.users.multiplexing.access_node_bandwidth_bps : From the mean and the peak rate.

    Notes
    -----
    Validity: as :func:`overload_ratio`. Users that take the whole link when they are alone, as
    TCP does, are active for shorter: then the active share depends on the rate.

    Typical: 500 users of 2 Mbit/s that are active 10 % of the time: 122 Mbit/s at the 95th
    percentile, 144 at the 99.9th, where all at once would take 1 Gbit/s.

    Range: everywhere.

    Symbols: :math:`N` user_count, :math:`p` active_ratio, :math:`r` user_bps, :math:`q` quantile,
    :math:`C` result.

    Examples
    --------
    >>> float(shared_bandwidth_bps(500, active_ratio=0.1, user_bps=2e6, quantile=0.95))
    122000000.0

    References
    ----------
    Kurose and Ross, Computer Networking, 1.3.2, solved for the rate.
    """
    rate = checks.non_negative("user_bps", user_bps)
    users = _users(user_count)
    share, level = checks.ratio("active_ratio", active_ratio), checks.ratio("quantile", quantile)
    return rate * _percentile(users, share, level)


@model
def shared_bandwidth_normal_bps(
    user_count: ArrayLike,
    *,
    active_ratio: ArrayLike,
    user_bps: ArrayLike,
    quantile: ArrayLike,
) -> FloatArray:
    r"""Rate that many users need at a percentile, by the normal distribution.

    .. math:: C \approx r \left( N p + z_q \sqrt{N p (1 - p)} \right)

    Parameters
    ----------
    user_count : array_like
        Users that share the link. [1]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]
    user_bps : array_like
        Rate of an active user. [bit/s]
    quantile : array_like
        Share of the time: 0.95 for the 95th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Rate, from 0 to the rate of all users at once. [bit/s, layer of user_bps]

    See Also
    --------
    shared_bandwidth_bps : Exact.
    class_bandwidth_bps : Several classes of users.

    Notes
    -----
    Validity: many users; too low far out in the tail. The factor :math:`z_q` is the quantile of the
    normal distribution: 1.645 at 95 %, 2.326 at 99 %. Within 6 % of :func:`shared_bandwidth_bps`
    from a variance of 10 up to the 99.9th percentile, at a variance of 5 within 12 %.

    Range: active_variance (users times p (1 - p)) from 10; quantile up to 0.999.

    Symbols: :math:`N` user_count, :math:`p` active_ratio, :math:`r` user_bps, :math:`q` quantile,
    :math:`C` result.

    Examples
    --------
    >>> rate = shared_bandwidth_normal_bps(500, active_ratio=0.1, user_bps=2e6, quantile=0.95)
    >>> round(float(rate) / 1e6, 2)
    122.07

    References
    ----------
    Derived: the normal distribution of a sum of independent users; as in Guerin, Ahmadi and
    Naghshineh, Equivalent capacity and its application to bandwidth allocation in high-speed
    networks, IEEE JSAC 9 (1991).
    """
    users = _users(user_count)
    share, level = checks.ratio("active_ratio", active_ratio), checks.ratio("quantile", quantile)
    rate = checks.non_negative("user_bps", user_bps)
    _note_few(shared_bandwidth_normal_bps, users * share * (1.0 - share))
    bandwidth = _normal(users * share, users * share * (1.0 - share), users, level)
    return rate * bandwidth


@model
def class_bandwidth_bps(
    user_count: ArrayLike,
    *,
    active_ratio: ArrayLike,
    user_bps: ArrayLike,
    quantile: ArrayLike,
) -> FloatArray:
    r"""Rate that several classes of users need together at a percentile.

    .. math:: C \approx \sum_i N_i p_i r_i + z_q \sqrt{\sum_i N_i p_i (1 - p_i) r_i^2}

    Parameters
    ----------
    user_count : 1-D array_like
        Users of each class. [1]
    active_ratio : 1-D array_like
        Share of the time that a user of each class is active. [ratio]
    user_bps : 1-D array_like
        Rate of an active user of each class. [bit/s]
    quantile : array_like
        Share of the time: 0.95 for the 95th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Rate, from 0 to the rate of all users at once. [bit/s, layer of user_bps]

    See Also
    --------
    shared_bandwidth_bps : One class, exact.
    shared_bandwidth_normal_bps : One class.

    Notes
    -----
    Validity: all users independent, and none of them a large part of the whole: the normal
    distribution is too low far out in the tail. The factor :math:`z_q` is its quantile. Users of
    one rate that would be as skewed have the variance :math:`(\sum s r^2)^3 / (\sum s r^3)^2`,
    with :math:`s = N p (1 - p)`: within 5 % of the exact sum over all classes from 10; at 1 up to
    20 % off.

    Typical: 400 users of web at 2 Mbit/s and 10 %, 100 of video at 5 Mbit/s and 30 %: 273 Mbit/s
    at the 95th percentile, 43 more than the mean.

    Range: active_variance (of equal users whose sum would be as skewed) from 10; quantile up
    to 0.999.

    Symbols: :math:`N_i` user_count, :math:`p_i` active_ratio, :math:`r_i` user_bps, :math:`q`
    quantile, :math:`C` result.

    Examples
    --------
    >>> rate = class_bandwidth_bps(
    ...     [400, 100], active_ratio=[0.1, 0.3], user_bps=[2e6, 5e6], quantile=0.95
    ... )
    >>> round(float(rate) / 1e6, 1)
    272.5

    References
    ----------
    Derived: the normal distribution of a sum of independent users; as in Guerin, Ahmadi and
    Naghshineh, IEEE JSAC 9 (1991).
    """
    users = checks.one_dimensional("user_count", _users(user_count))
    share = checks.one_dimensional("active_ratio", checks.ratio("active_ratio", active_ratio))
    rate = checks.one_dimensional("user_bps", checks.non_negative("user_bps", user_bps))
    for name, values in (("active_ratio", share), ("user_bps", rate)):
        if values.size != users.size:
            raise DomainError("wrong-count", name, count=values.size, expected=users.size)
    level = checks.ratio("quantile", quantile)
    spread = users * share * (1.0 - share)
    largest = rate.max() or 1.0
    part = rate / largest
    # As many users of one rate have the same third moment in their deviation: a few users of a
    # large rate are few, whatever else there is.
    alike = (spread @ part**2) ** 3 / np.maximum((spread @ part**3) ** 2, 1e-300)
    _note_few(class_bandwidth_bps, np.asarray(alike))
    mean, most = (users * share * rate).sum(), (users * rate).sum()
    variance = (spread @ part**2) * largest**2
    return _normal(np.asarray(mean), np.asarray(variance), np.asarray(most), level)


@model
def supported_user_count(
    bandwidth_bps: ArrayLike,
    *,
    user_bps: ArrayLike,
    active_ratio: ArrayLike,
    quantile: ArrayLike,
) -> FloatArray:
    r"""Number of users that a link carries, if a given share of the time must suffice.

    .. math:: \max \{ N : \sum_{k > C / r} \binom{N}{k} p^k (1 - p)^{N-k} \le 1 - q \}

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the link, at the layer of a user's. [bit/s]
    user_bps : array_like
        Rate of an active user. [bit/s]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]
    quantile : array_like
        Share of the time in which all active users fit: 0.99. [ratio]

    Returns
    -------
    numpy.ndarray
        Users, a whole number; ``inf`` from 10^9 on, and for a quantile of 0. [1]

    See Also
    --------
    netcalc.models.users.multiplexing.access_node_subscriber_count : From mean and peak rate.

    Notes
    -----
    Validity: as :func:`overload_ratio`.

    Typical: a link for ten circuits carries 35 users that are active 10 % of the time, where more
    than ten may be active 0.05 % of the time.

    Range: everywhere.

    Symbols: :math:`C` bandwidth_bps, :math:`r` user_bps, :math:`p` active_ratio, :math:`q`
    quantile, :math:`N` result.

    Examples
    --------
    >>> float(supported_user_count(1e6, user_bps=100e3, active_ratio=0.1, quantile=0.9995))
    35.0

    References
    ----------
    Kurose and Ross, Computer Networking, 1.3.2, solved for the users.
    """
    rate, bandwidth = (
        checks.positive("user_bps", user_bps),
        checks.positive("bandwidth_bps", bandwidth_bps),
    )
    share, level = checks.ratio("active_ratio", active_ratio), checks.ratio("quantile", quantile)
    fitting = checks.rounded_down(np.minimum(bandwidth / rate, 2.0 * MAX_USERS))
    fitting, share, level = np.broadcast_arrays(fitting, share, level)
    is_open = (share > 0.0) & (level > 0.0) & (fitting < MAX_USERS)
    active, p, q = (np.where(is_open, array, 0.5) for array in (fitting, share, level))
    active = np.floor(active)

    def is_too_many(users: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return _above(active, users, p) > (1.0 - q) * (1.0 + _MARGIN)

    spread = _score(q) * np.sqrt(active * (1.0 - p))
    guess = np.maximum(active - spread, 0.0) / p
    first = _least_whole(is_too_many, guess, low=active, high=np.asarray(MAX_USERS + 1.0))
    counts = np.where(is_open & (first <= MAX_USERS), first - 1.0, np.inf)
    return checks.keep_nan(counts, bandwidth, rate, share, level)


@model
def multiplexing_gain(
    user_count: ArrayLike, *, active_ratio: ArrayLike, quantile: ArrayLike
) -> FloatArray:
    r"""Users over the number of them that a shared link must carry at once.

    .. math:: G = N \Big/ \min \{ n : \sum_{k=n+1}^{N} \binom{N}{k} p^k (1 - p)^{N-k} \le 1 - q \}

    Parameters
    ----------
    user_count : array_like
        Users that share the link. [1]
    active_ratio : array_like
        Share of the time that a user is active. [ratio]
    quantile : array_like
        Share of the time in which all active users fit: 0.99. [ratio]

    Returns
    -------
    numpy.ndarray
        Gain; ``inf`` where no user need be carried, 1 without users. [1]

    See Also
    --------
    netcalc.models.users.multiplexing.oversubscription : Sold rates over the rate of the link.

    Notes
    -----
    Validity: as :func:`overload_ratio`. It grows with the number of users, towards 1/p.

    Typical: at 10 % and the 99th percentile 3.3 for 20 users, 6.0 for 120, 9.3 for 10,000.

    Range: everywhere.

    Symbols: :math:`N` user_count, :math:`p` active_ratio, :math:`q` quantile, :math:`G` result.

    Examples
    --------
    >>> float(multiplexing_gain(120, active_ratio=0.1, quantile=0.99))
    6.0

    References
    ----------
    Kurose and Ross, Computer Networking, 1.3.2.
    """
    users = _users(user_count)
    share, level = checks.ratio("active_ratio", active_ratio), checks.ratio("quantile", quantile)
    gain = users / _percentile(users, share, level)
    return checks.keep_nan(np.where(users > 0.0, gain, 1.0), users, share, level)


def _note_few(formula: Callable[..., Any], variance: FloatArray) -> None:
    """Note a variance that is too small for the normal distribution; without one it is exact."""
    checks.note_outside_range(
        formula, code="few-for-normal", where=variance > 0.0, active_variance=variance
    )


def _users(user_count: ArrayLike) -> FloatArray:
    """Return a number of users, refused where it is not whole or out of range."""
    users = checks.whole("user_count", user_count)
    return checks.between("user_count", users, 0.0, MAX_USERS)


def _above(active: FloatArray, users: FloatArray, share: FloatArray) -> FloatArray:
    """Return the probability that more than ``active`` of the users are active."""
    from scipy.special import betainc  # late, as in all models that need it

    is_open = active < users
    some = np.where(is_open, users - active, 1.0)
    beyond = betainc(np.where(is_open, active, 0.0) + 1.0, some, share)
    return checks.keep_nan(np.where(is_open, beyond, 0.0), active, users, share)


def _percentile(users: FloatArray, share: FloatArray, quantile: FloatArray) -> FloatArray:
    """Return the least number that no more than a share 1 - quantile of the time is exceeded."""
    users, share, quantile = np.broadcast_arrays(users, share, quantile)
    filled, p, q = (np.where(np.isnan(array), 0.5, array) for array in (users, share, quantile))
    filled = np.floor(filled)
    spread = np.sqrt(filled * p * (1.0 - p))
    score = _score(q)
    # The first correction for skewness (Cornish and Fisher): right to a user or two.
    guess = filled * p + score * spread + (score**2 - 1.0) * (1.0 - 2.0 * p) / 6.0
    counts = _least_whole(
        lambda active: _above(active, filled, p) <= (1.0 - q) * (1.0 + _MARGIN),
        guess,
        low=np.asarray(-1.0),
        high=filled,
    )
    # What is left out of sight of float64 may happen: all may be active.
    counts = np.where((q == 1.0) & (p > 0.0), filled, counts)
    return checks.keep_nan(np.where(q > 0.0, counts, 0.0) + 0.0, users, share, quantile)  # no -0


def _score(quantile: FloatArray) -> FloatArray:
    """Return the quantile of the normal distribution, limited to where float64 has one."""
    from scipy.special import ndtri  # late, as above

    return np.clip(ndtri(quantile), -40.0, 40.0)


def _normal(
    mean: FloatArray, variance: FloatArray, most: FloatArray, quantile: FloatArray
) -> FloatArray:
    """Return the percentile of a normal distribution, from 0 to the most there can be."""
    from scipy.special import ndtri  # late, as above

    spread = np.sqrt(variance)
    rate = mean + np.where(spread > 0.0, spread * ndtri(quantile), 0.0)
    return checks.keep_nan(np.clip(rate, 0.0, most), mean, variance, quantile)


PEAK_FACTOR = 1.2
"""Subscribers that reach the rate sold at once, K: 1.0 is the least, 1.2 is what is planned by."""


@model
def access_node_bandwidth_bps(
    subscriber_count: ArrayLike,
    *,
    mean_bps: ArrayLike,
    sold_bps: ArrayLike,
    peak_factor: ArrayLike = PEAK_FACTOR,
) -> FloatArray:
    r"""Rate of an access node for its subscribers.

    .. math:: C = N\, T_{avg} + K\, T_{max}

    Parameters
    ----------
    subscriber_count : array_like
        Subscribers that share the node. [1]
    mean_bps : array_like
        Mean rate of a subscriber in the busy hour, the idle ones included. [bit/s]
    sold_bps : array_like
        Largest rate that is sold to a subscriber. [bit/s]
    peak_factor : array_like
        Subscribers that reach it at once, K. [1]

    Returns
    -------
    numpy.ndarray
        Rate of the node. [bit/s, layer of mean_bps]

    See Also
    --------
    netcalc.models.users.multiplexing.shared_bandwidth_bps : From the share of active users.

    Notes
    -----
    Validity: a rule of experience, for some hundred subscribers, whose mean is small beside the
    rate sold. K of 1.0 to 1.2 lets a speed test succeed in the busy hour. Among users with
    different rates the largest that is sold counts.

    Typical: 200 subscribers of 2 Mbit/s in the mean and 1 Gbit/s sold: 1.6 Gbit/s.

    Range: subscriber_count from 100; peak_factor from 1 up to 1.2.

    Symbols: :math:`N` subscriber_count, :math:`T_{avg}` mean_bps, :math:`T_{max}` sold_bps,
    :math:`K` peak_factor.

    Examples
    --------
    >>> float(access_node_bandwidth_bps(200, mean_bps=2e6, sold_bps=1e9))
    1600000000.0

    References
    ----------
    Cloonan, Allen and Emmendorfer, Simulating the impact of QoE on per-service group HSD bandwidth
    capacity requirements, ARRIS 2014, p. 9 (the chapter of the formula).
    """
    mean, peak = non_negative("mean_bps", mean_bps), non_negative("sold_bps", sold_bps)
    not_above("mean-above-sold", "mean_bps", mean, peak)
    together = whole("subscriber_count", subscriber_count) * mean
    return together + non_negative("peak_factor", peak_factor) * peak


@model
def access_node_subscriber_count(
    bandwidth_bps: ArrayLike,
    *,
    mean_bps: ArrayLike,
    sold_bps: ArrayLike,
    peak_factor: ArrayLike = PEAK_FACTOR,
) -> FloatArray:
    r"""Number of subscribers that an access node carries.

    .. math:: N = \left\lfloor \frac{C - K\, T_{max}}{T_{avg}} \right\rfloor

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the node. [bit/s]
    mean_bps : array_like
        Mean rate of a subscriber in the busy hour, the idle ones included. [bit/s]
    sold_bps : array_like
        Largest rate that is sold to a subscriber. [bit/s]
    peak_factor : array_like
        Subscribers that reach it at once, K. [1]

    Returns
    -------
    numpy.ndarray
        Subscribers; 0 where the node cannot carry the rate sold. [1]

    See Also
    --------
    netcalc.models.users.multiplexing.supported_user_count : From the share of active users.

    Notes
    -----
    Validity: as :func:`access_node_bandwidth_bps`.

    Range: result from 100; peak_factor from 1 up to 1.2.

    Symbols: :math:`C` bandwidth_bps, :math:`T_{avg}` mean_bps, :math:`T_{max}` sold_bps,
    :math:`K` peak_factor.

    Examples
    --------
    >>> float(access_node_subscriber_count(2.5e9, mean_bps=2e6, sold_bps=1e9))
    650.0

    References
    ----------
    Cloonan, Allen and Emmendorfer, ARRIS 2014, p. 9, solved for the subscribers.
    """
    bandwidth = positive("bandwidth_bps", bandwidth_bps)
    mean, sold = positive("mean_bps", mean_bps), non_negative("sold_bps", sold_bps)
    not_above("mean-above-sold", "mean_bps", mean, sold)
    peak = non_negative("peak_factor", peak_factor) * sold
    left = np.maximum(bandwidth - peak, 0.0) / mean
    return checks.rounded_down(left, ratio=1e-12)  # a difference has fewer digits


@model
def oversubscription(
    user_count: ArrayLike, *, sold_bps: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Oversubscription: the rates sold over the rate of the link that carries them.

    .. math:: O = N\, T_{max} / C

    Parameters
    ----------
    user_count : array_like
        Users that share the link. [1]
    sold_bps : array_like
        Rate that each has bought. [bit/s]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Factor: 20 for 20:1; up to 1 nothing is shared. [1]

    See Also
    --------
    netcalc.models.users.multiplexing.multiplexing_gain : What the activity of users allows.

    Notes
    -----
    Validity: a statement of what was sold; whether it works depends on how active users are.

    Typical: 20:1 to 50:1 on residential access, 4:1 to 20:1 for business, 3:1 from the access
    switches of a campus or data centre upwards.

    Range: everywhere.

    Symbols: :math:`N` user_count, :math:`T_{max}` sold_bps, :math:`C` bandwidth_bps.

    Examples
    --------
    48 ports of 1 Gbit/s on two uplinks of 10:

    >>> float(oversubscription(48, sold_bps=1e9, bandwidth_bps=20e9))
    2.4

    References
    ----------
    Definition.
    """
    users, sold = whole("user_count", user_count), non_negative("sold_bps", sold_bps)
    return users / (positive("bandwidth_bps", bandwidth_bps) / sold)


@model
def busy_hour_bps(traffic_bytes: ArrayLike, *, busy_hour_ratio: ArrayLike = 0.1) -> FloatArray:
    r"""Mean rate in the busy hour, from the traffic of a day.

    .. math:: R = 8 V h / 3600\,\mathrm{s}

    Parameters
    ----------
    traffic_bytes : array_like
        Traffic of a day, in the direction of the rate. [byte]
    busy_hour_ratio : array_like
        Share of it in the busy hour; 1/24 if all hours are equal. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean rate over the busy hour, at the layer of the traffic. [bit/s, payload]

    See Also
    --------
    busy_hour_erlang : Calls.

    Notes
    -----
    Validity: a mean of an hour: within it rates of seconds are higher, see
    :func:`netcalc.models.users.multiplexing.shared_bandwidth_bps`.

    Typical: 6 to 7 % of residential traffic falls into the busy hour, some 10 % and more of an
    office's.

    Range: busy_hour_ratio from 0.0416.

    Symbols: :math:`V` traffic_bytes, :math:`h` busy_hour_ratio.

    Examples
    --------
    Of 15 GB a day:

    >>> round(float(busy_hour_bps(15e9, busy_hour_ratio=0.07)) / 1e6, 2)
    2.33

    References
    ----------
    ITU-T E.500 (the busy hour); straight line.
    """
    traffic = non_negative("traffic_bytes", traffic_bytes)
    return traffic * (8.0 / 3600.0 * ratio("busy_hour_ratio", busy_hour_ratio))


@model
def busy_hour_erlang(call_count: ArrayLike, *, holding_s: ArrayLike) -> FloatArray:
    r"""Load that the calls of the busy hour offer.

    .. math:: A = n\, h / 3600\,\mathrm{s}

    Parameters
    ----------
    call_count : array_like
        Calls in the busy hour, the blocked ones included. [1]
    holding_s : array_like
        Mean holding time of a call. [s]

    Returns
    -------
    numpy.ndarray
        Offered load in erlangs. [1]

    See Also
    --------
    busy_hour_bps : Traffic.

    Notes
    -----
    Validity: exact as a mean, whatever the distributions. It is the load of
    :func:`netcalc.models.queues.erlang.erlang_b_server_count`.

    Typical: calls of an office hold 3 minutes: 100 of them in an hour are 5 erlangs.

    Range: everywhere.

    Symbols: :math:`n` call_count, :math:`h` holding_s.

    Examples
    --------
    >>> float(busy_hour_erlang(100, holding_s=180))
    5.0

    References
    ----------
    ITU-T E.600 (offered traffic); Little's theorem, Kleinrock, Queueing Systems vol. 1, 2.1.
    """
    calls = non_negative("call_count", call_count)
    return calls * (non_negative("holding_s", holding_s) / 3600.0)
