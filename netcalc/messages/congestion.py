"""Scenarios of flows on a bottleneck, and what evaluates them."""

from __future__ import annotations

CONGESTION = {
    "flow-endless": "the flow has neither a stop nor a size",
    "stop-not-after-start": "the stop is not after the start at {start_s:s}",
    "starts-after-end": "the start is not before the end of the scenario at {end_s:s}",
    "warm-after-end": "the mean does not begin before the end of the scenario at {end_s:s}",
    "buffer-below-packet": "the buffer does not hold one packet of {low:byte}",
    "all-packets-lost": "every packet is lost",
    "one-buffer-wanted": "give one of buffer_packets and buffer_bdp",
    "theory-loss": "the theory has no backoff of timeouts, and holds up to a loss of {high:g}",
    "theory-too-long": "theory would take about {seconds:,.0f} s to compute, more than {limit:g} s",
    "connection-broken": "a connection of the run broke: {reason}",
    "no-flows": "the scenario has no flow and no requests",
    "scenario-too-long": "is longer than any scenario ({limit:,} bytes)",
    "scenario-not-utf8": "is not text in UTF-8",
    "scenario-not-json": "is not a JSON object",
    "scenario-key-repeated": "a name is given twice in one object",
    "scenario-not-finite": "is not a finite number",
    "scenario-too-large": "is larger than any number that is computed with",
    "scenario-one-buffer": "{count:buffer is|buffers are} given",
    "scenario-key-unknown": "is not a name of this object",
    "scenario-key-missing": "is missing",
    "scenario-wrong-kind": "is of a wrong kind",
    "live-rate": (
        "{name} of {value:bit/s} (IP) is more than a live run carries: the bottleneck is a program "
        "that reaches {high:bit/s} (IP)"
    ),
    "live-mtu": (
        "{name} of {value} is not possible live: namespaces take packets of {low} to {high} bytes"
    ),
    "live-end": "{name} of {value:s} is more than a live run lasts: {high:s}",
    "live-count": (
        "{value} flows and request loops are more than the {high} that one host of a live run opens"
    ),
    "host-ended": "the process of the {host_name} ended ({status})",
    "host-silent": "the process of the {host_name} does not respond",
    "host-at-limit": "the process of the {host_name} reached its limit of time or bytes",
    "queue-log-lost": "the log of the bottleneck is lost: queue, drops and ping are not known",
    "flows-not-connected": (
        "{count} of {total} flows and request loops did not reach the receiver before the end"
    ),
    "ns3-limit": "{name} of {value} is beyond ns-3, which takes {low:g} to {high:g}",
    "ns3-absent": "{python} has no ns-3 that works: {reason}",
    "ns3-no-python": "cannot start {python}: {reason}",
    "ns3-failed": "the simulation by {python} ended without a result: {reason}",
    "ns3-no-flows": "the scenario has no flow, and request loops alone are not simulated",
    "ns3-too-long": "the scenario has up to {packets:,.0f} packets, more than {limit:,.0f}",
    "scenario-number": "is not a possible value",
    "no-requests": "no result has the latency of a request",
    "nothing-varies": "no quantity varies that can be an axis",
    "batch-column-empty": "no result has a value of {value}",
    "grid-no-values": "{name} is varied without a value",
    "grid-values-repeated": "{name} is varied with the same value twice",
    "grid-both-varied": "{name} and {first} cannot be varied together",
    "grid-flows-unlike": "streams copies one flow, and the scenario has {count} different ones",
    "grid-no-requests": "the scenario has no request loop",
    "no-such-load": "the scenario has no {name}: {loads} has {count:entry|entries}, from index 0",
    "matrix-algorithms-alike": "the baseline and the algorithm to test are both {value}",
    "results-on-input": "the input has the results of a grid, which are read from a file",
    "grid-live-is-local": "live runs are made on this machine, not on workers",
    "grid-file-too-long": "is longer than any file of results ({limit:,} bytes)",
    "grid-file-other": "is not a file of results of a grid",
    "grid-line-damaged": "is not a line that a batch writes",
    "grid-file-busy": "{file}: another process writes its results there",
    "grid-marked": "{count} of {total} live runs are doubtful, see the column marks: {codes}",
    "recording-damaged": "is not a value that a live run saves",
    "live-cut": (
        "the live run stopped after {ended_s:s} of {end_s:s}: its means cover only that part"
    ),
    "way-skipped": "not evaluated: {signal} ended the command",
    "live-cut-compared": "the live run stopped early, so nothing is compared with it",
    "slow-start-counts": (
        "time to fair shares: when they are first reached, even by a slow start that overshoots "
        "them"
    ),
    "repeats-alike": "without random losses theory gives all {count} repeats the same result",
    "not-granted": (
        "{count} of {total} have no result: the kernel does not permit {algorithms:names}, and "
        "repeating the command does not help"
    ),
    "no-ways": "no method is chosen",
    "grid-no-results": "the file has no result yet",
    "set-malformed": "--set must be NAME=VALUE, got {text!r}",
    "set-twice": "{name} is set twice",
    "json-of-congestion": "is a scenario or the results of a grid, not a measurement",
    "host-cpu-limit": (
        "the {host} host used {cpu_ratio:.0%} of a processor (threshold {limit_ratio:.0%}): "
        "goodputs may be limited by this machine"
    ),
    "dask-unreachable": "no Dask scheduler answers at {address}: {reason}",
    "dask-failed": "a worker of {address} failed: {reason}",
}

