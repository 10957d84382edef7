"""A host for a path: its buffers against published settings, the lines of both systems."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from netcalc import planning
from netcalc.cli import commands
from netcalc.planning.host import LARGEST_SETTING
from netcalc.uncertain import uniform

ESNET = [
    # fasterdata.es.net/host-tuning/linux: the tcp_rmem of each rate and round trip, for tools with
    # parallel streams: "2 to 4 times less than what would be required to support a single stream".
    (10e9, 0.1, 33_554_432), (10e9, 0.2, 67_108_864), (40e9, 0.05, 67_108_864),
]  # fmt: skip


def settings(plan):
    return {one.name: one.value for one in plan.host_settings if one.name}


def test_the_product_of_bandwidth_and_delay_is_the_one_that_esnet_prints():
    """Published: fasterdata.es.net, "10Gbps flow across a 100ms network requires 120MB"; .05 s at
    1 Gbit/s is 6.25 MBytes."""
    assert planning.host(10e9, rtt_s=0.1)["line_bdp_bytes"] / 2**20 == pytest.approx(120, abs=1)
    assert planning.host(1e9, rtt_s=0.05)["line_bdp_bytes"] == 6.25e6


@pytest.mark.each(("bandwidth_bps", "rtt_s", "published"), ESNET)
def test_one_flow_needs_two_to_four_times_what_esnet_sets_for_parallel_ones(
    bandwidth_bps, rtt_s, published
):
    assert 2 <= planning.host(bandwidth_bps, rtt_s=rtt_s)["window_bytes"] / published <= 4


def test_four_flows_are_paced_and_buffered_as_esnet_does():
    """Published: the same pages, "buffers up to 64MB" for 10 Gbit/s and 100 ms, and for the four
    streams of GridFTP "fq maxrate 2.5gbit", which counts the whole line."""
    plan = planning.host(10e9, rtt_s=0.1, flow_count=4)
    assert int(settings(plan)["net.core.rmem_max"]) == 62_500_000 <= 64 * 2**20
    pace = re.search(r"fq maxrate (\d+)mbit", plan.sysctl)
    assert int(pace[1]) == 2500 * 1514 // 1538


def test_a_line_of_100_gbit_takes_two_flows_over_88_ms():
    """Derived: 1.1 GB is above 65535 x 2^14 B (RFC 7323), 1448 of 1538 B of it hardly below."""
    plan = planning.host(100e9, rtt_s=0.088)
    most = 65535 * 2**14
    assert (plan["flow_count"], plan["window_bytes"]) == (2, 550e6)
    (note,) = plan.notices
    assert note.code == "host-one-flow-just"
    assert note.values["spare_s"] == pytest.approx(8 * most / (100e9 * 1448 / 1538) - 0.088)
    one = planning.host(100e9, rtt_s=0.088, flow_count=1, mtu_bytes=9000)
    assert one["goodput_bps"] == pytest.approx(8 * most / 0.088)
    assert (one.binding, one.notices[0].code) == ("window_limit_bps", "host-one-flow")
    assert [step.change.values.get("flows") for step in one.steps] == ["2"]


def test_nothing_set_is_half_of_the_send_buffer_and_no_setting_is_below_what_is_there():
    """Derived: tcp_wmem is 4096 16384 4194304, of which half is in flight; tcp_rmem has 6 MiB,
    32 MiB from Linux 6.16 on. Measured on Linux 6.18, 88 ms: 187 Mbit/s, 181 with 6 MiB."""
    plan = planning.host(100e9, rtt_s=0.088)
    assert (
        plan["default_flow_bps"] == pytest.approx(8 * 2**21 / 0.088) == pytest.approx(187e6, 0.05)
    )
    small = planning.host(1e9, rtt_s=1e-3)
    assert settings(small)["net.ipv4.tcp_rmem"] == "4096 131072 33554432"
    assert settings(small)["net.ipv4.tcp_wmem"] == "4096 16384 4194304"
    assert [note.code for note in small.notices] == ["host-defaults"]
    assert planning.host(1e9, rtt_s=0.02).notices == (), "2.5 MB"


def test_offload_passes_as_many_segments_as_an_ip_packet_holds():
    """Derived: 45 x 1448 B + 52 B of headers are below 65,535 B, 46 are not; 9000 B: 7."""
    plan = planning.host(100e9, rtt_s=0.088)
    assert plan["frame_rate_pps"] == pytest.approx(100e9 / 8 / 1538)
    assert plan["stack_rate_pps"] == pytest.approx(100e9 / 8 / 1538 / 45)
    assert plan["jumbo_rate_pps"] == pytest.approx(100e9 / 8 / 9038)
    jumbo = planning.host(100e9, rtt_s=0.088, mtu_bytes=9000)
    assert jumbo["stack_rate_pps"] == pytest.approx(100e9 / 8 / 9038 / 7)
    assert settings(jumbo)["net.ipv4.tcp_mtu_probing"] == "1"
    assert "mtu_probing" not in plan.sysctl


def test_bbr_keeps_three_windows_and_no_setting_is_above_what_systems_take():
    """Published: tcp_bbr.c, bbr_sndbuf_expand 3; ESnet, "Max allowed in Linux is 2GB-1"."""
    path = {"rtt_s": 0.1, "congestion_control": "bbr"}
    assert settings(planning.host(1e9, **path))["net.ipv4.tcp_wmem"].split()[2] == "37500000"
    largest = settings(planning.host(80e9, **path))
    assert int(largest["net.core.wmem_max"]) == LARGEST_SETTING == 2_147_483_647
    (cut,) = planning.host(80e9, **path).notices
    assert "2.15 windows" in str(cut), "Derived: of 1 GB"


def test_freebsd_limits_a_buffer_by_its_clusters():
    """Published: of kern.ipc.maxsockbuf=8388608 a socket gets 7456540 B (uipc_sockbuf.c)."""
    plan = planning.host(8 * 5_965_232.0, rtt_s=1.0, system="freebsd")
    assert plan["receive_buffer_bytes"] == 5_965_232
    assert settings(plan)["net.inet.tcp.sendbuf_max"] == "7456540"  # 5/4 of the window
    assert settings(plan)["kern.ipc.maxsockbuf"] == "8388608"
    assert settings(plan)["net.inet.tcp.cc.algorithm"] == "cubic"
    for control, line in (("reno", "cc.algorithm=newreno"), ("bbr", "functions_default=bbr")):
        made = planning.host(1e9, rtt_s=0.1, system="freebsd", congestion_control=control)
        assert f"net.inet.tcp.{line}\n" in made.sysctl + "\n"


def test_a_loss_is_answered_by_the_sender_and_not_by_a_buffer():
    lossy = planning.host(10e9, rtt_s=0.1, loss_ratio=1e-4)
    assert lossy.binding == "loss_limit_bps"
    assert lossy.steps[0].change.code == "step-bbr"
    assert all(step.value > lossy["goodput_bps"] for step in lossy.steps)
    assert not any(step.change.code == "step-flows" for step in lossy.steps), "hundreds"


@pytest.mark.parametrize("flows", [1, 4])
def test_a_loss_holds_each_single_flow(flows):
    """Published: RFC 9438, eq. 5 and 6, C = 0.4 and beta = 0.7: 1.054 (RTT/p)^(3/4) segments a
    round trip; 2 MiB, the window with nothing set, would be 168 Mbit/s."""
    held = 8 * 1448 / 0.1 * 1.054 * (0.1 / 1e-4) ** 0.75
    lossy = planning.host(10e9, rtt_s=0.1, loss_ratio=1e-4, flow_count=flows)
    assert lossy["one_flow_bps"] == lossy["default_flow_bps"] == pytest.approx(held, rel=1e-3)
    assert max(lossy.chart.lines["flow_bps"]) == lossy["one_flow_bps"]
    assert "maxrate: the loss keeps" in lossy.sysctl
    assert [note.code for note in planning.host(100e9, rtt_s=0.1, loss_ratio=1e-4).notices] == []


def test_at_a_loss_of_all_packets_the_loss_is_the_limit_and_nothing_helps():
    lost = planning.host(10e9, rtt_s=0.1, loss_ratio=1.0)
    assert (lost.binding, lost["goodput_bps"], lost.steps) == ("loss_limit_bps", 0, ())


def test_no_pace_is_printed_that_tc_refuses():
    """Measured: tc of iproute2 6.1 takes a maxrate of 34359mbit, 34360mbit is illegal: 2^32 B/s.
    Derived: 1514 of 1538 B are 98.44 Gbit/s, which 2 flows cannot share below that."""
    plan = planning.host(100e9, rtt_s=0.088)
    assert "root fq" not in plan.sysctl
    assert "34359mbit" in plan.sysctl
    assert "3 flows have" in plan.sysctl
    of_three = planning.host(100e9, rtt_s=0.088, flow_count=3)
    assert f"maxrate {100_000 * 1514 // 1538 // 3}mbit" in of_three.sysctl
    short = planning.host(30e9, rtt_s=0.4, flow_count=1)
    assert short.binding == "window_limit_bps"
    assert "maxrate: the window keeps" in short.sysctl
    assert "maxrate 98439bit" in planning.host(10e9, rtt_s=0.1, flow_count=100_000).sysctl


@pytest.mark.parametrize("answer", ["one_flow_bps", "default_flow_bps"])
def test_more_of_one_flow_is_better(answer):
    """Identity: a rate is reached up to a round trip and from a rate of the line on."""
    plan = planning.host(10e9, rtt_s=0.1)
    needs = planning.with_goal(plan, goal=1e8, answer=answer).needs
    sides = {need.name: need.side for need in needs}
    assert (sides["bandwidth_bps"], sides["rtt_s"]) == ("least", "most")


def test_ranges_are_set_for_their_95th_percentile():
    plan = planning.host(uniform(5e9, 10e9), rtt_s=0.1)
    high = plan.answer("receive_buffer_bytes").spread.percentile(95.0)
    assert settings(plan)["net.core.rmem_max"] == f"{high:.0f}"
    assert high == pytest.approx(2 * 9.75e9 * 0.1 / 8, rel=0.01)


@pytest.mark.parametrize("system", ["linux", "freebsd"])
def test_the_file_has_lines_of_sysctl_and_comments(system):
    path = ["plan", "host", "10 Gbit/s", "--rtt", "100ms", "--mtu", "9000", "--os", system]
    file = CliRunner().invoke(commands, [*path, "--sysctl"]).stdout
    plan = planning.host(10e9, rtt_s=0.1, mtu_bytes=9000, system=system)
    assert file == plan.sysctl + "\n"
    lines = [line for line in file.splitlines() if not line.startswith("# ")]
    assert len(lines) == 7 == len({line.partition("=")[0] for line in lines})
    assert all(re.fullmatch(r"[a-z0-9_.]+=[a-z0-9]+( \d+ \d+)?", line) for line in lines)
    assert CliRunner().invoke(commands, path).stdout == f"{plan}\n\n{file}"


def test_a_path_has_the_round_trip_of_its_links():
    """Identity: 44 ms each way are 88 ms."""
    said = [["100 Gbit/s 44 ms"], ["100 Gbit/s", "--rtt", "88ms"]]
    pages = [CliRunner().invoke(commands, ["plan", "host", *words]).stdout for words in said]
    assert pages[0] == pages[1] != ""
