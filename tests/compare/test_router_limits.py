"""What limits a router between two hosts: verdicts on runs whose limits are known by hand.

Sizes are captured lengths of the article; a frame has 4 bytes more, its datagram 42 less. A line of
100 Mbit/s carries 8127 frames of 1518 bytes a second (RFC 2544, appendix B).
"""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import compare, plots
from netcalc.cli import commands
from netcalc.errors import DomainError
from netcalc.explain import Known
from netcalc.plots.measured import has_comparison, is_drawn
from netcalc.samples import BulkSamples, Meta, loads

SIZES = np.array([64.0, 128, 256, 512, 1024, 1514])
LINE = 100e6 / 8 / (SIZES + 24)


def run(*parts, **instrument):
    """Return a run of parts: direction, packets per second of each size, share sent beyond."""
    columns = {name: [] for name in ("write_bytes", "write_count", "sent_bytes", "received_bytes",
                                     "wall_s", "delivery_s", "lost_count", "direction",
                                     "receiver_drop_count")}  # fmt: skip
    for direction, pps, beyond, *drops in parts:
        passed = np.broadcast_to(pps, SIZES.shape)
        sent = passed * (1 + beyond)
        dropped = np.broadcast_to(drops[0] if drops else 0.0, SIZES.shape)
        columns["write_bytes"] += (SIZES - 42).tolist()
        columns["write_count"] += sent.tolist()
        columns["sent_bytes"] += (sent * (SIZES - 42)).tolist()
        columns["received_bytes"] += ((passed - dropped) * (SIZES - 42)).tolist()
        columns["lost_count"] += (sent - passed + dropped).tolist()
        columns["receiver_drop_count"] += dropped.tolist()
        columns["direction"] += [direction] * SIZES.size
    ones = [1.0] * len(columns["write_bytes"])
    meta = Meta(experiment="router", protocol="udp", target="iperf3 192.0.2.7, UDP",
                instrument=instrument)  # fmt: skip
    return BulkSamples(**{**columns, "wall_s": ones, "delivery_s": ones}, meta=meta)


def codes(samples):
    """Return the codes of the verdicts by direction."""
    return {
        name: [notice.code for notice in notices]
        for name, notices in compare.router_verdicts(samples).items()
    }


def test_each_direction_has_a_verdict_of_its_own():
    samples = run(
        ("forward", np.minimum(20_000, LINE), 0.25),
        ("back", LINE, 0.25),
        ("forward of both", 1000.0, 0.25),
    )
    assert codes(samples) == {
        "forward": ["router-both-limit"],
        "back": ["router-line-limits"],
        "forward of both": ["router-packet-rate-limits"],
    }
    said = str(compare.router_verdicts(samples)["forward"][0])
    assert said.startswith(
        "forward: the packet rate limits up to frames of 605 B with FCS, 20 kpps"
    )
    assert "100 Mbit/s" in said
    assert said.endswith("(Ethernet line)")
    bound = str(compare.router_verdicts(samples)["back"][0])
    assert bound.endswith("at least 142 kpps"), "by hand: 100 Mbit/s over 8 times 88 bytes"


def test_a_host_that_reaches_no_more_alone_is_the_limit():
    """It sends 25,000 a second alone: 22,000 through the router are 88% of that."""
    rates = np.minimum(22_000, LINE)
    samples = run(("this host alone", 25_000.0, 0.0), ("forward", rates, 0.0))
    assert codes(samples) == {"forward": ["router-host-limits", "router-line-limits"]}
    host, line = compare.router_verdicts(samples)["forward"]
    assert host.values["frames"] == [68.0, 132.0, 260.0, 516.0]
    assert host.values["host"] == "this host"
    assert host.values["packet_bound_pps"] == 22_000
    assert host.hint is not None
    assert line.values["line"].startswith("100 Mbit/s")


def test_a_host_counts_by_what_it_does_in_a_direction():
    """Alone this host sends 60,000 and receives 25,000: forward it sends, back it receives."""
    samples = run(
        ("this host alone", 25_000.0, 1.4),
        ("forward", np.minimum(22_000, LINE), 0.0),
        ("back", np.minimum(22_000, LINE), 0.0),
    )
    assert codes(samples) == {
        "forward": ["router-both-limit"],
        "back": ["router-host-limits", "router-line-limits"],
    }


def test_a_path_that_drops_is_the_limit_though_the_host_does_no_more():
    rates = np.minimum(22_000, LINE)
    samples = run(("this host alone", 25_000.0, 0.0), ("forward", rates, 0.25))
    assert codes(samples)["forward"] == ["router-both-limit"]


