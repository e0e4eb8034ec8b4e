"""Faults of placement: bounds, orders of parts, and steps that are done part by part although they cannot be."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Layout, Placement, Split, even_cuts, layout_of
from conformance.cases.sharded.rules import Rule, Unmovable
from conformance.cases.tensor.dtypes import Array
from conformance.reference.sharded.parts import Parts, Sharding


def _cut(placement: Placement, axis: int) -> Split | None:
    return next((split for split in placement.splits if split.axis == axis), None)


class BoundsAreOneLate(Sharding):
    """Takes each part after the first one element too late."""

    def placed(self, array: Array, placement: Placement) -> Parts:
        made = super().placed(array, placement)
        parts = []
        for box, part in zip(self.layout(made).boxes, made.parts, strict=True):
            if box is None or not part.size or not placement.splits:
                parts.append(part)
                continue
            at = placement.splits[0].axis
            begin = min(box[at][0] + (box[at][0] > 0), array.shape[at] - part.shape[at])
            moved = [slice(*pair) for pair in box]
            moved[at] = slice(begin, begin + part.shape[at])
            parts.append(np.array(array[tuple(moved)]))
        return Parts(made.shape, placement, tuple(parts))


class GathersAsIfEven(Sharding):
    """Puts parts together as if they had been cut by default."""

    def gathered(self, value: Parts) -> Array:
        value = self.completed(value)
        if value.placement.masks or not value.placement.splits:
            return super().gathered(value)
        out = np.zeros(value.shape, value.parts[0].dtype)
        at = replace(
            value.placement,
            splits=tuple(
                replace(each, cuts=even_cuts(each.cuts[-1], len(each.cuts) - 1)) for each in value.placement.splits
            ),
        )
        for box, part in zip(layout_of(value.shape, at, self.mesh).boxes, value.parts, strict=True):
            assert box is not None
            slot = out[tuple(slice(*pair) for pair in box)]
            fits = tuple(slice(0, min(a, b)) for a, b in zip(slot.shape, part.shape, strict=True))
            slot[fits] = part[fits]
        return out


class GathersBackwards(Sharding):
    """Puts parts of one size together in the other order."""

    def gathered(self, value: Parts) -> Array:
        if value.placement.splits and not value.placement.partial and len({part.shape for part in value.parts}) == 1:
            value = Parts(value.shape, value.placement, value.parts[::-1])
        return super().gathered(value)


class SlicesReplicasEvenly(Sharding):
    """Cuts what is replicated by default, whatever the bounds of what it meets, where sizes allow."""

    def moved(self, value: Parts, placement: Placement) -> Parts:
        made = super().moved(value, placement)
        if value.placement != REPLICATED or not placement.splits or placement.masks:
            return made
        even = tuple(replace(each, cuts=even_cuts(each.cuts[-1], len(each.cuts) - 1)) for each in placement.splits)
        other = super().placed(value.parts[0], replace(placement, splits=even))
        parts = tuple(b if a.shape == b.shape else a for a, b in zip(made.parts, other.parts, strict=True))
        return Parts(made.shape, placement, parts)


class MovesTheTagOnly(Sharding):
    """Moves nothing where the parts of two placements have the same shapes."""

    def moved(self, value: Parts, placement: Placement) -> Parts:
        made = super().moved(value, placement)
        if value.placement.partial or [a.shape for a in made.parts] != [b.shape for b in value.parts]:
            return made
        return Parts(value.shape, placement, value.parts)


class MinorAxisFirst(Sharding):
    """Numbers the parts of an axis that several mesh axes cut in the order of the mesh."""

    def placed(self, array: Array, placement: Placement) -> Parts:
        order = [axis.name for axis in self.mesh]
        splits = tuple(replace(each, along=tuple(sorted(each.along, key=order.index))) for each in placement.splits)
        made = super().placed(array, replace(placement, splits=splits))
        shapes = [part.shape for part in super().placed(array, placement).parts]
        if [part.shape for part in made.parts] != shapes:
            return super().placed(array, placement)
        return Parts(array.shape, placement, made.parts)


class PadsResults(Sharding):
    """Says of uneven parts that they are even."""

    def layout(self, value: Parts) -> Layout:
        made = super().layout(value)
        if not value.placement.splits or value.placement.masks:
            return made
        split = value.placement.splits[0]
        size = -(-value.shape[split.axis] // (len(split.cuts) - 1))
        boxes = []
        for box in made.boxes:
            mine = list(box or ())
            mine[split.axis] = (mine[split.axis][0], mine[split.axis][0] + size)
            boxes.append(tuple(mine))
        return Layout(boxes=tuple(boxes), partial=made.partial)


class _Local(Sharding):
    """Does some steps along a split axis in each part by itself."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        wanted = super().done(node, of, pending)
        try:
            self.rule(node, of)
        except Unmovable:
            found = self.alone(node, of)
            if found is not None and [a.shape for a in found.parts] == [a.shape for a in self._like(wanted, found)]:
                return found
        return wanted

    def _like(self, wanted: Parts, found: Parts) -> tuple[Array, ...]:
        return self.placed(np.zeros(wanted.shape, np.bool_), found.placement).parts

    def alone(self, node: Node, of: Sequence[Parts]) -> Parts | None:
        """Return what each part makes of itself, where that is tried."""


