"""What a segment takes on a line, and how long a sender takes: rounds with pauses, and the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, non_negative, note_outside_range, positive
from netcalc.models.sizes.framing import tcp_payload_bytes
from netcalc.models.sizes.headers import (
    FCS_BYTES,
    MAC_HEADER_BYTES,
    MIN_FRAME_BYTES,
    PREAMBLE_AND_GAP_BYTES,
)
from netcalc.models.tcp.slow_start import rounds

FEWEST_LOSSES = 0.3
"""Expected losses of a transfer below which three in four have none. [1]"""

ETHERNET_BYTES = MAC_HEADER_BYTES + FCS_BYTES + PREAMBLE_AND_GAP_BYTES
"""Around each packet of at least 46 bytes: header and FCS (18), preamble and gap (20). [byte]"""

_LEAST_WIRE_BYTES = MIN_FRAME_BYTES + PREAMBLE_AND_GAP_BYTES
_WHOLE = 1e-9  # what a quotient may be above a whole number of segments by rounding alone


def wire_sizes(
    mtu_bytes: ArrayLike,
    *,
    ip_version: int,
    tcp_option_bytes: ArrayLike,
    link_bytes: ArrayLike,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the payload of a full segment, and on the line that segment and a bare ACK.

    A link with the bytes of Ethernet or more around a packet pads its frames as Ethernet does.
    """
    mss = tcp_payload_bytes(mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes)
    link = non_negative("link_bytes", link_bytes)
    least = np.where(link >= ETHERNET_BYTES, _LEAST_WIRE_BYTES, 0.0)
    packet = positive("mtu_bytes", mtu_bytes)
    return mss, np.maximum(packet + link, least), np.maximum(packet - mss + link, least)


def line_segments(
    payload: FloatArray, *, mss: FloatArray, wire: FloatArray, mtu: FloatArray, link: FloatArray
) -> FloatArray:
    """Return how many full segments take as long on the line as a payload's segments.

    The last one is shorter, with the same headers; Ethernet pads it as in :func:`wire_sizes`.
    """
    full = payload / mss
    last = payload - np.floor(full + _WHOLE) * mss
    around = mtu - mss + link
    least = np.where(link >= ETHERNET_BYTES, _LEAST_WIRE_BYTES, 0.0)
    sent = np.maximum(last + around, least)
    is_short = np.isfinite(last) & (last > _WHOLE * mss)
    return np.asarray(full + np.where(is_short, sent / wire - last / mss, 0.0))


def sending_parts(
    segments: FloatArray,
    clock_s: FloatArray,
    base_rtt_s: FloatArray,
    first: FloatArray,
    growth: FloatArray,
    largest: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the time of the rounds in which the window grows, and the time of the rest.

    ``clock_s`` is the serialization of a segment, ``base_rtt_s`` the round trip without it, and
    ``largest`` the window at which growth ends; windows are in segments.
    """
    first = np.minimum(first, largest)
    cycle_s = base_rtt_s + clock_s
    full_line = np.where(clock_s > 0, cycle_s / clock_s, np.inf)
    growing = np.ceil(np.log2(np.minimum(full_line, largest) / first) / np.log2(growth) - 1e-9)
    pauses = np.minimum(
        np.maximum(growing, 0),
        np.maximum(rounds(segments, initial_window_segments=first, growth=growth) - 1, 0),
    )
    left = segments - first * ((growth**pauses - 1) / (growth - 1))
    # Where the largest window is below a full line, every further round pauses as well.
    capped = largest * clock_s < cycle_s
    more = np.where(capped, np.maximum(np.ceil(left / largest - 1e-9) - 1, 0), 0)
    left = left - np.where(more > 0, more * largest, 0)
    return pauses * cycle_s, more * cycle_s + left * clock_s


def note_few_losses(formula: Callable[..., Any], expected: FloatArray) -> None:
    """Note a number of losses after which a flow still falls from the window of slow start.

    Where most transfers have none, the time is that without loss, which is right.
    """
    note_outside_range(
        formula, code="few-losses", where=expected >= FEWEST_LOSSES, loss_count=expected
    )
