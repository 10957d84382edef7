r"""Latency, propagation and transfer time of one link, and the link types behind a round trip.

A transfer of :math:`N` bytes over rate :math:`R` and one-way latency :math:`d` takes
:math:`d + 8N/R`: latency is the length of the pipe, bandwidth its width.

The inverse of store-and-forward: the time of one packet size, the number of links and the kinds
there are, and every mix of them that takes this time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

SPEED_OF_LIGHT_M_S = 299_792_458.0
"""Speed of light in vacuum, exact by definition of the metre. [m/s]"""

INITIAL_WINDOW_BYTES = 14_600.0
"""What TCP sends in its first round trip (RFC 6928). [byte]"""

MAX_ECHO_BYTES = 65_535.0 - 8.0
"""Most data of an echo: in IPv6, whose length field leaves its own header out. [byte]"""

FIBRE_INDEX = 1.468
"""Group index of standard single-mode fibre near 1550 nm (ITU-T G.652 fibres: 1.467 to 1.469)."""


@model
def serialization_s(wire_bytes: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Time to serialize a packet onto a link.

    .. math:: t = 8 L / R

    Parameters
    ----------
    wire_bytes : array_like
        Bytes on the wire; the size at another layer gives that layer's share. [byte]
    bandwidth_bps : array_like
        Signalling rate of the link. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Serialization time, broadcast over both inputs. [s]

    Notes
    -----
    Validity: exact for a link that sends at one rate.

    Typical: a full Ethernet frame of 1538 bytes takes 123 µs at 100 Mbit/s and 12.3 µs at 1 Gbit/s.

    Range: everywhere.

    Symbols: :math:`L` wire_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    A full Ethernet frame with preamble and gap at 1 Gbit/s:

    >>> float(serialization_s(1538, bandwidth_bps=1e9))
    1.2304e-05

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3 (552 bytes: 78.9 ms at 56 kbit/s, 2.86 ms on a T1).
    """
    # Divided first: the bits of 1e308 bytes overflow a float, their time need not.
    size = checks.non_negative("wire_bytes", wire_bytes)
    return 8.0 * (size / checks.positive("bandwidth_bps", bandwidth_bps))


@model
def propagation_s(
    distance_m: ArrayLike, *, speed_m_s: ArrayLike = SPEED_OF_LIGHT_M_S / FIBRE_INDEX
) -> FloatArray:
    r"""One-way propagation delay over a distance.

    .. math:: t = d / v

    Parameters
    ----------
    distance_m : array_like
        Length of the medium; a route is 1.2 to 2 times the great circle. [m]
    speed_m_s : array_like
        Signal speed; by default in glass fibre with index 1.468. [m/s]

    Returns
    -------
    numpy.ndarray
        Propagation time, broadcast over both inputs. [s]

    See Also
    --------
    satellite_rtt_s : Through a satellite.

    Notes
    -----
    Validity: exact; fibre takes about 4.9 microseconds per kilometre.

    Typical: 0.49 ms for 100 km, 24 ms for 5000 km, 78 ms for 16,000 km of fibre.

    Range: everywhere.

    Symbols: :math:`d` distance_m, :math:`v` speed_m_s.

    Examples
    --------
    Coast to coast of North America, 4800 km, in fibre (in vacuum 16 ms):

    >>> round(float(propagation_s(4.8e6)), 4)
    0.0235

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3; Peterson and Davie, Computer Networks, 1.5.1.
    """
    distance = checks.non_negative("distance_m", distance_m)
    speed = checks.positive("speed_m_s", speed_m_s)
    return distance / checks.between("speed_m_s", speed, 0.0, SPEED_OF_LIGHT_M_S)


