"""What a kernel computes, in neutral operations over one iteration space, so that NumPy can run it too.

An instruction gives one value at every point of the iteration space and names earlier instructions by their number.
Every instruction rounds to its dtype. Points may be computed in any order, and side by side.
"""

from __future__ import annotations

import msgspec

from conformance.cases.graph.elementwise import Binary, Fold, Ternary, Unary
from conformance.cases.graph.extent import Dim
from conformance.cases.tensor.tensor import Tensor


class _Instruction(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag=str.lower
):
    """What the instructions have in common: the tag ``do``."""


class Load(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The element that the map of the item's access number ``access`` gives; zero where the map is masked out."""

    access: int


class Fetch(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An element whose place depends on data: that of the access's map at the point, with the values ``at`` as indices.

    The map has the axes of the body and then one for each of ``at``, which are integers. An index outside its axis
    touches nothing that can be relied on.
    """

    access: int
    at: tuple[int, ...]


class Constant(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value at every point; its tensor has no axes."""

    value: Tensor


class Symbol(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value of a variable of the item, as int64."""

    name: str


class Index(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The point's own index along ``axis``, as int64."""

    axis: int


class Alu(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An elementwise operation on values of one dtype, which is the result's; comparisons give bool.

    ``where`` takes a bool and two values of one dtype. Integers wrap; ``div`` of integers truncates toward zero and
    ``mod`` has the sign of the dividend; a division of integers by zero is nothing that can be relied on. ``max`` and
    ``min`` hand on a NaN.
    """

    op: Unary | Binary | Ternary
    of: tuple[int, ...]


class Cast(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value in another dtype, rounded to nearest, ties to even."""

    of: int
    dtype: str


class Bitcast(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same bits as a dtype of the same width."""

    of: int
    dtype: str


class Reduce(_Instruction, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The values along ``axes``, combined from the left in row-major order, the same at every index of those axes.

    ``acc`` is the dtype in which it folds, where that is not the values' own; it is rounded to that once, at the end.
    """

    op: Fold
    of: int
    axes: tuple[int, ...]
    acc: str = ""


class Store(_Instruction, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value, written where the map of the item's access number ``access`` says; nowhere where it is masked out.

    Along an axis that the map does not depend on, the value may not depend on it either.
    """

    access: int
    of: int


Instruction = Load | Fetch | Constant | Symbol | Index | Alu | Cast | Bitcast | Reduce | Store


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Instructions over the points of ``extents``; the first extents of every map that is used are these.

    Bodies of one ``phase`` run side by side, those of a later one when every point of the earlier ones is done: between
    them is a barrier. The first ``groups`` axes number groups of points: local memory is of one group, and a barrier
    waits for one group.
    """

    extents: tuple[Dim, ...]
    instructions: tuple[Instruction, ...]
    phase: int = 0
    groups: int = 0


def sources(instruction: Instruction) -> tuple[int, ...]:
    """Return the numbers of the instructions whose values an instruction takes."""
    if isinstance(instruction, Alu):
        return instruction.of
    if isinstance(instruction, Fetch):
        return instruction.at
    return (instruction.of,) if isinstance(instruction, Cast | Bitcast | Reduce | Store) else ()


def by_index(bodies: tuple[Body, ...]) -> frozenset[int]:
    """Return the numbers of the accesses whose points data choose."""
    return frozenset(each.access for body in bodies for each in body.instructions if isinstance(each, Fetch))
