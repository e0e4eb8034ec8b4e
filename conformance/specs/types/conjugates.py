"""The clause about transposes of products of complex numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array, kind
from conformance.cases.types.typed_case import arrays
from conformance.judging.clause import SILENT
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import pulled_alike
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.transforms.pullback import pullback

Blocks = list[Array]


def _multiplies(meaning: TypedMeaning) -> bool:
    """Return whether a program that has a transpose multiplies complex numbers."""
    program = meaning.case.program
    back = meaning.case.kind == "transposed" and meaning.refused is None and meaning.no_rule is None
    complex_ones = any(kind(given.dtype) == "complex" for given in program.inputs.values())
    return back and complex_ones and any(step.op == "multiply" for step in program.steps)


def _conjugate(values: Mapping[str, Blocks]) -> dict[str, Blocks]:
    return {name: [np.conj(block) for block in blocks] for name, blocks in values.items()}


def _as_they_are(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that what came back is not, in the place of what is right, conjugate to what conjugate cotangents give.

    Say nothing where these are one, and where something else came back.
    """
    case = meaning.case
    back = pullback(case.program, arrays(case.inputs), _conjugate(arrays(case.cotangents)))
    right, taken = (pulled_alike(each, seen) is None for each in (meaning, replace(meaning, back=_conjugate(back))))
    if right == taken:
        return SILENT
    return None if right else "factors were taken for their conjugates"


CONJUGATE: Final = TypedClause(
    "transposes.C21",
    "must",
    "The transpose of a product by a complex factor multiplies the cotangent by the factor itself, not by its "
    "conjugate.",
    "jax.local: _mul_transpose_left, _mul_transpose_right",
    _multiplies,
    _as_they_are,
    suite="transforms",
)
"""The clause about factors and their conjugates."""
