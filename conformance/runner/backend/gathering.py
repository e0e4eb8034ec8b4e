"""Cases that wait for company, from a window of the order in which they are offered, so that prefixes stay good."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from conformance.backends.protocol import Kind
from conformance.runner.dialect import CompanyOf

T = TypeVar("T")

WINDOW: Final = 128
"""Offers that a case waits for company at most: twice the largest company of our backends."""

MOST_BYTES: Final = 1 << 18
"""Bytes of values in one company: twice that in hexadecimal digits, of 64 MiB that a line may have."""

ONE: Final = MOST_BYTES >> 3
"""Bytes of values above which a case is asked about alone: there is more to compute than to compile."""

HELD: Final = 1 << 20
"""Bytes of values that wait at most, a quarter of what may be open (``runner.offering``)."""

ENOUGH: Final = 8
"""Cases that are sent to a backend with nothing to do: JAX takes 25 ms of processor time a case then, alone 36."""

PATIENCE: Final = WINDOW // 4
"""Offers that a case waits for company at most while the backend has nothing to do."""


@dataclass
class Group(Generic[T]):
    """Cases that may be asked about together, each with the bytes of its values.

    ``since`` is the number of the offer of the first of them.
    """

    since: int
    items: list[tuple[T, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Return the bytes of the values of all."""
        return sum(size for _, size in self.items)


class Gathering(Generic[T]):
    """Cases that wait, by what they share."""

    def __init__(self, most: Mapping[Kind, int]) -> None:
        """Gather as many of each kind as ``most`` says."""
        self._most = most
        self._groups: dict[tuple[Kind, Hashable], Group[T]] = {}
        self._offers = 0

    @property
    def gathers(self) -> bool:
        """Return whether any case is asked about in company."""
        return bool(self._most)

    @property
    def waiting(self) -> int:
        """Return how many cases wait."""
        return sum(len(group.items) for group in self._groups.values())

    def takes(self, of: CompanyOf | None) -> bool:
        """Return whether a case may be asked about in company."""
        return of is not None and of.size <= ONE and self._most.get(of.kind, 0) > 1

    def add(self, of: CompanyOf, item: T) -> Iterator[list[T]]:
        """Have a case wait; yield the companies that are not to wait any longer."""
        self._offers += 1
        key = of.kind, of.devices
        if key in self._groups and self._groups[key].size + of.size > MOST_BYTES:
            yield self._sent(key)
        group = self._groups.setdefault(key, Group(self._offers))
        group.items.append((item, of.size))
        if len(group.items) >= self._most[of.kind]:
            yield self._sent(key)
        for old in [key for key, one in self._groups.items() if self._offers - one.since >= WINDOW]:
            yield self._sent(old)
        while sum(one.size for one in self._groups.values()) > HELD:
            yield self._sent(max(self._groups, key=lambda key: self._groups[key].size))

    def idle(self) -> Iterator[list[T]]:
        """Yield the company that a backend with nothing to do is asked about, if one is worth it by now."""
        if not self._groups:
            return
        largest = max(self._groups, key=lambda key: len(self._groups[key].items))
        oldest = min(self._groups, key=lambda key: self._groups[key].since)
        if len(self._groups[largest].items) >= ENOUGH:
            yield self._sent(largest)
        elif self._offers - self._groups[oldest].since >= PATIENCE:
            yield self._sent(oldest)

    def all(self) -> Iterator[list[T]]:
        """Yield all that wait: nothing more is offered."""
        for key in list(self._groups):
            yield self._sent(key)

    def withdraw(self, given_up: Callable[[T], bool]) -> list[T]:
        """Give up some of the cases that wait, and return them."""
        left: list[T] = []
        for group in self._groups.values():
            left += [item for item, _ in group.items if given_up(item)]
            group.items = [each for each in group.items if not given_up(each[0])]
        self._groups = {key: group for key, group in self._groups.items() if group.items}
        return left

    def _sent(self, key: tuple[Kind, Hashable]) -> list[T]:
        return [item for item, _ in self._groups.pop(key).items]
