"""Which results of a program are right: of what is folded by rounded operations all that some order comes to."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from conformance.cases.declarations.number_model import DEFAULT
from conformance.cases.tensor.dtypes import Array, infinite, kind, logical
from conformance.judging.applicability import loosened, masks, speaking
from conformance.judging.numbers.admissible import NOT_FOLDED
from conformance.judging.numbers.classes import known_trees, may_overflow, reachable, zero_wins
from conformance.judging.numbers.column import Column, column
from conformance.judging.numbers.contributions import apart
from conformance.judging.numbers.model_operations import carried
from conformance.judging.numbers.sum_interval import sum_interval
from conformance.judging.subject import Subject
from conformance.reference.reductions import ARITHMETIC, ORDER, Terms
from conformance.specs import clauses_of
from conformance.vector_files.rules import (
    ADVISED,
    BETWEEN,
    BETWEEN_OR_NAN,
    BITS,
    BITS_OR_NAN,
    ONE_OF,
    RightBlock,
    chosen,
    inside,
    part_dtype,
    parts,
    uniform,
)

_SCALING: Final = ("mean", "premul_sum")


class Freedom(NamedTuple):
    """What is right of one part: by which rule, and its choices, or its ends."""

    rule: int
    choices: Array | None = None
    low: float = math.nan
    high: float = math.nan


def program_results(subject: Subject) -> dict[str, list[RightBlock | None]]:
    """Return which blocks of each result are right; ``None`` where a rank has none.

    They are those of whoever declares no number model of its own, and gives no guarantee.
    """
    asked = speaking(subject, clauses_of)
    loose = loosened(subject, asked)
    settled = [mask for number in range(len(subject.parts)) for mask in masks(subject, number, asked)]
    nans = subject.computed_nans
    found: dict[str, list[RightBlock | None]] = {}
    for name, blocks in subject.expected.items():
        free = [each[name] for each in (*settled, subject.open) if name in each]
        found[name] = [
            None
            if block is None
            else uniform(block, ADVISED)
            if name in loose
            else _right(subject, name, rank, block, [mask[rank] for mask in free], nans[name][rank] if nans else None)
            for rank, block in enumerate(blocks)
        ]
    return found


def _right(
    subject: Subject, name: str, rank: int, block: Array, free: list[Array | None], nans: Array | None
) -> RightBlock:
    floats = kind(logical(block.dtype)) in ("float", "complex")
    right = uniform(block, BITS)
    width = len(right.rules) // block.size if block.size else 1
    if nans is not None:
        right.rules[np.repeat(nans.reshape(-1), width)] = BITS_OR_NAN
    op, factor, ranks, _ = subject.folds.by_result.get(name, NOT_FOLDED)
    terms = ranks[rank] if ranks else None
    if terms and floats and (op in ARITHMETIC or op in ORDER) and terms[0].dtype == block.dtype:
        right = _folded(block, terms, op, factor)
    width = len(right.rules) // block.size if block.size else 1
    for mask in free:
        if mask is not None:
            right.rules[np.repeat(np.broadcast_to(mask, block.shape).reshape(-1), width)] = ADVISED
    return right


def _folded(block: Array, terms: Terms, op: str, factor: float) -> RightBlock:
    rows = np.stack([term.reshape(-1) for term in terms], axis=1)
    split = apart(op, rows)
    dtype = logical(split.dtype)
    columns = [column(dtype, op, factor, row.tobytes()) for row in split]
    found: list[Freedom] = []
    count, width = block.size, parts(block).size // max(block.size, 1)
    for at in range(count):
        if width == 2 and len(columns) == count:  # a complex product, which is no two columns
            found += _product_parts(columns[at], block.reshape(-1)[at : at + 1])
            continue
        for part in range(width):
            one = columns[part * count + at]
            own = parts(block)[at * width + part : at * width + part + 1]
            other = columns[(1 - part) * count + at] if width == 2 else None
            beside = parts(block)[at * width + width - 1 - part : at * width + width - part]
            found.append(_scaled_beside(freedom(one, own), own, other, beside, op))
    if all(each.rule == BITS_OR_NAN for each in found):
        return uniform(block, BITS_OR_NAN)
    choices, first = chosen([each.choices for each in found], part_dtype(logical(block.dtype)))
    ends = any(each.rule in (BETWEEN, BETWEEN_OR_NAN) for each in found)
    return RightBlock(
        block,
        np.array([each.rule for each in found], np.uint8),
        choices if len(choices) else None,
        first if len(choices) else None,
        np.array([each.low for each in found]) if ends else None,
        np.array([each.high for each in found]) if ends else None,
    )


def freedom(terms: Column, right: Array) -> Freedom:
    """Return what is right of one part that is folded from ``terms``; ``right`` is the reference's."""
    if terms.op in ORDER:
        zeros = terms.terms[terms.terms == 0] if zero_wins(terms) else terms.terms[:0]
        return _listed(np.concatenate([right, zeros]))
    if terms.order_free:
        return Freedom(BITS_OR_NAN)
    in_order, in_any = reachable(terms)
    if in_any is not None:
        several = [right, in_any, *([in_order] if in_order is not None else [])]
        return _listed(np.concatenate(several))
    if not terms.finite:
        return _listed(np.concatenate([right, known_trees(terms), *([in_order] if in_order is not None else [])]))
    return _product(terms, right) if terms.op == "product" else _sum(terms, right)


