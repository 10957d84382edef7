"""Every part of a time and every ceiling of a rate, with its arithmetic, against sums by hand."""

from __future__ import annotations

import math
import re

import pytest

from netcalc import explain
from netcalc.errors import DomainError
from netcalc.path import Path
from netcalc.units import parse

# 8 Mbit/s, 1 us a byte, and 2 and 4 us a byte; 1 + 2 + 4 ms; nodes of 0.1, 0.2, 0.4 and 0.8 ms
PATH = Path.parse(
    "4 Mbit/s 1 ms, 8 Mbit/s 2 ms, 2 Mbit/s 4 ms", processing_s=2e-4, source_processing_s=1e-4,
    destination_processing_s=8e-4,
)  # fmt: skip
PROCESSING_S = 1e-4 + 2e-4 + 2e-4 + 8e-4


def quantities(text, unit):
    """Every quantity of this unit in a text, as numbers; the words around them do not matter."""
    written = {"bit/s": r"[kMG]?bit/s", "s": r"(?:ms|µs|ns|s)", "byte": r"(?:[kMG]|[KMG]i)?B"}[unit]
    found = re.findall(rf"\d[\d.]* {written}(?![\w/])", text)
    return [parse(one, unit) for one in found]


def counts(text):
    """Every whole number in a text that has no unit."""
    return [
        int(one)
        for one in re.findall(r"(?<![\d.])\d+(?![\d.]| ?[kMGKµmn]?i?(?:B|bit|s)\b|%)", text)
    ]


def parts_of(found):
    return {part.name: part.time_s for part in found.parts}


def test_a_whole_message_is_clocked_again_on_every_other_link():
    found = explain.transfer(1000, path=PATH)
    # by hand: 4 ms on the slowest line, 2 and 1 on the others
    assert parts_of(found) == pytest.approx(
        {
            "latency": 7e-3,
            "line": 4e-3,
            "store-and-forward": 3e-3,
            "processing": PROCESSING_S,
        }
    )
    assert [part.name for part in found.parts] == [
        "latency", "line", "store-and-forward", "processing",
    ]  # fmt: skip
    assert found.total_s == pytest.approx(14e-3 + PROCESSING_S)
    for part in found.parts:
        assert part.share_ratio == pytest.approx(part.time_s / (14e-3 + PROCESSING_S))
    assert quantities(found.sentence, "s") == pytest.approx([7e-3, 14e-3 + PROCESSING_S], rel=1e-3)
    assert re.findall(r"\d+%", found.sentence) == ["46%"]  # 7 of 15.3


def test_packets_are_clocked_again_and_overlap():
    found = explain.transfer(1000, path=PATH, packet_bytes=100)
    # by hand: the message on the slowest line, one packet on the two others
    assert parts_of(found) == pytest.approx(
        {"latency": 7e-3, "line": 4e-3, "processing": PROCESSING_S, "store-and-forward": 0.3e-3}
    )
    by_name = {part.name: part for part in found.parts}
    again = by_name["store-and-forward"].arithmetic
    assert quantities(again, "byte") == [100.0], "each packet, and of what size"
    whole = {part.name: part for part in explain.transfer(1000, path=PATH).parts}
    assert quantities(whole["store-and-forward"].arithmetic, "byte") == [], "the whole message"
    one = {part.name: part for part in explain.transfer(1000, path=PATH, packet_bytes=1e3).parts}
    assert one == whole, "identity: a packet of just its size is the whole message"


def test_the_arithmetic_of_every_part():
    by_name = {part.name: part for part in explain.transfer(1000, path=PATH).parts}
    line = by_name["line"].arithmetic
    assert (quantities(line, "byte"), quantities(line, "bit/s")) == ([1000.0], [2e6])
    assert counts(by_name["latency"].arithmetic) == [3], "links"
    assert counts(by_name["processing"].arithmetic) == [4], "nodes"
    assert counts(by_name["store-and-forward"].arithmetic) == [2], "the other links"


