"""Pages of plans: what their numbers are called, their answers, steps and assumptions."""

from __future__ import annotations

PLANS: dict[str, str] = {
    # The answer in one sentence.
    "plan-ranges-up": ("{label}: up to {worst} at the {percent:g}th percentile of these ranges"),
    "plan-ranges-down": (
        "{label}: down to {worst} at the {percent:g}th percentile of these ranges"
    ),
    "plan-voice": (
        "{erlang} erlang need {trunks} trunks, and {rate_bps:bit/s} (line) in each direction"
    ),
    "plan-voice-short": (
        "{erlang} erlang need {trunks} trunks; the line carries {calls} calls and would block "
        "{share:ratio}"
    ),
    "plan-tunnel": (
        "through {stack} the MTU is {mtu_bytes:g} B and the MSS {mss_bytes:g} B; TCP gets "
        "{share:ratio.3} of the line, {plain:ratio.3} without the tunnel"
    ),
    "plan-no-tunnel": (
        "without a tunnel the MTU is {mtu_bytes:g} B and the MSS {mss_bytes:g} B; TCP gets "
        "{share:ratio.3} of the line"
    ),
    "plan-buffer-flows": (
        "{flows:flow needs|flows need} {buffer_bytes:byte} of buffer, which adds {delay_s:s} when "
        "it is full"
    ),
    "plan-buffer-burst": (
        "bursts of {burst_bytes:byte} from {senders:sender|senders} need {buffer_bytes:byte} of "
        "buffer, which adds {delay_s:s} when it is full"
    ),
    "plan-transfer": (
        "{size_bytes:byte} takes {time_s}, {goodput_bps:bit/s} (TCP payload): {limit}"
    ),
    "plan-buy": "{limit}; the cheapest step out of it is {step}",
    "plan-buy-nothing": "{limit}, and no single change of an input makes another limit bind",
    "plan-never": "{size_bytes:byte} never ends: {limit}",
    "plan-backup-fits": (
        "it fits: {changed_bytes:byte} takes {time_s}, {share:ratio.3} of the window; {limit}"
    ),
    "plan-backup-late": (
        "it does not fit: {changed_bytes:byte} takes {time_s}, and the window is {window_s}; "
        "{limit}"
    ),
    "plan-backup-never": "it does not fit: {changed_bytes:byte} never ends; {limit}",
    "plan-link": (
        "{links:link|links} of {rate_bps:bit/s} (line), for {demand_bps:bit/s} (line) at the "
        "{percent:g}th percentile: {fills}"
    ),
    "plan-link-short": (
        "{links:link|links} of {rate_bps:bit/s} (line) will not do, for {demand_bps:bit/s} (line) "
        "at the {percent:g}th percentile: {fills}"
    ),
    "link-full-now": "full now",
    "link-full-never": "never full, as traffic does not grow",
    "link-date-never": "never",
    "link-date-far": "not within 100 years",
    "link-no-forecast": (
        "{what}, beyond the {years:g} years for which growth can be forecast: the growth is "
        "extrapolated"
    ),
    "link-planned-for": "planned for {time}",
    "link-beyond-ethernet": (
        "Ethernet has no link of this rate; it is that of {count} links of {rate_bps:bit/s} (line)"
    ),
    "link-full-in": "full in {time}",
    "link-full-on": "full in {time}, on {date}",
    "limited-by-line-limit-bps": "the line limits it",
    "limited-by-window-limit-bps": "the window limits it",
    "limited-by-loss-limit-bps": "the loss limits it",
    "limited-by-loss-after-start": (
        "the loss limits it, and slow start before the first loss is faster than that limit"
    ),
    "limited-by-start-s": "the round trips of its start limit it",
    # What would help.
    "step-window": "a window of {window_bytes:byte}",
    "step-bbr": "BBR as congestion control",
    "step-flows": "{flows} flows",
    "step-loss": "a loss of {loss_ratio:ratio}",
    "step-line": "a line of {bandwidth_bps:bit/s}",
    "step-near": "a path of {rtt_s:s} round trip",
    "step-voice-interval": "{interval_s:s} of voice in a packet, {more_s:s} more delay",
    "step-voice-codec": "codec {codec}",
    "step-tunnel-mtu": (
        "an MTU of {mtu_bytes:g} B on the path, for packets of {inner_bytes:g} B in the tunnel"
    ),
    "step-buffer-line": "a line of {bandwidth_bps:bit/s}",
    "step-buffer-cubic": "CUBIC alone, which fills the line with {share:.2f} BDP",
    "step-link-size": "links of {rate}",
    "step-link-more": "{links} links",
    "step-link-growth": "a growth of {growth:ratio} a year",
    # What is taken for granted.
    "assumes-voice-packets": (
        "{codec} with {interval_s:s} of voice in a packet, no silence suppression, no RTCP"
    ),
    "assumes-voice-calls": "random call attempts, and blocked calls that do not try again",
    "assumes-tunnel-fit": "senders that keep to the MSS of {mss_bytes:g} B: nothing is fragmented",
    "assumes-tunnel-mix": "a mix of IP packets of {sizes}, those above the MTU cut to it",
    "assumes-link-users": ("users independent of each other, whose rate counts all headers"),
    "assumes-link-growth": "the same growth every year",
    "assumes-link-full": (
        "a link that is full at {target} of its rate, and a rate that is enough for {time}"
    ),
    "assumes-transfer": (
        "Ethernet, TCP timestamps, {congestion_control}, a buffer at the bottleneck that holds a "
        "BDP, nothing else on the line"
    ),
    "assumes-backup": "disks and hosts that keep up with the line",
    "buffer-near-step": (
        "the answer falls by a factor of {factor:g} at {most:g} flows, from {below_bytes:byte} to "
        "{above_bytes:byte}: from there on losses are taken as independent. In truth the need "
        "falls gradually"
    ),
    "assumes-buffer-few": (
        "Reno, and fewer than {most:g} flows, which lose packets together and need a whole BDP"
    ),
    "assumes-buffer-many": "Reno, and {most:g} flows or more, whose losses are independent",
    "assumes-buffer-burst": "bursts that begin at one moment, into an empty buffer",
    # What numbers are called.
    "planned-binding": "binds",
    "planned-drivers": "matters most",
    "planned-trunk-count": "trunks",
    "planned-trunks-line-bps": "line, all trunks busy",
    "planned-offered-erlang": "offered load",
    "planned-blocking-ratio": "blocked calls",
    "planned-call-line-bps": "one call",
    "planned-call-frame-bps": "one call",
    "planned-call-ip-bps": "one call",
    "planned-packet-bytes": "packet",
    "planned-call-rate-pps": "packets of one call",
    "planned-line-call-count": "calls on the line",
    "planned-line-blocking-ratio": "blocked on the line",
    "planned-calls-per-second": "call attempts",
    "planned-holding-s": "holding time",
    "planned-bandwidth-bps": "rate of the line",
    "planned-mtu-bytes": "MTU of the path",
    "planned-tunnel-mtu-bytes": "MTU in the tunnel",
    "planned-tunnel-mss-bytes": "MSS in the tunnel",
    "planned-tunnel-goodput-bps": "goodput, full segments",
    "planned-tunnel-efficiency": "of the line",
    "planned-plain-efficiency": "without the tunnel",
    "planned-tunnel-overhead-bytes": "headers of a full packet",
    "planned-mix-bps": "packet mix",
    "planned-mix-rate-pps": "packets of the mix",
    "planned-mix-efficiency": "mix, of the line",
    "planned-plain-mix-efficiency": "mix, without the tunnel",
    "planned-packet-efficiency": "share of the line",
    "planned-through-tunnel": "through the tunnel",
    "planned-mix-bytes": "size of a packet in the tunnel",
    "planned-buffer-bytes": "buffer",
    "planned-buffer-delay-s": "delay when full, one way",
    "planned-flows-buffer-bytes": "for the flows",
    "planned-burst-buffer-bytes": "for the bursts",
    "planned-line-bdp-bytes": "bandwidth-delay product",
    "planned-buffer-packet-count": "packets of 1500 B",
    "planned-burst-s": "duration of a burst",
    "planned-rtt-s": "round-trip time",
    "planned-flow-count": "flows",
    "planned-sender-count": "senders at once",
    "planned-sender-bps": "rate of a sender",
    "planned-transfer-s": "time",
    "planned-goodput-bps": "goodput",
    "planned-line-limit-bps": "limit of the line",
    "planned-window-limit-bps": "limit of the TCP window",
    "planned-loss-limit-bps": "limit of the loss",
    "planned-start-s": "start and end, by round trips",
    "planned-payload-bytes": "size",
    "planned-loss-ratio": "loss",
    "planned-window-bytes": "window of a flow",
    "planned-backup-s": "time of the backup",
    "planned-window-utilization": "of the window",
    "planned-fit-ratio": "fits in",
    "planned-changed-bytes": "sent",
    "planned-needed-bps": "goodput needed",
    "planned-full-backup-s": "time of a full backup",
    "planned-largest-bytes": "data that would fit",
    "planned-data-bytes": "data",
    "planned-window-s": "window",
    "planned-change-ratio": "share that changes",
    "planned-reduction-factor": "reduction",
    "planned-link-bps": "rate of each link",
    "planned-fills-s": "full in",
    "planned-fill-date": "full on",
    "planned-early-fill-date": "full on, p5",
    "planned-demand-bps": "demand of the busy time",
    "planned-end-needed-bps": "needed at the end, each link",
    "planned-mean-demand-bps": "mean demand",
    "planned-overload-ratio": "time in overload, now",
    "planned-busy-utilization": "utilization, busy time",
    "planned-busy-failed-utilization": "utilization, after the failure",
    "planned-oversubscription": "oversubscription",
    "planned-link-enough": "enough",
    "planned-link-full-later": "full too early",
    "planned-link-full-after-failure": "full after a failure",
    "planned-link-full-now": "full now",
    "planned-user-count": "users",
    "planned-user-bps": "rate of a user",
    "planned-active-ratio": "active share",
    "planned-annual-growth": "growth a year",
    "planned-target-utilization": "target utilization",
    "planned-elapsed-years": "time from now",
    "planned-usable-bps": "usable up to the target",
    # Errors.
    "beyond-forecast": (
        "{name} must be at most {years:g} years: growth for longer is no forecast; got {value}"
    ),
    "all-links-failed": "{name} must leave a link of {links:link|links}, got {value}",
    "not-whole-frames": (
        "{name} must be a whole number of frames of {codec}, {frame_s:s} each, got {value}"
    ),
    "tunnel-without-ethernet": "a tunnel is computed over Ethernet, not over {link}: {value}",
    "too-many-trunks": (
        "{name} must need at most {high:,} trunks, got {value}, which needs {trunks:,.0f}"
    ),
    "tunnel-too-small": (
        "{name} must leave {needed_bytes:byte} in the tunnel for the headers of TCP, got {value}, "
        "which leaves {left_bytes:byte}"
    ),
    "calls-or-erlang": "CALLS or --erlang is required, and only one of them",
    "fan-in-without-burst": "--fan-in and --sender need the size of a burst",
    "mix-malformed": "{shown} is not a size with a weight",
    "range-in-path": "{name} takes one value for each link, got a range: {value}",
    "path-or-rate": "the path is required: --path, or --rate and --rtt",
    "date-malformed": "{name} must be a day such as 2026-01-31, got {value!r}",
    "axis-without-value": "the map needs a value of {name} above 0",
    "one-axis-twice": "{name} must be two different inputs, got {value} twice",
    "no-weight": "{name} must have a weight above 0",
}
"""Sentences and names of plans."""

PLANS_HINTS: dict[str, str] = {
    "calls-or-erlang": 'Write for example "1200 calls/h", or --erlang 60',
    "fan-in-without-burst": "Add --burst 64KiB",
    "range-in-path": "Write the range with --rate and --rtt: {example}",
    "path-or-rate": 'Write for example --path "1 Gbit/s 20 ms"',
    "mix-malformed": "Write for example 40B:7,576B:4,1500B:1",
    "tunnel-without-ethernet": "Use --link ethernet, or leave the tunnel out",
}
