"""A host for a path: socket buffers and the other settings of its system, with their arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.messages import Notice
from netcalc.models.bounds import MAX_WINDOW_BYTES
from netcalc.models.rates.line_rate import frame_rate_pps
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import MAX_PACKET_BYTES, STAMPED_HEADERS_BYTES
from netcalc.models.tcp.ceilings import path_ceilings
from netcalc.models.tcp.window import bdp_bytes, throughput_bps
from netcalc.planning import page

SOURCES = (
    "RFC 6349, 3.3.1 (bandwidth-delay product); RFC 7323, 2.3 (largest window)",
    "Linux, Documentation/networking/ip-sysctl.rst (tcp_rmem, tcp_wmem, tcp_adv_win_scale), "
    "net/ipv4/tcp_input.c (tcp_sndbuf_expand), net/ipv4/tcp.c (tcp_init_mem)",
    "Linux, net/sched/sch_fq.c (flow_max_rate)",
    "FreeBSD, sys/kern/uipc_sockbuf.c (sb_max_adj), sys/netinet/tcp_output.c "
    "(tcp_sndbuf_autoscale), sys/kern/kern_mbuf.c (maxmbufmem)",
    "ESnet, fasterdata.es.net/host-tuning (settings for comparison)",
)
JUMBO_BYTES = 9000.0
"""Largest packet of a network of jumbo frames. [byte]"""
_STANDARD_MTU_BYTES, _FCS_BYTES = 1500.0, 4.0
LARGEST_SETTING = 2**31 - 1
"""Largest buffer that either system takes: its settings are 32-bit integers with a sign. [byte]"""
_MOST_PACED_BPS = 8.0 * (2**32 - 2)
"""Largest maxrate of fq: 32 bits of B/s, of which the last value means none. [bit/s]"""
_LIMITS = ("loss_limit_bps", "window_limit_bps", "line_limit_bps")
"""In the order in which equal ones are named: at a loss of 1 nothing passes the line either."""
_PAYLOAD = "TCP payload"
_TABLE = {
    "flow_count": "", "window_bytes": "", "receive_buffer_bytes": "", "send_buffer_bytes": "",
    "host_memory_bytes": "", "line_bdp_bytes": "", "goodput_bps": _PAYLOAD,
    "default_flow_bps": _PAYLOAD, "one_flow_bps": _PAYLOAD, "frame_rate_pps": "",
    "stack_rate_pps": "", "jumbo_rate_pps": "",
}  # fmt: skip
_WORTH = 1.01
"""A step is worth a line if the goodput grows at least by this factor."""
_MOST_FLOWS = 64
"""No more flows than these are offered: a parallel transfer has hardly more."""


class System(NamedTuple):
    """What an operating system makes of a socket buffer.

    Parameters
    ----------
    name : str
        As it writes its own.
    window_ratio : float
        Share of a receive buffer that is announced as window; the rest is what packets take beside
        their data.
    sent_factor, bbr_factor : float
        Send buffer over window: data that is sent and not acknowledged, and what is ready behind.
    limit_factor : float
        Limit for programs over the buffer that it allows.
    memory_factor : float
        Memory of a host over the part that buffers may take without pressure.
    receive_bytes, send_bytes : float
        Largest buffers without any setting. [byte]
    least_receive_bytes : float
        What a setting of the receive buffer must not go below, as newer versions have it. [byte]
    """

    name: str
    window_ratio: float
    sent_factor: float
    bbr_factor: float
    limit_factor: float
    memory_factor: float
    receive_bytes: float
    send_bytes: float
    least_receive_bytes: float

    def factor_of(self, congestion_control: str) -> float:
        """Return the send buffer over the window, with a congestion control."""
        return self.bbr_factor if congestion_control == "bbr" else self.sent_factor

    @property
    def window_bytes(self) -> float:
        """The window of a flow for which nothing is set, at both ends. [byte]"""
        return min(self.window_ratio * self.receive_bytes, self.send_bytes / self.sent_factor)


SYSTEMS = {
    "linux": System("Linux", 0.5, 2.0, 3.0, 1.0, 16.0, 6.0 * 2**20, 4.0 * 2**20, 2.0**25),
    "freebsd": System("FreeBSD", 1.0, 1.25, 1.25, 2304 / 2048, 2.0, 2.0**21, 2.0**21, 2.0**21),
}
"""Systems by name; their numbers are in :data:`SOURCES`."""


@page.one_page
def host(
    bandwidth_bps: Any,
    *,
    rtt_s: Any,
    flow_count: Any = None,
    loss_ratio: Any = None,
    congestion_control: str = "cubic",
    system: str = "linux",
    mtu_bytes: float = 1500.0,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> page.Plan:
    """Plan the settings of a host for a path. They are printed, never applied.

    Parameters
    ----------
    bandwidth_bps : float or range
        Rate of the slowest line. [bit/s]
    rtt_s : float or range
        Round-trip time of the idle path. [s]
    flow_count : float or range, optional
        Flows that fill the line together; by default as few as TCP's largest window allows. [1]
    loss_ratio : float or range, optional
        Random loss of packets. [ratio]
    congestion_control : {'cubic', 'reno', 'bbr'}
        Congestion control to set.
    system : {'linux', 'freebsd'}
        Operating system of the host.
    mtu_bytes : float
        Size of the full IP packets. [byte]
    draws, seed : int
        Of the ranges, as in :func:`netcalc.uncertain.spread`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges, with a note, instead of an error.

    Returns
    -------
    Plan
        Answers ``flow_count``, ``window_bytes``, ``receive_buffer_bytes``, ``send_buffer_bytes``
        (each of a flow), ``host_memory_bytes`` (with which the buffers of all flows are no
        pressure), ``line_bdp_bytes``, ``goodput_bps`` (of all flows), ``default_flow_bps`` (one
        flow without any setting), ``one_flow_bps`` (with the largest window), ``frame_rate_pps``,
        ``stack_rate_pps`` (packets of up to 64 KiB between TCP and the device, with offload);
        below an MTU of 9000 B ``jumbo_rate_pps``, the frames of that. ``host_settings`` has the
        lines, ``sysctl`` the file; with ranges they are enough for the 95th percentile.

    Raises
    ------
    DomainError
        If a number is impossible.

    Examples
    --------
    >>> plan = host(10e9, rtt_s=0.1)
    >>> plan["window_bytes"], plan["receive_buffer_bytes"]
    (125000000.0, 250000000.0)
    >>> plan.host_settings[2].line
    'net.ipv4.tcp_rmem=4096 131072 250000000'
    """
    checks.choice("system", system, tuple(SYSTEMS))
    mtu_bytes = page.mtu(mtu_bytes)
    inputs = page.with_units(
        bandwidth_bps=bandwidth_bps, rtt_s=rtt_s, flow_count=flow_count, loss_ratio=loss_ratio
    )
    chosen: dict[str, Any] = {
        "congestion_control": congestion_control, "system": system, "mtu_bytes": mtu_bytes
    }  # fmt: skip
    answers = partial(_answers, **chosen)
    evaluated = page.evaluate(
        answers, inputs, _TABLE, limits=_LIMITS, draws=draws, seed=seed, truncate=truncate
    )
    typical, middle = evaluated.typical, evaluated.middle
    planned = {**evaluated.columns, **{one.name: _planned(one) for one in evaluated.answers}}
    limited, assumed = f"limited-by-{evaluated.binding.replace('_', '-')}", f"assumes-host-{system}"
    values = {
        "flows": int(typical["flow_count"]),
        "window_bytes": typical["window_bytes"],
        "receive_bytes": typical["receive_buffer_bytes"],
        "send_bytes": typical["send_buffer_bytes"],
        "goodput_bps": typical["goodput_bps"],
        "limit": Notice(limited, {}),
    }
    notices, of, columns = list(evaluated.notices), SYSTEMS[system], evaluated.columns
    is_lossy = columns["one_flow_bps"] == columns["flow_most_bps"] < columns["line_limit_bps"]
    if typical["line_bdp_bytes"] > MAX_WINDOW_BYTES and not is_lossy:
        notices.append(_of_one_flow(typical, middle["rtt_s"]))
    factor = of.factor_of(congestion_control)
    if factor * planned["window_bytes"] > LARGEST_SETTING:
        cut = LARGEST_SETTING / planned["window_bytes"]
        cut_values = {"most_bytes": LARGEST_SETTING, "factor": factor, "cut": cut}
        notices.append(Notice("host-buffer-cut", cut_values))
    if planned["window_bytes"] <= of.window_bytes:
        notices.append(Notice("host-defaults", {"system": of.name}))
    return evaluated.page(
        "host",
        Notice("plan-host", values),
        main="receive_buffer_bytes",
        settings=page.with_units(**chosen),
        notices=tuple(notices),
        steps=tuple(_steps(answers, middle, columns, congestion_control)),
        assumptions=(
            Notice("assumes-host-control", {"congestion_control": congestion_control.upper()}),
            Notice(assumed, {}),
        ),
        host_settings=(
            *_header(planned, middle, with_ranges=typical != columns),
            *(
                page.Setting(name=name, value=str(value), reason=reason)
                for name, value, reason in _SETTINGS[system](planned, congestion_control, mtu_bytes)
            ),
        ),
        chart=_chart(middle, columns, of),
        sources=SOURCES,
    )


def _answers(
    *,
    bandwidth_bps: ArrayLike,
    rtt_s: ArrayLike,
    congestion_control: Any,
    system: str,
    mtu_bytes: float,
    flow_count: ArrayLike | None = None,
    loss_ratio: ArrayLike = 0.0,
) -> dict[str, checks.FloatArray]:
    of = SYSTEMS[system]
    line, rtt = checks.positive("bandwidth_bps", bandwidth_bps), checks.positive("rtt_s", rtt_s)
    bdp = bdp_bytes(rtt, bandwidth_bps=line)
    if flow_count is None:
        flows = np.maximum(checks.rounded_up(bdp / MAX_WINDOW_BYTES), 1.0)
    else:
        flows = checks.whole("flow_count", flow_count, low=1)
    window = np.minimum(checks.rounded_up(bdp / flows), MAX_WINDOW_BYTES)
    receive = np.minimum(checks.rounded_up(window / of.window_ratio), LARGEST_SETTING)
    sent = checks.rounded_up(window * of.factor_of(congestion_control))
    send = np.minimum(sent, LARGEST_SETTING)
    limits = path_ceilings(
        line, rtt_s=rtt, loss_ratio=loss_ratio, congestion_control=congestion_control,
        window_bytes=window, flow_count=flows, mtu_bytes=mtu_bytes,
    )  # fmt: skip
    ceilings = np.stack(
        np.broadcast_arrays(limits.loss_bps, limits.window_bps, limits.line_bps), axis=0
    )
    most_of_one = np.minimum(limits.loss_bps / flows, limits.line_bps)

    # What offload passes at once is one IP packet, of the segments that fit.
    room = MAX_PACKET_BYTES - STAMPED_HEADERS_BYTES
    together = np.maximum(room // (mtu_bytes - STAMPED_HEADERS_BYTES), 1.0)

    def of_one(window_bytes: float) -> checks.FloatArray:
        return np.minimum(throughput_bps(window_bytes, rtt_s=rtt), most_of_one)

    columns = {
        "flow_count": flows,
        "window_bytes": window,
        "receive_buffer_bytes": receive,
        "send_buffer_bytes": send,
        "host_memory_bytes": of.memory_factor * flows * np.maximum(receive, send),
        "line_bdp_bytes": bdp,
        "goodput_bps": ceilings.min(axis=0),
        "default_flow_bps": of_one(of.window_bytes),
        "one_flow_bps": of_one(MAX_WINDOW_BYTES),
        "frame_rate_pps": _frames_pps(line, mtu_bytes),
        "stack_rate_pps": _frames_pps(line, mtu_bytes) / together,
        "line_limit_bps": limits.line_bps,
        "flow_most_bps": most_of_one,
        page.BINDING: np.argmin(ceilings, axis=0).astype(float),
    }
    if mtu_bytes < JUMBO_BYTES:
        columns["jumbo_rate_pps"] = _frames_pps(line, JUMBO_BYTES)
    return columns


def _frames_pps(line: checks.FloatArray, mtu_bytes: ArrayLike) -> checks.FloatArray:
    return frame_rate_pps(ethernet_frame_bytes(mtu_bytes), bandwidth_bps=line)


def _planned(answer: page.Answer) -> float:
    """Return the number that is enough: of a range its 95th percentile."""
    return float(answer.value) if answer.spread is None else answer.spread.percentile(95.0)


def _of_one_flow(typical: Mapping[str, float], rtt_s: float) -> Notice:
    """Return why TCP's largest window is a limit of one flow, and what that flow reaches."""
    rate_bps = typical["one_flow_bps"]
    values = {"bdp_bytes": typical["line_bdp_bytes"], "most_bytes": MAX_WINDOW_BYTES}
    if rate_bps < typical["line_limit_bps"]:
        return Notice("host-one-flow", {**values, "rate_bps": rate_bps})
    spare_s = 8.0 * MAX_WINDOW_BYTES / rate_bps - rtt_s
    return Notice("host-one-flow-just", {**values, "spare_s": spare_s})


