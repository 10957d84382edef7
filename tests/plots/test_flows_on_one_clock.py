"""Flows of several files in one figure: where they begin, their total and an equal share."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.explain import Known, sweep
from netcalc.plots import clock_notice, flows
from netcalc.samples import FlowSeries, Meta, RttSamples

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def after(seconds):
    """The text of a start, so many seconds after the first flow's."""
    return (START + timedelta(seconds=seconds)).isoformat()


def flow(start, rates_mbps, *, host="a", way="upload", asked=None):
    """Intervals of one second; the run begins by the clock of its host, or by none."""
    count = len(rates_mbps)
    meta = Meta(
        start=start, host=host, printed={"asked_buffer_bytes": asked} if asked else {},
        facts=({"direction": way, "received_rate_bps": 1e6 * np.mean(rates_mbps)},),
    )  # fmt: skip
    return FlowSeries(
        start_s=np.arange(float(count)), duration_s=[1.0] * count,
        payload_bytes=np.array(rates_mbps) * 1e6 / 8, throughput_bps=np.array(rates_mbps) * 1e6,
        meta=meta,
    )  # fmt: skip


FIRST, SECOND = (90, 90, 60, 50, 40, 40), (30, 40, 50, 52, 91, 92)


def two(**of_second):
    """The second flow begins two seconds after the first."""
    return {"a.json": flow(after(0), FIRST), "b.json": flow(after(2), SECOND, **of_second)}


def rates_at(plot, name):
    """The rate of each second, in Mbit/s; nan where the line has none."""
    data = plot.sources[name].data
    edges, rate = np.asarray(data["x"])[::2], np.asarray(data["y"])[::2]
    return dict(zip(edges.tolist(), (rate / 1e6).tolist(), strict=True))


def test_each_flow_begins_where_it_began():
    plot = flows(two(), Known())
    first, second = rates_at(plot, "a.json"), rates_at(plot, "b.json")
    assert [first[at] for at in (0, 1, 2, 5)] == pytest.approx([90, 90, 60, 40])
    assert [second[at] for at in (2, 3, 7)] == pytest.approx([30, 40, 92])
    assert math.isnan(first[6])
    assert math.isnan(second[1])
    assert "b.json: 59.17 Mbit/s (payload) from 2 s to 8 s" in plot.description
    assert plot.figure.xaxis[0].axis_label.text == "time since 2023-11-14 22:13:20 UTC"
    assert clock_notice(two()).code == "flows-by-clock"


def test_flows_of_one_host_have_a_total_and_an_equal_share_while_both_run():
    plot = flows(two(), Known(line_bps=100e6))
    total, share = rates_at(plot, "all together"), rates_at(plot, "an equal share")
    assert [total[at] for at in (0, 2, 3, 7)] == pytest.approx([90, 90, 90, 92])
    assert [share[at] for at in (2, 3)] == pytest.approx([45, 45])
    assert math.isnan(share[0])
    assert math.isnan(share[7])
    assert set(plot.sources["rate (line)"].data["y"]) == {100e6}


@pytest.mark.parametrize("of_second", [{"host": "b"}, {"way": "download"}])
def test_flows_of_two_hosts_or_directions_are_not_added_up(of_second):
    assert set(flows(two(**of_second), Known()).sources) == {"a.json", "b.json"}


def test_without_a_clock_each_begins_at_zero_and_that_is_said():
    files = {"a.json": flow(after(0), FIRST), "b.json": flow("", SECOND)}
    plot = flows(files, Known())
    assert rates_at(plot, "b.json")[0] == pytest.approx(30)
    assert set(plot.sources) == {"a.json", "b.json"}
    assert "each file" in plot.figure.xaxis[0].axis_label.text
    said = clock_notice(files)
    assert (said.code, said.values["names"]) == ("flows-without-clock", ["b.json"])


def test_what_has_no_flow_over_time_is_not_drawn():
    ping = RttSamples(payload_bytes=[56.0], rtt_s=[0.01])
    assert flows({"a.json": flow(after(0), FIRST), "ping.txt": ping}, Known()) is None


def test_flows_of_a_file_without_a_clock_keep_their_distance():
    """The second flow of a file begins 5 s after the first, whatever the clock is."""
    both = FlowSeries(
        start_s=[0.0, 1.0, 5.0, 6.0], duration_s=[1.0] * 4, payload_bytes=[1e6] * 4,
        throughput_bps=[8e6] * 4, group=["up", "up", "down", "down"],
    )  # fmt: skip
    plot = flows({"a.json": both, "b.json": flow("", FIRST)}, Known())
    assert "a.json, up: 8 Mbit/s (payload) from 0 s to 2 s" in plot.description
    assert "a.json, down: 8 Mbit/s (payload) from 5 s to 7 s" in plot.description
    assert rates_at(plot, "a.json, down")[5.0] == pytest.approx(8.0)


def test_a_flow_that_takes_no_time_has_no_rate():
    """An interval of 0.00 s, as iperf3 may end with, alone in its file."""
    nothing = FlowSeries(
        start_s=[0.0], duration_s=[0.0], payload_bytes=[1e6], throughput_bps=[1e6],
        meta=Meta(start=after(0)),
    )  # fmt: skip
    assert flows({"a.json": flow(after(0), FIRST), "b.json": nothing}, Known()) is None


def test_windows_of_flows_that_ran_at_once_are_no_sweep():
    """Each has what the other leaves; one after the other they are a sweep."""
    files = {"a.json": flow(after(0), FIRST, asked=8192)}
    assert sweep({**files, "b.json": flow(after(2), SECOND, asked=16384)}) is None
    joined = sweep({**files, "b.json": flow(after(60), SECOND, asked=16384)})
    assert joined.by == "window"


@pytest.mark.parametrize("command", ["read", "explain"])
def test_the_commands_draw_flows_and_say_the_clock(tmp_path, command):
    names = [str(two_[1].save(tmp_path / two_[0])) for two_ in two().items()]
    out = tmp_path / "flows.svg"
    done = CliRunner().invoke(commands, [command, *names, "--plot", str(out)])
    assert done.exit_code == 0, done.output
    assert "note: 2 files drawn by their clock" in done.output
    assert "all together" in out.read_text(encoding="utf-8")
