"""Every public model over one grid of bad, extreme and good numbers, and against mpmath.

Each numeric argument in turn takes the values of ``GRID``, an empty array and an array with nan
among good numbers, while the others stay at ``base_arguments.BASE``. There are three answers: a
DomainError that names the argument, the documented inf or nan, or a finite value; and the value
is held to an independent expression with 50 digits or more. A new model needs an entry in the
table, and an equation or a reason why there is none.

Run as a program it prints the largest relative error of each model.
"""

from __future__ import annotations

import inspect
import re
import warnings

import equations_of_collectives as collectives
import equations_of_growth_and_media as growth
import equations_of_sizes as sizes
import equations_of_tcp_and_queues as tcp
import equations_of_users as users
import mpmath
import numpy as np
import pandas
import pytest
from base_arguments import BASE
from mpmath import mpf

from netcalc import calculator, checks
from netcalc.errors import DomainError, DoubtWarning, NotFiniteWarning

NAN, INF = float("nan"), float("inf")
GRID = (0.0, 5e-324, 1e-12, 1 - 1e-12, 1.0, 1 + 1e-12, 1e6, 1e15, 1e308, -1.0, NAN, INF)
LIMIT = 1e-9
LARGEST = float(np.finfo(float).max)
UNDERFLOW = 1e-290  # smaller numbers lose their digits one by one


EQUATIONS = (
    sizes.EQUATIONS | tcp.EQUATIONS | users.EQUATIONS | growth.EQUATIONS | collectives.EQUATIONS
)
DIGITS = tcp.DIGITS
FORMULAS = calculator.formulas()

# Models that no equation gives in closed form, and where they are held to a second method.
NOT_CLOSED = {
    "backlog.lindley_wait_s": "recursion: test_backlog walks it customer by customer",
    "sample_statistics.jitter_rfc3550_s": "recursion: test_delay_variation, RFC 3550 A.8",
    "wifi.wifi_rate_bps": "tables of schemes and channels: test_aggregates",
    "wifi.wifi_throughput_bps": "tables of schemes and channels: test_aggregates",
    "wifi.attempt_ratio": "a fixed point: test_dcf solves the chain",
    "wifi.collision_ratio": "a fixed point: test_dcf solves the chain",
    "wifi.saturation_utilization": "a fixed point: test_dcf simulates",
    "wifi.saturation_throughput_bps": "a fixed point: test_dcf simulates",
    "small_writes.delayed_ack_s": "a table of systems",
    "store_and_forward.exchange_timeline": "a sequence of events: test_exchange",
    "sharing.max_min_bps": "progressive filling: test_fairness checks what defines it",
    "sharing.max_min_network_bps": "progressive filling: test_fairness checks what defines it",
    "sharing.fair_share_bits": "an integral over steps: test_fairness",
    "growth.exhaustion_band_s": "least squares: test_growth follows the band itself",
    "hashing.fullest_link_cdf": "test_hashing counts all ways in whole numbers",
    "hashing.fullest_link_flows": "test_hashing counts all ways in whole numbers",
    "hashing.fullest_link_percentile_flows": "test_hashing counts all ways in whole numbers",
    "hashing.hashing_efficiency_ratio": "test_hashing counts all ways in whole numbers",
    "handshakes.round_trips": "a table of protocols",
    "handshakes.segments": "a table of ladders",
    "networks.jackson_rate_pps": "linear equations: test_networks lets packets go round",
    "networks.jackson_sojourn_s": "linear equations: test_networks simulates",
    "networks.mva_response_s": "recursion: test_networks sums the product form",
    "networks.mva_throughput_pps": "recursion: test_networks sums the product form",
    "handshakes.page_round_trips": "test_page_load counts round trips one by one",
    "latency.path_mixes": "a search: test_path_mixes tries every multiset",
    "sample_statistics.billed_rate_bps": "order statistics: numbers/test_billing",
    "sample_statistics.median": "order statistics: test_robust",
    "sample_statistics.percentile": "order statistics: test_robust",
    "sample_statistics.median_absolute_deviation": "order statistics: test_robust",
    "sample_statistics.theil_sen_slope": "order statistics: test_robust",
    "sample_statistics.theil_sen_intercept": "order statistics: test_robust",
    "small_writes.nagle_may_send": "a truth table: test_small_writes",
    "small_writes.minshall_may_send": "a truth table: test_small_writes",
    "store_and_forward.pipeline_timeline": "recursion: test_store_and_forward",
    "timers.rto_estimate": "recursion: test_timers",
    "small_writes.write_timeline": "a sequence of events: test_write_timeline",
} | users.NOT_CLOSED

