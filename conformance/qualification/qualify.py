"""The suite itself, judged: backends that are broken on purpose must fail, each by the clause it was made to break."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Final

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case, case_id, digest
from conformance.judging.clause import Subject
from conformance.judging.verdict import Verdict
from conformance.qualification.kill import Mutant
from conformance.qualification.mutant_module import MutantError, spec_of
from conformance.qualification.mutants.corpus import Report
from conformance.qualification.qualify_schedules import judged_engines, judged_violations, schedules
from conformance.qualification.violations import Violation
from conformance.runner.answers import Answer, Broken, StartError
from conformance.runner.draws import draw_cases
from conformance.runner.in_process import InProcess
from conformance.runner.judgeable import Judgeable
from conformance.runner.lane import outside
from conformance.runner.meaning import meaning, verdict
from conformance.runner.plan import Plan
from conformance.runner.workers import Worker
from conformance.specs import OPS, every_clause


class Qualification(msgspec.Struct, frozen=True, kw_only=True):
    """The kill matrix. ``survivors`` are the names of mutants not killed.

    ``uncovered`` are public reports that no mutant stands for, where the suite's own mutants were judged.
    """

    mutants: tuple[Mutant, ...]
    survivors: tuple[str, ...]
    uncovered: tuple[Report, ...] = ()
    seed: int
    examples: int


def qualify(
    mutants: Sequence[type[Backend]],
    *,
    examples: int = 300,
    seed: int = 0,
    in_process: bool = True,
    violated: Sequence[Violation] = (),
    watch: Callable[[Mutant], None] | None = None,
) -> Qualification:
    """Judge every mutant on ``examples`` drawn cases of each operation it changes, and return what was seen.

    A mutant sees cases in the order of their digests, operations in turn where it changes several, until it failed a
    *must* or *should* clause and broke the clause it was made for. ``watch`` sees each result as it is known. With
    ``in_process`` false each mutant runs in a process of its own, like any backend that is certified. A mutant that
    has a ``schedule`` of its own is judged by that, and each schedule that is ``violated`` is a row too.

    Raise ``MutantError`` when there is no mutant, one changes nothing, cannot start, or says that it breaks
    an unknown clause, and when the unchanged reference fails, for then no failure means anything.
    """
    if not mutants:
        raise MutantError("there are no mutants to judge the suite by")
    engines = [mutant for mutant in mutants if schedules(mutant)]
    plans = [(mutant, _changed(mutant)) for mutant in mutants if mutant not in engines]
    subjects = {op: _drawn(op, examples, seed) for op in sorted({op for _, ops in plans for op in ops})}
    if plans:
        _expect_reference_passes(subjects)
    results: list[Mutant] = []
    for mutant, ops in plans:
        cases = [subject for subject in chain.from_iterable(zip_longest(*(subjects[op] for op in ops))) if subject]
        results.append(_judged(mutant, cases, in_process=in_process))
        if watch is not None:
            watch(results[-1])
    for result in chain(judged_violations(violated), judged_engines(engines, examples, seed, in_process=in_process)):
        results.append(result)
        if watch is not None:
            watch(result)
    survivors = tuple(result.name for result in results if not result.killed)
    return Qualification(mutants=tuple(results), survivors=survivors, seed=seed, examples=examples)


_ABOUT: Final = frozenset(
    {"breaks", "corpus", "outcome", "ops", "name", "describe", "claims", "guarantees", "follows", "number_model"}
)
"""What a mutant may say of itself without doing anything differently."""


def _changed(mutant: type[Backend]) -> tuple[str, ...]:
    """Return the operations a mutant changes: its ``ops``, else those it has methods for, else all."""
    bases = mutant.__mro__[: next(i for i, base in enumerate(mutant.__mro__) if base in (Reference, Backend))]
    own = {name for base in bases for name in vars(base) if name == "__getattr__" or not name.startswith("__")} - _ABOUT
    own.discard("_abc_impl")
    if not own:
        raise MutantError(f"mutant {mutant.__qualname__} changes nothing: it overrides no operation and no execute")
    breaks = getattr(mutant, "breaks", None)
    if breaks is not None and breaks not in every_clause():
        raise MutantError(f"mutant {mutant.__qualname__} is to break {breaks!r}, which is no clause")
    return getattr(mutant, "ops", None) or (tuple(sorted(own)) if own <= OPS.keys() else tuple(OPS))


def _drawn(op: str, examples: int, seed: int) -> list[Subject]:
    """Return the distinct cases of an operation, of all suites, in the order of their digests, and their meaning.

    As they are drawn the simplest come first, which of many domains show nothing: the median mutant then saw 58 cases
    before it failed, and 20 in an order that has nothing to do with it (seed 0).
    """
    drawn: list[Case] = []
    for draws in Plan(ops=(op,), examples=examples).draws():
        draw_cases(draws.domain, draws.examples, seed, drawn.append)
    found = {digest(case): case for case in drawn}
    return [meaning(found[name]) for name in sorted(found)]


def _expect_reference_passes(subjects: Mapping[str, Sequence[Subject]]) -> None:
    every = [subject for drawn in subjects.values() for subject in drawn]
    for subject, _, judged in _verdicts(InProcess(BackendSpec("reference", ()), backend=Reference()), every):
        if _fails(judged):
            assert judged.blame is not None
            raise MutantError(
                f"the unchanged reference fails {judged.blame.id} on {case_id(subject.case)}: {judged.detail}; "
                "qualification needs a correct reference"
            )


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

    @property
    def breaks(self) -> str | None:
        """Return the clause the mutant was made for, where it says so."""
        return getattr(self.mutant, "breaks", None)

    @property
    def killed(self) -> bool:
        """Return whether nothing more is to be learnt."""
        return self.killer is not None and (self.breaks is None or self.on_target)

    def look(self, subject: Subject, answer: Answer, judged: Verdict) -> None:
        """Take one more verdict into account."""
        broken = {name for name, held in judged.clauses.items() if held == "broken"}
        self.broken |= broken
        # Broken in another way than meant, for instance by a slip in the mutant itself, a clause proves nothing.
        meant = getattr(self.mutant, "outcome", "failed") == judged.outcome
        self.on_target = self.on_target or (meant and self.breaks in broken)
        self.differs = self.differs or bool(broken) or _differs(subject, answer)
        if self.killer is None:
            self.cases += 1
            self.seconds = time.perf_counter() - self.began
            self.killer = judged.blame.id if judged.blame is not None and _fails(judged) else None


def _judged(mutant: type[Backend], subjects: Sequence[Subject], *, in_process: bool) -> Mutant:
    seen = _Seen(mutant)
    with _worker(mutant, in_process=in_process) as worker:
        for subject, answer, judged in _verdicts(worker, subjects):
            seen.look(subject, answer, judged)
            if seen.killed:
                break
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


def _fails(judged: Verdict) -> bool:
    return judged.blame is not None and judged.blame.requirement != "may"


def _worker(mutant: type[Backend], *, in_process: bool) -> InProcess | Worker:
    if not in_process:
        return Worker(spec_of(mutant))
    try:
        backend = mutant()
    except Exception as error:
        raise MutantError(f"mutant {mutant.__qualname__} does not start: {type(error).__name__}: {error}") from error
    return InProcess(BackendSpec(mutant.__qualname__, ()), backend=backend)


def _verdicts(worker: InProcess | Worker, subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Answer, Verdict]]:
    """Yield the claimed cases in order with answer and verdict, one window at a time."""
    try:
        ready = worker.ready
    except StartError as error:
        raise MutantError(f"mutant {worker.spec.name} does not start: {error}") from error
    claimed = [s for s in subjects if outside(ready.claims, s) is None]
    window = worker.limits.window
    for start in range(0, len(claimed), window):
        batch = claimed[start : start + window]
        for subject, answer in zip(batch, _answers(worker, batch), strict=True):
            if isinstance(answer.result, Broken) and answer.result.outcome == "not_run":
                raise MutantError(f"mutant {worker.spec.name} did not run: {answer.result.detail}")
            yield subject, answer, verdict(subject, answer, ready.terms)


def _answers(worker: Judgeable, batch: Sequence[Subject]) -> list[Answer]:
    tickets = [worker.submit(subject.case) for subject in batch]
    answers: dict[int, Answer] = {}
    while len(answers) < len(tickets):
        answers |= dict(worker.poll(1.0))
    return [answers[ticket] for ticket in tickets]
