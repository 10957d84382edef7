r"""Backlog: waits of given arrivals, and overload as a fluid. No steady state is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

_BLOCK = 4096


@model
def lindley_wait_s(interarrival_s: ArrayLike, *, service_s: ArrayLike) -> FloatArray:
    r"""Wait of each customer of a FIFO queue, from arrival and service times (Lindley).

    .. math:: W_{n+1} = \max(0, W_n + S_n - A_{n+1})

    Parameters
    ----------
    interarrival_s : 1-D array_like
        Time between each customer and the one before; the first is ignored. [s]
    service_s : 1-D array_like
        Service time of each, or one for all. [s]

    Returns
    -------
    numpy.ndarray
        Wait of each customer; the queue is empty at the start. [s]

    See Also
    --------
    fluid_backlog_bytes : Given rates, as a fluid.
    netcalc.models.queues.mm1.mm1_wait_s : Random arrivals, on average.

    Notes
    -----
    Validity: exact for any arrivals and services, one server, FIFO, an infinite buffer. From a
    customer with a missing time on, all waits are nan.

    Range: everywhere.

    Symbols: :math:`A_{n+1}` interarrival_s, :math:`S_n` service_s.

    Examples
    --------
    >>> lindley_wait_s([0, 1, 2, 3], service_s=[5, 1, 1, 1]).tolist()
    [0.0, 4.0, 3.0, 1.0]

    References
    ----------
    Lindley, The theory of queues with a single server, Proc. Cambridge Phil. Soc. 48 (1952),
    doi:10.1017/S0305004100027638.
    """
    gaps = checks.one_dimensional(
        "interarrival_s", checks.non_negative("interarrival_s", interarrival_s)
    )
    services = np.atleast_1d(checks.non_negative("service_s", service_s))
    if services.ndim != 1 or services.size not in (1, gaps.size):
        raise DomainError(
            "wrong-count-or-one", "service_s", count=services.size, expected=gaps.size
        )
    changes = np.broadcast_to(services, gaps.shape)[:-1] - gaps[1:]
    waits = np.zeros(gaps.size)
    last = 0.0
    # A block at a time, so that rounding is that of a block and not of the whole drift.
    for start in range(0, changes.size, _BLOCK):
        walk = np.cumsum(changes[start : start + _BLOCK])
        walk += last
        wait = walk - np.minimum(np.minimum.accumulate(walk), 0.0)
        waits[start + 1 : start + 1 + wait.size] = wait
        last = float(wait[-1])
    return waits


@model
def fluid_backlog_bytes(
    duration_s: ArrayLike, *, input_bps: ArrayLike, output_bps: ArrayLike
) -> FloatArray:
    r"""Fluid backlog after an overload.

    .. math:: B = \max(0, (R_{in} - R_{out})\, t / 8)

    Parameters
    ----------
    duration_s : array_like
        Duration of the overload. [s]
    input_bps : array_like
        Input rate. [bit/s]
    output_bps : array_like
        Output rate. [bit/s]

    Returns
    -------
    numpy.ndarray
        Backlog at the end, from an empty buffer; 0 without overload. [byte]

    See Also
    --------
    lindley_wait_s : Given arrivals, packet by packet.
    netcalc.models.queues.mm1.mm1_wait_s : Random arrivals, on average.
    fluid_fill_s : Time until the buffer is full.
    netcalc.models.tcp.sharing.drain_s : Time until it is empty again.

    Notes
    -----
    Validity: constant rates, no packets: the deterministic part of a queue. A fluid is up to a
    packet off: a tenth of ten full frames.

    Range: backlog_bytes (where it grows) from 15180.

    Symbols: :math:`t` duration_s, :math:`R_{in}` input_bps, :math:`R_{out}` output_bps.

    Examples
    --------
    >>> float(fluid_backlog_bytes(0.001, input_bps=12e9, output_bps=10e9))
    250000.0

    References
    ----------
    Kleinrock, Queueing Systems vol. 2, 2.7 (fluid approximation for queues).
    """
    excess = checks.non_negative("input_bps", input_bps) - checks.non_negative(
        "output_bps", output_bps
    )
    backlog = np.maximum(excess, 0.0) * (checks.non_negative("duration_s", duration_s) / 8.0)
    checks.note_outside_range(fluid_backlog_bytes, where=backlog > 0.0, backlog_bytes=backlog)
    return backlog


@model
def fluid_fill_s(
    buffer_bytes: ArrayLike, *, input_bps: ArrayLike, output_bps: ArrayLike
) -> FloatArray:
    r"""Time until a fluid overload fills a buffer.

    .. math:: t = \frac{8 B}{R_{in} - R_{out}}

    Parameters
    ----------
    buffer_bytes : array_like
        Size of the buffer. [byte]
    input_bps : array_like
        Input rate. [bit/s]
    output_bps : array_like
        Output rate. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time from empty to full; ``inf`` without overload. [s]

    See Also
    --------
    fluid_backlog_bytes : Backlog at a time.
    netcalc.models.tcp.sharing.drain_s : Time until it is empty again.

    Notes
    -----
    Validity: constant rates, as :func:`fluid_backlog_bytes`. A fluid is up to a packet off: a tenth
    of ten full frames.

    Range: buffer_bytes from 15180.

    Symbols: :math:`B` buffer_bytes, :math:`R_{in}` input_bps, :math:`R_{out}` output_bps.

    Examples
    --------
    >>> float(fluid_fill_s(1e6, input_bps=12e9, output_bps=10e9))
    0.004

    References
    ----------
    Kleinrock, Queueing Systems vol. 2, 2.7 (fluid approximation for queues).
    """
    excess = checks.non_negative("input_bps", input_bps) - checks.non_negative(
        "output_bps", output_bps
    )
    buffer = checks.non_negative("buffer_bytes", buffer_bytes)
    return checks.keep_nan(np.where(excess > 0.0, 8.0 * (buffer / excess), np.inf), excess, buffer)
