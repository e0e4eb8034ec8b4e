"""What each value of a case of another dialect is made of, in words: mutants are wrong under some of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.sharded.subject import ShardedSubject
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.runner.dialects import dialect_of

Words = frozenset[str]

Valued = GraphCase | ShardedCase | TypedCase

KINDS: Final = (GraphCase, ShardedCase, TypedCase)
"""The cases that are asked for values by name; a schedule has none."""

DIALECT: Final = "dialect="
"""How the word begins that names the dialect."""

LEGAL: Final = "legal=yes"
ILLEGAL: Final = "legal=no"


def values(case: Valued) -> list[tuple[str, Words]]:
    """Return each value that a case asks for, by name, with its words; of an illegal case one word for all of them.

    They are the dialect, the words of the features that claims are made of, and what the value is made of.
    """
    dialect = dialect_of(case)
    subject = dialect.mean(case)
    if subject is None:
        return []
    facts = dialect.facts(subject)
    shared = {f"{DIALECT}{dialect.name}", f"{dialect.name} of {facts.op}", LEGAL if facts.legal else ILLEGAL}
    for feature, listed in facts.features[facts.op].items():
        shared |= {f"{dialect.name} {feature} {word}" for word in listed}
    if not facts.legal:
        return [("", frozenset(shared))]
    return [(name, frozenset(shared | {f"{dialect.name} {word}" for word in words})) for name, words in _made(subject)]


def _made(subject: object) -> Iterator[tuple[str, Words]]:
    """Yield each value's name and what it is made of."""
    if isinstance(subject, GraphSubject | ShardedSubject):
        yield from subject.traits.items()
    elif isinstance(subject, TypedMeaning):
        for name in sorted(subject.case.answered):
            yield name, frozenset()
