"""Names that people type, of formulas, arguments, choices and codecs, and titles of formulas.

The names of the formulas are read from the files of the models: none is loaded to find another by
name. A title is for lists and headings, where the summary is not short.
"""

from __future__ import annotations

import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType

from netcalc import models

SUFFIX = re.compile(r"_(s|bps|pps|bytes|bits|ratio|m|m_s|hz|db)$")
"""The unit at the end of a name."""

KNOWN_NAMES = {
    "transport": ("netcalc.models.tcp.handshakes", "TRANSPORT_ROUND_TRIPS"),
    "security": ("netcalc.models.tcp.handshakes", "SECURITY_ROUND_TRIPS"),
    "ladder": ("netcalc.models.tcp.handshakes", "LADDER_SEGMENTS"),
    "encapsulation": ("netcalc.models.sizes.serial_lines", "ATM_OVERHEAD_BYTES"),
    "system": ("netcalc.models.hosts.small_writes", "SYSTEMS"),
}
"""Where the names are that an argument of text takes: module and table."""

CHOICE_ALIASES: dict[str, dict[str, str]] = {
    "transport": {
        "http": "tcp", "http1": "tcp", "http11": "tcp", "http2": "tcp", "h2": "tcp",
        "http3": "quic", "h3": "quic", "quicv1": "quic", "fastopen": "tfo", "tcpfastopen": "tfo",
        "keepalive": "tcp_persistent", "persistent": "tcp_persistent",
    },
    "security": {
        "plain": "none", "cleartext": "none", "no": "none", "12": "tls1.2", "13": "tls1.3",
        "tlsv12": "tls1.2", "tlsv13": "tls1.3", "dtlsv12": "dtls1.2", "dtlsv13": "dtls1.3",
        "tls130rtt": "tls1.3_0rtt", "tls13resumption": "tls1.3_resume",
        "tls12resumption": "tls1.2_resume",
    },
    "system": {
        "macos": "xnu", "mac": "xnu", "ios": "xnu", "osx": "xnu", "freebsd": "freebsd_since_2020",
        "bsd": "bsd44", "44bsd": "bsd44",
    },
    "statistic": {
        "min": "shortest", "minimum": "shortest", "max": "longest", "maximum": "longest",
        "average": "mean", "avg": "mean",
    },
    "rfc": {"iw10": "rfc6928"},
    "congestion_control": {"newreno": "reno", "bbrv1": "bbr", "bbr1": "bbr"},
    "http": {"h1": "1.1", "h2": "2", "h3": "3", "quic": "3", "http": "1.1"},
    "suite": {
        "aesgcm": "aes-gcm-16", "aesgcm16": "aes-gcm-16", "aesgcm128": "aes-gcm-16",
        "aesgcm256": "aes-gcm-16", "aes128gcm": "aes-gcm-16", "aes256gcm": "aes-gcm-16",
        "aes128gcm16": "aes-gcm-16", "aes256gcm16": "aes-gcm-16",
        "chacha20": "chacha20-poly1305", "chachapoly": "chacha20-poly1305",
    },
}  # fmt: skip
"""By argument: what people call a choice, in lower case without marks, and the choice."""

CHOICE_HINTS = {("transport", "https"): ("tcp with --security tls1.3", "quic")}
"""What is meant by a name that is more than a choice: by argument and name."""

LAYER_ALIASES = {
    "ipsec": "esp4:aes-gcm-16", "esp": "esp4:aes-gcm-16", "ipsec6": "esp6:aes-gcm-16",
    "esp4": "esp4:aes-gcm-16", "esp6": "esp6:aes-gcm-16",
    "wireguard": "wireguard4", "wg": "wireguard4", "wireguard6": "wireguard6",
    "vxlan": "vxlan4", "geneve": "geneve4", "nvgre": "nvgre4", "lisp": "lisp4",
    "gtp": "gtpu4", "gtpu": "gtpu4", "l2tp": "l2tpv2_udp", "l2tpv2": "l2tpv2_udp",
    "l2tpv3": "l2tpv3_ip4", "stt": "stt4", "openvpn": "openvpn4", "fastd": "fastd4",
    "ipinip": "ipip", "ip4ip4": "ipip", "6to4": "6in4", "udp": "udp4", "ethernet": "eth",
    "vlan": "tag", "dot1q": "tag", "8021q": "tag", "qinq": "tag+tag",
}  # fmt: skip
"""Layers of a stack of tunnels as people call them, with what that means over IPv4."""

ALTITUDES_M = {"geo": 35_786e3, "geostationary": 35_786e3, "starlink": 550e3}
"""Heights of orbits: ITU-R S.673 (geostationary), FCC 21-48 (the first shell of Starlink). [m]"""

