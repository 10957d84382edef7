"""The least and the largest value of every argument, by what the argument is.

A number of things is whole; what an equation divides by is above 0; a share is from 0 to 1; a size
or a time is 0 or more; a few have limits of a standard. The first value outside is refused with its
name, the last one inside is taken.
"""

from __future__ import annotations

import math
import warnings

import pytest
from base_arguments import BASE

from netcalc import calculator
from netcalc.errors import DomainError

ANY = "any number"
FROM_0 = ("is-negative", [-1e-9, -1.0], [0.0, 0.3])
ABOVE_0 = ("not-positive", [0.0, -1.0], [1e-3, 0.3])
EITHER = (("is-negative", "not-positive"), [-1e-9, -1.0], [1.0])
"""0 is the idle or the perfect case of some formulas, and a divisor in others."""
FROM_1 = ("below-minimum", [0.0, 1 - 1e-9], [1.0, 1.3])
WHOLE = ("not-whole", [-1.0, 0.5, 1.5], [0.0, 1.0, 2.0])
COUNT = ("not-whole", [0.0, 0.5, 1.5], [1.0, 2.0])
SHARE = (("out-of-range", "percent-for-ratio"), [-1e-9, 1 + 1e-9, 2.0], [0.3, 1.0])
FACTOR = ("out-of-range", [-1e-9, 1 + 1e-9], [0.3, 0.7])

