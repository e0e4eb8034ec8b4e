"""A campaign on disk: its parameters, and what each step left of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from conformance.qualification.deck.candidate import CampaignError, Candidate, all_of, keep, kept
from conformance.qualification.deck.candidates import Source, drawn, enumerated
from conformance.qualification.deck.mutant import half_of

BESIDE: Final = 0
"""The seed of the random draws that the deck is held against: that of a run by default."""

OFTEN: Final = {"collectives": 1, "graphs": 5, "types": 5, "sharding": 5, "schedules": 1}
"""How many times the examples are drawn of an operation: there is one of graphs. Schedules take a second to judge."""

RANDOM: Final = {"collectives": 400, "graphs": 200, "types": 400, "sharding": 120, "schedules": 40}
"""Random draws of a family that the deck is held against."""


@dataclass(frozen=True)
class Making:
    """Where a campaign is kept and its deck goes, the seeds and examples of its draws, families and processes.

    Each case is made smaller within so many ``tries``; the curves go into ``page``, where one is named. A top-up
    has the cases of the ``other`` deck too, where one is named.
    """

    folder: Path
    into: Path
    seeds: tuple[int, ...]
    examples: int
    families: tuple[str, ...]
    jobs: int
    tries: int = 20
    page: Path | None = None
    other: Path | None = None

    def sources(self, family: str, seeds: Sequence[int]) -> list[Source]:
        """Return the draws of a family."""
        return drawn(seeds, self.examples * OFTEN[family], [family])

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
        return self._list(family, "shortlist")

    def choice(self, family: str) -> list[Candidate]:
        """Return what was chosen, in order; raise ``CampaignError`` where nothing was."""
        return self._list(family, "choice")

    def pool(self, family: str) -> list[Candidate]:
        """Return the cases that mutants are asked about: the shortlist, and the random draws beside it."""
        return list({each.name: each for each in (*self.shortlist(family), *self.beside(family))}.values())

    def deck(self, family: str) -> list[Candidate]:
        """Return the chosen cases in order, each smaller where that kills all of the mutants that it was chosen by.

        Raise ``CampaignError`` where they were not made smaller, or mutants not asked about them.
        """
        chosen, path = self.choice(family), self.folder / "smaller" / f"{family}.zlib"
        small = kept(path, dict[str, Candidate]) if path.exists() else {}
        missing = [each.name for each in chosen if each.name not in small]
        if missing:
            raise CampaignError(
                f"the campaign in {self.folder} was cut: {len(missing)} of {len(chosen)} cases of {family} were not "
                f"made smaller, {missing[0]} first; go on with the step shrink"
            )
        known = self.killed(family, [each for one in chosen for each in (one, small[one.name])])
        found = [
            small[each.name] if set(_seen(known[each.name])) <= set(known[small[each.name].name]) else each
            for each in chosen
        ]
        return list({each.name: each for each in found}.values())

    def killed(self, family: str, of: Sequence[Candidate]) -> Mapping[str, tuple[str, ...]]:
        """Return the kills of cases; raise ``CampaignError`` where some were not asked about."""
        known: dict[str, tuple[str, ...]] = {}
        for path in sorted((self.folder / "kills").glob(f"{family}-*.zlib")):
            known |= kept(path, dict[str, tuple[str, ...]])
        missing = [each.name for each in of if each.name not in known]
        if missing:
            raise CampaignError(
                f"the campaign in {self.folder} was cut: mutants were not asked about {len(missing)} of {len(of)} "
                f"cases of {family}, {missing[0]} first; go on with the step mutants"
            )
        return known

    def write(self, family: str, what: str, cases: Sequence[Candidate]) -> None:
        """Keep a list of cases, whole: of the candidates of collectives it is one in thirty."""
        keep(self.folder / what / f"{family}.zlib", list(cases))

    def _list(self, family: str, what: str) -> list[Candidate]:
        path = self.folder / what / f"{family}.zlib"
        if not path.exists():
            raise CampaignError(f"the campaign in {self.folder} has no {what} of {family}: do the step {what} first")
        return kept(path, list[Candidate])


def _seen(names: Iterable[str]) -> list[str]:
    return [name for name in names if half_of(name) == "seen"]


def _name(each: Candidate) -> str:
    return each.name
