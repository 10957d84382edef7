"""The search of formulas: words, their stems and synonyms, ranked by where they are found.

A word counts most in the name of a formula or in what people ask it for
(:data:`TAGS`), less in its summary, little in its arguments and
source; a synonym counts less than the word itself, and a word that many formulas have less than a
rare one. A formula that has all words comes before one that has some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Protocol, TypeVar

from netcalc.calculator.names import ARGUMENT_ALIASES
from netcalc.calculator.parameter import Parameter


class Searched(Protocol):
    """What the search looks at: the texts of a formula."""

    def __hash__(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def short_name(self) -> str: ...
    @property
    def function_name(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def validity(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


SearchedFormula = TypeVar("SearchedFormula", bound=Searched)

PLACE = "place"
"""The word that every name of a place becomes: how far it is decides its latency."""

PLACES = frozenset(
    {
        "earth", "globe", "world", "moon", "mars",
        "amsterdam", "asia", "atlanta", "atlantic", "auckland", "australia", "bangalore",
        "beijing", "berlin", "boston", "brazil", "california", "canada", "capetown", "chicago",
        "china", "dallas", "delhi", "denver", "dubai", "dublin", "europe", "france",
        "frankfurt", "germany", "helsinki", "hong", "iceland", "india", "ireland", "istanbul",
        "jakarta", "japan", "johannesburg", "korea", "lagos", "london", "losangeles", "madrid",
        "marseille", "melbourne", "miami", "milan", "montreal", "moscow", "mumbai", "munich",
        "nairobi", "nyc", "oslo", "pacific", "paris", "poland", "prague", "quebec", "rome",
        "seattle", "seoul", "shanghai", "singapore", "spain", "stockholm", "sweden", "sydney",
        "taipei", "texas", "tokyo", "toronto", "transatlantic", "transpacific", "uk", "usa",
        "vancouver", "vienna", "virginia", "warsaw", "washington", "zurich",
    }
)  # fmt: skip
"""Cities, countries and oceans of one word."""

PLACE_PHRASES = (
    "new york", "los angeles", "san francisco", "hong kong", "sao paulo", "buenos aires",
    "cape town", "tel aviv", "south africa", "south america", "north america", "new zealand",
    "united states", "mexico city", "kuala lumpur", "las vegas", "silicon valley", "us east",
    "us west", "east coast", "west coast", "coast to coast", "between cities", "between continents",
    "around the world", "other side of the world", "across the atlantic", "across the pacific",
)  # fmt: skip
"""Places of several words."""

MORE_PHRASES = {
    **dict.fromkeys(PLACE_PHRASES, PLACE),
    "average speed of answer": "callcenter wait", "random arrival": "poisson",
    "random arrivals": "poisson", "hockey stick": "knee", "k of n": "kofn",
    "per customer": "subscriber", "each customer": "subscriber", "voice grade": "shannon",
    "service rate": "service", "arrival rate": "arrival", "how often": "interval",
    "traffic engineering": "utilization", "worst case": "bound", "guaranteed delay": "bound delay",
    "guaranteed": "bound", "upper bound": "bound", "error correction": "ber",
    "bits per day": "busyhour", "per day": "busyhour", "per month": "busyhour",
    "daily volume": "busyhour", "monthly volume": "busyhour", "sqrt p": "squareroot",
    "square root": "squareroot", "at once": "simultaneous", "at the same time": "simultaneous",
    "video conference": "video", "video conferencing": "video", "leased line": "serial",
    "hard disk": "file", "virtual machine": "file", "vm image": "file", "vm disk": "file",
    "data base": "file", "dark fiber": "fiber", "sd wan": "tunnel", "site to site": "vpn",
    "full speed": "fullspeed", "line speed": "linerate", "queue depth": "queue length",
    "half open": "syn", "time out": "timeout", "down time": "downtime", "up time": "uptime",
    "link failure": "failover", "single point of failure": "availability", "load balance": "ecmp",
    "load balancing": "ecmp", "cross traffic": "load", "background traffic": "load",
    "self similar": "bursty", "dial up": "modem", "packet sizes": "packetsize",
    "frame sizes": "packetsize", "allowed loss": "lossbudget", "tolerable loss": "lossbudget",
    "loss budget": "lossbudget", "maximum loss": "lossbudget", "how much loss": "lossbudget",
    "five nines": "nines", "four nines": "nines", "three nines": "nines", "wi-fi": "wifi",
    "wi fi": "wifi", "tail drop": "drop", "link aggregation": "lag", "port channel": "lag",
    "equal cost": "ecmp", "data cap": "cap", "bits per second": "bandwidth",
    "retransmission timer": "rto", "quality of service": "qos",
    "mean time between failures": "mtbf", "mean time to repair": "mttr", "signal to noise": "snr",
    "signal to noise ratio": "snr", "bit error rate": "ber", "bit error ratio": "ber",
    "bit errors": "ber", "path mtu": "mtu", "maximum transmission unit": "mtu",
    "maximum segment size": "mss", "service level agreement": "sla", "autonomous system": "as",
    "access point": "wifi", "ethernet speed": "linerate", "peer to peer": "p2p",
    "carrier sense": "csma", "busy hour": "busyhour", "over subscription": "oversubscription",
    "over-subscription": "oversubscription", "large receive offload": "offload",
    "hash polarization": "ecmp", "round robin": "wfq", "selective repeat": "selectiverepeat",
    "go back n": "gobackn", "go-back-n": "gobackn", "sequence number": "sequence",
    "head of line blocking": "hol",
}  # fmt: skip
"""Several words that mean one thing, and the one word they become."""

MORE_SYNONYMS: dict[str, tuple[str, ...]] = {
    "openvpn": ("tunnel", "vpn"), "tailscale": ("tunnel", "vpn"), "zerotier": ("tunnel", "vpn"),
    "sstp": ("tunnel", "vpn"), "l2tp": ("tunnel", "vpn"), "ipip": ("tunnel",),
    "nvgre": ("tunnel",), "6in4": ("tunnel",), "lisp": ("tunnel",),
    PLACE: ("distance", "propagation"), "mobile": ("5g", "grant"), "cellular": ("5g", "grant"),
    "4g": ("5g", "grant"), "lte": ("5g", "grant"), "6g": ("5g",), "radio": ("5g", "wifi"),
    "wlan": ("wifi",), "wifi": ("802.11", "wireless", "station"), "wireless": ("wifi", "station"),
    "80211ac": ("wifi",), "80211ax": ("wifi",), "80211n": ("wifi",), "wifi6": ("wifi",),
    "hotline": ("callcenter", "erlang", "waiting"), "helpdesk": ("callcenter", "erlang"),
    "support": ("callcenter",), "knee": ("mm1", "utilization"), "poisson": ("mm1", "md1", "queue"),
    "memoryless": ("mm1",), "exponential": ("mm1", "backoff"), "deterministic": ("md1",),
    "constant": ("md1",), "random": ("mm1", "aloha"), "bound": ("worst", "delaybound"),
    "shaped": ("tokenbucket", "bound"), "shape": ("tokenbucket", "bound"), "wait": ("queue",),
    "waiting": ("wait", "place"), "attachment": ("transfer",), "email": ("transfer",),
    "game": ("transfer",), "movie": ("transfer",), "iso": ("transfer",), "tape": ("transfer",),
    "photo": ("transfer", "fetch"), "big": ("large",), "large": ("largest",), "tiny": ("small",),
    "short": ("small",), "needed": ("required",), "necessary": ("required",),
    "allowed": ("largest", "limit"), "permitted": ("largest",), "tolerable": ("largest",),
    "probability": ("blocking", "cdf"), "chance": ("probability",), "odds": ("probability",),
    "likelihood": ("probability",), "usage": ("utilization",), "occupancy": ("utilization",),
    "full": ("exhaustion", "utilization"), "busiest": ("busyhour",), "daily": ("busyhour",),
    "monthly": ("busyhour",), "computer": ("host",), "laptop": ("host",),
    "clone": ("copy", "transfer"), "rsync": ("transfer",), "ftp": ("transfer",),
    "sftp": ("transfer",), "smb": ("transfer", "window"), "nfs": ("transfer", "window"),
    "iscsi": ("transfer", "window"), "database": ("transfer",), "restore": ("transfer",),
    "dump": ("transfer",), "send": ("transfer", "serialization"), "move": ("transfer",),
    "image": ("transfer",), "disk": ("transfer",), "snapshot": ("transfer",), "push": ("transfer",),
    "pull": ("transfer",), "cdn": ("distance", "fetch"), "region": ("distance",),
    "datacenter": ("distance",), "continent": ("distance",), "ocean": ("distance",),
    "submarine": ("distance",), "trading": ("cut", "distance"), "grpc": ("response", "ttfb"),
    "rest": ("response", "ttfb"), "websocket": ("response",), "camera": ("users", "bandwidth"),
    "cctv": ("users",), "meeting": ("users",), "webinar": ("users",), "employee": ("users",),
    "office": ("users",), "campus": ("users",), "branch": ("users",),
    "hotel": ("users", "subscriber"), "school": ("users",), "student": ("users",),
    "people": ("users",), "home": ("subscriber", "users"), "iot": ("users",), "sensor": ("users",),
    "empty": ("drain",), "overflow": ("fill", "blocking"), "fill": ("exhaustion", "fluid"),
    "exceed": ("overload",), "saturate": ("saturating", "connection"), "stall": ("timeout",),
    "hang": ("timeout",), "freeze": ("timeout", "jitter"), "stutter": ("jitter",),
    "choppy": ("jitter",), "limited": ("finite", "place", "limit"), "finite": ("place", "limited"),
    "place": ("buffer",), "simultaneous": ("active", "once", "incast"),
    "reply": ("response", "echo"), "response": ("first", "byte"), "wireguard": ("tunnel", "vpn"),
    "esp": ("tunnel",), "add": ("overhead", "header"), "extra": ("overhead", "header"),
    "byte": ("size",), "squareroot": ("mathis",), "router": ("hop", "forwarding", "device"),
    "switch": ("hop", "forwarding"), "ramp": ("growth", "slow"), "fullspeed": ("window", "growth"),
    "congest": ("overload", "loss"), "core": ("cpu", "cycle"), "server": ("erlang",),
    "thread": ("server", "concurrency"), "worker": ("server", "concurrency"),
    "pool": ("server", "concurrency"), "minimum": ("smallest",), "smallest": ("minimum",),
    "biggest": ("largest",), "maximum": ("largest", "limit"), "max": ("maximum", "largest"),
    "min": ("minimum", "smallest"), "cost": ("billing",), "price": ("billing",),
    "charge": ("billing",), "pay": ("billing",), "headroom": ("exhaustion", "failure"),
    "spare": ("exhaustion", "failure"), "alpha": ("threshold",), "overbook": ("oversubscription",),
    "overbooking": ("oversubscription",), "crc": ("ber",), "optical": ("ber", "fiber"),
    "optic": ("fiber", "ber"), "error": ("ber",), "modem": ("serialization", "serial"),
    "variance": ("scv", "variation"), "bursty": ("dispersion", "burstiness"),
    "burstiness": ("dispersion",), "tolerate": ("lossbudget",),
    "client": ("station", "user", "customer"), "lossbudget": ("loss",),
    "minute": ("downtime", "time"), "zoom": ("video", "bandwidth", "users"),
    "teams": ("video", "users"), "netflix": ("video", "users"), "streaming": ("video", "users"),
    "video": ("users",), "gaming": ("latency", "jitter"), "lagging": ("latency",),
    "buffering": ("jitter", "buffer"), "iops": ("concurrency", "little"),
    "queue": ("wait", "buffer", "backlog"), "qos": ("priority", "wfq"),
    "schedule": ("wfq", "priority"), "scheduler": ("wfq", "priority"),
    "nat": ("device", "forwarding"), "loadbalancer": ("ecmp", "hashing"), "ip": ("packet",),
    "cloud": ("transfer", "distance"), "aws": ("transfer", "distance"), "s3": ("transfer",),
    "migrate": ("transfer",), "sync": ("transfer",), "nas": ("transfer",), "dns": ("udp", "rtt"),
    "tcp": ("throughput", "window"), "udp": ("datagram",), "arp": ("frame",), "cap": ("arrived",),
    "redundancy": ("parallel", "availability"), "redundant": ("parallel", "availability"),
    "reliability": ("availability",), "outage": ("downtime", "availability"),
    "sla": ("availability", "downtime"), "resilience": ("availability", "failure"),
    "failover": ("failure",), "failure": ("availability",), "subscriber": ("user", "access"),
    "isp": ("subscriber", "access", "oversubscription"), "household": ("subscriber", "user"),
    "concentration": ("oversubscription",), "peak": ("busyhour",), "busyhour": ("busy", "hour"),
    "retransmission": ("rto", "loss"), "transmit": ("serialization",), "clock": ("timer",),
    "timestamp": ("clock",), "docsis": ("grant",), "pon": ("grant",), "gpon": ("grant",),
    "vdsl": ("ptm",), "noise": ("snr", "shannon"), "snr": ("shannon",), "modulation": ("shannon",),
    "hz": ("shannon", "channel"), "spectrum": ("shannon", "channel"), "bond": ("lag",),
    "trunking": ("lag", "trunk"), "bundle": ("lag",), "spine": ("oversubscription", "ecmp"),
    "leaf": ("oversubscription", "ecmp"), "fabric": ("switch", "oversubscription"),
    "collision": ("csma",), "token": ("tokenbucket",), "quota": ("tokenbucket",),
    "throttle": ("tokenbucket",), "throttling": ("tokenbucket",), "meter": ("policer",),
    "elephant": ("ecmp", "hashing"), "skew": ("hashing", "ecmp"), "imbalance": ("hashing", "ecmp"),
    "offload": ("host", "core"), "dpdk": ("core", "cycle"), "softirq": ("core", "cycle"),
    "interrupt": ("core", "host"), "keepalive": ("timeout",), "handover": ("5g",),
    "telephone": ("erlang", "voip"), "telephony": ("erlang", "voip"), "pbx": ("trunk", "erlang"),
    "dimension": ("count",), "sizing": ("count", "rule"), "provision": ("shared", "users"),
    "capacityplanning": ("shared", "exhaustion"), "trend": ("growth", "exhaustion"),
    "forecast": ("growth", "exhaustion"), "upgrade": ("exhaustion",), "doubling": ("growth",),
    "moore": ("growth",), "invoice": ("billing",), "bill": ("billing",), "transit": ("billing",),
    "95th": ("percentile", "billing"), "iperf": ("goodput", "throughput"),
    "speedtest": ("goodput", "throughput"), "measure": ("probe", "dispersion"),
    "estimate": ("dispersion", "pair"), "stdev": ("deviation",), "mos": ("jitter",),
    "hashing": ("ecmp",), "ipv6": ("header", "mtu"), "trombone": ("distance",),
}  # fmt: skip
"""A word, and the words of the catalogue that it may also mean; each counts a little less."""

DATASETS = {
    "access_latencies": (
        "5g", "4g", "lte", "mobile", "cellular", "starlink", "docsis", "geostationary",
    ),
}  # fmt: skip
"""Bundled tables that answer a question beside formulas, with the words that ask for them."""

MORE_TAGS: dict[str, tuple[str, ...]] = {
    "mm1_wait": ("random arrivals", "poisson", "knee", "exponential service", "utilization knee"),
    "mm1_sojourn": ("knee", "poisson", "response time"),
    "mmck_wait": ("hotline waiting places", "waiting places"),
    "mmck_blocking": ("hotline waiting places", "waiting places"),
    "delay_bound": ("bound of a shaped flow", "delaybound"),
    "tunnel_udp_payload": ("largest packet through a vpn",),
    "mathis_throughput": ("squareroot", "squareroot law", "macroscopic model"),
    "rounds": ("cwnd growth", "cwnd after rtts", "congestion window doubling"),
    "window_growth": ("cwnd growth", "fullspeed", "time to fullspeed"),
    "drain": ("empty the buffer", "time to empty a queue", "lag under load", "ping under load"),
    "mm1k_blocking": ("limited places", "finite queue", "limited queue", "queue full"),
    "incast_backlog": ("servers reply simultaneous", "synchronized replies", "scatter gather"),
    "incast_sender_count": ("servers reply simultaneous", "incast", "how many senders"),
    "store_and_forward": ("delay over routers", "delay over hops", "delay over switches",
        "number of hops", "switches"),
    "tunnel_goodput": ("wireguard throughput", "wireguard speed", "gre throughput"),
    "channel_payload": ("line name", "ds3", "usable rate of a leased line"),
    "ethernet_wire": ("bytes added", "header sizes"),
    "header_bandwidth": ("overhead of headers", "bytes added"),
    "downtime": ("nines", "minutes down", "hours down", "minutes per year"),
    "mathis_loss": ("lossbudget", "loss tolerate"), "cubic_loss": ("lossbudget", "loss tolerate"),
    "packet_mix_scv": ("variance packetsize", "mixed packetsize"),
    "dispersion_index": ("burstiness", "bursty", "bursty traffic"),
    "dispersion_wait": ("burstiness", "bursty", "bursty traffic"),
    "saturation_throughput": ("wifi contention", "many stations", "crowded wifi", "wifi clients"),
    "propagation": (PLACE, f"rtt {PLACE}", f"latency {PLACE}", "ping distance", "rtt of a distance",
        "how far", "fastest possible ping"),
    "request_grant": ("5g latency", "lte latency", "4g latency", "mobile latency", "5g uplink",
        "docsis", "gpon", "epon"), "request_grant_max": ("docsis", "gpon", "worst upstream delay"),
    "availability": ("mtbf", "mttr", "nines", "uptime", "sla", "reliability"),
    "k_of_n_availability": ("redundancy n+1", "kofn", "kofn needed", "redundant"),
    "failure_safe_utilization": ("n-1", "how full may a link be", "headroom for failure",
        "failover headroom"), "ofdm_frame": ("airtime", "wifi airtime", "802.11g", "802.11a"),
    "dsss_frame": ("airtime", "802.11b"), "wifi_rate": ("wifi speed", "mcs", "phy rate", "mimo"),
    "wifi_aggregate": ("ampdu", "a-mpdu", "aggregation"),
    "wifi_throughput": ("wifi speed", "wifi 6", "802.11ac", "802.11ax", "real wifi speed"),
    "shannon": ("channel capacity", "snr", "noise", "spectral efficiency", "hartley"),
    "shannon_snr": ("required snr", "link budget"), "nyquist": ("symbol rate", "baud", "levels"),
    "bit_error_limit": ("required ber", "allowed ber"),
    "bit_error_interval": ("time between errors",),
    "busy_hour": ("busyhour", "peak traffic", "daily traffic to rate", "gb per day to mbit",
        "traffic per month"),
    "busy_hour_erlang": ("busyhour calls", "calls to erlang", "offered load of calls",
        "holding time"),
    "overload": ("how many active at once", "congestion probability", "binomial",
        "statistical multiplexing"),
    "shared_bandwidth": ("office internet", "bandwidth per user", "people", "employees", "students",
        "video calls", "zoom", "netflix"), "class_bandwidth": ("mixed users", "classes of users"),
    "supported_user_count": ("how many people", "how many students", "users per access point"),
    "oversubscription": ("spine leaf", "contention", "uplink ratio"),
    "access_node_bandwidth": ("subscribers", "isp uplink", "olt uplink", "cmts", "dslam"),
    "access_node_subscriber_count": ("subscribers per port", "homes per pon", "households"),
    "multiplexing_gain": ("statistical multiplexing gain",),
    "linear_exhaustion": ("link full linear growth",),
    "exhaustion_band": ("when full with confidence", "trend of measured traffic"),
    "pcie_link": ("pcie bandwidth", "pcie lanes", "gen3 x8"),
    "pcie_write_throughput": ("nic receive limit", "pcie bottleneck"),
    "pcie_read_throughput": ("nic transmit limit", "pcie bottleneck"),
    "core_rate": ("packets per core", "pps per core"), "incast_goodput": ("incast collapse",),
    "shared_buffer_burst": ("microburst", "dynamic threshold", "switch buffer burst"),
    "shared_queue": ("dynamic threshold", "alpha"),
    "policed_throughput": ("tcp through a policer", "policing tcp"),
    "policed_loss": ("tcp through a policer",),
    "policer_overload_loss": ("udp through a policer", "excess traffic dropped"),
    "ecn_threshold": ("ecn", "red", "aqm marking"), "bbr_throughput": ("bbr", "bbr with loss"),
    "congestion_limit": ("limit by loss", "loss throughput"),
    "page_round_trips": ("http2", "round trips of a page"),
    "page_load": ("http2", "http3", "website slow", "web page time"),
    "handshake": ("syn retransmission", "3-way handshake", "three way handshake"),
    "first_byte": ("three way handshake", "3-way handshake", "tls 1.3", "https", "rest call",
        "dns lookup", "name lookup"),
    "round_trips": ("tls 1.3", "tls 1.2", "0-rtt"),
    "rto_estimate": ("smoothed rtt", "jacobson", "srtt", "rttvar"),
    "last_retransmission": ("tcp_syn_retries",), "bit_stuffing": ("hdlc", "bit stuffing"),
    "byte_stuffing": ("ppp escape", "byte stuffing"), "hdlc_efficiency": ("hdlc overhead",),
    "ppp_efficiency": ("ppp overhead",), "ptm_wire": ("vdsl", "vdsl overhead", "64/65"),
    "sonet_line": ("oc-3", "oc-48", "stm"), "mm1k_wait": ("wait with a finite buffer",),
    "mm1_customers": ("customers in system",),
    "mm1_state_probability": ("probability of n in system", "probability n packets"),
    "md1_wait": ("deterministic service", "voip queue"), "kingman_wait": ("g/g/1", "variability"),
    "jackson_sojourn": ("queueing network",), "mva_throughput": ("closed network",),
    "engset_blocking": ("finite sources",),
    "multirate_blocking": ("multi service calls", "video and voice calls"),
    "preemptive_sojourn": ("preemptive priority",),
    "packet_ahead_wait": ("priority behind a large packet", "voice behind a jumbo frame"),
    "stop_and_wait_loss_utilization": ("arq with loss",),
    "selective_repeat_utilization": ("selectiverepeat",), "go_back_n_utilization": ("gobackn",),
    "pure_aloha_utilization": ("aloha", "random access"),
    "slotted_aloha_utilization": ("aloha", "random access"),
    "csma_cd_efficiency": ("collision", "half duplex ethernet", "hub"),
    "min_mtu": ("smallest mtu", "ipv6 minimum mtu", "1280"),
    "ethernet_frame": ("minimum frame size", "runt", "1518"),
    "frame_rate": ("14.88", "mpps", "max frames"),
    "udp_payload_limit": ("65507", "maximum datagram"),
    "udp_payload": ("largest datagram without fragmentation",),
    "fragmented": ("fragmentation overhead",), "tunnel_packet": ("outer packet size",),
    "tunnel_wire": ("encapsulated size on the wire",),
    "goodput_wire": ("wire rate of a goodput", "goodput to line rate"),
    "ack_reverse_utilization": ("ack traffic",), "tcp_ack_wire": ("ack size", "size of an ack"),
    "transfer_latency": ("allowed latency",), "reading_error_std": ("clock resolution",),
    "interval_error_limit": ("clock resolution", "timer granularity"),
    "pair_dispersion": ("packet pair",), "theil_sen_slope": ("robust fit", "robust regression"),
    "median_absolute_deviation": ("mad", "robust spread"), "ideal_transfer": ("rfc 6349",),
    "max_min": ("water filling",), "voip_bandwidth": ("g.722", "rtp", "srtp"),
    "rtp_header": ("rtp overhead",), "write_write_read": ("nagle delayed ack",),
    "initial_window": ("iw 10",), "window_shift": ("rfc 7323", "window above 64"),
    "lindley_wait": ("simulate a queue",), "satellite_rtt": ("viasat", "oneweb", "orbit"),
    "half_rate": ("n half", "n1/2"), "little_number": ("n = lambda t",),
    "transfer_time": ("download", "how long to download", "how long to copy", "backup time",
        "file over vpn", "copy to cloud", "why is my download slow"),
    "transfer_bandwidth": ("bandwidth to finish in time", "required rate to transfer"),
}  # fmt: skip
"""What people ask for, by the formula that answers it, besides what has been there before."""


MOST_NEEDED = (
    "transfer_time", "transfer", "fetch", "bdp", "throughput", "tcp_goodput_bps", "frame_rate",
    "propagation", "serialization", "first_byte", "tunnel_mtu", "buffer_rule",
    "mm1_wait_percentile", "erlang_b_server_count", "voip_bandwidth",
)  # fmt: skip
"""The fifteen formulas that most questions need, in the order in which the list begins."""

PHRASES = {
    "how long": "time", "how fast": "speed", "how big": "size", "how large": "size",
    "how much data": "volume", "how many": "count", "round trip": "rtt", "round trips": "rtts",
    "per second": "rate", "bits per second": "bandwidth", "packets per second": "pps",
    "frames per second": "pps", "line rate": "linerate", "wire speed": "linerate",
    "head of line": "hol", "time to first byte": "ttfb", "load time": "pageload",
    "page load": "pageload", "store and forward": "storeforward", "data center": "datacenter",
    "rule of thumb": "thumb", "jumbo frame": "jumbo", "jumbo frames": "jumbo",
    "first byte": "ttfb", "stop and wait": "stopandwait", "token bucket": "tokenbucket",
    "leaky bucket": "tokenbucket", "grade of service": "gos", "call center": "callcenter",
    "contact center": "callcenter", "voice over ip": "voip", "ip phone": "voip",
    "phone call": "voip", "phone calls": "voip", "packet loss": "loss",
    "packet size": "packetsize", "speed of light": "lightspeed", "light speed": "lightspeed",
    "window size": "windowsize", "window scaling": "wscale", "window scale": "wscale",
    "big file": "file", "bandwidth delay product": "bdp", "bandwidth delay": "bdp",
    "fast open": "tfo", "clamp mss": "mss", "m/m/1": "mm1", "m/d/1": "md1", "m/g/1": "mg1",
    "m/m/c": "mmc", "m/m/1/k": "mm1k", "g/g/1": "gg1", "erlang b": "erlangb",
    "erlang c": "erlangc",
}  # fmt: skip
"""Several words that mean one thing, and the one word they become."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "rtt": ("round", "trip", "echo", "ping"), "ping": ("echo", "rtt", "latency"),
    "rtts": ("rounds", "round"), "lag": ("latency", "delay"), "delay": ("latency", "wait"),
    "latency": ("delay", "rtt"), "speed": ("rate", "throughput", "bandwidth"),
    "fast": ("rate", "throughput"), "slow": ("throughput", "limited"), "bw": ("bandwidth",),
    "bandwidth": ("rate", "throughput"), "capacity": ("bandwidth", "count"),
    "download": ("fetch", "transfer"), "upload": ("transfer",), "copy": ("transfer",),
    "file": ("transfer", "object", "bulk"), "backup": ("transfer",), "web": ("fetch", "object"),
    "website": ("fetch", "pageload"), "page": ("fetch", "object"), "http": ("fetch", "response"),
    "volume": ("arrived", "transfer"), "duration": ("time",),
    "vpn": ("tunnel", "wireguard", "esp"), "ipsec": ("esp", "tunnel"), "vxlan": ("tunnel",),
    "gre": ("tunnel",), "geneve": ("tunnel",), "gtp": ("tunnel",), "mpls": ("tunnel",),
    "pppoe": ("tunnel", "ppp", "atm"), "overlay": ("tunnel",), "wg": ("wireguard",),
    "encapsulation": ("tunnel",), "overhead": ("wire", "header"), "header": ("overhead",),
    "pps": ("frame", "packet", "rate"), "linerate": ("frame", "rate", "line"),
    "jumbo": ("mtu", "frame", "goodput"), "efficiency": ("ratio", "goodput"),
    "mss": ("payload", "segment"), "mtu": ("payload",), "fiber": ("propagation", "signal"),
    "distance": ("propagation",), "cable": ("propagation",),
    "lightspeed": ("signal", "propagation"), "light": ("signal",), "km": ("distance",),
    "starlink": ("satellite",), "geo": ("satellite",), "leo": ("satellite",), "dsl": ("atm",),
    "adsl": ("atm",), "bufferbloat": ("buffer", "drain"), "buffer": ("queue",),
    "queue": ("wait", "buffer"), "queuing": ("wait",), "congestion": ("loss", "cubic", "reno"),
    "drop": ("loss", "blocking"), "lossy": ("loss",), "reno": ("loss",), "windowsize": ("window",),
    "wscale": ("window", "shift"), "receive": ("window",), "rwnd": ("window",),
    "cwnd": ("window", "congestion"), "voip": ("voice", "call"), "call": ("erlang", "voip"),
    "phone": ("call", "voip"), "sip": ("call", "voip"), "codec": ("voice",), "rtp": ("voice",),
    "trunk": ("server", "erlang"), "line": ("link",), "agent": ("server", "erlang"),
    "callcenter": ("erlang", "server", "agent"), "busy": ("blocking", "utilization"),
    "gos": ("blocking",), "teletraffic": ("erlang",), "hold": ("wait",), "jitter": ("variation",),
    "percentile": ("quantile",), "p95": ("percentile",), "p99": ("percentile",),
    "tail": ("percentile",), "worst": ("percentile",), "average": ("mean",),
    "utilization": ("load",), "load": ("utilization",), "user": ("flow", "customer", "count"),
    "oversubscription": ("multiplexing", "users"), "contention": ("multiplexing", "share"),
    "share": ("fair",), "fair": ("share", "jain"), "handshake": ("round", "trip", "ttfb"),
    "tls": ("handshake", "security"), "ssl": ("tls", "handshake"), "https": ("tls", "handshake"),
    "quic": ("handshake", "transport"), "http3": ("quic", "handshake"), "connect": ("handshake",),
    "syn": ("handshake", "retransmission"), "timeout": ("rto", "retransmission"),
    "retransmit": ("rto", "retransmission"), "retry": ("retransmission",), "nagle": ("small",),
    "delack": ("delayed", "ack"), "ack": ("acknowledgement",), "limiter": ("tokenbucket",),
    "policer": ("tokenbucket",), "shaper": ("tokenbucket",), "burst": ("bucket", "backlog"),
    "microburst": ("backlog", "buffer"), "switch": ("forwarding", "cut", "store"),
    "router": ("forwarding", "device"), "firewall": ("forwarding", "device"),
    "cpu": ("host", "cost", "device"), "nic": ("frame", "rate", "forwarding"),
    "hop": ("link", "path", "store"), "vlan": ("tag", "ethernet"), "ethernet": ("frame", "wire"),
    "fragment": ("datagram",), "mixed": ("mix",), "traceroute": ("hop",),
    "asymmetric": ("reverse",), "adaptive": ("rto",), "parallel": ("connection", "count"),
    "stream": ("connection", "flow"), "wireless": ("half", "duplex"), "wifi": ("half", "duplex"),
    "sonet": ("pos",), "serial": ("ppp",), "t1": ("channel", "serial"), "pdv": ("variation",),
    "storage": ("transfer",), "video": ("bandwidth",), "replication": ("transfer",),
    "long": ("bdp", "window"), "lfn": ("bdp", "window"), "syslog": ("frame",),
    "outlier": ("median", "robust"), "ssh": ("small", "write"), "typing": ("small", "write"),
    "satellite": ("altitude",),
}  # fmt: skip
"""A word, and the words of the catalogue that it may also mean; each counts a little less."""

