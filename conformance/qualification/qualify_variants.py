"""Legal variants, judged: none may be refused by a *must*, and each must differ from the reference somewhere."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.opencl import OpenCL
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.qualification.auto.answers import told
from conformance.qualification.drawn import Drawn, drawn_cases
from conformance.qualification.ops import operations_of
from conformance.runner.dialects.spmd import outside
from conformance.runner.meaning import meaning, verdict
from conformance.runner.schedules import ask_schedule
from conformance.runner.schedules import drawn as questions
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
    """Yield a row for every variant, on all drawn cases of the operations that it has."""
    for variant in variants:
        if variant.schedule is not Backend.schedule:
            yield _scheduling(variant, examples, seed)
        else:
            mine = [op for op in operations_of(variant) if op in ops]
            yield _computing(variant, drawn_cases(seed, examples, tuple(suites), tuple(mine)))


def _computing(variant: type[Backend], drawn: Sequence[Drawn]) -> Variant:
    right = InProcess(BackendSpec("reference", ()), backend=Reference())
    worker = InProcess(BackendSpec(variant.__qualname__, ()), backend=variant())
    refused: dict[str, str] = {}
    cases = differs = 0
    for each in drawn:
        subject = meaning(each.case)
        if outside(worker.ready.claims, subject) is not None:
            continue
        cases += 1
        answer = worker.ask(each.case)
        differs += told(answer) != told(right.ask(each.case))
        for name in _musts(subject, answer, worker):
            refused.setdefault(name, each.name)
    return _row(variant, refused, cases, differs)


def _musts(subject: object, answer: object, worker: InProcess) -> Iterator[str]:
    judged = verdict(subject, answer, worker.ready.terms)  # type: ignore[arg-type]  # both are what they are called
    if judged.blame is not None and judged.blame.requirement == "must":
        yield judged.blame.id


def _scheduling(variant: type[Backend], examples: int, seed: int) -> Variant:
    base = next(
        (one for one in variant.__mro__[1:] if issubclass(one, Backend) and not inspect.isabstract(one)), OpenCL
    )
    backend, right = variant(), base() if base is not Backend else OpenCL()
    worker = InProcess(BackendSpec(variant.__qualname__, ()), backend=backend)
    refused: dict[str, str] = {}
    cases = differs = 0
    for listed in questions(examples, seed).values():
        for asked in listed:
            judged = ask_schedule(asked, worker, worker)
            if judged.schedule is None and not judged.ways:
                continue
            cases += 1
            plain = InProcess(BackendSpec("right", ()), backend=right)
            other = ask_schedule(asked, plain, plain).schedule if isinstance(asked, Case) else None
            differs += judged.schedule is not None and other != judged.schedule
            for way in judged.ways:
                if way not in EVERY or EVERY[way].requirement == "must":
                    refused.setdefault(way, judged.ways[way])
    return _row(variant, refused, cases, differs)


def _row(variant: type[Backend], refused: dict[str, str], cases: int, differs: int) -> Variant:
    return Variant(
        name=variant.__qualname__,
        kind=str(getattr(variant, "kind", "")),
        refused=tuple(sorted(refused)),
        cases=cases,
        differs=differs,
        doc=" ".join((inspect.getdoc(variant) or "").split()),
    )
