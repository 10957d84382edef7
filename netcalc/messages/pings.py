"""What readers say of pings: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PINGS: dict[str, str] = {
    "no-probe": "no measurement: no probe has a line, and there are no totals",
    "more-received-than-sent": "the summary contradicts itself: only {sent:,} were sent",
    "implausible-loss": "the printed loss of {percent:g} % cannot be right and is not used",
    "not-of-the-tool": "ignored {numbers:lines}: not about a probe",
    "earlier-totals": "a host has several totals: the last one is that of the run",
}

PINGS_EXPECTED: dict[str, str] = {
    "no-probe": "lines of probes, or the totals of a run",
    "more-received-than-sent": "no more received than sent",
}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

PINGS_HINTS: dict[str, str] = {}
