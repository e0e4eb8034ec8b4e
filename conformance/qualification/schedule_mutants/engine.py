"""What the mutants share: the engine's schedule, spoilt; and the small changes that mistakes are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import Algorithm, Settings
from conformance.cases.case import Case
from conformance.cases.graph import Graph
from conformance.cases.schedule import Access, Buffer, Collective, Copy, Item, Kernel, Schedule
from conformance.reference.schedule_facts import Facts, Touch

Leaf = Kernel | Copy


class Engine(OpenCL, ABC):
    """The native engine with a mistake in the schedules it makes."""

    breaks: str
    corpus: tuple[str, ...] = ()
    algorithm: Algorithm = "ring"
    """Blocks that go round a ring are those with most values on the way."""

    def __init__(self) -> None:
        """Take the mutant's algorithm, whatever the environment asks for."""
        super().__init__(Settings(force=self.algorithm))

    @property
    def alignment(self) -> int:
        """That of PoCL, without asking it."""
        return 128

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the engine's schedule with the mistake, where there is occasion for it."""
        return self.spoil(super().schedule(asked, planned=planned))

    @abstractmethod
    def spoil(self, made: Schedule) -> Schedule:
        """Return the schedule with the mistake, the same where there is no occasion for it."""


def each_leaf(made: Schedule, change: Callable[[Leaf], Leaf | None]) -> Schedule:
    """Return the schedule with every kernel and copy changed, or gone where that is ``None``."""
    items: list[Item] = []
    for item in made.items:
        if isinstance(item, Collective):
            parts = tuple(part for part in map(change, item.parts) if part is not None)
            if parts:
                items.append(replace(item, parts=parts))
        else:
            found = change(item) if isinstance(item, Leaf) else item
            if found is not None:
                items.append(found)
    ids = {leaf.id for leaf, _ in Facts(replace(made, items=tuple(items))).owned}
    kept = replace(made, items=tuple(items))
    return kept if len(ids) == len(Facts(made).owned) else _forgotten(kept, ids)


def _forgotten(made: Schedule, ids: set[str]) -> Schedule:
    def forget(leaf: Leaf) -> Leaf:
        return replace(leaf, after=None if leaf.after is None else tuple(name for name in leaf.after if name in ids))

    return each_leaf(made, forget)


def each_access(made: Schedule, change: Callable[[Access], Access]) -> Schedule:
    """Return the schedule with every access changed."""
    return each_leaf(made, lambda leaf: replace(leaf, accesses=tuple(map(change, leaf.accesses))))


def each_buffer(made: Schedule, change: Callable[[Buffer], Buffer]) -> Schedule:
    """Return the schedule with every buffer changed."""
    return replace(made, buffers=tuple(map(change, made.buffers)))


def with_edges(made: Schedule, wanted: Callable[[Facts, int, int, Touch, Touch], bool]) -> Schedule:
    """Return the schedule with the edges of those conflicts alone that are ``wanted``: two leaves and their bytes."""
    facts = Facts(made)
    after: dict[str, set[str]] = {leaf.id: set() for leaf in facts.leaves}
    for first, second, other, own in facts.conflicts:
        if wanted(facts, first, second, other, own):
            after[facts.leaves[second].id].add(facts.leaves[first].id)
    return each_leaf(made, lambda leaf: replace(leaf, after=tuple(sorted(after[leaf.id]))))


def flat(made: Schedule) -> list[Any]:
    """Return the leaves in order, with no collective about them, so that they can be moved."""
    return [leaf for leaf, _ in Facts(made).owned]
