"""Storage that a backend holds: read before it is written, written whole or not at all, and filled when freed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from conformance.backends.case_arrays import Placed, placed_operand
from conformance.cases.case import Case
from conformance.cases.program.effects import window
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array

POISON: Final = 0xDB
"""Byte that fills freed storage."""


def read_first(operands: list[Any], targets: list[Any]) -> list[Any]:
    """Return the operands, a copy of each that shares memory with the target of one before it."""
    return [
        [np.array(block) for block in operand]
        if any(map(np.may_share_memory, operand * at, [block for target in targets[:at] for block in target]))
        else operand
        for at, operand in enumerate(operands)
    ]


def written(target: list[Array], blocks: list[Array]) -> list[Array]:
    """Return ``target`` with the blocks written; raise ``ValueError`` unless dtypes and shapes are the same."""
    for to, block in zip(target, blocks, strict=True):
        if (to.dtype, to.shape) != (block.dtype, block.shape):
            raise ValueError(f"{block.dtype} {block.shape} cannot be written into {to.dtype} {to.shape}")
    for to, block in zip(target, blocks, strict=True):
        to[...] = block
    return target


def poison(blocks: list[Array]) -> None:
    """Fill freed storage with a byte, so that whoever still reads it is found out."""
    for block in blocks:
        block[...] = np.full(block.nbytes, POISON, np.uint8).view(block.dtype).reshape(block.shape)


def stored(case: Case, placed: Placed, step: Step, taken: Sequence[list[Array]]) -> list[Any]:
    """Do a step on storage: a buffer, a view, a copy, an assign or a free; return its outputs."""
    if step.op == "buffer":
        placed[step.outputs[0]] = placed_operand(case.inputs[step.inputs[0]])
        return [[view for _, view in placed[step.outputs[0]]]]
    if step.op == "view":
        return [[window(block, step) for block in taken[0]]]
    if step.op == "copy":
        return [[np.array(block) for block in taken[0]]]
    if step.op == "assign":
        written(taken[0], [np.array(block) for block in taken[1]])
    else:
        poison(taken[0])
    return []
