"""HLO's collectives on the values of all ranks at once: an array has an axis of ranks before its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Instruction, Module
from conformance.backends.jax.tpu.folds import fold
from conformance.cases.tensor.dtypes import Array

Groups = list[list[int]]


def groups(node: Instruction, world: int) -> Groups:
    """Return the groups of an instruction in member order; all ranks where it lists none."""
    listed = node.message.message(87)
    counted = listed.message(2)
    if listed.has(2):
        count, size = counted.number(1), counted.number(2)
        shape, order = counted.numbers(3), counted.numbers(4)
        rows = np.arange(int(np.prod(shape))).reshape(shape).transpose(order or None).reshape(count, size)
        return [[int(rank) for rank in row] for row in rows]
    found = listed.messages(1) or node.message.messages(49)
    return [list(each.numbers(1)) for each in found] or [list(range(world))]


def _folded(node: Instruction, module: Module, x: Array) -> Array:
    """Return what each rank's group folds, term after term in member order."""
    make, found = fold(module.computations[node.called[0]]), np.empty_like(x)
    with np.errstate(all="ignore"):
        for group in groups(node, len(x)):
            total = x[group[0]]
            for rank in group[1:]:
                total = make(total, x[rank])
            found[group] = total
    return found


def _all_reduce(node: Instruction, module: Module, x: Array) -> Array:
    return _folded(node, module, x)


def _reduce_scatter(node: Instruction, module: Module, x: Array) -> Array:
    folded, axis = _folded(node, module, x), node.dimensions[0]
    return _parts(node, folded, axis, len(x))


def _parts(node: Instruction, x: Array, axis: int, world: int) -> Array:
    found: list[Array] = [x[0]] * world
    for group in groups(node, world):
        for position, rank in enumerate(group):
            found[rank] = np.split(x[rank], len(group), axis)[position]
    return np.stack(found)


def _all_gather(node: Instruction, module: Module, x: Array) -> Array:
    del module
    axis, found = node.dimensions[0], [x[0]] * len(x)
    for group in groups(node, len(x)):
        joined = np.concatenate([x[rank] for rank in group], axis)
        for rank in group:
            found[rank] = joined
    return np.stack(found)


def _all_to_all(node: Instruction, module: Module, x: Array) -> Array:
    del module
    axis, found = node.dimensions[0], [x[0]] * len(x)
    for group in groups(node, len(x)):
        cut = {rank: np.split(x[rank], len(group), axis) for rank in group}
        for position, rank in enumerate(group):
            found[rank] = np.concatenate([cut[other][position] for other in group], axis)
    return np.stack(found)


def _permute(node: Instruction, module: Module, x: Array) -> Array:
    """Who receives nothing has zeros."""
    del module
    found = np.zeros_like(x)
    for pair in node.message.messages(52):
        found[pair.number(2)] = x[pair.number(1)]
    return found


def _broadcast(node: Instruction, module: Module, x: Array) -> Array:
    del module
    found = np.zeros_like(x)
    for group in groups(node, len(x)):
        found[group] = x[group[0]]
    return found


COLLECTIVES: Final[dict[str, Callable[[Instruction, Module, Array], Array]]] = {
    "all-reduce": _all_reduce, "reduce-scatter": _reduce_scatter, "all-gather": _all_gather,
    "all-to-all": _all_to_all, "collective-permute": _permute, "collective-broadcast": _broadcast,
}  # fmt: skip


def _ragged(node: Instruction, operands: list[Array]) -> Array:
    """Rows of the first operand go into a copy of the second, from and to where offsets say, several slices a member.

    Rows that are not there do not move: what was compiled refuses none, and HLO does not say what a chip does.
    """
    x, output, begins, sizes, places, _ = operands
    found = output.copy()
    for group in groups(node, len(x)):
        for rank in group:
            for number in range(begins.shape[1]):
                to = group[number * len(group) // begins.shape[1]]
                begin, count, at = (int(each[rank][number]) for each in (begins, sizes, places))
                there = [k for k in range(count) if 0 <= begin + k < x.shape[1] and 0 <= at + k < output.shape[1]]
                found[to][[at + k for k in there]] = x[rank][[begin + k for k in there]]
    return found


RAGGED: Final = "ragged-all-to-all"


def exchanged(node: Instruction, module: Module, operands: list[Array]) -> list[Array]:
    """Return what a collective gives, a value for each operand; raise ``Unsupported`` for one that is not here."""
    op = node.opcode.removesuffix("-start")
    if op == RAGGED:
        return [_ragged(node, operands)]
    if op not in COLLECTIVES:
        raise Unsupported(f"a collective {node.opcode}")
    if op == "all-to-all" and len(operands) > 1:
        return _tuple_exchange(node, operands)
    return [COLLECTIVES[op](node, module, each) for each in operands]


def _tuple_exchange(node: Instruction, operands: list[Array]) -> list[Array]:
    """Operand number p is for the p-th member, and result number p comes from it."""
    found = [np.empty_like(each) for each in operands]
    for group in groups(node, len(operands[0])):
        for position, rank in enumerate(group):
            for number, other in enumerate(group):
                found[number][rank] = operands[position][other]
    return found
