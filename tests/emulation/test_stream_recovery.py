"""What a TCP stream sends, and when, if chosen packets are lost: every event by hand.

A round trip takes 1 s, half of it each way, so that the timers follow from the handshake alone:
SRTT = 1 s and RTTVAR = 0.5 s (RFC 6298, 2.2), and n samples of 1 s leave 0.5 * 0.75^n of RTTVAR.
Times count from the first write; a segment that is sent again appears again.
"""

from __future__ import annotations

import math
import random

import pytest

from netcalc.emulation.chain import Chain
from netcalc.emulation.queue import LinkQueue
from netcalc.emulation.stream import Window, _Receiver, _Stream, deliver
from netcalc.errors import DomainError
from netcalc.path import Path

HANDSHAKE = 2
"""Packets of the handshake in the direction of the data: SYN, and the third packet."""


class Wire:
    """A wire of half a second that loses and delays packets by their places in the order sent."""

    def __init__(self, lost=(), slow=None):
        self.lost, self.slow = frozenset(lost), slow or {}
        self.sent, self.under_way = [], []

    def push(self, packet, now_s, packet_bytes):
        place = len(self.sent)
        self.sent.append((now_s, packet, packet_bytes))
        if place not in self.lost:
            self.under_way.append((now_s + 0.5 + self.slow.get(place, 0.0), packet))
            self.under_way.sort(key=lambda one: one[0])

    def take(self, now_s):
        arrived = [one for one in self.under_way if one[0] <= now_s]
        del self.under_way[: len(arrived)]
        return arrived

    def next_event_s(self):
        return self.under_way[0][0] if self.under_way else None

    @property
    def counters(self):
        return [{"lost": sum(place < len(self.sent) for place in self.lost)}]


class Checked(_Stream):
    """A stream whose counts are taken anew after each step."""

    def _step(self, which, now_s):
        super()._step(which, now_s)
        known = self.out.values()
        assert self.sacked == sum(one.sacked for one in known)
        assert self.lost == sum(one.lost for one in known)
        assert self.retransmitted == sum(one.again for one in known)
        assert list(self.out) == list(range(self.una, self.next))
        assert self.next - self.una <= self.window_segments
        assert not any(one.sacked and (one.lost or one.again) for one in known)
        # in flight: neither received nor lost, or sent once more since
        assert self.in_flight == sum(
            (not one.sacked and not one.lost) + one.again for one in known
        )  # fmt: skip


def stream_of(segments, first, *, lost=(), slow=None, there=None, back=None, **options):
    """Return a stream that loses the data packets of these numbers, from 1 in the order sent."""
    to_sink = Wire(
        {HANDSHAKE - 1 + one for one in lost},
        {HANDSHAKE - 1 + one: more_s for one, more_s in (slow or {}).items()},
    )
    options = {
        "window_segments": math.inf, "write_segments": 1000, "host_s": 0.0, **options
    }  # fmt: skip
    return Checked(
        to_sink=there or to_sink, to_source=back or Wire(), segments=segments,
        window=Window(first), **options,
    )  # fmt: skip


def run(segments, first, **options):
    """Return what was delivered, and the segments sent by time, from the start on."""
    stream = stream_of(segments, first, **options)
    found = stream.run()
    data = stream.to_sink.sent[-found.sent_count :]
    begin_s = data[0][0] - stream.host_s / 2
    events = {}
    for when_s, (number, _), size in data:
        assert size == 1500
        events.setdefault(round(when_s - begin_s, 9), []).append(number)
    return found, events


def counts(found):
    return found.sent_count, found.lost_count, found.timeout_count, found.reduction_count


def test_slow_start_doubles_each_round():
    """RFC 5681, 3.1: a segment for each acknowledged one, so 1, 2, 4, 8."""
    found, events = run(15, 1)
    assert events == {0: [0], 1: [1, 2], 2: [3, 4, 5, 6], 3: [*range(7, 15)]}
    assert (found.delivery_s, counts(found)) == (3.5, (15, 0, 0, 0))


def test_an_acknowledgement_that_was_lost_is_made_up_for_by_the_next():
    """RFC 5681, 3.1: both segments are acknowledged by the second, so the window grows by two."""
    noted = []

    class Noted(Window):
        def acknowledged(self, *known):
            noted.append(known)
            super().acknowledged(*known)

    stream = stream_of(6, 2, back=Wire(lost={1}))
    stream.window = Noted(2)
    stream.run()
    assert [when_s for when_s, *_ in stream.to_sink.sent[HANDSHAKE:]] == [1.5] * 2 + [2.5] * 4
    assert noted == [(2, 2.5, 1.0, 2)], "two segments, now, the smoothed round trip, and both sent"


