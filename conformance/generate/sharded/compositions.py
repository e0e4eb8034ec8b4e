"""What frameworks have one word for and programs several steps: joins, stacks, scatters, softmax, norms, products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Placement
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import chance
from conformance.generate.graphs.vocabulary import taking
from conformance.generate.sharded.operands import held, like
from conformance.generate.sharded.programs import Program
from conformance.reference.sharded.placing import shape_of

JOINS: Final = ("add", "or", "max", "xor")
"""Operations that put values in their places together, of which the zeros around each change none or some."""

MOST_PARTS: Final = 4
"""Parts, columns or indices that a composition has at most: results stay small enough to read."""


def joined(program: Program) -> bool:
    """Go on with the head and another value, one behind the other along an axis, split or not."""
    asked, draw = program.asked, program.asked.draw
    at = asked.head
    if not at.shape:
        return False
    axis = draw(choices.integers(0, len(at.shape) - 1))
    other = like(program, at) if chance(draw, 2) else program.buffer(shape_of(at), at.dtype, program.at(at))
    pair = (at, other) if chance(draw, 2) else (other, at)
    return _together(program, pair, axis)


def stacked(program: Program) -> bool:
    """Go on with ranges of the head as slices along an axis of their own: its parts, where they are of one size."""
    asked, draw = program.asked, program.asked.draw
    at, where = asked.head, program.at(asked.head)
    shape = shape_of(at)
    if not shape or not all(shape):
        return False
    axis = where.splits[0].axis if where.splits else draw(choices.integers(0, len(shape) - 1))
    count = next((n for n in (len(where.splits[0].cuts) - 1 if where.splits else 2, 2) if n <= MOST_PARTS), 1)
    width = shape[axis] // count or 1
    slices = []
    for number in range(min(count, shape[axis] // width)):
        pairs = [(0, extent) for extent in shape]
        pairs[axis] = (number * width, (number + 1) * width)
        one = asked.moved("shrink", tuple(end - begin for begin, end in pairs), at, tuple(pairs))
        slices.append(asked.moved("reshape", (1, *one.shape), one))
    return _together(program, slices, 0) if len(slices) > 1 else asked.on(slices[0])


def _together(program: Program, values: Sequence[Node], axis: int) -> bool:
    """Go on with values of one shape, each in its place along an axis."""
    asked = program.asked
    extent = shape_of(values[0])[axis]
    shape = (*values[0].shape[:axis], extent * len(values), *values[0].shape[axis + 1 :])
    word = asked.draw(choices.sampled_from(taking(values[0].dtype, JOINS)))
    made: Node | None = None
    for number, value in enumerate(values):
        around = [(0, 0)] * len(shape)
        around[axis] = (number * extent, (len(values) - 1 - number) * extent)
        placed = asked.moved("pad", shape, value, tuple(around))
        made = placed if made is None else asked.add("alu", shape, value.dtype, made, placed, arg=word)
    return made is not None and asked.on(made)


def scattered(program: Program) -> bool:
    """Go on with the head's elements along an axis at places that indices number; several at one are folded."""
    asked, draw = program.asked, program.asked.draw
    at = asked.head
    shape = shape_of(at)
    if not shape or not 0 < shape[0] <= MOST_PARTS:
        return False
    count, rest = shape[0], shape[1:]
    extent = draw(choices.sampled_from([program.mesh[0].size, count, 3]))
    index = program.buffer((count,), "int32")
    asked.buffers[str(index.arg)] = from_array(
        np.array([draw(choices.integers(0, extent - 1)) for _ in range(count)], NUMPY["int32"])
    )
    asked.open.discard(index.id)
    whole = (extent, count, *rest)
    ones = (1,) * len(rest)
    line = asked.add("iota", (extent, count), "int32", arg=0)
    lists = asked.moved("expand", (extent, count), asked.moved("reshape", (1, count), index))
    there = asked.add("alu", (extent, count), "bool", line, lists, arg="eq")
    there = asked.moved("expand", whole, asked.moved("reshape", (extent, count, *ones), there))
    value = asked.moved("expand", whole, asked.moved("reshape", (1, *at.shape), at))
    zero = asked.add("const", whole, at.dtype, arg=from_array(np.zeros((), NUMPY[at.dtype])))
    picked = asked.add("alu", whole, at.dtype, there, value, zero, arg="where")
    fold = draw(choices.sampled_from(taking(at.dtype, ("add", "max", "add")) or ("or",)))
    return asked.on(asked.add("reduce", (extent, *rest), at.dtype, picked, arg=(1,), fold=fold))


