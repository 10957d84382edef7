"""Each plan on a case from a published source, with its numbers."""

from __future__ import annotations

import pytest

from netcalc import planning

ETHERNET_KBPS = {
    "G.711": 87.2,
    "G.729": 31.2,
    "G.723.1": 21.9,
    "G.723.1-5.3": 20.8,
    "G.726": 55.2,
    "G.726-24": 47.2,
    "G.728": 31.5,
}
"""Published: Cisco document 7934, Voice over IP - per call bandwidth consumption, Ethernet."""


@pytest.mark.each("name", ETHERNET_KBPS)
def test_a_call_takes_what_cisco_prints_of_ethernet_frames(name):
    plan = planning.voice(1.0, holding_s=1.0, codec_name=name)
    assert plan["call_frame_bps"] / 1e3 == pytest.approx(ETHERNET_KBPS[name], abs=0.05)


def test_a_call_takes_what_cisco_prints_of_multilink_ppp():
    """Published: the same document, 82.8 and 26.8 kbit/s with MP or FRF.12."""
    found = [
        planning.voice(1.0, holding_s=1.0, codec_name=name, link="ppp")["call_line_bps"]
        for name in ("G.711", "G.729")
    ]
    assert found == pytest.approx([82_800, 26_800])


ERLANG_B = ((8.108, 0.01, 15), (1200 / 36, 0.01, 45))
"""Published: offered load, blocking and lines of the manual and the forum of erlang.com."""


@pytest.mark.each("offered, blocking, lines", ERLANG_B)
def test_trunks_are_those_of_the_erlang_b_tables(offered, blocking, lines):
    plan = planning.voice(offered, holding_s=1.0, blocking_ratio=blocking)
    assert plan["trunk_count"] == lines


def test_the_forum_asks_by_calls_an_hour():
    """Published: 1200 calls an hour of 100 s, 33.333 erlang, 45 lines (forum of erlang.com)."""
    plan = planning.voice(1200 / 3600, holding_s=100.0)
    assert plan["offered_erlang"] == pytest.approx(33.333, abs=1e-3)
    assert plan["trunk_count"] == 45


TUNNELS = (
    # Donenfeld on the list of WireGuard, 11 December 2017: 1420 over IPv6, 1440 over IPv4.
    ("wireguard6", 1420),
    ("wireguard4", 1440),
    ("gre", 1476),  # Cisco document 25885, Resolve IPv4 fragmentation, MTU, MSS and PMTUD issues
    ("pppoe", 1492),  # RFC 2516 section 7
    ("vxlan4", 1450),  # RFC 7348: 50 bytes with the inner Ethernet header
)


@pytest.mark.each("stack, mtu_bytes", TUNNELS)
def test_the_mtu_in_a_tunnel_is_the_published_one(stack, mtu_bytes):
    plan = planning.tunnel(stack)
    assert plan["tunnel_mtu_bytes"] == mtu_bytes
    assert plan["tunnel_mss_bytes"] == mtu_bytes - 40  # identity: IPv4 (20) and TCP (20)


def test_the_buffers_of_the_abstract_of_appenzeller():
    """Published: SIGCOMM 2004: 10,000 flows need 99 % less on 2.5 Gbit/s, and 50,000 flows about
    10 Mbit on 10 Gbit/s, both at 250 ms."""
    one = planning.buffer(2.5e9, rtt_s=0.25)["buffer_bytes"]
    many = planning.buffer(2.5e9, rtt_s=0.25, flow_count=10_000)["buffer_bytes"]
    assert 1.0 - many / one == pytest.approx(0.99)
    large = planning.buffer(10e9, rtt_s=0.25, flow_count=50_000)
    assert 8 * large["buffer_bytes"] / 1e6 == pytest.approx(10.0, rel=0.15)


SHARED = ((35, 1e6, 0.0004), (120, 2e6, 0.0079))
"""Published: Kurose and Ross, Computer Networking, 1.3 and its problems: users of 100 kbit/s, a
tenth of the time; probability of more than 10 of 35, and of 21 or more of 120."""


@pytest.mark.each("users, rate_bps, probability", SHARED)
def test_users_of_a_shared_link_overload_it_as_kurose_and_ross_say(users, rate_bps, probability):
    plan = planning.link(users, user_bps=1e5, active_ratio=0.1, bandwidth_bps=rate_bps)
    assert plan["overload_ratio"] == pytest.approx(probability, abs=5e-5)


WINDOWS = ((0.001, 524e6), (0.01, 52.4e6), (0.1, 5.24e6), (0.5, 1.05e6))
"""Published: Bonaventure, Computer Networking: Principles, Protocols and Practice, on TCP: round
trip and maximum throughput with a window of 64 KB."""


@pytest.mark.each("rtt_s, most_bps", WINDOWS)
def test_a_window_of_64_kb_limits_as_bonaventure_says(rtt_s, most_bps):
    plan = planning.transfer(1e12, bandwidth_bps=10e9, rtt_s=rtt_s, window_bytes=65_535)
    assert plan.binding == "window_limit_bps"
    assert plan["window_limit_bps"] == pytest.approx(most_bps, rel=5e-3)
    # A terabyte spends next to no time in its start: the goodput is that of the window.
    assert plan["goodput_bps"] == pytest.approx(most_bps, rel=1e-2)


def test_a_backup_needs_the_rates_of_the_scorecard_of_esnet():
    """Published: ESnet, data transfer scorecard: 1 TB an hour is 2.2 Gbit/s, 333.3 GB an hour is
    740.7 Mbit/s; a host of 1 Gbit/s does the second and not the first, one of 10 Gbit/s both."""
    found = {
        (size, line): planning.backup(size, window_s=3600.0, bandwidth_bps=line, rtt_s=0.01)
        for size in (1e12, 333.3e9)
        for line in (1e9, 10e9)
    }
    assert found[1e12, 1e9]["needed_bps"] / 1e9 == pytest.approx(2.2, abs=0.05)
    assert found[333.3e9, 1e9]["needed_bps"] / 1e6 == pytest.approx(740.7, abs=0.05)
    fits = {key: plan["window_utilization"] <= 1.0 for key, plan in found.items()}
    assert fits == {
        (1e12, 1e9): False, (1e12, 10e9): True, (333.3e9, 1e9): True, (333.3e9, 10e9): True,
    }  # fmt: skip