def test_what_the_socket_of_the_receiver_drops_has_passed_the_router():
    """20,000 a second come through, of which the receiver reads 15,000."""
    rates = np.minimum(20_000, LINE)
    samples = run(("forward", rates, 0.25, np.where(rates == 20_000, 5000.0, 0.0)))
    (verdict,) = compare.router_verdicts(samples)["forward"]
    assert verdict.code == "router-both-limit"
    assert verdict.values["packet_bound_pps"] == 20_000
    alone = run(("forward", rates, 0.0, np.where(rates == 20_000, 5000.0, 0.0)))
    assert codes(alone)["forward"] == ["router-sockets-limit", "router-line-limits"]


def test_rates_that_follow_no_two_limits_are_said():
    samples = run(("forward", 1 / (10e-6 + 30e-9 * SIZES), 0.25))
    assert codes(samples)["forward"][-1] == "router-misfit"


def test_nothing_that_arrives_is_no_rate():
    samples = run(("back", 0.0, 0.0))
    assert codes(samples) == {"back": ["router-nothing-arrived"]}


@pytest.mark.each(
    ("loaded_s", "code"),
    [(0.200, "router-queue-grows"), (0.012, "router-queue-stays"), (None, "router-trips-unknown")],
)
def test_the_round_trip_under_load_shows_a_queue(loaded_s, code):
    """By hand: 8 ms idle and 200 ms under load are 192 ms of queue; 4 ms more are none."""
    trips = {"tool": "TCP", "idle_s": [0.008, 0.007, 0.3]}
    if loaded_s:
        trips["loaded_s"] = [loaded_s] * 3
    (note,) = compare.router_notes(run(("forward", LINE, 0.25), round_trips=trips))
    assert note.code == code
    if code == "router-queue-grows":
        assert note.values["added_s"] == pytest.approx(0.192)


def test_wifi_is_said_with_its_rates_and_retries():
    before = {"group": "wlan0", "tx_rate_bps": 866e6, "counter:tx retries": 100}
    wifi = {"before": [before], "after": [{**before, "tx_rate_bps": 65e6,
                                           "counter:tx retries": 350}]}  # fmt: skip
    notes = compare.router_notes(run(("forward", LINE, 0.25), wifi=wifi))
    assert str(notes[1]) == (
        "wlan0 is Wi-Fi: 866 Mbit/s (Ethernet frame) before the run, 65 Mbit/s (Ethernet frame) "
        "after it; 250 retries during it"
    )


def test_the_smallest_frame_is_compared_with_other_devices():
    """By hand: 20,000 are 2 times 10,000 and 5.71 times 3500."""
    devices = {
        name: (np.array([68.0, 1518.0]), np.array([pps, 1.0]))
        for name, pps in (("a", 10_000.0), ("b", 3500.0))
    }
    samples = run(("forward", np.minimum(20_000, LINE), 0.25))
    *_, note = compare.router_notes(samples, devices=devices)
    assert str(note) == (
        "forward: 20 kpps with frames of 64 B (captured): 2 times a (10 kpps), "
        "5.71 times b (3500 pps)"
    )


def test_a_saved_run_is_drawn_over_its_limits_in_packets_and_bits():
    samples = loads(run(("forward", np.minimum(20_000, LINE), 0.25), ("back", LINE, 0.25)).dumps())
    first, second = compare.router(samples)
    assert (first.measured_label, second.measured_label) == ("forward", "back")
    assert np.abs(first.residual).max() < 1e-6
    bits = compare.frame_throughputs(second)
    assert bits.measured[-1] == pytest.approx(8 * 1518 * 8127.4, rel=1e-5), "98.7 Mbit/s of frames"
    plot = plots.measured(samples, Known())
    assert plot.sources["forward, points"].data["measured"][0] == pytest.approx(20_000)
    assert plot.sources["back, measured"].data["y"][-1] == pytest.approx(98.7e6, rel=1e-4)
    assert {name for name in plot.sources if "router of 2009" in name} == {
        "the 1000 yuan router of 2009", "the 100 yuan router of 2009"
    }  # fmt: skip
    assert "the packet rate limits up to frames of" in plot.description


def test_a_run_over_ipv6_has_larger_frames():
    """A header of IPv6 is 20 bytes longer: 22 bytes of data are in a frame of 88."""
    samples = run(("forward", LINE, 0.25), address_family="IPv6")
    assert compare.router_regimes(samples)["forward"].x[0] == 88


def test_a_run_that_was_killed_among_its_hosts_has_no_comparison(tmp_path):
    """The first rows are of the hosts alone: what is between them was not crossed yet."""
    killed = run(("this host alone", 3 * LINE, 0.0))
    file = tmp_path / "killed.json"
    killed.save(file)
    said = CliRunner().invoke(commands, ["read", str(file), "--plot", str(tmp_path / "x.html")])
    assert said.exit_code == 2
    assert "killed.json: has 6 rows of the hosts alone" in said.stderr
    with pytest.raises(DomainError, match="6 rows of the hosts alone"):
        compare.overlay(killed)
    assert not is_drawn(killed)
    assert not has_comparison(killed)
