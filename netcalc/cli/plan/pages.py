"""The plans of ``netcalc plan`` that are answered on one page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from netcalc import planning, units
from netcalc.cli import complain, mistakes, options, output, print_json, say
from netcalc.errors import DomainError, NetcalcError, UnitError
from netcalc.messages import Notice
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES
from netcalc.planning import Plan

if TYPE_CHECKING:
    from netcalc.path import Path

_RATE = options.QuantityOrRange("bit/s")
_AXES = {
    "rate": "bandwidth_bps",
    "rtt": "rtt_s",
    "loss": "loss_ratio",
    "window": "window_bytes",
    "flows": "flow_count",
}
_NAMES = {
    "bandwidth_bps": "--rate",
    "flow_count": "--flows",
    "congestion_control": "--algorithm",
}
_OF_PAGE = (
    click.Option(
        ["--draws"],
        type=options.WholeNumber(2),
        help="Number of draws, if an input is a range: 10000.",
    ),
    click.Option(
        ["--seed"], type=options.WholeNumber(0), default=0, help="Random seed of the draws."
    ),
    click.Option(["--truncate"], is_flag=True, help="Discard impossible draws, with a note."),
    click.Option(
        ["--goal", "goal_text"],
        metavar="ANSWER=VALUE",
        help="Also print which value of each input alone would make an answer this, such as "
        "goodput=2Gbit/s.",
    ),
    options.plot_option("Draw the plan"),
    options.FORCE,
    options.JSON,
)


def _page(*params: click.Parameter) -> Callable[[Callable[..., Plan]], click.Command]:
    """Make a command of a function that returns a plan: it prints the page, and draws it."""

    def make(answer: Callable[..., Plan]) -> click.Command:
        def print_page(
            *,
            as_json: bool,
            plot_path: str | None,
            force: bool,
            draws: int | None,
            goal_text: str | None = None,
            only_settings: bool = False,
            **arguments: Any,
        ) -> None:
            if only_settings and as_json:
                raise mistakes.exclusive("--sysctl", "--json")
            if goal_text is not None and arguments.get("within_s") is not None:
                raise mistakes.exclusive("--in", "--goal")
            if plot_path is not None:
                output.check_output(plot_path, force=force, plot=True)
            with mistakes.named_as_typed():
                plan = answer(**arguments, draws=draws or 0)
                if goal_text is not None:
                    plan = _with_goal(plan, goal_text)
            if as_json:
                print_json(plan.as_dict())
            else:
                parts = [*([] if only_settings else [str(plan)]), plan.sysctl]
                say("\n\n".join(filter(None, parts)))
                options.tell_latency()
            if plot_path is not None:
                from netcalc import plots  # late: bokeh takes its time

                output.write_plot(plots.plan(plan), plot_path)
                output.print_written(plot_path)

        print_page.__doc__ = answer.__doc__
        made = options.command(
            *params, *_OF_PAGE, cls=options.PlannersCommand, name=answer.__name__
        )
        return made(print_page)

    return make


def _first(name: str, metavar: str, unit: str, *, required: bool = True) -> click.Argument:
    """Return the argument of a plan that has no option."""
    return click.Argument(
        [name], type=options.QuantityOrRange(unit), metavar=metavar, required=required
    )


def _options(
    planned: Callable[..., Any],
    *leave_out: str,
    names: Mapping[str, str] | None = None,
    **special: Any,
) -> list[click.Parameter]:
    """Return an option for each argument of a plan, without those of its page."""
    return options.options_of(
        planned,
        names={**_NAMES, **(names or {})},
        leave_out={*leave_out, "draws", "seed", "truncate"},
        bare=("mtu_bytes", "tcp_option_bytes"),
        **special,
    )


def _ipv6(text: str) -> click.Option:
    return click.Option(["--ipv6", "ip_version"], flag_value=6, type=int, default=4, help=text)


_ASKED = re.compile(r"\s*(?P<answer>[A-Za-z][\w -]*?)\s*(?:[<>]=|[=:])\s*(?P<value>.+)")


def _with_goal(plan: Plan, text: str) -> Plan:
    """Return a plan with what an answer needs to be what a text says, as ``goodput=2Gbit/s``."""
    by_name = {
        one.name.removesuffix(f"_{one.name.rpartition('_')[2]}").replace("_", "-"): one
        for one in reversed(plan.answers)
        if one.unit != "text"
    }
    match = _ASKED.fullmatch(text)
    if match is None:
        first = plan.answers[0]
        example = f"{list(by_name)[-1]}={units.show(first.typical, first.unit)}".replace(" ", "")
        raise mistakes.CommandError("goal-malformed", text=text, example=example)
    spoken = match["answer"].lower().replace(" ", "-").replace("_", "-")
    asked = by_name.get(spoken) or next(
        (one for one in plan.answers if one.name.replace("_", "-") == spoken), None
    )
    if asked is None:
        raise DomainError("not-a-choice", "--goal", match["answer"], choices=list(by_name))
    unit = "1" if asked.unit == "erlang" else asked.unit
    goal = units.parse_typed(match["value"], unit, field="--goal")
    with mistakes.named_as_typed(goal=("--goal", unit)):
        return planning.with_goal(plan, goal=goal, answer=asked.name)


_PATH = click.Option(
    ["--path", "path_text"],
    metavar="PATH",
    help='Rate and one-way latency of each link, such as "1 Gbit/s 20 ms", or its round trip: '
    '"1 Gbit/s rtt 40 ms".',
)
_SECOND = click.Argument(["path_typed"], metavar="PATH", required=False)
_SENDING = [_PATH, *_options(planning.transfer, "payload_bytes")]
"""Options of plans that send by TCP."""
for _option in _SENDING:
    _option.required = False  # a path has the rate and the round trip
_SENDING_NAMES = [_option.name or "" for _option in _SENDING]


@_page(
    _first("payload_bytes", "SIZE", "byte"),
    _SECOND,
    click.Option(
        ["--in", "within_s"],
        type=options.QuantityType("s"),
        help="Time that it may take: which rate, window, count of flows or loss it needs. Without "
        "a rate, the rate is found first.",
    ),
    *_SENDING,
)
def transfer(*, within_s: float | None, **arguments: Any) -> Plan:
    """Plan a TCP transfer of SIZE: its time, what limits it, and what would make it faster.

    Every quantity may be a range, such as --rate "80..100 Mbit/s". How long is also told by
    calc transfer-time (the time alone), calc transfer (a line without TCP) and explain SIZE PATH
    (each cause with its share of the time).

    \b
    netcalc plan transfer 10GB --path "1 Gbit/s 20 ms" --loss 0.01%
    netcalc plan transfer 50TB "1 Gbit/s 80 ms" --in 60h
    netcalc plan transfer 1GB --rate 1Gbit/s --rtt "30 ms +- 5 ms" --window 64KiB
    """
    if within_s is None:
        return planning.transfer(**_with_path(arguments))
    path = (arguments["path_text"], arguments["path_typed"], arguments["bandwidth_bps"])
    is_found = any(one is not None for one in path) or arguments["rtt_s"] is None
    with mistakes.named_as_typed(goal=("--in", "s")):
        if is_found:
            return planning.with_goal(planning.transfer(**_with_path(arguments)), goal=within_s)
        return _with_rate_for(within_s, arguments)


_ANY_BPS = 1e9
"""Rate around which the rate that a transfer needs is looked for. [bit/s]"""


def _with_rate_for(within_s: float, arguments: dict[str, Any]) -> Plan:
    """Return the transfer over the rate of a line with which it takes a time."""
    rate = ("bandwidth_bps",)
    any_line = planning.transfer(**_with_path({**arguments, "bandwidth_bps": _ANY_BPS}))
    [need] = planning.with_goal(any_line, goal=within_s, over=rate).needs
    if not np.isfinite(need.value):
        raise mistakes.CommandError("goal-out-of-reach", goal=units.show(within_s, "s"))
    plan = planning.transfer(**_with_path({**arguments, "bandwidth_bps": need.value}))
    return planning.with_goal(plan, goal=within_s, over=rate)


@_page(
    _first("data_bytes", "DATA", "byte"),
    _SECOND,
    *_options(
        planning.backup, "data_bytes", *_SENDING_NAMES,
        names={"window_s": "--in", "reduction_factor": "--reduction"},
    ),
    *_SENDING,
)  # fmt: skip
def backup(**arguments: Any) -> Plan:
    """Plan a backup of DATA over a line: does it fit its window, and what would make it fit.

    \b
    netcalc plan backup 50TB --change 3% --in 8h --path "1 Gbit/s 20 ms"
    netcalc plan backup 2TB --in 8h --rate 1Gbit/s --rtt 5ms --change "3..8%"
    """
    return planning.backup(**_with_path(arguments))


@_page(
    _first("payload_bytes", "SIZE", "byte"),
    _SECOND,
    click.Option(
        ["--over", "axes"],
        nargs=2,
        type=options.Choice(list(_AXES)),
        default=("rate", "rtt"),
        show_default=True,
        help="Inputs along the axes of the map.",
    ),
    *_SENDING,
)
def buy(*, axes: tuple[str, str], **arguments: Any) -> Plan:
    """Plan what to buy for a TCP transfer of SIZE: what limits it, and the cheapest step out of it.

    With --plot the answer is a map over two inputs, coloured by the limit that binds.

    \b
    netcalc plan buy 1GB --path "1 Gbit/s 20 ms" --loss 0.01% --plot map.html
    netcalc plan buy 1GB --rate 1G --rtt 40ms --loss 1% --over loss rtt
    """
    if axes[0] == axes[1]:
        raise DomainError("one-axis-twice", "--over", axes[0])
    over = (_AXES[axes[0]], _AXES[axes[1]])
    with mistakes.named_as_typed(over=("--over", "")):
        return planning.buy(over=over, **_with_path(arguments))


@_page(
    _first("bandwidth_bps", "RATE", "bit/s"),
    *_options(planning.buffer, "bandwidth_bps", "sender_count", "burst_bytes", "sender_bps"),
    click.Option(  # without a default, as it needs a burst
        ["--fan-in", "sender_count"],
        type=options.QuantityOrRange("1"),
        help="Senders that start a burst at the same time.",
    ),
    *_options(planning.buffer, "bandwidth_bps", "sender_count", "rtt_s", "flow_count"),
)
def buffer(*, sender_count: Any, **arguments: Any) -> Plan:
    """Plan the buffer in front of a line of a RATE, and the delay that it adds when it is full.

    \b
    netcalc plan buffer 10Gbit/s --rtt 250ms --flows 50000
    netcalc plan buffer 10Gbit/s --rtt 100us --fan-in 40 --burst 64KiB
    """
    others = (sender_count, arguments["sender_bps"])
    if arguments["burst_bytes"] is None and others != (None, None):
        raise mistakes.CommandError("fan-in-without-burst")
    return planning.buffer(sender_count=1.0 if sender_count is None else sender_count, **arguments)


_HOST = _options(planning.host, "bandwidth_bps", names={"system": "--os"})
_HOST[0].required = False  # a path has the round trip


@_page(
    click.Argument(["path_text"], metavar="PATH"),
    *_HOST,
    click.Option(["--sysctl", "only_settings"], is_flag=True, help="Print the file alone."),
)
def host(*, path_text: str, **arguments: Any) -> Plan:
    """Plan a host for a PATH: socket buffers, congestion control, pacing and packets a second.

    PATH is the rate and the one-way latency of each link, "10G rtt 80ms", or a rate with --rtt.
    Below the page are the lines of a file of sysctl, each with its arithmetic; they are printed,
    and never applied.

    \b
    netcalc plan host "100 Gbit/s" --rtt 88ms
    netcalc plan host "10 Gbit/s 50 ms" --mtu 9000 --os freebsd
    netcalc plan host "100 Gbit/s 44 ms" --flows 8 --sysctl > 90-netcalc.conf
    """
    try:
        arguments["bandwidth_bps"] = _RATE.convert(path_text, None, None)
    except (UnitError, click.BadParameter):
        path = _read_path(path_text, typed="PATH")
        arguments["bandwidth_bps"] = float(path.bottleneck_bps)
        _refuse_other_round_trip(path, arguments["rtt_s"], typed="PATH")
        if arguments["rtt_s"] is None:
            arguments["rtt_s"] = float(path.rtt_s(0.0)) or None
    if arguments["rtt_s"] is None:
        raise mistakes.CommandError("host-without-path", name="PATH", value=path_text)
    with mistakes.named_as_typed(bandwidth_bps=("PATH", "bit/s")):
        return planning.host(**arguments)


@_page(
    _first("user_count", "USERS", "1"),
    *_options(
        planning.link,
        "user_count",
        names={
            "user_bps": "--each",
            "quantile": "--percentile",
            "annual_growth": "--growth",
            "horizon_s": "--lasts",
            "target_utilization": "--target",
            "link_count": "--links",
            "failed_count": "--failed",
            "bandwidth_bps": "--line",
            "start": "--from",
            "as_map": "--map",
        },
        types={
            "quantile": options.Percentile(),
            "annual_growth": options.Growth(),
            "link_count": options.WholeNumber(1),
            "failed_count": options.WholeNumber(0),
        },
        described={
            "start": "Date of the count of users, such as 2026-01-31; by default today.",
            "as_map": "With --plot: a map over users and rate in place of the demand over time.",
        },
    ),
)
def link(*, start: date | None, **arguments: Any) -> Plan:
    """Plan the rate of a link for USERS, and the date on which it is full.

    \b
    netcalc plan link 500 --each 5Mbit/s --active 10% --percentile 99%
    netcalc plan link 400..600 --each 5Mbit/s --active 10% --growth 20..35%
    netcalc plan link 500 --each 5Mbit/s --active 10% --links 2 --failed 1
    """
    return planning.link(start=start or date.today(), **arguments)


@_page(
    click.Argument(["stack"], metavar="STACK", nargs=-1, required=True),
    *_options(
        planning.tunnel, "stack", "ip_version", "mix",
        names={"tcp_option_bytes": "--tcp-options", "tag_count": "--tags"},
        types={"tag_count": options.WholeNumber(0)},
    ),
    _ipv6("IPv6 in the tunnel."),
    click.Option(
        ["--mix", "mix_text"],
        metavar="SIZE:WEIGHT,...",
        help="Mix of IP packets; by default 40B:7,576B:4,1500B:1.",
    ),
)  # fmt: skip
def tunnel(*, stack: tuple[str, ...], mix_text: str | None, **arguments: Any) -> Plan:
    """Plan a stack of tunnels over Ethernet: MTU, MSS, and what is left of the line.

    STACK is written as a capture shows it, outermost layer first: wireguard4, vxlan4+wireguard4,
    gre, esp4:aes-gcm-16, pppoe. Options follow the name of a layer: gre_key, geneve4_opt8,
    vxlan4_inner_vlan, gtpu4_pdu, openvpn4_tap, esp4:aes-gcm-16:transport.

    \b
    netcalc plan tunnel wireguard6
    netcalc plan tunnel vxlan4+esp4 --rate 10Gbit/s --mtu 9000B
    """
    layers = _read_stack(" ".join(stack), typed="STACK")
    mix = None if mix_text is None else read_mix(mix_text)
    with mistakes.named_as_typed(stack=("STACK", ""), mix=("--mix", "byte")):
        return planning.tunnel(layers, mix=mix, **arguments)


@dataclass(frozen=True, slots=True)
class _AtOnce:
    """Calls at the same time, and the text that has them."""

    calls: float
    text: str


class _Calls(options.QuantityOrRange):
    """Call attempts: ``1200 calls/h``; or calls at the same time: ``200 calls``.

    With ``counts`` a number alone is calls at the same time, too.
    """

    _COUNT = re.compile(
        r"(?P<count>\d{1,3}(?:[,.]\d{3})+|\d+)\s*"
        r"(?P<calls>(?:(?:concurrent|simultaneous|parallel|active)\s*)?calls?(?:\s*at once)?)?",
        re.IGNORECASE,
    )

    def __init__(self, *, counts: bool = False) -> None:
        super().__init__("call/s")
        self._counts = counts

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a mistake names the argument."""
        match = self._COUNT.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            return super().convert(value, param, ctx)
        if not match["calls"] and not self._counts:
            raise mistakes.CommandError("calls-ambiguous", text=value)
        count = re.sub(r"[,.]", "", match["count"])  # there is no part of a call
        return _AtOnce(float(count), value)


