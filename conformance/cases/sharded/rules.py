"""How a step is done part by part: where its operands have to be, and where its result is.

These are the rules of ``tinygrad.multi`` (``MultiLazyBuffer``), which has a single mesh axis; a mesh of several follows
from doing along each axis what the source does along its one. A pending sum, which the source has none of, is kept by
whatever may be done to its terms one by one. ``Unmovable`` is raised where the source refuses a step: its result would
have elements of several parts in one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import (
    REPLICATED,
    Mesh,
    Placement,
    Split,
    positions,
    real_parts,
    reals,
)

Shape = tuple[int, ...]


class Unmovable(ValueError):
    """A step that cannot be done part by part."""


@dataclass(frozen=True)
class Rule:
    """Where the operands of a step are needed, where its local results are, and over what they are folded then."""

    wanted: tuple[Placement, ...]
    made: Placement
    folded: Mapping[str, Fold] = field(default_factory=dict)

    @property
    def result(self) -> Placement:
        """Return where the result is, when what is folded has been."""
        left = {name: fold for name, fold in self.made.partial.items() if name not in self.folded}
        return replace(self.made, partial=left)


@dataclass(frozen=True)
class Step:
    """A node, the shapes, dtypes and placements of its sources, its own shape, and the mesh."""

    node: Node
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    at: tuple[Placement, ...]
    shape: Shape
    mesh: Mesh

    @property
    def axes(self) -> tuple[int, ...]:
        """Return the axes or steps that the node names."""
        return (
            tuple(each for each in self.node.arg if isinstance(each, int)) if isinstance(self.node.arg, tuple) else ()
        )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of a pad or a shrink."""
        arg = self.node.arg if isinstance(self.node.arg, tuple) else ()
        return tuple((int(pair[0]), int(pair[1])) for pair in arg if isinstance(pair, tuple))


def rule(node: Node, shapes: Sequence[Shape], dtypes: Sequence[str], at: Sequence[Placement], mesh: Mesh) -> Rule:
    """Return how a node is done part by part, whose sources are such, or raise ``Unmovable``.

    A pending value is wanted complete by whatever is not linear in it.
    """
    step = Step(node, tuple(shapes), tuple(dtypes), tuple(at), tuple(int(dim) for dim in node.shape), mesh)
    if node.op not in _PENDING and not _sum(step):
        step = Step(node, step.shapes, step.dtypes, tuple(complete(each) for each in at), step.shape, mesh)
    return _RULES[node.op](step)


def complete(placement: Placement) -> Placement:
    """Return the placement with nothing pending: contributions are folded, and replicated."""
    return replace(placement, partial={})


_PENDING: Final = ("reshape", "permute", "pad", "expand", "shrink", "stride", "flip", "detach", "contig")


def _sum(step: Step) -> bool:
    """Return whether a step is a sum of pending sums, or the negative of one.

    A sum of converted terms is another than the converted sum, of bools above all, and the opposite of either of two
    truths is not that of both.
    """
    if step.node.op != "alu" or step.node.arg not in ("add", "neg") or set(step.dtypes) != {step.node.dtype}:
        return False
    if (step.node.arg, step.node.dtype) == ("neg", "bool"):
        return False
    pending = {tuple(sorted(each.partial.items())) for each in step.at}
    return (
        len(pending) == 1 and set(step.at[0].partial.values()) == {"add"} and len({_key(each) for each in step.at}) == 1
    )


def _key(placement: Placement) -> tuple[object, ...]:
    return tuple(sorted(placement.splits, key=lambda split: split.axis)), tuple(sorted(placement.masks.items()))


def _same(step: Step) -> Rule:
    return Rule(step.at, step.at[0])


def _leaf(step: Step) -> Rule:
    return Rule(step.at, REPLICATED)


