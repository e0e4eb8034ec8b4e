"""One mutant on the cases that may show it: compared with what is right, bit for bit, and judged where it differs."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.cases.schedule.question import ScheduleCase
from conformance.judging.verdict import Verdict
from conformance.qualification.auto.running.answers import told
from conformance.qualification.auto.running.planning import unbuilt
from conformance.qualification.auto.running.pool import At
from conformance.qualification.drawn_cases import Drawn
from conformance.qualification.other_cases import AnyDrawn
from conformance.runner.dialects import dialect_of
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Question
from conformance.runner.worker.in_process import InProcess


class Kill(msgspec.Struct, frozen=True):
    """The first case of a suite and an operation that a mutant fails: how many were drawn there before, and the clause.

    ``clause`` is how the mutant ended where it gave no answer.
    """

    suite: str
    op: str
    index: int
    clause: str
    requirement: str


class Seen(msgspec.Struct, frozen=True):
    """What a mutant did: its kills, in the order in which they were come to, and how many cases it was given.

    ``differs`` says that some answer was another than the unchanged code's, and not because of what only *may* clauses
    say otherwise of: those are ``permitted``. Where it was not always a schedule, ``values`` says so too. ``applied``
    says that a fault changed something, or that changed code was come to, ``cut`` that it had no time left, and
    ``control`` which clause the unchanged code breaks on a case that it fails.
    """

    kills: tuple[Kill, ...] = ()
    cases: int = 0
    differs: bool = False
    values: bool = False
    applied: bool = True
    cut: bool = False
    control: str = ""
    permitted: tuple[str, ...] = ()

    def before(self, later: Seen) -> Seen:
        """Return both as one, ``later`` being the cases after these."""
        return Seen(
            (*self.kills, *later.kills),
            self.cases + later.cases,
            self.differs or later.differs,
            self.values or later.values,
            self.applied or later.applied,
            later.cut,
            self.control or later.control,
            tuple(sorted({*self.permitted, *later.permitted})),
        )


@dataclass(frozen=True)
class Work:
    """A mutant to be run: how to make it, and the numbers of the cases that may show it, in order.

    No case begins once ``seconds`` of the processor are spent. After the first kill the first ``more`` draws of every
    other suite and operation are run too. Where they are ``planned``, no case is run whose plan does not come to the
    change.
    """

    make: Callable[[], Backend]
    cases: Sequence[int]
    seconds: float
    more: int = 0
    planned: bool = False


_HELD: Final[list[Backend]] = []


def held(backend: Backend) -> Backend:
    """Return a backend that is kept until its process ends.

    PoCL ends the process by signal 6 where a context is released before the programs that were built in it, and in what
    order Python releases them is luck. No mutant is to be blamed for that, nor the unchanged code.
    """
    _HELD.append(backend)
    return backend


class Unchanged:
    """The code of a family as it is, started when it is first asked, to be held against what its mutants fail."""

    def __init__(self, backend: str) -> None:
        """Hold the name of the class, ``module:name``."""
        self._backend = backend
        self._worker: InProcess | None = None
        self._answers: dict[str, str] = {}
        self._broken: dict[str, str] = {}

    def answer(self, each: AnyDrawn) -> str:
        """Return the digest of its answer to a case."""
        if each.name not in self._answers:
            self._answers[each.name] = asked(self._started(), each)
        return self._answers[each.name]

    def breaks(self, each: AnyDrawn) -> str:
        """Return the clause that it breaks on a case, or nothing."""
        if each.name not in self._broken:
            broken = failing(self._started(), each)
            self._broken[each.name] = f"{broken[0]} on {each.op} {each.name} of {each.suite}" if broken else ""
        return self._broken[each.name]

    def _started(self) -> InProcess:
        if self._worker is None:
            module, _, name = self._backend.partition(":")
            made = held(getattr(importlib.import_module(module), name)())
            self._worker = InProcess(BackendSpec("unchanged", ()), backend=made)
        return self._worker


def judged(work: Work, drawn: Sequence[AnyDrawn], right: Mapping[str, str], at: At, control: Unchanged) -> Seen:
    """Return what a mutant does on its cases, of ``drawn``, of which ``right`` has the digests of right answers.

    An answer that is not right, nor the unchanged code's, is judged. A case that ``right`` does not have is left out,
    unless it asks for schedules, of which the unchanged code alone has right ones.
    """
    backend = held(work.make())
    worker = InProcess(BackendSpec("mutant", ()), backend=backend)
    kills: dict[tuple[str, str], Kill] = {}
    permitted: set[str] = set()
    count, differs, values, cut, failed = 0, False, False, False, ""
    began = time.process_time()
    for number in work.cases:
        each = drawn[number]
        known = each.name in right or isinstance(each.case, ScheduleCase)
        if not known or (each.suite, each.op) in kills or (kills and each.index >= work.more):
            continue
        cut = time.process_time() - began > work.seconds
        if cut or failed:
            break
        at.come_to(number)
        count += 1
        if work.planned and not each.large and not _planned(worker, backend, each):
            continue
        answer = asked(worker, each)
        # What was not come to by now is the unchanged code's.
        if answer == right.get(each.name) or not _come_to(backend) or answer == control.answer(each):
            continue
        said = verdict_on(worker, each)
        broken, mays = blamed(said), allowed(said)
        permitted |= mays
        differs |= not mays
        values |= not mays and not isinstance(each.case, ScheduleCase)
        if broken is None:
            continue
        failed = control.breaks(each)
        if not failed:
            kills[each.suite, each.op] = Kill(each.suite, each.op, each.index, *broken)
        if not work.more:
            break
    worker.close()
    applied = bool(getattr(backend, "applied", 1))
    found = tuple(sorted(permitted))
    return Seen(tuple(kills.values()), count, differs, values, applied, cut and not kills, failed, found)


def told_apart(work: Work, drawn: Sequence[AnyDrawn], right: Mapping[str, str], at: At, control: Unchanged) -> Seen:
    """Return whether a mutant's answer differs from the unchanged code's on one of its cases, up to the first.

    What only *may* clauses say otherwise of is no difference. Cases are those from the first on that comes to a change.
    """
    backend = held(work.make())
    worker = InProcess(BackendSpec("mutant", ()), backend=backend)
    began, count, permitted = time.process_time(), 0, set[str]()
    for number in work.cases:
        each = drawn[number]
        if time.process_time() - began > work.seconds:
            return Seen(cases=count, cut=True, permitted=tuple(sorted(permitted)))
        at.come_to(number)
        answer = asked(worker, each)
        if not _come_to(backend):
            continue
        count += 1
        if answer != right.get(each.name) and answer != control.answer(each):
            mays = allowed(verdict_on(worker, each))
            if not mays:
                return Seen(cases=count, differs=True, values=True)
            permitted |= mays
    return Seen(cases=count, permitted=tuple(sorted(permitted)))


def _planned(worker: InProcess, backend: Backend, each: AnyDrawn) -> bool:
    """Return whether changed code is come to as a case is planned."""
    came: set[int] = backend.applied  # type: ignore[attr-defined]  # of a change it is what was come to
    before = {*came}
    came.clear()
    with unbuilt(backend):
        asked(worker, each)
    here = bool(came)
    came |= before
    return here


def _come_to(backend: Backend) -> bool:
    """Return whether changed code was come to; of a fault there is nothing to come to."""
    return getattr(backend, "applied", None) != set()


def asked(worker: InProcess, each: AnyDrawn) -> str:
    """Return the digest of what a worker makes of a case, or of the two schedules that it makes."""
    if not isinstance(each.case, ScheduleCase):
        return told(worker.ask(each.case)).hex()
    return "".join(told(worker.ask(Question(each.case.of, planned=planned))).hex() for planned in (True, False))


def failing(worker: InProcess, each: AnyDrawn) -> tuple[str, str] | None:
    """Return the clause that a worker's answers break and its requirement, ``None`` where they break none."""
    return blamed(verdict_on(worker, each))


def blamed(said: Verdict) -> tuple[str, str] | None:
    """Return the clause to blame and its requirement, ``None`` where only a *may* is broken or none."""
    return None if said.blame is None or said.blame.requirement == "may" else (said.blame.id, said.blame.requirement)


def allowed(said: Verdict) -> set[str]:
    """Return the clauses that are broken where all of them are *may*: what breaks nothing else is right."""
    return {name for name, how in said.clauses.items() if how == "broken"} if said.outcome == "passed" else set()


def verdict_on(worker: InProcess, each: AnyDrawn) -> Verdict:
    """Return the verdict on a worker's answers to a case."""
    if isinstance(each, Drawn):
        return verdict(meaning(each.case), worker.ask(each.case), worker.ready.terms)
    return _judged(worker, each)


def _judged(worker: InProcess, each: AnyDrawn) -> Verdict:
    """Return the verdict of a case of another dialect: all that it asks is asked of one process."""
    dialect = dialect_of(each.case)
    dialogue = dialect.dialogue(dialect.mean(each.case), worker.ready.terms)
    try:
        ask = next(dialogue)
        while True:
            ask = dialogue.send(worker.ask(ask.request))
    except StopIteration as end:
        found: Verdict = end.value
    return found
