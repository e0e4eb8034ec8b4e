"""Graph cases on tinygrad: lazy tensors of its public interface, realized when a round asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from tinygrad.dtype import dtypes
from tinygrad.tensor import Tensor
from tinygrad.uop.ops import UOp

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Unsupported
from conformance.backends.graph_walk import BITWISE_FOLDS, Walk
from conformance.backends.tinygrad.dtypes import DTYPES
from conformance.backends.tinygrad.lazy_graphs import ELEMENTWISE, constant, dtype_of, elementwise, reduced
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.extent import Dim, evaluated, greatest
from conformance.cases.graph.features import FEATURES
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, Array

_LACKS: Final = {"all_reduce", "collective", "mod", "shl", "shr", *BITWISE_FOLDS}

CLAIMS: Final[Claims] = {
    "graph": {
        "operation": [word for word in FEATURES["operation"] if word not in _LACKS],
        "dtype": list(DTYPES),
        "size": ["small", "long"],
        # "float('nan') != float('nan'), so we canonicalize here" (DType.const): a constant has one NaN.
        "nan": ["none", "plain"],
        # Tensor.assign broadcasts, and a function of Python takes any arguments.
        "misfit": ["none", "assigned dtype", "devices"],
        # "symbolic shape not supported", "slice index is not supported" (mixin/movement.py).
        "extents": ["numbers", "variables"],
    }
}
"""What the documentation of ``Tensor`` has. Chains of thousands of nodes are outside: it walks graphs recursively."""


def run(case: GraphCase, device: str) -> dict[str, Array]:
    """Return what the rounds of a case ask for and read, on devices of one kind."""
    return Lazily(case, device).run()


class Lazily(Walk):
    """A case whose values are lazy tensors. The devices of the graph are the first ones of a kind, in order."""

    def __init__(self, case: GraphCase, device: str) -> None:
        """Name the devices, then begin."""
        names = dict.fromkeys(node.device for node in case.graph.nodes)
        self.devices = {name: f"{device}:{number}" for number, name in enumerate(names)}
        self.on = {str(node.arg): self.devices[node.device] for node in case.graph.nodes if node.op == "buf"}
        self.default = f"{device}:0"
        super().__init__(case)

    def answers(self, names: tuple[str, ...]) -> list[Any]:
        """Return arrays in the shapes of the nodes, realized all together."""
        found = self.arrays([self.numbered(name) for name in names])
        return [array.reshape(self.dims(self.nodes[name])) for name, array in zip(names, found, strict=True)]

    def numbered(self, name: str) -> Tensor:
        """Return the tensor of a node, its extents as numbers: data of other shapes cannot be looked at."""
        value, node = self.value(name), self.nodes[name]
        if not any(isinstance(each, str) for each in node.shape):
            return value  # type: ignore[no-any-return]  # a tensor
        shape, variables = self.extents(node, node.shape), self.case.graph.variables
        low, high = ({name: getattr(one, end) for name, one in variables.items()} for end in ("low", "high"))
        ends = [each if isinstance(each, int) else greatest(each, low, high) for each in node.shape]
        with framework():
            whole = value.pad(tuple((0, end - extent) for end, extent in zip(ends, shape, strict=True)))
            return whole.contiguous().realize().shrink(tuple((0, extent) for extent in self.dims(node)))  # type: ignore[no-any-return]

    def storage(self, name: str, array: Array) -> Tensor:
        """Return a realized tensor that holds an array, in the shape of its buffer.

        A view of it is then one step from it: tinygrad loses what is assigned to a view through a reshape.
        """
        device, held = self.on.get(name, self.default), self.case.buffers[name]
        with framework():
            return Tensor(array.tobytes(), device=device, dtype=dtype_of(held.dtype)).reshape(held.shape).realize()

    def write(self, name: str, array: Array) -> None:
        """Assign an array to a whole buffer, and realize that."""
        if not array.size:
            return
        held = self.storages[name]
        with framework():
            new = Tensor(array.tobytes(), device=held.device, dtype=held.dtype)
            held.assign(new.reshape(held.shape)).realize()

    def shaped(self, value: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return a buffer, or the beginning of one, in a shape."""
        if value.shape == shape:
            return value
        count = int(np.prod(shape, dtype=np.int64))
        with framework():
            flat = value.reshape(-1) if value.numel() else value.reshape(0)
            return flat.shrink(((0, count),)).reshape(shape)

    def symbols(self, node: Node) -> dict[str, Any]:
        """Return the bound variables of the round of a node; one with a single value is that number.

        Movement makes it one in shapes, which then differ from those that still name it.
        """
        bound, asked = self.bounds[node.id], self.case.graph.variables
        ranges = {name: (asked[name].low, asked[name].high) for name in bound}
        return {
            name: value if ranges[name] == (value, value) else UOp.variable(name, *ranges[name]).bind(value)
            for name, value in bound.items()
        }

    def extents(self, node: Node, extents: tuple[Dim, ...]) -> tuple[Any, ...]:
        """Return extents with their variables, of which tinygrad's numbers compute expressions too."""
        if not any(isinstance(each, str) for each in extents):
            return extents
        symbols = self.symbols(node)
        return tuple(evaluated(each, symbols) for each in extents)

    def moved(self, node: Node, value: Tensor) -> Tensor:
        """Return movement of a tensor."""
        arg: Any = node.arg
        shape = self.extents(node, node.shape)
        pairs = [self.extents(node, pair) for pair in arg] if node.op in ("pad", "shrink") else []
        with framework():
            if node.op in ("reshape", "expand"):
                return value.reshape(shape) if node.op == "reshape" else value.expand(shape)
            if node.op == "stride":
                return _strided(value, arg)
            if node.op == "detach":
                return value.detach()
            if node.op in ("pad", "shrink"):
                return value.pad(tuple(pairs)) if node.op == "pad" else value.shrink(tuple(pairs))
            return value.permute(arg) if node.op == "permute" else value.flip(arg)

    def assign(self, node: Node, value: Tensor, *, copied: bool) -> None:
        """Assign to a buffer, or to a view of one."""
        del copied
        if 0 in self.dims(node):
            return
        name, at = self.home(node.of[0]), self.nodes[node.of[0]]
        while at.op in ("reshape", "detach", "assign"):
            at = self.nodes[at.of[0]]
        base = self.storages[name]
        target = self.value(node.of[0])
        with framework():
            if at.op == "buf" and not any(isinstance(each, str) for each in at.shape):
                base.assign(value.reshape(base.shape))
            else:
                target.assign(value)

    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return the calls of computed nodes."""
        return TABLE

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the tensor of a node that is computed by and by."""
        if node.op in ("const", "var", "iota"):
            return self._leaf(node)
        if node.op == "alu":
            return _elementwise(node, of)
        if node.op == "copy":
            device = self.devices[node.device]
            with framework():
                made = of[0].clone(device) if node.arg else of[0].to(device)
        else:
            made = super().made(node, of)
        if node.op in NAMING and (node.of[0] not in self.nodes or self.home(node.of[0])):
            # A value of its own is kept when the storage is assigned to; what a function is given may be storage, too.
            with framework():
                return made.clone()
        return made

    def _leaf(self, node: Node) -> Tensor:
        if node.op == "const":
            return constant(node, self.extents(node, node.shape))
        dtype = dtype_of(node.dtype)
        with framework():
            if node.op == "var":
                return Tensor(self.symbols(node)[str(node.arg)]).cast(dtype)
            shape, axis = self.extents(node, node.shape), int(str(node.arg))
            # Numbers that a narrow dtype does not have are converted to it, which arange of that dtype refuses.
            line = Tensor.arange(self.dims(node)[axis]).cast(dtype)
            if isinstance(node.shape[axis], str):
                line = line.shrink(((0, shape[axis]),))
            return line.reshape([-1 if each == axis else 1 for each in range(len(shape))]).expand(shape)

    def arrays(self, values: list[Any]) -> list[Array]:
        """Realize values together, and return them as arrays."""
        with framework():
            if values:
                Tensor.realize(*values)
        return [self.array(value) for value in values]

    def array(self, value: Tensor) -> Array:
        """Return a realized tensor as a flat array, bit for bit."""
        dtype = NUMPY[next(name for name, held in DTYPES.items() if held == value.dtype)]
        if 0 in value.shape:
            return np.empty(0, dtype)
        with framework():
            # The bytes alone: for float16 (before 3.12) and narrower floats Python's buffers have no letter, and a
            # bitcast of what was detached is an operation more, which fails.
            return np.frombuffer(bytes(value._data()), dtype).copy()  # noqa: SLF001 - see above


