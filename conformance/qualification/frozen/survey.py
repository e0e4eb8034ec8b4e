"""What the unchanged judge says of each frozen observation, and which lines of its code that comes to."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.source.judge_family import JUDGE
from conformance.qualification.auto.source.reach import Lines, lines_below, traced
from conformance.qualification.auto.source.shadow import source_of
from conformance.qualification.drawn_cases import folder, found, keep
from conformance.qualification.frozen.observation import Frozen
from conformance.qualification.frozen.verdicts import Judge, Said, changed_judge
from conformance.qualification.mutant_module import MutantError

PIECE: Final = 300
"""Observations that one process surveys."""

LONGEST: Final = 120.0
"""Seconds of the processor that an observation may take while the lines that it comes to are counted."""

_CACHE: Final = type(functools.cache(len))


class Surveyed(msgspec.Struct, frozen=True):
    """What is known of some observations in a row: verdicts, seconds, and the lines of each module by observation."""

    said: list[Said]
    seconds: list[float]
    lines: dict[str, dict[int, str]]


@dataclass(frozen=True)
class Ground:
    """Observations with what the unchanged judge says of them; those that show nothing are not among ``shown``.

    ``control`` says what of the unchanged judge is not as it should be: a right answer that breaks a *must*, or none.
    """

    observations: Sequence[Frozen]
    said: Sequence[Said]
    seconds: Sequence[float]
    lines: Lines
    shown: int
    control: str = ""


def surveyed(observations: Sequence[Frozen], tell: Callable[[str], None], *, jobs: int = 0) -> Ground:
    """Return the ground that changed judges stand on; raise ``MutantError`` where the unchanged one ends or hangs."""
    digest = _sources(observations)
    parts = [(at, min(at + PIECE, len(observations))) for at in range(0, len(observations), PIECE)]
    known = {part: found(f"judge-{digest}-{part[0]}", Surveyed) for part in parts}
    left = [part for part in parts if known[part] is None]
    if left:
        tell(f"judge: the unchanged code, {len(left)} pieces")
    run = partial(_survey, observations)
    for part, made in in_children(left, run, jobs=jobs, cpu=LONGEST):
        if isinstance(made, Ended):
            each = observations[part[0] + max(made.at, 0)]
            raise MutantError(f"the unchanged judge {made.how} on what {each.by} answered about {each.name}")
        keep(f"judge-{digest}-{part[0]}", made)
        known[part] = made
    said: list[Said] = []
    seconds: list[float] = []
    lines: Lines = {}
    for (start, _), piece in known.items():
        assert piece is not None
        said += piece.said
        seconds += piece.seconds
        for module, at in piece.lines.items():
            own = lines.setdefault(module, {})
            for line, bits in at.items():
                own[line] = own.get(line, 0) | int(bits, 16) << start
    return _ground(observations, said, seconds, lines)


def _ground(observations: Sequence[Frozen], said: Sequence[Said], seconds: Sequence[float], lines: Lines) -> Ground:
    shown, control = 0, ""
    for number, (each, verdict) in enumerate(zip(observations, said, strict=True)):
        if each.right and each.by == "Reference" and verdict.outcome not in ("passed", "unsupported"):
            control = control or f"{verdict.blame} on {each.name}, which the reference answers"
        if each.right or verdict.broken:
            shown |= 1 << number
    return Ground(observations, said, seconds, lines, shown, control)


def _survey(observations: Sequence[Frozen], part: tuple[int, int], at: At) -> Surveyed:
    said: list[Said] = []
    seconds: list[float] = []
    files = {spec_of(module): module for module in JUDGE.changed}
    started: list[Judge] = []

    def run(number: int) -> None:
        at.come_to(number - part[0])
        for cache in caches:
            cache.cache_clear()
        began = time.process_time()
        said.append(started[0].say(observations[number], anew=True))
        seconds.append(time.process_time() - began)

    caches: list[functools._lru_cache_wrapper[object]] = []
    before = traced([(0, lambda: _entered(started))], files)
    caches += [each for each in gc.get_objects() if type(each) is _CACHE and _ours(each)]
    lines = traced([(number - part[0], partial(run, number)) for number in range(*part)], files)
    every = (1 << (part[1] - part[0])) - 1
    for module, seen in before.items():
        lines[module] |= dict.fromkeys(seen.keys() & lines_below(source_of(module)), every)
    return Surveyed(said, seconds, {m: {line: hex(bits) for line, bits in own.items()} for m, own in lines.items()})


def _entered(started: list[Judge]) -> None:
    # A process of its own never leaves it: what imports late finds the same modules.
    entered = changed_judge(None)
    judge, _ = entered.__enter__()
    _KEPT.append(entered)
    started[:] = [judge]


_KEPT: Final[list[object]] = []


def _ours(cache: object) -> bool:
    return str(getattr(cache, "__module__", "")).startswith(JUDGE.packages)


def spec_of(module: str) -> str:
    """Return the file of a module."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


def _sources(observations: Sequence[Frozen]) -> str:
    total = hashlib.sha256()
    for module in JUDGE.changed:
        total.update(source_of(module).encode())
    total.update(str(len(observations)).encode())
    total.update("\0".join(f"{each.by} {each.name}" for each in observations).encode())
    return f"{folder().name}-{total.hexdigest()[:12]}"
