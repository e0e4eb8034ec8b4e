"""The steps that make the deck, in order; each reads what those before left on disk, and goes on from what it left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Final

from conformance.qualification.deck.candidate import CampaignError, Candidate, keep, kept
from conformance.qualification.deck.candidates import campaign, enumerated
from conformance.qualification.deck.choose import SHARES, SHORTLIST, Aims, choose
from conformance.qualification.deck.curve import (
    CLAIMS,
    CURVE,
    CURVE_HEAD,
    PROFILE_HEAD,
    curves,
    profile_rows,
    written_into,
)
from conformance.qualification.deck.demands import demands, lacking
from conformance.qualification.deck.engine import engine_kills, engine_mutants
from conformance.qualification.deck.every_mutant import every_mutant
from conformance.qualification.deck.freeze import freeze
from conformance.qualification.deck.kills import kills
from conformance.qualification.deck.making import BESIDE, RANDOM, Making
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.profiles import published_claims, simple_claims
from conformance.qualification.deck.shrink import smaller
from conformance.qualification.deck.topup import topup
from conformance.vectors.order import merged


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
        found = choose(making.candidates(family), family, SHORTLIST[family], _aims(making))
        making.write(family, "shortlist", found)
        _tell(f"{family}: {len(found)} cases on the shortlist")


def mutants(making: Making) -> None:
    """Ask mutants about the shortlist, and about the random draws that the deck is held against."""
    for family in making.families:
        kills(making.folder / "kills", family, making.pool(family), _tell, jobs=making.jobs)


def choice(making: Making) -> None:
    """Choose by what cases show and by the mutants of the seen half that they kill, and hold it against the demands."""
    for family in making.families:
        listed = making.pool(family)
        found = choose(listed, family, SHARES[family], _aims(making), making.killed(family, listed), _of(family))
        aims = _aims(making)
        lacks = lacking(demands(listed, aims.published, aims.simple), listed, found)
        if lacks:
            raise CampaignError(f"the choice of {family} lacks {len(lacks)} things, first {lacks[0]}")
        making.write(family, "choice", found)
        _tell(f"{family}: {len(found)} cases chosen")


def shrink(making: Making) -> None:
    """Make the chosen cases smaller, and ask mutants about what came of it."""
    for family in making.families:
        found = smaller(making.choice(family), making.folder / "smaller", family, making.tries, _tell)
        kills(making.folder / "kills", family, found, _tell, jobs=making.jobs)


def engine(making: Making) -> None:
    """Ask changed engines about the first cases of what was chosen."""
    found = engine_kills(making.folder / "engine", _whole(making), making.jobs, _tell)
    keep(making.folder / "engine.zlib", found)
    _tell(f"changed engines fail {len(found)} cases")


def frozen(making: Making) -> None:
    """Write the deck and its kills, those of changed engines too, where they were asked."""
    deck = _whole(making)
    asked = {each.name: each for each in deck}
    known: dict[str, tuple[str, ...]] = {}
    every: list[Mutant] = []
    for family in making.families:
        asked |= {each.name: each for each in making.pool(family)}
        known |= making.killed(family, making.deck(family))
        every += _of(family)
    path = making.folder / "engine.zlib"
    if path.exists():
        every += engine_mutants()
        for name, several in kept(path, dict[str, tuple[str, ...]]).items():
            known[name] = (*known.get(name, ()), *several)
    made = (
        f"seeds {','.join(map(str, making.seeds))}, {making.examples} examples, {making.tries} tries; "
        f"{', '.join(making.families)}; claims of {', '.join(_aims(making).published)}"
    )
    freeze(making.into, made, deck, list(asked.values()), known, every)
    _tell(f"{len(deck)} cases written to {making.into}")


def _whole(making: Making) -> list[Candidate]:
    """Return the chosen cases of all families in one order."""
    families = [making.deck(family) for family in making.families]
    deck = [each for family in families for each in family]
    starts = [sum(map(len, families[:number])) for number in range(len(families))]
    numbers = [list(range(start, start + len(family))) for start, family in zip(starts, families, strict=True)]
    return [deck[number] for number in merged(numbers)]


def curve(making: Making) -> None:
    """Print what beginnings of the deck kill of the unseen half, beside random draws, and what claims see of it."""
    rows: list[str] = []
    for family in making.families:
        deck, beside = making.deck(family), making.beside(family)
        rows += curves(family, deck, beside, making.killed(family, [*deck, *beside]), _of(family))
    _printed(making, CURVE, [*CURVE_HEAD, *rows])
    claims(making)


def claims(making: Making) -> None:
    """Print what the deck that is there kills within the claims of each backend and profile."""
    aims = _aims(making)
    _printed(making, CLAIMS, [*PROFILE_HEAD, *profile_rows(aims.published, aims.simple, making.into)])


def _printed(making: Making, name: str, table: list[str]) -> None:
    print("\n".join(table))
    if making.page is not None:
        written_into(making.page, name, table)


def top_up(making: Making) -> None:
    """Make the deck that is there fit the specification as it is now."""
    topup(
        making.folder,
        making.into,
        _aims(making),
        (*_every(), *engine_mutants()),
        making.seeds,
        making.examples,
        making.jobs,
        _tell,
        making.other,
    )


def _of(family: str) -> list[Mutant]:
    return [mutant for mutant in _every() if mutant.family == family]


@cache
def _aims(making: Making) -> Aims:
    """Return whom the deck is for; the claims of backends are those that they had when the campaign began."""
    path = making.folder / "claims.zlib"
    if not path.exists():
        keep(path, published_claims())
    published = kept(path, dict[str, dict[str, dict[str, list[str]]]])
    _tell(f"a part is chosen within the claims of {', '.join(published)}")
    return Aims(published, simple_claims())


@cache
def _every() -> tuple[Mutant, ...]:
    return tuple(every_mutant(tuple(RANDOM)))


STEPS: Final[dict[str, Callable[[Making], None]]] = {
    "candidates": candidates,
    "shortlist": shortlist,
    "mutants": mutants,
    "choice": choice,
    "shrink": shrink,
    "engine": engine,
    "freeze": frozen,
    "curve": curve,
}
"""The steps, in order."""

ALONE: Final[dict[str, Callable[[Making], None]]] = {"topup": top_up, "claims": claims}
"""What is done to a deck that is there."""
