"""Every formula of the calculator takes ranges for its numbers, or says which draws it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from netcalc import calculator, uncertain
from netcalc.errors import DomainError

FORMULAS = calculator.formulas()
REFUSED = {
    # whole numbers of a table: a bit of a symbol, a version, a channel
    **dict.fromkeys([
        "wifi.wifi_rate_bps", "fragmentation.min_mtu_bytes",
        "framing.udp_payload_limit_bytes", "vpn.wireguard_mtu_bytes",
        "vpn.wireguard_overhead_bytes",
    ], "not-a-choice"),
    # lists of results, or results that are no numbers
    **dict.fromkeys([
        "sharing.fair_share_bits", "sharing.max_min_bps", "fragmentation.fragments_bytes",
        "growth.exhaustion_band_s", "erlang.multirate_blocking_ratio",
        "latency.path_mixes", "store_and_forward.pipeline_timeline",
        "small_writes.write_timeline",
    ], "result-of-draws-not-numbers"),
}  # fmt: skip
"""Formulas that take no range, and why; all others must."""


@pytest.mark.slow
@pytest.mark.each("name", sorted(FORMULAS))
def test_a_formula_with_ranges_gives_what_it_gives_for_each_draw(name):
    """Identity: each sample is the formula at that draw."""
    formula = FORMULAS[name]
    given = dict(formula.example)
    numbers = [
        p.name
        for p in formula.parameters
        if p.kind == "number" and isinstance(given.get(p.name), int | float)
        and not isinstance(given[p.name], bool) and given[p.name] > 0
    ]  # fmt: skip
    if not numbers:
        return
    inputs = {
        **given,
        **{one: uncertain.uniform(0.97 * given[one], 1.03 * given[one]) for one in numbers},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spreads, refusal = drawn(formula, inputs)
        assert (refusal and refusal.code) == REFUSED.get(name)
        assert refusal is None or str(refusal)
        for column, found in spreads.items():
            if any(note.code == "draws-left-out" for note in found.notes):
                continue
            block = uncertain.sampling.DrawPlan(found.inputs, found.seed).block(0, 64)
            for index in (0, 31, 63):
                one = {key: float(values[index]) for key, values in block.items()}
                alone = formula.evaluate({**given, **one})
                value = getattr(alone, column) if column != "result" else alone
                expected = float(np.reshape(value, ()))
                assert found.samples[index] == pytest.approx(expected, rel=1e-9, nan_ok=True)


def drawn(formula, inputs):
    """Return the spreads of a formula, or why it has none."""
    try:
        return uncertain.spreads(formula.function, inputs, draws=64, truncate=True), None
    except DomainError as error:
        return {}, error
