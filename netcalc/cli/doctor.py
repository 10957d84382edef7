"""``netcalc doctor``: what this machine can measure and emulate, and how accurately.

A file of its own, as ``validate`` loads all experiments, for which the doctor need not wait.
"""

from __future__ import annotations

import inspect
import platform
import sys
from typing import Any

import click
import numpy as np

from netcalc import units, version
from netcalc.cli import options, print_json, say
from netcalc.emulation import Capabilities, capabilities
from netcalc.errors import ExperimentError, MixedInstallationWarning
from netcalc.experiments import EXPERIMENTS, echo
from netcalc.experiments.peers import abilities
from netcalc.experiments.running import instrument, limits
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.path import Path

PATH_TEXT = "T1 5 ms"
PAYLOAD_BYTES = 500


@options.command(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."))
def doctor(as_json: bool) -> None:
    """Report what this machine can measure and emulate, how accurately, and what it lacks.

    Takes about four seconds. No packet leaves the machine, and nothing is left behind.
    """
    machine = capabilities()
    report: dict[str, Any] = {
        **machine.as_dict(),
        "mixed_with": version.mixed_with(),
        **instrument.timer(),
        "exchange_call_s": instrument.exchange_call_s("127.0.0.1"),
        **instrument.scheduling(instrument.scheduling_delays_s(500)),
        "processor_ratio": instrument.processor_ratio(),
        "machine": instrument.machine(),
        "peer": with_a_peer(),
        "link": link_accuracy(machine),
    }
    if as_json:
        print_json(report)
        return
    for line in lines(machine, report):
        say(line)


def with_a_peer() -> dict[str, list[str]]:
    """Return what this system runs with a peer, and as one, and what only Linux does."""
    if sys.platform in limits.WITHOUT_SOCKETS:
        return {"experiments": [], "lacks": []}
    names = [
        experiment.command
        for experiment in EXPERIMENTS.values()
        if "peer" in inspect.signature(experiment.measure).parameters
    ]
    return {"experiments": names, "lacks": abilities.lacks()}


def link_accuracy(machine: Capabilities) -> dict[str, Any]:
    """Ping over an emulated path for two seconds; return the true time and the errors."""
    path = Path.parse(PATH_TEXT)
    truth_s = float(path.rtt_s(PAYLOAD_BYTES + DATAGRAM_HEADERS_BYTES))
    report: dict[str, Any] = {"path": PATH_TEXT, "truth_s": truth_s}
    if not machine.wire:
        return {**report, "why_not": machine.why_not}
    try:
        samples = echo([PAYLOAD_BYTES], protocol="icmp", count=20, interval_s=0.1, path=path)
    except ExperimentError as error:
        return {**report, "why_not": str(error)}
    errors_s = samples.best_s - truth_s
    return {
        **report,
        "ping_count": errors_s.size,
        "error_min_s": float(errors_s.min()),
        "error_median_s": float(np.median(errors_s)),
        "error_p95_s": float(np.percentile(errors_s, 95)),
        "wire_lateness_p99_s": samples.meta.instrument.wire_lateness_p99_s,
        "wire_late_ratio": samples.meta.instrument.wire_late_ratio,
        "warnings": list(map(str, samples.meta.warnings)),
    }


def lines(host: Capabilities, report: dict[str, Any]) -> list[str]:
    """Return the report as text."""

    def time(name: str) -> str:
        return units.show(report[name], "s", digits=2)

    programs = ", ".join(name for name, file in host.programs.items() if file) or "none"
    missing = ", ".join(name for name, file in host.programs.items() if not file) or "none"
    machine = report["machine"]
    load = f", load {machine['load_1min']:.1f}" if "load_1min" in machine else ""
    cpus = machine.get("usable_cpu_count", machine["cpu_count"])
    text = [
        f"machine      {platform.system()} {host.kernel}, {cpus} CPUs{load}",
        f"namespaces   {'yes, ' + _WAYS[host.way] if host.wire else 'no: ' + host.why_not}",
        f"TUN device   {host.tun}{', with offloads' if host.offload else ''}",
        f"IPv6         {'yes' if host.ipv6 else 'no'}",
        f"TCP          {' '.join(host.congestion_controls) or 'not listed by this system'}; "
        f"on the host this user may choose {' '.join(host.allowed_congestion_controls) or 'none'}",
        f"programs     {programs}; not installed: {missing}",
        f"clock        resolution {time('timer_resolution_s')}, {time('clock_call_s')} per reading",
        f"calls        {time('exchange_call_s')} for one send and one receive",
        f"scheduling   timers fire {time('scheduling_delay_median_s')} late (median), "
        f"{time('scheduling_delay_p99_s')} (p99); a busy program gets "
        f"{report['processor_ratio']:.0%} of a CPU, in turns with the others",
    ]
    if mixed := report["mixed_with"]:
        warning = MixedInstallationWarning(
            "mixed-installation", names=mixed, folder=version.FOLDER, extra=""
        )
        text.insert(0, f"netcalc      {warning}")
    return text + _peer_lines(report["peer"]) + _link_lines(report["link"])


def _peer_lines(peer: dict[str, list[str]]) -> list[str]:
    if not peer["experiments"]:
        return ["peer         no: this system has no sockets"]
    texts = [f"peer         serves and runs {', '.join(peer['experiments'])}"]
    for does, names in (("count", abilities.UNCOUNTED), ("have", abilities.IMPOSSIBLE)):
        if missing := [_LACKS[name] for name in names if name in peer["lacks"]]:
            texts.append(f"             does not {does} {', '.join(missing)}")
    return texts


def _link_lines(link: dict[str, Any]) -> list[str]:
    if "why_not" in link:
        return [f"link         not measured: {link['why_not']}"]

    def time(name: str) -> str:
        return units.show(link[name], "s", digits=2)

    texts = [
        f"link         {link['path']}, ping of {PAYLOAD_BYTES} bytes: "
        f"{units.show(link['truth_s'], 's', digits=4)} predicted; measured minus predicted: "
        f"minimum {time('error_min_s')}, median {time('error_median_s')}, "
        f"p95 {time('error_p95_s')} ({link['ping_count']} pings)"
    ]
    return texts + [f"             {warning}" for warning in link["warnings"]]


_LACKS = {
    "window_bytes": "data in flight",
    "receiver_drop_count": "drops at a socket",
    "system_s": "the system time of a thread",
    "wait_count": "its waits",
    "arrival_stamps": "arrivals by the kernel's clock",
    "congestion_control": "a choice of congestion control",
    "datagrams_per_call": "several datagrams per call",
    "quickack": "quick acknowledgements",
    "tfo": "TCP Fast Open",
    "cork": "corked writes",
    "more": "writes that announce more",
}
_WAYS = {
    "root": "made as root",
    "user namespace": "made unprivileged, in a user namespace",
}
