"""Token bucket: a packet-free simulation, and what each form says about the others."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.queues import token_bucket

BUCKET = {"bucket_bytes": 125e3, "token_bps": 10e6, "peak_bps": 1e9}


@pytest.mark.each("traffic", [0.0, 12.5e3, 125e3, 126e3, 127e3, 1e6])
def test_transfer_against_stepping_through_it(traffic):
    """Second method: tokens and data moved in steps of 10 us."""
    step_s, tokens, left, elapsed = 1e-5, 125e3, traffic, 0.0
    while left > 1e-6:
        tokens = min(tokens + 10e6 / 8 * step_s, 125e3)
        sent = min(left, tokens, 1e9 / 8 * step_s)
        tokens, left, elapsed = tokens - sent, left - sent, elapsed + step_s
    computed = token_bucket.token_bucket_transfer_s(traffic, **BUCKET)
    assert computed == pytest.approx(elapsed, abs=2.5e-5)


def test_what_has_passed_when_the_transfer_ends_is_the_transfer():
    """Identity: both forms are one curve read both ways."""
    traffic = np.array([1e3, 126e3, 5e6])
    time = token_bucket.token_bucket_transfer_s(traffic, **BUCKET)
    assert token_bucket.token_bucket_passed_bytes(time, **BUCKET) == pytest.approx(traffic)


def test_the_burst_is_where_both_limits_meet():
    """Identity: until its end the line is the limit, after it the tokens."""
    burst = token_bucket.token_bucket_burst_bytes(125e3, token_bps=10e6, peak_bps=1e9)
    time = 8 * burst / 1e9
    assert 125e3 + 10e6 / 8 * time == pytest.approx(float(burst))


def test_edges():
    """Stated limits: an endless line, tokens faster than the line, nothing to send."""
    bucket = {"bucket_bytes": 1e3, "token_bps": 1e6}
    assert token_bucket.token_bucket_transfer_s([0, 1e3], **bucket).tolist() == [0.0, 0.0]
    assert token_bucket.token_bucket_passed_bytes(0.0, **bucket) == 1e3
    assert token_bucket.token_bucket_passed_bytes(1.0, **bucket, peak_bps=8e3) == 1e3
    rates = {"token_bps": 1e6, "peak_bps": [5e5, 1e6]}
    assert token_bucket.token_bucket_burst_bytes(0.0, **rates).tolist() == [np.inf, np.inf]
    with pytest.raises(DomainError, match="token_bps"):
        token_bucket.token_bucket_transfer_s(1.0, bucket_bytes=1.0, token_bps=0.0)
