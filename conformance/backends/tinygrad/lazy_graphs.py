"""A graph as tinygrad's tensors, computed by nobody yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from tinygrad.device import canonicalize_device
from tinygrad.tensor import Tensor
from tinygrad.uop import Ops
from tinygrad.uop.ops import UOp

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Unsupported
from conformance.backends.tinygrad.dtypes import DTYPES
from conformance.cases.graph.extent import Dim, evaluated
from conformance.cases.graph.graph import MOVEMENT, Graph, Node, variables_of
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import to_array

ELEMENTWISE: Final[dict[str, Callable[..., Any]]] = {
    "neg": lambda x: -x,
    "abs": lambda x: x.abs(),
    "recip": lambda x: x.reciprocal(),
    "sqrt": lambda x: x.sqrt(),
    "exp2": lambda x: x.exp2(),
    "log2": lambda x: x.log2(),
    "sin": lambda x: x.sin(),
    "trunc": lambda x: x.trunc(),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "max": lambda x, y: x.maximum(y),
    "min": lambda x, y: x.minimum(y),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "lt": lambda x, y: x < y,
    "ne": lambda x, y: x != y,
    "eq": lambda x, y: x == y,
    "where": lambda x, y, z: x.where(y, z),
}
ARITHMETIC: Final = {"add": Ops.ADD, "mul": Ops.MUL, "max": Ops.MAX}


class Reduced(NamedTuple):
    """A reduction over devices: of ``shards``, one on each, to a tensor on ``devices``, for ``nodes`` of the graph."""

    shards: tuple[Tensor, ...]
    tensor: Tensor
    devices: tuple[str, ...]
    nodes: tuple[Node, ...]


class Lazy:
    """The tensors of a graph. ``device`` names the ``number``-th device of the graph as tinygrad does.

    ``storage`` has one for each buffer, realized, and ``written`` names those that something is assigned to;
    ``results`` are those that were asked for, and ``reduced`` has one for each reduction over devices.
    """

    def __init__(self, graph: Graph, devices: Mapping[str, str]) -> None:
        """Build everything; raise ``Unsupported`` for what ``Tensor`` has no words for."""
        self._devices = devices
        with framework():
            self._bound = {
                name: UOp.variable(name, each.low, each.high).bind(each.value) for name, each in graph.variables.items()
            }
        self._nodes = {node.id: node for node in _needed(graph)}
        self._values: dict[str, Tensor] = {}
        self.reduced: dict[tuple[tuple[str, ...], str], Reduced] = {}
        self.storage: dict[str, Tensor] = {}
        self.written: list[str] = []
        for node in _needed(graph):
            if unbound := variables_of(node) - set(self._bound):
                raise Unsupported(f"node {node.id!r}: a variable without a value, {min(unbound)!r}")
            if node.op == "buf":
                self._store(node)
            elif node.op == "assign":
                self._assign(node)
            elif not assigned_to(node.id, self._nodes):
                self._values[node.id] = self._made(node, [self.value(name) for name in node.of])
        self.results = {name: self.value(name) for name in graph.results}

    def value(self, name: str) -> Tensor:
        """Return the tensor of a node; what names storage is made again, from what the storage holds by now."""
        node = self._nodes[name]
        if name in self._values:
            return self._values[name]
        if node.op == "buf":
            with framework():
                return self.storage[str(node.arg)].reshape(self._dims(node.shape))
        return self.value(node.of[0]) if node.op == "assign" else self._made(node, [self.value(node.of[0])])

    def _store(self, node: Node) -> None:
        if any(isinstance(extent, str) for extent in node.shape):
            raise Unsupported(f"node {node.id!r}: a buffer with an extent that is a variable")
        name, shape = str(node.arg), self._dims(node.shape)
        if name not in self.storage:
            data = bytes(math.prod(shape) * NUMPY[node.dtype].itemsize)
            dtype, device = dtype_of(node.dtype), self._devices[node.device]
            # In its shape: tinygrad loses what is assigned to a view through a reshape.
            with framework():
                self.storage[name] = Tensor(data, device=device, dtype=dtype).reshape(shape).realize()

    def _assign(self, node: Node) -> None:
        at, whole = self._nodes[node.of[0]], True
        while at.op != "buf":
            whole = whole and at.op in ("reshape", "detach", "assign")
            at = self._nodes[at.of[0]]
        name, value = str(at.arg), self._given(node)
        if whole:
            base = self.storage[name]
            with framework():
                base.assign(value.reshape(base.shape))
        else:
            target = self.value(node.of[0])
            with framework():
                target.assign(value)
        self.written.append(name)

    def _given(self, node: Node) -> Tensor:
        """Return what is assigned: of what names storage that is unchanged no copy is kept."""
        given = self._nodes[node.of[1]]
        if not self._names(given) or overwritten(given.of[0], self._nodes, given.id, node.id):
            return self.value(given.id)
        return self._plain(given, [self.value(given.of[0])])

    def _made(self, node: Node, of: list[Any]) -> Tensor:
        """Return the tensor of a computed node, which keeps its value when storage behind it is assigned to."""
        made = self._plain(node, of)
        if not self._names(node) or not overwritten(node.of[0], self._nodes, node.id):
            return made
        with framework():
            return made.clone()

    def _names(self, node: Node) -> bool:
        """Return whether tinygrad computes nothing for a node and gives the storage that it is made of."""
        if not node.of or not assigned_to(node.of[0], self._nodes):
            return False
        source = self._nodes[node.of[0]]
        here, alike = node.device == source.device and not node.arg, node.dtype == source.dtype
        return {"contig": True, "bitcast": True, "cast": alike, "copy": here}.get(node.op, False)

    def _plain(self, node: Node, of: list[Any]) -> Tensor:
        make: dict[str, Callable[[], Any]] = {
            "const": lambda: constant(node, self._dims(node.shape)),
            "var": lambda: Tensor(self._bound[str(node.arg)]).cast(dtype_of(node.dtype)),
            "alu": lambda: elementwise(node, of),
            "cast": lambda: of[0].cast(dtype_of(node.dtype)),
            "bitcast": lambda: of[0].bitcast(dtype_of(node.dtype)),
            "copy": lambda: (of[0].clone if node.arg else of[0].to)(self._devices[node.device]),
            "reduce": lambda: reduced(node, of[0]),
            "all_reduce": lambda: self._all_reduce(node, of),
            **dict.fromkeys((*MOVEMENT, "contig"), lambda: self._move(node, of[0])),
        }
        if node.op not in make:
            raise Unsupported(f"node {node.id!r}: {node.op} has no form as a tensor")
        with framework():
            made: Tensor = make[node.op]()
        return made

    @adapter()
    def _all_reduce(self, node: Node, of: list[Any]) -> Tensor:
        """Return this device's copy of the one reduction that all nodes of the same sources share."""
        key = (node.of, node.fold)
        if key not in self.reduced:
            if node.fold not in ARITHMETIC:
                raise Unsupported(f"node {node.id!r}: tinygrad has no all-reduce {node.fold}")
            alike = [each for each in self._nodes.values() if (each.of, each.fold, each.op) == (*key, "all_reduce")]
            asked = {str(canonicalize_device(self._devices[each.device])) for each in alike}
            # A constant is on no device, and only what is stored can be stacked.
            on = [self._devices[self._nodes[name].device] for name in node.of]
            with framework():
                of = [each if each.device else each.clone(where) for each, where in zip(of, on, strict=True)]
            devices = tuple(dict.fromkeys(str(source.device) for source in of))
            if not asked <= set(devices):
                raise Unsupported(f"node {node.id!r}: a result is on none of the devices of its sources")
            if len(asked) not in (1, len(devices)):
                raise Unsupported(f"node {node.id!r}: tinygrad reduces to one device, or to all that take part")
            devices = tuple(asked) if len(asked) == 1 else devices
            # What is stacked must be buffers, which have one axis.
            target = devices if len(devices) > 1 else devices[0]
            with framework():
                shards = tuple(source.reshape(-1).contiguous() for source in of)
                stacked = UOp.mstack(*(shard.uop for shard in shards)).allreduce(ARITHMETIC[node.fold], target)
                whole = Tensor(stacked.contiguous())
            self.reduced[key] = Reduced(shards, whole, devices, tuple(alike))
        _, tensor, devices, _ = self.reduced[key]
        own = canonicalize_device(self._devices[node.device])
        place = devices.index(str(own))
        with framework():
            copy = Tensor(tensor.uop.mselect(place)) if len(devices) > 1 else tensor
            return copy.reshape(self._dims(node.shape))

    def _dims(self, extents: tuple[Dim, ...]) -> tuple[Any, ...]:
        return tuple(evaluated(extent, self._bound) for extent in extents)

    def _move(self, node: Node, of: Any) -> Any:
        arg: Any = node.arg
        if node.op in ("reshape", "expand"):
            return getattr(of, node.op)(self._dims(node.shape))
        if node.op == "stride":
            return of[tuple(slice(None, None, step) for step in arg)]
        if node.op in ("detach", "contig"):
            return of.detach() if node.op == "detach" else of.contiguous()
        if node.op in ("pad", "shrink"):
            arg = tuple(self._dims(pair) for pair in arg)
        return getattr(of, node.op)(arg)


