"""Which nodes fit their sources: arity, argument, dtype and shape follow from the operation."""

from __future__ import annotations

import math
from typing import Final

from conformance.cases.declarations.number_model import covers
from conformance.cases.graph.buffer import Buffer, Declarations
from conformance.cases.graph.elementwise import ARITY, COMPARISONS, check_kind
from conformance.cases.graph.extent import MOST_AXES, MOST_POINTS, Values, countable, names_in, sizes
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor

FOLDS: Final = ("add", "mul", "max", "min", "and", "or", "xor")

MOST_STEP: Final = 2**62
"""The longest step of a stride: further than any shape reaches, and still an integer of 64 bits."""

_SOURCES: Final = {
    **dict.fromkeys(LEAVES, 0),
    **dict.fromkeys((*MOVEMENT, "cast", "bitcast", "reduce", "contig", "copy", "item"), 1),
    "assign": 2,
    "gather": 2,
}


def check_arity(node: Node, of: list[Node]) -> None:
    """Raise ``ValueError`` unless a node has as many sources as its operation takes."""
    if any(isinstance(dim, int) and dim < 0 for dim in node.shape):
        raise ValueError(f"shape {list(node.shape)} has a negative extent")
    if node.op == "alu" and node.arg not in ARITY:
        raise ValueError(f"{node.arg!r} is no operation; known are {', '.join(ARITY)}")
    wanted = ARITY[str(node.arg)] if node.op == "alu" else _SOURCES.get(node.op)
    if node.op == "all_reduce" and not of:
        raise ValueError("it has no sources to reduce")
    if wanted is not None and len(of) != wanted:
        raise ValueError(f"it has {len(of)} sources, and should have {wanted}")


def check_buffer(node: Node, buffer: Buffer, values: Values) -> None:
    """Raise ``ValueError`` unless a node of storage is what its buffer is."""
    if (buffer.dtype, buffer.device) != (node.dtype, node.device):
        raise ValueError(f"buffer {buffer.id!r} is {buffer.dtype} on {buffer.device}")
    fixed = [dim for dim in node.shape if isinstance(dim, int)]
    if len(fixed) == len(node.shape) and math.prod(fixed) * NUMPY[node.dtype].itemsize != buffer.size:
        raise ValueError(f"shape {list(node.shape)} is not the {buffer.size} bytes of {buffer.id!r}")
    if math.prod(sizes(node.shape, values)) * NUMPY[node.dtype].itemsize > buffer.size:
        raise ValueError(f"shape {list(node.shape)} is more than the {buffer.size} bytes of {buffer.id!r}")


def check_argument(node: Node, declared: Declarations) -> None:
    """Raise ``ValueError`` unless the argument of a node is one that its operation has."""
    _check_leaf(node, declared)
    arg = node.arg
    if node.op in {"reduce", "all_reduce"} and node.fold not in FOLDS:
        raise ValueError(f"{node.fold!r} is no fold; known are {', '.join(FOLDS)}")
    if node.op == "copy" and not (arg is None or isinstance(arg, bool)):
        raise ValueError("its argument says whether it is forced")
    if node.op in {"gather", "item", "iota"} and not (isinstance(arg, int) and not isinstance(arg, bool)):
        raise ValueError(f"its argument must be a number, not {arg!r}")
    if node.op == "collective" and not (isinstance(arg, str) and arg.isidentifier()):
        raise ValueError(f"{arg!r} is no name of an operation")
    _check_moving(node, declared)


def _check_leaf(node: Node, declared: Declarations) -> None:
    arg = node.arg
    if node.op == "const" and not (isinstance(arg, Tensor) and arg.shape == () and arg.dtype == node.dtype):
        raise ValueError(f"its argument must be a {node.dtype} tensor without axes")
    if node.op == "var" and (arg not in declared.variables or node.shape):
        raise ValueError(f"{arg!r} is no declared variable, or it has axes")
    if node.op == "param" and not (isinstance(arg, int) and not isinstance(arg, bool) and arg >= 0):
        raise ValueError(f"{arg!r} is no number of a parameter")
    if node.op == "iota":
        if not (isinstance(arg, int) and 0 <= arg < len(node.shape)):
            raise ValueError(f"{arg!r} is no axis of its shape {list(node.shape)}")
        if kind(node.dtype) not in ("integer", "float"):
            raise ValueError(f"it counts in integers or floats, not in {node.dtype}")


