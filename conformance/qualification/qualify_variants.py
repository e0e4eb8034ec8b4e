"""Legal variants, judged: none may be refused by a *must*, and each must differ from the reference somewhere."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from conformance.backends.base import Backend
from conformance.backends.claim_limits import outside
from conformance.backends.discovery import BackendSpec
from conformance.backends.opencl import OpenCL
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.schedule.schedule import Schedule
from conformance.judging.subject import Subject
from conformance.qualification.auto.running.answers import told
from conformance.qualification.changed_methods import operations_of
from conformance.qualification.drawn_cases import Drawn, drawn_cases
from conformance.qualification.qualify_tensor_variants import KIND, judged_tensors
from conformance.qualification.qualify_typed_variants import KINDS, judged_typed
from conformance.runner.dialects.schedule_inquiry import Asked
from conformance.runner.meaning import meaning, verdict
from conformance.runner.schedules import ask_schedule
from conformance.runner.schedules import drawn as questions
from conformance.runner.worker.answers import Answer, Broken, Question
from conformance.runner.worker.in_process import InProcess
from conformance.specs.schedules import EVERY


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite made of one variant.

    ``refused`` are the *must* clauses that it broke, and ways to fail that are no clauses, each with the first case.
    Of the ``cases`` that it was given, ``differs`` are those on which its bits, or the items of its schedule, are not
    those of the correct backend it derives from.
    """

    name: str
    kind: str
    refused: tuple[str, ...]
    cases: int
    differs: int
    doc: str


def judged_variants(
    variants: Sequence[type[Backend]], *, examples: int, seed: int, suites: Sequence[str], ops: Sequence[str]
) -> Iterator[Variant]:
    """Yield a row for every variant, on all drawn cases of the operations that it has.

    Each case is drawn once, and its meaning is found once, for all variants that compute.
    """
    typed = [variant for variant in variants if getattr(variant, "kind", "") in KINDS]
    tensors = [variant for variant in variants if getattr(variant, "kind", "") == KIND]
    apart = (*typed, *tensors)
    computing = [each for each in variants if each.schedule is Backend.schedule and each not in apart]
    scheduling = [each for each in variants if each not in computing and each not in apart]
    yield from _computing(computing, drawn_cases(seed, examples, tuple(suites), tuple(ops)))
    for found in judged_typed(typed, examples=examples, seed=seed, suites=suites, ops=ops):
        yield _row(*found)
    for found in judged_tensors(tensors, examples=examples, seed=seed, suites=suites, ops=ops):
        yield _row(*found)
    asked = [each for listed in questions(examples, seed).values() for each in listed] if scheduling else []
    for variant in scheduling:
        yield _scheduling(variant, asked)


@dataclass
class _Seen:
    """What is known of a variant so far: the clauses that refuse it, each with the first case."""

    variant: type[Backend]
    worker: InProcess
    ops: frozenset[str]
    refused: dict[str, str] = field(default_factory=dict)
    cases: int = 0
    differs: int = 0


def _computing(variants: Sequence[type[Backend]], drawn: Sequence[Drawn]) -> Iterator[Variant]:
    right = InProcess(BackendSpec("reference", ()), backend=Reference())
    every = [
        _Seen(each, InProcess(BackendSpec(each.__qualname__, ()), backend=each()), frozenset(operations_of(each)))
        for each in variants
    ]
    for one in drawn:
        case = one.case
        subject, known = meaning(case), told(right.ask(case))
        # Most variants give the reference's answer in the terms of most others, which need be judged but once.
        judged: dict[tuple[bytes, Terms], str | None] = {}
        for seen in every:
            ready = seen.worker.ready
            if one.op not in seen.ops or outside(ready.claims, subject.features.by_op) is not None:
                continue
            answer = seen.worker.ask(case)
            given = told(answer)
            if (given, ready.terms) not in judged:
                judged[given, ready.terms] = _must(subject, answer, ready.terms)
            seen.cases += 1
            seen.differs += given != known
            name = judged[given, ready.terms]
            if name is not None:
                seen.refused.setdefault(name, one.name)
    for seen in every:
        yield _row(seen.variant, seen.refused, seen.cases, seen.differs)


def _must(subject: Subject, answer: Answer, terms: Terms) -> str | None:
    judged = verdict(subject, answer, terms)
    return judged.blame.id if judged.blame is not None and judged.blame.requirement == "must" else None


def _scheduling(variant: type[Backend], questions: Sequence[Asked]) -> Variant:
    base = next(
        (one for one in variant.__mro__[1:] if issubclass(one, Backend) and not inspect.isabstract(one)), OpenCL
    )
    backend, right = variant(), base() if base is not Backend else OpenCL()
    worker = InProcess(BackendSpec(variant.__qualname__, ()), backend=backend)
    refused: dict[str, str] = {}
    cases = differs = 0
    for asked in questions:
        judged = ask_schedule(asked, worker, worker)
        if judged.schedule is None and not judged.ways:
            continue
        cases += 1
        plain = InProcess(BackendSpec("right", ()), backend=right)
        other = plain.ask(Question(asked)).result if isinstance(asked, Case) else None
        differs += judged.schedule is not None and _unlike(judged.schedule, other)
        for way in judged.ways:
            if way not in EVERY or EVERY[way].requirement == "must":
                refused.setdefault(way, judged.ways[way])
    return _row(variant, refused, cases, differs)


def _unlike(one: Schedule, other: Observation | Broken | None) -> bool:
    """Return whether a schedule has other items than the one that was observed, if one was."""
    made = None if other is None or isinstance(other, Broken) else other.schedule
    return made is None or replace(one, graph=None) != replace(made, graph=None)


def _row(variant: type[Backend], refused: dict[str, str], cases: int, differs: int) -> Variant:
    return Variant(
        name=variant.__qualname__,
        kind=str(getattr(variant, "kind", "")),
        refused=tuple(sorted(refused)),
        cases=cases,
        differs=differs,
        doc=" ".join((inspect.getdoc(variant) or "").split()),
    )
