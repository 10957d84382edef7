"""Formulas of TCP against other methods, at the end of their published range and beyond it.

Each range is read from the docstring. Inside it the stated error bounds the approximation, outside
it does not.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from netcalc import checks
from netcalc.errors import doubts
from netcalc.models.tcp import (
    ceilings,
    ecn,
    handshakes,
    loss_limited,
    pftk,
    policer,
    sharing,
    short_transfers,
    slow_start,
    transfer_time,
    window,
)
from netcalc.models.tcp.cubic import cubic_throughput_bps


def limit(function, name, end=0):
    """Return an end of a published range: 0 where it begins, 1 where it ends."""
    return checks.published_ranges(function)[name][end]


def names(function, *arguments, **keywords):
    """Return what is noted to lie outside its range."""
    with doubts() as found:
        function(*arguments, **keywords)
    return [doubt.values.get("name") for doubt in found if "limit" in doubt.values]


def test_the_square_root_law_up_to_one_percent():
    """Second method: PFTK with its timeouts, at 50 to 200 ms and Linux's timer."""

    def worst(loss):
        errors = []
        for rtt_s in (0.05, 0.1, 0.2):
            timed = {"rtt_s": rtt_s, "rto_s": rtt_s + 0.2, "segments_per_ack": 1}
            with doubts():
                law = loss_limited.mathis_throughput_bps(loss, mss_bytes=1460, rtt_s=rtt_s)
            errors.append(law / 11680 / pftk.pftk_throughput_pps(loss, **timed) - 1.0)
        return max(errors)

    most = limit(loss_limited.mathis_throughput_bps, "loss_ratio", 1)
    assert worst(0.1 * most) < worst(most) < 0.22 < worst(2 * most) < 0.38


def test_the_approximate_form_of_pftk():
    def worst(loss):
        errors = []
        for rtt_s in (0.01, 0.05, 0.1, 0.2):
            for acked in (1, 2):
                timed = {"rtt_s": rtt_s, "rto_s": rtt_s + 0.2, "segments_per_ack": acked}
                with doubts():
                    found = pftk.pftk_approx_rate_pps(loss, **timed)
                errors.append(abs(found / pftk.pftk_rate_pps(loss, **timed) - 1.0))
        return max(errors)

    most = limit(pftk.pftk_approx_rate_pps, "loss_ratio", 1)
    assert worst(0.1 * most) < 0.025
    assert worst(most) < 0.025 < worst(1.5 * most) < worst(5 * most)


