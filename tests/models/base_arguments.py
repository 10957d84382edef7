"""Arguments at which every public model gives a number: where tests and benchmarks start from.

Only what has no default, or a default that switches a part of the formula off. A new model needs
an entry here, or ``test_grid.py`` fails.
"""

from __future__ import annotations

from typing import Any

PATH = [1e7, 1e6, 1e8]
LATENCIES = [0.001, 0.02, 0.003]
IMIX = {"frame_bytes": [64.0, 594.0, 1518.0], "weight": [7.0, 4.0, 1.0]}
WIRE_MIX = {"wire_bytes": [84.0, 614.0, 1538.0], "weight": [7.0, 4.0, 1.0]}
LOSSY = {"loss_ratio": 0.01, "rtt_s": 0.1}
PFTK = {**LOSSY, "rto_s": 0.4, "max_window_packets": 30.0}
PFTK_INVERSE = {"rate_pps": 50.0, "rtt_s": 0.1, "rto_s": 0.4, "max_window_packets": 30.0}
QUEUE = {"utilization": 0.8, "service_s": 0.001}
PLACES = {"utilization": 0.8, "place_count": 10}
CALLS = {"offered_erlang": 8.0, "server_count": 10}
WINDOW = {"segments": 100.0, "initial_window_segments": 10.0}
ACKS = {"ack_wire_bytes": 84.0, "mss_bytes": 1460.0}
BUCKET = {"bucket_bytes": 1e5, "token_bps": 1e6, "peak_bps": 1e7}
TRANSFER = {
    "payload_bytes": 1e6, "bandwidth_bps": 1e8, "rtt_s": 0.05, "loss_ratio": 0.001,
    "window_bytes": 2e5, "flow_count": 2,
}  # fmt: skip
MTU = {"mtu_bytes": 1500.0}
USERS = {"user_count": 120.0, "active_ratio": 0.1}
POLICER = {"token_bps": 1e7, "rtt_s": 0.1, "mss_bytes": 1460.0}
STACK = {"stack": "vxlan4+wireguard4"}
ARQ = {"loss_ratio": 0.01, "packet_bytes": 1500.0, "bandwidth_bps": 1e7, "rtt_s": 0.02}
ROUTING = {
    "from_node": [0, 0, 1],
    "to_node": [1, 2, 0],
    "routing_ratio": [0.5, 0.3, 0.2],
}
FILE = {"payload_bytes": 1e9, "server_bps": 3e7, "download_bps": 2e6}

COLLECTIVE = {"rank_count": 8, "latency_s": 5e-6, "bandwidth_bps": 4e11}
VECTOR = {"payload_bytes": 1e6, **COLLECTIVE}

