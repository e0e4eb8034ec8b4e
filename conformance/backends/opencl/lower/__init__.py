"""A collective becomes nodes on single devices and copies between them, by interchangeable algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from conformance.backends.opencl.graph.node import (
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
from conformance.backends.opencl.graph.trace import Traced
from conformance.backends.opencl.graph.view import contiguous
from conformance.backends.opencl.lower.choose import choose
from conformance.backends.opencl.lower.moving import moved
from conformance.backends.opencl.lower.reducing import REDUCING, reduced
from conformance.backends.opencl.schedule.order import needs
from conformance.backends.opencl.settings import Algorithm, Settings

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

    def is_ready(node: Node) -> bool:
        if isinstance(node, Output):
            return node.collective in done
        return node in rebuilt or isinstance(node, Opened) or not isinstance(node, Elementwise | Write)

    def ready(block: Movement) -> Movement:
        if isinstance(block.node, Output):
            return done[block.node.collective][block.node.device]
        return Movement(rebuilt.get(block.node, block.node), block.view)

    def make(node: Node) -> None:
        if isinstance(node, Elementwise):
            rebuilt[node] = msgspec.structs.replace(node, operand=ready(node.operand))
        elif isinstance(node, Write):
            before = rebuilt.get(node.before, node.before)
            rebuilt[node] = msgspec.structs.replace(node, before=before, value=ready(node.value))
        elif isinstance(node, Output):
            meet(node.collective)

    def meet(made: Collective) -> None:
        inputs, under = (tuple(map(ready, blocks)) for blocks in (made.blocks, made.under))
        given = msgspec.structs.replace(made, blocks=inputs, under=under)
        found: dict[int, Movement] = {}
        for number, group in enumerate(made.groups):
            turn = Turn(len(done), number)
            algorithm = choose(made.operation, inputs[group[0]].view.size, len(group), settings)
            lowered = lowering(given, group, algorithm)
            algorithms[turn] = algorithm
            taken = _take_turn(lowered.values(), {block.node for block in (*inputs, *under)}, turn, turns)
            stages.update(dict.fromkeys(taken, made.stage))
            fresh = ((rank, block.node) for rank, block in lowered.items() if turns.get(block.node) == turn)
            asked.update((node, f"{made.name}[{rank}]") for rank, node in fresh if made.name)
            found.update(lowered)
        done[made] = found

    def resolve(block: Movement) -> Movement:
        # A stack, as copies of buffers into each other make chains as long as the program.
        stack = [block.node]
        while stack:
            node = stack[-1]
            waiting = [] if is_ready(node) else [each for each in _before(node) if not is_ready(each)]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if not is_ready(node):
                make(node)
        return ready(block)

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


def _before(node: Node) -> Iterator[Node]:
    """Yield what is lowered before ``node``."""
    if isinstance(node, Output):
        yield from (block.node for block in (*node.collective.blocks, *node.collective.under))
    else:
        yield from needs(node)


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
        stack.extend(_before(node))
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
