"""How long an honest client of ``netcalc peer`` waits for its welcome beside strangers at the port.

It connects, both ends prove the token, and the peer says that it serves; then it closes, again and
again. The strangers of ``strangers.py`` come from another address of the loopback; ``elsewhere`` is
a flood of another program's port, which takes processors and nothing else.

Run: python tests/benchmarks/peer_strangers.py [CLIENTS] [STRANGERS]
"""

from __future__ import annotations

import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from netcalc.experiments.peers import channel, helper

KINDS = (None, "silent", "slow", "flood", "elsewhere")
STRANGERS = str(Path(__file__).with_name("strangers.py"))
HONEST = "127.0.0.3"


def welcome_s(address: tuple[str, int], token: str) -> float:
    """Return how long a client waits from its first packet to its welcome. [s]"""
    begin_s = time.perf_counter()
    with socket.create_connection(address, 20, source_address=(HONEST, 0)) as sock:
        own = channel.new_hello()
        sock.sendall(own.packed)
        other = channel.hello_of(sock.recv(channel.HELLO_BYTES, socket.MSG_WAITALL))
        secret = channel.secret_of(token)
        assert other is not None
        assert secret is not None
        handshake = channel.Handshake(secret, own, other)
        sock.sendall(handshake.proof_of_client)
        proof = sock.recv(channel.PROOF_BYTES, socket.MSG_WAITALL)
        assert proof == handshake.proof_of_peer
        client = channel.Channel(sock, handshake.key, is_client=True)
        while (message := client.receive()) is None:
            helper.readable(sock, 20.0)
        took_s = time.perf_counter() - begin_s
        if message == {"refusal": "peer-busy"}:  # it has not seen that the one before has gone
            time.sleep(0.01)
            return welcome_s(address, token)
        return took_s


def main(clients: int, count: int) -> None:
    """Print the times beside each kind of stranger."""
    print(f"{count} strangers, {clients} clients one after the other; ms until the welcome")
    for kind in KINDS:
        with subprocess.Popen(
            [sys.executable, "-m", "netcalc", "peer", "--port", "0"],
            stdout=subprocess.PIPE, text=True,
        ) as peer:  # fmt: skip
            assert peer.stdout is not None
            text = "".join(peer.stdout.readline() for _ in range(2))
            address = ("127.0.0.1", int(re.findall(r"port (\d+)", text)[0]))
            token = text.split("Token: ")[1].strip()
            command = [sys.executable, "-S", STRANGERS, "--be", kind or "", *map(str, address)]
            others = None
            if kind:
                others = subprocess.Popen([*command, str(count)], stdout=subprocess.PIPE)
                assert others.stdout is not None
                others.stdout.readline()
            times_s = [welcome_s(address, token) for _ in range(clients)]
            for process in filter(None, (others, peer)):
                process.kill()
                process.wait()
        shown = [1e3 * t for t in (statistics.median(times_s), max(times_s))]
        print(f"{kind or 'alone':10} median {shown[0]:7.2f}  most {shown[1]:7.2f}", flush=True)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    main(*[*numbers, *(200, 1000)[len(numbers) :]])
