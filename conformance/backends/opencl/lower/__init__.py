"""A collective becomes nodes on single devices and copies between them, by interchangeable algorithms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from conformance.backends.opencl.graph import Buffer, Collective, Elementwise, Movement, Node, Output, whole
from conformance.backends.opencl.lower.choose import choose
from conformance.backends.opencl.lower.moving import moved
from conformance.backends.opencl.lower.reducing import REDUCING, reduced
from conformance.backends.opencl.order import needs, reachable
from conformance.backends.opencl.settings import Algorithm, Settings
from conformance.backends.opencl.view import contiguous

Blocks = tuple[Movement | None, ...]


class Turn(NamedTuple):
    """Which node belongs where: the number of its collective, of those in order of their results, and of its group."""

    collective: int
    group: int


class Lowered(msgspec.Struct, frozen=True, eq=False):
    """The blocks of every result, each in C order in its own storage.

    ``stages`` says after how many barriers a node comes, ``turns`` to which group of which of ``collectives`` it
    belongs, and ``algorithms`` how that was lowered.
    """

    results: dict[str, Blocks]
    stages: dict[Node, int]
    turns: dict[Node, Turn]
    collectives: tuple[Collective, ...]
    algorithms: dict[Turn, Algorithm]


def lowering(made: Collective, group: tuple[int, ...], algorithm: Algorithm) -> dict[int, Movement]:
    """Return what each member of ``group`` receives, by rank, made by one algorithm."""
    return (reduced if made.operation in REDUCING else moved)(made, group, algorithm)


def lower(results: dict[str, Blocks], settings: Settings) -> Lowered:
    """Return the results with per-device nodes for every collective."""
    done: dict[Collective, dict[int, Movement]] = {}
    stages: dict[Node, int] = {}
    turns: dict[Node, Turn] = {}
    algorithms: dict[Turn, Algorithm] = {}

    def resolve(block: Movement) -> Movement:
        # Programs are short, so collectives nest a few deep at most; recursion is safe.
        if not isinstance(block.node, Output):
            return block
        made = block.node.collective
        if made not in done:
            inputs = tuple(resolve(each) for each in made.blocks)
            under = tuple(resolve(each) for each in made.under)
            ready = msgspec.structs.replace(made, blocks=inputs, under=under)
            found: dict[int, Movement] = {}
            for number, group in enumerate(made.groups):
                turn = Turn(len(done), number)
                algorithm = choose(made.operation, inputs[group[0]].view.size, len(group), settings)
                lowered = lowering(ready, group, algorithm)
                algorithms[turn] = algorithm
                _take_turn(lowered.values(), turn, turns)
                found.update(lowered)
            done[made] = found
            if made.stage:
                for node in reachable(tuple(found.values())):
                    stages.setdefault(node, 0 if isinstance(node, Buffer) else made.stage)
        return done[made][block.node.device]

    stored = {
        name: tuple(None if block is None else _stored(resolve(block)) for block in blocks)
        for name, blocks in results.items()
    }
    return Lowered(stored, stages, turns, tuple(done), algorithms)


def _take_turn(made: Iterable[Movement], turn: Turn, turns: dict[Node, Turn]) -> None:
    """Give ``turn`` to every node that a group was lowered to, and to no older one."""
    stack = [block.node for block in made]
    while stack:
        node = stack.pop()
        if node not in turns and not isinstance(node, Buffer):
            turns[node] = turn
            stack.extend(needs(node))


def _stored(block: Movement) -> Movement:
    """Return the block in storage that no input shares: a result that is an input is still a fresh value."""
    node, view = block.node, block.view
    if not isinstance(node, Buffer) and view == contiguous(view.shape) and view.size == node.size:
        return block
    return whole(Elementwise(node.device, node.dtype, view.size, block), view.shape)
