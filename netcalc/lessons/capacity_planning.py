"""Panels of the lesson on planning: from a ping and a number of users to a line that is bought.

They share one network, whose numbers go from step to step.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import partial
from threading import Lock, Timer
from typing import Any

import ipywidgets
import numpy as np

from netcalc import explain, fit, plots, uncertain
from netcalc.errors import ReaderError
from netcalc.language import phrase, term
from netcalc.models.users import multiplexing
from netcalc.models.users.growth import YEAR_S
from netcalc.planning import Plan, buy, link, transfer
from netcalc.planning import network as networks
from netcalc.planning.link import SIZES_BPS, next_size_bps
from netcalc.planning.page import label, quantity
from netcalc.plots import Axis, Plot
from netcalc.plots.measured import measured
from netcalc.printable import html_text
from netcalc.rate_layers import ETHERNET_LINE, IN_HEADING, LINE, named
from netcalc.samples import RttSamples, Samples
from netcalc.units import parse, show, show_rate
from netcalc.widgets.controls import Quantity, choice, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, html_table, in_layer, in_unit, panel
from netcalc.widgets.run import upload

LAG_S = 0.3
"""Time without a change after which the other panels follow one whose slider moves. [s]"""
HORIZON_S = 3.0 * YEAR_S
"""Time for which the line must be enough. [s]"""
TARGET_UTILIZATION = 0.8
"""Utilization at which a line counts as full. [ratio]"""
MOST_LINES = 4
MOST_DIGITS = 6
"""Digits of the numbers in boxes and commands. [1]"""
SPREADS = {
    "user_count": ("users ±", 0.2),
    "user_bps": (term("rate of a user ±"), 0.2),
    "active_ratio": (term("active share ±"), 0.2),
    "annual_growth": ("growth ±", 0.4),
}
"""Inputs of the line that are known as ranges: label, and half of the range over its middle."""
_POSSIBLE = {"user_count": (1.0, math.inf), "active_ratio": (0.0, 1.0)}
"""Where a range ends at the latest."""
_START: dict[str, Any] = {
    "payload_bytes": 1e9,
    "window_bytes": 65_536.0,
    "loss_ratio": 1e-5,
    "user_count": 120.0,
    "user_bps": 2e6,
    "active_ratio": 0.1,
    "quantile": 0.95,
    "annual_growth": 0.25,
    "bandwidth_bps": 100e6,
    "link_count": 2,
    "is_spared": True,
    **{f"{name}_spread": start for name, (_, start) in SPREADS.items()},
}


class Story:
    """The numbers of one network, and the panels that show them.

    A value that a panel changes goes to the other panels that need it, once it has not changed for
    a moment.

    Parameters
    ----------
    ping : RttSamples
        Round trips over the line of today.
    start : datetime.date
        Day on which the users are counted.
    """

    def __init__(self, ping: RttSamples, *, start: date) -> None:
        self.start, self.ping = start, ping
        self.values: dict[str, Any] = {**_START, **path_of(ping)}
        self.values.setdefault("line_bps", 100e6)
        self.plans: dict[tuple[Any, ...], Plan] = {}  # the latest two, by the values they are of
        self._panels: dict[int, tuple[Panel, Collection[str]]] = {}
        self._changed: dict[str, Panel] = {}
        self._told: dict[tuple[str, Panel], Any] = {}
        self._timer: Timer | None = None
        self._lock = Lock()

    def panel(
        self,
        figure: Figure,
        names: Sequence[str],
        update: Callable[..., None],
        *,
        step: int,
        needs: Collection[str] = (),
        more: Mapping[str, ipywidgets.Widget] | None = None,
        below: Sequence[ipywidgets.Widget] = (),
    ) -> Panel:
        """Return a panel with controls for some of the values.

        Parameters
        ----------
        figure : Figure
            The figure.
        names : sequence of str
            Values that it has controls for.
        update : callable
            Draws the figure from ``values``; it gets those of ``more`` by name.
        step : int
            Number of the step; of two panels of one step the newer one follows.
        needs : collection of str
            Values of other panels that it follows.
        more : mapping of str to ipywidgets.Widget, optional
            Controls of its own.
        below : sequence of ipywidgets.Widget
            What is below the figure.
        """
        shared = {name: _control(name, self.values[name]) for name in names}
        own: list[Panel] = []
        for name, control in shared.items():  # before the panel, which then draws the new value
            control.observe(
                lambda change, name=name: self._moved(name, change["new"], own), "value"
            )
        made = panel(
            figure, {**shared, **(more or {})}, partial(_without, shared, update), below=below
        )
        own.append(made)
        self._panels[step] = (made, {*names, *needs})
        return made

    def take_ping(self, ping: RttSamples, by: Panel) -> None:
        """Put another ping in place of the first one, and what it says in place of the path."""
        values = path_of(ping)
        self.ping = ping
        self.values.update(values)
        self._note(values, by)

    def settle(self) -> None:
        """Bring the panels up to date now that others have changed."""
        with self._lock:
            changed, self._changed, self._timer = self._changed, {}, None
        for follower, needs in self._panels.values():
            others = {name for name, by in changed.items() if name in needs and by is not follower}
            if not others:
                continue
            late = [
                name
                for name in others & follower.controls.keys()
                if follower.controls[name].value != self.values[name]
            ]
            for name in late:
                self._told[name, follower] = self.values[name]
                follower.controls[name].value = self.values[name]
            if not late:
                follower.refresh()

    def _moved(self, name: str, value: Any, own: Sequence[Panel]) -> None:
        """Take a value of a control, unless the control only followed another one."""
        by = own[0]
        if self._told.pop((name, by), None) == value:
            return
        self.values[name] = value
        self._note({name}, by)

    def _note(self, names: Collection[str], by: Panel) -> None:
        with self._lock:
            self._changed.update(dict.fromkeys(names, by))
            if self._timer is not None:
                self._timer.cancel()
            self._timer = Timer(LAG_S, self.settle)
            self._timer.daemon = True
            self._timer.start()

    def link(self) -> dict[str, Any]:
        """Return the arguments of :func:`netcalc.planning.link`, without ranges."""
        names = (*SPREADS, "quantile", "bandwidth_bps", "link_count")
        return {
            **{name: self.values[name] for name in names},
            "failed_count": int(self.values["is_spared"]),
            "horizon_s": HORIZON_S,
            "target_utilization": TARGET_UTILIZATION,
        }

    def ranges(self) -> dict[str, uncertain.Known]:
        """Return the inputs of the line as ranges around their values, each value alike."""
        ranges: dict[str, uncertain.Known] = {}
        for name in SPREADS:
            middle, share = self.values[name], self.values[f"{name}_spread"]
            least, most = _POSSIBLE.get(name, (0.0, math.inf))
            low, high = max(middle * (1.0 - share), least), min(middle * (1.0 + share), most)
            ranges[name] = uncertain.uniform(low, high) if low < high else middle
        return ranges

    def transfer(self) -> dict[str, Any]:
        """Return the arguments of :func:`netcalc.planning.transfer` but for the line."""
        return {name: self.values[name] for name in ("payload_bytes", "rtt_s", "window_bytes")}


def _without(names: Collection[str], update: Callable[..., None], **values: Any) -> None:
    """Draw with the values of a panel's own controls: the shared ones are in the story."""
    update(**{name: value for name, value in values.items() if name not in names})