@model
def signal_speed_m_s(refractive_index: ArrayLike = FIBRE_INDEX) -> FloatArray:
    r"""Speed of light in a fibre.

    .. math:: v = c / n

    Parameters
    ----------
    refractive_index : array_like
        Group index of the fibre; 1 is vacuum. [1]

    Returns
    -------
    numpy.ndarray
        Signal speed, of the shape of the input. [m/s]

    Notes
    -----
    Validity: exact for the wavelength that the group index belongs to.

    Range: everywhere.

    Symbols: :math:`n` refractive_index.

    Examples
    --------
    Microseconds per kilometre:

    >>> round(1e9 / float(signal_speed_m_s(1.4677)), 4)
    4.8957

    References
    ----------
    ITU-T G.652 (fibre data sheets give 1.467 to 1.469 for 1310 to 1550 nm).
    """
    return SPEED_OF_LIGHT_M_S / checks.at_least("refractive_index", refractive_index, 1.0)


@model
def satellite_rtt_s(altitude_m: ArrayLike = 35_786e3) -> FloatArray:
    r"""Minimum round-trip propagation delay through a satellite.

    .. math:: t = 4 h / c

    Parameters
    ----------
    altitude_m : array_like
        Height of the satellite; by default geostationary. [m]

    Returns
    -------
    numpy.ndarray
        Round-trip propagation time, of the shape of the input. [s]

    See Also
    --------
    propagation_s : Through a medium, one way.

    Notes
    -----
    Validity: both stations directly below the satellite; elsewhere more (up to 558 ms for a
    geostationary one).

    Typical: 0.48 s geostationary (35,786 km), 7.3 ms in low orbit (550 km).

    Range: altitude_m (in an orbit so high that propagation is most of it) from 2e6.

    Symbols: :math:`h` altitude_m.

    Examples
    --------
    >>> round(float(satellite_rtt_s()), 4)
    0.4775

    References
    ----------
    Allman, Glover and Sanchez, RFC 2488, section 2.
    """
    altitude = checks.non_negative("altitude_m", altitude_m)
    checks.note_outside_range(satellite_rtt_s, code="low-orbit", altitude_m=altitude)
    return altitude * (4.0 / SPEED_OF_LIGHT_M_S)


@model
def transfer_s(
    payload_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, latency_s: ArrayLike
) -> FloatArray:
    r"""Time from the first bit sent to the last bit received.

    .. math:: t = d + 8 N / R

    Parameters
    ----------
    payload_bytes : array_like
        Bytes to transfer, headers not counted. [byte]
    bandwidth_bps : array_like
        Rate of the path. [bit/s, line]
    latency_s : array_like
        One-way latency; give a round-trip time to count the request as well. [s]

    Returns
    -------
    numpy.ndarray
        Transfer time, broadcast over all inputs. [s]

    See Also
    --------
    netcalc.models.tcp.short_transfers.fetch_s : Any handshake, server time and headers.
    netcalc.models.tcp.short_transfers.static_transfer_s : The textbook model.
    netcalc.models.tcp.short_transfers.lossy_transfer_s : With loss, on an open connection.
    netcalc.models.tcp.transfer_time.transfer_time_s
        Line, window, loss, start-up and flows together.
    netcalc.models.delays.store_and_forward.store_and_forward_s : A list of links.
    netcalc.models.collectives.broadcast.loggp_message_s : With the overheads of both ends.

    Notes
    -----
    Validity: one stream without headers, windows, losses or other traffic: a lower bound for TCP.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`R` bandwidth_bps, :math:`d` latency_s.

    Examples
    --------
    A million bytes with 30 ms over a T1, and over a T3 as people count it:

    >>> transfer_s(1e6, bandwidth_bps=[1.544e6, 45e6], latency_s=0.03).round(3).tolist()
    [5.211, 0.208]

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3; Peterson and Davie, Computer Networks, 1.5.
    """
    size = checks.non_negative("payload_bytes", payload_bytes)
    rate = checks.positive("bandwidth_bps", bandwidth_bps)
    delay = checks.non_negative("latency_s", latency_s)
    if size.size == rate.size == delay.size == 1:
        held = rate.item() * delay.item() / 4.0
        if min(size.item(), held) > INITIAL_WINDOW_BYTES:
            checks.note(
                "slow-start-left-out",
                name="payload_bytes",
                value=size.item(),
                held=held,
                warns=False,
            )
    return 8.0 * (size / rate) + delay