def test_the_largest_part_is_said_with_its_own_numbers():
    line = explain.transfer(1e6, path=PATH, packet_bytes=100)
    assert line.parts[0].name == "line"
    assert quantities(line.sentence, "s") == pytest.approx([4.0, 4.0086], rel=1e-3)
    assert quantities(line.sentence, "byte") == [1e6]
    assert quantities(line.sentence, "bit/s") == [2e6]
    again = explain.transfer(552, path=Path.parse("10 x T1"))
    assert again.parts[0].name == "store-and-forward"
    assert counts(again.sentence)[:1] == [9]
    packets = explain.transfer(1104, path=Path.parse("10 x T1"), packet_bytes=552)
    assert packets.parts[0].name == "store-and-forward"
    assert quantities(packets.sentence, "byte") == [552.0]


def test_parts_that_take_no_time_are_left_out():
    found = explain.transfer(1000, path=Path.parse("8 Mbit/s"))
    assert [part.name for part in found.parts] == ["line"]
    assert found.parts[0].share_ratio == 1.0
    nothing = explain.transfer(0, path=Path.parse("8 Mbit/s"))
    assert (nothing.parts, nothing.total_s) == ((), 0.0)
    assert len(str(nothing).splitlines()) == 1
    assert explain.transfer(0, path=PATH).parts[0].name == "latency"


def test_every_part_has_a_line_and_the_first_its_test():
    found = explain.transfer(1000, path=PATH)
    lines = str(found).splitlines()
    assert len(lines) == 1 + 4 + 1
    assert lines[0] == found.sentence
    for part, line in zip(found.parts, lines[1:], strict=False):
        assert part.arithmetic in line
        assert f"{part.share_ratio:.0%}" in line
        assert quantities(line, "s")[0] == pytest.approx(part.time_s, rel=1e-3)
    assert found.parts[0].test in lines[-1]
    assert len({part.test for part in found.parts}) == 4


@pytest.mark.each("wrong", [{"payload_bytes": -1}, {"packet_bytes": -1}, {"packet_bytes": 0}])
def test_transfers_that_cannot_be(wrong):
    size = wrong.pop("payload_bytes", 1000)
    with pytest.raises(DomainError):
        explain.transfer(size, path=PATH, **wrong)
    assert explain.transfer(1000, path=PATH, packet_bytes=math.inf).parts


def reno_bps(loss, rtt_s, mss_bytes):
    """Mathis 1997, table 1: 1.31 with SACK; a lost repair waits 200 ms above the round trip."""
    backoff = 1 + sum(2 ** (k - 1) * loss**k for k in range(1, 7))
    timers_s = loss**2 * backoff * (rtt_s + 0.2) / (1 - loss)
    return 8 * mss_bytes / (rtt_s * math.sqrt(loss) / 1.31 + timers_s)


def ceilings(*arguments, **options):
    found = explain.rate(*arguments, **options)
    return {one.name: one.rate_bps for one in found.ceilings}, found


def test_every_ceiling_by_hand():
    rates, found = ceilings(
        PATH, rtt_s=0.05, window_bytes=20_000, loss_ratio=1e-3, reverse_bandwidth_bps=10e3,
        congestion_control="reno",
    )  # fmt: skip
    assert rates == pytest.approx(
        {
            # 1500 less 52 of 1538 bytes: 14 + 4 of the frame, 8 of preamble, 12 of gap
            # and what is not lost of it
            "line": 2e6 * 1448 / 1538 * 0.999,
            "window": 20_000 * 8 / 0.05,
            "loss": reno_bps(1e-3, 0.05, 1448),
            # an ACK of 52 bytes is 90 on the wire, one for two segments
            "acknowledgements": 10e3 / (90 * 8) * 2 * 1448 * 8,
        }
    )
    assert list(rates.values()) == sorted(rates.values())
    assert found.rate_bps == pytest.approx(10e3 / 720 * 2 * 1448 * 8)
    assert found.rtt_s == 0.05
    # the lowest and the next
    assert quantities(found.sentence, "bit/s") == pytest.approx(
        sorted(rates.values())[:2], rel=1e-3
    )


