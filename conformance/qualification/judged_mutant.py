"""One mutant on drawn cases, until nothing more is to be learnt of it."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Final

import msgspec

from conformance.backends.base import Backend
from conformance.backends.claim_limits import outside
from conformance.backends.discovery import BackendSpec, DeclarationError
from conformance.backends.reference import Reference
from conformance.cases.case import case_id, digest
from conformance.cases.declarations.terms import Terms
from conformance.judging.numbers.admissible import admissible
from conformance.judging.subject import Subject
from conformance.judging.verdict import Verdict
from conformance.qualification.kill import Mutant
from conformance.qualification.mutant_module import MutantError, NotReached, spec_of
from conformance.runner.meaning import verdict
from conformance.runner.worker.answers import Answer, Broken, StartError
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.workers import Worker
from conformance.specs import OPS, clauses_of, every_clause

ENOUGH: Final = 3
"""Cases that a mutant may hang or die in: each costs a process, or all the time that a case may take."""


BATCH: Final = 16
"""Cases that are executed before the first of them is judged: half of the mutants have failed by then."""


@cache
def tells_little(clause: str | None) -> bool:
    """Return whether a clause is about values and every operation has it: wrong values break all such at once."""
    held = every_clause().get(clause or "")
    return held is not None and held.check is admissible and all(held in clauses_of(op) for op in OPS)


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

    def look(self, subject: Subject, answer: Answer, judged: Verdict, *, same: bool) -> None:
        """Take one more verdict into account; ``same`` says that the control answers the same."""
        broken = {name for name, held in judged.clauses.items() if held == "broken"}
        self.broken |= broken
        self.deaths += isinstance(answer.result, Broken)
        # Broken in another way than meant, for instance by a slip in the mutant itself, a clause proves nothing.
        meant = getattr(self.mutant, "outcome", "failed") == judged.outcome
        self.on_target = self.on_target or (meant and self.breaks in broken)
        self.differs = self.differs or bool(broken) or (not same and _differs(subject, answer))
        if self.killer is None:
            self.cases += 1
            self.seconds = time.perf_counter() - self.began
            self.killer = judged.blame.id if judged.blame is not None and fails(judged) else None


def judged_mutant(
    mutant: type[Backend], subjects: Iterable[Subject], *, control: Control | None, in_process: bool
) -> Mutant:
    """Return the row of a mutant; raise ``MutantError`` when it does not start or run.

    Raise ``NotReached`` where it does what is right on all cases. No more ``subjects`` are taken than are needed. Where
    it answers as its ``control`` does it is judged as that was; raise ``MutantError`` as soon as that fails.
    """
    seen = _Seen(mutant)
    with _worker(mutant, in_process=in_process) as worker:
        for subject, answer, terms in _answered(worker, subjects):
            shared = control.verdict_of(subject, answer, terms) if control is not None else None
            seen.look(subject, answer, shared or verdict(subject, answer, terms), same=shared is not None)
            if seen.killed or seen.deaths >= ENOUGH:
                break
    if not seen.cases:
        raise NotReached(f"not reached: no case is within the claims of {mutant.__qualname__}, a hole of the domain")
    if not seen.differs:
        raise NotReached(
            f"not reached: {mutant.__qualname__} did on {seen.cases} cases what the reference does; a case that it "
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
    )


class Control:
    """The unbroken class that mutants derive from, run and judged once on each case that one of them sees."""

    def __init__(self, backend: type[Backend]) -> None:
        """Start it when the first case comes."""
        self._backend = backend
        self._worker: InProcess | None = None
        self._known: dict[str, tuple[bytes, Verdict]] = {}

    def verdict_of(self, subject: Subject, answer: Answer, terms: Terms) -> Verdict | None:
        """Return the verdict on the control where it answers the same in these terms, else ``None``.

        Raise ``MutantError`` when it fails: no failure of its mutants would mean anything.
        """
        ready = self._started().ready
        if outside(ready.claims, subject.features.by_op) is not None:
            return None
        name = digest(subject.case)
        if name not in self._known:
            self._known[name] = self._judged(subject, ready.terms)
        content, judged = self._known[name]
        return judged if terms == ready.terms and content == _content(answer) else None

    def _judged(self, subject: Subject, terms: Terms) -> tuple[bytes, Verdict]:
        answer = self._started().ask(subject.case)
        judged = verdict(subject, answer, terms)
        if fails(judged):
            assert judged.blame is not None
            raise MutantError(
                f"the unchanged {self._backend.__qualname__} fails {judged.blame.id} on {case_id(subject.case)}: "
                f"{judged.detail}; a family of mutants needs a control that passes"
            )
        return _content(answer), judged

    def _started(self) -> InProcess:
        name = self._backend.__qualname__
        if self._worker is None:
            try:
                self._worker = InProcess(BackendSpec(name, ()), backend=self._backend())
                self._worker.ready  # noqa: B018 - asks the backend what it is
            except Exception as error:
                raise MutantError(f"the unchanged {name} does not start: {type(error).__name__}: {error}") from error
        return self._worker


def _content(answer: Answer) -> bytes:
    """Return a digest of all that is judged of an answer."""
    if isinstance(answer.result, Broken):
        return b""
    plain = msgspec.structs.replace(answer.result, seconds=0.0)
    return hashlib.blake2b(msgspec.msgpack.encode(plain)).digest()


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


def _answered(worker: InProcess | Worker, subjects: Iterable[Subject]) -> Iterator[tuple[Subject, Answer, Terms]]:
    """Yield the claimed cases in order with their answers and the terms they are judged in, one batch at a time."""
    try:
        ready = worker.ready
    except (StartError, DeclarationError) as error:
        raise MutantError(f"mutant {worker.spec.name} does not start: {error}") from error
    claimed = (subject for subject in subjects if outside(ready.claims, subject.features.by_op) is None)
    while batch := list(islice(claimed, BATCH)):
        for subject, answer in zip(batch, _answers(worker, batch), strict=True):
            if isinstance(answer.result, Broken) and answer.result.outcome == "not_run":
                raise MutantError(f"mutant {worker.spec.name} did not run: {answer.result.detail}")
            yield subject, answer, ready.terms


def _answers(worker: Judgeable, batch: Sequence[Subject]) -> Iterator[Answer]:
    """Yield the answers in order, each as soon as it is there: who hangs need not be waited for to the end."""
    tickets = [worker.submit(subject.case) for subject in batch]
    answers: dict[int, Answer] = {}
    for ticket in tickets:
        while ticket not in answers:
            answers |= dict(worker.poll(1.0))
        yield answers.pop(ticket)
