"""Bases for mistakes about ranks that go their own ways: in how they meet, and in what an error comes to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.reference.divergent_ranks import Call, Group, Meeting
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate

Ranks = list[Any]
Calls = list[Call]
Results = dict[str, tuple[Tensor | None, ...]]


class Troubled(Reference, ABC):
    """A reference in which ranks ``meeting`` otherwise, or to whose errors something happens ``afterwards``."""

    # Each has few programs in which ranks go their own ways, and these many kinds.
    ops: ClassVar[tuple[str, ...]] = (
        "all_reduce", "broadcast", "all_gather", "gather", "permute", "shuffle", "scatter", "all_to_all",
    )  # fmt: skip

    @property
    @abstractmethod
    def breaks(self) -> str:
        """Return the clause that is broken."""

    def execute(self, case: Case) -> Observation:
        seen = super().execute(case)
        why = reason(case) if case.troubled else None
        return seen if why is None else self.afterwards(case, why, seen)

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        """Return what is seen of a program in which some ranks cannot go on."""
        return seen

    def cleared(self, case: Case, why: Rejected) -> Results:
        """Return zeros where ranks have a result, and a zero where they have none."""
        found = {name: why.results.get(name, [None] * case.program.world) for name in case.program.results}
        return {
            name: tuple(from_array(np.zeros_like(np.zeros(()) if block is None else block)) for block in blocks)
            for name, blocks in found.items()
        }


class Swallows(Troubled):
    """A reference that returns something where the clause that it ``breaks`` wants errors."""

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        swallowed = why.clause == self.breaks
        return replace(seen, errors=(), results=self.cleared(case, why)) if swallowed else seen


class Agrees(Meeting):
    """Ranks that go on although they disagree on what ``about`` says, as the first member of their group asks."""

    about: ClassVar[str]

    def _difference(self, calls: Calls) -> str | None:
        found = super()._difference(calls)
        return None if found == self.about else found

    def _go(self, group: Group, calls: Calls) -> bool:
        first = calls[0].blocks
        mended = [
            Call(call.index, call.step, call.group, call.attrs, tuple(map(self.mend, call.blocks, first)))
            for call in calls
        ]
        return super()._go(group, mended)

    def mend(self, block: Any, first: Any) -> Any:
        """Return the block that stands in for one unlike the first member's."""
        return block


def zeros(blocks: Ranks, ranks: Collection[int]) -> Ranks:
    """Return zeros for the blocks of some ranks."""
    return [np.zeros_like(block) if rank in ranks else block for rank, block in enumerate(blocks)]


def reason(case: Case) -> Rejected | None:
    """Return why a program has no meaning, if it has none."""
    try:
        evaluate(case)
    except Rejected as why:
        return why
    return None


def empty(block: Tensor) -> Tensor:
    """Return a block of zero bits."""
    return replace(block, bits="0" * len(block.bits))
