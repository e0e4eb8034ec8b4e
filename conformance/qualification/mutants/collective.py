"""Mistakes that have nothing to do with what is computed."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.every_operation import Blocks, EveryOperation, Operation, over
from conformance.qualification.mutants.storage import flat_storage


class LastRankIsMissing(Reference):
    """The results of all ranks but the last are collected."""

    breaks = "collective.C1"

    def execute(self, case: Case) -> Observation:
        seen = super().execute(case)
        return replace(seen, results={name: (*blocks[:-1], None) for name, blocks in seen.results.items()})


class FailsNowAndThen(EveryOperation):
    """A resource is not given back, and large worlds run out of it."""

    breaks = "collective.C1"
    outcome = "errored"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        if len(blocks) > 5:
            raise RuntimeError("too many open communicators")
        return operation(blocks, groups=groups)


class ScribblesBesideTheView(EveryOperation):
    """A vector store writes past the end of a block into the storage around it."""

    breaks = "collective.C2"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        out = operation(blocks, groups=groups)
        for block in blocks:
            if isinstance(block.base, np.ndarray) and block.base.nbytes > block.nbytes:
                block.base.reshape(-1).view(np.uint8)[-1] = 0
        return out


class EveryGroupIsTheFirst(EveryOperation):
    """The communicator is created once and cached, so every group meets in the place of the first."""

    breaks = "collective.C7"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        out = operation(blocks, groups=groups)
        for group in groups[1:]:
            for first, rank in zip(groups[0], group, strict=False):
                out[rank] = out[first]
        return out


class GroupsAreSorted(EveryOperation):
    """A communicator numbers its members by rank, whatever the order they were listed in."""

    breaks = "collective.C8"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        return operation(blocks, groups=tuple(tuple(sorted(group)) for group in groups))


class RefusesEmptyBlocks(EveryOperation):
    """A device has no buffers of size zero, and the error of the allocator comes through."""

    breaks = "collective.C11"
    outcome = "errored"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        out = operation(blocks, groups=groups)
        if blocks[0].size == 0:
            raise RuntimeError("invalid buffer size")
        return out


class EmptyResultsHaveNoShape(EveryOperation):
    """An early return for nothing to do hands back an empty array of one axis."""

    breaks = "collective.C11"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        return over(lambda block: block if block.size else block.reshape(-1), operation(blocks, groups=groups))


class OnlyRankZeroChecks(Reference):
    """Arguments are checked where they are logged, on rank 0; the others wait for it."""

    breaks = "collective.C13"

    def execute(self, case: Case) -> Observation:
        seen = super().execute(case)
        silent: tuple[None, ...] = (None,) * (case.program.world - 1)
        return replace(seen, errors=(seen.errors[0], *silent)) if seen.raised else seen


class AssertsInside(EveryOperation):
    """Arguments are checked by an assertion deep inside."""

    breaks = "collective.C14"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        try:
            return operation(blocks, groups=groups)
        except ValueError as error:
            raise AssertionError(str(error)) from error


class ScalarsGrowAnAxis(EveryOperation):
    """Blocks are flattened for the wire, and a result without axes comes back as one of one element."""

    breaks = "collective.C16"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        return over(np.atleast_1d, operation(blocks, groups=groups))


class RankZeroDecidesTheLayout(EveryOperation):
    """Whether a copy is needed is decided by looking at rank 0; the others are read as if they lay alike."""

    breaks = "collective.C17"

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        plain = blocks[0].flags.c_contiguous
        return operation([flat_storage(block) if plain else block for block in blocks], groups=groups)