TAGS: dict[str, tuple[str, ...]] = {
    "transfer_time": ("download time", "transfer time with loss", "tcp transfer", "upload time",
                      "how long does tcp take", "file transfer", "cubic reno bbr transfer"),
    "path_ceilings": ("what limits tcp", "limits of a path", "line window loss", "bottleneck"),
    "congestion_controls": ("compare congestion controls", "cubic against bbr", "reno cubic bbr"),
    "shared_bandwidth": ("how much bandwidth for users", "capacity for users", "500 users",
                         "multiplexing", "contention ratio", "users at once", "p95 of users"),
    "supported_user_count": ("how many users", "users on a link"),
    "oversubscription": ("contention ratio", "overbooking"),
    "exhaustion": ("when is the link full", "when full", "date a link is full", "link full",
                   "run out",
                   "capacity exhaustion", "upgrade date", "when to upgrade", "growth"),
    "grown_traffic": ("traffic in years", "forecast", "growth"), "annual_growth": ("cagr",),
    "series_availability": ("availability in a row", "nines", "uptime", "sla"),
    "parallel_availability": ("redundancy", "redundant links", "two links", "backup line", "nines",
                              "uptime"),
    "downtime": ("nines", "uptime", "sla", "outage"),
    "failure_utilization": ("n-1", "load after a failure", "link fails", "failover"),
    "fullest_link_percentile_flows": ("ecmp imbalance", "lag imbalance", "hashing imbalance",
                                      "link aggregation", "lacp", "bond"),
    "hashing_efficiency": ("ecmp efficiency", "lag efficiency", "lacp", "bond", "port channel"),
    "absorbed_burst": ("microburst", "burst absorption", "how large a burst"),
    "incast_backlog": ("incast", "fan in", "many to one"),
    "core_count": ("cores needed", "cpu cores", "dpdk"), "cycle_budget": ("cycles per packet",),
    "frame_error": ("packet loss from ber", "packet loss from bit errors", "ber to loss",
                    "packet error rate", "ber"),
    "policer_rule": ("policer burst", "committed burst", "cir burst", "bc"),
    "billed_rate": ("95th percentile billing", "burstable billing", "transit bill"),
    "dctcp_threshold": ("dctcp k", "ecn marking threshold", "k of dctcp"),
    "erlang_a": ("abandoned calls", "call center abandoned", "impatience", "patience"),
    "priority_wait": ("priority queue", "priority queue delay", "llq", "strict priority"),
    "wfq_delay": ("weighted fair queueing", "wfq", "gps bound"),
    "delay_bound": ("network calculus", "worst case delay", "token bucket delay bound"),
    "packet_mix_wait_percentile": ("p99 of the wait", "p99 queueing delay", "percentile mixed"),
    "page_load": ("page load time", "http/2 against http/1.1", "many objects", "pageload"),
    "request_grant": ("docsis latency", "gpon latency", "cable modem latency", "pon latency"),
    "go_back_n_utilization": ("gbn", "go back n", "sliding window with loss"),
    "selective_repeat_utilization": ("sliding window with loss", "sr arq"),
    "peer_to_peer_distribution": ("p2p", "bittorrent", "peer to peer"),
    "client_server_distribution": ("p2p", "distribute a file", "client server"),
    "wifi_throughput": ("wifi", "wireless", "802.11", "wlan", "airtime"),
    "saturation_throughput": ("bianchi", "wifi stations", "wlan stations"),
    "transfer": ("transfer time", "file transfer", "copy time", "upload time",
                 "how long backup", "download time", "migration", "send time"),
    "fetch": ("download time", "web object", "http download", "load time", "pageload",
              "web page", "small file", "short transfer", "rest api", "short flow"),
    "arrived": ("how much data in a time", "data cap", "bytes in an hour"),
    "transfer_bandwidth": ("required bandwidth for a transfer", "backup window", "deadline"),
    "transfer_throughput": ("effective throughput", "effective rate",
                            "average rate of a transfer"),
    "half_rate": ("message size for half the rate",),
    "bdp": ("window size", "bytes in flight", "tcp window", "socket buffer", "rcvbuf", "sndbuf",
            "tuning", "long fat network", "pipe", "wmem", "rmem", "buffer size"),
    "bdp_packets": ("packets in flight",),
    "throughput": ("tcp speed limit", "window limit", "single connection", "one flow",
                   "tcp throughput", "receive window limit", "iperf", "long distance",
                   "throughput latency", "smb copy slow"),
    "window_shift": ("window scale option", "wscale"), "max_window": ("64 KB limit", "wscale"),
    "connection_count": ("parallel streams", "how many connections", "parallel downloads",
                         "multiple streams", "iperf -P"),
    "sequence_wrap": ("sequence number wrap", "paws"),
    "tcp_goodput_bps": ("tcp overhead", "real speed", "usable speed", "maximum throughput",
                        "jumbo", "gigabit ethernet speed", "protocol overhead", "iperf result",
                        "actual speed", "why not full speed", "header overhead", "goodput"),
    "tcp_goodput_ratio": ("tcp overhead", "protocol efficiency", "jumbo", "jumbo gain",
                          "header overhead", "ethernet efficiency", "goodput"),
    "udp_goodput_bps": ("udp overhead", "udp speed", "udp throughput"),
    "udp_goodput_ratio": ("udp overhead", "udp efficiency"),
    "half_duplex_goodput": ("wifi", "wireless", "half duplex"),
    "frame_rate": ("pps", "packets per second", "line rate", "small packets", "64 byte packets",
                   "wire speed", "nic pps", "maximum packet rate", "ddos"),
    "required_bandwidth": ("bandwidth of packets per second", "pps to bandwidth", "pps to mbit",
                           "rate from pps"),
    "line_utilization": ("utilization from pps", "link utilization", "link load"),
    "frame_throughput": ("layer 2 throughput", "rfc 2544"),
    "mix_rate": ("imix", "traffic mix", "internet mix"),
    "mix_mean_frame": ("imix", "average packet size", "mean packet size"),
    "goodput_rate": ("pps of a throughput", "packets of a rate", "mbit to pps",
                     "throughput to pps"),
    "header_bandwidth": ("overhead bandwidth", "bandwidth wasted by headers"),
    "ethernet_wire": ("ethernet overhead", "preamble", "inter frame gap", "vlan",
                      "bytes on the wire", "framing overhead", "layer 1 size"),
    "ethernet_frame": ("frame size", "minimum frame", "padding", "vlan", "802.1q", "qinq"),
    "tcp_payload": ("mss", "maximum segment size", "mtu to mss", "mss clamping"),
    "udp_payload": ("largest udp packet", "dns size"),
    "fragment_count": ("fragmentation", "how many fragments", "mtu too small"),
    "datagram_loss": ("loss of fragments", "fragmentation loss"),
    "tunnel_mtu": ("vxlan", "vpn mtu", "gre", "overlay", "tunnel", "geneve", "ipsec",
                   "mtu in a tunnel", "mpls", "pppoe mtu", "underlay", "encapsulation", "gtp",
                   "kubernetes", "path mtu"),
    "tunnel_overhead": ("vxlan", "vpn overhead", "gre", "encapsulation overhead", "ipsec",
                        "geneve", "tunnel", "overlay overhead", "vpn header", "pppoe overhead"),
    "tunnel_tcp_payload": ("mss clamping", "vpn mss", "mss in a tunnel", "adjust mss"),
    "tunnel_goodput": ("vpn throughput", "vpn speed", "vxlan", "ipsec throughput",
                       "tunnel speed", "vpn slow", "bandwidth lost to vpn"),
    "esp_packet": ("ipsec", "ipsec overhead", "aes", "encryption overhead"),
    "esp_payload": ("ipsec mtu", "ipsec payload"),
    "wireguard_overhead": ("vpn overhead", "wg", "vpn"), "wireguard_mtu": ("vpn mtu", "wg mtu"),
    "wireguard_packet": ("vpn packet size", "vpn"),
    "atm_efficiency": ("dsl overhead", "adsl", "cell tax"),
    "atm_wire": ("dsl", "adsl", "cell tax"), "ppp_wire": ("hdlc", "serial line", "modem"),
    "propagation": ("fiber latency", "fibre", "distance latency", "speed of light",
                    "cable length", "transatlantic", "latency between cities",
                    "minimum latency", "light", "latency per km", "undersea cable",
                    "geographic"),
    "signal_speed": ("speed of light in fiber", "refractive index"),
    "satellite_rtt": ("geo", "leo", "starlink", "vsat", "space"),
    "serialization": ("serialization delay", "transmission delay", "time to send one packet",
                      "packet on the wire time", "transmission time", "clocking"),
    "echo_rtt": ("ping", "ping time", "ping size"),
    "store_and_forward": ("end to end delay", "hops", "several links", "per hop delay",
                          "router hops", "path delay", "packet switching", "total delay"),
    "cut_through": ("switch latency", "hft", "low latency switch"),
    "optimal_segment": ("best packet size", "optimal packet size", "optimal mtu"),
    "equivalent_bandwidth": ("bottleneck", "several links"),
    "path_mixes": ("which links", "guess the path"),
    "ack_limited_throughput": ("asymmetric", "upload limits download", "slow upload",
                               "dsl upstream", "ack upstream"),
    "ack_bandwidth": ("upload needed for acks", "ack traffic", "asymmetric"),
    "round_trips": ("handshake", "rtts of https", "tls", "quic", "http3", "0-rtt",
                    "connection setup"),
    "first_byte": ("ttfb", "time to first byte", "https latency", "tls handshake",
                   "response time", "connection setup time", "quic", "http3", "handshake time",
                   "api latency"),
    "certificate_round_trips": ("certificate size", "certificate chain"),
    "handshake": ("connection setup with loss", "syn loss"),
    "initial_window": ("iw10", "initcwnd", "initial congestion window"),
    "rounds": ("slow start", "rounds of slow start"),
    "window_growth": ("slow start time", "ramp up", "time to full speed", "warm up"),
    "slow_start": ("slow start time", "ramp up"),
    "lossy_transfer": ("download with loss", "short transfer with loss", "lossy path transfer"),
    "rto": ("retransmission timeout", "tcp timeout"), "backoff": ("exponential backoff",),
    "give_up": ("connection timeout", "tcp syn retries", "connect timeout"),
    "mathis_throughput": ("packet loss throughput", "loss and rtt", "tcp loss", "reno",
                          "lossy link", "effect of loss", "mathis"),
    "cubic_throughput": ("packet loss throughput", "loss and rtt", "linux tcp", "tcp loss",
                         "effect of loss", "lossy link"),
    "pftk_throughput": ("padhye", "loss and timeout"),
    "mathis_loss": ("allowed loss", "tolerable loss", "maximum loss for a rate", "loss budget"),
    "cubic_loss": ("allowed loss", "tolerable loss", "maximum loss for a rate", "loss budget"),
    "tfrc_throughput": ("tcp friendly", "streaming"), "bbr_inflight_limit": ("bbr",),
    "bbr_loss_tolerance": ("bbr", "bbr loss"), "bbr_startup_rounds": ("bbr startup",),
    "cubic_k": ("recovery time after a loss",),
    "sawtooth_period": ("recovery time", "time between losses", "sawtooth"),
    "buffer_rule": ("buffer size", "router buffer", "switch buffer", "buffer sizing",
                    "queue size", "how much buffer", "buffers small", "stanford"),
    "drain": ("bufferbloat", "buffer delay", "queue delay", "latency under load",
              "queueing delay", "full buffer", "buffer latency"),
    "full_use_buffer_bdp": ("minimum buffer",),
    "aimd_utilization": ("small buffer", "shallow buffer", "utilization with a small buffer"),
    "fluid_fill": ("microburst", "time until buffer overflow", "buffer overflow", "incast"),
    "fluid_backlog": ("microburst", "burst queue", "backlog"),
    "token_bucket_transfer": ("rate limit", "shaper", "policer", "traffic shaping"),
    "token_bucket_passed": ("rate limit", "policer", "shaping", "how much passes a limiter"),
    "token_bucket_burst": ("burst size", "policer burst", "cbs", "shaper burst"),
    "jain_index": ("fairness",), "max_min": ("fair share", "fair rates", "bandwidth sharing"),
    "fair_share": ("share of each flow", "bandwidth sharing"),
    "mm1_wait": ("queueing delay", "waiting time", "delay utilization", "latency at load",
                 "queue wait", "hockey stick"),
    "mm1_sojourn": ("response time at load", "delay at utilization"),
    "mm1_wait_percentile": ("p95 delay", "p99 delay", "tail latency", "delay percentile",
                            "percentile of queueing delay", "latency percentile"),
    "mm1_sojourn_percentile": ("p95 latency", "p99 latency", "tail latency", "p99 response time"),
    "mm1_queue_length": ("queue length", "packets in the queue", "queue depth"),
    "md1_wait": ("fixed packet size", "equal packets queue"),
    "packet_mix_wait": ("router queue", "delay of a loaded link", "link delay at utilization",
                        "queueing delay of a link", "delay utilization"),
    "mg1_wait": ("pollaczek khinchine", "general service"),
    "kingman_wait": ("bursty traffic", "bursty arrivals"),
    "little_number": ("little's law", "concurrency", "requests in flight", "concurrent requests"),
    "erlang_b": ("blocking", "busy signal", "trunk blocking", "call blocking", "dropped calls"),
    "erlang_b_server_count": ("trunks", "phone lines", "how many lines", "trunk sizing",
                              "sip trunk", "how many trunks", "channels"),
    "erlang_b_load": ("traffic of trunks", "trunk capacity"),
    "erlang_c": ("call center", "waiting probability"),
    "erlang_c_server_count": ("call center agents", "callcenter", "how many agents", "staffing"),
    "service_level": ("call center service level", "callcenter", "80/20"),
    "mmc_wait": ("several servers", "thread pool", "server pool", "worker pool"),
    "mm1k_blocking": ("full queue loss", "queue overflow", "packet drops of a queue",
                      "finite buffer", "buffer overflow probability"),
    "voip_bandwidth": ("voip", "call bandwidth", "g.711", "g711", "g729", "bandwidth per call",
                       "voice bandwidth", "rtp bandwidth"),
    "voip_call_count": ("how many calls", "calls on a link", "voip capacity",
                        "simultaneous calls"),
    "hashed_load_cv": ("ecmp imbalance", "lag imbalance"),
    "linear_exhaustion": ("when is a link full", "link full"),
    "codec_payload": ("codec", "g.711", "g.729", "voice packet size"),
    "switch_rate": ("switch backplane", "switching capacity", "non blocking switch", "switch pps"),
    "forwarding_rate": ("router pps", "firewall throughput", "device limit", "router throughput"),
    "affine_rate": ("cpu cost per packet", "packets per core", "software router"),
    "crossover_frame": ("from which packet size", "small packet limit"),
    "stop_and_wait_utilization": ("stopandwait", "arq", "tftp", "one packet at a time"),
    "stop_and_wait_goodput": ("stopandwait", "tftp speed", "request response rate"),
    "serialized_throughput": ("sliding window protocol", "go back n"),
    "write_write_read": ("nagle", "40 ms delay", "200 ms delay", "small writes"),
    "delayed_ack": ("40 ms delay", "200 ms delay", "ack timer"),
    "tail_delay": ("nagle", "nodelay"), "nagle_may_send": ("nagle", "nodelay"),
    "jitter_rfc3550": ("jitter", "voip jitter", "rtp jitter"),
    "ipdv": ("jitter", "delay variation"), "pdv": ("jitter", "delay variation", "jitter buffer"),
    "percentile": ("95th percentile", "p95 of samples", "percentile of samples",
                   "burstable billing"),
    "median": ("average of samples",),
    "pair_bandwidth": ("packet pair", "estimate bandwidth", "capacity estimation",
                       "bottleneck bandwidth"),
    "train_rate": ("packet train", "estimate bandwidth"),
    "hop_bandwidth": ("pathchar", "bandwidth of a hop"), "transfer_time_factor": ("rfc 6349",),
    "efficiency": ("retransmission share", "retransmits"),
    "buffer_delay_factor": ("rfc 6349", "bufferbloat"), "sonet_payload": ("oc-3", "stm-1", "oc3"),
    "channel_payload": ("t1", "e1", "ds0"),
    "interval_error_std": ("timer resolution", "clock resolution"),
}  # fmt: skip
"""What people ask for, by the formula that answers it."""


