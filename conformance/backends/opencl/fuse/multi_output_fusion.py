"""Kernels that store several values: what goes over the same points is computed together where that saves reading.

A value that another needs point by point is stored by the kernel of that other one, and values that read the same
storage are stored by one kernel, unless something between them needs a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from conformance.backends.opencl.fuse.freshness import Freshness
from conformance.backends.opencl.fuse.partition import At, Home, Partition
from conformance.backends.opencl.graph.index_map import identity
from conformance.backends.opencl.graph.value import GraphValue
from conformance.backends.opencl.settings import Settings

MOST_HOMES: Final = 512
"""Kernels of a graph up to which such are looked for: what is compared is every pair."""


def merged(found: Partition, fresh: Freshness, settings: Settings) -> dict[GraphValue, GraphValue]:
    """Return for values the later one in whose kernel they are to be stored."""
    if not settings.merge or len(found.homes) > MOST_HOMES:
        return {}
    homes = [home for home in found.homes if home.assign is None]
    group = {home.value: {home.value} for home in homes}
    by_value = {home.value: home for home in homes}
    below = _needed(found)
    together: dict[GraphValue, GraphValue] = {}
    homes.sort(key=lambda home: -home.value.number)
    for place, later in enumerate(homes):
        if later.value in together:
            continue
        for earlier in homes[place + 1 :]:
            if earlier.value in together or not _alike(later, earlier, fresh):
                continue
            members = [by_value[each] for each in group[later.value]]
            if not any(_saves(one, earlier) for one in members) or not _fits(members, earlier, settings):
                continue
            if _between(group[later.value], earlier.value, below) or not all(_in_step(one, earlier) for one in members):
                continue
            group[later.value].add(earlier.value)
            together[earlier.value] = later.value
            _joined(group[later.value], below)
    return together


def _alike(one: Home, other: Home, fresh: Freshness) -> bool:
    """Return whether two kernels go over the same points, before and after the same writes."""
    return (
        one.value.device == other.value.device
        and one.value.shape == other.value.shape
        and fresh.after[one.value] == fresh.after[other.value]
        and (not one.inner or not other.inner or set(one.inner) == set(other.inner))
    )


def _saves(one: Home, other: Home) -> bool:
    """Return whether one reads what the other stores, or both read the same."""
    return other.value in one.stored or any(each.op != "const" for each in one.stored & other.stored)


def _fits(members: Sequence[Home], other: Home, settings: Settings) -> bool:
    every = [*members, other]
    stored = {each for home in every for each in home.stored if each.op != "const"}
    return (
        len(stored) + len(every) <= settings.most_buffers
        and sum(len(home.asked) for home in every) <= settings.most_computed
    )


def _in_step(one: Home, other: Home) -> bool:
    """Return whether one reads what the other stores only at the point where it is stored.

    What was asked for contiguous is stored before it is read.
    """
    if other.value not in one.stored:
        return True
    if other.value.op == "contig":
        return False
    every = At(tuple(range(len(other.value.shape))), identity(other.value.shape))
    wanted = [at for (number, at), _ in one.loads() if number == other.value.number]
    return all(at == every for at in wanted) and other.value.number not in one.taken


def _needed(found: Partition) -> dict[GraphValue, set[GraphValue]]:
    """Return for every stored value all stored values that it is made of, through whatever kernels and copies."""
    direct: dict[GraphValue, set[GraphValue]] = {
        home.value: set(home.stored) for home in found.homes if home.assign is None
    }
    every: dict[GraphValue, set[GraphValue]] = {}

    def sources(value: GraphValue) -> Iterator[GraphValue]:
        yield from direct.get(value, value.of)

    order = sorted({each for home in found.homes for each in (home.value, *home.stored)}, key=lambda each: each.number)
    for value in order:
        # What is no kernel's, a copy or what came from a meeting, needs whatever it is made of.
        every[value] = set()
        stack = list(sources(value))
        while stack:
            source = stack.pop()
            every[value].add(source)
            if source in every:
                every[value] |= every[source]
            else:
                stack.extend(sources(source))
    return every


def _between(group: set[GraphValue], value: GraphValue, below: dict[GraphValue, set[GraphValue]]) -> bool:
    """Return whether something that is no member is made of ``value``, and a member of that, or the other way round."""
    members = {*group, value}
    for other, needs in below.items():
        if other not in members and needs & members and any(other in below[each] for each in members):
            return True
    return False


def _joined(group: set[GraphValue], below: dict[GraphValue, set[GraphValue]]) -> None:
    """Let every member need what any needs, and whoever needs one need all."""
    needs = set().union(*(below[each] for each in group)) - group
    for other, own in below.items():
        if other in group:
            own.update(needs | (group - {other}))
        elif own & group:
            own.update(group | needs)


def unfit(found: Partition, together: Mapping[GraphValue, GraphValue], settings: Settings) -> set[GraphValue]:
    """Return the values of ``together`` that cannot be stored where it says, now that kernels are drawn by it.

    What had a storage while its users were apart may be computed within the kernel of all of them. That kernel then
    needs more: a value of its own at another point, more storages than a kernel may have, or what another kernel makes
    of a value that it stores itself.
    """
    homes = {home.value: home for home in found.homes if home.assign is None}
    circular = _circular(homes)
    bad: set[GraphValue] = set()
    for value, leader in together.items():
        home = homes.get(leader)
        if home is None:
            continue
        every = At(tuple(range(len(value.shape))), identity(value.shape))
        apart = value.number in home.taken or any(number == value.number and at != every for number, at in home.asked)
        taken = sum(each.op != "const" for each in home.stored) + len(home.roots)
        if apart or taken > settings.most_buffers or leader in circular:
            bad.add(value)
    return bad


def _circular(homes: Mapping[GraphValue, Home]) -> set[GraphValue]:
    """Return the values of the kernels that store several and need, through others, what they store."""
    owner = {root: home for home in homes.values() for root in home.roots}
    return {
        value for value, home in homes.items() if len(home.roots) > 1 and home in _below(home.stored, owner, {home})
    }


def _below(values: Collection[GraphValue], owner: Mapping[GraphValue, Home], ends: Collection[Home]) -> set[Home]:
    """Return the kernels that make any of ``values``, or what those are made of; nothing below ``ends``."""
    found: set[Home] = set()
    seen: set[GraphValue] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        home = owner.get(value)
        if home is None:
            stack.extend(value.of)
        elif home not in found:
            found.add(home)
            stack.extend(() if home in ends else home.stored)
    return found
