"""Which of the clauses that wrong elements break is the headline: the general one, unless the run shows another.

Clauses about values share what they ask, so that one wrong element breaks all that speak of its case. A particular one
says why only where cases that it speaks of fail, and others pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.judging.applicability import specificity
from conformance.judging.cause import signature
from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import broken, way

CHANCE: Final = 0.01
"""How improbable it has to be that failing cases are all of one clause's kind by chance."""

VALUES: Final = ("elements", "values")
"""The kinds of deviation that all clauses about values ask for."""


def headline(
    blame: AnyClause,
    judged: Verdict,
    clauses: Sequence[AnyClause],
    failing: Iterable[Verdict],
    spoken: Mapping[str, int],
) -> AnyClause:
    """Return the clause that leads of a smallest case, which ``blame`` is the most particular one of.

    ``failing`` are the verdicts on failing cases of the operation, ``spoken`` counts the judged cases of it that each
    clause spoke of. A particular clause about values leads only if no case fails so that it says nothing of, others
    pass, and most of its cases fail, or so many that they would hardly all be its own by chance.
    """
    if blame.general or blame.plain or signature(judged.outcome, judged.error, judged.detail).says not in VALUES:
        return blame
    led = [c for c in clauses if c.id in broken(judged) and c.general and c.requirement == blame.requirement]
    if not led:
        return blame
    general = max(led, key=lambda clause: specificity(clause, clauses))
    alike = [each for each in failing if way(each) == way(judged)]
    mine = [each for each in alike if blame.id in broken(each)]
    others = [each for each in alike if blame.id not in each.clauses and general.id in broken(each)]
    passed = spoken.get(blame.id, 0) - len(mine)
    beside = spoken.get(general.id, 0) - spoken.get(blame.id, 0) - len(others)
    by_chance = (spoken.get(blame.id, 0) / max(spoken.get(general.id, 0), 1)) ** len(mine)
    its_own = passed < max(len(mine), 1) or by_chance < CHANCE
    return blame if not others and beside > 0 and its_own else general