def test_the_receive_window_limits_what_is_on_its_way():
    """RFC 9293, 3.8: never more than three segments that are not acknowledged."""
    found, events = run(8, 10, window_segments=3)
    assert events == {0: [0, 1, 2], 1: [3, 4, 5], 2: [6, 7]}
    assert found.delivery_s == 2.5


class TestReceiver:
    def test_single_segments_wait_for_the_delayed_acknowledgement_after_16(self):
        """RFC 1122, 4.2.3.2: 40 ms; the 16 first ones are acknowledged at once."""
        found, events = run(19, 10, window_segments=1)
        assert list(events) == pytest.approx([*range(17), 17.04, 18.08])
        assert found.delivery_s == pytest.approx(18.58)

    def test_the_end_of_a_write_is_acknowledged_at_once(self):
        _, events = run(19, 10, window_segments=1, write_segments=17)
        assert list(events) == pytest.approx([*range(18), 18.04])

    def test_every_second_segment_is_acknowledged_at_once(self):
        found, events = run(24, 10, window_segments=2)
        assert list(events) == list(range(12))
        assert found.delivery_s == 11.5

    def test_data_behind_a_hole_and_what_fills_it_are_acknowledged_at_once(self):
        """RFC 5681, 4.2: the third SACK sends the hole again, and its answer the next ones.

        The window had grown to 8, of which 4 are only half: it is 4 afterwards.
        """
        _, events = run(24, 4, window_segments=4, lost={17})
        assert dict(list(events.items())[4:]) == {
            4: [16, 17, 18, 19], 5: [16], 6: [20, 21, 22, 23],
        }  # fmt: skip

    def test_one_waits_and_the_second_does_not(self):
        receiver = _Receiver(quick=0)
        assert receiver.take(0, False, 1.0) is False
        assert receiver.timer_s == pytest.approx(1.04)
        assert receiver.take(1, False, 1.01) is True
        assert receiver.acknowledge() == (2, frozenset())
        assert math.isinf(receiver.timer_s)

    def test_a_segment_that_came_twice_is_acknowledged_again(self):
        """RFC 5681, 4.2: else the sender would learn nothing of the one that came late."""
        back = Wire()
        stream = stream_of(1, 1, back=back)
        assert stream.receiver.take(0, False, 1.0)
        stream.receiver.acknowledge()
        stream.receiver.quick = 0
        assert stream.receiver.take(0, False, 2.0)
        assert stream.receiver.acknowledge() == (1, frozenset())


