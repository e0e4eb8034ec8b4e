"""Comparisons of an observation with what a case means. Each returns ``None``, or one line of why not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from conformance.cases.case import Case
from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.judging.cause import first_error
from conformance.judging.clause import SILENT
from conformance.judging.subject import Subject


class Difference(NamedTuple):
    """A block that is not, bit for bit, the one expected, and in words how it differs."""

    name: str
    rank: int
    expected: Array
    tensor: Tensor
    problem: str


def same(subject: Subject, seen: Observation) -> str | None:
    """Demand of every result, on every rank, the reference's dtype, shape and bits; say nothing where there is none."""
    problem = answered(subject, seen) or next((one.problem for one in differences(subject, seen)), None)
    return problem or (SILENT if unreturned(subject) else None)


def unreturned(subject: Subject) -> bool:
    """Return whether none of the results of a collective is asked for."""
    return not subject.expected and bool(subject.step.outputs)


def differences(subject: Subject, seen: Observation) -> Iterator[Difference]:
    """Yield the blocks that are not the reference's; where arithmetic made a NaN any is. Every rank must have answered.

    Elements that have several right values, of which nothing says which, are not compared.
    """
    for name, blocks in subject.expected.items():
        for rank, (expected, given) in enumerate(zip(blocks, seen.results[name], strict=True)):
            if expected is None or given is None:
                continue  # a rank without a meaning for this result; ``answered`` sees to the others
            problem, tensor = unlike(expected, given), given
            if problem is None:
                tensor = _settled(expected, given, subject.open.get(name, ())[rank : rank + 1])
                problem = _difference(expected, tensor, any_nan=False)
                if problem:
                    tensor = _with_nans(subject, name, rank, expected, tensor)
                    problem = _difference(expected, tensor, any_nan=False)
            if problem:
                yield Difference(name, rank, expected, tensor, f"{name} on rank {rank}: {problem}")


def _settled(expected: Array, tensor: Tensor, mask: Sequence[Array | None]) -> Tensor:
    """Return what was given, with what is expected for the elements of a mask, of which several values are right."""
    if not mask or mask[0] is None or not mask[0].any():
        return tensor
    return from_array(np.where(mask[0], expected, to_array(tensor)))


def _with_nans(subject: Subject, name: str, rank: int, expected: Array, tensor: Tensor) -> Tensor:
    """Return what was given, with the NaNs that are expected in the place of others where arithmetic made them."""
    wrong, of_numbers = (unequal(expected, tensor, any_nan=any_nan) for any_nan in (False, True))
    made = subject.whole.computed_nans.get(name, ())[rank : rank + 1] if (wrong != of_numbers).any() else ()
    if not made or made[0] is None or made[0].shape != expected.shape:
        return tensor
    return _settled(expected, tensor, [made[0] & ~of_numbers.reshape(expected.shape)])


def answered(subject: Subject, seen: Observation) -> str | None:
    """Demand that no rank raised and that every rank returned every result."""
    first = first_error(seen.errors)
    return f"rank {first[0]} raised {one_line(first[1])}" if first else missing(subject.expected, seen)


def missing(expected: Mapping[str, Sequence[Array | None]], seen: Observation) -> str | None:
    """Return the first result that is expected of a rank and was not returned."""
    for name, wanted in expected.items():
        blocks = seen.results.get(name, (None,) * len(wanted))
        for rank, (want, got) in enumerate(zip(wanted, blocks, strict=True)):
            if want is not None and got is None:
                return f"{name} is missing on rank {rank}"
    return None


def inputs_kept(subject: Subject, seen: Observation) -> str | None:
    """Demand that no byte of any input's storage changed, nor an element of a buffer that no step writes."""
    problem = untouched(subject, seen)
    if problem is not None or not subject.case.program.buffers:
        return problem
    if seen.raised:
        return changed_inside(subject.case, seen, subject.case.program.buffers)
    kept = unwritten(subject.case)
    for name in subject.expected.keys() & kept:
        for rank, (want, got) in enumerate(zip(subject.expected[name], seen.results.get(name, ()), strict=False)):
            if want is not None and got is not None:
                problem = unlike(want, got) or _difference(want, got, any_nan=True)
                if problem:
                    return f"{name} on rank {rank}, which no step writes: {problem}"
    return None


def untouched(subject: Subject, seen: Observation) -> str | None:
    """Demand that no byte of any input's storage changed."""
    inputs = subject.case.inputs
    return next((f"input {changed(touch)}" for touch in seen.touched if touch.input in inputs), None)