# Differences, not times, sizes or rates: their docstrings say what a negative one means.
MAY_BE_NEGATIVE = {
    "forwarding.device_byte_cost",
    "forwarding.device_packet_cost",
    "channel.shannon_snr_db",
    "growth.annual_growth",
    "growth.exhaustion_band_s",
    "sample_statistics.ipdv_s",
    "host_stack.two_point_costs",
    "latency.path_mixes",
    "window.buffer_delay_factor",
    "sample_statistics.median",
    "sample_statistics.percentile",
    "sample_statistics.median_absolute_deviation",
    "sample_statistics.theil_sen_slope",
    "sample_statistics.theil_sen_intercept",
}

LOOSER = {
    "host_stack.two_point_costs": (1e-4, "two products that agree in 12 digits are subtracted"),
}

# A relation of two arguments that names the other one of the two.
NAMED_INSTEAD = {
    ("framing.captured_tcp_payload_bytes", "tag_count"): "captured_bytes",
    ("mbufs.datagram_mbufs", "header_bytes"): "payload_bytes",
    ("mbufs.datagram_mbufs", "inner_header_bytes"): "payload_bytes",
    ("mbufs.datagram_mbufs", "mcl_bytes"): "minclsize_bytes",
    ("mbufs.stream_mbufs", "mcl_bytes"): "minclsize_bytes",
    ("mbufs.stream_segments", "mcl_bytes"): "minclsize_bytes",
    ("mbufs.freebsd_mbufs", "mcl_bytes"): "minclsize_bytes",
    ("small_writes.write_timeline", "mss_bytes"): "write_bytes",
    ("erlang.erlang_a", "service_s"): "patience_s",
}

# At the ends of float64 a number on the way overflows or loses its digits here: the answer may be
# inf, nan or 0, or have no digits, where the equation has one.
ENDS = (5e-324, 1e308)
TRANSFER = (
    "bandwidth_bps", "reverse_bandwidth_bps", "window_bytes", "flow_count", "mtu_bytes",
    "link_bytes", "initial_window_segments", "segments_per_ack", "loss_ratio",
)  # fmt: skip
ON_THE_WAY = {
    "bbr.bbr_startup_rounds": ("rtt_s", "mss_bytes", "initial_window_segments"),
    "short_transfers.slow_start_s": ("initial_window_segments", "segments_per_ack"),
    "short_transfers.lossy_transfer_s": ("initial_window_segments", "segments_per_ack"),
    "cubic.cubic_k_s": ("peak_window_packets",),
    "cubic.cubic_loss_interval_s": ("loss_ratio", "rtt_s", "cubic_scale"),
    "cubic.cubic_raw_window_packets": ("loss_ratio", "rtt_s", "cubic_scale"),
    "cubic.cubic_mean_window_packets": ("loss_ratio", "rtt_s", "cubic_scale"),
    "cubic.cubic_throughput_bps": ("loss_ratio", "rtt_s", "cubic_scale"),
    "cubic.cubic_loss_ratio": ("rtt_s",),
    "encapsulation.tunnel_packet_bytes": ("packet_bytes",),
    "encapsulation.tunnel_wire_bytes": ("packet_bytes",),
    "encapsulation.tunnel_overhead_bytes": ("packet_bytes",),
    "goodput.ack_reverse_utilization": ("tag_count",),
    "handshakes.certificate_round_trips": ("mss_bytes", "initial_window_segments", "client_bytes"),
    "host_stack.bulk_s": ("payload_bytes",),
    "host_stack.two_point_costs": ("elapsed_s", "packet_count", "payload_bytes"),
    "loss_limited.mathis_constant": ("segments_per_ack",),
    "loss_limited.aimd_window_packets": ("loss_ratio", "increase_packets"),
    "md1.md1_wait_percentile_s": ("service_s",),
    "pftk.pftk_window_packets": ("loss_ratio",),
    "policer.policed_loss_ratio": ("rtt_s", "mss_bytes"),
    "pftk.pftk_loss_ratio": ("rto_s", "segments_per_ack"),
    "pftk.pftk_approx_loss_ratio": ("segments_per_ack",),
    "short_transfers.sending_s": (
        "bandwidth_bps", "initial_window_segments", "max_window_segments",
    ),
    "short_transfers.static_transfer_s": (
        "bandwidth_bps", "mss_bytes", "initial_window_segments",
    ),
    "short_transfers.fetch_s": (
        "bandwidth_bps", "mss_bytes", "initial_window_segments", "max_window_segments",
    ),
    "slow_start.rounds": ("initial_window_segments", "growth"),
    "slow_start.window_growth_s": ("mss_bytes", "initial_window_segments"),
    "small_writes.tail_delay_s": ("mss_bytes",),
    "store_and_forward.message_s": ("segment_bytes", "header_bytes"),
    "store_and_forward.optimal_segment_bits": ("message_bits", "header_bits"),
    "pftk.tfrc_rounds": ("loss_ratio", "segments_per_ack", "timeout_rtts"),
    "pftk.tfrc_throughput_bps": ("loss_ratio", "segments_per_ack"),
    "pftk.tfrc_loss_ratio": ("segments_per_ack", "timeout_rtts"),
    "ceilings.congestion_limit_bps": ("loss_ratio", "rtt_s", "segments_per_ack"),
    "ceilings.path_ceilings": ("loss_ratio", "rtt_s", "segments_per_ack"),
    "transfer_time.transfer_time_s": TRANSFER,
    "transfer_time.transfer_parts": TRANSFER,
    "window.serialized_throughput_bps": ("packet_bytes",),
    "vpn.wireguard_packet_bytes": ("packet_bytes",),
}  # fmt: skip
UNCOUNTED = {
    ("small_writes.tail_delay_s", "mss_bytes", 1e-12),
    ("voice.voip_call_count", "link_bytes", 1e-12),
}
"""A quotient nearer to a whole number than a division's last digits: 124.9999999999994 are 125."""

