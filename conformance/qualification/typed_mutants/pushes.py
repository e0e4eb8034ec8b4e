"""Wrong tangents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.transforms import pushforward as right

Blocks = list[Array]
Given = Mapping[str, Blocks]
Change = Callable[[TypedStep, Given, Given, Blocks], Blocks]

right_tangent = right.tangent


def _wrong(name: str, text: str, change: Change, *ops: str) -> TypedMutant:
    """Return the mutant that changes the tangents of what steps of ``ops`` make, on which later ones go on."""

    def tangent(program: TypedProgram, step: TypedStep, values: Given, tangents: Given) -> Blocks:
        made = right_tangent(program, step, values, tangents)
        return change(step, values, tangents, made) if step.op in ops else made

    return TypedMutant(name, text, {"conformance.reference.transforms.pushforward.tangent": tangent})


def _first_term(step: TypedStep, values: Given, tangents: Given, _: Blocks) -> Blocks:
    return [a * db for a, db in zip(values[step.inputs[0]], tangents[step.inputs[1]], strict=True)]


def _without_output(step: TypedStep, _: Given, tangents: Given, made: Blocks) -> Blocks:
    """Leave the tangent of output out, where no rows arrive."""
    before = tangents[step.inputs[1]]
    return [np.where(block == old, 0, block).astype(block.dtype) for block, old in zip(made, before, strict=True)]


def _value(step: TypedStep, values: Given, _: Given, __: Blocks) -> Blocks:
    return values[step.output]


def _nothing(_: TypedStep, __: Given, ___: Given, made: Blocks) -> Blocks:
    return [np.zeros_like(block) for block in made]


MUTANTS: Final = (
    _wrong("ProductsFirstTerm", "Half of the rule of products.", _first_term, "multiply"),
    _wrong("RaggedOutputForgotten", "The tangent of output is left out.", _without_output, "ragged_all_to_all"),
    _wrong("TangentOfASumIsTheSum", "The value stands for the tangent.", _value, "all_reduce"),
    _wrong("TangentOfAGatherIsTheValue", "The value stands for the tangent.", _value, "all_gather"),
    _wrong("PermutedTangentIsZero", "", _nothing, "permute", "shuffle"),
    _wrong("ScatteredTangentIsZero", "", _nothing, "reduce_scatter"),
    _wrong("RaggedTangentIsZero", "", _nothing, "ragged_all_to_all"),
)
