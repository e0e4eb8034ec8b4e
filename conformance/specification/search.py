"""Sentences of the specification that hold all of some words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.runner.dialects import further_clauses
from conformance.specification.index import entries
from conformance.specs import every_clause


class Sentence(NamedTuple):
    """An entry of the index or a clause, and what the specification says of it."""

    name: str
    text: str


def search(words: str) -> tuple[Sentence, ...]:
    """Return every sentence whose text or name has all of ``words``, in either case; the index first, then clauses."""
    return matching(sentences(), words)


def matching(found: Iterable[Sentence], words: str) -> tuple[Sentence, ...]:
    """Return those of some sentences that have all of ``words``."""
    wanted = words.casefold().split()
    return tuple(each for each in found if wanted and _has_all(each, wanted))


def _has_all(sentence: Sentence, wanted: list[str]) -> bool:
    text = " ".join(sentence).casefold()
    return all(word in text for word in wanted)


def sentences() -> Iterator[Sentence]:
    """Yield every entry of the index with the words that lead to it, and every clause with what systems say."""
    for entry in entries():
        more = ", ".join(word for word in entry.words if word != entry.title)
        text = f"{entry.text} ({', '.join(entry.clauses)})" if entry.clauses else entry.text
        yield Sentence(entry.title, f"{text} [{more}]" if more else text)
    for clause in (*every_clause().values(), *further_clauses().values()):
        others = (f"{each.source}: {each.text}" for each in getattr(clause, "diverges", ()))
        yield Sentence(clause.id, " ".join((clause.text, *others)))
