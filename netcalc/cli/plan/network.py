"""``netcalc plan network``: load, delay, failures and growth of a network of links and demands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netcalc import units
from netcalc.cli import INTERRUPTED, complain, mistakes, options, output, print_json, put, say
from netcalc.messages import Notice
from netcalc.planning.network.plan import Settings
from netcalc.planning.network.routing import COSTS
from netcalc.rate_layers import IN_HEADING, LINE, named

if TYPE_CHECKING:
    from netcalc.planning.network import NetworkPlan
    from netcalc.planning.network.files import SavedScan

MOST_ROWS = 15
"""Rows of a printed table unless --rows says otherwise; --csv and --json have all."""
_ENDLESS_S = 1e9


@options.command(
    *options.options_of(
        Settings,
        leave_out=("start", "costs"),
        types={
            "growth_ratio": options.Growth(),
            "draws": options.WholeNumber(20, 10_000),
            "seed": options.WholeNumber(0),
        },
    ),
    options.JSON,
    click.Option(["--csv", "as_csv"], is_flag=True, help="Print a line of CSV for each direction."),
    options.plot_option("Draw the loads"),
    click.Option(["--force"], is_flag=True, help="Replace the files of --plot and --save."),
    names={"start": "--from"},
    types={"costs": options.Choice(list(COSTS)), "rows": options.WholeNumber(1)},
)
def network(
    links: str,
    demands: str,
    *,
    nodes: str | None = None,
    one_way: bool = False,
    start: date | None = None,
    costs: str | None = None,
    rows: int = MOST_ROWS,
    save_path: str | None = None,
    as_json: bool,
    as_csv: bool,
    plot_path: str | None,
    force: bool,
    **settings: Any,
) -> None:
    """Plan a network: load and delay of each link, the worst single failure, when links are full.

    \b
    netcalc plan network links.csv demands.csv
    netcalc plan network links.csv demands.csv --growth "30 % ± 5 %"
    netcalc plan network links.csv demands.csv --full-at 80% --plot loads.html
    netcalc plan network links.csv demands.csv --save scan.jsonl --csv > loads.csv

    LINKS.csv has a line for each link, which is both directions: from,to,rate,latency, and
    optionally name, cost, availability, growth (of its load) and group (links that fail together).
    DEMANDS.csv has from,to,rate, and optionally growth. Units are in the cells (10 Gbit/s) or in
    the headings (rate [Gbit/s]); a number may be a range (80..100 Mbit/s, 30 ms ± 5 ms). Rates of
    demands and of links count at the same layer. Demands take the shortest paths, and paths of
    equal cost in equal parts at each node. Each link fails once, with both directions, and each
    group of links; with --fail both each node, too. Demands that have no path then are
    listed.

    Parameters
    ----------
    links : LINKS.csv
        The links.
    demands : DEMANDS.csv
        The demands.
    nodes : NODES.csv
        Column node: the only names links may have; x and y, or lat and lon: where they are.
    one_way : bool
        Each line of LINKS.csv is one direction.
    start : date
        Date of the demands; by default today.
    costs : str
        Cost of a link: given (column cost), ospf (fastest rate over rate), hops, latency. Default:
        given if there is the column, otherwise ospf.
    rows : int
        Links to print.
    save_path : SCAN.jsonl
        Save each failure as soon as it is computed; one that exists is continued.
    """
    mistakes.check_one_form(as_json, as_csv)
    output.check_outputs(plot=plot_path, force=force)
    output.check_outputs(save_path, plot=None, force=True)
    from netcalc.planning.network import NetworkPlan, read

    topology = read(links, demands=demands, nodes=nodes, one_way=one_way)
    with_costs = topology.links[0].there.cost is not None
    rule = costs or ("given" if with_costs else "ospf")
    with mistakes.named_as_typed():
        how = Settings(start=start or date.today(), costs=rule, **settings)  # type: ignore[arg-type]
    plan = NetworkPlan(topology, settings=how)
    for notice in topology.notices:
        complain(str(notice))
    notices = _complete(plan, save_path, force=force)
    if as_json:
        from netcalc.planning.network.page import as_dict

        print_json(as_dict(plan, notices=notices))
    elif as_csv:
        _print_csv(plan)
    else:
        _print_page(plan, rows)
    for notice in notices:
        complain(f"{notice}. {notice.hint}" if notice.hint and save_path else str(notice))
    if plot_path is not None:
        from netcalc import plots  # late: bokeh takes its time

        output.write_plot(plots.network(plan), plot_path)
    output.print_written(plot_path, save_path)
    if any(notice.code != "network-continued" for notice in notices):
        raise SystemExit(INTERRUPTED)


def _complete(plan: NetworkPlan, save_path: str | None, *, force: bool) -> list[Notice]:
    """Scan the failures and draw the ranges; Ctrl-C ends that, and what was found is kept."""
    from netcalc.experiments.running.stopping import Ended, Stopping

    total = len(plan.cases)
    notices = []
    with (
        _saving(plan, save_path, force=force) as saved,
        Stopping(None, limit_s=_ENDLESS_S) as stopping,
    ):
        if saved is not None and saved.count:
            notices.append(Notice("network-continued", {"done": saved.count, "total": total}))
        try:
            with output.Progress("failures") as progress:
                for result in plan.scan():
                    if saved is not None:
                        saved.add(result)
                    progress(len(plan.failures), total)
                    stopping.check()
            if plan.varies:
                with output.Progress("draws of ranges") as progress:
                    for done, count in plan.find_ranges():
                        progress(done, count)
                        stopping.check()
        except Ended:
            done = len(plan.failures)
            if done < total:
                notices.append(Notice("network-interrupted", {"done": done, "total": total}))
            elif plan.ranges is None and plan.varies:
                notices.append(Notice("network-no-ranges"))
    return notices


@contextlib.contextmanager
def _saving(plan: NetworkPlan, save_path: str | None, *, force: bool) -> Iterator[SavedScan | None]:
    from netcalc.planning.network.files import SavedScan

    if save_path is None:
        yield None
        return
    if force:
        Path(save_path).unlink(missing_ok=True)
    with SavedScan(Path(save_path), plan=plan) as saved:
        yield saved


def _print_csv(plan: NetworkPlan) -> None:
    from netcalc.planning.network.page import flat_rows

    rows = flat_rows(plan)
    output.print_csv(rows[0], (row.values() for row in rows))


def _print_page(plan: NetworkPlan, count: int) -> None:
    from netcalc.planning.network.page import arc_rows, demand_rows, failure_rows, sentences

    for sentence in sentences(plan):
        text = str(sentence)
        say(f"{text[:1].upper()}{text[1:]}.")
    rows = arc_rows(plan)
    put()
    _print_links(rows[:count])
    if len(rows) > count:
        put(f"and {len(rows) - count:,} more: --rows, --csv or --json")
    failures = failure_rows(plan)[: max(1, count // 3)]
    if failures:
        put()
        _print_failures(failures)
    put()
    _print_rows(
        ("slowest from", "to", named("rate", LINE), "mean delay"),
        [
            (
                row["from"],
                row["to"],
                units.show_rate(row["rate_bps"], IN_HEADING),
                _with_ends(row, "delay_s", _time),
            )
            for row in demand_rows(plan)[: max(1, count // 3)]
        ],
    )


def _print_failures(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what each failure loads and cuts off; how long it lasts, where any is known."""
    timed = any(row["hours_a_year"] is not None for row in rows)
    headings = ("if this fails", "from", "to", "load then", "overloaded", named("cut off", LINE))
    texts = []
    for row in rows:
        where = (row["from"], row["to"]) if row["load_ratio"] else ("-", "-")
        hours = row["hours_a_year"]
        cells = (
            row["failed"],
            *where,
            _ratio(row["load_ratio"]),
            f"{row['overloaded']:,}",
            units.show_rate(row["cut_bps"], IN_HEADING) if row["cut_bps"] else "-",
            *(("-" if hours is None else f"{hours:.3g} h",) if timed else ()),
        )
        texts.append(cells)
    _print_rows((*headings, *(("time a year",) if timed else ())), texts)