def path_of(ping: RttSamples) -> dict[str, float]:
    """Return the round trip of an idle path, and its rate where probes of several sizes tell it.

    Raises
    ------
    ReaderError
        If no probe was answered with a time.

    Examples
    --------
    >>> path_of(RttSamples(payload_bytes=[56, 56], rtt_s=[0.031, 0.03]))
    {'rtt_s': 0.03}
    """
    _, least_s = ping.minima()
    if not least_s.size:
        raise ReaderError(
            "no-sizes-and-times", file=ping.meta.source or "this file", expected="a ping"
        )
    line = fit.rtt_against_size(ping).params
    values = {"rtt_s": float(line["base_rtt_s"])}
    if not values["rtt_s"] > 0.0:
        values["rtt_s"] = float(least_s.min())
    if 0.0 < line["bandwidth_bps"] < math.inf:
        values["line_bps"] = float(line["bandwidth_bps"])
    return values


def _control(name: str, value: Any) -> ipywidgets.Widget:
    if name == "bandwidth_bps":
        rates = {show_rate(rate, IN_HEADING): rate for rate in SIZES_BPS}
        return choice(named("each line bought", LINE), rates, value)
    if name == "link_count":
        return choice("lines", {str(n): n for n in range(1, MOST_LINES + 1)}, value)
    if name == "is_spared":
        return switch("one of them may fail (N-1)", value)
    if name.endswith("_spread"):
        label, _ = SPREADS[name.removesuffix("_spread")]
        return Quantity(label, value, 0.0, 0.9, unit="ratio", scale="linear")
    quantity = _QUANTITIES[name]
    text = text_of(value, quantity["unit"])
    return Quantity(**quantity, start=text if parse(text, quantity["unit"]) == value else value)