KINDS = [
    (ANY, (
        "arrival_s deviation ip_version phase_s previous_rtt_slope rtt_slope"
    )),
    (FROM_0, (
        "bdp_packets call_count dispersion holding_s off_s peak_factor peak_pps sold_bps "
        "source_erlang threshold_packets "
        "altitude_m arrival_scv bdp_bytes bucket_bytes buffer_bdp buffer_bytes byte_cost "
        "captured_bytes certificate_bytes checksum_cost client_bytes cluster_s "
        "connection_s copy_cost delayed_ack_s destination_processing_s "
        "dispersion_s distance_m duration_s extension_bytes extra_bytes "
        "fcs_bytes flag_bytes frame_bytes goodput_bps granularity_s "
        "header_bits inbound_bps input_bps latency_s link_bytes mbuf_s "
        "message_bits min_frame_bytes min_rto_s offset_bps other_frame_bytes outbound_bps "
        "output_bps overhead_bytes packet_cost probe_rtt_s program_s retransmitted_bytes "
        "rttvar_s scale server_s service_scv sojourn_s source_processing_s srtt_s syn_timeout_s "
        "tolerance_s traffic_bytes transfer_s unacked_bytes utilization wait_s within_s "
        "write_bytes write_gap_s"
    )),
    (ABOVE_0, (
        "largest_bytes on_s patience_s reserved_bps service_bps "
        "ack_wire_bytes bandwidth_bps capacity_bps codec_bps constant cubic_scale cycle_s "
        "device_pps ideal_s increase_packets initial_rto_s interval_s max_rto_s "
        "max_window_bytes max_window_packets max_window_segments message_bytes mss_bytes "
        "other_rate_pps peak_bps probe_rtt_interval_s reno_constant reverse_bandwidth_bps rto_s "
        "segment_bytes sequence_space_bytes service_s speed_m_s timeout_rtts token_bps "
        "transmitted_bytes window_gain"
    )),
    (EITHER, (
        "mean_bps user_bps "
        "base_rtt_s elapsed_s packet_bytes payload_bytes peak_window_packets period_s rate_pps "
        "rtt_s throughput_bps tick_s window_bytes window_packets wire_bytes"
    )),
    (FROM_1, "growth probe_gain refractive_index"),
    (WHOLE, (
        "active_count source_count subscriber_count user_count waiting_count "
        "channel_count checksum_count copy_count customer_count extra_round_trips "
        "handshake_round_trips inner_header_bytes ip_payload_bytes linear_count lost_count "
        "concurrent_count max_hdr_bytes max_linkhdr_bytes pair_count retry_count segments "
        "tag_count tick_count timeout_count write_count"
    )),
    (COUNT, (
        "align_bytes data_mbuf_count flow_count fragments link_count mcl_bytes mhlen_bytes "
        "minclsize_bytes mlen_bytes page_bytes place_count server_count"
    )),
    (SHARE, (
        "active_ratio bit_error_ratio busy_hour_ratio loss_tolerance_ratio "
        "blocking_ratio datagram_loss_ratio forward_loss_ratio loss_ratio ones_ratio quantile "
        "reverse_loss_ratio service_level_ratio stuffing_ratio"
    )),
    (FACTOR, "decrease_factor"),
    (
        (("out-of-range", "percent-for-ratio", "all-samples-discarded"), [-1e-9, 1.0, 2.0],
         [0.0, 0.3]),
        "discarded_ratio",
    ),
    # published: RFC 3550 (4 bits), RFC 791 and RFC 9293 (15 words less 20 bytes), RFC 7323 (14),
    # RFC 1662 (32 control characters), 299,792,458 m/s
    (("out-of-range", [-1.0, 16.0], [0.0, 15.0]), "csrc_count"),
    (("out-of-range", [-1.0, 41.0], [0.0, 40.0]), "ip_option_bytes tcp_option_bytes"),
    ((("out-of-range", "not-whole"), [-1.0, 0.5, 15.0], [0.0, 14.0]), "shift"),
    # padded: a fraction of a byte is not
    ((("is-negative", "not-whole"), [-1.0, 0.5], [0.0, 1.0]), "device_mtu_bytes"),
    (("out-of-range", [-1.0, 33.0], [0.0, 32.0]), "control_count"),
    # published: ITU-T G.707, one STM-1 is three STS-1: 1 or a multiple of 3
    ((("below-minimum", "not-whole", "not-a-multiple"), [0.0, 1.5, 2.0, 4.0], [1.0, 3.0]),
     "sts_count"),
    ((("is-negative", "out-of-range"), [-1.0], [0.0, 1.0]), "offered_erlang"),
    # growth and availability, processors, buses, switches, shared media, courses
    (ANY, "annual_increase_bps snr_db"),
    (("below-minimum", [-1.1, -2.0], [-1.0, 0.0, 3.0]), "annual_growth"),
    (FROM_0, (
        "burst_bytes collision_s guard_s object_bytes offered_attempts payload_s processing_s "
        "propagation_s repair_s slot_s think_s traffic_bps transfer_bytes upload_bps"
    )),
    (ABOVE_0, (
        "ack_bps alpha clock_hz download_bps earlier_traffic_bps max_payload_bytes "
        "disk_bytes load_bps max_read_bytes mtbf_s packet_cycles sender_bps serialization_s "
        "server_bps success_s trip_s"
    )),
    (EITHER, "channel_hz"),
    # collectives
    (FROM_0, "message_gap_s node_latency_s overhead_s"),
    (ABOVE_0, "chunk_bytes node_bandwidth_bps"),
    (COUNT, "message_count node_count node_rank_count rank_count"),
    (WHOLE, (
        "contention_window failed_count max_flow_count needed_count object_count queue_count "
        "sender_count stage_count unit_count"
    )),
    (COUNT, (
        "connection_count core_count lane_count level_count peer_count station_count stream_count "
        "disk_count parallel_count window_slots"
    )),
    # published: IEEE 802.11ac has the schemes 0 to 9
    ((("not-whole", "out-of-range"), [-1.0, 0.5, 10.0], [0.0, 9.0]), "mcs"),
    (SHARE, (
        "attempt_ratio availability_ratio confidence_ratio target_utilization timeout_ratio"
    )),
]  # fmt: skip
# Of the same name, yet another thing: headers that are laid out in memory, a train of two, ...
OTHERS = {
    ("mbufs.datagram_mbufs", "header_bytes"): WHOLE,
    ("mbufs.datagram_mbufs", "payload_bytes"): WHOLE,
    ("mbufs.stream_mbufs", "payload_bytes"): WHOLE,
    ("mbufs.stream_segments", "payload_bytes"): WHOLE,
    ("mbufs.segment_mbufs", "payload_bytes"): WHOLE,
    ("mbufs.segment_mbufs", "header_bytes"): WHOLE,
    ("mbufs.freebsd_mbufs", "payload_bytes"): WHOLE,
    ("host_stack.transaction_s", "payload_bytes"): WHOLE,
    ("host_stack.message_s", "packet_count"): WHOLE,
    ("store_and_forward.store_and_forward_s", "packet_count"): COUNT,
    ("probing.train_rate_bps", "packet_count"): ("not-whole", [1.0, 2.5], [2.0, 3.0]),
    ("erlang.erlang_b_ratio", "server_count"): WHOLE,  # without a line every call is lost
    ("erlang.engset_blocking_ratio", "server_count"): WHOLE,
    ("erlang.engset_time_ratio", "server_count"): WHOLE,
    ("erlang.multirate_blocking_ratio", "server_count"): WHOLE,
    ("loss_limited.bit_error_limit_ratio", "frame_bytes"): ABOVE_0,
    ("sharing.jain_one_deviating", "flow_count"): COUNT,
    ("ceilings.congestion_limit_bps", "flow_count"): COUNT,
    ("ceilings.path_ceilings", "flow_count"): COUNT,
    ("transfer_time.transfer_time_s", "flow_count"): COUNT,
    ("transfer_time.transfer_parts", "flow_count"): COUNT,
    ("short_transfers.slow_start_s", "segments"): FROM_0,  # means of many transfers
    ("short_transfers.slow_start_segments", "segments"): FROM_0,
    ("short_transfers.lossy_transfer_s", "segments"): FROM_0,
    ("short_transfers.sending_s", "segments"): FROM_0,  # the last one may be a part
    ("slow_start.rounds_delayed_ack", "initial_window_segments"): FROM_1,
    ("host_stack.delivered_goodput_bps", "elapsed_s"): ABOVE_0,
    ("handshakes.page_load_s", "page_bytes"): FROM_0,
    ("shared_buffer.shared_buffer_burst_bytes", "output_bps"): ABOVE_0,
    ("shared_buffer.absorbed_burst_bytes", "output_bps"): ABOVE_0,
    ("shared_buffer.incast_goodput_bps", "message_bytes"): FROM_0,
    ("shared_buffer.incast_goodput_bps", "rto_s"): FROM_0,
    ("bus_bandwidth.bus_bandwidth_bps", "duration_s"): ABOVE_0,
    ("access.request_grant_s", "interval_s"): FROM_0,
    ("access.request_grant_max_s", "interval_s"): FROM_0,
    ("channel.shannon_snr_db", "bandwidth_bps"): FROM_0,
    ("arq.go_back_n_utilization", "window_packets"): COUNT,
    ("arq.selective_repeat_utilization", "window_packets"): COUNT,
    ("wifi.wifi_aggregate_bytes", "packet_count"): COUNT,
    ("wifi.wifi_throughput_bps", "packet_count"): COUNT,
    ("random_access.slotted_aloha_stations_utilization", "station_count"): WHOLE,
    **{
        (f"hashing.{name}", "flow_count"): WHOLE
        for name in (
            "fullest_link_cdf",
            "fullest_link_flows",
            "fullest_link_percentile_flows",
            "fullest_link_approx_flows",
            "hashing_efficiency_ratio",
        )
    },
    ("goodput.ack_reverse_utilization", "segments_per_ack"): FROM_1,
    ("goodput.half_duplex_goodput_bps", "segments_per_ack"): FROM_1,
    ("forwarding.both_directions_pps", "segments_per_ack"): FROM_1,
    ("small_writes.heartbeat_wait_s", "period_s"): ABOVE_0,
    ("pftk.pftk_timeout_ratio", "window_packets"): ABOVE_0,
    ("window.connection_count", "window_bytes"): ABOVE_0,
    ("window.serialized_throughput_bps", "window_packets"): WHOLE,
    ("window.throughput_bps", "rtt_s"): ABOVE_0,
    ("latency.serialization_s", "wire_bytes"): FROM_0,
    ("latency.transfer_s", "payload_bytes"): FROM_0,
    ("framing.captured_tcp_payload_bytes", "captured_bytes"): ("is-negative", [-1.0], []),
}
BY_NAME = {name: kind for kind, names in KINDS for name in names.split()}
BY_NAME |= {"segments_per_ack": ABOVE_0, "initial_window_segments": ABOVE_0, "header_bytes": FROM_0}
# Another rule refuses these too: packets below their headers, an MTU below the least of IP.
BESIDES = {"mtu_bytes"}


