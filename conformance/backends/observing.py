"""What a backend does with a case, as an observation: whatever it raises, returns or leaves out."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

from conformance.backends.base import Backend
from conformance.backends.case_arrays import tensors
from conformance.backends.exceptions import rank_error
from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase, arrays


def typed(backend: Backend, case: TypedCase) -> Observation:
    """Return the observation of a typed program, or the error that was raised instead, on every rank."""
    start = time.perf_counter()
    try:
        if case.lowered or case.compiled:
            made = tuple((backend.lowered if case.lowered else backend.compiled)(case.program))
            return Observation(lowered=made, seconds=time.perf_counter() - start)
        if case.tangents:
            found = backend.pushforward(case.program, arrays(case.inputs), arrays(case.tangents))
            return Observation(results=tensors(found), seconds=time.perf_counter() - start)
        if case.cotangents:
            found = backend.pullback(case.program, arrays(case.inputs), arrays(case.cotangents))
            return Observation(results=tensors(found), seconds=time.perf_counter() - start)
        if case.batch:
            found = backend.batched(case.program, case.batch, arrays(case.inputs))
            return Observation(results=tensors(found), seconds=time.perf_counter() - start)
        types, values = backend.typed(case.program, arrays(case.inputs))
    except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
        raised = rank_error(error, adapts=backend.adapts)
        return Observation(errors=(raised,) * case.program.world, seconds=time.perf_counter() - start)
    return Observation(results=tensors(values), types=types, seconds=time.perf_counter() - start)


def _observed(method: str, made: object) -> Observation:
    """Return what a method made; raise ``RuntimeError``, which refuses nothing, where it is no observation."""
    if not isinstance(made, Observation):
        seen = f"{method} returned {repr(made)[:80]}, a {type(made).__name__}"
        raise RuntimeError(f"{seen}; an Observation is right")  # noqa: TRY004 - a TypeError would refuse the case
    return made


def graph_observation(backend: Backend, case: GraphCase) -> Observation:
    """Return what happened to a graph case, whatever ``graph`` raises."""
    try:
        return _observed("graph", backend.graph(case))
    except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
        return Observation(errors=(rank_error(error, adapts=backend.adapts),))


def sharded_observation(backend: Backend, case: ShardedCase) -> Observation:
    """Return what happened to a program on sharded tensors, whatever ``sharded`` raises."""
    try:
        return _observed("sharded", backend.sharded(case))
    except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
        return Observation(errors=(rank_error(error, adapts=backend.adapts),) * case.world)


def observations(backend: Backend, cases: list[tuple[Case, ...]]) -> Iterator[Observation]:
    """Yield exactly one observation a case, with that of the ranks' health where their program comes with the case.

    ``cases`` are what ``conformance.cases.program.health.followed`` returns for each, and may grow meanwhile.
    """
    asked: list[Case] = []
    made = _made(backend, asked)
    taken = done = 0
    while done < len(cases):
        for case in cases[taken:]:
            asked += case
        taken = len(cases)
        seen = next(made)
        if len(cases[done]) > 1:
            seen = msgspec.structs.replace(seen, health=next(made))
        yield seen
        done += 1


def _made(backend: Backend, cases: list[Case]) -> Iterator[Observation]:
    """Yield one observation a case, whatever ``execute_many`` raises or leaves out.

    ``cases`` may grow meanwhile; what ``execute_many`` does not take up is handed to it again.
    """
    done = 0
    while done < len(cases):
        asked = len(cases)
        escaped: Exception = RuntimeError("execute_many stopped before this case")
        try:
            for observation in backend.execute_many(cases[done:] if done else cases):
                yield _observed("execute", observation)
                done += 1
                if done == len(cases):
                    return
        except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
            escaped = error
        else:
            if done >= asked:
                continue
        yield Observation(errors=(rank_error(escaped, adapts=backend.adapts),) * cases[done].program.world)
        done += 1
