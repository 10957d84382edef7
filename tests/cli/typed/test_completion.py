"""Tab completion in bash itself, and by what zsh and fish ask for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

_ASK = """
eval "$(_NETCALC_COMPLETE=bash_source netcalc)"
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
_netcalc_completion netcalc "${COMP_WORDS[$COMP_CWORD]}" x
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment in which netcalc is that of this copy."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "netcalc"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m netcalc "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["conv"], ["convert"]),
        (["calc", "tunnel-m"], ["tunnel-mtu"]),
        (["serializ"], ["serialization", "serialized-throughput"]),
        (["calc", "transfer", "--la"], ["--latency", "--latency-s"]),
        (["calc", "transfer-time", "--congestion-control", ""], ["cubic", "reno", "bbr"]),
        (["calc", "first-byte", "--security", "tls1.2"],
         ["tls1.2", "tls1.2_resume", "tls1.2_false_start"]),
        (["plan", "tr"], ["transfer"]),
        (["plan", "transfer", "--rt"], ["--rtt"]),
        (["plan", "transfer", "--algorithm", ""], ["cubic", "reno", "bbr"]),
        (["calc", "bdp", "--rtt", ""], []),
    ],
)  # fmt: skip
def test_bash_completes(environment, words, offered):
    done = subprocess.run(
        ["bash", "-c", _ASK, "bash", "netcalc", *words], env=environment, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.split() == offered


@pytest.mark.parametrize(("shell", "at"), [("zsh", "2"), ("fish", "tunnel-m")])
def test_other_shells_are_given_names_and_summaries(environment, shell, at):
    asked = {
        "_NETCALC_COMPLETE": f"{shell}_complete", "COMP_WORDS": "netcalc calc tunnel-m",
        "COMP_CWORD": at,
    }  # fmt: skip
    done = subprocess.run(
        ["netcalc"], env={**environment, **asked}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert "tunnel-mtu" in done.stdout
    assert "Inner MTU" in done.stdout
    source = subprocess.run(
        ["netcalc"], env={**environment, "_NETCALC_COMPLETE": f"{shell}_source"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "_netcalc_completion" in source.stdout
