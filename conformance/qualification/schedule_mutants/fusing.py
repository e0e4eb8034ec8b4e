"""Kernels that take in what others store for them through a pad or past an assign, and folds of padded axes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from conformance.cases.schedule.index_map import IndexMap, contiguous
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Body,
    Cast,
    Constant,
    Fetch,
    Instruction,
    Load,
    Reduce,
    Store,
    sources,
)
from conformance.cases.schedule.schedule import Access, Item, Kernel, Schedule, accesses
from conformance.qualification.legal_schedules.engine import inner
from conformance.qualification.schedule_changes import Leaf, each_leaf
from conformance.qualification.schedule_mutants.engine import OfGraphs as _OfGraphs
from conformance.reference.schedule.facts import Facts

_ELEMENTWISE = (Load, Constant, Alu, Cast, Bitcast, Store)

_DEEP = 4
"""Kernels that one takes in, at most."""


class _TakesIn(_OfGraphs):
    """An engine whose kernels compute for themselves what elementwise kernels would have stored for them."""

    def spoil(self, made: Schedule) -> Schedule:
        """Let each kernel take in those that are ``wanted``, and leave out what nobody reads then."""
        facts = Facts(made)
        alone = set(inner(made))
        makers = {
            item.accesses[-1].buffer: number
            for number, item in enumerate(made.items)
            if _elementwise(item) and item.accesses[-1].buffer in alone
        }
        items = list(made.items)
        for number in range(len(items)):
            for _ in range(_DEEP):
                items[number] = self._taking(facts, makers, number, items[number])
        return _needed(made, items, makers)

    def _taking(self, facts: Facts, makers: Mapping[str, int], number: int, item: Item) -> Item:
        """Return a kernel that has taken in one more, the same where there is none."""
        if not isinstance(item, Kernel) or len(item.bodies) != 1:
            return item
        for at, access in enumerate(item.accesses):
            made = facts.leaves[makers.get(access.buffer, number)]
            if access.write or access.map is None or not _elementwise(made) or made is facts.leaves[number]:
                continue
            if self.wanted(facts, item, access, made):
                return _inlined(item, at, made)
        return item

    @abstractmethod
    def wanted(self, facts: Facts, item: Kernel, access: Access, made: Kernel) -> bool:
        """Return whether a kernel takes in another one, what that stored being what it reads by ``access``."""


def _elementwise(item: Item) -> TypeGuard[Kernel]:
    """Return whether a kernel stores one value of each point where it lies in order, and reads something for it."""
    if not isinstance(item, Kernel) or len(item.bodies) != 1 or item.variables or len(item.accesses) < 2:
        return False
    (body,) = item.bodies
    whole = all(isinstance(extent, int) for extent in body.extents)
    plain = all(isinstance(each, _ELEMENTWISE) for each in body.instructions)
    computed = any(isinstance(each, Alu | Cast) for each in body.instructions)
    return whole and plain and computed and item.accesses[-1].map == contiguous(body.extents)  # type: ignore[arg-type]  # whole


def _inlined(item: Kernel, at: int, made: Kernel) -> Kernel:
    """Return a kernel that computes at its own points what it read by access ``at``."""
    way = item.accesses[at].map or ()
    taken = [replace(each, map=(*way, *(each.map or ()))) for each in made.accesses if not each.write]
    places = [at, *range(len(item.accesses), len(item.accesses) + len(taken) - 1)]
    accesses = (*item.accesses[:at], taken[0], *item.accesses[at + 1 :], *taken[1:])
    lines: list[Instruction] = []
    where: dict[int, int] = {}
    (body,) = item.bodies
    for number, each in enumerate(body.instructions):
        if isinstance(each, Load) and each.access == at:
            first = len(lines)
            later = {source: first + source for source in range(len(made.bodies[0].instructions))}
            lines += [
                replace(own, access=places[own.access]) if isinstance(own, Load) else _of(own, later)
                for own in made.bodies[0].instructions[:-1]
            ]
        else:
            lines.append(_of(each, where))
        where[number] = len(lines) - 1
    by = tuple(dict.fromkeys((*made.provenance, *item.provenance)))
    bodies: tuple[Body, ...] = (replace(body, instructions=tuple(lines)),)
    return replace(item, accesses=accesses, bodies=bodies, provenance=by)


def _of(each: Instruction, where: Mapping[int, int]) -> Instruction:
    """Return an instruction whose sources have other numbers."""
    of = tuple(where[source] for source in sources(each))
    if isinstance(each, Fetch):
        return replace(each, at=of)
    return replace(each, of=of if isinstance(each, Alu) else of[0]) if of else each


def _needed(made: Schedule, items: Sequence[Item], makers: Mapping[str, int]) -> Schedule:
    """Return the schedule with these items, but for makers of what was read and is not any more."""
    before = {each.buffer for item in made.items for each in accesses(item) if not each.write}
    left: list[Item] = []
    read: set[str] = set()
    for number, item in reversed(list(enumerate(items))):
        own = accesses(item)
        if not own or makers.get(own[-1].buffer) != number or own[-1].buffer in read or own[-1].buffer not in before:
            left.append(item)
            read |= {each.buffer for each in own if not each.write}
    return replace(made, items=tuple(reversed(left)))


def _old(facts: Facts, item: Kernel, made: Kernel) -> bool:
    """Return whether something that a kernel read was written before another one begins."""
    first, last = (next(n for n, leaf in enumerate(facts.leaves) if leaf.id == each.id) for each in (made, item))
    found = ((two, other, own) for one, two, other, own in facts.conflicts if one == first)
    return any(own.write and not other.write and number < last for number, other, own in found)


class PadsBeforeItComputes(_TakesIn):
    """A view with a mask is pushed through what is elementwise, so that what was added is f(0). tinygrad#9478."""

    breaks = "law.C1"
    corpus = ("tinygrad#9478 / #4614 (#4588) / #10322",)

    def wanted(self, facts: Facts, item: Kernel, access: Access, made: Kernel) -> bool:
        """Take in what is read through a pad."""
        masked = any(each.mask is not None for each in access.map or ())
        return masked and not _old(facts, item, made)


