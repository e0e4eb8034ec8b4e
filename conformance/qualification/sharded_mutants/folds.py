"""Faults of folds over devices, and of what is still to be folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Placement, real_parts
from conformance.cases.sharded.rules import Rule
from conformance.cases.tensor.dtypes import Array, kind
from conformance.reference.graph.elementwise import FOLDS, fold
from conformance.reference.graph.nodes import axes_of
from conformance.reference.sharded.parts import Parts, Sharding


class AlwaysAdds(Sharding):
    """Folds over devices by adding, whatever the fold."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        return super().combined("add" if fold in ("max", "min") else fold, parts)


class FoldsTwice(Sharding):
    """Folds what devices hold, and then the replicas again."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        made = super().combined(fold, parts)
        return super().combined(fold, [made] * len(parts))


class NeverFolds(Sharding):
    """Calls local folds the fold of all."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        del fold
        return parts[0]


class LeavesOneOut(Sharding):
    """Folds all devices but the last one."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        return super().combined(fold, parts[:-1] if len(parts) > 1 else parts)


class EveryDeviceForItself(Sharding):
    """Folds only on the first device of a group; the others keep what they had."""

    def all_reduced(self, value: Parts, along: Mapping[str, Fold]) -> Parts:
        made = super().all_reduced(value, along)
        return Parts(made.shape, made.placement, (made.parts[0], *value.parts[1:]))


class EmptyPartsAreZero(Sharding):
    """Takes a part without elements for a zero."""

    def step(self, node: Node, parts: Sequence[Array]) -> Array:
        if node.op == "reduce" and parts[0].size == 0:
            return np.zeros(tuple(int(dim) for dim in node.shape), parts[0].dtype)
        return super().step(node, parts)


class PaddingCounts(Sharding):
    """Makes uneven parts even with zeros before it folds them."""

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        cut = [split.axis for split in of[0].placement.splits] if of else []
        if node.op != "reduce" or not set(cut) & set(axes_of(node)):
            return super().local(node, of, made)
        widest = [max(part.shape[axis] for part in of[0].parts) for axis in range(len(of[0].shape))]
        padded = []
        for part in of[0].parts:
            out = np.zeros([widest[axis] if axis in cut else n for axis, n in enumerate(part.shape)], part.dtype)
            out[tuple(slice(0, extent) for extent in part.shape)] = part
            padded.append(out)
        return super().local(node, [Parts(of[0].shape, of[0].placement, tuple(padded))], made)


class MaskedPartsCount(Sharding):
    """Folds parts that are not real too, as the zeros that they are."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        how = super().rule(node, of)
        if node.op != "reduce" or not of[0].placement.masks or how.result.splits:
            return how
        names = dict.fromkeys(of[0].placement.masks, node.fold)
        at = replace(how.made, masks={}, partial=names)
        return Rule(how.wanted, at, names)  # type: ignore[arg-type]  # a fold of a well-formed node

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        if node.op == "reduce" and of[0].placement.masks and not made.masks:
            return tuple(self.step(replace(node, shape=_folded_shape(part, node)), [part]) for part in of[0].parts)
        return super().local(node, of, made)


def _folded_shape(part: Array, node: Node) -> tuple[int, ...]:
    return tuple(extent for axis, extent in enumerate(part.shape) if axis not in axes_of(node))


class OnlyOneMeshAxis(Sharding):
    """Of an axis that several mesh axes cut it folds along the first one only."""

    def all_reduced(self, value: Parts, along: Mapping[str, Fold]) -> Parts:
        first = dict(list(along.items())[:1])
        made = super().all_reduced(value, first)
        return Parts(made.shape, replace(made.placement, partial={}), made.parts)


class TheOtherMeshAxis(Sharding):
    """Folds along another mesh axis than the one that cuts what is folded."""

    def all_reduced(self, value: Parts, along: Mapping[str, Fold]) -> Parts:
        names = [axis.name for axis in self.mesh]
        if len(names) < 2 or len(along) != 1:
            return super().all_reduced(value, along)
        ((name, how),) = along.items()
        other = next(each for each in names if each != name)
        turned = Parts(value.shape, replace(value.placement, partial={other: how}), value.parts)
        made = super().all_reduced(turned, {other: how})
        return Parts(made.shape, replace(made.placement, partial={}), made.parts)


class EachTermGetsTheScalar(Sharding):
    """Adds what is replicated to every contribution of a pending sum."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        pending = [each for each in of if each.placement.partial]
        if node.op == "alu" and node.arg in ("add", "sub") and 0 < len(pending) < len(of):
            at = pending[0].placement
            return Rule(tuple(each.placement if each in pending else replace(at, partial={}) for each in of), at)
        return super().rule(node, of)


class MapsTerms(Sharding):
    """Does to the contributions of a pending fold what it does to the fold."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        at = of[0].placement if of else REPLICATED
        if len(of) == 1 and at.partial and node.op in ("alu", "cast"):
            return Rule((at,), at)
        return super().rule(node, of)


class ConvertsTerms(Sharding):
    """Converts contributions of floats to integers, as DTensor calls a conversion linear: each loses its fraction."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        at = of[0].placement if of else REPLICATED
        truncates = node.op == "cast" and kind(node.dtype) == "integer" and of[0].parts[0].dtype.kind == "f"
        return Rule((at,), at) if truncates and at.partial else super().rule(node, of)


class ExtremesOfTerms(Sharding):
    """Compares and chooses among contributions of two pending folds that are alike."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        if len(of) > 1 and node.op == "alu" and all(each.placement.partial for each in of):
            return Rule(tuple(of[0].placement for _ in of), of[0].placement)
        return super().rule(node, of)

    def moved(self, value: Parts, placement: Placement) -> Parts:
        return value if placement.partial else super().moved(value, placement)


class CountsReplicas(Sharding):
    """Folds over all devices, replicas along other mesh axes included."""

    def all_reduced(self, value: Parts, along: Mapping[str, Fold]) -> Parts:
        cut = {name for split in value.placement.splits for name in split.along}
        rest = [axis.name for axis in self.mesh if axis.name not in cut and axis.name not in along]
        how = next(iter(along.values()))
        made = super().all_reduced(value, {**along, **dict.fromkeys(rest, how)})
        return Parts(made.shape, replace(made.placement, partial={}), made.parts)


class PendingIsForgotten(Sharding):
    """Calls contributions replicas, in what is said of them only."""

    def completed(self, value: Parts) -> Parts:
        return Parts(value.shape, replace(value.placement, partial={}), value.parts)


class RightIsFoldedTwice(Sharding):
    """Folds the parts of some elements twice: an overlap of one at each bound."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        made = super().combined(fold, parts)
        if len(parts) < 2 or not made.size:
            return made
        out = made.copy()
        with np.errstate(all="ignore"):
            out.reshape(-1)[0] = FOLDS[fold](out.reshape(-1)[0], parts[1].reshape(-1)[0])
        return out


class RealPartsAreOne(Sharding):
    """Of several real parts of a folded axis it takes the first."""

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        found = super().local(node, of, made)
        if node.op != "reduce" or not of[0].placement.masks or not of[0].placement.splits:
            return found
        split = of[0].placement.splits[0]
        if split.axis in axes_of(node) and sum(real_parts(split, of[0].placement, self.mesh)) == 1:
            return tuple(fold(node.fold, np.stack([each, each]), (0,)) for each in found)
        return found
