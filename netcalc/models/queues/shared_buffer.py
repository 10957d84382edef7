r"""Buffers of switches: bursts, incast, and a memory that the ports share.

A shared memory gives each queue at most :math:`\alpha` times what is free (dynamic thresholds), so
that some of it always stays free for a queue that has just begun to grow. Rates are fluids here:
packets make a difference of one packet for each sender.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import (
    FloatArray,
    keep_nan,
    model,
    non_negative,
    positive,
    ratio,
    rounded_down,
    whole,
)
from netcalc.models.bounds import not_below
from netcalc.models.sizes.headers import MIN_FRAME_BYTES


@model
def shared_queue_bytes(
    buffer_bytes: ArrayLike, *, alpha: ArrayLike = 1.0, queue_count: ArrayLike = 1
) -> FloatArray:
    r"""Length of each congested queue of a shared buffer with dynamic thresholds.

    .. math:: Q = \frac{\alpha B}{1 + \alpha n}

    Parameters
    ----------
    buffer_bytes : array_like
        Memory that the queues share. [byte]
    alpha : array_like
        What a queue may hold, in the memory that is free. [1]
    queue_count : array_like
        Queues that are congested. [1]

    Returns
    -------
    numpy.ndarray
        Length at which each of them loses packets. [byte]

    See Also
    --------
    free_buffer_bytes : What stays free.

    Notes
    -----
    Validity: the steady state, with one :math:`\alpha` for all and no memory set aside for each
    port.

    Typical: :math:`\alpha` from 1/16 to 8, in powers of 2, set for each class of traffic.

    Range: everywhere.

    Symbols: :math:`B` buffer_bytes, :math:`\alpha` alpha, :math:`n` queue_count.

    Examples
    --------
    Half of 12 MB for a queue alone:

    >>> float(shared_queue_bytes(12e6, alpha=1))
    6000000.0

    References
    ----------
    Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM
    Trans. Netw. 6 (1998), doi:10.1109/90.664262.
    """
    share = positive("alpha", alpha)
    count = whole("queue_count", queue_count)
    queue = non_negative("buffer_bytes", buffer_bytes) / (1.0 / share + count)
    not_below("queue-below-frame", "result", queue, MIN_FRAME_BYTES)
    return queue


@model
def free_buffer_bytes(
    buffer_bytes: ArrayLike, *, alpha: ArrayLike = 1.0, queue_count: ArrayLike = 1
) -> FloatArray:
    r"""Memory that stays free in a shared buffer with dynamic thresholds.

    .. math:: F = \frac{B}{1 + \alpha n}

    Parameters
    ----------
    buffer_bytes : array_like
        Memory that the queues share. [byte]
    alpha : array_like
        What a queue may hold, in the memory that is free. [1]
    queue_count : array_like
        Queues that are congested. [1]

    Returns
    -------
    numpy.ndarray
        Memory that no congested queue may take. [byte]

    See Also
    --------
    shared_queue_bytes : What each of them holds.

    Notes
    -----
    Validity: as :func:`shared_queue_bytes`.

    Range: everywhere.

    Symbols: :math:`B` buffer_bytes, :math:`\alpha` alpha, :math:`n` queue_count.

    Examples
    --------
    >>> float(free_buffer_bytes(12e6, alpha=1, queue_count=3))
    3000000.0

    References
    ----------
    Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM
    Trans. Netw. 6 (1998), doi:10.1109/90.664262.
    """
    share = positive("alpha", alpha)
    count = whole("queue_count", queue_count)
    return non_negative("buffer_bytes", buffer_bytes) / (1.0 + share * count)


@model
def shared_buffer_burst_bytes(
    buffer_bytes: ArrayLike,
    *,
    input_bps: ArrayLike,
    output_bps: ArrayLike,
    alpha: ArrayLike = 1.0,
    queue_count: ArrayLike = 0,
) -> FloatArray:
    r"""Largest burst that a shared buffer with dynamic thresholds takes without loss.

    .. math::
        N = \frac{I}{I - C} \, \min \left( \frac{\alpha B}{1 + \alpha (n + 1)}, \;
        \frac{\alpha B}{1 + \alpha n} \cdot \frac{I - C}{(1 + \alpha)(I - C) - \alpha n C} \right)

    Parameters
    ----------
    buffer_bytes : array_like
        Memory that the queues share. [byte]
    input_bps : array_like
        Rate at which the burst comes. [bit/s]
    output_bps : array_like
        Rate of each port. [bit/s]
    alpha : array_like
        What a queue may hold, in the memory that is free. [1]
    queue_count : array_like
        Other queues that are congested, and at their threshold, when the burst begins. [1]

    Returns
    -------
    numpy.ndarray
        Bytes of the burst; inf if the port is as fast as its input. [byte]

    See Also
    --------
    absorbed_burst_bytes : A buffer of the port's own.

    Notes
    -----
    Validity: a queue that is empty at the beginning; ports of one rate. The second term holds for
    a burst so fast that the other queues, which drain at the rate of their ports, stay above the
    falling threshold; the first one applies where its denominator is not positive. A fluid is up to
    a packet off: a tenth of ten full frames.

    Range: buffer_bytes from 15180.

    Symbols: :math:`B` buffer_bytes, :math:`I` input_bps, :math:`C` output_bps, :math:`\alpha`
    alpha, :math:`n` queue_count.

    Examples
    --------
    20 senders of 10 Gbit/s to one port, two other ports congested:

    >>> burst = shared_buffer_burst_bytes(
    ...     12e6, input_bps=200e9, output_bps=10e9, alpha=1, queue_count=2
    ... )
    >>> round(float(burst) / 1e6, 2)
    2.22

    References
    ----------
    Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM
    Trans. Netw. 6 (1998), doi:10.1109/90.664262; derived from its rule: the queue and the threshold
    as straight lines in time.
    """
    buffer = non_negative("buffer_bytes", buffer_bytes)
    inward, outward = non_negative("input_bps", input_bps), positive("output_bps", output_bps)
    share, others = positive("alpha", alpha), whole("queue_count", queue_count)
    growth = np.maximum(inward / outward - 1.0, 0.0)  # of the queue, in rates of the port
    inverse = 1.0 / share
    slow = 1.0 / (inverse + others + 1.0)
    # Everything over alpha and growth, both of which may be large.
    fall = inverse + 1.0 - others / growth
    fast = 1.0 / fall / (1.0 + others * share)
    queue = np.where(fall > 0.0, np.minimum(fast, slow), slow)
    burst = buffer * queue * (1.0 + 1.0 / growth)
    burst = np.where(growth > 0.0, burst, np.inf)
    return keep_nan(burst, buffer, inward, outward, share, others)


@model
def absorbed_burst_bytes(
    buffer_bytes: ArrayLike, *, input_bps: ArrayLike, output_bps: ArrayLike
) -> FloatArray:
    r"""Largest burst that the buffer of a port takes without loss.

    .. math:: N = \frac{B \, I}{I - C}

    Parameters
    ----------
    buffer_bytes : array_like
        Buffer of the port, empty at the beginning. [byte]
    input_bps : array_like
        Rate at which the burst comes. [bit/s]
    output_bps : array_like
        Rate of the port. [bit/s]

    Returns
    -------
    numpy.ndarray
        Bytes of the burst; inf if the port is as fast as its input. [byte]

    See Also
    --------
    shared_buffer_burst_bytes : A memory that the ports share.

    Notes
    -----
    Validity: what the port sends while the burst comes is part of it. A fluid is up to a packet
    off: a tenth of ten full frames.

    Range: buffer_bytes from 15180.

    Symbols: :math:`B` buffer_bytes, :math:`I` input_bps, :math:`C` output_bps.

    Examples
    --------
    1 MB between 40 and 10 Gbit/s:

    >>> round(float(absorbed_burst_bytes(1e6, input_bps=40e9, output_bps=10e9)))
    1333333

    References
    ----------
    Derived: :func:`netcalc.models.queues.backlog.fluid_fill_s` at the rate of the input.
    """
    buffer = non_negative("buffer_bytes", buffer_bytes)
    inward, outward = non_negative("input_bps", input_bps), positive("output_bps", output_bps)
    share = np.maximum(1.0 - outward / inward, 0.0)
    return keep_nan(np.where(inward > outward, buffer / share, np.inf), buffer, inward, outward)


@model
def incast_backlog_bytes(
    sender_count: ArrayLike,
    *,
    burst_bytes: ArrayLike,
    sender_bps: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Backlog of a port when several senders answer at the same time (incast).

    .. math:: Q = \max \left( 0, \; b \left( N - \frac{C}{s} \right) \right)

    Parameters
    ----------
    sender_count : array_like
        Senders that begin together. [1]
    burst_bytes : array_like
        What each of them sends at once: its window. [byte]
    sender_bps : array_like
        Rate of each sender's link. [bit/s]
    bandwidth_bps : array_like
        Rate of the port they share. [bit/s]

    Returns
    -------
    numpy.ndarray
        Backlog when the last byte has come: the buffer that loses nothing. [byte]

    See Also
    --------
    incast_sender_count : The senders that a buffer takes.

    Notes
    -----
    Validity: all begin at the same moment, without a queue before; later ones need less. Whole
    packets make it up to a packet of each sender larger: a tenth of bursts of ten.

    Typical: 40 senders with first windows of 10 segments of 1500 bytes at 10 Gbit/s: 585 kB.

    Range: burst_bytes from 15000.

    Symbols: :math:`N` sender_count, :math:`b` burst_bytes, :math:`s` sender_bps, :math:`C`
    bandwidth_bps.

    Examples
    --------
    >>> backlog = incast_backlog_bytes(
    ...     40, burst_bytes=15_000, sender_bps=10e9, bandwidth_bps=10e9
    ... )
    >>> float(backlog)
    585000.0

    References
    ----------
    Derived: what comes in less what goes out while it comes; Phanishayee et al., Measurement and
    analysis of TCP throughput collapse in cluster-based storage systems, FAST 2008.
    """
    count = whole("sender_count", sender_count)
    burst = non_negative("burst_bytes", burst_bytes)
    served = positive("bandwidth_bps", bandwidth_bps) / positive("sender_bps", sender_bps)
    return keep_nan(burst * np.maximum(count - served, 0.0), burst, count, served)


