"""A rule of a source, as a value: what it says, where it stands, and the clauses that say it here or why none does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from conformance.cases.specification_error import SpecificationError

Answer = Literal["clauses", "excluded", "open"]

_WORDS: Final[tuple[Answer, ...]] = ("excluded", "open")


class RuleError(SpecificationError):
    """A row of rules that cannot be read; the message names its document and its number."""


@dataclass(frozen=True)
class Rule:
    """One rule: ``text`` in our words, its ``place`` in the source, and the ``answer`` to it.

    ``clauses`` say it where they are the answer; ``note`` then says how they differ from the source, where they do, and
    else why the rule is excluded, or what is missing.
    """

    id: str
    text: str
    place: str
    answer: Answer
    clauses: tuple[str, ...]
    note: str


def read_rows(name: str, rows: str) -> tuple[Rule, ...]:
    """Return the rules of a document ``name`` in ``rows``: a line each, ``number | text | place | answer``.

    An answer is ids of clauses, and after a semicolon a note; or ``excluded`` or ``open``, a colon and why.
    Raise ``RuleError`` for a line of another form, numbers out of order, and a rule without an answer.
    """
    return tuple(_rule(name, number, line) for number, line in enumerate(rows.strip().splitlines(), 1))


def _rule(name: str, number: int, line: str) -> Rule:
    cells = [cell.strip() for cell in line.split(" | ")]
    if len(cells) != 4 or not all(cells):
        raise RuleError(f"rule {name}.R{number} has the form 'number | rule | place | answer'; got {line!r}")
    if cells[0] != str(number):
        raise RuleError(f"rule {name}.R{number} is numbered {cells[0]!r}; rules are numbered from 1 in order")
    _, text, place, answer = cells
    for word in _WORDS:
        if answer.startswith(f"{word}:"):
            note = answer.removeprefix(f"{word}:").strip()
            if not note:
                raise RuleError(f"rule {name}.R{number} is {word} without a reason; it stands behind the colon")
            return Rule(f"{name}.R{number}", text, place, word, (), note)
    clauses, _, note = answer.partition(" ; ")
    return Rule(f"{name}.R{number}", text, place, "clauses", tuple(clauses.split()), note)
