"""Telephone calls: the trunks they need, and the bits of these calls on the line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, choice, flag, positive, ratio, rounded_down, up_to, whole
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
    "calls_line_bps": "line", "calls_frame_bps": FRAME, "calls_ip_bps": "IP", "calls_rate_pps": "",
    "call_line_bps": "line", "call_frame_bps": FRAME, "call_ip_bps": "IP", "packet_bytes": "IP",
    "call_rate_pps": "", "line_call_count": "", "line_blocking_ratio": "",
}  # fmt: skip


_WHOLE = {False: ("trunk_count", "trunks_line_bps"), True: ("concurrent_count", "calls_line_bps")}
"""How many calls there are at most, and their rate: of attempts, and of calls at the same time."""
_ABSENT = {False: ("concurrent_count",), True: ("calls_per_second", "holding_s", "blocking_ratio")}
"""Inputs that a plan of attempts, and one of calls at the same time, has not."""


@one_page
def voice(
    calls_per_second: Any = None,
    *,
    concurrent_count: Any = None,
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
    calls_per_second : float or range, optional
        Call attempts in the busy hour. [1/s]
    concurrent_count : float or range, optional
        Calls at the same time, in place of attempts: then nothing is blocked. [1]
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
        ``call_rate_pps``; with a line ``line_call_count`` and ``line_blocking_ratio``. Of calls at
        the same time ``calls_line_bps``, ``calls_frame_bps``, ``calls_ip_bps`` and
        ``calls_rate_pps`` in place of trunks, load and blocking.

    Raises
    ------
    DomainError
        If a number or a name is impossible, the interval holds no whole number of frames, or
        attempts and calls at the same time are both given, or neither.

    Examples
    --------
    >>> plan = voice(1200 / 3600, holding_s=180, codec_name="G.729")
    >>> plan["trunk_count"], plan["trunks_line_bps"]
    (75.0, 2940000.0)
    >>> calls = voice(concurrent_count=200)
    >>> calls["calls_rate_pps"], calls["calls_line_bps"]
    (10000.0, 19040000.0)
    """
    if (calls_per_second is None) == (concurrent_count is None):
        raise DomainError("attempts-or-calls", "calls_per_second", calls_per_second)
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
    at_once = concurrent_count is not None
    inputs = with_units(
        calls_per_second=calls_per_second,
        concurrent_count=concurrent_count,
        holding_s=None if at_once else holding_s,
        blocking_ratio=None if at_once else blocking_ratio,
        bandwidth_bps=bandwidth_bps,
    )
    inputs = {name: pair for name, pair in inputs.items() if name not in _ABSENT[at_once]}
    evaluated = evaluate(answers_of, inputs, _TABLE, draws=draws, seed=seed, truncate=truncate)
    columns, typical = evaluated.columns, evaluated.typical
    count, all_bps = _WHOLE[at_once]
    steps = []
    for change, other, other_s in _alternatives(own.name, interval):
        size = tag + frames_payload_bytes(codec(other), interval_s=other_s)
        rate_bps = columns[count] * 8.0 * sizes(size + headers)["line"] / other_s
        if rate_bps < columns[all_bps]:
            steps.append(Step(change=change, name=all_bps, value=rate_bps, layer="line"))
    enough = typical.get("line_call_count", np.inf) >= typical[count]
    values = {
        "erlang": f"{typical.get('offered_erlang', 0):.4g}",
        "trunks": f"{typical[count]:,.0f}",
        "count": int(typical[count]),
        "rate_bps": typical[all_bps],
        "rate_pps": typical.get("calls_rate_pps", 0.0),
        "calls": f"{typical.get('line_call_count', 0):,.0f}",
        "share": typical.get("line_blocking_ratio", 0.0),
    }
    said = "plan-voice" if enough else "plan-voice-short"
    if at_once:
        said = "plan-calls" if enough else "plan-calls-short"
    settings = with_units(codec=own.name, interval_s=interval, stack=stack, link=link)
    return evaluated.page(
        "voice",
        Notice(said, values),
        settings=settings,
        binding="" if bandwidth_bps is None else count if enough else "line_call_count",
        steps=tuple(steps),
        assumptions=(
            Notice("assumes-voice-packets", {"interval_s": interval, "codec": own.name}),
            *([] if at_once else [Notice("assumes-voice-calls", {})]),
        ),
        chart=_calls_chart(columns) if at_once else _chart(columns),
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
    calls_per_second: ArrayLike | None = None,
    concurrent_count: ArrayLike | None = None,
    holding_s: ArrayLike = 0.0,
    blocking_ratio: ArrayLike = 0.0,
    bandwidth_bps: ArrayLike | None = None,
    sizes: Mapping[str, float],
    interval_s: float,
) -> dict[str, FloatArray | float]:
    call_bps = {layer: 8.0 * size / interval_s for layer, size in sizes.items()}
    of_call: dict[str, FloatArray | float] = {
        "call_line_bps": call_bps["line"],
        "call_frame_bps": call_bps["frame"],
        "call_ip_bps": call_bps["ip"],
        "packet_bytes": sizes["ip"],
        "call_rate_pps": 1.0 / interval_s,
    }
    carried = None
    if bandwidth_bps is not None:
        carried = rounded_down(positive("bandwidth_bps", bandwidth_bps) / call_bps["line"])
    if calls_per_second is None:
        assert concurrent_count is not None
        calls = whole("concurrent_count", concurrent_count, low=1)
        up_to("concurrent_count", calls, _MOST_DRAWN)
        every = {f"calls_{layer}_bps": calls * each for layer, each in call_bps.items()}
        columns = {**of_call, **every, "calls_rate_pps": calls / interval_s}
        columns |= {"concurrent_count": calls}
        return columns if carried is None else {**columns, "line_call_count": carried}
    positive("blocking_ratio", ratio("blocking_ratio", blocking_ratio))  # 0 needs no end of trunks
    offered = positive("calls_per_second", calls_per_second) * positive("holding_s", holding_s)
    trunks = erlang_b_server_count(offered, blocking_ratio=blocking_ratio)
    try:
        blocked = erlang_b_ratio(offered, server_count=trunks)
    except DomainError as error:  # of a number that nobody typed
        raise _too_many_trunks(error, calls_per_second, trunks) from None
    columns = {
        **of_call,
        "trunk_count": trunks,
        "trunks_line_bps": trunks * call_bps["line"],
        "offered_erlang": offered,
        "blocking_ratio": blocked,
    }
    if carried is not None:
        columns["line_call_count"] = carried
        columns["line_blocking_ratio"] = erlang_b_ratio(offered, server_count=carried)
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


def _calls_chart(columns: Mapping[str, float]) -> Chart:
    """Return the rate of calls at the same time over their number."""
    calls = columns["concurrent_count"]
    counts = np.unique(np.round(np.linspace(1.0, 2.0 * calls, int(min(2.0 * calls, _POINTS)))))
    return Chart(
        x="concurrent_count", x_unit="1", y="calls_line_bps", y_unit="bit/s", at=counts,
        lines={"calls_line_bps": counts * columns["call_line_bps"]},
        marks={"concurrent_count": (calls, columns["calls_line_bps"])},
    )  # fmt: skip
