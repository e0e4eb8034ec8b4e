"""What the deck has to have, whatever is chosen beside it: enough cases of each clause, for everybody who claims it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from conformance.backends.base import Claims
from conformance.qualification.deck.candidate import DECISIVE, Candidate
from conformance.qualification.deck.profiles import PLAIN_DTYPES, SimpleClaims, numbers_within
from conformance.vectors.deck import is_clause
from conformance.vectors.order import OVERHEAD, ROUNDS, Goals

WITHIN: Final = 2
"""Cases of a clause within the claims of a published backend: there are fourteen, with a hundred clauses each."""

FEW: Final = 1
"""Cases of a clause within claims that are no published backend's: of 880 cases of collectives two would take all."""

PLAIN: Final = 2
"""Legal cases of an operation on one dtype that the plainest claims have."""


@dataclass(frozen=True)
class Demand:
    """At least ``count`` of the ``cases``, by number, are to be in the deck; ``why`` is told where they are not."""

    why: str
    cases: tuple[int, ...]
    count: int


def demands(
    candidates: Sequence[Candidate], published: Mapping[str, Claims], simple: Mapping[str, SimpleClaims]
) -> list[Demand]:
    """Return what a deck of one family has to have, none more often than there are candidates.

    Each clause has to be spoken of by three cases, by two within the claims of each published backend, and by one
    within those of each simple profile; each operation by three legal cases, and by two on each plain dtype within the
    plainest claims that there are of it. Every decisive case has to be there.
    """
    found = _of_clauses("", candidates, range(len(candidates)), ROUNDS)
    for name, claims in published.items():
        found += _of_clauses(f" within the claims of {name}", candidates, numbers_within(candidates, claims), WITHIN)
    for name, each in simple.items():
        mine = numbers_within(candidates, each.claims)
        found += _of_clauses(f" within {name}", candidates, mine, FEW)
        if each.plain:
            for dtype in PLAIN_DTYPES:
                legal = [at for at in mine if _valued(candidates[at]) and dtype in _dtypes(candidates[at])]
                found.append(_demand(f"legal case of {name} on {dtype}", legal, PLAIN))
    by_op: dict[str, list[int]] = defaultdict(list)
    for at, case in enumerate(candidates):
        if _valued(case):
            by_op[case.op].append(at)
    found += [_demand(f"legal case of {op}", numbers, ROUNDS) for op, numbers in sorted(by_op.items())]
    found += [_demand(each.origin, [at], 1) for at, each in enumerate(candidates) if each.origin.startswith(DECISIVE)]
    return [demand for demand in found if demand.count]


def _demand(why: str, cases: Sequence[int], count: int) -> Demand:
    return Demand(why, tuple(cases), min(count, len(cases)))


def _of_clauses(where: str, candidates: Sequence[Candidate], numbers: Sequence[int], count: int) -> list[Demand]:
    by_clause: dict[str, list[int]] = defaultdict(list)
    for at in numbers:
        for clause in clauses_of(candidates[at]):
            by_clause[clause].append(at)
    return [_demand(f"case of {clause}{where}", by_clause[clause], count) for clause in sorted(by_clause)]


def clauses_of(each: Candidate) -> set[str]:
    """Return the clauses that speak about a case."""
    return {clause for clauses, _ in each.parts for clause in clauses if is_clause(clause)}


def is_legal(each: Candidate) -> bool:
    """Return whether a case has a meaning other than that it is refused."""
    if each.family == "collectives":
        return any("legal=yes" in words for _, words in each.parts)
    if each.family == "types":
        return any("refused: False" in words for _, words in each.parts)
    return any(words for clauses, words in each.parts if any(" " in clause for clause in clauses))


def _valued(each: Candidate) -> bool:
    """Return whether a case has a meaning with something to compare, as far as possible with elements."""
    return each.valued and is_legal(each) and not any("empty" in of.get("size", ()) for of in each.features.values())


def _dtypes(each: Candidate) -> set[str]:
    return {word for of in each.features.values() for word in of.get("dtype", ())}


def cover(asked: Sequence[Demand], candidates: Sequence[Candidate]) -> list[int]:
    """Return the numbers of candidates that meet all demands, each next one most of what is left, a second.

    Of those that meet as many, that in which least happens comes first.
    """
    rows: list[list[int]] = [[] for _ in candidates]
    for number, each in enumerate(asked):
        for at in each.cases:
            rows[at].append(number)
    sizes = np.array([1 + sum(len(words) for _, words in each.parts) for each in candidates], np.float64)
    seconds = (np.array([each.seconds for each in candidates]) + OVERHEAD) * sizes**0.5 - OVERHEAD
    counts = np.array([each.count for each in asked], np.int16)
    goals = Goals(
        [np.array(row, np.int32) for row in rows], seconds.tolist(), np.ones(len(asked)), rounds=counts, later=1.0
    )
    found: list[int] = []
    taken = np.zeros(len(candidates), bool)
    while goals.left:
        rate = goals.gain / goals.cost
        rate[taken] = -1.0
        best = int(rate.argmax())
        taken[best] = True
        found.append(best)
        goals.show(best)
    return found


def lacking(asked: Sequence[Demand], candidates: Sequence[Candidate], chosen: Sequence[Candidate]) -> list[str]:
    """Return what a choice lacks of the demands, in words."""
    names = {each.name for each in chosen}
    having = [sum(candidates[at].name in names for at in each.cases) for each in asked]
    return [f"{has} of {each.count}: {each.why}" for each, has in zip(asked, having, strict=True) if has < each.count]
