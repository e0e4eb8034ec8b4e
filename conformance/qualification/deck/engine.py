"""Changed engines on the deck: mutants that nobody wrote, of the native engine, on what was chosen without them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from conformance.backends.discovery import BackendSpec
from conformance.qualification.auto.corpus import AutoMutant, corpus
from conformance.qualification.auto.running.differences import Unchanged, asked, failing, held
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.running.survey import Ground, ground
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.families import ENGINE
from conformance.qualification.auto.source.shadow import changed_backend
from conformance.qualification.deck.candidate import Candidate, keep, kept
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.other_cases import OtherCase
from conformance.runner.worker.in_process import InProcess

CHANGES: Final = 60
"""Changes of the engine's code."""

SEED: Final = 7

SECONDS: Final = 20.0
"""Seconds of a processor that a changed engine is given; a case takes 12 ms, and 300 ms with kernels to build."""

CASES: Final = 600
"""Cases of the deck that changed engines are asked about, the first in its order: to trace all takes half an hour."""

FAMILY: Final = "engine"


@cache
def engine_mutants() -> tuple[Mutant, ...]:
    """Return the changed engines as mutants of a family of their own; what they fail is known by ``engine_kills``."""
    return tuple(Mutant(each.name, FAMILY, "engine", False, lambda one: False) for each in changed_engines())


@cache
def changed_engines(count: int = CHANGES, seed: int = SEED) -> tuple[AutoMutant, ...]:
    """Return so many changes of the engine's code."""
    return corpus(3 * count, seed, ("engine",))


def engine_kills(
    folder: Path, deck: Sequence[Candidate], jobs: int, tell: Callable[[str], None], most: int = CHANGES
) -> dict[str, tuple[str, ...]]:
    """Return by the names of cases the changed engines that fail them, of at most so many; each engine is kept on disk.

    Raise ``MutantError`` where the unchanged engine does not start here.
    """
    cases = tuple(OtherCase(each.suite, each.op, at, each.name, each.case) for at, each in enumerate(deck[:CASES]))
    name = _digest(cases)
    wanted = changed_engines()[:most]
    known = {each.name: folder / f"{each.name}-{name}.zlib" for each in wanted}
    left = [each for each in wanted if not known[each.name].exists()]
    for done, (mutant, failed) in enumerate(failed_cases(left, cases, jobs)):
        keep(known[mutant.name], failed)
        tell(f"engine: {done + 1} of {len(left)} changes")
    found: dict[str, list[str]] = {}
    for mutant_name, path in known.items():
        for case in kept(path, list[str]):
            found.setdefault(case, []).append(mutant_name)
    return {case: tuple(several) for case, several in found.items()}


def failed_cases(
    mutants: Sequence[AutoMutant], cases: tuple[OtherCase, ...], jobs: int = 0
) -> Iterator[tuple[AutoMutant, list[str]]]:
    """Yield each changed engine with the names of the cases that it fails, as it ends.

    Raise ``MutantError`` where the unchanged engine does not start here.
    """
    if not mutants:
        return
    base, control = ground(ENGINE, cases, f"deck-{_digest(cases)}", jobs=jobs), Unchanged(ENGINE.backend)
    run = partial(_killed, base, control)
    for mutant, made in in_children(mutants, run, jobs=jobs, cpu=ENGINE.cpu):
        # In which case a process ended nobody can be asked again.
        yield mutant, [] if isinstance(made, Ended) else made


def _digest(cases: Sequence[OtherCase]) -> str:
    return hashlib.sha256("\0".join(each.name for each in cases).encode()).hexdigest()[:12]


def _killed(base: Ground, control: Unchanged, mutant: AutoMutant, at: At) -> list[str]:
    """Return the cases that a changed engine fails twice, and the unchanged one does not."""
    change = mutant.made
    if not isinstance(change, Change):
        raise MutantError(f"{mutant.name} changes no code of the engine")
    worker = InProcess(BackendSpec("mutant", ()), backend=held(changed_backend(ENGINE, change)()))
    began, found = time.process_time(), list[str]()
    for number in base.reaching(change):
        each = base.drawn[number]
        if time.process_time() - began > SECONDS:
            break
        at.come_to(number)
        answer = asked(worker, each)
        if answer in (base.survey.answers.get(each.name), control.answer(each)):
            continue
        if failing(worker, each) and failing(worker, each) and not control.breaks(each):
            found.append(each.name)
    return found
