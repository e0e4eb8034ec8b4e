"""Gradients of typed programs over one mesh axis: ``Tensor.gradient`` through tensors that are split over devices.

A varying value is a tensor of all blocks, stacked along a first axis that is split over the devices, an invariant one a
tensor that every device has. What such tensors mean together is one logical tensor's arithmetic: a local operation of
both broadcasts the invariant one, a sum over ranks is a sum along that axis, and what moves blocks moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

import numpy as np
from tinygrad.tensor import Tensor

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Unsupported
from conformance.backends.tinygrad.collectives import on_all, shard, split, tensor_of
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import TypedProgram, TypedStep

Blocks = list[Array]

LINEAR: Final = ("add", "multiply", "negate", "subtract", "sum")
"""Local operations that have a transpose, each in its factors."""

CLAIMS: Final[Claims] = {
    "transposed_program": {
        "dtype": ("bfloat16", "float16", "float32", "float64"),
        "steps": (
            *("all_gather", "all_reduce", "all_to_all", "broadcast", "cast", "permute", "reduce_scatter", "shuffle"),
            *LINEAR,
        ),
        "op": ("sum", "mean"),
        # A tensor has one value wherever it is, and nothing is pending.
        "checks": ("on",),
        "casts": ("automatic",),
        "states": ("invariant", "varying"),
        "to": ("none", "invariant", "varying"),
        "axes": ("one",),
        "mapped": ("all",),
        "groups": ("none",),
        "local_axes": ("none",),
        "starts": ("none",),
    }
}
"""``Tensor.gradient``: "computes the gradient of the targets with respect to self", wherever a tensor is."""

LOCALLY: Final[Mapping[str, Callable[..., Tensor]]] = {
    "add": lambda left, right: left + right,
    "multiply": lambda left, right: left * right,
    "negate": lambda given: -given,
    "subtract": lambda left, right: left - right,
}


class TypedValue(NamedTuple):
    """A tensor, and whether its first axis is that of the ranks."""

    tensor: Tensor
    varying: bool


def pullback(
    program: TypedProgram, devices: tuple[str, ...], inputs: Mapping[str, Blocks], cotangents: Mapping[str, Blocks]
) -> dict[str, Blocks]:
    """Return the gradient of each input where results have ``cotangents``."""
    values = {
        name: TypedValue(_placed(blocks, devices, varying=varying), varying)
        for name, blocks in inputs.items()
        for varying in (bool(program.inputs[name].varying),)
    }
    for step in program.steps:
        values[step.output] = _made(step, [values[name] for name in step.inputs], program.world)
    targets = [values[name].tensor for name in inputs]
    total: Any = 0
    for name, blocks in cotangents.items():
        given = _placed(blocks, devices, varying=values[name].varying)
        with framework():
            # In the widest dtype: the number itself is not asked for, and must not overflow.
            total = total + (values[name].tensor * given).sum()
    with framework():
        found = total.gradient(*targets)
    rows = zip(inputs, found, strict=True)
    return {name: _blocks(tensor, devices, varying=values[name].varying) for name, tensor in rows}


def _placed(blocks: Blocks, devices: tuple[str, ...], *, varying: bool) -> Tensor:
    return split(np.stack(blocks), devices, 0) if varying else shard(tensor_of(blocks[0]), devices)


def _blocks(tensor: Tensor, devices: tuple[str, ...], *, varying: bool) -> Blocks:
    """Return the block of each rank: a row of a gradient that has one for each, else what each device has.

    A gradient is where tinygrad puts it: one that is the same for all ranks may be split over the devices.
    """
    with framework():
        made = tensor.clone()
        # The zeros of an input that nothing depends on are on one device.
        parted = not isinstance(made.device, tuple) or made.uop.shard_shape != made.shape
        whole = made.to(devices[0]) if varying or parted else made
    if not (varying or parted):
        return on_all(whole, devices)
    (only,) = on_all(whole, devices[:1])
    return list(only) if varying else [only] * len(devices)


def _made(step: TypedStep, operands: list[TypedValue], world: int) -> TypedValue:
    varying = any(each.varying for each in operands)
    tensor = operands[0].tensor
    if step.op in ACROSS:
        if not step.axes:
            return operands[0]
        with framework():
            made = ACROSS[step.op](step, tensor if varying else tensor.expand((world, *tensor.shape)))
            invariant = step.op == "all_reduce" or (step.op == "all_gather" and step.attrs["to"] == "invariant")
            copies = step.op == "all_gather" and not invariant
            return TypedValue(made.expand((world, *made.shape)) if copies else made, not invariant)
    if step.op == "sum":
        with framework():
            return TypedValue(tensor.sum(_axis(step, "axis") + varying, dtype=tensor.dtype), varying)
    if step.op not in LOCALLY:
        raise Unsupported(f"nothing in tinygrad is {step.op} of a typed program")
    with framework():
        return TypedValue(LOCALLY[step.op](*(each.tensor for each in operands)), varying)


def _reduced(step: TypedStep, tensor: Tensor) -> Tensor:
    return tensor.mean(0) if step.attrs["op"] == "mean" else tensor.sum(0, dtype=tensor.dtype)


def _gathered(step: TypedStep, tensor: Tensor) -> Tensor:
    """Return the whole of a tensor on every device, its ranks' axis where it is joined."""
    whole = _joined(tensor, int(str(step.attrs["axis"])), bool(step.attrs["tiled"]))
    if not isinstance(whole.device, tuple):
        return whole
    # What Tensor.to asks of the graph; it returns the tensor as it is when the devices are the same, split or not.
    same: Any = whole.device
    return Tensor(whole.uop.copy_to_device(same))


