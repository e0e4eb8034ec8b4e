"""The transpose of each operation: from the cotangent of its result to those of its operands.

One function an operation, in the words of the source: blocks rank by rank, in operations of the reference. A cotangent
has the type that ``pairing.cotangent_type`` gives it, so a sum is one only where that type makes it one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from typing import cast as cast_to

import numpy as np

from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedStep
from conformance.reference.operations import all_gather as gathers
from conformance.reference.operations import all_reduce as sums
from conformance.reference.operations import all_to_all as exchanges
from conformance.reference.operations import permute as moves
from conformance.reference.operations import reduce_scatter as scatters
from conformance.reference.transforms.no_rule import NoRule, NotLinear
from conformance.reference.types.values import tables

Blocks = list[Array]


Rule = Callable[["Act", Blocks], list[Blocks]]
"""A transpose: the cotangents of the operands, of an act and the cotangent of its result."""


@dataclass(frozen=True)
class Act:
    """A step, the types and values of its operands, and the groups of ranks that it spans.

    Unless it is ``checked`` no value has a type: every rank has a cotangent of its own, of results and of operands.
    """

    step: TypedStep
    types: tuple[AxisType, ...]
    operands: tuple[Blocks, ...]
    groups: Groups
    checked: bool = True


def cast(act: Act, given: Blocks) -> list[Blocks]:
    """From invariant the transpose sums along the axes, to varying or to reduced; the other casts move nothing back."""
    invariant = act.types[0].state(act.step.axes[0]) == "invariant"
    return [sums.all_reduce(given, op="sum", groups=act.groups) if invariant else given]


def all_reduce(act: Act, given: Blocks) -> list[Blocks]:
    """Every term has the cotangent of the sum, of a mean its part; without types the sum of those of all ranks."""
    op, local = act.step.attrs["op"], cast_to(tuple[int, ...], act.step.attrs.get("local_axes", ()))
    if op not in ("sum", "mean"):
        raise NotLinear(f"all_reduce {op} is not linear")
    whole = given if act.checked else sums.all_reduce(given, op="sum", groups=act.groups)
    sizes = {rank: len(group) for group in act.groups for rank in group}
    out = []
    for rank, (block, operand) in enumerate(zip(whole, act.operands[0], strict=True)):
        spread = np.broadcast_to(np.expand_dims(block, tuple(sorted(local))), operand.shape)
        terms = sizes[rank] * int(np.prod([operand.shape[axis] for axis in local]))
        out.append(spread / spread.dtype.type(terms if op == "mean" else 1))
    return [out]


def all_gather(act: Act, given: Blocks) -> list[Blocks]:
    """Every block has the sum of the cotangents of its copies; of an invariant result the one cotangent there is."""
    if act.step.attrs["to"] == "invariant" and act.checked:
        return own_piece(act, given)
    axis, tiled = _whole(act, "axis"), bool(act.step.attrs["tiled"])
    return [scatters.reduce_scatter(given, op="sum", axis=axis, tiled=tiled, groups=act.groups)]


def own_piece(act: Act, given: Blocks) -> list[Blocks]:
    """Return of each rank's cotangent of a gathered block the piece at its position."""
    axis, tiled, out = _whole(act, "axis"), bool(act.step.attrs["tiled"]), list(given)
    for group in act.groups:
        for position, rank in enumerate(group):
            out[rank] = exchanges.pieces(given[rank], len(group), axis, tiled=tiled)[position]
    return [out]


def reduce_scatter(act: Act, given: Blocks) -> list[Blocks]:
    """Every term has the cotangents of all pieces."""
    axis, tiled = _whole(act, "axis"), bool(act.step.attrs["tiled"])
    return [gathers.all_gather(given, axis=axis, tiled=tiled, groups=act.groups)]


def all_to_all(act: Act, given: Blocks) -> list[Blocks]:
    """The cotangents go back: what was split is joined, and what was joined is split."""
    split, concat, tiled = _whole(act, "concat_axis"), _whole(act, "split_axis"), bool(act.step.attrs["tiled"])
    return [exchanges.all_to_all(given, split_axis=split, concat_axis=concat, tiled=tiled, groups=act.groups)]


