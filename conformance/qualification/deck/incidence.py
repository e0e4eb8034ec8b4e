"""Which cases kill which mutants, by numbers, and which claims each mutant lies within."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from conformance.qualification.deck.candidate import Candidate
from conformance.qualification.deck.mutant import Mutant
from conformance.vectors.power import DeckKills, MutantKills

Words = dict[str, list[int]]
"""The numbers of words of a case, by operation."""


class Facts:
    """Features with words by number."""

    def __init__(self) -> None:
        """Have no number given."""
        self.known: dict[tuple[str, str], int] = {}

    def of(self, each: Candidate) -> dict[str, list[int]]:
        """Return the words that claims are held against, by operation."""
        return {
            op: sorted(
                self.known.setdefault((feature, word), len(self.known))
                for feature, words in features.items()
                for word in words
            )
            for op, features in each.features.items()
        }


def incidence(
    digest: str,
    chosen: Sequence[Candidate],
    campaign: Sequence[Candidate],
    kills: Mapping[str, Collection[str]],
    mutants: Sequence[Mutant],
    old: DeckKills | None = None,
) -> DeckKills:
    """Return the kills of a deck with that ``digest``, and the claims within which its ``campaign`` shows each mutant.

    Mutants that no case of the campaign kills are left out: nobody can be asked to. What an ``old`` campaign showed
    is kept.
    """
    facts, sets, numbered = Facts(), dict[bytes, int](), list[Words]()
    needs: dict[str, list[Words]] = {mutant.name: [] for mutant in mutants}
    if old is not None:
        facts.known |= {(feature, word): number for number, (feature, word) in enumerate(old.words)}
        for each in old.mutants:
            if each.name in needs:
                needs[each.name] += [old.sets[number] for number in each.needs]
    for one in campaign:
        for name in kills.get(one.name, ()):
            if name in needs:
                needs[name].append(facts.of(one))
    dies = []
    for mutant in mutants:
        least = _least(needs[mutant.name])
        if not least:
            continue
        for each_set in least:
            key = msgspec.json.encode(each_set, order="deterministic")
            if key not in sets:
                sets[key] = len(numbered)
                numbered.append(each_set)
        dies.append(
            MutantKills(
                name=mutant.name,
                family=mutant.family,
                of=mutant.of,
                half=mutant.half,
                kills=[number for number, one in enumerate(chosen) if mutant.name in kills.get(one.name, ())],
                needs=[sets[msgspec.json.encode(each_set, order="deterministic")] for each_set in least],
            )
        )
    return DeckKills(
        digest=digest,
        campaign=len(campaign) + (0 if old is None else old.campaign),
        cases=[each.name for each in chosen],
        words=list(facts.known),
        sets=numbered,
        mutants=dies,
    )


def _least(sets: Sequence[Words]) -> list[Words]:
    """Return the sets of words that no other one is within: claims that allow any set allow one of them.

    An operation counts too, be it that it has no words: who does not claim it allows nothing of it.
    """
    flat = {frozenset((op, number) for op, numbers in each.items() for number in (-1, *numbers)): each for each in sets}
    found: list[frozenset[tuple[str, int]]] = []
    for each in sorted(flat, key=len):
        if not any(small <= each for small in found):
            found.append(each)
    return [flat[each] for each in found]
