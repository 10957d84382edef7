"""Panels of the lesson on line rate and forwarding devices."""

from __future__ import annotations

import numpy as np

from netcalc import datasets, solver
from netcalc.checks import FloatArray
from netcalc.errors import ReaderError
from netcalc.language import phrase, term
from netcalc.models.rates import forwarding, line_rate, packet_rates
from netcalc.models.sizes import framing
from netcalc.plots import Axis, curves
from netcalc.rate_layers import ETHERNET_LINE, TCP_PAYLOAD, named
from netcalc.samples import Samples
from netcalc.units import show, show_rate
from netcalc.widgets.controls import Quantity
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.upload import upload

_FRAMES = np.unique(np.geomspace(64, 9018, 150).round())
_CAPTURED = np.linspace(60, 1514, 150)
_LINE_BPS = 100e6
_YOUR_DEVICE = term("your device")


def frame_rate_panel() -> Panel:
    """Frames per second by size, at the speeds of Ethernet."""
    speeds = {"100 Mbit/s": 1e8, "1 Gbit/s": 1e9, "10 Gbit/s": 1e10, "100 Gbit/s": 1e11}
    yours = term("your line")
    # RFC 2544, appendix B, and RFC 5180, appendix A.1: the tables that testers use.
    table = {64: 148_809, 128: 84_459, 256: 45_289, 512: 23_496, 1024: 11_973, 1518: 8_127}
    plot = curves(
        _FRAMES,
        dict.fromkeys((*speeds, yours), _FRAMES),
        points={
            "RFC 2544, 100 Mbit/s": (list(map(float, table)), list(map(float, table.values())))
        },
        x_axis=Axis("frame with FCS", "byte", "log", 60, 9500),
        y_axis=Axis("frames", "packet/s", "log", 1e2, 1e9),
        title="Small frames are the demanding case",
    )
    figure = Figure(plot)

    def update(frame_bytes: float, bandwidth_bps: float) -> tuple[float, float]:
        figure.update_all(
            {
                name: {"y": line_rate.frame_rate_pps(_FRAMES, bandwidth_bps=rate)}
                for name, rate in {**speeds, yours: bandwidth_bps}.items()
            }
        )
        rate = float(line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=bandwidth_bps))
        framed = float(line_rate.frame_throughput_bps(frame_bytes, bandwidth_bps=bandwidth_bps))
        figure.describe(
            phrase(
                "{frame} at {bandwidth}: {rate}, one every {rate_2}; {framed:.1%} of the line "
                "rate is frames, the rest preamble and gap.",
                frame=show(frame_bytes, "byte"),
                bandwidth=show_rate(bandwidth_bps, ETHERNET_LINE),
                rate=show(rate, "packet/s", digits=6),
                rate_2=show(1 / rate, "s"),
                framed=framed / bandwidth_bps,
            )
        )
        return frame_bytes, rate

    controls = {
        "frame_bytes": Quantity(
            "frame", "64 B", unit="byte", low="64 B", high="9018 B", whole=True
        ),
        "bandwidth_bps": Quantity(
            "your line", "10 Gbit/s", unit="bit/s", low="10 Mbit/s", high="800 Gbit/s"
        ),
    }
    what = term("frames in a second of this size on your line")
    return panel(figure, controls, update, predict=what, unit="packet/s")


