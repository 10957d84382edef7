"""What readers say of pings: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PINGS: dict[str, str] = {
    "no-probe": "no measurement: no probe has a line, and there are no totals",
    "more-received-than-sent": "the summary contradicts itself: only {sent:,} were sent",
    "implausible-loss": "the printed loss of {percent:g} % cannot be right and is not used",
    "not-of-the-tool": "ignored {numbers:lines}: not about a probe",
    "fping-unreadable": "is not what fping writes",
    "fping-kinds-unread": "left out {names:names}, which this version does not know",
    "earlier-totals": "a host has several totals: the last one is that of the run",
    "document-cut": "the last document ends too early, at line {line}, byte {offset}",
    "packet-length-unknown": "the size of the packets is not known",
    "irtt-state": "is not a state of a round trip",
    "sockperf-both": "has both latencies and round trips: which of them counts is unclear",
    "sockperf-halves": "a latency of sockperf is half a round trip: all times were doubled",
    "sockperf-throughput": "no measurement of round trips: a throughput run of sockperf",
    "atlas-kinds": "has results of RIPE Atlas of the kinds {kinds:or}",
    "errors-not-replies": "{numbers:lines}: errors of a node, which are not replies",
    "errors-among-received": "{count:error is|errors are} no replies, though the tool counts them",
    "times-without-reply": "{numbers:lines}: times although nothing was received; not used",
    "http-exchanges": "a time includes what the server took to answer an HTTP request",
    "connection-times": "a time is that of a TCP handshake, which is no echo",
    "clocks-not-synchronized": "the clocks were not synchronized: only differences are certain",
    "negative-delays": "one-way delays below 0: the clocks differ by more than the delay",
    "results-differ": "{count:result does|results do} not agree with their own counts",
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