WEIGHTS = {"name": 5.0, "tags": 5.0, "summary": 3.0, "subject": 2.0, "arguments": 1.0,
           "called": 0.4, "text": 0.5}  # fmt: skip
"""What a word counts by the place where it is found."""
_SYNONYM, _PHRASE, _NEEDED = 0.6, 4.0, 1.1
_LEAST_SCORE = 0.7
"""Score below which a formula is not found: a word in its notes alone."""
_LEAST = 0.2
"""Share of the best score below which a formula is left out."""
_FILLERS = frozenset(
    {
        "no", "not", "such", "thing", "some",
        "a", "about", "an", "and", "any", "are", "as", "at", "be", "between", "by", "can",
        "calculate", "compute", "do", "does", "each", "find", "for", "from", "get", "give",
        "gives", "given", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its",
        "like", "make", "many", "me", "much", "my", "need", "needed", "needs", "of", "on",
        "n", "p", "after", "before", "during", "only", "very", "too", "while", "did", "was",
        "own", "real", "really", "best", "good", "right", "work", "use", "using", "used", "got",
        "one", "or", "our", "out", "per", "should", "so", "take", "takes", "than", "that",
        "the", "their", "there", "this", "through", "to", "via", "want", "we",
        "what", "when", "which", "why", "will", "with", "would", "you", "your", "over",
        "calculator", "formula", "network", "required", "require", "tcp/ip",
    }
)  # fmt: skip
_SMALL_NUMBER = re.compile(r"\d{1,2}%?|\d+(?:\.\d+)?(?:ms|us|kb|mb|gb|tb|s|h)")
"""Numbers and quantities of a question, which are in no formula's words."""
_CARRIER = re.compile(r"(?:ds|t|e)-?[13]")
"""Lines of the T and E carriers by name."""
_K_OF_N = re.compile(r" (?:\d+|one|two|three|four|k|m) (?:out )?of (?:\d+|two|three|four|five|n) ")
_NINES = re.compile(r"99\.\d+")
"""Shares by which people name an availability."""
_SPELLINGS = (("fibre", "fiber"), ("centre", "center"), ("isation", "ization"), ("metre", "meter"))
_ENDINGS = ("ization", "ation", "ating", "ings", "ing", "ers", "ed", "ies", "es", "s", "e", "y")


