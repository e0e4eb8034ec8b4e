"""Operands of programs on sharded tensors: each kind of placement as often as the next, pending folds more often."""

from __future__ import annotations

import itertools
import math
from typing import Final, Literal, get_args

from msgspec.structs import replace

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Placement, Split, even_cuts
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import chance
from conformance.generate.graphs.vocabulary import taking
from conformance.generate.sharded.placements import masked, some_replicas
from conformance.generate.sharded.programs import Program
from conformance.reference.graph.nodes import axes_of
from conformance.reference.sharded.placing import shape_of

EVEN: Final = ("even", "whole", "even")
"""Kinds of operands that all frameworks have words for."""

ODD: Final = ("uneven", "empty", "masked", "some", "pending", "uneven pending", "uneven")
"""Kinds of operands with bounds of their own, or of which not all is real."""

GRID: Final = ("crossed", "along", "crossed")
"""Kinds of operands that need a mesh of two axes: each cuts an axis, or both cut one."""

Kinds = Literal["even", "pending", "odd"]
"""Of which kinds the operands of a case are: of ``even`` ones, of pending folds of these too, or of any."""


def kinds(program: Program, which: Kinds) -> tuple[str, ...]:
    """Return the kinds of operands that a program may have."""
    grid = GRID if len(program.mesh) > 1 else ()
    late = () if which == "even" else ("pending", "pending", *(f"{word} pending" for word in grid))
    return (*EVEN, *grid, *late, *(ODD if which == "odd" else ()))


def operand(program: Program, word: str, dtype: str) -> Node:
    """Add a buffer placed as a kind says, or a fold of one that is to stay pending."""
    shape, where = _placed(program, word.removesuffix("pending").strip() or "even")
    made = held(program, shape, dtype, where)
    return folded(program, made, where) if word.endswith("pending") else made


def held(program: Program, shape: tuple[int, ...], dtype: str, where: Placement) -> Node:
    """Add a buffer at a place."""
    made = program.asked.buffer(shape, dtype)
    program.homes[made.id] = where
    return made


def folded(program: Program, at: Node, where: Placement) -> Node:
    """Add a pending fold of one axis that is split, or of all such axes."""
    draw = program.asked.draw
    splits = where.splits if chance(draw, 2) else (draw(choices.sampled_from(where.splits)),)
    folds: tuple[Fold, ...] = taking(at.dtype, get_args(Fold))  # type: ignore[assignment]  # these are folds
    linear = kind(at.dtype) != "bool" and bool(taking(at.dtype, ("add",))) and chance(draw, 2)
    fold = "add" if linear else draw(choices.sampled_from(folds))
    return pending(program, at, where, tuple(sorted(split.axis for split in splits)), fold)


def pending(program: Program, at: Node, where: Placement, axes: tuple[int, ...], fold: Fold) -> Node:
    """Add a fold of axes that are split, which is to stay pending along all the mesh axes that cut them."""
    kept = [axis for axis in range(len(at.shape)) if axis not in axes]
    made = program.asked.add("reduce", tuple(at.shape[axis] for axis in kept), at.dtype, at, arg=axes, fold=fold)
    program.moves[made.id] = Placement(
        splits=tuple(replace(each, axis=kept.index(each.axis)) for each in where.splits if each.axis in kept),
        partial={name: fold for each in where.splits if each.axis in axes for name in each.along},
    )
    return made


def like(program: Program, at: Node) -> Node:
    """Add another operand of the shape, the dtype and the placement of one, with data of its own."""
    where = program.at(at)
    if at.op != "reduce" or not where.partial:
        return held(program, shape_of(at), at.dtype, replace(where, partial={}))
    source = next(node for node in program.asked.nodes if node.id == at.of[0])
    home = program.at(source)
    axes = axes_of(at)
    fold: Fold = at.fold  # type: ignore[assignment]  # a reduce has one
    return pending(program, held(program, shape_of(source), at.dtype, home), home, axes, fold)


def _placed(program: Program, word: str) -> tuple[tuple[int, ...], Placement]:
    """Draw a shape and where a tensor of it is."""
    draw, mesh = program.asked.draw, program.mesh
    extents = [2, 4, *(axis.size for axis in mesh)] if program.even else [2, 3, 1, 4]
    shape = [draw(choices.sampled_from(extents)) for _ in range(draw(choices.sampled_from([2, 1, 3, 2])))]
    names = [axis.name for axis in (draw(choices.permutations(mesh)))]
    axes = draw(choices.permutations(range(len(shape))))
    if word == "whole":
        return tuple(shape), REPLICATED
    if word == "some":
        return tuple(shape), some_replicas(draw, mesh)
    if word == "masked":
        cut = Split(axis=axes[0], along=(names[0],), cuts=())
        shape[axes[0]] = draw(choices.sampled_from([3, 2, 4, 1, 5]))
        return tuple(shape), masked(draw, cut, mesh, tuple(shape))
    if word == "crossed" and len(shape) == 1:
        shape, axes = [*shape, 2], [1, 0]
    groups = [tuple(names)] if word == "along" else [(name,) for name in names[: 2 if word == "crossed" else 1]]
    splits = []
    for axis, along in zip(axes, groups, strict=False):
        sizes = {each.name: each.size for each in mesh}
        cuts = _cuts(draw, word, math.prod(sizes[name] for name in along))
        shape[axis] = cuts[-1]
        splits.append(Split(axis=axis, along=along, cuts=cuts))
    if len(splits) == 1 and len(shape) == 2 and chance(draw, 3):
        # A square can be cut alike along either axis.
        shape = [splits[0].cuts[-1]] * 2
    return tuple(shape), Placement(splits=tuple(splits))


def _cuts(draw: Draw, word: str, parts: int) -> tuple[int, ...]:
    if word == "uneven":
        widths = [draw(choices.integers(1, 3)) for _ in range(parts)]
        if chance(draw, 2):
            return even_cuts(2 * parts - 1, parts)
    elif word == "empty":
        widths = [draw(choices.integers(0, 2)) for _ in range(parts)]
        widths[draw(choices.integers(0, parts - 1))] = 0
    else:
        widths = [draw(choices.sampled_from([1, 2, 1] if parts > 4 else [2, 1, 3]))] * parts
    return (0, *itertools.accumulate(widths))
