"""One mutant on drawn cases, until nothing more is to be learnt of it."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import Final, get_args

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec, DeclarationError
from conformance.backends.protocol import Ready
from conformance.judging.numbers.admissible import admissible
from conformance.qualification.asking import Answered, Control, beside, fails
from conformance.qualification.kill import Mutant
from conformance.qualification.mutant_module import MutantError, NotReached, spec_of
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of
from conformance.runner.worker.answers import BrokenOutcome, StartError
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker
from conformance.specs import OPS, clauses_of, every_clause

ENOUGH: Final = 3
"""Cases that a mutant may hang or die in: each costs a process, or all the time that a case may take."""


@cache
def tells_little(clause: str | None) -> bool:
    """Return whether a clause is about values and every operation has it: wrong values break all such at once."""
    held = every_clause().get(clause or "")
    return held is not None and held.check is admissible and all(held in clauses_of(op) for op in OPS)


@dataclass
class _Seen:
    """What is known of a mutant so far; ``killer`` is the clause of its first failure, ``seconds`` after ``began``."""

    mutant: type[Backend]
    began: float = field(default_factory=time.perf_counter)
    broken: set[str] = field(default_factory=set)
    cases: int = 0
    seconds: float = 0.0
    killer: str | None = None
    on_target: bool = False
    differs: bool = False
    deaths: int = 0

    @property
    def breaks(self) -> str | None:
        """Return the clause the mutant was made for, where it says so."""
        return getattr(self.mutant, "breaks", None)

    @property
    def killed(self) -> bool:
        """Return whether it failed, and by the clause it was made for where it names one."""
        return self.killer is not None and (self.breaks is None or self.on_target)

    def look(self, found: Answered, *, same: bool, excused: AbstractSet[str]) -> None:
        """Take one more verdict into account.

        ``same`` says that the control answers the same, and ``excused`` are the clauses that it breaks itself.
        """
        judged, broken = found.verdict, found.broken - excused
        self.broken |= broken
        # Broken in another way than meant, for instance by a slip in the mutant itself, a clause proves nothing.
        meant = getattr(self.mutant, "outcome", "failed") == judged.outcome
        # To raise where that is meant costs no process.
        self.deaths += judged.outcome in get_args(BrokenOutcome) and not (meant and judged.outcome == "errored")
        self.on_target = self.on_target or (meant and self.breaks in broken)
        self.differs = self.differs or bool(broken) or not same
        if self.killer is None:
            self.cases += 1
            self.seconds = time.perf_counter() - self.began
            if judged.blame is not None and fails(judged) and broken:
                self.killer = judged.blame.id if judged.blame.id in broken else min(broken)


def judged_mutant(mutant: type[Backend], trials: Iterable[Trial], control: Control, *, in_process: bool) -> Mutant:
    """Return the row of a mutant; raise ``MutantError`` when it does not start or run.

    Raise ``NotReached`` where it answers as its ``control`` on all cases. No more ``trials`` are taken than are needed.
    Where it answers as the control does it is judged as that was; raise ``MutantError`` as soon as that fails a
    *must*.
    """
    seen = _Seen(mutant)
    with _worker(mutant, in_process=in_process) as worker:
        ready = _ready(worker)
        terms = ready.terms
        for one in trials:
            if one.outside(ready.claims) is not None:
                continue
            excused = _excused(control, one)
            found, same = beside(one, worker.ask, terms, control)
            if found.verdict.outcome == "not_run":
                raise MutantError(f"mutant {worker.spec.name} did not run: {found.verdict.detail}")
            seen.look(found, same=same, excused=excused)
            if seen.killed or seen.deaths >= ENOUGH:
                break
    if not seen.cases:
        raise NotReached(f"not reached: no case is within the claims of {mutant.__qualname__}, a hole of the domain")
    if not seen.differs:
        raise NotReached(
            f"not reached: {mutant.__qualname__} did on {seen.cases} cases what {control.name} does; a case that it "
            "does otherwise was not drawn, a hole of the domain"
        )
    return Mutant(
        name=mutant.__qualname__,
        breaks=seen.breaks,
        killed=seen.killed,
        exact=seen.on_target and not tells_little(seen.breaks),
        clause=seen.killer,
        clauses=tuple(sorted(seen.broken)),
        cases=seen.cases,
        seconds=round(seen.seconds, 4),
        doc=" ".join((inspect.getdoc(mutant) or "").split()),
        corpus=tuple(getattr(mutant, "corpus", ())),
        control=control.name,
    )


def _excused(control: Control, one: Trial) -> frozenset[str]:
    """Return the clauses that the control breaks; raise ``MutantError`` where it fails a *must*.

    Then no failure of its mutants would mean anything.
    """
    known = control.answered(one)
    if known is None:
        return frozenset()
    blame = known.verdict.blame
    if blame is not None and blame.requirement == "must":
        raise MutantError(
            f"the unchanged {control.name} fails {blame.id} on {name_of(one.case)}: {known.verdict.detail}; a family "
            "of mutants needs a control that passes"
        )
    return known.broken


def _worker(mutant: type[Backend], *, in_process: bool) -> AbstractContextManager[InProcess | Worker]:
    if not in_process:
        return Worker(spec_of(mutant))
    try:
        backend = mutant()
    except (Exception, SystemExit) as error:
        raise MutantError(f"mutant {mutant.__qualname__} does not start: {type(error).__name__}: {error}") from error
    return InProcess(BackendSpec(mutant.__qualname__, ()), backend=backend)


def _ready(worker: InProcess | Worker) -> Ready:
    try:
        return worker.ready
    except (StartError, DeclarationError) as error:
        raise MutantError(f"mutant {worker.spec.name} does not start: {error}") from error
