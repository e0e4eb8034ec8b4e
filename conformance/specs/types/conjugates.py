"""The clause about transposes of products of complex numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array, kind
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.cases.types.typed_case import arrays
from conformance.judging.clause import SILENT
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import pulled_alike
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.transposes import TRANSPOSES, Act, Rule, multiply

Blocks = list[Array]

Factor = tuple[str, int]
"""A product, by its name, and the number of the factor whose cotangent is made of the other one."""


def _products(meaning: TypedMeaning) -> list[str]:
    return [step.output for step in meaning.case.program.steps if step.op == "multiply"]


def _conjugating(chosen: Collection[Factor]) -> Rule:
    """Return the transpose of a product that takes factors for their conjugates where the cotangents are chosen."""

    def rule(act: Act, given: Blocks) -> list[Blocks]:
        factors = tuple([np.conj(block) for block in blocks] for blocks in act.operands)
        both = zip(multiply(act, given), multiply(replace(act, operands=factors), given), strict=True)
        return [wrong if (act.step.output, at) in chosen else right for at, (right, wrong) in enumerate(both)]

    return rule


def _pulled(meaning: TypedMeaning, chosen: Collection[Factor]) -> dict[str, Blocks]:
    case, rules = meaning.case, {**TRANSPOSES, "multiply": _conjugating(chosen)}
    return pullback(case.program, arrays(case.inputs), arrays(case.cotangents), rules)


def _mistaken(meaning: TypedMeaning) -> Iterator[dict[str, Blocks]]:
    """Yield what comes back with conjugates in all products, of each factor in all of them, and in each product."""
    every = [(name, at) for name in _products(meaning) for at in range(2)]
    kinds = [every, *([each for each in every if each[1] == at] for at in range(2))]
    kinds += [[each for each in every if each[0] == name] for name in _products(meaning)]
    for chosen in (*kinds, *([each] for each in every)):
        yield _pulled(meaning, chosen)


def _tells(meaning: TypedMeaning) -> bool:
    """Return whether it shows in what comes back of a program whether factors are taken for their conjugates."""
    program = meaning.case.program
    back = meaning.case.kind == "transposed" and meaning.refused is None and meaning.no_rule is None
    complex_ones = any(kind(given.dtype) == "complex" for given in program.inputs.values())
    if not (back and complex_ones and _products(meaning)):
        return False
    wrong = _pulled(meaning, [(name, at) for name in _products(meaning) for at in range(2)])
    return any(
        not np.array_equal(right, other)
        for name, blocks in meaning.back.items()
        for right, other in zip(blocks, wrong[name], strict=True)
    )


def _as_they_are(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that no block that came back is wrong as it is where factors are taken for their conjugates.

    Nothing is said of what is wrong in another way.
    """
    if pulled_alike(meaning, seen) is None:
        return None
    for wrong in _mistaken(meaning):
        for name, blocks in meaning.back.items():
            for right, other, got in zip(blocks, wrong[name], seen.results.get(name, ()), strict=False):
                if got is not None and _is_mistaken(right, other, got):
                    return f"factors were taken for their conjugates in what comes back for {name}"
    return SILENT


def _is_mistaken(right: Array, wrong: Array, got: Tensor) -> bool:
    """Return whether a block has wrong elements, and all of them are those of a mistake."""
    block = to_array(got)
    if (block.dtype, block.shape) != (right.dtype, right.shape):
        return False
    other = np.asarray(block != right)
    return bool(other.any()) and bool((block[other] == np.asarray(wrong)[other]).all())


CONJUGATE: Final = TypedClause(
    "transposes.C21",
    "must",
    "The transpose of a product by a complex factor multiplies the cotangent by the factor itself, not by its "
    "conjugate.",
    "jax.local: _mul_transpose_left, _mul_transpose_right",
    _tells,
    _as_they_are,
    suite="transforms",
)
"""The clause about factors and their conjugates."""
