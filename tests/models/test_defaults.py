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
inner_header_bytes ip_option_bytes latency_s linear_count mbuf_s phase_s previous_rtt_slope
processing_s program_s server_s source_processing_s stuffing_ratio switch_latency_s tag_count
tcp_option_bytes wait_s within_s write_gap_s
"""
NO_LIMIT = "bandwidth_bps max_window_bytes max_window_packets max_window_segments peak_bps"
ONE = """
checksum_count copy_count data_mbuf_count flow_count handshake_round_trips increase_packets
packet_count port_count scale service_s weight
"""
NO = "at_most_14 count_lost fcs nat_traversal nodelay quickack"
YES = "nagle same_size_reply"

# A name stands for all formulas, subject.name or subject.formula.name for those that differ
VALUES = {
    # TCP: RFC 5681 3.1 and 4.2, RFC 6928 2, RFC 6298 2.1, 2.4 and 2.5, RFC 5348 3.1,
    # RFC 9438 4 and 5
    "initial_window_segments": 10, "short_transfers.static_transfer_s.initial_window_segments": 1,
    "growth": 2, "segments_per_ack": 2, "tfrc.segments_per_ack": 1,
    "forwarding.segments_per_ack": 1, "sharing.segments_per_ack": 1,
    "decrease_factor": 0.5, "cubic.decrease_factor": 0.7,
    "sharing.cubic_utilization.decrease_factor": 0.7,
    "cubic_scale": 0.4, "initial_rto_s": 1, "rto_s": 1, "syn_timeout_s": 1, "min_rto_s": 1,
    "max_rto_s": 60, "timers.last_retransmission_s.max_rto_s": math.inf,
    "timers.give_up_s.max_rto_s": math.inf,
    "timeout_rtts": 4, "sequence_space_bytes": 2**32, "window_bytes": 65535,
    "constant": math.sqrt(3 / 2), "reno_constant": math.sqrt(3 / 2),
    # Linux: TCP_DELACK_MIN is 40 ms; a heartbeat of 4.4BSD is 200 ms, on the average 100
    "delayed_ack_s": 0.04, "cardwell.delayed_ack_s": 0.1, "period_s": 0.2,
    "tick_s": 0.004, "tick_count": 10,
    # BBR (draft-cardwell-iccrg-bbr-congestion-control)
    "probe_gain": 1.25, "window_gain": 2, "probe_rtt_s": 0.2, "probe_rtt_interval_s": 10,
    # RFC 9000 8.1 and 14.1: a first datagram of 1200 bytes
    "client_bytes": 1200,
    # Ethernet: IEEE 802.3, 3.1 and 4.4.2; IPv4 of RFC 791 and ICMP of RFC 792; TCP of RFC 9293
    "mtu_bytes": 1500, "host_stack.mtu_bytes": 1536, "min_frame_bytes": 64, "overhead_bytes": 20,
    "ip_version": 4, "mss_bytes": 1460, "mbufs.mss_bytes": 1448, "link_bytes": 18,
    "latency.header_bytes": 20 + 8, "voice.header_bytes": 20 + 8 + 12,
    "mbufs.header_bytes": 20 + 20,
    "mbufs.datagram_mbufs.header_bytes": 20 + 8, "short_transfers.header_bytes": 20 + 20,
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
    # What a published router test added to all goodputs; a millisecond of a mix of paths
    "discarded_ratio": 1 - 0.95,  # the 95th percentile
    "offset_bps": 6e6, "tolerance_s": 0.001,
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
