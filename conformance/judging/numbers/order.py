"""Whether the order in which a reduction takes its members can show in its bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.program.program import Groups, Step, rank_groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.cases.tensor.tensor import to_array
from conformance.judging.numbers.evaluated_with import evaluated_with
from conformance.judging.numbers.formats import greatest, subnormal
from conformance.reference.exactness import inexact
from conformance.reference.operations import FOLDED, OPERATIONS, folded_positions
from conformance.reference.reductions import ARITHMETIC, ORDER, by_real, fold
from conformance.reference.spmd import check_step


def folds(case: Case) -> Iterator[Step]:
    """Yield the steps that compute with, or compare, inexact numbers of the case's own inputs across groups.

    Reductions along local axes are left out, for what lies in their columns is not of one place; and those whose
    result somebody may still write over.
    """
    for step in case.program.steps:
        if (
            step.op in FOLDED
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
    folding = tuple(folds(case))
    blocks = case.blocks() if folding else {}
    if case.troubled:
        return any(_may_show(step, [block for name in step.inputs for block in blocks[name]]) for step in folding)
    for step in folding:
        attrs = check_step(step)
        for group in folded_ranks(step, rank_groups(case.program.mesh, step.axes, step.groups)):
            for name in step.inputs:
                column = np.stack([blocks[name][rank].reshape(-1) for rank in group])
                if column.size and inexact(column, str(attrs["op"]), attrs["factor"]).any():
                    return True
    return False


def folded_ranks(step: Step, groups: Groups) -> Iterator[tuple[int, ...]]:
    """Yield the ranks whose blocks a result folds: those of a group, or of every part of one that some member folds."""
    for group in groups:
        places = [folded_positions(step.op, at, len(group), step.attrs) for at in range(len(group))]
        parts = dict.fromkeys(tuple(group[at] for at in each) for each in places)
        yield from (part for part in parts if part)


def choices_show(case: Case, numbers: NumberModel) -> bool:
    """Return whether what is chosen about numbers may show in some step, though no order does.

    That is a mean by a count that is no power of two which is not divided, a scaled term that is not rounded, either of
    them where partial results are wider, and any reduction of what is subnormal, infinite or so great that a sum may
    overflow.
    """
    if scales_otherwise(case, numbers):
        return True
    kinds = _chosen(case, numbers)
    inputs = [to_array(block) for operand in case.inputs.values() for block in operand.blocks] if kinds else []
    floats = [_parts(block) for block in inputs if kind(logical(block.dtype)) in ("float", "complex")]
    if "subnormals" in kinds and any(subnormal(block).any() for block in floats):
        return True
    return "overflow" in kinds and any(_too_great(block, case.program.world).any() for block in floats)


def chosen(terms: Sequence[Array], op: str, factor: float, numbers: NumberModel) -> Array:
    """Return, of what is folded from terms, which elements a choice of the number model may show in.

    That is what is scaled otherwise than in the dtype of the terms, and what is subnormal, infinite or so great that a
    sum may overflow, or is folded from such terms.
    """
    kinds = {name for name, _ in numbers.words(logical(terms[0].dtype), op)}
    found = scaled(terms, op, numbers)
    if kind(logical(terms[0].dtype)) not in ("float", "complex") or not kinds & {"subnormals", "overflow"}:
        return found
    with np.errstate(all="ignore"):
        scaled_terms = [by_real(np.multiply, each, factor) for each in terms] if op == "premul_sum" else []
    for each in (*terms, *scaled_terms, fold(terms, op, factor)):
        for part in [each.real, each.imag] if each.dtype.kind == "c" else [each]:
            found |= subnormal(part) if "subnormals" in kinds else False
            found |= _too_great(part, len(terms)) if "overflow" in kinds else False
    return found


def scaled(terms: Sequence[Array], op: str, numbers: NumberModel) -> Array:
    """Return, of what is folded from terms, which elements are scaled otherwise than in the dtype of these."""
    kinds = {name for name, _ in numbers.words(logical(terms[0].dtype), op)}
    choices = {"mean": {"mean", "accumulate"}, "premul_sum": {"multiply_add", "accumulate"}}.get(op, set())
    return np.full(terms[0].shape, bool(kinds & choices))


def scales_otherwise(case: Case, numbers: NumberModel) -> bool:
    """Return whether some mean or premul_sum is divided or scaled otherwise than in the dtype of its terms."""
    kinds = _chosen(case, numbers)
    ops = {step.attrs.get("op") for step in case.program.steps}
    means, scales = kinds & {"mean", "accumulate"}, kinds & {"multiply_add", "accumulate"}
    return bool(("mean" in ops and means) or ("premul_sum" in ops and scales))


def _chosen(case: Case, numbers: NumberModel) -> set[str]:
    """Return the kinds of which something is chosen for a fold of the dtypes of the case's inputs."""
    if not numbers.chosen:
        return set()
    ops = {str(step.attrs["op"]) for step in case.program.steps if step.op in FOLDED and "op" in step.attrs}
    dtypes = {block.dtype for operand in case.inputs.values() for block in operand.blocks}
    return {name for dtype in dtypes for op in ops for name, _ in numbers.words(dtype, op)}


