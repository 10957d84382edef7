"""Echo through an emulated path: the same probes, the truth beside them."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from netcalc.emulation import capabilities
from netcalc.emulation.wire.ip_packets import checksum
from netcalc.errors import DomainError, ExperimentError
from netcalc.experiments import echo, exchange
from netcalc.path import Path

PATH = Path.parse("T1 5 ms, T1 1 ms")
HEADERS = {"icmp": 28, "udp": 28, "tcp": 52}
"""derived: IPv4 20 and ICMP or UDP 8; IPv4 20, TCP 20 and 12 of time stamps. [byte]"""


@pytest.fixture(scope="module")
def wires():
    found = capabilities()
    if not found.wire:
        pytest.skip(f"no wire here: {found.why_not}")
    return found


@pytest.mark.namespace
@pytest.mark.parametrize("protocol", HEADERS)
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.usefixtures("wires", "nothing_left")
def test_the_line_through_the_minima_is_the_path(protocol, host):
    """identity: Path.rtt_s with the headers of the protocol; late by 2 % and what the run measured.

    That is: both programs wake up, two packets cross the emulator, and the work of the hosts, some
    0.1 ms of a quiet machine.
    """
    samples = echo([8, 700, 1300], protocol=protocol, host=host, count=4, path=PATH)
    sizes, best_s = samples.minima()
    headers = HEADERS[protocol] + 20 * (host == "::1")
    truth_s = PATH.rtt_s(sizes + headers)
    assert np.all(best_s >= truth_s - 1e-6)
    instrument = samples.meta.instrument
    waking_s, crossing_s = instrument.scheduling_delay_p99_s, instrument.wire_lateness_p99_s
    late_s = 2 * (waking_s + crossing_s) + 5e-4 / instrument.processor_ratio
    assert np.all(best_s <= truth_s * 1.02 + late_s)
    assert samples.sent == samples.received == 12
    assert instrument.truth["bandwidths_bps"] == [1.544e6, 1.544e6]
    assert instrument.truth["latencies_s"] == [0.005, 0.001]
    assert 0 < instrument.wire_lateness_p99_s < 0.1
    assert 0.0 <= instrument.wire_overdue_ratio <= 1.0
    assert 0.0 <= instrument.wire_overdue_host_ratio <= 1.0
    assert "path=Path(" in samples.meta.command


@pytest.mark.namespace
@pytest.mark.usefixtures("wires", "nothing_left")
def test_a_probe_of_a_fast_path_enters_it_when_the_kernel_sent_it():
    """identity: the kernel stamps single packets; those of a device that segments wait unstamped
    until the process of the path has woken, twice for each round trip."""
    samples = echo([8], count=2, path=Path.parse("1 Gbit/s 1 ms"))
    assert samples.meta.instrument.truth["offload"] is False
    assert samples.meta.instrument.offload == "one packet at a time"


@pytest.mark.namespace
@pytest.mark.usefixtures("wires", "nothing_left")
def test_probes_without_user_data_are_told_apart_by_icmp_itself():
    samples = echo([0, 4], protocol="icmp", count=3, path=Path.parse("10 Mbit/s 1 ms"))
    assert samples.received == 6
    assert samples.meta.instrument.foreign_count == 0


@pytest.mark.namespace
@pytest.mark.usefixtures("wires", "nothing_left")
def test_a_reply_that_is_late_is_lost_and_counted(monkeypatch):
    monkeypatch.setattr(importlib.import_module(echo.__module__), "WARM_UP_COUNT", 0)
    monkeypatch.setattr("netcalc.experiments.exchange.LINGER_S", 0.2)
    samples = echo(
        [100], protocol="icmp", count=5, timeout_s=0.03, path=Path.parse("10 Mbit/s 20 ms")
    )
    assert samples.loss_ratio == 1.0
    assert samples.meta.instrument.late_count == 5


def test_icmp_needs_a_path():
    with pytest.raises(DomainError) as caught:
        echo(protocol="icmp")
    assert caught.value.code == "needs-a-path"


def test_a_run_that_takes_too_long_on_its_path_is_refused():
    with pytest.raises(ExperimentError) as caught:
        echo(count=1000, path=Path.parse("1 kbit/s"))
    assert caught.value.code == "run-too-long"


def test_the_checksum_of_the_internet():
    # published: RFC 1071, section 3: the sum of these words is ddf2
    data = bytes.fromhex("0001f203f4f5f6f7")
    assert checksum(data) == 0xFFFF - 0xDDF2
    assert checksum(data[:7]) == checksum(data[:7] + b"\0")
    assert checksum(b"\x01") == 0xFFFF - 0x0100


def test_a_time_limit_is_divided_into_equal_slices():
    assert exchange.slice_s(1.0) == pytest.approx(0.1)
