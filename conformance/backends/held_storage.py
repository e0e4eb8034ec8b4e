"""Storage that a backend holds: read before it is written, written whole or not at all, and filled when freed."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

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
