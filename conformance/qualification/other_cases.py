"""The cases of all other dialects that a run draws: graphs, sharded tensors, types, transforms and schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.question import ScheduleCase
from conformance.qualification.drawn_cases import Drawn
from conformance.qualification.kept import folder, kept
from conformance.runner.dialects import dialects, operations
from conformance.runner.draws import numbered
from conformance.runner.plan import Plan

C = TypeVar("C")


class OtherCase(msgspec.Struct, frozen=True):
    """A case of another dialect than ``spmd``, with where it came from, as ``Drawn`` has it; ``name`` is its id."""

    suite: str
    op: str
    index: int
    name: str
    case: Any

    large: ClassVar[bool] = False


class _Kept(msgspec.Struct, Generic[C], frozen=True):
    """A case on disk, its number and its name; what a schedule is asked for is a ``program`` or a ``graph``."""

    index: int
    name: str
    case: C | None = None
    program: Case | None = None
    graph: Graph | None = None


AnyDrawn = Drawn | OtherCase


def other_cases(seed: int, examples: int, suites: Sequence[str], ops: Sequence[str]) -> tuple[OtherCase, ...]:
    """Return the distinct cases of a seed of all dialects but ``spmd``, the first draws of every operation first."""
    found: dict[str, OtherCase] = {}
    for suite, op in _parts(suites, ops):
        for each in other_part(suite, op, examples, seed):
            found.setdefault(each.name, each)
    return tuple(sorted(found.values(), key=lambda each: each.index))


def undrawn_others(seed: int, examples: int, suites: Sequence[str], ops: Sequence[str]) -> list[tuple[str, str]]:
    """Return each suite and operation of these dialects whose cases of a seed are not on disk."""
    where = folder()
    return [part for part in _parts(suites, ops) if not (where / f"{_name(*part, examples, seed)}.zlib").exists()]


def other_part(suite: str, op: str, examples: int, seed: int) -> tuple[OtherCase, ...]:
    """Return the distinct cases of one suite and operation, which are on disk from then on."""
    dialect = operations()[op]

    def draw() -> tuple[_Kept[Any], ...]:
        draws = Plan(ops=(op,), examples=examples).of(suite, op)
        found: dict[str, _Kept[Any]] = {}
        for number in range(draws.examples):
            case = numbered(draws.domain, seed, number)[0]
            name = dialect.id_of(case)
            if name not in found and dialect.mean(case) is not None:
                found[name] = _stored(number, name, case)
        return tuple(found.values())

    kind: Any = type(None) if dialect.case is ScheduleCase else dialect.case
    had = kept(_name(suite, op, examples, seed), tuple[_Kept[kind], ...], draw)
    return tuple(OtherCase(suite, op, each.index, each.name, _case_of(each)) for each in had)


def _stored(number: int, name: str, case: Any) -> _Kept[Any]:
    # Programs and graphs have no word in their files that tells them apart.
    if not isinstance(case, ScheduleCase):
        return _Kept(number, name, case)
    of = case.of
    return _Kept(number, name, program=of) if isinstance(of, Case) else _Kept(number, name, graph=of)


def _case_of(each: _Kept[Any]) -> Any:
    asked = each.program or each.graph
    return each.case if asked is None else ScheduleCase(of=asked)


def _parts(suites: Sequence[str], ops: Sequence[str]) -> list[tuple[str, str]]:
    programs = dialects()["spmd"].ops
    others = tuple(op for op in ops if op in operations() and op not in programs)
    return [(draws.suite, draws.op) for draws in Plan(ops=others, examples=1, suites=tuple(suites)).draws()]


def _name(suite: str, op: str, examples: int, seed: int) -> str:
    return f"others-{seed}-{examples}-{suite}-{op}"