def test_the_arithmetic_of_every_ceiling():
    _, found = ceilings(
        PATH, rtt_s=0.05, window_bytes=20_000, loss_ratio=1e-3, reverse_bandwidth_bps=10e3
    )
    by_name = {one.name: one for one in found.ceilings}
    line = by_name["line"].arithmetic
    assert (quantities(line, "byte"), quantities(line, "bit/s")) == ([1448, 1538], [2e6])
    window = by_name["window"].arithmetic
    assert (quantities(window, "byte"), quantities(window, "s")) == ([20_000], [0.05])
    loss = by_name["loss"]
    assert quantities(loss.arithmetic, "s") == [0.05]
    assert re.findall(r"[\d.]+%", loss.arithmetic) == ["0.1%"]
    assert re.findall(r"[\d.]+%", loss.test) == ["0.1%"]
    ack = by_name["acknowledgements"].arithmetic
    assert (quantities(ack, "byte"), quantities(ack, "bit/s")) == ([90], [10e3])
    lines = str(found).splitlines()
    assert len(lines) == 1 + 4 + 1 + 1 + 1  # by congestion control, and what is assumed
    for one, text in zip(found.ceilings, lines[1:], strict=False):
        assert one.arithmetic in text
        assert quantities(text, "bit/s")[0] == pytest.approx(one.rate_bps, rel=1e-3)
    assert found.ceilings[0].test in lines[-1]
    assert len({one.test for one in found.ceilings}) == 4


def test_the_mtu_reaches_every_ceiling():
    rates, _ = ceilings(
        PATH, rtt_s=0.05, loss_ratio=1e-3, reverse_bandwidth_bps=10e3, mtu_bytes=576,
        congestion_control="reno",
    )  # fmt: skip
    assert rates == pytest.approx(
        {
            "line": 2e6 * 524 / 614 * 0.999,
            "loss": reno_bps(1e-3, 0.05, 524),
            "acknowledgements": 10e3 / 720 * 2 * 524 * 8,
        }
    )


@pytest.mark.each("mtu", [1500, 576])
def test_the_round_trip_of_a_full_packet_and_a_bare_reply(mtu):
    # by hand: twice 7 ms, 7 us a byte both ways, and all nodes once each way
    _, found = ceilings(PATH, mtu_bytes=mtu)
    ends_s = 2 * (1e-4 + 2e-4 + 2e-4) + 8e-4
    assert found.rtt_s == pytest.approx(14e-3 + 7e-6 * (mtu + 52) + ends_s)
    rates, _ = ceilings(PATH, mtu_bytes=mtu, window_bytes=1000)
    assert rates["window"] == pytest.approx(8000 / found.rtt_s)


def test_ceilings_that_are_not_asked_for():
    assert list(ceilings(PATH)[0]) == ["line"]
    alone = ceilings(PATH)[1]
    assert quantities(alone.sentence, "bit/s") == pytest.approx([2e6 * 1448 / 1538], rel=1e-3)
    assert set(ceilings(PATH, window_bytes=1)[0]) == {"line", "window"}
    assert set(ceilings(PATH, loss_ratio=1e-9)[0]) == {"line", "loss"}
    assert set(ceilings(PATH, reverse_bandwidth_bps=1e9)[0]) == {"line", "acknowledgements"}
    with pytest.raises(DomainError):
        explain.rate(PATH, rtt_s=0.0)


def test_more_than_one_percent_of_loss_is_said_to_be_doubtful():
    sentences = [
        explain.rate(PATH, rtt_s=0.05, loss_ratio=loss).sentence for loss in (0.005, 0.01, 0.011)
    ]
    few, one, more = (len(re.findall(r"1%", text)) for text in sentences)
    assert (few, one, more) == (0, 0, 1)
