"""Computations of a TPU's HLO without calls, and with values as elements in row-major order, whatever tiles say.

The neutral form counts elements of a buffer, and has no word for tiles. So a buffer here holds the elements of a value
in row-major order, and none of the padding that its tiles add. What shows memory in another shape, a ``bitcast``, is
then a movement of elements, which ``through`` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Computation, Instruction, Module, Shape
from conformance.backends.jax.tpu.tiling import positions
from conformance.cases.tensor.dtypes import NUMPY, Array

NOWHERE = -1
"""The number of an element that is padding."""


@dataclass(frozen=True)
class Flat:
    """Instructions without calls: ``parameters`` by number, ``roots`` in the order of the parts of the result.

    ``tiled`` has the shapes as the compiler wrote them, by id; those of the instructions have no tiles.
    """

    computation: Computation
    parameters: dict[int, int]
    roots: tuple[int, ...]
    tiled: dict[int, Shape]


def plain(shape: Shape) -> Shape:
    """Return a shape whose elements lie in row-major order."""
    return Shape(
        shape.dtype,
        shape.extents,
        tuple(reversed(range(len(shape.extents)))),
        tuple(plain(each) for each in shape.parts),
    )


def through(old: Shape, new: Shape) -> Array:
    """Return for each element of ``new`` the number of the element of ``old`` whose memory it shows, or ``NOWHERE``.

    Raise ``Unsupported`` where they have elements of another width.
    """
    for each in (old, new):
        if each.dtype not in NUMPY:
            raise Unsupported(f"a value of the primitive type {each.dtype}")
    if NUMPY[old.dtype].itemsize != NUMPY[new.dtype].itemsize:
        raise Unsupported("memory that is shown as elements of another width")
    there, here = positions(old).reshape(-1), positions(new)
    if not there.size:
        return np.full(new.extents, NOWHERE, np.int64)
    order = np.argsort(there)
    at = np.minimum(np.searchsorted(there[order], here), len(there) - 1)
    return np.where(there[order][at] == here, order[at], NOWHERE)


def flat(module: Module, computation: Computation) -> Flat:
    """Return a computation with what it calls in the place of the calls; raise ``Unsupported`` for tuples inside."""
    made = _Flattening(module)
    known: dict[int, tuple[int, ...]] = {}
    parameters: dict[int, int] = {}
    for node in computation.instructions.values():
        if node.opcode == "parameter":
            known[node.id] = (made.add(node, ()),)
            parameters[node.parameter] = known[node.id][0]
        else:
            made.take(node, known)
    roots = known[computation.root.id]
    return Flat(Computation(made.instructions, made.instructions[roots[-1]]), parameters, roots, made.tiled)


def alone(node: Instruction, operands: Sequence[Instruction]) -> Flat:
    """Return one instruction of a computation as a computation of its operands."""
    instructions: dict[int, Instruction] = {}
    for number, each in enumerate(operands):
        instructions[number] = replace(
            each, id=number, opcode="parameter", operands=(), called=(), shape=plain(each.shape)
        )
    at = len(operands)
    instructions[at] = replace(node, id=at, operands=tuple(range(at)), shape=plain(node.shape))
    tiled = {**{number: each.shape for number, each in enumerate(operands)}, at: node.shape}
    return Flat(Computation(instructions, instructions[at]), {n: n for n in range(at)}, (at,), tiled)


class _Flattening:
    """Instructions so far, numbered anew."""

    def __init__(self, module: Module) -> None:
        """Begin with none."""
        self._module = module
        self.instructions: dict[int, Instruction] = {}
        self.tiled: dict[int, Shape] = {}

    def add(self, node: Instruction, operands: tuple[int, ...]) -> int:
        """Add an instruction, and return its number."""
        number = len(self.instructions)
        self.instructions[number] = replace(node, id=number, operands=operands, shape=plain(node.shape))
        self.tiled[number] = node.shape
        return number

    def take(self, node: Instruction, known: dict[int, tuple[int, ...]]) -> None:
        """Add what an instruction stands for; ``known`` has the numbers of each value before it."""
        of = [known[each] for each in node.operands]
        if node.opcode in ("fusion", "call"):
            known[node.id] = self._called(self._module.computations[node.called[0]], of)
        elif node.opcode == "tuple":
            known[node.id] = tuple(one for each in of for one in each)
        elif node.opcode == "get-tuple-element" and len(of[0]) > 1:
            known[node.id] = (of[0][node.message.number(13)],)
        elif any(len(each) != 1 for each in of):
            raise Unsupported(f"{node.opcode} of a tuple in a kernel")
        else:
            known[node.id] = (self.add(node, tuple(each[0] for each in of)),)

    def _called(self, computation: Computation, of: list[tuple[int, ...]]) -> tuple[int, ...]:
        known: dict[int, tuple[int, ...]] = {}
        for node in computation.instructions.values():
            if node.opcode == "parameter":
                known[node.id] = of[node.parameter]
            else:
                self.take(node, known)
        return known[computation.root.id]
