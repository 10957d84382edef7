"""Comparison of what lies between two hosts with two limits: a packet rate, and a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from netcalc import fit
from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._comparison import CURVE_POINTS, Comparison, points
from netcalc.compare._runs import experiment
from netcalc.language import phrase, term
from netcalc.messages import Notice
from netcalc.models.sizes.headers import FCS_BYTES, MIN_FRAME_BYTES
from netcalc.rate_layers import ETHERNET_LINE, FRAME, named
from netcalc.samples import MIN_DROP_RATIO, BulkSamples, Samples
from netcalc.units import show, show_rate

HOST_RATIO = 0.8
"""A rate is that of a host, and not of the path, from this share of what the host reaches alone: on
its loopback it sends and receives at once, so alone it may reach less. [ratio]"""
MISFIT_RATIO = 0.1
"""Rates that are further off than this follow no two limits. [ratio]"""
WAIT_RATIO, WAIT_S = 2.0, 5e-3
"""A round trip that grows under load by both is that of a queue. [ratio], [s]"""
WAYS = {
    "forward": term("forward"), "back": term("back"),
    "forward of both": term("forward of both"), "back of both": term("back of both"),
}  # fmt: skip
"""Names of the directions, as a figure shows them."""
ALONE, THIS_HOST = " alone", "this host"
"""End of the directions of a host that sends to itself, and the name of the one that asks."""


@named_arguments
def is_router(samples: Samples) -> TypeGuard[BulkSamples]:
    """Whether samples are a run through what lies between two hosts."""
    return isinstance(samples, BulkSamples) and experiment(samples.meta) == "router"


def _directions(samples: BulkSamples) -> list[str]:
    """Return the directions through the path, in the order of their first rows."""
    names = dict.fromkeys(np.asarray(samples.direction).tolist())
    return [name for name in names if not name.endswith(ALONE)]


def _host_rates(samples: BulkSamples, direction: str) -> dict[float, tuple[float, str]]:
    """Return by frame what the slower host reaches alone in a direction, and which it is.

    The host that sends counts with what it sends, the other with what it receives. [packet/s]
    """
    slowest: dict[float, tuple[float, str]] = {}
    columns = (fit.frame_bytes(samples), samples.sent_rate_pps, samples.rate_pps)
    names = np.asarray(samples.direction).tolist()
    for name, frame, sent_pps, received_pps in zip(names, *columns, strict=True):
        if name.endswith(ALONE):
            host = name.removesuffix(ALONE)
            is_sender = direction.startswith("forward") == (host == THIS_HOST)
            pps = float(sent_pps if is_sender else received_pps)
            slowest[frame] = min(slowest.get(frame, (np.inf, "")), (pps, host))
    return slowest


@named_arguments
def router_regimes(samples: BulkSamples) -> dict[str, fit.Regimes]:
    """Return the packet rate and the line of each direction of a run.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.router`.

    Returns
    -------
    dict of str to Regimes
        By direction. What the socket of the receiver dropped has passed the path. Runs that a host
        limited are no points of it: nothing was lost before the receiver, and the host reaches
        little more alone, its socket dropped, or its processor was busy.
    """
    frames, names = fit.frame_bytes(samples), np.asarray(samples.direction)
    in_socket = np.nan_to_num(np.asarray(samples.receiver_drop_count))
    rates = samples.rate_pps + in_socket / np.asarray(samples.delivery_s)
    is_full = samples.lost_count - in_socket >= MIN_DROP_RATIO * np.asarray(samples.write_count)
    own = np.isin(np.asarray(samples.limit), ("sender", "sender's queue", "receiver"))
    regimes = {}
    for name in _directions(samples):
        hosts = _host_rates(samples, name)
        most = np.array([hosts.get(frame, (np.inf, ""))[0] for frame in frames.tolist()])
        bounds = ~is_full & ((rates >= HOST_RATIO * most) | own)
        rows = names == name
        regimes[name] = fit.two_regimes(frames[rows], rate_pps=rates[rows], is_bound=bounds[rows])
    return regimes


@named_arguments
def router(samples: BulkSamples, *, title: str = "") -> tuple[Comparison, ...]:
    """Compare the rates of each direction with the lower of a packet rate and a line.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.router`.
    title : str
        Title of the figure.

    Returns
    -------
    tuple of Comparison
        For each direction the highest rate of each size, the fitted limits with their 95% band, and
        the verdict. A size at which a host was the limit is marked as an outlier.
    """
    title = title or phrase("Packets per second, {target}", target=samples.meta.target)
    verdicts = router_verdicts(samples)
    return tuple(
        _comparison(name, regimes, title, verdicts[name])
        for name, regimes in router_regimes(samples).items()
    )


def _comparison(
    name: str, regimes: fit.Regimes, title: str, verdict: tuple[Notice, ...]
) -> Comparison:
    compared = points(
        regimes.x, measured=regimes.measured,
        theory=lambda frame: regimes.predict(np.maximum(frame, MIN_FRAME_BYTES)),
        x_name=phrase("frame with FCS"), x_unit="byte",
        y_name=phrase("received"), y_unit="packet/s",
        title=title, measured_label=phrase(WAYS.get(name, name)),
        predicted_label=_limits_text(regimes),
    )  # fmt: skip
    largest = float(regimes.x.max()) if regimes.x.size else 1518.0
    curve_x = np.linspace(MIN_FRAME_BYTES, max(largest, 2 * MIN_FRAME_BYTES), CURVE_POINTS)
    curve, (low, high) = regimes.predict(curve_x), regimes.band(curve_x)
    return replace(
        compared, outlier=regimes.outlier, curve_x=curve_x, curve_y=curve,
        curve_low=np.where(np.isfinite(low), low, curve),
        curve_high=np.where(np.isfinite(high), high, curve),
        sentence=" ".join(f"{notice}." for notice in verdict),
    )  # fmt: skip


@named_arguments
def frame_throughputs(comparison: Comparison) -> Comparison:
    """Return a comparison of packet rates as one of the bits in their frames.

    Parameters
    ----------
    comparison : Comparison
        Packets per second by frame, of :func:`router`.

    Returns
    -------
    Comparison
        The same in bit/s of Ethernet frames with FCS, without preamble and gap.
    """
    bits, curve_bits = 8.0 * comparison.x, 8.0 * comparison.curve_x
    return replace(
        comparison,
        measured=comparison.measured * bits,
        predicted=comparison.predicted * bits,
        residual=comparison.residual * bits,
        curve_y=comparison.curve_y * curve_bits,
        curve_low=comparison.curve_low * curve_bits,
        curve_high=comparison.curve_high * curve_bits,
        y_name=named(phrase("received"), FRAME),
        y_unit="bit/s",
        title=phrase("The same in bits"),
    )


def _limits_text(regimes: fit.Regimes) -> str:
    """Write the limits that were found; their errors are in the verdict."""
    parts = []
    if np.isfinite(pps := regimes.params["packet_pps"]):
        parts.append(phrase("fitted: {rate}", rate=show(pps, "packet/s")))
    if np.isfinite(bps := regimes.params["line_bps"]):
        parts.append(phrase("line of {rate}", rate=show_rate(bps, ETHERNET_LINE)))
    return ", ".join(parts) or phrase("no limit found")


def _with_margin(regimes: fit.Regimes, name: str) -> str:
    unit = "packet/s" if name == "packet_pps" else "bit/s"
    text, margin = show(regimes.params[name], unit), regimes.margin_of(name)
    return f"{text} ± {show(margin, unit, digits=2)} (95%)" if np.isfinite(margin) else text


@named_arguments
def router_verdicts(samples: BulkSamples) -> dict[str, tuple[Notice, ...]]:
    """Return what limits each direction of a run: the packet rate, the line, or a host.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.router`.

    Returns
    -------
    dict of str to tuple of Notice
        By direction.
    """
    return {
        name: tuple(_verdict(name, regimes, _host_rates(samples, name)))
        for name, regimes in router_regimes(samples).items()
    }


def _verdict(
    name: str, regimes: fit.Regimes, alone: Mapping[float, tuple[float, str]]
) -> list[Notice]:
    if not regimes.x.size:
        return [Notice("router-nothing-arrived", {"direction": name})]
    values = {
        "direction": name,
        "layer": ETHERNET_LINE,
        "packets": _with_margin(regimes, "packet_pps"),
        "line": _with_margin(regimes, "line_bps"),
        "packet_bound_pps": regimes.bounds["packet_pps"],
        "line_bound_bps": regimes.bounds["line_bps"],
        "crossover_bytes": regimes.crossover_bytes,
    }
    has_packets, has_line = (np.isfinite(value) for value in regimes.params.values())
    notices = []
    if regimes.outlier.any():
        frames = regimes.x[regimes.outlier].tolist()
        hosts = [alone[frame] for frame in frames if frame in alone]
        host_pps, host = min(hosts, default=(np.nan, ""))
        at_hosts = {**values, "frames": frames, "host": host, "host_pps": host_pps}
        notices.append(
            Notice("router-host-limits", at_hosts)
            if hosts and float(regimes.measured[regimes.outlier].max()) >= HOST_RATIO * host_pps
            else Notice("router-sockets-limit", at_hosts)
        )
    if has_packets and has_line:
        notices.append(Notice("router-both-limit", values))
    elif has_line:
        notices.append(Notice("router-line-limits", values))
    elif has_packets:
        notices.append(Notice("router-packet-rate-limits", values))
    elif not regimes.outlier.all():
        notices.append(Notice("router-few-sizes", values))
    if regimes.misfit_ratio > MISFIT_RATIO:
        off = {"direction": name, "misfit_ratio": regimes.misfit_ratio}
        notices.append(Notice("router-misfit", off))
    return notices


@named_arguments
def router_notes(
    samples: BulkSamples, *, devices: Mapping[str, tuple[FloatArray, FloatArray]] | None = None
) -> tuple[Notice, ...]:
    """Return what else a run shows: the queue, the Wi-Fi, other devices, what is not known.

    Parameters
    ----------
    samples : BulkSamples
        A run of :func:`netcalc.experiments.router`.
    devices : mapping of str to a pair of numpy.ndarray, optional
        Devices that others have measured, by name: frames with FCS [byte], and packets per second
        of each [packet/s].

    Returns
    -------
    tuple of Notice
        One for each of these that the run shows.
    """
    return (
        *_trip_notes(samples),
        *_wifi_notes(samples),
        *_device_notes(samples, devices or {}),
    )


def _trip_notes(samples: BulkSamples) -> list[Notice]:
    if samples.meta.instrument.truth:  # its delay was set
        return []
    trips = samples.meta.instrument.round_trips or {}
    idle, loaded = (np.asarray(trips.get(f"{name}_s") or [], float) for name in ("idle", "loaded"))
    if not (idle.size and loaded.size):
        return [Notice("router-trips-unknown")]
    idle_s, loaded_s = float(np.median(idle)), float(np.median(loaded))
    values = {
        "tool": trips.get("tool", ""), "idle_s": idle_s, "loaded_s": loaded_s,
        "added_s": loaded_s - idle_s,
    }  # fmt: skip
    is_queue = loaded_s > WAIT_RATIO * idle_s and loaded_s - idle_s > WAIT_S
    return [
        Notice("router-queue-grows", values) if is_queue else Notice("router-queue-stays", values)
    ]


def _wifi_notes(samples: BulkSamples) -> list[Notice]:
    wifi = samples.meta.instrument.wifi or {}
    notes = []
    pairs = zip(wifi.get("before", []), wifi.get("after", []), strict=False)
    for before, after in pairs:
        rates = [link.get("tx_rate_bps", np.nan) for link in (before, after)]
        retries = [
            sum(value for name, value in link.items() if "retr" in name) for link in (before, after)
        ]
        values = {
            "link": str(before.get("group") or "Wi-Fi"), "before_bps": rates[0],
            "after_bps": rates[1], "retry_count": int(retries[1] - retries[0]), "layer": FRAME,
        }  # fmt: skip
        notes.append(Notice("router-over-wifi", values))
    return notes


def _device_notes(
    samples: BulkSamples, devices: Mapping[str, tuple[FloatArray, FloatArray]]
) -> list[Notice]:
    """Compare the smallest frame with what devices did with theirs."""
    regimes = router_regimes(samples)
    if not devices or not regimes:
        return []
    name, first = next(iter(regimes.items()))
    if not first.x.size:
        return []
    own_pps = float(first.measured[0])
    others = {
        device: float(rates[np.argmin(np.abs(frames - first.x[0]))])
        for device, (frames, rates) in devices.items()
    }
    texts = [
        phrase("{ratio:.3g} times {device} ({pps})", ratio=own_pps / pps, device=device,
               pps=show(pps, "packet/s"))
        for device, pps in others.items()
    ]  # fmt: skip
    values = {
        "direction": name, "pps": own_pps, "ratios": texts,
        "captured_bytes": float(first.x[0]) - FCS_BYTES,
    }  # fmt: skip
    return [Notice("router-beside-devices", values)]
