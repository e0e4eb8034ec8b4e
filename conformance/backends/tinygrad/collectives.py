"""One function an operation, each on the blocks of one group and the devices of its members, in member order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
from tinygrad.helpers import Context
from tinygrad.tensor import Tensor

from conformance.backends.base import Unsupported
from conformance.backends.tinygrad.dtypes import DTYPES, NAMES
from conformance.cases.dtypes import NUMPY, Array, kind, logical

LOWERING: Final = {
    "naive": {"RING": 0, "ALL2ALL": 0},
    "ring": {"RING": 2, "ALL2ALL": 0},
    "all-to-all": {"RING": 0, "ALL2ALL": 2},
}
"""2 asks for an algorithm whatever the size; by default it is chosen above 256,000 elements."""


def lowered(algorithm: str) -> AbstractContextManager[None]:
    """Return the context in which a reduction over devices is lowered to ``algorithm``."""
    context: AbstractContextManager[None] = Context(**LOWERING[algorithm])
    return context


def all_reduce(
    blocks: Sequence[Array], devices: tuple[str, ...], *, op: str, local_axes: tuple[int, ...]
) -> list[Array]:
    """Return ``sum``, ``mean``, ``prod``, ``max``, ``min``, ``all`` or ``any`` along the sharded axis, on every device.

    Sums and products of integers ask for the dtype of the integers, which wraps; tinygrad's default for sums is wider.
    """
    split = _split(np.stack(blocks), devices, 0)
    axes = (0, *(_behind(axis, blocks[0].ndim) for axis in local_axes))
    own = {"dtype": split.dtype} if kind(logical(blocks[0].dtype)) == "integer" else {}
    if op in ("and", "or") and not own:
        reduced = split.all(axes) if op == "and" else split.any(axes)
    elif op in ("sum", "product"):
        reduced = split.sum(axes, **own) if op == "sum" else split.prod(axes, **own)
    elif op in ("mean", "max", "min"):
        reduced = getattr(split, op)(axes)
    else:
        raise Unsupported(f"tinygrad has no reduction {op!r} of {blocks[0].dtype}")
    return _on_all(reduced, devices)


def arg_reduce(blocks: Sequence[Array], devices: tuple[str, ...], *, op: str) -> list[Array]:
    """Return ``argmax`` or ``argmin`` along the sharded axis, on every device."""
    split = _split(np.stack(blocks), devices, 0)
    if op not in ("max", "min"):
        raise Unsupported(f"tinygrad has no arg{op}; it has argmax and argmin")
    return _on_all(split.argmax(0) if op == "max" else split.argmin(0), devices)


def all_gather(blocks: Sequence[Array], devices: tuple[str, ...], *, axis: int, tiled: bool) -> list[Array]:
    """Return the whole of a split tensor on every device."""
    split = _split(_joined(blocks, axis, tiled), devices, axis)
    if len(devices) == 1:
        return _on_all(split, devices)
    # What Tensor.to asks of the graph; it returns the tensor as it is when the devices are the same, split or not.
    same: Any = split.device
    return _on_all(Tensor(split.uop.copy_to_device(same)), devices)


def gather(
    blocks: Sequence[Array], devices: tuple[str, ...], *, root: int, axis: int, tiled: bool
) -> list[Array | None]:
    """Return the whole of a split tensor on the device of the root, nothing elsewhere."""
    split = _split(_joined(blocks, axis, tiled), devices, axis)
    (whole,) = _on_all(split.to(devices[root]), devices[root : root + 1])
    return [whole if position == root else None for position in range(len(devices))]


def scatter(blocks: Sequence[Array], devices: tuple[str, ...], *, root: int, axis: int, tiled: bool) -> list[Array]:
    """Return the shards of the root's block, each from its device."""
    if not tiled:
        raise Unsupported("a shard keeps the axis it is taken along")
    return _on_all(_tensor(blocks[root], devices[root]).shard(devices, axis), devices)


def broadcast(blocks: Sequence[Array], devices: tuple[str, ...], *, root: int) -> list[Array]:
    """Return copies of the root's block, each from its device."""
    return _on_all(_tensor(blocks[root], devices[root]).shard(devices), devices)


def _joined(blocks: Sequence[Array], axis: int, tiled: bool) -> Array:
    return np.concatenate(blocks, axis) if tiled else np.stack(blocks, axis)


def _behind(axis: int, rank: int) -> int:
    """Return where an axis of a block is once the axis of ranks stands before it; one that is none stays none."""
    return axis + 1 if axis >= 0 else axis if axis >= -rank else axis - 1


def _split(whole: Array, devices: tuple[str, ...], axis: int) -> Tensor:
    """Return ``whole`` as a tensor of which each device holds one equal part along ``axis``."""
    return _tensor(whole).shard(devices, axis).realize()


def _tensor(block: Array, device: str | None = None) -> Tensor:
    """Return ``block`` as a tensor whose elements are on ``device``."""
    name = logical(block.dtype)
    if name not in DTYPES:
        raise Unsupported(f"tinygrad has no {name}")
    # As bytes, for tinygrad knows no extensions of NumPy's dtypes, and makes a constant of an array without axes.
    return Tensor(block.tobytes(), device=device, dtype=DTYPES[name]).reshape(block.shape).realize()


def _on_all(tensor: Tensor, devices: tuple[str, ...]) -> list[Array]:
    """Return what each device holds of ``tensor``: its shard, or its copy."""
    dtype = NUMPY[NAMES[tensor.dtype]]
    if 0 in tensor.shape:
        return [np.empty(tensor.uop.shard_shape, dtype) for _ in devices]
    made = tensor.contiguous().realize()
    storage: Any = made.uop.buffer
    buffers = storage.bufs if len(devices) > 1 else [storage]
    return [np.frombuffer(bytes(held.as_memoryview()), dtype).reshape(made.uop.shard_shape) for held in buffers]