def text_of(value: float, unit: str) -> str:
    """Write a number so that it is read back with six digits: 64 KiB rather than 65.536 kB.

    Examples
    --------
    >>> text_of(65536, "byte"), text_of(10.0933e-3, "s")
    ('64 KiB', '10.0933 ms')
    """
    short = show(value, unit)
    return short if parse(short, unit) == value else show(value, unit, digits=MOST_DIGITS)


_QUANTITIES: dict[str, dict[str, Any]] = {
    "payload_bytes": {"label": "transfer", "unit": "byte", "low": "1 kB", "high": "100 TB"},
    "line_bps": {"label": "line", "unit": "bit/s", "low": "10 kbit/s", "high": "400 Gbit/s"},
    "rtt_s": {"label": term("round trip"), "unit": "s", "low": "10 us", "high": "2 s"},
    "window_bytes": {"label": "window", "unit": "byte", "low": "4 KiB", "high": "1 GiB"},
    "loss_ratio": {"label": "loss", "unit": "ratio", "low": 1e-7, "high": 0.1},
    "user_count": {"label": "users", "unit": "1", "low": 1.0, "high": 1e4, "whole": True},
    "user_bps": {
        "label": term("rate of a user"), "unit": "bit/s", "low": "10 kbit/s", "high": "1 Gbit/s",
    },
    "active_ratio": {"label": term("active share"), "unit": "ratio", "low": 0.001, "high": 1.0},
    "quantile": {
        "label": "percentile", "unit": "ratio", "low": 0.5, "high": 0.9999, "scale": "linear",
    },
    "annual_growth": {
        "label": "growth a year", "unit": "ratio", "low": 0.0, "high": 1.0, "scale": "linear",
    },
}  # fmt: skip


DRAWS = 2048
"""Draws of the ranges; the same seed, 0, gives the same answers. [1]"""
PERCENTILES = (5.0, 50.0, 95.0)
RAREST = 1e-6
"""Share of the time in overload at which the curve of the third step ends. [ratio]"""
OVERLOAD, PERCENTILE = term("time in overload"), term("needed at the percentile")
MEAN, ALL, YOURS = "mean", term("all at once"), term("your users")
POINTS = 200
_WRAPPED = '<pre style="white-space: pre-wrap">'
USERS_AND_RATE = term("users and rate")
MAPS: dict[str, str | tuple[str, str]] = {
    "users and rate of the line": USERS_AND_RATE,
    "rate and round trip of a transfer": ("bandwidth_bps", "rtt_s"),
    "window and round trip of a transfer": ("window_bytes", "rtt_s"),
    "loss and round trip of a transfer": ("loss_ratio", "rtt_s"),
}
"""What the map of the sixth step has along its axes."""


def ping_panel(story: Story) -> Panel:
    """Step 1: the round trips of a ping, and what they say about the path."""
    figure = Figure(_ping_plot(story))

    def update() -> None:
        figure.draw(_ping_plot(story))

    def take(samples: Samples) -> None:
        if not isinstance(samples, RttSamples):
            raise ReaderError(
                "no-sizes-and-times", file=samples.meta.source or "this file", expected="a ping"
            )
        story.take_ping(samples, shown)
        shown.refresh()

    shown = story.panel(figure, (), update, step=1, below=[upload("Your own ping", take)])
    return shown


def _ping_plot(story: Story) -> Plot:
    return measured(story.ping, explain.Known())


def transfer_panel(story: Story) -> Panel:
    """Step 2: the time of a transfer over the line of today, and what limits it."""

    def planned() -> Plan:
        return transfer(bandwidth_bps=story.values["line_bps"], **story.transfer())

    names = ("payload_bytes", "line_bps", "rtt_s", "window_bytes")
    return _plan_panel(story, planned, names, step=2)


