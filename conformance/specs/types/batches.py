"""The clauses about typed programs that are mapped over new axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.judging.typed import TypedClause, TypedDivergence
from conformance.judging.typed_comparisons import mapped_alike
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.specs.types.divergences import GATHERED, INDEX, PARTIAL, PERMUTED, UNCAST, across
from conformance.specs.types.starts import MAPPED

When = Callable[[TypedMeaning], bool]


def _mapped(number: int, text: str, source: str, when: When, *diverges: TypedDivergence) -> TypedClause:
    id = f"batches.C{number}"
    general = number == 1
    return TypedClause(id, "must", text, source, when, mapped_alike, "transforms", general, diverges=diverges)


def _has(*ops: str, where: tuple[str, ...] = ("mesh", "level", "several", "both")) -> When:
    return lambda meaning: (
        _any(meaning) and any(step.op in ops and across(meaning, step) in where for step in meaning.case.program.steps)
    )


def _any(meaning: TypedMeaning) -> bool:
    return bool(meaning.case.batch) and meaning.refused is None and meaning.no_rule is None


def _unmapped(meaning: TypedMeaning) -> bool:
    return any(set(meaning.case.program.inputs) - set(level.inputs) for level in meaning.case.batch)


def _behind(meaning: TypedMeaning) -> bool:
    return any(level.result or any(level.inputs.values()) for level in meaning.case.batch)


BATCHES: Final = (
    _mapped(
        1,
        "A program that is mapped over a new axis gives for each slice of its inputs what the program gives for that "
        "slice; in a step that names the new axis the slices meet as ranks do.",
        "jax.vmap",
        _any,
        UNCAST,
    ),
    _mapped(
        9,
        "Any axis of an input can be the mapped one; each result has the mapped axis at the place that was asked for.",
        "jax.vmap: in_axes, out_axes",
        _behind,
    ),
    _mapped(10, "An input that is not mapped is the same in every slice.", "jax.vmap: in_axes", _unmapped),
    _mapped(
        11,
        "Levels nest: each level maps over an axis of the slices that the levels outside it leave.",
        "jax.vmap",
        lambda meaning: len(meaning.case.batch) > 1,
    ),
    _mapped(
        2,
        "A reduction over mesh axes is computed for every slice; a reduction over a level reduces the slices of each "
        "rank, and each of these slices has the result.",
        "jax.psum: batching rule; jax.pmax: batching rule",
        _has("all_reduce"),
    ),
    _mapped(
        3,
        "A permute, a send with its recv, or a shuffle over mesh axes moves the blocks of every slice; over a mapped "
        "axis it moves the slices of each rank.",
        "jax.ppermute: batching rule",
        _has("permute", "recv", "shuffle"),
        PARTIAL,
    ),
    _mapped(
        4,
        "An all_gather or a reduce_scatter over mesh axes is computed for every slice; over a mapped axis its members "
        "are the slices of each rank.",
        "jax.all_gather: batching rule; jax.psum_scatter: batching rule",
        _has("all_gather", "reduce_scatter"),
    ),
    _mapped(
        5,
        "An all_to_all over mesh axes is computed for every slice; over a mapped axis its members are the slices of "
        "each rank.",
        "jax.all_to_all: batching rule",
        _has("all_to_all"),
    ),
    _mapped(
        6,
        "A broadcast over mesh axes is computed for every slice; over a mapped axis its root is a slice.",
        "jax.pbroadcast: batching rule",
        _has("broadcast"),
    ),
    _mapped(
        7,
        "A ragged_all_to_all over mesh axes is computed for every slice, with the offsets and sizes of the step; over "
        "a mapped axis its members are the slices of each rank. With the attribute `level` it is as in `batches.C14`.",
        "jax.ragged_all_to_all: batching rule",
        _has("ragged_all_to_all"),
    ),
    _mapped(
        14,
        "A ragged_all_to_all whose attribute `level` names a level takes for each slice of that level the slice's own "
        "offsets and sizes.",
        "jax.ragged_all_to_all: batching rule",
        lambda meaning: _any(meaning) and any(step.attrs.get("level") for step in meaning.case.program.steps),
    ),
    _mapped(
        8,
        "The axis_index along a level is the number of the slice, and along mesh axes it is the same in every slice.",
        "jax.axis_index: batching rule",
        _has("axis_index"),
    ),
    _mapped(
        12,
        "A step over several levels, or over levels and mesh axes in any order, counts positions in row-major "
        "order of these axes as it names them.",
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
    _mapped(
        13,
        "Groups divide the positions along a mapped axis as they divide those along mesh axes.",
        "ours",
        lambda meaning: _any(meaning) and any(step.groups is not None for step in meaning.case.program.steps),
    ),
    *MAPPED,
)
"""The clauses of programs mapped over levels, the most particular last."""