CONGESTION_EXPECTED = {
    "flow-endless": "stop_s, size_bytes or both",
    "stop-not-after-start": "a later time",
    "starts-after-end": "an earlier time",
    "warm-after-end": "an earlier time",
    "buffer-below-packet": "{low} or greater",
    "all-packets-lost": "less than 1",
    "no-flows": "at least one",
    "scenario-not-utf8": "JSON",
    "scenario-not-json": 'an object such as {{"rate_bps": 1e7, "flows": [...]}}',
    "scenario-key-repeated": "each name once",
    "scenario-not-finite": "a finite number",
    "scenario-too-large": "less than 1.8e308",
    "scenario-one-buffer": "one of buffer_packets, buffer_bytes and buffer_bdp",
    "scenario-key-unknown": "one of {known}",
    "scenario-wrong-kind": "{wanted}",
    "scenario-key-missing": "a value",
    "recording-damaged": "a value as in the other rows",
    "no-requests": "a scenario with request loops, by theory or live",
    "nothing-varies": "several values of one of {choices}",
    "no-ways": "one or more of {choices}",
    "grid-line-damaged": "a line whose key is that of its scenario",
}

CONGESTION_HINTS: dict[str, str] = {
    "flow-endless": "Give stop_s, or size_bytes",
    "live-rate": "Lower the rate, or evaluate the scenario by theory",
    "live-mtu": "Change mtu_bytes, or evaluate the scenario by theory or ns-3",
    "live-end": "End earlier, or evaluate the scenario by theory or ns-3",
    "live-count": "Take fewer, or evaluate the scenario by theory or ns-3",
    "flows-not-connected": "Start them earlier, or take fewer",
    "ns3-limit": "Change it, or evaluate the scenario by theory",
    "ns3-absent": "Install it there with: pip install 'ns3>=3.44'; it needs Linux on x86-64",
    "ns3-no-python": "Name the interpreter that has ns-3",
    "ns3-failed": "Everything else works without it",
    "not-granted": (
        "Leave it out, or have an administrator load it, with modprobe tcp_NAME, and permit it, in "
        "net.ipv4.tcp_allowed_congestion_control"
    ),
    "repeats-alike": "Give loss_ratio, or leave --repeats out",
    "grid-no-results": "Repeat the command that began it",
    "set-malformed": "Write for example --set end_s=10",
    "set-twice": "Give one value; --vary takes several",
    "json-of-congestion": "netcalc congestion {file} evaluates or shows it, and --table writes CSV",
    "grid-no-values": "Give at least one value",
    "grid-values-repeated": "Give each value once; --repeats runs it again with other seeds",
    "grid-flows-unlike": "Vary streams in a scenario with one flow, or with flows that are alike",
    "grid-no-requests": 'Add one to the scenario: "requests": [{{"request_bytes": 10000}}]',
    "no-such-load": "Count from 0, as in the scenario",
    "matrix-algorithms-alike": "Name two: --baseline cubic --test bbr",
    "results-on-input": "Name the file instead of -",
    "grid-file-other": "Use another name",
    "grid-line-damaged": "Remove the line; its scenario is then evaluated again",
    "grid-file-busy": "Wait for it, or use another name",
    "dask-unreachable": "Start one with: dask scheduler",
    "dask-failed": "What is finished is kept; repeat the command to continue",
    "ns3-too-long": "Lower the rate, or end earlier",
    "theory-loss": "Use a smaller loss, or a live run or ns-3",
    "theory-too-long": "End earlier, lower the rate, or use fewer flows and request loops",
}