class TestTailLoss:
    def test_a_probe_repairs_a_tail_by_sacks(self):
        """RFC 8985, 7.2: two samples leave RTO = 1 + 2 * 0.75^2 = 2.125; PTO = 2.002 is earlier."""
        found, events = run(4, 4, lost={3, 4})
        assert events == {0: [0, 1, 2, 3], 3.002: [3], 4.002: [2]}
        assert found.delivery_s == pytest.approx(4.502)
        assert counts(found) == (6, 2, 0, 1)

    def test_a_probe_goes_when_the_timeout_would_come_earlier(self):
        """RFC 8985, 7.2: four samples leave RTO = 1 + 2 * 0.75^4 = 1.6328125 below the PTO."""
        found, events = run(6, 6, lost={5, 6})
        assert events == {0: [*range(6)], 2.632812500: [5], 3.632812500: [4]}
        assert counts(found) == (8, 2, 0, 1)

    def test_one_segment_waits_for_a_delayed_acknowledgement_too(self):
        """RFC 8985, 7.2: 2 SRTT + 200 ms for the only segment, 2 ms for two of them."""
        assert list(run(1, 1, lost={1})[1]) == [0, 2.2]
        assert list(run(2, 2, lost={1, 2})[1]) == [0, 2.002, 3.002]

    def test_a_probe_is_new_data_if_there_is_room(self):
        """RFC 8985, 7.3; then RFC 6937, 3.1: of 4 lost segments 1, 2 and 1 go again, up to 2."""
        found, events = run(6, 4, lost={1, 2, 3, 4})
        assert events == {
            0: [0, 1, 2, 3], 2.002: [4], 3.002: [0], 4.002: [1, 2], 5.002: [3, 5],
        }  # fmt: skip
        assert found.delivery_s == pytest.approx(5.502)
        assert counts(found) == (10, 4, 0, 1)

    def test_a_probe_repeats_the_last_if_the_receiver_has_no_room(self):
        _, events = run(6, 4, lost={1, 2, 3, 4}, window_segments=4)
        assert dict(list(events.items())[:3]) == {0: [0, 1, 2, 3], 2.002: [3], 3.002: [0]}

    def test_there_is_one_probe_at_a_time(self):
        """RFC 8985, 7.3: the first one, in 2.5 s, has not answered the probe of 2.002.

        SRTT = 1 + 1.5 / 8, RTTVAR = 0.5 + (1.5 - 0.5) / 4, RTO = 1.1875 + 3 = 4.1875.
        """
        found, events = run(2, 2, slow={1: 1.5}, lost={2, 3})
        assert events == {0: [0, 1], 2.002: [1], 6.6875: [1]}
        assert counts(found) == (4, 2, 1, 1)

    def test_a_repair_does_not_wait_for_the_answer_to_a_probe(self):
        """RFC 8985, 6.2: the second one is late, and 0.25 s after its SACK the first is lost."""
        found, events = run(3, 3, slow={2: 1.5}, lost={1, 3})
        assert events == {0: [0, 1, 2], 2.002: [2], 2.75: [0]}
        assert found.delivery_s == 3.25

    def test_what_was_sent_again_too_lately_says_nothing_of_what_was_sent_before(self):
        """RFC 8985, 6.2, step 2: the answer 0.198 s after the probe is to the original."""
        _, events = run(3, 3, slow={3: 1.2}, lost={1, 2, 4})
        assert {when: sent for when, sent in events.items() if when < 5.0} == {
            0: [0, 1, 2], 2.002: [2],
        }  # fmt: skip


class TestTimeout:
    def test_a_lost_probe_leaves_it_to_the_timeout(self):
        """RFC 6298, 5.4 to 5.6: 2.125 s after the probe, with one segment, then two."""
        found, events = run(4, 4, lost={3, 4, 5})
        assert events == {0: [0, 1, 2, 3], 3.002: [3], 5.127: [2], 6.127: [3]}
        assert found.delivery_s == pytest.approx(6.627)
        assert counts(found) == (7, 3, 1, 1)

    def test_each_further_timeout_is_twice_as_long_until_data_is_acknowledged(self):
        """RFC 6298, 5.5: 2.125, 4.25, 8.5; after an acknowledgement 2.125 again, as Linux does."""
        found, events = run(4, 4, lost={3, 4, 5, 6, 7, 9})
        assert events == {
            0: [0, 1, 2, 3], 3.002: [3], 5.127: [2], 9.377: [2], 17.877: [2],
            18.877: [3], 21.002: [3],
        }  # fmt: skip
        assert counts(found) == (10, 6, 4, 1)

    def test_the_window_grows_from_one_while_a_flight_is_repaired(self):
        """RFC 5681, 3.1: slow start after the timeout up to half, so 1, 2, 4, then avoidance."""
        found, events = run(8, 8, lost=range(1, 10), window_segments=8)
        assert events == {
            0: [*range(8)], 2.002: [7], 5.002: [0], 6.002: [1, 2], 7.002: [3, 4, 5, 6], 8.002: [7],
        }  # fmt: skip
        assert counts(found) == (17, 9, 1, 1)

    def test_a_repeated_timeout_leaves_the_threshold(self):
        """RFC 5681, 3.1: held constant, so 1, 2, 4 as after the first."""
        found, events = run(8, 8, lost=range(1, 11), window_segments=8)
        assert dict(list(events.items())[2:]) == {
            5.002: [0], 11.002: [0], 12.002: [1, 2], 13.002: [3, 4, 5, 6], 14.002: [7],
        }  # fmt: skip
        assert counts(found) == (18, 10, 2, 1)

    def test_a_timeout_after_the_end_of_a_repair_is_a_reduction_of_its_own(self):
        """derived: each with a lost probe after 2.2 s, and RTO = 3 s, as nothing is a sample."""
        found, events = run(2, 1, window_segments=1, lost={1, 2, 4, 5})
        assert events == {0: [0], 2.2: [0], 5.2: [0], 6.2: [1], 8.4: [1], 11.4: [1]}
        assert counts(found) == (6, 4, 2, 2)

    def test_round_trips_are_smoothed_and_what_was_sent_twice_is_no_sample(self):
        """RFC 6298, 2.3 and 3: 2 s after 1 s makes SRTT 1.125, RTTVAR 0.625 and RTO 3.625.

        The probe goes after 2 * 1.125 + 0.2 s; the same after segments that were sent twice.
        """
        found, events = run(3, 1, slow={1: 1.0}, lost={2, 3, 5}, window_segments=1)
        assert events == {0: [0], 2: [1], 4.45: [1], 8.075: [1], 9.075: [2], 11.525: [2]}
        assert counts(found) == (6, 3, 1, 1)

    def test_the_least_timeout_is_200_ms_more_than_a_round_trip(self):
        """Linux: 16 samples of 1 s and one of 1.04 s make SRTT 1.005 s."""
        found, events = run(18, 10, window_segments=1, lost={18})
        assert list(events)[-2:] == pytest.approx([17.04, 17.04 + 1.205])
        assert found.timeout_count == 0

    def test_a_stream_of_more_than_an_hour_is_refused(self):
        """derived: the first one arrives 3600 s after it was sent, all else is lost."""
        lost = range(2, 100)
        assert run(1, 1, slow={1: 3599.5}, lost=lost)[0].delivery_s == 3600.0
        with pytest.raises(DomainError) as refused:
            run(1, 1, slow={1: 3600.0}, lost=lost)
        assert (refused.value.name, refused.value.value) == ("segments", 1)
        with pytest.raises(DomainError):
            deliver(Path.parse("T1 5 ms"), segments=1, loss_ratio=1.0)


