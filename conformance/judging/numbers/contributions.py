"""What each element of a result is folded from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.program import Program, Step, rank_groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.numbers.arithmetic import given_operands
from conformance.judging.numbers.column import Column, column
from conformance.judging.numbers.evaluated_with import evaluated_with
from conformance.reference.operations import FOLDED, OPERATIONS
from conformance.reference.reductions import ARITHMETIC, ORDER, Terms
from conformance.reference.spmd import check_step, run


class FoldedResult(NamedTuple):
    """How a result is made: by which reduction and factor, from what on each rank that has it, and of which dtype."""

    op: str
    factor: float
    ranks: list[Terms | None]
    dtype: str


def contributions(case: Case) -> dict[str, FoldedResult]:
    """Return how each result is folded that is folded from elements of inputs, moved and stored as they may be.

    Nothing is said of other results, nor of storage of which only a part, or more, was last written by one fold. The
    program must be legal, but where ranks go their own ways: then it is said of the results of those that can go on.
    """
    if case.troubled:
        return _where_ranks_meet(case)
    if not any(map(_folds, case.program.steps)):
        return {}
    known = _Known(names(case) if _stores(case.program) else {})
    read = _operands(case)
    for step in case.program.steps:
        made: list[FoldedResult | None] = [None] * len(step.outputs)
        if _folds(step):
            made = [_folded(case, step, read.get((step.outputs[0], name))) for name in step.inputs]
        elif step.op in ("copy", "done"):
            made = [known.of(name) for name in step.inputs]
        elif step.op == "assign":
            known.write(step.inputs[0], known.of(step.inputs[1]))
        for name, each in zip(step.outputs, made, strict=True):
            if each is not None:
                known.values[name] = each
        for target, each in zip(step.into, made if step.into else (), strict=True):
            known.write(target, each)
    found = {name: known.of(name) for name in case.program.results}
    return {name: each for name, each in found.items() if each is not None}


@dataclass
class _Known:
    """What values are folded from, and regions of storage that one fold was the last to write."""

    table: dict[str, NamedValue]
    values: dict[str, FoldedResult] = field(default_factory=dict)
    stored: list[tuple[NamedValue, FoldedResult]] = field(default_factory=list)

    def of(self, name: str) -> FoldedResult | None:
        """Return what a name is folded from now."""
        what = self.table.get(name)
        if what is None or not what.base or what.kind == "ticket":
            return self.values.get(name)
        return next((each for region, each in self.stored if region == what), None)

    def write(self, target: str, made: FoldedResult | None) -> None:
        """Note that something is written into storage."""
        where = self.table[target]
        self.stored = [each for each in self.stored if not each[0].meets(where)]
        if made is not None:
            self.stored.append((where, made))


def _folds(step: Step) -> bool:
    return step.op in FOLDED and not step.idle and bool(step.inputs)


def _stores(program: Program) -> bool:
    return any(step.into or step.op in ("buffer", "assign") for step in program.steps)


def _operands(case: Case) -> dict[tuple[str, str], list[Array]]:
    """Return the operands of folds, by a result of the step and by name, that hold elements of inputs and no others."""
    given = ((step, names) for step, names in given_operands(case.program) if _folds(step))
    of = {(step.outputs[0], name): name for step, names in given for name in names}
    blocks = case.blocks()
    if all(name in blocks for name in of.values()):
        return {each: blocks[name] for each, name in of.items()}
    read: dict[tuple[str, str], list[Array]] = {}

    def watch(step: Step, operands: list[list[Array]]) -> None:
        for name, operand in zip(step.inputs, operands, strict=True):
            if step.outputs and (step.outputs[0], name) in of:
                read[step.outputs[0], name] = [block.copy() for block in operand]  # which a later step may write over

    run(case, blocks, OPERATIONS, watch=watch)
    return read


def _folded(case: Case, step: Step, operand: list[Array] | None) -> FoldedResult | None:
    if operand is None:
        return None
    attrs, groups = check_step(step), rank_groups(case.program.mesh, step.axes, step.groups)
    how = {name: value for name, value in attrs.items() if name not in ("op", "factor")}
    op, factor = str(attrs["op"]), float(attrs["factor"])  # type: ignore[arg-type]  # by ``check_step``
    return FoldedResult(op, factor, FOLDED[step.op](operand, **how, groups=groups), logical(operand[0].dtype))


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
