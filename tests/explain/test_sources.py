"""The files of the sources' own experiments, each with the sentence that is so."""

from __future__ import annotations

import pytest

from netcalc import readers
from netcalc.explain import Known, measurement
from tests.readers.captures.writer import Capture, Conversation

ARTICLE = [62, 107, 100, 109, 104, 104, 100, 100, 100, 100]
"""Nagle article, the ten times of the run without options. [ms]"""
WITHOUT_NAGLE = [44, 47, 45, 37, 48, 50, 49, 41, 49, 50]
"""The same with TCP_NODELAY. [ms]"""
AT_ONCE = [38, 36, 45, 37, 46, 31, 42, 36, 41, 44]
"""The same with one write. [ms]"""


def lines(times_ms):
    """Return what the program of the article prints."""
    return "".join(f"RTT:{each} ,receive:hello world\n" for each in times_ms).encode()


def explained(text, **known):
    return measurement(readers.read(text), Known(**known))


def notices(finding):
    return {one.code: one.values for one in finding.notices}


def test_the_ten_lines_of_the_article():
    """The article: 40 ms of delayed ACK; by hand 62 = 2 x 31, and 100 - 62 = 38 ms."""
    (found,) = explained(lines(ARTICLE))
    assert found.cause.code == "nagle-delayed-ack"
    assert {one.name: one.value for one in found.limits} == pytest.approx(
        {"round-trips": 0.062, "ack-timer": 0.038}
    )
    said = notices(found)["stall-arithmetic"]
    assert (said["timer_s"], said["trips"]) == (0.04, 2)
    # 45 and 40 ms in the article, 31 of them the round trip, the rest the hosts
    assert said["free_s"] == pytest.approx(0.031)
    assert found.cause.share_of_time == pytest.approx(0.69)
    assert "31 ms more, and 38 ms for a timer of 40 ms" in found.sentence


@pytest.mark.each("times_ms", [WITHOUT_NAGLE, AT_ONCE])
def test_the_lines_without_a_wait(times_ms):
    """The article: no delayed ACK with TCP_NODELAY, and none with one write."""
    (found,) = explained(lines(times_ms))
    assert found.cause is None
    assert found.binding.name == "round-trips"
    assert found.binding.values["count"] == 1


@pytest.mark.each(
    ("rtt_ms", "later_ms"),
    [(30, [101, 104, 103, 102, 104]), (2, [44, 45, 47, 44, 46]), (150, [341, 344, 343, 342, 340])],
)
def test_a_run_of_one_s_own(rtt_ms, later_ms):
    """Derived: first two round trips, then those and Linux's 40 ms, in ticks of 4 ms."""
    (found,) = explained(lines([2 * rtt_ms, *later_ms]))
    trips = next(one for one in found.limits if one.name == "round-trips")
    assert trips.values == pytest.approx({"count": 2, "rtt_s": rtt_ms / 1e3})
    assert found.cause.code == "nagle-delayed-ack"
    assert notices(found)["stall-arithmetic"]["held_s"] == pytest.approx(2e-3 * rtt_ms + 0.04)


def test_a_run_without_its_first_exchange():
    """Held responses alone show no timer: nothing says that one was faster."""
    (found,) = explained(lines(ARTICLE[1:]))
    assert found.cause is None
    (stated,) = explained(lines(ARTICLE[1:]), rtt_s=0.03)
    assert stated.cause.code == "nagle-delayed-ack"
    assert stated.cause.confidence == "high"


def rows_of_modes(name):
    rows = [
        *(f"nagle,{each}" for each in ARTICLE),
        *(f"nodelay,{each}" for each in WITHOUT_NAGLE),
        *(f"one write,{each}" for each in AT_ONCE),
    ]
    return "\n".join([f"mode,{name}", *rows, ""]).encode()


def columns_of_modes():
    rows = zip(ARTICLE, WITHOUT_NAGLE, AT_ONCE, strict=True)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    return f"nagle [ms],nodelay [ms],one write [ms]\n{text}\n".encode()


