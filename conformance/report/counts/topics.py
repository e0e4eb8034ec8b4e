"""What each topic of the specification came to: rules of several clauses that a reader looks for under one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from conformance.judging.clause import Held
from conformance.report.counts.columns import Column
from conformance.runner.log.log import CaseRecord

WORDS: dict[Held, str] = {"broken": "wrong", "diverges": "as its source has it", "held": "right"}
"""What a case is called by its worst clause, the worst first."""


class Topic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name, a sentence, and the ``clauses`` that are read, of cases with one of ``steps`` if there are any."""

    id: str
    text: str
    clauses: tuple[str, ...]
    steps: tuple[str, ...] = ()

    def word(self, record: CaseRecord) -> Held | None:
        """Return the worst word for the clauses of the topic in a case, if one of them spoke about it."""
        if self.steps and not {*record.case.partition("/")[0].split("+")} & {*self.steps}:
            return None
        words = {record.clauses[clause] for clause in self.clauses if clause in record.clauses}
        return next((word for word in WORDS if word in words), None)


class Treated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Cases of one backend (by label) that a topic is about: right, wrong, or right by a source it follows."""

    topic: str
    backend: str
    held: int = 0
    broken: int = 0
    diverges: int = 0

    @property
    def words(self) -> str:
        """Return what they came to, for people."""
        found = ((getattr(self, word), said) for word, said in WORDS.items())
        return ", ".join(f"{count:,} {said}" for count, said in found if count)


def treated(judged: Sequence[Column], topics: Sequence[Topic]) -> Iterator[Treated]:
    """Yield what each topic came to with each backend that was asked about it."""
    for topic in topics:
        for column in judged:
            found = Counter(topic.word(record) for record in column.records)
            words = {word: found[word] for word in WORDS if found[word]}
            if words:
                yield Treated(topic=topic.id, backend=column.label, **words)


def table(
    topics: Sequence[Topic], found: Sequence[Treated], backends: Sequence[str]
) -> list[tuple[Topic, list[Treated | None]]]:
    """Return a row for each topic that some backend was asked about, with what it came to with each."""
    known = {(one.topic, one.backend): one for one in found}
    met = {one.topic for one in found}
    return [(topic, [known.get((topic.id, backend)) for backend in backends]) for topic in topics if topic.id in met]
