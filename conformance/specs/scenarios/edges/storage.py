"""Calls on storage that is written between them, under another name, in part, or by another collective."""

from __future__ import annotations

from typing import Any, Final

from conformance.cases.tensor.dtypes import kind
from conformance.reference.operations import TABLE
from conformance.specs.scenarios.edges.calls import ways
from conformance.specs.scenarios.edges.contents import counted, square
from conformance.specs.scenarios.edges.listing import Edge, Pattern


def way(e: Edge, more: int = 0) -> dict[str, Any]:
    """Return the attributes of a call, others each turn."""
    listed = ways(e)
    return listed[(e.turn + more) % len(listed)]


def often(e: Edge) -> dict[str, Any]:
    """Return the attributes of a call that may be made on its own result again and again: floats are not added."""
    listed = [each for each in ways(e) if each.get("op") != "sum" or kind(e.dtype) != "float"]
    return listed[e.turn % len(listed)]


def write(e: Edge, held: str, number: int) -> None:
    """Write to storage: whole, in part by a view, by a collective, or one element of it."""
    rows, columns = e.shapes[held][0]
    how = number % 5
    begin, left = {1: (rows // 2, 0), 3: (rows - 1, columns - 1)}.get(how, (0, 0))
    if how < 4:
        shape = (rows - begin, columns - left)
        other = e.input(counted(e.dtype, shape, rank, 7 + number) for rank in range(e.world))
    if how == 2:
        e.call(other, by="broadcast", root=e.size - 1, into=(held,))
    elif how < 4:
        part = e.view(held, range(begin, rows), range(left, columns)) if how else held
        e.assign(part, other)
    else:
        e.assign(e.view(held, range(rows - 1, -1, -1)), held)


def written_between(e: Edge) -> None:
    """Call on a buffer, write to it, and call again; what comes of the second call only a third step reads."""
    attrs, held = way(e), e.buffer(e.input(square(e)))
    e.give(e.one(held, **attrs))
    for number in range(2):
        write(e, held, e.turn + number)
        result = e.one(held, **attrs)
        e.copy(result) if _everywhere(e) else e.give(result)
    e.give(e.one(held, **attrs))


def contents_alike(e: Edge) -> None:
    """Call on two buffers of one input, of which one is written between, and on the input itself."""
    attrs, x = way(e), e.input(square(e), layout="contiguous")
    one, two = e.buffer(x), e.buffer(x)
    e.give(e.one(one, **attrs), e.one(two, **attrs))
    write(e, one, e.turn)
    e.give(e.one(two, **attrs), e.one(one, **attrs), e.one(x, **attrs))


def views_alike(e: Edge) -> None:
    """Call on views of one buffer that have the same shape: overlapping, stepped, turned and with other axes."""
    attrs, rows = way(e), 2 * e.size
    held = e.buffer(e.input(square(e, rows=5)))
    first = e.turn % 3
    views = [
        e.view(held, range(first, first + rows)),
        e.view(held, range(first, first + 2 * rows, 2)),
        e.view(held, range(rows - 1 + first, first - 1, -1)) if first else e.view(held, range(rows, 0, -1)),
        e.view(e.view(held, range(1, rows + 2)), range(1, rows + 1)),
    ]
    e.give(*(e.one(view, **attrs) for view in views), *e.call(*views[:2], **attrs))
    write(e, held, e.turn + 1)
    e.give(e.one(views[1], **attrs), e.one(views[2], **attrs))


def in_place(e: Edge) -> None:
    """Do it three times into its own operand, or into one target, of which copies are made between."""
    attrs, held = often(e), e.buffer(e.input(square(e)))
    result, same = _into(e, held, attrs)
    e.copy(result)
    for number in range(2):
        if not same:
            e.assign(held, e.input(square(e, more=3 + number)))
        e.give(e.one(held, into=(result,), **attrs))
        e.copy(result)
    if same:
        e.give(e.one(held, **attrs))


def over_itself_turned(e: Edge) -> None:
    """Write what comes of a view the other way round, one row further, or stepped, over the buffer itself."""
    attrs, held = way(e), e.buffer(e.input(square(e, rows=3)))
    rows = 2 * e.size
    over = {
        0: (range(rows - 1, -1, -1), range(rows)),
        1: (range(rows), range(1, rows + 1)),
        2: (range(1, rows + 1), range(rows)),
    }[e.turn % 3]
    operand, target = (e.view(held, each) for each in over)
    if not _same(e, operand, attrs):
        part = e.view(held, range(rows, rows + 1))
        e.give(e.one(operand, **attrs))
        e.assign(part, e.input(block[:1] for block in square(e, more=1)))
        e.give(e.one(operand, **attrs))
        return
    e.give(e.one(operand, into=(target,), **attrs))
    e.give(e.one(target, into=(operand,), **attrs))


def into_each_other(e: Edge) -> None:
    """Write two results of one call into the operands of each other, and do it again."""
    attrs = way(e)
    one, two = (e.buffer(e.input(square(e, more=number))) for number in range(2))
    if not _same(e, one, attrs):
        e.give(*e.call(one, two, one, **attrs))
        write(e, one, e.turn)
        e.give(*e.call(two, one, two, **attrs))
        return
    for _ in range(2):
        e.give(*e.call(one, two, into=(two, one), **attrs))
        e.copy(one)


def freed_and_made(e: Edge) -> None:
    """Free a buffer whose result lives on, and use another of its size, and of its contents, in its place."""
    attrs, x, z = way(e), e.input(square(e)), e.input(square(e, more=4))
    for source in (x, z, x):
        held = e.buffer(source)
        e.give(e.one(held, **attrs))
        e.free(held)
    held = e.buffer(z)
    e.give(e.one(held, **attrs))


def result_written(e: Edge) -> None:
    """Write what a call gave back into its operand, and call again: the first result stays what it was."""
    attrs, held = often(e), e.buffer(e.input(square(e)))
    first = e.one(held, **attrs)
    e.give(first)
    if _like(e, first, held) and _everywhere(e):
        e.assign(held, first)
    else:
        write(e, held, e.turn)
    second = e.one(held, **attrs)
    e.give(second)
    write(e, held, e.turn + 2)
    e.give(e.one(held, **attrs))


STORED: Final[tuple[Pattern, ...]] = (
    written_between, in_place, views_alike, contents_alike, over_itself_turned, result_written, freed_and_made,
    into_each_other,
)  # fmt: skip
"""What every operation on one block has with storage."""


def _everywhere(e: Edge) -> bool:
    return TABLE[e.op].writers == "all"


def _like(e: Edge, name: str, other: str) -> bool:
    return (e.shapes[name], e.dtypes[name]) == (e.shapes[other], e.dtypes[other])


def _same(e: Edge, operand: str, attrs: dict[str, Any]) -> bool:
    """Return whether what comes of an operand is like it."""
    return e.result(operand, attrs) == (e.shapes[operand], e.dtypes[operand])


def _into(e: Edge, held: str, attrs: dict[str, Any]) -> tuple[str, bool]:
    """Call into the operand where the result is like it, else into a buffer; return that, and which it was."""
    if _same(e, held, attrs):
        e.give(e.one(held, into=(held,), **attrs))
        return held, True
    target = e.target(held, attrs)
    e.give(e.one(held, into=(target,), **attrs))
    return target, False