def changed_inside(case: Case, seen: Observation, buffers: Collection[str]) -> str | None:
    """Return which of some buffers, that no step writes or frees, has another element where the program raised."""
    freed = {step.inputs[0] for step in case.program.steps if step.op == "free"}
    kept = set(buffers) - freed - {each.base for each in writes(case)}
    return next((f"buffer {changed(each)}" for each in seen.touched if each.inside and each.input in kept), None)


def unwritten(case: Case) -> frozenset[str]:
    """Return the results that are buffers or views of them, and into none of whose elements a step writes."""
    table, written = names(case), writes(case)
    storage = (name for name in case.program.results if table[name].kind == "storage")
    return frozenset(name for name in storage if not any(table[name].meets(each) for each in written))


def writes(case: Case) -> list[NamedValue]:
    """Return the storage that steps write."""
    table = names(case)
    return [table[name] for step in case.program.steps for name in (*step.into, *step.inputs[: step.op == "assign"])]


def changed(touch: Touched) -> str:
    """Return in words what was changed, and where."""
    return f"{touch.input} on rank {touch.rank}: storage element {touch.index} was {touch.before} and is {touch.after}"


def canonical_bools(subject: Subject, seen: Observation) -> str | None:
    """Demand that bool results hold only the bytes 0 and 1."""
    return canonical_among(subject, seen, subject.expected)


def canonical_among(subject: Subject, seen: Observation, names: Iterable[str]) -> str | None:
    """Demand of some results that what is bool holds only the bytes 0 and 1; nothing is said where nothing is bool.

    What a rank returns that has no result is no result.
    """
    told: str | None = SILENT
    for name in names:
        for rank, (want, got) in enumerate(zip(subject.expected[name], seen.results.get(name, ()), strict=False)):
            if want is None or got is None or got.dtype != "bool":
                continue
            bad = sorted(set(bytes.fromhex(got.bits)) - {0, 1})
            if bad:
                return f"{name} on rank {rank} holds the byte {bad[0]} as a bool"
            told = None
    return told


def unlike(expected: Array, tensor: Tensor) -> str | None:
    """Return in words how dtype or shape differ."""
    if tensor.dtype != logical(expected.dtype):
        return f"dtype is {tensor.dtype}, expected {logical(expected.dtype)}"
    if tensor.shape != expected.shape:
        return f"shape is {list(tensor.shape)}, expected {list(expected.shape)}"
    return None


def _difference(expected: Array, tensor: Tensor, *, any_nan: bool) -> str | None:
    if tensor.bits == expected.tobytes().hex():
        return None
    wrong = unequal(expected, tensor, any_nan=any_nan)
    if not wrong.any():
        return None
    seen, index = to_array(tensor), int(wrong.argmax())
    where = [int(i) for i in np.unravel_index(index, expected.shape)]
    return (
        f"{int(wrong.sum())} of {expected.size} elements differ; element {where} is "
        f"{_shown(seen, index)}, expected {_shown(expected, index)}"
    )


def unequal(expected: Array, tensor: Tensor, *, any_nan: bool) -> Array:
    """Return which elements, in C order, have other bits; the block must have the dtype and shape expected.

    With ``any_nan`` one NaN is as good as another, in each part of a complex number: arithmetic makes a NaN, not a
    particular one.
    """
    seen, width = to_array(tensor), NUMPY[tensor.dtype].itemsize
    flat = [np.ascontiguousarray(side).reshape(-1).view(np.uint8).reshape(-1, width) for side in (seen, expected)]
    wrong: Array = (flat[0] != flat[1]).any(axis=1)
    if any_nan and kind(tensor.dtype) == "float":
        with np.errstate(invalid="ignore"):  # of ml_dtypes, isnan converts, and a signalling NaN tells so
            wrong &= ~(np.isnan(seen) & np.isnan(expected)).reshape(-1)
    if any_nan and kind(tensor.dtype) == "complex":
        parts = [side.view(f"f{width // 2}").reshape(-1, 2) for side in flat]
        nan = np.isnan(parts[0]) & np.isnan(parts[1])
        bits = [side.reshape(-1, 2, width // 2) for side in flat]
        wrong = ((bits[0] != bits[1]).any(axis=2) & ~nan).any(axis=1)
    return wrong


def _shown(array: Array, index: int) -> str:
    element = array.reshape(-1)[index : index + 1]
    with np.errstate(all="ignore"):  # the text of a signalling NaN is made by a conversion
        return f"{element[0]} (0x{element.tobytes()[::-1].hex()})"


def one_line(error: RankError) -> str:
    """Return an error in a line."""
    message = " ".join(error.message.split())
    return f"{error.kind}: {message[:300]}"
