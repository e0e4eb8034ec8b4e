"""What the records of a certificate come to: recomputed by whoever reads them, never taken from a statement."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from math import comb
from typing import Final

import msgspec

from conformance.certificate.entries import Entry, Guise
from conformance.certificate.product import Waiver
from conformance.certificate.statement import Verdict
from conformance.runner.dialects import further_clauses
from conformance.runner.outcomes import FAILING, OWED
from conformance.specs import every_clause

CHANCE: Final = 0.001
"""How often a product that knows no case may be taken for one that does: ten cases that all fail in the other guise."""


@dataclass(frozen=True)
class Conclusion:
    """Cases by outcome, the *must* clauses that were broken and how often, the fingerprint, and the verdict.

    ``recognised`` are the entries that passed as drawn and failed in another guise, where these are more than chance
    explains. ``undocumented`` is the first entry that diverges, with the clause, where no source that the product
    follows is known to. Of ``sensitive`` reductions whose order shows, ``in_rank_order`` have the bits of the fold in
    rank order.
    """

    counts: dict[str, int]
    broken: dict[str, int]
    fingerprint: str
    verdict: Verdict
    recognised: tuple[int, ...]
    undocumented: tuple[int, str] | None
    sensitive: int
    in_rank_order: int


def concluded(
    entries: Iterable[Entry],
    waivers: Sequence[Waiver],
    day: date,
    follows: Collection[str] = (),
    owed: AbstractSet[str] = frozenset(),
) -> Conclusion:
    """Return what entries come to, with waivers that have not expired on a day, for whoever follows some sources.

    It is incomplete where a case has no answer, and where of an operation that is ``owed`` none was judged.
    """
    found = _Tally(frozenset(follows))
    for entry in entries:
        found.add(entry)
    waived = {waiver.clause for waiver in waivers if waiver.expiry >= day}
    verdict: Verdict = "conformant"
    if found.owing or not found.counts.get("passed") or not owed <= found.judged:
        verdict = "incomplete"
    elif set(found.broken) - waived or found.unnamed:
        verdict = "not conformant"
    elif found.broken:
        verdict = "conformant but for waivers"
    return Conclusion(
        counts=dict(sorted(found.counts.items())),
        broken=dict(sorted(found.broken.items())),
        fingerprint=found.classes.hexdigest(),
        verdict=verdict,
        recognised=tuple(found.hidden) if _beyond_chance(len(found.hidden), found.reversed) else (),
        undocumented=found.undocumented,
        sensitive=found.sensitive,
        in_rank_order=found.in_rank_order,
    )


def _beyond_chance(hidden: int, shown: int) -> bool:
    """Return whether of so many cases that fail in one guise alone too few fail as drawn: an exact sign test.

    A product that knows no case fails in either guise alone as often. One that fails in few may do so in one by chance.
    """
    split = hidden + shown
    return bool(hidden) and sum(comb(split, at) for at in range(shown + 1)) <= CHANCE * 2**split


def recorded_under(name: str) -> str:
    """Return the operation that a program is recorded under, by its id: the last that it calls."""
    return name.partition("/")[0].rpartition("+")[2]


def guises(entry: Entry) -> tuple[Guise, ...]:
    """Return what was asked of an entry: the case as drawn, and in another guise."""
    return (entry.plain,) if entry.disguised is None else (entry.plain, entry.disguised)


class _Tally:
    """What entries come to, one after the other: of none more is kept than is counted."""

    def __init__(self, follows: AbstractSet[str]) -> None:
        known = {**every_clause(), **further_clauses()}
        self.musts = {name for name, clause in known.items() if clause.requirement == "must"}
        self.documented = {
            name
            for name, clause in known.items()
            if any(each.source in follows for each in getattr(clause, "diverges", ()))
        }
        self.counts: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.unnamed = 0
        """Crashes and the like that no *must* is to blame for."""
        self.owing = False
        self.judged: set[str] = set()
        """The operations under which a case has a verdict."""
        self.hidden: list[int] = []
        """The entries that passed as drawn alone."""
        self.reversed = 0
        """How many entries passed in another guise alone."""
        self.undocumented: tuple[int, str] | None = None
        self.classes = hashlib.sha256()
        """Which classes the order-sensitive reductions belong to, case by case."""
        self.sensitive = self.in_rank_order = 0

    def add(self, entry: Entry) -> None:
        """Count an entry."""
        self.counts[entry.plain.outcome] += 1
        if entry.plain.outcome == "passed" or entry.plain.outcome in FAILING:
            self.judged.add(recorded_under(entry.name))
        hidden = entry.disguised
        if hidden is not None and entry.plain.outcome == "passed" and hidden.outcome in FAILING:
            self.hidden.append(entry.index)
        self.reversed += hidden is not None and hidden.outcome == "passed" and entry.plain.outcome in FAILING
        if entry.plain.classes:
            self.classes.update(msgspec.json.encode((entry.index, [one.classes for one in guises(entry)])) + b"\n")
        for one in guises(entry):
            self._guise(entry.index, one)

    def _guise(self, index: int, one: Guise) -> None:
        self.owing |= one.outcome in OWED
        if one.classes:
            self.sensitive += 1
            self.in_rank_order += "exact" in one.classes
        if self.undocumented is None and "diverges" in one.clauses.values():
            strange = (name for name, held in one.clauses.items() if held == "diverges" and name not in self.documented)
            self.undocumented = next(((index, name) for name in strange), None)
        if one.outcome not in FAILING:
            return
        # One wrong value breaks general clauses beside the one that is to blame, and what is waived is that one.
        musts = _broken(one) & self.musts if one.blame not in self.musts else {one.blame}
        self.broken.update(musts)
        self.unnamed += one.outcome in ("crashed", "timeout", "protocol_error") and not musts


def _broken(one: Guise) -> frozenset[str]:
    return frozenset(name for name, held in one.clauses.items() if held == "broken")
