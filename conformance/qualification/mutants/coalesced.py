"""Mistakes about several operands at once, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.program.program import Groups, rank_groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.every_operation import BLOCKS_TO_BLOCKS
from conformance.qualification.mutants.every_program import Results
from conformance.reference.groups import partition
from conformance.reference.operations import TABLE
from conformance.reference.operations.all_gather import all_gather


class OnlyTheFirstOperand(Reference):
    """xla#30664: a permute of several operands is cloned with the first alone, and it stands for all."""

    breaks = "collective.C26"
    corpus = ("xla#30664",)

    def _walk(self, case: Case, placed: Placed) -> Results:
        results = super()._walk(case, placed)
        return dict.fromkeys(results, results[case.program.results[0]])


class OneDtypeForAll(Reference):
    """pytorch#35671: tensors are flattened into one buffer of the first one's dtype and cast back afterwards."""

    breaks = "collective.C26"
    corpus = ("pytorch#35671",)

    def _walk(self, case: Case, placed: Placed) -> Results:
        dtypes = [ranks[0][1].dtype for ranks in placed.values()]
        same = case.program.collectives[-1].op not in BLOCKS_TO_BLOCKS or len(set(dtypes)) < 2
        cast = {
            name: [(storage, _through(view, dtypes[0])) for storage, view in ranks] for name, ranks in placed.items()
        }
        return super()._walk(case, placed if same else cast)


def _through(block: Array, dtype: np.dtype[Any]) -> Array:
    """Return ``block`` cast to ``dtype`` and back."""
    with np.errstate(all="ignore"):
        kept = block if dtype.kind == "c" else block.real
        return kept.astype(dtype).real.astype(block.dtype)


class TheFirstCallsOptions(Reference):
    """A coalesced call takes the options of its first member, here an axis counted from its front."""

    breaks = "collective.C26"
    ops = ("all_gather",)
    first: int | None = None

    def _walk(self, case: Case, placed: Placed) -> Results:
        self.first = None
        return super()._walk(case, placed)

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        self.first = axis % right[0].ndim if self.first is None else self.first
        return all_gather(blocks, axis=self.first, tiled=tiled, groups=groups)


class NothingIsTooLittle(Reference):
    """The first operand is looked at for its dtype before anybody asks whether there is one."""

    breaks = "collective.C27"
    outcome = "errored"

    def _walk(self, case: Case, placed: Placed) -> Results:
        step = case.program.collectives[-1]
        if TABLE[step.op].operands == 1:
            step.inputs[0]
        return super()._walk(case, placed)


class GroupsOfNothing(Reference):
    """Groups are checked before anybody asks whether there is an operand to treat."""

    breaks = "collective.C29"
    outcome = "errored"

    def _walk(self, case: Case, placed: Placed) -> Results:
        step = case.program.collectives[-1]
        if TABLE[step.op].operands == 1 and not step.inputs:
            partition(rank_groups(case.program.mesh, step.axes, step.groups), case.program.world)
        return super()._walk(case, placed)