# Not used at the base arguments: nan changes nothing.
UNUSED = {("timers.rto_estimate", "initial_rto_s"): "there is a sample"}

EVERY_MODEL = pytest.mark.each("formula", FORMULAS.values(), ids=FORMULAS)


def numeric(formula):
    """Return the arguments that are numbers."""
    kinds = ("number", "list")
    return [p for p in formula.parameters if p.kind in kinds and p.unit not in ("text", "bool")]


def takes_arrays(formula, parameter):
    annotation = inspect.signature(formula.function).parameters[parameter.name].annotation
    return parameter.kind == "number" and annotation == "ArrayLike"


def base(formula):
    """Return all arguments: the table's, and the defaults of the others."""
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    return {**defaults, **BASE[formula.name]}


def swept(formula, parameter, value):
    """Return the base arguments with one number replaced; of a list its second."""
    arguments = base(formula)
    if parameter.kind == "list":
        numbers = list(np.atleast_1d(arguments[parameter.name]).astype(float))
        numbers[min(1, len(numbers) - 1)] = value
        value = numbers
    return {**arguments, parameter.name: value}


def used(formula):
    """Return the ranges of the formulas whose notes a formula passes on."""
    return [checks.published_ranges(one) for one in passed_on(formula.function)]


def passed_on(function):
    """Return the formulas that a formula uses, and those that they use."""
    within = inspect.unwrap(function).__globals__
    used = [within[name] for name in checks.used_ranges(function)]
    return used + [other for one in used for other in passed_on(one)]


