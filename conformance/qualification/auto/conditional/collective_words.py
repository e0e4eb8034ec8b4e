"""What each collective of a case meets, in words of the table of case features: mutants are wrong under some of them.

A word is ``feature=word``, of a collective or of the whole case (``reference.situations``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.program.program import NO_COLLECTIVES, Step
from conformance.qualification.auto.conditional.value_words import KINDS, values
from conformance.reference.rejection import Rejected
from conformance.reference.situations import situations
from conformance.reference.spmd import evaluate

Words = frozenset[str]


def words_in(case: Any) -> list[tuple[int, Words]]:
    """Return the words of each collective of a program, by its step, or of each value of a case of another dialect."""
    if isinstance(case, Case):
        return facts(case)
    return [(at, words) for at, (_, words) in enumerate(values(case))] if isinstance(case, KINDS) else []


def facts(case: Case) -> list[tuple[int, Words]]:
    """Return, for each collective that is come to, the number of its step and its words.

    Where ranks run steps of their own every collective has those that need no running.
    """
    numbers = [at for at, step in enumerate(case.program.steps) if step.op not in NO_COLLECTIVES]
    shared = {"legal=yes", *(f"trouble={'dies' if fault.delay is None else 'late'}" for fault in case.faults)}
    shared |= {"trouble=apart"} if case.divergent else set()
    read: list[Sequence[Any]] = []

    def watch(_: Step, operands: Sequence[Any]) -> None:
        read.append(list(operands))

    try:
        # Ranks that are late, or die, have no meaning of their own: the same is read without.
        evaluate(replace(case, faults=()), None if case.divergent else watch)
    except Rejected:
        shared ^= {"legal=yes", "legal=no"}
    if case.divergent:
        blocks = case.blocks()
        first = next(iter(blocks.values()), [])
        read = [[blocks.get(name, first) for name in case.program.steps[at].inputs[:1]] for at in numbers]
    return list(zip(numbers, (words | shared for words in _words(case, numbers, read)), strict=False))


def _words(case: Case, numbers: Sequence[int], read: Sequence[Sequence[Any]]) -> Iterator[Words]:
    """Yield the words of each collective that was come to; of one with impossible axes or groups its operation."""
    found = situations(case, read)
    for at in numbers[: len(read)]:
        try:
            words = {f"{feature}={word}" for feature, word in next(found).items()}
        except (ValueError, StopIteration):
            words = {f"operation={case.program.steps[at].op}"}
        yield frozenset(words)
