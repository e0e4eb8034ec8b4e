"""Graph cases on PyTorch, eagerly: every node is a call of ``torch`` on the processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import ml_dtypes
import numpy as np
import torch
from torch.nn import functional

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Unsupported
from conformance.backends.graph_walk import BITWISE_FOLDS, Walk
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.elementwise import ARITY
from conformance.cases.graph.features import FEATURES
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.tensor.dtypes import Array, kind
from conformance.cases.tensor.tensor import Tensor, to_array

DTYPES: Final = {
    **{name: getattr(torch, name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8")},
    **{name: getattr(torch, name) for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")},
}
"""Dtypes that ``torch`` has all of these operations for; it stores others."""

_LACKS: Final = {"all_reduce", "collective", *BITWISE_FOLDS}

CLAIMS: Final[Claims] = {
    "graph": {
        "operation": [word for word in FEATURES["operation"] if word not in _LACKS],
        "dtype": list(DTYPES),
        "devices": ["1"],
        # copy_ broadcasts and converts, and a function of Python takes any arguments.
        "misfit": ["none"],
        # amax and amin refuse axes without elements.
        "nothing": [word for word in FEATURES["nothing"] if "_max_" not in word and "_min_" not in word],
        # A view has no negative stride.
        "target": ["none", "whole", "view"],
        "index": ["none", "inside"],
    }
}
"""What the documentation of ``torch`` supports."""


def run(case: GraphCase) -> dict[str, Array]:
    """Return what the rounds of a case ask for and read."""
    return Eager(case).run()


def tensor_of(array: Array) -> torch.Tensor:
    """Return an array as a tensor, bit for bit."""
    array = np.ascontiguousarray(array).reshape(array.shape).copy()
    if array.dtype == np.dtype(ml_dtypes.bfloat16):
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


class Eager(Walk):
    """A case whose values are tensors."""

    def storage(self, name: str, array: Array) -> torch.Tensor:
        """Return new storage that holds a flat array."""
        if self.case.buffers[name].dtype not in DTYPES:
            raise Unsupported(f"torch computes nothing in {self.case.buffers[name].dtype}")
        return tensor_of(array)

    def write(self, name: str, array: Array) -> None:
        """Copy a flat array into a whole buffer."""
        given = tensor_of(array)
        with framework():
            self.storages[name].copy_(given)

    def shaped(self, value: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
        """Return the beginning of flat storage in a shape, as a view."""
        count = int(np.prod(shape, dtype=np.int64))
        with framework():
            return value[:count].view(shape)

    def moved(self, node: Node, value: torch.Tensor) -> torch.Tensor:
        """Return movement of a value, as a view where there is one."""
        return MOVES[node.op](self, node, value)

    def assign(self, node: Node, value: torch.Tensor, *, copied: bool) -> None:
        """Copy a value into a view of storage; what may overlap it is cloned first, as the documentation asks."""
        target = self._view(node.of[0])
        with framework():
            target.copy_(value.clone() if copied else value)

    def _view(self, name: str) -> torch.Tensor:
        """Return the view that a name of storage is; raise ``Unsupported`` where torch would copy."""
        target: torch.Tensor = self.value(name)
        # Tensors without data, which a compiler traces with, have no address, so no public name tells storages apart.
        own, whole = (each.untyped_storage()._cdata for each in (target, self.storages[self.home(name)]))  # noqa: SLF001
        if target.numel() and own != whole:
            raise Unsupported(f"node {name!r}: torch has no view of this part of its storage")
        return target

    def table(self) -> Mapping[str, Callable[..., torch.Tensor]]:
        """Return the calls of computed nodes."""
        return TABLE

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the tensor of a node that is computed now."""
        if node.op == "var":
            return torch.tensor(self.bounds[node.id][str(node.arg)], dtype=_dtype(node.dtype))
        if node.op == "const":
            assert isinstance(node.arg, Tensor)
            _dtype(node.dtype)
            value = tensor_of(to_array(node.arg))
            with framework():
                return value.expand(self.dims(node))
        if node.op == "iota":
            return self._iota(node)
        if node.op in MOVEMENT:
            return self.moved(node, of[0])
        name = str(node.arg) if node.op == "alu" else node.op
        if name not in TABLE:
            raise Unsupported(f"node {node.id!r}: torch has no {name}")
        return TABLE[name](node, *of)

    def _iota(self, node: Node) -> torch.Tensor:
        shape, axis = self.dims(node), int(str(node.arg))
        dtype = _dtype(node.dtype)
        with framework():
            line = torch.arange(shape[axis], dtype=dtype)
            return line.reshape([-1 if each == axis else 1 for each in range(len(shape))]).expand(shape)

    def array(self, value: torch.Tensor) -> Array:
        """Return a tensor as an array, bit for bit."""
        with framework():
            held = value.detach().contiguous()
            if held.dtype == torch.bfloat16:
                return np.array(held.view(torch.int16).numpy()).view(ml_dtypes.bfloat16)
            return np.array(held.numpy())


