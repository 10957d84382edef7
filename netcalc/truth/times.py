"""Settings of the truth table that measure times: echo, small writes, transactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc import compare
from netcalc.errors import ExperimentError
from netcalc.experiments.running import instrument
from netcalc.experiments.small_writes import small_writes
from netcalc.experiments.transactions import transactions
from netcalc.models.sizes.headers import ip_header_bytes
from netcalc.models.tcp.handshakes import round_trips
from netcalc.truth.bench import Bench, Setting, cost, least_s
from netcalc.truth.rows import TruthRow

ECHO_HEADERS_BYTES = {"udp": 8, "icmp": 8, "tcp": 32}
"""Headers between IP and the data of an echo. [byte]"""
_NAMES = {"udp": "UDP", "icmp": "ICMP", "tcp": "TCP"}


def echo_setting(
    path_text: str,
    *sizes: int,
    protocol: str = "udp",
    version: int = 4,
    count: int = 8,
    runs: int = 1,
    **options: Any,
) -> Setting:
    """Round trips by size, compared with the time of the path for that size.

    With several runs the smallest of all counts, as several runs calibrate the hosts.
    """
    name = _NAMES[protocol] + (" IPv6" if version == 6 else "")
    what = tuple(f"{name} {size} B" for size in sizes)
    headers = ip_header_bytes(version) + ECHO_HEADERS_BYTES[protocol]

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        runs_samples = [
            bench.run_echo(sizes, path=path, count=count, protocol=protocol, version=version)
            for _ in range(runs)
        ]
        samples = min(runs_samples, key=lambda run: least_s(run.best_s))
        added = cost(bench, protocol, samples, path)
        times_s = np.concatenate([run.best_s for run in runs_samples])
        at = np.concatenate([np.asarray(run.payload_bytes)[run.measured] for run in runs_samples])
        relayed = any(notice.code == "relay-used" for notice in samples.meta.warnings)
        by = ", relay" if relayed else ""
        for size, text in zip(sizes, what, strict=True):
            yield setting.row(
                text + by,
                predicted=float(path.rtt_s(size + headers)) + added.host.time_s(size),
                measured=least_s(times_s[at == size]),
                statistic=f"smallest of {runs * count}",
                **added.errors(payload_bytes=size),
            )

    options["needs_wire"] = protocol != "udp" or version != 4
    return Setting("echo", path_text, what, "round trip", "s", measure, **options)


def small_writes_setting(
    path_text: str, *modes: str, quickack: bool = False, count: int = 5, **options: Any
) -> Setting:
    """Requests in two writes, by mode; with Nagle's algorithm the first round is a separate row.

    The timer of a delayed acknowledgement may fire a tick of the kernel earlier or later.
    """
    shown = [(mode, False) for mode in modes]
    if "nagle" in modes and not quickack:
        shown.insert(0, ("nagle", True))
    suffix = ", quick ACK" if quickack else ""
    what = tuple(f"{mode}{', first round' if first else suffix}" for mode, first in shown)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.require_complete(
            small_writes(
                modes=modes, quickack=quickack, count=count, path=path, stop=bench.should_stop
            )
        )
        compared = compare.small_writes(samples, path=path)
        rows = np.asarray(samples.measured)
        mode_of, warm_up = np.asarray(samples.mode)[rows], np.asarray(samples.warm_up)[rows]
        added = cost(bench, "tcp", samples, path)
        for (mode, first), text in zip(shown, what, strict=True):
            at = (mode_of == mode) & (warm_up == first)
            waits = mode == "nagle"
            held = waits and not first and not quickack
            errors = added.errors(1 + waits)
            errors["own_error"] += instrument.tick_s() if held else 0.0
            times = compared.measured[at]
            if not times.size:
                raise ExperimentError("row-without-response", phase="small-writes", row=text)
            yield setting.row(
                text,
                predicted=float(np.median(compared.predicted[at]))
                + (1 + waits) * added.host.exchange_s,
                measured=float(np.median(times)) if held else least_s(times),
                statistic=f"{'median' if held else 'smallest'} of {times.size}",
                both_ways=held,
                **errors,
            )

    return Setting("small-writes", path_text, what, "response", "s", measure, **options)


def transactions_setting(
    path_text: str, size: int, *protocols: str, count: int = 6, **options: Any
) -> Setting:
    """A request and a response of one size, by protocol."""
    what = tuple(f"{protocol} {size} B" for protocol in protocols)

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        samples = bench.require_complete(
            transactions(
                [size],
                protocols=protocols,
                count=count,
                path=path,
                tap=False,
                stop=bench.should_stop,
            )
        )
        for protocol, text in zip(protocols, what, strict=True):
            compared = compare.transactions(samples, mode=protocol, path=path)
            transport, security, _ = compare.TRANSACTIONS_OVER[protocol]
            if not compared.x.size:
                raise ExperimentError("row-without-response", phase="transactions", row=text)
            exchange = {"ping": "icmp", "udp": "udp"}.get(protocol, "tcp")
            added = cost(bench, exchange, samples, path)
            exchanges = float(round_trips(transport, security=security))
            yield setting.row(
                text,
                predicted=float(compared.predicted[0]) + exchanges * added.host.time_s(size),
                measured=float(compared.measured[0]),
                statistic=f"smallest of {count}",
                **added.errors(exchanges, payload_bytes=size),
            )

    return Setting("transactions", path_text, what, "transaction", "s", measure, **options)