def test_the_area_under_the_sawtooth():
    """Derived: the windows of a period one by one, from a half of the peak on."""

    def error(peak):
        with doubts():
            return sharing.sawtooth_packets(peak) / sum(range(peak // 2, peak)) - 1.0

    least = int(limit(sharing.sawtooth_packets, "peak_window_packets"))
    assert error(1000) < error(least) < 0.035 < error(16) < error(10) < 0.072


def test_the_swing_of_dctcp():
    """Second method: equation 6 of the paper solved for the share of marks, not approximated."""

    def error(packets):
        marks = brentq(
            lambda a: a * a * (1 - a / 4) - (2 * packets + 1) / (packets + 1) ** 2, 0.0, 2.0
        )
        with doubts():
            found = ecn.dctcp_amplitude_packets(3, bdp_packets=3 * packets, threshold_packets=0)
        return 1.0 - found / (3 * (packets + 1) * marks / 2)

    least = limit(ecn.dctcp_amplitude_packets, "window_packets")
    assert error(5 * least) < error(least) < 0.08 < error(0.5 * least) < 0.121


def test_a_window_of_few_packets():
    """Second method: the serialization of a packet counted in the round trip."""

    def error(packets):
        """On a path that holds a number of full frames, with one of them as the window."""
        rate, frame = 1e8, 1518.0
        rtt_s = packets * 8 * frame / rate
        with doubts():
            found = window.throughput_bps(frame, rtt_s=rtt_s, bandwidth_bps=rate)
        exact = window.serialized_throughput_bps(
            1, packet_bytes=frame, bandwidth_bps=rate, base_rtt_s=rtt_s
        )
        return found / exact - 1.0

    least = limit(window.throughput_bps, "bdp_bytes") / 1518
    assert error(10 * least) < error(least) < 0.1001 < error(0.5 * least)
    path = {"rtt_s": 1e-3, "bandwidth_bps": 1e8}  # holds 12.5 kB
    assert names(window.throughput_bps, 3000, **path) == ["bdp_bytes"]
    assert names(window.throughput_bps, 65535, **path) == [], "the line"
    assert names(window.throughput_bps, 65535, rtt_s=0.1) == [], "no line"


def test_a_handshake_that_gives_up():
    """Derived: the mean over the attempts of Linux, one and six retries, of those that succeed."""

    def error(loss):
        chances = [loss**tries * (1.0 - loss) for tries in range(7)]
        waits = [2.0**tries - 1.0 for tries in range(7)]
        exact = sum(p * t for p, t in zip(chances, waits, strict=True)) / sum(chances)
        given = {"forward_loss_ratio": loss, "reverse_loss_ratio": 0.0, "syn_timeout_s": 1.0}
        with doubts():
            return short_transfers.handshake_s(0.0, **given) / exact - 1.0

    most = limit(short_transfers.handshake_s, "forward_loss_ratio", 1)
    assert error(0.5 * most) < error(most) < 0.024 < error(0.3) < 0.07


def test_growth_by_a_half_is_a_round_off():
    """Second method: whole segments and whole acknowledgements."""
    most = limit(slow_start.rounds, "segments", 1)
    counts = np.unique(np.geomspace(1, most, 150).astype(int))
    for first in (2, 3, 4, 10):
        whole = slow_start.rounds_delayed_ack(
            counts, initial_window_segments=first, segments_per_ack=2
        )
        real = slow_start.rounds(counts, initial_window_segments=first, growth=1.5)
        assert np.abs(whole - real).max() <= 1.0
    # published: RFC 7323, 65,535 bytes shifted by 14; windows of 10, 20, ... sum up to twice it
    assert 2 * 65535 * 2**14 / 1460 > most > 0.9 * 2 * 65535 * 2**14 / 1460
    assert names(slow_start.rounds, 2e6) == ["segments"]


def policed(packets, bucket, cuts=40, warm=10):
    """Return the loss, and the throughput over the token rate, packet by packet.

    A sender of AIMD spreads its window over a round trip, adds a segment in each, and halves it a
    round trip after a loss; what is lost until a round trip later belongs to the same loss.
    """
    size, tokens, now, cut = packets * 2 / 3, bucket, 0.0, 0
    react_at = deaf_until = math.inf
    deaf_until = 0.0
    sent = lost = 0
    start = 0.0
    while cut < cuts:
        gap = 1.0 / size
        now += gap
        if now >= react_at:
            size, react_at, deaf_until, cut = max(1.0, size / 2), math.inf, now + 1.0, cut + 1
            if cut == warm:
                sent, lost, start = 0, 0, now
        tokens = min(bucket, tokens + packets * gap)
        sent += 1
        if tokens >= 1.0:
            tokens -= 1.0
        else:
            lost += 1
            if react_at == math.inf and now >= deaf_until:
                react_at = now + 1.0
        if react_at == math.inf:
            size += 1.0 / size
    return lost / sent, (sent - lost) / (now - start) / packets


def policer_errors(packets, share):
    bucket = max(1.0, share * packets)
    loss, throughput = policed(packets, bucket)
    path = {"token_bps": packets * 11680 / 0.1, "rtt_s": 0.1, "mss_bytes": 1460}
    with doubts() as found:
        formula_loss = policer.policed_loss_ratio(1460 * bucket, **path)
        rate = policer.policed_throughput_bps(1460 * bucket, **path)
    return (
        abs(formula_loss / loss - 1.0),
        abs(rate / path["token_bps"] / throughput - 1.0),
        len(found),
    )


def test_a_policer_packet_by_packet():
    least = int(limit(policer.policed_loss_ratio, "window_packets"))
    for packets in (least, 40, 85):
        for share in (0.1, 0.5, 1.0, 2.0):
            loss, rate, notes = policer_errors(packets, share)
            assert loss < 0.12, (packets, share)
            assert rate < 0.03, (packets, share)
            assert notes == 0
    loss, rate, notes = policer_errors(least // 2, 0.1)
    assert loss > 0.12
    assert 0.03 < rate < 0.22
    assert notes == 2


def test_a_page_beyond_its_first_window():
    """Derived: the rounds of slow start for what comes at once; one is in the formula."""
    most = limit(handshakes.page_load_s, "flight_bytes", 1)
    path = {"rtt_s": 0.1, "bandwidth_bps": 1e9, "http": "2", "page_bytes": 1000}
    for size in (0.5 * most, most, 2 * most):
        more = slow_start.rounds(math.ceil(size / 1460)) - 1.0
        assert (more == 0.0) == (size <= most)
        assert (names(handshakes.page_load_s, 1, object_bytes=size, **path) == []) == (more == 0.0)
    # ten objects on one connection come at once, and one by one on connections of their own
    assert names(handshakes.page_load_s, 10, object_bytes=0.2 * most, **path) == ["flight_bytes"]
    path["http"] = "1.1"
    assert names(handshakes.page_load_s, 10, object_bytes=0.2 * most, **path) == []
    # a path that holds less than a first window is full at once
    path |= {"bandwidth_bps": 1e6}
    assert names(handshakes.page_load_s, 1, object_bytes=1e6, **path) == []


PATH = {"bandwidth_bps": 1e9, "rtt_s": 0.04}


def transfer_of_rounds(segments, loss, rule, rng):
    """Return the time to send segments round by round, with a chance of loss for each.

    Slow start until the first loss or a full buffer of a product; then a segment a round trip, or
    RFC 9438's curve with its Reno-friendly floor. A window below four waits for the timer.
    """
    rtt_s, clock_s = PATH["rtt_s"], 1538 * 8 / PATH["bandwidth_bps"]
    full = rtt_s / clock_s
    size, friendly, peak, since_s, time_s = 10.0, 10.0, 0.0, 0.0, 0.0
    until_loss = rng.geometric(loss)
    while True:
        sent = max(1, min(int(size), math.ceil(segments)))
        if sent >= segments and until_loss > sent:
            return time_s + sent * clock_s
        round_s = max(rtt_s, sent * clock_s)
        time_s, since_s, segments = time_s + round_s, since_s + round_s, segments - sent
        if until_loss > sent:
            until_loss -= sent
            if peak == 0.0:
                size = min(2.0 * size, 2.0 * full)
            elif rule == "reno":
                size = min(size + 1.0, 2.0 * full)
            else:
                friendly += 3 * 0.3 / 1.7 if friendly < peak else 1.0
                plateau_s = (0.3 * peak / 0.4) ** (1 / 3)
                curve = 0.4 * (since_s + rtt_s - plateau_s) ** 3 + peak
                size = min(max(curve, friendly, size), 1.5 * sent, 2.0 * full)
            continue
        while until_loss <= sent:
            until_loss, segments = until_loss + rng.geometric(loss), segments + 1
        until_loss -= sent
        if size < 4.0:
            time_s += rtt_s + 0.2
        peak, since_s = float(sent), 0.0
        size = friendly = max(1.0, (0.5 if rule == "reno" else 0.7) * sent)


def transfer_error(losses, rule, loss=1e-3, draws=0):
    """Return by how much the model is too long where so many losses are expected."""
    rng = np.random.default_rng(3)
    segments = losses / loss
    draws = draws or int(min(300, max(12, 1200 / losses)))
    times = [transfer_of_rounds(segments, loss, rule, rng) for _ in range(draws)]
    with doubts() as found:
        model = transfer_time.transfer_time_s(
            segments * 1448, loss_ratio=loss, congestion_control=rule, **PATH
        )
    # the handshake before, and half a round trip behind
    return model / (np.mean(times) + 1.5 * PATH["rtt_s"]) - 1.0, [doubt.code for doubt in found]


def test_a_transfer_of_few_losses():
    """Measured: seeded draws, whose means are right to some percent."""
    least = limit(transfer_time.transfer_time_s, "loss_count")
    for losses in (0.1, 0.25):
        for rule in ("reno", "cubic"):
            error, codes = transfer_error(losses, rule)
            assert abs(error) < 0.1
            assert codes == []
    for rule, inside, at_30, at_3 in (("reno", 0.1, 0.15, 2.0), ("cubic", 0.2, 0.4, 3.5)):
        error, codes = transfer_error(least, rule)
        assert abs(error) < inside
        assert codes == []
        error, codes = transfer_error(30, rule)
        assert 0.05 < error < at_30
        assert codes == ["few-losses"]
        for loss in (1e-3, 1e-4):
            error, codes = transfer_error(3, rule, loss)
            assert inside < error < at_3
            assert codes == ["few-losses"]


def test_few_losses_that_do_not_limit_are_silent():
    slow = {"bandwidth_bps": 1e6, "rtt_s": 0.01}
    assert names(transfer_time.transfer_time_s, 1e7, loss_ratio=1e-3, **slow) == []
    bbr = {"loss_ratio": 1e-3, "congestion_control": "bbr"}
    assert names(transfer_time.transfer_time_s, 1e7, **PATH, **bbr) == []
    assert names(transfer_time.transfer_time_s, 1e7, **PATH) == []


@pytest.mark.each(
    ("loss", "rule", "said"),
    [
        (0.009, "cubic", []),
        (0.02, "cubic", [("used-beyond-published-range", "cubic_throughput_bps")]),
        (0.02, "reno", []),
        (0.22, "reno", [("used-beyond-published-range", "pftk_throughput_pps")]),
        (0.15, "bbr", []),
        (0.25, "bbr", [("beyond-loss-tolerance", None)]),
    ],
)
def test_a_transfer_passes_on_the_range_of_its_rate(loss, rule, said):
    """Identity: one range a formula of a rate."""
    given = {"loss_ratio": loss, "congestion_control": rule}
    with doubts() as found:
        transfer_time.transfer_time_s(1e10, **PATH, **given)
    assert [(doubt.code, doubt.values.get("formula")) for doubt in found] == said
    with doubts() as found:
        ceilings.congestion_limit_bps(loss, rtt_s=0.04, congestion_control=rule)
    assert [(doubt.code, doubt.values.get("formula")) for doubt in found] == said
    if rule == "cubic":
        alone = names(cubic_throughput_bps, loss, packet_bytes=1500, rtt_s=0.04)
        assert alone == ["loss_ratio"] * len(said)