class TestRecovery:
    def test_two_sacks_let_new_data_go_and_the_hole_waits_a_quarter_round(self):
        """RFC 3042 and RFC 8985, 6.2: lost at 1.25; then RFC 6937 from 3 segments to 2."""
        found, events = run(8, 3, lost={1})
        assert events == {
            0: [0, 1, 2], 1: [3, 4], 1.25: [0], 2: [5], 2.25: [6], 3: [7],
        }  # fmt: skip
        assert (found.delivery_s, counts(found)) == (3.5, (9, 1, 0, 1))

    def test_a_hole_found_by_time_reduces_in_proportion(self):
        """RFC 6937, 3.1: from 6 to 3, so of what arrives after 1.25 every second sends one.

        At 1.5 the first two of three leave the one that was sent, ceil(3 * 2 / 6); then none is
        missing of 3 in flight. At 2 and at the end of the recovery one is missing each time.
        """
        found, events = run(11, 6, lost={1}, slow={4: 0.5, 5: 0.5, 6: 0.5})
        assert events == {0: [*range(6)], 1: [6, 7], 1.25: [0], 2: [8, 9], 2.25: [10]}
        assert (found.delivery_s, counts(found)) == (2.75, (12, 1, 0, 1))

    def test_the_quarter_is_of_the_shortest_round_trip(self):
        """RFC 8985, 6.2: the SYN took 2 s, the data 1 s."""
        _, events = run(3, 3, there=Wire(lost={HANDSHAKE}, slow={0: 1.0}))
        assert events == {0: [0, 1, 2], 1.25: [0]}

    def test_the_third_sack_marks_the_hole_and_a_lost_repair_goes_again(self):
        """RFC 8985, 6.2: 7 was sent after the repair and arrives before it; from 5 segments to 2.

        RFC 6937: at 1 the third SACK sends the hole, ceil(2 * 1 / 5); at 2 one of two is missing.
        """
        found, events = run(9, 5, lost={1, 8})
        assert events == {0: [0, 1, 2, 3, 4], 1: [5, 6, 0], 2: [7], 3: [0, 8]}
        assert (found.delivery_s, counts(found)) == (3.5, (11, 2, 0, 1))


