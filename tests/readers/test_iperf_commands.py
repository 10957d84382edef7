"""What the command of a client above its output asks for: the same as iperf3 says in its JSON.

The files in ``inputs/iperf3`` were recorded with the commands in their MANIFEST: for each name a
text and a JSON of the same options.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from netcalc.readers import read

PAIRS = Path(__file__).parent / "inputs" / "iperf3"
ROWS = list(csv.DictReader((PAIRS / "MANIFEST.csv").read_text(encoding="utf-8").splitlines()))
COMMANDS = {row["file"]: row["command"].partition(", SIGINT")[0] for row in ROWS}
CLIENTS = sorted(
    name.removesuffix(".txt")
    for name in COMMANDS
    if name.endswith(".txt") and not name.startswith("srv_") and "bidir" not in COMMANDS[name]
)
ASKED = ("asked_rate_bps", "asked_buffer_bytes")


def asked(text, tmp_path):
    path = tmp_path / "pasted.txt"
    path.write_text(text, encoding="utf-8")
    return {k: v for k, v in read(path).meta.printed.items() if k != "streams"}


@pytest.mark.each("name", CLIENTS)
def test_the_command_says_what_the_document_of_the_same_run_says(name, tmp_path):
    text = (PAIRS / f"{name}.txt").read_text(encoding="utf-8")
    pasted = asked(f"$ {COMMANDS[f'{name}.txt']}\n{text}", tmp_path)
    document = read(PAIRS / f"{name}.json").meta.printed
    assert {key: pasted[key] for key in ASKED if key in pasted} == {
        key: document[key] for key in ASKED if key in document
    }


OUTPUT = """Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 41404 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec   113 MBytes   950 Mbits/sec  13194
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   113 MBytes   950 Mbits/sec  0.000 ms  0/13194 (0%)  sender
[  5]   0.00-1.00   sec   113 MBytes   950 Mbits/sec  0.004 ms  0/13194 (0%)  receiver

iperf Done.
"""

# The manual of iperf3: sizes count K, M, G as powers of 1024, rates as powers of 1000; a burst
# follows the rate behind a slash; UDP has 1 Mbit/s (1024**2 bit/s in its source) without -b.
OF_UDP = {
    "$ iperf3 -c 10.0.0.2 -u -b 4G -l 9000 --dont-fragment": {
        "asked_rate_bps": 4e9, "write_bytes": 9000.0, "dont_fragment": True,
    },
    "user@host:~$ iperf3 -uc 10.0.0.2 -u -b950M/10 -l8K": {},  # -uc: a form not known to hold
    "# iperf3 --client 10.0.0.2 --udp --bitrate=950M/10 --length 8K": {
        "asked_rate_bps": 950e6, "write_bytes": 8192.0,
    },
    "PS C:\\> .\\iperf3.exe -c 10.0.0.2 -u": {"asked_rate_bps": 1048576.0},
    "$ sudo iperf3 -c 10.0.0.2 -u -b 0 -w 2M": {"asked_buffer_bytes": 2097152.0},
    "$ iperf3 -c 10.0.0.2 -u -b 10pps": {},
    "$ iperf3 -c 10.0.0.2 -b 4G": {},  # of TCP: another run
    "$ iperf3 -c 10.0.0.2 -u -R -b 4G": {},  # the other direction
    "$ iperf3 -c 10.0.0.2 -u -P 4 -b 4G": {},  # four streams
    "$ iperf3 -s -B 10.0.0.2": {},
    "we ran iperf3 -c 'unclosed": {},
}  # fmt: skip


@pytest.mark.each("command", OF_UDP)
def test_options_of_a_command(command, tmp_path):
    assert asked(f"{command}\n{OUTPUT}", tmp_path) == OF_UDP[command]


def test_a_command_below_the_output_or_of_two_runs_is_not_used(tmp_path):
    command = "$ iperf3 -c 10.0.0.2 -u -b 4G\n"
    assert asked(OUTPUT + command, tmp_path) == {}
    assert asked(command + OUTPUT + command + OUTPUT, tmp_path) == {}


def test_a_verbose_client_says_it_itself(tmp_path):
    said = "      Target Bitrate: 300000000\n"
    size = "Starting Test: protocol: UDP, 1 streams, 128 byte blocks, omitting 0 seconds, 1 second"
    text = OUTPUT.replace("[ ID]", f"{said}{size}\n[ ID]", 1)
    assert asked(text, tmp_path) == {"asked_rate_bps": 300e6, "write_bytes": 128.0}


def test_small_letters_of_iperf_2_count_1000(tmp_path):
    """Its manual: K is 1024 bytes, k is 1000."""
    text = (
        "$ iperf -c 10.0.0.2 -w 416k -l 4M -t 1\n"
        "------------------------------------------------------------\n"
        "Client connecting to 10.0.0.2, TCP port 5001\n"
        "------------------------------------------------------------\n"
        "[  3] local 10.0.0.1 port 36930 connected with 10.0.0.2 port 5001\n"
        "[  3]  0.0- 1.0 sec   112 MBytes   941 Mbits/sec\n"
    )
    assert asked(text, tmp_path) == {"write_bytes": 4194304.0, "asked_buffer_bytes": 416000.0}


def test_a_verbose_run_says_when_it_began_and_where(tmp_path):
    """As in esnet/iperf#234: the time is GMT, the host in the line of its system."""
    path = tmp_path / "pasted.txt"
    head = (
        "iperf 3.0.11\nLinux rudolf-xps 3.13.0-45-generic #74-Ubuntu SMP x86_64 GNU/Linux\n"
        "Time: Tue, 17 Feb 2015 07:21:20 GMT\n"
    )
    path.write_text(head + OUTPUT, encoding="utf-8")
    meta = read(path).meta
    assert meta.start == "2015-02-17T07:21:20+00:00"
    assert meta.host.startswith("Linux rudolf-xps ")
    path.write_text(head.replace("17 Feb", "31 Feb") + OUTPUT, encoding="utf-8")
    assert read(path).meta.start == ""
