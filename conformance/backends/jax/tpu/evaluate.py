"""The HLO that XLA compiled for TPUs, evaluated by NumPy: what its instructions mean, on all ranks side by side.

A value is an array with an axis of ranks before its own, or a tuple of values. What a chip would round otherwise is not
modelled: each operation rounds to its dtype, and a fold takes its terms one after the other. So what is judged is what
the compiler made of a program, on data for which neither an order nor a wider accumulator shows.

An asynchronous fusion starts a collective, which later fusions carry on, and one ends: the collective stands in each of
them. Its value is that of where it ends, and must be what it was where it started.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Computation, Instruction, Module, literal
from conformance.backends.jax.tpu.custom_calls import Around, custom_call, filled
from conformance.backends.jax.tpu.elementwise import converted, elementwise
from conformance.backends.jax.tpu.exchanges import COLLECTIVES, RAGGED, exchanged
from conformance.backends.jax.tpu.folds import convolution, dot, reduced, reduced_together
from conformance.backends.jax.tpu.movement import moved
from conformance.backends.jax.tpu.pairs import BrokenPair, overwritten, same_memory
from conformance.backends.jax.tpu.scattering import scatter
from conformance.cases.tensor.dtypes import NUMPY, Array

Evaluated = Any
"""An array, a tuple of values, or ``None`` for what is only told between the parts of something asynchronous."""

LOOPS: Final = 10_000
"""How often a loop may go round before it is said to have no end."""


Late = Callable[[Instruction], bool]
"""Whether what an instruction starts is done where it ends, and not where it starts."""


def never(start: Instruction) -> bool:
    """Return that what is started is done at once."""
    del start
    return False


@dataclass(frozen=True)
class Deferred:
    """What was started and will be done where it ends, of what its operands are worth there."""

    start: Instruction


@dataclass(frozen=True)
class Scope:
    """One call of a ``computation``: its arguments, and the values of the instructions before this one."""

    module: Module
    world: int
    computation: Computation
    given: Sequence[Evaluated]
    values: dict[int, Evaluated]
    late: Late = never

    def called(self, node: Instruction, number: int, given: Sequence[Evaluated]) -> Evaluated:
        """Return the value of a computation that an instruction calls."""
        of = self.module.computations[node.called[number]]
        listed = self.module.orders.get(node.called[number], ())
        return computed(self.module, self.world, of, given, [of.instructions[each] for each in listed], self.late)


Make = Callable[[Scope, Instruction, list[Evaluated]], Evaluated]


def evaluated(module: Module, world: int, given: Sequence[Array]) -> Evaluated:
    """Return the value of a module's entry on arguments in the order of its parameters.

    Where something is started, other legal orders of it are tried: each is done as late as it may be, and some are.
    Raise ``Unsupported`` for an instruction that has no meaning here, and ``BrokenPair``, also where orders differ.
    """
    found = computed(module, world, module.entry, given, module.sequence)
    starts = [n for of in module.computations.values() for n in of.instructions.values() if n.opcode.endswith("-start")]
    if not starts:
        return found
    drawn = random.Random(len(starts))  # noqa: S311 - which of them is no secret
    some = {node.id for node in starts if drawn.random() < 0.5}
    orders: dict[str, Late] = {"what is started is": lambda _: True}
    if 0 < len(some) < len(starts):
        orders["some of what is started is"] = lambda node: node.id in some
    for said, late in orders.items():
        other = computed(module, world, module.entry, given, module.sequence, late)
        if not alike(found, other):
            raise BrokenPair(f"results are other values where {said} done as late as it may be")
    return found


def alike(one: Evaluated, other: Evaluated) -> bool:
    """Return whether two values are the same bits."""
    if isinstance(one, tuple):
        return isinstance(other, tuple) and all(map(alike, one, other))
    return one is None or np.asarray(one).tobytes() == np.asarray(other).tobytes()


def computed(
    module: Module,
    world: int,
    of: Computation,
    given: Sequence[Array],
    order: Sequence[Instruction] = (),
    late: Late = never,
) -> Evaluated:
    """Return the value of a computation's root, its instructions in ``order``, or as they are listed.

    What another value is put in the place of is gone.
    """
    scope = Scope(module, world, of, given, {}, late)
    within = replace(module, entry=of, sequence=tuple(order)) if order else None
    for node in order or of.instructions.values():
        scope.values[node.id] = value(scope, node)
        for number in overwritten(within, node) if within is not None else ():
            for name in same_memory(within, node.operands[number]) - {node.id} if within is not None else ():
                scope.values[name] = _gone(scope.values.get(name))
    return scope.values[of.root.id]


def _gone(held: Evaluated) -> Evaluated:
    """Return what is read of memory that was overwritten: something else, and of floats NaN."""
    return np.full_like(held, np.nan if held.dtype.kind not in "iub" else 1) if isinstance(held, np.ndarray) else held


def value(scope: Scope, node: Instruction) -> Evaluated:
    """Return the value of an instruction; raise ``Unsupported`` for one that has no meaning here."""
    operands = [scope.values[each] for each in node.operands]
    op = node.opcode
    if op.endswith("-start") and scope.late(node):
        return Deferred(node)
    if op.endswith("-done") and isinstance(operands[0], Deferred):
        start = operands[0].start
        return _done(scope, node, [value(replace(scope, late=never), start)], start)
    if op in MAKES:
        return MAKES[op](scope, node, operands)
    if op == RAGGED or op.removesuffix("-start") in COLLECTIVES:
        results = _typed(node, exchanged(node, scope.module, operands))
        return filled(node.shape, [*operands, *results]) if op.endswith("-start") else _one_or_all(node, results)
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


def _done(scope: Scope, node: Instruction, operands: list[Evaluated], start: Instruction) -> Evaluated:
    """Return what an instruction ends that was put off until then."""
    if node.opcode in MAKES:
        return MAKES[node.opcode](scope, node, operands)
    return _ended(node, operands[0], start)


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


def _one_or_all(node: Instruction, values: list[Evaluated]) -> Evaluated:
    return tuple(values) if node.shape.parts else values[0]


def _ended(node: Instruction, value: Evaluated, start: Instruction) -> Evaluated:
    count = len(start.operands)
    if start.opcode != node.opcode.removesuffix("done") + "start":
        raise BrokenPair(f"{node.name} ends {start.name}, which is {start.opcode}")
    # An all-reduce hands on no operands.
    results = value if not isinstance(value, tuple) else value[count : 2 * count]
    return results if node.shape.parts or not isinstance(results, tuple) else results[0]


def _constant(scope: Scope, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    del operands
    value = literal(node)
    return np.broadcast_to(value, (scope.world, *value.shape))


def _reduce(scope: Scope, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    computation = scope.module.computations[node.called[0]]
    if len(operands) != 2:
        return reduced_together(node, operands, computation)
    return reduced(node, operands[0], operands[1], computation)


def _scatter(scope: Scope, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    return scatter(node, operands, scope.module.computations[node.called[0]])


def _while(scope: Scope, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    """All ranks go round together; who is done keeps what it has."""
    value = operands[0]
    for _ in range(LOOPS):
        going = np.asarray(scope.called(node, 1, [value])).astype(bool)
        if not going.any():
            return value
        value = _chosen(going, scope.called(node, 0, [value]), value)
    raise Unsupported(f"a loop that goes round more than {LOOPS} times")


def _conditional(scope: Scope, node: Instruction, operands: list[Evaluated]) -> Evaluated:
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


def _chosen(where: Array, yes: Evaluated, no: Evaluated) -> Evaluated:
    if isinstance(yes, tuple):
        return tuple(_chosen(where, one, other) for one, other in zip(yes, no, strict=True))
    return yes if yes is None else np.where(where.reshape(-1, *(1,) * (yes.ndim - 1)), yes, no)


MAKES: Final[dict[str, Make]] = {
    "parameter": lambda scope, node, _: scope.given[node.parameter],
    "constant": _constant,
    "tuple": lambda _, __, operands: tuple(operands),
    "get-tuple-element": lambda _, node, operands: operands[0][node.message.number(13)],
    "opt-barrier": lambda _, __, operands: operands[0],
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
    "scatter": _scatter,
    "dot": lambda _, node, operands: dot(node, *operands),
    "convolution": lambda _, node, operands: convolution(node, *operands),
    "while": _while,
    "conditional": _conditional,
    "custom-call": lambda scope, node, operands: custom_call(
        Around(scope.computation.instructions, scope.values), node, operands
    ),
}
"""Instructions that are neither elementwise nor movement nor a collective."""