FIBRE = frozenset({"fiber", "fibre", "glass"})
VACUUM = frozenset({"vacuum", "air", "radio", "microwave", "space", "light", "c"})


def speed_m_s(medium: str) -> float | None:
    """Return the speed of a signal in a medium, as ``propagation`` has it; None if unknown."""
    # Late: few ask.
    from netcalc.models.delays.latency import FIBRE_INDEX, SPEED_OF_LIGHT_M_S

    if medium in FIBRE:
        return SPEED_OF_LIGHT_M_S / FIBRE_INDEX
    return SPEED_OF_LIGHT_M_S if medium in VACUUM else None


FLAG_ALIASES = {
    "ipv4": ("ip_version", "4"), "ipv6": ("ip_version", "6"), "v4": ("ip_version", "4"),
    "v6": ("ip_version", "6"), "cubic": ("congestion_control", "cubic"),
    "reno": ("congestion_control", "reno"), "bbr": ("congestion_control", "bbr"),
}  # fmt: skip
"""Options that people type without a value: the argument, and its value."""

ARGUMENT_ALIASES: dict[str, tuple[str, ...]] = {
    "rtt": ("rtt", "base_rtt", "srtt"),
    "ping": ("rtt", "base_rtt"),
    "delay": ("latency", "rtt", "base_rtt"),
    "latency": ("latency", "rtt", "base_rtt"),
    "size": (
        "payload", "message", "packet", "frame", "ip_payload", "captured", "traffic", "wire",
        "datagram", "segment", "certificate", "burst",
    ),
    "bytes": ("payload", "message", "packet", "frame", "traffic", "wire"),
    "file": ("payload", "message", "traffic"),
    "object": ("payload",),
    "volume": ("payload", "traffic"),
    "packet": ("packet", "frame", "wire"),
    "packet_size": ("packet", "frame", "wire", "payload"),
    "frame_size": ("frame", "wire"),
    "load": ("utilization", "offered_erlang", "offered"),
    "rho": ("utilization",),
    "util": ("utilization",),
    "utilisation": ("utilization",),
    "usage": ("utilization",),
    "erlang": ("offered_erlang",),
    "erlangs": ("offered_erlang",),
    "traffic": ("offered_erlang", "traffic"),
    "a": ("offered_erlang",),
    "flows": ("flow_count", "pair_count", "connection_count"),
    "connections": ("flow_count", "connection_count"),
    "streams": ("flow_count", "pair_count", "connection_count"),
    "users": ("user_count", "customer_count", "subscriber_count", "flow_count"),
    "subscribers": ("subscriber_count", "user_count"),
    "customers": ("customer_count", "user_count", "subscriber_count"),
    "senders": ("sender_count", "flow_count"),
    "stations": ("station_count",),
    "sources": ("source_count",),
    "cores": ("core_count",),
    "objects": ("object_count",),
    "peers": ("peer_count",),
    "n": (
        "flow_count", "user_count", "server_count", "customer_count", "packet_count", "unit_count",
        "station_count", "sender_count", "peer_count", "source_count", "port_count", "object_count",
    ),
    "servers": ("server_count",),
    "agents": ("server_count",),
    "s": ("server_count",),
    "m": ("server_count", "place_count"),
    "lines": ("server_count",),
    "trunks": ("server_count",),
    "channels": ("server_count", "channel_count"),
    "c": ("server_count",),
    "k": ("place_count", "needed_count", "link_count"),
    "queue_size": ("place_count", "buffer"),
    "places": ("place_count",),
    "disks": ("disk_count",),
    "tapes": ("disk_count",),
    "calls": ("concurrent_count",),
    "ports": ("port_count",),
    "hops": ("link_count", "hop_count"),
    "links": ("link_count",),
    "packets": ("packet_count", "segments"),
    "percentile": ("quantile",),
    "quantile": ("quantile",),
    "confidence": ("confidence", "quantile"),
    "p": ("quantile", "loss", "blocking"),
    "q": ("quantile",),
    "bw": ("bandwidth", "capacity", "port", "channel"),
    "rate": ("rate", "bandwidth", "capacity", "port", "goodput", "throughput", "user", "sold"),
    "each": ("user", "sold"),
    "per_user": ("user", "sold"),
    "access_rate": ("user", "sold"),
    "uplink": ("bandwidth", "capacity"),
    "bottleneck": ("bandwidth", "capacity"),
    "activity": ("active",),
    "active_share": ("active",),
    "concurrency": ("active",),
    "cc": ("congestion_control",),
    "algorithm": ("algorithm", "congestion_control"),
    "congestion": ("congestion_control",),
    "ber": ("bit_error",),
    "bit_error_rate": ("bit_error",),
    "bit_error_ratio": ("bit_error",),
    "speed": ("bandwidth", "capacity", "port", "speed"),
    "link": ("bandwidth", "capacity"),
    "line": ("bandwidth", "capacity"),
    "line_rate": ("bandwidth", "capacity", "port"),
    "link_rate": ("bandwidth", "capacity"),
    "capacity": ("capacity", "bandwidth"),
    "bandwidth": ("bandwidth", "capacity", "port", "channel"),
    "pps": ("rate", "device"),
    "loss": ("loss", "datagram_loss", "forward_loss"),
    "plr": ("loss",),
    "packet_loss": ("loss",),
    "loss_rate": ("loss",),
    "gos": ("blocking",),
    "growth": ("annual_growth",),
    "from": ("earlier_traffic",),
    "to": ("traffic",),
    "more_than": ("active_count",),
    "threshold": ("active_count",),
    "mttr": ("repair",),
    "grade_of_service": ("blocking",),
    "blocking_probability": ("blocking",),
    "window": ("window", "max_window"),
    "rwnd": ("window", "max_window"),
    "cwnd": ("window", "initial_window_segments", "window_packets"),
    "iw": ("initial_window_segments",),
    "initcwnd": ("initial_window_segments",),
    "initial_window": ("initial_window_segments",),
    "mtu": ("mtu", "device_mtu"),
    "mss": ("mss", "segment", "packet"),
    "service_time": ("service",),
    "holding_time": ("holding", "service"),
    "holding": ("holding", "service"),
    "aht": ("holding", "service"),
    "duration": ("duration", "elapsed"),
    "period": ("period", "duration", "elapsed"),
    "time": ("elapsed", "duration", "transfer"),
    "answer_within": ("within",),
    "target": ("service_level",),
    "sla": ("service_level",),
    "medium": ("speed",),
    "distance": ("distance",),
    "length": ("distance",),
    "km": ("distance",),
    "altitude": ("altitude",),
    "buffer": ("buffer", "buffer_bdp"),
    "queue": ("buffer", "place_count", "queue"),
    "bucket": ("bucket",),
    "burst": ("bucket", "burst"),
    "cbs": ("bucket", "burst"),
    "bc": ("bucket", "burst"),
    "in": ("input",),
    "ingress": ("input",),
    "out": ("output",),
    "egress": ("output",),
    "cir": ("token",),
    "pir": ("peak",),
    "codec": ("codec", "payload"),
    "ptime": ("interval",),
    "tunnel": ("stack",),
    "encap": ("stack", "encapsulation"),
    "vpn": ("stack",),
    "cipher": ("suite",),
    "tls": ("security",),
    "http_version": ("http", "transport"),
    "version": ("http", "ip_version"),
    "protocol": ("protocol", "transport"),
    "os": ("system",),
    "vlans": ("tag_count",),
    "vlan": ("tag_count",),
    "tags": ("tag_count",),
    "ip": ("ip_version",),
    "ttl": (),
}  # fmt: skip
"""What people call an argument, and the names of arguments, without units, that this may be."""


