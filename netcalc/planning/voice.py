"""Telephone calls: the trunks they need, and the bits of these calls on the line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, choice, flag, positive, ratio, rounded_down
from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.models.queues.erlang import erlang_b_ratio, erlang_b_server_count
from netcalc.models.rates.codecs import CODECS, codec, frames_payload_bytes
from netcalc.models.rates.voice import LINK_LAYERS, RTP_UDP_IPV4_BYTES
from netcalc.models.sizes.encapsulation import tunnel_packet_bytes, tunnel_wire_bytes
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import ip_header_bytes
from netcalc.planning.page import Chart, Plan, Step, evaluate, one_page, with_units
from netcalc.rate_layers import FRAME

LINKS = {"ethernet": "Ethernet", "ppp": "PPP"}
"""Link layers of a call; PPP is multilink PPP, or FRF.12 on frame relay."""
SRTP_TAG_BYTES = 10.0
"""Authentication tag of SRTP with HMAC-SHA1-80, RFC 3711. [byte]"""
SOURCES = (
    "ITU-T E.520; Jagerman, Bell System Technical Journal 53 (1974) (Erlang B)",
    "Cisco, Voice over IP - per call bandwidth consumption",
    "RFC 3550, RFC 3551",
)
_TABLE = {
    "trunk_count": "", "trunks_line_bps": "line", "offered_erlang": "", "blocking_ratio": "",
    "call_line_bps": "line", "call_frame_bps": FRAME, "call_ip_bps": "IP", "packet_bytes": "IP",
    "call_rate_pps": "", "line_call_count": "", "line_blocking_ratio": "",
}  # fmt: skip


@one_page
def voice(
    calls_per_second: Any,
    *,
    holding_s: Any = 180.0,
    codec_name: str = "G.711",
    interval_s: float | None = None,
    blocking_ratio: Any = 0.01,
    stack: str = "none",
    link: str = "ethernet",
    ip_version: int = 4,
    srtp: bool = False,
    bandwidth_bps: Any = None,
    mtu_bytes: float = 1500.0,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> Plan:
    """Plan the trunks of telephone calls, and their bandwidth in each direction.

    Parameters
    ----------
    calls_per_second : float or range
        Call attempts in the busy hour. [1/s]
    holding_s : float or range
        Mean holding time of a call. [s]
    codec_name : str
        Codec, one of :data:`netcalc.models.rates.codecs.CODECS`.
    interval_s : float, optional
        Time of voice in a packet; by default the codec's, mostly 20 ms. [s]
    blocking_ratio : float or range
        Calls that may find all trunks busy. [ratio]
    stack : str
        Layers of a tunnel, outermost first, such as ``wireguard4`` or ``gre+esp4``.
    link : {'ethernet', 'ppp'}
        Link layer of the line.
    ip_version : int
        4 or 6. [1]
    srtp : bool
        Voice encrypted by SRTP.
    bandwidth_bps : float or range, optional
        Rate of an existing line: how many calls it carries, and what it blocks. [bit/s]
    mtu_bytes : float
        Largest packet of the path. [byte]
    draws, seed : int
        Of the ranges, as in :func:`netcalc.uncertain.spread`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges, with a note, instead of an error.

    Returns
    -------
    Plan
        Answers ``trunk_count``, ``trunks_line_bps``, ``offered_erlang``, ``blocking_ratio``,
        ``call_line_bps``, ``call_frame_bps``, ``call_ip_bps``, ``packet_bytes``,
        ``call_rate_pps``; with a line ``line_call_count`` and ``line_blocking_ratio``.

    Raises
    ------
    DomainError
        If a number or a name is impossible, or the interval holds no whole number of frames.

    Examples
    --------
    >>> plan = voice(1200 / 3600, holding_s=180, codec_name="G.729")
    >>> plan["trunk_count"], plan["trunks_line_bps"]
    (75.0, 2940000.0)
    """
    own = codec(codec_name)
    interval = own.interval_s if interval_s is None else float(positive("interval_s", interval_s))
    tag = SRTP_TAG_BYTES if flag("srtp", srtp) else 0.0
    payload = frames_payload_bytes(own, interval_s=interval) + tag
    choice("link", link, tuple(LINKS))
    if link == "ppp" and stack not in ("", "none"):
        raise DomainError("tunnel-without-ethernet", "stack", stack, link=LINKS[link])
    headers = RTP_UDP_IPV4_BYTES - ip_header_bytes(4) + ip_header_bytes(ip_version)
    sizes = partial(_sizes, stack=stack, link=link, mtu_bytes=mtu_bytes)
    answers_of = partial(_answers, sizes=sizes(payload + headers), interval_s=interval)
    inputs = with_units(
        calls_per_second=calls_per_second,
        holding_s=holding_s,
        blocking_ratio=blocking_ratio,
        bandwidth_bps=bandwidth_bps,
    )
    evaluated = evaluate(answers_of, inputs, _TABLE, draws=draws, seed=seed, truncate=truncate)
    columns, typical = evaluated.columns, evaluated.typical
    steps = []
    for change, other, other_s in _alternatives(own.name, interval):
        size = tag + frames_payload_bytes(codec(other), interval_s=other_s)
        rate_bps = columns["trunk_count"] * 8.0 * sizes(size + headers)["line"] / other_s
        if rate_bps < columns["trunks_line_bps"]:
            step = Step(change=change, name="trunks_line_bps", value=rate_bps, layer="line")
            steps.append(step)
    enough = typical.get("line_call_count", np.inf) >= typical["trunk_count"]
    values = {
        "erlang": f"{typical['offered_erlang']:.4g}",
        "trunks": f"{typical['trunk_count']:,.0f}",
        "rate_bps": typical["trunks_line_bps"],
        "calls": f"{typical.get('line_call_count', 0):,.0f}",
        "share": typical.get("line_blocking_ratio", 0.0),
    }
    settings = with_units(codec=own.name, interval_s=interval, stack=stack, link=link)
    return evaluated.page(
        "voice",
        Notice("plan-voice" if enough else "plan-voice-short", values),
        settings=settings,
        binding="" if bandwidth_bps is None else "trunk_count" if enough else "line_call_count",
        steps=tuple(steps),
        assumptions=(
            Notice("assumes-voice-packets", {"interval_s": interval, "codec": own.name}),
            Notice("assumes-voice-calls", {}),
        ),
        chart=_chart(columns),
        sources=SOURCES,
    )


def _sizes(packet_bytes: float, *, stack: str, link: str, mtu_bytes: float) -> dict[str, float]:
    """Return the bytes of a packet of voice in its tunnel: IP, frame and line."""
    outer = tunnel_packet_bytes(packet_bytes, stack=stack, mtu_bytes=mtu_bytes)
    if link == "ppp":
        framed = float(outer) + LINK_LAYERS["ppp"]
        return {"ip": float(outer), "frame": framed, "line": framed}
    wire = tunnel_wire_bytes(packet_bytes, stack=stack, mtu_bytes=mtu_bytes)
    return {"ip": float(outer), "frame": float(ethernet_frame_bytes(outer)), "line": float(wire)}


def _answers(
    *,
    calls_per_second: ArrayLike,
    holding_s: ArrayLike,
    blocking_ratio: ArrayLike,
    bandwidth_bps: ArrayLike | None = None,
    sizes: Mapping[str, float],
    interval_s: float,
) -> dict[str, FloatArray | float]:
    positive("blocking_ratio", ratio("blocking_ratio", blocking_ratio))  # 0 needs no end of trunks
    offered = positive("calls_per_second", calls_per_second) * positive("holding_s", holding_s)
    trunks = erlang_b_server_count(offered, blocking_ratio=blocking_ratio)
    try:
        blocked = erlang_b_ratio(offered, server_count=trunks)
    except DomainError as error:  # of a number that nobody typed
        raise _too_many_trunks(error, calls_per_second, trunks) from None
    call_bps = 8.0 * sizes["line"] / interval_s
    columns: dict[str, FloatArray | float] = {
        "trunk_count": trunks,
        "trunks_line_bps": trunks * call_bps,
        "offered_erlang": offered,
        "blocking_ratio": blocked,
        "call_line_bps": call_bps,
        "call_frame_bps": 8.0 * sizes["frame"] / interval_s,
        "call_ip_bps": 8.0 * sizes["ip"] / interval_s,
        "packet_bytes": sizes["ip"],
        "call_rate_pps": 1.0 / interval_s,
    }
    if bandwidth_bps is not None:
        calls = rounded_down(positive("bandwidth_bps", bandwidth_bps) / call_bps)
        columns["line_call_count"] = calls
        columns["line_blocking_ratio"] = erlang_b_ratio(offered, server_count=calls)
    return columns


def _too_many_trunks(
    error: DomainError, calls_per_second: ArrayLike, trunks: FloatArray
) -> DomainError:
    """Return an error about trunks as one about the calls that need them."""
    if error.name != "server_count":
        return error
    trunks, high = np.asarray(trunks), error.values["high"]
    first = int(np.flatnonzero(trunks > high)[0])
    calls = float(np.broadcast_to(calls_per_second, np.shape(trunks)).flat[first])
    return DomainError(
        "too-many-trunks", "calls_per_second", calls, high=high,
        trunks=float(trunks.flat[first]), index=None if trunks.size == 1 else first,
    )  # fmt: skip


def _alternatives(name: str, interval_s: float) -> list[tuple[Notice, str, float]]:
    """Return codecs and intervals that would take fewer bits."""
    longer = 2.0 * interval_s
    values = {"interval_s": longer, "more_s": interval_s}
    alternatives = [(Notice("step-voice-interval", values), name, longer)]
    other = CODECS["g.729"]
    if name != other.name:
        change = Notice("step-voice-codec", {"codec": other.name})
        alternatives.append((change, other.name, other.interval_s))
    return alternatives


_POINTS = 2000
_MOST_DRAWN = 1e7
"""Trunks at which the curve ends, as the model of Erlang does."""


def _chart(columns: Mapping[str, float]) -> Chart:
    trunks = columns["trunk_count"]
    low = float(max(1.0, np.floor(trunks / 2)))
    high = max(trunks, min(float(np.ceil(trunks * 1.5)) + 1.0, _MOST_DRAWN))
    counts = np.unique(np.round(np.linspace(low, high, int(min(high - low + 1.0, _POINTS)))))
    blocked = erlang_b_ratio(columns["offered_erlang"], server_count=counts)
    return Chart(
        x="trunk_count", x_unit="1", y="blocking_ratio", y_unit="ratio", at=counts,
        lines={"blocking_ratio": np.asarray(blocked)},
        marks={"trunk_count": (trunks, columns["blocking_ratio"])},
        log_y=True,
    )  # fmt: skip