class FlipsEachPart(_Local):
    """Turns each part round, and leaves parts where they are."""

    def alone(self, node: Node, of: Sequence[Parts]) -> Parts | None:
        if node.op != "flip" or of[0].placement.masks or of[0].placement.partial:
            return None
        axes = node.arg if isinstance(node.arg, tuple) else ()
        return Parts(of[0].shape, of[0].placement, tuple(np.flip(part, axes) for part in of[0].parts))  # type: ignore[arg-type]


class StridesEachPart(_Local):
    """Begins to step anew in each part."""

    def alone(self, node: Node, of: Sequence[Parts]) -> Parts | None:
        at = of[0].placement
        if node.op != "stride" or at.masks or at.partial or len(at.splits) != 1:
            return None
        steps = [slice(None, None, step) for step in node.arg]  # type: ignore[union-attr]
        parts = tuple(np.array(part[tuple(steps)]) for part in of[0].parts)
        split = at.splits[0]
        if len(split.along) > 1:
            return None
        widths = self._widths(parts, split)
        shape = tuple(int(dim) for dim in node.shape)
        if sum(widths) != shape[split.axis]:
            return None
        cuts = (0, *itertools.accumulate(widths))
        return Parts(shape, Placement(splits=(replace(split, cuts=cuts),)), parts)

    def _widths(self, parts: Sequence[Array], split: Split) -> list[int]:
        step = len(parts) // (len(split.cuts) - 1)
        if [axis.name for axis in self.mesh][-1] != split.along[0]:
            return [parts[number * step].shape[split.axis] for number in range(len(split.cuts) - 1)]
        return [part.shape[split.axis] for part in parts[: len(split.cuts) - 1]]


class TakesByLocalIndices(Sharding):
    """Takes rows by indices from each part as if it were the whole."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        if node.op == "gather":
            axis = int(str(node.arg))
            split = _cut(of[0].placement, axis)
            if split is not None and not of[0].placement.masks and 0 not in of[0].parts[0].shape:
                rest = replace(of[0].placement, splits=tuple(s for s in of[0].placement.splits if s is not split))
                if not rest.splits:
                    return Rule((of[0].placement, REPLICATED), REPLICATED)
        return super().rule(node, of)


class FirstEqualAxis(Sharding):
    """After a reshape splits the first axis that is as long as the split one was."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        how = super().rule(node, of)
        if node.op != "reshape" or len(how.made.splits) != 1:
            return how
        old, shape = of[0].placement.splits[0], tuple(int(dim) for dim in node.shape)
        if of[0].shape[old.axis] not in shape or of[0].placement.masks:
            return how
        axis = shape.index(of[0].shape[old.axis])
        return Rule(how.wanted, replace(how.made, splits=(replace(old, axis=axis),)))

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        try:
            return super().local(node, of, made)
        except ValueError:
            shape = tuple(int(dim) for dim in node.shape)
            return self.placed(self.gathered(of[0]).reshape(shape), made).parts


