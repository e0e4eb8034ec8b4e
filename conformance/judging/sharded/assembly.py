"""The logical tensor that the parts on several devices make, and what is wrong with how they do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conformance.cases.sharded.placement import Box, Layout, Mesh, positions
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.reference.graph.elementwise import FOLDS

Parts = Sequence[Tensor | None]


@dataclass(frozen=True)
class Assembled:
    """A whole tensor, or the problem that there is none, and which kind of problem that is."""

    whole: Array | None = None
    how: str = ""
    problem: str = ""


def assembled(shape: tuple[int, ...], dtype: str, layout: Layout, parts: Parts, mesh: Mesh) -> Assembled:
    """Return the tensor of a shape and a dtype that devices hold by a layout.

    The kinds of problems are ``form`` (a part is not as its box says), ``bounds`` (boxes leave the tensor, overlap, or
    leave elements out) and ``replicas`` (two devices hold other bits of the same elements).
    """
    problem = _misshapen(dtype, layout, parts)
    if problem:
        return Assembled(how="form", problem=problem)
    problem = _untiled(shape, layout)
    if problem:
        return Assembled(how="bounds", problem=problem)
    groups = _groups(layout, mesh)
    out = np.zeros(shape, NUMPY[dtype])
    first: dict[Box, tuple[int, Array]] = {}
    for group in groups:
        held = [(device, parts[device]) for device in group if layout.boxes[device] is not None]
        boxes = {layout.boxes[device] for device, _ in held}
        if not held:
            continue
        if len(boxes) > 1:
            return Assembled(how="bounds", problem=f"devices {list(group)} contribute to different elements")
        box = next(iter(boxes))
        assert box is not None
        arrays = [to_array(part) for _, part in held if part is not None]
        value = _folded(arrays, tuple(layout.partial.values()))
        if box in first and first[box][1].tobytes() != value.tobytes():
            other = first[box][0]
            return Assembled(
                how="replicas", problem=f"devices {other} and {held[0][0]} hold {box} of it, and not the same bits"
            )
        first.setdefault(box, (held[0][0], value))
        out[tuple(slice(*pair) for pair in box)] = value
    return Assembled(out)


def _misshapen(dtype: str, layout: Layout, parts: Parts) -> str:
    for device, (box, part) in enumerate(zip(layout.boxes, parts, strict=True)):
        if box is None:
            continue
        mine = tuple(end - begin for begin, end in box)
        if part is None:
            return f"device {device} gives nothing of {box}, which it is said to hold"
        if (part.dtype, part.shape) != (dtype, mine):
            return f"device {device} gives {part.dtype} {list(part.shape)}; its part is {dtype} {list(mine)}"
    if kind(dtype) in ("float", "complex") and {"and", "or", "xor"} & set(layout.partial.values()):
        return f"contributions of {dtype} cannot be folded by {sorted(set(layout.partial.values()))}"
    if len(set(layout.partial.values())) > 1:
        return f"contributions are folded in several ways, by {sorted(set(layout.partial.values()))}"
    return ""


def _untiled(shape: tuple[int, ...], layout: Layout) -> str:
    boxes = {box for box in layout.boxes if box is not None}
    for box in sorted(boxes):
        if len(box) != len(shape):
            return f"the box {box} has {len(box)} axes, and the tensor {len(shape)}"
        if any(not 0 <= begin <= end <= extent for (begin, end), extent in zip(box, shape, strict=True)):
            return f"the box {box} leaves the tensor, which is {list(shape)}"
    whole = [box for box in boxes if _volume(box)]
    for number, one in enumerate(whole):
        for other in whole[number + 1 :]:
            if all(max(a[0], b[0]) < min(a[1], b[1]) for a, b in zip(one, other, strict=True)):
                return f"the boxes {one} and {other} overlap"
    count = sum(_volume(box) for box in whole)
    if count != math.prod(shape):
        return f"the boxes have {count} of {math.prod(shape)} elements of {list(shape)}"
    return ""


def _volume(box: Box) -> int:
    return math.prod(end - begin for begin, end in box)


def _groups(layout: Layout, mesh: Mesh) -> list[tuple[int, ...]]:
    """Return devices in groups that contribute to the same elements: each alone where nothing is pending."""
    fixed = [n for n, axis in enumerate(mesh) if axis.name not in layout.partial]
    found: dict[tuple[int, ...], list[int]] = {}
    for device, at in enumerate(positions(mesh)):
        found.setdefault(tuple(at[n] for n in fixed), []).append(device)
    return [tuple(group) for group in found.values()]


def _folded(arrays: Sequence[Array], folds: tuple[str, ...]) -> Array:
    value = arrays[0]
    with np.errstate(all="ignore"):
        for each in arrays[1:] if folds else ():
            value = np.asarray(FOLDS[folds[0]](value, each), value.dtype)
    return value
