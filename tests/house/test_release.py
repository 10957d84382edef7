"""What a release needs: metadata with and without an address, one version, files that are there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
import yaml

import netcalc

ROOT = Path(__file__).parents[2]
HOST = ROOT / ".github"
REPOSITORY = "https://example.org/owner/netcalc"
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = sorted(HOST.rglob("*.md"))
FORMS = sorted(path for path in HOST.glob("ISSUE_TEMPLATE/*.yml") if path.name != "config.yml")
WORKFLOWS = sorted(HOST.glob("workflows/*.yml"))


def metadata(repository: str | None) -> dict:
    """Return the metadata of a build with an address of the repository, or without one."""
    pytest.importorskip("hatchling", reason="hatchling, of the extra dev, is not installed")
    environment = {
        name: value for name, value in os.environ.items() if name != "NETCALC_REPOSITORY"
    }
    if repository is not None:
        environment["NETCALC_REPOSITORY"] = repository
    command = [sys.executable, "-m", "hatchling", "metadata"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=60
    )
    return json.loads(done.stdout)


def test_links_of_the_readme_lead_to_files():
    links = [link for link in LINK.findall(README) if not link.startswith("https://")]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


def test_a_build_without_an_address_names_none():
    built = metadata(None)
    assert not built.get("urls")
    assert built["readme"] == {"content-type": "text/markdown", "text": README}


@pytest.mark.each("repository", [REPOSITORY, f"{REPOSITORY}/"])
def test_with_an_address_no_link_is_relative_and_each_leads_to_its_file(repository):
    built = metadata(repository)
    assert set(built["urls"]) == {"Documentation", "Source", "Issues", "Changelog"}
    assert built["urls"]["Source"] == REPOSITORY
    pages = [built["urls"]["Documentation"], built["urls"]["Changelog"]]
    links = LINK.findall(built["readme"]["text"])
    assert len(links) == len(LINK.findall(README))
    for link in (*links, *pages):
        inside = re.fullmatch(
            rf"{REPOSITORY}/(blob|raw|tree)/v{re.escape(netcalc.__version__)}/([^#]+)(#.+)?", link
        )
        assert inside, link
        target = ROOT / inside[2]
        assert target.is_dir() if inside[1] == "tree" else target.is_file(), link
        assert (inside[1] == "raw") == (target.suffix in {".gif", ".png", ".svg"}), link


@pytest.fixture(scope="module")
def rehearsal():
    """Return the module of the rehearsal, which has no suffix."""
    loader = SourceFileLoader("rehearse", str(ROOT / ".ci" / "rehearse"))
    module = module_from_spec(spec_from_loader("rehearse", loader))
    loader.exec_module(module)
    return module


@pytest.mark.each(
    ("address", "is_right"),
    [
        (f"{REPOSITORY}/blob/v1/README.md", True),
        (f"{REPOSITORY}/blob/v1/docs/limits.md#bulk", True),
        (f"{REPOSITORY}/tree/v1/docs", True),
        ("https://example.org/elsewhere", True),
        ("#here", True),
        (f"{REPOSITORY}/blob/v1/docs/nothing.md", False),
        (f"{REPOSITORY}/blob/v1/docs", False),
        (f"{REPOSITORY}/tree/v1/README.md", False),
        ("docs/limits.md", False),
        ("#nowhere", False),
    ],
)
def test_a_link_that_leads_nowhere_ends_a_rehearsal(address, is_right, rehearsal):
    page = f'<h2 id="here">x</h2><p><a href="{address}">x</a></p>'
    if is_right:
        assert rehearsal.check_links(page, "v1") == "1 links"
    else:
        with pytest.raises(SystemExit, match=re.escape(repr(address))):
            rehearsal.check_links(page, "v1")


def test_a_page_without_links_and_another_version_end_a_rehearsal(rehearsal):
    with pytest.raises(SystemExit, match="none"):
        rehearsal.check_links("<p>x</p>", "v1")
    assert netcalc.__version__ in rehearsal.check_version(netcalc.__version__)
    with pytest.raises(SystemExit, match=r"9\.9\.9"):
        rehearsal.check_version("9.9.9")


def test_one_version_is_released():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert citation["version"] == released[0] == netcalc.__version__
    assert len(set(headings)) == len(headings)
    assert "Unreleased" not in headings[1:]


def test_the_citation_has_what_its_format_requires():
    """Required by the schema of CFF 1.2.0: cff-version, message, title and authors."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"] and citation["title"].startswith("netcalc")  # noqa: PT018
    assert citation["authors"] == [{"name": "The netcalc developers"}]
    assert (citation["type"], citation["license"]) == ("software", "MIT")
    assert not {"doi", "date-released", "url", "repository-code"} & set(citation)


