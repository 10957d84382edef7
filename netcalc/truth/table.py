"""The truth table: its settings, and every experiment compared with theory.

The settings go from 56 kbit/s to 1 Gbit/s, 1, 3 and 12 links, 8 to 1400 bytes, round trips of some
µs to 200 ms; those in virtual time test the emulation without packets. The times of most are far
longer than the instrument's own; the last settings of the echo are hard.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import chain, groupby
from typing import Any

import numpy as np

from netcalc.checks import choice
from netcalc.emulation.chain import simulate
from netcalc.errors import ExperimentError
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import require_writable
from netcalc.experiments.running.record import SAVE_S, Common, Progress, Record
from netcalc.experiments.running.stopping import Stop
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.samples import Table
from netcalc.truth import measured
from netcalc.truth.bench import TOGETHER, Bench, Measure, Setting, require_judge
from netcalc.truth.rows import TruthRow, table_of

EXACT_RATIO = 1e-9
"""Tolerance for rounding between a formula and the same queue in virtual time. [ratio]"""
MD1_COUNT = 60_000
"""Packets of a queue with random arrivals. [packet]"""
MD1_RATIO = 0.05
"""Four standard errors of the mean wait of this number of packets. [ratio]"""
_PACKET_BYTES = 1250


def train_setting(path_text: str, packet_count: int, **options: bool) -> Setting:
    """A train of packets through all links: the arrival of the last one."""
    what = f"{packet_count} packets of {_PACKET_BYTES} B"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        run = simulate(path, packet_bytes=_PACKET_BYTES, sent_s=np.zeros(packet_count))
        yield setting.row(
            what,
            predicted=float(path.one_way_s(_PACKET_BYTES, packet_count=packet_count)),
            measured=float(run.received_s[-1]),
            statistic="last packet",
            tolerance_ratio=EXACT_RATIO,
        )

    return _virtual(path_text, what, "arrival", "s", measure, **options)


def md1_setting(path_text: str, utilization: float, **options: bool) -> Setting:
    """Poisson arrivals at one link: the mean wait, compared with the queue M/D/1."""
    what = f"random, {utilization:.0%} used"

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        service_s = 8.0 * _PACKET_BYTES / path.bottleneck_bps
        gaps_s = np.random.default_rng(1).exponential(service_s / utilization, MD1_COUNT)
        events = simulate(path, packet_bytes=_PACKET_BYTES, sent_s=np.cumsum(gaps_s)).events
        waits_s = events.departure_s - events.arrival_s - service_s
        yield setting.row(
            what,
            predicted=float(md1_wait_s(utilization, service_s=service_s)),
            measured=float(np.mean(waits_s)),
            statistic=f"mean of {MD1_COUNT}",
            tolerance_ratio=MD1_RATIO,
        )

    return _virtual(path_text, what, "mean wait", "s", measure, **options)


def burst_loss_setting(
    path_text: str, loss_ratio: float, burst_packets: float, **options: bool
) -> Setting:
    """Packets lost in bursts: the share that is lost."""
    what = f"{loss_ratio:.0%} lost, {burst_packets:g} in a row"
    count = 40_000
    # A two-state loss process: the variance of the share is 2 b (1 - p) - 1 times as large.
    more = 2.0 * burst_packets * (1.0 - loss_ratio) - 1.0
    deviation = float(np.sqrt(loss_ratio * (1.0 - loss_ratio) * more / count))

    def measure(bench: Bench, setting: Setting) -> Iterator[TruthRow]:
        path = setting.path
        sent_s = np.arange(count) * 8.0 * _PACKET_BYTES / path.bottleneck_bps
        run = simulate(
            path, packet_bytes=_PACKET_BYTES, sent_s=sent_s, seed=1,
            loss_ratio=loss_ratio, loss_burst_packets=burst_packets,
        )  # fmt: skip
        yield setting.row(
            what,
            predicted=loss_ratio,
            measured=float(np.isnan(run.received_s).mean()),
            statistic=f"of {count} packets",
            tolerance_ratio=4.0 * deviation / loss_ratio,
        )

    return _virtual(path_text, what, "loss", "ratio", measure, **options)


def _virtual(
    path_text: str, what: str, quantity: str, unit: str, measure: Measure, **options: bool
) -> Setting:
    return Setting(
        "virtual", path_text, (what,), quantity, unit, measure, needs_wire=False, **options
    )


EARLY_SEEDS = (1, 26, 46, 47, 62)
"""Seeds of random losses whose first lost packet is one of the first 35, at 0.3 % and above."""
SETTINGS: tuple[Setting, ...] = (
    measured.echo_setting("T1 5 ms", 8, 512, 1400, quick=True),
    measured.echo_setting("56 kbit/s 5 ms", 8, 200),
    measured.echo_setting("56 kbit/s 5 ms", 1400, count=2),
    measured.echo_setting("T1 5 ms", 512, protocol="icmp", quick=True),
    measured.echo_setting("T1 10 ms", 8, 1400, protocol="tcp"),
    measured.echo_setting("T1 10 ms", 512, version=6, quick=True),
    measured.echo_setting("3 x T1 5 ms", 8, 1400),
    measured.echo_setting(
        "T1 1 ms, 56 kbit/s 5 ms, T3 10 ms", 512, protocol="icmp", processing_s=1e-3, count=5
    ),
    measured.echo_setting("12 x 10 Mbit/s 2 ms", 8, 1400, quick=True),
    measured.echo_setting("100 Mbit/s 25 ms", 1400, version=6, protocol="icmp"),
    measured.echo_setting("1 Gbit/s 100 ms", 1400, count=4),
    measured.echo_setting("10 Mbit/s 1 ms", 1400, runs=2),
    measured.echo_setting("T3 0.5 ms", 1400, runs=3, quick=True),
    measured.echo_setting("100 Mbit/s 0 ms", 1400, runs=4),
    measured.small_writes_setting(
        "10 Mbit/s 20 ms", "nagle", "nodelay", "single", "cork", quick=True, side_by_side=True
    ),
    measured.small_writes_setting(
        "100 Mbit/s 50 ms", "nagle", "nodelay", count=4, side_by_side=True
    ),
    measured.small_writes_setting(
        "10 Mbit/s 50 ms", "nagle", quickack=True, count=4, side_by_side=True
    ),
    measured.transactions_setting(
        "10 Mbit/s 20 ms", 400, "ping", "udp", "tfo", "tcp", quick=True, side_by_side=True
    ),
    measured.transactions_setting("T1 5 ms", 1400, "udp", "tfo", "tcp", side_by_side=True),
    measured.transactions_setting("100 Mbit/s 100 ms", 1400, "tls", count=2, side_by_side=True),
    measured.lockstep_setting("10 Mbit/s 10 ms", 1, 8, 32, quick=True, side_by_side=True),
    measured.lockstep_setting("3 x T1 10 ms", 1, 4, side_by_side=True),
    measured.bulk_setting(
        "100 Mbit/s 50 ms", 100, quantity="delivery", count=3, quick=True, side_by_side=True
    ),
    measured.bulk_setting("56 kbit/s 5 ms", 10, count=1, side_by_side=True),
    measured.bulk_setting("T1 50 ms", 180, count=1, side_by_side=True),
    measured.bulk_setting("10 Mbit/s 20 ms", 900, count=2, side_by_side=True),
    measured.bulk_setting("12 x 10 Mbit/s 1 ms", 900, count=2, side_by_side=True),
    measured.buffers_setting(
        "10 Mbit/s 20 ms", 405, 32_768, 131_072, quick=True, side_by_side=True
    ),
    measured.buffers_setting("20 Mbit/s 20 ms", 1035, 65_536, 204_800, count=2, side_by_side=True),
    measured.losses_setting(
        "200 Mbit/s 5 ms", 0.01, 1350, *EARLY_SEEDS[:3], quick=True, side_by_side=True
    ),
    measured.losses_setting("200 Mbit/s 5 ms", 0.005, 2700, *EARLY_SEEDS, side_by_side=True),
    measured.losses_setting(
        "200 Mbit/s 5 ms", 0.003, 3600, *EARLY_SEEDS, rule="cubic", side_by_side=True
    ),
    measured.bulk_setting("100 Mbit/s 5 ms", 5400, count=3, quick=True),
    measured.bulk_setting("1 Gbit/s 0.5 ms", 45_000, count=3),
    measured.line_rate_setting(
        "1 Gbit/s, 10 Mbit/s", 64, 512, 1518, device_pps=2000.0, count=2, quick=True
    ),
    measured.line_rate_setting("1 Gbit/s, 100 Mbit/s", 64, 1518, device_pps=5000.0),
    measured.links_setting("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", 3),
    measured.links_setting("56 kbit/s 5 ms", 1, count=3),
    measured.links_setting("T1 1 ms", 1, count=24, ip_version=6),
    measured.packet_pairs_setting("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", quick=True),
    train_setting("12 x T1 1 ms", 10, quick=True),
    md1_setting("10 Mbit/s", 0.5),
    burst_loss_setting("10 Mbit/s", 0.1, 3.0),
)
"""Every run of the table, in its order."""
LABS = tuple(dict.fromkeys(setting.lab for setting in SETTINGS))
"""The experiments of the table."""


def validate(
    *,
    labs: Sequence[str] = (),
    quick: bool = False,
    anyway: bool = False,
    progress: Progress | None = None,
    stop: Stop | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Table:
    """Run every experiment on emulated links with known parameters and compare with theory.

    Predictions come from models with the parameters that were set; nothing is fitted. To the path
    theory adds what the two hosts take, measured in the same minute as the same exchange over a
    path of latency alone. Each row has the uncertainty of that part.

    Parameters
    ----------
    labs : sequence of str
        Experiments to run, of :data:`LABS`; all if empty.
    quick : bool
        Run a subset of the settings, in less than half of the time.
    anyway : bool
        Measure also where other programs leave too little of the processors.
    progress : callable, optional
        Called as ``progress(done, total, error_ratio)`` at most ten times a second and at the end.
    stop : threading.Event or callable, optional
        Ends the run within a second once it is set, or returns True; not the looks at the
        processors before it, of three seconds at most.
    save : path, optional
        File to save the table to: written every second, at the end and on failure.

    Returns
    -------
    Table
        One row per quantity and setting: :func:`truth_rows` makes objects of them, and
        :func:`truth_summary` judges them. Rows that this system cannot run have the reason. After
        a stop, a first Ctrl-C or the time limit, the rows so far, marked as partial.

    Raises
    ------
    DomainError
        If there is no such experiment.
    ExperimentError
        If the file cannot be written; before the first row, unless ``anyway``, if in each of three
        seconds other programs left less than 80 % of the processors, or timers fired 2 ms late.

    Notes
    -----
    At most 600 s. Times are the smallest and rates the largest of several, because waiting only
    adds to a time: the rest is the path and the least cost of the hosts. Streams that need few
    packets a second run side by side, two at a time. A setting that was disturbed and does not
    agree is run again, at most twice; the least disturbed run counts.

    Without namespaces UDP echo runs through the relay, ``virtual`` runs, and all other rows are
    left out with the reason.

    Examples
    --------
    >>> from netcalc.truth import truth_rows, truth_summary
    >>> table = validate(labs=["virtual"], quick=True)
    >>> [row.flag for row in truth_rows(table)], truth_summary(truth_rows(table)).holds
    (['within its own 0.001 ppm'], True)
    """
    common = Common(progress=progress, stop=stop, save=save)
    selected = (labs,) if isinstance(labs, str) else tuple(labs)
    for lab in selected:
        choice("labs", lab, LABS)
    chosen = [
        setting
        for setting in SETTINGS
        if (not selected or setting.lab in selected) and (setting.quick or not quick)
    ]
    require_writable(save)
    if not anyway and any(setting.needs_wire for setting in chosen):
        require_judge()
    return common.conduct(
        lambda run: run.measure(chosen),
        TruthRun,
        experiment="truth",
        protocol="",
        target="this machine",
        note="predicted, measured and own_error are in the unit of their row",
        total_count=sum(len(setting.what) for setting in chosen),
        unit="rows",
        command=f"validate(labs={list(selected)}, quick={quick})",
    )


REPEATS = 2
"""Repetitions of a setting whose run was disturbed and does not agree with theory. [1]"""


def _rows(bench: Bench, setting: Setting) -> list[TruthRow]:
    """Run a setting; one that the system refuses gives rows with the reason.

    A run that was disturbed, and is off by more than its tolerance, is repeated. Of each row the
    least disturbed run counts, whatever its error is.
    """
    if setting.needs_wire and bench.refusal:
        return setting.not_run(bench.refusal)
    try:
        rows = list(setting.measure(bench, setting))
    except ExperimentError as error:
        return setting.not_run(error)
    for _ in range(REPEATS):
        if not any(row.doubt_code and not row.is_within for row in rows):
            break
        with suppress(ExperimentError):  # the rows of before count
            again = list(setting.measure(bench, setting))
            pairs = zip(rows, again, strict=True)
            rows = [min(pair, key=lambda row: row.doubt_error) for pair in pairs]
    return rows


class TruthRun(Record[Table]):
    """The rows of one table, in the order in which they are measured."""

    def __init__(self, **record: Any) -> None:
        super().__init__(**record)
        self.stopping.meanwhile = None  # which is that of the experiments, too
        self.rows: list[TruthRow] = []
        self.bench: Bench | None = None
        self._coming: list[Future[list[TruthRow]]] = []

    @property
    def done_count(self) -> int:
        """Rows so far."""
        return len(self.rows)

    @property
    def row_count(self) -> int:
        """Rows so far, those included that wait for their place."""
        return len(self._rows_so_far())

    def _rows_so_far(self) -> list[TruthRow]:
        ended = [future for future in self._coming if future.done() and not future.cancelled()]
        waiting = [future.result() for future in ended if future.exception() is None]
        return [*self.rows, *chain.from_iterable(waiting)]

    def measure(self, settings: Sequence[Setting]) -> None:
        """Run the settings; one that the system refuses gives rows with the reason."""
        bench = Bench(self.stopping)
        self.facts.update(instrument.machine(), **instrument.timer())
        self.bench = bench
        self.record_measurement_error()
        for are_together, group in groupby(settings, key=lambda setting: setting.side_by_side):
            if are_together:
                self._measure_together(bench, list(group))
                continue
            for setting in group:
                self.stopping.check()
                self.add(_rows(bench, setting))
        self.record_measurement_error()

    def _measure_together(self, bench: Bench, settings: Sequence[Setting]) -> None:
        """Run settings that do not disturb one another side by side; keep their order."""
        self.stopping.check()
        if not bench.refusal:
            bench.host_cost("tcp", settings[0].path.latency_s)  # while nothing else runs
        with ThreadPoolExecutor(max_workers=TOGETHER) as pool:
            coming = [pool.submit(_rows, bench, setting) for setting in settings]
            try:
                while coming:
                    self._coming = coming
                    while not wait(coming[:1], timeout=SAVE_S).done:
                        if any(future.done() for future in coming):
                            self.save_so_far()
                    rows = coming.pop(0).result()
                    self.add(rows)
            finally:
                for future in coming:
                    future.cancel()

    def add(self, rows: Sequence[TruthRow]) -> None:
        """Add the rows of a setting."""
        self.rows += rows
        self.save_so_far()
        self.advance(rows[-1].error_ratio if rows else np.nan)

    def samples(self) -> Table:
        """Return the table so far."""
        if self.bench is not None:
            self.facts["own_exchanges_s"] = dict(self.bench.own_exchanges_s)
        return table_of(self._rows_so_far(), self.meta())
