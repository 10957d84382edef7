"""Numbers outside their range, and searches or formulas without an answer."""

from __future__ import annotations

ALLOWED = {
    "not-positive": "greater than 0",
    "is-negative": "0 or greater",
    "below-minimum": "{low} or greater",
    "above-maximum": "at most {high}",
    "all-samples-discarded": "below 100%, so that a sample is left",
    "all-lost": "below 100%: where all packets are lost nothing arrives, at no rate",
    "out-of-range": "from {low} to {high}",
    "not-finite": "a finite number",
    "not-whole": "a whole number, {low} or greater",
    "percent-for-ratio": "from {low} to {high}",
    "not-a-choice": "one of {choices}",
    "not-one-number": "one finite number",
    "not-a-scalar": "one number",
    "result-not-one-number": "one number",
    "result-not-swept": "one number for a sweep",
    "not-yes-or-no": "yes or no",
    "not-sweepable": "a number to sweep or to solve for",
    "malformed-range": "LOW:HIGH, as in 1ms:10s",
    "malformed-sweep": "LOW:HIGH:STEPS, as in 1ms:300ms:log50",
    "log-sweep-not-positive": "greater than 0 at both ends for log steps",
    "empty-range": "a range from a smaller to a larger number",
    "no-hops": "a list of at least one hop",
    "not-one-dimensional": "a list of at least one number",
    "wrong-count": "{expected:number|numbers}",
    "wrong-count-or-one": "one number or a list of {expected}",
    "above-argument": "at most {other}",
    "below-headers": "{low} or greater, the size of the headers",
    "below-path-rtt": "{low} or greater, the round trip of the links and nodes of the path",
    "packet-too-long": "at most {high} bytes with its headers",
    "not-ascending": "in ascending order",
    "not-a-multiple": "1 or a multiple of {factor}",
    "not-over": "one of {choices} over {transport}",
    "not-an-earlier-packet": "the number of an earlier packet, or -1",
    "unknown-layer": "layers joined by +, such as vxlan4+wireguard4",
    "unknown-suite": (
        "a cipher, followed by a slash and an integrity algorithm if it has no check value of its "
        "own"
    ),
}
"""What the argument must be: the sentence is "NAME must be ALLOWED, got VALUE"."""

_OF_TEXT = (
    "not-a-choice", "not-over", "not-yes-or-no", "malformed-range", "malformed-sweep",
    "log-sweep-not-positive",
)  # fmt: skip
"""Codes whose value may be text, which is quoted as it was written; a number is not."""

