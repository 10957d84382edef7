"""The check of the documentation's links finds each kind of broken one, and no other."""

from __future__ import annotations

import runpy
from pathlib import Path

EXT = Path(__file__).parents[1] / "docs" / "ext"


def broken(folder, body):
    (folder / "sub").mkdir()
    (folder / "sub" / "other.html").write_text('<h2 id="place">x</h2>', encoding="utf-8")
    (folder / "a picture.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "index.html").write_text(f'<p id="here">{body}</p>', encoding="utf-8")
    return runpy.run_path(str(EXT / "links.py"))["broken"](folder)


def test_links_that_lead_somewhere_are_not_named(tmp_path):
    links = ("#here", "sub/other.html", "sub/other.html#place", "https://example.org/x#y", "sub/..")
    body = "".join(f'<a href="{link}">x</a>' for link in links) + '<img src="a%20picture.svg">'
    assert broken(tmp_path, body) == []


def test_each_kind_of_broken_link_is_named_with_its_page(tmp_path):
    links = ("#gone", "sub/gone.html", "sub/other.html#gone", "https:///x", "gopher://example.org")
    body = "".join(f'<a href="{link}">x</a>' for link in links)
    body += '<img src="gone.svg"><script src="../outside.js"></script>'
    (tmp_path.parent / "outside.js").touch()
    assert broken(tmp_path, body) == [
        "index.html: #gone: no such place on the page",
        "index.html: sub/gone.html: no such file",
        "index.html: sub/other.html#gone: no such place on the page",
        "index.html: https:///x: no host",
        "index.html: gopher://example.org: not a known kind of address",
        "index.html: gone.svg: no such file",
        "index.html: ../outside.js: no such file",
    ]
