"""Wrong results: what a mutant makes of the right blocks of a collective, or of the blocks it is about to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical

Blocks = Sequence[Any]
"""A block for each rank, or a token, or nothing."""

Wrong = Callable[[list[Any], Blocks, int, int], list[Any] | None]
"""Takes the right blocks, the operand's, the rank and the element (both counted from the end where negative), and
returns the wrong ones, or ``None`` where these blocks cannot be wrong in this way."""


def _one(change: Callable[[Array, int], Array | None]) -> Wrong:
    """Return what is wrong on one rank: ``change`` of its block, which has an element."""

    def wrong(blocks: list[Any], _: Blocks, rank: int, element: int) -> list[Any] | None:
        at = rank % len(blocks)
        if not isinstance(blocks[at], np.ndarray) or not blocks[at].size:
            return None
        made = change(blocks[at].copy(), element % blocks[at].size)
        if made is None or _same(made, blocks[at]):
            return None
        return [made if number == at else block for number, block in enumerate(blocks)]

    return wrong


def _every(change: Callable[[Array], Array | None]) -> Wrong:
    """Return what is wrong on all ranks: ``change`` of each block."""

    def wrong(blocks: list[Any], *_: object) -> list[Any] | None:
        made = [change(block) if isinstance(block, np.ndarray) else block for block in blocks]
        made = [block if new is None else new for new, block in zip(made, blocks, strict=True)]
        return None if all(map(_same, made, blocks)) else made

    return wrong


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return one is other
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()


def _bit(block: Array, element: int) -> Array:
    """Flip the lowest bit of an element."""
    raw = block.reshape(-1).view(np.uint8).reshape(block.size, -1)
    raw[element, 0] ^= 1
    return raw.reshape(-1).view(block.dtype).reshape(block.shape)


def _top_bit(block: Array, element: int) -> Array | None:
    """Flip the sign of an element."""
    name = logical(block.dtype)
    if name in ("bool", "int4", "uint4"):
        return None
    raw = block.reshape(-1).view(np.uint8).reshape(block.size, -1)
    raw[element, -1] ^= 0x80
    return raw.reshape(-1).view(block.dtype).reshape(block.shape)


def _cleared(block: Array, element: int) -> Array:
    block.reshape(-1)[element] = 0
    return block


def _repeated(block: Array, element: int) -> Array:
    """Store an element's neighbour twice."""
    flat = block.reshape(-1)
    flat[element] = flat[element - 1]
    return block


def _rolled(block: Array) -> Array | None:
    return np.roll(block, 1, 0) if block.ndim else None


def _rolled_inside(block: Array) -> Array | None:
    return np.roll(block, 1, -1) if block.ndim > 1 else None


def _turned(block: Array) -> Array | None:
    return np.ascontiguousarray(block[::-1]) if block.ndim else None


def _transposed(block: Array) -> Array | None:
    return np.ascontiguousarray(block.T).reshape(block.shape) if block.ndim > 1 else None


NARROWER: Final = {
    "float64": "float32", "float32": "bfloat16", "float16": "float8_e5m2", "bfloat16": "float8_e5m2",
    "complex128": "complex64", "int64": "float32", "int32": "float32", "int16": "int8", "uint64": "uint32",
    "uint32": "uint16", "uint16": "uint8", "uint8": "uint4", "int8": "int4", "float8_e4m3fn": "float8_e5m2",
    "float8_e5m2": "float8_e4m3fn",
}  # fmt: skip
"""What each dtype is rounded through."""


def _narrowed(block: Array) -> Array | None:
    """Round every element to a narrower dtype and back."""
    other = NARROWER.get(logical(block.dtype))
    with np.errstate(all="ignore"):
        return None if other is None else block.astype(NUMPY[other]).astype(block.dtype)


def _saturated(block: Array) -> Array | None:
    """Replace the greatest integers, and what is infinite, by what lies just inside."""
    name = logical(block.dtype)
    if kind(name) == "integer":
        greatest = ml_dtypes.iinfo(block.dtype).max
        return np.where(block == greatest, np.asarray(int(greatest) - 1, block.dtype), block).astype(block.dtype)
    if kind(name) != "float":
        return None
    with np.errstate(all="ignore"):
        wide = block.astype(np.float64)
        return np.where(np.isinf(wide), np.asarray(0, block.dtype), block).astype(block.dtype)


def _unsigned_zero(block: Array) -> Array | None:
    """Replace -0.0 by 0.0."""
    return np.where(block == 0, np.zeros((), block.dtype), block) if kind(logical(block.dtype)) == "float" else None


def _without_nan(block: Array) -> Array | None:
    """Replace NaN by 0."""
    if kind(logical(block.dtype)) != "float":
        return None
    with np.errstate(all="ignore"):
        return np.where(np.isnan(block.astype(np.float64)), np.zeros((), block.dtype), block)


