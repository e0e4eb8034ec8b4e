"""A backend that is one class, with graphs and sharded tensors. NumPy computes: call your framework in its place.

    conformance run -b graph_backend:Example --suite graphs,sharding --examples 100

Graphs are walked node by node (``Walk``): a name of storage is made again from what the storage holds whenever it is
used, a computed node is worth what it was when it was listed. A sharded tensor is a list of parts, one a device, and
its placement. What is not claimed below is unsupported; ``conformance spec graph`` and ``sharded`` have the rest.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from conformance.backends.base import Backend, Held
from conformance.backends.graph_walk import Walk, place_of
from conformance.cases.sharded.placement import REPLICATED, layout_of
from conformance.cases.tensor.tensor import to_array

MOVEMENT = ["reshape", "permute", "expand", "pad", "shrink", "flip", "detach"]
FOLDS = {"add": np.add, "max": np.maximum, "min": np.minimum}
ALU = {
    "neg": np.negative,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "eq": np.equal,
    "ne": np.not_equal,
    "where": np.where,
}
OPERATIONS = [
    *(*MOVEMENT, "const", "contig", "copy", "assign", *ALU),
    *(f"reduce_{fold}_{kind}" for fold in FOLDS for kind in ("integer", "float")),
]
CLAIMED = {
    "operation": OPERATIONS,
    "dtype": ["int32", "float32", "bool"],
    "extents": ["numbers"],
    "nothing": ["none"],
    "misfit": ["none"],  # NumPy converts what is assigned: no misfit is refused
}


class Example(Backend):
    """Runs graphs eagerly, on one device and in parts on several."""

    name = "example"
    claims = {
        "graph": {**CLAIMED, "devices": ["1"]},
        "sharded": {
            **CLAIMED,
            "target": ["none", "whole"],
            "homes": ["replicated", "even", "uneven"],
            "moves": ["none", "replicated", "even", "uneven"],
        },
    }

    def describe(self):
        """Return versions, devices and flags: all that is needed to see the same again."""
        return {"numpy": np.__version__}

    def run_graph(self, case):
        """Return what the rounds of a graph ask for and read, by key."""
        return Graph(case).run()

    def run_sharded(self, case):
        """Return what every device holds of what is asked for and read, by key."""
        if len(set(case.devices)) < len(case.devices):
            raise ValueError(f"devices {case.devices} name one twice")
        return Sharded(case).run()


class Graph(Walk):
    """A graph whose values are arrays, and whose storage is flat arrays."""

    def storage(self, name, array):
        """Return new storage with this content."""
        return array.copy()

    def write(self, name, array):
        """Write a whole buffer from outside."""
        self.storages[name][:] = array

    def shaped(self, value, shape):
        """Return flat storage in a shape, as a view."""
        return value[: int(np.prod(shape))].reshape(shape)

    def assign(self, node, value, *, copied):
        """Write where the target is in its buffer; the value may be a view of the same one."""
        self.storages[self.home(node.of[0])][place_of(self, node.of[0])] = np.array(value)

    def array(self, value):
        """Return a value as an array that no later write changes."""
        return np.array(value)

    def table(self):
        """Return what computes each operation of its node and its sources."""
        return {
            **{name: lambda node, *of, call=call: call(*of) for name, call in ALU.items()},
            "const": lambda node: np.broadcast_to(to_array(node.arg), self.dims(node)),
            "contig": lambda node, x: np.array(x),
            "copy": lambda node, x: np.array(x),
            "reduce": lambda node, x: (
                FOLDS[node.fold].reduce(x, self.axes(node), dtype=node.acc or None).astype(x.dtype)
            ),
        }

    def moved(self, node, value):
        """Return movement, as a view where NumPy has one; refuse what leaves the source."""
        axes, pairs, shape = self.axes(node), self.pairs(node), self.dims(node)
        if node.op == "shrink" and not all(0 <= a <= b <= n for (a, b), n in zip(pairs, value.shape, strict=True)):
            raise ValueError(f"range {pairs} of a tensor of shape {value.shape}")
        if node.op == "expand" and value.ndim != len(shape):
            raise ValueError(f"an expansion of {value.shape} to {shape}")
        return {
            "reshape": lambda: value.reshape(shape),
            "permute": lambda: value.transpose(axes),
            "expand": lambda: np.broadcast_to(value, shape),
            "pad": lambda: np.pad(value, pairs) if pairs else np.array(value),
            "shrink": lambda: value[tuple(slice(*pair) for pair in pairs)],
            "flip": lambda: np.flip(value, axes),
            "detach": lambda: value,
        }[node.op]()


@dataclass
class Parts:
    """What each device holds of a tensor of a shape, and where that belongs."""

    arrays: list
    shape: tuple
    placement: object


class Sharded(Graph):
    """A graph whose values are in parts: steps that keep the placement work on parts, others on the whole tensor."""

    def __init__(self, case):
        """Begin with every buffer where it belongs."""
        self.sharded = case
        super().__init__(case.of)

    def cut(self, whole, placement):
        """Return the parts of a whole tensor."""
        boxes = layout_of(whole.shape, placement, self.sharded.mesh).boxes
        return Parts([np.array(whole[tuple(slice(*axis) for axis in box)]) for box in boxes], whole.shape, placement)

    def whole(self, value):
        """Return a tensor put together of its parts."""
        found = np.empty(value.shape, value.arrays[0].dtype)
        for box, part in zip(
            layout_of(value.shape, value.placement, self.sharded.mesh).boxes, value.arrays, strict=True
        ):
            found[tuple(slice(*axis) for axis in box)] = part
        return found

    def storage(self, name, array):
        """Return a buffer in parts."""
        return self.cut(array.reshape(self.case.buffers[name].shape), self.sharded.homes.get(name, REPLICATED))

    def write(self, name, array):
        """Write a whole buffer from outside, each device its part."""
        self.storages[name] = self.storage(name, array)

    def shaped(self, value, shape):
        """Return a buffer under another shape of as many elements."""
        return value if value.shape == shape else self.cut(self.whole(value).reshape(shape), REPLICATED)

    def assign(self, node, value, *, copied):
        """Write a whole buffer."""
        home = self.home(node.of[0])
        self.storages[home] = self.storage(home, self.whole(value).reshape(-1))

    def held(self, name):
        """Return what the devices hold of a buffer."""
        return self.array(self.storages[name])

    def array(self, value):
        """Return what the devices hold."""
        return Held(layout_of(value.shape, value.placement, self.sharded.mesh), value.arrays)

    def moved(self, node, value):
        """Return movement of the whole tensor, the same on every device."""
        return self.cut(super().moved(node, self.whole(value)), REPLICATED)

    def made(self, node, of):
        """Return a step part by part where all operands lie alike, and of the whole tensors otherwise."""
        if node.op in MOVEMENT:
            return self.moved(node, of[0])
        if node.op == "alu" and all(a.placement == b.placement for a, b in itertools.pairwise(of)):
            call = ALU[node.arg]
            arrays = [call(*parts) for parts in zip(*(each.arrays for each in of), strict=True)]
            return Parts(arrays, of[0].shape, of[0].placement)
        made = super().made(node, [self.whole(each) for each in of])
        return self.cut(made, self.sharded.moves.get(node.id, REPLICATED))
