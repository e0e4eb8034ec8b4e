"""Whether the order in which a reduction takes its members can show in its bits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.cases.case import Case
from conformance.cases.dtypes import Array, kind
from conformance.cases.program import Step, rank_groups
from conformance.judging.contributions import FOLDING
from conformance.reference.exactness import inexact
from conformance.reference.reductions import ARITHMETIC, ORDER
from conformance.reference.spmd import check_step


def folds(case: Case) -> Iterator[Step]:
    """Yield the steps that compute with, or compare, inexact numbers of the case's own inputs across groups.

    Reductions along local axes are left out, for what lies in their columns is not of one place; and those whose
    result somebody may still write over.
    """
    for step in case.program.steps:
        if (
            step.op in FOLDING
            and (step.attrs.get("op") in ARITHMETIC or step.attrs.get("op") in ORDER)
            and not step.attrs.get("local_axes")
            and step.axes
            and not (step.into or step.start)
            and set(step.inputs) <= case.inputs.keys()
            and all(kind(case.inputs[name].blocks[0].dtype) in ("float", "complex") for name in step.inputs)
        ):
            yield step


def order_shows(case: Case) -> bool:
    """Return whether some partial result of some order may be inexact, in a legal program.

    Where ranks go their own ways any blocks may meet, so that every sum of floats may be inexact, and zeros may meet.
    """
    blocks = case.blocks()
    if case.troubled:
        return any(_may_show(step, [block for name in step.inputs for block in blocks[name]]) for step in folds(case))
    for step in folds(case):
        attrs = check_step(step)
        for group in rank_groups(case.program.mesh, step.axes, step.groups):
            for name in step.inputs:
                column = np.stack([blocks[name][rank].reshape(-1) for rank in group])
                if column.size and inexact(column, str(attrs["op"]), attrs["factor"]).any():
                    return True
    return False


def _may_show(step: Step, blocks: list[Array]) -> bool:
    """Return whether the order of a step may show, whichever blocks meet in it."""
    if step.attrs.get("op") in ARITHMETIC:
        return True
    zeros = [np.signbit(block[block == 0]) for block in blocks if block.dtype.kind != "c"]
    return any(signs.any() for signs in zeros) and not all(signs.all() for signs in zeros)
