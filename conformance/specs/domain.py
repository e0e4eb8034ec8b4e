"""What the domains of all operations draw from: meshes, groups, dtypes, shapes, layouts and data.

Draws are few and small, so that a failure shrinks to something a person can read: data is a short pool
of values tiled over the ranks, and the first of every list is the plain choice.

Choices are built once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.dtypes import NUMPY, Array
from conformance.cases.layout import LAYOUTS, Layout
from conformance.cases.program import Attr, Axis, Groups, Program, Step, rank_groups
from conformance.cases.tensor import Tensor, from_array, to_array
from conformance.specs import choose
from conformance.specs.pools import counting, pool

Shape = tuple[int, ...]

PARTITIONS: Final = (
    *(*["none"] * 3, *["even"] * 2, *["strided"] * 2, *["unsorted"] * 2, *["uneven"] * 3),
    *("invalid", "singletons"),
)
"""Kinds of groups for operations that allow groups of any sizes."""

EQUAL: Final = (
    *(*["none"] * 3, *["even"] * 3, *["strided"] * 3, *["unsorted"] * 3),
    *("uneven", "invalid", *["singletons"] * 2),
)
"""Kinds of groups for operations that reject unequal sizes: ``uneven`` is then illegal, as ``invalid`` always is."""

SMALL: Final = choose.lists(choose.sampled_from([1, 2, 3, 0, 4, 5]), max_size=3).map(tuple)
LONG: Final = choose.sampled_from([(33,), (64,), (130,), (257,)])
"""Extents on both sides of the vector widths, chunk factors and alignments that implementations switch at."""

MATRICES: Final = choose.lists(choose.sampled_from([2, 3, 4]), min_size=2, max_size=3).map(tuple)
"""Shapes whose elements move when their axes do: of 280 gathers, 4 had one in a transposed layout by chance."""

SHAPES: Final[choose.Choice[Shape]] = choose.one_of(SMALL, SMALL, SMALL, MATRICES, MATRICES, LONG)

CUT_AXES: Final = ("axis", "split_axis")
"""Attributes that name an axis whose extent matters."""

MESHES: Final = (
    (2,),
    (1,),
    (3,),
    (4,),
    (5,),
    (6,),
    (7,),
    (8,),
    (4,),
    (6,),
    (8,),
    (2, 2),
    (2, 3),
    (3, 2),
    (2, 4),
    (1, 4),
    (3, 1),
    (2, 2, 2),
    (2, 1, 3),
)

DTYPES: Final = ("int32", "float32", *(name for name in NUMPY if name not in ("int32", "float32")))

_MESH: Final = choose.sampled_from(MESHES)
_DTYPE: Final = choose.sampled_from(DTYPES)
_OPERANDS: Final = choose.sampled_from([*[1] * 9, 2, 2, 0, 1])
_SECOND_ALIKE: Final = choose.sampled_from([False, False, True])
_ODD: Final = choose.sampled_from([*["none"] * 36, "dtype", "shape", "none"])
_AXES: Final = choose.sampled_from([*["all"] * 20, *["some"] * 4, "none", "unknown", "twice", "all", "all", "all"])
_REST: Final = choose.lists(choose.sampled_from([1, 2, 3, 0, 4]), max_size=2)
_PIECE: Final = choose.sampled_from([1, 2, 3, 0, 16])
_REMAINDER: Final = {tiled: choose.sampled_from([*[0] * 5, tiled, 1, 0]) for tiled in (False, True)}


@dataclass(frozen=True)
class Draft:
    """A case in the making: the choices every operation shares, and the means to draw the rest."""

    draw: choose.Draw
    mesh: tuple[Axis, ...]
    axes: tuple[str, ...]
    groups: Groups | None
    dtype: str

    @property
    def world(self) -> int:
        """Return the number of ranks."""
        return math.prod(axis.size for axis in self.mesh)

    @property
    def positions(self) -> int:
        """Return the number of positions along the named axes that the mesh has."""
        sizes = {axis.name: axis.size for axis in self.mesh}
        return math.prod(sizes.get(name, 1) for name in self.axes)

    @property
    def group_size(self) -> int:
        """Return the size of the smallest group."""
        return self.positions if self.groups is None else max(min(len(group) for group in self.groups), 1)

    @property
    def greatest_group(self) -> int:
        """Return the size of the greatest group."""
        return self.positions if self.groups is None else max(len(group) for group in self.groups)

    def rank_groups(self) -> Groups:
        """Return the groups as ranks, or no groups where the mesh has not the axes."""
        try:
            return rank_groups(self.mesh, self.axes, self.groups)
        except ValueError:
            return ()

    def with_rows(self, operand: Operand, rows: Sequence[int]) -> Operand:
        """Return the operand with each rank's block cut to its number of rows."""
        arrays = [to_array(block)[:count] for block, count in zip(operand.blocks, rows, strict=True)]
        blocks = tuple(_block(array, layout) for array, layout in zip(arrays, operand.layouts, strict=True))
        return Operand(blocks=blocks, layouts=operand.layouts)

    def case(self, op: str, *, shape: Shape, attrs: Mapping[str, Attr], values: str = "any") -> Case:
        """Draw layouts and data for operands of ``shape`` and return the case of one step.

        Mostly there is one operand; now and then there are two, the second of another dtype, or none.
        """
        count = self.draw(_OPERANDS)
        shapes = {"x": shape, "v": self._another(shape, attrs) if count > 1 else shape}
        names = [("x", "y"), ("v", "w")][:count]
        inputs = {name: self.operand(shapes[name], values, second=name == "v") for name, _ in names}
        return self.program(op, inputs, tuple(target for _, target in names), attrs)

    def _another(self, shape: Shape, attrs: Mapping[str, Attr]) -> Shape:
        """Draw the shape of a second operand, mostly one with another axis where the attributes name none."""
        if "local_axes" in attrs or np.prod(shape) > 32 or self.draw(_SECOND_ALIKE):
            return shape
        # mypy narrows no lookup.
        behind = not any(isinstance(attrs.get(name), int) and attrs[name] < 0 for name in CUT_AXES)  # type: ignore[operator]
        return (*shape, 2) if behind else (2, *shape)

    def blocks(self, dtype: str, values: str, shape: Shape) -> list[Array]:
        """Draw the data of one operand, a block a rank, from a pool of ``specs.pools``."""
        return tiled(self.draw(_pools(dtype, values)), shape, self.world)

    def program(
        self, op: str, inputs: Mapping[str, Operand], outputs: tuple[str, ...], attrs: Mapping[str, Attr]
    ) -> Case:
        """Return the case of one step on ready operands."""
        step = Step(op=op, inputs=tuple(inputs), outputs=outputs, axes=self.axes, groups=self.groups, attrs=dict(attrs))
        return Case(program=Program(mesh=self.mesh, steps=(step,), results=outputs), inputs=dict(inputs))

    def operand(self, shape: Shape, values: str = "any", *, second: bool = False, alike: bool = False) -> Operand:
        """Draw the layouts and data of one operand; unless ``alike``, now and then ranks differ in dtype or shape."""
        dtype = self.dtype
        if second and values == "any":
            dtype = self.draw(_DTYPE)
        layouts = self.draw(_layouts(self.world))
        arrays = self.blocks(dtype, values, shape)
        odd = "none" if alike or self.world == 1 else self.draw(_ODD)
        if odd == "dtype":
            arrays[-1] = np.zeros(shape, NUMPY["float32" if dtype == "int32" else "int32"])
        if odd == "shape":
            arrays[-1] = np.zeros((*shape, 2), NUMPY[dtype])
        blocks = tuple(_block(array, layout) for array, layout in zip(arrays, layouts, strict=True))
        return Operand(blocks=blocks, layouts=layouts)