def _plan_panel(
    story: Story, planned: Callable[[], Plan], names: Sequence[str], **options: Any
) -> Panel:
    """Return a panel of a plan, its first step and its answers."""
    figure, answers = Figure(plots.plan(planned())), ipywidgets.HTML()

    def update() -> None:
        plan = planned()
        figure.draw(plots.plan(plan))
        figure.describe(_with_steps(plan))
        rows = [(answer.label, answer.text) for answer in plan.answers]
        answers.value = html_table(("answer", "value"), rows)

    return story.panel(figure, names, update, below=[answers], **options)


def users_panel(story: Story) -> Panel:
    """Step 3: the rate that many users need, against the share of time and against their number."""
    empty = np.full(2, np.nan)
    figure = Figure(
        plots.together(
            plots.curves(
                [0.0, 1.0],
                {OVERLOAD: empty},
                points={PERCENTILE: ([np.nan], [np.nan])},
                x_axis=Axis(named("rate", LINE), "bit/s", low=0.0),
                y_axis=Axis("time in overload", "ratio", "log", RAREST, 1.0),
                title="How rare is an overload?",
            ),
            plots.curves(
                [1.0, 2.0],
                {ALL: empty, "at the percentile": empty, MEAN: empty},
                points={YOURS: ([np.nan], [np.nan])},
                x_axis=Axis("users", "1", "log"),
                y_axis=Axis(named("rate", LINE), "bit/s", "log"),
                title="Many users need less than all of them at once",
            ),
        )
    )

    def update() -> None:
        values = story.values
        users, each, share = values["user_count"], values["user_bps"], values["active_ratio"]
        kind = {"active_ratio": share, "user_bps": each}
        quantile = values["quantile"]
        enough = float(
            multiplexing.active_percentile_count(users, active_ratio=share, quantile=quantile)
        )
        needed, rare = (
            enough * each,
            float(multiplexing.overload_ratio(enough, user_count=users, active_ratio=share)),
        )
        most = multiplexing.active_percentile_count(
            users, active_ratio=share, quantile=1.0 - RAREST
        )
        active = np.unique(np.round(np.linspace(0.0, float(most), POINTS)))
        overload = multiplexing.overload_ratio(active, user_count=users, active_ratio=share)
        counts = np.unique(np.round(np.geomspace(1.0, 10.0 * users, POINTS)))
        every = {"x": counts}
        figure.update_all(
            {
                OVERLOAD: {"x": active * each, "y": overload},
                PERCENTILE: {"x": [needed], "y": [rare]},
                ALL: {**every, "y": counts * each},
                "at the percentile": {
                    **every,
                    "y": multiplexing.shared_bandwidth_bps(counts, quantile=quantile, **kind),
                },
                MEAN: {**every, "y": counts * each * share},
                YOURS: {"x": [users], "y": [needed]},
            }
        )
        figure.describe(
            phrase(
                "{users:,.0f} users of {each}, each active {share} of the time: {users_2} in "
                "the mean, {users_3} if all are active. {needed} are enough for {quantile} of "
                "the time: {enough:,.0f} active at once are exceeded {rare} of it.",
                users=users,
                **in_layer(LINE, each=each, users_2=users * each * share, users_3=users * each),
                needed=show_rate(needed, LINE),
                **in_unit("ratio", share=share, quantile=quantile, rare=rare),
                enough=enough,
            )
        )

    return story.panel(
        figure, ("user_count", "user_bps", "active_ratio", "quantile"), update, step=3
    )


def ranges_panel(story: Story) -> Panel:
    """Step 4: ranges of the inputs in, percentiles of the rate out, and what matters most."""
    figure = Figure(_ranges_plot(_with_ranges(story)))
    inputs = ipywidgets.HTML()

    def update() -> None:
        plan = _with_ranges(story)
        figure.draw(_ranges_plot(plan))
        figure.describe(_needed(plan))
        inputs.value = html_table(
            ("input", "range", phrase("share of the variance")),
            [
                (label(name), _range(value, name), _share(plan.drivers, name))
                for name, value in story.ranges().items()
            ],
        )

    names = [f"{name}_spread" for name in SPREADS]
    needs = (*SPREADS, "quantile", "bandwidth_bps", "link_count", "is_spared")
    return story.panel(figure, names, update, step=4, needs=needs, below=[inputs])


