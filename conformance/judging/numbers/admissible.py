"""Results of reductions judged without a tolerance: equal, or of a class that some right implementation reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from conformance.cases.declarations.number_model import Words, word_of
from conformance.cases.observation import Observation
from conformance.cases.program.witnesses import uses
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.cases.tensor.tensor import to_array
from conformance.judging.clause import SILENT
from conformance.judging.compare import Difference, answered, differences, unequal, unreturned
from conformance.judging.numbers.advice import advice
from conformance.judging.numbers.classes import CLASSES, Class, classes_of, closest, shown
from conformance.judging.numbers.column import Column, column
from conformance.judging.numbers.computed import bounding_values
from conformance.judging.numbers.contributions import FoldedResult, apart
from conformance.judging.numbers.formats import subnormal
from conformance.judging.numbers.graph_bounds import out_of_bounds
from conformance.judging.numbers.trees import one_nan
from conformance.judging.subject import Subject
from conformance.reference.reductions import ARITHMETIC, ORDER

NOT_FOLDED: Final = FoldedResult("", 1.0, [], "")

_SCALED: Final[frozenset[Class]] = frozenset({"any_tree"})
"""What is said of NaN in a part beside one that is not finite, where both were scaled by a complex number."""


_NOT_FINITE: Final = (np.nan, np.inf, -np.inf)


class Element(NamedTuple):
    """An element of a result: its terms, the value seen, the classes it is of, and the words declared for it."""

    terms: Column
    value: Array
    classes: frozenset[Class]
    words: Words


def admissible(subject: Subject, seen: Observation) -> str | None:
    """Demand of every result the reference's dtype and shape, and bits that are right for some order of operations.

    Data whose partial results are all exact has one right result, the reference's. So have results that are not
    floats, and operations that do not compute with them. What is folded from inputs is what some tree gives, and what
    is folded or made of anything else is within the bounds of the program's graph, where it has one. Where any value
    may be right nothing is said of one in its dtype and shape, nor of a collective none of whose results is asked for.
    """
    silent = subject.unsettled or unreturned(subject)
    return answered(subject, seen) or outside(subject, seen) or (SILENT if silent else None)


def admissible_strictly(subject: Subject, seen: Observation) -> str | None:
    """Demand of results that are there that no element has a value which ``admissible`` admits and a *should* excludes.

    That is the other zero in max and min, and the NaN that a complex count or factor makes of the part beside one that
    is not finite. Nothing is said where a result is missing, or an element is none that ``admissible`` admits.
    """
    if answered(subject, seen) or unreturned(subject):
        return SILENT
    told: str | None = None
    for one in differences(subject, seen):
        for found, strict in zip(elements(subject, one), elements(subject, one, strictly=True), strict=True):
            if found and found.classes and strict and not strict.classes:
                return one.problem
            told = told if found and found.classes else SILENT
    return told


def outside(subject: Subject, seen: Observation) -> str | None:
    """Demand of every result that is there what ``admissible`` demands of it."""
    return next((problem for _, problem in _problems(subject, seen)), None)


def wrong_results(subject: Subject, seen: Observation) -> dict[str, str]:
    """Return the results that are not what ``admissible`` demands of them, each with one line of why not."""
    found: dict[str, str] = {}
    for name, problem in _problems(subject, seen):
        found.setdefault(name, problem)
    return found


def shown_wrong(subject: Subject, wrong: Iterable[str], words: Collection[str]) -> bool:
    """Return whether one of the wrong results shows how what words of ``effects`` or ``flow`` say was done."""
    made = uses(subject.case, wrong)
    return any(made.tell(each) for word in words for each in subject.witnesses.get(word, ()))


def _problems(subject: Subject, seen: Observation) -> Iterator[tuple[str, str]]:
    """Yield the results whose blocks are wrong on some rank, and why."""
    for one in differences(subject, seen):
        if _of_one_collective(subject) and "op" not in subject.step.attrs and _another_nan(one):
            continue  # What moves blocks keeps every bit; that is a clause of its own, and no other is broken by it.
        problem = _problem(subject, one)
        if problem is not None:
            yield one.name, problem
    if subject.open:
        yield from out_of_bounds(subject, seen, bounding_values(subject.whole.case, subject.numbers)).items()


def _problem(subject: Subject, one: Difference) -> str | None:
    wrong = []
    for found in elements(subject, one):
        if found is None:
            return one.problem
        if not found.classes:
            wrong.append((found.terms, found.value, found.words))
    return one.problem + advice(wrong) if wrong else None


def _of_one_collective(subject: Subject) -> bool:
    return subject.of is not None or len(subject.case.program.steps) == 1


def _another_nan(one: Difference) -> bool:
    """Return whether a block differs from the reference's in which NaN it holds alone."""
    fits = (one.tensor.dtype, one.tensor.shape) == (logical(one.expected.dtype), one.expected.shape)
    return fits and not unequal(one.expected, one.tensor, any_nan=True).any()


