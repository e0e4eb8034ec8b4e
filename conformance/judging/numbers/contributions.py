"""What each element of a result is folded from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.program import EFFECTS, rank_groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.numbers.column import Column, column
from conformance.reference.operations import FOLDED
from conformance.reference.reductions import ARITHMETIC, ORDER, Terms
from conformance.reference.spmd import check_step


class Folded(NamedTuple):
    """How a result is made: by which reduction and factor, from what on each rank that has it, and of which dtype."""

    op: str
    factor: float
    ranks: list[Terms | None]
    dtype: str


def contributions(case: Case) -> dict[str, Folded]:
    """Return how each result is folded that is folded from inputs of the program, which must be legal.

    Nothing is said of other results, nor where something is written over or ranks go their own ways.
    """
    if case.troubled or any(step.into or (step.op in EFFECTS and step.op != "done") for step in case.program.steps):
        return {}
    found: dict[str, Folded] = {}
    blocks = case.blocks()
    for step in case.program.steps:
        if step.op == "done":
            found |= {new: found[old] for old, new in zip(step.inputs, step.outputs, strict=True) if old in found}
        if step.op not in FOLDED or step.idle:
            continue
        attrs, groups = check_step(step), rank_groups(case.program.mesh, step.axes, step.groups)
        how = {name: value for name, value in attrs.items() if name not in ("op", "factor")}
        op, factor = str(attrs["op"]), float(attrs["factor"])  # type: ignore[arg-type]  # by ``check_step``
        for name, output in zip(step.inputs, step.outputs, strict=True):
            if name in blocks:
                ranks = FOLDED[step.op](blocks[name], **how, groups=groups)
                found[output] = Folded(op, factor, ranks, logical(blocks[name][0].dtype))
    return {name: found[name] for name in case.program.results if name in found}


def apart(op: str, columns: Array) -> Array:
    """Return elements, or rows of terms, as ``op`` computes with them: of complex sums real parts, then the rest."""
    if op == "product" or columns.dtype.kind != "c":
        return columns
    return np.concatenate([columns.real, columns.imag])


def unlike_columns(results: Iterable[Folded]) -> tuple[Column, ...]:
    """Return the different columns of floats among the elements of results, but for those that only move."""
    found: dict[tuple[str, str, float, bytes], None] = {}
    for op, factor, ranks, _ in results:
        for shared in {id(each): each for each in ranks if each and (op in ARITHMETIC or op in ORDER)}.values():
            rows = apart(op, np.stack([block.reshape(-1) for block in shared], axis=1))
            dtype = logical(rows.dtype)
            if kind(dtype) in ("float", "complex"):
                found |= dict.fromkeys((dtype, op, factor, row.tobytes()) for row in rows)
    return tuple(column(*each) for each in found)