def stem(word: str) -> str:
    """Return a word without its ending, so that ``fragmentation`` and ``fragments`` are one.

    Examples
    --------
    >>> stem("fragmentation"), stem("fragments"), stem("queueing"), stem("queue")
    ('fragment', 'fragment', 'queu', 'queu')
    """
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    if word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if word.endswith("e") and len(word) > 4:
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


def _named(word: str) -> str:
    """Return the word for what a name is one of: a share of nines, a carrier's line."""
    if _NINES.fullmatch(word):
        return "nines"
    return "t1" if _CARRIER.fullmatch(word) else word


def words(text: str) -> list[str]:
    """Return the stems of a text, with several words that mean one thing as one.

    Examples
    --------
    >>> words("How many packets per second?")
    ['count', 'pps']
    """
    plain = " " + re.sub(r"[^\w./]+", " ", text.lower().replace("'s ", " ")) + " "
    plain = _K_OF_N.sub(" kofn ", plain)
    for phrase in (*_PHRASES_LONGEST_FIRST, *_PHRASES_LONGEST_FIRST):  # some are of others
        plain = plain.replace(f" {phrase} ", f" {_PHRASES[phrase]} ")
    stems: list[str] = []
    for word in plain.split():
        if word in _FILLERS:
            continue
        word = PLACE if word in PLACES else _named(word)
        if _SMALL_NUMBER.fullmatch(word):
            continue
        joined = re.sub(r"[./]", "", word)
        stems += [joined] if re.search(r"\d", word) else re.split(r"[./]+", word)
    return [stem(part) for part in stems if part and part not in _FILLERS]


