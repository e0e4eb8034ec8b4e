"""What the domains of all operations draw from: meshes, groups, dtypes, shapes, layouts and data.

Draws are few and small, so that a failure shrinks to something a person can read: data is a short pool
of values tiled over the ranks, and the first of every list is the plain choice.

Choices are built once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step, rank_groups
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.layout import LAYOUTS, Layout
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.generate import choices
from conformance.generate.calls.columns import TURNS, columns
from conformance.generate.calls.decisive_values import Values
from conformance.generate.calls.mistakes import only, wrong
from conformance.generate.calls.other_operands import DTYPES, other_dtype, other_shape
from conformance.generate.calls.process_groups import EQUAL, PARTITIONS, place, uneven_groups, wrong_groups
from conformance.generate.calls.shapes import Shape, shape
from conformance.generate.calls.values import counting, pool, regime_of
from conformance.reference.operations import TABLE
from conformance.reference.reductions import REDUCTIONS

__all__ = ["DTYPES", "EQUAL", "PARTITIONS", "TILED", "Draft", "Shape", "draft", "groups_of"]

FOLDED: Final = (*REDUCTIONS, "with_nan")
"""Names of pools whose values are reduced, so that it matters which member holds which of them."""

_DTYPE: Final = choices.steered(DTYPES, ("dtype",), lambda dtype: (dtype,))
_OPERANDS: Final = choices.steered(
    ["one"] * 9 + ["several"] * 2 + ["same", "none"], ("operands",), lambda word: (word,)
)
_SEVERAL: Final = choices.sampled_from([2, 3, 4])
TILED: Final = choices.steered([True, False], ("tiled",), lambda tiled: ("yes" if tiled else "no",))
"""Whether pieces or blocks keep their axis."""

_ODD: Final = wrong("ranks", ["none"] * 37, ["dtype", "shape"])
_AXES: Final = only(
    ("axes unknown", "axes twice"),
    choices.steered(
        [*["known"] * 26, "none", "unknown", "twice"],
        ("axes", "wrong"),
        lambda word: (word, f"axes {word}" if word in ("unknown", "twice") else ""),
    ),
)
_GROUPS: Final = wrong("groups", ["right"] * 15, ["invalid"])
_EQUAL_GROUPS: Final = wrong("groups", ["right"] * 15, ["invalid", "uneven"])
_TURN: Final = choices.integers(0, TURNS)
_REGIME: Final = choices.steered(
    [*["plain"] * 10, "negative_zero", "extreme", "subnormal", "infinite", "nan"], ("values",), lambda word: (word,)
)
"""Plain data, or a regime of dangerous data."""

_LAYOUT: Final[choices.Choice[Layout | None]] = choices.steered(
    [*[LAYOUTS[0]] * 6, *LAYOUTS[1:], None, None], ("layout",), lambda same: (same or "mixed",)
)
_EACH: Final[choices.Choice[Layout]] = choices.sampled_from(LAYOUTS)


@dataclass(frozen=True)
class Draft:
    """A case in the making: the choices every operation shares, and the means to draw the rest.

    With ``once`` no result of a reduction is reduced again, so that all that a dtype has stay exact. A ``lone`` call is
    all of its case, and may be barely illegal.
    """

    draw: choices.Draw
    mesh: tuple[Axis, ...]
    axes: tuple[str, ...]
    groups: Groups | None
    dtype: str
    once: bool = False
    lone: bool = False

    @property
    def world(self) -> int:
        """Return the number of ranks."""
        return math.prod(axis.size for axis in self.mesh)

    @property
    def alone(self) -> Draft:
        """Return the draft of a call that is all of its case."""
        return replace(self, lone=True)

    @property
    def width(self) -> int:
        """Return the bytes of an element."""
        return NUMPY[self.dtype].itemsize

    def shape(self, least: int = 0) -> Shape:
        """Draw the shape of a block, of ``least`` axes or more."""
        return shape(self.draw, self.width, self.group_size, least=least)

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
    def member_count(self) -> int:
        """Return how many ranks are in the smallest group: an axis that is named twice has its ranks once.

        Tables with an entry for each pair of members would have 16 million for 64 ranks named twice.
        """
        return min(self.group_size, self.world)

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

    def case(self, op: str, *, shape: Shape, attrs: Mapping[str, Attr], values: Values = "any") -> Case:
        """Draw layouts and data for operands of ``shape`` and return the case of one step.

        Mostly there is one operand; now and then there are several, the others of other dtypes, or none.
        """
        how = self.draw(_OPERANDS)
        if how == "same":
            return self.program(op, {"x": self.operand(shape, values)}, ("y", "w"), attrs, of=("x", "x"))
        count = {"none": 0, "one": 1, "several": self.draw(_SEVERAL)}[how]
        names = [("x", "y"), ("v", "w"), ("u", "z"), ("t", "s")][:count]
        others = [other_shape(self.draw, shape, attrs) for _ in names[1:]]
        shapes = dict(zip((operand for operand, _ in names), (shape, *others), strict=False))
        dtypes = (self.dtype, *(other_dtype(self.draw, self.dtype, attrs, values, of) for of in others))
        dtype_of = dict(zip(shapes, dtypes, strict=False))
        inputs = {
            name: replace(self, dtype=dtype_of[name]).operand(of, values, alike=name not in ("x", "v"))
            for name, of in shapes.items()
        }
        return self.program(op, inputs, tuple(target for _, target in names), attrs)

    def blocks(self, dtype: str, values: Values, shape: Shape) -> list[Array]:
        """Draw the data of one operand, a block a rank, from a pool of ``values``."""
        regime = self.draw(_REGIME) if values == "any" else "plain"
        values_of = self.draw(_pools(dtype, values)) if regime == "plain" else regime_of(dtype, regime)
        blocks = tiled(values_of, shape, self.world)
        if values not in FOLDED:
            return blocks
        return columns(blocks, pool(dtype, values), self.rank_groups(), self.draw(_TURN))

    def program(
        self,
        op: str,
        inputs: Mapping[str, Operand],
        outputs: tuple[str, ...],
        attrs: Mapping[str, Attr],
        of: tuple[str, ...] | None = None,
    ) -> Case:
        """Return the case of one step on ready operands, or on some ``of`` them."""
        step = Step(
            op=op, inputs=of or tuple(inputs), outputs=outputs, axes=self.axes, groups=self.groups, attrs=dict(attrs)
        )
        return Case(program=Program(mesh=self.mesh, steps=(step,), results=outputs), inputs=dict(inputs))

    def operand(self, shape: Shape, values: Values = "any", *, alike: bool = False) -> Operand:
        """Draw the layouts and data of one operand; unless ``alike``, now and then ranks differ in dtype or shape."""
        dtype = self.dtype
        layouts = _layouts(self.draw, self.world)
        arrays = self.blocks(dtype, values, shape)
        odd = "none" if alike or self.world == 1 else self.draw(_ODD)
        if odd != "none":
            where = self.draw.one((self.world - 1, 0, self.world // 2))
            other = "float32" if dtype == "int32" else "int32"
            arrays[where] = np.zeros(
                (*shape, 2) if odd == "shape" else shape, NUMPY[dtype if odd == "shape" else other]
            )
        blocks = tuple(_block(array, layout) for array, layout in zip(arrays, layouts, strict=True))
        return Operand(blocks=blocks, layouts=layouts)


def draft(draw: choices.Draw, groups: Sequence[str], mesh: tuple[Axis, ...] | None = None) -> Draft:
    """Draw the mesh, axes, the dtype and groups of given kinds; now and then illegal ones, but on a given mesh."""
    dtype = draw(_DTYPE)
    axes = draw(_AXES) if mesh is None else "known"
    kind = (
        "none"
        if axes != "known"
        else "right"
        if mesh is not None
        else draw(_GROUPS if "uneven" in groups else _EQUAL_GROUPS)
    )
    found = place(draw, groups if kind == "right" else ("none",), mesh)
    named = {"none": (), "unknown": ("nowhere", *found.axes[1:]), "twice": (*found.axes, found.axes[0])}
    drawn = Draft(draw, found.mesh, named.get(axes, found.axes), found.groups, dtype)
    if kind == "invalid":
        drawn = replace(drawn, groups=wrong_groups(draw, drawn.positions))
    if kind == "uneven":
        drawn = replace(drawn, groups=uneven_groups(draw, drawn.positions))
    return drawn


def groups_of(op: str) -> tuple[str, ...]:
    """Return the kinds of groups that an operation allows."""
    return PARTITIONS if TABLE[op].groups == "any" else EQUAL


def tiled(values: Array, shape: Shape, world: int) -> list[Array]:
    """Return one block a rank, the values repeated over all of them, each rank starting one value later."""
    size, count = math.prod(shape), len(values)
    twice = np.concatenate([values, values])
    starts = (rank * (size + 1) % count for rank in range(world))
    # Repeating bytes is fifty times as fast as ``np.resize``, which matters for long blocks.
    rounds = -(-size // count)
    wholes = ((twice[at : at + count].tobytes() * rounds)[: size * values.itemsize] for at in starts)
    return [np.frombuffer(bytearray(whole), values.dtype).reshape(shape) for whole in wholes]


@cache
def _pools(dtype: str, values: Values) -> choices.Choice[Array]:
    pooled = pool(dtype, values)
    short = choices.lists(choices.sampled_from(range(len(pooled))), min_size=1, max_size=5)
    ready = choices.sampled_from([counting(dtype, values), pooled[::-1]])
    return choices.one_of(short.map(lambda picks: pooled[picks]), ready, ready)


def _layouts(draw: choices.Draw, world: int) -> tuple[Layout, ...]:
    same = draw(_LAYOUT)
    return tuple(draw(_EACH) for _ in range(world)) if same is None else (same,) * world


def _block(array: Array, layout: Layout) -> Tensor:
    if layout == "broadcast" and array.ndim and array.shape[0]:
        return from_array(np.broadcast_to(array[:1], array.shape))
    return from_array(array)