def _scattered(step: TypedStep, tensor: Tensor) -> Tensor:
    return _pieces(
        tensor.sum(0, dtype=tensor.dtype), int(tensor.shape[0]), _axis(step, "axis"), bool(step.attrs["tiled"])
    )


def _exchanged(step: TypedStep, tensor: Tensor) -> Tensor:
    """Swap the axis of who has a piece with that of whose it is to be."""
    tiled, ranks = bool(step.attrs["tiled"]), int(tensor.shape[0])
    received = _pieces(tensor, ranks, _axis(step, "split_axis") + 1, tiled)  # by receiver, then by sender
    sender = received.permute([1, 0, *range(2, received.ndim)])
    return _joined(sender, _axis(step, "concat_axis") + 1, tiled)


def _pieces(tensor: Tensor, count: int, axis: int, tiled: bool) -> Tensor:
    """Return ``count`` pieces along ``axis``, stacked along a first axis."""
    if tiled:
        shape = tensor.shape
        tensor = tensor.reshape((*shape[:axis], count, shape[axis] // count, *shape[axis + 1 :]))
    return tensor.permute([axis, *(at for at in range(tensor.ndim) if at != axis)])


def _joined(tensor: Tensor, axis: int, tiled: bool) -> Tensor:
    """Return the blocks along the first axis stacked at ``axis``, or concatenated along it."""
    whole = tensor.permute([*range(1, axis + 1), 0, *range(axis + 1, tensor.ndim)])
    if not tiled:
        return whole
    return whole.reshape((*whole.shape[:axis], whole.shape[axis] * whole.shape[axis + 1], *whole.shape[axis + 2 :]))


def _sent(step: TypedStep, tensor: Tensor) -> Tensor:
    """Return the block of the root for every rank."""
    return tensor[_axis(step, "root")].expand(tensor.shape)


def _shuffled(step: TypedStep, tensor: Tensor) -> Tensor:
    return Tensor.stack(*(tensor[source] for source in cast(tuple[int, ...], step.attrs["sources"])))


def _permuted(step: TypedStep, tensor: Tensor) -> Tensor:
    sources = {target: source for source, target in cast(tuple[tuple[int, int], ...], step.attrs["pairs"])}
    zeros = tensor[0] * 0
    return Tensor.stack(*(tensor[sources[at]] if at in sources else zeros for at in range(int(tensor.shape[0]))))


def _axis(step: TypedStep, name: str) -> int:
    return int(str(step.attrs[name]))


ACROSS: Final[Mapping[str, Callable[[TypedStep, Tensor], Tensor]]] = {
    "all_gather": _gathered,
    "all_reduce": _reduced,
    "all_to_all": _exchanged,
    "broadcast": _sent,
    "cast": lambda _, tensor: tensor,
    "permute": _permuted,
    "reduce_scatter": _scattered,
    "shuffle": _shuffled,
}
"""What each collective is of a tensor whose first axis is that of the ranks."""