def _needed(graph: Graph) -> list[Node]:
    """Return the nodes that results and assigns are made of, and all buffers: nobody would write down the others."""
    needed = {*graph.results, *(node.id for node in graph.nodes if node.op in ("assign", "buf"))}
    for node in reversed(graph.nodes):
        if node.id in needed:
            needed.update(node.of)
    return [node for node in graph.nodes if node.id in needed]


def assigned_to(name: str, nodes: Mapping[str, Node]) -> str:
    """Return the buffer that a node names storage of, no word for a node that is computed."""
    node = nodes[name]
    while node.op == "assign" or (node.op in MOVEMENT and node.op not in ("pad", "expand")):
        node = nodes[node.of[0]]
    return str(node.arg) if node.op == "buf" else ""


def overwritten(name: str, nodes: Mapping[str, Node], after: str, before: str = "") -> bool:
    """Return whether storage that ``name`` is of is assigned to ``after`` a node, and ``before`` another."""
    storage, order = assigned_to(name, nodes), list(nodes)
    between = order[order.index(after) + 1 : order.index(before) if before else None]
    assigns = (each for each in between if nodes[each].op == "assign")
    return bool(storage) and any(assigned_to(each, nodes) == storage for each in assigns)


def dtype_of(name: str) -> Any:
    """Return a dtype of tinygrad; raise ``Unsupported`` where there is none."""
    if name not in DTYPES:
        raise Unsupported(f"tinygrad has no {name}")
    return DTYPES[name]


