r"""Access nodes: the rate that subscribers share, from their mean and their largest rate.

What operators plan by: the mean rate of all subscribers in the busy hour, and beside it
enough for one of them, or a few, at the full rate that was sold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive, ratio, whole
from netcalc.models.bounds import not_above

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
    # 1.3e9 over 2e6 must not lose a subscriber by the last digit of a product.
    return np.floor(left * (1.0 + 1e-12))


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