_PHRASES = {**PHRASES, **MORE_PHRASES}
_PHRASES_LONGEST_FIRST = sorted(_PHRASES, key=len, reverse=True)


@cache
def _synonyms() -> dict[str, dict[str, float]]:
    by_stem: dict[str, dict[str, float]] = {}
    for table in (SYNONYMS, MORE_SYNONYMS):
        for word, others in table.items():
            by_stem.setdefault(stem(word), {}).update({stem(other): _SYNONYM for other in others})
    return by_stem


def datasets(query: str) -> list[str]:
    """Return the bundled tables that answer a question, too.

    Examples
    --------
    >>> datasets("5G latency"), datasets("vxlan")
    (['access_latencies'], [])
    """
    asked = set(re.findall(r"\w+", query.lower()))
    return [name for name, topics in DATASETS.items() if asked & set(topics)]


def ranked(query: str, formulas: Iterable[SearchedFormula]) -> list[SearchedFormula]:
    """Return the formulas that a query finds, the best first.

    A word that no formula has is taken for the nearest that one has, or left out.
    """
    every = list(formulas)
    fields = {formula.name: _fields(formula) for formula in every}
    counts = _document_counts(tuple(every))
    asked = [meant for word in dict.fromkeys(words(query)) if (meant := _known(word, counts))]
    if not asked:
        return []
    count = len(every)
    scored = []
    phrase = " ".join(words(query))
    for index, formula in enumerate(every):
        score = _score(asked, fields[formula.name], counts, count)
        if score >= _LEAST_SCORE:
            score += _phrase_score(formula, phrase)
            score *= (
                _NEEDED
                if formula.short_name in MOST_NEEDED or (formula.function_name in MOST_NEEDED)
                else 1.0
            )
            scored.append((-score, index, formula))
    scored.sort(key=lambda row: row[:2])
    best = scored[0][0] if scored else 0.0
    return [formula for score, _, formula in scored if score <= best * _LEAST]


