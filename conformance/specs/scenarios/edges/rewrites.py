"""Calls that compilers rewrite: the same one twice, nearly the same one, and one of what another gave.

Each pattern returns some of its results; what lies between is read by other steps alone, so that a rewrite may leave it
out where it thinks that it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import kind
from conformance.reference.operations import TABLE
from conformance.specs.scenarios.edges.calls import ways
from conformance.specs.scenarios.edges.contents import counted, divisible, square
from conformance.specs.scenarios.edges.listing import Edge, Pattern, Place

SUMS: Final = 2
"""Sums of sums of floats, at most: those of eight members twice are below 257, and bfloat16 has all these integers."""


def every_way(e: Edge) -> None:
    """Call the operation on one operand in every way that differs in one attribute, a few in each program."""
    x, listed = e.input(square(e)), ways(e)
    at = e.turn * 5
    for number in range(min(7, len(listed))):
        e.give(e.one(x, **listed[(at + number) % len(listed)]))


def twice(e: Edge) -> None:
    """Call on an operand, on it again, on its equal, and on what differs in the last element of the last rank."""
    attrs, blocks = _way(e), square(e)
    x, equal = e.input(blocks), e.input(blocks)
    other = [block.copy() for block in blocks]
    other[-1][-1, -1] = blocks[-1][0, 0] if blocks[-1][-1, -1] != blocks[-1][0, 0] else blocks[0][-1, -1]
    z = e.input(other)
    first, second = e.one(x, **attrs), e.one(x, **attrs)
    e.give(first, _handed(e, second), e.one(z, **attrs), *e.call(x, equal, z, **attrs), e.one(x, **attrs))


def of_its_result(e: Edge) -> None:
    """Call on what the same call gave, again and again where that fits, and return the last alone."""
    listed = ways(e)
    for number in range(3):
        name, attrs = e.input(divisible(e, number)), listed[(e.turn + number) % len(listed)]
        _chain(e, name, [(e.op, attrs, e.place)] * 3, handed=bool(number % 2))
    _last(e)


def other_way_of_its_result(e: Edge) -> None:
    """Call on what the operation gave in another way: another root, axis, reduction or order, and the first again."""
    listed = ways(e)
    for number in range(3):
        at = e.turn + number
        calls = [listed[(at + step * (1 + at % 3)) % len(listed)] for step in (0, 1, 0)]
        _chain(e, e.input(divisible(e, number)), [(e.op, attrs, e.place) for attrs in calls], handed=bool(number % 2))
    _last(e)


def elsewhere(e: Edge) -> None:
    """Call on one operand over other axes and other groups of the same mesh, and on what that gave elsewhere.

    What the calls give is a result, or is read by another step alone.
    """
    x, attrs, places = e.input(divisible(e)), _way(e), _places_beside(e)
    for number, place in enumerate(places):
        _chain(e, x, [(e.op, attrs, place)], handed=number % 2 == 0)
        _chain(e, x, [(e.op, attrs, place), (e.op, attrs, places[number - 1])], handed=number % 2 == 1)
    _last(e)


def beside(other: str) -> Pattern:
    """Return the pattern of the operation before another one and after it."""

    def pattern(e: Edge) -> None:
        """Call the one on what the other gave: in the plain ways, in others, and over other groups or axes."""
        if e.size != e.most and "equal" in (TABLE[other].groups, TABLE[e.op].groups):
            every_way(e)
            return
        home, places = e.place, _places_beside(e)[1:]
        listed = [(0, 0, home, home), (0, 1, home, home), (1, 0, home, home)]
        listed += [
            (e.turn, e.turn // 2, home, home),
            *((0, 0, place, home) for place in places),
            *((0, 0, home, place) for place in places),
        ]
        for first, then in ((e.op, other), (other, e.op)):
            one, two = ways(e, first), ways(e, then)
            for at, (before, later, here, there) in enumerate(listed):
                calls = [(first, one[before % len(one)], here), (then, two[later % len(two)], there)]
                handed = here != there or bool((at + e.turn) % 2)
                _chain(e, e.input(divisible(e, at)), calls, handed=handed)
        if e.steps[-1].op != e.op:
            _last(e)

    return pattern


def there_and_back(e: Edge) -> None:
    """Undo a call by its inverse, by what is nearly its inverse, and do it as often as there are members."""
    n, listed = e.size, ways(e)
    x = e.input(divisible(e))
    for number in range(min(5, len(listed))):
        attrs = listed[(e.turn * 5 + number) % len(listed)]
        _chain(e, x, [(e.op, attrs, e.place), (e.op, _inverse(e.op, attrs, n), e.place)], handed=number % 2 == 0)
        _chain(e, x, [(e.op, attrs, e.place), (e.op, attrs, e.place)], handed=number % 2 == 1)
    _chain(e, x, [(e.op, listed[0], e.place)] * n, handed=True)
    _last(e)


def sizes(e: Edge) -> None:
    """Call on blocks without elements, of one, and of a few more or less than groups, vectors and chunks have."""
    attrs = ways(e)[0]
    counts = (0, 1, 2, 31, 33, 64, 65, 127, 129, 257, 519)
    for number in range(4):
        count = counts[(e.turn * 4 + number) % len(counts)]
        rows = -(-count // e.size) * e.size if e.op in ("reduce_scatter", "all_to_all", "scatter") else count
        shape = (2 * e.size, count) if e.op == "all_to_all_uneven" else (rows,)
        e.give(e.one(e.input(counted(e.dtype, shape, rank, count) for rank in range(e.world)), **attrs))


def extents(e: Edge) -> None:
    """Call on blocks of three axes and of extents that are alike, of one, and none; along the last axis too."""
    n = e.size
    last = [{**way} for way in ways(e) if way.get("axis") in (-1, None) and way.get("split_axis") in (-1, None)]
    attrs = last[e.turn % len(last)] if last else ways(e)[0]
    rows = 2 * n if e.op == "all_to_all_uneven" else n
    for shape in ((rows, 0, n), (rows, n, n), (rows, 1, n)):
        e.give(e.one(e.input(counted(e.dtype, shape, rank) for rank in range(e.world)), **attrs))


def together(e: Edge) -> None:
    """Give one call operands of several sizes and widths at once, one of them twice, and without elements."""
    attrs = ways(e)[0]
    rows = (2 * e.size, e.size, 0, 3 * e.size)
    rows = (2 * e.size,) * 4 if e.op == "all_to_all_uneven" else rows
    shapes = [(count, *rest) for count, rest in zip(rows, ((3,), (), (2,), ()), strict=True)]
    names = [
        e.input(counted(e.dtype, shape, rank, more) for rank in range(e.world)) for more, shape in enumerate(shapes)
    ]
    e.give(*e.call(*names, names[0], **attrs), *e.call(*names[::-1], **attrs))


VALUES: Final[tuple[Pattern, ...]] = (
    every_way, of_its_result, twice, there_and_back, other_way_of_its_result, elsewhere, sizes, together, extents,
)  # fmt: skip
"""What every operation on one block has."""

BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "all_gather": ("reduce_scatter", "all_reduce", "all_to_all"),
    "all_reduce": ("all_gather", "broadcast", "reduce_scatter"),
    "all_to_all": ("all_gather", "shuffle", "reduce_scatter"),
    "arg_reduce": ("all_reduce",),
    "broadcast": ("all_reduce", "scatter", "shuffle"),
    "gather": ("broadcast", "all_gather"),
    "permute": ("shuffle", "all_reduce", "broadcast"),
    "reduce": ("broadcast", "all_reduce"),
    "reduce_scatter": ("all_gather", "all_reduce", "permute"),
    "scan": ("all_reduce", "permute"),
    "scatter": ("broadcast", "all_gather"),
    "shuffle": ("permute", "all_to_all"),
}
"""For an operation those that compilers join it with, before it and after it."""


def _way(e: Edge) -> dict[str, Any]:
    listed = ways(e)
    return listed[(e.turn * 3) % len(listed)]


def _chain(e: Edge, name: str, calls: list[tuple[str, dict[str, Any], Place]], *, handed: bool) -> None:
    """Make calls on what those before gave, as far as they fit; what the last gave is ``handed`` to a step or a result.

    Of the calls before the last nobody sees what they gave.
    """
    begun, sums = name, 0
    for op, attrs, place in calls:
        sums += attrs.get("op") == "sum" and kind(e.dtype) == "float"
        if sums <= SUMS and e.can(name, op, place, attrs):
            name = e.one(name, by=op, place=place, **attrs)
    if name != begun:
        e.give(_handed(e, name) if handed else name)


def _handed(e: Edge, name: str) -> str:
    """Return what only another step reads, which shows the blocks of all members where it can."""
    made = next((step for step in e.steps if name in step.outputs), None)
    if made is None or TABLE[made.op].writers != "all" or len(set(e.shapes[name])) > 1:
        return name
    how: dict[str, Any] = {"by": "all_gather", "axis": 0, "tiled": False}
    return e.one(name, **(how if e.size == e.most else {"by": "broadcast", "root": 0}))


def _last(e: Edge, name: str = "") -> None:
    """End with a call of the operation, of which the program is a case."""
    e.give(e.one(name or e.input(square(e, more=5)), **ways(e)[0]))


def _places_beside(e: Edge) -> list[Place]:
    """Return places on the same mesh: each of its axes, all in either order, and groups in another order."""
    mesh, axes, groups = e.place
    names = tuple(axis.name for axis in mesh)
    found: list[Place] = [(mesh, axes, groups)]
    if len(names) > 1:
        found += [(mesh, names, None), (mesh, names[::-1], None), *((mesh, (name,), None) for name in names)]
    elif groups is not None:
        turned: Groups = tuple(group[1:] + group[:1] for group in groups)
        found += [(mesh, axes, groups[::-1]), (mesh, axes, turned), (mesh, axes, None)]
    else:
        order = tuple(range(mesh[0].size))
        found += [(mesh, axes, (order[::-1],)), (mesh, axes, (order[1:] + order[:1],))]
        if len(order) % 2 == 0:
            found += [
                (mesh, axes, (order[::2], order[1::2])),
                (mesh, axes, tuple(zip(order[::2], order[1::2], strict=True))),
            ]
    return found


def _inverse(op: str, attrs: dict[str, Any], n: int) -> dict[str, Any]:
    """Return the attributes of a call that moves back what a call with ``attrs`` moved; these where there is none."""
    if op == "permute":
        return {"pairs": tuple((q, p) for p, q in attrs["pairs"])}
    if op == "shuffle":
        return {"sources": tuple(attrs["sources"].index(p) for p in range(n))}
    if op == "all_to_all":
        return {**attrs, "split_axis": attrs["concat_axis"], "concat_axis": attrs["split_axis"]}
    return attrs
