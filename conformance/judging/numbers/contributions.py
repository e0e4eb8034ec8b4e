"""What each element of a result is folded from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.program import EFFECTS, rank_groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.numbers.column import Column, column
from conformance.judging.numbers.evaluated_with import evaluated_with
from conformance.reference.operations import FOLDED, OPERATIONS
from conformance.reference.reductions import ARITHMETIC, ORDER, Terms
from conformance.reference.spmd import check_step


class FoldedResult(NamedTuple):
    """How a result is made: by which reduction and factor, from what on each rank that has it, and of which dtype."""

    op: str
    factor: float
    ranks: list[Terms | None]
    dtype: str


def contributions(case: Case) -> dict[str, FoldedResult]:
    """Return how each result is folded that is folded from inputs of the program.

    Nothing is said of other results, nor where something is written over. The program must be legal, but where ranks
    go their own ways: then it is said of the results of those that can go on.
    """
    if case.troubled:
        return _where_ranks_meet(case)
    if any(step.into or (step.op in EFFECTS and step.op != "done") for step in case.program.steps):
        return {}
    found: dict[str, FoldedResult] = {}
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
                found[output] = FoldedResult(op, factor, ranks, logical(blocks[name][0].dtype))
    return {name: found[name] for name in case.program.results if name in found}


def _where_ranks_meet(case: Case) -> dict[str, FoldedResult]:
    """Return the same of a program in which ranks run other steps, are late or die: what each group folds is noted."""
    inputs = case.blocks()
    given = {id(block) for blocks in inputs.values() for block in blocks}
    noted: dict[int, tuple[Array, FoldedResult]] = {}

    def noting(name: str, operand: Sequence[Array], **attrs: Any) -> Any:
        made = OPERATIONS[name](operand, **attrs)
        if all(id(block) in given for block in operand):
            how = {attr: value for attr, value in attrs.items() if attr not in ("op", "factor")}
            for block, terms in zip(made, FOLDED[name](operand, **how), strict=True):
                if terms is not None:
                    folded = FoldedResult(attrs["op"], float(attrs["factor"]), [terms], logical(operand[0].dtype))
                    noted[id(block)] = block, folded
        return made

    results = evaluated_with(case, {name: partial(noting, name) for name in FOLDED}, inputs=inputs)
    found: dict[str, FoldedResult] = {}
    for name, blocks in results.items():
        each = [None if block is None else noted.get(id(block), (block, None))[1] for block in blocks]
        of = {(folded.op, folded.factor, folded.dtype) for folded in each if folded is not None}
        known = all(folded is not None for folded, block in zip(each, blocks, strict=True) if block is not None)
        if known and len(of) == 1:
            ((op, factor, dtype),) = of
            found[name] = FoldedResult(op, factor, [folded and folded.ranks[0] for folded in each], dtype)
        elif all(block is None or id(block) in given for block in blocks):
            found[name] = FoldedResult("", 1.0, [None for _ in blocks], "")
    return found


def apart(op: str, columns: Array) -> Array:
    """Return elements, or rows of terms, as ``op`` computes with them: of complex sums real parts, then the rest."""
    if op == "product" or columns.dtype.kind != "c":
        return columns
    return np.concatenate([columns.real, columns.imag])


def unlike_columns(results: Iterable[FoldedResult]) -> tuple[Column, ...]:
    """Return the different columns of floats among the elements of results, but for those that only move."""
    found: dict[tuple[str, str, float, bytes], None] = {}
    for op, factor, ranks, _ in results:
        for shared in {id(each): each for each in ranks if each and (op in ARITHMETIC or op in ORDER)}.values():
            rows = apart(op, np.stack([block.reshape(-1) for block in shared], axis=1))
            dtype = logical(rows.dtype)
            if kind(dtype) in ("float", "complex"):
                content, width = rows.tobytes(), rows.itemsize * rows.shape[1]
                different = dict.fromkeys(content[at : at + width] for at in range(0, len(content), width))
                found |= dict.fromkeys((dtype, op, factor, row) for row in different)
    return tuple(column(*each) for each in found)