def constant(node: Node, shape: tuple[Any, ...]) -> Tensor:
    """Return a constant in a shape."""
    value = to_array(node.arg).item()  # type: ignore[arg-type]  # a tensor, by the form of graphs
    # On no device: what is read from memory would be a buffer, and a constant is none.
    return Tensor(value, dtype=dtype_of(node.dtype)).reshape((1,) * len(shape)).expand(shape)


def elementwise(node: Node, of: list[Any]) -> Any:
    """Return an elementwise operation; raise ``Unsupported`` where ``Tensor`` has none."""
    name = str(node.arg)
    if name == "not":
        return of[0].logical_not() if node.dtype == "bool" else of[0].bitwise_not()
    if name == "div":
        return of[0].div(of[1], rounding_mode="trunc") if kind(node.dtype) == "integer" else of[0] / of[1]
    if name not in ELEMENTWISE:
        raise Unsupported(f"node {node.id!r}: Tensor has no {name}")
    return ELEMENTWISE[name](*of)


def reduced(node: Node, of: Any) -> Any:
    """Return a reduction; raise ``Unsupported`` where ``Tensor`` has none."""
    axes: Any = node.arg
    if node.dtype == "bool" and node.fold in ("and", "mul"):
        return of.all(axes)
    if node.dtype == "bool" and node.fold in ("or", "add", "max"):
        return of.any(axes)
    if node.fold in ("add", "mul"):
        return (of.sum if node.fold == "add" else of.prod)(axes, dtype=of.dtype)
    if node.fold in ("max", "min"):
        return getattr(of, node.fold)(axes)
    raise Unsupported(f"node {node.id!r}: Tensor has no reduction {node.fold} of {node.dtype}")
