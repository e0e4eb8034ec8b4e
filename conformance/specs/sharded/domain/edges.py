"""Sharded tensors at the edges where implementations fail, each with the data and the placements in which that shows.

A pattern is a function that lists a few nodes and returns those to ask for. A case holds several patterns of one kind,
in turn, so that a run of 150 draws has each of them on some mesh: kinds that every framework has words for, kinds for a
grid of devices, and kinds with bounds, masks and contributions of their own. Storage is written from outside twice, and
everything is listed anew after each write: there what was kept too long shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Mesh
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import seldom
from conformance.specs.graphs.domain.unfinished_case import Asked, Words, chance
from conformance.specs.sharded.domain.patterns import folds, grid, large, moves, operands, storage
from conformance.specs.sharded.domain.patterns.listing import Placed, Sharded
from conformance.specs.sharded.domain.placements import NAMES
from conformance.specs.sharded.domain.programs import Program, known

Pattern = Callable[[Sharded], list[Node]]

INTEGERS: Final = ("int32", "int8", "int64", "uint8", "int16", "uint32")
COMMON: Final = ("int32", "int8", "uint8", "int64")
FLOATS: Final = ("float32", "float16", "bfloat16", "float64", "float32")


@dataclass(frozen=True)
class Kind:
    """Patterns that go together, on which meshes, and how many a case has of them.

    ``placed`` says how (``listing``), ``several`` whether two mesh axes may cut one axis, ``written`` how often storage
    is written from outside. Those that a run has ``complete`` begin with the first pattern, others with any.
    """

    patterns: Mapping[str, Pattern]
    meshes: tuple[tuple[int, ...], ...]
    together: int
    placed: Placed = "even"
    several: bool = True
    written: int = 0
    complete: bool = False


_INSIDE: Final = {**moves.INSIDE, **folds.INSIDE, **operands.INSIDE}
_ACROSS: Final = {**moves.ACROSS, **operands.ACROSS}
_ALL: Final = {**folds.EMPTY, **folds.LATE, **_INSIDE, **_ACROSS}

EVEN: Final = Kind(_INSIDE, ((4,), (2,), (3,)), 6)
GRID: Final = Kind({**grid.INSIDE, **_INSIDE}, ((2, 2), (2, 3)), 6, complete=True)
ODD_GRID: Final = Kind(
    {**grid.INSIDE, **grid.LATE, **grid.MASKED, **large.GRID}, ((2, 2),), 7, placed="odd", complete=True
)
LATE: Final = Kind({**grid.LATE, **folds.LATE}, ((2, 2), (2, 2), (4,)), 6, several=False, complete=True)
UNEVEN: Final = Kind(_ALL, ((3,), (2,), (4,)), 6, placed="default")
ODD: Final = Kind(
    {**large.LARGE, **_ALL}, ((4,), (2, 2), (3,), (2, 3), (2,), (3, 2), (5,)), 10, placed="odd", complete=True
)
STORED: Final = Kind(storage.WHOLE, ((4,), (2,), (2, 2)), 3, written=2)
ODD_STORED: Final = Kind(
    {**storage.VIEWS, **storage.WHOLE},
    ((3,), (2, 2), (4,), (2, 3)),
    5,
    placed="odd",
    written=2,
    complete=True,
)

TURNS: Final = (ODD, EVEN, ODD_STORED, ODD, LATE, ODD, STORED, ODD, ODD_GRID, ODD_STORED, GRID, UNEVEN)
"""The kinds of one seldom draw after another: the ten of a run of 150 draws have every pattern."""


def edges(draw: Draw, turn: int) -> ShardedCase:
    """Draw the case of a turn: its patterns go on where those of the last turn of its kind ended."""
    kind = TURNS[turn % len(TURNS)]
    before = sum(TURNS[each % len(TURNS)] is kind for each in range(turn))
    sizes = draw(choices.sampled_from(kind.meshes))
    mesh: Mesh = tuple(Axis(name=name, size=size) for name, size in zip(NAMES, sizes, strict=False))
    words = Words(dtypes=(), alu=(), folds=(), steps=(), regime="small", plain=True)
    order = tuple(range(math.prod(sizes)))
    if chance(draw, 2):
        order = tuple(draw(choices.permutations(order)))
    program = Program(Asked(draw, words), mesh, order, plain=kind.placed != "odd", even=kind.placed == "even")
    whole = draw(choices.sampled_from(INTEGERS if kind.placed == "odd" else COMMON))
    e = Sharded(program, whole, draw(choices.sampled_from(FLOATS)), placed=kind.placed, several=kind.several)
    every = [*kind.patterns.values()]
    begun = 0 if kind.complete else draw(choices.integers(0, len(every) - 1))
    for number in range(begun + before * kind.together, begun + (before + 1) * kind.together):
        e.asked.wanted += [node.id for node in every[number % len(every)](e)]
    if not kind.written:
        e.asked.wanted += [node.id for node in folds.rounded(e)]
    last = [*e.asked.wanted]
    e.asked.close(tuple(e.asked.buffers) if kind.written else ())
    for again in range(kind.written):
        last = _again(program, last, again)
    return known(program)


def _again(program: Program, last: list[str], number: int) -> list[str]:
    """Write other contents from outside, list every node of the round before again, and ask for the old and the new."""
    asked = program.asked
    before = asked.rounds[-2].until if number else 0
    names: dict[str, str] = {}
    for node in asked.nodes[before:]:
        if node.op == "buf" and node.id == str(node.arg):
            continue
        made = replace(node, id=f"n{len(asked.nodes)}", of=tuple(names.get(each, each) for each in node.of))
        names[node.id] = made.id
        if node.id in program.moves:
            program.moves[made.id] = program.moves[node.id]
        asked.nodes.append(made)
    for name, held in asked.buffers.items():
        # Other values at every place, of the same dtype: those of the mirrored place, and then what it was at first.
        values = to_array(held)
        asked.writes[name] = from_array(np.ascontiguousarray(values if number else np.flip(values)))
    made_of = [names.get(each, each) for each in last]
    asked.wanted = [*last, *made_of]
    asked.close(tuple(asked.buffers))
    return made_of


def edge_case(draw: Draw) -> ShardedCase | None:
    """Return the case of patterns of a seldom draw, or ``None`` for any other draw."""
    turn = seldom(draw)
    return None if turn is None else edges(draw, turn)