def ragged_all_to_all(act: Act, given: Blocks) -> list[Blocks]:
    """Every row has the sum of the cotangents of its copies; of ``output`` those that were not written over.

    A row that is in several slices has a copy in each, and a slice without rows writes over nothing.
    """
    starts, counts, places, _ = tables(act.step, len(given), act.groups)
    operand, output = [np.zeros_like(block) for block in act.operands[0]], [block.copy() for block in given]
    for group in act.groups:
        each = len(counts[group[0]]) // len(group)
        for sender in group:
            for number, (start, count, at) in enumerate(
                zip(starts[sender], counts[sender], places[sender], strict=True)
            ):
                receiver = group[number // each]
                operand[sender][start : start + count] += given[receiver][at : at + count]
                output[receiver][at : at + count] = 0
    return [operand, output]


def permute(act: Act, given: Blocks) -> list[Blocks]:
    """Along every pair the cotangent goes back."""
    pairs = tuple((target, source) for source, target in _pairs(act.step.attrs["pairs"]))
    return [moves.permute(given, pairs=pairs, groups=act.groups)]


def shuffle(act: Act, given: Blocks) -> list[Blocks]:
    """The cotangent of position p goes back to its source."""
    sources = cast_to(tuple[int, ...], act.step.attrs["sources"])
    return [moves.permute(given, pairs=tuple(enumerate(sources)), groups=act.groups)]


def broadcast(act: Act, given: Blocks) -> list[Blocks]:
    """The root has the sum of all cotangents, and the others, whose blocks are not read, have zeros."""
    total, root = sums.all_reduce(given, op="sum", groups=act.groups), act.step.attrs["root"]
    roots = {group[root] for group in act.groups}  # type: ignore[index]
    return [[block if rank in roots else np.zeros_like(block) for rank, block in enumerate(total)]]


def add(_: Act, given: Blocks) -> list[Blocks]:
    """Both operands have the cotangent of the sum."""
    return [given, given]


def subtract(_: Act, given: Blocks) -> list[Blocks]:
    """The first operand has the cotangent of the difference, the second its negative."""
    return [given, [-block for block in given]]


def negate(_: Act, given: Blocks) -> list[Blocks]:
    """The operand has the negative."""
    return [[-block for block in given]]


def multiply(act: Act, given: Blocks) -> list[Blocks]:
    """Each factor has the cotangent of the product times the other factor."""
    left, right = act.operands
    return [
        [block * other for block, other in zip(given, right, strict=True)],
        [block * other for block, other in zip(given, left, strict=True)],
    ]


def sum_(act: Act, given: Blocks) -> list[Blocks]:
    """Every element along the axis has the cotangent of the sum."""
    axis = _whole(act, "axis")
    shapes = (block.shape for block in act.operands[0])
    return [[np.broadcast_to(np.expand_dims(block, axis), shape) for block, shape in zip(given, shapes, strict=True)]]


def maximum(act: Act, _: Blocks) -> list[Blocks]:
    """A maximum is not linear."""
    raise NotLinear(f"{act.step.op} is not linear")


def done(_: Act, __: Blocks) -> list[Blocks]:
    """What is started has no transpose."""
    raise NoRule("what is started has no transpose")


TRANSPOSES: Final[dict[str, Rule]] = {
    "add": add,
    "all_gather": all_gather,
    "all_reduce": all_reduce,
    "all_to_all": all_to_all,
    "broadcast": broadcast,
    "cast": cast,
    "done": done,
    "maximum": maximum,
    "multiply": multiply,
    "negate": negate,
    "permute": permute,
    "recv": permute,
    "send": done,
    "ragged_all_to_all": ragged_all_to_all,
    "reduce_scatter": reduce_scatter,
    "shuffle": shuffle,
    "subtract": subtract,
    "sum": sum_,
}
"""The transpose of every operation that has an operand."""


def _pairs(value: object) -> tuple[tuple[int, int], ...]:
    return cast_to(tuple[tuple[int, int], ...], value)


def _whole(act: Act, name: str) -> int:
    value = act.step.attrs[name]
    assert isinstance(value, int)
    return value