@_page(
    click.Argument(["calls_per_second"], type=_Calls(), metavar="CALLS", required=False),
    click.Option(
        ["--concurrent", "concurrent_count"],
        type=options.QuantityOrRange("1"),
        help="Calls at the same time in place of CALLS.",
    ),
    click.Option(["--calls", "calls_text"], type=_Calls(counts=True), hidden=True),
    click.Option(
        ["--erlang", "offered_erlang"],
        type=options.QuantityOrRange("1"),
        help="Offered load in place of CALLS.",
    ),
    *_options(
        planning.voice, "calls_per_second", "concurrent_count", "ip_version",
        names={"codec_name": "--codec", "stack": "--tunnel", "bandwidth_bps": "--line"},
        metavars={"codec_name": "CODEC", "stack": "STACK"},
        described={"codec_name": "Codec: G.711, G.722, G.723.1, G.726, G.728, G.729, iLBC."},
    ),
    _ipv6("Calls over IPv6."),
)  # fmt: skip
def voice(
    *,
    calls_per_second: Any,
    calls_text: Any,
    concurrent_count: Any,
    offered_erlang: Any,
    **arguments: Any,
) -> Plan:
    """Plan the trunks of telephone calls, and their bandwidth in each direction.

    CALLS are the call attempts of the busy hour, such as "1200 calls/h". Every quantity may be a
    range: "1000..1400 calls/h", "3 min +- 30 s".

    \b
    netcalc plan voice "1200 calls/h" --codec G.729 --tunnel wireguard4
    netcalc plan voice --concurrent 200
    netcalc plan voice --erlang 60 --blocking 1% --line "5 Mbit/s"
    """
    given = [calls_per_second, calls_text, concurrent_count, offered_erlang]
    if sum(one is not None for one in given) != 1:
        raise mistakes.CommandError("calls-or-erlang")
    asked = calls_per_second if calls_text is None else calls_text
    if isinstance(asked, _AtOnce) or concurrent_count is not None:
        _refuse_unused("calls at the same time", "holding_s", "blocking_ratio")
    elif offered_erlang is not None:
        _refuse_unused("--erlang", "holding_s")
    if isinstance(asked, _AtOnce):
        values = {"name": "CALLS", "text": asked.text, "value": f"--concurrent {asked.calls:g}"}
        complain(f"note: {Notice('read-as', values)}")
        concurrent_count, asked = asked.calls, None
    arguments["concurrent_count"] = concurrent_count
    calls_per_second, typed = asked, ("CALLS", "call/s")
    if offered_erlang is not None:  # calls of one second each, so many a second
        calls_per_second, arguments["holding_s"] = offered_erlang, 1.0
        typed = ("--erlang", "")
    arguments["stack"] = _read_stack(arguments["stack"], typed="--tunnel")
    with mistakes.named_as_typed(calls_per_second=typed, codec=("--codec", "")):
        return planning.voice(calls_per_second, **arguments)