def _steps(
    answers: Any, middle: Mapping[str, float], columns: Mapping[str, float], control: str
) -> list[page.Step]:
    """Return what would raise the goodput: more flows, another congestion control, jumbo frames."""
    if not columns["goodput_bps"] > 0.0:  # every packet is lost
        return []
    changes: list[tuple[Notice, dict[str, Any]]] = []
    limit = _LIMITS[int(columns[page.BINDING])]
    if limit == "loss_limit_bps" and control != "bbr":
        changes.append((Notice("step-bbr", {}), {"congestion_control": "bbr"}))
    if limit != "line_limit_bps":
        share = columns["goodput_bps"] / columns["line_limit_bps"]
        more = np.ceil(columns["flow_count"] / share)
        if more <= _MOST_FLOWS:
            changes.append((Notice("step-flows", {"flows": f"{more:.0f}"}), {"flow_count": more}))
    if "jumbo_rate_pps" in columns:
        change = Notice("step-host-mtu", {"mtu_bytes": JUMBO_BYTES})
        changes.append((change, {"mtu_bytes": JUMBO_BYTES}))
    steps = []
    for change, values in changes:
        rate = float(answers(**{**middle, **values})["goodput_bps"])
        if rate >= _WORTH * columns["goodput_bps"]:
            steps.append(page.Step(change=change, name="goodput_bps", value=rate, layer=_PAYLOAD))
    return steps


