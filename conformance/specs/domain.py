"""What the domains of all operations draw from: worlds, groups, dtypes, shapes, layouts and data.

Draws are few and small, so that a failure shrinks to something a person can read: data is a short pool
of values tiled over the ranks, and 0, the first of every list, is the plain choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from hypothesis import strategies as st

from conformance.cases.case import Case, Operand
from conformance.cases.dtypes import NUMPY, Array
from conformance.cases.layout import LAYOUTS, Layout
from conformance.cases.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor import Tensor, from_array
from conformance.specs.pools import counting, pool

Shape = tuple[int, ...]

PARTITIONS: Final = (
    "none",
    "none",
    "even",
    "strided",
    "strided",
    "unsorted",
    "uneven",
    "invalid",
    "uneven",
    "singletons",
)
"""Kinds of groups for operations that allow groups of any sizes."""

EQUAL: Final = (
    "none",
    "none",
    "even",
    "strided",
    "unsorted",
    "unsorted",
    "strided",
    "uneven",
    "invalid",
    "even",
    "singletons",
)
"""Kinds of groups for operations that reject unequal sizes; ``uneven`` is then illegal, as ``invalid`` always is."""

SMALL: Final = st.lists(st.sampled_from([1, 2, 3, 0, 4, 5]), max_size=3).map(tuple)
LONG: Final = st.tuples(st.sampled_from([33, 64, 130, 257]))
"""Extents on both sides of the vector widths, chunk factors and alignments that implementations switch at."""

SHAPES: Final[st.SearchStrategy[Shape]] = st.one_of(SMALL, SMALL, SMALL, SMALL, LONG)

reduction: Final = st.sampled_from([*["sum", "max", "min", "product"] * 3, "median", "sum", "median"])


@dataclass(frozen=True)
class Draft:
    """A case in the making: the choices every operation shares, and the means to draw the rest."""

    draw: st.DrawFn
    world: int
    groups: Groups | None
    dtype: str

    @property
    def group_size(self) -> int:
        """Return the size of the smallest group."""
        return self.world if self.groups is None else max(min(len(group) for group in self.groups), 1)

    def case(self, op: str, *, shape: Shape, attrs: Mapping[str, Attr], values: str = "any") -> Case:
        """Draw layouts and data for one operand ``x`` and return the case of one step."""
        step = Step(op=op, inputs=("x",), outputs=("y",), axes=("i",), groups=self.groups, attrs=dict(attrs))
        program = Program(mesh=(Axis("i", self.world),), steps=(step,), results=("y",))
        layouts = self.draw(_layouts(self.world))
        arrays = tiled(self.draw(_pools(self.dtype, values)), shape, self.world)
        blocks = tuple(_block(array, layout) for array, layout in zip(arrays, layouts, strict=True))
        return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=layouts)})


def draft(draw: st.DrawFn, groups: Sequence[str]) -> Draft:
    """Draw the world, the dtype and groups of one of the given kinds."""
    world = draw(st.sampled_from([2, 1, 3, 4, 5, 6, 7, 8, 4, 6, 8]))
    dtype = draw(st.sampled_from(sorted(NUMPY, key=("int32", "float32", "bool", "uint8", "bfloat16", "float64").index)))
    return Draft(draw, world, grouped(draw, world, draw(st.sampled_from(groups))), dtype)


def grouped(draw: st.DrawFn, world: int, kind: str) -> Groups | None:
    """Draw groups of ``world`` positions of one kind."""
    if kind == "none":
        return None
    positions = tuple(draw(st.permutations(range(world)))) if kind in ("unsorted", "uneven") else tuple(range(world))
    sizes = [size for size in range(world, 0, -1) if world % size == 0]
    # Of 98 legal tiled all_to_alls 3 had several groups of several members, with each size as likely as the next.
    size = draw(st.sampled_from([*sizes[1:-1] * 4, *sizes]))
    if kind == "singletons":
        return tuple((position,) for position in positions)
    if kind == "strided":
        return tuple(positions[start :: world // size] for start in range(world // size))
    if kind == "uneven" and world > 1:
        cut = draw(st.integers(1, world - 1))
        return tuple(group for group in (positions[:cut], positions[cut:]))
    groups = tuple(positions[start : start + size] for start in range(0, world, size))
    if kind == "invalid":
        wrong = draw(
            st.sampled_from([(*groups[-1], 0), (*groups[-1][:-1], world), groups[-1][:-1], (-1, *groups[-1][1:])])
        )
        return (*groups[:-1], wrong)
    return groups


def axis_near(rank: int, prefer: int | None = None) -> st.SearchStrategy[int]:
    """Return axes of ``rank`` axes from both ends, ``prefer`` more often, and now and then just beyond."""
    inside = [*range(rank), *range(-rank, 0)]
    wanted = inside if prefer is None else [*inside, *[prefer, prefer - rank] * (2 * rank)]
    often = wanted * (1 + 10 // len(wanted)) if wanted else []
    return st.sampled_from([*often, rank, -rank - 1])


def splittable(draw: st.DrawFn, size: int, tiled: bool) -> tuple[Shape, int]:
    """Draw a shape and an axis of it that splits into ``size`` pieces, or now and then just fails to."""
    rest = list(draw(st.lists(st.sampled_from([1, 2, 3, 0, 4]), max_size=2)))
    at = draw(st.integers(0, len(rest)))
    extent = size * draw(st.sampled_from([1, 2, 3, 0, 16])) if tiled else size
    rest.insert(at, extent + draw(st.sampled_from([0, 0, 0, 0, 1])))
    return tuple(rest), at


def tiled(values: Array, shape: Shape, world: int) -> list[Array]:
    """Return one block a rank, the values repeated over all of them, each rank starting one value later."""
    size = int(np.prod(shape))
    return [np.resize(np.roll(values, -rank * (size + 1)), size).reshape(shape) for rank in range(world)]


def _pools(dtype: str, values: str) -> st.SearchStrategy[Array]:
    choices = pool(dtype, values)
    short = st.lists(st.sampled_from(range(len(choices))), min_size=1, max_size=5)
    return st.one_of(short.map(lambda picks: choices[picks]), st.just(counting(dtype, values)), st.just(choices[::-1]))


def _layouts(world: int) -> st.SearchStrategy[tuple[Layout, ...]]:
    one: st.SearchStrategy[Layout] = st.sampled_from(LAYOUTS)
    each: st.SearchStrategy[tuple[Layout, ...]] = st.lists(one, min_size=world, max_size=world).map(tuple)
    contiguous: Layout = "contiguous"
    plain = (contiguous,) * world
    return st.one_of(st.just(plain), st.just(plain), one.map(lambda same: (same,) * world), each)


def _block(array: Array, layout: Layout) -> Tensor:
    if layout == "broadcast" and array.ndim and array.shape[0]:
        return from_array(np.broadcast_to(array[:1], array.shape))
    return from_array(array)