NUMBERS = {
    **{code: "{name} must be " + text + ", got {value}" for code, text in ALLOWED.items()},
    **{code: "{name} must be " + ALLOWED[code] + ", got {value!r}" for code in _OF_TEXT},
    "not-a-scalar": "{name} must be one number, got an array of shape ({value})",
    "not-one-dimensional": (
        "{name} must be a list of at least one number, got an array of shape ({value})"
    ),
    "not-an-earlier-packet": (
        "{name} must be the number of an earlier packet, or -1, got {value} for packet {packet}"
    ),
    "unknown-layer": "{name} must be layers joined by +, such as vxlan4+wireguard4, got {value!r}",
    "wrong-count": "{name} must have {expected:number|numbers}, got {count}",
    "wrong-count-or-one": "{name} must be one number or a list of {expected}, got {count}",
    "integer-too-long": "{name} must be at most {high}, got a longer integer",
    "number-skipped": "{name} must contain every number from 0 to {high}; {value} is missing",
    "all-zero": "{name} must contain a number other than 0",
    "shapes-differ": (
        "{name} and {other} do not fit: arrays of shape ({value}) and ({other_shape})"
    ),
    "too-many-elements": (
        "{name} of shape ({value}) with the other arguments gives a result of shape ({shape}), "
        "more than the memory is meant for"
    ),
    "too-long-range": "{name} of {value} has more than {high:,} elements",
    "too-many-rounds": "{name} of {value:g} takes more than {high:,} round trips",
    "too-many-segments": "{name} must fit {high:,} segments, got {value}",
    "too-many-mixes": "{name} of {value} results in more than {high:,} mixes to compare",
    "only-on-ethernet": "{name} has {layer} over {below}, but {layer} runs over Ethernet only",
    "not-numbers": "{name} must contain numbers, got {found}",
    "text-for-numbers": "{name} must contain numbers, got {found}",
    "unit-of-another-kind": "{name} takes {unit}, got {found}",
    "unit-not-read": "{name} has a unit that is not read here, got {found}",
    "table-for-numbers": "{name} must be one column of numbers, got a {found}",
    "labels-differ": "{name} and {other} have different labels, got {found}",
    "labels-not-kept": "{name} has labels that the result could not keep, got {found}",
    "list-with-dimensions": "{name} is a list as one thing, got a {found} with dimensions",
    "not-hops": "{name} must be a list of Hop, got {found}",
    "not-of-class": "{name} must be {expected}, got {found}",
    "not-a-column-of-numbers": "{name} must be a column of numbers, got {found}",
    "not-an-event": "{name} must be an event or a function, got {found}",
    "not-a-source": "{name} must be a path, text, bytes or a file object, got {found}",
    "not-flags": "{name} must be True or False, got {found}",
    "not-one-flag": "{name} must be a single True or False, got {found}",
    "no-such-argument": "{function} has no argument {name}; it takes {takes}",
    "argument-without-name": (
        "{function} takes {high:positional argument|positional arguments}, so {found} needs a "
        "name: it takes {takes}"
    ),
    "too-many-arguments": "{function} takes {high:argument|arguments}, and {found} is one more",
    "argument-not-given": "{function} requires {name}; it takes {takes}",
    "texts-not-a-list": "{name} must be one text or a list of texts, got {found}",
    "not-text": "{name} must be text such as {example!r}, got {found}",
    "is-required": "{name} is required: {example}",
    "docstrings-removed": (
        "the calculator takes its formulas from docstrings, and python -OO removes them"
    ),
    "swept-twice": "{name} is swept twice",
    "no-number-to-sweep": "{name} is {value}, and no argument of this formula is a single number",
    "not-finite-elements": (
        "{name}: {count} of {size:value|values} are not finite, the first at index {index}; the "
        "result is nan there"
    ),
    "path-record-damaged": (
        "the path that the run recorded is damaged: {name} must have bandwidths, latencies and "
        "processing times, got {value}"
    ),
    "beyond-published-range": (
        "{name} is {value}, beyond the published range of the formula (up to {limit}): treat it as "
        "a guess"
    ),
    "below-published-range": (
        "{name} is {value}, below the published range of the formula (from {limit}): treat it as "
        "a guess"
    ),
    "used-beyond-published-range": (
        "{name} is {value}, beyond the published range of {formula} (up to {limit}), which this "
        "uses: treat it as a guess"
    ),
    "used-below-published-range": (
        "{name} is {value}, below the published range of {formula} (from {limit}), which this "
        "uses: treat it as a guess"
    ),
    "slow-steady-state": (
        "at a load of {value} a queue takes some {services:.0f} service times to reach this mean: "
        "in less time a measurement finds another"
    ),
    "slow-start-left-out": (
        "without TCP: slow start takes several round trips to fill a path that holds {held:byte} "
        "(netcalc explain SIZE PATH counts them)"
    ),
    "below-heavy-traffic": (
        "an approximation for heavy traffic, from a load of {limit}: at {value} it may be far off"
    ),
    "few-for-normal": (
        "the normal distribution is for a variance of {limit} users and more, here {value:.3g}: "
        "far out it is too low"
    ),
    "beyond-loss-tolerance": (
        "{name} is {value}, beyond the {limit} that BBR tolerates: a lower bound, for long "
        "transfers"
    ),
    "few-hashed-flows": (
        "{value:.3g} flows a link are too few for the law of many, which asks for {limit} and "
        "more; up to 10,000 flows have an exact one"
    ),
    "few-flows": (
        "{value} flows may lose packets in step and need more, up to the whole product: the root "
        "holds for hundreds"
    ),
    "few-losses": (
        "with {value:.3g} expected losses a flow still falls from the window of slow start, which "
        "is left out: the time may be 1.9 times the right one with 30 losses, 4.6 times with 3 "
        "(from {limit} on at most 1.4 times)"
    ),
    "low-orbit": (
        "the geometry alone: below {limit}, where satellites move on, radio and the way to the "
        "ground station add more than it is (measured: several times as much)"
    ),
    "half-duplex-of-no-ethernet": (
        "{value} is no rate of half-duplex Ethernet: Wi-Fi delivers about half of what this gives"
    ),
    "line-of-payload": "{line} counts as {rate} ({layer:layer}), of {gross} (line)",
    "line-as-ethernet": (
        "{line} counts as an Ethernet of {rate} (line), which it is not; its payload is {payload}, "
        'written "{line} payload"'
    ),
    "frame-padded": (
        "a frame of {value} is padded to {low}, the smallest of Ethernet; another medium has its "
        "own (--min-frame, min_frame_bytes)"
    ),
    "voice-not-whole-bytes": (
        "{carried:.4g} B is not whole bytes: where that is a frame of a codec, it takes {whole:g} B"
    ),
    "load-as-percent": "a load of {percent:g}% is hardly meant: {meant:g}% is {ratio:g}",
    "more-than-the-line": "the link would carry {value} of its rate: more than it can",
    "window-above-tcp": (
        "a window of {value} is more than TCP can announce, {limit}; several connections or "
        "another protocol may have as much in flight"
    ),
    "timeout-below-round-trip": (
        "a timeout of {value} is below the round trip of {limit}: it ends before an "
        "acknowledgement can be back, so that everything is sent twice"
    ),
    "measured-below-ideal": (
        "{value} was measured where {limit} is the least: one of the two is of another transfer"
    ),
    "mean-above-sold": "a mean of {value} is above the {limit} that is sold at most",
    "acknowledgement-above-data": (
        "acknowledgements at {value} are faster than the data at {limit}: Wi-Fi sends them at a "
        "basic rate, not above that of the data"
    ),
    "not-of-standard": "{name} of {value} is none of the standard: {choices}",
    "measured-below-base": (
        "{value} was measured where {limit} is the least: the base was not the smallest"
    ),
    "tunnel-above-mtu": (
        "the packet of {value} exceeds the MTU of {limit}: it is fragmented, or dropped"
    ),
    "no-sample-discarded": (
        "of {count:sample|samples} none is discarded, so the highest one counts: it takes "
        "{needed:g} to discard one"
    ),
    "processing-serial": (
        "each node processes one packet at a time, so that a train waits for the slowest; with "
        "processing_kind delay, packets pass through a node side by side"
    ),
    "processing-delay": (
        "each node delays packets side by side; with processing_kind serial, it processes one at "
        "a time and a train waits for the slowest"
    ),
    "formula-gives": "the formula gives {rule}",
    "path-not-recorded": "the run recorded no emulated path",
    "formula-unknown": "there is no formula {value!r}",
    "formula-ambiguous": "{value!r} names several formulas: {choices:or}",
    "not-converged": (
        "{what} did not converge in {iterations} iterations: last value {last:.6g}, residual "
        "{residual:.6g}"
    ),
}

