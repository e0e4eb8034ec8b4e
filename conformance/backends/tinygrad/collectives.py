"""One function an operation, each on the blocks of one group and the devices of its members, in member order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
from tinygrad.helpers import Context
from tinygrad.tensor import Tensor

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.tinygrad.dtypes import DTYPES, NAMES
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical

LOWERING: Final = {
    "naive": {"RING": 0, "ALL2ALL": 0},
    "ring": {"RING": 2, "ALL2ALL": 0},
    "all-to-all": {"RING": 0, "ALL2ALL": 2},
}
"""2 asks for an algorithm whatever the size; by default it is chosen above 256,000 elements."""


REDUCTIONS: Final = {"sum": "sum", "product": "prod", "mean": "mean", "max": "max", "min": "min"}
OF_BOOLS: Final = {"and": "all", "or": "any"}


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
    parts = split(np.stack(blocks), devices, 0)
    axes = (0, *(_behind(axis, blocks[0].ndim) for axis in local_axes))
    own = {"dtype": parts.dtype} if kind(logical(blocks[0].dtype)) == "integer" else {}
    name = (REDUCTIONS if own else REDUCTIONS | OF_BOOLS).get(op)
    if name is None:
        raise Unsupported(f"tinygrad has no reduction {op!r} of {blocks[0].dtype}")
    with framework():
        reduced = getattr(parts, name)(axes, **(own if op in ("sum", "product") else {}))
    return on_all(reduced, devices)


def arg_reduce(blocks: Sequence[Array], devices: tuple[str, ...], *, op: str) -> list[Array]:
    """Return ``argmax`` or ``argmin`` along the sharded axis, on every device."""
    parts = split(np.stack(blocks), devices, 0)
    if op not in ("max", "min"):
        raise Unsupported(f"tinygrad has no arg{op}; it has argmax and argmin")
    with framework():
        found = parts.argmax(0) if op == "max" else parts.argmin(0)
    return on_all(found, devices)


def all_gather(blocks: Sequence[Array], devices: tuple[str, ...], *, axis: int, tiled: bool) -> list[Array]:
    """Return the whole of a split tensor on every device."""
    parts = split(_joined(blocks, axis, tiled), devices, axis)
    if len(devices) == 1:
        return on_all(parts, devices)
    # What Tensor.to asks of the graph; it returns the tensor as it is when the devices are the same, split or not.
    with framework():
        same: Any = parts.device
        whole = Tensor(parts.uop.copy_to_device(same))
    return on_all(whole, devices)


def gather(
    blocks: Sequence[Array], devices: tuple[str, ...], *, root: int, axis: int, tiled: bool
) -> list[Array | None]:
    """Return the whole of a split tensor on the device of the root, nothing elsewhere."""
    device = devices[_member(devices, root)]
    parts = split(_joined(blocks, axis, tiled), devices, axis)
    with framework():
        moved = parts.to(device)
    (whole,) = on_all(moved, (device,))
    return [whole if position == root else None for position in range(len(devices))]


def scatter(blocks: Sequence[Array], devices: tuple[str, ...], *, root: int, axis: int, tiled: bool) -> list[Array]:
    """Return the shards of the root's block, each from its device."""
    if not tiled:
        raise Unsupported("a shard keeps the axis it is taken along")
    at = _member(devices, root)
    return on_all(shard(tensor_of(blocks[at], devices[at]), devices, axis), devices)


def broadcast(blocks: Sequence[Array], devices: tuple[str, ...], *, root: int) -> list[Array]:
    """Return copies of the root's block, each from its device."""
    at = _member(devices, root)
    return on_all(shard(tensor_of(blocks[at], devices[at]), devices), devices)


def _member(devices: tuple[str, ...], root: int) -> int:
    if not 0 <= root < len(devices):
        raise Unsupported(f"tinygrad names devices; position {root} among {len(devices)} is none")
    return root


def _joined(blocks: Sequence[Array], axis: int, tiled: bool) -> Array:
    """Return the tensor whose parts along ``axis`` the blocks are.

    Of an axis that is none there is none: then it is any, for tinygrad to say so when it is asked to split that axis.
    """
    if tiled and not blocks[0].ndim:
        raise Unsupported("a tensor is split along an axis of its parts, and these have none")
    ndim = blocks[0].ndim + (not tiled)
    at = axis if -ndim <= axis < ndim else 0
    return np.concatenate(blocks, at) if tiled else np.stack(blocks, at)


def _behind(axis: int, rank: int) -> int:
    """Return where an axis of a block is once the axis of ranks stands before it; one that is none stays none."""
    return axis + 1 if axis >= 0 else axis if axis >= -rank else axis - 1


def split(whole: Array, devices: tuple[str, ...], axis: int) -> Tensor:
    """Return ``whole`` as a tensor of which each device holds one equal part along ``axis``."""
    parts = shard(tensor_of(whole), devices, axis)
    with framework():
        return parts.realize()


def shard(tensor: Tensor, devices: tuple[str, ...], axis: int | None = None) -> Tensor:
    """Return ``tensor`` split along ``axis``, or copied to every device.

    Raise ``Unsupported`` for an axis that is none where there is nothing to split: one device has the whole tensor,
    whatever axis is named.
    """
    if len(devices) == 1 and axis is not None and not -tensor.ndim <= axis < tensor.ndim:
        raise Unsupported(f"a tensor on one device is split along no axis, so that {axis} is not looked at")
    with framework():
        return tensor.shard(devices, axis)


def tensor_of(block: Array, device: str | None = None) -> Tensor:
    """Return ``block`` as a tensor whose elements are on ``device``."""
    name = logical(block.dtype)
    if name not in DTYPES:
        raise Unsupported(f"tinygrad has no {name}")
    # As bytes, for tinygrad knows no extensions of NumPy's dtypes, and makes a constant of an array without axes.
    bits = block.tobytes()
    with framework():
        return Tensor(bits, device=device, dtype=DTYPES[name]).reshape(block.shape).realize()


def on_all(tensor: Tensor, devices: tuple[str, ...]) -> list[Array]:
    """Return what each device holds of ``tensor``: its shard, or its copy."""
    dtype = NUMPY[NAMES[tensor.dtype]]
    if 0 in tensor.shape:
        return [np.empty(tensor.uop.shard_shape, dtype) for _ in devices]
    with framework():
        made = tensor.contiguous().realize()
        storage: Any = made.uop.buffer
        buffers = storage.bufs if len(devices) > 1 else [storage]
        held = [bytes(buffer.as_memoryview()) for buffer in buffers]
        shape = made.uop.shard_shape
    return [np.frombuffer(each, dtype).reshape(shape) for each in held]
