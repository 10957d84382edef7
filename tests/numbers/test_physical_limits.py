"""No answer beyond a physical limit goes out without a word: padded, noted, nan or refused."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from netcalc import calculator
from netcalc.errors import DomainError, DoubtWarning, doubts

G = {"bandwidth_bps": 1e9}
BITS_64 = 8 * (64 + 8 + 12)
"""Of the smallest frame on the wire: IEEE 802.3, with preamble, start delimiter and gap."""


def noted(name, first, **others):
    """Return the answer of a formula, and the codes of its notes."""
    with doubts() as found:
        result = calculator.formula(name).function(first, **others)
    return result, [doubt.code for doubt in found]


# derived: bit times of whole frames of 64 bytes, which no shorter frame undercuts
PADDED = [
    ("frame-rate", 58, G, 1e9 / BITS_64),
    ("frame-rate", 1, G, 1e9 / BITS_64),
    ("frame-rate", 0, G, 1e9 / BITS_64),
    ("required-bandwidth", 1e6, {"frame_bytes": 40}, 1e6 * BITS_64),
    ("frame-throughput", 40, G, 1e9 * 8 * 64 / BITS_64),
    ("forwarding-rate", 46, {"device_pps": 1e7, **G}, 1e9 / BITS_64),
    ("switch-rate", 46, {"port_bps": [1e9], "port_count": [24]}, 24e9 / BITS_64),
    ("mix-mean-frame", [40, 570, 1518], {"weight": [7, 4, 1]}, (7 * 64 + 4 * 570 + 1518) / 12),
    ("mix-rate", [40, 570, 1518], {"weight": [7, 4, 1], **G},
     12e9 / (7 * BITS_64 + 4 * 8 * 590 + 8 * 1538)),
    ("affine-rate", 40, {"packet_cost": 0.0, "byte_cost": 1e-9}, 1 / 64e-9),
    ("constant-offset-rate", 0.0, {"frame_bytes": 40, "offset_bps": 6e6}, 6e6 / BITS_64),
    ("device-byte-cost", 1e4, {"frame_bytes": 40, "other_rate_pps": 5e3, "other_frame_bytes": 164},
     1e-4 / 100),
    ("device-packet-cost", 1e4,
     {"frame_bytes": 40, "other_rate_pps": 5e3, "other_frame_bytes": 164}, 1e-4 - 64e-6),
    ("cut-through", 40, {"bandwidth_bps": [1e9, 1e9], "header_bytes": 14},
     8 * (64 + 14) / 1e9),
]  # fmt: skip


@pytest.mark.each(("name", "first", "others", "expected"), PADDED)
def test_frames_are_padded_with_a_note(name, first, others, expected):
    found, codes = noted(name, first, **others)
    assert found == pytest.approx(expected)
    # one of them is for full frames only, which is noted besides
    assert [code for code in codes if code != "below-published-range"] == ["frame-padded"]
    # identity: on a medium without a smallest frame, none is padded, and nothing is said
    bare, codes = noted(name, first, **others, min_frame_bytes=0)
    assert bare != pytest.approx(expected)
    assert [code for code in codes if code != "below-published-range"] == []


def test_rates_that_are_published():
    # published: RFC 2544 appendix B, 148,809 at 100 Mbit/s; data sheets of 24 ports: 35.71 Mpps
    assert noted("frame-rate", 58, **G)[0] == pytest.approx(1_488_095, abs=1)
    assert noted("switch-rate", 46, port_bps=1e9, port_count=24)[0] == pytest.approx(
        35.714e6, abs=500
    )


def test_every_formula_of_an_ethernet_frame_pads_it():
    named = {"frame_bytes", "other_frame_bytes"}
    without = [
        name
        for name, formula in calculator.formulas().items()
        if named & {p.name for p in formula.parameters}
        and "min_frame_bytes" not in {p.name for p in formula.parameters}
    ]
    assert without == [
        "serial_lines.pos_frame_rate_pps",  # no Ethernet: SONET has no smallest
        "loss_limited.frame_error_ratio", "loss_limited.bit_error_limit_ratio",  # of any medium
        "wifi.ofdm_frame_s", "wifi.dsss_frame_s",  # Wi-Fi
    ]  # fmt: skip


def test_a_padded_array_is_noted_once_and_keeps_nan():
    with pytest.warns() as caught:
        found = calculator.formula("frame-rate").function([40, np.nan, 1518], **G)
    assert [type(one.message).__name__ for one in caught] == ["NotFiniteWarning", "DoubtWarning"]
    assert found == pytest.approx([1e9 / BITS_64, np.nan, 1e9 / 12304], nan_ok=True)


def test_a_device_faster_than_the_link_never_limits():
    found, _ = noted("crossover-frame", 2e6, **G)
    assert math.isnan(found)
    # derived: at 1.488 Mpps the link sends frames of 64 bytes
    assert noted("crossover-frame", 1e9 / BITS_64, **G)[0] == pytest.approx(64)
    assert noted("crossover-frame", 2e6, **G, min_frame_bytes=0)[0] == pytest.approx(42.5)


CUBIC_PACKETS = (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * (0.1 / 1e-9) ** 0.75
NOTED = [
    # derived: 1.6e6 x 672 bit, 2e6 x 672 bit, of 1e9
    ("line-utilization", 1.6e6, {"frame_bytes": 58, **G}, 1.0752,
     ["frame-padded", "more-than-the-line"]),
    ("line-utilization", 2e6, {"frame_bytes": 64, **G}, 1.344, ["more-than-the-line"]),
    # derived: 2^31 bytes each 50 ms; TCP ends at 65,535 x 2^14 (RFC 7323, 2.3)
    ("throughput", 2**31, {"rtt_s": 0.05}, 8 * 2**31 / 0.05, ["window-above-tcp"]),
    ("throughput", 65_535 * 2**14, {"rtt_s": 0.05}, 8 * 65_535 * 2**14 / 0.05, []),
    # definition, RFC 6349 section 4.1 and 4.3
    ("transfer-time-factor", 5.0, {"ideal_s": 8.0}, 0.625, ["measured-below-ideal"]),
    ("transfer-time-factor", 8.0, {"ideal_s": 8.0}, 1.0, []),
    ("buffer-delay-factor", 0.02, {"base_rtt_s": 0.03}, -1 / 3, ["measured-below-base"]),
    ("buffer-delay-factor", 0.03, {"base_rtt_s": 0.03}, 0.0, []),
    # derived: 1500 in 16s, 1504, and 60 of IPv4, UDP and WireGuard
    ("tunnel-packet", 1500, {"stack": "wireguard4"}, 1564, ["tunnel-above-mtu"]),
    ("tunnel-packet", 1440, {"stack": "wireguard4"}, 1500, []),
    # derived: 0.6 x 3 / 1 of what remains of three links
    ("failure-utilization", 0.6, {"link_count": 3, "failed_count": 2}, 1.8,
     ["more-than-the-line"]),
    ("failure-utilization", 0.6, {"link_count": 3}, 0.9, []),
    # derived: 2^31 bytes are 1,470,881 segments of 1460, 18 doublings of ten (2^18 = 262,144)
    ("window-growth", 2**31, {"rtt_s": 0.05, "mss_bytes": 1460}, 0.9, ["window-above-tcp"]),
    ("window.connection-count", 4e9, {"window_bytes": 2**31}, 2, ["window-above-tcp"]),
    # derived: laws, each in a window of TCP (65,535 x 2^14 B) and above it
    ("mathis-throughput", 1e-12, {"mss_bytes": 1460, "rtt_s": 0.01},
     8 * 1460 / 0.01 * 1.5**0.5 * 1e6, ["window-above-tcp"]),
    ("mathis-throughput", 1e-11, {"mss_bytes": 1460, "rtt_s": 0.01},
     8 * 1460 / 0.01 * 1.5**0.5 * 10**5.5, []),
    ("mathis-loss-ratio", 1e12, {"mss_bytes": 1460, "rtt_s": 0.01},
     1.5 * (8 * 1460 / 0.01 / 1e12) ** 2, ["window-above-tcp"]),
    ("mathis-loss-ratio", 8e11, {"mss_bytes": 1460, "rtt_s": 0.01},
     1.5 * (8 * 1460 / 0.01 / 8e11) ** 2, []),
    # RFC 9438, eq. 6: (C (3 + b) / (4 (1 - b)) (RTT / p)^3)^(1/4) packets: 1.58 and 0.998 GB
    ("cubic-throughput", 1e-9, {"packet_bytes": 1500, "rtt_s": 0.1},
     CUBIC_PACKETS * 12_000 / 0.1, ["window-above-tcp"]),
    ("cubic-throughput", 1.847e-9, {"packet_bytes": 1500, "rtt_s": 0.1},
     CUBIC_PACKETS * 1.847**-0.75 * 12_000 / 0.1, []),
    ("congestion-limit", 1e-9, {"mss_bytes": 1500, "rtt_s": 0.1},
     CUBIC_PACKETS * 12_000 / 0.1, ["window-above-tcp"]),
    ("congestion-limit", 1e-9, {"mss_bytes": 1500, "rtt_s": 0.1, "flow_count": 2},
     2 * CUBIC_PACKETS * 12_000 / 0.1, ["window-above-tcp"]),
    ("bbr-throughput", 0.0, {"rtt_s": 1.0, "bandwidth_bps": 9e9, "mss_bytes": 1460}, 9e9,
     ["window-above-tcp"]),
    ("bbr-throughput", 0.0, {"rtt_s": 1.0, "bandwidth_bps": 8e9, "mss_bytes": 1460}, 8e9, []),
    ("policed-throughput", 1e15, {"token_bps": 9e9, "rtt_s": 1.0, "mss_bytes": 1460}, 9e9,
     ["window-above-tcp"]),
    # derived: 1e7 flows of 100 B, on the wire with 90 of headers, after one round trip and a half
    ("transfer-time", 1e9, {"bandwidth_bps": 1e9, "rtt_s": 0.01, "flow_count": 1e7},
     0.01 + 1e7 * 8 * (100 + 90) / 1e9 + 0.005, ["flows-below-segment"]),
    # derived: 1e6 / (1 + 1e5) B
    ("shared-queue", 1e6, {"queue_count": 1e5}, 1e6 / (1 + 1e5), ["queue-below-frame"]),
    ("shared-queue", 1e6, {"queue_count": 1e4}, 1e6 / (1 + 1e4), []),
    # derived: frames of 9,216 B of IP with two tags are 9,242 B, the wire 20 more
    ("frame-rate", 20_000, G, 1e9 / 8 / 20_020, ["frame-above-jumbo"]),
    ("frame-rate", 9_242, G, 1e9 / 8 / 9_262, []),
    ("frame-rate", 9_243, G, 1e9 / 8 / 9_263, ["frame-above-jumbo"]),
    ("ethernet-wire", 9_225, {}, 9_225 + 38, ["frame-above-jumbo"]),
    ("ethernet-wire", 9_216, {"tag_count": 2}, 9_216 + 46, []),
    ("captured-frame", 9_239, {}, 9_243, ["frame-above-jumbo"]),
    ("captured-wire", 9_238, {}, 9_262, []),
    # derived: 200 x 200 + 1.2 x 100; (40,120 - 1.2 x 100) / 200
    ("access-node-bandwidth", 200, {"mean_bps": 2e8, "sold_bps": 1e8}, 40.12e9,
     ["mean-above-sold"]),
    ("access-node-bandwidth", 200, {"mean_bps": 1e8, "sold_bps": 1e8}, 20.12e9, []),
    ("access-node-subscriber-count", 40.12e9, {"mean_bps": 2e8, "sold_bps": 1e8}, 200,
     ["mean-above-sold"]),
    # derived: a busy hour of a day of equal hours has 1/24 of it
    ("busy-hour-bps", 3600 / 8 * 1e6, {"busy_hour_ratio": 0.02}, 2e4, ["below-published-range"]),
    ("busy-hour-bps", 3600 / 8 * 1e6, {"busy_hour_ratio": 1 / 24}, 1e6 / 24, []),
    # published: PCI Express 3.0 has 8 GT/s a lane, 128 of 130 bits are data; no link of 3 lanes
    ("pcie-link", 3, {}, 3 * 8e9 * 128 / 130, ["not-of-standard"]),
    ("pcie-link", 12, {}, 12 * 8e9 * 128 / 130, []),
    # derived: 20 us and 4 for each of 64 symbols of 212 bits that 12,310 bits fill, 59 of 212
    ("ofdm-frame", 1536, {"bandwidth_bps": 53e6}, 20e-6 + 4e-6 * 59, ["not-of-standard"]),
    ("ofdm-frame", 1536, {"bandwidth_bps": 54e6}, 20e-6 + 4e-6 * 57, []),
    ("dsss-frame", 1375, {"bandwidth_bps": 54e6}, 192e-6 + 11_000 / 54e6, ["not-of-standard"]),
    ("dsss-frame", 1375, {"bandwidth_bps": 5.5e6}, 192e-6 + 2e-3, []),
]  # fmt: skip


@pytest.mark.each(("name", "first", "others", "expected", "codes"), NOTED)
def test_doubtful_answers_have_a_note(name, first, others, expected, codes):
    found, said = noted(name, first, **others)
    assert found == pytest.approx(expected)
    assert said == codes


@pytest.mark.each(
    "name",
    ["pftk-rate", "pftk-throughput", "pftk-approx-rate"],
)
def test_a_timeout_below_the_round_trip_is_noted(name):
    limits = {"rtt_s": 0.1, "max_window_packets": 30}
    assert "timeout-below-round-trip" in noted(name, 0.01, rto_s=0.01, **limits)[1]
    assert "timeout-below-round-trip" not in noted(name, 0.01, rto_s=0.2, **limits)[1]


def test_the_whole_loss_for_a_rate_of_nothing_is_noted():
    assert noted("cubic-loss", 1.0, packet_bytes=1500, rtt_s=0.1)[1] == ["beyond-published-range"]
    assert noted("tfrc-loss", 1.0, mss_bytes=1460, rtt_s=0.1)[1] == ["beyond-published-range"]


def test_more_payload_than_wire_is_no_rate():
    for name in ("payload-throughput", "header-bandwidth"):
        assert math.isnan(noted(name, 1500, wire_bytes=1000, **G)[0])
    assert math.isnan(noted("goodput-wire", 1e6, payload_bytes=1500, wire_bytes=1000)[0])
    assert noted("payload-throughput", 1000, wire_bytes=1000, **G)[0] == 1e9  # identity


@pytest.mark.each(
    ("name", "first", "others"),
    [
        ("tcp-goodput-ratio", 70_000, {}),
        ("tcp_goodput_bps", 65_536, G),
        ("udp_goodput_bps", 65_536, G),
        ("echo-rtt", 100_000, {"base_rtt_s": 1e-3, **G}),
        ("ethernet-frame", 65_536, {}),
        ("esp-payload", 65_536, {}),
        ("tunnel-packet", 65_536, {"stack": "vxlan4"}),
    ],
)
def test_packets_end_where_ip_ends(name, first, others):
    with pytest.raises(DomainError) as error:
        noted(name, first, **others)
    assert error.value.code == "above-maximum"


def test_nothing_is_sent_in_less_than_a_round_trip():
    assert noted("slow-start", 1, rtt_s=0.05)[0] >= 0.05
    assert noted("lossy-transfer", 5, rtt_s=0.1, loss_ratio=0.0, delayed_ack_s=0.0)[0] >= 0.1


@pytest.mark.each(
    ("name", "first", "others", "argument"),
    [
        ("slow_start.rounds", 100.5, {}, "segments"),
        ("rounds-delayed-ack", 100.5, {}, "segments"),
        ("datagram-loss", 0.01, {"fragments": 1.5}, "fragments"),
        ("buffer-rule", 1e9, {"rtt_s": 0.1, "flow_count": 2.5}, "flow_count"),
        ("switch-rate", 64, {"port_bps": 1e9, "port_count": 2.5}, "port_count"),
        ("delivered-goodput", 2.5, {"lost_count": 0, "write_bytes": 1, "elapsed_s": 1},
         "write_count"),
        ("max-window", 2.5, {}, "shift"),
        ("first-byte", 0.1, {"extra_round_trips": 0.5}, "extra_round_trips"),
        ("esp-packet", 542.7, {}, "payload_bytes"),
        ("esp-payload", 1499.5, {}, "mtu_bytes"),
        ("wireguard-packet", 99.5, {}, "packet_bytes"),
        ("atm-cell-count", 99.5, {}, "packet_bytes"),
        ("tunnel-packet", 99.5, {"stack": "vxlan4"}, "packet_bytes"),
    ],
)  # fmt: skip
def test_counts_and_padded_sizes_are_whole(name, first, others, argument):
    with pytest.raises(DomainError) as error:
        noted(name, first, **others)
    assert error.value.code == "not-whole"
    assert error.value.name == argument


def test_what_a_model_computes_may_have_a_part():
    # identity: 14,601 bytes are eleven segments of 1460, two rounds of ten and twenty
    found, _ = noted("certificate-round-trips", 14_601, mss_bytes=1460)
    assert found == 1.0


def test_mean_sizes_stay_possible_where_nothing_is_padded():
    assert noted("frame-rate", 353.83, **G)[0] == pytest.approx(1e9 / 8 / 373.83)  # derived


def test_python_warns_at_the_line_that_calls():
    rate = calculator.formula("frame-rate").function
    with pytest.warns(DoubtWarning) as caught:
        rate(58, **G)
    assert [one.filename for one in caught] == [__file__]


def run(*arguments):
    command = [sys.executable, "-m", "netcalc", "calc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.each(
    ("line", "printed", "said"),
    [
        ("frame-rate 58B --bandwidth 1Gbit/s", "1.488 Mpps", "padded to 64 B"),
        ("switch-rate 46B --port 1Gbit/s --port-count 24", "35.71 Mpps", "padded to 64 B"),
        ("crossover-frame 2Mpps --bandwidth 1Gbit/s", "not defined", "never limits"),
        ("required-bandwidth 1Mpps --frame 40B", "672 Mbit/s", "padded to 64 B"),
        ("line-utilization 1.6Mpps --frame 58B --bandwidth 1Gbit/s", "107.5%", "more than it can"),
        ("frame-rate --solve frame --for 2Mpps --bandwidth 1Gbit/s", "no solution", ""),
    ],
)
def test_the_command_says_it(line, printed, said):
    found = run(*line.split())
    assert printed in found.stdout
    assert said in found.stderr


def test_a_sweep_has_the_note_and_whole_bytes():
    line = "frame-rate --bandwidth 1Gbit/s --sweep frame=1B:100B:8 --json"
    found = json.loads(run(*line.split()).stdout)
    assert found["values"] == [1, 15, 29, 43, 58, 72, 86, 100]  # derived: steps of 99/7
    assert max(found["result"]) == pytest.approx(1e9 / BITS_64)
    assert "padded to 64 B" in found["note"]
    line = "esp-packet --sweep payload=500B:600B:8 --json"
    found = json.loads(run(*line.split()).stdout)
    assert all(value == round(value) for value in found["values"])


@pytest.mark.each(
    ("name", "first", "others", "value", "limit"),
    [
        # published: RFC 7323, 2.3: 65,535 x 2^14; a GiB is 2^14 more
        ("throughput", 2**30, {"rtt_s": 0.05}, 2**30, 65_535 * 2**14),
        ("throughput", [1.0, 2**31, 2**30], {"rtt_s": 0.05}, 2**31, 65_535 * 2**14),
        ("handshake", 0.1, {"forward_loss_ratio": 0.1, "reverse_loss_ratio": 0,
                            "syn_timeout_s": 0.03}, 0.03, 0.1),
        ("timers.rto", [0.1, 0.3], {"rttvar_s": 0.0, "max_rto_s": 0.2}, 0.2, 0.3),
        ("transfer-time-factor", [9.0, 5.0], {"ideal_s": 8.0}, 5.0, 8.0),
        ("access-node-bandwidth", 200, {"mean_bps": [1e8, 3e8], "sold_bps": 2e8}, 3e8, 2e8),
    ],
)  # fmt: skip
def test_a_note_has_both_numbers(name, first, others, value, limit):
    with doubts() as found:
        calculator.formula(name).function(first, **others)
    (doubt,) = found
    assert (doubt.values["value"], doubt.values["limit"]) == (value, limit)


def test_what_is_left_of_a_law_is_judged():
    """Derived: 1500 B in 1538 on the line, 1448 of them payload: 1.18 and 0.94 GB in a second."""
    codes = ["window-above-tcp"]
    small = {"bandwidth_bps": 1e9, "rtt_s": 1.0}
    for name, first, others, said in (
        ("path-ceilings", 1e10, {"rtt_s": 1.0}, codes),
        ("path-ceilings", 8e9, {"rtt_s": 1.0}, []),
        ("path-ceilings", 1e10, {"rtt_s": 1.0, "flow_count": 2}, []),
        ("path-ceilings", 1e10, {"rtt_s": 1.0, "window_bytes": 1e6}, []),
        ("transfer-time", 1e12, {"bandwidth_bps": 1e10, "rtt_s": 1.0}, codes),
        ("transfer-time", 1e9, {"bandwidth_bps": 1e10, "rtt_s": 1.0}, []),  # all of it is less
        ("congestion-controls", 1e-12, {**small, "rtt_s": 0.01}, []),  # the line limits all
        ("congestion-controls", 0.0, {"bandwidth_bps": 9e9, "rtt_s": 1.0}, codes),
    ):
        assert noted(name, first, **others)[1] == said, (name, first, others)
    # of several numbers the highest is judged, and no loss is no limit
    found = noted("mathis-throughput", [0.0, 1e-12, 0.01], mss_bytes=1460, rtt_s=0.01)
    assert "window-above-tcp" in found[1]


@pytest.mark.each(
    ("name", "given", "code"),
    [
        ("frame-rate", {"frame": "64.5 B", "bandwidth": "1 Gbit/s"}, "size-as-mean"),
        ("captured-wire", {"captured": "444.7 B"}, "size-as-mean"),
        ("frame-rate", {"frame": "64 B", "bandwidth": "1 Gbit/s"}, None),
        # what is filled up, and what a device is set to, is no mean
        ("ofdm-frame", {"frame": "64.5 B", "bandwidth": "54 Mbit/s"}, "not-whole"),
        ("ofdm-throughput", {"packet": "64.5 B", "bandwidth": "54 Mbit/s"}, "not-whole"),
        ("saturation-throughput", {"station_count": "2", "packet": "64.5 B",
                                   "bandwidth": "54 Mbit/s"}, "not-whole"),
        ("wifi-aggregate", {"packet_count": "1", "packet": "64.5 B"}, "not-whole"),
        ("wifi-throughput", {"packet_count": "1", "packet": "64.5 B"}, "not-whole"),
        ("ptm-wire", {"packet": "64.5 B"}, "not-whole"),
        ("tunnel-packet", {"packet": "64.5 B", "stack": "gre"}, "not-whole"),
        ("tunnel-mtu", {"mtu": "1500.7 B", "stack": "vxlan4"}, "not-whole"),
        ("tcp-goodput", {"mtu": "1500.7 B", "bandwidth": "1 Gbit/s"}, "not-whole"),
    ],
)  # fmt: skip
def test_a_part_of_a_byte_is_a_mean_or_refused(name, given, code):
    """Definition: an average of sizes has a fraction; a size, an MTU and a padded one has none."""
    wanted = calculator.formula(name)
    arguments = wanted.arguments(given)
    if code == "not-whole":
        with pytest.raises(DomainError) as refused:
            wanted.answer(arguments)
        assert refused.value.code == code
    else:
        assert [one.code for one in wanted.answer(arguments)[1]] == ([code] if code else [])
