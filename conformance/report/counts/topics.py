"""What each topic of the specification came to: rules of several clauses that a reader looks for under one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal

import msgspec

from conformance.judging.clause import Held
from conformance.report.counts.columns import Column
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import CaseRecord

Word = Held | Literal["other", "unanswered", "left_out"]

WORDS: dict[Word, str] = {
    "broken": "wrong",
    "unanswered": "without a value",
    "diverges": "as its source has it",
    "held": "right",
    "other": "right in another way",
    "left_out": "left out",
}
"""What a case is called, by its worst clause where it has some; the worst first."""


_SILENT: Final = FAILING - {"failed"}
"""Outcomes without a value to be wrong; what was given for a failed case is."""


class Topic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name, a sentence, and the ``clauses`` that are read, of cases with one of ``steps`` if there are any.

    What does not keep the clauses of a ``free`` topic, which are *may*, is right in another way.
    """

    id: str
    text: str
    clauses: tuple[str, ...]
    steps: tuple[str, ...] = ()
    free: bool = False

    def word(self, record: CaseRecord) -> Word | None:
        """Return the worst word for the clauses of the topic in a case, if one of them spoke about it."""
        if self.steps and not {*record.case.partition("/")[0].split("+")} & {*self.steps}:
            return None
        words = {record.clauses[clause] for clause in self.clauses if clause in record.clauses}
        found = next((word for word in WORDS if word in words), None)
        if found == "broken" and record.outcome in _SILENT:
            return "unanswered"
        return "other" if self.free and found == "broken" else found


class TopicCounts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Cases of one backend (by label) that a topic is about: right, wrong, or right by a source it follows.

    Where another backend of the report was judged by a case, it is known what it is about here too: those that came to
    no value, and those that were left out because of a claim or as unsupported.
    """

    topic: str
    backend: str
    held: int = 0
    broken: int = 0
    diverges: int = 0
    other: int = 0
    unanswered: int = 0
    left_out: int = 0

    @property
    def words(self) -> str:
        """Return what they came to, for people."""
        found = ((getattr(self, word), said) for word, said in WORDS.items())
        return ", ".join(f"{count:,} {said}" for count, said in found if count)


def treated(judged: Sequence[Column], topics: Sequence[Topic]) -> Iterator[TopicCounts]:
    """Yield what each topic came to with each backend that was asked about it, or would have been."""
    for topic in topics:
        words = [[topic.word(record) for record in column.records] for column in judged]
        about = {
            record.case
            for column, found in zip(judged, words, strict=True)
            for record, word in zip(column.records, found, strict=True)
            if word is not None
        }
        for column, found in zip(judged, words, strict=True):
            pairs = zip(column.records, found, strict=True)
            counted = Counter(word or _unjudged(record, about) for record, word in pairs)
            counts = {word: counted[word] for word in WORDS if counted[word]}
            if counts:
                yield TopicCounts(topic=topic.id, backend=column.label, **counts)


def _unjudged(record: CaseRecord, about: AbstractSet[str]) -> Word | None:
    """Return what is said of a case of a topic that no clause of it spoke about."""
    if record.case not in about:
        return None
    return "left_out" if record.outcome == "unsupported" else "unanswered" if record.outcome in FAILING else None


def table(
    topics: Sequence[Topic], found: Sequence[TopicCounts], backends: Sequence[str]
) -> list[tuple[Topic, list[TopicCounts | None]]]:
    """Return a row for each topic that some backend was asked about, with what it came to with each."""
    known = {(one.topic, one.backend): one for one in found}
    met = {one.topic for one in found}
    return [(topic, [known.get((topic.id, backend)) for backend in backends]) for topic in topics if topic.id in met]
