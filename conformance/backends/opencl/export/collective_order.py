"""How the devices really meet: which items make one collective, and in which order each device comes to them.

A schedule keeps the items of a collective in a row, so that all come in one order. Nothing here takes that for granted:
what is told is the order of the items as they are enqueued, whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conformance.backends.opencl.lower import Lowered, Turn
from conformance.backends.opencl.schedule.item import Item
from conformance.backends.opencl.schedule.legal_orders import turn_of


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
    """Return for each group of each collective the number it has, for each member, among all the member came to.

    A device comes to a collective by the first item of it on its own queue; where it has none, by the first that uses
    its memory, and where none does either, when the first of the others comes.
    """
    began: dict[Turn, int] = {}
    used: dict[tuple[Turn, int], int] = {}
    own: dict[tuple[Turn, int], int] = {}
    for number, item in enumerate(items):
        turn = turn_of(item, lowered.turns)
        if turn is not None:
            began.setdefault(turn, number)
            own.setdefault((turn, item.device), number)
            for access in item.accesses:
                used.setdefault((turn, access.node.device), number)

    def came(turn: Turn, rank: int) -> int:
        return own.get((turn, rank), used.get((turn, rank), began[turn]))

    members = {turn: lowered.collectives[turn.collective].groups[turn.group] for turn in began}
    return {
        turn: tuple(
            sum(rank in members[other] and came(other, rank) <= came(turn, rank) for other in began) for rank in group
        )
        for turn, group in members.items()
    }
