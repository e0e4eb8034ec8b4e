"""A collective becomes nodes on single devices and copies between them, by interchangeable algorithms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from conformance.backends.opencl.graph import (
    Buffer,
    Collective,
    Elementwise,
    Movement,
    Node,
    Opened,
    Output,
    Write,
    root,
    whole,
)
from conformance.backends.opencl.lower.choose import choose
from conformance.backends.opencl.lower.moving import moved
from conformance.backends.opencl.lower.reducing import REDUCING, reduced
from conformance.backends.opencl.order import needs
from conformance.backends.opencl.settings import Algorithm, Settings
from conformance.backends.opencl.trace import Traced
from conformance.backends.opencl.view import contiguous

Blocks = tuple[Movement | None, ...]


class Turn(NamedTuple):
    """Which node belongs where: the number of its collective, in program order, and of its group."""

    collective: int
    group: int


class Lowered(msgspec.Struct, frozen=True, eq=False):
    """The blocks of every result, each in C order in its own storage.

    ``stages`` says after how many barriers a node comes, ``turns`` to which group of which of ``collectives`` it
    belongs, and ``algorithms`` how that was lowered. ``buffers`` are the whole storages of buffers. ``asked``
    has the names in the program's graph of the nodes that hold a result of a collective.
    """

    results: dict[str, Blocks]
    stages: dict[Node, int]
    turns: dict[Node, Turn]
    collectives: tuple[Collective, ...]
    algorithms: dict[Turn, Algorithm]
    buffers: dict[str, Blocks]
    asked: dict[Node, str]


def lowering(made: Collective, group: tuple[int, ...], algorithm: Algorithm) -> dict[int, Movement]:
    """Return what each member of ``group`` receives, by rank, made by one algorithm."""
    return (reduced if made.operation in REDUCING else moved)(made, group, algorithm)


def lower(traced: Traced, settings: Settings) -> Lowered:
    """Return the results with per-device nodes for every collective."""
    done: dict[Collective, dict[int, Movement]] = {}
    stages: dict[Node, int] = {}
    turns: dict[Node, Turn] = {}
    algorithms: dict[Turn, Algorithm] = {}
    rebuilt: dict[Node, Node] = {}
    asked: dict[Node, str] = {}

    def written(node: Node) -> Node:
        chain = []
        while isinstance(node, Write) and node not in rebuilt:
            chain.append(node)
            node = node.before
        for each in reversed(chain):
            before = rebuilt.get(each.before, each.before)
            rebuilt[each] = msgspec.structs.replace(each, before=before, value=resolve(each.value))
        return rebuilt.get(chain[0], chain[0]) if chain else rebuilt.get(node, node)

    def resolve(block: Movement) -> Movement:
        # Programs are short, so collectives nest a few deep at most; recursion is safe.
        if isinstance(block.node, Opened):
            return block
        if isinstance(block.node, Elementwise):
            if block.node not in rebuilt:
                operand = resolve(block.node.operand)
                rebuilt[block.node] = msgspec.structs.replace(block.node, operand=operand)
            return Movement(rebuilt[block.node], block.view)
        if isinstance(block.node, Write):
            return Movement(written(block.node), block.view)
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
                taken = _take_turn(lowered.values(), {block.node for block in (*inputs, *under)}, turn, turns)
                stages.update(dict.fromkeys(taken, made.stage))
                fresh = {rank: block.node for rank, block in lowered.items() if turns.get(block.node) == turn}
                asked.update({node: f"{made.name}[{rank}]" for rank, node in fresh.items() if made.name})
                found.update(lowered)
            done[made] = found
        return done[made][block.node.device]

    needed = _needed(traced)
    for block in traced.made:
        # In program order, whatever is asked for first: a copy that one collective makes serves those after it.
        if isinstance(block.node, Output) and block.node.collective in needed:
            resolve(block)
    buffers = {
        name: tuple(None if block is None else resolve(block) for block in blocks)
        for name, blocks in traced.buffers.items()
    }
    roots = {root(block.node) for blocks in buffers.values() for block in blocks if block is not None}
    stored = {
        name: tuple(None if block is None else _stored(resolve(block), roots) for block in blocks)
        for name, blocks in traced.results.items()
    }
    return Lowered(stored, stages, turns, tuple(done), algorithms, buffers, asked)


def _needed(traced: Traced) -> set[Collective]:
    """Return the collectives without which a result or a buffer would be another."""
    wanted = (*traced.results.values(), *traced.buffers.values())
    stack = [block.node for blocks in wanted for block in blocks if block is not None]
    found: set[Collective] = set()
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Output):
            found.add(node.collective)
            stack.extend(block.node for block in (*node.collective.blocks, *node.collective.under))
        else:
            stack.extend(needs(node))
    return found


def _take_turn(made: Iterable[Movement], given: set[Node], turn: Turn, turns: dict[Node, Turn]) -> list[Node]:
    """Give ``turn`` to every node that a group was lowered to, and return them.

    No older one is among them, such as those it was ``given``.
    """
    taken: list[Node] = []
    stack = [block.node for block in made]
    while stack:
        node = stack.pop()
        if node not in turns and node not in given and not isinstance(node, Buffer):
            turns[node] = turn
            taken.append(node)
            stack.extend(needs(node))
    return taken


def _stored(block: Movement, roots: set[Node]) -> Movement:
    """Return the block in storage that no input shares: a result that is an input is still a fresh value.

    One that is a buffer lies in the storage of the buffer, which nothing writes any more.
    """
    node, view = block.node, block.view
    if root(node) in roots:
        return block
    if not isinstance(node, Buffer) and view == contiguous(view.shape) and view.size == node.size:
        return block
    return whole(Elementwise(node.device, node.dtype, view.size, block), view.shape)
