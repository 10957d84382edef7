"""What a class's web socket does with messages that no browser sends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("voila", reason="needs the lab extra")

MESSAGES = 100_000


@pytest.mark.slow
def test_a_malformed_message_closes_its_connection_and_costs_nothing_else():
    # In a process of 1 GB and 300 s of processor time: one message that is believed takes more.
    command = [sys.executable, str(Path(__file__).with_name("socket_fuzz.py")), str(MESSAGES)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]
    subprotocols = json.loads(ended.stdout)
    assert list(subprotocols) == ["v1.kernel.websocket.jupyter.org", "legacy"]
    for counts in subprotocols.values():
        assert not counts["wrong"]
        assert counts["closed"] == counts["malformed"] > MESSAGES / 5
        assert counts["passed"] == counts["well formed"] > MESSAGES / 5
