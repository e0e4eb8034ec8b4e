"""The clauses about chains of transposes, which a program that is the transpose of another shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.types.typed_case import arrays
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import pulled_alike
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.transforms.transposed_program import PREFIX
from conformance.reference.types.values import evaluate


def _chain(meaning: TypedMeaning) -> bool:
    """Speak of programs through which some cotangent comes back, step by step, to an input."""
    back = meaning.case.kind == "transposed" and meaning.refused is None and meaning.no_rule is None
    return back and meaning.turned is not None and bool(meaning.turned.results and meaning.turned.program.steps)


def _transposed_already(meaning: TypedMeaning) -> bool:
    return all(name.startswith(PREFIX) for name in meaning.case.program.inputs) and _chain(meaning)


def _as_turned(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand that what came back for inputs is what the transpose computes as a program."""
    turned = meaning.turned
    assert turned is not None
    zeros = {name: [np.zeros_like(block) for block in meaning.values[name]] for name in meaning.case.program.results}
    inputs = {PREFIX + name: blocks for name, blocks in (zeros | arrays(meaning.case.cotangents)).items()}
    values = evaluate(turned.program, inputs)
    back = {name: values[made] for name, made in turned.results.items()}
    return pulled_alike(replace(meaning, back=back), seen)


def _law(id: str, text: str, when: Callable[[TypedMeaning], bool]) -> TypedClause:
    source = "ours: the adjoint of a linear map"
    return TypedClause(id, "must", text, source, when, _as_turned, suite="transforms")


CHAINS: Final = (
    _law(
        "transposes.C19",
        "The transpose of a chain of steps is the chain of the transposes of the steps in reverse order.",
        _chain,
    ),
    _law(
        "transposes.C20",
        "The transpose of the transpose of a linear program computes what the program computes.",
        _transposed_already,
    ),
)
"""The laws of chains."""
