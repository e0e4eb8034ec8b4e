"""A case on sharded tensors in the making of patterns that name their data and their placements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Mesh, Placement, Split, even_cuts
from conformance.cases.tensor.dtypes import kind
from conformance.reference.sharded.placing import shape_of
from conformance.specs.domains import choices
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.sharded.domain.operands import pending
from conformance.specs.sharded.domain.places import default_places, even_places, odd_places
from conformance.specs.sharded.domain.programs import Program

Placed = Literal["even", "default", "odd"]
"""In parts of one size; as frameworks cut what their devices do not divide; or by any bounds, masks and orders."""

SHARE: Final = 3
"""Of so many placements one is of those that every framework has words for, where a case may have any."""


class Sharded(Listing):
    """A case in the making on a mesh, in which tensors are ``placed`` in a way."""

    def __init__(self, program: Program, whole: str, real: str, *, placed: Placed, several: bool) -> None:
        """Begin with no nodes."""
        super().__init__(program.asked, whole, real)
        self.program, self.placed, self.several = program, placed, several
        self._places: dict[tuple[int, ...], list[Placement]] = {}

    @property
    def odd(self) -> bool:
        """Return whether anything may be, also what frameworks have no words for."""
        return self.placed == "odd"

    @property
    def mesh(self) -> Mesh:
        """Return the mesh."""
        return self.program.mesh

    @property
    def count(self) -> int:
        """Return how many devices there are."""
        return math.prod(axis.size for axis in self.mesh)

    @property
    def rows(self) -> int:
        """Return an extent that all devices divide; one that they do not, where placements may be odd."""
        return self.count if self.placed == "even" else max(self.count, 3) + 1

    @property
    def square(self) -> tuple[int, int]:
        """Return the shape of most tensors, whose axes are of one extent."""
        return (self.rows, self.rows) if self.rows <= MOST else (self.rows, 3 if self.odd else 2)

    def place(self, shape: tuple[int, ...]) -> Placement:
        """Return another placement of a shape each time, until there were all, in an order that is drawn."""
        left = self._places.setdefault(shape, [])
        if not left:
            some = default_places if self.placed == "default" else even_places
            even = some(shape, self.mesh, several=self.several)
            odd = odd_places(shape, self.mesh) if self.odd else []
            mixed = even if not odd else [*odd, *even[: max(len(odd) // SHARE, 1)]]
            left += self.asked.draw(choices.permutations(mixed))
        return left.pop()

    def cut(self, shape: tuple[int, ...]) -> Placement:
        """Return another placement each time by which some axis is cut, and all is real."""
        for _ in range(TRIES):
            found = self.place(shape)
            if found.splits and not found.masks:
                return found
        return default_places(shape, self.mesh, several=False)[-1]

    def shared(self, shape: tuple[int, ...]) -> Placement:
        """Return another placement each time whose first split axis has elements on more than one device."""
        for _ in range(TRIES):
            found = self.cut(shape)
            first = min(found.splits, key=lambda split: split.axis)
            if len(set(first.cuts)) > 2:
                return found
        return default_places(shape, self.mesh, several=False)[-1]

    def held(self, values: Any, dtype: str, at: Placement) -> Node:
        """Add a buffer at a place."""
        made = self.buf(values, dtype)
        self.program.homes[str(made.arg)] = at
        return made

    def by_rows(self, values: Any, dtype: str) -> Node:
        """Add a buffer whose rows the devices along the first mesh axis have, as by default."""
        first = self.mesh[0]
        cuts = even_cuts(len(values), first.size)
        return self.held(values, dtype, Placement(splits=(Split(axis=0, along=(first.name,), cuts=cuts),)))

    def put(self, values: Any, dtype: str, *, cut: bool = False) -> Node:
        """Add a buffer at another place each time, cut along some axis if that is asked for."""
        shape = np.shape(values)
        return self.held(values, dtype, self.cut(shape) if cut else self.place(shape))

    def to(self, of: Node, at: Placement = REPLICATED) -> Node:
        """Move a value."""
        made = self.asked.add("copy", of.shape, of.dtype, of)
        if at != REPLICATED:
            self.program.moves[made.id] = at
        return made

    def late(self, of: Node, word: Fold) -> Node:
        """Fold the first split axis of a buffer, and let the fold stay pending."""
        home = self.program.homes[str(of.arg)]
        return pending(self.program, of, home, (min(split.axis for split in home.splits),), word)

    def split_axis(self, of: Node) -> int:
        """Return the first axis of a value that is split, the first one where none is."""
        return min((split.axis for split in self.program.at(of).splits), default=0)

    def moved(self, op: str, shape: Sequence[int], of: Node, arg: Any = None) -> Node:
        """Add movement of a value."""
        return self.asked.moved(op, tuple(shape), of, arg)

    def flat(self, of: Node) -> Node:
        """Put all elements on one axis."""
        return self.moved("reshape", (math.prod(shape_of(of)),), of)


TRIES: Final = 64
"""Placements looked at for one that cuts an axis: all that a mesh of two axes has are fewer."""

MOST: Final = 6
"""The extent of a square, at most: results stay small enough to read."""


def counted(shape: Sequence[int], dtype: str, start: int = 1) -> np.ndarray[Any, Any]:
    """Return values that are all different where the dtype has as many, and none of them zero."""
    number: np.ndarray[Any, Any] = np.arange(math.prod(shape)).reshape(tuple(shape)) + start
    found = number % 3 == 1 if dtype == "bool" else number * 0.5 if kind(dtype) == "float" else number
    return np.asarray(found)


def below(shape: Sequence[int], dtype: str) -> np.ndarray[Any, Any]:
    """Return values that the zeros of padding would be greater than, or less where a dtype has none below zero."""
    if dtype == "bool":
        return np.ones(tuple(shape), bool)
    some: np.ndarray[Any, Any] = np.arange(math.prod(shape)).reshape(tuple(shape)) % 3 + 1
    return some if dtype.startswith("u") else -some
