"""Programs to map over levels: operands that no level maps, axes behind the mapped one, and steps across slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from conformance.cases.program.program import Axis
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.rare.listing import Listing

Pattern = Callable[[Listing], None]

TOGETHER: Final = 3
"""Patterns of a loop over slices in a program, beside one across slices."""


def beside_constants(e: Listing) -> None:
    """Local operations of a mapped operand and one that is not, on either side."""
    x, c = e.given((2, 2)), e.constant((2, 2))
    order = (x, c) if e.draw(choices.booleans()) else (c, x)
    e.keep(*(e.do(op, *order) for op in ("subtract", "multiply", "maximum")))


def of_constants(e: Listing) -> None:
    """Collectives over the mesh, and a local operation, of an operand that no level maps."""
    axes, c = e.one(), e.constant((2, 2))
    e.keep(e.do("negate", c), e.do("all_reduce", c, axes=axes, op="sum"))
    e.keep(e.do("all_gather", c, axes=axes, axis=1, tiled=True, to="varying"))


def scattered(e: Listing) -> None:
    """Scatters of the second axis and of the first, tiled and whole, wherever the mapped axis is."""
    axes = e.one()
    size = e.size(axes)
    for x in e.mapped((size, 2 * size)):
        for axis, tiled in ((1, True), (0, True), (0, False)):
            e.keep(e.do("reduce_scatter", x, axes=axes, op="sum", axis=axis, tiled=tiled))


def gathered(e: Listing) -> None:
    """Gathers along the last axis, into it and at a new one, wherever the mapped axis is."""
    axes = e.axes()
    for x in e.mapped((2, 3)):
        e.keep(e.do("all_gather", x, axes=axes, axis=1, tiled=True, to="varying"))
        e.keep(e.do("all_gather", x, axes=axes, axis=2, tiled=False, to="invariant"))


def exchanged(e: Listing) -> None:
    """Exchanges of one axis into the other, both ways, and untiled, wherever the mapped axis is."""
    axes = e.one()
    size = e.size(axes)
    for x in e.mapped((size, size)):
        for split, concat, tiled in ((1, 0, True), (0, 1, True), (1, 0, False)):
            e.keep(e.do("all_to_all", x, axes=axes, split_axis=split, concat_axis=concat, tiled=tiled))


def summed(e: Listing) -> None:
    """Sums over each local axis, of equal extents or not, and over ranks."""
    axes = e.axes()
    for x in e.mapped(e.draw(choices.sampled_from([(2, 2), (3, 3), (2, 3)]))):
        e.keep(e.do("sum", x, axis=1), e.do("sum", x, axis=0), e.do("all_reduce", x, axes=axes, op="max"))


def sent(e: Listing) -> None:
    """A broadcast from the last member and a permute that reaches some members only."""
    axes, x = e.one(), e.given((3, 2))
    size = e.size(axes)
    e.keep(e.do("broadcast", x, axes=axes, root=size - 1))
    e.keep(e.do("permute", x, axes=axes, pairs=((size - 1, 0),)))


def pending(e: Listing) -> None:
    """Sums along a mesh axis that are still to be made: as they are, doubled, times a reduced factor, and made."""
    axes, factor = e.one(), e.given((2, 2), [])
    for x in e.mapped((2, 2)):
        given = e.do("cast", x, axes=axes, to="unreduced")
        e.keep(given, e.do("add", given, given), e.do("all_reduce", given, axes=axes, op="sum"))
    rest = [axis for axis in e.names if axis not in axes]
    for axis in rest:
        factor = e.do("cast", factor, axes=(axis,), to="varying")
    e.keep(e.do("multiply", given, e.do("cast", factor, axes=axes, to="reduced")))


def reduced_across(e: Listing) -> None:
    """Reductions over a level, of an operand that it maps and of one that it does not."""
    level = e.levels[-1].name
    x, c = e.given((2,)), e.constant((2,))
    for op in ("max", "sum", "min"):
        e.keep(*(e.do("all_reduce", each, axes=(level,), op=op) for each in (c, x)))


def reduced_both(e: Listing) -> None:
    """Reductions over a level and a mesh axis together, in either order, of what is mapped and what is not."""
    axes = (e.levels[0].name, e.names[-1])
    axes = axes if e.draw(choices.booleans()) else axes[::-1]
    x, c = e.given((2,)), e.constant((2,))
    for op in ("sum", "max"):
        e.keep(*(e.do("all_reduce", each, axes=axes, op=op) for each in (c, x)))


def moved_across(e: Listing) -> None:
    """A cycle and a broadcast over a level, of an operand that it maps and of one that it does not."""
    level = e.levels[-1].name
    size = e.size((level,))
    for each in (e.given((2,)), e.constant((2,))):
        e.keep(e.do("permute", each, axes=(level,), pairs=tuple((at, (at + 1) % size) for at in range(size))))
        e.keep(e.do("broadcast", each, axes=(level,), root=size - 1))


def gathered_across(e: Listing) -> None:
    """A gather and a scatter over a level alone, along the second axis."""
    level = e.levels[-1].name
    size = e.size((level,))
    x = e.given((2, size))
    e.keep(e.do("all_gather", x, axes=(level,), axis=1, tiled=True, to="varying"))
    e.keep(e.do("all_gather", x, axes=(level,), axis=2, tiled=False, to="varying"))
    e.keep(e.do("reduce_scatter", x, axes=(level,), op="sum", axis=1, tiled=e.draw(choices.booleans())))


def exchanged_across(e: Listing) -> None:
    """An exchange over a level, of an operand that it maps and of one that it does not."""
    level = e.levels[-1].name
    size = e.size((level,))
    for each in (e.given((2, size)), e.constant((2, size))):
        e.keep(e.do("all_to_all", each, axes=(level,), split_axis=1, concat_axis=0, tiled=True))


def indices(e: Listing) -> None:
    """The index along a level, and along the mesh, beside a value that is mapped."""
    e.keep(e.given((2,)))
    e.keep(e.do("axis_index", axes=(e.levels[-1].name,)), e.do("axis_index", axes=e.names[-1:]))


LOOPS: Final[tuple[Pattern, ...]] = (
    beside_constants,
    scattered,
    gathered,
    pending,
    of_constants,
    exchanged,
    summed,
    sent,
)
ACROSS: Final[tuple[Pattern, ...]] = (
    reduced_across,
    gathered_across,
    moved_across,
    indices,
    reduced_both,
    exchanged_across,
)


def mapped_listing(draw: Draw, turn: int, levels: Sequence[Axis]) -> Listing:
    """Return the program of a turn: some loops over slices, and a step across them."""
    e = Listing(draw, levels=levels, widest=4)
    e.keep(e.do("negate", e.given((2,))))
    ACROSS[turn % len(ACROSS)](e)
    for number in range(turn * TOGETHER, (turn + 1) * TOGETHER):
        LOOPS[number % len(LOOPS)](e)
    return e