@model
def incast_sender_count(
    buffer_bytes: ArrayLike,
    *,
    burst_bytes: ArrayLike,
    sender_bps: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Senders that may answer at the same time without loss (incast).

    .. math:: N = \left\lfloor \frac{B}{b} + \frac{C}{s} \right\rfloor

    Parameters
    ----------
    buffer_bytes : array_like
        Buffer that the port can have: of a shared one, :func:`shared_queue_bytes`. [byte]
    burst_bytes : array_like
        What each of them sends at once: its window. [byte]
    sender_bps : array_like
        Rate of each sender's link. [bit/s]
    bandwidth_bps : array_like
        Rate of the port they share. [bit/s]

    Returns
    -------
    numpy.ndarray
        Largest number of senders; inf if they send nothing. [1]

    See Also
    --------
    incast_backlog_bytes : The buffer that some senders need.

    Notes
    -----
    Validity: as :func:`incast_backlog_bytes`.

    Range: burst_bytes from 15000.

    Symbols: :math:`B` buffer_bytes, :math:`b` burst_bytes, :math:`s` sender_bps, :math:`C`
    bandwidth_bps.

    Examples
    --------
    >>> float(incast_sender_count(1e6, burst_bytes=15_000, sender_bps=10e9, bandwidth_bps=10e9))
    67.0

    References
    ----------
    Derived: :func:`incast_backlog_bytes` solved for the senders.
    """
    burst = non_negative("burst_bytes", burst_bytes)
    held = non_negative("buffer_bytes", buffer_bytes) / burst
    served = positive("bandwidth_bps", bandwidth_bps) / positive("sender_bps", sender_bps)
    return np.where(burst == 0.0, np.inf, rounded_down(held + served))


@model
def incast_goodput_bps(
    message_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    rto_s: ArrayLike = 0.2,
    timeout_ratio: ArrayLike = 1.0,
) -> FloatArray:
    r"""Goodput of a block that many servers send together, with retransmission timeouts (incast).

    .. math:: G = \frac{8 S}{8 S / C + q \, T_0}

    Parameters
    ----------
    message_bytes : array_like
        Size of the whole block, of which each server has a part. [byte]
    bandwidth_bps : array_like
        Goodput of the port they share. [bit/s]
    rto_s : array_like
        Retransmission timeout; Linux has at least 200 ms. [s]
    timeout_ratio : array_like
        Share of the blocks in which some server waits for its timer. [ratio]

    Returns
    -------
    numpy.ndarray
        Goodput of one block after the other; nan for a block of 0 bytes without a timeout.
        [bit/s, payload]

    Notes
    -----
    Validity: the next block is asked for when the whole one is there, so that one server's timeout
    stops all; the port is full until then. Measured with timers of 200 µs to 200 ms (Vasudevan et
    al.).

    Typical: blocks of 1 MB at 1 Gbit/s fall to 38 Mbit/s when each waits for a timer of 200 ms, and
    to 889 Mbit/s with one of 1 ms.

    Range: rto_s from 2e-4 up to 0.2.

    Symbols: :math:`S` message_bytes, :math:`C` bandwidth_bps, :math:`T_0` rto_s, :math:`q`
    timeout_ratio.

    Examples
    --------
    >>> round(float(incast_goodput_bps(1e6, bandwidth_bps=1e9)) / 1e6, 2)
    38.46

    References
    ----------
    Phanishayee et al., Measurement and analysis of TCP throughput collapse in cluster-based storage
    systems, FAST 2008; Vasudevan et al., Safe and effective fine-grained TCP retransmissions for
    datacenter communication, SIGCOMM 2009, doi:10.1145/1592568.1592604.
    """
    bits = 8.0 * non_negative("message_bytes", message_bytes)
    stopped = ratio("timeout_ratio", timeout_ratio) * non_negative("rto_s", rto_s)
    return 1.0 / (1.0 / positive("bandwidth_bps", bandwidth_bps) + stopped / bits)