def router_panel() -> Panel:
    """Two home routers: the packet rate of the device and the limit of its line."""
    data = datasets.load("router_throughput").columns()
    routers = list(dict.fromkeys(str(name) for name in data["router"]))
    wire_limit, box = term("limit of the 100 Mbit/s line"), term("device with these costs")
    points = {
        phrase("router of {name}", name=name): (
            data["captured_bytes"][data["router"] == name],
            data["frame_rate_pps"][data["router"] == name],
        )
        for name in routers
    }
    frames = framing.captured_frame_bytes(_CAPTURED)
    plot = curves(
        _CAPTURED,
        {
            wire_limit: line_rate.frame_rate_pps(frames, bandwidth_bps=_LINE_BPS),
            box: _CAPTURED,
        },
        points={**points, _YOUR_DEVICE: ([np.nan], [np.nan])},
        x_axis=Axis("captured frame", "byte", "linear", 0, 1600),
        y_axis=Axis("data frames", "packet/s", "log", 1e3, 3e5),
        title="Is the limit the device or its line?",
    )
    figure = Figure(plot)

    def update(device_pps: float, byte_cost: float) -> None:
        own = forwarding.affine_rate_pps(frames, packet_cost=1 / device_pps, byte_cost=byte_cost)
        limit = line_rate.frame_rate_pps(frames, bandwidth_bps=_LINE_BPS)
        figure.update(box, y=np.minimum(own, limit))
        crossed = np.flatnonzero(limit <= own)
        where = (
            phrase(
                "From {captured} captured, the line is the limit",
                captured=show(float(_CAPTURED[crossed[0]]), "byte"),
            )
            if crossed.size
            else phrase("The device is the limit at every size")
        )
        passed, carried = (float(np.interp(64, _CAPTURED, rate)) for rate in (own, limit))
        figure.describe(
            phrase(
                "{where}; at 64 bytes the device forwards {passed} of the {carried} that the "
                "line can carry.",
                where=where,
                passed=show(passed, "packet/s"),
                carried=show(carried, "packet/s"),
            )
        )

    controls = {
        "device_pps": Quantity(
            "device, 0 bytes", "11400 pps", unit="packet/s", low="1 kpps", high="300 kpps"
        ),
        "byte_cost": Quantity(
            "time per byte",
            "15.5 ns/B",
            unit="s/byte",
            low="0 ns/B",
            high="100 ns/B",
            scale="linear",
        ),
    }

    def own_device(samples: Samples) -> None:
        figure.update(_YOUR_DEVICE, x=_column(samples, "byte"), y=_column(samples, "packet/s"))

    own = upload("Your own device, columns of frame size and packet rate", own_device)
    return panel(figure, controls, update, below=[own])


def _column(samples: Samples, unit: str) -> FloatArray:
    """The first column of that unit."""
    for name, values in samples.columns().items():
        if samples.meta.units.get(name) == unit:
            return values
    raise ReaderError(
        "no-column-of-unit",
        wanted_unit=unit,
        file=samples.meta.source or "this file",
        expected='columns such as "frame [B]" and "rate [pps]"',
    )


def behind_printed_rate(
    printed_pps: float = 3146.0, *, captured_bytes: tuple[float, ...] = (256, 512, 1024, 1514)
) -> dict[float, float]:
    """Data frames per second behind a rate that the article printed, by the size it might be of.

    Parameters
    ----------
    printed_pps : float
        Rate that the article computed, with 6 Mbit/s added to a goodput. [packet/s]
    captured_bytes : tuple of float
        Sizes of which it might be; one at which the goodput would be negative is left out. [byte]

    Returns
    -------
    dict of float to float
        Size [byte] to data frames per second [packet/s].
    """
    behind = {}
    for size in captured_bytes:
        for root in solver.solve(
            packet_rates.constant_offset_rate_pps,
            for_="goodput_bps",
            result=printed_pps,
            frame_bytes=size,
        ):
            payload = framing.captured_tcp_payload_bytes(size)
            behind[size] = float(packet_rates.goodput_rate_pps(root.value, payload_bytes=payload))
    return behind


