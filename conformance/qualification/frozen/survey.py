"""What the unchanged judge says of each frozen observation, and which of its changes that comes to."""

from __future__ import annotations

import functools
import gc
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.judge_family import JUDGE
from conformance.qualification.auto.source.shadow import source_of
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.frozen.verdicts import FrozenVerdict, announcing_judge
from conformance.qualification.kept import folder, found, keep
from conformance.qualification.mutant_module import MutantError

PIECE: Final = 1_000
"""Observations that one process surveys."""

LONGEST: Final = 60.0
"""Seconds of the processor that an observation may take; the longest takes two."""

_CACHE: Final = type(functools.cache(len))


class Surveyed(msgspec.Struct, frozen=True):
    """What is known of some observations in a row: verdicts, seconds, and by change those that come to it, as bits."""

    said: list[FrozenVerdict]
    seconds: list[float]
    came: dict[str, str]


@dataclass(frozen=True)
class Ground:
    """Observations with what the unchanged judge says of them; those that show nothing are not among ``shown``.

    ``came`` are, by the digest of a change, the observations that come to it, as bits. ``control`` says what of the
    unchanged judge is not as it should be: a right answer that breaks a *must*, or none.
    """

    observations: Sequence[FrozenObservation]
    said: Sequence[FrozenVerdict]
    seconds: Sequence[float]
    came: Mapping[str, int]
    shown: int
    control: str = ""


def surveyed(
    observations: Sequence[FrozenObservation], changes: Sequence[Change], tell: Callable[[str], None], *, jobs: int = 0
) -> Ground:
    """Return the ground that changed judges stand on; raise ``MutantError`` where the unchanged one ends or hangs."""
    digest = _sources(observations, changes)
    parts = [(at, min(at + PIECE, len(observations))) for at in range(0, len(observations), PIECE)]
    known = {part: found(f"judge-{digest}-{part[0]}", Surveyed) for part in parts}
    left = [part for part in parts if known[part] is None]
    if left:
        tell(f"judge: the unchanged code on {len(observations)} observations, {len(left)} pieces")
    run = partial(_survey, observations, changes)
    for part, made in in_children(left, run, jobs=jobs, cpu=LONGEST):
        if isinstance(made, Ended):
            each = observations[part[0] + max(made.at, 0)]
            raise MutantError(f"the unchanged judge {made.how} on what {each.by} answered about {each.name}")
        keep(f"judge-{digest}-{part[0]}", made)
        known[part] = made
    said: list[FrozenVerdict] = []
    seconds: list[float] = []
    came: dict[str, int] = {}
    for (start, _), piece in known.items():
        assert piece is not None
        said += piece.said
        seconds += piece.seconds
        for change, bits in piece.came.items():
            came[change] = came.get(change, 0) | int(bits, 16) << start
    return _ground(observations, said, seconds, came)


def _ground(
    observations: Sequence[FrozenObservation],
    said: Sequence[FrozenVerdict],
    seconds: Sequence[float],
    came: Mapping[str, int],
) -> Ground:
    shown, control, listed = 0, "", []
    for number, (each, verdict) in enumerate(zip(observations, said, strict=True)):
        if each.by == "Reference" and not each.altered and verdict.outcome not in ("passed", "unsupported"):
            control = control or f"{verdict.blame} on {each.name}, which the reference answers"
        listed.append(replace(each, right=not verdict.broken) if each.altered else each)
        if listed[-1].right or verdict.broken:
            shown |= 1 << number
    return Ground(listed, said, seconds, came, shown, control)


def _survey(
    observations: Sequence[FrozenObservation], changes: Sequence[Change], part: tuple[int, int], at: At
) -> Surveyed:
    """Judge a part of the observations; what is found out of a case at first, all that are about it come to."""
    said: list[FrozenVerdict] = []
    seconds: list[float] = []
    came: dict[str, int] = {}
    with announcing_judge(changes) as (judge, now):
        caches = [each for each in gc.get_objects() if type(each) is _CACHE and _ours(each)]
        name, first = "", set[str]()
        for number in range(*part):
            at.come_to(number - part[0])
            anew = observations[number].name != name
            if anew:
                for cache in caches:
                    cache.cache_clear()
            now.clear()
            began = time.process_time()
            said.append(judge.say(observations[number], anew=anew))
            seconds.append(time.process_time() - began)
            if anew:
                name, first = observations[number].name, set(now)
            for change in now | first:
                came[change] = came.get(change, 0) | 1 << number - part[0]
    return Surveyed(said, seconds, {change: hex(bits) for change, bits in came.items()})


def _ours(cache: object) -> bool:
    return str(getattr(cache, "__module__", "")).startswith(JUDGE.packages)


def _sources(observations: Sequence[FrozenObservation], changes: Sequence[Change]) -> str:
    total = hashlib.sha256()
    for module in JUDGE.changed:
        total.update(source_of(module).encode())
    total.update("\0".join(change.digest for change in changes).encode())
    total.update("\0".join(f"{each.by} {each.name} {each.altered}" for each in observations).encode())
    return f"{folder().name}-{total.hexdigest()[:12]}"
