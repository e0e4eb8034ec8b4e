"""A set of case ids that takes some twenty bytes for each, so that a run of a million cases fits."""

from __future__ import annotations

import hashlib
from array import array
from typing import Final

FULLEST: Final = 0.75
"""Share of the places that may be taken: a search then looks at 2.5 of them on average where the id is there."""


class Ids:
    """Ids that were added, as 64 bits of a digest: of a million, two are taken for one in one run of 37 million."""

    def __init__(self) -> None:
        """Start empty."""
        self._places = array("Q", bytes(8 * 64))
        self._count = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def __contains__(self, name: str) -> bool:
        """Return whether ``name`` was added."""
        return self._places[self._find(_number(name))] != 0

    def add(self, name: str) -> bool:
        """Add ``name``; return whether it was not there before."""
        number = _number(name)
        at = self._find(number)
        if self._places[at]:
            return False
        self._places[at] = number
        self._count += 1
        if self._count > FULLEST * len(self._places):
            self._grow()
        return True

    def _find(self, number: int) -> int:
        """Return the place that has the number, or the one that is free for it."""
        places = self._places
        at, last = number % len(places), len(places) - 1
        while places[at] and places[at] != number:
            at = at + 1 if at < last else 0
        return at

    def _grow(self) -> None:
        old = self._places
        self._places = array("Q", bytes(8 * (3 * len(old) // 2)))
        for number in old:
            if number:
                self._places[self._find(number)] = number


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") or 1
