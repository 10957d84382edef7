"""Lists of sockets of netstat and /proc/net, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "counters"
PROC = (INPUTS / "proc_net_tcp.txt").read_text("utf-8")


def counts(source):
    (row,) = read(source).facts()
    return row["connection_count"], row["tcp_connection_count"], row["partial"]


def noted(source):
    return [one.code for one in read(source).meta.warnings]


def test_netstat_of_linux():
    found = read(INPUTS / "netstat_list.txt")
    assert counts(INPUTS / "netstat_list.txt") == (7, 4, False)
    assert found["state"].tolist() == [
        "LISTEN", "ESTAB", "LISTEN", "FIN-WAIT-1", "", "", "",
    ]  # fmt: skip
    assert found["receive_queue_bytes"].tolist()[:2] == [0, 5]
    assert found["send_queue_bytes"].tolist()[:2] == [0, 36]
    assert found["group"].tolist()[1] == "192.0.2.1:22 > 192.0.2.9:51234"
    assert noted(INPUTS / "netstat_list.txt") == []


def test_netstat_of_bsd_and_macos():
    bsd = (
        "Active Internet connections (including servers)\n"
        "Tcpcb            Proto Rexmit OOORcv 0-win  Local Address      Foreign Address\n"
        "fffff80003df43d0 tcp4       3      0      0 192.0.2.1.ssh      192.0.2.9.64330\n"
        "fffff80003df0000 tcp6       0      0      0 *.ssh              *.*\n"
        "fffff80003ae81e8 udp4                       *.syslog           *.*\n"
        "Active UNIX domain sockets\n"
        "Address          Type   Recv-Q Send-Q            Inode             Conn\n"
        "fffff80003ab6200 stream      0      0                0 fffff80003ab6100\n"
    )
    assert sniff(bsd) == "netstat sockets"
    assert counts(bsd) == (4, 2, False)
    assert read(bsd)["receive_queue_bytes"].tolist()[0] != 3, "Rexmit is no queue"
    macos = (
        "Active Internet connections\n"
        "Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)    \n"
        "tcp4       0      7  192.0.2.1.50000        192.0.2.9.443          ESTABLISHED\n"
        "tcp46      0      0  *.5000                 *.*                    LISTEN     \n"
        "udp6       0      0  *.5353                 *.*                               \n"
    )
    assert counts(macos) == (3, 2, False)
    assert read(macos)["state"].tolist() == ["ESTAB", "LISTEN", ""]


def test_netstat_of_windows_in_any_language():
    rows = (
        "  TCP    0.0.0.0:135            0.0.0.0:0              {listen}\n"
        "  TCP    192.0.2.1:50000        192.0.2.9:443          {open}     4711\n"
        " [svchost.exe]\n"
        "  UDP    0.0.0.0:123            *:*                                    {pid}\n"
    )
    english = (
        "\nActive Connections\n\n"
        "  Proto  Local Address          Foreign Address        State\n"
        + rows.format(listen="LISTENING", open="ESTABLISHED", pid="1234")
    )
    assert counts(english) == (3, 2, False)
    assert read(english)["state"].tolist() == ["LISTEN", "ESTAB", ""]
    german = (
        "\nAktive Verbindungen\n\n"
        "  Proto  Lokale Adresse         Remoteadresse          Status\n"
        + rows.format(listen="ABHÖREN", open="HERGESTELLT", pid="")
    )
    assert counts(german)[:2] == (3, 2)


def test_proc_net():
    found = read(PROC)
    assert sniff(PROC) == "/proc/net sockets"
    assert counts(PROC) == (2, 2, False)
    # 0x9C40 = 40000, 0x01BB = 443; 0x24 and 0x5 bytes wait
    assert found["group"].tolist() == [
        "127.0.0.1:53 > 0.0.0.0:0",
        "192.0.2.1:40000 > 192.0.2.9:443",
    ]
    assert found["state"].tolist() == ["LISTEN", "ESTAB"]
    assert found["send_queue_bytes"].tolist() == [0, 36]
    assert found["receive_queue_bytes"].tolist() == [0, 5]
    six = (
        "  sl  local_address                         remote_address                        st "
        "tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0\n"
    )
    assert read(six)["local"].tolist() == ["[::1]:22"]
    udp = PROC.replace("inode      ", "inode ref pointer drops").splitlines()
    udp[0] = udp[0].rstrip()
    assert counts("\n".join(udp) + "\n") == (2, 0, False)
    # 0x0C is the last of include/net/tcp_states.h that a list shows; there is no state 0xFF
    for digits, state in (("0C", "NEW-SYN-RECV"), ("FF", "")):
        assert read(PROC.replace(" 0A ", f" {digits} "))["state"][0] == state


def test_what_is_cut_or_no_list_of_sockets():
    assert counts(PROC.rstrip("\n")[:-40]) == (1, 1, True)
    assert noted(PROC + "what is this\n") == ["counter-lines-unread"]
    for text in (
        PROC.splitlines()[0] + "\n",
        "Proto Recv-Q Send-Q Local Address Foreign Address\n",
    ):
        with pytest.raises(ReaderError) as refused:
            read(text)
        assert refused.value.code == "no-sockets"
    routes = "Routing tables\n\nInternet:\nDestination Gateway Flags\ndefault 192.0.2.1 UGSc\n"
    with pytest.raises(ReaderError) as refused:
        read(routes)
    assert (refused.value.code, refused.value.values["kind"]) == ("other-format", "netstat")
