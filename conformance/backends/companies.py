"""A company of cases on a backend, whatever it raises or leaves out: the worker's side of ``RunTogether``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from conformance.backends import protocol
from conformance.backends.base import Backend
from conformance.backends.case_arrays import tensors
from conformance.backends.exceptions import rank_error
from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Joint, Observation, RankError
from conformance.cases.tensor.dtypes import Array


def joint(backend: Backend, cases: Sequence[Case | GraphCase]) -> Observation:
    """Return what happened to each case of a company, or the one error of it; never raise.

    The time of the company is shared out among its cases.
    """
    began = time.perf_counter()
    try:
        seen = _asked(backend, cases)
    except Exception as error:  # noqa: BLE001 - whatever an implementation raises is what the company did
        raised = rank_error(error, adapts=backend.adapts)
        return Observation(errors=(raised,), seconds=time.perf_counter() - began)
    share = (time.perf_counter() - began) / len(cases)
    return Joint(together=tuple(replace(each, seconds=share) for each in seen), seconds=share * len(cases))


def graph_observation(given: Mapping[str, Array] | RankError) -> Observation:
    """Return the observation of a graph case by its values, or by how it was refused."""
    if isinstance(given, RankError):
        return Observation(errors=(given,))
    return Observation(results=tensors({key: [array] for key, array in given.items()}))


def _asked(backend: Backend, cases: Sequence[Case | GraphCase]) -> list[Observation]:
    """Return one observation a case; raise ``RuntimeError`` where a method returns anything else."""
    programs = [each for each in cases if isinstance(each, Case)]
    graphs = [each for each in cases if isinstance(each, GraphCase)]
    method = "execute_together" if programs else "graphs_together"
    made = list(backend.execute_together(programs) if programs else backend.graphs_together(graphs))
    if len(made) != len(cases) or not all(isinstance(each, Observation) for each in made):
        seen = f"{method} returned {len(made)} answers for {len(cases)} cases"
        raise RuntimeError(f"{seen}; an Observation each is right")
    return made


def answered_together(backend: Backend, request: protocol.RunTogether) -> protocol.Done:
    """Return the reply to a company."""
    seen = joint(backend, request.programs or request.graphs)
    if isinstance(seen, Joint):
        return protocol.Done(seq=request.seq, together=seen.together)
    return protocol.Done(seq=request.seq, observation=seen)
