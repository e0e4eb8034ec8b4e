"""Frozen observations, made once, and kept on disk piece by piece."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import conformance
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.deck.candidate import CampaignError, keep, kept
from conformance.qualification.frozen.answered import ANSWERED
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.frozen.recorded import RECORDED
from conformance.qualification.frozen.scheduled import SCHEDULED
from conformance.qualification.kept import folder
from conformance.qualification.mutant_module import MutantError

_ALL: Final = (
    *("backends/reference", "reference", "cases", "vectors", "qualification/variants"),
    *(
        f"qualification/frozen/{name}.py"
        for name in ("altered", "altered_elements", "neighbours", "structure", "untold")
    ),
)
_ANSWERS: Final = (
    *(
        "qualification/auto/conditional",
        *(f"qualification/{kind}mutants" for kind in ("", "graph_", "sharded_", "typed_")),
    ),
    *(
        f"qualification/frozen/{name}.py"
        for name in ("answered", "asked", "declared", "followed", "near", "other_inputs")
    ),
)
_SCHEDULES: Final = (
    *("qualification/schedule_mutants", "qualification/legal_schedules", "qualification/violations"),
    "qualification/frozen/scheduled.py",
)

_RECORDED: Final = (*_ANSWERS, "qualification/frozen/recorded.py", "qualification/frozen/recorded.zlib")

MAKERS: Final = {
    **dict.fromkeys(ANSWERED, (*_ALL, *_ANSWERS)),
    **dict.fromkeys(SCHEDULED, (*_ALL, *_SCHEDULES)),
    **dict.fromkeys(RECORDED, (*_ALL, *_RECORDED)),
}
"""What observations are made by, by their kind: where nothing of it changed, those that are on disk are taken."""

MAKING: Final = 300.0
"""Seconds of the processor that one answer may take; mutants that hang are ended by their own limits."""

KINDS: Final = {**ANSWERED, **SCHEDULED, **RECORDED}


@dataclass(frozen=True)
class Piece:
    """A piece of the observations of one of ``KINDS``: which part of them."""

    kind: str
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"{self.kind}-{self.start}-{self.stop}"


def frozen_observations(tell: Callable[[str], None], *, jobs: int = 0) -> tuple[FrozenObservation, ...]:
    """Return all frozen observations, made where they are not on disk; raise ``MutantError`` where a file is cut."""
    pieces = tuple(_pieces())
    digests = {makers: _digest(makers) for makers in set(MAKERS.values())}
    files = {
        piece: folder().parent / f"observations-{digests[MAKERS[piece.kind]]}" / f"{piece.name}.zlib"
        for piece in pieces
    }
    left = [piece for piece in pieces if not files[piece].exists()]
    if left:
        tell(f"judge: asking for observations, {len(left)} pieces")
    for piece, made in in_children(left, _made, jobs=jobs, cpu=MAKING):
        if isinstance(made, Ended):
            raise MutantError(f"the piece {piece.name} of the observations {made.how}; make them again")
        keep(files[piece], made)
    found: list[FrozenObservation] = []
    for piece in pieces:
        try:
            found += kept(files[piece], list[FrozenObservation])
        except CampaignError as error:
            raise MutantError(f"observations: {error}") from error
    # Side by side, so that what a case means is found out once.
    return tuple(sorted(found, key=lambda each: each.name))


def _pieces() -> Iterator[Piece]:
    for name, kind in KINDS.items():
        count = kind.count()
        for start in range(0, count, kind.size):
            yield Piece(name, start, min(start + kind.size, count))


def _digest(makers: tuple[str, ...]) -> str:
    """Return what tells the observations that these make from those of other versions."""
    root, total = Path(conformance.__file__).parent, hashlib.sha256()
    for part in makers:
        listed = sorted((root / part).rglob("*")) if (root / part).is_dir() else [root / part]
        for path in (path for path in listed if path.suffix in (".py", ".gz", ".zlib")):
            total.update(path.read_bytes())
    return total.hexdigest()[:16]


def _made(piece: Piece, at: At) -> list[FrozenObservation]:
    return list(KINDS[piece.kind].make(slice(piece.start, piece.stop), at))
