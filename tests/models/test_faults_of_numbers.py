"""Numbers in a form that is none, and random packets on another machine: what must not differ."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from netcalc import fit
from netcalc.errors import DomainError
from netcalc.models.delays import latency
from netcalc.models.queues import erlang, mm1
from netcalc.models.sizes import fragmentation, framing
from netcalc.models.tcp import loss_limited
from netcalc.samples import RttSamples


@pytest.mark.each(
    "ragged",
    [[[1, 2], [3]], [[1.0], 2.0], [np.zeros(2), np.zeros(3)], [{}, {1}]],
)
def test_rows_of_unequal_length_are_refused_by_the_name_of_the_argument(ragged):
    with pytest.raises(TypeError, match="wire_bytes must contain numbers"):
        latency.serialization_s(ragged, bandwidth_bps=1e6)
    with pytest.raises(TypeError, match="bandwidth_bps must contain numbers"):
        latency.serialization_s(100, bandwidth_bps=ragged)


def test_none_among_numbers_is_no_number():
    with pytest.raises(TypeError, match="wire_bytes must contain numbers"):
        latency.serialization_s([1, None], bandwidth_bps=1e6)


def test_bits_of_a_column_of_32_bit_integers_do_not_wrap():
    """2^31 - 1 bytes are 8 times as many bits; derived: (2^31 - 1) x 8 / 10^6."""
    column = np.array([2**31 - 1, 1], dtype=np.int32)
    assert latency.serialization_s(column, bandwidth_bps=1e6)[0] == 17_179.869176
    lines = np.array([2**31 - 1], dtype=np.int32)
    assert latency.serialization_s(1, bandwidth_bps=lines)[0] == pytest.approx(8 / (2**31 - 1))


def test_a_load_of_1_is_no_negative_wait_and_next_to_it_the_digits_stay():
    """Derived: rho / (1 - rho) of the float next to 1 - 1e-12, in exact fractions."""
    rho = 1 - 1e-12
    exact = Fraction(rho) / (1 - Fraction(rho))
    assert mm1.mm1_wait_s(rho, service_s=1.0) == pytest.approx(float(exact), rel=1e-12)
    assert mm1.mm1_wait_s([1.0, 1.2, 1e300], service_s=1.0).tolist() == [np.inf] * 3


def test_a_hundred_thousand_servers_in_one_call():
    """Derived: one step of the recursion B(n) = A B(n-1) / (n + A B(n-1)), and C from B."""
    load, servers = 99_000.0, 100_000
    before = erlang.erlang_b_ratio(load, server_count=servers - 1)
    blocking = load * before / (servers + load * before)
    assert erlang.erlang_b_ratio(load, server_count=servers) == pytest.approx(blocking, rel=1e-9)
    waiting = servers * blocking / (servers - load * (1 - blocking))
    assert erlang.erlang_c_ratio(load, server_count=servers) == pytest.approx(waiting, rel=1e-9)


def test_no_loss_all_loss_and_more_than_all():
    def rate(loss):
        return loss_limited.mathis_throughput_bps(loss, mss_bytes=1460, rtt_s=0.1)

    assert (rate(0), rate(1)) == (np.inf, 0)
    with pytest.raises(DomainError) as refused:
        rate(3)
    assert refused.value.code == "percent-for-ratio"
    assert (refused.value.values["percent"], refused.value.values["ratio"]) == (3, 0.03)
    assert str(refused.value).endswith("Did you mean 3%? As a ratio of 1 that is 0.03")


def test_datagrams_of_no_bytes_of_the_largest_size_and_of_one_more():
    """Published: RFC 791, RFC 768: 65,535 bytes with 20 of IP and 8 of UDP."""
    assert framing.udp_payload_limit_bytes(4) == 65_507
    assert fragmentation.fragment_count(8 + 0, mtu_bytes=1500) == 1
    assert fragmentation.fragment_count(8 + 65_507, mtu_bytes=1500) == 45  # ceil(65515 / 1480)
    with pytest.raises(DomainError) as refused:
        fragmentation.fragment_count(8 + 65_508, mtu_bytes=1500)
    assert (refused.value.code, refused.value.values["high"]) == ("packet-too-long", 65_535)
    with pytest.raises(DomainError) as refused:
        fragmentation.fragment_count(100, mtu_bytes=27)
    assert (refused.value.code, refused.value.values["low"]) == ("below-minimum", 68)


@pytest.mark.each("sizes", [[], [56], [56, 56], [56, 56, 56]])
def test_a_line_through_one_size_has_no_slope(sizes):
    found = fit.rtt_against_size(RttSamples(payload_bytes=sizes, rtt_s=[0.1] * len(sizes)))
    assert np.isnan(found.params["bandwidth_bps"])
    code = "one-size-of-echo" if sizes else "no-points"
    assert found.not_identifiable["bandwidth_bps"].code == code


SEEDED = """
import numpy as np
from netcalc.emulation import simulate
from netcalc.path import Path
gaps = np.random.default_rng(1).exponential(1e-3, 300)
run = simulate(Path.parse("T1 5 ms, T3 1 ms"), packet_bytes=500, sent_s=np.cumsum(gaps), seed=7,
               loss_ratio=0.1, duplicate_ratio=0.1, reorder_ratio=0.1, reorder_s=0.01)
print(run.events.sha256())
"""


def test_the_same_seed_in_other_processes_with_other_threads_and_languages():
    """Identity: hashes of the event log, with the order of sets and the threads of BLAS changed."""
    hashes = set()
    for number in ("1", "2"):
        environment = {
            "PATH": "", "PYTHONHASHSEED": number, "OMP_NUM_THREADS": number,
            "OPENBLAS_NUM_THREADS": number, "LC_ALL": ("C", "de_DE.UTF-8")[number == "2"],
            "TZ": ("UTC", "Pacific/Apia")[number == "2"],
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", SEEDED], env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        hashes.add(done.stdout)
    assert len(hashes) == 1
    assert len(hashes.pop().strip()) == 64
