"""The page on many runs names commands and options that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from conformance.cli import group

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "history.md").read_text()
BLOCKS = "\n".join(re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
COMMANDS = [line.partition(" #")[0] for line in re.findall(r"^conformance .*$", BLOCKS, re.MULTILINE)]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_is_one_with_these_options(line: str) -> None:
    words = shlex.split(line.partition("&&")[0].partition(" > ")[0])[1:]
    context = click.Context(group)
    found: click.Command | None = group
    while isinstance(found, click.Group):
        found = found.get_command(context, words.pop(0))
    assert found is not None
    known = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_the_page_names_every_kind_of_change() -> None:
    from conformance.history.formats.told import HEADINGS

    assert all(f"| {heading.lower()} |" in TEXT for heading in HEADINGS.values())


def test_decisions_are_dated_and_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")
    listed = sorted(re.findall(r"\]\(([\w.-]+\.md)\)$", (folder / "README.md").read_text(), re.MULTILINE))
    assert pages == listed
    assert all(re.match(r"\d{4}-\d\d-\d\d-", name) for name in pages)
    assert all("**Rejected.**" in (folder / name).read_text() for name in pages)
