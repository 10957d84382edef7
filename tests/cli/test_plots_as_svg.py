"""One rule for the ``--plot`` of all commands: HTML, or SVG where the name says so."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner

from netcalc.cli import commands

PING = str(Path(__file__).parents[2] / "data" / "ping_emulated_t1.txt")
CALLS = {
    "calc": ["calc", "transfer", "1MB", "--bandwidth", "T1", "--sweep", "latency=1ms:9ms:5"],
    "data": ["data", "request_latency"],
    "explain": ["explain", PING],
    "read": ["read", PING],
    "run": ["run", "echo", "--count", "3"],
    "congestion": ["congestion", "--preset", "wan-10m", "--set", "end_s=7"],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_figure_is_written_as_svg(name, tmp_path):
    picture = tmp_path / "out.svg"
    done = CliRunner().invoke(commands, [*CALLS[name], "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_figure_is_written_as_png(name, tmp_path):
    picture = tmp_path / "out.png"
    done = CliRunner().invoke(commands, [*CALLS[name], "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    assert picture.read_bytes().startswith(b"\x89PNG\r\n")


def test_without_matplotlib_a_png_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = CliRunner().invoke(commands, [*CALLS["calc"], "--plot", str(tmp_path / "out.png")])
    assert done.exception.code == "package-missing"
    assert "matplotlib" in str(done.exception)
    assert "[lab]" in str(done.exception)
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("name", CALLS)
def test_another_picture_is_refused_before_the_work(name, tmp_path):
    done = CliRunner().invoke(commands, [*CALLS[name], "--plot", str(tmp_path / "out.jpg")])
    assert done.exception.code == "output-is-picture"
    assert "HTML, SVG or PNG" in str(done.exception)


def test_samples_are_no_picture(tmp_path):
    done = CliRunner().invoke(commands, ["run", "echo", "--save", str(tmp_path / "out.svg")])
    assert done.exception.code == "output-is-picture"
