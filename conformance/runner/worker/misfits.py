"""What is wrong with an answer, so that nothing can be judged by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase, keys
from conformance.cases.graph.value_bytes import graph_values
from conformance.cases.observation import Answered, Joint
from conformance.cases.program.health import health_case
from conformance.cases.program.value_bytes import program_values
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.footprint import ValueBytes, footprint
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.value_bytes import typed_values
from conformance.runner.worker.answers import Company, Question, Request

ROOM: Final = 64 << 20
"""Bytes of tensors that any answer may have, as much as a line: a wrong one of a small case is told as what it is."""

MANY: Final = 4
"""How many times the bytes of all values of a case an answer may have: float32 told in complex128 is that much."""


def misfit(case: Request, observation: Answered[Any]) -> str | None:
    """Return how the observation fails to have the results, ranks and inputs of ``case``, or ``None``."""
    if isinstance(case, Company):
        return _uncompanied(case, observation)
    if isinstance(case, Question):
        return _unplanned(observation)
    if isinstance(case, TypedCase):
        return _unnamed(case, case.program.world, case.answered, observation)
    if isinstance(case, GraphCase):
        return _unnamed(case, 1, frozenset(keys(case)), observation)
    if isinstance(case, ShardedCase):
        return _unnamed(case, case.world, frozenset(case.results), observation) or _unplaced(case, observation)
    return _unlike(case, observation)


def _unplaced(case: ShardedCase, observation: Answered[Any]) -> str | None:
    missing = sorted(set(observation.results) - set(observation.layouts))
    if missing:
        return f"an observation does not say where result {missing[0]!r} is"
    told = {*observation.layouts, *observation.moved, *observation.sizes, *observation.realized}
    unasked = sorted(told - set(case.results))
    if unasked:
        return f"an observation says something of {unasked[0]!r}, which is no result"
    for name, layout in observation.layouts.items():
        if len(layout.boxes) != case.world:
            return f"the layout of result {name!r} has {len(layout.boxes)} boxes for {case.world} devices"
        unknown = sorted(set(layout.partial) - {axis.name for axis in case.mesh})
        if unknown:
            return f"the layout of result {name!r} has contributions along {unknown[0]!r}, which is no axis of the mesh"
    return None


def _unnamed(case: Request, world: int, names: frozenset[str], observation: Answered[Any]) -> str | None:
    if observation.errors and len(observation.errors) != world:
        return f"an observation has {len(observation.errors)} errors for {world} ranks"
    if not observation.raised and set(observation.results) != names:
        return f"an observation has the results {sorted(observation.results)} where {sorted(names)} are wanted"
    total = 0
    for name, blocks in observation.results.items():
        if len(blocks) != world:
            return f"result {name!r} of an observation has {len(blocks)} blocks for {world} ranks"
        try:
            for rank, block in enumerate(blocks):
                if block is not None:
                    total += footprint(f"result {name!r}, rank {rank}", block.dtype, block.shape)
        except CaseError as error:
            return str(error)
    return _overlong(case, total) if total > ROOM else None


def _overlong(case: Request, total: int) -> str | None:
    """Return how the results have more bytes than any answer to the case has, right or wrong."""
    most = max(ROOM, MANY * sum(size for _, size in _values(case)))
    if total <= most:
        return None
    return f"an observation has results of {total} bytes, over the limit of {most >> 20} MiB for this case"


def _values(case: Request) -> Iterable[ValueBytes]:
    """Return what the case makes, and how many bytes each has."""
    if isinstance(case, Case):
        return program_values(case)
    if isinstance(case, TypedCase):
        return typed_values(case)
    if isinstance(case, GraphCase):
        return graph_values(case.graph)
    return graph_values(case.of.graph, case.world) if isinstance(case, ShardedCase) else ()


def _unlike(case: Case, observation: Answered[Any]) -> str | None:
    world = case.program.world
    wrong = _unnamed(case, world, frozenset(case.program.results), observation)
    if wrong is not None:
        return wrong
    known = {*case.inputs, *case.program.buffers}
    for touched in observation.touched:
        if touched.input not in known or not 0 <= touched.rank < world:
            return f"an observation says that rank {touched.rank} of input {touched.input!r} was touched: there is none"
    return None if observation.health is None else misfit(health_case(case), observation.health)


def _uncompanied(company: Company, observation: Answered[Any]) -> str | None:
    """Return what is wrong with the answers of a company; one of an error that all share has none."""
    if not isinstance(observation, Joint):
        return None if observation.raised else "an observation of a company has neither an answer a case nor an error"
    if len(observation.together) != len(company.cases):
        return f"a company of {len(company.cases)} cases has {len(observation.together)} observations"
    wrong = (misfit(case, seen) for case, seen in zip(company.cases, observation.together, strict=True))
    return next((f"of a company: {each}" for each in wrong if each is not None), None)


def _unplanned(observation: Answered[Any]) -> str | None:
    if observation.schedule is None and len(observation.errors) != 1:
        return "an observation has neither the schedule that was asked for nor one error"
    return None
