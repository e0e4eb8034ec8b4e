"""What the deck is worth: how many mutants of the unseen half its beginnings kill, beside as many random draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.backends.base import Claims
from conformance.qualification.deck.candidate import CampaignError, Candidate
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.profiles import SimpleClaims
from conformance.vectors.best_order import within
from conformance.vectors.deck import read_deck
from conformance.vectors.order import OVERHEAD
from conformance.vectors.power import power, read_kills

CURVE: Final = "curve"
CLAIMS: Final = "claims"
"""The tables of a page: each stands between a line ``<!-- NAME -->`` and a line ``<!-- end of NAME -->``."""

CURVE_HEAD: Final = (
    "| family | cases | the deck | as many random draws | as many seconds of them | mutants |",
    "|---|---|---|---|---|---|",
)

PROFILE_HEAD: Final = ("| claims | cases | all mutants | unseen half | at least |", "|---|---|---|---|---|")

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


def profile_rows(published: Mapping[str, Claims], simple: Mapping[str, SimpleClaims], folder: Path) -> list[str]:
    """Return the rows of a table: of each claims how many cases of a deck lie within, and what these kill."""
    deck, kills = read_deck(folder / "deck.jsonl.gz"), read_kills(folder / "kills.json.gz")
    found = []
    for name, claims in (*published.items(), *((name, each.claims) for name, each in simple.items())):
        mine = [deck.cases[number].name for number in within(deck, claims)]
        seen = power(claims, set(mine), kills)
        if seen.within.mutants:
            found.append(f"| {name} | {len(mine)} | {seen.within} | {seen.unseen} | {seen.unseen.least:.0%} |")
    return found


def written_into(page: Path, name: str, table: Sequence[str]) -> None:
    """Write a table into its place in a page; raise ``CampaignError`` for a page without one."""
    text, begins, ends = page.read_text(encoding="utf-8"), f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, begin, rest = text.partition(begins)
    _, end, after = rest.partition(ends)
    if not begin or not end:
        raise CampaignError(f"{page} has no place for the table {name}: a line {begins}, and a line {ends} after it")
    page.write_text(before + "\n".join((begins, "", *table, "", ends)) + after, encoding="utf-8")
