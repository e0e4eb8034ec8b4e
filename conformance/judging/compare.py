"""Comparisons of an observation with what a case means. Each returns ``None``, or one line of why not."""

from __future__ import annotations

import numpy as np

from conformance.cases.dtypes import NUMPY, Array, kind, logical
from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.tensor import Tensor, to_array
from conformance.judging.arithmetic import arithmetic
from conformance.judging.clause import Subject


def same(subject: Subject, seen: Observation) -> str | None:
    """Demand of every result, on every rank, the reference's dtype, shape and bits."""
    problem = answered(subject, seen)
    if problem:
        return problem
    loose = arithmetic(subject.case.program)
    for name, blocks in subject.expected.items():
        for rank, (expected, tensor) in enumerate(zip(blocks, seen.results[name], strict=True)):
            if expected is None or tensor is None:
                continue  # a rank without a meaning for this result; ``answered`` saw to the others
            problem = _difference(expected, tensor, any_nan=name in loose)
            if problem:
                return f"{name} on rank {rank}: {problem}"
    return None


def answered(subject: Subject, seen: Observation) -> str | None:
    """Demand that no rank raised and that every rank returned every result."""
    for rank, error in enumerate(seen.errors):
        if error is not None:
            return f"rank {rank} raised {_one_line(error)}"
    for name, expected in subject.expected.items():
        blocks = seen.results.get(name, (None,) * len(expected))
        missing = [
            r for r, (want, got) in enumerate(zip(expected, blocks, strict=True)) if want is not None and got is None
        ]
        if missing:
            return f"{name} is missing on rank {missing[0]}"
    return None


def refused(subject: Subject, seen: Observation) -> str | None:
    """Demand that some rank raised."""
    if seen.raised:
        return None
    return f"accepted without an error; {subject.rejected}"


def refused_by_all(subject: Subject, seen: Observation) -> str | None:
    """Demand that, where one rank raised, every rank raised."""
    silent = [rank for rank in range(subject.case.program.world) if rank >= len(seen.errors) or not seen.errors[rank]]
    if seen.raised and silent:
        return f"rank {silent[0]} did not raise, others did"
    return None


def blames_argument(subject: Subject, seen: Observation) -> str | None:
    """Demand that every error raised is about an argument and not about the implementation's inside."""
    for rank, error in enumerate(seen.errors):
        if error is not None and error.category != "invalid_argument":
            return f"rank {rank} raised {_one_line(error)}, which is {error.category}; {subject.rejected}"
    return None


def inputs_kept(subject: Subject, seen: Observation) -> str | None:
    """Demand that no byte of any input's storage changed."""
    inputs = subject.case.inputs
    return next((f"input {_changed(touch)}" for touch in seen.touched if touch.input in inputs), None)


def surroundings_kept(subject: Subject, seen: Observation) -> str | None:
    """Demand that no byte around the elements of any buffer changed."""
    inputs = subject.case.inputs
    return next((f"around buffer {_changed(touch)}" for touch in seen.touched if touch.input not in inputs), None)


def _changed(touch: Touched) -> str:
    return f"{touch.input} on rank {touch.rank}: storage element {touch.index} was {touch.before} and is {touch.after}"


def canonical_bools(subject: Subject, seen: Observation) -> str | None:
    """Demand that bool results hold only the bytes 0 and 1."""
    for name, blocks in seen.results.items():
        for rank, tensor in enumerate(blocks):
            if tensor is not None and tensor.dtype == "bool":
                bad = sorted(set(bytes.fromhex(tensor.bits)) - {0, 1})
                if bad:
                    return f"{name} on rank {rank} holds the byte {bad[0]} as a bool"
    return None


def _difference(expected: Array, tensor: Tensor, *, any_nan: bool) -> str | None:
    if tensor.dtype != logical(expected.dtype):
        return f"dtype is {tensor.dtype}, expected {logical(expected.dtype)}"
    if tensor.shape != expected.shape:
        return f"shape is {list(tensor.shape)}, expected {list(expected.shape)}"
    if tensor.bits == expected.tobytes().hex():
        return None
    seen = to_array(tensor)
    width = NUMPY[tensor.dtype].itemsize
    flat = [np.ascontiguousarray(side).reshape(-1).view(np.uint8).reshape(-1, width) for side in (seen, expected)]
    wrong = (flat[0] != flat[1]).any(axis=1)
    if any_nan:  # arithmetic makes a NaN, not a particular one
        wrong &= (
            ~(np.isnan(seen) & np.isnan(expected)).reshape(-1) if kind(tensor.dtype) in ("float", "complex") else True
        )
    if not wrong.any():
        return None
    index = int(wrong.argmax())
    where = [int(i) for i in np.unravel_index(index, expected.shape)]
    return (
        f"{int(wrong.sum())} of {expected.size} elements differ; element {where} is "
        f"{_shown(seen, index)}, expected {_shown(expected, index)}"
    )


def _shown(array: Array, index: int) -> str:
    element = array.reshape(-1)[index : index + 1]
    return f"{element[0]} (0x{element.tobytes()[::-1].hex()})"


def _one_line(error: RankError) -> str:
    message = " ".join(error.message.split())
    return f"{error.kind}: {message[:300]}"
