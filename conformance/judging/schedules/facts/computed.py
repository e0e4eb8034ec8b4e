"""Who computes what: as items say, and of those that say only what they write, what they may compute on the way."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final, cast

from conformance.cases.schedule.kernel_body import Reduce
from conformance.cases.schedule.schedule import Kernel
from conformance.judging.schedules.facts.algorithms import bytes_of
from conformance.judging.schedules.facts.labels import perhaps_written, said
from conformance.reference.byte_ranges import size
from conformance.reference.schedule.facts import Facts


def computing(facts: Facts) -> dict[str, set[int]]:
    """Return for each node the leaves that compute it, as they say.

    Who says only what it writes computes all on the way there from what is kept in buffers.
    """
    found: dict[str, set[int]] = {}
    for number, leaf in enumerate(facts.leaves):
        for name in leaf.provenance or _on_the_way(facts, number, facts.writers):
            found.setdefault(name, set()).add(number)
    return found


def perhaps_computing(facts: Facts) -> dict[str, set[int]]:
    """Return for each node the kernels that may compute it: what they write is made of it, and they do not read it.

    Of kernels alone that say what they write, and not what they compute.
    """
    found: dict[str, set[int]] = {}
    held: dict[str, set[str]] = {}
    for name, written in facts.writers.items():
        for _, touch in written:
            held.setdefault(facts.home(touch.access.buffer), set()).add(name)
    for number, leaf in enumerate(facts.leaves):
        if not leaf.provenance:
            read = {facts.home(touch.access.buffer) for touch in facts.touches[number] if not touch.write}
            kept = set[str]().union(*(held.get(home, ()) for home in read))
            for name in _on_the_way(facts, number, kept):
                found.setdefault(name, set()).add(number)
    return found


def _on_the_way(facts: Facts, number: int, kept: Container[str]) -> set[str]:
    """Return the nodes from what a kernel says that it writes back to storage and to those that are ``kept``."""
    found: set[str] = set()
    kernel = isinstance(facts.leaves[number], Kernel)
    stack = [touch.access.node for touch in facts.touches[number] if touch.write and kernel]
    while stack:
        name = stack.pop()
        if name is not None and name not in found:
            found.add(name)
            stack += [each for each in facts.nodes[name].of if each not in kept and each not in facts.stored]
    return found


def names_of(facts: Facts, number: int) -> list[str | None]:
    """Return the nodes that a leaf writes, as it says or as is seen by running it; ``None`` for what nobody knows."""
    key = ("names", 0, 0)
    if key not in facts.kept:
        facts.kept[key] = {id(touch): name for name, written in said(facts).items() for _, touch in written}
    seen = cast("dict[int, str]", facts.kept[key])
    return [touch.access.node or seen.get(id(touch)) for touch in facts.touches[number] if touch.write]


def perhaps_again(facts: Facts) -> bool:
    """Return whether a kernel that does not say what it computes may compute a contig or a reduce that is kept."""
    for node, numbers in perhaps_computing(facts).items():
        written = facts.writers.get(node, [])
        for number in numbers if facts.nodes[node].op in _KEPT else ():
            own = {facts.home(touch.access.buffer) for at, touch in written if at == number}
            whole = {at for at, touch in written if size(touch.ranges) == bytes_of(facts, facts.nodes[node])}
            # Who writes a part of a value, or writes it where it is, computes no other.
            apart = {at for at, touch in written if facts.home(touch.access.buffer) not in own}
            kept = apart & whole if own else apart
            if kept and (not own or number in whole) and computed_apart(facts, [number], kept):
                return True
    return any(_kept_elsewhere(facts, number, names) for number, names in perhaps_written(facts))


_KEPT: Final = ("contig", "reduce")
"""Values that are computed once where a buffer keeps them."""


def _kept_elsewhere(facts: Facts, number: int, names: Sequence[str]) -> bool:
    """Return whether what a leaf writes is one of some nodes, whichever, that others keep, and computed again.

    What may be a value that nobody keeps is as well that, and what folds nothing is no reduce.
    """
    leaf = facts.leaves[number]
    for name in names:
        kept = {at for at, _ in facts.writers.get(name, ())}
        folds = any(isinstance(each, Reduce) for body in getattr(leaf, "bodies", ()) for each in body.instructions)
        fits = facts.nodes[name].op == "contig" or (facts.nodes[name].op == "reduce" and folds)
        if not (fits and kept and computed_apart(facts, [number], kept)):
            return False
    return bool(names)


def computed_apart(facts: Facts, numbers: Iterable[int], kept: set[int]) -> list[int]:
    """Return those of the leaves that compute a value which do not keep it, nor take it from or give it to who does."""
    return [
        number
        for number in numbers
        if number not in kept
        and not feeds(facts, number, kept)
        and not any(feeds(facts, each, {number}) for each in kept)
    ]


def feeds(facts: Facts, number: int, targets: set[int]) -> bool:
    """Return whether any of ``targets`` needs what a leaf writes, itself or through others."""
    reached = {number}
    for first, second, other, own in facts.conflicts:
        if first in reached and other.write and not own.write:
            reached.add(second)
    return not reached.isdisjoint(targets)
