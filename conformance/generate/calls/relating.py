"""How the domains of laws between results are drawn: one call, and others that differ from it in one thing.

What a member holds is a function of its position in the group alone, drawn from values whose sum or product depends
on the order. So equal columns lie at many places, in every group, and in every call of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step, rank_groups
from conformance.cases.tensor.dtypes import Array, kind
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Family, sensitive

MESHES: Final = ((3,), (4,), (6,), (8,), (5,), (2, 3), (4, 2), (6,), (8,))

FEWEST: Final = 3
"""Members of a group; two commute, so their order never shows."""

DTYPES: Final = (
    *("float32", "float32", "float32", "float64", "bfloat16", "float16", "complex64"),
    *("float32", "complex128", "float8_e4m3fn", "float8_e5m2"),
)

REDUCTIONS: Final = ("sum", "sum", "sum", "mean", "product", "premul_sum", "max", "min")

EXTENTS: Final = (2, 1, 3, 5, 33, 64, 130, 257)
"""Extents on both sides of the vector widths, chunk factors and alignments that implementations switch at."""

PIECES: Final = (2, 1, 3, 5, 17, 33, 64)
"""The same for one member's piece of a block."""


@dataclass(frozen=True)
class Call:
    """One call. An operand is the number of the column at every place of a block; ``unit`` divides its extent."""

    op: str
    attrs: Mapping[str, Attr]
    groups: Groups | None
    operands: tuple[Array, ...]
    positions: int
    unit: int

    def on(self, *operands: Array) -> Call:
        """Return the call on other operands."""
        return replace(self, operands=operands)

    def over(self, groups: Groups) -> Call:
        """Return the call over other groups."""
        return replace(self, groups=groups)

    def listed(self) -> Groups:
        """Return the groups, also where none are given."""
        return self.groups or (tuple(range(self.positions)),)


def again(_: choices.Draw, call: Call) -> list[Call]:
    """Make the same call twice."""
    return [call, call]


def with_others_between(draw: choices.Draw, call: Call) -> list[Call]:
    """Make the same call before and after another: of the same sort, one that only moves, or a sum for all."""
    other = np.resize(call.operands[0], (call.unit * draw(choices.sampled_from(PIECES)),))
    between = draw(
        choices.sampled_from(
            [
                call.on(other),
                replace(call.on(other), op="all_gather", attrs={"axis": 0, "tiled": True}),
                replace(call.on(other), op="all_reduce", attrs={"op": "sum"}),
            ]
        )
    )
    return [call, between, call]


def permuted(draw: choices.Draw, call: Call) -> list[Call]:
    """Move the elements of the operand to other places."""
    (operand,) = call.operands
    flat = operand.reshape(-1)
    moved = draw(choices.sampled_from([flat[::-1], np.roll(flat, 1)]))
    return [call, call.on(moved.reshape(operand.shape))]


