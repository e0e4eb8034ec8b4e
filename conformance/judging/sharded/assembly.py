"""The logical tensor that the parts on several devices make, and what is wrong with how they do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from conformance.cases.graph.elementwise import TAKES
from conformance.cases.sharded.placement import Box, Layout, Mesh, positions
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
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
    problem = _untiled(shape, frozenset(layout.boxes))
    if problem:
        return Assembled(how="bounds", problem=problem)
    groups = _groups(frozenset(layout.partial), mesh)
    out = np.zeros(shape, NUMPY[dtype])
    first: dict[Box, tuple[int, Tensor]] = {}
    for group in groups:
        held = [(device, parts[device]) for device in group if layout.boxes[device] is not None]
        boxes = {layout.boxes[device] for device, _ in held}
        if not held:
            continue
        if len(boxes) > 1:
            return Assembled(how="bounds", problem=f"devices {list(group)} contribute to different elements")
        box = next(iter(boxes))
        assert box is not None
        value = _folded([part for _, part in held if part is not None], tuple(layout.partial.values()))
        if box not in first:
            first[box] = (held[0][0], value)
            out[tuple([slice(*pair) for pair in box])] = to_array(value)
        elif not _alike(first[box][1], value):
            other = first[box][0]
            return Assembled(
                how="replicas", problem=f"devices {other} and {held[0][0]} hold {box} of it, and not the same bits"
            )
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
    if any(kind(dtype) not in TAKES.get(fold, {kind(dtype)}) for fold in layout.partial.values()):
        return f"contributions of {dtype} cannot be folded by {sorted(set(layout.partial.values()))}"
    if len(set(layout.partial.values())) > 1:
        return f"contributions are folded in several ways, by {sorted(set(layout.partial.values()))}"
    return ""


@lru_cache(maxsize=1024)
def _untiled(shape: tuple[int, ...], given: frozenset[Box | None]) -> str:
    boxes = sorted(box for box in given if box is not None)
    for box in boxes:
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


@lru_cache(maxsize=256)
def _groups(partial: frozenset[str], mesh: Mesh) -> tuple[tuple[int, ...], ...]:
    """Return devices in groups that contribute to the same elements: each alone where nothing is pending."""
    fixed = [n for n, axis in enumerate(mesh) if axis.name not in partial]
    found: dict[tuple[int, ...], list[int]] = {}
    for device, at in enumerate(positions(mesh)):
        found.setdefault(tuple([at[n] for n in fixed]), []).append(device)
    return tuple(tuple(group) for group in found.values())


def _folded(parts: Sequence[Tensor], folds: tuple[str, ...]) -> Tensor:
    """Return what the contributions of some devices come to; with no fold there is one."""
    if not folds or len(parts) == 1:
        return parts[0]
    value = to_array(parts[0])
    with np.errstate(all="ignore"):
        for each in parts[1:]:
            value = np.asarray(FOLDS[folds[0]](value, to_array(each)), value.dtype)
    return from_array(value)


def _alike(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors of one shape have the same bits, as far as their dtype uses them."""
    return one == other or to_array(one).tobytes() == to_array(other).tobytes()