def plain_name(text: str) -> str:
    """Return a name in lower case, without blanks and marks.

    Examples
    --------
    >>> plain_name("TLS 1.3"), plain_name("G.711")
    ('tls13', 'g711')
    """
    return re.sub(r"[\s_\-./]+", "", text.lower())


def names_argument(word: str) -> bool:
    """Whether people call an argument of some formula so.

    Examples
    --------
    >>> names_argument("servers"), names_argument("sevrice")
    (True, False)
    """
    return word.lower().replace("-", "_") in ARGUMENT_ALIASES


def known_names(parameter: str) -> tuple[str, ...]:
    """Return the names that an argument of text takes; nothing where they are not a list."""
    place = KNOWN_NAMES.get(parameter)
    return tuple(getattr(import_module(place[0]), place[1])) if place else ()


def choose(parameter: str, text: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a text means; None if there is none, or more than one.

    Examples
    --------
    >>> choose("security", "TLS 1.3", ("tls1.2", "tls1.3")), choose("rfc", "6928", ("rfc6928",))
    ('tls1.3', 'rfc6928')
    """
    if text in choices:
        return text
    plain = plain_name(text)
    alias = CHOICE_ALIASES.get(parameter, {}).get(plain)
    if alias is not None and (alias in choices or not choices):
        return alias
    name = plain_name(parameter)
    for candidate in (plain, name + plain, plain.removeprefix(name)):
        same = [choice for choice in choices if plain_name(choice) == candidate]
        if len(same) == 1:
            return same[0]
    begin = [choice for choice in choices if plain and plain_name(choice).startswith(plain)]
    return begin[0] if len(begin) == 1 else None


def near_choices(parameter: str, text: str, choices: Sequence[str]) -> list[str]:
    """Return the choices that a text may mean: those that begin so, as ``tls`` does."""
    plain = plain_name(text)
    if (parameter, plain) in CHOICE_HINTS:
        return list(CHOICE_HINTS[parameter, plain])
    return [choice for choice in choices if plain and plain_name(choice).startswith(plain)][:4]


def stack(text: str) -> str:
    """Return a stack of tunnels with the names of its layers: ``vxlan over ipsec``.

    Examples
    --------
    >>> stack("vxlan over ipsec"), stack("vxlan4+wireguard4"), stack("pppoe wireguard")
    ('esp4:aes-gcm-16+vxlan4', 'vxlan4+wireguard4', 'pppoe+wireguard4')
    """
    outermost_last = re.split(r"\s+(?:over|in)\s+", text.strip())
    layers = re.split(r"\s*[+,]\s*|\s+", "+".join(reversed(outermost_last)))
    return "+".join(LAYER_ALIASES.get(plain_name(layer), layer.strip()) for layer in layers)


def is_layer(word: str) -> bool:
    """Whether a word is the name of one layer of a stack of tunnels, or what people call it.

    Examples
    --------
    >>> is_layer("wireguard"), is_layer("gre_key"), is_layer("1500B")
    (True, True, False)
    """
    if plain_name(word) in LAYER_ALIASES:
        return True
    from netcalc.models.sizes import layers  # late: most formulas have no stack

    return layers.is_layer(word)


def codec_bps(text: str) -> float | None:
    """Return the rate of a codec by its name; None if there is no codec of one rate by it.

    Examples
    --------
    >>> codec_bps("G.711"), codec_bps("g729"), codec_bps("opus")
    (64000.0, 8000.0, None)
    """
    codecs = import_module("netcalc.models.rates.codecs")
    codec = codecs.find_codec(text)
    return codec.codec_bps if codec is not None and codecs.has_one_rate(codec) else None


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
    "sneakernet": "courier_throughput", "courier_rate": "courier_throughput",
    "courier": "courier_throughput", "truck": "courier_throughput",
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
    "allreduce": "ring_allreduce", "all_reduce": "ring_allreduce", "nccl": "ring_allreduce",
    "ring_all_reduce": "ring_allreduce", "ring_allreduce_time": "ring_allreduce",
    "tree_allreduce": "double_tree_allreduce", "rabenseifner": "rabenseifner_allreduce",
    "allgather": "ring_allgather", "all_gather": "ring_allgather",
    "reduce_scatter": "ring_allgather", "ring_reduce_scatter": "ring_allgather",
    "broadcast": "binomial_broadcast", "bcast": "binomial_broadcast", "busbw": "bus_bandwidth",
    "loggp": "loggp_message", "nagle": "nagle_may_send", "delack": "delayed_ack",
}  # fmt: skip
"""What people call a formula whose own name says it otherwise; never the name of another."""

FORMULA_PRESETS: dict[str, tuple[str, dict[str, str]]] = {
    **{
        name: ("tunnel_mtu", {"stack": name})
        for name in (
            "vxlan", "gre", "geneve", "ipsec", "esp", "wireguard", "pppoe", "mpls", "gtp", "gtpu",
            "macsec", "ipip", "l2tp", "l2tpv3", "nvgre", "gretap", "openvpn", "fastd", "stt",
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
    pair = FORMULA_PRESETS.get(name.lower().replace("-", "_"))
    return dict(pair[1]) if pair else {}


_FUNCTION = re.compile(rb"\ndef ([a-z]\w*)")


def public_names(module: ModuleType) -> list[str]:
    """Return the names of the public models of a file.

    Examples
    --------
    >>> public_names(models.subject_module("channel"))
    ['nyquist_bps', 'shannon_bps', 'shannon_snr_db']
    """
    return [
        name
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
    ]


@cache
def defined() -> Mapping[str, Sequence[str]]:
    """Return the names of the public models of each subject, in their order.

    Examples
    --------
    >>> defined()["channel"]
    ['nyquist_bps', 'shannon_bps', 'shannon_snr_db']
    """
    folder = os.path.dirname(models.__file__)  # noqa: PTH120 - pathlib takes 2 ms to load
    names = {}
    for chapter, subjects in models.CHAPTERS.items():
        for subject in subjects:
            try:
                with open(f"{folder}/{chapter}/{subject}.py", "rb") as file:  # noqa: PTH123
                    names[subject] = [
                        function.decode() for function in _FUNCTION.findall(file.read())
                    ]
            except OSError:  # where a program and its modules are one file
                names[subject] = public_names(models.subject_module(subject))
    return names


@cache
def exact() -> Mapping[str, Sequence[str]]:
    """Return the full names of models by their names with the unit: ``transfer_s``."""
    return _by_name(lambda name: name)


@cache
def short() -> Mapping[str, Sequence[str]]:
    """Return the full names of models by their names without the unit: ``transfer``."""
    return _by_name(lambda name: SUFFIX.sub("", name))


def _by_name(called: Callable[[str], str]) -> dict[str, list[str]]:
    full_names: dict[str, list[str]] = {}
    for subject, names in defined().items():
        for name in names:
            word = called(name)
            full_names.setdefault(word, []).append(f"{subject}.{name}")
            full_names.setdefault(f"{subject}.{word}", []).append(f"{subject}.{name}")
    return full_names


@cache
def times_used() -> Counter[str]:
    """Return how many models each name may mean, with the unit and without it."""
    names = [name for names in defined().values() for name in names]
    return Counter(spelling for name in names for spelling in {name, SUFFIX.sub("", name)})


TITLES = {
    "framing.captured_frame_bytes": "Frame on the wire, from a captured length",
    "framing.captured_wire_bytes": "Wire size with preamble and gap, from a captured length",
    "framing.tcp_payload_bytes": "Largest TCP payload of a segment (MSS)",
    "fragmentation.fragmented_bytes": "Total size of all fragments of a datagram",
    "encapsulation.tunnel_wire_bytes": "Wire size of a packet in tunnels over Ethernet",
    "encapsulation.tunnel_mtu_bytes": "MTU inside a stack of tunnels",
    "encapsulation.tunnel_tcp_payload_bytes": "Largest TCP payload in a stack of tunnels (MSS)",
    "encapsulation.tunnel_udp_payload_bytes": "Largest UDP payload in a stack of tunnels",
    "encapsulation.tunnel_goodput_bps": "Maximum TCP goodput through a stack of tunnels",
    "vpn.esp_packet_bytes": "IP packet of protected bytes in ESP",
    "vpn.wireguard_mtu_bytes": "Largest MTU of a WireGuard device",
    "serial_lines.atm_overhead_bytes": "Encapsulation and AAL5 overhead of a packet",
    "serial_lines.byte_stuffing_ratio": "Overhead of PPP byte stuffing in random data",
    "serial_lines.channel_payload_bps": "Payload rate of channels of a T or E line",
    "line_rate.frame_rate_pps": "Maximum frame rate of Ethernet",
    "line_rate.required_bandwidth_bps": "Line rate that a frame rate requires",
    "line_rate.payload_throughput_bps": "Maximum payload throughput of a link",
    "goodput.tcp_goodput_ratio": "Maximum TCP goodput of Ethernet, share of its rate",
    "goodput.tcp_goodput_bps": "Maximum TCP goodput of Ethernet",
    "goodput.udp_goodput_ratio": "Maximum UDP goodput of Ethernet, share of its rate",
    "goodput.udp_goodput_bps": "Maximum UDP goodput of Ethernet",
    "goodput.ack_reverse_utilization": "Utilization of the reverse direction by ACKs",
    "goodput.half_duplex_goodput_bps": "Maximum TCP goodput of a half-duplex link",
    "line_rate.rate_goodput_bps": "Goodput of a packet rate",
    "line_rate.goodput_wire_bps": "Rate on the wire behind a reported goodput",
    "line_rate.header_bandwidth_bps": "Bandwidth that headers, preambles and gaps use",
    "line_rate.constant_offset_rate_pps": "Packet rate with a constant added (a common error)",
    "forwarding.forwarding_rate_pps": "Frame rate through a device on a link",
    "forwarding.crossover_frame_bytes": "Frame size where link and device limit alike",
    "forwarding.affine_rate_pps": "Packet rate of a device, by costs per packet and per byte",
    "forwarding.both_directions_pps": "Packet rate of a device in both directions",
    "forwarding.switch_rate_pps": "Forwarding rate that a switch needs",
    "hashing.fullest_link_percentile_flows": "Percentile of the flows on the fullest link",
    "hashing.hashing_efficiency_ratio": "Share of several links used when the first is full",
    "hashing.hashed_load_cv": "Variation of the load of a link by a hash of flows",
    "voice.voip_bandwidth_bps": "Bandwidth of a voice call, one direction",
    "latency.arrived_bytes": "Bytes received within a time",
    "latency.transfer_bandwidth_bps": "Bandwidth that a transfer in a given time requires",
    "latency.transfer_latency_s": "Latency that a transfer in a given time allows",
    "latency.transfer_s": "Transfer time, first bit sent to last bit received",
    "latency.half_rate_bytes": "Size that reaches half the rate of the line",
    "latency.echo_rtt_s": "Round-trip time of an echo, by its size",
    "store_and_forward.store_and_forward_s": "Delay of a train of packets, store-and-forward",
    "store_and_forward.pipeline_timeline": "Timeline of unequal packets over unequal links",
    "store_and_forward.message_s": "Time of a segmented message over several links",
    "store_and_forward.optimal_segment_bits": "Segment payload with the least delay of a message",
    "store_and_forward.equivalent_bandwidth_bps": "Rate of one link that equals several links",
    "store_and_forward.exchange_timeline": "Timeline of an exchange of packets",
    "latency.path_mixes": "Link types that explain a round-trip time",
    "asymmetry.asymmetry_factor": "Asymmetry: data packets per ACK of the reverse link",
    "courier.courier_throughput_bps": "Rate of disks by courier (sneakernet)",
    "courier.courier_break_even_bytes": "Size from which a courier beats a line",
    "distribution.peer_to_peer_distribution_s": "Least time to give a file to all peers",
    "host_stack.delivered_goodput_bps": "Goodput at the receiver of datagrams",
    "mbufs.stream_mbufs": "Calls, mbufs and clusters of a TCP write, 4.4BSD",
    "mbufs.freebsd_mbufs": "Calls, mbufs and clusters of a send, FreeBSD",
    "small_writes.nagle_may_send": "Nagle's algorithm: whether a segment is sent now",
    "small_writes.minshall_may_send": "Minshall's variant of Nagle: whether a segment is sent",
    "small_writes.write_write_read_s": "Response time of write-write-read",
    "small_writes.delayed_ack_s": "Delayed acknowledgement, by operating system",
    "pcie.pcie_link_bps": "Rate of a PCI Express link",
    "pcie.pcie_read_bytes": "Bytes of a read from memory on PCI Express",
    "pcie.pcie_write_throughput_bps": "Largest rate of writes to memory over PCI Express",
    "pcie.pcie_read_throughput_bps": "Largest rate of reads from memory over PCI Express",
    "all_reduce.rabenseifner_allreduce_s": "Time of an all-reduce by Rabenseifner's algorithm",
    "broadcast.ring_allgather_s": "Time of an all-gather or reduce-scatter over a ring",
    "broadcast.recursive_doubling_allgather_s": "Time of an all-gather by recursive doubling",
    "broadcast.scatter_allgather_broadcast_s": "Time of a broadcast by scatter and all-gather",
    "broadcast.pipelined_broadcast_s": "Time of a broadcast along a chain of ranks",
    "window.bdp_bytes": "Bandwidth-delay product",
    "window.serialized_throughput_bps": "Throughput of a sliding window of packets",
    "handshakes.round_trips": "Round trips to the first byte of the response",
    "handshakes.certificate_round_trips": "Extra round trips of a long certificate chain",
    "handshakes.first_byte_s": "Time to the first byte of the response",
    "handshakes.segments": "Number of segments of a minimal exchange",
    "slow_start.rounds_delayed_ack": "Round trips of slow start, delayed acknowledgements",
    "short_transfers.sending_s": "Time to send a number of segments, with slow start",
    "short_transfers.static_transfer_s": "Time to fetch an object (Kurose and Ross)",
    "short_transfers.fetch_s": "Time to fetch an object over a new connection",
    "short_transfers.slow_start_segments": "Segments sent before the first loss (Cardwell)",
    "short_transfers.slow_start_s": "Duration of slow start (Cardwell)",
    "short_transfers.lossy_transfer_s": "Duration of a transfer on a lossy path (Cardwell)",
    "timers.rto_s": "Retransmission timeout (RTO)",
    "timers.rto_estimate": "Retransmission timeout after each sample",
    "timers.backoff_s": "Retransmission timeout after several timeouts",
    "loss_limited.mathis_constant": "Constant of the square-root law (Mathis)",
    "loss_limited.mathis_throughput_bps": "Throughput of Reno under loss (Mathis)",
    "loss_limited.mathis_loss_ratio": "Loss that Reno bears at a throughput (Mathis)",
    "pftk.pftk_backoff_factor": "Backoff factor of a sequence of timeouts (PFTK)",
    "pftk.pftk_loss_ratio": "Loss that Reno bears at a rate, full PFTK",
    "pftk.pftk_approx_loss_ratio": "Loss that Reno bears at a rate, approximate PFTK",
    "pftk.tfrc_rounds": "Round trips per packet of TFRC",
    "cubic.cubic_increase_packets": "Additive increase of CUBIC's Reno-friendly region",
    "cubic.cubic_raw_window_packets": "Mean window of CUBIC, outside the Reno-friendly region",
    "cubic.cubic_mean_window_packets": "Mean window of CUBIC, Reno's as its floor",
    "bbr.bbr_inflight_limit_bytes": "Inflight limit of a BBR flow",
    "sharing.aimd_utilization": "Utilization of a bottleneck by one AIMD flow",
    "sharing.cubic_utilization": "Utilization of a bottleneck by one CUBIC flow",
    "sharing.full_use_buffer_bdp": "Smallest buffer that keeps a link busy, one flow",
    "sharing.sawtooth_period_s": "Time between two losses of an AIMD flow",
    "sharing.sawtooth_packets": "Packets between two losses of an AIMD flow",
    "sharing.buffer_rule_bytes": "Buffer size by rule of thumb",
    "sharing.drain_s": "Time to drain a full buffer",
    "sharing.jain_index": "Jain's fairness index",
    "sharing.jain_one_deviating": "Jain's fairness index, one of n flows deviating",
    "sharing.max_min_bps": "Max-min fair rates of flows on one link",
    "sharing.proportional_long_flow_bps": "Proportionally fair rate of the long flow",
    "sharing.proportional_short_flow_bps": "Proportionally fair rate of the short flows",
    "sharing.fair_share_bits": "Bits of each flow that shares a link equally",
    "window.efficiency_ratio": "TCP efficiency (RFC 6349)",
    "window.buffer_delay_factor": "Buffer delay (RFC 6349)",
    "window.connection_count": "Connections that fill a path with limited windows",
    "loss_limited.datagram_loss_ratio": "Datagram loss of lost fragments",
    "loss_limited.frame_error_ratio": "Share of frames with a bit error",
    "policer.policer_rule_bytes": "Burst of a policer by rule of thumb",
    "policer.policer_full_use_bytes": "Burst of a policer for the full token rate",
    "ecn.dctcp_threshold_bytes": "Least marking threshold of DCTCP, any number of flows",
    "ecn.ecn_threshold_bytes": "Marking threshold where a mark counts as a loss",
    "ceilings.congestion_limit_bps": "Rate of a congestion control under loss",
    "ceilings.path_ceilings": "Ceilings of the rate of TCP on a path",
    "transfer_time.transfer_time_s": "Time of a TCP transfer, everything included",
    "transfer_time.transfer_parts": "Parts of the time of a TCP transfer",
    "queueing.packet_mix_scv": "Variation of service times of a mix of packet sizes",
    "queueing.mg1_wait_s": "Mean wait, M/G/1 (Pollaczek-Khinchine)",
    "queueing.kingman_wait_s": "Mean wait, G/G/1 (Kingman)",
    "mm1.mm1_wait_s": "Mean wait, M/M/1",
    "mm1.mm1_sojourn_s": "Mean sojourn time, M/M/1",
    "mm1.mm1_customers": "Mean number of customers, M/M/1",
    "mm1.mm1_queue_length": "Mean number of customers waiting, M/M/1",
    "mm1.mm1_state_probability": "Probability of n customers, M/M/1",
    "mm1.mm1_wait_cdf": "Distribution of the wait, M/M/1",
    "mm1.mm1_wait_percentile_s": "Percentile of the wait, M/M/1",
    "mm1.mm1_sojourn_percentile_s": "Percentile of the sojourn time, M/M/1",
    "md1.md1_wait_s": "Mean wait, M/D/1",
    "md1.md1_customers": "Mean number of customers, M/D/1",
    "md1.md1_wait_cdf": "Distribution of the wait, M/D/1",
    "md1.md1_wait_percentile_s": "Percentile of the wait, M/D/1",
    "erlang.mmc_wait_s": "Mean wait, M/M/c",
    "erlang.mmc_wait_percentile_s": "Percentile of the wait, M/M/c",
    "erlang.service_level_ratio": "Service level: wait at most a given time (Erlang C)",
    "erlang.erlang_b_load": "Largest load at a blocking probability (Erlang B)",
    "erlang.erlang_b_server_count": "Circuits for a blocking probability (Erlang B)",
    "mm1.mm1k_customers": "Mean number of customers, M/M/1/K",
    "mm1.mm1k_wait_cdf": "Distribution of the wait of accepted customers, M/M/1/K",
    "backlog.lindley_wait_s": "Wait of each customer of a FIFO queue (Lindley)",
    "shared_buffer.shared_queue_bytes": "Queue of each port in a shared buffer",
    "shared_buffer.free_buffer_bytes": "Free memory of a shared buffer",
    "shared_buffer.shared_buffer_burst_bytes": "Largest burst without loss, shared buffer",
    "shared_buffer.absorbed_burst_bytes": "Largest burst without loss, buffer of a port",
    "shared_buffer.incast_backlog_bytes": "Backlog of incast",
    "shared_buffer.incast_sender_count": "Senders without loss in an incast",
    "shared_buffer.incast_goodput_bps": "Goodput of incast, with retransmission timeouts",
    "queueing.packet_mix_wait_percentile_s": "Percentile of the wait, mix of packet sizes",
    "queueing.packet_ahead_wait_s": "Mean wait of an urgent packet behind another",
    "scheduling.priority_wait_s": "Mean wait by priority, without preemption (Cobham)",
    "scheduling.preemptive_sojourn_s": "Mean sojourn time by priority, with preemption",
    "scheduling.wfq_delay_s": "Bound of the delay, weighted fair queueing",
    "token_bucket.delay_bound_s": "Bound of the delay behind a token bucket",
    "token_bucket.backlog_bound_bytes": "Bound of the backlog behind a token bucket",
    "token_bucket.path_delay_bound_s": "Bound of the delay over several links",
    "backlog.dispersion_index": "Index of dispersion of counts",
    "erlang.mmck_blocking_ratio": "Blocking probability, M/M/c/K",
    "erlang.mmck_wait_s": "Mean wait, M/M/c/K",
    "erlang.engset_blocking_ratio": "Blocking probability, limited sources (Engset)",
    "erlang.engset_time_ratio": "Share of time with every server busy (Engset)",
    "erlang.multirate_blocking_ratio": "Blocking by class of calls (Kaufman and Roberts)",
    "erlang.erlang_a": "Waiting and giving up of impatient calls (Erlang A)",
    "wifi.attempt_ratio": "Probability that a station sends in a slot (Bianchi)",
    "wifi.collision_ratio": "Probability that a frame collides (Bianchi)",
    "wifi.saturation_utilization": "Share of time that carries payload (Bianchi)",
    "wifi.saturation_throughput_bps": "Throughput of a saturated 802.11a or 802.11g network",
    "wifi.wifi_throughput_bps": "Throughput of an 802.11n, ac or ax station",
    "access.request_grant_s": "Mean time until a modem may send (DOCSIS, GPON)",
    "access.request_grant_max_s": "Longest time until a modem may send (DOCSIS, GPON)",
    "random_access.csma_cd_stations_efficiency_ratio": "Efficiency of CSMA/CD, several stations",
    "multiplexing.overload_ratio": "Probability that too many users are active at once",
    "multiplexing.overload_normal_ratio": "Probability of too many users, normal distribution",
    "multiplexing.active_percentile_count": "Percentile of the number of active users",
    "multiplexing.shared_bandwidth_bps": "Rate that many users need",
    "multiplexing.shared_bandwidth_normal_bps": "Rate that many users need, normal distribution",
    "multiplexing.class_bandwidth_bps": "Rate that several classes of users need",
    "multiplexing.supported_user_count": "Number of users that a link carries",
    "multiplexing.multiplexing_gain": "Multiplexing gain",
    "multiplexing.oversubscription": "Oversubscription",
    "growth.linear_exhaustion_s": "Time until a link is full, linear growth",
    "growth.exhaustion_s": "Time until a link is full, constant yearly growth",
    "growth.exhaustion_band_s": "Time until a link is full, from measured traffic",
    "availability.failure_utilization": "Utilization of links after a failure",
    "availability.failure_safe_utilization": "Largest utilization that survives a failure (N-1)",
    "probing.rtt_intercept_s": "Intercept of the round-trip time over user data",
    "probing.pair_bandwidth_bps": "Rate of the narrow link, from a packet pair",
    "sample_statistics.ipdv_s": "IP packet delay variation, consecutive packets",
    "sample_statistics.pdv_s": "Packet delay variation above the minimum",
    "sample_statistics.median": "Median",
    "sample_statistics.percentile": "Percentile",
    "sample_statistics.theil_sen_slope": "Theil-Sen slope",
    "sample_statistics.theil_sen_intercept": "Theil-Sen intercept",
    "sample_statistics.billed_rate_bps": "Rate that is billed by the 95th percentile",
    "clock.reading_error_std_s": "Error of one reading of a clock, standard deviation",
    "clock.interval_error_limit_s": "Largest error of an interval by a clock",
    "clock.interval_error_std_s": "Standard deviation of a measured interval",
}

PROPER_NAMES = frozenset({"Ethernet", "Jain's", "Minshall's", "Nagle's", "Theil-Sen"})
"""First words of titles that keep their capital inside a sentence."""
