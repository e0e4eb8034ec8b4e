"""Graph cases on JAX: each round is one function under ``jit`` of what buffers hold and what was computed before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Claims
from conformance.backends.graph_company import CompanyAnswers
from conformance.backends.graph_walk import Walk, place_of
from conformance.backends.jax.claims import UNKNOWN_ON_CPU
from conformance.backends.jax.company import together
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.features import FEATURES
from conformance.cases.graph.graph import Node
from conformance.cases.observation import RankError
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, to_array

_LACKS: Final = ("all_reduce", "collective")

_NARROW: Final = ("int4", "uint4", "int2", "uint2")
"""Of these ``lax.abs`` says: "Support for narrow-width integers is platform-dependent and limited to a few specific
operations"."""

CLAIMS: Final[Claims] = {
    "schedule_of_graph": {},
    "graph": {
        "operation": [word for word in FEATURES["operation"] if word not in _LACKS],
        "dtype": [name for name in NUMPY if name not in (*_NARROW, *UNKNOWN_ON_CPU)],
        # A function is compiled for one device.
        "devices": ["1"],
        # An array is set to what is broadcast and converted, and a function is traced for any arguments.
        "misfit": ["none"],
        # max and min of an axis without elements have no value in NumPy's interface.
        "nothing": [word for word in FEATURES["nothing"] if "_max_" not in word and "_min_" not in word],
    },
}
"""What the documentation of JAX supports."""


def run(case: GraphCase) -> dict[str, Array]:
    """Return what the rounds of a case ask for and read."""
    return Compiled(case).run()


def run_together(cases: Sequence[GraphCase], *, adapts: bool) -> list[dict[str, Array] | RankError]:
    """Return what ``run`` does for each of several cases, or how one is refused: their rounds are compiled together.

    Raise whatever JAX raises of all of them.
    """
    found = CompanyAnswers(cases, adapts=adapts)
    walks: dict[int, Compiled] = {}
    for place, case in enumerate(cases):
        with found.refusing(place):
            walks[place] = Compiled(case)
    for number in range(found.rounds):
        going = {place: walk for place, walk in walks.items() if found.goes_on(place, number)}
        for walk in going.values():
            walk.write_from_outside(number)
        taken = [(walk.storages, walk.values, walk.more) for walk in going.values()]
        made = together([walk.function(number) for walk in going.values()], taken, adapts=adapts)
        for (place, walk), one in zip(going.items(), made, strict=True):
            if isinstance(one, RankError):
                found.refused(place, one)
            else:
                walk.given, walk.storages, walk.values, walk.more = one
                found.add(place, walk.given_by(number))
    return found.all


