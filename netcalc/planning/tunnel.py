"""A tunnel: its MTU, its MSS, and what it leaves of a line, for full segments and for a mix."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, non_negative, positive
from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.models.sizes import encapsulation, headers
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.planning.page import Chart, Plan, Step, evaluate, one_page, with_units
from netcalc.rate_layers import IP

IMIX = dict(zip(headers.SIMPLE_IMIX_BYTES, headers.SIMPLE_IMIX_WEIGHTS, strict=True))
"""Weights of the simple IMIX by the size of the IP packets."""
SOURCES = (
    "RFC 4459 (MTU and fragmentation in tunnels); RFC 4303, RFC 7348 and others by layer",
    "IEEE 802.3 (frames)",
)
_STEPS_BYTES = 600.0  # more headers than a stack has that is used anywhere
_TABLE = {
    "tunnel_mtu_bytes": "IP", "tunnel_mss_bytes": "TCP payload",
    "tunnel_goodput_bps": "TCP payload", "tunnel_efficiency": "", "plain_efficiency": "",
    "tunnel_overhead_bytes": "IP", "mix_bps": IP, "mix_rate_pps": "", "mix_efficiency": "",
    "plain_mix_efficiency": "",
}  # fmt: skip


@one_page
def tunnel(
    stack: str,
    *,
    bandwidth_bps: Any = 1e9,
    mtu_bytes: Any = 1500.0,
    ip_version: int = 4,
    tcp_option_bytes: float = headers.TIMESTAMP_BYTES,
    tag_count: int = 0,
    mix: Mapping[float, float] | None = None,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> Plan:
    """Plan a stack of tunnels over Ethernet: MTU, MSS and goodput.

    Parameters
    ----------
    stack : str
        Layers, outermost first, as :mod:`netcalc.models.sizes.encapsulation` writes them.
    bandwidth_bps : float or range
        Rate of the line. [bit/s]
    mtu_bytes : float or range
        Largest packet of the path. [byte]
    ip_version : int
        Version of the packets in the tunnel, 4 or 6. [1]
    tcp_option_bytes : float
        TCP options of data segments: 12 B with timestamps. [byte]
    tag_count : int
        802.1Q or 802.1ad tags of the outer frame. [1]
    mix : mapping of float to float, optional
        Weights of IP packets by size; by default :data:`IMIX`. Packets above the MTU of the tunnel
        are counted at it. [byte]
    draws, seed : int
        Of the ranges, as in :func:`netcalc.uncertain.spread`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges, with a note, instead of an error.

    Returns
    -------
    Plan
        Answers ``tunnel_mtu_bytes``, ``tunnel_mss_bytes`` (to announce, without options),
        ``tunnel_goodput_bps``, ``tunnel_efficiency``, ``plain_efficiency`` (without the tunnel),
        ``tunnel_overhead_bytes`` (of a full packet), ``mix_bps``, ``mix_rate_pps``,
        ``mix_efficiency``, ``plain_mix_efficiency``.

    Raises
    ------
    DomainError
        If the stack is unknown, its headers do not fit, or a number is impossible.

    Examples
    --------
    >>> plan = tunnel("wireguard6")
    >>> plan["tunnel_mtu_bytes"], plan["tunnel_mss_bytes"]
    (1420.0, 1380.0)
    """
    sizes, weights = _mix(IMIX if mix is None else mix)
    answers_of = partial(
        _answers,
        stack=stack,
        ip_version=ip_version,
        tcp_option_bytes=tcp_option_bytes,
        tag_count=tag_count,
        sizes=sizes,
        weights=weights,
    )
    inputs = with_units(bandwidth_bps=bandwidth_bps, mtu_bytes=mtu_bytes)
    evaluated = evaluate(answers_of, inputs, _TABLE, draws=draws, seed=seed, truncate=truncate)
    columns, middle = evaluated.columns, evaluated.middle
    largest = max(middle["mtu_bytes"], 1500.0)
    outer_bytes = np.arange(largest, min(largest + _STEPS_BYTES, headers.MAX_PACKET_BYTES))
    enough = outer_bytes[
        encapsulation.tunnel_mtu_bytes(outer_bytes, stack=stack) >= middle["mtu_bytes"]
    ]
    steps = []
    if enough.size and enough[0] > middle["mtu_bytes"]:
        outer = float(enough[0])
        rate_bps = encapsulation.tunnel_goodput_bps(
            outer,
            stack=stack,
            bandwidth_bps=middle["bandwidth_bps"],
            ip_version=ip_version,
            tcp_option_bytes=tcp_option_bytes,
            tag_count=tag_count,
        )
        change = Notice("step-tunnel-mtu", {"mtu_bytes": outer, "inner_bytes": middle["mtu_bytes"]})
        step = Step(
            change=change, name="tunnel_goodput_bps", value=float(rate_bps),
            layer="TCP payload",
        )  # fmt: skip
        steps.append(step)
    values = {
        "stack": stack,
        "mtu_bytes": columns["tunnel_mtu_bytes"],
        "mss_bytes": columns["tunnel_mss_bytes"],
        "share": columns["tunnel_efficiency"],
        "plain": columns["plain_efficiency"],
    }
    settings = {
        "stack": (stack, "text"),
        "ip_version": (ip_version, "1"),
        "tcp_option_bytes": (tcp_option_bytes, "byte"),
        "tag_count": (tag_count, "1"),
        "mix_bytes": (sizes.tolist(), "byte"),
        "mix_weights": (weights.tolist(), "1"),
    }
    return evaluated.page(
        "tunnel",
        Notice("plan-no-tunnel" if stack.strip().lower() == "none" else "plan-tunnel", values),
        settings=settings,
        worst_percent=5.0,
        steps=tuple(steps),
        assumptions=(
            Notice("assumes-tunnel-fit", {"mss_bytes": columns["tunnel_mss_bytes"]}),
            Notice("assumes-tunnel-mix", {"sizes": [f"{size:g} B" for size in sizes]}),
        ),
        chart=_chart(stack, middle["mtu_bytes"], columns["tunnel_mtu_bytes"], tag_count),
        sources=SOURCES,
    )


def _mix(mix: Mapping[float, float]) -> tuple[FloatArray, FloatArray]:
    """Return the sizes and the weights of a mix."""
    sizes = positive("mix", list(mix))
    weights = non_negative("mix", list(mix.values()))
    if not weights.sum() > 0:
        raise DomainError("no-weight", "mix", weights.tolist())
    return sizes, weights


def _answers(
    *,
    bandwidth_bps: ArrayLike,
    mtu_bytes: ArrayLike,
    stack: str,
    ip_version: int,
    tcp_option_bytes: float,
    tag_count: int,
    sizes: FloatArray,
    weights: FloatArray,
) -> dict[str, ArrayLike]:
    line = positive("bandwidth_bps", bandwidth_bps)
    between("mtu_bytes", mtu_bytes, 0.0, headers.MAX_PACKET_BYTES)
    inner = encapsulation.tunnel_mtu_bytes(mtu_bytes, stack=stack)
    _check_room(mtu_bytes, inner, headers.tcp_ip_header_bytes(ip_version, tcp_option_bytes))
    goodput, plain = (
        encapsulation.tunnel_goodput_bps(
            mtu_bytes,
            stack=layers,
            bandwidth_bps=line,
            ip_version=ip_version,
            tcp_option_bytes=tcp_option_bytes,
            tag_count=tag_count,
        )
        for layers in (stack, "none")
    )
    carried = wire = plain_carried = plain_wire = np.zeros(())
    share = weights / weights.sum()
    for size, weight in zip(sizes, share, strict=True):
        fits = np.minimum(size, inner)
        carried = carried + weight * fits
        wire = wire + weight * encapsulation.tunnel_wire_bytes(
            fits, stack=stack, mtu_bytes=mtu_bytes, tag_count=tag_count
        )
        whole = np.minimum(size, mtu_bytes)
        plain_carried = plain_carried + weight * whole
        plain_wire = plain_wire + weight * ethernet_wire_bytes(whole, tag_count=tag_count)
    return {
        "tunnel_mtu_bytes": inner,
        "tunnel_mss_bytes": encapsulation.tunnel_tcp_payload_bytes(
            mtu_bytes, stack=stack, ip_version=ip_version
        ),
        "tunnel_goodput_bps": goodput,
        "tunnel_efficiency": goodput / line,
        "plain_efficiency": plain / line,
        "tunnel_overhead_bytes": encapsulation.tunnel_overhead_bytes(
            inner, stack=stack, mtu_bytes=mtu_bytes
        ),
        "mix_bps": line * carried / wire,
        "mix_rate_pps": line / (8.0 * wire),
        "mix_efficiency": carried / wire,
        "plain_mix_efficiency": plain_carried / plain_wire,
    }


def _check_room(mtu_bytes: ArrayLike, inner: FloatArray, header_bytes: FloatArray) -> None:
    """Refuse an MTU of which a tunnel leaves too little for the headers of TCP."""
    short = np.asarray((inner < header_bytes) & (inner < np.asarray(mtu_bytes)))
    if short.any():
        first = int(np.flatnonzero(short)[0])
        mtu, left = (
            float(np.broadcast_to(sizes, short.shape).flat[first]) for sizes in (mtu_bytes, inner)
        )
        raise DomainError(
            "tunnel-too-small", "mtu_bytes", mtu, left_bytes=left,
            needed_bytes=float(header_bytes), index=None if short.size == 1 else first,
        )  # fmt: skip


def _chart(stack: str, mtu_bytes: float, inner_bytes: float, tag_count: int) -> Chart:
    at = np.arange(20.0, inner_bytes + 1.0)
    wire = encapsulation.tunnel_wire_bytes(
        at, stack=stack, mtu_bytes=mtu_bytes, tag_count=tag_count
    )
    outer = encapsulation.tunnel_packet_bytes(inner_bytes, stack=stack, mtu_bytes=mtu_bytes)
    full = inner_bytes / float(ethernet_wire_bytes(outer, tag_count=tag_count))
    return Chart(
        x="mix_bytes", x_unit="byte", y="packet_efficiency", y_unit="ratio", at=at,
        lines={
            "through_tunnel": at / wire,
            "plain_efficiency": at / ethernet_wire_bytes(at, tag_count=tag_count),
        },
        marks={"tunnel_mtu_bytes": (inner_bytes, full)},
    )  # fmt: skip
