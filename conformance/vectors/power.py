"""What a run is able to see: of the mutants within a backend's claims, how many the cases that it judged kill.

Which mutant dies of which case of the deck is counted once, as the deck is made, and ships with it. A mutant is within
the claims of a backend if any case of the campaign that lies within them kills it, be that in the deck or not. Half of
the mutants nothing was chosen by: what a run sees of them is what it is likely to see of mistakes that nobody knows.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Final, Literal

import msgspec

from conformance.backends.base import Claims
from conformance.backends.claim_limits import outside, plain_claims
from conformance.vectors.deck_error import AGAIN, DeckError

FILE: Final = Path(__file__).with_name("kills.json.gz")
"""The kills of the deck of this version of the suite."""

CONFIDENCE: Final = 0.95

FEW: Final = 64
"""Mutants of a half below which their number stands beside their share."""

Half = Literal["public", "seen", "unseen"]


class MutantKills(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mutant of a family, ``of`` a kind (written, or made for a condition), in a half.

    ``kills`` are the numbers of the cases of the deck that it fails. ``needs`` are numbers of sets of words: it is
    within claims that allow all words of one of them. Mutants that stand for a ``public`` report are goals of the deck.
    """

    name: str
    family: str
    of: str
    half: Half
    kills: list[int]
    needs: list[int]


class DeckKills(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which mutants die of which cases of the deck with that ``digest``.

    ``cases`` are the names of those cases in the order of the deck, as digests; ``words`` features with words;
    ``sets`` the words, by operation, of cases of the campaign.
    """

    digest: str
    campaign: int
    cases: list[str]
    words: list[tuple[str, str]]
    sets: list[dict[str, list[int]]]
    mutants: list[MutantKills]


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Of ``mutants`` so many were ``seen``; with 95 % confidence a run sees at least the share ``least`` of such."""

    mutants: int = 0
    seen: int = 0
    share: float = 0.0
    least: float = 0.0

    def __str__(self) -> str:
        """Return the share, with the count where mutants are few."""
        counted = f" ({self.seen} of {self.mutants})" if self.mutants < FEW else ""
        return f"{self.share:.0%}{counted}" if self.mutants else "none to see"


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What a run sees of the mutants ``within`` its backend's claims, and of those of the ``unseen`` half alone.

    ``outside`` are mutants that no case within the claims kills; they do not count. ``families`` are shares of all.
    """

    within: Share = Share()
    unseen: Share = Share()
    outside: int = 0
    families: dict[str, Share] = {}
    confidence: float = CONFIDENCE

    def __str__(self) -> str:
        """Return one sentence for people."""
        if not self.within.mutants and not self.outside:  # of a log that was written before there was a deck
            return "what this run can see was not measured"
        if not self.within.mutants:
            return f"no mutant lies within these claims ({self.outside} lie outside)"
        if not self.within.seen:
            return f"no case of the deck was judged; what draws see of {self.within.mutants} mutants was not counted"
        return (
            f"a run like this kills {self.within} of the mutants within these claims; of those that nothing was chosen "
            f"by {self.unseen}, at least {self.unseen.least:.0%} with {self.confidence:.0%} confidence "
            f"({self.outside} mutants lie outside)"
        )


def power(claims: Claims, judged: Collection[str], kills: DeckKills | None = None) -> Power:
    """Return what a run of a backend with these claims sees that judged the cases of the deck with these ids."""
    inside = _of_deck(msgspec.json.encode(plain_claims(claims))) if kills is None else _inside(claims, kills)
    kills = kills or deck_kills()
    numbers = {number for number, name in enumerate(kills.cases) if name in judged}
    dead = {each.name for each in inside if not numbers.isdisjoint(each.kills)}
    families = {each.family: [one for one in inside if one.family == each.family] for each in inside}
    return Power(
        within=_share(inside, dead),
        unseen=_share([each for each in inside if each.half == "unseen"], dead),
        outside=len(kills.mutants) - len(inside),
        families={name: _share(several, dead) for name, several in families.items()},
    )


@lru_cache(maxsize=8)
def _of_deck(claims: bytes) -> list[MutantKills]:
    """Return the mutants of the deck within claims, which are JSON; a run and its report ask for the same ones."""
    return _inside(msgspec.json.decode(claims), deck_kills())


def _inside(claims: Claims, kills: DeckKills) -> list[MutantKills]:
    allowed = {number for number in range(len(kills.sets)) if outside(claims, _words(kills, number)) is None}
    return [each for each in kills.mutants if not allowed.isdisjoint(each.needs)]


def _words(kills: DeckKills, number: int) -> Mapping[str, Mapping[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for op, numbers in kills.sets[number].items():
        of = found.setdefault(op, {})
        for each in numbers:
            feature, word = kills.words[each]
            of[feature] = of.get(feature, frozenset()) | {word}
    return found


def _share(mutants: Collection[MutantKills], dead: Collection[str]) -> Share:
    seen = sum(each.name in dead for each in mutants)
    share = seen / len(mutants) if mutants else 0.0
    return Share(mutants=len(mutants), seen=seen, share=round(share, 4), least=round(least(seen, len(mutants)), 4))


def least(seen: int, mutants: int) -> float:
    """Return the lower bound of a share of which ``seen`` of ``mutants`` is a sample: Wilson's, one-sided."""
    if not mutants:
        return 0.0
    z = NormalDist().inv_cdf(CONFIDENCE)
    share = seen / mutants
    middle = share + z * z / (2 * mutants)
    spread = z * sqrt(share * (1 - share) / mutants + z * z / (4 * mutants * mutants))
    return max(0.0, (middle - spread) / (1 + z * z / mutants))


@cache
def deck_kills() -> DeckKills:
    """Return the kills of the deck of this version of the suite."""
    return read_kills(FILE)


def read_kills(path: Path) -> DeckKills:
    """Return the kills in a file; raise ``DeckError`` where they are not to be read."""
    try:
        return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=DeckKills)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DeckError(f"kills {path} are not to be read: {type(error).__name__}: {error}; {AGAIN}") from error


def write_kills(path: Path, kills: DeckKills) -> str:
    """Write the kills of a deck, whole or not at all; return the SHA-256 of the text."""
    text = msgspec.json.encode(kills)
    half = path.with_suffix(".half")
    half.write_bytes(gzip.compress(text, 9, mtime=0))
    half.replace(path)
    return hashlib.sha256(text).hexdigest()
