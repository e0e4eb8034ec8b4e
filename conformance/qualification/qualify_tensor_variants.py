"""Legal variants of graphs and of sharded tensors, judged on the drawn cases of their dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.judging.verdict import Verdict
from conformance.qualification.auto.running.answers import told
from conformance.qualification.other_cases import other_cases
from conformance.runner.dialect import AnyDialect
from conformance.runner.dialects import dialects
from conformance.runner.worker.in_process import InProcess

KIND = "tensors"
"""The kind of variants that are judged here."""


def judged_tensors(
    variants: Sequence[type[Backend]], *, examples: int, seed: int, suites: Sequence[str], ops: Sequence[str]
) -> Iterator[tuple[type[Backend], dict[str, str], int, int]]:
    """Yield of every variant what refused it, by clause with the first case, its cases, and how many differ."""
    for name, method in (("graph", "run_graph"), ("global", "run_sharded")):
        dialect = dialects()[name]
        own = [each for each in variants if getattr(each, method) is not getattr(Reference, method)]
        named = tuple(op for op in ops if op in dialect.ops) or dialect.ops
        wanted = tuple(suite for suite in suites if suite in dialect.suites) or tuple(dialect.suites)
        drawn = other_cases(seed, examples, wanted, named) if own else ()
        right = [_judged(dialect, each.case, Reference)[1] for each in drawn]
        for variant in own:
            refused, differs = dict[str, str](), 0
            for each, known in zip(drawn, right, strict=True):
                verdict, given = _judged(dialect, each.case, variant)
                differs += given != known
                if verdict.blame is not None and verdict.blame.requirement == "must":
                    refused.setdefault(verdict.blame.id, each.name)
            yield variant, refused, len(drawn), differs


def _judged(dialect: AnyDialect, case: Any, backend: type[Backend]) -> tuple[Verdict, list[bytes]]:
    """Return the verdict on a backend, and what it told."""
    worker, given = InProcess(BackendSpec(backend.__qualname__, ()), backend=backend()), list[bytes]()
    talk = dialect.dialogue(dialect.mean(case), worker.ready.terms)
    ask = next(talk)
    while True:
        answer = worker.ask(ask.request)
        given.append(told(answer))
        try:
            ask = talk.send(answer)
        except StopIteration as ended:
            return ended.value, given