def softmax(program: Program) -> bool:
    """Go on with powers of two of the head beside its maximum, divided by their sum."""
    asked = program.asked
    at = asked.head
    if not _real(at):
        return False
    axis = _axis(program, at)
    less = asked.add("alu", at.shape, at.dtype, at, _spread(program, at, axis, "max"), arg="sub")
    power = asked.add("alu", at.shape, at.dtype, less, arg="exp2")
    return asked.on(asked.add("alu", at.shape, at.dtype, power, _spread(program, power, axis, "add"), arg="div"))


def norm(program: Program) -> bool:
    """Go on with the head divided by the root of the sum of its squares, along an axis."""
    asked = program.asked
    at = asked.head
    if not _real(at):
        return False
    squares = asked.add("alu", at.shape, at.dtype, at, at, arg="mul")
    size = asked.add("alu", at.shape, at.dtype, _spread(program, squares, _axis(program, at), "add"), arg="sqrt")
    return asked.same("alu", size, arg="div")


def _real(at: Node) -> bool:
    return bool(at.shape) and kind(at.dtype) == "float" and all(shape_of(at)) and _has_sums(at)


def _has_sums(at: Node) -> bool:
    return bool(taking(at.dtype, ("add",)))


def _axis(program: Program, at: Node) -> int:
    """Draw an axis: one that is split in half of all draws, if there is one."""
    draw = program.asked.draw
    cut = [split.axis for split in program.at(at).splits]
    return draw(choices.sampled_from(cut if cut and chance(draw, 2) else range(len(at.shape))))


def _spread(program: Program, at: Node, axis: int, fold: str) -> Node:
    """Return the fold of an axis, as long as the axis again."""
    asked = program.asked
    kept = (*at.shape[:axis], *at.shape[axis + 1 :])
    made = asked.add("reduce", kept, at.dtype, at, arg=(axis,), fold=fold)
    return asked.moved("expand", at.shape, asked.moved("reshape", (*at.shape[:axis], 1, *at.shape[axis + 1 :]), made))


def product(program: Program) -> bool:
    """Go on with the product of two matrices, the head on either side, each placed in its own way."""
    asked, draw = program.asked, program.asked.draw
    at = asked.head
    shape = shape_of(at)
    if len(shape) != 2 or kind(at.dtype) == "bool" or not _has_sums(at):
        return False
    first = chance(draw, 2)
    extent = draw(choices.sampled_from([2, program.mesh[0].size, 3]))
    inner = shape[1] if first else shape[0]
    size = (inner, extent) if first else (extent, inner)
    where = program.somewhere(size, REPLICATED)
    other = held(program, size, at.dtype, where)
    left, right = (at, other) if first else (other, at)
    rows, columns = shape_of(left)[0], shape_of(right)[1]
    if rows * inner * columns > 4 * 48:
        return False
    whole = (rows, inner, columns)
    one = asked.moved("expand", whole, asked.moved("reshape", (rows, inner, 1), left))
    two = asked.moved("expand", whole, asked.moved("reshape", (1, inner, columns), right))
    both = asked.add("alu", whole, at.dtype, one, two, arg="mul")
    return asked.on(asked.add("reduce", (rows, columns), at.dtype, both, arg=(1,), fold="add"))


def selected(program: Program) -> bool:
    """Go on with the head on one device, or on some; and often with it on all of them again."""
    asked, draw = program.asked, program.asked.draw
    at = asked.head
    axis = draw(choices.sampled_from(program.mesh))
    one = draw(choices.integers(0, axis.size - 1))
    made = asked.add("copy", at.shape, at.dtype, at)
    mask = tuple(number == one or chance(draw, 4) for number in range(axis.size))
    program.moves[made.id] = Placement() if program.plain else Placement(masks={axis.name: mask})
    asked.on(made)
    if chance(draw, 2):
        asked.on(asked.add("copy", at.shape, at.dtype, made))
    return True


def cloned(program: Program) -> bool:
    """Go on with a copy where its source is, which is written afterwards if it is storage."""
    asked = program.asked
    at = asked.head
    made = asked.add("copy", at.shape, at.dtype, at)
    where = program.at(at)
    program.moves[made.id] = Placement(splits=where.splits, masks=where.masks)
    if at.op == "buf" and at.id in asked.open:
        asked.add("assign", at.shape, at.dtype, at, like(program, at))
        asked.written.append(str(at.arg))
    return asked.on(made)