NUMBERS_HINTS = {
    "formula-unknown": "netcalc calc --list shows all formulas",
    "is-required": "{about}",
    "not-hops": "Links become a path by Path.of(links), text by Path.parse('T1 5 ms')",
    "texts-not-a-list": "Give it as a list: column.tolist()",
    "unit-not-read": "Give the number alone, as {unit}",
    "table-for-numbers": 'Give one column of it, as in table["rtt"], or table.to_numpy()',
    "labels-differ": "Give both the same labels, or give numbers alone by .to_numpy()",
    "labels-not-kept": "Give numbers alone by .to_numpy(), or all arguments with labels",
    "list-with-dimensions": "Give the numbers alone by .to_numpy()",
    "not-sweepable": "Numeric arguments of this formula: {numbers}",
    "docstrings-removed": "Run Python without -OO",
    "swept-twice": "Sweep two arguments, or one with all its values",
    "no-number-to-sweep": "Compute it without a sweep",
    "percent-for-ratio": "Did you mean {percent}%? As a ratio of 1 that is {ratio}",
    "text-for-numbers": "Read text with netcalc.units.parse first",
    "too-many-mixes": "Use fewer links, fewer kinds or a smaller tolerance",
    "unknown-layer": "Layers: {layers}",
    "unknown-suite": "Ciphers: {ciphers}. Integrity algorithms: {integrity}",
}
