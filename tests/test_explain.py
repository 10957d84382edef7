"""What limits: parts of a time and ceilings of a rate, against sums done by hand."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from netcalc import explain
from netcalc.cli import commands
from netcalc.errors import DomainError
from netcalc.path import Path


@pytest.mark.each(
    ("path", "size", "limit", "share", "source"),
    [
        # derived: 8e6 bit / 45e6 = 177.8 ms of 207.8
        ("45 Mbit/s 30 ms", 1e6, "line", 0.8556, "published: Stevens A.3, a T3"),
        # derived: 0.8 ms of 30.8
        ("10 Gbit/s 30 ms", 1e6, "latency", 0.974, "derived: Stevens A.3 with a faster line"),
        # derived: 4.42 ms on each of ten equal links, nine of them "again"
        ("10 x T1", 552, "store-and-forward", 0.9, "derived: Stevens A.3, ten hops"),
    ],
)
def test_explain_names_the_part_that_limits(path, size, limit, share, source):
    found = explain.transfer(size, path=Path.parse(path))
    assert found.parts[0].name == limit, source
    assert found.parts[0].share_ratio == pytest.approx(share, abs=0.001)
    assert sum(part.share_ratio for part in found.parts) == pytest.approx(1)
    assert found.total_s == pytest.approx(float(Path.parse(path).one_way_s(size)))
    assert "To confirm:" in str(found)


def test_packets_overlap_on_the_links():
    """Derived: the first packet on every link, the other 665 behind it on the slowest one."""
    path = Path.parse("6 x T1 1 ms, T3 5 ms")
    found = explain.transfer(666 * 1500, path=path, packet_bytes=1500)
    by_hand = 8 * 1500 * (6 / 1.544e6 + 1 / 44.736e6) + 665 * 8 * 1500 / 1.544e6 + 0.011
    assert found.total_s == pytest.approx(by_hand)
    assert found.parts[0].name == "line"
    whole = explain.transfer(1000, path=path, packet_bytes=1500)
    assert whole == explain.transfer(1000, path=path), "identity: one packet is the whole message"
    with pytest.raises(DomainError, match="packet_bytes"):
        explain.transfer(1000, path=path, packet_bytes=0)


def test_the_command_cuts_what_it_is_asked_about_into_packets():
    asked = ["explain", "6 x T1 1 ms, T3 5 ms", "--size", "1MB"]
    assert "The bottleneck link limits this transfer" in CliRunner().invoke(commands, asked).output
    # a packet of the whole message: longer than IP has, so the command refuses it
    with pytest.raises(DomainError) as error:
        CliRunner().invoke(commands, [*asked, "--mtu", "1MB"], catch_exceptions=False)
    assert error.value.code == "above-maximum"
    path = Path.parse("6 x T1 1 ms, T3 5 ms")
    whole = explain.transfer(1e6, path=path, packet_bytes=1e6).sentence
    assert whole.startswith("Store-and-forward limits this transfer")


def test_a_single_link_sends_nothing_again():
    # identity: no packet waits at a second link, whatever the rounding
    found = explain.transfer(1e6, path=Path.parse("1 Gbit/s 40 ms"), packet_bytes=1500)
    assert {part.name: part.time_s for part in found.parts} == {"latency": 0.04, "line": 0.008}
    assert found.sentence == "Latency limits this transfer: 40 ms of 48 ms (83%)."


def test_processing_can_limit():
    path = Path.parse("2 x 10 Gbit/s", processing_s=0.001, destination_processing_s=0.001)
    found = explain.transfer(100, path=path)
    assert found.sentence.startswith("Processing limits this transfer")


def test_nothing_in_no_time():
    found = explain.transfer(0, path=Path.parse("10 Gbit/s"))
    assert found.sentence == "Nothing limits this transfer: its time is 0."


def test_every_ceiling_is_ranked():
    # derived by hand: 65,535 x 8 / 0.1 s; 1448/1538 of 1 Gbit/s; 1448 x 8 / 0.1 x 1.2247 / 0.01
    found = explain.rate(Path.parse("1 Gbit/s"), rtt_s=0.1, window_bytes=65_535, loss_ratio=1e-4)
    rates = {ceiling.name: ceiling.rate_bps for ceiling in found.ceilings}
    assert list(rates) == ["window", "loss", "line"]
    assert rates["window"] == pytest.approx(5_242_800)
    assert rates["loss"] == pytest.approx(14_187_445, rel=1e-4)
    assert rates["line"] == pytest.approx(941_482_445, rel=1e-6)
    assert found.rate_bps == rates["window"]
    assert found.sentence.startswith(
        "The window limits this path to 5.243 Mbit/s; the next limit is loss"
    )
    assert "two connections" in str(found)


def test_the_round_trip_is_the_path_s_own():
    path = Path.parse("10 Mbit/s 20 ms")
    # derived: 40 ms, 1.2 ms for 1500 bytes there, 41.6 us for 52 bytes back
    assert explain.rate(path).rtt_s == pytest.approx(0.0412416)


def test_a_slow_way_back_limits():
    # derived: 90 bytes of ACK for 2 x 1448 bytes: 64 kbit/s / 720 bit x 23,168 bit
    found = explain.rate(Path.parse("100 Mbit/s 5 ms"), reverse_bandwidth_bps=64e3)
    assert found.ceilings[0].name == "acknowledgements"
    assert found.rate_bps == pytest.approx(64e3 / 720 * 2 * 1448 * 8)
    assert found.sentence.startswith("The rate of acknowledgements limits this path")


def test_high_loss_is_told_to_be_outside_the_formula():
    found = explain.rate(Path.parse("100 Mbit/s 5 ms"), loss_ratio=0.05)
    assert "above 1% loss" in found.sentence


def test_without_a_window_and_loss_the_line_is_all():
    assert [c.name for c in explain.rate(Path.parse("100 Mbit/s")).ceilings] == ["line"]


@pytest.mark.each("wrong", [{"loss_ratio": 3}, {"window_bytes": -1}, {"rtt_s": -1}])
def test_impossible_paths_are_refused(wrong):
    with pytest.raises(DomainError):
        explain.rate(
            Path.parse("1 Gbit/s 1 ms"), **{"window_bytes": 1000, "loss_ratio": 0.1, **wrong}
        )


def run(*arguments):
    return CliRunner().invoke(commands, ["explain", *arguments])


def test_explain_in_a_terminal():
    shown = run("1 Gbit/s 40 ms", "--size", "1MB", "--window", "64KiB", "--loss", "0.01%").output
    assert "Latency limits this transfer" in shown
    assert "The window limits this path to" in shown
    assert "To confirm:" in shown
    assert '"line"' in run("T1 5ms, T1 1ms", "--json").output


@pytest.mark.each(
    ("arguments", "said"),
    [
        (["fast"], "rate of a link in PATH"),
        (["T1", "--loss", "3"], "needs a unit"),
        (["T1", "--size", "1 s"], "time"),
    ],
)
def test_wrong_questions_are_told(arguments, said):
    done = run(*arguments)
    assert said in f"{done.output} {done.exception}"


def test_the_test_of_a_loss_says_its_share():
    for loss, said in ((1e-4, "about 0.01% of the segments"), (1.0, "about 100% of the segments")):
        found = explain.rate(Path.parse("1 Gbit/s 40 ms"), loss_ratio=loss)
        assert said in str(found)


@pytest.mark.each(
    ("given", "code"),
    [({"loss_ratio": -0.01}, "out-of-range"), ({"window_bytes": 0}, "not-positive")],
)
def test_impossible_limits_are_refused(given, code):
    with pytest.raises(DomainError) as refused:
        explain.rate(Path.parse("T1 5 ms"), **given)
    assert refused.value.code == code
