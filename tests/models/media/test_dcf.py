"""Wi-Fi without aggregation: symbols counted, published constants, and Bianchi's chain itself."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from netcalc.errors import DomainError, doubts
from netcalc.models.media import wifi


@pytest.mark.each("rate", [6, 9, 12, 18, 24, 36, 48, 54])
@pytest.mark.each("size", [0, 14, 76, 1536, 2346])
def test_frames_symbol_by_symbol(rate, size):
    """Second method: whole bits into whole symbols."""
    bits, left, symbols = rate * 4, 16 + 8 * size + 6, 0
    while left > 0:
        left, symbols = left - bits, symbols + 1
    found = wifi.ofdm_frame_s(size, bandwidth_bps=rate * 1e6)
    assert found * 1e6 == pytest.approx(20 + 4 * symbols, rel=1e-12)


def test_an_802_11g_frame_has_its_extension():
    """Published: IEEE 802.11-02/102r0: 6 us; derived: 57 symbols of 216 bits, 1 of 96 and more."""
    given = {"bandwidth_bps": [54e6, 24e6], "standard": "802.11g"}
    found = wifi.ofdm_frame_s([1536, 14], **given)
    assert found * 1e6 == pytest.approx([254, 34], rel=1e-12)
    # identity: SIFS of 10 us behind the extension, DIFS of 28, make the exchange of 802.11a
    exchange = 28 + 67.5 + 254 + 10 + 34  # 6 us of it idle behind the acknowledgement
    whole = 12_000 / wifi.ofdm_throughput_bps(1500, bandwidth_bps=54e6) * 1e6
    assert whole == pytest.approx(exchange, rel=1e-12)


def test_a_frame_ends_at_4095_bytes():
    """Published: aPSDUMaxLength of IEEE 802.11-2016, tables 16-4 and 17-21."""
    for airtime in (wifi.ofdm_frame_s, wifi.dsss_frame_s):
        assert airtime(4095, bandwidth_bps=1e6 if airtime is wifi.dsss_frame_s else 6e6) > 0
        with pytest.raises(DomainError, match="at most 4095"):
            airtime(4096, bandwidth_bps=11e6)


@pytest.mark.each(
    ("rate", "a", "b"), [(1e6, 8.0, 1138.0), (2e6, 4.0, 1002.0), (11e6, 0.72727, 890.73)]
)
def test_published_throughput_of_802_11b(rate, a, b):
    """Published: Jun et al. 2003, table 2, 8 x / (a x + b) with x in bytes and us."""
    for size in (64, 512, 1500):
        found = wifi.dsss_throughput_bps(size, bandwidth_bps=rate)
        assert found / 1e6 == pytest.approx(8 * size / (a * size + b), rel=1e-5)


@pytest.mark.each(("rate", "a", "b"), [(1e6, 8.0, 1814.0), (2e6, 4.0, 1678.0)])
def test_published_throughput_of_802_11b_with_rts(rate, a, b):
    """Derived: 676 us more than published: RTS and CTS at 1 Mbit/s, two preambles and SIFS."""
    found = wifi.dsss_throughput_bps(1500, bandwidth_bps=rate, rts=True)
    assert found / 1e6 == pytest.approx(12_000 / (a * 1500 + b), rel=1e-5)


def test_rts_costs_its_frames():
    """Derived: of 20 and 14 bytes at 24 Mbit/s, each with its SIFS."""
    plain = 12_000 / wifi.ofdm_throughput_bps(1500, bandwidth_bps=54e6)
    asked = 12_000 / wifi.ofdm_throughput_bps(1500, bandwidth_bps=54e6, rts=True)
    frames = wifi.ofdm_frame_s([20, 14], bandwidth_bps=24e6)
    assert asked - plain == pytest.approx(frames.sum() + 32e-6)


def test_an_exchange_of_802_11b_is_the_sum_of_its_parts():
    """Identity: DIFS, backoff, frame, SIFS, acknowledgement."""
    parts = 50e-6 + 15.5 * 20e-6 + 10e-6
    parts += float(wifi.dsss_frame_s(1534, bandwidth_bps=11e6))
    parts += float(wifi.dsss_frame_s(14, bandwidth_bps=1e6))
    found = wifi.dsss_throughput_bps(1500, bandwidth_bps=11e6)
    assert found == pytest.approx(12_000 / parts, rel=1e-12)
    short = wifi.dsss_frame_s(1534, bandwidth_bps=11e6, short_preamble=True)
    assert float(wifi.dsss_frame_s(1534, bandwidth_bps=11e6) - short) == pytest.approx(96e-6)


@pytest.mark.each(("rate", "ack", "mbps"), [(6e6, 6e6, 5.37273337811), (54e6, 24e6, 30.4955527319)])
def test_one_station_of_802_11a(rate, ack, mbps):
    """Derived: 34 + 67.5 us, 513 or 57 symbols, SIFS, 6 or 2 symbols."""
    found = wifi.ofdm_throughput_bps(1500, bandwidth_bps=rate, ack_bps=ack)
    assert found / 1e6 == pytest.approx(mbps, rel=1e-9)


@pytest.mark.each(
    ("rate", "symbols", "answer_symbols"),
    # derived: 34 + 67.5 us, then 20 us and 4 for each symbol of 22 + 8 x 1536 bits, SIFS, and
    # 22 + 8 x 14 bits at 6, 12 or 24 Mbit/s
    [(6e6, 513, 6), (9e6, 342, 6), (12e6, 257, 3), (18e6, 171, 3), (24e6, 129, 2), (54e6, 57, 2)],
)
def test_an_acknowledgement_is_not_faster_than_the_data(rate, symbols, answer_symbols):
    """Published rule: IEEE 802.11-2016, 10.7.6.5: the highest basic rate not above the data."""
    exchange = 101.5e-6 + 20e-6 + 4e-6 * symbols + 16e-6 + 20e-6 + 4e-6 * answer_symbols
    found = wifi.ofdm_throughput_bps(1500, bandwidth_bps=rate)
    assert found == pytest.approx(12_000 / exchange, rel=1e-12)
    one = wifi.saturation_throughput_bps(1, packet_bytes=1500, bandwidth_bps=rate)
    assert one == pytest.approx(12_000 / exchange, rel=1e-9)  # identity: no one to collide with


def test_a_faster_acknowledgement_is_noted():
    for model, others in (
        (wifi.ofdm_throughput_bps, {"bandwidth_bps": 6e6, "ack_bps": 24e6}),
        (wifi.dsss_throughput_bps, {"bandwidth_bps": 1e6, "ack_bps": 2e6}),
    ):
        with doubts() as found:
            model(1500, **others)
        assert [one.code for one in found] == ["acknowledgement-above-data"]


def test_a_payload_is_not_longer_than_its_frame():
    given = {"collision_s": 1e-3, "slot_s": 9e-6}
    longer = wifi.saturation_utilization(5, payload_s=2e-3, success_s=1e-3, **given)
    assert np.isnan(longer)
    # derived: without pauses and collisions the medium carries nothing else
    same = {"payload_s": 1e-3, "success_s": 1e-3, "collision_s": 0.0, "slot_s": 0.0}
    assert wifi.saturation_utilization(5, **same) == pytest.approx(1.0, rel=1e-12)


def chain(collision, window, stages):
    """Second method: the two-dimensional chain of backoff, its balance as linear equations."""
    states = [(i, k) for i in range(stages + 1) for k in range(window * 2**i)]
    index = {state: number for number, state in enumerate(states)}
    moves = np.zeros((len(states), len(states)))
    for i, k in states:
        if k:
            moves[index[i, k], index[i, k - 1]] = 1.0
            continue
        onward = min(i + 1, stages)
        for next_k in range(window * 2**onward):
            moves[index[i, 0], index[onward, next_k]] += collision / (window * 2**onward)
        for next_k in range(window):
            moves[index[i, 0], index[0, next_k]] += (1 - collision) / window
    balance = np.vstack([moves.T - np.eye(len(states)), np.ones(len(states))])
    shares = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    return sum(shares[index[i, 0]] for i in range(stages + 1))


@pytest.mark.each(("stations", "window", "stages"), [(1, 8, 3), (2, 8, 3), (5, 4, 2), (20, 2, 4)])
def test_attempts_are_those_of_the_chain(stations, window, stages):
    attempt = float(wifi.attempt_ratio(stations, window_slots=window, stage_count=stages))
    collision = float(wifi.collision_ratio(stations, window_slots=window, stage_count=stages))
    assert collision == pytest.approx(1 - (1 - attempt) ** (stations - 1), rel=1e-12)
    assert attempt == pytest.approx(chain(collision, window, stages), rel=1e-9)


@pytest.mark.each("stations", [1, 2, 3, 10, 50, 1000])
@pytest.mark.each(("window", "stages"), [(1, 0), (16, 6), (32, 0), (32, 3), (128, 3), (1024, 1)])
def test_fixed_point_with_many_digits(stations, window, stages):
    """Second method: mpmath's search for the root of equations 7 and 9."""

    def excess(attempt):
        p = 1 - (1 - attempt) ** (stations - 1)
        grown = sum((2 * p) ** i for i in range(stages))
        return attempt * (1 + window + p * window * grown) - 2

    with mp.workdps(40):
        exact = mp.findroot(excess, (mp.mpf(10) ** -12, mp.mpf(1)), solver="anderson", tol=1e-30)
    found = wifi.attempt_ratio(stations, window_slots=window, stage_count=stages)
    assert found == pytest.approx(float(exact), rel=1e-9)


