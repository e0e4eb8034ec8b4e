"""Programs that read storage in parts and write it in turns: whole, in views, one part, one replica."""

from __future__ import annotations

import itertools
import math
from typing import Final

from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Mesh
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs import graphs
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.vocabulary import taking
from conformance.generate.sharded.placements import NAMES
from conformance.generate.sharded.programs import Program, known
from conformance.generate.sharded.steps import selected
from conformance.reference.sharded.placing import shape_of

SIZES: Final = ((2,), (3,), (2, 2), (4,), (2,), (3,), (2,), (2, 2), (1,))
"""Meshes: what is read and written in turns needs few devices."""

WORDS: Final = ("add", "mul", "max", "xor", "or")


@choices.composite
def hazards(draw: Draw) -> ShardedCase:
    """Draw three to eight reads of and assigns to two or three buffers, and ask for every read and every buffer."""
    sizes = draw(choices.sampled_from(SIZES))
    mesh: Mesh = tuple(Axis(name=name, size=size) for name, size in zip(NAMES, sizes, strict=False))
    swarm = draw(graphs.swarms())
    # What was read must be the old content: numbers that no step rounds tell it from the new one.
    swarm = swarm._replace(dtypes=swarm.dtypes[:1], regime="small", plain=True)
    count = math.prod(sizes)
    program = Program(GraphDraft(draw, swarm), mesh, tuple(range(count)), plain=chance(draw, 2))
    rows = draw(choices.sampled_from([2 * count, count, count + 1, 2 * count]))
    shape = (rows, draw(choices.sampled_from([2, rows])))
    program.buffer(shape, swarm.dtypes[0])
    for _ in range(draw(choices.integers(1, 2))):
        program.buffer(shape, swarm.dtypes[0], program.homes["b0"])
    for _ in range(draw(choices.integers(3, 8))):
        draw(choices.sampled_from(TURNS))(program)
    program.asked.close(tuple(program.asked.buffers))
    return known(program)


def _storage(program: Program) -> Node:
    buffers = [node for node in program.asked.nodes if node.op == "buf"]
    return program.asked.draw(choices.sampled_from(buffers))


def _view(program: Program, at: Node) -> Node:
    """Return a view of storage: all of it, a part or some other range, every second element, or any of them turned."""
    asked, draw = program.asked, program.asked.draw
    shape = shape_of(at)
    kind = draw(choices.sampled_from(["all", "part", "range", "step", "flip", "turn", "part", "all"]))
    if kind == "turn" and len(set(shape)) == 1:
        return asked.moved("permute", shape[::-1], at, (1, 0))
    if kind == "flip":
        return asked.moved("flip", shape, at, (draw(choices.integers(0, 1)),))
    if kind == "step":
        return asked.moved("stride", (-(-shape[0] // 2), shape[1]), at, (2, 1))
    where = program.at(at)
    if kind == "part" and where.splits and not where.masks:
        split = draw(choices.sampled_from(where.splits))
        return _range(asked, at, split.axis, draw(choices.sampled_from(list(itertools.pairwise(split.cuts)))))
    if kind in ("range", "part"):
        begin = draw(choices.integers(0, shape[0] - 1))
        return _range(asked, at, 0, (begin, draw(choices.integers(begin + 1, shape[0]))))
    return at


def _range(asked: GraphDraft, at: Node, axis: int, ends: tuple[int, int]) -> Node:
    pairs = [(0, extent) for extent in shape_of(at)]
    pairs[axis] = ends
    return asked.moved("shrink", tuple(end - begin for begin, end in pairs), at, tuple(pairs))


def _alike(program: Program, target: Node) -> Node:
    """Return a value of the shape of a view: of the same storage moved, of another, something read, or a constant."""
    asked, draw = program.asked, program.asked.draw
    fitting = [
        node
        for node in asked.nodes
        if node.shape == target.shape and node.dtype == target.dtype and node.op not in ("const", "assign")
    ]
    source = draw(choices.sampled_from(fitting))
    kind = draw(choices.sampled_from(["plain", "sum", "flip", "constant", "plain"]))
    if kind == "constant":
        return asked.constant(target)
    if kind == "flip":
        return asked.moved("flip", source.shape, source, (0,))
    if kind == "sum":
        word = draw(choices.sampled_from(taking(target.dtype, WORDS)))
        return asked.add("alu", target.shape, target.dtype, target, source, arg=word)
    return source


def _reads(program: Program) -> None:
    """Read a view of storage, before whatever is written to it next."""
    asked = program.asked
    shown = _view(program, _storage(program))
    word = asked.draw(choices.sampled_from(taking(shown.dtype, WORDS)))
    asked.wanted.append(asked.add("alu", shown.shape, shown.dtype, shown, asked.constant(shown), arg=word).id)


def _meeting(program: Program, at: Node) -> Node:
    """Return what storage is where all its parts meet: a fold of it, or a copy of it everywhere."""
    asked = program.asked
    if chance(asked.draw, 2):
        fold = asked.draw(choices.sampled_from(taking(at.dtype, ("add", "max")) or ("or",)))
        return asked.add("reduce", at.shape[1:], at.dtype, at, arg=(0,), fold=fold)
    made = asked.add("copy", at.shape, at.dtype, at)
    program.moves[made.id] = REPLICATED
    return made


def _between(program: Program) -> None:
    """Write a view of storage between two meetings over it, and use what came later.

    Whoever sees to the later meeting first, since more is computed of it, must not come to the write before the other.
    """
    asked, at = program.asked, _storage(program)
    earlier = _meeting(program, at)
    _writes(program, at)
    later = _meeting(program, at)
    word = asked.draw(choices.sampled_from(taking(later.dtype, WORDS)))
    used = asked.add("alu", later.shape, later.dtype, later, asked.constant(later), arg=word)
    asked.wanted += [used.id, earlier.id] if chance(asked.draw, 2) else [earlier.id, used.id]


def _takes(program: Program) -> None:
    """Take what some devices have of storage."""
    program.asked.head = _storage(program)
    selected(program)
    program.asked.wanted.append(program.asked.head.id)


def _writes(program: Program, at: Node | None = None) -> None:
    """Write a view of storage."""
    target = _view(program, at or _storage(program))
    program.asked.add("assign", target.shape, target.dtype, target, _alike(program, target))


TURNS: Final = (_reads, _writes, _writes, _writes, _reads, _between, _between, _takes)
"""Every kind of turn."""
