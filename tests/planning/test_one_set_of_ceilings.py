"""One path, asked in five places: the formulas, a transfer, an explanation, a plan and its map."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc import explain, planning
from netcalc.models.delays.asymmetry import ack_limited_throughput_bps
from netcalc.models.rates.goodput import tcp_ack_wire_bytes, tcp_goodput_bps
from netcalc.models.sizes.framing import tcp_payload_bytes
from netcalc.models.tcp import cubic, loss_limited, pftk, window
from netcalc.models.tcp.ceilings import CONGESTION_CONTROLS, path_ceilings
from netcalc.models.tcp.transfer_time import transfer_parts, transfer_time_s
from netcalc.path import Link, Path

COUNT = 2000
NAMES = {
    "loss": "loss_limit_bps", "window": "window_limit_bps", "line": "line_limit_bps",
}  # fmt: skip


def drawn(count=COUNT, seed=20):
    """Draw paths and transfers over decades; a third has no loss, a third no window."""
    rng = np.random.default_rng(seed)
    loss = np.where(rng.random(count) < 1 / 3, 0.0, 10 ** rng.uniform(-6, -1, count))
    size = np.where(rng.random(count) < 1 / 3, np.inf, 10 ** rng.uniform(4, 9, count))
    return {
        "payload_bytes": np.round(10 ** rng.uniform(2, 11, count)),
        "bandwidth_bps": 10 ** rng.uniform(5, 11, count),
        "latency_s": 10 ** rng.uniform(-5, -0.5, count),
        "loss_ratio": loss,
        "window_bytes": np.round(size),
        "flow_count": rng.integers(1, 33, count).astype(float),
        "mtu_bytes": rng.choice([576.0, 1280.0, 1500.0, 9000.0], count),
        "congestion_control": rng.choice(CONGESTION_CONTROLS, count),
        "reverse_bandwidth_bps": 10 ** rng.uniform(4, 9, count),
    }


def one_by_one():
    columns = drawn()
    for row in zip(*columns.values(), strict=True):
        yield {
            name: str(value) if isinstance(value, str) else float(value)
            for name, value in zip(columns, row, strict=True)
        }


def without_a_limit(one):
    """Return the arguments of a path in front of its reader: no window is None, no loss is 0."""
    has_window = math.isfinite(one["window_bytes"])
    return {
        "window_bytes": one["window_bytes"] if has_window else None,
        "loss_ratio": one["loss_ratio"],
        "flow_count": int(one["flow_count"]),
        "mtu_bytes": one["mtu_bytes"],
        "congestion_control": one["congestion_control"],
    }


@pytest.mark.slow
def test_explanation_plan_and_formula_have_the_same_ceilings_and_times():
    """Identity: the same path, so the same rates, the same limit and the same time."""
    for one in one_by_one():
        path = Path.of([Link(one["bandwidth_bps"], one["latency_s"])])
        given = without_a_limit(one)
        size = one["payload_bytes"]
        told = explain.tcp_transfer(size, path=path, **given)
        shape = {
            "bandwidth_bps": one["bandwidth_bps"], "rtt_s": told.rate.rtt_s,
            **{name: one[name] for name in
               ("loss_ratio", "window_bytes", "flow_count", "mtu_bytes", "congestion_control")},
        }  # fmt: skip
        formula = path_ceilings(**{**shape, "bandwidth_bps": one["bandwidth_bps"]})
        limits = {NAMES[limit.name]: limit.rate_bps for limit in told.rate.ceilings}
        finite = {
            f"{name.removesuffix('_bps')}_limit_bps": float(rate)
            for name, rate in formula._asdict().items()
            if rate < math.inf
        }
        assert limits == finite
        time_s = float(transfer_time_s(size, **shape))
        assert told.total_s == pytest.approx(time_s, rel=1e-12)
        page = planning.transfer(
            size, rtt_s=told.rate.rtt_s, bandwidth_bps=one["bandwidth_bps"],
            **{**given, "loss_ratio": one["loss_ratio"] or None},
        )  # fmt: skip
        assert page["transfer_s"] == pytest.approx(time_s, rel=1e-12)
        for name, rate_bps in finite.items():
            assert page[name] == rate_bps
        parts = transfer_parts(size, **shape)
        starts = float(sum(parts) - parts.steady_s) > float(parts.steady_s)
        assert page.binding == ("start_s" if starts else NAMES[told.rate.ceilings[0].name])


@pytest.mark.slow
def test_map_and_backup_ask_the_same():
    """Identity: the point of a map, and a full backup of the same data, are the transfer."""
    for one in list(one_by_one())[:: COUNT // 100]:
        given = {
            **without_a_limit(one),
            "bandwidth_bps": one["bandwidth_bps"],
            "rtt_s": 2 * one["latency_s"],
        }
        given["loss_ratio"] = given["loss_ratio"] or None
        size = one["payload_bytes"]
        page = planning.transfer(size, **given)
        kept = planning.backup(size, window_s=3600.0, **given)
        assert kept["backup_s"] == page["transfer_s"]
        assert kept.binding == page.binding
        drawn_map = planning.buy(size, **given)
        assert drawn_map.binding == page.binding
        chart = drawn_map.chart
        row = int(np.argmin(np.abs(np.log(chart.y_at / given["rtt_s"]))))
        column = int(np.argmin(np.abs(np.log(chart.x_at / given["bandwidth_bps"]))))
        assert chart.limits[chart.index[row, column]] == page.binding


def test_each_ceiling_is_that_of_its_own_formula():
    """Derived: the formulas of one limit each, which know nothing of the others."""
    at = drawn()
    for rule in CONGESTION_CONTROLS:
        mine = at["congestion_control"] == rule
        here = {
            name: values[mine] for name, values in at.items()
            if name not in ("payload_bytes", "latency_s", "congestion_control")
        }  # fmt: skip
        rtt = 2 * at["latency_s"][mine]
        found = path_ceilings(rtt_s=rtt, congestion_control=rule, **here)
        mss = tcp_payload_bytes(here["mtu_bytes"], tcp_option_bytes=12)
        line = tcp_goodput_bps(
            here["mtu_bytes"], bandwidth_bps=here["bandwidth_bps"], tcp_option_bytes=12
        )
        np.testing.assert_allclose(found.line_bps, (1 - here["loss_ratio"]) * line, rtol=1e-12)
        back = ack_limited_throughput_bps(
            here["reverse_bandwidth_bps"], ack_wire_bytes=tcp_ack_wire_bytes(12), mss_bytes=mss
        )
        np.testing.assert_allclose(found.acknowledgements_bps, back, rtol=1e-12)
        limited = np.isfinite(here["window_bytes"])
        alone = window.throughput_bps(here["window_bytes"][limited], rtt_s=rtt[limited])
        np.testing.assert_allclose(
            found.window_bps[limited], here["flow_count"][limited] * alone, rtol=1e-12
        )
        assert np.isinf(found.window_bps[~limited]).all()
        lossy = here["loss_ratio"] > 0
        loss, trip, segment = here["loss_ratio"][lossy], rtt[lossy], mss[lossy]
        law = loss_limited.mathis_throughput_bps(loss, mss_bytes=segment, rtt_s=trip, constant=1.31)
        timers_s = loss**2 * pftk.timeout_sequence_s(loss, rto_s=trip + 0.2)
        reno = 8 * segment / (8 * segment / law + timers_s)
        curve = 8 * segment * cubic.cubic_raw_window_packets(loss, rtt_s=trip) / trip
        expected = {"reno": reno, "cubic": np.maximum(reno, curve), "bbr": np.inf}[rule]
        np.testing.assert_allclose(
            found.loss_bps[lossy], here["flow_count"][lossy] * expected, rtol=1e-12
        )
        assert np.isinf(found.loss_bps[~lossy]).all()


def test_losses_do_not_slow_acknowledgements_and_ethernet_pads_them():
    """Derived: an ACK answers two segments that arrived; 40 B of IP are 64 + 20 B on Ethernet."""
    way_back = {"reverse_bandwidth_bps": 1e5, "loss_ratio": 0.01, "congestion_control": "bbr"}
    found = path_ceilings(1e9, rtt_s=0.02, tcp_option_bytes=0, **way_back)
    assert found.acknowledgements_bps == pytest.approx(1e5 / 84 * 2 * 1460)
    at_ip = path_ceilings(1e9, rtt_s=0.02, tcp_option_bytes=0, link_bytes=0, **way_back)
    assert at_ip.acknowledgements_bps == pytest.approx(1e5 / 40 * 2 * 1460)
    time_s = transfer_time_s(1e9, bandwidth_bps=1e9, rtt_s=0.02, tcp_option_bytes=0, **way_back)
    assert time_s == pytest.approx(8e9 / found.acknowledgements_bps, rel=1e-3)
    path = Path.parse("1 Gbit/s 10 ms")
    told = explain.rate(path, **way_back)
    assert told.rate_bps == pytest.approx(1e5 / 90 * 2 * 1448)
    told = explain.tcp_transfer(1e9, path=path, **way_back)
    assert told.total_s == pytest.approx(8e9 / told.rate.rate_bps, rel=1e-3)
