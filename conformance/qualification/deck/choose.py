"""The choice: what the deck has to have, and beside it cases by what they show and by half of the mutants they kill."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.backends.base import Claims
from conformance.qualification.deck.candidate import CampaignError, Candidate
from conformance.qualification.deck.demands import cover, demands
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.profiles import SimpleClaims, numbers_within
from conformance.qualification.deck.tabled import Tabled
from conformance.vectors.best_order import order_of

SHARES: Final = {"collectives": 950, "graphs": 330, "types": 380, "sharding": 220, "schedules": 60}
"""Cases of the deck: 1,940 in all, so that there is room for what a specification that goes on brings (``topup``)."""

SHORTLIST: Final = {"collectives": 1_300, "graphs": 500, "types": 700, "sharding": 350, "schedules": 90}
"""Cases that are asked which mutants they kill, chosen by what they show alone."""

PART: Final = 0.35
"""The part of the cases of a family that is chosen within the claims of one published backend after the other."""


@dataclass(frozen=True)
class Aims:
    """Whom a choice is for: the claims of ``published`` backends, and ``simple`` ones that a vendor may begin with."""

    published: Mapping[str, Claims]
    simple: Mapping[str, SimpleClaims]


def choose(
    candidates: Sequence[Candidate],
    family: str,
    most: int,
    aims: Aims,
    kills: Mapping[str, Sequence[str]] | None = None,
    mutants: Sequence[Mutant] = (),
) -> list[Candidate]:
    """Return the best cases of a family, at most so many, in the best order for whoever claims everything.

    First come those that are demanded, then a part within each of the published claims, then what shows most beside
    them. ``kills`` has by the names of cases the mutants that they kill; those of the unseen half are no goals. Raise
    ``CampaignError`` where more cases are demanded than there is room for.
    """
    must = cover(demands(candidates, aims.published, aims.simple), candidates)
    if len(must) > most:
        raise CampaignError(
            f"{len(must)} cases of {family} are demanded, and there is room for {most}: give the family a larger share"
        )
    greedy = _Greedy(candidates, family, _plain(candidates, aims.simple), kills or {}, mutants)
    taken = list(must)
    inside = [mine for mine in (numbers_within(candidates, each) for each in aims.published.values()) if mine]
    for mine in inside:
        taken += greedy.best(mine, taken, min(round(most * PART / len(inside)), most - len(taken)))
    taken += greedy.best(range(len(candidates)), taken, most - len(taken))
    chosen = [candidates[number] for number in taken]
    # What is plain counts in the choice, and not in the order: who claims little asks nothing else anyway.
    order = _Greedy(chosen, family, (), kills or {}, mutants).best(range(len(chosen)), (), len(chosen))
    return [chosen[number] for number in order]


def _plain(candidates: Sequence[Candidate], simple: Mapping[str, SimpleClaims]) -> set[int]:
    """Return the numbers of the candidates within the plainest claims of any operation."""
    return {number for each in simple.values() if each.plain for number in numbers_within(candidates, each.claims)}


class _Greedy:
    """Candidates with what they show by numbers."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        family: str,
        plain: Collection[int],
        kills: Mapping[str, Sequence[str]],
        mutants: Sequence[Mutant],
    ) -> None:
        goals = {mutant.name for mutant in mutants if mutant.half != "unseen"}
        self._table, self._family = Tabled(), family
        self._seconds = [each.seconds for each in candidates]
        self._parts = [
            self._table.parts(each, [name for name in kills.get(each.name, ()) if name in goals], plain=at in plain)
            for at, each in enumerate(candidates)
        ]

    def best(self, among: Collection[int], taken: Sequence[int], most: int) -> list[int]:
        """Return the best of some candidates beside those that were taken, in order, at most so many."""
        if most <= 0:
            return []
        numbers = [*taken, *(number for number in among if number not in set(taken))]
        order = order_of(
            [self._parts[number] for number in numbers],
            [self._seconds[number] for number in numbers],
            list(self._table.clauses),
            self._family,
            most,
            begun=len(taken),
        )
        return [numbers[at] for at in order]
