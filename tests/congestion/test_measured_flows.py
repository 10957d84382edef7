"""Measured flows as a result of a scenario: on one clock, in the order in which they began."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import readers
from netcalc.cli import commands
from netcalc.congestion.measured import measured
from netcalc.errors import ReaderError
from netcalc.samples import FlowSeries, Meta, Table
from netcalc.scenario import from_document

SCENARIO = {
    "rate_bps": 10e6, "rtt_s": 0.04, "buffer_bdp": 1, "end_s": 10, "warm_s": 1,
    "flows": [{"algorithm": "cubic"}, {"algorithm": "cubic", "start_s": 4, "stop_s": 8}],
}  # fmt: skip


def flow(rates_mbps, start="", *, datagrams=False, **columns):
    """Intervals of a second each."""
    count = len(rates_mbps)
    facts = ({"protocol": "udp" if datagrams else "tcp"},)
    return FlowSeries(
        start_s=np.arange(count, dtype=float), duration_s=[1.0] * count,
        payload_bytes=[rate * 1e6 / 8 for rate in rates_mbps],
        throughput_bps=[rate * 1e6 for rate in rates_mbps],
        meta=Meta(tool="iperf3", start=start, facts=facts), **columns,
    )  # fmt: skip


LONG = [9.0] * 4 + [5.0] * 4 + [9.0] * 2
SHORT = [2.0, 4.0, 4.0, 4.0]


def both(long_start="2026-01-01T00:00:00+00:00", short_start="2026-01-01T00:00:04+00:00"):
    return {"short": flow(SHORT, short_start), "long": flow(LONG, long_start)}


def test_flows_lie_on_the_clock_of_the_scenario():
    """By hand: 9 Mbit/s for seconds 2 to 4 and 9 to 10, 5 in between: 52 Mbit in 9 s."""
    result = measured(from_document(SCENARIO, name="x"), both())
    assert result.by == "measured"
    assert result.goodput_bps == pytest.approx([(3 * 9e6 + 4 * 5e6 + 2 * 9e6) / 9, 14e6 / 4])
    time_s, rates = result.trajectory.goodput_every(1.0)
    assert time_s == pytest.approx(np.arange(1.0, 11.0))
    assert rates[:, 0] == pytest.approx(np.array(LONG) * 1e6)
    assert rates[4:8, 1] == pytest.approx(np.array(SHORT) * 1e6)
    assert np.isnan(result.queue_mean_bytes)


def test_utilization_counts_full_packets_of_all_flows():
    """65 + 14 Mbit in nine seconds of 10 Mbit/s; 1448 of 1500 B are payload."""
    result = measured(from_document(SCENARIO, name="x"), both())
    assert result.utilization == pytest.approx((65 + 14) / 90 * 1500 / 1448, rel=1e-6)


def test_windows_and_round_trips_are_those_of_the_files():
    windows = [30 * 1448.0] * 10
    named = {"long": flow(LONG, "2026-01-01T00:00:00+00:00", cwnd_bytes=windows, rtt_s=[0.06] * 10),
             "short": flow(SHORT, "2026-01-01T00:00:04+00:00")}  # fmt: skip
    course = measured(from_document(SCENARIO, name="x"), named).trajectory
    assert course.window_packets[:, 0] == pytest.approx(30)
    assert np.isnan(course.window_packets[:, 1]).all()
    assert course.rtt_s == pytest.approx(0.06)


def test_two_streams_of_a_run_are_one_flow():
    scenario = from_document({**SCENARIO, "flows": SCENARIO["flows"][:1]}, name="x")
    series = FlowSeries(
        start_s=[0, 0, 1, 1], duration_s=[1.0] * 4, payload_bytes=[5e5] * 4,
        throughput_bps=[4e6] * 4, stream=["1", "2"] * 2, meta=Meta(tool="iperf3"),
    )  # fmt: skip
    _, rates = measured(scenario, {"x": series}).trajectory.goodput_every(1.0)
    assert rates[:, 0] == pytest.approx([8e6, 8e6])


def test_counters_of_sockets_over_time():
    """Bytes acknowledged at 0, 1 and 2 s: a megabyte in each second."""
    scenario = from_document({**SCENARIO, "flows": SCENARIO["flows"][:1]}, name="x")
    table = Table(
        data={"time_s": np.array([0.0, 1.0, 2.0]), "bytes_acked": np.array([5e5, 1.5e6, 2.5e6]),
              "cwnd_packets": np.array([10.0, 20.0, 30.0]), "mss_bytes": np.full(3, 1448.0),
              "group": np.array(["a"] * 3, object)},
        meta=Meta(tool="ss", units={"time_s": "s", "bytes_acked": "byte", "cwnd_packets": "packet",
                                    "mss_bytes": "byte", "group": "text"}),
    )  # fmt: skip
    course = measured(scenario, {"ss": table}).trajectory
    assert course.goodput_bps[:, 0] == pytest.approx([8e6, 8e6])
    assert course.window_packets[:, 0] == pytest.approx([20, 30])


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({"long": flow(LONG)}, "flows-of-scenario"),
        ({"long": flow(LONG), "short": flow(SHORT)}, "no-clock-to-merge"),
        ({"x": Table(data={"a": np.zeros(2)}, meta=Meta(units={"a": "1"}))}, "no-flow-over-time"),
        (both(short_start="2026-01-31T00:00:00+00:00"), "flow-after-scenario"),
        ({"x": flow(SHORT, datagrams=True)}, "flow-of-datagrams"),
    ],
)
def test_what_cannot_be_put_over_a_scenario_is_refused(named, code):
    with pytest.raises(ReaderError) as refused:
        measured(from_document(SCENARIO, name="x"), named)
    assert refused.value.code == code


def write(path, rates_mbps, start_s):
    """Write a run of iperf3 in JSON, as its version 3.12 does."""
    rows = [
        {"socket": 5, "start": second, "end": second + 1, "seconds": 1.0, "bytes": rate * 1e6 / 8,
         "bits_per_second": rate * 1e6, "omitted": False, "sender": True}
        for second, rate in enumerate(rates_mbps)
    ]  # fmt: skip
    size = sum(row["bytes"] for row in rows)
    total = {"start": 0, "end": len(rows), "seconds": float(len(rows)), "bytes": size,
             "bits_per_second": 8 * size / len(rows)}  # fmt: skip
    document = {
        "start": {
            "version": "iperf 3.12", "system_info": "Linux h 6.1.0 x86_64",
            "timestamp": {"timesecs": 1_700_000_000 + start_s},
            "connecting_to": {"host": "192.0.2.9", "port": 5201},
            "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0, "omit": 0},
        },
        "intervals": [{"streams": [row], "sum": row} for row in rows],
        "end": {"sum_sent": total, "sum_received": total},
    }  # fmt: skip
    path.write_text(json.dumps(document), encoding="utf-8")


def test_the_command_compares_files_with_theory_and_draws_both(tmp_path):
    write(tmp_path / "long.json", LONG, 0)
    write(tmp_path / "short.json", SHORT, 4)
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(SCENARIO), encoding="utf-8")
    arguments = ["congestion", scenario, "--measured", tmp_path / "short.json", "--measured",
                 tmp_path / "long.json", "--plot", tmp_path / "out.svg"]  # fmt: skip
    done = CliRunner().invoke(commands, list(map(str, arguments)), env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    assert "7.222 Mbit/s" in done.output
    assert "stack linux" in done.output
    assert "flow 1, cubic, measured" in (tmp_path / "out.svg").read_text(encoding="utf-8")
    table = readers.read(tmp_path / "long.json")
    assert measured(from_document({**SCENARIO, "flows": SCENARIO["flows"][:1]}, name="x"),
                    {"long": table}).goodput_bps == pytest.approx([65e6 / 9])  # fmt: skip


def test_measured_flows_are_not_for_a_grid(tmp_path):
    arguments = ["congestion", "--preset", "two-flows", "--measured", "x.json", "--out",
                 str(tmp_path / "x.jsonl")]  # fmt: skip
    done = CliRunner().invoke(commands, arguments)
    assert done.exit_code
    assert "--measured" in (done.output or str(done.exception))
