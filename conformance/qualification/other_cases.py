"""The cases of all other dialects that a run draws: graphs, sharded tensors, types, transforms and schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from conformance.qualification.drawn_cases import Drawn
from conformance.runner.dialects import dialects, operations
from conformance.runner.draws import numbered
from conformance.runner.plan import Plan


class Other(msgspec.Struct, frozen=True):
    """A case of another dialect than ``spmd``, with where it came from, as ``Drawn`` has it; ``name`` is its id."""

    suite: str
    op: str
    index: int
    name: str
    case: Any

    large: ClassVar[bool] = False


AnyDrawn = Drawn | Other


def other_cases(seed: int, examples: int, suites: Sequence[str], ops: Sequence[str]) -> tuple[Other, ...]:
    """Return the distinct cases of a seed of all dialects but ``spmd``, the first draws of every operation first."""
    programs = dialects()["spmd"].ops
    others = tuple(op for op in ops if op in operations() and op not in programs)
    found: dict[str, Other] = {}
    for draws in Plan(ops=others, examples=examples, suites=tuple(suites)).draws():
        dialect = operations()[draws.op]
        for number in range(draws.examples):
            case = numbered(draws.domain, seed, number)[0]
            name = dialect.id_of(case)
            if name not in found and dialect.mean(case) is not None:
                found[name] = Other(draws.suite, draws.op, number, name, case)
    return tuple(sorted(found.values(), key=lambda each: each.index))
