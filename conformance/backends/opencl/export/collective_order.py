"""How the devices really meet: which items make one collective, and in which order each device comes to them.

A schedule keeps the items of a collective in a row, so that all come in one order. Nothing here takes that for granted:
what is told is the order of the items as they are enqueued, whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conformance.backends.opencl.lower import Lowered, Turn
from conformance.backends.opencl.schedule.item import Item
from conformance.backends.opencl.schedule.legal_orders import turn_of

Call = tuple[int, int]
"""The number of a call and of a group that meets in it."""


def rows(
    items: Sequence[Item], after: Sequence[Iterable[int]], lowered: Lowered
) -> list[tuple[Turn | None, list[int]]]:
    """Return the items by number, those of one group of one collective together, and all after what they come after.

    They are in order where those of a collective are in a row already. ``after`` says what each item comes after.
    """
    keys: list[tuple[int, ...]] = [turn_of(item, lowered.turns) or (number,) for number, item in enumerate(items)]
    parts: dict[tuple[int, ...], list[int]] = {}
    for number, key in enumerate(keys):
        parts.setdefault(key, []).append(number)
    found: dict[tuple[int, ...], None] = {}

    def take(key: tuple[int, ...]) -> None:
        if key not in found:
            for earlier in sorted({keys[each] for number in parts[key] for each in after[number]} - {key}):
                take(earlier)
            found[key] = None

    for key in parts:
        take(key)
    return [(key if isinstance(key, Turn) else None, parts[key]) for key in found]


def entered(items: Sequence[Item], lowered: Lowered) -> dict[Turn, tuple[int, ...]]:
    """Return for each group of each collective the number that its call has, for each member, of all it came to.

    A device comes to a call by the first item of it on its own queue; where it has none, by the first that uses
    its memory, and where none does either, when the first of the others comes.
    """
    began: dict[Call, int] = {}
    used: dict[tuple[Call, int], int] = {}
    own: dict[tuple[Call, int], int] = {}
    members: dict[Call, tuple[int, ...]] = {}
    turns: dict[Turn, None] = {}
    for number, item in enumerate(items):
        turn = turn_of(item, lowered.turns)
        if turn is not None:
            turns[turn] = None
            call = turn[:2]
            members[call] = lowered.members[turn]
            began.setdefault(call, number)
            own.setdefault((call, item.device), number)
            for access in item.accesses:
                used.setdefault((call, access.node.device), number)

    def came(call: Call, rank: int) -> int:
        return own.get((call, rank), used.get((call, rank), began[call]))

    found = {
        call: tuple(
            sum(rank in members[other] and came(other, rank) <= came(call, rank) for other in began) for rank in group
        )
        for call, group in members.items()
    }
    return {turn: found[turn[:2]] for turn in turns}
