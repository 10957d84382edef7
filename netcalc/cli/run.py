"""``netcalc run``: live measurements on this machine."""

from __future__ import annotations

from typing import Any

import click

from netcalc import experiments
from netcalc.checks import positive
from netcalc.cli import show_help_alone
from netcalc.cli.live import destination, experiment_options, live_run, run_options
from netcalc.cli.mistakes import CommandError, Group
from netcalc.cli.options import Quantity

_PROBED_PATH = "10 Mbit/s 1 ms, T1 5 ms, T3 2 ms"


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def run(ctx: click.Context) -> None:
    """Run a live experiment on this machine, over loopback or an emulated path.

    No packet leaves the machine. Ctrl-C stops a run and keeps its samples.
    """
    show_help_alone(ctx)


@run.command(short_help="Round-trip time by payload size, over UDP, TCP or ICMP.")
@experiment_options(experiments.echo)
@run_options()
def echo(**given: Any) -> None:
    """Round-trip time by payload size, over UDP, TCP or ICMP.

    The default is the ping experiment of Stevens, TCP/IP Illustrated vol. 3: 15 sizes from 8 to
    1400 bytes, 10 probes each. ICMP requires a --path.
    """
    if given["protocol"] == "icmp" and given["path_text"] is None:
        raise CommandError("icmp-requires-path")
    live_run(f"echo over {given['protocol']}", experiments.echo, **given)


@run.command("small-writes", short_help="Response time of a request sent in small writes.")
@experiment_options(experiments.small_writes)
@run_options()
def small_writes(**given: Any) -> None:
    """Response time of a request sent in small writes: Nagle's algorithm and delayed ACKs.

    The default is two writes of 6 and 7 bytes: with Nagle's algorithm, without it, with a flush,
    and in a single write. --path "100 Mbit/s 15 ms" shows the effect over a wide-area path.
    """
    live_run(f"small writes over {destination(**given)}", experiments.small_writes, **given)


@run.command(short_help="One request and its response over five protocols.")
@experiment_options(experiments.transactions)
@run_options()
def transactions(**given: Any) -> None:
    """One request and its response over ping, UDP, TCP Fast Open, TCP and TLS 1.3, by size.

    The default is the experiment of Stevens, TCP/IP Illustrated vol. 3, on a loopback whose packets
    hold 1508 bytes of UDP payload: one byte more takes a second packet. Figures show the first
    protocol; name another one with --protocol.
    """
    live_run(f"transactions over {destination(**given)}", experiments.transactions, **given)


@run.command(short_help="Bulk transfer over TCP or UDP: throughput, loss and CPU cost.")
@experiment_options(
    experiments.bulk,
    names={
        "write_bytes": ("--size", "-s"),
        "write_count": ("--count", "-c"),
        "buffer_bytes": ("--buffer", "-b"),
    },
    bare=True,
)
@run_options()
def bulk(**given: Any) -> None:
    """Bulk transfer over TCP or UDP: throughput, loss and CPU cost.

    The default is the experiment of Snader, Effective TCP/IP Programming: 5000 writes, buffers of
    32 KiB. The options of the book's program work, with --runs 50: -s 1440 -b 32768 -c 5000.
    """
    if given["buffer_bytes"] == (0.0,):
        given["buffer_bytes"] = None  # those of the system
    name = f"bulk over {given['protocol']}, {destination(**given)}"
    live_run(name, experiments.bulk, unit="byte", **given)


@run.command("line-rate", short_help="Packet rate by frame size, and where packets are dropped.")
@experiment_options(experiments.line_rate)
@click.option(
    "--node-rate",
    "node_rate_pps",
    type=Quantity("packet/s"),
    metavar="RATE",
    help='Packets per second that each node of the --path forwards, such as "2 kpps".',
)
@run_options()
def line_rate(node_rate_pps: float | None, **given: Any) -> None:
    """Packet rate by frame size, and where packets are dropped.

    The sender sends as fast as it can: over loopback; through a third namespace whose kernel
    forwards (--routed); or through an emulated node with known limits:
    --path "1 Gbit/s, 10 Mbit/s" --node-rate "2 kpps". The links of the path are Ethernet, with 20
    bytes around each frame.
    """
    if node_rate_pps is not None:
        given["processing_s"] = 1 / float(positive("--node-rate", node_rate_pps))
        if given["path_text"] is not None and "," not in given["path_text"]:
            raise CommandError("node-rate-requires-links")
    given["buffer_bytes"] = given["buffer_bytes"] or None  # 0: those of the system
    name = f"line rate over {destination(**given)}"
    live_run(name, experiments.line_rate, unit="byte", **given)


@run.command(short_help="Goodput of N stop-and-wait senders.")
@experiment_options(experiments.lockstep, names={"write_bytes": ("--size",)})
@run_options()
def lockstep(**given: Any) -> None:
    """Goodput of N stop-and-wait senders: each waits for the reply before it sends again."""
    name = f"lockstep over {destination(**given)}"
    live_run(name, experiments.lockstep, unit="byte", **given)


@run.command(short_help="Rate and latency of each link of a path, by traceroute with sizes.")
@experiment_options(experiments.probing)
@run_options(path=_PROBED_PATH)
def probing(**given: Any) -> None:
    """Rate and latency of each link of a path, by traceroute with probes of several sizes.

    Each estimate is printed with the true value. The error of a fast link behind slow ones exceeds
    its own rate; then only a bound is given.
    """
    live_run(f"probes over {destination(**given)}", experiments.probing, **given)


@run.command("packet-trains", short_help="Bottleneck rate, from packets sent back to back.")
@experiment_options(experiments.packet_trains, descriptions={"seed": "Random seed for --cross."})
@run_options(path=_PROBED_PATH)
def packet_trains(**given: Any) -> None:
    """Bottleneck rate of a path, from the dispersion of packet pairs or longer trains.

    \b
    netcalc run packet-trains --path "T1 2 ms, 10 Mbit/s 1 ms" --cross 30%
    """
    live_run(f"trains over {destination(**given)}", experiments.packet_trains, **given)


@run.command("router-queue", short_help="Wait in a router at a given load, and its distribution.")
@experiment_options(experiments.router_queue, descriptions={"seed": "Random seed."})
@run_options(path="1 Mbit/s 1 ms")
def router_queue(**given: Any) -> None:
    """Wait of datagrams in a router with one line and a finite buffer, at a given load.

    The wait of each datagram is that of the router's own log. Its distribution is compared with
    M/M/1, M/D/1 and M/M/1/K at the measured load, and with that of one server for the arrivals as
    they came; the times between these are compared with a Poisson process.

    \b
    netcalc run router-queue --arrivals bursty --plot waits.html
    """
    live_run(f"router queue over {destination(**given)}", experiments.router_queue, **given)
