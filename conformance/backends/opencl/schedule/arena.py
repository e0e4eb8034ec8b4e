"""Where values lie in arenas: bytes of one serve again as soon as nobody needs it any more."""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple


class Life(NamedTuple):
    """A value of ``size`` bytes, one at least, in use from the item numbered ``first`` to the one numbered ``last``."""

    size: int
    first: int
    last: int


class Spot(NamedTuple):
    """Bytes from ``offset`` on of the arena of that number."""

    arena: int
    offset: int


Gap = tuple[int, int]
"""The bytes between two values: the first, and the one after the last."""


class _Arena:
    """An arena as it is filled: what is free below its ``top``, in order, and the bytes that it needs."""

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self.top = self.size = 0

    def end(self) -> int:
        """Return from where on everything is free."""
        return self.gaps[-1][0] if self.gaps and self.gaps[-1][1] == self.top else self.top

    def take(self, start: int, room: int) -> None:
        """Take ``room`` bytes that are free, those above the top among them."""
        if start + room > self.top:
            if start < self.top:
                self.gaps.pop()
            self.top = start + room
            return
        number = next(number for number, (first, stop) in enumerate(self.gaps) if first <= start < stop)
        first, stop = self.gaps.pop(number)
        parts = [gap for gap in ((first, start), (start + room, stop)) if gap[0] < gap[1]]
        self.gaps[number:number] = parts

    def give_back(self, gap: Gap) -> None:
        """Make bytes free, one gap with what is free beside them."""
        insort(self.gaps, gap)
        number = self.gaps.index(gap)
        for left in (number, number - 1):
            if 0 <= left < len(self.gaps) - 1 and self.gaps[left][1] == self.gaps[left + 1][0]:
                self.gaps[left : left + 2] = [(self.gaps[left][0], self.gaps[left + 1][1])]


def laid(lives: Sequence[Life], alignment: int, most: int) -> tuple[tuple[Spot, ...], tuple[int, ...]]:
    """Return where each value lies, and the bytes of each arena: as few arenas as ``most`` bytes for each allow.

    Values whose lives share an item share no byte. A value takes the smallest gap that holds it, else the end of an
    arena, of those that begin together the largest first; it begins at a multiple of ``alignment`` bytes. What is
    larger than ``most`` has an arena of its own. An arena is no larger than its values side by side.
    """
    spots: dict[int, Spot] = {}
    arenas: list[_Arena] = []
    alive: list[tuple[int, int]] = []
    for number in sorted(range(len(lives)), key=lambda each: (lives[each].first, -lives[each].size, each)):
        life, room = lives[number], _up(lives[number].size, alignment)
        while alive and alive[0][0] < life.first:
            done = heapq.heappop(alive)[1]
            spot = spots[done]
            arenas[spot.arena].give_back((spot.offset, spot.offset + _up(lives[done].size, alignment)))
        spot = spots[number] = _spot(arenas, life.size, room, most)
        arena = arenas[spot.arena]
        arena.take(spot.offset, room)
        heapq.heappush(alive, (life.last, number))
        arena.size = max(arena.size, spot.offset + life.size)
    return tuple(spots[number] for number in range(len(lives))), tuple(arena.size for arena in arenas)


def _spot(arenas: list[_Arena], size: int, room: int, most: int) -> Spot:
    fitting = [
        (stop - start, number, start)
        for number, arena in enumerate(arenas)
        for start, stop in arena.gaps
        # What a value's last bytes are rounded up to is free with it, and may lie behind the most that there may be.
        if stop - start >= room and start + size <= max(most, arena.size)
    ]
    if fitting:
        _, number, start = min(fitting)
        return Spot(number, start)
    for number, arena in enumerate(arenas):
        if arena.end() + size <= most:
            return Spot(number, arena.end())
    arenas.append(_Arena())
    return Spot(len(arenas) - 1, 0)


def _up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