NAMING: Final = ("contig", "copy", "cast", "bitcast")
"""What may give the buffer itself, or a view of it, where there is nothing to compute."""

BITS: Final = {1: dtypes.uint8, 2: dtypes.uint16}
UNNAMED: Final = (dtypes.float16, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)


def _elementwise(node: Node, of: list[Any]) -> Any:
    if node.arg not in ELEMENTWISE and node.arg not in ("not", "div"):
        raise Unsupported(f"node {node.id!r}: Tensor has no {node.arg}")
    with framework():
        return elementwise(node, of)


def _gather(node: Node, value: Tensor, index: Tensor) -> Tensor:
    axis = int(str(node.arg))
    with framework():
        return value[(*(slice(None) for _ in range(axis)), index)]


def _strided(value: Tensor, steps: Any) -> Tensor:
    """Return the elements that are a step apart along each axis.

    Raise ``Unsupported`` where tinygrad says so, as it does of extents of variables.
    """
    try:
        return value[tuple(slice(None, None, step) for step in steps)]
    except (TypeError, RuntimeError) as error:
        if str(error).endswith("not supported"):
            raise Unsupported(str(error)) from error
        raise


def _framed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose exceptions are the framework's."""

    def framed(*args: Any) -> Any:
        with framework():
            return function(*args)

    return framed


def _reduce(node: Node, value: Tensor) -> Any:
    if not node.acc:
        with framework():
            return reduced(node, value)
    axes: Any = node.arg
    with framework():
        made = (value.sum if node.fold == "add" else value.prod)(axes, dtype=dtype_of(node.acc))
        return made.cast(dtype_of(node.dtype))


TABLE: Final[Mapping[str, Callable[..., Any]]] = {
    "cast": _framed(lambda node, value: value.cast(dtype_of(node.dtype))),
    "bitcast": _framed(lambda node, value: value.bitcast(dtype_of(node.dtype))),
    "reduce": _reduce,
    "gather": _gather,
    "contig": _framed(lambda _, value: value.contiguous()),
}