def cut(draw: choices.Draw, call: Call) -> list[Call]:
    """Send the operand whole, and in two messages."""
    (operand,) = call.operands
    pieces = len(operand) // call.unit
    if pieces < 2:
        return padded(draw, call)
    at = call.unit * draw(choices.sampled_from(sorted({1, pieces // 2, pieces - 1})))
    return [call, call.on(operand[:at]), call.on(operand[at:])]


def padded(draw: choices.Draw, call: Call) -> list[Call]:
    """Send the operand as it is, and in a longer message."""
    (operand,) = call.operands
    more = call.unit * draw(choices.sampled_from([1, 3, 31, 128]))
    return [call, call.on(np.concatenate([operand, np.resize(operand, (more, *operand.shape[1:]))]))]


def together(draw: choices.Draw, call: Call) -> list[Call]:
    """Send the operand alone and together with another, before it or behind it, or together with two in turn."""
    (operand,) = call.operands
    other = np.resize(operand, (call.unit * draw(choices.sampled_from(PIECES)),))
    behind = call.on(operand, other)
    relations = ([call, behind], [call, call.on(other, operand)], [behind, call.on(operand, other[::-1])])
    return draw(choices.sampled_from(relations))


def elsewhere(draw: choices.Draw, call: Call) -> list[Call]:
    """Have other ranks hold what members of the same position held."""
    ranks = draw(_orders(call.positions))
    return [call, call.over(tuple(tuple(ranks[p] for p in group) for group in call.listed()))]


def listed_otherwise(draw: choices.Draw, call: Call) -> list[Call]:
    """List the same groups in another order, if there are several."""
    groups = call.listed()
    return [call, call.over((*groups[1:], groups[0]))] if len(groups) > 1 else elsewhere(draw, call)


RELATIONS: Final[Sequence[Callable[[choices.Draw, Call], list[Call]]]] = (
    *(again, with_others_between, permuted, cut, padded, together, elsewhere, listed_otherwise),
    *(cut, padded, together, listed_otherwise, with_others_between),
)


@choices.composite
def related(draw: choices.Draw, op: str) -> Case:
    """Draw a program of related calls of one operation."""
    relation = draw(choices.sampled_from(RELATIONS))
    mesh = tuple(Axis(name, size) for name, size in zip("ij", draw(choices.sampled_from(MESHES)), strict=False))
    axes = draw(
        choices.sampled_from([tuple(axis.name for axis in mesh)] * 4 + [(max(mesh, key=lambda a: a.size).name,)])
    )
    positions = int(np.prod([axis.size for axis in mesh if axis.name in axes]))
    groups = _groups(draw, positions) if relation is listed_otherwise or draw(choices.booleans()) else None
    members = positions if groups is None else len(groups[0])
    call = _first(draw, op, groups, positions, members)
    calls = relation(draw, call)
    dtype, columns = draw(choices.sampled_from(DTYPES)), _columns(draw, members)
    if call.attrs["op"] in ("max", "min") and kind(dtype) == "complex":
        dtype = "float32"
    blocks = values(dtype, str(call.attrs["op"]))[columns]
    return _program(mesh, axes, calls, blocks)


def _groups(draw: choices.Draw, positions: int) -> Groups:
    """Draw groups of one size, at least ``FEWEST``: several where there are enough positions."""
    count = next(count for count in (2, 1) if positions % count == 0 and positions // count >= FEWEST)
    order = draw(choices.one_of(choices.just(list(range(positions))), _orders(positions)))
    if draw(choices.booleans()):
        return tuple(tuple(order[first::count]) for first in range(count))
    size = positions // count
    return tuple(tuple(order[first : first + size]) for first in range(0, positions, size))


def _first(draw: choices.Draw, op: str, groups: Groups | None, positions: int, members: int) -> Call:
    """Draw the call that the others are like: its attributes, and an operand of up to three different columns."""
    attrs: dict[str, Attr] = {"op": draw(choices.sampled_from(REDUCTIONS))}
    if attrs["op"] == "premul_sum":
        attrs["factor"] = draw(choices.sampled_from([0.5, 0.1, 3.0]))
    if op == "reduce":
        attrs["root"] = draw(choices.sampled_from([0, members - 1]))
    if op == "reduce_scatter":
        attrs |= {"axis": 0, "tiled": True}
    scattered = op == "reduce_scatter"
    unit = members if scattered else 1
    shape = (
        unit * draw(choices.sampled_from(PIECES if scattered else EXTENTS)),
        *draw(choices.sampled_from([(), (), (), (2,)])),
    )
    operand = np.resize(np.arange(draw(choices.sampled_from([1, 2, 3]))), shape)
    return Call(op, attrs, groups, (operand,), positions, unit)


def _columns(draw: choices.Draw, members: int) -> Array:
    """Draw which values the members hold, of shape (members, 3): a permutation, begun at another for each column."""
    order = np.array(draw(_orders(VALUES)))
    return np.stack([np.resize(np.roll(order, -3 * column), members) for column in range(3)], axis=1)


@cache
def _orders(count: int) -> choices.Choice[list[int]]:
    return choices.permutations(range(count))


VALUES: Final = 7


@cache
def values(dtype: str, op: str) -> Array:
    """Return ``VALUES`` values of ``dtype``, of which three may add up, or multiply, unlike in another order.

    Of max and min both zeros are all that the order shows in.
    """
    family = {"product": Family("product", "near"), "max": Family("max", "zeros"), "min": Family("max", "zeros")}
    return np.resize(sensitive(dtype, family.get(op, Family("sum", "wide"))), VALUES)


def _program(mesh: tuple[Axis, ...], axes: tuple[str, ...], calls: Sequence[Call], columns: Array) -> Case:
    """Return the calls as a program. ``columns`` are values of shape (members, columns).

    Every call has operands of its own, also where they hold the same: a compiler would make equal calls one.
    """
    inputs: dict[str, Operand] = {}
    steps = []
    plain: Layout = "contiguous"
    for call in calls:
        names = tuple(f"x{len(inputs) + at}" for at in range(len(call.operands)))
        positions = {rank: p for group in rank_groups(mesh, axes, call.groups) for p, rank in enumerate(group)}
        for name, operand in zip(names, call.operands, strict=True):
            blocks = tuple(from_array(columns[positions[rank]][operand]) for rank in range(len(positions)))
            inputs[name] = Operand(blocks=blocks, layouts=(plain,) * len(blocks))
        outputs = tuple(name.replace("x", "y") for name in names)
        steps.append(
            Step(op=call.op, inputs=names, outputs=outputs, axes=axes, groups=call.groups, attrs=dict(call.attrs))
        )
    results = tuple(name for step in steps for name in step.outputs)
    return Case(program=Program(mesh=mesh, steps=tuple(steps), results=results), inputs=inputs)