def _listed(values: Array) -> Freedom:
    nan = np.isnan(values)
    flat = np.ascontiguousarray(values)
    bits = {flat[n : n + 1].tobytes() for n in range(len(flat)) if not nan[n]}
    if nan.any():
        bits.add(flat[nan][:1].tobytes())
    if len(bits) == 1:
        return Freedom(BITS_OR_NAN)
    return Freedom(ONE_OF, np.frombuffer(b"".join(sorted(bits)), flat.dtype))


def _sum(terms: Column, right: Array) -> Freedom:
    how = carried(terms.dtype, terms.op, terms.factor, len(terms.terms), DEFAULT)
    ends = sum_interval(terms, how)
    low = -math.inf if ends.over[1] else ends.low
    high = math.inf if ends.over[0] else ends.high
    # Where a format has no infinities a NaN is what overflowed; elsewhere it is the sum of two of them.
    return _between(low, high, right, nan=all(ends.over) if infinite(terms.dtype) else any(ends.over))


def _product(terms: Column, right: Array) -> Freedom:
    low, high = terms.exact[0] - terms.bound[0], terms.exact[0] + terms.bound[0]
    if not may_overflow(terms):
        return _between(low, high, right)
    return _between(-math.inf if terms.negative else low, high if terms.negative else math.inf, right, nan=True)


def _between(low: Fraction | float, high: Fraction | float, right: Array, *, nan: bool = False) -> Freedom:
    least, most = inside(low, high)
    if np.isnan(right[0]):
        return Freedom(BETWEEN_OR_NAN, None, least, most)
    own = float(right[0])
    return Freedom(BETWEEN_OR_NAN if nan else BETWEEN, None, min(least, own), max(most, own))


def _product_parts(terms: Column, right: Array) -> list[Freedom]:
    """Return what is right of both parts of a complex product, either by itself."""
    if terms.order_free:
        return [Freedom(BITS_OR_NAN)] * 2
    in_order, in_any = reachable(terms)
    trees = known_trees(terms) if in_any is None else in_any
    reached = [right, trees, *([in_order] if in_order is not None else [])]
    of = [np.ascontiguousarray(parts(np.concatenate(reached)).reshape(-1, 2)[:, part]) for part in (0, 1)]
    if not terms.finite:
        return [_listed(several) for several in of]
    found = []
    for exact, far, several in zip(terms.exact, terms.bound, of, strict=True):
        # What is not finite is right where some tree has it, and anywhere where the trees are too many to say.
        wild = may_overflow(terms) and in_any is None
        low, high = inside(exact - far, exact + far)
        numbers = several[~np.isnan(several)].astype(np.float64)
        low, high = min([low, *numbers]), max([high, *numbers])
        nan = wild or bool(np.isnan(several).any())
        found.append(
            Freedom(BETWEEN_OR_NAN if nan else BETWEEN, None, *((-math.inf, math.inf) if wild else (low, high)))
        )
    return found


def _scaled_beside(found: Freedom, right: Array, other: Column | None, beside: Array, op: str) -> Freedom:
    """Return what is right of a part of what a complex count or factor scales: NaN, too, beside what is not finite."""
    if other is None or op not in _SCALING:
        return found
    if op == "premul_sum" or other.order_free:
        ends = other.finite
    else:
        trees = reachable(other)[1]
        ends = other.finite and trees is not None and bool(np.isfinite(trees).all())
        if other.finite and trees is None:
            ends = freedom(other, beside).rule == BETWEEN and math.isfinite(float(beside[0]))
    if ends:
        return found
    if found.rule in (BETWEEN, BETWEEN_OR_NAN):
        return found._replace(rule=BETWEEN_OR_NAN)
    several = [right, np.array([np.nan], right.dtype)]
    return _listed(np.concatenate(several if found.choices is None else [*several, found.choices]))
