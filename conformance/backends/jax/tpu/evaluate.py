"""The HLO that XLA compiled for TPUs, evaluated by NumPy: what its instructions mean, on all ranks side by side.

A value is an array with an axis of ranks before its own, or a tuple of values. What a chip would round otherwise is not
modelled: each operation rounds to its dtype, and a fold takes its terms one after the other. So what is judged is what
the compiler made of a program, on data for which neither an order nor a wider accumulator shows.

An asynchronous fusion starts a collective, which later fusions carry on, and one ends: the collective stands in each of
them. Its value is that of where it ends, and must be what it was where it started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Computation, Instruction, Module, Shape, literal
from conformance.backends.jax.tpu.elementwise import converted, elementwise
from conformance.backends.jax.tpu.exchanges import COLLECTIVES, RAGGED, exchanged
from conformance.backends.jax.tpu.folds import convolution, dot, reduced
from conformance.backends.jax.tpu.movement import moved
from conformance.backends.jax.tpu.pairs import BrokenPair
from conformance.backends.jax.tpu.tiling import reinterpreted
from conformance.cases.tensor.dtypes import NUMPY, Array

Value = Any
"""An array, a tuple of values, or ``None`` for what is only told between the parts of something asynchronous."""

LOOPS: Final = 10_000
"""How often a loop may go round before it is said to have no end."""


@dataclass(frozen=True)
class Scope:
    """One call of a ``computation``: its arguments, and the values of the instructions before this one."""

    module: Module
    world: int
    computation: Computation
    given: Sequence[Value]
    values: dict[int, Value]

    def called(self, node: Instruction, number: int, given: Sequence[Value]) -> Value:
        """Return the value of a computation that an instruction calls."""
        return computed(self.module, self.world, self.module.computations[node.called[number]], given)


Make = Callable[[Scope, Instruction, list[Value]], Value]


def evaluated(module: Module, world: int, given: Sequence[Array]) -> Value:
    """Return the value of a module's entry on arguments in the order of its parameters.

    Raise ``Unsupported`` for an instruction that has no meaning here, and ``BrokenPair``.
    """
    return computed(module, world, module.entry, given, module.sequence)


def computed(
    module: Module, world: int, of: Computation, given: Sequence[Value], order: Sequence[Instruction] = ()
) -> Value:
    """Return the value of a computation's root, its instructions in ``order``, or as they are listed."""
    scope = Scope(module, world, of, given, {})
    for node in order or of.instructions.values():
        scope.values[node.id] = _value(scope, node)
    return scope.values[of.root.id]


def _value(scope: Scope, node: Instruction) -> Value:
    operands = [scope.values[each] for each in node.operands]
    op = node.opcode
    if op in MAKES:
        return MAKES[op](scope, node, operands)
    if op == RAGGED or op.removesuffix("-start") in COLLECTIVES:
        results = _typed(node, exchanged(node, scope.module, operands))
        return _filled(node.shape, [*operands, *results]) if op.endswith("-start") else _one_or_all(node, results)
    if op.removesuffix("-done") in COLLECTIVES:
        return _ended(node, operands[0], scope.computation.instructions[node.operands[0]])
    found = elementwise(node, operands)
    if found is None:
        of = [scope.computation.instructions[each] for each in node.operands]
        found = moved(node, operands, of, scope.world)
    if found is None:
        raise Unsupported(f"an instruction {op}")
    if found.shape[1:] != node.shape.extents:
        raise ValueError(f"{node.name}: {op} gave {found.shape[1:]} where its shape is {node.shape.extents}")
    return found


def _typed(node: Instruction, values: list[Array]) -> list[Array]:
    """Return the results of a collective in the dtypes of its shape: a conversion after one is fused into it."""
    shapes = node.shape.parts or (node.shape,)
    if node.opcode.endswith("-start"):
        # An all-reduce that is started has the shape of its results, others hand on their operands first.
        shapes = shapes[len(node.operands) :] if len(shapes) >= 2 * len(values) else shapes
    found = [converted(x, shape.dtype) for x, shape in zip(values, shapes, strict=False)]
    for x, shape in zip(found, shapes, strict=False):
        if x.shape[1:] != shape.extents:
            raise ValueError(f"{node.name}: {node.opcode} gave {x.shape[1:]} where its shape is {shape.extents}")
    return found


def _one_or_all(node: Instruction, values: list[Value]) -> Value:
    return tuple(values) if node.shape.parts else values[0]


def _filled(shape: Shape, values: list[Value]) -> Value:
    """Return a tuple that begins with ``values``; the rest of it is contexts."""
    return (*values, *[None] * (len(shape.parts) - len(values)))


def _ended(node: Instruction, value: Value, start: Instruction) -> Value:
    count = len(start.operands)
    if start.opcode != node.opcode.removesuffix("done") + "start":
        raise BrokenPair(f"{node.name} ends {start.name}, which is {start.opcode}")
    # An all-reduce hands on no operands.
    results = value if not isinstance(value, tuple) else value[count : 2 * count]
    return results if node.shape.parts or not isinstance(results, tuple) else results[0]


