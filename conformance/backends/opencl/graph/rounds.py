"""A round of a graph becomes values: names of storage are looked up, writes numbered, and nothing is computed.

Eager evaluation in list order is the meaning: whoever takes a name of storage takes the version that is there then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
import numpy as np

from conformance.backends.base import Refused
from conformance.backends.opencl.graph.constant_folding import converted, folded, neutral
from conformance.backends.opencl.graph.index_map import (
    IndexMap,
    Shape,
    affine,
    apart,
    composed,
    identity,
    in_order,
)
from conformance.backends.opencl.graph.movement import movement
from conformance.backends.opencl.graph.reductions import FOLDS, of_nothing
from conformance.backends.opencl.graph.value import GraphValue, Values, plain
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.extent import Dim, sizes
from conformance.cases.graph.graph import MOVEMENT, Graph, Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor


class Named(msgspec.Struct, frozen=True):
    """A name of storage: elements of a buffer, by index map."""

    buffer: str
    map: IndexMap
    shape: Shape
    dtype: str
    device: int


PARTS: Final = (64, 32, 48, 40, 50, 16)
"""How many blocks the first stage of a long fold has: the first of these that divides the extent."""

COLUMNS: Final = 2**20
"""Elements from which a fold of columns has a first stage: 4 MiB of float32, more than the caches of one core."""

Meaning = Named | GraphValue


class Assign(msgspec.Struct, frozen=True, eq=False):
    """The write of ``value`` to the elements ``map`` of ``buffer``, which makes version ``version`` of it.

    Writes of a round are numbered from 0 in list order. ``asked`` is the node of the graph.
    """

    number: int
    buffer: str
    map: IndexMap
    value: GraphValue
    version: int
    asked: str


class Storage(msgspec.Struct, frozen=True):
    """A buffer of the graph."""

    dtype: str
    size: int
    device: int


class RoundValues:
    """What the nodes of a graph mean, as they are listed."""

    def __init__(
        self, graph: Graph, storages: Mapping[str, Storage], devices: Mapping[str, int], split_from: int
    ) -> None:
        """Start with nothing listed; ``devices`` numbers them by name.

        Folds of at least ``split_from`` elements to one are made in two stages: ``parts`` has for what the first one
        stores the node, and how many folds there are for each of its elements.
        """
        self.split_from = split_from
        self.values, self.storages, self.devices = Values(), storages, devices
        self._functions = graph.functions
        inner = [node for function in graph.functions.values() for node in function.nodes]
        self._extents: dict[str, list[tuple[Dim, ...]]] = {}
        for node in (*graph.nodes, *inner):
            self._extents.setdefault(node.id, []).append(node.shape)
        self.symbolic = bool(graph.variables)
        self.meanings: dict[str, Meaning] = {}
        self.versions = dict.fromkeys(storages, 0)
        self.assigns: list[Assign] = []
        self.made: dict[GraphValue, str] = {}
        self.parts: dict[GraphValue, tuple[str, int]] = {}
        self.replaced: dict[tuple[str, int], int] = {}
        self._last: dict[str, tuple[IndexMap, GraphValue]] = {}

    def begin(self) -> None:
        """Begin a round: the writes before it are done."""
        self.assigns, self.replaced, self._last = [], {}, {}

    def written(self, buffer: str) -> None:
        """Note that a buffer was written from outside."""
        self.versions[buffer] += 1

    def take(self, node: Node, bound: Mapping[str, int]) -> None:
        """List a node of the graph, with values for variables."""
        meaning = self._meaning(node, self.meanings, bound)
        self.meanings[node.id] = meaning
        unmoved = node.op in MOVEMENT and meaning is self.meanings[node.of[0]]
        unmoved |= self._of_one_term(node)  # whatever is stored for it is its source
        if isinstance(meaning, GraphValue) and not unmoved and not _passed_on(node, meaning):
            self.made.setdefault(meaning, node.id)

    def _of_one_term(self, node: Node) -> bool:
        """Return whether a reduce is its source: along axes of extent 1, whatever variables are, or along none."""
        if node.op != "reduce" or not isinstance(node.arg, tuple):
            return False
        axes = [axis for axis in node.arg if isinstance(axis, int)]
        return all(shape[axis] == 1 for shape in self._extents[node.of[0]] for axis in axes if axis < len(shape))

    def unchanged(self, load: GraphValue, seen: IndexMap) -> bool:
        """Return whether the elements ``seen`` of the version that is loaded are what they were, whoever wrote."""
        buffer, version = load.arg
        later = [each.map for each in self.assigns if each.buffer == buffer and each.version > version]
        # What was written from outside, or in an earlier round, is no assign of this one.
        return self.versions[buffer] == version + len(later) and (not later or apart(seen, later))

    def worth(self, name: str) -> GraphValue:
        """Return what a node is worth now."""
        return self._now(self.meanings[name])

    def _meaning(self, node: Node, known: dict[str, Meaning], bound: Mapping[str, int]) -> Meaning:
        shape, device = sizes(node.shape, bound), self.devices[node.device]
        if node.op == "buf":
            return Named(str(node.arg), identity(shape), shape, node.dtype, device)
        if node.op in MOVEMENT:
            return self._moved(node, known[node.of[0]], shape, bound)
        if node.op == "assign":
            return self._assign(node, known[node.of[0]], self._now(known[node.of[1]]))
        if node.op == "call":
            return self._call(node, known, bound)
        if node.op == "item":
            return known[f"{node.of[0]}/{node.arg}"]
        return self._computed(node, [self._now(known[name]) for name in node.of], shape, device, bound)

    def _now(self, meaning: Meaning) -> GraphValue:
        if isinstance(meaning, GraphValue):
            return meaning
        storage = self.storages[meaning.buffer]
        version = meaning.buffer, self.versions[meaning.buffer]
        found = self.values.make("load", storage.dtype, (storage.size,), storage.device, (), version)
        for each in reversed(meaning.map):
            found = self.values.moved(found, each)
        return found

    def _moved(self, node: Node, source: Meaning, shape: Shape, bound: Mapping[str, int]) -> Meaning:
        if node.op == "detach":
            return source
        by = movement(node, source.shape, shape, bound)
        if isinstance(source, Named):
            return Named(source.buffer, composed((by,), source.map), shape, source.dtype, source.device)
        return self.values.moved(source, by)

    def _assign(self, node: Node, target: Meaning, value: GraphValue) -> Meaning:
        if not isinstance(target, Named):
            raise Refused(f"node {node.id!r}: the target of an assign is no view of a buffer")
        value = self._converted(value, target.dtype)
        current = self._now(target)
        if value is current or not value.size or self._last.get(target.buffer) == (target.map, value):
            return target
        version, number = self.versions[target.buffer], len(self.assigns)
        self.replaced[target.buffer, version] = number
        self.versions[target.buffer] = version + 1
        self.assigns.append(Assign(number, target.buffer, target.map, value, version + 1, node.id))
        self._last[target.buffer] = target.map, value
        return target

    def _call(self, node: Node, known: dict[str, Meaning], bound: Mapping[str, int]) -> Meaning:
        """List the nodes of a function where it is called; no id has a slash, so those of its results have one."""
        function = self._functions[str(node.arg)]
        inner: dict[str, Meaning] = {}
        for each in function.nodes:
            if each.op == "param":
                inner[each.id] = known[node.of[int(str(each.arg))]]
            else:
                inner[each.id] = self._meaning(each, inner, bound)
        for at, name in enumerate(function.results):
            known[f"{node.id}/{at}"] = inner[name]
        return inner[function.result]

    def _computed(
        self, node: Node, of: list[GraphValue], shape: Shape, device: int, bound: Mapping[str, int]
    ) -> GraphValue:
        if 0 in shape:
            return self.values.const(bytes(NUMPY[node.dtype].itemsize), node.dtype, shape, device)
        if node.op in ("const", "var", "iota"):
            return self._leaf(node, shape, device, bound)
        if node.op == "collective":
            members = tuple(self.devices[name] for name in node.members)
            meeting = str(node.arg), tuple(sorted(node.attrs.items())), members
            return self.values.make("received", node.dtype, shape, device, of, meeting)
        made: dict[str, Callable[[Node, list[GraphValue], Shape, int], GraphValue]] = {
            "alu": self._alu,
            "cast": lambda node, of, *_: self._converted(of[0], node.dtype),
            "bitcast": self._recast,
            "reduce": self._reduced,
            "gather": self._gathered,
            "contig": self._contiguous,
            "copy": self._copied,
            "all_reduce": self._folded,
        }
        return made[node.op](node, of, shape, device)

    def _leaf(self, node: Node, shape: Shape, device: int, bound: Mapping[str, int]) -> GraphValue:
        if node.op == "iota":
            count = self.values.make("iota", "int64", shape, device, (), int(str(node.arg)))
            return self._converted(count, node.dtype)
        if node.op == "var":
            bits = np.asarray(bound[str(node.arg)], NUMPY[node.dtype]).tobytes()
            return self.values.const(bits, node.dtype, shape, device)
        assert isinstance(node.arg, Tensor)
        return self.values.const(bytes.fromhex(node.arg.bits), node.dtype, shape, device)

    def _recast(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        if of[0].op == "const":
            return self.values.const(of[0].arg, node.dtype, shape, device)
        return of[0] if of[0].dtype == node.dtype else self.values.make("bitcast", node.dtype, shape, device, of)

    def _contiguous(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        # What lies in order already stays where it is; a later write makes its readers keep it.
        there = of[0].op == "const" or plain(of[0]).op in ("contig", "load", "copy", "received")
        return of[0] if there else self.values.make("contig", node.dtype, shape, device, of)

    def _alu(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        chosen = of[:1] if node.arg == "where" else []
        operands = of[len(chosen) :]
        joined = promoted(each.dtype for each in operands) or operands[0].dtype
        taken = [*chosen, *(self._converted(each, joined) for each in operands)]
        dtype, op = "bool" if node.arg in COMPARISONS else joined, str(node.arg)
        bits = folded(op, taken, dtype)
        if bits is not None:
            return self.values.const(bits, dtype, shape, device)
        same = neutral(op, taken)
        if same is not None:
            return same
        return self.values.make("alu", dtype, shape, device, taken, op)

    def _converted(self, value: GraphValue, dtype: str) -> GraphValue:
        if value.dtype == dtype:
            return value
        bits = converted(value, dtype)
        if bits is not None:
            return self.values.const(bits, dtype, value.shape, value.device)
        return self.values.make("cast", dtype, value.shape, value.device, (value,))

    def _reduced(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        axes = tuple(sorted(axis for axis in node.arg if isinstance(axis, int))) if isinstance(node.arg, tuple) else ()
        held = node.acc or node.dtype
        source = self._converted(of[0], held)
        if not axes:
            return self._converted(source, node.dtype)
        if not source.size:
            bits = of_nothing(held, FOLDS.get(node.fold, node.fold)).to_bytes(NUMPY[held].itemsize, "little")
            return self._converted(self.values.const(bits, held, shape, device), node.dtype)
        if self._of_one_term(node):
            return self._converted(self.values.moved(of[0], in_order(shape)), node.dtype)
        whole = source
        source, axes = self._split(source, node.fold, axes, math.prod(shape))
        if source is not whole:
            self.parts.setdefault(source, (node.id, source.size // math.prod(shape)))
        return self._converted(
            self.values.make("reduce", held, shape, device, (source,), (node.fold, axes)), node.dtype
        )

    def _split(
        self, source: GraphValue, fold: str, axes: tuple[int, ...], kept: int
    ) -> tuple[GraphValue, tuple[int, ...]]:
        """Return what is left to fold, and along which axes, when a long fold to few elements has a first stage.

        That folds blocks, which many work-items do side by side, and is stored in the dtype that is folded in.
        """
        axis = max(axes, key=lambda each: source.shape[each])
        extent = source.shape[axis]
        parts = next((each for each in PARTS if extent % each == 0), None)
        if parts is not None and kept >= parts and axis < len(source.shape) - 1:
            # Columns: many work-items have some each, but rows that are read whole come faster.
            parts = 16 if extent % 16 == 0 and source.size >= max(COLUMNS, self.split_from) and extent >= 256 else None
        elif source.size // max(kept, 1) < self.split_from or kept >= (parts or 0):
            parts = None
        if parts is None or source.op == "const":
            return source, axes
        shape = (*source.shape[:axis], parts, extent // parts, *source.shape[axis + 1 :])
        rows = self.values.moved(source, in_order(shape))
        first = tuple(each + (each >= axis) for each in axes if each != axis)
        first = tuple(sorted((*first, axis + 1)))
        rest = tuple(extent for each, extent in enumerate(shape) if each not in first)
        made = self.values.make("reduce", source.dtype, rest, source.device, (rows,), (fold, first))
        made = self.values.make("contig", source.dtype, rest, source.device, (made,))
        return made, (axis - sum(each < axis for each in axes if each != axis),)

    def _gathered(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        if not of[0].size:
            bits = bytes(NUMPY[node.dtype].itemsize)
            return self.values.const(bits, node.dtype, shape, device)
        return self.values.make("gather", node.dtype, shape, device, of, int(str(node.arg)))

    def _copied(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        source = of[0]
        if source.op == "const":
            return self.values.const(source.arg, source.dtype, source.shape, device)
        forced = node.arg is True
        if not forced and source.device == device:
            return source
        if not forced and source.op == "copy" and source.of[0].device == device:
            return source.of[0]
        return self.values.make("copy", node.dtype, source.shape, device, (source,), forced)

    def _folded(self, node: Node, of: list[GraphValue], shape: Shape, device: int) -> GraphValue:
        """Return the fold of one value of each device, brought to this one."""
        found, *others = (self._here(each, device) for each in of)
        for each in others:
            found = self.values.make("alu", node.dtype, shape, device, (found, each), node.fold)
        return found

    def _here(self, value: GraphValue, device: int) -> GraphValue:
        if value.device == device:
            return value
        if value.op == "const":
            return self.values.const(value.arg, value.dtype, value.shape, device)
        # The same elements in order are one copy, whatever the shapes in which they are asked for.
        flat = self.values.moved(value, affine((value.size,), (1,)))
        made = self.values.make("copy", value.dtype, flat.shape, device, (flat,), False)
        return self.values.moved(made, in_order(value.shape))


def _passed_on(node: Node, meaning: GraphValue) -> bool:
    """Return whether a node only moves, copies or keeps, and its value is none that this makes: nobody computes it."""
    made = {"copy": "copy", "contig": "contig", **dict.fromkeys(MOVEMENT, "move")}
    return node.op == "detach" or (node.op in made and meaning.op != made[node.op])


def devices_of(case: GraphCase) -> dict[str, int]:
    """Return the devices of a graph, numbered in order of first mention."""
    nodes = [*case.graph.nodes, *(node for each in case.graph.functions.values() for node in each.nodes)]
    names = (name for node in nodes for name in (node.device, *node.members))
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def storages_of(case: GraphCase, devices: Mapping[str, int]) -> dict[str, Storage]:
    """Return the buffers of a graph that its nodes name; on which device the others are nobody says."""
    nodes = [*case.graph.nodes, *(node for each in case.graph.functions.values() for node in each.nodes)]
    homes = {str(node.arg): node.device for node in nodes if node.op == "buf"}
    return {
        name: Storage(each.dtype, math.prod(each.shape), devices[homes[name]])
        for name, each in case.buffers.items()
        if name in homes
    }
