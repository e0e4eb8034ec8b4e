"""The clauses about typed programs that are mapped over new axes."""

from __future__ import annotations

from typing import Final

from conformance.judging.typed import TypedClause, TypedDivergence
from conformance.judging.typed_comparisons import mapped_alike
from conformance.judging.typed_steps import Fits, OfSteps, When, about_steps
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.specs.types.divergences import GATHERED, INDEX, PARTIAL, PERMUTED, UNCAST, across
from conformance.specs.types.starts import MAPPED


def _mapped(id: str, text: str, source: str, when: When, *diverges: TypedDivergence) -> TypedClause:
    general = id == "batches.C1"
    return TypedClause(id, "must", text, source, when, mapped_alike, "transforms", general, diverges=diverges)


def _steps(id: str, text: str, source: str, fits: Fits, *diverges: TypedDivergence) -> TypedClause:
    return about_steps(id, text, source, _any, OfSteps(mapped_alike, fits), *diverges)


def _has(*ops: str, where: tuple[str, ...] = ("mesh", "level")) -> Fits:
    """Tell steps over mesh axes alone or one level alone; of all others ``batches.C12`` speaks."""
    return lambda meaning, step: step.op in ops and across(meaning, step) in where


def _any(meaning: TypedMeaning) -> bool:
    return bool(meaning.case.batch) and meaning.refused is None and meaning.no_rule is None


def _unmapped(meaning: TypedMeaning) -> bool:
    return any(set(meaning.case.program.inputs) - set(level.inputs) for level in meaning.case.batch)


def _behind(meaning: TypedMeaning) -> bool:
    return any(level.result or any(level.inputs.values()) for level in meaning.case.batch)


BATCHES: Final = (
    _mapped(
        "batches.C1",
        "A program that is mapped over a level gives for each slice of the level what the program gives for the "
        "operands of that slice; in a step that names the level the slices meet as ranks along a mesh axis do.",
        "jax.vmap",
        _any,
        UNCAST,
    ),
    _mapped(
        "batches.C9",
        "Any axis of an input can be the axis of a level; each result has the axis of the level at the place that "
        "was asked for.",
        "jax.vmap: in_axes, out_axes",
        lambda meaning: _any(meaning) and _behind(meaning),
    ),
    _mapped(
        "batches.C10",
        "An input that a level does not map over has the same value in every slice of that level.",
        "jax.vmap: in_axes",
        lambda meaning: _any(meaning) and _unmapped(meaning),
    ),
    _mapped(
        "batches.C11",
        "Levels nest, the first one listed outermost: each maps over an axis of the slices that the levels outside "
        "it leave. Their axes are put into a result one after the other, that of the innermost level first of all, "
        "each at the place that its level asks for.",
        "jax.vmap",
        lambda meaning: _any(meaning) and len(meaning.case.batch) > 1,
    ),
    _steps(
        "batches.C2",
        "An all_reduce over mesh axes alone is computed for every slice of a level by itself; over a level alone "
        "it folds, on each rank, the blocks of the slices, and each of these slices has the result.",
        "jax.psum: batching rule; jax.pmax: batching rule",
        _has("all_reduce"),
    ),
    _steps(
        "batches.C3",
        "A permute, a send with its recv, or a shuffle over mesh axes alone moves the blocks of every slice of a "
        "level by itself; over a level alone it moves, on each rank, blocks from slice to slice.",
        "jax.ppermute: batching rule",
        _has("permute", "recv", "shuffle"),
        PARTIAL,
    ),
    _steps(
        "batches.C4",
        "An all_gather or a reduce_scatter over mesh axes alone is computed for every slice of a level by itself; "
        "over a level alone its members are, on each rank, the slices of the level.",
        "jax.all_gather: batching rule; jax.psum_scatter: batching rule",
        _has("all_gather", "reduce_scatter"),
    ),
    _steps(
        "batches.C5",
        "An all_to_all over mesh axes alone is computed for every slice of a level by itself; over a level alone "
        "its members are, on each rank, the slices of the level.",
        "jax.all_to_all: batching rule",
        _has("all_to_all"),
    ),
    _steps(
        "batches.C6",
        "A broadcast over mesh axes alone is computed for every slice of a level by itself; over a level alone "
        "its members are, on each rank, the slices of the level, and its root is one of these.",
        "jax.pbroadcast: batching rule",
        _has("broadcast"),
    ),
    _steps(
        "batches.C7",
        "A ragged_all_to_all over mesh axes alone is computed for every slice of a level by itself, with the same "
        "offsets and sizes, except as in `batches.C14`; over a level alone its members are, on each rank, the "
        "slices of the level.",
        "jax.ragged_all_to_all: batching rule",
        _has("ragged_all_to_all"),
    ),
    _steps(
        "batches.C14",
        "A ragged_all_to_all whose attribute `level` names a level takes in each slice of that level the offsets "
        "and sizes that the step lists for the slice.",
        "jax.ragged_all_to_all: batching rule",
        lambda _, step: bool(step.attrs.get("level")),
    ),
    _steps(
        "batches.C8",
        "The axis_index along a level alone is the number of the slice, counted from 0; along mesh axes alone it "
        "is the same in every slice.",
        "jax.axis_index: batching rule",
        _has("axis_index"),
    ),
    _steps(
        "batches.C12",
        "A step over several levels, or over levels and mesh axes, counts positions in row-major order of these "
        "axes as the step names them: the last one named changes fastest.",
        "jax.all_to_all: batching rule; jax.axis_index",
        _has(
            "all_reduce",
            "all_gather",
            "all_to_all",
            "axis_index",
            "broadcast",
            "permute",
            "ragged_all_to_all",
            "reduce_scatter",
            "shuffle",
            where=("both", "several"),
        ),
        INDEX,
        PERMUTED,
        GATHERED,
    ),
    _steps(
        "batches.C13",
        "The groups of a step over levels divide the positions along these levels as groups of a step over mesh "
        "axes divide the positions there: each group computes by itself.",
        "ours",
        lambda meaning, step: step.groups is not None and across(meaning, step) not in ("mesh", "nothing"),
    ),
    *MAPPED,
)
"""The clauses of programs mapped over levels, the most particular last."""
