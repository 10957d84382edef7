"""Uncertain inputs: text of distributions, impossible draws, and notes on an answer."""

from __future__ import annotations

UNCERTAIN: dict[str, str] = {
    # Text of a distribution.
    "range-backwards": "{shown} goes from {low} down to {high}",
    "range-malformed": "{shown} is not a range",
    "range-of-one-value": "{shown} begins and ends at {value}",
    "truncated-to-nothing": "{shown}: nothing of {distribution} lies within {limits}",
    "median-not-positive": "{shown}: the median must be greater than 0, got {value}",
    "mean-not-positive": "{shown}: the mean must be greater than 0, got {value}",
    "distribution-unknown": "{shown}: there is no distribution {name!r}",
    "distribution-malformed": "{shown} is not complete: {form} is required",
    "deviation-not-positive": "{shown}: the standard deviation must be greater than 0",
    "percentile-below-median": "{shown}: p{percent} must be greater than the median",
    "percentile-malformed": "{shown}: {part!r} is not a percentile above 50, such as p95 60 ms",
    "distribution-refused": "{shown}: {reason}",
    "correlation-malformed": "{shown} is not a correlation of two arguments",
    "fit-parameter-unknown": "{shown}: the fit of the file has no parameter {name!r}",
    "fit-parameter-of-other-unit": "{shown}: {name} is in {unit}",
    "nothing-to-fit": "there are no round trips or transfers of several sizes to fit",
    # Distributions as arguments.
    "percentile-not-above-median": "{name} must be greater than the median {median}, got {value}",
    "not-a-distribution": (
        "{name} must be a distribution of netcalc.uncertain or a frozen one of scipy.stats, "
        "got {found}"
    ),
    "not-frozen": "{name} is the distribution {found} without its parameters",
    "nothing-left": "{name}: nothing of {value} lies from {low} to {high}",
    "correlated-with-itself": "{name} has {value} with itself",
    "correlated-no-range": "{name} is correlated, but is not a range or a distribution",
    "correlations-impossible": (
        "{name} contradict each other: the smallest eigenvalue of their matrix is {value:.3g}"
    ),
    "input-missing": "{name} is required: a number or a distribution",
    "no-input-varies": "no argument of {name} is a range or a distribution",
    "fit-without-errors": (
        "{name} has no standard error: the points determine its value without a margin"
    ),
    "fit-without-value": "the points of the fit do not determine {name}: {reason}",
    "result-of-draws-not-numbers": (
        "{name} gives no single number for single numbers, but {value}"
    ),
    "several-columns-of-draws": "{value} has several results: {choices:or}",
    # Draws that a model refuses.
    "draws-impossible": (
        "{share:ratio} of the draws of {name} are impossible: {name} must be {limits}, and "
        "{distribution} is not"
    ),
    "draws-refused": (
        "{share:ratio} of the draws are impossible together, the first because {reason}"
    ),
    "input-also-free": "{name} cannot be a range and also be swept or solved for",
    "too-many-lists": "{value} arguments have several values; a table takes at most {high}",
    "solved-with-list": "{name} has several values: give it one, or a range, to solve",
    # Notes on an answer.
    "draws-truncated": (
        "{name} is truncated to the possible values ({limits}), which leaves out {share:ratio} of "
        "{distribution}"
    ),
    "draws-left-out": "{share:ratio} of the draws are impossible together and are left out",
    "draws-not-a-number": (
        "{share:ratio} of the draws have no result; the percentiles are of the others"
    ),
    "draws-infinite": "{share:ratio} of the draws have an infinite result",
    "draws-doubtful": "{share:ratio} of the draws are doubtful (the worst: {doubt})",
    "draws-rarely-doubtful": (
        "less than {share:ratio} of the draws are doubtful (the worst: {doubt})"
    ),
    "draws-whole": "{name} is drawn as whole numbers",
    "draws-fewer": "{draws:,} draws instead of {usual:,}, because the model is slow",
    "draws-several-solutions": (
        "{share:ratio} of the draws have several solutions; the smallest is used"
    ),
    "band-left-out": (
        "up to {share:ratio} of the draws at a point are impossible together and are left out"
    ),
    "band-not-a-number": (
        "up to {share:ratio} of the draws at a point have no result; the percentiles are of the "
        "others"
    ),
    "band-infinite": "up to {share:ratio} of the draws at a point have an infinite result",
    "band-doubtful": "some of the draws are doubtful ({doubt})",
    "importance-correlated": (
        "{names} are correlated: the share that each explains alone includes what it shares with "
        "the others, so the shares do not add up to 100%"
    ),
    "importance-infinite": (
        "some results are infinite, so the variance is unknown: the shares that inputs explain "
        "alone use the ranks of the results"
    ),
    "importance-without-some": "the shares that inputs explain alone use only draws with a result",
    "importance-rough": (
        "the shares of the variance are accurate only to {error:ratio.1}: rare draws dominate it"
    ),
    "importance-rarely-finite": (
        "which input matters most is not computed: rare draws have no finite result"
    ),
    "importance-of-draws": (
        "the shares that inputs explain alone use these draws only, because the model is slow: "
        "accurate to a few hundredths"
    ),
    "importance-few-draws": "which input matters most needs at least 100 draws",
    "importance-constant": "the result is the same for all draws",
}

UNCERTAIN_HINTS: dict[str, str] = {
    "range-backwards": "Write the smaller number first",
    "range-malformed": "Write for example {example}",
    "range-of-one-value": "Write {value}, or a larger second number",
    "distribution-unknown": "Known are {choices}",
    "draws-impossible": (
        "Narrow the distribution, or leave the impossible part out: truncate=True, or "
        "truncated(...)"
    ),
    "draws-refused": "Narrow the distributions, or leave these draws out: truncate=True",
    "fit-parameter-unknown": "It has {choices}",
    "too-many-lists": "Give one value to all but two of them",
    "input-also-free": "Give it no value, or do not sweep or solve for it",
    "fit-without-value": "Name other parameters if this one is not needed",
    "correlation-malformed": "Write for example bandwidth,latency=0.5",
    "not-frozen": "Freeze it with them, as in scipy.stats.norm(30e-3, 5e-3)",
    "correlated-no-range": "Correlate arguments that are ranges, such as 80..100 Mbit/s",
    "several-columns-of-draws": "Name one with column=, or call netcalc.uncertain.spreads",
    "no-input-varies": "Call the model itself, or give a distribution",
    "result-of-draws-not-numbers": (
        "Draw a formula whose result is one number; a range is netcalc.uncertain.uniform(low, "
        "high), measured values are netcalc.uncertain.empirical(values)"
    ),
}
