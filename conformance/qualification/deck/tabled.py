"""What candidates show as numbers, with the pattern that each is and the mutants that it kills."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.qualification.deck.candidate import SMALLER, Candidate
from conformance.specs.domains.steering.seldom_draws import seldom_goal
from conformance.vectors.goals import KILL, MOTIF, PLAIN, PartNumbers


class Tabled:
    """Clauses and words by number, in the order in which they are met."""

    def __init__(self) -> None:
        """Have no number given."""
        self.clauses: dict[str, int] = {}
        self.words: dict[str, int] = {}

    def parts(self, each: Candidate, kills: Sequence[str] = (), *, plain: bool = False) -> list[PartNumbers]:
        """Return what a candidate shows by numbers, with the pattern that it is and the mutants that it ``kills``.

        What a ``plain`` one shows, it shows once more by that name: who claims little sees nothing else.
        """
        shown = [*each.parts, *motif_of(each), *([([f"{KILL} {each.family}"], sorted(kills))] if kills else [])]
        if plain:
            shown += [([f"{PLAIN} {clause}" for clause in clauses], words) for clauses, words in each.parts]
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
    goal = seldom_goal(int(each.origin.removesuffix(SMALLER).rpartition(" ")[2]))
    return [([f"{MOTIF} {each.family}"], [f"{each.op} {name} {value}" for name, value in goal.items()])] if goal else []
