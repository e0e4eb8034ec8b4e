"""A collective becomes nodes on single devices and copies between them, by interchangeable algorithms.

Here: what moves where, and the nodes of what ``fuse`` decided.
Not here: which values are stored (``fuse``), and in which order items run (``schedule``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from conformance.backends.opencl.fuse.axis_coalescing import coalesced
from conformance.backends.opencl.graph.computing import REASON
from conformance.backends.opencl.graph.index_map import Affine, affine, then
from conformance.backends.opencl.graph.node import (
    Buffer,
    Collective,
    Computed,
    Copy,
    Elementwise,
    Launch,
    Movement,
    Node,
    Opened,
    Output,
    Write,
    Written,
    needs,
    root,
    whole,
)
from conformance.backends.opencl.graph.operations import FORMS
from conformance.backends.opencl.graph.registration import Group, Registered
from conformance.backends.opencl.graph.trace import Traced
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.lower.movement import moved
from conformance.backends.opencl.lower.operands import Operands
from conformance.backends.opencl.lower.reduction import reduced
from conformance.backends.opencl.settings import Algorithm, Settings

Blocks = tuple[Movement | None, ...]


class Turn(NamedTuple):
    """Which node belongs where: the number of its call, of its group, and of its collective among those of the call.

    A call has the number of its first collective, in program order.
    """

    call: int
    group: int
    piece: int = 0

    @property
    def collective(self) -> int:
        """Return the number of the collective."""
        return self.call + self.piece


class Lowered(msgspec.Struct, frozen=True, eq=False):
    """The blocks of every result, each in C order in its own storage.

    ``stages`` says after how many barriers a node comes, ``turns`` to which group of which of ``collectives`` it
    belongs, and ``algorithms`` how that was lowered. ``buffers`` are the whole storages of buffers. ``asked``
    has the names in the program's graph of the nodes that hold a result of a collective, and ``became`` has what traced
    nodes were replaced by. ``registered`` are the operands that lie in communication buffers.
    """

    results: dict[str, Blocks]
    stages: dict[Node, int]
    turns: dict[Node, Turn]
    collectives: tuple[Collective, ...]
    algorithms: dict[Turn, Algorithm]
    buffers: dict[str, Blocks]
    asked: dict[Node, str]
    became: dict[Node, Node] = {}
    registered: tuple[Registered, ...] = ()

    @property
    def members(self) -> dict[tuple[int, ...], Group]:
        """Return who meets in each turn."""
        return {turn: self.collectives[turn.collective].groups[turn.group] for turn in self.algorithms}


def lowering(made: Collective, group: tuple[int, ...], algorithm: Algorithm) -> dict[int, Movement]:
    """Return what each member of ``group`` receives, by rank, made by one algorithm."""
    form = FORMS.get(made.operation)
    return (reduced if form is not None and form.reduces else moved)(made, group, algorithm)


def lower(traced: Traced, settings: Settings) -> Lowered:
    """Return the results with per-device nodes for every collective."""
    under_way = _Lowering(traced, settings)
    for block in under_way.received:
        # In program order, whatever is asked for first: a copy that one collective makes serves those after it.
        under_way.resolve(block)
    buffers = {
        name: tuple(None if block is None else under_way.resolve(block) for block in blocks)
        for name, blocks in traced.buffers.items()
    }
    roots = {root(block.node) for blocks in buffers.values() for block in blocks if block is not None}
    stored = {
        name: tuple(None if block is None else _stored(under_way.resolve(block), roots) for block in blocks)
        for name, blocks in traced.results.items()
    }
    return under_way.lowered(stored, buffers)


class _Lowering:
    """Nodes as they are lowered, each after what it needs."""

    def __init__(self, traced: Traced, settings: Settings) -> None:
        self._traced = traced
        self._done: dict[Collective, dict[int, Movement]] = {}
        self._stages: dict[Node, int] = {}
        self._turns: dict[Node, Turn] = {}
        self._algorithms: dict[Turn, Algorithm] = {}
        self._rebuilt: dict[Node, Node] = {}
        self._launches: dict[Launch, Launch] = {}
        self._asked: dict[Node, str] = {}
        needed = _needed(traced)
        self.received = {
            block: block.node.collective
            for block in traced.made
            if isinstance(block.node, Output) and block.node.collective in needed
        }
        self._operands = Operands(tuple(dict.fromkeys(self.received.values())), traced, settings)

    def lowered(self, results: dict[str, Blocks], buffers: dict[str, Blocks]) -> Lowered:
        """Return what was lowered."""
        made = (block.node for block in self._traced.made)
        outputs = {
            node: self._ready(node) for node in made if isinstance(node, Output) and node.collective in self._done
        }
        fresh: dict[Node, Node] = {node: block.node for node, block in outputs.items() if block.node in self._turns}
        collectives = tuple(self._done)
        became = self._rebuilt | fresh
        return Lowered(
            results,
            self._stages,
            self._turns,
            collectives,
            self._algorithms,
            buffers,
            self._asked,
            became,
            tuple(self._operands.registered),
        )

    def resolve(self, block: Movement) -> Movement:
        """Lower what a block needs, and return it; a stack, as copies of buffers make chains as long as a program."""
        stack = [block.node]
        while stack:
            node = stack[-1]
            waiting = [] if self._is_ready(node) else [each for each in _before(node) if not self._is_ready(each)]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if not self._is_ready(node):
                self._make(node)
        return self._moved(block)

    def _is_ready(self, node: Node) -> bool:
        if node in self._rebuilt:
            return True
        if isinstance(node, Output):
            return node.collective in self._done
        if isinstance(node, (Computed, Copy)) and not self._traced.made:
            return True
        return isinstance(node, Opened) or not isinstance(node, (Elementwise, Write, Computed, Copy))

    def _moved(self, block: Movement) -> Movement:
        if not isinstance(block.node, Output):
            return Movement(self._rebuilt.get(block.node, block.node), block.view)
        found = self._ready(block.node)
        if block.view == contiguous(found.view.shape):
            return found
        # It is a view of what was received, which may itself be a view.
        return Movement(_stored(found, set()).node, block.view)

    def _ready(self, node: Node) -> Movement:
        """Return what a node is, in its C order, whatever its shape."""
        if isinstance(node, Output):
            return self._done[node.collective][node.device]
        return Movement(self._rebuilt.get(node, node), contiguous((node.size,)))

    def _make(self, node: Node) -> None:
        if isinstance(node, Elementwise):
            self._rebuilt[node] = msgspec.structs.replace(node, operand=self._moved(node.operand))
        elif isinstance(node, Write):
            before = self._rebuilt.get(node.before, node.before)
            self._rebuilt[node] = msgspec.structs.replace(node, before=before, value=self._moved(node.value))
        elif isinstance(node, Copy):
            self._rebuilt[node] = _copied(node, self._ready(node.source))
        elif isinstance(node, Computed):
            self._rebuilt[node] = _computed(node, self._ready, self._launches)
        elif isinstance(node, Output):
            self._meet(node.collective)

    def _meet(self, made: Collective) -> None:
        inputs, under = (tuple(map(self._moved, blocks)) for blocks in (made.blocks, made.under))
        found: dict[int, Movement] = {}
        call = self._operands.calls[made]
        for number, group in enumerate(made.groups):
            turn = Turn(call.call, number, call.number)
            algorithm = self._operands.algorithm(made, group, inputs)
            blocks = self._operands.placed(made, group, inputs, algorithm)
            given = msgspec.structs.replace(made, blocks=blocks, under=under)
            lowered = lowering(given, group, algorithm)
            self._algorithms[turn] = algorithm
            taken = _take_turn(lowered.values(), {block.node for block in (*blocks, *under)}, turn, self._turns)
            self._stages.update(dict.fromkeys(taken, made.stage))
            fresh = ((rank, block.node) for rank, block in lowered.items() if self._turns.get(block.node) == turn)
            self._asked.update((node, f"{made.name}[{rank}]") for rank, node in fresh if made.name)
            found.update(lowered)
        self._done[made] = found


def _copied(node: Copy, source: Movement) -> Copy:
    """Return the copy of a source that has been lowered, packed first where it does not lie side by side."""
    view = source.view
    if view.strides != contiguous(view.shape).strides:
        source = whole(Elementwise(source.node.device, source.node.dtype, view.size, source), view.shape)
    return msgspec.structs.replace(node, source=source.node, start=node.start + source.view.offset)


def _computed(node: Computed, ready: Callable[[Node], Movement], launches: dict[Launch, Launch]) -> Computed:
    """Return a store of a launch whose reads have been lowered; ``launches`` has those that were done before."""
    launch = launches.get(node.launch)
    if launch is None:
        reads = []
        for read, index_map in node.launch.reads:
            block = ready(read)
            reads.append((block.node, then(index_map, lies(block.view))))
        launch = msgspec.structs.replace(node.launch, reads=tuple(reads))
        # Those of a graph's kernels have as few axes as can be.
        launch = launches[node.launch] = coalesced(launch) if launch.reason == REASON else launch
    found = msgspec.structs.replace(node, launch=launch)
    if isinstance(found, Written) and found.before is not None:
        return msgspec.structs.replace(found, before=ready(found.before).node)
    return found


def lies(view: View) -> Affine:
    """Return the map of the elements of a view, counted in C order, to those of its storage."""
    return affine(view.shape, view.strides, view.offset)


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
