r"""PCI Express: what crosses the bus of a network card beside the data.

A transfer is cut into transaction layer packets (TLPs) of at most the maximum payload size, each
with a header. A write needs packets in one direction only; a read needs requests in one and the
data in the other. Framing (2 bytes), sequence number and check sequence (6) are part of the headers
here, with addresses of 64 bits and without an end-to-end check sequence.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import (
    FloatArray,
    choice,
    keep_nan,
    model,
    non_negative,
    positive,
    rounded_up,
    whole,
)
from netcalc.models.bounds import one_of

Generation: TypeAlias = Literal["gen1", "gen2", "gen3", "gen4", "gen5"]

WRITE_HEADER_BYTES = 24.0
"""Framing 2, data link layer 6, common header 4, address and byte enables 12."""
READ_HEADER_BYTES = 24.0
"""A read request is as long."""
COMPLETION_HEADER_BYTES = 20.0
"""Framing 2, data link layer 6, common header 4, completer and requester 8."""

LANES = (1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 32.0)
LANE_BPS = {
    "gen1": 2.5e9 * 8 / 10,
    "gen2": 5e9 * 8 / 10,
    "gen3": 8e9 * 128 / 130,
    "gen4": 16e9 * 128 / 130,
    "gen5": 32e9 * 128 / 130,
}
"""Rate of a lane after its line code."""


@model
def pcie_link_bps(lane_count: ArrayLike, *, generation: Generation = "gen3") -> FloatArray:
    r"""Rate of a PCI Express link after its line code, in each direction.

    .. math:: R = n \, r

    Parameters
    ----------
    lane_count : array_like
        Lanes: 1, 2, 4, 8, 12, 16 or 32. [1]
    generation : {"gen1", "gen2", "gen3", "gen4", "gen5"}
        Generation of the link. [text]

    Returns
    -------
    numpy.ndarray
        Bits per second in each direction. [bit/s, line]

    Notes
    -----
    Validity: 8b/10b code up to gen2, 128b/130b from gen3 on. Acknowledgements, flow control and
    clock compensation take another 8 to 10 %: of the 63.0 Gbit/s of gen3 x8 some 57.9 are left for
    transactions.

    Typical: 63 Gbit/s for gen3 x8, 252 Gbit/s for gen4 x16.

    Range: everywhere.

    Symbols: :math:`n` lane_count. Not in the equation: generation (which gives the rate of a lane).

    Examples
    --------
    >>> round(float(pcie_link_bps(8, generation="gen3")) / 1e9, 2)
    63.02

    References
    ----------
    PCI Express Base Specification 5.0, 4.2 (rates and codes); Neugebauer et al., Understanding PCIe
    performance for end host networking, SIGCOMM 2018, section 3, doi:10.1145/3230543.3230560.
    """
    choice("generation", generation, tuple(LANE_BPS))
    lanes = whole("lane_count", lane_count, low=1)
    one_of("lane_count", lanes, LANES, "1, 2, 4, 8, 12, 16 or 32")
    return lanes * LANE_BPS[generation]


@model
def pcie_write_bytes(
    transfer_bytes: ArrayLike, *, max_payload_bytes: ArrayLike = 256
) -> FloatArray:
    r"""Bytes that a write to memory takes on PCI Express.

    .. math:: B = S + 24 \left\lceil \frac{S}{M} \right\rceil

    Parameters
    ----------
    transfer_bytes : array_like
        Bytes that are written: a received packet, a descriptor. [byte]
    max_payload_bytes : array_like
        Maximum payload size (MPS) of the link. [byte]

    Returns
    -------
    numpy.ndarray
        Bytes with all headers, from the device to the host. [byte]

    See Also
    --------
    pcie_read_bytes : A read.

    Notes
    -----
    Validity: aligned transfers, addresses of 64 bits, no end-to-end check sequence.

    Range: everywhere.

    Symbols: :math:`S` transfer_bytes, :math:`M` max_payload_bytes.

    Examples
    --------
    >>> float(pcie_write_bytes(1500))
    1644.0

    References
    ----------
    Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018, section
    3, doi:10.1145/3230543.3230560.
    """
    return _with_headers(transfer_bytes, max_payload_bytes, WRITE_HEADER_BYTES)


@model
def pcie_read_bytes(transfer_bytes: ArrayLike, *, max_payload_bytes: ArrayLike = 256) -> FloatArray:
    r"""Bytes that the data of a read from memory takes on PCI Express.

    .. math:: B = S + 20 \left\lceil \frac{S}{M} \right\rceil

    Parameters
    ----------
    transfer_bytes : array_like
        Bytes that are read: a packet to be sent, a descriptor. [byte]
    max_payload_bytes : array_like
        Maximum payload size (MPS) of the link. [byte]

    Returns
    -------
    numpy.ndarray
        Bytes with all headers, from the host to the device. [byte]

    See Also
    --------
    pcie_write_bytes : A write.

    Notes
    -----
    Validity: as :func:`pcie_write_bytes`; some hosts cut the data at 64 or 128 bytes whatever the
    maximum payload size: give that number then.

    Range: everywhere.

    Symbols: :math:`S` transfer_bytes, :math:`M` max_payload_bytes.

    Examples
    --------
    >>> float(pcie_read_bytes(1500))
    1620.0

    References
    ----------
    Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018, section
    3, doi:10.1145/3230543.3230560.
    """
    return _with_headers(transfer_bytes, max_payload_bytes, COMPLETION_HEADER_BYTES)


@model
def pcie_write_throughput_bps(
    transfer_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, max_payload_bytes: ArrayLike = 256
) -> FloatArray:
    r"""Largest rate at which a device writes to memory over PCI Express.

    .. math:: G = R \, \frac{S}{S + 24 \lceil S / M \rceil}

    Parameters
    ----------
    transfer_bytes : array_like
        Bytes of each write. [byte]
    bandwidth_bps : array_like
        Rate that is left for transactions, see :func:`pcie_link_bps`. [bit/s]
    max_payload_bytes : array_like
        Maximum payload size (MPS) of the link. [byte]

    Returns
    -------
    numpy.ndarray
        Data rate, without descriptors, doorbells and interrupts; nan for 0 bytes. [bit/s, payload]

    See Also
    --------
    pcie_read_throughput_bps : Reads.

    Notes
    -----
    Validity: as :func:`pcie_write_bytes`, with enough writes in flight.

    Typical: writes of 64 bytes get 73 % of the link, of 256 bytes 91 %, of 257 bytes 84 %.

    Range: everywhere.

    Symbols: :math:`S` transfer_bytes, :math:`R` bandwidth_bps, :math:`M` max_payload_bytes.

    Examples
    --------
    >>> round(float(pcie_write_throughput_bps(64, bandwidth_bps=57.88e9)) / 1e9, 2)
    42.09

    References
    ----------
    Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018, section
    3, doi:10.1145/3230543.3230560.
    """
    total = _with_headers(transfer_bytes, max_payload_bytes, WRITE_HEADER_BYTES)
    data = non_negative("transfer_bytes", transfer_bytes)
    return positive("bandwidth_bps", bandwidth_bps) * (data / total)


@model
def pcie_read_throughput_bps(
    transfer_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    max_payload_bytes: ArrayLike = 256,
    max_read_bytes: ArrayLike = 512,
) -> FloatArray:
    r"""Largest rate at which a device reads from memory over PCI Express.

    .. math::
        G = R \, \frac{S}{\max (S + 20 \lceil S / M \rceil, \; 24 \lceil S / Q \rceil)}

    Parameters
    ----------
    transfer_bytes : array_like
        Bytes of each read. [byte]
    bandwidth_bps : array_like
        Rate that is left for transactions, see :func:`pcie_link_bps`. [bit/s]
    max_payload_bytes : array_like
        Maximum payload size (MPS) of the link. [byte]
    max_read_bytes : array_like
        Maximum read request size (MRRS) of the device. [byte]

    Returns
    -------
    numpy.ndarray
        Data rate, without descriptors, doorbells and interrupts; nan for 0 bytes. [bit/s, payload]

    See Also
    --------
    pcie_write_throughput_bps : Writes.

    Notes
    -----
    Validity: as :func:`pcie_read_bytes`, with enough reads in flight: a read takes 400 to 1000 ns,
    so that some 50 reads of 64 bytes must be outstanding to fill 40 Gbit/s.

    Range: everywhere.

    Symbols: :math:`S` transfer_bytes, :math:`R` bandwidth_bps, :math:`M` max_payload_bytes,
    :math:`Q` max_read_bytes.

    Examples
    --------
    >>> round(float(pcie_read_throughput_bps(64, bandwidth_bps=57.88e9)) / 1e9, 2)
    44.1

    References
    ----------
    Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018, section
    3, doi:10.1145/3230543.3230560.
    """
    total = _with_headers(transfer_bytes, max_payload_bytes, COMPLETION_HEADER_BYTES)
    data = non_negative("transfer_bytes", transfer_bytes)
    request = positive("max_read_bytes", max_read_bytes)
    asked = READ_HEADER_BYTES * _pieces(data, request)
    most = keep_nan(np.maximum(total, asked), total, asked)
    return positive("bandwidth_bps", bandwidth_bps) * (data / most)


def _with_headers(
    transfer_bytes: ArrayLike, max_payload_bytes: ArrayLike, header: float
) -> FloatArray:
    data = non_negative("transfer_bytes", transfer_bytes)
    return data + header * _pieces(data, positive("max_payload_bytes", max_payload_bytes))


def _pieces(data: FloatArray, most: FloatArray) -> FloatArray:
    """Return into how many packets data is cut: one at least, unless there is none."""
    return np.maximum(rounded_up(data / most), data > 0.0)
