"""``netcalc run``: live measurements on this machine, or between it and a peer."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from netcalc import experiments
from netcalc.calculator import Parameter
from netcalc.checks import positive
from netcalc.cli import complain, ending_quietly, mistakes, output, print_json, say, show_help_alone
from netcalc.cli.options import (
    PEER_OPTIONS,
    QuantityType,
    command,
    options_of,
    plot_option,
    read_path,
    read_peer,
    tell_latency,
)
from netcalc.cli.report import describe, print_samples, summary
from netcalc.errors import ExperimentError
from netcalc.messages import Notice

_PROBED_PATH = "10 Mbit/s 1 ms, T1 5 ms, T3 2 ms"
_NAMES: dict[str, str] = {
    "payload_bytes": "--size",
    "modes": "--mode",
    "protocols": "--protocol",
    "write_gap_s": "--gap",
    "run_count": "--runs",
    "pair_count": "--pairs",
    "packet_count": "--packets",
    "congestion_control": "--congestion",
    "input_packets": "--node-input",
    "datagrams_per_call": "--gso",
}
"""Names of options that are shorter than those of the arguments; both work."""
_FORMER = {"datagrams_per_call": ("--together",)}
"""Names that options had before; they work, too."""
_HELP = {
    "timeout_s": "Reply timeout.",
    "duration_s": "Duration of each run.",
    "limit_s": "Time limit of a transfer.",
    "buffer_bytes": "Requested socket buffers (SO_SNDBUF, SO_RCVBUF); 0 keeps the system's.",
    "congestion_control": "TCP congestion control, such as reno; the system's if omitted.",
    "mtu_bytes": "MTU of the path, or of a loopback of the run's own.",
    "input_packets": "Capacity of the input queue of each node of the --path, in packets.",
    "seed": "Random seed for --loss.",
}
"""Descriptions that differ from those of the arguments: there is no None, and times have units."""
_METAVARS = {"host": "ADDRESS", "pcap": "FILE.pcap", "congestion_control": "NAME"}
_OWN = {"path", "peer", "save", "progress", "stop"}
"""Arguments that every live run has, and this module gives."""
_OF_PATH = ("link_buffer_bytes", "loss_ratio", "input_packets", "node_rate_pps")
"""Options about the links or nodes of a path."""
_WITHOUT_PEER = {"path_text", "host", "port", "mtu_bytes", "routed"}
"""Options about where a run on this machine goes."""
_REPORTED_WITH = {
    "echo": ("scipy.special",),
    "line_rate": ("scipy.special",),
    "router": ("scipy.special",),
    "transactions": ("scipy.special", "scipy.optimize"),
}
"""Modules that the report of a run needs, by experiment: loaded before the run, so that its end
does not wait for them after Ctrl-C."""
_OF_EVERY_RUN = (
    click.Option(
        ["--save", "save_path"],
        metavar="FILE.json",
        help="File to save the samples to; written every second, at the end and on failure.",
    ),
    plot_option("Draw the samples with theory through them"),
    click.Option(["--force"], is_flag=True, help="Replace existing files."),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."),
)


@click.group(cls=mistakes.Group, invoke_without_command=True)
@click.pass_context
def run(ctx: click.Context) -> None:
    """Run a live experiment over loopback, an emulated path, or to a peer on a second machine.

    No packet leaves the machine without --peer or --iperf3. Ctrl-C stops a run and keeps its
    samples.
    """
    show_help_alone(ctx)


def experiment(
    measure: Callable[..., Any],
    short_help: str,
    *,
    label: str = "",
    unit: str = "",
    path: str | None = None,
    more: click.Option | None = None,
    names: Mapping[str, str | tuple[str, ...]] | None = None,
    described: Mapping[str, str] | None = None,
    bare: Collection[str] = (),
) -> Callable[[Callable[[dict[str, Any]], str | None]], click.Command]:
    """Make a command of ``run``: an option for each argument of an experiment, and those of all.

    The decorated function gets the options before the run, may change them, and may return where
    the run goes, in words.

    Parameters
    ----------
    measure : callable
        The experiment.
    short_help : str
        The line about it in the list of commands.
    label : str, optional
        Name of a run; by default the command's.
    unit : str, optional
        SI unit of what the progress bar counts beside the runs.
    path : str, optional
        The path of a run without ``--path``.
    more : click.Option, optional
        An option that is no argument of the experiment.
    names, described, bare
        As of :func:`~netcalc.cli.options.options_of`, where they are special here.
    """
    own = options_of(
        measure,
        names={**_NAMES, **(names or {})},
        described={**_HELP, **(described or {})},
        metavars=_METAVARS,
        leave_out=_OWN,
        bare=bare,
        aliases=_all_names,
    )
    links = click.Option(
        ["--path", "path_text"],
        metavar="LINKS",
        default=path,
        show_default=True,
        help='Emulated path: rate and latency of each link, such as "T1 5 ms, T3 1 ms".',
    )
    special = [] if more is None else [more]
    if "peer" in inspect.signature(measure).parameters:
        special += PEER_OPTIONS

    def make(prepare: Callable[[dict[str, Any]], str | None]) -> click.Command:
        def measured(**options: Any) -> None:
            over = prepare(options) or destination(**options)
            name = label or prepare.__name__.replace("_", " ")
            asked = getattr(experiments, measure.__name__)
            live_run(f"{name} over {over}", asked, unit=unit, **options)

        measured.__doc__, measured.__name__ = prepare.__doc__, prepare.__name__
        every_option = (*own, *special, links, *_OF_EVERY_RUN)
        return command(*every_option, group=run, short_help=short_help)(measured)

    return make


def _all_names(parameter: Parameter) -> list[str]:
    """Return the names of an argument that work beside the one in the help."""
    names = (parameter.name, parameter.short_name)
    return [*(f"--{n.replace('_', '-')}" for n in names), *_FORMER.get(parameter.name, ())]


@experiment(experiments.echo, "Round-trip time by payload size, over UDP, TCP or ICMP.")
def echo(options: dict[str, Any]) -> str:
    """Round-trip time by payload size, over UDP, TCP or ICMP.

    The default is the ping experiment of Stevens, TCP/IP Illustrated vol. 3: 15 sizes from 8 to
    1400 bytes, 10 probes each. ICMP requires a --path.
    """
    if options["protocol"] == "icmp" and options["path_text"] is None:
        raise mistakes.CommandError("icmp-requires-path")
    if options.get("peer_text") is None:
        return str(options["protocol"])
    return f"{options['protocol']}, {destination(**options)}"


@experiment(experiments.small_writes, "Response time of a request sent in small writes.")
def small_writes(options: dict[str, Any]) -> None:
    """Response time of a request sent in small writes: Nagle's algorithm and delayed ACKs.

    The default is two writes of 6 and 7 bytes: with Nagle's algorithm, without it, with a flush,
    and in a single write. --path "100 Mbit/s 15 ms" shows the effect over a wide-area path.
    """


@experiment(experiments.transactions, "One request and its response over five protocols.")
def transactions(options: dict[str, Any]) -> None:
    """One request and its response over ping, UDP, TCP Fast Open, TCP and TLS 1.3, by size.

    The default is the experiment of Stevens, TCP/IP Illustrated vol. 3, on a loopback whose packets
    hold 1508 bytes of UDP payload: one byte more takes a second packet. Figures show the first
    protocol; name another one with --protocol.
    """


@experiment(
    experiments.bulk,
    "Bulk transfer over TCP or UDP: throughput, loss and CPU cost.",
    unit="byte",
    names={
        "write_bytes": ("--size", "-s"),
        "write_count": ("--count", "-c"),
        "buffer_bytes": ("--buffer", "-b"),
    },
    bare=("write_bytes", "buffer_bytes", "mtu_bytes", "link_buffer_bytes"),
)
def bulk(options: dict[str, Any]) -> str:
    """Bulk transfer over TCP or UDP: throughput, loss and CPU cost.

    The default is the experiment of Snader, Effective TCP/IP Programming: 5000 writes, buffers of
    32 KiB. The options of the book's program work, with --runs 50: -s 1440 -b 32768 -c 5000.
    """
    if options["buffer_bytes"] == (0.0,):
        options["buffer_bytes"] = None  # those of the system
    return f"{options['protocol']}, {destination(**options)}"


def _node_rate_option() -> click.Option:
    return click.Option(
        ["--node-rate", "node_rate_pps"],
        type=QuantityType("packet/s"),
        metavar="RATE",
        help='Packets per second that each node of the --path forwards, such as "2 kpps".',
    )


def _set_node_rate(options: dict[str, Any]) -> None:
    """Replace the packet rate of the nodes of a path by the time of each packet."""
    if (node_rate_pps := options.pop("node_rate_pps")) is not None:
        options["processing_s"] = 1 / float(positive("--node-rate", node_rate_pps))
        if options["path_text"] is not None and "," not in options["path_text"]:
            raise mistakes.CommandError("node-rate-requires-links")


@experiment(
    experiments.line_rate,
    "Packet rate by frame size, and where packets are dropped.",
    unit="byte",
    more=_node_rate_option(),
)
def line_rate(options: dict[str, Any]) -> None:
    """Packet rate by frame size, and where packets are dropped.

    The sender sends as fast as it can: over loopback; through a third namespace whose kernel
    forwards (--routed); or through an emulated node with known limits:
    --path "1 Gbit/s, 10 Mbit/s" --node-rate "2 kpps". The links of the path are Ethernet, with 20
    bytes around each frame.
    """
    _set_node_rate(options)
    options["buffer_bytes"] = options["buffer_bytes"] or None  # 0: those of the system


@experiment(
    experiments.lockstep,
    "Goodput of N stop-and-wait senders.",
    unit="byte",
    names={"write_bytes": "--size"},
)
def lockstep(options: dict[str, Any]) -> None:
    """Goodput of N stop-and-wait senders: each waits for the reply before it sends again."""


@experiment(
    experiments.probing,
    "Rate and latency of each link of a path, by traceroute with sizes.",
    label="probes",
    path=_PROBED_PATH,
)
def probing(options: dict[str, Any]) -> None:
    """Rate and latency of each link of a path, by traceroute with probes of several sizes.

    Each estimate is printed with the true value. The error of a fast link behind slow ones exceeds
    its own rate; then only a bound is given.
    """


@experiment(
    experiments.packet_trains,
    "Bottleneck rate, from packets sent back to back.",
    label="trains",
    described={"seed": "Random seed for --cross."},
    path=_PROBED_PATH,
)
def packet_trains(options: dict[str, Any]) -> None:
    """Bottleneck rate of a path, from the dispersion of packet pairs or longer trains.

    \b
    netcalc run packet-trains --path "T1 2 ms, 10 Mbit/s 1 ms" --cross 30%
    """


@experiment(
    experiments.router,
    "Packet rate and line of the router between two hosts.",
    unit="byte",
    names={"captured_bytes": "--size", "directions": "--direction", "iperf3": "--iperf3"},
    more=_node_rate_option(),
)
def router(options: dict[str, Any]) -> str | None:
    """Packet rate and line of whatever lies between two hosts, by frame size.

    The second host runs netcalc peer, or only iperf3 -s. Datagrams go forward, back and both ways
    at once; what limits is said: the packet rate, the line, or a host.

    \b
    netcalc run router --iperf3 192.0.2.7 --plot router.html
    """
    _set_node_rate(options)
    return f"iperf3 {options['iperf3']}" if options["iperf3"] else None


@experiment(
    experiments.router_queue,
    "Wait in a router at a given load, and its distribution.",
    described={"seed": "Random seed."},
    path="1 Mbit/s 1 ms",
)
def router_queue(options: dict[str, Any]) -> None:
    """Wait of datagrams in a router with one line and a finite buffer, at a given load.

    The wait of each datagram is read from the router's own log. Its distribution is compared with
    M/M/1, M/D/1 and M/M/1/K at the measured load, and with one server for the arrivals as
    they came; the times between these are compared with a Poisson process.

    \b
    netcalc run router-queue --arrivals bursty --plot waits.html
    """


@experiment(
    experiments.working_latency,
    "Round trips without a load and during transfers (bufferbloat).",
    names={"directions": "--direction"},
    described={"duration_s": "Duration of each phase."},
    path="10 Mbit/s 10 ms",
)
def working_latency(options: dict[str, Any]) -> None:
    """Round trips without a load, during transfers by TCP, and without a load again.

    Probes go on while a transfer fills the queue: forward, back, and both at once. What it adds to
    each round trip is the working latency (bufferbloat), printed with what full buffers make.

    \b
    netcalc run working-latency --path "10 Mbit/s 10 ms" --duration 10s
    """


def destination(
    *, path_text: str | None, routed: bool = False, peer_text: str | None = None, **_: Any
) -> str:
    """Return where a run with these options goes, in words."""
    if peer_text is not None:
        return f"the peer {peer_text}"
    if routed:
        return "a third namespace that routes"
    return "loopback" if path_text is None else f"the path {path_text}"


def live_run(
    name: str,
    measure: Callable[..., Any],
    *,
    path_text: str | None,
    save_path: str | None,
    plot_path: str | None,
    force: bool,
    as_json: bool,
    processing_s: float = 0.0,
    unit: str = "",
    peer_text: str | None = None,
    token: str | None = None,
    **options: Any,
) -> None:
    """Run an experiment; print and draw its samples; one that was stopped ends with 130.

    The options are named as the arguments of ``measure``; one of several values that was not given
    keeps its default there.
    """
    if peer_text is not None:
        _refuse_beside_peer()
        path_text = None  # nor that of the default
    elif token is not None:
        raise mistakes.lacking("--token", "--peer", "Add for example --peer 192.0.2.7")
    _require_path(path_text, routed=options.get("routed", False))
    pcap_path = options.get("pcap")
    output.check_outputs(pcap_path, save_path, plot=plot_path, force=force)
    path = None if path_text is None else read_path(path_text, processing_s=processing_s)
    arguments = {argument: value for argument, value in options.items() if value != ()}
    if peer_text is not None:
        for argument in _WITHOUT_PEER & arguments.keys():  # their defaults are of this machine
            del arguments[argument]
        arguments["peer"] = read_peer(peer_text, token)
    short_name = name.partition(" over ")[0]
    with ending_quietly():
        drawn = () if plot_path is None else ("netcalc.plots",)
        for module in (*_REPORTED_WITH.get(measure.__name__, ()), *drawn):
            import_module(module)
    with (
        output.Progress(short_name, unit=unit) as progress,
        partial_shown(name, as_json=as_json, save_path=save_path),
        mistakes.named_as_typed(),
    ):
        samples = measure(**arguments, path=path, progress=progress, save=save_path)
    print_samples(name, samples, as_json=as_json)
    if not as_json and any(option.name == "path_text" for option in _typed_options()):
        tell_latency()
    if plot_path is not None:
        output.save_run_plot(samples, plot_path)
    output.print_written(pcap_path, save_path, plot_path)
    if samples.meta.partial:
        sys.exit(130)
    if not len(samples):
        sys.exit(2)  # nothing could be measured; the warnings say why


def _typed_options() -> Iterator[click.Parameter]:
    """Yield the options of the current command that were typed."""
    ctx = click.get_current_context()
    for option in ctx.command.params:
        if ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE:
            yield option


def _refuse_beside_peer() -> None:
    for option in _typed_options():
        if option.name in _WITHOUT_PEER:
            if option.name == "port":
                raise mistakes.CommandError("peer-with-port")
            raise mistakes.exclusive("--peer", option.opts[0])


def _require_path(path_text: str | None, *, routed: bool) -> None:
    """Refuse options about a path where there is none."""
    if routed and path_text is not None:
        raise mistakes.exclusive("--routed", "--path")
    for option in _typed_options():
        if path_text is None and option.name in _OF_PATH:
            example = 'Add for example --path "10 Mbit/s 1 ms"'
            raise mistakes.lacking(option.opts[0], "a --path", example)


@contextlib.contextmanager
def partial_shown(name: str, *, as_json: bool, save_path: str | None = None) -> Iterator[None]:
    """Show what a run that breaks off has measured, and why it did."""
    try:
        yield
    except ExperimentError as error:
        if error.partial is None:
            raise
        mistakes.for_command_line(error)
        if as_json:
            print_json({**summary(name, error.partial), "error": error.as_dict()})
        else:
            say(describe(name, error.partial))
        output.print_written(save_path)
        complain(f"{error}; {Notice('partial-samples-above')}")
        sys.exit(2)
