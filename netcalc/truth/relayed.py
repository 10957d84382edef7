"""An echo through the relay, where the system has no wire: UDP over the host's own loopback."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from netcalc.emulation.relay import Relay
from netcalc.experiments.echo import peer_settings, probe_at, record_instrument
from netcalc.experiments.exchanges.echo_run import Plan, Run
from netcalc.experiments.peers.process import Peer
from netcalc.experiments.running.run import conduct
from netcalc.experiments.running.stopping import Stop
from netcalc.path import Path
from netcalc.samples import RttSamples

HOST = "127.0.0.1"


def echo_through_relay(
    payload_bytes: Sequence[int],
    *,
    path: Path,
    count: int,
    interval_s: float = 0.0,
    timeout_s: float = 1.0,
    stop: Stop | None = None,
) -> RttSamples:
    """Measure round trips of UDP datagrams whose path is a relay's; as :func:`echo` otherwise."""
    plan = Plan(
        sizes=list(payload_bytes),
        count=count,
        protocol="udp",
        host=HOST,
        port=0,
        interval_s=interval_s,
        timeout_s=timeout_s,
    )
    make = partial(Run, plan, command=f"echo_through_relay({list(payload_bytes)})")
    return conduct(make, partial(_relayed, path=path), stop=stop)


def _relayed(run: Run, path: Path) -> None:
    record_instrument(run)
    run.measure_own_error()
    with (
        Peer(peer_settings(run.plan), stopping=run.stopping) as peer,
        Relay(path, target=(HOST, peer.port)) as relay,
    ):
        probe_at(run, relay.address)
        run.facts["wire_lateness_p99_s"] = relay.lateness_s(0.99)
    run.measure_own_error()
