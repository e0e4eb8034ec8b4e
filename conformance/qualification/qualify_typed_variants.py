"""Legal variants of types and transforms, judged on the drawn cases of their dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.backends.base import Backend
from conformance.backends.reference import Reference
from conformance.backends.worker import typed
from conformance.cases.observation import Observation
from conformance.qualification.other_cases import other_cases
from conformance.runner.dialects.types import DIALECT, mean
from conformance.specs.types.verdict import judge

KINDS: Final = ("transforms", "types")
"""The kinds of variants that are judged here."""


def judged_typed(
    variants: Sequence[type[Backend]], *, examples: int, seed: int, suites: Sequence[str], ops: Sequence[str]
) -> Iterator[tuple[type[Backend], dict[str, str], int, int]]:
    """Yield of every variant what refused it, by clause with the first case, its cases, and how many differ."""
    if not variants:
        return
    wanted = tuple(suite for suite in suites if suite in DIALECT.suites)
    named = tuple(op for op in ops if op in DIALECT.ops) or DIALECT.ops
    drawn = other_cases(seed, examples, wanted or tuple(DIALECT.suites), named)
    known = [typed(Reference(), each.case) for each in drawn]
    for variant in variants:
        backend, refused, differs = variant(), dict[str, str](), 0
        for each, right in zip(drawn, known, strict=True):
            seen = typed(backend, each.case)
            if _told(seen) == _told(right):
                continue
            differs += 1
            meaning = mean(each.case)
            assert meaning is not None
            verdict = judge(meaning, seen)
            if verdict.blame is not None and verdict.blame.requirement == "must":
                refused.setdefault(verdict.blame.id, each.name)
        yield variant, refused, len(drawn), differs


def _told(seen: Observation) -> tuple[Any, ...]:
    return seen.results, seen.types, seen.lowered, seen.raised
