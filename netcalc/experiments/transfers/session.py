"""A run of transfers: where its two ends are, its limits, and its course.

The ends are on the loopback, on one of another MTU, at an emulated path, or routed by a third
namespace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.emulation.wire.routed import Routed
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments.peers.process import Namespace
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import (
    CONNECT_S,
    MAX_BULK_BYTES,
    MAX_DURATION_S,
    ip_version,
    require_path,
    whole_number,
)
from netcalc.experiments.running.run import Common
from netcalc.experiments.transfers.transfer import WAKE_BYTES, Ends, Transfer, Transfers
from netcalc.models.tcp.window import bdp_bytes
from netcalc.path import Path
from netcalc.samples import BulkSamples

LINGER_S = 0.05
"""Time without a datagram after which a sink stops, on a path plus a round trip: several time
slices of a busy machine. [s]"""
MAX_DRAIN_S = 60.0
"""Longest time for the data on a slow path to arrive after the last write. [s]"""
_MTU_BYTES = 1500
_LEAST_BUFFER_BYTES = 65_536  # of a link: less than one super-packet of TCP would drop every one
_SYN_BYTES = 60  # with the options of Linux
_KERNEL_BUFFER_BYTES = 1 << 20  # what the kernel may hold where it chooses the buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where source and sink are, and the path between them.

    Parameters
    ----------
    path : Path, optional
        Emulated between the two.
    routed : bool
        A third namespace routes between the two.
    mtu_bytes : int, optional
        MTU of the interfaces; without path and routing the MTU of a loopback of its own.
    link_buffer_bytes : int, optional
        Buffer of each link of the path; by default twice its bandwidth-delay product.
    link_options : mapping
        Further options of :class:`~netcalc.emulation.wire.emulated_path.EmulatedPath`.
    """

    path: Path | None = None
    routed: bool = False
    mtu_bytes: int | None = None
    link_buffer_bytes: int | None = None
    link_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_path(self.path)
        if self.routed and self.path is not None:
            raise DomainError("not-with-path", "routed", True)
        if self.link_buffer_bytes is not None:
            checked = whole_number("link_buffer_bytes", self.link_buffer_bytes, 1, 1 << 30)
            object.__setattr__(self, "link_buffer_bytes", checked)

    @property
    def name(self) -> str:
        """Name of the placement, as in the samples."""
        if self.path is not None:
            return "emulated path"
        return "routed by a third namespace" if self.routed else "loopback"

    @property
    def buffer_bytes(self) -> int:
        """Buffer of each link of the path. [byte]"""
        assert self.path is not None
        if self.link_buffer_bytes is not None:
            return self.link_buffer_bytes
        return default_link_buffer_bytes(self.path)

    def linger_s(self, datagram_bytes: int) -> float:
        """Return how long a sink of datagrams waits for the next one. [s]"""
        rtt_s = 0.0 if self.path is None else float(self.path.rtt_s(datagram_bytes))
        return LINGER_S + rtt_s

    def drain_s(self, socket_buffer_bytes: int | None) -> float:
        """Return how long data can take to arrive after the last write. [s]"""
        if self.path is None:
            return 0.0
        held = self.buffer_bytes + 2 * (socket_buffer_bytes or _KERNEL_BUFFER_BYTES)
        rtt_s = float(self.path.rtt_s(_MTU_BYTES))
        return min(MAX_DRAIN_S, 2 * rtt_s + 8 * held / self.path.bottleneck_bps)


def default_link_buffer_bytes(path: Path) -> int:
    """Return the default buffer of each link: twice the bandwidth-delay product of the path."""
    rtt_s = float(path.rtt_s(_MTU_BYTES))
    return max(_LEAST_BUFFER_BYTES, int(2 * bdp_bytes(rtt_s, bandwidth_bps=path.bottleneck_bps)))


@contextmanager
def both_ends(run: Transfers, placement: Placement) -> Iterator[Ends]:
    """Start source and sink where they belong, in the address family of the run's host."""
    run.record_machine(ip_version(run.host))
    if placement.routed:
        opened = _routed(run, placement)
    elif placement.path is not None:
        opened = _on_path(run, placement, placement.path)
    elif placement.mtu_bytes is not None:
        opened = _on_own_loopback(run, placement.mtu_bytes)
    else:
        opened = _on_loopback(run)
    with opened as ends, run.measuring():
        yield ends


@contextmanager
def _on_loopback(run: Transfers) -> Iterator[Ends]:
    run.facts.update(instrument.loopback())
    with Ends(run, sink_host=run.host, wake_bytes=WAKE_BYTES) as ends:
        yield ends


@contextmanager
def _on_own_loopback(run: Transfers, mtu_bytes: int) -> Iterator[Ends]:
    with Namespace(stopping=run.stopping, mtu_bytes=mtu_bytes) as namespace:
        if not namespace.own:
            raise ExperimentError("namespace-refused", phase="namespace", reason=namespace.refused)
        run.facts.update(instrument.loopback(), loopback_mtu_bytes=mtu_bytes)
        opener = namespace.socket
        with Ends(run, source_socket=opener, sink_socket=opener, sink_host=run.host) as ends:
            yield ends


