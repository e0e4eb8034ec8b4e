"""The deck and its kills as they ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from conformance.qualification.deck.candidate import CampaignError, Candidate
from conformance.qualification.deck.choose import Tabled
from conformance.qualification.deck.mutant import Mutant
from conformance.runner.dialects import trial
from conformance.runner.dialects.schedule import Asked
from conformance.vectors.deck import Frozen, Tables, read_deck, write_deck
from conformance.vectors.meaning import meaning_digest
from conformance.vectors.power import Dies, Kills, write_kills

MOST: Final = 2_000
"""Cases of a deck, at most."""


def freeze(
    folder: Path,
    made: str,
    chosen: Sequence[Candidate],
    campaign: Sequence[Candidate],
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
) -> None:
    """Write the deck and its kills; raise ``CampaignError`` where it has more cases than a deck has."""
    if len(chosen) > MOST:
        raise CampaignError(f"{len(chosen)} cases were chosen; a deck has {MOST} at most")
    goals = {mutant.name for mutant in mutants if mutant.half != "unseen"}
    table, facts = Tabled(), Facts()
    cases = [
        Frozen(
            name=each.name,
            form=each.form,
            family=each.family,
            suite=each.suite,
            op=each.op,
            origin=each.origin,
            seconds=round(each.seconds, 4),
            meaning=_meaning(each),
            facts=facts.of(each),
            parts=table.parts(each, [name for name in kills.get(each.name, ()) if name in goals]),
            text=msgspec.Raw(each.text),
        )
        for each in chosen
    ]
    tables = Tables(clauses=list(table.clauses), words=list(table.words), facts=list(facts.known))
    write_deck(folder / "deck.jsonl.gz", made, tables, cases)
    digest = read_deck(folder / "deck.jsonl.gz").digest
    write_kills(folder / "kills.json.gz", _kills(digest, chosen, campaign, kills, mutants))


def _meaning(each: Candidate) -> str:
    one = trial(each.case, each.suite, each.name)
    if one is None:
        raise CampaignError(f"{each.name} ({each.origin}) is no case any more: make the campaign again")
    return meaning_digest(one.subject.graph if isinstance(one.subject, Asked) else one.subject)


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


def _kills(
    digest: str,
    chosen: Sequence[Candidate],
    campaign: Sequence[Candidate],
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
) -> Kills:
    facts, sets = Facts(), dict[bytes, int]()
    numbered: list[dict[str, list[int]]] = []
    needs: dict[str, list[dict[str, list[int]]]] = {mutant.name: [] for mutant in mutants}
    for each in campaign:
        for name in kills.get(each.name, ()):
            if name in needs:
                needs[name].append(facts.of(each))
    dies = []
    for mutant in mutants:
        least = _least(needs[mutant.name])
        if not least:  # no case of the campaign kills it: nobody can be asked to
            continue
        for each_set in least:
            key = msgspec.json.encode(each_set, order="deterministic")
            if key not in sets:
                sets[key] = len(numbered)
                numbered.append(each_set)
        dies.append(
            Dies(
                name=mutant.name,
                family=mutant.family,
                of=mutant.of,
                half=mutant.half,
                kills=[number for number, each in enumerate(chosen) if mutant.name in kills.get(each.name, ())],
                needs=[sets[msgspec.json.encode(each_set, order="deterministic")] for each_set in least],
            )
        )
    return Kills(
        digest=digest,
        campaign=len(campaign),
        cases=[each.name for each in chosen],
        words=list(facts.known),
        sets=numbered,
        mutants=dies,
    )


def _least(sets: Sequence[dict[str, list[int]]]) -> list[dict[str, list[int]]]:
    """Return the sets of words that no other one is within: claims that allow any set allow one of them."""
    distinct = {msgspec.json.encode(each, order="deterministic"): each for each in sets}
    ordered = sorted(distinct.values(), key=lambda each: sum(map(len, each.values())))
    found: list[dict[str, list[int]]] = []
    for each in ordered:
        if not any(_inside(small, each) for small in found):
            found.append(each)
    return found


def _inside(small: dict[str, list[int]], large: dict[str, list[int]]) -> bool:
    return all(op in large and set(numbers) <= set(large[op]) for op, numbers in small.items())