def _of_other_dtype(block: Array) -> Array | None:
    other = {"float32": "float64", "int32": "int64", "bool": "int32"}.get(logical(block.dtype), "float32")
    return None if other == logical(block.dtype) else _real(block).astype(NUMPY[other])


def _real(block: Array) -> Array:
    """Return the real parts, where a block has others; to cast those away NumPy warns."""
    return block.real if np.iscomplexobj(block) else block


def _one_axis_more(block: Array) -> Array:
    return block[None]


def _squeezed(block: Array) -> Array | None:
    return block.reshape(block.shape[1:]) if block.ndim and block.shape[0] == 1 else None


def _neighbours(blocks: list[Any], _: Blocks, rank: int, element: int) -> list[Any] | None:  # noqa: ARG001 - as all
    """Give every rank the block of the one after it."""
    made = [*blocks[1:], *blocks[:1]]
    return None if all(map(_same, made, blocks)) else made


def _exchanged(blocks: list[Any], _: Blocks, rank: int, element: int) -> list[Any] | None:  # noqa: ARG001 - as all
    """Exchange the blocks of two ranks."""
    one, other = rank % len(blocks), (rank + 1) % len(blocks)
    if _same(blocks[one], blocks[other]):
        return None
    made = list(blocks)
    made[one], made[other] = blocks[other], blocks[one]
    return made


def _operand(blocks: list[Any], operand: Blocks, rank: int, element: int) -> list[Any] | None:  # noqa: ARG001 - as all
    """Return what was given, where it is of the right shape."""
    at = rank % len(blocks)
    if at >= len(operand) or not isinstance(operand[at], np.ndarray) or not isinstance(blocks[at], np.ndarray):
        return None
    if (operand[at].dtype, operand[at].shape) != (blocks[at].dtype, blocks[at].shape) or _same(operand[at], blocks[at]):
        return None
    return [operand[at].copy() if number == at else block for number, block in enumerate(blocks)]


def _missing(blocks: list[Any], _: Blocks, rank: int, element: int) -> list[Any] | None:  # noqa: ARG001 - as all
    """Return no block on a rank that has one."""
    at = rank % len(blocks)
    if not isinstance(blocks[at], np.ndarray):
        return None
    return [None if number == at else block for number, block in enumerate(blocks)]


RESULTS: Final[dict[str, Wrong]] = {
    "lowest bit flipped": _one(_bit),
    "sign flipped": _one(_top_bit),
    "element cleared": _one(_cleared),
    "neighbouring element stored twice": _one(_repeated),
    "off by one slice": _every(_rolled),
    "off by one inside a row": _every(_rolled_inside),
    "slices in the other order": _every(_turned),
    "axes exchanged": _every(_transposed),
    "rounded through a narrower dtype": _every(_narrowed),
    "extremes cut": _every(_saturated),
    "negative zero lost": _every(_unsigned_zero),
    "NaN lost": _every(_without_nan),
    "another dtype": _every(_of_other_dtype),
    "an axis too many": _every(_one_axis_more),
    "an axis of one dropped": _every(_squeezed),
    "the next rank's block": _neighbours,
    "two ranks' blocks exchanged": _exchanged,
    "the operand instead of the result": _operand,
    "no block on one rank": _missing,
}
"""What may be made of the blocks of a result."""


def _dropped(blocks: list[Any], _: Blocks, rank: int, element: int) -> list[Any] | None:  # noqa: ARG001 - as all
    """Let a member have nothing but zeros."""
    at = rank % len(blocks)
    if not isinstance(blocks[at], np.ndarray) or not blocks[at].size:
        return None
    made = np.zeros_like(blocks[at])
    return None if _same(made, blocks[at]) else [made if n == at else block for n, block in enumerate(blocks)]


def _doubled(blocks: list[Any], _: Blocks, rank: int, element: int) -> list[Any] | None:  # noqa: ARG001 - as all
    """Read a member's block in the place of its neighbour's too."""
    at, other = rank % len(blocks), (rank + 1) % len(blocks)
    if not isinstance(blocks[at], np.ndarray) or not isinstance(blocks[other], np.ndarray):
        return None
    if _same(blocks[at], blocks[other]) or (blocks[at].dtype, blocks[at].shape) != (
        blocks[other].dtype,
        blocks[other].shape,
    ):
        return None
    return [blocks[at] if n == other else block for n, block in enumerate(blocks)]


OPERANDS: Final[dict[str, Wrong]] = {
    "a member's block dropped": _dropped,
    "a member's block read twice": _doubled,
    "two members in the other order": _exchanged,
    "a stale element read": _one(_cleared),
}
"""What may be made of the blocks that a collective reads."""