def _with_ranges(story: Story, **more: Any) -> Plan:
    """Return the plan of the line by ranges; asked for the same again, the one that is there.

    A panel asks when it is made and when it is drawn, and two steps ask the same.
    """
    asked = (*story.values.items(), *more.items())
    if asked not in story.plans:
        arguments = {**story.link(), **story.ranges(), **more}
        plan = link(arguments.pop("user_count"), start=story.start, draws=DRAWS, **arguments)
        latest = list(story.plans.items())[-1:]
        story.plans = {**dict(latest), asked: plan}
    return story.plans[asked]


def _ranges_plot(plan: Plan) -> Plot:
    needed = plan.answer("end_needed_bps")
    spread = needed.spread
    values = np.array([needed.value], dtype=float) if spread is None else spread.samples
    percentiles = (
        {} if spread is None else {percent: spread.percentile(percent) for percent in PERCENTILES}
    )
    return plots.distribution(
        values,
        axis=Axis(named("rate needed after 3 years", LINE), "bit/s"),
        percentiles=percentiles,
        title="What the line must carry, by ranges of what is known",
    )


def _p95_bps(plan: Plan) -> float:
    needed = plan.answer("end_needed_bps")
    return plan["end_needed_bps"] if needed.spread is None else needed.spread.percentile(95.0)


def _needed(plan: Plan) -> str:
    """Say which rate the ranges need, and which rate of Ethernet that is."""
    needed, most = plan.answer("end_needed_bps"), _p95_bps(plan)
    text = phrase(
        "After {quantity} each line needs {text}. ",
        quantity=quantity(HORIZON_S, "s"),
        text=needed.text,
    )
    text += phrase(
        "The next rate of Ethernet is {next_size}",
        next_size=show_rate(float(next_size_bps(most)), ETHERNET_LINE),
    )
    if needed.spread is None:
        return phrase("{text}. Nothing is a range.", text=text)
    first = max(plan.drivers, key=lambda name: plan.drivers[name])
    middle = float(next_size_bps(needed.spread.percentile(50.0)))
    text += phrase(
        " for 95% of the draws, {middle} for half of them.", middle=show_rate(middle, ETHERNET_LINE)
    )
    return phrase("{text} What matters most: {label}.", text=text, label=label(first))


def growth_panel(story: Story) -> Panel:
    """Step 5: the growth of the demand, and the day on which the lines are full."""

    def planned() -> Plan:
        arguments = story.link()
        return link(arguments.pop("user_count"), start=story.start, **arguments)

    names = ("annual_growth", "bandwidth_bps", "link_count", "is_spared")
    needs = ("user_count", "user_bps", "active_ratio", "quantile")
    return _plan_panel(story, planned, names, step=5, needs=needs)


def buy_panel(story: Story) -> Panel:
    """Step 6: a map of what limits, with the point of the user and the cheapest step out of it."""
    over = choice("map", MAPS, USERS_AND_RATE)

    def planned(over: str | tuple[str, str]) -> Plan:
        if isinstance(over, str):
            arguments = story.link()
            return link(arguments.pop("user_count"), start=story.start, as_map=True, **arguments)
        arguments = {name: story.values[name] for name in ("bandwidth_bps", "loss_ratio")}
        return buy(over=over, **story.transfer(), **arguments)

    figure = Figure(plots.plan(planned(USERS_AND_RATE)))

    def update(over: str | tuple[str, str]) -> None:
        plan = planned(over)
        plot = plots.plan(plan)
        figure.draw(plot)
        figure.describe(f"{_with_steps(plan)} {plot.description}")

    return story.panel(
        figure,
        ("bandwidth_bps", "window_bytes", "loss_ratio"),
        update,
        step=6,
        more={"over": over},
        needs=(*SPREADS, "quantile", "link_count", "is_spared", "payload_bytes", "rtt_s"),
    )


