"""Numbers outside their range, and what a search or a formula cannot answer."""

from __future__ import annotations

ALLOWED = {
    "not-positive": "greater than 0",
    "is-negative": "0 or greater",
    "below-minimum": "{low} or greater",
    "above-maximum": "at most {high}",
    "out-of-range": "from {low} to {high}",
    "not-finite": "a finite number",
    "not-whole": "a whole number, {low} or greater",
    "percent-for-ratio": "from 0 to 1",
    "not-a-choice": "one of {choices}",
    "not-one-number": "one number",
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
}
"""What the argument must be: the sentence is "NAME must be ALLOWED, got VALUE"."""

NUMBERS = {
    **{code: "{name} must be " + text + ", got {value}" for code, text in ALLOWED.items()},
    "is-required": "{name} is required: {example}",
    "no-number-to-sweep": "{name} is {value}, and no argument of this formula is one number",
    "not-finite-elements": (
        "{name}: {count} of {size:value|values} are not finite, the first at index {index}; the "
        "result is nan there"
    ),
    "not-converged": (
        "{what} did not converge in {iterations} iterations: last value {last:.6g}, residual "
        "{residual:.6g}"
    ),
}

NUMBERS_HINTS = {
    "is-required": "{about}",
    "not-sweepable": "The numbers of this formula: {numbers}",
    "no-number-to-sweep": "Compute it without a sweep",
    "percent-for-ratio": "Did you mean {percent}%? Write it as a ratio of 1",
}
