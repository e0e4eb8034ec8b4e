"""The texts about published findings are whole, and their scripts are there."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "reports" / "findings"
TEXTS = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_all_parts_and_a_script_that_is_there(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert re.findall(r"^\*\*(.*?)\.\*\*", text, re.MULTILINE)[:4] == ["Versions", "Script", "Expected", "Observed"]
    scripts = re.findall(r"\]\(\.\./scripts/(.*?)\)", text)
    assert len(scripts) == 1
    assert (FOLDER.parent / "scripts" / scripts[0]).is_file(), "the reports were made again: name the new script"


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_names_a_thread_or_what_was_searched_for(name: str) -> None:
    threads = (FOLDER / name).read_text().partition("**Known threads.**")[2]
    assert re.search(r"https://|Searched on .* for \"", threads)


def test_scripts_are_short_and_each_is_of_a_text() -> None:
    linked = {each for name in TEXTS for each in re.findall(r"\]\(\.\./scripts/(.*?)\)", (FOLDER / name).read_text())}
    scripts = sorted((FOLDER.parent / "scripts").glob("*.py"))
    assert {path.name for path in scripts} == linked
    long = {path.name: lines for path in scripts if (lines := len(path.read_text().splitlines())) > 60}
    assert not long
    assert not [path.name for path in scripts if "import conformance" in path.read_text()]


def test_what_is_published_links_scripts_that_are_there() -> None:
    text = (FOLDER.parent / "index.html").read_text()
    packed = re.search(r'data-encoding="gzip">(.*?)</script>', text, re.DOTALL)
    told = text + (gzip.decompress(base64.b64decode(packed[1])).decode() if packed else "")
    scripts = set(re.findall(r"scripts/([\w+.-]+\.py)", told))
    assert scripts
    assert not [each for each in scripts if not (FOLDER.parent / "scripts" / each).is_file()]


def test_the_index_lists_every_text() -> None:
    listed = re.findall(r"\]\((.*?\.md)\)", (FOLDER / "README.md").read_text())
    assert sorted(listed) == TEXTS
