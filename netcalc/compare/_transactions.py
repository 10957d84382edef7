"""One request and one response: by size, over a path or on the host alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from netcalc.checks import FloatArray, choice
from netcalc.compare._comparison import (
    TCP_HEADERS_BYTES,
    Comparison,
    emulated_path,
    points,
)
from netcalc.compare._exchange import exchange_over
from netcalc.fit import Costs
from netcalc.fit import datagram_costs as datagram_fit
from netcalc.models.sizes.fragmentation import fragment_count
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.models.tcp.handshakes import round_trips
from netcalc.path import Path
from netcalc.samples import (
    TransactionSamples,
)
from netcalc.units import show

SEGMENT_BYTES = 1448
"""User data of a full segment with time stamps on a path of 1500 bytes. [byte]"""
OPENING_BYTES, COOKIE_BYTES = 60, 12
"""The packet that opens a stream, with the options of Linux; the cookie of Fast Open. [byte]"""
OPENING_PAYLOAD_BYTES = 1500 - OPENING_BYTES - COOKIE_BYTES
"""User data that fits beside them. [byte]"""
TRANSACTIONS_OVER = {
    "ping": ("udp", "none", 28),
    "udp": ("udp", "none", 28),
    "tfo": ("tfo", "none", TCP_HEADERS_BYTES),
    "tcp": ("tcp", "none", TCP_HEADERS_BYTES),
    "tls": ("tcp", "tls1.3", TCP_HEADERS_BYTES),
}
"""Transport, security and headers of each protocol of a live transaction."""


def transactions(
    samples: TransactionSamples,
    *,
    mode: str = "",
    clock: str = "program",
    path: Path | None = None,
    title: str = "",
) -> Comparison:
    """Put theory over the transactions of one protocol, size by size.

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.transactions`.
    mode : str
        The protocol; by default the first one.
    clock : {'program', 'tap'}
        Whose times: those of the program, or of the packet tap.
    path : Path, optional
        The path, if it is known: round trips of the protocol over it, and nothing is fitted. By
        default the emulated path of the run, if there was one. Without one a fixed time, a time a
        byte and a time for each further packet are fitted: what the host spends.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Of the smallest time of each size. The theory of a path has every packet of a stream on its
        lines, as long as the first window is enough: those that open it, the acknowledgement in
        front of the request and of the response, the end behind the response. Where a packet tap
        saw the packets, they are clocked as they were, those of the TLS handshake and of IPv6 too,
        and the sentence says what the two hosts took in between; otherwise a handshake's bytes are
        not in it: about 1.5 kB, 8 ms on a T1.
    """
    mode = mode or (samples.modes or ("udp",))[0]
    choice("mode", mode, tuple(TRANSACTIONS_OVER))
    transport, _, header_bytes = TRANSACTIONS_OVER[mode]
    known = samples.meta.instrument
    header_bytes = known.get("header_bytes", {}).get(mode, header_bytes)
    path = path or emulated_path(known)
    seen = _known_packets(samples, mode, path) if path is not None else {}
    choice("clock", clock, ("program", "tap"))
    column = "response_s" if clock == "program" else "tap_s"
    sizes, times = samples.minima(mode, column=column)
    if path is not None:
        known_path = path

        def by_rule(size: FloatArray) -> FloatArray:
            if transport == "udp":
                return known_path.rtt_s(size + header_bytes)
            times = [_stream_s(float(one), mode, known_path) for one in np.ceil(size).flat]
            return np.array(times).reshape(size.shape)

        at = np.array(sorted(seen))
        more_s = np.array([seen[size][0] for size in at.tolist()]) - by_rule(at) if seen else at

        def of_path(size: FloatArray) -> FloatArray:
            return by_rule(size) + (np.interp(size, at, more_s) if seen else 0.0)

        theory: Callable[[FloatArray], FloatArray] = of_path
        label = "theory of the path" + (", packets known by the taps" if seen else "")
    else:
        mtu = float(known.get("loopback_mtu_bytes", np.inf))
        version = 6 if known.get("address_family") == "IPv6" else 4
        theory, label = _host_costs(mode, sizes, times, mtu, version, header_bytes)
    compared = points(
        sizes,
        measured=times,
        theory=theory,
        x_name="user data",
        x_unit="byte",
        y_name="transaction time",
        y_unit="s",
        title=title or f"Transactions over {mode}",
        measured_label=f"{mode}, smallest of each size",
        predicted_label=label,
    )
    if path is None:
        return replace(compared, sentence=_of_host(compared, mode))
    hosts_s = [seen[size][1] for size in sizes.tolist() if size in seen]
    if not hosts_s:
        return compared
    own = show(float(np.median(hosts_s)), "s", digits=3)
    text = f"{mode}: {compared.sentence} Of it {own} is the two hosts' own, by the taps."
    return replace(compared, sentence=text)


def _known_packets(
    samples: TransactionSamples, mode: str, path: Path
) -> dict[float, tuple[float, float]]:
    """Return, by size, the time of the packets that taps saw, over a path, and the hosts' own."""
    known = samples.meta.instrument
    mtu_bytes = known.get("truth", {}).get("mtu_bytes", 1500)
    found = {}
    for size, rows in known.get("exchanges", {}).get(mode, {}).items():
        sizes, sender, after, wait_s = (
            [row[name] for row in rows] for name in ("packet_bytes", "sender", "after", "wait_s")
        )
        if max(sizes) <= mtu_bytes:  # else one that a card cuts, as on a loopback
            alone_s, done_s = (
                float(exchange_over(path, sizes, sender, after, waits).received_s[-1])
                for waits in ([0.0] * len(rows), wait_s)
            )
            found[float(size)] = (alone_s, done_s - alone_s)
    return found


def _stream_s(payload_bytes: float, mode: str, path: Path) -> float:
    """Time of a request and its response over a stream of its own, until its end is read. [s]"""
    if mode == "tfo":  # what fits goes with the first packet, the rest after its answer
        first = min(payload_bytes, OPENING_PAYLOAD_BYTES)
        there = [OPENING_BYTES + COOKIE_BYTES + first]
        opening_s, answer = 0.0, OPENING_BYTES
        if payload_bytes > first:
            opening_s = float(path.rtt_s(there[0], reply_bytes=OPENING_BYTES))
            there, answer = _segments(payload_bytes - first), TCP_HEADERS_BYTES
    else:
        more = round_trips("tcp", security=TRANSACTIONS_OVER[mode][1]) - 2
        opening_s = float(path.rtt_s(OPENING_BYTES) + more * path.rtt_s(TCP_HEADERS_BYTES))
        there = [TCP_HEADERS_BYTES, *_segments(payload_bytes)]
        answer = TCP_HEADERS_BYTES
    back = [answer, *_segments(payload_bytes), TCP_HEADERS_BYTES]
    both_s = path.timeline(there).done_s[-1] + path.reverse.timeline(back).done_s[-1]
    return opening_s + float(both_s) - path.hops[-1].processing_s


def _segments(payload_bytes: float) -> list[float]:
    """Return the packets of a message over TCP."""
    full, rest = divmod(payload_bytes, SEGMENT_BYTES)
    whole = [float(SEGMENT_BYTES + TCP_HEADERS_BYTES)] * int(full)
    return whole + [rest + TCP_HEADERS_BYTES] * (rest > 0)


def _host_costs(
    mode: str,
    sizes: FloatArray,
    times: FloatArray,
    mtu_bytes: float,
    version: int,
    header_bytes: float,
) -> tuple[Callable[[FloatArray], FloatArray], str]:
    """Fit what a transaction costs: once, for each byte, for each packet after the first.

    A cost is never negative: where a slope is lost in the noise, it is 0.
    """
    from scipy.optimize import nnls  # late: half of the package does without scipy

    def parts(size: FloatArray) -> FloatArray:
        if mode in ("ping", "udp"):  # 8 bytes of header are data of the IP packet
            mtu = min(mtu_bytes, 65_535)
            count = fragment_count(np.ceil(size) + 8, mtu_bytes=mtu, ip_version=version)
        else:
            count = np.maximum(np.ceil(size / (mtu_bytes - header_bytes)), 1.0)
        return np.stack([np.ones_like(size), size, count - 1.0])

    if not sizes.size:
        return lambda size: np.full_like(size, np.nan), "no sizes to fit"
    columns = parts(sizes)
    used = [place for place in range(3) if place == 0 or np.ptp(columns[place]) > 0]
    if sizes.size < len(used):
        return lambda size: np.full_like(size, np.nan), "too few sizes to fit"
    costs = np.zeros(3)
    scale = columns[used].max(axis=1)  # of one size all: nnls stops at absolute tolerances
    costs[used] = nnls((columns[used] / scale[:, None]).T, times * 1e6)[0] / scale / 1e6
    label = f"fit: {show(costs[0], 's', digits=3)} + {show(costs[1], 's', digits=2)} a byte"
    if 2 in used:
        label += f" + {show(costs[2], 's', digits=2)} a further packet"
    return lambda size: costs @ parts(size), label


def _of_host(compared: Comparison, mode: str) -> str:
    """Say what a transaction costs the host, and how far from that half of the points lie."""
    sizes = compared.x.size
    if not sizes:
        return f"{mode}: no transaction has a time."
    least = f"{mode}: a transaction of {show(float(compared.x[0]), 'byte')} takes "
    least += show(float(compared.measured[0]), "s", digits=3)
    if sizes == 1:
        return f"{least}; what a byte costs takes more sizes."
    if np.isnan(compared.predicted).any():
        return f"{least}; what a byte costs, and a further packet, takes more sizes."
    spread = float(np.median(np.abs(compared.residual)))
    costs = compared.predicted_label.removeprefix("fit: ")
    sentence = f"{mode}: a transaction takes {costs}, fitted"
    if spread < 1e-9:  # as many costs as sizes
        return f"{sentence}."
    return f"{sentence}; half of the sizes are off by {show(spread, 's', digits=2)} or less."


def datagram_costs(
    samples: TransactionSamples, *, clock: str = "program", relative: bool = False
) -> Comparison:
    """Put a sum of fitted costs over UDP transactions: is there a step where a datagram is cut?

    Parameters
    ----------
    samples : TransactionSamples
        A run of :func:`netcalc.experiments.transactions` with ``udp``, without a path.
    clock : {'program', 'tap'}
        Whose times: those of the program, or of the packet tap.
    relative : bool
        Whether times are shares of that of the largest datagram that is not cut.

    Returns
    -------
    Comparison
        Of the smallest time of each size, with the 95% band of the fit.
    """
    choice("clock", clock, ("program", "tap"))
    costs = datagram_fit(samples, column="response_s" if clock == "program" else "tap_s")
    mtu = min(float(samples.meta.instrument.get("loopback_mtu_bytes", np.inf)), 65_535.0)
    largest = np.array([mtu - DATAGRAM_HEADERS_BYTES])
    whole_s = float(costs.predict(largest)[0])
    of_mtu = f" of MTU {mtu:.0f}" if costs.x.size else ""
    name, unit, scale = "transaction time", "s", 1.0
    if relative and whole_s > 0:
        name, unit, scale = f"time, against that of {largest[0]:.0f} B", "ratio", 1 / whole_s
    bare = points(
        costs.x, measured=costs.measured * scale, theory=lambda size: costs.predict(size) * scale,
        x_name="user data", x_unit="byte", y_name=name, y_unit=unit,
        title=f"UDP on a loopback{of_mtu}: is there a step?",
        measured_label="smallest of each size",
        predicted_label="fit: sum of costs",
    )  # fmt: skip
    # Points of the curve stand on both sides of each step.
    curve_x = np.union1d(bare.curve_x, np.append(largest, largest + 1.0))
    curve_x = curve_x[curve_x <= bare.curve_x[-1]]
    curve, margin = costs.predict(curve_x) * scale, np.nan_to_num(costs.margin(curve_x)) * scale
    return replace(
        bare, outlier=costs.outlier, curve_x=curve_x, curve_y=curve,
        curve_low=curve - margin, curve_high=curve + margin,
        sentence=_of_step(costs, float(largest[0]), whole_s),
    )  # fmt: skip


def _of_step(costs: Costs, largest_bytes: float, whole_s: float) -> str:
    """Say whether a datagram that is cut takes longer, and one in more mbufs."""
    if not costs.x.size:
        return "There are no UDP transactions with a time."
    reason = costs.not_identifiable.get("packet_cost")
    if reason is not None:
        return f"No step can be told: {reason}."

    def with_margin(name: str) -> str:
        margin = show(costs.margin_of(name), "s", digits=2)
        return f"{show(costs.params[name], 's', digits=3)} ± {margin}"

    sizes = f"From {largest_bytes:.0f} to {largest_bytes + 1:.0f} bytes"
    if costs.is_seen("packet_cost"):
        share = costs.params["packet_cost"] / whole_s
        text = f"{sizes} time jumps by {with_margin('packet_cost')} (95%), {share:.0%} more."
    else:
        text = f"{sizes} no jump is to be told from the scatter: {with_margin('packet_cost')}."
    if "mbuf_s" in costs.not_identifiable:
        return text
    seen = "" if costs.is_seen("mbuf_s") else "no "
    return (
        f"{text} Each mbuf that 4.4BSD would take shows {seen}cost here: {with_margin('mbuf_s')}."
    )