def call(formula, arguments):
    """Return the result, or the DomainError, and the warnings; a doubt must be right."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = formula.evaluate(arguments)
        except DomainError as error:
            result = error
    doubtful = [one.message for one in caught if one.category is DoubtWarning]
    for doubt in doubtful:
        if doubt.code.endswith("published-range"):
            name, value = doubt.values["name"], doubt.values["value"]
            limits = [
                one[name] for one in (formula.published_ranges, *used(formula)) if name in one
            ]
            assert limits, doubt
            assert any(not low <= value <= high for low, high in limits), doubt
    return result, [one for one in caught if one.category is not DoubtWarning]


def numbers(result):
    """Return all numbers of a result, one column after the other."""
    columns = result if isinstance(result, tuple) else (result,)
    columns = [np.ravel(c) for c in columns if np.asarray(c).dtype.kind in "fiub"]
    return np.concatenate(columns).astype(float)


def exact(value):
    """Return numbers as mpmath has them."""
    if isinstance(value, str | bool) or value is None:
        return value
    if np.ndim(value):
        return [mpf(float(one)) for one in value]
    return int(value) if value in (4, 6) and isinstance(value, int) else mpf(float(value))


def expected(formula, arguments, result):
    """Return pairs of what is and what should be; None where the equation has no value."""
    equation = EQUATIONS[formula.name]
    names = inspect.signature(equation).parameters
    with mpmath.workdps(DIGITS.get(formula.name, 50)):
        given = {name: exact(arguments[name]) for name in names if name != "result"}
        if "ip_version" in given:
            given["ip_version"] = int(given["ip_version"])
        try:
            if "result" in names:
                if not np.isfinite(result):
                    return None
                return [equation(mpf(float(result)), **given)]
            wanted = equation(**given)
        except ZeroDivisionError:
            return None
    wanted = wanted if isinstance(wanted, list | tuple) else [wanted]
    return list(zip(numbers(result).tolist(), wanted, strict=True))


def relative_error(found, wanted):
    """Return the error, 0 where both are the same limit or below what floats hold."""
    if mpmath.isnan(wanted) or mpmath.isnan(found):
        return 0.0 if mpmath.isnan(wanted) and mpmath.isnan(found) else INF
    if abs(wanted) > LARGEST or mpmath.isinf(found):
        return 0.0 if abs(found) > LARGEST * (1 - LIMIT) and abs(wanted) > LARGEST else INF
    if max(abs(wanted), abs(mpf(found))) < UNDERFLOW:
        return 0.0
    return float(abs(mpf(found) - wanted) / abs(wanted)) if wanted else INF


def documented(formula):
    """Return True if the docstring says where the result is inf or nan."""
    text = f"{formula._section('returns')} {formula.validity}"
    return re.search(r"\b(inf|nan)\b", text) is not None


def faults_of_value(formula, arguments, result):
    """Yield what is wrong with the answer to finite numbers; and the relative error."""
    found = numbers(result)
    if formula.name not in MAY_BE_NEGATIVE and (found < 0).any():
        yield f"negative: {found}", 0.0
    if formula.name in EQUATIONS:
        pairs = expected(formula, arguments, result)
        errors = [relative_error(*pair) for pair in pairs] if pairs is not None else []
        limit, _ = LOOSER.get(formula.name, (LIMIT, ""))
        error = max(errors, default=0.0)
        if error > limit:
            shown = [(mpmath.nstr(mpf(a), 17), mpmath.nstr(b, 17)) for a, b in pairs]
            yield f"relative error {error:.1e} of {shown[:4]}", 0.0
        yield "", error
        if pairs is None and np.isfinite(found).all():
            yield f"{found} where the equation has no value", 0.0
        overflows = pairs is not None and not errors.count(INF)
    else:
        overflows = True
    if not np.isfinite(found).all() and not (documented(formula) or overflows):
        yield f"{found}, which the docstring does not mention", 0.0


def check_scalars(formula):
    """Return the faults of single values, and the largest relative error."""
    faults, largest = [], 0.0
    for parameter in numeric(formula):
        for value in GRID:
            arguments = swept(formula, parameter, value)
            result, caught = call(formula, arguments)
            where = f"{parameter.name}={value!r}"
            if len(caught) > (parameter.kind == "list" and not np.isfinite(value)):
                faults.append(f"{where}: {[str(one.message) for one in caught]}")
            if isinstance(result, DomainError):
                allowed = NAMED_INSTEAD.get((formula.name, parameter.name), parameter.name)
                if parameter.name not in result.name and allowed != result.name:
                    faults.append(f"{where}: {result!r}")
                continue
            if not np.isfinite(value):
                is_told = np.isnan(numbers(result)).any() or np.asarray(result).dtype == bool
                is_unused = (formula.name, parameter.name) in UNUSED
                if not (is_told or is_unused or value == INF):
                    faults.append(f"{where}: {numbers(result)}")
                continue
            if value in ENDS and parameter.name in ON_THE_WAY.get(formula.name, ()):
                continue
            if (formula.name, parameter.name, value) in UNCOUNTED:
                continue
            for fault, error in faults_of_value(formula, arguments, result):
                largest = max(largest, error if error < INF else 0.0)
                if fault:
                    faults.append(f"{where}: {fault}")
    return faults, largest


def test_every_model_has_base_arguments():
    assert set(BASE) == set(FORMULAS)


def test_every_model_has_an_equation_or_a_reason():
    assert not set(EQUATIONS) & set(NOT_CLOSED)
    assert set(EQUATIONS) | set(NOT_CLOSED) == set(FORMULAS)


@EVERY_MODEL
def test_base_arguments_give_numbers(formula):
    result, caught = call(formula, base(formula))
    assert not caught
    assert np.isfinite(numbers(result)).all()


@pytest.mark.slow
@EVERY_MODEL
def test_three_answers_over_the_grid(formula):
    faults, largest = check_scalars(formula)
    print(f"{formula.name}: largest relative error {largest:.1e}")
    assert not faults, "\n".join(faults)


@EVERY_MODEL
def test_nan_among_good_numbers_warns_once_and_stays_in_its_place(formula):
    for parameter in numeric(formula):
        if parameter.kind == "list":
            arguments = swept(formula, parameter, NAN)
            if len(arguments[parameter.name]) < 2:
                continue
        elif takes_arrays(formula, parameter):
            good = base(formula)[parameter.name]
            arguments = {**base(formula), parameter.name: np.array([good, NAN, good])}
        else:
            continue
        result, caught = call(formula, arguments)
        if isinstance(result, DomainError):
            assert parameter.kind == "list", result
            assert parameter.name in result.name
            continue
        assert [one.category for one in caught] == [NotFiniteWarning], parameter.name
        assert str(caught[0].message).startswith(f"{parameter.name}: 1 of ")
        assert caught[0].filename == calculator.catalogue.__file__, "it points to the caller"
        if parameter.kind == "list":
            assert np.isnan(numbers(result)).any(), parameter.name
            continue
        alone = call(formula, base(formula))[0]
        columns = zip(*(r if isinstance(r, tuple) else (r,) for r in (result, alone)), strict=True)
        for column, one in columns:
            assert np.shape(column) == (3,), parameter.name
            assert column[0] == column[2] == pytest.approx(one, rel=1e-14)
            assert column.dtype == bool or np.isnan(column[1]), parameter.name


@EVERY_MODEL
def test_empty_arrays(formula):
    for parameter in numeric(formula):
        result, caught = call(formula, {**base(formula), parameter.name: np.zeros(0)})
        assert not caught
        if isinstance(result, DomainError):
            assert parameter.name in result.name, result
            assert not takes_arrays(formula, parameter), result
            continue
        for column in result if isinstance(result, tuple) else (result,):
            assert np.size(column) == 0, parameter.name


@pytest.mark.slow
@EVERY_MODEL
def test_other_containers_of_the_same_numbers(formula):
    """Lists, integers that float64 cannot hold, objects, pandas and arrays without dimensions."""
    arguments = base(formula)
    alone = numbers(call(formula, arguments)[0])
    for parameter in numeric(formula):
        value = arguments[parameter.name]
        if parameter.kind == "list":
            value = np.atleast_1d(value).tolist()
            forms = [tuple(value), np.array(value, dtype=object), pandas.Series(value)]
        elif takes_arrays(formula, parameter):
            forms = [np.array(value), np.array(value, dtype=object), np.float32(value)]
            forms = forms[: 3 if float(np.float32(value)) == value else 2]
        else:
            continue
        for form in forms:
            found = numbers(call(formula, {**arguments, parameter.name: form})[0])
            np.testing.assert_allclose(found, alone, rtol=1e-14, err_msg=parameter.name)
        if takes_arrays(formula, parameter):
            column = call(formula, {**arguments, parameter.name: pandas.Series([value] * 2)})[0]
            assert np.size(numbers(column)) == 2 * np.size(alone)
            huge, _ = call(formula, {**arguments, parameter.name: 2**62})
            same, _ = call(formula, {**arguments, parameter.name: 2.0**62})
            assert isinstance(huge, DomainError) or np.array_equal(
                numbers(huge), numbers(same), equal_nan=True
            )


@EVERY_MODEL
def test_choices_and_texts_that_are_unknown(formula):
    for parameter in formula.parameters:
        if parameter.kind in ("choice", "text"):
            result, _ = call(formula, {**base(formula), parameter.name: "no such thing"})
            assert isinstance(result, DomainError)
            assert parameter.name == result.name
        for choice in parameter.choices:
            result, caught = call(formula, {**base(formula), parameter.name: choice})
            assert not caught
            assert np.isfinite(numbers(result)).all()
        if parameter.kind == "bool":
            for flag in (False, True):
                result, caught = call(formula, {**base(formula), parameter.name: flag})
                assert not caught
                assert np.isfinite(numbers(result)).all()


if __name__ == "__main__":
    for found in FORMULAS.values():
        if found.name in EQUATIONS:
            print(f"{found.name:48} {check_scalars(found)[1]:.1e}")
