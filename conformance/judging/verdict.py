"""A verdict: clause by clause, and the one outcome with the clause to blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from conformance.cases.observation import Observation
from conformance.judging.admissible import admissible, reached
from conformance.judging.classes import Class
from conformance.judging.clause import Clause, Held, Outcome, Settled, Subject
from conformance.judging.compare import answered, same
from conformance.judging.settled import spared

VALUES: Final = (same, admissible)
"""The checks of all of a result's values."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the clauses say of one observation. ``clauses`` has every clause that speaks about the case.

    ``classes`` are those of ``judging.classes`` that a passed reduction of order-sensitive floats belongs to.
    """

    outcome: Outcome
    clauses: dict[str, Held]
    blame: Clause | None = None
    detail: str | None = None
    classes: tuple[Class, ...] = ()


def judge(subject: Subject, seen: Observation, clauses: Sequence[Clause]) -> Verdict:
    """Return the verdict on ``seen``: ``passed``, ``failed``, or ``errored`` when a legal case raised.

    A broken *may* is reported among the clauses and fails nothing.
    """
    held: dict[str, Held] = {}
    broken: list[tuple[Clause, str]] = []
    speaking = applicable(subject, clauses)
    settled = [masks for clause in speaking if _settling(clause) and (masks := _settled(subject, clause)) is not None]
    others = spared(subject, seen, settled) if settled else seen
    answers: dict[object, str | None] = {}  # most clauses about values ask the same
    for clause in speaking:
        asked = others if clause.check in VALUES and clause.requirement == "must" else seen
        question = clause.check, asked is others
        if question not in answers:
            answers[question] = clause.check(subject, asked)
        problem = answers[question]
        held[clause.id] = "broken" if problem else "held"
        if problem and clause.requirement != "may":
            broken.append((clause, problem))
    if not broken:
        return Verdict(outcome="passed", clauses=held, classes=reached(subject, seen))
    blame, detail = max(broken, key=lambda pair: specificity(pair[0], clauses))
    outcome: Outcome = "errored" if subject.legal and seen.raised else "failed"
    return Verdict(outcome=outcome, clauses=held, blame=blame, detail=detail)


def judge_broken(subject: Subject, outcome: Outcome, detail: str, clauses: Sequence[Clause]) -> Verdict:
    """Return the verdict on a worker that gave no observation: every applicable clause is broken."""
    speaking = applicable(subject, clauses)
    blame = max(speaking, key=lambda clause: specificity(clause, clauses), default=None)
    return Verdict(outcome=outcome, clauses={clause.id: "broken" for clause in speaking}, blame=blame, detail=detail)


def applicable(subject: Subject, clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses that speak about the case.

    Where a *should* settles whether there is a value, no *must* demands it or an answer at all: the value is the same,
    its weight is not.
    """
    for clause in clauses:
        if clause.id not in subject.spoke:
            subject.spoke[clause.id] = clause.when(subject)
    speaking = [clause for clause in clauses if subject.spoke[clause.id]]
    if any(_settling(clause) and _settled(subject, clause) is None for clause in speaking):
        speaking = [
            clause for clause in speaking if clause.check not in (*VALUES, answered) or clause.requirement != "must"
        ]
    return speaking


def _settling(clause: Clause) -> bool:
    return clause.check in VALUES and clause.requirement != "must"


def _settled(subject: Subject, clause: Clause) -> Settled | None:
    """Return which elements a clause settles, or ``None`` for all there is."""
    if clause.id not in subject.settled:
        subject.settled[clause.id] = clause.settles(subject) if clause.settles is not None else None
    return subject.settled[clause.id]


def specificity(clause: Clause, clauses: Sequence[Clause]) -> tuple[int, int, int]:
    """Return the order of blame: *must* before *should*; particular, then variant, then general; last listed."""
    level = ("may", "should", "must").index(clause.requirement)
    breadth = 0 if clause.general else 1 if clause.variant else 2
    return level, breadth, clauses.index(clause)