class Compiled(Walk):
    """A case whose values are arrays of JAX, traced while a round is compiled."""

    def begin(self, number: int) -> None:
        """Compile and call one function a round."""
        self.write_from_outside(number)
        with framework():
            self.given, self.storages, self.values, self.more = jax.jit(self._round(number))(
                self.storages, self.values, self.more
            )

    def answers(self, names: tuple[str, ...]) -> list[Any]:
        """Return what the function of the round gave."""
        return self.arrays(self.given)

    def function(self, number: int) -> Callable[[Any], Any]:
        """Return the function of a round, of all that it takes as one value."""
        traced = self._round(number)
        return lambda taken: traced(*taken)

    def _round(self, number: int) -> Callable[[Any, Any, Any], Any]:
        """Return the function of a round."""

        @adapter()
        def traced(storages: Any, values: Any, more: Any) -> Any:
            self.storages, self.values, self.more = dict(storages), dict(values), dict(more)
            self.list_nodes(number)
            asked = [self.value(name) for name in self.case.rounds[number].asked]
            return asked, self.storages, self._later(number), self._later_results(number)

        return traced

    def _later(self, number: int) -> dict[str, Any]:
        """Return the values that later rounds take or ask for."""
        first = self.case.rounds[number].until
        later = {name for node in self.case.graph.nodes[first:] for name in node.of}
        later |= {name for each in self.case.rounds[number + 1 :] for name in each.asked}
        return {name: value for name, value in self.values.items() if name in later}

    def _later_results(self, number: int) -> dict[str, Any]:
        first = self.case.rounds[number].until
        later = {node.of[0] for node in self.case.graph.nodes[first:] if node.op == "item"}
        return {name: value for name, value in self.more.items() if name in later}

    def storage(self, name: str, array: Array) -> jax.Array:
        """Return a flat array on the device."""
        del name
        with framework():
            return jnp.asarray(array)

    def write(self, name: str, array: Array) -> None:
        """Put another array in the place of a buffer's."""
        self.storages[name] = self.storage(name, array)

    def shaped(self, value: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """Return the beginning of a flat array in a shape."""
        with framework():
            return value[: int(np.prod(shape, dtype=np.int64))].reshape(shape)

    def moved(self, node: Node, value: Any) -> Any:
        """Return movement of a value."""
        with framework():
            return MOVES[node.op](self, node, value)

    def assign(self, node: Node, value: Any, *, copied: bool) -> None:
        """Set the elements of a buffer that a target shows."""
        del copied
        home, at = self.home(node.of[0]), place_of(self, node.of[0])
        if at.size == self.storages[home].size:
            # Of a table of indices XLA does not see that it is everything, and would fill what it overwrites.
            self.storages[home] = self._moved_back(node.of[0], value)
            return
        with framework():
            self.storages[home] = self.storages[home].at[at].set(value)

    def _moved_back(self, name: str, value: Any) -> Any:
        """Return the flat storage of which all, as a name shows it, is a value."""
        node = self.nodes[name]
        while node.op != "buf":
            source = self.nodes[node.of[0]]
            with framework():
                value = BACK[node.op](self, node, source, value)
            node = source
        with framework():
            return value.reshape(-1)

    def call(self, node: Node, of: list[Any]) -> list[Any]:
        """Call a function that is compiled by itself."""
        function = self.case.graph.functions[str(node.arg)]

        @adapter()
        def traced(*given: Any) -> Any:
            return self.applied(function, list(given), self.bounds[node.id])

        with framework():
            return list(jax.jit(traced)(*of))

    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return the calls of computed nodes."""
        return TABLE

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node that is computed now."""
        with framework():
            if node.op == "var":
                return jnp.asarray(self.bounds[node.id][str(node.arg)], NUMPY[node.dtype])
            if node.op == "const":
                assert isinstance(node.arg, Tensor)
                return jnp.broadcast_to(jnp.asarray(to_array(node.arg)), self.dims(node))
            if node.op == "iota":
                return lax.broadcasted_iota(NUMPY[node.dtype], self.dims(node), int(str(node.arg)))
        return super().made(node, of)

    def array(self, value: Any) -> Array:
        """Return a value as an array."""
        with framework():
            return np.array(value)


def _shrink(walk: Walk, node: Node, value: Any) -> Any:
    pairs = walk.pairs(node)
    return lax.slice(value, [begin for begin, _ in pairs], [end for _, end in pairs])


def _stride(walk: Walk, node: Node, value: Any) -> Any:
    steps = walk.axes(node)
    turned = tuple(axis for axis, step in enumerate(steps) if step < 0)
    value = lax.rev(value, turned) if turned else value
    return lax.slice(value, (0,) * value.ndim, value.shape, [abs(step) for step in steps])


MOVES: Final[Mapping[str, Callable[[Walk, Node, Any], Any]]] = {
    "reshape": lambda walk, node, value: jnp.reshape(value, walk.dims(node)),
    "permute": lambda walk, node, value: jnp.transpose(value, walk.axes(node)),
    "expand": lambda walk, node, value: jnp.broadcast_to(value, walk.dims(node)),
    "pad": lambda walk, node, value: jnp.pad(value, walk.pairs(node)) if value.ndim else value,
    "shrink": _shrink,
    "stride": _stride,
    "flip": lambda walk, node, value: lax.rev(value, walk.axes(node)),
    "detach": lambda _, __, value: lax.stop_gradient(value),
}

BACK: Final[Mapping[str, Callable[[Walk, Node, Node, Any], Any]]] = {
    "reshape": lambda walk, _, source, value: jnp.reshape(value, walk.dims(source)),
    "permute": lambda walk, node, _, value: jnp.transpose(value, np.argsort(walk.axes(node)).tolist()),
    "stride": lambda walk, node, _, value: lax.rev(value, [a for a, step in enumerate(walk.axes(node)) if step < 0]),
    "flip": lambda walk, node, _, value: lax.rev(value, walk.axes(node)),
    **dict.fromkeys(("shrink", "detach", "assign"), lambda _, __, ___, value: value),
}
"""What undoes movement that shows every element of its source."""


def _reduce(node: Node, value: Any) -> Any:
    axes = tuple(axis for axis in node.arg if isinstance(axis, int)) if isinstance(node.arg, tuple) else ()
    dtype, own = NUMPY[node.acc or node.dtype], NUMPY[node.dtype]
    if node.dtype == "bool" and node.fold in ("add", "or", "mul", "and"):
        return (jnp.any if node.fold in ("add", "or") else jnp.all)(value, axes)
    if node.fold in ("add", "mul"):
        return (jnp.sum if node.fold == "add" else jnp.prod)(value, axes, dtype=dtype).astype(own)
    if node.fold in ("max", "min"):
        return (jnp.max if node.fold == "max" else jnp.min)(value, axes)
    for axis in sorted(axes, reverse=True):
        value = _BITS[node.fold].reduce(value, axis=axis)
    return value


_BITS: Final[dict[str, Any]] = {"and": jnp.bitwise_and, "or": jnp.bitwise_or, "xor": jnp.bitwise_xor}


def _divide(node: Node, left: Any, right: Any) -> Any:
    if kind(node.dtype) != "integer":
        return jnp.divide(left, right)
    dtype = jnp.promote_types(left.dtype, right.dtype)
    return lax.div(left.astype(dtype), right.astype(dtype))


def _remainder(_: Node, left: Any, right: Any) -> Any:
    return jnp.fmod(left, right)


_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "neg": jnp.negative,
    "not": jnp.bitwise_not,
    "abs": jnp.abs,
    "recip": jnp.reciprocal,
    "sqrt": jnp.sqrt,
    "exp2": jnp.exp2,
    "log2": jnp.log2,
    "sin": jnp.sin,
    "trunc": jnp.trunc,
    "add": jnp.add,
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "max": jnp.maximum,
    "min": jnp.minimum,
    "and": jnp.bitwise_and,
    "or": jnp.bitwise_or,
    "xor": jnp.bitwise_xor,
    "shl": jnp.left_shift,
    "shr": jnp.right_shift,
    "lt": jnp.less,
    "ne": jnp.not_equal,
    "eq": jnp.equal,
    "where": jnp.where,
}


def _framed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose exceptions are the framework's."""

    def framed(*args: Any) -> Any:
        with framework():
            return function(*args)

    return framed


TABLE: Final[Mapping[str, Callable[..., Any]]] = {
    **{name: _framed(lambda _, *of, call=call: call(*of)) for name, call in _CALLS.items()},
    "div": _framed(_divide),
    "mod": _framed(_remainder),
    "cast": _framed(lambda node, value: lax.convert_element_type(value, NUMPY[node.dtype])),
    "bitcast": _framed(lambda node, value: lax.bitcast_convert_type(value, NUMPY[node.dtype])),
    "reduce": _framed(_reduce),
    "gather": _framed(lambda node, value, index: jnp.take(value, index, axis=int(str(node.arg)), mode="clip")),
    "contig": _framed(lambda _, value: lax.optimization_barrier(value)),
    "copy": _framed(lambda _, value: jnp.copy(value)),
}