def refusal(formula, name, value):
    """Return the code with which a value of this argument is refused, if it is."""
    arguments = BASE[formula.name]
    old = arguments.get(name)
    value = [value] * len(old) if isinstance(old, list) else value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            formula.function(**{**arguments, name: value})
        except DomainError as refused:
            return refused.code if refused.name == name else None
    return None


@pytest.mark.each("formula", calculator.formulas().values(), ids=lambda found: found.name)
def test_the_least_and_the_largest_value_of_each_argument(formula):
    for parameter in formula.parameters:
        name = parameter.name
        if parameter.kind != "number" or name in BESIDES:
            continue
        kind = OTHERS.get((formula.name, name)) or BY_NAME[name]
        if kind == ANY:
            assert refusal(formula, name, -1.0) in (None, "not-a-choice")
            continue
        codes, outside, inside = kind
        codes = (codes,) if isinstance(codes, str) else codes
        for value in outside:
            assert refusal(formula, name, value) in codes, f"{name} = {value}"
        for value in inside:
            assert refusal(formula, name, value) not in codes, f"{name} = {value}"


NAN = float("nan")
LISTS = {"bandwidth_bps": [1e6, 1e6, 1e6]}
# Two arguments that do not go together: the call, and what the refusal says, by hand.
TOGETHER = [
    ("host_stack.delivered_goodput_bps",
     {"write_count": [9.0, 5.0, NAN], "lost_count": [2.0, 7.0, 1.0]},
     ("above-argument", "lost_count", 7.0, {"other": "write_count"})),
    ("host_stack.two_point_costs", {"packet_count": [1.0, 2.0, 3.0]},
     ("wrong-count", "packet_count", None, {"count": 3, "expected": 2})),
    ("mbufs.datagram_mbufs", {"payload_bytes": [100, 65_510], "inner_header_bytes": 8},
     ("packet-too-long", "payload_bytes", 65_510.0, {"high": 65_535})),
    ("mbufs.stream_mbufs", {"minclsize_bytes": [100, 500], "mcl_bytes": 400},
     ("above-argument", "minclsize_bytes", 500.0, {"other": "mcl_bytes"})),
    ("mbufs.freebsd_mbufs", {"minclsize_bytes": 2049},
     ("above-argument", "minclsize_bytes", 2049.0, {"other": "mcl_bytes"})),
    ("small_writes.write_timeline", {"write_s": [0.0, 1.0, 2.0], "write_bytes": [5.0, 6.0]},
     ("wrong-count", "write_bytes", None, {"count": 2, "expected": 3})),
    ("small_writes.write_timeline", {"write_s": [0.0, 3.0, 2.0], "write_bytes": [5.0] * 3},
     ("not-ascending", "write_s", 2.0, {"index": 2})),
    ("small_writes.write_timeline",
     {"write_s": [0.0], "write_bytes": [100_001.0], "mss_bytes": 1.0},
     ("too-many-segments", "write_bytes", 100_001.0, {"high": 100_000})),
    ("sharing.max_min_network_bps", {"crossing_link": [0, 1]},
     ("wrong-count", "crossing_link", None, {"count": 2, "expected": 4})),
    ("sharing.max_min_network_bps", {"crossing_link": [0, 1, 0, 2]},
     ("out-of-range", "crossing_link", 2, {"low": 0, "high": 1})),
    ("sharing.max_min_network_bps", {"crossing_flow": [0, 0, 2, 3]},
     ("number-skipped", "crossing_flow", 1, {"high": 3})),
    ("sharing.max_min_network_bps", {"crossing_flow": [0, 0, NAN, 1]},
     ("not-finite", "crossing_flow", "nan", {})),
    ("window.efficiency_ratio",
     {"transmitted_bytes": [5.0, 9.0], "retransmitted_bytes": [6.0, 1.0]},
     ("above-argument", "retransmitted_bytes", 6.0, {"other": "transmitted_bytes"})),
    ("timers.rto_estimate", {"rtt_s": [0.1, 0.2], "retransmitted": [True]},
     ("wrong-count", "retransmitted", None, {"count": 1, "expected": 2})),
    ("store_and_forward.exchange_timeline", {"after": [-1, 0, 2, 1]},
     ("not-an-earlier-packet", "after", 2.0, {"packet": 2})),
    ("store_and_forward.exchange_timeline", {"wait_s": [0.0, 1.0]},
     ("wrong-count-or-one", "wait_s", None, {"count": 2, "expected": 4})),
    ("latency.path_mixes", {"rtt_s": NAN}, ("not-finite", "rtt_s", "nan", {})),
    ("latency.path_mixes", {"rtt_s": math.inf}, ("not-finite", "rtt_s", "inf", {})),
    ("latency.path_mixes", {"link_count": [2, math.inf]},
     ("not-finite", "link_count", "inf", {})),
    ("latency.path_mixes", {"bandwidth_bps": [1e6, -math.inf]},
     ("not-finite", "bandwidth_bps", "-inf", {})),
    ("store_and_forward.pipeline_timeline", {**LISTS, "latency_s": [0.1, 0.2]},
     ("wrong-count-or-one", "latency_s", None, {"count": 2, "expected": 3})),
    ("backlog.lindley_wait_s", {"interarrival_s": [1.0] * 3, "service_s": [1.0] * 2},
     ("wrong-count-or-one", "service_s", None, {"count": 2, "expected": 3})),
    ("queueing.packet_mix_scv", {"wire_bytes": [64.0, 1500.0], "weight": [1.0]},
     ("wrong-count", "weight", None, {"count": 1, "expected": 2})),
    ("queueing.packet_mix_scv", {"wire_bytes": [64.0, 1500.0], "weight": [0.0, 0.0]},
     ("all-zero", "weight", None, {})),
    ("line_rate.mix_mean_frame_bytes", {"frame_bytes": [64.0, 1500.0], "weight": [1.0]},
     ("wrong-count", "weight", None, {"count": 1, "expected": 2})),
    ("line_rate.mix_mean_frame_bytes", {"frame_bytes": [64.0], "weight": [0.0]},
     ("all-zero", "weight", None, {})),
    ("forwarding.switch_rate_pps", {"port_bps": [1e9] * 3, "port_count": [1.0, 2.0]},
     ("wrong-count", "port_count", None, {"count": 2, "expected": 3})),
    ("probing.rtt_intercept_s", {**LISTS, "latency_s": [0.1, 0.2]},
     ("wrong-count", "latency_s", None, {"count": 2, "expected": 3})),
    ("sample_statistics.theil_sen_slope", {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0]},
     ("wrong-count", "y", None, {"count": 2, "expected": 3})),
    # published: 65,535 bytes of a packet (RFC 791) less 20 of its header
    ("fragmentation.fragment_count", {"ip_payload_bytes": [65_515.0, 65_516.0]},
     ("packet-too-long", "ip_payload_bytes", 65_516.0, {"high": 65_535})),
    ("fragmentation.fragments_bytes", {"mtu_bytes": [1500.0, 576.0]},
     ("not-a-scalar", "mtu_bytes", [2], {})),
    ("fragmentation.fragments_bytes", {"mtu_bytes": NAN}, ("not-finite", "mtu_bytes", "nan", {})),
    # derived: 20 of IPv4, 20 of TCP
    ("framing.tcp_payload_bytes", {"mtu_bytes": [1500.0, 39.0]},
     ("below-headers", "mtu_bytes", 39.0, {"low": 40.0, "index": 1})),
    ("framing.udp_payload_bytes", {"mtu_bytes": 27.0},
     ("below-headers", "mtu_bytes", 27.0, {"low": 28.0, "index": None})),
    ("serial_lines.sonet_line_bps", {"sts_count": [1.0, 3.0, 4.0]},
     ("not-a-multiple", "sts_count", 4.0, {"factor": 3})),
]  # fmt: skip


@pytest.mark.each(("name", "changes", "said"), TOGETHER)
def test_what_does_not_go_together_is_refused_with_its_numbers(name, changes, said):
    code, argument, value, values = said
    formula = calculator.formulas()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DomainError) as refused:
            formula.function(**{**BASE[name], **changes})
    assert (refused.value.code, refused.value.name) == (code, argument)
    assert refused.value.value == value
    assert {key: refused.value.values[key] for key in values} == values
    assert argument in str(refused.value)
