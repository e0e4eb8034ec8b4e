"""Sums and products of bools, where the sources differ in the dtype alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from ml_dtypes import finfo

from conformance.cases.declarations.number_model import DEFAULT
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.judging.clause import SILENT
from conformance.judging.compare import answered
from conformance.judging.numbers.classes import classes_of
from conformance.judging.subject import Subject

Way = Callable[[Array], Array]
Block = tuple[int, Array, Tensor]
"""A rank, the int32 that the reference counts there, and what was seen."""

WAYS: Final[dict[str, dict[str, Way]]] = {
    "sum": {"the count": lambda counted: counted, "the disjunction": lambda counted: counted != 0},
    "product": {"the conjunction": lambda counted: counted},
}
"""What a reduction is in each source, by what the reference counts."""


_SUMS: Final = (DEFAULT, frozenset({("accumulate", "float64")}))
"""The number models that counts in a float dtype may have."""


def counted_or_any(subject: Subject, seen: Observation) -> str | None:
    """Demand that a sum of bools counts the true ones or says whether there are any, and a product whether all are.

    It is one of the two, in one dtype, throughout a result: bool, an integer one, in which counts wrap, or a float one,
    in which elements that count further than it has every integer are what some order of adding ones comes to. Nothing
    is said of a result that is missing, for ``reduction.C11``, a *should*, settles whether there is one, nor of any
    that is not folded from inputs of the program and returned as it is, nor of one of another operand, which holds
    no bools.
    """
    if answered(subject, seen):
        return SILENT
    told: str | None = SILENT
    for name in (name for name in subject.expected if name in subject.folds.by_result):
        pairs = enumerate(zip(subject.expected[name], seen.results[name], strict=True))
        blocks = [(rank, want, got) for rank, (want, got) in pairs if want is not None and got is not None]
        folded = subject.folds.by_result[name]
        if folded.dtype != "bool" or folded.op not in WAYS or not blocks:
            continue
        problem = miscounted(blocks, folded.op)
        if problem:
            return f"{name} {problem}"
        told = None
    return told


def miscounted(blocks: Sequence[Block], op: str) -> str | None:
    """Return how blocks are not, all in one way, what a ``sum`` or a ``product`` of bools may be, if they are not."""
    return _unfit(blocks) or _unlike(blocks, WAYS[op])


def _unfit(blocks: Sequence[Block]) -> str | None:
    """Return which dtypes or shape no sum of bools has."""
    dtypes = sorted({tensor.dtype for _, _, tensor in blocks})
    if len(dtypes) > 1:
        return f"has on some ranks the dtype {dtypes[0]} and on others {dtypes[1]}"
    if dtypes and kind(dtypes[0]) == "complex":
        return f"has the dtype {dtypes[0]}, expected bool, integers or floats"
    for rank, counted, tensor in blocks:
        if tensor.shape != counted.shape:
            return f"on rank {rank} has the shape {list(tensor.shape)}, expected {list(counted.shape)}"
    return None


def _unlike(blocks: Sequence[Block], ways: Mapping[str, Way]) -> str | None:
    """Return where the blocks are first not what each of the ways makes, or ``None`` if one makes them all."""
    problems = []
    for words, way in ways.items():
        found = (_first(words, way, *block) for block in blocks)
        problem = next((each for each in found if each), None)
        if problem is None:
            return None
        problems.append(problem)
    return "; ".join(problems)


def _first(words: str, way: Way, rank: int, counted: Array, tensor: Tensor) -> str | None:
    """Return the first element that is not what ``way`` makes of the count."""
    got, want = to_array(tensor), way(counted).astype(NUMPY[tensor.dtype])
    if tensor.dtype == "bool":
        got = got.view(np.uint8) != 0  # which bytes a bool may have is not asked here
    wrong: Array = np.asarray(got != want)
    if kind(tensor.dtype) == "float":
        past = wrong & (counted > 2 ** (finfo(NUMPY[tensor.dtype]).nmant + 1))
        for place in (place for place in np.ndindex(past.shape) if past[place]):
            wrong[place] = not _a_tree_of_ones(got[place], int(counted[place]))
    if not wrong.any():
        return None
    index = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return f"on rank {rank} at {[int(i) for i in index]} is {got[index]}, and {words} is {want[index]}"


def _a_tree_of_ones(got: Array, count: int) -> bool:
    """Return whether a float is what some tree of as many ones comes to in its dtype, or in a wider one."""
    dtype, ones = logical(got.dtype), np.ones(count, got.dtype).tobytes()
    return any(classes_of(dtype, "sum", 1.0, ones, got.tobytes(), exact=False, words=words) for words in _SUMS)