def draft(draw: choose.Draw, groups: Sequence[str]) -> Draft:
    """Draw the mesh, the axes, the dtype and groups of one of the given kinds."""
    mesh = tuple(Axis(name, size) for name, size in zip("ijk", draw(_MESH), strict=False))
    dtype = draw(_DTYPE)
    plain = Draft(draw, mesh, _axes(draw, mesh), None, dtype)
    kind = draw(_kinds(tuple(groups)))
    if not plain.axes or not set(plain.axes) <= {axis.name for axis in mesh} or len(set(plain.axes)) < len(plain.axes):
        kind = "none"
    return Draft(draw, mesh, plain.axes, grouped(draw, plain.positions, kind), dtype)


def _axes(draw: choose.Draw, mesh: tuple[Axis, ...]) -> tuple[str, ...]:
    names = tuple(axis.name for axis in mesh)
    order = draw(_orders(names)) if len(names) > 1 else names
    kind = draw(_AXES)
    return {
        "all": tuple(order),
        "some": tuple(order[: max(1, len(order) - 1)]),
        "none": (),
        "unknown": ("nowhere", *order[1:]),
        "twice": (*order, order[0]),
    }[kind]


def grouped(draw: choose.Draw, world: int, kind: str) -> Groups | None:
    """Draw groups of ``world`` positions of one kind."""
    if kind == "none":
        return None
    positions = tuple(draw(_orders(tuple(range(world))))) if kind in ("unsorted", "uneven") else tuple(range(world))
    size = draw(_sizes(world))
    if kind == "singletons":
        return tuple((position,) for position in positions)
    if kind == "strided":
        return tuple(positions[start :: world // size] for start in range(world // size))
    if kind == "uneven" and world > 1:
        cut = draw(_between(1, world - 1))
        return tuple(group for group in (positions[:cut], positions[cut:]))
    groups = tuple(positions[start : start + size] for start in range(0, world, size))
    if kind == "invalid":
        wrong = draw(
            choose.sampled_from([(*groups[-1], 0), (*groups[-1][:-1], world), groups[-1][:-1], (-1, *groups[-1][1:])])
        )
        return (*groups[:-1], wrong)
    return groups


@cache
def _kinds(kinds: tuple[str, ...]) -> choose.Choice[str]:
    return choose.sampled_from(kinds)


@cache
def _sizes(world: int) -> choose.Choice[int]:
    sizes = [size for size in range(world, 0, -1) if world % size == 0]
    # Of 98 legal tiled all_to_alls 3 had several groups of several members, with each size as likely as the next.
    return choose.sampled_from([*sizes[1:-1] * 4, *sizes])


@cache
def _orders(members: tuple[Any, ...]) -> choose.Choice[list[Any]]:
    return choose.permutations(members)


@cache
def _between(least: int, greatest: int) -> choose.Choice[int]:
    return choose.integers(least, greatest)


@cache
def axis_near(rank: int, prefer: int | None = None) -> choose.Choice[int]:
    """Return axes of ``rank`` axes from both ends, ``prefer`` more often, and now and then one beyond.

    Beyond ``prefer`` it is by so much that an implementation that counts in circles would take it for ``prefer``.
    """
    inside = [*range(rank), *range(-rank, 0)]
    if prefer is None:
        return choose.sampled_from([*inside * (1 + 20 // max(len(inside), 1)), rank, -rank - 1])
    wanted = [*inside, *[prefer, prefer - rank] * (10 * rank)]
    return choose.sampled_from([*wanted * (1 + 20 // len(wanted)), prefer + rank, prefer - 2 * rank])


@cache
def root_near(size: int) -> choose.Choice[int]:
    """Return positions of a group of ``size``, and now and then one just beyond either end."""
    return choose.sampled_from([*[*range(size)] * (1 + 14 // size), size, -1, 0])


def splittable(draw: choose.Draw, size: int, tiled: bool) -> tuple[Shape, int]:
    """Draw a shape and an axis of it that splits into ``size`` pieces, or now and then just fails to."""
    rest = list(draw(_REST))
    at = draw(_between(0, len(rest)))
    extent = size * draw(_PIECE) if tiled else size
    rest.insert(at, extent + draw(_REMAINDER[tiled]))
    return tuple(rest), at


def tiled(values: Array, shape: Shape, world: int) -> list[Array]:
    """Return one block a rank, the values repeated over all of them, each rank starting one value later."""
    size = int(np.prod(shape))
    return [np.resize(np.roll(values, -rank * (size + 1)), size).reshape(shape) for rank in range(world)]


@cache
def _pools(dtype: str, values: str) -> choose.Choice[Array]:
    choices = pool(dtype, values)
    short = choose.lists(choose.sampled_from(range(len(choices))), min_size=1, max_size=5)
    ready = choose.sampled_from([counting(dtype, values), choices[::-1]])
    return choose.one_of(short.map(lambda picks: choices[picks]), ready, ready)


@cache
def _layouts(world: int) -> choose.Choice[tuple[Layout, ...]]:
    one: choose.Choice[Layout] = choose.sampled_from(LAYOUTS)
    each: choose.Choice[tuple[Layout, ...]] = choose.lists(one, min_size=world, max_size=world).map(tuple)
    layout: Layout = "contiguous"
    plain = (layout,) * world
    return choose.one_of(choose.just(plain), choose.just(plain), one.map(lambda same: (same,) * world), each)


def _block(array: Array, layout: Layout) -> Tensor:
    if layout == "broadcast" and array.ndim and array.shape[0]:
        return from_array(np.broadcast_to(array[:1], array.shape))
    return from_array(array)
