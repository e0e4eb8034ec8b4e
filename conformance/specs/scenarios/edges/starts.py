"""Calls under way at once, finished in other orders than they were started in, with storage used again between."""

from __future__ import annotations

from typing import Final

from conformance.specs.scenarios.edges.calls import ways
from conformance.specs.scenarios.edges.contents import square
from conformance.specs.scenarios.edges.listing import Edge, Pattern
from conformance.specs.scenarios.edges.storage import often, way, write


def other_order(e: Edge) -> None:
    """Start on one buffer again and again, written between, and finish the last first and the first last."""
    held, tickets = e.buffer(e.input(square(e))), []
    for number in range(3):
        tickets.append(e.one(held, start=True, **way(e, number % 2)))
        write(e, held, e.turn + number)
    order = ((2, 0, 1), (1, 2, 0), (2, 1, 0), (0, 2, 1))[e.turn % 4]
    for at in order:
        e.done(tickets[at])
    e.give(e.one(held, **way(e)))


def same_twice(e: Edge) -> None:
    """Start the same call on the same operand twice, with and without a write between, and finish the second alone."""
    held, attrs = e.buffer(e.input(square(e))), way(e)
    first, second = e.one(held, start=True, **attrs), e.one(held, start=True, **attrs)
    write(e, held, e.turn)
    third = e.one(held, start=True, **attrs)
    e.give(e.one(held, **attrs))
    e.done(third)
    e.done(*(second, first)[: 1 + e.turn % 2])


def freed_under_way(e: Edge) -> None:
    """Free operands while they are read, and fill new buffers of their size; finish in another order."""
    tickets, attrs = [], way(e)
    for number in range(3):
        held = e.buffer(e.input(square(e, more=number)))
        tickets.append(e.one(held, start=True, **attrs))
        e.free(held)
    e.buffer(e.input(square(e, more=9)))
    for ticket in tickets[::-1] if e.turn % 2 else (*tickets[1:], tickets[0]):
        e.done(ticket)


def into_parts(e: Edge) -> None:
    """Start into several targets, write to operands meanwhile, and finish in another order, copying between."""
    attrs, held = way(e), e.buffer(e.input(square(e)))
    targets = [e.target(held, attrs) for _ in range(3)]
    tickets = []
    for number, target in enumerate(targets):
        tickets.append(e.one(held, start=True, into=(target,), **attrs))
        write(e, held, e.turn + number)
    for at in (1, 0, 2):
        e.done(tickets[at])
        e.copy(targets[at])
    e.give(e.one(held, into=(targets[1],), **attrs))


def one_after_another(e: Edge) -> None:
    """Start on what the one before it writes, two of them over one target, and finish the last alone."""
    attrs, held = often(e), e.buffer(e.input(square(e)))
    if e.result(held, attrs) == (e.shapes[held], e.dtypes[held]):
        for _ in range(2):
            e.one(held, start=True, into=(held,), **attrs)
        e.done(e.one(held, start=True, **attrs))
        return
    target = e.target(held, attrs)
    e.one(held, start=True, into=(target,), **attrs)
    write(e, held, e.turn)
    e.done(e.one(held, start=True, into=(target,), **attrs))
    e.copy(target)


def several_at_once(e: Edge) -> None:
    """Start operands of one call together, write each, any of them first, and finish them one by one and again."""
    attrs = way(e)
    held = [e.buffer(e.input(square(e, more=number))) for number in range(3)]
    tickets = e.call(*held, start=True, **attrs)
    for number in range(3):  # whoever waits for the first that is written has waited for all
        write(e, held[(e.turn + number) % 3], e.turn + number)
    e.done(tickets[1])
    e.done(tickets[2], tickets[0])
    e.give(*e.call(*held[::-1], **attrs))


def every_way_at_once(e: Edge) -> None:
    """Start a call on one operand in every way, and finish in order and the other way round."""
    x, listed = e.input(square(e)), ways(e)
    tickets = [e.one(x, start=True, **listed[(e.turn + at) % len(listed)]) for at in range(min(4, len(listed)))]
    e.give(e.one(x, **listed[e.turn % len(listed)]))
    e.done(*tickets[::-1])


STARTED: Final[tuple[Pattern, ...]] = (
    other_order, same_twice, into_parts, freed_under_way, one_after_another, several_at_once, every_way_at_once,
)  # fmt: skip
"""What every operation on one block has under way."""
