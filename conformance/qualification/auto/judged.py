"""One mutant on the cases that may show it: compared with what is right, bit for bit, and judged where it differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.qualification.auto.answers import broken_clause, told
from conformance.qualification.auto.pool import At
from conformance.qualification.drawn import Drawn
from conformance.runner.schedules import Asker
from conformance.runner.worker.answers import Answer, Question
from conformance.runner.worker.in_process import InProcess
from conformance.specs.schedules import EVERY

SCHEDULES = "schedules"
"""What the questions for schedules are filed under, as if they were a suite."""


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

    ``differs`` says that some answer was another than the right one; ``applied`` that a fault changed something.
    """

    kills: tuple[Kill, ...] = ()
    cases: int = 0
    differs: bool = False
    applied: bool = True


@dataclass(frozen=True)
class Work:
    """A mutant to be run: how to make it, and the numbers of the cases that may show it."""

    make: Callable[[], Backend]
    cases: Sequence[int]


def judged(work: Work, drawn: Sequence[Drawn], right: Mapping[str, str], at: At, *, whole: bool) -> Seen:
    """Return what a mutant does on its cases, of ``drawn``, of which ``right`` has the digests of the right answers.

    With ``whole`` go on until each suite and operation has a kill, otherwise to the first.
    """
    backend = work.make()
    worker = InProcess(BackendSpec("mutant", ()), backend=backend)
    kills: dict[tuple[str, str], Kill] = {}
    count, differs = 0, False
    for number in work.cases:
        each = drawn[number]
        if key(each) not in right or (each.suite, each.op) in kills:
            continue
        at.come_to(number)
        count += 1
        answer = asked(worker, each)
        if answer == right[key(each)]:
            continue
        differs = True
        broken = failing(worker, each)
        if broken is not None:
            kills[each.suite, each.op] = Kill(each.suite, each.op, each.index, *broken)
            if not whole:
                break
    applied = bool(getattr(backend, "applied", 1))
    return Seen(tuple(kills.values()), count, differs, applied)


def key(each: Drawn) -> str:
    """Return what names a case among answers: the schedule of a program is not its values."""
    return f"{SCHEDULES} {each.name}" if each.suite == SCHEDULES else each.name


def asked(worker: InProcess, each: Drawn) -> str:
    """Return the digest of what a worker makes of a case, or of the two schedules of its program."""
    if each.suite != SCHEDULES:
        return told(worker.ask(each.case)).hex()
    return "".join(told(worker.ask(Question(each.case, planned=planned))).hex() for planned in (True, False))


def failing(worker: InProcess, each: Drawn) -> tuple[str, str] | None:
    """Return the clause that a worker's answer breaks and its requirement, ``None`` where it breaks none."""
    if each.suite != SCHEDULES:
        answer: Answer = worker.ask(each.case)
        return broken_clause(each.case, answer, worker.ready.terms)
    ways = Asker("mutant", worker, worker).ask(each.case).ways
    worst = sorted(ways, key=lambda way: way in EVERY and EVERY[way].requirement != "must")
    if not worst or (worst[0] in EVERY and EVERY[worst[0]].requirement == "may"):
        return None
    return worst[0], EVERY[worst[0]].requirement if worst[0] in EVERY else "must"
