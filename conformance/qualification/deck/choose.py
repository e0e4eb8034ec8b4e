"""The choice: cases by what they show, by patterns that somebody wrote, and by half of the mutants that they kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.qualification.deck.candidate import Candidate
from conformance.qualification.deck.claimed import PART, within
from conformance.qualification.deck.mutant import Mutant
from conformance.specs.domains.steering.seldom_draws import seldom_goal
from conformance.vectors.best_order import order_of
from conformance.vectors.deck import is_clause
from conformance.vectors.goals import KILL, MOTIF, PartNumbers
from conformance.vectors.order import ROUNDS

SHARES: Final = {"collectives": 900, "graphs": 350, "types": 400, "sharding": 250, "schedules": 100}
"""Cases of the deck: 2,000 in all."""

SHORTLIST: Final = {"collectives": 1_200, "graphs": 700, "types": 800, "sharding": 400, "schedules": 100}
"""Cases that are asked which mutants they kill, chosen by what they show alone."""


class Tabled:
    """Clauses and words by number, in the order in which they are met."""

    def __init__(self) -> None:
        """Have no number given."""
        self.clauses: dict[str, int] = {}
        self.words: dict[str, int] = {}

    def parts(self, each: Candidate, kills: Sequence[str] = ()) -> list[PartNumbers]:
        """Return what a candidate shows by numbers, with the pattern that it is and the mutants that it ``kills``."""
        shown = [*each.parts, *motif_of(each), *([([KILL], sorted(kills))] if kills else [])]
        # Parts that the same clauses speak about show the pairs of all their words.
        found: dict[tuple[int, ...], set[int]] = {}
        for clauses, words in shown:
            of = tuple(sorted(self.clauses.setdefault(clause, len(self.clauses)) for clause in clauses))
            found.setdefault(of, set()).update(self.words.setdefault(word, len(self.words)) for word in words)
        return [(list(of), sorted(words)) for of, words in found.items()]


def motif_of(each: Candidate) -> list[tuple[list[str], list[str]]]:
    """Return which pattern of a table a draw is, as a part; nothing of any other case."""
    if not each.drawn:
        return []
    goal = seldom_goal(int(each.origin.rpartition(" ")[2]))
    return [([f"{MOTIF} {each.family}"], [f"{each.op} {name} {value}" for name, value in goal.items()])] if goal else []


def chosen_for_all(
    candidates: Sequence[Candidate],
    family: str,
    most: int,
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
    claims: Sequence[Claims],
) -> list[Candidate]:
    """Return the best cases of a family, a part of them within each of some claims, in the best order of all."""
    first: dict[str, Candidate] = {}
    inside = [mine for mine in (within(candidates, each) for each in claims) if mine]
    for mine in inside:
        best = chosen(mine, family, round(most * PART / len(inside)), kills, mutants)
        first |= {each.name: each for each in best}
    first |= {each.name: each for each in thrice(candidates, first)}
    others = [each for each in candidates if each.name not in first]
    rest = chosen(others, family, most - len(first), kills, mutants)
    return chosen([*first.values(), *rest], family, most, kills, mutants)


def thrice(candidates: Sequence[Candidate], among: Mapping[str, Candidate]) -> list[Candidate]:
    """Return cases beside those ``among`` so that each clause speaks about ``ROUNDS``, as far as there are so many.

    Of those that a clause speaks about come first those in which fewer things happen.
    """
    having = Counter(clause for each in among.values() for clause in _clauses(each))
    by_clause: dict[str, list[Candidate]] = {}
    for each in candidates:
        for clause in _clauses(each):
            by_clause.setdefault(clause, []).append(each)
    found: dict[str, Candidate] = {}
    for clause in sorted(by_clause):
        few = sorted(by_clause[clause], key=lambda each: (len(each.parts), each.seconds, each.name))
        for each in few:
            if having[clause] >= ROUNDS:
                break
            if each.name not in among and each.name not in found:
                found[each.name] = each
                having.update(_clauses(each))
    return list(found.values())


def _clauses(each: Candidate) -> set[str]:
    return {clause for clauses, _ in each.parts for clause in clauses if is_clause(clause)}


def chosen(
    candidates: Sequence[Candidate],
    family: str,
    most: int,
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
) -> list[Candidate]:
    """Return the best cases of a family, at most so many, in order.

    ``kills`` has by the names of cases the mutants that they kill. Those of the unseen half are no goals.
    """
    goals = {mutant.name for mutant in mutants if mutant.half != "unseen"}
    table = Tabled()
    parts = [table.parts(each, [name for name in kills.get(each.name, ()) if name in goals]) for each in candidates]
    order = order_of(parts, [each.seconds for each in candidates], list(table.clauses), family, most)
    return [candidates[number] for number in order]
