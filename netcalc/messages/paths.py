"""What readers say of paths: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PATHS: dict[str, str] = {
    "no-path": "no measurement: no hop with a probe",
    "pathping-no-statistics": "no measurement: the statistics of pathping are missing",
    "path-message-only": "no measurement; the tool reported {message!r}",
    "path-message": "the tool reported {messages:names}",
    "path-lines-unread": "skipped {numbers:lines}: these look like hops but cannot be read",
    "not-of-a-path": "ignored {numbers:lines}: not about a hop",
    "path-without-header": "a run has no header: its target is unknown",
    "traceroute-unreadable": "no hop can be read with certainty",
    "mtr-no-hop": "no measurement: the report has no hop",
    "mtr-no-header": "no header names the columns",
    "mtr-unreadable": "is not a number in a column of mtr",
    "mtr-document-cut": "the last document ends too early, at line {line}, byte {offset}",
    "mtr-other-nodes": "{numbers:lines}: further nodes of the hop above, without own figures",
    "implausible-hops": "{count:implausible value counts|implausible values count} as unknown",
    "probes-beyond-target": "left out {count:probe|probes} with a TTL beyond the target",
    "lost-probes-unknown": "this version of mtr does not report lost probes: losses are unknown",
    "lost-probes-left-out": "the file leaves out lost probes: their number is unknown",
    "answers-without-probe": "ignored {count:answer|answers} whose probe has no line",
    "late-answers": "ignored {count:late answer|late answers} to probes that count as lost",
    "probes-of-last-try": "ignored {count:probe|probes} of the final attempt, which is not a hop",
    "increase-of-hops": (
        "times of {place}; increase: what a hop adds to the least time that no later hop "
        "undercuts, if the way back of each answer is that of the others; slow: it answers later "
        "than hops behind it, and forwards as fast as they do"
    ),
}

PATHS_EXPECTED: dict[str, str] = {
    "no-path": "a line for each hop",
    "pathping-no-statistics": "a line for each hop with Lost/Sent = Pct",
    "path-message-only": "a line for each hop",
    "traceroute-unreadable": "a node and times such as 1.234 ms",
    "mtr-no-hop": "a row for each hop",
    "mtr-no-header": "a header such as HOST: name Loss% Snt Last",
    "mtr-unreadable": "a number for each column of the header",
}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

_RUN_AGAIN = "Run the tool again, and keep all that it prints"
_AS_WRITTEN = "Use the output as the tool wrote it, not an edited copy"

PATHS_HINTS: dict[str, str] = {
    "no-path": _RUN_AGAIN,
    "pathping-no-statistics": "Let pathping run to its end",
    "path-message-only": "Mend what the message says, and run the tool again",
    "traceroute-unreadable": _AS_WRITTEN,
    "mtr-no-hop": _RUN_AGAIN,
    "mtr-no-header": _AS_WRITTEN,
    "mtr-unreadable": _AS_WRITTEN,
}