@contextmanager
def _routed(run: Transfers, placement: Placement) -> Iterator[Ends]:
    with (
        Routed(mtu_bytes=placement.mtu_bytes or _MTU_BYTES) as hosts,
        run.stopping.watching(hosts.require_alive),
    ):
        run.facts["routed"] = hosts.truth()
        run.host = hosts.address("B", ip_version(run.host))

        def drops() -> dict[str, int]:
            counters = hosts.forwarding()
            return {
                "sender_drop_count": 0,  # between its socket and the router there is no queue
                "input_drop_count": counters.input_drop_count,
                "line_drop_count": counters.output_drop_count,
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
def _on_path(run: Transfers, placement: Placement, path: Path) -> Iterator[Ends]:
    handshake_s = float(path.rtt_s(_SYN_BYTES))
    if handshake_s > CONNECT_S:
        raise ExperimentError(
            "handshake-too-long", phase="plan", handshake_s=handshake_s, limit_s=CONNECT_S
        )
    emulated = EmulatedPath(
        path,
        mtu_bytes=placement.mtu_bytes or _MTU_BYTES,
        buffer_bytes=placement.buffer_bytes,
        **placement.link_options,
    )
    with emulated, run.stopping.watching(emulated.require_alive):
        run.facts["truth"] = emulated.truth()
        run.host = emulated.address("B", ip_version(run.host))
        with Ends(
            run,
            source_socket=lambda family, kind: emulated.socket("A", family, kind),
            sink_socket=lambda family, kind: emulated.socket("B", family, kind),
            sink_host=run.host,
            drops=lambda: _drops_on(emulated),
            empty=lambda: emulated.statistics().is_empty,
        ) as ends:
            yield ends
        # With an overflowing queue the path is not to blame; each row says where the limit was.
        run.add_path_statistics(emulated.statistics(), judged=not run.overflowed)


def _drops_on(emulated: EmulatedPath) -> dict[str, int]:
    """Return the drops of an emulated path; those before the first node are the sender's."""
    statistics = emulated.statistics()
    first, *others = statistics.links[0]
    nodes = others or [first]
    own = first["overrun"] + first["full"] + first["lost"] if others else 0
    return {
        "sender_drop_count": statistics.device_drop_count + own,
        "input_drop_count": sum(link["overrun"] for link in nodes),
        "line_drop_count": sum(link["full"] + link["lost"] for link in nodes)
        + statistics.refused_count,
    }


MAX_TRANSFERS = 10_000
"""Transfers of a run: their rows fit a notebook, their connections the free ports. [1]"""
MAX_TOGETHER = 64
"""Datagrams that the kernel accepts in one call (UDP_MAX_SEGMENTS of Linux). [1]"""
MAX_TOGETHER_BYTES = 65_507
"""Payload that the kernel accepts in one call: of the largest datagram. [byte]"""


def run_transfers(
    transfers: Sequence[Transfer],
    placement: Placement,
    common: Common,
    *,
    experiment: str,
    unit: str,
    command: str,
    facts: Mapping[str, Any] | None = None,
) -> BulkSamples:
    """Do the transfers one after the other and return their samples."""
    require_bounded_transfers(transfers)
    protocol = transfers[0].protocol

    def measure(run: Transfers) -> None:
        run.facts.update(facts or {})
        with both_ends(run, placement) as ends:
            for transfer in transfers:
                run.stopping.check()
                ends.move(transfer)

    make = partial(
        Transfers,
        experiment=experiment,
        protocol=protocol,
        target=f"{placement.name}, {protocol.upper()}",
        total_count=len(transfers),
        unit=unit,
        host=common.address,
        command=command,
    )
    return common.conduct(make, measure)


def require_bounded_transfers(transfers: Sequence[Transfer]) -> None:
    """Refuse a run whose estimated count, volume or time is above a limit."""
    finite = [transfer for transfer in transfers if not transfer.endless]
    carried_bytes = sum(transfer.total_bytes for transfer in finite)
    duration_s = sum(transfer.limit_s for transfer in transfers if transfer.endless)
    values: dict[str, Any]
    if duration_s > MAX_DURATION_S:
        code, values = "transfers-too-long", {"duration_s": duration_s, "limit_s": MAX_DURATION_S}
    elif len(transfers) > MAX_TRANSFERS:
        code, values = "too-many-transfers", {"count": len(transfers), "limit": MAX_TRANSFERS}
    elif carried_bytes > MAX_BULK_BYTES:
        code = "too-many-transfer-bytes"
        values = {"carried_bytes": carried_bytes, "limit_bytes": MAX_BULK_BYTES}
    else:
        return
    raise ExperimentError(code, phase="plan", **values)
