"""What sources answer that say something else than a clause: those who follow them are right, and nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase, arrays
from conformance.qualification.frozen.asked import backend
from conformance.qualification.frozen.observation import FrozenObservation, Given, frozen_answer
from conformance.reference.rejection import Rejected
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.transposes import TRANSPOSES
from conformance.specs import every_clause
from conformance.specs.graphs import CLAUSES as OF_GRAPHS
from conformance.specs.types.divergences import jax_gather, ragged_rule
from conformance.specs.types.jax_rules import DIFFERENCES, together, verdict

RULES: Final[dict[str, Any]] = {
    "the own piece": {"all_gather": jax_gather},
    "marks of no rows": {"ragged_all_to_all": ragged_rule(zeros=True)},
    "the last copy": {"ragged_all_to_all": ragged_rule(overlaps=True)},
    "the whole axis": {"ragged_all_to_all": ragged_rule(whole=True)},
}
"""JAX's transposes, by what they do otherwise."""


def followed(frozen: FrozenObservation) -> Iterator[FrozenObservation]:
    """Yield what sources answer about the case of a right answer, by who follows them and by who does not."""
    case = frozen.case
    found = _of_cases(case, frozen) if isinstance(case, Case | GraphCase) else _of_types(case, frozen)
    for source, word, seen in found:
        assert frozen.ready is not None
        said = replace(frozen, answers=(Given(replace(seen, seconds=0.0)), *frozen.answers[1:]), by=source)
        yield replace(said, altered=word)
        yield replace(said, altered=f"{word}, followed", ready=replace(frozen.ready, follows=(source,)))


def _of_cases(case: Case | GraphCase, frozen: FrozenObservation) -> Iterator[tuple[str, str, Observation]]:
    """Yield what the reference answers about the cases that sources have in the place of one that is legal."""
    (first, *_) = frozen.answers
    if isinstance(first, Given) and first.seen.raised:
        return
    clauses: Any = OF_GRAPHS if isinstance(case, GraphCase) else every_clause().values()
    tried: set[int] = set()
    for divergence in (each for clause in clauses for each in clause.diverges):
        otherwise: Callable[[Any], Any] | None = divergence.otherwise
        if otherwise is None or id(otherwise) in tried:
            continue
        tried.add(id(otherwise))
        with suppress(CaseError, Rejected, KeyError, ValueError):
            other = otherwise(case)
            if other is not None:
                answer = frozen_answer(backend(Reference).ask(other))
                if isinstance(answer, Given):
                    yield divergence.source.partition(".")[0], getattr(otherwise, "__name__", "otherwise"), answer.seen


def _of_types(case: Any, frozen: FrozenObservation) -> Iterator[tuple[str, str, Observation]]:
    """Yield what JAX says of types, and what its transposes give."""
    (first, *_) = frozen.answers
    if not isinstance(case, TypedCase) or not isinstance(first, Given):
        return
    for name in DIFFERENCES if first.seen.types else ():
        theirs = verdict(case.program, together(name))
        if theirs is not None and theirs != first.seen.types:
            yield "jax", name, replace(first.seen, types={each: theirs[each] for each in first.seen.types})
    for word, rules in RULES.items() if case.cotangents else ():
        if any(step.op in rules for step in case.program.steps):
            with suppress(IndexError, ValueError):
                back = pullback(case.program, arrays(case.inputs), arrays(case.cotangents), TRANSPOSES | rules)
                results = {name: tuple(map(from_array, blocks)) for name, blocks in back.items()}
                yield "jax", word, replace(first.seen, results=results)
