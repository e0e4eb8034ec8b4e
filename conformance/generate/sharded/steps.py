"""What is done with one operand of a program on sharded tensors: each goes on from the head, if there is a way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import chance
from conformance.generate.graphs.vocabulary import taking
from conformance.generate.sharded.compositions import (
    cloned,
    joined,
    norm,
    product,
    scattered,
    selected,
    softmax,
    stacked,
)
from conformance.generate.sharded.operands import held, like
from conformance.generate.sharded.programs import STEPS, Program, move, other, part, parts
from conformance.reference.sharded.placing import shape_of

Use = Callable[[Program], bool]

BINARY: Final = ("add", "mul", "max", "sub", "min", "xor", "and", "or", "mul", "add")
UNARY: Final = ("neg", "neg", "not", "abs", "recip", "sqrt", "trunc")


def _word(program: Program, words: tuple[str, ...]) -> str:
    return program.asked.draw(choices.sampled_from(taking(program.asked.head.dtype, words)))


def _pair(program: Program, one: Node, two: Node) -> bool:
    asked = program.asked
    pair = (one, two) if chance(asked.draw, 2) else (two, one)
    return asked.on(asked.add("alu", one.shape, one.dtype, *pair, arg=_word(program, BINARY)))


def twice(program: Program) -> bool:
    """Go on with an operation that has the head as both operands."""
    return _pair(program, program.asked.head, program.asked.head)


def constant(program: Program) -> bool:
    """Go on with an operation on the head and a constant or a count, which every device has."""
    asked = program.asked
    at = asked.head
    counted = at.shape and kind(at.dtype) in ("integer", "float") and chance(asked.draw, 3)
    axis = asked.draw(choices.integers(0, max(len(at.shape) - 1, 0)))
    return _pair(program, at, asked.add("iota", at.shape, at.dtype, arg=axis) if counted else asked.constant(at))


def alike(program: Program) -> bool:
    """Go on with an operation on the head and another value that is placed alike."""
    return _pair(program, program.asked.head, like(program, program.asked.head))


def single(program: Program) -> bool:
    """Go on with an operation on the head alone."""
    asked = program.asked
    at, words = asked.head, taking(asked.head.dtype, UNARY)
    return bool(words) and asked.on(
        asked.add("alu", at.shape, at.dtype, at, arg=asked.draw(choices.sampled_from(words)))
    )


def choice(program: Program) -> bool:
    """Go on with the head or a value that is placed alike or otherwise, by a comparison of the two."""
    asked = program.asked
    at = asked.head
    near = like(program, at) if chance(asked.draw, 2) else _beside(program, at)
    made = asked.add("alu", at.shape, "bool", at, near, arg=_word(program, ("lt", "ne", "eq")))
    return asked.on(asked.add("alu", at.shape, at.dtype, made, at, near, arg="where"))


def _beside(program: Program, at: Node) -> Node:
    return program.buffer(shape_of(at), at.dtype, program.at(at))


def fold(program: Program) -> bool:
    """Go on with a fold of one axis, in half of all draws one that is split, of two, or of all."""
    asked, draw = program.asked, program.asked.draw
    at, rank = asked.head, len(asked.head.shape)
    if not rank:
        return False
    cut = [split.axis for split in program.at(at).splits]
    every = cut if cut and chance(draw, 2) else range(rank)
    axes = sorted(draw(choices.subsets(every)) if chance(draw, 3) else [draw(choices.sampled_from(every))])
    kept = tuple(extent for axis, extent in enumerate(at.shape) if axis not in axes)
    # Frameworks fold integers by none of the words of bits. A maximum shows what a part is padded with.
    bits = kind(at.dtype) == "bool" or not program.even
    folds = ("add", "max", "mul", "max", "min", *(("and", "or", "xor") if bits else ()))
    return asked.on(asked.add("reduce", kept, at.dtype, at, arg=tuple(axes), fold=_word(program, folds)))


def turned(program: Program) -> bool:
    """Go on with all axes in another order, that of no exchange of two where there are three."""
    asked = program.asked
    at, rank = asked.head, len(asked.head.shape)
    if rank < 2:
        return False
    by = asked.draw(choices.integers(1, rank - 1))
    arg = tuple((axis + by) % rank for axis in range(rank))
    return asked.on(asked.moved("permute", tuple(at.shape[axis] for axis in arg), at, arg))


def taken(program: Program) -> bool:
    """Go on with elements of the head along an axis, by indices that are placed somewhere, split as a rule."""
    asked, draw = program.asked, program.asked.draw
    at = asked.head
    axes = [axis for axis, extent in enumerate(shape_of(at)) if extent]
    if not axes:
        return False
    axis = draw(choices.sampled_from(axes))
    count = draw(choices.sampled_from([2, 1])) * program.mesh[0].size
    shape = (*at.shape[:axis], count, *at.shape[axis + 1 :])
    if not asked.room(shape):
        return False
    dtype = draw(choices.sampled_from(["int32", "int64", "int32", "uint8"]))
    index = program.buffer((count,), dtype)
    listed = [draw(choices.integers(0, shape_of(at)[axis] - 1)) for _ in range(count)]
    asked.buffers[str(index.arg)] = from_array(np.array(listed, NUMPY[dtype]))
    # What is written from outside, or assigned, might number no element.
    asked.open.discard(index.id)
    return asked.on(asked.add("gather", shape, at.dtype, at, index, arg=axis))


def written(program: Program) -> bool:
    """Assign the head to storage that is placed alike or otherwise, and go on with all of it."""
    asked = program.asked
    at = asked.head
    where = program.at(at)
    same = chance(asked.draw, 2) and not where.partial
    target = held(program, shape_of(at), at.dtype, where) if same else _beside(program, at)
    asked.add("assign", at.shape, at.dtype, target, at)
    asked.written.append(str(target.arg))
    return asked.on(target)


def before(program: Program) -> bool:
    """Go on with a copy or a use of storage that is assigned to afterwards: it keeps what it was of."""
    asked, draw = program.asked, program.asked.draw
    at = asked.head
    storage = next((node for node in asked.nodes if node.id in at.of and node.op == "buf"), at)
    if storage.op != "buf":
        return False
    if at is storage:
        made = asked.add("copy", at.shape, at.dtype, at)
        same = chance(draw, 2)
        program.moves[made.id] = program.at(at) if same else program.somewhere(shape_of(at), program.at(at))
        asked.on(made)
    value = like(program, storage) if chance(draw, 2) else asked.constant(storage)
    asked.add("assign", storage.shape, storage.dtype, storage, value)
    asked.written.append(str(storage.arg))
    return True


def _flipped(program: Program) -> bool:
    asked, rank = program.asked, len(program.asked.head.shape)
    axes = tuple(asked.draw(choices.subsets(range(rank))))
    return bool(axes) and asked.on(asked.moved("flip", asked.head.shape, asked.head, axes))


def _stepped(program: Program) -> bool:
    """Go on with every second or third element of some axes, from either end."""
    asked = program.asked
    at = asked.head
    arg = tuple(asked.draw(choices.sampled_from([2, 1, 3, -1, -2])) for _ in at.shape)
    shape = tuple(-(-extent // abs(step)) for extent, step in zip(shape_of(at), arg, strict=True))
    return bool(arg) and asked.on(asked.moved("stride", shape, at, arg))


def _converted(program: Program) -> bool:
    """Go on with the head in a dtype of another class."""
    asked = program.asked
    at = asked.head
    others = [each for each in ("int32", "float32", "bool", *asked.swarm.dtypes) if kind(each) != kind(at.dtype)]
    made = asked.draw(choices.sampled_from(others))
    return kind(at.dtype) != "complex" and asked.same("cast", dtype=made)


USES: Final[tuple[Use, ...]] = (
    *(
        twice,
        constant,
        alike,
        twice,
        constant,
        alike,
        single,
        choice,
        other,
        fold,
        fold,
        fold,
        turned,
        turned,
        _flipped,
        _stepped,
        taken,
    ),
    *(written, before, move, part, parts, _converted, _converted),
    *(joined, stacked, scattered, softmax, norm, product, selected, cloned),
    *(STEPS[word] for word in ("convert", "reshape", "window", "pad", "expand", "gather", "keep", "keep")),
)
"""Every kind."""
