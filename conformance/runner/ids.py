"""A set of case ids that takes some twenty bytes for each, of many in a file, so that a run of a million cases fits."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from typing import Final, Protocol

from conformance.runner.nameless_file import nameless_file

FULLEST: Final = 0.75
"""Share of the places that may be taken: a search then looks at 2.5 of them on average where the id is there."""

HELD: Final = 1 << 16
"""Places in memory, at most: half a megabyte. What comes beyond them lies in a file, in which a search takes 5 us."""

LOOKED: Final = 8
"""Places of the file that are looked at together."""

CHUNK: Final = 1 << 13
"""The same where all are read or written."""


class Ids:
    """Ids that were added, as 64 bits of a digest: of a million, two are taken for one in one run of 37 million."""

    def __init__(self, held: int = HELD) -> None:
        """Start empty; so many places at most are in memory, unless there is no room for a file."""
        self._places: _Places = _Held(64)
        self._count = 0
        self._most_held = held

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def __contains__(self, name: str) -> bool:
        """Return whether ``name`` was added."""
        _, there = self._places.find(_number(name))
        return there

    def add(self, name: str) -> bool:
        """Add ``name``; return whether it was not there before."""
        number = _number(name)
        at, there = self._places.find(number)
        if there:
            return False
        self._places.put(at, number)
        self._count += 1
        if self._count > FULLEST * len(self._places):
            self._grow()
        return True

    def _grow(self) -> None:
        old = self._places
        self._places = _places(3 * len(old) // 2, self._most_held)
        for number in old:
            self._places.put(self._places.find(number)[0], number)


class _Places(Protocol):
    """A table of numbers, each at the first free place from the one that it says; 0 is none."""

    def __len__(self) -> int:
        """Return how many places there are."""

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers."""

    def find(self, number: int) -> tuple[int, bool]:
        """Return the place of a number and that it is there, or the one that is free for it."""

    def put(self, at: int, number: int) -> None:
        """Take a place."""


class _Held:
    """Places in memory."""

    def __init__(self, count: int) -> None:
        self._places = array("Q", bytes(8 * count))

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[int]:
        return filter(None, self._places)

    def find(self, number: int) -> tuple[int, bool]:
        places = self._places
        at, last = number % len(places), len(places) - 1
        while places[at] and places[at] != number:
            at = at + 1 if at < last else 0
        return at, places[at] != 0

    def put(self, at: int, number: int) -> None:
        self._places[at] = number


class _Filed:
    """Places in a file without a name; ``OSError`` is raised where there is no room for it."""

    def __init__(self, count: int) -> None:
        self._count, self._file = count, nameless_file(self)
        for at in range(0, count, CHUNK):
            free = bytes(8 * min(CHUNK, count - at))
            if self._file.write(free) != len(free):
                raise OSError("a full disk")

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        for at in range(0, self._count, CHUNK):
            yield from filter(None, self._read(at, CHUNK))

    def find(self, number: int) -> tuple[int, bool]:
        at = number % self._count
        while True:
            for place in self._read(at, LOOKED):
                if place in (0, number):
                    return at, place != 0
                at += 1
            at %= self._count

    def put(self, at: int, number: int) -> None:
        self._file.seek(8 * at)
        self._file.write(array("Q", (number,)))

    def _read(self, at: int, many: int) -> array[int]:
        self._file.seek(8 * at)
        return array("Q", self._file.read(8 * many))


def _places(count: int, held: int) -> _Places:
    if count > held:
        try:
            return _Filed(count)
        except OSError:
            pass
    return _Held(count)


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") or 1