def _chart(middle: Mapping[str, float], columns: Mapping[str, float], of: System) -> page.Chart:
    """Return the rate of one flow over its receive buffer."""
    rtt, ceiling = middle["rtt_s"], columns["flow_most_bps"]
    largest = max(2.0 * columns["receive_buffer_bytes"], 10.0 * of.receive_bytes)
    buffers = np.geomspace(2.0**16, min(largest, LARGEST_SETTING), 200)
    windows = np.minimum(of.window_ratio * buffers, MAX_WINDOW_BYTES)

    def rate(window_bytes: ArrayLike) -> Any:
        return np.minimum(throughput_bps(window_bytes, rtt_s=rtt), ceiling)

    planned = columns["receive_buffer_bytes"]
    return page.Chart(
        x="receive_buffer_bytes", x_unit="byte", y="flow_bps", y_unit="bit/s", at=buffers,
        lines={"flow_bps": rate(windows)},
        marks={
            "default_flow_bps": (of.window_bytes / of.window_ratio, columns["default_flow_bps"]),
            "receive_buffer_bytes": (planned, float(rate(of.window_ratio * planned))),
        },
        log_x=True, log_y=True,
    )  # fmt: skip


def _header(
    planned: Mapping[str, float], middle: Mapping[str, float], *, with_ranges: bool
) -> list[page.Setting]:
    """Return the comments above all lines: the path, and the window of each flow."""
    path = {"bandwidth_bps": middle["bandwidth_bps"], "rtt_s": middle["rtt_s"]}
    window = {
        "bdp_bytes": int(planned["line_bdp_bytes"]),
        "flows": int(planned["flow_count"]),
        "window_bytes": int(planned["window_bytes"]),
        "percentile": str(Notice("host-of-ranges", {})) if with_ranges else "",
    }
    return [
        page.Setting(reason=Notice("host-path", path)),
        page.Setting(reason=Notice("host-window", window)),
    ]


