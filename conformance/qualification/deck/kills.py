"""Which mutants each case kills, case by case on disk, so that what was cut goes on."""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.deck.candidate import Candidate, keep, kept
from conformance.qualification.deck.every_mutant import every_mutant
from conformance.qualification.deck.mutant import Mutant
from conformance.runner.dialects import trial

PIECE: Final = {"schedules": 5}
PLENTY: Final = 50
"""Cases of a piece of a family, and of any other, each of which is a file, and run in a process of its own."""


def kills(
    folder: Path, family: str, candidates: Sequence[Candidate], tell: Callable[[str], None], *, jobs: int = 1
) -> Mapping[str, tuple[str, ...]]:
    """Return by the names of cases the names of the mutants that they kill; what is on disk already is read.

    A case in which a process ends or hangs has no kills: whose fault that is nothing says.
    """
    known: dict[str, tuple[str, ...]] = {}
    for path in sorted(folder.glob(f"{family}-*.zlib")):
        known |= kept(path, dict[str, tuple[str, ...]])
    left = [each for each in candidates if each.name not in known]
    size = PIECE.get(family, PLENTY)
    pieces = [left[at : at + size] for at in range(0, len(left), size)]
    if pieces:
        every = every_mutant([family])
        began = time.monotonic()
        for done, (piece, made) in enumerate(
            in_children(pieces, lambda piece, at: _killed(piece, every, at), jobs=jobs)
        ):
            found = made if not isinstance(made, Ended) else _one_by_one(piece, every)
            name = hashlib.sha256("\0".join(each.name for each in piece).encode()).hexdigest()[:16]
            keep(folder / f"{family}-{name}.zlib", found)
            known |= found
            tell(f"{family}: {done + 1} of {len(pieces)} pieces in {time.monotonic() - began:.0f} s")
    return known


def _killed(piece: Iterable[Candidate], every: Sequence[Mutant], at: At) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for number, each in enumerate(piece):
        at.come_to(number)
        one = trial(each.case, each.suite, each.name)
        assert one is not None
        found[each.name] = tuple(mutant.name for mutant in every if mutant.about(one) and mutant.fails(one))
    return found


def _one_by_one(piece: Sequence[Candidate], every: Sequence[Mutant]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one, made in in_children([[each] for each in piece], lambda one, at: _killed(one, every, at), jobs=1):
        found |= {each.name: () for each in one} if isinstance(made, Ended) else made
    return found


def forks() -> bool:
    """Return whether this system can fork, which pieces are run by."""
    return "fork" in multiprocessing.get_all_start_methods()