def conversion_panel() -> Panel:
    """From goodput to packets per second: the constant 6 Mbit/s against the proportional part."""
    data = datasets.load("router_throughput").columns()
    cheap = data["router"] == "100 yuan"
    modes = {"one record a frame, 100 pairs": 100, "default script, 1 pair": 1}
    rows = {name: cheap & (data["pair_count"] == count) for name, count in modes.items()}
    behind = behind_printed_rate()
    constant, proportional = term("adding a constant"), term("dividing by the payload")
    payload = framing.captured_tcp_payload_bytes(_CAPTURED)
    ends = {size: float(framing.captured_tcp_payload_bytes(size)) for size in (64.0, 1514.0)}
    plot = curves(
        _CAPTURED,
        {constant: _CAPTURED, proportional: _CAPTURED},
        points={
            **{
                name: (data["captured_bytes"][row], data["frame_rate_pps"][row])
                for name, row in rows.items()
            },
            "what 3146 pps would be": (list(behind), list(behind.values())),
        },
        x_axis=Axis("captured frame", "byte", "linear", 0, 1600),
        y_axis=Axis("packets", "packet/s", "linear", 0, 12_000),
        title="One device, two conversions: most of the fall is the constant",
    )
    figure = Figure(plot)

    def update(device_pps: float, offset_bps: float) -> None:
        goodput = packet_rates.rate_goodput_bps(device_pps, payload_bytes=payload)
        wrong = packet_rates.constant_offset_rate_pps(
            np.asarray(goodput), frame_bytes=_CAPTURED, offset_bps=offset_bps, min_frame_bytes=0
        )
        right = packet_rates.goodput_rate_pps(goodput, payload_bytes=payload)
        figure.update_all({constant: {"y": wrong}, proportional: {"y": right}})
        at_64, at_1514 = (
            float(
                packet_rates.constant_offset_rate_pps(
                    packet_rates.rate_goodput_bps(device_pps, payload_bytes=payload_bytes),
                    frame_bytes=size,
                    offset_bps=offset_bps,
                )
            )
            for size, payload_bytes in ends.items()
        )
        figure.describe(
            phrase(
                "A device of {device} at every size: adding {offset} to its goodput yields "
                "{at_64} at 64 bytes and {at_1514} at 1514. The article printed 9346 and 3146; "
                "behind the second are at most {value}, of whichever size.",
                device=show(device_pps, "packet/s"),
                offset=show_rate(offset_bps, TCP_PAYLOAD),
                at_64=show(at_64, "packet/s"),
                at_1514=show(at_1514, "packet/s"),
                value=show(max(behind.values()), "packet/s"),
            )
        )

    controls = {
        "device_pps": Quantity(
            "the device", "3512 pps", unit="packet/s", low="1 kpps", high="10 kpps", scale="linear"
        ),
        "offset_bps": Quantity(
            "constant", "6 Mbit/s", unit="bit/s", low="0 bit/s", high="10 Mbit/s", scale="linear"
        ),
    }
    return panel(figure, controls, update)


def two_devices_panel() -> Panel:
    """Two devices on one line: one forwards twice the packets, and only small ones show it."""
    data = datasets.load("router_throughput").columns()
    slow, fast, line = (
        term("the one device"),
        term("the other device"),
        term("limit of the 100 Mbit/s line"),
    )
    payload = framing.captured_tcp_payload_bytes(_CAPTURED)
    frames = framing.captured_frame_bytes(_CAPTURED)
    wire_pps = line_rate.frame_rate_pps(frames, bandwidth_bps=_LINE_BPS)
    routers = list(dict.fromkeys(str(name) for name in data["router"]))
    plot = curves(
        _CAPTURED,
        {
            slow: _CAPTURED,
            fast: _CAPTURED,
            line: packet_rates.rate_goodput_bps(wire_pps, payload_bytes=payload),
        },
        points={
            phrase("router of {name}", name=name): (
                data["captured_bytes"][data["router"] == name],
                data["goodput_bps"][data["router"] == name],
            )
            for name in routers
        },
        x_axis=Axis("captured frame", "byte", "linear", 0, 1600),
        y_axis=Axis(named("goodput", TCP_PAYLOAD), "bit/s", "log", 1e5, 2e8),
        title="Twice the packets: when does it show?",
    )
    figure = Figure(plot)

    def update(device_pps: float, other_pps: float) -> None:
        rates = {slow: device_pps, fast: other_pps}
        goodput = {
            name: packet_rates.rate_goodput_bps(np.minimum(rate, wire_pps), payload_bytes=payload)
            for name, rate in rates.items()
        }
        figure.update_all({name: {"y": rate} for name, rate in goodput.items()})
        ratio = goodput[fast] / goodput[slow]
        whole = float(line_rate.frame_rate_pps(64, bandwidth_bps=_LINE_BPS))
        figure.describe(
            phrase(
                "At 64 bytes captured the other device passes {interp:.2f} times as much, at "
                "1514 {ratio:.2f} times: large frames fill the line first. {device} are "
                "1/{whole:.1f} of the {whole_2} that 100 Mbit/s carry in the smallest frames; "
                "the article rounds that of 10,000 to 1/14.",
                interp=np.interp(64, _CAPTURED, ratio),
                ratio=ratio[-1],
                device=show(device_pps, "packet/s"),
                whole=whole / device_pps,
                whole_2=show(whole, "packet/s", digits=6),
            )
        )

    controls = {
        "device_pps": Quantity(slow, "10 kpps", unit="packet/s", low="1 kpps", high="150 kpps"),
        "other_pps": Quantity(fast, "20 kpps", unit="packet/s", low="1 kpps", high="150 kpps"),
    }
    return panel(figure, controls, update)
