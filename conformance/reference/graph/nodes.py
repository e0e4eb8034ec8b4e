"""What the single nodes of a graph are worth: leaves, and what is computed from what the sources are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, Array, logical
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.elementwise import apply, fold


def leaf(node: Node, values: Values) -> Array:
    """Return a constant in its shape, the numbers along an axis, or the value of a variable."""
    shape = sizes(node.shape, values)
    if node.op == "const":
        assert isinstance(node.arg, Tensor)
        return np.broadcast_to(to_array(node.arg), shape)
    if node.op == "iota":
        axis = int(str(node.arg))
        lead = [-1 if each == axis else 1 for each in range(len(shape))]
        return np.broadcast_to(cast(np.arange(shape[axis]), node.dtype).reshape(lead), shape)
    return np.asarray(values[str(node.arg)], NUMPY[node.dtype])


def computed(node: Node, of: Sequence[Array]) -> Array:
    """Return the value of a node that is neither a leaf nor movement, of the values of its sources."""
    return np.array(_COMPUTED[node.op](node, of))


def axes_of(node: Node) -> tuple[int, ...]:
    """Return the axes that a node names."""
    return tuple(axis for axis in node.arg if isinstance(axis, int)) if isinstance(node.arg, tuple) else ()


def alu(node: Node, of: Sequence[Array]) -> Array:
    """Return an elementwise operation on sources that are promoted to one dtype first."""
    chosen = of[:1] if node.arg == "where" else ()
    operands = of[len(chosen) :]
    dtypes = [logical(each.dtype) for each in operands]
    joined = promoted(dtypes) or dtypes[0]
    return apply(
        str(node.arg), [*chosen, *(each if logical(each.dtype) == joined else cast(each, joined) for each in operands)]
    )


def bitcast(node: Node, of: Sequence[Array]) -> Array:
    """Return the same bits as another dtype."""
    return np.ascontiguousarray(of[0]).view(NUMPY[node.dtype]).reshape(of[0].shape)


def reduce(node: Node, of: Sequence[Array]) -> Array:
    """Return the fold of some axes, in the dtype in which the node accumulates, rounded to its own at the end."""
    values = cast(of[0], node.acc) if node.acc else of[0]
    found = fold(node.fold, values, axes_of(node))
    return cast(found, node.dtype) if node.acc else found


def gather(node: Node, of: Sequence[Array]) -> Array:
    """Return the elements along an axis that the second source numbers; a number outside it is the nearest inside.

    Of an axis without elements that is 0.
    """
    axis = int(str(node.arg))
    extent = of[0].shape[axis]
    if extent == 0:
        return np.zeros((*of[0].shape[:axis], *of[1].shape, *of[0].shape[axis + 1 :]), of[0].dtype)
    return np.take(of[0], nearest(of[1], extent), axis=axis)


def nearest(index: Array, extent: int) -> NDArray[np.int64]:
    """Return indices of an axis of so many elements; one that is no element's is the nearest that is."""
    wanted = index if index.dtype != np.uint64 else np.minimum(index, np.uint64(2**62))
    return np.clip(wanted.astype(np.int64), 0, extent - 1)


def beside_elements(part: NDArray[Any], axis: int, rank: int) -> NDArray[Any]:
    """Return what there is of each index in a shape that broadcasts to what they take along an axis of ``rank``."""
    return part.reshape((1,) * axis + part.shape + (1,) * (rank - axis - 1))


def inside(node: Node, of: Sequence[Array]) -> bool:
    """Return whether every index of a gather is an element's."""
    extent = of[0].shape[int(str(node.arg))]
    return not of[1].size or bool((of[1].astype(object) >= 0).all() and (of[1].astype(object) < extent).all())


def collective(node: Node, of: Sequence[Array]) -> Array:
    """Return what the node's device receives; raise ``ScheduleError`` where that is not its shape or dtype."""
    return received(node, everywhere(node, of))


_COMPUTED: Final[Mapping[str, Callable[[Node, Sequence[Array]], Array]]] = {
    "alu": alu,
    "cast": lambda node, of: cast(of[0], node.dtype),
    "bitcast": bitcast,
    "reduce": reduce,
    "gather": gather,
    "contig": lambda _, of: of[0],
    "copy": lambda _, of: of[0],
    "all_reduce": lambda node, of: fold(node.fold, np.stack(of), (0,)),
    "collective": collective,
}


def operation_of(name: str) -> Callable[..., list[Array | None]] | None:
    """Return the reference function of an operation, or ``None`` when there is none such."""
    if not name.isidentifier() or find_spec(f"conformance.reference.operations.{name}") is None:
        return None
    found: Callable[..., list[Array | None]] | None = getattr(
        import_module(f"conformance.reference.operations.{name}"), name, None
    )
    return found


def everywhere(node: Node, of: Sequence[Array]) -> list[Array | None]:
    """Return what each member of a node's collective receives; raise ``ScheduleError`` where it does not fit."""
    where, count = f"node {node.id!r} ({node.arg})", len(node.members)
    operation = operation_of(str(node.arg))
    if operation is None:
        raise ScheduleError("form.C10", f"{where}: there is no such operation")
    operands = [list(of[first : first + count]) for first in range(0, len(of), count)]
    try:
        with np.errstate(all="ignore"):
            return operation(*operands, **node.attrs, groups=(tuple(range(count)),))
    except (TypeError, ValueError) as error:
        raise ScheduleError("form.C10", f"{where}: {error}") from None


def received(node: Node, made: Sequence[Array | None]) -> Array:
    """Return the node's own of what all members receive; raise ``ScheduleError`` where that is not its shape."""
    where = f"node {node.id!r} ({node.arg})"
    if node.device not in node.members:
        raise ScheduleError("form.C10", f"{where}: {node.device} is no member")
    found = made[node.members.index(node.device)]
    if found is None or (found.shape, logical(found.dtype)) != (node.shape, node.dtype):
        kind = "nothing" if found is None else f"{logical(found.dtype)} {list(found.shape)}"
        raise ScheduleError("form.C10", f"{where}: {node.device} receives {kind}, not {node.dtype} {list(node.shape)}")
    return found