def _check_moving(node: Node, declared: Declarations) -> None:
    arg, rank = node.arg, len(node.shape)
    if node.op in {"pad", "shrink"}:
        if not (isinstance(arg, tuple) and len(arg) == rank and all(isinstance(pair, tuple) for pair in arg)):
            raise ValueError(f"it needs a pair for each of its {rank} axes")
        for name in (name for pair in arg if isinstance(pair, tuple) for end in pair for name in names_in(end)):
            if name not in declared.variables:
                raise ValueError(f"variable {name!r} is not declared")
    if node.op == "stride" and not (
        isinstance(arg, tuple)
        and len(arg) == rank
        and all(isinstance(step, int) and 0 < abs(step) <= MOST_STEP for step in arg)
    ):
        raise ValueError(f"it needs a step other than 0, and of at most {MOST_STEP}, for each of its {rank} axes")
    if node.op in {"permute", "flip", "reduce"} and not (
        isinstance(arg, tuple)
        and all(isinstance(axis, int) and axis >= 0 for axis in arg)
        and len(set(arg)) == len(arg)
    ):
        raise ValueError("its argument must be distinct axes, counted from 0")


def check_dtype(node: Node, of: list[Node], *, mixed: bool) -> None:
    """Raise ``ValueError`` unless the dtype of a node follows from those of its sources.

    Where they may be ``mixed``, an elementwise operation has the one that they are promoted to.
    """
    if node.op == "bitcast" and NUMPY[of[0].dtype].itemsize != NUMPY[node.dtype].itemsize:
        raise ValueError(f"a bitcast from {of[0].dtype} to {node.dtype} changes the width")
    if node.acc and (node.op != "reduce" or node.acc not in NUMPY or not _holds(node.acc, node.dtype)):
        raise ValueError(f"{node.acc!r} is no dtype in which a {node.op} of {node.dtype} accumulates")
    if not of or node.op in {"cast", "bitcast", "collective", "call", "item"}:
        return
    dtypes = [source.dtype for source in of]
    if node.op == "gather" and kind(dtypes.pop()) != "integer":
        raise ValueError("the second source of a gather must be of integers")
    if node.op == "alu" and node.arg == "where" and dtypes.pop(0) != "bool":
        raise ValueError("the first source of where must be bool")
    joined = promoted(dtypes) if mixed and node.op == "alu" else dtypes[0] if len(set(dtypes)) == 1 else None
    if joined is None:
        raise ValueError(f"its sources have the dtypes {', '.join(dtypes)}")
    check_kind(str(node.arg) if node.op == "alu" else node.fold, joined)
    right = "bool" if node.op == "alu" and node.arg in COMPARISONS else joined
    if node.dtype != right:
        raise ValueError(f"its dtype is {node.dtype}, and should be {right}")


def _holds(wide: str, narrow: str) -> bool:
    """Return whether every value of a dtype is one of another, of the same kind."""
    if kind(wide) == kind(narrow) == "float":
        return covers(wide, narrow)
    return kind(wide) == kind(narrow) and promoted((wide, narrow)) == wide