@model
def arrived_bytes(
    elapsed_s: ArrayLike, *, bandwidth_bps: ArrayLike, latency_s: ArrayLike
) -> FloatArray:
    r"""Bytes received within a time: :func:`transfer_s` solved for the size.

    .. math:: N = \max(0, (t - d) R / 8)

    Parameters
    ----------
    elapsed_s : array_like
        Time since the first bit was sent. [s]
    bandwidth_bps : array_like
        Rate of the path. [bit/s, line]
    latency_s : array_like
        One-way latency. [s]

    Returns
    -------
    numpy.ndarray
        Bytes received; 0 while the first bit is in flight. [byte]

    Notes
    -----
    Validity: as :func:`transfer_s`.

    Range: everywhere.

    Symbols: :math:`t` elapsed_s, :math:`R` bandwidth_bps, :math:`d` latency_s.

    Examples
    --------
    >>> float(arrived_bytes(0.208, bandwidth_bps=45e6, latency_s=0.03))
    1001250.0

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3, solved for the size.
    """
    sending = checks.non_negative("elapsed_s", elapsed_s) - checks.non_negative(
        "latency_s", latency_s
    )
    sending = np.maximum(sending, 0.0)
    return sending * (checks.positive("bandwidth_bps", bandwidth_bps) / 8.0)


@model
def transfer_bandwidth_bps(
    transfer_s: ArrayLike, *, payload_bytes: ArrayLike, latency_s: ArrayLike
) -> FloatArray:
    r"""Bandwidth that a transfer in a given time requires: :func:`transfer_s` solved for the rate.

    .. math:: R = 8 N / (t - d)

    Parameters
    ----------
    transfer_s : array_like
        Time allowed, from the first bit sent to the last received. [s]
    payload_bytes : array_like
        Bytes to transfer. [byte]
    latency_s : array_like
        One-way latency. [s]

    Returns
    -------
    numpy.ndarray
        Bandwidth needed; ``inf`` if the time is just the latency, ``nan`` if it is less: no
        bandwidth suffices. [bit/s, line]

    Notes
    -----
    Validity: as :func:`transfer_s`.

    Range: everywhere.

    Symbols: :math:`t` transfer_s, :math:`N` payload_bytes, :math:`d` latency_s.

    Examples
    --------
    >>> float(transfer_bandwidth_bps(1.03, payload_bytes=1e6, latency_s=0.03))
    8000000.0

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3, solved for the rate.
    """
    sending = checks.non_negative("transfer_s", transfer_s) - checks.non_negative(
        "latency_s", latency_s
    )
    bits = 8.0 * checks.non_negative("payload_bytes", payload_bytes)
    return np.where(sending < 0, np.nan, bits / sending)[()]