def bought_panel(story: Story) -> Panel:
    """Step 7: the lines that are bought, as a network, and the commands that plan them."""
    rule = choice("buy", {"enough for 95% of the draws": True, "as chosen in step 5": False}, True)
    commands = ipywidgets.HTML()

    def planned(is_safe: bool) -> tuple[Plan, networks.NetworkPlan, dict[str, str]]:
        plan = _with_ranges(story, **({"bandwidth_bps": None} if is_safe else {}))
        files = _files(story, plan)
        network = networks.read(files["links.csv"], demands=files["demands.csv"])
        settings = networks.Settings(
            start=story.start,
            growth_ratio=story.values["annual_growth"],
            full_at_ratio=TARGET_UTILIZATION,
        )
        return plan, networks.plan(network, settings=settings), files

    figure = Figure(plots.network(planned(True)[1]))

    def update(is_safe: bool) -> None:
        plan, network, files = planned(is_safe)
        plot = plots.network(network)
        figure.draw(plot)
        figure.describe(f"{plan.sentence} {plot.description}")
        texts = {**files, "In a terminal": "\n".join(_commands(story, plan))}
        commands.value = "".join(
            f"<p><b>{html_text(name)}</b></p>{_WRAPPED}{html_text(text.strip())}</pre>"
            for name, text in texts.items()
        )

    return story.panel(
        figure,
        ("link_count", "is_spared"),
        update, step=7,
        more={"is_safe": rule},
        needs=(
            *SPREADS,
            *(f"{name}_spread" for name in SPREADS),
            "quantile", "bandwidth_bps", "payload_bytes", "rtt_s", "window_bytes",
        ),
        below=[commands],
    )  # fmt: skip


def _files(story: Story, plan: Plan) -> dict[str, str]:
    """Return the files of a network of two sites, as the command reads them."""
    rate, way = text_of(plan["link_bps"], "bit/s"), text_of(story.values["rtt_s"] / 2.0, "s")
    lines = [
        f"office,hq,line {number},{rate},{way}"
        for number in range(1, story.values["link_count"] + 1)
    ]
    demand = f"hq,office,{text_of(plan['demand_bps'], 'bit/s')}"
    return {
        "links.csv": "\n".join(("from,to,name,rate,latency", *lines, "")),
        "demands.csv": f"from,to,rate\n{demand}\n",
    }


def _commands(story: Story, plan: Plan) -> list[str]:
    """Return the commands that give the same plans."""
    values, day = story.values, story.start.isoformat()
    line = ["--line", text_of(plan["link_bps"], "bit/s")]
    full_at = text_of(TARGET_UTILIZATION, "ratio")
    ends = [
        "--percentile", text_of(values["quantile"], "ratio"), "--target", full_at,
        "--lasts", "3 years", "--links", str(values["link_count"]),
        "--failed", str(int(values["is_spared"])), *line, "--from", day,
    ]  # fmt: skip
    window = ["--window", text_of(values["window_bytes"], "byte")]
    return [
        *(
            _command("link", users, "--each", each, "--active", active, "--growth", growth, *ends)
            for users, each, active, growth in (
                [_range(values[name], name) for name in SPREADS],
                [_range(value, name) for name, value in story.ranges().items()],
            )
        ),
        _command(
            "transfer", text_of(values["payload_bytes"], "byte"), "--rate", line[1],
            "--rtt", text_of(values["rtt_s"], "s"), *window,
        ),
        _command(
            "network", "links.csv", "demands.csv", "--growth", _range(values["annual_growth"],
            "annual_growth"), "--full-at", full_at, "--from", day,
        ),
    ]  # fmt: skip


def _command(*words: str) -> str:
    return shlex.join(("netcalc", "plan", *words))


_UNITS = {"user_count": "1", "user_bps": "bit/s", "active_ratio": "ratio", "annual_growth": "ratio"}


def _range(value: Any, name: str) -> str:
    """Write an input as a command reads it: a number with its unit, or a range."""
    if isinstance(value, uncertain.Distribution):
        return value.text(_UNITS[name])
    return text_of(float(value), _UNITS[name])


def _share(drivers: Mapping[str, float], name: str) -> str:
    return f"{max(drivers[name], 0.0):.0%}" if name in drivers else "not a range"


def _with_steps(plan: Plan) -> str:
    """Return the sentence of a plan, its first step, and what makes it doubtful."""
    step = (
        phrase("What would help: {steps}.", steps=plan.steps[0])
        if plan.steps and plan.name != "buy"
        else ""
    )
    notes = [phrase("Note: {one}.", one=notice) for notice in plan.notices]
    return " ".join(filter(None, (plan.sentence, step, *notes)))
