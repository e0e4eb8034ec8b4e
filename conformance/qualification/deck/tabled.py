"""What candidates show as numbers, with the mutants that each kills."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.qualification.deck.candidate import Candidate
from conformance.vectors.goals import KILL, PLAIN, PartNumbers


class Tabled:
    """Clauses and words by number, in the order in which they are met."""

    def __init__(self) -> None:
        """Have no number given."""
        self.clauses: dict[str, int] = {}
        self.words: dict[str, int] = {}

    def parts(self, each: Candidate, kills: Sequence[str] = (), *, plain: bool = False) -> list[PartNumbers]:
        """Return what a candidate shows by numbers, with the mutants that it ``kills``.

        What a ``plain`` one shows, it shows once more by that name: who claims little sees nothing else.
        """
        shown = [*each.parts, *([([f"{KILL} {each.family}"], sorted(kills))] if kills else [])]
        if plain:
            shown += [([f"{PLAIN} {clause}" for clause in clauses], words) for clauses, words in each.parts]
        # Parts that the same clauses speak about show the pairs of all their words.
        found: dict[tuple[int, ...], set[int]] = {}
        for clauses, words in shown:
            of = tuple(sorted(self.clauses.setdefault(clause, len(self.clauses)) for clause in clauses))
            found.setdefault(of, set()).update(self.words.setdefault(word, len(self.words)) for word in words)
        return [(list(of), sorted(words)) for of, words in found.items()]
