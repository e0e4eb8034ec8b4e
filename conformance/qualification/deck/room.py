"""Room in a deck that has more cases than it may have: which are left out, so that nobody misses them.

A case that adds nothing for who claims everything may be the best one for who claims little. Where the order for all
claims alone said what goes, 600 cases cost six of a hundred mutants within the claims of MPI or Torch, and none within
those of the native engine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from conformance.backends.base import Claims
from conformance.qualification.deck.candidate import FAMILIES, CampaignError, Candidate
from conformance.qualification.deck.choose import Aims
from conformance.qualification.deck.demands import Demand, demands
from conformance.qualification.deck.freeze import MOST_CASES
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.profiles import numbers_within
from conformance.qualification.deck.tabled import Tabled
from conformance.vectors.best_order import order_of
from conformance.vectors.order import merged


def roomier(
    cases: Sequence[Candidate],
    family: str,
    many: int,
    aims: Aims,
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
) -> list[Candidate]:
    """Return cases without so many of a family: what is demanded stays, and what adds most for some claims.

    Each mutant that may be a goal still dies within the claims of each published backend within which it did. Raise
    ``CampaignError`` where all are needed.
    """
    goals = {mutant.name for mutant in mutants if mutant.half != "unseen"}
    known = {name: [kill for kill in of if kill in goals] for name, of in kills.items()}
    asked = [*demands_of(cases, aims), *deaths(cases, aims.published, known)]
    return without(cases, asked, many, for_all_claims(cases, family, aims.published, known))


def demands_of(cases: Sequence[Candidate], aims: Aims) -> list[Demand]:
    """Return the demands of all families, with the numbers that their cases have among all."""
    found: list[Demand] = []
    for family in FAMILIES.values():
        numbers = [at for at, each in enumerate(cases) if each.family == family]
        asked = demands([cases[at] for at in numbers], aims.published, aims.simple)
        found += [Demand(one.why, tuple(numbers[at] for at in one.cases), one.count) for one in asked]
    return found


def deaths(
    cases: Sequence[Candidate], published: Mapping[str, Claims], kills: Mapping[str, Sequence[str]]
) -> list[Demand]:
    """Return the demands that each mutant dies of one case anywhere, and of one within each claims that have any."""
    found: list[Demand] = []
    for name, numbers in {"any": range(len(cases)), **_within(cases, published)}.items():
        of: dict[str, list[int]] = defaultdict(list)
        for at in numbers:
            for mutant in kills.get(cases[at].name, ()):
                of[mutant].append(at)
        found += [Demand(f"death of {mutant} within the claims of {name}", tuple(at), 1) for mutant, at in of.items()]
    return found


def for_all_claims(
    cases: Sequence[Candidate],
    family: str,
    published: Mapping[str, Claims],
    kills: Mapping[str, Sequence[str]],
) -> list[int]:
    """Return the numbers of the cases of a family: first those that come early in the order for some claims."""
    table, orders = Tabled(), []
    everything: Sequence[int] = range(len(cases))
    parts = {at: table.parts(each, kills.get(each.name, ())) for at, each in enumerate(cases) if each.family == family}
    for numbers in (everything, *_within(cases, published).values()):
        mine = [at for at in numbers if at in parts]
        if mine:
            seconds = [cases[at].seconds for at in mine]
            order = order_of([parts[at] for at in mine], seconds, list(table.clauses), family)
            orders.append([mine[at] for at in order])
    return list(dict.fromkeys(merged(orders)))


def parted(many: int, shares: Mapping[str, int]) -> dict[str, int]:
    """Return whole parts of a number in proportion to shares; what is left over falls to the largest share."""
    found = {name: many * share // sum(shares.values()) for name, share in shares.items()}
    found[max(shares, key=lambda name: shares[name])] += many - sum(found.values())
    return found


def without(cases: Sequence[Candidate], asked: Sequence[Demand], many: int, order: Sequence[int]) -> list[Candidate]:
    """Return cases without so many of the last of an ``order`` that no demand needs.

    Raise ``CampaignError`` where all are needed.
    """
    left = [len(each.cases) - each.count for each in asked]
    of_case: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(asked):
        for at in each.cases:
            of_case[at].append(number)
    gone: set[int] = set()
    for at in reversed(order):
        if len(gone) < many and all(left[number] > 0 for number in of_case[at]):
            gone.add(at)
            for number in of_case[at]:
                left[number] -= 1
    if len(gone) < many:
        raise CampaignError(f"{len(cases) - len(gone)} cases are demanded; a deck has {MOST_CASES} at most")
    return [each for at, each in enumerate(cases) if at not in gone]


def _within(cases: Sequence[Candidate], published: Mapping[str, Claims]) -> dict[str, list[int]]:
    return {name: numbers_within(cases, claims) for name, claims in published.items()}
