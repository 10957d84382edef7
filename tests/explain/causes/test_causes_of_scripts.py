"""The cause of flows that were written by hand: each truth follows from the script, on paper."""

from __future__ import annotations

import itertools
import random

import pytest
import script as s

from netcalc.explain import Known, main_flow
from netcalc.explain.causes.captures import explain_capture
from netcalc.explain.causes.intervals import find_gaps

A, B, LOST, MSS, w = s.A, s.B, s.LOST, s.MSS, s.w
HALVES = (A, B)


def cause_of(script, place, **known):
    return explain_capture(script.trace(place), Known(**known))[0].cause


def shares_add_up(cause):
    assert sum(cause.shares.values()) == pytest.approx(1.0, abs=1e-9)


def windowed(rtt_s, size, offered, *, segments=600, begin_s=0.0):
    """A sender that never has more than ``size`` segments under way."""
    script = s.Script(rtt_s, window=offered)
    opened_s = script.open(begin_s)
    script.transfer(opened_s, segments, window=lambda acked: size, offered=offered)
    return script


@pytest.mark.each("place", HALVES)
def test_the_receiver_s_window(place):
    """10 segments in each round trip of 50 ms, all that is offered, 60 times, and an opening.

    The last of them is sent 59 round trips after the first.
    """
    cause = cause_of(windowed(0.05, 10, 10 * MSS), place)
    assert cause.code == "receiver-window"
    assert cause.confidence == "high"
    assert cause.share_of_time == pytest.approx(59 / 60, abs=0.03)
    assert cause.sign("window_bytes") == 10 * MSS
    assert cause.sign("base_rtt_s") == pytest.approx(0.05, rel=0.01)
    assert cause.sign("rate_bps") == pytest.approx(8 * 10 * MSS / 0.05, rel=0.03)
    assert cause.sign("loss_ratio") == 0
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_the_sender_keeps_no_more_in_flight(place):
    """The same 10 segments, and a receiver that would take a thousand."""
    cause = cause_of(windowed(0.05, 10, 1000 * MSS), place)
    assert cause.code == "sender-buffer"
    assert cause.sign("in_flight_bytes") == pytest.approx(10 * MSS, rel=0.11)
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_a_receiving_program_that_does_not_read(place):
    """Half a second of 20 segments a round trip, 2 s with the window closed, half a second more.

    The 20 segments of the last round before it fill the window: each leaves less of it.
    """
    rtt_s, size = 0.03, 20
    script = s.Script(rtt_s, window=size * MSS)
    opened_s = script.open()
    end_s = script.transfer(opened_s, 320, window=lambda acked: size, offered=size * MSS)
    for number in range(size):
        begin = 1 + (320 + number) * MSS
        came_s = script.send(end_s + 1e-4 + 1e-5 * number, A, sequence=begin, payload=MSS)
        script.send(came_s, B, ack=begin + MSS, window=(size - 1 - number) * MSS)
    closed_s = end_s + rtt_s
    script.send(closed_s + 2.0 - rtt_s / 2, B, ack=1 + 340 * MSS, window=size * MSS)
    again_s = closed_s + 2.0
    last_s = script.transfer(again_s, 320, window=lambda acked: size, offered=size * MSS,
                             first=1 + 340 * MSS)  # fmt: skip
    cause = cause_of(script, place)
    assert cause.code == "receiver-program"
    assert cause.share_of_time == pytest.approx(2.0 / last_s, abs=0.03)
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_a_sending_program_that_pauses(place):
    """20 segments take a round trip of 20 ms, then the program does nothing for 480 ms, 8 times."""
    script = s.Script(0.02)
    opened_s = script.open()
    for number in range(9):
        script.transfer(opened_s + 0.5 * number, 20, window=lambda acked: 20,
                        first=1 + 20 * MSS * number)  # fmt: skip
    cause = cause_of(script, place)
    assert cause.code == "sender-program"
    assert cause.share_of_time == pytest.approx(0.48 * 8 / 4.02, abs=0.03)
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_slow_start(place):
    """10, 20, 40, 80, 50 segments: 4 round trips until the last one is sent, and the opening."""
    script = s.Script(0.1)
    script.transfer(script.open(), 200, window=lambda acked: 10 + acked)
    cause = cause_of(script, place)
    assert cause.code == "slow-start"
    assert cause.share_of_time == pytest.approx(4 / 5, abs=0.05)
    assert cause.shares["handshake"] == pytest.approx(1 / 5, abs=0.05)
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_the_line_is_found_by_dispersion(place):
    """A window of twice the product of 8 Mbit/s and 40 ms: one such product waits, 40 ms.

    A segment waits for those before it, not for itself: a window lasts 80 ms, the path takes 40 and
    the segment itself 1.
    """
    rate_bps, rtt_s = 8e6, 0.04
    size = round(2 * rate_bps * rtt_s / 8 / (MSS + s.HEADERS))
    script = s.Script(rtt_s)
    script.transfer(script.open(), 2500, window=lambda acked: size, line_bps=rate_bps)
    cause = cause_of(script, place)
    assert cause.code == "line"
    assert cause.confidence == "high"
    payload_bps = rate_bps * MSS / (MSS + s.HEADERS)
    assert cause.sign("line_bps") == pytest.approx(payload_bps, rel=0.01)
    assert cause.sign("rate_bps") == pytest.approx(payload_bps, rel=0.03)
    assert cause.sign("queue_s") == pytest.approx(0.039, abs=0.0015)  # stamps have 1 ms
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_bursts_that_wait_for_themselves_do_not_fill_a_line(place):
    """50 segments at once take 54 ms of 8 Mbit/s, then 146 ms of nothing: a quarter of the line."""
    script = s.Script(0.04)
    opened_s = script.open()
    for number in range(30):
        script.transfer(opened_s + 0.2 * number, 50, window=lambda acked: 50, line_bps=8e6,
                        first=1 + 50 * MSS * number)  # fmt: skip
    assert cause_of(script, place).code not in ("line", "shared-line")


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("segments", [60, 120, 240, 480])
def test_a_queue_that_grows_is_none_on_the_way_back(place, segments):
    """Slow start into 4 Mbit/s with a buffer for all: the queue grows to the end.

    Two segments are sent for each that leaves, so that at the receiver stamps seem to tick half as
    fast as they do; acknowledgements wait nowhere.
    """
    script = s.Script(0.02)
    script.transfer(script.open(), segments, window=lambda acked: 10 + acked, line_bps=4e6)
    cause = cause_of(script, place)
    assert cause.code in ("line", "slow-start", "unknown")
    assert cause.shares.get("reverse-path", 0.0) < 0.05
    if segments > 200:
        assert cause.code == "line"