def _alu(step: Step) -> Rule:
    """Return the placement of the last operand that is split, for all; where some part is not real, nothing moves."""
    cut = [each for each in step.at if each.splits]
    if all(all(reals(each, step.mesh)) for each in step.at):
        last = replace(cut[-1] if cut else step.at[0], masks={})
        return Rule((last,) * len(step.at), last)
    kinds = {tuple(sorted(each.splits, key=lambda split: split.axis)) for each in cut}
    masks = _both([each.masks for each in step.at])
    made = replace(cut[-1] if cut else step.at[0], masks=masks)
    if not any(reals(made, step.mesh)):
        raise Unmovable("the operands have no real part in common")
    if len(kinds) > 1:
        raise Unmovable("operands of which some parts are not real are cut otherwise")
    for each in step.at:
        if each.splits and _key(each) != _key(made):
            raise Unmovable("operands have other parts for real")
        if not each.splits and made.splits and not all(reals(each, step.mesh)):
            raise Unmovable("operands have other parts for real")
    return Rule(tuple(each if each.splits or not made.splits else made for each in step.at), made)


def _both(masks: Sequence[Mapping[str, tuple[bool, ...]]]) -> dict[str, tuple[bool, ...]]:
    found: dict[str, tuple[bool, ...]] = {}
    for each in masks:
        for name, mask in each.items():
            found[name] = tuple(a and b for a, b in zip(found.get(name, mask), mask, strict=True))
    return found


def _reduce(step: Step) -> Rule:
    """Return local folds, and folds over the mesh axes along which the folded axes are split."""
    (at,) = step.at
    kept = [axis for axis in range(len(step.shapes[0])) if axis not in step.axes]
    splits = tuple(replace(split, axis=kept.index(split.axis)) for split in at.splits if split.axis in kept)
    folded: dict[str, Fold] = {}
    for split in (each for each in at.splits if each.axis in step.axes):
        if all(reals(at, step.mesh)):
            folded |= {name: _fold(step.node.fold) for name in split.along}
        elif sum(real_parts(split, at, step.mesh)) > 1:
            raise Unmovable("several parts of the folded axis are real, and not all")
    made = replace(at, splits=splits, partial=folded)
    return Rule((at,), made, folded)


def _fold(name: str) -> Fold:
    found: Fold = name  # type: ignore[assignment]  # a well-formed node's
    return found


def _reshape(step: Step) -> Rule:
    """Return the axes that have as many elements before them as the split ones had: the last ones such."""
    (at,), (old,), new = step.at, step.shapes, step.shape
    if at.splits and 0 in old:
        raise Unmovable("nothing says where a split axis is among no elements")
    splits = [_regrouped(split, old, new) for split in at.splits]
    if len({split.axis for split in splits}) < len(splits):
        raise Unmovable("two split axes would be one")
    return Rule(step.at, replace(at, splits=tuple(splits)))


