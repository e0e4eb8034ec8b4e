"""Typed cases judged: comparisons of an observation with what a case means, clauses, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.cases.types.typed_case import arrays
from conformance.judging.clause import Requirement
from conformance.reference.transforms.pairing import pairing
from conformance.reference.types.meaning import TypedMeaning
from conformance.reference.types.values import visible

Blocks = list[Array]


@dataclass(frozen=True)
class TypedClause:
    """One sentence. ``check`` returns ``None`` when it holds, else what was seen and what was expected.

    Of several that are broken a ``general`` one is blamed last.
    """

    id: str
    requirement: Requirement
    text: str
    source: str
    when: Callable[[TypedMeaning], bool]
    check: Callable[[TypedMeaning, Observation], str | None]
    suite: str = "types"
    general: bool = False
    variant: bool = False
    plain: bool = False


def refused(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that the program was refused."""
    return None if seen.raised else f"accepted without an error: {meaning.refused or meaning.not_linear}"


def accepted(_: TypedMeaning, seen: Observation) -> str | None:
    """Demand that the program was not refused."""
    error = next((error for error in seen.errors if error is not None), None)
    return (
        None
        if error is None
        else f"refused with {error.kind}: {error.message.splitlines()[0] if error.message else ''}"
    )


def typed_alike(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that each value that a step makes has the type that the rules give it."""
    for step in meaning.case.program.steps:
        wanted, got = meaning.types[step.output], seen.types.get(step.output)
        if got != wanted:
            return f"{step.output} ({step.op}) is typed {got}; expected {wanted}"
    return None


def same_along(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that a result is bit for bit the same along the axes where it is invariant or reduced."""
    for name, blocks in _shown(meaning, seen).items():
        of = meaning.types[name]
        for axis in meaning.case.program.names:
            if of.state(axis) == "varying":
                continue
            for line in lines(meaning.case.program.mesh, (axis,)):
                if len({blocks[rank].tobytes() for rank in line}) > 1:
                    return f"{name} is {of.state(axis)} along {axis!r}, and ranks {list(line)} hold different blocks"
    return None


def valued_alike(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand the reference's values; of an unreduced result its sum."""
    program = meaning.case.program
    wanted = {name: visible(program, meaning.types[name], meaning.values[name]) for name in program.results}
    return _unlike(wanted, seen.results)


def pulled_alike(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that the cotangent of every input is what the transposes give."""
    return _unlike(meaning.back, seen.results)


def adjoint(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that results paired with their cotangents come to what the inputs do with what came back for them."""
    mesh, given = meaning.case.program.mesh, arrays(meaning.case.cotangents)
    if set(seen.results) != set(meaning.case.inputs):
        return f"cotangents of {sorted(seen.results)} came back; the inputs are {sorted(meaning.case.inputs)}"
    forth = [pairing(mesh, meaning.paired[name], meaning.values[name], given[name]) for name in given]
    back = [
        pairing(mesh, meaning.paired[name], blocks, _arrays(seen.results[name]))
        for name, blocks in arrays(meaning.case.inputs).items()
    ]
    total, came = sum(forth, Fraction(0)), sum(back, Fraction(0))
    return None if total == came else f"results and cotangents pair to {total}, inputs and what came back to {came}"


def _shown(meaning: TypedMeaning, seen: Observation) -> dict[str, Blocks]:
    return {name: _arrays(seen.results[name]) for name in meaning.case.program.results if name in seen.results}


def _arrays(blocks: Sequence[Tensor | None]) -> Blocks:
    return [np.zeros(0) if block is None else to_array(block) for block in blocks]


def _unlike(wanted: Mapping[str, Blocks], seen: Mapping[str, Sequence[Tensor | None]]) -> str | None:
    for name, blocks in wanted.items():
        if name not in seen:
            return f"{name} is missing"
        for rank, (want, got) in enumerate(zip(blocks, seen[name], strict=True)):
            if problem := _difference(want, got):
                return f"{name} on rank {rank}: {problem}"
    return None


def _difference(want: Array, got: Tensor | None) -> str | None:
    if got is None:
        return "no block"
    block = to_array(got)
    if (block.dtype, block.shape) != (want.dtype, want.shape):
        return f"dtype is {got.dtype}, shape is {list(got.shape)}; expected {want.dtype}, {list(want.shape)}"
    wrong = np.argwhere(np.atleast_1d(block != want))
    if not len(wrong):
        return None
    at = tuple(wrong[0])
    element, expected = np.atleast_1d(block)[at], np.atleast_1d(want)[at]
    return f"{len(wrong)} elements differ, first at {[int(i) for i in at]}: {element} instead of {expected}"
