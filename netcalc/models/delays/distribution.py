r"""Distribution of a file to many: one server, or the receivers among themselves (peer to peer)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive, whole


@model
def client_server_distribution_s(
    peer_count: ArrayLike,
    *,
    payload_bytes: ArrayLike,
    server_bps: ArrayLike,
    download_bps: ArrayLike,
) -> FloatArray:
    r"""Least time for a server to give a file to all of its clients.

    .. math:: t = \max \left( \frac{8 N F}{u_s}, \; \frac{8 F}{d} \right)

    Parameters
    ----------
    peer_count : array_like
        Clients. [1]
    payload_bytes : array_like
        Size of the file. [byte]
    server_bps : array_like
        Rate at which the server sends. [bit/s]
    download_bps : array_like
        Rate at which the slowest client receives. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time until the last client has the file. [s]

    See Also
    --------
    peer_to_peer_distribution_s : Clients that help.

    Notes
    -----
    Validity: a lower bound that a fluid reaches; only the access links limit.

    Range: everywhere.

    Symbols: :math:`N` peer_count, :math:`F` payload_bytes, :math:`u_s` server_bps, :math:`d`
    download_bps.

    Examples
    --------
    >>> time = client_server_distribution_s(
    ...     1000, payload_bytes=15e9 / 8, server_bps=30e6, download_bps=2e6
    ... )
    >>> float(time)
    500000.0

    References
    ----------
    Kurose and Ross, Computer Networking, 8th ed., 2.5, equation 2.1.
    """
    count = whole("peer_count", peer_count, low=1)
    payload = non_negative("payload_bytes", payload_bytes)
    served = payload * (8.0 / positive("server_bps", server_bps) * count)
    return np.maximum(served, payload * (8.0 / positive("download_bps", download_bps)))


@model
def peer_to_peer_distribution_s(
    peer_count: ArrayLike,
    *,
    payload_bytes: ArrayLike,
    server_bps: ArrayLike,
    download_bps: ArrayLike,
    upload_bps: ArrayLike,
) -> FloatArray:
    r"""Least time to give a file to all peers, which send it on to each other.

    .. math::
        t = \max \left( \frac{8 F}{u_s}, \; \frac{8 F}{d}, \; \frac{8 N F}{u_s + N u} \right)

    Parameters
    ----------
    peer_count : array_like
        Peers that want the file. [1]
    payload_bytes : array_like
        Size of the file. [byte]
    server_bps : array_like
        Rate at which the server sends. [bit/s]
    download_bps : array_like
        Rate at which the slowest peer receives. [bit/s]
    upload_bps : array_like
        Mean rate at which a peer sends. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time until the last peer has the file. [s]

    See Also
    --------
    client_server_distribution_s : Clients that do not help.

    Notes
    -----
    Validity: a lower bound that a fluid reaches: each peer can send a bit on as soon as it has it,
    and stays until the last has the file.

    Range: everywhere.

    Symbols: :math:`N` peer_count, :math:`F` payload_bytes, :math:`u_s` server_bps, :math:`d`
    download_bps, :math:`u` upload_bps.

    Examples
    --------
    >>> time = peer_to_peer_distribution_s(
    ...     1000, payload_bytes=15e9 / 8, server_bps=30e6, download_bps=2e6, upload_bps=300e3
    ... )
    >>> round(float(time))
    45455

    References
    ----------
    Kurose and Ross, Computer Networking, 8th ed., 2.5, equation 2.2; Kumar and Ross, Peer-assisted
    file distribution: the minimum distribution time, HotWeb 2006.
    """
    count = whole("peer_count", peer_count, low=1)
    payload = non_negative("payload_bytes", payload_bytes)
    server = positive("server_bps", server_bps)
    together = 8.0 / (server / count + non_negative("upload_bps", upload_bps))
    alone = np.maximum(8.0 / server, 8.0 / positive("download_bps", download_bps))
    return payload * np.maximum(alone, together)
