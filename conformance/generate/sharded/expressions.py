"""Short expressions on operands with placements of their own, each asked for by itself."""

from __future__ import annotations

import math
from typing import Final

from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Mesh
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs import graphs, steps
from conformance.generate.graphs.data import REGIMES, contents
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.sharded.operands import Kinds, kinds, operand
from conformance.generate.sharded.placements import NAMES
from conformance.generate.sharded.programs import Program, known
from conformance.generate.sharded.steps import USES, Use

SIZES: Final = (
    *((2,), (2, 2), (4,), (2, 3), (3,), (3, 2), (8,), (2, 2), (5,), (2, 4), (2, 2), (6,), (4, 2)) * 2,
    *((1,), (7,), (12,), (4, 4)),
)
"""Meshes, more than half with two axes: half of the kinds of placements need these."""

MOSTLY: Final[tuple[Kinds, ...]] = ("odd", "even", "odd", "pending", "odd", "even")

OF_EXPRESSIONS: Final = (*REGIMES, "real", "real", "wide", "wide", "below", "below", "below")
"""Regimes of the data, those more often in which the order of a fold and something else shows."""

CLASSES: Final = {
    "bool": ("bool",),
    "unsigned": ("uint8", "uint32", "uint8", "uint64"),
    "signed": ("int32", "int64", "int8"),
    "float": ("float32", "float16", "float64", "bfloat16"),
}
"""Dtypes by class, of which a case has one of a class that its first two lack."""


@choices.composite
def several(draw: Draw) -> ShardedCase:
    """Draw ten to fourteen expressions of one to three steps; in half of all draws storage is then written.

    Kinds of operands and of steps come each once before one comes again, in orders that have nothing to do with each
    other: so all their pairs are met about equally often.
    """
    which = draw(choices.sampled_from(MOSTLY))
    program = begun(draw, which)
    asked = program.asked
    first = draw(choices.permutations(kinds(program, which)))
    uses = draw(choices.permutations(USES))
    for number in range(draw(choices.sampled_from([12, 10, 14]))):
        _expression(program, first[number % len(first)], uses[number % len(uses)], number)
    last = [*asked.wanted]
    asked.close(tuple(dict.fromkeys(asked.written)))
    if chance(draw, 2):
        _again(program, last, uses)
    return known(program)


def begun(draw: Draw, which: Kinds) -> Program:
    """Draw a mesh and what a program on it may use."""
    sizes = draw(choices.sampled_from(SIZES))
    mesh: Mesh = tuple(Axis(name=name, size=size) for name, size in zip(NAMES, sizes, strict=False))
    plain = range(math.prod(sizes))
    order = draw(choices.permutations(plain)) if chance(draw, 2) else plain
    using = draw(graphs.swarms())
    lacking = [each for name, each in CLASSES.items() if name not in map(_class, using.dtypes)]
    third = draw(choices.sampled_from(draw(choices.sampled_from(lacking))))
    swarm = using._replace(dtypes=(*using.dtypes, third))
    return Program(GraphDraft(draw, swarm), mesh, tuple(order), which != "odd", which != "odd")


def _class(dtype: str) -> str:
    if kind(dtype) == "integer":
        return "unsigned" if dtype.startswith("u") else "signed"
    return kind(dtype)


def _expression(program: Program, word: str, use: Use, number: int) -> None:
    """Ask for a use of an operand, seldom for the operand too, and now and then for a use of that use."""
    asked, draw = program.asked, program.asked.draw
    regime = draw(choices.sampled_from(OF_EXPRESSIONS))
    using = asked.swarm
    plain = regime in ("small", "wide", "real")
    asked.swarm = using._replace(regime=regime, plain=plain)
    asked.head = operand(program, word, using.dtypes[number % len(using.dtypes)])
    if chance(draw, 4):
        asked.wanted.append(asked.head.id)
    _used(program, use)
    for _ in range(draw(choices.sampled_from([0, 1, 1]))):
        _used(program, draw(choices.sampled_from(USES)))
    asked.wanted.append(asked.head.id)


def _used(program: Program, use: Use) -> None:
    if not use(program):
        steps.STEPS["elementwise"](program.asked)


def _again(program: Program, last: list[str], uses: list[Use]) -> None:
    """Write into storage from outside; ask for what was asked for, which is as it was, and for what is of the new."""
    asked, draw = program.asked, program.asked.draw
    homes = [node for node in asked.nodes if node.op == "buf" and node.id in asked.open]
    for node in homes:
        if chance(draw, 2):
            held = asked.buffers[str(node.arg)]
            asked.writes[str(node.arg)] = draw(contents(held.shape, held.dtype, asked.swarm.regime))
    for number in range(draw(choices.integers(1, 3))):
        asked.head = draw(choices.sampled_from(homes))
        _used(program, uses[-1 - number])
        asked.wanted.append(asked.head.id)
    asked.wanted += last
    asked.close(tuple(dict.fromkeys((*asked.written, *asked.writes))))
