"""A last line without its end: most programs strip it, so it is read where nothing may be cut.

by hand: each file is read without its last line end, as ``$(...)`` gives it, and with cuts of its
last line.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "counters"
WHOLE = (
    "ip_s.txt", "ip_ss.txt", "netstat_i.txt", "netstat_list.txt", "netstat_s.txt", "nstat_a.txt",
    "proc_net_tcp.txt", "proc_softnet.txt", "sadf.csv", "sadf_local.csv", "sadf_pairs.txt",
    "sar_clock12.txt", "sar_german.txt", "sar_net.txt", "tc_noqueue.txt",
)  # fmt: skip
LAST_NUMBER = (
    "proc_dev.txt",
    "proc_netstat.txt",
    "proc_snmp.txt",
    "proc_sockstat.txt",
    "ss_an.txt",
)
CUT = ("ethtool.txt", "netstat_s_bsd.txt", "netstat_s_windows.txt", "proc_snmp6.txt", "ss_mem.txt")


def stripped(name):
    return (INPUTS / name).read_bytes().rstrip(b"\n")


@pytest.mark.each("name", WHOLE)
def test_a_whole_last_line_is_read(name):
    samples, whole = read(stripped(name)), read(INPUTS / name)
    assert (samples.facts(), samples.meta.partial) == (whole.facts(), whole.meta.partial)
    assert codes(samples) == codes(whole)


@pytest.mark.each("name", LAST_NUMBER)
def test_the_last_number_alone_is_unknown(name):
    samples, whole = read(stripped(name)), read(INPUTS / name)
    assert samples.meta.partial
    assert "last-number-cut" in codes(samples)
    if name == "ss_an.txt":
        assert len(samples.columns()["state"]) == len(whole.columns()["state"])
        assert samples.columns()["peer"][-1] == "192.0.2.1:?"
    else:
        assert len(samples.columns()["value"]) == len(whole.columns()["value"]) - 1


@pytest.mark.each("name", CUT)
def test_a_line_that_ends_in_its_only_number_is_not_read(name):
    assert "last-line-cut" in codes(read(stripped(name)))


@pytest.mark.each("name", sorted({*WHOLE, *LAST_NUMBER, *CUT} - {"sadf.csv", "sadf_local.csv"}))
def test_no_cut_of_the_last_line_is_read_as_another_number(name):
    """Identity: the values of a cut file are among those of the whole file, in their order."""
    data = stripped(name)
    whole = read(INPUTS / name)
    start = data.rfind(b"\n") + 1
    for end in range(start + 1, len(data), max(1, (len(data) - start) // 25)):
        try:
            samples = read(data[:end])
        except ReaderError:
            continue
        for column in ("value", "state", "local", "counter"):
            if column in whole.columns():
                values = samples.columns()[column].tolist()
                assert values == whole.columns()[column].tolist()[: len(values)], data[:end][-60:]


WINDOWS = (
    "Active Connections\n\n  Proto  Local Address          Foreign Address        State\n"
    "  TCP    127.0.0.1:49673        host:49674             {0}\n"
    "  TCP    127.0.0.1:49674        host:49673             {0}"
)


@pytest.mark.each("state", ["ESTABLISHED", "LISTENING", "HERGESTELLT", "ABHÖREN"])
def test_a_state_shows_the_end_of_a_socket(state):
    samples = read(WINDOWS.format(state))
    assert samples.facts()[0]["tcp_connection_count"] == 2
    assert not samples.meta.partial
    cut = read(WINDOWS.format(state)[:-4])
    assert cut.facts()[0]["tcp_connection_count"] == 1
    assert codes(cut) == ["last-line-cut"]


def test_ends_of_sockets_of_udp_and_of_listening_ones():
    text = "tcp        0      0 0.0.0.0:22       0.0.0.0:*        LISTEN\n"
    head = "Proto Recv-Q Send-Q Local Address     Foreign Address  State\n"
    assert len(read(head + text + "udp        0      0 0.0.0.0:68       0.0.0.0:*").facts()) == 1
    assert not read(head + text + "udp        0      0 0.0.0.0:68       0.0.0.0:*").meta.partial
    ss = "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    ss += "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*"
    assert read(ss).columns()["state"].tolist() == ["LISTEN"]
    assert not read(ss).meta.partial