def _known(word: str, counts: Mapping[str, int]) -> dict[str, float] | None:
    """Return a word and its synonyms with their shares; None if no formula has any of them."""
    meant = {word: 1.0, **{w: s for w, s in _synonyms().get(word, {}).items() if w != word}}
    if any(meaning in counts for meaning in meant):
        return meant
    near = get_close_matches(word, [*counts, *_synonyms()], n=1, cutoff=0.8)
    if near:
        return {near[0]: 1.0, **_synonyms().get(near[0], {})}
    return None


def _score(
    asked: list[dict[str, float]],
    fields: Mapping[str, float],
    counts: Mapping[str, int],
    count: int,
) -> float:
    total, matched = 0.0, 0.0
    for meant in asked:
        best, share = 0.0, 0.0
        for word, factor in meant.items():
            if word in fields:
                rare = math.log(1 + count / counts[word]) / math.log(1 + count)
                value = fields[word] * factor * rare
                if value > best:
                    best, share = value, factor
        total += best
        matched += share if best else 0.0
    return total * matched / len(asked)


def _phrase_score(formula: Searched, query: str) -> float:
    """Return what it counts that a query is what people ask a formula for, or contains it."""
    best = 0.0
    for tag in _tags(formula):
        if tag and f" {tag} " in f" {query} ":
            best = max(best, _PHRASE * len(tag.split()) / max(1, len(query.split())))
    return best


