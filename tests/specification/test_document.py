from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.commands.spec import command
from conformance.specification.document import pages
from conformance.specification.search import search
from conformance.specification.words import WORDS
from conformance.specs import OPS, every_clause
from conformance.specs.graphs import CLAUSE_BY_ID as GRAPHS
from conformance.specs.schedules import CLAUSE_BY_ID

DOCS = Path(__file__).parents[2] / "docs"
NAMES = sorted(path.name for path in DOCS.glob("specification*.md"))

made = cache(pages)


def test_each_page_is_in_the_folder_of_documents() -> None:
    assert sorted(made()) == NAMES, "run: conformance spec --markdown -o docs"


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_what_the_clauses_say(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == made()[name], "run: conformance spec --markdown -o docs"


def test_every_operation_and_clause_has_its_place() -> None:
    text = "\n".join(made().values())
    missing = [name for name in (*every_clause(), *CLAUSE_BY_ID, *GRAPHS) if f"`{name}` |" not in text]
    assert not missing
    assert all(f"\n### {name}\n" in text for name in OPS)


def test_search_finds_sentences_that_have_all_words() -> None:
    assert "all_gather.C4" in {each.name for each in search("negative AXIS counts")}
    assert not search("negative zebra")


def test_a_search_that_finds_nothing_says_what_to_try() -> None:
    result = CliRunner().invoke(command, ["--search", "zebra"])
    assert (result.exit_code, len(WORDS) > 30) == (2, True)
    assert "no sentence of the specification has all of 'zebra'" in result.output


def test_pages_are_written_to_the_folder(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--markdown", "-o", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert {file.name for file in (tmp_path / "new").iterdir()} == set(made())


def test_markdown_without_a_folder_is_a_usage_error() -> None:
    result = CliRunner().invoke(command, ["--markdown"])
    assert (result.exit_code, "give both or neither" in result.output) == (2, True)