def several_right(case: Case) -> bool:
    """Return whether some fold of a legal program has several right results, whatever it folds and wherever it puts it.

    They are several where the order may show, and where the terms of a sum are all -0.0: that it is -0.0 is recommended
    alone (``numerics.C6``), and what begins at +0.0 gives +0.0.
    """
    found: list[bool] = []

    def looking(name: str, blocks: Sequence[Array], **attrs: Any) -> Any:
        op = str(attrs.get("op"))
        if (op in ARITHMETIC or op in ORDER) and not any(found):
            how = {attr: value for attr, value in attrs.items() if attr not in ("op", "factor")}
            factor = float(attrs["factor"]) if op == "premul_sum" else 1.0
            if kind(logical(blocks[0].dtype)) in ("float", "complex"):
                terms = FOLDED[name](blocks, **how)
                shared = {id(each): each for each in terms if each}  # ranks that fold the same have one list of it
                found.extend(bool(opened(each, op, factor).any()) for each in shared.values())
        return OPERATIONS[name](blocks, **attrs)

    made = any(step.attrs.get("op") == "mean" or step.op == "reduce_constant" for step in case.program.steps)
    if made or any(kind(operand.blocks[0].dtype) in ("float", "complex") for operand in case.inputs.values()):
        evaluated_with(case, {name: partial(looking, name) for name in FOLDED})
    return any(found)


def opened(terms: Sequence[Array], op: str, factor: float) -> Array:
    """Return, of what is folded from terms, which elements the order of folding, or a sum of -0.0 alone, shows in.

    The sign of a part of a complex product that is zero is that of some order.
    """
    columns = np.stack([np.asarray(term).reshape(-1) for term in terms])
    found = inexact(columns, op, factor)
    if op in SUMS:
        found = found | minus_zeros(list(columns), factor)
    if op == "product" and columns.dtype.kind == "c":
        whole = fold(list(columns), op)
        found = found | (whole.real == 0) | (whole.imag == 0)
    return np.asarray(found).reshape(np.shape(terms[0]))


SUMS: Final = ("sum", "mean", "premul_sum")


def all_minus_zero(terms: Sequence[Array], factor: float) -> bool:
    """Return whether all terms of some element, or of a part of it, are -0.0 once they are scaled."""
    return bool(minus_zeros(terms, factor).any())


def minus_zeros(terms: Sequence[Array], factor: float) -> Array:
    """Return, as bools in the shape of a term, of which elements all terms, or a part of each, are -0.0 once scaled."""
    with np.errstate(all="ignore"):
        scaled = [by_real(np.multiply, block, factor) for block in terms] if factor != 1 else terms
    halves = [[block.real, block.imag] if block.dtype.kind == "c" else [block] for block in scaled]
    with np.errstate(invalid="ignore"):  # NumPy warns of comparing NaNs that signal
        found = [
            np.logical_and.reduce([(part == 0) & np.signbit(part) for part in parts])
            for parts in zip(*halves, strict=True)
        ]
    return np.asarray(np.logical_or.reduce(found))


def _parts(block: Array) -> Array:
    return np.concatenate([block.real, block.imag], axis=None) if block.dtype.kind == "c" else block


def _too_great(block: Array, count: int) -> Array:
    """Return which elements are infinite, or so great that as many of them as a count may overflow."""
    with np.errstate(all="ignore"):
        size = np.abs(block.astype(np.float64))
        return np.asarray(~np.isfinite(size) | (size * count > float(greatest(block.dtype))))


def _may_show(step: Step, blocks: list[Array]) -> bool:
    """Return whether the order of a step may show, whichever blocks meet in it."""
    if step.attrs.get("op") in ARITHMETIC:
        return True
    zeros = [np.signbit(block[block == 0]) for block in blocks if block.dtype.kind != "c"]
    return any(signs.any() for signs in zeros) and not all(signs.all() for signs in zeros)