def _sizes(planned: Mapping[str, float], of: System) -> tuple[int, int]:
    """Return the largest receive and send buffer to set, not below what is there without."""
    return (
        int(max(planned["receive_buffer_bytes"], of.least_receive_bytes)),
        int(max(planned["send_buffer_bytes"], of.send_bytes)),
    )


Lines = list[tuple[str, object, Notice]]
"""Names and values of settings, and where each value is from."""


def _linux(planned: Mapping[str, float], control: str, mtu_bytes: float) -> Lines:
    of = SYSTEMS["linux"]
    receive, send = _sizes(planned, of)
    window: dict[str, Any] = {"window_bytes": int(planned["window_bytes"])}
    received = {**window, "share": of.window_ratio, "least_bytes": int(of.least_receive_bytes)}
    sent = {
        **window, "factor": of.factor_of(control), "least_bytes": int(of.send_bytes),
        "most_bytes": LARGEST_SETTING,
    }  # fmt: skip
    by_name = {"control": control}
    probing = Notice("host-mtu-linux", {"mtu_bytes": int(mtu_bytes)})
    return [
        ("net.ipv4.tcp_rmem", f"4096 131072 {receive}", Notice("host-tcp-rmem", received)),
        ("net.ipv4.tcp_wmem", f"4096 16384 {send}", Notice("host-tcp-wmem", sent)),
        ("net.core.rmem_max", receive, Notice("host-rmem-max", {})),
        ("net.core.wmem_max", send, Notice("host-wmem-max", {})),
        ("net.core.default_qdisc", "fq", _paced(planned, mtu_bytes)),
        ("net.ipv4.tcp_congestion_control", control, Notice("host-control", by_name)),
        *([("net.ipv4.tcp_mtu_probing", 1, probing)] if mtu_bytes > _STANDARD_MTU_BYTES else []),
    ]