# Published: Bianchi 2000, table II (FHSS): bits at 1 Mbit/s, and times in us
FHSS = {"payload": 8184, "header": 128 + 272, "ack": 112 + 128, "delay": 1, "slot": 50,
        "sifs": 28, "difs": 128}  # fmt: skip


def fhss_times():
    """Return payload, success, collision and slot of basic access, in us."""
    t = FHSS
    frame = t["header"] + t["payload"]
    success = frame + t["sifs"] + t["delay"] + t["ack"] + t["difs"] + t["delay"]
    return t["payload"], success, frame + t["difs"] + t["delay"], t["slot"]


def simulated(stations, window, stages, slots=60_000, seed=4):
    """Second method: stations with counters, slot by slot."""
    draws = np.random.default_rng(seed)
    payload, success, collision, slot = fhss_times()
    stage = np.zeros(stations, dtype=int)
    counter = draws.integers(0, window, size=stations)
    carried = time = 0.0
    for _ in range(slots):
        sending = counter == 0
        several = sending.sum()
        if several == 0:
            jump = int(counter.min())
            counter, time = counter - jump, time + jump * slot
            continue
        stage[sending] = 0 if several == 1 else np.minimum(stage[sending] + 1, stages)
        drawn = draws.integers(0, window * 2 ** stage[sending])
        # The others count the busy time as one slot, as in the chain.
        counter = np.where(sending, 0, counter - 1)
        counter[sending] = drawn
        carried += payload if several == 1 else 0
        time += success if several == 1 else collision
    return carried / time