def _constant(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    del operands
    value = literal(node)
    return np.broadcast_to(value, (scope.world, *value.shape))


def _reduce(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    if len(operands) != 2:
        raise Unsupported("a reduction of several operands")
    return reduced(node, operands[0], operands[1], scope.module.computations[node.called[0]])


def _while(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    """All ranks go round together; who is done keeps what it has."""
    value = operands[0]
    for _ in range(LOOPS):
        going = np.asarray(scope.called(node, 1, [value])).astype(bool)
        if not going.any():
            return value
        value = _chosen(going, scope.called(node, 0, [value]), value)
    raise Unsupported(f"a loop that goes round more than {LOOPS} times")


def _conditional(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    """Each branch is computed on all ranks, and each rank takes its own."""
    which, *arguments = operands
    if which.dtype == bool:
        which = np.where(which, 0, 1)
    last = len(arguments) - 1
    taken = np.where((which < 0) | (which > last), last, which)
    found = scope.called(node, 0, arguments[:1])
    for number in range(1, len(arguments)):
        found = _chosen(taken == number, scope.called(node, number, [arguments[number]]), found)
    return found


def _chosen(where: Array, yes: Value, no: Value) -> Value:
    if isinstance(yes, tuple):
        return tuple(_chosen(where, one, other) for one, other in zip(yes, no, strict=True))
    return yes if yes is None else np.where(where.reshape(-1, *(1,) * (yes.ndim - 1)), yes, no)


def _custom(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    target = node.message.text(28)
    if target not in CUSTOM:
        raise Unsupported(f"a custom call of {target!r}")
    return CUSTOM[target](scope, node, operands)


def _async_start(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    """What the collective reads, what it gives, and contexts."""
    collective = scope.computation.instructions[node.operands[0]]
    return _filled(node.shape, [*(scope.values[each] for each in collective.operands), *operands])


def _async_end(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    """The collective is computed once more where it ends, after what it reads and what it gave before."""
    del scope
    _, before, now = operands[:3]
    if before.shape != now.shape or before.tobytes() != now.tobytes():
        raise BrokenPair(f"{node.name}: what a started collective reads was another value when it ended")
    return now


def _low(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    """Of an integer the lower half; of a float what the upper one leaves."""
    (x,) = operands
    if x.dtype.kind == "f":
        return (x - _high(scope, node, operands)).astype(np.float32)
    return np.ascontiguousarray(x).view(np.uint64).astype(np.uint32).view(NUMPY[node.shape.dtype]).reshape(x.shape)


def _high(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    del scope
    (x,) = operands
    if x.dtype.kind == "f":
        return x.astype(np.float32)
    wide = np.ascontiguousarray(x).view(np.uint64) >> np.uint64(32)
    return wide.astype(np.uint32).view(NUMPY[node.shape.dtype]).reshape(x.shape)


def _combined(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    del scope
    if node.shape.dtype == "float64":
        return sum(each.astype(np.float64) for each in operands)
    low, high = (np.ascontiguousarray(each).view(np.uint32).astype(np.uint64) for each in operands)
    return (low | high << np.uint64(32)).view(NUMPY[node.shape.dtype]).reshape(operands[0].shape)


def _zero_cropped(scope: Scope, node: Instruction, operands: list[Value]) -> Value:
    """The same memory, of which the padding is shown and zero."""
    of = scope.computation.instructions[node.operands[0]].shape
    return reinterpreted(operands[0], of, node.shape, NUMPY[node.shape.dtype], padding=0)


CUSTOM: Final[dict[str, Make]] = {
    "AsyncCollectiveStart": _async_start,
    "AsyncCollectiveDone": _async_end,
    "ZeroCrop": _zero_cropped,
    "X64SplitLow": _low,
    "X64SplitHigh": _high,
    "X64Combine": _combined,
}
"""Custom calls of the compiler's own; 64-bit integers are pairs of 32-bit ones, and float64 is a sum of float32."""

MAKES: Final[dict[str, Make]] = {
    "parameter": lambda scope, node, _: scope.given[node.parameter],
    "constant": _constant,
    "tuple": lambda _, __, operands: tuple(operands),
    "get-tuple-element": lambda _, node, operands: operands[0][node.message.number(13)],
    "optimization-barrier": lambda _, __, operands: operands[0],
    "add-dependency": lambda _, __, operands: operands[0],
    "after-all": lambda _, __, ___: None,
    "partition-id": lambda scope, node, _: np.arange(scope.world, dtype=NUMPY[node.shape.dtype]),
    "replica-id": lambda scope, node, _: np.zeros(scope.world, NUMPY[node.shape.dtype]),
    "fusion": lambda scope, node, operands: scope.called(node, 0, operands),
    "call": lambda scope, node, operands: scope.called(node, 0, operands),
    "async-start": lambda scope, node, operands: (tuple(operands), scope.called(node, 0, operands)),
    "async-update": lambda _, __, operands: operands[0],
    "async-done": lambda _, __, operands: operands[0][1],
    "copy-start": lambda _, __, operands: (operands[0], operands[0], None),
    "copy-done": lambda _, __, operands: operands[0][0],
    "reduce": _reduce,
    "dot": lambda _, node, operands: dot(node, *operands),
    "convolution": lambda _, node, operands: convolution(node, *operands),
    "while": _while,
    "conditional": _conditional,
    "custom-call": _custom,
}
"""Instructions that are neither elementwise nor movement nor a collective."""
