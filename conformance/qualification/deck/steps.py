"""The steps that make the deck, in order; each reads what those before left on disk, and goes on from what it left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from conformance.backends.base import Claims
from conformance.qualification.deck.candidate import CampaignError, Candidate, all_of, keep, kept
from conformance.qualification.deck.candidates import Source, campaign, drawn, enumerated
from conformance.qualification.deck.choose import SHARES, SHORTLIST, chosen_for_all
from conformance.qualification.deck.claimed import published_claims
from conformance.qualification.deck.curve import curves
from conformance.qualification.deck.freeze import freeze
from conformance.qualification.deck.kills import kills
from conformance.qualification.deck.mutant import Mutant, every_mutant
from conformance.vectors.order import merged

BESIDE: Final = 0
"""The seed of the random draws that the deck is held against: that of a run by default."""

RANDOM: Final = {"collectives": 600, "graphs": 200, "types": 400, "sharding": 120}
"""Random draws of a family that the deck is held against."""


@dataclass(frozen=True)
class Making:
    """Where a campaign is kept and its deck goes, the seeds and examples of its draws, families and processes."""

    folder: Path
    into: Path
    seeds: tuple[int, ...]
    examples: int
    families: tuple[str, ...]
    jobs: int

    def sources(self, family: str, seeds: Sequence[int]) -> list[Source]:
        """Return the draws of a family."""
        return drawn(seeds, self.examples * (1 if family == "collectives" else 5), [family])

    def candidates(self, family: str) -> list[Candidate]:
        """Return all candidates of a family; raise ``CampaignError`` where the campaign was cut."""
        sources = [*self.sources(family, (*self.seeds, BESIDE)), *enumerated([family])]
        return all_of(self.folder / "candidates", [each.name for each in sources], "candidates")

    def beside(self, family: str) -> list[Candidate]:
        """Return the random draws of a family that the deck is held against, in an order of their own."""
        sources = self.sources(family, (BESIDE,))
        found = sorted(all_of(self.folder / "candidates", [each.name for each in sources], "candidates"), key=_name)
        Random(family).shuffle(found)  # noqa: S311 - the same order each time
        return found[: RANDOM.get(family, 0)]

    def shortlist(self, family: str) -> list[Candidate]:
        """Return the candidates that mutants are asked about; raise ``CampaignError`` where there is no list."""
        return self._named(family, "shortlist")

    def choice(self, family: str) -> list[Candidate]:
        """Return what was chosen, in order; raise ``CampaignError`` where nothing was."""
        return self._named(family, "choice")

    def killed(self, family: str, of: Sequence[Candidate]) -> Mapping[str, tuple[str, ...]]:
        """Return the kills of cases; raise ``CampaignError`` where some were not asked about."""
        known: dict[str, tuple[str, ...]] = {}
        for path in sorted((self.folder / "kills").glob(f"{family}-*.zlib")):
            known |= kept(path, dict[str, tuple[str, ...]])
        missing = [each.name for each in of if each.name not in known]
        if missing and family in RANDOM:
            raise CampaignError(
                f"the campaign in {self.folder} was cut: mutants were not asked about {len(missing)} of {len(of)} "
                f"cases of {family}, {missing[0]} first; go on with the step mutants"
            )
        return known

    def write(self, family: str, what: str, cases: Sequence[Candidate]) -> None:
        """Keep a list of cases."""
        keep(self.folder / what / f"{family}.zlib", [each.name for each in cases])

    def _named(self, family: str, what: str) -> list[Candidate]:
        by_name = {each.name: each for each in self.candidates(family)}
        return [by_name[name] for name in self._list(family, what) if name in by_name]

    def _list(self, family: str, what: str) -> list[str]:
        path = self.folder / what / f"{family}.zlib"
        if not path.exists():
            raise CampaignError(f"the campaign in {self.folder} has no {what} of {family}: do the step {what} first")
        return kept(path, list[str])


def _name(each: Candidate) -> str:
    return each.name


def _tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def candidates(making: Making) -> None:
    """Draw and enumerate."""
    for family in making.families:
        sources = [*making.sources(family, (*making.seeds, BESIDE)), *enumerated([family])]
        campaign(making.folder / "candidates", sources, _tell)


def shortlist(making: Making) -> None:
    """Choose by what cases show alone."""
    for family in making.families:
        found = chosen_for_all(making.candidates(family), family, SHORTLIST[family], {}, (), _claims())
        making.write(family, "shortlist", found)
        _tell(f"{family}: {len(found)} cases on the shortlist")


def mutants(making: Making) -> None:
    """Ask mutants about the shortlist, and about the random draws that the deck is held against."""
    for family in making.families:
        if family in RANDOM:
            asked = [*making.beside(family), *making.shortlist(family)]
            kills(making.folder / "kills", family, asked, _tell, jobs=making.jobs)


def choice(making: Making) -> None:
    """Choose by what cases show and by the mutants of the seen half that they kill."""
    for family in making.families:
        listed = making.shortlist(family)
        found = chosen_for_all(listed, family, SHARES[family], making.killed(family, listed), _of(family), _claims())
        making.write(family, "choice", found)
        _tell(f"{family}: {len(found)} cases chosen")


def frozen(making: Making) -> None:
    """Write the deck and its kills."""
    deck: list[Candidate] = []
    families: list[list[int]] = []
    asked: list[Candidate] = []
    known: dict[str, tuple[str, ...]] = {}
    every: list[Mutant] = []
    for family in making.families:
        mine = making.choice(family)
        families.append(list(range(len(deck), len(deck) + len(mine))))
        deck += mine
        asked += [*making.shortlist(family), *making.beside(family)]
        known |= making.killed(family, mine)
        every += _of(family)
    made = f"seeds {','.join(map(str, making.seeds))}, {making.examples} examples; {', '.join(making.families)}"
    freeze(making.into, made, [deck[number] for number in merged(families)], asked, known, every)
    _tell(f"{len(deck)} cases written to {making.into}")


def curve(making: Making) -> None:
    """Print what beginnings of the deck kill of the unseen half, beside as many random draws."""
    for family in making.families:
        if family in RANDOM:
            listed, beside = making.choice(family), making.beside(family)
            known = making.killed(family, [*listed, *beside])
            print("\n".join(curves(family, listed, beside, known, _of(family))))


def _of(family: str) -> list[Mutant]:
    return [mutant for mutant in _every() if mutant.family == family]


@cache
def _claims() -> tuple[Claims, ...]:
    found = published_claims()
    _tell(f"a part is chosen within the claims of {', '.join(found)}")
    return tuple(found.values())


@cache
def _every() -> tuple[Mutant, ...]:
    return tuple(every_mutant(tuple(RANDOM)))


STEPS: Final[dict[str, Callable[[Making], None]]] = {
    "candidates": candidates,
    "shortlist": shortlist,
    "mutants": mutants,
    "choice": choice,
    "freeze": frozen,
    "curve": curve,
}
"""The steps, in order."""