def _regrouped(split: Split, old: Shape, new: Shape) -> Split:
    before = list(itertools.accumulate(new, lambda a, b: a * b, initial=1))
    wanted = math.prod(old[: split.axis])
    found = [axis for axis in range(len(new)) if before[axis] == wanted]
    if not found:
        raise Unmovable(f"no axis of {list(new)} begins where axis {split.axis} of {list(old)} does")
    axis, inner = found[-1], math.prod(old[split.axis + 1 :])
    each = math.prod(new[axis + 1 :])
    if any((cut * inner) % each for cut in split.cuts):
        raise Unmovable(f"the bounds {list(split.cuts)} of axis {split.axis} are inside elements of axis {axis}")
    return Split(axis=axis, along=split.along, cuts=tuple(cut * inner // each for cut in split.cuts))


def _pad(step: Step) -> Rule:
    """Return the same placement where split axes are left alone, or all parts of a masked one: the others are zeros."""
    (at,) = step.at
    cut = [split for split in at.splits if step.pairs[split.axis] != (0, 0)]
    if not cut:
        return Rule(step.at, at)
    split = cut[0]
    counts = real_parts(split, at, step.mesh)
    if all(counts) or len(cut) > 1 or set(split.along) != set(at.masks):
        raise Unmovable(f"axis {split.axis} is split, and all of it is real: it cannot be padded")
    first = counts.index(True)
    whole = split.cuts[first], split.cuts[-1] - split.cuts[first + 1]
    if sum(counts) > 1 or step.pairs[split.axis] != whole:
        raise Unmovable(f"axis {split.axis} can only be padded to the whole of which one part is real, by {whole}")
    if any(pair != (0, 0) for axis, pair in enumerate(step.pairs) if axis != split.axis):
        raise Unmovable("the split axis can only be padded alone")
    return Rule(step.at, replace(at, masks={}))


def _expand(step: Step) -> Rule:
    for split in step.at[0].splits:
        if step.shape[split.axis] != step.shapes[0][split.axis]:
            raise Unmovable(f"axis {split.axis} is split: it cannot be expanded")
    return _same(step)


def _permute(step: Step) -> Rule:
    (at,) = step.at
    return Rule(
        step.at, replace(at, splits=tuple(replace(each, axis=step.axes.index(each.axis)) for each in at.splits))
    )


def _shrink(step: Step) -> Rule:
    """Return the same placement where split axes are kept whole; of one part of one, that part alone is real."""
    (at,), (shape,) = step.at, step.shapes
    cut = [split for split in at.splits if step.pairs[split.axis] != (0, shape[split.axis])]
    if not cut:
        return _same(step)
    split, pair = cut[0], step.pairs[cut[0].axis]
    parts = list(itertools.pairwise(split.cuts))
    if pair not in parts or not all(reals(at, step.mesh)):
        raise Unmovable(f"{pair} of axis {split.axis} is none of its parts {parts}")
    if any(step.pairs[axis] != (0, extent) for axis, extent in enumerate(shape) if axis != split.axis):
        raise Unmovable("one part of a split axis can only be taken alone")
    return Rule(step.at, replace(at, masks=_one(split, parts.index(pair), step.mesh)))


def _one(split: Split, part: int, mesh: Mesh) -> dict[str, tuple[bool, ...]]:
    """Return the masks of one part: its position along each mesh axis of the split."""
    sizes = {axis.name: axis.size for axis in mesh}
    found = {}
    for name in reversed(split.along):
        part, at = divmod(part, sizes[name])
        found[name] = tuple(other == at for other in range(sizes[name]))
    return found


def _stride(step: Step) -> Rule:
    for split in step.at[0].splits:
        if step.axes[split.axis] != 1:
            raise Unmovable(f"axis {split.axis} is split: its elements stay in their order, every one")
    return _same(step)


def _flip(step: Step) -> Rule:
    for split in step.at[0].splits:
        if split.axis in step.axes:
            raise Unmovable(f"axis {split.axis} is split: its elements stay in their order")
    return _same(step)


def _gather(step: Step) -> Rule:
    """Return rows by replicated indices from what is not split along their axis; the source has no such step."""
    axis, (data, index) = int(str(step.node.arg)), step.at
    if not all(reals(data, step.mesh)) or not all(reals(index, step.mesh)):
        raise Unmovable("some part is not real")
    if any(split.axis == axis for split in data.splits):
        raise Unmovable(f"axis {axis}, along which elements are taken, is split")
    more = len(step.shapes[1]) - 1
    splits = tuple(replace(split, axis=split.axis + more * (split.axis > axis)) for split in data.splits)
    return Rule((replace(data, masks={}), REPLICATED), Placement(splits=splits))


_RULES: Final[Mapping[str, Callable[[Step], Rule]]] = {
    "const": _leaf,
    "iota": _leaf,
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "stride": _stride,
    "flip": _flip,
    "detach": _same,
    "contig": _same,
    "cast": _same,
    "bitcast": _same,
    "alu": _alu,
    "reduce": _reduce,
    "gather": _gather,
}


def others(mesh: Mesh, at: Sequence[int], names: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of the devices that differ from the one at these coordinates along some mesh axes at most."""
    fixed = [n for n, axis in enumerate(mesh) if axis.name not in names]
    return tuple(number for number, each in enumerate(positions(mesh)) if all(each[n] == at[n] for n in fixed))
