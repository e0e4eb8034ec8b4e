"""What the deck is worth: how many mutants of the unseen half its beginnings kill, beside as many random draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from conformance.qualification.deck.candidate import Candidate
from conformance.qualification.deck.mutant import Mutant
from conformance.vectors.order import OVERHEAD

AT: Final = (25, 50, 100, 200, 300, 400, 600, 900)
"""Cases at which is counted."""


def curves(
    family: str,
    deck: Sequence[Candidate],
    beside: Sequence[Candidate],
    kills: Mapping[str, Sequence[str]],
    mutants: Sequence[Mutant],
) -> list[str]:
    """Return the rows of a table: cases, then shares of the unseen half by the deck and by random draws.

    A third share is that of as many seconds of random draws as the cases of the deck take.
    """
    known = {name for each in (*deck, *beside) for name in kills.get(each.name, ())}
    half = {mutant.name for mutant in mutants if mutant.half == "unseen"} & known
    found = []
    for count in AT:
        if count > len(deck) and count > len(beside):
            break
        mine = share(deck[:count], kills, half) if count <= len(deck) else None
        theirs = share(beside[:count], kills, half) if count <= len(beside) else None
        long = share(_of_seconds(beside, deck[:count]), kills, half)
        row = " | ".join("" if each is None else f"{each:.0%}" for each in (mine, theirs, long))
        found.append(f"| {family} | {count} | {row} | {len(half)} |")
    return found


def share(cases: Sequence[Candidate], kills: Mapping[str, Sequence[str]], half: Collection[str]) -> float:
    """Return the share of a half that cases kill."""
    seen = {name for each in cases for name in kills.get(each.name, ())} & set(half)
    return len(seen) / len(half) if half else 0.0


def _of_seconds(beside: Sequence[Candidate], deck: Sequence[Candidate]) -> list[Candidate]:
    """Return as many random draws as take no longer than the cases of the deck."""
    left, found = sum(each.seconds + OVERHEAD for each in deck), []
    for each in beside:
        left -= each.seconds + OVERHEAD
        if left < 0:
            break
        found.append(each)
    return found
