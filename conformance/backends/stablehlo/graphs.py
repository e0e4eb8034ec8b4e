"""Graph cases in StableHLO: all rounds as one function, of what is stored at first and of what is written from outside.

Every node is one operation of StableHLO, or a few that its text defines exactly. A write is a new value of all of the
storage; what was listed before keeps the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.backends.base import Claims, Unsupported
from conformance.backends.graph_walk import Walk, place_of
from conformance.backends.stablehlo.elements import ELEMENTS, SsaValue, tensor_type
from conformance.backends.stablehlo.module import Module, one_process
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.features import FEATURES
from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, to_array

_LACKS: Final = ("all_reduce", "collective")

CLAIMS: Final[Claims] = {
    "graph": {
        "operation": [word for word in FEATURES["operation"] if word not in _LACKS and not word.startswith("log2")],
        "dtype": [name for name in ELEMENTS if name not in ("int4", "uint4")],
        "devices": ["1"],
        # The adapter writes a function inline, and what is assigned is a new value.
        "misfit": ["none"],
    }
}
"""What the text of StableHLO has: no logarithm of base 2, and processes, not devices."""


def traced(case: GraphCase) -> tuple[Module, list[Array], tuple[str, ...]]:
    """Return a case as a module, what it is given, and the names of its results; raise ``Unsupported``."""
    walk = Traced(case)
    found = walk.run()
    results = tuple(found.values())
    return one_process(tuple(walk.taken), walk.lines, results), walk.given, tuple(found)


class Traced(Walk):
    """A case whose values are names in a function, with the ``lines`` of it and what it is ``given``."""

    def __init__(self, case: GraphCase) -> None:
        """Begin with the storages as arguments."""
        self.lines: list[str] = []
        self.taken: list[SsaValue] = []
        self.given: list[Array] = []
        self._count = 0
        super().__init__(case)

    def op(self, word: str, of: list[SsaValue], dtype: str, shape: tuple[int, ...], attributes: str = "") -> SsaValue:
        """Add an operation and return its result."""
        made = self._fresh(dtype, shape)
        body = f" {{{attributes}}}" if attributes else ""
        self.lines.append(f'{made.name} = "stablehlo.{word}"({_names(of)}){body} : ({_types(of)}) -> {made.type}')
        return made

    def region(
        self, word: str, of: list[SsaValue], made: tuple[str, tuple[int, ...]], inner: str, attributes: str
    ) -> SsaValue:
        """Add an operation that computes scalars by another, or takes the second of them where there is none."""
        result = self._fresh(*made)
        scalar = tensor_type(ELEMENTS[made[0]], ())
        left, right, both = (f"{result.name}_{part}" for part in "lrb")
        computed = f'{both} = "stablehlo.{inner}"({left}, {right}) : ({scalar}, {scalar}) -> {scalar} ' if inner else ""
        given = both if inner else right
        self.lines.append(
            f'{result.name} = "stablehlo.{word}"({_names(of)}) ({{ ^bb0({left}: {scalar}, {right}: {scalar}): '
            f'{computed}"stablehlo.return"({given}) : ({scalar}) -> () }}) {{{attributes}}} : '
            f"({_types(of)}) -> {result.type}"
        )
        return result

    def argument(self, array: Array, dtype: str) -> SsaValue:
        """Return an argument that is an array, bit for bit."""
        value = SsaValue(f"%x{len(self.taken)}", dtype, array.shape)
        self.taken.append(value)
        self.given.append(array)
        return value

    def scalar(self, number: Any, dtype: str) -> SsaValue:
        """Return one number as an argument."""
        return self.argument(np.array(number).astype(NUMPY[dtype]), dtype)

    def converted(self, value: SsaValue, dtype: str) -> SsaValue:
        """Return a value in another dtype."""
        return value if value.dtype == dtype else self.op("convert", [value], dtype, value.shape)

    def spread(self, value: SsaValue, shape: tuple[int, ...]) -> SsaValue:
        """Return a scalar at every place of a shape."""
        return self.op("broadcast_in_dim", [value], value.dtype, shape, "broadcast_dimensions = array<i64>")

    def storage(self, name: str, array: Array) -> SsaValue:
        """Return an argument for a flat array."""
        return self.argument(array, _known(self.case.buffers[name].dtype))

    def write(self, name: str, array: Array) -> None:
        """Put an argument in the place of a storage."""
        self.storages[name] = self.storage(name, array)

    def held(self, name: str) -> SsaValue:
        """Return what a buffer holds, in its shape."""
        return self.reshaped(self.storages[name], self.case.buffers[name].shape)

    def reshaped(self, value: SsaValue, shape: tuple[int, ...]) -> SsaValue:
        """Return a value in another shape."""
        return self.op("reshape", [value], value.dtype, tuple(shape))

    def shaped(self, value: SsaValue, shape: tuple[int, ...]) -> SsaValue:
        """Return the beginning of flat storage in a shape."""
        count = int(np.prod(shape, dtype=np.int64))
        return self.reshaped(value if value.shape == (count,) else self.cut(value, [(0, count, 1)]), shape)

    def cut(self, value: SsaValue, cuts: list[tuple[int, int, int]]) -> SsaValue:
        """Return a slice: begin, end and step of each axis."""
        shape = tuple(max(0, -(-(end - begin) // step)) for begin, end, step in cuts)
        names = ("start_indices", "limit_indices", "strides")
        attributes = ", ".join(f"{name} = {_array(each)}" for name, each in zip(names, _columns(cuts), strict=True))
        return self.op("slice", [value], value.dtype, shape, attributes)

    def moved(self, node: Node, value: SsaValue) -> SsaValue:
        """Return movement of a value."""
        return MOVES[node.op](self, node, value)

    def assign(self, node: Node, value: SsaValue, *, copied: bool) -> None:
        """Give the storage another value, in which some elements are a value's."""
        del copied
        home, at = self.home(node.of[0]), place_of(self, node.of[0])
        old, update = self.storages[home], self.reshaped(value, (at.size,))
        where = self.argument(np.array(at, np.int64).reshape(-1, 1), "int64")
        numbers = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
        self.storages[home] = self.region(
            "scatter",
            [old, where, update],
            (old.dtype, old.shape),
            "",
            f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, "
            "indices_are_sorted = false, unique_indices = true",
        )

    def table(self) -> Mapping[str, Callable[..., SsaValue]]:
        """Return what makes computed nodes."""
        return {name: lambda node, *of, call=call: call(self, node, *of) for name, call in COMPUTED.items()}

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node that is computed now."""
        _known(node.dtype)
        if node.op == "var":
            return self.scalar(self.bounds[node.id][str(node.arg)], node.dtype)
        if node.op == "const":
            assert isinstance(node.arg, Tensor)
            return self.spread(self.argument(to_array(node.arg).reshape(()), node.dtype), self.dims(node))
        if node.op == "iota":
            counted = self.op("iota", [], "int64", self.dims(node), f"iota_dimension = {node.arg} : i64")
            return self.converted(counted, node.dtype)
        return super().made(node, of)

    def arrays(self, values: list[Any]) -> list[Any]:
        """Return the names of values: nothing is evaluated before all is written down."""
        return values

    def array(self, value: Any) -> Array:
        """Raise, for no value is an array here."""
        raise TypeError(f"{value} is evaluated with the whole module")

    def _fresh(self, dtype: str, shape: tuple[int, ...]) -> SsaValue:
        self._count += 1
        return SsaValue(f"%v{self._count}", _known(dtype), tuple(shape))


def _known(dtype: str) -> str:
    if dtype not in ELEMENTS:
        raise Unsupported(f"StableHLO has no {dtype}")
    return dtype


def _names(values: list[SsaValue]) -> str:
    return ", ".join(each.name for each in values)


def _types(values: list[SsaValue]) -> str:
    return ", ".join(each.type for each in values)


def _array(numbers: Any) -> str:
    found = ", ".join(str(each) for each in numbers)
    return f"array<i64: {found}>" if found else "array<i64>"


def _columns(rows: list[tuple[int, int, int]]) -> list[tuple[int, ...]]:
    return [tuple(row[number] for row in rows) for number in range(3)]


def _turned(walk: Traced, value: SsaValue, axes: tuple[int, ...]) -> SsaValue:
    return walk.op("reverse", [value], value.dtype, value.shape, f"dimensions = {_array(axes)}") if axes else value


def _expand(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    attributes = f"broadcast_dimensions = {_array(range(len(value.shape)))}"
    return walk.op("broadcast_in_dim", [value], value.dtype, walk.dims(node), attributes)


def _permute(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    attributes = f"permutation = {_array(walk.axes(node))}"
    return walk.op("transpose", [value], value.dtype, walk.dims(node), attributes)


def _pad(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    pairs = walk.pairs(node)
    ends = [f"edge_padding_{word} = {_array(pair[at] for pair in pairs)}" for at, word in enumerate(("low", "high"))]
    attributes = ", ".join([*ends, f"interior_padding = {_array(0 for _ in pairs)}"])
    return walk.op("pad", [value, walk.scalar(0, value.dtype)], value.dtype, walk.dims(node), attributes)


def _stride(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    steps = walk.axes(node)
    turned = _turned(walk, value, tuple(axis for axis, step in enumerate(steps) if step < 0))
    return walk.cut(turned, [(0, extent, abs(step)) for extent, step in zip(value.shape, steps, strict=True)])


MOVES: Final[Mapping[str, Callable[[Any, Node, SsaValue], SsaValue]]] = {
    "reshape": lambda walk, node, value: walk.reshaped(value, walk.dims(node)),
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": lambda walk, node, value: walk.cut(value, [(*pair, 1) for pair in walk.pairs(node)]),
    "stride": _stride,
    "flip": lambda walk, node, value: _turned(walk, value, walk.axes(node)),
    "detach": lambda _, __, value: value,
}

_WORDS: Final = {
    "neg": "negate", "not": "not", "abs": "abs", "sqrt": "sqrt", "sin": "sine", "add": "add", "sub": "subtract",
    "mul": "multiply", "div": "divide", "mod": "remainder", "max": "maximum", "min": "minimum", "and": "and",
    "or": "or", "xor": "xor", "shl": "shift_left",
}  # fmt: skip
_COMPARED: Final = {"lt": "LT", "ne": "NE", "eq": "EQ"}
_FOLDS: Final = {
    "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or", "xor": "xor",
}  # fmt: skip


def _alike(walk: Traced, of: tuple[SsaValue, ...]) -> list[SsaValue]:
    dtype = promoted([each.dtype for each in of])
    assert dtype is not None  # by the form of graphs
    return [walk.converted(each, dtype) for each in of]


def _elementwise(walk: Traced, node: Node, *of: SsaValue) -> SsaValue:
    taken = _alike(walk, of)
    return walk.op(_WORDS[str(node.arg)], taken, node.dtype, taken[0].shape)


def _compared(walk: Traced, node: Node, *of: SsaValue) -> SsaValue:
    taken = _alike(walk, of)
    attributes = f"comparison_direction = #stablehlo<comparison_direction {_COMPARED[str(node.arg)]}>"
    return walk.op("compare", taken, "bool", taken[0].shape, attributes)


def _magnitude(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    """Return the magnitude of a number; the text has none of what has no sign, which is its own."""
    return value if value.dtype.startswith("uint") else _elementwise(walk, node, value)


def _where(walk: Traced, node: Node, condition: SsaValue, *of: SsaValue) -> SsaValue:
    return walk.op("select", [condition, *_alike(walk, of)], node.dtype, condition.shape)


def _reciprocal(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    one = walk.spread(walk.scalar(1, value.dtype), value.shape)
    return walk.op("divide", [one, value], node.dtype, value.shape)


def _exp2(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    two = walk.spread(walk.scalar(2, value.dtype), value.shape)
    return walk.op("power", [two, value], node.dtype, value.shape)


def _trunc(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    """Round down what is not negative, and up what is: the text has no operation that cuts."""
    zero = walk.spread(walk.scalar(0, value.dtype), value.shape)
    attributes = "comparison_direction = #stablehlo<comparison_direction LT>"
    below = walk.op("compare", [value, zero], "bool", value.shape, attributes)
    up, down = (walk.op(word, [value], node.dtype, value.shape) for word in ("ceil", "floor"))
    return walk.op("select", [below, up, down], node.dtype, value.shape)


def _shifted(walk: Traced, node: Node, *of: SsaValue) -> SsaValue:
    taken = _alike(walk, of)
    word = "shift_right_logical" if node.dtype.startswith("uint") else "shift_right_arithmetic"
    return walk.op(word, taken, node.dtype, taken[0].shape)


def _bitcast(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    if "bool" in (value.dtype, node.dtype):
        raise Unsupported("a bool has one bit in StableHLO, and nothing else has")
    return walk.op("bitcast_convert", [value], node.dtype, value.shape)


def _reduce(walk: Traced, node: Node, value: SsaValue) -> SsaValue:
    dtype, axes = node.acc or node.dtype, walk.axes(node)
    shape = tuple(extent for axis, extent in enumerate(value.shape) if axis not in axes)
    begin = walk.scalar(_begin(node.fold, dtype), dtype)
    attributes = f"dimensions = {_array(axes)}"
    made = walk.region("reduce", [walk.converted(value, dtype), begin], (dtype, shape), _FOLDS[node.fold], attributes)
    return walk.converted(made, node.dtype)


def _begin(fold: str, dtype: str) -> Any:
    """Return what a fold of no terms is."""
    if fold in ("max", "min"):
        if dtype == "bool":
            return fold == "min"
        if kind(dtype) == "integer":
            ends = np.iinfo(NUMPY[dtype])
            return ends.min if fold == "max" else ends.max
        return _farthest(dtype, -1 if fold == "max" else 1)
    return {"add": 0, "or": 0, "xor": 0, "mul": 1}.get(fold, True if dtype == "bool" else -1)


def _farthest(dtype: str, sign: int) -> float:
    """Return the least or the greatest number of a float: an infinity, where the dtype has one."""
    beyond = np.array(sign * np.inf).astype(NUMPY[dtype]).astype(np.float64)
    return sign * (np.inf if np.isinf(beyond) else float(ml_dtypes.finfo(NUMPY[dtype]).max))


def _gather(walk: Traced, node: Node, data: SsaValue, index: SsaValue) -> SsaValue:
    axis, rank = int(str(node.arg)), len(index.shape)
    shape = (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :])
    offsets = [at for at in range(len(shape)) if not axis <= at < axis + rank]
    sizes = [1 if at == axis else extent for at, extent in enumerate(data.shape)]
    numbers = (
        f"offset_dims = {offsets}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}], "
        f"index_vector_dim = {rank}"
    )
    attributes = (
        f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {_array(sizes)}, indices_are_sorted = false"
    )
    return walk.op("gather", [data, index], node.dtype, shape, attributes)


def _kept(walk: Traced, _: Node, value: SsaValue) -> SsaValue:
    return walk.op("optimization_barrier", [value], value.dtype, value.shape)


COMPUTED: Final[Mapping[str, Callable[..., SsaValue]]] = {
    **dict.fromkeys(_WORDS, _elementwise),
    **dict.fromkeys(_COMPARED, _compared),
    "abs": _magnitude,
    "where": _where,
    "recip": _reciprocal,
    "exp2": _exp2,
    "trunc": _trunc,
    "shr": _shifted,
    "cast": lambda walk, node, value: walk.converted(value, node.dtype),
    "bitcast": _bitcast,
    "reduce": _reduce,
    "gather": _gather,
    "contig": _kept,
    "copy": _kept,
}
