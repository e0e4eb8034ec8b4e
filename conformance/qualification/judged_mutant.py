"""One mutant on drawn cases, until nothing more is to be learnt of it."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec, DeclarationError
from conformance.backends.reference import Reference
from conformance.judging.clause import Subject
from conformance.judging.verdict import Verdict
from conformance.qualification.kill import Mutant
from conformance.qualification.mutant_module import MutantError, spec_of
from conformance.runner.answers import Answer, Broken, StartError
from conformance.runner.in_process import InProcess
from conformance.runner.judgeable import Judgeable
from conformance.runner.lane import outside
from conformance.runner.meaning import verdict
from conformance.runner.workers import Worker

ENOUGH: Final = 3
"""Cases that a mutant may hang or die in: each costs a process, or all the time that a case may take."""


def fails(judged: Verdict) -> bool:
    """Return whether a *must* or *should* is broken."""
    return judged.blame is not None and judged.blame.requirement != "may"


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

    def look(self, subject: Subject, answer: Answer, judged: Verdict) -> None:
        """Take one more verdict into account."""
        broken = {name for name, held in judged.clauses.items() if held == "broken"}
        self.broken |= broken
        self.deaths += isinstance(answer.result, Broken)
        # Broken in another way than meant, for instance by a slip in the mutant itself, a clause proves nothing.
        meant = getattr(self.mutant, "outcome", "failed") == judged.outcome
        self.on_target = self.on_target or (meant and self.breaks in broken)
        self.differs = self.differs or bool(broken) or _differs(subject, answer)
        if self.killer is None:
            self.cases += 1
            self.seconds = time.perf_counter() - self.began
            self.killer = judged.blame.id if judged.blame is not None and fails(judged) else None


def judged_mutant(mutant: type[Backend], subjects: Sequence[Subject], *, in_process: bool) -> Mutant:
    """Return the row of a mutant; raise ``MutantError`` when it does not start or run, or does what is right."""
    seen = _Seen(mutant)
    with _worker(mutant, in_process=in_process) as worker:
        for subject, answer, judged in verdicts(worker, subjects):
            seen.look(subject, answer, judged)
            if seen.killed or seen.deaths >= ENOUGH:
                break
    if not seen.cases:
        raise MutantError(f"mutant {mutant.__qualname__} claims none of the {len(subjects)} cases it could be given")
    if not seen.differs:
        raise MutantError(
            f"mutant {mutant.__qualname__} changes nothing: on {seen.cases} cases it did what the reference does; "
            "mend it, or draw more examples if it changes something rare"
        )
    return Mutant(
        name=mutant.__qualname__,
        breaks=seen.breaks,
        killed=seen.killed,
        clause=seen.killer,
        clauses=tuple(sorted(seen.broken)),
        cases=seen.cases,
        seconds=round(seen.seconds, 4),
        doc=" ".join((inspect.getdoc(mutant) or "").split()),
        corpus=tuple(getattr(mutant, "corpus", ())),
    )


def _differs(subject: Subject, answer: Answer) -> bool:
    """Return whether an observation, whose clauses all hold, is not what the reference does; words do not count."""
    if isinstance(answer.result, Broken):
        return True
    seen, right = answer.result, Reference().execute(subject.case)
    errors = [[error and error.category for error in one.errors] for one in (seen, right)]
    return (seen.results, seen.touched, errors[0]) != (right.results, right.touched, errors[1])


def _worker(mutant: type[Backend], *, in_process: bool) -> InProcess | Worker:
    if not in_process:
        return Worker(spec_of(mutant))
    try:
        backend = mutant()
    except (Exception, SystemExit) as error:
        raise MutantError(f"mutant {mutant.__qualname__} does not start: {type(error).__name__}: {error}") from error
    return InProcess(BackendSpec(mutant.__qualname__, ()), backend=backend)


def verdicts(worker: InProcess | Worker, subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Answer, Verdict]]:
    """Yield the claimed cases in order with answer and verdict, one window at a time."""
    try:
        ready = worker.ready
    except (StartError, DeclarationError) as error:
        raise MutantError(f"mutant {worker.spec.name} does not start: {error}") from error
    claimed = [s for s in subjects if outside(ready.claims, s) is None]
    for start in range(0, len(claimed), worker.limits.window):
        batch = claimed[start : start + worker.limits.window]
        for subject, answer in zip(batch, _answers(worker, batch), strict=True):
            if isinstance(answer.result, Broken) and answer.result.outcome == "not_run":
                raise MutantError(f"mutant {worker.spec.name} did not run: {answer.result.detail}")
            yield subject, answer, verdict(subject, answer, ready.terms)


def _answers(worker: Judgeable, batch: Sequence[Subject]) -> Iterator[Answer]:
    """Yield the answers in order, each as soon as it is there: who hangs need not be waited for to the end."""
    tickets = [worker.submit(subject.case) for subject in batch]
    answers: dict[int, Answer] = {}
    for ticket in tickets:
        while ticket not in answers:
            answers |= dict(worker.poll(1.0))
        yield answers.pop(ticket)