@pytest.mark.slow
@pytest.mark.each(("stations", "window", "stages"), [(5, 32, 3), (10, 32, 3), (20, 32, 5)])
def test_saturation_against_a_simulation(stations, window, stages):
    """Derived: 60,000 steps; the chain takes collisions as independent, which costs 0.5 %."""
    payload, success, collision, slot = (us * 1e-6 for us in fhss_times())
    found = wifi.saturation_utilization(
        stations, payload_s=payload, success_s=success, collision_s=collision, slot_s=slot,
        window_slots=window, stage_count=stages,
    )  # fmt: skip
    frames = simulated(stations, window, stages)
    assert found == pytest.approx(frames, rel=0.006)


def test_stations_of_802_11a_share_by_the_same_law():
    """Identity: the general form with the times of that standard, and one station alone."""
    busy = 34e-6 + 248e-6 + 16e-6 + 28e-6
    utilization = wifi.saturation_utilization(
        12, payload_s=1e-4, success_s=busy, collision_s=busy, slot_s=9e-6
    )
    found = wifi.saturation_throughput_bps(12, packet_bytes=1500, bandwidth_bps=54e6)
    assert found == pytest.approx(float(utilization) / 1e-4 * 12_000, rel=1e-12)
    alone = wifi.saturation_throughput_bps(1, packet_bytes=1500, bandwidth_bps=54e6)
    plain = wifi.ofdm_throughput_bps(1500, bandwidth_bps=54e6)
    assert alone == pytest.approx(float(plain), rel=1e-9), "the mean backoff of 7.5 slots"
    assert not math.isnan(found)