class TestHandshake:
    @pytest.mark.each(
        ("there", "back", "opens_s"),
        [
            (set(), set(), 1.5),
            ({0}, set(), 2.5),
            (set(), {0}, 2.5),
            ({0, 1, 2}, set(), 8.5),
            ({1}, set(), 1.0),
        ],
    )
    def test_a_lost_syn_is_repeated_and_no_sample(self, there, back, opens_s):
        """RFC 6298, 2.1, 3 and 5.5: after 1 s, 2 s, 4 s; the one that was answered took 1 s."""
        stream = stream_of(1, 1, there=Wire(lost=there), back=Wire(lost=back))
        assert stream._handshake() == opens_s
        assert (stream.srtt_s, stream.rttvar_s, stream.min_rtt_s) == (1.0, 0.5, 1.0)

    def test_what_the_handshake_lost_is_no_lost_data(self):
        found, _ = run(2, 2, there=Wire(lost={0, 3}))
        assert found.lost_count == 1

    def test_its_packets_have_60_60_and_52_bytes(self):
        """RFC 7323: headers of 20 and 40 bytes with options in a SYN, 20 and 32 after it."""
        rate_bps = 8000.0
        there, back = (
            Chain([LinkQueue(bandwidth_bps=rate_bps, latency_s=0.5)]) for _ in range(2)
        )  # fmt: skip
        stream = stream_of(1, 1, there=there, back=back)
        assert stream._handshake() == pytest.approx(1.5 + (60 + 60 + 52) / 1000, rel=1e-12)
        assert stream.srtt_s == pytest.approx(1.0 + (60 + 60) / 1000, rel=1e-12)


class TestHosts:
    def test_hosts_delay_each_round_half_of_it_on_the_way_there(self):
        """derived: rounds of 1.25 s, the last half one of 0.625 s."""
        found, events = run(3, 1, window_segments=1, host_s=0.25)
        assert events == {0.125: [0], 1.375: [1], 2.625: [2]}
        assert found.delivery_s == 3.125

    def test_hosts_are_a_part_of_the_round_trip_that_timers_see(self):
        """RFC 6298: SRTT 1.25, and two samples leave RTO = 1.25 + 2.5 * 0.75^2 = 2.65625.

        RFC 8985: a hole waits for a quarter of 1.25 s.
        """
        _, events = run(3, 1, window_segments=1, host_s=0.25, lost={3})
        assert list(events) == [0.125, 1.375, 2.625, 2.625 + 2.65625]
        _, events = run(3, 3, host_s=0.25, lost={1})
        assert events == {0.125: [0, 1, 2], 1.6875: [0]}


class TestDeliver:
    def test_single_segments_by_the_path_and_the_delayed_acknowledgement(self):
        """derived: 59 rounds and a way; 40 ms in each but the first 16 and the end of a write.

        A window of less than 1.5 segments is one segment.
        """
        path = Path.parse("T1 20 ms")
        round_s, way_s = float(path.rtt_s(1500, reply_bytes=52)), float(path.one_way_s(1500))
        for window_bytes in (1, 1448, 1.4 * 1448):
            found = deliver(path, segments=60, window_bytes=window_bytes)
            expected_s = 59 * round_s + way_s + 0.04 * (59 - 16 - 1)
            assert found.delivery_s == pytest.approx(expected_s, rel=1e-9)

    @pytest.mark.each(("window_bytes", "count"), [(3619, 2), (3621, 3), (3.4 * 1448, 3)])
    def test_a_window_is_rounded_to_whole_segments(self, window_bytes, count):
        """derived: 2.5 segments are 3620 bytes."""
        path = Path.parse("10 Mbit/s 20 ms")
        assert deliver(path, segments=60, window_bytes=window_bytes) == deliver(
            path, segments=60, window_bytes=count * 1448
        )

    def test_defaults(self):
        path = Path.parse("10 Mbit/s 20 ms")
        every = {
            "rule": "reno", "initial_window_segments": 10, "slow_start": True,
            "window_bytes": math.inf, "write_segments": 45, "host_s": 0.0, "seed": 0,
        }  # fmt: skip
        assert deliver(path, segments=200, loss_ratio=0.02) == deliver(
            path, segments=200, loss_ratio=0.02, **every
        )


@pytest.mark.each("seed", range(8))
def test_the_counts_are_those_of_the_segments_whatever_is_lost(seed):
    """identity: after each step; what was sent and not lost holds all the data."""
    draw = random.Random(seed)
    lost, back = (
        [place for place in range(HANDSHAKE, 3000) if draw.random() < share]
        for share in (0.15, 0.1)
    )  # fmt: skip
    stream = stream_of(120, 6, there=Wire(lost=lost), back=Wire(lost=back), window_segments=20)
    found = stream.run()
    assert stream.receiver.expected == 120
    assert found.sent_count >= 120 + found.lost_count
    assert found.sent_count == len(stream.to_sink.sent) - HANDSHAKE
