"""What people call a formula, as data; a name may bring a value for an argument with it."""

from __future__ import annotations

FORMULA_ALIASES = {
    "pps": "frame_rate", "line_rate": "frame_rate", "packet_rate": "frame_rate",
    "packets_per_second": "frame_rate", "frames_per_second": "frame_rate",
    "wire_speed": "frame_rate", "max_pps": "frame_rate", "imix": "mix_rate",
    "utilization": "line_utilization", "link_utilization": "line_utilization",
    "goodput": "tcp_goodput_bps", "max_goodput": "tcp_goodput_bps",
    "tcp_goodput": "tcp_goodput_bps", "udp_goodput": "udp_goodput_bps",
    "bandwidth_delay_product": "bdp", "bandwidth_delay": "bdp",
    "window": "bdp", "window_size": "bdp", "tcp_window": "bdp", "bytes_in_flight": "bdp",
    "tcp_throughput": "throughput", "max_throughput": "throughput",
    "window_throughput": "throughput", "window_scale": "window_shift", "wscale": "window_shift",
    "mss": "tcp_payload", "mathis": "mathis_throughput", "reno": "mathis_throughput",
    "cubic": "cubic_throughput", "bbr": "bbr_throughput", "pftk": "pftk_throughput",
    "tfrc": "tfrc_throughput", "padhye": "pftk_throughput", "dctcp": "dctcp_threshold",
    "ecn": "ecn_threshold", "iw": "initial_window", "initcwnd": "initial_window",
    "buffer_size": "buffer_rule", "buffer": "buffer_rule", "buffer_sizing": "buffer_rule",
    "jain": "jain_index", "jains_index": "jain_index", "fairness": "jain_index",
    "little": "little_number", "littles_law": "little_number", "little_law": "little_number",
    "kingman": "kingman_wait", "mm1": "mm1_wait", "md1": "md1_wait", "mg1": "mg1_wait",
    "gg1": "kingman_wait", "mm1k": "mm1k_blocking", "mmck": "mmck_blocking",
    "mmc": "mmc_wait", "pollaczek_khinchine": "mg1_wait", "pk": "mg1_wait",
    "queueing_delay": "mm1_wait", "queuing_delay": "mm1_wait", "wait": "mm1_wait",
    "erlang": "erlang_b", "erlangb": "erlang_b", "erlangc": "erlang_c", "erlanga": "erlang_a",
    "erlangs": "busy_hour_erlang", "engset": "engset_blocking", "trunks": "erlang_b_server_count",
    "kaufman_roberts": "multirate_blocking", "agents": "erlang_c_server_count",
    "lines": "erlang_b_server_count", "blocking": "erlang_b", "cobham": "priority_wait",
    "priority": "priority_wait", "wfq": "wfq_delay", "lindley": "lindley_wait",
    "voip": "voip_bandwidth", "voip_calls": "voip_call_count", "calls": "voip_call_count",
    "call_bandwidth": "voip_bandwidth", "codec": "codec_payload",
    "download": "fetch", "download_time": "fetch", "upload": "transfer_time",
    "upload_time": "transfer_time", "copy_time": "transfer_time", "http": "fetch",
    "tcp_transfer": "transfer_time", "file_transfer": "transfer_time", "page": "page_load",
    "ttfb": "first_byte", "time_to_first_byte": "first_byte", "tls_handshake": "first_byte",
    "handshake_time": "first_byte", "ping": "echo_rtt", "rtt": "echo_rtt",
    "fragmentation": "fragment_count", "fragment": "fragment_count",
    "tunnel": "tunnel_mtu", "mtu": "tunnel_mtu", "vpn": "tunnel_mtu",
    "jitter": "jitter_rfc3550", "satellite": "satellite_rtt", "satellite_delay": "satellite_rtt",
    "latency": "propagation", "distance": "propagation", "fiber": "propagation",
    "fiber_latency": "propagation", "fibre_latency": "propagation", "fiber_delay": "propagation",
    "propagation_delay": "propagation", "light": "propagation",
    "serialization_delay": "serialization", "serialisation": "serialization",
    "serialisation_delay": "serialization", "transmission_delay": "serialization",
    "transmission_time": "serialization", "end_to_end_delay": "store_and_forward",
    "token_bucket": "token_bucket_transfer", "shaper": "token_bucket_transfer",
    "policer": "policer_rule", "ecmp": "hashing_efficiency", "lag": "hashing_efficiency",
    "binomial": "overload", "multiplexing": "shared_bandwidth", "users": "supported_user_count",
    "contention": "oversubscription", "contention_ratio": "oversubscription",
    "wrap": "sequence_wrap", "bufferbloat": "drain", "queue_delay": "drain",
    "buffer_delay": "drain", "incast": "incast_backlog", "microburst": "absorbed_burst",
    "ber": "frame_error", "per": "frame_error", "fer": "frame_error",
    "packet_error_rate": "frame_error", "cagr": "annual_growth", "growth": "grown_traffic",
    "forecast": "grown_traffic", "time_to_full": "exhaustion", "uptime": "availability",
    "nines": "downtime", "mtbf": "availability", "redundancy": "parallel_availability",
    "k_of_n": "k_of_n_availability", "n_1": "failure_utilization",
    "failover": "failure_utilization", "percentile_billing": "billed_rate",
    "cores": "core_count", "cycles": "cycle_budget", "cycles_per_packet": "cycle_budget",
    "pcie": "pcie_link", "switch": "switch_rate", "backplane": "switch_rate",
    "wifi": "wifi_throughput", "bianchi": "saturation_throughput", "docsis": "request_grant",
    "gpon": "request_grant", "aloha": "pure_aloha_utilization",
    "pure_aloha": "pure_aloha_utilization", "slotted_aloha": "slotted_aloha_utilization",
    "csma_cd": "csma_cd_efficiency", "stop_and_wait": "stop_and_wait_utilization",
    "go_back_n": "go_back_n_utilization", "gbn": "go_back_n_utilization",
    "selective_repeat": "selective_repeat_utilization", "p2p": "peer_to_peer_distribution",
    "client_server": "client_server_distribution", "jackson": "jackson_sojourn",
    "mva": "mva_response", "snr": "shannon_snr", "shannon_hartley": "shannon",
    "nagle": "nagle_may_send", "delack": "delayed_ack",
}  # fmt: skip
"""What people call a formula whose own name says it otherwise; never the name of another."""

