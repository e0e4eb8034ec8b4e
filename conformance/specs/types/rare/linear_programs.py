"""Programs to go back through, or forth with tangents: each operation where a rule that knows too little fails.

A pattern adds a chain of a few steps on inputs of its own and keeps its results; a program has several of them. Some
are there with types and without, others one way alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.cases.types.typed_program import TypedProgram
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.rare.listing import Listing
from conformance.specs.types.steps import ragged

Pattern = Callable[[Listing], None]

TOGETHER: Final = 4
"""Patterns in a program: with that the nine or ten such draws of 150 have each pattern once or twice."""


def _pending(e: Listing, axes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    """Return a value that is unreduced along ``axes``."""
    return e.do("cast", e.given(shape), axes=axes, to="unreduced")


def mean_of_pending(e: Listing) -> None:
    """A mean of an unreduced value, along the axes that it is unreduced along."""
    axes = e.axes()
    op = "mean" if e.size(axes).bit_count() == 1 else "sum"
    e.keep(e.do("all_reduce", _pending(e, axes, (2,)), axes=axes[::-1], op=op))


def sum_of_pending(e: Listing) -> None:
    """Sums of an unreduced value, of its double and of its negative, all results."""
    axes = e.axes()
    given = _pending(e, axes, (2,))
    twice, less = e.do("add", given, given), e.do("negate", given)
    e.keep(*(e.do("all_reduce", each, axes=axes, op="sum") for each in (given, twice, less)))


def pending_times_reduced(e: Listing) -> None:
    """Products of an unreduced and a reduced factor, on either side."""
    axes = e.one()
    rest = [axis for axis in e.names if axis not in axes]
    given = _pending(e, axes, (3,))
    other = e.do("cast", e.given((3,), rest), axes=axes, to="reduced")
    for factors in ((given, other), (other, given)):
        e.keep(e.do("all_reduce", e.do("multiply", *factors), axes=axes, op="sum"))


def scatter_of_pending(e: Listing) -> None:
    """A scatter of an unreduced value along its second axis, or of its whole last one."""
    axes, tiled = e.axes(), e.draw(choices.booleans())
    size = e.size(axes)
    given = _pending(e, axes, (2, size * 2 if tiled else size))
    e.keep(e.do("reduce_scatter", given, axes=axes, op="sum", axis=1, tiled=tiled))


def gather_to_reduced(e: Listing) -> None:
    """A gather to reduced, times an unreduced factor, and cast back to varying."""
    axes = e.one()
    size = e.size(axes)
    found = e.do("all_gather", e.given((1, 2)), axes=axes, axis=0, tiled=True, to="reduced")
    product = e.do("multiply", _pending(e, axes, (size, 2)), found)
    e.keep(e.do("all_reduce", product, axes=axes, op="sum"), e.do("cast", found, axes=axes, to="varying"))


def gather_to_invariant(e: Listing) -> None:
    """An untiled gather to invariant at the last axis, times what varies."""
    axes = e.axes()
    found = e.do("all_gather", e.given((2,)), axes=axes, axis=1, tiled=False, to="invariant")
    e.keep(found, e.do("multiply", e.given((2, e.size(axes))), found))


def itself(e: Listing) -> None:
    """Operations of a value and itself."""
    x = e.given((2,))
    e.keep(*(e.do(op, x, x) for op in ("multiply", "subtract", "add")))


def casts_in_turn(e: Listing) -> None:
    """Casts of an invariant value to varying, axis by axis and at once, and to reduced along the last axis alone."""
    x, last = e.given((2,), ()), e.names[-1:]
    value = x
    for axis in e.draw(choices.permutations(e.names)):
        value = e.do("cast", value, axes=(axis,), to="varying")
    e.keep(value, e.do("cast", x, axes=e.names[::-1], to="varying"))
    if e.checked:
        e.keep(e.do("cast", e.do("cast", x, axes=last, to="reduced"), axes=last, to="varying"))


def moved_twice(e: Listing) -> None:
    """The same permute, and the same shuffle, twice."""
    axes = e.axes()
    order = e.draw(choices.permutations(range(size := e.size(axes))))
    axes = tuple(axis for axis in e.names if axis in axes)
    pairs = tuple(enumerate(order))[: e.draw(choices.integers(0, size))]
    x = e.given((2,))
    for op, attr in (("permute", {"pairs": pairs}), ("shuffle", {"sources": tuple(order)})):
        once = e.do(op, x, axes=axes, **attr)
        e.keep(once, e.do(op, once, axes=axes, **attr))


def gathered_twice(e: Listing) -> None:
    """A tiled gather along the second axis twice, and its scatters in the end."""
    axes = e.one()
    once = e.do("all_gather", e.given((2, 1)), axes=axes, axis=1, tiled=True, to="varying")
    twice = e.do("all_gather", once, axes=axes, axis=1, tiled=True, to="varying")
    e.keep(twice, e.do("reduce_scatter", once, axes=axes, op="sum", axis=1, tiled=True))


def summed_twice(e: Listing) -> None:
    """A sum along one axis and of that along another, or along the same again; a sum along both at once."""
    first, again = e.one(), e.one()
    x = e.given((2,))
    once = e.do("all_reduce", x, axes=first, op="sum")
    e.keep(once, e.do("all_reduce", once, axes=again, op="sum"), e.do("all_reduce", x, axes=e.names[::-1], op="sum"))


def exchanged(e: Listing) -> None:
    """An exchange of the second axis into the first, twice, and an untiled one."""
    axes = e.axes()
    size = e.size(axes)
    x = e.given((2, size))
    once = e.do("all_to_all", x, axes=axes, split_axis=1, concat_axis=0, tiled=True)
    e.keep(once, e.do("all_to_all", x, axes=axes, split_axis=1, concat_axis=0, tiled=False))
    e.keep(e.do("all_to_all", once, axes=axes, split_axis=0, concat_axis=1, tiled=True))


def in_pairs(e: Listing) -> None:
    """A gather, a scatter and an exchange over groups of two."""
    axes = e.axes()
    groups = e.halves(axes)
    if groups is not None:
        x, untiled = e.given((2, 2)), e.draw(choices.booleans())
        e.keep(e.do("all_gather", x, axes=axes, groups=groups, axis=1, tiled=not untiled, to="varying"))
        e.keep(e.do("reduce_scatter", x, axes=axes, groups=groups, op="sum", axis=1, tiled=not untiled))
        e.keep(e.do("all_to_all", x, axes=axes, groups=groups, split_axis=0, concat_axis=1, tiled=True))


def broadcast_again(e: Listing) -> None:
    """A broadcast from the last member, and one of that along another axis."""
    first, again = e.axes(), e.one()
    once = e.do("broadcast", e.given((2,)), axes=first, root=e.size(first) - 1)
    e.keep(once, e.do("broadcast", once, axes=again, root=e.draw(choices.integers(0, e.size(again) - 1))))


def local_sums(e: Listing) -> None:
    """Sums over each local axis, before a sum over ranks and after it."""
    axes, x = e.axes(), e.given((2, 3))
    e.keep(e.do("all_reduce", e.do("sum", x, axis=1), axes=axes, op="sum"))
    e.keep(e.do("sum", e.do("all_reduce", x, axes=axes, op="sum"), axis=0))


def unused(e: Listing) -> None:
    """An input that no result depends on, and one that is a result and an operand."""
    e.given((2,))
    x = e.given((2,))
    e.keep(x, e.do("subtract", e.do("all_reduce", x, axes=e.one(), op="sum"), x))


def rows(e: Listing) -> None:
    """A ragged exchange, of rows that are read into the value that they are written into, or of another."""
    axes, x = e.one(), e.given((4, 1))
    target = x if e.draw(choices.booleans()) else e.given((4, 1))
    found = ragged(e.draw, (4, 1), (4, 1), e.size(axes))
    if found is not None:
        attrs = dict[str, Any](found.attrs)
        e.keep(e.do("ragged_all_to_all", x, target, axes=axes, **attrs))


def uneven(e: Listing) -> None:
    """A sum and a mean over groups of unequal sizes, one and two."""
    axes = e.names
    order = e.draw(choices.permutations(range(e.size(axes))))
    pairs = range(1, len(order) - 1, 2)
    alone = order[:1] if len(order) % 2 else (order[0], order[-1])
    groups = (*((rank,) for rank in alone), *(tuple(order[at : at + 2]) for at in pairs))
    x = e.given((2,))
    e.keep(*(e.do("all_reduce", x, axes=axes, groups=groups, op=op) for op in ("mean", "sum")))


def local_axes(e: Listing) -> None:
    """A mean and a sum over ranks and local axes."""
    axes, x = e.names[-1:], e.given((2, 4))
    op = "mean" if e.size(axes).bit_count() == 1 else "sum"
    e.keep(e.do("all_reduce", x, axes=axes, op=op, local_axes=(1,)))
    e.keep(e.do("all_reduce", x, axes=axes, op="sum", local_axes=(1, 0)))


def over_no_axis(e: Listing) -> None:
    """A sum over no axis, which is its operand, before a sum along one axis and after it."""
    axes, x = e.one(), e.given((2,))
    e.keep(e.do("all_reduce", e.do("all_reduce", x, op="sum"), axes=axes, op="sum"))
    e.keep(e.do("all_reduce", e.do("all_reduce", x, axes=axes, op="sum"), op="sum"))


def rows_over_no_axis(e: Listing) -> None:
    """A ragged exchange over no axis, which is the value that rows would be written into."""
    x, target = e.given((4, 1)), e.given((4, 1))
    found = ragged(e.draw, (4, 1), (4, 1), 1)
    if found is not None:
        e.keep(x, e.do("ragged_all_to_all", x, target, **dict[str, Any](found.attrs)))


def mean_twice(e: Listing) -> None:
    """A mean along one axis and of it along another, and one along all of them at once."""
    axes = [axis.name for axis in e.mesh if axis.size.bit_count() == 1]
    value = e.given((2,))
    if axes:
        e.keep(e.do("all_reduce", value, axes=axes[::-1], op="mean"))
    for axis in reversed(axes):
        value = e.do("all_reduce", value, axes=(axis,), op="mean")
    e.keep(value)


EITHER: Final[tuple[Pattern, ...]] = (
    moved_twice,
    gather_to_invariant,
    summed_twice,
    itself,
    exchanged,
    casts_in_turn,
    in_pairs,
    unused,
    broadcast_again,
    local_sums,
    gathered_twice,
    mean_twice,
    rows,
    over_no_axis,
    rows_over_no_axis,
)
TYPED: Final[tuple[Pattern, ...]] = (
    mean_of_pending,
    pending_times_reduced,
    scatter_of_pending,
    sum_of_pending,
    gather_to_reduced,
)
UNTYPED: Final[tuple[Pattern, ...]] = (uneven, local_axes, mean_twice)


def linear_program(draw: Draw, turn: int) -> TypedProgram:
    """Return the program of a turn: one of three has no types."""
    checked = turn % 3 != 2
    e = Listing(draw, checked=checked)
    own = TYPED if checked else UNTYPED
    first = 2 * (turn if checked else turn // 3)
    for number in range(first, first + 2):
        own[number % len(own)](e)
    for number in range(turn * 2, turn * 2 + TOGETHER - 2):
        EITHER[number % len(EITHER)](e)
    return e.program()
