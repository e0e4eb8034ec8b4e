"""In which dtype every value of a typed program is exact, so that no operation of it rounds, and blocks of values."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import prod
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import Axis, lines
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedProgram
from conformance.reference.transforms.no_rule import NoRule
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.pushforward import pushforward
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.values import evaluate

Blocks = list[Array]

EXACT: Final = {
    "bfloat16": 8,
    "float16": 11,
    "float32": 24,
    "float64": 53,
    "int32": 31,
    "int64": 63,
    "complex64": 24,
    "complex128": 53,
}
"""Bits of a whole number that each dtype holds exactly, a complex one in each of its parts."""

WIDER: Final = {
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64",
    "int32": "int64",
    "complex64": "complex128",
    "complex128": "float64",
}
"""The dtype for a program whose values are too great for another: the last are real where complex ones are."""

POOL: Final = (1, -1, 2, -2, 3, 0, 5, -4, 4, -3, -5)
"""Numbers that blocks repeat, a prime number of them: pieces of blocks at other places are unlike too."""


def has_mean(program: TypedProgram) -> bool:
    """Return whether a program has a mean, which integers do not hold."""
    return any(step.attrs.get("op") == "mean" for step in program.steps)


def rounds(program: TypedProgram) -> bool:
    """Return whether a mean is over a number of ranks that is no power of two: its quotient is no number of a dtype."""
    sizes = {axis.name: axis.size for axis in program.mesh}
    means = [step for step in program.steps if step.attrs.get("op") == "mean"]
    counts = {len(group) for step in means for group in step.groups or ()}
    counts |= {prod(sizes[axis] for axis in step.axes) for step in means if step.groups is None}
    return any(count.bit_count() != 1 for count in counts)


def orders(program: TypedProgram) -> bool:
    """Return whether a program compares numbers, of which no complex one is greater than another."""
    return any(step.op == "maximum" or step.attrs.get("op") in ("max", "min") for step in program.steps)


def bits(program: TypedProgram, dtype: str, *, back: bool) -> int:
    """Return how many bits hold every value that the program comes to, of operands of the greatest of the pool.

    A difference counts as a sum, so that what cancels is counted too. A complex number counts as the sum of its parts:
    of a product neither part, nor any term of one, is greater than the product of these sums.
    """
    greatest = max(map(abs, POOL)) * (2 if kind(dtype) == "complex" else 1)
    positive = replace(program, steps=tuple(replace(s, op="add") if s.op == "subtract" else s for s in program.steps))
    inputs = {name: [np.full(given.shape, float(greatest))] * program.world for name, given in program.inputs.items()}
    values = evaluate(positive, inputs)
    found = _largest(values)
    if back and program.results:
        with suppress(NoRule, IllTyped):
            found = max(found, _largest(pushforward(positive, inputs, inputs)))
        with suppress(NoRule, IllTyped):
            ones = {
                name: [np.full_like(block, float(greatest), np.float64) for block in values[name]]
                for name in program.results
            }
            found = max(found, _largest(pullback(positive, inputs, ones)))
    return max(1, int(np.ceil(np.log2(found + 1)))) + _halvings(program)


def _halvings(program: TypedProgram) -> int:
    """Return how many bits behind the point means add: they are over powers of two, here and in the domain."""
    sizes = {axis.name: axis.size for axis in program.mesh}
    means = [step for step in program.steps if step.attrs.get("op") == "mean"]
    shapes = shapes_of(program) if any("local_axes" in step.attrs for step in means) else {}
    found = sum(sizes[axis].bit_length() - 1 for step in means for axis in step.axes if axis in sizes)
    for step in means:
        axes = step.attrs.get("local_axes", ())
        assert isinstance(axes, tuple)
        found += sum(shapes[step.inputs[0]][int(str(axis))].bit_length() - 1 for axis in axes)
    return found


def _largest(values: Mapping[str, Blocks]) -> float:
    return max((float(np.abs(block).max(initial=0.0)) for blocks in values.values() for block in blocks), default=0.0)


def shapes_of(program: TypedProgram) -> dict[str, tuple[int, ...]]:
    """Return the shape of the blocks of every value."""
    zeros = {name: [np.zeros(given.shape)] * program.world for name, given in program.inputs.items()}
    return {name: blocks[0].shape for name, blocks in evaluate(program, zeros).items()}


def blocks_of(
    mesh: tuple[Axis, ...], given: AxisType, shape: tuple[int, ...], dtype: str, start: int
) -> tuple[Tensor, ...]:
    """Return a block for each rank: equal ones along the axes where the type says so, and elsewhere unlike ones."""
    same = tuple(axis.name for axis in mesh if given.state(axis.name) in ("invariant", "reduced"))
    blocks: dict[int, Tensor] = {}
    for number, line in enumerate(lines(mesh, same)):
        pool = np.roll(np.array(POOL, NUMPY[dtype]), start + 3 * number)
        pool = pool + np.roll(pool, 4) * NUMPY[dtype].type(1j) if kind(dtype) == "complex" else pool
        blocks |= dict.fromkeys(line, from_array(np.resize(pool, prod(shape)).reshape(shape)))
    return tuple(blocks[rank] for rank in sorted(blocks))
