"""Results of reductions judged without a tolerance: equal, or of a class that some right implementation reaches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.cases.dtypes import Array, kind, logical
from conformance.cases.observation import Observation
from conformance.cases.tensor import to_array
from conformance.judging.classes import CLASSES, Class, classes_of, closest
from conformance.judging.clause import Subject
from conformance.judging.compare import Difference, answered, differences, unequal
from conformance.reference.reductions import ARITHMETIC, Terms


def admissible(subject: Subject, seen: Observation) -> str | None:
    """Demand of every result the reference's dtype and shape, and bits that are right for some order of operations.

    Data whose partial results are all exact has one right result, the reference's. So have results that are not
    floats, operations that do not compute with them, and programs that do more than reduce once.
    """
    problem = answered(subject, seen)
    if problem:
        return problem
    for one in differences(subject, seen):
        terms = _terms(subject, one)
        if terms is None or not all(_found(subject, terms, one, unequal(one.expected, one.tensor, any_nan=True))):
            return one.problem
    return None


def reached(subject: Subject, seen: Observation) -> tuple[Class, ...]:
    """Return the classes that all elements of an admissible observation belong to, strongest first.

    Where no class has them all, it is the weakest one that some element needs. Nothing is said of results that are no
    reductions of floats.
    """
    if not subject.legal or not rounds(subject) or subject.unsettled:
        return ()
    common, needed = set(CLASSES), CLASSES[0]
    for one in differences(subject, seen):
        terms = _terms(subject, one)
        if terms is None:
            return ()
        different = unequal(one.expected, one.tensor, any_nan=True)
        for at in (different, ~different):
            for found in _found(subject, terms, one, at):
                common &= found
                needed = max(needed, closest(found) or needed, key=CLASSES.index)
    if needed == "exact":
        return ("exact",)
    return tuple(name for name in CLASSES if name in common) or (needed,)


def rounds(subject: Subject) -> bool:
    """Return whether the step computes with floats or complex numbers."""
    return subject.step.attrs.get("op") in ARITHMETIC and any(
        kind(operand.blocks[0].dtype) in ("float", "complex") for operand in subject.case.inputs.values()
    )


def _terms(subject: Subject, one: Difference) -> Terms | None:
    """Return what a block is folded from, where it is floats of the terms' own dtype, else ``None``."""
    fits = (one.tensor.dtype, one.tensor.shape) == (logical(one.expected.dtype), one.expected.shape)
    if not fits or not rounds(subject) or kind(one.tensor.dtype) not in ("float", "complex"):
        return None
    terms = subject.terms.get(one.name, [None] * (one.rank + 1))[one.rank]
    return terms if terms is not None and terms[0].dtype == one.expected.dtype else None


def _found(subject: Subject, terms: Terms, one: Difference, at: Array) -> Iterator[frozenset[Class]]:
    """Yield the classes of each element in question, of parts apart where they are computed apart."""
    op, factor = str(subject.step.attrs["op"]), float(subject.step.attrs.get("factor", 1.0))  # type: ignore[arg-type]
    columns = np.stack([block.reshape(-1)[at] for block in terms], axis=1)
    sides = [columns, one.expected.reshape(-1)[at], to_array(one.tensor).reshape(-1)[at]]
    if op != "product" and columns.dtype.kind == "c":
        half = columns.real.dtype
        sides = [np.ascontiguousarray(side).view(half) for side in sides]
        sides[0] = np.concatenate([sides[0][:, 0::2], sides[0][:, 1::2]])
        sides[1:] = [np.concatenate([side[0::2], side[1::2]]) for side in sides[1:]]
    dtype = logical(sides[0].dtype)
    for content, right, value in zip(*sides, strict=True):
        same = right.tobytes() == value.tobytes() or bool(np.isnan(right) and np.isnan(value))
        yield classes_of(dtype, op, factor, content.tobytes(), value.tobytes(), exact=same)