FORMULA_PRESETS: dict[str, tuple[str, dict[str, str]]] = {
    **{
        name: ("tunnel_mtu", {"stack": name})
        for name in (
            "vxlan", "gre", "geneve", "ipsec", "esp", "wireguard", "pppoe", "mpls", "gtp", "gtpu",
            "ipip", "l2tp", "nvgre", "gretap",
        )
    },
    "geo": ("satellite_rtt", {"altitude": "geo"}),
    "starlink": ("satellite_rtt", {"altitude": "starlink"}),
    "http3": ("first_byte", {"transport": "http3"}),
    "quic": ("first_byte", {"transport": "quic"}),
}  # fmt: skip
"""Names that are a formula and a value of its argument: ``vxlan`` is ``tunnel-mtu --stack vxlan``.
"""


def called(name: str) -> str | None:
    """Return the formula that people call so; None if there is none.

    Examples
    --------
    >>> called("pps"), called("VXLAN"), called("bdp")
    ('frame_rate', 'tunnel_mtu', None)
    """
    spoken = name.lower().replace("'", "")
    preset = FORMULA_PRESETS.get(spoken)
    return preset[0] if preset else FORMULA_ALIASES.get(spoken)


def preset(name: str) -> dict[str, str]:
    """Return the values of arguments that a name of a formula brings with it.

    Examples
    --------
    >>> preset("vxlan"), preset("pps")
    ({'stack': 'vxlan'}, {})
    """
    found = FORMULA_PRESETS.get(name.lower().replace("-", "_"))
    return dict(found[1]) if found else {}
