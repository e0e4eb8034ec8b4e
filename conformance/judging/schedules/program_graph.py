"""The graph of an ``spmd`` program: what was asked, as schedules are judged by. The judge makes it, not the backend.

Rank ``r`` is the device ``str(r)``, and the names are those that the schedule of a program uses too: ``x[r]`` is the
block of ``x`` on rank r, an input, a buffer, a view, or what a step makes; ``storage x[r]`` is all of the storage in
which an input or a buffer lies, and ``x[r]`` the schedule's buffer for it. ``opened b[r]`` assigns to the buffer ``b``
what it begins as, ``assign k[r]`` does step k of the program, and ``into k.j[r]`` writes result j of step k. Where a
collective writes into storage, its value is ``value y[r]`` for its output ``y``, and ``y[r]`` is the storage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.graph.buffer import Bounds, Buffer, Device
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import MOVEMENT, Graph, Movement, Node, pruned
from conformance.cases.program.computing import nodes
from conformance.cases.program.effects import names
from conformance.cases.program.program import COMPUTING, NO_COLLECTIVES, Groups, Step, rank_groups
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, logical
from conformance.cases.tensor.layout import place
from conformance.cases.tensor.tensor import to_array
from conformance.judging.schedules.movement import Move, laid_out, window
from conformance.reference.effects import Effects, Ranks
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import check_step, run

Blocks = list[Node | None]


class NoGraph(ValueError):
    """The program has no graph; the message says why."""


def program_graph(case: Case) -> Graph:
    """Return the graph of the program of ``case``; its results, and the storages of its buffers, are what was asked.

    Raise ``NoGraph`` for an illegal program, for one whose ranks go their own ways, and for one whose values decide
    what it does: the tables of a ragged exchange are data, and a graph is the same for all data. Raise ``ValueError``
    for a malformed one.
    """
    kinds = names(case)
    if any(step.op == "ragged_all_to_all" for step in case.program.steps):
        raise NoGraph("the tables of ragged_all_to_all are data, and a graph is the same for all data")
    if case.troubled:
        raise NoGraph("a graph has one program for all ranks, none of which is late or dies")
    seen = _Seen()
    try:
        run(case, case.blocks(), OPERATIONS, seen)
    except Rejected as error:
        raise NoGraph(f"the program is illegal by {error.clause}: {error}") from None
    made = _Tracing(case, iter(seen.made))
    for index, step in enumerate(case.program.steps):
        made.take(index, step)
    asked = [node for name in case.program.results for node in made.blocks[name] if node is not None]
    freed = {kinds[step.inputs[0]].base for step in case.program.steps if step.op == "free"}
    left = [f"storage {name}[{rank}]" for name in case.program.buffers if name not in freed for rank in made.ranks]
    return pruned(
        Graph(nodes=tuple(made.nodes.values()), results=(*dict.fromkeys((*(node.id for node in asked), *left)),))
    )


def with_graph(schedule: Schedule, graph: Graph) -> Schedule:
    """Return the schedule with the graph it is for, and the buffers and variables of it, used or not.

    Raise ``ScheduleError`` where the schedule says of a storage of the graph that it is a part of another buffer, or
    that it holds data and it does not, or the reverse.
    """
    known = {buffer.id for buffer in schedule.buffers}
    opened = {node.of[0] for node in graph.nodes if node.id.startswith("opened ")}
    _check_storages(schedule, {str(node.arg): node.id not in opened for node in graph.nodes if node.op == "buf"})
    added = tuple(
        Buffer(
            id=str(node.arg),
            size=math.prod(sizes(node.shape, graph.most)) * NUMPY[node.dtype].itemsize,
            dtype=node.dtype,
            device=node.device,
            preexisting=node.id not in opened,
        )
        for node in graph.nodes
        if node.op == "buf" and node.arg not in known
    )
    devices = dict.fromkeys((node.device for node in graph.nodes), Device()) | schedule.devices
    bounds = {name: Bounds(low=each.low, high=each.high) for name, each in graph.variables.items()}
    return replace(
        schedule,
        graph=graph,
        buffers=(*schedule.buffers, *added),
        devices=devices,
        variables={**schedule.variables, **bounds},
    )


def _check_storages(schedule: Schedule, filled: Mapping[str, bool]) -> None:
    """Refuse what makes another question of the one asked, where inputs are shared or empty."""
    for buffer in (each for each in schedule.buffers if each.id in filled):
        # Whether a storage may be planned is a clause's to say.
        if (buffer.base is not None and not buffer.planned) or buffer.preexisting != filled[buffer.id]:
            held = "data" if filled[buffer.id] else "no data"
            raise ScheduleError(
                "form.C10", f"buffer {buffer.id!r}: it was asked for as a storage of its own, with {held} at first"
            )


class _Seen(Effects):
    """Eager execution that notes every result of a collective before it is written anywhere."""

    def __init__(self) -> None:
        """Begin with none."""
        self.made: list[Ranks] = []

    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        """Note a result."""
        self.made.append(super().fresh(result, operand))
        return self.made[-1]


@dataclass
class _Tracing:
    """The nodes so far, and for each name what it is on every rank.

    ``results`` are those of all collectives, in order, as the reference computes them: they have the shapes.
    """

    case: Case
    results: Iterator[Ranks]
    nodes: dict[str, Node] = field(default_factory=dict)
    blocks: dict[str, Blocks] = field(default_factory=dict)
    storages: dict[str, list[Node]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Name the inputs."""
        for name, operand in self.case.inputs.items():
            arrays = [to_array(block) for block in operand.blocks]
            sizes = [place(array, layout)[0].size for array, layout in zip(arrays, operand.layouts, strict=True)]
            dtypes = [block.dtype for block in operand.blocks]
            self.storages[name] = self._stored(name, sizes, dtypes)
            self.blocks[name] = self._laid_out(name, self.storages[name], name)

    @property
    def ranks(self) -> range:
        """Return the ranks of the world."""
        return range(self.case.program.world)

    def take(self, index: int, step: Step) -> None:
        """Do a step."""
        if step.op not in NO_COLLECTIVES:
            self._collective(index, step)
            return
        taken = [self.blocks[name] for name in step.inputs]
        if step.op in COMPUTING:
            self._computed(f"step {index} ({step.op})", step, taken)
        elif step.op == "buffer":
            self._buffer(step.outputs[0], step.inputs[0])
        elif step.op == "view":
            self.blocks[step.outputs[0]] = [self._part(step, rank, block) for rank, block in enumerate(taken[0])]
        elif step.op == "copy":
            self._alias(step.outputs[0], self._kept(f"copy {step.outputs[0]}", taken[0]))
        elif step.op == "done":
            for name, blocks in zip(step.outputs, taken, strict=True):
                self._alias(name, blocks)
        elif step.op == "assign":
            self._assign(f"assign {index}", taken[0], taken[1])

    def _buffer(self, name: str, source: str) -> None:
        origin = self.storages[source]
        sizes = [int(node.shape[0]) for node in origin]
        self.storages[name] = self._stored(name, sizes, [node.dtype for node in origin])
        self._assign(f"opened {name}", self.storages[name], origin)
        self.blocks[name] = self._laid_out(name, self.storages[name], source)

    def _computed(self, where: str, step: Step, taken: Sequence[Blocks]) -> None:
        """Compute on each rank alone."""
        (name,) = step.outputs
        self.blocks[name] = []
        for rank, operands in enumerate(zip(*taken, strict=True)):
            given = [self.nodes[self._id(block)] for block in operands]
            made = [self._add(node) for node in nodes(where, step, given, f"{name}[{rank}]")]
            self.blocks[name].append(made[-1])

    def _collective(self, index: int, step: Step) -> None:
        """Compute all results of a collective, then write them where they go."""
        groups = rank_groups(self.case.program.mesh, step.axes, step.groups)
        taken = [self.blocks[name] for name in step.inputs]
        made: list[Blocks] = []
        for number, (name, result) in enumerate(zip(step.outputs, self.results, strict=False)):
            operands = [taken[number]] if TABLE[step.op].operands == 1 else taken
            if step.op == "recv":
                made.append(operands[0])
            elif TABLE[step.op].operands == 1 and step.idle:
                made.append(self._kept(f"value {name}", operands[0]))
            else:
                made.append(self._met(step, f"value {name}" if step.into else name, operands, result, groups))
        for number, (name, blocks) in enumerate(zip(step.outputs, made, strict=True)):
            if step.into:
                target = self.blocks[step.into[number]]
                self._assign(f"into {index}.{number}", target, blocks)
                self._alias(name, target)
            elif any(block is not None and block.id != f"{name}[{block.device}]" for block in blocks):
                self._alias(name, blocks)
            else:
                self.blocks[name] = blocks

    def _met(self, step: Step, called: str, operands: Sequence[Blocks], result: Ranks, groups: Groups) -> Blocks:
        """Return a node for each rank that has a block of the result; what a send has under way is a permute."""
        found: Blocks = [None for _ in self.ranks]
        attrs = check_step(step)
        for group in groups:
            of = tuple(self._id(operand[rank]) for operand in operands for rank in group)
            for rank in group:
                # A token stands for a block like the operand's, zeros where nothing was sent.
                like = np.empty(*result[rank].sent[::-1]) if step.op == "send" else result[rank]
                if like is not None:
                    found[rank] = self._add(
                        Node(
                            id=f"{called}[{rank}]",
                            op="collective",
                            of=of,
                            shape=like.shape,
                            dtype=logical(like.dtype),
                            device=str(rank),
                            arg="permute" if step.op == "send" else step.op,
                            attrs=attrs,
                            members=tuple(map(str, group)),
                        )
                    )
        return found

    def _kept(self, name: str, blocks: Blocks) -> Blocks:
        """Return blocks that stay what they are: a copy, which may not be left out, of those in buffers."""
        return [
            block
            if block is None or not self._may_change(block)
            else self._add(replace(block, id=f"{name}[{rank}]", op="copy", of=(block.id,), arg=True))
            for rank, block in enumerate(blocks)
        ]

    def _may_change(self, node: Node) -> bool:
        """Return whether a node names the storage of a buffer; nothing writes to an input."""
        while node.op in (*MOVEMENT, "assign"):
            node = self.nodes[node.of[0]]
        return node.op == "buf" and f"opened {node.arg}" in self.nodes

    def _assign(self, name: str, targets: Sequence[Node | None], values: Sequence[Node | None]) -> None:
        for rank, (target, value) in enumerate(zip(targets, values, strict=True)):
            if target is not None and value is not None:
                self._add(replace(target, id=f"{name}[{rank}]", op="assign", of=(target.id, value.id), arg=None))

    def _alias(self, name: str, blocks: Blocks) -> None:
        """Give blocks one more name."""
        self.blocks[name] = [
            None if block is None else self._moved(block, "reshape", f"{name}[{rank}]", block.shape, None)
            for rank, block in enumerate(blocks)
        ]

    def _stored(self, name: str, sizes: Sequence[int], dtypes: Sequence[str]) -> list[Node]:
        return [
            self._add(
                Node(
                    id=f"storage {name}[{rank}]",
                    op="buf",
                    shape=(size,),
                    dtype=dtype,
                    device=str(rank),
                    arg=f"{name}[{rank}]",
                )
            )
            for rank, (size, dtype) in enumerate(zip(sizes, dtypes, strict=True))
        ]

    def _laid_out(self, name: str, storages: Sequence[Node], source: str) -> Blocks:
        """Return the blocks that an input, or a buffer like it, is in its storages."""
        operand = self.case.inputs[source]
        return [
            self._through(storage, laid_out(layout, block.shape), f"{name}[{rank}]")
            for rank, (storage, block, layout) in enumerate(zip(storages, operand.blocks, operand.layouts, strict=True))
        ]

    def _part(self, step: Step, rank: int, block: Node | None) -> Node | None:
        """Return the view of a block that a ``view`` step names."""
        if block is None:
            return None
        shape = tuple(int(extent) for extent in block.shape)
        return self._through(block, window(step, shape), f"{step.outputs[0]}[{rank}]")

    def _through(self, node: Node, moves: Sequence[Move], name: str) -> Node:
        """Move a node step by step; the last of them has the name."""
        for number, (op, arg, shape) in enumerate(moves):
            last = number == len(moves) - 1
            node = self._moved(node, op, name if last else f"{name} {number}", shape, arg)
        return node

    def _moved(self, node: Node, op: Movement, name: str, shape: Any, arg: Any) -> Node:
        return self._add(
            replace(node, id=name, op=op, of=(node.id,), shape=tuple(shape), arg=arg, attrs={}, members=())
        )

    def _add(self, node: Node) -> Node:
        self.nodes[node.id] = node
        return node

    @staticmethod
    def _id(node: Node | None) -> str:
        assert node is not None  # an operation whose operand has no block somewhere is malformed
        return node.id
