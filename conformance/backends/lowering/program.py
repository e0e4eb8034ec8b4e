"""The steps of a program on sharded tensors, each lowered to a node a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.backends.lowering.flips import turned
from conformance.backends.lowering.graph_builder import Building, Shape, Spread, extents
from conformance.backends.lowering.moves import all_reduced, moved, price, zero
from conformance.backends.lowering.split_axes import first_of, inside, own_pairs, pairs, steps
from conformance.cases.graph.case import Round
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.sharded.placement import (
    REPLICATED,
    Placement,
    held,
    layout_of,
    part_of,
    positions,
    reals,
)
from conformance.cases.sharded.rules import Rule, Unmovable, rule
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, from_array, to_array


@dataclass
class Lowering(Building):
    """A case on its way: what values and storages are."""

    values: dict[str, Spread] = field(default_factory=dict)
    storages: dict[str, Spread] = field(default_factory=dict)

    @property
    def named(self) -> dict[str, Node]:
        """Return the nodes of the program by name."""
        return {node.id: node for node in self.case.of.graph.nodes}

    def begin(self) -> None:
        """Declare a buffer for each part of each buffer."""
        for name, tensor in self.case.of.buffers.items():
            at = self.case.homes.get(name, REPLICATED)
            nodes: list[Node | None] = []
            for position, part in enumerate(self.cut(to_array(tensor), at)):
                nodes.append(None if part is None else self.stored(f"{name}_{position}", position, part, tensor.dtype))
            self.storages[name] = Spread(tensor.shape, tensor.dtype, at, tuple(nodes))

    def stored(self, name: str, position: int, array: Array, dtype: str) -> Node:
        """Add a buffer on a device, and the node that names it."""
        self.buffers[name] = from_array(array)
        return self.add(position, "buf", array.shape, dtype, arg=name)

    def cut(self, array: Array, at: Placement) -> list[Array | None]:
        """Return what each device holds of an array; ``None`` where that is not real."""
        boxes = layout_of(array.shape, at, self.case.mesh).boxes
        return [None if box is None else np.array(array[tuple(slice(*pair) for pair in box)]) for box in boxes]

    def writes(self, each: Round) -> dict[str, Tensor]:
        """Return what a round writes from outside, part by part."""
        found: dict[str, Tensor] = {}
        for name, tensor in each.writes.items():
            parts = self.cut(to_array(tensor), self.case.homes.get(name, REPLICATED))
            found |= {f"{name}_{n}": from_array(part) for n, part in enumerate(parts) if part is not None}
        return found

    def value(self, name: str) -> Spread:
        """Return a value as it is worth now: names of storage are moved anew."""
        if name in self.values:
            return self.values[name]
        node = self.named[name]
        if node.op == "buf":
            return self.reshaped(self.storages[str(node.arg)], extents(node))
        source = self.value(node.of[0])
        return source if node.op == "assign" else self.done(node, [source])

    def reshaped(self, value: Spread, shape: Shape) -> Spread:
        """Return a value in another shape."""
        if value.shape == shape:
            return value
        return self.done(Node(id="", op="reshape", of=("",), shape=shape, dtype=value.dtype, device=""), [value])

    def take(self, node: Node) -> None:
        """Lower a node of the program that is no assign; a name of storage is made when it is used."""
        if not self.home(node.id):
            self.values[node.id] = self.made(node, [self.value(name) for name in node.of])

    def home(self, name: str) -> str:
        """Return the buffer that a node is a name of; no word for a computed one."""
        node = self.named[name]
        while node.op in MOVEMENT or node.op == "assign":
            node = self.named[node.of[0]]
        return str(node.arg) if node.op == "buf" else ""

    def made(self, node: Node, of: list[Spread]) -> Spread:
        """Return the value of a computed node."""
        wanted = self.case.moves.get(node.id)
        if node.op != "copy":
            return self.done(node, of, wanted)
        found = moved(self, of[0], wanted or REPLICATED)
        # A part may still be a name of its source's storage.
        nodes = [
            each if each is None or each.id in self.fresh else self._contiguous(position, each)
            for position, each in enumerate(found.nodes)
        ]
        return Spread(found.shape, found.dtype, found.at, tuple(nodes))

    def _contiguous(self, position: int, node: Node) -> Node:
        return self.add(position, "contig", extents(node), node.dtype, node)

    def done(self, node: Node, of: Sequence[Spread], pending: Placement | None = None) -> Spread:
        """Return a step done part by part, or whole on every device."""
        shape = extents(node)
        try:
            shapes, dtypes = [each.shape for each in of], [each.dtype for each in of]
            how = rule(node, shapes, dtypes, [each.at for each in of], self.case.mesh)
        except Unmovable:
            if node.op == "flip" and not of[0].at.masks:
                return turned(self, of[0], steps(node))
            if node.op == "stride" and not of[0].at.masks and min(steps(node)) < 0:
                return self.backwards(node, of[0])
            where = inside(node, of)
            if where is not None:
                return Spread(shape, of[0].dtype, where, self.ranged(node, of[0], where))
            how = Rule((REPLICATED,) * len(of), REPLICATED)
        how = self.cheapest(node, of, how)
        taken = [moved(self, each, wanted) for each, wanted in zip(of, how.wanted, strict=True)]
        wide = node.acc or node.dtype
        if node.acc:
            taken = [self.converted(each, wide) for each in taken]
        taken = self.joined(node, taken)
        made = Spread(shape, wide, how.made, self.local(replace(node, dtype=wide, acc=""), taken, how.made, shape))
        if pending is None and how.folded:
            made = all_reduced(self, made, how.folded)
        if node.op == "expand" and not made.at.masks and not made.at.partial:
            return replaced(made, repeats=taken[0])
        return self.converted(made, node.dtype)

    def cheapest(self, node: Node, of: Sequence[Spread], how: Rule) -> Rule:
        """Return where operands of an elementwise operation meet at the least cost; the source has them at the last."""
        plain = not any(each.at.masks or each.at.partial for each in of)
        choices = [each.at for each in of if each.at.splits]
        if node.op != "alu" or not plain or len(choices) < 2:
            return how
        best = min([how.made, *choices], key=lambda at: sum(price(self, each, at) for each in of))
        return Rule((best,) * len(of), best)

    def backwards(self, node: Node, of: Spread) -> Spread:
        """Return steps from the end as steps forward over what is turned round."""
        axes = tuple(axis for axis, step in enumerate(steps(node)) if step < 0)
        forward = replace(node, arg=tuple(abs(step) for step in steps(node)))
        return self.done(forward, [turned(self, of, axes)])

    def ranged(self, node: Node, of: Spread, made: Placement) -> tuple[Node, ...]:
        """Return the range, or the padded part, that each device makes of its own part."""
        found = []
        mesh = self.case.mesh
        for position, (at, mine) in enumerate(zip(positions(mesh), held(extents(node), made, mesh), strict=True)):
            source = of.nodes[position]
            assert source is not None  # inside() leaves masks out
            if 0 in mine or 0 in source.shape:
                found.append(self.add(position, "const", mine, of.dtype, arg=zero(of.dtype)))
                continue
            if node.op == "stride":
                begun = self.begun(node, of, position, source)
                found.append(self.add(position, "stride", mine, of.dtype, begun, arg=node.arg))
                continue
            arg = pairs(node)
            for split in of.at.splits:
                arg[split.axis] = own_pairs(node, split, part_of(split, mesh, at))
            found.append(self.add(position, node.op, mine, of.dtype, source, arg=tuple(arg)))
        return tuple(found)

    def begun(self, node: Node, of: Spread, position: int, source: Node) -> Node:
        """Return a device's part from the first element on that the steps of a stride meet."""
        at = positions(self.case.mesh)[position]
        taken = [(0, extent) for extent in extents(source)]
        for split in of.at.splits:
            first = first_of(split, steps(node)[split.axis], part_of(split, self.case.mesh, at))
            taken[split.axis] = (first, taken[split.axis][1])
        shape = tuple(end - begin for begin, end in taken)
        return (
            source
            if shape == extents(source)
            else self.add(position, "shrink", shape, of.dtype, source, arg=tuple(taken))
        )

    def joined(self, node: Node, of: list[Spread]) -> list[Spread]:
        """Return the operands of an elementwise operation in the dtype that they are promoted to.

        Schedules are of graphs whose operations have operands of one dtype.
        """
        chosen = 1 if node.arg == "where" else 0
        wide = promoted(each.dtype for each in of[chosen:]) if node.op == "alu" else None
        return of if wide is None else [*of[:chosen], *(self.converted(each, wide) for each in of[chosen:])]

    def converted(self, value: Spread, dtype: str) -> Spread:
        """Return a value in another dtype."""
        if value.dtype == dtype:
            return value
        nodes = [
            None if each is None else self.add(position, "cast", extents(each), dtype, each)
            for position, each in enumerate(value.nodes)
        ]
        return Spread(value.shape, dtype, value.at, tuple(nodes))

    def local(self, node: Node, of: Sequence[Spread], made: Placement, shape: Shape) -> tuple[Node | None, ...]:
        """Return the part of a step that each device does."""
        real = reals(made, self.case.mesh)
        found: list[Node | None] = []
        for position, mine in enumerate(held(shape, made, self.case.mesh)):
            parts = [each.nodes[position] for each in of]
            if not real[position]:
                found.append(None)
            elif None in parts:
                # The other parts of what is padded to the whole again.
                found.append(self.add(position, "const", mine, node.dtype, arg=zero(node.dtype)))
            else:
                sources = [each for each in parts if each is not None]
                rest = {"arg": _argument(node, sources, of), "fold": node.fold}
                found.append(self.add(position, node.op, mine, node.dtype, *sources, **rest))
        return tuple(found)


def _argument(node: Node, parts: Sequence[Node], of: Sequence[Spread]) -> Any:
    """Return the argument of one device's part of a node: along split axes it takes all that the device has."""
    if node.op not in ("pad", "shrink") or not isinstance(node.arg, tuple):
        return node.arg
    cut = {split.axis for split in of[0].at.splits}
    kept = [(0, 0) if node.op == "pad" else (0, extent) for extent in extents(parts[0])]
    return tuple(kept[axis] if axis in cut else pair for axis, pair in enumerate(node.arg))