class OldAndNewStateAreOne(_TakesIn):
    """A kernel takes in what read a buffer before an assign, and reads it after: both are the new. tinygrad#12405."""

    breaks = "assign.C6"
    corpus = ("tinygrad#12405 / #8925",)

    def wanted(self, facts: Facts, item: Kernel, access: Access, made: Kernel) -> bool:
        """Take in what read a buffer before it was written, where the buffer is read too."""
        own = {each.buffer for each in item.accesses if not each.write}
        return _old(facts, item, made) and any(each.buffer in own for each in made.accesses)


class FoldsWhatPaddingAdds(_OfGraphs):
    """A folded axis is padded to a multiple, and what is added is 0 whatever is folded. tinygrad#17895."""

    breaks = "law.C1"
    corpus = ("tinygrad#17895",)
    multiple = 4

    def spoil(self, made: Schedule) -> Schedule:
        """Pad the last axis of each fold of what is read that is no sum."""

        def changed(leaf: Leaf) -> Leaf:
            if not isinstance(leaf, Kernel) or len(leaf.bodies) != 1 or leaf.variables:
                return leaf
            (body,) = leaf.bodies
            load, fold, *_ = (*body.instructions, None)
            if not isinstance(load, Load) or not isinstance(fold, Reduce) or fold.op == "add" or not fold.axes:
                return leaf
            axis = fold.axes[-1]
            extent = body.extents[axis]
            if not isinstance(extent, int):
                return leaf
            wide = -(-extent // self.multiple) * self.multiple
            own = tuple(replace(each, map=_padded(each, axis, wide)) for each in leaf.accesses)
            extents = (*body.extents[:axis], wide, *body.extents[axis + 1 :])
            return replace(leaf, accesses=own, bodies=(replace(body, extents=extents),))

        return each_leaf(made, changed)


def _padded(access: Access, axis: int, wide: int) -> IndexMap:
    """Return the map of a kernel with more points along an axis, of which what is read has none."""
    first, *rest = access.map or ()
    mask = first.mask or tuple((0, extent) for extent in first.extents)
    extents = (*first.extents[:axis], wide, *first.extents[axis + 1 :])
    return (replace(first, extents=extents, mask=first.mask if access.write else mask), *rest)
