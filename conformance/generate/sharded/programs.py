"""Programs on sharded tensors in the making, and the steps that are about placements."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Mesh, Placement
from conformance.generate import choices
from conformance.generate.graphs import steps
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.vocabulary import taking
from conformance.generate.grow import grow, words_of
from conformance.generate.sharded.placements import placements
from conformance.reference.sharded.placing import placed, shape_of


@dataclass
class Program:
    """A case in the making: its nodes, its mesh, and where its tensors are.

    ``plain`` is as of ``placements``; where all is to be ``even``, the parts of an axis are also alike.
    """

    asked: GraphDraft
    mesh: Mesh
    order: tuple[int, ...]
    plain: bool
    even: bool = False
    homes: dict[str, Placement] = field(default_factory=dict)
    moves: dict[str, Placement] = field(default_factory=dict)

    def case(self) -> ShardedCase:
        """Return the case so far."""
        of = self.asked.case() if self.asked.rounds and not self.asked.fresh else self._open()
        return ShardedCase(mesh=self.mesh, devices=self.order, of=of, homes=self.homes, moves=self.moves)

    def _open(self) -> GraphCase:
        before = self.asked.case()
        last = Round(until=len(self.asked.nodes))
        return replace(before, rounds=(*before.rounds, last))

    def at(self, node: Node) -> Placement:
        """Return where a node is by the rules of the source."""
        return placed(self.case()).at[node.id]

    def buffer(self, shape: tuple[int, ...], dtype: str, near: Placement = REPLICATED) -> Node:
        """Add a buffer somewhere, now and then where another tensor of its shape is."""
        made = self.asked.buffer(shape, dtype)
        self.homes[made.id] = self.somewhere(shape, near)
        return made

    def somewhere(self, shape: tuple[int, ...], near: Placement) -> Placement:
        """Draw a placement, now and then that of another tensor of this shape."""
        draw = self.asked.draw
        same = chance(draw, 5) and not near.masks and not near.partial
        found = near if same else draw(placements(shape, self.mesh, self.plain))
        alike = all(len({b - a for a, b in itertools.pairwise(split.cuts)}) == 1 for split in found.splits)
        return found if alike or not self.even else REPLICATED


def move(program: Program) -> bool:
    """Go on with the head in another placement: often that of another value."""
    asked = program.asked
    at = asked.head
    near = program.at(at)
    made = asked.add("copy", at.shape, at.dtype, at)
    program.moves[made.id] = program.somewhere(shape_of(at), near)
    return asked.on(made)


def part(program: Program) -> bool:
    """Go on with one part of the head, the first ones or the last ones, and often with it in its place again."""
    asked, draw = program.asked, program.asked.draw
    at, where = asked.head, program.at(asked.head)
    if not where.splits or where.masks:
        return False
    split = draw(choices.sampled_from(where.splits))
    ends = draw(
        choices.sampled_from(
            [*itertools.pairwise(split.cuts)] * 2 + [(0, split.cuts[-2]), (split.cuts[1], split.cuts[-1])]
        )
    )
    shape = shape_of(at)
    begin, end = ends
    if not 0 <= begin <= end <= shape[split.axis]:
        return False
    whole = [(0, extent) for extent in shape]
    whole[split.axis] = ends
    taken = asked.moved("shrink", tuple(b - a for a, b in whole), at, tuple(whole))
    asked.on(taken)
    if chance(draw, 2):
        words = ("elementwise", "keep", "convert", "turn", "reduce", "reshape")
        grow(asked, steps.STEPS, words_of(draw, words))
    if asked.head.shape == taken.shape and chance(draw, 2):
        taken = asked.head
        around = [(0, 0)] * len(shape)
        around[split.axis] = (begin, shape[split.axis] - end)
        asked.on(asked.moved("pad", shape, taken, tuple(around)))
    return True


def other(program: Program) -> bool:
    """Go on with an operation on the head and a new buffer like it, which is placed otherwise."""
    asked = program.asked
    at = asked.head
    new = program.buffer(shape_of(at), at.dtype, program.at(at))
    words = taking(at.dtype, ("add", "sub", "mul", "max", "xor")) or ("or",)
    pair = (at, new) if chance(asked.draw, 2) else (new, at)
    return asked.on(asked.add("alu", at.shape, at.dtype, *pair, arg=asked.draw(choices.sampled_from(words))))


def known(program: Program) -> ShardedCase:
    """Return the case; what is only replicated needs no word."""
    case = program.case()
    return replace(case, homes={name: each for name, each in case.homes.items() if each != REPLICATED})
