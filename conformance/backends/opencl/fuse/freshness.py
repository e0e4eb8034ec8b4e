"""Which writes a value is made after, and before which it has to be made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final

from conformance.backends.opencl.graph.rounds import Assign
from conformance.backends.opencl.graph.value import GraphValue

NEVER: Final = 1 << 62
"""The number of a write that never comes."""

MOST_READERS: Final = 512
"""Values made of a storage up to which it is found out when the next write to it may run."""


class Freshness:
    """The writes around each value, by their numbers; -1 is before all of them."""

    def __init__(
        self,
        order: Sequence[GraphValue],
        assigns: Sequence[Assign],
        replaced: Mapping[tuple[str, int], int],
        stored: Collection[GraphValue],
        kept: Collection[GraphValue],
    ) -> None:
        """Look at the values, given from the last to the first."""
        self._order = order
        self._by_version = {(each.buffer, each.version): each.number for each in assigns}
        self._assigned: dict[GraphValue, list[Assign]] = {}
        for each in assigns:
            self._assigned.setdefault(each.value, []).append(each)
        self._last: dict[int, int] = {}
        self.after: dict[GraphValue, int] = {}
        self.until: dict[GraphValue, int] = {}
        for value in reversed(order):
            if value in kept:
                self.after[value], self.until[value] = -1, NEVER
            elif value.op == "load":
                self.after[value] = self._by_version.get(value.arg, -1)
                self.until[value] = replaced.get(value.arg, NEVER)
            else:
                # What has no elements is not in the order, and nothing is read of it.
                read = [each for each in value.of if each.size]
                self.after[value] = max((self.after[each] for each in read), default=-1)
                # What a collective gives is stored, as what is ``stored`` is.
                kept_on = (each in stored or each.op == "received" for each in read)
                lasting = (NEVER if own else self.until[each] for own, each in zip(kept_on, read, strict=True))
                self.until[value] = min(lasting, default=NEVER)

    def stale(self, value: GraphValue, home: GraphValue, assign: Assign | None) -> bool:
        """Return whether the kernel of ``home`` may run only when what ``value`` is made of has been overwritten."""
        if self.until[value] <= self.after[home]:
            return True
        return assign is not None and self.until[value] < assign.number and self.until[value] <= self._behind(assign)

    def _behind(self, assign: Assign) -> int:
        """Return the last write behind which an assign has to be done: it may be done before others that precede it.

        It comes after the write before it, what its value is made after, and all that reads what it overwrites. What
        writes other storages meanwhile may wait for it, unless it reads what the assign overwrites and is behind it.
        """
        found = self._last.get(assign.number)
        if found is None:
            found = self._last[assign.number] = self._found_behind(assign)
        return found

    def _found_behind(self, assign: Assign) -> int:
        before = assign.buffer, assign.version - 1
        readers = self._made_of(before)
        if readers is None:
            return assign.number - 1
        others = [each.number for value in readers for each in self._assigned.get(value, ()) if each is not assign]
        if any(number > assign.number for number in others):
            # A later one that reads what was there before has to be done earlier: then all keep their turns.
            return assign.number - 1
        made = [self.after[value] for value in readers if self.after[value] < assign.number]
        return max([self.after[assign.value], self._by_version.get(before, -1), *others, *made])

    def _made_of(self, version: tuple[str, int]) -> set[GraphValue] | None:
        """Return the values that are made of a version of a buffer; ``None`` where they are many."""
        found: set[GraphValue] = set()
        stack = list(self._users.get(version, ()))
        while stack:
            value = stack.pop()
            if value not in found:
                found.add(value)
                stack.extend(self._users.get(value, ()))
            if len(found) > MOST_READERS:
                return None
        return found

    @cached_property
    def _users(self) -> dict[GraphValue | tuple[str, int], list[GraphValue]]:
        """Return what takes each value, and the loads of each version of a buffer."""
        found: dict[GraphValue | tuple[str, int], list[GraphValue]] = {}
        for value in self._order:
            for each in (value.arg,) if value.op == "load" else value.of:
                found.setdefault(each, []).append(value)
        return found
