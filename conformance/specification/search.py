"""Sentences of the specification that hold all of some words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from conformance.runner.dialects import further_clauses
from conformance.specification.words import WORDS
from conformance.specs import OPS, every_clause


class Sentence(NamedTuple):
    """An operation, a word or a clause, and what the specification says of it."""

    name: str
    text: str


def search(words: str) -> tuple[Sentence, ...]:
    """Return every sentence whose text or name has all of ``words``, in either case; operations and words first."""
    wanted = words.casefold().split()
    return tuple(each for each in _sentences() if wanted and _has_all(each, wanted))


def _has_all(sentence: Sentence, wanted: list[str]) -> bool:
    text = " ".join(sentence).casefold()
    return all(word in text for word in wanted)


def _sentences() -> Iterator[Sentence]:
    for op in OPS.values():
        names = (name for known in op.aliases.values() for name in known)
        yield Sentence(op.name, f"{op.summary} ({', '.join(names)})" if op.aliases else op.summary)
    for word in WORDS.values():
        yield Sentence(word.name, word.meaning)
    for clause in (*every_clause().values(), *further_clauses().values()):
        yield Sentence(clause.id, clause.text)
