r"""Latency, propagation and transfer time: one link, or a path seen as one.

A transfer of :math:`N` bytes over rate :math:`R` and one-way latency :math:`d` takes
:math:`d + 8N/R`: the garden hose, how long it is and how fast it runs.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from netcalc.models._domain import FloatArray, non_negative, positive, quiet

SPEED_OF_LIGHT_M_S = 299_792_458.0
"""Speed of light in vacuum, exact by definition of the metre. [m/s]"""

FIBRE_INDEX = 1.468
"""Group index of standard single-mode fibre near 1550 nm (ITU-T G.652 fibres: 1.467 to 1.469)."""


@quiet
def serialization_s(wire_bytes: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Time to clock one packet onto a link.

    .. math:: t = 8 L / R

    Parameters
    ----------
    wire_bytes : array_like
        Bytes occupied on the wire; any layer's size gives that layer's share. [byte]
    bandwidth_bps : array_like
        Signalling rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Serialization time, broadcast over both inputs. [s]

    Raises
    ------
    DomainError
        If ``wire_bytes`` is negative, or ``bandwidth_bps`` zero or negative.

    Notes
    -----
    Validity: exact for a link that sends at one rate.

    Examples
    --------
    A full Ethernet frame with preamble and gap at 1 Gbit/s:

    >>> float(serialization_s(1538, bandwidth_bps=1e9))
    1.2304e-05

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3 (552 bytes: 78.9 ms at 56 kbit/s, 2.86 ms on a T1).
    """
    size = non_negative("wire_bytes", wire_bytes)
    return 8.0 * size / positive("bandwidth_bps", bandwidth_bps)