@pytest.mark.each(
    "text",
    [rows_of_modes("time_ms"), rows_of_modes("rtt_ms"), rows_of_modes("response_ms"),
     columns_of_modes()],
)  # fmt: skip
def test_a_table_of_modes(text):
    """By hand: medians 100, 47.5 and 39.5 ms; of the 60.5 between them 38 are the delayed ACK."""
    by_mode = {one.label: one for one in explained(text)}
    assert list(by_mode) == ["nagle", "nodelay", "one write"]
    assert by_mode["nagle"].cause.code == "nagle-delayed-ack"
    assert by_mode["nodelay"].cause is None
    assert by_mode["one write"].cause is None
    apart = notices(by_mode["nagle"])["modes-apart"]
    assert apart["other"] == "one write"
    assert apart["apart_s"] == pytest.approx(0.0605)
    assert apart["wait_s"] == pytest.approx(0.038)
    assert apart["rtt_s"] == pytest.approx(0.031)


def test_modes_that_say_nothing_of_writes_are_not_explained_by_them():
    with pytest.raises(readers.ReaderError):
        explained(b"mode,time_ms\nbus,62\nbus,107\nbus,100\ntrain,44\ntrain,47\ntrain,45\n")


def small_writes(*, at_server, pause_s=0.0, count=10, trip_s=0.03, timer_s=0.04):
    """Return a capture of the article's program: two writes, the second held, and an answer.

    The receiver acknowledges the first part at once in the first exchange, by its timer later. What
    the client sends comes to the server half a round trip later, and the other way round.
    """
    half_s = trip_s / 2
    packets = []

    def add(sent_s, to_server, sequence, ack, **more):
        late_s = half_s if to_server == at_server else 0.0
        packets.append((sent_s + late_s, to_server, sequence, ack, more))

    ours, theirs, now_s = 1, 1, trip_s
    for number in range(count):
        wait_s = timer_s if number else 0.0
        add(now_s, True, ours, theirs, payload=6)
        add(now_s + half_s + wait_s, False, theirs, ours + 6)
        add(now_s + trip_s + wait_s, True, ours + 6, theirs, payload=7)
        add(now_s + trip_s + wait_s + half_s, False, theirs, ours + 13, payload=13)
        ours, theirs = ours + 13, theirs + 13
        now_s += 2 * trip_s + wait_s
        if pause_s:
            add(now_s, True, ours, theirs)  # in a pause the answer is acknowledged by itself
        now_s += pause_s
    capture = Capture()
    dialogue = Conversation(capture)
    dialogue.open(half_s if at_server else 0.0, 0.0 if at_server else trip_s,
                  trip_s if at_server else 0.0)  # fmt: skip
    for time_s, to_server, sequence, ack, more in sorted(packets, key=lambda row: row[0]):
        dialogue.send(time_s, to_server, sequence, ack, **more)
    return capture.pcap(nano=True)


@pytest.mark.each("at_server", [False, True])
def test_the_program_captured_at_either_end(at_server):
    """By hand: handshake 30, the first exchange 60, nine of 100 ms, of which 70 are held."""
    (found,) = explained(small_writes(at_server=at_server))
    assert found.cause.code == "nagle-delayed-ack"
    # from the SYN to the last segment of the client, 30 ms before the end
    whole_s = 0.03 + 0.06 + 9 * 0.1 - 0.03
    assert found.cause.duration_s == pytest.approx(whole_s, rel=0.02)
    assert found.cause.share_of_time == pytest.approx(9 * 0.07 / whole_s, rel=0.03)
    limit = next(one for one in found.limits if one.name == "delayed-ack")
    assert limit.value == pytest.approx(8 * 130 / (9 * (0.04 + 2 * 0.03)), rel=0.02)
    assert "line" not in [one.name for one in found.limits]
    assert notices(found)["stall-arithmetic"]["held_s"] == pytest.approx(0.1, rel=0.01)


@pytest.mark.each("at_server", [False, True])
def test_the_pauses_of_the_program_are_those_of_the_sender(at_server):
    """The article's sleep of 1 s: nine pauses between ten exchanges."""
    (found,) = explained(small_writes(at_server=at_server, pause_s=1.0))
    assert found.cause.code == "sender-program"
    whole_s = 0.03 + 0.06 + 9 * 1.1 - 0.03
    assert found.cause.share_of_time == pytest.approx(9 / whole_s, rel=0.03)
    assert found.cause.shares["nagle-delayed-ack"] == pytest.approx(9 * 0.07 / whole_s, rel=0.1)