BASE: dict[str, dict[str, Any]] = {
    "all_reduce.ring_allreduce_s": VECTOR,
    "all_reduce.double_tree_allreduce_s": VECTOR,
    "all_reduce.recursive_doubling_allreduce_s": VECTOR,
    "all_reduce.rabenseifner_allreduce_s": VECTOR,
    "all_reduce.hierarchical_allreduce_s": {
        "payload_bytes": 1e6, "node_count": 4, "node_rank_count": 8, "latency_s": 1e-5,
        "bandwidth_bps": 4e11, "node_latency_s": 2e-6, "node_bandwidth_bps": 3.6e12,
    },
    "all_reduce.ring_tree_crossover_bytes": COLLECTIVE,
    "broadcast.ring_allgather_s": VECTOR,
    "broadcast.recursive_doubling_allgather_s": VECTOR,
    "broadcast.binomial_broadcast_s": VECTOR,
    "broadcast.scatter_allgather_broadcast_s": VECTOR,
    "broadcast.pipelined_broadcast_s": {**VECTOR, "chunk_bytes": 65_536.0},
    "broadcast.loggp_message_s": {
        "payload_bytes": 1e6, "latency_s": 1e-6, "overhead_s": 3e-7, "bandwidth_bps": 4e11,
        "message_gap_s": 4e-7, "message_count": 3,
    },
    "bus_bandwidth.bus_bandwidth_bps": {
        "payload_bytes": 1e6, "duration_s": 1e-3, "rank_count": 8,
    },
    "bus_bandwidth.least_collective_s": {
        "payload_bytes": 1e6, "rank_count": 8, "bandwidth_bps": 4e11,
    },
    "bus_bandwidth.ring_half_rate_bytes": COLLECTIVE,
    "access.request_grant_s": {"interval_s": 2e-3, "propagation_s": 1e-4, "processing_s": 1e-3},
    "access.request_grant_max_s": {
        "interval_s": 2e-3, "propagation_s": 1e-4, "processing_s": 1e-3,
    },
    "access.ptm_wire_bytes": {"packet_bytes": 1500.0},
    "access.ppp_efficiency_ratio": {"packet_bytes": 1500.0, "stuffing_ratio": 0.01},
    "access.hdlc_efficiency_ratio": {"packet_bytes": 1500.0, "stuffing_ratio": 0.01},
    "wifi.wifi_rate_bps": {"mcs": 7, "channel_hz": 40e6},
    "wifi.wifi_aggregate_bytes": {"packet_count": 32, "packet_bytes": 1500.0},
    "wifi.wifi_throughput_bps": {"ack_bps": 24e6,
        "packet_count": 8, "packet_bytes": 1500.0, "mcs": 7, "channel_hz": 40e6,
    },
    "arq.stop_and_wait_loss_utilization": ARQ,
    "arq.go_back_n_utilization": {**ARQ, "window_packets": 20},
    "arq.selective_repeat_utilization": {**ARQ, "window_packets": 7},
    "asymmetry.ack_limited_throughput_bps": {"reverse_bandwidth_bps": 1e5, **ACKS},
    "asymmetry.ack_bandwidth_bps": {"goodput_bps": 1e7, **ACKS},
    "asymmetry.asymmetry_factor": {
        "bandwidth_bps": 1e7, "reverse_bandwidth_bps": 1e5, "wire_bytes": 1538.0,
        "ack_wire_bytes": 84.0,
    },
    "serial_lines.atm_overhead_bytes": {"encapsulation": "pppoe-llcsnap"},
    "serial_lines.atm_cell_count": {"packet_bytes": 1500.0},
    "serial_lines.atm_wire_bytes": {"packet_bytes": 1500.0},
    "serial_lines.atm_efficiency_ratio": {"packet_bytes": 1500.0},
    "serial_lines.atm_packet_rate_pps": {"packet_bytes": 1500.0, "bandwidth_bps": 1e6},
    "availability.availability_ratio": {"mtbf_s": 9e7, "repair_s": 14400.0},
    "availability.series_availability_ratio": {"availability_ratio": [0.999, 0.9995, 0.98]},
    "availability.parallel_availability_ratio": {"availability_ratio": [0.9, 0.95, 0.99]},
    "availability.k_of_n_availability_ratio": {
        "availability_ratio": 0.98, "needed_count": 3, "unit_count": 4,
    },
    "availability.downtime_s": {"availability_ratio": 0.999},
    "availability.failure_utilization": {"utilization": 0.6, "link_count": 3},
    "availability.failure_safe_utilization": {"link_count": 3, "target_utilization": 0.8},
    "backlog.lindley_wait_s": {"interarrival_s": [0.0, 1.0, 0.5, 2.0], "service_s": [1.0] * 4},
    "backlog.fluid_backlog_bytes": {"duration_s": 1.0, "input_bps": 2e6, "output_bps": 1e6},
    "backlog.fluid_fill_s": {"buffer_bytes": 1e5, "input_bps": 2e6, "output_bps": 1e6},
    "bbr.bbr_inflight_limit_bytes": {"bandwidth_bps": 1e8, "base_rtt_s": 0.05},
    "bbr.bbr_loss_tolerance_ratio": {},
    "bbr.bbr_mean_gain": {},
    "bbr.bbr_probe_rtt_ratio": {},
    "bbr.bbr_startup_rounds": {"bandwidth_bps": 1e8, "rtt_s": 0.05, "mss_bytes": 1460.0},
    "short_transfers.handshake_s": {
        "rtt_s": 0.1, "forward_loss_ratio": 0.02, "reverse_loss_ratio": 0.03,
    },
    "short_transfers.slow_start_segments": {"segments": 100.0, "loss_ratio": 0.01},
    "short_transfers.slow_start_s": {"segments": 100.0, "rtt_s": 0.1, "max_window_segments": 20.0},
    "sample_statistics.billed_rate_bps": {
        "inbound_bps": [1e6, 4e6, 2e6, 3e6], "outbound_bps": [5e6, 1e6, 2e6, 1e6],
        "discarded_ratio": 0.25,
    },
    "short_transfers.lossy_transfer_s": {
        "segments": 100.0, **LOSSY, "rto_s": 1.0, "max_window_segments": 20.0,
    },
    "channel.nyquist_bps": {"channel_hz": 3000.0, "level_count": 4},
    "channel.shannon_bps": {"channel_hz": 3000.0, "snr_db": 30.0},
    "channel.shannon_snr_db": {"bandwidth_bps": 3e4, "channel_hz": 3000.0},
    "clock.reading_error_std_s": {"tick_s": 0.01},
    "clock.interval_error_limit_s": {"tick_s": 0.01},
    "clock.interval_error_std_s": {"duration_s": 0.123, "tick_s": 0.01},
    "clock.typical_interval_error_std_s": {"tick_s": 0.01},
    "host_stack.cycle_budget": {"rate_pps": 1e7, "clock_hz": 3e9, "core_count": 2},
    "host_stack.core_rate_pps": {"packet_cycles": 1000.0, "clock_hz": 3e9, "core_count": 2},
    "host_stack.core_count": {"rate_pps": 1e7, "packet_cycles": 1000.0, "clock_hz": 3.1e9},
    "cubic.cubic_window_packets": {"elapsed_s": 3.0, "peak_window_packets": 100.0},
    "cubic.cubic_k_s": {"peak_window_packets": 100.0},
    "cubic.cubic_loss_interval_s": LOSSY,
    "cubic.cubic_increase_packets": {"decrease_factor": 0.7},
    "cubic.cubic_raw_window_packets": LOSSY,
    "cubic.cubic_mean_window_packets": LOSSY,
    "cubic.cubic_throughput_bps": {**LOSSY, "packet_bytes": 1500.0},
    "cubic.cubic_loss_ratio": {
        "throughput_bps": 1e7, "packet_bytes": 1500.0, "rtt_s": 0.1,
    },
    "loss_limited.datagram_loss_ratio": {"loss_ratio": 0.01, "fragments": 6.0},
    "loss_limited.fragment_loss_ratio": {"datagram_loss_ratio": 0.05, "fragments": 6.0},
    "wifi.ofdm_frame_s": {"frame_bytes": 1536.0, "bandwidth_bps": 5.4e7},
    "wifi.dsss_frame_s": {"frame_bytes": 1536.0, "bandwidth_bps": 1.1e7},
    "wifi.ofdm_throughput_bps": {"ack_bps": 24e6, "packet_bytes": 1500.0, "bandwidth_bps": 5.4e7},
    "wifi.dsss_throughput_bps": {"packet_bytes": 1500.0, "bandwidth_bps": 1.1e7},
    "wifi.attempt_ratio": {"station_count": 10},
    "wifi.collision_ratio": {"station_count": 10},
    "wifi.saturation_utilization": {
        "station_count": 10, "payload_s": 8e-3, "success_s": 9e-3, "collision_s": 8.5e-3,
        "slot_s": 5e-5,
    },
    "wifi.saturation_throughput_bps": {"ack_bps": 24e6,
        "station_count": 10, "packet_bytes": 1500.0, "bandwidth_bps": 5.4e7,
    },
    "sample_statistics.jitter_rfc3550_s": {"transit_s": [0.02, 0.025, 0.021, 0.03]},
    "sample_statistics.ipdv_s": {"transit_s": [0.02, 0.025, 0.021, 0.03]},
    "sample_statistics.pdv_s": {"transit_s": [0.02, 0.025, 0.021, 0.03]},
    "small_writes.delayed_ack_s": {"system": "linux"},
    "small_writes.heartbeat_mean_s": {"period_s": 0.2},
    "small_writes.heartbeat_wait_s": {"arrival_s": 1.33},
    "small_writes.tick_timer_wait_s": {"arrival_s": 0.0133},
    "courier.courier_throughput_bps": {
        "disk_count": 100, "disk_bytes": 2e13, "trip_s": 43200.0, "load_bps": 2e9,
        "parallel_count": 8,
    },
    "courier.courier_break_even_bytes": {
        "bandwidth_bps": 1e9, "trip_s": 43200.0, "load_bps": 2e9, "parallel_count": 8,
    },
    "distribution.client_server_distribution_s": {"peer_count": 100, **FILE},
    "distribution.peer_to_peer_distribution_s": {"peer_count": 100, "upload_bps": 3e5, **FILE},
    "encapsulation.tunnel_packet_bytes": {"packet_bytes": 1000.0, **STACK},
    "encapsulation.tunnel_wire_bytes": {"packet_bytes": 1000.0, **STACK},
    "encapsulation.tunnel_overhead_bytes": {"packet_bytes": 1000.0, **STACK},
    "encapsulation.tunnel_mtu_bytes": {**MTU, **STACK},
    "encapsulation.tunnel_tcp_payload_bytes": {**MTU, **STACK},
    "encapsulation.tunnel_udp_payload_bytes": {**MTU, **STACK},
    "encapsulation.tunnel_goodput_bps": {**MTU, **STACK, "bandwidth_bps": 1e9},
    "erlang.erlang_b_ratio": CALLS,
    "erlang.erlang_b_load": {"blocking_ratio": 0.01, "server_count": 10},
    "erlang.erlang_b_server_count": {"offered_erlang": 8.0, "blocking_ratio": 0.01},
    "vpn.esp_packet_bytes": {"payload_bytes": 1000},
    "vpn.esp_payload_bytes": MTU,
    "store_and_forward.exchange_timeline": {
        "packet_bytes": [60.0, 60.0, 52.0, 552.0], "sender": [0, 1, 0, 0],
        "after": [-1, 0, 1, 1], "wait_s": [0.0, 0.001, 0.0, 0.002], "bandwidth_bps": PATH,
        "latency_s": LATENCIES, "processing_s": [0.001, 0.002],
    },
    "sharing.jain_index": {"allocations": [1.0, 2.0, 3.0]},
    "sharing.jain_one_deviating": {"deviation": 0.5, "flow_count": 10},
    "sharing.max_min_bps": {"demand_bps": [2e6, 5e6, 9e6], "capacity_bps": 1e7},
    "sharing.max_min_network_bps": {
        "capacity_bps": [1e7, 5e6], "crossing_flow": [0, 0, 1, 2], "crossing_link": [0, 1, 0, 1],
    },
    "sharing.proportional_long_flow_bps": {"link_count": 3, "capacity_bps": 1e7},
    "sharing.proportional_short_flow_bps": {"link_count": 3, "capacity_bps": 1e7},
    "sharing.fair_share_bits": {
        "start_s": [0.0, 1.0, 2.0], "duration_s": [5.0, 4.0, 1.0], "capacity_bps": 1e7,
    },
    "mm1.mm1k_blocking_ratio": PLACES,
    "mm1.mm1k_customers": PLACES,
    "mm1.mm1k_throughput_pps": {**PLACES, "service_s": 0.001},
    "mm1.mm1k_sojourn_s": {**PLACES, "service_s": 0.001},
    "mm1.mm1k_wait_s": {**PLACES, "service_s": 0.001},
    "mm1.mm1k_wait_cdf": {"wait_s": 0.0025, **PLACES, "service_s": 0.001},
    "forwarding.forwarding_rate_pps": {
        "frame_bytes": 512.0, "device_pps": 1e5, "bandwidth_bps": 1e9,
    },
    "forwarding.crossover_frame_bytes": {"device_pps": 1e5, "bandwidth_bps": 1e9},
    "forwarding.device_byte_cost": {
        "rate_pps": 1e5, "frame_bytes": 64.0, "other_rate_pps": 5e4, "other_frame_bytes": 1518.0,
    },
    "forwarding.device_packet_cost": {
        "rate_pps": 1e5, "frame_bytes": 64.0, "other_rate_pps": 5e4, "other_frame_bytes": 1518.0,
    },
    "forwarding.affine_rate_pps": {"frame_bytes": 512.0, "packet_cost": 1e-5, "byte_cost": 1e-8},
    "forwarding.both_directions_pps": {"rate_pps": 1e4, "segments_per_ack": 2.0},
    "forwarding.switch_rate_pps": {
        "frame_bytes": 64.0, "port_bps": [1e9, 1e10], "port_count": [24.0, 2.0],
    },
    "fragmentation.min_mtu_bytes": {},
    "fragmentation.fragment_count": {"ip_payload_bytes": 8000},
    "fragmentation.fragments_bytes": {"ip_payload_bytes": 8000},
    "fragmentation.fragmented_bytes": {"ip_payload_bytes": 8000},
    "fragmentation.fragmented_wire_bytes": {"ip_payload_bytes": 8000},
    "framing.ethernet_frame_bytes": {"packet_bytes": 1000.0},
    "framing.ethernet_wire_bytes": {"packet_bytes": 1000.0},
    "framing.captured_frame_bytes": {"captured_bytes": 1000.0},
    "framing.captured_wire_bytes": {"captured_bytes": 1000.0},
    "framing.captured_tcp_payload_bytes": {"captured_bytes": 1000.0},
    "framing.tcp_payload_bytes": MTU,
    "framing.udp_payload_bytes": MTU,
    "framing.udp_payload_limit_bytes": {},
    "goodput.tcp_goodput_ratio": MTU,
    "goodput.tcp_goodput_bps": {**MTU, "bandwidth_bps": 1e9},
    "goodput.udp_goodput_ratio": MTU,
    "goodput.udp_goodput_bps": {**MTU, "bandwidth_bps": 1e9},
    "goodput.tcp_ack_wire_bytes": {"tcp_option_bytes": 12.0},
    "goodput.ack_reverse_utilization": {"segments_per_ack": 2.0},
    "goodput.half_duplex_goodput_bps": {**MTU, "bandwidth_bps": 1e7},
    "growth.annual_growth": {
        "traffic_bps": 2e9, "earlier_traffic_bps": 1e9, "elapsed_s": 1e8,
    },
    "growth.grown_traffic_bps": {"traffic_bps": 1e9, "annual_growth": 0.3, "elapsed_s": 1e8},
    "growth.exhaustion_s": {"traffic_bps": 1e9, "capacity_bps": 1e10, "annual_growth": 0.3},
    "growth.linear_exhaustion_s": {
        "traffic_bps": 1e9, "capacity_bps": 1e10, "annual_increase_bps": 5e8,
    },
    "growth.exhaustion_band_s": {
        "traffic_bps": [1e9, 1.4e9, 1.6e9, 2.3e9], "time_s": [0.0, 3e7, 6e7, 9e7],
        "capacity_bps": 1e10,
    },
    "handshakes.round_trips": {"transport": "tcp", "security": "tls1.3"},
    "handshakes.first_byte_s": {"rtt_s": 0.05, "security": "tls1.3", "server_s": 0.01},
    "handshakes.certificate_round_trips": {"certificate_bytes": 3e4},
    "handshakes.segments": {"ladder": "tcp_handshake"},
    "hashing.fullest_link_cdf": {"max_flow_count": 7, "flow_count": 20, "link_count": 4},
    "hashing.fullest_link_flows": {"flow_count": 20, "link_count": 4},
    "hashing.fullest_link_percentile_flows": {
        "flow_count": 20, "link_count": 4, "quantile": 0.9,
    },
    "hashing.fullest_link_approx_flows": {"flow_count": 1e4, "link_count": 16},
    "hashing.hashing_efficiency_ratio": {"flow_count": 20, "link_count": 4},
    "hashing.hashed_load_cv": {"demand_bps": [1e6, 2e6, 5e7], "link_count": 4},
    "host_stack.message_s": {
        "payload_bytes": 1000.0, "packet_cost": 1e-4, "copy_cost": 1e-7, "checksum_cost": 2e-7,
    },
    "host_stack.transaction_s": {
        "payload_bytes": 1000, "protocol": "udp", "packet_cost": 1e-4, "program_s": 1e-4,
        "connection_s": 2e-4, "copy_cost": 1e-7, "checksum_cost": 2e-7, "mbuf_s": 1e-5,
        "cluster_s": 2e-5,
    },
    "host_stack.bulk_s": {
        "payload_bytes": 1e6, "segment_bytes": 1460.0, "packet_cost": 1e-5, "byte_cost": 1e-9,
    },
    "host_stack.two_point_costs": {
        "elapsed_s": [1.0, 1.5], "packet_count": [1000.0, 1000.0], "payload_bytes": [1e5, 1e6],
    },
    "host_stack.delivered_goodput_bps": {
        "write_count": 1000.0, "lost_count": 0.0, "write_bytes": 1472.0, "elapsed_s": 1.0,
    },
    "latency.serialization_s": {"wire_bytes": 1538.0, "bandwidth_bps": 1e9},
    "latency.propagation_s": {"distance_m": 4.8e6},
    "latency.signal_speed_m_s": {},
    "latency.satellite_rtt_s": {},
    "latency.transfer_s": {"payload_bytes": 1e6, "bandwidth_bps": 1e7, "latency_s": 0.03},
    "latency.arrived_bytes": {"elapsed_s": 1.0, "bandwidth_bps": 1e7, "latency_s": 0.03},
    "latency.transfer_bandwidth_bps": {
        "transfer_s": 1.0, "payload_bytes": 1e6, "latency_s": 0.03,
    },
    "latency.transfer_latency_s": {
        "transfer_s": 1.0, "payload_bytes": 1e5, "bandwidth_bps": 1e7,
    },
    "latency.half_rate_bytes": {"latency_s": 0.03, "bandwidth_bps": 1e7},
    "latency.latency_share_ratio": {
        "payload_bytes": 1e5, "bandwidth_bps": 1e7, "latency_s": 0.03,
    },
    "latency.transfer_throughput_bps": {
        "payload_bytes": 1e5, "bandwidth_bps": 1e7, "latency_s": 0.03,
    },
    "latency.echo_rtt_s": {"payload_bytes": 1000.0, "base_rtt_s": 0.03, "bandwidth_bps": 1e7},
    "line_rate.frame_rate_pps": {"frame_bytes": 512.0, "bandwidth_bps": 1e9},
    "line_rate.required_bandwidth_bps": {"rate_pps": 1e5, "frame_bytes": 512.0},
    "line_rate.frame_throughput_bps": {"frame_bytes": 512.0, "bandwidth_bps": 1e9},
    "line_rate.line_utilization": {
        "rate_pps": 1e5, "frame_bytes": 512.0, "bandwidth_bps": 1e9,
    },
    "line_rate.payload_throughput_bps": {
        "payload_bytes": 1460.0, "wire_bytes": 1538.0, "bandwidth_bps": 1e9,
    },
    "line_rate.mix_mean_frame_bytes": IMIX,
    "line_rate.mix_rate_pps": {**IMIX, "bandwidth_bps": 1e9},
    "loss_limited.mathis_constant": {"segments_per_ack": 2.0},
    "loss_limited.mathis_throughput_bps": {**LOSSY, "mss_bytes": 1460.0},
    "loss_limited.mathis_loss_ratio": {
        "throughput_bps": 1e7, "mss_bytes": 1460.0, "rtt_s": 0.1,
    },
    "loss_limited.reno_window_packets": {"loss_ratio": 0.01},
    "loss_limited.reno_loss_interval_s": {
        "loss_ratio": 0.01, "packet_bytes": 1500.0, "bandwidth_bps": 1e7,
    },
    "loss_limited.aimd_window_packets": {"loss_ratio": 0.01},
    "mbufs.datagram_mbufs": {"payload_bytes": 1000},
    "mbufs.stream_mbufs": {"payload_bytes": 3000},
    "mbufs.stream_segments": {"payload_bytes": 3000},
    "mbufs.segment_mbufs": {"payload_bytes": 1000},
    "mbufs.freebsd_mbufs": {"payload_bytes": 3000},
    "md1.md1_wait_s": QUEUE,
    "md1.md1_customers": {"utilization": 0.8},
    "md1.md1_wait_cdf": {"wait_s": 0.0025, **QUEUE},
    "md1.md1_wait_percentile_s": {**QUEUE, "quantile": 0.99},
    "mm1.mm1_wait_s": QUEUE,
    "mm1.mm1_sojourn_s": QUEUE,
    "mm1.mm1_customers": {"utilization": 0.8},
    "mm1.mm1_queue_length": {"utilization": 0.8},
    "mm1.mm1_state_probability": {"utilization": 0.8, "customer_count": 3},
    "mm1.mm1_wait_cdf": {"wait_s": 0.0025, **QUEUE},
    "mm1.mm1_wait_percentile_s": {**QUEUE, "quantile": 0.99},
    "mm1.mm1_sojourn_percentile_s": {**QUEUE, "quantile": 0.99},
    "erlang.erlang_c_ratio": CALLS,
    "erlang.erlang_c_server_count": {
        "offered_erlang": 8.0, "service_level_ratio": 0.8, "within_s": 20.0, "service_s": 180.0,
    },
    "erlang.service_level_ratio": {**CALLS, "within_s": 20.0, "service_s": 180.0},
    "erlang.mmc_wait_s": {**CALLS, "service_s": 180.0},
    "erlang.mmc_wait_percentile_s": {**CALLS, "service_s": 180.0, "quantile": 0.9},
    "handshakes.page_round_trips": {"object_count": 30, "http": "1.1"},
    "handshakes.page_load_s": {
        "object_count": 30, "rtt_s": 0.05, "object_bytes": 2e4, "page_bytes": 5e4,
        "bandwidth_bps": 2e7, "server_s": 0.1, "http": "1.1",
    },
    "networks.jackson_rate_pps": {"external_pps": [20.0, 5.0, 1.0], **ROUTING},
    "networks.jackson_sojourn_s": {
        "external_pps": [20.0, 5.0, 1.0], "service_s": [0.01, 0.012, 0.05], **ROUTING,
    },
    "networks.mva_response_s": {"customer_count": 5, "demand_s": [0.1, 0.3, 0.2], "think_s": 1.0},
    "networks.mva_throughput_pps": {
        "customer_count": 5, "demand_s": [0.1, 0.3, 0.2], "think_s": 1.0,
    },
    "latency.path_mixes": {
        "rtt_s": 0.187, "bandwidth_bps": [1.544e6, 10e6, 45e6], "link_count": [12, 13],
        "packet_bytes": 1428.0, "base_rtt_s": 0.092,
    },
    "pcie.pcie_link_bps": {"lane_count": 8},
    "pcie.pcie_write_bytes": {"transfer_bytes": 1500.0},
    "pcie.pcie_read_bytes": {"transfer_bytes": 1500.0},
    "pcie.pcie_write_throughput_bps": {"transfer_bytes": 1500.0, "bandwidth_bps": 5.8e10},
    "pcie.pcie_read_throughput_bps": {"transfer_bytes": 1500.0, "bandwidth_bps": 5.8e10},
    "pftk.pftk_window_packets": {"loss_ratio": 0.01},
    "pftk.pftk_timeout_ratio": {"window_packets": 12.0, "loss_ratio": 0.01},
    "pftk.pftk_backoff_factor": {"loss_ratio": 0.01},
    "pftk.timeout_sequence_s": {"loss_ratio": 0.01, "rto_s": 0.4},
    "pftk.pftk_rate_pps": PFTK,
    "pftk.pftk_throughput_pps": PFTK,
    "pftk.pftk_approx_rate_pps": PFTK,
    "pftk.pftk_loss_ratio": PFTK_INVERSE,
    "pftk.pftk_approx_loss_ratio": PFTK_INVERSE,
    "probing.rtt_slope": {"bandwidth_bps": PATH, "reverse_bandwidth_bps": [2e6, 1e8]},
    "probing.rtt_intercept_s": {
        "latency_s": LATENCIES, "bandwidth_bps": PATH, "header_bytes": 28.0,
    },
    "probing.hop_bandwidth_bps": {
        "rtt_slope": 2e-6, "previous_rtt_slope": 1e-6,
    },
    "probing.pair_dispersion_s": {"packet_bytes": 1500.0, "bandwidth_bps": PATH},
    "probing.pair_bandwidth_bps": {"dispersion_s": 0.001, "packet_bytes": 1500.0},
    "probing.train_rate_bps": {
        "dispersion_s": 0.01, "packet_bytes": 1500.0, "packet_count": 10,
    },
    "queueing.is_stable": {"utilization": 0.8},
    "queueing.little_number": {"rate_pps": 100.0, "sojourn_s": 0.05},
    "queueing.mg1_wait_s": {**QUEUE, "service_scv": 0.5},
    "queueing.packet_mix_scv": WIRE_MIX,
    "queueing.packet_mix_wait_s": {"utilization": 0.8, **WIRE_MIX, "bandwidth_bps": 1e6},
    "queueing.kingman_wait_s": {**QUEUE, "arrival_scv": 2.0, "service_scv": 0.5},
    "multiplexing.access_node_bandwidth_bps": {
        "subscriber_count": 200.0, "mean_bps": 2e6, "sold_bps": 1e9,
    },
    "multiplexing.access_node_subscriber_count": {
        "bandwidth_bps": 2.5e9, "mean_bps": 2e6, "sold_bps": 1e9,
    },
    "multiplexing.oversubscription": {
        "user_count": 48.0, "sold_bps": 1e9, "bandwidth_bps": 20e9,
    },
    "multiplexing.busy_hour_bps": {"traffic_bytes": 15e9},
    "multiplexing.busy_hour_erlang": {"call_count": 100.0, "holding_s": 180.0},
    "multiplexing.overload_ratio": {"active_count": 20.0, **USERS},
    "multiplexing.overload_normal_ratio": {"active_count": 20.0, **USERS},
    "multiplexing.active_percentile_count": {**USERS, "quantile": 0.99},
    "multiplexing.shared_bandwidth_bps": {**USERS, "user_bps": 2e6, "quantile": 0.99},
    "multiplexing.shared_bandwidth_normal_bps": {**USERS, "user_bps": 2e6, "quantile": 0.99},
    "multiplexing.class_bandwidth_bps": {
        "user_count": [400.0, 100.0], "active_ratio": [0.1, 0.3], "user_bps": [2e6, 5e6],
        "quantile": 0.95,
    },
    "multiplexing.supported_user_count": {
        "bandwidth_bps": 1e6, "user_bps": 1e5, "active_ratio": 0.1, "quantile": 0.9995,
    },
    "multiplexing.multiplexing_gain": {**USERS, "quantile": 0.99},
    "queueing.packet_mix_wait_percentile_s": {
        "utilization": 0.8, **WIRE_MIX, "bandwidth_bps": 1e8, "quantile": 0.99,
    },
    "queueing.packet_ahead_wait_s": {
        "utilization": 0.8, **WIRE_MIX, "bandwidth_bps": 2e6,
    },
    "scheduling.priority_wait_s": {"utilization": [0.1, 0.7], "service_s": [0.001, 0.006]},
    "scheduling.preemptive_sojourn_s": {"utilization": [0.1, 0.7], "service_s": [0.001, 0.006]},
    "scheduling.wfq_delay_s": {
        "bucket_bytes": 214.0, "reserved_bps": 1e5, "bandwidth_bps": 2e6, "packet_bytes": 214.0,
        "largest_bytes": 1538.0,
    },
    "token_bucket.delay_bound_s": {
        "bucket_bytes": 15e3, "token_bps": 5e6, "service_bps": 1e7, "latency_s": 0.001,
    },
    "token_bucket.backlog_bound_bytes": {
        "bucket_bytes": 15e3, "token_bps": 5e6, "service_bps": 1e7, "latency_s": 0.001,
    },
    "token_bucket.path_delay_bound_s": {
        "bucket_bytes": 15e3, "token_bps": 5e6, "service_bps": [1e8, 1e7],
        "latency_s": [0.002, 0.001],
    },
    "backlog.dispersion_index": {"arrival_count": [12.0, 8.0, 10.0, 2.0, 18.0, 10.0]},
    "backlog.on_off_dispersion_index": {"peak_pps": 50.0, "on_s": 0.352, "off_s": 0.65},
    "backlog.dispersion_wait_s": {**QUEUE, "dispersion": 10.0},
    "erlang.mmck_blocking_ratio": {**CALLS, "waiting_count": 5},
    "erlang.mmck_wait_s": {**CALLS, "waiting_count": 5, "service_s": 180.0},
    "erlang.engset_blocking_ratio": {
        "source_count": 20, "source_erlang": 0.1, "server_count": 5,
    },
    "erlang.engset_time_ratio": {"source_count": 20, "source_erlang": 0.1, "server_count": 5},
    "erlang.multirate_blocking_ratio": {
        "offered_erlang": [10.0, 2.0], "circuits_per_call": [1, 6], "server_count": 30,
    },
    "erlang.erlang_a": {**CALLS, "service_s": 180.0, "patience_s": 180.0},
    "loss_limited.frame_error_ratio": {"bit_error_ratio": 1e-6, "frame_bytes": 1518.0},
    "loss_limited.bit_error_limit_ratio": {"loss_ratio": 1e-4, "frame_bytes": 1518.0},
    "loss_limited.bit_error_interval_s": {"bit_error_ratio": 1e-12, "bandwidth_bps": 1e10},
    "policer.policer_rule_bytes": {"token_bps": 1e7, "rtt_s": 0.1},
    "policer.policer_full_use_bytes": {"token_bps": 1e7, "rtt_s": 0.1, "mss_bytes": 1460.0},
    "policer.policed_throughput_bps": {"bucket_bytes": 125e3, **POLICER},
    "policer.policed_loss_ratio": {"bucket_bytes": 125e3, **POLICER},
    "policer.policer_overload_loss_ratio": {"input_bps": 1.2e7, "token_bps": 1e7},
    "ecn.dctcp_threshold_bytes": {"bandwidth_bps": 1e10, "rtt_s": 1e-4},
    "ecn.dctcp_amplitude_packets": {
        "flow_count": 2, "bdp_packets": 83.0, "threshold_packets": 40.0,
    },
    "ecn.ecn_threshold_bytes": {"bandwidth_bps": 1e10, "rtt_s": 1e-4},
    "ceilings.bbr_throughput_bps": {
        "loss_ratio": 0.01, "bandwidth_bps": 1e8, "rtt_s": 0.1, "mss_bytes": 1460.0,
    },
    "ceilings.congestion_controls": {**LOSSY, "bandwidth_bps": 1e8},
    "line_rate.goodput_rate_pps": {"goodput_bps": 9e8, "payload_bytes": 1460.0},
    "line_rate.rate_goodput_bps": {"rate_pps": 8e4, "payload_bytes": 1460.0},
    "line_rate.goodput_wire_bps": {
        "goodput_bps": 9e8, "payload_bytes": 1460.0, "wire_bytes": 1538.0,
    },
    "line_rate.header_bandwidth_bps": {
        "payload_bytes": 1460.0, "wire_bytes": 1538.0, "bandwidth_bps": 1e9,
    },
    "line_rate.constant_offset_rate_pps": {"goodput_bps": 9.4e7, "frame_bytes": 1518.0},
    "line_rate.stop_and_wait_utilization": {
        "packet_bytes": 1500.0, "bandwidth_bps": 1e7, "rtt_s": 0.02,
    },
    "line_rate.stop_and_wait_goodput_bps": {
        "pair_count": 4, "payload_bytes": 1000.0, "cycle_s": 0.01, "capacity_bps": 1e7,
    },
    "line_rate.saturating_pair_count": {
        "capacity_bps": 1e7, "payload_bytes": 1000.0, "cycle_s": 0.01,
    },
    "random_access.pure_aloha_utilization": {"offered_attempts": 0.4},
    "random_access.slotted_aloha_utilization": {"offered_attempts": 0.4},
    "random_access.slotted_aloha_stations_utilization": {
        "station_count": 10, "attempt_ratio": 0.05,
    },
    "random_access.csma_cd_efficiency_ratio": {"serialization_s": 1e-3, "propagation_s": 2e-5},
    "random_access.csma_cd_stations_efficiency_ratio": {
        "station_count": 10, "serialization_s": 1e-3, "propagation_s": 2e-5,
    },
    "window.ideal_transfer_s": {"payload_bytes": 1e8, "throughput_bps": 9e7},
    "window.transfer_time_factor": {"transfer_s": 12.0, "ideal_s": 10.0},
    "window.efficiency_ratio": {"transmitted_bytes": 1e8, "retransmitted_bytes": 0.0},
    "window.buffer_delay_factor": {"rtt_s": 0.032, "base_rtt_s": 0.025},
    "window.connection_count": {"bdp_bytes": 1e6},
    "sample_statistics.median": {"values": [3.0, 1.0, 2.0, 9.0]},
    "sample_statistics.percentile": {"values": [3.0, 1.0, 2.0, 9.0], "quantile": 0.4},
    "sample_statistics.median_absolute_deviation": {"values": [3.0, 1.0, 2.0, 9.0]},
    "sample_statistics.theil_sen_slope": {"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 4.1, 5.9, 8.0]},
    "sample_statistics.theil_sen_intercept": {"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 4.1, 5.9, 8.0]},
    "serial_lines.bit_stuffing_ratio": {},
    "serial_lines.byte_stuffing_ratio": {"control_count": 2},
    "serial_lines.ppp_wire_bytes": {"packet_bytes": 1500.0, "stuffing_ratio": 0.01},
    "serial_lines.ppp_packet_rate_pps": {"packet_bytes": 1500.0, "bandwidth_bps": 1.536e6},
    "serial_lines.sonet_line_bps": {"sts_count": 12},
    "serial_lines.sonet_payload_bps": {"sts_count": 12},
    "serial_lines.pos_frame_rate_pps": {"frame_bytes": 48.0, "sts_count": 12},
    "serial_lines.channel_payload_bps": {"channel_count": 24},
    "shared_buffer.shared_queue_bytes": {"buffer_bytes": 1e7, "alpha": 0.5, "queue_count": 3},
    "shared_buffer.free_buffer_bytes": {"buffer_bytes": 1e7, "alpha": 0.5, "queue_count": 3},
    "shared_buffer.shared_buffer_burst_bytes": {
        "buffer_bytes": 1e7, "input_bps": 1e11, "output_bps": 1e10, "alpha": 0.5, "queue_count": 3,
    },
    "shared_buffer.absorbed_burst_bytes": {
        "buffer_bytes": 1e6, "input_bps": 4e10, "output_bps": 1e10,
    },
    "shared_buffer.incast_backlog_bytes": {
        "sender_count": 40, "burst_bytes": 15e3, "sender_bps": 1e10, "bandwidth_bps": 4e10,
    },
    "shared_buffer.incast_sender_count": {
        "buffer_bytes": 1e6, "burst_bytes": 14e3, "sender_bps": 1e10, "bandwidth_bps": 4e10,
    },
    "shared_buffer.incast_goodput_bps": {"message_bytes": 1e6, "bandwidth_bps": 1e9},
    "sharing.aimd_utilization": {"buffer_bdp": 0.3},
    "sharing.cubic_utilization": {"buffer_bdp": 0.1},
    "sharing.full_use_buffer_bdp": {"decrease_factor": 0.7},
    "sharing.sawtooth_period_s": {"peak_window_packets": 100.0, "rtt_s": 0.1},
    "sharing.sawtooth_packets": {"peak_window_packets": 100.0},
    "sharing.buffer_rule_bytes": {"bandwidth_bps": 1e10, "rtt_s": 0.25, "flow_count": 10_000},
    "sharing.drain_s": {"buffer_bytes": 1e6, "bandwidth_bps": 1e7},
    "short_transfers.sending_s": {
        "segments": 100.0, "packet_bytes": 1500.0, "bandwidth_bps": 1e7, "base_rtt_s": 0.1,
        "max_window_segments": 60.0,
    },
    "short_transfers.static_transfer_s": {
        "payload_bytes": 1e5, "rtt_s": 0.1, "bandwidth_bps": 1e7, "mss_bytes": 1000.0,
    },
    "short_transfers.fetch_s": {
        "payload_bytes": 1e5, "rtt_s": 0.1, "bandwidth_bps": 1e7, "server_s": 0.01,
    },
    "slow_start.initial_window_bytes": {"mss_bytes": 1460.0},
    "slow_start.rounds": WINDOW,
    "slow_start.rounds_delayed_ack": WINDOW,
    "slow_start.window_growth_s": {"window_bytes": 1e6, "rtt_s": 0.1, "mss_bytes": 1460.0},
    "small_writes.nagle_may_send": {
        "payload_bytes": 100.0, "mss_bytes": 1460.0, "unacked_bytes": 10.0,
        "max_window_bytes": 65535.0,
    },
    "small_writes.minshall_may_send": {
        "payload_bytes": 100.0, "mss_bytes": 1460.0, "unacked_small": True,
    },
    "small_writes.tail_delay_s": {"payload_bytes": 5000.0, "rtt_s": 0.01, "delayed_ack_s": 0.2},
    "small_writes.write_write_read_s": {"rtt_s": 0.01},
    "store_and_forward.store_and_forward_s": {
        "packet_bytes": 1500.0, "bandwidth_bps": PATH, "latency_s": LATENCIES,
        "processing_s": [0.001, 0.002], "packet_count": 10,
        "overhead_bytes": [38.0, 0.0, 38.0], "min_wire_bytes": [84.0, 0.0, 84.0],
    },
    "store_and_forward.cut_through_s": {
        "frame_bytes": 1518.0, "bandwidth_bps": PATH, "latency_s": LATENCIES,
        "switch_latency_s": [1e-6, 2e-6],
    },
    "store_and_forward.pipeline_timeline": {
        "packet_bytes": [1500.0, 64.0, 576.0], "bandwidth_bps": PATH, "latency_s": LATENCIES,
        "processing_s": [0.001, 0.002],
        "overhead_bytes": [38.0, 0.0, 38.0], "min_wire_bytes": [84.0, 0.0, 84.0],
    },
    "store_and_forward.message_s": {
        "segment_bytes": 1000.0, "message_bytes": 1e5, "bandwidth_bps": PATH,
        "latency_s": LATENCIES, "header_bytes": 40.0,
    },
    "store_and_forward.optimal_segment_bits": {
        "message_bits": 1e6, "header_bits": 320.0, "link_count": 3,
    },
    "store_and_forward.equivalent_bandwidth_bps": {"bandwidth_bps": PATH},
    "pftk.tfrc_rounds": {"loss_ratio": 0.01},
    "pftk.tfrc_throughput_bps": {**LOSSY, "mss_bytes": 1460.0},
    "pftk.tfrc_loss_ratio": {"throughput_bps": 1e6, "mss_bytes": 1460.0, "rtt_s": 0.1},
    "timers.rto_s": {"srtt_s": 0.5, "rttvar_s": 0.3},
    "timers.rto_estimate": {"rtt_s": [0.5, 0.7, 0.4, 0.9]},
    "timers.backoff_s": {"timeout_count": 3},
    "timers.last_retransmission_s": {"retry_count": 6},
    "timers.give_up_s": {"retry_count": 6},
    "token_bucket.token_bucket_transfer_s": {"traffic_bytes": 1e6, **BUCKET},
    "token_bucket.token_bucket_passed_bytes": {"duration_s": 1.0, **BUCKET},
    "token_bucket.token_bucket_burst_bytes": BUCKET,
    "ceilings.congestion_limit_bps": {"loss_ratio": 0.25, "rtt_s": 0.1},
    "ceilings.path_ceilings": {
        "bandwidth_bps": 1e8, "rtt_s": 0.05, "loss_ratio": 0.25, "window_bytes": 2e5,
        "flow_count": 2, "reverse_bandwidth_bps": 1e7,
    },
    "transfer_time.transfer_time_s": TRANSFER,
    "transfer_time.transfer_parts": TRANSFER,
    "voice.rtp_header_bytes": {"csrc_count": 2, "extension_bytes": 8.0},
    "voice.codec_payload_bytes": {"codec_bps": 64e3},
    "voice.voip_bandwidth_bps": {"payload_bytes": 160.0, "link_bytes": 18.0},
    "voice.voip_call_count": {"bandwidth_bps": 1e7, "link_bytes": 18.0},
    "window.bdp_bytes": {"rtt_s": 0.08, "bandwidth_bps": 1e10},
    "window.bdp_packets": {"rtt_s": 0.08, "bandwidth_bps": 1e10, "packet_bytes": 1500.0},
    "window.throughput_bps": {"window_bytes": 65535.0, "rtt_s": 0.08, "bandwidth_bps": 1e8},
    "window.serialized_throughput_bps": {
        "window_packets": 4.0, "packet_bytes": 1500.0, "bandwidth_bps": 1e7, "base_rtt_s": 0.01,
    },
    "window.window_shift": {"window_bytes": 1e6},
    "window.max_window_bytes": {"shift": 7.0},
    "window.sequence_wrap_s": {"bandwidth_bps": 1e10},
    "vpn.wireguard_overhead_bytes": {},
    "vpn.wireguard_packet_bytes": {"packet_bytes": 1000},
    "vpn.wireguard_mtu_bytes": MTU,
    "small_writes.write_timeline": {
        "write_s": [0.0, 0.001, 0.002], "write_bytes": [100.0, 2000.0, 50.0], "rtt_s": 0.01,
        "server_s": 0.001,
    },
}  # fmt: skip

SIGNED = {
    "forwarding.device_byte_cost": "the slope between two measured rates",
    "forwarding.device_packet_cost": "the intercept of the same line",
    "host_stack.two_point_costs": "the line through two measured times",
    "window.buffer_delay_factor": "a measured time less another one, as the RFC prints it",
    "latency.path_mixes": "residuals",
    "sample_statistics.ipdv_s": "a delay less the one before it",
    "channel.shannon_snr_db": "decibels",
    "growth.annual_growth": "traffic that shrinks",
    "growth.exhaustion_band_s": "times from an origin that may be later",
    "sample_statistics.theil_sen_slope": "the slope of measured points",
    "sample_statistics.theil_sen_intercept": "the intercept of measured points",
}
"""Results that may be below zero: differences and lines through measured points."""