def _print_links(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the links now and after their worst failures: with ranges in two tables."""
    now = (named("rate", LINE), "load", "delay", "full on")
    then = ("if this fails", "load then", "full then")
    if "ranges" not in rows[0]:
        _print_rows(("from", "to", *now, *then), [(*_now(row), *_then(row)) for row in rows])
        return
    _print_rows(("from", "to", *now), [_now(row) for row in rows])
    put()
    _print_rows(("from", "to", *then), [(row["from"], _end(row), *_then(row)) for row in rows])


def _now(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["from"],
        _end(row),
        units.show_rate(row["rate_bps"], IN_HEADING),
        _with_ends(row, "load_ratio", _ratio),
        _with_ends(row, "delay_s", _time),
        _with_ends(row, "full_on", _month),
    )


def _end(row: Mapping[str, Any]) -> str:
    """Return where a direction ends; of parallel links with the name of the link."""
    return f"{row['to']} ({row['link']})" if row["parallel"] else str(row["to"])


def _then(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["failure"] or row["failure_sooner"] or "-",
        _with_ends(row, "failure_load_ratio", _ratio),
        _with_ends(row, "failure_full_on", _month),
    )


def _with_ends(row: Mapping[str, Any], name: str, write: Callable[[Any], str]) -> str:
    """Write a number or a month; of a range the median and its ends."""
    if "ranges" not in row:
        return write(row[name])
    ends = row["ranges"][name]
    low, middle, high = (write(ends[percent]) for percent in ("p5", "median", "p95"))
    return middle if low == high else f"{middle} ({low}..{high})"


_ratio = partial(units.show, unit="ratio", digits=3)
_time = partial(units.show, unit="s", digits=3)


def _month(day: str | None) -> str:
    return "-" if day is None else day[:7]


def _print_rows(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    output.print_rows(headings, rows, left=("from", "to", "if this fails", "slowest from"))
