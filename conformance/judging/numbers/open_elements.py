"""Which elements of a program's results have several right values of which nothing says which they may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.program.computing import computes
from conformance.cases.program.computing_words import computing_words
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.graphs.values import fixed
from conformance.judging.numbers.arithmetic import arithmetic
from conformance.judging.numbers.computed import computed_values
from conformance.judging.numbers.evaluated_with import differing, evaluated_with
from conformance.judging.numbers.folds import Folds
from conformance.judging.numbers.order import choices_show, chosen, opened, scaled, scales_otherwise
from conformance.reference.operations import FOLDED, OPERATIONS
from conformance.reference.reductions import ARITHMETIC, ORDER

OTHERS: Final = (np.nan, np.inf, -np.inf)
"""What is put in the place of an open element, in turn: whatever is made of it is another at least once.

A sum, a mean and a product of a NaN, and its maximum, are one; the position of a maximum is that of an infinity.
"""

OfTerms = Callable[[Sequence[Array], str, float], Array]
"""Tells of the terms of a reduction, the reduction and its factor which elements something holds of."""

Masks = Mapping[str, Sequence[Array | None]]
"""By result and rank which elements, as bools in the shape of the block; ``None`` where a rank has no meaning."""


def open_elements(
    case: Case, expected: Mapping[str, Sequence[Array | None]], numbers: NumberModel, folds: Folds
) -> Masks:
    """Return, of a legal program, which elements hold what a fold made whose order shows, or what was made of that.

    What is folded from inputs alone is not among them: all right values of that are known. Elements in which a choice
    of the number model shows are. Where something computes, it is what the program's graph says of it, or all that
    arithmetic made where there is no graph.
    """
    if computes(case.program):
        return _of_computing(case, expected, numbers, folds)
    made = (arithmetic(case.program) - folds.by_result.keys()).intersection(expected)
    if not made:
        return {}
    if not (choices_show(case, numbers) or folds.several_right):
        return {}

    def several(terms: Sequence[Array], op: str, factor: float) -> Array:
        shown = chosen(terms, op, factor, numbers)
        floats = kind(logical(terms[0].dtype)) in ("float", "complex")
        return shown | opened(terms, op, factor) if floats else shown

    masks = depending(case, {name: expected[name] for name in made}, several)
    return {name: each for name, each in masks.items() if any(mask is not None and mask.any() for mask in each)}


def depending(case: Case, expected: Mapping[str, Sequence[Array | None]], of: OfTerms) -> Masks:
    """Return which elements of results are made of an element that a reduction folds from such terms.

    ``of`` tells of the terms of floats, the reduction and the factor which elements are folded from such ones.
    """
    masks = {name: [_nothing(block) for block in blocks] for name, blocks in expected.items()}
    for other in OTHERS:
        moved = evaluated_with(case, {name: partial(_replacing, name, other, of) for name in FOLDED})
        for name, each in masks.items():
            for mask, block, was in zip(each, moved[name], expected[name], strict=True):
                if mask is not None and block is not None and was is not None:
                    np.logical_or(mask, differing(block, was), out=mask)
    return masks


def scaled_elements(case: Case, expected: Mapping[str, Sequence[Array | None]], numbers: NumberModel) -> Masks:
    """Return which elements of results are made of what a number model scales otherwise than a graph does.

    Only results with such elements are there. Of these elements a program's graph says nothing.
    """
    if not scales_otherwise(case, numbers):
        return {}
    masks = depending(case, expected, lambda terms, op, factor: scaled(terms, op, numbers))
    return {name: each for name, each in masks.items() if any(mask is not None and mask.any() for mask in each)}


def _several(case: Case) -> bool:
    """Return whether a program that computes has floats, or integers of which an operation may be right twice."""
    found = computing_words(case)
    dtypes = found["computed"].union(block.dtype for each in case.inputs.values() for block in each.blocks)
    floats = any(kind(dtype) in ("float", "complex") for dtype in dtypes)
    return floats or any(word.partition(" ")[0] in ("div", "mod", "shl", "shr") for word in found["computes"])


def _of_computing(
    case: Case, expected: Mapping[str, Sequence[Array | None]], numbers: NumberModel, folds: Folds
) -> Masks:
    if not _several(case):
        return {}
    known, otherwise = computed_values(case), scaled_elements(case, expected, numbers)
    masks: dict[str, list[Array | None]] = {}
    for name in (arithmetic(case.program) - folds.by_result.keys()).intersection(expected):
        nothing = [None] * len(expected[name])
        found = zip(expected[name], known.get(name) or nothing, otherwise.get(name, nothing), strict=True)
        masks[name] = [
            None
            if block is None
            else np.full(block.shape, True)
            if meant is None
            else _or(~fixed(meant, numbers), more)
            for block, meant, more in found
        ]
    return {name: each for name, each in masks.items() if any(mask is not None and mask.any() for mask in each)}


def _or(mask: Array, more: Array | None) -> Array:
    return mask if more is None else mask | more


def _nothing(block: Array | None) -> Array | None:
    return None if block is None else np.zeros(block.shape, np.bool_)


def _replacing(name: str, other: float, of: OfTerms, blocks: Sequence[Array], **attrs: Any) -> list[Array]:
    """Return what an operation makes of blocks, with another value for the elements that ``of`` their terms tells."""
    made: list[Array] = OPERATIONS[name](blocks, **attrs)
    op = str(attrs.get("op"))
    floats = op == "mean" or kind(logical(blocks[0].dtype)) in ("float", "complex")
    if (op not in ARITHMETIC and op not in ORDER) or not floats:
        return made
    how = {attr: value for attr, value in attrs.items() if attr not in ("op", "factor")}
    terms = FOLDED[name](blocks, **how)
    shared = {id(each): each for each in terms if each}  # ranks that fold the same have one list of it
    open_ = {key: of(each, op, float(attrs.get("factor", 1.0))) for key, each in shared.items()}
    return [
        block if each is None or not each else _replaced(block, open_[id(each)], other)
        for block, each in zip(made, terms, strict=True)
    ]


def _replaced(block: Array, where: Array, other: float) -> Array:
    if not where.any() or kind(logical(block.dtype)) not in ("float", "complex"):
        return block
    changed = block.copy()
    with np.errstate(all="ignore"):  # not every dtype has an infinity
        changed[where] = np.array(other).astype(block.dtype)
    return changed
