"""What is wrong with an answer, so that nothing can be judged by it."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase, keys
from conformance.cases.observation import Observation
from conformance.cases.program.health import health_case
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.footprint import footprint
from conformance.cases.types.typed_case import TypedCase
from conformance.runner.worker.answers import Question, Request


def misfit(case: Request, observation: Observation) -> str | None:
    """Return how the observation fails to have the results, ranks and inputs of ``case``, or ``None``."""
    if isinstance(case, Question):
        return _unplanned(observation)
    if isinstance(case, TypedCase):
        return _unnamed(case.program.world, case.answered, observation)
    if isinstance(case, GraphCase):
        return _unnamed(1, frozenset(keys(case)), observation)
    if isinstance(case, ShardedCase):
        return _unnamed(case.world, frozenset(case.results), observation) or _unplaced(case, observation)
    return _unlike(case, observation)


def _unplaced(case: ShardedCase, observation: Observation) -> str | None:
    missing = sorted(set(observation.results) - set(observation.layouts))
    if missing:
        return f"an observation does not say where result {missing[0]!r} is"
    for name, layout in observation.layouts.items():
        if len(layout.boxes) != case.world:
            return f"the layout of result {name!r} has {len(layout.boxes)} boxes for {case.world} devices"
        unknown = sorted(set(layout.partial) - {axis.name for axis in case.mesh})
        if unknown:
            return f"the layout of result {name!r} has contributions along {unknown[0]!r}, which is no axis of the mesh"
    return None


def _unnamed(world: int, names: frozenset[str], observation: Observation) -> str | None:
    if observation.errors and len(observation.errors) != world:
        return f"an observation has {len(observation.errors)} errors for {world} ranks"
    if not observation.raised and set(observation.results) != names:
        return f"an observation has the results {sorted(observation.results)} where {sorted(names)} are wanted"
    for name, blocks in observation.results.items():
        if len(blocks) != world:
            return f"result {name!r} of an observation has {len(blocks)} blocks for {world} ranks"
        try:
            for rank, block in enumerate(blocks):
                if block is not None:
                    footprint(f"result {name!r}, rank {rank}", block.dtype, block.shape)
        except CaseError as error:
            return str(error)
    return None


def _unlike(case: Case, observation: Observation) -> str | None:
    world = case.program.world
    wrong = _unnamed(world, frozenset(case.program.results), observation)
    if wrong is not None:
        return wrong
    known = {*case.inputs, *case.program.buffers}
    for touched in observation.touched:
        if touched.input not in known or not 0 <= touched.rank < world:
            return f"an observation says that rank {touched.rank} of input {touched.input!r} was touched: there is none"
    return None if observation.health is None else misfit(health_case(case), observation.health)


def _unplanned(observation: Observation) -> str | None:
    made = observation.schedule is not None or len(observation.errors) == 1
    return None if made else "an observation has neither the schedule that was asked for nor one error"
