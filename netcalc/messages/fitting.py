"""Fits and comparisons: parameters not found, and points set aside."""

from __future__ import annotations

FITTING: dict[str, str] = {
    # Why a parameter is not identifiable.
    "no-points": "there are no points",
    "no-round-trips": "no round trip has both a size and a time",
    "no-transfers": "no transfer has both a size and a time",
    "one-size-of-echo": (
        "all round trips have the same size, {size_bytes:byte}; the rate needs several sizes "
        "(ping -s)"
    ),
    "one-size-of-transfer": (
        "all transfers have the same size, {size_bytes:byte}; the rate needs several sizes"
    ),
    "one-size-of-frame": "all frames have the same size",
    "one-size-of-datagram": "all datagrams have the same size",
    "no-increase-with-size": "the time does not increase with the size",
    "slope-insignificant": (
        "the slope is less than 2 standard errors above 0; the rate is likely above "
        "{bound_bps:bit/s} (line)"
    ),
    "intercept-below-headers": (
        "the intercept, {intercept_s:s}, is less than the time of the headers"
    ),
    "times-bend": (
        "the times curve with size, so no single latency and rate fit them: "
        "{least_s:s} at {least_bytes:byte}, {largest_s:s} at {largest_bytes:byte} "
        "({rate_bps:bit/s} (payload) in all)"
    ),
    "intercept-negative": "the intercept is negative: {intercept_s:s}",
    "equal-packet-counts": "all datagrams consist of the same number of packets",
    "equal-mbuf-counts": "all datagrams occupy the same number of mbufs",
    "too-few-points": "{count:point is|points are} too few for {cost_count:cost|costs}",
    "no-blasts": "there are no blasts",
    # Why a link of a path has no rate.
    "too-few-for-steps": "{name}: steps need {least} points of four sizes or more, got {count}",
    "too-few-sizes": ("at least {needed} sizes with answers of equal size are needed, got {count}"),
    "link-insignificant": (
        "it adds less than 2 standard errors to the slope; its rate is likely above "
        "{bound_bps:bit/s} (line)"
    ),
    "link-without-error": "the slope has no standard error",
    # Contents of the intercept, and points left out.
    "intercept-includes-headers": (
        "the intercept (no user data), {intercept_s:s}, includes {header_s:s} for "
        "{header_bytes} bytes of headers in both directions"
    ),
    "base-at-one-size": (
        "base_rtt_s is the round-trip time at {size_bytes:byte} and includes its serialization"
    ),
    "base-at-several-sizes": (
        "base_rtt_s is the mean round-trip time at {low_bytes:byte} to {high_bytes:byte} and "
        "includes serialization"
    ),
    "step-of-packet": (
        "with {header_bytes} bytes of headers the step is above packets of {low_bytes:byte}: "
        "fragments begin there if that is the MTU"
    ),
    "step-of-packets": (
        "with {header_bytes} bytes of headers the step is above packets of {low_bytes:byte} to "
        "{high_bytes:byte}: fragments begin there if that is the MTU"
    ),
    "times-step-up": (
        "Times step up by {jump_s:s} (95%: {low_s:s} to {high_s:s}) between {after_bytes:byte} and "
        "{before_bytes:byte}"
    ),
    "times-step-down": (
        "Times step down by {jump_s:s} (95%: {low_s:s} to {high_s:s}) between {after_bytes:byte} "
        "and {before_bytes:byte}"
    ),
    "outliers-set-aside": (
        "{count:outlier is|outliers are} not in the fit: {times_s:s} at {sizes_bytes:byte}"
    ),
}

FITTING_HINTS: dict[str, str] = {}
