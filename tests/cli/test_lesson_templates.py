"""Templates of the pages of lessons, which each page loads anew."""

from __future__ import annotations

import jinja2
import pytest

pytest.importorskip("voila", reason="needs the lab extra")

from netcalc.cli.lesson_pages import CompiledOnce


def test_a_template_is_compiled_again_only_when_its_text_has_changed(monkeypatch):
    compiled = []
    compile_text = jinja2.Environment.compile

    def counted(self, source, *arguments, **options):
        compiled.append(source)
        return compile_text(self, source, *arguments, **options)

    monkeypatch.setattr(jinja2.Environment, "compile", counted)
    shown = []
    for text in ("{{ x }} of A", "{{ x }} of A", "{{ x }} of B"):
        loader = jinja2.DictLoader({"page.html": text})
        environment = jinja2.Environment(loader=loader, extensions=[CompiledOnce])
        shown.append(environment.get_template("page.html").render(x=1))
    assert shown == ["1 of A", "1 of A", "1 of B"]
    assert compiled == ["{{ x }} of A", "{{ x }} of B"]
