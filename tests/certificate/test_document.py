"""``docs/certification.md`` has the outcome of each exploit that the tests try."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.certificate.checks import CHECKS

TEXT = (Path(__file__).parents[2] / "docs" / "certification.md").read_text()
OUTCOME = re.compile(
    r"offline|offline, with `--product`|re-run|out of reach|they count once.*|refused by .*|told by a re-run|"
    r"below the floor, or incomplete"
)


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]


def test_the_table_of_exploits_has_at_least_25_with_an_outcome_and_18_that_are_found() -> None:
    (table,) = re.findall(r"\| way to cheat.*?\n\n", TEXT, re.DOTALL)
    exploits = [(each, outcome) for ways, outcome in rows(table)[2:] for each in ways.split("; ")]
    assert len(exploits) >= 25
    assert [outcome for _, outcome in exploits if not OUTCOME.fullmatch(outcome)] == []
    assert sum(outcome.startswith(("offline", "re-run")) for _, outcome in exploits) >= 18


def test_the_document_tells_each_check_in_its_order() -> None:
    told = re.findall(r"\*(\w+)\*", TEXT[TEXT.index("In this order it\nchecks") :].split("It ends with 0")[0])
    assert told == list(CHECKS)
