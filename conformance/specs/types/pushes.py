"""The clauses about tangents of typed programs."""

from __future__ import annotations

from typing import Final

from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import pushed_alike, refused
from conformance.judging.typed_steps import Fits, OfSteps, about_steps
from conformance.reference.transforms.meaning import TypedMeaning


def _forth(meaning: TypedMeaning) -> bool:
    return meaning.case.kind == "pushed" and meaning.refused is None and meaning.no_rule is None


_LINEAR: Final = ("all_gather", "all_reduce", "all_to_all", "broadcast", "permute", "reduce_scatter", "shuffle")


def _push(id: str, text: str, source: str, fits: Fits) -> TypedClause:
    return about_steps(id, text, source, _forth, OfSteps(pushed_alike, fits))


PUSHES: Final = (
    TypedClause(
        "pushes.C1",
        "must",
        "The tangent of the result of a linear operation is what the operation gives of the tangents of its "
        "operands. The tangent of an axis_index is zero.",
        "ours: the derivative of a linear map",
        _forth,
        pushed_alike,
        "transforms",
        general=True,
    ),
    _push(
        "pushes.C2",
        "The tangent of a product of two values is the sum of each factor's tangent times the other factor.",
        "ours: the derivative of a product",
        lambda _, step: step.op == "multiply",
    ),
    _push(
        "pushes.C3",
        "The tangent of the result of a linear collective over mesh axes is the same collective, with the same "
        "attributes and groups, of the tangent of its operand.",
        "jax.psum; jax.ppermute; jax.all_gather; jax.psum_scatter; jax.all_to_all; jax.pbroadcast",
        lambda _, step: bool(step.axes) and step.op in _LINEAR,
    ),
    _push(
        "pushes.C4",
        "The tangent of the result of a ragged_all_to_all is the same exchange, with the same offsets and sizes, "
        "of the tangent of its operand into the tangent of the output that it writes over.",
        "jax.ragged_all_to_all: jvp rule",
        lambda _, step: step.op == "ragged_all_to_all",
    ),
    TypedClause(
        "pushes.C5",
        "may",
        "No tangent is defined of a program that takes a maximum or a minimum, over ranks or of two values, or that "
        "starts an operation. Raising an error is right, and so is a tangent of the implementation's own.",
        "jax.pmax; jax.start",
        lambda meaning: meaning.case.kind == "pushed" and meaning.no_rule is not None,
        refused,
        suite="transforms",
    ),
)
"""The clauses of tangents in the suite ``transforms``, the most particular last."""
