"""Wi-Fi with aggregation: published rates, and an exchange written out in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, doubts
from netcalc.models.media import wifi

# Published: the tables of IEEE 802.11 (clauses 19.5, 21.5, 27.5), in Mbit/s
RATES = [
    ("802.11n", 0, 20, 1, 0.8, 6.5), ("802.11n", 7, 20, 1, 0.8, 65.0),
    ("802.11n", 7, 20, 1, 0.4, 72.2), ("802.11n", 7, 40, 1, 0.4, 150.0),
    ("802.11n", 7, 40, 4, 0.4, 600.0), ("802.11ac", 0, 80, 1, 0.8, 29.3),
    ("802.11ac", 8, 20, 1, 0.8, 78.0), ("802.11ac", 9, 80, 1, 0.4, 433.3),
    ("802.11ac", 9, 80, 3, 0.4, 1300.0), ("802.11ac", 9, 160, 8, 0.4, 6933.3),
    ("802.11ax", 0, 20, 1, 3.2, 7.3), ("802.11ax", 0, 20, 1, 0.8, 8.6),
    ("802.11ax", 11, 20, 1, 0.8, 143.4), ("802.11ax", 11, 40, 1, 0.8, 286.8),
    ("802.11ax", 11, 160, 1, 0.8, 1201.0), ("802.11ax", 11, 160, 8, 0.8, 9607.8),
]  # fmt: skip


@pytest.mark.each(("standard", "mcs", "mhz", "streams", "guard", "mbps"), RATES)
def test_published_rates(standard, mcs, mhz, streams, guard, mbps):
    found = wifi.wifi_rate_bps(
        mcs, channel_hz=mhz * 1e6, stream_count=streams, guard_s=guard * 1e-6, standard=standard
    )
    assert found / 1e6 == pytest.approx(mbps, abs=0.051)


def test_what_a_standard_does_not_have_is_refused():
    with pytest.raises(DomainError, match="mcs must be from 0 to 7"):
        wifi.wifi_rate_bps(8, standard="802.11n", channel_hz=20e6)
    with pytest.raises(DomainError, match="channel_hz"):
        wifi.wifi_rate_bps(7, standard="802.11n", channel_hz=80e6)
    with pytest.raises(DomainError, match="stream_count must be from 1 to 4"):
        wifi.wifi_rate_bps(7, standard="802.11n", channel_hz=20e6, stream_count=5)


def test_combinations_that_802_11ac_leaves_out():
    """Derived in 20 MHz: a symbol has whole bits. Published (802.11-2016, 21.5) for the others."""
    streams = np.arange(1, 9)
    subcarriers = {20: 52, 40: 108, 80: 234, 160: 468}
    five_sixths = {7: 6, 9: 8}  # bits of a subcarrier, of which 5 of 6 are data
    others = {(80, 6, 3), (80, 6, 7), (80, 9, 6), (160, 9, 3)}
    for mhz, carriers in subcarriers.items():
        for mcs in range(10):
            found = wifi.wifi_rate_bps(mcs, channel_hz=mhz * 1e6, stream_count=streams)
            whole = [
                mcs not in five_sixths or carriers * five_sixths[mcs] * 5 * int(n) % 6 == 0
                for n in streams
            ]
            there = [
                one and (mhz, mcs, n) not in others for one, n in zip(whole, streams, strict=True)
            ]
            assert np.isfinite(found).tolist() == there, (mhz, mcs)
    assert np.isnan(wifi.wifi_throughput_bps(1, packet_bytes=1500, channel_hz=20e6))


def test_a_guard_that_a_standard_does_not_have_is_noted():
    for standard, guard, is_noted in (
        ("802.11ac", 0.4e-6, False), ("802.11ac", 0.8e-6, False), ("802.11ac", 1.6e-6, True),
        ("802.11ax", 0.4e-6, True), ("802.11ax", 3.2e-6, False),
    ):  # fmt: skip
        with doubts() as found:
            wifi.wifi_rate_bps(5, guard_s=guard, standard=standard)
        assert [one.code for one in found] == ["not-of-standard"] * is_noted, (standard, guard)


@pytest.mark.each(("mcs", "answer_mbps"), [(0, 6), (1, 12), (2, 12), (3, 24), (9, 24)])
def test_a_block_acknowledgement_is_not_faster_than_the_data(mcs, answer_mbps):
    """Published rule: 802.11-2016, 10.7.6.5.4: BPSK is answered at 6, QPSK at 12 Mbit/s."""
    given = {"packet_bytes": 1500, "mcs": mcs, "channel_hz": 40e6}
    found = wifi.wifi_throughput_bps(2, **given)
    assert found == wifi.wifi_throughput_bps(2, **given, ack_bps=answer_mbps * 1e6)


def exchange_us(packets, size, bits, symbol_us, preamble_us, bitmap):
    """Second method: an exchange in tenths of a microsecond and whole symbols."""
    inside = 0
    for _ in range(packets):
        inside += 4 + size + 38
        inside += -inside % 4
    symbols = -(-(22 + 8 * inside) // bits)
    tenths = symbols * round(10 * symbol_us)
    if symbol_us <= 4:  # published: IEEE 802.11-2016, 19.4.3 and 21.4.3: n, ac end on 4 us
        tenths += -tenths % 40
    answer = 20 + 4 * -(-(22 + 8 * (24 + bitmap)) // 96)
    return 43 + 7.5 * 9 + preamble_us + tenths / 10 + 16 + answer


@pytest.mark.each("packets", [1, 2, 16, 64])
@pytest.mark.each("size", [60, 1500, 1501])
@pytest.mark.each(
    ("standard", "mcs", "mhz", "streams", "guard", "bits", "symbol", "preamble"),
    [
        # HT: 32 + 4, 260 bits; VHT: 36 + 2 * 4, 2 * 1560 bits; HE: 36 + 2 * 7.2, 2 * 1950 bits
        ("802.11n", 7, 20, 1, 0.4, 260, 3.6, 36.0),
        ("802.11ac", 9, 80, 2, 0.4, 3120, 3.6, 44.0),
        ("802.11ax", 11, 20, 2, 0.8, 3900, 13.6, 50.4),
    ],
)
def test_throughput_written_out(
    packets, size, standard, mcs, mhz, streams, guard, bits, symbol, preamble
):
    found = wifi.wifi_throughput_bps(
        packets, packet_bytes=size, mcs=mcs, channel_hz=mhz * 1e6, stream_count=streams,
        guard_s=guard * 1e-6, standard=standard,
    )  # fmt: skip
    time = exchange_us(packets, size, bits, symbol, preamble, 8)
    if standard == "802.11n" and packets * (size + 42) > 65_535:
        assert np.isnan(found), "802.11n has aggregates of at most 65,535 bytes"
    else:
        assert found / 1e6 == pytest.approx(8 * packets * size / time, rel=1e-9)


def test_short_symbols_end_on_a_multiple_of_4_us():
    """Derived by hand: 16 x 1544 B are 64 symbols of 3120 bits, 230.4 us, so 232."""
    given = {"packet_bytes": 1500, "stream_count": 2, "mcs": 9}
    exchange = 43 + 67.5 + 44 + 232 + 16 + 32
    found = wifi.wifi_throughput_bps(16, **given, guard_s=0.4e-6)
    assert found / 1e6 == pytest.approx(16 * 12_000 / exchange, rel=1e-12)
    long = wifi.wifi_throughput_bps(16, **given)  # 64 of 4 us: nothing to round
    assert long / 1e6 == pytest.approx(16 * 12_000 / (exchange + 256 - 232), rel=1e-12)


def test_the_reason_that_holds_is_said():
    """Published limits: IEEE 802.11-2016, 9.7.1, table 9-19 and 21.3.19 (aPPDUMaxTime)."""
    for count, others, expected in (
        (65, {}, ("above-standard", "packet_count", 64)),
        (64, {"mcs": 0}, ("above-standard", "airtime_s", 5.484e-3)),
        (64, {"mcs": 7, "standard": "802.11n", "channel_hz": 40e6},
         ("above-standard", "aggregate_bytes", 65_535)),
        (2, {"channel_hz": 20e6}, ("rate-left-out", "mcs", 1)),
        ([2, 65], {}, ("above-standard", "packet_count", 64)),
    ):  # fmt: skip
        with doubts() as found:
            wifi.wifi_throughput_bps(count, packet_bytes=1500, **others)
        said = [(one.code, one.values.get("name"), one.values.get("limit")) for one in found]
        assert said == [expected]


def test_a_scheme_of_802_11n_with_its_streams_is_translated():
    """Published: IEEE 802.11-2016, 19.5: MCS 8 k + m is scheme m with k + 1 streams."""
    for mcs, own, streams in ((8, 0, 2), (15, 7, 2), (31, 7, 4)):
        with pytest.raises(DomainError, match=f"a stream count of {streams}") as refused:
            wifi.wifi_rate_bps(mcs, standard="802.11n", channel_hz=20e6)
        assert (refused.value.values["own"], refused.value.values["streams"]) == (own, streams)
    for mcs, standard in ((32, "802.11n"), (15, "802.11ac")):
        with pytest.raises(DomainError) as refused:
            wifi.wifi_rate_bps(mcs, standard=standard, channel_hz=20e6)
        assert refused.value.code == "out-of-range"


def test_limits_of_an_aggregate():
    """Published: 64 packets, with 802.11ax 256; 5.484 ms."""
    channel = {"packet_bytes": 1500, "guard_s": 0.8e-6, "channel_hz": 80e6}
    assert np.isnan(wifi.wifi_throughput_bps(65, mcs=9, **channel))
    newer = {**channel, "standard": "802.11ax", "mcs": 11}
    assert np.isfinite(wifi.wifi_throughput_bps(256, **newer))
    assert np.isnan(wifi.wifi_throughput_bps(257, **newer))
    assert np.isnan(wifi.wifi_throughput_bps(64, **{**channel, "mcs": 0})), "27 ms"


def test_size_of_an_aggregate():
    """Derived: each MPDU by itself, filled to a multiple of 4."""
    for size in range(60, 70):
        inside = 4 + size + 26 + 4 + 8
        inside += -inside % 4
        assert wifi.wifi_aggregate_bytes(5, packet_bytes=size) == 5 * inside


# Published: IEEE 802.11-2016, 19.5 and 21.5 (802.11n, ac), IEEE 802.11ax-2021, 27.5: one stream
LADDERS = [
    ("802.11n", 20, 0.8, "6.5 13 19.5 26 39 52 58.5 65"),
    ("802.11n", 40, 0.8, "13.5 27 40.5 54 81 108 121.5 135"),
    ("802.11ac", 80, 0.8, "29.3 58.5 87.8 117 175.5 234 263.3 292.5 351 390"),
    ("802.11ac", 160, 0.4, "65 130 195 260 390 520 585 650 780 866.7"),
    ("802.11ax", 20, 0.8, "8.6 17.2 25.8 34.4 51.6 68.8 77.4 86 103.2 114.7 129 143.4"),
    ("802.11ax", 80, 0.8, "36 72.1 108.1 144.1 216.2 288.2 324.3 360.3 432.4 480.4 540.4 600.5"),
]


@pytest.mark.each(("standard", "mhz", "guard", "rates"), LADDERS)
def test_every_scheme_has_its_published_rate(standard, mhz, guard, rates):
    printed = [float(rate) for rate in rates.split()]
    found = wifi.wifi_rate_bps(
        range(len(printed)), channel_hz=mhz * 1e6, guard_s=guard * 1e-6, standard=standard
    )
    np.testing.assert_allclose(found / 1e6, printed, atol=0.051)


@pytest.mark.each(
    ("streams", "fields"),
    # published: IEEE 802.11-2016, table 21-13, long training fields by streams
    [(1, 1), (2, 2), (3, 4), (4, 4), (5, 6), (6, 6), (7, 8), (8, 8)],
)
def test_training_fields_by_streams(streams, fields):
    """Second method: an exchange of 802.11ac in 40 MHz, scheme 4: 324 bits of each stream."""
    found = wifi.wifi_throughput_bps(
        8, packet_bytes=1000, mcs=4, channel_hz=40e6, stream_count=streams
    )
    time = exchange_us(8, 1000, 324 * streams, 4.0, 36 + 4 * fields, 8)
    assert found / 1e6 == pytest.approx(64_000 / time, rel=1e-9)


def test_more_than_64_packets_have_a_longer_acknowledgement():
    """Second method: a bitmap of 32 bytes from the 65th packet on (802.11ax), of 8 below."""
    given = {"packet_bytes": 200, "standard": "802.11ax", "mcs": 11, "channel_hz": 20e6}
    for packets, bitmap in ((64, 8), (65, 32)):
        found = wifi.wifi_throughput_bps(packets, **given)
        time = exchange_us(packets, 200, 1950, 13.6, 36 + 7.2, bitmap)
        assert found / 1e6 == pytest.approx(8 * packets * 200 / time, rel=1e-9)


def test_a_standard_that_is_not_known_is_refused():
    for model in (wifi.wifi_rate_bps, wifi.wifi_throughput_bps):
        with pytest.raises(DomainError, match="standard must be one of"):
            model(1, standard="802.11b", **({"packet_bytes": 1} if "thr" in model.__name__ else {}))
