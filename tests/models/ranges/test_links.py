"""Formulas of shared media, ARQ and segments against other methods, about the end of their range.

Each range is read from the docstring. Inside it the stated error bounds the approximation, outside
it does not.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest

from netcalc import checks
from netcalc.errors import doubts
from netcalc.models.delays import store_and_forward
from netcalc.models.links import arq, random_access
from netcalc.models.media import wifi
from netcalc.models.rates import line_rate


def limit(function, name, end=1):
    """Return an end of a published range: 0 where it begins, 1 where it ends."""
    return checks.published_ranges(function)[name][end]


def names(function, *arguments, **keywords):
    """Return what is noted to lie outside its range."""
    with doubts() as found:
        function(*arguments, **keywords)
    return [doubt.values.get("name") for doubt in found if "limit" in doubt.values]


def pure_aloha_error(attempts, stations=20):
    """Derived: a station is idle for an exponential time, then sends; all others must be idle.

    An idle one stays so for a frame with probability exp(-rate).
    """
    busy = attempts / stations
    rate = busy / (1.0 - busy)
    exact = attempts * ((1.0 - busy) * math.exp(-rate)) ** (stations - 1)
    with doubts():
        return random_access.pure_aloha_utilization(attempts) / exact - 1.0


def test_pure_aloha_of_twenty_stations():
    most = limit(random_access.pure_aloha_utilization, "offered_attempts")
    inside = [abs(pure_aloha_error(one)) for one in np.linspace(0.05, most, 20)]
    assert max(inside) < 0.034 < pure_aloha_error(2 * most) < 0.121
    assert names(random_access.pure_aloha_utilization, most) == []
    assert names(random_access.pure_aloha_utilization, 1.1 * most) == ["offered_attempts"]


def test_slotted_aloha_of_twenty_stations():
    def error(attempts):
        with doubts():
            many = random_access.slotted_aloha_utilization(attempts)
        exact = random_access.slotted_aloha_stations_utilization(20, attempt_ratio=attempts / 20)
        return many / exact - 1.0

    most = limit(random_access.slotted_aloha_utilization, "offered_attempts")
    inside = [abs(error(one)) for one in np.linspace(0.1, most, 20)]
    assert max(inside) < 0.026 < error(1.5 * most) < 0.093


def test_the_five_of_csma_cd():
    """Second method: slots of a round trip, in which each station sends with probability 1/n."""

    def worst(share):
        errors = []
        for stations in (5, 10, 100, 10**6):
            with doubts():
                five = random_access.csma_cd_efficiency_ratio(1.0, propagation_s=share)
                slots = random_access.csma_cd_stations_efficiency_ratio(
                    stations, serialization_s=1.0, propagation_s=share
                )
            errors.append(1.0 - five / slots)
        assert min(errors) > 0.0
        return max(errors)

    most = limit(random_access.csma_cd_efficiency_ratio, "propagation_share")
    assert worst(0.5 * most) < worst(most) < 0.15 < worst(2.5 * most) < 0.24
    # published: IEEE 802.3, a slot of 512 bits is the round trip that a frame must outlast
    least_frame = {"serialization_s": 51.2e-6, "propagation_s": 25.6e-6}
    assert names(random_access.csma_cd_stations_efficiency_ratio, 10, **least_frame) == []
    longer = {**least_frame, "propagation_s": 26e-6}
    assert names(random_access.csma_cd_stations_efficiency_ratio, 10, **longer) == [
        "propagation_share"
    ]


def selective_repeat(window, cycle, loss, slots=100_000):
    """Return the share of slots that move the window on: packet by packet, with drawn losses."""
    rng = np.random.default_rng(1)
    base = sent = 0
    due, again, arrived = deque(), deque(), set()
    for slot in range(slots):
        while due and due[0][0] <= slot:
            _, packet, is_lost = due.popleft()
            if is_lost:
                again.append(packet)
                continue
            arrived.add(packet)
            while base in arrived:
                arrived.discard(base)
                base += 1
        if again:
            packet = again.popleft()
        elif sent < base + window:
            packet, sent = sent, sent + 1
        else:
            continue
        due.append((slot + cycle, packet, rng.random() < loss))
    return base / slots


def repeat_error(window, cycle, loss):
    path = {"packet_bytes": 125, "bandwidth_bps": 1e6, "rtt_s": (cycle - 1) * 1e-3}
    with doubts() as found:
        formula = arq.selective_repeat_utilization(loss, window_packets=window, **path)
    return formula / selective_repeat(window, cycle, loss) - 1.0, bool(found)


def test_selective_repeat_stands_still_for_its_first_packet():
    most = limit(arq.selective_repeat_utilization, "lost_packets")
    for window, cycle in ((50, 50), (10, 10), (65, 50), (25, 50)):
        error, noted = repeat_error(window, cycle, most / min(window, cycle))
        assert error < 0.05
        assert not noted
    error, noted = repeat_error(50, 50, 10 * most / 50)
    assert 0.05 < error < 0.36
    assert noted
    error, noted = repeat_error(200, 50, 0.1)
    assert error < 0.01
    assert not noted, "four round trips"


def slots_of_dcf(stations, window, stages):
    """Return attempts a slot, the share that collides, and the shares of busy and good slots."""
    rng = np.random.default_rng(2)
    stage = np.zeros(stations, int)
    wait = rng.integers(0, window, stations)
    attempts = collided = idle = good = past = 0
    slots = 150_000 if stations < 50 else 30_000

    while past < slots:
        quiet = int(wait.min())
        idle, past = idle + quiet, past + quiet + 1
        wait -= quiet
        sending = np.flatnonzero(wait == 0)
        wait -= 1
        attempts += sending.size
        if sending.size == 1:
            good += 1
            stage[sending] = 0
        else:
            collided += sending.size
            stage[sending] = np.minimum(stage[sending] + 1, stages)
        wait[sending] = rng.integers(0, window << stage[sending])
    return attempts / (stations * past), collided / attempts, idle / past, good / past


TIMES = {"payload_s": 8184e-6, "success_s": 8982e-6, "collision_s": 8713e-6, "slot_s": 50e-6}


def dcf_errors(stations, window, stages):
    """Return the errors of the attempts, of the collisions and of the throughput."""
    attempts, collided, idle, good = slots_of_dcf(stations, window, stages)
    busy_s = good * TIMES["success_s"] + (1.0 - idle - good) * TIMES["collision_s"]
    used = good * TIMES["payload_s"] / (idle * TIMES["slot_s"] + busy_s)
    given = {"window_slots": window, "stage_count": stages}
    with doubts() as found:
        return (
            abs(wifi.attempt_ratio(stations, **given) / attempts - 1.0),
            abs(wifi.collision_ratio(stations, **given) / collided - 1.0),
            abs(wifi.saturation_utilization(stations, **given, **TIMES) / used - 1.0),
            len(found),
        )


@pytest.mark.slow
def test_stations_with_windows_of_wifi():
    most = int(limit(wifi.saturation_utilization, "station_count"))
    least = int(limit(wifi.saturation_utilization, "window_slots", 0))
    for stations, window, stages in ((2, least, 6), (10, least, 6), (10, 32, 5), (most, 32, 3)):
        attempts, collided, used, notes = dcf_errors(stations, window, stages)
        assert attempts < 0.01
        assert collided < (0.08 if stations < 5 else 0.02)
        assert used < 0.01
        assert notes == 0
    assert dcf_errors(2, 4, 3)[2] > 0.01
    attempts, _, used, notes = dcf_errors(2, 2, 3)
    assert min(attempts, used) > 0.01
    assert notes == 3, "each formula says so"


def message_error(segments, header_bits, links):
    """Return how far the delay is above that of the best whole number of equal segments."""
    message = segments**2 * header_bits / (links - 1.0)
    path = {"bandwidth_bps": [1e6] * links, "latency_s": [0.0] * links}

    def delay(segment_bits):
        return store_and_forward.message_s(
            segment_bits / 8.0, message_bytes=message / 8.0, header_bytes=header_bits / 8.0, **path
        )

    with doubts() as found:
        best = store_and_forward.optimal_segment_bits(
            message, header_bits=header_bits, link_count=links
        )
    least = min(delay(message / count) for count in range(1, int(4 * segments) + 2))
    return delay(best) / least - 1.0, bool(found)


@pytest.mark.slow
def test_the_best_segment_of_whole_segments():
    least = limit(store_and_forward.optimal_segment_bits, "segment_count", 0)
    for links in (2, 3, 6, 10):
        for segments in np.linspace(least, 6 * least, 41):
            error, noted = message_error(segments, 320, links)
            assert error < 0.035
            assert not noted
    error, noted = message_error(0.45 * least, 320, 3)
    assert 0.035 < error < 0.081
    assert noted


def test_a_constant_added_to_goodput_fits_full_frames_only():
    """Derived: 100 Mbit/s full of frames, TCP with timestamps: payload 70 below the frame."""

    def error(frame):
        goodput = (frame - 70.0) / (frame + 20.0) * 100e6
        with doubts():
            found = line_rate.constant_offset_rate_pps(goodput, frame_bytes=frame)
        return abs(found / (100e6 / 8.0 / (frame + 20.0)) - 1.0)

    low, high = checks.published_ranges(line_rate.constant_offset_rate_pps)["frame_bytes"]
    assert max(error(low), error(high)) < 0.002
    assert error(1200.0) > 0.002