class CutsInsideRows(Sharding):
    """Divides bounds by the size of a row, whether they are at rows or not."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        try:
            return super().rule(node, of)
        except Unmovable:
            at, shape = of[0].placement, tuple(int(dim) for dim in node.shape)
            if node.op != "reshape" or len(at.splits) != 1 or at.masks or 0 in shape or not shape:
                raise
            split = at.splits[0]
            cuts = tuple(cut * shape[0] // split.cuts[-1] for cut in split.cuts)
            return Rule((at,), Placement(splits=(replace(split, axis=0, cuts=cuts),)))

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        try:
            return super().local(node, of, made)
        except ValueError:
            shapes = [part.shape for part in self.placed(np.zeros([int(d) for d in node.shape]), made).parts]
            return tuple(np.resize(part, shape) for part, shape in zip(of[0].parts, shapes, strict=True))


class NotAliked(Sharding):
    """Takes operands of another split as they are, where their parts have the same shapes."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        how = super().rule(node, of)
        shapes = {tuple(part.shape for part in each.parts) for each in of}
        if node.op == "alu" and len(of) > 1 and len(shapes) == 1 and not any(each.placement.partial for each in of):
            return Rule(tuple(each.placement for each in of), how.made)
        return how


class SwapsMixed(Sharding):
    """Swaps the operands of what is placed in two ways."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        if node.op == "alu" and len(of) == 2 and of[0].placement != of[1].placement:
            of = (of[1], of[0])
        return super().done(node, of, pending)


class MasksAreLost(Sharding):
    """Forgets after a permutation what is real."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        made = super().done(node, of, pending)
        if node.op != "permute" or not made.placement.masks:
            return made
        return Parts(made.shape, replace(made.placement, masks={}), made.parts)


class TheFirstPart(Sharding):
    """Of a range that is one part gives the first one, where that is as large."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        made = super().done(node, of, pending)
        if node.op != "shrink" or not made.placement.masks or of[0].placement.masks:
            return made
        first = of[0].parts[0]
        parts = tuple(first if part.shape == first.shape else part for part in made.parts)
        return Parts(made.shape, made.placement, parts)


class DisjointMasksAreZero(Sharding):
    """Gives zeros for operands that have no real part in common."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        try:
            self.rule(node, of)
        except Unmovable as problem:
            if node.op == "alu" and "in common" in str(problem):
                made = super().done(node, of, pending)
                return Parts(made.shape, made.placement, tuple(np.zeros_like(part) for part in made.parts))
        return super().done(node, of, pending)


class OthersAreNotZero(Sharding):
    """Leaves in parts that are not real what was there, so that a pad to the whole shows it."""

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        found = super().local(node, of, made)
        if node.op != "pad" or made.masks or not of[0].placement.masks:
            return found
        real = [box is not None for box in layout_of(of[0].shape, of[0].placement, self.mesh).boxes]
        return tuple(part if kept else np.ones_like(part) for part, kept in zip(found, real, strict=True))


class PadsEveryPart(Sharding):
    """Pads each part of a split axis, of which only the outer ones have an end."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        try:
            return super().rule(node, of)
        except Unmovable:
            at = of[0].placement
            if node.op != "pad" or at.masks or len(at.splits) != 1:
                raise
            split, pairs = at.splits[0], node.arg
            before, after = pairs[split.axis]  # type: ignore[index,misc,str-unpack]
            last = len(split.cuts) - 2
            widths = [b - a for a, b in itertools.pairwise(split.cuts)]
            # What is before goes behind the first part, what is after before the last one.
            widths[0] += int(before)
            widths[last] += int(after)
            cuts = (0, *itertools.accumulate(widths))
            return Rule((at,), Placement(splits=(replace(split, cuts=cuts),)))

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        if node.op != "pad" or of[0].placement.masks or of[0].placement.splits == made.splits:
            return super().local(node, of, made)
        shapes = [part.shape for part in self.placed(np.zeros([int(d) for d in node.shape]), made).parts]
        found = []
        for part, shape in zip(of[0].parts, shapes, strict=True):
            out = np.zeros(shape, part.dtype)
            out[tuple(slice(0, extent) for extent in part.shape)] = part
            found.append(out)
        return tuple(found)


class MovesEverything(Sharding):
    """Has every device get the whole of what is moved, however much of it was there."""

    def lacking(self, value: Parts, made: Parts) -> int:
        del made
        whole = int(np.prod(value.shape, dtype=np.int64)) * value.parts[0].itemsize
        return whole * len(value.parts)


class FoldsTwiceOver(Sharding):
    """Has every device get the contributions of the others once more than it must."""

    def cost(self, value: Parts, along: Mapping[str, Fold]) -> int:
        return 2 * super().cost(value, along)