def check_shape(node: Node, of: list[Node], declared: Declarations, most: Values) -> None:
    """Raise ``ValueError`` unless the shape of a node follows from those of its sources, whatever variables are."""
    if not countable(sizes(node.shape, most)):
        raise ValueError(f"shape {list(node.shape)} has more than {MOST_POINTS} elements, or {MOST_AXES} axes")
    if not of or node.op in {"collective", "call", "item"}:
        return
    lowest = {name: bounds.low for name, bounds in declared.variables.items()}
    # Two variables of the same bounds differ in what they are bound to alone.
    for values in (lowest, most, declared.bound) if lowest else (most,):
        given = [sizes(source.shape, values) for source in of]
        if len(set(given)) > 1 and node.op != "gather":
            raise ValueError(f"its sources have the shapes {', '.join(str(list(shape)) for shape in given)}")
        if shape_of(node, given[0], values, given[-1]) != sizes(node.shape, values):
            why = unfit(node, given[0], values)
            raise ValueError(f"its shape is {list(node.shape)}, which does not follow from {list(of[0].shape)}{why}")


def shape_of(
    node: Node, given: tuple[int, ...], values: Values, second: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """Return the shape a node has by its operation and argument, or ``None`` when that is no shape.

    ``second`` is the shape of the indices of a gather.
    """
    found, fits = given, True
    arg = node.arg if isinstance(node.arg, tuple) else ()
    axes = [axis for axis in arg if isinstance(axis, int)]
    pairs = [sizes(pair, values) for pair in arg if isinstance(pair, tuple)]
    if node.op in {"reshape", "expand"}:
        found = sizes(node.shape, values)
        fits = math.prod(found) == math.prod(given)
        if node.op == "expand":
            fits = len(found) == len(given) and all(old in {new, 1} for new, old in zip(found, given, strict=True))
    elif node.op == "permute":
        fits = sorted(axes) == list(range(len(given)))
        found = tuple(given[axis] for axis in axes) if fits else ()
    elif node.op == "pad":
        fits = len(pairs) == len(given) and all(end >= 0 for pair in pairs for end in pair)
        found = tuple(sum(pair) + extent for pair, extent in zip(pairs, given, strict=False))
    elif node.op == "shrink":
        fits = len(pairs) == len(given) and all(0 <= b <= e <= n for (b, e), n in zip(pairs, given, strict=True))
        found = tuple(end - begin for begin, end in pairs)
    elif node.op == "stride":
        fits = len(axes) == len(given)
        found = tuple(-(-extent // abs(step)) for extent, step in zip(given, axes, strict=False))
    elif node.op in {"flip", "reduce"}:
        fits = all(axis < len(given) for axis in axes)
        if node.op == "reduce":
            found = tuple(extent for axis, extent in enumerate(given) if axis not in axes)
    elif node.op == "gather":
        axis = int(str(node.arg))
        fits = 0 <= axis < len(given)
        found = given[:axis] + second + given[axis + 1 :]
    return found if fits else None


def unfit(node: Node, given: tuple[int, ...], values: Values) -> str:
    """Return which axis and bounds of a movement do not fit its source, and what would; nothing where it is the shape.

    It begins with a colon, to stand behind what was found.
    """
    arg = node.arg if isinstance(node.arg, tuple) else ()
    pairs = [sizes(pair, values) for pair in arg if isinstance(pair, tuple)]
    axes = [int(str(node.arg))] if node.op == "gather" else [axis for axis in arg if isinstance(axis, int)]
    if node.op in {"flip", "reduce", "gather"}:
        beyond = [axis for axis in axes if not 0 <= axis < len(given)]
        return f": axis {beyond[0]} is out of range, for axes 0 to {len(given) - 1}" if beyond else ""
    if node.op in {"shrink", "pad"} and len(pairs) != len(given):
        return f": {len(pairs)} pairs are given for {len(given)} axes, and each has one"
    for axis, (pair, extent) in enumerate(zip(pairs, given, strict=False)):
        begin, end = pair
        if node.op == "shrink" and not 0 <= begin <= end <= extent:
            return f": {pair} is no range of axis {axis}, which has bounds 0 <= begin <= end <= {extent}"
        if node.op == "pad" and min(pair) < 0:
            return f": axis {axis} is padded by {pair}, and neither may be below 0"
    count = math.prod(sizes(node.shape, values))
    if node.op == "reshape" and count != math.prod(given):
        return f": it has {count} elements, and its source {math.prod(given)}"
    return ""
