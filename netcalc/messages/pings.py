"""What readers say of pings: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PINGS: dict[str, str] = {
    "no-probe": "no measurement: neither a line about a probe nor totals",
    "more-received-than-sent": "the summary contradicts itself: it counts only {sent:,} sent",
    "implausible-loss": "the printed loss of {percent:g} % cannot be right and is not used",
    "not-of-the-tool": "ignored {numbers:lines}: not about a probe",
    "fping-unreadable": "is not output of fping",
    "fping-kinds-unread": "left out records of unknown kinds: {names:names}",
    "earlier-totals": "several totals of a host: used the last one, which is that of the whole run",
    "document-cut": "the last document ends too early, at line {line}, byte {offset}",
    "packet-length-unknown": "the packet size is unknown",
    "irtt-state": "is not a loss state of a round trip",
    "sockperf-both": "has both latencies (half a round trip) and round-trip times",
    "sockperf-halves": "sockperf reports half of each round trip: all times were doubled",
    "sockperf-throughput": "no round trips: this is a throughput run of sockperf",
    "atlas-kinds": "mixes RIPE Atlas results of several kinds: {kinds:names}",
    "errors-not-replies": "{numbers:lines}: ICMP errors, which are not replies",
    "errors-among-received": (
        "the tool counts {count:ICMP error|ICMP errors} as received; they are no replies"
    ),
    "times-without-reply": "{numbers:lines}: ignored times, as nothing was received",
    "http-exchanges": "each time includes the server's processing of an HTTP request",
    "connection-times": "each time is a TCP handshake, not an echo",
    "clocks-not-synchronized": (
        "the clocks were not synchronized: only differences between delays are meaningful"
    ),
    "negative-delays": "negative one-way delays: the clock offset exceeds the delay",
    "results-differ": "{count:result contradicts|results contradict} their own packet counts",
}

PINGS_EXPECTED: dict[str, str] = {
    "fping-unreadable": "a line of fping -J with a host and numbers from 0 on",
    "no-probe": "lines of probes, or the totals of a run",
    "more-received-than-sent": "no more received than sent",
    "irtt-state": "false, true, true_up or true_down",
    "atlas-kinds": "pings only, or traceroutes only",
    "sockperf-throughput": "a ping-pong or under-load run",
}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

_RUN_AGAIN = "Run the tool again, and keep all that it prints"
_AS_WRITTEN = "Use the output as the tool wrote it, not an edited copy"

PINGS_HINTS: dict[str, str] = {
    "fping-unreadable": _AS_WRITTEN,
    "no-probe": _RUN_AGAIN,
    "more-received-than-sent": _AS_WRITTEN,
    "irtt-state": _AS_WRITTEN,
    "sockperf-both": "Keep one kind of run in a file",
    "sockperf-throughput": "Run: sockperf ping-pong",
    "atlas-kinds": "Keep one kind of result in a file",
}