def _refuse_unused(given: str, *names: str) -> None:
    """Refuse options that were typed and that a load given in another way makes no use of."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in names and source is not click.core.ParameterSource.DEFAULT:
            name = mistakes.typed_name(option)
            raise mistakes.CommandError("calls-option-unused", option=name, given=given)


def _with_path(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the rate and the round trip of a path that is named.

    Raises
    ------
    CommandError
        If neither a path nor both numbers are there, or both are.
    """
    text, typed = arguments.pop("path_text"), arguments.pop("path_typed")
    if text is not None and typed is not None:
        raise mistakes.exclusive("--path", typed)
    text = text if typed is None else typed
    numbers = (arguments["bandwidth_bps"], arguments["rtt_s"])
    if text is None:
        if None in numbers:
            raise mistakes.CommandError("path-or-rate")
        return arguments
    if numbers[0] is not None:
        raise mistakes.exclusive("--path", "--rate")
    path = _read_path(text)
    _refuse_other_round_trip(path, numbers[1], typed="--path")
    if numbers[1] is None:
        arguments["rtt_s"] = float(
            path.rtt_s(arguments["mtu_bytes"], reply_bytes=STAMPED_HEADERS_BYTES)
        )
    return {**arguments, "bandwidth_bps": float(path.bottleneck_bps)}