def _dtype(name: str) -> torch.dtype:
    if name not in DTYPES:
        raise Unsupported(f"torch computes nothing in {name}")
    found: torch.dtype = DTYPES[name]
    return found


def _framed(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Return a function whose exceptions are the framework's."""

    def framed(*args: Any) -> torch.Tensor:
        with framework():
            return function(*args)

    return framed


def _pad(walk: Walk, node: Node, value: torch.Tensor) -> torch.Tensor:
    ends = [end for pair in reversed(walk.pairs(node)) for end in pair]
    with framework():
        return functional.pad(value, ends) if ends else value.clone()


def _shrink(walk: Walk, node: Node, value: torch.Tensor) -> torch.Tensor:
    with framework():
        for axis, (begin, end) in enumerate(walk.pairs(node)):
            value = value.narrow(axis, begin, end - begin)
        return value


def _stride(walk: Walk, node: Node, value: torch.Tensor) -> torch.Tensor:
    steps = walk.axes(node)
    with framework():
        turned = [axis for axis, step in enumerate(steps) if step < 0]
        value = value.flip(turned) if turned else value
        return value[tuple(slice(None, None, abs(step)) for step in steps)]


MOVES: Final[Mapping[str, Callable[[Walk, Node, torch.Tensor], torch.Tensor]]] = {
    "reshape": _framed(lambda walk, node, value: value.reshape(walk.dims(node))),
    "permute": _framed(lambda walk, node, value: value.permute(walk.axes(node))),
    "expand": _framed(lambda walk, node, value: value.expand(walk.dims(node))),
    "flip": _framed(lambda walk, node, value: value.flip(walk.axes(node))),
    "detach": _framed(lambda _, __, value: value.detach()),
    "pad": _pad,
    "shrink": _shrink,
    "stride": _stride,
}


def _reduce(node: Node, value: torch.Tensor) -> torch.Tensor:
    axes = tuple(axis for axis in node.arg if isinstance(axis, int)) if isinstance(node.arg, tuple) else ()
    dtype, own = _dtype(node.acc or node.dtype), _dtype(node.dtype)
    key = (node.fold, "bool" if node.dtype == "bool" else "")
    with framework():
        if not axes:
            return value.clone()
        if key in (("add", "bool"), ("or", "bool"), ("max", "bool")):
            return torch.any(value, axes)
        if key in (("mul", "bool"), ("and", "bool"), ("min", "bool")):
            return torch.all(value, axes)
        if node.fold == "add":
            return torch.sum(value, axes, dtype=dtype).to(own)
        if node.fold == "mul":
            for axis in sorted(axes, reverse=True):
                value = torch.prod(value, axis, dtype=dtype)
            return value.to(own)
        if node.fold in ("max", "min"):
            return (torch.amax if node.fold == "max" else torch.amin)(value, axes)
    raise Unsupported(f"node {node.id!r}: torch has no reduction {node.fold} of {node.dtype}")


def _gather(node: Node, value: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    axis = int(str(node.arg))
    shape = (*value.shape[:axis], *index.shape, *value.shape[axis + 1 :])
    with framework():
        return value.index_select(axis, index.reshape(-1).to(torch.int64)).reshape(shape)


def _divide(node: Node, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.div(left, right, rounding_mode="trunc" if kind(node.dtype) == "integer" else None)


_CALLS: Final[dict[str, Callable[..., torch.Tensor]]] = {
    "neg": torch.neg,
    "not": torch.bitwise_not,
    "abs": torch.abs,
    "recip": torch.reciprocal,
    "sqrt": torch.sqrt,
    "exp2": torch.exp2,
    "log2": torch.log2,
    "sin": torch.sin,
    "trunc": torch.trunc,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "mod": torch.fmod,
    "max": torch.maximum,
    "min": torch.minimum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
    "lt": torch.lt,
    "ne": torch.ne,
    "eq": torch.eq,
    "where": torch.where,
}

TABLE: Final[Mapping[str, Callable[..., torch.Tensor]]] = {
    **{name: _framed(lambda _, *of, call=call: call(*of)) for name, call in _CALLS.items()},
    "div": _framed(_divide),
    "cast": _framed(lambda node, value: value.to(_dtype(node.dtype), copy=True)),
    "bitcast": _framed(lambda node, value: value.contiguous().view(_dtype(node.dtype)).clone()),
    "reduce": _reduce,
    "gather": _gather,
    # Of what is contiguous ``contiguous`` is the same storage, and this node is no name of it.
    "contig": _framed(lambda _, value: value.clone(memory_format=torch.contiguous_format)),
    "copy": _framed(lambda _, value: value.clone()),
}
assert set(ARITY) <= set(TABLE)
