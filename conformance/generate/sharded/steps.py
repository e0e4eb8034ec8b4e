"""What is done with one operand of a program on sharded tensors: each goes on from the head, if there is a way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.graphs import steps
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.movement_steps import strided
from conformance.generate.graphs.rewrites import REWRITES
from conformance.generate.graphs.vocabulary import taking
from conformance.generate.sharded.operands import held, like
from conformance.generate.sharded.programs import Program, move, other, part
from conformance.reference.sharded.placing import shape_of

Use = Callable[[Program], bool]

BINARY: Final = ("add", "mul", "max", "sub", "min", "xor", "and", "or", "mul", "add")


def _word(program: Program, words: tuple[str, ...]) -> str:
    return program.asked.draw(choices.sampled_from(taking(program.asked.head.dtype, words)))


def alike(program: Program) -> bool:
    """Go on with an operation on the head and another value that is placed alike."""
    asked, at = program.asked, program.asked.head
    pair = (at, like(program, at)) if chance(asked.draw, 2) else (like(program, at), at)
    return asked.on(asked.add("alu", at.shape, at.dtype, *pair, arg=_word(program, BINARY)))


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


def truncated(program: Program) -> bool:
    """Go on with floats as integers: of a sum this is not what it is of its terms."""
    asked = program.asked
    if kind(asked.head.dtype) != "float":
        return False
    return asked.same("cast", dtype=asked.draw(choices.sampled_from(["int32", "int64"])))


def _of_graphs(step: Callable[[GraphDraft], bool]) -> Use:
    return lambda program: step(program.asked)


WORDS: Final = (
    *("elementwise", "reduce", "spread", "product", "convert", "reshape", "reshape", "turn", "turn", "turn", "window"),
    *("stride", "pad", "expand", "gather", "keep", "keep"),
)
"""Steps of graphs, some of them more often."""

KINDS: Final = ("twice", "twice", "neutral", "neutral", "there and back", "chosen", "chosen")
"""Kinds of rewrites, some of them more often."""

USES: Final[tuple[Use, ...]] = (
    *(alike, alike, other, other, fold, fold, fold, taken, written, written),
    *(before, move, part, part, selected, cloned, *[truncated] * 4),
    *(_of_graphs({**steps.STEPS, "stride": strided}[word]) for word in WORDS),
    *(
        _of_graphs(REWRITES[kind])
        for kind in ("twice", "twice", "neutral", "neutral", "there and back", "chosen", "chosen")
    ),
)
"""Every kind."""
