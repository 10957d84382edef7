"""Defaults of the models, by the standard or system that they are those of."""

from __future__ import annotations

import inspect
import math

import pytest

from netcalc import calculator

# A term is left out, and a limit is none
NOTHING = """
outbound_bps
base_rtt_s byte_cost checksum_cost cluster_s connection_s control_count copy_cost csrc_count
destination_processing_s extension_bytes extra_bytes extra_round_trips granularity_s
inner_header_bytes ip_option_bytes latency_s linear_count mbuf_s message_gap_s phase_s
previous_rtt_slope processing_s program_s propagation_s server_s service_scv source_processing_s
stuffing_ratio switch_latency_s tag_count tcp_option_bytes think_s wait_s within_s write_gap_s
"""
NO_LIMIT = """
load_bps reverse_bandwidth_bps bandwidth_bps max_window_bytes max_window_packets
max_window_segments peak_bps
"""
ONE = """
checksum_count concurrent_count copy_count data_mbuf_count flow_count handshake_round_trips
increase_packets parallel_count
link_count message_count packet_count port_count scale service_s weight
"""
NO = "rts short_preamble at_most_14 count_lost fcs nat_traversal nodelay quickack"
YES = "nagle same_size_reply"

# A name stands for all formulas, subject.name or subject.formula.name for those that differ
VALUES = {
    # TCP: RFC 5681 3.1 and 4.2, RFC 6928 2, RFC 6298 2.1, 2.4 and 2.5, RFC 5348 3.1,
    # RFC 9438 4 and 5
    "initial_window_segments": 10, "short_transfers.static_transfer_s.initial_window_segments": 1,
    # A window grows by a segment for each that is acknowledged (RFC 3465, Linux); an
    # acknowledgement that is a packet covers two
    "growth": 2, "segments_per_ack": 2,
    **{f"{subject}.segments_per_ack": 1
       for subject in ("pftk", "short_transfers.slow_start_s", "short_transfers.lossy_transfer_s",
                       "sharing", "ceilings", "transfer_time")},
    "decrease_factor": 0.5, "cubic.decrease_factor": 0.7,
    "sharing.cubic_utilization.decrease_factor": 0.7,
    "cubic_scale": 0.4, "initial_rto_s": 1, "rto_s": 1, "syn_timeout_s": 1,
    # Linux: TCP_RTO_MIN and TCP_RTO_MAX; a doubled timeout is that of RFC 6298
    "min_rto_s": 0.2, "timers.rto_s.max_rto_s": 120, "timers.rto_estimate.max_rto_s": 120,
    "max_rto_s": 60, "timers.last_retransmission_s.max_rto_s": math.inf,
    "timers.give_up_s.max_rto_s": math.inf,
    "timeout_rtts": 4, "sequence_space_bytes": 2**32, "window_bytes": 65535,
    "constant": math.sqrt(3 / 2), "reno_constant": math.sqrt(3 / 2),
    # Linux: TCP_RTO_MIN is 200 ms; it counts bytes (RFC 3465)
    "ceilings.congestion_controls.min_rto_s": 0.2,
    # the rule of access nodes, 1.2 N of them at once; a tenth of a day's traffic in an hour
    "peak_factor": 1.2, "busy_hour_ratio": 0.1,
    # BBR: 1 - 1/1.25
    "loss_tolerance_ratio": 0.2,
    # Linux: TCP_DELACK_MIN is 40 ms; a heartbeat of 4.4BSD is 200 ms, on the average 100
    "delayed_ack_s": 0.04, "short_transfers.lossy_transfer_s.delayed_ack_s": 0.1, "period_s": 0.2,
    "tick_s": 0.004, "tick_count": 10,
    # BBR (draft-cardwell-iccrg-bbr-congestion-control)
    "probe_gain": 1.25, "window_gain": 2, "probe_rtt_s": 0.2, "probe_rtt_interval_s": 10,
    # RFC 9000 8.1 and 14.1: a first datagram of 1200 bytes
    "client_bytes": 1200,
    # Ethernet: IEEE 802.3, 3.1 and 4.4.2; IPv4 of RFC 791 and ICMP of RFC 792; TCP of RFC 9293
    "mtu_bytes": 1500, "host_stack.mtu_bytes": 1536, "min_frame_bytes": 64, "overhead_bytes": 20,
    "ip_version": 4, "mss_bytes": 1460, "mbufs.mss_bytes": 1448, "link_bytes": 18,
    "ceilings.congestion_controls.mss_bytes": 1448,
    "ceilings.mss_bytes": 1448, "cubic.packet_bytes": 1460,  # of a segment, for goodput
    # Timestamps, as Linux, FreeBSD and macOS send them: RFC 7323, appendix A
    "goodput.tcp_option_bytes": 12, "encapsulation.tunnel_goodput_bps.tcp_option_bytes": 12,
    **{f"{subject}.{name}": value for subject in ("ceilings", "transfer_time")
       for name, value in {"tcp_option_bytes": 12, "link_bytes": 38, "window_bytes": math.inf,
                           "loss_ratio": 0}.items()},
    "latency.header_bytes": 20 + 8, "voice.header_bytes": 20 + 8 + 12,
    "mbufs.header_bytes": 20 + 20,
    "mbufs.datagram_mbufs.header_bytes": 20 + 8, "short_transfers.header_bytes": 20 + 20 + 38,
    "store_and_forward.cut_through_s.header_bytes": 6 + 6 + 2, "store_and_forward.header_bytes": 0,
    # PPP: RFC 1662 3.1; ones are as frequent as zeros
    "flag_bytes": 2, "fcs_bytes": 2, "ones_ratio": 0.5,
    # WireGuard: 1500 less 40 of IPv6, 8 of UDP, 16 + 16 of its own
    "device_mtu_bytes": 1500 - 40 - 8 - 32,
    # Voice: G.711 in 20 ms is 160 bytes (RFC 3551, 4.5.14)
    "interval_s": 0.02, "payload_bytes": 64000 * 0.02 / 8,
    # mbufs: 4.4BSD's 128 bytes, of which 20 are a header and 8 more that of a packet
    "mlen_bytes": 128 - 20, "mhlen_bytes": 128 - 20 - 8, "mcl_bytes": 2048, "minclsize_bytes": 208,
    "mbufs.freebsd_mbufs.minclsize_bytes": 169, "page_bytes": 4096, "align_bytes": 4,
    "max_linkhdr_bytes": 16, "max_hdr_bytes": 16 + 40, "mbufs.freebsd_mbufs.max_hdr_bytes": 0,
    # Geostationary orbit; fibre of ITU-T G.652 at 1550 nm
    "altitude_m": 35_786_000, "refractive_index": 1.468, "speed_m_s": 299_792_458 / 1.468,
    # A link is full at all of its rate; a band of 90 %; a Julian year; the failure of one link
    "target_utilization": 1, "confidence_ratio": 0.9, "duration_s": 365.25 * 86400,
    "failed_count": 1,
    # One core; Linux's least timeout, in all blocks; a queue alone, of a burst none beside it
    "core_count": 1, "shared_buffer.rto_s": 0.2, "timeout_ratio": 1, "alpha": 1,
    "queue_count": 1, "shared_buffer.shared_buffer_burst_bytes.queue_count": 0,
    # PCI Express: what most hosts and network cards negotiate
    "max_payload_bytes": 256, "max_read_bytes": 512,
    # A binary signal; browsers open six connections to a server
    "level_count": 2, "connection_count": 6, "handshakes.page_bytes": 0,
    # IEEE 802.11: CWmin of OFDM and of 802.11b, windows of 16 slots that double six times, the
    # highest mandatory rates of answers, one stream with a long guard interval in 80 MHz
    "contention_window": 15, "wifi.dsss_throughput_bps.contention_window": 31,
    "window_slots": 16, "stage_count": 6, "ack_bps": 1e6,
    "stream_count": 1, "guard_s": 0.8e-6, "channel_hz": 80e6, "mcs": 9,
    # VDSL2: Ethernet 18, PTM 4; HDLC of Cisco
    "access.overhead_bytes": 18 + 4, "access.header_bytes": 4,
    # What a published router test added to all goodputs; a millisecond of a mix of paths
    "discarded_ratio": 1 - 0.95,  # the 95th percentile
    "offset_bps": 6e6, "tolerance_s": 0.001,
    # a link without framing, such as T1
    "store_and_forward.overhead_bytes": 0, "store_and_forward.min_wire_bytes": 0,
}  # fmt: skip
SEVERAL = ((0, NOTHING), (math.inf, NO_LIMIT), (1, ONE), (False, NO), (True, YES))


def expected(formula, name):
    for key in (f"{formula.name}.{name}", f"{formula.subject}.{name}", name):
        if key in VALUES:
            return VALUES[key]
    return next(value for value, names in SEVERAL if name in names.split())


@pytest.mark.each("formula", calculator.formulas().values())
def test_the_default_of_a_number(formula):
    function = inspect.unwrap(formula.function)
    for parameter in inspect.signature(function).parameters.values():
        if isinstance(parameter.default, int | float):
            found = parameter.default
            assert found == pytest.approx(expected(formula, parameter.name), rel=1e-12), (
                formula.name, parameter.name,
            )  # fmt: skip