@pytest.mark.each("segments", (80, 120, 200))
def test_a_window_that_does_not_grow_is_no_slow_start(segments):
    """4 to 10 round trips of 20 segments each, of which the first has 10."""
    script = s.Script(0.05)
    script.transfer(script.open(), segments, window=lambda acked: min(10 + acked, 20))
    assert cause_of(script, A).code in ("sender-buffer", "unknown", "slow-start")
    if segments > 100:
        assert cause_of(script, A).code != "slow-start"


@pytest.mark.each("place", HALVES)
def test_acknowledgements_wait_on_the_way_back(place):
    """52 B at 40 kbit/s take 10.4 ms each: the 40 of a window 416 ms, with 40 ms of path.

    An acknowledgement waits for the 35 or 36 that are not on the path.
    """
    script = s.Script(0.04)
    script.transfer(script.open(), 500, window=lambda acked: 40, back_bps=40e3)
    cause = cause_of(script, place)
    assert cause.code in ("reverse-path", "unknown")
    if place == A:
        assert cause.code == "reverse-path"
        assert cause.sign("back_queue_s") == pytest.approx(0.416 - 0.0504, rel=0.03)


def lossy(lost, *, rounds, size, rtt_s=0.04, timer_s=None):
    """Rounds of ``size`` segments: those of ``lost`` are repeated a round trip later.

    A lost one halves the next round. With a timer the whole waits for it instead.
    """
    script = s.Script(rtt_s)
    at_s, first, sent, repeats, window = script.open() + 1e-3, 0, 0, 0, size
    for _ in range(rounds):
        gone, acked = [], first
        for number in range(first, first + window):
            sent += 1
            begin = 1 + number * MSS
            is_lost = sent in lost
            came_s = script.send(at_s + 1e-4 * (number - first), A, sequence=begin, payload=MSS,
                                 **({"came_s": LOST} if is_lost else {}))  # fmt: skip
            if is_lost:
                gone.append(number)
                continue
            acked = gone[0] if gone else number + 1
            edges = (1 + (gone[-1] + 1) * MSS, begin + MSS) if gone else None
            script.send(came_s, B, ack=1 + acked * MSS, sack=edges)
        at_s += rtt_s + 1e-4 * window if timer_s is None or not gone else timer_s
        for place, number in enumerate(gone):
            repeats += 1
            came_s = script.send(at_s + 1e-4 * place, A, sequence=1 + number * MSS, payload=MSS)
            after = gone[place + 1] if place + 1 < len(gone) else first + window
            script.send(came_s, B, ack=1 + after * MSS)
        at_s += rtt_s + 1e-4 * len(gone) if gone else 0.0
        first += window
        window = max(size // 2, 2) if gone else min(window + 1, size)
    return script, sent, repeats


@pytest.mark.each("place", HALVES)
def test_losses_are_counted_where_they_can_be_seen(place):
    """One in 50 of 20 in flight is lost alone: as many are repeated, a round trip later each."""
    source = random.Random(4)
    lost = {source.randrange(50 * block + 1, 50 * block + 40) for block in range(30)}
    script, sent, repeats = lossy(lost, rounds=80, size=20)
    cause = cause_of(script, place)
    assert cause.code == "random-loss"
    assert cause.sign("loss_ratio") == pytest.approx(repeats / (sent + repeats), rel=0.1)
    assert cause.sign("reordered_ratio") == 0
    # What a repair acknowledges has come long before: it waited for the hole, in no queue.
    assert cause.shares.get("line", 0.0) < 0.1
    shares_add_up(cause)


@pytest.mark.each("age, is_repeated", [(0.1, False), (0.5, False), (1.05, True), (1.5, True)])
def test_a_hole_is_filled_early_by_reordering_and_late_by_a_repetition(age, is_repeated):
    """At the receiver, where packets have no numbers: before 0.7 of a round trip, or after it."""
    script = windowed(0.05, 10, 1 << 20, segments=400)
    late = [p for p in script.packets if p.payload and p.sequence // MSS % 40 == 15]
    for p in late:
        p.came_s += age * 0.05
    trace = s.trace_of(
        [(time_ns, without_number(frame), size) for time_ns, frame, size in script.frames(B)]
    )
    cause = explain_capture(trace, Known())[0].cause
    loss, reordered = cause.sign("loss_ratio"), cause.sign("reordered_ratio")
    assert (loss > 0, reordered > 0) == (is_repeated, not is_repeated)
    assert max(loss, reordered) == pytest.approx(len(late) / 400, rel=0.05)


def without_number(frame):
    """Return a frame whose IP identification says nothing."""
    return frame[:18] + b"\x00\x00" + frame[20:]


def four_a_round(rtt_s, *, at):
    """Four segments in each round trip of a line that is idle; one of rounds ``at`` is lost."""
    script = s.Script(rtt_s)
    at_s, sequence = script.open(), 1
    for round_of in range(120):
        ends = []
        for number in range(4):
            is_lost = number == 1 and round_of in at
            came_s = script.send(
                at_s + 2e-4 * number, sequence=sequence, payload=MSS,
                **({"came_s": LOST} if is_lost else {}),
            )  # fmt: skip
            ends.append((came_s, sequence, is_lost))
            sequence += MSS
        hole = next((begin for _, begin, is_lost in ends if is_lost), None)
        for came_s, begin, is_lost in ends:
            ack, sack = begin + MSS, None
            if hole is not None and begin > hole:
                ack, sack = hole, (hole + MSS, begin + MSS)
            if not is_lost:
                at_s = script.send(came_s, B, ack=ack, sack=sack)
        if hole is not None:
            came_s = script.send(at_s, sequence=hole, payload=MSS)
            at_s = script.send(came_s, B, ack=sequence)
    return script


def test_the_pace_of_a_flow_itself_is_no_full_line():
    """Few segments under way, twelve of 480 lost: nothing waits in front of a line."""
    cause = cause_of(four_a_round(0.05, at=range(5, 120, 10)), A)
    assert cause.code in ("random-loss", "unknown")
    assert cause.sign("loss_ratio") == pytest.approx(12 / 492, rel=0.01)


def test_repetitions_of_what_had_arrived_are_no_losses():
    """Every tenth segment is sent again, and the receiver reports each as a copy (D-SACK)."""
    script = s.Script(0.04)
    script.transfer(script.open(), 2000, window=lambda acked: 76, line_bps=8e6)
    sent = [p for p in script.packets if p.end == A and p.payload]
    acks = {p.ack: p for p in script.packets if p.end == B}
    for first in sent[200::10]:
        answer = acks[first.sequence + MSS]
        answer.sack = (first.sequence, first.sequence + MSS)  # below what it acknowledges
        script.send(first.sent_s + 1e-4, sequence=first.sequence, payload=MSS, came_s=first.came_s)
    cause = cause_of(script, A)
    assert cause.code == "reordering"
    assert cause.sign("loss_ratio") == 0


def test_what_sack_acknowledged_is_not_in_flight():
    """Of ten segments the first is lost and nine are reported: one is under way."""
    script = s.Script(0.05)
    begin_s = script.open()
    for number in range(10):
        came_s = script.send(
            begin_s + 1e-4 * number, sequence=1 + number * MSS, payload=MSS,
            **({} if number else {"came_s": s.LOST}),
        )  # fmt: skip
        if number:
            script.send(came_s, B, ack=1, sack=(1 + MSS, 1 + (number + 1) * MSS))
    for at_s, number in ((0.07, 0), (0.071, 10)):
        script.send(begin_s + at_s, sequence=1 + number * MSS, payload=MSS)
    flow = main_flow(script.trace(A))
    assert find_gaps(flow.dialogue).in_flight[-1] == MSS


def test_reordering_is_not_loss():
    """One in 20 is 10 ms late on a path of 50: its number is below those that came before."""
    script = windowed(0.05, 20, 1 << 20, segments=800)
    for p in script.packets:
        if p.payload and p.sequence // MSS % 20 == 9:
            p.came_s += 0.01
    cause = cause_of(script, B)
    assert cause.sign("loss_ratio") == 0
    assert cause.sign("reordered_ratio") == pytest.approx(1 / 20, rel=0.05)
    assert cause.code in ("reordering", "sender-buffer")


def test_duplicates_by_the_path_are_no_losses():
    script = windowed(0.03, 20, 1 << 20, segments=800)
    for p in script.packets:
        if p.payload and p.sequence // MSS % 10 == 4:
            p.copies = 1
    cause = cause_of(script, B)
    assert cause.code == "duplicates"
    assert cause.sign("loss_ratio") == 0


def timed_out(waits_s, size, *, sent_again=1):
    """A transfer whose last ``size`` segments are lost, and repeated after timers."""
    script = s.Script(0.05)
    end_s = script.transfer(script.open(), 60, window=lambda acked: 20)
    first = 1 + 60 * MSS
    for number in range(size):
        script.send(end_s + 1e-5 * (number + 1), A, sequence=first + number * MSS, payload=MSS,
                    came_s=LOST)  # fmt: skip
    at_s = end_s
    for wait_s in waits_s[:-1]:
        at_s += wait_s
        script.send(at_s, A, sequence=first, payload=MSS, came_s=LOST)
    at_s += waits_s[-1]
    came_s = script.send(at_s, A, sequence=first, payload=MSS)
    script.send(came_s, B, ack=first + MSS)
    if size > 1:
        script.transfer(at_s + 0.05, size - 1, window=lambda acked: size, first=first + MSS)
        at_s += 0.05
    return script, sum(waits_s) / at_s


def test_a_timeout_at_the_sender():
    """The last segment alone is lost: nothing tells but the timer, of 400 ms."""
    script, share = timed_out((0.4,), 1)
    cause = cause_of(script, A)
    assert cause.code == "timeout"
    assert cause.shares["timeout"] == pytest.approx(share, abs=0.05)
    shares_add_up(cause)


def test_an_outage_at_the_sender():
    """A whole window is lost, and its first segment twice more: 0.3, 0.6 and 1.2 s."""
    script, share = timed_out((0.3, 0.6, 1.2), 20)
    cause = cause_of(script, A)
    assert cause.code == "outage"
    assert cause.share_of_time == pytest.approx(share, abs=0.05)
    shares_add_up(cause)


def test_a_lost_syn():
    """The first SYN is lost: 1 s, then 60 segments in 3 round trips of 50 ms and the opening."""
    script = s.Script(0.05)
    last_s = script.transfer(script.open(lost_syns=(1.0,)), 60, window=lambda acked: 20)
    cause = cause_of(script, A)
    assert cause.code == "handshake-loss"
    assert cause.share_of_time == pytest.approx(1.0 / (last_s - 0.05), abs=0.04)
    at_server = cause_of(script, B)  # where the lost one never was
    assert at_server.code in ("slow-start", "sender-buffer", "unknown")
    shares_add_up(cause)


def dialogue(rtt_s, count, *, think_s, reply=MSS, port=9000):
    """Requests of 100 B, one after the other; the server takes a time before each answer."""
    script = s.Script(rtt_s, server_port=port)
    at_s = script.open()
    for number in range(count):
        asked, answered = 1 + 100 * number, 1 + reply * number
        came_s = script.send(at_s, A, sequence=asked, ack=answered, payload=100)
        at_s = script.send(came_s + think_s, B, sequence=answered, ack=asked + 100, payload=reply)
    script.send(at_s, A, sequence=1 + 100 * count, ack=1 + reply * count)
    return script


@pytest.mark.each("place", HALVES)
def test_the_server_s_time(place):
    """20 ms of path and 180 ms of server for each of 20 requests."""
    cause = cause_of(dialogue(0.02, 20, think_s=0.18), place)
    assert cause.code == "server-time"
    assert cause.share_of_time == pytest.approx(0.9, abs=0.03)
    assert cause.shares["round-trips"] == pytest.approx(0.1, abs=0.03)
    shares_add_up(cause)


@pytest.mark.each("place", HALVES)
def test_one_request_at_a_time(place):
    """60 ms of path and 1 ms of server for each of 30 requests, and the opening."""
    cause = cause_of(dialogue(0.06, 30, think_s=0.001), place)
    assert cause.code == "round-trips"
    assert cause.share_of_time == pytest.approx(0.98, abs=0.03)
    shares_add_up(cause)


def test_the_look_up_of_a_name():
    """1.2 s for the name; then 20 segments take 2 round trips of 50 ms and the opening one."""
    script = s.Script(0.05)
    last_s = script.transfer(script.open(1.2), 30, window=lambda acked: 10 + acked)
    frames = script.frames(A)
    for at_s, ports, ends in (
        (0.0, (5353 + 40000, 53), ("192.0.2.1", "203.0.113.9")),
        (1.2 - 1e-4, (53, 5353 + 40000), ("203.0.113.9", "192.0.2.1")),
    ):
        packet = w.ethernet(w.ipv4(w.udp(ports, b"q" * 40), 17, *ends), 0x0800)
        frames.append((round(at_s * 1e9) + w.START_NS, packet, len(packet)))
    cause = explain_capture(s.trace_of(frames), Known())[0].cause
    assert cause.code == "name-resolution"
    assert cause.share_of_time == pytest.approx(1.2 / last_s, abs=0.04)
    shares_add_up(cause)


def nagle(rtt_s, *, timer_s=0.04, count=20):
    """Two small writes: the second waits for the delayed acknowledgement of the first.

    Each exchange takes two round trips and the timer (Nagle's rule in RFC 896 beside RFC 1122).
    """
    script = s.Script(rtt_s)
    at_s = script.open()
    for number in range(count):
        asked, answered = 1 + 300 * number, 1 + 200 * number
        came_s = script.send(at_s, A, sequence=asked, ack=answered, payload=100)
        back_s = script.send(came_s + timer_s, B, sequence=answered, ack=asked + 100)
        came_s = script.send(back_s + 1e-5, A, sequence=asked + 100, ack=answered, payload=200)
        at_s = script.send(came_s + 1e-5, B, sequence=answered, ack=asked + 300, payload=200)
        at_s += 1e-4
    return script, (timer_s / (2 * rtt_s + timer_s))


@pytest.mark.each("place", HALVES)
def test_small_writes_and_delayed_acknowledgements(place):
    script, share = nagle(0.004)
    # The first of all is prompt in Linux; with one that is, the fastest round trip is seen.
    prompt = next(p for p in script.packets if p.end == B and p.ack == 101 and not p.payload)
    for p in script.packets:
        if p.sent_s >= prompt.sent_s:
            p.sent_s, p.came_s = p.sent_s - 0.04, p.came_s - 0.04
    cause = cause_of(script, place)
    assert cause.code in ("nagle-delayed-ack", "delayed-ack")
    assert cause.share_of_time == pytest.approx(share, abs=0.15)  # its round trips go along
    shares_add_up(cause)


def test_a_delayed_acknowledgement_that_nobody_waits_for_is_no_cause():
    """One in 20 segments is acknowledged as late as the next one, while the others flow."""
    script = windowed(0.06, 20, 20 * MSS, segments=800)
    acks = [p for p in script.packets if p.end == B and p.ack > 1]
    for p, following in itertools.pairwise(acks):
        if p.ack // MSS % 20 == 7:
            p.sent_s, p.came_s = following.sent_s - 1e-6, following.came_s - 1e-6
    assert cause_of(script, A).code == "receiver-window"


def test_what_the_capture_lost_is_no_loss_of_the_path():
    """Every 23rd segment is missing in the capture, and was acknowledged all the same."""
    script = windowed(0.05, 10, 10 * MSS)
    kept = [
        row for row, (_, p) in zip(script.frames(A), script.seen(A), strict=True)
        if not (p.payload and p.sequence // MSS % 23 == 11)
    ]  # fmt: skip
    missing = sum(bool(p.payload and p.sequence // MSS % 23 == 11) for p in script.packets)
    finding = explain_capture(s.trace_of(kept), Known())[0]
    assert finding.cause.code == "receiver-window"
    assert finding.cause.sign("loss_ratio") == 0
    said = {each.code: each for each in finding.notices}
    assert said["capture-missed"].values["missing_bytes"] == missing * MSS


@pytest.mark.each("place, step_s", [(A, 2.0), (B, 2.0), (A, -1.0), (B, -1.0)])
def test_a_clock_of_the_capture_that_steps_changes_no_cause(place, step_s):
    script = windowed(0.05, 10, 10 * MSS)
    rows = script.frames(place)
    at_ns = rows[len(rows) // 2][0]
    stepped = [
        (time_ns + round(1e9 * step_s) * (time_ns > at_ns), *rest) for time_ns, *rest in rows
    ]
    capture = w.Capture()
    for row in stepped:  # in the order of the file, not of its times
        capture.add(*row)
    trace = s.read_capture(capture.pcap(nano=True))
    cause = explain_capture(trace, Known())[0].cause
    assert cause.code in ("receiver-window", "unknown")
    assert cause.shares.get("sender-program", 0) < 0.1


def policed(rate_bps, bucket_bytes, *, rounds=60, rtt_s=0.04):
    """Rounds of AIMD; what finds no tokens is lost, and repeated a round trip later."""
    script = s.Script(rtt_s)
    at_s, first, window = script.open() + 1e-3, 0, 10
    tokens, filled_s, lost_count = float(bucket_bytes), 0.0, 0
    for _ in range(rounds):
        gone, acked = [], first
        for number in range(first, first + window):
            sent_s = at_s + 1.2e-4 * (number - first)  # a line of some 70 Mbit/s
            tokens = min(bucket_bytes, tokens + (sent_s - filled_s) * rate_bps / 8)
            filled_s, begin = sent_s, 1 + number * MSS
            is_lost = tokens < MSS + s.HEADERS
            came_s = script.send(sent_s, A, sequence=begin, payload=MSS,
                                 **({"came_s": LOST} if is_lost else {}))  # fmt: skip
            if is_lost:
                gone.append(number)
                continue
            tokens -= MSS + s.HEADERS
            acked = gone[0] if gone else number + 1
            edges = (1 + (gone[-1] + 1) * MSS, begin + MSS) if gone else None
            script.send(came_s, B, ack=1 + acked * MSS, sack=edges)
        lost_count += len(gone)
        at_s += rtt_s + 1.2e-4 * window
        for place, number in enumerate(gone):
            came_s = script.send(at_s + 1.2e-4 * place, A, sequence=1 + number * MSS, payload=MSS)
            after = gone[place + 1] if place + 1 < len(gone) else first + window
            script.send(came_s, B, ack=1 + after * MSS)
        at_s += rtt_s + 1.2e-4 * len(gone) if gone else 0.0
        first += window
        window = max(window // 2, 4) if gone else window + 4
    return script, lost_count


@pytest.mark.each("place", HALVES)
def test_a_policer_drops_without_a_queue(place):
    """2 Mbit/s with a bucket of 20 kB in front of a line that is 35 times as fast."""
    script, lost_count = policed(2e6, 20_000)
    assert lost_count > 20
    cause = cause_of(script, place)
    assert cause.code in ("policer", "shallow-buffer", "unknown")
    if place == A:
        assert cause.code == "policer"
