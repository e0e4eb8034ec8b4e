"""The data of a case in memory, in its layouts, and what became of it: arrays in, tensors and touched inputs out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Touched
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import place
from conformance.cases.tensor.tensor import Tensor, from_array, to_array

Placed = dict[str, list[tuple[Array, Array]]]


def tensors(results: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Tensor | None, ...]]:
    """Return results, a block or ``None`` for each rank, as data."""
    return {
        name: tuple(None if block is None else from_array(np.asarray(block)) for block in blocks)
        for name, blocks in results.items()
    }


def place_inputs(case: Case) -> Placed:
    """Return ``(storage, view)`` for each input and rank, laid out as the case says."""
    return {name: placed_operand(operand) for name, operand in case.inputs.items()}


def placed_operand(operand: Operand) -> list[tuple[Array, Array]]:
    """Return ``(storage, view)`` for each rank of one input, or of a buffer that begins as a copy of it."""
    pairs = zip(operand.blocks, operand.layouts, strict=True)
    return [place(to_array(block), layout) for block, layout in pairs]


def touched(case: Case, placed: Placed, *, inside: bool = False) -> tuple[Touched, ...]:
    """Return the first changed storage element of every input that is not, byte for byte, what it was.

    Of a buffer, where ``placed`` has one under its name, only what surrounds its elements counts. If that is as it was
    and ``inside`` is asked for, it is the first element that is not what the buffer began with.
    """
    return tuple(_changes(case, placed, inside=inside))


def _changes(case: Case, placed: Placed, *, inside: bool) -> Iterator[Touched]:
    buffers = {name: placed_operand(case.inputs[source]) for name, source in case.program.buffers.items()}
    for name, before in (place_inputs(case) | {name: buffers[name] for name in placed.keys() & buffers}).items():
        for rank, ((old, held), (new, seen)) in enumerate(zip(before, placed[name], strict=True)):
            began, after = old.tobytes(), new.tobytes()
            if name in buffers:
                held[...] = seen
            kept = old.tobytes()
            if kept != after or (inside and began != after):
                was, width = began if kept == after else kept, old.dtype.itemsize
                elements = [np.frombuffer(side, np.uint8).reshape(-1, width) for side in (was, after)]
                index = int((elements[0] != elements[1]).any(axis=1).argmax())
                old_one, new_one = (side[index].tobytes().hex() for side in elements)
                yield Touched(input=name, rank=rank, index=index, before=old_one, after=new_one, inside=kept == after)