@pytest.mark.each("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_what_can_be_answered(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"] and form["description"]  # noqa: PT018
    names = [field["id"] for field in form["body"]]
    assert len(names) == len(set(names))
    for field in form["body"]:
        assert field["type"] in {"input", "textarea"}
        assert field["attributes"]["label"]
    required = [field for field in form["body"] if field.get("validations", {}).get("required")]
    assert "version" in [field["id"] for field in required]


def test_every_workflow_has_few_rights_and_the_scripts_of_the_checks():
    check, release = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in WORKFLOWS)
    assert check[True] == ["push", "pull_request"]  # YAML 1.1 reads the key "on" as true
    assert release[True] == {"push": {"tags": ["v*"]}}
    assert check["permissions"] == release["permissions"] == {"contents": "read"}
    commands = [step.get("run", "") for step in check["jobs"]["check"]["steps"]]
    assert "bash .ci/run" in commands
    build, publish = release["jobs"]["build"], release["jobs"]["publish"]
    assert "bash .ci/full" in [step.get("run") for step in build["steps"]]
    (address,) = [step["env"] for step in build["steps"] if "env" in step]
    assert set(address) == {"NETCALC_REPOSITORY"}
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"] == "release"
    assert set(publish["needs"]) == {"build", "install"}


def named_paths(text: str) -> set[str]:
    """Return the paths of this repository that a text names."""
    folders = r"(?:docs|tests|data|notebooks|\.ci|\.github)/"
    return set(re.findall(rf"(?<![\w/.-])(?:{folders}[\w./-]*\w|[A-Z]+\.(?:md|cff))\b", text))


@pytest.mark.each("path", [*PAGES, *FORMS, *WORKFLOWS], ids=lambda path: path.name)
def test_what_these_files_name_is_there(path):
    text = path.read_text(encoding="utf-8")
    links = {link for link in LINK.findall(text) if not link.startswith("https://")}
    assert [link for link in links if not (path.parent / link).exists()] == []
    named = named_paths(LINK.sub("]", text))
    places = (ROOT, path.parent)
    there = {name for name in named for place in places if (place / name).exists()}
    assert named - there == set()


def test_paths_are_found_in_a_text():
    text = "bash .ci/run -c .ci/constraints.txt `docs/dependencies.md` and SECURITY.md; a/docs/x"
    assert named_paths(text) == {
        ".ci/run", ".ci/constraints.txt", "docs/dependencies.md", "SECURITY.md",
    }  # fmt: skip


def test_no_text_sends_people_to_a_name_that_may_be_anybodys():
    """Before the first release the name of the distribution is nobody's on the package index."""
    sent = re.compile(
        r"pip3? install [^\n&;]*\bnetcalc(-lab)?\b(?!/)|(?i:install|update) netcalc-lab"
    )
    texts = [
        path for path in (ROOT / "netcalc").rglob("*") if path.suffix in {".py", ".js", ".html"}
    ]
    texts += [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    texts += [ROOT / "README.md", *(ROOT / "notebooks").glob("*.ipynb"), *PAGES, *FORMS]
    said = {
        str(path.relative_to(ROOT)): match[0]
        for path in texts
        for match in sent.finditer(path.read_text(encoding="utf-8"))
    }
    assert said == {}
