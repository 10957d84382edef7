"""Where a source and a sink are: on loopback, one of another MTU, an emulated path, routed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.emulation.wire.routed import Routed
from netcalc.errors import ExperimentError
from netcalc.experiments.peers.namespace import Namespace
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import CONNECT_S
from netcalc.experiments.transfers.ends import Ends
from netcalc.experiments.transfers.transfer_run import Transfers
from netcalc.models.tcp.window import bdp_bytes
from netcalc.path import Path
from netcalc.units import show

MAX_DRAIN_S = 60.0
"""How long a sink waits for what is on a slow path, at most. [s]"""
_MTU_BYTES = 1500
_LEAST_BUFFER_BYTES = 65_536
_OPENING_BYTES = 60  # the packet that opens a stream, with the options of Linux
_KERNEL_BUFFER_BYTES = 1 << 20


def _version(run: Transfers) -> int:
    return 6 if ":" in run.host else 4


@contextmanager
def both_ends(
    run: Transfers,
    *,
    mtu_bytes: int | None = None,
    path: Path | None = None,
    link_buffer_bytes: int | None = None,
    routed: bool = False,
    **every: Any,
) -> Iterator[Ends]:
    """Start source and sink: on the host's loopback, on one of their own, on a path, routed.

    ``every`` goes to each link of the path. The address family is that of the run's host.
    """
    run.facts.update(instrument.machine(), **instrument.timer())
    run.facts["address_family"] = f"IPv{_version(run)}"
    if routed:
        place = _routed(run, mtu_bytes)
    elif path is not None:
        place = _on_path(run, path, mtu_bytes, link_buffer_bytes, every)
    elif mtu_bytes is not None:
        place = _on_own_loopback(run, mtu_bytes)
    else:
        place = _on_loopback(run)
    with place as ends:
        run.measure_own_error()
        yield ends
        run.measure_own_error()


@contextmanager
def _on_loopback(run: Transfers) -> Iterator[Ends]:
    run.facts.update(instrument.loopback())
    with Ends(run, sink_host=run.host) as ends:
        yield ends


@contextmanager
def _on_own_loopback(run: Transfers, mtu_bytes: int) -> Iterator[Ends]:
    with Namespace(stopping=run.stopping, mtu_bytes=mtu_bytes) as room:
        if not room.own:
            raise ExperimentError(
                f"no namespace of its own for a loopback of another MTU: {room.refused}",
                phase="namespace",
                hint="Without mtu_bytes the run takes the host's loopback",
            )
        run.facts.update(instrument.loopback(), loopback_mtu_bytes=mtu_bytes)
        with Ends(
            run, source_socket=room.socket, sink_socket=room.socket, sink_host=run.host
        ) as ends:
            yield ends


@contextmanager
def _routed(run: Transfers, mtu_bytes: int | None) -> Iterator[Ends]:
    with Routed(mtu_bytes=_MTU_BYTES if mtu_bytes is None else mtu_bytes) as hosts:
        run.facts["routed"] = hosts.truth()
        run.host = hosts.address("B", _version(run))

        def drops() -> dict[str, int]:
            found = hosts.forwarding()
            return {
                "sender_drop_count": 0,  # between its socket and the router there is no queue
                "input_drop_count": found.input_drop_count,
                "line_drop_count": found.output_drop_count,
            }

        with Ends(
            run,
            source_socket=lambda family, kind: hosts.socket("A", family, kind),
            sink_socket=lambda family, kind: hosts.socket("B", family, kind),
            sink_host=run.host,
            drops=drops,
        ) as ends:
            yield ends


@contextmanager
def _on_path(
    run: Transfers,
    path: Path,
    mtu_bytes: int | None,
    link_buffer_bytes: int | None,
    every: dict[str, Any],
) -> Iterator[Ends]:
    handshake_s = float(path.rtt_s(_OPENING_BYTES))
    if handshake_s > CONNECT_S:
        raise ExperimentError(
            f"a connection over this path takes {show(handshake_s, 's')}, awaited are at most "
            f"{show(CONNECT_S, 's')}",
            phase="plan",
            hint="Take a faster or a shorter path",
        )
    if link_buffer_bytes is None:
        link_buffer_bytes = default_link_buffer_bytes(path)
    mtu_bytes = _MTU_BYTES if mtu_bytes is None else mtu_bytes
    with EmulatedPath(path, mtu_bytes=mtu_bytes, buffer_bytes=link_buffer_bytes, **every) as wire:
        run.facts["truth"] = wire.truth()
        run.host = wire.address("B", _version(run))
        with Ends(
            run,
            source_socket=lambda family, kind: wire.socket("A", family, kind),
            sink_socket=lambda family, kind: wire.socket("B", family, kind),
            sink_host=run.host,
            drops=lambda: _dropped_on(wire),
        ) as ends:
            yield ends
        # A full queue is no fault of the wire unless nothing behind was full: judged by row.
        run.note_wire(wire.statistics(), judged=not run.overflowed)


def _dropped_on(wire: EmulatedPath) -> dict[str, int]:
    """Return the drops of a wire; what is before the input of a box is the sender's own."""
    found = wire.statistics()
    first, *others = found.links[0]
    box = others or [first]
    own = first["overrun"] + first["full"] + first["lost"] if others else 0
    return {
        "sender_drop_count": found.device_drop_count + own,
        "input_drop_count": sum(link["overrun"] for link in box),
        "line_drop_count": sum(link["full"] + link["lost"] for link in box) + found.refused_count,
    }


def default_link_buffer_bytes(path: Path) -> int:
    """Return what each link of a path holds if nothing is asked for: twice what the path does."""
    rtt_s = float(path.rtt_s(_MTU_BYTES))
    return max(_LEAST_BUFFER_BYTES, int(2 * bdp_bytes(rtt_s, bandwidth_bps=path.bottleneck_bps)))


def drain_s(path: Path | None, buffer_bytes: int | None, link_buffer_bytes: int | None) -> float:
    """Return how long what has been sent may still be on its way. [s]"""
    if path is None:
        return 0.0
    held = link_buffer_bytes or default_link_buffer_bytes(path)
    held += 2 * (buffer_bytes or _KERNEL_BUFFER_BYTES)
    return min(MAX_DRAIN_S, 2 * float(path.rtt_s(_MTU_BYTES)) + 8 * held / path.bottleneck_bps)
