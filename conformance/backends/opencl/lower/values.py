"""The values of a round as nodes: a launch for each kernel, a copy for each value that is brought to another device."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from conformance.backends.opencl.fuse.launches import Writer
from conformance.backends.opencl.fuse.partition import Home, reachable
from conformance.backends.opencl.fuse.storage import kernels, strided
from conformance.backends.opencl.graph.constant_values import constants_among
from conformance.backends.opencl.graph.index_map import IndexMap, composed, identity
from conformance.backends.opencl.graph.node import (
    Buffer,
    Collective,
    Computed,
    Copy,
    Fill,
    Movement,
    Node,
    Output,
    Written,
    whole,
)
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.graph.rounds import RoundValues
from conformance.backends.opencl.graph.value import GraphValue, base
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.settings import Settings, lanes


class Wanted(msgspec.Struct, frozen=True):
    """Where a value that somebody asked for lies in the end: a node and the map of its elements, or nowhere."""

    value: GraphValue
    node: Node | None
    map: IndexMap


class Lowering(msgspec.Struct, frozen=True):
    """The nodes of a round: where what was asked for lies, and what every buffer is in the end."""

    wanted: tuple[Wanted, ...]
    buffers: dict[str, Node]
    homes: tuple[Home, ...]
    nodes: dict[GraphValue, Node]
    received: tuple[Movement, ...]


def nodes_of(
    round_values: RoundValues,
    wanted: Sequence[GraphValue],
    kept_on: Collection[GraphValue],
    given: Mapping[str, Buffer],
    kept: Mapping[GraphValue, Buffer],
    settings: Settings,
) -> Lowering:
    """Return the nodes that give the values ``wanted``, and do all assigns of the round.

    ``given`` are the buffers as the round finds them, ``kept`` the values that have been computed before. Those of
    ``kept_on`` are needed after the round and so get storage that no buffer shares.
    """
    first = {
        name: round_values.versions[name] - sum(each.buffer == name for each in round_values.assigns) for name in given
    }
    written = [each.value for each in round_values.assigns]
    reached = reachable([*wanted, *written], kept)
    known = constants_among(reversed(reached))
    computed = [value for value in wanted if value not in known]
    if len(computed) < len(wanted):
        reached = reachable([*computed, *written], kept)
    order = [value for value in reached if value.size]
    found = kernels(order, round_values, computed, kept_on, kept, settings)
    builder = _Builder(round_values, given, kept, first, settings)
    builder.build(found.homes, order)
    return Lowering(
        tuple(builder.place(value, known) for value in wanted),
        builder.last_versions(),
        found.homes,
        builder.nodes,
        builder.received,
    )


def _read(step: Home | GraphValue) -> Iterable[GraphValue]:
    """Return the values that a step reads, and for movement what it is movement of."""
    if isinstance(step, GraphValue):
        return [value for each in step.of for value in (each, base(each))]
    # Storage as it is after an assign may be kept beside what is computed of it.
    stored = sorted(step.stored, key=lambda value: value.number)
    return (*stored, *(root for root in step.roots or (step.value,) if root.op == "load"))


Steps = dict[GraphValue | tuple[str, int], Home | GraphValue]
"""What makes a value, or a version of a buffer: a kernel, or the value itself, a copy or what comes of a meeting."""


class _Builder:
    """Nodes in an order in which each comes after those it reads."""

    def __init__(
        self,
        round_values: RoundValues,
        given: Mapping[str, Buffer],
        kept: Mapping[GraphValue, Buffer],
        first: Mapping[str, int],
        settings: Settings,
    ) -> None:
        self._asking, self._settings = round_values, settings
        self.nodes: dict[GraphValue, Node] = dict(kept)
        self._versions: dict[tuple[str, int], Node] = {(name, first[name]): node for name, node in given.items()}
        self._meetings: dict[object, Collective] = {}
        self._readers: dict[tuple[str, int], list[Home | GraphValue]] = {}
        self.received: tuple[Movement, ...] = ()

    def build(self, homes: Sequence[Home], order: Sequence[GraphValue]) -> None:
        """Make the node of every kernel, copy and meeting, each after what it reads."""
        by_version: Steps = {
            (each.assign.buffer, each.assign.version): each for each in homes if each.assign is not None
        }
        steps: Steps = {root: home for home in homes for root in home.roots}
        steps.update(by_version)
        steps |= {each: each for each in order if each.op in ("copy", "received") and each not in self.nodes}
        for step in dict.fromkeys(steps.values()):
            for value in _read(step):
                # Who takes a copy of what is overwritten need not come before the write.
                if value.op == "load" and steps.get(value, step) is step:
                    self._readers.setdefault(value.arg, []).append(step)
        done: set[Home | GraphValue] = set()
        entered: set[Home | GraphValue] = set()
        stack = list(reversed(steps.values()))
        while stack:
            step = stack[-1]
            waiting = [] if step in done else [each for each in self._before(step, steps) if each not in done]
            if not entered.isdisjoint(waiting):
                raise RuntimeError("steps of a graph wait for each other, so that none can be first")
            if waiting:
                entered.add(step)
                stack.extend(waiting)
                continue
            stack.pop()
            if step not in done:
                done.add(step)
                self._make(step)

    def _before(self, step: Home | GraphValue, steps: Steps) -> Iterator[Home | GraphValue]:
        """Yield what a step reads, and before a write the write before it and all that read what it overwrites.

        Meetings are numbered as they are made, and what comes after a meeting is done after it: one that needs a write
        must not be made before one that the write must wait for.
        """
        if isinstance(step, Home) and step.assign is not None:
            before = step.assign.buffer, step.assign.version - 1
            if before in steps:
                yield steps[before]
            yield from (each for each in self._readers.get(before, ()) if each is not step)
        for value in _read(step):
            found = steps.get(value)
            if found is not None and found is not step:
                yield found
            elif value.op == "load" and value.arg in steps:
                yield steps[value.arg]

    def _make(self, step: Home | GraphValue) -> None:
        if isinstance(step, Home):
            self._home(step)
        elif step.op == "copy":
            self._copy(step)
        else:
            self._received(step)

    def place(self, value: GraphValue, known: Collection[GraphValue]) -> Wanted:
        """Return where a value lies; those ``known`` lie nowhere, unless something else needs them stored."""
        below = base(value)
        if value in self.nodes:
            return Wanted(value, self.nodes[value], identity(value.shape))
        if not value.size or value in known or below.op == "const" or not strided(value):
            return Wanted(value, None, identity(value.shape))
        if below.op == "load" and below not in self.nodes:
            # What was written since is elsewhere, or there would be a node.
            node, lies = self._versions[below.arg[0], self._asking.versions[below.arg[0]]], identity(below.shape)
        else:
            node, lies = self._lying(below)
        return Wanted(value, node, composed((value.arg,) if value.op == "move" else identity(value.shape), lies))

    def last_versions(self) -> dict[str, Node]:
        """Return what every buffer is in the end."""
        return {
            name: self._versions[name, self._asking.versions[name]]
            for name in dict.fromkeys(name for name, _ in self._versions)
        }

    def _lying(self, value: GraphValue) -> tuple[Node, IndexMap]:
        found = self.nodes.get(value)
        if found is None:
            found = self._versions[value.arg]
        return found, identity(value.shape)

    def _home(self, home: Home) -> None:
        value, assign = home.value, home.assign
        writer = Writer(home, self._lying)
        names, wide, generic = self._names(home), lanes(self._settings), self._asking.symbolic
        if assign is None:
            launch = writer.launch(identity(value.shape), names, lanes=wide, generic=generic)
            for number, root in enumerate(home.roots):
                asked = self._asking.made.get(root, "")
                self.nodes[root] = Computed(root.device, root.dtype, root.size, launch, number, asked)
            return
        before = self._versions[assign.buffer, assign.version - 1]
        launch = writer.launch(assign.map, names, lanes=wide, generic=generic)
        self._versions[assign.buffer, assign.version] = Written(
            before.device, before.dtype, before.size, launch, 0, assign.asked, before
        )

    def _names(self, home: Home) -> tuple[str, ...]:
        """Return the nodes of the graph that a kernel computes."""
        named = (self._asking.made.get(value) for value in home.values.values() if value not in home.stored)
        return tuple(name for name in named if name)

    def _copy(self, value: GraphValue) -> None:
        source = value.of[0]
        start, below = 0, source
        if source not in self.nodes and source.op == "move":
            start, below = source.arg.offset, source.of[0]
        node, _ = self._lying(below)
        self.nodes[value] = Copy(value.device, value.dtype, value.size, node, start)

    def _received(self, value: GraphValue) -> None:
        name, attrs, members = value.arg
        key = name, attrs, members, tuple(each.number for each in value.of)
        world = 1 + max(self._asking.devices.values())
        made = self._meetings.get(key)
        if made is None:
            blocks = tuple(self._block(each) for each in value.of)
            made = collective(name, blocks, dict(attrs), (tuple(range(len(members))),), uneven=True)
            place = {device: position for position, device in enumerate(members)}
            made = self._meetings[key] = msgspec.structs.replace(
                made,
                groups=(members,),
                blocks=tuple(blocks[place.get(device, 0)] for device in range(world)),
                shapes=tuple(made.shapes[place[device]] if device in place else None for device in range(world)),
            )
        node = self.nodes[value] = Output(value.device, value.dtype, value.size, made)
        self.received = (*self.received, Movement(node, contiguous((node.size,))))

    def _block(self, value: GraphValue) -> Movement:
        if value.op == "const":
            filled = Fill(value.device, value.dtype, value.size, int.from_bytes(value.arg, "little"))
            return whole(filled, value.shape)
        if value in self.nodes or value.op != "move":
            return Movement(self._lying(value)[0], contiguous(value.shape))
        return Movement(self._lying(value.of[0])[0], View(value.shape, value.arg.strides, value.arg.offset))
