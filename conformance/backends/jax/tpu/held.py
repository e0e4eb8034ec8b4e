"""What the values of a module are while its schedule is written: known numbers, elements of buffers, or under way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.index_fit import fit
from conformance.backends.jax.hlo.module import Shape
from conformance.backends.jax.tpu.flat import NOWHERE, plain, through
from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, Array


@dataclass(frozen=True)
class Known:
    """What is the same whatever data are given: an array with an axis of ranks before those of ``shape``."""

    array: Array
    shape: Shape


@dataclass(frozen=True)
class Stored:
    """What lies in a buffer of each rank, ``name[0]``, ``name[1]``, ...: the elements that ``at`` numbers.

    ``shape`` is as the compiler wrote it. Without ``at`` the elements are all of the buffer, in row-major order.
    """

    name: str
    shape: Shape
    dtype: str
    at: Array | None = None


@dataclass(frozen=True)
class UnderWay:
    """What will be ``held`` when the ``handles`` have been waited for."""

    held: Held
    handles: tuple[str, ...]


Held = Known | Stored | UnderWay | tuple[Any, ...] | None
"""The value of an instruction; a tuple has a value for each part, and ``None`` is only told between parts."""


class UnknownValue(Unsupported):
    """A number that has to be known, and that data decide."""


def as_held(value: Any, shape: Shape) -> Held:
    """Return a value of the evaluator as one that is known."""
    if isinstance(value, tuple):
        return tuple(as_held(each, part) for each, part in zip(value, shape.parts, strict=True))
    return None if value is None else Known(value, shape)


def as_value(held: Held) -> Any:
    """Return what is known as a value of the evaluator; raise ``UnknownValue`` where it is not."""
    if isinstance(held, tuple):
        return tuple(as_value(each) for each in held)
    if held is None or isinstance(held, Known):
        return None if held is None else held.array
    raise UnknownValue("a number that data decide")


def shown(held: Held, shape: Shape) -> Held:
    """Return the same memory in another shape; raise ``Unsupported`` where its elements have another width."""
    if not isinstance(held, Stored):
        raise Unsupported("a bitcast of what is in no buffer")
    at = through(held.shape, shape)
    if held.at is not None:
        at = np.where(at == NOWHERE, NOWHERE, held.at.reshape(-1)[np.maximum(at, 0)] if held.at.size else NOWHERE)
    same = at.size == held_size(held) and bool((at.reshape(-1) == np.arange(at.size)).all())
    return Stored(held.name, shape, held.dtype, None if same else at)


def held_size(held: Stored) -> int:
    """Return the number of elements of a value."""
    return held.shape.count if held.at is None else held.at.size


class Buffers:
    """The buffers of a schedule, one a rank for each name."""

    def __init__(self, world: int) -> None:
        """Begin with none."""
        self.world = world
        self.made: dict[str, Buffer] = {}

    def add(self, name: str, shape: Shape, **more: Any) -> Stored:
        """Add a buffer on each rank for a value; raise ``Unsupported`` for a dtype that has no form in memory."""
        if shape.dtype not in NUMPY:
            raise Unsupported(f"a value of the primitive type {shape.dtype}")
        size = shape.count * NUMPY[shape.dtype].itemsize
        for rank in range(self.world):
            one = f"{name}[{rank}]"
            self.made.setdefault(
                one,
                Buffer(id=one, size=size, dtype=shape.dtype, device=str(rank), space=shape.space, **more),
            )
        return Stored(name, shape, shape.dtype)

    def space(self, name: str) -> int:
        """Return the memory that a buffer lies in."""
        return self.made[f"{name}[0]"].space


def access(held: Stored, rank: int, *, write: bool = False) -> Access:
    """Return the access of a rank to all of a value, in its shape; all of the buffer where no strides give it."""
    found = index_map(held)
    return Access(buffer=f"{held.name}[{rank}]", write=write, map=found)


def access_of(held: Stored, rank: int) -> Access:
    """Return the read of a value by a rank: of all of its buffer where no strides give where it lies."""
    try:
        return access(held, rank)
    except Unsupported:
        return Access(buffer=f"{held.name}[{rank}]")


def index_map(held: Stored) -> IndexMap | None:
    """Return where the elements of a value lie in its buffer; raise ``Unsupported`` where no strides give it."""
    if held.at is None:
        return (Affine(extents=held.shape.extents, strides=plain(held.shape).strides),)
    if not held.at.size:
        return (Affine(extents=held.at.shape, strides=(0,) * held.at.ndim),)
    if (held.at == NOWHERE).any():
        raise Unsupported("padding of tiles")
    found = fit(held.at, np.ones(held.at.shape, np.bool_))
    if found is None:
        raise Unsupported("an index that no chain of strides gives")
    return found


def alike(arrays: Iterable[Array]) -> bool:
    """Return whether what is known is the same on all ranks."""
    return all(each.tobytes() == each[:1].tobytes() * len(each) for each in arrays)