def asked_for(formula: Searched) -> tuple[str, ...]:
    """Return what people ask a formula for, in their words."""
    names = dict.fromkeys((formula.short_name, formula.function_name))
    return tuple(
        phrase for table in (TAGS, MORE_TAGS) for name in names for phrase in table.get(name, ())
    )


def synonyms() -> dict[str, tuple[str, ...]]:
    """Return words of a question, each with others that mean the same."""
    by_word: dict[str, tuple[str, ...]] = {}
    for table in (SYNONYMS, MORE_SYNONYMS):
        for word, others in table.items():
            by_word[word] = tuple(dict.fromkeys((*by_word.get(word, ()), *others)))
    return by_word


@cache
def _tags(formula: Searched) -> tuple[str, ...]:
    return tuple(" ".join(words(tag)) for tag in asked_for(formula))


@cache
def _fields(formula: Searched) -> dict[str, float]:
    """Return the words of a formula, each with what it counts at its best place."""
    texts = {
        "name": formula.short_name.replace("_", " "),
        "tags": " ".join(_tags(formula)),
        "summary": f"{formula.title} {formula.summary}",
        "subject": formula.subject.replace("_", " "),
        "arguments": " ".join(p.short_name.replace("_", " ") for p in formula.parameters),
        "called": " ".join(
            alias.replace("_", " ")
            for alias, names in ARGUMENT_ALIASES.items()
            if any(p.short_name in names[:1] for p in formula.parameters)
        ),
        "text": f"{formula.source} {formula.validity} "
        + " ".join(p.description for p in formula.parameters),
    }
    weights: dict[str, float] = {}
    for place, text in texts.items():
        for word in text.split() if place == "tags" else words(text):
            weights[word] = max(weights.get(word, 0.0), WEIGHTS[place])
    return weights


@cache
def _document_counts(formulas: tuple[Searched, ...]) -> dict[str, int]:
    """Return in how many formulas each word is found."""
    counts: dict[str, int] = {}
    for formula in formulas:
        for word in _fields(formula):
            counts[word] = counts.get(word, 0) + 1
    return counts