@model
def transfer_latency_s(
    transfer_s: ArrayLike, *, payload_bytes: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Latency that a transfer in a given time allows: :func:`transfer_s` solved for the latency.

    .. math:: d = t - 8 N / R

    Parameters
    ----------
    transfer_s : array_like
        Time allowed, from the first bit sent to the last received. [s]
    payload_bytes : array_like
        Bytes to transfer. [byte]
    bandwidth_bps : array_like
        Rate of the path. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        One-way latency; ``nan`` where the link alone takes longer. [s]

    Notes
    -----
    Validity: as :func:`transfer_s`.

    Range: everywhere.

    Symbols: :math:`t` transfer_s, :math:`N` payload_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(float(transfer_latency_s(0.2, payload_bytes=1e6, bandwidth_bps=45e6)), 4)
    0.0222

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3, solved for the latency.
    """
    sending = 8.0 * checks.non_negative("payload_bytes", payload_bytes)
    sending = sending / checks.positive("bandwidth_bps", bandwidth_bps)
    left = np.asarray(checks.non_negative("transfer_s", transfer_s) - sending)
    left[left < 0] = np.nan
    return left[()]


@model
def half_rate_bytes(latency_s: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Size that reaches half the rate: its serialization takes as long as the latency.

    .. math:: N = d R / 8

    Parameters
    ----------
    latency_s : array_like
        One-way latency. [s]
    bandwidth_bps : array_like
        Rate of the path. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Size: below it latency dominates, above it bandwidth. [byte]

    See Also
    --------
    netcalc.models.tcp.window.bdp_bytes : Round-trip time: the window that fills the path.
    netcalc.models.collectives.bus_bandwidth.ring_half_rate_bytes : Of a ring of ranks.

    Notes
    -----
    Validity: as :func:`transfer_s`. It is Hockney's half-performance length.

    Range: everywhere.

    Symbols: :math:`d` latency_s, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> float(half_rate_bytes(0.03, bandwidth_bps=1.544e6))
    5790.0

    References
    ----------
    Hockney and Jesshope, Parallel Computers (n½); Stevens vol. 3, A.3 (latency against bandwidth).
    """
    latency = checks.non_negative("latency_s", latency_s)
    return latency * (checks.positive("bandwidth_bps", bandwidth_bps) / 8.0)


@model
def latency_share_ratio(
    payload_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, latency_s: ArrayLike
) -> FloatArray:
    r"""Latency as a share of the transfer time.

    .. math:: s = \frac{d}{d + 8 N / R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes to transfer. [byte]
    bandwidth_bps : array_like
        Rate of the path. [bit/s, line]
    latency_s : array_like
        One-way latency. [s]

    Returns
    -------
    numpy.ndarray
        Share from 0 (all bandwidth) to 1 (all latency); ``nan`` if the transfer takes no time.
        [ratio]

    Notes
    -----
    Validity: as :func:`transfer_s`.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`R` bandwidth_bps, :math:`d` latency_s.

    Examples
    --------
    A million bytes with 30 ms over a T3 and over 10 Gbit/s:

    >>> latency_share_ratio(1e6, bandwidth_bps=[45e6, 10e9], latency_s=0.03).round(3).tolist()
    [0.144, 0.974]

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3.
    """
    latency = checks.non_negative("latency_s", latency_s)
    size = checks.non_negative("payload_bytes", payload_bytes)
    time = 8.0 * (size / checks.positive("bandwidth_bps", bandwidth_bps))
    return latency / (time + latency)


@model
def transfer_throughput_bps(
    payload_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, latency_s: ArrayLike
) -> FloatArray:
    r"""Throughput of a transfer, latency included.

    .. math:: X = \frac{8 N}{d + 8 N / R}

    Parameters
    ----------
    payload_bytes : array_like
        Bytes to transfer. [byte]
    bandwidth_bps : array_like
        Rate of the path. [bit/s, line]
    latency_s : array_like
        One-way latency; give a round-trip time to count the request as well. [s]

    Returns
    -------
    numpy.ndarray
        Payload bits over transfer time; ``nan`` for 0 bytes in no time. [bit/s, payload]

    Notes
    -----
    Validity: as :func:`transfer_s`.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`R` bandwidth_bps, :math:`d` latency_s.

    Examples
    --------
    A megabyte requested over 1 Gbit/s with a round trip of 100 ms (74.1 Mbit/s in the book):

    >>> round(float(transfer_throughput_bps(1e6, bandwidth_bps=1e9, latency_s=0.1)) / 1e6, 1)
    74.1

    References
    ----------
    Peterson and Davie, Computer Networks, 1.5.3.
    """
    # As 1 / (1/R + d/8N): one array less than the equation as it is written.
    size = checks.non_negative("payload_bytes", payload_bytes)
    per_bit = checks.non_negative("latency_s", latency_s) / (8.0 * size)
    return 1.0 / (per_bit + 1.0 / checks.positive("bandwidth_bps", bandwidth_bps))


@model
def echo_rtt_s(
    payload_bytes: ArrayLike,
    *,
    base_rtt_s: ArrayLike,
    bandwidth_bps: ArrayLike,
    header_bytes: ArrayLike = 28,
) -> FloatArray:
    r"""Round-trip time of an echo by its size, on a path reduced to one link each way.

    .. math:: t = t_0 + 2 \cdot 8 (n + h) / R

    Parameters
    ----------
    payload_bytes : array_like
        User data of the echo: what ``ping -s`` counts. [byte]
    base_rtt_s : array_like
        Round-trip time without serialization: propagation and processing. [s]
    bandwidth_bps : array_like
        Equivalent rate: the reciprocal of the sum of 1/rate over the links, one way. [bit/s]
    header_bytes : array_like
        Headers before the data: 28 for IP and ICMP or UDP. [byte]

    Returns
    -------
    numpy.ndarray
        Round-trip time, broadcast over all inputs. [s]

    Notes
    -----
    Validity: the reply has the size of the request, the path is the same both ways, its queues are
    empty (use the smallest of several round trips). Store-and-forward links combine into one.

    Range: everywhere.

    Symbols: :math:`n` payload_bytes, :math:`t_0` base_rtt_s, :math:`R` bandwidth_bps, :math:`h`
    header_bytes.

    Examples
    --------
    >>> round(float(echo_rtt_s(1400, base_rtt_s=0.0777, bandwidth_bps=198.2e3)), 3)
    0.193

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.1 to A.3 (Fig. A-3: 80 ms at no data, 193 ms at 1400).
    """
    payload = checks.up_to("payload_bytes", payload_bytes, MAX_ECHO_BYTES)
    size = payload + checks.non_negative("header_bytes", header_bytes)
    size = size * (16.0 / checks.positive("bandwidth_bps", bandwidth_bps))
    return size + checks.non_negative("base_rtt_s", base_rtt_s)


MAX_MIXES = 1_000_000
"""Mixes, whole or half made, that a search keeps at most. [1]"""


class PathMixes(NamedTuple):
    """Mixes of links, the best first.

    ``link_count`` has one row a mix and one column a kind: how many links of it. ``rtt_s`` is the
    round trip of each mix, and ``residual_s`` that less the wanted one: below 0 where the mix is
    too fast. [s]
    """

    link_count: NDArray[np.int64]
    rtt_s: FloatArray
    residual_s: FloatArray


@model
def path_mixes(
    rtt_s: float,
    *,
    bandwidth_bps: ArrayLike,
    link_count: ArrayLike,
    packet_bytes: float,
    base_rtt_s: float = 0.0,
    tolerance_s: float = 1e-3,
) -> PathMixes:
    r"""All combinations of link types that explain a round-trip time.

    .. math:: N = \sum_k n_k, \quad
        \left| T_0 + 16 L \sum_k \frac{n_k}{R_k} - T \right| \le \epsilon

    Parameters
    ----------
    rtt_s : float
        Round trip that was measured or printed. [s]
    bandwidth_bps : 1-D array_like
        Rate of each kind of link. [bit/s]
    link_count : 1-D array_like
        Links of the path; several numbers allow any of them. [1]
    packet_bytes : float
        Size of the packet, there and back. [byte]
    base_rtt_s : float
        Round-trip time without serialization: propagation and processing. [s]
    tolerance_s : float
        Largest deviation of the round-trip time of a mix. [s]

    Returns
    -------
    PathMixes
        Counts by kind, round trips and residuals, the smallest residual first; none if nothing
        fits. [s]

    Raises
    ------
    DomainError
        If more than a million mixes would have to be compared, or a number is not finite.

    Notes
    -----
    Validity: an echo of equal size, store-and-forward at every node, the same links back, no
    queues. The order of the links does not affect the round-trip time.

    A mix grows kind by kind, the slowest first; it is given up as soon as the links that are left
    would be too slow even if all were of the fastest kind, or too fast if all were of the next.

    Range: everywhere.

    Symbols: :math:`T` rtt_s, :math:`R_k` bandwidth_bps, :math:`N` link_count, :math:`L`
    packet_bytes, :math:`T_0` base_rtt_s, :math:`\epsilon` tolerance_s.

    Examples
    --------
    Of T1, 10 Mbit/s and T3 links, 12 in all; 80 ms and twelve routers with 0.5 ms each way:

    >>> found = path_mixes(0.187, bandwidth_bps=[1.544e6, 10e6, 45e6], link_count=12,
    ...     packet_bytes=1428, base_rtt_s=0.080 + 24 * 0.0005)
    >>> found.link_count.tolist(), found.rtt_s.round(4).tolist()
    ([[6, 2, 4]], [0.1874])

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3 (187 ms from connix.com to noao.edu).
    """
    target = checks.scalar("rtt_s", checks.non_negative("rtt_s", _finite("rtt_s", rtt_s)))
    base = checks.scalar(
        "base_rtt_s", checks.non_negative("base_rtt_s", _finite("base_rtt_s", base_rtt_s))
    )
    slack = checks.scalar(
        "tolerance_s", checks.non_negative("tolerance_s", _finite("tolerance_s", tolerance_s))
    )
    size = checks.scalar(
        "packet_bytes", checks.positive("packet_bytes", _finite("packet_bytes", packet_bytes))
    )
    rates = checks.positive("bandwidth_bps", _finite("bandwidth_bps", bandwidth_bps))
    rates = checks.one_dimensional("bandwidth_bps", rates)
    lengths = checks.whole("link_count", _finite("link_count", link_count), low=1)
    lengths = np.unique(checks.one_dimensional("link_count", lengths))
    if lengths.size > MAX_MIXES or lengths[-1] > MAX_MIXES:
        raise _too_many(lengths[-1])
    order = np.argsort(rates, kind="stable")
    link_s = 16.0 * size / rates[order]
    mixes = _candidates(link_s, lengths.astype(np.int64), budget_s=target - base, slack_s=slack)
    # A link without an end, of which there is none, takes no time.
    clocking = np.where(mixes > 0, mixes * link_s, 0.0).sum(axis=1)
    rtt = base + clocking
    residual = rtt - target
    fits = np.flatnonzero(np.abs(residual) <= slack)
    best = fits[np.lexsort((*-mixes[fits].T[::-1], np.abs(residual[fits])))]
    by_kind = np.empty((best.size, rates.size), np.int64)
    by_kind[:, order] = mixes[best]
    return PathMixes(by_kind, rtt[best], residual[best])


def _candidates(
    link_s: FloatArray, lengths: NDArray[np.int64], *, budget_s: float, slack_s: float
) -> NDArray[np.int64]:
    """Return the mixes that may fit, one column a kind, from the slowest to the fastest."""
    left, budget = lengths, np.full(lengths.size, budget_s)
    made = np.zeros((lengths.size, 0), np.int64)
    # A little more than asked for: the remaining mixes are compared exactly at the end.
    margin = slack_s + 1e-9 * (abs(budget_s) + slack_s)
    fastest = float(link_s[-1])
    for index, each_s in enumerate(link_s[:-1].tolist()):
        within = np.floor(np.maximum(budget + margin, 0.0) / each_s) if each_s else left
        choices = np.minimum(within, left).astype(np.int64) + 1
        if choices.sum(dtype=np.float64) > MAX_MIXES:
            raise _too_many(float(lengths[-1]))
        row = np.repeat(np.arange(choices.size), choices)
        count = np.arange(row.size) - np.repeat(np.cumsum(choices) - choices, choices)
        left = left[row] - count
        budget = budget[row] - np.where(count > 0, count * each_s, 0.0)
        following = float(link_s[index + 1])
        slowest_s = np.where(left > 0, left * following, 0.0)
        may_fit = (left * fastest <= budget + margin) & (slowest_s >= budget - margin)
        left, budget, row, count = left[may_fit], budget[may_fit], row[may_fit], count[may_fit]
        made = np.column_stack((made[row], count))
    return np.column_stack((made, left))


def _finite(name: str, value: ArrayLike) -> FloatArray:
    """Return numbers as float64; refuse one that is not finite, by its value."""
    array = checks.as_float(name, value)
    odd = array[~np.isfinite(array)]
    if odd.size:
        raise DomainError("not-finite", name, str(odd.flat[0]))
    return array


def _too_many(link_count: float) -> DomainError:
    return DomainError("too-many-mixes", "link_count", link_count, high=MAX_MIXES)