def needed(subject: Subject, seen: Observation) -> frozenset[tuple[str, str, str]]:
    """Return the words, as (where, kind, word), that some element of an admissible observation needs to be so."""
    if not subject.numbers.chosen or subject.unsettled or answered(subject, seen):
        return frozenset()
    words: set[tuple[str, str, str]] = set()
    for one in differences(subject, seen):
        for found in elements(subject, one):
            if found is not None and found.words:
                some = shown(found.terms, found.value.tobytes(), found.words)
                declared = subject.numbers.declared(found.terms.dtype, found.terms.op)
                words |= {each for each in declared if each[1:] in some}
    return frozenset(words)


def reached(subject: Subject, seen: Observation) -> tuple[Class, ...]:
    """Return the classes that all elements of an admissible observation belong to, strongest first.

    Where no class has them all, it is the weakest one that some element needs. Nothing is said where no terms are
    order-sensitive.
    """
    if subject.unsettled or all(each.order_free or not each.finite for each in subject.folds.columns):
        return ()
    if answered(subject, seen):
        return ()
    common, weakest = set(CLASSES), CLASSES[0]
    for one in differences(subject, seen):
        for found in (*elements(subject, one), *elements(subject, one, equal=True)):
            if found is None:
                return ()
            common &= found.classes
            weakest = max(weakest, closest(found.classes) or weakest, key=CLASSES.index)
    if weakest == "exact":
        return ("exact",)
    return tuple(name for name in CLASSES if name in common) or (weakest,)


def elements(
    subject: Subject, one: Difference, *, equal: bool = False, strictly: bool = False
) -> Iterator[Element | None]:
    """Yield the elements of a block that differ from the reference's, or are ``equal``; parts apart where sums are.

    Where nothing is known of their terms, yield ``None``. ``strictly`` is what ``admissible_strictly`` asks for.
    """
    fits = (one.tensor.dtype, one.tensor.shape) == (logical(one.expected.dtype), one.expected.shape)
    op, factor, ranks, _ = subject.folds.by_result.get(one.name, NOT_FOLDED)
    terms = ranks[one.rank] if ranks and fits and (op in ARITHMETIC or op in ORDER) else None
    if terms is None or terms[0].dtype != one.expected.dtype or kind(one.tensor.dtype) not in ("float", "complex"):
        yield None
        return
    different = unequal(one.expected, one.tensor, any_nan=True)
    at = ~different if equal else different
    columns = np.stack([block.reshape(-1)[at] for block in terms], axis=1)
    sides = [apart(op, side) for side in (columns, one.expected.reshape(-1)[at], to_array(one.tensor).reshape(-1)[at])]
    dtype, scales = logical(sides[0].dtype), columns.dtype.kind == "c" and op in ("mean", "premul_sum")
    words = subject.numbers.words(dtype, op)

    def made(i: int, value: Array) -> frozenset[Class]:
        exact = _same_number(sides[1][i : i + 1], value)
        return classes_of(dtype, op, factor, sides[0][i].tobytes(), value.tobytes(), exact=exact, words=words)

    for i in range(len(sides[0])):
        right, value = (side[i : i + 1] for side in sides[1:])
        found = made(i, value)
        if strictly and not _same_number(right, value) and op in ORDER and not _flushes(words, sides[0][i]):
            found = frozenset()
        elif not strictly and not found and scales and np.isnan(value[0]):
            other = (i + len(sides[0]) // 2) % len(sides[0])  # its other part
            seen, divided = sides[2][other : other + 1], sides[0][other]
            if op == "mean":
                # Two parts are no NaN by each other: what was divided to one was not finite in some order.
                ends = [np.array([end], seen.dtype) for end in _NOT_FINITE] if np.isnan(seen[0]) else [seen]
                divided = np.array([end[0] for end in ends if end is seen or made(other, end)], np.float64)
            found = frozenset() if np.isfinite(divided).all() else _SCALED
        yield Element(column(dtype, op, factor, sides[0][i].tobytes()), value, found, words)


def _same_number(one: Array, other: Array) -> bool:
    """Return whether two values have the same bits, or are two NaNs."""
    return one_nan(one).tobytes() == one_nan(other).tobytes()


def _flushes(words: Words, terms: Array) -> bool:
    """Return whether some term is one that the number model takes for a zero: no other choice makes zeros alike."""
    return word_of(words, "subnormals") != "kept" and bool(subnormal(terms).any())
