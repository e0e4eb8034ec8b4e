"""Programs on sharded tensors on tinygrad: tensors that ``Tensor.shard`` split over devices, or copied to all."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from tinygrad.tensor import Tensor

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Held, Unsupported
from conformance.backends.tinygrad.dtypes import DTYPES
from conformance.backends.tinygrad.graph_values import BITS, UNNAMED, Lazily
from conformance.backends.tinygrad.graph_values import CLAIMS as GRAPHS
from conformance.backends.tinygrad.lazy_graphs import dtype_of
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Box, Layout, Placement
from conformance.cases.tensor.dtypes import NUMPY, Array

_HOMES: Final = ("replicated", "even", "empty", "no_axis")

CLAIMS: Final[Claims] = {
    "sharded": {
        **{name: words for name, words in GRAPHS["graph"].items() if name in ("operation", "dtype", "nan")},
        "misfit": ["none", "assigned dtype"],
        # ``shard`` asks for one axis, and equal parts of it.
        "homes": (*_HOMES, "outside"),
        "moves": ("none", *_HOMES),
        # Extents are numbers by the time that anything is placed.
        "extents": ["numbers"],
        "mesh": ["1"],
    }
}
"""What the documentation of ``Tensor.shard`` has: no bounds, no masks, one axis of devices."""


def run(case: ShardedCase, device: str) -> dict[str, Held]:
    """Return what the rounds of a case ask for and read, on devices of one kind."""
    return Placed(case, device).run()


class Placed(Lazily):
    """A case whose tensors are on several devices each."""

    def __init__(self, case: ShardedCase, device: str) -> None:
        """Name the devices, then begin."""
        self.sharded, self.kind = case, device
        self.names = tuple(f"{device}:{number}" for number in case.devices)
        super().__init__(case.of, device)

    def answers(self, names: tuple[str, ...]) -> list[Any]:
        """Return what each device has of the nodes, realized all together."""
        return self.arrays([self.value(name) for name in names])

    def on_mesh(self, array: Array, dtype: str, placement: Placement) -> Tensor:
        """Return an array on the devices, split or copied."""
        kind = dtype_of(dtype)
        axis = self.axis(placement)
        if placement.outside:
            few = tuple(f"{self.kind}:{number}" for number in placement.outside)
            with framework():
                alone = Tensor(array.tobytes(), device=few[0], dtype=kind).reshape(array.shape)
                return (alone.shard(few) if len(few) > 1 else alone).realize()
        with framework():
            whole = Tensor(array.tobytes(), device=self.names[0], dtype=kind).reshape(array.shape)
            return whole.shard(self.names, axis).contiguous().realize()

    def axis(self, placement: Placement) -> int | None:
        """Return the axis that a placement splits."""
        if placement.masks or placement.partial or len(placement.splits) > 1:
            raise Unsupported("Tensor.shard splits one axis, and has no masks and no contributions")
        return placement.splits[0].axis if placement.splits else None

    def storage(self, name: str, array: Array) -> Tensor:
        """Return a realized tensor on the devices, in the shape of its buffer."""
        held = self.case.buffers[name]
        return self.on_mesh(array.reshape(held.shape), held.dtype, self.sharded.homes.get(name, REPLICATED))

    def write(self, name: str, array: Array) -> None:
        """Assign an array to a whole buffer, and realize that."""
        if not array.size:
            return
        given = self.storage(name, array)
        with framework():
            self.storages[name].assign(given).realize()

    def shaped(self, value: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return a buffer in the shape of a node that names it."""
        with framework():
            return value if value.shape == shape else value.reshape(shape)

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the tensor of a node: a copy is gathered on one device, and split from there."""
        if node.op == "copy":
            axis = self.axis(self.sharded.moves.get(node.id, REPLICATED))
            with framework():
                if len(self.names) == 1:
                    return of[0].clone()  # ``to`` is the tensor itself where the device is the same
                return of[0].to(self.names[0]).shard(self.names, axis)
        made = super().made(node, of)
        if node.op == "iota":
            with framework():
                return made.to(self.names[0]).shard(self.names)
        return made

    def assign(self, node: Node, value: Tensor, *, copied: bool) -> None:
        """Assign to a buffer, or to a view of one."""
        del copied
        if 0 in self.dims(node):
            return
        target = self.value(node.of[0])
        with framework():
            target.assign(value)

    def array(self, value: Tensor) -> Any:
        """Return what each device has of a tensor, bit for bit."""
        dtype = np.dtype(NUMPY[next(name for name, held in DTYPES.items() if held == value.dtype)])
        with framework():
            made = value.contiguous().realize()
            device, axis, shape = made.device, made.uop.axis, tuple(int(extent) for extent in made.shape)
            several = isinstance(device, tuple)
            held = _held(made, several=several) if made.numel() else []
            size = int(made.numel())
            # What has no elements, and a constant, is stored nowhere.
            realized = made.uop.is_realized if size and device is not None else None
        on = device if isinstance(device, tuple) else (device or self.names[0],)
        boxes: list[Box | None] = []
        parts: list[Array | None] = []
        for name in self.names:
            if name not in _named(on):
                boxes.append(None)
                parts.append(None)
                continue
            number = _named(on).index(name)
            mine = [(0, extent) for extent in shape]
            if several and axis is not None and axis < len(shape):
                each = shape[axis] // len(on)
                mine[axis] = (number * each, (number + 1) * each)
            extents = tuple(end - begin for begin, end in mine)
            boxes.append(tuple(mine))
            parts.append(np.frombuffer(held[number], dtype).reshape(extents) if held else np.empty(extents, dtype))
        return Held(Layout(boxes=tuple(boxes)), parts, size=size, realized=realized)

    def held(self, name: str) -> Any:
        """Return what each device has of a buffer."""
        with framework():
            self.storages[name].realize()
        return self.array(self.storages[name])


def _held(value: Tensor, *, several: bool) -> list[bytes]:
    """Return the bytes of a realized tensor, one after the other of its devices; a constant is on none."""
    if value.device is None:
        shown = value.bitcast(BITS[value.dtype.itemsize]) if value.dtype in UNNAMED else value
        return [bytes(shown.data())]
    if several and not value.uop.has_buffer_identity():
        # Movement that leaves each part in one piece is a view for ``contiguous``, of which only a copy has buffers.
        value = value.clone().realize()
    buffer: Any = value.uop.buffer
    return [bytes(each.as_memoryview()) for each in (buffer.bufs if several else [buffer])]


def _named(devices: tuple[str, ...]) -> list[str]:
    """Return devices with their numbers: tinygrad leaves out that of the first one."""
    return [name if ":" in name else f"{name}:0" for name in devices]
