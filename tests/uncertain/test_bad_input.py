"""Bad ranges in every command that takes one: one sentence with the option, and no traceback."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from netcalc.cli import commands, main
from netcalc.errors import NetcalcError

CALC = ["calc", "transfer", "1MB", "--latency"]
COMMANDS = {
    "a value": [*CALC, None, "--bandwidth", "10 Mbit/s"],
    "a sweep": [*CALC, None, "--sweep", "bandwidth=1Mbit/s:10Mbit/s:3"],
    "a solution": [*CALC, None, "--solve", "bandwidth", "--for", "1s"],
    "transfer": ["plan", "transfer", "1GB", "--rate", "1Gbit/s", "--rtt", None],
    "buy": ["plan", "buy", "1GB", "--rate", "1Gbit/s", "--rtt", None],
    "buffer": ["plan", "buffer", "1Gbit/s", "--rtt", None],
    "voice": ["plan", "voice", "1200 calls/h", "--codec", "g729", "--holding", None],
    "backup": ["plan", "backup", "1TB", "--in", "8h", "--rate", "1Gbit/s", "--rtt", None],
}
FILES = {
    "gaps.csv": "rtt [ms],x\n10,1\n,2\n20,3\n",
    "empty.csv": "",
    "header.csv": "rtt [ms]\n",
    "no_unit.csv": "rtt\n10\n20\n",
    "words.csv": "rtt [ms]\nabc\n",
    "below.csv": "rtt [ms]\n-5\n10\n",
    "rates.csv": "rtt [Mbit/s]\n5\n10\n",
}
BAD = (
    "banana", "30 ms ± banana", "± 5 ms", "30 ms ±", "30 ± 5", "50..20 ms", "20..20 ms", "20.. ms",
    "..20 ms", "20..30", "20..30 kg", "20 ms...30 ms...40 ms", "30ms±5ms±1ms",
    "lognormal(30 ms, p95 20 ms)", "lognormal(30 ms, p50 40 ms)", "lognormal(30 ms)",
    "lognormal(-30 ms, p95 20 ms)", "normal(30 ms, -5 ms)", "30 ms ± -5 ms", "30 ms ± 0 ms",
    "nan", "nan..20 ms", "30 ms ± nan ms", "20 ms..inf", "normal(30 ms)", "normal()",
    "triangular(20, 10, 30 ms)", "exponential(0 s)", "weird(1, 2)", "truncated(5 ms)",
    "truncated(20..30 ms, 40..50 ms)", "1e400..2e400 s", "-5..5 ms", "30 ms ± 30 ms", "(((",
    "gaps.csv:rtt", "empty.csv:rtt", "header.csv:rtt", "no_unit.csv:rtt", "words.csv:rtt",
    "below.csv:rtt", "rates.csv:rtt", "gaps.csv:foo", "missing.csv:rtt", "@", "@empty.csv:rtt",
    "@gaps.csv:bandwidth",
)  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_input_is_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    for text in BAD:
        arguments = [text if one is None else one for one in COMMANDS[name]]
        done = CliRunner().invoke(commands, arguments)
        assert isinstance(done.exception, NetcalcError), (text, done.output)
        said = str(done.exception)
        assert "\n" not in said, text
        assert text.partition(":")[0].lstrip("@") in said or "--" in said, said
        for raw in ("_s ", "_bps", "_ratio"):
            assert raw not in said, said


@pytest.mark.each(
    ("arguments", "option", "share"),
    [
        # derived: of a normal distribution Phi(-1) lies below its mean less a deviation
        ([*CALC, "30 ms ± 30 ms", "--bandwidth", "10 Mbit/s"], "--latency", "15.87%"),
        # derived: half of 0.5 ± 0.5 beyond a deviation, at both ends
        (["calc", "mathis-throughput", "0.5 ± 0.5", "--mss", "1460B", "--rtt", "50ms"], "loss",
         "31.73%"),
        (["plan", "transfer", "1GB", "--rate", "1Gbit/s", "--rtt", "30ms", "--loss", "1% ± 1%"],
         "--loss", "15.87%"),
    ],
)  # fmt: skip
def test_the_share_outside_is_named_and_truncating_helps(arguments, option, share, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"{share} of the draws of {option} are impossible" in said
    done = CliRunner().invoke(commands, [*arguments, "--truncate"])
    assert done.exit_code == 0, done.output
    assert share in done.output + done.stderr


def test_a_plan_of_a_network_takes_the_possible_part(tmp_path, monkeypatch):
    """Derived: of a growth of 0% ± 99% the part below -99%, the least that is taken, is Phi(-1)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links.csv").write_text("from,to,rate,latency\na,b,1 Gbit/s,1 ms\n")
    (tmp_path / "demands.csv").write_text("from,to,rate\na,b,100 Mbit/s\n")
    command = ["plan", "network", "links.csv", "demands.csv", "--growth"]
    refused = CliRunner().invoke(commands, [*command, "0% ± 99%"])
    assert refused.exception.code == "network-draws-impossible"
    assert "15.87%" in str(refused.exception)
    done = CliRunner().invoke(commands, [*command, "truncated(0% ± 99%)", "--draws", "50"])
    assert done.exit_code == 0, done.output