def _refuse_other_round_trip(path: Path, rtt_s: Any, *, typed: str) -> None:
    """Refuse a round trip beside a path that has another one."""
    own_s = 2.0 * path.latency_s
    if rtt_s is None or not own_s or (isinstance(rtt_s, float) and np.isclose(rtt_s, own_s)):
        return
    given = units.show(rtt_s, "s") if isinstance(rtt_s, float) else "a range"
    raise mistakes.CommandError("round-trip-twice", name=typed, path_rtt_s=own_s, given=given)


def _read_path(text: str, *, typed: str = "--path") -> Path:
    """Read a path; a range in it is refused with the options that take one."""
    try:
        return options.read_path(text, typed=typed)
    except NetcalcError:
        from netcalc.uncertain.text import is_distribution  # late: most paths have none

        if is_distribution(text):
            names = ("--rtt", "") if typed == "PATH" else ("--rate and --rtt", "--rate ")
            example = f'{names[1]}"80..100 Mbit/s" --rtt 40ms'
            raise mistakes.CommandError(
                "range-in-path", name=typed, value=text, options=names[0], example=example
            ) from None
        raise


def _read_stack(text: str, *, typed: str) -> str:
    """Return a stack of tunnels by the names of its layers, and say how another name was read."""
    from netcalc.calculator import plain_name, stack  # late: most plans have no tunnel

    layers = stack(text)
    if plain_name(layers) != plain_name(text):
        complain(f"note: {Notice('read-as', {'name': typed, 'text': text, 'value': layers})}")
    return layers


def read_mix(text: str) -> dict[float, float]:
    """Read sizes with their weights: ``40B:7,576B:4,1500B:1``.

    Examples
    --------
    >>> read_mix("40B:7, 576B:4")
    {40.0: 7.0, 576.0: 4.0}
    """
    weights = {}
    for part in text.split(","):
        size, colon, weight = part.partition(":")
        if not colon:
            raise UnitError("mix-malformed", part.strip(), expected="a size", field="--mix")
        number = units.parse_number(weight, field="--mix")
        weights[units.parse(size, "byte", field="--mix")] = number
    return weights
