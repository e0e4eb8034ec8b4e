"""Programs of the ``spmd`` dialect: every rank holds a block of each value and runs the same steps in order."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, Literal

import msgspec

from conformance.cases.attribute import Attr

Groups = tuple[tuple[int, ...], ...]

EFFECTS: Final = ("buffer", "view", "assign", "copy", "free", "done")
"""Steps that make storage, write it, free it, or wait (``conformance.cases.program.effects``)."""

COMPUTING: Final = ("alu", "cast", "fold", "dot")
"""Steps that compute on each rank alone (``conformance.cases.program.computing``)."""

NO_COLLECTIVES: Final = (*EFFECTS, *COMPUTING)
"""Steps that are no collectives."""


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One named mesh axis and the number of ranks along it."""

    name: str
    size: int


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One operation on named values.

    ``axes`` are the mesh axes it spans, major first. ``groups`` partition the positions along those axes
    and name members in order; ``None`` is one group of all positions in order.

    The results go ``into`` named buffers or views, where there are any, and the outputs are then names of that
    storage. With ``start`` the outputs are tickets, of which ``done`` makes the results; the meaning of the program
    is as if everything had happened at the start.

    ``ranks`` are those who take part, all of them by default. The others skip the step and have no block of its
    outputs.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axes: tuple[str, ...]
    groups: Groups | None = None
    attrs: dict[str, Attr] = {}
    into: tuple[str, ...] = ()
    start: bool = False
    ranks: tuple[int, ...] | None = None

    @property
    def idle(self) -> bool:
        """Return whether it is over no axis, neither of the mesh nor local: nobody meets and nothing is reduced."""
        return not self.axes and not self.attrs.get("local_axes")


class Program(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Steps over a mesh. The world is every coordinate of the mesh in row-major order, rank 0 first."""

    dialect: Literal["spmd"] = "spmd"
    mesh: tuple[Axis, ...]
    steps: tuple[Step, ...]
    results: tuple[str, ...]

    @property
    def world(self) -> int:
        """Return the number of ranks."""
        return math.prod(axis.size for axis in self.mesh)

    @property
    def collectives(self) -> tuple[Step, ...]:
        """Return the steps that are collectives."""
        return tuple(step for step in self.steps if step.op not in NO_COLLECTIVES)

    @property
    def buffers(self) -> dict[str, str]:
        """Return the input that each buffer begins as a copy of, laid out alike."""
        return {step.outputs[0]: step.inputs[0] for step in self.steps if step.op == "buffer"}


@lru_cache(4096)
def lines(mesh: tuple[Axis, ...], axes: tuple[str, ...]) -> Groups:
    """Return the ranks that meet along ``axes``, one tuple for each coordinate of the other axes.

    Position p of a line is the p-th coordinate of ``axes`` in row-major order, first named axis major.
    Raise ``ValueError`` for an unknown or repeated axis name.
    """
    sizes = {axis.name: axis.size for axis in mesh}
    unknown = [name for name in axes if name not in sizes]
    if unknown:
        raise ValueError(f"unknown mesh axis {unknown[0]!r}; the mesh has {', '.join(sizes)}")
    if len(set(axes)) != len(axes):
        raise ValueError(f"mesh axis named twice in {list(axes)}")
    strides, stride = {}, 1
    for axis in reversed(mesh):
        strides[axis.name] = stride
        stride *= axis.size
    rest = [axis.name for axis in mesh if axis.name not in axes]
    starts = offsets_of(rest, sizes, strides)
    along = offsets_of(axes, sizes, strides)
    return tuple(tuple(start + step for step in along) for start in starts)


@lru_cache(4096)
def rank_groups(mesh: tuple[Axis, ...], axes: tuple[str, ...], groups: Groups | None) -> Groups:
    """Return ``groups`` of positions as groups of ranks, repeated over every line of the unnamed axes.

    A position beyond the line becomes a rank beyond the world, so whoever checks groups still sees it.
    """
    world = math.prod(axis.size for axis in mesh)
    return tuple(
        tuple(line[p] if 0 <= p < len(line) else world + abs(p) for p in group)
        for line in lines(mesh, axes)
        for group in ((tuple(range(len(line))),) if groups is None else groups)
    )


def offsets_of(names: tuple[str, ...] | list[str], sizes: dict[str, int], strides: dict[str, int]) -> list[int]:
    """Return how far each coordinate of some axes is from the first, in row-major order of these axes."""
    offsets = [0]
    for name in names:
        offsets = [offset + i * strides[name] for offset in offsets for i in range(sizes[name])]
    return offsets


__all__ = [
    "COMPUTING",
    "EFFECTS",
    "NO_COLLECTIVES",
    "Attr",
    "Axis",
    "Groups",
    "Program",
    "Step",
    "lines",
    "offsets_of",
    "rank_groups",
]