def _paced(planned: Mapping[str, float], mtu_bytes: float) -> Notice:
    """Return the rate of a flow behind fq at which all fill the line, or why there is none."""
    limit = _LIMITS[int(planned[page.BINDING])].partition("_")[0]
    if limit != "line":
        return Notice("host-fq-below", {"limit": limit})
    # fq counts a frame without its FCS, preamble and gap.
    framed_bits = 8.0 * (float(ethernet_frame_bytes(mtu_bytes)) - _FCS_BYTES)
    all_bps = framed_bits * planned["frame_rate_pps"]
    pace_bps = all_bps / planned["flow_count"]
    if pace_bps > _MOST_PACED_BPS:
        enough = {"flows": int(np.ceil(all_bps / _MOST_PACED_BPS))}
        return Notice("host-fq-above", {**enough, "most": f"{int(_MOST_PACED_BPS / 1e6)}mbit"})
    _, size, unit = next(row for row in _PACES if pace_bps >= row[0])
    return Notice("host-fq", {"pace": f"{int(pace_bps / size)}{unit}"})


_PACES = (1e9, 1e6, "mbit"), (1e6, 1e3, "kbit"), (0.0, 1.0, "bit")
"""From which rate on tc has a unit, and its size: hardly anything is rounded off. [bit/s]"""


def _freebsd(planned: Mapping[str, float], control: str, mtu_bytes: float) -> Lines:
    of = SYSTEMS["freebsd"]
    receive, send = _sizes(planned, of)
    largest = max(receive, send)
    most = int(checks.rounded_up(np.float64(largest * of.limit_factor)))
    window: dict[str, Any] = {"window_bytes": int(planned["window_bytes"])}
    sent = {**window, "factor": of.sent_factor}
    name, value, module = {
        "bbr": ("net.inet.tcp.functions_default", "bbr", "tcp_bbr"),
        "reno": ("net.inet.tcp.cc.algorithm", "newreno", "cc_newreno"),
    }.get(control, ("net.inet.tcp.cc.algorithm", control, f"cc_{control}"))
    auto, by_name = Notice("host-auto", {}), Notice("host-control-freebsd", {"module": module})
    found = Notice("host-mtu-freebsd", {"mtu_bytes": int(mtu_bytes)})
    probing = [("net.inet.tcp.pmtud_blackhole_detection", 1, found)]
    return [
        ("kern.ipc.maxsockbuf", most, Notice("host-maxsockbuf", {"buffer_bytes": largest})),
        ("net.inet.tcp.recvbuf_max", receive, Notice("host-recvbuf", window)),
        ("net.inet.tcp.sendbuf_max", send, Notice("host-sendbuf", sent)),
        ("net.inet.tcp.recvbuf_auto", 1, auto),
        ("net.inet.tcp.sendbuf_auto", 1, auto),
        (name, value, by_name),
        *(probing if mtu_bytes > _STANDARD_MTU_BYTES else []),
    ]


_SETTINGS = {"linux": _linux, "freebsd": _freebsd}
