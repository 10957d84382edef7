"""Command lines that are refused before anything is computed: each has a type and a code."""

from __future__ import annotations

import json

import pytest

from netcalc.cli import main

SWEEP = ["--sweep", "latency=1ms:300ms:log50"]
TRANSFER = ["calc", "transfer", "1MB", "--bandwidth", "T1"]

REFUSED = [
    (["frobnicate"], "unknown-command", {"command": "netcalc", "name": "frobnicate"}),
    (["data", "--frobnicate"], "unknown-option", {"option": "--frobnicate"}),
    (["data", "audit", "b"], "unexpected-argument", {"words": "b"}),
    (["read"], "argument-missing", {"name": "FILE"}),
    (["run", "echo", "--json", "--count"], "option-without-value", {"option": "--count"}),
    (["run", "echo", "--force=1"], "option-takes-no-value", {"option": "--force"}),
    (["data", "--csv"], "options-exclusive", {"first": "--json", "second": "--csv"}),
    (["data", "audit", "--sheet"], "options-exclusive", {"first": "--sheet", "second": "--json"}),
    ([*TRANSFER, "--payload", "1kB"], "argument-typed-twice", {"first": "1MB", "second": "1kB"}),
    ([*TRANSFER, "--solve", "latency"], "option-requires", {"required": "--for"}),
    ([*TRANSFER, "--for", "1s"], "option-requires", {"required": "--solve"}),
    ([*TRANSFER, *SWEEP, "--solve", "latency", "--for", "1s"], "options-exclusive", {}),
    ([*TRANSFER, "--plot", "x.html"], "option-requires", {"option": "--plot"}),
    ([*TRANSFER, *SWEEP, "--plot", ""], "output-name-empty", {}),
    ([*TRANSFER, *SWEEP, "--plot", "x.jpg"], "output-is-picture", {"suggestion": "x.html"}),
    ([*TRANSFER, *SWEEP, "--plot", "there.html"], "output-exists", {"file": "there.html"}),
    ([*TRANSFER, *SWEEP, "--plot", "no/x.html"], "output-folder-missing", {"folder": "no"}),
    ([*TRANSFER, *SWEEP, "--plot", "."], "output-is-directory", {"file": "."}),
    (["read", "there.html", "--plot", "there.html"], "output-is-input", {"file": "there.html"}),
    (["run", "echo", "--save", "a.html", "--plot", "a.html"], "output-named-twice", {}),
    (["run", "echo", "--protocol", "icmp"], "icmp-requires-path", {}),
    (["run", "bulk", "--loss", "1%"], "option-requires", {"option": "--loss"}),
    (["run", "line-rate", "--routed", "--path", "T1 5 ms"], "options-exclusive", {}),
    (
        ["run", "line-rate", "--node-rate", "2 kpps", "--path", "T1 5 ms"],
        "node-rate-requires-links",
        {},
    ),
]


@pytest.mark.each(("arguments", "code", "values"), REFUSED)
def test_a_refusal_has_a_type_a_code_and_one_sentence(
    arguments, code, values, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("kept")
    with pytest.raises(SystemExit) as ended:
        main(arguments if "--json" in arguments else [*arguments, "--json"])
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert ended.value.code == 2
    assert (error["type"], error["code"]) == ("CommandError", code)
    assert {name: error[name] for name in values} == values
    assert said.err == f"netcalc: {error['message']}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["there.html"]
    assert (tmp_path / "there.html").read_text() == "kept"


def test_what_the_system_refuses_has_a_code_and_its_number(monkeypatch, capsys):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device", "out.html")

    monkeypatch.setattr("netcalc.cli.commands.main", full)
    with pytest.raises(SystemExit) as ended:
        main(["data", "--json"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert ended.value.code == 2
    found = (error["type"], error["code"], error["file"], error["errno"])
    assert found == ("CommandError", "file-refused", "out.html", 28)  # derived: ENOSPC


def test_a_folder_that_is_gone_is_named(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(SystemExit) as ended:
        main(["run", "echo", "--count", "3", "--save", "x.json", "--json"])
    said = capsys.readouterr()
    assert (ended.value.code, json.loads(said.out)["error"]["code"]) == (2, "working-folder-gone")
    assert "cd" in said.err
