"""Comparisons of an observation of a typed case with what the case means."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import arrays
from conformance.cases.types.typed_program import LOCAL, TypedProgram
from conformance.judging.clause import SILENT
from conformance.judging.compare import unequal
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.transforms.pairing import pairing, total
from conformance.reference.types.values import visible

Blocks = list[Array]

Names = Collection[str] | None
"""The values that are asked for which a check is about, ``None`` for all of them."""


def refused(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that the program was refused, by every rank: who ends or hangs has refused nothing, who goes on either."""
    went_on = [rank for rank, error in enumerate(seen.errors) if error is None]
    if seen.refused and not went_on:
        return None
    how = f"rank {went_on[0]} did not raise, others did" if seen.refused else accepted(meaning, seen)
    return f"{how or 'accepted without an error'}: {meaning.refused or meaning.no_rule}"


def accepted(_: TypedMeaning, seen: Observation) -> str | None:
    """Demand that the program was not refused."""
    error = next((error for error in seen.errors if error is not None), None)
    if error is None:
        return None
    return f"raised {error.kind}: {error.message.splitlines()[0] if error.message else 'without a message'}"


def typed_alike(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that each value that a step makes has the type that the rules give it."""
    for step in meaning.case.program.steps:
        wanted, got = meaning.types[step.output], seen.types.get(step.output)
        if got != wanted and not (got and _but_for(ones(meaning.case.program), got, wanted)):
            return f"{step.output} ({step.op}) is typed {got}; expected {wanted}"
    return None


def ones(program: TypedProgram) -> tuple[str, ...]:
    """Return the axes of one rank that a program may name."""
    return tuple(axis.name for axis in program.mesh if axis.size == 1 and axis.name in program.names)


def _but_for(alone: Collection[str], got: AxisType, wanted: AxisType) -> bool:
    """Return whether two types are one but for axes that the first leaves out: those of one rank."""
    named = {*got.varying, *got.unreduced, *got.reduced, *wanted.varying, *wanted.unreduced, *wanted.reduced}
    return all(
        got.state(axis) == wanted.state(axis) or (axis in alone and got.state(axis) == "invariant") for axis in named
    )


def invariant_along_ones(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that no value has a state along an axis of one rank; say nothing where some value has no type."""
    for step in meaning.case.program.steps:
        got = seen.types.get(step.output)
        for axis in ones(meaning.case.program):
            if got is not None and got.state(axis) != "invariant":
                return f"{step.output} ({step.op}) is {got.state(axis)} along {axis!r}, which has one rank"
    return None if all(step.output in seen.types for step in meaning.case.program.steps) else SILENT


def same_along(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that a result is bit for bit the same along the axes where it is invariant or reduced.

    Say nothing where some block is missing, and where there are no two ranks to hold the same.
    """
    told, missing = False, [name for name in meaning.case.program.results if None in seen.results.get(name, (None,))]
    for name, blocks in (
        (name, _arrays(seen.results[name])) for name in meaning.case.program.results if name not in missing
    ):
        of = meaning.types[name]
        for axis in meaning.case.program.names:
            if of.state(axis) == "varying":
                continue
            for line in lines(meaning.case.program.mesh, (axis,)):
                told |= len(line) > 1
                if len({blocks[rank].tobytes() for rank in line}) > 1:
                    return f"{name} is {of.state(axis)} along {axis!r}, and ranks {list(line)} hold different blocks"
    return None if told and not missing else SILENT


def valued_alike(meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
    """Demand the reference's values; of an unreduced result its sum."""
    return _unlike(_visible(meaning, meaning.values, names), seen.results, _moved(meaning))


def as_first_done(meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
    """Demand what ``valued_alike`` does, and of all dones of one start the same bits.

    Of an unreduced value a sum is shown, in which a zero can have any sign.
    """
    if problem := valued_alike(meaning, seen, names):
        return problem
    firsts: dict[str, str] = {}
    for step in meaning.case.program.steps:
        if step.op == "done" and step.output in seen.results and not meaning.types[step.output].unreduced:
            first = firsts.setdefault(step.inputs[0], step.output)
            if list(seen.results[first]) != list(seen.results[step.output]):
                return f"{step.output} has other bits than {first}, the result of the first done"
    return None


def typed_and_valued_alike(meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
    """Demand the type that the rules give of each value, where types are checked, and the reference's values."""
    types = typed_alike(meaning, seen) if meaning.case.program.checked else None
    return types or valued_alike(meaning, seen, names)


def mapped_alike(meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
    """Demand the results that the slices give, one for each."""
    return _unlike(_among(meaning.values, names), seen.results, _moved(meaning))


def pulled_alike(meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
    """Demand that the cotangent of every input is what the transposes give."""
    return _unlike(_among(meaning.back, names), seen.results)


def pushed_alike(meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
    """Demand that the tangent of every result is what the rules of tangents give."""
    return _unlike(_visible(meaning, meaning.pushed, names), seen.results, _moved(meaning))


def _visible(meaning: TypedMeaning, values: Mapping[str, Blocks], names: Names) -> dict[str, Blocks]:
    """Return what the results show, or those of them that are among some names."""
    program = meaning.case.program
    results = _among({name: values[name] for name in program.results}, names)
    return {name: visible(program, meaning.types[name], blocks) for name, blocks in results.items()}


def _among(values: Mapping[str, Blocks], names: Names) -> Mapping[str, Blocks]:
    return values if names is None else {name: blocks for name, blocks in values.items() if name in names}


def adjoint(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that results paired with their cotangents come to what the inputs do with what came back for them."""
    mesh, given = meaning.case.program.mesh, arrays(meaning.case.cotangents)
    inputs = arrays(meaning.case.inputs)
    if problem := _no_cotangents(inputs, seen):
        return problem
    forth = [pairing(mesh, meaning.paired[name], meaning.values[name], given[name]) for name in given]
    back = [pairing(mesh, meaning.paired[name], blocks, _arrays(seen.results[name])) for name, blocks in inputs.items()]
    went, came = total(forth), total(back)
    return None if went == came else f"results and cotangents pair to {went}, inputs and what came back to {came}"


def _no_cotangents(inputs: Mapping[str, Blocks], seen: Observation) -> str | None:
    """Return why what came back cannot be paired with inputs: a block is missing, of another shape or not finite."""
    for name, blocks in inputs.items():
        found = seen.results.get(name, ())
        if len(found) != len(blocks):
            return f"the cotangent of {name} has {len(found)} blocks for {len(blocks)} ranks"
        for rank, (block, got) in enumerate(zip(blocks, found, strict=True)):
            if got is None or got.shape != block.shape:
                shape = "missing" if got is None else f"of shape {list(got.shape)}"
                return f"the cotangent of {name} on rank {rank} is {shape}; expected shape {list(block.shape)}"
            if not np.isfinite(to_array(got).astype(np.complex128)).all():
                return f"the cotangent of {name} on rank {rank} is not finite everywhere"
    return None


_FOLDING: Final = ("all_reduce", "reduce_scatter")


def _moved(meaning: TypedMeaning) -> frozenset[str]:
    """Return the values that steps only move, so that each of their bits is an operand's, or of a zero put there."""
    computed = {name for name, each in meaning.types.items() if each.unreduced}  # a sum is shown of it
    for step in meaning.case.program.steps:
        if step.op in (*LOCAL, *_FOLDING) or computed.intersection(step.inputs):
            computed.add(step.output)
    return frozenset(meaning.types.keys() - computed)


def _arrays(blocks: Sequence[Tensor | None]) -> Blocks:
    return [np.zeros(0) if block is None else to_array(block) for block in blocks]


def _unlike(
    wanted: Mapping[str, Blocks], seen: Mapping[str, Sequence[Tensor | None]], moved: Collection[str] = ()
) -> str | None:
    """Return the first difference of values, for a computed zero has any sign, and of ``moved`` ones of bits."""
    for name, blocks in wanted.items():
        if len(seen.get(name, ())) != len(blocks):
            return f"{name} has {len(seen.get(name, ()))} blocks for {len(blocks)} ranks"
        for rank, (want, got) in enumerate(zip(blocks, seen[name], strict=True)):
            if problem := _difference(want, got, bits=name in moved):
                return f"{name} on rank {rank}: {problem}"
    return None


def _difference(want: Array, got: Tensor | None, *, bits: bool) -> str | None:
    if got is None:
        return "no block"
    alike = (got.dtype, got.shape) == (logical(want.dtype), want.shape)
    if alike and got.bits == want.tobytes().hex():
        return None
    block = to_array(got)
    if not alike:
        return f"dtype is {got.dtype}, shape is {list(got.shape)}; expected {want.dtype}, {list(want.shape)}"
    wrong = np.argwhere(np.atleast_1d(unequal(want, got, any_nan=False).reshape(want.shape) if bits else block != want))
    if not len(wrong):
        return None
    at = tuple(wrong[0])
    element, expected = np.atleast_1d(block)[at], np.atleast_1d(want)[at]
    return f"{len(wrong)} elements differ, first at {[int(i) for i in at]}: {element} instead of {expected}"
